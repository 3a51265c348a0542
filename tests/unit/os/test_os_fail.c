// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls of the system that fail, or are interrupted: the system layer says so, does them
 * again, and leaves everything as it was. variants: posix
 */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "rig/fail.h"
#include "rig/os.h"

static bool fix_none(uintptr_t addr, int write)
{
	(void)addr;
	(void)write;
	return false;
}

static void handler_of_mine(int sig)
{
	(void)sig;
}

static void expect_handler(int sig, void (*fn)(int))
{
	struct sigaction now;

	EXPECT_EQ(sigaction(sig, NULL, &now), 0);
	EXPECT(!(now.sa_flags & SA_SIGINFO) && now.sa_handler == fn);
}

/* First of all, since it asks for handlers of forks but once. */
TEST("without memory for its handlers of forks nobody becomes a user of faults")
{
	struct sigaction mine = { .sa_handler = handler_of_mine }, was;

	EXPECT_EQ(sigaction(SIGSEGV, &mine, &was), 0);
	fail_at(FAIL_ATFORK, 1, 1, ENOMEM);
	EXPECT_EQ(os_fault_add(fix_none), -ENOMEM);
	EXPECT_EQ(fail_end(), 1);
	expect_handler(SIGSEGV, handler_of_mine);
	EXPECT_EQ(os_fault_add(fix_none), 0);
	os_fault_remove(fix_none);
	expect_handler(SIGSEGV, handler_of_mine);
	EXPECT_EQ(sigaction(SIGSEGV, &was, NULL), 0);
}

TEST("a handler that cannot be installed leaves both signals as they were")
{
	struct sigaction mine = { .sa_handler = handler_of_mine }, was[2];
	unsigned int n;

	EXPECT_EQ(sigaction(SIGSEGV, &mine, &was[0]), 0);
	EXPECT_EQ(sigaction(SIGBUS, &mine, &was[1]), 0);
	/* For each of two signals one call looks, and one installs. */
	for (n = 1; n <= 4; n++) {
		STEP("call %u of sigaction() fails", n);
		fail_at(FAIL_SIGACTION, n, 1, EINVAL);
		EXPECT_EQ(os_fault_add(fix_none), -EINVAL);
		EXPECT_EQ(fail_end(), 1);
		expect_handler(SIGSEGV, handler_of_mine);
		expect_handler(SIGBUS, handler_of_mine);
	}
	STEP("nothing of it was kept");
	EXPECT_EQ(os_fault_add(fix_none), 0);
	os_fault_remove(fix_none);
	expect_handler(SIGSEGV, handler_of_mine);
	expect_handler(SIGBUS, handler_of_mine);
	EXPECT_EQ(sigaction(SIGSEGV, &was[0], NULL), 0);
	EXPECT_EQ(sigaction(SIGBUS, &was[1], NULL), 0);
}

TEST("random bytes come whole, or there is an error")
{
	uint8_t a[64] = { 0 }, none[64] = { 0 };

	STEP("a signal comes in between");
	fail_at(FAIL_READ, 1, 3, EINTR);
	EXPECT_EQ(os_random(a, sizeof(a)), 0);
	EXPECT_EQ(fail_end(), 3);
	EXPECT(memcmp(a, none, sizeof(a)));
	STEP("there are none");
	fail_at(FAIL_READ, 1, 1, ENOSYS);
	EXPECT_EQ(os_random(a, sizeof(a)), -ENOSYS);
	fail_answer(FAIL_READ, 1, 1, 0);
	EXPECT_EQ(os_random(a, sizeof(a)), -EIO);
	EXPECT_EQ(fail_end(), 1);
}

TEST("addresses that are refused are looked for elsewhere, or there is an error")
{
	size_t page = os_page_bytes();
	int error = 77;
	void *at;

	if (on_linux()) {
		STEP("not there; elsewhere a system takes the address as a wish anyway");
		fail_at(FAIL_MAP, 1, 1, EEXIST);
		at = os_reserve((void *)0x7000000000, page, &error);
		EXPECT_EQ(fail_end(), 1);
		EXPECT(at);
		EXPECT_EQ(error, 0);
		munmap(at, page);
	}
	STEP("nowhere");
	fail_at(FAIL_MAP, 1, 2, ENOMEM);
	EXPECT(!os_reserve((void *)0x7000000000, page, &error));
	EXPECT_EQ(error, -ENOMEM);
}

TEST("memory that cannot be replaced stays what it was")
{
	size_t page = os_page_bytes();
	uint8_t *at = os_rig_pages(1, PROT_READ | PROT_WRITE);
	uint8_t *other = os_rig_pages(1, PROT_READ | PROT_WRITE);

	memset(at, 1, page);
	memset(other, 2, page);
	STEP("no memory for the copy");
	fail_at(FAIL_MAP, 1, 1, ENOMEM);
	EXPECT_EQ(os_replace(at, other, page, PROT_READ), -ENOMEM);
	EXPECT_EQ(fail_end(), 1);
	if (on_linux()) {
		STEP("no rights for it, no way into the place: only Linux moves memory");
		fail_at(FAIL_PROTECT, 1, 1, EACCES);
		EXPECT_EQ(os_replace(at, other, page, PROT_READ), -EACCES);
		fail_at(FAIL_MAP, 2, 1, EAGAIN);
		EXPECT_EQ(os_replace(at, other, page, PROT_READ), -EAGAIN);
		EXPECT_EQ(fail_end(), 1);
	}
	EXPECT_EQ(at[0], 1);
	at[page - 1] = 3;
	EXPECT_EQ(os_replace(at, other, page, PROT_READ), 0);
	EXPECT_EQ(at[page - 1], 2);
	munmap(at, page);
	munmap(other, page);
}

TEST("a view that cannot be made is an error")
{
	size_t page = os_page_bytes();
	uint8_t *at = os_rig_pages(1, PROT_READ | PROT_WRITE);

	fail_at(FAIL_MAP, 1, 1, ENOMEM);
	EXPECT_EQ(os_view(at, page, PROT_READ, -1, 0), -ENOMEM);
	fail_at(FAIL_PROTECT, 1, 1, ENOMEM);
	EXPECT_EQ(os_protect(at, page, PROT_NONE), -ENOMEM);
	EXPECT_EQ(fail_end(), 1);
	at[0] = 1;
	munmap(at, page);
}

TEST("a thread whose stack the library does not know has none")
{
	uintptr_t start, end;

	if (!on_linux())
		return;		/* there nobody asks the library */
	fail_at(FAIL_THREAD, 1, 1, ENOMEM);
	EXPECT(!os_stack(&start, &end));
	fail_at(FAIL_THREAD, 2, 1, EINVAL);
	EXPECT(!os_stack(&start, &end));
	EXPECT_EQ(fail_end(), 1);
	EXPECT(os_stack(&start, &end));
	EXPECT(start <= (uintptr_t)&start && (uintptr_t)&start < end);
}

TEST("a copy that gets no further is a fault")
{
	char from[16] = "fifteen letters", to[16];

	if (!on_linux())
		return;		/* there is no such call */
	fail_answer(FAIL_COPY, 1, 1, 0);
	EXPECT_EQ(os_copy_from(to, from, sizeof(to)), -EFAULT);
	EXPECT_EQ(fail_end(), 1);
	EXPECT_EQ(os_copy_from(to, from, sizeof(to)), 0);
	EXPECT_MEM(to, from, sizeof(to));
	memset(to, 0, sizeof(to));
	STEP("one that is forbidden is done by other means");
	fail_at(FAIL_COPY, 1, 1, EPERM);
	EXPECT_EQ(os_copy_from(to, from, sizeof(to)), 0);
	EXPECT_EQ(fail_end(), 1);
	EXPECT_MEM(to, from, sizeof(to));
}

TEST("bytes come after a signal too, and errors come as they are")
{
	char got[8] = "";
	int pair[2];

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	EXPECT_EQ(write(pair[0], "abc", 3), 3);
	fail_at(FAIL_RECVMSG, 1, 2, EINTR);
	EXPECT_EQ(os_receive_bytes(pair[1], got, sizeof(got)), 3);
	EXPECT_EQ(fail_end(), 2);
	EXPECT_MEM(got, "abc", 3);
	fail_at(FAIL_RECVMSG, 1, 1, ECONNRESET);
	EXPECT_EQ(os_receive_bytes(pair[1], got, sizeof(got)), -ECONNRESET);
	EXPECT_EQ(fail_end(), 1);
	close(pair[0]);
	EXPECT_EQ(os_receive_bytes(pair[1], got, sizeof(got)), 0);
	close(pair[1]);
}

static void no_limit(void)
{
	int first = dup(0), last = fcntl(0, F_DUPFD, 200);

	CHILD_WANT(first >= 0 && last >= 200);
	os_close_from(first);
	CHILD_WANT(fcntl(first, F_GETFD) < 0 && errno == EBADF);
	CHILD_WANT(fcntl(last, F_GETFD) < 0 && errno == EBADF);
	CHILD_WANT(fcntl(0, F_GETFD) >= 0);
}

TEST("descriptors are closed one by one also where there is no limit of them, or a high one")
{
	fail_at(FAIL_CLOSE_RANGE, 1, 1, ENOSYS);
	fail_answer(FAIL_SYSCONF, 1, 1, -1);
	EXPECT_EXIT(in_child(no_limit), 0);
	fail_answer(FAIL_SYSCONF, 1, 1, 1 << 30);
	EXPECT_EXIT(in_child(no_limit), 0);
}

TEST("a CPU is idle when no more want to run than there are CPUs, and that is known")
{
	static const char load[] = "/proc/loadavg";
	char as_many[64], more[64];

	snprintf(as_many, sizeof(as_many), "9.00 9.00 9.00 %u/900 77\n", os_cpus());
	snprintf(more, sizeof(more), "0.00 0.00 0.00 %u/900 77\n", os_cpus() + 1);
	fail_text(load, as_many);
	EXPECT_EQ(os_cpu_idle(), on_linux());
	fail_text(load, more);
	EXPECT(!os_cpu_idle());
	STEP("it is not known");
	fail_text(load, "not a number");
	EXPECT(!os_cpu_idle());
	fail_text(load, as_many);
	fail_at(FAIL_READ, 1, 1, EIO);
	EXPECT(!os_cpu_idle());
	fail_at(FAIL_OPEN, 1, 1, ENOENT);
	EXPECT(!os_cpu_idle());
	fail_end();
}
