// SPDX-License-Identifier: BSD-2-Clause
/*
 * One clock cycle: handshakes at all ports. What comes out of the model in a cycle
 * (records, packets, lines) is carried out in that order; a packet takes several
 * cycles, and what comes after it waits for it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fl_trace.h"
#include "nic/wire.h"
#include "rtl_internal.h"

#define CYCLES_MOST	1000000	/* of one call; more: it hangs */

void rtl_wrong(struct rtl *x, const char *what)
{
	if (x->wrong)
		return;
	x->wrong = what;
	fprintf(stderr, "rtl, node %u, cycle %llu: %s\n", x->cfg.node,
		(unsigned long long)x->cycles, what);
}

/* ---- what comes out, in order ---- */

static struct action *pins_action(struct rtl *x)
{
	if (x->actions == ACTIONS) {
		rtl_wrong(x, "too much at once");
		x->actions = x->done;
	}
	return &x->action[x->actions++];
}

static void frame_out(struct rtl *x, bool cell)
{
	struct wire_frame *f = x->frame;
	struct wire_answer a = { 0 };
	struct wire_block b = { 0 };
	uint64_t ns;

	f->len = x->frame_len;
	f->from = x->cfg.node;
	f->offset = 0;
	if (wire_is_block(wire_opcode(f)) != cell ||
	    (cell ? wire_get_block(f, false, &b) :
		    wire_get_answer(f, false, &a)) != WIRE_OK)
		rtl_wrong(x, "a packet that is none leaves");
	if (cell) {
		f->cause = b.ctx < x->cfg.contexts ? x->tx[b.ctx].event : 0;
		f->xfer = b.xfer;
		f->block = b.block;
		f->attempt = b.attempt;
		f->offset = b.offset;
		x->stats.cells_sent += b.opcode != WOP_READ_REQ;
		x->stats.payload_sent += b.payload_len;
	} else {
		f->cause = x->frame_cause;
		f->xfer = a.xfer;
		f->block = a.block;
		f->attempt = a.attempt;
		x->stats.ready_sent += a.opcode == WOP_READY;
		x->stats.nak_sent += a.opcode == WOP_NAK;
		x->stats.wait_sent += a.opcode == WOP_WAIT;
	}
	x->frame = NULL;
	x->announced = x->complete = false;
	ns = x->env.frame_send(x->env.wire, f);
	if (cell) {
		x->sent_cell = true;
		x->delay_ns = ns;
	}
}

static void pins_drain(struct rtl *x)
{
	while (x->done < x->actions) {
		struct action *a = &x->action[x->done];

		if (a->kind == ACT_FRAME && !x->complete)
			return;
		x->done++;
		if (a->kind == ACT_FRAME)
			frame_out(x, a->cell);
		else if (a->kind == ACT_IRQ)
			x->env.irq(x->env.ctx, a->line, a->level);
		else
			rtl_record(x, &a->out);
	}
	x->done = x->actions = 0;
}

static void watch_line(struct rtl *x, unsigned int line, bool level)
{
	struct action *a;

	if (x->line[line] == level)
		return;
	x->line[line] = level;
	a = pins_action(x);
	a->kind = ACT_IRQ;
	a->line = line;
	a->level = level;
}

static void watch_frame(struct rtl *x, bool cell)
{
	struct action *a;

	if (x->announced)
		return;
	if (!x->frame) {
		rtl_wrong(x, "a packet leaves that had no room");
		return;
	}
	x->announced = true;
	a = pins_action(x);
	a->kind = ACT_FRAME;
	a->cell = cell;
}

static void pins_watch(struct rtl *x)
{
	struct action *a;

	if (x->out.trc_valid && x->out.trc_code != FL_TRC_SERVED) {
		x->acted = true;
		a = pins_action(x);
		a->kind = ACT_RECORD;
		a->out = x->out;
		if (x->out.trc_code == FL_TRC_ANS_SEND)
			watch_frame(x, false);
	}
	watch_line(x, ENGINE_LINE_FAULT, x->out.o_irq_fault);
	watch_line(x, ENGINE_LINE_EVENT, x->out.o_irq_event);
}

/* ---- memory ---- */

void rtl_begin(struct rtl *x, unsigned int channel)
{
	struct mirror *m = rtl_mirror(x, channel);
	struct bus *s = &x->bus[channel];
	struct dma_burst *b = &s->b;

	b->channel = (uint8_t)channel;
	b->write = channel == CH_WRITE;
	b->now_ns = x->now_ns;
	b->cause = m->event;
	b->xfer = m->xfer;
	b->block = m->block;
	b->attempt = m->attempt;
	b->pa = b->delay_ns = b->event = 0;
	s->status = x->env.burst_begin(x->env.ctx, b);
	s->phase = s->status == DMA_STALLED ? HELD : OPEN;
	x->began = true;
}

void rtl_feed(struct rtl *x, unsigned int channel, enum dma_status status)
{
	struct bus *s = &x->bus[channel];

	s->feed = true;
	if (channel == CH_READ)
		s->beat = 0;
	s->resp = status == DMA_OK ? 0 : status == DMA_DECERR ? 3 : 2;
}

static void check_burst(struct rtl *x, const struct bus *s, uint64_t addr,
			uint64_t arlen)
{
	uint64_t va = s->b.va, end = va + s->b.len;

	if (!s->b.len || va / ENGINE_PAGE != (end - 1) / ENGINE_PAGE ||
	    addr != (va & ~(uint64_t)(BEAT - 1)) ||
	    arlen + 1 != (va % BEAT + s->b.len + BEAT - 1) / BEAT)
		rtl_wrong(x, "a burst that is none");
}

static void memory_read(struct rtl *x)
{
	struct bus *s = &x->bus[CH_READ];

	if (x->in.m_axi_rvalid && x->out.m_axi_rready && ++s->beat == s->beats)
		s->feed = false;
	if (!x->out.m_axi_arvalid || !x->in.m_axi_arready)
		return;
	pins_drain(x);
	s->ctx = (uint8_t)x->out.m_axi_aruser;
	s->b.stream = (uint16_t)x->out.m_axi_arid;
	s->b.va = x->out.o_rd_va;
	s->b.len = (uint32_t)x->out.o_rd_len;
	s->beats = (unsigned int)x->out.m_axi_arlen + 1;
	check_burst(x, s, x->out.m_axi_araddr, x->out.m_axi_arlen);
	rtl_begin(x, CH_READ);
}

/* Strobes of a beat: every byte of the burst, and no other. */
static uint64_t pins_strobes(const struct bus *s)
{
	unsigned int first = s->beat ? 0 : s->b.va % BEAT;
	uint64_t end = s->b.va % BEAT + s->b.len - s->beat * BEAT;

	return (end < BEAT ? (1u << end) - 1 : 0xFFFF) & ~((1u << first) - 1);
}

static void memory_write(struct rtl *x)
{
	struct bus *s = &x->bus[CH_WRITE];

	if (x->in.m_axi_bvalid && x->out.m_axi_bready)
		s->feed = false;
	if (x->out.m_axi_awvalid && x->in.m_axi_awready) {
		pins_drain(x);
		s->ctx = (uint8_t)x->out.m_axi_awuser;
		s->b.stream = (uint16_t)x->out.m_axi_awid;
		s->b.va = x->out.o_wr_va;
		s->b.len = (uint32_t)x->out.o_wr_len;
		s->beats = (unsigned int)x->out.m_axi_awlen + 1;
		s->beat = 0;
		check_burst(x, s, x->out.m_axi_awaddr, x->out.m_axi_awlen);
		rtl_begin(x, CH_WRITE);
	}
	if (!x->out.m_axi_wvalid || !x->in.m_axi_wready)
		return;
	if (s->phase == NO_BURST || s->beat >= s->beats ||
	    x->out.m_axi_wstrb != pins_strobes(s) ||
	    x->out.m_axi_wlast != (s->beat + 1 == s->beats)) {
		rtl_wrong(x, "write data that belongs to no burst");
		return;
	}
	memcpy(s->data + s->beat++ * BEAT, x->out.m_axi_wdata, BEAT);
}

/* ---- registers, packets ---- */

static void pins_registers(struct rtl *x)
{
	if (x->in.s_axil_awvalid && x->out.s_axil_awready)
		x->reg_aw = false;
	if (x->in.s_axil_wvalid && x->out.s_axil_wready)
		x->reg_w = false;
	if (x->in.s_axil_arvalid && x->out.s_axil_arready)
		x->reg_ar = false;
	if (x->out.s_axil_bvalid) {
		x->reg_wait = false;
		x->reg_error = x->out.s_axil_bresp != 0;
	}
	if (x->out.s_axil_rvalid) {
		x->reg_wait = false;
		x->reg_error = x->out.s_axil_rresp != 0;
		x->reg_value = (uint32_t)x->out.s_axil_rdata;
	}
}

static void pins_packets(struct rtl *x)
{
	unsigned int i;

	if (x->in.s_axis_tvalid && x->out.s_axis_tready) {
		x->in_at += BEAT;
		x->in_open = x->in_at < x->in_len;
	}
	if (!x->out.m_axis_tvalid)
		return;
	watch_frame(x, true);
	if (!x->frame)
		return;
	for (i = 0; i < BEAT && x->out.m_axis_tkeep >> i & 1; i++)
		if (x->frame_len < WIRE_FRAME_MAX)
			x->frame->bytes[x->frame_len++] = (uint8_t)
				(x->out.m_axis_tdata[i / 4] >> i % 4 * 8);
	if (!x->out.m_axis_tlast)
		return;
	x->frame->to = (uint8_t)x->out.m_axis_tdest;
	x->complete = true;
}

static bool pins_busy(const struct rtl *x)
{
	return x->reg_wait || x->in_open || x->frame || x->bus[0].feed ||
	       x->bus[1].feed || (x->bus[1].phase != NO_BURST &&
				  x->bus[1].beat < x->bus[1].beats);
}

static void pins_drive(struct rtl *x)
{
	struct bus *r = &x->bus[CH_READ], *w = &x->bus[CH_WRITE];
	struct model_in *in = &x->in;
	uint32_t n;

	in->i_rd_stalled = r->phase == HELD;
	in->i_wr_stalled = w->phase == HELD;
	in->s_axil_awvalid = x->reg_aw;
	in->s_axil_wvalid = x->reg_w;
	in->s_axil_arvalid = x->reg_ar;
	in->m_axi_rvalid = r->feed;
	if (r->feed) {
		memcpy(in->m_axi_rdata, r->data + r->beat * BEAT, BEAT);
		in->m_axi_rresp = r->resp;
		in->m_axi_rlast = r->beat + 1 == r->beats;
	}
	in->m_axi_bvalid = w->feed;
	in->m_axi_bresp = w->resp;
	in->s_axis_tvalid = x->in_open;
	if (!x->in_open)
		return;
	n = x->in_len - x->in_at;
	memset(in->s_axis_tdata, 0, BEAT);
	if (x->in_at < WIRE_FRAME_MAX)
		memcpy(in->s_axis_tdata, x->packet->bytes + x->in_at,
		       n < BEAT ? n : x->in_at + BEAT <= WIRE_FRAME_MAX ? BEAT :
				  WIRE_FRAME_MAX - x->in_at);
	in->s_axis_tkeep = n < BEAT ? (1u << n) - 1 : 0xFFFF;
	in->s_axis_tlast = n <= BEAT;
	in->s_axis_tid = x->packet->from;
	in->s_axis_tdest = x->packet->to;
}

/* The model is about to begin a packet: does the wire take it? */
static void pins_ask_wire(struct rtl *x)
{
	pins_drain(x);
	if (x->frame) {
		rtl_wrong(x, "a packet begins before the last one has left");
		return;
	}
	x->frame = x->env.frame_get(x->env.wire);
	x->frame_len = 0;
	x->denied |= !x->frame;
	if (x->frame)
		x->frame->icrc_later = false;	/* the model makes it */
	x->in.i_room = x->frame != NULL;
	model_settle(x->model, &x->in, &x->out);
}

void rtl_clock(struct rtl *x)
{
	unsigned int at = x->cycles++ % RING;

	pins_drive(x);
	x->in.i_room = 0;
	model_settle(x->model, &x->in, &x->out);
	if (x->out.o_want)
		pins_ask_wire(x);
	x->ring[at].in = x->in;
	x->ring[at].out = x->out;
	pins_watch(x);
	memory_read(x);
	memory_write(x);
	pins_registers(x);
	pins_packets(x);
	pins_drain(x);
	if (x->out.o_took_rd || x->out.o_took_wr) {
		x->took = true;
		x->in.i_go_rd = x->in.i_go_wr = 0;
	}
	x->in.i_room_again = 0;
	model_edge(x->model);
}

void rtl_run(struct rtl *x)
{
	unsigned int quiet = 0, n = 0;

	while (quiet < 2 && n++ < CYCLES_MOST && !x->wrong) {
		rtl_clock(x);
		quiet = x->out.o_quiet && !pins_busy(x) ? quiet + 1 : 0;
	}
	if (n > CYCLES_MOST)
		rtl_wrong(x, "does not come to rest");
}
