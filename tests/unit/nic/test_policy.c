// SPDX-License-Identifier: BSD-2-Clause
/* What a missing page becomes, by the row that the driver has told the card of. */
#include <stddef.h>

#include "faultline/system.h"
#include "nic/policy/policy.h"

#include "tests/harness.h"

#define VERDICTS	11

/* Of a row: each cell has its own place of four bits. */
static uint32_t row_of(uint32_t ir, uint32_t iw, uint32_t rr, uint32_t rw, uint32_t report)
{
	return ir | iw << 4 | rr << 8 | rw << 12 | report << 16;
}

static uint8_t policy_verdict(const struct policy *p, uint32_t slot, enum rc_side side, bool write)
{
	const struct rc_miss m = { .side = side, .write = write };
	struct rc_judged j = policy_judge(p, slot, &m, 17);

	EXPECT_EQ(j.rnr_code, 17);
	return j.verdict;
}

static uint8_t datagram_verdict(const struct policy *p, enum rc_side side, bool write)
{
	const struct rc_miss m = { .side = side, .write = write, .datagram = true };

	return policy_judge(p, 3, &m, 17).verdict;
}

TEST("each verdict stands in its own place; what makes no sense there ends the connection")
{
	static const struct {
		uint8_t ir, iw, peers;
	} want[VERDICTS] = {
		[FL_VERDICT_PARK] = { RC_PARK, RC_FAIL, RC_FAIL },
		[FL_VERDICT_HOLD] = { RC_FAIL, RC_FAIL, RC_FAIL },
		[FL_VERDICT_REFUSE] = { RC_FAIL, RC_FAIL, RC_FAIL },
		[FL_VERDICT_WAIT] = { RC_FAIL, RC_FAIL, RC_FAIL },
		[FL_VERDICT_DROP] = { RC_FAIL, RC_DROP, RC_DROP },
		[FL_VERDICT_ABORT] = { RC_FAIL, RC_FAIL, RC_FAIL },
		[FL_VERDICT_FAIL] = { RC_FAIL, RC_FAIL, RC_FAIL },
		[FL_VERDICT_SINK] = { RC_FAIL, RC_FAIL, RC_FAIL },
		[FL_VERDICT_RNR] = { RC_FAIL, RC_FAIL, RC_RNR },
		[FL_VERDICT_REWIND] = { RC_FAIL, RC_REWIND, RC_FAIL },
		[FL_VERDICT_SLEEP] = { RC_SLEEP, RC_SLEEP, RC_SLEEP },
	};
	const uint32_t other = FL_VERDICT_FAIL;
	struct policy p;
	uint32_t v;

	policy_reset(&p);
	for (v = 0; v < VERDICTS; v++) {
		STEP("verdict %u", v);
		policy_set(&p, 3, row_of(v, other, other, other, 0), 0, 0);
		EXPECT_EQ(policy_verdict(&p, 3, RC_REQUESTER, false), want[v].ir);
		EXPECT_EQ(policy_verdict(&p, 3, RC_REQUESTER, true), RC_FAIL);
		policy_set(&p, 3, row_of(other, v, other, other, 0), 0, 0);
		EXPECT_EQ(policy_verdict(&p, 3, RC_REQUESTER, true), want[v].iw);
		EXPECT_EQ(policy_verdict(&p, 3, RC_REQUESTER, false), RC_FAIL);
		policy_set(&p, 3, row_of(other, other, v, other, 0), 0, 0);
		EXPECT_EQ(policy_verdict(&p, 3, RC_RESPONDER, false), want[v].peers);
		EXPECT_EQ(policy_verdict(&p, 3, RC_RESPONDER, true), RC_FAIL);
		policy_set(&p, 3, row_of(other, other, other, v, 0), 0, 0);
		EXPECT_EQ(policy_verdict(&p, 3, RC_RESPONDER, true), want[v].peers);
		EXPECT_EQ(policy_verdict(&p, 3, RC_RESPONDER, false), RC_FAIL);
	}
}

TEST("a datagram waits where it is sent, and is lost or diverted where it comes, in every row")
{
	const uint32_t other = FL_VERDICT_SLEEP;
	struct policy p;
	uint32_t v;

	policy_reset(&p);
	EXPECT_EQ(datagram_verdict(&p, RC_REQUESTER, false), RC_FAIL);
	EXPECT_EQ(datagram_verdict(&p, RC_RESPONDER, true), RC_FAIL);
	for (v = 0; v <= FL_VERDICT_DIVERT; v++) {
		STEP("verdict %u", v);
		policy_set(&p, 3, row_of(v, v, v, other, 0), 0, 0);
		EXPECT_EQ(datagram_verdict(&p, RC_REQUESTER, false), RC_PARK);
		EXPECT_EQ(datagram_verdict(&p, RC_REQUESTER, true), RC_FAIL);
		policy_set(&p, 3, row_of(other, other, other, v, 0), 0, 0);
		EXPECT_EQ(datagram_verdict(&p, RC_RESPONDER, true),
			  v == FL_VERDICT_DIVERT ? RC_DIVERT : RC_DROP);
		EXPECT_EQ(datagram_verdict(&p, RC_RESPONDER, false), RC_FAIL);
	}
}

TEST("a slot that was told of no row has its connections end at a miss, whatever others have")
{
	struct policy p;

	policy_reset(&p);
	policy_set(&p, 3, row_of(FL_VERDICT_PARK, FL_VERDICT_REWIND, FL_VERDICT_RNR,
				 FL_VERDICT_RNR, FL_REPORT_FOUR), 0, 0);
	EXPECT_EQ(policy_verdict(&p, 3, RC_REQUESTER, false), RC_PARK);
	EXPECT_EQ(policy_verdict(&p, 4, RC_REQUESTER, false), RC_FAIL);
	EXPECT_EQ(policy_verdict(&p, 2, RC_RESPONDER, true), RC_FAIL);
	policy_set(&p, 3, 0, 0, 0);
	EXPECT_EQ(policy_verdict(&p, 3, RC_REQUESTER, false), RC_FAIL);
}

/* Pages behind that of the last byte that is missing now, counted one by one. */
static uint32_t pages_after(const struct rc_miss *m)
{
	uint64_t last = (m->va + m->len - 1) / 4096, va;
	uint32_t n = 0;

	for (va = m->va + m->len; va < m->va + m->len + m->left; va++)
		if (va / 4096 != last) {
			last = va / 4096;
			n++;
		}
	return n < 1023 ? n : 1023;
}

TEST("a record is of the kind that the row says, and asks for the rest of the message")
{
	static const struct rc_miss misses[] = {
		{ .va = 0x5000, .len = 100 }, { .va = 0x5FFF, .len = 1, .left = 1 },
		{ .va = 0x5000, .len = 4096, .left = 4096 },
		{ .va = 0x5001, .len = 4095, .left = 4097 },
		{ .va = 0x5FF0, .len = 1024, .left = 100000 },
		{ .va = 0x5000, .len = 1024, .left = 5 << 20 },
		{ .side = RC_RESPONDER, .va = 0x5000, .len = 1024, .left = 3072 },
	};
	struct fl_fault_rec rec;
	struct policy p;
	uint32_t report;
	size_t i;

	policy_reset(&p);
	for (report = FL_REPORT_FOUR; report <= FL_REPORT_PAGES; report++)
		for (i = 0; i < sizeof(misses) / sizeof(misses[0]); i++) {
			bool pages = report == FL_REPORT_PAGES;

			STEP("report %u, miss %u", report, (unsigned int)i);
			policy_set(&p, 0, row_of(FL_VERDICT_PARK, FL_VERDICT_REWIND,
						 FL_VERDICT_RNR, FL_VERDICT_RNR, report),
				   0, 0);
			rec = (struct fl_fault_rec){ 0 };
			policy_record(&p, 0, &misses[i], &rec);
			EXPECT_EQ(rec.kind, pages ? FL_FAULT_MEMORY :
				  misses[i].side ? FL_FAULT_RDMA : FL_FAULT_WQE);
			EXPECT_EQ(rec.last, 1);
			EXPECT_EQ(rec.before, 0);
			EXPECT_EQ(rec.after, pages ? pages_after(&misses[i]) : 0);
		}
}
