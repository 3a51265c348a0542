// SPDX-License-Identifier: BSD-2-Clause
/* Timing profiles: what is built in, and what a file or an assignment may say. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

TEST("whatever is wrong with an assignment is named in what is said of it")
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "link.mbps=", "whole number" },
		{ "link.mbps=12x", "whole number" },
		{ "link.mbps=1000000000001", "up to 10^12" },
		{ "link.mbps=99999999999999999999999", "up to 10^12" },
		{ "link.cell=32", "power of two from 64 to 4096" },
		{ "link.cell=8192", "power of two from 64 to 4096" },
		{ "link.cell=96", "power of two from 64 to 4096" },
		{ "fw.timeout=0", "must not be 0" },
		{ "fw.fault_timeout=0", "must not be 0" },
		{ "fw.wall_timeout=0", "must not be 0" },
		{ "fw.wall_fault_timeout=0", "must not be 0" },
		{ "fw.waiting_share=0", "must not be 0" },
		{ "fw.busy=0", "must not be 0" },
		{ "nv.mtu=300", "power of two" },
		{ "nv.mtu=64", "wants 256 to 4096" },
		{ "nv.window=65", "wants 1 to 64" },
		{ "nv.greedy=2", "wants 0 to 1" },
		{ "", "name=value" },
		{ "=7", "no timing parameter" },
		{ "a.name.that.is.longer.than.any.name.that.a.timing.parameter.could.have=1",
		  "name=value" },
	};
	struct timing_profile p;
	char error[300];
	size_t i;

	timing_defaults(&p);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*error = 0;
		STEP("%s", bad[i].text);
		EXPECT_EQ(timing_set(&p, bad[i].text, error, sizeof(error)), -EINVAL);
		STEP("said: %s", error);
		EXPECT(strstr(error, bad[i].says));
	}
	EXPECT_EQ(timing_set(&p, "link.cell=64", error, sizeof(error)), 0);
	EXPECT_EQ(timing_set(&p, "smmu.level=0", error, sizeof(error)), 0);
}

/* A file with that text, under this name. */
static const char *profile_file(const char *name, const char *text, size_t bytes)
{
	static char path[200];
	FILE *f;

	test_path(path, sizeof(path), "%s", name);
	f = fopen(path, "w");
	EXPECT(f);
	EXPECT_EQ(fwrite(text, 1, bytes, f), bytes);
	EXPECT_EQ(fclose(f), 0);
	return path;
}

static int profile_load(struct timing_profile *p, const char *text, char error[300])
{
	*error = 0;
	STEP("a file with: %s", text);
	return timing_load(p, profile_file("own", text, strlen(text)), error, 300);
}

TEST("a profile in a file has comments, blanks, and a source for each value")
{
	struct timing_profile p;
	char error[300];

	EXPECT_EQ(profile_load(&p, "# mine\n\n  link.mbps =  77   #  measured \n"
				   "smmu.level=9 # assumed", error), 0);
	EXPECT_EQ(p.v[T_LINK_MBPS], 77);
	EXPECT_STR(p.source[T_LINK_MBPS], "measured");
	EXPECT_EQ(p.v[T_SMMU_LEVEL], 9);
	EXPECT_STR(p.name, "own");
	timing_free(&p);
}

TEST("a mistake in a file is named with its line, and nothing is left of the profile")
{
	struct timing_profile p;
	char error[300];

	EXPECT_EQ(profile_load(&p, "\nlink.mbps 7 # a\n", error), -EINVAL);
	EXPECT(strstr(error, "own:2: wanted 'key = value  # source', got 'link.mbps 7'"));
	EXPECT(!p.text);
	EXPECT_EQ(profile_load(&p, "link.mbps = 7", error), -EINVAL);
	EXPECT(strstr(error, "own:1: a value needs its source"));
	EXPECT_EQ(profile_load(&p, "link.mbps = 7 #  \n", error), -EINVAL);
	EXPECT(strstr(error, "own:1: a value needs its source"));
	EXPECT_EQ(profile_load(&p, "link.mbps = 0 # a\n", error), -EINVAL);
	EXPECT(strstr(error, "own:1: link.mbps must not be 0"));
	EXPECT(!p.text);
}

TEST("what is no text, or is a folder, is no profile")
{
	struct timing_profile p;
	char error[300], *much = malloc(1 << 20);

	EXPECT_EQ(timing_load(&p, profile_file("zero", "link.mbps\0= 7", 13), error,
			      sizeof(error)), -ENOENT);
	EXPECT(strstr(error, "is not a text file"));
	memset(much, '\n', 1 << 20);
	EXPECT_EQ(timing_load(&p, profile_file("much", much, 1 << 20), error,
			      sizeof(error)), -ENOENT);
	EXPECT(strstr(error, "is not a text file"));
	free(much);
	EXPECT_EQ(timing_load(&p, "/", error, sizeof(error)), -ENOENT);
	EXPECT(strstr(error, "built in"));
}

TEST("a link without a rate takes no time, and any other rounds up")
{
	EXPECT_EQ(timing_transfer_ns(1000, 0), 0);
	EXPECT_EQ(timing_transfer_ns(0, 10), 0);
	EXPECT_EQ(timing_transfer_ns(1000, 8000), 1000);
	EXPECT_EQ(timing_transfer_ns(1, 7999), 2);
}
