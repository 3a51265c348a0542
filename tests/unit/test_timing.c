// SPDX-License-Identifier: BSD-2-Clause
/* Timing profiles: what is built in, and what a file or an assignment may say. */
#include <string.h>

#include "harness.h"
#include "sim/sim.h"
#include "sim/timing.h"

TEST("the built-in profiles load, and every value they set names its source")
{
	struct timing_profile p;
	char error[300] = "";

	EXPECT_EQ(timing_load(&p, "ideal", error, sizeof(error)), 0);
	EXPECT_EQ(p.v[T_LINK_MBPS], 8000);
	EXPECT(p.source[T_LINK_MBPS]);
	timing_free(&p);
	EXPECT_EQ(timing_load(&p, "qfdb", error, sizeof(error)), 0);
	EXPECT_EQ(p.v[T_LINK_MBPS], 10000);
	timing_free(&p);
	EXPECT_EQ(timing_load(&p, "pm", error, sizeof(error)), 0);
	EXPECT_EQ(p.v[T_LINK_MBPS], 1280);
	timing_free(&p);
	EXPECT_EQ(timing_load(&p, "connectx", error, sizeof(error)), 0);
	EXPECT_EQ(p.v[T_LINK_MBPS], 54300);
	timing_free(&p);
	EXPECT_EQ(timing_load(&p, "ethernet", error, sizeof(error)), 0);
	EXPECT_EQ(p.v[T_RC_MTU], 2048);
	timing_free(&p);
}

TEST("a profile that is not there is refused with its name, and the ones that are")
{
	struct timing_profile p;
	char error[300] = "";

	EXPECT_EQ(timing_load(&p, "qfbd", error, sizeof(error)), -2);
	EXPECT(strstr(error, "qfbd"));
	EXPECT(strstr(error, "built in: ideal, qfdb, pm, connectx, ethernet, myrinet;"));
}

TEST("a timing assignment with a wrong key, no number or a bad value is refused")
{
	struct timing_profile p;
	char error[300] = "";

	timing_defaults(&p);
	EXPECT_EQ(timing_set(&p, "link.mbps=16000", error, sizeof(error)), 0);
	EXPECT_EQ(p.v[T_LINK_MBPS], 16000);
	EXPECT_EQ(timing_set(&p, "link.mpbs=1", error, sizeof(error)), -22);
	EXPECT(strstr(error, "link.m"));
	EXPECT_EQ(timing_set(&p, "link.mbps=fast", error, sizeof(error)), -22);
	EXPECT_EQ(timing_set(&p, "link.mbps=-1", error, sizeof(error)), -22);
	EXPECT_EQ(timing_set(&p, "link.mbps=0", error, sizeof(error)), -22);
	EXPECT_EQ(timing_set(&p, "link.cell=100", error, sizeof(error)), -22);
	EXPECT_EQ(timing_set(&p, "link.mbps", error, sizeof(error)), -22);
	EXPECT_EQ(p.v[T_LINK_MBPS], 16000);
}

TEST("a timing value that does not fit into a packet or a register is refused")
{
	static const char *const bad[] = {
		"rc.timeout=32", "rc.retries=8", "rc.rnr_code=32", "rc.rnr_tries=8",
		"rc.window=0", "rc.queue=0", "rc.rd_atomic=0", "rc.rd_atomic=17",
		"rc.mtu=128", "rc.mtu=1000", "rc.mtu=8192",
	}, *const good[] = {
		"rc.timeout=31", "rc.timeout=0", "rc.retries=0", "rc.rnr_code=31",
		"rc.rnr_tries=7", "rc.window=1", "rc.queue=1", "rc.rd_atomic=16",
		"rc.mtu=256", "rc.mtu=4096",
	};
	struct timing_profile p;
	char error[300];
	size_t i;

	timing_defaults(&p);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("%s", bad[i]);
		EXPECT_EQ(timing_set(&p, bad[i], error, sizeof(error)), -22);
		EXPECT(strstr(error, "wants"));
	}
	EXPECT_EQ(p.v[T_RC_MTU], 1024);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		EXPECT_EQ(timing_set(&p, good[i], error, sizeof(error)), 0);
}
