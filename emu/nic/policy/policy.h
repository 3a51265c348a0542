/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy.h - what becomes of a page that a packet unit misses: the row of the process says
 * (system.def), and the driver has told the card that part of it (SLOT_ROW).
 */
#ifndef FL_POLICY_H
#define FL_POLICY_H

#include "faultline/entries.h"
#include "nic/fw.h"
#include "nic/transport/nv.h"
#include "nic/transport/rc.h"

struct policy {
	uint32_t row[FW_SLOTS];		/* FL_ROW_* */
	uint8_t quirks[FW_SLOTS];	/* FL_QUIRK_* */
	uint16_t bits[FW_SLOTS];	/* of a queue pair in the backup ring; 0: BAK_BITS */
};

/* Nobody has said anything: a miss ends the connection, since no page will ever come. */
void policy_reset(struct policy *p);
/* 0: as after policy_reset(). */
void policy_set(struct policy *p, uint32_t slot, uint32_t row, uint8_t quirks,
		uint16_t bits);
/* Does what finds no receive posted go into the backup ring? */
bool policy_diverts(const struct policy *p, uint32_t slot);
struct rc_judged policy_judge(const struct policy *p, uint32_t slot,
			      const struct rc_miss *m, uint8_t rnr_code);
/* The same of fragments: of what is sent, or of what came. */
enum nv_verdict policy_nv(const struct policy *p, uint32_t slot, enum nv_side side);
/* Kind of the record, and what it asks for. */
void policy_record(const struct policy *p, uint32_t slot, const struct rc_miss *m,
		   struct fl_fault_rec *rec);

#endif
