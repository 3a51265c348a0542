// SPDX-License-Identifier: BSD-2-Clause
/*
 * card_nv.c - NetVM's transport on a board: its channels, timers and memory, the system
 * buffer, and what a missing page becomes.
 */
#include <errno.h>
#include <stdlib.h>

#include "board/packets/packets_internal.h"
#include "faultline/regs.h"
#include "nic/transport/nv.h"

/* Threads mode; as for the engine. */
#define STEPS_AT_ONCE 16

struct nv_part {
	struct nv *nv;
	struct fw_transport transport;
	struct sim_actor channel[2], timer;
	uint64_t base;			/* XP.DIV_BASE */
};

static struct nv_part *nv_part(const struct board *b)
{
	return card_of(b)->unit[CARD_NV];
}

/* ---- channels ---- */

static uint64_t nv_channel_step(struct board *b, unsigned int channel, uint64_t now_ns)
{
	int steps = b->timed ? 1 : STEPS_AT_ONCE;
	uint64_t ns;

	board_changed(b);
	do
		ns = nv_step(nv_part(b)->nv, channel, now_ns);
	while (--steps && ns != SIM_IDLE);
	return ns;
}

static uint64_t card_nv_send(void *board, uint64_t now_ns)
{
	return nv_channel_step(board, 0, now_ns);
}

static uint64_t card_nv_take(void *board, uint64_t now_ns)
{
	return nv_channel_step(board, 1, now_ns);
}

static uint64_t card_nv_timer(void *board, uint64_t now_ns)
{
	board_changed(board);
	nv_timer(nv_part(board)->nv, now_ns);
	return SIM_IDLE;
}

static void card_nv_kick(void *ctx, unsigned int channel)
{
	sim_kick(&nv_part(ctx)->channel[channel]);
}

static void card_nv_alarm(void *ctx, uint64_t when_ns)
{
	sim_alarm(&nv_part(ctx)->timer, when_ns);
}

/* ---- memory ---- */

static enum dma_status card_nv_begin(void *ctx, struct dma_burst *d)
{
	struct board *b = ctx;
	enum dma_status s;

	s = card_burst_begin(b, d, CARD_NV);
	if (b->timed)
		d->delay_ns += b->cfg.timing->v[T_NV_LOCK];
	return s;
}

static bool card_slot_write(void *ctx, uint32_t slot, const void *buf, uint32_t len)
{
	struct board *b = ctx;

	return dram_write(b->dram, nv_part(b)->base + (uint64_t)slot * NV_SLOT_BYTES, buf,
			  len) == DRAM_OK;
}

static int div_base_set(struct board *b, uint64_t base)
{
	/* regs.def, DIV_BASE */
	if (base % NV_SLOT_BYTES || nv_slots(nv_part(b)->nv))
		return -EINVAL;
	nv_part(b)->base = base;
	return 0;
}

static int div_slots_set(struct board *b, uint32_t slots)
{
	int err = nv_slots_set(nv_part(b)->nv, slots);

	if (!err)
		nic_fault_slots_gone(card_of(b)->faults);
	return err;
}

static int div_copied(struct board *b, uint32_t value, uint64_t now_ns)
{
	uint32_t slot = value & NIC_XP_COPIED_SLOT_MASK;
	uint8_t code = (value & NIC_XP_COPIED_CODE_MASK) >> NIC_XP_COPIED_CODE_SHIFT;

	if (value & ~(NIC_XP_COPIED_SLOT_MASK | NIC_XP_COPIED_CODE_MASK) ||
	    slot >= nv_slots(nv_part(b)->nv))
		return -EINVAL;
	/* Before the slot can be filled again. */
	nic_fault_copied(card_of(b)->faults, slot, now_ns);
	return nv_copied(nv_part(b)->nv, slot, code, now_ns);
}

/* ---- a page is missing ---- */

static struct fl_fault_rec nv_record(const struct board *b, const struct nv_miss *m)
{
	const struct card_pair *q = &card_of(b)->pair[m->qp];
	bool write = m->side == NV_RECEIVER;
	struct table_entry e;

	return (struct fl_fault_rec){
		.kind = write ? FL_FAULT_RDMA : FL_FAULT_WQE, .side = write,
		.write = write, .last = 1, .qp = q->qpn,
		.index = m->work ? m->work->index : 0, .key = m->key, .va = m->va,
		.len = m->len, .left = m->left, .xfer = m->xfer, .slot = q->slot,
		.opcode = FL_OP_WRITE, .psn = m->sequence,
		.synthetic = table_find(card_of(b)->table, m->object, m->va >> 12, &e) &&
			     (e.write || !write),
	};
}

static enum nv_verdict card_nv_miss(void *ctx, const struct nv_miss *m)
{
	struct board *b = ctx;
	enum nv_verdict v = policy_nv(&card_of(b)->policy, card_of(b)->pair[m->qp].slot, m->side);
	struct fl_fault_rec rec = nv_record(b, m);
	uint64_t later_ns = 0;

	/* What is redirected is reported with its slot. */
	if (v == NV_FAIL || v == NV_REDIRECT)
		return v;
	if (b->timed && rec.synthetic && card_of(b)->major)
		later_ns = b->cfg.timing->v[T_MM_MAJOR];
	nic_fault_report(card_of(b)->faults, m->qp, &rec, m->cause, later_ns,
			 sim_now(b->cfg.sim));
	return v;
}

static void card_redirected(void *ctx, const struct nv_miss *m, uint32_t slot)
{
	struct board *b = ctx;
	struct fl_fault_rec rec = nv_record(b, m);

	rec.kind = FL_FAULT_DIVERT;
	nic_fault_divert(card_of(b)->faults, slot, &rec, m->cause, sim_now(b->cfg.sim));
}

/* ---- for the firmware ---- */

static uint8_t card_nv_open(void *ctx, uint16_t qp, const struct fw_pair *p)
{
	struct board *b = ctx;
	struct fw_transport nv = nv_transport(nv_part(b)->nv);
	struct fw_pair pair = *p;

	/* A fragment is a page at most, whatever the path would take. */
	pair.mtu = (uint16_t)b->cfg.timing->v[T_NV_MTU];
	card_of(b)->pair[qp] = (struct card_pair){
		.unit = CARD_NV, .qpn = p->qpn, .slot = p->slot,
	};
	return nv.open(nv.ctx, qp, &pair);
}

static void card_nv_close(void *ctx, uint16_t qp)
{
	struct board *b = ctx;
	struct fw_transport nv = nv_transport(nv_part(b)->nv);

	nv.close(nv.ctx, qp);
	nic_fault_close(card_of(b)->faults, qp);
}

static void card_nv_post(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w)
{
	struct fw_transport nv = nv_transport(nv_part(ctx)->nv);

	nv.post(nv.ctx, qp, wr, w);
}

static void card_nv_stop_key(void *ctx, uint32_t key)
{
	struct fw_transport nv = nv_transport(nv_part(ctx)->nv);

	nv.stop_key(nv.ctx, key);
}

/* ---- making it ---- */

static int card_nv_make(struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;
	const struct nv_env env = {
		.ctx = b, .fw = fw_unit(b->fw_mem), .burst_begin = card_nv_begin,
		.burst_end = bus_own_end, .miss = card_nv_miss,
		.slot_write = card_slot_write, .redirected = card_redirected,
		.wire = b->port, .frame_get = fabric_frame_get,
		.frame_send = fabric_frame_send, .kick = card_nv_kick,
		.alarm = card_nv_alarm, .emit = board_emit,
	};
	const struct nv_config cfg = {
		.node = b->cfg.id, .icrc = true,
		.window = (uint32_t)t[T_NV_WINDOW], .credits = (uint32_t)t[T_NV_CREDITS],
		.slots = (uint32_t)t[T_NV_SLOTS], .greedy = t[T_NV_GREEDY],
		/* What senders with credit have on the way finds room, and so do answers. */
		.rx_frames = 2 * (uint32_t)t[T_NV_SLOTS] + 64,
		.packet_ns = b->timed ? t[T_NV_PACKET] : 0,
		.count_ns = b->timed ? t[T_NV_COUNT] : 0,
		/* On the wall a peer may have no CPU just then, and that is no loss. */
		.timeout_floor_ns = b->timed ? t[T_RC_TIMEOUT_FLOOR] :
					       4 * t[T_WALL_TIMEOUT],
		.probe_ns = b->timed ? t[T_NV_PROBE] : t[T_WALL_TIMEOUT],
	};
	struct nv_part *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	card_of(b)->unit[CARD_NV] = p;
	sim_actor_init(b->domain, &p->channel[0], "nv send", card_nv_send, b);
	sim_actor_init(b->domain, &p->channel[1], "nv receive", card_nv_take, b);
	sim_actor_init(b->domain, &p->timer, "nv timer", card_nv_timer, b);
	p->transport = (struct fw_transport){
		.ctx = b, .open = card_nv_open, .close = card_nv_close,
		.post = card_nv_post, .stop_key = card_nv_stop_key,
	};
	card_of(b)->transport[FW_TRANSPORT_NV] = &p->transport;
	p->nv = nv_create(&cfg, &env);
	return p->nv ? 0 : -ENOMEM;
}

static void card_nv_reset(struct board *b)
{
	nv_reset(nv_part(b)->nv);
	sim_alarm(&nv_part(b)->timer, SIM_IDLE);
	nv_part(b)->base = 0;
}

static void card_nv_destroy(struct board *b)
{
	nv_destroy(nv_part(b)->nv);
	free(nv_part(b));
}

/* ---- for the card ---- */

static void card_nv_receive(struct board *b, const struct wire_frame *f, uint64_t now_ns)
{
	nv_receive(nv_part(b)->nv, f, now_ns);
}

static void card_nv_room(struct board *b)
{
	nv_wire_room(nv_part(b)->nv);
}

static bool card_nv_idle(struct board *b)
{
	return nv_idle(nv_part(b)->nv);
}

static const char *card_nv_check(struct board *b)
{
	return nv_check(nv_part(b)->nv);
}

static void card_nv_resume(struct board *b, uint16_t qp, const struct fl_fault_rec *rec,
			   uint8_t code, uint64_t now_ns)
{
	/* Nobody waits for a page of a receiver's. */
	if (!rec->side)
		nv_resume(nv_part(b)->nv, qp, code, now_ns);
}

static int card_nv_read(struct board *b, uint32_t reg, uint64_t *v)
{
	switch (reg) {
	case NIC_XP_DIV_BASE:
		*v = nv_part(b)->base;
		return 0;
	case NIC_XP_DIV_SLOTS:
		*v = nv_slots(nv_part(b)->nv);
		return 0;
	}
	return -EINVAL;
}

static int card_nv_write(struct board *b, uint32_t reg, uint64_t v, uint64_t now_ns)
{
	switch (reg) {
	case NIC_XP_DIV_BASE:
		return div_base_set(b, v);
	case NIC_XP_DIV_SLOTS:
		return div_slots_set(b, (uint32_t)v);
	case NIC_XP_COPIED:
		return div_copied(b, (uint32_t)v, now_ns);
	}
	return -EINVAL;
}

const struct card_unit card_nv = {
	.name = "NetVM's transport", .feature = NIC_FW_FEATURES_NV, .transport = FW_TRANSPORT_NV,
	.make = card_nv_make, .destroy = card_nv_destroy, .reset = card_nv_reset,
	.knows = nv_opcode_known, .receive = card_nv_receive, .room = card_nv_room,
	.idle = card_nv_idle, .check = card_nv_check, .resume = card_nv_resume,
	.reg_read = card_nv_read, .reg_write = card_nv_write,
};

void board_nv_stats(struct board *b, struct nv_stats *st)
{
	sim_enter(b->domain);
	nv_stats(nv_part(b)->nv, st);
	sim_leave(b->domain);
}
