// SPDX-License-Identifier: BSD-2-Clause
/*
 * The main job: a WRITE into memory that is not there. Nothing is pinned and
 * nothing was touched; the card meets each missing page, the driver brings it
 * in, the block is sent again, and the application only sees that it is done.
 *
 *	write [DEVICE]
 */
#include "example.h"

#define BYTES (64 * 1024)

int main(int argc, char **argv)
{
	struct fl_address left_at, right_at;
	struct fl_fault_counters count;
	struct fl_mr *source, *destination;
	struct fl_qp *left, *right;
	struct fl_completion done;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	char *from, *to;
	int i, n;

	TRY(fl_open(argc > 1 ? argv[1] : NULL, &dev));
	TRY(fl_alloc_pd(dev, &pd));
	TRY(fl_create_cq(dev, 16, &cq));
	TRY(fl_create_qp(pd, cq, 16, &left));
	TRY(fl_create_qp(pd, cq, 16, &right));
	TRY(fl_qp_address(left, &left_at));
	TRY(fl_qp_address(right, &right_at));
	TRY(fl_connect(left, &right_at));
	TRY(fl_connect(right, &left_at));

	from = fl_alloc(dev, BYTES);
	to = fl_alloc(dev, BYTES);
	CHECK(from && to);
	for (i = 0; i < BYTES; i++)
		from[i] = (char)(i * 7);
	TRY(fl_reg_mr(pd, from, BYTES, 0, &source));
	TRY(fl_reg_mr(pd, to, BYTES, FL_REMOTE_WRITE, &destination));

	TRY(fl_post_write(left, 1, source, from, BYTES, (uintptr_t)to,
			  fl_mr_key(destination)));
	while (!(n = fl_poll(cq, &done, 1)))
		;
	TRY(n);
	CHECK(done.wr_id == 1 && done.qpn == left_at.qpn);
	printf("write: %s\n", fl_status_string(done.status));
	CHECK(done.status == 0 && done.bytes == BYTES);

	TRY(fl_query_counters(dev, &count));
	printf("%llu faults, %llu at the destination\n",
	       (unsigned long long)count.faults,
	       (unsigned long long)count.faults_destination);
	CHECK(count.faults_destination > 0);
	CHECK(!memcmp(from, to, BYTES));
	printf("every byte is the same\n");
	/* Closing frees what is left, in the right order. */
	TRY(fl_close(dev));
	return 0;
}
