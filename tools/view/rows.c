// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/wire.h"
#include "nic/wire.h"

/* ---- which records belong to the transfer ---- */

struct reach {			/* addresses that the block used, by board */
	uint64_t low[WIRE_NODES], high[WIRE_NODES];
};

static bool is_fault(const struct trace_record *r)
{
	return r->event == EV_SMMU_FAULT || r->event == EV_SMMU_MULTI ||
	       r->event == EV_ENG_FAULT || r->event == EV_SMMU_STALL ||
	       r->event == EV_RC_MISS || r->event == EV_NV_MISS;
}

uint32_t view_first_xfer(const struct view_trace *t)
{
	uint32_t first = 0;
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (t->r[i].xfer && is_fault(&t->r[i]))
			return t->r[i].xfer;
		if (!first)
			first = t->r[i].xfer;
	}
	return first;
}

static void find_reach(struct reach *reach, const struct view_trace *t,
		       uint32_t xfer, uint32_t block)
{
	const struct trace_record *r;
	uint64_t va, end;
	size_t i;

	memset(reach, 0, sizeof(*reach));
	for (i = 0; i < t->n; i++) {
		r = &t->r[i];
		if (r->xfer != xfer || r->block != block ||
		    r->board >= WIRE_NODES)
			continue;
		if (r->event == EV_TX_BURST || r->event == EV_RX_BURST)
			end = (va = r->arg[1]) + r->arg[2];
		else if (r->event == EV_SMMU_FAULT || r->event == EV_SMMU_MULTI)
			end = (va = r->arg[1]) + 1;
		else if (r->event == EV_RC_BURST)
			end = (va = r->arg[2]) + r->arg[3];
		else if (r->event == EV_RC_MISS || r->event == EV_NV_MISS)
			end = (va = r->arg[2]) + 1;
		else
			continue;
		if (!reach->high[r->board] || va < reach->low[r->board])
			reach->low[r->board] = va;
		if (end > reach->high[r->board])
			reach->high[r->board] = end;
	}
}

/* Which argument of a driver or kernel event is an address; -1: none. */
static int va_arg_of(const struct trace_record *r)
{
	switch (r->event) {
	case EV_DRV_IRQ_SMMU: case EV_DRV_IRQ_FAULT: case EV_DRV_WORK:
	case EV_DRV_RESUME:
		return 2;
	case EV_MM_FAULT: case EV_MM_PAGE_IN:
		return 1;
	case EV_DRV_RESOLVE:
		return 0;
	default:
		return -1;
	}
}

/* Driver and kernel do not know transfers; they are found by the address. */
static bool record_belongs(const struct trace_record *r, uint32_t xfer,
			   const struct reach *reach)
{
	int i = va_arg_of(r);
	uint64_t page;

	if (r->xfer)
		return r->xfer == xfer;
	if (r->board >= WIRE_NODES || !reach->high[r->board])
		return false;
	if (r->event == EV_DRV_READY)
		return true;	/* or not: see ready_is_ours() */
	if (i < 0)
		return false;
	page = r->arg[i] & ~4095ull;
	return page < reach->high[r->board] &&
	       page + 4096 > reach->low[r->board];
}

/* ---- records to rows ---- */

static bool is_answer(uint64_t opcode)
{
	return !wire_is_block((uint8_t)opcode);
}

static bool wire_row(struct row *row, const struct trace_record *r, bool away)
{
	row->from = away ? LANE_ENG_B : LANE_ENG;
	row->to = away ? LANE_ENG : LANE_ENG_B;
	row->sum = r->arg[2];
	row->breaks = is_answer(r->arg[0]);
	if (r->arg[0] == WOP_REFUSED || r->arg[0] == WOP_NAK)
		row->tone = TONE_FAULT;
	else if (r->arg[0] == WOP_READY)
		row->tone = TONE_REPAIR;
	return true;
}

static bool row_arrow(struct row *row, enum lane from, enum lane to,
		      enum tone tone)
{
	row->from = from;
	row->to = to;
	row->tone = tone;
	return true;
}

static bool row_note(struct row *row, enum lane at, enum tone tone)
{
	return row_arrow(row, at, at, tone);
}

/* Events of card and SMMU. */
static bool card_row(struct row *row, const struct trace_record *r, bool away)
{
	enum lane eng = away ? LANE_ENG_B : LANE_ENG;
	enum lane smmu = away ? LANE_SMMU_B : LANE_SMMU;
	enum lane drv = away ? LANE_DRV_B : LANE_DRV;

	switch (r->event) {
	case EV_FW_WQE: case EV_FW_BLOCK: case EV_FW_CHECK:
		return row_note(row, eng, TONE_PLAIN);
	case EV_FW_TIMEOUT: case EV_RX_STALE: case EV_RX_DUPLICATE:
	case EV_RX_NO_CONTEXT: case EV_FW_WQE_BAD:
		return row_note(row, eng, TONE_TROUBLE);
	case EV_TX_BURST: case EV_RX_BURST:
		row->sum = r->arg[2];
		return row_note(row, eng, TONE_PLAIN);
	case EV_SMMU_HIT:
		return row_arrow(row, eng, smmu, TONE_PLAIN);
	case EV_SMMU_WALK:
		row->second = 1;
		return row_arrow(row, eng, smmu, TONE_PLAIN);
	case EV_SMMU_FAULT: case EV_SMMU_MULTI: case EV_SMMU_TERMINATED:
		return row_arrow(row, smmu, eng, TONE_FAULT);
	case EV_SMMU_STALL:
		return row_note(row, smmu, TONE_FAULT);
	case EV_SMMU_RESUME:
		return row_arrow(row, smmu, eng, TONE_REPAIR);
	case EV_ENG_FAULT:
		row->breaks = true;
		return row_arrow(row, eng, drv, TONE_FAULT);
	case EV_FW_COMPLETE:
		row->breaks = true;
		return away ? false : row_arrow(row, eng, LANE_LIB, TONE_PLAIN);
	default:
		return false;
	}
}

/* Everything else; false: not drawn. */
static bool make_row(struct row *row, const struct trace_record *r, bool away)
{
	enum lane drv = away ? LANE_DRV_B : LANE_DRV;
	enum lane eng = away ? LANE_ENG_B : LANE_ENG;
	enum lane smmu = away ? LANE_SMMU_B : LANE_SMMU;

	memset(row, 0, sizeof(*row));
	row->rec = *r;
	row->time_ns = r->time_ns ? r->time_ns : r->wall_ns;
	row->count = 1;
	if (row_is_packet(r))
		return packet_row(row, r, away);
	switch (r->event) {
	case EV_LIB_POST:
		return !away && row_arrow(row, LANE_APP, LANE_LIB, TONE_PLAIN);
	case EV_LIB_DOORBELL:
		/* Other doorbells tell the card what was consumed. */
		return r->xfer && !away && row_arrow(row, LANE_LIB, LANE_ENG, TONE_PLAIN);
	case EV_LIB_COMPLETE:
		return !away && row_arrow(row, LANE_LIB, LANE_APP, TONE_PLAIN);
	case EV_WIRE_SEND:
		return !wire_is_told((uint8_t)r->arg[0]) && wire_row(row, r, away);
	case EV_WIRE_LOST: case EV_WIRE_DAMAGED: case EV_WIRE_TWICE:
	case EV_WIRE_LATE:
		return row_note(row, LANE_WIRE, TONE_TROUBLE);
	case EV_DRV_IRQ_SMMU:
		return row_arrow(row, smmu, drv, TONE_FAULT);
	case EV_DRV_IRQ_FAULT:
		return row_note(row, drv, TONE_FAULT);
	case EV_DRV_WORK: case EV_DRV_RESOLVE:
		return row_note(row, drv, TONE_REPAIR);
	case EV_MM_PAGE_IN:
		return row_note(row, drv, TONE_REPAIR);
	case EV_DRV_READY:
		row->breaks = true;
		return row_arrow(row, drv, eng, TONE_REPAIR);
	case EV_DRV_RESUME:
		row->breaks = true;
		return row_arrow(row, drv, smmu, TONE_REPAIR);
	default:
		return card_row(row, r, away);
	}
}

static int record_group(const struct trace_record *r)
{
	return r->event == EV_SMMU_WALK ? EV_SMMU_HIT : r->event;
}

static bool row_same(const struct row *a, const struct row *b)
{
	if (record_group(&a->rec) != record_group(&b->rec) ||
	    a->from != b->from ||
	    a->to != b->to || a->rec.block != b->rec.block ||
	    a->rec.attempt != b->rec.attempt)
		return false;
	if (row_is_packet(&a->rec))
		return packet_same(&a->rec, &b->rec);
	/* Packets of one kind only. */
	return a->rec.event != EV_WIRE_SEND || a->rec.arg[0] == b->rec.arg[0];
}

static bool rows_merge(struct rows *rows, const struct row *row)
{
	size_t i = rows->n;
	struct row *old;

	if (row->breaks)
		return false;
	while (i--) {
		old = &rows->row[i];
		if (old->breaks)
			return false;
		if (!row_same(old, row))
			continue;
		old->count += row->count;
		old->sum += row->sum;
		old->second += row->second;
		return true;
	}
	return false;
}

static int add_row(struct rows *rows, const struct row *row)
{
	struct row *more;

	if (rows_merge(rows, row))
		return 0;
	more = realloc(rows->row, (rows->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	rows->row = more;
	rows->row[rows->n++] = *row;
	return 0;
}

/* Count what happens to the blocks that are not drawn. */
static void count_other(struct rows *rows, const struct trace_record *r)
{
	if (r->event == EV_FW_BLOCK)
		rows->others.blocks++;
	if (r->event == EV_WIRE_SEND && r->arg[0] == WOP_REFUSED)
		rows->others.refused++;
	if (r->event == EV_TX_CELLS && r->attempt)
		rows->others.resent++;
}

static int rows_choose(struct rows *rows, const struct view_trace *t)
{
	bool found = false, posted = false;
	size_t i;

	rows->first = 0;

	for (i = 0; i < t->n; i++) {
		const struct trace_record *r = &t->r[i];

		if (r->xfer != rows->xfer)
			continue;
		if (!found) {
			rows->home = r->board;
			rows->first = i;
		}
		found = true;
		if (r->event == EV_LIB_POST && !posted) {
			rows->home = r->board;
			posted = true;
		}
		if (!rows->block && r->block && is_fault(r))
			rows->block = r->block;
		if (r->block > rows->blocks)
			rows->blocks = r->block;
	}
	if (!rows->block && rows->blocks)
		rows->block = 1;
	return found ? 0 : -ENOENT;
}

/*
 * Which of the driver's ready registers belong here: those of a context and side that
 * this transfer's fault event named, on that board, and that is still open.
 */
struct open_fault {
	bool open[WIRE_NODES][2][64];
};

static bool ready_is_ours(struct open_fault *o, const struct trace_record *r,
			  uint32_t block)
{
	unsigned int ctx = r->arg[0] & 63, side = r->arg[1] & 1;
	bool was;

	if (r->board >= WIRE_NODES)
		return false;
	if (r->event == EV_ENG_FAULT && r->block == block)
		o->open[r->board][side][ctx] = true;
	if (r->event != EV_DRV_READY)
		return true;
	was = o->open[r->board][side][ctx];
	o->open[r->board][side][ctx] = false;
	return was;
}

int rows_make(struct rows *rows, const struct view_trace *t, uint32_t xfer,
	      uint32_t block)
{
	struct open_fault *open = calloc(1, sizeof(*open));
	const struct trace_record *r;
	struct reach reach;
	struct row row;
	size_t i;
	int err;

	memset(rows, 0, sizeof(*rows));
	rows->xfer = xfer ? xfer : view_first_xfer(t);
	rows->block = block;
	err = open ? rows_choose(rows, t) : -ENOMEM;
	find_reach(&reach, t, rows->xfer, rows->block);
	for (i = rows->first; i < t->n && !err; i++) {
		r = &t->r[i];
		if (!record_belongs(r, rows->xfer, &reach) ||
		    !ready_is_ours(open, r, rows->block))
			continue;
		if (r->block && r->block != rows->block)
			count_other(rows, r);
		else if (make_row(&row, r, r->board != rows->home))
			err = add_row(rows, &row);
	}
	free(open);
	if (err)
		rows_free(rows);
	return err;
}

void rows_free(struct rows *rows)
{
	free(rows->row);
	rows->row = NULL;
	rows->n = 0;
}
