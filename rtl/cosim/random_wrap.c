// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a random run would meet once in many hours: counters that begin again, and blocks with
 * as many cells as there can be. Some hundred calls, which leave the engines there; what comes
 * next is as wild as ever.
 */
#include "rtl/cosim/random_node.h"

#define STEPS_MOST	4000

static uint32_t wrap_state(struct node *n, unsigned int i)
{
	return node_read(n, NIC_CTX_BASE(i) + NIC_CTX_STATE);
}

static uint32_t wrap_state_of(uint32_t v)
{
	return v & NIC_CTX_STATE_STATE_MASK;
}

static void wrap_control(struct node *n, unsigned int i, uint32_t value)
{
	node_write(n, NIC_CTX_BASE(i) + NIC_CTX_CTRL, 4, value);
}

/* To FREE, from wherever it is. */
static void wrap_free(struct node *n, unsigned int i)
{
	wrap_control(n, i, NIC_CTX_CTRL_KILL |
			   FL_ST_KILLED << NIC_CTX_CTRL_CODE_SHIFT);
	if (wrap_state_of(wrap_state(n, i)) == FL_TX_DONE)
		wrap_control(n, i, NIC_CTX_CTRL_RELEASE);
}

/* Held bursts go on, so that a step finds its channel. */
static void wrap_begin(struct node *n, enum weather weather)
{
	struct node *o;

	node_start(n);
	w.weather = weather;
	for (o = w.node; o < w.node + NODES; o++) {
		o->held[0] = o->held[1] = false;
		engine_burst_resume(o->e, 0, true);
		engine_burst_resume(o->e, 1, true);
		engine_wire_room(o->e);
	}
}

/* Steps of the read channel and packets to the peer, until nothing moves. */
static void wrap_run(struct node *n, struct node *to)
{
	unsigned int steps = 0;

	while ((n->awake[0] || to->queued) && steps++ < STEPS_MOST) {
		if (n->awake[0])
			node_step(n, 0);
		if (to->queued)
			node_deliver(to);
	}
}

void wrap_generations(void)
{
	static const unsigned int blocks[] = { 65534, 32766, 254 };
	struct node *n = &w.node[0];
	unsigned int i, k;

	w.weather = CALM;
	for (i = 0; i < 3; i++) {
		node_go(n, i, FL_OP_WRITE, 1, 16, 0);
		wrap_free(n, i);
		for (k = 1; k < blocks[i]; k++) {
			wrap_control(n, i, NIC_CTX_CTRL_GO |
					   FL_OP_WRITE << NIC_CTX_CTRL_OP_SHIFT);
			wrap_control(n, i, NIC_CTX_CTRL_KILL |
					   1 << NIC_CTX_CTRL_CODE_SHIFT);
			wrap_control(n, i, NIC_CTX_CTRL_RELEASE);
		}
	}
	w.weather = WILD;
}

/* The peer opens it and says no; that answer waits. */
static void answer_no(struct node *to)
{
	uint32_t v = node_read(to, NIC_ENG_EVT_POP);

	for (; v & NIC_ENG_EVT_POP_VALID; v = node_read(to, NIC_ENG_EVT_POP))
		if ((v & 0xFF) == FL_NOTE_RX_OPEN)
			node_write(to, NIC_RXC_BASE(v >> 8 & 0xFF) + NIC_RXC_VERDICT, 4,
				   FL_ST_REMOTE_ACCESS << NIC_RXC_VERDICT_CODE_SHIFT |
				   (v >> 16 & 0xFF) << NIC_RXC_VERDICT_SERIAL_SHIFT);
}

void wrap_answers(void)
{
	struct node *n = &w.node[0], *to = &w.node[1];
	unsigned int i, k;

	w.weather = CALM;
	/* The next generation is the last one: its answer gives way to that of the one after it. */
	for (k = 0; k < 8; k++)
		for (i = 0; i < 2; i++) {
			to->dry = k % 4 != 3;
			if (!to->dry)
				engine_wire_room(to->e);
			node_go(n, i, FL_OP_READ, 1, 16, 0);
			wrap_run(n, to);
			answer_no(to);
			wrap_free(n, i);
		}
	to->dry = false;
	engine_wire_room(to->e);
	w.weather = WILD;
}

/* One of the peer's contexts answers READ i, this attempt of it; so many packets arrive. */
static void answer_read(struct node *n, unsigned int i, struct node *to, unsigned int with,
			uint32_t len, unsigned int cells)
{
	uint32_t gen = node_read(n, NIC_CTX_BASE(i) + NIC_CTX_GEN);
	uint32_t attempt = (wrap_state(n, i) & NIC_CTX_STATE_ATTEMPT_MASK) >>
			   NIC_CTX_STATE_ATTEMPT_SHIFT;
	unsigned int steps = 0;

	wrap_free(to, with);
	node_go(to, with, FL_OP_READ_RESP, (unsigned int)(n - w.node), len,
		i << 24 | gen << 8 | attempt);
	while (to->awake[0] && steps++ < STEPS_MOST)
		node_step(to, 0);
	while (n->queued && cells--)
		node_deliver(n);
	n->queued = 0;
}

void wrap_reads(struct node *n, unsigned int i)
{
	struct node *to = &w.node[1 - (n - w.node)];
	uint32_t len = 3 * w.cfg.cell_bytes, v;
	unsigned int k, with = i % 3;

	if (len > 1u << n->block_log2 || len > 1u << to->block_log2 || len > w.longest)
		return;
	node_start(to);
	wrap_begin(n, CALM);
	wrap_free(n, i);
	node_go(n, i, FL_OP_READ, (unsigned int)(to - w.node), len, 0);
	for (k = 0; k < 255; k++) {
		wrap_run(n, to);
		wrap_control(n, i, NIC_CTX_CTRL_EXPIRE);
	}
	/* What answers attempt 255 is not whole when attempt 0 is answered. */
	wrap_run(n, to);
	answer_read(n, i, to, with, len, 1);
	v = wrap_state(n, i);
	wrap_control(n, i, NIC_CTX_CTRL_EXPIRE);
	wrap_run(n, to);
	answer_read(n, i, to, with + 1, len, 1);
	reached[ANSWER_WRAP] += (v & NIC_CTX_STATE_ATTEMPT_MASK) == NIC_CTX_STATE_ATTEMPT_MASK &&
				wrap_state_of(wrap_state(n, i)) == FL_TX_FLYING;
	w.weather = WILD;
}

void wrap_attempts(struct node *n, unsigned int i)
{
	struct node *to = &w.node[1 - (n - w.node)];
	unsigned int k, times = 250 + random_below(12);

	wrap_begin(n, CALM);
	wrap_free(n, i);
	node_go(n, i, one_in(2) ? FL_OP_READ : FL_OP_WRITE,
		(unsigned int)(to - w.node), 1 + random_below(20), 0);
	for (k = 0; k < times; k++) {
		wrap_run(n, to);
		wrap_control(n, i, NIC_CTX_CTRL_EXPIRE);
	}
	w.weather = WILD;
}

void wrap_faults(struct node *n, unsigned int i)
{
	struct node *to = &w.node[1 - (n - w.node)];
	unsigned int k, times = 250 + random_below(50);

	wrap_begin(n, ABSENT);
	wrap_free(n, i);
	node_go(n, i, FL_OP_WRITE, (unsigned int)(to - w.node),
		1 + random_below(20), 0);
	for (k = 0; k < times; k++) {
		wrap_run(n, to);
		node_driver(n);
	}
	w.weather = WILD;
}

/* The verdict on what the peer has opened, and what follows from it. */
static void whole_judge(struct node *to)
{
	unsigned int k;

	for (k = 0; k < 8; k++) {
		while (to->event)
			node_notes(to);
		while (to->awake[1])
			node_step(to, 1);
	}
}

void whole_block(struct node *n, unsigned int i)
{
	struct node *to = &w.node[1 - (n - w.node)];
	uint32_t most = 1u << (n->block_log2 < to->block_log2 ?
			       n->block_log2 : to->block_log2), v;
	unsigned int k, left;

	if (most > w.longest)
		most = w.longest;
	node_start(to);
	wrap_begin(n, CALM);
	/* The second one meets what the first has left behind. */
	for (k = 0; k < 2; k++) {
		wrap_free(n, i);
		node_go(n, i, FL_OP_WRITE, (unsigned int)(to - w.node), most,
			0);
		for (left = 4; left; left--) {
			wrap_run(n, to);
			whole_judge(to);
			while (n->queued)
				node_deliver(n);
		}
		v = wrap_state(n, i);
		reached[WHOLE] += wrap_state_of(v) == FL_TX_DONE &&
				  !(v & NIC_CTX_STATE_STATUS_MASK) &&
				  most / w.cfg.cell_bytes > 64;
	}
	w.weather = WILD;
}
