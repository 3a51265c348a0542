// SPDX-License-Identifier: BSD-2-Clause
/* faultline demo: the main job under each way to handle faults, in one table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "os/os_emu.h"
#include "tools/faultline/compare.h"
#include "tools/faultline/job.h"
#include "tools/faultline/options.h"
#include "tools/faultline/pictures.h"
#include "tools/scenario/words.h"

enum { OWN_OUT };

/* Traces of larger files are not kept: a megabyte sent is some megabytes of text. */
#define TRACE_BYTES_MAX (8ull << 20)

enum { RESIDENT, PAGE, BLOCK, TRANSFER, PIN, PREFAULT, STALL, VARIANTS };

static const struct variant {
	const char *name, *title;
	enum fl_system system;
	enum fl_resolve resolve;
	bool warm;
} variants[VARIANTS] = {
	[RESIDENT] = { "resident", "all resident", FL_SYSTEM_PART,
		       FL_RESOLVE_BLOCK, true },
	[PAGE] = { "page", "cold, touch a page", FL_SYSTEM_PART, FL_RESOLVE_PAGE,
		   false },
	[BLOCK] = { "block", "cold, touch ahead: block", FL_SYSTEM_PART,
		    FL_RESOLVE_BLOCK, false },
	[TRANSFER] = { "transfer", "cold, touch ahead: transfer",
		       FL_SYSTEM_PART, FL_RESOLVE_TRANSFER, false },
	[PIN] = { "pinned", "cold, pinned", FL_SYSTEM_PIN, FL_RESOLVE_BLOCK, false },
	[PREFAULT] = { "prefault", "cold, pre-faulted", FL_SYSTEM_PREFAULT,
		       FL_RESOLVE_BLOCK, false },
	[STALL] = { "stall", "cold, SMMU stall", FL_SYSTEM_STALL, FL_RESOLVE_BLOCK,
		    false },
};

static double time_ratio(const struct job_result *a, const struct job_result *b)
{
	return b->total_ns ? (double)a->total_ns / (double)b->total_ns : 0;
}

/* Every figure and every comparison below comes from the table. */
static void put_sentences(FILE *f, const struct job_result *r)
{
	const struct job_result *base = &r[RESIDENT], *page = &r[PAGE];
	int best = PAGE, i;

	fprintf(f,
		"\n1. Cold, with one page touched at a fault, the job takes %.2f "
		"times as long as resident: %llu fault%s for %llu page%s; %llu "
		"block%s, refused %llu time%s and sent again %llu time%s, "
		"which puts %lld byte%s more on the wire.\n",
		time_ratio(page, base), (unsigned long long)page->faults,
		word_plural(page->faults), (unsigned long long)page->pages_in,
		word_plural(page->pages_in), (unsigned long long)page->blocks,
		word_plural(page->blocks), (unsigned long long)page->refused,
		word_plural(page->refused), (unsigned long long)page->resent,
		word_plural(page->resent),
		(long long)(page->wire_bytes - base->wire_bytes),
		word_plural(page->wire_bytes - base->wire_bytes));
	fprintf(f,
		"2. Touching ahead by block needs %llu fault%s and takes %.2f "
		"times as long as that; by transfer %llu fault%s, and %.2f "
		"times.\n",
		(unsigned long long)r[BLOCK].faults,
		word_plural(r[BLOCK].faults), time_ratio(&r[BLOCK], page),
		(unsigned long long)r[TRANSFER].faults,
		word_plural(r[TRANSFER].faults),
		time_ratio(&r[TRANSFER], page));
	for (i = PAGE; i < VARIANTS; i++)
		if (r[i].total_ns < r[best].total_ns)
			best = i;
	fprintf(f,
		"3. Compared with touching ahead by transfer, pinning takes "
		"%.2f times, pre-faulting %.2f times and stalling in the SMMU "
		"%.2f times as long (faults: %llu, %llu and %llu); the "
		"quickest of the cold ones is \"%s\".\n",
		time_ratio(&r[PIN], &r[TRANSFER]),
		time_ratio(&r[PREFAULT], &r[TRANSFER]),
		time_ratio(&r[STALL], &r[TRANSFER]),
		(unsigned long long)r[PIN].faults,
		(unsigned long long)r[PREFAULT].faults,
		(unsigned long long)r[STALL].faults, variants[best].title);
}

static int run_variant(const struct options *o, const struct job_file *file,
		       int i, const char *dir, struct job_result *r)
{
	struct job j = { .file = file, .cfg = o->cfg, .warm = variants[i].warm };
	char path[600] = "";
	int err;

	j.cfg.system = variants[i].system;
	j.cfg.resolve = variants[i].resolve;
	if (file->bytes <= TRACE_BYTES_MAX) {
		snprintf(path, sizeof(path), "%s/%s.trace", dir,
			 variants[i].name);
		j.cfg.trace = fopen(path, "w");
		if (!j.cfg.trace) {
			fprintf(stderr, "faultline demo: cannot write %s: %s\n",
				path, strerror(errno));
			return 1;
		}
	}
	err = job_run(&j, r);
	if (j.cfg.trace && (ferror(j.cfg.trace) | fclose(j.cfg.trace))) {
		fprintf(stderr, "faultline demo: cannot write %s: %s\n", path,
			strerror(errno));
		err = 1;
	}
	if (err)
		fprintf(stderr, "faultline demo: '%s' failed: %s\n",
			variants[i].title,
			r->problem[0] ? r->problem : "the data differs");
	else if (r->complete)
		err = pictures_put(&r->trace, dir, variants[i].name,
				   r->faults != 0, NULL);
	return err;
}

/* The seven as rows of a comparison. */
static void demo_compare(struct compare *x, const struct options *o,
			 const struct job_file *file, const struct job_result *r)
{
	struct compare_row *row;
	int i;

	memset(x, 0, sizeof(*x));
	x->cfg = o->cfg;
	x->profile = o->cfg.profile ? o->cfg.profile : "ideal";
	x->seeds = 1;
	x->rows = VARIANTS;
	x->work.count = 1;
	snprintf(x->title, sizeof(x->title), "A file of %llu byte%s, by RDMA WRITE",
		 (unsigned long long)file->bytes, word_plural(file->bytes));
	snprintf(x->subtitle, sizeof(x->subtitle), "faultline demo: the same engine, "
		 "driver and library each time; profile %s, seed %llu, virtual time",
		 x->profile, (unsigned long long)x->cfg.seed);
	for (i = 0; i < VARIANTS; i++) {
		row = &x->row[i];
		row->name = variants[i].name;
		row->title = variants[i].title;
		row->profile = x->profile;
		row->r.asked_bytes = file->bytes;
		row->r.ops = r[i].requests;
		row->r.total_ns = r[i].total_ns;
		row->r.transfer_ns = r[i].transfer_ns;
		row->r.count = r[i].count;
	}
}

static void demo_text(FILE *f, const struct compare *x, const struct job_result *r)
{
	compare_table(f, x);
	put_sentences(f, r);
}

/* A table of the folder: 0, or 1 after a message. */
static int demo_put(const struct compare *x, const struct job_result *r,
		    const char *dir, const char *name)
{
	bool text = !strcmp(name, "table.txt"), bad;
	char path[600];
	int err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f && text)
		demo_text(f, x, r);
	else if (f)
		err = compare_svg(f, x);
	bad = !f || ferror(f);
	if (f)
		bad |= fclose(f) != 0;
	if (bad || err)
		fprintf(stderr, "faultline demo: cannot write %s: %s\n", path,
			strerror(bad ? errno : -err));
	return bad || err;
}

#define PATH_BYTES 4096

/* The file that the user names, or this program itself; self: as long as f. */
static int demo_open_file(struct job_file *f, const struct options *o,
			  char self[PATH_BYTES])
{
	int err;

	if (o->count)
		return job_file_open(f, o->args[0], "faultline demo");
	err = os_program(self, PATH_BYTES);
	if (!err)
		return job_file_open(f, self, "faultline demo");
	fprintf(stderr, "faultline demo: no FILE was given, and this system "
		"does not say where this program is: %s\n", strerror(-err));
	return err;
}

static int cmd_demo_run(const struct command *c, int argc, char **argv)
{
	struct job_result r[VARIANTS] = { 0 };
	struct job_file file;
	struct compare x;
	char self[PATH_BYTES];
	struct options o;
	const char *dir;
	int i, err = options_parse(c, argc, argv, &o);

	if (err)
		return err == 1 ? 0 : err;
	dir = o.own[OWN_OUT] ? o.own[OWN_OUT] : "build/demo";
	if (demo_open_file(&file, &o, self))
		return 1;
	if (!file.bytes) {
		printf("%s is empty: an RDMA WRITE moves at least 1 byte, so "
		"there is nothing to show\n",
		       file.path);
		return 0;
	}
	err = pictures_folder(dir);
	if (err) {
		fprintf(stderr, "faultline demo: cannot make the folder %s: "
		"%s\n",
			dir, strerror(-err));
		return 1;
	}
	printf("%s, %llu byte%s, %llu page%s; profile %s, seed %llu, virtual "
	"time\n\n",
	       o.count ? file.path : "this program itself",
	       (unsigned long long)file.bytes, word_plural(file.bytes),
	       (unsigned long long)file.pages, word_plural(file.pages),
	       o.cfg.profile ? o.cfg.profile : "ideal",
	       (unsigned long long)o.cfg.seed);
	fflush(stdout);
	for (i = 0; i < VARIANTS && !err; i++) {
		err = run_variant(&o, &file, i, dir, &r[i]);
		view_free(&r[i].trace);
	}
	if (err)
		return 1;
	demo_compare(&x, &o, &file, r);
	demo_text(stdout, &x, r);
	if (demo_put(&x, r, dir, "table.txt") || demo_put(&x, r, dir, "compare.svg"))
		return 1;
	printf("\n%s\n%s %s/\n", "All seven arrived equal by SHA-256.",
	       file.bytes <= TRACE_BYTES_MAX ?
		       "Table, traces and pictures are in" :
		       "Table and picture (traces of files above 8 MB are not kept) are in",
	       dir);
	return 0;
}

const struct command command_demo = {
	.name = "demo",
	.arguments = "[FILE]",
	.text = "send FILE under every way to handle faults, and compare in "
	"one table\n"
		"FILE: default is this program itself. Always in lockstep: "
		"the times are virtual.",
	.common = OPT_SEED | OPT_PROFILE | OPT_SET | OPT_ENGINE,
	.least = 0,
	.most = 1,
	.own = { [OWN_OUT] = { "--out", "DIR",
			       "folder for table, traces and pictures "
			       "(default build/demo)" } },
	.run = cmd_demo_run,
};
