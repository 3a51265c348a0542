// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of a reliable connection from end to end: driver, card's own table, packets, without
 * the library. The oracle is the bytes at both ends, and that no access of the card met a
 * frame that had gone (test_driver_rig.h counts STALE_ACCESS).
 *
 * variants: tsan
 */
#include "faultline/system_rows.h"
#include "test_driver_rig.h"

#define LEN	(64u * 1024)
#define LEN_PAGES (LEN / RIG_PAGE)

static uint32_t rc_system;

static void rc_pair(struct rig *r, uint32_t resolve)
{
	rig_qp_flags = FL_QP_RC;
	rig_pair(r, rc_system, resolve, 0);
}

static void rc_drop(struct rig_node *n)
{
	EXPECT_EQ(host_madvise(n->process, n->buffer, RIG_BYTES, HOST_DONTNEED), 0);
}

static void rc_cold(struct rig *r)
{
	struct rig_node *a = &r->n[0], *b = &r->n[1];
	struct fl_counters ca, cb;

	rc_pair(r, FL_IOC_RESOLVE_TRANSFER);
	rig_fill(a, LEN, 1);
	STEP("a WRITE, nothing of it in either card's table");
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, LEN);
	ca = rig_counters(a);
	cb = rig_counters(b);
	EXPECT_GE(ca.faults, 1);
	EXPECT_GE(cb.faults, 1);
	EXPECT_EQ(ca.loaded, LEN_PAGES);
	EXPECT_EQ(cb.loaded, LEN_PAGES);
	EXPECT_EQ(cb.pages_in, LEN_PAGES);
	STEP("once more: nobody misses anything");
	rig_fill(a, LEN, 2);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(rig_counters(a).faults, ca.faults);
	EXPECT_EQ(rig_counters(b).faults, cb.faults);
	STEP("a READ into nothing");
	rig_fill(b, LEN, 3);
	rc_drop(a);
	rig_post(r, FL_OP_READ, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, LEN);
	STEP("and of nothing");
	rc_drop(b);
	rig_post(r, FL_OP_READ, 0, 0, LEN);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(rig_counters(a).failed, 0);
	EXPECT_EQ(rig_counters(b).failed, 0);
}

static void rc_row(uint32_t system)
{
	rc_system = system;
	rig_run(rc_cold);
}

TEST("npf: a cold WRITE, a warm one, READs into and of nothing")
{
	rc_row(FL_SYSTEM_NPF);
}

TEST("odp2: the same")
{
	rc_row(FL_SYSTEM_ODP2);
}

TEST("rxe: the same")
{
	rc_row(FL_SYSTEM_RXE);
}

TEST("droprc: the same")
{
	rc_row(FL_SYSTEM_DROPRC);
}
