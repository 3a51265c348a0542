// SPDX-License-Identifier: BSD-2-Clause
/* Steps 1 to 5: what the driver makes of a change that it is told. */
#include "labs/invalidate/tests/bench.h"
#include "rig/smmu_bank.h"

#define PAGE	(uint64_t)LAB_PAGE_BYTES
#define SYNCED(bank) "bank " #bank " sync, bank " #bank " synced"

JUDGE(sync_once, "opening the card ends with a synchronise of its bank")
{
	bench_new(0, 0);
	bench_open(0);
	happened("bank 1 tlbiasid of asid 1, " SYNCED(1));
}

/* ---- step 2: a region that is pinned changes leaves only ---- */

JUDGE(each_page, "every page of a range, of its ASID, then one synchronise")
{
	bench_new(0, 0);
	kernel_region(0, 0, 5, 3);
	happened("bank 0 tlbival 5 of asid 1, bank 0 tlbival 6 of asid 1, "
		 "bank 0 tlbival 7 of asid 1, " SYNCED(0));
}

JUDGE(its_asid, "of the second process it is the second bank and ASID 2")
{
	bench_new(0, 0);
	bench_process();
	bench_open(1);
	forget();
	kernel_region(1, 1, 9, 1);
	happened("bank 1 tlbival 9 of asid 2, " SYNCED(1));
}

JUDGE(many_pages, "64 pages one by one; 65 as the whole ASID")
{
	bench_new(0, 0);
	kernel_region(0, 0, 0, 64);
	judge_equal("TLBIVAL", happened_times("tlbival"), 64);
	kernel_region(0, 0, 0, 65);
	happened("bank 0 tlbiasid of asid 1, " SYNCED(0));
}

/* ---- step 3 ---- */

JUDGE(one_page, "what is told of a page is dropped, on all levels")
{
	bench_new(0, 0);
	kernel_tells(0, 3 * PAGE, 4 * PAGE);
	happened("bank 0 tlbiva 3 of asid 1, " SYNCED(0));
}

JUDGE(parts, "a byte of a page is that page; the end is not included")
{
	bench_new(0, 0);
	kernel_tells(0, 3 * PAGE + 100, 3 * PAGE + 101);
	happened("bank 0 tlbiva 3 of asid 1, " SYNCED(0));
	kernel_tells(0, 3 * PAGE + 4095, 4 * PAGE + 1);
	happened("bank 0 tlbiva 3 of asid 1, bank 0 tlbiva 4 of asid 1, "
		 SYNCED(0));
	kernel_tells(0, 6 * PAGE, 8 * PAGE);
	happened("bank 0 tlbiva 6 of asid 1, bank 0 tlbiva 7 of asid 1, "
		 SYNCED(0));
}

JUDGE(nothing, "a range of no bytes is no work, and the next one is")
{
	bench_new(0, 0);
	kernel_tells(0, 3 * PAGE, 3 * PAGE);
	happened("");
	kernel_tells(0, 4 * PAGE, 4 * PAGE + 1);
	happened("bank 0 tlbiva 4 of asid 1, " SYNCED(0));
}

JUDGE(both_cards, "who has the card open twice has both banks told")
{
	bench_new(0, 0);
	bench_open(0);
	forget();
	kernel_tells(0, 3 * PAGE, 4 * PAGE);
	happened("bank 1 tlbiva 3 of asid 1, " SYNCED(1) ", "
		 "bank 0 tlbiva 3 of asid 1, " SYNCED(0));
}

JUDGE(after_close, "a bank that was given back is left alone")
{
	bench_new(0, 0);
	bench_open(0);
	bench_close(1);
	forget();
	kernel_tells(0, 3 * PAGE, 4 * PAGE);
	happened("bank 0 tlbiva 3 of asid 1, " SYNCED(0));
}

JUDGE(rights_shrink, "a page that may only be read from now on is not written")
{
	bench_new(0, 0);
	cpu_fill(0, 3, 3, 1);
	card_uses(0, 3, WRITES, 9, DMA_OK);
	card_uses(0, 5, WRITES, 9, DMA_OK);
	kernel_protect(0, 3, 3, HOST_READ);
	card_uses(0, 3, WRITES, 10, DMA_SLVERR);
	card_uses(0, 5, WRITES, 10, DMA_SLVERR);
	card_uses(0, 5, READS, 0, DMA_OK);
	cpu_finds(0, 3, 9);
}

/* ---- steps 4 and 5 ---- */

JUDGE(blocked, "closing: no walk any more, nothing left, and only then off")
{
	uint64_t tcr;

	bench_new(0, 0);
	tcr = smmu_reg(CB(0, TCR), 4);
	bench_close(0);
	judge_at_least("synchronises", happened_times("bank 0 synced"), 2);
	judge_equal("TCR.EPD0", !!(smmu_reg(CB(0, TCR), 4) & SMMU_CB_TCR_EPD0),
		    1);
	judge_equal("TCR but for EPD0",
		    smmu_reg(CB(0, TCR), 4) & ~(uint64_t)SMMU_CB_TCR_EPD0, tcr);
	judge_equal("TTBR0", smmu_reg(CB(0, TTBR0), 8), UINT64_C(1) << 48);
}

JUDGE(space_ends, "the address space ends: its bank is dropped and synchronised")
{
	bench_new(0, 0);
	cpu_fill(0, 3, 2, 1);
	card_uses(0, 3, READS, 0, DMA_OK);
	forget();
	kernel_ends_space(0);
	happened("bank 0 tlbiasid of asid 1, " SYNCED(0));
	card_uses(0, 3, READS, 0, DMA_SLVERR);
	card_uses(0, 4, READS, 0, DMA_SLVERR);
}

JUDGE(space_ends_busy, "no walk comes between the invalidation and the end")
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		if (!i)
			bench_new(0, 0);
		cpu_write(0, 3, 1);
		card_busy(0, 3, 20 + 11 * i, 400);
		kernel_ends_space(0);
		card_uses(0, 3, READS, 0, DMA_SLVERR);
	}
}
