/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - what things cost: short windows, medians, one table.
 *
 * On a shared machine an average says nothing, and two CPUs move between near and
 * far. So a job is measured in windows of at most some hundred microseconds;
 * beside each window stands one of its yardstick, and only quotients of
 * neighbours are compared with a target. Windows with the trace off stand
 * between those with the trace on. Three rounds; the table shows the median, and
 * the lowest and highest of the rounds' medians.
 *
 * Files: bench_main.c (options, order), bench_measure.c (windows, medians),
 * bench_table.c (the table), bench_chart.c (the same as CSV and SVG),
 * bench_bounce.c (how far apart two CPUs are), bench_pair.c (two boards without a
 * kernel), bench_stage.c (with it), bench_across.c (two applications and boards, each
 * a process), bench_peer.c (other people's programs, and perftest on our boards),
 * bench_shm.c (rows beside libfabric), bench_bare.c (bare primitives), bench_child.c
 * (a program and what it took), bench_count.c (instructions), bench_counts.c (those on
 * record), bench_paths.c (what else is counted); then one file for each group of figures.
 */
#ifndef FL_BENCH_H
#define FL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rusage;
struct trace;

#define BENCH_ROUNDS	3
#define BENCH_WINDOWS	400	/* of one kind, in one round, at most */
#define BENCH_NEAR_NS	150	/* a bounce: 27 and 62 against 275; sources: host-measured */

/* Median of all windows; lowest and highest of the rounds' medians. */
struct bench_spread {
	double median, low, high;
	unsigned int windows;	/* 0: nothing was measured */
};

struct bench_job {
	/* One window: ns for one operation. Below 0: something is broken. */
	double (*window)(void *arg);
	double (*yard)(void *arg);	/* a window of the yardstick, or NULL */
	/* Before each window, not measured; or NULL. */
	void (*prepare)(void *arg);
	void *arg;
	struct trace *trace;	/* half of the windows run without; or NULL */
	bool bounce;		/* measure the distance of the CPUs as well */
	unsigned int round_ms;	/* at most; 0: 300 */
	/*
	 * After each round, not measured: what cannot be cut into windows has
	 * its turn there, so that both see the same machine. Or NULL.
	 */
	void (*after_round)(void *arg, unsigned int round);
};

struct bench_result {
	struct bench_spread ns;		/* of one operation, trace on */
	struct bench_spread yard;	/* ns of the yardstick */
	struct bench_spread of_yard;	/* yardstick divided by operation */
	struct bench_spread times;	/* operation divided by yardstick */
	struct bench_spread bounces;	/* operation divided by a bounce */
	struct bench_spread bounce;	/* ns, one way */
	double round_ns[BENCH_ROUNDS];	/* ns, median of each round */
	double trace_percent;		/* what the trace adds */
	bool traced;			/* trace_percent is known */
	unsigned int dropped;		/* windows while the CPUs moved */
};

uint64_t bench_now_ns(void);
uint64_t bench_cpu_ns(void);	/* what this program has computed, in all threads */

/* The place for the next bytes of span, round and round; *at is the one after. */
uint64_t bench_wander(uint64_t *at, uint32_t bytes, uint64_t span);
/* Sorts v. */
double bench_median(double *v, unsigned int n);
void bench_measure(const struct bench_job *job, struct bench_result *r);
/* A figure without windows: three values, one for each round. */
void bench_rounds(const double value[BENCH_ROUNDS], struct bench_spread *s);
/* The same figure in another unit. */
struct bench_spread bench_scale(const struct bench_spread *s, double by);
/* 1 / s */
struct bench_spread bench_inverse(const struct bench_spread *s, double by);

/* ---- the table (bench_table.c) ---- */

enum bench_want { BENCH_RECORD, BENCH_AT_LEAST, BENCH_AT_MOST };

struct bench_row {
	const char *figure, *unit;
	struct bench_spread value;
	const char *trace;	/* NULL: says nothing of the trace */
	const char *yardstick;	/* "" : none */
	enum bench_want want;
	double target;
	const char *note;	/* where the target is from, or why there is none */
};

/* Also into path; NULL: on the screen only. Negative errno. */
int bench_table_begin(const char *path);
void bench_title(const char *text);
void bench_row(const struct bench_row *row);
void bench_row_of_peer(const struct bench_row *row);	/* somebody else's figure */
/* One line of prose under the rows. */
void bench_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void bench_table_end(void);
/* Text for bench_row.trace, counted once; the last eight of them stay valid. */
const char *bench_trace_text(const struct bench_result *r);

/* Of rows that follow. */
void bench_group(const char *name);

/* A row as it was, to be shown in other forms. */
struct bench_kept {
	char *group, *title;	/* title: with the line of prose before it, if that heads it */
	char *name, *figure;	/* name: as in the row; figure: with that of its parent */
	char *unit, *note;
	struct bench_spread value;
	enum bench_want want;
	double target;
	bool met, peer;
	unsigned int parent;	/* place of the row that it is indented under, or its own */
};
const struct bench_kept *bench_kept(unsigned int *n);

/* ---- the same in other forms (bench_chart.c) ---- */

/* 0 or negative errno. */
int bench_csv(const char *path);
int bench_svg(const char *path);

/* Something does not work: says so and ends with status 1. */
void bench_broken(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* ---- how far apart the CPUs are (bench_bounce.c) ---- */

/*
 * ns of one way of a cache line between two CPUs; 0: there is no second one, or
 * it is busy.
 */
double bench_bounce_ns(void);
void bench_bounce_end(void);

/* ---- beside libfabric's shared memory (bench_shm.c) ---- */

/*
 * Rows under that of job: its window beside writes of fabric_write, with the CPUs near, far,
 * and in any case. depth 1: how many times as long; else how many times the rate.
 */
void bench_beside_shm(const struct bench_job *job, uint32_t bytes,
		      unsigned int depth, enum bench_want want, double target);

/* ---- children (bench_child.c) ---- */

/* Run a program; arg: NULL at the end, three at least. It may not fail. */
void bench_child(const char *const *arg, struct rusage *usage);

/* ---- bare primitives: windows (bench_bare.c) ---- */

double bench_bare_pair(void *unused);	/* SIGSEGV + mprotect of one page */
double bench_bare_sixteen(void *unused);	/* of 16 pages */
double bench_bare_mlock(void *unused);	/* of 1 MB; 0: not allowed */
#define BENCH_REVOKES 4u	/* of a window; the last counts */
/* Rows: the job, which evicts so many pages, beside mprotect() of 1 and of 64. */
void bench_beside_revoke(struct bench_job *job, uint32_t *pages, bool peer_runs);

/* ---- the groups ---- */

void bench_boards(void);	/* bench_boards.c: first of all */
/* While this program has one thread, so before all others. */
void bench_processes(void);	/* bench_processes.c: each its own process */
void bench_verbs(void);		/* bench_verbs.c: programs of rdma-core */
void bench_models(void);	/* bench_models.c: walk, TLB hit, trace */
void bench_lockstep(void);	/* bench_lockstep.c */
void bench_writes(void);	/* bench_writes.c: two boards, no kernel */
void bench_testbed(void);		/* bench_testbed.c: library, driver, kernel */
void bench_faults(void);	/* bench_faults.c */
void bench_seeds(void);		/* bench_seeds.c: random testbeds, a scenario */

/* ---- instructions (bench_count.c) ---- */

/* The paths whose instructions are on record (bench_counts.c, counts.txt). */
#define BENCH_PATHS 14
struct bench_path {
	const char *name;
	void (*run)(uint64_t n);	/* do it n times */
	uint64_t few, many;		/* the difference leaves out what happens once */
	const char *text;
};
extern const struct bench_path bench_paths[BENCH_PATHS];

/* Under cachegrind: do the named thing n times. 0, or -EINVAL: no such name. */
int bench_count_run(const char *name, uint64_t n);
/* Is valgrind here? */
bool bench_count_can(void);
/* Instructions of one operation of this path; below 0: valgrind is not here. */
double bench_count(const char *name);
/* Of all that this command does, its start too; below 0: valgrind is not here. */
double bench_count_program(const char *program);
void bench_count_self(const char *argv0);
/*
 * Compare paths with the file, n of them by name or all (n 0), or write it. Exit status:
 * 1 one has grown, 77 there is nothing to compare with here.
 */
int bench_counts(const char *path, bool record, char **names, int n);
/* What can be counted. */
void bench_count_hits(uint64_t n);
void bench_count_walks(uint64_t n);
void bench_count_records(uint64_t n);
void bench_count_packed(uint64_t n);
void bench_count_write8(uint64_t n);
void bench_count_write8_long(uint64_t n);
void bench_count_write64k(uint64_t n);
void bench_count_write64k_cold(uint64_t n);
void bench_count_write64k_long(uint64_t n);
/* bench_paths.c */
void bench_count_library8(uint64_t n);
void bench_count_fault(uint64_t n);
void bench_count_evict(uint64_t n);
void bench_count_checked(uint64_t n);
void bench_count_send8(uint64_t n);

#endif
