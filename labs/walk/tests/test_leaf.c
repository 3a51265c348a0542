// SPDX-License-Identifier: BSD-2-Clause
/* Steps 5 and 6: what the last descriptor says. */
#include "labs/walk/tests/bench.h"

#define VA	UINT64_C(0x123456789abc)
#define PA	UINT64_C(0xabcde000)

JUDGE(page, "a page gives bits 47:12, the address the rest")
{
	bench_one();
	bench_map(0, VA, PA, 3, D_RW);
	bench_reaches(0, VA, READ, PA | 0xabc);
	bench_map(0, 0x1000, UINT64_C(0xfffffffff000), 3,
		  D_RW | UINT64_C(0x7ff) << 52);
	bench_reaches(0, 0x1008, READ, UINT64_C(0xfffffffff008));
	judge_did("entry 5 of the first table is that table itself");
	bench_poke(bench.root[0] + 8 * 5, bench.root[0] | D_RW | PTE_TYPE);
	bench_reaches(0, UINT64_C(0x028140a05028), READ, bench.root[0] | 0x28);
	bench_made_reads(4);
}

JUDGE(blocks, "a block gives the bits above its size")
{
	bench_one();
	bench_map(0, UINT64_C(0x7f0000200000), 0x40e00000, 2, D_RW);
	bench_map(0, UINT64_C(0x7f0040000000), UINT64_C(0x1c0000000), 1, D_RW);
	bench_reaches(0, UINT64_C(0x7f00003abcde), READ, 0x40fabcde);
	bench_made_reads(3);
	bench_reaches(0, UINT64_C(0x7f007edcba98), READ,
		      UINT64_C(0x1fedcba98));
	bench_made_reads(2);
}

JUDGE(low_bits, "bits of a block's address that are too low are ignored")
{
	bench_one();
	bench_map(0, 0x200000, 0x40e00000 | 0x1ff000, 2, D_RW);
	bench_reaches(0, 0x201010, READ, 0x40e01010);
	bench_map(0, 0x40000000, 0x40000000 | 0x3ffff000, 1, D_RW);
	bench_reaches(0, 0x40001018, READ, 0x40001018);
}

JUDGE(access_flag, "an aged page is an access flag fault, unless SCTLR.AFFD is 1")
{
	uint32_t on = SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE |
		      SMMU_CB_SCTLR_CFIE | SMMU_CB_SCTLR_HUPCF;

	bench_one();
	bench_map(0, VA, PA, 3, D_RW & ~PTE_AF);
	bench_faults(0, VA, READ, SMMU_CB_FSR_AFF, 3);
	bench_map(0, 0x200000, 0x600000, 2, D_RW & ~PTE_AF);
	bench_faults(0, 0x200000, READ, SMMU_CB_FSR_AFF, 2);
	judge_did("SCTLR.AFFD 1");
	bench_write(CB(0, SCTLR), 4, on | SMMU_CB_SCTLR_AFFD);
	bench_reaches(0, VA, READ, PA | 0xabc);
}

JUDGE(output_size, "an output address beyond PASIZE is an address size fault")
{
	static const unsigned int bits[] = { 32, 36, 40, 42, 44 };
	unsigned int i;

	bench_one();
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		uint64_t edge = UINT64_C(1) << bits[i];

		judge_did("TCR2.PASIZE %u: %u bits", i, bits[i]);
		bench_write(CB(0, TCR2), 4, i | SMMU_CB_TCR2_AS);
		bench_map(0, VA, edge - PAGE, 3, D_RW);
		bench_forget(0);
		bench_reaches(0, VA, READ, edge - PAGE + 0xabc);
		bench_map(0, VA, edge, 3, D_RW);
		bench_forget(0);
		bench_faults(0, VA, READ, SMMU_CB_FSR_ASF, 3);
		bench_map(0, 0x40000000, edge, 1, D_RW);
		bench_forget(0);
		bench_faults(0, 0x40000000, READ, SMMU_CB_FSR_ASF, 1);
	}
}

JUDGE(size_first, "the address is judged before the access flag")
{
	bench_one();
	judge_did("TCR2.PASIZE 0: 32 bits");
	bench_write(CB(0, TCR2), 4, 0 | SMMU_CB_TCR2_AS);
	bench_map(0, VA, PA, 3, D_RW & ~PTE_AF);
	bench_faults(0, VA, READ, SMMU_CB_FSR_AFF, 3);
	bench_map(0, VA, UINT64_C(1) << 32, 3, D_RW & ~PTE_AF);
	bench_faults(0, VA, READ, SMMU_CB_FSR_ASF, 3);
}

/* AP[2:1] of the leaf, APTable of a table above it: may this access be? */
static void leaf_allowed(unsigned int ap, unsigned int table, unsigned int how)
{
	bool fine = !(how & WRITE && (ap & 2 || table & 2)) &&
		    (how & PRIVILEGED || (ap & 1 && !(table & 1)));

	if (fine)
		bench_reaches(0, VA, how, PA | 0xabc);
	else
		bench_faults(0, VA, how, SMMU_CB_FSR_PF, 3);
}

JUDGE(leaf_rights, "AP[2:1], the privilege and the direction decide")
{
	unsigned int i;

	bench_one();
	for (i = 0; i < 16; i++) {
		bench_map(0, VA, PA, 3, PTE_AF | PTE_NG | (uint64_t)(i & 3) << 6);
		bench_forget(0);
		leaf_allowed(i & 3, 0, i >> 2);
	}
}

JUDGE(table_rights, "APTable takes rights away from all that is below")
{
	unsigned int i, level;
	uint64_t pa;

	bench_one();
	for (i = 0; i < 64; i++) {
		for (level = 0; level <= 2; level++) {
			bench_map(0, VA, PA, 3,
				  PTE_AF | PTE_NG | (uint64_t)(i & 3) << 6);
			pa = bench_at(0, VA, level);
			judge_did("APTable %u at level %u", i >> 2 & 3, level);
			bench_poke(pa, bench_peek(pa) |
				       (uint64_t)(i >> 2 & 3) << 61);
			leaf_allowed(i & 3, i >> 2 & 3, i >> 4);
			bench_poke(pa, bench_peek(pa) & ~(UINT64_C(3) << 61));
			bench_forget(0);
		}
	}
}

JUDGE(rights_add_up, "what one table takes away, no other gives back")
{
	uint64_t pa;

	bench_one();
	bench_map(0, VA, PA, 3, D_RW);
	bench_reaches(0, VA, WRITE, PA | 0xabc);
	bench_forget(0);
	judge_did("level 0: no writes; level 1: no users; level 2: nothing");
	pa = bench_at(0, VA, 0);
	bench_poke(pa, bench_peek(pa) | UINT64_C(2) << 61);
	pa = bench_at(0, VA, 1);
	bench_poke(pa, bench_peek(pa) | UINT64_C(1) << 61);
	bench_faults(0, VA, READ, SMMU_CB_FSR_PF, 3);
	bench_faults(0, VA, WRITE | PRIVILEGED, SMMU_CB_FSR_PF, 3);
	bench_reaches(0, VA, READ | PRIVILEGED, PA | 0xabc);
}

JUDGE(flag_first, "the access flag is judged before the rights")
{
	bench_one();
	bench_map(0, VA, PA, 3, D_RW | PTE_RDONLY);
	bench_faults(0, VA, WRITE, SMMU_CB_FSR_PF, 3);
	bench_forget(0);
	bench_map(0, VA, PA, 3, (D_RW | PTE_RDONLY) & ~PTE_AF);
	bench_faults(0, VA, WRITE, SMMU_CB_FSR_AFF, 3);
}
