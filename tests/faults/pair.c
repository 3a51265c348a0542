// SPDX-License-Identifier: BSD-2-Clause
/*
 * pair.c - a process that attaches to a board and uses all that the library has: memory of
 * the card's and its own, two queue pairs, WRITE, READ and waiting, each byte compared.
 *
 *	pair DEVICE
 */
#include <stdlib.h>

#include "lib/examples/example.h"

#define BYTES	(40 * 1024)
#define WAIT_NS	60000000000ull

static struct fl_device *dev;
static struct fl_pd *pd;
static struct fl_cq *cq;
static struct fl_qp *left, *right;

static int open_all(const char *name)
{
	struct fl_address left_at, right_at;
	int err = fl_open(name, &dev);

	if (err) {
		fprintf(stderr, "pair: %s\n", fl_open_error());
		return 1;
	}
	TRY(fl_alloc_pd(dev, &pd));
	TRY(fl_create_cq(dev, 16, &cq));
	TRY(fl_create_qp(pd, cq, 16, &left));
	TRY(fl_create_qp(pd, cq, 16, &right));
	TRY(fl_qp_address(left, &left_at));
	TRY(fl_qp_address(right, &right_at));
	TRY(fl_connect(left, &right_at));
	TRY(fl_connect(right, &left_at));
	return 0;
}

static int pair_finish(uint64_t id)
{
	struct fl_completion c;
	int n;

	while (!(n = fl_wait(cq, &c, 1, WAIT_NS)))
		;
	TRY(n);
	CHECK(c.wr_id == id);
	if (c.status)
		fprintf(stderr, "pair: request %d: %s\n", (int)id,
			fl_status_string(c.status));
	return c.status != 0;
}

/* Out to the card's memory, and back to where it came from. */
static int there_and_back(char *own, char *card)
{
	struct fl_mr *here, *there;
	int i;

	for (i = 0; i < BYTES; i++)
		own[i] = (char)(i * 7 + 1);
	TRY(fl_reg_mr(pd, own, BYTES, FL_LOCAL_WRITE, &here));
	TRY(fl_reg_mr(pd, card, BYTES, FL_REMOTE_WRITE | FL_REMOTE_READ,
		      &there));
	TRY(fl_post_write(left, 1, here, own, BYTES, (uintptr_t)card,
			  fl_mr_key(there)));
	if (pair_finish(1))
		return 1;
	TRY(fl_advise(dev, card, BYTES, FL_PAGEOUT));
	memset(own, 0, BYTES);
	TRY(fl_post_read(left, 2, here, own, BYTES, (uintptr_t)card,
			 fl_mr_key(there)));
	if (pair_finish(2))
		return 1;
	for (i = 0; i < BYTES; i++)
		CHECK(own[i] == (char)(i * 7 + 1) && card[i] == own[i]);
	TRY(fl_dereg_mr(here));
	TRY(fl_dereg_mr(there));
	return 0;
}

int main(int argc, char **argv)
{
	struct fl_fault_counters count;
	char *own = malloc(BYTES), *card;
	int err;

	(void)argc;
	if (!own) {
		perror("pair");
		return 1;
	}
	if (open_all(argv[1]))
		return 1;
	card = fl_alloc(dev, BYTES);
	if (!card) {
		perror("pair: fl_alloc");
		return 1;
	}
	err = there_and_back(own, card);
	if (err)
		return err;
	TRY(fl_query_counters(dev, &count));
	TRY(fl_free(dev, card, BYTES));
	TRY(fl_close(dev));
	free(own);
	if (puts("every byte is right") < 0 || fflush(stdout)) {
		perror("pair: cannot write");
		return 1;
	}
	return 0;
}
