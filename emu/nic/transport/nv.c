// SPDX-License-Identifier: BSD-2-Clause
/* Front door of NetVM's transport: pairs, arriving frames, the two channels. */
#include "nic/transport/nv_internal.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"

static struct nv_pair *pair_at(struct nv *nv, uint32_t number)
{
	return &nv->pair[FW_QP_PLACE(number)];
}

bool nv_opcode_known(uint8_t opcode)
{
	return opcode == WOP_NV_WRITE || opcode == WOP_NV_ACK || opcode == WOP_NV_CREDIT;
}

/* ---- for the firmware ---- */

static bool pair_is_good(const struct fw_pair *p)
{
	return p->mtu >= 256 && p->mtu <= WIRE_PAYLOAD_MAX && !(p->mtu & (p->mtu - 1)) &&
	       p->retries < 8 && p->timeout < 32;
}

/* What there is for a pair, empty; false: there is no memory. */
static bool pair_clear(struct nv_pair *q)
{
	struct nv_sender *s = &q->send;
	struct nv_receiver *r = &q->recv;

	if (!s->req)
		s->req = calloc(FW_QP_WRS, sizeof(*s->req));
	if (!s->fragment)
		s->fragment = calloc(NV_WINDOW_MAX, sizeof(*s->fragment));
	if (!r->arrived)
		r->arrived = calloc(NV_WINDOW_MAX, sizeof(*r->arrived));
	if (!r->answer)
		r->answer = calloc(NV_WINDOW_MAX, sizeof(*r->answer));
	*s = (struct nv_sender){ .req = s->req, .fragment = s->fragment };
	*r = (struct nv_receiver){ .arrived = r->arrived, .answer = r->answer };
	if (!s->req || !s->fragment || !r->arrived || !r->answer)
		return false;
	memset(r->arrived, 0, NV_WINDOW_MAX * sizeof(*r->arrived));
	memset(r->answer, 0, NV_WINDOW_MAX * sizeof(*r->answer));
	return true;
}

static uint8_t unit_open(void *ctx, uint16_t qp, const struct fw_pair *p)
{
	struct nv *nv = ctx;
	struct nv_pair *q = pair_at(nv, qp);

	if (qp >= NV_PAIRS || !pair_is_good(p))
		return FL_ST_BAD_ARGUMENT;
	if (!q->open) {
		if (!pair_clear(q))
			return FL_ST_NO_ROOM;
		/* A queue pair without a system buffer, or with none left, can take nothing. */
		if (!nv_credit_give(nv, q))
			return FL_ST_NO_ROOM;
		q->open = true;
		/* The peer has given one credit at least; its first answer says how many. */
		q->send.credits = 1;
		q->send.tries = p->retries;
		if (qp >= nv->pairs_used)
			nv->pairs_used = qp + 1u;
	}
	q->p = *p;
	nv_pair_ready(nv, q);
	return FL_ST_OK;
}

/* An open burst ends here, so that all it moves is moved before close() returns. */
static void unit_close(void *ctx, uint16_t qp)
{
	struct nv *nv = ctx;
	struct nv_pair *q = pair_at(nv, qp);

	if (!q->open)
		return;
	if (nv->job.active && nv->job.qp == q) {
		nv_move_end(nv, &nv->job.mover);
		nv->job.active = false;
	}
	if (nv->take.what && nv->take.what->qp == q && nv->take.landing) {
		nv_move_end(nv, &nv->take.mover);
		nv->take.landing = false;
	}
	nv_credit_close(nv, q);
	q->open = false;
	q->epoch++;
	pair_clear(q);
	nv_kick(nv, 0);
	nv_kick(nv, 1);
	nv_time_set(nv);
}

static void unit_post(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w)
{
	struct nv *nv = ctx;
	struct nv_pair *q = pair_at(nv, qp);

	if (q->open)
		nv_send_post(nv, q, wr, w);
}

static void mover_stop_key(struct nv *nv, struct nv_mover *m, uint32_t key)
{
	if (m->open && m->key == key)
		nv_move_end(nv, m);
	m->reached = 0;
}

static void unit_stop_key(void *ctx, uint32_t key)
{
	struct nv *nv = ctx;

	if (nv->job.active)
		mover_stop_key(nv, &nv->job.mover, key);
	if (nv->take.what && nv->take.landing)
		mover_stop_key(nv, &nv->take.mover, key);
}

struct fw_transport nv_transport(struct nv *nv)
{
	return (struct fw_transport){
		.ctx = nv, .open = unit_open, .close = unit_close, .post = unit_post,
		.stop_key = unit_stop_key,
	};
}

/* ---- frames that come ---- */

static void frame_keep(struct nv *nv, struct nv_pair *q, const struct wire_frame *f)
{
	struct inbox_frame *w = inbox_keep(&nv->inbox, f);

	w->qp = q;
	w->epoch = q->epoch;
	nv_kick(nv, 1);
}

void nv_receive(struct nv *nv, const struct wire_frame *f, uint64_t now_ns)
{
	struct nv_packet p;
	struct nv_pair *q;

	nv->now_ns = now_ns;
	nv->stats.packets_received++;
	if (nv_get(f, nv->cfg.icrc, &p) != WIRE_OK) {
		nv_drop(nv, NULL, f, 0, NV_DROP_BAD);
		return;
	}
	q = pair_at(nv, p.dest_qp);
	if (!q->open || q->p.qpn != p.dest_qp)
		nv_drop(nv, NULL, f, p.sequence, NV_DROP_NO_PAIR);
	else if (q->p.node != f->from)
		nv_drop(nv, q, f, p.sequence, NV_DROP_STRANGER);
	else if (inbox_is_full(&nv->inbox))
		nv_drop(nv, q, f, p.sequence, NV_DROP_FULL);
	else
		frame_keep(nv, q, f);
}

/* ---- channel 1 ---- */

static void frame_done(struct nv *nv)
{
	inbox_give_back(&nv->inbox, nv->take.what);
	nv->take.what = NULL;
	nv->take.landing = false;
}

/* The oldest frame becomes nv->take. */
static bool frame_next(struct nv *nv)
{
	struct nv_packet *p = &nv->take.packet;
	struct inbox_frame *w;
	struct nv_pair *q;

	if (!nv->inbox.oldest)
		return false;
	w = inbox_take(&nv->inbox, NULL);
	q = w->qp;
	nv->take.what = w;
	nv->take.landing = nv->take.counting = false;
	if (nv_get(&w->frame, false, p) != WIRE_OK || !q->open ||
	    w->epoch != q->epoch)
		nv_drop(nv, NULL, &w->frame, p->sequence, NV_DROP_NO_PAIR);
	else if (p->opcode == WOP_NV_WRITE)
		nv_take_begin(nv, q);
	else
		nv_window_answered(nv, q, p, w->frame.cause, w->frame.xfer);
	return true;
}

/* All bytes are there, and the counter is still to rise. */
static bool take_counts(const struct nv_taking *t)
{
	return t->packet.counter && t->packet.len == t->packet.payload_len && !t->counting;
}

static uint64_t take_step(struct nv *nv)
{
	struct nv_taking *t = &nv->take;
	enum nv_moved how;
	uint64_t delay;

	if (!t->what && !frame_next(nv))
		return NV_NEVER;
	if (t->landing) {
		how = nv_move_step(nv, &t->mover, &delay);
		if (how == NV_MOVING)
			return delay;
		if (how == NV_MOVED && take_counts(t)) {
			t->counting = true;
			return nv->cfg.count_ns;
		}
		nv_take_landed(nv, t->what->qp, how);
	}
	frame_done(nv);
	return nv->cfg.packet_ns;
}

/* ---- channel 0 ---- */

/* Answers go first: they are short, and their receiver may wait for a credit. */
static bool pair_pick(struct nv *nv, struct nv_pair *q)
{
	struct nv_job *job = &nv->job;

	if (!q->open || (!nv_window_pick(nv, q) && !nv_send_pick(nv, q)))
		return false;
	job->active = true;
	job->qp = q;
	job->mover.buf = job->data;
	job->mover.xfer = job->xfer;
	job->mover.cause = job->cause;
	return true;
}

/* Pairs take turns. */
static bool job_pick(struct nv *nv)
{
	unsigned int i, place;

	for (i = 1; i <= NV_PAIRS; i++) {
		place = (nv->turn + i) % NV_PAIRS;
		if (!(nv->ready[place / 64] >> place % 64 & 1))
			continue;
		if (pair_pick(nv, &nv->pair[place])) {
			nv->turn = place;
			return true;
		}
		nv->ready[place / 64] &= ~(1ull << place % 64);
	}
	return false;
}

static uint64_t job_event(struct nv *nv, struct nv_pair *q)
{
	const struct nv_packet *p = &nv->job.packet;

	if (p->opcode == WOP_NV_WRITE)
		return nv_note(nv, EV_NV_SEND, nv->job.xfer, nv->job.cause, q, p->sequence,
			       p->va, p->payload_len);
	if (p->opcode == WOP_NV_CREDIT)
		return nv_note(nv, EV_NV_CREDIT, nv->job.xfer, nv->job.cause, q, p->base,
			       p->credits, p->ask);
	return nv_note(nv, EV_NV_ACK, nv->job.xfer, nv->job.cause, q, p->sequence, p->base,
		       p->redirected);
}

static uint64_t job_send(struct nv *nv)
{
	struct nv_job *job = &nv->job;
	struct nv_pair *q = job->qp;
	struct nv_sender *s = &q->send;
	struct wire_frame *f;

	if (nv->wire_free_ns > nv->now_ns)
		return nv->wire_free_ns - nv->now_ns;
	f = nv->env.frame_get(nv->env.wire);
	if (!f) {
		nv->starved = true;
		return NV_NEVER;
	}
	if (job->kind != NV_JOB_FRAGMENT) {
		nv_window_packet(nv, q);
	} else {
		job->cause = job->mover.cause;
		job->packet.credits =
			(uint16_t)(s->used < s->credits ? s->credits - s->used : 0);
		memcpy(nv_payload(f), job->data, job->packet.payload_len);
	}
	job->packet.dest_qp = q->p.peer_qp;
	f->from = nv->cfg.node;
	f->to = q->p.node;
	f->xfer = job->xfer;
	f->block = f->attempt = f->offset = 0;
	nv_put(f, &job->packet, nv->cfg.icrc);
	f->cause = job_event(nv, q);
	nv->wire_free_ns = nv->now_ns + nv->env.frame_send(nv->env.wire, f);
	nv->stats.packets_sent++;
	nv->stats.payload_sent += job->packet.payload_len;
	job->active = false;
	if (job->kind == NV_JOB_FRAGMENT)
		nv_send_sent(nv, q);
	else
		nv_window_sent(nv, q);
	return nv->cfg.packet_ns;
}

static uint8_t local_status(uint8_t seen)
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

static uint64_t send_step(struct nv *nv)
{
	struct nv_job *job = &nv->job;
	enum nv_moved how;
	uint64_t delay;

	if (!job->active && !job_pick(nv))
		return NV_NEVER;
	if (nv_send_is_stale(nv)) {
		job->active = false;
		return 0;
	}
	how = nv_move_step(nv, &job->mover, &delay);
	if (how == NV_MOVING)
		return delay;
	if (nv_send_is_stale(nv))
		return 0;
	if (how == NV_MOVED)
		return job_send(nv);
	if (how == NV_MISSED)
		nv_send_missed(nv, job->qp);
	else
		nv_send_failed(nv, job->qp, how == NV_DENIED ?
			       local_status(job->mover.denied) : FL_ST_BUS_ERROR,
			       job->mover.cause);
	return 0;
}

uint64_t nv_step(struct nv *nv, unsigned int channel, uint64_t now_ns)
{
	uint64_t next;

	nv->now_ns = now_ns;
	nv->awake[channel] = true;
	next = channel ? take_step(nv) : send_step(nv);
	if (next == NV_NEVER)
		nv->awake[channel] = false;
	nv_time_set(nv);
	return next;
}

void nv_wire_room(struct nv *nv)
{
	if (!nv->starved)
		return;
	nv->starved = false;
	nv_kick(nv, 0);
}

void nv_resume(struct nv *nv, uint16_t qp, uint8_t code, uint64_t now_ns)
{
	struct nv_pair *q = pair_at(nv, qp);
	struct nv_sender *s = &q->send;
	uint32_t n;

	nv->now_ns = now_ns;
	if (!q->open || !s->parked)
		return;
	s->parked = false;
	for (n = s->una; n != s->next && !nv_fragment_at(s, n)->again; n++)
		;
	if (code != FL_ST_OK && n != s->next) {
		nv->job.active = nv->job.active && nv->job.qp != q;
		nv_req_at(s, nv_fragment_at(s, n)->req)->failed = code;
		for (; n != s->next; n++)
			nv_fragment_at(s, n)->again = false;
		nv_send_settle(nv, q, nv_req_at(s, s->head)->work.cause);
	}
	if (q->open)
		nv_pair_ready(nv, q);
	nv_time_set(nv);
}
