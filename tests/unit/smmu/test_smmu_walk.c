// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stage-1 walk: its cost, tags, odd tables, random ones. What a table says, and every way
 * in which a walk can fail, is in labs/walk/tests, which runs here too (test_lab_walk).
 */
#include "rig/smmu.h"

#define VA	UINT64_C(0x123456789abc)
#define PA	UINT64_C(0xabcde000)

TEST("a clean shared page of Linux reads, and faults on the first write")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	/* sources: smmu-ptes: RDONLY = 1 with DBM (bit 51) = 1 */
	rig_map(r, 0, VA, PA, 3, D_RO | UINT64_C(1) << 51);
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
	EXPECT_EQ(rig_write(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_PF);
}

/* UG1087 SMMU_CB3_TCR2: TBI0 is read-only 1. */
TEST("the top byte of an address is a tag: translation, TLB and TLBIVA ignore it")
{
	static const uint64_t tag[] = { 0, UINT64_C(0xff) << 56,
					UINT64_C(0x5a) << 56 };
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	uint64_t va = UINT64_C(0x7f0000001234);
	unsigned int i;

	rig_map(r, 0, va & ~UINT64_C(0xfff), PA, 3, D_RW);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(rig_write(r, va | tag[i]), SMMU_OK);
		EXPECT_EQ(r->a.pa, PA + 0x234);
		EXPECT_EQ(r->a.tlb_hit, i > 0);
	}
	rig_wr64(r, CB(0, TLBIVAL), va >> 12 | UINT64_C(1) << 48);
	EXPECT_EQ(rig_read(r, va | tag[2]), SMMU_OK);
	EXPECT(!r->a.tlb_hit);
	STEP("FAR tells of the address as it came");
	EXPECT_EQ(rig_read(r, tag[2] | 0x5000), SMMU_FAULT);
	EXPECT_EQ(rig_rd64(r, CB(0, FAR)), tag[2] | 0x5000);
	STEP("the 48-bit range counts without the tag");
	EXPECT_EQ(rig_read(r, tag[1] | UINT64_C(0x1000000000000)), SMMU_FAULT);
}

TEST("TTBR0 over PASIZE is an address size fault of level 0")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_wr(r, CB(0, TCR2), 0 | SMMU_CB_TCR2_AS);	/* 32 bits */
	rig_wr64(r, CB(0, TTBR0), r->root[0] | UINT64_C(1) << 40);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_ASF);
	EXPECT_EQ(rig_plvl(r), 0);
}

TEST("a table where there is no memory is an external fault")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_wr64(r, CB(0, TTBR0), 0x1000);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_EF);
}

TEST("a walk costs its levels, a hit the lookup alone")
{
	struct rig *r = rig_new(0, 7, 10);

	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF);
	rig_map(r, 0, VA, PA, 3, D_RW);
	r->a.now_ns = 1000;
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
	EXPECT_EQ(r->a.ready_ns, 1000 + 7 + 4 * 10);
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
	EXPECT_EQ(r->a.ready_ns, 1000 + 7);
	*rig_desc(r, 0, VA, 1) = 0;
	rig_wr(r, CB(0, TLBIALL), 0);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(r->a.ready_ns, 1000 + 7 + 2 * 10);
}

TEST("the ninth miss of a TBU waits for a walk to end; a hit does not")
{
	struct rig *r = rig_new(0, 0, 10);
	struct smmu_stats st;
	unsigned int i;

	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF);
	for (i = 0; i < 16; i++)
		rig_map(r, 0, VA + i * 4096, PA + i * 4096, 3, D_RW);
	for (i = 0; i < SMMU_WALKS; i++) {
		r->a.now_ns = 100 + i;
		EXPECT_EQ(rig_read(r, VA + i * 4096), SMMU_OK);
		EXPECT_EQ(r->a.ready_ns, 140 + i);
	}
	r->a.now_ns = 110;
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
	EXPECT(r->a.tlb_hit);
	EXPECT_EQ(r->a.ready_ns, 110);
	EXPECT_EQ(rig_read(r, VA + 8 * 4096), SMMU_OK);
	EXPECT_EQ(r->a.ready_ns, 140 + 40);
	EXPECT_EQ(rig_read(r, VA + 9 * 4096), SMMU_OK);
	EXPECT_EQ(r->a.ready_ns, 141 + 40);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.walk_waits, 2);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_WALK_WAIT), 2);

	STEP("another TBU has walks of its own");
	rig_wr(r, GR0(SMR(1)), (0x400 | RIG_STREAM) | SMMU_GR0_SMR_VALID);
	rig_wr(r, GR0(S2CR(1)), 0);
	EXPECT_EQ(rig_do(r, 0x400, VA + 10 * 4096, false), SMMU_OK);
	EXPECT_EQ(r->a.ready_ns, 150);

	STEP("later, all are free");
	r->a.now_ns = 500;
	EXPECT_EQ(rig_read(r, VA + 11 * 4096), SMMU_OK);
	EXPECT_EQ(r->a.ready_ns, 540);
}

/* A second walker, as plain as can be, to hold the first one against. */
static uint32_t walk_naive(struct rig *r, uint64_t va, bool write, bool priv,
			   unsigned int t0sz, unsigned int pa_bits, bool affd,
			   uint64_t *pa, unsigned int *level)
{
	uint64_t t = r->root[0], d, take_w = 0, take_u = 0, out;
	unsigned int l, low;

	*level = 0;
	if (va >> (64 - t0sz))
		return SMMU_CB_FSR_TF;
	for (l = t0sz >= 25 ? 1 : 0;; l++) {
		low = 12 + 9 * (3 - l);
		*level = l;
		if (t < RIG_BASE || t >= RIG_BASE + RIG_PAGES * 4096ull)
			return SMMU_CB_FSR_EF;
		d = r->mem[(t - RIG_BASE) / 8 + (va >> low) % 512];
		if (d % 2 == 0)
			return SMMU_CB_FSR_TF;
		out = d << 16 >> 28 << 12;
		if (l == 3 || d % 4 == 1) {
			if ((l == 3) != (d % 4 == 3) || l == 0)
				return SMMU_CB_FSR_TF;
			break;
		}
		if (out >> pa_bits)
			return SMMU_CB_FSR_ASF;
		take_w |= d >> 62 & 1;
		take_u |= d >> 61 & 1;
		t = out;
	}
	out = out >> low << low;
	if (out >> pa_bits)
		return SMMU_CB_FSR_ASF;
	if (!(d >> 10 & 1) && !affd)
		return SMMU_CB_FSR_AFF;
	if (write && (d >> 7 & 1 || take_w))
		return SMMU_CB_FSR_PF;
	if (!priv && (!(d >> 6 & 1) || take_u))
		return SMMU_CB_FSR_PF;
	*pa = out + va % (1ull << low);
	return 0;
}

/* Mostly good descriptors, so that walks get deep; sometimes any bits. */
static uint64_t random_desc(struct rig *r, uint64_t *rng)
{
	uint64_t x = rig_random(rng);
	uint64_t d = RIG_BASE + (x >> 8) % r->pages_used * 4096;

	d |= x % 16 ? 3 : x >> 4 & 3;
	d |= rig_random(rng) & (UINT64_C(7) << 60 | 0xfc0);
	if (x >> 60)
		d |= PTE_AF;
	if (rig_random(rng) % 32 == 0)
		d ^= rig_random(rng) & rig_random(rng);
	return d;
}

TEST("the walker agrees with a naive one over random tables")
{
	static const unsigned int pasize[] = { 32, 36, 40, 42, 44, 48 };
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	unsigned int i, level, ok = 0, kinds = 0;
	uint64_t rng = rig_seed();

	for (i = 0; i < 12; i++)
		rig_page(r);
	for (i = 0; i < 20000; i++) {
		unsigned int t0sz = i % 2 ? 25 : 16 + rig_random(&rng) % 10;
		unsigned int ps = rig_random(&rng) % 6;
		bool affd = rig_random(&rng) & 1, write = rig_random(&rng) & 1;
		uint64_t va = rig_random(&rng) >> 16, pa = 0, j;
		uint32_t want;

		if (i % 8)
			va &= (UINT64_C(1) << (64 - t0sz)) - 1;
		for (j = 0; i % 500 == 0 && j < 13 * 512; j++)
			r->mem[j] = random_desc(r, &rng);
		r->a.privileged = rig_random(&rng) & 1;
		rig_wr(r, CB(0, TCR), t0sz);
		/* TTBR0 of a short first table keeps the page's address. */
		rig_wr(r, CB(0, TCR2), ps | SMMU_CB_TCR2_AS);
		rig_wr(r, CB(0, SCTLR), SCTLR_ON | HUPCF |
					(affd ? SMMU_CB_SCTLR_AFFD : 0));
		rig_wr(r, CB(0, TLBIALL), 0);
		want = walk_naive(r, va, write, r->a.privileged, t0sz,
				  pasize[ps], affd, &pa, &level);
		va |= i % 3 ? 0 : rig_random(&rng) << 56;	/* a tag */
		EXPECT_EQ(rig_do(r, 0, va, write), want ? SMMU_FAULT : SMMU_OK);
		if (want) {
			EXPECT_EQ(rig_plvl(r), level);
			EXPECT_EQ(rig_fault(r, 0), want);
		} else {
			EXPECT_EQ(r->a.pa, pa);
			ok++;
		}
		kinds |= want;
	}
	STEP("%u of %u were translated, fault kinds 0x%x", ok, i, kinds);
	EXPECT_GE(ok, 1000);
	EXPECT_EQ(kinds, SMMU_CB_FSR_TF | SMMU_CB_FSR_AFF | SMMU_CB_FSR_PF |
			 SMMU_CB_FSR_EF | SMMU_CB_FSR_ASF);
}
