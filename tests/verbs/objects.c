// SPDX-License-Identifier: BSD-2-Clause
/*
 * objects.c - what is refused, and with which error: regions (ibv_reg_mr(3)), advice
 * (ibv_advise_mr(3)), objects that others use, and calls that this library does not have; and
 * what queries answer (ibv_query_qp(3), ibv_query_srq(3), ibv_query_device_ex(3)).
 */
#include "rig.h"

#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static unsigned char *map_pages(size_t pages, int prot)
{
	unsigned char *p = mmap(NULL, pages * 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check_that(p != MAP_FAILED, "memory", errno);
	return p;
}

static void mr_refused(void)
{
	unsigned char *hole = map_pages(3, PROT_READ | PROT_WRITE),
		      *reads = map_pages(1, PROT_READ);
	struct ibv_mr *r;

	check_null(ibv_reg_mr(pd, mem, 0, ALL), EINVAL);
	check_null(ibv_reg_mr(pd, mem, 4096, IBV_ACCESS_REMOTE_WRITE), EINVAL);
	check_null(ibv_reg_mr(pd, mem, 4096, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
	check_null(ibv_reg_mr(pd, mem, 4096, 1 << 19), EINVAL);
	check_null(ibv_reg_mr(pd, mem, SIZE_MAX - 4096, ALL), EINVAL);
	check_null(ibv_reg_mr(pd, mem, 4096, ALL | IBV_ACCESS_ZERO_BASED), EOPNOTSUPP);
	munmap(hole + 4096, 4096);
	check_null(ibv_reg_mr(pd, hole, 3 * 4096, ALL), EFAULT);
	check_null(ibv_reg_mr(pd, reads, 4096, ALL), EFAULT);
	r = ibv_reg_mr(pd, reads, 4096, IBV_ACCESS_REMOTE_READ);
	check_that(r && r->addr == reads && r->length == 4096 && r->pd == pd &&
		   r->context == ctx, "what is only to be read", errno);
	check_error(ibv_dereg_mr(r), 0);
	/* Optional rights that no device needs to know. */
	r = ibv_reg_mr(pd, mem, 1, IBV_ACCESS_RELAXED_ORDERING);
	check_that(r, "relaxed ordering is optional", errno);
	check_error(ibv_dereg_mr(r), 0);
	munmap(hole, 3 * 4096);
	munmap(reads, 4096);
}

static void users_keep(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct end e = { 0 };
	struct ibv_srq *srq;
	struct ibv_mr *r;
	struct ibv_cq *cq;

	check_that(other && channel, "objects", errno);
	r = ibv_reg_mr(other, mem, 4096, ALL);
	check_that(r, "region", errno);
	check_error(ibv_dealloc_pd(other), EBUSY);
	check_error(ibv_dereg_mr(r), 0);
	srq = ibv_create_srq(other, &init);
	check_that(srq, "shared receive queue", errno);
	check_error(ibv_dealloc_pd(other), EBUSY);
	check_error(ibv_destroy_srq(srq), 0);
	check_error(ibv_dealloc_pd(other), 0);
	srq = ibv_create_srq(pd, &init);
	end_make(&e, srq, 16);
	check_error(ibv_destroy_cq(e.send), EBUSY);
	check_error(ibv_destroy_cq(e.recv), EBUSY);
	check_error(ibv_destroy_srq(srq), EBUSY);
	check_error(ibv_dealloc_pd(pd), EBUSY);
	check_error(ibv_destroy_qp(e.qp), 0);
	check_error(ibv_destroy_cq(e.send), 0);
	check_error(ibv_destroy_cq(e.recv), 0);
	check_error(ibv_destroy_srq(srq), 0);
	cq = ibv_create_cq(ctx, 10, &e, channel, 0);
	check_that(cq && cq->cqe >= 10 && cq->cq_context == &e, "completion queue", errno);
	check_error(ibv_destroy_comp_channel(channel), EBUSY);
	check_error(ibv_destroy_cq(cq), 0);
	check_error(ibv_destroy_comp_channel(channel), 0);
}

static void too_much(void)
{
	struct ibv_cq *cq = rig_cq(10);
	struct ibv_qp_init_attr good = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { 16, 16, 2, 2, 64 },
	}, init;
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 0, .max_sge = 1 } };
	struct ibv_device_attr a;
	struct ibv_qp *qp;

	check_error(ibv_query_device(ctx, &a), 0);
	check_null(ibv_create_cq(ctx, 0, NULL, NULL, 0), EINVAL);
	check_null(ibv_create_cq(ctx, -1, NULL, NULL, 0), EINVAL);
	check_null(ibv_create_cq(ctx, a.max_cqe + 1, NULL, NULL, 0), EINVAL);
	check_null(ibv_create_cq(ctx, 10, NULL, NULL, 1), EINVAL);
	check_null(ibv_create_srq(pd, &srq), EINVAL);
	srq.attr.max_wr = (uint32_t)a.max_srq_wr + 1;
	check_null(ibv_create_srq(pd, &srq), EINVAL);
	init = good;
	init.cap.max_send_wr = (uint32_t)a.max_qp_wr + 1;
	check_null(ibv_create_qp(pd, &init), EINVAL);
	init = good;
	init.cap.max_recv_wr = (uint32_t)a.max_qp_wr + 1;
	check_null(ibv_create_qp(pd, &init), EINVAL);
	init = good;
	init.cap.max_recv_sge = (uint32_t)a.max_sge + 1;
	check_null(ibv_create_qp(pd, &init), EINVAL);
	init = good;
	init.cap.max_inline_data = 1000;
	check_null(ibv_create_qp(pd, &init), EINVAL);
	init = good;
	init.qp_type = IBV_QPT_UC;
	check_null(ibv_create_qp(pd, &init), EOPNOTSUPP);
	/* What the device says it can have, all at once; and as little as there can be. */
	init = good;
	init.cap.max_send_wr = init.cap.max_recv_wr = (uint32_t)a.max_qp_wr;
	init.cap.max_send_sge = init.cap.max_recv_sge = (uint32_t)a.max_sge;
	init.cap.max_inline_data = 16;
	qp = ibv_create_qp(pd, &init);
	check_that(qp, "the largest queue pair", errno);
	check_error(ibv_destroy_qp(qp), 0);
	memset(&init.cap, 0, sizeof(init.cap));
	qp = ibv_create_qp(pd, &init);
	check_that(qp, "the smallest queue pair", errno);
	check_error(ibv_destroy_qp(qp), 0);
	check_error(ibv_destroy_cq(cq), 0);
}

static void query_is(struct end *e, enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	memset(&a, 0xEE, sizeof(a));
	check_error(ibv_query_qp(e->qp, &a, ~0, &init), 0);
	check_that(a.qp_state == state && a.cur_qp_state == state, "qp_state", a.qp_state);
	check_that(e->qp->state == state, "ibv_qp.state", e->qp->state);
	check_that(init.send_cq == e->send && init.recv_cq == e->recv && !init.srq &&
		   init.qp_type == IBV_QPT_RC && !init.sq_sig_all, "init", 0);
	check_that(init.cap.max_send_wr >= 16 && init.cap.max_recv_wr >= 16 &&
		   init.cap.max_send_sge >= 2 && init.cap.max_recv_sge >= 2 &&
		   init.cap.max_inline_data >= 64 &&
		   !memcmp(&a.cap, &init.cap, sizeof(a.cap)), "cap", init.cap.max_send_wr);
	if (state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD)
		check_that(a.path_mtu == IBV_MTU_1024 && a.rq_psn == 77 && a.port_num == 1 &&
			   a.max_dest_rd_atomic == 4 && a.min_rnr_timer == 1 &&
			   a.ah_attr.dlid == lid && a.pkey_index == 0 &&
			   (a.qp_access_flags & IBV_ACCESS_REMOTE_READ), "attributes", 0);
	if (state == IBV_QPS_RTS || state == IBV_QPS_SQD)
		check_that(a.sq_psn == 77 && a.timeout == 14 && a.retry_cnt == 7 &&
			   a.rnr_retry == 7 && a.max_rd_atomic == 4 && !a.sq_draining,
			   "attributes to send with", 0);
}

static void qp_queried(void)
{
	struct end a = { 0 }, b = { 0 };
	struct ibv_qp_attr attr = { .min_rnr_timer = 12, .qp_state = IBV_QPS_RTS };
	struct ibv_qp_init_attr init;

	end_make(&a, NULL, 16);
	end_make(&b, NULL, 16);
	query_is(&a, IBV_QPS_INIT);
	end_receives(&a, &b);
	end_receives(&b, &a);
	query_is(&a, IBV_QPS_RTR);
	end_sends(&a);
	end_sends(&b);
	query_is(&a, IBV_QPS_RTS);
	/* What is refused changes nothing: an attribute that this way has not, and a bad one. */
	attr.path_mtu = IBV_MTU_256;
	check_error(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU), EINVAL);
	attr.min_rnr_timer = 32;
	check_error(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), EINVAL);
	attr.qp_state = IBV_QPS_INIT;
	check_error(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), EINVAL);
	query_is(&a, IBV_QPS_RTS);
	attr.min_rnr_timer = 12;
	check_error(ibv_modify_qp(a.qp, &attr, IBV_QP_MIN_RNR_TIMER), 0);
	check_error(ibv_query_qp(a.qp, &attr, IBV_QP_MIN_RNR_TIMER, &init), 0);
	check_that(attr.min_rnr_timer == 12, "min_rnr_timer", attr.min_rnr_timer);
	check_error(end_modify(&a, IBV_QPS_SQD), 0);
	check_error(ibv_query_qp(a.qp, &attr, ~0, &init), 0);
	check_that(attr.qp_state == IBV_QPS_SQD && !attr.sq_draining, "SQD", attr.qp_state);
	check_error(end_modify(&a, IBV_QPS_RTS), 0);
	/* It fails by itself. */
	check_error(end_post(&a, IBV_WR_RDMA_WRITE, 1, 10, mr->rkey ^ 0x8000), 0);
	cq_expect(a.send, 1, IBV_WC_REM_ACCESS_ERR);
	query_is(&a, IBV_QPS_ERR);
	check_error(end_modify(&a, IBV_QPS_RTS), EINVAL);
	check_error(end_modify(&a, IBV_QPS_RESET), 0);
	query_is(&a, IBV_QPS_RESET);
	check_error(ibv_destroy_qp(a.qp), 0);
	check_error(ibv_destroy_qp(b.qp), 0);
}

/* What qp_access_flags do not name is no request for the pair, though the region allows it. */
static void qp_rights(void)
{
	static const struct { enum ibv_wr_opcode opcode; int flag; } op[] = {
		{ IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE },
		{ IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC },
	};
	struct ibv_sge sge = rig_sge(0, 8);
	struct ibv_send_wr *bad, wr = { .sg_list = &sge, .num_sge = 1,
					.send_flags = IBV_SEND_SIGNALED };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct end a = { 0 }, b = { 0 };
	int i, k;

	for (i = 0; i < 6; i++) {
		k = i / 2;
		ends_make(&a, &b);
		attr.qp_access_flags = i % 2 ? op[k].flag : 14 & ~op[k].flag;
		check_error(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
		wr.opcode = op[k].opcode;
		wr.wr.rdma.remote_addr = (uintptr_t)mem + RIG_BYTES / 2;
		wr.wr.rdma.rkey = mr->rkey;
		if (k == 2) {
			wr.wr.atomic.remote_addr = (uintptr_t)mem + RIG_BYTES / 2;
			wr.wr.atomic.compare_add = 1;
			wr.wr.atomic.rkey = mr->rkey;
		}
		check_error(ibv_post_send(a.qp, &wr, &bad), 0);
		cq_expect(a.send, 0, i % 2 ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR);
		check_error(ibv_destroy_qp(a.qp), 0);
		check_error(ibv_destroy_qp(b.qp), 0);
	}
}

static int mr_advise(struct ibv_pd *in, enum ibv_advise_mr_advice advice, uint32_t flags,
		  uint64_t addr, uint32_t bytes, uint32_t key)
{
	struct ibv_sge sge = { addr, bytes, key };

	return ibv_advise_mr(in, advice, flags, &sge, 1);
}

/* Through the region of all memory, to what no other region has. */
static void implicit_use(struct ibv_mr *m)
{
	unsigned char *p = map_pages(2, PROT_READ | PROT_WRITE);
	struct ibv_sge sge = { (uintptr_t)p + 100, 500, m->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { (uintptr_t)p + 5000, m->rkey },
	};
	struct end a = { 0 }, b = { 0 };
	int i;

	for (i = 0; i < 500; i++)
		p[100 + i] = (unsigned char)i;
	ends_make(&a, &b);
	check_error(ibv_post_send(a.qp, &wr, &bad), 0);
	cq_expect(a.send, 0, IBV_WC_SUCCESS);
	check_that(!memcmp(p + 100, p + 5000, 500), "other bytes", 0);
	check_error(ibv_destroy_qp(a.qp), 0);
	check_error(ibv_destroy_qp(b.qp), 0);
	munmap(p, 2 * 4096);
}

static void on_demand(void)
{
	const enum ibv_advise_mr_advice r = IBV_ADVISE_MR_ADVICE_PREFETCH,
					w = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const uint32_t f = IBV_ADVISE_MR_FLAG_FLUSH;
	unsigned char *p = map_pages(8, PROT_READ | PROT_WRITE);
	const uint64_t at = (uintptr_t)p;
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_device_attr_ex x;
	struct ibv_mr *m, *reads;
	struct ibv_sge two[2];
	uint64_t implicit;
	uint32_t rc;

	check_error(ibv_query_device_ex(ctx, NULL, &x), 0);
	rc = x.odp_caps.per_transport_caps.rc_odp_caps;
	implicit = x.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT;
	check_that(x.odp_caps.general_caps == (IBV_ODP_SUPPORT | implicit),
		   "general_caps", x.odp_caps.general_caps);
	check_that(rc == (IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
			  IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
			  IBV_ODP_SUPPORT_SRQ_RECV), "rc_odp_caps", rc);
	check_that(x.odp_caps.per_transport_caps.ud_odp_caps == IBV_ODP_SUPPORT_SEND, "ud_odp_caps",
		   x.odp_caps.per_transport_caps.ud_odp_caps);
	m = ibv_reg_mr(pd, p, 7 * 4096, ALL | IBV_ACCESS_ON_DEMAND);
	reads = ibv_reg_mr(pd, p, 4096, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ);
	check_that(m && reads && other, "regions", errno);
	check_error(mr_advise(pd, r, f, at, 7 * 4096, m->lkey), 0);
	check_error(mr_advise(pd, w, f, at + 1, 4096, m->lkey), 0);
	check_error(mr_advise(pd, w, 0, at, 4096, m->lkey), 0);
	check_error(mr_advise(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, f, at, 4096, m->lkey),
		    0);
	check_error(mr_advise(pd, r, f, at, 7 * 4096 + 1, m->lkey), EFAULT);
	check_error(mr_advise(pd, r, f, at - 1, 4096, m->lkey), EFAULT);
	check_error(mr_advise(pd, r, f, at, 4096, m->lkey ^ 0x8000), ENOENT);
	check_error(mr_advise(other, r, f, at, 4096, m->lkey), EPERM);
	check_error(mr_advise(pd, w, f, at, 4096, reads->lkey), EPERM);
	check_error(mr_advise(pd, r, 2, at, 4096, m->lkey), EINVAL);
	check_error(mr_advise(pd, (enum ibv_advise_mr_advice)9, f, at, 4096, m->lkey), EINVAL);
	check_error(ibv_advise_mr(pd, r, f, NULL, 0), EINVAL);
	two[0] = (struct ibv_sge){ at, 4096, m->lkey };
	two[1] = (struct ibv_sge){ at + 4096, 4096, m->lkey };
	check_error(ibv_advise_mr(pd, w, f, two, 2), 0);
	two[1].length = 7 * 4096;
	check_error(ibv_advise_mr(pd, w, f, two, 2), EFAULT);
	check_error(ibv_dereg_mr(m), 0);
	check_error(ibv_dereg_mr(reads), 0);
	/* As the device says, and then it is good for something. */
	m = ibv_reg_mr(pd, NULL, SIZE_MAX, ALL | IBV_ACCESS_ON_DEMAND);
	check_that(!m == !implicit, "a region of all memory", errno);
	if (m) {
		check_error(mr_advise(pd, w, f, at, 2 * 4096, m->lkey), 0);
		implicit_use(m);
		munmap(p + 7 * 4096, 4096);
		check_error(mr_advise(pd, r, f, at + 7 * 4096, 4096, m->lkey), EFAULT);
		check_error(ibv_dereg_mr(m), 0);
	}
	check_null(ibv_reg_mr(pd, NULL, SIZE_MAX, ALL), EINVAL);
	check_error(ibv_dealloc_pd(other), 0);
	munmap(p, 8 * 4096);
}

/* A region on demand does not hold its memory: what has gone cannot be brought in. */
static void unmapped_advised(int touched)
{
	const enum ibv_advise_mr_advice r = IBV_ADVISE_MR_ADVICE_PREFETCH,
					w = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const uint32_t f = IBV_ADVISE_MR_FLAG_FLUSH;
	unsigned char *p = map_pages(8, PROT_READ | PROT_WRITE);
	const uint64_t at = (uintptr_t)p;
	struct ibv_sge two[2];
	struct ibv_mr *m;

	if (touched)
		memset(p, 7, 8 * 4096);
	m = ibv_reg_mr(pd, p, 8 * 4096, ALL | IBV_ACCESS_ON_DEMAND);
	check_that(m, "region", errno);
	if (touched)
		check_error(mr_advise(pd, r, f, at, 8 * 4096, m->lkey), 0);
	munmap(p + 2 * 4096, 2 * 4096);
	check_error(mr_advise(pd, r, f, at, 8 * 4096, m->lkey), EFAULT);
	check_error(mr_advise(pd, w, f, at + 3 * 4096, 1, m->lkey), EFAULT);
	check_error(mr_advise(pd, w, f, at + 4095, 4096 + 2, m->lkey), EFAULT);
	/* What is there still can be; and a key that is none comes first. */
	check_error(mr_advise(pd, r, f, at, 2 * 4096, m->lkey), 0);
	check_error(mr_advise(pd, w, f, at + 4 * 4096, 4 * 4096, m->lkey), 0);
	check_error(mr_advise(pd, r, f, at, 8 * 4096, m->lkey ^ 0x8000), ENOENT);
	/* Nobody waits for what a worker does, and what is there anyway is no fault. */
	check_error(mr_advise(pd, r, 0, at, 8 * 4096, m->lkey), 0);
	check_error(mr_advise(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, f, at, 8 * 4096,
			      m->lkey), 0);
	two[0] = (struct ibv_sge){ at, 4096, m->lkey };
	two[1] = (struct ibv_sge){ at + 2 * 4096, 4096, m->lkey };
	check_error(ibv_advise_mr(pd, r, f, two, 2), EFAULT);
	check_error(ibv_dereg_mr(m), 0);
	munmap(p, 8 * 4096);
}

/* They say so, and what they return can be told from an object. */
static void calls_missing(void)
{
	struct ibv_mw *mw;

	check_null(ibv_import_pd(ctx, 1), EOPNOTSUPP);
	check_null(ibv_import_mr(pd, 1), EOPNOTSUPP);
	check_null(ibv_import_device(1), EOPNOTSUPP);
	check_null(ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, ALL), EOPNOTSUPP);
	errno = 0;
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	check_that(!mw && errno == EOPNOTSUPP, "memory window", errno);
	check_error(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL) != 0, 1);
	check_error(ibv_query_qp_data_in_order(NULL, IBV_WR_RDMA_WRITE, 0), 0);
}

/* A system of blocks has WRITE and READ alone; a pair that failed says so there too. */
static void blocks_fail(void)
{
	struct end e = { .send = rig_cq(64) };
	struct ibv_qp_init_attr init = {
		.send_cq = e.send, .recv_cq = e.send, .qp_type = IBV_QPT_RC,
		.cap = { 16, 0, 1, 0, 0 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	e.qp = ibv_create_qp(pd, &init);
	check_that(e.qp, "queue pair", errno);
	check_error(ibv_modify_qp(e.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
	end_receives(&e, &e);
	end_sends(&e);
	check_error(ibv_query_qp(e.qp, &attr, ~0, &init), 0);
	check_that(attr.qp_state == IBV_QPS_RTS, "qp_state", attr.qp_state);
	check_error(end_post(&e, IBV_WR_RDMA_WRITE, 1, 10, mr->rkey), 0);
	cq_expect(e.send, 1, IBV_WC_SUCCESS);
	check_error(end_post(&e, IBV_WR_SEND, 2, 10, 0), EINVAL);
	check_error(end_post(&e, IBV_WR_RDMA_WRITE, 3, 10, mr->rkey ^ 0x8000), 0);
	cq_expect(e.send, 3, IBV_WC_REM_ACCESS_ERR);
	check_error(ibv_query_qp(e.qp, &attr, ~0, &init), 0);
	check_that(attr.qp_state == IBV_QPS_ERR, "qp_state", attr.qp_state);
	check_error(ibv_destroy_qp(e.qp), 0);
}

/* With an argument: on a system of blocks. */
int main(int argc, char **argv)
{
	(void)argv;
	rig_open();
	if (argc > 1) {
		blocks_fail();
		printf("what makes no sense is refused\n");
		return 0;
	}
	mr_refused();
	users_keep();
	too_much();
	qp_queried();
	qp_rights();
	on_demand();
	unmapped_advised(0);
	unmapped_advised(1);
	calls_missing();
	printf("what makes no sense is refused\n");
	return 0;
}
