/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work.h - a workload between two processes, to be measured under one system or another:
 * its name and keys (work.c), its requests as a list (work_ops.c), one run of it in a
 * testbed of its own (work_run.c), and what may get in the way (work_hazard.c).
 *
 * Each process has a buffer that it sends from ("out") and one in which it receives
 * ("in"). A plain array beside each says what it has to hold.
 */
#ifndef FL_WORK_H
#define FL_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/scenario/testbed_config.h"
#include "tools/work/counts.h"

/* The first of them; the patterns of pattern.h follow. */
enum { WORK_WRITE, WORK_READ, WORK_PINGPONG, WORK_STREAM, WORK_PATTERNS };

enum work_side { WORK_SOURCE, WORK_DESTINATION, WORK_BOTH_SIDES };

#define WORK_MOST_BYTES	(64ull << 20)	/* of all requests */
#define WORK_MOST_OPS	256u

struct work {
	unsigned int kind;	/* place in work_name() */
	uint64_t bytes;		/* of a request, not of a pattern's */
	uint64_t count;		/* requests; pingpong: there and back; stream: packets */
	uint64_t depth;		/* requests under way; stream: receives */
	uint64_t cold_ppm;	/* of the pages of a side */
	enum work_side side;	/* that is cold */
};

/* NULL behind the last one. The text: what it does. */
const char *work_name(unsigned int kind);
const char *work_text(unsigned int kind);
/* "bytes=, count=, ...": the keys that it has. */
const char *work_keys(unsigned int kind);
/*
 * The work by its name (NULL: write) with what it is unless a key says otherwise, and
 * one key=value. NULL, or what would be right, in room.
 */
#define WORK_ROOM	300
const char *work_choose(struct work *k, const char *name, char room[WORK_ROOM]);
const char *work_set(struct work *k, const char *assignment, char room[WORK_ROOM]);
/*
 * Has the system what the work needs? Datagrams have no WRITE and no READ, and a stream is of
 * datagrams. */
bool work_goes(const struct work *k, enum fl_system system);
/* After the last key: do they go together? */
const char *work_check(const struct work *k, char room[WORK_ROOM]);
/* "one WRITE of 1 MB, destination cold" */
#define WORK_TITLE	160
void work_title(const struct work *k, char title[WORK_TITLE]);

/* ---- its requests ---- */

enum { WORK_OUT, WORK_IN };

struct work_op {
	bool read, back;	/* back: q posts it */
	/* WORK_OUT or WORK_IN. Its own end is out for a WRITE and in for a READ. */
	uint8_t remote;
	uint32_t at, bytes;	/* at: of the remote end */
	uint32_t local_at;
	bool last;		/* an operation ends with it, as its time counts */
};

/* How many; op has room for WORK_MOST_OPS. A stream has none (stream.h). */
unsigned int work_ops(const struct work *k, uint64_t seed, struct work_op *op);
/* Bytes of the buffers that it needs; 0: none. */
struct work_sizes {
	uint64_t out[2], in[2];	/* of p and of q */
};
void work_sizes(const struct work_op *op, unsigned int n, struct work_sizes *s);

/* ---- one run ---- */

enum work_hazard {
	WORK_PLAIN,		/* nothing gets in the way */
	WORK_PRESSURE, WORK_REMAP, WORK_LOSS, WORK_DIES, WORK_RIGHTS,
	WORK_HAZARDS
};
/* "pressure"; and a sentence. */
extern const char *const work_hazard_names[WORK_HAZARDS];
extern const char *const work_hazard_texts[WORK_HAZARDS];

enum work_end {
	WORK_OK,
	WORK_NO_START,		/* connecting, registering or the first post was refused */
	WORK_ERROR,		/* a request ended with a status */
	WORK_WRONG,		/* an array says something else */
	WORK_HANG,
	WORK_TOO_SMALL,		/* for this hazard, or it has none of the kind */
	WORK_NOT_HERE,		/* this board has not the system, or the system no READs */
	WORK_BROKEN,		/* the testbed found something wrong: problem */
};

struct work_result {
	enum work_end end;
	int error, status;		/* of NO_START, NOT_HERE; of ERROR */
	char problem[300];
	uint64_t asked_bytes, ops;
	uint64_t total_ns;	/* from the first registration to the last deregistration */
	uint64_t transfer_ns;	/* from the first post to the last completion */
	uint64_t p50_ns, p99_ns;	/* of an operation, from post to completion */
	/* WORK_REMAP: of the work before and after it, with what posting needs. */
	uint64_t round_ns[2];
	struct work_counts count;	/* of both boards, set-up and all */
};

struct work_run {
	const struct work *work;
	struct testbed_config cfg;
	enum work_hazard hazard;
	uint64_t plain_ns;	/* WORK_DIES: the transfer when nobody dies */
};

/* Why this work has no such hazard; NULL: it has. */
const char *work_lacks(const struct work *k, enum work_hazard h);
/* The outcome is r->end; all of r is set. */
void work_run(const struct work_run *run, struct work_result *r);

#endif
