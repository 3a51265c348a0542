// SPDX-License-Identifier: BSD-2-Clause
/* What the bare system takes for the like: the yardsticks of faults and pins. */
#include "bench.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/os_emu.h"

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

/* ---- taking pages away ---- */

#define REVOKED	64u	/* pages at most */
#define VIEW	(2u << 20)
#define LIMIT	1.25	/* of the bare call */

static uint32_t revoked;

/* In the middle of a closed view of memory that a board has open, as a process's pages are. */
static uint8_t *bare_view(void)
{
	int fd = os_memory_create("bench", VIEW);
	uint8_t *open, *closed;

	if (fd < 0)
		bench_broken("no shared memory");
	open = mmap(NULL, VIEW, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	closed = mmap(NULL, VIEW, PROT_NONE, MAP_SHARED, fd, 0);
	if (open == MAP_FAILED || closed == MAP_FAILED)
		bench_broken("no view of shared memory");
	close(fd);
	memset(open, 1, VIEW);
	return closed + VIEW / 2;
}

/* The last of some: by then whoever waited for a window has gone to sleep. */
static double bare_revoke(void *arg)
{
	static uint8_t *mem;
	uint64_t t = 0;
	uint32_t at;
	unsigned int i;

	(void)arg;
	if (!mem)
		mem = bare_view();
	for (i = 0; i < BENCH_REVOKES; i++) {
		if (mprotect(mem, revoked * PAGE, PROT_READ | PROT_WRITE))
			bench_broken("no access to memory");
		for (at = 0; at < revoked * PAGE; at += PAGE)
			(void)*(volatile uint8_t *)(mem + at);
		t = bench_now_ns();
		if (mprotect(mem, revoked * PAGE, PROT_NONE))
			bench_broken("no way to take pages away");
		t = bench_now_ns() - t;
	}
	return (double)t;
}

/*
 * The limit in time is of the machine that it was measured on (sources: host-measured): mprotect()
 * took 2 us + 0.1 us a page there, and 15 us more with a running peer. In revokes it is the same
 * limit, of this machine.
 */
void bench_beside_revoke(struct bench_job *job, uint32_t *pages, bool peer_runs)
{
	static const uint32_t count[] = { 1, REVOKED };
	struct bench_result r;
	char figure[64], yard[80];
	unsigned int i;

	job->yard = bare_revoke;
	for (i = 0; i < 2; i++) {
		*pages = revoked = count[i];
		bench_measure(job, &r);
		snprintf(figure, sizeof(figure), "evict %u clean page%s", revoked,
			 revoked == 1 ? "" : "s");
		bench_row(&(struct bench_row){ figure, "us", bench_scale(&r.ns, 1e-3),
			bench_trace_text(&r), "limit is of the revoke alone; here with call, TLBI",
			BENCH_AT_MOST, LIMIT * (2 + 0.1 * revoked + (peer_runs ? 15 : 0)), "" });
		snprintf(yard, sizeof(yard), "mprotect of as many takes %.1f us here",
			 r.yard.median / 1e3);
		bench_row(&(struct bench_row){ "  the same", "revokes", r.times, NULL, yard,
			BENCH_AT_MOST, LIMIT, "" });
	}
}
