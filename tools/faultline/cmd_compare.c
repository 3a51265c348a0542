// SPDX-License-Identifier: BSD-2-Clause
/* faultline compare: one work under every system. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/timing.h"
#include "tools/faultline/compare.h"
#include "tools/faultline/pictures.h"

enum { OWN_SYSTEMS, OWN_PROFILE, OWN_HAZARDS, OWN_SEEDS, OWN_CSV, OWN_SVG, OWN_OUT };

static int compare_work(const struct command *c, const struct options *o,
			struct compare *x)
{
	bool named = o->count && !strchr(o->args[0], '=');
	char room[WORK_ROOM];
	const char *right;
	int i;

	right = work_choose(&x->work, named ? o->args[0] : NULL, room);
	if (right)
		return options_wrong(c, "work", o->args[0], right);
	for (i = named; i < o->count; i++) {
		right = work_set(&x->work, o->args[i], room);
		if (right)
			return options_wrong(c, "key", o->args[i], right);
	}
	right = work_check(&x->work, room);
	if (right)
		return options_wrong(c, "work", work_name(x->work.kind), right);
	work_title(&x->work, x->title);
	snprintf(x->subtitle, sizeof(x->subtitle), "faultline compare: the same "
		 "engine, driver and library under each system; profile %s, seed "
		 "%llu, virtual time",
		 strcmp(x->profile, "home") ? x->profile : "of each system's home",
		 (unsigned long long)x->cfg.seed);
	return 0;
}

static int compare_profile(const struct command *c, const char *profile)
{
	struct timing_profile p;
	char error[400];

	if (!strcmp(profile, "home"))
		return 0;
	if (timing_load(&p, profile, error, sizeof(error)) >= 0) {
		timing_free(&p);
		return 0;
	}
	fprintf(stderr, "faultline %s: --profile: %s\n"
		"or home: each system with the profile of its row\n",
		c->name, error);
	return 2;
}

static int compare_options(const struct command *c, const struct options *o,
			   struct compare *x)
{
	const char *profile = o->own[OWN_PROFILE];
	int err;

	memset(x, 0, sizeof(*x));
	x->cfg = o->cfg;
	x->seeds = 1;
	x->hazards = o->own[OWN_HAZARDS];
	x->profile = profile ? profile : "ideal";
	err = compare_profile(c, x->profile);
	if (!err)
		err = compare_work(c, o, x);
	if (!err)
		err = options_number(o, c, OWN_SEEDS, 1, COMPARE_SEEDS, &x->seeds);
	return err ? err : compare_choose(c, x, o->own[OWN_SYSTEMS]);
}

/* Made before anything is measured, so that nobody waits in vain. */
struct compare_files {
	FILE *csv, *svg;
	const char *dir;
};

static int file_open(const struct command *c, const char *path, FILE **f)
{
	*f = path ? fopen(path, "w") : NULL;
	if (!path || *f)
		return 0;
	fprintf(stderr, "faultline %s: cannot write %s: %s; wanted: a file in a "
		"folder that is there\n", c->name, path, strerror(errno));
	return 2;
}

static int file_close(const struct command *c, const char *path, FILE *f)
{
	bool bad;

	if (!f)
		return 0;
	bad = ferror(f);
	bad |= fclose(f) != 0;
	if (bad)
		fprintf(stderr, "faultline %s: cannot write %s: %s\n", c->name,
			path, strerror(errno));
	return bad;
}

static int files_open(const struct command *c, const struct options *o,
		      struct compare_files *f)
{
	int err = file_open(c, o->own[OWN_CSV], &f->csv);

	if (!err)
		err = file_open(c, o->own[OWN_SVG], &f->svg);
	f->dir = o->own[OWN_OUT];
	if (err || !f->dir)
		return err;
	err = pictures_folder(f->dir);
	if (!err)
		return 0;
	fprintf(stderr, "faultline %s: cannot make the folder %s: %s\n", c->name,
		f->dir, strerror(-err));
	return 2;
}

static int files_close(const struct command *c, const struct options *o,
		       struct compare_files *f)
{
	return file_close(c, o->own[OWN_CSV], f->csv) |
	       file_close(c, o->own[OWN_SVG], f->svg);
}

static int compare_all(const struct command *c, const struct options *o,
		       struct compare *x)
{
	struct compare_files f = { NULL, NULL, NULL };
	int bad = files_open(c, o, &f);

	if (bad) {
		files_close(c, o, &f);
		return bad;
	}
	bad = compare_measure(c, x);
	compare_print(stdout, x);
	compare_sentences(stdout, x);
	if (f.csv)
		compare_csv(f.csv, x);
	if (f.svg && compare_svg(f.svg, x) == -ENOMEM) {
		fprintf(stderr, "faultline %s: no memory for the picture\n", c->name);
		bad = 1;
	}
	bad |= files_close(c, o, &f);
	if (f.dir)
		bad |= compare_folder(c, x, f.dir);
	return bad;
}

static int cmd_compare_run(const struct command *c, int argc, char **argv)
{
	struct compare *x = malloc(sizeof(*x));
	struct options o;
	int err;

	if (!x) {
		fprintf(stderr, "faultline compare: no memory\n");
		return 1;
	}
	err = options_parse(c, argc, argv, &o);
	if (!err)
		err = compare_options(c, &o, x);
	else if (err == 1)
		err = -1;
	if (!err)
		err = compare_all(c, &o, x);
	free(x);
	return err < 0 ? 0 : err;
}

const struct command command_compare = {
	.name = "compare",
	.arguments = "[WORK] [KEY=VALUE...]",
	.text = "one workload under every system, side by side\n"
		"WORK: write (if none is given), read, pingpong, stream, and the patterns "
		"forward, backward,\nstride, column, random and log. Keys: bytes=1M "
		"of a request, count=1 requests,\ndepth=64 of them under way, cold=100% "
		"of the pages, side=destination (source, both);\npingpong has bytes=64 "
		"count=64 and no depth=, patterns have depth=4 and no bytes= or\ncount=; "
		"stream, for systems of datagrams, has count=1000 packets and depth=64 receives. "
		"Always in lockstep, with all checks: the times are virtual.",
	.common = OPT_SEED | OPT_RESOLVE | OPT_SET | OPT_ENGINE | OPT_CACHE |
		  OPT_HOOK,
	.least = 0,
	.most = 16,
	.own = {
		[OWN_SYSTEMS] = { "--systems", "LIST",
				  "of the rows of faultline systems, as part,pin "
				  "(default: all that can)" },
		[OWN_PROFILE] = { "--profile", "NAME|FILE|home",
				  "timing profile of all (default ideal), or home: "
				  "each row's own" },
		[OWN_HAZARDS] = { "--hazards", NULL,
				  "what becomes of each when something gets in the "
				  "way" },
		[OWN_SEEDS] = { "--seeds", "N",
				"measure with so many seeds, from --seed on; shown is "
				"the median" },
		[OWN_SVG] = { "--svg", "FILE", "the table as a picture, for a slide" },
		[OWN_CSV] = { "--csv", "FILE", "the table once more, for a spreadsheet" },
		[OWN_OUT] = { "--out", "DIR", "folder for table, picture, traces and "
			      "their pictures" },
	},
	.run = cmd_compare_run,
};
