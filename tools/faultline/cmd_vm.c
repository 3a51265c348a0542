// SPDX-License-Identifier: BSD-2-Clause
/*
 * faultline vm DIR...: boards whose software are guests in QEMU, until all guests
 * have gone or a signal comes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nic/wire.h"
#include "tools/faultline/service.h"
#include "tools/scenario/testbed.h"
#include "tools/scenario/words.h"
#include "window/window.h"

enum { OWN_LINKS, OWN_NODE, OWN_STAY, OWN_UDP };

#define GUESTS		16
/* What a path may take of a socket's address, which every system has. */
#define PATH_BYTES	104
/* A window's thread says that a guest has come or gone. */
#define SIGNAL_CHANGED	SIGUSR1

struct guests {
	struct service s;
	unsigned int n;
	char name[GUESTS][32];
	char card[GUESTS][PATH_BYTES], ram[GUESTS][PATH_BYTES];
	struct testbed_board *board[GUESTS];
	struct window *window[GUESTS];
};

/* ---- the command line ---- */

/* A board is named after the last part of its folder's path. */
static int add_folder(struct guests *g, const char *path)
{
	size_t n = strlen(path), m;
	unsigned int i;

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (!n || n + sizeof("/card") > PATH_BYTES)
		return options_wrong(g->s.c, "folder", path,
				     "a path of at most 98 letters");
	snprintf(g->card[g->n], PATH_BYTES, "%.*s/card", (int)n, path);
	snprintf(g->ram[g->n], PATH_BYTES, "%.*s/ram", (int)n, path);
	for (m = 0; m < n && path[n - m - 1] != '/'; m++)
		;
	if (!m || m >= sizeof(g->name[0]) ||
	    memchr(path + n - m, ':', m) || memchr(path + n - m, ',', m))
		return options_wrong(g->s.c, "folder", path, "a folder whose "
				     "name has at most 31 letters, no ':' and "
				     "no ','");
	memcpy(g->name[g->n], path + n - m, m);
	for (i = 0; i < g->n; i++)
		if (!strcmp(g->name[i], g->name[g->n]))
			return options_wrong(g->s.c, "folder", path, "one whose "
					     "name no other has, since the "
					     "board is called after it");
	if (mkdir(path, 0700) && errno != EEXIST)
		return options_wrong(g->s.c, "folder", path, strerror(errno));
	g->n++;
	return 0;
}

static int guests_take_options(struct guests *g)
{
	struct options *o = g->s.o;
	uint64_t node = 0;
	int i, err;

	service_be_patient(&g->s);
	err = options_number(o, g->s.c, OWN_NODE, 0,
			     WIRE_NODES - (uint64_t)o->count, &node);
	err = err ? err : service_take_udp(&g->s, o->own[OWN_UDP]);
	for (i = 0; !err && i < o->count; i++)
		err = add_folder(g, o->args[i]);
	o->cfg.mode = SIM_THREADS;
	o->cfg.first_node = (uint8_t)node;
	return err;
}

/* ---- while it runs: the scenario thread ---- */

static const char *guests_name(void *guests, unsigned int i)
{
	return ((struct guests *)guests)->name[i];
}

static int guests_link_two(void *guests, unsigned int i, unsigned int k)
{
	struct guests *g = guests;

	return testbed_link_add(g->board[i]->testbed, g->board[i], g->board[k]);
}

static int guests_build(struct guests *g, struct testbed *w)
{
	const struct testbed_board_config bare = { .bare = true };
	unsigned int i;
	int err;

	for (i = 0; i < g->n; i++) {
		err = testbed_board_add(w, g->name[i], &bare, &g->board[i]);
		if (!err)
			continue;
		fprintf(stderr, "faultline vm: board %s: %s %s\n", g->name[i],
			strerror(-err), testbed_why(w));
		return 1;
	}
	err = options_links(g->s.c, g->s.o->own[OWN_LINKS], g->n, guests_name,
			    guests_link_two, g);
	return err ? err : service_link_udp(&g->s, w);
}

static void guests_changed(void *arg)
{
	(void)arg;
	kill(getpid(), SIGNAL_CHANGED);
}

static int open_windows(struct guests *g)
{
	struct window_config cfg = { .changed = guests_changed };
	unsigned int i;
	int err;

	for (i = 0; i < g->n; i++) {
		cfg.board = g->board[i]->board;
		cfg.socket = g->card[i];
		cfg.ram = g->ram[i];
		g->window[i] = window_create(&cfg, &err);
		if (g->window[i]) {
			printf("board %s: node %u, card %s, memory %s\n",
			       g->name[i], board_id(cfg.board), g->card[i],
			       g->ram[i]);
			continue;
		}
		snprintf(g->s.problem, sizeof(g->s.problem), "board %s: %s: %s",
			 g->name[i], g->card[i],
			 err == -EADDRINUSE ? "a board is running here already" :
			 err == -EEXIST ? "is there, and is no socket" :
			 err == -ENOSYS ? "this system has no interrupts between "
					  "programs as QEMU wants them (wanted: "
					  "Linux)" :
					  strerror(-err));
		return err;
	}
	return 0;
}

/* Each has had a guest, and none has one. */
static bool all_gone(struct guests *g)
{
	struct window_stats st;
	unsigned int i;

	for (i = 0; i < g->n; i++) {
		window_stats(g->window[i], &st);
		if (!st.guests || st.present)
			return false;
	}
	return true;
}

static void end_signals(sigset_t *set)
{
	service_signals(set);
	sigaddset(set, SIGNAL_CHANGED);
}

static void wait_for_end(struct guests *g)
{
	sigset_t set;
	int sig;

	end_signals(&set);
	do
		sigwait(&set, &sig);
	while (sig == SIGNAL_CHANGED &&
	       (g->s.o->own[OWN_STAY] || !all_gone(g)));
}

static void guests_report(struct guests *g, unsigned int i)
{
	struct window_stats st;

	window_stats(g->window[i], &st);
	printf("board %s: %llu guest%s; %llu register write%s, %llu read%s, "
	       "%llu doorbell%s, %llu interrupt%s; %llu refused, %llu "
	       "senseless\n",
	       g->name[i], (unsigned long long)st.guests,
	       word_plural(st.guests),
	       (unsigned long long)st.writes, word_plural(st.writes),
	       (unsigned long long)st.reads, word_plural(st.reads),
	       (unsigned long long)st.doorbells, word_plural(st.doorbells),
	       (unsigned long long)st.interrupts, word_plural(st.interrupts),
	       (unsigned long long)st.refused, (unsigned long long)st.bad);
}

static void serve_guests(struct testbed *w, void *arg)
{
	struct guests *g = arg;
	unsigned int i;

	g->s.failed = guests_build(g, w);
	if (g->s.failed)
		return;
	if (!open_windows(g)) {
		printf("ready; QEMU connects with -chardev socket,path=%s\n",
		       g->card[0]);
		if (service_said(&g->s))
			wait_for_end(g);
		for (i = 0; i < g->n; i++)
			guests_report(g, i);
		service_said(&g->s);
	}
	for (i = 0; i < g->n; i++)
		if (g->window[i])
			window_destroy(g->window[i]);
}

static int cmd_vm_run(const struct command *c, int argc, char **argv)
{
	struct options o;
	struct guests g = { .s = { .c = c, .o = &o } };
	sigset_t set;
	int err = options_parse(c, argc, argv, &o);

	if (err)
		return err == 1 ? 0 : err;
	err = guests_take_options(&g);
	if (err)
		return err;
	end_signals(&set);
	return service_run(&g.s, &set, serve_guests, &g);
}

const struct command command_vm = {
	.name = "vm",
	.arguments = "DIR...",
	.text = "run boards for guests in QEMU, until all guests have gone\n"
		"A guest has the board of one folder: its card is the socket "
		"DIR/card, its memory\n"
		"the file DIR/ram:\n"
		"  -chardev socket,id=card,path=DIR/card\n"
		"  -device ivshmem-doorbell,chardev=card,vectors=3\n"
		"  -object memory-backend-file,id=ram,mem-path=DIR/ram,"
		"share=on,size=...\n"
		"  -machine virt,memory-backend=ram\n"
		"All boards are linked with each other unless --links says "
		"otherwise.",
	.common = OPT_SEED | OPT_PROFILE | OPT_TRACE | OPT_PCAP | OPT_SET |
		  OPT_ENGINE,
	.least = 1,
	.most = GUESTS,
	.own = { [OWN_LINKS] = { "--links", "A:B,...",
				 "which boards have a link; a board is called "
				 "as its folder" },
		 [OWN_NODE] = { "--first-node", "N",
				"number of the first board on the fabric" },
		 [OWN_STAY] = { "--stay", NULL,
				"go on without guests, until a signal" },
		 [OWN_UDP] = SERVICE_UDP_HELP },
	.run = cmd_vm_run,
};
