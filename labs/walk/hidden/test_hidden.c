// SPDX-License-Identifier: BSD-2-Clause
/* Not in the handout: random tables and random uses, against plain models. */
#include "labs/walk/tests/bench.h"

#define VA	UINT64_C(0x7f1234567000)
#define PA	UINT64_C(0x40000000)

/* Mostly good descriptors, so that walks get deep; sometimes any bits. */
static uint64_t random_desc(unsigned int pages)
{
	uint64_t x = judge_random();
	uint64_t d = LAB_BASE + (x >> 8) % pages * PAGE;

	d |= x % 16 ? 3 : x >> 4 & 3;
	d |= judge_random() & (UINT64_C(7) << 60 | 0xfc0);
	if (x >> 60)
		d |= PTE_AF;
	if (judge_random() % 32 == 0)
		d ^= judge_random() & judge_random();
	return d;
}

static void hidden_registers(const struct bench_want *w, unsigned int pasize)
{
	bench_write(CB(0, TCR), 4, w->t0sz);
	bench_write(CB(0, TCR2), 4, pasize | SMMU_CB_TCR2_AS);
	bench_write(CB(0, SCTLR), 4,
		    SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE |
		    SMMU_CB_SCTLR_HUPCF | (w->affd ? SMMU_CB_SCTLR_AFFD : 0));
	bench_forget(0);
}

JUDGE(random_walks, "walks over random tables")
{
	static const unsigned int pasize[] = { 32, 36, 40, 42, 44, 48 };
	unsigned int i, j, ps, how, ok = 0;
	uint32_t fault;
	uint64_t va;

	bench_one();
	for (i = 0; i < 3000; i++) {
		struct bench_want w = { .affd = judge_random() & 1 };

		for (j = 0; i % 500 == 0 && j < 9 * 512; j++)
			bench_poke(LAB_BASE + 8 * j, random_desc(9));
		w.t0sz = i % 2 ? 25 : 16 + judge_random() % 24;
		ps = judge_random() % 6;
		w.pa_bits = pasize[ps];
		how = judge_random() & (WRITE | PRIVILEGED);
		va = judge_random() >> 16;
		if (i % 8)
			va &= (UINT64_C(1) << (64 - w.t0sz)) - 1;
		judge_did("T0SZ %u, %u bits out, AFFD %d", w.t0sz, w.pa_bits,
			  w.affd);
		hidden_registers(&w, ps);
		fault = bench_walk(va, how, &w);
		if (fault)
			bench_faults(0, va, how, fault, w.level);
		else
			bench_reaches(0, va, how, w.pa);
		bench_made_reads(w.reads);
		ok += !fault;
	}
	judge_at_least("walks that reached a page", ok, 100);
}

JUDGE(small_tlb, "a small TLB forgets, but never lies")
{
	unsigned int i, bank;

	bench_new(8);
	for (bank = 0; bank < 3; bank++)
		bench_bank(bank, (uint16_t)(bank + 1), 16);
	for (i = 0; i < 4000; i++) {
		uint64_t x = judge_random(), va, at, desc;

		bank = x % 3;
		va = VA + (x >> 8) % 24 * PAGE;
		at = bench_at(bank, va, 3);
		desc = bench_peek(at);
		if (x >> 32 & 1) {
			if (desc)
				bench_reaches(bank, va, READ,
					      desc & UINT64_C(0xfffffffff000));
			else
				bench_faults(bank, va, READ, SMMU_CB_FSR_TF, 3);
			continue;
		}
		bench_poke(at, 0);
		bench_invalidate(bank, va, (uint16_t)(bank + 1));
		if (x >> 33 & 3)
			bench_poke(at, (x >> 40) * PAGE | D_RW | PTE_TYPE);
	}
	judge_at_least("hits", bench_hits(), 100);
}

JUDGE(in_turn, "the newest of a set stay: its ways are given up in turn")
{
	unsigned int i;

	bench_new(16);
	bench_bank(0, 1, 16);
	for (i = 0; i < 11; i++) {
		bench_map(0, VA + i * 4 * PAGE, PA + i * PAGE, 3, D_RW);
		bench_reaches(0, VA + i * 4 * PAGE, READ, PA + i * PAGE);
	}
	for (i = 7; i < 11; i++) {
		bench_reaches(0, VA + i * 4 * PAGE, READ, PA + i * PAGE);
		bench_was_hit(true);
	}
	bench_reaches(0, VA + 6 * 4 * PAGE, READ, PA + 6 * PAGE);
	bench_was_hit(false);
}

JUDGE(mixed_sizes, "pages, blocks, global or not, side by side")
{
	unsigned int i;

	bench_new(0);
	bench_bank(0, 1, 16);
	bench_bank(1, 2, 16);
	bench_map(0, 0x40000000, 0x80000000, 1, D_RW);
	bench_map(0, 0x200000, 0x600000, 2, D_RW & ~PTE_NG);
	bench_map(0, 0x1000, 0x7000, 3, D_RW);
	bench_map(1, 0x1000, 0x9000, 3, D_RW | PTE_RDONLY);
	for (i = 0; i < 2; i++) {
		bench_reaches(0, 0x40001000, READ, 0x80001000);
		bench_was_hit(i);
		bench_reaches(0, 0x3ff000, WRITE, 0x7ff000);
		bench_was_hit(i);
		bench_reaches(0, 0x1000, WRITE, 0x7000);
		bench_was_hit(i);
		bench_reaches(1, 0x1000, READ, 0x9000);
		bench_was_hit(i);
		bench_faults(1, 0x1000, WRITE, SMMU_CB_FSR_PF, 3);
		bench_reaches(1, 0x2ff000, READ, 0x6ff000);
		bench_was_hit(true);
	}
}
