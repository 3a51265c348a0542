// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whose stream goes where: the model against a few lines that decide the same
 * from the text of IHI 0062 and know nothing of the model. They keep what was
 * written in plain words of memory; no mask or offset comes from smmu.def.
 *
 *	CR0: CLIENTPD 0, GFRE 1, GFIE 2, USFCFG 10
 *	SMR: VALID 31, MASK 30:16, ID 14:0
 *	S2CR: TYPE 17:16 (0 translate, 1 bypass, else fault), CBNDX 7:0
 *	CBAR: TYPE 17:16 (1 is all there is)
 *	GFSR: ICF 0, USF 1, SMCF 2, UCBF 3, MULTI 31
 */
#include "rig/smmu.h"

#define STEPS	60000
#define VA	UINT64_C(0x7000)
#define PA(n)	(UINT64_C(0x40000000) + (uint64_t)(n) * 0x100000)

struct oracle {
	uint32_t cr0, smr[48], s2cr[48], cbar[16];
	uint32_t gfsr, syn0, syn1;
	uint64_t gfar;
};

struct answer {
	int verdict;
	uint64_t pa;
	unsigned int bank;
};

/* A global fault: latched once, then MULTI; GFRE alone decides about the abort. */
static struct answer oracle_fault(struct oracle *o, const struct smmu_access *a,
				  uint32_t bit)
{
	if (o->gfsr) {
		o->gfsr |= UINT32_C(1) << 31;
	} else {
		o->gfsr = bit;
		o->gfar = a->va;
		o->syn0 = (a->write ? 2 : 0) | (a->privileged ? 4 : 0);
		o->syn1 = a->stream & 0x7fff;
	}
	return (struct answer){ o->cr0 & 2 ? SMMU_FAULT : SMMU_RAZWI, 0, 255 };
}

static struct answer oracle_decide(struct oracle *o,
				   const struct smmu_access *a)
{
	struct answer straight = { SMMU_OK, a->va, 255 };
	int i, group = -1, matches = 0;
	uint32_t bank;

	if (o->cr0 & 1)
		return straight;
	for (i = 0; i < 48; i++) {
		if (!(o->smr[i] >> 31) ||
		    (((o->smr[i] ^ a->stream) & ~(o->smr[i] >> 16)) & 0x7fff))
			continue;
		group = i;
		matches++;
	}
	if (matches > 1)
		return oracle_fault(o, a, 4);
	if (!matches)
		return o->cr0 >> 10 & 1 ? oracle_fault(o, a, 2) : straight;
	if ((o->s2cr[group] >> 16 & 3) == 1)
		return straight;
	if (o->s2cr[group] >> 16 & 3)
		return oracle_fault(o, a, 1);
	bank = o->s2cr[group] & 0xff;
	if (bank >= 16)
		return oracle_fault(o, a, 8);
	if ((o->cbar[bank] >> 16 & 3) != 1)
		return oracle_fault(o, a, 1);
	return (struct answer){ SMMU_OK, PA(bank) | (a->va & 0xfff), bank };
}

static void oracle_start(struct rig *r, struct oracle *o)
{
	unsigned int i;

	memset(o, 0, sizeof(*o));
	for (i = 0; i < 16; i++) {
		rig_bank(r, i, (uint16_t)(i + 1), 25, SCTLR_ON | HUPCF);
		rig_map(r, i, VA, PA(i), 3, D_RW);
	}
	smmu_reg_write(r->s, 0, 4, 1);
	o->cr0 = 1;
	for (i = 0; i < 48; i++) {
		rig_wr(r, 0x800 + 4 * i, 0);
		o->s2cr[i] = 2 << 16;
		rig_wr(r, 0xc00 + 4 * i, o->s2cr[i]);
	}
	for (i = 0; i < 16; i++)
		o->cbar[i] = 1 << 16;
}

/* One register, with a value that has all kinds of meaning often enough. */
static void oracle_change(struct rig *r, struct oracle *o, uint64_t x)
{
	unsigned int n = x >> 8 & 63, v = x >> 16 & 0xff;

	if (n >= 48)
		n -= 32;
	switch (x & 7) {
	case 0:
		o->cr0 = (uint32_t)(x >> 32) & 0x436;
		o->cr0 |= v < 8;
		rig_wr(r, 0, o->cr0);
		break;
	case 1:
	case 2:
		o->s2cr[n] = (v < 128 ? 0 : v & 3) << 16 |
			     (v % 9 ? x >> 32 & 15 : x >> 32 & 0xff);
		rig_wr(r, 0xc00 + 4 * n, o->s2cr[n]);
		break;
	case 3:
		n &= 15;
		o->cbar[n] = (v < 200 ? 1 : v & 3) << 16;
		rig_wr(r, 0x1000 + 4 * n, o->cbar[n]);
		break;
	case 4:
		o->gfsr &= ~((uint32_t)x | UINT32_C(1) << (v & 31));
		rig_wr(r, 0x48, (uint32_t)x | UINT32_C(1) << (v & 31));
		break;
	case 5:
		o->gfsr = 0;
		rig_wr(r, 0x448, UINT32_MAX);
		break;
	default:
		o->smr[n] = (v < 96 ? UINT32_C(1) << 31 : 0) |
			    (v & 3 ? 0 : (x >> 40 & 0x1f) << 16) |
			    (x >> 48 & 0x1f);
		rig_wr(r, 0x800 + 4 * n, o->smr[n]);
		break;
	}
}

static void oracle_compare(struct rig *r, const struct oracle *o,
			   const struct answer *want, int got)
{
	EXPECT_EQ(got, want->verdict);
	EXPECT_EQ(r->a.bank, want->bank);
	if (got == SMMU_OK)
		EXPECT_EQ(r->a.pa, want->pa);
	EXPECT_EQ(rig_rd(r, 0x48), o->gfsr);
	EXPECT_EQ(rig_rd64(r, 0x40), o->gfar);
	EXPECT_EQ(rig_rd(r, 0x50), o->syn0);
	EXPECT_EQ(rig_rd(r, 0x54), o->syn1);
	EXPECT_EQ(r->irq, o->cr0 >> 2 & 1 && o->gfsr);
}

TEST("streams go, fault, abort and interrupt as a naive reading of the manual says")
{
	struct rig *r = rig_new(0, 0, 0);
	struct oracle o;
	uint64_t rng = rig_seed();
	unsigned int i, seen[4] = { 0 }, bits = 0;

	oracle_start(r, &o);
	for (i = 0; i < STEPS; i++) {
		uint64_t x = rig_random(&rng);
		struct answer want;
		int got;

		if (x >> 62) {
			oracle_change(r, &o, x);
			EXPECT_EQ(r->irq, o.cr0 >> 2 & 1 && o.gfsr);
			continue;
		}
		r->a.stream = x & 0x1f;
		r->a.va = VA | (x >> 8 & 0xfff);
		r->a.write = x >> 30 & 1;
		r->a.privileged = x >> 31 & 1;
		want = oracle_decide(&o, &r->a);
		got = smmu_translate(r->s, &r->a);
		oracle_compare(r, &o, &want, got);
		seen[got]++;
		bits |= o.gfsr;
	}
	STEP("%u went, %u aborted, %u were dropped; GFSR bits seen 0x%x",
	     seen[SMMU_OK], seen[SMMU_FAULT], seen[SMMU_RAZWI], bits);
	EXPECT(seen[SMMU_OK] > 1000 && seen[SMMU_FAULT] > 1000 &&
	       seen[SMMU_RAZWI] > 1000 && !seen[SMMU_STALLED]);
	EXPECT_EQ(bits, UINT32_C(0x8000000f));
}
