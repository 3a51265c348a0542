// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of the driver for reliable connections, receives and events: what they give, and
 * what they refuse.
 */
#include "rig/driver.h"

/* A process whose row has packets. */
static void recv_open(struct rig_node *n)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_NPF,
			       .resolve = FL_IOC_RESOLVE_BLOCK };

	rig_qp_flags = FL_QP_RC;
	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
}

static void refused_qp(struct rig_node *n, struct fl_create_qp c, long want)
{
	c.size = sizeof(c);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), want);
}

static uint32_t make_srq(struct rig_node *n, uint32_t entries)
{
	struct fl_create_srq c = { .size = sizeof(c), .pd = n->pd,
				   .entries = entries };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_SRQ, &c), 0);
	EXPECT_EQ(c.mmap_bytes % 4096, 0);
	EXPECT_GE(c.mmap_bytes, 64ull * c.entries);
	EXPECT_GE(c.entries, entries);
	EXPECT(!(c.entries & (c.entries - 1)));
	return c.srq;
}

static long object_destroy(struct rig_node *n, unsigned int cmd, uint32_t object)
{
	struct fl_destroy d = { .size = sizeof(d), .object = object };

	return rig_ioctl(n, cmd, &d);
}

static void check_limits(struct rig_node *n, uint32_t srq)
{
	struct fl_limit_srq l = { .size = sizeof(l) };

	STEP("limits");
	l.srq = srq;
	l.limit = 129;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_LIMIT_SRQ, &l), -EINVAL);
	l.limit = 128;
	l.reserved = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_LIMIT_SRQ, &l), -EINVAL);
	l.reserved = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_LIMIT_SRQ, &l), 0);
	l.srq = srq + 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_LIMIT_SRQ, &l), -ENOENT);
	EXPECT_EQ(object_destroy(n, FL_IOC_DESTROY_SRQ, srq + 1), -ENOENT);
	EXPECT_EQ(object_destroy(n, FL_IOC_DESTROY_SRQ, srq), 0);
	EXPECT_EQ(object_destroy(n, FL_IOC_DESTROY_SRQ, srq), -ENOENT);
}

static void create_body(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_create_qp good, c;
	uint32_t srq;

	recv_open(n);
	rig_set_up(n, 0);
	srq = make_srq(n, 100);
	good = (struct fl_create_qp){
		.size = sizeof(good), .pd = n->pd, .cq = n->cq, .entries = 8,
		.flags = FL_QP_RC, .recv_cq = n->cq,
	};
	STEP("numbers of nobody");
	c = good;
	c.recv_cq = 77;
	refused_qp(n, c, -ENOENT);
	c = good;
	c.srq = 1 + srq + 5;
	refused_qp(n, c, -ENOENT);
	c.srq = ~0u;
	refused_qp(n, c, -ENOENT);
	STEP("both kinds of receives; too many; reserved members; flags");
	c = good;
	c.srq = 1 + srq;
	c.recv_entries = 4;
	refused_qp(n, c, -EINVAL);
	c = good;
	c.recv_entries = 32769;
	refused_qp(n, c, -EINVAL);
	c = good;
	c.reserved = 1;
	refused_qp(n, c, -EINVAL);
	c = good;
	c.flags |= FL_QP_UD;
	refused_qp(n, c, -EINVAL);
	STEP("a queue pair of blocks has no receives");
	c = good;
	c.flags = 0;
	c.recv_cq = 0;
	c.recv_entries = 4;
	refused_qp(n, c, -EINVAL);
	c.recv_entries = 0;
	c.srq = 1 + srq;
	refused_qp(n, c, -EINVAL);
	STEP("with a queue of its own, and with a shared one");
	c = good;
	c.recv_entries = 5;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), 0);
	EXPECT_EQ(c.recv_entries, 8);
	EXPECT_EQ(c.recv_mmap_bytes, 4096);
	EXPECT_NE(c.recv_mmap_offset, c.mmap_offset);
	EXPECT_EQ(object_destroy(n, FL_IOC_DESTROY_CQ, n->cq), -EBUSY);
	EXPECT_EQ(object_destroy(n, FL_IOC_DESTROY_QP, c.qp), 0);
	c = good;
	c.srq = 1 + srq;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), 0);
	EXPECT_EQ(c.recv_mmap_bytes, 0);
	EXPECT_EQ(object_destroy(n, FL_IOC_DESTROY_SRQ, srq), -EBUSY);
	EXPECT_EQ(object_destroy(n, FL_IOC_DESTROY_QP, c.qp), 0);
	check_limits(n, srq);
	rig_close(n);
}

TEST("queue pairs with receives are made, and refused for each thing that is wrong")
{
	rig_run(create_body);
}

static void many_body(struct rig *r)
{
	struct fl_create_srq c = { .size = sizeof(c), .entries = 2 };
	struct rig_node *n = &r->n[0];
	uint32_t i;

	recv_open(n);
	rig_set_up(n, 0);
	c.pd = n->pd + 1000;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_SRQ, &c), -ENOENT);
	c.pd = n->pd;
	c.entries = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_SRQ, &c), -EINVAL);
	c.entries = 32769;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_SRQ, &c), -EINVAL);
	for (i = 0; i < 16; i++)
		make_srq(n, 2);
	c.entries = 2;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_SRQ, &c), -ENOSPC);
	EXPECT_EQ(object_destroy(n, FL_IOC_DEALLOC_PD, n->pd), -EBUSY);
	STEP("the other process has numbers of its own, and what it closes comes back");
	rig_close(n);
	recv_open(n);
	rig_set_up(n, 0);
	for (i = 0; i < 16; i++)
		make_srq(n, 2);
	rig_close(n);
}

TEST("a process has 16 shared receive queues, and gives them back when it closes")
{
	rig_run(many_body);
}

static long qp_modify(struct rig_node *n, struct fl_modify_qp *m)
{
	m->size = sizeof(*m);
	return rig_ioctl(n, FL_IOC_MODIFY_QP, m);
}

static void modify_body(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_create_qp c;
	struct fl_modify_qp m;
	uint32_t i;

	recv_open(n);
	rig_set_up(n, 0);
	c = (struct fl_create_qp){ .size = sizeof(c), .pd = n->pd, .cq = n->cq,
				   .entries = 8, .flags = FL_QP_RC,
				   .recv_cq = n->cq };
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), 0);
	STEP("numbers of nobody; members that are not for asking");
	m = (struct fl_modify_qp){ .qp = c.qp + 999 };
	EXPECT_EQ(qp_modify(n, &m), -ENOENT);
	m = (struct fl_modify_qp){ .qp = c.qp, .draining = 1 };
	EXPECT_EQ(qp_modify(n, &m), -EINVAL);
	m = (struct fl_modify_qp){ .qp = c.qp, .access = 1 << 8 };
	EXPECT_EQ(qp_modify(n, &m), -EINVAL);
	STEP("values that do not fit into their bits do not reach others");
	for (i = 0; i < 12; i++) {
		uint32_t *v;

		m = (struct fl_modify_qp){ .qp = c.qp,
					   .mask = 2 * FL_MOD_RQ_PSN - 1 };
		v = &m.state + i;
		*v = i < 9 ? 256 : 1u << 24;
		EXPECT_EQ(qp_modify(n, &m), -EINVAL);
	}
	STEP("a way that is none");
	m = (struct fl_modify_qp){ .qp = c.qp, .mask = FL_MOD_STATE,
				   .state = FL_STATE_RTS };
	EXPECT_EQ(qp_modify(n, &m), -EINVAL);
	m = (struct fl_modify_qp){ .qp = c.qp, .mask = FL_MOD_STATE,
				   .state = FL_STATE_INIT };
	EXPECT_EQ(qp_modify(n, &m), 0);
	EXPECT_EQ(m.state, FL_STATE_RESET);
	m = (struct fl_modify_qp){ .qp = c.qp };
	EXPECT_EQ(qp_modify(n, &m), 0);
	EXPECT_EQ(m.state, FL_STATE_INIT);
	rig_close(n);
	STEP("a queue pair of blocks can only be asked");
	n = &r->n[1];
	rig_qp_flags = 0;
	rig_open(n);
	rig_set_up(n, 0);
	m = (struct fl_modify_qp){ .qp = n->qp };
	EXPECT_EQ(qp_modify(n, &m), 0);
	EXPECT_EQ(m.state, FL_STATE_INIT);
	m = (struct fl_modify_qp){ .qp = n->qp, .mask = FL_MOD_STATE,
				   .state = FL_STATE_ERROR };
	EXPECT_EQ(qp_modify(n, &m), -EINVAL);
	rig_close(n);
}

TEST("states change by the legal ways only")
{
	rig_run(modify_body);
}

static void snoop_body(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_IOGUARD,
			       .resolve = FL_IOC_RESOLVE_BLOCK };
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 4 };
	struct fl_create_srq s = { .size = sizeof(s), .entries = 4 };
	struct fl_create_qp c = { .size = sizeof(c), .entries = 4,
				  .flags = FL_QP_RC };
	struct rig_node *n = &r->n[0];

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), 0);
	c.pd = s.pd = pd.pd;
	c.cq = c.recv_cq = cq.cq;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &c), -EOPNOTSUPP);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_SRQ, &s), -EOPNOTSUPP);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

/* What the row does not have is refused, and the row stays while there is one. */
static void row_body(struct rig *r)
{
	struct fl_policy part = { .size = sizeof(part), .system = FL_SYSTEM_PART,
				  .resolve = FL_IOC_RESOLVE_BLOCK };
	struct rig_node *n = &r->n[0];
	struct fl_destroy d = { .size = sizeof(d) };
	struct fl_create_qp c;

	recv_open(n);
	rig_set_up(n, 0);
	c = (struct fl_create_qp){ .size = sizeof(c), .pd = n->pd, .cq = n->cq,
				   .entries = 8 };
	STEP("blocks, with a row of packets");
	refused_qp(n, c, -EOPNOTSUPP);
	d.object = n->key;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &part), -EBUSY);
	d.object = n->qp;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_QP, &d), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &part), 0);
	STEP("packets, with a row of blocks");
	c.flags = FL_QP_RC;
	c.recv_cq = n->cq;
	refused_qp(n, c, -EOPNOTSUPP);
	c.flags = 0;
	c.recv_cq = 0;
	refused_qp(n, c, 0);
	rig_close(n);
}

TEST("a queue pair is of the transport of its process's row")
{
	rig_run(row_body);
}

TEST("a page that the driver reads has no place for receives")
{
	rig_run(snoop_body);
}

static void event_body(struct rig *r)
{
	struct fl_next_event e = { .size = sizeof(e), .timeout_ns = 1000 };
	struct fl_limit_srq l = { .size = sizeof(l), .limit = 2 };
	struct rig_node *n = &r->n[0];
	uint32_t srq[16], i;

	recv_open(n);
	rig_set_up(n, 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &e), -ETIMEDOUT);
	e.type = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &e), -EINVAL);
	STEP("an empty shared queue has less than its limit");
	for (i = 0; i < 16; i++)
		srq[i] = make_srq(n, 4);
	for (i = 0; i < 16; i++) {
		l.srq = srq[i];
		EXPECT_EQ(rig_ioctl(n, FL_IOC_LIMIT_SRQ, &l), 0);
		e = (struct fl_next_event){ .size = sizeof(e),
					    .timeout_ns = TEST_PATIENCE_NS };
		if (i % 2)
			continue;
		EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &e), 0);
		EXPECT_EQ(e.type, FL_EV_SRQ_LIMIT);
		EXPECT_EQ(e.object, srq[i ? i - 1 : 0]);
		if (!i)
			continue;
		e = (struct fl_next_event){ .size = sizeof(e),
					    .timeout_ns = TEST_PATIENCE_NS };
		EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &e), 0);
		EXPECT_EQ(e.object, srq[i]);
	}
	STEP("more than wait at a time: the oldest are lost");
	e = (struct fl_next_event){ .size = sizeof(e),
				    .timeout_ns = TEST_PATIENCE_NS };
	EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &e), 0);
	for (i = 0; i < 80; i++) {
		l.srq = srq[i % 16];
		EXPECT_EQ(rig_ioctl(n, FL_IOC_LIMIT_SRQ, &l), 0);
	}
	/* The last one's interrupt may still be on its way. */
	e = (struct fl_next_event){ .size = sizeof(e), .timeout_ns = 1000000 };
	EXPECT_EQ(rig_ioctl(n, FL_IOC_WAIT_CQ, &(struct fl_wait_cq){
		  .size = sizeof(struct fl_wait_cq), .cq = n->cq,
		  .timeout_ns = 1000000 }), -ETIMEDOUT);
	for (i = 0; i < 80; i++) {
		e = (struct fl_next_event){ .size = sizeof(e),
					    .timeout_ns = 1000 };
		if (rig_ioctl(n, FL_IOC_NEXT_EVENT, &e))
			break;
		EXPECT_EQ(e.object, srq[i % 16]);
	}
	EXPECT_EQ(i, 64);
	rig_close(n);
}

TEST("events wait to be taken, in order, and no more than 64 of them")
{
	rig_run(event_body);
}

static void srq_limited(struct rig_node *n, uint32_t srq)
{
	struct fl_limit_srq l = { .size = sizeof(l), .srq = srq, .limit = 2 };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_LIMIT_SRQ, &l), 0);
}

static void srq_gone(struct rig_node *n, uint32_t srq)
{
	struct fl_destroy d = { .size = sizeof(d), .object = srq };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_SRQ, &d), 0);
}

static int event_of(struct rig_node *n, uint32_t *object)
{
	struct fl_next_event e = { .size = sizeof(e), .timeout_ns = 10000 };
	int error = rig_ioctl(n, FL_IOC_NEXT_EVENT, &e);

	*object = e.object;
	return error;
}

/* The card gives numbers in turn, so that one comes again when all have been given. */
static void number_again(struct rig *r)
{
	uint32_t first, between, last, other, object;
	struct rig_node *n = &r->n[0];

	recv_open(n);
	rig_set_up(n, 0);
	first = make_srq(n, 4);
	between = make_srq(n, 4);
	last = make_srq(n, 4);
	srq_limited(n, first);
	srq_limited(n, between);
	srq_limited(n, last);
	srq_limited(n, between);
	sim_sleep(1000000);
	srq_gone(n, between);
	while ((other = make_srq(n, 4)) != between)
		srq_gone(n, other);
	STEP("what waits is of the others");
	EXPECT_EQ(event_of(n, &object), 0);
	EXPECT_EQ(object, first);
	EXPECT_EQ(event_of(n, &object), 0);
	EXPECT_EQ(object, last);
	EXPECT_EQ(event_of(n, &object), -ETIMEDOUT);
	STEP("and the new one has its own");
	srq_limited(n, between);
	sim_sleep(1000000);
	EXPECT_EQ(event_of(n, &object), 0);
	EXPECT_EQ(object, between);
	rig_close(n);
}

TEST("an event of a queue that is gone is not taken for one of the next that has its number")
{
	rig_run(number_again);
}
