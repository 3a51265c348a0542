/* SPDX-License-Identifier: BSD-2-Clause */
/* test_datagram_swarm.h - the testbed of a swarm of datagrams, and how it is built. */
#ifndef TEST_DATAGRAM_SWARM_H
#define TEST_DATAGRAM_SWARM_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "board/board.h"
#include "fabric/fabric.h"
#include "host/host.h"
#include "nic/transport/ud.h"
#include "sim/rng.h"
#include "test_swarm_seed.h"
#include "tools/scenario/testbed.h"
#include "trace/trace.h"

#define BOARDS_MAX	3
#define PROCS_MAX	4
#define LINES_MAX	4
#define DEPTH_MAX	32
#define PAGE		HOST_PAGE
#define SOURCE_PAGES	8
#define RING_SLOTS	48
#define SLOT		(2 * PAGE)	/* a receive may reach over a page's end */
#define WAIT_NS		20000000000ull
#define ROUNDS		4
#define POSTS		(LINES_MAX * 2 * DEPTH_MAX * 2)

/* A connection; of side n: what it posts, and what it takes. */
struct line {
	struct testbed_connection *c;
	unsigned int depth, mtu;
	unsigned int sends[2], receives[2];	/* that are not complete */
	bool failed[2];
};

struct post {
	struct testbed_work work;
	struct line *line;
	bool busy;
	char name[16];
};

struct swarm {
	uint64_t seed;
	struct rng rng;
	struct testbed *w;
	/* the plan */
	unsigned int boards, procs, lines, steps;
	bool losing, damaging, holding, doubling, steady, cutting, tight, evicting, real;
	/* what there is */
	struct testbed_board *board[BOARDS_MAX];
	struct testbed_process *proc[PROCS_MAX];
	bool backup[PROCS_MAX];
	struct testbed_buffer *source[PROCS_MAX], *ring[PROCS_MAX];
	unsigned int slot[PROCS_MAX];
	struct line line[LINES_MAX];
	struct post post[POSTS];
	char names[4 * PROCS_MAX][8];
	/* what happened */
	bool cut;		/* a region was taken back */
	bool broken;		/* a queue pair has failed: not all are counted any more */
	unsigned int conns, posted, sent, arrived, too_long, diverted, dropped;
	char problem[400];
};

__attribute__((format(printf, 2, 3)))
static void mails_say(struct swarm *s, const char *fmt, ...)
{
	va_list ap;

	if (s->problem[0])
		return;
	va_start(ap, fmt);
	vsnprintf(s->problem, sizeof(s->problem), fmt, ap);
	va_end(ap);
}

static bool is_over(const struct swarm *s)
{
	return s->problem[0] || testbed_problem(s->w);
}

static uint64_t draw_n(struct swarm *s, uint64_t n)
{
	return rng_below(&s->rng, n);
}

static void mails_ok(struct swarm *s, int err, const char *what)
{
	if (err && err != -ENOMEM && err != -ENOSPC && err != -EBUSY && err != -EAGAIN)
		mails_say(s, "%s: %s %s", what, fl_strerror(err), testbed_why(s->w));
}

static unsigned int process_number(const struct swarm *s, const struct testbed_process *p)
{
	unsigned int i;

	for (i = 0; s->proc[i] != p; i++)
		;
	return i;
}

/* ---- building ---- */

static struct testbed_buffer *build_buffer(struct swarm *s, unsigned int proc,
					   const char *word, uint64_t bytes)
{
	char *name = s->names[2 * proc + (word[0] == 'r')];
	struct testbed_buffer *b = NULL;

	snprintf(name, sizeof(s->names[0]), "%.3s%u", word, proc);
	mails_ok(s, testbed_buffer_add(s->proc[proc], name, bytes, NULL, &b), "buffer");
	if (is_over(s))
		return NULL;
	if (!b)
		mails_say(s, "there is no memory for %s", name);
	else
		mails_ok(s, testbed_buffer_fill(b, TESTBED_RANDOM, rng_next(&s->rng)),
			 "fill");
	if (!is_over(s))
		mails_ok(s, testbed_region_add(b, 0, 0, FL_LOCAL_WRITE, 0), "region");
	return b;
}

static void build_processes(struct swarm *s)
{
	static const char *const name[] = { "p", "q", "r", "s" };
	unsigned int i;

	for (i = 0; i < s->procs && !is_over(s); i++) {
		s->backup[i] = draw_n(s, 3);
		mails_ok(s, testbed_process_add(s->w, name[i], s->board[i % s->boards],
						s->backup[i] ? FL_SYSTEM_BACKUP :
							       FL_SYSTEM_DROPRING,
						(enum fl_resolve)draw_n(s, 3),
						&s->proc[i]), "process");
		if (!is_over(s))
			s->source[i] = build_buffer(s, i, "source", SOURCE_PAGES * PAGE);
		if (!is_over(s))
			s->ring[i] = build_buffer(s, i, "ring", RING_SLOTS * SLOT);
	}
}

static void build_line(struct swarm *s, struct line *l)
{
	unsigned int a = (unsigned int)draw_n(s, s->procs);
	unsigned int b = (unsigned int)draw_n(s, s->procs);
	struct testbed_joining join = { .mask = FL_ATTR_MTU };

	*l = (struct line){ .depth = 2 + (unsigned int)draw_n(s, DEPTH_MAX - 1),
			    .mtu = 256u << draw_n(s, 5) };
	/* Most of them between the first two, so that they meet in one card. */
	if (draw_n(s, 3))
		a = 0, b = 1;
	join.depth = l->depth;
	join.attr.mtu = l->mtu;
	s->conns++;
	mails_ok(s, testbed_connect(s->proc[a], s->proc[b], "line", &join, &l->c), "connect");
}

static void build_all(struct swarm *s)
{
	static const char *const name[] = { "a", "b", "c" };
	struct testbed_board_config bc = {
		.frames = s->tight ? 40 + draw_n(s, 60) : 0,
	};
	unsigned int i;

	for (i = 0; i < s->boards; i++) {
		mails_ok(s, testbed_board_add(s->w, name[i], &bc, &s->board[i]), "board");
		if (i)
			mails_ok(s, testbed_link_add(s->w, s->board[i - 1], s->board[i]),
				 "link");
	}
	if (!is_over(s))
		build_processes(s);
	for (i = 0; i < s->lines && !is_over(s); i++)
		build_line(s, &s->line[i]);
}

#endif
