// SPDX-License-Identifier: BSD-2-Clause
#include "rig/swarm_seed.h"

/* Thread sanitizer makes a testbed some twenty times slower. */
#ifdef __SANITIZE_THREAD__
#define LIMIT_CPU_S	2400
#else
#define LIMIT_CPU_S	240
#endif
#define LIMIT_WALL_S	1500

unsigned int seed_count(unsigned int usual)
{
	const char *n = getenv("SWARM_SEEDS");

	return n ? (unsigned int)strtoul(n, NULL, 0) : test_rounds(usual);
}

/* ---- a limit ---- */

static char seed_running[200];

/* SIGABRT, or the limit, which is any other signal. */
static void seed_on_end(int sig)
{
	ssize_t r = write(1, seed_running, strlen(seed_running));

	(void)r;
	signal(SIGABRT, SIG_DFL);
	if (sig != SIGABRT)
		abort();
}

void seed_begin(uint64_t seed, enum sim_mode mode, const char *word)
{
	bool cpu = mode == SIM_LOCKSTEP;
	struct itimerval t = { .it_value.tv_sec = cpu ? LIMIT_CPU_S :
							LIMIT_WALL_S };

	snprintf(seed_running, sizeof(seed_running),
		 "# this happened with: --seed %llu %s\n",
		 (unsigned long long)seed, word);
	signal(SIGABRT, seed_on_end);
	signal(cpu ? SIGPROF : SIGALRM, seed_on_end);
	setitimer(cpu ? ITIMER_PROF : ITIMER_REAL, &t, NULL);
}

void seed_end(enum sim_mode mode)
{
	struct itimerval none = { 0 };

	setitimer(mode == SIM_LOCKSTEP ? ITIMER_PROF : ITIMER_REAL, &none, NULL);
	signal(SIGABRT, SIG_DFL);
}

/* ---- twice ---- */

static ssize_t digest_write(void *cookie, const char *text, size_t n)
{
	struct digest *d = cookie;
	size_t i;

	for (i = 0; i < n; i++)
		d->hash = (d->hash ^ (uint8_t)text[i]) * 0x100000001b3ull;
	d->bytes += n;
	if (d->copy)
		fwrite(text, 1, n, d->copy);
	return (ssize_t)n;
}

FILE *digest_file(struct digest *d)
{
	return d ? fopencookie(d, "w", (cookie_io_functions_t){
					.write = digest_write }) : NULL;
}

void seeds_twice(unsigned int usual,
		 void (*run)(uint64_t seed, struct digest *d))
{
	const char *path = getenv("SWARM_TRACE");
	unsigned int i, n = seed_count(usual);
	struct digest a, b;

	for (i = 0; i < n; i++) {
		a = (struct digest){ .copy = path ? fopen(path, "w") : NULL };
		run(test_seed() + i, &a);
		if (a.copy)
			fclose(a.copy);
		b = (struct digest){ 0 };
		run(test_seed() + i, &b);
		EXPECT_GE(a.bytes, 1000);
		EXPECT_EQ(a.bytes, b.bytes);
		EXPECT_EQ(a.hash, b.hash);
	}
}
