// SPDX-License-Identifier: BSD-2-Clause
/*
 * A system that a scenario derives from another one: system NEW like=SYSTEM key=value. The
 * keys are the columns of system.def; what a row must keep to says system_rules.h, and this
 * file only finds the words for it.
 */
#include <string.h>

#include "faultline/system_rows.h"
#include "tools/scenario/parser.h"

_Static_assert(sizeof(struct fl_system_row) == FL_COLUMNS,
	       "a column is one byte of a row");

static const char *const keys[FL_COLUMNS] = {
	[FL_COLUMN_TABLES] = "tables", [FL_COLUMN_BEFORE] = "before",
	[FL_COLUMN_TRANSPORT] = "transport", [FL_COLUMN_IR] = "ir",
	[FL_COLUMN_IW] = "iw", [FL_COLUMN_RR] = "rr", [FL_COLUMN_RW] = "rw",
	[FL_COLUMN_TELLS] = "tells",
};

/* Their values in words, a list for each column. */
static const char *const words[FL_COLUMNS] = {
	[FL_COLUMN_TABLES] = FL_TABLES_WORDS,
	[FL_COLUMN_BEFORE] = FL_BEFORE_WORDS,
	[FL_COLUMN_TRANSPORT] = FL_TRANSPORT_WORDS,
	[FL_COLUMN_IR] = FL_VERDICT_WORDS, [FL_COLUMN_IW] = FL_VERDICT_WORDS,
	[FL_COLUMN_RR] = FL_VERDICT_WORDS, [FL_COLUMN_RW] = FL_VERDICT_WORDS,
	[FL_COLUMN_TELLS] = FL_TELLS_WORDS,
};

const struct fl_system_row *parser_row(const struct parser *p, const struct arg *a)
{
	return a->choice >= 0 ? &fl_system_rows[a->choice] :
				&p->s->system[a->name].row;
}

static void derive_say(char *right, const char *text)
{
	size_t n = strlen(right);

	snprintf(right + n, PARSER_RIGHT - n, "%s", text);
}

/* key=a or key=b: with each of them in this cell the row is right. */
static void derive_say_values(char *right, enum fl_column c,
			      const unsigned char *cell)
{
	unsigned char other[FL_COLUMNS];
	const char *word = words[c], *end;
	char one[80];
	bool any = false;

	memcpy(other, cell, sizeof(other));
	for (other[c] = 0; *word; other[c]++, word = *end ? end + 1 : end) {
		end = word + strcspn(word, "|");
		if (fl_row_judge(other, &fl_system_rules).wrong)
			continue;
		snprintf(one, sizeof(one), "%s%s=%.*s", any ? " or " : "",
			 keys[c], (int)(end - word), word);
		derive_say(right, one);
		any = true;
	}
}

/*
 * A value that is right only together with others: hold and abort are of several cells, and the
 * card is told something else then.
 */
static void derive_say_company(char *right, enum fl_column c,
			       const unsigned char *cell)
{
	const struct company {
		unsigned char verdict, tells;
		int first, last, step;
		const char *text;
	} company[] = {
		{ fl_system_rules.hold, fl_system_rules.resume, FL_COLUMN_IR,
		  FL_COLUMN_RW, 1, "ir=hold iw=hold rr=hold rw=hold tells=resume" },
		{ fl_system_rules.abort, fl_system_rules.status, FL_COLUMN_IW,
		  FL_COLUMN_RW, FL_COLUMN_RW - FL_COLUMN_IW,
		  "iw=abort rw=abort tells=status" },
	};
	unsigned char other[FL_COLUMNS];
	const struct company *p;
	unsigned int i;
	int k;

	for (i = 0; i < sizeof(company) / sizeof(company[0]); i++) {
		p = &company[i];
		if ((int)c < p->first || (int)c > p->last ||
		    ((int)c - p->first) % p->step)
			continue;
		memcpy(other, cell, sizeof(other));
		other[c] = p->verdict;
		if (!fl_row_judge(other, &fl_system_rules).wrong)
			continue;	/* alone it was right, and has been said */
		for (k = p->first; k <= p->last; k += p->step)
			other[k] = p->verdict;
		other[FL_COLUMN_TELLS] = p->tells;
		if (fl_row_judge(other, &fl_system_rules).wrong)
			continue;
		derive_say(right, *right ? " or " : "");
		derive_say(right, p->text);
	}
}

static void derive_right(char *right, struct fl_row_judged j,
			 const unsigned char *cell)
{
	right[0] = 0;
	switch (j.wrong) {
	case FL_ROW_RIGHT:
		return;
	case FL_ROW_VALUE:
	case FL_ROW_TRANSPORT:
	case FL_ROW_PLACE:
		derive_say_values(right, j.column, cell);
		derive_say_company(right, j.column, cell);
		if (!*right && j.column == FL_COLUMN_TRANSPORT)
			derive_say(right, "like=SYSTEM of that transport, or all of "
				   "tables, ir, iw, rr, rw and tells as it has them");
		if (!*right)
			derive_say(right, "another value of this key");
		return;
	case FL_ROW_HOLDS:
		derive_say(right, "ir=hold iw=hold rr=hold rw=hold tells=resume, or no "
				  "hold: a process stalls all of its misses, or none");
		return;
	case FL_ROW_TELLS:
		derive_say(right, cell[FL_COLUMN_RW] == fl_system_rules.hold ?
			   "tells=resume, since a stalled access waits for that" :
			   "tells=ready, since no access is stalled");
		return;
	case FL_ROW_ABORTS:
		derive_say(right, "iw=abort rw=abort tells=status, or none of these: the "
				  "driver is not told which of the two it is");
		return;
	case FL_ROW_STATUS:
		derive_say(right, cell[FL_COLUMN_RW] == fl_system_rules.abort ||
			   cell[FL_COLUMN_RW] == fl_system_rules.fail ?
			   "tells=status, since the request ends" :
			   "tells=ready, since the block is tried again");
		return;
	case FL_ROW_INSERTED:
		derive_say(right, "tables=inserted before=pin (or cache) ir=fail iw=fail "
				  "rr=fail rw=fail tells=status, or none of inserted and "
				  "fail");
		return;
	case FL_ROW_DIVERTS:
		derive_say(right, "rw=divert and tells=resolved, or neither of them");
		return;
	case FL_ROW_SINK:
		derive_say(right, "tables=sink before=nothing ir=sink iw=sink rr=sink rw=sink "
				  "tells=nothing, or none of sink and tells=nothing");
		return;
	}
}

/* A transport that the rest of the row does not fit: what was asked for is that. */
static struct fl_row_judged derive_blame(const struct statement *st,
					 struct fl_row_judged j)
{
	if ((j.wrong == FL_ROW_TRANSPORT || j.wrong == FL_ROW_PLACE) &&
	    !statement_option(st, keys[j.column]) &&
	    statement_option(st, keys[FL_COLUMN_TRANSPORT]))
		j.column = FL_COLUMN_TRANSPORT;
	return j;
}

/* What the message is about: the column's own word, else one that led there. */
static const struct arg *derive_place(const struct statement *st,
				      struct fl_row_judged j)
{
	const struct arg *a = statement_option(st, keys[j.column]);
	int c;

	for (c = FL_COLUMN_IR; !a && c <= FL_COLUMN_TELLS; c++)
		a = statement_option(st, keys[c]);
	return a ? a : &st->arg[0];
}

static bool derive_refuse(struct parser *p, const struct arg *a,
			  const char *right)
{
	struct token t = { .kind = TOK_WORD, .column = a->at.column };

	snprintf(t.text, sizeof(t.text), "%s", a->word);
	return parser_wrong(p, &t, right);
}

bool parser_derive(struct parser *p, const struct statement *st)
{
	static const char *const rows[] = { FL_SYSTEM_NAMES };
	const struct arg *like = statement_option(st, "like"), *a;
	struct scenario_system *to = &p->s->system[st->arg[0].name];
	unsigned char cell[FL_COLUMNS];
	char right[PARSER_RIGHT];
	struct fl_row_judged j;
	unsigned int i;

	for (i = 0; i < FL_SYSTEMS; i++)
		if (!strcmp(rows[i], st->arg[0].word))
			return derive_refuse(p, &st->arg[0], "another name; this "
					     "is a row of the table of systems");
	if (!like)
		return derive_refuse(p, &st->arg[0], "like=SYSTEM after the name: "
				     "what it is derived from");
	*to = (struct scenario_system){ .like = (enum fl_system)like->choice };
	if (like->choice >= 0)
		to->row = fl_system_rows[like->choice];
	else
		*to = p->s->system[like->name];
	memcpy(cell, &to->row, sizeof(cell));
	for (i = 0; i < FL_COLUMNS; i++) {
		a = statement_option(st, keys[i]);
		if (a)
			cell[i] = (unsigned char)a->choice;
	}
	j = fl_row_judge(cell, &fl_system_rules);
	if (j.wrong) {
		j = derive_blame(st, j);
		derive_right(right, j, cell);
		return derive_refuse(p, derive_place(st, j), right);
	}
	memcpy(&to->row, cell, sizeof(cell));
	return true;
}
