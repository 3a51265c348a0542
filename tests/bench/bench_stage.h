/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_stage.h - the whole thing: two boards or more with kernel and driver, a process
 * on each, a buffer and a region in each, and a link and a connection from the first to
 * each of the others. Process 0 writes into the buffers of the others.
 */
#ifndef FL_BENCH_STAGE_H
#define FL_BENCH_STAGE_H

#include "tools/scenario/testbed.h"

#define STAGE_BOARDS	16
#define STAGE_PAGE	4096u

struct stage {
	struct testbed *testbed;
	int boards;
	enum fl_system system;
	struct testbed_process *process[STAGE_BOARDS];
	struct testbed_buffer *buffer[STAGE_BOARDS];
	struct testbed_connection *conn[STAGE_BOARDS];	/* to board i; none for 0 */
	uint64_t bytes;
	void (*body)(struct stage *s, void *arg);
	void *arg;
	/* of stage_write() and stage_in() */
	uint64_t at, stride;
	uint32_t len, times;
	double ns, cpu_ns;
};

struct stage_config {
	enum sim_mode mode;
	enum sim_drive drive;
	enum engine_kind engine;
	enum fl_system system;
	bool checks;		/* lockstep: the invariants after every event */
	int boards;		/* 0: two */
	uint64_t bytes;		/* of each buffer */
};

/* Build it, run body in the scenario thread, take it down. All pages are resident. */
void stage_run(const struct stage_config *cfg,
	       void (*body)(struct stage *s, void *arg), void *arg);
/* Run fn in process i and end the program when it fails. */
void stage_in(struct stage *s, int i, rpc_run fn, void *arg);
/*
 * Process 0 writes len bytes at `at` to each of the other boards at once, `times` times:
 * ns for each time, and in cpu_ns what this program computed for it.
 */
double stage_write(struct stage *s, uint64_t at, uint32_t len, uint32_t times);
/* 8 bytes to each of so many pages, one after the other: ns for each. */
double stage_write_pages(struct stage *s, uint32_t pages);
/* Process 0 sends messages of 8 bytes to process 1, so many; with packets alone. */
void stage_send(struct stage *s, uint32_t times);
/* Take pages of buffer i away (its process does), all in one call. */
void stage_evict(struct stage *s, int i, uint64_t at, uint64_t len);
/* Bring them back, dirty or clean. */
void stage_touch(struct stage *s, int i, uint64_t at, uint64_t len, bool write);

#endif
