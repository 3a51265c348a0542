// SPDX-License-Identifier: BSD-2-Clause
/*
 * Row pulp: tables of the driver's own, where a page is pinned and entered at its first
 * miss, and stays.
 *
 * variants: tsan
 */
#include "rig/tables.h"

#define PAGES	(RIG_BYTES / RIG_PAGE)

static void pulp_write(struct rig *r, uint32_t page, uint32_t pages, int status)
{
	rig_post(r, FL_OP_WRITE, page * RIG_PAGE, page * RIG_PAGE,
		 pages * RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), status);
}

static void pulp_begin(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_PULP, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], RIG_BYTES, 1);
}

static void pulp_grows(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t free = tables_stats(b).frames_free;
	struct fl_counters c;
	uint32_t i;

	pulp_begin(r);
	EXPECT(tables_own(b));
	EXPECT_EQ(tables_count(b), 0);
	EXPECT_EQ(tables_stats(b).frames_pinned, 0);
	STEP("each page is missed once, pinned and entered");
	pulp_write(r, 0, 8, FL_ST_OK);
	rig_same(r, 8 * RIG_PAGE);
	c = rig_counters(b);
	EXPECT_EQ(c.faults, 8);
	EXPECT_EQ(c.stalls, 8);
	EXPECT_EQ(c.pages_in, 8);
	EXPECT_EQ(c.pinned_pages, 8);
	EXPECT_EQ(tables_stats(b).frames_pinned, 8);
	EXPECT_EQ(tables_count(b), 8);
	EXPECT_EQ(rig_counters(&r->n[0]).pinned_pages, 8);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(tables_card(b, i, true),
			  i < 8 ? tables_word(b, i) : ~0ull);
	STEP("warm: no fault, nothing new");
	pulp_write(r, 0, 8, FL_ST_OK);
	EXPECT_EQ(rig_counters(b).faults, 8);
	STEP("only what is new");
	pulp_write(r, 4, 8, FL_ST_OK);
	EXPECT_EQ(rig_counters(b).faults, 12);
	EXPECT_EQ(tables_count(b), 12);
	STEP("the region goes, and they stay; another one finds them");
	tables_dereg(b, b->key);
	EXPECT_EQ(tables_stats(b).frames_pinned, 12);
	b->key = tables_reg(b, 0, PAGES, true);
	pulp_write(r, 0, 12, FL_ST_OK);
	EXPECT_EQ(rig_counters(b).faults, 12);
	STEP("the process leaves the card: all of them go");
	rig_close(b);
	EXPECT_EQ(tables_stats(b).frames_pinned, 0);
	/* What it has touched itself it keeps. */
	EXPECT_GE(tables_stats(b).frames_free, free - PAGES);
}

TEST("a page is missed once; pinned pages only grow, until the process leaves the card")
{
	rig_run(pulp_grows);
}

static void pulp_remapped(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t orphans;

	pulp_begin(r);
	pulp_write(r, 0, 4, FL_ST_OK);
	EXPECT_EQ(rig_counters(b).faults, 4);
	STEP("other memory at the same place: the card has the old frames for good");
	tables_remap(b, 0, PAGES);
	pulp_write(r, 0, 4, FL_ST_OK);
	EXPECT_EQ(rig_counters(b).faults, 4);
	orphans = trace_count(r->trace, EV_ORPHAN_ACCESS);
	EXPECT_GE(orphans, 1);
	EXPECT_EQ(tables_word(b, 0), 0);
	STEP("a new region does not help: that is what the row cannot do");
	tables_dereg(b, b->key);
	b->key = tables_reg(b, 0, PAGES, true);
	pulp_write(r, 0, 4, FL_ST_OK);
	EXPECT_GE(trace_count(r->trace, EV_ORPHAN_ACCESS), orphans + 1);
	EXPECT_EQ(tables_word(b, 0), 0);
	EXPECT(!host_check(b->kernel, true));
}

TEST("memory that is replaced is lost to the card, also for a new region")
{
	rig_run(pulp_remapped);
}

static void pulp_protect(struct rig_node *n, uint32_t pages, int prot)
{
	EXPECT_EQ(host_mprotect(n->process, n->buffer, pages * RIG_PAGE, prot),
		  0);
}

static void pulp_rights(struct rig *r)
{
	struct rig_node *a = &r->n[0];
	uint64_t pinned;

	pulp_begin(r);
	STEP("read while it could not be written: entered read-only");
	pulp_protect(a, 4, HOST_READ);
	pulp_write(r, 0, 4, FL_ST_OK);
	EXPECT_EQ(tables_card(a, 0, true), ~0ull);
	EXPECT_EQ(tables_card(a, 0, false), tables_word(a, 0));
	pinned = tables_stats(a).frames_pinned;
	STEP("written by the card when it may be: the same pin, with the right");
	pulp_protect(a, 4, HOST_READ | HOST_WRITE);
	rig_post(r, FL_OP_READ, 0, 0, 4 * RIG_PAGE);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	EXPECT_EQ(tables_card(a, 0, true), tables_word(a, 0));
	EXPECT_EQ(tables_stats(a).frames_pinned, pinned);
	EXPECT_EQ(rig_counters(a).pinned_pages, 4);
	STEP("a right that the process takes away the card keeps");
	pulp_protect(a, 4, HOST_READ);
	rig_post(r, FL_OP_READ, 0, 0, 4 * RIG_PAGE);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	EXPECT_EQ(tables_card(a, 0, true), tables_word(a, 0));
}

TEST("a page that was entered to be read becomes one to be written, with one pin")
{
	rig_run(pulp_rights);
}

static void pulp_right_at_once(struct rig *r)
{
	struct rig_node *a = &r->n[0];
	uint64_t faults;

	pulp_begin(r);
	pulp_protect(a, 4, HOST_READ);
	pulp_write(r, 0, 4, FL_ST_OK);
	pulp_protect(a, 4, HOST_READ | HOST_WRITE);
	faults = rig_counters(a).faults;
	STEP("pinned to be written: what the TLB knows of reading is in nobody's way");
	rig_reg_mr(a, a->buffer, 4 * RIG_PAGE, RIG_ALL, FL_MR_PINNED, 0);
	rig_post(r, FL_OP_READ, 0, 0, 4 * RIG_PAGE);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	EXPECT_EQ(rig_counters(a).faults, faults);
	EXPECT_EQ(rig_counters(a).pinned_pages, 4);
}

TEST("a right that comes with a pinned region holds at once")
{
	rig_run(pulp_right_at_once);
}

/* The mapping of a page that was entered read-only is another one when it is written. */
static void pulp_other_frame(struct rig *r)
{
	struct rig_node *a = &r->n[0];
	uint64_t before;

	pulp_begin(r);
	pulp_protect(a, 1, HOST_READ);
	pulp_write(r, 0, 1, FL_ST_OK);
	before = tables_walk(a, a->buffer, false);
	EXPECT(before);
	tables_remap(a, 0, 1);
	rig_post(r, FL_OP_READ, 0, 0, RIG_PAGE);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	EXPECT_NE(tables_walk(a, a->buffer, true), before);
	EXPECT_EQ(tables_card(a, 0, true), tables_word(a, 0));
	EXPECT_EQ(tables_stats(a).frames_pinned, 1);
	EXPECT_EQ(rig_counters(a).pinned_pages, 1);
	EXPECT(!host_check(a->kernel, true));
}

TEST("a page that was read-only and has been replaced is entered anew to be written")
{
	rig_run(pulp_other_frame);
}

/* ---- limits ---- */

#define LIMIT_PAGES	6u

static void pulp_limit(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	pulp_begin(r);
	pulp_write(r, 0, LIMIT_PAGES, FL_ST_OK);
	EXPECT_EQ(rig_counters(b).pinned_pages, LIMIT_PAGES);
	STEP("one page more than RLIMIT_MEMLOCK; here it is the sender's that is missed");
	pulp_write(r, LIMIT_PAGES, 1, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(rig_counters(&r->n[0]).failed, 1);
	EXPECT_EQ(rig_counters(&r->n[0]).pinned_pages, LIMIT_PAGES);
	EXPECT_EQ(tables_count(&r->n[0]), LIMIT_PAGES);
	EXPECT(!host_check(b->kernel, true));
}

static void pulp_limit_there(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint32_t key;

	pulp_begin(r);
	pulp_write(r, 0, 1, FL_ST_OK);
	STEP("the receiver has pinned the rest already");
	key = rig_reg_mr(b, b->buffer + 8 * RIG_PAGE,
			 (LIMIT_PAGES - 1) * RIG_PAGE, RIG_ALL, FL_MR_PINNED, 0);
	EXPECT_EQ(rig_counters(b).pinned_pages, LIMIT_PAGES);
	rig_reg_mr(b, b->buffer + 20 * RIG_PAGE, RIG_PAGE, RIG_ALL, FL_MR_PINNED,
		   -EDQUOT);
	pulp_write(r, 1, 1, FL_ST_REMOTE_FAULT);
	EXPECT_EQ(rig_counters(b).failed, 1);
	STEP("what was pinned beforehand stays beyond its region, too");
	tables_dereg(b, key);
	EXPECT_EQ(rig_counters(b).pinned_pages, LIMIT_PAGES);
	EXPECT_EQ(tables_count(b), LIMIT_PAGES);
}

static void as_plain_user(void (*body)(struct rig *r))
{
	struct host_driver_params p = {
		.plain_user = true,
		.memlock_bytes = LIMIT_PAGES * RIG_PAGE,
	};

	rig_run_with(SIM_LOCKSTEP, &p, body, NULL);
}

TEST("a page beyond what the process may pin is an error, where the request reads")
{
	as_plain_user(pulp_limit);
}

TEST("a page beyond what the process may pin is an error, where it writes")
{
	as_plain_user(pulp_limit_there);
}

static void pulp_no_frames(struct rig *r)
{
	struct rig_node *b = &r->n[1];

	pulp_begin(r);
	host_inject_no_frames(b->kernel, 1000000);
	pulp_write(r, 0, 1, FL_ST_REMOTE_FAULT);
	host_inject_no_frames(b->kernel, 0);
	EXPECT_EQ(rig_counters(b).pinned_pages, 0);
	EXPECT_EQ(tables_count(b), 0);
}

TEST("without a frame the request ends, and nothing is counted as pinned")
{
	rig_run(pulp_no_frames);
}

static void pulp_no_memory(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	unsigned int i, refused = 0;

	rig_pair(r, FL_SYSTEM_PULP, FL_IOC_RESOLVE_PAGE, FL_MR_PINNED);
	EXPECT_EQ(tables_count(b), PAGES);
	STEP("each thing that the worker asks for is refused once");
	rig_close(b);
	rig_open(b);
	EXPECT_EQ(tables_policy(b, FL_SYSTEM_PULP), 0);
	rig_set_up(b, 0);
	for (i = 1; i < 100; i++) {
		struct fl_prefetch p = { .size = sizeof(p), .key = b->key,
					 .addr = (uintptr_t)b->buffer,
					 .length = RIG_PAGE,
					 .flags = FL_PREFETCH_WRITE };
		long ret;

		host_inject_driver_error(i);
		ret = rig_ioctl(b, FL_IOC_PREFETCH, &p);
		if (host_inject_driver_error(0)) {
			EXPECT_EQ(ret, 0);
			break;
		}
		refused++;
		EXPECT_EQ(ret, -ENOMEM);
		EXPECT_EQ(tables_stats(b).frames_pinned, 0);
		EXPECT_EQ(rig_counters(b).pinned_pages, 0);
		EXPECT(!host_check(b->kernel, true));
	}
	/* The pin; structure, page and what is behind it, of three tables. */
	EXPECT_EQ(refused, 1 + 3 * 3);
	EXPECT_EQ(tables_stats(b).frames_pinned, 1);
}

TEST("without memory for a table nothing is entered, and nothing stays pinned")
{
	rig_run(pulp_no_memory);
}

TEST("a process that ends in the middle leaves no entry, no table, no pin")
{
	tables_deaths(FL_SYSTEM_PULP);
}

TEST("the driver ends, and every entry, table and pin with it")
{
	tables_driver_ends(FL_SYSTEM_PULP, 0);
}

TEST("it does with a firmware that does not answer, too")
{
	tables_driver_ends(FL_SYSTEM_PULP, BOARD_SILENT_FW);
}

TEST("it does with an SMMU that does not synchronise, too")
{
	tables_driver_ends(FL_SYSTEM_PULP, BOARD_NO_SYNC);
}
