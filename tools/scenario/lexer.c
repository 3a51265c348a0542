// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/lexer.h"

#include <string.h>

static const char *const signs[] = { "->", "<-", "==", "!=", "<=", ">=",
				     "<",  ">",	 "=",  ":", "/",  ",",  NULL };

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Letters, digits, _ . - but not the minus of an arrow. */
static size_t word_length(const char *p)
{
	size_t n = 0;

	while (is_alpha(p[n]) || is_digit(p[n]) || p[n] == '.' ||
	       (p[n] == '-' && p[n + 1] != '>'))
		n++;
	return n;
}

/* 64K+1, 1.5us, 0..16K, 1%, 0x1F; never the minus of an arrow. */
static size_t number_length(const char *p)
{
	size_t n = 0;

	while (is_alpha(p[n]) || is_digit(p[n]) || p[n] == '.' || p[n] == '%' ||
	       ((p[n] == '+' || p[n] == '-') && is_digit(p[n + 1])))
		n++;
	return n;
}

static const char *string_token(const char *p, struct token *t, size_t *used)
{
	size_t n = strcspn(p + 1, "\"\n");

	if (p[1 + n] != '"')
		return "this string has no closing quote \"";
	if (n >= sizeof(t->text))
		return "this string is longer than 255 bytes";
	memcpy(t->text, p + 1, n);
	t->text[n] = 0;
	t->kind = TOK_STRING;
	*used = n + 2;
	return NULL;
}

static const char *one_token(const char *p, struct token *t, size_t *used)
{
	size_t n = 0;
	int i;

	if (*p == '"')
		return string_token(p, t, used);
	if (is_alpha(*p)) {
		t->kind = TOK_WORD;
		n = word_length(p);
	} else if (is_digit(*p)) {
		t->kind = TOK_NUMBER;
		n = number_length(p);
	} else {
		t->kind = TOK_SIGN;
		for (i = 0; signs[i] && !n; i++)
			if (!strncmp(p, signs[i], strlen(signs[i])))
				n = strlen(signs[i]);
	}
	if (!n)
		return "this character means nothing here; words are made of "
		"letters, digits, _ . and -";
	if (n >= sizeof(t->text))
		return "this word is longer than 255 bytes";
	memcpy(t->text, p, n);
	t->text[n] = 0;
	*used = n;
	return NULL;
}

int line_lex(const char *line, struct line_tokens *out, int *column,
	     const char **problem)
{
	const char *p = line;
	struct token *t;
	bool tight = false;
	size_t used;

	out->count = 0;
	for (;;) {
		while (*p == ' ' || *p == '\t' || *p == '\r') {
			p++;
			tight = false;
		}
		t = &out->tok[out->count];
		*column = t->column = (int)(p - line) + 1;
		t->tight = tight;
		t->kind = TOK_END;
		t->text[0] = 0;
		if (!*p || *p == '\n' || *p == '#')
			return 0;
		if (out->count == TOKENS_MAX - 1) {
			*problem = "this line has too many words";
			return -1;
		}
		*problem = one_token(p, t, &used);
		if (*problem)
			return -1;
		p += used;
		tight = true;
		out->count++;
	}
}
