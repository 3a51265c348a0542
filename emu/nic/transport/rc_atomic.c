// SPDX-License-Identifier: BSD-2-Clause
/*
 * Responder: atomics. Executed once, when the PSN is due; a duplicate gets the result that
 * was kept (InfiniBand 9.7.4.1, 9.4.5).
 */
#include "nic/transport/rc_internal.h"

void rc_atomic_request(struct rc *rc, struct rc_pair *q)
{
	struct rc_taking *t = &rc->take;
	const struct rc_packet *p = &t->packet;

	/* 9.4.5: the address is a multiple of eight. */
	if (!q->p.dest_rd_atomic || p->va % 8) {
		rc_resp_refuse(rc, q, p->psn, RC_SYN_NAK_INVALID, FL_ST_REMOTE_INVALID,
			       t->what->frame.cause);
		return;
	}
	rc_move_remote(&t->mover, q, p->va, p->rkey, 0, 8);
	t->landing = true;
	t->mover.right = FL_ACC_REMOTE_ATOMIC;
	t->mover.atomic = p;
}

void rc_atomic_again(struct rc *rc, struct rc_pair *q)
{
	const struct rc_packet *p = &rc->take.packet;
	const struct rc_slot *s;
	unsigned int i;

	for (i = 0; i < RC_SLOTS; i++) {
		s = &q->resp.slot[i];
		if (s->used && s->atomic && s->first == p->psn && s->opcode == p->opcode &&
		    s->va == p->va && s->rkey == p->rkey) {
			rc_answer_add(rc, q, RC_ANSWER_ATOMIC, p->psn,
				      rc->take.what->frame.cause)->original = s->original;
			return;
		}
	}
	rc_drop(rc, q, &rc->take.what->frame, p, RC_DROP_AGED);
}

void rc_atomic_landed(struct rc *rc, struct rc_pair *q)
{
	const struct rc_packet *p = &rc->take.packet;
	struct rc_slot *s = rc_slot_new(q);

	rc->stats.atomics++;
	s->atomic = true;
	s->opcode = p->opcode;
	s->first = p->psn;
	s->packets = 1;
	s->rkey = p->rkey;
	s->va = p->va;
	s->original = rc->take.mover.original;
	rc_resp_advance(q, 1);
	q->resp.msn++;
	q->resp.acked = q->resp.epsn;
	rc_answer_add(rc, q, RC_ANSWER_ATOMIC, p->psn, rc->take.mover.cause)->original =
		s->original;
}
