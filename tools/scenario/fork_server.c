// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/os/os.h"
#include "tools/scenario/rpc.h"

#define CHILDREN 512

enum { ASK_FORK = 1, ASK_REAP, ASK_KILL };
struct ask {
	int kind;
	pid_t pid;
};
struct reply {
	int error;
	pid_t pid;
	int status;
};

/* ---- in the fork server ---- */

static int wait_end(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* The library takes it for the place of its memory (lib/attach/life.c). */
static void set_seed(uint64_t seed)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)seed);
	setenv("FAULTLINE_SEED", text, 1);
}

static pid_t server_spawn(int line, uint64_t seed, int fds[2])
{
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -errno;
	pid = fork();
	if (pid < 0) {
		pid = -errno;
		close(fds[0]);
		close(fds[1]);
	}
	if (pid)
		return pid;
	close(line);
	close(fds[0]);
	/* A sanitizer's own, which would turn a crash into an exit. */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	set_seed(seed);
	rpc_serve(fds[1]);
	_exit(0);
}

/* Whoever asked waits for it; false: it cannot be told, and so nobody is. */
static bool server_answer(int line, const struct reply *r, const int *fds,
			  int nfds)
{
	return !os_send_all(line, r, sizeof(*r), fds, nfds, -1);
}

static bool do_fork(int line, uint64_t seed, pid_t child[CHILDREN])
{
	struct reply r = { .error = -EAGAIN };
	int fds[2], i = 0;
	bool told;

	while (i < CHILDREN && child[i])
		i++;
	if (i < CHILDREN) {
		r.pid = server_spawn(line, seed, fds);
		r.error = r.pid < 0 ? (int)r.pid : 0;
	}
	if (r.error)
		return server_answer(line, &r, NULL, 0);
	child[i] = r.pid;
	told = server_answer(line, &r, fds, 1);
	close(fds[0]);
	close(fds[1]);
	return told;
}

static bool do_reap(int line, pid_t child[CHILDREN], const struct ask *a)
{
	struct reply r = { .error = -ECHILD, .pid = a->pid };
	int i;

	for (i = 0; i < CHILDREN; i++) {
		if (a->pid <= 0 || child[i] != a->pid)
			continue;
		if (a->kind == ASK_KILL)
			kill(a->pid, SIGKILL);
		r.status = wait_end(a->pid);
		r.error = 0;
		child[i] = 0;
	}
	return server_answer(line, &r, NULL, 0);
}

static void be_fork_server(int line, uint64_t seed)
{
	pid_t child[CHILDREN] = { 0 };
	uint64_t forks = 0;
	bool heard = true;
	struct ask a;
	int i;

	while (heard && !os_receive_all(line, &a, sizeof(a), NULL, NULL, -1))
		heard = a.kind == ASK_FORK ? do_fork(line, seed + ++forks * 1000003,
						     child) :
					     do_reap(line, child, &a);
	/* Before the children, who may take their time: the program must not wait. */
	close(line);
	for (i = 0; i < CHILDREN; i++)
		if (child[i])
			kill(child[i], SIGKILL);
	for (i = 0; i < CHILDREN; i++)
		if (child[i])
			wait_end(child[i]);
}

/* ---- in the program ---- */

int fork_server_start(struct fork_server *n, uint64_t seed)
{
	int fds[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -errno;
	fflush(NULL);
	/* What another program inherits would never hang up. */
	n->pid = fcntl(fds[0], F_SETFD, FD_CLOEXEC) ? -1 : fork();
	if (!n->pid) {
		close(fds[0]);
		be_fork_server(fds[1], seed);
		_exit(0);
	}
	err = -errno;
	close(fds[1]);
	n->line = fds[0];
	if (n->pid > 0)
		return 0;
	n->pid = 0;
	close(n->line);
	return err;
}

static int server_ask(struct fork_server *n, const struct ask *a,
		      struct reply *r, int *fd)
{
	int fds[1], nfds = 1;
	int err;

	if (os_send_all(n->line, a, sizeof(*a), NULL, 0, -1))
		return -ESRCH;
	err = os_receive_all(n->line, r, sizeof(*r), fds, &nfds, -1);
	if (!err && !r->error && fd && nfds == 1) {
		*fd = fds[0];
		return 0;
	}
	if (nfds == 1)
		close(fds[0]);
	if (err)
		return -ESRCH;
	return r->error || !fd ? r->error : -EMFILE;
}

int fork_server_fork(struct fork_server *n, pid_t *pid, int *line)
{
	struct ask a = { .kind = ASK_FORK };
	struct reply r;
	int err = server_ask(n, &a, &r, line);

	if (!err)
		*pid = r.pid;
	return err;
}

int fork_server_reap(struct fork_server *n, pid_t pid, int line, int kill,
		     int *status)
{
	struct ask a = { .kind = kill ? ASK_KILL : ASK_REAP, .pid = pid };
	struct reply r;
	int err;

	/* The end of its socket is its own end; by force comes before that. */
	if (!kill)
		close(line);
	err = server_ask(n, &a, &r, NULL);
	if (kill)
		close(line);
	if (!err)
		*status = r.status;
	return err;
}

void fork_server_end(struct fork_server *n)
{
	if (!n->pid)
		return;
	close(n->line);
	wait_end(n->pid);
	n->pid = 0;
}
