/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps.h - what a driver did in a trace, told so that two kernels can be compared
 * (private to tools/view).
 *
 * A step is one event of the driver for one block. What differs from run to run for no
 * reason of the driver's is taken out: an address is an offset in its region, regions
 * are numbered as a board registered them, transfers as they were posted, and the
 * number of the card's context is left out.
 */
#ifndef FL_VIEW_STEPS_H
#define FL_VIEW_STEPS_H

#include "tools/view/view.h"

#define STEP_PAGE 4096u

struct step_region {
	uint8_t board;
	uint32_t number;	/* on its board, from 1 */
	uint64_t key, start, end;	/* whole pages */
	size_t from, to;	/* records between which it lives */
};

struct step {
	/* The block it is for. Transfer: from 1, 0: none; board: the driver's. */
	uint32_t xfer, block;
	uint8_t board;
	uint16_t event;		/* enum trace_event */
	uint32_t region;	/* 0: outside of all */
	uint64_t page, pages;	/* page: in the region */
	uint64_t map;		/* DRV_IRQ_FAULT */
	bool write;		/* DRV_RESOLVE */
	bool failed;		/* and DRV_READY */
	size_t at;		/* its record */
	char text[100];
};

/* A page of a region that something was said of, outside of any block. */
struct step_page {
	uint8_t board;
	uint32_t region;
	uint64_t page;
	uint64_t kind;		/* bits of FSR, all of them together */
};

struct steps {
	struct step *step;	/* sorted by block, then as they happened */
	size_t n;
	struct step_region *region;
	size_t regions;
	/* Sorted; each page once. */
	struct step_page *told;	/* notifier: invalidated, transfer 0 */
	size_t tolds;
	struct step_page *bank;	/* the SMMU described a fault there */
	size_t banks;
};

/* -ENOMEM; -EOVERFLOW: records are lost, so nothing can be said. */
int steps_make(struct steps *s, const struct view_trace *t);
void steps_free(struct steps *s);
/* < 0, 0, > 0: which block is first. */
int step_block_compare(const struct step *a, const struct step *b);

#endif
