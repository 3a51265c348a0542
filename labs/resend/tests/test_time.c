// SPDX-License-Identifier: BSD-2-Clause
/* Steps 5 to 7: answers that come early or too late, and what timers do. */
#include "labs/resend/tests/bench.h"

/* Two of the five cells have left, and there is no room for more. */
static void half_sent(void)
{
	bench_new();
	bench_room(2);
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_tx(2, FL_TX_READY, 0);
}

/* The other three leave, and no cell of another attempt. */
static void rest_leaves(void)
{
	bench_room(3);
	bench_run(SENDS);
}

JUDGE(nothing_left, "of an attempt of which nothing has left nobody can speak")
{
	bench_new();
	bench_go(2, FL_OP_WRITE, 5000);
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_tx(2, FL_TX_READY, 0);
	bench_steps(SENDS, 1);
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_counts(STALE, 2);
	bench_run(SENDS);
	bench_tx(2, FL_TX_FLYING, 0);
}

JUDGE(after_the_end, "what is DONE or FREE stays so")
{
	unsigned int i;

	bench_new();
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_says(3, WOP_ACK, 2, 1, 0);
	for (i = 0; i < 2; i++) {
		bench_says(3, WOP_ACK, 2, 1, 0);
		bench_says(3, WOP_REFUSED, 2, 1, 0);
		bench_says(3, WOP_READY, 2, 1, 0);
		bench_nak(3, 2, 1, 0, FL_ST_REMOTE_ACCESS);
		bench_counts(STALE, 4 * (i + 1));
		if (i == 0) {
			bench_ended(2, FL_ST_OK);
			bench_act(2, NIC_CTX_CTRL_RELEASE, 0);
		}
	}
	bench_tx(2, FL_TX_FREE, 0);
}

JUDGE(refused_twice, "what an answer cannot do in a state is stale")
{
	bench_new();
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_counts(STALE, 2);
	bench_tx(2, FL_TX_DSTFAULT, 0);
}

JUDGE(waits_its_turn, "the answer for a block that is not being sent is stale")
{
	half_sent();
	bench_go(5, FL_OP_WRITE, 5000);
	bench_says(3, WOP_ACK, 5, 1, 0);
	bench_counts(STALE, 1);
	bench_room(1000);
	bench_run(SENDS);
	bench_tx(5, FL_TX_FLYING, 0);
	bench_tx(2, FL_TX_FLYING, 0);
}

JUDGE(early_ack, "an answer to a block that is half sent waits for its end")
{
	half_sent();
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_tx(2, FL_TX_READY, 0);
	bench_counts(STALE, 0);
	rest_leaves();
	bench_ended(2, FL_ST_OK);
	bench_sent_block(2, 1, 0, 5000);
}

JUDGE(early_nak, "NAK by the first cell: its status is kept")
{
	half_sent();
	bench_nak(3, 2, 1, 0, FL_ST_REMOTE_ACCESS);
	bench_tx(2, FL_TX_READY, 0);
	rest_leaves();
	bench_ended(2, FL_ST_REMOTE_ACCESS);
	judge_did("the next block of the context knows nothing of it");
	bench_act(2, NIC_CTX_CTRL_RELEASE, 0);
	bench_room(1000);
	bench_go(2, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_tx(2, FL_TX_FLYING, 0);
}

JUDGE(early_ready, "READY takes the place of REFUSED")
{
	half_sent();
	bench_refused(3, 2, 1, 0, FL_ST_BUSY);
	rest_leaves();
	bench_tx(2, FL_TX_DSTFAULT, 0);
	bench_stands(2, FL_TX_DSTFAULT, FL_ST_BUSY);
	half_sent();
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_says(3, WOP_READY, 2, 1, 0);
	bench_room(3);
	bench_run(SENDS);
	bench_tx(2, FL_TX_READY, 1);
	bench_room(1000);
	bench_run(SENDS);
	bench_sent_block(2, 1, 0, 5000);
	bench_sent_block(2, 1, 1, 5000);
	bench_sent_nothing();
}

JUDGE(early_end, "nothing takes the place of an end, or of READY")
{
	half_sent();
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_nak(3, 2, 1, 0, FL_ST_REMOTE_ACCESS);
	rest_leaves();
	bench_ended(2, FL_ST_OK);
	half_sent();
	bench_nak(3, 2, 1, 0, FL_ST_REMOTE_ACCESS);
	bench_says(3, WOP_ACK, 2, 1, 0);
	rest_leaves();
	bench_ended(2, FL_ST_REMOTE_ACCESS);
	half_sent();
	bench_says(3, WOP_READY, 2, 1, 0);
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	rest_leaves();
	bench_tx(2, FL_TX_READY, 1);
}

static void time_flying(void)
{
	bench_new();
	bench_go(2, FL_OP_WRITE, 5000);
	bench_run(SENDS);
	bench_sent_block(2, 1, 0, 5000);
	bench_tx(2, FL_TX_FLYING, 0);
}

JUDGE(expire, "the timer has a flying block sent again, as the next attempt")
{
	time_flying();
	bench_expire(2);
	bench_tx(2, FL_TX_READY, 1);
	bench_run(SENDS);
	bench_sent_block(2, 1, 1, 5000);
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_tx(2, FL_TX_FLYING, 1);
	bench_says(3, WOP_ACK, 2, 1, 1);
	bench_ended(2, FL_ST_OK);
}

JUDGE(expire_refused, "and one that was refused, whose READY may be lost")
{
	time_flying();
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_expire(2);
	bench_tx(2, FL_TX_READY, 1);
	bench_run(SENDS);
	bench_sent_block(2, 1, 1, 5000);
	bench_says(3, WOP_READY, 2, 1, 0);
	bench_tx(2, FL_TX_FLYING, 1);
	bench_counts(STALE, 1);
}

JUDGE(expire_late, "a timer that is late changes nothing, and is no error")
{
	unsigned int i;

	time_flying();
	bench_expire(2);
	for (i = 0; i < 3; i++)
		bench_expire(2);
	bench_tx(2, FL_TX_READY, 1);
	bench_run(SENDS);
	bench_says(3, WOP_ACK, 2, 1, 1);
	bench_expire(2);
	bench_tx(2, FL_TX_DONE, 1);
	bench_act(2, NIC_CTX_CTRL_RELEASE, 0);
	bench_expire(2);
	bench_tx(2, FL_TX_FREE, 1);
	bench_page(4, true);
	bench_go(2, FL_OP_WRITE, 64);
	bench_run(SENDS);
	bench_expire(2);
	bench_tx(2, FL_TX_SRCFAULT, 0);
}

JUDGE(kill, "KILL ends a block in every state, with the firmware's status")
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		bench_new();
		bench_page(4, i == 2);
		bench_go(2, FL_OP_WRITE, 5000);
		if (i)
			bench_run(SENDS);
		if (i == 3)
			bench_says(3, WOP_REFUSED, 2, 1, 0);
		bench_kill(2);
		bench_ended(2, FL_ST_KILLED);
		judge_did("a second one comes too late");
		bench_act(2, NIC_CTX_CTRL_KILL, FL_ST_NO_ANSWER);
		bench_ended(2, FL_ST_KILLED);
		bench_act(2, NIC_CTX_CTRL_RELEASE, 0);
		bench_kill(2);
		bench_tx(2, FL_TX_FREE, 0);
	}
}

JUDGE(kill_why, "KILL without a status is refused")
{
	struct subject_msg m = { .op = LAB_REG_WRITE,
		.arg = { NIC_CTX_BASE(2) + NIC_CTX_CTRL, 4,
			 NIC_CTX_CTRL_KILL } };

	time_flying();
	judge_did("context 2: KILL, status 0");
	judge_ask(&m);
	judge_equal("the register write was refused", m.arg[0], 1);
	bench_tx(2, FL_TX_FLYING, 0);
}

JUDGE(kill_half, "killed half sent: what is said of the old block is stale")
{
	half_sent();
	bench_says(3, WOP_REFUSED, 2, 1, 0);
	bench_kill(2);
	bench_act(2, NIC_CTX_CTRL_RELEASE, 0);
	bench_go(2, FL_OP_WRITE, 64);
	bench_says(3, WOP_ACK, 2, 1, 0);
	bench_says(3, WOP_ACK, 2, 2, 0);
	bench_counts(STALE, 2);
	bench_room(1000);
	bench_run(SENDS);
	bench_tx(2, FL_TX_FLYING, 0);
}
