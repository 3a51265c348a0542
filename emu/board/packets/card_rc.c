// SPDX-License-Identifier: BSD-2-Clause
/*
 * card_rc.c - the reliable connection on a board: its channels, timers and memory, what a
 * missing page becomes, and which frames are its own.
 */
#include <errno.h>
#include <stdlib.h>

#include "board/packets/packets_internal.h"
#include "faultline/regs.h"
#include "nic/transport/rc_wire.h"

/* Threads mode; as for the engine. */
#define STEPS_AT_ONCE 16

struct rc_part {
	struct rc *rc;
	struct fw_transport transport;
	struct sim_actor channel[2], timer;
};

static struct rc_part *rc_part(const struct board *b)
{
	return card_of(b)->unit[CARD_RC];
}

/* ---- channels ---- */

static uint64_t rc_channel_step(struct board *b, unsigned int channel,
				uint64_t now_ns)
{
	int steps = b->timed ? 1 : STEPS_AT_ONCE;
	uint64_t ns;

	board_changed(b);
	do
		ns = rc_step(rc_part(b)->rc, channel, now_ns);
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
	board_changed(board);
	rc_timer(rc_part(board)->rc, now_ns);
	return SIM_IDLE;
}

static void card_rc_kick(void *ctx, unsigned int channel)
{
	sim_kick(&rc_part(ctx)->channel[channel]);
}

static void card_rc_alarm(void *ctx, uint64_t when_ns)
{
	sim_alarm(&rc_part(ctx)->timer, when_ns);
}

/* ---- a page is missing ---- */

static struct fl_fault_rec miss_record(const struct board *b,
				       const struct rc_miss *m)
{
	const struct card_pair *q = &card_of(b)->pair[m->qp];
	struct fl_fault_rec rec = {
		.side = m->side == RC_RESPONDER, .write = m->write, .qp = q->qpn,
		.index = m->work ? m->work->index : 0, .key = m->key, .va = m->va,
		.len = m->len, .left = m->left, .xfer = m->xfer, .slot = q->slot,
		.opcode = m->opcode, .psn = m->psn,
	};
	struct table_entry e;

	policy_record(&card_of(b)->policy, q->slot, m, &rec);
	rec.synthetic = table_find(card_of(b)->table, m->object, m->va >> 12, &e) &&
			(e.write || !m->write);
	return rec;
}

struct rc_judged card_miss(struct board *b, const struct rc_miss *m)
{
	const struct card_pair *q = &card_of(b)->pair[m->qp];
	struct rc_judged j = policy_judge(&card_of(b)->policy, q->slot, m, q->rnr_code);
	struct fl_fault_rec rec;
	uint64_t later_ns = 0;

	if (j.verdict == RC_FAIL)
		return j;
	rec = miss_record(b, m);
	if (b->timed && rec.synthetic && card_of(b)->major)
		later_ns = b->cfg.timing->v[T_MM_MAJOR];
	/* What is diverted is reported by the backup ring. */
	if (j.verdict == RC_DIVERT) {
		j.later_ns = later_ns;
		return j;
	}
	nic_fault_report(card_of(b)->faults, m->qp, &rec, m->cause, later_ns,
		     sim_now(b->cfg.sim));
	return j;
}

static struct rc_judged card_rc_miss(void *ctx, const struct rc_miss *m)
{
	return card_miss(ctx, m);
}

/* ---- for the firmware: the unit, and what the card has to know of its pairs ---- */

static uint8_t card_open(void *ctx, uint16_t qp, const struct fw_pair *p)
{
	struct board *b = ctx;
	struct fw_transport rc = rc_transport(rc_part(b)->rc);
	struct fw_pair pair = *p;

	pair.quirks = card_of(b)->policy.quirks[p->slot];
	card_of(b)->pair[qp] = (struct card_pair){
		.unit = CARD_RC, .qpn = p->qpn, .slot = p->slot, .rnr_code = p->rnr_code,
	};
	return rc.open(rc.ctx, qp, &pair);
}

static void card_close(void *ctx, uint16_t qp)
{
	struct board *b = ctx;
	struct fw_transport rc = rc_transport(rc_part(b)->rc);

	rc.close(rc.ctx, qp);
	nic_fault_close(card_of(b)->faults, qp);
}

static void card_post(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w)
{
	struct fw_transport rc = rc_transport(rc_part(ctx)->rc);

	rc.post(rc.ctx, qp, wr, w);
}

static void card_stop_key(void *ctx, uint32_t key)
{
	struct fw_transport rc = rc_transport(rc_part(ctx)->rc);

	rc.stop_key(rc.ctx, key);
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

/* ---- memory ---- */

static enum dma_status card_rc_begin(void *ctx, struct dma_burst *d)
{
	return card_burst_begin(ctx, d, CARD_RC);
}

/* ---- making it ---- */

static int card_rc_make(struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;
	const struct rc_env env = {
		.ctx = b, .fw = fw_unit(b->fw_mem), .burst_begin = card_rc_begin,
		.burst_end = bus_own_end, .burst_atomic = bus_own_atomic,
		.miss = card_rc_miss, .wire = b->port, .frame_get = fabric_frame_get,
		.frame_send = fabric_frame_send, .kick = card_rc_kick,
		.alarm = card_rc_alarm, .emit = board_emit,
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
	struct rc_part *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	card_of(b)->unit[CARD_RC] = p;
	sim_actor_init(b->domain, &p->channel[0], "rc send", card_rc_send, b);
	sim_actor_init(b->domain, &p->channel[1], "rc receive", card_rc_take, b);
	sim_actor_init(b->domain, &p->timer, "rc timer", card_rc_timer, b);
	p->transport = (struct fw_transport){
		.ctx = b, .open = card_open, .close = card_close,
		.post = card_post, .stop_key = card_stop_key,
	};
	card_of(b)->transport[FW_TRANSPORT_RC] = &p->transport;
	p->rc = rc_create(&cfg, &env);
	return p->rc ? 0 : -ENOMEM;
}

static void card_rc_reset(struct board *b)
{
	struct rc_part *p = rc_part(b);

	rc_reset(p->rc);
	sim_alarm(&p->timer, SIM_IDLE);
}

static void card_rc_destroy(struct board *b)
{
	rc_destroy(rc_part(b)->rc);
	free(rc_part(b));
}

/* ---- for the card ---- */

static void card_rc_receive(struct board *b, const struct wire_frame *f, uint64_t now_ns)
{
	rc_receive(rc_part(b)->rc, f, now_ns);
}

static void card_rc_room(struct board *b)
{
	rc_wire_room(rc_part(b)->rc);
}

static bool card_rc_idle(struct board *b)
{
	return rc_idle(rc_part(b)->rc);
}

static const char *card_rc_check(struct board *b)
{
	return rc_check(rc_part(b)->rc);
}

static void card_rc_resume(struct board *b, uint16_t qp, const struct fl_fault_rec *rec,
			   uint8_t code, uint64_t now_ns)
{
	rc_resume(rc_part(b)->rc, qp, rec->side ? RC_RESPONDER : RC_REQUESTER, rec->write, code,
		  rec->psn, now_ns);
}

const struct card_unit card_rc = {
	.name = "reliable connection", .feature = NIC_FW_FEATURES_RC, .transport = FW_TRANSPORT_RC,
	.make = card_rc_make, .destroy = card_rc_destroy, .reset = card_rc_reset,
	.knows = rc_opcode_known, .receive = card_rc_receive, .room = card_rc_room,
	.idle = card_rc_idle, .check = card_rc_check, .resume = card_rc_resume,
};

void board_rc_stats(struct board *b, struct rc_stats *st)
{
	sim_enter(b->domain);
	rc_stats(rc_part(b)->rc, st);
	sim_leave(b->domain);
}
