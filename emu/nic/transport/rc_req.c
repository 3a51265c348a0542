// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requester, channel 0: which packet goes next, and going back.
 *
 * PSNs are given to a request when its first packet is about to go, one for each packet; a
 * READ gets one for each packet of its response (InfiniBand 9.7.3). [una, end) is outstanding.
 * Going back moves `next` to una, and everything from there is sent again (9.7.6).
 */
#include "nic/transport/rc_internal.h"

#include <string.h>

#include "trace/event.h"

void rc_req_start(struct rc_pair *q)
{
	struct rc_requester *r = &q->req;

	r->started = true;
	r->una = r->next = r->end = q->p.sq_psn & RC_PSN_MASK;
	r->retries = q->p.retries;
	r->rnr_tries = q->p.rnr_tries;
}

static bool work_is_known(const struct fw_work *w)
{
	switch (w->opcode) {
	case FL_OP_SEND:
	case FL_OP_WRITE:
	case FL_OP_READ:
	case FL_OP_FETCH_ADD:
	case FL_OP_CMP_SWAP:
		return true;
	default:
		return false;
	}
}

static bool work_fits(const struct fw_work *w, uint32_t packets)
{
	if ((w->flags & FL_WQE_INLINE) && w->length > FW_INLINE_MAX)
		return false;
	return w->segments <= FW_SEGMENTS_MAX && packets <= RC_PACKETS_MAX;
}

void rc_req_post(struct rc *rc, struct rc_pair *q, uint32_t wr, const struct fw_work *w)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e = rc_req_at(r, r->tail);

	*e = (struct rc_req){ .work = *w, .wr = wr };
	if (w->opcode == FL_OP_FETCH_ADD || w->opcode == FL_OP_CMP_SWAP)
		e->packets = 1;
	else
		e->packets = rc_packets(w->length, q->p.mtu);
	r->tail++;
	if (!work_is_known(w) || (rc_req_answers(e) && !q->p.rd_atomic))
		rc_req_fail(rc, q, e, FL_ST_BAD_OPCODE, w->cause);
	else if (!work_fits(w, e->packets))
		rc_req_fail(rc, q, e, FL_ST_BAD_LENGTH, w->cause);
	else
		rc_pair_ready(rc, q);
}

/* Outstanding READs and atomics before request n. */
static unsigned int answers_missing(struct rc_requester *r, uint32_t n)
{
	unsigned int missing = 0;
	uint32_t i;

	for (i = r->head; i != n; i++)
		missing += rc_req_answers(rc_req_at(r, i));
	return missing;
}

/* May the request at `place`, of which nothing was sent yet, begin? */
static bool req_may_begin(struct rc_pair *q, const struct rc_req *e)
{
	struct rc_requester *r = &q->req;
	unsigned int missing = answers_missing(r, r->place);

	/* InfiniBand 10.8.3.3: the fence waits for READs and atomics. */
	if ((e->work.flags & FL_WQE_FENCE) && missing)
		return false;
	if (rc_req_answers(e) && missing >= q->p.rd_atomic)
		return false;
	return r->una == r->next ||
	       (uint32_t)rc_psn_diff(r->next, r->una) + e->packets <= RC_PACKETS_MAX;
}

static bool req_may_send(struct rc *rc, struct rc_pair *q)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e;

	if (!q->p.sends || !r->started || r->parked || r->rewinding ||
	    r->rnr_due != RC_NEVER || r->place == r->tail)
		return false;
	if ((uint32_t)rc_psn_diff(r->next, r->una) >= rc->cfg.window)
		return false;
	if (r->dammed && rc_psn_diff(r->next, r->dam) >= 0)
		return false;
	e = rc_req_at(r, r->place);
	if (e->failed)
		return false;
	return e->placed || req_may_begin(q, e);
}

static uint8_t send_opcode(const struct rc_req *e, uint32_t k)
{
	bool first = !k, last = k + 1 == e->packets;
	bool imm = last && (e->work.flags & FL_WQE_IMM);

	if (e->work.opcode == FL_OP_SEND) {
		if (first && last)
			return imm ? WOP_RC_SEND_ONLY_IMM : WOP_RC_SEND_ONLY;
		if (last)
			return imm ? WOP_RC_SEND_LAST_IMM : WOP_RC_SEND_LAST;
		return first ? WOP_RC_SEND_FIRST : WOP_RC_SEND_MIDDLE;
	}
	if (first && last)
		return imm ? WOP_RC_WRITE_ONLY_IMM : WOP_RC_WRITE_ONLY;
	if (last)
		return imm ? WOP_RC_WRITE_LAST_IMM : WOP_RC_WRITE_LAST;
	return first ? WOP_RC_WRITE_FIRST : WOP_RC_WRITE_MIDDLE;
}

/* At the end of a message, and within it often enough that the window never closes. */
static bool wants_ack(const struct rc *rc, const struct rc_pair *q, const struct rc_req *e,
		      uint32_t k)
{
	const struct rc_requester *r = &q->req;
	uint32_t every = rc->cfg.window / 4 ? rc->cfg.window / 4 : 1;
	uint32_t under_way = (uint32_t)rc_psn_diff(r->next, r->una) + 1;

	return k + 1 == e->packets || r->next % every == 0 || under_way >= rc->cfg.window;
}

/* Packet k of a SEND or WRITE: its data is gathered. */
static void job_send(struct rc *rc, struct rc_pair *q, struct rc_req *e, uint32_t k)
{
	struct rc_job *job = &rc->job;
	struct rc_packet *p = &job->packet;
	uint32_t at = k * q->p.mtu, len = e->work.length - at;

	if (len > q->p.mtu)
		len = q->p.mtu;
	p->opcode = send_opcode(e, k);
	p->imm = e->work.imm;
	p->payload_len = len;
	p->ackreq = wants_ack(rc, q, e, k);
	p->solicited = k + 1 == e->packets && (e->work.flags & FL_WQE_SOLICITED) &&
		       (e->work.opcode == FL_OP_SEND || (e->work.flags & FL_WQE_IMM));
	if (e->work.flags & FL_WQE_INLINE) {
		memcpy(job->data, e->work.data + at, len);
		len = 0;
	}
	rc_move_local(&job->mover, q, e->work.segment, e->work.segments, at, len);
}

/* A READ that is sent again asks for the rest only, from a multiple of the MTU on. */
static void job_ask(struct rc_pair *q, struct rc_job *job, const struct rc_req *e)
{
	struct rc_packet *p = &job->packet;

	switch (e->work.opcode) {
	case FL_OP_READ:
		p->opcode = WOP_RC_READ_REQUEST;
		p->va += e->done;
		p->length -= e->done;
		break;
	case FL_OP_FETCH_ADD:
		p->opcode = WOP_RC_FETCH_ADD;
		break;
	default:
		p->opcode = WOP_RC_CMP_SWAP;
		break;
	}
	p->ackreq = true;
	rc_move_local(&job->mover, q, e->work.segment, e->work.segments, 0, 0);
}

/* Begin with the next packet, if one may go. */
bool rc_req_pick(struct rc *rc, struct rc_pair *q)
{
	struct rc_requester *r = &q->req;
	struct rc_job *job = &rc->job;
	struct rc_req *e;

	if (!req_may_send(rc, q))
		return false;
	e = rc_req_at(r, r->place);
	if (!e->placed) {
		e->placed = true;
		e->first = r->next;
	}
	job->kind = RC_JOB_REQUEST;
	job->turn = r->turn;
	job->xfer = e->work.xfer;
	job->cause = e->work.cause;
	job->packet = (struct rc_packet){
		.dest_qp = q->p.peer_qp, .psn = r->next, .va = e->work.remote_va,
		.rkey = e->work.rkey, .length = e->work.length,
		.swap = e->work.swap, .compare = e->work.compare,
	};
	if (rc_req_answers(e))
		job_ask(q, job, e);
	else
		job_send(rc, q, e, (uint32_t)rc_psn_diff(r->next, e->first));
	return true;
}

void rc_req_sent(struct rc *rc, struct rc_pair *q)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e = rc_req_at(r, r->place);
	uint32_t after = rc_psn_add(e->first, e->packets);

	if (rc_psn_diff(r->next, r->end) < 0) {
		rc->stats.resent++;
		e->resends++;
	}
	r->next = rc_req_answers(e) ? after : rc_psn_add(r->next, 1);
	if (rc_psn_diff(r->next, r->end) > 0)
		r->end = r->next;
	if (r->next == after)
		r->place++;
	rc_ack_timer(rc, q, false);
}

/* What FL_ST_SEEN_* means for the owner of a request or receive. */
uint8_t rc_local_status(uint8_t seen)
{
	switch (seen) {
	case FL_ST_SEEN_KEY:
		return FL_ST_LOCAL_KEY;
	case FL_ST_SEEN_RIGHTS:
		return FL_ST_LOCAL_RIGHTS;
	default:
		return FL_ST_LOCAL_RANGE;
	}
}

/* A page that the packet is to be read from is missing. */
void rc_req_missed(struct rc *rc, struct rc_pair *q)
{
	struct rc_requester *r = &q->req;
	struct rc_req *e = rc_req_at(r, r->place);
	struct rc_mover *m = &rc->job.mover;
	struct rc_miss miss = {
		.qp = q->place, .side = RC_REQUESTER, .write = false,
		.opcode = e->work.opcode, .wr = e->wr, .psn = r->next,
		.left = e->work.length - m->at - m->left, .work = &e->work,
	};

	switch (rc_ask(rc, m, &miss).verdict) {
	case RC_FAIL:
		rc->job.active = false;
		rc_req_fail(rc, q, e, FL_ST_LOCAL_FAULT, m->cause);
		return;
	case RC_SLEEP:
		rc_sleep(rc, m, &miss);
		return;
	default:	/* the data is local: the queue waits */
		rc->job.active = false;
		r->parked = true;
		r->parked_at = r->place;
		r->turn++;
		rc_ack_timer(rc, q, false);
		return;
	}
}

void rc_req_go_back(struct rc *rc, struct rc_pair *q, enum rc_why why, uint64_t cause)
{
	struct rc_requester *r = &q->req;

	rc->stats.rewinds++;
	if (why == RC_WHY_PAGE)
		rc->stats.read_rewinds++;
	rc_note(rc, EV_RC_REWIND, rc_req_at(r, r->head)->work.xfer, cause, q, r->una, why,
		(uint64_t)rc_psn_diff(r->end, r->una));
	r->next = r->una;
	r->place = r->head;
	r->turn++;
	rc_pair_ready(rc, q);
}

/* InfiniBand 9.7.6, 9.9.2: each round costs a try; no round begins within another. */
void rc_req_retry(struct rc *rc, struct rc_pair *q, enum rc_why why, uint64_t cause)
{
	struct rc_requester *r = &q->req;

	if (r->rewinding || (r->rnr_due != RC_NEVER && why != RC_WHY_TIMEOUT))
		return;
	if (r->round && why != RC_WHY_TIMEOUT)
		return;
	if (!r->retries) {
		rc_req_fail(rc, q, rc_req_at(r, r->head), FL_ST_NO_ANSWER, cause);
		return;
	}
	r->retries--;
	r->round = true;
	rc_req_go_back(rc, q, why, cause);
	rc_ack_timer(rc, q, true);
}

void rc_req_fail(struct rc *rc, struct rc_pair *q, struct rc_req *e, uint8_t status,
		 uint64_t cause)
{
	if (!e->failed) {
		e->failed = status;
		e->work.cause = rc_note(rc, EV_RC_ERROR, e->work.xfer, cause, q,
					e->placed ? e->first : q->req.end, status,
					RC_REQUESTER);
	}
	rc_done_settle(rc, q);
}
