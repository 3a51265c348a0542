// SPDX-License-Identifier: BSD-2-Clause
/*
 * The register window: decode, reads, writes. Which registers and bits exist
 * comes from regs.def; what they do stands here.
 */
#include "nic/engine_internal.h"

#include "faultline/device.h"

enum page { PAGE_ENG, PAGE_CTX, PAGE_RXC, PAGE_FW, PAGE_BOX, PAGE_XP, PAGE_DB };
enum access { ACCESS_RO, ACCESS_RW, ACCESS_WO };

enum reg {
	R_NONE,
#define NREG(page, name, offset, width, access, reset, text) R_##page##_##name,
#define NARR(page, name, offset, stride, count, width, access, reset, text) \
	R_##page##_##name,
#include "faultline/regs.def"
	R_COUNT
};

static const struct {
	uint8_t page, width, access;
	uint32_t offset;
} regs[] = {
#define NREG(page, name, offset, width, access, reset, text) \
	[R_##page##_##name] = { PAGE_##page, width, ACCESS_##access, offset },
#include "faultline/regs.def"
};

static const struct {
	uint8_t reg, lsb, width;
} fields[] = {
#define NFLD(page, name, field, lsb, width, text) \
	{ R_##page##_##name, lsb, width },
#include "faultline/regs.def"
};

static_assert(R_COUNT <= REGS_MAX, "room for every register");

/* Registers that are one variable of their context. */
#define VARIABLE(type, member)						      \
	{ offsetof(struct type, member), sizeof(((struct type *)0)->member) }

static const struct {
	uint16_t at;
	uint8_t bytes;
} variables[R_COUNT] = {
	[R_CTX_STREAM] = VARIABLE(tx_ctx, stream),
	[R_CTX_LVA] = VARIABLE(tx_ctx, lva),
	[R_CTX_RVA] = VARIABLE(tx_ctx, rva),
	[R_CTX_LEN] = VARIABLE(tx_ctx, len),
	[R_CTX_RKEY] = VARIABLE(tx_ctx, rkey),
	[R_CTX_LEFT] = VARIABLE(tx_ctx, left),
	[R_CTX_REF] = VARIABLE(tx_ctx, ref),
	[R_CTX_XFER] = VARIABLE(tx_ctx, xfer),
	[R_CTX_BLOCK] = VARIABLE(tx_ctx, block),
	[R_CTX_GEN] = VARIABLE(tx_ctx, gen),
	[R_CTX_SRC] = VARIABLE(tx_ctx, src),
	[R_RXC_OP] = VARIABLE(rx_ctx, opcode),
	[R_RXC_VA] = VARIABLE(rx_ctx, va),
	[R_RXC_LEN] = VARIABLE(rx_ctx, len),
	[R_RXC_RKEY] = VARIABLE(rx_ctx, rkey),
	[R_RXC_LEFT] = VARIABLE(rx_ctx, left),
	[R_RXC_XFER] = VARIABLE(rx_ctx, xfer),
	[R_RXC_BLOCK] = VARIABLE(rx_ctx, block),
	[R_RXC_REF] = VARIABLE(rx_ctx, ref),
	[R_RXC_FROM] = VARIABLE(rx_ctx, src),
};

static void place_reg(struct c_engine *e, uint32_t off, unsigned int reg,
		      unsigned int index)
{
	struct reg_place *p = &e->regs.word[off / 4];
	const uint8_t *ctx = regs[reg].page == PAGE_CTX ?
				     (const uint8_t *)&e->tx[index] :
				     (const uint8_t *)&e->rx[index];

	*p = (struct reg_place){ .reg = (uint8_t)reg, .index = (uint8_t)index,
				 .size_most = regs[reg].width / 8,
				 .bytes = variables[reg].bytes,
				 .surplus = (uint8_t)(64 - 8 * variables[reg].bytes) };
	if (p->bytes)
		p->at = (uint32_t)(ctx - (const uint8_t *)e) +
			variables[reg].at;
	if (regs[reg].width == 64) {
		p[1] = p[0];
		p[1].shift = 32;
		p[1].size_most = 4;
	}
}

void regs_init(struct c_engine *e)
{
	const struct {
		uint32_t base, stride;
		unsigned int count;
	} page[] = {
		[PAGE_ENG] = { NIC_ENG_BASE, 0, 1 },
		[PAGE_CTX] = { NIC_CTX_BASE(0), NIC_CTX_STRIDE,
			       e->cfg.contexts },
		[PAGE_RXC] = { NIC_RXC_BASE(0), NIC_RXC_STRIDE,
			       e->cfg.rx_contexts },
	};
	struct reg_map *m = &e->regs;
	unsigned int i, n, p;

	for (i = 1; i < sizeof(regs) / sizeof(regs[0]); i++) {
		p = regs[i].page;
		if (!regs[i].width || p > PAGE_RXC)
			continue;
		for (n = 0; n < page[p].count; n++)
			place_reg(e, page[p].base + n * page[p].stride +
				     regs[i].offset, i, n);
	}
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		m->mask[fields[i].reg] |= ((1ull << fields[i].width) - 1)
					  << fields[i].lsb;
	for (i = 1; i < sizeof(regs) / sizeof(regs[0]); i++)
		if (!m->mask[i])
			m->mask[i] = ~0ull;	/* one number, no fields */
	m->mask[R_CTX_STREAM] = 0x7FFF;		/* 15 bits, sources: smmu-ids */
}

/* The register that off and size name, or NULL. */
static const struct reg_place *reg_decode(const struct c_engine *e,
					  uint32_t off, unsigned int size)
{
	const struct reg_place *p;

	if (off >= NIC_FW_BASE || (size != 4 && size != 8) || off & (size - 1))
		return NULL;
	p = &e->regs.word[off / 4];
	return size <= p->size_most ? p : NULL;
}

/* Place a value in a field; the names are those of regs.h. */
#define FIELD(value, name) \
	(((uint32_t)(value) << name##_SHIFT) & (uint32_t)name##_MASK)
#define FIELD_OF(value, name) \
	(((uint32_t)(value) & (uint32_t)name##_MASK) >> name##_SHIFT)

static uint64_t read_fault(const struct c_engine *e, unsigned int reg)
{
	const struct fault *f = &e->fault[0];

	if (!e->faults)
		return 0;
	switch (reg) {
	case R_ENG_FLT_REF:
		return FIELD(f->index, NIC_ENG_FLT_REF_INDEX) |
		       FIELD(f->side, NIC_ENG_FLT_REF_SIDE) |
		       FIELD(f->side == SIDE_RX, NIC_ENG_FLT_REF_WRITE) |
		       FIELD(f->serial, NIC_ENG_FLT_REF_SERIAL) |
		       NIC_ENG_FLT_REF_VALID;
	case R_ENG_FLT_STREAM:
		return f->stream;
	case R_ENG_FLT_VA:
		return f->va;
	case R_ENG_FLT_LEN:
		return f->len - DEV_ERR_LEN;
	case R_ENG_FLT_MAP:
		return f->map;
	case R_ENG_FLT_LEFT:
		return f->left;
	case R_ENG_FLT_XFER:
		return f->xfer;
	case R_ENG_FLT_BLOCK:
		return f->block;
	}
	return 0;
}

static uint64_t read_event(struct c_engine *e)
{
	struct note n;

	if (!note_take(e, &n))
		return 0;
	return FIELD(n.kind, NIC_ENG_EVT_POP_KIND) |
	       FIELD(n.index, NIC_ENG_EVT_POP_INDEX) |
	       FIELD(n.serial, NIC_ENG_EVT_POP_SERIAL) | NIC_ENG_EVT_POP_VALID;
}

/* The burst that a channel has under way; zeros when there is none. */
static uint64_t read_channel(const struct c_engine *e, unsigned int channel,
			     unsigned int reg)
{
	const struct channel *c = &e->ch[channel];
	const struct burst_iter *w = &c->iter;

	if (w->phase != BURST_OPEN && w->phase != BURST_HELD)
		return 0;
	switch (reg) {
	case R_ENG_RD_STATUS:
	case R_ENG_WR_STATUS:
		return NIC_ENG_RD_STATUS_BUSY |
		       FIELD(w->phase == BURST_HELD,
			     NIC_ENG_RD_STATUS_STALLED) |
		       FIELD(c->ctx, NIC_ENG_RD_STATUS_INDEX);
	case R_ENG_RD_VA:
	case R_ENG_WR_VA:
		return w->b.va;
	case R_ENG_RD_LEFT:
	case R_ENG_WR_LEFT:
		return w->len - w->offset;
	case R_ENG_RD_XFER_LEFT:
		return e->tx[c->ctx].left;
	case R_ENG_WR_XFER_LEFT:
		return e->rx[c->ctx].left;
	}
	return 0;
}

static_assert(NIC_ENG_RD_STATUS_BUSY == NIC_ENG_WR_STATUS_BUSY &&
	      NIC_ENG_RD_STATUS_STALLED_MASK == NIC_ENG_WR_STATUS_STALLED_MASK &&
	      NIC_ENG_RD_STATUS_INDEX_MASK == NIC_ENG_WR_STATUS_INDEX_MASK,
	      "both channels look alike");

static uint64_t read_eng(struct c_engine *e, unsigned int reg)
{
	switch (reg) {
	case R_ENG_ID:
		return NIC_ENG_ID_RESET;
	case R_ENG_PARAM:
		return FIELD(e->cfg.contexts, NIC_ENG_PARAM_NCTX) |
		       FIELD(e->cfg.rx_contexts, NIC_ENG_PARAM_NRXC) |
		       FIELD(e->cfg.block_log2, NIC_ENG_PARAM_BLOCK_LOG2) |
		       FIELD(1, NIC_ENG_PARAM_VERSION);
	case R_ENG_CTRL:
		return FIELD(e->enabled, NIC_ENG_CTRL_ENABLE);
	case R_ENG_IRQ_STATUS:
		return FIELD(e->faults != 0, NIC_ENG_IRQ_STATUS_FAULT);
	case R_ENG_IRQ_ENABLE:
		return FIELD(e->irq_enable, NIC_ENG_IRQ_ENABLE_FAULT);
	case R_ENG_FLT_COUNT:
		return e->faults;
	case R_ENG_EVT_POP:
		return read_event(e);
	case R_ENG_RD_STATUS:
	case R_ENG_RD_VA:
	case R_ENG_RD_LEFT:
	case R_ENG_RD_XFER_LEFT:
		return read_channel(e, CH_READ, reg);
	case R_ENG_WR_STATUS:
	case R_ENG_WR_VA:
	case R_ENG_WR_LEFT:
	case R_ENG_WR_XFER_LEFT:
		return read_channel(e, CH_WRITE, reg);
	}
	return read_fault(e, reg);
}

/* What is put together from several variables; 0: write-only. */
static uint64_t read_ctx(const struct tx_ctx *t, unsigned int reg)
{
	switch (reg) {
	case R_CTX_STATE:
		return FIELD(t->state, NIC_CTX_STATE_STATE) |
		       FIELD(t->attempt, NIC_CTX_STATE_ATTEMPT) |
		       FIELD(t->status, NIC_CTX_STATE_STATUS);
	case R_CTX_DST:
		return FIELD(t->node, NIC_CTX_DST_NODE) |
		       FIELD(t->qpn, NIC_CTX_DST_QPN);
	}
	return 0;
}

static uint64_t read_rxc(const struct rx_ctx *r, unsigned int reg)
{
	switch (reg) {
	case R_RXC_STATE:
		return FIELD(r->state, NIC_RXC_STATE_STATE) |
		       FIELD(r->attempt, NIC_RXC_STATE_ATTEMPT);
	case R_RXC_SRC:
		return FIELD(r->node, NIC_RXC_SRC_NODE) |
		       FIELD(r->qpn, NIC_RXC_SRC_QPN);
	case R_RXC_WORD:
		return wire_word(r->ctx, r->gen, r->attempt);
	}
	return 0;
}

static uint64_t read_other(struct c_engine *e, const struct reg_place *p)
{
	if (regs[p->reg].page == PAGE_ENG)
		return read_eng(e, p->reg);
	if (regs[p->reg].page == PAGE_CTX)
		return read_ctx(&e->tx[p->index], p->reg);
	return read_rxc(&e->rx[p->index], p->reg);
}

static inline uint64_t read_variable(const struct c_engine *e, const struct reg_place *p)
{
	uint64_t v;

	/* Little-endian, and something always follows it in struct c_engine. */
	__builtin_memcpy(&v, (const uint8_t *)e + p->at, sizeof(v));
	return v << p->surplus >> p->surplus;
}

static __attribute__((noinline)) int read_composed(struct c_engine *e, const struct reg_place *p,
						   unsigned int size, uint64_t *value)
{
	uint64_t v = read_other(e, p) >> p->shift;

	*value = size == 4 ? (uint32_t)v : v;
	return 0;
}

int c_reg_read(struct engine *engine, uint32_t off, unsigned int size,
	       uint64_t *value)
{
	struct c_engine *e = c_engine(engine);
	const struct reg_place *p = reg_decode(e, off, size);
	uint64_t v;

	if (!p)
		return -EINVAL;
	if (!p->bytes)
		return read_composed(e, p, size, value);
	v = read_variable(e, p) >> p->shift;
	*value = size == 4 ? (uint32_t)v : v;
	return 0;
}

static void write_enable(struct c_engine *e, bool on)
{
	bool start = on && !e->enabled;

	e->enabled = on;
	if (!start)
		return;
	answer_flush(e);
	engine_kick(e, CH_READ);
	engine_kick(e, CH_WRITE);
}

/* The driver has answered a fault. */
static int write_ready(struct c_engine *e, uint32_t value)
{
	unsigned int i = (value & NIC_ENG_READY_INDEX_MASK) >>
			 NIC_ENG_READY_INDEX_SHIFT;
	unsigned int code = (value & NIC_ENG_READY_CODE_MASK) >>
			    NIC_ENG_READY_CODE_SHIFT;
	unsigned int serial = (value & NIC_ENG_READY_SERIAL_MASK) >>
			      NIC_ENG_READY_SERIAL_SHIFT;
	unsigned int side = value & NIC_ENG_READY_SIDE ? SIDE_RX : SIDE_TX;
	struct trace_at at = { .board = e->cfg.board };
	uint64_t seq;

	if (i >= (side == SIDE_TX ? e->cfg.contexts : e->cfg.rx_contexts))
		return -EINVAL;
	if (side == SIDE_RX) {
		at = rx_at(e, &e->rx[i], 0);
	} else {
		at.xfer = e->tx[i].xfer;
		at.block = e->tx[i].block;
		at.attempt = e->tx[i].attempt;
		at.cause = e->tx[i].event;
	}
	if (e->reg_cause)
		at.cause = e->reg_cause;
	seq = engine_emit(e, EV_ENG_READY_REG, &at, i, side, code, 0);
	return side == SIDE_RX ? rx_ready(e, i, code, serial, seq) :
				 tx_ready(e, i, code, serial, seq);
}

static int write_eng(struct c_engine *e, unsigned int reg, uint32_t value)
{
	switch (reg) {
	case R_ENG_CTRL:
		write_enable(e, value & NIC_ENG_CTRL_ENABLE);
		return 0;
	case R_ENG_IRQ_ENABLE:
		e->irq_enable = value & NIC_ENG_IRQ_ENABLE_FAULT;
		fault_line(e);
		return 0;
	case R_ENG_FLT_POP:
		if (!DEV_ERR_POP || !value)
			fault_pop(e);
		return 0;
	case R_ENG_READY:
		if (DEV_ERR_READY)
			value ^= NIC_ENG_READY_SERIAL_MASK;
		return write_ready(e, value);
	}
	return -EINVAL;
}

/* A parameter of a block: the firmware's, but only in FREE. */
static int write_ctx(struct c_engine *e, const struct reg_place *p,
		     uint64_t value)
{
	struct tx_ctx *t = &e->tx[p->index];
	uint8_t *at = (uint8_t *)e + p->at;

	if (p->reg == R_CTX_CTRL)
		return tx_control(e, p->index, (uint32_t)value);
	if (t->state != FL_TX_FREE)
		return -EINVAL;
	if (p->reg == R_CTX_LEN && (!value || value > e->block_bytes))
		return -EINVAL;
	switch (p->bytes) {
	case 8:
		*(uint64_t *)at = value;
		return 0;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		return 0;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		return 0;
	}
	if (p->reg != R_CTX_DST ||
	    FIELD_OF(value, NIC_CTX_DST_NODE) >= e->cfg.nodes)
		return -EINVAL;
	t->node = (uint8_t)FIELD_OF(value, NIC_CTX_DST_NODE);
	t->qpn = FIELD_OF(value, NIC_CTX_DST_QPN);
	return 0;
}

static int write_reg(struct c_engine *e, uint32_t off, unsigned int size,
		     uint64_t value)
{
	const struct reg_place *p = reg_decode(e, off, size);
	uint64_t old;

	if (!p || regs[p->reg].access == ACCESS_RO)
		return -EINVAL;
	if (size == 4 && value >> 32)
		return -EINVAL;
	if (value & ~(e->regs.mask[p->reg] >> p->shift))
		return -EINVAL;
	if (regs[p->reg].page == PAGE_ENG)
		return write_eng(e, p->reg, (uint32_t)value);
	if (regs[p->reg].page == PAGE_RXC)
		return p->reg == R_RXC_VERDICT ?
			rx_verdict(e, p->index, (uint32_t)value) : -EINVAL;
	if (regs[p->reg].width == 64 && size == 4) {
		old = read_variable(e, p);
		value = (old & ~(0xFFFFFFFFull << p->shift)) | value << p->shift;
	}
	return write_ctx(e, p, value);
}

static int reg_refuse(struct c_engine *e, uint32_t off, uint64_t value,
		      int error)
{
	struct trace_at at = { .board = e->cfg.board, .cause = e->reg_cause };

	e->stats.bad_registers++;
	engine_emit(e, EV_ENG_BAD_REG, &at, off, value, 0, 0);
	return error;
}

int c_reg_write(struct engine *engine, uint32_t off, unsigned int size,
		uint64_t value)
{
	struct c_engine *e = c_engine(engine);
	int error;

	e->reg_cause = e->cfg.cause->write;
	error = write_reg(e, off, size, value);
	return error ? reg_refuse(e, off, value, error) : 0;
}
