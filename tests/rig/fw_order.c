// SPDX-License-Identifier: BSD-2-Clause
#include "rig/fw_order.h"

struct rig_rxc order_block(const struct rig_slot *w, uint32_t op,
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

uint32_t order_told(const struct rig *r, uint32_t n, uint32_t before)
{
	if (r->rxc[n].verdicts == before)
		return RIG_HELD;
	EXPECT_EQ(r->rxc[n].verdicts, before + 1);
	return r->rxc[n].verdict & NIC_RXC_VERDICT_CODE_MASK;
}

void order_land(struct rig *r, uint32_t n)
{
	r->rxc[n].state = FL_RX_FREE;
	rig_note(r, FL_NOTE_RX_LANDED, n, 0x5A);
	rig_run(r);
}

void order_put_off(struct rig *r, uint32_t n, uint32_t why)
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

void order_post(struct rig *r, struct rig_slot *w, uint32_t op, uint32_t length,
		uint32_t flags)
{
	struct fl_wqe e = rig_wqe(w, length);

	e.opcode = (uint8_t)op;
	e.flags |= (uint8_t)flags;
	rig_post(r, w, e);
}
