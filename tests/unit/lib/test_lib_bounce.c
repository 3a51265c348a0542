// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queue pairs of system npr, alone: they are made whole or not at all, have as many places as
 * they say, and whoever has their lock is waited for. rig/lib_fake.h plays the driver.
 */
#include "bounce.h"
#include "rig/fail.h"
#include "rig/lib_set.h"

static struct fake_set s;

static void sink_start(unsigned int qp_entries)
{
	fake_start();
	fake.policy.system = FL_SYSTEM_NPR;
	EXPECT_EQ(fl_open("fake", &s.dev), 0);
	fake_set_on(&s, s.dev, 16, qp_entries);
}

static unsigned int qps_used(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < FAKE_OBJECTS; i++)
		n += fake.qp[i].used;
	return n;
}

/* Where does one more queue pair fail? Its domain has what it needs already. */
static void expect_no_qp(int error)
{
	const struct fake before = fake;
	struct fl_qp *qp = NULL;

	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &qp), error);
	EXPECT(!qp);
	EXPECT_EQ(qps_used(), 1);
	EXPECT_EQ(fake.memories, before.memories);
	EXPECT_EQ(fake.imported, before.imported);
	EXPECT_EQ(fake.live_mr, before.live_mr);
	EXPECT_EQ(fake.maps, before.maps);
}

TEST("a queue pair is made with all its memory, or nothing of it is left")
{
	struct fl_qp *qp;
	unsigned int n;

	sink_start(8);
	STEP("the queue pair, what it remembers, its requests, its ring, its scratch region");
	for (n = 1; n <= 6; n++) {
		if (n == 2)
			continue;	/* the driver's: the fake has the queue */
		fail_at(FAIL_MEMORY, n, 1, ENOMEM);
		expect_no_qp(-ENOMEM);
		EXPECT_EQ(fail_end(), 1);
	}
	STEP("memory is there, and does not become a region");
	fake.fail_cmd = FL_IOC_REG_MR;
	fake.fail_error = -EDQUOT;
	expect_no_qp(-EDQUOT);
	fake.fail_cmd = 0;
	STEP("with all of it there is one");
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &qp), 0);
	EXPECT_EQ(fl_destroy_qp(qp), 0);
	EXPECT_EQ(qps_used(), 1);
}

TEST("a queue pair takes as many requests as it has places, and says how many are left")
{
	unsigned int i;

	sink_start(8);
	EXPECT_EQ(bounce_room(s.qp), s.qp->bounce->entries);
	for (i = s.qp->bounce->entries; i > 0; i--) {
		EXPECT_EQ(bounce_room(s.qp), i);
		EXPECT_EQ(fake_post(&s, i, 0), 0);
	}
	EXPECT_EQ(bounce_room(s.qp), 0);
	EXPECT_EQ(fake_post(&s, 99, 0), -EAGAIN);
	EXPECT_EQ(bounce_room(s.qp), 0);
}

static unsigned int relaxes;

static int relax_unlocks(int fd)
{
	EXPECT(fd >= 0);
	if (++relaxes == 3)
		atomic_flag_clear(&s.cq->busy);
	return 0;
}

TEST("whoever has the lock of a completion queue is let go on until it is free")
{
	struct fl_sys sys = fake_sys;

	sink_start(8);
	relaxes = 0;
	sys.relax = relax_unlocks;
	s.dev->sys = &sys;
	EXPECT(!atomic_flag_test_and_set(&s.cq->busy));
	EXPECT_EQ(bounce_room(s.qp), s.qp->bounce->entries);
	EXPECT_EQ(relaxes, 3);
	STEP("and it is free again");
	EXPECT_EQ(bounce_room(s.qp), s.qp->bounce->entries);
	EXPECT_EQ(relaxes, 3);
	s.dev->sys = &fake_sys;
}

TEST("both ends of a connection find what is lost afterwards, or none does")
{
	struct fl_address a = { 0 };

	sink_start(8);
	bounce_address(s.qp, &a);
	EXPECT_EQ(a.ring, (uintptr_t)s.qp->bounce->ring.mem);
	EXPECT_EQ(a.ring_key, s.qp->bounce->ring.key);
	EXPECT_EQ(a.list_key, s.pd->sink->list.key);
	EXPECT(a.ring_key && a.list_key);
	EXPECT_EQ(bounce_connect(s.qp, &a), 0);
	EXPECT_EQ(s.qp->bounce->peer.ring, a.ring);
	a.ring_key = 0;
	EXPECT_EQ(bounce_connect(s.qp, &a), -EOPNOTSUPP);
	EXPECT_EQ(s.qp->bounce->peer.ring_key, s.qp->bounce->ring.key);
}
