// SPDX-License-Identifier: BSD-2-Clause
/* Life of a testbed: parts are made in order, and taken down in the opposite order. */
#include "tools/scenario/testbed_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/capture.h"
#include "fabric/fabric.h"
#include "faultline/uapi.h"
#include "os/os.h"
#include "sim/sim.h"
#include "tools/scenario/landing.h"
#include "trace/trace.h"

#define RING_BOARD	(1u << 19)
#define RING_THREAD	(1u << 12)	/* a larger one does not stay in the cache */
/* How long the wires and cards may go on after the last statement. */
#define DRAIN_NS	5000000000ull
#define DRAIN_STEP_NS	20000

struct sim *testbed_sim(struct testbed *w)
{
	return w->sim;
}

struct trace *testbed_trace(struct testbed *w)
{
	return w->trace;
}

struct fabric *testbed_fabric(struct testbed *w)
{
	return w->fabric;
}

const struct testbed_config *testbed_cfg(const struct testbed *w)
{
	return &w->cfg;
}

const char *testbed_why(const struct testbed *w)
{
	return w->why;
}

const char *testbed_problem(const struct testbed *w)
{
	return w->problem[0] ? w->problem : NULL;
}

void testbed_injected(struct testbed *w)
{
	w->injected = true;
}

void testbed_why_set(struct testbed *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
}

/* rule: its number, sources: rules. The first problem is the one that matters. */
int testbed_note_problem(struct testbed *w, int rule, const char *fmt, ...)
{
	struct trace_at at = { 0 };
	va_list ap;

	if (w->problem[0])
		return -EPROTO;
	va_start(ap, fmt);
	vsnprintf(w->problem, sizeof(w->problem), fmt, ap);
	va_end(ap);
	trace_emit(w->trace, EV_SIM_VIOLATION, &at, (uint64_t)rule, 0, 0, 0);
	return -EPROTO;
}

static int load_timing(struct testbed *w, char *error, size_t error_bytes)
{
	const char *const *set = w->cfg.sets;
	int err = timing_load(&w->timing,
			      w->cfg.profile ? w->cfg.profile : "ideal", error,
			      error_bytes);

	/* The user's own come after, and so have the last word. */
	if (err >= 0 && (w->cfg.guest_script || w->cfg.far ||
			 w->cfg.engine != ENGINE_C))
		err = timing_set(&w->timing, TESTBED_PATIENCE, error,
				 error_bytes);
	for (; err >= 0 && set && *set; set++)
		err = timing_set(&w->timing, *set, error, error_bytes);
	return err;
}

/* Before there is any thread: a child that forks the others, and the sockets' folder. */
static int start_others(struct testbed *w, char *error, size_t error_bytes)
{
	int err = 0;

	if (w->cfg.processes)
		err = fork_server_start(&w->fork_server, w->cfg.seed, rpc_serve);
	if (err) {
		snprintf(error, error_bytes, "cannot fork: %s", strerror(-err));
		return err;
	}
	if (!w->cfg.processes && !w->cfg.guest_script)
		return 0;
	err = folder_make(&w->folder);
	if (err)
		snprintf(error, error_bytes, "no folder for sockets in "
			 "$TMPDIR: %s", strerror(-err));
	return err;
}

struct testbed *testbed_create(const struct testbed_config *cfg, char *error,
			       size_t error_bytes)
{
	struct testbed *w = calloc(1, sizeof(*w));
	struct sim_config sim;
	struct trace_config trace;

	snprintf(error, error_bytes, "no memory for the boards");
	if (!w)
		return NULL;
	w->cfg = *cfg;
	w->process = os_room(TESTBED_PROCESSES, sizeof(*w->process));
	if (!w->process) {
		free(w);
		return NULL;
	}
	/* Below the handler that comes with the first board. */
	landing_begin();
	if (load_timing(w, error, error_bytes) < 0) {
		testbed_destroy(w);
		return NULL;
	}
	if (start_others(w, error, error_bytes)) {
		testbed_destroy(w);
		return NULL;
	}
	snprintf(error, error_bytes, "no memory for the boards");
	w->ring_records = cfg->trace_records ? cfg->trace_records :
			  cfg->mode == SIM_LOCKSTEP ? RING_BOARD : RING_THREAD;
	trace = (struct trace_config){ .ring_records = w->ring_records,
				       .threads = cfg->mode == SIM_THREADS,
				       .out = cfg->trace };
	w->trace = trace_create(&trace);
	sim = (struct sim_config){ .mode = cfg->mode,
				   .drive = cfg->drive,
				   .seed = cfg->seed,
				   .jitter_ns = cfg->jitter_ns,
				   .trace = w->trace };
	w->sim = w->trace ? sim_create(&sim) : NULL;
	if (!w->sim) {
		testbed_destroy(w);
		return NULL;
	}
	sim_local_add(w->sim, landing_local);
	w->oracle = oracle_create();
	if (!w->oracle) {
		testbed_destroy(w);
		return NULL;
	}
	if (!cfg->no_checks && testbed_check_begin(w, error, error_bytes)) {
		testbed_destroy(w);
		return NULL;
	}
	return w;
}

/* The fabric takes its times when it is made: after the last `set`. */
static int need_fabric(struct testbed *w)
{
	struct fabric_config cfg = { .sim = w->sim,
				     .trace = w->trace,
				     .timing = &w->timing,
				     .tap = w->cfg.capture ? capture_frame : NULL,
				     .capture = w->cfg.capture };

	if (w->fabric)
		return 0;
	w->fabric = fabric_create(&cfg);
	return w->fabric ? 0 : -ENOMEM;
}

static int board_kernel(struct testbed_board *b,
			const struct testbed_board_config *cfg)
{
	struct host_config hc = { .board = b->board,
				  .resident_pages = cfg->frames,
				  .swap_pages = cfg->swap_pages,
				  .process_pages = cfg->process_frames,
				  .process_swap_pages = cfg->process_swap };
	int err;

	b->kernel = host_create(&hc, &err);
	return b->kernel ? 0 : err;
}

static int board_driver(struct testbed *w, struct testbed_board *b)
{
	struct host_driver_params params = {
		.system = (int)w->cfg.system,
		.resolve = (int)w->cfg.resolve,
		.resolve_number = w->cfg.resolve_number,
		.plan = w->cfg.plan,
	};
	int err = host_driver_probe(b->kernel, &params);

	b->driver = !err;
	return err;
}

int testbed_board_add(struct testbed *w, const char *name,
		      const struct testbed_board_config *cfg,
		      struct testbed_board **out)
{
	struct testbed_board *b = &w->board[w->boards];
	struct board_config bc = { .name = name,
				   .id = (uint8_t)(w->cfg.first_node +
						   w->boards),
				   .sim = w->sim,
				   .trace = w->trace,
				   .timing = &w->timing,
				   .contexts = (uint8_t)cfg->contexts,
				   .rx_contexts = (uint8_t)cfg->rx_contexts,
				   .block_bytes = cfg->block_bytes,
				   .tlb_entries = cfg->tlb_entries,
				   .walk_cache_entries =
					   cfg->walk_cache_entries,
				   .strangers = w->cfg.strangers,
				   .engine = engine_maker(w->cfg.engine) };
	bool bare;
	int err;

	if (w->boards == TESTBED_BOARDS) {
		testbed_why_set(w, "a fabric has at most %d boards",
				TESTBED_BOARDS);
		return -ENOSPC;
	}
	if (w->cfg.engine != ENGINE_C && bc.id >= ENGINE_RTL_NODES) {
		testbed_why_set(w, "with an engine in Verilog a fabric has at "
				"most %d boards", ENGINE_RTL_NODES);
		return -ENOSPC;
	}
	if (cfg->contexts > 255 || cfg->rx_contexts > 255)
		return -EINVAL;
	err = need_fabric(w);
	if (err)
		return err;
	bc.fabric = w->fabric;
	b->name = name;
	b->testbed = w;
	b->board = board_create(&bc, &err);
	if (!b->board)
		return err;
	bare = cfg->bare || w->cfg.guest_script;
	err = bare ? 0 : board_kernel(b, cfg);
	if (err) {
		board_destroy(b->board);
		b->board = NULL;
		return err;
	}
	w->boards++;	/* from here on testbed_destroy() takes it down */
	if (w->cfg.capture)
		capture_board(w->cfg.capture, bc.id, name);
	testbed_check_board(b);
	*out = b;
	/* A board without processes only passes on what others send. */
	if (bare && cfg->processes)
		return testbed_guest_add(w, b, cfg->processes);
	if (bare)
		return 0;
	err = board_driver(w, b);
	return err || !w->cfg.processes ? err : testbed_listener_open(w, b);
}

int testbed_link_add(struct testbed *w, struct testbed_board *a,
		     struct testbed_board *b)
{
	return fabric_link(w->fabric, board_id(a->board), board_id(b->board));
}

/* What still has work, as words; NULL: nothing. */
static const char *busy_part(struct testbed *w, char text[100])
{
	const char *part;
	unsigned int i;

	if (w->fabric && !fabric_idle(w->fabric))
		return "a packet is on the wire";
	for (i = 0; i < w->boards; i++) {
		part = board_busy(w->board[i].board);
		/* Its workers copy, too, also for requests that have failed. */
		if (!part && w->board[i].kernel && host_driver_busy(w->board[i].kernel))
			part = "driver";
		if (!part)
			continue;
		snprintf(text, 100, "board %s: the %s is not idle",
			 w->board[i].name, part);
		return text;
	}
	return NULL;
}

/*
 * A card that has taken over a READ of a peer that is gone forgets it after its patience
 * (fw_timer_job()), which is longer by the wall.
 */
static uint64_t drain_ns(const struct testbed *w)
{
	const uint64_t *t = w->timing.v;
	uint64_t silent = t[w->cfg.mode == SIM_LOCKSTEP ? T_FW_FAULT_TIMEOUT :
							  T_WALL_FAULT_TIMEOUT];

	return DRAIN_NS + (t[T_FW_TRIES] + 2) * silent;
}

static void testbed_drain(struct testbed *w)
{
	uint64_t limit = drain_ns(w), end = sim_now(w->sim) + limit;
	const char *busy;
	char text[100];
	unsigned int i;

	while ((busy = busy_part(w, text)) != NULL) {
		if (sim_now(w->sim) > end) {
			testbed_note_problem(w, 3,
				"%s, %llu ms after the last statement",
				busy, (unsigned long long)limit / 1000000);
			return;
		}
		for (i = 0; i < w->boards; i++)
			board_pump(w->board[i].board);
		sim_sleep(DRAIN_STEP_NS);
	}
}

void testbed_compare(struct testbed *w)
{
	testbed_drain(w);
	testbed_model_end(w);
}

static void scenario_thread(void *arg)
{
	struct testbed *w = arg;
	unsigned int i;

	w->script(w, w->script_arg);
	testbed_drain(w);
	testbed_check_end(w);
	for (i = 0; i < w->processes; i++)
		if (!w->process[i].gone)
			testbed_process_end(&w->process[i]);
	testbed_drain(w);
	testbed_guests_end(w, false);
	testbed_listener_close(w);
	for (i = 0; i < w->boards; i++)
		if (w->board[i].driver)
			host_driver_remove(w->board[i].kernel);
}

static void note_stuck(struct testbed *w, enum sim_result result)
{
	char names[200] = "";
	const char *name;
	unsigned int i;

	for (i = 0; (name = sim_stuck(w->sim, i)) != NULL; i++) {
		if (i)
			strncat(names, ", ", sizeof(names) - strlen(names) - 1);
		strncat(names, name, sizeof(names) - strlen(names) - 1);
	}
	w->stuck = true;
	testbed_note_problem(w, 3, "%s at %llu ns; these threads wait: %s",
			     result == SIM_LIMIT ? "the time limit was reached" :
						 "nothing can run any more",
			     (unsigned long long)sim_now(w->sim), names);
}

int testbed_run(struct testbed *w, void (*script)(struct testbed *w, void *arg),
		void *arg)
{
	struct sim_thread *t;
	enum sim_result result;

	w->script = script;
	w->script_arg = arg;
	t = sim_thread_start(w->sim, "scenario", false, scenario_thread, w);
	if (!t)
		return -ENOMEM;
	result = sim_run(w->sim, w->cfg.limit_ns, DRAIN_NS);
	if (result != SIM_FINISHED) {
		note_stuck(w, result);
		return -EDEADLK;
	}
	sim_thread_join(t);
	sim_stop(w->sim);
	return w->problem[0] ? -EPROTO : 0;
}

void testbed_folder_remove(struct testbed *w)
{
	char path[sizeof(w->folder.path)];

	strcpy(path, w->folder.path);
	if (folder_remove(&w->folder))
		testbed_note_problem(w, 6, "the folder %s was not empty", path);
}

void testbed_destroy(struct testbed *w)
{
	unsigned int i;

	if (!w)
		return;
	fork_server_end(&w->fork_server);
	testbed_guests_end(w, true);
	testbed_folder_remove(w);
	/* Threads that can never end still use everything but the trace's text. */
	if (w->stuck) {
		if (w->cfg.trace)
			trace_destroy(w->trace);
		return;
	}
	for (i = w->boards; i--;)
		host_destroy(w->board[i].kernel);
	for (i = w->boards; i--;)
		board_destroy(w->board[i].board);
	if (w->fabric)
		fabric_destroy(w->fabric);
	if (w->sim)
		sim_destroy(w->sim);
	if (w->trace)
		trace_destroy(w->trace);
	landing_end();
	oracle_destroy(w->oracle);
	timing_free(&w->timing);
	for (i = 0; i < w->conns; i++)
		testbed_mail_free(&w->conn[i]);
	free(w->work);
	free(w);
}
