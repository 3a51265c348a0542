// SPDX-License-Identifier: BSD-2-Clause
/* Steps 5 to 7: what becomes of who faults, and of the others of the bank. */
#include "labs/bank/tests/bench.h"

JUDGE(refused, "with CFRE a terminated access gets an error")
{
	bench_new();
	bench_bank(0, HUPCF | CFRE);
	bench_bank(1, HUPCF | CFRE);
	bench_goes_on(0, GOOD, READ);
	bench_refused(0, COLD, READ);
	bench_refused(0, COLD, WRITE);
	bench_refused(1, RDONLY, WRITE);
	bench_goes_on(1, RDONLY, READ);
	bench_lets_nobody_go();
}

JUDGE(silent, "without CFRE it reads zero or is not written, in silence")
{
	bench_new();
	bench_bank(0, HUPCF);
	bench_bank(1, HUPCF | CFRE);
	bench_silent(0, COLD, READ);
	bench_silent(0, COLD, WRITE);
	bench_refused(1, COLD, READ);
	bench_fsr(0, TF | MULTI);
	judge_equal("events SMMU_RAZWI", bench_events(EV_SMMU_RAZWI), 2);
	bench_sctlr(0, HUPCF | CFRE);
	bench_refused(0, COLD, READ);
}

JUDGE(others_pass, "with HUPCF others go on")
{
	bench_one(HUPCF | CFRE);
	bench_refused(0, COLD, READ);
	bench_goes_on(0, GOOD, READ);
	bench_goes_on(0, GOOD, WRITE | ELSEWHERE);
	bench_fsr(0, TF);
	judge_equal("events SMMU_TERMINATED", bench_events(EV_SMMU_TERMINATED),
		    0);
}

JUDGE(others_end, "without HUPCF others end as well, by whichever TBU they come")
{
	bench_one(CFRE);
	bench_goes_on(0, GOOD, READ);
	bench_refused(0, COLD, READ);
	bench_refused(0, GOOD, READ);
	bench_refused(0, GOOD, WRITE | ELSEWHERE);
	judge_did("their end is no fault: MULTI is not set");
	bench_fsr(0, TF);
	bench_far(0, COLD);
	judge_equal("events SMMU_TERMINATED", bench_events(EV_SMMU_TERMINATED),
		    2);
	bench_clear(0, TF);
	bench_goes_on(0, GOOD, READ);
}

JUDGE(any_fault_bars, "any fault bit bars the way, MULTI too; FORMAT alone does not")
{
	unsigned int bit;

	bench_one(CFRE);
	for (bit = 1; bit < 32; bit++) {
		uint32_t fsr = UINT32_C(1) << bit;

		if (bit > 10 && bit < 31)
			continue;
		bench_restore(0, fsr);
		if (fsr & SMMU_CB_FSR_FORMAT_MASK)
			bench_goes_on(0, GOOD, READ);
		else
			bench_refused(0, GOOD, READ);
		bench_clear(0, fsr);
	}
	bench_goes_on(0, GOOD, READ);
}

JUDGE(other_banks, "another bank goes on, whatever HUPCF says")
{
	bench_new();
	bench_bank(0, CFRE);
	bench_bank(1, CFRE);
	bench_bank(2, HUPCF | CFRE);
	bench_refused(0, COLD, READ);
	bench_goes_on(1, GOOD, READ);
	bench_refused(2, COLD, READ);
	bench_goes_on(1, GOOD, READ);
	bench_goes_on(2, GOOD, READ);
	bench_refused(0, GOOD, READ);
	bench_refused(1, COLD, READ);
	bench_refused(1, GOOD, READ);
}

JUDGE(waits, "with CFCFG who faults is stalled")
{
	bench_new();
	bench_bank(0, CFCFG | HUPCF | CFRE);
	bench_bank(1, CFCFG | HUPCF);
	bench_bank(2, HUPCF | CFRE);
	bench_held(0, COLD, READ);
	bench_held(0, AGED, WRITE);
	judge_did("CFRE is about those that are not stalled");
	bench_held(1, COLD, READ);
	bench_refused(2, COLD, READ);
	bench_goes_on(0, GOOD, READ);
	judge_equal("events SMMU_STALL", bench_events(EV_SMMU_STALL), 3);
	bench_lets_nobody_go();
}

JUDGE(others_wait, "without HUPCF the others wait with it")
{
	bench_one(CFCFG | CFRE);
	bench_goes_on(0, GOOD, READ);
	bench_held(0, COLD, READ);
	bench_held(0, GOOD, READ);
	bench_held(0, GOOD, WRITE | ELSEWHERE);
	judge_did("they are no faults: FAR is of the first");
	bench_far(0, COLD);
	judge_equal("events SMMU_MULTI", bench_events(EV_SMMU_MULTI), 0);
	judge_equal("events SMMU_STALL", bench_events(EV_SMMU_STALL), 3);
	bench_lets_nobody_go();
}
