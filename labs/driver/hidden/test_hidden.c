// SPDX-License-Identifier: BSD-2-Clause
/* Not in the handout: whole transfers, evictions in between, leaving in between. */
#include "labs/driver/tests/bench.h"

#define PAGES	4u
#define TURNS	400u
#define NOTES	32u	/* taken at a time */

/* The engine, for one block that a peer writes: until all its pages go through. */
static unsigned int hidden_land(unsigned int first, unsigned int *serial,
				bool evict)
{
	unsigned int faults = 0, page, at;
	struct report r = a_report;
	struct subject_msg m;

	r.va = VA(first, 0);
	for (page = 0; page < PAGES; page++) {
		m = (struct subject_msg){ .op = LAB_ACCESS,
			.arg = { STREAM, VA(first + page, 0), 1, 1 } };
		judge_ask(&m);
		if (m.arg[0] == IS_OK)
			continue;
		judge_equal("the access is refused", m.arg[0], IS_REFUSED);
		r.map = 1u << page;
		r.serial = ++*serial & 0xff;
		if (evict && judge_random() % 3 == 0) {
			at = first + judge_random() % PAGES;
			WHEN(LAB_AT_READY, r.index, "a page is evicted again",
			     LAB_PAGES_ARE, 0, at, 1, LAB_ABSENT);
			WHEN(LAB_AT_READY, r.index, "the TLB is told",
			     LAB_SMMU_WRITE, SMMU_CB_BASE(SLOT) +
			     SMMU_CB_TLBIALL, 4, 0);
		}
		bench_irq(LAB_LINE_SMMU, 1);
		bench_serve(&r);
		judge_at_least("tries left", TURNS, ++faults);
		page = ~0u;	/* sent again, from its beginning */
	}
	return faults;
}

JUDGE(whole_write, "blocks land, one page or all of it at a time")
{
	unsigned int serial = 0;

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE);
	judge_equal("faults of a block, a page each",
		    hidden_land(FIRST, &serial, false), PAGES);
	bench_open(0, STREAM, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	judge_equal("faults, a block each", hidden_land(FIRST, &serial, false),
		    1);
	judge_did("what was only read before: the TLB has it as read-only");
	bench_pages(0, FIRST + 8, PAGES, LAB_CLEAN);
	bench_access(STREAM, VA(FIRST + 8, 0), false, 1, IS_OK);
	judge_equal("faults, a clean block", hidden_land(FIRST + 8, &serial, false), 1);
}

JUDGE(evicted_again, "pages that leave again and again: it lands all the same")
{
	unsigned int serial = 0, faults = 0, i;

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	for (i = 0; i < 20; i++) {
		bench_pages(0, FIRST, PAGES, LAB_ABSENT);
		bench_smmu(SMMU_CB_BASE(SLOT) + SMMU_CB_TLBIALL, 4, 0);
		faults += hidden_land(FIRST, &serial, true);
	}
	judge_at_least("faults", faults, 20);
	bench_counts(0, LAB_FAULTS, faults);
	bench_counts(0, LAB_FAILED, 0);
}

/* What waits for each context: the newest report. */
struct model {
	struct report r;
	bool waiting;
	unsigned int owner;
};

static void expect_answer(struct model m[16], const uint64_t *n,
			  const bool gone[2])
{
	struct model *w = &m[n[1] % 16];
	bool repaired = w->owner < 2 && !gone[w->owner];

	judge_equal("a report of this context waits", w->waiting, 1);
	judge_equal("its side", n[2], w->r.side);
	judge_equal("its serial", n[3], w->r.serial);
	judge_equal("its code", n[4], repaired ? 0 : w->r.side ?
		    FL_ST_REMOTE_FAULT : FL_ST_LOCAL_FAULT);
	w->waiting = false;
}

JUDGE(random_reports, "reports of two processes, one of which leaves")
{
	static struct subject_msg note[NOTES];
	static struct model m[16];
	bool gone[2] = { false, false };
	unsigned int i, k, answers = 0;

	bench_new();
	bench_open(0, STREAM, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_open(1, STREAM + 3, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE);
	for (i = 0; i < 600; i++) {
		uint64_t x = judge_random();
		struct report r = a_report;

		r.index = x % 16;
		r.side = r.index & 1;
		r.serial = i & 0xff;
		r.write = x >> 8 & 1;
		k = x >> 16 & 1;
		r.stream = STREAM + 3 * k;
		r.va = VA(FIRST + (x >> 24) % 100, x >> 32 & 0xff8);
		if (!gone[k]) {
			bench_report(&r);
			bench_irq(LAB_LINE_FAULT, 1);
			m[r.index] = (struct model){ r, true, k };
		}
		if (i == 300) {
			bench_close(1);
			gone[1] = true;
		}
		if (x >> 40 & 3)
			continue;
		for (k = 0, answers = 0; k < 16; k++)
			answers += m[k].waiting;
		bench_work(answers);
		do {
			bench_take(note, NOTES);
			for (k = 0; k < NOTES; k++)
				if (note[k].arg[0] == LAB_READY)
					expect_answer(m, note[k].arg, gone);
		} while (note[NOTES - 1].arg[0] != LAB_NOTHING);
		for (k = 0; k < 16; k++)
			judge_equal("an answer is missing", m[k].waiting, 0);
	}
}

JUDGE(random_stalls, "held accesses, some without a page, some with company")
{
	unsigned int i, ended = 0;

	bench_usual(FL_SYSTEM_STALL, FL_IOC_RESOLVE_PAGE);
	for (i = 1; i < 300; i++) {
		uint64_t x = judge_random();
		unsigned int page = FIRST + x % COUNT, bad = x >> 8 & 1;
		bool write = x >> 16 & 1;

		bench_pages(0, page, 1, LAB_ABSENT);
		bench_smmu(SMMU_CB_BASE(SLOT) + SMMU_CB_TLBIALL, 4, 0);
		bench_says(0, page, bad ? SAYS_SIGSEGV : 0);
		bench_access(STREAM, VA(page, 0), write, i, IS_HELD);
		bench_irq(LAB_LINE_SMMU, 1);
		bench_latch(SLOT, SMMU_CB_FSR_TF | SMMU_CB_FSR_SS,
			    VA(page, 0), write);
		if (x >> 24 & 1)
			WHEN(LAB_AT_RESUME, SLOT, "MULTI", LAB_SMMU_WRITE,
			     SMMU_CB_BASE(SLOT) + SMMU_CB_FSRRESTORE, 4,
			     SMMU_CB_FSR_MULTI);
		bench_work(1);
		bench_asked(0, page, 1, write);
		if (x >> 24 & 1)
			bench_turned_away();
		bench_resumed(i, bad);
		bench_nothing();
		ended += bad;
	}
	bench_counts(0, LAB_STALLS, i - 1);
	bench_counts(0, LAB_FAILED, ended);
	bench_counts(0, LAB_FAULTS, i - 1);
}
