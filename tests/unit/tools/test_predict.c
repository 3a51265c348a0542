// SPDX-License-Identifier: BSD-2-Clause
/* The figures of profile qfdb: their lists, and fits made again when a value has changed. */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "tools/faultline/predict.h"

static int predict_knob(const char *key)
{
	int i;

	for (i = 0; i < PREDICT_KNOBS; i++)
		if (!strcmp(predict_knobs[i].key, key))
			return i;
	EXPECT(!"a knob");
	return -1;
}

static struct timing_profile predict_qfdb(void)
{
	struct timing_profile t;
	char error[200];

	EXPECT_GE(timing_load(&t, "qfdb", error, sizeof(error)), 0);
	return t;
}

TEST("every value that the profile assumes has its bounds, or a reason for none")
{
	struct timing_profile t = predict_qfdb();

	EXPECT_EQ(predict_check(&t), 0);
	timing_free(&t);
}

TEST("one that is assumed and has no bounds is refused")
{
	struct timing_profile t = predict_qfdb();

	t.source[timing_key("link.hop")] = "assumed";
	EXPECT_EQ(predict_check(&t), -EINVAL);
	timing_free(&t);
}

TEST("bounds for one that is not assumed are refused")
{
	struct timing_profile t = predict_qfdb();

	t.source[timing_key("mm.minor")] = "measured on a board";
	EXPECT_EQ(predict_check(&t), -EINVAL);
	timing_free(&t);
}

TEST("what the profile has lies within the bounds, and is fitted as it is")
{
	struct predict_point p, before;
	uint64_t got[FITS];
	int i;

	EXPECT_EQ(predict_begin(&p), 0);
	before = p;
	EXPECT(predict_fit(&p, got));
	EXPECT_MEM(&p, &before, sizeof(p));
	for (i = 0; i < PREDICT_KNOBS; i++)
		EXPECT_LE(predict_knobs[i].low, predict_knobs[i].high);
}

TEST("slower zeroing is made up for: the 38 us stay, less is left for the interrupt")
{
	struct predict_point p;
	uint64_t got[FITS], work;

	EXPECT_EQ(predict_begin(&p), 0);
	work = p.with[FIT_FAULT];
	p.knob[predict_knob("mm.minor")] += 5000;
	EXPECT_EQ(predict_measure(&p, got), 0);
	EXPECT_EQ(got[FIT_FAULT], 43000);
	EXPECT(predict_fit(&p, got));
	EXPECT_EQ(got[FIT_FAULT], 38000);
	EXPECT_EQ(p.with[FIT_FAULT], work - 5000);
}

TEST("more around each cell is made up for by the memory port, as long as that can be")
{
	struct predict_point p;
	uint64_t got[FITS], port;

	EXPECT_EQ(predict_begin(&p), 0);
	port = p.with[FIT_LARGE];
	p.knob[predict_knob("link.overhead")] = 36;
	EXPECT(predict_fit(&p, got));
	EXPECT_LE(got[FIT_LARGE], 8208);
	EXPECT_GE(got[FIT_LARGE], 8192);
	EXPECT_GE(p.with[FIT_LARGE], port + 1);
	STEP("256 bytes of 336 are 76 %%");
	p.knob[predict_knob("link.overhead")] = 80;
	EXPECT(!predict_fit(&p, got));
}

TEST("a page-in that takes longer than the whole fault cannot be fitted")
{
	struct predict_point p;
	uint64_t got[FITS];

	EXPECT_EQ(predict_begin(&p), 0);
	p.knob[predict_knob("mm.minor")] = 30000;
	EXPECT(!predict_fit(&p, got));
}
