/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * smmu.h - a bench for the SMMU: a small memory whose words can abort
 * or come back poisoned, tables built into it, and a record of every callback.
 */
#ifndef FL_RIG_SMMU_H
#define FL_RIG_SMMU_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "smmu/smmu.h"
#include "trace/trace.h"
#include "rig/smmu_bank.h"

#define RIG_BASE	UINT64_C(0x80000000)	/* first physical byte */
#define RIG_PAGES	512
#define RIG_RESUMES	4096
#define RIG_STREAM	SMMU_BANK_STREAM

#define D_RO		(D_RW | PTE_RDONLY)

#define SCTLR_ON                                                              \
	(SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE)
#define HUPCF		SMMU_CB_SCTLR_HUPCF
#define CFCFG		SMMU_CB_SCTLR_CFCFG

struct rig {
	struct smmu *s;
	struct trace *trace;
	uint64_t *mem;
	unsigned int pages_used;
	uint64_t root[SMMU_BANKS];
	unsigned int start[SMMU_BANKS];	/* level of the root table */
	uint64_t abort_pa, poison_pa;	/* 0: none */
	bool irq;
	unsigned int irq_changes;
	unsigned int resumes;
	uint64_t resumed[RIG_RESUMES];
	bool terminated[RIG_RESUMES], silent[RIG_RESUMES];
	unsigned int sync_starts, sync_asks, sync_bank;
	bool sync_ready;
	uint64_t tag_add;	/* tag of a frame: pa >> 12, plus this */
	struct smmu_access a;	/* the last one */
};

enum smmu_mem_status rig_read64(void *ctx, uint64_t pa, uint64_t *value);
void rig_irq(void *ctx, bool level);
void rig_sync_start(void *ctx, unsigned int bank);
bool rig_sync_done(void *ctx, unsigned int bank);
void rig_resume(void *ctx, uint64_t ticket, enum smmu_verdict how);
uint64_t rig_frame_tag(void *ctx, uint64_t pa);

/* A rig with power-on registers. timing and entries: 0 for the defaults. */
struct rig *rig_new(uint32_t tlb_entries, uint32_t hit_ns, uint32_t level_ns);
struct rig *rig_new_untraced(uint32_t tlb_entries, uint32_t hit_ns, uint32_t level_ns);

static inline void rig_wr(struct rig *r, uint32_t off, uint64_t value)
{
	EXPECT_EQ(smmu_reg_write(r->s, off, 4, value), 0);
}

static inline void rig_wr64(struct rig *r, uint32_t off, uint64_t value)
{
	EXPECT_EQ(smmu_reg_write(r->s, off, 8, value), 0);
}

uint32_t rig_rd(struct rig *r, uint32_t off);
uint64_t rig_rd64(struct rig *r, uint32_t off);

/* A fresh page of zeroes; its physical address. */
uint64_t rig_page(struct rig *r);
uint64_t *rig_word(struct rig *r, uint64_t pa);

/* Physical address of the descriptor of va at a level; makes the tables. */
uint64_t rig_desc_pa(struct rig *r, unsigned int bank, uint64_t va,
		     unsigned int level);

static inline uint64_t *rig_desc(struct rig *r, unsigned int bank, uint64_t va,
				 unsigned int level)
{
	return rig_word(r, rig_desc_pa(r, bank, va, level));
}

/* Map va to pa with a page (3) or a block (2, 1). */
void rig_map(struct rig *r, unsigned int bank, uint64_t va, uint64_t pa,
	     unsigned int level, uint64_t attr);

/* Give a bank a table, an ASID and one stream, and turn translation on. */
void rig_bank(struct rig *r, unsigned int bank, uint16_t asid,
	      unsigned int t0sz, uint32_t sctlr);

/* The usual start: bank 0, 48 bits, stream RIG_STREAM. */
struct rig *rig_one(uint32_t sctlr);
enum smmu_verdict rig_do(struct rig *r, unsigned int bank, uint64_t va,
			 bool write);

static inline enum smmu_verdict rig_read(struct rig *r, uint64_t va)
{
	return rig_do(r, 0, va, false);
}

static inline enum smmu_verdict rig_write(struct rig *r, uint64_t va)
{
	return rig_do(r, 0, va, true);
}

/* FSR's fault bits; then clear them. */
uint32_t rig_fault(struct rig *r, unsigned int bank);

static inline unsigned int rig_plvl(struct rig *r)
{
	return rig_rd(r, CB(0, FSYNR0)) & SMMU_CB_FSYNR0_PLVL_MASK;
}

/* xorshift64*: the same numbers from the same seed everywhere. */
uint64_t rig_random(uint64_t *state);

static inline uint64_t rig_seed(void)
{
	return test_seed() * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

#endif
