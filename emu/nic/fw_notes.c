// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine's notes (fsm.def, FNOTE), and what follows from each: for the context, and
 * then for whoever it works for, a request, a READ job or a question to the peer.
 */
#include "nic/fw_internal.h"

/*
 * A page that a READ would read is missing: it is forgotten, and will be asked for again.
 * The driver brings the page in meanwhile.
 */
static bool job_drops(struct fw *fw, uint32_t n)
{
	const struct fw_job *j = &fw->job[n];

	if (!fw->peer[j->node][j->peer_ctx].silent)
		return false;
	fw_trace(fw, FW_TRACE_FW_SILENT,
		 (struct fw_at){ j->xfer, j->turn.block, j->cause }, j->node,
		 j->peer_ctx, WOP_READ_REQ, 0);
	fw_job_forget(fw, n);
	return true;
}

static void job_abort(struct fw *fw, uint32_t n)
{
	fw_job_tell(fw, n, FL_ST_FAULT_FAST);
	fw_ctx_abandon(fw, &fw->ctx[fw->job[n].ctx]);
	fw_job_fail(fw, n, FL_ST_FAULT_FAST);
}

static bool ctx_abort(struct fw *fw, struct fw_ctx *c)
{
	uint8_t which = fw->slot[fw->qp[c->qp].slot].abort;
	struct fw_at at = { c->xfer, c->block, c->cause };

	if (!(which & (c->owner == FW_CTX_JOB ? FL_ABORT_READ : FL_ABORT_WRITE)))
		return false;
	c->cause = fw_trace(fw, FW_TRACE_FW_ABORT, at, (uint64_t)(c - fw->ctx),
			    c->op, 0, 0);
	if (c->owner == FW_CTX_JOB)
		job_abort(fw, c->job);
	else
		fw_ctx_kill(fw, c, FL_ST_FAULT_FAST);
	return true;
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
	uint32_t n = fw_ctx_number(fw, c), state, v = fw_ctx_state(fw, c, &state);
	uint8_t status = (uint8_t)((v & NIC_CTX_STATE_STATUS_MASK) >>
				   NIC_CTX_STATE_STATUS_SHIFT);
	struct fw_ctx gone;

	if (state != FL_TX_DONE)
		return;
	/* Sent once is attempt 0; the number wraps, what was seen does not. */
	if (v & NIC_CTX_STATE_ATTEMPT_MASK)
		c->resent = true;
	fw_timer_stop(fw, c);
	fw_ctx_set_waiting(fw, c, false);
	fw_write32(fw, NIC_CTX_BASE(n) + NIC_CTX_CTRL, NIC_CTX_CTRL_RELEASE);
	if (c->again && status == FL_ST_KILLED && ctx_is_wanted(fw, c)) {
		c->aside = fw_ctx_others_first(fw, c);
		c->again = c->killed = c->parked = false;
		if (!c->aside)
			fw_ctx_restart(fw, c);
		return;
	}
	if (fw->tx_elder == 1 + n)
		fw_ctx_elder_end(fw);
	fw_ctx_count(fw, c, -1);
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
	if (fw_ctx_others_first(fw, c)) {
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
	uint32_t state, v = fw_ctx_state(fw, c, &state);
	uint8_t why = (uint8_t)((v & NIC_CTX_STATE_STATUS_MASK) >>
				NIC_CTX_STATE_STATUS_SHIFT);

	/* A READ stays FLYING; anything else has gone on already. */
	if (state != FL_TX_DSTFAULT &&
	    (state != FL_TX_FLYING || c->op != FL_OP_READ))
		return;
	fw_ctx_set_waiting(fw, c, true);
	c->tries = 0;
	c->unsure = false;
	if (why == FL_ST_WAIT && c->owner == FW_CTX_REQUEST) {
		peer_not_yet(fw, c);
	} else if (why) {
		peer_busy(fw, c);
	} else {
		fw_ctx_elder_heard(fw, c);
		peer_lacks_pages(fw, c);
	}
}

static void note_waiting(struct fw *fw, struct fw_ctx *c)
{
	/* What was asked for again is at work still: no page has left since. */
	bool anew = !c->tries;
	uint32_t state;

	fw_ctx_set_waiting(fw, c, true);
	fw_ctx_state(fw, c, &state);
	/*
	 * The peer lives and is at it, or a page is missing where a READ's
	 * answer goes: the peer's silence gets the long timer.
	 */
	if (state == FL_TX_FLYING) {
		c->tries = 0;
		c->put_off = c->parked = false;
		if (c->op == FL_OP_READ && fw_ctx_answer_lacks_pages(fw, c) &&
		    fw_ctx_steps_aside(fw, c, anew))
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
	    job_drops(fw, c->job))
		return;
	if (state == FL_TX_SRCFAULT && ctx_abort(fw, c))
		return;
	if (state == FL_TX_SRCFAULT && !fw_ctx_steps_aside(fw, c, true) &&
	    !gives_up(fw, c))
		fw_timer_stop(fw, c);
}

/*
 * A READY that overtook REFUSED is no note, but it begins an attempt: one that no time-out
 * began, so the peer lives.
 */
static bool peer_has_spoken(struct fw *fw, const struct fw_ctx *c)
{
	uint32_t state, v = fw_ctx_state(fw, c, &state);

	return (v & NIC_CTX_STATE_ATTEMPT_MASK) >> NIC_CTX_STATE_ATTEMPT_SHIFT !=
	       c->asked;
}

static void note_flying(struct fw *fw, struct fw_ctx *c)
{
	fw_ctx_set_waiting(fw, c, false);
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
