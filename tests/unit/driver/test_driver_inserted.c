// SPDX-License-Identifier: BSD-2-Clause
/*
 * Row inserted: tables of the driver's own, which have the pages of the regions and no
 * other.
 *
 * variants: tsan
 */
#include "rig/tables.h"

#include "sim/rng.h"
#include "sim/sim.h"

#define PAGES	(RIG_BYTES / RIG_PAGE)

static void inserted_region(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint64_t free = tables_stats(n).frames_free;
	uint32_t i, key;

	rig_open(n);
	EXPECT(!tables_own(n));
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), 0);
	EXPECT(tables_own(n));
	EXPECT_EQ(tables_count(n), 0);
	STEP("a region of the whole buffer: each page, and none beside them");
	rig_set_up(n, 0);
	EXPECT_EQ(tables_count(n), PAGES);
	EXPECT_EQ(tables_stats(n).frames_pinned, PAGES);
	for (i = 0; i < PAGES; i++) {
		tables_write(n, i, 1000 + i);
		EXPECT_EQ(tables_card(n, i, true), 1000 + i);
	}
	STEP("it goes: so does every entry, every table, every pin");
	tables_dereg(n, n->key);
	EXPECT_EQ(tables_count(n), 0);
	EXPECT_EQ(tables_stats(n).frames_pinned, 0);
	STEP("one that is only to be read");
	key = tables_reg(n, 3, 2, false);
	EXPECT_EQ(tables_count(n), 2);
	EXPECT_EQ(tables_card(n, 3, false), 1003);
	EXPECT_EQ(tables_card(n, 3, true), ~0ull);
	EXPECT_EQ(tables_card(n, 5, false), ~0ull);
	tables_dereg(n, key);
	n->key = tables_reg(n, 0, 1, true);
	rig_close(n);
	EXPECT_EQ(tables_stats(n).frames_pinned, 0);
	EXPECT_EQ(tables_stats(n).frames_free, free - PAGES);
}

TEST("the card's table has each page of a region, and no other")
{
	rig_run(inserted_region);
}

/* ---- any regions, against plain arrays ---- */

#define REGIONS	12
#define STEPS	400

static struct {
	uint64_t born[PAGES];		/* word of the page that is mapped there now */
	struct {
		uint32_t key, page, pages;
		bool write;
		uint64_t at, word[PAGES];	/* when; what it has pinned */
	} region[REGIONS];
	uint64_t clock;
} model;

/* Newest region first: its frame; to be written if a region of the same frame is. */
static uint64_t model_word(uint32_t page, bool write)
{
	uint64_t newest = 0, word = ~0ull;
	bool may = !write;
	int i;

	for (i = 0; i < REGIONS; i++)
		if (model.region[i].at > newest &&
		    page - model.region[i].page < model.region[i].pages) {
			newest = model.region[i].at;
			word = model.region[i].word[page];
		}
	for (i = 0; newest && i < REGIONS; i++)
		may |= model.region[i].at && model.region[i].write &&
		       page - model.region[i].page < model.region[i].pages &&
		       model.region[i].word[page] == word;
	return newest && may ? word : ~0ull;
}

static void model_check(struct rig_node *n)
{
	uint32_t page;
	uint8_t *at;
	int write;

	for (page = 0; page < PAGES; page++)
		for (write = 0; write < 2; write++) {
			at = n->buffer + page * RIG_PAGE;
			EXPECT_EQ(tables_card(n, page, write),
				  model_word(page, write));
			/* What the TLB knows from before is not otherwise. */
			EXPECT_EQ(tables_translate(n, at, write),
				  tables_walk(n, at, write));
		}
	EXPECT(!host_check(n->kernel, true));
}

static void model_map(struct rig_node *n, uint32_t page, uint32_t pages)
{
	for (; pages; page++, pages--) {
		model.born[page] = ++model.clock;
		tables_write(n, page, model.born[page]);
	}
}

static void model_step(struct rig_node *n, struct rng *r)
{
	uint32_t i = (uint32_t)rng_below(r, REGIONS), p;
	uint32_t page = (uint32_t)rng_below(r, PAGES);
	uint32_t pages = 1 + (uint32_t)rng_below(r, PAGES - page);

	if (!rng_below(r, 4)) {
		tables_remap(n, page, pages);
		model_map(n, page, pages);
		return;
	}
	if (model.region[i].at) {
		tables_dereg(n, model.region[i].key);
		model.region[i].at = 0;
		return;
	}
	model.region[i].write = rng_below(r, 2);
	model.region[i].key = tables_reg(n, page, pages, model.region[i].write);
	model.region[i].page = page;
	model.region[i].pages = pages;
	model.region[i].at = ++model.clock;
	for (p = page; p < page + pages; p++)
		model.region[i].word[p] = model.born[p];
}

static void inserted_random(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct rng rng;
	int i;

	memset(&model, 0, sizeof(model));
	rng_init(&rng, test_seed(), "inserted");
	rig_open(n);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), 0);
	rig_set_up(n, 0);
	tables_dereg(n, n->key);
	model_map(n, 0, PAGES);
	for (i = 0; i < STEPS; i++) {
		STEP("step %d", i);
		model_step(n, &rng);
		model_check(n);
	}
	for (i = 0; i < REGIONS; i++)
		if (model.region[i].at)
			tables_dereg(n, model.region[i].key);
	EXPECT_EQ(tables_count(n), 0);
	EXPECT_EQ(tables_stats(n).frames_pinned, 0);
	rig_close(n);
}

TEST("overlapping regions and memory that is replaced: the table is as the model says")
{
	rig_run(inserted_random);
}

TEST("the same with a walk cache")
{
	rig_walk_cache = 16;
	rig_run(inserted_random);
	rig_walk_cache = 0;
}

/* A table that is free becomes another one: no walk may begin in the middle of it. */
static void inserted_tables_again(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint32_t key;
	uint8_t *far;
	int err;

	rig_open(n);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), 0);
	rig_set_up(n, 0);
	far = host_mmap(n->process, 8u << 20, HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT(far);
	/* Another last table than the buffer's. */
	far += 4u << 20;
	EXPECT_EQ(tables_translate(n, n->buffer, true),
		  tables_walk(n, n->buffer, true));
	tables_dereg(n, n->key);
	key = rig_reg_mr(n, far, RIG_PAGE, RIG_ALL, 0, 0);
	n->key = tables_reg(n, 0, PAGES, true);
	EXPECT(tables_walk(n, n->buffer, true));
	EXPECT_EQ(tables_translate(n, n->buffer, true),
		  tables_walk(n, n->buffer, true));
	EXPECT(tables_walk(n, far, true));
	EXPECT_EQ(tables_translate(n, far, true), tables_walk(n, far, true));
	tables_dereg(n, key);
	rig_close(n);
}

TEST("a walk cache knows nothing of tables that have become others")
{
	rig_walk_cache = 16;
	rig_run(inserted_tables_again);
	rig_walk_cache = 0;
}

/* ---- what the card does with them ---- */

static void inserted_pair(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_INSERTED, FL_IOC_RESOLVE_PAGE, 0);
	rig_fill(&r->n[0], RIG_BYTES, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, RIG_BYTES);
	EXPECT_EQ(rig_counters(&r->n[0]).faults, 0);
	EXPECT_EQ(rig_counters(&r->n[1]).faults, 0);
}

static void inserted_remapped(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint32_t first;
	uint64_t told;

	inserted_pair(r);
	STEP("other memory there: the card goes on with the old frames");
	told = rig_counters(b).invalidations;
	tables_remap(b, 0, PAGES);
	EXPECT_EQ(rig_counters(b).invalidations, told);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_PAGE);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	EXPECT_GE(trace_count(r->trace, EV_ORPHAN_ACCESS), 1);
	EXPECT_EQ(tables_word(b, 0), 0);
	STEP("registered again, it has the new ones");
	first = b->key;
	b->key = rig_reg_mr(b, b->buffer, RIG_BYTES, RIG_ALL, 0, 0);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, RIG_BYTES);
	tables_dereg(b, first);
	EXPECT_EQ(tables_count(b), PAGES);
	EXPECT_EQ(tables_stats(b).frames_pinned, PAGES);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
}

TEST("memory that is replaced is not the card's, until it is registered again")
{
	rig_run(inserted_remapped);
}

/* An entry that a bug would have lost: nothing else can be missing for a valid key. */
static void tables_lose(struct rig_node *n, uint32_t page)
{
	uint64_t *d = tables_entry(n, (uintptr_t)n->buffer + page * RIG_PAGE);

	EXPECT(d && *d);
	__atomic_store_n(d, 0, __ATOMIC_RELEASE);
	EXPECT_EQ(board_write(n->board, BUS_SMMU_BASE + SMMU_GR0_TLBIALLNSNH, 4,
			      0), 0);
}

static void inserted_fault(struct rig *r, int side)
{
	struct rig_node *n = &r->n[side];
	uint64_t in;

	inserted_pair(r);
	in = tables_stats(n).page_ins;
	tables_lose(n, 5);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), side ? FL_ST_REMOTE_FAULT :
					     FL_ST_LOCAL_FAULT);
	EXPECT_GE(rig_counters(n).faults, 1);
	EXPECT_EQ(rig_counters(n).failed, rig_counters(n).faults);
	EXPECT_EQ(rig_counters(n).pages_in, 0);
	EXPECT_EQ(tables_stats(n).page_ins, in);
}

static void inserted_fault_here(struct rig *r)
{
	inserted_fault(r, 0);
}

static void inserted_fault_there(struct rig *r)
{
	inserted_fault(r, 1);
}

TEST("a page that the table has not is an error at once, where the request reads")
{
	rig_run(inserted_fault_here);
}

TEST("a page that the table has not is an error at once, where it writes")
{
	rig_run(inserted_fault_there);
}

/* Same frames, and the newest region may only be read: the older one keeps its right. */
static void inserted_rights(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint32_t key;

	inserted_pair(r);
	key = tables_reg(b, 0, PAGES, false);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	STEP("the older one goes, and the right with it, from the TLB too");
	tables_dereg(b, b->key);
	EXPECT_EQ(tables_count(b), PAGES);
	EXPECT_EQ(tables_card(b, 0, true), ~0ull);
	b->key = key;
	STEP("it comes back");
	b->key = tables_reg(b, 0, PAGES, true);
	rig_post(r, FL_OP_WRITE, 0, 0, RIG_BYTES);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
}

TEST("a right that an older region has is not lost to a newer one, and goes with it")
{
	rig_run(inserted_rights);
}

/* ---- which tables ---- */

static void inserted_change(struct rig *r)
{
	static const uint32_t rows[] = {
		FL_SYSTEM_INSERTED, FL_SYSTEM_PULP, FL_SYSTEM_INSERTED,
		FL_SYSTEM_STALL, FL_SYSTEM_PULP, FL_SYSTEM_PULP,
		FL_SYSTEM_PART,
	};
	struct rig_node *n = &r->n[0];
	unsigned int i;

	rig_open(n);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		EXPECT_EQ(tables_policy(n, rows[i]), 0);
		EXPECT_EQ(tables_own(n), rows[i] == FL_SYSTEM_INSERTED ||
				     rows[i] == FL_SYSTEM_PULP);
	}
	rig_set_up(n, 0);
	STEP("regions are entered in these tables, so they cannot change");
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), -EBUSY);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_STALL), 0);
	tables_dereg(n, n->key);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), 0);
	n->key = tables_reg(n, 0, 1, true);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_PART), -EBUSY);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_PULP), -EBUSY);
	rig_close(n);
}

TEST("a process without regions can change its tables, and with regions it cannot")
{
	rig_run(inserted_change);
}

/* The SMMU does not say that the old tables are out of use: the file is cut off. */
static void inserted_no_sync(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_alloc_pd pd = { .size = sizeof(pd) };

	rig_open(n);
	board_inject(n->board, BOARD_NO_SYNC);
	EXPECT_EQ(tables_policy(n, FL_SYSTEM_INSERTED), -EIO);
	board_inject(n->board, 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), -ENODEV);
	EXPECT_EQ(rig_counters(n).lost_syncs, 1);
	EXPECT(!host_check(n->kernel, true));
	EXPECT_EQ(host_close(n->process, n->fd), 0);
	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), 0);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("an SMMU that does not let go of the old tables costs the file its card")
{
	rig_run(inserted_no_sync);
}

/* Each thing that is asked for is refused once. */
static unsigned int inserted_refused(long (*call)(struct rig_node *n),
				     struct rig_node *n)
{
	unsigned int i, entered = tables_count(n);
	uint64_t pinned = tables_stats(n).frames_pinned;
	long ret;

	for (i = 1;; i++) {
		host_inject_driver_error(i);
		ret = call(n);
		if (host_inject_driver_error(0)) {
			EXPECT_EQ(ret, 0);
			return i - 1;
		}
		EXPECT_EQ(ret, -ENOMEM);
		EXPECT_EQ(tables_count(n), entered);
		EXPECT_EQ(tables_stats(n).frames_pinned, pinned);
		EXPECT(!host_check(n->kernel, true));
	}
}

static long refused_policy(struct rig_node *n)
{
	return tables_policy(n, FL_SYSTEM_INSERTED);
}

static long refused_region(struct rig_node *n)
{
	struct fl_reg_mr m = { .size = sizeof(m), .pd = n->pd, .access = RIG_ALL,
			       .addr = (uintptr_t)n->buffer,
			       .length = RIG_BYTES };
	long ret = rig_ioctl(n, FL_IOC_REG_MR, &m);

	n->key = ret ? n->key : m.key;
	return ret;
}

static void inserted_no_memory(struct rig *r)
{
	struct rig_node *n = &r->n[0];

	rig_open(n);
	/* A pool, a table: structure, page, what is behind. */
	EXPECT_EQ(inserted_refused(refused_policy, n), 4);
	rig_set_up(n, 0);
	tables_dereg(n, n->key);
	/* The region, a list of pages, pins, and three tables at least. */
	EXPECT_GE(inserted_refused(refused_region, n), 3 + 3 * 3);
	tables_dereg(n, n->key);
	rig_close(n);
}

TEST("without memory for a table nothing is entered, and nothing is left")
{
	rig_run(inserted_no_memory);
}

TEST("a process that ends in the middle leaves no entry, no table, no pin")
{
	tables_deaths(FL_SYSTEM_INSERTED);
}

TEST("the driver ends, and every entry, table and pin with it")
{
	tables_driver_ends(FL_SYSTEM_INSERTED, 0);
}

TEST("it does with a firmware that does not answer, too")
{
	tables_driver_ends(FL_SYSTEM_INSERTED, BOARD_SILENT_FW);
}

TEST("it does with an SMMU that does not synchronise, too")
{
	tables_driver_ends(FL_SYSTEM_INSERTED, BOARD_NO_SYNC);
}
