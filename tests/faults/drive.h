/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drive.h - one command with one fault of its environment: it is run in a folder of its
 * own, and what must hold afterwards is looked at (drive.c). What is run, and which
 * calls fail: jobs.c.
 */
#ifndef FL_DRIVE_H
#define FL_DRIVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/faults/faults.h"

#define DRIVE_ARGS 24

struct drive_job {
	const char *name;
	const char *argv[DRIVE_ARGS];	/* [0]: the program; "faultline": the command */
	const char *says;	/* part of its output when it succeeds */
	bool exact;		/* all of its output is the same each time */
	const char *product;	/* a file that it writes, the same each time; or NULL */
	int status;		/* how it ends without a fault */
	int never;		/* how it may not end with one, which is not 0; 0: anyhow */
	bool attaches;		/* to boards that run meanwhile */
	/* It is such boards: this one comes to them, several times, then a signal. */
	const char *visitor[3];
	const char *gone;	/* a file that it makes and takes away again; or NULL */
};

struct drive {
	const char *faultline;	/* absolute paths */
	const char *inject;
	char dir[256];		/* where everything happens */
	struct faults *shared;
	char *stdout_before;	/* of the run without a fault */
	char *product_before;
	bool verbose;
	pid_t beside;		/* a process that runs while others come; 0: none */
	char why[600];		/* what did not hold; "": all held */
	int status;		/* as waitpid() gives it */
};

/* How long a command may take until it counts as one that hangs. */
#ifndef DRIVE_LIMIT_MS
#define DRIVE_LIMIT_MS 120000
#endif

int drive_begin(struct drive *d);
void drive_end(struct drive *d);
/* Once without a fault, counted; false: that failed already. */
bool drive_count(struct drive *d, const struct drive_job *j);
/*
 * Once with the fault that d->shared tells of. What must hold: the command ends, and by
 * itself; with status 0 it has done and said all that it does without a fault, else it says
 * what it could not do; no process and no file in TMPDIR is left.
 */
bool drive_once(struct drive *d, const struct drive_job *j);
/* As above, of a command that has ended already. */
bool drive_judge(struct drive *d, const struct drive_job *j);
/* Forget the count: nothing fails, nothing is counted yet. */
void drive_clear(struct drive *d, enum faults_how how);

/* target: the command itself and not its group, whose number is not known before. */
#define DRIVE_ITSELF (-1)
/* A command with and without the injector; its process leads a group. */
pid_t drive_start(struct drive *d, const char *const *argv, bool inject,
		  const char *out, const char *err);
/* Until it has ended, and all that it left: false, and why, if not in time. */
bool drive_wait(struct drive *d, pid_t pid, int *status);
bool drive_bury(struct drive *d, pid_t group);
/* A file's text (malloc), "" if there is none. */
char *drive_text(const struct drive *d, const char *name);

#endif
