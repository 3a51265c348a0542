// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receive contexts: what comes in is sorted by the peer table, which holds the
 * newest generation and attempt of each context of each peer. So a packet finds
 * its receive context without a search, and one that is too late finds none.
 */
#include "nic/engine_internal.h"

static_assert(sizeof(((struct engine_stats *)0)->rx_arcs) ==
	      sizeof(uint64_t) * FL_RX_STATES * FL_RX_EVENTS,
	      "one counter per state and event");

static void no_context(struct c_engine *e, const struct wire_frame *f,
		       const struct wire_block *b)
{
	struct trace_at at = rx_packet_at(e, f);

	at.xfer = b->xfer;
	at.block = b->block;
	at.attempt = b->attempt;
	e->stats.no_context++;
	at.cause = engine_emit(e, EV_RX_NO_CONTEXT, &at, f->from, b->ctx, 0, 0);
	answer_block(e, f->from, b, WOP_REFUSED, FL_ST_BUSY, at.cause);
}

static struct peer *rx_peer(struct c_engine *e, const struct rx_ctx *r)
{
	return &e->peer[r->node][r->ctx];
}

/* Is the cell worth a reference instead of a copy? */
static bool rx_keep(struct c_engine *e, struct rx_ctx *r, unsigned int cell,
		    const struct wire_frame *f)
{
	if (e->cfg.cell_bytes < BORROW_BYTES || !e->env.frame_borrow ||
	    !e->env.frame_borrow(e->env.wire, f))
		return false;
	r->frame[cell] = (struct wire_frame *)(uintptr_t)f;
	r->borrowed |= 1u << cell;
	return true;
}

static void rx_let_go(struct c_engine *e, struct rx_ctx *r)
{
	engine_let_go(e, &r->borrowed, r->frame);
}

/* Nothing refers to the context any more. */
static void rx_free(struct c_engine *e, struct rx_ctx *r)
{
	struct peer *p = rx_peer(e, r);

	if (r->linked) {
		assert(p->rxc == rx_index(e, r));
		p->rxc = NONE;
	}
	if (r->requester != NONE) {
		assert(e->tx[r->requester].rxc == rx_index(e, r));
		e->tx[r->requester].rxc = NONE;
	}
	r->linked = r->cancelled = false;
	r->requester = NONE;
	e->rx_free |= 1u << rx_index(e, r);
}

/* The only place where a receive context changes state. */
void rx_move(struct c_engine *e, struct rx_ctx *r, unsigned int event,
	     uint64_t cause)
{
	struct trace_at at = rx_at(e, r, cause);
	unsigned int i = rx_index(e, r);
	uint8_t from = r->state;

	assert(fl_rx_next[from][event]);
	r->state = fl_rx_next[from][event] - 1;
	e->stats.rx_arcs[from][event]++;
	r->event = engine_emit(e, EV_RX_STATE, &at, i, from, event,
			      r->state);
	switch (r->state) {
	case FL_RX_FREE:
		rx_let_go(e, r);
		rx_free(e, r);
		break;
	case FL_RX_FAULT:
		rx_let_go(e, r);	/* all of it will be sent again */
		break;
	case FL_RX_CHECK:
		note_post(e, FL_NOTE_RX_OPEN, i, r->serial);
		break;
	case FL_RX_WRITE:
		write_queue(e, r);
		break;
	}
}

/*
 * The attempt ends here with an answer (wop 0: with none). What is left of it
 * on the wire is ignored from now on.
 */
void rx_end(struct c_engine *e, struct rx_ctx *r, unsigned int event,
	    uint8_t wop, uint8_t code, uint64_t cause)
{
	if (r->linked) {
		rx_peer(e, r)->over = true;
		rx_peer(e, r)->done = wop == WOP_ACK;
	}
	rx_move(e, r, event, cause);
	if (wop)
		answer_post(e, r, wop, code, r->event);
}

/* Of the cells of one attempt, each must tell the same story. */
static bool same_block(const struct rx_ctx *r, const struct wire_block *b)
{
	if (r->opcode != b->opcode || r->qpn != b->dest_qp ||
	    r->len != b->len || r->rkey != b->rkey || r->ref != b->ref ||
	    r->src != b->src)
		return false;
	/* Where a READ's answer goes, its requester knows; not the packet. */
	return r->opcode == WOP_READ_RESP ||
	       (r->va == b->va && r->left == b->left);
}

static void store_cell(struct c_engine *e, struct rx_ctx *r,
		       const struct wire_frame *f, const struct wire_block *b)
{
	unsigned int cell = b->offset >> e->cell_log2;
	uint64_t bit = 1ull << cell % 64;

	r->drops = e->drops;	/* its sender is not silent */
	/* tag::resend-8[] */
	if (r->have[cell / 64] & bit)
		return;		/* doubled on the way, or sent again */
	r->have[cell / 64] |= bit;
	r->cells_left--;
	/* end::resend-8[] */
	if (!rx_keep(e, r, cell, f))
		memcpy(r->buf + b->offset, b->payload, b->payload_len);
	r->event = f->cause ? f->cause : r->event;
}

/*
 * The last cell of a block came again while all of it is being written: its
 * sender hears that it is being worked on. One that was given up may have to
 * wait for the channel still; it hears that it may come again.
 */
static void tell_alive(struct c_engine *e, struct rx_ctx *r,
		       const struct wire_frame *f, const struct wire_block *b)
{
	if (r->state != FL_RX_WRITE || b->offset + b->payload_len != b->len)
		return;
	if (r->cancelled)
		answer_post(e, r, WOP_REFUSED, FL_ST_BUSY, f->cause);
	else
		answer_post(e, r, WOP_WAIT, 0, f->cause);
}

static void rx_collect(struct c_engine *e, struct rx_ctx *r,
		       const struct wire_frame *f, const struct wire_block *b)
{
	if (!same_block(r, b)) {
		rx_bad(e, f, WIRE_HEADER);
		return;
	}
	if (r->state != FL_RX_CHECK && r->state != FL_RX_COLLECT) {
		tell_alive(e, r, f, b);
		return;
	}
	store_cell(e, r, f, b);
	if (r->state == FL_RX_COLLECT && !r->cells_left)
		rx_move(e, r, FL_RX_EV_FULL, f->cause);
}

static void rx_fill(struct c_engine *e, struct rx_ctx *r,
		    const struct wire_frame *f, const struct wire_block *b)
{
	uint32_t cells = (b->len + e->cfg.cell_bytes - 1) >> e->cell_log2;

	r->opcode = b->opcode;
	r->node = f->from;
	r->ctx = b->ctx;
	r->gen = b->gen;
	r->attempt = b->attempt;
	r->serial++;
	r->stream = 0;
	r->qpn = b->dest_qp;
	r->va = b->va;
	r->len = b->len;
	r->rkey = b->rkey;
	r->left = b->left;
	r->ref = b->ref;
	r->src = b->src;
	r->xfer = b->xfer;
	r->block = b->block;
	r->map = 0;
	r->event = 0;
	r->drops = e->drops;
	r->cells_left = b->opcode == WOP_READ_REQ ? 0 : cells;
	memset(r->have, 0, (cells + 63) / 64 * 8);
}

/*
 * The answer of a READ: the requester's own context says where it goes, not the
 * packet. Two answers never come together at one context: the older request's
 * gives way while it only collects; otherwise the newer one has to come again.
 */
static bool rx_own_free(struct c_engine *e, const struct wire_frame *f,
			const struct wire_block *b)
{
	uint8_t rxc = e->tx[b->ref >> 24].rxc;
	struct rx_ctx *r;

	if (rxc == NONE)
		return true;
	r = &e->rx[rxc];
	if (r->state != FL_RX_COLLECT || (int8_t)(b->ref - r->ref) <= 0)
		return false;
	rx_end(e, r, FL_RX_EV_RESTART, 0, 0, f->cause);
	return true;
}

static void open_answer(struct c_engine *e, struct rx_ctx *r,
			const struct wire_frame *f, const struct wire_block *b)
{
	struct tx_ctx *t = &e->tx[b->ref >> 24];

	r->requester = (uint8_t)(b->ref >> 24);
	t->rxc = (uint8_t)rx_index(e, r);
	r->stream = t->stream;
	r->va = t->lva;
	r->left = t->left;
	rx_move(e, r, r->cells_left ? FL_RX_EV_ACCEPT : FL_RX_EV_ACCEPT_FULL,
		f->cause);
}

/*
 * Take a context from the sender that has been silent for longest. It may be
 * silent only since its cells get lost, so it hears that it may come again.
 */
static void rx_reclaim(struct c_engine *e, uint64_t cause)
{
	struct rx_ctx *oldest = NULL;
	unsigned int i;

	e->drops++;
	/* tag::resend-14[] */
	for (i = 0; i < e->cfg.rx_contexts; i++) {
		struct rx_ctx *r = &e->rx[i];

		if (r->state == FL_RX_COLLECT &&
		    e->drops - r->drops >= PATIENCE &&
		    (!oldest || r->drops < oldest->drops))
			oldest = r;
	}
	/* end::resend-14[] */
	if (oldest)
		rx_end(e, oldest, FL_RX_EV_RESTART, WOP_REFUSED, FL_ST_BUSY,
		       cause);
}

/* The first cell that came of an attempt. */
static void rx_open(struct c_engine *e, struct peer *p,
		    const struct wire_frame *f, const struct wire_block *b)
{
	bool answer = b->opcode == WOP_READ_RESP;
	struct rx_ctx *r;
	unsigned int i;

	assert(p->rxc == NONE);
	p->valid = true;
	p->gen = b->gen;
	p->attempt = b->attempt;
	p->done = false;
	p->over = true;		/* unless a context is found */
	if (answer && !tx_matches_read(e, f->from, b)) {
		answer_block(e, f->from, b, WOP_NAK, FL_ST_STALE, f->cause);
		rx_stale(e, f, b->ctx, b->gen, b->attempt);
		return;
	}
	if (!e->rx_free)
		rx_reclaim(e, f->cause);
	if (!e->rx_free || (answer && !rx_own_free(e, f, b))) {
		no_context(e, f, b);
		return;
	}
	i = lowest_bit(e->rx_free);
	e->rx_free &= ~(1u << i);
	r = &e->rx[i];
	assert(r->state == FL_RX_FREE && r->requester == NONE && !r->linked);
	rx_fill(e, r, f, b);
	p->over = false;
	p->rxc = (uint8_t)i;
	r->linked = true;
	if (b->opcode != WOP_READ_REQ)
		store_cell(e, r, f, b);
	if (answer)
		open_answer(e, r, f, b);
	else
		rx_move(e, r, FL_RX_EV_OPEN, f->cause);
}

/*
 * A newer attempt of what a context holds. Returns true when the context was
 * given up and the attempt starts afresh.
 */
static bool rx_newer_attempt(struct c_engine *e, struct peer *p,
			     const struct wire_frame *f,
			     const struct wire_block *b)
{
	/* tag::resend-10[] */
	struct rx_ctx *r = &e->rx[p->rxc];

	/* The firmware judges an attempt, and may be about to refuse it. */
	if (r->state == FL_RX_CHECK) {
		rx_move(e, r, FL_RX_EV_RESTART, f->cause);
		return true;
	}
	/* The same bytes, sent again: the answer goes to the newest attempt. */
	if (!same_block(r, b)) {
		rx_bad(e, f, WIRE_HEADER);
		return false;
	}
	p->attempt = r->attempt = b->attempt;
	if (r->state == FL_RX_FAULT)
		answer_post(e, r, WOP_REFUSED, 0, f->cause);
	else
		rx_collect(e, r, f, b);	/* it fills the holes */
	return false;
	/* end::resend-10[] */
}

/* The peer has given the older block up. */
static void rx_newer_gen(struct c_engine *e, struct peer *p,
			 const struct wire_frame *f)
{
	/* tag::resend-11[] */
	struct rx_ctx *r = &e->rx[p->rxc];

	if (r->state == FL_RX_WRITE) {
		r->linked = false;	/* it comes to its end alone */
		p->rxc = NONE;
		return;
	}
	rx_move(e, r, FL_RX_EV_RESTART, f->cause);
	/* end::resend-11[] */
}

/* A block that is in memory came again: its ACK was lost, or is late. */
static void rx_again(struct c_engine *e, const struct wire_frame *f,
		     const struct wire_block *b)
{
	/* tag::resend-12[] */
	struct trace_at at = rx_packet_at(e, f);
	uint64_t seq;

	if (b->opcode == WOP_READ_REQ || b->offset + b->payload_len != b->len)
		return;
	e->stats.duplicates++;
	at.xfer = b->xfer;
	at.block = b->block;
	at.attempt = b->attempt;
	seq = engine_emit(e, EV_RX_DUPLICATE, &at, f->from, b->ctx,
			 b->gen, 0);
	answer_block(e, f->from, b, WOP_ACK, 0, seq);
	/* end::resend-12[] */
}

/* Is the packet possible at all, on some board? */
static bool rx_is_possible(const struct c_engine *e, const struct wire_block *b)
{
	uint32_t cell = e->cfg.cell_bytes, rest = b->len - b->offset;

	if (b->ctx >= ENGINE_CTX_MAX || !b->len || b->len > ENGINE_BLOCK_MAX ||
	    b->va + (b->len - 1) < b->va)
		return false;
	if (b->opcode == WOP_READ_REQ)
		return !b->offset && !b->psn;
	return b->offset < b->len && !(b->offset & (cell - 1)) &&
	       b->psn == b->offset >> e->cell_log2 &&
	       b->payload_len == (rest < cell ? rest : cell);
}

enum packet_class {
	PACKET_NEW_GEN,		/* the peer's context does something new */
	PACKET_LANDED,		/* what this carries is in memory */
	PACKET_NEW_ATTEMPT,	/* it sends the same once more */
	PACKET_SAME,		/* a cell of the attempt that we have */
	PACKET_ANSWERED,		/* of this attempt no more is wanted */
	PACKET_STALE,		/* too late */
};

/* What a packet is to the newest that is known of its context. */
static enum packet_class packet_class(const struct peer *p,
				      const struct wire_block *b)
{
	/* tag::resend-9[] */
	/* Serial number arithmetic: the half behind is old. */
	int16_t newer_gen = (int16_t)(b->gen - p->gen);
	int8_t newer_attempt = (int8_t)(b->attempt - p->attempt);

	if (!p->valid || newer_gen > 0)
		return PACKET_NEW_GEN;
	if (newer_gen < 0)
		return PACKET_STALE;
	if (p->done)
		return PACKET_LANDED;
	if (newer_attempt)
		return newer_attempt > 0 ? PACKET_NEW_ATTEMPT : PACKET_STALE;
	return p->over ? PACKET_ANSWERED : PACKET_SAME;
	/* end::resend-9[] */
}

void rx_block(struct c_engine *e, const struct wire_frame *f,
	      const struct wire_block *b)
{
	struct peer *p;

	if (!rx_is_possible(e, b)) {
		rx_bad(e, f, WIRE_LENGTH);
		return;
	}
	if (b->len > e->block_bytes) {
		/* The peer's blocks are larger than ours. One NAK is enough. */
		if (b->offset + b->payload_len == b->len ||
		    b->opcode == WOP_READ_REQ)
			answer_block(e, f->from, b, WOP_NAK, FL_ST_BLOCK_SIZE,
				     f->cause);
		rx_bad(e, f, WIRE_LENGTH);
		return;
	}
	if (b->opcode != WOP_READ_REQ) {
		e->stats.cells_received++;
		e->stats.payload_received += b->payload_len;
	}
	p = &e->peer[f->from][b->ctx];
	switch (packet_class(p, b)) {
	case PACKET_NEW_GEN:
		if (p->rxc != NONE)
			rx_newer_gen(e, p, f);
		rx_open(e, p, f, b);
		break;
	case PACKET_LANDED:
		rx_again(e, f, b);
		break;
	case PACKET_NEW_ATTEMPT:
		if (p->rxc == NONE || rx_newer_attempt(e, p, f, b))
			rx_open(e, p, f, b);
		break;
	case PACKET_SAME:
		if (p->rxc != NONE)
			rx_collect(e, &e->rx[p->rxc], f, b);
		else		/* a reset came between its cells */
			rx_open(e, p, f, b);
		break;
	case PACKET_ANSWERED:
		break;
	case PACKET_STALE:
		rx_stale(e, f, b->ctx, b->gen, b->attempt);
		break;
	}
}

uint64_t c_rx_event(const struct engine *engine, unsigned int rxc)
{
	const struct c_engine *e = c_engine(engine);

	return rxc < e->cfg.rx_contexts ? e->rx[rxc].event : 0;
}

int rx_ready(struct c_engine *e, unsigned int i, unsigned int code,
	     unsigned int serial, uint64_t cause)
{
	struct rx_ctx *r;
	uint8_t requester;

	if (i >= e->cfg.rx_contexts)
		return -EINVAL;
	r = &e->rx[i];
	/* tag::resend-2[] */
	if (r->state != FL_RX_FAULT || r->serial != serial)
		return 0;
	if (!code) {
		rx_end(e, r, FL_RX_EV_RESOLVED, WOP_READY, 0, cause);
		return 0;
	}
	/*
	 * A page is missing here, whichever side the driver calls it: remote
	 * for the sender of the block, local for the READ that asked for it.
	 */
	requester = r->requester;
	rx_end(e, r, FL_RX_EV_GIVEN_UP, WOP_NAK,
	       code == FL_ST_LOCAL_FAULT ? FL_ST_REMOTE_FAULT : (uint8_t)code,
	       cause);
	if (requester != NONE)
		tx_outcome(e, requester, FL_TX_EV_NAK,
			   code == FL_ST_REMOTE_FAULT ? FL_ST_LOCAL_FAULT :
							(uint8_t)code,
			   r->event);
	/* end::resend-2[] */
	return 0;
}

/* The peer table goes on over a reset: what is over stays over. */
void rx_init(struct c_engine *e)
{
	unsigned int i, node;
	struct rx_ctx *r;
	struct peer *p;

	e->rx_free = (uint32_t)((1ull << e->cfg.rx_contexts) - 1);
	for (i = 0; i < ENGINE_RXC_MAX; i++) {
		r = &e->rx[i];
		rx_let_go(e, r);
		*r = (struct rx_ctx){ .serial = r->serial, .requester = NONE,
				      .buf = r->buf };
	}
	for (node = 0; node < WIRE_NODES; node++) {
		for (i = 0; i < ENGINE_CTX_MAX; i++) {
			p = &e->peer[node][i];
			p->rxc = NONE;
			p->waiting = false;
		}
	}
	e->answer_head = e->answer_count = 0;
}
