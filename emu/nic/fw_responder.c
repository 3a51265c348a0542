// SPDX-License-Identifier: BSD-2-Clause
/*
 * The responder: judges what comes in, and answers READs.
 *
 * A READ request that is accepted becomes a job, which waits for a context and
 * is then a block like any other. When it fails nothing can be sent to the peer
 * for the request that was taken over; the status is kept, and the peer, whose
 * timer makes it ask again, gets it as the verdict (struct fw_peer).
 *
 * A peer that guesses must not learn what was right in its guess. So judging has
 * more results than the peer hears of: FL_ST_SEEN_* go to the trace and into the
 * counters, and one status for all of them goes over the wire. The sender's queue
 * pair is looked at before anything else, so a stranger's packet changes nothing.
 */
#include "nic/fw_internal.h"

#define SMALL_BYTES	64	/* never more than one cell (engine.h) */

/* Registers of a receive context in CHECK. */
struct incoming {
	uint64_t va, left;
	uint32_t op, node, qpn, len, key, word, xfer, src;
	uint16_t qp;		/* the place of qpn; there may be none */
	struct fw_turn turn;
};

static void incoming_read(struct fw *fw, uint32_t rxc, struct incoming *in)
{
	uint32_t base = NIC_RXC_BASE(rxc), src, ref;

	src = fw_read32(fw, base + NIC_RXC_SRC);
	in->node = (src & NIC_RXC_SRC_NODE_MASK) >> NIC_RXC_SRC_NODE_SHIFT;
	in->qpn = (src & NIC_RXC_SRC_QPN_MASK) >> NIC_RXC_SRC_QPN_SHIFT;
	in->qp = (uint16_t)FW_QP_PLACE(in->qpn);
	in->op = fw_read32(fw, base + NIC_RXC_OP);
	in->va = fw_read64(fw, base + NIC_RXC_VA);
	in->len = fw_read32(fw, base + NIC_RXC_LEN);
	in->key = fw_read32(fw, base + NIC_RXC_RKEY);
	in->left = fw_read64(fw, base + NIC_RXC_LEFT);
	in->word = fw_read32(fw, base + NIC_RXC_WORD);
	in->xfer = fw_read32(fw, base + NIC_RXC_XFER);
	in->src = fw_read32(fw, base + NIC_RXC_FROM);
	ref = fw_read32(fw, base + NIC_RXC_REF);
	in->turn = (struct fw_turn){
		.number = ref >> 8, .behind = (uint8_t)ref,
		.block = fw_read32(fw, base + NIC_RXC_BLOCK),
		.last = !in->left,
		.relaxed = in->src & NIC_CTX_SRC_RELAXED,
	};
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
	return fw_mr_seen_status(fw_mr_check(fw, &r, NULL));
}

/* The status that goes to the peer for what was seen here. */
static uint8_t wire_status(uint8_t seen)
{
	switch (seen) {
	case FL_ST_SEEN_KEY:
	case FL_ST_SEEN_RANGE:
	case FL_ST_SEEN_RIGHTS:
		return FL_ST_REMOTE_ACCESS;
	case FL_ST_SEEN_NO_QP:
	case FL_ST_SEEN_STRANGER:
	case FL_ST_SEEN_OVER:
		return FL_ST_REMOTE_QP;
	}
	return seen;
}

static void count_seen(struct fw_stats *st, uint8_t seen)
{
	st->rx_checks++;
	if (seen && seen != FL_ST_WAIT && seen != FL_ST_BUSY &&
	    seen != FL_ST_FLUSHED)
		st->rx_refused++;
	st->refused_key += seen == FL_ST_SEEN_KEY;
	st->refused_range += seen == FL_ST_SEEN_RANGE;
	st->refused_rights += seen == FL_ST_SEEN_RIGHTS;
	st->refused_qp += wire_status(seen) == FL_ST_REMOTE_QP;
}

static void job_free(struct fw *fw, uint32_t n)
{
	struct fw_job *j = &fw->job[n];

	fw_assert(j->state != FW_JOB_FREE);
	fw_job_tell(fw, n, FL_ST_OK);
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

static void give_verdict(struct fw *fw, uint32_t rxc, uint8_t code,
			 uint16_t stream)
{
	fw_write32(fw, NIC_RXC_BASE(rxc) + NIC_RXC_VERDICT,
		   (uint32_t)code << NIC_RXC_VERDICT_CODE_SHIFT |
			   (uint32_t)fw->rx[rxc].serial <<
				   NIC_RXC_VERDICT_SERIAL_SHIFT |
			   (uint32_t)stream << NIC_RXC_VERDICT_STREAM_SHIFT);
}

/*
 * The engine writes no more of a block whose verdict is taken back. A block that
 * waits for a page is judged anew when it comes again.
 */
static void rx_stop(struct fw *fw, uint32_t rxc)
{
	uint32_t base = NIC_RXC_BASE(rxc), state;

	state = (fw_read32(fw, base + NIC_RXC_STATE) &
		 NIC_RXC_STATE_STATE_MASK) >> NIC_RXC_STATE_STATE_SHIFT;
	/* Almost always it has landed, and its note is on the way. */
	if (state != FL_RX_COLLECT && state != FL_RX_WRITE)
		return;
	fw->rx_accepted &= ~(1u << rxc);
	fw_timer_collect_stop(fw, rxc);
	give_verdict(fw, rxc, FL_ST_KILLED, 0);
}

void fw_rx_stop_qp(struct fw *fw, uint16_t n)
{
	uint32_t i, left;

	for (left = fw->rx_accepted; left; left &= left - 1) {
		i = (uint32_t)__builtin_ctz(left);
		if (fw->rx[i].qp == n)
			rx_stop(fw, i);
	}
	for (left = fw->rx_held; left; left &= left - 1) {
		i = (uint32_t)__builtin_ctz(left);
		if (fw->rx[i].qp == n)
			fw_rx_put_off(fw, i);
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

void fw_job_forget(struct fw *fw, uint32_t n)
{
	job_drop(fw, n);
}

void fw_job_fail(struct fw *fw, uint32_t n, uint8_t status)
{
	const struct fw_job *j = &fw->job[n];
	struct fw_peer *p = &fw->peer[j->node][j->peer_ctx];
	uint64_t silent_ns = fw->cfg.fault_timeout_ns;

	p->status = status;
	/* Longer than a living peer keeps silent; then its count may wrap. */
	if (silent_ns < fw->cfg.timeout_ns)
		silent_ns = fw->cfg.timeout_ns;
	p->until_ns = fw->now_ns + (fw->cfg.tries + 2ull) * silent_ns;
	job_free(fw, n);
}

/*
 * A free place in the table. Jobs whose turn has not come leave half of it to
 * the others, for which they may be waiting. FW_NONE: there is none.
 */
static uint32_t job_find(const struct fw *fw, bool later)
{
	const uint32_t *used = fw->jobs_used.word;
	uint32_t w, n = FW_NONE, count = 0;

	for (w = FW_READ_JOBS / 32; w--;) {
		count += (uint32_t)__builtin_popcount(used[w]);
		if (~used[w])
			n = w * 32 + (uint32_t)__builtin_ctz(~used[w]);
	}
	return later && count >= FW_READ_JOBS / 2 ? FW_NONE : n;
}

static uint8_t job_open(struct fw *fw, const struct incoming *in, uint16_t qp,
			enum fw_turn_is turn)
{
	uint32_t n, ctx = in->word >> 24;
	uint16_t gen = (uint16_t)(in->word >> 8);
	struct fw_peer *p;

	if (ctx >= FW_CTXS)
		return FL_ST_BAD_ENTRY;
	p = &fw->peer[in->node][ctx];
	if (p->job && p->gen == gen) {
		fw_job_let_go(fw, p->job - 1u);
		fw_timer_job(fw, p->job - 1u);
		return FL_ST_WAIT;
	}
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
	n = job_find(fw, turn == FW_TURN_LATER);
	if (n == FW_NONE)
		return FL_ST_WAIT;
	fw->job[n] = (struct fw_job){
		.va = in->va, .left = in->left, .len = in->len, .key = in->key,
		.word = in->word, .xfer = in->xfer, .turn = in->turn,
		.qp = qp, .node = (uint8_t)in->node, .peer_ctx = (uint8_t)ctx,
		.state = FW_JOB_QUEUED,
	};
	fw_bits_set(&fw->jobs_used, n);
	fw_bits_set(&fw->jobs_queued, n);
	fw_timer_job(fw, n);
	p->gen = gen;
	p->job = (uint8_t)(n + 1);
	p->status = 0;
	fw->stats.read_jobs++;
	return FL_ST_OK;
}

/* The sender's queue pair has halted: whatever is older is over (fw_halt.c). */
static uint8_t incoming_past(struct fw *fw, const struct incoming *in)
{
	uint32_t left, i;

	if (in->op != WOP_READ_REQ)
		return FL_ST_BAD_OPCODE;
	fw_order_cut(fw, in->qp, in->turn.number);
	for (left = fw->rx_accepted; left; left &= left - 1) {
		i = (uint32_t)__builtin_ctz(left);
		if (fw->rx[i].qp == in->qp &&
		    fw_order_now(fw, in->qp, &fw->rx[i].turn) == FW_TURN_OVER)
			rx_stop(fw, i);
	}
	fw_trace(fw, FW_TRACE_FW_PAST, (struct fw_at){ .xfer = in->xfer },
		 in->qpn, in->turn.number, 0, 0);
	return FL_ST_FLUSHED;
}

/*
 * May the block come in? FL_ST_WAIT: its turn has not come, or (READ) it is being
 * worked on. FL_ST_SEEN_*: no, and why.
 */
static uint8_t incoming_judge(struct fw *fw, const struct incoming *in)
{
	uint16_t qp = in->qp;
	const struct fw_qp *q;
	bool is_read = in->op == WOP_READ_REQ;
	enum fw_turn_is turn;
	uint8_t status;

	if (in->op != WOP_WRITE && !is_read)
		return FL_ST_BAD_OPCODE;
	if (qp >= FW_QPS)
		return FL_ST_SEEN_NO_QP;
	q = &fw->qp[qp];
	if (!fw_qp_hears(q) || fw_qp_number(q, qp) != in->qpn)
		return FL_ST_SEEN_NO_QP;
	if (q->peer_node != in->node ||
	    q->peer_qp != (in->src & NIC_CTX_SRC_QPN_MASK))
		return FL_ST_SEEN_STRANGER;
	if (in->src & NIC_CTX_SRC_PAST)
		return incoming_past(fw, in);
	status = check_access(fw, q, is_read ? FL_ACC_REMOTE_READ :
					       FL_ACC_REMOTE_WRITE, in);
	if (status)
		return status;
	turn = fw_order_judge(fw, qp, &in->turn);
	/* Of a request that is over, only what is very late comes again. */
	if (turn == FW_TURN_OVER)
		return is_read ? FL_ST_STALE : FL_ST_SEEN_OVER;
	if (is_read)
		return job_open(fw, in, qp, turn);
	return turn == FW_TURN_LATER ? FL_ST_WAIT : FL_ST_OK;
}

/*
 * Does the elder wait for pages? The engine tells its sender so, and the driver
 * always answers.
 */
static bool elder_lacks_pages(struct fw *fw)
{
	const struct fw_elder *e = &fw->rx_elder;
	uint32_t i, base, v;

	for (i = 0; i < fw->rx_contexts; i++) {
		base = NIC_RXC_BASE(i);
		v = fw_read32(fw, base + NIC_RXC_STATE);
		v = (v & NIC_RXC_STATE_STATE_MASK) >> NIC_RXC_STATE_STATE_SHIFT;
		if (v != FL_RX_FAULT ||
		    fw_read32(fw, base + NIC_RXC_WORD) >> 8 != e->word)
			continue;
		v = fw_read32(fw, base + NIC_RXC_SRC);
		v = (v & NIC_RXC_SRC_NODE_MASK) >> NIC_RXC_SRC_NODE_SHIFT;
		if (v == e->node)
			return true;
	}
	return false;
}

/*
 * Progress where memory is short: is there an elder, and is it another block?
 * It stays the elder while it is heard of, and while its pages are brought in, which
 * may take longer.
 */
static bool elder_forbids(struct fw *fw, const struct incoming *in)
{
	struct fw_peer *p = &fw->peer[in->node][in->word >> 24 & (FW_CTXS - 1)];
	uint16_t gen = (uint16_t)(in->word >> 8);
	struct fw_elder *e = &fw->rx_elder;

	if (p->write_gen != gen || !p->accepted) {
		p->write_gen = gen;
		p->accepted = 0;
	}
	if (e->there && elder_lacks_pages(fw))
		e->until_ns = fw->now_ns + fw->cfg.fault_timeout_ns;
	if (e->there && fw->now_ns >= e->until_ns)
		e->there = false;
	if (e->there && (e->node != in->node || e->word != in->word >> 8))
		return true;
	if (p->accepted++ < FW_ELDER_TIMES)
		return false;
	if (p->accepted == FW_ELDER_IN_VAIN) {
		p->accepted = 0;
		e->there = false;
		return false;
	}
	*e = (struct fw_elder){
		.until_ns = fw->now_ns + fw->cfg.fault_timeout_ns,
		.word = in->word >> 8, .node = (uint8_t)in->node, .there = true,
	};
	return false;
}

/*
 * A WRITE whose turn has not come waits in its context, since it may come very
 * soon. But some contexts must stay for those whose turn it is, and who has
 * asked before is not left without an answer.
 */
static bool may_hold(const struct fw *fw, const struct incoming *in)
{
	return !(uint8_t)in->word && fw_rx_may_hold(fw);
}

static void rx_judge(struct fw *fw, uint32_t rxc, uint8_t serial, bool hold)
{
	struct incoming in;
	uint8_t status;
	bool is_write;
	uint32_t job;
	uint64_t seq;

	fw->rx_accepted &= ~(1u << rxc);
	fw->rx_timed &= ~(1u << rxc);
	fw->rx_held &= ~(1u << rxc);
	incoming_read(fw, rxc, &in);
	status = incoming_judge(fw, &in);
	is_write = in.op == WOP_WRITE;
	hold = hold && is_write && status == FL_ST_WAIT && may_hold(fw, &in);
	if (is_write && !status && elder_forbids(fw, &in))
		status = FL_ST_BUSY;
	if (!status)
		fw_peer_hears(fw, (uint8_t)in.node, (uint8_t)(in.word >> 24),
			      in.qp, is_write);
	count_seen(&fw->stats, status);
	seq = fw_trace(fw, hold ? FW_TRACE_FW_HOLD : FW_TRACE_FW_CHECK,
		       (struct fw_at){ in.xfer, in.turn.block, 0 }, rxc, in.qpn,
		       in.va, hold ? in.turn.number : status);
	fw->rx[rxc] = (struct fw_rx){
		.word = in.word, .key = in.key, .turn = in.turn,
		.qp = in.qp, .serial = serial,
		.node = (uint8_t)in.node,
	};
	if (hold) {
		fw->rx_held |= 1u << rxc;
		fw_timer_hold(fw, rxc);
		return;
	}
	if (!status && !is_write) {
		job = fw->peer[in.node][in.word >> 24].job - 1u;
		fw->job[job].cause = seq;
		if (fw_job_hold(fw, job, rxc, serial))
			return;
	}
	if (!status && is_write)
		fw->rx_accepted |= 1u << rxc;
	give_verdict(fw, rxc, wire_status(status), status ? 0 :
		     fw->slot[fw->qp[in.qp].slot].stream);
	/* One cell was enough for the small ones: they lack none. */
	if (!status && is_write && in.len > SMALL_BYTES)
		fw_timer_collect(fw, rxc);
}

/* A block is held no longer. Its sender may have given it up meanwhile. */
static void rx_judge_held(struct fw *fw, uint32_t rxc, bool hold)
{
	uint32_t base = NIC_RXC_BASE(rxc), state;

	state = (fw_read32(fw, base + NIC_RXC_STATE) &
		 NIC_RXC_STATE_STATE_MASK) >> NIC_RXC_STATE_STATE_SHIFT;
	if (state == FL_RX_CHECK &&
	    fw_read32(fw, base + NIC_RXC_WORD) == fw->rx[rxc].word) {
		rx_judge(fw, rxc, fw->rx[rxc].serial, hold);
		return;
	}
	fw->rx_held &= ~(1u << rxc);
	fw_timer_collect_stop(fw, rxc);
}

/* The next request's turn has come: those of its blocks that are held go on. */
static void rx_release(struct fw *fw, uint16_t qp)
{
	uint32_t left, i;

	for (left = fw->rx_held; left; left &= left - 1) {
		i = (uint32_t)__builtin_ctz(left);
		if (fw->rx_held >> i & 1 && fw->rx[i].qp == qp &&
		    fw_order_now(fw, qp, &fw->rx[i].turn) != FW_TURN_LATER)
			rx_judge_held(fw, i, true);
	}
}

void fw_rx_open(struct fw *fw, uint32_t rxc, uint8_t serial)
{
	rx_judge(fw, rxc, serial, true);
	/* What the block said of its sender may have moved the order on. */
	if (fw->rx_held && fw->rx[rxc].qp < FW_QPS)
		rx_release(fw, fw->rx[rxc].qp);
}

void fw_rx_put_off(struct fw *fw, uint32_t rxc)
{
	rx_judge_held(fw, rxc, false);
}

void fw_rx_landed(struct fw *fw, uint32_t rxc, uint8_t serial)
{
	const struct fw_rx *r = &fw->rx[rxc];
	struct fw_elder *e = &fw->rx_elder;

	/* Its queue pair may have gone, and the context may carry another one. */
	if (!(fw->rx_accepted >> rxc & 1) || r->serial != serial)
		return;
	fw->rx_accepted &= ~(1u << rxc);
	fw_timer_collect_stop(fw, rxc);
	if (e->there && e->node == r->node && e->word == r->word >> 8)
		e->there = false;
	fw->peer[r->node][r->word >> 24 & (FW_CTXS - 1)].accepted = 0;
	if (fw_order_landed(fw, r->qp, &r->turn, 1))
		rx_release(fw, r->qp);
}

/*
 * Only when its turn has come. And who waits for a page does not collect what others
 * could use (fw_sched.c).
 */
static bool job_may(const struct fw *fw, const struct fw_job *j)
{
	return fw_order_now(fw, j->qp, &j->turn) != FW_TURN_LATER &&
	       fw_sched_may_answer(fw, &fw->qp[j->qp]);
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
		.src = fw_request_src(q, j->qp),
		.at = { j->xfer, j->turn.block, j->cause },
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
		if (!job_may(fw, j))
			continue;
		fw->job_last = (uint16_t)n;
		/* The region may have gone since the request was accepted. */
		in = (struct incoming){ .va = j->va, .left = j->left,
					.len = j->len, .key = j->key };
		status = check_access(fw, &fw->qp[j->qp], FL_ACC_REMOTE_READ,
				      &in);
		if (status)
			fw_job_fail(fw, n, wire_status(status));
		else
			job_start(fw, n);
		return true;
	}
	return false;
}

void fw_job_done(struct fw *fw, const struct fw_ctx *c, uint8_t status)
{
	uint16_t qp = fw->job[c->job].qp;

	switch (status) {
	case FL_ST_OK:
		if (fw_order_landed(fw, qp, &fw->job[c->job].turn, 1))
			rx_release(fw, qp);
		job_free(fw, c->job);
		return;
	case FL_ST_STALE:	/* the peer's READ is over */
	case FL_ST_KILLED:
	case FL_ST_NO_ANSWER:	/* it may ask again */
	case FL_ST_FAULT_FAST:	/* its own pages: it has failed there */
		job_free(fw, c->job);
		return;
	/* What is local here is remote there, and the other way round. */
	case FL_ST_LOCAL_FAULT:
		fw_job_fail(fw, c->job, FL_ST_REMOTE_FAULT);
		return;
	case FL_ST_REMOTE_FAULT:
		fw_job_fail(fw, c->job, FL_ST_LOCAL_FAULT);
		return;
	case FL_ST_WAIT:
		fw_job_fail(fw, c->job, FL_ST_REMOTE_FAULT);
		return;
	}
	fw_job_fail(fw, c->job, status);
}
