// SPDX-License-Identifier: BSD-2-Clause
/* Not in the handout: random use of one bank and of all, against a plain model. */
#include "labs/bank/tests/bench.h"

#include <string.h>

#define FAULTS	(TF | AFF | PF | EF | ASF | MULTI | SMMU_CB_FSR_TLBMCF | \
		 SMMU_CB_FSR_TLBLKF | SMMU_CB_FSR_UUT)
#define QUEUE	512

/* A bank as the data sheet has it. */
static struct model {
	uint32_t sctlr, fsr, fsynr0, who;
	uint64_t far, stalled[QUEUE];
	unsigned int count;
} model[SMMU_BANKS];

static uint32_t fault_of(uint64_t va, unsigned int how)
{
	if (va == COLD || va == BEYOND)
		return TF;
	if (va == AGED)
		return AFF;
	if (va == WIDE)
		return ASF;
	return va == RDONLY && how & WRITE ? PF : 0;
}

/* What must come of an access, and what it leaves in the model. */
static enum smmu_verdict access_of(unsigned int n, uint64_t va, unsigned int how)
{
	struct model *m = &model[n];
	bool taken = m->fsr & (FAULTS | SS);
	uint32_t kind = fault_of(va, how);

	if (!(taken && !(m->sctlr & HUPCF))) {
		if (!kind)
			return SMMU_OK;
		if (taken) {
			m->fsr |= MULTI;
		} else {
			m->fsr = kind | FORMAT(2);
			m->far = va;
			m->who = bench_stream(n, how);
			m->fsynr0 = n << SMMU_CB_FSYNR0_S1CBNDX_SHIFT |
				    (va == BEYOND ? 0 : 2) |
				    (how & WRITE ? SMMU_CB_FSYNR0_WNR : 0) |
				    (how & PRIVILEGED ? SMMU_CB_FSYNR0_PNU : 0);
		}
	}
	if (!(m->sctlr & CFCFG))
		return m->sctlr & CFRE ? SMMU_FAULT : SMMU_RAZWI;
	m->fsr |= SS;
	m->stalled[m->count++] = bench_ticket() + 1;
	return SMMU_STALLED;
}

static void random_access(unsigned int n)
{
	static const uint64_t va[] = { GOOD, GOOD, GOOD, RDONLY, AGED, COLD,
				       WIDE, BEYOND };
	uint64_t x = judge_random(), at = va[x % 8];
	unsigned int how = x >> 8 & (WRITE | PRIVILEGED | ELSEWHERE);

	bench_comes_to(n, at, how, access_of(n, at, how));
}

static void random_clear(unsigned int n)
{
	uint64_t x = judge_random();
	uint32_t bits = x & 1 ? UINT32_MAX : (uint32_t)(x >> 32);

	bench_clear(n, bits);
	model[n].fsr &= ~(bits & FAULTS);
	if (!(model[n].fsr & FAULTS))
		model[n].fsr &= SS;
}

static void random_resume(unsigned int n)
{
	struct model *m = &model[n];
	uint32_t value = (uint32_t)(judge_random() >> 32);
	unsigned int i;

	bench_resume(n, value);
	if (m->fsr & FAULTS || !(m->fsr & SS))
		return;
	m->fsr &= ~SS;
	for (i = 0; i < m->count; i++)
		bench_lets_go(m->stalled[i], i == 0 && value & TERMINATE);
	m->count = 0;
}

static void random_rest(unsigned int n)
{
	uint64_t x = judge_random();
	uint32_t bits = (uint32_t)(x >> 32) & (HUPCF | CFCFG | CFRE | CFIE);

	if (x % 4 == 0) {
		bits = UINT32_C(1) << (x >> 8) % 32;
		bench_restore(n, bits);
		model[n].fsr |= bits & (FAULTS | SMMU_CB_FSR_FORMAT_MASK);
		return;
	}
	model[n].sctlr = bits;
	bench_sctlr(n, bits);
}

static void hidden_compare(unsigned int n, unsigned int banks)
{
	const struct model *m = &model[n];
	struct bench_state want = { m->fsr, m->fsynr0, m->far, (uint16_t)m->who, false, false };
	unsigned int i;

	for (i = 0; i < banks; i++) {
		if (model[i].sctlr & CFIE && model[i].fsr & (FAULTS | SS))
			want.up = true;
		want.busy = want.busy || model[i].count;
	}
	bench_is(n, &want);
}

static void random_use(unsigned int banks, unsigned int steps)
{
	unsigned int i, n;

	memset(model, 0, sizeof(model));
	bench_new();
	for (n = 0; n < banks; n++) {
		bench_bank(n, CFCFG | CFRE | CFIE);
		model[n].sctlr = CFCFG | CFRE | CFIE;
	}
	for (i = 0; i < steps; i++) {
		uint64_t x = judge_random();

		n = (x >> 8) % banks;
		if (model[n].count == QUEUE)
			continue;
		if (x % 16 < 8)
			random_access(n);
		else if (x % 16 < 11)
			random_clear(n);
		else if (x % 16 < 14)
			random_resume(n);
		else
			random_rest(n);
		hidden_compare(n, banks);
	}
}

JUDGE(random_bank, "a bank in random use")
{
	random_use(1, 4000);
}

JUDGE(random_banks, "sixteen banks in random use")
{
	random_use(SMMU_BANKS, 6000);
}

JUDGE(full_house, "as many are stalled as there is room for, over and over")
{
	unsigned int round, i;
	uint64_t first;

	bench_one(CFCFG | CFRE);
	bench_bank(1, CFCFG | CFRE);
	for (round = 0; round < 2; round++) {
		first = bench_ticket() + 1;
		bench_held(0, COLD, READ);
		for (i = 1; i < SMMU_STALLED_MAX; i++)
			bench_held(0, GOOD, READ);
		bench_refused(0, GOOD, READ);
		judge_did("there is no room in another bank either");
		bench_refused(1, COLD, READ);
		bench_fsr(1, TF);
		bench_clear(1, TF);
		bench_clear(0, TF);
		bench_resume(0, RETRY);
		for (i = 0; i < SMMU_STALLED_MAX; i++)
			bench_lets_go(first + i, false);
		bench_lets_nobody_go();
		bench_busy(false);
	}
}
