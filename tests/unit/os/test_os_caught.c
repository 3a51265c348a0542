// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies that the handler of SIGSEGV and SIGBUS ends when they fault.
 * variants: posix
 */
#include <sys/time.h>

#include "os/os_internal.h"
#include "rig/os_fault.h"

#define FAR_OFF	((uint8_t *)(UINT64_C(0xdead) << 48))	/* no address of these machines */

/* Pages and a user of the handler, or false: this system layer copies by a system call. */
static bool caught_begin(void)
{
	char c = 0;

	fault_rig_begin();
	EXPECT_EQ(os_fault_add(fault_rig_open), 0);
	EXPECT_EQ(os_copy_caught(&c, "x", 1), 0);
	EXPECT_EQ(c, 'x');
	EXPECT_EQ(os_copy_caught(fault_rig.at, &c, 1), -EFAULT);
	EXPECT_EQ(os_copy_caught(&c, fault_rig.at, 1), -EFAULT);
	if (os_copy_watched(&c, "x", 1) != -ENOTSUP)
		return true;
	EXPECT(!on_linux() || os_tsan());
	os_fault_remove(fault_rig_open);
	fault_rig_end();
	return false;
}

static void caught_end(void)
{
	os_fault_remove(fault_rig_open);
	fault_rig_end();
}

TEST("a caught copy is a copy, from and to any address")
{
	uint8_t from[80], to[80], want[80];
	size_t f, t, n, i;

	if (!caught_begin())
		return;
	for (i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 37 + 1);
	for (f = 0; f < 9; f++)
		for (t = 0; t < 9; t++)
			for (n = 0; n < 64; n++) {
				memset(to, 0, sizeof(to));
				memset(want, 0, sizeof(want));
				memmove(want + t, from + f, n);
				EXPECT_EQ(os_copy_caught(to + t, from + f, n), 0);
				EXPECT_MEM(to, want, sizeof(to));
			}
	caught_end();
}

TEST("a copy of memory that is partly or all absent is caught, and nobody is asked for it")
{
	static uint8_t buf[3 * 65536];
	sigset_t before, after;
	size_t page;
	uint8_t *at;
	int sig;

	if (!caught_begin())
		return;
	page = fault_rig.page;
	at = os_rig_pages(3, PROT_READ | PROT_WRITE);
	memset(at, 4, 3 * page);
	EXPECT_EQ(os_protect(at + page, page, PROT_NONE), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	errno = ENOTTY;
	EXPECT_EQ(os_copy_caught(buf, at + page - 10, 20), -EFAULT);
	EXPECT_EQ(os_copy_caught(at + page - 10, buf, 20), -EFAULT);
	EXPECT_EQ(os_copy_caught(buf, at, 3 * page), -EFAULT);
	EXPECT_EQ(os_copy_caught(buf, at + page, 1), -EFAULT);
	EXPECT_EQ(os_copy_caught(at + 2 * page - 1, buf, 1), -EFAULT);
	EXPECT_EQ(os_copy_caught(buf, NULL, 1), -EFAULT);
	EXPECT_EQ(os_copy_caught(FAR_OFF, buf, 8), -EFAULT);
	EXPECT_EQ(os_copy_caught(buf, FAR_OFF, 8), -EFAULT);
	EXPECT_EQ(os_copy_caught(buf, fault_rig.at, 8), -EFAULT);
	STEP("what may only be read");
	EXPECT_EQ(os_protect(at + page, page, PROT_READ), 0);
	EXPECT_EQ(os_copy_caught(at + page, buf, 8), -EFAULT);
	EXPECT_EQ(os_copy_caught(buf, at + page, 8), 0);
	EXPECT_EQ(errno, ENOTTY);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (sig = 1; sig < 32; sig++)
		EXPECT_EQ(sigismember(&after, sig), sigismember(&before, sig));
	EXPECT_EQ(atomic_load(&fault_rig.asked[0]), 0);
	STEP("a fault that is none of a copy's is repaired as ever");
	fault_rig_touch(3);
	EXPECT_EQ(fault_rig_look(3), 5);
	EXPECT_EQ(atomic_load(&fault_rig.asked[0]), 1);
	munmap(at, 3 * page);
	caught_end();
}

TEST("memory of a file that has become shorter is caught")
{
	size_t page = os_page_bytes();
	uint8_t *at;
	char c = 0;
	int fd;

	if (!caught_begin())
		return;
	fd = os_file_unnamed(NULL);
	EXPECT(fd >= 0);
	EXPECT_EQ(ftruncate(fd, (off_t)page), 0);
	at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(at != MAP_FAILED);
	EXPECT_EQ(ftruncate(fd, 0), 0);
	EXPECT_EQ(os_copy_caught(&c, at, 1), -EFAULT);
	munmap(at, page);
	close(fd);
	caught_end();
}

static bool copy_and_open(uintptr_t addr, int write)
{
	char c;

	return os_copy_caught(&c, fault_rig.at + fault_rig.page, 1) == -EFAULT &&
	       fault_rig_open(addr, write);
}

TEST("a fix may copy, too")
{
	if (!caught_begin())
		return;
	os_fault_remove(fault_rig_open);
	EXPECT_EQ(os_fault_add(copy_and_open), 0);
	fault_rig_touch(0);
	EXPECT_EQ(fault_rig_look(0), 5);
	EXPECT_EQ(atomic_load(&fault_rig.asked[0]), 1);
	os_fault_remove(copy_and_open);
	EXPECT_EQ(os_fault_add(fault_rig_open), 0);
	caught_end();
}

static volatile sig_atomic_t inside, wrong;

/* A page that somebody opens, and a copy of one that nobody does; then it is closed again. */
static void on_alarm(int sig, siginfo_t *si, void *context)
{
	char c;

	(void)sig;
	(void)si;
	inside += os_fault_is_copy(context);
	fault_rig_touch(0);
	if (fault_rig_look(0) != 5 ||
	    os_copy_caught(&c, fault_rig.at + fault_rig.page, 1) != -EFAULT ||
	    os_protect(fault_rig.at, fault_rig.page, PROT_NONE))
		wrong = 1;
}

TEST("a handler of the program that interrupts a copy may fault and copy, and the copy goes on")
{
	static const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never;
	static uint8_t from[100000], to[sizeof(from)];
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;
	unsigned int i;

	if (!caught_begin())
		return;
	for (i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + i / 256);
	inside = wrong = 0;
	fault_rig_handle(SIGALRM, on_alarm, SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	/* By bytes, so that most of the time is a copy's. */
	for (i = 0; inside < 20 && !wrong && os_now_ns() < end_ns; i++) {
		to[i % 1000] = 0;
		if (os_copy_caught(to, from + 1, sizeof(from) - 1) ||
		    memcmp(to, from + 1, sizeof(from) - 1))
			wrong = 2;
		if (os_copy_caught(fault_rig.at + fault_rig.page, from, 1) != -EFAULT)
			wrong = 3;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	EXPECT_EQ(wrong, 0);
	EXPECT_GE(inside, 20);
	caught_end();
}

static atomic_bool coming_and_going;

static void *come_and_go(void *arg)
{
	while (atomic_load(&coming_and_going)) {
		os_protect(arg, fault_rig.page, PROT_NONE);
		os_protect(arg, fault_rig.page, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

TEST("a page comes and goes while it is copied: all of it arrives, or the caller gets an error")
{
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;
	unsigned int done = 0, failed = 0;
	uint8_t *at, *to;
	pthread_t t;
	int err;

	if (!caught_begin())
		return;
	at = os_rig_pages(2, PROT_READ | PROT_WRITE);
	to = malloc(2 * fault_rig.page);
	EXPECT(to != NULL);
	memset(at, 0x77, 2 * fault_rig.page);
	atomic_store(&coming_and_going, true);
	EXPECT_EQ(pthread_create(&t, NULL, come_and_go, at + fault_rig.page), 0);
	while ((done < 100 || failed < 100) && os_now_ns() < end_ns) {
		memset(to, 0, 2 * fault_rig.page);
		err = os_copy_caught(to, at, 2 * fault_rig.page);
		EXPECT(err == -EFAULT || (!err && !memcmp(to, at, fault_rig.page) &&
					  to[fault_rig.page] == 0x77 &&
					  to[2 * fault_rig.page - 1] == 0x77));
		done += !err;
		failed += err != 0;
	}
	atomic_store(&coming_and_going, false);
	pthread_join(t, NULL);
	EXPECT(done >= 100 && failed >= 100);
	munmap(at, 2 * fault_rig.page);
	free(to);
	caught_end();
}
