// SPDX-License-Identifier: BSD-2-Clause
/*
 * Responder: READs. Channel 0 sends the packets of the response, each with a PSN of its own.
 * Until the last of them is sent, no later request of the pair is executed. So if a page is
 * missing half way, that PSN is refused and nothing behind it has been executed. A duplicate
 * READ that is remembered is read from memory again (InfiniBand 9.7.4.1, 9.7.5.1).
 */
#include "nic/transport/rc_internal.h"

/* The new READ or atomic takes the place of the oldest that is remembered. */
struct rc_slot *rc_slot_new(struct rc_pair *q)
{
	struct rc_responder *r = &q->resp;
	struct rc_slot *s = &r->slot[r->slot_next];

	r->slot_next = (uint8_t)((r->slot_next + 1) % q->p.dest_rd_atomic);
	*s = (struct rc_slot){ .used = true };
	return s;
}

/* Is p this READ, or a part of it that begins at one of its packets? */
static bool slot_holds(const struct rc_pair *q, const struct rc_slot *s,
		       const struct rc_packet *p)
{
	uint32_t behind = (p->psn - s->first) & RC_PSN_MASK;
	uint64_t at = (uint64_t)behind * q->p.mtu;

	return s->used && !s->atomic && behind < s->packets && s->rkey == p->rkey &&
	       p->va == s->va + at && at + p->length <= s->length;
}

static struct rc_slot *slot_find(struct rc_pair *q, const struct rc_packet *p)
{
	unsigned int i;

	for (i = 0; i < RC_SLOTS; i++)
		if (slot_holds(q, &q->resp.slot[i], p))
			return &q->resp.slot[i];
	return NULL;
}

static void read_begin(struct rc *rc, struct rc_pair *q, const struct rc_packet *p)
{
	q->resp.read = (struct rc_reading){
		.active = true, .psn = p->psn, .rkey = p->rkey, .length = p->length,
		.va = p->va, .xfer = rc->take.what->frame.xfer,
		.cause = rc->take.what->frame.cause,
	};
	rc_pair_ready(rc, q);
}

void rc_read_request(struct rc *rc, struct rc_pair *q)
{
	const struct rc_packet *p = &rc->take.packet;
	uint64_t cause = rc->take.what->frame.cause;
	struct rc_responder *r = &q->resp;
	uint32_t packets = rc_packets(p->length, q->p.mtu);
	struct rc_slot *s;

	if (!q->p.dest_rd_atomic || packets > RC_PACKETS_MAX) {
		rc_resp_refuse(rc, q, p->psn, RC_SYN_NAK_INVALID, FL_ST_REMOTE_INVALID,
			       cause);
		return;
	}
	if (p->length && rc_reach(rc, q, FL_ACC_REMOTE_READ, p->rkey, p->va, p->length)) {
		rc_resp_refuse(rc, q, p->psn, RC_SYN_NAK_ACCESS, FL_ST_REMOTE_ACCESS, cause);
		return;
	}
	/* The rest of a READ that was refused half way keeps the READ's place. */
	s = slot_find(q, p);
	if (!s) {
		s = rc_slot_new(q);
		s->first = p->psn;
		s->packets = packets;
		s->rkey = p->rkey;
		s->length = p->length;
		s->va = p->va;
	}
	r->acked = rc_psn_add(p->psn, packets);
	read_begin(rc, q, p);
}

/* A duplicate. */
void rc_read_again(struct rc *rc, struct rc_pair *q)
{
	const struct rc_packet *p = &rc->take.packet;

	if (slot_find(q, p))
		read_begin(rc, q, p);
	else
		rc_drop(rc, q, &rc->take.what->frame, p, RC_DROP_AGED);
}

/* Begin with the next packet of the answer. */
bool rc_read_pick(struct rc *rc, struct rc_pair *q)
{
	struct rc_reading *r = &q->resp.read;
	struct rc_job *job = &rc->job;
	uint32_t left = r->length - r->done;
	uint32_t len = left < q->p.mtu ? left : q->p.mtu;
	bool first = !r->done, last = len == left;

	if (!r->active)
		return false;
	job->kind = RC_JOB_READ;
	job->xfer = r->xfer;
	job->cause = r->cause;
	job->packet = (struct rc_packet){
		.opcode = first && last ? WOP_RC_READ_RESPONSE_ONLY :
			  first ? WOP_RC_READ_RESPONSE_FIRST :
			  last ? WOP_RC_READ_RESPONSE_LAST : WOP_RC_READ_RESPONSE_MIDDLE,
		.dest_qp = q->p.peer_qp, .psn = r->psn, .syndrome = RC_SYN_ACK,
		.msn = q->resp.msn & RC_PSN_MASK, .payload_len = len,
	};
	rc_move_remote(&job->mover, q, r->va, r->rkey, r->done, len);
	job->mover.right = FL_ACC_REMOTE_READ;
	return true;
}

/*
 * The packet at this PSN cannot be sent. A NAK takes its place (InfiniBand 9.7.5.1), and the
 * requester asks for the rest from there on.
 */
void rc_read_missed(struct rc *rc, struct rc_pair *q, enum rc_moved how)
{
	struct rc_reading *r = &q->resp.read;
	struct rc_mover *m = &rc->job.mover;

	if (how == RC_MISSED) {
		rc_resp_missed(rc, q, m, r->psn, FL_OP_READ,
			       r->length - r->done - rc->job.packet.payload_len);
		if (rc->sleep[0].asleep)
			return;
	} else {
		rc_resp_failed(rc, q, m, r->psn, how);
	}
	r->active = false;
	rc->job.active = false;
	rc_kick(rc, 1);
}

void rc_read_sent(struct rc *rc, struct rc_pair *q)
{
	struct rc_reading *r = &q->resp.read;
	uint32_t after = rc_psn_add(r->psn, 1);
	bool fresh = rc_psn_diff(after, q->resp.epsn) > 0;

	if (fresh)
		rc_resp_advance(q, 1);
	r->psn = after;
	r->done += rc->job.packet.payload_len;
	if (r->done < r->length)
		return;
	r->active = false;
	if (fresh)
		q->resp.msn++;
	rc_kick(rc, 1);
}
