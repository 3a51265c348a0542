// SPDX-License-Identifier: BSD-2-Clause
/*
 * A cache line that goes to and fro between two CPUs. A hypervisor moves its
 * virtual CPUs between one core, two cores and two caches; this tells which it
 * is just now. The other side sleeps between two probes, since it would take
 * the CPU from what is measured.
 */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#define WARM	20
#define BOUNCES	60
#define REPEATS	3
#define BUSY_NS	1000	/* no distance: others use the CPU (275; sources: host-measured) */
#define SPINS	20000

static struct {
	_Alignas(64) atomic_uint there;
	_Alignas(64) atomic_uint back;
	_Alignas(64) sem_t bell;
	pthread_t thread;
	cpu_set_t cpus;
	bool running, alone;
	atomic_bool stop;
	unsigned int n;
} probe;

/* The other CPU may be busy with what is measured: then give way. */
static void bounce_patience(unsigned int *spins)
{
	if (++*spins > SPINS)
		sched_yield();
}

static void *bounce_answer(void *arg)
{
	unsigned int seen = 0, now, spins = 0;
	bool last;

	(void)arg;
	for (;;) {
		while (sem_wait(&probe.bell))
			;
		/* The last answer of a probe ends it. */
		for (last = false; !last;) {
			if (atomic_load(&probe.stop))
				return NULL;
			now = atomic_load_explicit(&probe.there,
						   memory_order_acquire);
			if (now == seen) {
				bounce_patience(&spins);
				continue;
			}
			seen = now;
			spins = 0;
			atomic_store_explicit(&probe.back, now,
					      memory_order_release);
			last = seen % (WARM + BOUNCES * REPEATS) == 0;
		}
	}
}

static void bounce_start(void)
{
	if (probe.running || probe.alone)
		return;
	probe.alone = sched_getaffinity(0, sizeof(probe.cpus), &probe.cpus) ||
		      CPU_COUNT(&probe.cpus) < 2;
	if (probe.alone)
		return;
	sem_init(&probe.bell, 0, 0);
	atomic_store(&probe.stop, false);
	probe.alone =
		pthread_create(&probe.thread, NULL, bounce_answer, NULL) != 0;
	probe.running = !probe.alone;
}

static void bounce_go(unsigned int times)
{
	unsigned int spins = 0;

	while (times--) {
		atomic_store_explicit(&probe.there, ++probe.n,
				      memory_order_release);
		while (atomic_load_explicit(&probe.back,
					    memory_order_acquire) != probe.n)
			bounce_patience(&spins);
		spins = 0;
	}
}

/* Anywhere but here: on one CPU the two would only take turns. */
static void keep_apart(void)
{
	cpu_set_t cpus = probe.cpus;

	CPU_CLR((size_t)sched_getcpu(), &cpus);
	if (CPU_COUNT(&cpus))
		pthread_setaffinity_np(probe.thread, sizeof(cpus), &cpus);
}

double bench_bounce_ns(void)
{
	double ns, least = 0;
	uint64_t t;
	int i;

	bounce_start();
	if (probe.alone)
		return 0;
	keep_apart();
	sem_post(&probe.bell);
	bounce_go(WARM);
	/* The shortest: the others were interrupted. */
	for (i = 0; i < REPEATS; i++) {
		t = bench_now_ns();
		bounce_go(BOUNCES);
		ns = (double)(bench_now_ns() - t) / BOUNCES / 2;
		if (!i || ns < least)
			least = ns;
	}
	return least > BUSY_NS ? 0 : least;
}

void bench_bounce_end(void)
{
	if (!probe.running)
		return;
	atomic_store(&probe.stop, true);
	sem_post(&probe.bell);
	pthread_join(probe.thread, NULL);
	sem_destroy(&probe.bell);
	probe.running = false;
}
