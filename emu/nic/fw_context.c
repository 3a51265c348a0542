// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine's transmit contexts, as the firmware drives them: start, kill, start again,
 * and who goes first where memory is short. What the engine says of them: fw_notes.c.
 */
#include "nic/fw_internal.h"

void fw_ctx_count(struct fw *fw, const struct fw_ctx *c, int by)
{
	struct fw_qp *q = &fw->qp[c->qp];
	struct fw_slot *s = &fw->slot[q->slot];

	if (c->owner == FW_CTX_REQUEST || c->owner == FW_CTX_PAST) {
		fw->request_ctxs += (uint32_t)by;
		q->inflight = (uint16_t)(q->inflight + by);
		s->requests = (uint16_t)(s->requests + by);
	} else if (c->owner == FW_CTX_JOB) {
		fw->job_ctxs += (uint32_t)by;
		q->job_inflight = (uint16_t)(q->job_inflight + by);
		s->jobs = (uint16_t)(s->jobs + by);
	}
	if (by < 0)
		fw_sched_release(fw, s);
}

/* The scheduler gives less to a queue pair, and to a process, that waits for a page. */
void fw_ctx_set_waiting(struct fw *fw, struct fw_ctx *c, bool waiting)
{
	struct fw_qp *q = &fw->qp[c->qp];
	struct fw_slot *s = &fw->slot[q->slot];
	int by = waiting ? 1 : -1;

	if (c->waiting == waiting)
		return;
	c->waiting = waiting;
	if (c->owner == FW_CTX_REQUEST) {
		q->waiting = (uint16_t)(q->waiting + by);
		s->requests_waiting = (uint16_t)(s->requests_waiting + by);
		fw_qp_update(fw, c->qp);
	} else if (c->owner == FW_CTX_JOB) {
		q->job_waiting = (uint16_t)(q->job_waiting + by);
		s->jobs_waiting = (uint16_t)(s->jobs_waiting + by);
	}
	if (!waiting)
		fw_sched_release(fw, s);
}

static void set_registers(struct fw *fw, uint32_t n, const struct fw_block *b)
{
	uint32_t base = NIC_CTX_BASE(n);
	struct fw_ctx_regs *old = &fw->regs[n], new = {
		.left = b->left, .len = b->len, .rkey = b->rkey,
		.dst = b->node | b->qpn << NIC_CTX_DST_QPN_SHIFT,
		.xfer = b->at.xfer, .src = b->src, .stream = b->stream,
		.known = true,
	};
	bool all = !old->known;

	if (all || new.dst != old->dst)
		fw_write32(fw, base + NIC_CTX_DST, new.dst);
	if (all || new.stream != old->stream)
		fw_write32(fw, base + NIC_CTX_STREAM, new.stream);
	fw_write64(fw, base + NIC_CTX_LVA, b->lva);
	fw_write64(fw, base + NIC_CTX_RVA, b->rva);
	if (all || new.len != old->len)
		fw_write32(fw, base + NIC_CTX_LEN, new.len);
	if (all || new.rkey != old->rkey)
		fw_write32(fw, base + NIC_CTX_RKEY, new.rkey);
	if (all || new.left != old->left)
		fw_write64(fw, base + NIC_CTX_LEFT, new.left);
	fw_write32(fw, base + NIC_CTX_REF, b->ref);
	if (all || new.src != old->src)
		fw_write32(fw, base + NIC_CTX_SRC, new.src);
	if (all || new.xfer != old->xfer)
		fw_write32(fw, base + NIC_CTX_XFER, new.xfer);
	fw_write32(fw, base + NIC_CTX_BLOCK, b->at.block);
	*old = new;
}

static void ctx_start(struct fw *fw, struct fw_ctx *c)
{
	uint32_t base = NIC_CTX_BASE(fw_ctx_number(fw, c));

	fw_write32(fw, base + NIC_CTX_CTRL,
		   NIC_CTX_CTRL_GO | (uint32_t)c->op << NIC_CTX_CTRL_OP_SHIFT);
	/* fsm.def, FREE GO READY: a new generation */
	c->serial = (uint8_t)fw_read32(fw, base + NIC_CTX_GEN);
	fw->costs[FW_COST_BLOCK]++;
}

struct fw_ctx *fw_ctx_start(struct fw *fw, enum fw_owner owner, uint16_t qp,
			    const struct fw_block *b)
{
	uint32_t n = (uint32_t)__builtin_ctz(fw->free);
	struct fw_ctx *c = &fw->ctx[n];

	fw_assert(fw->free && c->owner == FW_CTX_FREE);
	fw->free &= ~(1u << n);
	*c = (struct fw_ctx){ .qp = qp, .owner = (uint8_t)owner, .op = b->op,
			      .xfer = b->at.xfer, .block = b->at.block };
	fw_ctx_count(fw, c, 1);
	set_registers(fw, n, b);
	c->cause = fw_trace(fw, FW_TRACE_FW_BLOCK, b->at, n, b->lva, b->len,
			    b->op);
	ctx_start(fw, c);
	fw->stats.blocks++;
	return c;
}

uint32_t fw_ctx_state(struct fw *fw, const struct fw_ctx *c,
			  uint32_t *state)
{
	uint32_t v = fw_read32(fw,
			       NIC_CTX_BASE(fw_ctx_number(fw, c)) + NIC_CTX_STATE);

	*state = (v & NIC_CTX_STATE_STATE_MASK) >> NIC_CTX_STATE_STATE_SHIFT;
	return v;
}

/*
 * The same block from the beginning, in the same context. What it says of the
 * requests before it is true now.
 */
void fw_ctx_restart(struct fw *fw, struct fw_ctx *c)
{
	struct fw_at at = { c->xfer, c->block, c->cause };
	uint32_t ref;

	c->again = c->killed = c->parked = c->put_off = c->aside = false;
	if (c->owner == FW_CTX_REQUEST) {
		ref = fw_request_ref(&fw->qp[c->qp], c->wr);
		c->behind = (uint8_t)ref;
		fw_write32(fw, NIC_CTX_BASE(fw_ctx_number(fw, c)) + NIC_CTX_REF,
			   ref);
	}
	c->cause = fw_trace(fw, FW_TRACE_FW_AGAIN, at, fw_ctx_number(fw, c),
			    FL_ST_WAIT, 0, 0);
	ctx_start(fw, c);
}

void fw_ctx_kill(struct fw *fw, struct fw_ctx *c, uint8_t status)
{
	uint32_t state;

	fw_assert(c->owner != FW_CTX_FREE);
	if (c->killed)
		return;
	if (c->aside)
		fw_ctx_restart(fw, c);	/* so that its end is told, as any other's */
	c->killed = true;
	fw_timer_stop(fw, c);
	fw_ctx_set_waiting(fw, c, false);
	/* DONE already: its note is on the way, and KILL has no arc. */
	fw_ctx_state(fw, c, &state);
	if (state == FL_TX_DONE)
		return;
	fw_write32(fw, NIC_CTX_BASE(fw_ctx_number(fw, c)) + NIC_CTX_CTRL,
		   NIC_CTX_CTRL_KILL |
		   (uint32_t)status << NIC_CTX_CTRL_CODE_SHIFT);
}

void fw_ctx_abandon(struct fw *fw, struct fw_ctx *c)
{
	fw_ctx_kill(fw, c, FL_ST_KILLED);
	fw_ctx_count(fw, c, -1);
	c->owner = FW_CTX_GONE;
}

void fw_ctx_start_again(struct fw *fw, struct fw_ctx *c)
{
	fw_ctx_kill(fw, c, FL_ST_KILLED);
	c->again = true;
}

void fw_ctx_elder_end(struct fw *fw)
{
	uint32_t i;

	fw->tx_elder = 0;
	for (i = 0; i < fw->contexts; i++)
		if (fw->ctx[i].owner != FW_CTX_FREE && fw->ctx[i].aside)
			fw_ctx_restart(fw, &fw->ctx[i]);
}

/* A READ, its answer, or a WRITE that has not landed for certain. */
static bool may_step_aside(const struct fw_ctx *c)
{
	return c->op != FL_OP_WRITE || !c->unsure;
}

/* Is it the answer to the READ in context n of this very board? */
static bool is_answer_to(const struct fw *fw, const struct fw_ctx *c,
			 uint32_t n)
{
	const struct fw_job *j = &fw->job[c->job];

	return c->owner == FW_CTX_JOB && j->node == fw->cfg.node &&
	       j->word >> 24 == n;
}

/* It is being worked on: others wait a while longer. */
void fw_ctx_elder_heard(struct fw *fw, const struct fw_ctx *c)
{
	if (fw->tx_elder != 1 + fw_ctx_number(fw, c))
		return;
	fw->tx_elder_until_ns = fw->now_ns +
				FW_ELDER_SILENT * fw->cfg.fault_timeout_ns;
	fw_timer_elder(fw);
}

/* Does the answer to this READ wait for a page where it goes? */
bool fw_ctx_answer_lacks_pages(struct fw *fw, const struct fw_ctx *c)
{
	uint32_t i, base, v;

	for (i = 0; i < fw->rx_contexts; i++) {
		base = NIC_RXC_BASE(i);
		v = fw_read32(fw, base + NIC_RXC_STATE);
		v = (v & NIC_RXC_STATE_STATE_MASK) >> NIC_RXC_STATE_STATE_SHIFT;
		if (v == FL_RX_FAULT &&
		    fw_read32(fw, base + NIC_RXC_OP) == WOP_READ_RESP &&
		    fw_read32(fw, base + NIC_RXC_REF) >> 24 ==
		    fw_ctx_number(fw, c))
			return true;
	}
	return false;
}

/* It is read from memory now, or a page of it is brought in. */
static bool is_read(struct fw *fw, const struct fw_ctx *c)
{
	uint32_t state;

	fw_ctx_state(fw, c, &state);
	return state == FL_TX_READY || state == FL_TX_SRCFAULT;
}

/*
 * Is this board at work on the block, or on the answer to it? Then something comes of
 * it for certain: the driver always answers.
 */
static bool is_at_work(struct fw *fw, const struct fw_ctx *c)
{
	uint32_t i, n = fw_ctx_number(fw, c);

	if (is_read(fw, c) ||
	    (c->op == FL_OP_READ && fw_ctx_answer_lacks_pages(fw, c)))
		return true;
	for (i = 0; i < fw->contexts; i++)
		if (is_answer_to(fw, &fw->ctx[i], n))
			return is_read(fw, &fw->ctx[i]);
	return false;
}

void fw_ctx_elder_late(struct fw *fw)
{
	const struct fw_ctx *c = &fw->ctx[fw->tx_elder - 1];

	/* All pages of a block may take longer than a peer may be silent. */
	if (is_at_work(fw, c))
		fw_ctx_elder_heard(fw, c);
	else
		fw_ctx_elder_end(fw);
}

/*
 * May others wait for it? It must be able to end without them, so nothing of its queue
 * pair may come before it.
 */
static bool may_be_elder(const struct fw *fw, const struct fw_ctx *c)
{
	const struct fw_qp *q = &fw->qp[c->qp];

	return c->owner != FW_CTX_REQUEST || q->relaxed || c->wr == q->wr_head;
}

/*
 * A READ of this very board is two contexts: its own, and that of the answer. The
 * elder is either of them, and cannot end without the other.
 */
static bool serves_elder(const struct fw *fw, const struct fw_ctx *c)
{
	uint32_t e = fw->tx_elder - 1;

	return is_answer_to(fw, c, e) ||
	       is_answer_to(fw, &fw->ctx[e], fw_ctx_number(fw, c));
}

bool fw_ctx_others_first(const struct fw *fw, const struct fw_ctx *c)
{
	return fw->tx_elder && fw->tx_elder != 1 + fw_ctx_number(fw, c) &&
	       !serves_elder(fw, c);
}

/*
 * The block waits for pages of this board; anew: once more. True: it was put aside
 * for another one.
 */
bool fw_ctx_steps_aside(struct fw *fw, struct fw_ctx *c, bool anew)
{
	uint32_t me = 1 + fw_ctx_number(fw, c);

	if (anew && ++c->waits == FW_ELDER_IN_VAIN) {
		c->waits = 0;
		if (fw->tx_elder == me)
			fw_ctx_elder_end(fw);
		return false;
	}
	if (!fw->tx_elder && c->waits >= FW_ELDER_TIMES && may_be_elder(fw, c))
		fw->tx_elder = me;
	fw_ctx_elder_heard(fw, c);
	if (!fw_ctx_others_first(fw, c) || !may_step_aside(c))
		return false;
	fw_ctx_start_again(fw, c);
	return true;
}

void fw_ctx_unpark(struct fw *fw, uint16_t qp)
{
	const struct fw_qp *q = &fw->qp[qp];
	uint32_t i;

	for (i = 0; q->waiting && i < fw->contexts; i++) {
		struct fw_ctx *c = &fw->ctx[i];

		if (c->owner == FW_CTX_REQUEST && c->qp == qp && c->parked &&
		    !c->killed && c->wr == q->wr_head)
			fw_ctx_start_again(fw, c);
	}
}
