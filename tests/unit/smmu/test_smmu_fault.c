// SPDX-License-Identifier: BSD-2-Clause
/*
 * Context faults: what a program does with the registers beside the usual way, callbacks,
 * threads, the trace. The rows of CFCFG x HUPCF, the latch and MULTI, stall and RESUME and the
 * line are in labs/bank/tests, which runs here too (test_lab_bank). The order of things is the
 * manual's (sources: smmu-faults).
 */
#include "rig/smmu.h"

#include <pthread.h>
#include <sched.h>

#define GOOD	UINT64_C(0x7f0000001000)
#define BAD	UINT64_C(0x7f0000002345)
#define PA	UINT64_C(0x40000000)
#define TF	SMMU_CB_FSR_TF
#define TERMINATE	SMMU_CB_RESUME_TNR

/* One bank in a mode, with one good page that is in the TLB already. */
static struct rig *fault_mode(uint32_t bits)
{
	struct rig *r = rig_one(SCTLR_ON | bits);

	rig_map(r, 0, GOOD, PA, 3, D_RW);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
	return r;
}

TEST("FSRRESTORE sets fault bits, raises the line, and cannot set SS")
{
	struct rig *r = fault_mode(HUPCF);

	rig_wr(r, CB(0, FSRRESTORE), 0xffffffff);
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), UINT32_C(0x800007fe));
	EXPECT(r->irq);
	EXPECT_EQ(rig_rd(r, CB(0, FSRRESTORE)), 0);
	rig_wr(r, CB(0, FSR), UINT32_C(0x800001fe));
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), 0);
	EXPECT(!r->irq);
}

TEST("the fault registers can be written, as for save and restore")
{
	struct rig *r = fault_mode(HUPCF);

	rig_wr64(r, CB(0, FAR), UINT64_C(0x123456789abcdef0));
	EXPECT_EQ(rig_rd64(r, CB(0, FAR)), UINT64_C(0x123456789abcdef0));
	rig_wr(r, CB(0, FSYNR0), 0xffffffff);
	EXPECT_EQ(rig_rd(r, CB(0, FSYNR0)), 0x00ff0dff);
}

TEST("reset terminates who is stalled, lowers the line and forgets")
{
	struct rig *r = fault_mode(CFCFG);
	struct smmu_stats st;

	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_STALLED);
	smmu_reset(r->s);
	EXPECT_EQ(r->resumes, 2);
	EXPECT(r->terminated[0] && r->terminated[1]);
	EXPECT(!r->irq);
	EXPECT(!smmu_busy(r->s));
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), 0);
	EXPECT_EQ(rig_rd(r, CB(0, SCTLR)), 0x100);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.accesses, 0);
}

/* A board whose callbacks come straight back into the SMMU. */
struct reentrant {
	struct smmu *s;
	unsigned int irqs, resumes, verdict;
	uint64_t *page;
};

static enum smmu_mem_status re_read64(void *ctx, uint64_t pa, uint64_t *value)
{
	struct reentrant *re = ctx;

	/* One table that is all levels at once: entry 0 leads on. */
	*value = pa % 4096 ? 0 : *re->page;
	return SMMU_MEM_OK;
}

static void re_irq(void *ctx, bool level)
{
	struct reentrant *re = ctx;
	uint64_t value;

	re->irqs++;
	if (!level)
		return;
	smmu_reg_read(re->s, CB(0, FSR), 4, &value);
	smmu_reg_write(re->s, CB(0, FSR), 4, value);
	*re->page = RIG_BASE | PTE_TYPE | D_RW;
	smmu_reg_write(re->s, CB(0, RESUME), 4, 0);
}

static void re_resume(void *ctx, uint64_t ticket, enum smmu_verdict how)
{
	struct reentrant *re = ctx;
	struct smmu_access a = { .stream = RIG_STREAM, .ticket = ticket };

	re->resumes++;
	re->verdict = how != SMMU_OK ? how : smmu_translate(re->s, &a);
}

static void re_sync_start(void *ctx, unsigned int bank)
{
	(void)ctx;
	(void)bank;
}

static bool re_sync_done(void *ctx, unsigned int bank)
{
	(void)ctx;
	(void)bank;
	return true;
}

static uint64_t re_tag(void *ctx, uint64_t pa)
{
	(void)ctx;
	return pa;
}

static void re_free(void *s)
{
	smmu_destroy(s);
}

TEST("callbacks may come back into the SMMU: fault, handler, RESUME, retry")
{
	uint64_t page = 0;
	struct reentrant re = { .page = &page, .verdict = 99 };
	struct smmu_config cfg = { 0 };
	struct smmu_env env = { &re, re_read64, re_irq, re_sync_start,
				re_sync_done, re_resume, re_tag, NULL };
	struct smmu_access a = { .stream = RIG_STREAM };
	struct rig r = { 0 };

	r.s = re.s = smmu_create(&cfg, &env);
	EXPECT(re.s);
	test_cleanup(re_free, re.s);
	rig_wr(&r, GR1(CBAR(0)), 1 << 16);
	rig_wr(&r, GR1(CBA2R(0)), 1);
	rig_wr64(&r, CB(0, TTBR0), RIG_BASE);
	rig_wr(&r, CB(0, TCR), 16);
	rig_wr(&r, CB(0, TCR2), 5);
	rig_wr(&r, CB(0, SCTLR), SCTLR_ON | CFCFG);
	rig_wr(&r, GR0(SMR(0)), RIG_STREAM | SMMU_GR0_SMR_VALID);
	rig_wr(&r, GR0(S2CR(0)), 0);
	rig_wr(&r, GR0(CR0), 0);
	EXPECT_EQ(smmu_translate(re.s, &a), SMMU_STALLED);
	EXPECT_EQ(re.resumes, 1);
	EXPECT_EQ(re.verdict, SMMU_OK);
	EXPECT_EQ(re.irqs, 2);
	EXPECT(!smmu_busy(re.s));
}

/*
 * Threads. Two of them make faults and clear them, each in its own bank; the
 * callback is slow, so that levels would overtake each other if they could.
 */
struct line {
	struct rig *r;
	atomic_int inside, level, wrong;
	atomic_uint changes;
};

static void line_irq(void *ctx, bool level)
{
	struct line *l = ctx;

	if (atomic_fetch_add(&l->inside, 1))
		atomic_fetch_add(&l->wrong, 1);
	if (atomic_load(&l->level) == level)
		atomic_fetch_add(&l->wrong, 1);
	sched_yield();
	atomic_store(&l->level, level);
	atomic_fetch_add(&l->changes, 1);
	atomic_fetch_sub(&l->inside, 1);
}

static enum smmu_mem_status line_read64(void *ctx, uint64_t pa, uint64_t *value)
{
	(void)ctx;
	(void)pa;
	*value = 0;
	return SMMU_MEM_OK;
}

static void line_resume(void *ctx, uint64_t ticket, enum smmu_verdict how)
{
	(void)ctx;
	(void)ticket;
	(void)how;
}

struct line_worker {
	struct line *l;
	unsigned int bank;
};

static void *line_thread(void *arg)
{
	struct line_worker *w = arg;
	struct smmu_access a = { .stream = (uint16_t)(RIG_STREAM + w->bank) };
	struct smmu *s = w->l->r->s;
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		if (smmu_translate(s, &a) != SMMU_FAULT)
			atomic_fetch_add(&w->l->wrong, 1);
		smmu_reg_write(s, CB(w->bank, FSR), 4, TF);
	}
	return NULL;
}

TEST("changes of the line arrive one at a time and in order, whoever makes them")
{
	static struct line l;
	struct line_worker w[2] = { { &l, 0 }, { &l, 1 } };
	struct rig *r = rig_new(0, 0, 0);
	struct smmu_config cfg = { 0 };
	struct smmu_env env = { &l, line_read64, line_irq, re_sync_start,
				re_sync_done, line_resume, re_tag, NULL };
	pthread_t t[2];
	unsigned int i;

	memset(&l, 0, sizeof(l));
	l.r = r;
	smmu_destroy(r->s);
	r->s = smmu_create(&cfg, &env);
	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF);
	rig_bank(r, 1, 2, 16, SCTLR_ON | HUPCF);
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, line_thread, &w[i]);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	EXPECT_EQ(l.wrong, 0);
	EXPECT_EQ(l.level, 0);
	EXPECT_GE(l.changes, 2);
}

TEST("the trace tells the causes: fault, stall, resume")
{
	struct rig *r = fault_mode(CFCFG | HUPCF);
	const struct trace_at nowhere = { 0 };
	struct trace_record rec[64];
	struct smmu_stats st;
	uint32_t n;

	r->a.cause = trace_emit(r->trace, EV_APP_NOTE, &nowhere, 0, 0, 0, 0);
	r->a.xfer = 5;
	r->a.block = 2;
	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	rig_wr(r, CB(0, FSR), TF);
	rig_wr(r, CB(0, RESUME), TERMINATE);
	n = trace_snapshot(r->trace, rec, 64);
	EXPECT_GE(n, 3);
	EXPECT_EQ(rec[n - 1].event, EV_SMMU_RESUME);
	EXPECT_EQ(rec[n - 2].event, EV_SMMU_STALL);
	EXPECT_EQ(rec[n - 3].event, EV_SMMU_FAULT);
	EXPECT(r->a.cause);
	EXPECT_EQ(rec[n - 3].cause, r->a.cause);
	EXPECT_EQ(rec[n - 2].cause, rec[n - 3].seq);
	EXPECT_EQ(rec[n - 1].cause, rec[n - 2].seq);
	EXPECT_EQ(r->a.event, rec[n - 2].seq);
	EXPECT_EQ(rec[n - 1].arg[1], 1);
	EXPECT_EQ(rec[n - 1].arg[2], r->a.ticket);
	EXPECT_EQ(rec[n - 1].xfer, 5);
	EXPECT_EQ(rec[n - 3].block, 2);
	EXPECT_EQ(rec[n - 3].board, 3);
	EXPECT_EQ(rec[n - 3].arg[2], 0x402);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.stalls, 1);
	EXPECT_EQ(st.resumes, 1);
	EXPECT_EQ(st.faults, 1);
}
