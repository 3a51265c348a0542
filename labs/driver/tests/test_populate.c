// SPDX-License-Identifier: BSD-2-Clause
/* Steps 10 to 15 and 17: pages, and what the kernel is asked for them. */
#include "labs/driver/tests/bench.h"

static void populate_range(uint64_t addr, uint64_t length, bool want,
			   uint64_t start, uint64_t end)
{
	struct subject_msg m = { .op = LAB_RANGE, .arg = { addr, length } };

	judge_did("fl_range_make: 0x%" PRIx64 ", 0x%" PRIx64 " bytes", addr,
		  length);
	judge_ask(&m);
	judge_equal("there is such a range", m.arg[0], want);
	if (!want)
		return;
	judge_equal("it begins at", m.arg[1], start);
	judge_equal("it ends at", m.arg[2], end);
}

JUDGE(range_pages, "a range is the whole pages that hold it")
{
	bench_new();
	populate_range(VA(64, 5), 100, true, VA(64, 0), VA(65, 0));
	populate_range(VA(64, 0), 4096, true, VA(64, 0), VA(65, 0));
	populate_range(VA(64, 4095), 2, true, VA(64, 0), VA(66, 0));
	populate_range(VA(64, 1), 8192, true, VA(64, 0), VA(67, 0));
	populate_range(0, 1, true, 0, VA(1, 0));
}

JUDGE(range_edges, "nothing, and what goes round, is no range")
{
	bench_new();
	populate_range(VA(64, 5), 0, false, 0, 0);
	populate_range(~UINT64_C(0) - 10, 100, false, 0, 0);
	populate_range(VA(64, 0), ~UINT64_C(0), false, 0, 0);
	populate_range(~UINT64_C(0) - 10, 5, false, 0, 0);
}

JUDGE(allowed, "a page of a mapping may be had")
{
	bench_new();
	/* Not process 0: who only gives back what he was asked would say 0 too. */
	bench_open(1, STREAM, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_populate(1, FIRST, 3, true, false, 0, NULL);
	bench_populate(1, FIRST, 3, false, false, 0, NULL);
}

JUDGE(not_mapped, "what is not mapped, or registers of a device, is not")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_populate(0, FIRST - 1, 3, true, false, -EFAULT, NULL);
	bench_nothing();
	bench_map(0, FIRST, 1, MAY_READ | MAY_WRITE | IS_IO);
	bench_populate(0, FIRST, 1, true, false, -EFAULT, NULL);
	bench_map(0, FIRST, 1, MAY_READ | MAY_WRITE | IS_PFNMAP);
	bench_populate(0, FIRST, 1, false, false, -EFAULT, NULL);
	bench_nothing();
}

JUDGE(rights, "rights are those of the mapping, and of this access")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_map(0, FIRST, 2, MAY_READ);
	bench_map(0, FIRST + 2, 1, MAY_WRITE);
	bench_populate(0, FIRST, 2, false, false, 0, NULL);
	bench_populate(0, FIRST, 1, true, false, -EACCES, NULL);
	bench_populate(0, FIRST + 2, 1, true, false, 0, NULL);
	bench_populate(0, FIRST + 2, 1, false, false, -EACCES, NULL);
}

JUDGE(dying, "nothing for a process that is being killed, from that page on")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	WHEN(LAB_AT_PAGE, FIRST + 1, "the process is killed", LAB_CHANGE, 0,
	     LAB_DYING, 1);
	bench_populate(0, FIRST, 4, true, false, -EINTR, NULL);
	bench_asked(0, FIRST, 2, true);
	bench_nothing();
}

JUDGE(each_page, "each page is asked for, in order, as it is accessed")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_populate(0, FIRST, 5, true, false, 0, NULL);
	bench_asked(0, FIRST, 5, true);
	bench_populate(0, FIRST + 8, 2, false, false, 0, NULL);
	bench_asked(0, FIRST + 8, 2, false);
	judge_did("pages that are there are asked for as well");
	bench_populate(0, FIRST, 2, true, false, 0, NULL);
	bench_asked(0, FIRST, 2, true);
	bench_nothing();
}

JUDGE(kernel_says, "what the kernel says becomes an error, or none")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_says(0, FIRST + 1, SAYS_OOM);
	bench_populate(0, FIRST, 4, true, false, -ENOMEM, NULL);
	bench_asked(0, FIRST, 2, true);
	bench_says(0, FIRST + 1, SAYS_SIGSEGV);
	bench_populate(0, FIRST, 4, true, false, -EFAULT, NULL);
	bench_asked(0, FIRST, 2, true);
	bench_says(0, FIRST + 1, SAYS_MAJOR);
	bench_populate(0, FIRST, 4, true, false, 0, NULL);
	bench_asked(0, FIRST, 4, true);
	bench_nothing();
}

JUDGE(came_in, "what was absent came in")
{
	const struct populated all = { .pages_in = 4, .end = FIRST + 4 };
	const struct populated some = { .pages_in = 1, .present = 1,
				      .old_first = FIRST, .old_end = FIRST + 1,
				      .end = FIRST + 2 };

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_populate(0, FIRST, 4, true, false, 0, &all);
	bench_pages(0, FIRST + 1, 1, LAB_ABSENT);
	bench_populate(0, FIRST, 2, true, false, 0, &some);
}

JUDGE(was_there, "what was there: with the right, without it, or aged")
{
	const struct populated writes = { .present = 3, .cured = 2, .end = FIRST + 3,
					.old_first = FIRST,
					.old_end = FIRST + 3 };
	const struct populated reads = { .present = 3, .cured = 1, .end = FIRST + 3,
				       .old_first = FIRST,
				       .old_end = FIRST + 3 };

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_pages(0, FIRST, 1, LAB_CLEAN);
	bench_pages(0, FIRST + 1, 1, LAB_AGED);
	bench_pages(0, FIRST + 2, 1, LAB_WRITABLE);
	bench_populate(0, FIRST, 3, false, false, 0, &reads);
	bench_pages(0, FIRST, 1, LAB_CLEAN);
	bench_pages(0, FIRST + 1, 1, LAB_AGED);
	bench_populate(0, FIRST, 3, true, false, 0, &writes);
}

JUDGE(old_range, "the old range holds all that were there, page 0 too")
{
	const struct populated gaps = { .pages_in = 3, .present = 2, .cured = 2,
				      .old_first = FIRST + 1,
				      .old_end = FIRST + 4, .end = FIRST + 5 };
	const struct populated zero = { .pages_in = 1, .present = 2, .cured = 2,
				      .old_first = 0, .old_end = 3, .end = 3 };

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_pages(0, FIRST + 1, 1, LAB_CLEAN);
	bench_pages(0, FIRST + 3, 1, LAB_CLEAN);
	bench_populate(0, FIRST, 5, true, false, 0, &gaps);
	bench_map(0, 0, 4, MAY_READ | MAY_WRITE);
	bench_pages(0, 0, 1, LAB_CLEAN);
	bench_pages(0, 2, 1, LAB_CLEAN);
	bench_populate(0, 0, 3, true, false, 0, &zero);
}

JUDGE(until_there, "after an error: only what was asked for with success")
{
	const struct populated t = { .pages_in = 1, .present = 1, .cured = 1,
				   .old_first = FIRST + 1,
				   .old_end = FIRST + 2, .end = FIRST + 2 };

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_pages(0, FIRST + 1, 3, LAB_CLEAN);
	bench_says(0, FIRST + 2, SAYS_OOM);
	bench_populate(0, FIRST, 4, true, false, -ENOMEM, &t);
}

static void populate_forget(unsigned int present, unsigned int first,
			    unsigned int n, bool write)
{
	struct subject_msg m = { .op = LAB_FORGET, .arg = {
		0, present, VA(first, 0), VA(first + n, 0), write } };

	judge_did("fl_populated_forget: %u pages were there, from page %u on, "
		  "within %u pages, %s", present, first, n,
		  write ? "write" : "read");
	judge_ask(&m);
}

JUDGE(forgets, "after a write the TLB forgets what was there")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	populate_forget(2, FIRST + 1, 3, true);
	bench_forgot(0, FIRST + 1, 3);
	bench_nothing();
}

JUDGE(forgets_not, "after a read, or when nothing was there, nothing")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	populate_forget(2, FIRST + 1, 3, false);
	populate_forget(0, 0, 0, true);
	bench_nothing();
}

JUDGE(share, "ahead is an eighth of the room at a time")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_change(0, LAB_ROOM, VA(16, 0));
	bench_populate(0, FIRST, 16, true, true, 0, NULL);
	judge_did("of 16 pages first two, then one at a time while there are 8");
	bench_asked(0, FIRST, 9, true);
	bench_nothing();
}

JUDGE(share_pages, "in whole pages, and nothing without room")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_change(0, LAB_ROOM, VA(12, 0));
	bench_populate(0, FIRST, 8, true, true, 0, NULL);
	bench_asked(0, FIRST, 5, true);
	bench_change(0, LAB_ROOM, 0);
	bench_populate(0, FIRST + 20, 8, true, true, 0, NULL);
	bench_nothing();
}

JUDGE(share_ahead, "what is needed now does not ask for room")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_change(0, LAB_ROOM, 0);
	bench_populate(0, FIRST, 8, true, false, 0, NULL);
	bench_asked(0, FIRST, 8, true);
	bench_nothing();
}
