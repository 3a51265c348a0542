// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * A seeded walk through the system calls of three processes against a model in
 * the test: one value a page. After every step everything must add up.
 */
#include "sim/rng.h"
#include "rig/host.h"

#define PROCESSES 3
#define AREAS	6
#define AREA_PAGES 24
#define STEPS	1500

struct area {
	uint8_t *m;		/* NULL: not mapped */
	uint64_t value[AREA_PAGES];
	bool mapped[AREA_PAGES];
	int prot[AREA_PAGES];
};

/* A pin may outlive its area, and its process. */
struct pin {
	struct host_frame *frame;	/* NULL: none */
	unsigned int at;		/* page of the area */
	bool orphan;			/* it has lost its mapping, with this value */
	uint64_t value;
};

struct model {
	struct rig *r;
	struct rng rng;
	uint64_t next, orphans;
	struct area area[PROCESSES][AREAS];
	struct pin pin[PROCESSES][AREAS];
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

/* Pages i to i + n of an area lose their mapping. */
static void stress_orphan(struct model *w, unsigned int p, struct area *a,
			  unsigned int i, unsigned int n)
{
	struct pin *pin = &w->pin[p][a - w->area[p]];

	if (!pin->frame || pin->orphan || pin->at < i || pin->at >= i + n)
		return;
	pin->orphan = true;
	pin->value = a->value[pin->at];
	w->orphans++;
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

	stress_orphan(w, p, a, i, n);
	EXPECT_EQ(host_munmap(w->r->p[p], a->m + i * PAGE, n * PAGE), 0);
	for (j = 0; j < AREA_PAGES; j++) {
		if (j >= i && j < i + n)
			a->mapped[j] = false;
		any |= a->mapped[j];
	}
	/* A hole may be used for the next area: give up the rest. */
	if (any) {
		stress_orphan(w, p, a, 0, AREA_PAGES);
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
	} else {
		EXPECT_EQ(err, 0);
		if (what == HOST_DONTNEED)
			stress_orphan(w, p, a, i, n);
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

static void op_remap(struct model *w, unsigned int p, struct area *a,
		     unsigned int i, unsigned int n)
{
	unsigned int j;

	stress_orphan(w, p, a, i, n);
	EXPECT_EQ(host_remap(w->r->p[p], a->m + i * PAGE, n * PAGE, RW), 0);
	for (j = i; j < i + n; j++) {
		a->mapped[j] = true;
		a->prot[j] = RW;
		a->value[j] = 0;
	}
}

static void stress_unpin(struct pin *pin)
{
	uint64_t v;

	if (pin->orphan) {
		memcpy(&v, (uint8_t *)frame_mem(pin->frame) + 8, 8);
		EXPECT_EQ(v, pin->value);
	}
	mm_unpin(&pin->frame, 1, false);
	*pin = (struct pin){ 0 };
}

static void op_pin(struct model *w, unsigned int p, struct area *a,
		   unsigned int i)
{
	struct pin *pin = &w->pin[p][a - w->area[p]];

	if (pin->frame) {
		stress_unpin(pin);
		return;
	}
	if (!a->m || !a->mapped[i] || !(a->prot[i] & HOST_READ))
		return;
	EXPECT_EQ(mm_pin(rig_mm(w->r, p), va_of(a->m) + i * PAGE, 1, false,
			 &pin->frame), 1);
	pin->at = i;
}

static void op_exit(struct model *w, unsigned int p)
{
	unsigned int i;

	for (i = 0; i < AREAS; i++)
		stress_orphan(w, p, &w->area[p][i], 0, AREA_PAGES);
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
	else if (what < 92)
		op_advise(w, p, a, i, n);
	else if (what < 96)
		op_pin(w, p, a, i);
	else if (what < 98)
		op_remap(w, p, a, i, n);
	else
		op_unmap(w, p, a, i, n);
}

TEST("a random walk through all calls keeps every page and every count")
{
	struct model w = { .r = rig_start(SIM_LOCKSTEP, test_seed(), 40,
					  1000) };
	unsigned int i, p;
	struct pin *pin;

	rng_init(&w.rng, test_seed(), "stress");
	rig_process(w.r, 1);
	rig_process(w.r, 2);
	for (i = 0; i < STEPS; i++) {
		stress_step(&w);
		rig_check(w.r);
	}
	EXPECT_GE(rig_stats(w.r).swap_ins, 10);
	EXPECT_GE(rig_stats(w.r).ages, 10);
	EXPECT_GE(w.orphans, 5);
	for (p = 0; p < PROCESSES; p++)
		op_exit(&w, p);
	for (i = 0; i < PROCESSES * AREAS; i++) {
		pin = &w.pin[i / AREAS][i % AREAS];
		if (pin->frame)
			stress_unpin(pin);
		rig_check(w.r);
	}
	EXPECT_EQ(rig_stats(w.r).banks_kept, 0);
	EXPECT_EQ(rig_stats(w.r).frames_free, 40);
	EXPECT_EQ(rig_stats(w.r).swap_used, 0);
}
