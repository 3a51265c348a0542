// SPDX-License-Identifier: BSD-2-Clause
// variants: page16 page64
/*
 * A seeded walk through the system calls of three processes against a model in
 * the test: one value a page. After every step everything must add up.
 */
#include "test_host_rig.h"

#define PROCESSES 3
#define AREAS	6
#define AREA_PAGES 24
#define STEPS	1500

struct area {
	uint8_t *m;		/* NULL: not mapped */
	uint64_t value[AREA_PAGES];
	bool mapped[AREA_PAGES];
	int prot[AREA_PAGES];
	unsigned int pinned, pin_at;	/* pages, first */
};

struct model {
	struct rig *r;
	struct rng rng;
	uint64_t next;
	struct area area[PROCESSES][AREAS];
};

static uint64_t stress_below(struct model *w, uint64_t n)
{
	return rng_below(&w->rng, n);
}

static void op_map(struct model *w, unsigned int p, struct area *a)
{
	unsigned int i;

	if (a->m)
		return;
	memset(a, 0, sizeof(*a));
	a->m = rig_map(w->r, p, AREA_PAGES);
	for (i = 0; i < AREA_PAGES; i++) {
		a->mapped[i] = true;
		a->prot[i] = RW;
	}
}

static void op_write(struct model *w, unsigned int p, struct area *a,
		     unsigned int i)
{
	uint64_t v = ++w->next;
	bool may = a->mapped[i] && (a->prot[i] & HOST_WRITE);

	EXPECT_EQ(mm_copy(rig_mm(w->r, p), va_of(a->m) + i * PAGE + 8, &v, 8,
			  true), may ? 0 : -EFAULT);
	if (may)
		a->value[i] = v;
}

static void op_read(struct model *w, unsigned int p, struct area *a,
		    unsigned int i)
{
	bool may = a->mapped[i] && (a->prot[i] & HOST_READ);
	uint64_t v = 0;

	EXPECT_EQ(mm_copy(rig_mm(w->r, p), va_of(a->m) + i * PAGE + 8, &v, 8,
			  false), may ? 0 : -EFAULT);
	if (may)
		EXPECT_EQ(v, a->value[i]);
}

static bool pinned_in(const struct area *a, unsigned int i, unsigned int n)
{
	return a->pinned && i < a->pin_at + a->pinned && a->pin_at < i + n;
}

static bool stress_whole(const struct area *a, unsigned int i, unsigned int n)
{
	while (n && a->mapped[i])
		i++, n--;
	return !n;
}

static void op_unmap(struct model *w, unsigned int p, struct area *a,
		     unsigned int i, unsigned int n)
{
	unsigned int j;
	bool any = false;

	if (pinned_in(a, i, n)) {
		EXPECT_EQ(host_munmap(w->r->p[p], a->m + i * PAGE, n * PAGE),
			  -EBUSY);
		return;
	}
	EXPECT_EQ(host_munmap(w->r->p[p], a->m + i * PAGE, n * PAGE), 0);
	for (j = 0; j < AREA_PAGES; j++) {
		if (j >= i && j < i + n)
			a->mapped[j] = false;
		any |= a->mapped[j];
	}
	/* A hole may be used for the next area: give up the rest. */
	if (any && !a->pinned) {
		EXPECT_EQ(host_munmap(w->r->p[p], a->m, AREA_PAGES * PAGE), 0);
		any = false;
	}
	if (!any)
		a->m = NULL;
}

static void op_advise(struct model *w, unsigned int p, struct area *a,
		      unsigned int i, unsigned int n)
{
	enum host_advice what = (enum host_advice)stress_below(w, 3);
	unsigned int j;
	int err;

	if (what == HOST_WILLNEED)
		what = HOST_COLD;
	err = host_madvise(w->r->p[p], a->m + i * PAGE, n * PAGE, what);
	if (!stress_whole(a, i, n)) {
		EXPECT_EQ(err, -ENOMEM);
	} else if (what == HOST_DONTNEED && pinned_in(a, i, n)) {
		EXPECT_EQ(err, -EBUSY);
	} else {
		EXPECT_EQ(err, 0);
		for (j = i; what == HOST_DONTNEED && j < i + n; j++)
			a->value[j] = 0;
	}
}

static void op_protect(struct model *w, unsigned int p, struct area *a,
		       unsigned int i, unsigned int n)
{
	static const int prots[] = { 0, HOST_READ, RW };
	int prot = prots[stress_below(w, 3)];
	unsigned int j;

	EXPECT_EQ(host_mprotect(w->r->p[p], a->m + i * PAGE, n * PAGE, prot),
		  stress_whole(a, i, n) ? 0 : -ENOMEM);
	for (j = i; stress_whole(a, i, n) && j < i + n; j++)
		a->prot[j] = prot;
}

static void op_pin(struct model *w, unsigned int p, struct area *a,
		   unsigned int i)
{
	struct host_mm *mm = rig_mm(w->r, p);

	if (a->pinned) {
		mm_unpin(mm, va_of(a->m) + a->pin_at * PAGE, a->pinned, false);
		a->pinned = 0;
		return;
	}
	if (!a->mapped[i] || !(a->prot[i] & HOST_READ))
		return;
	EXPECT_EQ(mm_pin(mm, va_of(a->m) + i * PAGE, 1, false, NULL), 1);
	a->pinned = 1;
	a->pin_at = i;
}

static void op_exit(struct model *w, unsigned int p)
{
	unsigned int i;

	for (i = 0; i < AREAS; i++)
		if (w->area[p][i].pinned)
			op_pin(w, p, &w->area[p][i], 0);
	host_process_exit(w->r->p[p]);
	w->r->p[p] = NULL;
	memset(w->area[p], 0, sizeof(w->area[p]));
	rig_process(w->r, p);
}

static void stress_step(struct model *w)
{
	unsigned int p = (unsigned int)stress_below(w, PROCESSES);
	struct area *a = &w->area[p][stress_below(w, AREAS)];
	unsigned int i = (unsigned int)stress_below(w, AREA_PAGES);
	unsigned int n = 1 + (unsigned int)stress_below(w, AREA_PAGES - i);
	unsigned int what = (unsigned int)stress_below(w, 100);

	STEP("process %u area %d page %u count %u operation %u", p,
	     (int)(a - w->area[p]), i, n, what);
	if (what == 0)
		op_exit(w, p);
	else if (!a->m)
		op_map(w, p, a);
	else if (what < 45)
		op_write(w, p, a, i);
	else if (what < 75)
		op_read(w, p, a, i);
	else if (what < 80)
		op_protect(w, p, a, i, n);
	else if (what < 94)
		op_advise(w, p, a, i, n);
	else if (what < 97)
		op_pin(w, p, a, i);
	else
		op_unmap(w, p, a, i, n);
}

TEST("a random walk through all calls keeps every page and every count")
{
	struct model w = { .r = rig_start(SIM_LOCKSTEP, test_seed(), 40,
					  1000) };
	unsigned int i, p;

	rng_init(&w.rng, test_seed(), "stress");
	rig_process(w.r, 1);
	rig_process(w.r, 2);
	for (i = 0; i < STEPS; i++) {
		stress_step(&w);
		rig_check(w.r);
	}
	EXPECT_GE(rig_stats(w.r).swap_ins, 10);
	EXPECT_GE(rig_stats(w.r).ages, 10);
	for (p = 0; p < PROCESSES; p++)
		op_exit(&w, p);
	EXPECT_EQ(rig_stats(w.r).frames_free, 40);
	EXPECT_EQ(rig_stats(w.r).swap_used, 0);
}
