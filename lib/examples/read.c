// SPDX-License-Identifier: BSD-2-Clause
/*
 * READ: fetch what is in the peer's memory, though it was paged out. Several
 * requests are in flight at once and only the last one has a completion.
 *
 *	read [DEVICE]
 */
#include "example.h"

#define PIECES 4
#define PIECE 12345	/* no page boundary in sight */
#define BYTES (PIECES * PIECE)

int main(int argc, char **argv)
{
	struct fl_address left_at, right_at;
	struct fl_mr *source, *destination;
	struct fl_qp *left, *right;
	struct fl_completion done;
	struct fl_device *dev;
	struct fl_work w = { .opcode = FL_READ, .bytes = PIECE };
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
		from[i] = (char)(i * 11);
	TRY(fl_advise(dev, from, BYTES, FL_PAGEOUT));
	TRY(fl_reg_mr(pd, from, BYTES, FL_REMOTE_READ, &source));
	TRY(fl_reg_mr(pd, to, BYTES, FL_LOCAL_WRITE, &destination));

	w.lkey = fl_mr_key(destination);
	w.rkey = fl_mr_key(source);
	for (i = 0; i < PIECES; i++) {
		w.wr_id = (uint64_t)i;
		w.local = to + i * PIECE;
		w.remote = (uintptr_t)(from + i * PIECE);
		/* Completions come in order: the last one speaks for all. */
		w.unsignaled = i < PIECES - 1;
		TRY(fl_post(left, &w));
	}
	while (!(n = fl_poll(cq, &done, 1)))
		;
	TRY(n);
	printf("read %d: %s\n", (int)done.wr_id,
	       fl_status_string(done.status));
	CHECK(done.status == 0 && done.wr_id == PIECES - 1);
	CHECK(!memcmp(from, to, BYTES));
	printf("every byte is the same\n");
	/* One at a time with the short call. */
	memset(to, 0, 100);
	TRY(fl_post_read(left, 9, destination, to, 100, (uintptr_t)from,
			 fl_mr_key(source)));
	TRY(fl_wait(cq, &done, 1, 0));
	CHECK(done.status == 0 && !memcmp(from, to, BYTES));
	TRY(fl_close(dev));
	return 0;
}
