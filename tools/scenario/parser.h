/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parser.h - state while a scenario is read (private to tools/scenario): parser.c
 * reads lines by the grammar, value.c reads one value, sense.c, derive.c and missing.c
 * judge.
 */
#ifndef FL_SCENARIO_PARSER_H
#define FL_SCENARIO_PARSER_H

#include "tools/scenario/grammar.h"
#include "tools/scenario/lexer.h"

#define PARSER_NAMES 512	/* of one kind */
#define PARSER_DEPTH 8		/* of repeat */
/*
 * Room for what would be right: the usage of a rule, or a list of names, which in words
 * (", ", " or ") is longer than in the rule ("|").
 */
#define PARSER_RIGHT (3 * RULE_WORD_MAX)

struct parser {
	struct scenario *s;
	FILE *errors;
	int mistakes;
	bool no_memory;
	int line, at;		/* line, and token in it */
	struct line_tokens toks;
	struct {
		char *word;
		int line;
	} name[NAME_KINDS][PARSER_NAMES];
	int names[NAME_KINDS];
	int open[PARSER_DEPTH], depth;
	char text[PARSER_RIGHT];	/* room to build a message */
};

extern const char *const name_kind_text[NAME_KINDS];

/* Each returns false (so that a caller may return it) after the message. */
bool parser_wrong(struct parser *p, const struct token *t, const char *right);
bool parser_unknown(struct parser *p, const struct token *t, const char *right,
		    const char *const *list);

char *parser_keep(struct parser *p, const char *text);
int parser_name(struct parser *p, const struct token *t, enum name_kind kind);
int parser_declare(struct parser *p, const struct token *t,
		   enum name_kind kind);

/* Read one value of the type (grammar.h); moves p->at. */
bool parser_value(struct parser *p, const char *type, struct statement *st,
		  struct arg *a);

/* sense.c: what a line says can be meant. False after a message. */
bool parser_sense(struct parser *p, const struct statement *st);
/* derive.c: the system that the statement declares. False after a message. */
bool parser_derive(struct parser *p, const struct statement *st);
/* derive.c: the row of a `system` that a line names. */
const struct fl_system_row *parser_row(const struct parser *p, const struct arg *a);
/* missing.c: what work requests need and no line gives. */
void parser_missing(struct parser *p);

#endif
