// SPDX-License-Identifier: BSD-2-Clause
/*
 * The resident step against the long way: the same random requests on two boards, once as
 * they are, once with an injection rule that does nothing but send all by engine and wire.
 * What a program, the driver or a reader of the trace can see must be the same.
 */
#include <stdlib.h>

#include "faultline/fsm.h"
#include "nic/engine.h"
#include "nic/fw.h"
#include "smmu/smmu.h"
#include "rig/resident.h"

#define LOG_MAX	4096
#define TRACE_MAX 200000u

/* What was seen in one run, in numbers. */
static struct log {
	uint64_t n[2][LOG_MAX];
	unsigned int count[2], run;
	struct trace_record *trace[2];
	uint32_t records[2];
	uint64_t resident[2];	/* bytes that went by the resident step */
} seen;

static unsigned int ops;
static bool one_block;		/* each request is one block, and waited for */

static void log_note(uint64_t v)
{
	EXPECT(seen.count[seen.run] < LOG_MAX);
	seen.n[seen.run][seen.count[seen.run]++] = v;
}

static uint64_t memory_hash(const void *mem, size_t bytes)
{
	uint64_t h = 1469598103934665603ull, word;
	const uint8_t *p = mem;
	size_t i;

	for (i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		h = (h ^ word) * 1099511628211ull;
		h ^= h >> 32;
	}
	for (; i < bytes; i++)
		h = (h ^ p[i]) * 1099511628211ull;
	return h;
}

static uint32_t random_length(void)
{
	uint32_t most = one_block ? 16384 : BYTES - 4096;

	switch (rng_below(&resident_rng, 4)) {
	case 0:
		return 8;
	case 1:
		return 1 + (uint32_t)rng_below(&resident_rng, 300);
	case 2:
		return 4096 * (1 + (uint32_t)rng_below(&resident_rng, 4));
	default:
		return 1 + (uint32_t)rng_below(&resident_rng, most);
	}
}

static struct want random_want(unsigned int side)
{
	struct want q = { .key = va_key[!side], .opcode = FL_OP_WRITE,
			  .flags = FL_WQE_SIGNALED, .len = random_length() };
	bool whole = rng_below(&resident_rng, 3) == 0;

	q.from = rng_below(&resident_rng, BYTES - q.len + 1);
	q.to = rng_below(&resident_rng, BYTES - q.len + 1);
	if (whole) {
		q.from &= ~4095ull;
		q.to &= ~4095ull;
	}
	if (rng_below(&resident_rng, 8) == 0)
		q.opcode = FL_OP_READ;
	if (rng_below(&resident_rng, 8) == 0)
		q.flags |= FL_WQE_FENCE;
	return q;
}

static void want_take(struct node *n)
{
	struct fl_cqe e = wait_one(n);

	EXPECT_EQ(e.status, FL_ST_OK);
	e.qpn = 0;
	log_note(memory_hash(&e, sizeof(e)));
}

/* A page is missing: answer as a driver would. status 0: it has been brought in. */
static void serve_faults(struct testbed *w, uint8_t status)
{
	unsigned int side;
	uint32_t v;

	for (side = 0; side < 2; side++) {
		struct node *n = &w->n[side];

		while ((v = (uint32_t)rig_reg(n, NIC_ENG_BASE + NIC_ENG_FLT_REF)) &
		       NIC_ENG_FLT_REF_VALID) {
			rig_set(n, NIC_ENG_BASE + NIC_ENG_FLT_POP, 1);
			rig_set(n, NIC_ENG_BASE + NIC_ENG_READY,
				(v & (NIC_ENG_READY_INDEX_MASK |
				      NIC_ENG_READY_SIDE_MASK |
				      NIC_ENG_READY_SERIAL_MASK)) |
				(uint32_t)status << NIC_ENG_READY_CODE_SHIFT);
		}
	}
}

static void boards_drain(struct testbed *w)
{
	board_pump(w->n[0].board);
	board_pump(w->n[1].board);
}

/* One write meets a page that is not there. */
static void op_fault(struct testbed *w, unsigned int side, struct want *q)
{
	unsigned int where = (unsigned int)rng_below(&resident_rng, 2);
	struct node *n = &w->n[side], *cold = &w->n[where];
	uint64_t at = where == side ? q->from : q->to;
	uint32_t page = (uint32_t)((at + rng_below(&resident_rng, q->len)) / 4096);

	q->opcode = FL_OP_WRITE;
	page_set(cold, page, 0);
	want_post(n, side, q);
	bell_ring(n);
	boards_drain(w);
	page_set(cold, page, page_descriptor(cold, where, page));
	while (board_busy(n->board)) {
		serve_faults(w, 0);
		boards_drain(w);
	}
	want_take(n);
}

/* Its requests may go without a completion, if one comes behind them that has one. */
static void op_burst(struct testbed *w, unsigned int side)
{
	unsigned int i, count = 1 + (unsigned int)rng_below(&resident_rng, 6), told = 0;
	struct node *n = &w->n[side];
	struct want q;

	if (one_block)
		count = 1;
	for (i = 0; i < count; i++) {
		q = random_want(side);
		if ((one_block || i + 1 < count) && rng_below(&resident_rng, 5) == 0)
			q.flags &= (uint8_t)~FL_WQE_SIGNALED;
		told += q.flags & FL_WQE_SIGNALED ? 1 : 0;
		want_post(n, side, &q);
		if (rng_below(&resident_rng, 2))
			bell_ring(n);
	}
	bell_ring(n);
	for (i = 0; i < told; i++)
		want_take(n);
}

/* A region ends, and there is another one in its place. */
static void op_region(struct testbed *w)
{
	unsigned int side = (unsigned int)rng_below(&resident_rng, 2);

	rig_command(&w->n[side], (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_DESTROY, .object = va_key[side] });
	region_make(&w->n[side], side);
}

/* Two pages change places: what was remembered of them is void. */
static void op_swap(struct testbed *w)
{
	unsigned int side = (unsigned int)rng_below(&resident_rng, 2);
	uint32_t i = (uint32_t)rng_below(&resident_rng, PAGES), t = frame_of[side][i];
	uint32_t k = (uint32_t)rng_below(&resident_rng, PAGES);

	frame_of[side][i] = frame_of[side][k];
	frame_of[side][k] = t;
	page_set(&w->n[side], i, page_descriptor(&w->n[side], side, i));
	page_set(&w->n[side], k, page_descriptor(&w->n[side], side, k));
}

static void note_state(struct testbed *w)
{
	struct fabric_stats fs;
	struct engine_stats es;
	struct smmu_stats ss;
	struct fw_stats st;
	unsigned int side;

	for (side = 0; side < 2; side++) {
		struct node *n = &w->n[side];

		log_note(memory_hash(dram_at(board_dram(n->board), n->data_pa,
				  FRAMES * 4096), FRAMES * 4096));
		board_engine_stats(n->board, &es);
		/* How much of a block was there when it was judged is chance. */
		memset(es.rx_arcs[FL_RX_CHECK], 0, sizeof(es.rx_arcs[0]));
		memset(es.rx_arcs[FL_RX_COLLECT], 0, sizeof(es.rx_arcs[0]));
		log_note(memory_hash(&es, sizeof(es)));
		board_fw_stats(n->board, &st);
		/* So is whether a request came before its turn. */
		if (!one_block)
			st.rx_checks = 0;
		log_note(memory_hash(&st, sizeof(st)));
		smmu_stats(board_smmu(n->board), &ss);
		log_note(memory_hash(&ss, sizeof(ss)));
		fabric_stats(w->fabric, (uint8_t)side, &fs);
		log_note(memory_hash(&fs, sizeof(fs)));
	}
}

static void resident_body(struct testbed *w)
{
	unsigned int i, side;
	struct want q;

	rng_init(&resident_rng, test_seed() + ops, "resident");
	for (side = 0; side < 2; side++) {
		memory_make(&w->n[side], side);
		rig_fill(&w->n[side], side + 1);
	}
	for (i = 0; i < 120; i++) {
		side = (unsigned int)rng_below(&resident_rng, 2);
		switch (rng_below(&resident_rng, one_block ? 9 : 11)) {
		case 1:
			op_region(w);
			break;
		case 9:
		case 10:
			q = random_want(side);
			op_fault(w, side, &q);
			break;
		case 0:
			op_swap(w);
			break;
		default:
			op_burst(w, side);
		}
		while (board_busy(w->n[0].board) || board_busy(w->n[1].board))
			boards_drain(w);
		note_state(w);
	}
	seen.resident[seen.run] = board_resident_bytes(w->n[0].board) +
				  board_resident_bytes(w->n[1].board);
	seen.trace[seen.run] = calloc(TRACE_MAX, sizeof(*seen.trace[0]));
	EXPECT(seen.trace[seen.run]);
	seen.records[seen.run] = trace_snapshot(w->trace, seen.trace[seen.run],
						TRACE_MAX);
}

static void both_ways(void)
{
	static const struct fabric_inject nothing;
	unsigned int i;

	for (seen.run = 0; seen.run < 2; seen.run++) {
		seen.count[seen.run] = 0;
		free(seen.trace[seen.run]);
		rig_run(SIM_THREADS, resident_body, seen.run ? &nothing : NULL);
	}
	EXPECT_GE(seen.resident[0], 100000);
	EXPECT_EQ(seen.resident[1], 0);
	EXPECT_EQ(seen.count[0], seen.count[1]);
	for (i = 0; i < seen.count[0]; i++) {
		if (seen.n[0][i] != seen.n[1][i])
			STEP("number %u of what was seen", i);
		EXPECT_EQ(seen.n[0][i], seen.n[1][i]);
	}
}

/* ---- the trace ---- */

/* A record as a reader sees it, and its cause by what that says. */
struct told {
	uint64_t event, board, at, arg[TRACE_ARGS], cause_event, cause_arg;
};

static const struct trace_record *record_of(unsigned int run, uint64_t seq)
{
	uint32_t lo = 0, hi = seen.records[run], mid;

	/* One thread has written all: numbers rise. */
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (seen.trace[run][mid].seq < seq)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < seen.records[run] && seen.trace[run][lo].seq == seq ?
	       &seen.trace[run][lo] : NULL;
}

static bool is_smmu(uint64_t event)
{
	return trace_events[event].unit == UNIT_SMMU;
}

/* Which context a block gets is chance when several are under way. */
static bool names_context(uint64_t event)
{
	return event == EV_FW_BLOCK || event == EV_TX_STATE ||
	       event == EV_TX_BURST || event == EV_TX_CELLS ||
	       event == EV_RX_STATE || event == EV_RX_BURST ||
	       event == EV_FW_CHECK || event == EV_ENG_FAULT ||
	       event == EV_ENG_READY_REG;
}

/* Nothing to compare: another way to the same end. */
static bool is_chance(const struct trace_record *r)
{
	if (one_block)
		return false;
	if (r->event == EV_RX_STATE)
		return r->arg[1] != FL_RX_WRITE;
	return r->event == EV_FW_HOLD || r->event == EV_FW_CHECK ||
	       r->event == EV_FW_AGAIN || is_smmu(r->event);
}

static void told_make(unsigned int run, const struct trace_record *r,
		      struct told *t)
{
	const struct trace_record *cause = record_of(run, r->cause);

	memset(t, 0, sizeof(*t));
	t->event = r->event;
	t->board = r->board;
	t->at = (uint64_t)r->xfer << 32 | r->block << 8 | r->attempt;
	memcpy(t->arg, r->arg, sizeof(t->arg));
	if (!one_block && names_context(r->event))
		t->arg[0] = 0;
	if (!one_block || !cause)
		return;
	t->cause_event = cause->event;
	t->cause_arg = cause->arg[1];
}

static int told_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct told));
}

static struct told *told_all(unsigned int run, uint32_t *count, bool smmu)
{
	struct told *t = calloc(seen.records[run], sizeof(*t));
	uint32_t i, n = 0;

	EXPECT(t);
	for (i = 0; i < seen.records[run]; i++) {
		const struct trace_record *r = &seen.trace[run][i];

		if (!is_chance(r) && is_smmu(r->event) == smmu)
			told_make(run, r, &t[n++]);
	}
	/* In order, where there is only one. */
	if (!one_block)
		qsort(t, n, sizeof(*t), told_compare);
	*count = n;
	return t;
}

static void traces_compare(bool smmu)
{
	uint32_t n[2], i;
	struct told *t[2];

	for (i = 0; i < 2; i++)
		t[i] = told_all(i, &n[i], smmu);
	for (i = 0; i < n[0] && i < n[1]; i++) {
		if (!memcmp(&t[0][i], &t[1][i], sizeof(*t[0])))
			continue;
		STEP("record %u of %u: %s and %s", i, n[0],
		     trace_events[t[0][i].event].name,
		     trace_events[t[1][i].event].name);
		EXPECT_MEM(&t[0][i], &t[1][i], sizeof(*t[0]));
	}
	EXPECT_EQ(n[0], n[1]);
	free(t[0]);
	free(t[1]);
}

static uint64_t count_ways(unsigned int run)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < seen.records[run]; i++)
		n += seen.trace[run][i].event == EV_TX_CELLS;
	return n;
}

TEST("a request of one block at a time: all is as the long way leaves it, and so is the trace")
{
	one_block = true;
	rig_cell_bytes = 4096;
	for (ops = 0; ops < test_rounds(10); ops++) {
		STEP("seed %u", ops);
		both_ways();
		EXPECT_GE(count_ways(0), 50);
		traces_compare(false);
		traces_compare(true);
	}
}

TEST("requests that collide, fault and queue up: what can be seen is the same")
{
	one_block = false;
	for (ops = 0; ops < test_rounds(16); ops++) {
		STEP("seed %u", ops);
		rig_cell_bytes = ops % 2 ? 4096 : 0;
		memory_swaps = ops % 4 * 4;
		both_ways();
		traces_compare(false);
	}
}

/* Of two such steps the second finds in the walk cache what the first has brought there. */
TEST("the same with a walk cache")
{
	one_block = true;
	rig_walk_cache = 16;
	for (ops = 0; ops < test_rounds(10); ops++) {
		STEP("seed %u", ops);
		rig_cell_bytes = 4096;
		both_ways();
		traces_compare(false);
		traces_compare(true);
	}
	one_block = false;
	for (ops = 0; ops < test_rounds(10); ops++) {
		STEP("seed %u", ops);
		rig_cell_bytes = ops % 2 ? 4096 : 0;
		both_ways();
		traces_compare(false);
	}
}

/* ---- many pages at once ---- */

/* Where each page lies is known here without the trace, and without the SMMU. */
static void told_page(struct testbed *w, const struct trace_record *r)
{
	unsigned int side = r->event == EV_RX_BURST;
	uint64_t at = r->arg[1] - VA;

	EXPECT_EQ(r->arg[3], w->n[side].data_pa +
		  frame_of[side][at / 4096] * 4096ull + at % 4096);
}

/* A region that is much larger than the memory there is. */
static uint32_t region_huge(struct node *n)
{
	return rig_command(n, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = VA, .b = UINT64_C(1) << 33, .c = n->pd,
		.flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE });
}

/* The number of its pages, rounded up, does not fit into 32 bits. */
static void longest_body(struct testbed *w)
{
	struct want q = { .len = 4096, .opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED };
	struct node *n = &w->n[0];
	uint64_t again;
	uint32_t i, side;

	rng_init(&resident_rng, test_seed(), "longest");
	for (side = 0; side < 2; side++) {
		memory_make(&w->n[side], side);
		va_key[side] = region_huge(&w->n[side]);
	}
	q.key = va_key[1];
	for (i = 0; i < 4; i++) {
		want_post(n, 0, &q);
		bell_ring(n);
		EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	}
	again = board_resident_requests(n->board);
	EXPECT_GE(again, 1);
	q.len = UINT32_MAX;
	want_post(n, 0, &q);
	bell_ring(n);
	while (board_busy(n->board)) {
		boards_drain(w);
		serve_faults(w, FL_ST_LOCAL_FAULT);
	}
	EXPECT_EQ(wait_one(n).status, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(board_resident_requests(n->board), again);
}

TEST("a request of nearly 4 GB behind requests of a page")
{
	rig_run(SIM_THREADS, longest_body, NULL);
}

static void large_body(struct testbed *w)
{
	const struct want q = { .from = 0x3000, .to = 0x5000, .len = 140000,
				.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED };
	struct trace_record *r = calloc(TRACE_MAX, sizeof(*r));
	uint64_t bytes[2] = { 0 };
	struct node *n = &w->n[0];
	struct want post = q;
	uint32_t i, side, count;

	EXPECT(r);
	rng_init(&resident_rng, test_seed(), "large");
	for (side = 0; side < 2; side++) {
		memory_make(&w->n[side], side);
		rig_fill(&w->n[side], side + 1);
	}
	post.key = va_key[1];
	for (i = 0; i < 4; i++) {
		want_post(n, 0, &post);
		bell_ring(n);
		EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	}
	EXPECT_GE(board_resident_requests(n->board), 1);
	count = trace_snapshot(w->trace, r, TRACE_MAX);
	for (i = 0; i < count; i++)
		if (r[i].event == EV_TX_BURST || r[i].event == EV_RX_BURST) {
			told_page(w, &r[i]);
			bytes[r[i].event == EV_RX_BURST] += r[i].arg[2];
		}
	EXPECT_EQ(bytes[0], 4 * q.len);
	EXPECT_EQ(bytes[1], 4 * q.len);
	free(r);
}

TEST("a request of many pages, side by side in memory or not: each page is told")
{
	rig_walk_cache = 0;
	for (memory_swaps = 0; memory_swaps < 5; memory_swaps++) {
		STEP("%u pages changed places", memory_swaps);
		rig_run(SIM_THREADS, large_body, NULL);
	}
}
