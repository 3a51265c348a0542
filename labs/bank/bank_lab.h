/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bank_lab.h - what the judge of this lab may ask its subject: an SMMU with the
 * student's bank.c in it, its registers, its line, and a memory for tables.
 */
#ifndef FL_LABS_BANK_LAB_H
#define FL_LABS_BANK_LAB_H

#include "tools/grade/subject.h"

#define LAB_BASE	UINT64_C(0x80000000)	/* first physical byte */
#define LAB_WORDS	256	/* one table of sixteen entries for each bank */
#define LAB_TOLD	9	/* accesses let go that one answer tells of */
/* A subject that lets go of more between two questions will never end. */
#define LAB_RUNAWAY	10000

/* Arguments of a question: Q; of its answer: A. */
enum {
	/* A new board. */
	LAB_NEW = SUBJECT_FIRST,
	/* The board's reset; what is stalled is told of by LAB_SEEN. */
	LAB_RESET,
	/* Q: offset, bytes (4 or 8), value */
	LAB_REG_WRITE,
	/* Q: offset, bytes; A: value */
	LAB_REG_READ,
	/* A word of memory. Q: physical address, value */
	LAB_POKE,
	/* Q: stream, va, write, privileged, ticket, transfer, block; A: verdict, pa */
	LAB_ACCESS,
	/*
	 * A: the line; its changes; is anything stalled; of those let go and not told
	 * of before: how many here, how many more; from LAB_AT_TOLD ticket,
	 * terminate of each
	 */
	LAB_SEEN,
	/* Q: a trace event; A: how often, and of the last: transfer, block */
	LAB_EVENT,
};

#define LAB_AT_TOLD 5

#endif
