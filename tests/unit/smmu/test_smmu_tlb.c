// SPDX-License-Identifier: BSD-2-Clause
/*
 * The TLB: what it does not keep, and what each invalidation takes away. What it keeps, and
 * for whom, is in labs/walk/tests, which runs here too (test_lab_walk).
 */
#include "rig/smmu.h"

#include <pthread.h>
#include <sched.h>

#define VA	UINT64_C(0x7f1234567000)
#define PA	UINT64_C(0x40000000)
#define GLOBAL	(D_RW & ~PTE_NG)
#define PAGE	UINT64_C(4096)

/* Two banks with ASIDs 1 and 2 and tables of their own. */
static struct rig *rig_two(void)
{
	struct rig *r = rig_new(0, 0, 0);

	rig_bank(r, 0, 1, 16, SCTLR_ON | HUPCF);
	rig_bank(r, 1, 2, 16, SCTLR_ON | HUPCF);
	return r;
}

/* Is the translation in the TLB? The access must succeed either way. */
static bool tlb_cached(struct rig *r, unsigned int bank, uint64_t va)
{
	EXPECT_EQ(rig_do(r, bank, va, false), SMMU_OK);
	return r->a.tlb_hit;
}

static uint64_t tlbi_value(uint64_t va, uint16_t asid)
{
	return va >> 12 | (uint64_t)asid << 48;
}

TEST("two banks with one ASID share entries, so ASIDs must differ")
{
	struct rig *r = rig_two();

	rig_map(r, 0, VA, PA, 3, D_RW);
	rig_map(r, 1, VA, PA + PAGE, 3, D_RW);
	rig_wr64(r, CB(1, TTBR0), r->root[1] | UINT64_C(1) << 48);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT(tlb_cached(r, 1, VA));
	EXPECT_EQ(r->a.pa, PA);
}

TEST("without TCR2.AS only 8 bits of the ASID count")
{
	struct rig *r = rig_two();

	rig_map(r, 0, VA, PA, 3, D_RW);
	rig_map(r, 1, VA, PA + PAGE, 3, D_RW);
	rig_wr64(r, CB(1, TTBR0), r->root[1] | UINT64_C(0x101) << 48);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT(!tlb_cached(r, 1, VA));
	rig_wr(r, CB(0, TLBIALL), 0);
	rig_wr(r, CB(1, TCR2), 5);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT(tlb_cached(r, 1, VA));
}

TEST("TCR.A1 takes the ASID from TTBR1")
{
	struct rig *r = rig_two();

	rig_map(r, 0, VA, PA, 3, D_RW);
	rig_map(r, 1, VA, PA + PAGE, 3, D_RW);
	rig_wr64(r, CB(1, TTBR1), UINT64_C(1) << 48);
	rig_wr(r, CB(1, TCR), 16 | SMMU_CB_TCR_A1);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT(tlb_cached(r, 1, VA));
}

TEST("one entry covers a whole 2 MB or 1 GB block")
{
	struct rig *r = rig_two();

	rig_map(r, 0, 0x40000000, UINT64_C(0x80000000), 1, D_RW);
	rig_map(r, 0, 0x200000, 0x600000, 2, D_RW);
	EXPECT(!tlb_cached(r, 0, 0x40000000));
	EXPECT(tlb_cached(r, 0, 0x7ffff000));
	EXPECT_EQ(r->a.pa, 0xbffff000);
	EXPECT(!tlb_cached(r, 0, 0x200000));
	EXPECT(tlb_cached(r, 0, 0x3ff123));
	EXPECT_EQ(r->a.pa, 0x7ff123);
	STEP("invalidation by any address inside takes it away");
	rig_wr64(r, CB(0, TLBIVA), tlbi_value(0x7abcd000, 1));
	EXPECT(!tlb_cached(r, 0, 0x40000000));
	EXPECT(tlb_cached(r, 0, 0x200000));
	rig_wr64(r, CB(0, TLBIVAL), tlbi_value(0x345000, 1));
	EXPECT(!tlb_cached(r, 0, 0x200000));
}

TEST("an invalid entry is not kept: a new mapping needs no invalidation")
{
	struct rig *r = rig_two();

	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
	rig_map(r, 0, VA, PA, 3, D_RW);
	EXPECT(!tlb_cached(r, 0, VA));
}

TEST("an aged entry is not kept, with AFFD it is")
{
	struct rig *r = rig_two();

	rig_map(r, 0, VA, PA, 3, D_RW & ~PTE_AF);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_AFF);
	rig_map(r, 0, VA, PA, 3, D_RW);
	EXPECT(!tlb_cached(r, 0, VA));
	rig_map(r, 0, VA + PAGE, PA, 3, D_RW & ~PTE_AF);
	rig_wr(r, CB(0, SCTLR), SCTLR_ON | HUPCF | SMMU_CB_SCTLR_AFFD);
	EXPECT(!tlb_cached(r, 0, VA + PAGE));
	STEP("sources: smmu-faults: it stays although no CPU TLB would hold it");
	rig_wr(r, CB(0, SCTLR), SCTLR_ON | HUPCF);
	EXPECT(tlb_cached(r, 0, VA + PAGE));
}

TEST("after a permission upgrade the stale entry faults until it is invalidated")
{
	struct rig *r = rig_two();
	unsigned int i;

	rig_map(r, 0, VA, PA, 3, D_RO);
	EXPECT(!tlb_cached(r, 0, VA));
	rig_map(r, 0, VA, PA, 3, D_RW);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(rig_write(r, VA), SMMU_FAULT);
		EXPECT(r->a.tlb_hit);
		EXPECT_EQ(rig_plvl(r), 3);
		EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_PF);
	}
	rig_wr64(r, CB(0, TLBIVAL), tlbi_value(VA, 1));
	EXPECT_EQ(rig_write(r, VA), SMMU_OK);
}

TEST("an unmapped page stays reachable until its invalidation")
{
	struct rig *r = rig_two();

	rig_map(r, 0, VA, PA, 3, D_RW);
	EXPECT(!tlb_cached(r, 0, VA));
	*rig_desc(r, 0, VA, 3) = 0;
	EXPECT(tlb_cached(r, 0, VA));
	rig_wr64(r, CB(0, TLBIVA), tlbi_value(VA, 1));
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_fault(r, 0), SMMU_CB_FSR_TF);
}

TEST("a hit returns the frame tag of the time of the walk")
{
	struct rig *r = rig_two();

	rig_map(r, 0, VA, PA, 3, D_RW);
	EXPECT(!tlb_cached(r, 0, VA + 4));
	EXPECT_EQ(r->a.tag, PA >> 12);
	r->tag_add = 1000;
	EXPECT(tlb_cached(r, 0, VA));
	EXPECT_EQ(r->a.tag, PA >> 12);
	rig_wr(r, CB(0, TLBIALL), 0);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT_EQ(r->a.tag, (PA >> 12) + 1000);
}

TEST("TLBIVA and TLBIVAL take one page of one ASID, and the global ones")
{
	static const uint32_t reg[] = { SMMU_CB_TLBIVA, SMMU_CB_TLBIVAL };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct rig *r = rig_two();
		uint64_t g = VA + 5 * PAGE;

		rig_map(r, 0, VA, PA, 3, D_RW);
		rig_map(r, 0, VA + PAGE, PA, 3, D_RW);
		rig_map(r, 1, VA, PA, 3, D_RW);
		rig_map(r, 0, g, PA, 3, GLOBAL);
		tlb_cached(r, 0, VA);
		tlb_cached(r, 0, VA + PAGE);
		tlb_cached(r, 1, VA);
		tlb_cached(r, 0, g);
		rig_wr64(r, SMMU_CB_BASE(0) + reg[i], tlbi_value(VA, 1));
		EXPECT(tlb_cached(r, 0, VA + PAGE));
		EXPECT(tlb_cached(r, 1, VA));
		EXPECT(tlb_cached(r, 0, g));
		EXPECT(!tlb_cached(r, 0, VA));
		STEP("a global entry goes, whatever ASID the write names");
		rig_wr64(r, SMMU_CB_BASE(0) + reg[i], tlbi_value(g, 77));
		EXPECT(!tlb_cached(r, 0, g));
		STEP("any bank of the VMID may invalidate for any ASID");
		rig_wr64(r, SMMU_CB_BASE(1) + reg[i], tlbi_value(VA, 1));
		EXPECT(tlb_cached(r, 1, VA));
		EXPECT(!tlb_cached(r, 0, VA));
	}
}

TEST("TLBIVAA and TLBIVAAL take one page of every ASID")
{
	static const uint32_t reg[] = { SMMU_CB_TLBIVAA, SMMU_CB_TLBIVAAL };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct rig *r = rig_two();

		rig_map(r, 0, VA, PA, 3, D_RW);
		rig_map(r, 0, VA + PAGE, PA, 3, D_RW);
		rig_map(r, 1, VA, PA, 3, D_RW);
		tlb_cached(r, 0, VA);
		tlb_cached(r, 0, VA + PAGE);
		tlb_cached(r, 1, VA);
		rig_wr64(r, SMMU_CB_BASE(1) + reg[i], VA >> 12);
		EXPECT(!tlb_cached(r, 0, VA));
		EXPECT(!tlb_cached(r, 1, VA));
		EXPECT(tlb_cached(r, 0, VA + PAGE));
	}
}

TEST("TLBIASID takes everything of one ASID but the global entries")
{
	struct rig *r = rig_two();

	rig_map(r, 0, VA, PA, 3, D_RW);
	rig_map(r, 0, 0x200000, 0x200000, 2, D_RW);
	rig_map(r, 0, VA + PAGE, PA, 3, GLOBAL);
	rig_map(r, 1, VA, PA, 3, D_RW);
	tlb_cached(r, 0, VA);
	tlb_cached(r, 0, 0x200000);
	tlb_cached(r, 0, VA + PAGE);
	tlb_cached(r, 1, VA);
	rig_wr(r, CB(0, TLBIASID), 1);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT(!tlb_cached(r, 0, 0x200000));
	EXPECT(tlb_cached(r, 0, VA + PAGE));
	EXPECT(tlb_cached(r, 1, VA));
	STEP("a global entry has no ASID, not even 0");
	rig_wr(r, CB(0, TLBIASID), 0);
	EXPECT(tlb_cached(r, 0, VA + PAGE));
}

TEST("TLBIALL takes all of the bank's VMID, TLBIVMID all of the one named")
{
	struct rig *r = rig_two();

	rig_wr(r, GR1(CBAR(1)), 1 << 16 | 9);
	rig_map(r, 0, VA, PA, 3, D_RW);
	rig_map(r, 0, VA + PAGE, PA, 3, GLOBAL);
	rig_map(r, 1, VA, PA, 3, D_RW);
	tlb_cached(r, 0, VA);
	tlb_cached(r, 0, VA + PAGE);
	tlb_cached(r, 1, VA);
	rig_wr(r, CB(0, TLBIALL), 0);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT(!tlb_cached(r, 0, VA + PAGE));
	EXPECT(tlb_cached(r, 1, VA));
	rig_wr(r, GR0(TLBIVMID), 9);
	EXPECT(!tlb_cached(r, 1, VA));
	EXPECT(tlb_cached(r, 0, VA));
}

TEST("TLBIALLNSNH and STLBIALL take everything, TLBIALLH nothing of ours")
{
	struct rig *r = rig_two();

	rig_wr(r, GR1(CBAR(1)), 1 << 16 | 9);
	rig_map(r, 0, VA, PA, 3, GLOBAL);
	rig_map(r, 1, VA, PA, 3, D_RW);
	tlb_cached(r, 0, VA);
	tlb_cached(r, 1, VA);
	rig_wr(r, GR0(TLBIALLH), 0);
	EXPECT(tlb_cached(r, 0, VA));
	EXPECT(tlb_cached(r, 1, VA));
	rig_wr(r, GR0(TLBIALLNSNH), 0);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT(!tlb_cached(r, 1, VA));
	rig_wr(r, GR0(STLBIALL), 0);
	EXPECT(!tlb_cached(r, 0, VA));
	EXPECT(!tlb_cached(r, 1, VA));
}

TEST("a 64-bit invalidation in two halves acts on the lower one")
{
	struct rig *r = rig_two();
	uint64_t v = tlbi_value(VA, 1);

	rig_map(r, 0, VA, PA, 3, D_RW);
	tlb_cached(r, 0, VA);
	rig_wr(r, CB(0, TLBIVA) + 4, v >> 32);
	EXPECT(tlb_cached(r, 0, VA));
	rig_wr(r, CB(0, TLBIVA), (uint32_t)v);
	EXPECT(!tlb_cached(r, 0, VA));
}

TEST("an invalidation of an address that no table can have does no harm")
{
	struct rig *r = rig_two();

	rig_map(r, 0, 0x1000, PA, 3, D_RW);
	tlb_cached(r, 0, 0x1000);
	rig_wr64(r, CB(0, TLBIVA), tlbi_value(0x1000 | UINT64_C(1) << 48, 1));
	rig_wr64(r, CB(0, TLBIVAA), tlbi_value(0x1000 | UINT64_C(1) << 55, 1));
	EXPECT(tlb_cached(r, 0, 0x1000));
}

TEST("every invalidation is counted and traced with its kind")
{
	struct rig *r = rig_two();
	struct trace_record rec[64];
	struct smmu_stats st;

	rig_wr64(r, CB(1, TLBIVAL), tlbi_value(VA, 7));
	EXPECT_EQ(trace_snapshot(r->trace, rec, 64), 1);
	EXPECT_EQ(rec[0].event, EV_SMMU_TLBI);
	EXPECT_EQ(rec[0].arg[0], 1);
	EXPECT_EQ(rec[0].arg[1], VA);
	EXPECT_EQ(rec[0].arg[2], 7);
	EXPECT_EQ(rec[0].arg[3], SMMU_TLBI_VAL);
	rig_wr(r, GR0(TLBIALLNSNH), 0);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.invalidations, 2);
}

TEST("TLBSYNC asks the board for a grace period, TLBSTATUS whether it is over")
{
	struct rig *r = rig_two();
	struct smmu_stats st;

	EXPECT_EQ(rig_rd(r, CB(5, TLBSTATUS)), 0);
	EXPECT_EQ(r->sync_asks, 0);
	rig_wr(r, CB(5, TLBSYNC), 0xffffffff);
	EXPECT_EQ(r->sync_starts, 1);
	EXPECT_EQ(r->sync_bank, 5);
	EXPECT_EQ(rig_rd(r, CB(5, TLBSTATUS)), SMMU_CB_TLBSTATUS_SACTIVE);
	EXPECT_EQ(rig_rd(r, CB(4, TLBSTATUS)), 0);
	EXPECT_EQ(rig_rd(r, GR0(TLBGSTATUS)), 0);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_SYNC_DONE), 0);
	r->sync_ready = true;
	EXPECT_EQ(rig_rd(r, CB(5, TLBSTATUS)), 0);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_SYNC), 1);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_SYNC_DONE), 1);
	STEP("once it is over nobody is asked");
	r->sync_asks = 0;
	EXPECT_EQ(rig_rd(r, CB(5, TLBSTATUS)), 0);
	EXPECT_EQ(r->sync_asks, 0);
	smmu_stats(r->s, &st);
	EXPECT_EQ(st.syncs, 1);
}

TEST("TLBGSYNC is the same for all banks, also through the alias")
{
	struct rig *r = rig_two();

	rig_wr(r, GR0(TLBGSYNC), 0);
	EXPECT_EQ(r->sync_bank, SMMU_ALL_BANKS);
	EXPECT_EQ(rig_rd(r, GR0(TLBGSTATUS)), SMMU_GR0_TLBGSTATUS_GSACTIVE);
	EXPECT_EQ(rig_rd(r, GR0(TLBGSTATUS) + 0x400), 1);
	EXPECT_EQ(r->sync_bank, SMMU_ALL_BANKS);
	r->sync_ready = true;
	EXPECT_EQ(rig_rd(r, GR0(TLBGSTATUS) + 0x400), 0);
	rig_wr(r, GR0(TLBGSYNC) + 0x400, 0);
	EXPECT_EQ(r->sync_starts, 2);
}

/* A board where somebody starts a synchronise while another one ends. */
static bool sync_again(void *ctx, unsigned int bank)
{
	struct rig *r = ctx;

	if (r->sync_asks++ == 0)
		smmu_reg_write(r->s, CB(bank, TLBSYNC), 4, 0);
	return true;
}

TEST("the end of one synchronise is not the end of a later one")
{
	struct smmu_config cfg = { 0 };
	struct rig *r = rig_new(0, 0, 0);
	struct smmu_env env = { r, rig_read64, rig_irq, rig_sync_start,
				sync_again, rig_resume, rig_frame_tag, NULL };

	smmu_destroy(r->s);
	r->s = smmu_create(&cfg, &env);
	rig_wr(r, CB(2, TLBSYNC), 0);
	EXPECT_EQ(rig_rd(r, CB(2, TLBSTATUS)), 1);
	EXPECT_EQ(r->sync_starts, 2);
	EXPECT_EQ(rig_rd(r, CB(2, TLBSTATUS)), 0);
	EXPECT_EQ(r->sync_asks, 2);
}

/*
 * Threads. The owner of the table gives a page a new frame again and again:
 * break, invalidate, make. Whoever translates after the owner has announced the
 * new frame must not see an older one.
 */
struct shared {
	struct rig *r;
	_Atomic uint64_t newest;
	atomic_bool stop;
	atomic_uint reads, stale;
};

static void *tlb_reader(void *arg)
{
	struct shared *sh = arg;
	struct smmu_access a = { .stream = RIG_STREAM, .va = VA };

	while (!atomic_load(&sh->stop)) {
		uint64_t least = atomic_load(&sh->newest);

		if (smmu_translate(sh->r->s, &a) != SMMU_OK)
			continue;
		atomic_fetch_add(&sh->reads, 1);
		if (a.pa >> 12 < least)
			atomic_fetch_add(&sh->stale, 1);
	}
	return NULL;
}

TEST("a walk in progress cannot bring back what was invalidated")
{
	/* The lock covers walk and fill. No trace: it is of one thread. */
	static struct shared sh;
	struct smmu_config cfg = { .tlb_entries = 16 };
	struct rig *r = rig_two();
	struct smmu_env env = { r, rig_read64, rig_irq, rig_sync_start,
				rig_sync_done, rig_resume, rig_frame_tag, NULL };
	uint64_t *d, frame;
	pthread_t t[2];

	smmu_destroy(r->s);
	r->s = smmu_create(&cfg, &env);
	r->pages_used = 0;
	memset(r->mem, 0, RIG_PAGES * 4096);
	rig_bank(r, 0, 1, 16, SMMU_CB_SCTLR_M | HUPCF);
	d = rig_desc(r, 0, VA, 3);
	memset(&sh, 0, sizeof(sh));
	sh.r = r;
	pthread_create(&t[0], NULL, tlb_reader, &sh);
	pthread_create(&t[1], NULL, tlb_reader, &sh);
	for (frame = 1; frame < 20000 || (sh.reads < 100 && frame < 9000000);
	     frame++) {
		__atomic_store_n(d, 0, __ATOMIC_RELEASE);
		smmu_reg_write(r->s, CB(0, TLBIVAL), 8, tlbi_value(VA, 1));
		__atomic_store_n(d, frame << 12 | D_RW | PTE_TYPE,
				 __ATOMIC_RELEASE);
		atomic_store(&sh.newest, frame);
		if (frame % 64 == 0)
			sched_yield();
	}
	atomic_store(&sh.stop, true);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	EXPECT_GE(sh.reads, 100);
	EXPECT_EQ(sh.stale, 0);
}
