// SPDX-License-Identifier: BSD-2-Clause
/* See bench.h. */
#include "labs/bank/tests/bench.h"

#include <stdio.h>
#include <string.h>

#define OTHER_TBU	0x1400
#define TABLE_BYTES	128	/* 25 bits of address: sixteen entries */
#define T0SZ		39
#define PASIZE_40	2

#define FRAME		UINT64_C(0x40000000)
#define BLOCK		(PTE_VALID | D_RW)

#define GONE	4096	/* no test lets more go before it looks at them */

static struct {
	uint64_t ticket;
	struct { uint64_t ticket; bool terminate; } gone[GONE];
	unsigned int count, next;	/* the next to be looked at */
} bench;

static void bench_ask(uint32_t op, uint64_t a, uint64_t b, uint64_t c)
{
	struct subject_msg m = { .op = op, .arg = { a, b, c } };

	judge_ask(&m);
}

void bench_write(uint32_t off, unsigned int bytes, uint64_t value)
{
	judge_tell(&(struct subject_msg){ .op = LAB_REG_WRITE, .arg = { off, bytes, value } },
		   NULL, NULL);
}

void bench_new(void)
{
	judge_did("a new SMMU");
	bench_ask(LAB_NEW, 0, 0, 0);
	/* What was told before has been looked at. */
	memset(&bench, 0, sizeof(bench));
	bench_write(GR0(CR0), 4, SMMU_GR0_CR0_GFRE | SMMU_GR0_CR0_GFIE |
		    SMMU_GR0_CR0_USFCFG);
}

uint16_t bench_stream(unsigned int bank, unsigned int how)
{
	return (uint16_t)((SMMU_BANK_STREAM + bank) | (how & ELSEWHERE ? OTHER_TBU : 0));
}

static void bench_poke_desc(unsigned int bank, uint64_t va, uint64_t desc)
{
	judge_tell(&(struct subject_msg){ .op = LAB_POKE,
		.arg = { LAB_BASE + bank * TABLE_BYTES + 8 * (va >> 21), desc } }, NULL, NULL);
}

void bench_sctlr(unsigned int bank, uint32_t bits)
{
	judge_did("bank %u: SCTLR with%s%s%s%s%s", bank,
		  bits & CFCFG ? " CFCFG" : "", bits & HUPCF ? " HUPCF" : "",
		  bits & CFRE ? " CFRE" : "", bits & CFIE ? " CFIE" : "",
		  bits ? "" : " none of CFCFG, HUPCF, CFRE, CFIE");
	bench_write(CB(bank, SCTLR), 4, SMMU_CB_SCTLR_M | bits);
}

void bench_bank(unsigned int bank, uint32_t bits)
{
	unsigned int other = bank + SMMU_BANKS;

	bench_poke_desc(bank, GOOD, FRAME | BLOCK);
	bench_poke_desc(bank, RDONLY, FRAME | BLOCK | PTE_RDONLY);
	bench_poke_desc(bank, AGED, FRAME | (BLOCK & ~PTE_AF));
	bench_poke_desc(bank, WIDE, UINT64_C(1) << 44 | BLOCK);
	bench_write(GR1(CBAR(bank)), 4, 1 << SMMU_GR1_CBAR_TYPE_SHIFT);
	bench_write(GR1(CBA2R(bank)), 4, SMMU_GR1_CBA2R_VA64);
	bench_write(CB(bank, TTBR0), 8, (LAB_BASE + bank * TABLE_BYTES) |
					(uint64_t)(bank + 1) << 48);
	bench_write(CB(bank, TCR), 4, T0SZ);
	bench_write(CB(bank, TCR2), 4, PASIZE_40 | SMMU_CB_TCR2_AS);
	bench_sctlr(bank, bits);
	bench_write(GR0(S2CR(bank)), 4, bank);
	bench_write(GR0(SMR(bank)), 4,
		    bench_stream(bank, 0) | SMMU_GR0_SMR_VALID);
	bench_write(GR0(S2CR(other)), 4, bank);
	bench_write(GR0(SMR(other)), 4,
		    bench_stream(bank, ELSEWHERE) | SMMU_GR0_SMR_VALID);
}

void bench_one(uint32_t bits)
{
	bench_new();
	bench_bank(0, bits);
}

void bench_map(unsigned int bank, uint64_t va)
{
	judge_did("bank %u: a page at va 0x%" PRIx64, bank, va);
	bench_poke_desc(bank, va, FRAME | BLOCK);
}

void bench_reset(void)
{
	judge_did("reset");
	bench_ask(LAB_RESET, 0, 0, 0);
}

/* The bits of FSR in words. */
static const char *fsr_text(uint32_t fsr, bool with_format, char *text,
			    size_t size)
{
	static const char *const name[] = { NULL, "TF", "AFF", "PF", "EF",
					    "TLBMCF", "TLBLKF", "ASF", "UUT" };
	size_t at = 0;
	unsigned int i;

	text[0] = 0;
	for (i = 1; i <= 8; i++)
		if (fsr >> i & 1)
			at += (size_t)snprintf(text + at, size - at, "%s ",
					       name[i]);
	snprintf(text + at, size - at, "%s%s", fsr & SS ? "SS " : "",
		 fsr & MULTI ? "MULTI " : "");
	at = strlen(text);
	if (!at)
		at = (size_t)snprintf(text, size, "nothing ");
	if (with_format)
		snprintf(text + at, size - at, "FORMAT %u",
			 (fsr & SMMU_CB_FSR_FORMAT_MASK) >>
				 SMMU_CB_FSR_FORMAT_SHIFT);
	else
		text[at - 1] = 0;
	return text;
}

static const char *fsynr0_text(uint32_t v, char *text, size_t size)
{
	snprintf(text, size, "0x%x (PLVL %u%s%s%s, S1CBNDX %u)", v,
		 v & SMMU_CB_FSYNR0_PLVL_MASK,
		 v & SMMU_CB_FSYNR0_WNR ? " WNR" : "",
		 v & SMMU_CB_FSYNR0_PNU ? " PNU" : "",
		 v & SMMU_CB_FSYNR0_PTWF ? " PTWF" : "",
		 (v & SMMU_CB_FSYNR0_S1CBNDX_MASK) >>
			 SMMU_CB_FSYNR0_S1CBNDX_SHIFT);
	return text;
}

void bench_clear(unsigned int bank, uint32_t bits)
{
	char text[80];

	judge_did("bank %u: 0x%x (%s) to FSR", bank, bits,
		  fsr_text(bits, bits & SMMU_CB_FSR_FORMAT_MASK, text,
			   sizeof(text)));
	bench_write(CB(bank, FSR), 4, bits);
}

void bench_restore(unsigned int bank, uint32_t bits)
{
	char text[80];

	judge_did("bank %u: %s to FSRRESTORE", bank,
		  fsr_text(bits, bits & SMMU_CB_FSR_FORMAT_MASK, text,
			   sizeof(text)));
	bench_write(CB(bank, FSRRESTORE), 4, bits);
}

void bench_resume(unsigned int bank, uint32_t value)
{
	judge_did("bank %u: 0x%x (%s) to RESUME", bank, value,
		  value & TERMINATE ? "terminate" : "retry");
	bench_write(CB(bank, RESUME), 4, value);
}

static void access_then(unsigned int bank, uint64_t va, unsigned int how, judge_check *check,
			const uint64_t *want)
{
	struct subject_msg m = { .op = LAB_ACCESS };

	judge_did("bank %u: access %" PRIu64 ": %s%s va 0x%" PRIx64 "%s", bank,
		  ++bench.ticket, how & PRIVILEGED ? "privileged " : "",
		  how & WRITE ? "write" : "read", va,
		  how & ELSEWHERE ? ", by another TBU" : "");
	m.arg[0] = bench_stream(bank, how);
	m.arg[1] = va;
	m.arg[2] = how & WRITE;
	m.arg[3] = !!(how & PRIVILEGED);
	m.arg[4] = bench.ticket;
	m.arg[5] = 1000 + bench.ticket;
	m.arg[6] = 2000 + bench.ticket;
	judge_tell(&m, check, want);
}

void bench_access(unsigned int bank, uint64_t va, unsigned int how)
{
	access_then(bank, va, how, NULL, NULL);
}

uint64_t bench_ticket(void)
{
	return bench.ticket;
}

static const char *verdict_name(uint64_t verdict)
{
	static const char *const name[] = {
		[SMMU_OK] = "it goes on",
		[SMMU_FAULT] = "it is refused with an error",
		[SMMU_STALLED] = "it is stalled",
		[SMMU_RAZWI] = "it ends in silence",
	};

	return verdict < sizeof(name) / sizeof(name[0]) ? name[verdict] :
							  "no verdict at all";
}

static void check_verdict(const struct subject_msg *m, const uint64_t *want)
{
	judge_same("what came of the access", verdict_name(m->arg[0]), verdict_name(want[0]));
}

void bench_comes_to(unsigned int bank, uint64_t va, unsigned int how, enum smmu_verdict verdict)
{
	access_then(bank, va, how, check_verdict, WANTS(verdict));
}

void bench_goes_on(unsigned int bank, uint64_t va, unsigned int how)
{
	bench_comes_to(bank, va, how, SMMU_OK);
}

void bench_refused(unsigned int bank, uint64_t va, unsigned int how)
{
	bench_comes_to(bank, va, how, SMMU_FAULT);
}

void bench_silent(unsigned int bank, uint64_t va, unsigned int how)
{
	bench_comes_to(bank, va, how, SMMU_RAZWI);
}

void bench_held(unsigned int bank, uint64_t va, unsigned int how)
{
	bench_comes_to(bank, va, how, SMMU_STALLED);
}

/* The register of a bank must be so. */
static void bench_expect(unsigned int bank, uint32_t off, unsigned int bytes, judge_check *check,
			 uint64_t value)
{
	judge_tell(&(struct subject_msg){ .op = LAB_REG_READ, .arg = { off, bytes } }, check,
		   WANTS(bank, value));
}

static void compare_fsr(const struct subject_msg *m, const uint64_t *want, bool whole)
{
	char what[40], came_text[80], want_text[80];

	snprintf(what, sizeof(what), "FSR of bank %u", (unsigned int)want[0]);
	judge_same(what,
		   fsr_text((uint32_t)m->arg[0], whole, came_text, sizeof(came_text)),
		   fsr_text((uint32_t)want[1], whole, want_text, sizeof(want_text)));
}

static void check_fsr(const struct subject_msg *m, const uint64_t *want)
{
	compare_fsr(m, want, false);
}

static void check_whole_fsr(const struct subject_msg *m, const uint64_t *want)
{
	compare_fsr(m, want, true);
}

void bench_fsr(unsigned int bank, uint32_t bits)
{
	bench_expect(bank, CB(bank, FSR), 4, check_fsr, bits);
}

void bench_whole_fsr(unsigned int bank, uint32_t value)
{
	bench_expect(bank, CB(bank, FSR), 4, check_whole_fsr, value);
}

static void compare_hex(const char *reg, const struct subject_msg *m, const uint64_t *want)
{
	char what[40], came_text[24], want_text[24];

	snprintf(what, sizeof(what), "%s of bank %u", reg, (unsigned int)want[0]);
	snprintf(came_text, sizeof(came_text), "0x%" PRIx64, m->arg[0]);
	snprintf(want_text, sizeof(want_text), "0x%" PRIx64, want[1]);
	judge_same(what, came_text, want_text);
}

static void check_far(const struct subject_msg *m, const uint64_t *want)
{
	compare_hex("FAR", m, want);
}

void bench_far(unsigned int bank, uint64_t va)
{
	bench_expect(bank, CB(bank, FAR), 8, check_far, va);
}

static void check_fsynr0(const struct subject_msg *m, const uint64_t *want)
{
	char what[40], came_text[80], want_text[80];

	snprintf(what, sizeof(what), "FSYNR0 of bank %u", (unsigned int)want[0]);
	judge_same(what, fsynr0_text((uint32_t)m->arg[0], came_text, sizeof(came_text)),
		   fsynr0_text((uint32_t)want[1], want_text, sizeof(want_text)));
}

void bench_fsynr0(unsigned int bank, uint32_t value)
{
	bench_expect(bank, CB(bank, FSYNR0), 4, check_fsynr0, value);
}

static void check_who(const struct subject_msg *m, const uint64_t *want)
{
	compare_hex("CBFRSYNRA", m, want);
}

void bench_who(unsigned int bank, uint16_t stream)
{
	bench_expect(bank, GR1(CBFRSYNRA(bank)), 4, check_who, stream);
}

/* Queue the accesses that this answer says were let go. True: it did not hold all of them. */
static bool bench_heard(const struct subject_msg *m)
{
	uint64_t i;

	for (i = 0; i < m->arg[3] && i < LAB_TOLD; i++) {
		judge_at_least("room for those let go", GONE, bench.count + 1);
		bench.gone[bench.count].ticket = m->arg[LAB_AT_TOLD + 2 * i];
		bench.gone[bench.count++].terminate = m->arg[LAB_AT_TOLD + 2 * i + 1];
	}
	return i && m->arg[4];
}

/* What is outside. */
static struct subject_msg bench_seen(void)
{
	struct subject_msg m;

	do {
		m = (struct subject_msg){ .op = LAB_SEEN };
		judge_ask(&m);
	} while (bench_heard(&m));
	return m;
}

static void compare_line(uint64_t came, bool up)
{
	judge_same("the interrupt line", came ? "up" : "down", up ? "up" : "down");
}

void bench_line(bool up)
{
	compare_line(bench_seen().arg[0], up);
}

void bench_line_changes(uint64_t times)
{
	judge_equal("changes of the line", bench_seen().arg[1], times);
}

static void compare_busy(uint64_t came, bool busy)
{
	judge_same("is any access stalled", came ? "yes" : "no", busy ? "yes" : "no");
}

void bench_busy(bool busy)
{
	compare_busy(bench_seen().arg[2], busy);
}

static void gone_text(char *text, size_t size, uint64_t ticket, bool terminate)
{
	snprintf(text, size, "access %" PRIu64 ", to be %s", ticket,
		 terminate ? "terminated" : "tried again");
}

/* The next access of that queue; false: it is empty. */
static bool next_gone(char *text, size_t size)
{
	snprintf(text, size, "nobody");
	if (bench.next == bench.count)
		return false;
	gone_text(text, size, bench.gone[bench.next].ticket,
		  bench.gone[bench.next].terminate);
	return true;
}

void bench_lets_go(uint64_t ticket, bool terminate)
{
	char came[60], want[60];

	if (bench.next == bench.count)
		bench_seen();
	if (next_gone(came, sizeof(came)))
		bench.next++;
	if (bench.next == bench.count)
		bench.next = bench.count = 0;
	gone_text(want, sizeof(want), ticket, terminate);
	judge_same("the next one let go", came, want);
}

static void compare_nobody(void)
{
	char came[60];

	next_gone(came, sizeof(came));
	judge_same("the next one let go", came, "nobody");
}

void bench_lets_nobody_go(void)
{
	bench_seen();
	compare_nobody();
}

static void check_outside(const struct subject_msg *m, const uint64_t *want)
{
	compare_line(m->arg[0], want[0]);
	compare_busy(m->arg[2], want[1]);
	bench_heard(m);
	compare_nobody();
}

void bench_is(unsigned int bank, const struct bench_state *want)
{
	bench_whole_fsr(bank, want->fsr);
	bench_far(bank, want->far);
	bench_fsynr0(bank, want->fsynr0);
	bench_who(bank, want->stream);
	judge_tell(&(struct subject_msg){ .op = LAB_SEEN }, check_outside,
		   WANTS(want->up, want->busy));
}

uint64_t bench_events(enum trace_event event)
{
	struct subject_msg m = { .op = LAB_EVENT, .arg = { event } };

	judge_ask(&m);
	return m.arg[0];
}
