// SPDX-License-Identifier: BSD-2-Clause
/* Datagrams through the library: two queue pairs of one process, and what each call refuses. */
#include <string.h>

#include "lib_internal.h"
#include "test_driver_rig.h"

static struct ud_bench {
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_mr *mr;
	struct fl_qp *qp[2];
	uint8_t *mem;
} b;

static void bench_open(enum fl_system system)
{
	struct fl_qp_init init = { .type = FL_QPT_UD, .entries = 8, .recv_entries = 8,
				   .segments = 3, .inline_bytes = 96 };
	int i;

	EXPECT_EQ(fl_open("emu:a", &b.dev), 0);
	EXPECT_EQ(fl_set_policy(b.dev, system, FL_RESOLVE_PAGE), 0);
	EXPECT_EQ(fl_alloc_pd(b.dev, &b.pd), 0);
	EXPECT_EQ(fl_create_cq(b.dev, 64, &b.cq), 0);
	b.mem = fl_alloc(b.dev, 65536);
	EXPECT_EQ(fl_reg_mr(b.pd, b.mem, 65536, FL_LOCAL_WRITE, &b.mr), 0);
	init.send_cq = b.cq;
	for (i = 0; i < 2; i++)
		EXPECT_EQ(fl_create_qp_ex(b.pd, &init, &b.qp[i]), 0);
}

static int bench_modify(struct fl_qp *qp, struct fl_qp_attr a, unsigned int mask)
{
	return fl_modify_qp(qp, &a, mask | FL_ATTR_STATE);
}

static void bench_join(int i, uint32_t qkey)
{
	struct fl_address peer;

	EXPECT_EQ(fl_qp_address(b.qp[!i], &peer), 0);
	EXPECT_EQ(bench_modify(b.qp[i], (struct fl_qp_attr){ .state = FL_INIT, .qkey = qkey },
			       FL_ATTR_QKEY), 0);
	EXPECT_EQ(bench_modify(b.qp[i], (struct fl_qp_attr){
		.state = FL_RTR, .mtu = 2048, .node = peer.node, .peer_qp = peer.qpn },
			       FL_ATTR_PEER | FL_ATTR_MTU), 0);
	EXPECT_EQ(bench_modify(b.qp[i], (struct fl_qp_attr){ .state = FL_RTS },
			       FL_ATTR_SQ_PSN), 0);
}

static int receive_post(int i, uint32_t at, uint32_t bytes, uint64_t id)
{
	const struct fl_segment s = { b.mem + at, bytes, fl_mr_key(b.mr) };
	const struct fl_receive r = { .wr_id = id, .list = &s, .segments = 1 };

	return fl_post_recv(b.qp[i], &r);
}

/* The next completion with an opcode of a receive; requests are good. */
static struct fl_completion receive_wait(void)
{
	struct fl_completion c;

	do {
		EXPECT_EQ(fl_wait(b.cq, &c, 1, TEST_PATIENCE_NS), 1);
		EXPECT_EQ(c.status, 0);
	} while (c.opcode == FL_SEND);
	return c;
}

static void message_body(struct rig *r)
{
	const struct fl_segment list[2] = { { NULL, 1000, 0 }, { NULL, 500, 0 } };
	struct fl_segment s[2] = { list[0], list[1] };
	struct fl_work w = { .opcode = FL_SEND, .list = s, .segments = 2, .wr_id = 5 };
	struct fl_completion c;
	struct fl_address me;

	(void)r;
	bench_open(FL_SYSTEM_BACKUP);
	bench_join(0, 77);
	bench_join(1, 77);
	memset(b.mem, 1, 1000);
	memset(b.mem + 8192, 2, 500);
	s[0].addr = b.mem;
	s[1].addr = b.mem + 8192;
	s[0].key = s[1].key = fl_mr_key(b.mr);
	EXPECT_EQ(receive_post(1, 20000, 2048, 9), 0);
	EXPECT_EQ(fl_post(b.qp[0], &w), 0);
	c = receive_wait();
	EXPECT_EQ(fl_qp_address(b.qp[0], &me), 0);
	EXPECT_EQ(c.opcode, FL_RECV);
	EXPECT_EQ(c.wr_id, 9);
	EXPECT_EQ(c.bytes, 1500);
	EXPECT_EQ(c.src_qp, me.qpn);
	EXPECT_NE(c.xfer, me.qpn);
	EXPECT(b.mem[20000] == 1 && b.mem[20999] == 1 && b.mem[21000] == 2 &&
	       b.mem[21499] == 2 && b.mem[21500] == 0);
	STEP("inline, with a number, before its receive");
	w = (struct fl_work){ .opcode = FL_SEND, .local = "hello", .bytes = 5, .inlined = 1,
			      .with_imm = 1, .imm = 0xABCDEF };
	EXPECT_EQ(fl_post(b.qp[0], &w), 0);
	sim_sleep(1000000);
	EXPECT_EQ(receive_post(1, 40000, 5, 10), 0);
	c = receive_wait();
	EXPECT_EQ(c.opcode, FL_RECV_IMM);
	EXPECT_EQ(c.imm, 0xABCDEF);
	EXPECT_EQ(c.wr_id, 10);
	EXPECT(!memcmp(b.mem + 40000, "hello", 5));
	STEP("another key: it is lost, and the sender does not know");
	EXPECT_EQ(bench_modify(b.qp[0], (struct fl_qp_attr){ .state = FL_RTS, .qkey = 78 },
			       FL_ATTR_QKEY), 0);
	EXPECT_EQ(receive_post(1, 40000, 5, 11), 0);
	EXPECT_EQ(fl_post(b.qp[0], &w), 0);
	EXPECT_EQ(fl_wait(b.cq, &c, 1, TEST_PATIENCE_NS), 1);
	EXPECT_EQ(c.opcode, FL_SEND);
	EXPECT_EQ(c.status, 0);
	EXPECT_EQ(fl_wait(b.cq, &c, 1, 1000000), -ETIMEDOUT);
	EXPECT_EQ(fl_close(b.dev), 0);
}

TEST("a datagram says who sent it, may come before its receive, and must have the key")
{
	rig_run(message_body);
}

static void refused_body(struct rig *r)
{
	struct fl_qp_init init = { .type = FL_QPT_UD, .entries = 4 };
	struct fl_work w = { .opcode = FL_WRITE, .bytes = 8 };
	struct fl_srq *srq;
	struct fl_qp *qp;

	(void)r;
	bench_open(FL_SYSTEM_DROPRING);
	STEP("queue pairs of what this system does not have");
	init.send_cq = b.cq;
	init.type = FL_QPT_RC;
	EXPECT_EQ(fl_create_qp_ex(b.pd, &init, &qp), -EOPNOTSUPP);
	init.type = FL_QPT_BLOCK;
	EXPECT_EQ(fl_create_qp_ex(b.pd, &init, &qp), -EOPNOTSUPP);
	init.type = (enum fl_qp_type)3;
	EXPECT_EQ(fl_create_qp_ex(b.pd, &init, &qp), -EINVAL);
	EXPECT_EQ(fl_create_qp_relaxed(b.pd, b.cq, 4, &qp), -EOPNOTSUPP);
	EXPECT_EQ(fl_create_srq(b.pd, 8, &srq), 0);
	init.type = FL_QPT_UD;
	init.srq = srq;
	EXPECT_EQ(fl_create_qp_ex(b.pd, &init, &qp), -EINVAL);
	STEP("the plain call makes what the system has");
	EXPECT_EQ(fl_create_qp(b.pd, b.cq, 4, &qp), 0);
	EXPECT(qp->ud);
	STEP("states and attributes");
	EXPECT_EQ(bench_modify(b.qp[0], (struct fl_qp_attr){ .state = FL_INIT }, 0), -EINVAL);
	EXPECT_EQ(bench_modify(b.qp[0], (struct fl_qp_attr){ .state = FL_INIT },
			       FL_ATTR_QKEY << 1), -EINVAL);
	bench_join(0, 1);
	EXPECT_EQ(bench_modify(b.qp[0], (struct fl_qp_attr){ .state = FL_RTS, .rnr_code = 1 },
			       FL_ATTR_RNR_CODE), -EINVAL);
	STEP("work: SEND alone, of one packet");
	w.local = b.mem;
	w.lkey = fl_mr_key(b.mr);
	EXPECT_EQ(fl_post(b.qp[0], &w), -EINVAL);
	w.opcode = FL_READ;
	EXPECT_EQ(fl_post(b.qp[0], &w), -EINVAL);
	w.opcode = FL_SEND;
	w.bytes = 2049;
	EXPECT_EQ(fl_post(b.qp[0], &w), -EINVAL);
	w.bytes = 2048;
	EXPECT_EQ(fl_post(b.qp[0], &w), 0);
	EXPECT_EQ(fl_close(b.dev), 0);
}

TEST("what datagrams do not have is refused by the call that asks for it")
{
	rig_run(refused_body);
}
