// SPDX-License-Identifier: BSD-2-Clause
/* What the bare system takes for the like: the yardsticks of faults and pins. */
#include "bench.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096u
#define PAGES	16u
#define PINNED	(1u << 20)

static struct {
	uint8_t *mem;
	size_t len;	/* that the handler opens */
} bare;

static void open_pages(int sig, siginfo_t *si, void *uc)
{
	uint8_t *at = (uint8_t *)((uintptr_t)si->si_addr & ~(PAGE - 1ul));

	(void)sig;
	(void)uc;
	if (at < bare.mem || at >= bare.mem + PAGES * PAGE ||
	    mprotect(at, bare.len, PROT_READ | PROT_WRITE))
		signal(SIGSEGV, SIG_DFL);
}

static uint8_t *bare_touched(size_t bytes)
{
	uint8_t *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		bench_broken("no memory");
	memset(mem, 1, bytes);
	return mem;
}

/* Touch closed pages in order; ns for one signal. */
static double bare_signals(size_t len)
{
	struct sigaction sa = { .sa_sigaction = open_pages,
				.sa_flags = SA_SIGINFO }, old;
	uint64_t t;
	unsigned int i;

	if (!bare.mem)
		bare.mem = bare_touched(PAGES * PAGE);
	bare.len = len;
	if (mprotect(bare.mem, PAGES * PAGE, PROT_NONE) ||
	    sigaction(SIGSEGV, &sa, &old))
		bench_broken("no handler for signals");
	t = bench_now_ns();
	for (i = 0; i < PAGES * PAGE / len; i++)
		*(volatile uint8_t *)(bare.mem + i * len) = 2;
	t = bench_now_ns() - t;
	sigaction(SIGSEGV, &old, NULL);
	return (double)t / (PAGES * PAGE / (double)len);
}

double bench_bare_pair(void *arg)
{
	(void)arg;
	return bare_signals(PAGE);
}

double bench_bare_sixteen(void *arg)
{
	(void)arg;
	return bare_signals(PAGES * PAGE);
}

double bench_bare_mlock(void *arg)
{
	static uint8_t *mem;
	uint64_t t;

	(void)arg;
	if (!mem)
		mem = bare_touched(PINNED);
	t = bench_now_ns();
	if (mlock(mem, PINNED))
		return 0;	/* not allowed: no yardstick */
	t = bench_now_ns() - t;
	munlock(mem, PINNED);
	return (double)t;
}
