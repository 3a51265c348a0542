// SPDX-License-Identifier: BSD-2-Clause
/* Which call tells the board of what: the line, and accesses that were stalled. */
#include "rig/smmu.h"

struct board_side {
	struct smmu *s;
	bool armed, answering;
	unsigned int resumed_by_answer, resumed_by_access;
};

static enum smmu_mem_status no_table(void *ctx, uint64_t pa, uint64_t *value)
{
	(void)ctx;
	(void)pa;
	*value = 0;
	return SMMU_MEM_OK;
}

/* Stands for another thread, that answers while this one is told of the line. */
static void on_line(void *ctx, bool level)
{
	struct board_side *b = ctx;

	if (!b->armed || !level)
		return;
	b->armed = false;
	b->answering = true;
	smmu_reg_write(b->s, CB(0, FSR), 4, UINT32_MAX);
	smmu_reg_write(b->s, CB(0, RESUME), 4, 0);
	b->answering = false;
}

static void on_resume(void *ctx, uint64_t ticket, enum smmu_verdict how)
{
	struct board_side *b = ctx;

	(void)ticket;
	(void)how;
	if (b->answering)
		b->resumed_by_answer++;
	else
		b->resumed_by_access++;
}

static void no_sync(void *ctx, unsigned int bank)
{
	(void)ctx;
	(void)bank;
}

static bool no_sync_done(void *ctx, unsigned int bank)
{
	(void)ctx;
	(void)bank;
	return true;
}

static uint64_t no_tag(void *ctx, uint64_t pa)
{
	(void)ctx;
	(void)pa;
	return 0;
}

TEST("a stalled access is let go by who answers it, never by who translates")
{
	static struct board_side b;
	const struct smmu_env env = { &b, no_table, on_line, no_sync,
				      no_sync_done, on_resume, no_tag, NULL };
	struct smmu_access stalled = { .stream = RIG_STREAM };
	struct smmu_access other = { .stream = RIG_STREAM + 1 };
	struct smmu_config cfg = { 0 };
	struct rig *r = rig_new(0, 0, 0);

	b = (struct board_side){ 0 };
	smmu_destroy(r->s);
	b.s = r->s = smmu_create(&cfg, &env);
	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF | CFCFG);
	rig_bank(r, 1, 2, 16, SCTLR_ON | HUPCF);
	STEP("bank 0 holds an access, and the driver turns its interrupt off");
	EXPECT_EQ(smmu_translate(r->s, &stalled), SMMU_STALLED);
	rig_wr(r, CB(0, SCTLR),
	       (SCTLR_ON | HUPCF | CFCFG) & ~SMMU_CB_SCTLR_CFIE);
	STEP("a fault in bank 1 raises the line; bank 0 is answered meanwhile");
	b.armed = true;
	EXPECT_EQ(smmu_translate(r->s, &other), SMMU_FAULT);
	EXPECT(!b.armed);
	EXPECT_EQ(b.resumed_by_answer, 1);
	EXPECT_EQ(b.resumed_by_access, 0);
}

TEST("RESUME.TNR ends the stalled access as SCTLR.CFRE says: aborted, or in silence")
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF | CFCFG);
	uint32_t sctlr = rig_rd(r, CB(0, SCTLR)), aloud;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		aloud = i & 1 ? SMMU_CB_SCTLR_CFRE : 0;
		STEP("CFRE %d, %s", !!aloud, i & 2 ? "terminate" : "retry");
		rig_wr(r, CB(0, SCTLR), (sctlr & ~SMMU_CB_SCTLR_CFRE) | aloud);
		EXPECT_EQ(rig_write(r, 0x1000), SMMU_STALLED);
		EXPECT_EQ(rig_read(r, 0x2000), SMMU_STALLED);
		rig_wr(r, CB(0, FSR), UINT32_MAX);
		rig_wr(r, CB(0, RESUME), i & 2 ? SMMU_CB_RESUME_TNR : 0);
		EXPECT_EQ(r->resumes, 2 * i + 2);
		EXPECT_EQ(r->terminated[2 * i], i >> 1);
		EXPECT_EQ(r->silent[2 * i], i == 2);
		STEP("the one behind it is tried again, whatever CFRE says");
		EXPECT(!r->terminated[2 * i + 1] && !r->silent[2 * i + 1]);
		EXPECT_EQ(trace_count(r->trace, EV_SMMU_RAZWI), i >= 2);
	}
}
