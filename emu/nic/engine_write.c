// SPDX-License-Identifier: BSD-2-Clause
/*
 * The write channel: receive contexts in WRITE, in the order in which they
 * became full, burst by burst to memory.
 */
#include "nic/engine_internal.h"

void write_queue(struct c_engine *e, struct rx_ctx *r)
{
	unsigned int at = e->write_head + e->write_count++;

	assert(e->write_count <= ENGINE_RXC_MAX);
	e->write_fifo[at % ENGINE_RXC_MAX] = (uint8_t)rx_index(e, r);
	engine_kick(e, CH_WRITE);
}

static struct rx_ctx *write_next(struct c_engine *e)
{
	struct rx_ctx *r;

	if (!e->write_count)
		return NULL;
	r = &e->rx[e->write_fifo[e->write_head]];
	e->write_head = (e->write_head + 1) % ENGINE_RXC_MAX;
	e->write_count--;
	assert(r->state == FL_RX_WRITE);
	return r;
}

/* A burst that is open ends now, before anyone can see that the block is over. */
void write_stop(struct c_engine *e, struct rx_ctx *r)
{
	struct channel *c = &e->ch[CH_WRITE];

	assert(r->state == FL_RX_WRITE);
	r->cancelled = true;
	if (c->ctx == rx_index(e, r) && c->iter.phase == BURST_OPEN)
		burst_abandon(e, &c->iter);
}

/*
 * A READ that is over owns its buffer no longer: what still collects is
 * dropped, what is being written stops.
 */
void write_cancel(struct c_engine *e, struct rx_ctx *r)
{
	assert(r->requester != NONE &&
	       e->tx[r->requester].rxc == rx_index(e, r));
	e->tx[r->requester].rxc = NONE;
	r->requester = NONE;
	switch (r->state) {
	case FL_RX_COLLECT:
		rx_move(e, r, FL_RX_EV_RESTART, 0);
		break;
	case FL_RX_WRITE:
		write_stop(e, r);
		break;
	case FL_RX_FAULT:
		break;		/* the driver is at it; READY ends it */
	default:
		assert(!"a READ's answer in this state");
	}
}

static void write_landed(struct c_engine *e, struct rx_ctx *r)
{
	uint8_t requester = r->requester;

	e->stats.blocks_landed++;
	rx_end(e, r, FL_RX_EV_LANDED, WOP_ACK, 0, 0);
	if (requester != NONE)
		tx_outcome(e, requester, FL_TX_EV_LANDED, 0, r->event);
	else
		note_post(e, FL_NOTE_RX_LANDED, rx_index(e, r), r->serial);
}

static void write_refused(struct c_engine *e, struct rx_ctx *r, uint32_t map)
{
	e->stats.faults_remote++;
	r->map = map;
	rx_move(e, r, FL_RX_EV_FAULT, 0);
	fault_queue_rx(e, rx_index(e, r));
	answer_post(e, r, WOP_REFUSED, 0, r->event);
	if (r->requester != NONE)
		note_post(e, FL_NOTE_TX_WAITING, r->requester,
			  (uint8_t)e->tx[r->requester].gen);
}

static void write_failed(struct c_engine *e, struct rx_ctx *r)
{
	uint8_t requester = r->requester;

	rx_end(e, r, FL_RX_EV_BUS_ERROR, WOP_NAK, FL_ST_BUS_ERROR, 0);
	if (requester != NONE)
		tx_outcome(e, requester, FL_TX_EV_NAK, FL_ST_BUS_ERROR,
			   r->event);
}

/* [offset, offset + len) of the block, where it can be written from. */
static uint8_t *write_bytes(struct c_engine *e, struct rx_ctx *r,
			    uint32_t offset, uint32_t len)
{
	uint32_t size = e->cfg.cell_bytes, from, to, at;
	unsigned int cell = offset >> e->cell_log2;
	const uint8_t *payload;

	for (at = offset; at < offset + len; at = to) {
		cell = at >> e->cell_log2;
		from = cell << e->cell_log2;
		to = from + size < offset + len ? from + size : offset + len;
		if (!(r->borrowed >> cell & 1))
			continue;
		payload = wire_payload(r->frame[cell]);
		if (at == offset && to == offset + len)
			return (uint8_t *)(uintptr_t)(payload + (at - from));
		memcpy(r->buf + at, payload + (at - from), to - at);
	}
	return r->buf + offset;
}

static uint64_t write_burst(struct c_engine *e, struct channel *c,
			    uint64_t now_ns)
{
	struct rx_ctx *r = &e->rx[c->ctx];
	struct trace_at at = rx_at(e, r, 0);
	uint64_t delay_ns;

	switch (burst_step(e, &c->iter, now_ns, &at, c->ctx, &r->event,
			   &delay_ns)) {
	case BURST_MORE:
		if (r->borrowed && c->iter.phase == BURST_OPEN)
			c->iter.direct = write_bytes(e, r, c->iter.offset,
						     c->iter.b.len);
		break;
	case BURST_GOOD:
		c->ctx = NONE;
		write_landed(e, r);
		break;
	case BURST_REFUSED:
		c->ctx = NONE;
		write_refused(e, r, c->iter.map);
		break;
	case BURST_BUS_ERROR:
		c->ctx = NONE;
		write_failed(e, r);
		break;
	}
	return delay_ns;
}

uint64_t write_step(struct engine *engine, uint64_t now_ns)
{
	struct c_engine *e = c_engine(engine);
	struct channel *c = &e->ch[CH_WRITE];
	struct rx_ctx *r;

	c->awake = true;
	if (c->iter.phase == BURST_HELD)
		return engine_sleep(e, CH_WRITE);
	/*
	 * An open burst ends even when the engine was turned off. One of a block
	 * that was given up is none: it was held, and moves no data.
	 */
	if (!e->enabled && (c->iter.phase != BURST_OPEN ||
			    e->rx[c->ctx].cancelled))
		return engine_sleep(e, CH_WRITE);
	if (c->ctx == NONE) {
		r = write_next(e);
		if (!r)
			return engine_sleep(e, CH_WRITE);
		c->ctx = (uint8_t)rx_index(e, r);
		burst_start(&c->iter, CH_WRITE, r->stream, r->va, r->len,
			    r->buf);
	}
	r = &e->rx[c->ctx];
	if (!r->cancelled)
		return write_burst(e, c, now_ns);
	burst_abandon(e, &c->iter);
	c->ctx = NONE;
	/* A WRITE that is sent again is judged again; a READ's answer is not. */
	rx_end(e, r, FL_RX_EV_RESTART,
	       r->opcode == WOP_READ_RESP ? WOP_NAK : 0, FL_ST_STALE, 0);
	return 0;
}

void write_init(struct c_engine *e)
{
	struct channel *c = &e->ch[CH_WRITE];

	burst_abandon(e, &c->iter);
	c->ctx = NONE;
	c->awake = false;
	e->write_head = e->write_count = 0;
}
