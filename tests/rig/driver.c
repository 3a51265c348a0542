// SPDX-License-Identifier: BSD-2-Clause
#include "rig/driver.h"

uint32_t rig_smmu(struct rig_node *n, uint32_t off)
{
	uint64_t v;

	EXPECT_EQ(board_read(n->board, BUS_SMMU_BASE + off, 4, &v), 0);
	return (uint32_t)v;
}

uint64_t rig_smmu64(struct rig_node *n, uint32_t off)
{
	uint64_t v;

	EXPECT_EQ(board_read(n->board, BUS_SMMU_BASE + off, 8, &v), 0);
	return v;
}

struct fl_counters rig_counters(struct rig_node *n)
{
	struct fl_counters c = { .size = sizeof(c) };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_COUNTERS, &c), 0);
	return c;
}

uint32_t rig_reg_mr(struct rig_node *n, void *addr, uint64_t len,
		    uint32_t access, uint32_t flags, int want)
{
	struct fl_reg_mr m = { .size = sizeof(m), .pd = n->pd, .length = len,
			       .addr = (uintptr_t)addr, .access = access,
			       .flags = flags };

	EXPECT_EQ(rig_ioctl(n, FL_IOC_REG_MR, &m), want);
	return m.key;
}

void rig_open(struct rig_node *n)
{
	n->fd = host_open(n->process, "faultline0");
	EXPECT_GE(n->fd, 0);
}

uint32_t rig_qp_flags;

void rig_set_up(struct rig_node *n, uint32_t flags)
{
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = RIG_QUEUE };
	struct fl_create_qp qp = { .size = sizeof(qp), .entries = RIG_QUEUE,
				   .flags = rig_qp_flags };
	bool packets = rig_qp_flags & (FL_QP_RC | FL_QP_UD);
	int err;

	n->posted = 0;
	n->taken = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), 0);
	qp.pd = n->pd = pd.pd;
	qp.cq = n->cq = cq.cq;
	qp.recv_cq = packets ? cq.cq : 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), 0);
	n->qp = qp.qp;
	n->cqe = host_mmap_fd(n->process, n->fd, cq.mmap_bytes, cq.mmap_offset,
			      &err);
	EXPECT(n->cqe);
	n->cq_bytes = cq.mmap_bytes;
	n->sq_bytes = qp.mmap_bytes;
	n->sq = host_mmap_fd(n->process, n->fd, qp.mmap_bytes, qp.mmap_offset,
			     &err);
	EXPECT(n->sq);
	n->doorbell = host_mmap_fd(n->process, n->fd, RIG_PAGE,
				   FL_MMAP_DOORBELL, &err);
	EXPECT(n->doorbell);
	if (!n->buffer)
		n->buffer = host_mmap(n->process, RIG_BYTES,
				      HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT(n->buffer);
	n->key = rig_reg_mr(n, n->buffer, RIG_BYTES, RIG_ALL, flags, 0);
}

void rig_unmap(struct rig_node *n)
{
	EXPECT_EQ(host_munmap_fd(n->process, n->cqe, n->cq_bytes), 0);
	EXPECT_EQ(host_munmap_fd(n->process, n->sq, n->sq_bytes), 0);
	EXPECT_EQ(host_munmap_fd(n->process, n->doorbell, RIG_PAGE), 0);
}

void rig_close(struct rig_node *n)
{
	rig_unmap(n);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

void rig_connect(struct rig *r)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct fl_connect_qp c = { .size = sizeof(c),
					   .qp = r->n[i].qp,
					   .node = r->first + !i,
					   .peer_qp = r->n[!i].qp };

		EXPECT_EQ(rig_ioctl(&r->n[i], FL_IOC_CONNECT_QP, &c), 0);
	}
}

void rig_pair(struct rig *r, uint32_t mode, uint32_t resolve, uint32_t mr_flags)
{
	struct fl_policy p = { .size = sizeof(p), .system = mode,
			       .resolve = resolve };
	int i;

	for (i = 0; i < 2; i++) {
		rig_open(&r->n[i]);
		EXPECT_EQ(rig_ioctl(&r->n[i], FL_IOC_POLICY, &p), 0);
		rig_set_up(&r->n[i], mr_flags);
	}
	rig_connect(r);
}

void rig_fill(struct rig_node *n, uint32_t len, uint8_t salt)
{
	uint8_t *b = malloc(len);
	uint32_t i;

	for (i = 0; i < len; i++)
		b[i] = (uint8_t)(i * 7 + i / 251 + salt);
	EXPECT_EQ(mm_copy(host_process_mm(n->process), (uintptr_t)n->buffer, b,
			  len, true), 0);
	free(b);
}

void rig_same(struct rig *r, uint32_t len)
{
	uint8_t *b[2];
	int i;

	for (i = 0; i < 2; i++) {
		b[i] = malloc(len);
		EXPECT_EQ(mm_copy(host_process_mm(r->n[i].process),
				  (uintptr_t)r->n[i].buffer, b[i], len, false),
			  0);
	}
	EXPECT_MEM(b[1], b[0], len);
	free(b[0]);
	free(b[1]);
}

void rig_post(struct rig *r, uint8_t opcode, uint32_t from, uint32_t to,
	      uint32_t len)
{
	struct rig_node *n = &r->n[0];
	struct fl_wqe w = {
		.opcode = opcode, .flags = FL_WQE_SIGNALED, .index = n->posted,
		.length = len, .local_va = (uintptr_t)n->buffer + from,
		.remote_va = (uintptr_t)r->n[1].buffer + to, .lkey = n->key,
		.rkey = r->n[1].key, .wr_id = n->posted, .xfer = 1u + n->posted,
	};

	n->sq[n->posted++ % RIG_QUEUE] = w;
	host_mmio_write32(n->process, n->doorbell + NIC_DB_SQ,
			  n->qp | (uint32_t)n->posted << 16);
}

bool rig_look(struct rig_node *n)
{
	struct fl_cqe *e = &n->cqe[n->taken % RIG_QUEUE];

	return __atomic_load_n(&e->phase, __ATOMIC_ACQUIRE) ==
	       1 + n->taken / RIG_QUEUE;
}

int rig_wait(struct rig_node *n)
{
	struct fl_wait_cq w = { .size = sizeof(w), .cq = n->cq,
				.timeout_ns = TEST_PATIENCE_NS };
	struct fl_cqe *e;

	while (!rig_look(n)) {
		host_mmio_write32(n->process, n->doorbell + NIC_DB_CQ_ARM,
				  n->cq | n->taken << 16);
		EXPECT_EQ(rig_ioctl(n, FL_IOC_WAIT_CQ, &w), 0);
	}
	e = &n->cqe[n->taken++ % RIG_QUEUE];
	host_mmio_write32(n->process, n->doorbell + NIC_DB_CQ_CONS,
			  n->cq | n->taken << 16);
	return e->status;
}

static void rig_body(void *arg)
{
	struct rig *r = arg;

	r->body(r);
}

unsigned int rig_walk_cache;

void rig_board(struct rig *r, int i, const struct host_driver_params *params)
{
	struct board_config bc = {
		.name = i ? "b" : "a", .id = (uint8_t)(r->first + i), .sim = r->sim,
		.fabric = r->fabric, .trace = r->trace, .timing = &r->timing,
		.walk_cache_entries = rig_walk_cache,
	};
	struct rig_node *n = &r->n[i];
	struct host_config hc = { 0 };
	int err = 0;

	n->fd = -1;
	n->board = board_create(&bc, &err);
	EXPECT(n->board);
	hc.board = n->board;
	hc.resident_pages = r->frames;
	n->kernel = host_create(&hc, &err);
	EXPECT(n->kernel);
	EXPECT_EQ(host_driver_probe(n->kernel, params), 0);
	n->process = host_process_create(n->kernel, i ? "pb" : "pa", &err);
	EXPECT(n->process);
}

static void rig_down(struct rig *r)
{
	int i;

	for (i = 0; i < 2; i++) {
		host_process_exit(r->n[i].process);
		if (!r->n[i].removed)
			host_driver_remove(r->n[i].kernel);
	}
	sim_stop(r->sim);
	for (i = 0; i < 2; i++) {
		EXPECT(!host_check(r->n[i].kernel, true));
		host_destroy(r->n[i].kernel);
		board_destroy(r->n[i].board);
	}
	fabric_destroy(r->fabric);
	sim_destroy(r->sim);
	EXPECT_EQ(trace_count(r->trace, EV_STALE_ACCESS), 0);
	EXPECT_EQ(trace_count(r->trace, EV_SMMU_RESUME_IGNORED), r->resumes_ignored);
	EXPECT_EQ(trace_count(r->trace, EV_ENG_BAD_REG), r->bad_regs);
	trace_destroy(r->trace);
	timing_free(&r->timing);
}

void rig_run_in(uint64_t frames, enum sim_mode mode,
		const struct host_driver_params *params,
		void (*body)(struct rig *r), void (*after)(struct rig *r))
{
	struct rig *r = calloc(1, sizeof(*r));
	struct sim_config sc = { .mode = mode, .seed = test_seed() };
	struct trace_config tc = { .threads = mode == SIM_THREADS,
				   .out = getenv("TRACE") ? stderr : NULL };
	struct fabric_config fc;
	struct sim_thread *t;
	int i;

	r->body = body;
	r->frames = frames;
	timing_defaults(&r->timing);
	r->trace = trace_create(&tc);
	sc.trace = r->trace;
	r->sim = sim_create(&sc);
	fc = (struct fabric_config){ .sim = r->sim, .trace = r->trace,
				     .timing = &r->timing };
	r->fabric = fabric_create(&fc);
	for (i = 0; i < 2; i++)
		rig_board(r, i, params);
	EXPECT_EQ(fabric_link(r->fabric, 0, 1), 0);
	t = host_thread_start(r->n[0].process, "test", rig_body, r);
	r->result = sim_run(r->sim, 0, 1000000);
	EXPECT_EQ(r->result, SIM_FINISHED);
	sim_thread_join(t);
	if (after)
		after(r);
	rig_down(r);
	free(r);
}

void rig_run(void (*body)(struct rig *r))
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };

	rig_run_with(SIM_LOCKSTEP, &p, body, NULL);
}
