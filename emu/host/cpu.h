/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu.h - the CPU's view of an address space, within emu/host: what the kernel knows of it
 * (cpu.c), and where the CPU is (struct mm_ops).
 */
#ifndef FL_HOST_CPU_H
#define FL_HOST_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "host/page.h"

struct host_kernel;
struct host_mm;
struct sim_waitq;

#define CPU_LEAF_BYTES	0x200000ul
#define CPU_LEAF_PAGES	(CPU_LEAF_BYTES / HOST_PAGE)
/* A word for each page: frame + 1 in bits 29:0 (0: never opened), rights above. */
#define CPU_FRAME	0x3fffffffu
#define CPU_PROT_SHIFT	30
struct cpu_leaf {
	uint32_t page[CPU_LEAF_PAGES];
	bool viewed;			/* arena.c: it had its linear view */
};

/*
 * Where the CPU of an address space is, and what follows from that: in this program
 * (arena.c), or in another one (remote/), whose answers take time and may not come at all.
 * Called with the lock of the address space held; those at the end without it.
 */
struct mm_ops {
	uint64_t bytes;			/* of the structure that begins with its host_mm */
	bool shares_bank;		/* others map its bank: no contents stay behind */
	/* The process may have closed pages by itself: what faults is opened once more. */
	bool closes_itself;
	unsigned int age_pages;		/* that one call ages, a power of 2 */
	uint64_t end;			/* memory lies anywhere below; 0: in the arena alone */
	/* As cpu_grant(), of pages of one leaf. -ENOMEM: there may be room after clear(). */
	int (*open)(struct host_mm *mm, struct cpu_leaf *leaf, uint64_t va, uint64_t n,
		    uint64_t frame, int prot);
	void (*clear)(struct host_mm *mm);	/* close all of it; NULL: no use */
	int (*revoke)(struct host_mm *mm, uint64_t va, uint64_t end);	/* cpu_revoke() */
	/* May a fault on va be handled where nothing can be allocated? NULL: it can. */
	bool (*ready)(const struct host_mm *mm, uint64_t va);
	/* 0, or -EBUSY: the process has pages of it in hand, which cannot change (or go). */
	int (*may_change)(struct host_mm *mm, uint64_t va, uint64_t end, bool go);
	void (*exit)(struct host_mm *mm);	/* NULL: it keeps nothing back */

	void (*release)(struct host_mm *mm);	/* its addresses; after mm_exit() */
	/* NULL: never. */
	bool (*killed)(const struct host_mm *mm);
	bool (*slow)(const struct host_mm *mm);
	/* mm_wait(); NULL: nothing but the end of the run wakes it too early. */
	int (*wait)(struct host_mm *mm, struct sim_waitq *q, bool (*cond)(void *arg),
		    void *arg, uint64_t timeout_ns);
};

/* ---- cpu.c: the CPU side (mm's lock held) ---- */
int cpu_create(struct host_mm *mm);
void cpu_destroy(struct host_mm *mm);
/* Open va as the tables say; 0, -ENOMEM. */
int cpu_grant(struct host_mm *mm, uint64_t va);
/*
 * Close a range. -EBUSY: the process did not answer in time; what it may still
 * have is as it was. -EAGAIN: it answers, but so slowly that others should have the
 * lock before the rest; only for more than one page.
 */
int cpu_revoke(struct host_mm *mm, uint64_t va, uint64_t npages);
/* Will cpu_grant() find all that it needs allocated? */
bool cpu_ready(const struct host_mm *mm, uint64_t va);
/* What the CPU may do with the page now (HOST_READ, HOST_WRITE). */
int cpu_prot(const struct host_mm *mm, uint64_t va);
/* First page in [va, end) that is open; end when there is none. */
uint64_t cpu_next(const struct host_mm *mm, uint64_t va, uint64_t end);
/* Which frame it would reach, counted from 1; 0: none. */
uint32_t cpu_frame(const struct host_mm *mm, uint64_t va);
/*
 * For mm_ops: a place for va's entry (-ENOMEM); the page is open as the tables say; no page
 * of [va, end) is open any more (returns the last one that was; va: none was, or this one
 * alone); nothing is open, and ops->clear() has seen to it.
 */
int cpu_expect(struct host_mm *mm, uint64_t va);
void cpu_opened(struct host_mm *mm, uint64_t va);
uint64_t cpu_shut(struct host_mm *mm, uint64_t va, uint64_t end);
void cpu_start_over(struct host_mm *mm);
/* Does the entry lead to a page that its process moves in or out? */
bool cpu_moving(struct host_mm *mm, uint64_t d);

/* ---- arena.c: the CPU of a process in this program; 0 or negative errno ---- */
extern const struct mm_ops arena_ops;
uint64_t arena_reserve(struct host_kernel *k, unsigned int slot, int *error);
void arena_release(uint64_t arena);

/* Did its CPU not answer lately? Then others leave it alone. No lock. */
bool mm_slow(const struct host_mm *mm);

#endif
