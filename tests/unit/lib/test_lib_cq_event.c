// SPDX-License-Identifier: BSD-2-Clause
#include "rig/lib_set.h"

static struct fake_set s;
static struct fl_completion c[4];

static void complete_one(void)
{
	fake_complete(0, 0, 0);
}

TEST("fl_arm says how far the queue was taken, and what comes then ends the sleep")
{
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fake_post(&s, 9, 0), 0);
	EXPECT_EQ(fl_arm(s.cq, 0), 0);
	EXPECT_EQ(fake.arms, 1);
	EXPECT_EQ(fl_poll(s.cq, c, 4), 0);
	fake.on_wait = complete_one;
	EXPECT_EQ(fl_sleep(s.cq, 5000), 0);
	EXPECT_EQ(fake.last_wait_ns, 5000);
	EXPECT_EQ(fl_poll(s.cq, c, 4), 1);
	EXPECT_EQ(c[0].wr_id, 9);
}

TEST("a completion that came before it was armed makes an event")
{
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fake_post(&s, 9, 0), 0);
	complete_one();
	EXPECT_EQ(fl_arm(s.cq, 0), 0);
	EXPECT_EQ(fl_sleep(s.cq, 5000), 0);
	EXPECT_EQ(fl_poll(s.cq, c, 4), 1);
}

TEST("no poll takes the event from who sleeps for it, however it suspects a loss")
{
	unsigned int i;

	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fake_post(&s, 9, 0), 0);
	EXPECT_EQ(fl_arm(s.cq, 0), 0);
	s.cq->suspect = 1000;
	for (i = 0; i < 200; i++)
		EXPECT_EQ(fl_poll(s.cq, c, 4), 0);
	EXPECT_EQ(fake.waits, 0);
	complete_one();
	/* Taken by the poll, and the event is still there. */
	EXPECT_EQ(fl_poll(s.cq, c, 4), 1);
	EXPECT_EQ(fl_sleep(s.cq, 5000), 0);
	/* Nobody sleeps any more: it asks again. */
	s.cq->suspect = 1000;
	for (i = 0; i < 200; i++)
		EXPECT_EQ(fl_poll(s.cq, c, 4), 0);
	EXPECT_GE(fake.waits, 2);
}

TEST("a time that is over, or a signal, leaves the queue armed")
{
	unsigned int i;

	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fl_arm(s.cq, 0), 0);
	fake.wait_result = -EINTR;
	EXPECT_EQ(fl_sleep(s.cq, 5000), -EINTR);
	fake.wait_result = -ETIMEDOUT;
	EXPECT_EQ(fl_sleep(s.cq, 5000), -ETIMEDOUT);
	s.cq->suspect = 1000;
	for (i = 0; i < 200; i++)
		EXPECT_EQ(fl_poll(s.cq, c, 4), 0);
	EXPECT_EQ(fake.waits, 2);
}

TEST("an overflow during the sleep is -EIO, then of polling too")
{
	unsigned int i;

	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fl_arm(s.cq, 0), 0);
	fake.cq[0].broken = true;
	EXPECT_EQ(fl_sleep(s.cq, 0), -EIO);
	s.cq->suspect = 1000;
	for (i = 0; i < 200 && !fl_poll(s.cq, c, 4); i++)
		;
	EXPECT_EQ(fl_poll(s.cq, c, 4), -EIO);
}

TEST("nothing is no queue")
{
	EXPECT_EQ(fl_arm(NULL, 0), -EINVAL);
	EXPECT_EQ(fl_sleep(NULL, 1), -EINVAL);
}
