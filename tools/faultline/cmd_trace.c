// SPDX-License-Identifier: BSD-2-Clause
/* faultline trace FILE.trace: text, or a picture in DOT. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/faultline/options.h"
#include "tools/scenario/words.h"
#include "tools/view/view.h"
#include "trace/trace.h"

enum { OWN_DOT, OWN_BOARD, OWN_XFER, OWN_BLOCK, OWN_EVENT, OWN_FAULT,
       OWN_TOLD, OWN_STORY };

static int find_event(const char *word)
{
	const char *list[EV_COUNT + 1], *near;
	int i;

	for (i = 0; i < EV_COUNT; i++) {
		list[i] = trace_events[i].name;
		if (!strcmp(list[i], word))
			return i;
	}
	list[i] = NULL;
	near = word_nearest(word, list);
	fprintf(stderr, "faultline trace: unknown event '%s'", word);
	if (near)
		fprintf(stderr, "; did you mean '%s'?", near);
	fputs(" (book/trace.adoc lists them)\n", stderr);
	return -1;
}

/* ---- what is not in the trace ---- */

struct chosen {
	int board;		/* -1: all */
	uint32_t xfer, block, fault;	/* 0: not chosen */
};

static int not_there(const struct view_trace *t, enum view_kind kind,
		     const char *name, uint32_t value, uint32_t xfer)
{
	if (view_has(t, kind, xfer, value))
		return 0;
	fprintf(stderr, "faultline trace: no %s %u in ", name, value);
	if (xfer)
		fprintf(stderr, "transfer %u; ", xfer);
	else
		fputs("this trace; ", stderr);
	view_say(stderr, t, kind, xfer);
	fputc('\n', stderr);
	return 1;
}

/* 0, or 1 after a message: what was chosen is not there, but something else is. */
static int check_chosen(const struct view_trace *t, const struct chosen *c)
{
	unsigned int faults;
	int err = 0;

	if (c->board >= 0)
		err = not_there(t, VIEW_BOARD, "board", (uint32_t)c->board, 0);
	if (!err && c->xfer)
		err = not_there(t, VIEW_XFER, "transfer", c->xfer, 0);
	if (!err && c->block)
		err = not_there(t, VIEW_BLOCK, "block", c->block, c->xfer);
	faults = view_faults(t, c->xfer);
	if (err || c->fault <= faults)
		return err;
	fprintf(stderr, "faultline trace: no fault %u in this trace; there %s "
		"%u\n", c->fault, faults == 1 ? "is" : "are", faults);
	return 1;
}

static int no_such(int err, const char *missing)
{
	if (!err)
		return 0;
	fprintf(stderr, "faultline trace: %s in this trace\n",
		err == -ENOENT ? missing : strerror(-err));
	return 1;
}

/* ---- forms ---- */

static const char *const kinds[] = { "sequence", "states", "walk", NULL };
enum form { SEQUENCE, STATES, WALK, STORY, TEXT };

/* Options that choose, and in which forms there is something to choose. */
static const struct {
	int own;
	unsigned int forms;
	const char *text;
} choices[] = {
	{ OWN_BOARD, 1 << TEXT | 1 << STATES, "the text or --dot states" },
	{ OWN_XFER, 1 << TEXT | 1 << SEQUENCE | 1 << WALK | 1 << STORY,
	  "the text, --story, --dot sequence or --dot walk" },
	{ OWN_BLOCK, 1 << TEXT | 1 << SEQUENCE | 1 << STORY,
	  "the text, --story or --dot sequence" },
	{ OWN_EVENT, 1 << TEXT, "the text" },
	{ OWN_FAULT, 1 << WALK, "--dot walk" },
	{ OWN_TOLD, 1 << TEXT, "the text" },
};

/* The form that the options ask for, or -1 after a message. */
static int find_form(const struct options *o)
{
	const char *kind = o->own[OWN_DOT], *near;
	int form = o->own[OWN_STORY] ? STORY : TEXT;
	size_t i;

	if (kind && form == STORY) {
		fputs("faultline trace: --story and --dot; wanted: one of "
		      "them\n", stderr);
		return -1;
	}
	for (i = 0; kind && kinds[i]; i++)
		if (!strcmp(kind, kinds[i]))
			form = (int)i;
	if (kind && form == TEXT) {
		near = word_nearest(kind, kinds);
		fprintf(stderr,
			"faultline trace: --dot '%s'; wanted: sequence, "
			"states or walk",
			kind);
		if (near)
			fprintf(stderr, " (did you mean '%s'?)", near);
		fputc('\n', stderr);
		return -1;
	}
	for (i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		if (!o->own[choices[i].own] ||
		    choices[i].forms & 1u << form)
			continue;
		fprintf(stderr, "faultline trace: %s is for %s\n",
			command_trace.own[choices[i].own].name,
			choices[i].text);
		return -1;
	}
	return form;
}

static int trace_show(enum form form, struct view_trace *t,
		      const struct chosen *c, int event, bool told)
{
	struct view_filter filter = { c->board, c->xfer, c->block, event };

	if (form == TEXT) {
		view_text(stdout, t, &filter, told);
		return 0;
	}
	view_inherit(t->r, t->n);
	switch (form) {
	case SEQUENCE:
		return no_such(view_sequence(stdout, t, c->xfer, c->block),
			       "no transfer");
	case STATES:
		return no_such(view_states(stdout, t, c->board),
			       "no engine changed its state");
	case WALK:
		return no_such(view_walk(stdout, t, c->xfer, c->fault),
			       c->xfer ? "this transfer met no fault" :
					 "no fault");
	default:
		return no_such(view_story(stdout, t, c->xfer, c->block),
			       "no transfer");
	}
}

/* What the options choose; 0 or 2 after a message. */
static int read_chosen(const struct options *o, struct chosen *c)
{
	uint64_t board = 0, xfer = 0, block = 0, fault = 0;

	if (options_number(o, &command_trace, OWN_BOARD, 0, UINT8_MAX,
			   &board) ||
	    options_number(o, &command_trace, OWN_XFER, 1, UINT32_MAX, &xfer) ||
	    options_number(o, &command_trace, OWN_BLOCK, 1, UINT32_MAX,
			   &block) ||
	    options_number(o, &command_trace, OWN_FAULT, 1, UINT32_MAX, &fault))
		return 2;
	c->board = o->own[OWN_BOARD] ? (int)board : -1;
	c->xfer = (uint32_t)xfer;
	c->block = (uint32_t)block;
	c->fault = (uint32_t)fault;
	return 0;
}

static int cmd_trace_run(const struct command *c, int argc, char **argv)
{
	struct chosen chosen;
	struct view_trace t;
	struct options o;
	int err = options_parse(c, argc, argv, &o), event = -1, form;

	if (err)
		return err == 1 ? 0 : err;
	form = find_form(&o);
	if (form < 0 || read_chosen(&o, &chosen))
		return 2;
	if (o.own[OWN_EVENT]) {
		event = find_event(o.own[OWN_EVENT]);
		if (event < 0)
			return 2;
	}
	if (view_load(o.args[0], &t, stderr))
		return 2;
	err = check_chosen(&t, &chosen);
	if (!err)
		err = trace_show((enum form)form, &t, &chosen, event,
				 o.own[OWN_TOLD] != NULL);
	view_free(&t);
	return err;
}

const struct command command_trace = {
	.name = "trace",
	.arguments = "FILE.trace",
	.text = "show a trace as text, or as a picture for Graphviz\n"
		"Pictures: faultline trace --dot sequence X.trace | dot -Tsvg "
		"> x.svg",
	.least = 1,
	.most = 1,
	.own = { [OWN_DOT] = { "--dot", "sequence|states|walk",
			       "write a picture in DOT" },
		 [OWN_BOARD] = { "--board", "N", "only this board" },
		 [OWN_XFER] = { "--xfer", "N",
				"only this transfer (pictures: the first that "
				"faults)" },
		 [OWN_BLOCK] = { "--block", "N",
				 "only this block (sequence, story: the first "
				 "that faults)" },
		 [OWN_EVENT] = { "--event", "NAME", "only this event" },
		 [OWN_FAULT] = { "--fault", "N", "walk: the N-th fault "
		 "(default: the deepest walk)" },
		 [OWN_TOLD] = { "--told", NULL,
				"text: the meaning of each event below it" },
		 [OWN_STORY] = { "--story", NULL,
				 "the sequence as text, a line each step" } },
	.run = cmd_trace_run,
};
