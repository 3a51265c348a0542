// SPDX-License-Identifier: BSD-2-Clause
#include "rig/lib_set.h"

static struct fake_set s;
static struct fl_completion c[64];

/* The card says anything at all. */
static void cq_raw(uint32_t cq, uint32_t qpn, uint16_t index)
{
	fake_write_cqe(&fake.cq[cq], (struct fl_cqe){
		.wr_id = 77, .qpn = qpn, .index = index, .opcode = FL_OP_WRITE,
	});
}

static void cq_fill(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		EXPECT_EQ(fake_post(&s, 1000 + i, 0), 0);
		fake_complete(0, (uint16_t)(fake.qp[0].tail - 1), 0);
	}
}

TEST("a completion queue has room beyond what was asked for")
{
	fake_set_start(&s, 16, 4);
	EXPECT_EQ(fake.cq[0].entries, 32);
}

TEST("a completion queue is never wished larger than the card allows")
{
	struct fl_cq *cq;

	s.dev = fake_device();
	test_cleanup(fake_set_end, &s);
	EXPECT_EQ(fl_create_cq(s.dev, 1024, &cq), 0);
	EXPECT_EQ(fake.cq[0].entries, 1024);
	EXPECT_EQ(fl_create_cq(s.dev, 1025, &cq), -EINVAL);
	EXPECT_EQ(fl_create_cq(s.dev, 0, &cq), -EINVAL);
	EXPECT_EQ(fl_create_cq(NULL, 4, &cq), -EINVAL);
	EXPECT_EQ(fl_create_cq(s.dev, 4, NULL), -EINVAL);
	EXPECT_EQ(fl_destroy_cq(NULL), -EINVAL);
}

TEST("a completion queue that a queue pair uses is busy")
{
	fake_set_start(&s, 4, 4);
	EXPECT_EQ(fl_destroy_cq(s.cq), -EBUSY);
	EXPECT_EQ(fl_destroy_qp(s.qp), 0);
	fake.fail_cmd = FL_IOC_DESTROY_CQ;
	fake.fail_error = -ENODEV;
	EXPECT_EQ(fl_destroy_cq(s.cq), -ENODEV);
	fake.fail_cmd = 0;
	EXPECT_EQ(fl_poll(s.cq, c, 1), 0);
	EXPECT_EQ(fl_destroy_cq(s.cq), 0);
}

TEST("what a driver says of a queue is judged before it is believed")
{
	static const uint32_t entries[] = { 1, 3, 4, 24, 65536 };
	struct fl_cq *cq;
	unsigned int i;

	s.dev = fake_device();
	test_cleanup(fake_set_end, &s);
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		STEP("the driver says %u entries", entries[i]);
		fake.force_entries = entries[i];
		EXPECT_EQ(fl_create_cq(s.dev, 8, &cq), -EPROTO);
		EXPECT(!fake.cq[0].used);
	}
	fake.force_entries = 0;
	fake.force_map_bytes = 16 * sizeof(struct fl_cqe) - 1;
	EXPECT_EQ(fl_create_cq(s.dev, 8, &cq), -EPROTO);
	EXPECT(!fake.cq[0].used);
	fake.force_map_bytes = 0;
	fake.fail_cmd = FL_IOC_CREATE_CQ;
	fake.fail_error = -ENOSPC;
	EXPECT_EQ(fl_create_cq(s.dev, 8, &cq), -ENOSPC);
	fake.fail_cmd = 0;
	fake.mmap_error = -ENOMEM;
	EXPECT_EQ(fl_create_cq(s.dev, 8, &cq), -ENOMEM);
	EXPECT(!fake.cq[0].used);
}

TEST("fl_poll refuses what makes no sense")
{
	fake_set_start(&s, 4, 4);
	EXPECT_EQ(fl_poll(NULL, c, 1), -EINVAL);
	EXPECT_EQ(fl_poll(s.cq, NULL, 1), -EINVAL);
	EXPECT_EQ(fl_poll(s.cq, c, 0), -EINVAL);
	EXPECT_EQ(fl_poll(s.cq, c, -1), -EINVAL);
	EXPECT_EQ(fl_wait(NULL, c, 1, 0), -EINVAL);
	EXPECT_EQ(fl_wait(s.cq, c, 0, 0), -EINVAL);
	EXPECT_EQ(fake.waits, 0);
}

TEST("an empty poll lets the card work and makes no system call")
{
	unsigned int before;

	fake_set_start(&s, 4, 4);
	before = fake.ioctls;
	EXPECT_EQ(fl_poll(s.cq, c, 1), 0);
	EXPECT_EQ(fake.relaxes, 1);
	EXPECT_EQ(fake.spent[FL_SYS_POLL], 1);
	EXPECT_EQ(fake.ioctls, before);
	EXPECT_EQ(fake.doorbells_cons, 0);
}

TEST("a completion tells all that the card wrote")
{
	fake_set_start(&s, 4, 4);
	EXPECT_EQ(fake_post(&s, 0xabcdef0123456789, 0), 0);
	fake_complete(0, 0, FL_ST_OK);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 1);
	EXPECT(c[0].wr_id == 0xabcdef0123456789);
	EXPECT_EQ(c[0].status, 0);
	EXPECT_EQ(c[0].opcode, FL_WRITE);
	EXPECT_EQ(c[0].bytes, 16);
	EXPECT_EQ(c[0].qpn, 0);
	EXPECT_EQ(c[0].resends, 3);
	EXPECT_EQ(c[0].xfer, 1);
	EXPECT_EQ(fake.traced[FL_SYS_EV_COMPLETE], 1);
	EXPECT_EQ(fake.last_trace[FL_SYS_EV_COMPLETE][0], 1);
	EXPECT_EQ(fake.last_trace[FL_SYS_EV_COMPLETE][3], 16);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 0);
}

TEST("fl_poll takes no more than it may")
{
	fake_set_start(&s, 8, 8);
	cq_fill(5);
	EXPECT_EQ(fl_poll(s.cq, c, 2), 2);
	EXPECT_EQ(c[1].wr_id, 1001);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 3);
	EXPECT_EQ(c[2].wr_id, 1004);
}

TEST("the phase tells new entries from old ones lap after lap")
{
	unsigned int i;

	fake_set_start(&s, 2, 2);
	EXPECT_EQ(fake.cq[0].entries, 4);
	for (i = 0; i < 70000; i++) {
		EXPECT_EQ(fake_post(&s, i, 0), 0);
		EXPECT_EQ(fl_poll(s.cq, c, 2), 0);
		fake_complete(0, (uint16_t)i, 0);
		EXPECT_EQ(fl_poll(s.cq, c, 2), 1);
		EXPECT_EQ(c[0].wr_id, i);
	}
	EXPECT(!fake.cq[0].broken);
}

TEST("the card hears of taken entries at least each quarter of the queue")
{
	unsigned int i;

	fake_set_start(&s, 16, 16);
	for (i = 0; i < 1000; i++) {
		cq_fill(1);
		EXPECT_EQ(fl_poll(s.cq, c, 1), 1);
		EXPECT_LE((uint16_t)(i + 1 - fake.cq[0].cons), 8);
	}
	EXPECT_EQ(fake.doorbells_cons, 1000 / 8);
}

TEST("as many completions as were asked for always fit")
{
	unsigned int i, k, n;

	for (n = 2; n <= 64; n += 7) {
		STEP("a queue for %u completions", n);
		fake_set_start(&s, n, n);
		for (k = 0; k < 100; k++) {
			cq_fill(n);
			EXPECT(!fake.cq[0].broken);
			for (i = 0; i < n; i++)
				EXPECT_EQ(fl_poll(s.cq, c, 1), 1);
			cq_fill(k % n);
			for (i = 0; i < k % n; i++)
				EXPECT_EQ(fl_poll(s.cq, c, 1), 1);
		}
		fake_set_end(&s);
		fake_free_queues(NULL);
	}
}

TEST("a queue that overflowed gives what it has and then -EIO for good")
{
	unsigned int i, e;

	fake_set_start(&s, 4, 64);
	e = fake.cq[0].entries;
	cq_fill(e + 1);
	EXPECT(fake.cq[0].broken);
	for (i = 0; i < e; i++)
		EXPECT_EQ(fl_poll(s.cq, c, 1), 1);
	EXPECT_EQ(fl_poll(s.cq, c, 1), -EIO);
	EXPECT_EQ(fl_poll(s.cq, c, 1), -EIO);
	EXPECT_EQ(fl_wait(s.cq, c, 1, 0), -EIO);
	EXPECT_EQ(fake.waits, 1);
}

TEST("an overflow that the driver hears of late is still reported")
{
	unsigned int i, e;

	fake_set_start(&s, 4, 64);
	e = fake.cq[0].entries;
	cq_fill(e + 1);
	fake.cq[0].broken = false;	/* its interrupt is still to come */
	EXPECT_EQ(fl_poll(s.cq, c, 64), e);
	EXPECT_EQ(fl_poll(s.cq, c, 1), 0);
	fake.cq[0].broken = true;
	for (i = 0; i < 64 && !fl_poll(s.cq, c, 1); i++)
		;
	EXPECT_EQ(fl_poll(s.cq, c, 1), -EIO);
	EXPECT_LE(fake.waits, 2);
}

TEST("who only polls is told of a card that was taken away")
{
	unsigned int i;

	fake_set_start(&s, 4, 64);
	STEP("the driver is seldom asked, and its answer alone counts");
	fake.wait_result = -ETIMEDOUT;
	for (i = 0; i < 200000; i++)
		EXPECT_EQ(fl_poll(s.cq, c, 1), 0);
	EXPECT_GE(fake.waits, 1);
	EXPECT_LE(fake.waits, 4);
	fake.fail_cmd = FL_IOC_WAIT_CQ;
	fake.fail_error = -ENODEV;
	for (i = 0; i < 100000 && !fl_poll(s.cq, c, 1); i++)
		;
	EXPECT_EQ(fl_poll(s.cq, c, 1), -ENODEV);
	EXPECT_EQ(fl_wait(s.cq, c, 1, 0), -ENODEV);
	fake.fail_cmd = 0;
}

TEST("a queue that was just full goes on and is asked about no more")
{
	unsigned int e;

	fake_set_start(&s, 4, 64);
	e = fake.cq[0].entries;
	cq_fill(e);
	EXPECT_EQ(fl_poll(s.cq, c, 64), e);
	EXPECT_EQ(fl_poll(s.cq, c, 64), 0);
	EXPECT_EQ(fake.waits, 1);
	while (fake.relaxes < 128)
		EXPECT_EQ(fl_poll(s.cq, c, 64), 0);
	EXPECT_EQ(fake.waits, 2);
	cq_fill(1);
	EXPECT_EQ(fl_poll(s.cq, c, 64), 1);
	fake.waits = 0;
	while (fake.relaxes < 300)
		EXPECT_EQ(fl_poll(s.cq, c, 64), 0);
	EXPECT_EQ(fake.waits, 0);
}

TEST("an entry that was overwritten is -EIO")
{
	fake_set_start(&s, 4, 4);
	cq_fill(1);
	fake.cq[0].queue[0].phase = 2;
	EXPECT_EQ(fl_poll(s.cq, c, 1), -EIO);
	fake.cq[0].queue[0].phase = 0;
	EXPECT_EQ(fl_poll(s.cq, c, 1), -EIO);
}

TEST("a completion of no queue pair of ours is skipped, the next delivered")
{
	fake_set_start(&s, 8, 8);
	cq_raw(0, 12, 0);
	cq_raw(0, 0xffffffff, 0);
	cq_fill(1);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 1);
	EXPECT_EQ(c[0].wr_id, 1000);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 0);
}

TEST("a card that writes foreign completions for ever does not hold a poll")
{
	unsigned int i;

	fake_set_start(&s, 8, 8);
	for (i = 0; i < fake.cq[0].entries; i++)
		cq_raw(0, 12, 0);
	fake.flood = true;
	EXPECT_EQ(fl_poll(s.cq, c, 8), 0);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 0);
	fake.flood = false;
	EXPECT_EQ(fl_poll(s.cq, c, 8), 0);
	cq_fill(1);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 1);
}

TEST("a completion of a request that was never posted is -EIO")
{
	fake_set_start(&s, 8, 8);
	cq_raw(0, 0, 0);
	EXPECT_EQ(fl_poll(s.cq, c, 8), -EIO);
	EXPECT_EQ(fl_poll(s.cq, c, 8), -EIO);
}

TEST("a completion that comes twice is -EIO after the good ones")
{
	fake_set_start(&s, 8, 8);
	cq_fill(2);
	cq_raw(0, 0, 1);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 2);
	EXPECT_EQ(fl_poll(s.cq, c, 8), -EIO);
}

TEST("a completion ahead of what was posted is -EIO")
{
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	cq_raw(0, 0, 1);
	EXPECT_EQ(fl_poll(s.cq, c, 8), -EIO);
}

TEST("completions of a queue pair that is gone are not delivered")
{
	fake_set_start(&s, 8, 8);
	cq_fill(3);
	EXPECT_EQ(fl_destroy_qp(s.qp), 0);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 0);
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &s.qp), 0);
	cq_fill(1);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 1);
}

TEST("a queue pair that gets a used number does not get its completions")
{
	fake_set_start(&s, 8, 8);
	cq_fill(3);
	EXPECT_EQ(fl_destroy_qp(s.qp), 0);
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &s.qp), 0);
	EXPECT_EQ(fake_post(&s, 5, 0), 0);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 0);
	fake_complete(0, 0, 0);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 1);
	EXPECT_EQ(c[0].wr_id, 5);
}

TEST("queue pairs whose numbers meet in one bucket are kept apart")
{
	struct fl_completion got[2];
	struct fl_qp *a, *b;
	struct fl_address at;

	fake_set_start(&s, 8, 8);
	fake.extra_qpn = 64;
	EXPECT_EQ(fl_destroy_qp(s.qp), -ENOENT);
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &a), 0);
	fake.extra_qpn = 127;
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &b), 0);
	EXPECT_EQ(fl_qp_address(b, &at), 0);
	EXPECT_EQ(at.qpn, 129);
	EXPECT_EQ(fl_qp_address(a, &at), 0);
	EXPECT_EQ(at.qpn, 65);
	s.qp = b;
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	s.qp = a;
	fake.extra_qpn = 64;
	EXPECT_EQ(fake_post(&s, 2, 0), 0);
	cq_raw(0, 65, 0);
	cq_raw(0, 129, 0);
	EXPECT_EQ(fl_poll(s.cq, got, 2), 2);
	EXPECT_EQ(got[0].qpn, 65);
	EXPECT_EQ(got[1].qpn, 129);
	EXPECT_EQ(fl_destroy_qp(a), 0);
	fake.extra_qpn = 127;
	EXPECT_EQ(fl_destroy_qp(b), 0);
	fake.extra_qpn = 0;
}

TEST("fl_wait takes what is there without sleeping")
{
	fake_set_start(&s, 8, 8);
	cq_fill(2);
	EXPECT_EQ(fl_wait(s.cq, c, 8, 0), 2);
	EXPECT_EQ(fake.waits, 0);
	EXPECT_EQ(fake.arms, 0);
}

static void complete_one(void)
{
	fake_complete(0, 0, 0);
}

TEST("fl_wait arms the queue, sleeps, and takes what woke it")
{
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fake_post(&s, 9, 0), 0);
	fake.on_wait = complete_one;
	EXPECT_EQ(fl_wait(s.cq, c, 8, 0), 1);
	EXPECT_EQ(c[0].wr_id, 9);
	EXPECT_EQ(fake.arms, 1);
	EXPECT_EQ(fake.waits, 1);
	EXPECT_EQ(fake.last_wait_ns, 0);
}

/* The look that asks is the n-th from now; a loss is suspected, or it is not. */
static void ask_in(struct fl_cq *cq, unsigned int n, uint64_t suspect)
{
	cq->suspect = suspect;
	cq->empty_polls = 65536 - n;
}

TEST("a look that asks the driver never takes the event that fl_wait armed")
{
	unsigned int n, suspect;

	for (suspect = 0; suspect < 2; suspect++)
		for (n = 0; n < 4; n++) {
			STEP("look %u asks, %s", n,
			     suspect ? "a loss is suspected" : "as now and then");
			fake_set_start(&s, 8, 8);
			EXPECT_EQ(fake_post(&s, 9, 0), 0);
			ask_in(s.cq, n, suspect ? 1000 : 0);
			/* It comes in the first wait, question or sleep. */
			fake.on_wait = complete_one;
			EXPECT_EQ(fl_wait(s.cq, c, 8, 0), 1);
			fake_set_end(&s);
			fake_free_queues(NULL);
		}
}

TEST("arming tells the card how many entries were taken")
{
	fake_set_start(&s, 8, 8);
	cq_fill(1);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 1);
	EXPECT_EQ(fake.cq[0].cons, 0);
	EXPECT_EQ(fl_wait(s.cq, c, 8, 5), -ETIMEDOUT);
	EXPECT_EQ(fake.cq[0].cons, 1);
}

TEST("fl_wait gives up after its time")
{
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fl_wait(s.cq, c, 8, 5000), -ETIMEDOUT);
	EXPECT_EQ(fake.last_wait_ns, 5000);
}

TEST("a completion that comes with the time-out is delivered")
{
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fake_post(&s, 9, 0), 0);
	fake.on_wait = complete_one;
	fake.fail_error = -ETIMEDOUT;
	fake.wait_result = -ETIMEDOUT;
	EXPECT_EQ(fl_wait(s.cq, c, 8, 5000), 1);
}

static void pass_time(void)
{
	fake.now_ns += 1000;
	if (fake.waits < 3)
		fake.cq[0].event = true;	/* for nothing */
}

TEST("waking for nothing makes fl_wait sleep again for what is left")
{
	fake_set_start(&s, 8, 8);
	fake.on_wait = pass_time;
	EXPECT_EQ(fl_wait(s.cq, c, 8, 10000), -ETIMEDOUT);
	EXPECT_EQ(fake.waits, 3);
	EXPECT_EQ(fake.arms, 3);
	EXPECT_EQ(fake.last_wait_ns, 8000);
}

static void wake_for_nothing(void)
{
	fake.now_ns += 1000;
	fake.cq[0].event = true;
}

TEST("waking for nothing does not keep fl_wait beyond its time")
{
	fake_set_start(&s, 8, 8);
	fake.on_wait = wake_for_nothing;
	EXPECT_EQ(fl_wait(s.cq, c, 8, 10000), -ETIMEDOUT);
	EXPECT_EQ(fake.waits, 10);
}

TEST("fl_wait hands on a signal and a device that is gone")
{
	fake_set_start(&s, 8, 8);
	fake.wait_result = -EINTR;
	EXPECT_EQ(fl_wait(s.cq, c, 8, 0), -EINTR);
	fake.wait_result = -ENODEV;
	EXPECT_EQ(fl_wait(s.cq, c, 8, 0), -ENODEV);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 0);
}

static void break_queue(void)
{
	fake.cq[0].broken = true;
}

TEST("an overflow during the sleep ends it with -EIO")
{
	fake_set_start(&s, 8, 8);
	fake.on_wait = break_queue;
	EXPECT_EQ(fl_wait(s.cq, c, 8, 0), -EIO);
	EXPECT_EQ(fl_poll(s.cq, c, 8), -EIO);
}

TEST("a table with only the calls that must be there is enough")
{
	fake_start();
	fl_sys_set(fake_bare());
	EXPECT_EQ(fl_open("fake", &s.dev), 0);
	test_cleanup(fake_set_end, &s);
	EXPECT_EQ(fl_alloc_pd(s.dev, &s.pd), 0);
	EXPECT_EQ(fl_create_cq(s.dev, 4, &s.cq), 0);
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 4, &s.qp), 0);
	EXPECT_EQ(fl_reg_mr(s.pd, s.buffer, 256, 0, &s.mr), 0);
	cq_fill(1);
	EXPECT_EQ(fl_wait(s.cq, c, 4, 7), 1);
	/* Node 5, queue pair 0, first entry. */
	EXPECT_EQ(c[0].xfer, 0x05000001);
	EXPECT_EQ(fl_wait(s.cq, c, 4, 7), -ETIMEDOUT);
	EXPECT_EQ(fake.relaxes, 0);
	EXPECT_EQ(fake.traced[0], 0);
}
