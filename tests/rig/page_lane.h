/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_lane.h - connections between a process that posts and one whose pages everybody writes
 * to: their requests, what comes of these by the naive model (rig/page_model.h), and how a
 * connection is taken down at either end and made again in the same place.
 *
 * One thread, the scenario's, does it all, by calls into the two processes (testbed_in()). They
 * may be processes of their own, so what they and the scenario know is in shared memory.
 */
#ifndef FL_RIG_PAGE_LANE_H
#define FL_RIG_PAGE_LANE_H

#include "rig/page_model.h"
#include "sim/rng.h"
#include "tools/scenario/testbed.h"

#define LANES		4
#define DEPTH		8u
#define SLOTS		(LANES * DEPTH)
#define SLOT		(MODEL_BYTES + 100)	/* so that neighbours share a page */
#define LOCAL_BYTES	(SLOTS * SLOT / HOST_PAGE * HOST_PAGE + HOST_PAGE)

struct end {
	struct fl_qp *qp;
	struct fl_address at;
};

/* A connection, of which side 0 posts. */
struct lane {
	unsigned int number;	/* for the model; of each new one another */
	struct end end[2];
	unsigned int flying;
	bool failed, alone;	/* alone: the other end is gone */
};

/* Where the bytes of a request are, at home. */
struct slot {
	bool busy;
	struct lane *lane;
	unsigned int deed;
};

struct page_stage {
	struct rng rng;
	enum fl_system system;
	struct testbed_process *p[2];	/* 0 posts, 1 has the pages */
	struct fl_cq *cq[2];
	uint8_t *mem[2];
	struct fl_mr *mr[2];
	struct lane lane[LANES];
	struct slot slot[SLOTS];
	struct page_model m;
	unsigned int numbers;	/* of lanes so far */
	/* for the process in which something runs */
	unsigned int side, places;
	uint64_t wait_ns;
	/* what happened */
	unsigned int ok, failed, renewed, again;
};
/* Of all processes. */
extern struct page_stage *stage;

static inline uint64_t page_draw(uint64_t n)
{
	return rng_below(&stage->rng, n);
}

/* Nothing has happened yet. Before the testbed is made. */
void stage_make(void);
/* In the process; an error is the test's. arg: of the stage, or what the process knows. */
void stage_in(unsigned int side, rpc_run fn, void *arg);

void lane_start(struct lane *l);
/* Down at one end, and then at the other; what it had is settled then, and it is made anew. */
void lane_renew(struct lane *l);
void lane_pause(void);
/* WRITEs and READs; fn of stage_in(), arg: the lane. */
int deed_post(struct rpc_app *a, void *arg);
/* Take completions, and judge them. */
void deeds_collect(uint64_t wait_ns);

#endif
