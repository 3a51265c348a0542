/* SPDX-License-Identifier: BSD-2-Clause */
/* remote_mm.h - the address space of a process elsewhere, within emu/host/remote. */
#ifndef FL_HOST_REMOTE_MM_H
#define FL_HOST_REMOTE_MM_H

#include "host/internal.h"
#include "host/remote/remote.h"

#define REMOTE_END	(1ull << 47)	/* of its addresses, as on Linux */
/* So long is a process left alone that did not close its pages in time. */
#define SLOW_NS		20000000ull
/*
 * What it opens in one go is aged in one go, since each closing is a conversation with it.
 * A closed gap of so many pages is closed again with what lies around it.
 */
#define REMOTE_RUN	16u

/* The threads that sleep in a call of a process, and on what. */
struct remote_sleeper {
	struct sim_waitq *q;
	struct remote_sleeper *next, **link;
};

struct remote_mm {
	struct host_mm mm;		/* the first */
	const struct host_cpu_ops *cpu;
	void *arg;
	atomic_bool killed;		/* nobody is there any more */
	/* Its CPU did not close pages: until then others leave it alone. */
	atomic_uint_fast64_t slow_until_ns;
	struct sim_spin sleepers_lock;
	struct remote_sleeper *sleepers;
	/* A fault of unknown kind that came again and again; under mm's lock. */
	uint64_t again_va;
	unsigned int again;
};

static inline struct remote_mm *to_remote(const struct host_mm *mm)
{
	return (struct remote_mm *)(uintptr_t)mm;
}

/* Of mm_ops. revoke.c: */
bool remote_killed(const struct host_mm *mm);
bool remote_slow(const struct host_mm *mm);
int remote_open(struct host_mm *mm, struct cpu_leaf *leaf, uint64_t va, uint64_t n,
		uint64_t frame, int prot);
int remote_revoke(struct host_mm *mm, uint64_t va, uint64_t end);
/* imported.c: */
int imported_may_change(struct host_mm *mm, uint64_t va, uint64_t end, bool go);
void imported_exit(struct host_mm *mm);

#endif
