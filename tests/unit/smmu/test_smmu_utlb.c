// SPDX-License-Identifier: BSD-2-Clause
/*
 * A port's micro-TLB of its hits: whoever uses one sees what he would see without. And so it is
 * with the trace.
 * variants: tsan
 */
#include "rig/smmu.h"

#include <pthread.h>

#define VA	UINT64_C(0x7f1234567000)
#define PA	UINT64_C(0x40000000)
#define PAGE	UINT64_C(4096)
#define PAGES	48u	/* more than the TLB and the micro-TLB hold */
#define ENTRIES	16
#define OPS	20000
#define ROUNDS	2000u

/* Two SMMUs that are told the same; only the first has a micro-TLB, or a trace. */
struct twins {
	struct rig *r[2];
	struct smmu_utlb utlb;
	bool untraced;		/* the second */
};

static struct twins *twins_new(bool untraced)
{
	struct twins *t = calloc(1, sizeof(*t));
	int i;

	EXPECT(t);
	test_cleanup(free, t);
	for (i = 0; i < 2; i++) {
		t->r[i] = (untraced && i ? rig_new_untraced : rig_new)(ENTRIES, 3, 5);
		rig_bank(t->r[i], 0, 1, 16, SCTLR_ON | HUPCF);
		rig_bank(t->r[i], 1, 2, 16, SCTLR_ON | HUPCF);
	}
	t->r[0]->a.utlb = &t->utlb;
	t->untraced = untraced;
	return t;
}

static void both_map(struct twins *t, unsigned int bank, uint64_t va,
		     uint64_t pa, uint64_t attr)
{
	int i;

	for (i = 0; i < 2; i++)
		rig_map(t->r[i], bank, va, pa, 3, attr);
}

static void both_wr(struct twins *t, uint32_t off, uint64_t value)
{
	int i;

	for (i = 0; i < 2; i++)
		rig_wr(t->r[i], off, value);
}

static void both_wr64(struct twins *t, uint32_t off, uint64_t value)
{
	int i;

	for (i = 0; i < 2; i++)
		rig_wr64(t->r[i], off, value);
}

static enum smmu_verdict both_do(struct twins *t, unsigned int bank,
				 uint64_t va, bool write)
{
	struct smmu_access *a = &t->r[0]->a, *b = &t->r[1]->a;
	enum smmu_verdict v = rig_do(t->r[0], bank, va, write);

	EXPECT_EQ(rig_do(t->r[1], bank, va, write), v);
	EXPECT_EQ(a->bank, b->bank);
	EXPECT_EQ(a->tlb_hit, b->tlb_hit);
	EXPECT_EQ(a->ready_ns, b->ready_ns);
	EXPECT_EQ(t->untraced ? 0 : a->event, b->event);
	if (v == SMMU_OK) {
		EXPECT_EQ(a->pa, b->pa);
		EXPECT_EQ(a->tag, b->tag);
	}
	return v;
}

static void same_counts(struct twins *t)
{
	struct smmu_stats a, b;

	smmu_stats(t->r[0]->s, &a);
	smmu_stats(t->r[1]->s, &b);
	EXPECT_MEM(&a, &b, sizeof(a));
	EXPECT_EQ(rig_rd(t->r[0], CB(0, FSR)), rig_rd(t->r[1], CB(0, FSR)));
	EXPECT_EQ(rig_rd(t->r[0], CB(1, FSR)), rig_rd(t->r[1], CB(1, FSR)));
}

/* Something that changes what an access meets. */
static void utlb_change(struct twins *t, uint64_t x)
{
	static const uint64_t attr[] = { D_RW, D_RO, D_RW & ~PTE_NG, 0, D_RW };
	static const uint32_t sctlr[] = {
		SCTLR_ON | HUPCF, SCTLR_ON, SCTLR_ON | HUPCF | CFCFG,
		(SCTLR_ON | HUPCF) & ~SMMU_CB_SCTLR_M,
		(SCTLR_ON | HUPCF) & ~SMMU_CB_SCTLR_CFRE,
	};
	unsigned int bank = x >> 8 & 1, n = x >> 16 & 0xff;
	uint64_t va = VA + n % PAGES * PAGE;

	switch (x % 12) {
	case 0:
		both_wr(t, CB(bank, TLBIASID), 1 + (n & 1));
		break;
	case 1:
		both_wr(t, CB(bank, TLBIALL), 0);
		break;
	case 2:
		both_wr(t, CB(bank, SCTLR), sctlr[n % 5]);
		break;
	case 3:
		both_wr64(t, CB(bank, TTBR0), t->r[0]->root[n & 1] |
					      (uint64_t)(1 + (n >> 1 & 1)) << 48);
		break;
	case 4:
		t->r[0]->tag_add = t->r[1]->tag_add = n;
		break;
	case 5:
		both_wr(t, GR0(S2CR(bank)), n & 1);
		break;
	case 6:
	case 7:
		both_map(t, bank, va, PA + n * PAGE, attr[n % 5]);
		break;
	case 8:
		both_wr(t, CB(bank, RESUME), n & 1);
		break;
	default:
		both_wr64(t, CB(bank, TLBIVA), va >> 12 | (uint64_t)(1 + bank)
								  << 48);
	}
	both_wr(t, CB(bank, FSR), 0xffffffff);
}

static void utlb_random(struct twins *t)
{
	uint64_t seed = rig_seed(), x;
	unsigned int i, ok = 0;

	for (i = 0; i < PAGES; i++) {
		both_map(t, 0, VA + i * PAGE, PA + i * PAGE, D_RW);
		both_map(t, 1, VA + i * PAGE, PA + (i + 1000) * PAGE, D_RW);
	}
	for (i = 0; i < OPS; i++) {
		x = rig_random(&seed);
		if (x % 64 == 0)
			utlb_change(t, x >> 8);
		/* Mostly a few pages, so that there is something to note. */
		x = rig_random(&seed);
		ok += both_do(t, x >> 32 & 1,
			      VA + (x % 16 ? x >> 40 & 3 : x >> 40) % PAGES *
				      PAGE + (x >> 48 & 0xff8),
			      x >> 33 & 1) == SMMU_OK;
		if (i % 64 == 0)
			same_counts(t);
	}
	same_counts(t);
	EXPECT_GE(ok, OPS / 10);
}

TEST("with a micro-TLB everything is as without, whatever software does")
{
	utlb_random(twins_new(false));
}

TEST("without a trace everything is as with one, also where accesses stall or are refused")
{
	struct twins *t = twins_new(true);
	unsigned int i;

	STEP("more accesses that stall than there is room for");
	both_wr(t, CB(0, SCTLR), SCTLR_ON | HUPCF | CFCFG);
	for (i = 0; i < SMMU_STALLED_MAX; i++)
		EXPECT_EQ(both_do(t, 0, VA, true), SMMU_STALLED);
	EXPECT_EQ(both_do(t, 0, VA, true), SMMU_FAULT);
	both_wr(t, CB(0, FSR), 0xffffffff);
	both_wr(t, CB(0, RESUME), SMMU_CB_RESUME_TNR);
	same_counts(t);
	STEP("a RESUME for nobody; an access behind a fault that is latched");
	for (i = 0; i < 2; i++)
		both_wr(t, CB(1, RESUME), 0);
	both_wr(t, CB(1, SCTLR), SCTLR_ON);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(both_do(t, 1, VA, true), SMMU_FAULT);
	both_wr(t, CB(1, FSR), 0xffffffff);
	same_counts(t);
	STEP("whatever else software does");
	both_wr(t, CB(0, SCTLR), SCTLR_ON | HUPCF);
	both_wr(t, CB(1, SCTLR), SCTLR_ON | HUPCF);
	utlb_random(t);
	EXPECT_GE(trace_count(t->r[0]->trace, EV_SMMU_TERMINATED), 2);
	EXPECT_GE(trace_count(t->r[0]->trace, EV_SMMU_RESUME_IGNORED), 2);
	EXPECT_EQ(trace_count(t->r[1]->trace, EV_SMMU_FAULT), 0);
}

TEST("a noted hit is over with the register write that takes it away")
{
	struct twins *t = twins_new(false);

	both_map(t, 0, VA, PA, D_RW);
	both_do(t, 0, VA, false);
	both_do(t, 0, VA, false);
	STEP("not even a lookup is made now: the descriptor is gone");
	both_map(t, 0, VA, 0, 0);
	EXPECT_EQ(both_do(t, 0, VA + 16, false), SMMU_OK);
	EXPECT_EQ(t->r[0]->a.pa, PA + 16);
	both_wr64(t, CB(0, TLBIVA), VA >> 12 | UINT64_C(1) << 48);
	EXPECT_EQ(both_do(t, 0, VA, false), SMMU_FAULT);
}

TEST("what a read noted allows no write, and nothing for another stream")
{
	struct twins *t = twins_new(false);

	both_map(t, 0, VA, PA, D_RO);
	both_do(t, 0, VA, false);
	both_do(t, 0, VA, false);
	EXPECT_EQ(both_do(t, 0, VA, true), SMMU_FAULT);
	EXPECT_EQ(rig_fault(t->r[0], 0), SMMU_CB_FSR_PF);
	EXPECT_EQ(both_do(t, 1, VA, false), SMMU_FAULT);
	EXPECT_EQ(rig_fault(t->r[0], 1), SMMU_CB_FSR_TF);
}

TEST("a micro-TLB of zeroes holds nothing, not even page 0")
{
	struct twins *t = twins_new(false);

	EXPECT_EQ(both_do(t, 0, 0, false), SMMU_FAULT);
}

/* ---- one thread translates, another remaps and invalidates ---- */

struct race {
	struct rig *r;
	uint64_t *desc;
	_Atomic unsigned int round, seen;
	unsigned int wrong;
};

static void *utlb_translates(void *arg)
{
	struct race *race = arg;
	struct smmu_utlb utlb = { 0 };
	struct smmu_access a = { .utlb = &utlb, .stream = RIG_STREAM,
				 .va = VA };
	unsigned int round, at;

	do {
		round = atomic_load(&race->round);
		if (smmu_translate(race->r->s, &a) != SMMU_OK)
			a.pa = PA;
		at = (unsigned int)((a.pa - PA) / PAGE);
		race->wrong += at < round;
		atomic_store(&race->seen, round);
	} while (round < ROUNDS);
	return NULL;
}

TEST("an access that begins after an invalidation uses nothing older")
{
	/* No trace: it is of one thread. */
	const struct smmu_config cfg = { 0 };
	struct rig *r = rig_new(0, 0, 0);
	const struct smmu_env env = { r, rig_read64, rig_irq, rig_sync_start,
				      rig_sync_done, rig_resume,
				      rig_frame_tag, NULL };
	struct race race = { .r = r };
	pthread_t thread;
	unsigned int i;

	smmu_destroy(r->s);
	r->s = smmu_create(&cfg, &env);
	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF);
	rig_map(r, 0, VA, PA, 3, D_RW);
	race.desc = rig_desc(r, 0, VA, 3);
	EXPECT_EQ(pthread_create(&thread, NULL, utlb_translates, &race), 0);
	for (i = 1; i <= ROUNDS; i++) {
		__atomic_store_n(race.desc, (PA + i * PAGE) | D_RW | PTE_TYPE,
				 __ATOMIC_RELEASE);
		smmu_reg_write(race.r->s, CB(0, TLBIVA), 8,
			       VA >> 12 | UINT64_C(1) << 48);
		atomic_store(&race.round, i);
		/* Now and then wait, so that something was noted. */
		while (i % 4 == 0 && atomic_load(&race.seen) + 4 < i)
			;
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(race.wrong, 0);
}
