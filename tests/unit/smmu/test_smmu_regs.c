// SPDX-License-Identifier: BSD-2-Clause
/* The register window: decode, access types, halves, alias, reset, bad offsets. */
#include "rig/smmu.h"

#include <errno.h>

TEST("a read-only register ignores writes")
{
	static const uint32_t off[] = { 0x20, 0x24, 0x28, 0x3c, 0x74,
					0x10000 + 0x7f4, 0x10000 + 0x8f0 };
	struct rig *r = rig_new(0, 0, 0);
	unsigned int i;

	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		uint32_t before = rig_rd(r, off[i]);

		rig_wr(r, off[i], ~before);
		EXPECT_EQ(rig_rd(r, off[i]), before);
	}
}

TEST("a write-only register reads as zero")
{
	static const uint32_t off[] = { 0x4c, 0x60, 0x64, 0x68, 0x6c, 0x70,
					0x10008, 0x1005c, 0x10600, 0x10604,
					0x10610, 0x10618, 0x10620, 0x10628,
					0x107f0, 0x10800 };
	struct rig *r = rig_new(0, 0, 0);
	unsigned int i;

	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		rig_wr(r, off[i], 0xffffffff);
		EXPECT_EQ(rig_rd(r, off[i]), 0);
	}
}

TEST("reserved bits and fields that the MMU-500 lacks keep their reset value")
{
	static const struct {
		uint32_t off, ones, zeroes;
	} reg[] = {
		/*
		 * CR0: no EXIDENABLE, STALLD, GSE, VMID16EN, GCFGFRE, GCFGFIE;
		 * SMCFCFG stays
		 */
		{ 0x000, 0x0020fc07, 0x00200000 },
		{ 0x010, 0x0400051c, 0 },
		{ 0x050, 0x0000000f, 0 },
		{ 0x800, 0xffff7fff, 0 },
		{ 0xc00, 0x0ffffbff, 0 },
		{ 0x1000, 0x0003f3ff, 0 },
		{ 0x1400, 0x00007fff, 0 },
		{ 0x1800, 0x00000001, 0 },
		{ 0x10000, 0x000027ef, 0 },
		{ 0x10004, 0x00000003, 0 },
		{ 0x10010, 0x00038077, 0x60 },
		{ 0x10030, 0x80c0ffbf, 0 },
		{ 0x10068, 0x00ff0dff, 0 },
		{ 0x10034, 0xffffffff, 0 },
		{ 0x10038, 0xffffffff, 0 },
		{ 0x1006c, 0xffffffff, 0 },
	};
	struct rig *r = rig_new(0, 0, 0);
	unsigned int i;

	rig_wr(r, 0x010, 0);	/* CACHE_LOCK: ACTLR is locked after reset */
	for (i = 0; i < sizeof(reg) / sizeof(reg[0]); i++) {
		STEP("offset 0x%x", reg[i].off);
		if (reg[i].off == 0x10004)
			rig_wr(r, 0x010, 0);
		rig_wr(r, reg[i].off, 0xffffffff);
		EXPECT_EQ(rig_rd(r, reg[i].off), reg[i].ones);
		rig_wr(r, reg[i].off, 0);
		EXPECT_EQ(rig_rd(r, reg[i].off), reg[i].zeroes);
	}
}

TEST("Linux's probe finds 15 stream ID bits and 48 groups")
{
	struct rig *r = rig_new(0, 0, 0);

	EXPECT_EQ(rig_rd(r, GR0(ID0)) & 0xff, 48);
	rig_wr(r, GR0(SMR(0)), 0x7fff);
	EXPECT_EQ(rig_rd(r, GR0(SMR(0))), 0x7fff);
	rig_wr(r, GR0(SMR(0)), 0x7fffu << 16);
	EXPECT_EQ(rig_rd(r, GR0(SMR(0))) >> 16, 0x7fff);
}

TEST("a 64-bit register is whole, or two halves")
{
	static const uint32_t off[] = { 0x40, 0x10020, 0x10028, 0x10060,
					0x1f060 };
	struct rig *r = rig_new(0, 0, 0);
	unsigned int i;

	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		rig_wr64(r, off[i], UINT64_C(0x1122334455667788));
		EXPECT_EQ(rig_rd(r, off[i]), 0x55667788);
		EXPECT_EQ(rig_rd(r, off[i] + 4), 0x11223344);
		rig_wr(r, off[i] + 4, 0xa0b0c0d0);
		EXPECT_EQ(rig_rd64(r, off[i]), UINT64_C(0xa0b0c0d055667788));
		rig_wr(r, off[i], 0x01020304);
		EXPECT_EQ(rig_rd64(r, off[i]), UINT64_C(0xa0b0c0d001020304));
	}
}

TEST("an 8-byte access covers two neighbouring 32-bit registers")
{
	struct rig *r = rig_new(0, 0, 0);

	rig_wr64(r, CB(2, MAIR0), UINT64_C(0xff440c0400112233));
	EXPECT_EQ(rig_rd(r, CB(2, MAIR0)), 0x00112233);
	EXPECT_EQ(rig_rd(r, CB(2, MAIR1)), 0xff440c04);
	EXPECT_EQ(rig_rd64(r, GR0(ID0)), UINT64_C(0x300000104E011E30));
}

TEST("misaligned, oversized and outside accesses are refused and change nothing")
{
	static const struct {
		uint32_t off;
		unsigned int size;
	} bad[] = {
		{ 0x1, 4 }, { 0x2, 4 }, { 0x10024, 8 }, { 0x10002, 8 },
		{ 0x10020, 1 }, { 0x10020, 2 }, { 0x10020, 0 }, { 0x10020, 16 },
		{ 0x20000, 4 }, { 0x20000, 8 }, { 0xfffffffc, 4 },
		{ 0xfffffff8, 8 },
	};
	struct rig *r = rig_new(0, 0, 0);
	unsigned int i;

	rig_wr64(r, 0x10020, UINT64_C(0x1234567890));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t value = 99;

		STEP("offset 0x%x size %u", bad[i].off, bad[i].size);
		EXPECT_EQ(smmu_reg_read(r->s, bad[i].off, bad[i].size, &value),
			  -EINVAL);
		EXPECT_EQ(value, 0);
		EXPECT_EQ(smmu_reg_write(r->s, bad[i].off, bad[i].size, ~0ull), -EINVAL);
	}
	EXPECT_EQ(rig_rd64(r, 0x10020), UINT64_C(0x1234567890));
}

TEST("offsets without a register read as zero and ignore writes")
{
	static const uint32_t off[] = { 0x014, 0x080, 0x2000, 0x3ff8, 0xfffc,
					0x1040, 0x1440, 0x8c0, 0xcc0, 0x10014,
					0x10ffc, 0x1f900, 0x420, 0x460, 0x468,
					0x7fc };
	struct rig *r = rig_new(0, 0, 0);
	unsigned int i;

	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		rig_wr(r, off[i], 0xffffffff);
		EXPECT_EQ(rig_rd(r, off[i]), 0);
	}
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_TLBI), 0);
}

TEST("the non-secure alias at 0x400 is the same register, where it applies")
{
	struct rig *r = rig_new(0, 0, 0);

	rig_wr(r, 0x400, 0x6);
	EXPECT_EQ(rig_rd(r, 0x000), 0x00200006);
	rig_wr64(r, 0x440, UINT64_C(0xabcdef0123));
	EXPECT_EQ(rig_rd64(r, 0x040), UINT64_C(0xabcdef0123));
	rig_wr(r, 0x44c, SMMU_GR0_GFSR_USF);
	EXPECT_EQ(rig_rd(r, 0x048), SMMU_GR0_GFSR_USF);
	EXPECT(r->irq);
	rig_wr(r, 0x448, SMMU_GR0_GFSR_USF);
	EXPECT(!r->irq);
	rig_wr(r, 0x054, 0x7);
	EXPECT_EQ(rig_rd(r, 0x454), 0x7);
}

TEST("CACHE_LOCK locks ACTLR of every bank; Linux clears it first")
{
	struct rig *r = rig_new(0, 0, 0);

	rig_wr(r, CB(3, ACTLR), 0);
	EXPECT_EQ(rig_rd(r, CB(3, ACTLR)), 3);
	rig_wr(r, GR0(ACR),
	       SMMU_GR0_ACR_SMTNMB_TLBEN | SMMU_GR0_ACR_S2CRB_TLBEN);
	rig_wr(r, CB(3, ACTLR), SMMU_CB_ACTLR_CMTLB);
	EXPECT_EQ(rig_rd(r, CB(3, ACTLR)), 1);
	rig_wr(r, GR0(ACR), SMMU_GR0_ACR_CACHE_LOCK);
	rig_wr(r, CB(3, ACTLR), 3);
	EXPECT_EQ(rig_rd(r, CB(3, ACTLR)), 1);
}

TEST("the registers of a bank are its own")
{
	struct rig *r = rig_new(0, 0, 0);
	unsigned int n;

	for (n = 0; n < SMMU_BANKS; n++) {
		rig_wr(r, CB(n, CONTEXTIDR), n + 1);
		rig_wr(r, GR1(CBFRSYNRA(n)), n + 100);
	}
	for (n = 0; n < SMMU_BANKS; n++) {
		EXPECT_EQ(rig_rd(r, CB(n, CONTEXTIDR)), n + 1);
		EXPECT_EQ(rig_rd(r, GR1(CBFRSYNRA(n))), n + 100);
	}
}

TEST("ATS1PR is absent: nothing is translated and ATSR is never active")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);
	struct smmu_stats st;

	rig_wr64(r, CB(0, ATS1PR), 0x1000);
	EXPECT_EQ(rig_rd(r, CB(0, ATSR)), 0);
	EXPECT_EQ(rig_rd64(r, CB(0, PAR)), 0);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.walks, 0);
}

/* The order of the stock driver's device reset, sources: smmu-regs. */
static void linux_reset(struct rig *r)
{
	unsigned int i;

	rig_wr(r, GR0(GFSR), rig_rd(r, GR0(GFSR)));
	for (i = 0; i < SMMU_GROUPS; i++) {
		rig_wr(r, GR0(S2CR(i)), 2 << SMMU_GR0_S2CR_TYPE_SHIFT);
		rig_wr(r, GR0(SMR(i)), 0);
	}
	for (i = 0; i < SMMU_BANKS; i++) {
		rig_wr(r, CB(i, SCTLR), 0);
		rig_wr(r, CB(i, FSR),
		       SMMU_CB_FSR_MULTI | SMMU_CB_FSR_SS | 0x1fe);
	}
	rig_wr(r, GR0(TLBIALLH), 0xffffffff);
	rig_wr(r, GR0(TLBIALLNSNH), 0xffffffff);
	rig_wr(r, GR0(ACR), (rig_rd(r, GR0(ACR)) & ~SMMU_GR0_ACR_CACHE_LOCK) |
			    SMMU_GR0_ACR_SMTNMB_TLBEN |
	       SMMU_GR0_ACR_S2CRB_TLBEN);
	for (i = 0; i < SMMU_BANKS; i++)
		rig_wr(r, CB(i, ACTLR), rig_rd(r, CB(i, ACTLR)) &
					~SMMU_CB_ACTLR_CPRE);
	rig_wr(r, GR0(TLBGSYNC), 0xffffffff);
	r->sync_ready = true;
	EXPECT_EQ(rig_rd(r, GR0(TLBGSTATUS)) & 1, 0);
	rig_wr(r, GR0(CR0), (rig_rd(r, GR0(CR0)) & ~SMMU_GR0_CR0_CLIENTPD) |
			    SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_GFIE |
			    SMMU_GR0_CR0_GCFGFRE | SMMU_GR0_CR0_GCFGFIE |
			    SMMU_GR0_CR0_VMIDPNE | SMMU_GR0_CR0_PTM |
			    SMMU_GR0_CR0_USFCFG);
}

TEST("Linux's reset order works from power-on and from any mess")
{
	struct rig *r = rig_new(0, 0, 0);

	linux_reset(r);
	rig_bank(r, 4, 9, 25, SCTLR_ON);
	EXPECT_EQ(rig_do(r, 4, 0x1000, false), SMMU_FAULT);
	EXPECT_EQ(rig_do(r, 9, 0x1000, false), SMMU_FAULT);
	EXPECT(r->irq);
	linux_reset(r);
	EXPECT(!r->irq);
	STEP("GCFGFRE and GCFGFIE, which Linux sets, are not there");
	EXPECT_EQ(rig_rd(r, GR0(CR0)), 0x00201c06);
	EXPECT_EQ(rig_rd(r, GR0(GFSR)), 0);
	EXPECT_EQ(rig_rd(r, CB(4, FSR)), 0);
	EXPECT_EQ(rig_do(r, 4, 0x1000, false), SMMU_FAULT);
	EXPECT_EQ(rig_rd(r, GR0(GFSR)), SMMU_GR0_GFSR_USF);
	rig_wr(r, GR0(GFSR), SMMU_GR0_GFSR_USF);
	rig_bank(r, 4, 9, 25, SCTLR_ON);
	rig_map(r, 4, 0x1000, 0x40000000, 3, D_RW);
	EXPECT_EQ(rig_do(r, 4, 0x1000, true), SMMU_OK);
}

/* Any register, any value, any access between: it must hold together. */
TEST("random register traffic and accesses never break the model")
{
	struct rig *r = rig_new(32, 3, 4);
	uint64_t rng = rig_seed(), v;
	unsigned int i, n, stalled = 0, verdicts[4] = { 0 };

	for (n = 0; n < 4; n++) {
		rig_bank(r, n, (uint16_t)n, 16 + 3 * n, SCTLR_ON);
		for (i = 0; i < 8; i++)
			rig_map(r, n, i * 4096, 0x40000000 + i * 4096, 3, D_RW);
	}
	for (i = 0; i < 200000; i++) {
		uint64_t x = rig_random(&rng), y = rig_random(&rng);
		uint32_t off = x % SMMU_REG_BYTES & ~UINT32_C(3);
		unsigned int size = x >> 60 & 1 ? 8 : 4;

		if (x >> 56 & 1)	/* favour the first banks' fault file */
			off = (uint32_t)CB(x >> 20 & 3, SCTLR) + (off & 0x7c);
		switch (x >> 50 & 3) {
		case 0:
			smmu_reg_write(r->s, off, size, y);
			break;
		case 1:
			smmu_reg_read(r->s, off, size, &v);
			break;
		default:
			r->a.stream = (uint16_t)(RIG_STREAM + (y & 3));
			r->a.va = (y >> 8) % 16 * 4096 | (y >> 40 & 0xfff);
			r->a.write = y >> 5 & 1;
			r->a.now_ns = i;
			r->a.ticket = i;
			n = smmu_translate(r->s, &r->a);
			EXPECT(n <= SMMU_RAZWI);
			verdicts[n]++;
			stalled += n == SMMU_STALLED;
		}
		EXPECT(r->resumes <= stalled);
		if (r->resumes > RIG_RESUMES - SMMU_STALLED_MAX) {
			stalled -= r->resumes;
			r->resumes = 0;
		}
		if (i % 4096 == 0) {	/* back to something that works */
			r->pages_used = 0;
			memset(r->mem, 0, RIG_PAGES * 4096);
			for (n = 0; n < 4; n++) {
				rig_bank(r, n, (uint16_t)n, 16,
					 SCTLR_ON | (uint32_t)(y & CFCFG));
				rig_map(r, n, 0, 0x40000000, 3, D_RW);
			}
		}
	}
	STEP("verdicts: %u %u %u %u", verdicts[0], verdicts[1], verdicts[2],
	     verdicts[3]);
	EXPECT(verdicts[0] && verdicts[1] && verdicts[2] && verdicts[3]);
	STEP("everyone who was stalled is let go of once, at the latest by reset");
	EXPECT_LE(stalled - r->resumes, SMMU_STALLED_MAX);
	smmu_reset(r->s);
	EXPECT_EQ(r->resumes, stalled);
	EXPECT(!smmu_busy(r->s));
	EXPECT(!r->irq);
}
