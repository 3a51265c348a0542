// SPDX-License-Identifier: BSD-2-Clause
/* A doorbell page that is memory (faultline/snoop.h), as the library uses it. */
#include "rig/lib_set.h"

static struct fake_set s;
static struct fl_completion c[4];

/* A set whose device has the row, with the worker asleep or not. */
static void snoop_start(bool asleep)
{
	struct fl_device *dev = fake_device();

	fake.page.alive = 1;
	fake.page.asleep = asleep;
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_IOGUARD, FL_RESOLVE_BLOCK), 0);
	fake_set_on(&s, dev, 8, 8);
}

TEST("a post counts in the queue's word, and rings no card")
{
	snoop_start(false);
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	EXPECT_EQ(fake_post(&s, 2, 0), 0);
	EXPECT_EQ(fake.page.sq[0], 2);
	EXPECT_EQ(fake.doorbells_sq, 0);
	EXPECT_EQ(fake.wakes, 0);
	STEP("who asks the trace hears of a doorbell that is memory");
	EXPECT_EQ(fake.traced[FL_SYS_EV_PUBLISH], 2);
	EXPECT_EQ(fake.traced[FL_SYS_EV_DOORBELL], 0);
}

TEST("a worker that sleeps is woken by a call, after the word was written")
{
	snoop_start(true);
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	EXPECT_EQ(fake.wakes, 1);
	fake.page.asleep = 0;
	EXPECT_EQ(fake_post(&s, 2, 0), 0);
	EXPECT_EQ(fake.wakes, 1);
	STEP("what the driver says of it comes back");
	fake.page.asleep = 1;
	fake.fail_cmd = FL_IOC_SNOOP;
	fake.fail_error = -ENODEV;
	EXPECT_EQ(fake_post(&s, 3, 0), -ENODEV);
}

TEST("a page that nobody reads any more is a card that is gone")
{
	snoop_start(true);
	fake.page.alive = 0;
	EXPECT_EQ(fake_post(&s, 1, 0), -ENODEV);
	EXPECT_EQ(fake.page.sq[0], 0);
	EXPECT_EQ(fake.wakes, 0);
}

TEST("a completion queue has one word: what was taken, and how often it was armed")
{
	snoop_start(false);
	EXPECT_EQ(fl_wait(s.cq, c, 1, 1000), -ETIMEDOUT);
	EXPECT_EQ(fake.page.cq[0], 1);
	STEP("armed again with nothing new is another word");
	EXPECT_EQ(fl_wait(s.cq, c, 1, 1000), -ETIMEDOUT);
	EXPECT_EQ(fake.page.cq[0], 2);
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	fake_complete(0, 0, 0);
	EXPECT_EQ(fl_poll(s.cq, c, 1), 1);
	EXPECT_EQ(fl_wait(s.cq, c, 1, 1000), -ETIMEDOUT);
	EXPECT_EQ(fake.page.cq[0], 1u << 16 | 3);
	EXPECT_EQ(fake.arms, 0);
	EXPECT_EQ(fake.doorbells_cons, 0);
}

TEST("another row has another page, and the one before is given back")
{
	struct fl_device *dev = fake_device();

	fake.page.alive = 1;
	EXPECT_EQ(fake.maps, 1);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_IOGUARD, FL_RESOLVE_BLOCK), 0);
	EXPECT_EQ(fake.maps, 1);
	EXPECT(dev->snoop == &fake.page);
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_PART, FL_RESOLVE_BLOCK), 0);
	EXPECT(!dev->snoop);
	EXPECT(dev->doorbell == (void *)fake.doorbell);
	STEP("and without a mapping the error comes back, and nothing is lost");
	fake.mmap_error = -ENOMEM;
	EXPECT_EQ(fl_set_policy(dev, FL_SYSTEM_IOGUARD, FL_RESOLVE_BLOCK),
		  -ENOMEM);
	EXPECT_EQ(fake.maps, 1);
	EXPECT_EQ(fl_close(dev), 0);
	fake_expect_empty();
}
