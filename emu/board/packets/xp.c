// SPDX-License-Identifier: BSD-2-Clause
/*
 * xp.c - the page XP: orders for the card's own table, the ring of fault records, answers.
 *
 * An order takes time: a part of it before the table changes, and a part for each page
 * afterwards. Where time is real it is over when the write of TAB_GO is.
 */
#include <errno.h>

#include "board/packets/packets_internal.h"

#include "faultline/regs.h"

#define LOAD_MAX	4096u		/* regs.def, TAB_COUNT */
#define ENTRY_FLAGS	4095ull
#define GO_KINDS	(NIC_XP_TAB_GO_LOAD | NIC_XP_TAB_GO_ZAP | NIC_XP_TAB_GO_ZAP_ALL)

/* ---- orders ---- */

static bool order_makes_sense(const struct card_order *o)
{
	if (!table_object(o->object))
		return false;
	if (o->op == NIC_XP_TAB_GO_ZAP_ALL)
		return true;
	if (!o->count || o->first >= TABLE_PAGES || o->count > TABLE_PAGES - o->first)
		return false;
	return o->op == NIC_XP_TAB_GO_ZAP || o->count <= LOAD_MAX;
}

static uint8_t load_entry(struct board *b, const struct card_order *o, uint32_t i)
{
	struct table_entry e;
	uint64_t entry;

	if (dram_read64(b->dram, o->list_pa + 8ull * i, &entry))
		return FL_ST_BUS_ERROR;
	if (entry & ENTRY_FLAGS & ~(uint64_t)(FL_XP_VALID | FL_XP_WRITE))
		return FL_ST_BAD_ARGUMENT;
	if (!(entry & FL_XP_VALID))
		return FL_ST_OK;
	e.pa = entry & ~ENTRY_FLAGS;
	e.tag = bus_frame_tag(b, e.pa);
	e.write = entry & FL_XP_WRITE;
	return table_load(card_of(b)->table, o->object, o->first + i, &e) ?
		FL_ST_OK : FL_ST_NO_ROOM;
}

/* Returns how many pages it was about. */
static uint64_t order_load(struct board *b)
{
	const struct card_order *o = &card_of(b)->order;
	uint8_t code = FL_ST_OK;
	uint32_t i;

	for (i = 0; i < o->count && code == FL_ST_OK; i++)
		code = load_entry(b, o, i);
	card_of(b)->code = code;
	return i;
}

static uint64_t order_zap(struct board *b)
{
	const struct card_order *o = &card_of(b)->order;

	if (o->op == NIC_XP_TAB_GO_ZAP_ALL)
		return table_zap_all(card_of(b)->table, o->object);
	return table_zap(card_of(b)->table, o->object, o->first, o->count);
}

/* The table changes. Returns how many pages it was about. */
static uint64_t order_carry_out(struct board *b)
{
	struct card *c = card_of(b);
	const struct card_order *o = &c->order;
	bool load = o->op == NIC_XP_TAB_GO_LOAD, all = o->op == NIC_XP_TAB_GO_ZAP_ALL;
	struct trace_at at = { .cause = c->cause };
	uint64_t n = 0;

	c->code = FL_ST_OK;
	if (!order_makes_sense(o))
		c->code = FL_ST_BAD_ARGUMENT;
	else
		n = load ? order_load(b) : order_zap(b);
	c->cause = board_emit(b, load ? EV_TAB_LOAD : EV_TAB_ZAP, &at, o->object,
			     all ? 0 : o->first << 12, all ? 0 : o->count,
			     load ? c->code : n);
	return n;
}

uint64_t xp_table_step(void *board, uint64_t now_ns)
{
	struct board *b = board;
	const uint64_t *t = b->cfg.timing->v;
	struct card *c = card_of(b);
	bool load = c->order.op == NIC_XP_TAB_GO_LOAD;

	(void)now_ns;
	switch (c->phase) {
	case CARD_ORDERED:
		c->phase = CARD_WORKING;
		return t[load ? T_NIC_UPDATE : T_NIC_ZAP];
	case CARD_WORKING:
		c->phase = CARD_ENDING;
		return order_carry_out(b) *
		       t[load ? T_NIC_UPDATE_PAGE : T_NIC_ZAP_PAGE];
	case CARD_ENDING:
		c->phase = CARD_IDLE;
		break;
	case CARD_IDLE:
		break;
	}
	return SIM_IDLE;
}

static int go_write(struct board *b, uint32_t op)
{
	struct card *c = card_of(b);

	if (c->phase != CARD_IDLE || op & ~GO_KINDS || !op || op & (op - 1))
		return -EINVAL;
	c->order = c->set;
	c->order.op = op;
	c->cause = trace_last_software();
	if (b->timed) {
		c->phase = CARD_ORDERED;
		sim_kick(&c->table_actor);
	} else {
		order_carry_out(b);
	}
	return 0;
}

/* ---- registers ---- */

static bool xp_is_wide(uint32_t reg)
{
	return reg == NIC_XP_FQ_BASE || reg == NIC_XP_TAB_FIRST ||
	       reg == NIC_XP_TAB_LIST_PA || reg == NIC_XP_BAK_BASE ||
	       reg == NIC_XP_DIV_BASE;
}

/* The 64-bit register that a word is part of, or 0 and the word itself. */
static uint32_t xp_half(uint32_t reg, unsigned int *shift)
{
	*shift = 0;
	if (xp_is_wide(reg) || !xp_is_wide(reg - 4))
		return reg;
	*shift = 32;
	return reg - 4;
}

/* A whole register. */
static int xp_read(struct board *b, uint32_t reg, uint64_t *v)
{
	const struct card *c = card_of(b);

	switch (reg) {
	case NIC_XP_FQ_BASE:
		*v = nic_fault_base(c->faults);
		return 0;
	case NIC_XP_FQ_SIZE:
		*v = nic_fault_size(c->faults);
		return 0;
	case NIC_XP_FQ_CONS:
		*v = nic_fault_cons(c->faults);
		return 0;
	case NIC_XP_TAB_OBJECT:
		*v = c->set.object;
		return 0;
	case NIC_XP_TAB_COUNT:
		*v = c->set.count;
		return 0;
	case NIC_XP_TAB_FIRST:
		*v = c->set.first;
		return 0;
	case NIC_XP_TAB_LIST_PA:
		*v = c->set.list_pa;
		return 0;
	case NIC_XP_TAB_STATUS:
		*v = (c->phase != CARD_IDLE ? NIC_XP_TAB_STATUS_BUSY : 0) |
		     (uint32_t)c->code << NIC_XP_TAB_STATUS_CODE_SHIFT;
		return 0;
	}
	return card_unit_read(b, reg, v);
}

static int xp_write(struct board *b, uint32_t reg, uint64_t v)
{
	uint64_t now_ns = sim_now(b->cfg.sim);
	struct card *c = card_of(b);

	switch (reg) {
	case NIC_XP_FQ_BASE:
		return nic_fault_base_set(c->faults, v);
	case NIC_XP_FQ_SIZE:
		return nic_fault_size_set(c->faults, (uint32_t)v, now_ns);
	case NIC_XP_FQ_CONS:
		return nic_fault_cons_set(c->faults, (uint32_t)v, now_ns);
	case NIC_XP_TAB_OBJECT:
		c->set.object = (uint32_t)v;
		return 0;
	case NIC_XP_TAB_COUNT:
		c->set.count = (uint32_t)v;
		return 0;
	case NIC_XP_TAB_FIRST:
		c->set.first = v;
		return 0;
	case NIC_XP_TAB_LIST_PA:
		if (v % 8)
			return -EINVAL;
		c->set.list_pa = v;
		return 0;
	case NIC_XP_TAB_GO:
		return go_write(b, (uint32_t)v);
	case NIC_XP_RESUME:
		return nic_fault_answer(c->faults, (uint32_t)v, now_ns);
	}
	return card_unit_write(b, reg, v, now_ns);
}

static int xp_register(struct board *b, uint32_t off, unsigned int size,
		       uint64_t *value, bool write)
{
	unsigned int shift;
	uint32_t reg = xp_half(off, &shift);
	uint64_t whole = *value;
	int err;

	if (off % 4 || (size == 8 && !xp_is_wide(off)))
		return -EINVAL;
	if (size == 4 && (write ? *value >> 32 : 0))
		return -EINVAL;
	if (size == 8 || !xp_is_wide(reg))
		return write ? xp_write(b, reg, *value) : xp_read(b, reg, value);
	err = xp_read(b, reg, &whole);
	if (!write) {
		*value = (uint32_t)(whole >> shift);
		return err;
	}
	whole &= ~(0xFFFFFFFFull << shift);
	return xp_write(b, reg, whole | *value << shift);
}

/*
 * The wait is that of the SMMU's TLB synchronise. Where time is real it waits for the steps
 * of the hardware, so nothing may be held.
 */
static int xp_sync(struct board *b, uint32_t off, unsigned int size, uint64_t *value,
		   bool write)
{
	if (size != 4 || write != (off == NIC_XP_TAB_SYNC))
		return -EINVAL;
	if (write)
		bus_sync_start(b, 0);
	else
		*value = bus_sync_done(b, 0) ? 0 : NIC_XP_TAB_ACTIVE_ACTIVE;
	return 0;
}

int xp_access(struct board *b, uint32_t off, unsigned int size, uint64_t *value,
	      bool write)
{
	struct trace_at at = { .cause = trace_last_software() };
	uint64_t v = *value;
	int err;

	if (off == NIC_XP_TAB_SYNC || off == NIC_XP_TAB_ACTIVE) {
		err = xp_sync(b, off, size, value, write);
	} else {
		sim_enter(b->domain);
		board_changed(b);
		err = xp_register(b, off, size, value, write);
		sim_leave(b->domain);
	}
	if (err && write)
		board_emit(b, EV_ENG_BAD_REG, &at, NIC_XP_BASE + off, v, 0, 0);
	return err;
}
