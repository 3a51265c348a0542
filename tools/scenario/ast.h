/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ast.h - a scenario after reading: statements in order.
 *
 * The language has one statement a line (book/scenario.adoc). What each statement may
 * look like stands in one table, grammar.c; the parser, the messages and the list of the
 * language that the command prints all come from it. Everything that can be
 * known before running is checked while reading: words, units, names.
 */
#ifndef FL_SCENARIO_AST_H
#define FL_SCENARIO_AST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "faultline/system.h"

enum verb {
	V_PROFILE, V_SET, V_SYSTEM, V_POLICY, V_BOARD, V_LINK, V_PROCESS, V_BUFFER,
	V_REGION, V_CONNECT, V_INJECT, V_DROP, V_EVICT, V_FORGET, V_PREFETCH,
	V_TOUCH, V_PROTECT, V_UNMAP, V_REMAP, V_DEREGISTER, V_DMA, V_RESUME,
	V_COUNTER, V_AWAIT, V_POST, V_SEND, V_RECEIVE, V_ATOMIC, V_WAIT, V_SLEEP,
	V_STARVE, V_FAULTS, V_EXIT, V_NOTE, V_POKE, V_REPEAT, V_END,
	V_EXPECT_STATUS, V_EXPECT_DATA, V_EXPECT_COUNT, V_EXPECT_COUNTER,
	V_EXPECT_STAT, V_EXPECT_TIME, V_EXPECT_RESENDS, V_EXPECT_BYTES,
	V_EXPECT_IMM, V_EXPECT_NUMBER,
	V_EXPECT_RESIDENT, V_EXPECT_ABSENT,
	V_PRINT_TIME, V_PRINT_ARRIVAL, V_PRINT_RATE, V_PRINT_COUNT,
	V_PRINT_COUNTER, V_PRINT_STAT, V_PRINT_NOTICED,
};

enum name_kind {
	NAME_BOARD, NAME_PROCESS, NAME_BUFFER, NAME_CONNECTION, NAME_WORK,
	NAME_SYSTEM, NAME_COUNTER,
	NAME_KINDS
};

struct place {
	int line, column;
};

/* One word of a statement. Which members mean something, the grammar says. */
struct arg {
	bool set;
	struct place at;
	char *word;		/* as it stands; owned by the scenario */
	int name;		/* number of the thing that it names, or -1 */
	int choice;		/* place in a list of words, or a comparison */
	uint64_t number;	/* bytes, ns, ppm or a plain count */
	uint64_t end;		/* of a range; 0: up to the end */
};

#define ARGS_MAX	12
#define OPTIONS_MAX	12

struct option {
	const char *key;	/* of the grammar */
	struct arg arg;
};

struct statement {
	enum verb verb;
	struct place at;
	struct arg arg[ARGS_MAX];	/* one for each word of the grammar */
	int args;
	struct option option[OPTIONS_MAX];
	int options;
	int fails;		/* negative errno that it must end with, or 0 */
	int other;		/* repeat: its end; end: its repeat */
	char *text;		/* the line, for the transcript */
};

/* A system that the scenario has derived, and the row of the table that it is like. */
struct scenario_system {
	enum fl_system like;
	struct fl_system_row row;
};

#define SCENARIO_SYSTEMS 512

struct scenario {
	char *file;
	struct statement *st;
	int count;
	int names[NAME_KINDS];	/* how many things of each kind there are */
	struct scenario_system system[SCENARIO_SYSTEMS];	/* by name */
	char **words;		/* what the statements point to */
	size_t word_count;
};

/* Comparisons, as arg.choice of `op`. */
enum compare { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE };
extern const char *const compare_text[];
bool compare_holds(enum compare op, uint64_t got, uint64_t want);

/*
 * Read a scenario. Mistakes go to errors, one a line: FILE:LINE:COLUMN, what stands
 * there, what would be right; then NULL is returned. -errno in *error when
 * the file cannot be read.
 */
struct scenario *scenario_load(const char *path, FILE *errors);
struct scenario *scenario_parse(const char *file, const char *text,
				FILE *errors);
void scenario_free(struct scenario *s);

/* The option, or NULL when the line does not have it. */
const struct arg *statement_option(const struct statement *st,
				   const char *key);

/* The same for one that is a number, or otherwise. */
uint64_t statement_number(const struct statement *st, const char *key,
			  uint64_t otherwise);

/* Every statement with its words, as text (faultline run --language). */
void scenario_language(FILE *f);

#endif
