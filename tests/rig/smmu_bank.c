// SPDX-License-Identifier: BSD-2-Clause
#include "rig/smmu_bank.h"

void smmu_bank_start(const struct smmu_hands *h, unsigned int bank, uint64_t root, uint16_t asid,
		     unsigned int t0sz, uint32_t sctlr)
{
	h->write(h->ctx, GR1(CBAR(bank)), 4, 1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	h->write(h->ctx, GR1(CBA2R(bank)), 4, SMMU_GR1_CBA2R_VA64);
	h->write(h->ctx, CB(bank, TTBR0), 8, root | (uint64_t)asid << 48);
	h->write(h->ctx, CB(bank, TCR), 4, t0sz);
	h->write(h->ctx, CB(bank, TCR2), 4, 5 | SMMU_CB_TCR2_AS);
	h->write(h->ctx, CB(bank, SCTLR), 4, sctlr);
	h->write(h->ctx, GR0(S2CR(bank)), 4, bank);
	h->write(h->ctx, GR0(SMR(bank)), 4, (SMMU_BANK_STREAM + bank) | SMMU_GR0_SMR_VALID);
	h->write(h->ctx, GR0(CR0), 4, SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_GFIE |
		 SMMU_GR0_CR0_USFCFG);
}

uint64_t smmu_bank_desc(const struct smmu_hands *h, uint64_t root, unsigned int start,
			uint64_t va, unsigned int level)
{
	uint64_t table = root, pa;
	unsigned int l;

	for (l = start;; l++) {
		pa = table + 8 * (va >> (39 - 9 * l) & 0x1ff);
		if (l == level)
			return pa;
		if ((h->peek(h->ctx, pa) & 3) != PTE_TYPE)
			h->poke(h->ctx, pa, h->page(h->ctx) | PTE_TYPE);
		table = h->peek(h->ctx, pa) & UINT64_C(0xfffffffff000);
	}
}
