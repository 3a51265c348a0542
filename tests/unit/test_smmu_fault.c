// SPDX-License-Identifier: BSD-2-Clause
/*
 * Context faults: the four rows of CFCFG x HUPCF, the latch and MULTI, stall and
 * RESUME, the interrupt line. The order of things is the manual's (sources: smmu-faults).
 */
#include "test_smmu_rig.h"

#include <pthread.h>
#include <sched.h>

#define GOOD	UINT64_C(0x7f0000001000)
#define BAD	UINT64_C(0x7f0000002345)
#define BAD2	UINT64_C(0x7f0000003000)
#define PA	UINT64_C(0x40000000)
#define SS	SMMU_CB_FSR_SS
#define TF	SMMU_CB_FSR_TF
#define MULTI	SMMU_CB_FSR_MULTI
#define RETRY	0
#define TERMINATE	SMMU_CB_RESUME_TNR

/* One bank in a mode, with one good page that is in the TLB already. */
static struct rig *fault_mode(uint32_t bits)
{
	struct rig *r = rig_one(SCTLR_ON | bits);

	rig_map(r, 0, GOOD, PA, 3, D_RW);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
	return r;
}

static uint32_t fault_fsr(struct rig *r)
{
	return rig_rd(r, CB(0, FSR)) & ~SMMU_CB_FSR_FORMAT_MASK;
}

TEST("CFCFG 0, HUPCF 1: the fault is terminated, others go on")
{
	struct rig *r = fault_mode(HUPCF);

	EXPECT_EQ(rig_read(r, BAD), SMMU_FAULT);
	EXPECT_EQ(fault_fsr(r), TF);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_TERMINATED), 0);
}

TEST("CFCFG 0, HUPCF 0: the fault and all others are terminated until FSR is clear")
{
	struct rig *r = fault_mode(0);

	EXPECT_EQ(rig_read(r, BAD), SMMU_FAULT);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_FAULT);
	EXPECT_EQ(rig_write(r, GOOD), SMMU_FAULT);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_TERMINATED), 2);
	STEP("they were not faults of their own");
	EXPECT_EQ(fault_fsr(r), TF);
	EXPECT_EQ(rig_rd64(r, CB(0, FAR)), BAD);
	rig_wr(r, CB(0, FSR), TF);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
}

TEST("CFCFG 1, HUPCF 1: the fault is stalled, others go on")
{
	struct rig *r = fault_mode(CFCFG | HUPCF);

	r->a.ticket = 100;
	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	EXPECT_EQ(fault_fsr(r), TF | SS);
	EXPECT(smmu_busy(r->s));
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
	rig_wr(r, CB(0, FSR), TF);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(r->resumes, 1);
	EXPECT_EQ(r->resumed[0], 101);
	EXPECT(!r->terminated[0]);
	EXPECT_EQ(fault_fsr(r), 0);
	EXPECT(!smmu_busy(r->s));
}

TEST("CFCFG 1, HUPCF 0: the fault and all others are stalled until RESUME")
{
	struct rig *r = fault_mode(CFCFG);
	struct smmu_stats st;

	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_STALLED);
	STEP("SS alone still holds them");
	rig_wr(r, CB(0, FSR), TF);
	EXPECT_EQ(fault_fsr(r), SS);
	EXPECT_EQ(rig_write(r, GOOD), SMMU_STALLED);
	EXPECT_EQ(r->resumes, 0);
	rig_wr(r, CB(0, RESUME), TERMINATE);
	STEP("the one that faulted is terminated, the others are tried again");
	EXPECT_EQ(r->resumes, 3);
	EXPECT_EQ(r->resumed[0], 2);
	EXPECT(r->terminated[0]);
	EXPECT_EQ(r->resumed[1], 3);
	EXPECT(!r->terminated[1]);
	EXPECT_EQ(r->resumed[2], 4);
	EXPECT(!r->terminated[2]);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.stalls, 3);
	EXPECT_EQ(st.resumes, 1);
	EXPECT_EQ(st.faults, 1);
}

TEST("a fault of one bank is nothing to another bank, whatever HUPCF says")
{
	struct rig *r = fault_mode(0);

	rig_bank(r, 1, 2, 16, SCTLR_ON | CFCFG);
	rig_map(r, 1, GOOD, PA, 3, D_RW);
	EXPECT_EQ(rig_read(r, BAD), SMMU_FAULT);
	EXPECT_EQ(rig_do(r, 1, GOOD, false), SMMU_OK);
	EXPECT_EQ(rig_do(r, 1, BAD, false), SMMU_STALLED);
	EXPECT_EQ(rig_rd(r, CB(1, FSYNR0)),
		  1 << SMMU_CB_FSYNR0_S1CBNDX_SHIFT | 3);
	rig_wr(r, CB(0, FSR), TF);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
}

TEST("HUPCF 0 applies across TBUs that share the bank")
{
	struct rig *r = fault_mode(0);

	rig_wr(r, GR0(SMR(1)), (RIG_STREAM | 0x400) | SMMU_GR0_SMR_VALID);
	rig_wr(r, GR0(S2CR(1)), 0);
	EXPECT_EQ(rig_read(r, BAD), SMMU_FAULT);
	EXPECT_EQ(rig_do(r, 0x400, GOOD, false), SMMU_FAULT);
}

TEST("the latch tells who, where and how")
{
	struct rig *r = fault_mode(HUPCF);

	r->a.privileged = true;
	r->a.cause = 4711;
	EXPECT_EQ(rig_write(r, BAD), SMMU_FAULT);
	EXPECT_EQ(rig_rd64(r, CB(0, FAR)), BAD);
	EXPECT_EQ(rig_rd(r, CB(0, FAR)), (uint32_t)BAD);
	EXPECT_EQ(rig_rd(r, CB(0, FAR) + 4), BAD >> 32);
	EXPECT_EQ(rig_rd(r, CB(0, FSYNR0)), 3 | SMMU_CB_FSYNR0_WNR |
					SMMU_CB_FSYNR0_PNU);
	EXPECT_EQ(rig_rd(r, GR1(CBFRSYNRA(0))), RIG_STREAM);
}

TEST("the bank describes one fault, a later one sets MULTI and is lost")
{
	struct rig *r = fault_mode(HUPCF);
	struct smmu_stats st;

	EXPECT_EQ(rig_read(r, BAD), SMMU_FAULT);
	EXPECT_EQ(rig_write(r, BAD2), SMMU_FAULT);
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), MULTI | 0x402);
	EXPECT_EQ(rig_rd64(r, CB(0, FAR)), BAD);
	EXPECT(!(rig_rd(r, CB(0, FSYNR0)) & SMMU_CB_FSYNR0_WNR));
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_FAULT), 1);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_MULTI), 1);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.faults, 1);
	EXPECT_EQ(st.multi, 1);
	STEP("clearing TF alone leaves MULTI, which is a fault bit");
	rig_wr(r, CB(0, FSR), TF);
	EXPECT_EQ(rig_rd(r, CB(0, FSR)) & ~SMMU_CB_FSR_FORMAT_MASK, MULTI);
	EXPECT(r->irq);
	EXPECT_EQ(rig_read(r, BAD2), SMMU_FAULT);
	EXPECT_EQ(fault_fsr(r), MULTI);
	rig_wr(r, CB(0, FSR), MULTI);
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), 0);
	EXPECT(!r->irq);
	EXPECT_EQ(rig_read(r, BAD2), SMMU_FAULT);
	EXPECT_EQ(rig_rd64(r, CB(0, FAR)), BAD2);
	EXPECT_EQ(fault_fsr(r), TF);
}

TEST("with stall a second fault is stalled as well and faults by itself after RESUME")
{
	struct rig *r = fault_mode(CFCFG | HUPCF);

	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	EXPECT_EQ(rig_read(r, BAD2), SMMU_STALLED);
	EXPECT_EQ(fault_fsr(r), TF | SS | MULTI);
	rig_wr(r, CB(0, FSR), rig_rd(r, CB(0, FSR)));
	rig_map(r, 0, BAD & ~UINT64_C(0xfff), PA, 3, D_RW);
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(r->resumes, 2);
	EXPECT(!r->terminated[0] && !r->terminated[1]);
	EXPECT_EQ(rig_read(r, BAD), SMMU_OK);
	EXPECT_EQ(rig_read(r, BAD2), SMMU_STALLED);
	EXPECT_EQ(rig_rd64(r, CB(0, FAR)), BAD2);
	EXPECT_EQ(fault_fsr(r), TF | SS);
}

TEST("a fault while only SS is set is lost too, and RESUME waits for its MULTI")
{
	struct rig *r = fault_mode(CFCFG | HUPCF);

	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	rig_wr(r, CB(0, FSR), TF);
	EXPECT_EQ(rig_read(r, BAD2), SMMU_STALLED);
	EXPECT_EQ(fault_fsr(r), SS | MULTI);
	EXPECT_EQ(rig_rd64(r, CB(0, FAR)), BAD);
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(r->resumes, 0);
	rig_wr(r, CB(0, FSR), MULTI);
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(r->resumes, 2);
}

TEST("writing a one clears an FSR bit, but not SS")
{
	struct rig *r = fault_mode(CFCFG | HUPCF);

	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	rig_wr(r, CB(0, FSR), 0);
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), SS | 0x402);
	rig_wr(r, CB(0, FSR), SS);
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), SS | 0x402);
	rig_wr(r, CB(0, FSR), 0xffffffff);
	EXPECT_EQ(rig_rd(r, CB(0, FSR)), SS);
}

TEST("RESUME is ignored while FSR holds a fault, and when nothing is stalled")
{
	struct rig *r = fault_mode(CFCFG | HUPCF);

	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_RESUME_IGNORED), 1);
	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	rig_wr(r, CB(0, RESUME), RETRY);
	rig_wr(r, CB(0, RESUME), TERMINATE);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_RESUME_IGNORED), 3);
	EXPECT_EQ(r->resumes, 0);
	EXPECT_EQ(fault_fsr(r), TF | SS);
	rig_wr(r, CB(0, FSR), TF);
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(r->resumes, 1);
	STEP("a second RESUME finds nothing");
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(r->resumes, 1);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_RESUME_IGNORED), 4);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_RESUME), 1);
}

TEST("SS alone keeps the line up until RESUME, or while CFIE is off")
{
	struct rig *r = fault_mode(CFCFG | HUPCF);
	uint32_t sctlr = rig_rd(r, CB(0, SCTLR));

	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	EXPECT(r->irq);
	rig_wr(r, CB(0, FSR), TF);
	EXPECT(r->irq);
	rig_wr(r, CB(0, SCTLR), sctlr & ~SMMU_CB_SCTLR_CFIE);
	EXPECT(!r->irq);
	rig_wr(r, CB(0, SCTLR), sctlr);
	EXPECT(r->irq);
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT(!r->irq);
}

TEST("without CFIE a fault is latched in silence")
{
	struct rig *r = fault_mode(HUPCF);

	rig_wr(r, CB(0, SCTLR), (SCTLR_ON | HUPCF) & ~SMMU_CB_SCTLR_CFIE);
	EXPECT_EQ(rig_read(r, BAD), SMMU_FAULT);
	EXPECT_EQ(fault_fsr(r), TF);
	EXPECT_EQ(r->irq_changes, 0);
}

TEST("the line is shared: it falls when the last bank is clear")
{
	struct rig *r = fault_mode(HUPCF);

	rig_bank(r, 1, 2, 16, SCTLR_ON | HUPCF);
	EXPECT_EQ(rig_read(r, BAD), SMMU_FAULT);
	EXPECT_EQ(rig_do(r, 1, BAD, false), SMMU_FAULT);
	EXPECT_EQ(r->irq_changes, 1);
	rig_wr(r, CB(0, FSR), TF);
	EXPECT(r->irq);
	rig_wr(r, CB(1, FSR), TF);
	EXPECT(!r->irq);
	EXPECT_EQ(r->irq_changes, 2);
}

TEST("with CFRE 0 a refused access is silent: RAZ and WI")
{
	struct rig *r = fault_mode(0);

	rig_wr(r, CB(0, SCTLR), SMMU_CB_SCTLR_M);
	EXPECT_EQ(rig_write(r, BAD), SMMU_RAZWI);
	EXPECT_EQ(fault_fsr(r), TF);
	STEP("also for the others that HUPCF = 0 ends");
	EXPECT_EQ(rig_read(r, GOOD), SMMU_RAZWI);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_RAZWI), 2);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_TERMINATED), 1);
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

TEST("a restored fault blocks the bank when HUPCF is 0, and RESUME frees who waits")
{
	struct rig *r = fault_mode(CFCFG);

	rig_wr(r, CB(0, FSRRESTORE), SMMU_CB_FSR_EF);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_STALLED);
	EXPECT_EQ(fault_fsr(r), SMMU_CB_FSR_EF | SS);
	rig_wr(r, CB(0, FSR), SMMU_CB_FSR_EF);
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(r->resumes, 1);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_OK);
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

TEST("more than the hardware can have outstanding is terminated, not lost")
{
	struct rig *r = fault_mode(CFCFG);
	unsigned int i;

	EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
	for (i = 1; i < SMMU_STALLED_MAX; i++)
		EXPECT_EQ(rig_read(r, GOOD), SMMU_STALLED);
	EXPECT_EQ(rig_read(r, GOOD), SMMU_FAULT);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_TERMINATED), 1);
	rig_wr(r, CB(0, FSR), TF);
	rig_wr(r, CB(0, RESUME), RETRY);
	EXPECT_EQ(r->resumes, SMMU_STALLED_MAX);
	for (i = 0; i < SMMU_STALLED_MAX; i++)
		EXPECT_EQ(r->resumed[i], i + 2);
	STEP("and the room is there again");
	for (i = 0; i < SMMU_STALLED_MAX; i++)
		EXPECT_EQ(rig_read(r, BAD), SMMU_STALLED);
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
				re_sync_done, re_resume, re_tag };
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
				re_sync_done, line_resume, re_tag };
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
	struct trace_record rec[64];
	uint32_t n;

	r->a.cause = 77;
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
	EXPECT_EQ(rec[n - 3].cause, 77);
	EXPECT_EQ(rec[n - 2].cause, rec[n - 3].seq);
	EXPECT_EQ(rec[n - 1].cause, rec[n - 2].seq);
	EXPECT_EQ(r->a.event, rec[n - 2].seq);
	EXPECT_EQ(rec[n - 1].arg[1], 1);
	EXPECT_EQ(rec[n - 1].arg[2], r->a.ticket);
	EXPECT_EQ(rec[n - 1].xfer, 5);
	EXPECT_EQ(rec[n - 3].block, 2);
	EXPECT_EQ(rec[n - 3].board, 3);
	EXPECT_EQ(rec[n - 3].arg[2], 0x402);
}
