/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * walk_lab.h - what the judge of this lab may ask its subject: an SMMU with the
 * student's walk and TLB in it, its registers, and a memory for tables.
 */
#ifndef FL_LABS_WALK_LAB_H
#define FL_LABS_WALK_LAB_H

#include "tools/grade/subject.h"

#define LAB_BASE	UINT64_C(0x80000000)	/* first physical byte */
#define LAB_PAGES	256
#define LAB_READS	8	/* descriptor reads of an access that are told */
/* A walk has four levels at most; who reads this often will never end. */
#define LAB_RUNAWAY	10000

/* Arguments of a question: Q; of its answer: A. */
enum {
	/* A new board. Q: TLB entries (0: the usual 512) */
	LAB_NEW = SUBJECT_FIRST,
	/* Q: offset, bytes (4 or 8), value */
	LAB_REG_WRITE,
	/* Q: offset, bytes; A: value */
	LAB_REG_READ,
	/* A word of memory. Q: physical address, value */
	LAB_POKE,
	/* Reads there fail from now on. Q: physical address, enum smmu_mem_status */
	LAB_BREAK,
	/*
	 * Q: stream, va, write, privileged; A: verdict, pa, hit, reads, then of the
	 * last EV_SMMU_LEVEL: there was one, level, table; pa in the EV_SMMU_WALK, or
	 * where there was none, as above; reads by smmu_walk.reads, and by
	 * stats.walk_reads; from LAB_AT_READS: where it read
	 */
	LAB_ACCESS,
	/* A: entries in use, sum of count[][]; of the one in use: pa, level, perm */
	LAB_TLB,
};

#define LAB_AT_READS 10
/* Between accesses, and what a read costs: who counts reads is late by so much. */
#define LAB_ACCESS_NS	1000000
#define LAB_READ_NS	10

#endif
