// SPDX-License-Identifier: BSD-2-Clause
/*
 * The card's own table, against plain arrays: each page of a few objects is written down,
 * and asked for again.
 */
#include <stdlib.h>
#include <string.h>

#include "faultline/device.h"
#include "nic/table.h"
#include "sim/sim.h"

#include "sim/rng.h"
#include "tests/harness.h"

#define OBJECTS	6
#define PAGES	700	/* in each of two places */

static const uint32_t objects[OBJECTS] = {
	0, 1, DEV_MRS - 1, TABLE_PROCESS, TABLE_PROCESS + 1, TABLE_PROCESS + 15,
};
/* Page numbers go from the first of these, and end at the last that there is. */
static const uint64_t places[2] = { 61, TABLE_PAGES - PAGES };

struct model {
	struct table *t;
	struct rng rng;
	struct model_page {
		bool there, marked;
		struct table_entry e;
	} page[OBJECTS][2][PAGES];
	uint64_t entries;
};

static struct model *model_create(uint64_t seed)
{
	struct model *m = calloc(1, sizeof(*m));

	EXPECT(m);
	m->t = table_create();
	EXPECT(m->t);
	rng_init(&m->rng, seed, "table");
	return m;
}

static void model_destroy(struct model *m)
{
	table_destroy(m->t);
	free(m);
}

static struct model_page *model_page(struct model *m, unsigned int o,
				     uint64_t page)
{
	unsigned int k;

	for (k = 0; k < 2; k++)
		if (page >= places[k] && page - places[k] < PAGES)
			return &m->page[o][k][page - places[k]];
	return NULL;
}

static void model_load(struct model *m, unsigned int o, uint64_t page)
{
	struct model_page *p = model_page(m, o, page);
	struct table_entry e = {
		.pa = rng_next(&m->rng) & 0xFFFFFFFFFF000, .tag = rng_next(&m->rng),
		.write = rng_next(&m->rng) & 1,
	};

	EXPECT(table_load(m->t, objects[o], page, &e));
	m->entries += !p->there;
	p->there = true;
	p->e = e;
}

static uint64_t model_forget(struct model *m, unsigned int o, uint64_t first,
			     uint64_t last)
{
	uint64_t n = 0, page;
	unsigned int k, i;

	for (k = 0; k < 2; k++)
		for (i = 0; i < PAGES; i++) {
			page = places[k] + i;
			if (page < first || page > last)
				continue;
			n += m->page[o][k][i].there;
			m->page[o][k][i] = (struct model_page){ .there = false };
		}
	m->entries -= n;
	return n;
}

static void model_zap(struct model *m, unsigned int o, uint64_t page,
		      uint64_t count)
{
	uint64_t gone;

	STEP("zap %u: 0x%llx + %llu", objects[o], (unsigned long long)page,
	     (unsigned long long)count);
	gone = table_zap(m->t, objects[o], page, count);
	EXPECT_EQ(gone, count ? model_forget(m, o, page, page + count - 1) : 0);
}

static void model_compare(struct model *m)
{
	const struct model_page *p;
	struct table_entry e;
	unsigned int o, k, i;
	bool there;

	for (o = 0; o < OBJECTS; o++)
		for (k = 0; k < 2; k++)
			for (i = 0; i < PAGES; i++) {
				p = &m->page[o][k][i];
				there = table_find(m->t, objects[o],
						   places[k] + i, &e);
				EXPECT_EQ(there, p->there);
				if (!there)
					continue;
				EXPECT_EQ(e.pa, p->e.pa);
				EXPECT_EQ(e.tag, p->e.tag);
				EXPECT_EQ(e.write, p->e.write);
			}
	EXPECT_EQ(table_entries(m->t), m->entries);
	EXPECT(!table_check(m->t));
}

static uint64_t model_some_page(struct model *m)
{
	return places[rng_below(&m->rng, 2)] + rng_below(&m->rng, PAGES);
}

static uint64_t model_some_count(struct model *m)
{
	static const uint64_t most[] = { 1, 2, 64, 65, 300, 5000, 1ull << 40 };

	return rng_below(&m->rng, most[rng_below(&m->rng, 7)] + 1);
}

static void model_mark(struct model *m, unsigned int o, uint64_t page)
{
	struct model_page *p = model_page(m, o, page);
	bool mark = rng_next(&m->rng) & 1, before;

	before = table_mark(m->t, objects[o], page, mark);
	EXPECT_EQ(before, p->marked);
	if (p->there)
		p->marked = mark;
}

static void model_act(struct model *m)
{
	unsigned int o = (unsigned int)rng_below(&m->rng, OBJECTS);
	uint64_t page = model_some_page(m), i, n;

	switch (rng_below(&m->rng, 10)) {
	case 0: case 1: case 2: case 3:
		model_load(m, o, page);
		break;
	case 4:
		n = rng_below(&m->rng, 200);
		for (i = 0; i < n && model_page(m, o, page + i); i++)
			model_load(m, o, page + i);
		break;
	case 5: case 6: case 7:
		model_zap(m, o, page, model_some_count(m));
		break;
	case 8:
		model_mark(m, o, page);
		break;
	default:
		if (rng_below(&m->rng, 5))
			break;
		STEP("zap all of %u", objects[o]);
		n = table_zap_all(m->t, objects[o]);
		EXPECT_EQ(n, model_forget(m, o, 0, UINT64_MAX));
	}
}

TEST("what was loaded is found, and what was zapped is not")
{
	unsigned int seed, i;
	struct model *m;

	for (seed = 1; seed <= 20; seed++) {
		m = model_create(seed);
		for (i = 0; i < 3000; i++) {
			model_act(m);
			if (i % 100 == 0)
				model_compare(m);
		}
		model_compare(m);
		table_clear(m->t);
		memset(m->page, 0, sizeof(m->page));
		m->entries = 0;
		model_compare(m);
		model_destroy(m);
	}
}

TEST("an object that there is not is told from one that there is")
{
	EXPECT(table_object(0));
	EXPECT(table_object(DEV_MRS - 1));
	EXPECT(!table_object(DEV_MRS));
	EXPECT(!table_object(TABLE_PROCESS - 1));
	EXPECT(table_object(TABLE_PROCESS));
	EXPECT(table_object(TABLE_PROCESS + 15));
	EXPECT(!table_object(TABLE_PROCESS + 16));
	EXPECT(!table_object(UINT32_MAX));
}

TEST("a zap of more than there is takes no time")
{
	struct model *m = model_create(1);
	unsigned int i;

	for (i = 0; i < 3; i++)
		model_load(m, 0, places[0] + i);
	/* Page by page this would not end. */
	EXPECT_EQ(table_zap(m->t, 0, 0, UINT64_MAX), 3);
	model_load(m, 1, places[1] + PAGES - 1);
	EXPECT_EQ(table_zap(m->t, 1, places[1], UINT64_MAX), 1);
	EXPECT_EQ(table_zap(m->t, 1, 0, 0), 0);
	EXPECT_EQ(table_entries(m->t), 0);
	model_destroy(m);
}

TEST("a table that is full says so, and has room when something goes")
{
	const struct table_entry e = { .pa = 0x1000, .tag = 1 };
	struct table *t = table_create();
	struct table_entry found;
	uint64_t page, n = 0;

	EXPECT(t);
	/* One page here and one there take most room. */
	for (page = 0; page < 1ull << 24 && table_load(t, 5, page, &e); page += 64)
		n++;
	EXPECT(page < 1ull << 24);
	EXPECT_EQ(table_entries(t), n);
	EXPECT(!table_find(t, 5, page, &found));
	EXPECT(!table_load(t, 6, 0, &e));
	EXPECT(table_load(t, 5, page - 63, &e));
	EXPECT_EQ(table_zap(t, 5, 0, 1), 1);
	EXPECT(table_load(t, 6, 0, &e));
	EXPECT(!table_load(t, 6, 64, &e));
	EXPECT(!table_check(t));
	EXPECT_EQ(table_zap_all(t, 5), n);
	EXPECT(table_find(t, 6, 0, &found));
	table_destroy(t);
}
