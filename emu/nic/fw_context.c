// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine's transmit contexts, as the firmware drives them: start, kill,
 * release, and the engine's notes about them (fsm.def, FNOTE).
 */
#include "nic/fw_internal.h"

static uint32_t ctx_number(const struct fw *fw, const struct fw_ctx *c)
{
	return (uint32_t)(c - fw->ctx);
}

static void ctx_count(struct fw *fw, const struct fw_ctx *c, int by)
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
static void set_waiting(struct fw *fw, struct fw_ctx *c, bool waiting)
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
	uint32_t base = NIC_CTX_BASE(ctx_number(fw, c));

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
	ctx_count(fw, c, 1);
	set_registers(fw, n, b);
	c->cause = fw_trace(fw, FW_TRACE_FW_BLOCK, b->at, n, b->lva, b->len,
			    b->op);
	ctx_start(fw, c);
	fw->stats.blocks++;
	return c;
}

static uint32_t ctx_state(struct fw *fw, const struct fw_ctx *c,
			  uint32_t *state)
{
	uint32_t v = fw_read32(fw,
			       NIC_CTX_BASE(ctx_number(fw, c)) + NIC_CTX_STATE);

	*state = (v & NIC_CTX_STATE_STATE_MASK) >> NIC_CTX_STATE_STATE_SHIFT;
	return v;
}

/*
 * The same block from the beginning, in the same context. What it says of the
 * requests before it is true now.
 */
static void ctx_restart(struct fw *fw, struct fw_ctx *c)
{
	struct fw_at at = { c->xfer, c->block, c->cause };
	uint32_t ref;

	c->again = c->killed = c->parked = c->put_off = c->aside = false;
	if (c->owner == FW_CTX_REQUEST) {
		ref = fw_request_ref(&fw->qp[c->qp], c->wr);
		c->behind = (uint8_t)ref;
		fw_write32(fw, NIC_CTX_BASE(ctx_number(fw, c)) + NIC_CTX_REF,
			   ref);
	}
	c->cause = fw_trace(fw, FW_TRACE_FW_AGAIN, at, ctx_number(fw, c),
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
		ctx_restart(fw, c);	/* so that its end is told, as any other's */
	c->killed = true;
	fw_timer_stop(fw, c);
	set_waiting(fw, c, false);
	/* DONE already: its note is on the way, and KILL has no arc. */
	ctx_state(fw, c, &state);
	if (state == FL_TX_DONE)
		return;
	fw_write32(fw, NIC_CTX_BASE(ctx_number(fw, c)) + NIC_CTX_CTRL,
		   NIC_CTX_CTRL_KILL |
		   (uint32_t)status << NIC_CTX_CTRL_CODE_SHIFT);
}

void fw_ctx_abandon(struct fw *fw, struct fw_ctx *c)
{
	fw_ctx_kill(fw, c, FL_ST_KILLED);
	ctx_count(fw, c, -1);
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
			ctx_restart(fw, &fw->ctx[i]);
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
static void elder_heard(struct fw *fw, const struct fw_ctx *c)
{
	if (fw->tx_elder != 1 + ctx_number(fw, c))
		return;
	fw->tx_elder_until_ns = fw->now_ns +
				FW_ELDER_SILENT * fw->cfg.fault_timeout_ns;
	fw_timer_elder(fw);
}

/* Does the answer to this READ wait for a page where it goes? */
static bool answer_lacks_pages(struct fw *fw, const struct fw_ctx *c)
{
	uint32_t i, base, v;

	for (i = 0; i < fw->rx_contexts; i++) {
		base = NIC_RXC_BASE(i);
		v = fw_read32(fw, base + NIC_RXC_STATE);
		v = (v & NIC_RXC_STATE_STATE_MASK) >> NIC_RXC_STATE_STATE_SHIFT;
		if (v == FL_RX_FAULT &&
		    fw_read32(fw, base + NIC_RXC_OP) == WOP_READ_RESP &&
		    fw_read32(fw, base + NIC_RXC_REF) >> 24 ==
		    ctx_number(fw, c))
			return true;
	}
	return false;
}

/* It is read from memory now, or a page of it is brought in. */
static bool is_read(struct fw *fw, const struct fw_ctx *c)
{
	uint32_t state;

	ctx_state(fw, c, &state);
	return state == FL_TX_READY || state == FL_TX_SRCFAULT;
}

/*
 * Is this board at work on the block, or on the answer to it? Then something comes of
 * it for certain: the driver always answers.
 */
static bool is_at_work(struct fw *fw, const struct fw_ctx *c)
{
	uint32_t i, n = ctx_number(fw, c);

	if (is_read(fw, c) ||
	    (c->op == FL_OP_READ && answer_lacks_pages(fw, c)))
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
		elder_heard(fw, c);
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
	       is_answer_to(fw, &fw->ctx[e], ctx_number(fw, c));
}

static bool others_first(const struct fw *fw, const struct fw_ctx *c)
{
	return fw->tx_elder && fw->tx_elder != 1 + ctx_number(fw, c) &&
	       !serves_elder(fw, c);
}

/*
 * The block waits for pages of this board; anew: once more. True: it was put aside
 * for another one.
 */
static bool steps_aside(struct fw *fw, struct fw_ctx *c, bool anew)
{
	uint32_t me = 1 + ctx_number(fw, c);

	if (anew && ++c->waits == FW_ELDER_IN_VAIN) {
		c->waits = 0;
		if (fw->tx_elder == me)
			fw_ctx_elder_end(fw);
		return false;
	}
	if (!fw->tx_elder && c->waits >= FW_ELDER_TIMES && may_be_elder(fw, c))
		fw->tx_elder = me;
	elder_heard(fw, c);
	if (!others_first(fw, c) || !may_step_aside(c))
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

/* A block that was killed to be started anew: does its owner still want it? */
static bool ctx_is_wanted(const struct fw *fw, const struct fw_ctx *c)
{
	const struct fw_qp *q = &fw->qp[c->qp];

	return c->owner == FW_CTX_JOB || c->owner == FW_CTX_PAST ||
	       (c->owner == FW_CTX_REQUEST && !q->wr[c->wr % FW_QP_WRS].status);
}

static void note_done(struct fw *fw, struct fw_ctx *c)
{
	uint32_t n = ctx_number(fw, c), state, v = ctx_state(fw, c, &state);
	uint8_t status = (uint8_t)((v & NIC_CTX_STATE_STATUS_MASK) >>
				   NIC_CTX_STATE_STATUS_SHIFT);
	struct fw_ctx gone;

	if (state != FL_TX_DONE)
		return;
	/* Sent once is attempt 0; the number wraps, what was seen does not. */
	if (v & NIC_CTX_STATE_ATTEMPT_MASK)
		c->resent = true;
	fw_timer_stop(fw, c);
	set_waiting(fw, c, false);
	fw_write32(fw, NIC_CTX_BASE(n) + NIC_CTX_CTRL, NIC_CTX_CTRL_RELEASE);
	if (c->again && status == FL_ST_KILLED && ctx_is_wanted(fw, c)) {
		c->aside = others_first(fw, c);
		c->again = c->killed = c->parked = false;
		if (!c->aside)
			ctx_restart(fw, c);
		return;
	}
	if (fw->tx_elder == 1 + n)
		fw_ctx_elder_end(fw);
	ctx_count(fw, c, -1);
	gone = *c;
	c->owner = FW_CTX_FREE;
	fw->free |= 1u << n;
	if (gone.owner == FW_CTX_REQUEST)
		fw_request_block_done(fw, &gone, status);
	else if (gone.owner == FW_CTX_JOB)
		fw_job_done(fw, &gone, status);
	else if (gone.owner == FW_CTX_PAST)
		fw_halt_answer(fw, &gone, status);
}

/* Pages of one side left again before the block was through. Once too often? */
static bool gives_up(struct fw *fw, struct fw_ctx *c)
{
	c->tries = 0;
	if (++c->refusals <= fw->cfg.refusals)
		return false;
	fw_ctx_kill(fw, c, FL_ST_REFUSED_TOO_OFTEN);
	return true;
}

/* Nothing of the block is at the peer; the timer says when it may come again. */
static void put_off(struct fw *fw, struct fw_ctx *c, uint64_t after_ns)
{
	c->put_off = true;
	fw_timer_start(fw, c, after_ns);
}

#define BUSY_DOUBLES	5

/* The peer has no room: it is asked again, after a while that grows. */
static void peer_busy(struct fw *fw, struct fw_ctx *c)
{
	if (others_first(fw, c)) {
		fw_ctx_start_again(fw, c);
		return;
	}
	put_off(fw, c, fw->cfg.busy_ns << c->busy);
	if (c->busy < BUSY_DOUBLES)
		c->busy++;
}

/* Its turn has not come: earlier requests of the queue pair are under way. */
static void peer_not_yet(struct fw *fw, struct fw_ctx *c)
{
	if (!c->behind) {
		peer_busy(fw, c);	/* it does not keep our order */
		return;
	}
	c->parked = true;
	put_off(fw, c, fw->cfg.fault_timeout_ns);
	fw_ctx_unpark(fw, c->qp);
}

static void peer_lacks_pages(struct fw *fw, struct fw_ctx *c)
{
	c->busy = 0;	/* it had room */
	if (!gives_up(fw, c))
		fw_timer_start(fw, c, fw->cfg.fault_timeout_ns);
}

static void note_refused(struct fw *fw, struct fw_ctx *c)
{
	uint32_t state, v = ctx_state(fw, c, &state);
	uint8_t why = (uint8_t)((v & NIC_CTX_STATE_STATUS_MASK) >>
				NIC_CTX_STATE_STATUS_SHIFT);

	/* A READ stays FLYING; anything else has gone on already. */
	if (state != FL_TX_DSTFAULT &&
	    (state != FL_TX_FLYING || c->op != FL_OP_READ))
		return;
	set_waiting(fw, c, true);
	c->tries = 0;
	c->unsure = false;
	if (why == FL_ST_WAIT && c->owner == FW_CTX_REQUEST) {
		peer_not_yet(fw, c);
	} else if (why) {
		peer_busy(fw, c);
	} else {
		elder_heard(fw, c);
		peer_lacks_pages(fw, c);
	}
}

static void note_waiting(struct fw *fw, struct fw_ctx *c)
{
	/* What was asked for again is at work still: no page has left since. */
	bool anew = !c->tries;
	uint32_t state;

	set_waiting(fw, c, true);
	ctx_state(fw, c, &state);
	/*
	 * The peer lives and is at it, or a page is missing where a READ's
	 * answer goes: the peer's silence gets the long timer.
	 */
	if (state == FL_TX_FLYING) {
		c->tries = 0;
		c->put_off = c->parked = false;
		if (c->op == FL_OP_READ && answer_lacks_pages(fw, c) &&
		    steps_aside(fw, c, anew))
			return;
		fw_timer_start(fw, c, fw->cfg.fault_timeout_ns);
		return;
	}
	/*
	 * Everything else waits for a page of this board, and the driver always
	 * answers. But where memory is short the pages of blocks may drive each
	 * other out for ever.
	 */
	if (state == FL_TX_SRCFAULT && c->owner == FW_CTX_JOB &&
	    fw_job_drops(fw, c->job))
		return;
	if (state == FL_TX_SRCFAULT && fw_abort(fw, c))
		return;
	if (state == FL_TX_SRCFAULT && !steps_aside(fw, c, true) &&
	    !gives_up(fw, c))
		fw_timer_stop(fw, c);
}

/*
 * A READY that overtook REFUSED is no note, but it begins an attempt: one that no time-out
 * began, so the peer lives.
 */
static bool peer_has_spoken(struct fw *fw, const struct fw_ctx *c)
{
	uint32_t state, v = ctx_state(fw, c, &state);

	return (v & NIC_CTX_STATE_ATTEMPT_MASK) >> NIC_CTX_STATE_ATTEMPT_SHIFT !=
	       c->asked;
}

static void note_flying(struct fw *fw, struct fw_ctx *c)
{
	set_waiting(fw, c, false);
	if (c->tries && peer_has_spoken(fw, c))
		c->tries = 0;
	if (c->owner == FW_CTX_JOB)
		fw_job_tell(fw, c->job, FL_ST_OK);
	c->resent = c->sent;
	c->sent = true;
	c->put_off = c->parked = false;
	fw_timer_start(fw, c, fw->cfg.timeout_ns);
}

static void note_tx(struct fw *fw, uint32_t kind, uint32_t n, uint8_t serial)
{
	struct fw_ctx *c;

	if (n >= fw->contexts)
		return;
	c = &fw->ctx[n];
	/* A note of a block that is over: the context carries another one. */
	if (c->owner == FW_CTX_FREE || c->serial != serial)
		return;
	if (kind == FL_NOTE_TX_DONE)
		note_done(fw, c);
	else if (c->killed)
		return;
	else if (kind == FL_NOTE_TX_REFUSED)
		note_refused(fw, c);
	else if (kind == FL_NOTE_TX_WAITING)
		note_waiting(fw, c);
	else if (kind == FL_NOTE_TX_FLYING)
		note_flying(fw, c);
}

bool fw_ctx_step(struct fw *fw)
{
	uint32_t v = fw_read32(fw, NIC_ENG_BASE + NIC_ENG_EVT_POP);
	uint32_t kind, n;
	uint8_t serial;

	if (!(v & NIC_ENG_EVT_POP_VALID))
		return false;
	kind = (v & NIC_ENG_EVT_POP_KIND_MASK) >> NIC_ENG_EVT_POP_KIND_SHIFT;
	n = (v & NIC_ENG_EVT_POP_INDEX_MASK) >> NIC_ENG_EVT_POP_INDEX_SHIFT;
	serial = (uint8_t)((v & NIC_ENG_EVT_POP_SERIAL_MASK) >>
			   NIC_ENG_EVT_POP_SERIAL_SHIFT);
	fw->costs[FW_COST_EVENT]++;
	if (kind != FL_NOTE_RX_OPEN && kind != FL_NOTE_RX_LANDED)
		note_tx(fw, kind, n, serial);
	else if (n < NIC_RXC_COUNT && kind == FL_NOTE_RX_OPEN)
		fw_rx_open(fw, n, serial);
	else if (n < NIC_RXC_COUNT)
		fw_rx_landed(fw, n, serial);
	return true;
}
