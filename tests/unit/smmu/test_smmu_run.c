// SPDX-License-Identifier: BSD-2-Clause
/*
 * A run of pages against an access to each of them by itself: two SMMUs with the same tables,
 * one asked for the run, the other page by page. With descriptors that are read in a row, one
 * by one, or not at all.
 */
#include "rig/smmu.h"

#define VA	UINT64_C(0x7f12345f8000)	/* eight pages before the end of a last table */
#define PA	UINT64_C(0x40000000)
#define PAGE	UINT64_C(4096)
#define PAGES	16u
#define LEN	(PAGES * 4096u)

static unsigned int rows;		/* read */
static bool rows_refused;

static uint32_t run_read64s(void *ctx, uint64_t pa, uint64_t *value, uint32_t n)
{
	uint32_t i;

	rows++;
	for (i = 0; i < n && !rows_refused; i++)
		if (rig_read64(ctx, pa + 8 * i, &value[i]) != SMMU_MEM_OK)
			return 0;
	return rows_refused ? 0 : n;
}

/* As rig_new(), without a trace: records of a run are its caller's. */
static struct rig *run_rig(bool in_rows)
{
	const struct smmu_config cfg = { 0 };
	struct rig *r = rig_new(0, 0, 0);
	const struct smmu_env env = { r, rig_read64, rig_irq, rig_sync_start,
				      rig_sync_done, rig_resume, rig_frame_tag,
				      in_rows ? run_read64s : NULL };
	unsigned int i;

	smmu_destroy(r->s);
	r->s = smmu_create(&cfg, &env);
	EXPECT(r->s);
	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF);
	/* Not one behind the other. */
	for (i = 0; i < PAGES; i++)
		rig_map(r, 0, VA + i * PAGE, PA + (i * 7 % PAGES) * PAGE, 3, D_RW);
	return r;
}

static bool run_look(struct rig *r, struct smmu_run *run)
{
	static struct smmu_utlb noted;

	memset(run, 0, sizeof(*run));
	memset(&noted, 0, sizeof(noted));
	run->a = (struct smmu_access){ .utlb = &noted, .stream = RIG_STREAM, .write = true,
				       .va = VA };
	return smmu_run_look(r->s, run, LEN);
}

/* The run's pages, its counts, and that it leaves them in the TLB. */
static void run_expect(struct rig *r, struct rig *one)
{
	static struct smmu_run run;
	struct smmu_stats got, want;
	unsigned int i;

	EXPECT(run_look(r, &run));
	EXPECT_EQ(run.pages, PAGES);
	EXPECT(smmu_run_take(r->s, &run, 0));
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(rig_do(one, 0, VA + i * PAGE, true), SMMU_OK);
		EXPECT_EQ(run.page[i].pa, one->a.pa);
	}
	smmu_stats(r->s, &got);
	smmu_stats(one->s, &want);
	EXPECT_EQ(got.accesses, want.accesses);
	EXPECT_EQ(got.hits, want.hits);
	EXPECT_EQ(got.walks, want.walks);
	EXPECT_EQ(got.walk_reads, want.walk_reads);
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(rig_do(r, 0, VA + i * PAGE, true), SMMU_OK);
		EXPECT(r->a.tlb_hit);
	}
}

TEST("a run whose descriptors are read in a row finds what single accesses do")
{
	rows = 0;
	rows_refused = false;
	run_expect(run_rig(true), run_rig(false));
	/* One for each of the two tables. */
	EXPECT_EQ(rows, 2);
}

TEST("so does one where they are read one by one, or cannot be read in a row")
{
	run_expect(run_rig(false), run_rig(false));
	rows = 0;
	rows_refused = true;
	run_expect(run_rig(true), run_rig(false));
	EXPECT(rows > 2);
}

TEST("a page in the middle that is missing, or must not be written, ends the run")
{
	static struct smmu_run run;
	struct rig *r = run_rig(true);
	uint64_t *desc = rig_desc(r, 0, VA + 5 * PAGE, 3), was = *desc;

	rows_refused = false;
	*desc = 0;
	EXPECT(!run_look(r, &run));
	*desc = was | PTE_RDONLY;
	EXPECT(!run_look(r, &run));
	*desc = was;
	EXPECT(run_look(r, &run));
}
