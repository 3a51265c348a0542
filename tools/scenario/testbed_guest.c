// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mode vm: a board's software is a guest in QEMU, and its processes are the guest's.
 *
 * A script (tools/vqfdb/run) boots it. Orders go to a process over a serial port of
 * the guest (tools/vqfdb/agent.c), which here is a Unix socket: no network, no port
 * of this machine that others could reach, and nothing to configure in the guest. All
 * of it lies in a folder of the testbed's, and goes with it.
 */
#include "tools/scenario/testbed_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/scenario/guest_rules.h"
#include "window/window.h"

extern char **environ;

#define PORTS		30
#define PATH_BYTES	108
#define STEP_MS		50
/* The script has a limit of its own, for the whole; these are for waiting. */
#define LIMIT_S		"300"
#define CONNECT_MS	60000
#define END_MS		60000

struct testbed_guest {
	char folder[PATH_BYTES - 16];
	struct window *window;
	struct child script;
	int status;		/* when it has ended */
	unsigned int ports, taken;
	int listen[PORTS];	/* -1: taken */
};

static void path_in(const struct testbed_guest *g, const char *name,
		    char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", g->folder, name);
}

/* ---- ports ---- */

static int open_port(const char *path, int *fd)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	*fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (*fd < 0)
		return -errno;
	/* What the guest's machine inherits would never hang up. */
	fcntl(*fd, F_SETFD, FD_CLOEXEC);
	if (bind(*fd, (struct sockaddr *)&a, sizeof(a)) || listen(*fd, 1))
		return -errno;
	return 0;
}

static int open_ports(struct testbed_guest *g, unsigned int n)
{
	char path[PATH_BYTES], name[16];
	int err = 0;

	for (; g->ports < n && !err; g->ports++) {
		g->listen[g->ports] = -1;
		snprintf(name, sizeof(name), "port.%u", g->ports + 1);
		path_in(g, name, path);
		err = open_port(path, &g->listen[g->ports]);
	}
	return err;
}

/* ---- the script ---- */

/*
 * It notes its own number, and has the line until then: of one that this program
 * noted nobody would know if it was killed in between.
 */
#define LINE_FD		3
static const char noted[] = "echo $$ >&3 && exec \"$0\" \"$@\" 3>&-";

static int spawn_script(struct testbed *w, struct testbed_guest *g,
			const char *const *argv)
{
	posix_spawn_file_actions_t files;
	int err;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, w->folder.line, LINE_FD);
	err = posix_spawn(&g->script.pid, argv[0], &files, NULL, (char **)argv,
			  environ);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

static int start_script(struct testbed *w, struct testbed_guest *g)
{
	const char *argv[20 + GUEST_FILES];
	char out[PATH_BYTES], ports[12];
	int n = 0, i, err;

	path_in(g, "out", out);
	snprintf(ports, sizeof(ports), "%u", g->ports);
	argv[n++] = "/bin/sh";
	argv[n++] = "-c";
	argv[n++] = noted;
	argv[n++] = w->cfg.guest_script;
	argv[n++] = "--board";
	argv[n++] = g->folder;
	argv[n++] = "--ports";
	argv[n++] = ports;
	argv[n++] = "--out";
	argv[n++] = out;
	argv[n++] = "--limit";
	argv[n++] = LIMIT_S;
	argv[n++] = "--cpus";
	argv[n++] = "1";
	argv[n++] = w->cfg.guest_job;
	for (i = 0; i < GUEST_FILES && w->cfg.guest_files &&
		    w->cfg.guest_files[i]; i++)
		argv[n++] = w->cfg.guest_files[i];
	argv[n] = NULL;
	err = spawn_script(w, g, argv);
	if (!err)
		return 0;
	g->script.pid = 0;
	testbed_why_set(w, "%s: %s", w->cfg.guest_script, strerror(err));
	return -err;
}

static bool has_ended(struct testbed_guest *g)
{
	return !g->script.pid || child_ended(&g->script, &g->status);
}

/* The last of what the guest said, for people. */
static void show_console(const struct testbed_board *b)
{
	char path[PATH_BYTES], last[1500];
	size_t n = 0;
	FILE *f;

	path_in(b->guest, "out/console.0", path);
	f = fopen(path, "r");
	if (f) {
		fseek(f, 0, SEEK_END);
		if (ftell(f) > (long)sizeof(last))
			fseek(f, -(long)sizeof(last), SEEK_END);
		else
			rewind(f);
		n = fread(last, 1, sizeof(last), f);
		fclose(f);
	}
	fprintf(stderr, "board %s: %s its guest said:\n%.*s\n", b->name,
		n ? "the last that" : "there is nothing that", (int)n, last);
}

/* ---- life ---- */

int testbed_guest_add(struct testbed *w, struct testbed_board *b,
		      unsigned int processes)
{
	struct testbed_guest *g;
	struct window_config cfg = { .board = b->board };
	char card[PATH_BYTES], ram[PATH_BYTES];
	int err;

	if (processes > PORTS) {
		testbed_why_set(w, "a guest has at most %d processes", PORTS);
		return -ENOSPC;
	}
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	b->guest = g;
	snprintf(g->folder, sizeof(g->folder), "%s/%u", w->folder.path,
		 board_id(b->board));
	if (mkdir(g->folder, 0700))
		return -errno;
	path_in(g, "card", card);
	path_in(g, "ram", ram);
	cfg.socket = card;
	cfg.ram = ram;
	g->window = window_create(&cfg, &err);
	if (!g->window) {
		testbed_why_set(w, "board %s: %s", b->name, strerror(-err));
		return err;
	}
	err = open_ports(g, processes);
	return err ? err : start_script(w, g);
}

int testbed_guest_take(struct testbed *w, struct testbed_board *b, int *line)
{
	struct testbed_guest *g = b->guest;
	struct pollfd p = { .events = POLLIN };
	int left_ms = CONNECT_MS;

	if (!g || g->taken == g->ports)
		return -ENOSPC;
	p.fd = g->listen[g->taken];
	while (poll(&p, 1, STEP_MS) <= 0) {
		left_ms -= STEP_MS;
		if (!has_ended(g) && left_ms > 0)
			continue;
		testbed_why_set(w, "board %s: no guest comes (%s)", b->name,
				w->cfg.guest_script);
		return -ENODEV;
	}
	*line = accept(p.fd, NULL, NULL);
	if (*line < 0)
		return -errno;
	fcntl(*line, F_SETFD, FD_CLOEXEC);
	close(p.fd);
	g->listen[g->taken++] = -1;
	return 0;
}

int testbed_guest_reap(struct testbed_process *p, bool kill, int *status)
{
	int err = 0;

	if (kill)
		*status = -SIGKILL;
	else
		err = rpc_end_wait(p->line, status);
	close(p->line);
	return err;
}

static void remove_all(const struct testbed_guest *g)
{
	static const char *const names[] = { "out/console.0", "out/qemu.0",
					     "out/qemu.pid.0", "out/vm.log",
					     "out", "ram", "card" };
	char path[PATH_BYTES], name[16];
	size_t i;

	for (i = 0; i < g->ports; i++) {
		snprintf(name, sizeof(name), "port.%zu", i + 1);
		path_in(g, name, path);
		unlink(path);
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(g, names[i], path);
		remove(path);
	}
	rmdir(g->folder);
}

/* Its processes have ended: it switches itself off when all ports hang up. */
static void end_one(struct testbed *w, struct testbed_board *b, bool by_force)
{
	struct testbed_guest *g = b->guest;
	int left_ms = END_MS;
	char words[CHILD_WORDS];
	unsigned int i;

	for (i = 0; i < g->ports; i++)
		if (g->listen[i] >= 0)
			close(g->listen[i]);
	if (by_force && !has_ended(g))
		kill(g->script.pid, SIGTERM);
	while (!has_ended(g) && left_ms > 0) {
		poll(NULL, 0, STEP_MS);
		left_ms -= STEP_MS;
	}
	if (!has_ended(g)) {
		child_end(&g->script, SIGTERM);
		g->status = -SIGTERM;
	}
	if (g->status && !by_force) {
		show_console(b);
		testbed_note_problem(w, 6, "board %s: the guest did not end in "
				     "order (%s)", b->name,
				     child_words(g->status, words));
	}
	if (g->window)
		window_destroy(g->window);
	remove_all(g);
	free(g);
	b->guest = NULL;
}

void testbed_guests_end(struct testbed *w, bool by_force)
{
	unsigned int i;

	for (i = 0; i < w->boards; i++)
		if (w->board[i].guest)
			end_one(w, &w->board[i], by_force);
}
