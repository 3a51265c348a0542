// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receiver, channel 1: a fragment goes to the address that it names, whatever came before;
 * or, if the page is absent or data wait for it already, into the system buffer.
 */
#include "nic/transport/nv_internal.h"
#include "trace/event.h"

static uint64_t frame_cause(const struct nv *nv)
{
	return nv->take.what->frame.cause;
}

static struct nv_arrived *take_entry(struct nv *nv, struct nv_pair *q)
{
	return nv_arrived_at(&q->recv, nv->take.packet.sequence);
}

static void take_placed(struct nv *nv, struct nv_pair *q, uint64_t cause)
{
	struct nv_arrived *a = take_entry(nv, q);
	uint32_t sequence = nv->take.packet.sequence, xfer = a->xfer;

	nv->stats.direct++;
	a->have = a->placed = true;
	a->cause = cause;
	nv_window_advance(nv, q);
	nv_window_answer(nv, q, sequence, false, xfer, cause);
}

/* It is not taken; its sender hears so when all before it are in their place. */
static void take_refused(struct nv *nv, struct nv_pair *q, uint8_t code, uint8_t ends,
			 uint64_t cause)
{
	struct nv_arrived *a = take_entry(nv, q);

	a->have = true;
	a->bad = code;
	a->ends = ends;
	a->cause = nv_note(nv, EV_NV_REFUSE, a->xfer, cause, q, nv->take.packet.sequence,
			   code, 0);
	nv_window_advance(nv, q);
}

static struct nv_miss take_miss(struct nv *nv, struct nv_pair *q)
{
	const struct nv_packet *p = &nv->take.packet;

	return (struct nv_miss){
		.qp = q->place, .side = NV_RECEIVER, .key = p->key,
		.object = nv->take.mover.object, .va = p->va, .len = p->payload_len,
		.left = p->len - p->payload_len, .sequence = p->sequence,
		.xfer = nv->take.mover.xfer, .cause = nv->take.mover.cause,
	};
}

static void take_missed(struct nv *nv, struct nv_pair *q)
{
	struct nv_mover *m = &nv->take.mover;
	struct nv_miss miss;

	nv->stats.misses++;
	m->cause = nv_note(nv, EV_NV_MISS, m->xfer, m->burst.event ? m->burst.event : m->cause,
			   q, NV_RECEIVER, m->va, nv->take.packet.sequence);
	miss = take_miss(nv, q);
	switch (nv->env.miss(nv->env.ctx, &miss)) {
	case NV_REDIRECT:
		nv_credit_redirect(nv, q, &miss);
		break;
	case NV_SILENCE:
		nv_drop(nv, q, &nv->take.what->frame, miss.sequence, NV_DROP_MISSING);
		break;
	default:
		take_refused(nv, q, FL_ST_REMOTE_FAULT, FL_ST_LOCAL_FAULT, m->cause);
		break;
	}
}

/* True: it was taken before, or lies beyond the window, or the pair ends. */
static bool take_is_none(struct nv *nv, struct nv_pair *q)
{
	const struct nv_packet *p = &nv->take.packet;
	struct nv_receiver *r = &q->recv;
	int32_t ahead = (int32_t)(p->sequence - r->base);
	const struct wire_frame *f = &nv->take.what->frame;
	uint64_t cause;

	if (r->dying) {
		nv_drop(nv, q, f, p->sequence, NV_DROP_ENDING);
		return true;
	}
	if (ahead >= NV_WINDOW_MAX) {
		nv_drop(nv, q, f, p->sequence, NV_DROP_BEYOND);
		return true;
	}
	if (ahead >= 0 && !nv_arrived_at(r, p->sequence)->have)
		return false;
	nv->stats.duplicates++;
	cause = nv_note(nv, EV_NV_DUPLICATE, f->xfer, f->cause, q, p->sequence, r->base, 0);
	if (ahead >= 0 && !nv_arrived_at(r, p->sequence)->bad) {
		nv_window_answer(nv, q, p->sequence, false, f->xfer, cause);
	} else {
		r->state = (struct nv_answer){ .due = true, .xfer = f->xfer, .cause = cause };
		nv_pair_ready(nv, q);
	}
	return true;
}

/* Where the fragment is to go, by what the key allows. */
static bool take_reaches(struct nv *nv, struct nv_pair *q)
{
	const struct nv_packet *p = &nv->take.packet;
	struct nv_mover *m = &nv->take.mover;
	struct fw_wanted w = {
		.qp = q->place, .key = p->key, .right = FL_ACC_REMOTE_WRITE,
		.va = p->va, .bytes = p->payload_len,
	};

	*m = (struct nv_mover){
		.qp = q, .segments = 1, .channel = 1, .right = FL_ACC_REMOTE_WRITE,
		.write = true, .left = p->payload_len, .va = p->va,
		/* Only read: the burst writes memory. */
		.buf = (uint8_t *)p->payload, .cause = frame_cause(nv),
		.xfer = nv->take.what->frame.xfer,
		.own = { .va = p->va, .bytes = p->payload_len, .key = p->key },
	};
	if (nv_count_check(nv, q, p->counter) != FL_ST_OK)
		return false;
	if (!p->payload_len)
		return true;
	m->reached = 1;
	m->denied = nv->env.fw.reach(nv->env.fw.ctx, &w, &m->object);
	return m->denied == FL_ST_OK;
}

void nv_take_begin(struct nv *nv, struct nv_pair *q)
{
	const struct nv_packet *p = &nv->take.packet;
	struct nv_arrived *a = take_entry(nv, q);
	struct nv_miss miss;

	if (take_is_none(nv, q))
		return;
	*a = (struct nv_arrived){
		.last = p->payload_len == p->len, .counter = p->counter,
		.xfer = nv->take.what->frame.xfer,
	};
	if (!take_reaches(nv, q)) {
		take_refused(nv, q, FL_ST_REMOTE_ACCESS, FL_ST_REMOTE_ACCESS,
			     frame_cause(nv));
	} else if (p->payload_len && nv_credit_waits(nv, q, p->va)) {
		miss = take_miss(nv, q);
		nv_credit_redirect(nv, q, &miss);
	} else {
		nv->take.landing = true;
	}
}

void nv_take_landed(struct nv *nv, struct nv_pair *q, enum nv_moved how)
{
	struct nv_mover *m = &nv->take.mover;

	if (!q->open || nv->take.what->epoch != q->epoch) {
		nv_drop(nv, NULL, &nv->take.what->frame, nv->take.packet.sequence,
			NV_DROP_ENDING);
		return;
	}
	switch (how) {
	case NV_MOVED:
		take_placed(nv, q, m->cause);
		break;
	case NV_MISSED:
		take_missed(nv, q);
		break;
	case NV_DENIED:
		take_refused(nv, q, FL_ST_REMOTE_ACCESS, FL_ST_REMOTE_ACCESS, m->cause);
		break;
	default:
		take_refused(nv, q, FL_ST_REMOTE_FAULT, FL_ST_BUS_ERROR, m->cause);
		break;
	}
}
