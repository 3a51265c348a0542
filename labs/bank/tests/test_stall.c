// SPDX-License-Identifier: BSD-2-Clause
/* Steps 8 and 9: who is stalled, and how software lets it go. */
#include "labs/bank/tests/bench.h"

#define STALL	(CFCFG | HUPCF | CFRE | CFIE)

JUDGE(stalled, "SS stands in FSR while an access is stalled")
{
	bench_one(STALL);
	bench_busy(false);
	bench_held(0, COLD, READ);
	bench_whole_fsr(0, TF | SS | FORMAT(2));
	bench_far(0, COLD);
	bench_busy(true);
	bench_lets_nobody_go();
}

JUDGE(ss_stays, "SS is not cleared by a one")
{
	bench_one(STALL);
	bench_held(0, COLD, READ);
	bench_clear(0, SS);
	bench_fsr(0, TF | SS);
	bench_clear(0, UINT32_MAX);
	bench_whole_fsr(0, SS);
	bench_busy(true);
}

JUDGE(ss_line, "SS alone holds the line, but for CFIE")
{
	bench_one(STALL);
	bench_held(0, COLD, READ);
	bench_clear(0, TF);
	bench_line(true);
	bench_sctlr(0, STALL & ~CFIE);
	bench_line(false);
	bench_sctlr(0, STALL);
	bench_line(true);
}

JUDGE(ss_takes, "a fault while only SS is left is lost too")
{
	bench_one(STALL);
	bench_held(0, COLD, READ);
	bench_clear(0, TF);
	bench_held(0, COLD2, WRITE);
	bench_fsr(0, SS | MULTI);
	bench_far(0, COLD);
}

JUDGE(ss_bars, "SS alone bars the way to others, if HUPCF is 0")
{
	bench_new();
	bench_bank(0, CFCFG | CFRE);
	bench_bank(1, STALL);
	bench_held(0, COLD, READ);
	bench_held(1, COLD, READ);
	bench_clear(0, TF);
	bench_clear(1, TF);
	bench_held(0, GOOD, READ);
	bench_goes_on(1, GOOD, READ);
	bench_fsr(0, SS);
}

JUDGE(in_line, "those stalled stand in line, each in its bank's, with name and transfer")
{
	struct subject_msg m = { .op = LAB_EVENT, .arg = { EV_SMMU_RESUME } };

	bench_new();
	bench_bank(0, STALL);
	bench_bank(6, CFCFG);
	bench_held(6, COLD, READ);
	bench_held(0, COLD, READ);
	bench_held(6, GOOD, READ);
	bench_held(0, AGED, READ);
	bench_held(6, GOOD, READ);
	judge_did("a reset terminates them, bank by bank");
	bench_reset();
	bench_lets_go(2, true);
	bench_lets_go(4, true);
	bench_lets_go(1, true);
	bench_lets_go(3, true);
	bench_lets_go(5, true);
	bench_lets_nobody_go();
	bench_busy(false);
	judge_ask(&m);
	judge_equal("transfer of the last event SMMU_RESUME", m.arg[1], 1005);
	judge_equal("block of the last event SMMU_RESUME", m.arg[2], 2005);
}

JUDGE(retry, "first FSR, then RESUME: the access is tried again")
{
	bench_one(STALL);
	bench_held(0, COLD, READ);
	bench_map(0, COLD);
	bench_clear(0, TF);
	bench_lets_nobody_go();
	bench_resume(0, RETRY);
	bench_lets_go(1, false);
	bench_lets_nobody_go();
	bench_fsr(0, 0);
	bench_busy(false);
	bench_goes_on(0, COLD, READ);
}

JUDGE(ignored, "RESUME is ignored while FSR holds a fault, or nobody is stalled")
{
	bench_one(STALL);
	bench_resume(0, RETRY);
	bench_resume(0, TERMINATE);
	bench_lets_nobody_go();
	bench_held(0, AGED, READ);
	bench_resume(0, TERMINATE);
	bench_resume(0, RETRY);
	bench_lets_nobody_go();
	bench_whole_fsr(0, AFF | SS | FORMAT(2));
	bench_line(true);
	judge_did("nor is it remembered");
	bench_clear(0, AFF);
	bench_lets_nobody_go();
	judge_equal("events SMMU_RESUME_IGNORED",
		    bench_events(EV_SMMU_RESUME_IGNORED), 4);
	bench_resume(0, RETRY);
	bench_lets_go(1, false);
	bench_resume(0, RETRY);
	judge_equal("events SMMU_RESUME_IGNORED",
		    bench_events(EV_SMMU_RESUME_IGNORED), 5);
	bench_lets_nobody_go();
}

JUDGE(multi_first, "MULTI is a fault that RESUME waits for")
{
	bench_one(STALL);
	bench_held(0, COLD, READ);
	bench_held(0, COLD2, READ);
	bench_clear(0, TF);
	bench_resume(0, RETRY);
	bench_lets_nobody_go();
	bench_fsr(0, SS | MULTI);
	bench_clear(0, MULTI);
	bench_resume(0, RETRY);
	bench_lets_go(1, false);
	bench_lets_go(2, false);
	judge_did("who was lost faults by itself when it is tried again");
	bench_held(0, COLD2, READ);
	bench_fsr(0, TF | SS);
	bench_far(0, COLD2);
}

JUDGE(first_ends, "TNR decides about the first; the others are tried again")
{
	bench_one(CFCFG | CFRE);
	bench_held(0, COLD, READ);
	bench_held(0, GOOD, READ);
	bench_held(0, GOOD, WRITE);
	bench_clear(0, TF);
	bench_held(0, GOOD, READ);
	bench_resume(0, TERMINATE);
	bench_lets_go(1, true);
	bench_lets_go(2, false);
	bench_lets_go(3, false);
	bench_lets_go(4, false);
	bench_lets_nobody_go();
	bench_busy(false);
	bench_goes_on(0, GOOD, READ);
}

JUDGE(tnr_alone, "of RESUME only TNR counts")
{
	bench_one(STALL);
	bench_held(0, COLD, READ);
	bench_clear(0, TF);
	bench_resume(0, ~TERMINATE);
	bench_lets_go(1, false);
	bench_held(0, COLD, READ);
	bench_clear(0, TF);
	bench_resume(0, UINT32_MAX);
	bench_lets_go(2, true);
}

JUDGE(line_after, "the line falls with RESUME, and rises with the next fault")
{
	bench_one(STALL);
	bench_held(0, COLD, READ);
	bench_clear(0, TF);
	bench_line(true);
	bench_resume(0, RETRY);
	bench_line(false);
	bench_held(0, COLD, READ);
	bench_line(true);
	bench_line_changes(3);
}

JUDGE(resumes_apart, "RESUME is for its own bank")
{
	bench_new();
	bench_bank(0, STALL);
	bench_bank(1, CFCFG | CFIE);
	bench_held(0, COLD, READ);
	bench_held(1, COLD, READ);
	bench_held(1, GOOD, READ);
	bench_clear(1, TF);
	bench_resume(1, TERMINATE);
	bench_lets_go(2, true);
	bench_lets_go(3, false);
	bench_lets_nobody_go();
	bench_fsr(0, TF | SS);
	bench_line(true);
	bench_clear(0, TF);
	bench_resume(0, RETRY);
	bench_lets_go(1, false);
	bench_line(false);
}

JUDGE(restored, "who waits for a fault that was restored is let go as well")
{
	bench_one(CFCFG | CFRE | CFIE);
	bench_restore(0, EF);
	bench_held(0, GOOD, READ);
	bench_fsr(0, EF | SS);
	bench_clear(0, EF);
	bench_resume(0, RETRY);
	bench_lets_go(1, false);
	bench_goes_on(0, GOOD, READ);
	bench_line(false);
}
