// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cache of pinned regions under random operations, beside an oracle that is a plain
 * array: no list, no states, but for each region when it was used last. And threads.
 *
 * variants: tsan
 */
#include "sim/rng.h"
#include "sim/sim.h"
#include "rig/lib_pincache.h"

#define BOUND	40u	/* pages */
#define HANDLES	24

/* What the cache should have: regions in no order, and when each was used last. */
static struct known {
	bool used, stale;
	uint64_t page, pages, when;
	unsigned int pd, access, users;
} known[REGIONS];
static struct { struct fl_mr *mr; struct known *of; } handle[HANDLES];
static uint64_t now, hits, misses, evictions, dropped;
static uint64_t places;		/* pages at which a range may begin */

static uint64_t known_pages(bool in_use)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < REGIONS; i++)
		if (known[i].used && (known[i].users || !in_use))
			n += known[i].pages;
	return n;
}

/* The one used last that will do, or NULL. */
static struct known *known_find(const struct known *want)
{
	struct known *k, *best = NULL;

	for (k = known; k < known + REGIONS; k++)
		if (k->used && !k->stale && k->pd == want->pd &&
		    k->page <= want->page &&
		    want->page + want->pages <= k->page + k->pages &&
		    (k->access & want->access) == want->access &&
		    (!best || k->when > best->when))
			best = k;
	return best;
}

static void known_evict(void)
{
	struct known *k, *oldest = NULL;

	for (k = known; k < known + REGIONS; k++)
		if (k->used && !k->users && (!oldest || k->when < oldest->when))
			oldest = k;
	EXPECT(oldest);
	oldest->used = false;
	evictions++;
}

/* NULL: it must be refused. */
static struct known *known_reg(const struct known *want)
{
	struct known *k = known_find(want);

	if (k) {
		hits++;
	} else {
		misses++;
		if (known_pages(true) + want->pages > BOUND)
			return NULL;
		while (known_pages(false) + want->pages > BOUND)
			known_evict();
		for (k = known; k->used; k++)
			;
		*k = *want;
		k->used = true;
	}
	k->users++;
	k->when = ++now;
	return k;
}

static void random_reg(struct rng *r, unsigned int i)
{
	struct known want = { .page = rng_below(r, places),
			      .pages = 1 + rng_below(r, rng_below(r, 4) ? 6 : 30),
			      .pd = (unsigned int)rng_below(r, 2),
			      .access = (unsigned int)rng_below(r, 8) &
					(unsigned int)rng_below(r, 8) };
	struct known *k = known_reg(&want);

	EXPECT_EQ(fl_reg_mr(want.pd ? cache_other : cache_pd, page_at(want.page), want.pages * PG,
			    want.access, &handle[i].mr), k ? 0 : -EDQUOT);
	handle[i].of = k;
	if (!k)
		handle[i].mr = NULL;
}

static void random_give(unsigned int i)
{
	struct known *k = handle[i].of;

	EXPECT_EQ(fl_dereg_mr(handle[i].mr), 0);
	handle[i].mr = NULL;
	k->users--;
	k->when = ++now;
	if (!k->users && k->stale) {
		k->used = false;
		dropped++;
	}
}

static void random_unmap(struct rng *r)
{
	uint64_t page = rng_below(r, 60), pages = 1 + rng_below(r, 4);
	struct known *k;

	EXPECT_EQ(fl_remap(cache_dev, page_at(page), pages * PG), 0);
	for (k = known; k < known + REGIONS; k++) {
		if (!k->used || k->stale || k->page >= page + pages ||
		    page >= k->page + k->pages)
			continue;
		k->stale = true;
		k->used = k->users;
		dropped += !k->users;
	}
}

/* Each key that was given out is one of the driver's, for what was asked and more. */
static void random_check(void)
{
	struct fl_cache_counters c = cache_count();
	unsigned int i, live = 0;
	int d;

	for (i = 0; i < REGIONS; i++)
		live += known[i].used;
	EXPECT_EQ(driver.live, live);
	EXPECT_EQ(driver.pages, known_pages(false));
	EXPECT(driver.most_pages <= BOUND);
	EXPECT_EQ(c.bytes, driver.pages * PG);
	EXPECT_EQ(c.most_bytes, driver.most_pages * PG);
	EXPECT_EQ(c.hits, hits);
	EXPECT_EQ(c.misses, misses);
	EXPECT_EQ(c.evictions, evictions);
	EXPECT_EQ(c.dropped, dropped);
	for (i = 0; i < HANDLES; i++) {
		if (!handle[i].mr)
			continue;
		d = driver_find(fl_mr_key(handle[i].mr));
		EXPECT(d >= 0);
		EXPECT_EQ(driver.mr[d].addr,
			  (uintptr_t)page_at(handle[i].of->page));
		EXPECT_EQ(driver.mr[d].bytes, handle[i].of->pages * PG);
		EXPECT_EQ(driver.mr[d].access, handle[i].of->access);
	}
}

TEST("random registrations have what a plain list of them says, at each step")
{
	uint64_t met[3] = { 0 };
	unsigned int seed, step, i;
	struct rng r;

	for (seed = 0; seed < 30; seed++) {
		cache_start(BOUND * PG, 1);
		rng_init(&r, test_seed() + seed, "pincache");
		memset(known, 0, sizeof(known));
		memset(handle, 0, sizeof(handle));
		/* Far apart, and so near that several regions cover a range. */
		places = seed % 2 ? 60 : 6;
		now = hits = misses = evictions = dropped = 0;
		for (step = 0; step < 1500; step++) {
			/* Few in use, then many. */
			i = (unsigned int)rng_below(&r, step / 500 % 2 ? HANDLES : 4);
			if (!rng_below(&r, 25))
				random_unmap(&r);
			else if (handle[i].mr)
				random_give(i);
			else
				random_reg(&r, i);
			random_check();
		}
		met[0] += hits;
		met[1] += evictions;
		met[2] += dropped;
		cache_stop();
	}
	STEP("half of what all seeds together usually meet");
	EXPECT_GE(met[0], 65 * seed);
	EXPECT_GE(met[1], 215 * seed);
	EXPECT_GE(met[2], 15 * seed);
}

/* ---- threads ---- */

static atomic_uint bad;		/* a thread cannot end the test */

static void *thread_run(void *arg)
{
	struct fl_mr *m[3] = { NULL };
	struct rng r;
	unsigned int i, step;
	uint64_t page, pages;
	int error;

	rng_init(&r, test_seed() + (uintptr_t)arg, "threads");
	for (step = 0; step < 1000; step++) {
		i = (unsigned int)rng_below(&r, 3);
		page = rng_below(&r, 24);
		pages = 1 + rng_below(&r, 6);
		if (!rng_below(&r, 20))
			bad += fl_unmapped(cache_dev, page_at(page), pages * PG) != 0;
		if (!m[i]) {
			error = fl_reg_mr(cache_pd, page_at(page), pages * PG, RIGHTS, &m[i]);
			bad += error && error != -EDQUOT;
			continue;
		}
		pthread_mutex_lock(&driver.lock);
		bad += driver_find(fl_mr_key(m[i])) < 0;
		pthread_mutex_unlock(&driver.lock);
		bad += fl_dereg_mr(m[i]) != 0;
		m[i] = NULL;
	}
	for (i = 0; i < 3; i++)
		bad += m[i] && fl_dereg_mr(m[i]);
	return NULL;
}

TEST("threads that register the same pages keep the bound, and each key lives as long as its user")
{
	struct fl_cache_counters c;
	pthread_t thread[4];
	uintptr_t i;

	cache_start(24 * PG, 1);
	driver.slow = true;
	bad = 0;
	for (i = 0; i < 4; i++)
		EXPECT_EQ(pthread_create(&thread[i], NULL, thread_run, (void *)i), 0);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	c = cache_count();
	EXPECT_EQ(bad, 0);
	EXPECT_EQ(c.bytes, driver.pages * PG);
	EXPECT(driver.most_pages <= 24);
	EXPECT(c.most_bytes <= 24 * PG);
	EXPECT_GE(c.hits, 100);
	EXPECT_GE(c.evictions, 100);
	EXPECT_EQ(fl_unmapped(cache_dev, page_at(0), 64 * PG), 0);
	EXPECT_EQ(driver.live, 0);
	cache_stop();
}
