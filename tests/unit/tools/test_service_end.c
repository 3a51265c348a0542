// SPDX-License-Identifier: BSD-2-Clause
/* The end of a service that something holds up. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "tools/faultline/service.h"

static int end_of(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST("what never ends is ended: its files go, a sentence says so, status 1")
{
	const char *const path[] = { "here.sock", "here.sock.lock", "absent" };
	char said[300] = "";
	int err[2], fd, i;
	sigset_t all;
	ssize_t n;
	pid_t pid;

	for (i = 0; i < 2; i++) {
		fd = open(path[i], O_CREAT | O_WRONLY, 0600);
		EXPECT(fd >= 0);
		close(fd);
	}
	EXPECT_EQ(pipe(err), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(err[1], STDERR_FILENO);
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		service_end_by(path, 3, 1);
		for (;;)
			pause();
	}
	close(err[1]);
	EXPECT_EQ(end_of(pid), 1);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(access(path[i], F_OK), -1);
	n = read(err[0], said, sizeof(said) - 1);
	EXPECT(n > 0 && strstr(said, "held up the end"));
	close(err[0]);
}
