// SPDX-License-Identifier: BSD-2-Clause
/* Reliable connections through the library: what each call refuses, and full queues. */
#include "faultline/system_rows.h"
#include "lib_internal.h"
#include "rig/driver.h"

struct bench {
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_mr *mr;
	uint8_t *mem;
};

static void bench_open(struct bench *b)
{
	EXPECT_EQ(fl_open("emu:a", &b->dev), 0);
	EXPECT_EQ(fl_set_policy(b->dev, FL_SYSTEM_NPF, FL_RESOLVE_BLOCK), 0);
	EXPECT_EQ(fl_alloc_pd(b->dev, &b->pd), 0);
	EXPECT_EQ(fl_create_cq(b->dev, 500, &b->cq), 0);
	b->mem = fl_alloc(b->dev, 65536);
	EXPECT_EQ(fl_reg_mr(b->pd, b->mem, 65536,
			    FL_LOCAL_WRITE | FL_REMOTE_ATOMIC, &b->mr), 0);
}

/* A queue pair of blocks, of the process's other file, whose row (part) has those. */
static struct fl_qp *bench_plain(struct fl_device **dev)
{
	struct fl_qp *qp = NULL;
	struct fl_pd *pd;
	struct fl_cq *cq;

	EXPECT_EQ(fl_open("emu:a", dev), 0);
	EXPECT_EQ(fl_alloc_pd(*dev, &pd), 0);
	EXPECT_EQ(fl_create_cq(*dev, 8, &cq), 0);
	EXPECT_EQ(fl_create_qp(pd, cq, 4, &qp), 0);
	return qp;
}

static int bench_qp(const struct bench *b, struct fl_qp_init init,
		    struct fl_qp **qp)
{
	return fl_create_qp_ex(b->pd, &init, qp);
}

/* Without its own connection it would not be asked for more. */
static struct fl_qp *bench_ready(struct bench *b, unsigned int entries,
				 unsigned int segments, unsigned int bytes)
{
	struct fl_address self;
	struct fl_qp *qp = NULL;

	EXPECT_EQ(bench_qp(b, (struct fl_qp_init){
		.type = FL_QPT_RC, .send_cq = b->cq, .entries = entries,
		.segments = segments, .inline_bytes = bytes,
		.recv_entries = 4 }, &qp), 0);
	EXPECT_EQ(fl_qp_address(qp, &self), 0);
	/* Nobody is there: what is posted stays in the queue for long. */
	self.node = 1;
	EXPECT_EQ(fl_connect(qp, &self), 0);
	return qp;
}

static void create_body(struct rig *r)
{
	struct bench b = { 0 };
	struct fl_qp *qp = NULL;
	struct fl_srq *srq = NULL;
	struct fl_pd *other;
	struct fl_qp_init good;

	(void)r;
	bench_open(&b);
	good = (struct fl_qp_init){ .type = FL_QPT_RC, .send_cq = b.cq,
				    .entries = 4 };
	EXPECT_EQ(fl_create_qp_ex(NULL, &good, &qp), -EINVAL);
	EXPECT_EQ(fl_create_qp_ex(b.pd, NULL, &qp), -EINVAL);
	EXPECT_EQ(fl_create_qp_ex(b.pd, &good, NULL), -EINVAL);
#define BAD(...) do {							\
	struct fl_qp_init i = good;					\
	__VA_ARGS__;							\
	EXPECT_EQ(bench_qp(&b, i, &qp), -EINVAL);			\
} while (0)
	BAD(i.send_cq = NULL);
	BAD(i.entries = 0);
	BAD(i.entries = 32769);
	BAD(i.segments = 13);
	BAD(i.inline_bytes = 193);
	BAD(i.recv_entries = 32769);
	BAD(i.entries = 16384, i.segments = 12);
	BAD(i.type = (enum fl_qp_type)7);
	BAD(i.type = FL_QPT_BLOCK, i.recv_entries = 4);
	BAD(i.type = FL_QPT_BLOCK, i.segments = 2);
	BAD(i.type = FL_QPT_BLOCK, i.inline_bytes = 1);
	BAD(i.type = FL_QPT_BLOCK, i.recv_cq = b.cq);
	EXPECT_EQ(fl_alloc_pd(b.dev, &other), 0);
	EXPECT_EQ(fl_create_srq(other, 4, &srq), 0);
	EXPECT_EQ(fl_dealloc_pd(other), -EBUSY);
	BAD(i.srq = srq);
	BAD(i.type = FL_QPT_BLOCK, i.srq = srq);
	EXPECT_EQ(fl_destroy_srq(srq), 0);
	EXPECT_EQ(fl_create_srq(b.pd, 4, &srq), 0);
	BAD(i.srq = srq, i.recv_entries = 4);
	EXPECT(!qp);
	EXPECT_EQ(fl_create_srq(NULL, 4, &srq), -EINVAL);
	EXPECT_EQ(fl_create_srq(b.pd, 0, &srq), -EINVAL);
	EXPECT_EQ(fl_create_srq(b.pd, 32769, &srq), -EINVAL);
	EXPECT_EQ(fl_create_srq(b.pd, 4, NULL), -EINVAL);
	EXPECT_EQ(fl_destroy_srq(NULL), -EINVAL);
	EXPECT_EQ(fl_limit_srq(NULL, 1), -EINVAL);
	EXPECT_EQ(fl_arm(NULL, 0), -EINVAL);
	EXPECT_EQ(fl_sleep(NULL, 1), -EINVAL);
	EXPECT_EQ(fl_next_event(b.dev, NULL, 1), -EINVAL);
	EXPECT_EQ(fl_next_event(NULL, NULL, 1), -EINVAL);
	EXPECT_EQ(fl_close(b.dev), 0);
}

TEST("queue pairs that cannot be are refused")
{
	rig_run(create_body);
}

static void post_body(struct rig *r)
{
	struct fl_segment list[13], wraps, large[2], empty[2];
	struct fl_receive recv;
	struct bench b = { 0 };
	struct fl_qp *qp, *plain;
	struct fl_device *other;
	uint32_t i;

	(void)r;
	bench_open(&b);
	qp = bench_ready(&b, 4, 3, 40);
	plain = bench_plain(&other);
	for (i = 0; i < 13; i++)
		list[i] = (struct fl_segment){ b.mem, 1, fl_mr_key(b.mr) };
	wraps = (struct fl_segment){ (void *)(uintptr_t)-4, 8, 1 };
	large[0] = large[1] = (struct fl_segment){ b.mem, 1u << 30 | 1, list[0].key };
	empty[0] = (struct fl_segment){ NULL, 0, 0 };
	empty[1] = list[0];
#define REFUSE(q, ...) do {						\
	struct fl_work w = { .opcode = FL_SEND, .local = b.mem,		\
			     .bytes = 8, .lkey = fl_mr_key(b.mr) };	\
	__VA_ARGS__;							\
	EXPECT_EQ(fl_post(q, &w), -EINVAL);				\
} while (0)
	REFUSE(qp, w.opcode = (enum fl_opcode)3);
	REFUSE(qp, w.opcode = FL_RECV);
	REFUSE(qp, w.remote = 1);
	REFUSE(qp, w.rkey = 1);
	REFUSE(qp, w.imm = 1);
	REFUSE(qp, w.swap = 1);
	REFUSE(qp, w.compare = 1);
	REFUSE(qp, w.segments = 1);
	REFUSE(qp, w.list = list, w.segments = 4);	/* made for 3 */
	REFUSE(qp, w.list = list, w.segments = 13);
	REFUSE(qp, w.list = &wraps, w.segments = 1);
	REFUSE(qp, w.bytes = 41, w.inlined = 1);		/* made for 40 */
	REFUSE(qp, w.bytes = 0x80000001u);
	REFUSE(qp, w.opcode = FL_READ, w.inlined = 1);
	REFUSE(qp, w.opcode = FL_READ, w.with_imm = 1);
	REFUSE(qp, w.opcode = FL_READ, w.solicited = 1);
	REFUSE(qp, w.opcode = FL_WRITE, w.remote = ~0ull - 3);
	REFUSE(qp, w.opcode = FL_FETCH_ADD, w.bytes = 4);
	REFUSE(qp, w.opcode = FL_FETCH_ADD, w.compare = 1);
	REFUSE(qp, w.opcode = FL_CMP_SWAP, w.remote = 4);
	STEP("what only packets have");
	REFUSE(plain, w.opcode = FL_SEND);
	REFUSE(plain, w.opcode = FL_WRITE, w.bytes = 0);
	REFUSE(plain, w.opcode = FL_WRITE, w.with_imm = 1);
	REFUSE(plain, w.opcode = FL_WRITE, w.solicited = 1);
	REFUSE(plain, w.opcode = FL_WRITE, w.inlined = 1);
	REFUSE(plain, w.opcode = FL_WRITE, w.list = list, w.segments = 1);
	EXPECT_EQ(fl_post_send(NULL, 0, b.mr, b.mem, 1), -EINVAL);
	EXPECT_EQ(fl_post_send(qp, 0, NULL, b.mem, 1), -EINVAL);
	EXPECT_EQ(fl_post_atomic(qp, FL_WRITE, 0, b.mr, b.mem, 0, 0, 0, 0),
		  -EINVAL);
	EXPECT_EQ(fl_post_atomic(qp, FL_FETCH_ADD, 0, NULL, b.mem, 0, 0, 0, 0),
		  -EINVAL);
	STEP("receives");
	recv = (struct fl_receive){ .list = list, .segments = 4 };
	EXPECT_EQ(fl_post_recv(qp, &recv), -EINVAL);
	recv = (struct fl_receive){ .segments = 1 };
	EXPECT_EQ(fl_post_recv(qp, &recv), -EINVAL);
	recv = (struct fl_receive){ .list = &wraps, .segments = 1 };
	EXPECT_EQ(fl_post_recv(qp, &recv), -EINVAL);
	recv = (struct fl_receive){ .list = large, .segments = 2 };
	EXPECT_EQ(fl_post_recv(qp, &recv), -EINVAL);
	recv = (struct fl_receive){ 0 };
	EXPECT_EQ(fl_post_recv(plain, &recv), -EINVAL);
	EXPECT_EQ(fl_post_recv(NULL, &recv), -EINVAL);
	EXPECT_EQ(fl_post_recv(qp, NULL), -EINVAL);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(fl_post_recv(qp, &recv), 0);
	STEP("an empty segment is left out");
	recv = (struct fl_receive){ .list = empty, .segments = 2 };
	EXPECT_EQ(fl_post_recv(qp, &recv), 0);
	EXPECT_EQ(fl_post_recv(qp, &recv), -EAGAIN);
	STEP("quirks: of connections, and those that there are");
	EXPECT_EQ(fl_set_quirks(NULL, 0), -EINVAL);
	EXPECT_EQ(fl_set_quirks(other, 1u << 31), -EINVAL);
	EXPECT_EQ(fl_close(other), 0);
	EXPECT_EQ(fl_close(b.dev), 0);
}

TEST("work and receives that cannot be are refused, and nothing of them is posted")
{
	rig_run(post_body);
}

static void full_body(struct rig *r)
{
	struct fl_qp_attr a = { .state = FL_ERROR }, got;
	struct fl_segment list[12];
	struct fl_completion c;
	struct bench b = { 0 };
	struct fl_work w = { .opcode = FL_SEND, .list = list, .segments = 12 };
	struct fl_device *other;
	struct fl_qp *qp, *plain;
	unsigned int round, n = 0, i;

	(void)r;
	bench_open(&b);
	qp = bench_ready(&b, 10, 12, 0);
	for (i = 0; i < 12; i++)
		list[i] = (struct fl_segment){ b.mem + i, 1, fl_mr_key(b.mr) };
	for (round = 0; round < 100; round++)
		if (fl_post(qp, &w))
			break;
	/* 10 were wished for, of 5 entries each, in a queue that is a power of two. */
	EXPECT_GE(round, 10);
	EXPECT_LE(round, 64 / 5);
	EXPECT_EQ(fl_post(qp, &w), -EAGAIN);
	EXPECT_EQ(fl_modify_qp(qp, &a, FL_ATTR_STATE), 0);
	while (fl_wait(b.cq, &c, 1, 1000000000) == 1) {
		EXPECT_EQ(c.status, FL_ST_FLUSHED);
		EXPECT_EQ(c.opcode, FL_SEND);
		n++;
	}
	EXPECT_EQ(n, round);
	EXPECT_EQ(fl_query_qp(qp, &got), 0);
	EXPECT_EQ(got.state, FL_ERROR);
	STEP("each end of it makes room for as many again");
	for (i = 0; i < round; i++)
		EXPECT_EQ(fl_post(qp, &w), 0);
	STEP("states that make no sense");
	plain = bench_plain(&other);
	EXPECT_EQ(fl_modify_qp(plain, &a, FL_ATTR_STATE), -EINVAL);
	EXPECT_EQ(fl_modify_qp(qp, &a, 0), -EINVAL);
	EXPECT_EQ(fl_modify_qp(qp, &a, 8192), -EINVAL);
	EXPECT_EQ(fl_modify_qp(qp, NULL, 1), -EINVAL);
	EXPECT_EQ(fl_modify_qp(NULL, &a, 1), -EINVAL);
	EXPECT_EQ(fl_query_qp(qp, NULL), -EINVAL);
	EXPECT_EQ(fl_query_qp(plain, &got), 0);
	EXPECT_EQ(got.state, FL_INIT);
	a.state = FL_RTS;
	EXPECT_EQ(fl_modify_qp(qp, &a, FL_ATTR_STATE), -EINVAL);
	EXPECT_EQ(fl_close(other), 0);
	EXPECT_EQ(fl_close(b.dev), 0);
}

TEST("a full queue says so, and each completion makes room for all of its entries")
{
	rig_run(full_body);
}

/* How many entries of the queue are taken after each call, a plain count knows. */
static void list_expect(struct fl_qp *qp, const struct fl_work *w, unsigned int n,
			int error, uint32_t *posted, uint32_t entries)
{
	EXPECT_EQ(fl_post_list(qp, w, n), error);
	if (!error)
		*posted += entries;
	EXPECT_EQ(atomic_load(&qp->posted), *posted);
}

static void list_body(struct rig *r)
{
	struct fl_work w[9], plainly[5];
	struct fl_segment list[4];
	uint32_t posted = 0, plainly_posted = 0;
	struct bench b = { 0 };
	struct fl_device *other;
	struct fl_qp *qp, *plain;
	unsigned int i;

	(void)r;
	bench_open(&b);
	qp = bench_ready(&b, 4, 4, 96);	/* of 3 entries each, so 16 */
	plain = bench_plain(&other);
	for (i = 0; i < 4; i++)
		list[i] = (struct fl_segment){ b.mem, i != 1, fl_mr_key(b.mr) };
	for (i = 0; i < 9; i++)
		w[i] = (struct fl_work){ .opcode = FL_SEND, .local = b.mem, .bytes = 1,
					 .lkey = fl_mr_key(b.mr) };
	STEP("nothing of a list with a bad one, wherever it is");
	for (i = 0; i < 9; i++) {
		w[i].opcode = FL_RECV;
		list_expect(qp, w, 9, -EINVAL, &posted, 0);
		w[i].opcode = FL_SEND;
	}
	list_expect(qp, NULL, 1, -EINVAL, &posted, 0);
	EXPECT_EQ(fl_post_list(NULL, w, 1), -EINVAL);
	list_expect(qp, NULL, 0, 0, &posted, 0);
	STEP("each with as many entries as it takes");
	w[1].inlined = 1;		/* 1 + 1 */
	w[2].inlined = 1;		/* 1 + 2 */
	w[2].bytes = 49;
	w[3].inlined = 1;		/* 1 */
	w[3].bytes = 0;
	w[4].list = list;		/* 1 + 1: three that are not empty */
	w[4].segments = 4;
	w[5].list = list;		/* 1 */
	w[5].segments = 2;
	list_expect(qp, w, 6, 0, &posted, 1 + 2 + 3 + 1 + 2 + 1);
	STEP("nothing of one that does not fit");
	list_expect(qp, w, 5, -EAGAIN, &posted, 0);
	list_expect(qp, w + 3, 4, 0, &posted, 1 + 2 + 1 + 1);
	list_expect(qp, w + 6, 2, -EAGAIN, &posted, 0);
	list_expect(qp, w + 6, 1, 0, &posted, 1);
	list_expect(qp, w + 6, 1, -EAGAIN, &posted, 0);
	EXPECT_EQ(posted, 16);
	STEP("the same of blocks");
	for (i = 0; i < 5; i++)
		plainly[i] = (struct fl_work){ .opcode = FL_WRITE, .local = b.mem,
					       .bytes = 1 };
	list_expect(plain, plainly, 5, -EAGAIN, &plainly_posted, 0);
	plainly[3].bytes = 0;
	list_expect(plain, plainly, 4, -EINVAL, &plainly_posted, 0);
	list_expect(plain, plainly, 3, 0, &plainly_posted, 3);
	list_expect(plain, plainly, 2, -EAGAIN, &plainly_posted, 0);
	EXPECT_EQ(fl_close(other), 0);
	EXPECT_EQ(fl_close(b.dev), 0);
}

TEST("of a list all is posted, or nothing")
{
	rig_run(list_body);
}
