// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault.c - reports of missing pages.
 *
 * A report is in one of these states, and in the list of its state, ordered by time:
 *
 *	IDLE	there is none
 *	COMING	its record will be written: its time has not come, or there is no room
 *	TOLD	the record is in the ring, or was taken out of it; the driver's turn
 *	GOING	the driver has answered; the unit will hear of it
 */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/device.h"
#include "faultline/regs.h"
#include "nic/transport/fault.h"
#include "nic/transport/nv.h"
#include "trace/event.h"

enum report_state { REPORT_IDLE, REPORT_COMING, REPORT_TOLD, REPORT_GOING, REPORT_STATES };

/* A token: queue pair in bits 7:0, side in 8, write in 9, serial above. */
#define TOKEN_SIDE	8
#define TOKEN_WRITE	9
#define TOKEN_SERIAL	10
#define TOKEN_BITS	24
/* Of a token: 8 bits which queue pair, 2 bits of which side and way. */
#define QP_PLACES	256
#define PLACES		(QP_PLACES * 4)
/* Behind these, one for each slot of the system buffer. */
#define REPORTS		(PLACES + NV_SLOTS_MAX)

_Static_assert(DEV_QPS <= QP_PLACES, "a place has 10 bits of a token");

struct report {
	struct report *next, *prev;	/* COMING, GOING: in order of due_ns */
	uint64_t due_ns, cause;
	uint32_t serial;
	uint32_t position;		/* TOLD: of the record */
	uint8_t state, code;
	struct fl_fault_rec rec;
};

struct report_list {
	struct report *first, *last;
};

struct nic_fault_unit {
	struct nic_fault_config cfg;
	struct nic_fault_env env;
	struct nic_fault_stats stats;
	uint64_t base, pa;		/* FQ_BASE, for the next start; and now */
	uint32_t size, prod, cons, wraps;
	bool line;
	uint64_t going_ns;		/* the last of GOING is due then */
	struct report_list list[REPORT_STATES];	/* COMING and GOING */
	uint32_t count[REPORT_STATES];
	struct report report[REPORTS];
};

struct nic_fault_unit *nic_fault_create(const struct nic_fault_config *cfg,
				const struct nic_fault_env *env)
{
	struct nic_fault_unit *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->cfg = *cfg;
	f->env = *env;
	f->count[REPORT_IDLE] = REPORTS;
	return f;
}

void nic_fault_destroy(struct nic_fault_unit *f)
{
	free(f);
}

static uint32_t report_place(const struct nic_fault_unit *f, const struct report *r)
{
	return (uint32_t)(r - f->report);
}

static void report_unlink(struct nic_fault_unit *f, struct report *r)
{
	struct report_list *l = &f->list[r->state];

	if (r->state != REPORT_COMING && r->state != REPORT_GOING)
		return;
	*(r->prev ? &r->prev->next : &l->first) = r->next;
	*(r->next ? &r->next->prev : &l->last) = r->prev;
}

/* Into a state, and behind what is due at the same time there. */
static void report_move(struct nic_fault_unit *f, struct report *r,
			enum report_state state, uint64_t due_ns)
{
	struct report_list *l = &f->list[state];
	struct report *after;

	report_unlink(f, r);
	f->count[r->state]--;
	f->count[state]++;
	r->state = (uint8_t)state;
	r->due_ns = due_ns;
	if (state != REPORT_COMING && state != REPORT_GOING)
		return;
	for (after = l->last; after && after->due_ns > due_ns; after = after->prev)
		;
	r->prev = after;
	r->next = after ? after->next : l->first;
	*(r->prev ? &r->prev->next : &l->first) = r;
	*(r->next ? &r->next->prev : &l->last) = r;
}

static void nic_fault_line(struct nic_fault_unit *f, uint64_t cause)
{
	bool level = f->prod != f->cons;

	if (level == f->line)
		return;
	f->line = level;
	f->env.line(f->env.ctx, level, cause);
}

void nic_fault_reset(struct nic_fault_unit *f)
{
	uint32_t i;

	for (i = 0; i < REPORTS; i++)
		report_move(f, &f->report[i], REPORT_IDLE, 0);
	f->base = f->pa = 0;
	f->size = f->prod = f->cons = f->wraps = 0;
	f->going_ns = 0;
	nic_fault_line(f, 0);
}

/* ---- records ---- */

/* Negative: the ring's memory failed. */
static int record_write(struct nic_fault_unit *f, struct report *r)
{
	uint64_t pa = f->pa + 64ull * (f->prod & (f->size - 1));

	if (f->env.mem_write(f->env.ctx, pa, &r->rec,
			     offsetof(struct fl_fault_rec, phase)))
		return -1;
	/* entries.def, fl_cqe.phase: 1 + the number of wraps, written last */
	if (f->env.mem_publish(f->env.ctx,
			       pa + offsetof(struct fl_fault_rec, phase),
			       1 + f->wraps))
		return -1;
	r->position = f->prod++;
	if (!(f->prod & (f->size - 1)))
		f->wraps++;
	return 0;
}

/* What nobody has taken out of the ring is reported again. */
static void records_again(struct nic_fault_unit *f, uint64_t now_ns)
{
	struct report *r;

	for (r = f->report; f->count[REPORT_TOLD] && r < f->report + REPORTS; r++)
		if (r->state == REPORT_TOLD &&
		    r->position - f->cons < f->prod - f->cons)
			report_move(f, r, REPORT_COMING, now_ns);
}

static bool ring_has_room(const struct nic_fault_unit *f)
{
	return f->prod - f->cons < f->size;
}

static void records_step(struct nic_fault_unit *f, uint64_t now_ns)
{
	uint64_t cause = 0;
	struct report *r;

	while ((r = f->list[REPORT_COMING].first) && r->due_ns <= now_ns &&
	       ring_has_room(f)) {
		if (record_write(f, r)) {
			/* They wait; the driver may start a ring that works. */
			records_again(f, now_ns);
			f->size = 0;
			f->cons = f->prod;
			break;
		}
		report_move(f, r, REPORT_TOLD, 0);
		if (!cause)
			cause = r->cause;
	}
	nic_fault_line(f, cause);
}

/* ---- answers ---- */

static void report_resume(struct nic_fault_unit *f, struct report *r, uint64_t now_ns)
{
	struct trace_at at = { .xfer = r->rec.xfer, .cause = r->cause };
	uint16_t qp = (uint16_t)(report_place(f, r) & (QP_PLACES - 1));
	uint8_t code = r->code;

	report_move(f, r, REPORT_IDLE, 0);
	f->stats.resumed += !code;
	f->stats.refused += !!code;
	f->env.emit(f->env.ctx, EV_NIC_RESUME, &at, r->rec.qp, r->rec.token, code, 0);
	f->env.resume(f->env.ctx, qp, &r->rec, code, now_ns);
}

static void nic_fault_alarm(struct nic_fault_unit *f)
{
	const struct report *coming = f->list[REPORT_COMING].first;
	const struct report *going = f->list[REPORT_GOING].first;
	uint64_t when_ns = going ? going->due_ns : NIC_FAULT_NEVER;

	/* Without room the next is about when the driver has taken some. */
	if (coming && ring_has_room(f) && coming->due_ns < when_ns)
		when_ns = coming->due_ns;
	f->env.alarm(f->env.ctx, when_ns);
}

void nic_fault_step(struct nic_fault_unit *f, uint64_t now_ns)
{
	struct report *r;

	records_step(f, now_ns);
	while ((r = f->list[REPORT_GOING].first) && r->due_ns <= now_ns)
		report_resume(f, r, now_ns);
	nic_fault_alarm(f);
}

int nic_fault_answer(struct nic_fault_unit *f, uint32_t value, uint64_t now_ns)
{
	uint32_t token = value & NIC_XP_RESUME_TOKEN_MASK;
	struct report *r = &f->report[token & (PLACES - 1)];
	uint64_t due_ns = now_ns + f->cfg.resume_ns;

	if (value & ~(NIC_XP_RESUME_TOKEN_MASK | NIC_XP_RESUME_CODE_MASK))
		return -EINVAL;
	if (r->state != REPORT_TOLD || r->rec.token != token) {
		f->stats.stale++;
		return 0;
	}
	if (f->going_ns && due_ns < f->going_ns + f->cfg.spread_ns)
		due_ns = f->going_ns + f->cfg.spread_ns;
	f->going_ns = due_ns;
	r->code = (value & NIC_XP_RESUME_CODE_MASK) >> NIC_XP_RESUME_CODE_SHIFT;
	report_move(f, r, REPORT_GOING, due_ns);
	nic_fault_step(f, now_ns);
	return 0;
}

/* ---- reports ---- */

/* Of the message, from the first byte that is missing. */
static uint64_t record_pages(const struct fl_fault_rec *rec)
{
	uint64_t bytes = rec->len + rec->left;

	return bytes ? (rec->va % 4096 + bytes - 1) / 4096 + 1 : 1;
}

bool nic_fault_report(struct nic_fault_unit *f, uint16_t qp, const struct fl_fault_rec *rec,
		  uint64_t cause, uint64_t extra_ns, uint64_t now_ns)
{
	uint32_t place = qp | (uint32_t)!!rec->side << TOKEN_SIDE |
			 (uint32_t)!!rec->write << TOKEN_WRITE;
	struct trace_at at = { .xfer = rec->xfer, .cause = cause };
	struct report *r = &f->report[place];
	bool again = r->state != REPORT_IDLE;

	if (!again) {
		r->rec = *rec;
		r->rec.token = place | r->serial++ << TOKEN_SERIAL;
		r->rec.token &= (1u << TOKEN_BITS) - 1;
	}
	cause = f->env.emit(f->env.ctx, again ? EV_NIC_FAULT_AGAIN : EV_NIC_FAULT,
			    &at, rec->qp, rec->va, rec->len, r->rec.token);
	f->stats.reported += !again;
	f->stats.suppressed += again;
	if (again)
		return false;
	r->cause = cause;
	report_move(f, r, REPORT_COMING,
		    now_ns + extra_ns + f->cfg.trigger_ns +
		    (record_pages(rec) - 1) * f->cfg.trigger_page_ns);
	/* Not an answer: whoever has missed the page is in the middle of it. */
	records_step(f, now_ns);
	nic_fault_alarm(f);
	return true;
}

void nic_fault_divert(struct nic_fault_unit *f, uint32_t slot, const struct fl_fault_rec *rec,
		      uint64_t cause, uint64_t now_ns)
{
	struct trace_at at = { .xfer = rec->xfer, .cause = cause };
	struct report *r = &f->report[PLACES + slot];

	assert(slot < NV_SLOTS_MAX && r->state == REPORT_IDLE);
	r->rec = *rec;
	r->rec.token = slot;
	f->stats.reported++;
	r->cause = f->env.emit(f->env.ctx, EV_NIC_FAULT, &at, rec->qp, rec->va, rec->len,
			       slot);
	report_move(f, r, REPORT_COMING, now_ns + f->cfg.trigger_ns);
	records_step(f, now_ns);
	nic_fault_alarm(f);
}

void nic_fault_copied(struct nic_fault_unit *f, uint32_t slot, uint64_t now_ns)
{
	struct report *r = &f->report[PLACES + slot];

	if (slot >= NV_SLOTS_MAX || r->state == REPORT_IDLE) {
		f->stats.stale++;
		return;
	}
	/* Also one that was not told yet: the slot is free, and may be filled again. */
	report_move(f, r, REPORT_IDLE, 0);
	nic_fault_step(f, now_ns);
}

void nic_fault_slots_gone(struct nic_fault_unit *f)
{
	uint32_t i;

	for (i = PLACES; i < REPORTS; i++)
		report_move(f, &f->report[i], REPORT_IDLE, 0);
	nic_fault_alarm(f);
}

void nic_fault_close(struct nic_fault_unit *f, uint16_t qp)
{
	uint32_t i;

	for (i = qp; i < PLACES; i += QP_PLACES)
		report_move(f, &f->report[i], REPORT_IDLE, 0);
	nic_fault_alarm(f);
}

/* ---- the ring's registers ---- */

uint64_t nic_fault_base(const struct nic_fault_unit *f)
{
	return f->base;
}

uint32_t nic_fault_size(const struct nic_fault_unit *f)
{
	return f->size;
}

uint32_t nic_fault_cons(const struct nic_fault_unit *f)
{
	return f->cons;
}

int nic_fault_base_set(struct nic_fault_unit *f, uint64_t base)
{
	/* regs.def, FQ_BASE: 64-byte aligned */
	if (base % 64)
		return -EINVAL;
	f->base = base;
	return 0;
}

int nic_fault_size_set(struct nic_fault_unit *f, uint32_t size, uint64_t now_ns)
{
	/* regs.def, FQ_SIZE: a power of two, 16 to 4096 */
	if (size && (size < 16 || size > 4096 || size & (size - 1)))
		return -EINVAL;
	if (size && f->base + 64ull * size - 1 < f->base)
		return -EINVAL;
	records_again(f, now_ns);
	f->pa = f->base;
	f->size = size;
	f->prod = f->cons = f->wraps = 0;
	nic_fault_step(f, now_ns);
	return 0;
}

int nic_fault_cons_set(struct nic_fault_unit *f, uint32_t cons, uint64_t now_ns)
{
	/* Nothing can be taken that was not written. */
	if (cons - f->cons > f->prod - f->cons)
		return -EINVAL;
	f->cons = cons;
	nic_fault_step(f, now_ns);
	return 0;
}

/* ---- for the checker ---- */

void nic_fault_stats(const struct nic_fault_unit *f, struct nic_fault_stats *st)
{
	*st = f->stats;
}

bool nic_fault_idle(const struct nic_fault_unit *f)
{
	return f->count[REPORT_IDLE] == REPORTS;
}

/* Cheap: called after every event. */
const char *nic_fault_check(const struct nic_fault_unit *f)
{
	const struct report *r;
	unsigned int state;
	uint32_t n;

	for (state = REPORT_COMING; state < REPORT_STATES; state++) {
		n = 0;
		for (r = f->list[state].first; r; r = r->next, n++) {
			if (r->state != state)
				return "a fault report is in the list of another state";
			if (r->next && r->next->due_ns < r->due_ns)
				return "fault reports are out of order";
		}
		if (state != REPORT_TOLD && n != f->count[state])
			return "fault reports are miscounted";
	}
	if (f->prod - f->cons > f->size)
		return "the ring of fault records holds more than it has room for";
	return f->line == (f->prod != f->cons) ? NULL :
		"the line of the ring of fault records is wrong";
}
