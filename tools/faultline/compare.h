/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compare.h - one work under many systems: the rows, how they are measured (compare.c),
 * and what comes of them: columns (compare_table.c), sentences (compare_words.c), a
 * picture (compare_picture.c), a folder of all that (compare_folder.c).
 */
#ifndef FL_COMPARE_H
#define FL_COMPARE_H

#include "tools/faultline/options.h"
#include "tools/work/work.h"

#define COMPARE_SEEDS	64u

#define COMPARE_ROWS	32u

struct compare_row {
	const char *name;		/* of files */
	const char *title;		/* in the table; NULL: name */
	const char *profile;		/* that it is measured with */
	enum fl_system system;
	enum fl_resolve resolve;
	uint32_t resolve_number;
	/* The run whose time is the median of all seeds', and the extremes. */
	struct work_result r;
	uint64_t least_ns, most_ns;
	/* Of all seeds the worst. */
	struct work_result hazard[WORK_HAZARDS];
};

struct compare {
	struct work work;
	struct testbed_config cfg;
	const char *profile;		/* "home": each row's own */
	uint64_t seeds;			/* from cfg.seed on */
	bool hazards;
	struct compare_row row[COMPARE_ROWS];
	unsigned int rows;
	char title[WORK_TITLE], subtitle[200];	/* of the picture */
};

/* All rows of the table of systems, or those of list ("part,pin"). 0 or 2. */
int compare_choose(const struct command *c, struct compare *x, const char *list);
/* Which row is broken; 0, or 1 after a message. */
int compare_measure(const struct command *c, struct compare *x);

/* One run of a row; trace: text of every event, or NULL. */
void compare_run(const struct compare *x, const struct compare_row *row,
		 enum work_hazard h, uint64_t seed, uint64_t plain_ns, FILE *trace,
		 struct work_result *r);

/* Does it have figures? Else end says why not. */
bool compare_has_figures(const struct compare_row *row);
/* "ok", "x3.2", "no start", "error remote-access", "WRONG DATA", "HANG" */
#define COMPARE_CELL	40
void compare_cell(const struct compare_row *row, enum work_hazard h,
		  char cell[COMPARE_CELL]);
/* How many times as long as without the hazard; 0: no such figure. */
double compare_slower(const struct compare_row *row, enum work_hazard h);

/* Payload beyond what was asked for, in percent of that. */
double compare_waste(const struct work_result *r);

/* What was measured, and how; then all of it in columns. */
void compare_print(FILE *f, const struct compare *x);
/* The columns alone. */
void compare_table(FILE *f, const struct compare *x);
void compare_sentences(FILE *f, const struct compare *x);
void compare_csv(FILE *f, const struct compare *x);
/* All of these into a folder that is there, and traces; 0, or 1 after a message. */
int compare_folder(const struct command *c, const struct compare *x,
		   const char *dir);
/* 0 or negative errno. */
int compare_svg(FILE *f, const struct compare *x);

#endif
