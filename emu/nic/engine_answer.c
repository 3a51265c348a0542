// SPDX-License-Identifier: BSD-2-Clause
/*
 * Answers to peers. One that finds no room on the wire waits in its peer's
 * entry, at most one for each context of a peer: a newer one takes its place,
 * which says all that the older one said. So nothing can overflow.
 */
#include "nic/engine_internal.h"

static void answer_count(struct c_engine *e, uint8_t wop)
{
	e->stats.ready_sent += wop == WOP_READY;
	e->stats.nak_sent += wop == WOP_NAK;
	e->stats.wait_sent += wop == WOP_WAIT;
}

static bool try_send(struct c_engine *e, uint8_t node,
		     const struct wire_answer *a, uint64_t cause)
{
	struct wire_frame *f;

	if (!e->enabled)
		return false;
	f = e->env.frame_get(e->env.wire);
	if (!f)
		return false;
	f->from = e->cfg.node;
	f->to = node;
	f->cause = cause;
	wire_put_answer(f, a, e->cfg.icrc);
	answer_count(e, a->opcode);
	e->env.frame_send(e->env.wire, f);
	return true;
}

static void answer_transmit(struct c_engine *e, uint8_t node,
			    const struct wire_answer *a, uint64_t cause)
{
	struct peer *p = &e->peer[node][a->ctx];
	unsigned int at;

	answer_flush(e);
	if (!e->answer_count && try_send(e, node, a, cause))
		return;
	if (p->waiting && (int16_t)(a->gen - p->answer.gen) < 0)
		return;
	p->answer = *a;
	p->answer_cause = cause;
	if (p->waiting)
		return;
	p->waiting = true;
	assert(e->answer_count < SLOTS);
	at = (e->answer_head + e->answer_count++) % SLOTS;
	e->answer_fifo[at] = (uint16_t)(node * ENGINE_CTX_MAX + a->ctx);
}

void answer_post(struct c_engine *e, const struct rx_ctx *r, uint8_t wop,
		 uint8_t code, uint64_t cause)
{
	const struct wire_answer a = {
		.opcode = wop, .ctx = r->ctx, .gen = r->gen,
		.attempt = r->attempt, .code = code,
		.map = wop == WOP_REFUSED ? r->map : 0,
		.xfer = r->xfer, .block = r->block,
	};

	answer_transmit(e, r->node, &a, cause);
}

void answer_block(struct c_engine *e, uint8_t node, const struct wire_block *b,
		  uint8_t wop, uint8_t code, uint64_t cause)
{
	const struct wire_answer a = {
		.opcode = wop, .ctx = b->ctx, .gen = b->gen,
		.attempt = b->attempt, .code = code,
		.xfer = b->xfer, .block = b->block,
	};

	answer_transmit(e, node, &a, cause);
}

void answer_send_waiting(struct c_engine *e)
{
	while (e->answer_count) {
		unsigned int slot = e->answer_fifo[e->answer_head];
		uint8_t node = (uint8_t)(slot / ENGINE_CTX_MAX);
		struct peer *p = &e->peer[node][slot % ENGINE_CTX_MAX];

		assert(p->waiting);
		if (!try_send(e, node, &p->answer, p->answer_cause))
			return;
		p->waiting = false;
		e->answer_head = (e->answer_head + 1) % SLOTS;
		e->answer_count--;
	}
}
