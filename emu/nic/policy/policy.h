/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.h - what becomes of a page that a packet unit misses: the row of the process says
 * (system.def), and for each domain slot the card holds that part of its row.
 */
#ifndef FL_POLICY_H
#define FL_POLICY_H

#include "faultline/entries.h"
#include "nic/fw.h"
#include "nic/transport/rc.h"

/* Verdicts of a slot: of what its own requests read and write here, and of its peers'. */
struct policy_row {
	uint8_t ir, iw, rr, rw;	/* enum rc_verdict */
	bool pages;		/* its records say how much the card would like around a page */
};

struct policy {
	struct policy_row row[FW_SLOTS];
};

/* As npf has it: who has said nothing gets this. */
void policy_reset(struct policy *p);
void policy_set(struct policy *p, uint8_t slot, const struct policy_row *row);
struct rc_judged policy_judge(const struct policy *p, uint8_t slot,
			      const struct rc_miss *m, uint8_t rnr_code);
/* Kind of the record, and what it asks for. */
void policy_record(const struct policy *p, uint8_t slot, const struct rc_miss *m,
		   struct fl_fault_rec *rec);

#endif
