// SPDX-License-Identifier: BSD-2-Clause
/* Reliable connections between two units, over the worst of wires (rig/rc_testbed.h). */
#include "rig/rc_testbed.h"

#define SEEDS	160

TEST("whatever the wire and the pages do, all is as if it had been done in order, once")
{
	struct rc_stats st, sum = { 0 };
	uint64_t seed;
	unsigned int i;

	test_cleanup(testbed_end, NULL);
	for (seed = 0; seed < SEEDS; seed++) {
		testbed_run(test_seed() * 100000 + seed, 150);
		for (i = 0; i < 2; i++) {
			rc_stats(bed.side[i].g.rc, &st);
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
		testbed_end(NULL);
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

/* All that pair 1 may write, on both boards. */
static void pair_keep(uint8_t *kept)
{
	unsigned int i;

	for (i = 0; i < 2; i++, kept += 32 * 4096) {
		uint8_t *mem = bed.side[i].g.io.mem;

		memcpy(kept, mem + INTO(1) * 4096, 8 * 4096);
		memcpy(kept + 8 * 4096, mem + TARGET(1) * 4096, 12 * 4096);
		memcpy(kept + 20 * 4096, mem + RECEIVE(1) * 4096, 4 * 4096);
	}
}

TEST("a pair that is closed in the middle of it all moves not a byte more; the other goes on")
{
	static uint8_t kept[64 * 4096], now[64 * 4096];
	uint64_t seed;
	unsigned int i;

	test_cleanup(testbed_end, NULL);
	for (seed = 0; seed < SEEDS / 4; seed++) {
		testbed_draw(test_seed() * 100000 + seed);
		bed.to_post = 40 + draw_below(40);
		testbed_post();
		for (i = draw_below(200); i--; )
			testbed_step();
		bed.ended[1] = true;
		for (i = 0; i < 2; i++)
			bed.side[i].g.io.t.close(bed.side[i].g.io.t.ctx, RIG_QP + 1);
		pair_keep(kept);
		bed.to_post = 40;
		testbed_post();
		testbed_drain();
		testbed_compare();
		pair_keep(now);
		EXPECT_MEM(now, kept, sizeof(kept));
		testbed_end(NULL);
	}
}
