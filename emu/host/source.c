// SPDX-License-Identifier: BSD-2-Clause
/* source.c - a file that somebody else has opened, for private mappings. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/internal.h"

/*
 * Only regular files: others block, or answer differently each time. Its length
 * is looked at now; when it shrinks later, what is no longer there cannot be
 * paged in, which is the process's own affair.
 */
static int check_file(int fd, uint64_t bytes, uint64_t *size_bytes)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENODEV;		/* as mmap says */
	if ((flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	*size_bytes = (uint64_t)st.st_size;
	if (*size_bytes <= INT64_MAX - HOST_PAGE &&
	    bytes > (*size_bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE)
		return -EINVAL;
	return 0;
}

struct host_source *source_of(int fd, uint64_t bytes, int *error)
{
	struct host_source *f;
	uint64_t size_bytes = 0;

	*error = check_file(fd, bytes, &size_bytes);
	if (*error)
		return NULL;
	*error = -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->bytes = size_bytes;
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	*error = f->fd < 0 ? -errno : 0;
	if (!*error)
		return f;
	free(f);
	return NULL;
}
