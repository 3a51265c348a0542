// SPDX-License-Identifier: BSD-2-Clause
/* Step 4: the one line that all banks, and the global faults, share. */
#include "labs/bank/tests/bench.h"

#define ON	(HUPCF | CFRE | CFIE)

JUDGE(line, "a fault raises the line, and it stays up until FSR is clear")
{
	bench_one(ON);
	bench_line(false);
	bench_access(0, GOOD, READ);
	bench_line(false);
	bench_access(0, COLD, READ);
	bench_line(true);
	bench_access(0, GOOD, READ);
	bench_line(true);
	bench_clear(0, AFF);
	bench_line(true);
	bench_clear(0, TF);
	bench_line(false);
	bench_line_changes(2);
}

JUDGE(line_enable, "SCTLR.CFIE lets the level through, whenever it is set")
{
	bench_one(HUPCF | CFRE);
	bench_access(0, COLD, READ);
	bench_fsr(0, TF);
	bench_line(false);
	bench_sctlr(0, ON);
	bench_line(true);
	bench_sctlr(0, HUPCF | CFRE);
	bench_line(false);
	bench_sctlr(0, ON);
	bench_line(true);
}

JUDGE(line_any_bank, "every bank can raise the line")
{
	unsigned int n;

	bench_new();
	for (n = 0; n < SMMU_BANKS; n++) {
		bench_bank(n, ON);
		bench_access(n, COLD, READ);
		bench_line(true);
		bench_clear(n, TF);
		bench_line(false);
	}
}

JUDGE(line_shared, "the line falls when the last bank is clear")
{
	bench_new();
	bench_bank(3, ON);
	bench_bank(9, ON);
	bench_bank(12, HUPCF | CFRE);
	bench_access(3, COLD, READ);
	bench_access(9, COLD, READ);
	bench_access(12, COLD, READ);
	bench_clear(3, TF);
	bench_line(true);
	bench_access(3, COLD, READ);
	bench_clear(9, TF);
	bench_line(true);
	bench_clear(3, TF);
	bench_line(false);
	bench_fsr(12, TF);
	bench_line_changes(2);
}

JUDGE(line_multi, "MULTI alone holds the line, FORMAT alone does not")
{
	bench_one(ON);
	bench_restore(0, FORMAT(2));
	bench_line(false);
	bench_restore(0, MULTI);
	bench_line(true);
	bench_clear(0, MULTI);
	bench_line(false);
	bench_access(0, COLD, READ);
	bench_access(0, COLD, READ);
	bench_clear(0, TF);
	bench_line(true);
}

static void line_check_global(uint32_t cr0, uint32_t gfsr, bool up)
{
	judge_did("CR0 with%s%s, GFSR 0x%x",
		  cr0 & SMMU_GR0_CR0_GFIE ? " GFIE" : "",
		  cr0 & SMMU_GR0_CR0_GFRE ? " GFRE" : "", gfsr);
	bench_write(GR0(GFSR), 4, UINT32_MAX);
	bench_write(GR0(CR0), 4, cr0 | SMMU_GR0_CR0_USFCFG);
	bench_write(GR0(GFSRRESTORE), 4, gfsr);
	bench_line(up);
}

JUDGE(line_global, "global faults raise it as well, whatever they are, by GFIE")
{
	bench_one(ON);
	line_check_global(SMMU_GR0_CR0_GFIE, SMMU_GR0_GFSR_USF, true);
	line_check_global(SMMU_GR0_CR0_GFIE, SMMU_GR0_GFSR_ICF, true);
	line_check_global(SMMU_GR0_CR0_GFIE, SMMU_GR0_GFSR_UCBF, true);
	line_check_global(SMMU_GR0_CR0_GFIE, SMMU_GR0_GFSR_SMCF, true);
	line_check_global(SMMU_GR0_CR0_GFIE, SMMU_GR0_GFSR_MULTI, true);
	line_check_global(SMMU_GR0_CR0_GFRE, SMMU_GR0_GFSR_USF, false);
	line_check_global(SMMU_GR0_CR0_GFRE, SMMU_GR0_GFSR_ICF, false);
	line_check_global(0, SMMU_GR0_GFSR_USF | SMMU_GR0_GFSR_ICF, false);
	judge_did("a bank beside a global fault");
	bench_access(0, COLD, READ);
	bench_line(true);
	line_check_global(SMMU_GR0_CR0_GFIE, SMMU_GR0_GFSR_USF, true);
	bench_clear(0, TF);
	bench_line(true);
	bench_write(GR0(GFSR), 4, SMMU_GR0_GFSR_USF);
	bench_line(false);
}
