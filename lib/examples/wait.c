// SPDX-License-Identifier: BSD-2-Clause
/*
 * Polling and waiting: fl_poll never blocks and is right for what is about to
 * end; fl_wait sleeps, and gives up after a time if it is told to.
 *
 *	wait [DEVICE]
 */
#include "example.h"

#define PAGE 4096
#define ROUNDS 40	/* more than the queues hold */
#define DEPTH 8

int main(int argc, char **argv)
{
	struct fl_address left_at, right_at;
	struct fl_completion done[DEPTH];
	struct fl_qp *left, *right;
	struct fl_device *dev;
	struct fl_mr *region;
	struct fl_pd *pd;
	struct fl_cq *cq;
	int i, n, posted = 0, finished = 0, full = 0;
	char *mem;

	TRY(fl_open(argc > 1 ? argv[1] : NULL, &dev));
	TRY(fl_alloc_pd(dev, &pd));
	TRY(fl_create_cq(dev, DEPTH, &cq));
	TRY(fl_create_qp(pd, cq, DEPTH, &left));
	TRY(fl_create_qp(pd, cq, DEPTH, &right));
	TRY(fl_qp_address(left, &left_at));
	TRY(fl_qp_address(right, &right_at));
	TRY(fl_connect(left, &right_at));
	TRY(fl_connect(right, &left_at));
	mem = fl_alloc(dev, (ROUNDS + 1) * PAGE);
	CHECK(mem != NULL);
	memset(mem, 5, PAGE);
	TRY(fl_reg_mr(pd, mem, (ROUNDS + 1) * PAGE, FL_REMOTE_WRITE, &region));

	/* Nothing was posted: nothing comes. */
	n = fl_wait(cq, done, DEPTH, 1000000);
	CHECK(n == -ETIMEDOUT);
	printf("after a millisecond: %s\n", fl_strerror(n));

	/* The first page to each of the others; each of those is missing. */
	while (finished < ROUNDS) {
		n = -EAGAIN;
		if (posted < ROUNDS)
			n = fl_post_write(left, (uint64_t)posted, region, mem,
					  PAGE, (uintptr_t)mem +
					  (uintptr_t)(posted + 1) * PAGE,
					  fl_mr_key(region));
		if (!n) {
			posted++;
			continue;
		}
		CHECK(n == -EAGAIN);	/* full, or all posted */
		full++;
		TRY(n = fl_wait(cq, done, DEPTH, 0));
		for (i = 0; i < n; i++) {
			CHECK(done[i].status == 0);
			CHECK(done[i].wr_id == (uint64_t)finished);
			finished++;
		}
	}
	printf("%d writes ended in the order in which they were posted\n",
	       finished);
	CHECK(full >= ROUNDS / DEPTH);
	for (i = 1; i <= ROUNDS; i++)
		CHECK(!memcmp(mem, mem + i * PAGE, PAGE));
	CHECK(fl_poll(cq, done, DEPTH) == 0);
	TRY(fl_close(dev));
	return 0;
}
