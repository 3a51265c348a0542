// SPDX-License-Identifier: BSD-2-Clause
/* The stage-1 walk: what a table says, and every way in which it can fail. */
#include "test_smmu_rig.h"

#define VA	UINT64_C(0x123456789abc)
#define PA	UINT64_C(0xabcde000)

TEST("a 48-bit address takes four descriptors to a 4 KB page")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	struct smmu_stats st;

	rig_map(r, 0, VA, PA, 3, D_RW);
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
	EXPECT_EQ(r->a.pa, PA | 0xabc);
	EXPECT_EQ(r->a.bank, 0);
	EXPECT(!r->a.tlb_hit);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.walks, 1);
	EXPECT_EQ(st.walk_reads, 4);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_LEVEL), 4);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_WALK), 1);
}

TEST("T0SZ gives the start level and the highest address")
{
	struct smmu_stats st;
	unsigned int t0sz;

	for (t0sz = 16; t0sz <= 25; t0sz++) {
		struct rig *r = rig_new(0, 0, 0);
		uint64_t top = (UINT64_C(1) << (64 - t0sz)) - 4096;

		STEP("T0SZ %u", t0sz);
		rig_bank(r, 0, 1, t0sz, SCTLR_ON | HUPCF);
		rig_map(r, 0, top, PA, 3, D_RW);
		EXPECT_EQ(rig_read(r, top), SMMU_OK);
		EXPECT_EQ(r->a.pa, PA);
		smmu_stats(r->s, &st);
		EXPECT_EQ(st.walk_reads, t0sz == 25 ? 3 : 4);
		EXPECT_EQ(rig_read(r, top + 4096), SMMU_FAULT);
		EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
		EXPECT_EQ(rig_plvl(r), 0);
		smmu_stats(r->s, &st);
		EXPECT_EQ(st.walk_reads, t0sz == 25 ? 3 : 4);
	}
}

TEST("a first table that is short may lie inside a page")
{
	struct rig *r = rig_new(0, 0, 0);
	uint64_t root;

	rig_bank(r, 0, 1, 20, SCTLR_ON | HUPCF);	/* 32 entries */
	root = r->root[0] + 0x700;
	r->root[0] = root;
	rig_wr64(r, CB(0, TTBR0), root | UINT64_C(1) << 48);
	rig_map(r, 0, UINT64_C(0x0fffffff3000), PA, 3, D_RW);
	EXPECT_EQ(rig_read(r, UINT64_C(0x0fffffff3000)), SMMU_OK);
	EXPECT_EQ(r->a.pa, PA);
}

TEST("a 2 MB block and a 1 GB block keep the low bits of the address")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_map(r, 0, UINT64_C(0x7f0000200000), 0x40e00000, 2, D_RW);
	rig_map(r, 0, UINT64_C(0x7f0040000000), UINT64_C(0x1c0000000), 1,
		D_RW);
	EXPECT_EQ(rig_read(r, UINT64_C(0x7f00003abcde)), SMMU_OK);
	EXPECT_EQ(r->a.pa, 0x40fabcde);
	EXPECT_EQ(rig_read(r, UINT64_C(0x7f007edcba98)), SMMU_OK);
	EXPECT_EQ(r->a.pa, UINT64_C(0x1fedcba98));
}

TEST("bits of a block's address that are too low are ignored")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	struct trace_record last;

	rig_map(r, 0, 0x200000, 0x40e00000 | 0x1ff000, 2, D_RW);
	EXPECT_EQ(rig_read(r, 0x200010), SMMU_OK);
	EXPECT_EQ(r->a.pa, 0x40e00010);
	EXPECT_EQ(trace_snapshot(r->trace, &last, 1), 1);
	EXPECT_EQ(last.event, EV_SMMU_WALK);
	EXPECT_EQ(last.arg[2], 0x40e00010);
}

TEST("an invalid descriptor at any level is a translation fault there")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	unsigned int level;
	uint64_t low;

	for (low = 0; low <= 2; low += 2) {
		for (level = 0; level <= 3; level++) {
			uint64_t *d, old;

			rig_map(r, 0, VA, PA, 3, D_RW);
			d = rig_desc(r, 0, VA, level);
			old = *d;
			*d = (old & ~UINT64_C(3)) | low;
			EXPECT_EQ(rig_write(r, VA), SMMU_FAULT);
			EXPECT_EQ(rig_rd(r, CB(0, FSR)), 0x402);	/* as in 3.3 */
			EXPECT_EQ(rig_rd64(r, CB(0, FAR)), VA);
			EXPECT_EQ(rig_plvl(r), level);
			EXPECT(rig_rd(r, CB(0, FSYNR0)) & SMMU_CB_FSYNR0_WNR);
			rig_fault(r, 0);
			*d = old;
		}
	}
}

TEST("a block entry at level 0 or level 3 is a translation fault")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_map(r, 0, VA, PA, 3, D_RW);
	*rig_desc(r, 0, VA, 3) = PA | D_RW | PTE_VALID;
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
	EXPECT_EQ(rig_plvl(r), 3);
	*rig_desc(r, 0, VA, 0) = D_RW | PTE_VALID;
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
	EXPECT_EQ(rig_plvl(r), 0);
}

/* Is this access allowed by AP[2:1], with APTable 62:61 above it? */
static bool walk_allowed(unsigned int ap, unsigned int aptable, bool privileged,
			 bool write)
{
	if (write && (ap & 2 || aptable & 2))
		return false;
	return privileged || (ap & 1 && !(aptable & 1));
}

TEST("AP, APTable, privilege and direction decide together")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	unsigned int i, level;

	for (i = 0; i < 64; i++) {
		unsigned int ap = i & 3, apt = i >> 2 & 3;
		bool priv = i & 16, write = i & 32;

		for (level = 0; level <= 2; level++) {
			uint64_t *d;

			STEP("AP %u APTable %u at level %u %s", ap, apt, level,
			     priv ? "privileged" : "user");
			rig_map(r, 0, VA, PA, 3,
				PTE_AF | PTE_NG | (uint64_t)ap << 6);
			d = rig_desc(r, 0, VA, level);
			*d |= (uint64_t)apt << 61;
			r->a.privileged = priv;
			EXPECT_EQ(rig_do(r, 0, VA, write),
				  walk_allowed(ap, apt, priv, write) ? SMMU_OK :
								  SMMU_FAULT);
			if (!walk_allowed(ap, apt, priv, write)) {
				EXPECT_EQ(!!(rig_rd(r, CB(0, FSYNR0)) &
					     SMMU_CB_FSYNR0_PNU), priv);
				EXPECT_EQ(rig_plvl(r), 3);
				EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_PF);
			}
			*d &= ~(UINT64_C(3) << 61);
			rig_wr(r, CB(0, TLBIALL), 0);
		}
	}
}

TEST("a clean shared page of Linux reads, and faults on the first write")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	/* sources: smmu-ptes: RDONLY = 1 with DBM (bit 51) = 1 */
	rig_map(r, 0, VA, PA, 3, D_RO | UINT64_C(1) << 51);
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
	EXPECT_EQ(rig_write(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_PF);
}

TEST("an aged page is an access flag fault, unless AFFD is 1")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_map(r, 0, VA, PA, 3, D_RW & ~PTE_AF);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_AFF);
	EXPECT_EQ(rig_plvl(r), 3);
	rig_wr(r, CB(0, SCTLR), SCTLR_ON | HUPCF | SMMU_CB_SCTLR_AFFD);
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
}

TEST("the access flag is judged before the permission")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_map(r, 0, VA, PA, 3, D_RO & ~PTE_AF);
	EXPECT_EQ(rig_write(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_AFF);
}

TEST("EPD0 forbids walks: translation fault and no read")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	struct smmu_stats st;

	rig_map(r, 0, VA, PA, 3, D_RW);
	rig_wr(r, CB(0, TCR), 16 | SMMU_CB_TCR_EPD0);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.walk_reads, 0);
}

TEST("an address of the upper half or with stray upper bits is a translation fault")
{
	static const uint64_t bad[] = {
		UINT64_C(0xffff800000000000), UINT64_C(0x0001000000000000),
		UINT64_C(0x0080000000001000), UINT64_C(0xffffffffffffffff),
	};
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	unsigned int i;

	rig_map(r, 0, 0, PA, 3, D_RW);
	rig_map(r, 0, 0x1000, PA, 3, D_RW);
	EXPECT_EQ(rig_read(r, 0), SMMU_OK);
	EXPECT_EQ(rig_read(r, 0x1000), SMMU_OK);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(rig_read(r, bad[i]), SMMU_FAULT);
		EXPECT_EQ(rig_rd64(r, CB(0, FAR)), bad[i]);
		EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
		EXPECT_EQ(rig_plvl(r), 0);
	}
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

TEST("an output address over PASIZE is an address size fault at its level")
{
	static const unsigned int bits[] = { 32, 36, 40, 42, 44, 48 };
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	unsigned int i;

	for (i = 0; i < 6; i++) {
		uint64_t edge = UINT64_C(1) << bits[i];

		STEP("PASIZE %u: %u bits", i, bits[i]);
		rig_wr(r, CB(0, TCR2), i | SMMU_CB_TCR2_AS);
		rig_map(r, 0, VA, edge - 4096, 3, D_RW);
		rig_wr(r, CB(0, TLBIALL), 0);
		EXPECT_EQ(rig_read(r, VA), SMMU_OK);
		if (bits[i] == 48)
			break;	/* a descriptor has no higher bits */
		rig_map(r, 0, VA, edge, 3, D_RW & ~PTE_AF);
		rig_wr(r, CB(0, TLBIALL), 0);
		EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
		EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_ASF);
		EXPECT_EQ(rig_plvl(r), 3);
	}
}

TEST("a table address or TTBR0 over PASIZE is an address size fault")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	unsigned int level;

	rig_wr(r, CB(0, TCR2), 0 | SMMU_CB_TCR2_AS);	/* 32 bits */
	for (level = 0; level <= 2; level++) {
		uint64_t *d, old;

		rig_map(r, 0, VA, PA, 3, D_RW);
		d = rig_desc(r, 0, VA, level);
		old = *d;
		*d |= UINT64_C(1) << 32;
		EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
		EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_ASF);
		EXPECT_EQ(rig_plvl(r), level);
		*d = old;
	}
	rig_wr64(r, CB(0, TTBR0), r->root[0] | UINT64_C(1) << 40);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_ASF);
	EXPECT_EQ(rig_plvl(r), 0);
}

TEST("a bus error or poison on any descriptor is an external fault of the walk")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	unsigned int level, how;

	rig_map(r, 0, VA, PA, 3, D_RW);
	for (how = 0; how < 2; how++) {
		for (level = 0; level <= 3; level++) {
			uint64_t pa = rig_desc_pa(r, 0, VA, level);

			STEP("%s at level %u", how ? "poison" : "abort", level);
			r->abort_pa = how ? 0 : pa;
			r->poison_pa = how ? pa : 0;
			EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
			EXPECT_EQ(rig_plvl(r), level);
			EXPECT(rig_rd(r, CB(0, FSYNR0)) & SMMU_CB_FSYNR0_PTWF);
			EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_EF);
		}
	}
	r->poison_pa = 0;
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
}

TEST("a table where there is no memory is an external fault")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_wr64(r, CB(0, TTBR0), 0x1000);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_EF);
}

TEST("granules other than 4 KB and T0SZ out of range are translation faults")
{
	static const uint32_t tcr[] = {
		16 | 1 << 14, 16 | 2 << 14, 16 | 3 << 14, 0, 15, 40, 63
	};
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	unsigned int i;

	rig_map(r, 0, VA, PA, 3, D_RW);
	for (i = 0; i < sizeof(tcr) / sizeof(tcr[0]); i++) {
		rig_wr(r, CB(0, TCR), tcr[i]);
		EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
		EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
	}
	rig_wr(r, CB(0, TCR), 16);
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
}

TEST("without VA64 the tables are AArch32, which is a fault with that format")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_map(r, 0, VA, PA, 3, D_RW);
	rig_wr(r, GR1(CBA2R(0)), 0);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), SMMU_CB_FSR_TF);
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
