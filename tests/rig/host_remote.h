/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host_remote.h - a process that lives elsewhere, played by the test: it
 * maps its bank, keeps the view that the kernel tells it of, and takes a page
 * fault where its view ends. It can be asked to answer no call to close pages.
 */
#ifndef FL_RIG_HOST_REMOTE_H
#define FL_RIG_HOST_REMOTE_H

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/remote/remote_mm.h"
#include "rig/host.h"

#define ARENA	0x100000000000ull
#define VIEWS	1024u

struct remote_page {
	uint64_t va, frame;
	int prot;			/* 0: closed */
};

struct remote {
	struct rig *rig;
	unsigned int number;
	struct host_process *p;
	struct host_bank bank;
	uint8_t *mem;			/* the bank, its own mapping */
	pthread_mutex_t lock;		/* one access, or one command */
	struct remote_page page[VIEWS];
	unsigned int pages;
	/* What was heard, and what of it last. */
	unsigned int opens, closes;
	uint64_t va, npages, frame;
	int prot;
	unsigned int refuse;		/* so many closes are not answered */
	/* Called before a close is done. */
	void (*on_close)(struct remote *m, uint64_t va, uint64_t npages);
	void *arg;
};

struct remote_page *remote_page(struct remote *m, uint64_t va);

/* The view of one page; the lock is held. */
void remote_see(struct remote *m, uint64_t va, uint64_t frame, int prot);

extern const struct host_cpu_ops remote_ops;

/* It ends; m stays. */
void remote_exit(struct remote *m);

/* Becomes r->p[i]; its own copy of the bank's descriptor outlives it. */
struct remote *remote_start(struct rig *r, unsigned int i);

/*
 * One access of its CPU to the word at va: what its view allows, or a page
 * fault first. 0, or what the fault said.
 */
int remote_access(struct remote *m, uint64_t va, uint64_t *value, bool write);

static inline int remote_put(struct remote *m, uint64_t va, uint64_t value)
{
	return remote_access(m, va, &value, true);
}

uint64_t remote_get(struct remote *m, uint64_t va);

/* Memory in its arena. */
uint64_t remote_map(struct remote *m, uint64_t pages);

static inline void *pointer_to(uint64_t va)
{
	return (void *)(uintptr_t)va;
}

#endif
