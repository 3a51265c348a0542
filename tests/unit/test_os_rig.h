/* SPDX-License-Identifier: BSD-2-Clause */
/* test_os_rig.h - what the tests of lib/os share: children, pages. */
#ifndef FL_TEST_OS_RIG_H
#define FL_TEST_OS_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "os/os.h"
#include "os/os_emu.h"

#define CHILD_S 60	/* then it hangs */

/* Does the system layer under test have what only Linux has? */
static inline bool on_linux(void)
{
	return !strcmp(os_system(), "linux");
}

/*
 * fn in a child, which SIGSEGV and SIGBUS end as on any system, also when this
 * program is built with a sanitizer. Its wait status.
 */
static inline int in_child(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		alarm(CHILD_S);
		fn();
		_exit(0);
	}
	EXPECT(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		EXPECT_EQ(errno, EINTR);
	return status;
}

#define EXPECT_EXIT(status, code)                                             \
	do {                                                                  \
		int s_ = (status);                                            \
		EXPECT_EQ(WIFSIGNALED(s_) ? WTERMSIG(s_) : 0, 0);             \
		EXPECT_EQ(WEXITSTATUS(s_), (code));                           \
	} while (0)
#define EXPECT_DEATH(status, sig)                                             \
	do {                                                                  \
		int s_ = (status);                                            \
		EXPECT(WIFSIGNALED(s_));                                      \
		EXPECT_EQ(WTERMSIG(s_), (sig));                               \
	} while (0)

/* In a child: leave with a code that tells which line it was. */
#define CHILD_WANT(cond)                                                      \
	do {                                                                  \
		if (!(cond))                                                  \
			_exit(1 + __LINE__ % 250);                            \
	} while (0)

/* So many pages, readable and writable, or with prot. */
static inline uint8_t *os_rig_pages(unsigned int n, int prot)
{
	int error;
	uint8_t *at = os_reserve(NULL, n * os_page_bytes(), &error);

	if (!at || os_view(at, n * os_page_bytes(), prot, -1, 0))
		abort();
	return at;
}

/* A counter that children share, 0. munmap(). */
static inline atomic_uint *shared_count(void)
{
	atomic_uint *n = mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	EXPECT(n != MAP_FAILED);
	return n;
}

#endif
