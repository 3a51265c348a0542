// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a scenario by the rules of grammar.c. Every mistake is reported with its
 * place, what stands there and what would be right; reading goes on with the next line.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/scenario/grammar.h"
#include "tools/scenario/parser.h"
#include "tools/scenario/words.h"

const char *const name_kind_text[NAME_KINDS] = {
	"board", "process", "buffer", "connection", "work", "system",
	"counter"
};

/* Keep a copy that lives as long as the scenario. */
char *parser_keep(struct parser *p, const char *text)
{
	struct scenario *s = p->s;
	char **more = realloc(s->words, (s->word_count + 1) * sizeof(*more));
	char *copy = more ? strdup(text) : NULL;

	if (more)
		s->words = more;
	if (!copy) {
		p->no_memory = true;
		return NULL;
	}
	s->words[s->word_count++] = copy;
	return copy;
}

static const char *token_shown(const struct token *t)
{
	return t->kind == TOK_END ? "the end of the line" : t->text;
}

/* FILE:LINE:COLUMN: 'what stands there' is not RIGHT */
bool parser_wrong(struct parser *p, const struct token *t, const char *right)
{
	p->mistakes++;
	if (t->kind == TOK_END)
		fprintf(p->errors, "%s:%d:%d: the line ends here; wanted: %s\n",
			p->s->file, p->line, t->column, right);
	else
		fprintf(p->errors, "%s:%d:%d: '%s' stands here; wanted: %s\n",
			p->s->file, p->line, t->column, t->text, right);
	return false;
}

static bool wrong_near(struct parser *p, const struct token *t,
		       const char *right, const char *near)
{
	char text[PARSER_RIGHT + 160];

	if (!near)
		return parser_wrong(p, t, right);
	snprintf(text, sizeof(text), "%s (did you mean '%s'?)", right, near);
	return parser_wrong(p, t, text);
}

bool parser_unknown(struct parser *p, const struct token *t, const char *right,
		    const char *const *list)
{
	return wrong_near(p, t, right,
			  t->kind == TOK_END ? NULL :
					       word_nearest(t->text, list));
}

/* Number of a name, or -1 after a message. */
int parser_name(struct parser *p, const struct token *t, enum name_kind kind)
{
	const char *list[PARSER_NAMES + 1];
	char right[160];
	int i;

	for (i = 0; i < p->names[kind]; i++) {
		if (t->kind != TOK_END && !strcmp(p->name[kind][i].word, t->text))
			return i;
		list[i] = p->name[kind][i].word;
	}
	list[i] = NULL;
	snprintf(right, sizeof(right), "a %s%s that is declared above%s",
		 name_kind_text[kind], kind == NAME_WORK ? " request" : "",
		 i ? "" : " (there is none yet)");
	parser_unknown(p, t, right, list);
	return -1;
}

/* A name that is declared here. Work requests may be posted again. */
int parser_declare(struct parser *p, const struct token *t, enum name_kind kind)
{
	char right[200];
	int i;

	if (t->kind != TOK_WORD) {
		parser_wrong(p, t, "a new name (a letter first)");
		return -1;
	}
	for (i = 0; i < p->names[kind]; i++) {
		if (strcmp(p->name[kind][i].word, t->text))
			continue;
		if (kind == NAME_WORK)
			return i;
		snprintf(right, sizeof(right),
			 "another name; this %s is declared in line %d",
			 name_kind_text[kind], p->name[kind][i].line);
		parser_wrong(p, t, right);
		return -1;
	}
	if (i == PARSER_NAMES) {
		parser_wrong(p, t, "fewer names (at most 512 of a kind)");
		return -1;
	}
	p->name[kind][i].word = parser_keep(p, t->text);
	p->name[kind][i].line = p->line;
	if (!p->name[kind][i].word)
		return -1;
	p->names[kind]++;
	return i;
}

static bool is_option(const struct parser *p, int at)
{
	const struct token *t = &p->toks.tok[at];

	return t->kind == TOK_WORD && t[1].kind == TOK_SIGN &&
	       !strcmp(t[1].text, "=") && t[1].tight && t[2].tight;
}

/*
 * An optional word of the rule is there when the token could start it: decided by
 * the kind of token alone, so that a wrong value is a message about the value.
 */
static bool is_there(const struct parser *p, const char *type)
{
	const struct token *t = &p->toks.tok[p->at];
	const char *slash = strchr(type, '/');

	if (t->kind == TOK_END)
		return false;
	if (slash)
		return !strncmp(t->text, type, (size_t)(slash - type)) &&
		       !t->text[slash - type];
	if (!strcmp(type, "{not}"))
		return !strcmp(t->text, "not");
	if (!strcmp(type, "packet"))
		return t->kind == TOK_WORD && strcmp(t->text, "fails");
	if (!strcmp(type, "range"))
		return t->kind == TOK_NUMBER && strstr(t->text, "..");
	return t->kind == TOK_NUMBER;
}

static bool parse_words(struct parser *p, const struct rule *r,
			struct statement *st)
{
	const char *next = r->words;
	char type[RULE_WORD_MAX], *slash;
	size_t n;

	while (rule_next(&next, type)) {
		n = strlen(type);
		if (type[n - 1] == '?') {
			type[n - 1] = 0;
			if (!is_there(p, type)) {
				assert(st->args < ARGS_MAX);
				st->args++;
				continue;
			}
		}
		slash = strchr(type, '/');
		if (slash)
			p->at++;	/* is_there() saw the word */
		assert(st->args < ARGS_MAX);
		if (!parser_value(p, slash ? slash + 1 : type, st,
				  &st->arg[st->args++]))
			return false;
	}
	return true;
}

/* The type of an option of the rule; "" for a flag, NULL when there is none. */
static const char *option_type(const struct rule *r, const char *key,
			       char store[RULE_WORD_MAX])
{
	const char *next = r->options;
	char word[RULE_WORD_MAX], *eq;
	size_t n;

	while (rule_next(&next, word)) {
		eq = strchr(word, '=');
		n = eq ? (size_t)(eq - word) : strlen(word);
		if (strncmp(word, key, n) || key[n])
			continue;
		strcpy(store, eq ? eq + 1 : "");
		return store;
	}
	return NULL;
}

/* What may follow, for the message and the nearest word. */
static bool wrong_option(struct parser *p, const struct rule *r,
			 const struct token *t)
{
	char words[16][RULE_WORD_MAX], right[PARSER_RIGHT] = "";
	const char *list[18], *next = r->options;
	int n = 0;

	while (n < 16 && rule_next(&next, words[n])) {
		words[n][strcspn(words[n], "=")] = 0;
		list[n] = words[n];
		n++;
	}
	list[n] = "fails";
	list[n + 1] = NULL;
	rule_usage(r, right, sizeof(right));
	return parser_unknown(p, t, right, list);
}

static bool parse_option(struct parser *p, const struct rule *r,
			 struct statement *st)
{
	const struct token *t = &p->toks.tok[p->at];
	char store[RULE_WORD_MAX];
	const char *type = NULL;
	struct option *o;

	if (t->kind == TOK_WORD)
		type = option_type(r, t->text, store);
	if (!type)
		return wrong_option(p, r, t);
	if (statement_option(st, t->text))
		return parser_wrong(p, t, "each option once");
	if (*type && !is_option(p, p->at)) {
		snprintf(p->text, sizeof(p->text), "%s=VALUE, without blanks",
			 t->text);
		return parser_wrong(p, t, p->text);
	}
	assert(st->options < OPTIONS_MAX);
	o = &st->option[st->options++];
	o->key = parser_keep(p, t->text);
	o->arg.set = true;
	o->arg.at.line = p->line;
	o->arg.at.column = t->column;
	p->at++;
	if (!*type)
		return o->key != NULL;
	p->at++;	/* = */
	return o->key && parser_value(p, type, st, &o->arg);
}

static bool parse_fails(struct parser *p, struct statement *st)
{
	const struct token *t = &p->toks.tok[++p->at];

	st->fails = t->kind == TOK_WORD ? word_errno(t->text) : 0;
	if (!st->fails)
		return parser_unknown(p, t, "the name of an error, like EINVAL",
				      word_errno_list);
	p->at++;
	return true;
}

/* A request is named before it is said what it does: the statement of this word, or NULL. */
static const struct rule *rule_with(const char *word)
{
	size_t n = strlen(word);
	const struct rule *r;
	const char *at;

	for (r = rules; r->first; r++) {
		if (strncmp(r->words, "new:work", 8))
			continue;
		for (at = strstr(r->words, word); at; at = strstr(at + 1, word))
			if (at > r->words && strchr("{|", at[-1]) && at[n] &&
			    strchr("|}", at[n]))
				return r;
	}
	return NULL;
}

static void not_a_statement(struct parser *p, const struct token *t, const char *const *list)
{
	const struct rule *r = t->kind == TOK_WORD ? rule_with(t->text) : NULL;
	char right[PARSER_RIGHT];

	if (!r) {
		parser_unknown(p, t, "a statement", list);
		return;
	}
	snprintf(right, sizeof(right), "a statement, as in '%s NAME: %s ...' (%s)",
		 r->first, t->text, r->text);
	parser_wrong(p, t, right);
}

static const struct rule *find_rule(struct parser *p)
{
	const struct token *t = p->toks.tok;
	const char *list[64];
	const struct rule *r;
	bool first = false;
	int n = 0;

	for (r = rules; r->first; r++) {
		if (t[0].kind == TOK_WORD && !strcmp(r->first, t[0].text)) {
			if (!r->second || (t[1].kind == TOK_WORD &&
					   !strcmp(r->second, t[1].text)))
				return r;
			if (!first)
				n = 0;
			first = true;
			list[n++] = r->second;
		} else if (!first && (!n || strcmp(list[n - 1], r->first))) {
			list[n++] = r->first;
		}
	}
	list[n] = NULL;
	if (first)
		parser_unknown(p, &t[1], !strcmp(t[0].text, "expect") ?
			"status, data, count, counter, stat, time, resends, "
			"bytes, imm, number, resident or absent" :
			"time, rate, count, counter or stat", list);
	else
		not_a_statement(p, &t[0], list);
	return NULL;
}

/* repeat and end find each other. */
static bool match_blocks(struct parser *p, struct statement *st, int number)
{
	if (st->verb == V_REPEAT) {
		if (p->depth == PARSER_DEPTH)
			return parser_wrong(p, p->toks.tok,
					    "at most 8 repeats inside each "
					    "other");
		p->open[p->depth++] = number;
	} else if (st->verb == V_END) {
		if (!p->depth)
			return parser_wrong(p, p->toks.tok,
					    "a repeat above it");
		st->other = p->open[--p->depth];
		p->s->st[st->other].other = number;
	}
	return true;
}

static void parser_parse_line(struct parser *p, const char *line)
{
	struct scenario *s = p->s;
	const struct rule *r;
	struct statement *more, st = { .other = -1 };
	const char *problem;
	int column;

	if (line_lex(line, &p->toks, &column, &problem)) {
		fprintf(p->errors, "%s:%d:%d: %s\n", s->file, p->line, column,
			problem);
		p->mistakes++;
		return;
	}
	if (!p->toks.count)
		return;
	r = find_rule(p);
	if (!r)
		return;
	st.verb = r->verb;
	st.at.line = p->line;
	st.at.column = p->toks.tok[0].column;
	p->at = r->second ? 2 : 1;
	if (!parse_words(p, r, &st))
		return;
	while (p->toks.tok[p->at].kind != TOK_END) {
		if (!strcmp(token_shown(&p->toks.tok[p->at]), "fails") &&
		    !r->second) {
			if (!parse_fails(p, &st))
				return;
		} else if (!parse_option(p, r, &st)) {
			return;
		}
	}
	if (!parser_sense(p, &st))
		return;
	if (!match_blocks(p, &st, s->count))
		return;
	st.text = parser_keep(p, line + st.at.column - 1);
	more = realloc(s->st, (size_t)(s->count + 1) * sizeof(*more));
	if (more)
		s->st = more;
	if (!more || !st.text) {
		p->no_memory = true;
		return;
	}
	s->st[s->count++] = st;
}

static void parse_text(struct parser *p, const char *text)
{
	char line[1024];
	const char *end;
	size_t n;

	for (p->line = 1; *text && p->mistakes < 20 && !p->no_memory;
	     p->line++) {
		end = strchr(text, '\n');
		n = end ? (size_t)(end - text) : strlen(text);
		if (n >= sizeof(line)) {
			fprintf(p->errors,
				"%s:%d:1: this line is longer than 1023 "
				"bytes\n",
				p->s->file, p->line);
			p->mistakes++;
			return;
		}
		memcpy(line, text, n);
		line[n] = 0;
		while (n && (line[n - 1] == ' ' || line[n - 1] == '\r'))
			line[--n] = 0;
		parser_parse_line(p, line);
		text = end ? end + 1 : text + strlen(text);
	}
	if (p->depth && !p->mistakes) {
		fprintf(p->errors, "%s:%d:1: this repeat has no end\n",
			p->s->file, p->s->st[p->open[p->depth - 1]].at.line);
		p->mistakes++;
	}
}

struct scenario *scenario_parse(const char *file, const char *text,
				FILE *errors)
{
	struct scenario *s = calloc(1, sizeof(*s));
	struct parser *p = calloc(1, sizeof(*p));
	bool bad;

	if (s)
		s->file = strdup(file);
	if (!s || !p || !s->file) {
		fprintf(errors, "%s: no memory\n", file);
		scenario_free(s);
		free(p);
		return NULL;
	}
	p->s = s;
	p->errors = errors;
	parse_text(p, text);
	if (!p->mistakes && !p->no_memory)
		parser_missing(p);
	memcpy(s->names, p->names, sizeof(s->names));
	if (p->no_memory)
		fprintf(errors, "%s: no memory\n", file);
	bad = p->mistakes || p->no_memory;
	free(p);
	if (!bad)
		return s;
	scenario_free(s);
	return NULL;
}

/* A longer text is no scenario: a device, or a pipe that never ends. */
#define TEXT_MAX	(16u << 20)

/* NULL and errno. EILSEQ: it is no text. */
static char *parser_read_all(FILE *f)
{
	size_t n = 0, room = 4096, got;
	char *text = malloc(room), *more;
	int error = 0;

	while (text && !error && (got = fread(text + n, 1, room - n - 1, f)) > 0) {
		if (memchr(text + n, 0, got))
			error = EILSEQ;
		n += got;
		if (n + 1 < room)
			continue;
		if (n > TEXT_MAX)
			error = EFBIG;
		more = realloc(text, room *= 2);
		if (!more)
			free(text);
		text = more;
	}
	if (ferror(f))
		error = errno;
	if (text)
		text[n] = 0;
	if (error) {
		free(text);
		text = NULL;
		errno = error;
	}
	return text;
}

struct scenario *scenario_load(const char *path, FILE *errors)
{
	FILE *f = fopen(path, "r");
	struct scenario *s = NULL;
	char *text = NULL;

	errno = f ? 0 : errno;
	if (f)
		text = parser_read_all(f);
	if (text)
		s = scenario_parse(path, text, errors);
	else
		fprintf(errors, "%s: cannot read this scenario: %s\n", path,
			strerror(errno ? errno : ENOMEM));
	if (f)
		fclose(f);
	free(text);
	return s;
}

void scenario_free(struct scenario *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->word_count; i++)
		free(s->words[i]);
	free(s->words);
	free(s->st);
	free(s->file);
	free(s);
}

uint64_t statement_number(const struct statement *st, const char *key,
			  uint64_t otherwise)
{
	const struct arg *a = statement_option(st, key);

	return a ? a->number : otherwise;
}

const struct arg *statement_option(const struct statement *st, const char *key)
{
	int i;

	for (i = 0; i < st->options; i++)
		if (!strcmp(st->option[i].key, key))
			return &st->option[i].arg;
	return NULL;
}
