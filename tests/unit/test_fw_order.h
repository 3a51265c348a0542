/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_fw_order.h - hands for tests of the order: blocks of a peer's requests
 * that come in and land, and the peer's words about blocks of ours.
 */
#ifndef FL_TEST_FW_ORDER_H
#define FL_TEST_FW_ORDER_H

#include "test_fw_rig.h"

/* A peer's request, as its blocks describe it. */
struct order_part {
	uint32_t number, behind, block, of;
};

/* One block of a WRITE; each call is another block of the peer's contexts. */
static inline struct rig_rxc order_block(const struct rig_slot *w, uint32_t op,
					 struct order_part p)
{
	static uint32_t made;
	uint32_t block = p.block ? p.block : 1, of = p.of ? p.of : 1;

	made++;
	return (struct rig_rxc){
		.state = FL_RX_CHECK, .src = RIG_NODE | w->qp << 8, .op = op,
		.va = RIG_VA, .len = 4096, .rkey = w->key,
		.left = (of - block) * 4096ull, .block = block,
		.word = made % 16 << 24 | (made & 0xFFFF) << 8,
		.ref = p.number << 8 | p.behind,
		.from = RIG_PEER_QP,
	};
}

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
static inline uint32_t order_told(const struct rig *r, uint32_t n,
				  uint32_t before)
{
	if (r->rxc[n].verdicts == before)
		return RIG_HELD;
	EXPECT_EQ(r->rxc[n].verdicts, before + 1);
	return r->rxc[n].verdict & NIC_RXC_VERDICT_CODE_MASK;
}

/* The engine has written all of an accepted block. */
static inline void order_land(struct rig *r, uint32_t n)
{
	r->rxc[n].state = FL_RX_FREE;
	rig_note(r, FL_NOTE_RX_LANDED, n, 0x5A);
	rig_run(r);
}

/* The peer wants a block of ours later: FL_ST_WAIT or FL_ST_BUSY. */
static inline void order_put_off(struct rig *r, uint32_t n, uint32_t why)
{
	if (r->ctx[n].state == FL_TX_READY)
		rig_fly(r, n);
	EXPECT_EQ(r->ctx[n].state, FL_TX_FLYING);
	if (r->ctx[n].op != FL_OP_READ)
		r->ctx[n].state = FL_TX_DSTFAULT;
	r->ctx[n].status = why;
	rig_note_ctx(r, FL_NOTE_TX_REFUSED, n);
	rig_run(r);
}

/* Post a request, of `length` bytes. */
static inline void order_post(struct rig *r, struct rig_slot *w, uint32_t op,
			      uint32_t length, uint32_t flags)
{
	struct fl_wqe e = rig_wqe(w, length);

	e.opcode = (uint8_t)op;
	e.flags |= (uint8_t)flags;
	rig_post(r, w, e);
}

#endif
