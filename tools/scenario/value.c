// SPDX-License-Identifier: BSD-2-Clause
/* One value of a statement, by its type in the grammar. */
#include <assert.h>
#include <string.h>

#include "faultline.h"
#include "faultline/system.h"
#include "nic/wire.h"
#include "tools/scenario/grammar.h"
#include "tools/scenario/parser.h"
#include "tools/scenario/words.h"
#include "trace/trace.h"

const char *const compare_text[] = { "==", "!=", "<", "<=", ">", ">=", NULL };

bool compare_holds(enum compare op, uint64_t got, uint64_t want)
{
	switch (op) {
	case CMP_EQ: return got == want;
	case CMP_NE: return got != want;
	case CMP_LT: return got < want;
	case CMP_LE: return got <= want;
	case CMP_GT: return got > want;
	case CMP_GE: return got >= want;
	}
	return false;
}

/* Place of a word in a list, or -1. */
static int find_word(const char *word, const char *const *list)
{
	int i;

	for (i = 0; list[i]; i++)
		if (!strcmp(list[i], word))
			return i;
	return -1;
}

#define CHOICES	64	/* words in one list */

static bool value_choice(struct parser *p, const struct token *t,
			 const char *type, struct arg *a)
{
	char words[CHOICES][40], right[PARSER_RIGHT];
	const char *list[CHOICES + 1];
	size_t n = 0, len;

	for (type++; *type && *type != '}' && n < CHOICES; n++) {
		len = strcspn(type, "|}");
		assert(len < sizeof(words[0]));
		memcpy(words[n], type, len);
		words[n][len] = 0;
		list[n] = words[n];
		type += len;
		if (*type == '|')
			type++;
	}
	assert(n < CHOICES);
	list[n] = NULL;
	a->choice = t->kind == TOK_END ? -1 : find_word(t->text, list);
	if (a->choice >= 0)
		return true;
	right[0] = 0;
	for (n = 0; list[n]; n++) {
		if (n)
			strcat(right, list[n + 1] ? ", " : " or ");
		strcat(right, list[n]);
	}
	return parser_unknown(p, t, right, list);
}

static bool value_number(struct parser *p, const struct token *t,
			 const char *type, struct arg *a)
{
	const char *right = NULL;

	if (!strcmp(type, "count"))
		right = word_count(t->text, &a->number);
	else if (!strcmp(type, "size"))
		right = word_size(t->text, &a->number);
	else if (!strcmp(type, "time"))
		right = word_time(t->text, &a->number);
	else if (!strcmp(type, "share"))
		right = word_share(t->text, &a->number);
	else if (!strcmp(type, "range"))
		right = word_range(t->text, &a->number, &a->end);
	return right ? parser_wrong(p, t, right) : true;
}

static bool value_event(struct parser *p, const struct token *t, struct arg *a)
{
	const char *list[EV_COUNT + 1];
	int i;

	for (i = 0; i < EV_COUNT; i++)
		list[i] = trace_events[i].name;
	list[i] = NULL;
	a->choice = find_word(t->text, list);
	return a->choice >= 0 ? true :
		parser_unknown(p, t, "a trace event (book/trace.adoc)", list);
}

/* The kinds of packet that cards send to each other. */
#define OF_CARDS_BLK(x) x,
#define OF_CARDS_ANS(x) x,
#define OF_CARDS_NVH(x) x,
#define OF_CARDS_NVA(x) x,
#define OF_CARDS_BTH(x)

static bool value_packet(struct parser *p, const struct token *t, struct arg *a)
{
#define WOPC(name, value, header, text) OF_CARDS_##header(#name)
#define WSTD(name, ...) #name,
	static const char *const names[] = {
#include "faultline/wire.def"
		NULL
	};
#define WOPC(name, value, header, text) OF_CARDS_##header(value)
#define WSTD(name, value, ...) value,
	static const uint8_t codes[] = {
#include "faultline/wire.def"
	};
	int i = find_word(t->text, names);

	if (i < 0)
		return parser_unknown(p, t, "a kind of packet, like READY",
				      names);
	a->choice = codes[i];
	return true;
}

static bool value_status(struct parser *p, const struct token *t, struct arg *a)
{
	static const char *const reasons[] = { "remote-key", "remote-range",
					       "remote-rights", NULL };
	static const char *const none[] = { NULL };

	a->number = (uint64_t)word_errno(t->text);
	a->choice = word_status(t->text);
	if (a->number || a->choice >= 0)
		return true;
	if (find_word(t->text, reasons) >= 0)
		return parser_unknown(p, t, "remote-access: a peer is not told "
			"what was wrong (its board counts it: 'expect stat BOARD "
			"refused_key', refused_range, refused_rights)", none);
	return parser_unknown(p, t,
		"a status like ok or remote-access, or an error like EINVAL",
		t->text[0] == 'E' ? word_errno_list : word_status_list);
}

/* A buffer, or zero, random, pattern: choice 0 to 2, and 3 for a buffer. */
static bool value_content(struct parser *p, const struct token *t,
			  struct arg *a)
{
	static const char *const fills[] = { "zero", "random", "pattern",
					     NULL };
	const char *list[PARSER_NAMES + 4];
	int i;

	a->choice = find_word(t->text, fills);
	if (a->choice >= 0)
		return true;
	a->choice = 3;
	for (i = 0; i < p->names[NAME_BUFFER]; i++) {
		list[i] = p->name[NAME_BUFFER][i].word;
		if (t->kind != TOK_END && !strcmp(list[i], t->text)) {
			a->name = i;
			return true;
		}
	}
	memcpy(&list[i], fills, sizeof(fills));
	return parser_unknown(p, t, "a buffer that is declared above, zero, "
			      "random or pattern", list);
}

/* Words joined by commas, and the bit of each. */
struct value_flag {
	const char *word;
	uint64_t bit;
};

static bool value_flags(struct parser *p, struct arg *a,
			const struct value_flag *flag, const char *right)
{
	const char *list[8];
	const struct token *t;
	int i;

	for (i = 0; flag[i].word; i++)
		list[i] = flag[i].word;
	list[i] = NULL;
	for (;;) {
		t = &p->toks.tok[p->at];
		i = find_word(t->text, list);
		if (i < 0)
			return parser_unknown(p, t, right, list);
		a->number |= flag[i].bit;
		p->at++;
		if (strcmp(p->toks.tok[p->at].text, ","))
			return true;
		p->at++;
	}
}

static bool value_rights(struct parser *p, struct arg *a)
{
	static const struct value_flag rights[] = {
		{ "none", 0 }, { "local-write", FL_LOCAL_WRITE },
		{ "remote-write", FL_REMOTE_WRITE },
		{ "remote-read", FL_REMOTE_READ },
		{ "remote-atomic", FL_REMOTE_ATOMIC }, { NULL, 0 },
	};

	return value_flags(p, a, rights, "none, local-write, remote-write, "
			   "remote-read or remote-atomic (joined by commas)");
}

static bool value_quirks(struct parser *p, struct arg *a)
{
	static const struct value_flag quirks[] = {
		{ "damming", FL_DAMMING }, { "cut", FL_CUT },
		{ "code25", FL_CODE25 }, { NULL, 0 },
	};

	return value_flags(p, a, quirks, "damming, cut or code25 (joined by "
			   "commas)");
}

/* What stands there without a blank in it, whatever signs there are. */
static struct token value_whole(struct parser *p)
{
	const struct token *t = &p->toks.tok[p->at++];
	struct token whole = *t;

	while (t->kind != TOK_END && t[1].kind != TOK_END && t[1].tight) {
		t = &p->toks.tok[p->at++];
		if (strlen(whole.text) + strlen(t->text) < sizeof(whole.text))
			strcat(whole.text, t->text);
	}
	return whole;
}

static bool value_fraction(struct parser *p, struct arg *a)
{
	struct token whole = value_whole(p);
	const char *right = word_fraction(whole.text, &a->number);

	return right ? parser_wrong(p, &whole, right) : true;
}

/* resolve=block, resolve=around:4; choice: the plan, number: its number */
static bool value_plan(struct parser *p, struct arg *a)
{
	struct token whole = value_whole(p);
	char room[WORD_ROOM];
	const char *right;
	uint32_t number = 0;

	right = word_resolve(whole.text, &a->choice, &number, room);
	a->number = number;
	return right ? parser_wrong(p, &whole, right) : true;
}

/* all, or one work request after the other. */
static bool value_works(struct parser *p, struct statement *st, struct arg *a)
{
	const struct token *t = &p->toks.tok[p->at];

	if (!strcmp(t->text, "all") && t->kind == TOK_WORD) {
		a->choice = 1;
		p->at++;
		return true;
	}
	for (;;) {
		a->set = true;
		a->at.column = t->column;
		a->name = parser_name(p, t, NAME_WORK);
		if (a->name < 0)
			return false;
		t = &p->toks.tok[++p->at];
		if (t->kind != TOK_WORD || !strcmp(t->text, "fails") ||
		    !strcmp(t[1].text, "="))
			return true;
		if (st->args == ARGS_MAX)
			return parser_wrong(p, t, "at most 12 of them in a "
			"line");
		a = &st->arg[st->args++];
	}
}

/* choice: a row of the table; else name: a system that is declared above. */
static bool value_system(struct parser *p, const struct token *t, struct arg *a)
{
	static const char *const rows[] = { FL_SYSTEM_NAMES, NULL };
	const char *list[FL_SYSTEMS + PARSER_NAMES + 1];
	char right[PARSER_RIGHT] = "";
	int i, n = p->names[NAME_SYSTEM];

	a->choice = t->kind == TOK_END ? -1 : find_word(t->text, rows);
	if (a->choice >= 0)
		return true;
	for (i = 0; i < n; i++) {
		list[i] = p->name[NAME_SYSTEM][i].word;
		if (t->kind != TOK_END && !strcmp(list[i], t->text)) {
			a->name = i;
			return true;
		}
	}
	memcpy(&list[n], rows, sizeof(rows));
	for (i = 0; rows[i]; i++) {
		strcat(right, i ? ", " : "");
		strcat(right, rows[i]);
	}
	strcat(right, " or a system that is declared above");
	return parser_unknown(p, t, right, list);
}

static bool value_name(struct parser *p, const char *type,
		       const struct token *t, struct arg *a, bool *known)
{
	bool fresh = !strncmp(type, "new:", 4);
	int kind;

	if (fresh)
		type += 4;
	for (kind = 0; kind < NAME_KINDS; kind++)
		if (!strcmp(type, name_kind_text[kind]))
			break;
	*known = kind < NAME_KINDS;
	if (!*known)
		return false;
	a->name = fresh ? parser_declare(p, t, kind) : parser_name(p, t, kind);
	return a->name >= 0;
}

/* Types that are read from one token. */
static bool value_one(struct parser *p, const char *type,
		      const struct token *t, struct arg *a)
{
	bool known, ok;

	if (*type == '\'')
		return !strcmp(t->text, type + 1) && t->kind != TOK_STRING ?
			true : parser_wrong(p, t, type + 1);
	if (*type == '{')
		return value_choice(p, t, type, a);
	if (!strcmp(type, "system"))
		return value_system(p, t, a);
	ok = value_name(p, type, t, a, &known);
	if (known)
		return ok;
	if (!strcmp(type, "op")) {
		a->choice = find_word(t->text, compare_text);
		return a->choice >= 0 ? true :
			parser_wrong(p, t, "==, !=, <, <=, > or >=");
	}
	if (!strcmp(type, "event"))
		return value_event(p, t, a);
	if (!strcmp(type, "packet"))
		return value_packet(p, t, a);
	if (!strcmp(type, "status"))
		return value_status(p, t, a);
	if (!strcmp(type, "content"))
		return value_content(p, t, a);
	if (!strcmp(type, "word"))
		return t->kind == TOK_WORD ? true : parser_wrong(p, t, "a word"
		);
	if (!strcmp(type, "any"))
		return t->kind != TOK_END && t->kind != TOK_SIGN ? true :
			parser_wrong(p, t, "a value");
	if (!strcmp(type, "string"))
		return t->kind == TOK_STRING ? true :
			parser_wrong(p, t, "a path in double quotes");
	if (!strcmp(type, "key") && t->kind == TOK_WORD) {
		a->name = parser_name(p, t, NAME_BUFFER);
		return a->name >= 0;
	}
	return value_number(p, t, strcmp(type, "key") ? type : "count", a);
}

bool parser_value(struct parser *p, const char *type, struct statement *st,
		  struct arg *a)
{
	const struct token *t = &p->toks.tok[p->at];

	a->set = true;
	a->name = -1;
	a->at.line = p->line;
	a->at.column = t->column;
	a->word = parser_keep(p, t->text);
	if (!a->word)
		return false;
	if (!strcmp(type, "works"))
		return value_works(p, st, a);
	if (!strcmp(type, "rights"))
		return value_rights(p, a);
	if (!strcmp(type, "quirks"))
		return value_quirks(p, a);
	if (!strcmp(type, "fraction"))
		return value_fraction(p, a);
	if (!strcmp(type, "plan"))
		return value_plan(p, a);
	if (!value_one(p, type, t, a))
		return false;
	p->at++;
	return true;
}
