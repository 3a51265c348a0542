// SPDX-License-Identifier: BSD-2-Clause
/*
 * Transmit contexts, and the read channel that serves them: it takes a READY
 * context, reads the block into its buffer, and lets nothing out before every
 * burst was good.
 */
#include "nic/engine_internal.h"

static_assert(sizeof(((struct engine_stats *)0)->tx_arcs) ==
	      sizeof(uint64_t) * FL_TX_STATES * FL_TX_EVENTS,
	      "one counter per state and event");

static struct trace_at tx_at(const struct c_engine *e, const struct tx_ctx *t,
			     uint64_t cause)
{
	return (struct trace_at){ .board = e->cfg.board, .xfer = t->xfer,
				  .block = t->block, .attempt = t->attempt,
				  .cause = cause ? cause : t->event };
}

static bool tx_can(const struct tx_ctx *t, unsigned int event)
{
	return fl_tx_next[t->state][event] != 0;
}

/* The context has come to its end: nothing may happen for it any more. */
static void tx_done(struct c_engine *e, unsigned int i)
{
	struct tx_ctx *t = &e->tx[i];

	t->early = false;
	if (t->rxc != NONE)
		write_cancel(e, &e->rx[t->rxc]);
	assert(t->rxc == NONE);
	note_post(e, FL_NOTE_TX_DONE, i, (uint8_t)t->gen);
}

/* The only place where a transmit context changes state. */
static void tx_move(struct c_engine *e, unsigned int i, unsigned int event,
		    uint64_t cause)
{
	struct tx_ctx *t = &e->tx[i];
	struct channel *c = &e->ch[CH_READ];
	struct trace_at at = tx_at(e, t, cause);
	uint8_t from = t->state;

	assert(tx_can(t, event));
	t->state = fl_tx_next[from][event] - 1;
	e->stats.tx_arcs[from][event]++;
	t->event = engine_emit(e, EV_TX_STATE, &at, i, from, event,
			      t->state);
	if (from == FL_TX_READY) {
		e->tx_ready &= ~(1u << i);
		if (event == FL_TX_EV_KILL && c->ctx == i) {
			c->dropped = true;
			engine_kick(e, CH_READ);
		}
	}
	switch (t->state) {
	case FL_TX_READY:
		e->tx_ready |= 1u << i;
		engine_kick(e, CH_READ);
		break;
	case FL_TX_FLYING:
		note_post(e, FL_NOTE_TX_FLYING, i, (uint8_t)t->gen);
		break;
	case FL_TX_SRCFAULT:
		note_post(e, FL_NOTE_TX_WAITING, i, (uint8_t)t->gen);
		break;
	case FL_TX_DSTFAULT:
		note_post(e, FL_NOTE_TX_REFUSED, i, (uint8_t)t->gen);
		break;
	case FL_TX_DONE:
		tx_done(e, i);
		break;
	}
}

/* An answer, or the fate of a READ's answer; the arc exists. */
static void tx_apply(struct c_engine *e, unsigned int i, unsigned int event,
		     uint8_t code, uint64_t cause)
{
	struct tx_ctx *t = &e->tx[i];

	/* tag::resend-4[] */
	switch (event) {
	case FL_TX_EV_ACK:
	case FL_TX_EV_LANDED:
		t->status = FL_ST_OK;
		break;
	case FL_TX_EV_NAK:
		t->status = code;
		break;
	case FL_TX_EV_REFUSED:
		t->status = code;	/* not OK: why not now */
		e->stats.blocks_refused++;
		break;
	case FL_TX_EV_PEER_READY:
		t->attempt++;
		break;
	}
	/* end::resend-4[] */
	tx_move(e, i, event, cause);
}

/*
 * The peer may judge a block by its first cell, so that the answer is here
 * before the last cell has left and the context is FLYING. It waits for SENT.
 * READY after REFUSED takes its place; nothing takes the place of an end.
 */
static void tx_early(struct tx_ctx *t, unsigned int event, uint8_t code,
		     uint64_t cause)
{
	/* tag::resend-6[] */
	if (t->early && t->early_event != FL_TX_EV_REFUSED)
		return;
	t->early = true;
	t->early_event = (uint8_t)event;
	t->early_code = code;
	t->early_cause = cause;
	/* end::resend-6[] */
}

void tx_outcome(struct c_engine *e, unsigned int i, unsigned int event,
		uint8_t code, uint64_t cause)
{
	struct tx_ctx *t = &e->tx[i];

	assert(t->opcode == WOP_READ_REQ && t->asked);
	if (t->state == FL_TX_READY)
		tx_early(t, event, code, cause);
	else
		tx_apply(e, i, event, code, cause);
}

bool tx_matches_read(const struct c_engine *e, uint8_t from,
		     const struct wire_block *b)
{
	unsigned int i = b->ref >> 24;
	const struct tx_ctx *t;

	if (i >= e->cfg.contexts)
		return false;
	t = &e->tx[i];
	/* tag::resend-13[] */
	if (t->opcode != WOP_READ_REQ || !t->asked)
		return false;
	/* READY: the timer ran out, and then the answer came after all. */
	if (t->state != FL_TX_FLYING && t->state != FL_TX_READY)
		return false;
	return t->node == from && t->gen == (uint16_t)(b->ref >> 8) &&
	       t->len == b->len;
	/* end::resend-13[] */
}

/* Which event an answer is; FL_TX_EVENTS: none. */
static unsigned int answer_event(const struct tx_ctx *t, uint8_t opcode)
{
	/* A READ ends with data. Only its end comes as an answer. */
	if (t->opcode == WOP_READ_REQ)
		return opcode == WOP_NAK ? FL_TX_EV_NAK : FL_TX_EVENTS;
	switch (opcode) {
	case WOP_ACK:
		return FL_TX_EV_ACK;
	case WOP_REFUSED:
		return FL_TX_EV_REFUSED;
	case WOP_READY:
		return FL_TX_EV_PEER_READY;
	case WOP_NAK:
		return FL_TX_EV_NAK;
	}
	return FL_TX_EVENTS;
}

/* The context that an answer speaks of, if it speaks of what it now does. */
static struct tx_ctx *tx_named(struct c_engine *e, const struct wire_frame *f,
			       const struct wire_answer *a)
{
	struct tx_ctx *t;

	/* tag::resend-3[] */
	if (a->ctx >= e->cfg.contexts)
		return NULL;
	t = &e->tx[a->ctx];
	if (f->from != t->node || a->gen != t->gen ||
	    a->attempt != t->attempt)
		return NULL;
	/* end::resend-3[] */
	return t;
}

/*
 * A READ that must be asked for again. It stays FLYING: the answer to an
 * earlier attempt may still come.
 */
static bool tx_ask_later(const struct tx_ctx *t, const struct wire_answer *a)
{
	return t->opcode == WOP_READ_REQ && a->opcode == WOP_REFUSED && a->code;
}

void tx_answer(struct c_engine *e, const struct wire_frame *f,
	       const struct wire_answer *a)
{
	struct channel *c = &e->ch[CH_READ];
	unsigned int event, i = a->ctx;
	struct tx_ctx *t;

	/* A refusal says why; these two are no reasons. */
	if (a->opcode == WOP_NAK &&
	    (a->code == FL_ST_OK || a->code == FL_ST_WAIT)) {
		rx_bad(e, f, WIRE_HEADER);
		return;
	}
	t = tx_named(e, f, a);
	if (!t)
		goto stale;
	if (a->opcode == WOP_WAIT || tx_ask_later(t, a)) {
		if (t->state != FL_TX_FLYING)
			goto stale;
		if (tx_ask_later(t, a))
			t->status = a->code;
		note_post(e, a->opcode == WOP_WAIT ? FL_NOTE_TX_WAITING :
						     FL_NOTE_TX_REFUSED,
			  i, (uint8_t)t->gen);
		return;
	}
	event = answer_event(t, a->opcode);
	if (event == FL_TX_EVENTS)
		goto stale;
	/* tag::resend-5[] */
	if (t->state == FL_TX_READY && c->ctx == i && !c->dropped && c->sent)
		tx_early(t, event, a->code, f->cause);
	else if (tx_can(t, event))
		tx_apply(e, i, event, a->code, f->cause);
	else
		goto stale;
	/* end::resend-5[] */
	return;
stale:
	rx_stale(e, f, a->ctx, a->gen, a->attempt);
}

/* The firmware's GO: parameters that make no sense are refused here. */
static int tx_go(struct c_engine *e, unsigned int i, unsigned int op)
{
	struct tx_ctx *t = &e->tx[i];
	uint8_t opcode;

	if (t->state != FL_TX_FREE)
		return -EINVAL;
	if (op == FL_OP_WRITE)
		opcode = WOP_WRITE;
	else if (op == FL_OP_READ)
		opcode = WOP_READ_REQ;
	else if (op == FL_OP_READ_RESP)
		opcode = WOP_READ_RESP;
	else
		return -EINVAL;
	if (!t->len || t->lva + (t->len - 1) < t->lva)
		return -EINVAL;
	if (opcode != WOP_READ_RESP && t->rva + (t->len - 1) < t->rva)
		return -EINVAL;
	t->opcode = opcode;
	tx_generations(e, i, t->node, 1);
	t->attempt = 0;
	t->status = 0;
	t->asked = false;
	t->event = e->reg_cause;
	tx_move(e, i, FL_TX_EV_GO, e->reg_cause);
	return 0;
}

int tx_control(struct c_engine *e, unsigned int i, uint32_t value)
{
	const uint32_t act = NIC_CTX_CTRL_GO | NIC_CTX_CTRL_RELEASE |
			     NIC_CTX_CTRL_EXPIRE | NIC_CTX_CTRL_KILL;
	unsigned int code = (value & NIC_CTX_CTRL_CODE_MASK) >>
			    NIC_CTX_CTRL_CODE_SHIFT;
	struct tx_ctx *t = &e->tx[i];

	switch (value & act) {
	case NIC_CTX_CTRL_GO:
		return tx_go(e, i, (value & NIC_CTX_CTRL_OP_MASK) >>
				   NIC_CTX_CTRL_OP_SHIFT);
	case NIC_CTX_CTRL_RELEASE:
		if (!tx_can(t, FL_TX_EV_RELEASE))
			return -EINVAL;
		e->cfg.cause->released = t->event;
		tx_move(e, i, FL_TX_EV_RELEASE, t->event);
		return 0;
	/* tag::resend-7[] */
	/*
	 * The network may have moved the context on in the same moment: then
	 * the timer and the kill come too late and change nothing.
	 */
	case NIC_CTX_CTRL_EXPIRE:
		if (!tx_can(t, FL_TX_EV_EXPIRE))
			return 0;
		t->attempt++;
		tx_move(e, i, FL_TX_EV_EXPIRE, e->reg_cause);
		return 0;
	case NIC_CTX_CTRL_KILL:
		if (!code)
			return -EINVAL;
		if (!tx_can(t, FL_TX_EV_KILL))
			return 0;
		t->status = (uint8_t)code;
		tx_move(e, i, FL_TX_EV_KILL, e->reg_cause);
		return 0;
	/* end::resend-7[] */
	}
	return -EINVAL;		/* none of them, or several */
}

int tx_ready(struct c_engine *e, unsigned int i, unsigned int code,
	     unsigned int serial, uint64_t cause)
{
	struct tx_ctx *t;

	if (i >= e->cfg.contexts)
		return -EINVAL;
	t = &e->tx[i];
	/* tag::resend-2[] */
	if (t->state != FL_TX_SRCFAULT || t->fault_serial != serial)
		return 0;
	if (code)
		t->status = FL_ST_LOCAL_FAULT;
	tx_move(e, i, code ? FL_TX_EV_GIVEN_UP : FL_TX_EV_RESOLVED, cause);
	/* end::resend-2[] */
	return 0;
}

/* Of the READY contexts (there are some) the one whose turn it is. */
static unsigned int next_ready(const struct c_engine *e, const struct channel *c)
{
	/* tag::resend-1[] */
	/* Round robin: the next one after the last that was served. */
	uint32_t later = e->tx_ready & ~((2u << c->last) - 1);

	return lowest_bit(later ? later : e->tx_ready);
	/* end::resend-1[] */
}

static bool tx_pick(struct c_engine *e, struct channel *c)
{
	struct tx_ctx *t;

	if (!e->tx_ready)
		return false;
	c->ctx = c->last = (uint8_t)next_ready(e, c);
	t = &e->tx[c->ctx];
	c->dropped = false;
	c->sent = 0;
	c->sending = t->opcode == WOP_READ_REQ;
	if (!c->sending)
		burst_start(&c->iter, CH_READ, t->stream, t->lva, t->len,
			    e->read_buf);
	return true;
}

static void tx_drop(struct c_engine *e, struct channel *c)
{
	burst_abandon(e, &c->iter);
	engine_let_go(e, &c->filled, c->frame);
	c->ctx = NONE;
	c->dropped = c->sending = c->wants_room = false;
	c->sent = 0;
}

/*
 * A burst that is just one cell need not go through the buffer. Frames that
 * others wait for are not taken.
 */
static void read_direct(struct c_engine *e, struct channel *c)
{
	struct burst_iter *w = &c->iter;
	unsigned int cell = w->offset >> e->cell_log2;
	struct wire_frame *f;

	if (!e->env.frame_spare || e->cfg.cell_bytes < BORROW_BYTES ||
	    e->answer_count || w->offset & (e->cfg.cell_bytes - 1) ||
	    w->b.len > e->cfg.cell_bytes ||
	    (w->b.len != e->cfg.cell_bytes && w->offset + w->b.len != w->len))
		return;
	f = e->env.frame_spare(e->env.wire);
	if (!f)
		return;
	c->frame[cell] = f;
	c->filled |= 1u << cell;
	w->direct = wire_payload(f);
}

/* The block has left. What the peer said meanwhile comes next. */
static void tx_leave(struct c_engine *e, struct channel *c)
{
	unsigned int i = c->ctx;
	struct tx_ctx *t = &e->tx[i];

	tx_drop(e, c);
	e->stats.blocks_sent++;
	if (t->attempt)
		e->stats.blocks_resent++;
	t->asked = true;
	tx_move(e, i, FL_TX_EV_SENT, 0);
	if (!t->early)
		return;
	t->early = false;
	tx_apply(e, i, t->early_event, t->early_code, t->early_cause);
}

static void fill_cell(struct c_engine *e, const struct channel *c,
		      struct wire_frame *f, uint32_t bytes, bool in_place)
{
	const struct tx_ctx *t = &e->tx[c->ctx];
	struct wire_block b = {
		.opcode = t->opcode,
		.dest_qp = t->qpn,
		.psn = c->sent >> e->cell_log2,
		.ctx = c->ctx, .gen = t->gen, .attempt = t->attempt,
		.va = t->rva,
		.rkey = t->opcode == WOP_READ_RESP ? 0 : t->rkey,
		.len = t->len, .offset = c->sent, .left = t->left,
		.ref = t->ref, .src = t->src,
		.xfer = t->xfer, .block = t->block,
		.payload_len = bytes,
	};

	f->from = e->cfg.node;
	f->to = t->node;
	f->cause = t->event;
	if (!in_place)
		memcpy(wire_payload(f), e->read_buf + c->sent, bytes);
	wire_put_block(f, &b, e->cfg.icrc);
}

static uint64_t send_cell(struct c_engine *e, struct channel *c)
{
	struct tx_ctx *t = &e->tx[c->ctx];
	uint32_t bytes = e->cfg.cell_bytes;
	struct trace_at at = tx_at(e, t, 0);
	unsigned int cell = c->sent >> e->cell_log2;
	struct wire_frame *f;
	uint64_t delay_ns;
	bool in_place;

	/* Answers first: somebody's context waits for each of them. */
	answer_flush(e);
	in_place = c->filled && (c->filled >> cell & 1);
	if (e->answer_count)
		f = NULL;
	else
		f = in_place ? c->frame[cell] : e->env.frame_get(e->env.wire);
	if (!f) {
		c->wants_room = true;
		return engine_sleep(e, CH_READ);
	}
	if (t->opcode == WOP_READ_REQ) {
		bytes = 0;
	} else {
		if (!c->sent)
			t->event = engine_emit(e, EV_TX_CELLS, &at,
					      c->ctx, t->len,
					      (t->len + bytes - 1) / bytes, 0);
		if (bytes > t->len - c->sent)
			bytes = t->len - c->sent;
		e->stats.cells_sent++;
		e->stats.payload_sent += bytes;
	}
	if (in_place)
		c->filled &= ~(1u << cell);
	fill_cell(e, c, f, bytes, in_place);
	delay_ns = e->env.frame_send(e->env.wire, f);
	c->sent += bytes;
	if (t->opcode == WOP_READ_REQ || c->sent == t->len)
		tx_leave(e, c);
	return delay_ns;
}

static uint64_t read_burst(struct c_engine *e, struct channel *c,
			   uint64_t now_ns)
{
	unsigned int i = c->ctx;
	struct tx_ctx *t = &e->tx[i];
	struct trace_at at = tx_at(e, t, 0);
	uint64_t delay_ns;

	switch (burst_step(e, &c->iter, now_ns, &at, i, &t->event, &delay_ns)) {
	case BURST_MORE:
		if (c->iter.phase == BURST_OPEN && c->iter.status == DMA_OK)
			read_direct(e, c);
		break;
	case BURST_GOOD:
		c->sending = true;
		break;
	case BURST_REFUSED:
		t->map = c->iter.map;
		t->fault_serial++;
		e->stats.faults_local++;
		tx_drop(e, c);
		tx_move(e, i, FL_TX_EV_FAULT, 0);
		fault_queue_tx(e, i);
		break;
	case BURST_BUS_ERROR:
		tx_drop(e, c);
		t->status = FL_ST_BUS_ERROR;
		tx_move(e, i, FL_TX_EV_BUS_ERROR, 0);
		break;
	}
	return delay_ns;
}

uint64_t tx_step(struct engine *engine, uint64_t now_ns)
{
	struct c_engine *e = c_engine(engine);
	struct channel *c = &e->ch[CH_READ];

	c->awake = true;
	if (c->iter.phase == BURST_HELD)
		return engine_sleep(e, CH_READ);
	if (c->dropped)
		tx_drop(e, c);
	/* An open burst ends even when the engine was turned off. */
	if (!e->enabled && c->iter.phase != BURST_OPEN)
		return engine_sleep(e, CH_READ);
	if (c->ctx == NONE && !tx_pick(e, c))
		return engine_sleep(e, CH_READ);
	c->wants_room = false;
	return c->sending ? send_cell(e, c) : read_burst(e, c, now_ns);
}

/* Generations go on over a reset: peers remember them. */
void tx_init(struct c_engine *e)
{
	struct channel *c = &e->ch[CH_READ];
	unsigned int i;

	tx_drop(e, c);
	c->awake = false;
	c->last = (uint8_t)(e->cfg.contexts - 1);
	e->tx_ready = 0;
	for (i = 0; i < ENGINE_CTX_MAX; i++) {
		struct tx_ctx *t = &e->tx[i];

		*t = (struct tx_ctx){ .gen = t->gen, .rxc = NONE,
				      .fault_serial = t->fault_serial };
	}
}
