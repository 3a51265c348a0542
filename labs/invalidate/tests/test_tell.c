// SPDX-License-Identifier: BSD-2-Clause
/* Steps 1 to 3: what the driver makes of a change that it is told. */
#include "labs/invalidate/tests/bench.h"

#define PAGE (uint64_t)LAB_PAGE_BYTES

JUDGE(one_page, "a page is dropped from the TLB, then comes a synchronise")
{
	bench_new(0, 0);
	kernel_tells(0, 3 * PAGE, 4 * PAGE);
	happened("bank 0 tlbiva 3 of asid 1, bank 0 sync, bank 0 synced");
}
