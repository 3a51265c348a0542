// SPDX-License-Identifier: BSD-2-Clause
/* The checker's questions: do the firmware's tables agree with each other? */
#include "nic/fw_internal.h"

struct tally {
	uint32_t request_ctxs, job_ctxs, free, active;
	uint16_t requests[FW_SLOTS], jobs[FW_SLOTS];
};

/* Contexts that work for request number `wr` of a queue pair. */
static uint32_t held_by(const struct fw *fw, uint32_t qp, uint32_t wr)
{
	uint32_t i, n = 0;

	for (i = 0; i < fw->contexts; i++)
		if (fw->ctx[i].owner == FW_CTX_REQUEST &&
		    fw->ctx[i].qp == qp && fw->ctx[i].wr == wr)
			n++;
	return n;
}

static const char *check_request_ctx(const struct fw *fw,
				     const struct fw_ctx *c)
{
	const struct fw_qp *q = &fw->qp[c->qp];

	if (q->state == FW_QP_FREE || q->state == FW_QP_DYING)
		return "a context works for a queue pair that is gone";
	if (c->wr - q->wr_head >= q->wr_tail - q->wr_head)
		return "a context works for a request that has completed";
	if (!q->wr[c->wr % FW_QP_WRS].inflight)
		return "a request does not know of its context";
	return NULL;
}

static const char *check_past_ctx(const struct fw *fw, const struct fw_ctx *c)
{
	const struct fw_qp *q = &fw->qp[c->qp];

	if (q->past != FW_PAST_ASKED ||
	    (q->state != FW_QP_HALTED && q->state != FW_QP_ERROR))
		return "a peer is asked for a queue pair that has not halted";
	if (q->wr_head != q->halt_wr || q->inflight != 1)
		return "a peer is asked while requests are under way";
	return NULL;
}

static const char *check_job_ctx(const struct fw *fw, const struct fw_ctx *c)
{
	const struct fw_job *j;

	if (c->job >= FW_READ_JOBS)
		return "a context works for a job out of range";
	j = &fw->job[c->job];
	if (j->state != FW_JOB_ACTIVE || &fw->ctx[j->ctx] != c)
		return "a context works for a job that is not active";
	if (j->qp != c->qp)
		return "a context and its job are of different queue pairs";
	return NULL;
}

/* Whoever waits must be woken: by a timer, or when its turn comes. */
static const char *check_waiting(const struct fw *fw, const struct fw_ctx *c)
{
	if (c->again && !c->killed)
		return "a context is to start anew and was not ended";
	if (!c->parked || c->killed)
		return NULL;
	if (c->owner != FW_CTX_REQUEST || !c->waiting)
		return "a block is parked and does not wait";
	if (c->wr == fw->qp[c->qp].wr_head)
		return "a block is parked and its turn has come";
	return NULL;
}

static const char *check_contexts(const struct fw *fw, struct tally *t)
{
	const char *wrong = NULL;
	uint32_t i, left;

	for (i = 0; i < FW_CTXS && !wrong; i++) {
		const struct fw_ctx *c = &fw->ctx[i];
		bool timed = fw->timed >> i & 1;

		if (c->owner == FW_CTX_FREE && i < fw->contexts)
			t->free |= 1u << i;
		if (timed && (c->owner == FW_CTX_FREE || c->killed))
			return "a timer runs for a context that needs none";
		if (timed && c->deadline_ns < fw->alarm_ns)
			return "the alarm is later than a deadline";
		if (c->owner != FW_CTX_FREE && c->aside &&
		    (!fw->tx_elder || timed || c->killed))
			return "a block is put aside, and nothing brings it back";
		if (c->owner != FW_CTX_FREE)
			wrong = check_waiting(fw, c);
		if (wrong)
			return wrong;
		if (c->owner == FW_CTX_REQUEST) {
			t->request_ctxs++;
			t->requests[fw->qp[c->qp].slot]++;
			wrong = check_request_ctx(fw, c);
		} else if (c->owner == FW_CTX_PAST) {
			t->request_ctxs++;
			t->requests[fw->qp[c->qp].slot]++;
			wrong = check_past_ctx(fw, c);
		} else if (c->owner == FW_CTX_JOB) {
			t->job_ctxs++;
			t->jobs[fw->qp[c->qp].slot]++;
			wrong = check_job_ctx(fw, c);
		}
	}
	for (left = fw->rx_timed; left && !wrong; left &= left - 1)
		if (fw->rx[__builtin_ctz(left)].deadline_ns < fw->alarm_ns)
			wrong = "the alarm is later than a receive deadline";
	return wrong;
}

/* A queue pair that has been connected and not destroyed. */
static bool is_up(const struct fw *fw, uint32_t n)
{
	return n < FW_QPS && (fw_qp_hears(&fw->qp[n]) ||
			      fw->qp[n].state == FW_QP_ERROR);
}

/* Blocks that come in and wait for their turn. */
static const char *check_held(const struct fw *fw)
{
	uint32_t left = fw->rx_held, i;

	if (fw->rx_held & (fw->rx_accepted | ~fw->rx_timed))
		return "a held context is accepted, or has no timer";
	if ((uint32_t)__builtin_popcount(fw->rx_held) > fw->rx_contexts / 2)
		return "too many contexts are held";
	for (; left; left &= left - 1) {
		i = (uint32_t)__builtin_ctz(left);
		if (!is_up(fw, fw->rx[i].qp))
			return "a context is held for a queue pair that is gone";
		if (fw_order_now(fw, fw->rx[i].qp, &fw->rx[i].turn) !=
		    FW_TURN_LATER)
			return "a context is held and its turn has come";
	}
	if (fw->tx_elder && (fw->tx_elder > fw->contexts ||
			     fw->ctx[fw->tx_elder - 1].owner == FW_CTX_FREE ||
			     fw->tx_elder_until_ns < fw->alarm_ns))
		return "others wait for a block that nobody sends";
	if (fw->tx_elder &&
	    fw->tx_elder_until_ns > fw->now_ns + FW_ELDER_SILENT *
					    fw->cfg.fault_timeout_ns)
		return "others wait for a block longer than its peer is asked";
	if (fw->rx_elder.there &&
	    fw->rx_elder.until_ns > fw->now_ns + fw->cfg.fault_timeout_ns)
		return "others wait for a block longer than its sender";
	return NULL;
}

/* Queue pairs whose requests a packet unit carries: contexts have no part in it. */
static const char *check_unit(const struct fw *fw, uint32_t n)
{
	const struct fw_qp *q = &fw->qp[n];
	uint32_t i;

	if (q->inflight || q->job_inflight || q->reads)
		return "a queue pair of a packet unit counts contexts";
	for (i = q->wr_head; i != q->wr_tail; i++) {
		const struct fw_wr *wr = &q->wr[i % FW_QP_WRS];

		if (wr->inflight > 1 || (wr->inflight && !q->open))
			return "a request is with a unit that does not know it";
		if (!wr->inflight && !wr->status && wr->issued != wr->length)
			return "a request was not given to its unit";
		if (wr->status && !q->stuck && fw_qp_lives(q))
			return "a request has failed and its queue pair lives";
	}
	if ((uint16_t)(q->rq.tail - q->rq.head) > 1u << q->rq.size_log2)
		return "a queue pair has more receives than its queue";
	if (q->open && !fw_qp_lives(q))
		return "a unit carries requests of a queue pair that has failed";
	return NULL;
}

static const char *check_srqs(const struct fw *fw)
{
	uint32_t users[FW_SRQS] = { 0 }, i;

	for (i = 0; i < FW_QPS; i++)
		if (fw->qp[i].state != FW_QP_FREE &&
		    fw->qp[i].srq < FW_SRQS)
			users[fw->qp[i].srq]++;
	for (i = 0; i < FW_SRQS; i++) {
		const struct fw_srq *s = &fw->srq[i];

		if (s->users != users[i])
			return "the users of a shared receive queue are miscounted";
		if (users[i] && !s->used)
			return "a shared receive queue is gone and in use";
		if (s->used && (uint16_t)(s->rq.tail - s->rq.head) >
				       1u << s->rq.size_log2)
			return "a shared receive queue holds more than it can";
	}
	return NULL;
}

static const char *check_ring(const struct fw *fw, uint32_t n)
{
	const struct fw_qp *q = &fw->qp[n];
	uint32_t i, inflight = 0, reads = 0;

	for (i = q->wr_head; i != q->wr_tail; i++) {
		const struct fw_wr *wr = &q->wr[i % FW_QP_WRS];

		if (held_by(fw, n, i) != wr->inflight)
			return "a request counts contexts it does not have";
		if (!wr->status && wr->issued > wr->length)
			return "more was sent than the request is long";
		if (!wr->status && i - q->wr_head < q->wr_issue - q->wr_head &&
		    wr->issued != wr->length)
			return "a request was passed over with bytes to send";
		if (wr->mr != FW_NONE && (!fw->mr[wr->mr].used ||
					  !fw->mr[wr->mr].active))
			return "a request uses a region that is gone";
		inflight += wr->inflight;
		reads += wr->opcode == FL_OP_READ && wr->inflight &&
			 wr->issued == wr->length;
	}
	if (reads != q->reads && q->state != FW_QP_DYING)
		return "a queue pair counts READs that it does not have";
	inflight += q->past == FW_PAST_ASKED;
	if (inflight != q->inflight || q->waiting > q->inflight)
		return "a queue pair counts contexts that it does not have";
	return NULL;
}

static const char *check_qp(const struct fw *fw, uint32_t n)
{
	const struct fw_qp *q = &fw->qp[n];
	const struct fw_slot *s = &fw->slot[q->slot];
	uint32_t held = q->wr_tail - q->wr_head;

	if (q->state == FW_QP_FREE)
		return "a queue pair that is gone is active";
	if (held > FW_QP_WRS || q->wr_issue - q->wr_head > held)
		return "a queue pair holds more requests than it can";
	if ((uint16_t)(q->tail - q->head) > 1u << q->size_log2)
		return "a queue pair has more requests than its queue";
	if (q->cq >= FW_CQS || !fw->cq[q->cq].used || !fw->cq[q->cq].users)
		return "a queue pair has no completion queue";
	if ((fw_bits_has(&fw->send, n) || fw_bits_has(&s->held, n)) &&
	    !fw_halt_due(q) && (q->wr_issue == q->wr_tail ||
	     q->wr[q->wr_issue % FW_QP_WRS].status))
		return "a queue pair is to send and has nothing";
	if (q->inflight > fw->contexts - FW_RESERVE)
		return "a queue pair holds the contexts of the others";
	if (fw->cq[q->cq].prod - fw->cq[q->cq].cons >
	    1ull << fw->cq[q->cq].size_log2)
		return "a completion queue was overwritten";
	return q->unit ? check_unit(fw, n) : check_ring(fw, n);
}

/* Each job is in the sets that its state says. */
static const char *check_job_sets(const struct fw *fw)
{
	const struct fw_job *j = fw->job;
	uint32_t used, queued, w, i;

	for (w = 0; w < FW_READ_JOBS / 32; w++) {
		used = queued = 0;
		for (i = 0; i < 32; i++, j++) {
			used |= (uint32_t)(j->state != FW_JOB_FREE) << i;
			queued |= (uint32_t)(j->state == FW_JOB_QUEUED) << i;
		}
		if (used != fw->jobs_used.word[w])
			return "a job is not in the set of jobs";
		if (queued != fw->jobs_queued.word[w])
			return "a queued job is not in the queue";
	}
	return NULL;
}

static const char *check_job(const struct fw *fw, uint32_t i)
{
	const struct fw_job *j = &fw->job[i];

	if (fw->peer[j->node][j->peer_ctx].job != i + 1)
		return "a job does not belong to its peer";
	if (!is_up(fw, j->qp))
		return "a job is of a queue pair that is gone";
	if (j->held && !fw->jobs_held)
		return "a READ is held and not counted";
	if (j->state == FW_JOB_QUEUED && j->deadline_ns < fw->alarm_ns)
		return "the alarm is later than a READ's deadline";
	if (j->state == FW_JOB_ACTIVE &&
	    (fw->ctx[j->ctx].owner != FW_CTX_JOB || fw->ctx[j->ctx].job != i))
		return "an active job has no context";
	return NULL;
}

static const char *check_jobs(const struct fw *fw)
{
	const char *wrong = check_job_sets(fw);
	uint32_t w, left;

	for (w = 0; w < FW_READ_JOBS / 32; w++)
		for (left = fw->jobs_used.word[w]; left && !wrong;
		     left &= left - 1)
			wrong = check_job(fw, w * 32 +
					  (uint32_t)__builtin_ctz(left));
	return wrong;
}

static const char *check_slots(const struct fw *fw, const struct tally *t)
{
	uint32_t open = 0, i;

	for (i = 0; i < FW_SLOTS; i++) {
		const struct fw_slot *s = &fw->slot[i];

		open += s->open;
		if (t->requests[i] != s->requests || t->jobs[i] != s->jobs ||
		    s->requests_waiting > s->requests ||
		    s->jobs_waiting > s->jobs)
			return "a process counts contexts that it does not have";
		if (s->held.words && !s->requests)
			return "a process is held back, and nothing lets it go";
	}
	return open == fw->slots_open ? NULL : "the count of slots is wrong";
}

static const char *check_events(const struct fw *fw)
{
	const struct fw_eq *q = &fw->eq;
	uint32_t i;

	if (q->prod - q->cons > q->size)
		return "the event queue was overwritten";
	for (i = 0; i < FW_EVENT_KINDS; i++)
		if (!(q->kinds >> i & 1) != !q->pending[i].words)
			return "the kinds of events that wait are wrong";
	return NULL;
}

const char *fw_check(const struct fw *fw)
{
	struct tally t = { 0 };
	const char *wrong = check_contexts(fw, &t);
	struct fw_bits left = fw->active;

	if (wrong)
		return wrong;
	if (t.free != fw->free || t.request_ctxs != fw->request_ctxs ||
	    t.job_ctxs != fw->job_ctxs)
		return "the counts of contexts are wrong";
	if (t.request_ctxs > fw->contexts - FW_RESERVE ||
	    t.job_ctxs > fw->contexts - FW_RESERVE)
		return "one side holds the contexts of the other";
	while (left.words) {
		uint32_t n = fw_bits_next(&left, FW_BITS_MAX - 1);

		fw_bits_clear(&left, n);
		t.active++;
		wrong = check_qp(fw, n);
		if (wrong)
			return wrong;
	}
	if (t.active != fw->active_count)
		return "the count of active queue pairs is wrong";
	wrong = check_events(fw);
	if (!wrong && fw->srqs)
		wrong = check_srqs(fw);
	if (!wrong)
		wrong = check_slots(fw, &t);
	if (!wrong)
		wrong = check_held(fw);
	return wrong ? wrong : check_jobs(fw);
}
