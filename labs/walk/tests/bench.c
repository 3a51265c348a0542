// SPDX-License-Identifier: BSD-2-Clause
/* See bench.h. */
#include "labs/walk/tests/bench.h"

#include <stdio.h>
#include <string.h>

struct bench bench;

void bench_new(unsigned int tlb_entries)
{
	judge_did("a new SMMU, %s", tlb_entries ? "with a small TLB" :
						  "TLB of 512 entries");
	judge_ask(&(struct subject_msg){ .op = LAB_NEW, .arg = { tlb_entries } });
	/* What was told before has been looked at. */
	memset(&bench, 0, (size_t)((char *)&bench.mem[bench.words] - (char *)&bench));
}

void bench_write(uint32_t off, unsigned int bytes, uint64_t value)
{
	judge_tell(&(struct subject_msg){ .op = LAB_REG_WRITE, .arg = { off, bytes, value } },
		   NULL, NULL);
}

uint64_t bench_read(uint32_t off, unsigned int bytes)
{
	struct subject_msg m = { .op = LAB_REG_READ, .arg = { off, bytes } };

	judge_ask(&m);
	return m.arg[0];
}

unsigned int bench_start(unsigned int t0sz)
{
	return t0sz >= 34 ? 2 : t0sz >= 25 ? 1 : 0;
}

uint64_t bench_peek(uint64_t pa)
{
	return bench.mem[(pa - LAB_BASE) / 8];
}

void bench_poke(uint64_t pa, uint64_t value)
{
	size_t at = (pa - LAB_BASE) / 8;

	bench.mem[at] = value;
	bench.words = at < bench.words ? bench.words : at + 1;
	judge_tell(&(struct subject_msg){ .op = LAB_POKE, .arg = { pa, value } }, NULL, NULL);
}

static void bench_hand_write(void *ctx, uint32_t off, unsigned int bytes, uint64_t value)
{
	(void)ctx;
	bench_write(off, bytes, value);
}

static uint64_t bench_hand_peek(void *ctx, uint64_t pa)
{
	(void)ctx;
	return bench_peek(pa);
}

static void bench_hand_poke(void *ctx, uint64_t pa, uint64_t value)
{
	(void)ctx;
	bench_poke(pa, value);
}

static uint64_t bench_hand_page(void *ctx)
{
	(void)ctx;
	return LAB_BASE + PAGE * bench.pages++;
}

static const struct smmu_hands bench_hands = {
	NULL, bench_hand_write, bench_hand_peek, bench_hand_poke, bench_hand_page,
};

void bench_bank(unsigned int bank, uint16_t asid, unsigned int t0sz)
{
	bench.root[bank] = bench_hand_page(NULL);
	bench.start[bank] = bench_start(t0sz);
	judge_did("bank %u: ASID %u, T0SZ %u, first table 0x%" PRIx64, bank,
		  asid, t0sz, bench.root[bank]);
	smmu_bank_start(&bench_hands, bank, bench.root[bank], asid, t0sz,
			SMMU_CB_SCTLR_M | SMMU_CB_SCTLR_CFRE | SMMU_CB_SCTLR_CFIE |
			SMMU_CB_SCTLR_HUPCF);
}

void bench_one(void)
{
	bench_new(0);
	bench_bank(0, 1, 16);
}

uint64_t bench_at(unsigned int bank, uint64_t va, unsigned int level)
{
	return smmu_bank_desc(&bench_hands, bench.root[bank], bench.start[bank], va, level);
}

void bench_map(unsigned int bank, uint64_t va, uint64_t pa, unsigned int level,
	       uint64_t bits)
{
	uint64_t desc = smmu_bank_leaf(pa, level, bits);

	judge_did("bank %u: %s va 0x%" PRIx64 ", descriptor 0x%" PRIx64, bank,
		  level == 3 ? "page" : level == 2 ? "2 MB block" :
						     "1 GB block", va, desc);
	bench_poke(bench_at(bank, va, level), desc);
}

static void keep_access(const struct subject_msg *m, const uint64_t *want)
{
	(void)want;
	bench.last = *m;
	bench.hits += m->arg[0] == SMMU_OK && m->arg[2];
}

void bench_access(unsigned int bank, uint64_t va, unsigned int how)
{
	judge_did("bank %u: %s%s va 0x%" PRIx64, bank,
		  how & PRIVILEGED ? "privileged " : "",
		  how & WRITE ? "write" : "read", va);
	judge_tell(&(struct subject_msg){ .op = LAB_ACCESS,
					  .arg = { SMMU_BANK_STREAM + bank, va, how & WRITE,
						   !!(how & PRIVILEGED) } },
		   keep_access, NULL);
}

const struct subject_msg *bench_last(void)
{
	judge_settle();
	return &bench.last;
}

unsigned int bench_hits(void)
{
	judge_settle();
	return bench.hits;
}

/* Looks change nothing; the last one is behind what check looks at, too. */
static void bench_look(unsigned int bank, judge_check *check, const uint64_t *want)
{
	judge_tell(&(struct subject_msg){ .op = LAB_REG_READ, .arg = { CB(bank, FSYNR0), 4 } },
		   check, want);
}

static const char *fault_name(uint64_t fsr)
{
	switch (fsr & ~(uint64_t)(SMMU_CB_FSR_FORMAT_MASK)) {
	case SMMU_CB_FSR_TF:
		return "translation fault";
	case SMMU_CB_FSR_AFF:
		return "access flag fault";
	case SMMU_CB_FSR_PF:
		return "permission fault";
	case SMMU_CB_FSR_EF:
		return "external fault";
	case SMMU_CB_FSR_ASF:
		return "address size fault";
	case 0:
		return "no fault in FSR";
	default:
		return "several faults in FSR";
	}
}

static void keep_fsr(const struct subject_msg *m, const uint64_t *want)
{
	(void)want;
	bench.fsr = m->arg[0];
}

/* What came of the last access, in words. */
static void bench_outcome(uint64_t fsynr0, char *text, size_t size)
{
	uint64_t verdict = bench.last.arg[0];

	if (verdict == SMMU_OK) {
		snprintf(text, size, "physical address 0x%" PRIx64,
			 bench.last.arg[1]);
		return;
	}
	if (verdict != SMMU_FAULT) {
		snprintf(text, size, "verdict %" PRIu64, verdict);
		return;
	}
	snprintf(text, size, "%s at level %" PRIu64 "%s", fault_name(bench.fsr),
		 fsynr0 & SMMU_CB_FSYNR0_PLVL_MASK,
		 fsynr0 & SMMU_CB_FSYNR0_PTWF ? " (PTWF: the walk itself)" : "");
}

static void access_then(unsigned int bank, uint64_t va, unsigned int how, judge_check *check,
			const uint64_t *want)
{
	bench_access(bank, va, how);
	judge_tell(&(struct subject_msg){ .op = LAB_REG_READ, .arg = { CB(bank, FSR), 4 } },
		   keep_fsr, NULL);
	bench_look(bank, check, want);
}

static void check_reaches(const struct subject_msg *m, const uint64_t *want)
{
	char came[120], wanted[120];

	bench_outcome(m->arg[0], came, sizeof(came));
	snprintf(wanted, sizeof(wanted), "physical address 0x%" PRIx64, want[0]);
	judge_same("what came of the access", came, wanted);
	snprintf(came, sizeof(came), "physical address 0x%" PRIx64,
		 bench.last.arg[7]);
	judge_same("what the event SMMU_WALK said", came, wanted);
}

void bench_reaches(unsigned int bank, uint64_t va, unsigned int how, uint64_t pa)
{
	access_then(bank, va, how, check_reaches, WANTS(pa));
}

static void check_faults(const struct subject_msg *m, const uint64_t *want)
{
	char came[120], wanted[120];

	bench_outcome(m->arg[0], came, sizeof(came));
	snprintf(wanted, sizeof(wanted), "%s at level %" PRIu64 "%s", fault_name(want[0]),
		 want[1], want[0] == SMMU_CB_FSR_EF ? " (PTWF: the walk itself)" : "");
	judge_same("what came of the access", came, wanted);
}

void bench_faults(unsigned int bank, uint64_t va, unsigned int how, uint32_t fsr,
		  unsigned int level)
{
	access_then(bank, va, how, check_faults, WANTS(fsr, level));
	bench_write(CB(bank, FSR), 4, 0xffffffff);
}

static void check_hit(const struct subject_msg *m, const uint64_t *want)
{
	(void)m;
	judge_same("found in the TLB", bench.last.arg[2] ? "yes" : "no",
		   want[0] ? "yes" : "no");
}

void bench_was_hit(bool hit)
{
	bench_look(0, check_hit, WANTS(hit));
}

static void check_reads(const struct subject_msg *m, const uint64_t *want)
{
	(void)m;
	judge_equal("descriptors read", bench.last.arg[3], want[0]);
}

void bench_made_reads(uint64_t reads)
{
	bench_look(0, check_reads, WANTS(reads));
}

void bench_counted_reads(uint64_t reads)
{
	judge_equal("counted in w->reads", bench_last()->arg[8], reads);
	judge_equal("counted in stats.walk_reads", bench_last()->arg[9], reads);
}

void bench_invalidate(unsigned int bank, uint64_t va, uint16_t asid)
{
	judge_did("TLBIVAL of va 0x%" PRIx64 ", ASID %u", va, asid);
	bench_write(CB(bank, TLBIVAL), 8, va >> 12 | (uint64_t)asid << 48);
}

void bench_forget(unsigned int bank)
{
	judge_did("bank %u: TLBIALL", bank);
	bench_write(CB(bank, TLBIALL), 4, 0);
}

uint32_t bench_walk(uint64_t va, unsigned int how, struct bench_want *w)
{
	uint64_t t = bench.root[0], d, no_write = 0, no_user = 0, out;
	unsigned int low;

	w->level = w->reads = 0;
	if (va >> (64 - w->t0sz))
		return SMMU_CB_FSR_TF;
	for (w->level = bench_start(w->t0sz);; w->level++) {
		low = 39 - 9 * w->level;
		w->reads++;
		if (t < LAB_BASE || t >= LAB_BASE + LAB_PAGES * PAGE)
			return SMMU_CB_FSR_EF;
		d = bench_peek(t + 8 * (va >> low & 511));
		if (d % 2 == 0)
			return SMMU_CB_FSR_TF;
		out = d << 16 >> 28 << 12;
		if (w->level == 3 || d % 4 == 1)
			break;
		if (out >> w->pa_bits)
			return SMMU_CB_FSR_ASF;
		no_write |= d >> 62 & 1;
		no_user |= d >> 61 & 1;
		t = out;
	}
	if ((w->level == 3) != (d % 4 == 3) || w->level == 0)
		return SMMU_CB_FSR_TF;
	out = out >> low << low;
	if (out >> w->pa_bits)
		return SMMU_CB_FSR_ASF;
	if (!(d & PTE_AF) && !w->affd)
		return SMMU_CB_FSR_AFF;
	if (how & WRITE && (d & PTE_RDONLY || no_write))
		return SMMU_CB_FSR_PF;
	if (!(how & PRIVILEGED) && (!(d & PTE_USER) || no_user))
		return SMMU_CB_FSR_PF;
	w->pa = out + va % (UINT64_C(1) << low);
	return 0;
}
