// SPDX-License-Identifier: BSD-2-Clause
/*
 * overlap.c - a program of libibverbs that knows nothing of what carries it: queue pairs
 * looped back, WRITEs and fenced READs that overlap, and one counter that all of them add
 * to. Plain arrays say what memory must hold, on a board that has too little of it as well.
 *
 *	overlap SEED odp|pinned
 */
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAIRS	3
#define PAGE	4096u
#define PAGES	24u
#define AREA	(PAGES * PAGE)
#define DATA	(2 * PAIRS * AREA)	/* of each pair: its own area, then the peer's */
#define ROUNDS	12
#define WORKS	20			/* of each pair in a round */
#define ADDS	(PAIRS * ROUNDS * WORKS)
#define BYTES	(DATA + (1 + ADDS) * sizeof(uint64_t))

static unsigned int seed;
static unsigned char *mem, wanted[DATA];
static uint64_t *counter;		/* then the originals that came back */
static unsigned int adds;
static struct ibv_mr *mr;
static struct ibv_qp *qp[2][PAIRS];

static unsigned int draw_below(unsigned int n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

static void check_that(int good, const char *what)
{
	if (good)
		return;
	printf("failed: %s\n", what);
	exit(1);
}

static void pair_make(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_qp **q)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 64, 64, 2, 2, 64 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	*q = ibv_create_qp(pd, &init);
	check_that(*q && !ibv_modify_qp(*q, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "queue pair");
}

static void pair_connect(struct ibv_qp *q, struct ibv_qp *peer, uint16_t lid)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num, .rq_psn = 77, .max_dest_rd_atomic = 4,
		.min_rnr_timer = 1, .ah_attr = { .dlid = lid, .port_num = 1 },
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.sq_psn = 77, .max_rd_atomic = 4,
	};

	check_that(!ibv_modify_qp(q, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER), "ready to receive");
	check_that(!ibv_modify_qp(q, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
		   "ready to send");
}

/* WRITEs take from the lower half of the own area, READs land in the upper one. */
static void work_post(unsigned int pair)
{
	size_t own = 2 * pair * AREA, far = own + AREA;
	unsigned int op = draw_below(4), len = 1 + draw_below(draw_below(3) ? 3000 : 12000);
	struct ibv_sge sge = { .lkey = mr->lkey, .length = len };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
	}, *bad;

	own += draw_below(AREA / 2 - len);
	far += draw_below(AREA - len);
	wr.wr.rdma.rkey = mr->rkey;
	if (op < 2) {
		wr.opcode = IBV_WR_RDMA_WRITE;
		memcpy(wanted + far, wanted + own, len);
	} else if (op == 2) {
		wr.opcode = IBV_WR_RDMA_READ;
		own += AREA / 2;
		memcpy(wanted + own, wanted + far, len);
	}
	sge.addr = (uintptr_t)(mem + own);
	wr.wr.rdma.remote_addr = (uintptr_t)(mem + far);
	if (op == 3) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		sge.addr = (uintptr_t)(counter + 1 + adds++);
		sge.length = sizeof(*counter);
		wr.wr.atomic.remote_addr = (uintptr_t)counter;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = mr->rkey;
	}
	check_that(!ibv_post_send(qp[0][pair], &wr, &bad), "post");
}

static void round_do(struct ibv_cq *cq)
{
	unsigned int i, k, at, left = PAIRS * WORKS;
	struct ibv_wc wc;

	for (i = 0; i < PAIRS; i++) {
		at = 2 * i * AREA + draw_below(AREA / 2 - 9000);
		for (k = draw_below(9000); k; k--)
			mem[at + k] = wanted[at + k] = (unsigned char)draw_below(256);
	}
	for (k = 0; k < WORKS; k++)
		for (i = 0; i < PAIRS; i++)
			work_post(i);
	while (left) {
		if (!ibv_poll_cq(cq, 1, &wc))
			continue;
		check_that(!wc.status, ibv_wc_status_str(wc.status));
		left--;
	}
	check_that(!memcmp(mem, wanted, DATA), "memory is not what plain arrays hold");
}

/* Each original from 0 on once: no addition was lost, and none was done twice. */
static void adds_check(void)
{
	static char seen[ADDS];
	unsigned int i;

	check_that(*counter == adds, "the counter");
	for (i = 1; i <= adds; i++) {
		check_that(counter[i] < adds && !seen[counter[i]], "an original came twice");
		seen[counter[i]] = 1;
	}
}

int main(int argc, char **argv)
{
	int i, n = 0, access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_port_attr port;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	check_that(argc == 3, "usage: overlap SEED odp|pinned");
	seed = (unsigned int)atoi(argv[1]);
	if (!strcmp(argv[2], "odp"))
		access |= IBV_ACCESS_ON_DEMAND;
	check_that(n > 0, "device");
	ctx = ibv_open_device(list[0]);
	check_that(ctx && !ibv_query_port(ctx, 1, &port), "port");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 256, NULL, NULL, 0);
	check_that(pd && cq, "objects");
	mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check_that(mem != MAP_FAILED, "memory");
	mr = ibv_reg_mr(pd, mem, BYTES, access);
	check_that(!!mr, "region");
	counter = (uint64_t *)(void *)(mem + DATA);
	for (i = 0; i < 2 * PAIRS; i++)
		pair_make(pd, cq, &qp[i % 2][i / 2]);
	for (i = 0; i < 2 * PAIRS; i++)
		pair_connect(qp[i % 2][i / 2], qp[!(i % 2)][i / 2], port.lid);
	for (i = 0; i < ROUNDS; i++)
		round_do(cq);
	adds_check();
	printf("memory is what plain arrays hold, %u additions once each\n", adds);
	return 0;
}
