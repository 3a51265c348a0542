// SPDX-License-Identifier: BSD-2-Clause
/* A stream over datagrams: what a ring of receives makes of it. */
#include <string.h>

#include "faultline/entries.h"
#include "harness.h"
#include "tools/work/stream.h"

static struct stream stream_of(enum fl_system system, unsigned int ring, uint32_t packets)
{
	return (struct stream){
		.system = system, .ring = ring, .packets = packets, .seed = test_seed(),
		.profile = "ethernet",
	};
}

static struct stream_result stream_measure(const struct stream *s)
{
	struct stream_result r;

	stream_run(s, &r);
	STEP("end %d %s, %" PRIu64 " ns, %u delivered, %" PRIu64 " sent, %" PRIu64
	     " time-outs, %" PRIu64 " dropped, %" PRIu64 " diverted", r.end, r.problem, r.ns,
	     r.delivered, r.sent, r.timeouts, r.dropped, r.diverted);
	return r;
}

TEST("with all pages there, each packet is sent once, at the rate of the link")
{
	struct stream s = stream_of(FL_SYSTEM_BACKUP, 512, 2000);
	struct stream_result r = stream_measure(&s);
	double gbps = 2000.0 * STREAM_PACKET * 8 / (double)r.ns;

	EXPECT_EQ(r.end, STREAM_OK);
	EXPECT_EQ(r.delivered, 2000);
	EXPECT_EQ(r.sent, 2000);
	EXPECT_EQ(r.timeouts + r.dropped + r.diverted, 0);
	STEP("%.2f Gb/s", gbps);
	EXPECT(gbps > 9 && gbps < 12.4);
}

TEST("a cold ring: a time-out for each page if it drops, none if it diverts or is pinned")
{
	struct stream s = stream_of(FL_SYSTEM_DROPRING, 16, 300);
	struct stream_result drop, backup, pin;

	s.cold = true;
	drop = stream_measure(&s);
	EXPECT_EQ(drop.end, STREAM_OK);
	EXPECT_EQ(drop.delivered, 300);
	EXPECT_GE(drop.timeouts, 16);
	EXPECT_GE(drop.dropped, 16);
	EXPECT_GE(drop.ns, 10000000000ull);
	s.pinned = true;
	pin = stream_measure(&s);
	EXPECT_EQ(pin.end, STREAM_OK);
	EXPECT_EQ(pin.timeouts, 0);
	s.pinned = false;
	s.system = FL_SYSTEM_BACKUP;
	s.ring = 512;
	backup = stream_measure(&s);
	EXPECT_EQ(backup.end, STREAM_OK);
	EXPECT_EQ(backup.delivered, 300);
	EXPECT_EQ(backup.timeouts, 0);
	EXPECT_GE(backup.diverted, 16);
	EXPECT_LE(backup.ns, drop.ns / 100);
}

TEST("the same stream takes the same time each time, and a limit ends it")
{
	struct stream s = stream_of(FL_SYSTEM_DROPRING, 64, 200);
	struct stream_result a, b;

	s.cold = true;
	s.limit_ns = 5000000000ull;
	a = stream_measure(&s);
	b = stream_measure(&s);
	EXPECT_EQ(a.end, STREAM_LIMIT);
	EXPECT_GE(a.ns, s.limit_ns);
	EXPECT_LE(a.delivered, 199);
	EXPECT_EQ(a.ns, b.ns);
	EXPECT_EQ(a.sent, b.sent);
}

TEST("when nothing comes through, the sender gives up after so many time-outs")
{
	struct stream s = stream_of(FL_SYSTEM_BACKUP, 64, 200);
	struct stream_result r;

	s.deaf = true;
	r = stream_measure(&s);
	EXPECT_EQ(r.end, STREAM_GAVE_UP);
	EXPECT_EQ(r.timeouts, 15);
	EXPECT_EQ(r.delivered, 0);
	/* 1 s, and each twice the one before it. */
	EXPECT_GE(r.ns, 32767000000000ull);
}

TEST("a profile that is not there is said")
{
	struct stream s = stream_of(FL_SYSTEM_BACKUP, 64, 200);
	struct stream_result r;

	s.profile = "ethernot";
	r = stream_measure(&s);
	EXPECT_EQ(r.end, STREAM_BROKEN);
	EXPECT(strstr(r.problem, "ethernot"));
}

TEST("what gets in the way of a stream ends it in a known way")
{
	struct stream s = stream_of(FL_SYSTEM_BACKUP, 64, 200);
	struct stream_result r;

	STEP("loss, in both directions");
	s.loss_ppm = 50000;
	r = stream_measure(&s);
	EXPECT_EQ(r.end, STREAM_OK);
	EXPECT_EQ(r.delivered, 200);
	EXPECT_GE(r.timeouts, 1);
	STEP("half of its pages");
	s = stream_of(FL_SYSTEM_BACKUP, 64, 200);
	s.cold = true;
	s.pages = 32;
	r = stream_measure(&s);
	EXPECT_EQ(r.end, STREAM_OK);
	EXPECT_EQ(r.delivered, 200);
	EXPECT_GE(r.diverted, 200 - 64);
	STEP("a receiver that ends");
	s = stream_of(FL_SYSTEM_BACKUP, 64, 200);
	s.dies = 100;
	r = stream_measure(&s);
	EXPECT_EQ(r.end, STREAM_GAVE_UP);
	EXPECT_GE(r.delivered, 100);
	EXPECT_LE(r.delivered, 199);
	STEP("a ring that is only to be read");
	s = stream_of(FL_SYSTEM_BACKUP, 64, 200);
	s.cold = s.read_only = true;
	r = stream_measure(&s);
	EXPECT_EQ(r.end, STREAM_REFUSED);
	EXPECT_EQ(r.status, FL_ST_LOCAL_FAULT);
	EXPECT_EQ(r.delivered, 0);
}
