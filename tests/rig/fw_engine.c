// SPDX-License-Identifier: BSD-2-Clause
#include "rig/fw_engine.h"

static struct rig_ctx *rig_ctx_of(struct rig *r, uint32_t off, uint32_t *reg)
{
	uint32_t n = (off - NIC_CTX_BASE(0)) / NIC_CTX_STRIDE;

	*reg = (off - NIC_CTX_BASE(0)) % NIC_CTX_STRIDE;
	if (off < NIC_CTX_BASE(0) || n >= r->contexts)
		return NULL;
	return &r->ctx[n];
}

static void rig_event_line(struct rig *r, bool level)
{
	if (r->fw)
		fw_engine_line(r->fw, level);
}

void rig_note(struct rig *r, uint32_t kind, uint32_t n, uint32_t serial)
{
	if (r->evt_in - r->evt_out == RIG_EVENTS)
		abort();
	r->evt[r->evt_in++ % RIG_EVENTS] =
		kind | n << NIC_ENG_EVT_POP_INDEX_SHIFT |
		(serial & 0xFF) << NIC_ENG_EVT_POP_SERIAL_SHIFT |
		NIC_ENG_EVT_POP_VALID;
	rig_event_line(r, true);
}

uint32_t rig_read32(struct rig *r, uint32_t off)
{
	struct rig_ctx *c;
	uint32_t reg, n;

	if (off == NIC_ENG_BASE + NIC_ENG_PARAM)
		return r->contexts | 32u << 8 | 14u << 16 | 1u << 24;
	if (off == NIC_ENG_BASE + NIC_ENG_EVT_POP) {
		if (r->evt_in == r->evt_out)
			r->misuse = "a note was taken though the line is low";
		rig_event_line(r, r->evt_out + 1 != r->evt_in);
		return r->evt[r->evt_out++ % RIG_EVENTS];
	}
	c = rig_ctx_of(r, off, &reg);
	if (c && reg == NIC_CTX_STATE)
		return c->state | (c->attempt & 0xFF) << 8 | c->status << 16;
	if (c && reg == NIC_CTX_GEN)
		return c->gen & 0xFFFF;
	n = (off - NIC_RXC_BASE(0)) / NIC_RXC_STRIDE;
	if (off >= NIC_RXC_BASE(0) && n < 32) {
		const struct rig_rxc *x = &r->rxc[n];

		switch ((off - NIC_RXC_BASE(0)) % NIC_RXC_STRIDE) {
		case NIC_RXC_STATE:
			return x->state;
		case NIC_RXC_SRC:
			return x->src;
		case NIC_RXC_OP:
			return x->op;
		case NIC_RXC_LEN:
			return x->len;
		case NIC_RXC_RKEY:
			return x->rkey;
		case NIC_RXC_WORD:
			return x->word;
		case NIC_RXC_XFER:
			return x->xfer;
		case NIC_RXC_BLOCK:
			return x->block;
		case NIC_RXC_REF:
			return x->ref;
		case NIC_RXC_FROM:
			return x->from;
		}
	}
	r->misuse = "a register was read that does not exist";
	return 0;
}

uint64_t rig_read64(struct rig *r, uint32_t off)
{
	uint32_t n = (off - NIC_RXC_BASE(0)) / NIC_RXC_STRIDE;
	uint32_t reg = (off - NIC_RXC_BASE(0)) % NIC_RXC_STRIDE;

	if (off >= NIC_RXC_BASE(0) && n < 32 && reg == NIC_RXC_VA)
		return r->rxc[n].va;
	if (off >= NIC_RXC_BASE(0) && n < 32 && reg == NIC_RXC_LEFT)
		return r->rxc[n].left;
	r->misuse = "a register was read that has not 64 bits";
	return 0;
}

static void rig_go(struct rig *r, struct rig_ctx *c, uint32_t value)
{
	if (c->state != FL_TX_FREE)
		r->misuse = "GO for a context that is not free";
	if (!c->len || c->len > RIG_BLOCK)
		r->misuse = "GO with a senseless length";
	c->state = FL_TX_READY;
	c->op = value & NIC_CTX_CTRL_OP_MASK;
	c->attempt = 0;
	c->status = 0;
	c->gen = (c->gen + 1) & 0xFFFF;
	if (c->op != FL_OP_WRITE && c->op != FL_OP_READ &&
	    c->op != FL_OP_READ_RESP)
		r->misuse = "GO with an unknown operation";
	r->order[r->started++ % 16] = (uint32_t)(c - r->ctx);
	if (r->on_go)
		r->on_go(r->on_go_arg, (uint32_t)(c - r->ctx));
}

static void rig_ctrl(struct rig *r, struct rig_ctx *c, uint32_t value)
{
	if (value & NIC_CTX_CTRL_GO) {
		rig_go(r, c, value);
	} else if (value & NIC_CTX_CTRL_RELEASE) {
		if (c->state != FL_TX_DONE)
			r->misuse = "RELEASE of a context that is not done";
		c->state = FL_TX_FREE;
	} else if (value & NIC_CTX_CTRL_EXPIRE) {
		if (c->state != FL_TX_FLYING && c->state != FL_TX_DSTFAULT)
			r->misuse = "EXPIRE where no timer can run";
		c->state = FL_TX_READY;
		c->attempt++;
	} else if (value & NIC_CTX_CTRL_KILL) {
		if (c->state == FL_TX_FREE || c->state == FL_TX_DONE)
			r->misuse = "KILL of a context without a block";
		c->state = FL_TX_DONE;
		c->status = value >> NIC_CTX_CTRL_CODE_SHIFT & 0xFF;
		rig_note_ctx(r, FL_NOTE_TX_DONE, (uint32_t)(c - r->ctx));
	}
}

void rig_write32(struct rig *r, uint32_t off, uint32_t value)
{
	uint32_t reg, n;
	struct rig_ctx *c = rig_ctx_of(r, off, &reg);

	n = (off - NIC_RXC_BASE(0)) / NIC_RXC_STRIDE;
	if (off >= NIC_RXC_BASE(0) && n < 32 &&
	    (off - NIC_RXC_BASE(0)) % NIC_RXC_STRIDE == NIC_RXC_VERDICT) {
		r->rxc[n].verdict = value;
		r->rxc[n].verdicts++;
		return;
	}
	if (c && reg == NIC_CTX_CTRL)
		rig_ctrl(r, c, value);
	else if (c && reg == NIC_CTX_DST)
		c->dst = value;
	else if (c && reg == NIC_CTX_STREAM)
		c->stream = value;
	else if (c && reg == NIC_CTX_LEN)
		c->len = value;
	else if (c && reg == NIC_CTX_RKEY)
		c->rkey = value;
	else if (c && reg == NIC_CTX_REF)
		c->ref = value;
	else if (c && reg == NIC_CTX_XFER)
		c->xfer = value;
	else if (c && reg == NIC_CTX_BLOCK)
		c->block = value;
	else if (c && reg == NIC_CTX_SRC)
		c->src = value;
	else
		r->misuse = "a register was written that does not exist";
}

void rig_write64(struct rig *r, uint32_t off, uint64_t value)
{
	uint32_t reg;
	struct rig_ctx *c = rig_ctx_of(r, off, &reg);

	if (c && reg == NIC_CTX_LVA)
		c->lva = value;
	else if (c && reg == NIC_CTX_RVA)
		c->rva = value;
	else if (c && reg == NIC_CTX_LEFT)
		c->left = value;
	else
		r->misuse = "a register was written that has not 64 bits";
}

int rig_reg_read(struct engine *engine, uint32_t off, unsigned int size,
		 uint64_t *value)
{
	struct rig *r = (struct rig *)engine;

	*value = size == 8 ? rig_read64(r, off) : rig_read32(r, off);
	return 0;
}

int rig_reg_write(struct engine *engine, uint32_t off, unsigned int size,
		  uint64_t value)
{
	struct rig *r = (struct rig *)engine;

	if (size == 8)
		rig_write64(r, off, value);
	else
		rig_write32(r, off, (uint32_t)value);
	return 0;
}
