/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resend_lab.h - what the judge of this lab may ask its subject: one engine with
 * the student's contexts in it, its registers, a memory whose pages may be
 * missing, and a wire of which both ends are the judge's.
 */
#ifndef FL_LABS_RESEND_LAB_H
#define FL_LABS_RESEND_LAB_H

#include "tools/grade/subject.h"

#define LAB_PAGES	64
#define LAB_BASE	UINT64_C(0x7f0000000000)	/* va of the first page */
#define LAB_STREAM	5
#define LAB_NODE	1	/* which this engine is */
#define LAB_CELL_BYTES	1024u
#define LAB_BLOCK_LOG2	14
#define LAB_FRAMES	1024	/* sent and not yet taken */
/* No block takes so many steps: who steps this often will never end. */
#ifndef LAB_RUNAWAY
#define LAB_RUNAWAY	20000
#endif

/* Arguments of a question: Q; of its answer: A. */
enum {
	/* A new board, switched on. Q: contexts, receive contexts */
	LAB_NEW = SUBJECT_FIRST,
	/* Q: offset, bytes (4 or 8), value; A: 1: the write was refused */
	LAB_REG_WRITE,
	/* Q: offset, bytes; A: value */
	LAB_REG_READ,
	/* Q: channel, so many steps (0: until it sleeps); A: steps that did something */
	LAB_STEP,
	/* Q: page, 1: it is missing */
	LAB_PAGE,
	/* Q: so many frames may leave from now on */
	LAB_ROOM,
	/* An answer comes. Q: from, opcode, context, generation, attempt, code */
	LAB_ANSWER,
	/*
	 * A cell of a block comes. Q: from, opcode, context, generation, attempt,
	 * va, length, rkey, ref, offset, seed of its bytes
	 */
	LAB_CELL,
	/*
	 * Take the oldest frame that was sent. A: 1, opcode, to, context,
	 * generation, attempt; of an answer: code, map; of a cell: offset, sum of
	 * its bytes; or 0: there is none
	 */
	LAB_TAKE,
	/* Q: va, length; A: sum of the bytes there */
	LAB_SUM,
	/* A: stale, duplicates, bad packets, no context, resent, refused */
	LAB_STATS,
	LAB_RESET,
};

/* Of most answers: what engine_check() says, as text; empty: all is well. */
#define LAB_AT_CHECK	16

/* Memory is seed 0; at: byte of the memory, or of the block. */
static inline uint8_t lab_byte(uint64_t seed, uint64_t at)
{
	return (uint8_t)((at * 2654435761u + seed * 40503u) >> 11 ^ seed);
}

static inline uint64_t lab_add(uint64_t sum, uint8_t byte)
{
	return (sum ^ byte) * UINT64_C(0x100000001b3);
}

#endif
