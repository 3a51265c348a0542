// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receives of a queue pair: which one a packet is for, and announcing them in the order in
 * which their packets came (NPF, ASPLOS 2017, section 5).
 *
 * Receives are counted from 0. Those before head have been announced. From head on, offset of
 * them have their packets: in place, or, where a bit of the bitmap is set, in the backup ring.
 * bm_index is the bit of the receive at head, and the receive n behind head has the n-th bit
 * from there, round and round. So the next packet is for the receive head + offset, whatever
 * is announced meanwhile.
 */
#include "nic/transport/ud_internal.h"

#include <assert.h>
#include <string.h>

#include "trace/event.h"

struct ud_place *ud_ring_place(struct ud_ring *r, uint16_t index)
{
	return &r->place[index % UD_AHEAD];
}

uint16_t ud_ring_bit(const struct ud_ring *r, uint16_t offset)
{
	return (uint16_t)((r->bm_index + offset) % r->bm_size);
}

void ud_ring_mark(struct ud_ring *r, uint16_t bit, bool waits)
{
	if (waits)
		r->bitmap[bit / 64] |= 1ull << bit % 64;
	else
		r->bitmap[bit / 64] &= ~(1ull << bit % 64);
}

void ud_ring_open(struct ud *ud, struct ud_pair *q)
{
	struct ud_ring *r = &q->ring;

	r->at = (struct ud_at){ 0, 0 };
	r->bm_index = 0;
	r->bm_size = (uint16_t)ud->backup.bits;
	if (q->p.bits && q->p.bits < r->bm_size)
		r->bm_size = q->p.bits;
}

/* What the driver holds of it is not to be copied any more. */
void ud_ring_close(struct ud *ud, struct ud_pair *q)
{
	struct ud_ring *r = &q->ring;

	if (r->held && ud->backup.slots)
		r->over_due = true;
	ud->stats.held -= r->held;
	r->held = r->untold = 0;
	r->at = (struct ud_at){ 0, 0 };
	r->serial++;
	memset(r->bitmap, 0, sizeof(r->bitmap));
	if (r->over_due)
		ud_backup_tell(ud);
}

static void ring_announce(struct ud *ud, struct ud_pair *q, struct ud_place *p)
{
	ud->stats.announced++;
	ud->env.fw.recv_done(ud->env.fw.ctx, q->place, &p->recv, &p->arrival);
}

void ud_ring_release(struct ud *ud, struct ud_pair *q, uint64_t cause)
{
	struct ud_ring *r = &q->ring;
	struct ud_at at = r->at;
	uint16_t first = at.head, n = 0, i;
	uint32_t epoch = q->epoch;
	struct ud_place *p;

	while (at.offset && !ud_ring_waits(r, r->bm_index)) {
		at.head++;
		at.offset--;
		r->bm_index = (uint16_t)((r->bm_index + 1) % r->bm_size);
		n++;
	}
	if (!n)
		return;
	/* At once: a packet that comes finds the sum as it was. */
	r->at = at;
	cause = ud_note(ud, EV_UD_RELEASE, ud_ring_place(r, first)->recv.xfer, cause, q, first,
			n, at.offset);
	for (i = 0; i < n && q->epoch == epoch; i++) {
		p = ud_ring_place(r, (uint16_t)(first + i));
		p->arrival.cause = cause;
		ring_announce(ud, q, p);
	}
}

static void ring_arrival(const struct ud_taking *t, struct ud_place *p, uint64_t cause)
{
	const struct rc_packet *k = &t->packet;

	p->arrival = (struct fw_arrival){
		.cause = cause, .length = k->payload_len, .imm = k->imm,
		.from_qp = k->src_qp, .from_node = t->what->frame.from,
		.solicited = k->solicited,
		.opcode = k->opcode == WOP_UD_SEND_ONLY_IMM ? FL_OP_RECV_IMM : FL_OP_RECV,
	};
}

/* It goes into the backup ring if there is room; otherwise it is lost. */
static uint64_t ring_divert(struct ud *ud, struct ud_pair *q, bool posted, uint64_t later_ns)
{
	struct ud_taking *t = &ud->take;
	struct ud_ring *r = &q->ring;
	struct ud_place *p = ud_ring_place(r, t->index);
	uint16_t bit;

	if (r->at.offset >= r->bm_size) {
		ud_drop(ud, q, &t->what->frame, &t->packet, UD_DROP_BITS);
		return 0;
	}
	bit = ud_ring_bit(r, r->at.offset);
	ring_arrival(t, p, t->what->frame.cause);
	p->posted = p->told = posted;
	p->recv = t->recv;
	if (!ud_backup_store(ud, q, p, t->index, bit, later_ns)) {
		ud_drop(ud, q, &t->what->frame, &t->packet, UD_DROP_BACKUP);
		return 0;
	}
	ud_ring_mark(r, bit, true);
	r->at.offset++;
	r->held++;
	r->untold += !posted;
	ud->stats.diverted++;
	ud->stats.held++;
	if (ud->stats.held > ud->stats.held_peak)
		ud->stats.held_peak = ud->stats.held;
	return ud->cfg.store_ns;
}

bool ud_ring_begin(struct ud *ud, struct ud_pair *q)
{
	struct ud_taking *t = &ud->take;
	const struct rc_packet *p = &t->packet;
	const struct wire_frame *f = &t->what->frame;
	struct ud_ring *r = &q->ring;
	uint8_t wrong = FL_ST_OK;

	if (r->at.offset >= UD_AHEAD) {
		ud_drop(ud, q, f, p, UD_DROP_AHEAD);
		return false;
	}
	t->index = (uint16_t)(r->at.head + r->at.offset);
	t->recv = (struct fw_recv){ .index = t->index, .srq = FW_NO_SRQ, .xfer = f->xfer };
	if (!ud->env.fw.recv_ahead(ud->env.fw.ctx, q->place, r->at.offset, &t->recv,
				   &wrong)) {
		if (ud->env.diverts(ud->env.ctx, q->place))
			ring_divert(ud, q, false, 0);
		else
			ud_drop(ud, q, f, p, UD_DROP_NO_RECEIVE);
		return false;
	}
	if (wrong) {
		ud->env.fw.pair_error(ud->env.fw.ctx, q->place, wrong, f->cause);
		return false;
	}
	if (p->payload_len > t->recv.length) {
		ud_drop(ud, q, f, p, UD_DROP_LENGTH);
		return false;
	}
	t->mover = (struct ud_mover){
		.segment = t->recv.segment, .segments = t->recv.segments,
		.buf = (uint8_t *)p->payload, .left = p->payload_len, .write = true,
		.qp = q->place, .channel = 1, .xfer = f->xfer, .cause = f->cause,
	};
	return true;
}

/* A page of its receive is missing. */
static uint64_t ring_missed(struct ud *ud, struct ud_pair *q)
{
	struct ud_taking *t = &ud->take;
	struct ud_mover *m = &t->mover;
	struct rc_miss miss = {
		.qp = q->place, .side = RC_RESPONDER, .write = true, .datagram = true,
		.opcode = FL_OP_RECV,
		.key = m->key, .object = m->object, .va = m->va, .len = m->burst.len,
		.left = m->left - m->burst.len, .psn = t->packet.psn, .xfer = m->xfer,
	};
	struct rc_judged j;

	ud->stats.misses++;
	miss.cause = ud_note(ud, EV_RC_MISS, m->xfer,
			     m->burst.event ? m->burst.event : m->cause, q, RC_RESPONDER,
			     m->va, t->packet.psn);
	t->what->frame.cause = miss.cause;
	j = ud->env.miss(ud->env.ctx, &miss);
	switch (j.verdict) {
	case RC_DIVERT:
		return ring_divert(ud, q, true, j.later_ns);
	case RC_DROP:
		ud_drop(ud, q, &t->what->frame, &t->packet, UD_DROP_MISSING);
		return 0;
	default:
		ud->env.fw.pair_error(ud->env.fw.ctx, q->place, FL_ST_LOCAL_FAULT,
				      miss.cause);
		return 0;
	}
}

/* All of it is in place. */
static void ring_stored(struct ud *ud, struct ud_pair *q)
{
	struct ud_taking *t = &ud->take;
	struct ud_ring *r = &q->ring;
	struct ud_place *p = ud_ring_place(r, t->index);

	/* What was resolved meanwhile has moved both, and not their sum. */
	assert(t->index == (uint16_t)(r->at.head + r->at.offset));
	ring_arrival(t, p, t->mover.cause);
	p->recv = t->recv;
	p->posted = p->told = true;
	if (r->at.offset) {
		r->at.offset++;
		return;
	}
	r->at.head++;
	if (r->bm_size)
		r->bm_index = (uint16_t)((r->bm_index + 1) % r->bm_size);
	ring_announce(ud, q, p);
}

uint64_t ud_ring_landed(struct ud *ud, struct ud_pair *q, enum ud_moved how)
{
	struct ud_mover *m = &ud->take.mover;

	switch (how) {
	case UD_MOVED:
		ring_stored(ud, q);
		return 0;
	case UD_MISSED:
		return ring_missed(ud, q);
	case UD_DENIED:
		ud->env.fw.pair_error(ud->env.fw.ctx, q->place,
				      ud_local_status(m->denied), m->cause);
		return 0;
	default:
		ud->env.fw.pair_error(ud->env.fw.ctx, q->place, FL_ST_BUS_ERROR, m->cause);
		return 0;
	}
}
