// SPDX-License-Identifier: BSD-2-Clause
/* Steps 1 to 3: what the latch tells, what it loses, how it is cleared. */
#include "labs/bank/tests/bench.h"

#define ON	(HUPCF | CFRE | CFIE)
/* Every bit of FSR that says fault, but MULTI. */
static const uint32_t kinds[] = {
	TF, AFF, PF, EF, SMMU_CB_FSR_TLBMCF, SMMU_CB_FSR_TLBLKF, ASF,
	SMMU_CB_FSR_UUT
};
#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

JUDGE(kind, "each kind of fault is its bit in FSR, of the format of the bank")
{
	bench_new();
	bench_bank(0, ON);
	bench_bank(1, ON);
	bench_bank(2, ON);
	bench_bank(3, ON);
	bench_bank(4, ON);
	bench_whole_fsr(0, 0);
	bench_access(0, COLD, READ);
	bench_whole_fsr(0, TF | FORMAT(2));
	bench_access(1, AGED, READ);
	bench_whole_fsr(1, AFF | FORMAT(2));
	bench_access(2, RDONLY, WRITE);
	bench_whole_fsr(2, PF | FORMAT(2));
	bench_access(3, WIDE, READ);
	bench_whole_fsr(3, ASF | FORMAT(2));
	judge_did("bank 4: the table lies where nobody answers");
	bench_write(CB(4, TTBR0), 8, 0);
	bench_access(4, GOOD, READ);
	bench_whole_fsr(4, EF | FORMAT(2));
	judge_did("bank 5: CBA2R.VA64 0, TCR.EAE 1: AArch32, long descriptors");
	bench_bank(5, ON);
	bench_write(GR1(CBA2R(5)), 4, 0);
	bench_write(CB(5, TCR), 4, SMMU_CB_TCR_EAE);
	bench_access(5, GOOD, READ);
	bench_whole_fsr(5, TF | FORMAT(1));
}

JUDGE(address, "FAR is the address of the byte, with all its 64 bits")
{
	bench_one(ON);
	bench_access(0, COLD, READ);
	bench_far(0, COLD);
	bench_bank(1, ON);
	bench_access(1, BEYOND, READ);
	bench_far(1, BEYOND);
	bench_fsr(1, TF);
}

JUDGE(syndrome, "FSYNR0 tells of write, privilege, level and bank")
{
	bench_new();
	bench_bank(0, ON);
	bench_bank(3, ON);
	bench_bank(11, ON);
	bench_access(0, COLD, READ);
	bench_fsynr0(0, 2);
	bench_access(3, COLD, WRITE | PRIVILEGED);
	bench_fsynr0(3, 3 << SMMU_CB_FSYNR0_S1CBNDX_SHIFT | 2 |
			SMMU_CB_FSYNR0_WNR | SMMU_CB_FSYNR0_PNU);
	judge_did("bank 11: the table lies where nobody answers");
	bench_write(CB(11, TTBR0), 8, 0);
	bench_access(11, COLD, READ);
	bench_fsynr0(11, 11 << SMMU_CB_FSYNR0_S1CBNDX_SHIFT | 2 |
			 SMMU_CB_FSYNR0_PTWF);
}

JUDGE(who, "CBFRSYNRA tells the stream, with its TBU")
{
	bench_new();
	bench_bank(2, ON);
	bench_bank(7, ON);
	bench_access(2, COLD, READ);
	bench_who(2, bench_stream(2, READ));
	bench_access(7, COLD, READ | ELSEWHERE);
	bench_who(7, bench_stream(7, ELSEWHERE));
}

JUDGE(nothing_of_before, "a description leaves nothing of what stood there")
{
	bench_one(ON);
	judge_did("all ones to FAR, FSYNR0, CBFRSYNRA");
	bench_write(CB(0, FAR), 8, ~UINT64_C(0));
	bench_write(CB(0, FSYNR0), 4, UINT32_MAX);
	bench_write(GR1(CBFRSYNRA(0)), 4, UINT32_MAX);
	bench_restore(0, FORMAT(1));
	bench_access(0, COLD, READ);
	bench_whole_fsr(0, TF | FORMAT(2));
	bench_far(0, COLD);
	bench_fsynr0(0, 2);
	bench_who(0, bench_stream(0, READ));
}

JUDGE(latches_apart, "each bank has a latch of its own")
{
	bench_new();
	bench_bank(0, ON);
	bench_bank(15, ON);
	bench_access(15, COLD, READ);
	bench_whole_fsr(0, 0);
	bench_access(0, COLD2, WRITE);
	bench_fsr(15, TF);
	bench_far(15, COLD);
	bench_who(15, bench_stream(15, READ));
	bench_fsr(0, TF);
	bench_far(0, COLD2);
	bench_who(0, bench_stream(0, READ));
}

JUDGE(multi, "a fault while the latch is taken sets MULTI, and nothing else")
{
	bench_one(ON);
	bench_access(0, COLD, READ);
	bench_access(0, AGED, READ);
	bench_whole_fsr(0, TF | MULTI | FORMAT(2));
	bench_access(0, RDONLY, WRITE);
	bench_whole_fsr(0, TF | MULTI | FORMAT(2));
	judge_equal("events SMMU_FAULT", bench_events(EV_SMMU_FAULT), 1);
	judge_equal("events SMMU_MULTI", bench_events(EV_SMMU_MULTI), 2);
}

JUDGE(first_stays, "the first fault stays described")
{
	bench_one(ON);
	bench_access(0, COLD, READ);
	bench_access(0, BEYOND, WRITE | PRIVILEGED | ELSEWHERE);
	bench_fsr(0, TF | MULTI);
	bench_far(0, COLD);
	bench_fsynr0(0, 2);
	bench_who(0, bench_stream(0, READ));
}

JUDGE(any_kind, "any fault bit takes the latch")
{
	unsigned int i;

	bench_new();
	for (i = 0; i < KINDS; i++) {
		bench_bank(i, ON);
		bench_restore(i, kinds[i]);
		bench_access(i, COLD, READ);
		bench_fsr(i, kinds[i] | MULTI);
		bench_far(i, 0);
	}
}

JUDGE(multi_takes, "MULTI is a fault bit too, FORMAT is none")
{
	bench_new();
	bench_bank(0, ON);
	bench_bank(1, ON);
	bench_restore(0, MULTI);
	bench_access(0, COLD, READ);
	bench_fsr(0, MULTI);
	bench_far(0, 0);
	bench_restore(1, FORMAT(2));
	bench_access(1, COLD, READ);
	bench_fsr(1, TF);
	bench_far(1, COLD);
}

JUDGE(one_clears, "a one clears its bit, a zero leaves it")
{
	bench_one(ON);
	bench_restore(0, TF | PF | ASF);
	bench_clear(0, 0);
	bench_fsr(0, TF | PF | ASF);
	bench_clear(0, AFF | EF | MULTI);
	bench_fsr(0, TF | PF | ASF);
	bench_clear(0, PF);
	bench_fsr(0, TF | ASF);
	bench_clear(0, TF | ASF);
	bench_fsr(0, 0);
	bench_restore(0, ~(SS | SMMU_CB_FSR_FORMAT_MASK));
	bench_clear(0, UINT32_MAX);
	bench_fsr(0, 0);
}

JUDGE(multi_by_itself, "MULTI goes by its own bit, not with the fault it came after")
{
	bench_one(ON);
	bench_restore(0, PF | MULTI);
	bench_clear(0, PF);
	bench_fsr(0, MULTI);
	bench_clear(0, MULTI);
	bench_fsr(0, 0);
	bench_restore(0, TF | MULTI);
	bench_clear(0, MULTI);
	bench_fsr(0, TF);
}

JUDGE(format_goes, "FORMAT goes with the last fault bit")
{
	bench_one(ON);
	bench_restore(0, PF | MULTI | FORMAT(2));
	bench_clear(0, SMMU_CB_FSR_FORMAT_MASK);
	bench_whole_fsr(0, PF | MULTI | FORMAT(2));
	bench_clear(0, PF | SMMU_CB_FSR_FORMAT_MASK);
	bench_whole_fsr(0, MULTI | FORMAT(2));
	bench_clear(0, MULTI);
	bench_whole_fsr(0, 0);
}

JUDGE(free_again, "a latch that is clear describes the next fault")
{
	bench_one(ON);
	bench_access(0, COLD, READ);
	bench_access(0, AGED, READ);
	bench_clear(0, TF);
	bench_access(0, COLD2, READ);
	bench_fsr(0, MULTI);
	bench_far(0, COLD);
	bench_clear(0, MULTI);
	bench_access(0, RDONLY, WRITE);
	bench_whole_fsr(0, PF | FORMAT(2));
	bench_far(0, RDONLY);
	bench_fsynr0(0, 2 | SMMU_CB_FSYNR0_WNR);
}
