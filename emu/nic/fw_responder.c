// SPDX-License-Identifier: BSD-2-Clause
/*
 * The responder: judges what comes in, and answers READs.
 *
 * A READ request that is accepted becomes a job, which waits for a context and
 * is then a block like any other. When it fails nothing can be sent to the peer
 * for the request that was taken over; the status is kept, and the peer, whose
 * timer makes it ask again, gets it as the verdict (struct fw_peer).
 */
#include "nic/fw_internal.h"

#define SMALL_BYTES	64	/* never more than one cell (engine.h) */

/* Registers of a receive context in CHECK. */
struct incoming {
	uint64_t va, left;
	uint32_t op, node, qpn, len, key, word, xfer, block;
};

static void incoming_read(struct fw *fw, uint32_t rxc, struct incoming *in)
{
	uint32_t base = NIC_RXC_BASE(rxc), src;

	src = fw_read32(fw, base + NIC_RXC_SRC);
	in->node = (src & NIC_RXC_SRC_NODE_MASK) >> NIC_RXC_SRC_NODE_SHIFT;
	in->qpn = (src & NIC_RXC_SRC_QPN_MASK) >> NIC_RXC_SRC_QPN_SHIFT;
	in->op = fw_read32(fw, base + NIC_RXC_OP);
	in->va = fw_read64(fw, base + NIC_RXC_VA);
	in->len = fw_read32(fw, base + NIC_RXC_LEN);
	in->key = fw_read32(fw, base + NIC_RXC_RKEY);
	in->left = fw_read64(fw, base + NIC_RXC_LEFT);
	in->word = fw_read32(fw, base + NIC_RXC_WORD);
	in->xfer = fw_read32(fw, base + NIC_RXC_XFER);
	in->block = fw_read32(fw, base + NIC_RXC_BLOCK);
}

/*
 * May the peer do this? The rest of the transfer is looked at as well: one that
 * runs over the end of the region is refused from its first block on.
 */
static uint8_t check_access(const struct fw *fw, const struct fw_qp *q,
			    uint8_t right, const struct incoming *in)
{
	struct fw_range r = {
		.key = in->key, .slot = q->slot, .pd = q->pd, .right = right,
		.va = in->va, .bytes = in->len + in->left,
	};

	if (!in->len || in->len > fw->block_bytes)
		return FL_ST_BAD_LENGTH;
	if (r.bytes < in->left)
		r.bytes = UINT64_MAX;	/* the sum wrapped: no region has it */
	switch (fw_mr_check(fw, &r, NULL)) {
	case FW_MR_KEY:
		return FL_ST_REMOTE_KEY;
	case FW_MR_RANGE:
		return FL_ST_REMOTE_RANGE;
	case FW_MR_RIGHTS:
		return FL_ST_REMOTE_RIGHTS;
	case FW_MR_OK:
		break;
	}
	return FL_ST_OK;
}

static void job_free(struct fw *fw, uint32_t n)
{
	struct fw_job *j = &fw->job[n];

	fw_assert(j->state != FW_JOB_FREE);
	j->state = FW_JOB_FREE;
	fw_bits_clear(&fw->jobs_queued, n);
	fw_bits_clear(&fw->jobs_used, n);
	fw->peer[j->node][j->peer_ctx].job = 0;
}

static void job_drop(struct fw *fw, uint32_t n)
{
	if (fw->job[n].state == FW_JOB_ACTIVE)
		fw_ctx_abandon(fw, &fw->ctx[fw->job[n].ctx]);
	job_free(fw, n);
}

/*
 * The engine writes no more of a block whose verdict is taken back. A block that
 * waits for a page is judged anew when it comes again.
 */
static void rx_stop(struct fw *fw, uint32_t rxc)
{
	uint32_t base = NIC_RXC_BASE(rxc), state;

	fw->rx_accepted &= ~(1u << rxc);
	fw_timer_collect_stop(fw, rxc);
	state = (fw_read32(fw, base + NIC_RXC_STATE) &
		 NIC_RXC_STATE_STATE_MASK) >> NIC_RXC_STATE_STATE_SHIFT;
	/* Almost always the block has landed long ago. */
	if (state == FL_RX_COLLECT || state == FL_RX_WRITE)
		fw_write32(fw, base + NIC_RXC_VERDICT,
			   (uint32_t)FL_ST_KILLED <<
				   NIC_RXC_VERDICT_CODE_SHIFT |
			   (uint32_t)fw->rx[rxc].serial <<
				   NIC_RXC_VERDICT_SERIAL_SHIFT);
}

void fw_rx_stop_qp(struct fw *fw, uint16_t n)
{
	uint32_t i, left;

	for (left = fw->rx_accepted; left; left &= left - 1) {
		i = (uint32_t)__builtin_ctz(left);
		if (fw->rx[i].qp == n)
			rx_stop(fw, i);
	}
	for (i = 0; i < FW_READ_JOBS; i++)
		if (fw->job[i].state != FW_JOB_FREE && fw->job[i].qp == n)
			job_drop(fw, i);
}

void fw_rx_stop_key(struct fw *fw, uint32_t key)
{
	uint32_t i, left;

	for (left = fw->rx_accepted; left; left &= left - 1) {
		i = (uint32_t)__builtin_ctz(left);
		if (fw->rx[i].key == key)
			rx_stop(fw, i);
	}
	/* A job that has not begun looks at the region before it does. */
	for (i = 0; i < FW_READ_JOBS; i++)
		if (fw->job[i].state == FW_JOB_ACTIVE && fw->job[i].key == key)
			job_drop(fw, i);
}

/* The job is over; keep its status for when the peer asks again. */
static void job_fail(struct fw *fw, uint32_t n, uint8_t status)
{
	const struct fw_job *j = &fw->job[n];
	struct fw_peer *p = &fw->peer[j->node][j->peer_ctx];

	p->status = status;
	/* Longer than a living peer keeps silent; then its count may wrap. */
	p->until_ns = fw->now_ns +
		      (fw->cfg.tries + 2ull) * fw->cfg.fault_timeout_ns;
	job_free(fw, n);
}

static uint8_t job_open(struct fw *fw, const struct incoming *in, uint16_t qp)
{
	uint32_t w, n, ctx = in->word >> 24;
	uint16_t gen = (uint16_t)(in->word >> 8);
	struct fw_peer *p;

	if (ctx >= FW_CTXS)
		return FL_ST_BAD_ENTRY;
	p = &fw->peer[in->node][ctx];
	if (p->job && p->gen == gen)
		return FL_ST_WAIT;
	if (p->status && p->gen == gen && fw->now_ns < p->until_ns)
		return p->status;
	if (p->job) {
		/*
		 * The peer has given the older block up; or this is a
		 * straggler.
		 */
		if ((uint16_t)(gen - p->gen) >> 15)
			return FL_ST_STALE;
		job_drop(fw, p->job - 1u);
	}
	for (w = 0; w < FW_READ_JOBS / 32 && !~fw->jobs_used.word[w]; w++)
		;
	if (w == FW_READ_JOBS / 32)
		return FL_ST_WAIT;
	n = w * 32 + (uint32_t)__builtin_ctz(~fw->jobs_used.word[w]);
	fw->job[n] = (struct fw_job){
		.va = in->va, .left = in->left, .len = in->len, .key = in->key,
		.word = in->word, .xfer = in->xfer, .block = in->block,
		.qp = qp, .node = (uint8_t)in->node, .peer_ctx = (uint8_t)ctx,
		.state = FW_JOB_QUEUED,
	};
	fw_bits_set(&fw->jobs_used, n);
	fw_bits_set(&fw->jobs_queued, n);
	*p = (struct fw_peer){ .gen = gen, .job = (uint8_t)(n + 1) };
	fw->stats.read_jobs++;
	return FL_ST_OK;
}

static uint8_t incoming_judge(struct fw *fw, const struct incoming *in)
{
	const struct fw_qp *q;
	uint8_t status;

	if (in->op != WOP_WRITE && in->op != WOP_READ_REQ)
		return FL_ST_BAD_OPCODE;
	if (in->qpn >= FW_QPS)
		return FL_ST_REMOTE_QP;
	q = &fw->qp[in->qpn];
	if (q->state != FW_QP_CONNECTED || q->peer_node != in->node)
		return FL_ST_REMOTE_QP;
	if (in->op == WOP_WRITE)
		return check_access(fw, q, FL_ACC_REMOTE_WRITE, in);
	status = check_access(fw, q, FL_ACC_REMOTE_READ, in);
	return status ? status : job_open(fw, in, (uint16_t)in->qpn);
}

void fw_rx_open(struct fw *fw, uint32_t rxc, uint8_t serial)
{
	struct incoming in;
	uint32_t verdict;
	uint8_t status;
	uint64_t seq;

	incoming_read(fw, rxc, &in);
	status = incoming_judge(fw, &in);
	fw->stats.rx_checks++;
	if (status && status != FL_ST_WAIT)
		fw->stats.rx_refused++;
	seq = fw_trace(fw, FW_TRACE_FW_CHECK,
		       (struct fw_at){ in.xfer, in.block, 0 }, rxc, in.qpn,
		       in.va, status);
	verdict = (uint32_t)status << NIC_RXC_VERDICT_CODE_SHIFT |
		  (uint32_t)serial << NIC_RXC_VERDICT_SERIAL_SHIFT;
	if (!status) {
		const struct fw_slot *s = &fw->slot[fw->qp[in.qpn].slot];

		verdict |= (uint32_t)s->stream << NIC_RXC_VERDICT_STREAM_SHIFT;
		if (in.op == WOP_READ_REQ)
			fw->job[fw->peer[in.node][in.word >> 24].job - 1].cause
				= seq;
	}
	fw->rx_accepted &= ~(1u << rxc);
	fw->rx_timed &= ~(1u << rxc);
	if (!status && in.op == WOP_WRITE) {
		fw->rx[rxc] = (struct fw_rx){
			.word = in.word, .key = in.key,
			.qp = (uint16_t)in.qpn, .serial = serial,
		};
		fw->rx_accepted |= 1u << rxc;
	}
	fw_write32(fw, NIC_RXC_BASE(rxc) + NIC_RXC_VERDICT, verdict);
	/* One cell was enough for the small ones: they lack none. */
	if (!status && in.op == WOP_WRITE && in.len > SMALL_BYTES)
		fw_timer_collect(fw, rxc);
}

/* Who waits for a page does not collect what others could use (fw_sched.c). */
static bool job_may(const struct fw *fw, const struct fw_qp *q)
{
	return !q->job_waiting || q->job_inflight < fw->cfg.waiting_share;
}

static void job_start(struct fw *fw, uint32_t n)
{
	struct fw_job *j = &fw->job[n];
	const struct fw_qp *q = &fw->qp[j->qp];
	struct fw_block b = {
		.op = FL_OP_READ_RESP,
		.node = j->node, .qpn = q->peer_qp,
		.stream = fw->slot[q->slot].stream,
		.lva = j->va, .len = j->len, .left = j->left, .ref = j->word,
		.at = { j->xfer, j->block, j->cause },
	};
	struct fw_ctx *c = fw_ctx_start(fw, FW_CTX_JOB, j->qp, &b);

	c->job = (uint8_t)n;
	j->ctx = (uint8_t)(c - fw->ctx);
	j->state = FW_JOB_ACTIVE;
	fw_bits_clear(&fw->jobs_queued, n);
}

bool fw_job_issue(struct fw *fw)
{
	uint32_t i, n = fw->job_last;

	for (i = 0; i < FW_READ_JOBS && fw->jobs_queued.words; i++) {
		const struct fw_job *j;
		struct incoming in;
		uint8_t status;

		n = fw_bits_next(&fw->jobs_queued, n);
		j = &fw->job[n];
		if (!job_may(fw, &fw->qp[j->qp]))
			continue;
		fw->job_last = (uint16_t)n;
		/* The region may have gone since the request was accepted. */
		in = (struct incoming){ .va = j->va, .left = j->left,
					.len = j->len, .key = j->key };
		status = check_access(fw, &fw->qp[j->qp], FL_ACC_REMOTE_READ,
				      &in);
		if (status)
			job_fail(fw, n, status);
		else
			job_start(fw, n);
		return true;
	}
	return false;
}

void fw_job_done(struct fw *fw, const struct fw_ctx *c, uint8_t status)
{
	switch (status) {
	case FL_ST_OK:
	case FL_ST_STALE:	/* the peer's READ is over */
	case FL_ST_KILLED:
	case FL_ST_NO_ANSWER:	/* it may ask again */
		job_free(fw, c->job);
		return;
	/* What is local here is remote there, and the other way round. */
	case FL_ST_LOCAL_FAULT:
		job_fail(fw, c->job, FL_ST_REMOTE_FAULT);
		return;
	case FL_ST_REMOTE_FAULT:
		job_fail(fw, c->job, FL_ST_LOCAL_FAULT);
		return;
	case FL_ST_WAIT:
		job_fail(fw, c->job, FL_ST_REMOTE_FAULT);
		return;
	}
	job_fail(fw, c->job, status);
}
