// SPDX-License-Identifier: BSD-2-Clause
/*
 * processes.c - the main job between processes: one that runs `faultline board a b`,
 * or two that run a board each and are joined by UDP, and two applications (app.c)
 * that attach to them. Everything ends with it, and nothing is left: sockets and
 * traces lie in folders that go.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/os/os_emu.h"
#include "faultline/wire.h"
#include "host/host.h"
#include "lib/os/os.h"
#include "nic/wire.h"
#include "tools/faultline/app.h"
#include "tools/faultline/board_process.h"
#include "tools/faultline/job.h"
#include "tools/faultline/options.h"
#include "trace/trace.h"

#define OPTIONS 64

/* A process with boards. */
struct boards {
	struct board_process process;
	char trace[sizeof(((struct folder *)0)->path) + 8];
	char node[16], udp[64];
};

struct run {
	const struct job *j;
	struct job_result *r;
	struct boards boards[2];
	unsigned int n;			/* processes with boards */
	const char *device[2];
	char frames[32], seed[32];
	pid_t app[2];
	int result[2];			/* pipes of the applications */
};

static int run_problem(struct run *x, const char *what, int error)
{
	if (!x->r->problem[0])
		snprintf(x->r->problem, sizeof(x->r->problem), "%s: %s", what,
			 strerror(error));
	x->r->error = x->r->error ? x->r->error : -error;
	return 1;
}

/* ---- the board ---- */

static void board_options(struct run *x, struct boards *b, const char **option)
{
	const struct testbed_config *c = &x->j->cfg;
	const char *const *set = c->sets;
	unsigned int n = 0;

	option[n++] = "--trace";
	option[n++] = b->trace;
	option[n++] = "--frames";
	option[n++] = x->frames;
	option[n++] = "--process-frames";
	option[n++] = x->frames;
	option[n++] = "--seed";
	option[n++] = x->seed;
	option[n++] = "--engine";
	option[n++] = options_engine_name(c->engine);
	if (x->j->udp) {
		option[n++] = "--first-node";
		option[n++] = b->node;
		option[n++] = "--udp";
		option[n++] = b->udp;
	}
	if (c->profile) {
		option[n++] = "--profile";
		option[n++] = c->profile;
	}
	for (; set && *set && n + 3 < OPTIONS; set++) {
		option[n++] = "--set";
		option[n++] = *set;
	}
	option[n] = NULL;
}

static int start_one(struct run *x, const char *const *name)
{
	unsigned int me = x->n, port = 20000 + (unsigned int)getpid() % 20000;
	struct boards *b = &x->boards[x->n++];
	const char *option[OPTIONS];
	int err = board_process_folder(&b->process, name);

	if (err)
		return run_problem(x, "no folder in $TMPDIR", -err);
	strcpy(b->trace, b->process.folder.path);
	strcat(b->trace, "/trace");
	snprintf(b->node, sizeof(b->node), "%u", me);
	snprintf(b->udp, sizeof(b->udp), "127.0.0.1:%u/127.0.0.1:%u/%u",
		 port + me * 20000, port + !me * 20000, !me);
	board_options(x, b, option);
	err = board_process_start(&b->process, option);
	return err ? run_problem(x, "the boards did not start", -err) : 0;
}

static int start_boards(struct run *x)
{
	static const char *const both[] = { "a", "b", NULL };
	static const char *const a[] = { "a", NULL }, *const b[] = { "b", NULL };
	uint64_t frames = x->j->file->pages + 4096 / HOST_FRAMES;

	snprintf(x->seed, sizeof(x->seed), "%llu",
		 (unsigned long long)x->j->cfg.seed);
	snprintf(x->frames, sizeof(x->frames), "%llu",
		 (unsigned long long)(frames < HOST_PAGES ? HOST_PAGES :
							       frames));
	if (x->j->udp) {
		x->device[0] = x->boards[0].process.device[0];
		x->device[1] = x->boards[1].process.device[0];
		return start_one(x, a) || start_one(x, b);
	}
	x->device[0] = x->boards[0].process.device[0];
	x->device[1] = x->boards[0].process.device[1];
	return start_one(x, both);
}

static void end_boards(struct run *x)
{
	struct board_process *p;
	unsigned int i;

	for (i = 0; i < x->n; i++) {
		p = &x->boards[i].process;
		if (p->pid > 0 && board_process_end(p, NULL, 0))
			run_problem(x, "the boards ended in disorder", EIO);
	}
}

/* ---- the applications ---- */

static void be_application(struct run *x, int which, int peer, int result)
{
	const struct testbed_config *c = &x->j->cfg;
	struct app_job job = {
		.device = x->device[which],
		.path = x->j->file->path,
		.bytes = x->j->file->bytes,
		.request_bytes = JOB_REQUEST_MAX,
		.system = c->system,
		.warm = x->j->warm,
		.cold_source = x->j->cold_source,
		.resolve = (int)c->resolve,
		.resolve_number = c->resolve_number,
		.cache_bytes = c->cache.bytes,
		.deaf = c->cache.hook == RPC_HOOK_NO,
		.peer = peer,
	};
	struct app_result r = { 0 };

	signal(SIGPIPE, SIG_IGN);
	if (which)
		app_receive(&job, &r);
	else
		app_send(&job, &r);
	if (write(result, &r, sizeof(r)) != sizeof(r))
		_exit(1);
	_exit(0);
}

static int start_application(struct run *x, int i, const int peer[2])
{
	pid_t parent = getpid();
	int result[2], err;

	if (pipe(result))
		return run_problem(x, "pipe", errno);
	fflush(NULL);
	x->app[i] = fork();
	if (!x->app[i]) {
		os_end_with_parent();
		/* It may have ended before that. */
		if (getppid() != parent)
			_exit(1);
		close(result[0]);
		close(peer[!i]);
		be_application(x, i, peer[i], result[1]);
	}
	err = errno;
	close(result[1]);
	x->result[i] = result[0];
	if (x->app[i] > 0)
		return 0;
	close(result[0]);
	return run_problem(x, "fork", err);
}

static int start_applications(struct run *x)
{
	int peer[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, peer))
		return run_problem(x, "socketpair", errno);
	err = start_application(x, 0, peer);
	if (!err && start_application(x, 1, peer)) {
		/* Alone, it would wait. */
		kill(x->app[0], SIGKILL);
		while (waitpid(x->app[0], NULL, 0) < 0 && errno == EINTR)
			;
		close(x->result[0]);
		err = 1;
	}
	close(peer[0]);
	close(peer[1]);
	return err;
}

static int read_result(struct run *x, int i, struct app_result *a)
{
	static const char *const name[] = { "the sender", "the receiver" };
	size_t got = 0;
	ssize_t n = 1;
	int status;

	while (got < sizeof(*a) && n) {
		n = read(x->result[i], (char *)a + got, sizeof(*a) - got);
		if (n < 0 && errno != EINTR)
			break;
		got += n > 0 ? (size_t)n : 0;
	}
	close(x->result[i]);
	while (waitpid(x->app[i], &status, 0) < 0 && errno == EINTR)
		;
	if (got != sizeof(*a)) {
		memset(a, 0, sizeof(*a));
		return run_problem(x, name[i], ECHILD);
	}
	if (a->error && !x->r->problem[0])
		snprintf(x->r->problem, sizeof(x->r->problem), "%s: %s",
			 name[i], a->problem);
	x->r->error = x->r->error ? x->r->error : a->error;
	return a->error != 0;
}

static void take_results(struct run *x)
{
	struct app_result s, d;
	struct job_result *r = x->r;
	int bad = read_result(x, 0, &s);

	bad |= read_result(x, 1, &d);
	if (bad)
		return;
	r->status = s.status;
	r->requests = s.requests;
	r->faults = s.faults + d.faults;
	r->stalls = s.stalls + d.stalls;
	r->transfer_ns = s.done_ns - s.post_ns;
	r->total_ns = (d.end_ns > s.end_ns ? d.end_ns : s.end_ns) -
		      (d.begin_ns < s.begin_ns ? d.begin_ns : s.begin_ns);
	memcpy(r->sha, d.sha, sizeof(r->sha));
	r->same = !strcmp(r->sha, x->j->file->sha);
}

/* ---- the trace ---- */

static void count_faults(struct job_result *r, const struct view_trace *t)
{
	bool begun[WIRE_NODES] = { false };
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct trace_record *e = &t->r[i];

		/* What came before the region did is the application's affair. */
		if (e->event == EV_DRV_MR && e->board < WIRE_NODES)
			begun[e->board] = true;
		r->blocks += e->event == EV_FW_BLOCK;
		r->pages_in += e->event == EV_MM_PAGE_IN &&
			       e->board < WIRE_NODES && begun[e->board];
		r->resent += e->event == EV_TX_CELLS && e->attempt;
		if (e->event != EV_WIRE_SEND)
			continue;
		r->wire_bytes += e->arg[2];
		r->refused += e->arg[0] == WOP_REFUSED;
	}
}

static int copy_trace(const char *path, FILE *to)
{
	FILE *f = fopen(path, "r");
	char buf[4096];
	size_t n;
	int bad;

	if (!f)
		return -errno;
	while ((n = fread(buf, 1, sizeof(buf), f)))
		fwrite(buf, 1, n, to);
	bad = ferror(f);
	fclose(f);
	return bad ? -EIO : 0;
}

/* Boards and applications have ended: the files are whole. */
static void read_traces(struct run *x)
{
	struct view_trace t;
	unsigned int i;

	for (i = 0; i < x->n; i++) {
		if (view_load(x->boards[i].trace, &t, stderr)) {
			run_problem(x, "the trace cannot be read", EIO);
			return;
		}
		count_faults(x->r, &t);
		/* Two processes have two clocks and two sets of numbers. */
		if (x->n > 1) {
			view_free(&t);
			continue;
		}
		if (x->j->cfg.trace && copy_trace(x->boards[i].trace,
						  x->j->cfg.trace))
			run_problem(x, "the trace cannot be read", EIO);
		x->r->trace = t;
		x->r->complete = !t.lost;
		view_inherit(t.r, t.n);
	}
}

int job_run_processes(const struct job *j, struct job_result *r)
{
	struct run x = { .j = j, .r = r };
	unsigned int i;
	int err;

	memset(r, 0, sizeof(*r));
	err = start_boards(&x);
	if (!err)
		err = start_applications(&x);
	if (!err)
		take_results(&x);
	end_boards(&x);
	if (!err)
		read_traces(&x);
	for (i = 0; i < x.n; i++)
		board_process_clean(&x.boards[i].process);
	return err || r->problem[0] || r->error || r->status || !r->same;
}
