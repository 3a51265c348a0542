// SPDX-License-Identifier: BSD-2-Clause
/* reproduce.c - the published figures, each measured on the model when it is asked for. */
#include "tools/faultline/reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/faultline/predict.h"
#include "tools/scenario/runner.h"

/* Of storage, so that a page from there costs 60 us (published.def, NPR). */
#define NPR_MAJOR_NS	37000u

enum measure { MEASURE_FIT, MEASURE_RATIO, MEASURE_HOPS, MEASURE_HOP, MEASURE_STALL,
	       MEASURE_STALL_FEWER, MEASURE_CACHE, MEASURE_CACHE_PAGE, MEASURE_NPR,
	       MEASURE_NPF, MEASURE_NPF_SINGLY, MEASURE_NPF_RATE,
	       MEASURE_STREAM_DROP, MEASURE_STREAM_MINOR, MEASURE_STREAM_MAJOR,
	       MEASURE_STREAM_TIMES, MEASURE_COLD_DROP, MEASURE_COLD_BACKUP,
	       MEASURE_COLD_PIN, MEASURE_NETVM_WRITE, MEASURE_NETVM_PINNED,
	       MEASURE_NETVM_RATE, MEASURE_NETVM_NOTICE, MEASURE_NETVM_OPS,
	       MEASURE_NETVM_OPS_ASLEEP, MEASURE_NETVM_HITS, MEASURES };

#define EXPERIMENT(id, name, text) [EXPERIMENT_##id] = name,
const char *const reproduce_names[EXPERIMENTS] = {
#include "tools/faultline/published.def"
};
#define EXPERIMENT(id, name, text) [EXPERIMENT_##id] = text,
const char *const reproduce_texts[EXPERIMENTS] = {
#include "tools/faultline/published.def"
};
#define FIGURE(experiment, measure, of, mark, unit, published, within, title, source)	\
	{ EXPERIMENT_##experiment, MEASURE_##measure, of, MARK_##mark, unit,		\
	  published, within, title, source },
const struct reproduce_figure reproduce_figures[] = {
#include "tools/faultline/published.def"
};
const int reproduce_count = sizeof(reproduce_figures) /
			    sizeof(reproduce_figures[0]);

/* Several figures come from the same runs. */
static int measure_fit(int which, double *model)
{
	static uint64_t got[FITS];
	static bool there;
	struct predict_point p;

	if (!there && (predict_begin(&p) || predict_measure(&p, got)))
		return 1;
	there = true;
	*model = (double)got[which];
	return 0;
}

static int measure_ratio(int which, double *model)
{
	static double ratio[FIGURES];
	static bool there;
	struct predict_point p;

	if (!there && (predict_begin(&p) || predict_all(&p, ratio)))
		return 1;
	there = true;
	*model = ratio[which];
	return 0;
}

int reproduce_print(const char *text, const char *key, double *model)
{
	struct testbed_config cfg = { .seed = 1, .no_checks = true,
				      .trace_records = 65536 };
	struct scenario *s = scenario_parse("reproduce", text, stderr);
	struct runner_report report;
	char *said = NULL, *at;
	size_t bytes = 0;
	FILE *out;
	int err = 1;

	out = s ? open_memstream(&said, &bytes) : NULL;
	if (!out)
		fprintf(stderr, "faultline reproduce: no memory for a run\n");
	if (out) {
		err = scenario_run(s, &cfg, out, false, &report);
		fclose(out);
		at = strstr(said, key);
		if (err || !at)
			fprintf(stderr, "faultline reproduce: a run failed: "
				"%s\n", said);
		err = err || !at;
		for (*model = 0; at; at = strstr(at, key)) {
			at += strlen(key);
			*model += strtod(at, NULL);
		}
	}
	free(said);
	scenario_free(s);
	return err;
}

/* A chain of boards; the second message finds its pages in the TLB. */
static int measure_hops(int hops, double *model)
{
	char text[1200];
	int i, n;

	n = snprintf(text, sizeof(text), "profile qfdb\nboard b0\n");
	for (i = 1; i <= hops; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "board b%d\nlink b%d b%d\n", i, i - 1, i);
	snprintf(text + n, sizeof(text) - (size_t)n,
		 "process p on b0\nprocess q on b%d\n"
		 "buffer src in p 4K fill=random\nbuffer dst in q 4K warm\n"
		 "region src\nregion dst\nconnect p q as c\n"
		 "post first: write c src -> dst 8\nwait first by=polling\n"
		 "post small: write c src -> dst 8\nwait small by=polling\n"
		 "expect status small ok\nprint arrival small\n", hops);
	return reproduce_print(text, "small arrival_ns", model);
}

static int measure_hop(int hops, double *model)
{
	double one, more;

	if (measure_hops(1, &one) || measure_hops(1 + hops, &more))
		return 1;
	*model = (more - one) / hops;
	return 0;
}

/* The longer message is the one that has more pages mapped ahead. */
static int measure_stall(int pages, double *model)
{
	char text[800];
	int megabytes = pages > 1 ? 10 : 1;
	char plan[20] = "page";
	double src, dst;

	/* On either side of the block. */
	if (pages > 1)
		snprintf(plan, sizeof(plan), "around:%d", pages / 2);
	snprintf(text, sizeof(text),
		 "profile qfdb\npolicy stall resolve=%s\n"
		 "board a\nboard b\nlink a b\nprocess p on a\nprocess q on b\n"
		 "buffer src in p %dM fill=random evicted\n"
		 "buffer dst in q %dM cold\nregion src\nregion dst\n"
		 "connect p q as c\npost w: write c src -> dst\nwait w\n"
		 "expect status w ok\nexpect data dst = src\n"
		 "print counter p faults\nprint counter q faults\n",
		 plan, megabytes, megabytes);
	if (reproduce_print(text, "p faults", &src) ||
	    reproduce_print(text, "q faults", &dst))
		return 1;
	*model = src + dst;
	return 0;
}

/* Time of a WRITE of a page, whose destination is there; or comes as zeros; or from swap. */
static int measure_npr_page(const char *system, const char *before, double *model)
{
	char text[800];

	snprintf(text, sizeof(text),
		 "profile ideal\nset mm.major = %u\npolicy %s\n"
		 "board a\nboard b\nlink a b\nprocess p on a\nprocess q on b\n"
		 "buffer src in p 4K fill=random\nbuffer dst in q 4K warm\n"
		 "region src\nregion dst\nconnect p q as c\n"
		 "post first: write c src -> dst\nwait first by=polling\n"
		 "post again: write c src -> dst\nwait again by=polling\n"
		 "%s\npost w: write c src -> dst\nwait w by=polling\n"
		 "expect status w ok\nexpect data dst = src\nprint time w\n",
		 NPR_MAJOR_NS, system, before);
	return reproduce_print(text, "w time_ns", model);
}

/* What system npr adds to the WRITE, by what has become of the destination. */
static int measure_npr(int which, double *model)
{
	static const char *const before[] = { "", "forget dst", "evict dst" };
	double warm, base, time;

	if (measure_npr_page("npr", "", &warm) ||
	    measure_npr_page("part", "", &base) ||
	    measure_npr_page("npr", before[which], &time))
		return 1;
	*model = time - (which ? warm : base);
	return 0;
}

static int measure_stall_fewer(int pages, double *model)
{
	double one, ahead;

	if (measure_stall(1, &one) || measure_stall(pages, &ahead))
		return 1;
	*model = ahead * 10 <= one;
	return 0;
}

int reproduce_measure(const struct reproduce_figure *f, double *model)
{
	static int (*const measure[MEASURES])(int of, double *model) = {
		[MEASURE_FIT] = measure_fit, [MEASURE_RATIO] = measure_ratio,
		[MEASURE_HOPS] = measure_hops, [MEASURE_HOP] = measure_hop,
		[MEASURE_STALL] = measure_stall,
		[MEASURE_STALL_FEWER] = measure_stall_fewer,
		[MEASURE_CACHE] = reproduce_cache,
		[MEASURE_CACHE_PAGE] = reproduce_cache_page,
		[MEASURE_NPR] = measure_npr, [MEASURE_NPF] = reproduce_npf,
		[MEASURE_NPF_SINGLY] = reproduce_npf_singly,
		[MEASURE_NPF_RATE] = reproduce_npf_rate,
		[MEASURE_STREAM_DROP] = reproduce_stream_drop,
		[MEASURE_STREAM_MINOR] = reproduce_stream_minor,
		[MEASURE_STREAM_MAJOR] = reproduce_stream_major,
		[MEASURE_STREAM_TIMES] = reproduce_stream_times,
		[MEASURE_COLD_DROP] = reproduce_cold_drop,
		[MEASURE_COLD_BACKUP] = reproduce_cold_backup,
		[MEASURE_COLD_PIN] = reproduce_cold_pin,
		[MEASURE_NETVM_WRITE] = reproduce_netvm_write,
		[MEASURE_NETVM_PINNED] = reproduce_netvm_pinned,
		[MEASURE_NETVM_RATE] = reproduce_netvm_rate,
		[MEASURE_NETVM_NOTICE] = reproduce_netvm_notice,
		[MEASURE_NETVM_OPS] = reproduce_netvm_ops,
		[MEASURE_NETVM_OPS_ASLEEP] = reproduce_netvm_ops_asleep,
		[MEASURE_NETVM_HITS] = reproduce_netvm_hits,
	};

	return measure[f->measure](f->of, model);
}

bool reproduce_broken(const struct reproduce_figure *f, double model)
{
	double off = model - f->published;

	if (f->mark == MARK_P)
		return false;
	return (off < 0 ? -off : off) > f->published * f->within / 1000;
}
