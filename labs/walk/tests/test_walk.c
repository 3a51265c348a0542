// SPDX-License-Identifier: BSD-2-Clause
/* Steps 1 to 4: from the bank's registers down to a last descriptor. */
#include "labs/walk/tests/bench.h"

#define VA	UINT64_C(0x123456789abc)
#define PA	UINT64_C(0xabcde000)

/*
 * What the walk said of its first level (event SMMU_LEVEL). Its fault is cleared,
 * so that the last one in the trace is that of the access that is judged.
 */
static void first_is(unsigned int level, uint64_t table)
{
	judge_same("the walk came to a first table",
		   bench_last()->arg[4] ? "yes" : "no", "yes");
	judge_equal("level of the first table", bench_last()->arg[5], level);
	judge_equal("address of the first table", bench_last()->arg[6], table);
	bench_write(CB(0, FSR), 4, 0xffffffff);
}

JUDGE(first_level, "T0SZ says at which level a walk begins")
{
	unsigned int t0sz;

	bench_new(0);
	for (t0sz = 25; t0sz >= 16; t0sz--) {
		bench_bank(0, 1, t0sz);
		bench_access(0, 0, READ);
		first_is(bench.start[0], bench.root[0]);
	}
	for (t0sz = 26; t0sz <= 39; t0sz++) {
		bench_bank(0, 1, t0sz);
		bench_access(0, 0, READ);
		first_is(bench.start[0], bench.root[0]);
	}
}

JUDGE(first_alignment, "the first table is aligned to its size, 64 bytes at least")
{
	/* Entries of the first table: 32, 2, 512; it may lie inside a page. */
	static const struct {
		unsigned int t0sz;
		uint64_t base, table;
	} t[] = {
		{ 20, 0x700, 0x700 }, { 20, 0x7f8, 0x700 },
		{ 24, 0x040, 0x040 }, { 24, 0x07f, 0x040 },
		{ 16, 0x800, 0x000 }, { 25, 0xff8, 0x000 },
		{ 33, 0xfc0, 0xfc0 }, { 34, 0xff8, 0x000 },
		{ 39, 0xf80, 0xf80 }, { 39, 0xff8, 0xf80 },
	};
	unsigned int i;

	bench_one();
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		judge_did("TCR.T0SZ %u, TTBR0 0x%" PRIx64 " with ASID 1",
			  t[i].t0sz, bench.root[0] | t[i].base);
		bench_write(CB(0, TCR), 4, t[i].t0sz);
		bench_write(CB(0, TTBR0), 8, bench.root[0] | t[i].base |
					     UINT64_C(1) << 48);
		bench_access(0, 0, READ);
		first_is(bench_start(t[i].t0sz), bench.root[0] | t[i].table);
	}
}

JUDGE(input_range, "an address beyond T0SZ is a translation fault at level 0")
{
	unsigned int t0sz;

	bench_new(0);
	for (t0sz = 16; t0sz <= 39; t0sz++) {
		uint64_t end = UINT64_C(1) << (64 - t0sz);

		bench_bank(0, 1, t0sz);
		bench_access(0, end - 8, READ);
		first_is(bench.start[0], bench.root[0]);
		bench_faults(0, end, READ, SMMU_CB_FSR_TF, 0);
		bench_made_reads(0);
		judge_equal("tables the walk came to", bench_last()->arg[4], 0);
		bench_faults(0, UINT64_C(0xffff800000000000), WRITE,
			     SMMU_CB_FSR_TF, 0);
		judge_equal("tables the walk came to", bench_last()->arg[4], 0);
	}
}

JUDGE(no_walk, "EPD0, another granule, AArch32: no walk, a translation fault")
{
	static const uint32_t tcr[] = { 16 | SMMU_CB_TCR_EPD0, 16 | 1 << 14,
					16 | 2 << 14, 15, 40 };
	unsigned int i;

	bench_one();
	for (i = 0; i < sizeof(tcr) / sizeof(tcr[0]); i++) {
		bench_write(CB(0, TCR), 4, 16);
		bench_access(0, VA, READ);
		first_is(0, bench.root[0]);
		judge_did("TCR 0x%x", tcr[i]);
		bench_write(CB(0, TCR), 4, tcr[i]);
		bench_faults(0, VA, READ, SMMU_CB_FSR_TF, 0);
		judge_equal("tables the walk came to", bench_last()->arg[4], 0);
	}
	bench_write(CB(0, TCR), 4, 16);
	judge_did("CBA2R.VA64 0: the tables would be AArch32");
	bench_write(GR1(CBA2R(0)), 4, 0);
	bench_faults(0, VA, READ, SMMU_CB_FSR_TF, 0);
	judge_equal("tables the walk came to", bench_last()->arg[4], 0);
}

JUDGE(one_descriptor, "a level reads the one descriptor that the address names")
{
	static const uint64_t va[] = { 0, VA, UINT64_C(0xffffffffffff),
				       UINT64_C(0x8000000000) };
	unsigned int i, t0sz;

	bench_new(0);
	for (t0sz = 16; t0sz <= 39; t0sz += 3) {
		bench_bank(0, 1, t0sz);
		for (i = 0; i < sizeof(va) / sizeof(va[0]); i++) {
			uint64_t a = va[i] & ((UINT64_C(1) << (64 - t0sz)) - 1);

			bench_access(0, a, READ);
			bench_made_reads(1);
			judge_equal("address of the read",
				    bench_last()->arg[LAB_AT_READS],
				    bench_at(0, a, bench.start[0]));
			bench_write(CB(0, FSR), 4, 0xffffffff);
		}
	}
}

static void walk_broken(unsigned int how)
{
	bench_one();
	judge_did("%s at the first descriptor",
		  how == SMMU_MEM_ABORT ? "a bus error" : "poison");
	bench_write(CB(0, FSR), 4, 0xffffffff);
	judge_tell(&(struct subject_msg){ .op = LAB_BREAK, .arg = { bench_at(0, VA, 0), how } },
		   NULL, NULL);
	bench_faults(0, VA, READ, SMMU_CB_FSR_EF, 0);
	bench_made_reads(1);
	bench_counted_reads(1);
}

JUDGE(bus_error, "a bus error on a descriptor is an external fault of the walk")
{
	walk_broken(SMMU_MEM_ABORT);
	judge_did("TTBR0 where there is no memory");
	bench_write(CB(0, TTBR0), 8, 0x1000);
	bench_faults(0, VA, READ, SMMU_CB_FSR_EF, 0);
}

JUDGE(poison, "so is a descriptor that comes back poisoned")
{
	walk_broken(SMMU_MEM_POISON);
}

/* Does a descriptor stop the walk here, with a translation fault? */
static void walk_stops(unsigned int t0sz, uint64_t desc, bool yes)
{
	unsigned int level = t0sz == 25 ? 1 : 0;
	uint64_t va = VA & ((UINT64_C(1) << (64 - t0sz)) - 1), fsr, plvl;

	bench_bank(0, 1, t0sz);
	judge_did("descriptor of level %u: 0x%" PRIx64, level, desc);
	bench_poke(bench_at(0, va, level), desc);
	bench_access(0, va, READ);
	fsr = bench_read(CB(0, FSR), 4);
	plvl = bench_read(CB(0, FSYNR0), 4) & SMMU_CB_FSYNR0_PLVL_MASK;
	bench_write(CB(0, FSR), 4, fsr);
	bench_forget(0);
	judge_same("a translation fault at this very level",
		   fsr & SMMU_CB_FSR_TF && plvl == level ? "yes" : "no",
		   yes ? "yes" : "no");
}

JUDGE(kinds, "0b00 and 0b10 are nothing; 0b01 is a block, but not at level 0")
{
	bench_new(0);
	walk_stops(25, UINT64_C(0x40000000) | D_RW | PTE_VALID, false);
	walk_stops(25, 0, true);
	walk_stops(25, UINT64_C(0x40000000) | D_RW | 2, true);
	walk_stops(16, UINT64_C(0x40000000) | D_RW | PTE_VALID, true);
	walk_stops(16, UINT64_C(0x40000000) | D_RW, true);
	walk_stops(16, UINT64_C(0x40000000) | D_RW | 2, true);
}

JUDGE(four_levels, "four tables, each from the descriptor before")
{
	unsigned int level;
	uint64_t want[4];

	bench_one();
	for (level = 0; level <= 3; level++)
		want[level] = bench_at(0, VA, level);
	judge_did("tables for va 0x%" PRIx64 ", the last one empty", VA);
	bench_faults(0, VA, READ, SMMU_CB_FSR_TF, 3);
	for (level = 0; level <= 3; level++)
		judge_equal("address of a read",
			    bench_last()->arg[LAB_AT_READS + level], want[level]);
	bench_made_reads(4);
	judge_did("the same with attributes in bits 63:59 and 11:2 of a table");
	bench_poke(want[1], bench_peek(want[1]) | UINT64_C(0x1f) << 59 | 0xffc);
	bench_faults(0, VA, READ, SMMU_CB_FSR_TF, 3);
	judge_equal("address of the last read", bench_last()->arg[LAB_AT_READS + 3],
		    want[3]);
}

JUDGE(stops_anywhere, "an invalid descriptor ends the walk at its level")
{
	unsigned int level, low;
	uint64_t pa, old;

	bench_one();
	bench_map(0, VA, PA, 3, D_RW);
	for (low = 0; low <= 2; low += 2) {
		for (level = 0; level <= 3; level++) {
			pa = bench_at(0, VA, level);
			old = bench_peek(pa);
			judge_did("level %u: bits 1:0 become %u", level, low);
			bench_poke(pa, (old & ~UINT64_C(3)) | low);
			bench_faults(0, VA, READ, SMMU_CB_FSR_TF, level);
			bench_made_reads(level + 1);
			bench_counted_reads(level + 1);
			bench_poke(pa, old);
		}
	}
	judge_did("0b01 at level 3");
	bench_poke(bench_at(0, VA, 3), PA | D_RW | PTE_VALID);
	bench_faults(0, VA, READ, SMMU_CB_FSR_TF, 3);
}

JUDGE(table_size, "the address of a table must fit PASIZE")
{
	unsigned int level;
	uint64_t pa, old;

	bench_one();
	bench_map(0, VA, PA, 3, D_RW);
	judge_did("TCR2.PASIZE 0: 32 bits");
	bench_write(CB(0, TCR2), 4, 0 | SMMU_CB_TCR2_AS);
	for (level = 0; level <= 2; level++) {
		pa = bench_at(0, VA, level);
		old = bench_peek(pa);
		judge_did("level %u: bit 32 of the table's address", level);
		bench_poke(pa, old | UINT64_C(1) << 32);
		bench_faults(0, VA, READ, SMMU_CB_FSR_ASF, level);
		bench_made_reads(level + 1);
		bench_poke(pa, old);
	}
}
