/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig.h - a source and a destination on a real card of a real Linux.
 *
 * Two files are open on the card, so that the two sides have a domain slot, a
 * context bank, counters and a policy each; the memory of both is this process's.
 * Tests that want two processes fork. Only calls of faultline.h reach the card.
 *
 * Memory of a test lies between guards with a pattern that nobody may change.
 * Words of a pattern are never 0, so a page that was not written yet is told
 * apart from one that was.
 *
 * Nothing here depends on time: a test is "in the middle of a transfer" when the
 * counters say that pages were still missing after the act (rig_middle()).
 */
#ifndef FL_LINUX_RIG_H
#define FL_LINUX_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faultline.h"
#include "harness.h"

#define RIG_PAGE	4096u
#define RIG_BLOCK	16384u		/* fl_device_attr.block_bytes */
#define RIG_GUARD	65536u		/* before and after each buffer */
#define RIG_HUGE	(2u << 20)
#define RIG_LIMIT_S	(150 * rig_slow())	/* of one test, on a loaded machine */
#define RIG_WAIT_NS	(120000000000ull * rig_slow())
#define RIG_TRIES	20

/* entries.def, ST */
#define RIG_LOCAL_FAULT	 11
#define RIG_REMOTE_FAULT 12

/* How many times slower than a stock kernel this one is (tools/vqfdb/run --slow). */
unsigned int rig_slow(void);

/* A test and its twin: what the body proves, proven for both modes of the SMMU. */
#define TEST_MODES(body, sentence)					       \
	static void body(enum fl_system system);			       \
	TEST_NAMED_(body##_refuse, body##_refuse_reg, sentence " (terminate)") \
	{								       \
		body(FL_SYSTEM_PART);				       \
	}								       \
	TEST_NAMED_(body##_stall, body##_stall_reg, sentence " (stall)")       \
	{								       \
		body(FL_SYSTEM_STALL);					       \
	}								       \
	static void body(enum fl_system system)

/* ---- memory ---- */

struct rig_buffer {
	uint8_t *base;		/* guard, room, guard */
	size_t bytes;		/* of the room */
};

/* splitmix64: word i of the pattern with this seed; never 0. */
uint64_t rig_word(uint64_t seed, uint64_t i);

void rig_fill(void *mem, size_t bytes, uint64_t seed);

/* Where the pattern ends that begins at its word `first`; bytes: nowhere. */
size_t rig_same(const void *mem, size_t bytes, uint64_t seed, uint64_t first);

#define EXPECT_PATTERN(mem, bytes, seed)				       \
	EXPECT_EQ(rig_same(mem, bytes, seed, 0), bytes)

/* Each word is that of the pattern or 0: written rightly, or not yet. */
size_t rig_same_or_zero(const void *mem, size_t bytes, uint64_t seed,
			uint64_t first);

bool rig_zero(const void *mem, size_t bytes);

/* Anonymous memory on a boundary of `align`, in small pages unless huge. */
uint8_t *rig_buffer_at(size_t bytes, size_t align, bool huge);

static inline uint8_t *rig_buffer(size_t bytes)
{
	return rig_buffer_at(bytes, RIG_GUARD, false);
}

void rig_guards(void);

/* ---- the two sides ---- */

struct rig_side {
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	struct fl_mr *mr;
	uint8_t *mem;
	struct fl_fault_counters mark;
};

struct rig {
	struct rig_side src, dst;
	uint64_t posted;	/* work request id */
	bool taken;		/* its completion is in done */
	struct fl_completion done;
};
extern struct rig rig;

void rig_clean(void);

/* A test may open and clean the rig often. */
void rig_begin(void);

struct fl_fault_counters rig_counters(struct rig_side *s);

/* Counters of a side since rig_mark(); pinned pages: now. */
struct fl_fault_counters rig_since(struct rig_side *s);

/*
 * The card may go on as soon as a page is in the tables, and its worker counts a moment
 * later what it did: the counters when n ranges have been resolved.
 */
struct fl_fault_counters rig_settled(struct rig_side *s, uint64_t n);

void rig_mark(void);
void rig_side_open(struct rig_side *s, enum fl_system system,
		   enum fl_resolve resolve);

/* New queue pairs: after an error, the old ones take no more work. */
void rig_connect(void);

void rig_open(enum fl_system system, enum fl_resolve resolve);

/* Register, as what the source and the destination are from now on. */
void rig_regions(void *src, size_t src_bytes, void *dst, size_t dst_bytes);

/* A source that holds pattern `seed`, and a destination that is not there. */
void rig_buffers_for(size_t bytes, uint64_t seed);

/* ---- transfers ---- */

void rig_post(size_t at, size_t bytes);

/* Is the completion there? */
bool rig_look(void);

/* Status of what was posted last. */
int rig_status(void);

void rig_write(size_t at, size_t bytes);

/* ---- in the middle ---- */

/*
 * Is the side still waiting for pages? `missing` were absent when the transfer was
 * posted (FL_RESOLVE_BLOCK: so many blocks had an absent one), and each takes a fault
 * of its own, so fewer faults prove it. Asked again after an act, it proves that
 * the act fell into the transfer.
 */
static inline bool rig_middle(struct rig_side *s, uint64_t missing)
{
	return rig_since(s).faults < missing;
}

/* Wait for at least so many faults; false: the transfer is over. */
bool rig_under_way(struct rig_side *s, uint64_t faults);

/* ---- the end ---- */

void rig_finish(void);

/* ---- processes ---- */

/*
 * Fork; the child runs fn and exits with 0, or with 1 when an expectation fails.
 * It runs in a thread that is not the test's, since that ends the process
 * instead of going on with the parent's next test (harness.c).
 */
pid_t rig_fork(void (*fn)(void));

/* Exit status, or -signal. */
int rig_wait(pid_t pid);

/* One page that parent and children share. */
struct rig_shared {
	_Atomic uint32_t stage;
	_Atomic uint32_t slot;
	_Atomic uint64_t faults;
	struct fl_address qp;
	uint64_t va;
	uint32_t rkey;
};

struct rig_shared *rig_share(void);

/* Wait for a stage of the other process; a child that has ended never comes. */
void rig_await(struct rig_shared *s, uint32_t stage);

/* ---- small files of the system ---- */

/* The number after `name` in a file of lines "name number"; -1: none. */
int64_t rig_number(const char *path, const char *name);

int rig_put(const char *path, const char *text);

/* proc(5), /proc/PID/pagemap: entry of the page at mem. */
uint64_t rig_pagemap(const void *mem);

#define RIG_PRESENT	(1ull << 63)
#define RIG_SWAPPED	(1ull << 62)
#define RIG_FRAME	((1ull << 55) - 1)

/* How many pages are there (RIG_PRESENT), or in swap (RIG_SWAPPED). */
unsigned int rig_pages(const void *mem, size_t bytes, uint64_t what);

#endif
