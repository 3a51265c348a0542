// SPDX-License-Identifier: BSD-2-Clause
#include "rig/smmu.h"

enum smmu_mem_status rig_read64(void *ctx, uint64_t pa, uint64_t *value)
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

void rig_irq(void *ctx, bool level)
{
	struct rig *r = ctx;

	if (level == r->irq)
		abort();	/* called only when the level changes */
	r->irq = level;
	r->irq_changes++;
}

void rig_sync_start(void *ctx, unsigned int bank)
{
	struct rig *r = ctx;

	r->sync_starts++;
	r->sync_bank = bank;
}

bool rig_sync_done(void *ctx, unsigned int bank)
{
	struct rig *r = ctx;

	r->sync_asks++;
	r->sync_bank = bank;
	return r->sync_ready;
}

void rig_resume(void *ctx, uint64_t ticket, enum smmu_verdict how)
{
	struct rig *r = ctx;

	if (r->resumes >= RIG_RESUMES)
		abort();
	r->resumed[r->resumes] = ticket;
	r->silent[r->resumes] = how == SMMU_RAZWI;
	r->terminated[r->resumes++] = how != SMMU_OK;
}

uint64_t rig_frame_tag(void *ctx, uint64_t pa)
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

static struct rig *rig_make(uint32_t tlb_entries, uint32_t hit_ns, uint32_t level_ns,
			    bool traced)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct trace_config tc = { .ring_records = 1024 };
	struct smmu_config cfg = { .tlb_entries = tlb_entries, .board = 3 };
	struct smmu_env env = { r, rig_read64, rig_irq, rig_sync_start,
				rig_sync_done, rig_resume, rig_frame_tag, NULL };

	if (!r)
		abort();
	r->mem = calloc(RIG_PAGES, 4096);
	r->trace = trace_create(&tc);
	cfg.trace = traced ? r->trace : NULL;
	cfg.timing.tlb_hit_ns = hit_ns;
	cfg.timing.walk_level_ns = level_ns;
	r->s = smmu_create(&cfg, &env);
	test_cleanup(rig_free, r);
	EXPECT(r->mem && r->trace && r->s);
	return r;
}

struct rig *rig_new(uint32_t tlb_entries, uint32_t hit_ns, uint32_t level_ns)
{
	return rig_make(tlb_entries, hit_ns, level_ns, true);
}

struct rig *rig_new_untraced(uint32_t tlb_entries, uint32_t hit_ns, uint32_t level_ns)
{
	return rig_make(tlb_entries, hit_ns, level_ns, false);
}

uint32_t rig_rd(struct rig *r, uint32_t off)
{
	uint64_t value;

	EXPECT_EQ(smmu_reg_read(r->s, off, 4, &value), 0);
	return (uint32_t)value;
}

uint64_t rig_rd64(struct rig *r, uint32_t off)
{
	uint64_t value;

	EXPECT_EQ(smmu_reg_read(r->s, off, 8, &value), 0);
	return value;
}

uint64_t rig_page(struct rig *r)
{
	EXPECT(r->pages_used < RIG_PAGES);
	return RIG_BASE + 4096 * (uint64_t)r->pages_used++;
}

uint64_t *rig_word(struct rig *r, uint64_t pa)
{
	EXPECT(pa >= RIG_BASE && pa < RIG_BASE + RIG_PAGES * UINT64_C(4096));
	return &r->mem[(pa - RIG_BASE) / 8];
}

static void rig_hand_write(void *ctx, uint32_t off, unsigned int bytes, uint64_t value)
{
	EXPECT_EQ(smmu_reg_write(((struct rig *)ctx)->s, off, bytes, value), 0);
}

static uint64_t rig_hand_peek(void *ctx, uint64_t pa)
{
	return *rig_word(ctx, pa);
}

static void rig_hand_poke(void *ctx, uint64_t pa, uint64_t value)
{
	*rig_word(ctx, pa) = value;
}

static uint64_t rig_hand_page(void *ctx)
{
	return rig_page(ctx);
}

static struct smmu_hands rig_hands(struct rig *r)
{
	return (struct smmu_hands){ r, rig_hand_write, rig_hand_peek, rig_hand_poke,
				    rig_hand_page };
}

uint64_t rig_desc_pa(struct rig *r, unsigned int bank, uint64_t va,
		     unsigned int level)
{
	struct smmu_hands h = rig_hands(r);

	return smmu_bank_desc(&h, r->root[bank], r->start[bank], va, level);
}

void rig_map(struct rig *r, unsigned int bank, uint64_t va, uint64_t pa,
	     unsigned int level, uint64_t attr)
{
	*rig_desc(r, bank, va, level) = smmu_bank_leaf(pa, level, attr);
}

void rig_bank(struct rig *r, unsigned int bank, uint16_t asid,
	      unsigned int t0sz, uint32_t sctlr)
{
	struct smmu_hands h = rig_hands(r);

	r->root[bank] = rig_page(r);
	r->start[bank] = t0sz >= 25 ? 1 : 0;
	smmu_bank_start(&h, bank, r->root[bank], asid, t0sz, sctlr);
}

struct rig *rig_one(uint32_t sctlr)
{
	struct rig *r = rig_new(0, 0, 0);

	rig_bank(r, 0, 1, 16, sctlr);
	return r;
}

enum smmu_verdict rig_do(struct rig *r, unsigned int bank, uint64_t va,
			 bool write)
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

uint32_t rig_fault(struct rig *r, unsigned int bank)
{
	uint32_t fsr = rig_rd(r, CB(bank, FSR));

	rig_wr(r, CB(bank, FSR), fsr);
	return fsr & ~SMMU_CB_FSR_FORMAT_MASK;
}

uint64_t rig_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}
