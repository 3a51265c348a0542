/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step.h - a single source as lines of text, and what a stepping draws for them.
 * Only the numbers of a line change, so that its words and comments stay.
 */
#ifndef FL_STEP_H
#define FL_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINES_MAX 400
#define WORD_BYTES 400

struct line {
	char *text;		/* with its newline; ours */
};

struct file {
	struct line line[LINES_MAX];
	size_t lines;
};

struct draw {
	uint64_t state;
};

extern uint64_t step_seed;

/* End the program: "stepping: <text>". */
_Noreturn void step_bad(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/* Random numbers of one group of changes, from the seed. */
struct draw step_draw(const char *group);
/* From 0 to n - 1. */
unsigned int step_below(struct draw *d, unsigned int n);

/* Is the line MACRO(...)? Arguments count from 0. */
bool line_is(const struct line *l, const char *macro);
const char *line_arg(const struct line *l, int n, char buf[WORD_BYTES]);
bool line_has(const struct line *l, int n, const char *word);
long line_number(const struct line *l, int n);
/* Put a number in an argument's place; fmt takes one long. */
void line_set(struct line *l, int n, const char *fmt, long value);

void step_regs(struct file *f);
void step_entries(struct file *f);
/* The codes of entries.def, a part of step_entries(). */
void step_codes(struct file *f);
void step_wire(struct file *f);
void step_device(struct file *f);
void step_timing(struct file *f);
void step_profile(struct file *f);

#endif
