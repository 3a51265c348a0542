// SPDX-License-Identifier: BSD-2-Clause
/* Steps 11, 16 and 18 to 21: how much one fault asks for, and whether it may. */
#include "labs/driver/tests/bench.h"

#define BLOCK(p, want)                                                        \
	bench_resolve(p, VA(FIRST, 0), LAB_BLOCK, 0, 0xf, true, want)

JUDGE(found, "a fault in a region is repaired")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	BLOCK(0, 0);
}

JUDGE(no_region, "what no region holds whole cannot be asked for")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_map(0, 0, FIRST, MAY_READ | MAY_WRITE);
	bench_resolve(0, VA(FIRST - 8, 0), 4096, 0, 1, true, -EFAULT);
	bench_resolve(0, VA(FIRST, 0) - 1, 4096, 0, 1, true, -EFAULT);
	bench_resolve(0, VA(FIRST + COUNT - 1, 0), LAB_BLOCK, 0, 1, true,
		      -EFAULT);
	bench_nothing();
}

JUDGE(region_rights, "nor what the region does not allow")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_region(0, VA(FIRST, 0), VA(8, 0), false);
	bench_resolve(0, VA(FIRST, 0), 4096, 0, 1, true, -EACCES);
	bench_nothing();
	bench_resolve(0, VA(FIRST, 0), 4096, 0, 1, false, 0);
	bench_asked(0, FIRST, 1, false);
}

JUDGE(card_gone, "nothing for a process that has lost its card")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_change(0, LAB_DEAD, 1);
	BLOCK(0, -ESRCH);
	bench_nothing();
}

JUDGE(all_of_block, "the block: all of it, whatever is missing")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	BLOCK(0, 0);
	bench_asked(0, FIRST, 4, true);
	judge_did("a block from the middle of a page to the middle of another");
	bench_resolve(0, VA(FIRST + 8, 100), LAB_BLOCK, 0, 1u << 3, false, 0);
	bench_asked(0, FIRST + 8, 5, false);
	bench_nothing();
	bench_counts(0, LAB_PAGES_IN, 9);
	bench_counts(0, LAB_RESOLVES, 2);
	judge_did("memory is short: what is needed now is asked for all the same");
	bench_change(0, LAB_ROOM, 0);
	bench_resolve(0, VA(FIRST + 20, 0), LAB_BLOCK, 0, 0xf, true, 0);
	bench_asked(0, FIRST + 20, 4, true);
}

JUDGE(first_missing, "one page: the first that is missing")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE);
	bench_resolve(0, VA(FIRST, 0), LAB_BLOCK, 0, 0xc, true, 0);
	bench_asked(0, FIRST + 2, 1, true);
	bench_resolve(0, VA(FIRST + 8, 100), LAB_BLOCK, 0, 0x12, true, 0);
	bench_asked(0, FIRST + 9, 1, true);
	bench_nothing();
}

JUDGE(no_map, "without a map the first of the block")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE);
	bench_resolve(0, VA(FIRST, 0), LAB_BLOCK, 0, 0, true, 0);
	bench_asked(0, FIRST, 1, true);
	judge_did("a map that speaks of pages behind the block");
	bench_resolve(0, VA(FIRST + 8, 0), LAB_BLOCK, 0, 1u << 4, true, 0);
	bench_asked(0, FIRST + 8, 1, true);
	bench_nothing();
}

JUDGE(page_five, "a block may have five pages, and the last be missing")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE);
	bench_resolve(0, VA(FIRST, 4095), LAB_BLOCK, 0, 1u << 4, true, 0);
	bench_asked(0, FIRST + 4, 1, true);
	bench_nothing();
}

JUDGE(forgets_after, "the TLB forgets after the kernel was asked, not before")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_pages(0, FIRST, 4, LAB_CLEAN);
	BLOCK(0, 0);
	bench_asked(0, FIRST, 4, true);
	bench_forgot(0, FIRST, 4);
	bench_nothing();
}

JUDGE(forgets_on_error, "also what was asked for before an error")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_pages(0, FIRST, 4, LAB_CLEAN);
	bench_says(0, FIRST + 2, SAYS_OOM);
	BLOCK(0, -ENOMEM);
	bench_asked(0, FIRST, 3, true);
	bench_forgot(0, FIRST, 2);
	bench_nothing();
}

JUDGE(for_nothing, "a fault for nothing is counted as that, no other")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	BLOCK(0, 0);
	bench_counts(0, LAB_SPURIOUS, 0);
	judge_did("again, and now all is there");
	BLOCK(0, 0);
	bench_counts(0, LAB_SPURIOUS, 1);
	bench_pages(0, FIRST + 3, 1, LAB_AGED);
	BLOCK(0, 0);
	bench_counts(0, LAB_SPURIOUS, 1);
	bench_says(0, FIRST, SAYS_OOM);
	BLOCK(0, -ENOMEM);
	bench_counts(0, LAB_SPURIOUS, 1);
}

JUDGE(ahead, "the transfer: first the block, then the rest")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	bench_resolve(0, VA(FIRST, 0), LAB_BLOCK, VA(8, 0), 0xf, true, 0);
	bench_asked(0, FIRST, 12, true);
	bench_nothing();
	bench_counts(0, LAB_RESOLVES, 2);
}

JUDGE(ahead_not, "nothing ahead in the other ways, nor when nothing is left")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_resolve(0, VA(FIRST, 0), LAB_BLOCK, VA(8, 0), 0xf, true, 0);
	bench_asked(0, FIRST, 4, true);
	bench_open(1, STREAM + 1, FL_SYSTEM_PART, FL_IOC_RESOLVE_PAGE);
	bench_resolve(1, VA(FIRST, 0), LAB_BLOCK, VA(8, 0), 0xf, true, 0);
	bench_asked(1, FIRST, 1, true);
	bench_open(2, STREAM + 2, FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	bench_resolve(2, VA(FIRST, 0), LAB_BLOCK, 0, 0xf, true, 0);
	bench_asked(2, FIRST, 4, true);
	bench_nothing();
}

JUDGE(ahead_region, "no further than the region")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	bench_region(0, VA(FIRST, 0), VA(6, 10), true);
	bench_resolve(0, VA(FIRST, 0), LAB_BLOCK, VA(100, 0), 0xf, true, 0);
	bench_asked(0, FIRST, 7, true);
	bench_nothing();
	judge_did("the region ends where the block ends");
	bench_region(0, VA(FIRST + 20, 0), LAB_BLOCK, true);
	bench_resolve(0, VA(FIRST + 20, 0), LAB_BLOCK, VA(9, 0), 0xf, true, 0);
	bench_asked(0, FIRST + 20, 4, true);
	bench_nothing();
}

JUDGE(ahead_once, "a page that the block has is not asked for again")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	bench_resolve(0, VA(FIRST, 100), LAB_BLOCK, 5000, 0xf, false, 0);
	bench_asked(0, FIRST, 6, false);
	bench_nothing();
	judge_did("what is left ends in the block's last page");
	bench_resolve(0, VA(FIRST + 20, 100), LAB_BLOCK, 50, 0xf, false, 0);
	bench_asked(0, FIRST + 20, 5, false);
	bench_nothing();
}

JUDGE(ahead_fails, "what cannot be had ahead is no error")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	bench_says(0, FIRST + 5, SAYS_OOM);
	bench_resolve(0, VA(FIRST, 0), LAB_BLOCK, VA(8, 0), 0xf, true, 0);
	bench_asked(0, FIRST, 6, true);
	bench_nothing();
	judge_did("but nothing is asked for ahead of a block that has failed");
	bench_says(0, FIRST + 3, SAYS_OOM);
	bench_resolve(0, VA(FIRST, 0), LAB_BLOCK, VA(8, 0), 0xf, true, -ENOMEM);
	bench_asked(0, FIRST, 4, true);
	bench_forgot(0, FIRST, 3);
	bench_nothing();
}

JUDGE(ahead_most, "and no more than 16 MB")
{
	const uint64_t mb16 = UINT64_C(16) << 20;

	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	bench_map(0, FIRST, 6000, MAY_READ | MAY_WRITE);
	bench_region(0, VA(FIRST, 0), VA(6000, 0), true);
	bench_resolve(0, VA(FIRST, 0), LAB_BLOCK, mb16 + VA(100, 0), 0xf, true,
		      0);
	bench_asked(0, FIRST, 4 + 4096, true);
	bench_nothing();
}

JUDGE(hopeless, "what the bank met and no page cures is not tried")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_change(0, LAB_HARD, VA(FIRST + 2, 17));
	BLOCK(0, -EIO);
	bench_nothing();
}

JUDGE(hopeless_once, "once: then the card may try again")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_change(0, LAB_HARD, VA(FIRST, 0));
	BLOCK(0, -EIO);
	bench_counts(0, LAB_IS_HARD, 0);
	BLOCK(0, 0);
	bench_asked(0, FIRST, 4, true);
}

JUDGE(hopeless_here, "another block has nothing to do with it")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_change(0, LAB_HARD, VA(FIRST + 4, 0));
	BLOCK(0, 0);
	bench_asked(0, FIRST, 4, true);
	bench_counts(0, LAB_IS_HARD, 1);
	bench_resolve(0, VA(FIRST + 8, 0), LAB_BLOCK, 0, 1, true, 0);
	bench_asked(0, FIRST + 8, 4, true);
	bench_resolve(0, VA(FIRST + 1, 1), LAB_BLOCK, 0, 1, true, -EIO);
	bench_nothing();
}

JUDGE(ended, "nothing of a process whose address space has ended")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	BLOCK(0, 0);
	bench_asked(0, FIRST, 4, true);
	bench_change(0, LAB_ENDED, 1);
	BLOCK(0, -ESRCH);
	bench_nothing();
}

JUDGE(given_back, "its address space is kept while it is asked, and no longer")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_TRANSFER);
	BLOCK(0, 0);
	bench_says(0, FIRST + 20, SAYS_SIGSEGV);
	bench_resolve(0, VA(FIRST + 20, 0), LAB_BLOCK, 0, 1, true, -EFAULT);
	bench_resolve(0, VA(FIRST - 1, 0), LAB_BLOCK, 0, 1, true, -EFAULT);
}
