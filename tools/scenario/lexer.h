/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lexer.h - cuts one line of a scenario into tokens. A token is a word, a number (with
 * its unit; its meaning depends on where it stands), a string in double quotes,
 * or one of -> <- : , = == != < <= > >=. From # to the end is a comment.
 */
#ifndef FL_SCENARIO_LEXER_H
#define FL_SCENARIO_LEXER_H

#include <stdbool.h>

enum token_kind { TOK_END, TOK_WORD, TOK_NUMBER, TOK_STRING, TOK_SIGN };

struct token {
	enum token_kind kind;
	int column;		/* from 1 */
	bool tight;		/* no blank before it */
	char text[256];
};

#define TOKENS_MAX 64

struct line_tokens {
	struct token tok[TOKENS_MAX];	/* the last one is TOK_END */
	int count;
};

/* 0; or -1 with the column and a sentence. */
int line_lex(const char *line, struct line_tokens *out, int *column,
	     const char **problem);

#endif
