/* SPDX-License-Identifier: BSD-2-Clause */
/* os.h - what the tests of lib/os share: children, pages. */
#ifndef FL_RIG_OS_H
#define FL_RIG_OS_H

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
int in_child(void (*fn)(void));

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
uint8_t *os_rig_pages(unsigned int n, int prot);

/* A counter that children share, 0. munmap(). */
atomic_uint *shared_count(void);

#endif
