/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_smmu_rig.h - a bench for the SMMU: a small memory whose words can abort
 * or come back poisoned, tables built into it, and a record of every callback.
 */
#ifndef FL_TEST_SMMU_RIG_H
#define FL_TEST_SMMU_RIG_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "smmu/smmu.h"
#include "trace/trace.h"
#include "faultline/pte.h"
#include "faultline/smmu_regs.h"

#define RIG_UNUSED	__attribute__((unused))
#define RIG_BASE	UINT64_C(0x80000000)	/* first physical byte */
#define RIG_PAGES	512
#define RIG_RESUMES	4096
#define RIG_STREAM	0x0228	/* TBU 0, HPC0 of Zynq; sources: smmu-ids */

#define CB(n, reg)	(SMMU_CB_BASE(n) + SMMU_CB_##reg)
#define GR0(reg)	(SMMU_GR0_BASE + SMMU_GR0_##reg)
#define GR1(reg)	(SMMU_GR1_BASE + SMMU_GR1_##reg)

/* Descriptor bits; sources: smmu-ptes */
#define D_RW		(PTE_AF | PTE_USER | PTE_NG)
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

static enum smmu_mem_status rig_read64(void *ctx, uint64_t pa, uint64_t *value)
{
	struct rig *r = ctx;
	uint64_t at = (pa - RIG_BASE) / 8;

	if (pa % 8)
		abort();	/* the contract says naturally aligned */
	if (pa < RIG_BASE || at >= RIG_PAGES * 512 || pa == r->abort_pa)
		return SMMU_MEM_ABORT;
	*value = __atomic_load_n(&r->mem[at], __ATOMIC_ACQUIRE);
	return pa == r->poison_pa ? SMMU_MEM_POISON : SMMU_MEM_OK;
}

static void rig_irq(void *ctx, bool level)
{
	struct rig *r = ctx;

	if (level == r->irq)
		abort();	/* called only when the level changes */
	r->irq = level;
	r->irq_changes++;
}

static void rig_sync_start(void *ctx, unsigned int bank)
{
	struct rig *r = ctx;

	r->sync_starts++;
	r->sync_bank = bank;
}

static bool rig_sync_done(void *ctx, unsigned int bank)
{
	struct rig *r = ctx;

	r->sync_asks++;
	r->sync_bank = bank;
	return r->sync_ready;
}

static void rig_resume(void *ctx, uint64_t ticket, enum smmu_verdict how)
{
	struct rig *r = ctx;

	if (r->resumes >= RIG_RESUMES)
		abort();
	r->resumed[r->resumes] = ticket;
	r->silent[r->resumes] = how == SMMU_RAZWI;
	r->terminated[r->resumes++] = how != SMMU_OK;
}

static uint64_t rig_frame_tag(void *ctx, uint64_t pa)
{
	struct rig *r = ctx;

	return (pa >> 12) + r->tag_add;
}

static void rig_free(void *arg)
{
	struct rig *r = arg;

	smmu_destroy(r->s);
	trace_destroy(r->trace);
	free(r->mem);
	free(r);
}

/* A rig with power-on registers. timing and entries: 0 for the defaults. */
static RIG_UNUSED struct rig *rig_new(uint32_t tlb_entries, uint32_t hit_ns,
				      uint32_t level_ns)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct trace_config tc = { .ring_records = 1024 };
	struct smmu_config cfg = { .tlb_entries = tlb_entries, .board = 3 };
	struct smmu_env env = { r, rig_read64, rig_irq, rig_sync_start,
				rig_sync_done, rig_resume, rig_frame_tag };

	if (!r)
		abort();
	r->mem = calloc(RIG_PAGES, 4096);
	r->trace = trace_create(&tc);
	cfg.trace = r->trace;
	cfg.timing.tlb_hit_ns = hit_ns;
	cfg.timing.walk_level_ns = level_ns;
	r->s = smmu_create(&cfg, &env);
	test_cleanup(rig_free, r);
	EXPECT(r->mem && r->trace && r->s);
	return r;
}

static RIG_UNUSED void rig_wr(struct rig *r, uint32_t off, uint64_t value)
{
	EXPECT_EQ(smmu_reg_write(r->s, off, 4, value), 0);
}

static RIG_UNUSED void rig_wr64(struct rig *r, uint32_t off, uint64_t value)
{
	EXPECT_EQ(smmu_reg_write(r->s, off, 8, value), 0);
}

static RIG_UNUSED uint32_t rig_rd(struct rig *r, uint32_t off)
{
	uint64_t value;

	EXPECT_EQ(smmu_reg_read(r->s, off, 4, &value), 0);
	return (uint32_t)value;
}

static RIG_UNUSED uint64_t rig_rd64(struct rig *r, uint32_t off)
{
	uint64_t value;

	EXPECT_EQ(smmu_reg_read(r->s, off, 8, &value), 0);
	return value;
}

/* A fresh page of zeroes; its physical address. */
static RIG_UNUSED uint64_t rig_page(struct rig *r)
{
	EXPECT(r->pages_used < RIG_PAGES);
	return RIG_BASE + 4096 * (uint64_t)r->pages_used++;
}

static RIG_UNUSED uint64_t *rig_word(struct rig *r, uint64_t pa)
{
	EXPECT(pa >= RIG_BASE && pa < RIG_BASE + RIG_PAGES * UINT64_C(4096));
	return &r->mem[(pa - RIG_BASE) / 8];
}

/* Physical address of the descriptor of va at a level; makes the tables. */
static RIG_UNUSED uint64_t rig_desc_pa(struct rig *r, unsigned int bank,
				       uint64_t va, unsigned int level)
{
	uint64_t table = r->root[bank];
	unsigned int l;

	for (l = r->start[bank];; l++) {
		uint64_t pa = table + 8 * (va >> (39 - 9 * l) & 0x1ff);
		uint64_t *d = rig_word(r, pa);

		if (l == level)
			return pa;
		if ((*d & 3) != PTE_TYPE)
			*d = rig_page(r) | PTE_TYPE;
		table = *d & UINT64_C(0xfffffffff000);
	}
}

static RIG_UNUSED uint64_t *rig_desc(struct rig *r, unsigned int bank,
				     uint64_t va, unsigned int level)
{
	return rig_word(r, rig_desc_pa(r, bank, va, level));
}

/* Map va to pa with a page (3) or a block (2, 1). */
static RIG_UNUSED void rig_map(struct rig *r, unsigned int bank, uint64_t va,
			       uint64_t pa, unsigned int level, uint64_t attr)
{
	*rig_desc(r, bank, va, level) =
		pa | attr | (level == 3 ? PTE_TYPE : PTE_VALID);
}

/* Give a bank a table, an ASID and one stream, and turn translation on. */
static RIG_UNUSED void rig_bank(struct rig *r, unsigned int bank, uint16_t asid,
				unsigned int t0sz, uint32_t sctlr)
{
	r->root[bank] = rig_page(r);
	r->start[bank] = t0sz >= 25 ? 1 : 0;
	rig_wr(r, GR1(CBAR(bank)), 1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	rig_wr(r, GR1(CBA2R(bank)), SMMU_GR1_CBA2R_VA64);
	rig_wr64(r, CB(bank, TTBR0), r->root[bank] | (uint64_t)asid << 48);
	rig_wr(r, CB(bank, TCR), t0sz);
	rig_wr(r, CB(bank, TCR2), 5 | SMMU_CB_TCR2_AS);
	rig_wr(r, CB(bank, SCTLR), sctlr);
	rig_wr(r, GR0(S2CR(bank)), bank);
	rig_wr(r, GR0(SMR(bank)), (RIG_STREAM + bank) | SMMU_GR0_SMR_VALID);
	rig_wr(r, GR0(CR0), SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_GFIE |
			    SMMU_GR0_CR0_USFCFG);
}

/* The usual start: bank 0, 48 bits, stream RIG_STREAM. */
static RIG_UNUSED struct rig *rig_one(uint32_t sctlr)
{
	struct rig *r = rig_new(0, 0, 0);

	rig_bank(r, 0, 1, 16, sctlr);
	return r;
}

static RIG_UNUSED enum smmu_verdict rig_do(struct rig *r, unsigned int bank,
					   uint64_t va, bool write)
{
	enum smmu_verdict v;

	r->a.stream = (uint16_t)(RIG_STREAM + bank);
	r->a.va = va;
	r->a.write = write;
	r->a.ticket++;
	v = smmu_translate(r->s, &r->a);
	test_step("%s stream 0x%x va 0x%" PRIx64 ": verdict %d pa 0x%" PRIx64
		  " hit %d", write ? "write" : "read", r->a.stream, va, v,
		  r->a.pa, r->a.tlb_hit);
	return v;
}

static RIG_UNUSED enum smmu_verdict rig_read(struct rig *r, uint64_t va)
{
	return rig_do(r, 0, va, false);
}

static RIG_UNUSED enum smmu_verdict rig_write(struct rig *r, uint64_t va)
{
	return rig_do(r, 0, va, true);
}

/* FSR's fault bits; then clear them. */
static RIG_UNUSED uint32_t rig_fault(struct rig *r, unsigned int bank)
{
	uint32_t fsr = rig_rd(r, CB(bank, FSR));

	rig_wr(r, CB(bank, FSR), fsr);
	return fsr & ~SMMU_CB_FSR_FORMAT_MASK;
}

static RIG_UNUSED unsigned int rig_plvl(struct rig *r)
{
	return rig_rd(r, CB(0, FSYNR0)) & SMMU_CB_FSYNR0_PLVL_MASK;
}

/* xorshift64*: the same numbers from the same seed everywhere. */
static RIG_UNUSED uint64_t rig_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static RIG_UNUSED uint64_t rig_seed(void)
{
	return test_seed() * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

#endif
