// SPDX-License-Identifier: BSD-2-Clause
/* The cache of pinned regions, one rule after the other. */
#include "rig/lib_pincache.h"

TEST("what was given back is registered again without a call, and so is a part of it")
{
	struct fl_mr *a, *b;
	uint32_t key;

	cache_start(64 * PG, 1);
	a = region_make(0, 8, RIGHTS);
	key = fl_mr_key(a);
	EXPECT_EQ(fl_dereg_mr(a), 0);
	EXPECT_EQ(driver.calls, 1);
	a = region_make(0, 8, RIGHTS);
	b = region_make(3, 2, FL_REMOTE_READ);
	EXPECT_EQ(fl_mr_key(a), key);
	EXPECT_EQ(fl_mr_key(b), key);
	EXPECT_EQ(driver.calls, 1);
	STEP("the last byte counts, and so does the first");
	EXPECT_EQ(fl_dereg_mr(b), 0);
	EXPECT_EQ(fl_reg_mr(cache_pd, (char *)page_at(8) - 1, 1, 0, &b), 0);
	EXPECT_EQ(fl_mr_key(b), key);
	EXPECT_EQ(fl_dereg_mr(b), 0);
	EXPECT_EQ(fl_reg_mr(cache_pd, (char *)page_at(8) - 1, 2, 0, &b), 0);
	EXPECT_NE(fl_mr_key(b), key);
	EXPECT_EQ(cache_count().hits, 3);
	EXPECT_EQ(cache_count().misses, 2);
	cache_stop();
}

TEST("rights that a region does not have, and another domain, are a region of their own")
{
	struct fl_mr *a, *b, *c;

	cache_start(64 * PG, 1);
	a = region_make(0, 4, FL_REMOTE_READ);
	b = region_make(0, 4, FL_REMOTE_READ | FL_LOCAL_WRITE);
	EXPECT_NE(fl_mr_key(a), fl_mr_key(b));
	EXPECT_EQ(fl_reg_mr(cache_other, page_at(0), PG, FL_REMOTE_READ, &c), 0);
	EXPECT_NE(fl_mr_key(a), fl_mr_key(c));
	EXPECT_NE(fl_mr_key(b), fl_mr_key(c));
	EXPECT_EQ(driver.live, 3);
	STEP("the end of a domain ends what is kept of it, and of it alone");
	EXPECT_EQ(fl_dealloc_pd(cache_other), -EBUSY);
	EXPECT_EQ(fl_dereg_mr(c), 0);
	EXPECT_EQ(driver.live, 3);
	EXPECT_EQ(fl_dealloc_pd(cache_other), 0);
	EXPECT_EQ(driver.live, 2);
	cache_stop();
}

TEST("the bound holds: what was used longest ago goes, and what is in use never")
{
	struct fl_mr *m[4], *more;
	unsigned int i;

	cache_start(10 * PG, 1);
	for (i = 0; i < 4; i++)
		m[i] = region_make(10 * i, 2, 0);
	EXPECT_EQ(fl_dereg_mr(m[1]), 0);
	EXPECT_EQ(fl_dereg_mr(m[0]), 0);
	STEP("four of ten pages are left, the region that was given back first goes");
	more = region_make(100, 3, 0);
	EXPECT(driver_find(2) < 0);
	EXPECT(driver_find(1) >= 0);
	STEP("six are in use: five do not fit, and nothing is thrown out for them");
	EXPECT_EQ(fl_reg_mr(cache_pd, page_at(200), 5 * PG, 0, &m[0]), -EDQUOT);
	EXPECT(driver_find(1) >= 0);
	EXPECT_EQ(cache_count().evictions, 1);
	EXPECT_EQ(fl_dereg_mr(more), 0);
	STEP("what never fits throws out nothing either; a byte of a page is a page");
	EXPECT_EQ(fl_reg_mr(cache_pd, page_at(200), 10 * PG + 1, 0, &m[0]), -EDQUOT);
	EXPECT_EQ(fl_reg_mr(cache_pd, page_at(200), SIZE_MAX / 2, 0, &m[0]), -EDQUOT);
	EXPECT_EQ(cache_count().evictions, 1);
	EXPECT_EQ(cache_count().bytes, 9 * PG);
	EXPECT_EQ(fl_reg_mr(cache_pd, (char *)page_at(200) + PG - 1, 6 * PG, 0, &m[0]),
		  -EDQUOT);
	EXPECT_EQ(fl_reg_mr(cache_pd, (char *)page_at(200) + PG - 1, PG + 2, 0, &m[0]), 0);
	EXPECT(driver_find(1) < 0);
	EXPECT_EQ(cache_count().bytes, 10 * PG);
	EXPECT_EQ(driver.most_pages, 10);
	cache_stop();
}

TEST("a driver that has no room for another region is asked again with less")
{
	static const int errors[] = { -EDQUOT, -ENOMEM, -ENOSPC };
	struct fl_mr *m, *kept;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		cache_start(64 * PG, 1);
		driver.room = 3;
		driver.room_error = errors[i];
		kept = region_make(0, 1, 0);
		EXPECT_EQ(fl_dereg_mr(region_make(1, 1, 0)), 0);
		EXPECT_EQ(fl_dereg_mr(region_make(2, 1, 0)), 0);
		m = region_make(3, 1, 0);
		EXPECT_EQ(fl_mr_key(m), 4);
		EXPECT(driver_find(2) < 0 && driver_find(3) >= 0);
		EXPECT_EQ(cache_count().evictions, 1);
		STEP("with nothing kept it is refused");
		m = region_make(4, 1, 0);
		EXPECT_EQ(fl_reg_mr(cache_pd, page_at(5), PG, 0, &m), errors[i]);
		EXPECT_EQ(cache_count().bytes, 3 * PG);
		EXPECT_EQ(fl_dereg_mr(kept), 0);
		STEP("other errors are no reason to throw anything out");
		driver.room_error = -EFAULT;
		EXPECT_EQ(fl_reg_mr(cache_pd, page_at(5), PG, 0, &m), -EFAULT);
		EXPECT_EQ(driver.live, 3);
		cache_stop();
	}
}

TEST("what is unmapped is not found again: kept it ends at once, in use when it is given back")
{
	struct fl_mr *a, *b, *c;

	cache_start(64 * PG, 1);
	EXPECT_EQ(fl_dereg_mr(region_make(0, 4, 0)), 0);
	a = region_make(8, 4, 0);
	b = region_make(8, 1, 0);
	EXPECT_EQ(fl_remap(cache_dev, (char *)page_at(3) + 9, PG), 0);
	EXPECT(driver_find(1) < 0);
	EXPECT_EQ(fl_remap(cache_dev, page_at(11), 1), 0);
	EXPECT(driver_find(2) >= 0);
	c = region_make(8, 4, 0);
	EXPECT_EQ(fl_mr_key(c), 3);
	EXPECT_EQ(fl_dereg_mr(a), 0);
	EXPECT(driver_find(2) >= 0);
	EXPECT_EQ(fl_dereg_mr(b), 0);
	EXPECT(driver_find(2) < 0);
	EXPECT_EQ(cache_count().dropped, 2);
	EXPECT_EQ(fl_dereg_mr(c), 0);
	STEP("pages that leave come back the same, and those that are forgotten do not");
	EXPECT_EQ(fl_advise(cache_dev, page_at(8), PG, FL_PAGEOUT), 0);
	EXPECT(driver_find(3) >= 0);
	EXPECT_EQ(fl_advise(cache_dev, page_at(8), PG, FL_DONTNEED), 0);
	EXPECT(driver_find(3) < 0);
	STEP("a page beside it is no reason");
	EXPECT_EQ(fl_dereg_mr(region_make(20, 2, 0)), 0);
	EXPECT_EQ(fl_unmapped(cache_dev, page_at(19), PG), 0);
	EXPECT_EQ(fl_unmapped(cache_dev, page_at(22), 50 * PG), 0);
	EXPECT_EQ(driver.live, 1);
	EXPECT_EQ(fl_unmapped(cache_dev, (char *)page_at(22) - 1, 1), 0);
	EXPECT_EQ(driver.live, 0);
	cache_stop();
}

TEST("a cache without a hook finds what is gone, unless the program itself says so")
{
	struct fl_mr *a;

	cache_start(64 * PG, 0);
	EXPECT_EQ(fl_dereg_mr(region_make(0, 4, 0)), 0);
	EXPECT_EQ(fl_remap(cache_dev, page_at(0), 4 * PG), 0);
	EXPECT_EQ(fl_advise(cache_dev, page_at(0), 4 * PG, FL_DONTNEED), 0);
	a = region_make(0, 4, 0);
	EXPECT_EQ(fl_mr_key(a), 1);
	EXPECT_EQ(fl_dereg_mr(a), 0);
	EXPECT_EQ(fl_unmapped(cache_dev, page_at(0), PG), 0);
	a = region_make(0, 4, 0);
	EXPECT_EQ(fl_mr_key(a), 2);
	cache_stop();
}

TEST("a region that the driver does not end is what it was, and is tried again")
{
	struct fl_mr *a;

	cache_start(2 * PG, 1);
	a = region_make(0, 2, 0);
	EXPECT_EQ(fl_unmapped(cache_dev, page_at(0), 1), 0);
	driver.end_error = -EIO;
	EXPECT_EQ(fl_dereg_mr(a), -EIO);
	EXPECT_EQ(fl_mr_key(a), 1);
	driver.end_error = 0;
	EXPECT_EQ(fl_dereg_mr(a), 0);
	EXPECT_EQ(driver.live, 0);
	a = region_make(0, 2, 0);
	EXPECT_EQ(fl_dereg_mr(a), 0);
	driver.end_error = -EIO;
	EXPECT_EQ(fl_reg_mr(cache_pd, page_at(4), PG, 0, &a), -EIO);
	EXPECT_EQ(fl_unmapped(cache_dev, page_at(0), 1), -EIO);
	EXPECT_EQ(cache_count().bytes, 2 * PG);
	driver.end_error = 0;
	STEP("it is stale now: no registration finds it, and it makes room");
	a = region_make(0, 2, 0);
	EXPECT_EQ(fl_mr_key(a), 3);
	EXPECT_EQ(driver.live, 1);
	cache_stop();
}

TEST("a bound of nothing, a cache that is not there, and one that is in use are refused")
{
	struct fl_cache_counters c;
	struct fl_mr *m;

	cache_start(64 * PG, 1);
	EXPECT_EQ(fl_set_cache(cache_dev, 0, 1), -EINVAL);
	EXPECT_EQ(fl_set_cache(cache_dev, PG, 2), -EINVAL);
	EXPECT_EQ(fl_set_cache(cache_dev, PG, -1), -EINVAL);
	EXPECT_EQ(fl_set_cache(NULL, PG, 1), -EINVAL);
	EXPECT_EQ(fl_query_cache(NULL, &c), -EINVAL);
	EXPECT_EQ(fl_query_cache(cache_dev, NULL), -EINVAL);
	EXPECT_EQ(fl_unmapped(NULL, page_at(0), 1), -EINVAL);
	EXPECT_EQ(fl_unmapped(cache_dev, page_at(0), 0), -EINVAL);
	EXPECT_EQ(fl_unmapped(cache_dev, (void *)(UINTPTR_MAX - 1), 3), -EINVAL);
	EXPECT_EQ(cache_count().bound, 64 * PG);
	m = region_make(0, 1, 0);
	EXPECT_EQ(fl_set_cache(cache_dev, PG, 1), -EBUSY);
	EXPECT_EQ(fl_dereg_mr(m), 0);
	EXPECT_EQ(fl_set_cache(cache_dev, PG, 1), -EBUSY);
	STEP("another system ends what is kept, and keeps nothing");
	m = region_make(5, 1, 0);
	EXPECT_EQ(fl_set_policy(cache_dev, FL_SYSTEM_PIN, FL_RESOLVE_BLOCK), 0);
	EXPECT_EQ(driver.live, 1);
	EXPECT_EQ(fl_set_cache(cache_dev, PG, 1), -EOPNOTSUPP);
	EXPECT_EQ(fl_dereg_mr(m), 0);
	EXPECT_EQ(driver.live, 0);
	EXPECT_EQ(fl_dereg_mr(region_make(0, 1, 0)), 0);
	EXPECT_EQ(driver.live, 0);
	cache_stop();
}
