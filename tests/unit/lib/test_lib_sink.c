// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory that the library keeps for itself under system npr, alone: it is made whole or not at
 * all, and the list of regions has places that come back. rig/lib_fake.h plays the driver.
 */
#include "bounce.h"
#include "rig/lib_fake.h"

struct sink_counts {
	int memories, imported;
	unsigned int live_mr;
};

static struct sink_counts counts_now(void)
{
	return (struct sink_counts){ fake.memories, fake.imported, fake.live_mr };
}

static void counts_same(struct sink_counts c)
{
	EXPECT_EQ(fake.memories, c.memories);
	EXPECT_EQ(fake.imported, c.imported);
	EXPECT_EQ(fake.live_mr, c.live_mr);
}

static struct fl_pd *sink_pd(void)
{
	struct fl_device *dev = fake_device();
	struct fl_pd *pd = NULL;

	test_cleanup(fake_close_device, dev);
	EXPECT_EQ(fl_alloc_pd(dev, &pd), 0);
	return pd;
}

TEST("the library's own memory is made whole, or nothing of it is left")
{
	struct fl_pd *pd = sink_pd();
	struct sink_counts before = counts_now();
	struct bounce_memory m;

	STEP("no memory");
	fake.memory_error = -ENOMEM;
	EXPECT_EQ(bounce_memory_make(&m, pd, 8192, FL_ACC_REMOTE_READ, 0), -ENOMEM);
	EXPECT(!m.mem);
	counts_same(before);
	fake.memory_error = 0;
	STEP("the driver does not take it");
	fake.import_error = -EFAULT;
	EXPECT_EQ(bounce_memory_make(&m, pd, 8192, FL_ACC_REMOTE_READ, 0), -EFAULT);
	EXPECT(!m.mem);
	counts_same(before);
	fake.import_error = 0;
	STEP("it does not become a region");
	fake.fail_cmd = FL_IOC_REG_MR;
	fake.fail_error = -EDQUOT;
	EXPECT_EQ(bounce_memory_make(&m, pd, 8192, FL_ACC_REMOTE_READ, 0), -EDQUOT);
	EXPECT(!m.mem);
	counts_same(before);
	bounce_memory_free(&m);
	counts_same(before);
	fake.fail_cmd = 0;
	STEP("all of it: pinned, for the card to write");
	EXPECT_EQ(bounce_memory_make(&m, pd, 8192, FL_ACC_REMOTE_READ, FL_MR_RING), 0);
	EXPECT(m.mem);
	EXPECT_EQ(fake.reg_mr.addr, (uintptr_t)m.mem);
	EXPECT_EQ(fake.reg_mr.length, 8192);
	EXPECT_EQ(fake.reg_mr.flags, FL_MR_RING | FL_MR_PINNED);
	EXPECT_EQ(fake.reg_mr.access, FL_ACC_REMOTE_READ | FL_ACC_LOCAL_WRITE);
	EXPECT_EQ(fake.memories, before.memories + 1);
	bounce_memory_free(&m);
	bounce_memory_free(&m);
	counts_same(before);
	fl_dealloc_pd(pd);
}

TEST("a domain gets its list once, and without one nothing is left")
{
	struct fl_pd *pd = sink_pd();
	struct sink_counts before = counts_now();
	struct bounce_entry *list;

	fake.memory_error = -ENOMEM;
	EXPECT_EQ(bounce_pd_make(pd), -ENOMEM);
	EXPECT(!pd->sink);
	fake.memory_error = 0;
	EXPECT_EQ(bounce_pd_make(pd), 0);
	list = bounce_own(pd);
	EXPECT(list);
	EXPECT_EQ(bounce_pd_make(pd), 0);
	EXPECT(bounce_own(pd) == list);
	bounce_pd_free(pd);
	bounce_pd_free(pd);
	EXPECT(!pd->sink);
	counts_same(before);
	fl_dealloc_pd(pd);
}

static struct fl_mr region_of(struct fl_pd *pd, uint32_t key)
{
	return (struct fl_mr){ .pd = pd, .key = key, .addr = 0x10000ull * key, .bytes = 0x1000 };
}

TEST("regions are found by key and range, as many as there are places")
{
	struct fl_pd *pd = sink_pd();
	struct fl_mr mr, more;
	struct bounce_entry *list;
	uint32_t key;

	EXPECT_EQ(bounce_pd_make(pd), 0);
	list = bounce_own(pd);
	for (key = 1; key <= BOUNCE_LIST; key++) {
		mr = region_of(pd, key);
		EXPECT_EQ(bounce_list_add(&mr), 0);
	}
	more = region_of(pd, key);
	EXPECT_EQ(bounce_list_add(&more), -ENOSPC);
	STEP("from the first byte of one to its last, and no further");
	EXPECT(bounce_find(list, 7, 0x70000, 0x1000));
	EXPECT(bounce_find(list, 7, 0x70fff, 1));
	EXPECT(!bounce_find(list, 7, 0x6ffff, 2));
	EXPECT(!bounce_find(list, 7, 0x70001, 0x1000));
	EXPECT(!bounce_find(list, 7, 0x70000, 0x1001));
	EXPECT(!bounce_find(list, 8, 0x70000, 1));
	EXPECT(!bounce_find(list, 0, 0, 1));
	EXPECT(!bounce_find(list, more.key, more.addr, 1));
	STEP("one goes, and there is room for one; it goes once");
	mr = region_of(pd, 7);
	bounce_list_del(&mr);
	EXPECT(!bounce_find(list, 7, 0x70000, 1));
	bounce_list_del(&mr);
	EXPECT_EQ(bounce_list_add(&more), 0);
	EXPECT(bounce_find(list, more.key, more.addr, 1));
	EXPECT_EQ(bounce_list_add(&mr), -ENOSPC);
	bounce_pd_free(pd);
	STEP("a domain without a list has nothing to take out");
	bounce_list_del(&mr);
	fl_dealloc_pd(pd);
}

TEST("words come with memory, and a pinned region needs none")
{
	struct fl_pd *pd = sink_pd();
	struct fl_mr mr = region_of(pd, 3);
	struct fl_reg_mr r = { .addr = 0x30ff0, .length = 0x1020 };
	struct sink_counts before = counts_now();

	EXPECT_EQ(bounce_words_make(&mr, &r, true), 0);
	EXPECT(!mr.words);
	EXPECT_EQ(r.words, 0);
	STEP("three pages, since it begins at the end of one and ends at the beginning of another");
	EXPECT_EQ(bounce_words_make(&mr, &r, false), 0);
	EXPECT_EQ(mr.words->bytes, 3 * sizeof(uint32_t));
	EXPECT_EQ(r.words, (uintptr_t)mr.words->mem);
	bounce_list_del(&mr);
	EXPECT(!mr.words);
	counts_same(before);
	fl_dealloc_pd(pd);
}
