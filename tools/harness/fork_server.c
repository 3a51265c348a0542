// SPDX-License-Identifier: BSD-2-Clause
#include "tools/harness/fork_server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/os.h"

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

/* The library takes it for the place of its memory (lib/attach/life.c). */
static void set_seed(uint64_t seed)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)seed);
	setenv("FAULTLINE_SEED", text, 1);
}

struct born {
	const struct fork_server *server;
	int line;		/* of the fork server, which is none of its child's */
	uint64_t number;
};

static int be_process(int line, void *arg)
{
	const struct born *b = arg;

	close(b->line);
	set_seed(b->server->seed + b->number * 1000003);
	b->server->serve(line);
	return 0;
}

/* Whoever asked waits for it; false: it cannot be told, and so nobody is. */
static bool server_answer(int line, const struct reply *r, const int *fds,
			  int nfds)
{
	return !os_send_all(line, r, sizeof(*r), fds, nfds, -1);
}

static bool do_fork(struct born *b, struct child child[CHILDREN])
{
	struct reply r = { .error = -EAGAIN };
	bool told;
	int i = 0;

	while (i < CHILDREN && child[i].pid)
		i++;
	b->number++;
	if (i < CHILDREN)
		r.error = child_start(&child[i], be_process, b);
	if (r.error)
		return server_answer(b->line, &r, NULL, 0);
	r.pid = child[i].pid;
	told = server_answer(b->line, &r, &child[i].line, 1);
	/* The program has it now, and nobody else. */
	child_hang_up(&child[i]);
	return told;
}

static bool do_reap(int line, struct child child[CHILDREN], const struct ask *a)
{
	struct reply r = { .error = -ECHILD, .pid = a->pid };
	int i;

	for (i = 0; i < CHILDREN; i++) {
		if (a->pid <= 0 || child[i].pid != a->pid)
			continue;
		r.status = child_end(&child[i],
				     a->kind == ASK_KILL ? SIGKILL : 0);
		r.error = 0;
	}
	return server_answer(line, &r, NULL, 0);
}

static int be_fork_server(int line, void *server)
{
	struct child child[CHILDREN] = { 0 };
	struct born b = { .server = server, .line = line };
	bool heard = true;
	struct ask a;
	int i;

	while (heard && !os_receive_all(line, &a, sizeof(a), NULL, NULL, -1))
		heard = a.kind == ASK_FORK ? do_fork(&b, child) :
					     do_reap(line, child, &a);
	/* Before the children, who may take their time: the program must not wait. */
	close(line);
	for (i = 0; i < CHILDREN; i++)
		if (child[i].pid)
			kill(child[i].pid, SIGKILL);
	for (i = 0; i < CHILDREN; i++)
		child_end(&child[i], 0);
	return 0;
}

/* ---- in the program ---- */

int fork_server_start(struct fork_server *n, uint64_t seed,
		      void (*serve)(int line))
{
	n->serve = serve;
	n->seed = seed;
	return child_start(&n->child, be_fork_server, n);
}

static int server_ask(struct fork_server *n, const struct ask *a,
		      struct reply *r, int *fd)
{
	int fds[1], nfds = 1;
	int err;

	if (os_send_all(n->child.line, a, sizeof(*a), NULL, 0, -1))
		return -ESRCH;
	err = os_receive_all(n->child.line, r, sizeof(*r), fds, &nfds, -1);
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
	if (!n->child.pid)
		return;
	child_hang_up(&n->child);
	child_end(&n->child, 0);
}
