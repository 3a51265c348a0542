// SPDX-License-Identifier: BSD-2-Clause
/* From a stream to a bank: match, bypass, and the global faults of the rest. */
#include "rig/smmu.h"

#define VA	UINT64_C(0x5000)
#define PA	UINT64_C(0x40000000)
#define VALID	SMMU_GR0_SMR_VALID
#define TYPE(t)	((uint32_t)(t) << SMMU_GR0_S2CR_TYPE_SHIFT)
#define ALL_REPORTS	(SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_GFIE)

static struct rig *stream_start(void)
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_map(r, 0, VA, PA, 3, D_RW);
	return r;
}

static enum smmu_verdict stream_access(struct rig *r, uint16_t id)
{
	r->a.stream = id;
	r->a.va = VA;
	r->a.write = false;
	STEP("stream 0x%x", id);
	return smmu_translate(r->s, &r->a);
}

static uint32_t gfsr_clear(struct rig *r)
{
	uint32_t v = rig_rd(r, GR0(GFSR));

	rig_wr(r, GR0(GFSR), v);
	EXPECT_EQ(rig_rd(r, GR0(GFSR)), 0);
	return v;
}

TEST("after power-on everything bypasses, CLIENTPD being 1")
{
	struct rig *r = rig_new(0, 5, 5);

	r->a.now_ns = 10;
	EXPECT_EQ(stream_access(r, 0x7fff), SMMU_OK);
	EXPECT_EQ(r->a.pa, VA);
	EXPECT_EQ(r->a.tag, VA >> 12);
	EXPECT_EQ(r->a.bank, 0xff);
	EXPECT_EQ(r->a.ready_ns, 10);
}

TEST("CLIENTPD lets a translated stream pass, too")
{
	struct rig *r = stream_start();

	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	EXPECT_EQ(r->a.pa, PA);
	rig_wr(r, GR0(CR0), SMMU_GR0_CR0_CLIENTPD);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	EXPECT_EQ(r->a.pa, VA);
}

TEST("a mask bit takes an ID bit out of the comparison")
{
	struct rig *r = stream_start();
	uint32_t id;

	/* the 64 IDs of one port, AXI ID 5:0; sources: smmu-ids */
	rig_wr(r, GR0(SMR(0)), RIG_STREAM / 64 * 64 | 63 << 16 | VALID);
	for (id = 0; id < 0x8000; id++) {
		bool in = id / 64 == RIG_STREAM / 64;

		EXPECT_EQ(stream_access(r, (uint16_t)id),
			  in ? SMMU_OK : SMMU_FAULT);
		EXPECT_EQ(r->a.bank, in ? 0 : 0xff);
	}
}

TEST("a group that is not valid matches nothing")
{
	struct rig *r = stream_start();

	rig_wr(r, GR0(SMR(0)), RIG_STREAM);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_USF);
}

TEST("the last of the 48 groups matches as well")
{
	struct rig *r = stream_start();

	rig_wr(r, GR0(SMR(47)), 0x123 | VALID);
	rig_wr(r, GR0(S2CR(47)), 0);
	EXPECT_EQ(stream_access(r, 0x123), SMMU_OK);
	EXPECT_EQ(r->a.pa, PA);
}

TEST("no match bypasses with USFCFG 0 and faults with USFCFG 1")
{
	struct rig *r = stream_start();

	EXPECT_EQ(stream_access(r, 0x111), SMMU_FAULT);
	EXPECT_EQ(rig_rd64(r, GR0(GFAR)), VA);
	EXPECT_EQ(rig_rd(r, GR0(GFSYNR1)), 0x111);
	EXPECT_EQ(rig_rd(r, GR0(GFSYNR0)), 0);
	EXPECT(r->irq);
	EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_USF);
	EXPECT(!r->irq);
	rig_wr(r, GR0(CR0), ALL_REPORTS);
	EXPECT_EQ(stream_access(r, 0x111), SMMU_OK);
	EXPECT_EQ(r->a.pa, VA);
	EXPECT_EQ(rig_rd(r, GR0(GFSR)), 0);
}

TEST("two groups that match are a stream match conflict")
{
	struct rig *r = stream_start();

	rig_wr(r, GR0(SMR(1)), 0 | 0x7fffu << 16 | VALID);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_SMCF);
	rig_wr(r, GR0(SMR(1)), 0);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
}

TEST("S2CR.TYPE translates, bypasses or faults; the reserved value faults")
{
	struct rig *r = stream_start();

	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	EXPECT_EQ(r->a.pa, PA);
	rig_wr(r, GR0(S2CR(0)), TYPE(1));
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	EXPECT_EQ(r->a.pa, VA);
	EXPECT_EQ(r->a.bank, 0xff);
	rig_wr(r, GR0(S2CR(0)), TYPE(2));
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_ICF);
	rig_wr(r, GR0(S2CR(0)), TYPE(3));
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_ICF);
}

TEST("a bank that is not there is an unimplemented context bank fault")
{
	struct rig *r = stream_start();

	rig_wr(r, GR0(S2CR(0)), 16);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_UCBF);
	rig_wr(r, GR0(S2CR(0)), 255);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_UCBF);
}

TEST("a bank whose CBAR is not stage 1 only is an invalid context fault")
{
	struct rig *r = stream_start();
	unsigned int type;

	for (type = 0; type < 4; type++) {
		rig_wr(r, GR1(CBAR(0)), type << SMMU_GR1_CBAR_TYPE_SHIFT);
		EXPECT_EQ(stream_access(r, RIG_STREAM),
			  type == 1 ? SMMU_OK : SMMU_FAULT);
		EXPECT_EQ(gfsr_clear(r), type == 1 ? 0 : SMMU_GR0_GFSR_ICF);
	}
}

TEST("SCTLR.M 0 bypasses, and the bank is named")
{
	struct rig *r = stream_start();

	rig_wr(r, CB(0, SCTLR), SMMU_CB_SCTLR_CFRE);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	EXPECT_EQ(r->a.pa, VA);
	EXPECT_EQ(r->a.bank, 0);
}

TEST("PRIVCFG overrides what the transaction says of its privilege")
{
	struct rig *r = stream_start();
	unsigned int cfg, priv;

	rig_map(r, 0, VA, PA, 3, D_RW & ~PTE_USER);
	for (cfg = 0; cfg < 4; cfg++) {
		for (priv = 0; priv < 2; priv++) {
			bool effective = cfg == 2 ? 0 : cfg == 3 ? 1 : priv;

			rig_wr(r, GR0(S2CR(0)),
			       cfg << SMMU_GR0_S2CR_PRIVCFG_SHIFT);
			r->a.privileged = priv;
			EXPECT_EQ(stream_access(r, RIG_STREAM),
				  effective ? SMMU_OK : SMMU_FAULT);
			EXPECT_EQ(rig_fault(r, 0),
				  effective ? 0 : SMMU_CB_FSR_PF);
		}
	}
}

TEST("only the first global fault is described, a later one sets MULTI")
{
	struct rig *r = stream_start();

	r->a.privileged = true;
	EXPECT_EQ(stream_access(r, 0x111), SMMU_FAULT);
	rig_wr(r, GR0(S2CR(0)), TYPE(2));
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	EXPECT_EQ(rig_rd(r, GR0(GFSR)),
		  SMMU_GR0_GFSR_USF | SMMU_GR0_GFSR_MULTI);
	EXPECT_EQ(rig_rd(r, GR0(GFSYNR1)), 0x111);
	EXPECT_EQ(rig_rd(r, GR0(GFSYNR0)), SMMU_GR0_GFSYNR0_PNU);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_GLOBAL), 2);
	rig_wr(r, GR0(GFSR), SMMU_GR0_GFSR_USF);
	EXPECT_EQ(rig_rd(r, GR0(GFSR)), SMMU_GR0_GFSR_MULTI);
	EXPECT(r->irq);
	gfsr_clear(r);
	EXPECT(!r->irq);
}

TEST("GFRE and GFIE rule all global faults, and GCFGFRE and GCFGFIE cannot be set")
{
	struct rig *r = stream_start();
	unsigned int i;

	for (i = 0; i < 16; i++) {
		bool gfre = i & 1, gfie = i & 2;

		STEP("GFRE %d GFIE %d, GCFGFRE and GCFGFIE written as %u", gfre,
		     gfie, i >> 2);
		rig_wr(r, GR0(CR0), SMMU_GR0_CR0_USFCFG |
				    (gfre ? SMMU_GR0_CR0_GFRE : 0) |
				    (gfie ? SMMU_GR0_CR0_GFIE : 0) |
				    i >> 2 << SMMU_GR0_CR0_GCFGFRE_SHIFT);
		EXPECT_EQ(rig_rd(r, GR0(CR0)) & 0x30, 0);
		EXPECT_EQ(stream_access(r, 0x111),
			  gfre ? SMMU_FAULT : SMMU_RAZWI);
		EXPECT_EQ(r->irq, gfie);
		EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_USF);
		EXPECT(!r->irq);
		rig_wr(r, GR0(S2CR(0)), 16);
		EXPECT_EQ(stream_access(r, RIG_STREAM),
			  gfre ? SMMU_FAULT : SMMU_RAZWI);
		EXPECT_EQ(r->irq, gfie);
		EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_UCBF);
		EXPECT(!r->irq);
		rig_wr(r, GR0(S2CR(0)), TYPE(2));
		EXPECT_EQ(stream_access(r, RIG_STREAM),
			  gfre ? SMMU_FAULT : SMMU_RAZWI);
		EXPECT_EQ(r->irq, gfie);
		EXPECT_EQ(gfsr_clear(r), SMMU_GR0_GFSR_ICF);
		EXPECT(!r->irq);
		rig_wr(r, GR0(S2CR(0)), 0);
	}
}

TEST("GFSRRESTORE sets bits and raises the line")
{
	struct rig *r = stream_start();

	rig_wr(r, GR0(GFSRRESTORE), 0xffffffff);
	EXPECT_EQ(rig_rd(r, GR0(GFSR)), 0x800001ff);
	EXPECT(r->irq);
	EXPECT_EQ(gfsr_clear(r), 0x800001ff);
	EXPECT(!r->irq);
}

TEST("a remembered match is forgotten when a register that matters is written")
{
	struct rig *r = stream_start();

	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	rig_wr(r, GR0(SMR(0)), 0);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	rig_wr(r, GR0(SMR(0)), RIG_STREAM | VALID);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	rig_wr(r, GR0(S2CR(0)), TYPE(2));
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	rig_wr(r, GR0(S2CR(0)), TYPE(0));
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	rig_wr(r, GR1(CBAR(0)), 0);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_FAULT);
	rig_wr(r, GR1(CBAR(0)), 1 << 16);
	EXPECT_EQ(stream_access(r, RIG_STREAM), SMMU_OK);
	EXPECT_EQ(stream_access(r, 0x111), SMMU_FAULT);
	rig_wr(r, GR0(CR0), 0);
	EXPECT_EQ(stream_access(r, 0x111), SMMU_OK);
}

TEST("matching agrees with the formula over random groups")
{
	struct rig *r = stream_start();
	uint64_t rng = rig_seed();
	unsigned int i, j, seen[3] = { 0 };

	for (i = 0; i < 3000; i++) {
		unsigned int n = 0, bank = 0;
		uint32_t smr[48];
		uint16_t id = rig_random(&rng) & 0x7fff;

		for (j = 0; j < 48; j++) {
			uint64_t x = rig_random(&rng);

			smr[j] = (uint32_t)(x & x >> 32) |
				 (x % 64 ? 0 : VALID);
			if (x % 61 == 0)
				smr[j] = (id ^ 5) | 0xfu << 16 | VALID;
			rig_wr(r, GR0(SMR(j)), smr[j]);
			rig_wr(r, GR0(S2CR(j)), j % 16);
			rig_wr(r, GR1(CBAR(j % 16)), 1 << 16);
			if (!(smr[j] >> 31) ||
			    (smr[j] ^ id) & ~(smr[j] >> 16) & 0x7fff)
				continue;
			n++;
			bank = j % 16;
		}
		rig_wr(r, CB(bank, SCTLR), 0);
		EXPECT_EQ(stream_access(r, id), n == 1 ? SMMU_OK : SMMU_FAULT);
		if (n == 1)
			EXPECT_EQ(r->a.bank, bank);
		EXPECT_EQ(gfsr_clear(r), n == 1 ? 0 :
			  n ? SMMU_GR0_GFSR_SMCF : SMMU_GR0_GFSR_USF);
		seen[n > 2 ? 2 : n]++;
	}
	EXPECT(seen[0] > 50 && seen[1] > 50 && seen[2] > 50);
}
