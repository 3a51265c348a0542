// SPDX-License-Identifier: BSD-2-Clause
/* Datagrams through the library: two queue pairs of one process, and what each call refuses. */
#include <errno.h>
#include <string.h>

#include "lib_internal.h"
#include "rig/driver.h"

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
	EXPECT_EQ(fl_reg_mr(b.pd, b.mem, 65536, FL_LOCAL_WRITE | FL_REMOTE_WRITE, &b.mr), 0);
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
	EXPECT_EQ(c.src_node, me.node);
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

/* No peers: each request says to whom. */
static void bench_open_to_all(int i, uint32_t qkey)
{
	EXPECT_EQ(bench_modify(b.qp[i], (struct fl_qp_attr){ .state = FL_INIT, .qkey = qkey },
			       FL_ATTR_QKEY), 0);
	EXPECT_EQ(bench_modify(b.qp[i], (struct fl_qp_attr){ .state = FL_RTR, .mtu = 2048 },
			       FL_ATTR_MTU), 0);
	EXPECT_EQ(bench_modify(b.qp[i], (struct fl_qp_attr){ .state = FL_RTS },
			       FL_ATTR_SQ_PSN), 0);
}

static void whom_body(struct rig *r)
{
	struct fl_work w = { .opcode = FL_SEND, .local = "hello", .bytes = 5, .inlined = 1 };
	struct fl_address at[2], wrong;
	struct fl_completion c;
	int i;

	(void)r;
	bench_open(FL_SYSTEM_BACKUP);
	for (i = 0; i < 2; i++) {
		bench_open_to_all(i, 70u + (unsigned int)i);
		EXPECT_EQ(fl_qp_address(b.qp[i], &at[i]), 0);
		EXPECT_EQ(receive_post(i, 4096u * (unsigned int)i, 8, 100u + (unsigned int)i),
			  0);
	}
	STEP("to the other, and to itself, each with the receiver's key");
	for (i = 0; i < 2; i++) {
		w.to = &at[!i];
		w.qkey = 70u + !i;
		EXPECT_EQ(fl_post(b.qp[0], &w), 0);
		c = receive_wait();
		EXPECT_EQ(c.wr_id, 100 + !i);
		EXPECT_EQ(c.src_qp, at[0].qpn);
		EXPECT(!memcmp(b.mem + 4096 * !i, "hello", 5));
	}
	STEP("without a name there is nobody, and what is no address is refused");
	w.to = NULL;
	EXPECT_EQ(fl_post(b.qp[0], &w), -EINVAL);
	w.qkey = 0;
	EXPECT_EQ(fl_post(b.qp[0], &w), -ENOTCONN);
	wrong = at[1];
	wrong.node = 256;
	w.to = &wrong;
	EXPECT_EQ(fl_post(b.qp[0], &w), -EINVAL);
	wrong = at[1];
	wrong.qpn |= 1u << 24;
	EXPECT_EQ(fl_post(b.qp[0], &w), -EINVAL);
	STEP("begun again, one has forgotten the peer that it had");
	EXPECT_EQ(bench_modify(b.qp[1], (struct fl_qp_attr){ .state = FL_RESET }, 0), 0);
	bench_join(1, 71);
	w.to = NULL;
	EXPECT_EQ(fl_post(b.qp[1], &w), 0);
	EXPECT_EQ(bench_modify(b.qp[1], (struct fl_qp_attr){ .state = FL_RESET }, 0), 0);
	bench_open_to_all(1, 71);
	EXPECT_EQ(fl_post(b.qp[1], &w), -ENOTCONN);
	EXPECT_EQ(fl_close(b.dev), 0);
}

TEST("a work request may say to whom its datagram goes; then no peer is needed")
{
	rig_run(whom_body);
}

/* Under a system of reliable connections, beside one of those. */
static void beside_one(enum fl_system system)
{
	struct fl_qp_init init = { .type = FL_QPT_RC, .entries = 4, .recv_entries = 4 };
	struct fl_work w = { .opcode = FL_SEND, .bytes = 100 };
	struct fl_completion c;
	struct fl_address at;
	struct fl_qp *rc;

	STEP("system %u", (unsigned int)system);
	bench_open(system);
	init.send_cq = b.cq;
	EXPECT_EQ(fl_create_qp_ex(b.pd, &init, &rc), 0);
	EXPECT_EQ(fl_qp_address(rc, &at), 0);
	EXPECT_EQ(fl_connect(rc, &at), 0);
	bench_open_to_all(0, 7);
	bench_open_to_all(1, 7);
	EXPECT_EQ(fl_qp_address(b.qp[1], &at), 0);
	w.to = &at;
	w.qkey = 7;
	w.local = b.mem;
	w.lkey = fl_mr_key(b.mr);
	memset(b.mem, 3, 100);
	STEP("its source has no page in the card's table, and comes; its destination has none");
	EXPECT_EQ(receive_post(1, 20480, 100, 9), 0);
	EXPECT_EQ(fl_post(b.qp[0], &w), 0);
	EXPECT_EQ(fl_wait(b.cq, &c, 1, TEST_PATIENCE_NS), 1);
	EXPECT_EQ(c.opcode, FL_SEND);
	EXPECT_EQ(c.status, 0);
	EXPECT_EQ(fl_wait(b.cq, &c, 1, 20000000), -ETIMEDOUT);
	EXPECT_EQ(b.mem[20480], 0);
	STEP("so it was lost, and the page has come for the next one");
	EXPECT_EQ(fl_post(b.qp[0], &w), 0);
	c = receive_wait();
	EXPECT_EQ(c.wr_id, 9);
	EXPECT(b.mem[20480] == 3 && b.mem[20579] == 3);
	STEP("the connection beside it is none the worse");
	w = (struct fl_work){ .opcode = FL_WRITE, .local = b.mem, .bytes = 8,
			      .lkey = fl_mr_key(b.mr), .remote = (uintptr_t)b.mem + 30000,
			      .rkey = fl_mr_key(b.mr) };
	EXPECT_EQ(fl_post(rc, &w), 0);
	EXPECT_EQ(fl_wait(b.cq, &c, 1, TEST_PATIENCE_NS), 1);
	EXPECT_EQ(c.opcode, FL_WRITE);
	EXPECT_EQ(c.status, 0);
	EXPECT_EQ(b.mem[30007], 3);
	EXPECT_EQ(fl_close(b.dev), 0);
}

static void beside_body(struct rig *r)
{
	(void)r;
	beside_one(FL_SYSTEM_NPF);
	beside_one(FL_SYSTEM_ODP2);
	beside_one(FL_SYSTEM_RXE);
	beside_one(FL_SYSTEM_DROPRC);
}

TEST("a process that has reliable connections may have datagrams, too")
{
	rig_run(beside_body);
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
	init.type = (enum fl_qp_type)4;
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
