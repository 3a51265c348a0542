/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * subject.h - what a judge and its subject say to each other.
 *
 * The subject is the program that holds the student's file; it is not trusted.
 * The judge, which knows what is right, is another process and holds none of the
 * student's code. The judge asks over the descriptor SUBJECT_FD, at most
 * SUBJECT_ASKED messages before it waits; the subject answers each with one message,
 * in order. So a subject can gain nothing by what it prints, how it ends, or what it
 * finds in its own memory: only answers count.
 *
 * A lab has one subject (labs/LAB/subject.c), which defines subject_answer() and
 * subject_trace(); subject.c is the loop around them.
 */
#ifndef FL_GRADE_SUBJECT_H
#define FL_GRADE_SUBJECT_H

#include <stdint.h>

#define SUBJECT_FD	3
#define SUBJECT_ARGS	24
#define SUBJECT_ASKED	32	/* fit in any socket */
#define SUBJECT_MAGIC	UINT64_C(0x31656e696c746c66)
#define SUBJECT_TRACE_MAX (1u << 20)	/* bytes of a trace as text */

/* op; a lab's own begin at SUBJECT_FIRST. */
enum {
	SUBJECT_HELLO = 1,	/* the subject's first message, unasked */
	SUBJECT_TRACE,		/* arg[0] of the answer: so many bytes of text follow */
	SUBJECT_FIRST = 16,
};

enum subject_status {
	SUBJECT_DONE = 1,
	SUBJECT_RUNAWAY,	/* it would have gone on for ever: counted, not timed */
	SUBJECT_BAD,		/* no such question */
};

struct subject_msg {
	uint32_t op;
	uint32_t status;	/* of an answer; enum subject_status */
	uint64_t arg[SUBJECT_ARGS];
};

struct trace;

/* Turn the question into the answer, in place. */
void subject_answer(struct subject_msg *m);
/* What was recorded, or NULL. */
struct trace *subject_trace(void);
/* Answer SUBJECT_RUNAWAY to what is being asked, and end. */
_Noreturn void subject_runaway(void);

#endif
