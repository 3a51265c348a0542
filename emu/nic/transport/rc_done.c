// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requester, channel 1: what acknowledgements and responses do (InfiniBand 9.7.5.1, 9.9.2).
 * Requests end in the order in which they were posted.
 */
#include "nic/transport/rc_internal.h"
#include "trace/event.h"

/* Progress: both counts of tries start anew, and a retry round is over. */
static void req_progress(struct rc *rc, struct rc_pair *q, uint32_t una)
{
	struct rc_requester *r = &q->req;

	r->una = una;
	r->retries = q->p.retries;
	r->rnr_tries = q->p.rnr_tries;
	r->round = false;
	if (rc_psn_diff(r->next, una) < 0) {
		r->next = una;
		r->turn++;
	}
	rc_ack_timer(rc, q, true);
	rc_pair_ready(rc, q);
}

/* The oldest request is over. false: the firmware has closed the pair meanwhile. */
static bool req_over(struct rc *rc, struct rc_pair *q, uint8_t status, uint64_t cause)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e = rc_req_at(r, r->head);
	uint32_t wr = e->wr, resends = e->resends, epoch = q->epoch;

	if (r->place == r->head)
		r->place++;
	r->head++;
	rc->env.fw.work_done(rc->env.fw.ctx, q->place, wr, status, resends, cause);
	return q->open && q->epoch == epoch;
}

void rc_done_settle(struct rc *rc, struct rc_pair *q)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e = rc_req_at(r, r->head);

	if (r->head == r->tail || !e->failed)
		return;
	req_over(rc, q, e->failed, e->work.cause);
}

/*
 * Everything before PSN upto is executed (9.7.5.1.2: acknowledgements are coalesced). That
 * completes SENDs and WRITEs up to the next READ or atomic, which needs its own response.
 * false: the pair was closed.
 */
static bool req_acked(struct rc *rc, struct rc_pair *q, uint32_t upto, uint64_t cause)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e;
	uint32_t after;

	while (r->head != r->tail) {
		e = rc_req_at(r, r->head);
		if (!e->placed || rc_req_answers(e))
			break;
		after = rc_psn_add(e->first, e->packets);
		if (rc_psn_diff(upto, after) < 0) {
			if (rc_psn_diff(upto, r->una) > 0)
				req_progress(rc, q, upto);
			break;
		}
		req_progress(rc, q, after);
		if (!req_over(rc, q, FL_ST_OK, cause))
			return false;
	}
	rc_done_settle(rc, q);
	return q->open;
}

/* Does a response to PSN upto - 1 mean that the oldest request's response was lost? */
static bool answer_is_lost(struct rc_pair *q, uint32_t upto)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e = rc_req_at(r, r->head);

	return r->head != r->tail && e->placed && rc_req_answers(e) &&
	       rc_psn_diff(upto, rc_psn_add(e->first, e->packets)) > 0;
}

/* InfiniBand 9.7.5.2.8: nothing more is sent before the time is over. */
static void req_not_ready(struct rc *rc, struct rc_pair *q, const struct rc_packet *p,
			  uint64_t cause)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e = rc_req_at(r, r->head);
	uint64_t wait = rc_rnr_wait_ns(rc, q, p->syndrome & 31);

	/*
	 * Whoever refuses the oldest request is there, so that no try was in vain. (Answers
	 * to what was posted behind it may arrive in the next round, and imply that it was
	 * lost.) A card that lets its timer run on does not think so.
	 */
	if (p->psn == r->una && !rc_has_quirk(rc, q, RC_QUIRK_CUT))
		r->retries = q->p.retries;
	if (r->rnr_due != RC_NEVER || r->rewinding || r->head == r->tail)
		return;
	if (!r->rnr_tries) {
		rc_req_fail(rc, q, e, FL_ST_RNR_TRIES, cause);
		return;
	}
	if (q->p.rnr_tries != 7)
		r->rnr_tries--;
	rc->stats.rnr_waits++;
	rc_note(rc, EV_RC_WAIT, e->work.xfer, cause, q, p->psn, wait, r->rnr_tries);
	r->rnr_due = rc->now_ns + wait;
	r->round = false;
	r->turn++;
	rc_ack_timer(rc, q, false);
}

static uint8_t fatal_status(uint8_t syndrome)
{
	switch (syndrome) {
	case RC_SYN_NAK_ACCESS:
		return FL_ST_REMOTE_ACCESS;
	case RC_SYN_NAK_OPERATION:
		return FL_ST_REMOTE_FAULT;
	default:
		return FL_ST_REMOTE_INVALID;
	}
}

/*
 * The peer has refused a request, and with it the connection. A READ or atomic before it
 * whose answer was lost cannot ask again: it was not refused, but nobody will answer.
 */
static void req_refused(struct rc *rc, struct rc_pair *q, const struct rc_packet *p,
			uint64_t cause)
{
	struct rc_req *e = rc_req_at(&q->req, q->req.head);
	bool its_own = rc_psn_diff(p->psn, rc_psn_add(e->first, e->packets)) < 0;

	rc_req_fail(rc, q, e, its_own ? fatal_status(p->syndrome) : FL_ST_NO_ANSWER, cause);
}

/* A NAK acknowledges what lies before its PSN (9.7.5.1). */
static void req_nak(struct rc *rc, struct rc_pair *q, const struct rc_packet *p,
		    uint64_t cause)
{
	struct rc_requester *r = &q->req;

	if (!req_acked(rc, q, p->psn, cause) || r->head == r->tail)
		return;
	if (rc_syn_is_rnr(p->syndrome))
		req_not_ready(rc, q, p, cause);
	else if (p->syndrome == RC_SYN_NAK_SEQUENCE)
		rc_req_retry(rc, q, RC_WHY_SEQUENCE, cause);
	else
		req_refused(rc, q, p, cause);
}

static bool syndrome_is_known(uint8_t s)
{
	return rc_syn_is_ack(s) || rc_syn_is_rnr(s) ||
	       (s >= RC_SYN_NAK_SEQUENCE && s <= RC_SYN_NAK_OPERATION);
}

static void req_acknowledge(struct rc *rc, struct rc_pair *q, const struct rc_packet *p,
			    uint64_t cause)
{
	uint32_t upto = rc_psn_add(p->psn, 1);

	rc->stats.acks++;
	if (!req_acked(rc, q, upto, cause))
		return;
	/* 9.7.6, implied NAK: a later request is acknowledged. */
	if (answer_is_lost(q, upto))
		rc_req_retry(rc, q, RC_WHY_IMPLIED, cause);
}

/* Have the opcode and the length what this part of the READ must have? */
static bool response_fits(const struct rc_pair *q, const struct rc_req *e,
			  const struct rc_packet *p)
{
	uint32_t left = e->work.length - e->done;
	bool last = left <= q->p.mtu;

	if (p->opcode == WOP_RC_ATOMIC_ACKNOWLEDGE)
		return e->work.opcode != FL_OP_READ && rc_syn_is_ack(p->syndrome);
	if (e->work.opcode != FL_OP_READ || p->payload_len != (last ? left : q->p.mtu))
		return false;
	switch (p->opcode) {
	case WOP_RC_READ_RESPONSE_FIRST:
		return !last && rc_syn_is_ack(p->syndrome);
	case WOP_RC_READ_RESPONSE_MIDDLE:
		return !last;
	default:
		return last && rc_syn_is_ack(p->syndrome);
	}
}

/* The expected response has arrived: its bytes go to memory. */
static void response_land(struct rc *rc, struct rc_pair *q, struct rc_req *e)
{
	struct rc_taking *t = &rc->take;
	struct rc_packet *p = &t->packet;
	unsigned int i;

	rc_move_local(&t->mover, q, e->work.segment, e->work.segments, e->done,
		      p->payload_len);
	t->landing = true;
	t->mover.buf = rc_payload(&t->what->frame, p->opcode);
	if (p->opcode == WOP_RC_ATOMIC_ACKNOWLEDGE) {
		for (i = 0; i < 8; i++)
			t->word[i] = (uint8_t)(p->original >> 8 * i);
		t->mover.left = 8;
		t->mover.buf = t->word;
	}
	t->mover.write = true;
	t->mover.right = FL_ACC_LOCAL_WRITE;
	t->mover.channel = 1;
	t->mover.xfer = e->work.xfer;
	t->mover.cause = t->what->frame.cause;
}

/* READ responses and atomic acknowledgements come in order (9.7.5.1.2). */
static void req_response(struct rc *rc, struct rc_pair *q, const struct rc_packet *p,
			 uint64_t cause)
{
	struct rc_requester *r = &q->req;
	const struct wire_frame *f = &rc->take.what->frame;
	struct rc_req *e;

	if (!req_acked(rc, q, p->psn, cause))
		return;
	e = rc_req_at(r, r->head);
	if (r->head == r->tail || !e->placed || !rc_req_answers(e)) {
		rc_drop(rc, q, f, p, RC_DROP_RESPONSE);
	} else if (r->rewinding) {
		rc_drop(rc, q, f, p, RC_DROP_REWINDING);
	} else if (p->psn != r->una) {
		rc_drop(rc, q, f, p, RC_DROP_GAP);
		if (answer_is_lost(q, rc_psn_add(p->psn, 1)))
			rc_req_retry(rc, q, RC_WHY_IMPLIED, cause);
	} else if (!response_fits(q, e, p)) {
		rc_drop(rc, q, f, p, RC_DROP_RESPONSE);
	} else {
		response_land(rc, q, e);
	}
}

void rc_done_begin(struct rc *rc, struct rc_pair *q)
{
	struct rc_requester *r = &q->req;
	const struct rc_packet *p = &rc->take.packet;
	const struct wire_frame *f = &rc->take.what->frame;

	if (rc_psn_diff(p->psn, r->una) < 0 || rc_psn_diff(p->psn, r->end) >= 0)
		rc_drop(rc, q, f, p, RC_DROP_STALE);
	else if (p->opcode != WOP_RC_ACKNOWLEDGE)
		req_response(rc, q, p, f->cause);
	else if (!syndrome_is_known(p->syndrome))
		rc_drop(rc, q, f, p, RC_DROP_BAD);
	else if (rc_syn_is_ack(p->syndrome))
		req_acknowledge(rc, q, p, f->cause);
	else
		req_nak(rc, q, p, f->cause);
}

/* The page that the response belongs to is missing. */
static void response_missed(struct rc *rc, struct rc_pair *q, struct rc_req *e)
{
	struct rc_requester *r = &q->req;
	struct rc_mover *m = &rc->take.mover;
	struct rc_miss miss = {
		.qp = q->place, .side = RC_REQUESTER, .write = true,
		.opcode = e->work.opcode, .wr = e->wr, .psn = rc->take.packet.psn,
		.left = rc_req_answers(e) && e->work.opcode == FL_OP_READ ?
			e->work.length - m->at - m->left : 0,
		.work = &e->work,
	};

	switch (rc_ask(rc, m, &miss).verdict) {
	case RC_FAIL:
		rc_req_fail(rc, q, e, FL_ST_LOCAL_FAULT, m->cause);
		break;
	case RC_SLEEP:
		rc_sleep(rc, m, &miss);
		break;
	case RC_PARK:
	case RC_REWIND:
		rc->stats.dropped++;
		r->rewinding = true;
		r->turn++;
		rc_ack_timer(rc, q, false);
		break;
	default:
		rc_drop(rc, q, &rc->take.what->frame, &rc->take.packet, RC_DROP_MISSING);
		break;
	}
}

void rc_done_landed(struct rc *rc, struct rc_pair *q, enum rc_moved how)
{
	struct rc_requester *r = &q->req;
	struct rc_mover *m = &rc->take.mover;
	struct rc_packet *p = &rc->take.packet;
	struct rc_req *e = rc_req_at(r, r->head);

	switch (how) {
	case RC_MISSED:
		response_missed(rc, q, e);
		return;
	case RC_DENIED:
		rc_req_fail(rc, q, e, rc_local_status(m->denied), m->cause);
		return;
	case RC_BROKEN:
		rc_req_fail(rc, q, e, m->status, m->cause);
		return;
	default:
		break;
	}
	e->done += p->payload_len;
	req_progress(rc, q, rc_psn_add(p->psn, 1));
	if (r->una == rc_psn_add(e->first, e->packets) && req_over(rc, q, FL_ST_OK, m->cause))
		rc_done_settle(rc, q);
}
