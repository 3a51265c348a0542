// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sender, channel 0: WRITEs are cut into fragments, which end where a page of the receiver
 * does. A fragment waits for a credit; for the fence, if its WRITE has one; and for each
 * earlier fragment that it would overwrite, since the wire may let it pass that one.
 */
#include "nic/transport/nv_internal.h"

#include <assert.h>
#include <string.h>

#include "trace/event.h"

void nv_send_post(struct nv *nv, struct nv_pair *q, uint32_t wr, const struct fw_work *w)
{
	struct nv_sender *s = &q->send;
	struct nv_req *e = nv_req_at(s, s->tail);

	assert(s->tail - s->head < FW_QP_WRS);
	*e = (struct nv_req){ .wr = wr };
	e->work = *w;
	/* entries.def, fl_wqe: NetVM has no other operations. */
	if (w->opcode != FL_OP_WRITE)
		e->failed = FL_ST_BAD_OPCODE;
	s->tail++;
	if (e->failed)
		nv_send_settle(nv, q, w->cause);
	if (q->open)
		nv_pair_ready(nv, q);
}

void nv_send_settle(struct nv *nv, struct nv_pair *q, uint64_t cause)
{
	struct nv_sender *s = &q->send;
	struct nv_req *e = nv_req_at(s, s->head);

	if (s->head == s->tail || !e->failed)
		return;
	cause = nv_note(nv, EV_NV_ERROR, e->work.xfer, cause, q, s->una, e->failed, NV_SENDER);
	nv->env.fw.work_done(nv->env.fw.ctx, q->place, e->wr, e->failed, e->resends, cause);
}

/* ---- may the next one go? ---- */

static bool fragment_overlaps(const struct nv_fragment *f, uint64_t va, uint32_t len)
{
	return f->state != NV_FRAG_PLACED && len && f->len && va < f->va + f->len &&
	       f->va < va + len;
}

/* An earlier one that this would overwrite and that is not in its place; or s->next. */
static uint32_t sender_overlaps(struct nv_sender *s, uint64_t va, uint32_t len)
{
	uint32_t n;

	for (n = s->una; n != s->next; n++)
		if (fragment_overlaps(nv_fragment_at(s, n), va, len))
			break;
	return n;
}

static uint32_t fragment_bytes(const struct nv_pair *q, const struct nv_req *e)
{
	uint64_t va = e->work.remote_va + e->cut;
	uint32_t len = e->work.length - e->cut, page = NV_PAGE - (uint32_t)(va % NV_PAGE);

	if (len > q->p.mtu)
		len = q->p.mtu;
	return len < page ? len : page;
}

/* It waits for an answer, in which case that is noted, once. */
static bool sender_must_wait(struct nv *nv, struct nv_pair *q, const struct nv_req *e,
			     uint32_t len)
{
	uint64_t va = e->work.remote_va + e->cut;
	struct nv_sender *s = &q->send;
	uint32_t before;

	if (s->next - s->una >= nv->cfg.window)
		return true;
	if (e->work.flags & FL_WQE_FENCE && s->place != s->head)
		return true;
	if (!nv_credit_left(nv, s)) {
		if (!s->short_of_credit) {
			nv->stats.credit_waits++;
			nv_note(nv, EV_NV_CREDIT_WAIT, e->work.xfer, e->work.cause, q,
				s->next, s->used, s->credits);
		}
		s->short_of_credit = true;
		return true;
	}
	s->short_of_credit = false;
	before = sender_overlaps(s, va, len);
	if (before != s->next && !s->held_back) {
		nv->stats.order_waits++;
		nv_note(nv, EV_NV_ORDER_WAIT, e->work.xfer, e->work.cause, q, s->next, va,
			before);
	}
	s->held_back = before != s->next;
	return s->held_back;
}

/* ---- the next fragment ---- */

static void fragment_cut(struct nv_pair *q, struct nv_req *e, uint32_t len)
{
	struct nv_sender *s = &q->send;

	*nv_fragment_at(s, s->next) = (struct nv_fragment){
		.va = e->work.remote_va + e->cut, .len = len, .at = e->cut, .req = s->place,
		.state = NV_FRAG_WAITS, .again = true,
		.last = e->cut + len == e->work.length,
	};
	s->next++;
	s->used++;
	e->cut += len;
	e->whole = e->cut == e->work.length;
	s->place += e->whole;
}

/* One that is cut, and is to be sent; or s->next. */
static uint32_t sender_again(struct nv_sender *s)
{
	uint32_t n;

	for (n = s->una; n != s->next; n++)
		if (nv_fragment_at(s, n)->again)
			break;
	return n;
}

/* There is one to be sent, if it need not wait. */
static bool sender_next(struct nv *nv, struct nv_pair *q, uint32_t *n)
{
	struct nv_sender *s = &q->send;
	struct nv_req *e = nv_req_at(s, s->place);
	uint32_t len;

	*n = sender_again(s);
	if (*n != s->next)
		return true;
	if (s->place == s->tail || e->failed)
		return false;
	len = fragment_bytes(q, e);
	if (sender_must_wait(nv, q, e, len))
		return false;
	fragment_cut(q, e, len);
	return true;
}

bool nv_send_pick(struct nv *nv, struct nv_pair *q)
{
	struct nv_sender *s = &q->send;
	struct nv_job *job = &nv->job;
	struct nv_fragment *f;
	struct nv_req *e;
	uint32_t n;

	if (!q->p.sends || s->parked || !sender_next(nv, q, &n))
		return false;
	f = nv_fragment_at(s, n);
	e = nv_req_at(s, f->req);
	job->kind = NV_JOB_FRAGMENT;
	job->sequence = n;
	job->xfer = e->work.xfer;
	job->cause = e->work.cause;
	job->packet = (struct nv_packet){
		.opcode = WOP_NV_WRITE, .sequence = n, .va = f->va, .key = e->work.rkey,
		.len = e->work.length - f->at, .payload_len = f->len,
		.counter = e->work.flags & FL_WQE_NOTIFY ? (uint16_t)e->work.imm : 0,
	};
	job->mover = (struct nv_mover){
		.qp = q, .segment = e->work.segment, .segments = e->work.segments,
		.at = f->at, .left = f->len,
	};
	if (e->work.flags & FL_WQE_INLINE) {
		memcpy(job->data, e->work.data + f->at, f->len);
		job->mover.left = 0;
	}
	return true;
}

/* Meanwhile it is in its place, or the pair has ended. */
bool nv_send_is_stale(const struct nv *nv)
{
	const struct nv_job *job = &nv->job;
	struct nv_sender *s = &job->qp->send;

	if (job->kind != NV_JOB_FRAGMENT || job->mover.open)
		return false;
	return job->sequence - s->una >= s->next - s->una ||
	       !nv_fragment_at(s, job->sequence)->again;
}

void nv_send_missed(struct nv *nv, struct nv_pair *q)
{
	struct nv_job *job = &nv->job;
	struct nv_mover *m = &job->mover;
	struct nv_req *e = nv_req_at(&q->send, nv_fragment_at(&q->send, job->sequence)->req);
	/* Behind the end of its segment lies what is no part of the WRITE. */
	uint32_t len = m->left < m->rest ? m->left : m->rest;
	uint32_t left = job->packet.len - job->packet.payload_len;
	struct nv_miss miss = {
		.qp = q->place, .side = NV_SENDER, .key = m->key, .object = m->object,
		.va = m->va, .len = len, .left = left < m->rest - len ? left : m->rest - len,
		.sequence = job->sequence, .xfer = job->xfer, .work = &e->work,
	};

	nv->stats.misses++;
	miss.cause = nv_note(nv, EV_NV_MISS, job->xfer,
			     m->burst.event ? m->burst.event : m->cause, q, NV_SENDER, m->va,
			     job->sequence);
	/* It is made anew when the page is there. */
	q->send.parked = true;
	job->active = false;
	if (nv->env.miss(nv->env.ctx, &miss) == NV_PARK)
		return;
	q->send.parked = false;
	nv_send_failed(nv, q, FL_ST_LOCAL_FAULT, miss.cause);
}

void nv_send_failed(struct nv *nv, struct nv_pair *q, uint8_t status, uint64_t cause)
{
	struct nv_sender *s = &q->send;
	struct nv_fragment *f = nv_fragment_at(s, nv->job.sequence);
	struct nv_req *e = nv_req_at(s, f->req);
	uint32_t n;

	e->failed = status;
	nv->job.active = false;
	/* It, and what is behind it, is not sent any more, so no answer is overdue. */
	for (n = nv->job.sequence; n != s->next; n++) {
		f = nv_fragment_at(s, n);
		f->again = false;
		if (f->state == NV_FRAG_SENT)
			f->state = NV_FRAG_WAITS;
	}
	nv_send_settle(nv, q, cause);
}

void nv_send_sent(struct nv *nv, struct nv_pair *q)
{
	struct nv_sender *s = &q->send;
	struct nv_fragment *f = nv_fragment_at(s, nv->job.sequence);

	if (f->sent) {
		nv->stats.resent++;
		nv_req_at(s, f->req)->resends++;
	}
	f->again = false;
	f->sent = true;
	f->sent_ns = nv->now_ns;
	if (f->state == NV_FRAG_WAITS)
		f->state = NV_FRAG_SENT;
}
