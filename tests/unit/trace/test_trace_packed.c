// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blocks of the resident step in the rings: whoever reads gets all records that they stand
 * for, in order and without a gap, whatever the size of the ring. variants: asan
 */
#include <stdlib.h>
#include <string.h>

#include "faultline/pte.h"
#include "harness.h"
#include "sim/rng.h"
#include "sim/sim.h"
#include "trace/trace.h"

#define MANY 600000u

static struct rng random_;

static struct trace *packed_trace(uint32_t places, FILE *out)
{
	const struct trace_config cfg = { .ring_records = places,
					  .threads = true, .out = out };
	struct trace *t;

	unsetenv("FAULTLINE_EVENT_COUNTS");	/* none of these is real */
	t = trace_create(&cfg);
	EXPECT(t);
	return t;
}

static struct trace_page page_[2][TRACE_WRITE_PAGES];

static struct trace_write random_write(void)
{
	static const struct trace_walk walks[] = {
		{ 0x1000, { 0x2003, 0x3003, 0x4003, 0x5003 }, 0, 4, false },
		{ 0x1040, { 0x2003, 0x3003, 0x4003 }, 1, 3, false },
		{ 0x8000, { 0x9003 }, 3, 1, true },
	};
	static const uint8_t cells[] = { 10, 12, 6 };
	struct trace_write w = {
		.same = { .board = 1, .qpn = 3, .peer = 2, .ctx = 4, .sender = 9,
			  .cell_log2 = cells[rng_below(&random_, 3)],
			  .block_log2 = (uint8_t)(12 + rng_below(&random_, 5)) },
		.xfer = 7, .block = 1, .rxc = 5, .from_bank = 6, .to_bank = 7, .index = 11,
		.len = 1 + (uint32_t)rng_below(&random_, 65536),
		.begins = rng_below(&random_, 2), .ends = rng_below(&random_, 2),
		.page = { page_[0], page_[1] },
	};
	bool large = !rng_below(&random_, 8);
	unsigned int side;
	uint32_t i, left;
	uint64_t va;

	if (rng_below(&random_, 2))
		w.len = 8;
	if (large) {
		w.len = 65536 + (uint32_t)rng_below(&random_, (1 << 20) - 65536);
		w.same.cell_log2 = 12;
	}
	w.bytes = w.len;
	w.blocks = (w.len - 1) / (1u << w.same.block_log2) + 1;
	w.cells = (w.len - 1) / (1u << w.same.cell_log2) + 1;
	for (side = 0; side < 2; side++) {
		va = 0x10000 + rng_below(&random_, 8192);
		*(side ? &w.to_va : &w.from_va) = va;
		left = (uint32_t)((va % 4096 + w.len + 4095) / 4096);
		/* A block that ends within a page leaves two bursts there. */
		w.bursts[side] = left + (va % 4096 ? w.blocks - 1 : 0);
		for (i = 0; left; i++) {
			struct trace_page *p = &page_[side][i];

			p->pa = ((i + 1ull) << 20) + (i ? 0 : va % 4096);
			p->walk = large || rng_below(&random_, 4) ? NULL :
				  &walks[rng_below(&random_, 3)];
			p->more = p->walk ? 0 : (uint32_t)rng_below(&random_, left);
			/* As many as a word can name. */
			if (large)
				p->more = left < 32 ? left - 1 : 31;
			left -= 1 + p->more;
			w.walks |= p->walk != NULL;
		}
		w.pages[side] = i;
	}
	return w;
}

/* Some of all kinds; returns how many were packed. */
static unsigned int emit_some(struct trace *t, unsigned int n)
{
	const struct trace_at at = { .board = 1 };
	unsigned int packed = 0;
	struct trace_write w;

	for (; n; n--) {
		if (rng_below(&random_, 2)) {
			trace_emit(t, EV_APP_NOTE, &at, n, 0, 0, 0);
			continue;
		}
		w = random_write();
		trace_emit_write(t, &w);
		packed++;
	}
	return packed;
}

struct tally {
	uint64_t count[EV_COUNT], all;
	uint64_t bytes[EV_COUNT];	/* of bursts, by their argument len */
};

static void tally_record(struct tally *y, const struct trace_record *r,
			 uint64_t *last)
{
	if (*last)
		EXPECT_EQ(r->seq, *last + 1);
	*last = r->seq;
	EXPECT(r->cause < r->seq);
	y->count[r->event]++;
	y->all++;
	if (r->event == EV_TX_BURST || r->event == EV_RX_BURST)
		y->bytes[r->event] += r->arg[2];
}

static void tally_equals(const struct trace *t, const struct tally *y)
{
	int ev;

	for (ev = 0; ev < EV_COUNT; ev++)
		EXPECT_EQ(trace_count(t, (enum trace_event)ev), y->count[ev]);
	EXPECT_EQ(y->bytes[EV_TX_BURST], y->bytes[EV_RX_BURST]);
	EXPECT_EQ(y->count[EV_WIRE_SEND], y->count[EV_WIRE_RECV]);
}

TEST("what packed blocks stand for is read and counted, record by record")
{
	struct trace *t = packed_trace(1 << 14, NULL);
	struct trace_record *r = calloc(MANY, sizeof(*r));
	struct tally y = { 0 };
	uint64_t last = 0;
	uint32_t n, i;

	rng_init(&random_, test_seed(), "packed");
	EXPECT(r);
	EXPECT_GE(emit_some(t, 600), 100);
	n = trace_snapshot(t, r, MANY);
	for (i = 0; i < n; i++)
		tally_record(&y, &r[i], &last);
	tally_equals(t, &y);
	STEP("fewer are asked for: the newest come");
	EXPECT_EQ(trace_snapshot(t, r, 1000), 1000);
	EXPECT_EQ(r[999].seq, last);
	EXPECT_EQ(r[0].seq, last - 999);
	free(r);
	trace_destroy(t);
}

/* Pages of one side, found in all ways, some of them one behind the other. */
static void random_pages(struct trace_page *p, const struct trace_walk *walks, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		bool same = i && p[i - 1].walk && rng_below(&random_, 8);

		p[i] = (struct trace_page){ .pa = rng_below(&random_, 1 << 20) << 12 };
		if (i && rng_below(&random_, 4))
			p[i].pa = p[i - 1].pa + 4096;
		if (same)
			p[i].walk = p[i - 1].walk;
		else if (rng_below(&random_, 2))
			p[i].walk = &walks[i];
	}
}

/* The records say of each page of the side where it is, and what its walk has read last. */
static void side_is_said(const struct trace_record *r, uint32_t n, unsigned int board,
			 const struct trace_page *p, uint32_t pages)
{
	uint64_t desc = 0, want;
	uint32_t i, page = 0;

	for (i = 0; i < n; i++, r++) {
		if (r->board != board)
			continue;
		if (r->event == EV_SMMU_LEVEL)
			desc = r->arg[3];
		if (r->event != EV_SMMU_WALK && r->event != EV_SMMU_HIT)
			continue;
		EXPECT(page < pages);
		EXPECT_EQ(r->event == EV_SMMU_WALK, p[page].walk != NULL);
		EXPECT_EQ(r->arg[2], p[page].pa);
		if (p[page].walk) {
			want = p[page].walk->desc[p[page].walk->levels - 1];
			if (page && p[page - 1].walk == p[page].walk)
				want = (want & ~PTE_ADDR) | p[page].pa;
			EXPECT_EQ(desc, want);
		}
		page++;
	}
	EXPECT_EQ(page, pages);
}

TEST("each page is said to be where it is, and walked to as it was")
{
	struct trace_record *r = calloc(MANY, sizeof(*r));
	struct trace_walk walks[16];
	unsigned int round, i;

	rng_init(&random_, test_seed(), "pages");
	EXPECT(r);
	for (round = 0; round < 500; round++) {
		struct trace *t = packed_trace(256, NULL);
		uint32_t pages = 1 + (uint32_t)rng_below(&random_, 16), n;
		struct trace_write w = { .same = { .board = 1, .peer = 2, .cell_log2 = 12,
						   .block_log2 = 16 },
			.len = pages * 4096, .blocks = 1, .cells = pages, .walks = true,
			.bursts = { pages, pages }, .pages = { pages, pages },
			.page = { page_[0], page_[1] } };

		for (i = 0; i < 16; i++)
			walks[i] = (struct trace_walk){ 0x1000, { 0x2003, 0x3003, 0x4003,
				0x5403 + ((uint64_t)i << 55) }, 0, 4, false };
		random_pages(page_[0], walks, pages);
		random_pages(page_[1], walks, pages);
		trace_emit_write(t, &w);
		n = trace_snapshot(t, r, MANY);
		side_is_said(r, n, 1, page_[0], pages);
		side_is_said(r, n, 2, page_[1], pages);
		EXPECT_EQ(trace_count(t, EV_SMMU_WALK) + trace_count(t, EV_SMMU_HIT),
			  2 * pages);
		trace_destroy(t);
	}
	free(r);
}

TEST("a ring that wraps in the middle of a packed entry keeps only whole ones")
{
	struct trace_record *r = calloc(MANY, sizeof(*r));
	struct trace *t;
	unsigned int round;
	uint64_t last;
	uint32_t n, i;

	rng_init(&random_, test_seed(), "wrap");
	EXPECT(r);
	for (round = 0; round < 200; round++) {
		struct tally y = { 0 };

		t = packed_trace(64 << rng_below(&random_, 3), NULL);
		emit_some(t, 30 + (unsigned int)rng_below(&random_, 60));
		n = trace_snapshot(t, r, MANY);
		for (i = 0, last = 0; i < n; i++)
			tally_record(&y, &r[i], &last);
		EXPECT_GE(n, 1);
		trace_destroy(t);
	}
	free(r);
}

TEST("an entry that no ring can hold is counted as lost")
{
	struct trace_write w = { .same = { .cell_log2 = 12, .block_log2 = 14 },
				 .len = 65536, .blocks = 4 };
	char line[200], last[200] = "";
	FILE *f = tmpfile();
	struct trace *t = packed_trace(2, f);
	unsigned int side;
	uint32_t i;

	EXPECT(f);
	for (side = 0; side < 2; side++)
		for (i = 0; i < 16; i++)
			page_[side][i].pa = i + 1ull;
	w.pages[0] = w.pages[1] = 16;
	w.page[0] = page_[0];
	w.page[1] = page_[1];
	EXPECT_EQ(trace_emit_write(t, &w), 0);
	EXPECT_EQ(trace_count(t, EV_TX_CELLS), 4);
	trace_destroy(t);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		strcpy(last, line);
	EXPECT(!strncmp(last, "#lost ", 6));
	fclose(f);
}

TEST("the text has every record, however small the rings that are spilled")
{
	char line[512];
	unsigned int round;

	rng_init(&random_, test_seed(), "spill");
	for (round = 0; round < 20; round++) {
		FILE *f = tmpfile();
		struct trace *t = packed_trace(32 << rng_below(&random_, 4), f);
		struct tally y = { 0 };
		uint64_t counts[EV_COUNT], last = 0;
		int ev, column;

		EXPECT(f);
		emit_some(t, 200);
		for (ev = 0; ev < EV_COUNT; ev++)
			counts[ev] = trace_count(t, (enum trace_event)ev);
		trace_destroy(t);
		rewind(f);
		while (fgets(line, sizeof(line), f)) {
			struct trace_record r;

			if (line[0] == '#') {
				EXPECT(strncmp(line, "#lost", 5));
				continue;
			}
			EXPECT_EQ(trace_record_parse(line, &r, &column), 0);
			tally_record(&y, &r, &last);
		}
		for (ev = 0; ev < EV_COUNT; ev++)
			EXPECT_EQ(counts[ev], y.count[ev]);
		fclose(f);
	}
}

/* The records of what was posted, made one by one. */
static void emit_posted_long(struct trace *t, const struct trace_posted *p)
{
	struct trace_at at = { .board = p->board, .xfer = p->took_xfer, .cause = p->end };

	if (p->took)
		trace_emit(t, EV_LIB_COMPLETE, &at, p->took_qp, p->took_status, p->took_bytes, 0);
	at = (struct trace_at){ .board = p->board, .xfer = p->xfer };
	at.cause = trace_emit(t, EV_LIB_POST, &at, p->qp, p->op, p->va, p->len);
	trace_emit(t, EV_LIB_DOORBELL, &at, p->qp, p->index, 0, 0);
}

static struct trace_posted random_posted(void)
{
	uint64_t r = rng_next(&random_), q = rng_next(&random_);

	return (struct trace_posted){
		.end = r >> 8, .va = q, .board = (uint8_t)r, .took = q & 1,
		.xfer = (uint32_t)(q >> 3), .qp = r >> 9, .op = q ^ r, .len = r << 21,
		.took_xfer = (uint32_t)(q >> 13),
		.took_qp = (uint32_t)(r >> 5), .took_status = (uint8_t)(q >> 17),
		.took_bytes = (uint32_t)r, .index = (uint16_t)(q >> 40),
	};
}

/* Text without the time of the wall, which two traces do not share. */
static bool line_read(FILE *f, char *line, size_t room)
{
	char *plus;

	if (!fgets(line, (int)room, f))
		return false;
	plus = strchr(line, '+');
	if (plus)
		memmove(plus, strchr(plus, ' '), strlen(strchr(plus, ' ')) + 1);
	return true;
}

TEST("what a library posted is the records that one by one would leave")
{
	unsigned int round, i;

	rng_init(&random_, test_seed(), "posted");
	for (round = 0; round < 40; round++) {
		FILE *f[2] = { tmpfile(), tmpfile() };
		struct trace *t[2] = { packed_trace(4 << rng_below(&random_, 6), f[0]),
				       packed_trace(1 << 14, f[1]) };
		char line[2][512];
		int ev;

		EXPECT(f[0] && f[1]);
		for (i = 0; i < 100; i++) {
			const struct trace_posted p = random_posted();
			struct trace_at at = { .board = 3 };

			at.cause = trace_emit_posted(t[0], &p);
			EXPECT_EQ(trace_last_software(), at.cause);
			emit_posted_long(t[1], &p);
			EXPECT_EQ(trace_last_software(), at.cause);
			if (rng_below(&random_, 2))
				continue;
			trace_emit(t[0], EV_APP_NOTE, &at, i, 0, 0, 0);
			trace_emit(t[1], EV_APP_NOTE, &at, i, 0, 0, 0);
		}
		for (ev = 0; ev < EV_COUNT; ev++)
			EXPECT_EQ(trace_count(t[0], (enum trace_event)ev),
				  trace_count(t[1], (enum trace_event)ev));
		trace_destroy(t[0]);
		trace_destroy(t[1]);
		rewind(f[0]);
		rewind(f[1]);
		while (line_read(f[1], line[1], sizeof(line[1]))) {
			EXPECT(line_read(f[0], line[0], sizeof(line[0])));
			EXPECT_STR(line[0], line[1]);
		}
		EXPECT(!line_read(f[0], line[0], sizeof(line[0])));
		fclose(f[0]);
		fclose(f[1]);
	}
}
