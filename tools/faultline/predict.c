// SPDX-License-Identifier: BSD-2-Clause
/* predict.c - runs of a point: the fits as a scenario, the figures as jobs. */
#include "tools/faultline/predict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/timing.h"
#include "tools/faultline/job.h"
#include "tools/scenario/runner.h"

#define PROFILE "qfdb"
#define FIT_TURNS 8

const struct predict_knob_text predict_knobs[PREDICT_KNOBS] = {
#define KNOB(key, low, high, why) { key, why, low, high },
#include "tools/faultline/predict.def"
};

static const char *const steady[] = {
#define STEADY(key, why) key,
#include "tools/faultline/predict.def"
};

#define STEADIES ((int)(sizeof(steady) / sizeof(steady[0])))

/* sources: exanest-figures */
const struct predict_fit predict_fits[FITS] = {
	[FIT_FAULT] = { "one-page write, minor fault at the destination",
			"irq.work", "ns", 38000, 20 },
	[FIT_SMALL] = { "small message, first hop, one way", "link.delay", "ns", 1300,
			2 },
	[FIT_LARGE] = { "large resident transfer, 82 % of 10 Gb/s",
			"engine.mem_mbps", "Mb/s", 8200, 8 },
};

const struct predict_figure predict_figures[FIGURES] = {
	[FIGURE_BLOCK] = { "1 MB cold, touch ahead: block, to resident",
			   "2.6" },
	[FIGURE_TRANSFER] = { "1 MB cold, touch ahead: transfer, to resident",
			      "2.6" },
	[FIGURE_PIN_BLOCK] = { "4 MB cold, pinned, to touch ahead: block",
			       "1.46" },
	[FIGURE_PIN_TRANSFER] = { "4 MB cold, pinned, to touch ahead: transfer",
				  "1.46" },
};

/* ---- the profile ---- */

static const char *const board_keys[] = { "board.contexts", "board.block" };
static const uint64_t board_values[] = { 8, 16384 };

static int board_key(const char *key)
{
	int i;

	for (i = 0; i < 2; i++)
		if (!strcmp(key, board_keys[i]))
			return i;
	return -1;
}

static uint64_t board_value(const struct predict_point *p, int which)
{
	int i;

	for (i = 0; i < PREDICT_KNOBS; i++)
		if (board_key(predict_knobs[i].key) == which)
			return p->knob[i];
	return board_values[which];
}

/* 1 the profile has it, and marked; 0 not marked; -1 no such value. */
static int predict_assumed(const struct timing_profile *t, const char *key,
			   uint64_t *value)
{
	int i = timing_key(key);

	if (i < 0)
		return -1;
	*value = t->v[i];
	return t->source[i] && strstr(t->source[i], "assumed");
}

static bool stands_there(const char *key)
{
	int i;

	for (i = 0; i < PREDICT_KNOBS; i++)
		if (!strcmp(predict_knobs[i].key, key))
			return true;
	for (i = 0; i < STEADIES; i++)
		if (!strcmp(steady[i], key))
			return true;
	return false;
}

int predict_check(const struct timing_profile *t)
{
	uint64_t value;
	int i;

	for (i = 0; i < T_COUNT; i++) {
		if (predict_assumed(t, timing_name(i), &value) != 1 ||
		    stands_there(timing_name(i)))
			continue;
		fprintf(stderr, "faultline reproduce: profile " PROFILE " marks %s "
			"as assumed; tools/faultline/predict.def must say within "
			"which bounds\n", timing_name(i));
		return -EINVAL;
	}
	for (i = 0; i < PREDICT_KNOBS + STEADIES; i++) {
		const char *key = i < PREDICT_KNOBS ?
					  predict_knobs[i].key :
					  steady[i - PREDICT_KNOBS];

		if (board_key(key) >= 0 || predict_assumed(t, key, &value) == 1)
			continue;
		fprintf(stderr, "faultline reproduce: tools/faultline/predict.def "
			"has %s, which profile " PROFILE " does not mark as "
			"assumed\n", key);
		return -EINVAL;
	}
	return 0;
}

int predict_begin(struct predict_point *p)
{
	struct timing_profile t;
	char error[400];
	int i, err;

	if (timing_load(&t, PROFILE, error, sizeof(error)) < 0) {
		fprintf(stderr, "faultline reproduce: %s\n", error);
		return -EINVAL;
	}
	err = predict_check(&t);
	for (i = 0; !err && i < PREDICT_KNOBS; i++) {
		if (board_key(predict_knobs[i].key) >= 0)
			p->knob[i] = board_values[board_key(
				predict_knobs[i].key)];
		else
			predict_assumed(&t, predict_knobs[i].key, &p->knob[i]);
		if (p->knob[i] >= predict_knobs[i].low &&
		    p->knob[i] <= predict_knobs[i].high)
			continue;
		fprintf(stderr, "faultline reproduce: %s = %llu is not within its "
			"bounds in tools/faultline/predict.def\n",
			predict_knobs[i].key, (unsigned long long)p->knob[i]);
		err = -EINVAL;
	}
	for (i = 0; i < FITS; i++)
		p->with[i] = t.v[timing_key(predict_fits[i].key)];
	timing_free(&t);
	return err;
}

/* ---- a run ---- */

#define SETS (PREDICT_KNOBS + FITS)

struct settings {
	char text[SETS][64];
	const char *sets[SETS + 1];
	struct testbed_config cfg;
};

static void settings_of(const struct predict_point *p, struct settings *s)
{
	int i, n = 0;

	for (i = 0; i < PREDICT_KNOBS; i++)
		if (board_key(predict_knobs[i].key) < 0)
			snprintf(s->text[n++], 64, "%s=%llu",
				 predict_knobs[i].key,
				 (unsigned long long)p->knob[i]);
	for (i = 0; i < FITS; i++)
		snprintf(s->text[n++], 64, "%s=%llu", predict_fits[i].key,
			 (unsigned long long)p->with[i]);
	for (i = 0; i < n; i++)
		s->sets[i] = s->text[i];
	s->sets[n] = NULL;
	s->cfg = (struct testbed_config){
		.seed = 1, .profile = PROFILE, .profile_given = true,
		.sets = s->sets, .no_checks = true, .trace_records = 65536,
		.resolve = FL_RESOLVE_BLOCK,
	};
}

/* Boards a and b; the figures of FIT_*, printed in their order. */
static const char fit_text[] =
	"profile qfdb\n"
	"policy part resolve=page\n"
	"board a contexts=%u block=%u\n"
	"board b contexts=%u block=%u\n"
	"link a b\n"
	"process p on a\n"
	"process q on b\n"
	"buffer src in p 4M fill=random\n"
	"buffer big in q 4M warm\n"
	"buffer page in q 4K cold\n"
	"region src\n"
	"region big\n"
	"region page\n"
	"connect p q as c\n"
	"post fault: write c src -> page 4K\n"
	"wait fault by=polling\n"
	"expect status fault ok\n"
	"print time fault\n"
	"# the first one finds nothing in the TLB\n"
	"post small: write c src -> big 8\n"
	"wait small by=polling\n"
	"expect status small ok\n"
	"post small: write c src -> big 8\n"
	"wait small by=polling\n"
	"print arrival small\n"
	"post large: write c src -> big 4M\n"
	"wait large\n"
	"expect status large ok\n"
	"print rate large\n";

static int run_fit(const struct settings *set, const char *text, FILE *out)
{
	struct scenario *s = scenario_parse("predict", text, stderr);
	struct runner_report report;
	int err;

	if (!s)
		return 1;
	err = scenario_run(s, &set->cfg, out, false, &report);
	scenario_free(s);
	return err;
}

int predict_measure(const struct predict_point *p, uint64_t got[FITS])
{
	unsigned int contexts = (unsigned int)board_value(p, 0);
	unsigned int block = (unsigned int)board_value(p, 1);
	unsigned long long fault, small, large;
	char text[sizeof(fit_text) + 64], *said = NULL;
	struct settings set;
	size_t bytes = 0;
	FILE *out = open_memstream(&said, &bytes);
	int err = 1;

	if (!out) {
		fprintf(stderr, "faultline reproduce: no memory for what a run "
			"says\n");
		return 1;
	}
	snprintf(text, sizeof(text), fit_text, contexts, block, contexts,
		 block);
	settings_of(p, &set);
	err = run_fit(&set, text, out);
	fclose(out);
	if (!err && sscanf(said, "fault time_ns %llu small arrival_ns %llu large "
			   "rate_mbps %llu", &fault, &small, &large) != 3)
		err = 1;
	if (err)
		fprintf(stderr, "faultline reproduce: a run of the fits failed: "
			"%s\n", said);
	free(said);
	if (err)
		return 1;
	got[FIT_FAULT] = fault;
	got[FIT_SMALL] = small;
	got[FIT_LARGE] = large;
	return 0;
}

static uint64_t abs_difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool is_exact(const uint64_t got[FITS])
{
	int i;

	for (i = 0; i < FITS; i++)
		if (abs_difference(got[i], predict_fits[i].want) >
		    predict_fits[i].near)
			return false;
	return true;
}

/* The wanted change of a time goes to the value one to one. */
static bool predict_shift(uint64_t *with, uint64_t want, uint64_t got)
{
	if (got > want && got - want > *with)
		return false;
	*with = *with + want - got;
	return true;
}

/*
 * The rest of a byte's time but for the memory port's is constant: 1 / rate = rest +
 * 1 / port. False: the rest alone takes too long.
 */
static bool shift_rate(uint64_t *with, uint64_t want, uint64_t got)
{
	double port = 1.0 / (double)*with + 1.0 / (double)want -
		      1.0 / (double)got;

	if (port < 1e-7)
		return false;
	*with = (uint64_t)(1.0 / port + 0.5);
	return true;
}

bool predict_fit(struct predict_point *p, uint64_t got[FITS])
{
	int turn;

	for (turn = 0; turn < FIT_TURNS; turn++) {
		if (predict_measure(p, got))
			return false;
		if (is_exact(got))
			return true;
		/* What the wire's delay changes in the fault is seen next. */
		if (!predict_shift(&p->with[FIT_SMALL],
				   predict_fits[FIT_SMALL].want,
				   got[FIT_SMALL]) ||
		    !predict_shift(&p->with[FIT_FAULT],
				   predict_fits[FIT_FAULT].want,
				   got[FIT_FAULT]) ||
		    (abs_difference(got[FIT_LARGE],
				    predict_fits[FIT_LARGE].want) >
			     predict_fits[FIT_LARGE].near &&
		     !shift_rate(&p->with[FIT_LARGE],
				 predict_fits[FIT_LARGE].want,
				 got[FIT_LARGE])))
			return false;
	}
	return false;
}

/* ---- figures ---- */

enum { WARM_1M, BLOCK_1M, TRANSFER_1M, PIN_4M, BLOCK_4M, TRANSFER_4M, RUNS };

static const struct {
	uint64_t bytes;
	enum fl_system system;
	enum fl_resolve resolve;
	bool warm;
} runs[RUNS] = {
	[WARM_1M] = { 1 << 20, FL_SYSTEM_PART, FL_RESOLVE_BLOCK, true },
	[BLOCK_1M] = { 1 << 20, FL_SYSTEM_PART, FL_RESOLVE_BLOCK, false },
	[TRANSFER_1M] = { 1 << 20, FL_SYSTEM_PART, FL_RESOLVE_TRANSFER, false },
	[PIN_4M] = { 4 << 20, FL_SYSTEM_PIN, FL_RESOLVE_BLOCK, false },
	[BLOCK_4M] = { 4 << 20, FL_SYSTEM_PART, FL_RESOLVE_BLOCK, false },
	[TRANSFER_4M] = { 4 << 20, FL_SYSTEM_PART, FL_RESOLVE_TRANSFER, false },
};

/* Of each figure, the run that is divided by the other. */
static const int runs_of[FIGURES][2] = {
	[FIGURE_BLOCK] = { BLOCK_1M, WARM_1M },
	[FIGURE_TRANSFER] = { TRANSFER_1M, WARM_1M },
	[FIGURE_PIN_BLOCK] = { PIN_4M, BLOCK_4M },
	[FIGURE_PIN_TRANSFER] = { PIN_4M, TRANSFER_4M },
};

/* With set-up: from the first registration to the last deregistration. */
static int run_job(const struct predict_point *p, int run, double *ns)
{
	struct job_file f;
	struct job_result r;
	struct settings set;
	struct job j = { .file = &f, .warm = runs[run].warm };
	int err;

	settings_of(p, &set);
	job_file_zeros(&f, runs[run].bytes);
	j.cfg = set.cfg;
	j.cfg.system = runs[run].system;
	j.cfg.resolve = runs[run].resolve;
	j.contexts = (uint32_t)board_value(p, 0);
	j.block_bytes = (uint32_t)board_value(p, 1);
	err = job_run(&j, &r);
	view_free(&r.trace);
	if (err)
		fprintf(stderr, "faultline reproduce: a run failed: %s\n",
			r.problem[0] ? r.problem : "the data differs");
	*ns = (double)r.total_ns;
	return err;
}

int predict_figure(const struct predict_point *p, int figure, double *ratio)
{
	double a, b;
	int err = run_job(p, runs_of[figure][0], &a);

	if (!err)
		err = run_job(p, runs_of[figure][1], &b);
	*ratio = err ? 0 : a / b;
	return err;
}

int predict_all(const struct predict_point *p, double ratio[FIGURES])
{
	double ns[RUNS];
	int i, err = 0;

	for (i = 0; i < RUNS && !err; i++)
		err = run_job(p, i, &ns[i]);
	for (i = 0; i < FIGURES && !err; i++)
		ratio[i] = ns[runs_of[i][0]] / ns[runs_of[i][1]];
	return err;
}
