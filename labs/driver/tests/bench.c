// SPDX-License-Identifier: BSD-2-Clause
/* See bench.h. */
#include "labs/driver/tests/bench.h"

#include <stdio.h>
#include <string.h>

const struct report a_report = {
	.index = 3, .side = RX, .write = 1, .serial = 7, .stream = STREAM,
	.va = VA(FIRST, 0), .len = LAB_BLOCK, .map = 0xf,
};

/* Whatever was done, a debug kernel must have nothing to say. */
static void check_quiet(const struct subject_msg *m, const uint64_t *want)
{
	char check[sizeof(uint64_t) * (SUBJECT_ARGS - LAB_AT_CHECK) + 1] = "";

	(void)want;
	memcpy(check, &m->arg[LAB_AT_CHECK], sizeof(check) - 1);
	judge_same("what a debug kernel says", check[0] ? check : "nothing",
		   "nothing");
}

static void bench_ask(struct subject_msg *m)
{
	judge_ask(m);
	check_quiet(m, NULL);
}

static void bench_do(uint32_t op, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	judge_tell(&(struct subject_msg){ .op = op, .arg = { a, b, c, d } }, check_quiet, NULL);
}

void bench_new(void)
{
	judge_did("a new card");
	bench_do(LAB_NEW, 0, 0, 0, 0);
}

void bench_open(unsigned int p, unsigned int stream, unsigned int mode,
		unsigned int resolve)
{
	static const char *const ask_for[] = { "one page", "the block",
					       "the transfer" };

	judge_did("process %u opens the card: stream 0x%x, %s mode, a fault "
		  "asks for %s", p, stream,
		  mode == FL_SYSTEM_STALL ? "stall" : "terminate",
		  ask_for[resolve]);
	bench_do(LAB_OPEN, p, stream, mode, resolve);
	bench_do(LAB_MAP, p, FIRST, COUNT, MAY_READ | MAY_WRITE);
	bench_do(LAB_REGION, p, VA(FIRST, 0), VA(COUNT, 0), 1);
}

void bench_usual(unsigned int mode, unsigned int resolve)
{
	bench_new();
	bench_open(0, STREAM, mode, resolve);
}

void bench_close(unsigned int p)
{
	judge_did("process %u leaves the card", p);
	bench_do(LAB_CLOSE, p, 0, 0, 0);
}

void bench_region(unsigned int p, uint64_t va, uint64_t bytes, bool write)
{
	judge_did("process %u: the region is 0x%" PRIx64 " to 0x%" PRIx64 "%s",
		  p, va, va + bytes, write ? "" : ", not to be written");
	bench_do(LAB_REGION, p, va, bytes, write);
}

void bench_map(unsigned int p, unsigned int first, unsigned int n,
	       unsigned int flags)
{
	judge_did("process %u: pages %u to %u are %s%s%s%s", p, first,
		  first + n - 1, flags ? "mapped" : "not mapped",
		  flags && !(flags & MAY_WRITE) ? ", not to be written" : "",
		  flags && !(flags & MAY_READ) ? ", not to be read" : "",
		  flags & (IS_IO | IS_PFNMAP) ? ", registers of a device" : "");
	bench_do(LAB_MAP, p, first, n, flags);
}

void bench_pages(unsigned int p, unsigned int first, unsigned int n,
		 enum lab_page is)
{
	static const char *const name[] = { "absent", "there and clean",
					    "there", "there and aged" };

	judge_did("process %u: pages %u to %u are %s", p, first, first + n - 1,
		  name[is]);
	bench_do(LAB_PAGES_ARE, p, first, n, is);
}

void bench_says(unsigned int p, unsigned int page, unsigned int fault)
{
	judge_did("process %u: asked for page %u the kernel says %s", p, page,
		  fault == SAYS_OOM ? "VM_FAULT_OOM" :
		  fault == SAYS_MAJOR ? "VM_FAULT_MAJOR" : "VM_FAULT_SIGSEGV");
	bench_do(LAB_FAULT_SAYS, p, page, fault, 0);
}

void bench_change(unsigned int p, enum lab_change what, uint64_t value)
{
	static const char *const name[] = {
		"is being killed", "has no address space any more",
		"has lost its card", "holds no access any more",
		"may have so many bytes more",
		"had a bus error on the walk of",
		"has other faults all the time: MULTI is set before each RESUME",
		"had this held access, which was refused",
	};

	if (what == LAB_ROOM || what == LAB_HARD || what == LAB_REFUSED)
		judge_did("process %u: %s: 0x%" PRIx64, p, name[what], value);
	else
		judge_did("process %u: %s", p, name[what]);
	bench_do(LAB_CHANGE, p, what, value, 0);
}

void bench_report(const struct report *r)
{
	struct subject_msg m = { .op = LAB_REPORT, .arg = { REPORT(*r) } };

	judge_did("the engine reports: %s context %u, serial %u, stream 0x%x, "
		  "%s of 0x%" PRIx64 ", %u bytes, map 0x%x, left 0x%" PRIx64,
		  r->side ? "receive" : "transmit", r->index, r->serial,
		  r->stream, r->write ? "write" : "read", r->va, r->len,
		  r->map, r->left);
	judge_tell(&m, check_quiet, NULL);
}

void bench_channel(unsigned int side, unsigned int index, uint64_t va,
		   unsigned int left, uint64_t xfer_left, bool held)
{
	struct subject_msg m = { .op = LAB_CHANNEL, .arg = { side,
		index << NIC_ENG_RD_STATUS_INDEX_SHIFT |
			NIC_ENG_RD_STATUS_BUSY |
			(held ? NIC_ENG_RD_STATUS_STALLED : 0),
		va, left, xfer_left } };

	judge_did("the %s channel is at 0x%" PRIx64 " for context %u, %u bytes "
		  "of the block are left and 0x%" PRIx64 " of the transfer%s",
		  side ? "write" : "read", va, index, left, xfer_left,
		  held ? "; it is held" : "");
	judge_tell(&m, check_quiet, NULL);
}

static void check_access(const struct subject_msg *m, const uint64_t *want)
{
	static const char *const name[] = { "goes on", "is refused", "is held",
					    "reads zeros" };

	check_quiet(m, NULL);
	judge_same("the access", m->arg[0] < 4 ? name[m->arg[0]] : "?", name[want[0]]);
}

void bench_access(unsigned int stream, uint64_t va, bool write,
		  unsigned int ticket, enum verdicts want)
{
	judge_did("the card %s 0x%" PRIx64 ", stream 0x%x (access %u)",
		  write ? "writes" : "reads", va, stream, ticket);
	judge_tell(&(struct subject_msg){ .op = LAB_ACCESS, .arg = { stream, va, write, ticket } },
		   check_access, WANTS(want));
}

/* Those that the tests write. */
static void bench_reg_name(uint32_t off, char name[40])
{
	static const struct { uint32_t off; const char *name; } cb[] = {
		{ SMMU_CB_SCTLR, "SCTLR" }, { SMMU_CB_FAR, "FAR" },
		{ SMMU_CB_FSRRESTORE, "FSRRESTORE" },
	};
	unsigned int i, n;

	for (n = 0; n < SMMU_CB_COUNT; n++) {
		for (i = 0; i < sizeof(cb) / sizeof(cb[0]); i++)
			if (off == SMMU_CB_BASE(n) + cb[i].off)
				snprintf(name, 40, "%s of bank %u", cb[i].name, n);
		if (off == SMMU_GR1_BASE + SMMU_GR1_CBFRSYNRA(n))
			snprintf(name, 40, "CBFRSYNRA(%u)", n);
	}
	for (n = 0; n < SMMU_GR0_SMR_COUNT; n++)
		if (off == SMMU_GR0_SMR(n) || off == SMMU_GR0_S2CR(n))
			snprintf(name, 40, "%s(%u)",
				 off == SMMU_GR0_SMR(n) ? "SMR" : "S2CR", n);
}

void bench_smmu(uint32_t off, unsigned int bytes, uint64_t value)
{
	char name[40];

	snprintf(name, sizeof(name), "register 0x%x", off);
	bench_reg_name(off, name);
	judge_did("the SMMU's %s is set to 0x%" PRIx64, name, value);
	bench_do(LAB_SMMU_WRITE, off, bytes, value, 0);
}

uint64_t bench_smmu_get(uint32_t off, unsigned int bytes)
{
	struct subject_msg m = { .op = LAB_SMMU_READ, .arg = { off, bytes } };

	bench_ask(&m);
	return m.arg[0];
}

static void check_irq(const struct subject_msg *m, const uint64_t *want)
{
	check_quiet(m, NULL);
	judge_same("the interrupt line then", m->arg[2] ? "high" : "low", "low");
	judge_equal("calls that said IRQ_HANDLED", m->arg[1], want[0]);
}

void bench_irq(enum lab_line line, unsigned int handled)
{
	judge_did("%s", line == LAB_LINE_SMMU ? "fl_irq_smmu(), while its line is up" :
						"fl_irq_fault(), while its line is up");
	judge_tell(&(struct subject_msg){ .op = LAB_IRQ, .arg = { line, 8 } }, check_irq,
		   WANTS(handled));
}

static void check_work(const struct subject_msg *m, const uint64_t *want)
{
	check_quiet(m, NULL);
	judge_equal("items of work", m->arg[0], want[0]);
}

void bench_work(unsigned int items)
{
	judge_did("workers take what is queued");
	judge_tell(&(struct subject_msg){ .op = LAB_WORK }, check_work,
		   WANTS(items));
}

void bench_serve(const struct report *r)
{
	bench_report(r);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(1);
}

void bench_serve_ahead(const struct report *r)
{
	bench_report(r);
	bench_irq(LAB_LINE_FAULT, 1);
	bench_work(2);
}

void bench_when(enum lab_moment at, uint64_t value, const char *words,
		uint32_t op, const uint64_t *args, unsigned int n)
{
	static const char *const name[] = { "", "the kernel is asked for page",
		"READY is written for context", "RESUME comes in bank",
		"FSR is cleared in bank", "a worker begins", "this access is let go:" };
	struct subject_msg m = { .op = LAB_WHEN, .arg = { at, value, op } };

	if (at == LAB_AT_WORK)
		judge_did("(when %s: %s)", name[at], words);
	else
		judge_did("(when %s %u: %s)", name[at], (unsigned int)value,
			  words);
	memcpy(m.arg + 3, args, n * sizeof(*args));
	judge_tell(&m, check_quiet, NULL);
}

/* ---- notes ---- */

void bench_take(struct subject_msg *m, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		m[i] = (struct subject_msg){ .op = LAB_NOTE };
	judge_ask_all(m, n);
	for (i = 0; i < n; i++)
		check_quiet(&m[i], NULL);
}

static void note_text(const uint64_t *n, char text[120])
{
	static const char *const form[] = {
		"nothing", "process %u: the kernel is asked for page %u, write %u",
		"process %u: TLB entries from page %u on, %u pages, leaf %u",
		"READY for context %u, side %u, serial %u, code %u",
		"access %u is let go, terminated %u",
		"RESUME of bank %u comes to nothing: FSR is not clear",
	};

	if (n[0] == LAB_LATCH)
		snprintf(text, 120, "bank %u: FSR 0x%x, FAR 0x%" PRIx64
			 ", FSYNR0 %s", (unsigned int)n[1], (unsigned int)n[2],
			 n[3], n[4] & SMMU_CB_FSYNR0_WNR ? "write" : "read");
	else
		snprintf(text, 120, form[n[0] <= LAB_TURNED_AWAY ? n[0] : 0],
			 (unsigned int)n[1], (unsigned int)n[2],
			 (unsigned int)n[3], (unsigned int)n[4]);
}

static void check_note(const struct subject_msg *m, const uint64_t *want)
{
	char came_text[120], want_text[120];

	check_quiet(m, NULL);
	note_text(m->arg, came_text);
	note_text(want, want_text);
	judge_same("what happened next", came_text, want_text);
}

static void bench_expect(uint64_t kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	judge_tell(&(struct subject_msg){ .op = LAB_NOTE }, check_note,
		   WANTS(kind, a, b, c, d));
}

void bench_asked(unsigned int p, unsigned int first, unsigned int n, bool write)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		bench_expect(LAB_ASKED, p, first + i, write, 0);
}

void bench_forgot(unsigned int p, unsigned int first, unsigned int n)
{
	bench_expect(LAB_FORGOT, p, first, n, 1);
}

void bench_ready(const struct report *r, unsigned int code)
{
	bench_expect(LAB_READY, r->index, r->side, r->serial, code);
}

void bench_resumed(unsigned int ticket, bool terminated)
{
	bench_expect(LAB_RESUMED, ticket, terminated, 0, 0);
}

void bench_turned_away(void)
{
	bench_expect(LAB_TURNED_AWAY, SLOT, 0, 0, 0);
}

static void check_latch(const struct subject_msg *m, const uint64_t *want)
{
	uint64_t came[5];
	char came_text[120], want_text[120];

	check_quiet(m, NULL);
	memcpy(came, m->arg, sizeof(came));
	if (came[0] == LAB_LATCH)
		came[2] &= ~(uint64_t)SMMU_CB_FSR_FORMAT_MASK;
	note_text(came, came_text);
	note_text(want, want_text);
	judge_same("what was read of the bank", came_text, want_text);
}

void bench_latch(unsigned int bank, uint32_t fsr, uint64_t far, bool write)
{
	judge_tell(&(struct subject_msg){ .op = LAB_NOTE }, check_latch,
		   WANTS(LAB_LATCH, bank, fsr, far, write ? SMMU_CB_FSYNR0_WNR : 0));
}

void bench_nothing(void)
{
	bench_expect(LAB_NOTHING, 0, 0, 0, 0);
}

/* ---- what is to be had by asking ---- */

static void check_counts(const struct subject_msg *m, const uint64_t *want)
{
	static const char *const name[] = {
		"faults counted", "faults of sources", "faults of destinations",
		"pages brought in", "requests to the kernel",
		"faults that could not be repaired", "faults for nothing",
		"accesses answered", "SCTLR", "a hard fault is noted",
		"transfer and block, 32 bits each",
	};

	check_quiet(m, NULL);
	judge_equal(name[want[0]], m->arg[want[0]], want[1]);
}

void bench_counts(unsigned int p, enum lab_count which, uint64_t n)
{
	judge_tell(&(struct subject_msg){ .op = LAB_COUNTS, .arg = { p } }, check_counts,
		   WANTS(which, n));
}

static void bench_result(const char *what, uint64_t came, uint64_t want)
{
	char a[32], b[32];

	snprintf(a, sizeof(a), "%s", came ? strerror(-(int)came) : "0");
	snprintf(b, sizeof(b), "%s", want ? strerror(-(int)want) : "0");
	judge_same(what, a, b);
}

static void check_resolve(const struct subject_msg *m, const uint64_t *want)
{
	check_quiet(m, NULL);
	bench_result("what fl_request_resolve gives", m->arg[0], want[0]);
}

void bench_resolve(unsigned int p, uint64_t va, unsigned int len, uint64_t left,
		   unsigned int map, bool write, int want)
{
	struct subject_msg m = { .op = LAB_RESOLVE,
				 .arg = { p, va, len, left, map, write } };

	judge_did("fl_request_resolve: process %u, va 0x%" PRIx64 ", len %u, "
		  "left %" PRIu64 ", map 0x%x, %s", p, va, len, left, map,
		  write ? "write" : "read");
	judge_tell(&m, check_resolve, WANTS((uint64_t)want));
}

void bench_populate(unsigned int p, unsigned int first, unsigned int n,
		    bool write, bool ahead, int want, const struct populated *t)
{
	struct subject_msg m = { .op = LAB_POPULATE, .arg = {
		p, VA(first, 0), VA(first + n, 0), write, ahead } };

	judge_did("fl_populate: process %u, pages %u to %u, %s%s", p, first,
		  first + n - 1, write ? "write" : "read",
		  ahead ? ", ahead" : "");
	bench_ask(&m);
	bench_result("what fl_populate gives", m.arg[0], (uint64_t)want);
	if (!t)
		return;
	judge_equal("pages that it brought in", m.arg[1], t->pages_in);
	judge_equal("pages that were there", m.arg[2], t->present);
	judge_equal("of these cured", m.arg[3], t->cured);
	judge_equal("not asked for from here on", m.arg[6], VA(t->end, 0));
	if (!t->present)
		return;
	judge_equal("those that were there begin at", m.arg[4],
		    VA(t->old_first, 0));
	judge_equal("and end at", m.arg[5], VA(t->old_end, 0));
}
