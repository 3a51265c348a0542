/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_fw_engine.h - a register file in place of the engine, for tests of the
 * firmware.
 *
 * It follows the arcs of fsm.def that registers cause, and notes in rig.misuse
 * what no firmware may do: a register that does not exist, an arc that does not
 * exist. What data path and network cause is done by hand (test_fw_rig.h).
 */
#ifndef FL_TEST_FW_ENGINE_H
#define FL_TEST_FW_ENGINE_H

#include <stdlib.h>

#include "faultline/entries.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "nic/fw.h"
#include "trace/trace.h"

#define RIG_BLOCK	16384u
#define RIG_EVENTS	4096

struct rig_ctx {
	uint32_t state, attempt, status, gen, op, dst, stream, len, rkey, ref,
		 xfer, block, src;
	uint64_t lva, rva, left;
};

struct rig_rxc {
	uint32_t state;			/* FL_RX_*; the test sets it */
	uint32_t src, op, len, rkey, word, xfer, block, ref, from;
	uint64_t va, left;
	uint32_t verdict, verdicts;
};

struct unit;

struct rig {
	struct fw *fw;
	void *fw_mem;
	struct fw_config cfg;
	uint32_t contexts;
	uint64_t now;
	uint8_t *mem;
	uint64_t bad_from, bad_to;	/* memory that answers with an error */
	uint32_t reads;			/* of 64 bytes */
	struct rig_ctx ctx[16];
	struct rig_rxc rxc[32];
	uint32_t evt[RIG_EVENTS], evt_in, evt_out;
	uint32_t order[16], started;	/* contexts in the order of their GO */
	/* A test may look at each block as it is started. */
	void (*on_go)(void *arg, uint32_t ctx);
	void *on_go_arg;
	const char *misuse;
	bool line;
	uint32_t kicks;
	uint64_t alarm;
	uint64_t seq, traced[EV_COUNT];
	uint64_t seen;			/* by the last FW_CHECK */
	uint32_t drawn;			/* last, for a key */
	bool no_random;			/* the system has none */
	/* A card with a packet unit (test_fw_unit.h). */
	struct unit *unit;
	const struct fw_transport *transport, *datagrams, *fragments;	/* RC, UD, NV */
	void (*slot_row)(void *ctx, uint32_t slot, uint32_t row,
			 uint64_t quirks, uint64_t bits);
	uint32_t costs[FW_COSTS];
	uint64_t result;		/* of the last command */
	uint32_t eq_cons;
	struct fl_eqe eqe;		/* last taken */
};

static inline struct rig_ctx *rig_ctx_of(struct rig *r, uint32_t off,
					 uint32_t *reg)
{
	uint32_t n = (off - NIC_CTX_BASE(0)) / NIC_CTX_STRIDE;

	*reg = (off - NIC_CTX_BASE(0)) % NIC_CTX_STRIDE;
	if (off < NIC_CTX_BASE(0) || n >= r->contexts)
		return NULL;
	return &r->ctx[n];
}

static inline void rig_note(struct rig *r, uint32_t kind, uint32_t n,
			    uint32_t serial)
{
	if (r->evt_in - r->evt_out == RIG_EVENTS)
		abort();
	r->evt[r->evt_in++ % RIG_EVENTS] =
		kind | n << NIC_ENG_EVT_POP_INDEX_SHIFT |
		(serial & 0xFF) << NIC_ENG_EVT_POP_SERIAL_SHIFT |
		NIC_ENG_EVT_POP_VALID;
	fw_engine_line(r->fw, true);
}

static inline void rig_note_ctx(struct rig *r, uint32_t kind, uint32_t n)
{
	rig_note(r, kind, n, r->ctx[n].gen);
}

static inline uint32_t rig_read32(struct rig *r, uint32_t off)
{
	struct rig_ctx *c;
	uint32_t reg, n;

	if (off == NIC_ENG_BASE + NIC_ENG_PARAM)
		return r->contexts | 32u << 8 | 14u << 16 | 1u << 24;
	if (off == NIC_ENG_BASE + NIC_ENG_EVT_POP) {
		if (r->evt_in == r->evt_out)
			r->misuse = "a note was taken though the line is low";
		fw_engine_line(r->fw, r->evt_out + 1 != r->evt_in);
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

static inline uint64_t rig_read64(struct rig *r, uint32_t off)
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

static inline void rig_go(struct rig *r, struct rig_ctx *c, uint32_t value)
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

static inline void rig_ctrl(struct rig *r, struct rig_ctx *c, uint32_t value)
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

static inline void rig_write32(struct rig *r, uint32_t off, uint32_t value)
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

static inline void rig_write64(struct rig *r, uint32_t off, uint64_t value)
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

static inline int rig_reg_read(struct engine *engine, uint32_t off,
			       unsigned int size, uint64_t *value)
{
	struct rig *r = (struct rig *)engine;

	*value = size == 8 ? rig_read64(r, off) : rig_read32(r, off);
	return 0;
}

static inline int rig_reg_write(struct engine *engine, uint32_t off,
				unsigned int size, uint64_t value)
{
	struct rig *r = (struct rig *)engine;

	if (size == 8)
		rig_write64(r, off, value);
	else
		rig_write32(r, off, (uint32_t)value);
	return 0;
}

#endif
