/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - for the tests of this lab: what is done to the card and asked of it,
 * each noted in words, and what is expected of the notes that came.
 */
#ifndef FL_LABS_DRIVER_BENCH_H
#define FL_LABS_DRIVER_BENCH_H

#include <errno.h>
#include <stddef.h>

#include "faultline/entries.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "faultline/uapi.h"
#include "labs/driver/driver_lab.h"
#include "tools/grade/judge.h"

/* The transfer and the block of each report. */
#define LAB_XFER	7u
#define LAB_XBLOCK	2u
#define TX	0u
#define RX	1u
#define VA(page, at) ((uint64_t)(page) * LAB_PAGE + (at))

/* mm.h of the Linux API; the subject alone sees that. */
#define MAY_READ	1u
#define MAY_WRITE	2u
#define IS_PFNMAP	0x400u
#define IS_IO		0x4000u
#define SAYS_OOM	1u
#define SAYS_SIGSEGV	2u
#define SAYS_MAJOR	4u

/* The usual process: its stream is on slot 5, these pages are mapped and a region. */
#define STREAM		(LAB_STREAM + 5)
#define SLOT		5u
#define FIRST		64u
#define COUNT		192u

struct report {
	unsigned int index, side, write, serial, stream;
	uint64_t va;
	unsigned int len, map;
	uint64_t left;
};

/* A block of four pages from FIRST on, none there, that a peer writes. */
extern const struct report a_report;

void bench_new(void);
void bench_open(unsigned int p, unsigned int stream, unsigned int mode,
		unsigned int resolve);
/* bench_new() and the usual process 0. */
void bench_usual(unsigned int mode, unsigned int resolve);
void bench_close(unsigned int p);
void bench_region(unsigned int p, uint64_t va, uint64_t bytes, bool write);
void bench_map(unsigned int p, unsigned int first, unsigned int n,
	       unsigned int flags);
void bench_pages(unsigned int p, unsigned int first, unsigned int n,
		 enum lab_page is);
void bench_says(unsigned int p, unsigned int page, unsigned int fault);
void bench_change(unsigned int p, enum lab_change what, uint64_t value);
void bench_report(const struct report *r);
/* Registers of a data channel that is held at va by context index. */
void bench_channel(unsigned int side, unsigned int index, uint64_t va,
		   unsigned int left, uint64_t xfer_left, bool held);
/* What comes of it: enum smmu_verdict. */
enum verdicts { IS_OK, IS_REFUSED, IS_HELD };
void bench_access(unsigned int stream, uint64_t va, bool write,
		  unsigned int ticket, enum verdicts want);
void bench_smmu(uint32_t off, unsigned int bytes, uint64_t value);
uint64_t bench_smmu_get(uint32_t off, unsigned int bytes);

/* Top halves. The line must be low then; how often somebody said "handled". */
void bench_irq(enum lab_line line, unsigned int handled);
/* Workers: so many items there must be. */
void bench_work(unsigned int items);
/* The report's way: bench_irq(LAB_LINE_FAULT), bench_work(1). */
void bench_serve(const struct report *r);
/* The same, and then another worker asks for what is wanted ahead. */
void bench_serve_ahead(const struct report *r);

/* What another CPU does at a moment. */
void bench_when(enum lab_moment at, uint64_t value, const char *words,
		uint32_t op, const uint64_t *args, unsigned int n);
#define WHEN(at, value, words, op, ...)                                       \
	bench_when(at, value, words, op,                                      \
		   (const uint64_t[]){ __VA_ARGS__ },                         \
		   sizeof((const uint64_t[]){ __VA_ARGS__ }) /                \
			   sizeof(uint64_t))
#define REPORT(r)                                                             \
	(r).index, (r).side, (r).write, (r).serial, (r).stream, (r).va,       \
		(r).len, (r).map, (r).left, LAB_XFER, LAB_XBLOCK

/* Notes, in their order. */
void bench_asked(unsigned int p, unsigned int first, unsigned int n,
		 bool write);
void bench_forgot(unsigned int p, unsigned int first, unsigned int n);
void bench_ready(const struct report *r, unsigned int code);
void bench_resumed(unsigned int ticket, bool terminated);
void bench_turned_away(void);
void bench_latch(unsigned int bank, uint32_t fsr, uint64_t far, bool write);
void bench_nothing(void);
/* The next n notes, as they are: enum lab_note and what belongs to it; then LAB_NOTHING. */
void bench_take(struct subject_msg *m, unsigned int n);

void bench_counts(unsigned int p, enum lab_count which, uint64_t n);

/* Calls of the driver; results are 0 or negative errno. */
void bench_resolve(unsigned int p, uint64_t va, unsigned int len,
		   uint64_t left, unsigned int map, bool write, int want);

struct populated {
	uint64_t pages_in, present, cured, old_first, old_end, end;	/* pages */
};

/* Pages; t (may be NULL): what must come of it. */
void bench_populate(unsigned int p, unsigned int first, unsigned int n,
		    bool write,
		    bool ahead, int want, const struct populated *t);

#endif
