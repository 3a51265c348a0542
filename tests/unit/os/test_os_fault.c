// SPDX-License-Identifier: BSD-2-Clause
/*
 * The handler of SIGSEGV and SIGBUS: whom it asks, and what it keeps.
 * variants: tsan posix
 */
#include "rig/os_fault.h"

static bool say_no_again(uintptr_t addr, int write)
{
	(void)addr;
	(void)write;
	atomic_fetch_add(&fault_rig.asked[2], 1);
	return false;
}

/* ---- faults that are repaired ---- */

TEST("a page that a user opens can be used, and errno is as before")
{
	fault_rig_begin();
	EXPECT_EQ(os_fault_add(fault_rig_open), 0);
	errno = ENOTTY;
	fault_rig_touch(10);
	EXPECT_EQ(errno, ENOTTY);
	EXPECT_EQ(fault_rig.addr, (uintptr_t)fault_rig.at + 10);
	EXPECT_EQ(fault_rig_look(10), 5);
	EXPECT_EQ(atomic_load(&fault_rig.asked[0]), 1);
	os_fault_remove(fault_rig_open);
	fault_rig_end();
}

TEST("reading and writing are told apart where the machine says")
{
	bool says = on_linux() && !os_valgrind();

	fault_rig_begin();
#if !defined(__x86_64__) && !defined(__aarch64__)
	says = false;
#endif
	EXPECT_EQ(os_fault_add(fault_rig_open), 0);
	fault_rig_touch(0);
	EXPECT_EQ(fault_rig.write, says ? 1 : -1);
	EXPECT_EQ(fault_rig_look(fault_rig.page), 0);
	EXPECT_EQ(fault_rig.write, says ? 0 : -1);
	STEP("writing to what may only be read");
	os_protect(fault_rig.at, fault_rig.page, PROT_READ);
	fault_rig_touch(1);
	EXPECT_EQ(fault_rig.write, says ? 1 : -1);
	os_fault_remove(fault_rig_open);
	fault_rig_end();
}

TEST("users are asked in turn, until one takes the fault")
{
	fault_rig_begin();
	EXPECT_EQ(os_fault_add(fault_rig_refuse), 0);
	EXPECT_EQ(os_fault_add(fault_rig_open), 0);
	EXPECT_EQ(os_fault_add(say_no_again), 0);
	fault_rig_touch(0);
	EXPECT_EQ(atomic_load(&fault_rig.asked[0]), 1);
	EXPECT_EQ(atomic_load(&fault_rig.asked[1]), 1);
	EXPECT_EQ(atomic_load(&fault_rig.asked[2]), 0);
	STEP("one that has left is not asked");
	os_fault_remove(fault_rig_refuse);
	fault_rig_touch(fault_rig.page);
	EXPECT_EQ(atomic_load(&fault_rig.asked[0]), 2);
	EXPECT_EQ(atomic_load(&fault_rig.asked[1]), 1);
	os_fault_remove(fault_rig_open);
	os_fault_remove(say_no_again);
	fault_rig_end();
}

static bool open_quietly(uintptr_t addr, int write)
{
	(void)write;
	atomic_fetch_add(&fault_rig.asked[0], 1);
	return fault_rig_mine(addr) &&
	       !os_protect((void *)(addr & ~(fault_rig.page - 1)), fault_rig.page,
			   PROT_READ | PROT_WRITE);
}

static bool open_noisily(uintptr_t addr, int write)
{
	raise(SIGUSR1);
	fault_rig.usr1_in_fix = atomic_load(&fault_rig.usr1);
	return fault_rig_open(addr, write);
}

TEST("a user counts; there is room for so many users, and no more")
{
	struct sigaction before, now;

	fault_rig_begin();
	sigaction(SIGSEGV, NULL, &before);
	EXPECT_EQ(os_fault_add(fault_rig_open), 0);
	EXPECT_EQ(os_fault_add(fault_rig_refuse), 0);
	EXPECT_EQ(os_fault_add(say_no_again), 0);
	EXPECT_EQ(os_fault_add(open_quietly), 0);
	EXPECT_EQ(os_fault_add(open_noisily), -EBUSY);
	EXPECT_EQ(os_fault_add(fault_rig_open), 0);
	os_fault_remove(open_quietly);
	EXPECT_EQ(os_fault_add(open_noisily), 0);
	os_fault_remove(open_noisily);
	os_fault_remove(fault_rig_refuse);
	os_fault_remove(say_no_again);
	os_fault_remove(fault_rig_open);
	STEP("added twice, removed once");
	fault_rig_touch(0);
	EXPECT_EQ(atomic_load(&fault_rig.asked[0]), 1);
	os_fault_remove(fault_rig_open);
	STEP("with the last user the handler of before is back");
	sigaction(SIGSEGV, NULL, &now);
	EXPECT(now.sa_sigaction == before.sa_sigaction);
	EXPECT_EQ(now.sa_flags & SA_SIGINFO, before.sa_flags & SA_SIGINFO);
	fault_rig_end();
}

static void *fault_often(void *second)
{
	size_t offset = second ? fault_rig.page : 0;
	int i;

	for (i = 0; i < 300; i++) {
		os_protect(fault_rig.at + offset, fault_rig.page, PROT_NONE);
		fault_rig_touch(offset);
	}
	return NULL;
}

TEST("two threads fault at once, each on its page")
{
	pthread_t t;

	fault_rig_begin();
	EXPECT_EQ(os_fault_add(open_quietly), 0);
	EXPECT_EQ(pthread_create(&t, NULL, fault_often, &fault_rig), 0);
	fault_often(NULL);
	pthread_join(t, NULL);
	EXPECT_EQ(atomic_load(&fault_rig.asked[0]), 600);
	os_fault_remove(open_quietly);
	fault_rig_end();
}

static void *fault_elsewhere(void *stack)
{
	stack_t s = { .ss_sp = stack, .ss_size = 1 << 16 }, old;

	if (!sigaltstack(&s, &old)) {
		fault_rig_touch(0);
		sigaltstack(&old, NULL);
	}
	return NULL;
}

TEST("a thread with an alternate stack for signals is asked for on that stack")
{
	uint8_t *stack = malloc(1 << 16);
	pthread_t t;

	fault_rig_begin();
	EXPECT_EQ(os_fault_add(fault_rig_open), 0);
	EXPECT_EQ(pthread_create(&t, NULL, fault_elsewhere, stack), 0);
	pthread_join(t, NULL);
	EXPECT_EQ(fault_rig_look(0), 5);
	EXPECT(fault_rig.frame > (uintptr_t)stack);
	EXPECT(fault_rig.frame < (uintptr_t)stack + (1 << 16));
	os_fault_remove(fault_rig_open);
	free(stack);
	fault_rig_end();
}

static void on_usr1(int sig)
{
	(void)sig;
	atomic_store(&fault_rig.usr1, true);
}

TEST("other signals wait until a fault is repaired")
{
	struct sigaction sa = { .sa_handler = on_usr1 }, old;

	fault_rig_begin();
	sigaction(SIGUSR1, &sa, &old);
	EXPECT_EQ(os_fault_add(open_noisily), 0);
	fault_rig_touch(0);
	os_yield();
	EXPECT(!fault_rig.usr1_in_fix);
	EXPECT(atomic_load(&fault_rig.usr1));
	os_fault_remove(open_noisily);
	sigaction(SIGUSR1, &old, NULL);
	fault_rig_end();
}

static bool open_slowly(uintptr_t addr, int write)
{
	pthread_testcancel();
	return fault_rig_open(addr, write);
}

static void *touch_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	fault_rig_touch(0);
	return arg;
}

TEST("a thread is not cancelled in the middle of an access")
{
	void *result;
	pthread_t t;

	fault_rig_begin();
	EXPECT_EQ(os_fault_add(open_slowly), 0);
	EXPECT_EQ(pthread_create(&t, NULL, touch_cancelled, &fault_rig), 0);
	pthread_join(t, &result);
	EXPECT(result == &fault_rig);
	EXPECT_EQ(fault_rig_look(0), 5);
	os_fault_remove(open_slowly);
	fault_rig_end();
}

/* ThreadSanitizer lets a child of several threads start nothing. */
#ifndef __SANITIZE_THREAD__
static atomic_bool enough;

static void *come_and_go(void *arg)
{
	while (!atomic_load(&enough)) {
		CHILD_WANT(!os_fault_add(fault_rig_refuse));
		os_fault_remove(fault_rig_refuse);
	}
	return arg;
}

static void add_in_child(void)
{
	alarm(CHILD_S);
	CHILD_WANT(!os_fault_add(fault_rig_open));
	fault_rig_touch(0);
	os_fault_remove(fault_rig_open);
	_exit(0);
}

TEST("a child may add and remove, whatever the parent's threads were at")
{
	int i, status;
	pthread_t t;
	pid_t pid;

	fault_rig_begin();
	atomic_store(&enough, false);
	EXPECT_EQ(pthread_create(&t, NULL, come_and_go, NULL), 0);
	for (i = 0; i < 50; i++) {
		pid = fork();
		if (!pid)
			add_in_child();
		EXPECT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_EXIT(status, 0);
	}
	atomic_store(&enough, true);
	pthread_join(t, NULL);
	fault_rig_end();
}
#endif
