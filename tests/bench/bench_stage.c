// SPDX-License-Identifier: BSD-2-Clause
#include "bench_stage.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

void stage_in(struct stage *s, int i,
	      int (*fn)(struct world_process *p, void *arg), void *arg)
{
	int err = world_in(s->process[i], fn, arg);

	if (err)
		bench_broken("a call of process %d gives %s", i,
			     fl_strerror(err));
}

static int do_write(struct world_process *p, void *arg)
{
	struct stage *s = arg;
	struct world_buffer *to = s->buffer[1];
	struct fl_mr *mr = p->app.mr[s->buffer[0]->number];
	struct fl_qp *qp = p->app.qp[s->conn->number[0]];
	struct fl_completion c;
	uint64_t t = bench_now_ns();
	uint32_t i;
	int n, err;

	for (i = 0; i < s->times; i++) {
		err = fl_post_write(qp, i, mr, s->buffer[0]->mem + s->at, s->len,
				    (uint64_t)(uintptr_t)to->mem + s->at,
				    to->key);
		if (err)
			return err;
		while (!(n = fl_poll(p->app.cq, &c, 1)))
			;
		if (n < 0)
			return n;
		if (c.status)
			bench_broken("a write ended so: %s",
				     fl_status_string(c.status));
	}
	s->ns = (double)(bench_now_ns() - t) / s->times;
	return 0;
}

double stage_write(struct stage *s, uint64_t at, uint32_t len, uint32_t times)
{
	s->at = at;
	s->len = len;
	s->times = times;
	stage_in(s, 0, do_write, s);
	return s->ns;
}

static void good(int err, const char *what)
{
	if (err)
		bench_broken("%s: %s", what, fl_strerror(err));
}

void stage_evict(struct stage *s, int i, uint64_t at, uint64_t len)
{
	good(world_buffer_advise(s->buffer[i], at, len, FL_PAGEOUT), "evict");
}

void stage_touch(struct stage *s, int i, uint64_t at, uint64_t len, bool write)
{
	good(world_buffer_touch(s->buffer[i], at, len, write), "touch");
}

static void script(struct world *w, void *arg)
{
	static const char *const board[2] = { "a", "b" };
	static const char *const process[2] = { "p", "q" };
	const struct world_board_config cfg = { 0 };
	struct world_board *b[2];
	struct stage *s = arg;
	int i;

	for (i = 0; i < 2; i++)
		good(world_board_add(w, board[i], &cfg, &b[i]), "board");
	good(world_link_add(w, b[0], b[1]), "link");
	for (i = 0; i < 2; i++) {
		good(world_process_add(w, process[i], b[i], WORLD_PART,
				       FL_RESOLVE_PAGE, &s->process[i]),
		     "process");
		good(world_buffer_add(s->process[i], process[i], s->bytes,
				      NULL, &s->buffer[i]), "buffer");
		stage_touch(s, i, 0, s->bytes, true);
		good(world_region_add(s->buffer[i], 0, s->bytes,
				      FL_LOCAL_WRITE | FL_REMOTE_WRITE, 0),
		     "region");
	}
	good(world_connect(s->process[0], s->process[1], "c", 64, 0, false, &s->conn),
	     "connection");
	s->body(s, s->arg);
}

void stage_run(const struct stage_config *cfg,
	       void (*body)(struct stage *s, void *arg), void *arg)
{
	static const char *const sets[] = { "link.cell=4096", NULL };
	struct world_config wc = {
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
	s->body = body;
	s->arg = arg;
	s->world = world_create(&wc, why, sizeof(why));
	if (!s->world)
		bench_broken("no world: %s", why);
	err = world_run(s->world, script, s);
	if (err)
		bench_broken("the world ends badly: %s",
			     world_problem(s->world) ?
			     world_problem(s->world) : fl_strerror(err));
	world_destroy(s->world);
	free(s);
}
