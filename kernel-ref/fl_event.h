/* SPDX-License-Identifier: GPL-2.0-only */
/* fl_event.h - what happened to a process's objects, beside completions. */
#ifndef FL_EVENT_H
#define FL_EVENT_H

#include <linux/types.h>

#include "faultline/entries.h"

struct fl_ctx;
struct fl_dev;
struct fl_next_event;
struct fl_qp;
struct fl_srq;

#define FL_EVENTS_MAX	64	/* of a file that wait to be taken; a power of two */
#define FL_CARD_SRQS	64	/* the most that a card may have */
#define FL_CARD_COUNTERS 128	/* the same */

/* Of a file; dev->irq_lock. */
struct fl_events {
	u32 first, end;		/* ever taken, ever noted */
	struct fl_eqe e[FL_EVENTS_MAX];
};

/* The card's event leads to who has the object; dev->irq_lock is held. */
void fl_event_note(struct fl_dev *dev, const struct fl_eqe *e);
/* Whose number it is from now on; NULL: nobody's. */
void fl_event_qp(struct fl_ctx *ctx, u32 number, struct fl_qp *qp);
void fl_event_srq(struct fl_ctx *ctx, u32 number, struct fl_srq *srq);
/*
 * A queue has ended, and its number will be another's: what waits about it is nobody's. Numbers of
 * queue pairs do not come again so soon.
 */
void fl_event_forget(struct fl_ctx *ctx, u32 type, u32 number);
bool fl_event_any(struct fl_ctx *ctx);
/* ctx->lock is held; it is given back while sleeping. */
int fl_event_wait(struct fl_ctx *ctx, struct fl_next_event *a);

#endif
