// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subject of the lab: a block engine on a bench, at the judge's service. The
 * lab "engine" has the same one with the engine in Verilog in it.
 */
#include <stdlib.h>
#include <string.h>

#include "faultline/regs.h"
#include "labs/resend/resend_lab.h"
#include "nic/engine.h"
#include "nic/wire.h"
#include "trace/trace.h"

#ifndef LAB_ENGINE
#define LAB_ENGINE(cfg, env, error)	engine_create(cfg, env, error)
#endif

static struct {
	struct engine *e;
	struct trace *trace;
	uint64_t now_ns;
	uint8_t mem[LAB_PAGES * ENGINE_PAGE];
	bool missing[LAB_PAGES];
	unsigned int first, frames;
	uint64_t room;
} lab;

static struct wire_frame lab_frame[LAB_FRAMES];

static enum dma_status lab_begin(void *ctx, struct dma_burst *b)
{
	uint64_t at = b->va - LAB_BASE;

	(void)ctx;
	b->delay_ns = 10;
	if (b->stream != LAB_STREAM || at >= sizeof(lab.mem))
		return DMA_DECERR;
	if (lab.missing[at / ENGINE_PAGE])
		return DMA_SLVERR;
	b->pa = at;
	return DMA_OK;
}

static enum dma_status lab_end(void *ctx, struct dma_burst *b, void *buf)
{
	(void)ctx;
	if (b->write)
		memcpy(lab.mem + b->pa, buf, b->len);
	else
		memcpy(buf, lab.mem + b->pa, b->len);
	return DMA_OK;
}

static struct wire_frame *lab_frame_get(void *ctx)
{
	(void)ctx;
	if (!lab.room)
		return NULL;
	if (lab.frames == LAB_FRAMES)
		subject_runaway();
	return &lab_frame[(lab.first + lab.frames) % LAB_FRAMES];
}

static uint64_t lab_frame_send(void *ctx, struct wire_frame *f)
{
	(void)ctx, (void)f;
	lab.frames++;
	lab.room--;
	return 100;
}

static void lab_irq(void *ctx, unsigned int line, bool level)
{
	(void)ctx, (void)line, (void)level;
}

static void lab_kick(void *ctx, unsigned int channel)
{
	(void)ctx, (void)channel;
}

static void lab_new(const uint64_t *q)
{
	struct trace_config tc = { .ring_records = 2048 };
	struct engine_config cfg = {
		.node = LAB_NODE, .contexts = (uint8_t)q[0],
		.rx_contexts = (uint8_t)q[1], .block_log2 = LAB_BLOCK_LOG2,
		.cell_bytes = LAB_CELL_BYTES, .icrc = true,
	};
	struct engine_env env = {
		.burst_begin = lab_begin, .burst_end = lab_end,
		.frame_get = lab_frame_get, .frame_send = lab_frame_send,
		.irq = lab_irq, .kick = lab_kick,
	};
	unsigned int i;
	int error;

	/* The first one finds all of it zero, and need not touch it. */
	if (lab.e) {
		engine_destroy(lab.e);
		trace_destroy(lab.trace);
		memset(&lab, 0, sizeof(lab));
	}
	lab.room = UINT64_MAX;
	for (i = 0; i < sizeof(lab.mem); i++)
		lab.mem[i] = lab_byte(0, i);
	cfg.trace = lab.trace = trace_create(&tc);
	lab.e = LAB_ENGINE(&cfg, &env, &error);
	if (!lab.trace || !lab.e)
		abort();
	engine_reg_write(lab.e, NIC_ENG_CTRL, 4, NIC_ENG_CTRL_ENABLE);
}

static void lab_step(uint64_t *q)
{
	uint64_t n = 0, ns;

	while (!q[1] || n < q[1]) {
		ns = engine_step(lab.e, q[0] & 1, lab.now_ns);
		if (ns == ENGINE_IDLE)
			break;
		lab.now_ns += ns;
		if (++n > LAB_RUNAWAY)
			subject_runaway();
	}
	q[0] = n;
}

static void lab_answer(const uint64_t *q)
{
	struct wire_frame f = { .from = (uint8_t)q[0], .to = LAB_NODE };
	struct wire_answer a = {
		.opcode = (uint8_t)q[1], .ctx = (uint8_t)q[2],
		.gen = (uint16_t)q[3], .attempt = (uint8_t)q[4],
		.code = (uint8_t)q[5],
	};

	wire_put_answer(&f, &a, true);
	engine_receive(lab.e, &f, lab.now_ns);
}

static void lab_cell(const uint64_t *q)
{
	struct wire_frame f = { .from = (uint8_t)q[0], .to = LAB_NODE };
	struct wire_block b = {
		.opcode = (uint8_t)q[1], .dest_qp = 8, .ctx = (uint8_t)q[2],
		.gen = (uint16_t)q[3], .attempt = (uint8_t)q[4], .va = q[5],
		.len = (uint32_t)q[6], .rkey = (uint32_t)q[7],
		.ref = (uint32_t)q[8], .offset = (uint32_t)q[9],
		.xfer = 3, .block = 2,
	};
	uint32_t i;

	b.psn = b.offset / LAB_CELL_BYTES;
	if (b.opcode != WOP_READ_REQ)
		b.payload_len = b.len - b.offset < LAB_CELL_BYTES ?
				b.len - b.offset : LAB_CELL_BYTES;
	for (i = 0; i < b.payload_len; i++)
		wire_payload(&f)[i] = lab_byte(q[10], b.offset + i);
	wire_put_block(&f, &b, true);
	engine_receive(lab.e, &f, lab.now_ns);
}

static void lab_take(uint64_t *a)
{
	const struct wire_frame *f = &lab_frame[lab.first];
	struct wire_answer answer;
	struct wire_block b;
	uint32_t i;

	memset(a, 0, sizeof(uint64_t) * LAB_AT_CHECK);
	if (!lab.frames)
		return;
	lab.frames--;
	lab.first = (lab.first + 1) % LAB_FRAMES;
	a[0] = 1;
	a[1] = wire_opcode(f);
	a[2] = f->to;
	if (wire_is_block(wire_opcode(f))) {
		if (wire_get_block(f, true, &b) != WIRE_OK)
			return;
		a[3] = b.ctx, a[4] = b.gen, a[5] = b.attempt;
		a[6] = b.offset;
		for (i = 0; i < b.payload_len; i++)
			a[7] = lab_add(a[7], b.payload[i]);
	} else if (wire_get_answer(f, true, &answer) == WIRE_OK) {
		a[3] = answer.ctx, a[4] = answer.gen, a[5] = answer.attempt;
		a[6] = answer.code;
		a[7] = answer.map;
	}
}

static void lab_sum(uint64_t *q)
{
	uint64_t at = q[0] - LAB_BASE, sum = 0, i;

	for (i = at; i < at + q[1] && i < sizeof(lab.mem); i++)
		sum = lab_add(sum, lab.mem[i]);
	q[0] = sum;
}

static void lab_stats(uint64_t *a)
{
	struct engine_stats st;

	engine_stats(lab.e, &st);
	a[0] = st.stale;
	a[1] = st.duplicates;
	a[2] = st.bad_packets;
	a[3] = st.no_context;
	a[4] = st.blocks_resent;
	a[5] = st.blocks_refused;
}

struct trace *subject_trace(void)
{
	return lab.trace;
}

static void subject_act(struct subject_msg *m)
{
	uint64_t *q = m->arg;

	switch (m->op) {
	case LAB_NEW:
		lab_new(q);
		break;
	case LAB_REG_WRITE:
		q[0] = engine_reg_write(lab.e, (uint32_t)q[0],
					(unsigned int)q[1], q[2]) != 0;
		break;
	case LAB_REG_READ:
		engine_reg_read(lab.e, (uint32_t)q[0], (unsigned int)q[1],
				&q[0]);
		break;
	case LAB_STEP:
		lab_step(q);
		break;
	case LAB_PAGE:
		lab.missing[q[0] % LAB_PAGES] = q[1];
		break;
	case LAB_ROOM:
		lab.room = q[0];
		engine_wire_room(lab.e);
		break;
	case LAB_ANSWER:
		lab_answer(q);
		break;
	case LAB_CELL:
		lab_cell(q);
		break;
	case LAB_TAKE:
		lab_take(q);
		break;
	case LAB_SUM:
		lab_sum(q);
		break;
	case LAB_STATS:
		lab_stats(q);
		break;
	case LAB_RESET:
		engine_reset(lab.e);
		engine_reg_write(lab.e, NIC_ENG_CTRL, 4, NIC_ENG_CTRL_ENABLE);
		break;
	default:
		m->status = SUBJECT_BAD;
	}
}

void subject_answer(struct subject_msg *m)
{
	const size_t room = sizeof(uint64_t) * (SUBJECT_ARGS - LAB_AT_CHECK);
	const char *wrong;

	if (!lab.e && m->op != LAB_NEW) {
		m->status = SUBJECT_BAD;
		return;
	}
	subject_act(m);
	wrong = engine_check(lab.e);
	memset(&m->arg[LAB_AT_CHECK], 0, room);
	if (wrong)
		strncpy((char *)&m->arg[LAB_AT_CHECK], wrong, room - 1);
}
