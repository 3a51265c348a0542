// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the driver asks the kernel for is refused, one thing after the other: it says so,
 * keeps nothing, and the same call works when it is made again.
 */
#include "rig/driver.h"

#define LEN	65536u

static int refusal_map(struct rig_node *n, void **at, uint64_t bytes,
		       uint64_t offset)
{
	int err = 0;

	*at = host_mmap_fd(n->process, n->fd, bytes, offset, &err);
	return *at ? 0 : err;
}

static struct fl_create_cq cq;
static struct fl_create_qp qp;
static uint32_t pinned;

static int open_it(struct rig_node *n)
{
	n->fd = host_open(n->process, "faultline0");
	if (n->fd >= 0)
		return 0;
	EXPECT_EQ(board_open_slots(n->board), 0);
	EXPECT_EQ(rig_smmu(n, SMMU_GR0_SMR(0)) & SMMU_GR0_SMR_VALID, 0);
	return n->fd;
}

static int refusal_domain(struct rig_node *n)
{
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	long ret = rig_ioctl(n, FL_IOC_ALLOC_PD, &pd);

	n->pd = pd.pd;
	return (int)ret;
}

static int refusal_completions(struct rig_node *n)
{
	cq = (struct fl_create_cq){ .size = sizeof(cq), .entries = RIG_QUEUE };
	return (int)rig_ioctl(n, FL_IOC_CREATE_CQ, &cq);
}

static int refusal_requests(struct rig_node *n)
{
	qp = (struct fl_create_qp){ .size = sizeof(qp), .entries = RIG_QUEUE,
				    .pd = n->pd, .cq = cq.cq };
	n->qp = qp.qp;
	return (int)rig_ioctl(n, FL_IOC_CREATE_QP, &qp);
}

static int map_completions(struct rig_node *n)
{
	n->cq = cq.cq;
	n->qp = qp.qp;
	n->cq_bytes = cq.mmap_bytes;
	n->sq_bytes = qp.mmap_bytes;
	return refusal_map(n, (void **)&n->cqe, n->cq_bytes, cq.mmap_offset);
}

static int map_requests(struct rig_node *n)
{
	return refusal_map(n, (void **)&n->sq, n->sq_bytes, qp.mmap_offset);
}

static int map_doorbell(struct rig_node *n)
{
	return refusal_map(n, (void **)&n->doorbell, RIG_PAGE,
			   FL_MMAP_DOORBELL);
}

static int refusal_region(struct rig_node *n, uint32_t flags, uint32_t *key)
{
	struct fl_reg_mr m = { .size = sizeof(m), .pd = n->pd, .flags = flags,
			       .addr = (uintptr_t)n->buffer, .length = LEN,
			       .access = RIG_ALL };
	long ret = rig_ioctl(n, FL_IOC_REG_MR, &m);

	*key = m.key;
	return (int)ret;
}

static int region_pinned(struct rig_node *n)
{
	return refusal_region(n, FL_MR_PINNED, &pinned);
}

static int region_free(struct rig_node *n)
{
	return refusal_region(n, 0, &n->key);
}

static int refusal_unpin(struct rig_node *n)
{
	struct fl_destroy d = { .size = sizeof(d), .object = pinned };

	return (int)rig_ioctl(n, FL_IOC_DEREG_MR, &d);
}

static const struct {
	const char *name;
	int (*call)(struct rig_node *n);
	unsigned int least;	/* that it asks for */
} calls[] = {
	{ "open", open_it, 4 },
	{ "a domain", refusal_domain, 1 },
	{ "a completion queue", refusal_completions, 3 },
	{ "a queue pair", refusal_requests, 3 },
	{ "map the completions", map_completions, 0 },
	{ "map the requests", map_requests, 0 },
	{ "map the doorbell", map_doorbell, 0 },
	{ "a pinned region", region_pinned, 3 },
	{ "one that is not", region_free, 1 },
	{ "unpin", refusal_unpin, 0 },
};

/* Returns how many things it asked for. */
static unsigned int refusal_expect(struct rig_node *n,
				   int (*call)(struct rig_node *n))
{
	unsigned int i;
	int ret;

	for (i = 1;; i++) {
		host_inject_driver_error(i);
		ret = call(n);
		if (host_inject_driver_error(0)) {
			EXPECT_EQ(ret, 0);
			return i - 1;
		}
		EXPECT_EQ(ret, -ENOMEM);
	}
}

static void one_by_one(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct host_stats st;
	unsigned int i;
	int err;

	rig_open(&r->n[0]);
	rig_set_up(&r->n[0], 0);
	n->buffer = host_mmap(n->process, RIG_BYTES, HOST_READ | HOST_WRITE,
			      NULL, 0, &err);
	EXPECT(n->buffer);
	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		STEP("%s", calls[i].name);
		EXPECT_GE(refusal_expect(n, calls[i].call), calls[i].least);
	}
	host_stats(n->kernel, &st);
	EXPECT_EQ(st.frames_pinned, 0);
	STEP("and all of it works");
	rig_connect(r);
	rig_fill(&r->n[0], LEN, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, LEN);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	rig_close(n);
	rig_close(&r->n[0]);
}

TEST("a call of which something is refused is ENOMEM, and works the next time")
{
	rig_run(one_by_one);
}

/* ---- rows whose requests travel as packets ---- */

static uint32_t row, srq, counter;

static int row_policy(struct rig_node *n)
{
	struct fl_policy p = { .size = sizeof(p), .system = row, .resolve = FL_IOC_RESOLVE_PAGE,
			       .ring_slots = row == FL_SYSTEM_BACKUP ? 2 : 0 };

	return (int)rig_ioctl(n, FL_IOC_POLICY, &p);
}

static int row_requests(struct rig_node *n)
{
	qp = (struct fl_create_qp){
		.size = sizeof(qp), .entries = 4, .pd = n->pd, .cq = cq.cq,
		.flags = row == FL_SYSTEM_NETVM ? FL_QP_NV :
			 row == FL_SYSTEM_BACKUP ? FL_QP_UD : FL_QP_RC,
	};
	if (row != FL_SYSTEM_NETVM) {
		qp.recv_cq = cq.cq;
		qp.recv_entries = 4;
	}
	return (int)rig_ioctl(n, FL_IOC_CREATE_QP, &qp);
}

static int row_shared(struct rig_node *n)
{
	struct fl_create_srq c = { .size = sizeof(c), .pd = n->pd, .entries = 4 };
	long ret = rig_ioctl(n, FL_IOC_CREATE_SRQ, &c);

	srq = c.srq;
	return (int)ret;
}

static int row_counter(struct rig_node *n)
{
	struct fl_create_counter c = { .size = sizeof(c) };
	long ret = rig_ioctl(n, FL_IOC_CREATE_COUNTER, &c);

	counter = c.counter;
	return (int)ret;
}

static int row_destroy(struct rig_node *n, unsigned int cmd, uint32_t object)
{
	struct fl_destroy d = { .size = sizeof(d), .object = object };

	return (int)rig_ioctl(n, cmd, &d);
}

static const struct {
	const char *name;
	uint32_t row;
	int (*call)(struct rig_node *n);
	unsigned int least;
} row_calls[] = {
	{ "the system buffer", FL_SYSTEM_NETVM, row_policy, 1 },
	{ "a domain", FL_SYSTEM_NETVM, refusal_domain, 1 },
	{ "completions", FL_SYSTEM_NETVM, refusal_completions, 3 },
	{ "a queue pair of fragments", FL_SYSTEM_NETVM, row_requests, 3 },
	{ "an event counter", FL_SYSTEM_NETVM, row_counter, 3 },
	{ "the backup ring, with two slots and four pages", FL_SYSTEM_BACKUP, row_requests, 10 },
	{ "a connection", FL_SYSTEM_NPF, row_requests, 5 },
	{ "a shared receive queue", FL_SYSTEM_NPF, row_shared, 3 },
};

static void row_open(struct rig_node *n)
{
	int err;

	rig_open(n);
	n->buffer = host_mmap(n->process, RIG_BYTES, HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT(n->buffer);
}

static void rows_refused(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_query q = { .size = sizeof(q) };
	unsigned int i;

	row_open(n);
	for (i = 0, row = FL_SYSTEM_PART; i < sizeof(row_calls) / sizeof(*row_calls); i++) {
		STEP("%s", row_calls[i].name);
		if (row != row_calls[i].row && row != FL_SYSTEM_PART) {
			/* Another row has another file. */
			EXPECT_EQ(host_close(n->process, n->fd), 0);
			rig_open(n);
			row = row_calls[i].row;
			EXPECT_EQ(row_policy(n), 0);
			EXPECT_EQ(refusal_domain(n), 0);
			EXPECT_EQ(refusal_completions(n), 0);
		}
		row = row_calls[i].row;
		EXPECT_GE(refusal_expect(n, row_calls[i].call), row_calls[i].least);
		EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
		EXPECT_EQ(q.system, row);
	}
	STEP("what there is now can be given back, once");
	EXPECT_EQ(row_destroy(n, FL_IOC_DESTROY_SRQ, srq), 0);
	EXPECT_EQ(row_destroy(n, FL_IOC_DESTROY_SRQ, srq), -ENOENT);
	EXPECT_EQ(row_destroy(n, FL_IOC_DESTROY_QP, qp.qp), 0);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("the same of what rows of packets ask for")
{
	rig_run(rows_refused);
}

/* As many as the card has are there, of one file or of several. */
static void counters_most(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	uint32_t made = 0, first = 0;
	int ret;

	row = FL_SYSTEM_NETVM;
	rig_open(n);
	EXPECT_EQ(row_policy(n), 0);
	while (!(ret = row_counter(n))) {
		first = made++ ? first : counter;
		EXPECT(counter);
	}
	EXPECT_EQ(ret, -ENOSPC);
	EXPECT_GE(made, 16);
	STEP("one goes, and there is room for one");
	EXPECT_EQ(row_destroy(n, FL_IOC_DESTROY_COUNTER, first), 0);
	EXPECT_EQ(row_destroy(n, FL_IOC_DESTROY_COUNTER, first), -ENOENT);
	EXPECT_EQ(row_destroy(n, FL_IOC_DESTROY_COUNTER, 0), -ENOENT);
	EXPECT_EQ(row_counter(n), 0);
	EXPECT_EQ(row_counter(n), -ENOSPC);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
	STEP("the file is gone, and they with it");
	rig_open(n);
	EXPECT_EQ(row_policy(n), 0);
	EXPECT_EQ(row_counter(n), 0);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("event counters are as many as there are, and come back")
{
	rig_run(counters_most);
}

static int refusal_probe(struct rig_node *n)
{
	int ret = host_driver_probe(n->kernel, NULL);
	uint64_t v;

	if (ret) {
		EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_ENG_BASE +
				     NIC_ENG_CTRL, 4, &v), 0);
		EXPECT_EQ(v, 0);
		EXPECT_EQ(host_open(n->process, "faultline0"), -ENODEV);
	}
	return ret;
}

static void no_calls(struct rig *r)
{
	(void)r;
}

static void refusal_probes(struct rig *r)
{
	host_driver_remove(r->n[0].kernel);
	EXPECT_GE(refusal_expect(&r->n[0], refusal_probe), 8);
}

TEST("a probe of which something is refused leaves a card that is off")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_LOCKSTEP, &p, no_calls, refusal_probes);
}

static void probes_with_bits(struct rig *r)
{
	static const struct {
		uint32_t bits;
		int ret;
	} of[] = { { 32, -EIO }, { 11, -EINVAL }, { 49, -EINVAL }, { 48, 0 } };
	size_t i;

	host_driver_remove(r->n[0].kernel);
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct host_driver_params p = { .queue_bits = of[i].bits };

		STEP("%u bits", of[i].bits);
		EXPECT_EQ(host_driver_probe(r->n[0].kernel, &p), of[i].ret);
	}
}

TEST("queues come from where the firmware's processor reaches, or there is no card")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_LOCKSTEP, &p, no_calls, probes_with_bits);
}
