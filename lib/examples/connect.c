// SPDX-License-Identifier: BSD-2-Clause
/*
 * Queues and connections: two queue pairs that share a completion queue, each
 * the peer of the other. With two processes, each would send its address to
 * the other by any means they have.
 *
 *	connect [DEVICE]
 */
#include "example.h"

int main(int argc, char **argv)
{
	struct fl_address left_at, right_at;
	struct fl_qp *left, *right;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;

	TRY(fl_open(argc > 1 ? argv[1] : NULL, &dev));
	TRY(fl_alloc_pd(dev, &pd));
	/* As many as can be in flight: 16 of each queue pair. */
	TRY(fl_create_cq(dev, 32, &cq));
	TRY(fl_create_qp(pd, cq, 16, &left));
	TRY(fl_create_qp(pd, cq, 16, &right));

	TRY(fl_qp_address(left, &left_at));
	TRY(fl_qp_address(right, &right_at));
	CHECK(left_at.node == right_at.node && left_at.qpn != right_at.qpn);
	TRY(fl_connect(left, &right_at));
	TRY(fl_connect(right, &left_at));
	printf("two queue pairs of one node are connected\n");

	CHECK(fl_connect(left, &right_at) == -EISCONN);
	printf("once more: %s\n", fl_strerror(-EISCONN));
	CHECK(fl_destroy_cq(cq) == -EBUSY);
	printf("the completion queue now: %s\n", fl_strerror(-EBUSY));

	TRY(fl_destroy_qp(left));
	TRY(fl_destroy_qp(right));
	TRY(fl_destroy_cq(cq));
	TRY(fl_dealloc_pd(pd));
	TRY(fl_close(dev));
	return 0;
}
