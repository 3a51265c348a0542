// SPDX-License-Identifier: BSD-2-Clause
/*
 * The agent that keeps a scenario's processes in a guest, as a program here: its ports
 * are pseudo terminals, and the scenario thread is played.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "emu/os/os_emu.h"
#include "harness.h"
#include "lib/os/os.h"
#include "tools/scenario/rpc.h"

#define PORTS		3
#define LIMIT_MS	20000
#define NOWHERE		4096u	/* no program has anything there */

/* rpc.c */
enum { LINE_ORDER = 1, LINE_BYTES, LINE_COMPLETION, LINE_ANSWER, LINE_END };

static int port[PORTS];		/* our ends */
static pid_t agent;

/* ---- the agent ---- */

static void agent_path(char path[4096])
{
	char self[4096];
	ssize_t n;
	char *slash;

	EXPECT_EQ(os_program(self, sizeof(self)), 0);
	n = readlink(self, path, 4095);
	if (n < 0)
		n = snprintf(path, 4095, "%s", self);
	path[n] = 0;
	slash = strrchr(path, '/');
	EXPECT(slash && (size_t)(slash - path) < 4000);
	strcpy(slash, "/agent");
}

static int open_port(char name[64])
{
	struct termios raw;
	int fd = posix_openpt(O_RDWR | O_NOCTTY), side;

	EXPECT(fd >= 0 && !grantpt(fd) && !unlockpt(fd));
	snprintf(name, 64, "%s", ptsname(fd));
	side = open(name, O_RDWR | O_NOCTTY);
	EXPECT(side >= 0 && !tcgetattr(side, &raw));
	raw.c_iflag = 0;
	raw.c_oflag = 0;
	raw.c_lflag = 0;
	EXPECT_EQ(tcsetattr(side, TCSANOW, &raw), 0);
	/* Not closed: the settings would go with the last who has it. */
	fcntl(side, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static void end_agent(void *arg)
{
	(void)arg;
	if (agent > 0) {
		kill(agent, SIGKILL);
		waitpid(agent, NULL, 0);
	}
	agent = 0;
}

static void start_agent(void)
{
	static char name[PORTS][64];
	char path[4096];
	int i;

	agent_path(path);
	for (i = 0; i < PORTS; i++)
		port[i] = open_port(name[i]);
	agent = fork();
	if (!agent) {
		execl(path, path, name[0], name[1], name[2], (char *)NULL);
		_exit(127);
	}
	EXPECT(agent > 0);
	test_cleanup(end_agent, NULL);
}

/* Its exit status; -1: it does not end. */
static int agent_ends(void)
{
	int status, naps = 0;

	while (waitpid(agent, &status, WNOHANG) != agent) {
		if (++naps > LIMIT_MS / 20)
			return -1;
		poll(NULL, 0, 20);
	}
	agent = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

/* ---- the scenario thread ---- */

static void vm_agent_hear(int fd, void *to, size_t n)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *at = to;
	ssize_t got;

	for (; n; n -= (size_t)got, at += got) {
		EXPECT_EQ(poll(&p, 1, LIMIT_MS), 1);
		got = read(fd, at, n);
		EXPECT(got > 0);
	}
}

static void vm_agent_give(int fd, uint32_t kind, uint64_t addr)
{
	struct rpc_command o = { .kind = kind, .addr = addr, .bytes = 1 };
	uint32_t head[2] = { LINE_ORDER, sizeof(o) };

	EXPECT_EQ(write(fd, head, sizeof(head)), sizeof(head));
	EXPECT_EQ(write(fd, &o, sizeof(o)), sizeof(o));
}

static struct rpc_answer vm_agent_answer(int fd)
{
	struct rpc_answer r;
	uint32_t head[2];

	vm_agent_hear(fd, head, sizeof(head));
	EXPECT_EQ(head[0], LINE_ANSWER);
	EXPECT_EQ(head[1], sizeof(r));
	vm_agent_hear(fd, &r, sizeof(r));
	return r;
}

static int end_status(int fd)
{
	struct rpc_end end;

	vm_agent_hear(fd, &end, sizeof(end));
	EXPECT_EQ(end.kind, LINE_END);
	EXPECT_EQ(end.bytes, sizeof(end.status));
	return end.status;
}

TEST("each port has a process of its own, until it is told to end")
{
	int i;

	start_agent();
	for (i = 0; i < PORTS; i++) {
		vm_agent_give(port[i], RPC_CLOCK, 0);
		EXPECT(vm_agent_answer(port[i]).now_ns > 0);
	}
	for (i = 0; i < PORTS; i++) {
		vm_agent_give(port[i], RPC_CLOSE, 0);
		EXPECT_EQ(vm_agent_answer(port[i]).error, 0);
		EXPECT_EQ(end_status(port[i]), 0);
	}
	STEP("the next order makes another one");
	vm_agent_give(port[1], RPC_CLOCK, 0);
	EXPECT(vm_agent_answer(port[1]).now_ns > 0);
	for (i = 0; i < PORTS; i++)
		close(port[i]);
	EXPECT_EQ(agent_ends(), 0);
}

TEST("a process that crashes is told of, and the others go on")
{
	int i;

	start_agent();
	vm_agent_give(port[0], RPC_CLOCK, 0);
	EXPECT(vm_agent_answer(port[0]).now_ns > 0);
	vm_agent_give(port[2], RPC_TOUCH, NOWHERE);
	EXPECT_EQ(end_status(port[2]), -SIGSEGV);
	vm_agent_give(port[0], RPC_CLOCK, 0);
	EXPECT(vm_agent_answer(port[0]).now_ns > 0);
	for (i = 0; i < PORTS; i++)
		close(port[i]);
	EXPECT_EQ(agent_ends(), 0);
}

TEST("the agent stays while one port does, and ends with the last")
{
	int status;

	start_agent();
	vm_agent_give(port[0], RPC_CLOCK, 0);
	EXPECT(vm_agent_answer(port[0]).now_ns > 0);
	close(port[0]);
	close(port[1]);
	vm_agent_give(port[2], RPC_CLOCK, 0);
	EXPECT(vm_agent_answer(port[2]).now_ns > 0);
	EXPECT_EQ(waitpid(agent, &status, WNOHANG), 0);
	close(port[2]);
	EXPECT_EQ(agent_ends(), 0);
}

TEST("orders that make no sense end their process alone")
{
	uint32_t head[2] = { 77, 8 };
	int i;

	start_agent();
	EXPECT_EQ(write(port[0], head, sizeof(head)), sizeof(head));
	EXPECT_EQ(end_status(port[0]), 0);
	vm_agent_give(port[1], RPC_CLOCK, 0);
	EXPECT(vm_agent_answer(port[1]).now_ns > 0);
	for (i = 0; i < PORTS; i++)
		close(port[i]);
	EXPECT_EQ(agent_ends(), 0);
}
