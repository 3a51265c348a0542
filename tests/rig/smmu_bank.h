/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smmu_bank.h - banks of an SMMU and their tables, made by writes of registers and words of
 * memory that somebody else carries out: the rig of the unit tests (rig/smmu.h), or the judge
 * of a lab, whose SMMU is in another process.
 */
#ifndef FL_RIG_SMMU_BANK_H
#define FL_RIG_SMMU_BANK_H

#include <stdint.h>

#include "faultline/pte.h"
#include "faultline/smmu_regs.h"

#define CB(n, reg)	(SMMU_CB_BASE(n) + SMMU_CB_##reg)
#define GR0(reg)	(SMMU_GR0_BASE + SMMU_GR0_##reg)
#define GR1(reg)	(SMMU_GR1_BASE + SMMU_GR1_##reg)

/* Descriptor bits of a page for all; sources: smmu-ptes */
#define D_RW		(PTE_AF | PTE_USER | PTE_NG)

/* Bank 0 has this stream, bank n this + n: TBU 0, HPC0 of Zynq; sources: smmu-ids */
#define SMMU_BANK_STREAM	0x0228

struct smmu_hands {
	void *ctx;
	void (*write)(void *ctx, uint32_t off, unsigned int bytes, uint64_t value);
	/* A word of a table. */
	uint64_t (*peek)(void *ctx, uint64_t pa);
	void (*poke)(void *ctx, uint64_t pa, uint64_t value);
	/* A page of zeros for a table: its address. */
	uint64_t (*page)(void *ctx);
};

/* The bank has this table, ASID and SCTLR, and its stream. */
void smmu_bank_start(const struct smmu_hands *h, unsigned int bank, uint64_t root, uint16_t asid,
		     unsigned int t0sz, uint32_t sctlr);

/*
 * Where the descriptor of va at a level is, below a table of level `start`; the tables above
 * it are made.
 */
uint64_t smmu_bank_desc(const struct smmu_hands *h, uint64_t root, unsigned int start,
			uint64_t va, unsigned int level);

/* A page (level 3) or a block (2, 1) at pa. */
static inline uint64_t smmu_bank_leaf(uint64_t pa, unsigned int level, uint64_t bits)
{
	return pa | bits | (level == 3 ? PTE_TYPE : PTE_VALID);
}

#endif
