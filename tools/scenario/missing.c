// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a work request needs and no line gives: a link between the boards, a region of the
 * buffer. Without them it ends long after, with a status that does not say why. A scenario
 * that expects it to end like that means it.
 */
#include <stdlib.h>

#include "faultline/entries.h"
#include "tools/scenario/parser.h"
#include "tools/scenario/testbed.h"

enum registered { NEVER, NOW, NO_MORE };

struct known {
	int board_of[PARSER_NAMES];		/* of a process */
	int ends[PARSER_NAMES][2];		/* processes of a connection */
	int group[PARSER_NAMES];		/* of a board: links join them */
	enum registered region[PARSER_NAMES];	/* of a buffer */
	bool told[PARSER_NAMES];		/* of a buffer */
	bool fails[PARSER_NAMES];		/* of a work request, as expected */
	bool keeps;	/* a system may keep a region that is given back, and its key */
};

static void join_groups(struct known *k, int a, int b, int boards)
{
	int i, from = k->group[a], to = k->group[b];

	for (i = 0; i < boards; i++)
		if (k->group[i] == from)
			k->group[i] = to;
}

/* Work requests that somewhere are expected to end with something else than ok. */
static void find_failures(const struct scenario *s, struct known *k)
{
	const struct statement *st;
	bool ok;
	int i;

	for (i = 0; i < s->count; i++) {
		st = &s->st[i];
		if (st->verb != V_EXPECT_STATUS)
			continue;
		ok = !st->arg[2].number && st->arg[2].choice == FL_ST_OK;
		if (ok == st->arg[1].set)	/* not ok, or another one */
			k->fails[st->arg[0].name] = true;
	}
}

static void need_region(struct parser *p, struct known *k,
			const struct arg *a, const char *status)
{
	const char *has = k->region[a->name] == NEVER ? "has no region" :
							"is deregistered above";

	if (k->region[a->name] == NOW || k->told[a->name] ||
	    (status && k->keeps && k->region[a->name] == NO_MORE))
		return;
	k->told[a->name] = true;
	p->mistakes++;
	fprintf(p->errors, "%s:%d:%d: buffer %s %s; wanted: 'region %s' in a "
		"line above%s%s%s\n", p->s->file, a->at.line, a->at.column,
		a->word, has, a->word,
		status ? " (or an 'expect status' of " : "",
		status ? status : "", status ? ")" : "");
}

static void need_link(struct parser *p, struct known *k, const struct arg *a)
{
	int x = k->board_of[k->ends[a->name][0]];
	int y = k->board_of[k->ends[a->name][1]];
	const char *from = p->name[NAME_BOARD][x].word;
	const char *to = p->name[NAME_BOARD][y].word;

	if (k->group[x] == k->group[y])
		return;
	join_groups(k, x, y, p->names[NAME_BOARD]);	/* tell it once */
	p->mistakes++;
	fprintf(p->errors, "%s:%d:%d: boards %s and %s, which %s connects, "
		"have no link; wanted: 'link %s %s' in a line above (or an "
		"'expect status' of no-answer)\n", p->s->file, a->at.line,
		a->at.column, from, to, a->word, from, to);
}

static void check_post(struct parser *p, struct known *k,
		       const struct statement *st)
{
	const struct arg *lkey = statement_option(st, "lkey");
	const struct arg *rkey = statement_option(st, "rkey");

	if (st->fails || k->fails[st->arg[0].name])
		return;
	need_link(p, k, &st->arg[3]);
	lkey = lkey ? lkey : &st->arg[4];
	rkey = rkey ? rkey : &st->arg[6];
	if (lkey->name >= 0 && !statement_option(st, "inline"))
		need_region(p, k, lkey, "local-key");
	if (rkey->name >= 0)
		need_region(p, k, rkey, "remote-access");
}

/* A message or a receive; of what is copied at once no key is asked for. */
static void check_message(struct parser *p, struct known *k,
			  const struct statement *st)
{
	const struct arg *lkey = statement_option(st, "lkey");
	bool empty = st->arg[4].set && !st->arg[4].number;

	if (st->fails || k->fails[st->arg[0].name])
		return;
	if (st->verb == V_SEND)
		need_link(p, k, &st->arg[2]);
	lkey = lkey ? lkey : &st->arg[3];
	if (lkey->name >= 0 && !empty && !statement_option(st, "inline"))
		need_region(p, k, lkey, "local-key");
}

static void missing_look(struct parser *p, struct known *k,
			 const struct statement *st)
{
	switch (st->verb) {
	case V_POLICY:
		k->keeps |= testbed_row_caches(parser_row(p, &st->arg[0]));
		break;
	case V_LINK:
		if (!st->fails)
			join_groups(k, st->arg[0].name, st->arg[1].name,
				    p->names[NAME_BOARD]);
		break;
	case V_PROCESS:
		k->board_of[st->arg[0].name] = st->arg[2].name;
		break;
	case V_CONNECT:
		k->ends[st->arg[3].name][0] = st->arg[0].name;
		k->ends[st->arg[3].name][1] = st->arg[1].name;
		break;
	case V_REGION:
		if (!st->fails)
			k->region[st->arg[0].name] = NOW;
		break;
	case V_PREFETCH: case V_DEREGISTER:
		if (st->fails)
			break;
		need_region(p, k, &st->arg[0], NULL);
		if (st->verb == V_DEREGISTER)
			k->region[st->arg[0].name] = NO_MORE;
		break;
	case V_POST: case V_ATOMIC:
		check_post(p, k, st);
		break;
	case V_SEND: case V_RECEIVE:
		check_message(p, k, st);
		break;
	default:
		break;
	}
}

void parser_missing(struct parser *p)
{
	struct known *k = calloc(1, sizeof(*k));
	int i;

	if (!k) {
		p->no_memory = true;
		return;
	}
	for (i = 0; i < PARSER_NAMES; i++)
		k->group[i] = i;
	find_failures(p->s, k);
	for (i = 0; i < p->s->count; i++)
		missing_look(p, k, &p->s->st[i]);
	free(k);
}
