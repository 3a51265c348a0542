// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is injected on a link: which rules are refused, whom a rule is for, and what becomes of
 * packets under each of them. Everything that leaves is in one place at the end: it came, it
 * came twice, or it is counted as lost.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "fabric/fabric.h"
#include "harness.h"
#include "nic/wire.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "trace/trace.h"

#define PORTS	3
#define SENT	40u

/* Ports without cards; what comes is counted by the number in it. */
static struct {
	struct timing_profile timing;
	struct trace *trace;
	struct sim *sim;
	struct fabric *fabric;
	struct sim_domain *domain[PORTS];
	struct fabric_port *port[PORTS];
	void (*body)(void);
	unsigned int came[PORTS][SENT], wrong[PORTS], n[PORTS];
	unsigned int order[PORTS][2 * SENT];
} w;

static void inject_receive(void *arg, const struct wire_frame *f, uint64_t now_ns)
{
	unsigned int node = (unsigned int)((struct fabric_port **)arg - w.port);
	struct wire_block b;

	(void)now_ns;
	if (wire_opcode(f) == WOP_WRITE && wire_get_block(f, true, &b) == WIRE_OK) {
		EXPECT(b.block < SENT && w.n[node] < 2 * SENT);
		w.came[node][b.block]++;
		w.order[node][w.n[node]++] = b.block;
	} else {
		w.wrong[node]++;
	}
}

static void inject_room(void *arg)
{
	(void)arg;
}

static void inject_thread(void *arg)
{
	(void)arg;
	w.body();
}

static void inject_run(void (*body)(void))
{
	struct trace_config tc = { .ring_records = 1024 };
	struct sim_config sc = { .mode = SIM_LOCKSTEP, .seed = test_seed() };
	struct fabric_config fc = { .timing = &w.timing };
	int i, error;

	memset(&w, 0, sizeof(w));
	timing_defaults(&w.timing);
	sc.trace = fc.trace = w.trace = trace_create(&tc);
	fc.sim = w.sim = sim_create(&sc);
	w.fabric = fabric_create(&fc);
	w.body = body;
	for (i = 0; i < PORTS; i++) {
		w.domain[i] = sim_domain_create(w.sim, "port");
		w.port[i] = fabric_attach(w.fabric, w.domain[i], (uint8_t)i, inject_receive,
					  inject_room, &w.port[i], &error);
		EXPECT(w.port[i]);
	}
	EXPECT_EQ(fabric_link(w.fabric, 0, 1), 0);
	EXPECT_EQ(fabric_link(w.fabric, 0, 2), 0);
	sim_thread_start(w.sim, "sender", false, inject_thread, NULL);
	EXPECT_EQ(sim_run(w.sim, 0, 0), SIM_FINISHED);
	sim_stop(w.sim);
	fabric_destroy(w.fabric);
	sim_destroy(w.sim);
	trace_destroy(w.trace);
	timing_free(&w.timing);
}

/* One packet from node 0, and time until it, and a late one, has come. */
static void inject_send(uint8_t to, uint8_t opcode, unsigned int number)
{
	struct wire_block b = { .opcode = opcode, .len = 64, .payload_len = 64,
				.block = number };
	struct wire_frame *f;

	if (opcode == WOP_READ_REQ)
		b.payload_len = 0;
	sim_enter(w.domain[0]);
	f = fabric_frame_get(w.port[0]);
	EXPECT(f);
	f->to = to;
	wire_put_block(f, &b, true);
	fabric_frame_send(w.port[0], f);
	sim_leave(w.domain[0]);
	sim_sleep(100);
}

static void inject_send_all(uint8_t to)
{
	unsigned int i;

	for (i = 0; i < SENT; i++)
		inject_send(to, WOP_WRITE, i);
	sim_sleep(10000000);
}

static void rules_refused(void)
{
	static const struct fabric_inject good = { .loss_ppm = 1000000 };
	static const struct fabric_inject bad[] = {
		{ .loss_ppm = 1000001 }, { .duplicate_ppm = 1000001 },
		{ .damage_ppm = 1000001 }, { .late_ppm = 1000001 },
	};
	unsigned int i;

	EXPECT_EQ(fabric_inject(w.fabric, 7, 0xff, &good), -ENOENT);
	EXPECT_EQ(fabric_inject(w.fabric, 200, 0xff, &good), -ENOENT);
	EXPECT_EQ(fabric_inject(w.fabric, 0, 200, &good), -ENOENT);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("bad rule %u", i);
		EXPECT_EQ(fabric_inject(w.fabric, 0, 1, &bad[i]), -EINVAL);
	}
	inject_send_all(1);
	EXPECT_EQ(w.n[1], SENT);
}

TEST("a rule for a port that is not there, or with more than a million, changes nothing")
{
	inject_run(rules_refused);
}

static void first_lost(void)
{
	static const struct fabric_inject rule = { .drop_first = 3 };
	struct fabric_stats st;
	unsigned int i;

	EXPECT_EQ(fabric_inject(w.fabric, 0, 1, &rule), 0);
	inject_send_all(1);
	for (i = 0; i < SENT; i++)
		EXPECT_EQ(w.came[1][i], i >= 3);
	fabric_stats(w.fabric, 0, &st);
	EXPECT_EQ(st.lost, 3);
	STEP("the rule is for node 1 alone");
	inject_send_all(2);
	EXPECT_EQ(w.n[2], SENT);
}

TEST("the first packets to one node are lost, and no others")
{
	inject_run(first_lost);
}

static void one_kind(void)
{
	static const struct fabric_inject rule = { .loss_ppm = 1000000,
						   .kind = 1 + WOP_READ_REQ };
	struct fabric_stats st;

	EXPECT_EQ(fabric_inject(w.fabric, 0, 0xff, &rule), 0);
	inject_send(1, WOP_READ_REQ, 0);
	inject_send(2, WOP_READ_REQ, 0);
	inject_send_all(1);
	EXPECT_EQ(w.wrong[1] + w.wrong[2], 0);
	EXPECT_EQ(w.n[1], SENT);
	fabric_stats(w.fabric, 0, &st);
	EXPECT_EQ(st.lost, 2);
}

TEST("a rule for packets of one kind, to all nodes, lets others pass")
{
	inject_run(one_kind);
}

static void twice_and_late(void)
{
	static const struct fabric_inject twice = { .duplicate_ppm = 1000000 };
	static const struct fabric_inject late = { .late_ppm = 500000, .late_ns = 100000 };
	static const struct fabric_inject never = { .late_ppm = 1000000 };
	struct fabric_stats st;
	unsigned int i, turned = 0;

	EXPECT_EQ(fabric_inject(w.fabric, 0, 1, &twice), 0);
	inject_send_all(1);
	for (i = 0; i < SENT; i++)
		EXPECT_EQ(w.came[1][i], 2);
	EXPECT_EQ(fabric_inject(w.fabric, 0, 2, &late), 0);
	inject_send_all(2);
	for (i = 0; i < SENT; i++) {
		EXPECT_EQ(w.came[2][i], 1);
		turned += i && w.order[2][i] < w.order[2][i - 1];
	}
	STEP("%u came behind a later one", turned);
	EXPECT(turned);
	fabric_stats(w.fabric, 0, &st);
	EXPECT_EQ(st.duplicated, SENT);
	EXPECT(st.late > 0 && st.late < SENT);
	STEP("late by nothing is not late");
	EXPECT_EQ(fabric_inject(w.fabric, 0, 2, &never), 0);
	inject_send(2, WOP_WRITE, 0);
	sim_sleep(1000000);
	i = (unsigned int)st.late;
	fabric_stats(w.fabric, 0, &st);
	EXPECT_EQ(st.late, i);
}

TEST("packets come twice, and out of order, and none is gone")
{
	inject_run(twice_and_late);
}

static void damaged_arrives(void)
{
	static const struct fabric_inject rule = { .damage_ppm = 1000000 };
	struct fabric_stats st;

	EXPECT_EQ(fabric_inject(w.fabric, 0, 1, &rule), 0);
	inject_send_all(1);
	EXPECT_EQ(w.n[1], 0);
	EXPECT_EQ(w.wrong[1], SENT);
	fabric_stats(w.fabric, 0, &st);
	EXPECT_EQ(st.damaged, SENT);
	EXPECT_EQ(st.lost, 0);
}

TEST("a damaged packet arrives, and does not pass for a good one")
{
	inject_run(damaged_arrives);
}
