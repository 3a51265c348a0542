/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw_order.h - hands for tests of the order: blocks of a peer's requests
 * that come in and land, and the peer's words about blocks of ours.
 */
#ifndef FL_RIG_FW_ORDER_H
#define FL_RIG_FW_ORDER_H

#include "rig/fw.h"

/* A peer's request, as its blocks describe it. */
struct order_part {
	uint32_t number, behind, block, of;
};

/* One block of a WRITE; each call is another block of the peer's contexts. */
struct rig_rxc order_block(const struct rig_slot *w, uint32_t op,
			   struct order_part p);

#define WRITE_OF(w, ...) \
	order_block(w, WOP_WRITE, (struct order_part){ .number = __VA_ARGS__ })
#define READ_OF(w, ...) \
	order_block(w, WOP_READ_REQ, (struct order_part){ .number = __VA_ARGS__ })

/* It comes in at a receive context. */
static inline uint32_t order_offer(struct rig *r, uint32_t n, struct rig_rxc x)
{
	return rig_offer(r, n, &x);
}

/* What a context that was held has been told by now. */
uint32_t order_told(const struct rig *r, uint32_t n, uint32_t before);

/* The engine has written all of an accepted block. */
void order_land(struct rig *r, uint32_t n);

/* The peer wants a block of ours later: FL_ST_WAIT or FL_ST_BUSY. */
void order_put_off(struct rig *r, uint32_t n, uint32_t why);

/* Post a request, of `length` bytes. */
void order_post(struct rig *r, struct rig_slot *w, uint32_t op, uint32_t length,
		uint32_t flags);

#endif
