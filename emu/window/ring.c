// SPDX-License-Identifier: BSD-2-Clause
/*
 * ring.c - what the guest wrote: the driver's ring, in order, and the doorbell
 * pages of the processes. An entry is copied once and then checked; a process
 * reaches the registers of its own doorbell page and no others.
 */
#include "lib/sys.h"
#include "smmu/smmu.h"
#include "window/window_internal.h"

/* Of one source, before the next has its turn. */
#define DRIVER_AT_ONCE	64u
#define PROCESS_AT_ONCE	16u

#define BAD_KIND	(-1)

_Static_assert(sizeof(struct fl_window_entry) == 64, "window.h");
_Static_assert(sizeof(struct fl_window_head) == 128, "window.h");
_Static_assert(sizeof(struct fl_window_doorbell) <= FL_WINDOW_PAGE,
	       "a doorbell page holds its ring");
_Static_assert(FL_WINDOW_RING_OFFSET + FL_WINDOW_RING * 64u <=
	       FL_WINDOW_DOORBELL_OFFSET(0), "the rings do not overlap");
_Static_assert(FL_WINDOW_DOORBELL_OFFSET(NIC_DB_COUNT) <= FL_WINDOW_BYTES,
	       "there is room for all doorbell pages");

void ring_begin(struct guest *g)
{
	struct fl_window_doorbell *d;
	int i;

	g->head = (struct fl_window_head *)g->bar;
	g->driver = (struct source){
		.slot = -1, .entries = FL_WINDOW_RING,
		.entry = (void *)(g->bar + FL_WINDOW_RING_OFFSET),
		.head_shown = &g->head->head, .asleep_shown = &g->head->asleep,
	};
	for (i = 0; i < NIC_DB_COUNT; i++) {
		d = (void *)(g->bar + FL_WINDOW_DOORBELL_OFFSET(i));
		g->slot[i] = (struct source){
			.slot = i, .entries = FL_WINDOW_BELLS,
			.entry = d->entry, .head_shown = &d->head,
			.asleep_shown = &d->asleep,
		};
		d->alive = 1;
	}
	memset(g->cause, 0, sizeof(g->cause));
	g->head->alive = 1;
}

void ring_say_asleep(struct guest *g, uint32_t asleep)
{
	int i;

	for (i = 0; i < NIC_DB_COUNT; i++)
		__atomic_store_n(g->slot[i].asleep_shown, asleep,
				 __ATOMIC_SEQ_CST);
	__atomic_store_n(g->driver.asleep_shown, asleep, __ATOMIC_SEQ_CST);
}

static bool is_next(const struct source *s)
{
	const struct fl_window_entry *at = &s->entry[s->head % s->entries];

	/*
	 * Pairs with the guest's release of seq; seq_cst, since before sleeping
	 * this look must not pass the store of asleep.
	 */
	return __atomic_load_n(&at->seq, __ATOMIC_SEQ_CST) == s->head + 1;
}

static void copy_entry(const struct source *s, struct fl_window_entry *e)
{
	const volatile struct fl_window_entry *v =
		&s->entry[s->head % s->entries];
	unsigned int i;

	e->seq = s->head + 1;
	e->kind = v->kind;
	e->size = v->size;
	e->addr = v->addr;
	e->xfer = v->xfer;
	e->block = v->block;
	for (i = 0; i < 5; i++)
		e->arg[i] = v->arg[i];
}

/* The entry is done: only now may it be written again. */
static void entry_done(struct source *s)
{
	s->head++;
	__atomic_store_n(s->head_shown, s->head, __ATOMIC_RELEASE);
}

/* ---- registers ---- */

/* 0: *pa is inside the unit that addr names, and nowhere else. */
static int bus_address(const struct fl_window_entry *e, uint64_t *pa)
{
	bool smmu = e->addr & FL_WINDOW_SMMU;
	uint32_t off = e->addr & ~FL_WINDOW_SMMU;
	uint32_t bytes = smmu ? SMMU_REG_BYTES : BUS_NIC_BYTES;

	if (e->size != 4 && e->size != 8)
		return -EINVAL;
	if (off > bytes - e->size)
		return -ENXIO;
	*pa = (smmu ? BUS_SMMU_BASE : BUS_NIC_BASE) + off;
	return 0;
}

/* Bit of the line that a register of this unit may lower. */
static unsigned int unit_of(uint32_t addr)
{
	if (addr & FL_WINDOW_SMMU)
		return 1u << FL_WINDOW_IRQ_SMMU;
	return 1u << (addr < NIC_FW_BASE ? FL_WINDOW_IRQ_FAULT :
					   FL_WINDOW_IRQ_EVENT);
}

static void driver_write(struct window *w, const struct fl_window_entry *e)
{
	uint64_t pa, value = e->arg[0];

	window_count(&w->count.writes);
	if (e->size == 4)
		value = (uint32_t)value;
	/* Posted: who writes does not hear of a refusal. */
	if (bus_address(e, &pa) || board_write(w->cfg.board, pa, e->size, value))
		window_count(&w->count.refused);
}

/*
 * A process may have written what is ours in its page, and another one comes after
 * it: the driver hands a page over with a read, so until then it is put right.
 */
static void show_again(struct guest *g)
{
	struct fl_window_doorbell *d;
	int i;

	for (i = 0; i < NIC_DB_COUNT; i++) {
		d = (void *)(g->bar + FL_WINDOW_DOORBELL_OFFSET(i));
		__atomic_store_n(&d->head, g->slot[i].head, __ATOMIC_RELAXED);
		__atomic_store_n(&d->alive, 1, __ATOMIC_RELAXED);
	}
}

static void driver_read(struct window *w, const struct fl_window_entry *e)
{
	struct fl_window_head *head = w->guest.head;
	uint64_t pa, value = 0;
	int err = bus_address(e, &pa);

	window_count(&w->count.reads);
	if (!err)
		err = board_read(w->cfg.board, pa, e->size, &value);
	if (err)
		window_count(&w->count.refused);
	show_again(&w->guest);
	__atomic_store_n(&head->answer, err ? 0 : value, __ATOMIC_RELAXED);
	__atomic_store_n(&head->answer_error, err, __ATOMIC_RELAXED);
	/* Release: pairs with the driver's acquire; the answer is whole. */
	__atomic_store_n(&head->answer_seq, e->seq, __ATOMIC_RELEASE);
}

/* ---- notes ---- */

/* What a note of the driver follows from. */
enum follows {
	NOTHING, LINE_SMMU, LINE_FAULT, LINE_EVENT, LAST_STEP, IRQ_STEP
};

static const struct {
	enum trace_event event;
	enum follows follows;
} driver_notes[FL_WINDOW_NOTES] = {
#define DRIVER_EVENT(event, point, follows, ...) { EV_##event, follows },
#include "faultline/driver_trace.def"
};

static struct cause *cause_of(struct guest *g, const struct fl_window_entry *e)
{
	return &g->cause[(e->xfer * 31u + e->block) % CAUSES];
}

static int driver_note(struct window *w, const struct fl_window_entry *e)
{
	struct board *b = w->cfg.board;
	struct trace_at at = { .board = board_id(b), .xfer = e->xfer,
			       .block = e->block };
	struct cause *c = cause_of(&w->guest, e);

	if (e->addr >= FL_WINDOW_NOTES)
		return BAD_KIND;
	switch (driver_notes[e->addr].follows) {
	case NOTHING:
		break;
	case LINE_SMMU:
	case IRQ_STEP:
		at.cause = atomic_load(&w->guest.raised[FL_WINDOW_IRQ_SMMU]);
		break;
	case LINE_FAULT:
		at.cause = atomic_load(&w->guest.raised[FL_WINDOW_IRQ_FAULT]);
		break;
	case LINE_EVENT:
		at.cause = atomic_load(&w->guest.raised[FL_WINDOW_IRQ_EVENT]);
		break;
	case LAST_STEP:
		if (e->xfer && c->xfer == e->xfer && c->block == e->block)
			at.cause = c->event;
		break;
	}
	*c = (struct cause){ e->xfer, e->block,
			     trace_emit(board_trace(b),
					driver_notes[e->addr].event, &at,
					e->arg[0], e->arg[1], e->arg[2],
					e->arg[3]) };
	window_count(&w->count.notes);
	return 0;
}

static int process_note(struct window *w, const struct fl_window_entry *e)
{
	struct board *b = w->cfg.board;
	struct trace_at at = { .board = board_id(b), .xfer = e->xfer };

	switch (e->addr) {
	case FL_SYS_EV_POST:
		trace_emit(board_trace(b), EV_LIB_POST, &at, e->arg[0],
			   e->arg[1], e->arg[2], e->arg[3]);
		return 0;
	case FL_SYS_EV_DOORBELL:
		at.cause = trace_last_software();
		trace_emit(board_trace(b), EV_LIB_DOORBELL, &at, e->arg[0],
			   e->arg[1], 0, 0);
		return 0;
	case FL_SYS_EV_COMPLETE:
		at.cause = board_end_event(b, e->xfer);
		trace_emit(board_trace(b), EV_LIB_COMPLETE, &at, e->arg[0],
			   e->arg[1], e->arg[2], 0);
		return 0;
	}
	return BAD_KIND;
}

/* ---- entries ---- */

static int driver_entry(struct window *w, const struct fl_window_entry *e,
			unsigned int *units)
{
	switch (e->kind) {
	case FL_WINDOW_WRITE:
		*units |= unit_of(e->addr);
		driver_write(w, e);
		return 0;
	case FL_WINDOW_READ:
		driver_read(w, e);
		return 0;
	case FL_WINDOW_NOTE:
		return driver_note(w, e);
	}
	return BAD_KIND;
}

static bool is_doorbell(uint64_t addr)
{
	switch (addr) {
	case NIC_DB_SQ:
	case NIC_DB_CQ_ARM:
	case NIC_DB_CQ_CONS:
	case NIC_DB_RQ:
	case NIC_DB_SRQ:
	case NIC_DB_CQ_ARM_SOLICITED:
	case NIC_DB_COUNTER_ARM:
		return true;
	}
	return false;
}

static int process_entry(struct window *w, const struct fl_window_entry *e,
			 unsigned int slot)
{
	if (e->kind == FL_WINDOW_NOTE)
		return process_note(w, e);
	if (e->kind != FL_WINDOW_WRITE || e->size != 4 ||
	    !is_doorbell(e->addr))
		return BAD_KIND;
	if (board_write(w->cfg.board, BUS_NIC_BASE + NIC_DB_BASE(slot) + e->addr,
			4, (uint32_t)e->arg[0]))
		window_count(&w->count.refused);
	return 0;
}

/* Each source has its own story: what one did is no cause of what another does. */
static unsigned int ring_take_from(struct window *w, struct source *s,
				   unsigned int most, unsigned int *units)
{
	struct fl_window_entry e;
	unsigned int n;
	int err;

	if (!is_next(s))
		return 0;
	trace_tick(board_trace(w->cfg.board));
	trace_last_restore(s->last);
	for (n = 0; n < most && is_next(s); n++) {
		copy_entry(s, &e);
		err = s->slot < 0 ? driver_entry(w, &e, units) :
				    process_entry(w, &e, (unsigned int)s->slot);
		if (s->slot >= 0)
			window_count(&w->count.doorbells);
		if (err)
			window_count(&w->count.bad);
		entry_done(s);
	}
	s->last = trace_last_save();
	return n;
}

int ring_take(struct window *w)
{
	struct guest *g = &w->guest;
	unsigned int units = 0, n = 0, i;

	/* The driver runs: so the guest's memory is there, and all of it. */
	if (g->bank < 0 && is_next(&g->driver) && window_map_ram(w))
		return -1;
	/*
	 * An entry may have come since that look. It must not be done without the
	 * memory, so it waits for the next look; should the window sleep before
	 * that, the driver has seen so and rings.
	 */
	if (g->bank >= 0)
		n += ring_take_from(w, &g->driver, DRIVER_AT_ONCE, &units);
	for (i = 0; i < NIC_DB_COUNT; i++)
		n += ring_take_from(w, &g->slot[i], PROCESS_AT_ONCE, &units);
	line_again(w, units);
	return (int)n;
}
