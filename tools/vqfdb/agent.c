// SPDX-License-Identifier: BSD-2-Clause
/*
 * agent PORT... - the processes of a scenario in a guest. Whoever runs the scenario is
 * at the other end of each port, a serial one of the machine. The first byte that
 * comes in there makes a process, which takes its commands from the port (rpc.h)
 * until it ends; then the port says so. When the other end of a port hangs up, its
 * process ends; when all have, so does the agent. (--serve FD is how it starts one.)
 *
 * A serial port is no socket, and the process has one, as it has elsewhere: what
 * comes on the one goes to the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/harness/child.h"
#include "tools/scenario/rpc.h"

#define PORTS		30
#define NAP_MS		20
/* How long a process has for its end after its port has hung up. */
#define END_NAPS	100

static struct port {
	int fd;
	struct child child;	/* line -1: there is none */
	bool seen;		/* somebody has been at the other end */
	bool over;		/* he has hung up */
} port[PORTS];
static int ports;
static const char *program;

static bool write_all(int fd, const void *from, size_t n)
{
	const char *at = from;
	ssize_t done;

	while (n) {
		done = write(fd, at, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		n -= (size_t)done;
	}
	return true;
}

/* ---- processes ---- */

static int be_program(int line, void *none)
{
	char number[12];
	int i;

	(void)none;
	/* The end of a line is told by all who hold it. */
	for (i = 0; i < ports; i++)
		close(port[i].fd);
	snprintf(number, sizeof(number), "%d", line);
	/* Anew, so that its memory lies where nobody else's does. */
	execl(program, program, "--serve", number, (char *)NULL);
	return 127;
}

static void port_start(struct port *p)
{
	int err = child_start(&p->child, be_program, NULL);

	if (err)
		fprintf(stderr, "agent: no process: %s\n", strerror(-err));
}

/* Its exit status, or -signal. by_force: whoever does not end is killed. */
static int port_reap(struct port *p, bool by_force)
{
	int status, naps = 0;

	child_hang_up(&p->child);
	for (; by_force && naps < END_NAPS; naps++) {
		if (child_ended(&p->child, &status))
			return status;
		poll(NULL, 0, NAP_MS);
	}
	return child_end(&p->child, by_force ? SIGKILL : 0);
}

/* ---- ports ---- */

static void hang_up(struct port *p)
{
	if (p->child.line >= 0)
		port_reap(p, true);
	p->over = true;
}

static void from_port(struct port *p)
{
	static char piece[65536];
	ssize_t n = read(p->fd, piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		hang_up(p);
		return;
	}
	if (p->child.line < 0)
		port_start(p);
	/* A process that has ended is found out by its line. */
	if (p->child.line >= 0)
		write_all(p->child.line, piece, (size_t)n);
}

static void from_process(struct port *p)
{
	static char piece[65536];
	struct rpc_end end;
	ssize_t n = read(p->child.line, piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		rpc_end_make(&end, port_reap(p, false));
		if (!write_all(p->fd, &end, sizeof(end)))
			hang_up(p);
	} else if (!write_all(p->fd, piece, (size_t)n)) {
		hang_up(p);
	}
}

/* poll() is not used for an agent that was not seen yet: it would not wait. */
static void port_look(struct port *p, const struct pollfd *at_port,
		      const struct pollfd *at_line)
{
	if (!(at_port->revents & POLLHUP))
		p->seen = true;
	/* What the process said before its port hung up is of no use. */
	if (p->seen && at_port->revents & (POLLHUP | POLLERR)) {
		hang_up(p);
		return;
	}
	if (at_port->revents & POLLIN)
		from_port(p);
	if (p->child.line >= 0 && at_line->revents)
		from_process(p);
}

static bool agent_serve(void)
{
	struct pollfd fds[2 * PORTS];
	bool all_seen = true, left = false, napping = false;
	int i;

	for (i = 0; i < ports; i++) {
		fds[2 * i] = (struct pollfd){
			.fd = port[i].over ? -1 : port[i].fd,
			.events = POLLIN,
		};
		fds[2 * i + 1] = (struct pollfd){ .fd = port[i].child.line,
						  .events = POLLIN };
		left |= !port[i].over;
		all_seen &= port[i].seen;
	}
	if (!left)
		return false;
	/* Not yet connected: POLLHUP at once, so look, and take a nap. */
	poll(fds, (nfds_t)(2 * ports), all_seen ? -1 : 0);
	for (i = 0; i < ports; i++) {
		napping |= !port[i].seen;
		if (!port[i].over)
			port_look(&port[i], &fds[2 * i], &fds[2 * i + 1]);
	}
	if (napping)
		poll(NULL, 0, NAP_MS);
	return true;
}

int main(int argc, char **argv)
{
	program = argv[0];
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && !strcmp(argv[1], "--serve")) {
		/* A sanitizer's own, which would turn a crash into an exit. */
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		rpc_serve(atoi(argv[2]));
		return 0;
	}
	if (argc < 2 || argc - 1 > PORTS) {
		fprintf(stderr, "agent: wanted: 1 to %d ports\n", PORTS);
		return 2;
	}
	for (; ports < argc - 1; ports++) {
		port[ports] = (struct port){ .child.line = -1 };
		port[ports].fd = open(argv[ports + 1], O_RDWR);
		if (port[ports].fd < 0) {
			fprintf(stderr, "agent: %s: %s\n", argv[ports + 1],
				strerror(errno));
			return 1;
		}
	}
	while (agent_serve())
		;
	return 0;
}
