/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - the judge's side of this lab: banks, accesses and what software does
 * with the fault registers, as one-line steps and expectations.
 */
#ifndef FL_LABS_BANK_BENCH_H
#define FL_LABS_BANK_BENCH_H

#include "faultline/smmu_regs.h"
#include "labs/bank/bank_lab.h"
#include "rig/smmu_bank.h"
#include "smmu/smmu.h"
#include "tools/grade/judge.h"
#include "trace/trace.h"

#define TF	SMMU_CB_FSR_TF
#define AFF	SMMU_CB_FSR_AFF
#define PF	SMMU_CB_FSR_PF
#define EF	SMMU_CB_FSR_EF
#define ASF	SMMU_CB_FSR_ASF
#define SS	SMMU_CB_FSR_SS
#define MULTI	SMMU_CB_FSR_MULTI
#define FORMAT(n)	((uint32_t)(n) << SMMU_CB_FSR_FORMAT_SHIFT)

#define HUPCF	SMMU_CB_SCTLR_HUPCF
#define CFCFG	SMMU_CB_SCTLR_CFCFG
#define CFIE	SMMU_CB_SCTLR_CFIE
#define CFRE	SMMU_CB_SCTLR_CFRE

#define RETRY		0
#define TERMINATE	SMMU_CB_RESUME_TNR

/*
 * The address space of every bank: blocks of 2 MB, so a walk ends at level 2.
 * BEYOND is not in it, and is a translation fault at level 0.
 */
#define GOOD	UINT64_C(0x0000010)	/* may be read and written */
#define RDONLY	UINT64_C(0x0212345)	/* a write is a permission fault */
#define AGED	UINT64_C(0x0400678)	/* an access flag fault */
#define COLD	UINT64_C(0x0654321)	/* a translation fault */
#define COLD2	UINT64_C(0x0a00004)	/* another one */
#define WIDE	UINT64_C(0x0800000)	/* an address size fault */
#define BEYOND	UINT64_C(0x7f0000002345)

/* How an access is made; may be added. ELSEWHERE: by a port of another TBU. */
enum { READ = 0, WRITE = 1, PRIVILEGED = 2, ELSEWHERE = 4 };

/* A board as after power-on. */
void bench_new(void);
/* A bank, its table and its streams, switched on; bits of SCTLR beside M. */
void bench_bank(unsigned int bank, uint32_t bits);
/* bench_new, and bank 0. */
void bench_one(uint32_t bits);
/* Other bits in SCTLR of a bank. */
void bench_sctlr(unsigned int bank, uint32_t bits);
/* From now on there is a page at COLD or COLD2. */
void bench_map(unsigned int bank, uint64_t va);
void bench_reset(void);
uint16_t bench_stream(unsigned int bank, unsigned int how);

/* A register; quiet: no step of the transcript. */
void bench_write(uint32_t off, unsigned int bytes, uint64_t value);

/* What software does with the fault registers. */
void bench_clear(unsigned int bank, uint32_t bits);
void bench_restore(unsigned int bank, uint32_t bits);
void bench_resume(unsigned int bank, uint32_t value);

/* An access. Its name, the ticket, counts from 1 on a new board. */
void bench_access(unsigned int bank, uint64_t va, unsigned int how);
uint64_t bench_ticket(void);

/* The same, and what must come of it. */
void bench_goes_on(unsigned int bank, uint64_t va, unsigned int how);
void bench_refused(unsigned int bank, uint64_t va, unsigned int how);
void bench_silent(unsigned int bank, uint64_t va, unsigned int how);
void bench_held(unsigned int bank, uint64_t va, unsigned int how);
void bench_comes_to(unsigned int bank, uint64_t va, unsigned int how, enum smmu_verdict verdict);

/* What must stand in the registers of a bank. FSR without FORMAT, and all of it */
void bench_fsr(unsigned int bank, uint32_t bits);
void bench_whole_fsr(unsigned int bank, uint32_t value);
void bench_far(unsigned int bank, uint64_t va);
void bench_fsynr0(unsigned int bank, uint32_t value);
void bench_who(unsigned int bank, uint16_t stream);

/* Is the line up? How often did it change on this board? */
void bench_line(bool up);
void bench_line_changes(uint64_t times);
/* The next access that was let go, in their order; and that there is none. */
void bench_lets_go(uint64_t ticket, bool terminate);
void bench_lets_nobody_go(void);
void bench_busy(bool busy);

/* All of that at once: a bank's registers, FSR with FORMAT; and nobody is let go. */
struct bench_state {
	uint32_t fsr, fsynr0;
	uint64_t far;
	uint16_t stream;	/* in CBFRSYNRA */
	bool up, busy;
};
void bench_is(unsigned int bank, const struct bench_state *want);

/* How often an event stands in the trace of this board. */
uint64_t bench_events(enum trace_event event);

#endif
