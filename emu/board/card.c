// SPDX-License-Identifier: BSD-2-Clause
/*
 * card.c - what is beside the engine on the card: whose frames are whose, the packet units'
 * own table of translations, and reports of what they miss there.
 */
#include <errno.h>
#include <stdio.h>

#include "board/board_internal.h"
#include "faultline/regs.h"
#include "nic/transport/rc_wire.h"

uint64_t card_emit(void *board, unsigned int ev, const struct trace_at *at,
		   uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct board *b = board;
	struct trace_at here = *at;

	here.board = b->cfg.id;
	return trace_emit(b->cfg.trace, ev, &here, a0, a1, a2, a3);
}

/* ---- frames ---- */

void card_receive(void *board, const struct wire_frame *f, uint64_t now_ns)
{
	struct board *b = board;

	board_changed(b);
	/* One that is too short has no opcode, and the engine says so. */
	if (f->len >= WIRE_BTH_BYTES && rc_opcode_known(wire_opcode(f)))
		rc_receive(b->card.rc, f, now_ns);
	else if (nv_opcode_known(wire_opcode(f)))
		nv_receive(b->card.nv, f, now_ns);
	else if (ud_opcode_known(wire_opcode(f)))
		ud_receive(b->card.ud, f, now_ns);
	else
		engine_receive(b->engine, f, now_ns);
}

void card_room(void *board)
{
	struct board *b = board;

	board_changed(b);
	engine_wire_room(b->engine);
	rc_wire_room(b->card.rc);
	nv_wire_room(b->card.nv);
	ud_wire_room(b->card.ud);
}

/*
 * A process can have chosen that its peers hear nothing of its missing pages (system drop).
 * The engine answers as ever, and the answer ends here.
 */
bool card_drops(void *board, const struct wire_frame *f)
{
	uint8_t opcode = wire_opcode(f);
	struct board *b = board;
	struct wire_answer a;
	struct trace_at at;

	if (opcode != WOP_REFUSED && opcode != WOP_READY && opcode != WOP_WAIT)
		return false;
	/* With a code it is about room or order, and not about pages. */
	if (wire_get_answer(f, false, &a) || a.code ||
	    !fw_is_silent(b->fw, f->to, a.ctx))
		return false;
	at = (struct trace_at){ .xfer = a.xfer, .block = a.block,
				.cause = f->cause };
	/* Not a step of the firmware's: it causes nothing that is written next. */
	card_emit(b, EV_FW_SILENT, &at, f->to, a.ctx, opcode, 0);
	return true;
}

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

void card_line(struct board *b)
{
	fw_fault_line(b->fw, b->card.line_records || b->card.line_backup);
}

static void card_fault_line(void *ctx, bool level)
{
	struct board *b = ctx;

	b->card.line_records = level;
	card_line(b);
}

static void card_fault_alarm(void *ctx, uint64_t when_ns)
{
	sim_alarm(&((struct board *)ctx)->card.fault_actor, when_ns);
}

static uint64_t card_fault_step(void *board, uint64_t now_ns)
{
	nic_fault_step(((struct board *)board)->card.faults, now_ns);
	return SIM_IDLE;
}

static int make_faults(struct board *b)
{
	const uint64_t *t = b->cfg.timing->v;
	const struct nic_fault_env env = {
		.ctx = b, .mem_write = card_mem_write, .mem_publish = card_mem_publish,
		.line = card_fault_line, .alarm = card_fault_alarm,
		.resume = card_resume, .emit = card_emit,
	};
	struct nic_fault_config cfg = { 0 };

	if (b->timed)
		cfg = (struct nic_fault_config){
			.trigger_ns = t[T_NIC_TRIGGER],
			.trigger_page_ns = t[T_NIC_TRIGGER_PAGE],
			.resume_ns = t[T_NIC_RESUME], .spread_ns = t[T_NIC_SPREAD],
		};
	b->card.faults = nic_fault_create(&cfg, &env);
	return b->card.faults ? 0 : -ENOMEM;
}

/* ---- all of it ---- */

int card_make(struct board *b)
{
	struct card *c = &b->card;
	char stream[16];
	int err;

	snprintf(stream, sizeof(stream), "faults %u", b->cfg.id);
	rng_init(&c->rng, sim_seed(b->cfg.sim), stream);
	sim_actor_init(b->domain, &c->table_actor, "card's table", xp_table_step, b);
	sim_actor_init(b->domain, &c->fault_actor, "fault records", card_fault_step, b);
	policy_reset(&c->policy);
	c->table = table_create();
	if (!c->table)
		return -ENOMEM;
	err = make_faults(b);
	if (!err)
		err = card_rc_make(b);
	if (!err)
		err = card_ud_make(b);
	return err ? err : card_nv_make(b);
}

void card_destroy(struct board *b)
{
	nv_destroy(b->card.nv);
	rc_destroy(b->card.rc);
	ud_destroy(b->card.ud);
	nic_fault_destroy(b->card.faults);
	table_destroy(b->card.table);
}

void card_reset(struct board *b)
{
	struct card *c = &b->card;

	card_rc_reset(b);
	card_nv_reset(b);
	card_ud_reset(b);
	nic_fault_reset(c->faults);
	sim_alarm(&c->fault_actor, SIM_IDLE);
	table_clear(c->table);
	policy_reset(&c->policy);
	c->set = c->order = (struct card_order){ 0 };
	c->phase = CARD_IDLE;
	c->code = 0;
}

uint32_t card_features(const struct board *b)
{
	(void)b;
	return NIC_FW_FEATURES_TABLE | NIC_FW_FEATURES_RC | NIC_FW_FEATURES_UD |
	       NIC_FW_FEATURES_NV;
}

const char *card_busy(struct board *b)
{
	if (b->card.phase != CARD_IDLE)
		return "card's table";
	if (!rc_idle(b->card.rc))
		return "reliable connection";
	if (!nv_idle(b->card.nv))
		return "NetVM's transport";
	if (!ud_idle(b->card.ud))
		return "datagrams";
	return nic_fault_idle(b->card.faults) ? NULL : "fault records";
}

const char *card_check(struct board *b)
{
	const char *wrong = nic_fault_check(b->card.faults);

	if (!wrong)
		wrong = rc_check(b->card.rc);
	if (!wrong)
		wrong = ud_check(b->card.ud);
	return wrong ? wrong : nv_check(b->card.nv);
}

void board_faults(struct board *b, uint64_t share, bool major)
{
	sim_enter(b->domain);
	b->card.share = share;
	b->card.major = major;
	sim_leave(b->domain);
}

void board_fault_stats(struct board *b, struct nic_fault_stats *st)
{
	sim_enter(b->domain);
	nic_fault_stats(b->card.faults, st);
	sim_leave(b->domain);
}
