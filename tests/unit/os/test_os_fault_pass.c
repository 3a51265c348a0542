// SPDX-License-Identifier: BSD-2-Clause
/*
 * The handler of SIGSEGV and SIGBUS: what it does not take goes to who was there
 * before, and a crash stays a crash. variants: tsan posix
 */
#include <setjmp.h>
#ifdef __linux__
#include <sys/ptrace.h>
#endif

#include "rig/os_fault.h"

static void pass_foreign(int sig, siginfo_t *si, void *context)
{
	sigset_t mask;

	(void)context;
	atomic_fetch_add(&fault_rig.foreign, 1);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	fault_rig.usr1_blocked = sigismember(&mask, SIGUSR1);
	if (sig != SIGSEGV || !fault_rig_mine((uintptr_t)si->si_addr))
		_exit(99);
	os_protect(fault_rig.at, 2 * fault_rig.page, PROT_READ | PROT_WRITE);
}

static void chain_child(void)
{
	struct sigaction now;

	fault_rig_begin();
	fault_rig_handle(SIGSEGV, pass_foreign, 0);
	CHILD_WANT(!os_fault_add(fault_rig_refuse));
	fault_rig_touch(0);
	CHILD_WANT(atomic_load(&fault_rig.asked[1]) == 1);
	CHILD_WANT(atomic_load(&fault_rig.foreign) == 1);
	os_fault_remove(fault_rig_refuse);
	sigaction(SIGSEGV, NULL, &now);
	CHILD_WANT(now.sa_sigaction == pass_foreign);
}

TEST("a fault that no user takes goes to the handler that was there before")
{
	EXPECT_EXIT(in_child(chain_child), 0);
}

#ifndef __SANITIZE_THREAD__
/* (ThreadSanitizer runs every handler with all signals blocked.) */
static void mask_child(void)
{
	chain_child();
	CHILD_WANT(!fault_rig.usr1_blocked);
}

TEST("a handler of before finds the signal mask that it would have had")
{
	EXPECT_EXIT(in_child(mask_child), 0);
}

/* This fix needs a page that only the handler of before can bring. */
static bool open_by_others(uintptr_t addr, int write)
{
	(void)addr;
	(void)write;
	fault_rig_touch(fault_rig.page);
	return atomic_fetch_add(&fault_rig.asked[0], 1) == 0;
}

static void nested_child(void)
{
	fault_rig_begin();
	fault_rig_handle(SIGSEGV, pass_foreign, 0);
	CHILD_WANT(!os_fault_add(open_by_others));
	fault_rig_touch(0);
	CHILD_WANT(atomic_load(&fault_rig.asked[0]) == 1);
	CHILD_WANT(atomic_load(&fault_rig.foreign) == 1);
	CHILD_WANT(fault_rig_look(fault_rig.page) == 5);
	/* Later faults are asked for as ever. */
	os_protect(fault_rig.at, fault_rig.page, PROT_NONE);
	fault_rig_touch(0);
	CHILD_WANT(atomic_load(&fault_rig.asked[0]) == 2);
	CHILD_WANT(atomic_load(&fault_rig.foreign) == 2);
}

TEST("a fault of a fix goes to the handler of before, which may repair it")
{
	EXPECT_EXIT(in_child(nested_child), 0);
}
#endif

static void foreign_plain(int sig)
{
	(void)sig;
	os_protect(fault_rig.at, 2 * fault_rig.page, PROT_READ | PROT_WRITE);
	atomic_fetch_add(&fault_rig.foreign, 1);
}

static void plain_child(void)
{
	fault_rig_begin();
	signal(SIGSEGV, foreign_plain);
	CHILD_WANT(!os_fault_add(fault_rig_refuse));
	fault_rig_touch(0);
	CHILD_WANT(atomic_load(&fault_rig.foreign) == 1);
}

TEST("a handler of before may be of the old kind, with the signal alone")
{
	EXPECT_EXIT(in_child(plain_child), 0);
}

static void crash_child(void)
{
	fault_rig_begin();
#ifdef __linux__
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
#endif
	if (os_fault_add(fault_rig_refuse))
		_exit(1);
	/* The address goes to the parent first: it cannot know it. */
	kill(getpid(), SIGSTOP);
	fault_rig_touch(77);
}

TEST("a crash that is nobody's ends the program by SIGSEGV")
{
	fault_rig_begin();
#ifndef __linux__
	EXPECT_DEATH(in_child(crash_child), SIGSEGV);
#else
	siginfo_t si = { 0 };
	unsigned int stops = 0, at_address = 0;
	int status, sig;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		alarm(CHILD_S);
		crash_child();
		_exit(0);
	}
	/* Twice at the true address: for the handler, and for the system. */
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status);
		stops++;
		if (sig == SIGSEGV &&
		    !ptrace(PTRACE_GETSIGINFO, pid, NULL, &si) &&
		    si.si_code == SEGV_ACCERR &&
		    ((uintptr_t)si.si_addr & (fault_rig.page - 1)) == 77)
			at_address++;
		ptrace(PTRACE_CONT, pid, NULL, sig == SIGSTOP ? 0 : sig);
	}
	EXPECT_EQ(stops, 3);
	EXPECT_EQ(at_address, 2);
	EXPECT_DEATH(status, SIGSEGV);
#endif
	fault_rig_end();
}

/* What a child has counted when it has died. */
static atomic_uint *calls;

static bool fault_myself(uintptr_t addr, int write)
{
	(void)addr;
	(void)write;
	atomic_fetch_add(calls, 1);
	fault_rig_touch(fault_rig.page);
	return true;
}

static void recursion_child(void)
{
	fault_rig_begin();
	if (os_fault_add(fault_myself))
		_exit(1);
	fault_rig_touch(0);
}

TEST("a fix that faults itself ends the program, and not never")
{
	calls = shared_count();
	EXPECT_DEATH(in_child(recursion_child), SIGSEGV);
	/* It was not asked again until the stack was full. */
	EXPECT_EQ(atomic_load(calls), 1);
	munmap(calls, sizeof(*calls));
}

static void pass_report(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)si;
	(void)context;
	atomic_fetch_add(&fault_rig.foreign, 1);
	if (atomic_load(&fault_rig.foreign) > 1)
		_exit(98);
}

static void once_child(void)
{
	fault_rig_begin();
	fault_rig_handle(SIGSEGV, pass_report, SA_RESETHAND);
	if (os_fault_add(fault_rig_refuse))
		_exit(1);
	fault_rig_touch(0);
}

TEST("a handler of before that wanted one signal gets one, then it is a crash")
{
	EXPECT_DEATH(in_child(once_child), SIGSEGV);
}

/* ---- signals that were sent ---- */

static void sent_child(void)
{
	fault_rig_begin();
	if (os_fault_add(fault_rig_open))
		_exit(1);
	kill(getpid(), SIGSEGV);
	pause();
}

TEST("a SIGSEGV that was sent is no fault, and ends the program as ever")
{
	EXPECT_DEATH(in_child(sent_child), SIGSEGV);
}

static void sent_ignored_child(void)
{
	fault_rig_begin();
	signal(SIGBUS, SIG_IGN);
	CHILD_WANT(!os_fault_add(fault_rig_open));
	raise(SIGBUS);
	CHILD_WANT(atomic_load(&fault_rig.asked[0]) == 0);
}

TEST("a SIGBUS that was sent to who ignores it is ignored")
{
	EXPECT_EXIT(in_child(sent_ignored_child), 0);
}

static void ignored_child(void)
{
	fault_rig_begin();
	signal(SIGSEGV, SIG_IGN);
	if (os_fault_add(fault_rig_refuse))
		_exit(1);
	fault_rig_touch(0);
}

TEST("a fault of who ignores SIGSEGV ends the program as ever")
{
	EXPECT_DEATH(in_child(ignored_child), SIGSEGV);
}

/* ---- SIGBUS ---- */

static uint8_t *pass_beyond(void)
{
	int fd = os_file_unnamed(NULL);
	uint8_t *at = mmap(NULL, 2 * fault_rig.page, PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 0);

	if (fd < 0 || at == MAP_FAILED || ftruncate(fd, 1))
		_exit(1);
	return at + fault_rig.page;
}

static volatile uint8_t *volatile bus_at;

static void on_bus(int sig, siginfo_t *si, void *context)
{
	(void)context;
	_exit(sig == SIGBUS && si->si_addr == bus_at + 3 ? 42 : 43);
}

static void bus_child(void)
{
	fault_rig_begin();
	fault_rig_handle(SIGBUS, on_bus, 0);
	CHILD_WANT(!os_fault_add(fault_rig_open));
	bus_at = pass_beyond();
	bus_at[3] = 1;
}

static void bus_crash_child(void)
{
	fault_rig_begin();
	if (os_fault_add(fault_rig_open))
		_exit(1);
	*(volatile uint8_t *)pass_beyond() = 1;
}

TEST("SIGBUS beyond the end of a file is passed on, or ends the program")
{
	EXPECT_EXIT(in_child(bus_child), 42);
	EXPECT_DEATH(in_child(bus_crash_child), SIGBUS);
}

/* ---- handlers that come later ---- */

static struct sigaction under;

static void on_top(int sig, siginfo_t *si, void *context)
{
	atomic_fetch_add(calls, 1);
	if (under.sa_flags & SA_SIGINFO)
		under.sa_sigaction(sig, si, context);
}

static void on_top_child(void)
{
	struct sigaction sa = { .sa_sigaction = on_top,
				.sa_flags = SA_SIGINFO };

	fault_rig_begin();
	if (os_fault_add(fault_rig_open))
		_exit(1);
	sigaction(SIGSEGV, &sa, &under);
	fault_rig_touch(0);
	CHILD_WANT(atomic_load(calls) == 1);
	CHILD_WANT(atomic_load(&fault_rig.asked[0]) == 1);
	/* It stays below, and is put on top once more. */
	os_fault_remove(fault_rig_open);
	CHILD_WANT(!os_fault_add(fault_rig_open));
	fault_rig_touch(fault_rig.page);
	CHILD_WANT(atomic_load(calls) == 1);
	CHILD_WANT(atomic_load(&fault_rig.asked[0]) == 2);
	os_fault_remove(fault_rig_open);
	CHILD_WANT(!os_fault_add(fault_rig_refuse));
	os_protect(fault_rig.at, fault_rig.page, PROT_NONE);
	/* Ours, his, ours again: and then the end. */
	fault_rig_touch(0);
}

static sigjmp_buf home;

static void jump_home(int sig, siginfo_t *si, void *context)
{
	(void)si;
	(void)context;
	atomic_fetch_add(calls, 1);
	if (sig == SIGSEGV)
		siglongjmp(home, 1);
}

static void jump_child(void)
{
	volatile int i;

	fault_rig_begin();
	fault_rig_handle(SIGSEGV, pass_foreign, 0);
	CHILD_WANT(!os_fault_add(fault_rig_open));
	fault_rig_handle(SIGSEGV, jump_home, 0);
	/* Ours stays below his, and comes on top of it. */
	os_fault_remove(fault_rig_open);
	CHILD_WANT(!os_fault_add(fault_rig_refuse));
	for (i = 1; i < 4; i++) {
		if (!sigsetjmp(home, 1))
			fault_rig_touch(0);
		CHILD_WANT(atomic_load(calls) == (unsigned int)i);
	}
	CHILD_WANT(atomic_load(&fault_rig.foreign) == 0);
}

TEST("who jumps out of his handler gets the next fault as well")
{
	calls = shared_count();
	EXPECT_EXIT(in_child(jump_child), 0);
	munmap(calls, sizeof(*calls));
}

TEST("a handler on top that passes back to ours makes no circle")
{
	calls = shared_count();
	EXPECT_DEATH(in_child(on_top_child), SIGSEGV);
	EXPECT_EQ(atomic_load(calls), 2);
	munmap(calls, sizeof(*calls));
}
