// SPDX-License-Identifier: BSD-2-Clause
/* Front door of the reliable connection: pairs, arriving frames, the two channels. */
#include "nic/transport/rc_internal.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"

static struct rc_pair *pair_at(struct rc *rc, uint32_t number)
{
	return &rc->pair[FW_QP_PLACE(number)];
}

/* ---- for the firmware ---- */

static bool pair_is_good(const struct fw_pair *p)
{
	return p->mtu >= 256 && p->mtu <= WIRE_PAYLOAD_MAX && !(p->mtu & (p->mtu - 1)) &&
	       p->dest_rd_atomic <= RC_SLOTS && p->rnr_code < 32 && p->retries < 8 &&
	       p->rnr_tries < 8 && p->timeout < 32;
}

static void pair_clear(struct rc_pair *q)
{
	struct rc_req *req = q->req.req;

	memset(&q->req, 0, sizeof(q->req));
	memset(&q->resp, 0, sizeof(q->resp));
	q->req.req = req;
	q->req.ack_due = q->req.rnr_due = RC_NEVER;
}

static uint8_t unit_open(void *ctx, uint16_t qp, const struct fw_pair *p)
{
	struct rc *rc = ctx;
	struct rc_pair *q = pair_at(rc, qp);
	uint16_t mtu = q->open ? q->p.mtu : p->mtu;

	if (qp >= RC_PAIRS || !pair_is_good(p))
		return FL_ST_BAD_ARGUMENT;
	if (!q->req.req)
		q->req.req = calloc(FW_QP_WRS, sizeof(*q->req.req));
	if (!q->req.req)
		return FL_ST_NO_ROOM;
	q->p = *p;
	q->p.mtu = mtu;		/* packets of this size may be outstanding */
	if (!q->open) {
		pair_clear(q);
		q->open = true;
		q->place = qp;
		q->resp.epsn = q->resp.acked = p->rq_psn & RC_PSN_MASK;
		if (qp >= rc->pairs_used)
			rc->pairs_used = qp + 1u;
	}
	if (p->sends && !q->req.started)
		rc_req_start(q);
	rc_pair_ready(rc, q);
	return FL_ST_OK;
}

/* An open burst ends here, so that all it moves is moved before close() returns. */
static void unit_close(void *ctx, uint16_t qp)
{
	struct rc *rc = ctx;
	struct rc_pair *q = pair_at(rc, qp);
	unsigned int i;

	if (!q->open)
		return;
	if (rc->job.active && rc->job.qp == q) {
		rc_move_end(rc, &rc->job.mover);
		rc->job.active = false;
	}
	if (rc->take.what && rc->take.what->qp == q) {
		rc_move_end(rc, &rc->take.mover);
		rc->take.landing = false;
	}
	for (i = 0; i < 2; i++)
		if (rc->sleep[i].asleep && rc->sleep[i].qp == qp)
			rc->sleep[i].asleep = false;
	q->open = false;
	q->epoch++;
	pair_clear(q);
	rc_kick(rc, 0);
	rc_kick(rc, 1);
	rc_time_set(rc);
}

static void unit_post(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w)
{
	struct rc *rc = ctx;
	struct rc_pair *q = pair_at(rc, qp);

	if (!q->open)
		return;
	assert(q->req.tail - q->req.head < FW_QP_WRS);
	rc_req_post(rc, q, wr, w);
}

static void mover_stop_key(struct rc *rc, struct rc_mover *m, uint32_t key)
{
	if (m->open && m->key == key)
		rc_move_end(rc, m);
	m->reached = 0;
}

static void unit_stop_key(void *ctx, uint32_t key)
{
	struct rc *rc = ctx;

	if (rc->job.active)
		mover_stop_key(rc, &rc->job.mover, key);
	if (rc->take.what && rc->take.landing)
		mover_stop_key(rc, &rc->take.mover, key);
}

struct fw_transport rc_transport(struct rc *rc)
{
	return (struct fw_transport){
		.ctx = rc, .open = unit_open, .close = unit_close, .post = unit_post,
		.stop_key = unit_stop_key,
	};
}

/* ---- frames that come ---- */

/* Opcodes of requests: those up to READ_REQUEST, and the two atomics. */
static bool opcode_is_request(uint8_t op)
{
	return op <= WOP_RC_READ_REQUEST || op == WOP_RC_CMP_SWAP || op == WOP_RC_FETCH_ADD;
}

static void frame_keep(struct rc *rc, struct rc_pair *q, const struct wire_frame *f)
{
	struct inbox_frame *w = inbox_keep(&rc->inbox, f);

	w->qp = q;
	w->epoch = q->epoch;
	w->request = opcode_is_request(wire_opcode(f));
	rc_kick(rc, 1);
}

void rc_receive(struct rc *rc, const struct wire_frame *f, uint64_t now_ns)
{
	struct rc_packet p;
	struct rc_pair *q;

	rc->now_ns = now_ns;
	rc->stats.packets_received++;
	if (rc_get(f, rc->cfg.icrc, &p) != WIRE_OK || !rc_opcode_known(p.opcode)) {
		rc_drop(rc, NULL, f, NULL, RC_DROP_BAD);
		return;
	}
	q = pair_at(rc, p.dest_qp);
	if (!q->open || q->p.qpn != p.dest_qp)
		rc_drop(rc, NULL, f, &p, RC_DROP_NO_PAIR);
	else if (q->p.node != f->from)
		rc_drop(rc, q, f, &p, RC_DROP_STRANGER);
	else if (inbox_is_full(&rc->inbox))
		rc_drop(rc, q, f, &p, RC_DROP_FULL);
	else
		frame_keep(rc, q, f);
}

/* ---- channel 1 ---- */

static void frame_done(struct rc *rc)
{
	inbox_give_back(&rc->inbox, rc->take.what);
	rc->take.what = NULL;
	rc->take.landing = false;
}

static bool frame_waits(const struct inbox_frame *w)
{
	const struct rc_pair *q = w->qp;

	return w->request && q->open && w->epoch == q->epoch &&
	       rc_resp_blocked(q);
}

/* The oldest frame that need not wait becomes rc->take. */
static bool frame_next(struct rc *rc)
{
	struct inbox_frame *w = rc->inbox.oldest, *before = NULL;
	struct rc_pair *q;

	while (w && frame_waits(w)) {
		before = w;
		w = w->next;
	}
	if (!w)
		return false;
	rc->take.what = inbox_take(&rc->inbox, before);
	rc->take.landing = false;
	q = w->qp;
	if (!q->open || w->epoch != q->epoch ||
	    rc_get(&w->frame, false, &rc->take.packet) != WIRE_OK)
		rc_drop(rc, NULL, &w->frame, NULL, RC_DROP_NO_PAIR);
	else if (w->request)
		rc_resp_begin(rc, q);
	else
		rc_done_begin(rc, q);
	return true;
}

static uint64_t take_step(struct rc *rc)
{
	struct rc_taking *t = &rc->take;
	enum rc_moved how;
	uint64_t delay;

	if (rc->sleep[1].asleep)
		return RC_NEVER;
	if (!t->what && !frame_next(rc))
		return RC_NEVER;
	if (t->landing) {
		how = rc_move_step(rc, &t->mover, &delay);
		if (how == RC_MOVING)
			return delay;
		if (t->what->request)
			rc_resp_landed(rc, t->what->qp, how);
		else
			rc_done_landed(rc, t->what->qp, how);
		if (rc->sleep[1].asleep)
			return RC_NEVER;
	}
	frame_done(rc);
	return rc->cfg.packet_ns;
}

/* ---- channel 0 ---- */

static bool answer_pick(struct rc *rc, struct rc_pair *q)
{
	struct rc_job *job = &rc->job;

	if (!q->resp.answers)
		return rc_read_pick(rc, q);
	job->kind = RC_JOB_ANSWER;
	job->xfer = q->resp.answer[q->resp.answer_head].xfer;
	job->packet = (struct rc_packet){ .payload_len = 0 };
	rc_move_local(&job->mover, q, NULL, 0, 0, 0);
	return true;
}

/* Responses and requests of a pair take turns. */
static bool pair_pick(struct rc *rc, struct rc_pair *q)
{
	struct rc_job *job = &rc->job;
	bool found;

	if (!q->open)
		return false;
	q->own_first = !q->own_first;
	if (q->own_first)
		found = rc_req_pick(rc, q) || answer_pick(rc, q);
	else
		found = answer_pick(rc, q) || rc_req_pick(rc, q);
	if (!found)
		return false;
	job->active = true;
	job->qp = q;
	job->mover.buf = job->data;
	job->mover.xfer = job->xfer;
	job->mover.cause = job->cause;
	return true;
}

/* Pairs take turns. */
static bool job_pick(struct rc *rc)
{
	unsigned int i, place;

	for (i = 1; i <= RC_PAIRS; i++) {
		place = (rc->turn + i) % RC_PAIRS;
		if (!(place % 64) && !rc->ready[place / 64]) {
			i += 63;
			continue;
		}
		if (!(rc->ready[place / 64] >> place % 64 & 1))
			continue;
		if (pair_pick(rc, &rc->pair[place])) {
			rc->turn = place;
			return true;
		}
		rc->ready[place / 64] &= ~(1ull << place % 64);
	}
	return false;
}

static unsigned int job_event(const struct rc_job *job)
{
	if (job->kind != RC_JOB_ANSWER)
		return EV_RC_SEND;
	if (rc_syn_is_ack(job->packet.syndrome))
		return EV_RC_ACK;
	return rc_syn_is_rnr(job->packet.syndrome) ? EV_RC_RNR : EV_RC_NAK;
}

static void job_sent(struct rc *rc, struct rc_pair *q)
{
	rc->stats.packets_sent++;
	rc->stats.payload_sent += rc->job.packet.payload_len;
	switch (rc->job.kind) {
	case RC_JOB_REQUEST:
		rc_req_sent(rc, q);
		break;
	case RC_JOB_READ:
		rc_read_sent(rc, q);
		break;
	default:
		rc_answer_sent(rc, q);
		break;
	}
}

static uint64_t job_send(struct rc *rc)
{
	struct rc_job *job = &rc->job;
	struct rc_pair *q = job->qp;
	struct wire_frame *f;

	/* Meanwhile the packet was read. */
	if (rc->wire_free_ns > rc->now_ns)
		return rc->wire_free_ns - rc->now_ns;
	f = rc->env.frame_get(rc->env.wire);
	if (!f) {
		rc->starved = true;
		return RC_NEVER;
	}
	if (job->kind == RC_JOB_ANSWER) {
		rc_answer_packet(q, &job->packet);
		job->cause = q->resp.answer[q->resp.answer_head].cause;
	} else {
		job->cause = job->mover.cause;
	}
	f->from = rc->cfg.node;
	f->to = q->p.node;
	f->xfer = job->xfer;
	f->block = 0;
	f->attempt = 0;
	f->offset = 0;
	memcpy(rc_payload(f, job->packet.opcode), job->data, job->packet.payload_len);
	rc_put(f, &job->packet, rc->cfg.icrc);
	f->cause = rc_note(rc, job_event(job), job->xfer, job->cause, q, job->packet.psn,
			   job->kind == RC_JOB_ANSWER ? job->packet.syndrome :
							job->packet.opcode,
			   job->packet.payload_len);
	rc->wire_free_ns = rc->now_ns + rc->env.frame_send(rc->env.wire, f);
	job->active = false;
	job_sent(rc, q);
	return rc->cfg.packet_ns;
}

/* The requester has gone back since: it makes this packet again, or never. */
static bool job_is_stale(const struct rc_job *job)
{
	return job->kind == RC_JOB_REQUEST && !job->mover.open &&
	       job->turn != job->qp->req.turn;
}

static void job_failed(struct rc *rc, enum rc_moved how)
{
	struct rc_job *job = &rc->job;
	struct rc_requester *r = &job->qp->req;

	if (job->kind == RC_JOB_READ) {
		rc_read_missed(rc, job->qp, how);
	} else if (how == RC_MISSED) {
		rc_req_missed(rc, job->qp);
	} else {
		job->active = false;
		rc_req_fail(rc, job->qp, rc_req_at(r, r->place),
			    how == RC_DENIED ? rc_local_status(job->mover.denied) :
					       job->mover.status, job->mover.cause);
	}
}

static uint64_t send_step(struct rc *rc)
{
	struct rc_job *job = &rc->job;
	enum rc_moved how;
	uint64_t delay;

	if (rc->sleep[0].asleep)
		return RC_NEVER;
	if (!job->active && !job_pick(rc))
		return RC_NEVER;
	if (job_is_stale(job)) {
		job->active = false;
		return 0;
	}
	how = rc_move_step(rc, &job->mover, &delay);
	if (how == RC_MOVING)
		return delay;
	if (how == RC_MOVED)
		return job_is_stale(job) ? 0 : job_send(rc);
	if (job_is_stale(job))
		return 0;
	job_failed(rc, how);
	return rc->sleep[0].asleep ? RC_NEVER : 0;
}

uint64_t rc_step(struct rc *rc, unsigned int channel, uint64_t now_ns)
{
	uint64_t next;

	rc->now_ns = now_ns;
	rc->awake[channel] = true;
	next = channel ? take_step(rc) : send_step(rc);
	if (next == RC_NEVER)
		rc->awake[channel] = false;
	rc_time_set(rc);
	return next;
}

void rc_wire_room(struct rc *rc)
{
	if (!rc->starved)
		return;
	rc->starved = false;
	rc_kick(rc, 0);
}

/* ---- pages that were waited for ---- */

/* A refusal of something else is none: what waits looks again. */
static void channel_wake(struct rc *rc, unsigned int channel, uint8_t code, uint32_t psn)
{
	struct rc_mover *m = channel ? &rc->take.mover : &rc->job.mover;

	rc->sleep[channel].asleep = false;
	if (code != FL_ST_OK && psn == rc->sleep[channel].psn) {
		m->broken = true;
		m->status = code;
	}
	rc_kick(rc, channel);
}

static void requester_wake(struct rc *rc, struct rc_pair *q, bool write, uint8_t code,
			   uint32_t psn)
{
	struct rc_requester *r = &q->req;
	bool *waits = write ? &r->rewinding : &r->parked;
	struct rc_req *e = rc_req_at(r, write ? r->head : r->parked_at);

	if (!*waits)
		return;
	*waits = false;
	if (code != FL_ST_OK && rc_psn_diff(psn, e->first) >= 0 &&
	    rc_psn_diff(psn, rc_psn_add(e->first, e->packets)) < 0)
		rc_req_fail(rc, q, e, code, e->work.cause);
	else if (write)
		rc_req_go_back(rc, q, RC_WHY_PAGE, e->work.cause);
	if (!q->open)
		return;
	rc_ack_timer(rc, q, true);
	rc_pair_ready(rc, q);
}

void rc_resume(struct rc *rc, uint16_t qp, enum rc_side side, bool write, uint8_t code,
	       uint32_t psn, uint64_t now_ns)
{
	struct rc_pair *q = pair_at(rc, qp);
	unsigned int i;

	rc->now_ns = now_ns;
	if (!q->open)
		return;
	for (i = 0; i < 2; i++) {
		const struct rc_asleep *s = &rc->sleep[i];

		if (s->asleep && s->qp == qp && s->side == side && s->write == write) {
			channel_wake(rc, i, code, psn);
			return;
		}
	}
	if (side == RC_REQUESTER) {
		requester_wake(rc, q, write, code, psn);
	} else {	/* the peer learns of it when it sends the PSN again */
		q->resp.lost[write].code = code;
		q->resp.lost[write].psn = psn;
	}
	rc_time_set(rc);
}
