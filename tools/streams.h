/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.h - the standard streams of every program of the tree, at its start and at its
 * end. A header alone, since some of these programs (the generator) link nothing else.
 */
#ifndef FL_STREAMS_H
#define FL_STREAMS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * First in main(). A stream that was closed gets /dev/null, so that no file and no pipe of
 * the program is taken for it: in the direction in which it cannot be used, so that
 * using it is an error as before.
 */
static inline void streams_begin(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return;
}

/*
 * Last in main(): the exit status. When not all of the output could be written, it is not
 * 0, and a message says so.
 */
static inline int streams_end(const char *program, int status)
{
	int lost = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !lost)
		return status;
	fprintf(stderr, "%s: cannot write to standard output%s%s\n", program,
		errno ? ": " : "", errno ? strerror(errno) : "");
	return status ? status : 1;
}

#endif
