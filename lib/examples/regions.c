// SPDX-License-Identifier: BSD-2-Clause
/*
 * Domains, regions and prefetch: what the card may touch, with pages that are
 * pinned, that come on demand, or that are fetched ahead.
 *
 *	regions [DEVICE]
 */
#include "example.h"

#define PAGES 4
#define BYTES (PAGES * 4096)

int main(int argc, char **argv)
{
	struct fl_mr *on_demand, *pinned, *none;
	struct fl_fault_counters count;
	struct fl_device *dev;
	struct fl_pd *pd;
	char *mem;

	TRY(fl_open(argc > 1 ? argv[1] : NULL, &dev));
	TRY(fl_alloc_pd(dev, &pd));
	mem = fl_alloc(dev, BYTES);
	CHECK(mem != NULL);

	/* On demand costs nothing now: no page is there yet. */
	TRY(fl_reg_mr(pd, mem, BYTES, FL_LOCAL_WRITE | FL_REMOTE_WRITE,
		      &on_demand));
	TRY(fl_query_counters(dev, &count));
	printf("on demand: %llu pages pinned\n",
	       (unsigned long long)count.pinned_pages);
	CHECK(count.pinned_pages == 0);

	/* Fetched ahead: there, but free to go again. */
	TRY(fl_prefetch(on_demand, mem + 4096, 2 * 4096, 1));
	CHECK(fl_prefetch(on_demand, mem, BYTES + 1, 1) == -EINVAL);
	printf("one byte beyond the region: %s\n", fl_strerror(-EINVAL));

	/* Pinned: there, and kept until the region goes. */
	TRY(fl_reg_mr(pd, mem, BYTES, FL_REMOTE_READ | FL_PINNED, &pinned));
	TRY(fl_query_counters(dev, &count));
	printf("pinned: %llu pages pinned\n",
	       (unsigned long long)count.pinned_pages);
	CHECK(count.pinned_pages == PAGES);
	CHECK(fl_mr_key(pinned) != fl_mr_key(on_demand));

	/* What is not mapped cannot be pinned. */
	CHECK(fl_reg_mr(pd, (void *)4096, 4096, FL_PINNED, &none) == -EFAULT);
	CHECK(fl_dealloc_pd(pd) == -EBUSY);

	TRY(fl_dereg_mr(pinned));
	TRY(fl_query_counters(dev, &count));
	CHECK(count.pinned_pages == 0);
	TRY(fl_dereg_mr(on_demand));
	TRY(fl_dealloc_pd(pd));
	TRY(fl_free(dev, mem, BYTES));
	TRY(fl_close(dev));
	printf("all given back\n");
	return 0;
}
