// SPDX-License-Identifier: BSD-2-Clause
/*
 * card_ud.c - datagrams on a board: their channels, their memory, and the line that says that
 * the backup ring is not empty.
 */
#include <errno.h>

#include "board/board_internal.h"
#include "faultline/regs.h"

/* Threads mode; as for the engine. */
#define STEPS_AT_ONCE 16

/* ---- channels ---- */

static uint64_t ud_channel_step(struct board *b, unsigned int channel, uint64_t now_ns)
{
	int steps = b->timed ? 1 : STEPS_AT_ONCE;
	uint64_t ns;

	do
		ns = ud_step(b->card.ud, channel, now_ns);
	while (--steps && ns != SIM_IDLE);
	return ns;
}

static uint64_t card_ud_send(void *board, uint64_t now_ns)
{
	return ud_channel_step(board, 0, now_ns);
}

static uint64_t card_ud_take(void *board, uint64_t now_ns)
{
	return ud_channel_step(board, 1, now_ns);
}

static uint64_t card_ud_timer(void *board, uint64_t now_ns)
{
	ud_timer(((struct board *)board)->card.ud, now_ns);
	return SIM_IDLE;
}

static void card_ud_kick(void *ctx, unsigned int channel)
{
	sim_kick(&((struct board *)ctx)->card.ud_channel[channel]);
}

static void card_ud_alarm(void *ctx, uint64_t when_ns)
{
	sim_alarm(&((struct board *)ctx)->card.ud_timer, when_ns);
}

static void card_ud_line(void *ctx, bool level)
{
	struct board *b = ctx;

	b->card.line_backup = level;
	card_line(b);
}

/* ---- a page is missing ---- */

static struct rc_judged card_ud_miss(void *ctx, const struct rc_miss *m)
{
	return card_miss(ctx, m);
}

static bool card_ud_diverts(void *ctx, uint16_t qp)
{
	struct board *b = ctx;

	return policy_diverts(&b->card.policy, b->card.pair[qp].slot);
}

/* ---- where the backup ring lies ---- */

static int card_ud_mem_read(void *ctx, uint64_t pa, void *buf, uint32_t len)
{
	return dram_read(((struct board *)ctx)->dram, pa, buf, len) ? -EIO : 0;
}

static int card_ud_mem_write(void *ctx, uint64_t pa, const void *buf, uint32_t len)
{
	return dram_write(((struct board *)ctx)->dram, pa, buf, len) ? -EIO : 0;
}

static int card_ud_mem_publish(void *ctx, uint64_t pa, uint32_t value)
{
	uint32_t *p = pa % 4 ? NULL : dram_at(((struct board *)ctx)->dram, pa, 4);

	if (!p)
		return -EIO;
	/* Pairs with the driver's barrier behind its read of the phase. */
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
	return 0;
}

/* ---- for the firmware ---- */

static uint8_t card_ud_open(void *ctx, uint16_t qp, const struct fw_pair *p)
{
	struct board *b = ctx;
	struct fw_transport ud = ud_transport(b->card.ud);
	struct fw_pair pair = *p;

	pair.bits = b->card.policy.bits[p->slot];
	b->card.pair[qp] = (struct card_pair){
		.qpn = p->qpn, .slot = p->slot, .ud = true,
	};
	return ud.open(ud.ctx, qp, &pair);
}

static void card_ud_close(void *ctx, uint16_t qp)
{
	struct board *b = ctx;
	struct fw_transport ud = ud_transport(b->card.ud);

	ud.close(ud.ctx, qp);
	nic_fault_close(b->card.faults, qp);
}

static void card_ud_post(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w)
{
	struct fw_transport ud = ud_transport(((struct board *)ctx)->card.ud);

	ud.post(ud.ctx, qp, wr, w);
}

static void card_ud_stop_key(void *ctx, uint32_t key)
{
	struct fw_transport ud = ud_transport(((struct board *)ctx)->card.ud);

	ud.stop_key(ud.ctx, key);
}

static void card_ud_posted(void *ctx, uint16_t qp)
{
	struct fw_transport ud = ud_transport(((struct board *)ctx)->card.ud);

	ud.posted(ud.ctx, qp);
}

/* ---- making it ---- */

int card_ud_make(struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;
	const struct ud_env env = {
		.ctx = b, .fw = fw_unit(b->fw_mem), .burst_begin = bus_packet_begin,
		.burst_end = bus_packet_end, .miss = card_ud_miss,
		.diverts = card_ud_diverts, .mem_read = card_ud_mem_read,
		.mem_write = card_ud_mem_write, .mem_publish = card_ud_mem_publish,
		.line = card_ud_line, .alarm = card_ud_alarm, .wire = b->port,
		.frame_get = fabric_frame_get, .frame_send = fabric_frame_send,
		.kick = card_ud_kick, .emit = card_emit,
	};
	const struct ud_config cfg = {
		.node = b->cfg.id, .icrc = true,
		.rx_frames = (uint32_t)t[T_RC_QUEUE],
		.packet_ns = b->timed ? t[T_RC_PACKET] : 0,
		.store_ns = b->timed ? t[T_ENG_BURST] : 0,
		.trigger_ns = b->timed ? t[T_NIC_TRIGGER] : 0,
	};
	struct card *c = &b->card;

	sim_actor_init(b->domain, &c->ud_channel[0], "ud send", card_ud_send, b);
	sim_actor_init(b->domain, &c->ud_channel[1], "ud receive", card_ud_take, b);
	sim_actor_init(b->domain, &c->ud_timer, "ud timer", card_ud_timer, b);
	c->ud_transport = (struct fw_transport){
		.ctx = b, .open = card_ud_open, .close = card_ud_close,
		.post = card_ud_post, .stop_key = card_ud_stop_key,
		.posted = card_ud_posted,
	};
	c->ud = ud_create(&cfg, &env);
	return c->ud ? 0 : -ENOMEM;
}

void card_ud_reset(struct board *b)
{
	struct card *c = &b->card;

	ud_reset(c->ud);
	sim_alarm(&c->ud_timer, SIM_IDLE);
}

void board_ud_stats(struct board *b, struct ud_stats *st)
{
	sim_enter(b->domain);
	ud_stats(b->card.ud, st);
	sim_leave(b->domain);
}
