// SPDX-License-Identifier: BSD-2-Clause
/* variants: tsan */
#include <pthread.h>
#include <sched.h>

#include "rig/lib_set.h"

static struct fake_set s;
static struct fl_completion c[64];

TEST("a queue pair knows its address and connects to that of a peer")
{
	struct fl_address a, peer = { .node = 6, .qpn = 0xabcdef };

	fake.extra_qpn = 0;
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fl_qp_address(s.qp, &a), 0);
	EXPECT_EQ(a.node, 5);
	EXPECT_EQ(a.qpn, 0);
	EXPECT_EQ(fl_connect(s.qp, &peer), 0);
	EXPECT_EQ(fake.connect.qp, 0);
	EXPECT_EQ(fake.connect.node, 6);
	EXPECT_EQ(fake.connect.peer_qp, 0xabcdef);
	fake.fail_cmd = FL_IOC_CONNECT_QP;
	fake.fail_error = -EISCONN;
	EXPECT_EQ(fl_connect(s.qp, &peer), -EISCONN);
	fake.fail_error = -EHOSTUNREACH;
	EXPECT_EQ(fl_connect(s.qp, &peer), -EHOSTUNREACH);
	STEP("it is resumed by its number, and errors come through");
	EXPECT_EQ(fl_resume(s.qp), 0);
	EXPECT_EQ(fake.resumed, 1);
	fake.fail_cmd = FL_IOC_RESUME_QP;
	fake.fail_error = -EBUSY;
	EXPECT_EQ(fl_resume(s.qp), -EBUSY);
	fake.fail_error = -EINVAL;
	EXPECT_EQ(fl_resume(s.qp), -EINVAL);
}

TEST("calls on a queue pair refuse what makes no sense")
{
	struct fl_address a = { 0 };
	struct fl_device *other;
	struct fl_cq *far;
	struct fl_qp *qp;

	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fl_create_qp(NULL, s.cq, 8, &qp), -EINVAL);
	EXPECT_EQ(fl_create_qp(s.pd, NULL, 8, &qp), -EINVAL);
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, NULL), -EINVAL);
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 0, &qp), -EINVAL);
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 1025, &qp), -EINVAL);
	EXPECT_EQ(fl_destroy_qp(NULL), -EINVAL);
	EXPECT_EQ(fl_qp_address(NULL, &a), -EINVAL);
	EXPECT_EQ(fl_qp_address(s.qp, NULL), -EINVAL);
	EXPECT_EQ(fl_resume(NULL), -EINVAL);
	EXPECT_EQ(fl_connect(NULL, &a), -EINVAL);
	EXPECT_EQ(fl_connect(s.qp, NULL), -EINVAL);
	STEP("a completion queue of another device");
	EXPECT_EQ(fl_open("fake", &other), 0);
	test_cleanup(fake_close_device, other);
	EXPECT_EQ(fl_create_cq(other, 8, &far), 0);
	EXPECT_EQ(fl_create_qp(s.pd, far, 8, &qp), -EINVAL);
}

TEST("a queue pair that cannot be made leaves nothing behind")
{
	struct fl_qp *qp;

	fake_set_start(&s, 8, 8);
	fake.fail_cmd = FL_IOC_CREATE_QP;
	fake.fail_error = -ENOSPC;
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &qp), -ENOSPC);
	fake.fail_cmd = 0;
	fake.mmap_error = -ENOMEM;
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &qp), -ENOMEM);
	EXPECT(!fake.qp[1].used);
	fake.mmap_error = 0;
	STEP("a number that no peer could name");
	fake.extra_qpn = 0x1000000;
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &qp), -EPROTO);
	EXPECT(!fake.qp[1].used);
	fake.extra_qpn = 0;
	STEP("a queue that is shorter than it says");
	fake.force_map_bytes = 8 * sizeof(struct fl_wqe) - 1;
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 8, &qp), -EPROTO);
	EXPECT(!fake.qp[1].used);
	fake.force_map_bytes = 0;
	EXPECT_EQ(fl_destroy_qp(s.qp), 0);
	EXPECT_EQ(fl_destroy_cq(s.cq), 0);
}

TEST("a queue pair that the driver will not end stays usable")
{
	fake_set_start(&s, 8, 8);
	fake.fail_cmd = FL_IOC_DESTROY_QP;
	fake.fail_error = -EBUSY;
	EXPECT_EQ(fl_destroy_qp(s.qp), -EBUSY);
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	fake_complete(0, 0, 0);
	EXPECT_EQ(fl_poll(s.cq, c, 1), 1);
	fake.fail_cmd = 0;
	EXPECT_EQ(fl_destroy_qp(s.qp), 0);
}

TEST("the entry is as the contract says before the doorbell rings")
{
	struct fl_wqe want = {
		.opcode = FL_OP_READ, .flags = 0, .index = 1, .length = 5,
		.remote_va = 0xfedcba9876543210, .lkey = 0x11111111,
		.rkey = 0x22222222, .wr_id = 0x3333333344444444, .xfer = 2,
	};
	struct fl_work w = {
		.wr_id = 0x3333333344444444, .opcode = FL_READ, .bytes = 5,
		.lkey = 0x11111111, .rkey = 0x22222222,
		.remote = 0xfedcba9876543210, .unsignaled = 1,
	};
	unsigned int before;

	fake_set_start(&s, 8, 8);
	before = fake.ioctls;
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	EXPECT_EQ(fake.qp[0].queue[0].flags, FL_WQE_SIGNALED);
	w.local = s.buffer + 3;
	want.local_va = (uintptr_t)(s.buffer + 3);
	EXPECT_EQ(fl_post(s.qp, &w), 0);
	EXPECT_MEM(&fake.qp[0].queue[1], &want, sizeof(want));
	EXPECT_EQ(fake.qp[0].tail, 2);
	EXPECT_EQ(fake.doorbells_sq, 2);
	EXPECT_EQ(fake.ioctls, before);
}

TEST("a post is traced with its transfer and costs time once")
{
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	EXPECT_EQ(fake_post(&s, 1, 0), 0);
	EXPECT_EQ(fake.spent[FL_SYS_POST], 2);
	EXPECT_EQ(fake.traced[FL_SYS_EV_POST], 2);
	EXPECT_EQ(fake.traced[FL_SYS_EV_DOORBELL], 2);
	EXPECT_EQ(fake.last_trace[FL_SYS_EV_POST][0], 2);
	EXPECT_EQ(fake.last_trace[FL_SYS_EV_POST][2], FL_OP_WRITE);
	EXPECT_EQ(fake.last_trace[FL_SYS_EV_POST][3], (uintptr_t)s.buffer);
	EXPECT_EQ(fake.last_trace[FL_SYS_EV_POST][4], 16);
	EXPECT_EQ(fake.last_trace[FL_SYS_EV_DOORBELL][2], 1);
}

TEST("work that makes no sense is refused and leaves no entry")
{
	struct fl_work good = { .opcode = FL_WRITE, .bytes = 16 }, w;

	fake_set_start(&s, 8, 8);
	good.local = s.buffer;
	EXPECT_EQ(fl_post(NULL, &good), -EINVAL);
	EXPECT_EQ(fl_post(s.qp, NULL), -EINVAL);
	w = good;
	w.bytes = 0;
	EXPECT_EQ(fl_post(s.qp, &w), -EINVAL);
	w = good;
	w.opcode = (enum fl_opcode)0;
	EXPECT_EQ(fl_post(s.qp, &w), -EINVAL);
	w.opcode = (enum fl_opcode)3;
	EXPECT_EQ(fl_post(s.qp, &w), -EINVAL);
	w.opcode = (enum fl_opcode)257;
	EXPECT_EQ(fl_post(s.qp, &w), -EINVAL);
	w = good;
	w.remote = UINT64_MAX - 14;
	EXPECT_EQ(fl_post(s.qp, &w), -EINVAL);
	w = good;
	w.local = (void *)(UINTPTR_MAX - 14);
	EXPECT_EQ(fl_post(s.qp, &w), -EINVAL);
	EXPECT_EQ(fl_post_write(s.qp, 1, NULL, s.buffer, 1, 0, 0), -EINVAL);
	EXPECT_EQ(fl_post_read(s.qp, 1, NULL, s.buffer, 1, 0, 0), -EINVAL);
	EXPECT_EQ(fl_post_write(s.qp, 1, s.mr, s.buffer, 0, 0, 0), -EINVAL);
	EXPECT_EQ(fake.doorbells_sq, 0);
	EXPECT_EQ(fake.xfer, 0);
	STEP("the last bytes of the address space are in order");
	w = good;
	w.remote = UINT64_MAX - 15;
	EXPECT_EQ(fl_post(s.qp, &w), 0);
}

TEST("fl_post_write and fl_post_read fill in the region's key")
{
	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fl_post_write(s.qp, 1, s.mr, s.buffer, 7, 0x1000, 9), 0);
	EXPECT_EQ(fl_post_read(s.qp, 2, s.mr, s.buffer, 8, 0x2000, 10), 0);
	EXPECT_EQ(fake.qp[0].queue[0].opcode, FL_OP_WRITE);
	EXPECT_EQ(fake.qp[0].queue[0].lkey, 0x100);
	EXPECT_EQ(fake.qp[0].queue[0].rkey, 9);
	EXPECT_EQ(fake.qp[0].queue[0].flags, FL_WQE_SIGNALED);
	EXPECT_EQ(fake.qp[0].queue[1].opcode, FL_OP_READ);
	EXPECT_EQ(fake.qp[0].queue[1].length, 8);
	EXPECT_EQ(fake.qp[0].queue[1].remote_va, 0x2000);
}

TEST("a full queue is -EAGAIN until a completion was polled")
{
	unsigned int i;

	fake_set_start(&s, 8, 4);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(fake_post(&s, i, 0), 0);
	EXPECT_EQ(fake_post(&s, 4, 0), -EAGAIN);
	EXPECT_EQ(fake.xfer, 4);
	fake_complete(0, 0, 0);
	EXPECT_EQ(fake_post(&s, 4, 0), -EAGAIN);
	EXPECT_EQ(fl_poll(s.cq, c, 1), 1);
	EXPECT_EQ(fake_post(&s, 4, 0), 0);
	EXPECT_EQ(fake_post(&s, 5, 0), -EAGAIN);
	EXPECT_EQ(fake.doorbells_sq, 5);
}

TEST("an unsignaled request gives its place back with a later signaled one")
{
	fake_set_start(&s, 8, 4);
	EXPECT_EQ(fake_post(&s, 0, 1), 0);
	EXPECT_EQ(fake_post(&s, 1, 1), 0);
	EXPECT_EQ(fake_post(&s, 2, 0), 0);
	EXPECT_EQ(fake_post(&s, 3, 1), 0);
	EXPECT_EQ(fake_post(&s, 4, 1), -EAGAIN);
	fake_complete(0, 2, 0);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 1);
	EXPECT_EQ(c[0].wr_id, 2);
	EXPECT_EQ(fake_post(&s, 4, 1), 0);
	EXPECT_EQ(fake_post(&s, 5, 1), 0);
	EXPECT_EQ(fake_post(&s, 6, 0), 0);
	EXPECT_EQ(fake_post(&s, 7, 0), -EAGAIN);
	STEP("an unsignaled request that failed counts too");
	fake_complete(0, 3, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(fl_poll(s.cq, c, 8), 1);
	EXPECT_EQ(c[0].wr_id, 3);
	EXPECT_EQ(c[0].status, FL_ST_REMOTE_ACCESS);
	EXPECT_EQ(fake_post(&s, 7, 0), 0);
	EXPECT_EQ(fake_post(&s, 8, 0), -EAGAIN);
}

TEST("the send queue wraps and its 16-bit counts wrap too")
{
	unsigned int i;

	fake_set_start(&s, 4, 4);
	fake.automatic = true;
	for (i = 0; i < 140000; i++) {
		EXPECT_EQ(fake_post(&s, i, i % 3 != 2), 0);
		if (i % 3 != 2)
			continue;
		EXPECT_EQ(fl_poll(s.cq, c, 4), 1);
		EXPECT_EQ(c[0].wr_id, i);
	}
}

TEST("a queue of the greatest length is accounted to the last entry")
{
	unsigned int i;

	fake_start();
	fake.max_queue = 32768;
	EXPECT_EQ(fl_open("fake", &s.dev), 0);
	test_cleanup(fake_set_end, &s);
	EXPECT_EQ(fl_alloc_pd(s.dev, &s.pd), 0);
	EXPECT_EQ(fl_create_cq(s.dev, 32768, &s.cq), 0);
	EXPECT_EQ(fl_create_qp(s.pd, s.cq, 32768, &s.qp), 0);
	EXPECT_EQ(fl_reg_mr(s.pd, s.buffer, 256, 0, &s.mr), 0);
	for (i = 0; i < 32768; i++)
		EXPECT_EQ(fake_post(&s, i, 1), 0);
	EXPECT_EQ(fake_post(&s, i, 1), -EAGAIN);
	fake_complete(0, 32767, 0);
	EXPECT_EQ(fl_poll(s.cq, c, 4), 1);
	for (i = 0; i < 32768; i++)
		EXPECT_EQ(fake_post(&s, i, 0), 0);
	EXPECT_EQ(fake_post(&s, i, 0), -EAGAIN);
	for (i = 0; i < 32768; i++)
		fake_complete(0, (uint16_t)(32768 + i), 0);
	EXPECT(!fake.cq[0].broken);
	for (i = 0; i < 32768; i++) {
		EXPECT_EQ(fl_poll(s.cq, c, 1), 1);
		EXPECT_EQ(c[0].wr_id, i);
	}
}

TEST("lib_post_entry puts in the queue what fl_post would refuse")
{
	struct fl_wqe bad = { .opcode = 99, .flags = 0x80, .imm = 1 };

	fake_set_start(&s, 4, 2);
	EXPECT_EQ(lib_post_entry(s.qp, &bad), 0);
	EXPECT_MEM(&fake.qp[0].queue[0], &bad, sizeof(bad));
	EXPECT_EQ(lib_post_entry(s.qp, &bad), 0);
	EXPECT_EQ(lib_post_entry(s.qp, &bad), -EAGAIN);
}

#define MANY 200000u

static void *poll_all(void *arg)
{
	struct fl_completion got[8];
	uint64_t next = 0;
	int i, n;

	while (next < MANY) {
		n = fl_poll(s.cq, got, 8);
		for (i = 0; i < n; i++)
			if (got[i].wr_id != next++)
				return NULL;
		if (n < 0)
			return NULL;
		if (!n)
			sched_yield();
	}
	*(bool *)arg = true;
	return NULL;
}

TEST("one thread posts while another polls and nothing is lost or doubled")
{
	bool good = false;
	unsigned int i;
	pthread_t t;

	fake_set_start(&s, 16, 16);
	fake.automatic = true;
	EXPECT_EQ(pthread_create(&t, NULL, poll_all, &good), 0);
	for (i = 0; i < MANY;) {
		int r = fake_post(&s, i, 0);

		if (!r)
			i++;
		else if (r == -EAGAIN)
			sched_yield();
		else
			break;
	}
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(i, MANY);
	EXPECT(good);
	EXPECT(!fake.cq[0].broken);
}

TEST("a card that is gone: posts and empty polls say so")
{
	static struct fake_set s;
	struct fl_completion c;

	fake_set_start(&s, 8, 8);
	EXPECT_EQ(fl_poll(s.cq, &c, 1), 0);
	fake.gone = -ENODEV;
	EXPECT_EQ(fake_post(&s, 1, 0), -ENODEV);
	EXPECT_EQ(fl_poll(s.cq, &c, 1), -ENODEV);
}
