// SPDX-License-Identifier: BSD-2-Clause
/*
 * Responder, channel 1: requests of the peer, in the order of PSNs (InfiniBand 9.7.4.1).
 * The expected PSN is executed, one behind it is a duplicate, one ahead is dropped.
 */
#include "nic/transport/rc_internal.h"
#include "trace/event.h"

/* What an opcode of SEND or WRITE says about its message. */
static bool opcode_is_send(uint8_t op)
{
	return op <= WOP_RC_SEND_ONLY_IMM;
}

static bool opcode_is_first(uint8_t op)
{
	return op == WOP_RC_SEND_FIRST || op == WOP_RC_SEND_ONLY ||
	       op == WOP_RC_SEND_ONLY_IMM || op == WOP_RC_WRITE_FIRST ||
	       op == WOP_RC_WRITE_ONLY || op == WOP_RC_WRITE_ONLY_IMM;
}

static bool opcode_is_last(uint8_t op)
{
	return op != WOP_RC_SEND_FIRST && op != WOP_RC_SEND_MIDDLE &&
	       op != WOP_RC_WRITE_FIRST && op != WOP_RC_WRITE_MIDDLE;
}

static bool opcode_has_imm(uint8_t op)
{
	return op == WOP_RC_SEND_LAST_IMM || op == WOP_RC_SEND_ONLY_IMM ||
	       op == WOP_RC_WRITE_LAST_IMM || op == WOP_RC_WRITE_ONLY_IMM;
}

/* Later requests wait while a READ is being answered, or while answers pile up. */
bool rc_resp_blocked(const struct rc_pair *q)
{
	return q->resp.read.active || q->resp.answers >= RC_ANSWERS - 2;
}

void rc_resp_advance(struct rc_pair *q, uint32_t packets)
{
	q->resp.epsn = rc_psn_add(q->resp.epsn, packets);
	q->resp.silent = false;
	q->resp.lost[0].code = q->resp.lost[1].code = FL_ST_OK;
}

/* InfiniBand 9.7.5.2.8: this PSN is not executed now, and neither is any later one. */
void rc_resp_rnr(struct rc *rc, struct rc_pair *q, uint32_t psn, uint8_t code, uint64_t cause)
{
	if (psn == q->resp.epsn)
		q->resp.silent = true;
	rc->stats.rnr_sent++;
	rc_answer_add(rc, q, RC_ANSWER_NAK, psn, cause)->syndrome =
		(uint8_t)(RC_SYN_RNR | (code & 31));
}

void rc_resp_refuse(struct rc *rc, struct rc_pair *q, uint32_t psn, uint8_t syndrome,
		    uint8_t status, uint64_t cause)
{
	struct rc_answer *a = rc_answer_add(rc, q, RC_ANSWER_NAK, psn, cause);

	rc->stats.naks_fatal++;
	q->resp.dying = true;
	a->syndrome = syndrome;
	a->ends = status;
	a->cause = rc_note(rc, EV_RC_ERROR, a->xfer, cause, q, psn, status, RC_RESPONDER);
}

/* The receive entry of this message completes. */
static void recv_over(struct rc *rc, struct rc_pair *q, uint8_t status, bool with_imm)
{
	struct rc_responder *r = &q->resp;
	const struct rc_packet *p = &rc->take.packet;
	struct fw_arrival a = {
		.cause = rc->take.mover.cause, .length = r->at, .imm = p->imm,
		.opcode = FL_OP_RECV, .status = status, .solicited = p->solicited,
	};
	struct fw_recv recv = r->recv;

	if (with_imm)
		a.opcode = opcode_is_send(p->opcode) ? FL_OP_RECV_IMM : FL_OP_RECV_WRITE_IMM;
	r->held = false;
	rc->env.fw.recv_done(rc->env.fw.ctx, q->place, &recv, &a);
}

/* A driver's answer has the peer's word for a page of this side's. */
static uint8_t own_status(uint8_t status)
{
	return status == FL_ST_REMOTE_FAULT ? FL_ST_LOCAL_FAULT : status;
}

/* The page will never come. A message's receive says so, too. */
static void resp_lost(struct rc *rc, struct rc_pair *q, const struct rc_mover *m, uint32_t psn,
		      uint8_t status)
{
	rc_resp_refuse(rc, q, psn, RC_SYN_NAK_OPERATION, status, m->cause);
	if (m->segment)
		recv_over(rc, q, own_status(status), false);
}

void rc_resp_missed(struct rc *rc, struct rc_pair *q, const struct rc_mover *m, uint32_t psn,
		    uint8_t opcode, uint64_t left)
{
	struct rc_miss miss = {
		.qp = q->place, .side = RC_RESPONDER, .write = m->write,
		.opcode = opcode, .psn = psn, .left = left,
	};
	struct rc_judged j;

	/* What was refused is this packet, and no other of the queue pair's. */
	if (q->resp.lost[m->write].code != FL_ST_OK && q->resp.lost[m->write].psn == psn) {
		resp_lost(rc, q, m, psn, q->resp.lost[m->write].code);
		return;
	}
	j = rc_ask(rc, m, &miss);
	switch (j.verdict) {
	case RC_RNR:
		rc_resp_rnr(rc, q, psn, j.rnr_code, m->cause);
		break;
	case RC_SLEEP:
		rc_sleep(rc, m, &miss);
		break;
	case RC_FAIL:
		resp_lost(rc, q, m, psn, FL_ST_LOCAL_FAULT);
		break;
	default:
		rc->stats.dropped++;
		break;
	}
}

/* InfiniBand 9.7.5.2: the peer's mistake, or our own. */
void rc_resp_failed(struct rc *rc, struct rc_pair *q, const struct rc_mover *m, uint32_t psn,
		    enum rc_moved how)
{
	uint8_t syndrome = RC_SYN_NAK_ACCESS, status = FL_ST_REMOTE_ACCESS;

	if (how == RC_BROKEN) {
		syndrome = RC_SYN_NAK_OPERATION;
		status = m->status;
	} else if (m->segment) {	/* what the receive entry says */
		syndrome = RC_SYN_NAK_OPERATION;
		status = rc_local_status(m->denied);
	}
	rc_resp_refuse(rc, q, psn, syndrome, status, m->cause);
}

/* true: the message has its receive entry. false: it has none, and was answered. */
static bool recv_have(struct rc *rc, struct rc_pair *q)
{
	struct rc_responder *r = &q->resp;
	const struct rc_packet *p = &rc->take.packet;
	uint64_t cause = rc->take.what->frame.cause;
	uint8_t wrong = FL_ST_OK;

	if (r->held)
		return true;
	if (!rc->env.fw.recv_take(rc->env.fw.ctx, q->place, &r->recv, &wrong)) {
		rc_resp_rnr(rc, q, p->psn, q->p.rnr_code, cause);
		return false;
	}
	r->held = true;
	if (wrong == FL_ST_OK)
		return true;
	rc_resp_refuse(rc, q, p->psn, RC_SYN_NAK_OPERATION, wrong, cause);
	recv_over(rc, q, wrong, false);
	return false;
}

/* Is the opcode in sequence, and the length what it must be (9.7.4.1)? */
static bool message_fits(const struct rc_pair *q, const struct rc_packet *p)
{
	const struct rc_responder *r = &q->resp;
	bool first = opcode_is_first(p->opcode), last = opcode_is_last(p->opcode);
	uint8_t want = opcode_is_send(p->opcode) ? RC_MSG_SEND : RC_MSG_WRITE;

	if (r->message != (first ? RC_MSG_NONE : want))
		return false;
	if (last ? p->payload_len > q->p.mtu : p->payload_len != q->p.mtu)
		return false;
	if (!first && !p->payload_len)
		return false;
	if (want == RC_MSG_SEND)
		return true;
	if (last)
		return r->at + p->payload_len == r->length;
	return r->at + p->payload_len < r->length;
}

static void packet_land_send(struct rc *rc, struct rc_pair *q)
{
	struct rc_taking *t = &rc->take;
	struct rc_responder *r = &q->resp;
	const struct rc_packet *p = &t->packet;

	if (!recv_have(rc, q))
		return;
	if ((uint64_t)r->at + p->payload_len > r->recv.length) {
		rc_resp_refuse(rc, q, p->psn, RC_SYN_NAK_INVALID, FL_ST_LENGTH,
			       t->what->frame.cause);
		recv_over(rc, q, FL_ST_LENGTH, false);
		return;
	}
	rc_move_local(&t->mover, q, r->recv.segment, r->recv.segments, r->at, p->payload_len);
	t->landing = true;
	t->mover.right = FL_ACC_LOCAL_WRITE;
}

static void packet_land_write(struct rc *rc, struct rc_pair *q)
{
	struct rc_taking *t = &rc->take;
	struct rc_responder *r = &q->resp;
	const struct rc_packet *p = &t->packet;

	/* 9.7.4.1: rights and range of the whole message; without bytes there is no check. */
	if (opcode_is_first(p->opcode) && r->length &&
	    rc_reach(rc, q, FL_ACC_REMOTE_WRITE, r->rkey, r->va, r->length)) {
		rc_resp_refuse(rc, q, p->psn, RC_SYN_NAK_ACCESS, FL_ST_REMOTE_ACCESS,
			       t->what->frame.cause);
		return;
	}
	if (opcode_has_imm(p->opcode) && !recv_have(rc, q))
		return;
	rc_move_remote(&t->mover, q, r->va, r->rkey, r->at, p->payload_len);
	t->landing = true;
	t->mover.right = FL_ACC_REMOTE_WRITE;
}

/* The right that a request needs of the queue pair that it comes to. */
static uint8_t opcode_right(uint8_t opcode)
{
	if (opcode_is_send(opcode))
		return 0;
	if (opcode < WOP_RC_READ_REQUEST)
		return FL_ACC_REMOTE_WRITE;
	return opcode == WOP_RC_READ_REQUEST ? FL_ACC_REMOTE_READ : FL_ACC_REMOTE_ATOMIC;
}

/* The packet with the expected PSN. */
static void packet_due(struct rc *rc, struct rc_pair *q)
{
	struct rc_taking *t = &rc->take;
	struct rc_responder *r = &q->resp;
	const struct rc_packet *p = &t->packet;
	bool fits = r->message == RC_MSG_NONE;

	if (p->opcode <= WOP_RC_WRITE_ONLY_IMM) {
		if (opcode_is_first(p->opcode) && fits) {
			r->at = 0;
			r->va = p->va;
			r->rkey = p->rkey;
			r->length = p->length;
		}
		fits = message_fits(q, p);
	}
	/* 9.7.4.1.2: an operation that the pair does not serve is none, whatever its key. */
	if (!fits || opcode_right(p->opcode) & q->p.denied)
		rc_resp_refuse(rc, q, p->psn, RC_SYN_NAK_INVALID, FL_ST_REMOTE_INVALID,
			       t->what->frame.cause);
	else if (p->opcode == WOP_RC_READ_REQUEST)
		rc_read_request(rc, q);
	else if (p->opcode > WOP_RC_READ_REQUEST)
		rc_atomic_request(rc, q);
	else if (opcode_is_send(p->opcode))
		packet_land_send(rc, q);
	else
		packet_land_write(rc, q);
	if (t->landing) {
		t->mover.buf = rc_payload(&t->what->frame, p->opcode);
		t->mover.write = true;
		t->mover.channel = 1;
		t->mover.xfer = t->what->frame.xfer;
		t->mover.cause = t->what->frame.cause;
	}
}

/*
 * It was executed before (9.7.4.1). If a READ or atomic follows a duplicate SEND or WRITE, the
 * acknowledgement has the duplicate's own PSN: a later one would be an implied NAK of that READ.
 */
static void packet_again(struct rc *rc, struct rc_pair *q)
{
	struct rc_responder *r = &q->resp;
	const struct rc_packet *p = &rc->take.packet;
	const struct wire_frame *f = &rc->take.what->frame;
	uint64_t note;

	rc->stats.duplicates++;
	note = rc_note(rc, EV_RC_DUPLICATE, f->xfer, f->cause, q, p->psn, p->opcode, r->epsn);
	if (p->opcode == WOP_RC_READ_REQUEST)
		rc_read_again(rc, q);
	else if (p->opcode > WOP_RC_READ_REQUEST)
		rc_atomic_again(rc, q);
	else
		rc_answer_ack(rc, q, rc_psn_diff(p->psn, r->acked) >= 0 ?
			      rc_psn_add(r->epsn, RC_PSN_MASK) : p->psn, note);
}

void rc_resp_begin(struct rc *rc, struct rc_pair *q)
{
	struct rc_responder *r = &q->resp;
	const struct rc_packet *p = &rc->take.packet;
	const struct wire_frame *f = &rc->take.what->frame;
	int32_t ahead = rc_psn_diff(p->psn, r->epsn);

	if (!ahead && !q->p.sends && !r->heard) {
		r->heard = true;
		rc->env.fw.heard(rc->env.fw.ctx, q->place, f->cause);
	}
	if (r->dying) {
		rc_drop(rc, q, f, p, RC_DROP_ENDING);
	} else if (ahead > 0) {
		/* 9.7.5.2: one NAK, then silence until the expected PSN arrives. */
		rc_drop(rc, q, f, p, RC_DROP_AHEAD);
		if (!r->silent) {
			r->silent = true;
			rc->stats.naks_sequence++;
			rc_answer_add(rc, q, RC_ANSWER_NAK, r->epsn, f->cause)->syndrome =
				RC_SYN_NAK_SEQUENCE;
		}
	} else if (ahead < 0) {
		packet_again(rc, q);
	} else {
		packet_due(rc, q);
	}
}

static void packet_landed(struct rc *rc, struct rc_pair *q)
{
	struct rc_responder *r = &q->resp;
	struct rc_taking *t = &rc->take;
	const struct rc_packet *p = &t->packet;
	bool last = opcode_is_last(p->opcode), send = opcode_is_send(p->opcode);
	bool recv = last && (send || opcode_has_imm(p->opcode));

	r->at += p->payload_len;
	r->message = last ? RC_MSG_NONE : send ? RC_MSG_SEND : RC_MSG_WRITE;
	rc_resp_advance(q, 1);
	if (last)
		r->msn++;
	if (p->ackreq)
		rc_answer_ack(rc, q, p->psn, t->mover.cause);
	if (recv)
		recv_over(rc, q, FL_ST_OK, opcode_has_imm(p->opcode));
}

void rc_resp_landed(struct rc *rc, struct rc_pair *q, enum rc_moved how)
{
	struct rc_taking *t = &rc->take;
	struct rc_responder *r = &q->resp;
	const struct rc_packet *p = &t->packet;
	uint8_t opcode = FL_OP_WRITE;
	uint64_t left = 0;

	if (how == RC_MOVED && p->opcode > WOP_RC_READ_REQUEST) {
		rc_atomic_landed(rc, q);
		return;
	}
	if (how == RC_MOVED) {
		packet_landed(rc, q);
		return;
	}
	if (how != RC_MISSED) {
		rc_resp_failed(rc, q, &t->mover, p->psn, how);
		if (t->mover.segment)
			recv_over(rc, q, how == RC_DENIED ? rc_local_status(t->mover.denied) :
							    own_status(t->mover.status), false);
		return;
	}
	if (p->opcode > WOP_RC_READ_REQUEST)
		opcode = p->opcode == WOP_RC_FETCH_ADD ? FL_OP_FETCH_ADD : FL_OP_CMP_SWAP;
	else if (opcode_is_send(p->opcode))
		opcode = FL_OP_RECV;
	else
		left = r->length - r->at - p->payload_len;
	rc_resp_missed(rc, q, &t->mover, p->psn, opcode, left);
}
