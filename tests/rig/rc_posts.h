/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rc_posts.h - the oracle of rig/rc_testbed.h: what two boards post, and what must come of
 * it. It knows nothing of packets: all is done at once, in the order of posting, on plain
 * arrays.
 */
#ifndef FL_RIG_RC_POSTS_H
#define FL_RIG_RC_POSTS_H

#include "rig/rc.h"
#include "rig/wire_pair.h"
#include "sim/sim.h"

#define PAIRS		2
#define RETURNS		256
#define OUTSTANDING	8

/* Pages of a node, for pair k. */
#define SOURCE(k)	(8 * (k))		/* 8: what is sent and written */
#define INTO(k)		(16 + 8 * (k))		/* 8: where READs and results go, in places */
#define TARGET(k)	(32 + 12 * (k))		/* 12: what the peer writes and reads */
#define RECEIVE(k)	(56 + 4 * (k))		/* 4 */
#define CELLS		64			/* bytes: in the last page of TARGET, for atomics */

struct returning {
	uint64_t at;
	unsigned int node, page;
	bool resume;
	uint16_t qp;
	uint8_t side;
	bool write;
};

struct posted {
	struct fw_work work;
	bool over;
	uint32_t into, bytes;	/* what must be there at the end, in the node's memory */
	uint8_t want[8192];
	uint32_t remote, remote_bytes; /* of a READ */
};

struct sent {			/* what the peer's next receive must get */
	uint32_t bytes, imm;
	bool has_imm, write;
	uint8_t data[4096];
};

struct side {
	struct rig g;
	uint8_t *model;
	struct posted posted[PAIRS][OUTSTANDING];
	uint32_t next[PAIRS], oldest[PAIRS];
	struct sent sent[PAIRS][OUTSTANDING];	/* by this side */
	uint32_t sends[PAIRS], taken[PAIRS], arrived[PAIRS];
	uint32_t offered[PAIRS];
	uint64_t added;		/* to the shared cell of the peer */
};

struct rc_bed {
	struct side side[2];
	struct returning returning[RETURNS];
	unsigned int returns;
	unsigned int away;	/* per 1000 */
	uint32_t mtu, most;
	unsigned int verdicts;	/* kinds of verdict that are drawn */
	uint32_t to_post;
	bool ended[PAIRS];	/* the pair was closed on both sides: nothing is said of it */
	uint64_t steps;
};
extern struct rc_bed bed;

/* ---- pages ---- */

struct rc_judged page_judge(struct rig *g, const struct rc_miss *m);
void page_away(void);

/* ---- what completes ---- */

void work_over(struct rig *g, const struct rig_done *d);
bool recv_give(struct rig *g, uint16_t qp, struct fw_recv *r);
void recv_check(struct rig *g, uint16_t qp, const struct rig_recv_done *d);

/* ---- what is posted ---- */

void post_one(void);

#endif
