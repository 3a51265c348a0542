// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process that has no CPU for a while, and so closes its pages late, though it was
 * the one that asked to have them taken away.
 *
 * variants: tsan posix
 */
#include "rig/serve_raw.h"

static void asks_and_is_late(struct raw *r, uint64_t va, uint32_t op,
			     uint64_t what)
{
	const uint64_t arg[4] = { va, RIG_PAGE, what };

	EXPECT_EQ(raw_call(r, ATTACH_FAULT, va, 1, 0, 0), 0);
	r->obeys = false;
	raw_ask(r, 0, op, arg, NULL, 0);
	STEP("it does not close the page: no answer, whatever it may be");
	EXPECT_EQ(raw_answer(r, 0, 200), 1);
	r->obeys = true;
	EXPECT_EQ(raw_answer(r, 0, 20000), 0);
}

TEST("a process that closes its own pages late gets what it asked for")
{
	static const char *const options[] = { "--patience", "60000", NULL };
	uint64_t va;
	struct raw r;

	rig_start(options);
	EXPECT_EQ(raw_attach(&r, 0), 0);
	EXPECT_EQ(raw_call(&r, ATTACH_ALLOC, RIG_PAGE, 0, 0, 0), 0);
	va = r.shared->call[0].ret[0];
	STEP("to the swap");
	asks_and_is_late(&r, va, ATTACH_ADVISE, FL_PAGEOUT);
	STEP("forgotten");
	asks_and_is_late(&r, va, ATTACH_ADVISE, FL_DONTNEED);
	STEP("read only");
	asks_and_is_late(&r, va, ATTACH_PROTECT, FL_PROT_READ);
	EXPECT_EQ(raw_call(&r, ATTACH_PROTECT, va, RIG_PAGE,
			   FL_PROT_READ | FL_PROT_WRITE, 0), 0);
	STEP("replaced");
	asks_and_is_late(&r, va, ATTACH_REMAP, 0);
	STEP("given back");
	asks_and_is_late(&r, va, ATTACH_FREE, 0);
	raw_detach(&r);
	rig_end();
}

TEST("one that never closes them is cut off, and its call ends with it")
{
	static const char *const options[] = { "--patience", "300", NULL };
	uint64_t arg[4] = { 0, RIG_PAGE, FL_PAGEOUT };
	struct raw r;

	rig_start(options);
	EXPECT_EQ(raw_attach(&r, 0), 0);
	EXPECT_EQ(raw_call(&r, ATTACH_ALLOC, RIG_PAGE, 0, 0, 0), 0);
	arg[0] = r.shared->call[0].ret[0];
	EXPECT_EQ(raw_call(&r, ATTACH_FAULT, arg[0], 1, 0, 0), 0);
	r.obeys = false;
	raw_ask(&r, 0, ATTACH_ADVISE, arg, NULL, 0);
	EXPECT(raw_cut_off(&r, 60000));
	raw_detach(&r);
	rig_end();
}
