// SPDX-License-Identifier: BSD-2-Clause
/*
 * packets.c - what is beside the engine on the card: packet units, their own table of
 * translations, and reports of what they miss there.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "board/packets/packets_internal.h"
#include "faultline/regs.h"

static const struct card_unit *const card_units[CARD_UNITS] = {
	[CARD_RC] = &card_rc, [CARD_NV] = &card_nv, [CARD_UD] = &card_ud,
};

/* ---- fault records ---- */

static int card_mem_write(void *ctx, uint64_t pa, const void *buf, uint32_t len)
{
	return dram_write(((struct board *)ctx)->dram, pa, buf, len) ? -EIO : 0;
}

static int card_mem_publish(void *ctx, uint64_t pa, uint32_t value)
{
	uint32_t *p = pa % 4 ? NULL : dram_at(((struct board *)ctx)->dram, pa, 4);

	if (!p)
		return -EIO;
	/* Pairs with the driver's barrier behind its read of the phase. */
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
	return 0;
}

void card_line(struct board *b, uint64_t cause)
{
	if (cause)
		trace_last_is(cause);
	fw_fault_line(b->fw, card_of(b)->line_records || card_of(b)->line_backup);
}

static void card_fault_line(void *ctx, bool level, uint64_t cause)
{
	struct board *b = ctx;

	card_of(b)->line_records = level;
	card_line(b, cause);
}

static void card_fault_alarm(void *ctx, uint64_t when_ns)
{
	sim_alarm(&card_of(ctx)->fault_actor, when_ns);
}

static uint64_t card_fault_step(void *board, uint64_t now_ns)
{
	nic_fault_step(card_of(board)->faults, now_ns);
	return SIM_IDLE;
}

static void card_resume(void *board, uint16_t qp, const struct fl_fault_rec *rec, uint8_t code,
			uint64_t now_ns)
{
	struct board *b = board;
	const struct card_pair *q = &card_of(b)->pair[qp];

	/* The end of a queue pair ends its reports, before another one has its place. */
	assert(rec->qp == q->qpn);
	card_units[q->unit]->resume(b, qp, rec, code, now_ns);
}

static int make_faults(struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;
	const struct nic_fault_env env = {
		.ctx = b, .mem_write = card_mem_write, .mem_publish = card_mem_publish,
		.line = card_fault_line, .alarm = card_fault_alarm,
		.resume = card_resume, .emit = board_emit,
	};
	struct nic_fault_config cfg = { 0 };

	if (b->timed)
		cfg = (struct nic_fault_config){
			.trigger_ns = t[T_NIC_TRIGGER],
			.trigger_page_ns = t[T_NIC_TRIGGER_PAGE],
			.resume_ns = t[T_NIC_RESUME], .spread_ns = t[T_NIC_SPREAD],
		};
	card_of(b)->faults = nic_fault_create(&cfg, &env);
	return card_of(b)->faults ? 0 : -ENOMEM;
}

/* ---- all of it ---- */

static void make_takes(struct card *c)
{
	unsigned int i, opcode;

	for (i = 0; i < CARD_UNITS; i++)
		for (opcode = 0; opcode < 256; opcode++)
			if (card_units[i]->knows((uint8_t)opcode))
				c->takes[opcode] = card_units[i];
}

static int card_make(struct board *b)
{
	struct card *c = calloc(1, sizeof(*c));
	unsigned int i;
	char stream[16];
	int err;

	if (!c)
		return -ENOMEM;
	b->annex = c;
	snprintf(stream, sizeof(stream), "faults %u", b->cfg.id);
	rng_init(&c->rng, sim_seed(b->cfg.sim), stream);
	sim_actor_init(b->domain, &c->table_actor, "card's table", xp_table_step, b);
	sim_actor_init(b->domain, &c->fault_actor, "fault records", card_fault_step, b);
	policy_reset(&c->policy);
	make_takes(c);
	c->table = table_create();
	if (!c->table)
		return -ENOMEM;
	err = make_faults(b);
	for (i = 0; i < CARD_UNITS && !err; i++)
		err = card_units[i]->make(b);
	return err;
}

static void card_destroy(struct board *b)
{
	struct card *c = card_of(b);
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < CARD_UNITS; i++)
		if (c->unit[i])
			card_units[i]->destroy(b);
	nic_fault_destroy(c->faults);
	table_destroy(c->table);
	free(c);
}

static void card_reset(struct board *b)
{
	struct card *c = card_of(b);
	unsigned int i;

	for (i = 0; i < CARD_UNITS; i++)
		card_units[i]->reset(b);
	nic_fault_reset(c->faults);
	sim_alarm(&c->fault_actor, SIM_IDLE);
	table_clear(c->table);
	policy_reset(&c->policy);
	c->set = c->order = (struct card_order){ 0 };
	c->phase = CARD_IDLE;
	c->code = 0;
}

static void card_slot_row(void *board, uint32_t slot, uint32_t row, uint64_t quirks,
			  uint64_t bits)
{
	policy_set(&card_of(board)->policy, slot, row, (uint8_t)quirks, (uint16_t)bits);
}

static void card_offer(struct board *b, struct fw_config *cfg, struct fw_env *env)
{
	unsigned int i;

	cfg->features = NIC_FW_FEATURES_TABLE;
	cfg->connect = card_connect(b);
	env->slot_row = card_slot_row;
	for (i = 0; i < CARD_UNITS; i++) {
		cfg->features |= card_units[i]->feature;
		env->transport[card_units[i]->transport] =
			card_of(b)->transport[card_units[i]->transport];
	}
}

int card_unit_read(struct board *b, uint32_t reg, uint64_t *v)
{
	int err = -EINVAL;
	unsigned int i;

	for (i = 0; i < CARD_UNITS && err; i++)
		if (card_units[i]->reg_read)
			err = card_units[i]->reg_read(b, reg, v);
	return err;
}

int card_unit_write(struct board *b, uint32_t reg, uint64_t v, uint64_t now_ns)
{
	int err = -EINVAL;
	unsigned int i;

	for (i = 0; i < CARD_UNITS && err; i++)
		if (card_units[i]->reg_write)
			err = card_units[i]->reg_write(b, reg, v, now_ns);
	return err;
}

static bool card_receive(struct board *b, const struct wire_frame *f, uint64_t now_ns)
{
	const struct card_unit *u;

	/* One that is too short has no opcode, and the engine says so. */
	u = f->len < WIRE_BTH_BYTES ? NULL : card_of(b)->takes[wire_opcode(f)];
	if (u)
		u->receive(b, f, now_ns);
	return u;
}

static void card_room(struct board *b)
{
	unsigned int i;

	for (i = 0; i < CARD_UNITS; i++)
		card_units[i]->room(b);
}

static const char *card_busy(struct board *b)
{
	unsigned int i;

	if (card_of(b)->phase != CARD_IDLE)
		return "card's table";
	for (i = 0; i < CARD_UNITS; i++)
		if (!card_units[i]->idle(b))
			return card_units[i]->name;
	return nic_fault_idle(card_of(b)->faults) ? NULL : "fault records";
}

static const char *card_check(struct board *b)
{
	const char *wrong = nic_fault_check(card_of(b)->faults);
	unsigned int i;

	for (i = 0; i < CARD_UNITS && !wrong; i++)
		wrong = card_units[i]->check(b);
	return wrong;
}

static const struct board_annex packets = {
	.make = card_make, .destroy = card_destroy, .reset = card_reset,
	.offer = card_offer, .receive = card_receive, .room = card_room,
	.access = xp_access, .busy = card_busy, .check = card_check,
};
const struct board_annex *const board_annex = &packets;

void board_faults(struct board *b, uint64_t share, bool major)
{
	sim_enter(b->domain);
	card_of(b)->share = share;
	card_of(b)->major = major;
	sim_leave(b->domain);
}

void board_fault_stats(struct board *b, struct nic_fault_stats *st)
{
	sim_enter(b->domain);
	nic_fault_stats(card_of(b)->faults, st);
	sim_leave(b->domain);
}
