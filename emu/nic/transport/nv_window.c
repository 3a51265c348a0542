// SPDX-License-Identifier: BSD-2-Clause
/*
 * Windows of sequence numbers. Fragments find their place in any order; what programs see is
 * put in order here. The receiver's window begins at the oldest fragment that is not in its
 * place yet: as it moves on, event counters rise. The sender's begins at the oldest of which
 * it has not heard that: as it moves on, WRITEs complete.
 *
 * All that an answer says is absolute: the base, and how many credits there are. So answers
 * may be lost, doubled or late.
 */
#include "nic/transport/nv_internal.h"

#include <assert.h>

#include "trace/event.h"

/* ---- receiver ---- */

void nv_window_answer(struct nv *nv, struct nv_pair *q, uint32_t sequence, bool credit,
		      uint32_t xfer, uint64_t cause)
{
	struct nv_answer *a = &q->recv.answer[sequence % NV_WINDOW_MAX];

	q->recv.answers += !a->due;
	*a = (struct nv_answer){
		.due = true, .credit = credit, .sequence = sequence, .xfer = xfer,
		.cause = cause,
	};
	nv_pair_ready(nv, q);
}

void nv_window_advance(struct nv *nv, struct nv_pair *q)
{
	struct nv_receiver *r = &q->recv;
	struct nv_arrived *a = nv_arrived_at(r, r->base);

	while (a->have && a->placed) {
		nv_count_rise(nv, q, r->base, a);
		*a = (struct nv_arrived){ 0 };
		a = nv_arrived_at(r, ++r->base);
	}
	if (!a->have || !a->bad || r->dying)
		return;
	/* All before it are in their place: it is refused now, and the pair ends. */
	r->dying = true;
	nv_note(nv, EV_NV_ERROR, a->xfer, a->cause, q, r->base, a->ends, NV_RECEIVER);
	nv_window_answer(nv, q, r->base, false, a->xfer, a->cause);
}

static struct nv_answer *answer_next(struct nv_receiver *r)
{
	uint32_t i;

	/* From the oldest on. */
	for (i = 0; r->answers && i < NV_WINDOW_MAX; i++)
		if (r->answer[(r->base + i) % NV_WINDOW_MAX].due)
			return &r->answer[(r->base + i) % NV_WINDOW_MAX];
	return r->state.due ? &r->state : NULL;
}

bool nv_window_pick(struct nv *nv, struct nv_pair *q)
{
	const struct nv_answer *a = answer_next(&q->recv);
	struct nv_job *job = &nv->job;

	if (!a && !q->send.ask)
		return false;
	job->kind = !a ? NV_JOB_ASK : a == &q->recv.state ? NV_JOB_STATE : NV_JOB_ACK;
	job->sequence = a ? a->sequence : 0;
	job->xfer = a ? a->xfer : 0;
	job->cause = a ? a->cause : 0;
	job->mover = (struct nv_mover){ .qp = q };
	return true;
}

/* An acknowledgement says what is true when it leaves. */
static void packet_ack(struct nv *nv, struct nv_pair *q, const struct nv_answer *a)
{
	const struct nv_arrived *e = nv_arrived_at(&q->recv, a->sequence);
	struct nv_packet *p = &nv->job.packet;
	bool open = (int32_t)(a->sequence - q->recv.base) >= 0;

	/* Since the job was made a later fragment may have taken the place. */
	p->sequence = a->sequence;
	p->opcode = a->credit ? WOP_NV_CREDIT : WOP_NV_ACK;
	p->redirected = open && e->have && !e->placed && !e->bad;
	if (q->recv.dying && a->sequence == q->recv.base)
		p->code = e->bad;
}

void nv_window_packet(struct nv *nv, struct nv_pair *q)
{
	struct nv_job *job = &nv->job;

	job->packet = (struct nv_packet){
		.opcode = WOP_NV_CREDIT, .sequence = job->sequence, .base = q->recv.base,
		.credits = (uint16_t)q->recv.credits, .ask = job->kind == NV_JOB_ASK,
	};
	if (job->kind == NV_JOB_ACK)
		packet_ack(nv, q, &q->recv.answer[job->sequence % NV_WINDOW_MAX]);
	else
		job->packet.sequence = q->recv.base;
	job->sequence = job->packet.sequence;
}

void nv_window_sent(struct nv *nv, struct nv_pair *q)
{
	struct nv_receiver *r = &q->recv;
	struct nv_job *job = &nv->job;
	struct nv_answer *a = &r->answer[job->sequence % NV_WINDOW_MAX];

	switch (job->kind) {
	case NV_JOB_ASK:
		q->send.ask = false;
		break;
	case NV_JOB_STATE:
		r->state.due = false;
		break;
	default:
		r->answers -= a->due;
		a->due = false;
		if (job->packet.code)
			nv->env.fw.pair_error(nv->env.fw.ctx, q->place,
					      nv_arrived_at(r, job->sequence)->ends,
					      job->cause);
		break;
	}
}

/* ---- sender ---- */

static void fragment_placed(struct nv_sender *s, struct nv_fragment *f)
{
	if (f->state == NV_FRAG_PLACED)
		return;
	f->state = NV_FRAG_PLACED;
	f->again = false;
	s->used--;
}

static void request_over(struct nv *nv, struct nv_pair *q, uint64_t cause)
{
	struct nv_req *e = nv_req_at(&q->send, q->send.head);

	q->send.head++;
	nv->env.fw.work_done(nv->env.fw.ctx, q->place, e->wr, FL_ST_OK, e->resends, cause);
}

/* WRITEs complete in the order in which they were posted. */
static void window_move(struct nv *nv, struct nv_pair *q, uint64_t cause)
{
	struct nv_sender *s = &q->send;
	uint32_t epoch = q->epoch;
	struct nv_fragment *f;
	bool last;

	while (q->epoch == epoch && s->una != s->next) {
		f = nv_fragment_at(s, s->una);
		if (f->state != NV_FRAG_PLACED)
			break;
		last = f->last;
		assert(f->req == s->head);
		s->una++;
		if (last)
			request_over(nv, q, cause);
	}
	if (q->epoch == epoch)
		nv_send_settle(nv, q, cause);
}

/* What a peer may say of a request; anything else is its mistake. */
static uint8_t refused_status(uint8_t code)
{
	if (code == FL_ST_REMOTE_ACCESS || code == FL_ST_REMOTE_FAULT)
		return code;
	return FL_ST_REMOTE_INVALID;
}

static void window_refused(struct nv *nv, struct nv_pair *q, uint8_t code, uint64_t cause)
{
	struct nv_sender *s = &q->send;

	if (s->una == s->next)
		return;
	nv_req_at(s, s->head)->failed = refused_status(code);
	nv_send_settle(nv, q, cause);
}

void nv_window_answered(struct nv *nv, struct nv_pair *q, const struct nv_packet *p,
			uint64_t cause, uint32_t xfer)
{
	struct nv_sender *s = &q->send;
	uint32_t epoch = q->epoch, n = p->base - s->una, at = p->sequence - s->una, i;
	struct nv_fragment *f;

	if (p->ask) {
		q->recv.state = (struct nv_answer){ .due = true, .xfer = xfer, .cause = cause };
		nv_pair_ready(nv, q);
		return;
	}
	/* A base that is older than what is known says nothing, one from beyond is nonsense. */
	if ((int32_t)n > 0 && n > s->next - s->una)
		return;
	s->credits = p->credits;
	s->heard_ns = nv->now_ns;
	s->tries = q->p.retries;
	for (i = 0; (int32_t)n > 0 && i < n; i++)
		fragment_placed(s, nv_fragment_at(s, s->una + i));
	f = nv_fragment_at(s, p->sequence);
	/* Sequence == base in an NV_CREDIT: it is about no fragment. */
	if (at < s->next - s->una && f->sent && !p->code &&
	    !(p->opcode == WOP_NV_CREDIT && p->sequence == p->base)) {
		if (!p->redirected) {
			fragment_placed(s, f);
		} else if (f->state != NV_FRAG_PLACED) {
			f->state = NV_FRAG_REDIRECTED;
			f->again = false;
		}
	}
	window_move(nv, q, cause);
	if (q->epoch == epoch && p->code && p->base == s->una)
		window_refused(nv, q, p->code, cause);
	if (q->epoch == epoch)
		nv_pair_ready(nv, q);
}
