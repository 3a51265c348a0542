// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs an ordinary program of the library on the emulator: the program is
 * compiled with -Dmain=example_main and linked with this file, which makes one
 * board with the driver, one process on it, and calls the program there.
 *
 * FAULTLINE_MODE=lockstep|threads and FAULTLINE_SEED=N choose how it runs;
 * FAULTLINE_TRACE=FILE keeps the trace. The exit status is the program's, or 70
 * when it got stuck or left the board in disorder.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "fabric/fabric.h"
#include "faultline/uapi.h"
#include "host/host.h"
#include "sim/sim.h"
#include "sim/timing.h"
#include "trace/trace.h"

#define STUCK		70	/* sysexits.h, EX_SOFTWARE */
#define DRAIN_NS	1000000000ull

int example_main(int argc, char **argv);

struct example {
	int argc;
	char **argv;
	int status;
	FILE *trace_file;
	struct trace *trace;
	struct timing_profile timing;
	struct sim *sim;
	struct fabric *fabric;
	struct board *board;
	struct host_kernel *kernel;
	bool driver;
	struct host_process *process;
};

static int example_complain(const char *what, int error)
{
	fprintf(stderr, "example: %s: %s\n", what, strerror(-error));
	return STUCK;
}

static void run_main(void *arg)
{
	struct example *x = arg;

	x->status = example_main(x->argc, x->argv);
	fflush(stdout);
}

static int open_trace(struct example *x, bool threads)
{
	struct trace_config cfg = { .threads = threads };
	const char *path = getenv("FAULTLINE_TRACE");

	if (path) {
		x->trace_file = fopen(path, "w");
		if (!x->trace_file)
			return example_complain(path, -errno);
	}
	cfg.out = x->trace_file;
	x->trace = trace_create(&cfg);
	return x->trace ? 0 : example_complain("trace", -ENOMEM);
}

static int build_hardware(struct example *x, bool threads)
{
	const char *seed = getenv("FAULTLINE_SEED");
	struct sim_config sim = {
		.mode = threads ? SIM_THREADS : SIM_LOCKSTEP,
		.seed = seed ? strtoull(seed, NULL, 0) : 1,
		.trace = x->trace,
	};
	struct fabric_config fabric = {
		.trace = x->trace,
		.timing = &x->timing,
	};
	struct board_config board = {
		.name = "example",
		.trace = x->trace,
		.timing = &x->timing,
	};
	int error = -ENOMEM;

	x->sim = sim_create(&sim);
	if (!x->sim)
		return example_complain("scheduler", error);
	fabric.sim = x->sim;
	x->fabric = fabric_create(&fabric);
	if (!x->fabric)
		return example_complain("fabric", error);
	board.sim = x->sim;
	board.fabric = x->fabric;
	x->board = board_create(&board, &error);
	return x->board ? 0 : example_complain("board", error);
}

static int build_software(struct example *x)
{
	struct host_driver_params driver = {
		.system = FL_SYSTEM_PART,
		.resolve = FL_IOC_RESOLVE_BLOCK,
	};
	struct host_config host = { .board = x->board };
	int error = -ENOMEM;

	x->kernel = host_create(&host, &error);
	if (!x->kernel)
		return example_complain("kernel", error);
	error = host_driver_probe(x->kernel, &driver);
	if (error)
		return example_complain("driver", error);
	x->driver = true;
	x->process = host_process_create(x->kernel, "example", &error);
	return x->process ? 0 : example_complain("process", error);
}

/* Run to the end; what holds then is in sources: rules, 3 and 5. */
static int example_run(struct example *x)
{
	const char *wrong;
	enum sim_result r;
	struct sim_thread *t = host_thread_start(x->process, "main", run_main,
						 x);

	if (!t)
		return example_complain("thread", -ENOMEM);
	r = sim_run(x->sim, 0, DRAIN_NS);
	if (r != SIM_FINISHED) {
		wrong = sim_stuck(x->sim, 0);
		fprintf(stderr, "example: stuck: %s\n",
			wrong ? wrong : "time is over");
		return STUCK;
	}
	sim_thread_join(t);
	wrong = host_check(x->kernel, true);
	if (wrong) {
		fprintf(stderr, "example: %s\n", wrong);
		return STUCK;
	}
	return x->status;
}

static void example_take_down(struct example *x)
{
	if (x->process)
		host_process_exit(x->process);
	if (x->driver)
		host_driver_remove(x->kernel);
	if (x->sim)
		sim_stop(x->sim);
	if (x->kernel)
		host_destroy(x->kernel);
	if (x->board)
		board_destroy(x->board);
	if (x->fabric)
		fabric_destroy(x->fabric);
	if (x->sim)
		sim_destroy(x->sim);
	if (x->trace)
		trace_destroy(x->trace);
	if (x->trace_file)
		fclose(x->trace_file);
	timing_free(&x->timing);
}

int main(int argc, char **argv)
{
	struct example x = { .argc = argc, .argv = argv };
	const char *mode = getenv("FAULTLINE_MODE");
	bool threads = mode && !strcmp(mode, "threads");
	int status;

	if (mode && !threads && strcmp(mode, "lockstep")) {
		fprintf(stderr, "FAULTLINE_MODE is lockstep or threads, not "
			"'%s'\n", mode);
		return 2;
	}
	timing_defaults(&x.timing);
	status = open_trace(&x, threads);
	if (!status)
		status = build_hardware(&x, threads);
	if (!status)
		status = build_software(&x);
	if (!status)
		status = example_run(&x);
	/* A thread that is stuck still has a stack: leave it all to the system. */
	if (status == STUCK && x.process) {
		fflush(NULL);
		_Exit(STUCK);
	}
	example_take_down(&x);
	return status;
}
