// SPDX-License-Identifier: BSD-2-Clause
/*
 * The walk cache: fewer reads, and what each invalidation drops of it. The random
 * test holds it against plain walks: as long as software says TLBIVA when a table
 * has gone and TLBIVAL when only a page has, nobody can see that there is a cache.
 */
#include "rig/smmu.h"

#define VA	UINT64_C(0x7f0000001000)
#define NEXT	UINT64_C(0x1000)	/* the next page, in the same table */
#define PA	UINT64_C(0x40000000)
#define OTHER	UINT64_C(0x50000000)

static struct rig *cache_holds(uint32_t entries, uint32_t level_ns)
{
	struct rig *r = rig_new(0, 0, level_ns);
	struct smmu_config cfg = { .walk_cache_entries = entries,
				   .trace = r->trace,
				   .timing.walk_level_ns = level_ns };
	struct smmu_env env = { r, rig_read64, rig_irq, rig_sync_start,
				rig_sync_done, rig_resume, rig_frame_tag, NULL };

	smmu_destroy(r->s);
	r->s = smmu_create(&cfg, &env);
	EXPECT(r->s);
	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF);
	rig_map(r, 0, VA, PA, 3, D_RW);
	rig_map(r, 0, VA + NEXT, PA + NEXT, 3, D_RW);
	return r;
}

/* Descriptors that one access takes. */
static uint64_t cache_reads(struct rig *r, unsigned int bank, uint64_t va,
			    uint64_t pa)
{
	struct smmu_stats before, after;

	smmu_stats(r->s, &before);
	EXPECT_EQ(rig_do(r, bank, va, false), SMMU_OK);
	EXPECT_EQ(r->a.pa, pa);
	smmu_stats(r->s, &after);
	return after.walk_reads - before.walk_reads;
}

TEST("without a walk cache, which is the default, each walk reads every level")
{
	struct rig *r = cache_holds(0, 0);

	EXPECT_EQ(cache_reads(r, 0, VA, PA), 4);
	EXPECT_EQ(cache_reads(r, 0, VA + NEXT, PA + NEXT), 4);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_WALK_CACHE), 0);
}

TEST("with it the next page of a table takes one read, and one level of time")
{
	struct rig *r = cache_holds(16, 10);
	uint64_t far = VA + (UINT64_C(1) << 30);

	EXPECT_EQ(cache_reads(r, 0, VA, PA), 4);
	EXPECT_EQ(r->a.ready_ns - r->a.now_ns, 40);
	r->a.now_ns = 1000;
	EXPECT_EQ(cache_reads(r, 0, VA + NEXT, PA + NEXT), 1);
	EXPECT_EQ(r->a.ready_ns - r->a.now_ns, 10);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_WALK_CACHE), 1);
	STEP("a page 1 GB on shares the tables of levels 0 and 1");
	rig_map(r, 0, far, OTHER, 3, D_RW);
	EXPECT_EQ(cache_reads(r, 0, far, OTHER), 3);
}

TEST("a table that changes needs TLBIVA: TLBIVAL leaves the old one in the walk cache")
{
	struct rig *r = cache_holds(16, 0);
	uint64_t new = rig_page(r), key = VA >> 12 | UINT64_C(1) << 48;

	EXPECT_EQ(cache_reads(r, 0, VA, PA), 4);
	STEP("the last table is another one now");
	*rig_word(r, new + 8 * (VA >> 12 & 511)) = OTHER | D_RW | PTE_TYPE;
	*rig_desc(r, 0, VA, 2) = new | PTE_TYPE;
	rig_wr64(r, CB(0, TLBIVAL), key);
	EXPECT_EQ(cache_reads(r, 0, VA, PA), 1);
	rig_wr64(r, CB(0, TLBIVA), key);
	EXPECT_EQ(cache_reads(r, 0, VA, OTHER), 4);
}

/* What each invalidation drops: write, then how many reads VA + NEXT takes. */
TEST("every invalidation of all levels drops what it covers, and nothing else")
{
	static const struct {
		const char *what;
		uint32_t off;
		uint64_t value;
		uint64_t reads;
	} op[] = {
		{ "TLBIVA", CB(0, TLBIVA), VA >> 12 | 1ull << 48, 4 },
		{ "TLBIVA of another ASID", CB(0, TLBIVA),
		  VA >> 12 | 2ull << 48, 1 },
		{ "TLBIVA 2 MB on, whose last table is another", CB(0, TLBIVA),
		  (VA + 0x200000) >> 12 | 1ull << 48, 1 },
		{ "TLBIVA of another 512 GB", CB(0, TLBIVA),
		  (VA ^ 1ull << 40) >> 12 | 1ull << 48, 1 },
		{ "TLBIVAL", CB(0, TLBIVAL), VA >> 12 | 1ull << 48, 1 },
		{ "TLBIVAA", CB(0, TLBIVAA), VA >> 12 | 9ull << 48, 4 },
		{ "TLBIVAAL", CB(0, TLBIVAAL), VA >> 12, 1 },
		{ "TLBIASID", CB(0, TLBIASID), 1, 4 },
		{ "TLBIASID of another", CB(0, TLBIASID), 2, 1 },
		{ "TLBIALL", CB(0, TLBIALL), 0, 4 },
		{ "TLBIVMID", GR0(TLBIVMID), 0, 4 },
		{ "TLBIVMID of another", GR0(TLBIVMID), 3, 1 },
		{ "TLBIALLNSNH", GR0(TLBIALLNSNH), 0, 4 },
		{ "TLBIALLH", GR0(TLBIALLH), 0, 1 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
		struct rig *r = cache_holds(64, 0);

		STEP("%s", op[i].what);
		EXPECT_EQ(cache_reads(r, 0, VA, PA), 4);
		if (op[i].off >= CB(0, TLBIVA) && op[i].off != CB(0, TLBIASID) &&
		    op[i].off != CB(0, TLBIALL))
			rig_wr64(r, op[i].off, op[i].value);
		else
			rig_wr(r, op[i].off, op[i].value);
		EXPECT_EQ(cache_reads(r, 0, VA + NEXT, PA + NEXT), op[i].reads);
	}
}

TEST("a reset empties it, and another ASID has its own")
{
	struct rig *r = cache_holds(64, 0);

	EXPECT_EQ(cache_reads(r, 0, VA, PA), 4);
	rig_bank(r, 1, 2, 16, SCTLR_ON | HUPCF);
	rig_map(r, 1, VA, OTHER, 3, D_RW);
	EXPECT_EQ(cache_reads(r, 1, VA, OTHER), 4);
	EXPECT_EQ(cache_reads(r, 0, VA + NEXT, PA + NEXT), 1);
	smmu_reset(r->s);
	r->pages_used = 0;
	memset(r->mem, 0, RIG_PAGES * 4096);
	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF);
	rig_map(r, 0, VA, OTHER, 3, D_RW);
	EXPECT_EQ(cache_reads(r, 0, VA, OTHER), 4);
}

TEST("what is not there is not kept: a table that comes needs no invalidation")
{
	struct rig *r = cache_holds(64, 0);
	uint64_t far = VA + (UINT64_C(1) << 39);

	EXPECT_EQ(rig_read(r, far), SMMU_FAULT);
	rig_map(r, 0, far, OTHER, 3, D_RW);
	EXPECT_EQ(cache_reads(r, 0, far, OTHER), 4);
}

TEST("rights that a table takes away stay away below a table that is known")
{
	struct rig *r = cache_holds(64, 0);

	*rig_desc(r, 0, VA, 1) |= UINT64_C(1) << 62;	/* APTable: no writes */
	EXPECT_EQ(cache_reads(r, 0, VA, PA), 4);
	EXPECT_EQ(rig_write(r, VA + NEXT), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_PF);
	EXPECT_EQ(cache_reads(r, 0, VA + NEXT, PA + NEXT), 0);
}

TEST("the level of a fault is the table's, wherever the walk began")
{
	struct rig *r = cache_holds(64, 0);

	EXPECT_EQ(cache_reads(r, 0, VA, PA), 4);
	EXPECT_EQ(rig_read(r, VA + 5 * NEXT), SMMU_FAULT);
	EXPECT_EQ(rig_plvl(r), 3);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
}

/* ---- against walks that begin at the first table ---- */

#define PAGES	64

/* 64 pages in 8 last tables under 4 of level 2: small, so that all of it meets. */
static uint64_t page_va(unsigned int i)
{
	return (uint64_t)(i >> 4) << 39 | (uint64_t)(i >> 3 & 1) << 30 |
	       (uint64_t)(i >> 1 & 3) << 21 | (uint64_t)(i & 1) << 12;
}

/* Physical address or 0, by hand. */
static uint64_t cache_plain(struct rig *r, unsigned int bank, uint64_t va)
{
	uint64_t t = r->root[bank], d = 0;
	unsigned int shift;

	for (shift = 39; shift >= 12; shift -= 9) {
		d = r->mem[(t - RIG_BASE) / 8 + (va >> shift & 511)];
		if (!(d & 1))
			return 0;
		t = d & UINT64_C(0xfffffffff000);
	}
	return t;
}

static void cache_tell(struct rig *r, unsigned int bank, uint64_t va, bool leaf)
{
	rig_wr64(r, leaf ? CB(bank, TLBIVAL) : CB(bank, TLBIVA),
		 va >> 12 | (uint64_t)(bank + 1) << 48);
}

/* Move a page, or a table with all pages that it leads to, and say so. */
static void cache_edit(struct rig *r, uint64_t x)
{
	unsigned int bank = x & 1, i = x >> 1 & 63, level = x >> 8 & 3, j;
	uint64_t va = page_va(i), *d = rig_desc(r, bank, va, level), old = *d;

	if (level == 3) {
		*d = x >> 10 & 3 ? (PA + (x >> 12 & 0xff) * 4096) | D_RW | 3 : 0;
		cache_tell(r, bank, va, true);
		return;
	}
	if (!(old & 1))
		return;
	/* A copy elsewhere, and rubbish where it was. */
	*d = rig_page(r) | PTE_TYPE;
	memcpy(rig_word(r, *d & ~UINT64_C(0xfff)),
	       rig_word(r, old & ~UINT64_C(0xfff)), 4096);
	memset(rig_word(r, old & ~UINT64_C(0xfff)), 0xa5, 4096);
	for (j = 0; j < PAGES; j++)
		if (page_va(j) >> (39 - 9 * level) == va >> (39 - 9 * level))
			cache_tell(r, bank, page_va(j), false);
}

static void cache_build(struct rig *r, uint32_t entries)
{
	struct smmu_config cfg = { .walk_cache_entries = entries,
				   .tlb_entries = 8, .trace = r->trace };
	struct smmu_env env = { r, rig_read64, rig_irq, rig_sync_start,
				rig_sync_done, rig_resume, rig_frame_tag, NULL };
	unsigned int bank, i;

	smmu_destroy(r->s);
	r->s = smmu_create(&cfg, &env);
	EXPECT(r->s);
	r->pages_used = 0;
	memset(r->mem, 0, RIG_PAGES * 4096);
	for (bank = 0; bank < 2; bank++) {
		rig_bank(r, bank, (uint16_t)(bank + 1), 16, SCTLR_ON | HUPCF);
		for (i = 0; i < PAGES; i++)
			rig_map(r, bank, page_va(i), PA + i * 4096ull, 3, D_RW);
	}
}

TEST("nobody who invalidates as he should can see that there is a walk cache")
{
	struct rig *r = rig_new(0, 0, 0);
	uint64_t rng = rig_seed(), used;
	unsigned int round, i;

	for (round = 0; round < 60; round++) {
		cache_build(r, UINT32_C(1) << round % 7);
		for (i = 0; i < 1500 && r->pages_used < RIG_PAGES; i++) {
			uint64_t x = rig_random(&rng), want;
			unsigned int bank = x & 1;
			uint64_t va = page_va(x >> 1 & 63);

			if (x >> 60 < 3) {
				cache_edit(r, x);
				continue;
			}
			want = cache_plain(r, bank, va);
			EXPECT_EQ(rig_do(r, bank, va, x >> 40 & 1),
				  want ? SMMU_OK : SMMU_FAULT);
			if (want)
				EXPECT_EQ(r->a.pa, want);
			else
				rig_fault(r, bank);
		}
	}
	used = trace_count(r->trace, EV_SMMU_WALK_CACHE);
	STEP("%" PRIu64 " walks began below the first table", used);
	EXPECT_GE(used, 10000);
}
