/* SPDX-License-Identifier: BSD-2-Clause */
/* order_swarm.h - the testbed of an order swarm, and how it is built. */
#ifndef FL_RIG_ORDER_SWARM_H
#define FL_RIG_ORDER_SWARM_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "sim/rng.h"
#include "rig/swarm_seed.h"
#include "tools/scenario/testbed.h"

#define BOARDS_MAX	3
#define PROCS_MAX	4
#define BUFFERS		2	/* of a process */
#define PAIRS_MAX	5
#define DEPTH		12
#define PAGE		HOST_PAGE
#define WAIT_NS		20000000000ull
#define ROUNDS		5
#define RIGHTS		(FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ | \
			 FL_REMOTE_ATOMIC)

struct pair {
	struct testbed_connection *c;
	unsigned int flying[2];
	bool failed[2], reason[2];
	/* Of those that go to a side; `ended`: messages that did so well. */
	unsigned int messages[2], receives[2], ended[2];
};

/* A receive; none is used twice. */
struct place {
	struct testbed_work work;
	struct pair *pair;
	struct testbed_connection *conn;	/* that the pair had */
	int side;
	unsigned int number;
	bool seen;
	char name[16];
};

#define PLACES	1000

struct request {
	struct testbed_work work;
	struct pair *pair;
	bool busy;
	bool wrong;		/* must fail */
	bool cut;		/* a key of it was taken back: may fail */
	char name[16];
};

#define REQUESTS	(PAIRS_MAX * 2 * DEPTH)

struct swarm {
	uint64_t seed;
	struct rng rng;
	struct testbed *w;
	/* the plan */
	unsigned int boards, procs, pairs, steps, depth;
	bool lossy, steady, tight, cutting, wrong, evicting, aborting, sinking, packets,
	     fragments,	/* and these packets are NetVM's */
	     real;
	/* what there is */
	struct testbed_board *board[BOARDS_MAX];
	struct testbed_process *proc[PROCS_MAX];
	struct testbed_buffer *buffer[PROCS_MAX * BUFFERS];
	struct pair pair[PAIRS_MAX];
	struct request req[REQUESTS];
	struct place place[PLACES];
	unsigned int places;
	unsigned int conns, posted, ok, failed, resumed;
	char names[PROCS_MAX * BUFFERS + 2 * PROCS_MAX][8];
	char problem[400];
};

__attribute__((format(printf, 2, 3))) void orders_say(struct swarm *s,
	      const char *fmt, ...);

static inline bool is_over(const struct swarm *s)
{
	return s->problem[0] || testbed_problem(s->w);
}

static inline uint64_t draw_n(struct swarm *s, uint64_t n)
{
	return rng_below(&s->rng, n);
}

void orders_ok(struct swarm *s, int err, const char *what);
struct testbed_buffer *orders_buffer(struct swarm *s,
				     const struct testbed_process *p);

/* ---- building ---- */

void connect_pair(struct swarm *s, struct pair *p);
void orders_build(struct swarm *s);

#endif
