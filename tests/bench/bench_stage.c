// SPDX-License-Identifier: BSD-2-Clause
#include "bench_stage.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

void stage_in(struct stage *s, int i, rpc_run fn, void *arg)
{
	int err = testbed_in(s->process[i], fn, arg);

	if (err)
		bench_broken("a call of process %d gives %s", i,
			     fl_strerror(err));
}

static int post_to(struct stage *s, struct rpc_app *a, int board,
		   uint64_t number)
{
	struct testbed_buffer *to = s->buffer[board];
	uint64_t at = s->at + number * s->stride;

	return fl_post_write(a->qp[s->conn[board]->number[0]], number,
			     a->mr[s->buffer[0]->number],
			     s->buffer[0]->mem + at, s->len,
			     (uint64_t)(uintptr_t)to->mem + at, to->key);
}

static int take_one(struct rpc_app *a)
{
	struct fl_completion c;
	int n;

	while (!(n = fl_poll(a->cq, &c, 1)))
		;
	if (n > 0 && c.status)
		bench_broken("a write ended so: %s", fl_status_string(c.status));
	return n < 0 ? n : 0;
}

static int do_write(struct rpc_app *a, void *arg)
{
	struct stage *s = arg;
	uint64_t t = bench_now_ns(), cpu = bench_cpu_ns();
	uint32_t i;
	int b, err = 0;

	for (i = 0; i < s->times && !err; i++) {
		for (b = 1; b < s->boards && !err; b++)
			err = post_to(s, a, b, i);
		for (b = 1; b < s->boards && !err; b++)
			err = take_one(a);
	}
	s->ns = (double)(bench_now_ns() - t) / s->times;
	s->cpu_ns = (double)(bench_cpu_ns() - cpu) / s->times;
	return err;
}

double stage_write(struct stage *s, uint64_t at, uint32_t len, uint32_t times)
{
	s->at = at;
	s->stride = 0;
	s->len = len;
	s->times = times;
	stage_in(s, 0, do_write, s);
	return s->ns;
}

double stage_write_pages(struct stage *s, uint32_t pages)
{
	s->at = 0;
	s->stride = STAGE_PAGE;
	s->len = 8;
	s->times = pages;
	stage_in(s, 0, do_write, s);
	return s->ns;
}

/* ---- messages ---- */

#define AT_ONCE 16u

static int do_receive(struct rpc_app *a, void *arg)
{
	struct stage *s = arg;
	const struct fl_segment to = { s->buffer[1]->mem, 8, s->buffer[1]->key };
	const struct fl_receive r = { .list = &to, .segments = 1 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < AT_ONCE && !err; i++)
		err = fl_post_recv(a->qp[s->conn[1]->number[1]], &r);
	return err;
}

static int do_send(struct rpc_app *a, void *arg)
{
	struct stage *s = arg;
	unsigned int i;
	int err = 0;

	for (i = 0; i < AT_ONCE && !err; i++) {
		err = fl_post_send(a->qp[s->conn[1]->number[0]], i,
				   a->mr[s->buffer[0]->number],
				   s->buffer[0]->mem, 8);
		if (!err)
			err = take_one(a);
	}
	return err;
}

static int do_take(struct rpc_app *a, void *arg)
{
	unsigned int i;
	int err = 0;

	(void)arg;
	for (i = 0; i < AT_ONCE && !err; i++)
		err = take_one(a);
	return err;
}

void stage_send(struct stage *s, uint32_t times)
{
	uint32_t i;

	for (i = 0; i < times; i += AT_ONCE) {
		stage_in(s, 1, do_receive, s);
		stage_in(s, 0, do_send, s);
		stage_in(s, 1, do_take, s);
	}
}

static void stage_good(int err, const char *what)
{
	if (err)
		bench_broken("%s: %s", what, fl_strerror(err));
}

void stage_evict(struct stage *s, int i, uint64_t at, uint64_t len)
{
	stage_good(testbed_buffer_advise(s->buffer[i], at, len, FL_PAGEOUT),
		   "evict");
}

void stage_touch(struct stage *s, int i, uint64_t at, uint64_t len, bool write)
{
	stage_good(testbed_buffer_touch(s->buffer[i], at, len, write), "touch");
}

static void stage_process(struct stage *s, int i, struct testbed_board *b,
			  const char *name)
{
	const struct testbed_joining join = { .depth = 64 };

	stage_good(testbed_process_add(s->testbed, name, b, s->system,
				       FL_RESOLVE_PAGE, &s->process[i]),
		   "process");
	stage_good(testbed_buffer_add(s->process[i], name, s->bytes, NULL,
				      &s->buffer[i]), "buffer");
	stage_touch(s, i, 0, s->bytes, true);
	stage_good(testbed_region_add(s->buffer[i], 0, s->bytes,
				      FL_LOCAL_WRITE | FL_REMOTE_WRITE, 0),
		   "region");
	if (i)
		stage_good(testbed_connect(s->process[0], s->process[i], name,
					   &join, &s->conn[i]),
			   "connection");
}

static void stage_script(struct testbed *w, void *arg)
{
	static const char *const board[STAGE_BOARDS] = {
		"a", "b", "c", "d", "e", "f", "g", "h",
		"i", "j", "k", "l", "m", "n", "o", "p"
	};
	static const char *const process[STAGE_BOARDS] = {
		"pa", "pb", "pc", "pd", "pe", "pf", "pg", "ph",
		"pi", "pj", "pk", "pl", "pm", "pn", "po", "pp"
	};
	const struct testbed_board_config cfg = { 0 };
	struct testbed_board *b[STAGE_BOARDS];
	struct stage *s = arg;
	int i;

	for (i = 0; i < s->boards; i++) {
		stage_good(testbed_board_add(w, board[i], &cfg, &b[i]),
			   "board");
		if (i)
			stage_good(testbed_link_add(w, b[0], b[i]), "link");
	}
	for (i = 0; i < s->boards; i++)
		stage_process(s, i, b[i], process[i]);
	s->body(s, s->arg);
}

void stage_run(const struct stage_config *cfg,
	       void (*body)(struct stage *s, void *arg), void *arg)
{
	static const char *const sets[] = { "link.cell=4096", NULL };
	struct testbed_config wc = {
		.mode = cfg->mode, .drive = cfg->drive, .seed = 1,
		.sets = sets, .no_checks = !cfg->checks,
		.engine = cfg->engine,
	};
	struct stage *s = calloc(1, sizeof(*s));
	char why[400];
	int err;

	if (!s)
		bench_broken("no memory");
	s->bytes = cfg->bytes;
	s->system = cfg->system;
	s->boards = cfg->boards ? cfg->boards : 2;
	s->body = body;
	s->arg = arg;
	s->testbed = testbed_create(&wc, why, sizeof(why));
	if (!s->testbed)
		bench_broken("no testbed: %s", why);
	err = testbed_run(s->testbed, stage_script, s);
	if (err)
		bench_broken("the testbed ends badly: %s",
			     testbed_problem(s->testbed) ?
			     testbed_problem(s->testbed) : fl_strerror(err));
	testbed_destroy(s->testbed);
	free(s);
}
