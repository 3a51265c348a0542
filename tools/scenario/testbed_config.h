/* SPDX-License-Identifier: BSD-2-Clause */
/* testbed_config.h - what a testbed (testbed.h) is made with. */
#ifndef FL_TESTBED_CONFIG_H
#define FL_TESTBED_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "faultline/resolve.h"
#include "faultline/system.h"
#include "rtl/cosim/engine_plugin.h"
#include "sim/mode.h"
#include "tools/scenario/rpc_cache.h"

struct capture;
struct fl_plan_own;

/* A board that another program serves (`faultline board`), joined by UDP. */
struct testbed_far {
	const char *device;	/* what a process of it opens, for fl_open() */
	const char *udp;	/* the link, for fabric_udp_parse() */
};

struct testbed_config {
	enum sim_mode mode;
	bool processes;			/* mode must be SIM_THREADS */
	const struct testbed_far *far;	/* with processes; or NULL: there is none */
	/*
	 * Mode vm (SIM_THREADS too): what boots a guest, the job for it, and files
	 * that it has in /job (NULL at the end); NULL: no guests.
	 */
	const char *guest_script, *guest_job;
	const char *const *guest_files;
	enum sim_drive drive;
	uint64_t seed;
	uint32_t jitter_ns;
	const char *profile;		/* name or path; NULL: ideal */
	const char *const *sets;	/* "key=value", NULL at the end; may be NULL */
	enum fl_system system;
	enum fl_resolve resolve;
	uint32_t resolve_number;	/* of around:N; else 0 */
	struct rpc_cache cache;		/* what is said counts for each process */
	const struct fl_plan_own *plan;	/* of every board, for FL_RESOLVE_OWN; or NULL */
	enum engine_kind engine;
	FILE *trace;			/* text of every record, or NULL */
	struct capture *capture;	/* every packet, or NULL (fabric/capture.h) */
	uint32_t trace_records;		/* ring; 0: 2^19 a board in lockstep, 2^12 a thread */
	bool strangers;			/* as in board.h */
	/*
	 * Do not check after every event. Else FAULTLINE_CHECKS=all in the environment
	 * looks at everything each time, and not at what has changed.
	 */
	bool no_checks;
	uint8_t first_node;		/* of the first board; the next ones follow */
	uint64_t limit_ns;		/* lockstep: the run is stuck then; 0: never */
	/* 1: the caller set it, a scenario must not (options go before files) */
	bool profile_given, system_given, resolve_given;
};

/*
 * How long a card waits for an answer with guests, since the other card's driver is in
 * one that may not have a CPU just then; of a board elsewhere, for the same reason; and from
 * an engine in Verilog, which is slow. Of the timing profile; for time by the wall alone.
 */
#define TESTBED_PATIENCE	"fw.wall_timeout=200000000"

#endif
