// SPDX-License-Identifier: BSD-2-Clause
// variants: tsan pages
/*
 * Pages that come in side by side, and what may happen to one on its way:
 * another fault, unmap, exit, other rights, eviction.
 */
#include "sim/rng.h"
#include "rig/host.h"

#define PAGES	256u
#define MAJOR_NS 100000u	/* mm.major of the default profile */
#define ONE_NS	(MAJOR_NS + 500u)	/* and mm.lookup */

struct fill {
	struct rig *r;
	uint8_t *m;
	unsigned int share;		/* pages of one thread */
	_Atomic unsigned int next;
	int result[16];
	uint64_t start_ns, end_ns;	/* lockstep: of all faults */
};

/* n pages with a number each, and then in swap. */
static void to_swap(struct fill *f, unsigned int n)
{
	uint64_t i;

	f->m = rig_map(f->r, 0, n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(mm_copy(rig_mm(f->r, 0), va_of(f->m) + i * PAGE, &i,
				  8, true), 0);
	EXPECT_EQ(host_madvise(f->r->p[0], f->m, n * PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(rig_stats(f->r).swap_used, n);
}

static uint64_t number_at(struct fill *f, uint64_t page)
{
	uint64_t v = ~0ull;

	EXPECT_EQ(mm_copy(rig_mm(f->r, 0), va_of(f->m) + page * PAGE, &v, 8,
			  false), 0);
	return v;
}

static void bring_share(void *arg)
{
	struct fill *f = arg;
	uint64_t at = atomic_fetch_add(&f->next, 1) * (uint64_t)f->share, i;

	for (i = 0; i < f->share; i++)
		WANT(f->r, mm_fault(rig_mm(f->r, 0),
				    va_of(f->m) + (at + i) * PAGE, 0) == 1);
	f->end_ns = sim_now(f->r->sim);
}

static uint64_t bring_with(unsigned int threads)
{
	struct fill f = { .r = rig_start(SIM_LOCKSTEP, test_seed(), 0, 0),
			  .share = PAGES / threads };
	unsigned int i;

	to_swap(&f, PAGES);
	f.start_ns = sim_now(f.r->sim);
	for (i = 0; i < threads; i++)
		rig_thread(f.r, 0, bring_share, &f);
	rig_run(f.r);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(number_at(&f, i), i);
	EXPECT_EQ(rig_stats(f.r).swap_ins, PAGES);
	return f.end_ns - f.start_ns;
}

TEST("1 MB from swap takes one thread 256 page-ins, one after the other")
{
	EXPECT_EQ(bring_with(1), PAGES * ONE_NS);
}

TEST("two threads bring it in in half of the time")
{
	EXPECT_EQ(bring_with(2), PAGES / 2 * ONE_NS);
}

TEST("eight threads bring it in in an eighth of the time")
{
	EXPECT_EQ(bring_with(8), PAGES / 8 * ONE_NS);
}

static void bring_first(void *arg)
{
	struct fill *f = arg;
	unsigned int me = atomic_fetch_add(&f->next, 1);

	f->result[me] = mm_fault(rig_mm(f->r, 0), va_of(f->m),
				 HOST_FAULT_WRITE);
	f->end_ns = sim_now(f->r->sim);
}

TEST("of four faults on one page one brings it in, and three wait for it")
{
	struct fill f = { .r = rig_start(SIM_LOCKSTEP, test_seed(), 0, 0) };
	unsigned int i, major = 0;

	to_swap(&f, 1);
	f.start_ns = sim_now(f.r->sim);
	for (i = 0; i < 4; i++)
		rig_thread(f.r, 0, bring_first, &f);
	rig_run(f.r);
	for (i = 0; i < 4; i++) {
		EXPECT_GE(f.result[i], 0);
		major += f.result[i] == 1;
	}
	EXPECT_EQ(major, 1);
	EXPECT_EQ(rig_stats(f.r).swap_ins, 1);
	EXPECT_LE(f.end_ns - f.start_ns, 2 * MAJOR_NS - 1);
	EXPECT_EQ(number_at(&f, 0), 0);
}

/* ---- one page on its way, and half-way through something is done to it ---- */

struct midway {
	struct fill f;
	void (*act)(struct midway *w);
	int flags, err;
	uint64_t value;
	struct host_frame *pinned[2];
};

static void midway_act(void *arg)
{
	struct midway *w = arg;

	sim_sleep(MAJOR_NS / 2);
	WANT(w->f.r, !mm_resident(rig_mm(w->f.r, 0), va_of(w->f.m)));
	w->act(w);
}

static void midway_fault(void *arg)
{
	struct midway *w = arg;

	/* The second process's thread: the first may end meanwhile. */
	w->err = mm_fault(rig_mm(w->f.r, 0), va_of(w->f.m),
			  (unsigned int)w->flags);
}

static struct rig *fill_midway(struct midway *w)
{
	w->f.r = rig_start(SIM_LOCKSTEP, test_seed(), 0, 0);
	rig_process(w->f.r, 1);
	to_swap(&w->f, 2);
	rig_thread(w->f.r, 1, midway_fault, w);
	rig_thread(w->f.r, 1, midway_act, w);
	rig_run(w->f.r);
	return w->f.r;
}

static void act_unmap(struct midway *w)
{
	WANT(w->f.r, !host_munmap(w->f.r->p[0], w->f.m, 2 * PAGE));
}

TEST("unmapped on its way: the fault fails, and frame and slot are free")
{
	struct midway w = { .act = act_unmap };
	struct rig *r = fill_midway(&w);

	EXPECT_EQ(w.err, -EFAULT);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(rig_stats(r).frames_free, rig_stats(r).frames_total);
	EXPECT_EQ(trace_count(r->trace, EV_MM_PAGE_IN), 2);
}

static void act_remap(struct midway *w)
{
	uint8_t *m;

	act_unmap(w);
	m = rig_map(w->f.r, 0, 2);
	WANT(w->f.r, m == w->f.m);
}

TEST("unmapped on its way and something else mapped there: that comes")
{
	struct midway w = { .act = act_remap };
	struct rig *r = fill_midway(&w);

	EXPECT_EQ(w.err, 0);
	EXPECT_EQ(number_at(&w.f, 0), 0);
	EXPECT_EQ(rig_stats(r).swap_ins, 0);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
}

static void act_reuse(struct midway *w)
{
	struct host_mm *mm = rig_mm(w->f.r, 0);
	uint64_t other = 77, page = va_of(w->f.m) + PAGE;

	/* The slot of page 0 is free, and what page 1 has now goes there. */
	WANT(w->f.r, !host_madvise(w->f.r->p[0], w->f.m, PAGE,
				   HOST_DONTNEED));
	WANT(w->f.r, !mm_copy(mm, page, &other, 8, true));
	WANT(w->f.r, !host_madvise(w->f.r->p[0], w->f.m + PAGE, PAGE,
				   HOST_PAGEOUT));
}

TEST("thrown away on its way, its slot another's: zeros come, nobody's bytes")
{
	struct midway w = { .act = act_reuse };
	uint64_t v = 5;

	EXPECT_EQ((fill_midway(&w), w.err), 0);
	EXPECT_EQ(number_at(&w.f, 0), 0);
	EXPECT_EQ(number_at(&w.f, 1), 77);
	EXPECT_EQ(mm_copy(rig_mm(w.f.r, 0), va_of(w.f.m), &v, 8, true), 0);
	EXPECT_EQ(number_at(&w.f, 0), 5);
}

/* The same slot again for the same page: the entry looks as if nothing had been. */
static void act_same_slot(struct midway *w)
{
	struct host_mm *mm = rig_mm(w->f.r, 0);
	uint64_t before = pt_get(mm, va_of(w->f.m)), other = 78;

	WANT(w->f.r, !host_madvise(w->f.r->p[0], w->f.m, PAGE,
				   HOST_DONTNEED));
	WANT(w->f.r, !mm_copy(mm, va_of(w->f.m), &other, 8, true));
	WANT(w->f.r, !host_madvise(w->f.r->p[0], w->f.m, PAGE, HOST_PAGEOUT));
	WANT(w->f.r, pt_get(mm, va_of(w->f.m)) == before);
}

TEST("thrown away and written anew on its way, with an equal entry: the new bytes")
{
	struct midway w = { .act = act_same_slot };

	EXPECT_EQ((fill_midway(&w), w.err), 1);
	EXPECT_EQ(number_at(&w.f, 0), 78);
}

static void act_read_only(struct midway *w)
{
	WANT(w->f.r, !host_mprotect(w->f.r->p[0], w->f.m, PAGE, HOST_READ));
}

TEST("read-only on its way: a write fails, and the bytes stay in swap")
{
	struct midway w = { .act = act_read_only, .flags = HOST_FAULT_WRITE };

	EXPECT_EQ((fill_midway(&w), w.err), -EFAULT);
	EXPECT_EQ(rig_stats(w.f.r).swap_used, 2);
}

TEST("read-only on its way: a read gets a page that cannot be written")
{
	struct midway r = { .act = act_read_only };

	EXPECT_EQ((fill_midway(&r), r.err), 1);
	EXPECT_EQ(pt_get(rig_mm(r.f.r, 0), va_of(r.f.m)) & PTE_DBM, 0);
	EXPECT_EQ(number_at(&r.f, 0), 0);
}

static void act_evict(struct midway *w)
{
	WANT(w->f.r, !host_madvise(w->f.r->p[0], w->f.m, 2 * PAGE,
				   HOST_PAGEOUT));
}

TEST("eviction does not take what is on its way")
{
	struct midway w = { .act = act_evict };

	EXPECT_EQ((fill_midway(&w), w.err), 1);
	EXPECT(mm_resident(rig_mm(w.f.r, 0), va_of(w.f.m)));
	EXPECT_EQ(rig_stats(w.f.r).swap_ins, 1);
}

static void act_pin(struct midway *w)
{
	w->value = (uint64_t)mm_pin(rig_mm(w->f.r, 0), va_of(w->f.m), 2, true,
				    w->pinned);
}

TEST("pinned on its way: the pin waits for it, and brings in only the rest")
{
	struct midway w = { .act = act_pin };

	EXPECT_EQ((fill_midway(&w), w.err), 1);
	EXPECT_EQ(w.value, 2);
	EXPECT_EQ(rig_stats(w.f.r).swap_ins, 2);
	EXPECT_EQ(rig_stats(w.f.r).frames_pinned, 2);
	mm_unpin(w.pinned, 2, true);
}

static void act_exit(struct midway *w)
{
	uint64_t start = sim_now(w->f.r->sim);

	host_process_exit(w->f.r->p[0]);
	w->f.r->p[0] = NULL;
	w->value = sim_now(w->f.r->sim) - start;
}

TEST("exit waits for what is on its way, and then all is free")
{
	struct midway w = { .act = act_exit };
	struct rig *r = fill_midway(&w);

	EXPECT_EQ(w.err, -EFAULT);
	EXPECT_GE(w.value, MAJOR_NS / 2 - 1000);
	EXPECT_LE(w.value, MAJOR_NS);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
	EXPECT_EQ(rig_stats(r).frames_free, rig_stats(r).frames_total);
}

TEST("the file of a mapping stays open until the page that comes from it is there")
{
	struct midway w = { .act = act_unmap };
	char path[128];
	int error;

	w.f.r = rig_start(SIM_LOCKSTEP, test_seed(), 0, 0);
	rig_process(w.f.r, 1);
	w.f.m = host_mmap(w.f.r->p[0], 2 * PAGE, RW, rig_file(path, 2 * PAGE),
			  0, &error);
	EXPECT(w.f.m);
	remove(path);
	rig_thread(w.f.r, 1, midway_fault, &w);
	rig_thread(w.f.r, 1, midway_act, &w);
	rig_run(w.f.r);
	EXPECT_EQ(w.err, -EFAULT);
	EXPECT_EQ(rig_mm(w.f.r, 0)->sources, 0);
}

/* ---- few frames ---- */

static void walk_all(void *arg)
{
	struct fill *f = arg;
	uint64_t me = atomic_fetch_add(&f->next, 1), i, v;

	for (i = 0; i < 3 * f->share; i++) {
		v = ~0ull;
		WANT(f->r, !mm_copy(rig_mm(f->r, 0),
				    va_of(f->m) + (i * 5 + me) % f->share * PAGE,
				    &v, 8, false));
		WANT(f->r, v == (i * 5 + me) % f->share);
	}
}

static void with_few(enum sim_mode mode, uint64_t frames, uint64_t own)
{
	struct fill f = { .r = rig_start_limits(mode, test_seed(), frames, 0,
						own, 0), .share = 32 };
	unsigned int i;

	to_swap(&f, f.share);
	for (i = 0; i < 8; i++)
		rig_thread(f.r, 0, walk_all, &f);
	rig_run(f.r);
	EXPECT_LE(frames - rig_stats(f.r).frames_free, own ? own : frames);
	EXPECT_EQ(rig_stats(f.r).faults_failed, 0);
}

TEST("eight threads with four frames wait for each other's pages, and none fails")
{
	with_few(SIM_LOCKSTEP, 4, 0);
}

TEST("the same for a process at its own limit")
{
	with_few(SIM_LOCKSTEP, 64, 4);
}

TEST("the same with one frame for all")
{
	with_few(SIM_LOCKSTEP, 1, 0);
}

TEST("threads: eight threads with four frames")
{
	with_few(SIM_THREADS, 4, 0);
}

/* ---- everything at a time ---- */

#define STORM_PAGES 16
#define STORM_STEPS 400

static void fill_storm(void *arg)
{
	struct fill *f = arg;
	unsigned int me = atomic_fetch_add(&f->next, 1), i;
	struct host_mm *mm = rig_mm(f->r, 0);
	struct rng rng;
	uint64_t page, v;
	uint8_t *at;

	rng_init(&rng, test_seed() * 16 + me, "storm");
	for (i = 0; i < STORM_STEPS; i++) {
		page = rng_below(&rng, STORM_PAGES);
		at = f->m + page * PAGE;
		v = ~0ull;
		switch (rng_below(&rng, 8)) {
		case 0:
			WANT(f->r, !host_madvise(f->r->p[0], f->m,
						 STORM_PAGES * PAGE,
						 HOST_PAGEOUT));
			break;
		case 1:
			WANT(f->r, !host_madvise(f->r->p[0], at, PAGE,
						 HOST_DONTNEED));
			break;
		case 2:
			v = page;
			WANT(f->r, !mm_copy(mm, va_of(at), &v, 8, true));
			break;
		case 3:
			WANT(f->r, mm_fault(mm, va_of(at), HOST_FAULT_WRITE) >=
					   0);
			break;
		default:
			WANT(f->r, !mm_copy(mm, va_of(at), &v, 8, false));
			/* Thrown away, or what somebody wrote there. */
			WANT(f->r, !v || v == page);
		}
	}
}

static void storm_in(enum sim_mode mode)
{
	struct fill f = { .r = rig_start(mode, test_seed(), 12, 0) };
	unsigned int i;

	f.m = rig_map(f.r, 0, STORM_PAGES);
	for (i = 0; i < 6; i++)
		rig_thread(f.r, 0, fill_storm, &f);
	rig_run(f.r);
	EXPECT_EQ(host_munmap(f.r->p[0], f.m, STORM_PAGES * PAGE), 0);
	EXPECT_EQ(rig_stats(f.r).swap_used, 0);
	EXPECT_EQ(rig_stats(f.r).frames_free, 12);
}

TEST("a storm of faults, eviction and throwing away: no page has another's bytes")
{
	storm_in(SIM_LOCKSTEP);
}

TEST("threads: the same storm")
{
	storm_in(SIM_THREADS);
}
