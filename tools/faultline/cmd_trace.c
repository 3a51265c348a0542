// SPDX-License-Identifier: BSD-2-Clause
/* faultline trace FILE.trace: text, or a picture in DOT. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/faultline/options.h"
#include "tools/scenario/words.h"
#include "tools/view/view.h"

enum { OWN_DOT, OWN_BOARD, OWN_XFER, OWN_BLOCK, OWN_EVENT, OWN_FAULT,
       OWN_TOLD, OWN_STORY };

static int number(const struct options *o, int own, const char *name,
		  uint64_t otherwise, uint64_t most, uint64_t *v)
{
	const char *right;

	*v = otherwise;
	if (!o->own[own])
		return 0;
	right = word_count(o->own[own], v);
	if (!right && *v > most)
		right = "a smaller number";
	if (!right)
		return 0;
	fprintf(stderr, "faultline trace: %s '%s'; wanted: %s\n", name,
		o->own[own], right);
	return 2;
}

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

static int no_such(int err, const char *missing)
{
	if (!err)
		return 0;
	fprintf(stderr, "faultline trace: %s in this trace\n",
		err == -ENOENT ? missing : strerror(-err));
	return 1;
}

static int picture(const char *kind, const struct view_trace *t, int board,
		   uint64_t xfer, uint64_t block, uint64_t fault)
{
	static const char *const kinds[] = { "sequence", "states", "walk",
					     NULL };
	const char *near, *missing;
	int err;

	if (!strcmp(kind, "sequence")) {
		err = view_sequence(stdout, t, (uint32_t)xfer,
				    (uint32_t)block);
		missing = "no such transfer";
	} else if (!strcmp(kind, "states")) {
		err = view_states(stdout, t, board);
		missing = "no engine changed its state";
	} else if (!strcmp(kind, "walk")) {
		err = view_walk(stdout, t, (uint32_t)xfer,
				(unsigned int)fault);
		missing = "no such fault";
	} else {
		near = word_nearest(kind, kinds);
		fprintf(stderr,
			"faultline trace: --dot '%s'; wanted: sequence, "
			"states or walk",
			kind);
		if (near)
			fprintf(stderr, " (did you mean '%s'?)", near);
		fputc('\n', stderr);
		return 2;
	}
	return no_such(err, missing);
}

static int run(const struct command *c, int argc, char **argv)
{
	struct view_filter filter = { -1, 0, -1 };
	uint64_t board, xfer, block, fault;
	struct view_trace t;
	struct options o;
	int err = options_parse(c, argc, argv, &o);

	if (err)
		return err == 1 ? 0 : err;
	if (number(&o, OWN_BOARD, "--board", UINT64_MAX, UINT64_MAX, &board) ||
	    number(&o, OWN_XFER, "--xfer", 0, UINT32_MAX, &xfer) ||
	    number(&o, OWN_BLOCK, "--block", 0, UINT32_MAX, &block) ||
	    number(&o, OWN_FAULT, "--fault", 0, UINT32_MAX, &fault))
		return 2;
	filter.board = board == UINT64_MAX ? -1 : (int)(board & 0xffff);
	filter.xfer = (uint32_t)xfer;
	if (o.own[OWN_EVENT]) {
		filter.event = find_event(o.own[OWN_EVENT]);
		if (filter.event < 0)
			return 2;
	}
	if (view_load(o.args[0], &t, stderr))
		return 2;
	if (o.own[OWN_STORY]) {
		view_inherit(t.r, t.n);
		err = no_such(view_story(stdout, &t, (uint32_t)xfer,
					 (uint32_t)block), "no such transfer");
	} else if (o.own[OWN_DOT]) {
		view_inherit(t.r, t.n);
		err = picture(o.own[OWN_DOT], &t, filter.board, xfer, block,
			      fault);
	} else {
		view_text(stdout, &t, &filter, o.own[OWN_TOLD] != NULL);
	}
	view_free(&t);
	if (fflush(stdout) || ferror(stdout)) {
		perror("faultline trace: cannot write");
		return 1;
	}
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
				 "sequence: this block (default: the first "
				 "that faults)" },
		 [OWN_EVENT] = { "--event", "NAME", "only this event" },
		 [OWN_FAULT] = { "--fault", "N", "walk: the N-th fault "
		 "(default: the deepest walk)" },
		 [OWN_TOLD] = { "--told", NULL,
				"text: the meaning of each event below it" },
		 [OWN_STORY] = { "--story", NULL,
				 "the sequence as text, a line each step" } },
	.run = run,
};
