// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lockstep's threads are coroutines of one thread of the system: what a switch keeps, and what
 * each of them has for itself all the same.
 * variants: posix tsan
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "os/coroutine.h"
#include "rig/fail.h"
#include "sim/sim.h"

#define SWITCHES 100000

/* ---- the switch ---- */

static struct os_coroutine outside, counter;

/* More values than there are registers to keep, whole numbers and others. */
static void coroutine_counts(void *arg)
{
	uint64_t a = 1, b = 2, c = 3, d = 5, e = 7, f = 11, g = 13;
	double x = 0.5, y = 0.25;
	volatile uint64_t *sum = arg;

	for (;;) {
		a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += a;
		x = x * 0.5 + (double)(a & 15);
		y = y * 0.25 + x;
		*sum = a ^ b ^ c ^ d ^ e ^ f ^ g ^ (uint64_t)(y * 64);
		os_coroutine_switch(&counter, &outside);
	}
}

TEST("a switch keeps what both sides compute")
{
	uint64_t a = 1, b = 2, c = 3, d = 5, e = 7, f = 11, g = 13, n;
	double x = 0.5, y = 0.25;
	uint64_t sum = 0, wrong = 0;

	memset(&outside, 0, sizeof(outside));
	EXPECT_EQ(os_coroutine_create(&counter, coroutine_counts, &sum), 0);
	for (n = 0; n < SWITCHES; n++) {
		os_coroutine_switch(&outside, &counter);
		a += b, b ^= c, c += d, d ^= e, e += f, f ^= g, g += a;
		x = x * 0.5 + (double)(a & 15);
		y = y * 0.25 + x;
		wrong += sum != (a ^ b ^ c ^ d ^ e ^ f ^ g ^ (uint64_t)(y * 64));
	}
	EXPECT_EQ(wrong, 0);
	os_coroutine_destroy(&counter);
}

static void coroutine_aligned(void *arg)
{
	_Alignas(16) char place[16] = "";

	*(bool *)arg = (uintptr_t)place % 16 == 0 &&
		       os_coroutine_holds(&counter, place) &&
		       !os_coroutine_holds(&counter, arg);
	os_coroutine_switch(&counter, &outside);
}

TEST("a coroutine has a stack of its own, aligned as functions expect it")
{
	bool ok = false;

	memset(&outside, 0, sizeof(outside));
	EXPECT_EQ(os_coroutine_create(&counter, coroutine_aligned, &ok), 0);
	os_coroutine_switch(&outside, &counter);
	EXPECT(ok);
	os_coroutine_destroy(&counter);
}

static void coroutine_overflows(void *arg)
{
	volatile char *end = counter.stack + os_page_bytes();

	(void)arg;
	*end = 1;		/* the last byte that is there */
	end[-1] = 1;
	_exit(0);
}

TEST("the page below a stack cannot be touched")
{
	int status = 0;
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		memset(&outside, 0, sizeof(outside));
		if (!os_coroutine_create(&counter, coroutine_overflows, NULL))
			os_coroutine_switch(&outside, &counter);
		_exit(0);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFSIGNALED(status));
}

static void coroutine_never(void *arg)
{
	(void)arg;
	_exit(1);
}

TEST("without memory for a stack there is no coroutine, and nothing to take away")
{
	char *stack;

	STEP("no addresses");
	fail_at(FAIL_MAP, 1, 1, ENOMEM);
	EXPECT_EQ(os_coroutine_create(&counter, coroutine_never, NULL), -ENOMEM);
	EXPECT_EQ(fail_end(), 1);
	EXPECT(!counter.stack);
	EXPECT(!os_coroutine_holds(&counter, NULL));
	os_coroutine_destroy(&counter);
	STEP("addresses, but no memory that can be written: they are given back");
	fail_at(FAIL_PROTECT, 1, 1, ENOMEM);
	EXPECT_EQ(os_coroutine_create(&counter, coroutine_never, NULL), -ENOMEM);
	EXPECT_EQ(fail_end(), 1);
	stack = counter.stack;
	errno = 0;
	EXPECT_EQ(mprotect(stack, os_page_bytes(), PROT_NONE), -1);
	EXPECT_EQ(errno, ENOMEM);
}

/* ---- what each thread has for itself ---- */

static _Thread_local struct {
	int number;
} mine;

static void *mine_at(size_t *bytes)
{
	*bytes = sizeof(mine);
	return &mine;
}

static void has_its_own(void *arg)
{
	int number = *(int *)arg, i;

	EXPECT_EQ(mine.number, 0);
	for (i = 0; i < 100; i++) {
		mine.number = number + i;
		errno = 1000 + number;
		sim_sleep(10);
		EXPECT_EQ(mine.number, number + i);
		EXPECT_EQ(errno, 1000 + number);
	}
}

static struct sim *lockstep_sim(void)
{
	const struct sim_config cfg = { .mode = SIM_LOCKSTEP, .seed = test_seed() };
	struct sim *sim = sim_create(&cfg);

	EXPECT(sim);
	return sim;
}

TEST("each thread of lockstep has errno and the added variables for itself")
{
	struct sim *sim = lockstep_sim();
	int number[3] = { 100, 200, 300 };
	unsigned int i;

	sim_local_add(sim, mine_at);
	sim_local_add(sim, mine_at);
	mine.number = 7;
	for (i = 0; i < 3; i++)
		sim_thread_start(sim, "own", false, has_its_own, &number[i]);
	EXPECT_EQ(sim_run(sim, 305, 0), SIM_LIMIT);
	EXPECT_EQ(mine.number, 7);
	EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
	EXPECT_EQ(mine.number, 7);
	sim_stop(sim);
	sim_destroy(sim);
	mine.number = 0;
}

static void sleeps_once(void *arg)
{
	(void)arg;
	sim_sleep(1);
}

TEST("ten thousand threads come and go")
{
	struct sim *sim = lockstep_sim();
	struct sim_thread *t[100];
	unsigned int i, round;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < 100; i++) {
			t[i] = sim_thread_start(sim, "short", false,
						sleeps_once, NULL);
			EXPECT(t[i]);
		}
		EXPECT_EQ(sim_run(sim, 0, 0), SIM_FINISHED);
		for (i = 0; i < 100; i++)
			sim_thread_join(t[i]);
	}
	sim_destroy(sim);
}

/* ---- signals ---- */

#define TOUCHERS 3

static struct {
	char *page;			/* one each */
	struct sim_thread *thread[TOUCHERS];
	unsigned int waiting, most, fixed, done[TOUCHERS];
	bool blocked;
} touch;

static void *fault_at(size_t *bytes)
{
	uintptr_t start, end;

	os_fault_variables(&start, &end);
	*bytes = end - start;
	return (void *)start;
}

/* In the handler: waits until "opens" says so. */
static bool touch_fix(uintptr_t addr, int write)
{
	uintptr_t at = addr - (uintptr_t)touch.page;

	(void)write;
	if (at >= TOUCHERS * os_page_bytes())
		return false;
	if (++touch.waiting > touch.most)
		touch.most = touch.waiting;
	sim_park();
	touch.waiting--;
	touch.fixed++;
	return !os_protect(touch.page + at / os_page_bytes() * os_page_bytes(),
			   os_page_bytes(), PROT_READ | PROT_WRITE);
}

static void touch_pages(void *arg)
{
	unsigned int i = (unsigned int)(uintptr_t)arg, n;

	for (n = 0; n < 20; n++) {
		touch.page[i * os_page_bytes() + n] = (char)n;
		EXPECT_EQ(touch.page[i * os_page_bytes() + n], (char)n);
		EXPECT_EQ(os_protect(touch.page + i * os_page_bytes(),
				     os_page_bytes(), PROT_NONE), 0);
		touch.done[i]++;
	}
}

/* First one first: handlers end in the order in which they began, not as if nested. */
static void touch_open(void *arg)
{
	unsigned int i, n;
	sigset_t mask;

	(void)arg;
	for (n = 0; n < 20; n++) {
		while (touch.waiting < TOUCHERS)
			sim_sleep(10);
		sigprocmask(SIG_SETMASK, NULL, &mask);
		touch.blocked |= sigismember(&mask, SIGUSR1);
		for (i = 0; i < TOUCHERS; i++) {
			sim_unpark(touch.thread[i], 0);
			sim_sleep(i == 1 ? 100 : 0);
		}
	}
}

static void faults_wait(void)
{
	struct sim *sim = lockstep_sim();
	sigset_t mask;
	uintptr_t i;
	int err, cancel;

	memset(&touch, 0, sizeof(touch));
	touch.page = os_reserve(NULL, TOUCHERS * os_page_bytes(), &err);
	EXPECT(touch.page);
	EXPECT_EQ(os_fault_add(touch_fix), 0);
	sim_local_add(sim, fault_at);
	for (i = 0; i < TOUCHERS; i++)
		touch.thread[i] = sim_thread_start(sim, "touches", false,
						   touch_pages, (void *)i);
	sim_thread_start(sim, "opens", false, touch_open, NULL);
	EXPECT_EQ(sim_run(sim, 10000000, 0), SIM_FINISHED);
	EXPECT_EQ(touch.fixed, 20 * TOUCHERS);
	EXPECT_EQ(touch.most, TOUCHERS);
	for (i = 0; i < TOUCHERS; i++)
		EXPECT_EQ(touch.done[i], 20);
	EXPECT(!touch.blocked);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	EXPECT(!sigismember(&mask, SIGUSR1));
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	EXPECT_EQ(cancel, PTHREAD_CANCEL_ENABLE);
	sim_stop(sim);
	sim_destroy(sim);
	os_fault_remove(touch_fix);
	munmap(touch.page, TOUCHERS * os_page_bytes());
}

TEST("threads wait in handlers at the same time, and no signal stays blocked")
{
	faults_wait();
}

TEST("the same with a stack for signals, which is there again afterwards")
{
	stack_t stack = { .ss_size = 1 << 16 }, was, now;

	stack.ss_sp = malloc(stack.ss_size);
	EXPECT(stack.ss_sp);
	EXPECT_EQ(sigaltstack(&stack, &was), 0);
	faults_wait();
	EXPECT_EQ(sigaltstack(NULL, &now), 0);
	EXPECT(now.ss_sp == stack.ss_sp && !(now.ss_flags & SS_DISABLE));
	if (!was.ss_size)
		was.ss_flags = SS_DISABLE;
	sigaltstack(&was, NULL);
	free(stack.ss_sp);
}
