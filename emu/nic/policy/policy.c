// SPDX-License-Identifier: BSD-2-Clause
/* policy.c - verdicts by row. */
#include "nic/policy/policy.h"

/* As mlx5 prefetches at most: 4 MB behind a page (npf-netvm.md 2.4). */
#define AFTER_MAX	1023u

void policy_reset(struct policy *p)
{
	static const struct policy_row npf = {
		.ir = RC_PARK, .iw = RC_REWIND, .rr = RC_RNR, .rw = RC_RNR,
	};
	unsigned int i;

	for (i = 0; i < FW_SLOTS; i++)
		p->row[i] = npf;
}

void policy_set(struct policy *p, uint8_t slot, const struct policy_row *row)
{
	p->row[slot % FW_SLOTS] = *row;
}

struct rc_judged policy_judge(const struct policy *p, uint8_t slot,
			      const struct rc_miss *m, uint8_t rnr_code)
{
	const struct policy_row *row = &p->row[slot % FW_SLOTS];
	uint8_t own = m->write ? row->iw : row->ir;
	uint8_t peers = m->write ? row->rw : row->rr;

	return (struct rc_judged){
		.verdict = m->side == RC_REQUESTER ? own : peers,
		.rnr_code = rnr_code,
	};
}

void policy_record(const struct policy *p, uint8_t slot, const struct rc_miss *m,
		   struct fl_fault_rec *rec)
{
	uint64_t end = m->va + m->len, after;

	rec->last = 1;
	if (!p->row[slot % FW_SLOTS].pages) {
		rec->kind = m->side == RC_REQUESTER ? FL_FAULT_WQE : FL_FAULT_RDMA;
		return;
	}
	rec->kind = FL_FAULT_MEMORY;
	/* Pages that the rest of the message touches, beyond that of its last byte here. */
	after = m->left ? (end + m->left - 1) / 4096 - (end - 1) / 4096 : 0;
	rec->after = after < AFTER_MAX ? (uint32_t)after : AFTER_MAX;
}
