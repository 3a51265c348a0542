// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order: the responder carries out the requests of a queue pair one after the
 * other, in the order in which they were posted.
 *
 * Each block says which request it belongs to, and how many earlier requests of its
 * queue pair had not ended when it was sent (CTX.REF). `next` is the request whose
 * turn it is. It is over when all its blocks have landed; a READ's, at the peer.
 * Blocks of one request may land in any order: only `relaxed` queue pairs, as
 * ExaNeSt's, allow that to whole requests.
 *
 * Only what comes from the connected queue pair, and may be done, gets here.
 *
 * The count may fall behind, since an acknowledgement of a READ's answer can be
 * lost for good. The sender knows what has ended, and its word moves `next` on.
 * So nobody waits for a request that will never come.
 */
#include "nic/fw_internal.h"

#define NUMBER_BITS	24

/* a - b in numbers that go round. */
static int32_t order_distance(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << (32 - NUMBER_BITS)) >> (32 - NUMBER_BITS);
}

/*
 * Numbers of a queue pair without order: what was cut off long ago is not taken for
 * what is new once they have gone round half way.
 */
static void order_floor_follow(struct fw_order *o, uint32_t number)
{
	const int32_t far = 1 << (NUMBER_BITS - 3);

	if (o->cut && order_distance(number, o->floor) > 2 * far)
		o->floor = number - (uint32_t)far;
}

static bool order_is_cut(const struct fw_order *o, uint32_t number)
{
	return o->cut && order_distance(number, o->floor) < 0;
}

static void order_begin(struct fw_order *o, uint32_t number)
{
	o->next = number;
	o->landed = o->blocks = 0;
}

enum fw_turn_is fw_order_now(const struct fw *fw, uint16_t qp,
			     const struct fw_turn *t)
{
	const struct fw_order *o = &fw->qp[qp].order;
	int32_t ahead = order_distance(t->number, o->next);

	if (t->relaxed)
		return order_is_cut(o, t->number) ? FW_TURN_OVER : FW_TURN_NOW;
	if (!ahead)
		return FW_TURN_NOW;
	return ahead > 0 ? FW_TURN_LATER : FW_TURN_OVER;
}

enum fw_turn_is fw_order_would(const struct fw *fw, uint16_t qp,
			       const struct fw_turn *t)
{
	const struct fw_order *o = &fw->qp[qp].order;

	/* The sender's word would move the turn on, up to its own request. */
	if (!t->relaxed && !t->behind &&
	    (!o->known || order_distance(t->number, o->next) > 0))
		return FW_TURN_NOW;
	return fw_order_now(fw, qp, t);
}

enum fw_turn_is fw_order_judge(struct fw *fw, uint16_t qp,
			       const struct fw_turn *t)
{
	struct fw_order *o = &fw->qp[qp].order;
	uint32_t oldest = t->number - t->behind;

	order_floor_follow(o, t->number);
	if (t->relaxed)
		return fw_order_now(fw, qp, t);
	if (!o->known || order_distance(oldest, o->next) > 0)
		order_begin(o, oldest);
	o->known = true;
	return fw_order_now(fw, qp, t);
}

void fw_order_cut(struct fw *fw, uint16_t qp, uint32_t number)
{
	struct fw_order *o = &fw->qp[qp].order;

	if (!order_is_cut(o, number)) {
		o->cut = true;
		o->floor = number;
	}
	if (!o->known || order_distance(number, o->next) > 0)
		order_begin(o, number);
	o->known = true;
}

bool fw_order_landed(struct fw *fw, uint16_t qp, const struct fw_turn *t, uint32_t blocks)
{
	struct fw_order *o = &fw->qp[qp].order;

	if (t->relaxed || fw_order_now(fw, qp, t) != FW_TURN_NOW)
		return false;
	o->landed += blocks;
	if (t->last)
		o->blocks = t->block;
	if (!o->blocks || o->landed < o->blocks)
		return false;
	order_begin(o, o->next + 1);
	return true;
}
