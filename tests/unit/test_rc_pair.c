// SPDX-License-Identifier: BSD-2-Clause
/* Reliable connections between two units, over the worst of wires (rc_world.h). */
#include "rc_world.h"

#define SEEDS	400

TEST("whatever the wire and the pages do, all is as if it had been done in order, once")
{
	struct rc_stats st, sum = { 0 };
	uint64_t seed;
	unsigned int i;

	test_cleanup(world_end, NULL);
	for (seed = 0; seed < SEEDS; seed++) {
		world_run(test_seed() * 100000 + seed, 150);
		for (i = 0; i < 2; i++) {
			rc_stats(w.side[i].g.rc, &st);
			sum.resent += st.resent;
			sum.rnr_waits += st.rnr_waits;
			sum.timeouts += st.timeouts;
			sum.naks_sequence += st.naks_sequence;
			sum.read_rewinds += st.read_rewinds;
			sum.overflows += st.overflows;
			sum.duplicates += st.duplicates;
			sum.atomics += st.atomics;
			sum.bad_packets += st.bad_packets;
		}
		world_end(NULL);
	}
	EXPECT_GE(sum.resent, 1000);
	EXPECT_GE(sum.rnr_waits, 100);
	EXPECT_GE(sum.timeouts, 100);
	EXPECT_GE(sum.naks_sequence, 100);
	EXPECT_GE(sum.read_rewinds, 20);
	EXPECT_GE(sum.overflows, 100);
	EXPECT_GE(sum.duplicates, 1000);
	EXPECT_GE(sum.atomics, 1000);
	EXPECT_GE(sum.bad_packets, 50);
}
