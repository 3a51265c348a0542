// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order: the responder carries out the requests of a queue pair one after the
 * other, in the order in which they were posted.
 *
 * Each block says which request it belongs to, how many earlier requests of its
 * queue pair had not ended when it was sent (CTX.REF), and which queue pair sent
 * it (CTX.SRC). `next` is the request whose turn it is. It is over when all its
 * blocks have landed; a READ's, at the peer. Blocks of one request may land in
 * any order: only `relaxed` queue pairs, as ExaNeSt's, allow that to whole
 * requests.
 *
 * The count may fall behind, since an acknowledgement of a READ's answer can be
 * lost for good. The sender knows what has ended, and its word moves `next` on.
 * So nobody waits for a request that will never come.
 */
#include "nic/fw_internal.h"

#define NUMBER_BITS	24
#define LIFE_BITS	7

/* a - b in numbers that go round after so many bits. */
static int32_t distance(uint32_t a, uint32_t b, unsigned int bits)
{
	return (int32_t)((a - b) << (32 - bits)) >> (32 - bits);
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
	int32_t ahead = distance(t->number, o->next, NUMBER_BITS);

	if (t->relaxed)
		return FW_TURN_NOW;
	/* What an older life began may still land; it counts for nothing. */
	if (t->life != o->life)
		return FW_TURN_OVER;
	if (!ahead)
		return FW_TURN_NOW;
	return ahead > 0 ? FW_TURN_LATER : FW_TURN_OVER;
}

enum fw_turn_is fw_order_judge(struct fw *fw, uint16_t qp,
			       const struct fw_turn *t)
{
	struct fw_order *o = &fw->qp[qp].order;
	uint32_t oldest = t->number - t->behind;
	int32_t life = distance(t->life, o->life, LIFE_BITS);

	if (t->relaxed)
		return FW_TURN_NOW;
	if (o->known && life < 0)
		return FW_TURN_OVER;
	if (!o->known || life > 0) {
		o->known = true;
		o->life = t->life;
		order_begin(o, oldest);
	} else if (distance(oldest, o->next, NUMBER_BITS) > 0) {
		order_begin(o, oldest);
	}
	return fw_order_now(fw, qp, t);
}

bool fw_order_landed(struct fw *fw, uint16_t qp, const struct fw_turn *t)
{
	struct fw_order *o = &fw->qp[qp].order;

	if (t->relaxed || fw_order_now(fw, qp, t) != FW_TURN_NOW)
		return false;
	o->landed++;
	if (t->last)
		o->blocks = t->block;
	if (!o->blocks || o->landed < o->blocks)
		return false;
	order_begin(o, o->next + 1);
	return true;
}
