// SPDX-License-Identifier: BSD-2-Clause
// variants: tsan pages
/*
 * Two processes that live elsewhere and one that does not, each with more pages
 * than there are frames, in threads mode; now and then one of the two does not
 * close its pages in time. Every word that was written is found again.
 */
#include "sim/rng.h"
#include "rig/host_remote.h"

#define PAGES	24u
#define ROUNDS	400u
#define HEAP	0x555500000000ull

struct actor {
	struct rig *r;
	struct remote *m;
	uint64_t va;
	unsigned int number;
};

static uint64_t word_of(const struct actor *a, unsigned int page)
{
	return a->va + page * PAGE + 8 * (a->number % 2);
}

/* Own word of every page: writes it, and later finds it. */
static void stress_act(void *arg)
{
	struct actor *a = arg;
	uint64_t value[PAGES] = { 0 };
	struct rng rng;
	unsigned int i, page;

	rng_init(&rng, test_seed() + a->number, "far");
	host_act_for(a->m->p);
	for (i = 1; i <= ROUNDS; i++) {
		page = (unsigned int)rng_below(&rng, PAGES);
		WANT(a->r, remote_get(a->m, word_of(a, page)) == value[page]);
		value[page] = i;
		WANT(a->r, !remote_put(a->m, word_of(a, page), i));
		if (!rng_below(&rng, 50)) {
			pthread_mutex_lock(&a->m->lock);
			a->m->refuse = 2;
			pthread_mutex_unlock(&a->m->lock);
		}
		if (!rng_below(&rng, 40))
			host_process_madvise(a->m->p, pointer_to(a->va), PAGES * PAGE,
					     HOST_PAGEOUT);
	}
	host_act_for(NULL);
}

struct near {
	struct rig *r;
	uint8_t *m;
};

static void act_near(void *arg)
{
	struct near *n = arg;
	unsigned int i, page;

	for (i = 0; i < ROUNDS; i++) {
		page = i * 7 % PAGES;
		WANT(n->r, *(volatile uint64_t *)(n->m + page * PAGE) ==
			   (i < PAGES ? 0 : i - PAGES));
		*(volatile uint64_t *)(n->m + page * PAGE) = i;
	}
}

/* @@Adopts, uses and releases a few pages, over and over. */
static void stress_move(void *arg)
{
	struct actor *a = arg;
	uint32_t frame[3];
	uint64_t round, i;
	int err;

	for (round = 0; round < 40; round++) {
		err = host_import(a->m->p, HEAP, 3, RW, 0, frame);
		WANT(a->r, !err);
		if (err)
			return;
		pthread_mutex_lock(&a->m->lock);
		for (i = 0; i < 3; i++) {
			*(uint64_t *)(void *)(a->m->mem + frame[i] * PAGE) =
				round + i;
			remote_see(a->m, HEAP + i * PAGE, frame[i], RW);
		}
		pthread_mutex_unlock(&a->m->lock);
		WANT(a->r, !host_imported(a->m->p, HEAP, 3, round % 4 == 3));
		sim_yield();
		for (i = 0; i < 3; i++)
			WANT(a->r, remote_get(a->m, HEAP + i * PAGE) ==
				   round + i);
		WANT(a->r, !host_return(a->m->p, HEAP, 3, frame));
		for (i = 0; i < 3; i++)
			WANT(a->r, *(uint64_t *)(void *)
				   (a->m->mem + frame[i] * PAGE) == round + i);
		WANT(a->r, !host_returned(a->m->p, HEAP, 3));
	}
}

static void stress_start(struct rig *r, void (*fn)(void *arg), void *arg)
{
	r->thread[r->threads++] = sim_thread_start(r->sim, "far", false, fn,
						   arg);
}

static void stress_run(enum sim_mode mode)
{
	struct rig *r = rig_start_limits(mode, test_seed(), 30, 400, 20, 0);
	struct near n = { r, rig_map(r, 0, PAGES) };
	struct actor a[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		a[i] = (struct actor){ .r = r, .number = i };
		a[i].m = i % 2 ? a[i - 1].m : remote_start(r, 1 + i / 2);
		a[i].va = i % 2 ? a[i - 1].va : remote_map(a[i].m, PAGES);
		stress_start(r, stress_act, &a[i]);
	}
	stress_start(r, stress_move, &a[0]);
	rig_thread(r, 0, act_near, &n);
	rig_run(r);
	EXPECT_GE(rig_stats(r).evictions, 100);
	for (i = 0; i < 2; i++)
		remote_exit(a[2 * i].m);
	host_process_exit(r->p[0]);
	r->p[0] = NULL;
	EXPECT_EQ(rig_stats(r).frames_free, 30);
	EXPECT_EQ(rig_stats(r).swap_used, 0);
}

TEST("processes here and elsewhere under pressure lose nothing (threads)")
{
	stress_run(SIM_THREADS);
}

TEST("processes here and elsewhere under pressure lose nothing (lockstep)")
{
	stress_run(SIM_LOCKSTEP);
}
