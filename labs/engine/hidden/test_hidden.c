// SPDX-License-Identifier: BSD-2-Clause
/* Not in the handout: faults on both sides, and contexts at random. */
#include "labs/resend/tests/bench.h"

#define N	4
#define LEN	700u

/* What a context is, as plain as can be. */
struct model {
	unsigned int state, gen, attempt, status, serial;
	bool missing;
};

/* The read channel runs: a READY context parks, or its block leaves. */
static void model_serve(struct model *m, unsigned int i)
{
	bench_run(SENDS);
	if (m->missing) {
		m->state = FL_TX_SRCFAULT;
		m->serial = bench_pop(TX, i);
	} else {
		m->state = FL_TX_FLYING;
		bench_sent_block(i, m->gen, m->attempt, LEN);
	}
	bench_sent_nothing();
	bench_faults(0);
}

static void model_finish(struct model *m, unsigned int status)
{
	m->state = FL_TX_DONE;
	m->status = status;
}

static void model_again(struct model *m, unsigned int i)
{
	m->attempt = (m->attempt + 1) % 256;
	model_serve(m, i);
}

static void model_source(struct model *m, unsigned int i, unsigned int what)
{
	if (what == 0) {
		bench_ready(TX, i, m->serial + 1, 0);
	} else if (what == 1) {
		bench_expire(i);
	} else if (what == 2) {
		bench_ready(TX, i, m->serial, FL_ST_REMOTE_FAULT);
		model_finish(m, FL_ST_LOCAL_FAULT);
	} else {
		m->missing = what == 3;
		bench_page(2 * i, m->missing);
		bench_ready(TX, i, m->serial, 0);
		model_serve(m, i);
	}
}

/* FLYING or DSTFAULT. */
static void model_peer(struct model *m, unsigned int i, unsigned int what)
{
	bool flying = m->state == FL_TX_FLYING;

	switch (what) {
	case 0:
		bench_says(3, WOP_ACK, i, m->gen, m->attempt);
		if (flying)
			model_finish(m, FL_ST_OK);
		break;
	case 1:
	case 2:
		bench_says(3, WOP_REFUSED, i, m->gen, m->attempt);
		m->state = FL_TX_DSTFAULT;
		break;
	case 3:
		bench_nak(3, i, m->gen, m->attempt, FL_ST_REMOTE_FAULT);
		model_finish(m, FL_ST_REMOTE_FAULT);
		break;
	case 4:
		bench_says(3, WOP_ACK, i, m->gen, m->attempt - 1);
		break;
	case 5:
		bench_expire(i);
		model_again(m, i);
		break;
	default:
		bench_says(3, WOP_READY, i, m->gen, m->attempt);
		model_again(m, i);
	}
}

static void model_act(struct model *m, unsigned int i, uint64_t x)
{
	if (m->state == FL_TX_FREE) {
		m->missing = x & 1;
		bench_page(2 * i, m->missing);
		bench_go(i, FL_OP_WRITE, LEN);
		m->gen++;
		m->attempt = 0;
		model_serve(m, i);
	} else if (m->state == FL_TX_DONE) {
		bench_ended(i, m->status);
		bench_act(i, NIC_CTX_CTRL_RELEASE, 0);
		m->state = FL_TX_FREE;
	} else if (x % 16 == 15) {
		bench_kill(i);
		model_finish(m, FL_ST_KILLED);
	} else if (m->state == FL_TX_SRCFAULT) {
		model_source(m, i, x % 6);
	} else {
		model_peer(m, i, x % 8);
	}
}

JUDGE(random_faults, "four contexts, pages that come and go, answers, timers")
{
	struct model m[N] = { 0 };
	unsigned int i, j;

	bench_new();
	for (j = 0; j < 250; j++) {
		uint64_t x = judge_random();

		model_act(&m[x % N], x % N, x >> 8 & 0xffff);
		for (i = 0; i < N; i++)
			bench_tx(i, m[i].state, m[i].attempt);
	}
}

JUDGE(both_sides, "source and destination wait; each goes on by its own READY")
{
	struct block next = bench_attempt(100, 1);
	unsigned int rxc, tx, rx;

	bench_new();
	bench_page(5, true);
	bench_page(41, true);
	bench_go(0, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_note(FL_NOTE_TX_FLYING);
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_note(FL_NOTE_TX_WAITING);
	bench_sent_block(0, 1, 0, 64);
	rxc = bench_land(&a_write);
	bench_sent_answer(&a_write, WOP_REFUSED, 0, 2);
	bench_faults(2);
	tx = bench_pop(TX, 2);
	rx = bench_pop(RX, rxc);
	bench_page(5, false);
	bench_page(41, false);
	bench_ready(RX, rxc, rx, 0);
	bench_sent_answer(&a_write, WOP_READY, 0, 0);
	bench_tx(2, FL_TX_SRCFAULT, 0);
	bench_land(&next);
	bench_sent_answer(&next, WOP_ACK, 0, 0);
	bench_landed(&next);
	bench_ready(TX, 2, tx, 0);
	bench_run(SENDS);
	bench_sent_block(2, 1, 0, 5000);
	bench_tx(0, FL_TX_FLYING, 0);
}
