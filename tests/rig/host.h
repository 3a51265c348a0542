/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.h - one board with a small kernel, for the tests of emu/host.
 *
 * Memory management may be called from the test itself (set-up is outside every
 * thread, and time then stands still); what touches memory as a program does
 * runs in application threads. There a failed expectation must not jump: WANT
 * notes the first one, rig_run reports it.
 */
#ifndef FL_RIG_HOST_H
#define FL_RIG_HOST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "fabric/fabric.h"
#include "harness.h"
#include "host/internal.h"
#include "sim/sim.h"
#include "trace/trace.h"

#define RW (HOST_READ | HOST_WRITE)
#define PAGE HOST_PAGE

struct rig {
	struct trace *trace;
	struct timing_profile timing;
	struct sim *sim;
	struct fabric *fabric;
	struct board *board;
	struct host_kernel *k;
	struct host_process *p[HOST_PROCESSES];
	struct sim_thread *thread[16];
	unsigned int threads;
	_Atomic(const char *) failed;
};

#define WANT(r, cond)                                                         \
	do {                                                                  \
		const char *none_ = NULL;                                     \
		if (!(cond))                                                  \
			atomic_compare_exchange_strong(&(r)->failed, &none_,  \
						       #cond);                \
	} while (0)

/*
 * pages, swap, what one process may have of each: 0 is the kernel's default.
 * One process: r->p[0].
 */
struct rig *rig_start_limits(enum sim_mode mode, uint64_t seed, uint64_t pages,
			     uint64_t swap, uint64_t own_pages,
			     uint64_t own_swap);

static inline struct rig *rig_start(enum sim_mode mode, uint64_t seed,
				    uint64_t pages, uint64_t swap)
{
	return rig_start_limits(mode, seed, pages, swap, 0, 0);
}

struct host_process *rig_process(struct rig *r, unsigned int i);
void rig_thread(struct rig *r, unsigned int i, void (*fn)(void *arg),
		void *arg);

/* Run to the end; nothing went wrong in a thread, and all adds up. */
void rig_run(struct rig *r);

void rig_check(struct rig *r);
uint8_t *rig_map(struct rig *r, unsigned int i, uint64_t pages);

static inline struct host_mm *rig_mm(struct rig *r, unsigned int i)
{
	return host_process_mm(r->p[i]);
}

static inline uint64_t va_of(const void *p)
{
	return (uintptr_t)p;
}

struct host_stats rig_stats(struct rig *r);

/* A file with n bytes, byte i is (i * 7 + i / PAGE) & 0xff; its name. */
const char *rig_file(char path[128], uint64_t bytes);

/* A notifier that keeps what it is told. */
struct heard {
	struct mm_notifier n;
	unsigned int calls, releases;
	uint64_t start, end;		/* of the last call */
	bool valid;			/* the entry of start still was */
	uint64_t tag;			/* of watch_pa at that time */
	uint64_t watch_pa;
};

void heard_invalidate(struct mm_notifier *n, struct host_mm *mm, uint64_t start,
		      uint64_t end);
void heard_release(struct mm_notifier *n, struct host_mm *mm);

#define HEARD { .n = { .invalidate = heard_invalidate,                        \
		       .age = heard_invalidate,                               \
		       .release = heard_release } }

#endif
