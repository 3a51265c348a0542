/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_program.h - a plan from a C file: compiled with tools/contest/main.c, and run as
 * a process of its own that is asked at each fault. Compiler and program are confined as
 * far as the system can (os.h): the program computes, and has no files and no network.
 * When it dies, or does not answer, the faults after that get their block.
 */
#ifndef FL_PLAN_PROGRAM_H
#define FL_PLAN_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

#include "faultline/plan.h"
#include "tools/confine/confine.h"
#include "tools/harness/child.h"
#include "tools/harness/folder.h"

struct plan_program {
	struct fl_plan_own own;		/* for testbed_config.plan */
	const char *source;
	char tree[3000];		/* where kernel-ref/include is */
	struct folder folder;		/* with the program */
	char program[FOLDER_PATH + 8];
	int held;			/* CONFINED_*; -1: it never started */
	/* One run. */
	struct child child;	/* questions and answers go over its line */
	uint64_t asked;
	char problem[200];		/* "": none */
};

/*
 * Compile it; tree: the folder with kernel-ref/include and tools/contest. 0, or a
 * status for exit after a message: 1 it does not compile (the compiler's words have
 * been passed on), 2 something is not there.
 */
int plan_program_build(struct plan_program *p, const char *source,
		       const char *tree);
/* A new process, which remembers nothing; 0 or negative errno. */
int plan_program_start(struct plan_program *p);
/* It ends. What it did wrong is in problem. */
void plan_program_stop(struct plan_program *p);
/* Nothing is left of it; not after a build that failed. */
void plan_program_free(struct plan_program *p);

#endif
