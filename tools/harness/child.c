// SPDX-License-Identifier: BSD-2-Clause
#include "tools/harness/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int child_start(struct child *c, int (*fn)(int line, void *arg), void *arg)
{
	int ends[2], err = 0;

	*c = (struct child){ .line = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return -errno;
	fflush(NULL);
	/* The line would never hang up if another program inherited our end. */
	c->pid = fcntl(ends[0], F_SETFD, FD_CLOEXEC) ? -1 : fork();
	if (!c->pid) {
		close(ends[0]);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		err = fn(ends[1], arg);
		fflush(NULL);
		_exit(err);
	}
	if (c->pid < 0)
		err = -errno;
	close(ends[1]);
	if (!err) {
		c->line = ends[0];
		return 0;
	}
	close(ends[0]);
	c->pid = 0;
	return err;
}

void child_hang_up(struct child *c)
{
	if (c->line >= 0)
		close(c->line);
	c->line = -1;
}

/* Exit status, or -signal. */
static int child_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int child_end(struct child *c, int sig)
{
	int status = 0;

	if (!c->pid)
		return 0;
	if (sig)
		kill(c->pid, sig);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	return child_status(status);
}

bool child_ended(struct child *c, int *status)
{
	int said;

	if (!c->pid || waitpid(c->pid, &said, WNOHANG) != c->pid)
		return false;
	c->pid = 0;
	*status = child_status(said);
	return true;
}

const char *child_words(int status, char words[CHILD_WORDS])
{
	if (status < 0)
		snprintf(words, CHILD_WORDS, "signal %d (%.40s)", -status,
			 strsignal(-status));
	else
		snprintf(words, CHILD_WORDS, "status %d", status);
	return words;
}
