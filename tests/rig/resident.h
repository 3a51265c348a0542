/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resident.h - the two boards of rig/board.h with a process on each: SMMUs
 * translate, and queue pairs write from one process's region to the other's.
 */
#ifndef FL_RIG_RESIDENT_H
#define FL_RIG_RESIDENT_H

#include "faultline/pte.h"
#include "rig/board.h"

#define VA	0x40200000ull
#define PAGES	40u
#define FRAMES	48u			/* from data_pa on */
#define BYTES	(PAGES * 4096u)

extern struct rng resident_rng;
extern uint32_t frame_of[2][PAGES];
extern uint32_t va_key[2];
extern unsigned int memory_swaps;	/* of frames: how many pages may be alone */

/* ---- two processes' memory ---- */

uint64_t page_descriptor(struct node *n, unsigned int side, uint32_t page);
void page_set(struct node *n, uint32_t page, uint64_t desc);
void region_make(struct node *n, unsigned int side);
void memory_make(struct node *n, unsigned int side);

/* ---- requests ---- */

struct want {
	uint64_t from, to;
	uint32_t len, key;
	uint8_t opcode, flags;
};

void want_post(struct node *n, unsigned int side, const struct want *q);
void bell_ring(struct node *n);

#endif
