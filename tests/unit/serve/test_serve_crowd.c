// SPDX-License-Identifier: BSD-2-Clause
/*
 * The listener when there is no room: descriptors have run out, or places are held by
 * processes that have ended while a child of theirs has the socket.
 *
 * variants: tsan
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "rig/serve_stuck.h"

#ifdef __linux__
/* The lowest number that the boards' process has no descriptor with. */
static rlim_t first_free(void)
{
	char path[64];
	struct stat st;
	int fd;

	for (fd = 0; fd < 4096; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d",
			 (int)rig_boards.child.pid, fd);
		if (lstat(path, &st))
			break;
	}
	return (rlim_t)fd;
}

/* HELLO's answer, which must come. */
static int says_hello(struct attach_welcome *w)
{
	struct timeval limit = { .tv_sec = STUCK_LIMIT_MS / 1000 };
	struct attach_hello h = raw_hello();
	int fds[2], nfds = 2, sock = raw_connect(0);
	ssize_t n;

	EXPECT(sock >= 0);
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	/* It may have been refused before it said anything. */
	os_send(sock, &h, sizeof(h), NULL, 0);
	n = os_receive(sock, w, sizeof(*w), fds, &nfds);
	while (nfds > 0)
		close(fds[--nfds]);
	close(sock);
	return n == sizeof(*w) ? w->error : 1;
}

TEST("descriptors have run out: a new connection is refused with that reason, and others go on")
{
	struct rlimit was, none;
	struct attach_welcome w;
	struct rig_pair p;
	int i;

	rig_start(NULL);
	rig_pair_start(&p);
	EXPECT(stuck_pair_goes_on(&p, 1));
	EXPECT_EQ(prlimit(rig_boards.child.pid, RLIMIT_NOFILE, NULL, &was), 0);
	none = was;
	none.rlim_cur = first_free();
	EXPECT_EQ(prlimit(rig_boards.child.pid, RLIMIT_NOFILE, &none, NULL), 0);
	for (i = 0; i < 40; i++) {
		EXPECT_EQ(says_hello(&w), -EMFILE);
		EXPECT(strstr(w.text, "ulimit -n") != NULL);
	}
	EXPECT(stuck_pair_goes_on(&p, 20));
	STEP("there are some again");
	EXPECT_EQ(prlimit(rig_boards.child.pid, RLIMIT_NOFILE, &was, NULL), 0);
	EXPECT_EQ(says_hello(&w), 0);
	rig_pair_end(&p, 20);
	rig_end();
}

TEST("descriptors have run out, and the boards end")
{
	struct rlimit limit;
	struct attach_welcome w;

	rig_start(NULL);
	EXPECT_EQ(prlimit(rig_boards.child.pid, RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = first_free();
	EXPECT_EQ(prlimit(rig_boards.child.pid, RLIMIT_NOFILE, &limit, NULL), 0);
	EXPECT_EQ(says_hello(&w), -EMFILE);
	rig_end();
}

/* All places, and a child that no library has seen, which has the sockets. */
static int leaves_an_orphan(void *arg)
{
	unsigned int i;
	struct raw r;
	long child;

	(void)arg;
	for (i = 0; i < 24; i++)
		if (raw_attach(&r, 0))
			return 1;
	child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child)
		stuck_is_ready();
	stuck->fuse.server = (pid_t)child;	/* the test ends it */
	return 0;
}

TEST("a child has the sockets of a process that has ended: its places come back")
{
	struct attach_welcome w;
	struct rig_pair p;
	int ms, r = -EAGAIN;
	pid_t pid;

	stuck_create();
	rig_start(NULL);
	test_cleanup(stuck_clean, NULL);
	pid = rig_fork(leaves_an_orphan, NULL);
	EXPECT_EQ(stuck_hear(stuck->ready[0]), 0);
	EXPECT_EQ(rig_wait(pid), 0);
	for (ms = 0; ms < STUCK_LIMIT_MS && r == -EAGAIN; ms += 10) {
		r = says_hello(&w);
		usleep(10000);
	}
	EXPECT_EQ(r, 0);
	EXPECT_EQ(kill(stuck->fuse.server, 0), 0);
	rig_pair_start(&p);
	rig_pair_end(&p, 20);
	stuck_end();
}
#endif
