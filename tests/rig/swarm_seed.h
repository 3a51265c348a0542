/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swarm_seed.h - what random testbeds have in common: how many seeds, a limit for each
 * testbed, and that a seed gives the same trace twice.
 *
 * A testbed that goes on for ever is ended by a signal. In lockstep CPU time counts, so that
 * a busy machine fails nobody (a testbed in which nothing can run is found by the
 * scheduler); in threads the clock, which gives it long enough.
 */
#ifndef FL_RIG_SWARM_SEED_H
#define FL_RIG_SWARM_SEED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "harness.h"
#include "sim/sim.h"

/* SWARM_SEEDS in the environment, or as many as usual (test_rounds()). */
unsigned int seed_count(unsigned int usual);

/* ---- a limit ---- */

/* word: the part of the test's name that goes with --seed. */
void seed_begin(uint64_t seed, enum sim_mode mode, const char *word);

void seed_end(enum sim_mode mode);

/* ---- twice ---- */

struct digest {
	uint64_t hash, bytes;
	FILE *copy;
};

/* Where a testbed writes its trace; NULL without d. */
FILE *digest_file(struct digest *d);

/* SWARM_TRACE: the file for the first trace. */
void seeds_twice(unsigned int usual,
		 void (*run)(uint64_t seed, struct digest *d));

#endif
