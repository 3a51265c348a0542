/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - the judge's side of this lab: tables, banks and accesses as one-line
 * steps. The tables are built here, in a copy of the subject's memory that the
 * subject cannot reach, and sent word by word.
 */
#ifndef FL_LABS_WALK_BENCH_H
#define FL_LABS_WALK_BENCH_H

#include <stddef.h>

#include "labs/walk/walk_lab.h"
#include "rig/smmu_bank.h"
#include "smmu/smmu.h"
#include "tools/grade/judge.h"

#define PAGE		UINT64_C(4096)
#define BENCH_BANKS	3

/* How an access is made; may be added. */
enum { READ = 0, WRITE = 1, PRIVILEGED = 2 };

struct bench {
	unsigned int pages;		/* in use */
	uint64_t root[BENCH_BANKS];
	unsigned int start[BENCH_BANKS];	/* level of the first table */
	struct subject_msg last;	/* the answer to the last access */
	uint64_t fsr;			/* after it */
	unsigned int hits;		/* accesses that the TLB served */
	size_t words;			/* of mem: from here on nothing was written */
	uint64_t mem[LAB_PAGES * 512];
};
extern struct bench bench;

/* A board as after power-on; tlb_entries 0: the usual number. */
void bench_new(unsigned int tlb_entries);
/* The level at which a walk begins, from a table of the manual. */
unsigned int bench_start(unsigned int t0sz);
/* A bank with a table of its own and the stream of its number, switched on. */
void bench_bank(unsigned int bank, uint16_t asid, unsigned int t0sz);
/* bench_new, and bank 0 with ASID 1 and 48 bits. */
void bench_one(void);

/* Registers; quiet: no step of the transcript. */
void bench_write(uint32_t off, unsigned int bytes, uint64_t value);
uint64_t bench_read(uint32_t off, unsigned int bytes);

/* Where the descriptor of va at a level is; makes the tables above it. */
uint64_t bench_at(unsigned int bank, uint64_t va, unsigned int level);
uint64_t bench_peek(uint64_t pa);
void bench_poke(uint64_t pa, uint64_t value);
/* A page (level 3) or block (2, 1) at pa, with these bits. */
void bench_map(unsigned int bank, uint64_t va, uint64_t pa, unsigned int level,
	       uint64_t bits);

/* An access. how: READ, WRITE, PRIVILEGED. */
void bench_access(unsigned int bank, uint64_t va, unsigned int how);
/* The answer to the last one. */
const struct subject_msg *bench_last(void);
/* How many the TLB has served. */
unsigned int bench_hits(void);
/* The same, and what must come of it. */
void bench_reaches(unsigned int bank, uint64_t va, unsigned int how,
		   uint64_t pa);
/* fsr: the bit of FSR, which is cleared. */
void bench_faults(unsigned int bank, uint64_t va, unsigned int how, uint32_t fsr,
		  unsigned int level);
/* Was the last one a hit? Reads of descriptors it made? */
void bench_was_hit(bool hit);
void bench_made_reads(uint64_t reads);
/* And did the walk count them, for who waits and for the statistics? */
void bench_counted_reads(uint64_t reads);

/* Take one page's translation away: TLBIVAL. */
void bench_invalidate(unsigned int bank, uint64_t va, uint16_t asid);
/* All of the bank's: TLBIALL. */
void bench_forget(unsigned int bank);

/*
 * What an access comes to, by a second walker as plain as can be: an FSR bit, or 0
 * and *pa. pa_bits as TCR2.PASIZE says, affd: SCTLR.AFFD.
 */
struct bench_want {
	unsigned int t0sz, pa_bits;
	bool affd;
	uint64_t pa;
	unsigned int level, reads;
};
uint32_t bench_walk(uint64_t va, unsigned int how, struct bench_want *w);

#endif
