// SPDX-License-Identifier: BSD-2-Clause
/* Not in the handout: contexts at random, against plain models. */
#include <string.h>

#include "labs/resend/tests/bench.h"

#define N 4

/* What a context that sends is, as plain as can be: fsm.def in ifs. */
struct model {
	unsigned int state, attempt, gen, status, want;	/* want: early, or 0 */
	unsigned int want_code;
	bool half;
};

static void model_answer(struct model *m, unsigned int op, unsigned int code)
{
	if (op == WOP_REFUSED) {
		m->state = FL_TX_DSTFAULT;
		m->status = code;
	} else if (op == WOP_READY) {
		m->state = FL_TX_READY;
		m->attempt = (m->attempt + 1) % 256;
	} else {
		m->state = FL_TX_DONE;
		m->status = op == WOP_NAK ? code : FL_ST_OK;
	}
}

/* True: it counts; false: it must be called stale. */
static bool model_says(struct model *m, unsigned int op, unsigned int code)
{
	if (m->state == FL_TX_READY && m->half) {
		if (!m->want || m->want == WOP_REFUSED) {
			m->want = op;
			m->want_code = code;
		}
		return true;
	}
	if (m->state != FL_TX_FLYING &&
	    !(m->state == FL_TX_DSTFAULT && (op == WOP_READY || op == WOP_NAK)))
		return false;
	model_answer(m, op, code);
	return true;
}

static void model_left(struct model *m)
{
	m->state = FL_TX_FLYING;
	m->half = false;
	if (m->want)
		model_answer(m, m->want, m->want_code);
	m->want = 0;
}

/* Send context i to its half (two cells of five) or to its end. */
static void random_send(struct model *m, unsigned int i, bool whole)
{
	bench_room(whole ? (m->half ? 3 : 5) : 2);
	bench_run(SENDS);
	bench_room(0);
	judge_at_least("transmit context", bench_tx_state(i), FL_TX_READY);
	if (whole)
		model_left(m);
	else
		m->half = true;
	while (bench_take())
		;
}

static void model_check(struct model *m, unsigned int i)
{
	bench_tx(i, m->state, m->attempt);
	if (m->state == FL_TX_DONE || m->state == FL_TX_DSTFAULT)
		bench_stands(i, m->state, m->status);
}

JUDGE(random_answers, "one context, random answers, timers and kills")
{
	static const unsigned int ops[] = { WOP_ACK, WOP_REFUSED, WOP_READY,
					    WOP_NAK, WOP_REFUSED, WOP_READY };
	static const unsigned int codes[] = { 0, FL_ST_WAIT, FL_ST_BUSY };
	static const unsigned int ends[] = { FL_ST_REMOTE_ACCESS, FL_ST_REMOTE_QP,
					     FL_ST_REMOTE_FAULT };
	struct model m = { 0 };
	unsigned int i, stale = 0, done = 0, again = 0;

	bench_new();
	bench_room(0);
	for (i = 0; i < 3000; i++) {
		uint64_t x = judge_random();
		unsigned int op = ops[x % 6], code = op == WOP_NAK ?
				  ends[(x >> 8) % 3] :
				  op == WOP_REFUSED ? codes[(x >> 8) % 3] : 0;
		unsigned int gen = m.gen - (x >> 16) % 8 / 7;
		unsigned int attempt = m.attempt - (x >> 24) % 8 / 7;

		if (m.state == FL_TX_FREE) {
			bench_go(2, FL_OP_WRITE, 5000);
			m = (struct model){ .state = FL_TX_READY,
					    .gen = m.gen + 1 };
		} else if (m.state == FL_TX_DONE && x >> 60) {
			bench_act(2, NIC_CTX_CTRL_RELEASE, 0);
			m.state = FL_TX_FREE;
			done++;
		} else if (m.state == FL_TX_READY && x >> 62) {
			random_send(&m, 2, m.half || x >> 61 & 1);
		} else if (x >> 59 == 1) {
			bench_expire(2);
			if (m.state == FL_TX_FLYING ||
			    m.state == FL_TX_DSTFAULT) {
				m.state = FL_TX_READY;
				m.attempt = (m.attempt + 1) % 256;
				again++;
			}
		} else if (x >> 59 == 2 && !m.half) {
			bench_kill(2);
			if (m.state != FL_TX_FREE && m.state != FL_TX_DONE) {
				m.state = FL_TX_DONE;
				m.status = FL_ST_KILLED;
			}
		} else {
			bool named = gen == m.gen && attempt == m.attempt;
			unsigned int from = x >> 32 & 15 ? 3 : 4;

			if (op == WOP_NAK)
				bench_nak(from, 2, gen, attempt, code);
			else if (code)
				bench_refused(from, 2, gen, attempt, code);
			else
				bench_says(from, op, 2, gen, attempt);
			if (from != 3 || !named || !model_says(&m, op, code))
				stale++;
			bench_counts(STALE, stale);
		}
		model_check(&m, 2);
	}
	judge_at_least("blocks that came to an end", done, 50);
	judge_at_least("timers that ran out", again, 10);
}

/* One peer's context: what it sends now, and what the engine must not forget. */
struct sender {
	struct block b;
	bool acked;
};

static void sender_next_block(struct sender *s, unsigned int i)
{
	s->b.gen++;
	s->b.attempt = judge_random() & 0xff;
	s->b.seed++;
	s->b.va = VA(16 + 4 * i, 700 * i);
	s->b.len = 1 + judge_random() % 5000;
	s->acked = false;
}

static void sender_heard(struct sender *s, const struct sent *a)
{
	if (a->gen != (s->b.gen & 0xffff))
		return;
	if (a->op == WOP_ACK) {
		bench_landed(&s->b);
		s->acked = true;
	}
	if (a->op == WOP_READY && a->attempt == (s->b.attempt & 0xff))
		s->b.attempt++;
	judge_equal("NAK for a good block", a->op == WOP_NAK, 0);
}

/* The engine's side of the board: firmware, driver, both channels. A note waits for a round. */
static void hidden_serve(unsigned int rxc_busy, uint64_t *note)
{
	uint64_t fault, v = *note;

	if (v & NIC_ENG_EVT_POP_VALID &&
	    (v & NIC_ENG_EVT_POP_KIND_MASK) == FL_NOTE_RX_OPEN)
		bench_verdict(v >> NIC_ENG_EVT_POP_INDEX_SHIFT & 0xff,
			      v >> NIC_ENG_EVT_POP_SERIAL_SHIFT & 0xff, 0);
	if (rxc_busy % 4)
		bench_steps(WRITES, rxc_busy % 4);
	bench_look_around(note, &fault);
	if (fault & NIC_ENG_FLT_REF_VALID && rxc_busy & 8) {
		unsigned int index = fault >> NIC_ENG_FLT_REF_INDEX_SHIFT & 0xff;

		bench_ready(RX, index, bench_pop(RX, index), 0);
	}
}

JUDGE(random_cells, "cells lost, doubled, late: what is acknowledged is there")
{
	struct sender s[N];
	struct block old[N];
	const struct sent *a;
	unsigned int i, j, acked[N] = { 0 };
	uint64_t note = 0;

	bench_sized(8, 6);
	for (i = 0; i < N; i++) {
		s[i] = (struct sender){ .b = a_write };
		s[i].b.from = 3 + i % 2;
		s[i].b.ctx = i;
		s[i].b.gen = 65530 + i;
		s[i].b.seed = 16 * i;
		old[i] = s[i].b;
		sender_next_block(&s[i], i);
	}
	for (j = 0; j < 6000; j++) {
		uint64_t x = judge_random(), what = x >> 59;

		i = x % N;
		if (what < 2 && !s[i].acked) {
			s[i].b.attempt++;
		} else if (what < 5) {
			bench_cell(&old[i], (x >> 8) % CELLS(old[i].len));
		} else if (what < 7) {
			bench_page(16 + 4 * i + (x >> 8) % 2, !(x >> 16 & 3));
		} else if (what == 7 || (s[i].acked && what < 20)) {
			acked[i] += s[i].acked;
			old[i] = s[i].b;
			sender_next_block(&s[i], i);
		} else {
			bench_cell(&s[i].b, (x >> 8) % CELLS(s[i].b.len));
		}
		hidden_serve((unsigned int)(x >> 32 & 15), &note);
		while ((a = bench_take()))
			for (i = 0; i < N; i++)
				if (a->ctx == i && a->to == s[i].b.from)
					sender_heard(&s[i], a);
		for (i = 0; i < N; i++)
			if (s[i].acked)
				bench_landed(&s[i].b);
	}
	for (i = 0; i < N; i++)
		judge_at_least("blocks that were acknowledged", acked[i], 15);
}

JUDGE(around, "attempts go around: after 255 comes 0")
{
	unsigned int i;

	bench_new();
	bench_go(2, FL_OP_WRITE, 64);
	for (i = 0; i < 260; i++) {
		bench_run(SENDS);
		bench_sent_block(2, 1, i % 256, 64);
		if (i % 3 == 2) {
			bench_says(3, WOP_READY, 2, 1, i % 256);
			continue;
		}
		if (i % 3 == 1)
			bench_says(3, WOP_REFUSED, 2, 1, i % 256);
		bench_expire(2);
	}
	bench_tx(2, FL_TX_READY, 4);
}

JUDGE(nobody_starves, "who is sent again and again holds up nobody")
{
	unsigned int i, n[3] = { 0 };
	const struct sent *s;

	bench_new();
	for (i = 0; i < 3; i++)
		bench_go(i, FL_OP_WRITE, 64);
	for (i = 0; i < 60; i++) {
		judge_did("a burst begins, it ends, its cell leaves");
		bench_steps(SENDS, 3);
		s = bench_take();
		judge_equal("a cell has left", s != NULL, 1);
		judge_equal("its context is there", s->ctx < 3, 1);
		n[s->ctx]++;
		bench_expire(s->ctx);
	}
	for (i = 0; i < 3; i++)
		judge_equal("cells of each context", n[i], 20);
}
