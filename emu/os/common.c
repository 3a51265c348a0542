// SPDX-License-Identifier: BSD-2-Clause
/* common.c - what os_emu.h asks for, and is the same on every system. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"

#define DESCRIPTORS 65536
#define LEAVE_AFTER	16u	/* yields that were shared: they took as long as to leave does */
#define STAY_NS		UINT64_C(2000000)

void os_close_from(int first)
{
	long end = sysconf(_SC_OPEN_MAX);
	int fd;

	if (os_close_range(first))
		return;
	/* Where there is no limit, who opens that many knows of them. */
	end = end < 0 || end > DESCRIPTORS ? DESCRIPTORS : end;
	for (fd = first; fd < end; fd++)
		close(fd);
}

ssize_t os_receive_bytes(int fd, void *buf, size_t n)
{
	struct iovec iov = { buf, n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t there;

	/* Without room for them the system says that there are some. */
	do {
		there = recvmsg(fd, &m, MSG_PEEK);
	} while (there < 0 && errno == EINTR);
	if (there < 0)
		return -errno;
	if (m.msg_flags & MSG_CTRUNC)
		return -EBADMSG;
	/* No more than was looked at: what has come since may have one. */
	return there ? os_receive(fd, buf, (size_t)there, NULL, NULL) : 0;
}

bool os_poller_leaves(struct os_poller *p, bool shared, uint64_t now_ns)
{
	p->shared = shared ? p->shared + 1 : 0;
	if (p->shared < LEAVE_AFTER || now_ns - p->left_ns < STAY_NS)
		return false;
	p->left_ns = now_ns;
	p->shared = 0;
	return true;
}

bool os_poller_yield(struct os_poller *p)
{
	bool shared = os_yield_shared();

	if (os_poller_leaves(p, shared, os_now_ns()) && os_cpu_idle())
		os_leave_cpu();
	return shared;
}
