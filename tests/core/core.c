// SPDX-License-Identifier: BSD-2-Clause
/*
 * The core and nothing else: two boards in one program, a kernel, a driver and a process on
 * each, in lockstep and in threads mode. It links without the annexes (tests/core/core.mk):
 * no processes, no guests, no packets, no link to another program. What the boards do is
 * compared with a plain array.
 *
 *	core
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/annex.h"
#include "board/board.h"
#include "fabric/fabric.h"
#include "faultline.h"
#include "host/host.h"
#include "lib/sys.h"
#include "sim/rng.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "trace/trace.h"

#define BYTES	(64u * 1024)
#define ROUNDS	100

/* Cards have the block engine and nothing beside it, and the library no way but the boards'. */
const struct board_annex *const board_annex = NULL;
static const struct fl_way no_way = { 0 };
const struct fl_way *const fl_ways = &no_way;
const struct fl_doorbell_way *const fl_way_window = NULL;

#define MUST(x) core_must(!!(x), #x, __LINE__)
static void core_must(int holds, const char *what, int line)
{
	if (holds)
		return;
	printf("tests/core/core.c:%d: %s does not hold\n", line, what);
	exit(1);
}

struct core_node {
	struct board *board;
	struct host_kernel *kernel;
	struct host_process *process;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
	struct fl_mr *mr;
	uint8_t *memory;
};

static struct core {
	enum fl_system system;
	struct sim *sim;
	struct core_node n[2];
	/* What the processes say to each other by other means, and when. */
	struct fl_address address[2];
	uint32_t key;
	atomic_int step;
	uint8_t plain[2][BYTES];	/* the oracle */
	uint64_t faults;
} core;

static void core_await(int step)
{
	while (atomic_load(&core.step) < step)
		sim_sleep(1000);
}

static void core_open(struct core_node *n)
{
	MUST(!fl_open(NULL, &n->dev));
	MUST(!fl_set_policy(n->dev, core.system, FL_RESOLVE_BLOCK));
	MUST(!fl_alloc_pd(n->dev, &n->pd));
	MUST(!fl_create_cq(n->dev, 64, &n->cq));
	MUST(!fl_create_qp(n->pd, n->cq, 16, &n->qp));
	n->memory = fl_alloc(n->dev, BYTES);
	MUST(n->memory);
	MUST(!fl_reg_mr(n->pd, n->memory, BYTES,
			FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ, &n->mr));
	MUST(!fl_qp_address(n->qp, &core.address[n - core.n]));
}

static void core_close(struct core_node *n)
{
	MUST(!fl_destroy_qp(n->qp));
	MUST(!fl_dereg_mr(n->mr));
	MUST(!fl_destroy_cq(n->cq));
	MUST(!fl_dealloc_pd(n->pd));
	MUST(!fl_free(n->dev, n->memory, BYTES));
	MUST(!fl_close(n->dev));
}

static void core_take(struct core_node *n)
{
	struct fl_completion done;

	MUST(fl_wait(n->cq, &done, 1, 0) == 1);
	if (done.status)
		printf("# %s\n", fl_status_string(done.status));
	MUST(!done.status);
}

/* Pages of either side go, and WRITEs and READs over one another bring them in again. */
static void core_round(struct core_node *n, struct rng *rng)
{
	uint32_t from, to, bytes;
	int i, count = 1 + (int)rng_below(rng, 4), flying = 0;
	bool read;

	if (rng_below(rng, 2))
		MUST(!fl_advise(n->dev, n->memory, BYTES, FL_PAGEOUT));
	for (i = 0; i < count; i++) {
		/* Short ones, too: those that find all there are served in the doorbell. */
		bytes = 1 + (uint32_t)rng_below(rng, rng_below(rng, 2) ? 64 : BYTES / 2);
		from = (uint32_t)rng_below(rng, BYTES - bytes);
		to = (uint32_t)rng_below(rng, BYTES - bytes);
		read = !flying && rng_below(rng, 4) == 0;
		if (read)
			memcpy(core.plain[0] + from, core.plain[1] + to, bytes);
		else
			memcpy(core.plain[1] + to, core.plain[0] + from, bytes);
		MUST(!(read ? fl_post_read : fl_post_write)(n->qp, (uint64_t)i, n->mr,
			n->memory + from, bytes,
			(uintptr_t)core.n[1].memory + to, core.key));
		/* A READ may be overtaken: what comes after it waits for it. */
		for (flying++; read && flying; flying--)
			core_take(n);
	}
	for (; flying; flying--)
		core_take(n);
}

static void core_fill(struct core_node *n, uint8_t *plain, struct rng *rng)
{
	uint32_t i;

	for (i = 0; i < BYTES; i++)
		n->memory[i] = plain[i] = (uint8_t)rng_next(rng);
}

static void core_requester(void *arg)
{
	struct core_node *n = &core.n[0];
	struct fl_fault_counters c;
	struct rng rng;
	int i;

	(void)arg;
	core_open(n);
	rng_init(&rng, sim_seed(core.sim), "requester");
	core_fill(n, core.plain[0], &rng);
	atomic_store(&core.step, 1);
	core_await(2);
	MUST(!fl_connect(n->qp, &core.address[1]));
	for (i = 0; i < ROUNDS; i++)
		core_round(n, &rng);
	MUST(!memcmp(n->memory, core.plain[0], BYTES));
	MUST(!fl_query_counters(n->dev, &c));
	core.faults += c.faults;
	atomic_store(&core.step, 3);
	core_await(4);
	core_close(n);
}

/* It takes its pages away again and again, and looks at them when all has come. */
static void core_responder(void *arg)
{
	struct core_node *n = &core.n[1];
	struct fl_fault_counters c;

	(void)arg;
	core_open(n);
	core.key = fl_mr_key(n->mr);
	core_await(1);
	MUST(!fl_connect(n->qp, &core.address[0]));
	atomic_store(&core.step, 2);
	while (atomic_load(&core.step) < 3) {
		MUST(!fl_advise(n->dev, n->memory, BYTES, FL_PAGEOUT));
		sim_sleep(1000000);
	}
	MUST(!memcmp(n->memory, core.plain[1], BYTES));
	MUST(!fl_query_counters(n->dev, &c));
	core.faults += c.faults;
	atomic_store(&core.step, 4);
	core_close(n);
}

static void core_make(struct core_node *n, uint8_t id, struct board_config *bc,
		      void (*run)(void *arg))
{
	struct host_driver_params params = { .system = core.system };
	struct host_config hc = { 0 };
	int err = 0;

	bc->name = id ? "b" : "a";
	bc->id = id;
	hc.board = n->board = board_create(bc, &err);
	MUST(n->board);
	n->kernel = host_create(&hc, &err);
	MUST(n->kernel && !host_driver_probe(n->kernel, &params));
	n->process = host_process_create(n->kernel, bc->name, &err);
	MUST(n->process && host_thread_start(n->process, bc->name, run, NULL));
}

static void core_end(struct core_node *n)
{
	host_process_exit(n->process);
	host_driver_remove(n->kernel);
}

static void core_run(enum sim_mode mode, enum fl_system system, uint64_t seed)
{
	struct trace_config tc = { .threads = mode == SIM_THREADS };
	struct sim_config sc = { .mode = mode, .seed = seed };
	struct timing_profile timing;
	struct fabric_config fc = { .timing = &timing };
	struct board_config bc = { .timing = &timing };
	int i;

	memset(&core, 0, sizeof(core));
	core.system = system;
	timing_defaults(&timing);
	sc.trace = fc.trace = bc.trace = trace_create(&tc);
	core.sim = fc.sim = bc.sim = sim_create(&sc);
	bc.fabric = fabric_create(&fc);
	core_make(&core.n[0], 0, &bc, core_requester);
	core_make(&core.n[1], 1, &bc, core_responder);
	MUST(!fabric_link(bc.fabric, 0, 1));
	MUST(sim_run(core.sim, 0, 1000000) == SIM_FINISHED);
	for (i = 0; i < 2; i++)
		core_end(&core.n[i]);
	sim_stop(core.sim);
	for (i = 0; i < 2; i++) {
		MUST(!host_check(core.n[i].kernel, true));
		host_destroy(core.n[i].kernel);
		board_destroy(core.n[i].board);
	}
	fabric_destroy(bc.fabric);
	sim_destroy(core.sim);
	trace_destroy(bc.trace);
	timing_free(&timing);
	MUST(core.faults);
}

int main(void)
{
	static const enum fl_system systems[] = { FL_SYSTEM_PART, FL_SYSTEM_STALL };
	int s;

	printf("KTAP version 1\n1..4\n");
	for (s = 0; s < 2; s++) {
		core_run(SIM_LOCKSTEP, systems[s], 1);
		core_run(SIM_LOCKSTEP, systems[s], 2);
		printf("ok %d %s, in lockstep: the bytes of a plain array, %llu faults\n",
		       2 * s + 1, s ? "stall" : "part", (unsigned long long)core.faults);
		core_run(SIM_THREADS, systems[s], 1);
		printf("ok %d %s, in threads: the bytes of a plain array\n", 2 * s + 2,
		       s ? "stall" : "part");
	}
	return 0;
}
