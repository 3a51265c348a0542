// SPDX-License-Identifier: BSD-2-Clause
/* Steps 7 to 9 and 22 to 24: the bank's top half, and accesses that are held. */
#include "labs/driver/tests/bench.h"

#define CB(reg)		(SMMU_CB_BASE(SLOT) + SMMU_CB_##reg)
#define TF		SMMU_CB_FSR_TF
#define SS		SMMU_CB_FSR_SS
#define MULTI		SMMU_CB_FSR_MULTI

static bool stall_interrupts(void)
{
	return bench_smmu_get(CB(SCTLR), 4) & SMMU_CB_SCTLR_CFIE;
}

/* An access of the usual process is held, and the top half has seen it. */
static void stall_hold(unsigned int page, bool write, unsigned int ticket)
{
	bench_access(STREAM, VA(page, 0), write, ticket, IS_HELD);
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT, TF | SS, VA(page, 0), write);
}

static void stall_expect(unsigned int resolve)
{
	bench_usual(FL_SYSTEM_STALL, resolve);
}

JUDGE(bank_said, "a bank that has a fault is heard")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_access(STREAM, VA(FIRST, 0), true, 1, IS_REFUSED);
	judge_did("fl_irq_smmu()");
	bench_irq(LAB_LINE_SMMU, 1);
}

JUDGE(bank_silent, "one that has none is not")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_irq(LAB_LINE_SMMU, 0);
	bench_nothing();
}

JUDGE(only_multi, "MULTI alone is a fault that nobody described")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_smmu(CB(FSRRESTORE), 4, MULTI);
	bench_irq(LAB_LINE_SMMU, 1);
	judge_equal("FSR", bench_smmu_get(CB(FSR), 4), 0);
}

JUDGE(latch, "FSR, FAR, FSYNR0 are read, then FSR is cleared")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_access(STREAM, VA(FIRST + 6, 24), true, 1, IS_REFUSED);
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT, TF, VA(FIRST + 6, 24), true);
	judge_equal("FSR", bench_smmu_get(CB(FSR), 4), 0);
	bench_access(STREAM, VA(FIRST, 0), false, 2, IS_REFUSED);
	bench_access(STREAM, VA(FIRST + 1, 0), true, 3, IS_REFUSED);
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT, TF | MULTI, VA(FIRST, 0), false);
	judge_equal("FSR", bench_smmu_get(CB(FSR), 4), 0);
	bench_nothing();
}

JUDGE(latch_order, "a fault that comes as soon as FSR is clear is another one")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_access(STREAM, VA(FIRST + 6, 24), true, 1, IS_REFUSED);
	WHEN(LAB_AT_CLEAR, SLOT, "the card reads the page before it",
	     LAB_ACCESS, STREAM, VA(FIRST + 5, 8), 0, 2);
	bench_irq(LAB_LINE_SMMU, 2);
	bench_latch(SLOT, TF, VA(FIRST + 6, 24), true);
	bench_latch(SLOT, TF, VA(FIRST + 5, 8), false);
	bench_nothing();
}

JUDGE(noted_hard, "what no page cures is noted for the worker")
{
	bench_usual(FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	bench_smmu(CB(FAR), 8, VA(FIRST, 0));
	bench_smmu(SMMU_GR1_BASE + SMMU_GR1_CBFRSYNRA(SLOT), 4, STREAM);
	bench_smmu(CB(FSRRESTORE), 4, SMMU_CB_FSR_EF);
	bench_irq(LAB_LINE_SMMU, 1);
	bench_counts(0, LAB_IS_HARD, 1);
}

JUDGE(last_stream, "what an earlier owner's stream met ends at once")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	judge_did("another stream still leads to the bank");
	bench_smmu(SMMU_GR0_S2CR(20), 4, SLOT);
	bench_smmu(SMMU_GR0_SMR(20), 4, (STREAM + 16) | SMMU_GR0_SMR_VALID);
	bench_access(STREAM + 16, VA(FIRST, 0), true, 1, IS_HELD);
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT, TF | SS, VA(FIRST, 0), true);
	bench_resumed(1, true);
	bench_work(0);
	bench_nothing();
}

JUDGE(held_nobody, "an access that is held for nobody ends at once")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	bench_close(0);
	bench_access(STREAM, VA(FIRST, 0), true, 1, IS_HELD);
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT, TF | SS, VA(FIRST, 0), true);
	bench_resumed(1, true);
	bench_nothing();
}

JUDGE(ss_nobody, "what is held for nobody ends, also when only SS is left of it")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	stall_hold(FIRST, true, 1);
	bench_close(0);
	bench_smmu(CB(SCTLR), 4, SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE |
		   SMMU_CB_SCTLR_CFIE | SMMU_CB_SCTLR_CFCFG);
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT, SS, VA(FIRST, 0), true);
	bench_resumed(1, true);
	bench_nothing();
}

JUDGE(held, "an access that is held: no interrupt of the bank, one for a worker")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	bench_access(STREAM, VA(FIRST, 0), true, 1, IS_HELD);
	bench_irq(LAB_LINE_SMMU, 1);
	judge_equal("SCTLR.CFIE", stall_interrupts(), 0);
	judge_equal("the other bits of SCTLR",
		    bench_smmu_get(CB(SCTLR), 4) & SMMU_CB_SCTLR_CFCFG,
		    SMMU_CB_SCTLR_CFCFG);
	bench_counts(0, LAB_FAULTS, 1);
	bench_counts(0, LAB_FAULTS_DST, 1);
	bench_work(1);
}

JUDGE(draining, "of a process that is leaving nobody takes it: fl_stall_end() will")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	bench_change(0, LAB_QUIET, 1);
	bench_access(STREAM, VA(FIRST, 0), true, 1, IS_HELD);
	bench_irq(LAB_LINE_SMMU, 1);
	judge_equal("SCTLR.CFIE", stall_interrupts(), 0);
	bench_work(0);
	bench_counts(0, LAB_FAULTS, 0);
}

JUDGE(worker_at_it, "SS without interrupt: a worker is at it, leave it alone")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	stall_hold(FIRST, true, 1);
	bench_open(1, STREAM + 2, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK);
	judge_did("the line is shared: another bank's fault");
	bench_access(STREAM + 2, VA(FIRST, 0), true, 2, IS_REFUSED);
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT + 2, TF, VA(FIRST, 0), true);
	bench_nothing();
	bench_counts(0, LAB_FAULTS, 1);
	bench_work(1);
}

JUDGE(multi_at_work, "but a fault of the bank while the worker is at it is heard")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	stall_hold(FIRST, true, 1);
	bench_smmu(CB(FSRRESTORE), 4, MULTI);
	judge_did("a fault of another bank has the line");
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT, MULTI | SS, VA(FIRST, 0), true);
	bench_counts(0, LAB_FAULTS, 1);
	bench_work(1);
}

JUDGE(lets_go, "the worker brings the page in, and the access goes on")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	stall_hold(FIRST, true, 1);
	bench_work(1);
	bench_asked(0, FIRST, 1, true);
	bench_resumed(1, false);
	bench_nothing();
	bench_access(STREAM, VA(FIRST, 0), true, 1, IS_OK);
	bench_counts(0, LAB_STALLS, 1);
	bench_counts(0, LAB_FAILED, 0);
}

JUDGE(ends_it, "or ends, when the page cannot be had")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	bench_map(0, FIRST, 1, 0);
	stall_hold(FIRST, false, 1);
	bench_work(1);
	bench_resumed(1, true);
	bench_nothing();
	bench_counts(0, LAB_STALLS, 1);
	bench_counts(0, LAB_FAILED, 1);
}

/* How often RESUME came to nothing. */
static unsigned int turned_away(void)
{
	struct subject_msg note;
	unsigned int n;

	for (n = 0, bench_take(&note, 1); note.arg[0] == LAB_TURNED_AWAY; n++)
		bench_take(&note, 1);
	return n;
}

JUDGE(between, "a fault between FSR and RESUME: both once more, not for ever")
{
	unsigned int n;

	stall_expect(FL_IOC_RESOLVE_BLOCK);
	stall_hold(FIRST, true, 1);
	WHEN(LAB_AT_RESUME, SLOT, "another channel's fault sets MULTI",
	     LAB_SMMU_WRITE, CB(FSRRESTORE), 4, MULTI);
	bench_work(1);
	bench_asked(0, FIRST, 1, true);
	bench_turned_away();
	bench_resumed(1, false);
	bench_nothing();
	bench_counts(0, LAB_STALLS, 1);
	stall_hold(FIRST + 9, true, 2);
	bench_change(0, LAB_STUCK, 1);
	bench_work(1);
	bench_asked(0, FIRST + 9, 1, true);
	n = turned_away();
	judge_same("RESUME that comes to nothing is written",
		   n < 8 ? "too few times" : n > 32 ? "more often than that" :
		   "FL_RESUME_TRIES times or so", "FL_RESUME_TRIES times or so");
}

JUDGE(next_held, "the next access that is held is for the top half")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	stall_hold(FIRST, true, 1);
	WHEN(LAB_AT_RESUMED, 1, "the card reads on, and is held", LAB_ACCESS,
	     STREAM, VA(FIRST + 1, 0), 0, 2);
	bench_work(1);
	bench_asked(0, FIRST, 1, true);
	bench_resumed(1, false);
	bench_nothing();
	bench_irq(LAB_LINE_SMMU, 1);
	bench_latch(SLOT, TF | SS, VA(FIRST + 1, 0), false);
	bench_work(1);
	bench_asked(0, FIRST + 1, 1, false);
	bench_resumed(2, false);
	bench_nothing();
}

JUDGE(hears_again, "then the bank's interrupt is on again")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	stall_hold(FIRST, true, 1);
	bench_work(1);
	judge_equal("SCTLR.CFIE", stall_interrupts(), 1);
	bench_asked(0, FIRST, 1, true);
	bench_resumed(1, false);
	stall_hold(FIRST + 9, true, 2);
	judge_equal("SCTLR.CFIE", stall_interrupts(), 0);
	bench_work(1);
	bench_asked(0, FIRST + 9, 1, true);
	bench_resumed(2, false);
	judge_equal("SCTLR.CFIE", stall_interrupts(), 1);
	bench_counts(0, LAB_FAULTS, 2);
}

JUDGE(around, "the channel knows how much of the block is left")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	bench_channel(RX, 4, VA(FIRST, 0), 3 * LAB_PAGE, 0, true);
	bench_channel(TX, 5, VA(FIRST, 0), LAB_PAGE, 0, true);
	stall_hold(FIRST, true, 1);
	bench_work(1);
	bench_asked(0, FIRST, 3, true);
	bench_resumed(1, false);
	bench_channel(TX, 5, VA(FIRST + 9, 0), 2 * LAB_PAGE, 0, true);
	stall_hold(FIRST + 9, false, 2);
	bench_work(1);
	bench_asked(0, FIRST + 9, 2, false);
	bench_resumed(2, false);
}

JUDGE(around_left, "and of the transfer")
{
	stall_expect(FL_IOC_RESOLVE_TRANSFER);
	bench_channel(RX, 4, VA(FIRST, 0), LAB_PAGE, VA(5, 0), true);
	stall_hold(FIRST, true, 1);
	bench_work(2);
	bench_asked(0, FIRST, 1, true);
	bench_resumed(1, false);
	judge_did("and only then what is wanted ahead");
	bench_asked(0, FIRST + 1, 5, true);
	judge_did("more than 32 bits can say is left, and the region is shorter");
	bench_region(0, VA(FIRST + 16, 0), VA(8, 0), true);
	bench_channel(RX, 4, VA(FIRST + 16, 0), LAB_PAGE,
		      (UINT64_C(1) << 32) + VA(1, 0), true);
	stall_hold(FIRST + 16, true, 2);
	bench_work(2);
	bench_asked(0, FIRST + 16, 1, true);
	bench_resumed(2, false);
	bench_asked(0, FIRST + 17, 7, true);
}

JUDGE(around_other, "unless it is at something else, or not held")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	bench_channel(RX, 4, VA(FIRST + 1, 0), 3 * LAB_PAGE, 0, true);
	stall_hold(FIRST, true, 1);
	bench_work(1);
	bench_asked(0, FIRST, 1, true);
	bench_resumed(1, false);
	bench_channel(RX, 4, VA(FIRST + 9, 0), 3 * LAB_PAGE, 0, false);
	stall_hold(FIRST + 9, true, 2);
	bench_work(1);
	bench_asked(0, FIRST + 9, 1, true);
	bench_resumed(2, false);
}

JUDGE(around_most, "not more than a block, nor nothing, whatever it says")
{
	stall_expect(FL_IOC_RESOLVE_BLOCK);
	bench_channel(RX, 4, VA(FIRST, 0), VA(100, 0), 0, true);
	stall_hold(FIRST, true, 1);
	bench_work(1);
	bench_asked(0, FIRST, 4, true);
	bench_resumed(1, false);
	bench_channel(RX, 4, VA(FIRST + 9, 0), 0, 0, true);
	stall_hold(FIRST + 9, true, 2);
	bench_work(1);
	bench_asked(0, FIRST + 9, 1, true);
	bench_resumed(2, false);
}
