// SPDX-License-Identifier: BSD-2-Clause
/*
 * A process that gives its card very much to do with one doorbell, beside others.
 *
 * variants: tsan posix
 */
#include "rig/serve_raw.h"

#define BUSY_BYTES	((RIG_TSAN ? 4u : 32u) << 20)
#define BUSY_REQUESTS	40u

/* A queue pair that is its own peer, and a region that is there. */
static int busy_open(struct target *t)
{
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 4096 };
	struct fl_create_qp qp = { .size = sizeof(qp), .entries = 4096 };
	struct fl_reg_mr mr = { .size = sizeof(mr), .length = BUSY_BYTES,
				.access = FL_ACC_LOCAL_WRITE |
					  FL_ACC_REMOTE_WRITE };
	struct fl_prefetch pf = { .size = sizeof(pf), .length = BUSY_BYTES,
				  .flags = FL_PREFETCH_WRITE };
	struct fl_connect_qp c = { .size = sizeof(c), .node = 0 };
	int err = target_open(t, 0);

	err = err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_CREATE_CQ, &cq,
				    sizeof(cq));
	qp.pd = mr.pd = t->pd;
	qp.cq = cq.cq;
	err = err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_CREATE_QP, &qp,
				    sizeof(qp));
	t->qp = c.qp = c.peer_qp = qp.qp;
	err = err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_CONNECT_QP, &c,
				    sizeof(c));
	err = err ? err : map_queue(t, qp.mmap_offset, qp.mmap_bytes,
				    &t->sq_at);
	err = err ? err : map_queue(t, cq.mmap_offset, cq.mmap_bytes,
				    &t->cq_at);
	err = err ? err : raw_call(&t->r, ATTACH_ALLOC, BUSY_BYTES, 0, 0, 0);
	t->mem = mr.addr = pf.addr = t->r.shared->call[0].ret[0];
	err = err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_REG_MR, &mr,
				    sizeof(mr));
	t->key = pf.key = mr.key;
	t->sq = (struct fl_wqe *)(t->r.bank + t->sq_at);
	return err ? err : raw_ioctl(&t->r, t->fd, FL_IOC_PREFETCH, &pf,
				     sizeof(pf));
}

static unsigned int busy_completed(const struct target *t)
{
	volatile struct fl_cqe *cqe = (struct fl_cqe *)(t->r.bank + t->cq_at);
	unsigned int n = 0;

	while (n < BUSY_REQUESTS && cqe[n].phase)
		n++;
	return n;
}

TEST("a card that is always busy leaves others their turns")
{
	unsigned int i, before, calls = 0;
	uint64_t end_ns;
	struct target t;
	struct raw r;

	rig_start(NULL);
	EXPECT_EQ(raw_attach(&r, 0), 0);
	EXPECT_EQ(raw_call(&r, ATTACH_CLOSE, 63, 0, 0, 0), -EBADF);
	EXPECT_EQ(busy_open(&t), 0);
	for (i = 0; i < BUSY_REQUESTS; i++)
		t.sq[i] = (struct fl_wqe){
			.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED,
			.index = (uint16_t)i,
			.length = BUSY_BYTES, .local_va = t.mem,
			.remote_va = t.mem, .lkey = t.key, .rkey = t.key,
		};
	STEP("%u requests of %u bytes at once", BUSY_REQUESTS, BUSY_BYTES);
	EXPECT(raw_post(&t.r, ATTACH_DOORBELL, NIC_DB_SQ,
			t.qp << NIC_DB_SQ_QPN_SHIFT |
			BUSY_REQUESTS << NIC_DB_SQ_TAIL_SHIFT));
	end_ns = os_now_ns() + TEST_PATIENCE_NS;
	while (busy_completed(&t) < BUSY_REQUESTS && os_now_ns() < end_ns) {
		before = busy_completed(&t);
		EXPECT_EQ(raw_call(&r, ATTACH_CLOSE, 63, 0, 0, 0), -EBADF);
		/* It was asked and answered between two of them. */
		calls += before && busy_completed(&t) - before <= 2;
	}
	STEP("another's calls were answered %u times meanwhile", calls);
	EXPECT_GE(calls, 5);
	for (i = 0; i < BUSY_REQUESTS; i++)
		EXPECT_EQ(((struct fl_cqe *)(t.r.bank + t.cq_at))[i].status,
			  FL_ST_OK);
	raw_detach(&t.r);
	raw_detach(&r);
	rig_end();
}
