// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records of the trace port (rtl/hdl/fl_trace.vh): each becomes the event that the C
 * engine records. A cause is a record's number, which hardware knows nothing of, so
 * what happened last to each context is kept here.
 */
#include "fl_trace.h"
#include "nic/wire.h"
#include "rtl_internal.h"

enum { ANSWER_OF_CONTEXT, ANSWER_OF_PACKET, ANSWER_OF_RECORD };

uint64_t rtl_emit(struct rtl *x, enum trace_event ev, const struct trace_at *at,
		  uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	if (x->env.emit)
		return x->env.emit(x->env.ctx, ev, at, a0, a1, a2, a3);
	return x->emit(x->cfg.trace, ev, at, a0, a1, a2, a3);
}

/* The context that a channel works for. */
struct mirror *rtl_mirror(struct rtl *x, unsigned int channel)
{
	uint8_t ctx = x->bus[channel].ctx;

	if (ctx >= (channel == CH_READ ? x->cfg.contexts : x->cfg.rx_contexts)) {
		rtl_wrong(x, "a burst of a context that does not exist");
		ctx = 0;
	}
	return channel == CH_READ ? &x->tx[ctx] : &x->rx[ctx];
}

struct trace_at rtl_at(const struct rtl *x, const struct mirror *m,
		       uint64_t cause)
{
	return (struct trace_at){ .board = x->cfg.board, .xfer = m->xfer,
				  .block = m->block, .attempt = m->attempt,
				  .cause = cause ? cause : m->event };
}

void rtl_kick(struct rtl *x, unsigned int channel)
{
	struct bus *s = &x->bus[channel];

	if (s->awake || !x->enabled)
		return;
	s->awake = true;
	x->env.kick(x->env.ctx, channel);
}

static uint64_t packet_cause(const struct rtl *x)
{
	return x->packet ? x->packet->cause : 0;
}

static void mirror_learn(struct mirror *m, const struct model_out *r)
{
	m->xfer = (uint32_t)r->trc_xfer;
	m->block = (uint32_t)r->trc_block;
	m->attempt = (uint32_t)r->trc_attempt;
}

/* All pages of the block were tried: what counts is the first refusal. */
static void block_failed(struct bus *s, struct mirror *m, bool fault)
{
	if (fault && s->fault_event)
		m->event = s->fault_event;
	s->fault_event = 0;
}

static void tx_state(struct rtl *x, unsigned int i, const struct model_out *r)
{
	unsigned int event = r->trc_event, from = r->trc_from;
	struct mirror *m = &x->tx[i];
	struct trace_at at;

	if (m->state != from || event >= FL_TX_EVENTS)
		rtl_wrong(x, "a transmit context changes from a state that it "
			  "does not have");
	mirror_learn(m, r);
	if (event == FL_TX_EV_GO)
		m->event = x->reg_cause;
	if (event == FL_TX_EV_FAULT || event == FL_TX_EV_BUS_ERROR)
		block_failed(&x->bus[CH_READ], m, event == FL_TX_EV_FAULT);
	at = rtl_at(x, m, x->own_set ? x->own : x->cause);
	if (event == FL_TX_EV_RELEASE)
		at.cause = x->cfg.cause->released = m->event;
	x->own_set = false;
	m->event = rtl_emit(x, EV_TX_STATE, &at, i, from, event, r->trc_to);
	m->state = (uint8_t)r->trc_to;
	x->stats.tx_arcs[from % FL_TX_STATES][event % FL_TX_EVENTS]++;
	x->stats.blocks_sent += event == FL_TX_EV_SENT;
	x->stats.blocks_resent += event == FL_TX_EV_SENT && m->attempt;
	x->stats.blocks_refused += event == FL_TX_EV_REFUSED;
	x->stats.faults_local += event == FL_TX_EV_FAULT;
	if (m->state == FL_TX_READY)
		rtl_kick(x, CH_READ);
	x->after_done = m->state == FL_TX_DONE;
}

static void rx_state(struct rtl *x, unsigned int i, const struct model_out *r)
{
	unsigned int event = r->trc_event, from = r->trc_from;
	struct mirror *m = &x->rx[i];
	struct trace_at at;
	uint64_t cause = x->cause;

	if (m->state != from || event >= FL_RX_EVENTS)
		rtl_wrong(x, "a receive context changes from a state that it "
			  "does not have");
	mirror_learn(m, r);
	/* The READ that asked for it is over, which is the cause of nothing. */
	if (x->after_done && event == FL_RX_EV_RESTART)
		cause = 0;
	if (from == FL_RX_WRITE)
		block_failed(&x->bus[CH_WRITE], m, event == FL_RX_EV_FAULT);
	at = rtl_at(x, m, cause);
	m->event = rtl_emit(x, EV_RX_STATE, &at, i, from, event, r->trc_to);
	m->state = (uint8_t)r->trc_to;
	x->stats.rx_arcs[from % FL_RX_STATES][event % FL_RX_EVENTS]++;
	x->stats.blocks_landed += event == FL_RX_EV_LANDED;
	x->stats.faults_remote += event == FL_RX_EV_FAULT;
	if (m->state == FL_RX_WRITE)
		rtl_kick(x, CH_WRITE);
}

/* Write no more of it: an open burst ends now. */
static void rtl_write_stop(struct rtl *x, unsigned int i)
{
	struct bus *s = &x->bus[CH_WRITE];

	if (s->phase == NO_BURST || s->ctx != i || s->stopped)
		return;
	if (s->phase == OPEN) {
		if (s->status == DMA_OK)
			x->env.burst_end(x->env.ctx, &s->b, rtl_bytes(s));
		s->phase = NO_BURST;
	} else {
		s->stopped = true;
	}
	rtl_feed(x, CH_WRITE, s->phase == NO_BURST ? DMA_OK : DMA_SLVERR);
}

static void trace_answer(struct rtl *x, const struct model_out *r)
{
	unsigned int node = r->trc_node % ENGINE_RTL_NODES;
	unsigned int ctx = r->trc_index % ENGINE_CTX_MAX;
	uint64_t cause;

	if (r->trc_event == ANSWER_OF_CONTEXT)
		cause = x->rx[r->trc_b % ENGINE_RXC_MAX].event;
	else if (r->trc_event == ANSWER_OF_PACKET)
		cause = packet_cause(x);
	else
		cause = x->about;
	if (r->trc_code == FL_TRC_ANS_WAIT) {
		x->answers += !x->answer[node][ctx].waiting;
		x->answer[node][ctx].waiting = true;
		x->answer[node][ctx].cause = cause;
		return;
	}
	if (r->trc_from) {
		if (!x->answer[node][ctx].waiting)
			rtl_wrong(x, "an answer leaves that did not wait");
		x->answers -= x->answer[node][ctx].waiting;
		x->answer[node][ctx].waiting = false;
		cause = x->answer[node][ctx].cause;
	}
	x->frame_cause = cause;
}

/* What came and was dropped, or answered at once. */
static void trace_packet(struct rtl *x, const struct model_out *r)
{
	struct trace_at at = { .board = x->cfg.board,
			       .cause = packet_cause(x) };
	uint64_t node = r->trc_node, ctx = r->trc_index;

	switch (r->trc_code) {
	case FL_TRC_RX_STALE:
		x->stats.stale++;
		x->got_bad = true;
		rtl_emit(x, EV_RX_STALE, &at, node, ctx, r->trc_gen,
			 r->trc_attempt);
		return;
	case FL_TRC_RX_BAD_PACKET:
		x->stats.bad_packets++;
		x->got_bad = true;
		if (x->packet && (uint16_t)x->packet->len != (uint16_t)r->trc_b)
			rtl_wrong(x, "a packet of another length");
		rtl_emit(x, EV_RX_BAD_PACKET, &at, r->trc_a,
			 x->packet ? x->packet->len : 0, 0, 0);
		return;
	}
	at.xfer = (uint32_t)r->trc_xfer;
	at.block = (uint32_t)r->trc_block;
	at.attempt = (uint32_t)r->trc_attempt;
	if (r->trc_code == FL_TRC_RX_NO_CONTEXT) {
		x->stats.no_context++;
		x->about = rtl_emit(x, EV_RX_NO_CONTEXT, &at, node, ctx, 0, 0);
		return;
	}
	x->stats.duplicates++;
	x->about = rtl_emit(x, EV_RX_DUPLICATE, &at, node, ctx, r->trc_gen,
				0);
}

/* The driver: faults, and what it answers. */
static void trace_driver(struct rtl *x, const struct model_out *r)
{
	unsigned int i = r->trc_index % (r->trc_from ? ENGINE_RXC_MAX :
						       ENGINE_CTX_MAX);
	struct mirror *m = r->trc_from ? &x->rx[i] : &x->tx[i];
	struct trace_at at = { .board = x->cfg.board, .cause = m->event,
			       .xfer = (uint32_t)r->trc_xfer,
			       .block = (uint32_t)r->trc_block,
			       .attempt = (uint32_t)r->trc_attempt };

	if (r->trc_code == FL_TRC_ENG_FAULT) {
		m->event = rtl_emit(x, EV_ENG_FAULT, &at, i, r->trc_from,
				    r->trc_a, r->trc_b);
		return;
	}
	if (x->reg_cause)
		at.cause = x->reg_cause;
	x->cause = rtl_emit(x, EV_ENG_READY_REG, &at, i, r->trc_from, r->trc_a,
			    0);
}

static void tx_other(struct rtl *x, unsigned int i, const struct model_out *r)
{
	struct mirror *m = &x->tx[i];
	struct trace_at at;

	switch (r->trc_code) {
	case FL_TRC_TX_CELLS:
		mirror_learn(m, r);
		at = rtl_at(x, m, 0);
		m->event = rtl_emit(x, EV_TX_CELLS, &at, i, r->trc_a, r->trc_b,
				    0);
		break;
	case FL_TRC_TX_EARLY:
		m->early_cause = x->own_set ? x->own : x->cause;
		x->own_set = false;
		break;
	case FL_TRC_TX_LEAVE_EARLY:
		x->own = m->early_cause;
		x->own_set = true;
		break;
	case FL_TRC_RD_DROP:
		x->dropped = true;
		rtl_kick(x, CH_READ);
		break;
	}
}

static void rx_other(struct rtl *x, unsigned int i, const struct model_out *r)
{
	struct mirror *m = &x->rx[i];
	struct wire_block b;

	switch (r->trc_code) {
	case FL_TRC_FILL:
		m->event = 0;
		if (!x->packet || wire_get_block(x->packet, false, &b) != WIRE_OK)
			return;
		m->node = x->packet->from;
		m->ctx = b.ctx;
		m->gen = b.gen;
		break;
	case FL_TRC_STORE:
		if (packet_cause(x))
			m->event = packet_cause(x);
		break;
	case FL_TRC_OWN_EVENT:
		x->own = m->event;
		x->own_set = true;
		break;
	case FL_TRC_WR_STOP:
		rtl_write_stop(x, i);
		break;
	}
}

void rtl_record(struct rtl *x, const struct model_out *r)
{
	unsigned int tx = r->trc_index % ENGINE_CTX_MAX;
	unsigned int rx = r->trc_index % ENGINE_RXC_MAX;

	switch (r->trc_code) {
	case FL_TRC_TX_STATE:
		tx_state(x, tx, r);
		return;
	case FL_TRC_RX_STATE:
		rx_state(x, rx, r);
		break;
	case FL_TRC_ENG_FAULT:
	case FL_TRC_READY_REG:
		trace_driver(x, r);
		break;
	case FL_TRC_BAD_REG:
		x->bad_reg = true;
		break;
	case FL_TRC_RX_STALE:
	case FL_TRC_RX_DUPLICATE:
	case FL_TRC_RX_NO_CONTEXT:
	case FL_TRC_RX_BAD_PACKET:
		trace_packet(x, r);
		break;
	case FL_TRC_CELL:
		x->got_cell = true;
		x->stats.cells_received++;
		x->stats.payload_received += r->trc_a;
		break;
	case FL_TRC_ANS_SEND:
	case FL_TRC_ANS_WAIT:
		trace_answer(x, r);
		break;
	case FL_TRC_TX_CELLS:
	case FL_TRC_TX_EARLY:
	case FL_TRC_TX_LEAVE_EARLY:
	case FL_TRC_RD_DROP:
		tx_other(x, tx, r);
		return;
	default:
		rx_other(x, rx, r);
		/* A READ's end: WR_STOP may come between. */
		return;
	}
	x->after_done = false;
}
