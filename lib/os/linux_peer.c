// SPDX-License-Identifier: BSD-2-Clause
/* linux_peer.c - who is at the other end of a socket, and what it may pass. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/os_internal.h"

int os_peer(int fd, uid_t *uid)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	*uid = who.uid;
	return 0;
}

/* Younger than the headers of Debian 12. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77		/* Linux 6.5 */
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83	/* Linux 6.16 */
#endif

int os_peer_process(int fd)
{
	struct ucred who;
	socklen_t bytes = sizeof(int);
	int process;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &bytes))
		return process;
	if (errno != ENOPROTOOPT)
		return -errno;
	bytes = sizeof(who);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	/* If it ended just now, the number may be another's: then that one counts. */
	process = (int)syscall(SYS_pidfd_open, who.pid, 0);
	if (process < 0)
		return errno == ENOSYS ? -ENOTSUP : -errno;
	return process;
}

int os_take_fds(int fd, bool take)
{
	int yes = take;

	if (setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &yes, sizeof(yes)))
		return errno == ENOPROTOOPT ? -ENOTSUP : -errno;
	return 0;
}
