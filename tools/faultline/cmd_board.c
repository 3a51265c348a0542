// SPDX-License-Identifier: BSD-2-Clause
/*
 * faultline board NAME...: boards for other processes, until a signal ends them.
 * A process reaches one with fl_open("emu:NAME").
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/attach/attach.h"
#include "nic/wire.h"
#include "serve/serve.h"
#include "tools/faultline/service.h"
#include "tools/scenario/testbed.h"
#include "tools/scenario/words.h"

enum { OWN_LINKS, OWN_NODE, OWN_FRAMES, OWN_SWAP, OWN_PROCESS, OWN_PATIENCE,
       OWN_OTHERS, OWN_UDP };

#define BOARDS		16
#define FRAMES_DEFAULT	HOST_PAGES
#define FRAMES_MOST	(DRAM_BANK_STRIDE / HOST_PAGE)
/* Sanitizers make everything slower, the end too. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define END_S		(12 * SERVICE_END_S)
#else
#define END_S		SERVICE_END_S
#endif

struct boards {
	struct service s;
	struct testbed_board_config cfg;
	struct serve_config serve;
	unsigned int n;
	char name[BOARDS][32];
	char path[BOARDS][128];
	struct testbed_board *board[BOARDS];
};

/* ---- the command line ---- */

/* Why attach_path() has found no place for a socket. */
static int say_no_path(const struct command *c, const char *text, int err)
{
	if (err == -EACCES)
		return options_wrong(c, "board", text, "a folder for its socket "
			"that belongs to you and that nobody else may write to: "
			"set FAULTLINE_DIR to one, or give NAME=PATH");
	if (err == -ENAMETOOLONG)
		return options_wrong(c, "board", text, "a shorter path: the one "
			"of its socket has more than 107 letters (File name "
			"too long)");
	return options_wrong(c, "board", text, strerror(-err));
}

/* NAME or NAME=PATH */
static int add_name(struct boards *b, const char *text)
{
	const char *path = strchr(text, '=');
	size_t n = path ? (size_t)(path - text) : strlen(text);
	unsigned int i;
	int err;

	if (!n || n >= sizeof(b->name[0]) ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_-") < n)
		return options_wrong(b->s.c, "board", text, "a name of at most 31 "
			     "letters, digits, '-' and '_'; or NAME=PATH");
	memcpy(b->name[b->n], text, n);
	for (i = 0; i < b->n; i++)
		if (!strcmp(b->name[i], b->name[b->n]))
			return options_wrong(b->s.c, "board", text,
				     "a name that is not given twice");
	err = attach_path(path ? path + 1 : b->name[b->n], b->path[b->n],
			  sizeof(b->path[0]));
	if (!err && path && !strchr(path + 1, '/'))
		return options_wrong(b->s.c, "board", text, "a path with a '/' in it "
			     "(NAME=./PATH), so that fl_open() takes it for one");
	if (err)
		return say_no_path(b->s.c, text, err);
	b->n++;
	return 0;
}

static int boards_take_options(struct boards *b)
{
	uint64_t frames = FRAMES_DEFAULT, swap = FRAMES_DEFAULT, process = 0;
	uint64_t node = 0, patience = 0;
	const struct command *c = b->s.c;
	struct options *o = b->s.o;
	int i, err = 0;

	for (i = 0; !err && i < o->count; i++)
		err = add_name(b, o->args[i]);
	err = err ? err : service_take_udp(&b->s, o->own[OWN_UDP]);
	if (!err && b->s.links)
		err = options_udp_fits(c, o);
	if (b->s.links)
		service_be_patient(&b->s);
	err = err ? err : options_number(o, c, OWN_NODE, 0, WIRE_NODES - b->n, &node);
	err = err ? err : options_number(o, c, OWN_FRAMES, 64, FRAMES_MOST, &frames);
	err = err ? err : options_number(o, c, OWN_SWAP, 0, FRAMES_MOST, &swap);
	err = err ? err : options_number(o, c, OWN_PROCESS, 16, frames, &process);
	err = err ? err : options_number(o, c, OWN_PATIENCE, 1, 3600000, &patience);
	o->cfg.mode = SIM_THREADS;
	o->cfg.first_node = (uint8_t)node;
	b->cfg.frames = frames;
	b->cfg.swap_pages = swap;
	b->cfg.process_frames = process ? process : frames / 2;
	b->cfg.process_swap = swap / 2;
	b->serve.patience_ms = (uint32_t)patience;
	b->serve.others = o->own[OWN_OTHERS] != NULL;
	return err;
}

/* ---- links ---- */

static const char *boards_name(void *boards, unsigned int i)
{
	return ((struct boards *)boards)->name[i];
}

static int boards_link_two(void *boards, unsigned int i, unsigned int k)
{
	struct boards *b = boards;

	return testbed_link_add(b->board[i]->testbed, b->board[i], b->board[k]);
}

static int boards_build(struct boards *b, struct testbed *w)
{
	unsigned int i;
	int err;

	for (i = 0; i < b->n; i++) {
		err = testbed_board_add(w, b->name[i], &b->cfg, &b->board[i]);
		if (err) {
			fprintf(stderr, "faultline board: board %s: %s %s\n",
				b->name[i], strerror(-err), testbed_why(w));
			return 1;
		}
	}
	err = options_links(b->s.c, b->s.o->own[OWN_LINKS], b->n, boards_name,
			    boards_link_two, b);
	return err ? err : service_link_udp(&b->s, w);
}

/*
 * As many descriptors as all processes together may need. Less will do as long as
 * they need less, so what the system answers is not looked at.
 */
static void want_files(const struct boards *b)
{
	rlim_t want = b->n * (SERVE_CLIENTS * SERVE_FDS) + 256;
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur >= want)
		return;
	most.rlim_cur = most.rlim_max < want ? most.rlim_max : want;
	setrlimit(RLIMIT_NOFILE, &most);
}

/* ---- while it runs: the scenario thread ---- */

static int open_listeners(struct boards *b, struct serve *s)
{
	unsigned int i;
	int err;

	for (i = 0; i < b->n; i++) {
		err = serve_open(s, b->board[i]->kernel, b->path[i]);
		if (!err) {
			printf("board %s: node %u, socket %s\n", b->name[i],
			       board_id(b->board[i]->board), b->path[i]);
			continue;
		}
		snprintf(b->s.problem, sizeof(b->s.problem), "board %s: %s: %s",
			 b->name[i], b->path[i],
			 err == -EADDRINUSE ?
				 "a board of this name is running already" :
			 err == -EEXIST ? "is there, and is no socket" :
					  strerror(-err));
		return err;
	}
	return 0;
}

static void boards_report(struct boards *b, struct serve *s)
{
	struct serve_stats st;
	struct host_stats hs;
	unsigned int i;

	serve_stats(s, &st);
	printf("processes: %llu attached, %llu refused, %llu cut off; %llu "
	"doorbell%s and completions, %llu call%s, %llu page fault%s\n",
	       (unsigned long long)st.attached, (unsigned long long)st.refused,
	       (unsigned long long)st.cut_off, (unsigned long long)st.posts,
	       word_plural(st.posts), (unsigned long long)st.calls,
	       word_plural(st.calls), (unsigned long long)st.faults,
	       word_plural(st.faults));
	for (i = 0; i < b->n; i++) {
		host_stats(b->board[i]->kernel, &hs);
		printf("board %s: %llu of %llu frames in use, pages: %llu in swap, "
		"%llu brought in, %llu evicted\n",
		       b->name[i],
		       (unsigned long long)(hs.frames_total - hs.frames_free),
		       (unsigned long long)hs.frames_total,
		       (unsigned long long)hs.swap_used,
		       (unsigned long long)hs.page_ins,
		       (unsigned long long)hs.evictions);
	}
}

/*
 * Nothing that processes do should hold the end up. If something does, the names of
 * the boards are to be had again all the same.
 */
static void end_in_time(const struct boards *b)
{
	char lock[BOARDS][136];
	const char *path[2 * BOARDS];
	unsigned int i;

	for (i = 0; i < b->n; i++) {
		snprintf(lock[i], sizeof(lock[i]), "%s.lock", b->path[i]);
		path[2 * i] = b->path[i];
		path[2 * i + 1] = lock[i];
	}
	service_end_by(path, 2 * b->n, END_S);
}

static void serve_until_signal(struct testbed *w, void *arg)
{
	struct boards *b = arg;
	struct serve *s;
	sigset_t set;
	bool open;
	int sig, err;

	b->s.failed = boards_build(b, w);
	if (b->s.failed)
		return;
	b->serve.sim = testbed_sim(w);
	s = serve_create(&b->serve, &err);
	if (!s) {
		snprintf(b->s.problem, sizeof(b->s.problem), "no server: %s",
			 strerror(-err));
		return;
	}
	open = !open_listeners(b, s);
	if (open) {
		printf("ready; an application opens \"emu:%s\"; SIGTERM or "
		"Ctrl-C ends\n", b->name[0]);
		service_signals(&set);
		/* Whoever started it may wait for what cannot be said. */
		if (service_said(&b->s))
			sigwait(&set, &sig);
		end_in_time(b);
	}
	serve_close(s);
	if (open)
		boards_report(b, s);
	serve_destroy(s);
	service_said(&b->s);
}

static int cmd_board_run(const struct command *c, int argc, char **argv)
{
	struct options o;
	struct boards b = { .s = { .c = c, .o = &o } };
	sigset_t set;
	int err = options_parse(c, argc, argv, &o);

	if (err)
		return err == 1 ? 0 : err;
	err = boards_take_options(&b);
	if (err)
		return err;
	want_files(&b);
	service_signals(&set);
	return service_run(&b.s, &set, serve_until_signal, &b);
}

const struct command command_board = {
	.name = "board",
	.arguments = "NAME[=PATH]...",
	.text = "run boards that other processes attach to, until a signal "
	"ends them\n"
		"A process opens one with fl_open(\"emu:NAME\"). The socket is "
		"NAME.sock in\n"
		"$FAULTLINE_DIR, or $XDG_RUNTIME_DIR/faultline, or "
		"/tmp/faultline-UID; or PATH.\n"
		"All boards are linked with each other unless --links says "
		"otherwise.",
	.common = OPT_SEED | OPT_PROFILE | OPT_POLICY | OPT_RESOLVE |
		  OPT_TRACE | OPT_PCAP | OPT_SET | OPT_ENGINE,
	.least = 1,
	.most = BOARDS,
	.own = { [OWN_LINKS] = { "--links", "A:B,...",
				 "which boards have a link" },
		 [OWN_NODE] = { "--first-node", "N",
				"number of the first board on the fabric" },
		 [OWN_FRAMES] = { "--frames", "N",
				  "memory of each board in its pages, of 4096 "
				  "bytes unless built otherwise (256 MB)" },
		 [OWN_SWAP] = { "--swap", "N",
				"swap of each board in pages (256 MB)" },
		 [OWN_PROCESS] = { "--process-frames", "N",
				   "of one process at a time (half of all)" },
		 [OWN_PATIENCE] = { "--patience", "MS",
				    "after so long a process that does not "
				    "close its pages is cut off (5000)" },
		 [OWN_OTHERS] = { "--others", NULL,
				  "admit processes of other users" },
		 [OWN_UDP] = SERVICE_UDP_HELP },
	.run = cmd_board_run,
};
