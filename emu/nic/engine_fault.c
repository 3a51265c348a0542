// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the engine tells software, and READY, what the driver answers: the queue
 * of faults for the driver, the queue of notes for the firmware.
 */
#include "nic/engine_internal.h"

void fault_line(struct c_engine *e)
{
	engine_line(e, ENGINE_LINE_FAULT, e->irq_enable && e->faults);
}

static void drop_fault(struct c_engine *e, unsigned int i)
{
	assert(i < e->faults);
	e->faults--;
	memmove(&e->fault[i], &e->fault[i + 1],
		(e->faults - i) * sizeof(e->fault[0]));
}

/*
 * An older entry of the same context is about a fault that is over. It makes
 * room, unless it is the head: the driver may be reading that one, and its
 * serial number shows in the end that it is old.
 */
static void fault_push(struct c_engine *e, const struct fault *f)
{
	unsigned int i;

	for (i = 1; i < e->faults; i++) {
		if (e->fault[i].side != f->side ||
		    e->fault[i].index != f->index)
			continue;
		drop_fault(e, i);
		break;
	}
	assert(e->faults < FAULTS_MAX);
	e->fault[e->faults++] = *f;
	fault_line(e);
}

void fault_queue_tx(struct c_engine *e, unsigned int i)
{
	struct tx_ctx *t = &e->tx[i];
	const struct fault f = {
		.side = SIDE_TX, .index = (uint8_t)i,
		.serial = t->fault_serial, .stream = t->stream,
		.va = t->lva, .len = t->len, .map = t->map, .left = t->left,
		.xfer = t->xfer, .block = t->block,
	};
	struct trace_at at = {
		.board = e->cfg.board, .xfer = t->xfer, .block = t->block,
		.attempt = t->attempt, .cause = t->event,
	};

	t->event = engine_emit(e, EV_ENG_FAULT, &at, i, SIDE_TX,
			      t->lva, t->map);
	fault_push(e, &f);
}

void fault_queue_rx(struct c_engine *e, unsigned int i)
{
	struct rx_ctx *r = &e->rx[i];
	const struct fault f = {
		.side = SIDE_RX, .index = (uint8_t)i, .serial = r->serial,
		.stream = r->stream, .va = r->va, .len = r->len,
		.map = r->map, .left = r->left, .xfer = r->xfer,
		.block = r->block,
	};
	struct trace_at at = rx_at(e, r, 0);

	r->event = engine_emit(e, EV_ENG_FAULT, &at, i, SIDE_RX,
			      r->va, r->map);
	fault_push(e, &f);
}

void fault_pop(struct c_engine *e)
{
	if (e->faults)
		drop_fault(e, 0);
	fault_line(e);
}

static_assert(NOTES_MAX <= NOTES_RING, "room for every note");

static struct note *fault_note(struct c_engine *e, unsigned int i)
{
	return &e->note[(e->note_head + i) % NOTES_RING];
}

/*
 * One note of each kind and context: a newer one takes the older one's place at
 * the end of the queue, so that the last note of a context is its newest.
 */
void note_post(struct c_engine *e, unsigned int kind, unsigned int index,
	       uint8_t serial)
{
	unsigned int i;

	if (e->in_ring[kind][index]) {
		for (i = 0; fault_note(e, i)->kind != kind ||
			    fault_note(e, i)->index != index; i++)
			assert(i < e->notes);
		for (; i + 1 < e->notes; i++)
			*fault_note(e, i) = *fault_note(e, i + 1);
		e->notes--;
	}
	assert(e->notes < NOTES_MAX);
	*fault_note(e, e->notes++) = (struct note){ (uint8_t)kind,
		(uint8_t)index,
						 serial };
	e->in_ring[kind][index] = 1;
	engine_line(e, ENGINE_LINE_EVENT, true);
}

bool note_take(struct c_engine *e, struct note *n)
{
	if (!e->notes)
		return false;
	*n = *fault_note(e, 0);
	e->in_ring[n->kind][n->index] = 0;
	e->note_head = (e->note_head + 1) % NOTES_RING;
	e->notes--;
	engine_line(e, ENGINE_LINE_EVENT, e->notes != 0);
	return true;
}
