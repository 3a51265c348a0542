/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order_message.h - the receives of an order swarm: each message finds one, sooner or
 * later, and each message that has ended well has completed the one that is its.
 */
#ifndef FL_RIG_ORDER_MESSAGE_H
#define FL_RIG_ORDER_MESSAGE_H

#include "rig/order_swarm.h"

#define MESSAGE_MOST	PAGE	/* bytes; no receive has less room */

/* Nothing waits for a receive any more. */
void places_fill(struct swarm *s);

/* A message of this side is about to be posted: half of them find their receive there. */
bool message_may_go(struct swarm *s, struct pair *p, int side);

/* In the order of posting, so that the n-th that ended well was the n-th. */
static inline void message_ended(struct pair *p, int side, bool well)
{
	p->ended[!side] += well;
}

void places_check(struct swarm *s);

#endif
