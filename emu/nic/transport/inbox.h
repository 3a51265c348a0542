/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inbox.h - frames that have come for a packet unit, until it takes them: the unit's own
 * memory, with an end. What was never used is never touched.
 */
#ifndef FL_INBOX_H
#define FL_INBOX_H

#include "nic/wire.h"

struct inbox_frame {
	struct inbox_frame *next;
	void *qp;		/* the unit's queue pair that it is for */
	uint32_t epoch;		/* of the queue pair when it came */
	bool request;		/* for the unit */
	struct wire_frame frame;
};

struct inbox {
	struct inbox_frame *store, *oldest, *newest;
	uint32_t frames, fresh;	/* there are; those from there on were never used */
	uint32_t waiting;
	uint32_t *unused;	/* a stack of places in store, so that a look at all of */
	uint32_t unused_count;	/* them does not go through the frames */
};

/* False: no memory. inbox_end() goes with either. */
bool inbox_make(struct inbox *b, uint32_t frames);
void inbox_end(struct inbox *b);
/* Whatever is in it is forgotten. */
void inbox_clear(struct inbox *b);
static inline bool inbox_is_full(const struct inbox *b)
{
	return !b->unused_count && b->fresh == b->frames;
}

/* A copy of f becomes the newest. Not when it is full. */
struct inbox_frame *inbox_keep(struct inbox *b, const struct wire_frame *f);
/* Take one out: the one behind `before`; NULL: the oldest. It is the caller's then. */
struct inbox_frame *inbox_take(struct inbox *b, struct inbox_frame *before);
void inbox_give_back(struct inbox *b, struct inbox_frame *w);
/* Every frame is in one place, with so many in the caller's hands? */
bool inbox_is_whole(const struct inbox *b, uint32_t taken);

#endif
