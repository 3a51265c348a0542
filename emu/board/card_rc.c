// SPDX-License-Identifier: BSD-2-Clause
/*
 * card_rc.c - the reliable connection on a board: its channels, timers and memory, what a
 * missing page becomes, and which frames are its own.
 */
#include <errno.h>

#include "board/board_internal.h"
#include "faultline/regs.h"

/* Threads mode; as for the engine. */
#define STEPS_AT_ONCE 16

/* ---- channels ---- */

static uint64_t rc_channel_step(struct board *b, unsigned int channel,
				uint64_t now_ns)
{
	int steps = b->timed ? 1 : STEPS_AT_ONCE;
	uint64_t ns;

	do
		ns = rc_step(b->card.rc, channel, now_ns);
	while (--steps && ns != SIM_IDLE);
	return ns;
}

static uint64_t card_rc_send(void *board, uint64_t now_ns)
{
	return rc_channel_step(board, 0, now_ns);
}

static uint64_t card_rc_take(void *board, uint64_t now_ns)
{
	return rc_channel_step(board, 1, now_ns);
}

static uint64_t card_rc_timer(void *board, uint64_t now_ns)
{
	rc_timer(((struct board *)board)->card.rc, now_ns);
	return SIM_IDLE;
}

static void card_rc_kick(void *ctx, unsigned int channel)
{
	sim_kick(&((struct board *)ctx)->card.rc_channel[channel]);
}

static void card_rc_alarm(void *ctx, uint64_t when_ns)
{
	sim_alarm(&((struct board *)ctx)->card.rc_timer, when_ns);
}

/* ---- a page is missing ---- */

static struct fl_fault_rec miss_record(const struct board *b,
				       const struct rc_miss *m)
{
	const struct card_pair *q = &b->card.pair[m->qp];
	struct fl_fault_rec rec = {
		.side = m->side == RC_RESPONDER, .write = m->write, .qp = q->qpn,
		.index = m->work ? m->work->index : 0, .key = m->key, .va = m->va,
		.len = m->len, .left = m->left, .xfer = m->xfer, .slot = q->slot,
		.opcode = m->opcode, .psn = m->psn,
	};
	struct table_entry e;

	policy_record(&b->card.policy, q->slot, m, &rec);
	rec.synthetic = table_find(b->card.table, m->object, m->va >> 12, &e) &&
			(e.write || !m->write);
	return rec;
}

struct rc_judged card_miss(struct board *b, const struct rc_miss *m)
{
	const struct card_pair *q = &b->card.pair[m->qp];
	struct rc_judged j = policy_judge(&b->card.policy, q->slot, m, q->rnr_code);
	struct fl_fault_rec rec;
	uint64_t later_ns = 0;

	if (j.verdict == RC_FAIL)
		return j;
	rec = miss_record(b, m);
	if (b->timed && rec.synthetic && b->card.major)
		later_ns = b->cfg.timing->v[T_MM_MAJOR];
	/* What is diverted is reported by the backup ring. */
	if (j.verdict == RC_DIVERT) {
		j.later_ns = later_ns;
		return j;
	}
	nic_fault_report(b->card.faults, m->qp, &rec, m->cause, later_ns,
		     sim_now(b->cfg.sim));
	return j;
}

static struct rc_judged card_rc_miss(void *ctx, const struct rc_miss *m)
{
	return card_miss(ctx, m);
}

void card_resume(void *board, uint16_t qp, uint8_t side, bool write, uint8_t code,
		 uint64_t now_ns)
{
	struct board *b = board;

	const struct card_pair *q = &b->card.pair[qp];

	if (!q->ud && !q->nv)
		rc_resume(b->card.rc, qp, side ? RC_RESPONDER : RC_REQUESTER, write, code,
			  now_ns);
	else if (side)
		return;		/* nobody waits for a page of a receiver's */
	else if (q->ud)
		ud_resume(b->card.ud, qp, code, now_ns);
	else
		nv_resume(b->card.nv, qp, code, now_ns);
}

/* ---- for the firmware: the unit, and what the card has to know of its pairs ---- */

static uint8_t card_open(void *ctx, uint16_t qp, const struct fw_pair *p)
{
	struct board *b = ctx;
	struct fw_transport rc = rc_transport(b->card.rc);
	struct fw_pair pair = *p;

	pair.quirks = b->card.policy.quirks[p->slot];
	b->card.pair[qp] = (struct card_pair){
		.qpn = p->qpn, .slot = p->slot, .rnr_code = p->rnr_code,
	};
	return rc.open(rc.ctx, qp, &pair);
}

static void card_close(void *ctx, uint16_t qp)
{
	struct board *b = ctx;
	struct fw_transport rc = rc_transport(b->card.rc);

	rc.close(rc.ctx, qp);
	nic_fault_close(b->card.faults, qp);
}

static void card_post(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w)
{
	struct fw_transport rc = rc_transport(((struct board *)ctx)->card.rc);

	rc.post(rc.ctx, qp, wr, w);
}

static void card_stop_key(void *ctx, uint32_t key)
{
	struct fw_transport rc = rc_transport(((struct board *)ctx)->card.rc);

	rc.stop_key(rc.ctx, key);
}

void card_slot_row(void *board, uint32_t slot, uint32_t row, uint64_t quirks,
		   uint64_t bits)
{
	policy_set(&((struct board *)board)->card.policy, slot, row, (uint8_t)quirks,
		   (uint16_t)bits);
}

/* What fl_connect() gives a pair. */
struct fw_pair card_connect(const struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;

	return (struct fw_pair){
		.mtu = (uint16_t)t[T_RC_MTU], .rnr_code = (uint8_t)t[T_RC_RNR_CODE],
		.retries = (uint8_t)t[T_RC_RETRIES],
		.rnr_tries = (uint8_t)t[T_RC_RNR_TRIES],
		.timeout = (uint8_t)t[T_RC_TIMEOUT],
		.rd_atomic = (uint8_t)t[T_RC_DEPTH],
		.dest_rd_atomic = (uint8_t)t[T_RC_DEPTH],
	};
}

/* ---- making it ---- */

int card_rc_make(struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;
	const struct rc_env env = {
		.ctx = b, .fw = fw_unit(b->fw_mem), .burst_begin = bus_packet_begin,
		.burst_end = bus_packet_end, .burst_atomic = bus_packet_atomic,
		.miss = card_rc_miss, .wire = b->port, .frame_get = fabric_frame_get,
		.frame_send = fabric_frame_send, .kick = card_rc_kick,
		.alarm = card_rc_alarm, .emit = card_emit,
	};
	const struct rc_config cfg = {
		.node = b->cfg.id, .icrc = true,
		.window = (uint32_t)t[T_RC_WINDOW],
		.rx_frames = (uint32_t)t[T_RC_QUEUE],
		.packet_ns = b->timed ? t[T_RC_PACKET] : 0,
		/* On the wall a peer may have no CPU just then, and that is no loss. */
		.timeout_floor_ns = b->timed ? t[T_RC_TIMEOUT_FLOOR] :
					       4 * t[T_WALL_TIMEOUT],
		.rnr_floor_ns = t[T_RC_RNR_FLOOR], .rnr_tick_ns = t[T_RC_RNR_TICK],
	};
	struct card *c = &b->card;

	sim_actor_init(b->domain, &c->rc_channel[0], "rc send", card_rc_send, b);
	sim_actor_init(b->domain, &c->rc_channel[1], "rc receive", card_rc_take, b);
	sim_actor_init(b->domain, &c->rc_timer, "rc timer", card_rc_timer, b);
	c->transport = (struct fw_transport){
		.ctx = b, .open = card_open, .close = card_close,
		.post = card_post, .stop_key = card_stop_key,
	};
	c->rc = rc_create(&cfg, &env);
	return c->rc ? 0 : -ENOMEM;
}

void card_rc_reset(struct board *b)
{
	struct card *c = &b->card;

	rc_reset(c->rc);
	sim_alarm(&c->rc_timer, SIM_IDLE);
}

void board_rc_stats(struct board *b, struct rc_stats *st)
{
	sim_enter(b->domain);
	rc_stats(b->card.rc, st);
	sim_leave(b->domain);
}
