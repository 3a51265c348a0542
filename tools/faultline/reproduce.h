/* SPDX-License-Identifier: BSD-2-Clause */
/* reproduce.h - published experiments and what the model makes of them: reproduce.c. */
#ifndef FL_REPRODUCE_H
#define FL_REPRODUCE_H

#include <stdbool.h>

enum reproduce_experiment {
#define EXPERIMENT(id, name, text) EXPERIMENT_##id,
#include "tools/faultline/published.def"
	EXPERIMENTS
};

enum reproduce_mark { MARK_F, MARK_C, MARK_P, MARK_Q };

struct reproduce_figure {
	enum reproduce_experiment experiment;
	int measure, of;		/* reproduce.c */
	enum reproduce_mark mark;
	const char *unit;		/* "": yes or no; "<%": published is a bound */
	double published;
	unsigned int within;		/* thousandths */
	const char *title, *source;
};

extern const struct reproduce_figure reproduce_figures[];
extern const int reproduce_count;
extern const char *const reproduce_names[EXPERIMENTS];
extern const char *const reproduce_texts[EXPERIMENTS];

/* What the model says of a figure. 0, or 1 after a message. */
int reproduce_measure(const struct reproduce_figure *f, double *model);
/* Of a mark that may not miss, and has. */
bool reproduce_broken(const struct reproduce_figure *f, double model);

/*
 * reproduce_cache.c: the rate of messages whose regions are found or not (enum
 * cache_case), and what a page costs more if they are not. 0, or 1 after a message.
 */
enum cache_case {
	CACHE_HITS, CACHE_MISSES, CACHE_QUARTER, CACHE_HALF, CACHE_MOST,
	CACHE_OLD_HITS, CACHE_OLD_MISSES, CACHE_CASES
};
int reproduce_cache(int of, double *model);
int reproduce_cache_page(int hits, double *model);

/* Run a scenario; the sum of the numbers that it prints behind key. 0, or 1 after a message. */
int reproduce_print(const char *text, const char *key, double *model);

/* reproduce_npf.c: what a fault of so many pages costs, at once and one by one; Gb/s, 1/2^k. */
int reproduce_npf(int pages, double *model);
int reproduce_npf_singly(int pages, double *model);
int reproduce_npf_rate(int k, double *model);

/*
 * reproduce_stream.c: Gb/s of a stream, 1/2^k of whose packets miss their page (0: none), and
 * what the backup ring is to dropping; seconds that a cold ring takes, and whether it does
 * without time-outs.
 */
int reproduce_stream_drop(int k, double *model);
int reproduce_stream_minor(int k, double *model);
int reproduce_stream_major(int k, double *model);
int reproduce_stream_times(int k, double *model);
int reproduce_cold_drop(int ring, double *model);
int reproduce_cold_backup(int most, double *model);
int reproduce_cold_pin(int most, double *model);
/*
 * reproduce_netvm.c: ns of a WRITE; per cent over one whose pages are pinned; MB/s; ns until it
 * is noticed, by a way of `await`; per cent that an operation adds to looking, and to sleeping;
 * is the lock cheaper?
 */
int reproduce_netvm_write(int bytes, double *model);
int reproduce_netvm_pinned(int bytes, double *model);
int reproduce_netvm_rate(int unused, double *model);
int reproduce_netvm_notice(int way, double *model);
int reproduce_netvm_ops(int way, double *model);
int reproduce_netvm_ops_asleep(int way, double *model);
int reproduce_netvm_hits(int hits, double *model);

/*
 * sensitivity.c: each value that profile qfdb assumes is moved within its bounds, and the
 * fits are kept; the predictions are printed with their ranges. 0, or 1 after a message.
 */
int sensitivity_print(void);

#endif
