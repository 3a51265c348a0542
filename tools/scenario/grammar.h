/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grammar.h - the table of statements (private to tools/scenario).
 *
 * A rule's words, separated by blanks:
 *	'on		this very word or sign
 *	{a|b}		one of these words
 *	new:board	a name that is declared here
 *	board		a name of that kind, declared before
 *	count size time share range op string any	a value
 *	fraction	1/N, or a share, of 2^40
 *	event packet status content word works key rights quirks	see parser.c
 *	system		a row of the table of systems, or one that is declared before
 *	on/board	the word `on`, then a board
 * A ? at the end: may be left out. Options have the same types, as key=type, and a key
 * alone is a flag; their order is free.
 */
#ifndef FL_SCENARIO_GRAMMAR_H
#define FL_SCENARIO_GRAMMAR_H

#include "tools/scenario/ast.h"

struct rule {
	enum verb verb;
	const char *first;	/* word of the statement */
	const char *second;	/* of expect and print; else NULL */
	const char *words;
	const char *options;
	const char *text;	/* one sentence */
};

extern const struct rule rules[];	/* ends with first NULL */

#define RULE_WORD_MAX	700

/* Cut the next blank-separated piece of a rule; false at the end. */
bool rule_next(const char **p, char word[RULE_WORD_MAX]);
/* The rule as a user writes it: board NAME [frames=COUNT] ... */
void rule_usage(const struct rule *r, char *text, size_t bytes);

#endif
