// SPDX-License-Identifier: BSD-2-Clause
/*
 * Errors: a call says at once what it can know, a completion says what only the
 * card or the peer could know; after that the queue pair takes no more work.
 *
 *	errors [DEVICE]
 */
#include "example.h"

#define PAGE 4096

struct pair {
	struct fl_qp *left, *right;
};

static int make_pair(struct fl_pd *pd, struct fl_cq *cq, struct pair *p)
{
	struct fl_address left_at, right_at;

	TRY(fl_create_qp(pd, cq, 4, &p->left));
	TRY(fl_create_qp(pd, cq, 4, &p->right));
	TRY(fl_qp_address(p->left, &left_at));
	TRY(fl_qp_address(p->right, &right_at));
	TRY(fl_connect(p->left, &right_at));
	TRY(fl_connect(p->right, &left_at));
	return 0;
}

/* Two writes with w; the first one fails and so the second is not begun. */
static int show_failure(const char *what, struct fl_pd *pd, struct fl_cq *cq,
			struct fl_work w)
{
	struct fl_completion done;
	struct pair p;
	int i;

	if (make_pair(pd, cq, &p))
		return 1;
	for (i = 0; i < 2; i++) {
		w.wr_id = (uint64_t)i;
		TRY(fl_post(p.left, &w));
	}
	for (i = 0; i < 2; i++) {
		TRY(fl_wait(cq, &done, 1, 0));
		printf("%s, %d: %s\n", what, i, fl_status_string(done.status));
		CHECK(done.wr_id == (uint64_t)i && done.status != 0);
	}
	TRY(fl_destroy_qp(p.left));
	TRY(fl_destroy_qp(p.right));
	return 0;
}

int main(int argc, char **argv)
{
	struct fl_mr *region, *gone;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_work good = { .opcode = FL_WRITE, .bytes = 100 }, w;
	struct pair p;
	char *mem;
	int error;

	error = fl_open("no-such-card", &dev);
	CHECK(error < 0);
	TRY(fl_open(argc > 1 ? argv[1] : NULL, &dev));
	TRY(fl_alloc_pd(dev, &pd));
	TRY(fl_create_cq(dev, 8, &cq));
	mem = fl_alloc(dev, 2 * PAGE);
	CHECK(mem != NULL);
	TRY(fl_reg_mr(pd, mem, PAGE, FL_LOCAL_WRITE | FL_REMOTE_WRITE,
		      &region));
	good.local = mem;
	good.lkey = fl_mr_key(region);
	good.remote = (uintptr_t)mem + 200;
	good.rkey = fl_mr_key(region);

	/* What the call itself refuses. */
	if (make_pair(pd, cq, &p))
		return 1;
	w = good;
	w.bytes = 0;
	CHECK(fl_post(p.left, &w) == -EINVAL);
	w = good;
	w.remote = UINT64_MAX - 50;
	CHECK(fl_post(p.left, &w) == -EINVAL);
	printf("no bytes, or round the end of memory: %s\n",
	       fl_strerror(-EINVAL));

	/* What a completion says. */
	w = good;
	w.rkey ^= 0x5a5a5a00;
	if (show_failure("wrong key of the peer", pd, cq, w))
		return 1;
	w = good;
	w.remote = (uintptr_t)mem + PAGE - 99;
	if (show_failure("one byte too far", pd, cq, w))
		return 1;
	w = good;
	w.opcode = FL_READ;
	if (show_failure("reading what may only be written", pd, cq, w))
		return 1;
	w = good;
	TRY(fl_reg_mr(pd, mem + PAGE, PAGE, FL_REMOTE_WRITE, &gone));
	w.rkey = fl_mr_key(gone);
	w.remote = (uintptr_t)mem + PAGE;
	TRY(fl_dereg_mr(gone));
	if (show_failure("a region that is gone", pd, cq, w))
		return 1;
	TRY(fl_close(dev));
	return 0;
}
