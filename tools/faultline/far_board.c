// SPDX-License-Identifier: BSD-2-Clause
#include "tools/faultline/far_board.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/faultline/options.h"
#include "trace/trace.h"

#define OPTIONS	64
#define PORTS	20000u	/* from here on, as many for each of the two */

static void far_problem(struct job_result *r, const char *what, int err)
{
	r->error = r->error ? r->error : err;
	if (!r->problem[0])
		snprintf(r->problem, sizeof(r->problem), "%s: %s", what,
			 strerror(-err));
}

static int far_run(struct far_board *b, const struct testbed_config *c,
		   uint64_t frames)
{
	const char *option[OPTIONS], *const *set = c->sets;
	char number[32], seed[32];
	unsigned int n = 0;

	snprintf(number, sizeof(number), "%llu", (unsigned long long)frames);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)c->seed);
	option[n++] = "--trace";
	option[n++] = b->trace;
	option[n++] = "--frames";
	option[n++] = number;
	option[n++] = "--process-frames";
	option[n++] = number;
	option[n++] = "--seed";
	option[n++] = seed;
	option[n++] = "--engine";
	option[n++] = options_engine_name(c->engine);
	option[n++] = "--first-node";
	option[n++] = "1";
	option[n++] = "--udp";
	option[n++] = b->link[0];
	if (c->profile) {
		option[n++] = "--profile";
		option[n++] = c->profile;
	}
	for (; set && *set && n + 3 < OPTIONS; set++) {
		option[n++] = "--set";
		option[n++] = *set;
	}
	option[n] = NULL;
	return board_process_start(&b->process, option);
}

int far_board_start(struct far_board *b, const struct job *j, uint64_t frames,
		    struct job_result *r)
{
	static const char *const names[] = { "b", NULL };
	unsigned int port = PORTS + (unsigned int)getpid() % PORTS;
	int err = board_process_folder(&b->process, names);

	if (err) {
		far_problem(r, "no folder in $TMPDIR", err);
		return 1;
	}
	snprintf(b->trace, sizeof(b->trace), "%s/trace",
		 b->process.folder.path);
	snprintf(b->link[0], sizeof(b->link[0]), "127.0.0.1:%u/127.0.0.1:%u/0",
		 port + PORTS, port);
	snprintf(b->link[1], sizeof(b->link[1]), "127.0.0.1:%u/127.0.0.1:%u/1",
		 port, port + PORTS);
	b->far = (struct testbed_far){ b->process.device[0], b->link[1] };
	err = far_run(b, &j->cfg, frames);
	if (!err)
		return 0;
	far_problem(r, "board b did not start", err);
	board_process_clean(&b->process);
	return 1;
}

/* What is refused and sent again the sender's board has counted. */
static void far_count(struct job_result *r, const struct view_trace *t)
{
	bool begun = false;
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct trace_record *e = &t->r[i];

		/* What came before the region did is the application's affair. */
		begun |= e->event == EV_DRV_MR;
		r->pages_in += e->event == EV_MM_PAGE_IN && begun;
	}
}

void far_board_end(struct far_board *b, struct job_result *r)
{
	struct view_trace t;

	if (board_process_end(&b->process, NULL, 0))
		far_problem(r, "board b did not end in order", -EIO);
	else if (view_load(b->trace, &t, stderr))
		far_problem(r, "the trace of board b cannot be read", -EIO);
	else {
		far_count(r, &t);
		view_free(&t);
	}
	board_process_clean(&b->process);
}
