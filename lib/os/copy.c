// SPDX-License-Identifier: BSD-2-Clause
/*
 * copy.c - copies that cannot fault. A system call that is given an address that
 * cannot be reached fails instead of raising a signal. Where there is no call that
 * copies memory to memory, or it is forbidden (some containers), a pipe does it:
 * what fits a pipe that is empty never blocks.
 */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "os/os_internal.h"

#ifndef PIPE_BUF
#define PIPE_BUF 512		/* POSIX: at least */
#endif

/* All of n bytes, in as many calls as it takes. 0 or -errno. */
static int copy_all(int fd, char *mem, size_t n, bool out)
{
	ssize_t done;

	for (; n; n -= (size_t)done, mem += done) {
		done = out ? write(fd, mem, n) : read(fd, mem, n);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done <= 0)
			return done ? -errno : -EIO;
	}
	return 0;
}

static int copy_piped(char *to, const char *from, size_t n)
{
	size_t part;
	int p[2], err = 0;

	if (pipe(p))
		return -errno;
	for (; n && !err; n -= part, to += part, from += part) {
		part = n < PIPE_BUF ? n : PIPE_BUF;
		err = copy_all(p[1], (char *)from, part, true);
		if (!err)
			err = copy_all(p[0], to, part, false);
	}
	close(p[0]);
	close(p[1]);
	return err;
}

int os_copy_from(void *to, const void *from, size_t n)
{
	int err = os_copy_direct(to, from, n);

	return err == -ENOSYS ? copy_piped(to, from, n) : err;
}
