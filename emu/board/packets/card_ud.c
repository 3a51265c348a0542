// SPDX-License-Identifier: BSD-2-Clause
/*
 * card_ud.c - datagrams on a board: their channels, their memory, and the line that says that
 * the backup ring is not empty.
 */
#include <errno.h>
#include <stdlib.h>

#include "board/packets/packets_internal.h"
#include "faultline/regs.h"
#include "nic/transport/rc_wire.h"
#include "nic/transport/ud.h"

/* Threads mode; as for the engine. */
#define STEPS_AT_ONCE 16

struct ud_part {
	struct ud *ud;
	struct fw_transport transport;
	struct sim_actor channel[2], timer;
};

static struct ud_part *ud_part(const struct board *b)
{
	return card_of(b)->unit[CARD_UD];
}

/* ---- channels ---- */

static uint64_t ud_channel_step(struct board *b, unsigned int channel, uint64_t now_ns)
{
	int steps = b->timed ? 1 : STEPS_AT_ONCE;
	uint64_t ns;

	board_changed(b);
	do
		ns = ud_step(ud_part(b)->ud, channel, now_ns);
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
	board_changed(board);
	ud_timer(ud_part(board)->ud, now_ns);
	return SIM_IDLE;
}

static void card_ud_kick(void *ctx, unsigned int channel)
{
	sim_kick(&ud_part(ctx)->channel[channel]);
}

static void card_ud_alarm(void *ctx, uint64_t when_ns)
{
	sim_alarm(&ud_part(ctx)->timer, when_ns);
}

static void card_ud_line(void *ctx, bool level, uint64_t cause)
{
	struct board *b = ctx;

	card_of(b)->line_backup = level;
	card_line(b, cause);
}

/* ---- a page is missing ---- */

static struct rc_judged card_ud_miss(void *ctx, const struct rc_miss *m)
{
	return card_miss(ctx, m);
}

static bool card_ud_diverts(void *ctx, uint16_t qp)
{
	struct board *b = ctx;

	return policy_diverts(&card_of(b)->policy, card_of(b)->pair[qp].slot);
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
	struct fw_transport ud = ud_transport(ud_part(b)->ud);
	struct fw_pair pair = *p;

	pair.bits = card_of(b)->policy.bits[p->slot];
	card_of(b)->pair[qp] = (struct card_pair){
		.unit = CARD_UD, .qpn = p->qpn, .slot = p->slot,
	};
	return ud.open(ud.ctx, qp, &pair);
}

static void card_ud_close(void *ctx, uint16_t qp)
{
	struct board *b = ctx;
	struct fw_transport ud = ud_transport(ud_part(b)->ud);

	ud.close(ud.ctx, qp);
	nic_fault_close(card_of(b)->faults, qp);
}

static void card_ud_post(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w)
{
	struct fw_transport ud = ud_transport(ud_part(ctx)->ud);

	ud.post(ud.ctx, qp, wr, w);
}

static void card_ud_stop_key(void *ctx, uint32_t key)
{
	struct fw_transport ud = ud_transport(ud_part(ctx)->ud);

	ud.stop_key(ud.ctx, key);
}

static void card_ud_posted(void *ctx, uint16_t qp)
{
	struct fw_transport ud = ud_transport(ud_part(ctx)->ud);

	ud.posted(ud.ctx, qp);
}

/* ---- memory ---- */

static enum dma_status card_ud_begin(void *ctx, struct dma_burst *d)
{
	return card_burst_begin(ctx, d, CARD_UD);
}

/* ---- making it ---- */

static int card_ud_make(struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;
	const struct ud_env env = {
		.ctx = b, .fw = fw_unit(b->fw_mem), .burst_begin = card_ud_begin,
		.burst_end = bus_own_end, .miss = card_ud_miss,
		.diverts = card_ud_diverts, .mem_read = card_ud_mem_read,
		.mem_write = card_ud_mem_write, .mem_publish = card_ud_mem_publish,
		.line = card_ud_line, .alarm = card_ud_alarm, .wire = b->port,
		.frame_get = fabric_frame_get, .frame_send = fabric_frame_send,
		.kick = card_ud_kick, .emit = board_emit,
	};
	const struct ud_config cfg = {
		.node = b->cfg.id, .icrc = true,
		.rx_frames = (uint32_t)t[T_RC_QUEUE],
		.packet_ns = b->timed ? t[T_RC_PACKET] : 0,
		.store_ns = b->timed ? t[T_ENG_BURST] : 0,
		.trigger_ns = b->timed ? t[T_NIC_TRIGGER] : 0,
	};
	struct ud_part *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	card_of(b)->unit[CARD_UD] = p;
	sim_actor_init(b->domain, &p->channel[0], "ud send", card_ud_send, b);
	sim_actor_init(b->domain, &p->channel[1], "ud receive", card_ud_take, b);
	sim_actor_init(b->domain, &p->timer, "ud timer", card_ud_timer, b);
	p->transport = (struct fw_transport){
		.ctx = b, .open = card_ud_open, .close = card_ud_close,
		.post = card_ud_post, .stop_key = card_ud_stop_key,
		.posted = card_ud_posted,
	};
	card_of(b)->transport[FW_TRANSPORT_UD] = &p->transport;
	p->ud = ud_create(&cfg, &env);
	return p->ud ? 0 : -ENOMEM;
}

static void card_ud_reset(struct board *b)
{
	struct ud_part *p = ud_part(b);

	ud_reset(p->ud);
	sim_alarm(&p->timer, SIM_IDLE);
}

static void card_ud_destroy(struct board *b)
{
	ud_destroy(ud_part(b)->ud);
	free(ud_part(b));
}

/* ---- for the card ---- */

static void card_ud_receive(struct board *b, const struct wire_frame *f, uint64_t now_ns)
{
	ud_receive(ud_part(b)->ud, f, now_ns);
}

static void card_ud_room(struct board *b)
{
	ud_wire_room(ud_part(b)->ud);
}

static bool card_ud_idle(struct board *b)
{
	return ud_idle(ud_part(b)->ud);
}

static const char *card_ud_check(struct board *b)
{
	return ud_check(ud_part(b)->ud);
}

static void card_ud_resume(struct board *b, uint16_t qp, const struct fl_fault_rec *rec,
			   uint8_t code, uint64_t now_ns)
{
	/* Nobody waits for a page of a receiver's. */
	if (!rec->side)
		ud_resume(ud_part(b)->ud, qp, code, now_ns);
}

static int card_ud_read(struct board *b, uint32_t reg, uint64_t *v)
{
	const struct ud *ud = ud_part(b)->ud;

	switch (reg) {
	case NIC_XP_BAK_BASE:
		*v = ud_backup_base(ud);
		return 0;
	case NIC_XP_BAK_SLOTS:
		*v = ud_backup_slots(ud);
		return 0;
	case NIC_XP_BAK_CONS:
		*v = ud_backup_cons(ud);
		return 0;
	case NIC_XP_BAK_GIVEN:
		*v = ud_backup_given(ud);
		return 0;
	case NIC_XP_BAK_BITS:
		*v = ud_backup_bits(ud);
		return 0;
	}
	return -EINVAL;
}

static int card_ud_write(struct board *b, uint32_t reg, uint64_t v, uint64_t now_ns)
{
	struct ud *ud = ud_part(b)->ud;

	switch (reg) {
	case NIC_XP_BAK_BASE:
		return ud_backup_base_set(ud, v);
	case NIC_XP_BAK_SLOTS:
		return ud_backup_slots_set(ud, (uint32_t)v, now_ns);
	case NIC_XP_BAK_CONS:
		return ud_backup_cons_set(ud, (uint32_t)v, now_ns);
	case NIC_XP_BAK_GIVEN:
		return ud_backup_given_set(ud, (uint32_t)v, now_ns);
	case NIC_XP_BAK_BITS:
		return ud_backup_bits_set(ud, (uint32_t)v);
	case NIC_XP_RESOLVED:
		return ud_backup_resolved(ud, (uint32_t)v, now_ns);
	}
	return -EINVAL;
}

const struct card_unit card_ud = {
	.name = "datagrams", .feature = NIC_FW_FEATURES_UD, .transport = FW_TRANSPORT_UD,
	.make = card_ud_make, .destroy = card_ud_destroy, .reset = card_ud_reset,
	.knows = ud_opcode_known, .receive = card_ud_receive, .room = card_ud_room,
	.idle = card_ud_idle, .check = card_ud_check, .resume = card_ud_resume,
	.reg_read = card_ud_read, .reg_write = card_ud_write,
};

void board_ud_stats(struct board *b, struct ud_stats *st)
{
	sim_enter(b->domain);
	ud_stats(ud_part(b)->ud, st);
	sim_leave(b->domain);
}
