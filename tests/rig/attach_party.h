/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_party.h - what a party of test_attach_swarm.c does: it comes to one or two
 * boards with a pair of attachments, writes, reads, computes, registers anew, and goes.
 * What it does to its bytes it does to plain arrays, too. Of two more threads one counts
 * in words of its own, and one has pages taken away.
 */
#ifndef FL_RIG_ATTACH_PARTY_H
#define FL_RIG_ATTACH_PARTY_H

#include <sys/mman.h>

#include "rig/attach_stage.h"

#include "faultline.h"
#include "harness.h"
#include "lib/lib_internal.h"
#include "sim/rng.h"

#define PAIRS		3
#define BYTES		65536u

enum memory { OF_BOARD, OF_PROGRAM, OF_FILE, MEMORY_KINDS };

struct side {
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	struct fl_mr *mr;
	enum memory kind;
	uint8_t *mem, *shadow;
};

struct pair {
	struct stage_party party;
	struct swarm *swarm;
	struct rng rng;
	struct side side[2];
	unsigned int ops;
	bool long_stop, gone, ended, counted;
	const char *doing;
	struct sim_thread *thread, *other[2];
};

struct swarm {
	uint64_t seed;
	struct rng rng;
	struct testbed *w;
	char listener[2][128], file[128];
	unsigned int pairs, compared, errors;
	struct pair pair[PAIRS];
	char problem[300];
};

/* ---- what a pair does ---- */

void pair_main(void *pair);

#endif
