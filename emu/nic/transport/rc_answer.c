// SPDX-License-Identifier: BSD-2-Clause
/*
 * Responder: acknowledgements, NAKs and results of atomics wait here until channel 0 sends
 * them, in the order of the requests (InfiniBand 9.7.5.1). Consecutive acknowledgements are
 * coalesced.
 */
#include "nic/transport/rc_internal.h"

#include <assert.h>

static struct rc_answer *answer_at(struct rc_responder *r, unsigned int n)
{
	return &r->answer[(r->answer_head + n) % RC_ANSWERS];
}

struct rc_answer *rc_answer_add(struct rc *rc, struct rc_pair *q, enum rc_answer_kind kind,
				uint32_t psn, uint64_t cause)
{
	struct rc_responder *r = &q->resp;
	struct rc_answer *a = answer_at(r, r->answers);

	assert(r->answers < RC_ANSWERS);
	r->answers++;
	*a = (struct rc_answer){
		.kind = (uint8_t)kind, .syndrome = RC_SYN_ACK, .psn = psn,
		.msn = r->msn, .cause = cause,
		.xfer = rc->take.what ? rc->take.what->frame.xfer : 0,
	};
	rc_pair_ready(rc, q);
	return a;
}

/* InfiniBand 9.7.5.1.2: one acknowledgement for all up to its PSN. */
void rc_answer_ack(struct rc *rc, struct rc_pair *q, uint32_t psn, uint64_t cause)
{
	struct rc_responder *r = &q->resp;
	struct rc_answer *last = r->answers ? answer_at(r, r->answers - 1u) : NULL;

	if (!last || last->kind != RC_ANSWER_ACK) {
		rc_answer_add(rc, q, RC_ANSWER_ACK, psn, cause);
		return;
	}
	if (rc_psn_diff(psn, last->psn) > 0) {
		last->psn = psn;
		last->cause = cause;
	}
	last->msn = r->msn;
}

void rc_answer_packet(const struct rc_pair *q, struct rc_packet *p)
{
	const struct rc_responder *r = &q->resp;
	const struct rc_answer *a = &r->answer[r->answer_head];

	*p = (struct rc_packet){
		.opcode = a->kind == RC_ANSWER_ATOMIC ? WOP_RC_ATOMIC_ACKNOWLEDGE :
							WOP_RC_ACKNOWLEDGE,
		.dest_qp = q->p.peer_qp, .psn = a->psn, .syndrome = a->syndrome,
		.msn = a->msn & RC_PSN_MASK, .original = a->original,
	};
}

void rc_answer_sent(struct rc *rc, struct rc_pair *q)
{
	struct rc_responder *r = &q->resp;
	struct rc_answer a = r->answer[r->answer_head];

	r->answer_head = (r->answer_head + 1u) % RC_ANSWERS;
	r->answers--;
	if (a.ends)
		rc->env.fw.pair_error(rc->env.fw.ctx, q->place, a.ends, a.cause);
	else
		rc_kick(rc, 1);	/* it may have waited for room here */
}
