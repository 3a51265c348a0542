// SPDX-License-Identifier: BSD-2-Clause
/* Front door of the datagrams' unit: pairs, arriving frames, the two channels. */
#include "nic/transport/ud_internal.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"

static struct ud_pair *pair_at(struct ud *ud, uint32_t number)
{
	return &ud->pair[FW_QP_PLACE(number)];
}

static struct ud_req *req_at(struct ud_pair *q, uint32_t n)
{
	return &q->req[n % FW_QP_WRS];
}

void ud_kick(struct ud *ud, unsigned int channel)
{
	if (ud->awake[channel])
		return;
	ud->awake[channel] = true;
	ud->env.kick(ud->env.ctx, channel);
}

/* ---- for the firmware ---- */

static bool pair_is_good(const struct fw_pair *p)
{
	return p->mtu >= 256 && p->mtu <= WIRE_PAYLOAD_MAX && !(p->mtu & (p->mtu - 1));
}

static bool pair_memory(struct ud_pair *q)
{
	if (!q->req)
		q->req = calloc(FW_QP_WRS, sizeof(*q->req));
	if (!q->ring.place)
		q->ring.place = calloc(UD_AHEAD, sizeof(*q->ring.place));
	return q->req && q->ring.place;
}

static uint8_t unit_open(void *ctx, uint16_t qp, const struct fw_pair *p)
{
	struct ud *ud = ctx;
	struct ud_pair *q = pair_at(ud, qp);

	if (qp >= UD_PAIRS || !pair_is_good(p))
		return FL_ST_BAD_ARGUMENT;
	if (!pair_memory(q))
		return FL_ST_NO_ROOM;
	q->p = *p;
	if (q->open)
		return FL_ST_OK;
	q->open = true;
	q->place = qp;
	q->parked = false;
	q->head = q->tail = 0;
	q->psn = p->sq_psn & RC_PSN_MASK;
	ud_ring_open(ud, q);
	if (qp >= ud->pairs_used)
		ud->pairs_used = qp + 1u;
	return FL_ST_OK;
}

/* An open burst ends here, so that all it moves is moved before close() returns. */
static void unit_close(void *ctx, uint16_t qp)
{
	struct ud *ud = ctx;
	struct ud_pair *q = pair_at(ud, qp);

	if (!q->open)
		return;
	if (ud->job.active && ud->job.qp == q) {
		ud_move_end(ud, &ud->job.mover);
		ud->job.active = false;
	}
	if (ud->take.what && ud->take.what->qp == q) {
		ud_move_end(ud, &ud->take.mover);
		ud->take.landing = false;
	}
	q->open = false;
	q->epoch++;
	q->head = q->tail;
	ud_ring_close(ud, q);
	ud_kick(ud, 0);
	ud_kick(ud, 1);
}

static void unit_post(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w)
{
	struct ud *ud = ctx;
	struct ud_pair *q = pair_at(ud, qp);
	struct ud_req *e;

	if (!q->open)
		return;
	assert(q->tail - q->head < FW_QP_WRS);
	e = req_at(q, q->tail++);
	e->work = *w;
	e->wr = wr;
	ud_kick(ud, 0);
}

static void mover_stop_key(struct ud *ud, struct ud_mover *m, uint32_t key)
{
	if (m->open && m->key == key)
		ud_move_end(ud, m);
	m->reached = 0;
}

static void unit_stop_key(void *ctx, uint32_t key)
{
	struct ud *ud = ctx;

	if (ud->job.active)
		mover_stop_key(ud, &ud->job.mover, key);
	if (ud->take.what && ud->take.landing)
		mover_stop_key(ud, &ud->take.mover, key);
}

static void unit_posted(void *ctx, uint16_t qp)
{
	struct ud *ud = ctx;

	if (pair_at(ud, qp)->open && pair_at(ud, qp)->ring.untold)
		ud_backup_tell(ud);
}

struct fw_transport ud_transport(struct ud *ud)
{
	return (struct fw_transport){
		.ctx = ud, .open = unit_open, .close = unit_close, .post = unit_post,
		.stop_key = unit_stop_key, .posted = unit_posted,
	};
}

/* ---- frames that come ---- */

static void frame_keep(struct ud *ud, struct ud_pair *q, const struct wire_frame *f)
{
	struct inbox_frame *w = inbox_keep(&ud->inbox, f);

	w->qp = q;
	w->epoch = q->epoch;
	ud_kick(ud, 1);
}

void ud_receive(struct ud *ud, const struct wire_frame *f, uint64_t now_ns)
{
	struct rc_packet p;
	struct ud_pair *q;

	ud->now_ns = now_ns;
	if (rc_get(f, ud->cfg.icrc, &p) != WIRE_OK || !ud_opcode_known(p.opcode)) {
		ud_drop(ud, NULL, f, NULL, UD_DROP_BAD);
		return;
	}
	q = pair_at(ud, p.dest_qp);
	if (!q->open || q->p.qpn != p.dest_qp)
		ud_drop(ud, NULL, f, &p, UD_DROP_NO_PAIR);
	else if (p.qkey != q->p.qkey)	/* InfiniBand 9.6.1.1.3: in silence */
		ud_drop(ud, q, f, &p, UD_DROP_QKEY);
	else if (inbox_is_full(&ud->inbox))
		ud_drop(ud, q, f, &p, UD_DROP_FULL);
	else
		frame_keep(ud, q, f);
}

/* ---- channel 1 ---- */

static void frame_done(struct ud *ud)
{
	inbox_give_back(&ud->inbox, ud->take.what);
	ud->take.what = NULL;
	ud->take.landing = false;
}

/* The oldest frame becomes ud->take. */
static bool frame_next(struct ud *ud)
{
	struct inbox_frame *w;
	struct ud_pair *q;

	if (!ud->inbox.oldest)
		return false;
	w = inbox_take(&ud->inbox, NULL);
	q = w->qp;
	ud->take.what = w;
	ud->take.landing = false;
	if (!q->open || w->epoch != q->epoch ||
	    rc_get(&w->frame, false, &ud->take.packet) != WIRE_OK) {
		ud_drop(ud, NULL, &w->frame, NULL, UD_DROP_NO_PAIR);
		return true;
	}
	ud->stats.received++;
	ud->take.landing = ud_ring_begin(ud, q);
	return true;
}

static uint64_t take_step(struct ud *ud)
{
	struct ud_taking *t = &ud->take;
	enum ud_moved how;
	uint64_t delay, more = 0;

	if (!t->what && !frame_next(ud))
		return UD_NEVER;
	if (t->landing) {
		how = ud_move_step(ud, &t->mover, &delay);
		if (how == UD_MOVING)
			return delay;
		more = ud_ring_landed(ud, t->what->qp, how);
	}
	frame_done(ud);
	return ud->cfg.packet_ns + more;
}

/* ---- channel 0 ---- */

/* Pairs take turns. */
static bool job_pick(struct ud *ud)
{
	struct ud_job *job = &ud->job;
	struct ud_pair *q;
	struct ud_req *e;
	unsigned int i;

	for (i = 1; i <= ud->pairs_used; i++) {
		q = &ud->pair[(ud->turn + i) % ud->pairs_used];
		if (!q->open || q->parked || q->head == q->tail)
			continue;
		e = req_at(q, q->head);
		ud->turn = q->place;
		job->active = true;
		job->qp = q;
		job->mover = (struct ud_mover){
			.segment = e->work.segment, .segments = e->work.segments,
			.buf = job->data, .left = e->work.length, .qp = q->place,
			.xfer = e->work.xfer, .cause = e->work.cause,
		};
		if (e->work.flags & FL_WQE_INLINE) {
			memcpy(job->data, e->work.data, e->work.length);
			job->mover.left = 0;
		}
		return true;
	}
	return false;
}

static void job_done(struct ud *ud, uint8_t status, uint64_t cause)
{
	struct ud_pair *q = ud->job.qp;
	uint32_t wr = req_at(q, q->head++)->wr;

	ud->job.active = false;
	ud->env.fw.work_done(ud->env.fw.ctx, q->place, wr, status, 0, cause);
}

/* Whom the request names, or the queue pair's peer. */
struct ud_whom {
	uint32_t qp, qkey;
	uint8_t node;
};

static struct ud_whom job_whom(const struct ud_pair *q, const struct fw_work *w)
{
	if (w->flags & FL_WQE_TO)
		return (struct ud_whom){
			.qp = (uint32_t)w->remote_va >> 8, .qkey = w->rkey,
			.node = (uint8_t)w->remote_va,
		};
	return (struct ud_whom){ .qp = q->p.peer_qp, .qkey = q->p.qkey, .node = q->p.node };
}

static uint64_t job_send(struct ud *ud)
{
	struct ud_job *job = &ud->job;
	struct ud_pair *q = job->qp;
	const struct fw_work *w = &req_at(q, q->head)->work;
	const struct ud_whom to = job_whom(q, w);
	struct rc_packet p = {
		.opcode = w->flags & FL_WQE_IMM ? WOP_UD_SEND_ONLY_IMM : WOP_UD_SEND_ONLY,
		.solicited = w->flags & FL_WQE_SOLICITED, .dest_qp = to.qp,
		.psn = q->psn, .qkey = to.qkey, .src_qp = q->p.qpn, .imm = w->imm,
		.payload_len = w->length,
	};
	struct wire_frame *f;
	uint64_t cause;

	/* Meanwhile the packet was read. */
	if (ud->wire_free_ns > ud->now_ns)
		return ud->wire_free_ns - ud->now_ns;
	f = ud->env.frame_get(ud->env.wire);
	if (!f) {
		ud->starved = true;
		return UD_NEVER;
	}
	f->from = ud->cfg.node;
	f->to = to.node;
	f->xfer = w->xfer;
	f->block = 0;
	f->attempt = 0;
	f->offset = 0;
	memcpy(rc_payload(f, p.opcode), job->data, w->length);
	rc_put(f, &p, ud->cfg.icrc);
	cause = ud_note(ud, EV_UD_SEND, w->xfer, job->mover.cause, q, p.psn, p.opcode,
			w->length);
	f->cause = cause;
	ud->stats.sent++;
	ud->stats.payload_sent += w->length;
	q->psn = rc_psn_add(q->psn, 1);
	ud->wire_free_ns = ud->now_ns + ud->env.frame_send(ud->env.wire, f);
	/* It is over when it has left, frame and all: nobody will say more of it. */
	job_done(ud, FL_ST_OK, cause);
	return ud->cfg.packet_ns;
}

/* A page of what is to be sent is missing. */
static void job_missed(struct ud *ud)
{
	struct ud_job *job = &ud->job;
	struct ud_pair *q = job->qp;
	const struct ud_req *e = req_at(q, q->head);
	struct ud_mover *m = &job->mover;
	struct rc_miss miss = {
		.qp = q->place, .side = RC_REQUESTER, .datagram = true, .opcode = e->work.opcode,
		.wr = e->wr, .key = m->key, .object = m->object, .va = m->va,
		.len = m->burst.len, .left = m->left - m->burst.len, .psn = q->psn,
		.xfer = m->xfer, .work = &e->work,
	};

	ud->stats.misses++;
	miss.cause = ud_note(ud, EV_RC_MISS, m->xfer,
			     m->burst.event ? m->burst.event : m->cause, q, RC_REQUESTER,
			     m->va, q->psn);
	job->active = false;
	if (ud->env.miss(ud->env.ctx, &miss).verdict == RC_PARK) {
		q->parked = true;
		ud->stats.parked++;
		return;
	}
	job_done(ud, FL_ST_LOCAL_FAULT, miss.cause);
}

static uint64_t send_step(struct ud *ud)
{
	struct ud_job *job = &ud->job;
	enum ud_moved how;
	uint64_t delay;

	if (!job->active && !job_pick(ud))
		return UD_NEVER;
	how = ud_move_step(ud, &job->mover, &delay);
	switch (how) {
	case UD_MOVING:
		return delay;
	case UD_MOVED:
		return job_send(ud);
	case UD_MISSED:
		job_missed(ud);
		return 0;
	case UD_DENIED:
		job_done(ud, ud_local_status(job->mover.denied), job->mover.cause);
		return 0;
	case UD_BROKEN:
		break;
	}
	job_done(ud, FL_ST_BUS_ERROR, job->mover.cause);
	return 0;
}

uint64_t ud_step(struct ud *ud, unsigned int channel, uint64_t now_ns)
{
	uint64_t next;

	ud->now_ns = now_ns;
	ud->awake[channel] = true;
	next = channel ? take_step(ud) : send_step(ud);
	if (next == UD_NEVER)
		ud->awake[channel] = false;
	return next;
}

void ud_wire_room(struct ud *ud)
{
	if (!ud->starved)
		return;
	ud->starved = false;
	ud_kick(ud, 0);
}

void ud_resume(struct ud *ud, uint16_t qp, uint8_t code, uint64_t now_ns)
{
	struct ud_pair *q = pair_at(ud, qp);
	const struct ud_req *e;

	ud->now_ns = now_ns;
	if (!q->open || !q->parked)
		return;
	q->parked = false;
	e = req_at(q, q->head);
	if (code != FL_ST_OK) {
		q->head++;
		ud->env.fw.work_done(ud->env.fw.ctx, qp, e->wr, code, 0, e->work.cause);
	}
	ud_kick(ud, 0);
}
