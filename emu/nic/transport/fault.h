/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - what packet units miss in the card's own table: records for the driver, and
 * the tokens by which it answers.
 *
 * At most four reports of a queue pair are open at a time: requester or responder, reading
 * or writing. What is missed beside an open one is not reported; whoever misses it tries
 * again later, and by then the answer may have come. A token is that place and a serial
 * number, so that an answer that comes too late changes nothing.
 *
 * Beside these there is a report for each slot of NetVM's system buffer (nv.h).
 *
 * Records lie in a ring in memory, as the firmware's events do. What finds it full waits in
 * its place, and nothing is lost. No clock: times come in as parameters.
 */
#ifndef FL_FAULT_H
#define FL_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "faultline/entries.h"

struct trace_at;

#define NIC_FAULT_NEVER	UINT64_MAX

struct nic_fault_unit;

struct nic_fault_env {
	void *ctx;
	/* As in fw.h. */
	int (*mem_write)(void *ctx, uint64_t pa, const void *buf, uint32_t len);
	int (*mem_publish)(void *ctx, uint64_t pa, uint32_t value);
	/* The ring is not empty, or is; cause: the event of the report that came first, or 0. */
	void (*line)(void *ctx, bool level, uint64_t cause);
	/* Call nic_fault_step() at when_ns; takes the place of the alarm before. */
	void (*alarm)(void *ctx, uint64_t when_ns);
	/* The driver has answered: code 0, or an FL_ST_*. */
	void (*resume)(void *ctx, uint16_t qp, const struct fl_fault_rec *rec, uint8_t code,
		       uint64_t now_ns);
	uint64_t (*emit)(void *ctx, unsigned int ev, const struct trace_at *at,
			 uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
};

struct nic_fault_config {
	uint64_t trigger_ns, trigger_page_ns;	/* from a miss to its record */
	uint64_t resume_ns;		/* from an answer until the unit goes on */
	uint64_t spread_ns;		/* between two of these, at least */
};

struct nic_fault_stats {
	uint64_t reported, suppressed, resumed, refused, stale;
};

/* NULL: no memory. */
struct nic_fault_unit *nic_fault_create(const struct nic_fault_config *cfg,
				const struct nic_fault_env *env);
void nic_fault_destroy(struct nic_fault_unit *f);
/* The stats and serial numbers stay. */
void nic_fault_reset(struct nic_fault_unit *f);

/*
 * A page is missing for queue pair `qp` (its place). All members of rec but token and
 * phase are filled in. extra_ns: later than usual. false: a report like this is open, and
 * this one is not made.
 */
bool nic_fault_report(struct nic_fault_unit *f, uint16_t qp, const struct fl_fault_rec *rec,
		  uint64_t cause, uint64_t extra_ns, uint64_t now_ns);
/*
 * Data of queue pair `qp` lie in a slot of the system buffer: a record DIVERT, whose token is
 * the slot. The slot is one that no report is about.
 */
void nic_fault_divert(struct nic_fault_unit *f, uint32_t slot, const struct fl_fault_rec *rec,
		      uint64_t cause, uint64_t now_ns);
/* The driver has answered that (COPIED): the report is over. */
void nic_fault_copied(struct nic_fault_unit *f, uint32_t slot, uint64_t now_ns);
/* There is another system buffer, or none: of what lay in the old one nobody hears. */
void nic_fault_slots_gone(struct nic_fault_unit *f);
/* The queue pair has ended: its tokens are over. What lies in a slot stays until COPIED. */
void nic_fault_close(struct nic_fault_unit *f, uint16_t qp);
void nic_fault_step(struct nic_fault_unit *f, uint64_t now_ns);

/* Registers FQ_* and RESUME of the page XP. 0 or -EINVAL. */
uint64_t nic_fault_base(const struct nic_fault_unit *f);
uint32_t nic_fault_size(const struct nic_fault_unit *f);
uint32_t nic_fault_cons(const struct nic_fault_unit *f);
int nic_fault_base_set(struct nic_fault_unit *f, uint64_t base);
int nic_fault_size_set(struct nic_fault_unit *f, uint32_t size, uint64_t now_ns);
int nic_fault_cons_set(struct nic_fault_unit *f, uint32_t cons, uint64_t now_ns);
int nic_fault_answer(struct nic_fault_unit *f, uint32_t value, uint64_t now_ns);

void nic_fault_stats(const struct nic_fault_unit *f, struct nic_fault_stats *st);
/* No report is open. */
bool nic_fault_idle(const struct nic_fault_unit *f);
/* NULL, or a sentence that says what does not add up. */
const char *nic_fault_check(const struct nic_fault_unit *f);

#endif
