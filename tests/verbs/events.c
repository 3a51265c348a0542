// SPDX-License-Identifier: BSD-2-Clause
/*
 * events.c - asynchronous events (ibv_get_async_event(3)): which end gets which, when a
 * connection fails, is set up or is taken down; and that what is destroyed waits for those
 * that were taken, and takes those with it that were not.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "rig.h"

static int event_waits(int timeout_ms)
{
	struct pollfd p = { .fd = ctx->async_fd, .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1;
}

static struct ibv_async_event event_next(void)
{
	struct ibv_async_event e;

	check_that(event_waits(RIG_WAIT_MS), "no event comes", 0);
	check_error(ibv_get_async_event(ctx, &e), 0);
	return e;
}

static void event_is(const struct ibv_async_event *e, enum ibv_event_type type,
		     const void *object)
{
	check_that(e->event_type == type, ibv_event_type_str(e->event_type),
		   e->event_type);
	/* All members of the union are pointers. */
	check_that(e->element.qp == object, "the event of another object", type);
}

static void event_expect(enum ibv_event_type type, const void *object)
{
	struct ibv_async_event e = event_next();

	event_is(&e, type, object);
	ibv_ack_async_event(&e);
}

static struct ibv_srq *srq_make(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &init);

	check_that(srq, "shared receive queue", errno);
	return srq;
}

static int srq_limit(struct ibv_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
}

/* Nothing else has happened: the event of an empty queue's limit is the next. */
static void event_none(void)
{
	struct ibv_srq *srq = srq_make();

	check_error(srq_limit(srq, 1), 0);
	event_expect(IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	check_error(ibv_destroy_srq(srq), 0);
}

static void ends_destroy(struct end *a, struct end *b)
{
	check_error(ibv_destroy_qp(a->qp), 0);
	check_error(ibv_destroy_qp(b->qp), 0);
}

/* The end that asked has its completion; the one that was asked has the event. */
static void responder_errors(struct end *a, struct end *b)
{
	ends_make(a, b);
	check_error(end_post(a, IBV_WR_RDMA_WRITE, 1, 100, mr->rkey ^ 0x8000), 0);
	cq_expect(a->send, 1, IBV_WC_REM_ACCESS_ERR);
	event_expect(IBV_EVENT_QP_ACCESS_ERR, b->qp);
	event_none();
	ends_destroy(a, b);

	/* Packets longer than it has agreed to. */
	b->mtu = IBV_MTU_256;
	ends_make(a, b);
	check_error(end_post(a, IBV_WR_RDMA_WRITE, 2, 1000, mr->rkey), 0);
	cq_expect(a->send, 2, IBV_WC_REM_INV_REQ_ERR);
	event_expect(IBV_EVENT_QP_REQ_ERR, b->qp);
	event_none();
	ends_destroy(a, b);
	b->mtu = 0;

	/* A receive says itself what is wrong with it. */
	ends_make(a, b);
	check_error(end_post_recv(b, 30, 10), 0);
	check_error(end_post(a, IBV_WR_SEND, 3, 11, 0), 0);
	cq_expect(a->send, 3, IBV_WC_REM_INV_REQ_ERR);
	cq_expect(b->recv, 30, IBV_WC_LOC_LEN_ERR);
	event_none();
	ends_destroy(a, b);

	/* The end that asked is told by a completion alone; nor is it news what one has done. */
	a->rnr_tries = 1;
	ends_make(a, b);
	check_error(end_post(a, IBV_WR_SEND, 4, 11, 0), 0);
	cq_expect(a->send, 4, IBV_WC_RNR_RETRY_EXC_ERR);
	check_error(end_modify(b, IBV_QPS_ERR), 0);
	event_none();
	ends_destroy(a, b);
	a->rnr_tries = 0;
}

static void peer_heard(struct end *a, struct end *b)
{
	end_make(a, NULL, 16);
	end_make(b, NULL, 16);
	end_receives(b, a);
	end_receives(a, b);
	end_sends(a);
	check_error(end_post_recv(b, 50, 100), 0);
	event_none();
	check_error(end_post(a, IBV_WR_SEND, 5, 11, 0), 0);
	cq_expect(a->send, 5, IBV_WC_SUCCESS);
	cq_expect(b->recv, 50, IBV_WC_SUCCESS);
	event_expect(IBV_EVENT_COMM_EST, b->qp);
	check_error(end_post(a, IBV_WR_RDMA_WRITE, 6, 11, mr->rkey), 0);
	cq_expect(a->send, 6, IBV_WC_SUCCESS);
	event_none();
	ends_destroy(a, b);
}

/* With the event and without; what was posted before has ended then. */
static void queue_drains(struct end *a, struct end *b)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_wc wc[16];
	int i, n = 0;

	ends_make(a, b);
	for (i = 0; i < 16; i++)
		check_error(end_post(a, IBV_WR_RDMA_WRITE, (uint64_t)i, 8192, mr->rkey), 0);
	check_error(ibv_modify_qp(a->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	event_expect(IBV_EVENT_SQ_DRAINED, a->qp);
	while ((i = ibv_poll_cq(a->send, 16, wc)) > 0)
		n += i;
	/* Those that had not begun go on afterwards. */
	check_error(end_modify(a, IBV_QPS_RTS), 0);
	for (; n < 16; n++)
		cq_expect(a->send, (uint64_t)n, IBV_WC_SUCCESS);
	check_error(end_modify(a, IBV_QPS_SQD), 0);
	event_none();
	ends_destroy(a, b);
}

static void shared_queue(struct end *a, struct end *b)
{
	struct ibv_srq *srq = srq_make();
	struct ibv_srq_attr attr;
	uint64_t i;

	end_make(a, NULL, 16);
	end_make(b, srq, 16);
	ends_connect(a, b);
	for (i = 0; i < 4; i++)
		check_error(rig_post_srq(srq, i, 100), 0);
	check_error(srq_limit(srq, 3), 0);
	check_error(ibv_query_srq(srq, &attr), 0);
	check_that(attr.srq_limit == 3 && attr.max_wr >= 16, "ibv_query_srq", attr.srq_limit);
	for (i = 0; i < 2; i++) {
		check_error(end_post(a, IBV_WR_SEND, i, 50, 0), 0);
		cq_expect(a->send, i, IBV_WC_SUCCESS);
		cq_expect(b->recv, i, IBV_WC_SUCCESS);
	}
	event_expect(IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	check_error(ibv_query_srq(srq, &attr), 0);
	check_that(!attr.srq_limit, "the limit stays", attr.srq_limit);
	event_none();
	/* It fails with a receive in its hands: that one first. */
	check_error(end_post(a, IBV_WR_SEND, 7, 101, 0), 0);
	event_expect(IBV_EVENT_QP_LAST_WQE_REACHED, b->qp);
	check_that(ibv_poll_cq(b->recv, 1, &(struct ibv_wc){ 0 }) == 1, "no completion", 0);
	cq_expect(a->send, 7, IBV_WC_REM_INV_REQ_ERR);
	ends_destroy(a, b);
	/* As programs take a connection down. */
	end_make(a, NULL, 16);
	end_make(b, srq, 16);
	ends_connect(a, b);
	check_error(end_modify(b, IBV_QPS_ERR), 0);
	event_expect(IBV_EVENT_QP_LAST_WQE_REACHED, b->qp);
	event_none();
	ends_destroy(a, b);
	check_error(ibv_destroy_srq(srq), 0);
}

static void cq_overrun(struct end *a)
{
	struct end b = { .recv = rig_cq(2) };
	struct ibv_async_event e[2];
	int i, fatal;

	ends_make(a, &b);
	for (i = 0; i < 12; i++)
		check_error(end_post_recv(&b, (uint64_t)i, 100), 0);
	for (i = 0; i < 12; i++)
		check_error(end_post(a, IBV_WR_SEND, (uint64_t)i, 10, 0), 0);
	for (i = 0; i < 2; i++)
		e[i] = event_next();
	fatal = e[1].event_type == IBV_EVENT_QP_FATAL;
	event_is(&e[!fatal], IBV_EVENT_CQ_ERR, b.recv);
	event_is(&e[fatal], IBV_EVENT_QP_FATAL, b.qp);
	for (i = 0; i < 2; i++)
		ibv_ack_async_event(&e[i]);
	event_none();
	ends_destroy(a, &b);
	check_error(ibv_destroy_cq(b.send), 0);
	check_error(ibv_destroy_cq(b.recv), 0);
	/* What a failed pair leaves behind. */
	while (ibv_poll_cq(a->send, 1, &(struct ibv_wc){ 0 }))
		;
}

static atomic_int acked;

static void *destroy_later(void *qp)
{
	check_error(ibv_destroy_qp(qp), 0);
	check_that(acked, "it did not wait", 0);
	return NULL;
}

static void destroy_waits(struct end *a, struct end *b)
{
	struct ibv_async_event e;
	pthread_t thread;
	int flags;

	ends_make(a, b);
	check_error(end_post(a, IBV_WR_RDMA_WRITE, 1, 100, mr->rkey ^ 0x8000), 0);
	cq_expect(a->send, 1, IBV_WC_REM_ACCESS_ERR);
	e = event_next();
	event_is(&e, IBV_EVENT_QP_ACCESS_ERR, b->qp);
	check_error(pthread_create(&thread, NULL, destroy_later, b->qp), 0);
	/* So it gets the time to do it wrong. */
	usleep(50000);
	acked = 1;
	ibv_ack_async_event(&e);
	pthread_join(thread, NULL);
	check_error(ibv_destroy_qp(a->qp), 0);
	/* Nobody has taken it. */
	ends_make(a, b);
	check_error(end_post(a, IBV_WR_RDMA_WRITE, 1, 100, mr->rkey ^ 0x8000), 0);
	cq_expect(a->send, 1, IBV_WC_REM_ACCESS_ERR);
	check_that(event_waits(RIG_WAIT_MS), "no event comes", 0);
	ends_destroy(a, b);
	check_that(!event_waits(0), "an event of what is gone", 0);
	flags = fcntl(ctx->async_fd, F_GETFL);
	check_that(!fcntl(ctx->async_fd, F_SETFL, flags | O_NONBLOCK), "fcntl", errno);
	check_error(ibv_get_async_event(ctx, &e), -1);
	check_that(errno == EAGAIN, "it does not say EAGAIN", errno);
	event_none();
}

static struct ibv_srq *_Atomic last;

/* Takes and acknowledges what comes, up to the event of the last queue. */
static void *events_take(void *arg)
{
	struct ibv_async_event e;
	int is_last;

	(void)arg;
	do {
		check_error(ibv_get_async_event(ctx, &e), 0);
		check_that(e.event_type == IBV_EVENT_SRQ_LIMIT_REACHED, "event", e.event_type);
		is_last = e.element.srq == last;
		ibv_ack_async_event(&e);
	} while (!is_last);
	return NULL;
}

/* One thread waits while another destroys what events are just coming of. */
static void destroy_races(void)
{
	int flags = fcntl(ctx->async_fd, F_GETFL), i;
	struct ibv_srq *srq;
	pthread_t thread;

	fcntl(ctx->async_fd, F_SETFL, flags & ~O_NONBLOCK);
	check_error(pthread_create(&thread, NULL, events_take, NULL), 0);
	for (i = 0; i < 300; i++) {
		srq = srq_make();
		check_error(srq_limit(srq, 1), 0);
		if (i % 3 == 1)
			sched_yield();
		check_error(ibv_destroy_srq(srq), 0);
	}
	srq = srq_make();
	last = srq;
	check_error(srq_limit(srq, 1), 0);
	pthread_join(thread, NULL);
	check_error(ibv_destroy_srq(srq), 0);
	check_that(!event_waits(0), "an event of what is gone", 0);
}

/* Somebody ends the board. */
static int device_ends(void)
{
	struct ibv_async_event e;

	printf("waiting\n");
	fflush(stdout);
	check_error(ibv_get_async_event(ctx, &e), 0);
	check_that(e.event_type == IBV_EVENT_DEVICE_FATAL,
		   ibv_event_type_str(e.event_type), e.event_type);
	ibv_ack_async_event(&e);
	check_that(!event_waits(0), "it is told twice", 0);
	printf("the device has ended\n");
	return 0;
}

/* With an argument it waits for the end of the device. */
int main(int argc, char **argv)
{
	struct end a = { 0 }, b = { 0 };

	(void)argv;
	rig_open();
	if (argc > 1)
		return device_ends();
	event_none();
	responder_errors(&a, &b);
	peer_heard(&a, &b);
	queue_drains(&a, &b);
	shared_queue(&a, &b);
	cq_overrun(&a);
	destroy_waits(&a, &b);
	destroy_races();
	check_error(ibv_destroy_cq(a.send), 0);
	check_error(ibv_destroy_cq(a.recv), 0);
	check_error(ibv_destroy_cq(b.send), 0);
	check_error(ibv_destroy_cq(b.recv), 0);
	check_error(ibv_dereg_mr(mr), 0);
	check_error(ibv_dealloc_pd(pd), 0);
	check_error(ibv_close_device(ctx), 0);
	printf("events are told once, to the end that they are of\n");
	return 0;
}
