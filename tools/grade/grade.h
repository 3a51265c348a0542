/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grade.h - the grader: runs the tests of a lab's rubric against a subject, keeps
 * one record of it, and tells that record in several forms.
 *
 * The record is a text file, one thing a line, in this order:
 *
 *	#faultline-record 1
 *	lab walk
 *	name NAME			whose work it is
 *	seed N
 *	confined limits calls files	what the subject was kept from (os.h)
 *	compiled limits calls files	what its compiler was kept from; once there was
 *					no such line
 *	build ok			or: build failed
 *	test NAME				then, indented by a tab, each once:
 *		group HEADING
 *		says SENTENCE
 *		points GOT MAX
 *		verdict pass		enum verdict, by its name
 *		hidden 0		or 1
 *		ms N			how long it took; not signed, not compared
 *		| a line of the transcript; any number of these
 *	score GOT MAX
 *	signature HEX			HMAC-SHA-256 of all lines above but "ms"; or none
 *
 * Files: main.c (the command), rubric.c (reads rubric and lab.conf), judge.c (the
 * test's side), talk.c (the subject's process), run.c (one process a test),
 * record.c (writes, reads, signs), walls.c (for compilers), export.c (text, KTAP, Gradescope, CSV).
 */
#ifndef FL_GRADE_H
#define FL_GRADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/confine/confine.h"
#include "tools/grade/judge.h"

enum verdict {
	V_PASS,
	V_WRONG,	/* an expectation did not hold */
	V_CRASHED,	/* the subject ended before it had answered */
	V_HUNG,		/* it went on too long */
	V_NO_START,	/* it ended before the first question */
	V_NOT_BUILT,
	V_PARENT,	/* not run: the test it stands on failed */
	V_ABSENT,	/* hidden, and not here */
	V_GRADER,	/* the judge itself failed: nobody's points */
	V_COUNT
};
extern const char *const verdict_names[V_COUNT];

#define GRADE_TESTS 96
#define GRADE_KEY 32	/* bytes */

struct grade_test {
	char name[48], parent[48], group[80], says[120];
	unsigned int points, got;
	bool hidden;
	enum verdict verdict;
	uint64_t ms;
	char *text;	/* the transcript; NULL: none */
};

/* lab.conf, as far as the grader needs it. */
struct grade_limits {
	unsigned int cpu_s, wall_s, memory_mb;
	unsigned int file_mb;	/* all files: memory that is shared is one */
};

/* A name of a folder, with each of its letters as \x01. */
#define GRADE_NAME 1024

struct grade {
	char lab[32], name[GRADE_NAME];
	uint64_t seed;
	unsigned int confined;	/* CONFINED_*, after the first test */
	unsigned int compiled;	/* the same of its compiler */
	bool compiled_said;
	bool built;
	struct grade_test test[GRADE_TESTS];
	unsigned int tests;
	/* of a run, not of the record */
	struct grade_limits limits;
	const char *subject, *out;
	bool alone;		/* the subject is linked statically */
	bool verbose;
	/* of a test */
	bool careful;		/* ask each question at once */
	bool late;		/* it did not, and may have failed at a later step than it seems */
};

/* rubric.c: 0, or a message on standard error and -EINVAL. */
int rubric_read(struct grade *g, const char *path);
int conf_read(struct grade *g, const char *path);

/* run.c: the test of this name, or all whose name holds part; and their parents. */
void grade_run(struct grade *g, const char *part);

/* judge.c */
const struct judge_test *judge_find(const char *name);
/* In the test's own process: run it, return its verdict. *text: the transcript. */
enum verdict judge_run(const struct judge_test *t, struct grade *g, char **text);
_Noreturn void judge_end(enum verdict v);

/* talk.c: the subject as a process. */
struct talk {
	int fd, pid, said_fd;
	unsigned int confined;
	uint64_t wall_ns;	/* of all answers of a test together */
	uint64_t waited_ns, look_ns;	/* so far; when it is looked at again */
	unsigned int file_mb;	/* in all files that it has open */
	char said[1024];	/* what it printed: a sanitizer's report, or the end */
	int broken;		/* errno of the judge's own end; the subject is not at fault */
	char why[160];		/* after a failure: what happened, in words */
};
/* V_PASS, V_NO_START, or V_GRADER. */
enum verdict talk_start(struct talk *t, const struct grade *g);
/* n questions, SUBJECT_ASKED at most: V_PASS, V_CRASHED, V_HUNG or V_GRADER. */
enum verdict talk_ask(struct talk *t, struct subject_msg *m, unsigned int n);
/* The subject's trace as text, at most room - 1 bytes and a 0; false: none. */
bool talk_trace(struct talk *t, char *text, size_t room);
void talk_end(struct talk *t);

/* record.c */
unsigned int grade_score(const struct grade *g, unsigned int *max);
/* key: GRADE_KEY bytes, or NULL. 0 or negative errno. */
int record_write(const struct grade *g, const char *path, const uint8_t *key);
/* *signed_right: there is a signature, and it is of this key. */
int record_read(struct grade *g, const char *path, const uint8_t *key,
		bool *signed_right);
void hmac(const uint8_t key[GRADE_KEY], const void *data, size_t n, char hex[65]);

/* walls.c: the command "confine", and what it can do here (CONFINED_*, or negative errno). */
int grade_confine(int argc, char **argv);
int grade_walls(void);

/* export.c: form is text, ktap, gradescope or csv; -EINVAL: none of these. */
int grade_export(const struct grade *g, const char *form, FILE *f);

#endif
