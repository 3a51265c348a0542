// SPDX-License-Identifier: BSD-2-Clause
/* policy.c - verdicts by row. */
#include <string.h>

#include "faultline/system.h"
#include "nic/policy/policy.h"

/* As mlx5 prefetches at most: 4 MB with the page itself (sources: rc-times). */
#define AFTER_MAX	1023u

void policy_reset(struct policy *p)
{
	memset(p, 0, sizeof(*p));
}

void policy_set(struct policy *p, uint32_t slot, uint32_t row, uint8_t quirks,
		uint16_t bits)
{
	p->row[slot] = row;
	p->quirks[slot] = quirks;
	p->bits[slot] = bits;
}

static uint32_t row_field(uint32_t row, uint32_t mask)
{
	return (row & mask) / (mask & -mask);
}

/*
 * The driver has checked the row when it was generated. What this side of a connection
 * cannot do all the same ends it.
 */
static uint8_t own_verdict(uint32_t verdict, bool write)
{
	switch (verdict) {
	case FL_VERDICT_PARK:
		return write ? RC_FAIL : RC_PARK;
	case FL_VERDICT_REWIND:
		return write ? RC_REWIND : RC_FAIL;
	case FL_VERDICT_DROP:
		return write ? RC_DROP : RC_FAIL;
	case FL_VERDICT_SLEEP:
		return RC_SLEEP;
	default:
		return RC_FAIL;
	}
}

static uint8_t peers_verdict(uint32_t verdict)
{
	switch (verdict) {
	case FL_VERDICT_RNR:
		return RC_RNR;
	case FL_VERDICT_DROP:
		return RC_DROP;
	case FL_VERDICT_SLEEP:
		return RC_SLEEP;
	case FL_VERDICT_DIVERT:
		return RC_DIVERT;
	default:
		return RC_FAIL;
	}
}

/*
 * Of datagrams, whose row may be one of reliable connections: what is sent waits, and what came
 * is lost unless there is a place for it.
 */
static uint8_t datagram_verdict(const struct rc_miss *m, uint32_t rw)
{
	if (m->side == RC_REQUESTER)
		return m->write ? RC_FAIL : RC_PARK;
	if (!m->write)
		return RC_FAIL;
	return rw == FL_VERDICT_DIVERT ? RC_DIVERT : RC_DROP;
}

bool policy_diverts(const struct policy *p, uint32_t slot)
{
	return p->row[slot] && row_field(p->row[slot], FL_ROW_RW) == FL_VERDICT_DIVERT;
}

struct rc_judged policy_judge(const struct policy *p, uint32_t slot,
			      const struct rc_miss *m, uint8_t rnr_code)
{
	struct rc_judged j = { .verdict = RC_FAIL, .rnr_code = rnr_code };
	uint32_t row = p->row[slot];

	if (!row)
		return j;
	if (m->datagram)
		j.verdict = datagram_verdict(m, row_field(row, FL_ROW_RW));
	else if (m->side == RC_REQUESTER)
		j.verdict = own_verdict(row_field(row, m->write ? FL_ROW_IW : FL_ROW_IR),
					m->write);
	else
		j.verdict = peers_verdict(row_field(row, m->write ? FL_ROW_RW : FL_ROW_RR));
	return j;
}

enum nv_verdict policy_nv(const struct policy *p, uint32_t slot, enum nv_side side)
{
	uint32_t row = p->row[slot];

	if (!row)
		return NV_FAIL;
	if (side == NV_SENDER)
		return row_field(row, FL_ROW_IR) == FL_VERDICT_PARK ? NV_PARK : NV_FAIL;
	switch (row_field(row, FL_ROW_RW)) {
	case FL_VERDICT_REDIRECT:
		return NV_REDIRECT;
	case FL_VERDICT_DROP:
		return NV_SILENCE;
	default:
		return NV_FAIL;
	}
}

void policy_record(const struct policy *p, uint32_t slot, const struct rc_miss *m,
		   struct fl_fault_rec *rec)
{
	uint64_t end = m->va + m->len, after;

	rec->last = 1;
	if (row_field(p->row[slot], FL_ROW_REPORT) != FL_REPORT_PAGES) {
		rec->kind = m->side == RC_REQUESTER ? FL_FAULT_WQE : FL_FAULT_RDMA;
		return;
	}
	rec->kind = FL_FAULT_MEMORY;
	/* Pages that the rest of the message touches, beyond that of its last byte here. */
	after = m->left ? (end + m->left - 1) / 4096 - (end - 1) / 4096 : 0;
	rec->after = after < AFTER_MAX ? (uint32_t)after : AFTER_MAX;
}
