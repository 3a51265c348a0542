// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ICRC on links inside a process: it is made when somebody looks at it, and damage is found
 * whenever the rule for it came. variants: tsan
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/capture.h"
#include "fabric/fabric.h"
#include "harness.h"
#include "nic/wire.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "trace/trace.h"

#define FRAMES	64	/* of one port; more do not come before they are looked at */

/* Two ports without cards; node 1 keeps a copy of what comes. */
static struct {
	struct timing_profile timing;
	struct trace *trace;
	struct sim *sim;
	struct fabric *fabric;
	struct sim_domain *domain[2];
	struct fabric_port *port[2];
	struct wire_frame came[2 * FRAMES];
	atomic_uint n;
	void (*body)(void);
} w;

static void icrc_receive(void *arg, const struct wire_frame *f, uint64_t now_ns)
{
	unsigned int n = atomic_load(&w.n);

	(void)arg;
	(void)now_ns;
	EXPECT(n < 2 * FRAMES);
	memcpy(&w.came[n], f, offsetof(struct wire_frame, bytes) + f->len);
	atomic_store(&w.n, n + 1);
}

static void icrc_room(void *arg)
{
	(void)arg;
}

static void icrc_thread(void *arg)
{
	(void)arg;
	w.body();
}

static void icrc_run(enum sim_mode mode, struct capture *capture, void (*body)(void))
{
	struct trace_config tc = { .ring_records = 1024, .threads = mode == SIM_THREADS };
	struct sim_config sc = { .mode = mode, .seed = test_seed() };
	struct fabric_config fc = { .tap = capture ? capture_frame : NULL,
				    .capture = capture, .timing = &w.timing };
	int i, error;

	memset(&w, 0, sizeof(w));
	timing_defaults(&w.timing);
	sc.trace = fc.trace = w.trace = trace_create(&tc);
	fc.sim = w.sim = sim_create(&sc);
	w.fabric = fabric_create(&fc);
	w.body = body;
	for (i = 0; i < 2; i++) {
		w.domain[i] = sim_domain_create(w.sim, "port");
		w.port[i] = fabric_attach(w.fabric, w.domain[i], (uint8_t)i, icrc_receive,
					  icrc_room, NULL, &error);
		EXPECT(w.port[i]);
	}
	EXPECT_EQ(fabric_link(w.fabric, 0, 1), 0);
	sim_thread_start(w.sim, "sender", false, icrc_thread, NULL);
	EXPECT_EQ(sim_run(w.sim, 0, 0), SIM_FINISHED);
	sim_stop(w.sim);
	fabric_destroy(w.fabric);
	sim_destroy(w.sim);
	trace_destroy(w.trace);
	timing_free(&w.timing);
}

/* n cells from node 0 to node 1, until all that comes has come. */
static void icrc_send(unsigned int n)
{
	struct wire_block b = { .opcode = WOP_WRITE, .len = 200, .payload_len = 200 };
	struct wire_frame *f;
	unsigned int i;

	atomic_store(&w.n, 0);
	sim_enter(w.domain[0]);
	for (i = 0; i < n; i++) {
		f = fabric_frame_get(w.port[0]);
		EXPECT(f);
		f->to = 1;
		b.psn = i;
		memset(wire_payload(f), (int)i, 200);
		wire_put_block(f, &b, true);
		fabric_frame_send(w.port[0], f);
	}
	sim_leave(w.domain[0]);
	while (!fabric_idle(w.fabric)) {
		sim_pump(w.domain[1]);
		sim_sleep(1000);
	}
}

/* Of what came, what its receiver refuses as damaged; ICRCs that are not made. */
static unsigned int icrc_refused(unsigned int *later)
{
	unsigned int i, refused = 0;
	struct wire_block b;

	*later = 0;
	for (i = 0; i < w.n; i++) {
		refused += wire_get_block(&w.came[i], true, &b) == WIRE_CRC;
		*later += w.came[i].icrc_later;
	}
	return refused;
}

static void icrc_by_rules(void)
{
	const struct fabric_inject damage = { .damage_ppm = 1000000 },
				   twice = { .duplicate_ppm = 1000000,
					     .damage_ppm = 1000000 }, none = { 0 };
	unsigned int later, i, spared = 0;

	STEP("no rule: nobody makes an ICRC, nobody looks for one");
	icrc_send(FRAMES);
	EXPECT_EQ(w.n, FRAMES);
	EXPECT_EQ(icrc_refused(&later), 0);
	EXPECT_EQ(later, FRAMES);
	STEP("a rule that comes later damages each packet, and each is refused");
	EXPECT_EQ(fabric_inject(w.fabric, 0, 1, &damage), 0);
	icrc_send(FRAMES);
	EXPECT_EQ(w.n, FRAMES);
	for (i = 0; i < w.n; i++)	/* a byte that the ICRC does not cover */
		spared += w.came[i].bytes[WIRE_BTH_RESERVED8_BYTE] != 0;
	EXPECT_EQ(icrc_refused(&later), FRAMES - spared);
	EXPECT_EQ(later, 0);
	STEP("doubled before it is damaged: the twin is whole");
	EXPECT_EQ(fabric_inject(w.fabric, 0, 1, &twice), 0);
	icrc_send(FRAMES / 2);
	EXPECT_EQ(w.n, FRAMES);
	for (i = spared = 0; i < w.n; i++)
		spared += w.came[i].bytes[WIRE_BTH_RESERVED8_BYTE] != 0;
	EXPECT_EQ(icrc_refused(&later), FRAMES / 2 - spared);
	EXPECT_EQ(later, FRAMES / 2);
	STEP("the rule is gone");
	EXPECT_EQ(fabric_inject(w.fabric, 0, 1, &none), 0);
	icrc_send(FRAMES);
	EXPECT_EQ(icrc_refused(&later), 0);
	EXPECT_EQ(later, FRAMES);
}

TEST("a rule that is set after packets have been sent damages none unnoticed")
{
	icrc_run(SIM_LOCKSTEP, NULL, icrc_by_rules);
}

TEST("the same in threads mode")
{
	icrc_run(SIM_THREADS, NULL, icrc_by_rules);
}

static void icrc_all_there(void)
{
	unsigned int i;

	icrc_send(FRAMES);
	EXPECT_EQ(w.n, FRAMES);
	for (i = 0; i < w.n; i++)
		EXPECT(!w.came[i].icrc_later && wire_icrc_good(&w.came[i]));
}

TEST("what a capture has seen has its ICRC")
{
	struct capture *c;
	char path[256];
	int error;

	test_path(path, sizeof(path), "icrc.pcapng");
	c = capture_open(path, &error);
	EXPECT(c);
	capture_board(c, 0, "a");
	icrc_run(SIM_LOCKSTEP, c, icrc_all_there);
	icrc_run(SIM_THREADS, c, icrc_all_there);
	EXPECT_EQ(capture_close(c), 0);
}
