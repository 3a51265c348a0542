/* SPDX-License-Identifier: BSD-2-Clause */
/* datagram_swarm.h - the testbed of a swarm of datagrams, and how it is built. */
#ifndef FL_RIG_DATAGRAM_SWARM_H
#define FL_RIG_DATAGRAM_SWARM_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "board/board.h"
#include "fabric/fabric.h"
#include "host/host.h"
#include "nic/transport/ud.h"
#include "sim/rng.h"
#include "rig/swarm_seed.h"
#include "tools/scenario/testbed.h"
#include "trace/trace.h"

#define BOARDS_MAX	3
#define PROCS_MAX	4
#define LINES_MAX	4
#define DEPTH_MAX	32
#define PAGE		HOST_PAGE
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

__attribute__((format(printf, 2, 3))) void mails_say(struct swarm *s,
	      const char *fmt, ...);

static inline bool is_over(const struct swarm *s)
{
	return s->problem[0] || testbed_problem(s->w);
}

static inline uint64_t draw_n(struct swarm *s, uint64_t n)
{
	return rng_below(&s->rng, n);
}

void mails_ok(struct swarm *s, int err, const char *what);
unsigned int process_number(const struct swarm *s,
			    const struct testbed_process *p);

/* ---- building ---- */

void build_line(struct swarm *s, struct line *l);
void build_all(struct swarm *s);

#endif
