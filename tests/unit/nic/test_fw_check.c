// SPDX-License-Identifier: BSD-2-Clause
/*
 * The firmware's checker: each rule is broken by hand, one field at a time, and it must say
 * which. (What rules of the order want is broken in test_fw_order.c and test_fw_elder.c.)
 */
#include "nic/fw_internal.h"
#include "rig/fw_unit.h"

/*
 * A READ of the peer's is being answered, and one block of a long request of ours is under way;
 * another request waits behind it.
 */
struct busy {
	struct rig *r;
	struct rig_slot w;
	struct fw *fw;
	struct fw_qp *q;
	struct fw_ctx *job, *c;
};

static void busy_make(struct busy *b)
{
	struct rig_rxc x;

	b->r = rig_create(8);
	rig_slot(b->r, &b->w, 1);
	x = (struct rig_rxc){ .src = RIG_NODE | b->w.qp << 8, .len = 100,
			      .op = WOP_READ_REQ, .va = RIG_VA, .rkey = b->w.key,
			      .from = RIG_PEER_QP };
	EXPECT_EQ(rig_open(b->r, 0, &x), FL_ST_OK);
	rig_post(b->r, &b->w, rig_wqe(&b->w, 100 * RIG_BLOCK));
	rig_post(b->r, &b->w, rig_wqe(&b->w, 100));
	b->fw = b->r->fw;
	b->q = &b->fw->qp[b->w.qp];
	b->job = &b->fw->ctx[b->r->order[0]];
	b->c = &b->fw->ctx[b->r->order[1]];
	EXPECT_EQ(b->job->owner, FW_CTX_JOB);
	EXPECT_EQ(b->c->owner, FW_CTX_REQUEST);
	EXPECT(!fw_check(b->fw));
}

TEST("a context, and whom it works for, agree")
{
	struct busy b;

	busy_make(&b);
	WRONG(b.r, b.q->wr[0].inflight, 0, "a request does not know of its context");
	WRONG(b.r, b.q->state, FW_QP_FREE, "a context works for a queue pair that is gone");
	WRONG(b.r, b.job->job, FW_READ_JOBS, "a context works for a job out of range");
	WRONG(b.r, b.job->job, 1, "a context works for a job that is not active");
	WRONG(b.r, b.fw->job[0].qp, 9, "a context and its job are of different queue pairs");
	WRONG(b.r, b.fw->job[0].ctx, 7, "a context works for a job that is not active");
	WRONG(b.r, b.c->aside, true, "a block is put aside, and nothing brings it back");
	WRONG(b.r, b.c->owner, FW_CTX_GONE, "the counts of contexts are wrong");
}

TEST("who asks the peer of a halted queue pair does so alone")
{
	struct busy b;

	busy_make(&b);
	WRONG(b.r, b.c->owner, FW_CTX_PAST,
	      "a peer is asked for a queue pair that has not halted");
	b.c->owner = FW_CTX_PAST;
	b.q->past = FW_PAST_ASKED;
	EXPECT_STR(fw_check(b.fw), "a peer is asked for a queue pair that has not halted");
	b.q->state = FW_QP_HALTED;
	b.q->halt_wr = 5;
	EXPECT_STR(fw_check(b.fw), "a peer is asked while requests are under way");
	b.q->halt_wr = b.q->wr_head;
	b.q->inflight = 3;
	EXPECT_STR(fw_check(b.fw), "a peer is asked while requests are under way");
}

TEST("a timer has its alarm, and a block that others wait for is being sent")
{
	struct busy b;
	uint32_t idle = 0;

	busy_make(&b);
	while (b.fw->ctx[idle].owner != FW_CTX_FREE)
		idle++;
	WRONG(b.r, b.fw->timed, 1u << idle, "a timer runs for a context that needs none");
	WRONG(b.r, b.fw->rx_timed, 1u << 3, "the alarm is later than a receive deadline");
	WRONG(b.r, b.fw->tx_elder, b.fw->contexts + 1,
	      "others wait for a block that nobody sends");
	WRONG(b.r, b.fw->tx_elder, idle + 1, "others wait for a block that nobody sends");
}

TEST("requests of a queue pair are given out in their order, and counted")
{
	struct busy b;

	busy_make(&b);
	WRONG(b.r, b.q->wr_issue, 1, "a request was passed over with bytes to send");
	WRONG(b.r, b.q->wr_issue, 2, "a request was passed over with bytes to send");
	WRONG(b.r, b.q->wr_issue, 3, "a queue pair holds more requests than it can");
	WRONG(b.r, b.fw->mr[b.q->wr[0].mr].active, 0,
	      "a request uses a region that is gone");
	WRONG(b.r, b.fw->mr[b.q->wr[0].mr].used, false,
	      "a request uses a region that is gone");
	WRONG(b.r, b.q->waiting, b.q->inflight + 1,
	      "a queue pair counts contexts that it does not have");
	WRONG(b.r, b.q->past, FW_PAST_ASKED,
	      "a queue pair counts contexts that it does not have");
	WRONG(b.r, b.fw->cq[b.w.cq].used, false, "a queue pair has no completion queue");
	WRONG(b.r, b.fw->cq[b.w.cq].users, 0, "a queue pair has no completion queue");
	STEP("it is in a set of those that send");
	fw_bits_set(&b.fw->send, b.w.qp);
	EXPECT(!fw_check(b.fw));
	WRONG(b.r, b.q->wr_issue, 2, "a queue pair is to send and has nothing");
	WRONG(b.r, b.q->wr[0].status, FL_ST_FLUSHED,
	      "a queue pair is to send and has nothing");
	STEP("a queue pair that nobody has made is active");
	fw_bits_set(&b.fw->active, 5);
	EXPECT_STR(fw_check(b.fw), "a queue pair that is gone is active");
	fw_bits_clear(&b.fw->active, 5);
	EXPECT(!fw_check(b.fw));
}

TEST("jobs and processes are in the sets and counts that they belong to")
{
	struct busy b;

	busy_make(&b);
	WRONG(b.r, b.fw->jobs_used.word[0], 0, "a job is not in the set of jobs");
	WRONG(b.r, b.fw->jobs_queued.word[0], 2, "a queued job is not in the queue");
	WRONG(b.r, b.fw->job[0].held, true, "a READ is held and not counted");
	WRONG(b.r, b.fw->slot[1].requests, 9,
	      "a process counts contexts that it does not have");
	WRONG(b.r, b.fw->slot[1].jobs, 9,
	      "a process counts contexts that it does not have");
	WRONG(b.r, b.fw->slot[1].requests_waiting, 9,
	      "a process counts contexts that it does not have");
	WRONG(b.r, b.fw->slot[1].jobs_waiting, 9,
	      "a process counts contexts that it does not have");
	WRONG(b.r, b.fw->slot[2].held.words, 1,
	      "a process is held back, and nothing lets it go");
	WRONG(b.r, b.fw->slots_open, 2, "the count of slots is wrong");
	WRONG(b.r, b.fw->eq.kinds, b.fw->eq.kinds ^ 1,
	      "the kinds of events that wait are wrong");
}

TEST("one side leaves the other its contexts")
{
	struct busy b;
	uint32_t contexts, free;

	busy_make(&b);
	EXPECT(b.job < &b.fw->ctx[2] && b.c < &b.fw->ctx[2]);
	contexts = b.fw->contexts;
	free = b.fw->free;
	STEP("a card that has no more contexts than these two");
	b.fw->contexts = 2;
	b.fw->free = 0;
	EXPECT_STR(fw_check(b.fw), "one side holds the contexts of the other");
	b.fw->contexts = contexts;
	b.fw->free = free;
	EXPECT(!fw_check(b.fw));
}

/* ---- queue pairs of a packet unit ---- */

TEST("a queue pair of a packet unit counts no contexts, and its unit knows its requests")
{
	struct unit *u = unit_rig();
	struct unit_side p;
	struct fw_qp *q;
	struct fw *fw;
	struct rig *r = u->r;
	uint32_t issued;

	unit_side(u, &p, 1);
	rig_post(r, &p.s, rig_wqe(&p.s, 100));
	fw = r->fw;
	q = &fw->qp[FW_QP_PLACE(p.s.qp)];
	EXPECT_EQ(q->wr[0].inflight, 1);
	WRONG(r, q->inflight, 1, "a queue pair of a packet unit counts contexts");
	WRONG(r, q->job_inflight, 1, "a queue pair of a packet unit counts contexts");
	WRONG(r, q->reads, 1, "a queue pair of a packet unit counts contexts");
	WRONG(r, q->wr[0].inflight, 2, "a request is with a unit that does not know it");
	WRONG(r, q->open, false, "a request is with a unit that does not know it");
	WRONG(r, q->wr[0].status, FL_ST_FLUSHED,
	      "a request has failed and its queue pair lives");
	WRONG(r, q->rq.tail, 17, "a queue pair has more receives than its queue");
	WRONG(r, q->state, FW_QP_ERROR,
	      "a unit carries requests of a queue pair that has failed");
	STEP("a part of it has been issued, and nobody has it");
	issued = q->wr[0].issued;
	q->wr[0].issued = 1;
	q->wr[0].inflight = 0;
	EXPECT_STR(fw_check(fw), "a request was not given to its unit");
	q->wr[0].issued = issued;
	q->wr[0].inflight = 1;
	unit_end(u, p.s.qp, FL_ST_OK);
}

TEST("a shared receive queue has its users, and no more receives than fit")
{
	struct unit *u = unit_rig();
	struct unit_side p;
	struct rig *r = u->r;
	struct fw_srq *s;
	uint32_t srq;

	unit_side(u, &p, 1);
	EXPECT_EQ(CMD(r, SRQ_CREATE, .slot = 1, .a = UNIT_SRQ(1), .b = 16, .c = p.s.pd),
		  FL_ST_OK);
	srq = (uint32_t)r->result;
	p.s.sq_pa = 0xA000;
	unit_qp(u, &p, srq + 1);
	s = &r->fw->srq[srq];
	EXPECT_EQ(s->users, 1);
	WRONG(r, s->users, 2, "the users of a shared receive queue are miscounted");
	WRONG(r, s->users, 0, "the users of a shared receive queue are miscounted");
	WRONG(r, s->used, false, "a shared receive queue is gone and in use");
	WRONG(r, s->rq.tail, 17, "a shared receive queue holds more than it can");
}
