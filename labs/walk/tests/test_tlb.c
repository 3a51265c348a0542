// SPDX-License-Identifier: BSD-2-Clause
/* Steps 7 and 8: what the TLB keeps, where, and for whom. */
#include "labs/walk/tests/bench.h"

#define VA	UINT64_C(0x7f1234567000)
#define PA	UINT64_C(0x40000000)
#define GLOBAL	(D_RW & ~PTE_NG)

/* How many entries are in use, and the TLB's own count of them. */
static void tlb_holds(uint64_t entries)
{
	struct subject_msg m = { .op = LAB_TLB };

	judge_ask(&m);
	judge_equal("entries in use", m.arg[0], entries);
	judge_equal("sum of the TLB's counts", m.arg[1], entries);
}

/* The access must reach pa; did the TLB know it? */
static void tlb_cached(unsigned int bank, uint64_t va, uint64_t pa, bool hit)
{
	bench_reaches(bank, va, READ, pa);
	bench_was_hit(hit);
	if (hit)
		bench_made_reads(0);
}

static void two_banks(void)
{
	bench_new(0);
	bench_bank(0, 1, 16);
	bench_bank(1, 2, 16);
}

JUDGE(fill, "a walk leaves one entry, counted")
{
	struct subject_msg m = { .op = LAB_TLB };

	bench_one();
	bench_map(0, VA, PA, 3, D_RW);
	tlb_holds(0);
	bench_reaches(0, VA + 8, READ, PA + 8);
	tlb_holds(1);
	judge_ask(&m);
	judge_equal("physical address of the entry", m.arg[2], PA);
	judge_equal("level of the entry", m.arg[3], 3);
	bench_map(0, 0x200000, 0x600000, 2, GLOBAL);
	bench_reaches(0, 0x234560, READ, 0x634560);
	tlb_holds(2);
}

JUDGE(ways, "a set takes four pages; a fifth takes the place of one")
{
	unsigned int i;

	bench_new(16);
	bench_bank(0, 1, 16);
	judge_did("four sets of four ways: every fourth page, one set");
	for (i = 0; i < 12; i++) {
		bench_map(0, VA + i * 4 * PAGE, PA + i * PAGE, 3, D_RW);
		bench_reaches(0, VA + i * 4 * PAGE, READ, PA + i * PAGE);
		tlb_holds(i < 4 ? i + 1 : 4);
	}
	judge_did("another set is still empty");
	bench_map(0, VA + PAGE, PA, 3, D_RW);
	bench_reaches(0, VA + PAGE, READ, PA);
	tlb_holds(5);
}

JUDGE(empty_way, "an empty way is used before another is given up")
{
	unsigned int i;

	bench_new(16);
	bench_bank(0, 1, 16);
	for (i = 0; i < 5; i++)
		bench_map(0, VA + i * 4 * PAGE, PA + i * PAGE, 3, D_RW);
	for (i = 0; i < 4; i++)
		bench_reaches(0, VA + i * 4 * PAGE, READ, PA + i * PAGE);
	bench_invalidate(0, VA + 2 * 4 * PAGE, 1);
	tlb_holds(3);
	bench_reaches(0, VA + 4 * 4 * PAGE, READ, PA + 4 * PAGE);
	tlb_holds(4);
}

JUDGE(hit, "the second access to a page hits and reads no table")
{
	bench_one();
	bench_map(0, VA, PA, 3, D_RW);
	tlb_cached(0, VA, PA, false);
	tlb_cached(0, VA + 8, PA + 8, true);
	bench_map(0, VA + PAGE, PA + 5 * PAGE, 3, D_RW);
	tlb_cached(0, VA + PAGE, PA + 5 * PAGE, false);
	judge_did("a va with stray upper bits is no page that we know");
	bench_faults(0, VA | UINT64_C(1) << 48, READ, SMMU_CB_FSR_TF, 0);
}

JUDGE(hit_blocks, "one entry covers a whole block")
{
	bench_one();
	bench_map(0, 0x40000000, UINT64_C(0x80000000), 1, D_RW);
	bench_map(0, 0x200000, 0x600000, 2, D_RW);
	tlb_cached(0, 0x40000000, 0x80000000, false);
	tlb_cached(0, 0x7ffff000, 0xbffff000, true);
	tlb_cached(0, 0x200000, 0x600000, false);
	tlb_cached(0, 0x3ff123, 0x7ff123, true);
	tlb_holds(2);
	judge_did("the neighbours of a block are not in it");
	bench_faults(0, 0x400000, READ, SMMU_CB_FSR_TF, 2);
	bench_faults(0, 0x1ff000, READ, SMMU_CB_FSR_TF, 2);
}

JUDGE(asid, "an entry belongs to its ASID")
{
	bench_new(4);
	judge_did("one set, so that all ASIDs share it");
	bench_bank(0, 1, 16);
	bench_bank(1, 2, 16);
	bench_map(0, VA, PA, 3, D_RW);
	bench_map(1, VA, PA + PAGE, 3, D_RW);
	tlb_cached(0, VA, PA, false);
	tlb_cached(1, VA, PA + PAGE, false);
	two_banks();
	bench_map(0, VA, PA, 3, D_RW);
	bench_map(1, VA, PA + PAGE, 3, D_RW);
	tlb_cached(0, VA, PA, false);
	tlb_cached(1, VA, PA + PAGE, false);
	tlb_cached(0, VA, PA, true);
	tlb_cached(1, VA, PA + PAGE, true);
	judge_did("ASID 0 is an ASID like any other, with global entries about");
	bench_bank(2, 0, 16);
	bench_map(2, VA, PA + 2 * PAGE, 3, D_RW);
	bench_map(2, VA + PAGE, PA, 3, GLOBAL);
	bench_map(0, VA + 2 * PAGE, PA, 3, D_RW);
	bench_map(2, VA + 2 * PAGE, PA + 3 * PAGE, 3, D_RW);
	tlb_cached(2, VA, PA + 2 * PAGE, false);
	tlb_cached(2, VA + PAGE, PA, false);
	tlb_cached(2, VA + 2 * PAGE, PA + 3 * PAGE, false);
	tlb_cached(0, VA + 2 * PAGE, PA, false);
	tlb_cached(2, VA, PA + 2 * PAGE, true);
}

JUDGE(vmid, "equal ASIDs of different VMIDs are different")
{
	two_banks();
	bench_map(0, VA, PA, 3, GLOBAL);
	bench_map(1, VA, PA + PAGE, 3, GLOBAL);
	judge_did("CBAR1: VMID 9");
	bench_write(GR1(CBAR(1)), 4, 1 << SMMU_GR1_CBAR_TYPE_SHIFT | 9);
	tlb_cached(0, VA, PA, false);
	tlb_cached(1, VA, PA + PAGE, false);
	tlb_cached(0, VA, PA, true);
	tlb_cached(1, VA, PA + PAGE, true);
}

JUDGE(global, "an entry with nG = 0 serves every ASID")
{
	two_banks();
	bench_map(0, VA, PA, 3, GLOBAL);
	tlb_cached(0, VA, PA, false);
	tlb_cached(1, VA, PA, true);
	tlb_cached(0, VA, PA, true);
	bench_map(0, 0x40000000, 0x80000000, 1, GLOBAL);
	tlb_cached(0, 0x40000000, 0x80000000, false);
	tlb_cached(1, 0x7ffff000, 0xbffff000, true);
	tlb_holds(2);
}

JUDGE(sets_apart, "entries are found again in a TLB of one set or of many")
{
	unsigned int size, i;

	for (size = 4; size <= 64; size *= 4) {
		bench_new(size);
		bench_bank(0, 1, 16);
		bench_bank(1, 2, 16);
		bench_map(0, VA, PA, 3, D_RW);
		bench_map(1, VA + PAGE, PA + PAGE, 3, D_RW);
		bench_map(0, VA + 2 * PAGE, PA + 2 * PAGE, 3, GLOBAL);
		for (i = 0; i < 2; i++) {
			tlb_cached(0, VA, PA, i);
			tlb_cached(1, VA + PAGE, PA + PAGE, i);
			tlb_cached(0, VA + 2 * PAGE, PA + 2 * PAGE, i);
		}
		tlb_cached(1, VA + 2 * PAGE, PA + 2 * PAGE, true);
	}
}

JUDGE(invalidation, "what is filled can be taken away again, and comes back")
{
	unsigned int i;

	two_banks();
	bench_map(0, VA, PA, 3, D_RW);
	bench_map(0, VA + PAGE, PA, 3, GLOBAL);
	bench_map(0, 0x200000, 0x600000, 2, D_RW);
	for (i = 0; i < 3; i++) {
		tlb_cached(0, VA, PA, false);
		tlb_cached(0, VA + PAGE, PA, false);
		tlb_cached(0, 0x200000, 0x600000, false);
		bench_invalidate(0, VA, 1);
		tlb_holds(2);
		bench_invalidate(0, VA + PAGE, 77);
		tlb_holds(1);
		bench_invalidate(0, 0x2ab000, 1);
		tlb_holds(0);
	}
}

JUDGE(refused_write, "an entry that refused a write is kept, and refuses again")
{
	bench_one();
	bench_map(0, VA, PA, 3, D_RW | PTE_RDONLY);
	tlb_cached(0, VA, PA, false);
	bench_map(0, VA, PA, 3, D_RW);
	bench_faults(0, VA, WRITE, SMMU_CB_FSR_PF, 3);
	bench_was_hit(true);
	bench_invalidate(0, VA, 1);
	bench_reaches(0, VA, WRITE, PA);
}
