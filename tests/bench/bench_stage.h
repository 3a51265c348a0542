/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_stage.h - the whole thing: two boards with kernel and driver, a process on each,
 * a buffer and a region in each, one connection. Process 0 writes into buffer 1.
 */
#ifndef FL_BENCH_STAGE_H
#define FL_BENCH_STAGE_H

#include "tools/scenario/testbed.h"

struct stage {
	struct testbed *testbed;
	struct testbed_process *process[2];
	struct testbed_buffer *buffer[2];
	struct testbed_connection *conn;
	uint64_t bytes;
	void (*body)(struct stage *s, void *arg);
	void *arg;
	/* of stage_write() and stage_in() */
	uint64_t at;
	uint32_t len, times;
	double ns;
};

struct stage_config {
	enum sim_mode mode;
	enum sim_drive drive;
	enum engine_kind engine;
	bool checks;		/* lockstep: the invariants after every event */
	uint64_t bytes;		/* of each buffer */
};

/* Build it, run body in the scenario thread, take it down. All pages are resident. */
void stage_run(const struct stage_config *cfg,
	       void (*body)(struct stage *s, void *arg), void *arg);
/* Run fn in process i and end the program when it fails. */
void stage_in(struct stage *s, int i,
	      int (*fn)(struct testbed_process *p, void *arg), void *arg);
/* Process 0 writes len bytes at `at`, `times` times: ns for each. */
double stage_write(struct stage *s, uint64_t at, uint32_t len, uint32_t times);
/* Take pages of buffer i away (its process does), all in one call. */
void stage_evict(struct stage *s, int i, uint64_t at, uint64_t len);
/* Bring them back, dirty or clean. */
void stage_touch(struct stage *s, int i, uint64_t at, uint64_t len, bool write);

#endif
