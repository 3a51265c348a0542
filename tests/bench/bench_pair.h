/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_pair.h - two boards on a link, driven through registers and queues alone:
 * what NIC, SMMU and wire cost when no library, driver or kernel stands before
 * them. Each board has one bank of DRAM with tables for its SMMU in it, 4 KB
 * pages four levels deep, so that every burst is translated.
 */
#ifndef FL_BENCH_PAIR_H
#define FL_BENCH_PAIR_H

#include "board/board.h"
#include "sim/sim.h"
#include "sim/timing.h"

#define PAIR_VA		UINT64_C(0x40000000)	/* first byte of the data */
#define PAIR_QUEUE	64
#define PAIR_BANK	3u	/* context bank: any will do */
#define PAIR_ASID	7u

struct pair_node {
	struct board *board;
	uint8_t *data;			/* the hardware's mapping */
	uint32_t pd, cq, qp, key;
	uint16_t posted;
	uint32_t taken;
};

struct pair_config {
	enum sim_mode mode;
	enum sim_drive drive;
	uint32_t cell_bytes;		/* 0: that of the profile */
	uint64_t data_bytes;
};

struct pair {
	struct pair_config cfg;
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct pair_node n[2];
	void (*body)(struct pair *p, void *arg);
	void *arg;
};

/* Build both boards, run body in a thread of the scheduler, take all down. */
void pair_run(const struct pair_config *cfg,
	      void (*body)(struct pair *p, void *arg), void *arg);
/* Node 0 writes len bytes at from to node 1 at to. */
void pair_post(struct pair *p, uint64_t from, uint64_t to, uint32_t len);
/* Take the oldest completion of node 0; a bad status ends the program. */
void pair_take(struct pair *p);
/* The same, but sleep sleep_ns between looks. */
void pair_take_asleep(struct pair *p, uint64_t sleep_ns);

#endif
