// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/guest_rules.h"

#include <string.h>
#include <unistd.h>

#include "tools/scenario/testbed.h"
#include "trace/trace.h"

#define RULE_NAMES	512	/* of one kind */

const char *guest_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool rule_refuse(const struct scenario *s, const struct place *at,
			const char *word, const char *right, FILE *out)
{
	fprintf(out, "%s:%d:%d: '%s' stands here; wanted in mode vm: %s\n",
		s->file, at->line, at->column, word, right);
	return false;
}

/* Counters of the small kernel; those of cards and wires are the same. */
static bool is_kernel_stat(const char *word)
{
	static const char *const list[] = {
		"page_ins", "evictions", "swap_ins", "swap_outs", "cpu_faults",
		"frames_free", "frames_pinned", "faults_minor", "faults_major",
		"pages_brought", "pages_unused", "pinned_peak",
		"resident_peak",
	};
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(list[i], word))
			return true;
	return false;
}

static bool check_board(const struct scenario *s, const struct statement *st,
			FILE *out)
{
	static const char *const only[] = { "frames", "swap" };
	bool ok = true;
	int i, k;

	for (i = 0; i < st->options; i++)
		for (k = 0; k < 2; k++)
			if (!strcmp(st->option[i].key, only[k]))
				ok = rule_refuse(s, &st->option[i].arg.at,
						 only[k],
						 "a board without it: a guest has "
						 "the memory and the swap that it "
						 "was booted with", out);
	return ok;
}

static bool check_file(const struct scenario *s, const struct statement *st,
		       const char *files[GUEST_FILES + 1], FILE *out)
{
	const struct arg *file = statement_option(st, "file");
	const char *name;
	int i;

	if (!file)
		return true;
	name = guest_file_name(file->word);
	for (i = 0; i < GUEST_FILES && files[i]; i++) {
		if (!strcmp(files[i], file->word))
			return true;
		if (!strcmp(guest_file_name(files[i]), name))
			return rule_refuse(s, &file->at, file->word,
					   "files whose "
					   "names differ, since all of them go to "
					   "one folder of the guest", out);
	}
	if (i == GUEST_FILES || !strcmp(name, "run"))
		return rule_refuse(s, &file->at, file->word, "at most 8 files, "
				   "none with the name 'run'", out);
	/* One that is not there is not there in the guest either. */
	if (!access(file->word, R_OK))
		files[i] = file->word;
	return true;
}

static bool check_statement(const struct scenario *s,
			    const struct statement *st,
			    const char *files[GUEST_FILES + 1], FILE *out)
{
	const char *event;

	switch (st->verb) {
	case V_STARVE:
		return rule_refuse(s, &st->at, "starve",
				   "no such statement: the "
				   "frames of a real kernel cannot be counted out",
				   out);
	case V_BOARD:
		return check_board(s, st, out);
	case V_BUFFER:
		return check_file(s, st, files, out);
	case V_EXPECT_STAT: case V_PRINT_STAT:
		if (is_kernel_stat(st->arg[1].word))
			return rule_refuse(s, &st->arg[1].at, st->arg[1].word,
					   "a counter of the card or the wire "
					   "(expect counter asks the driver)",
					   out);
		return true;
	case V_EXPECT_COUNT: case V_PRINT_COUNT:
		event = trace_events[st->arg[0].choice].name;
		if (trace_events[st->arg[0].choice].unit == UNIT_KERNEL)
			return rule_refuse(s, &st->arg[0].at, event,
					   "an event of "
					   "another unit: a real kernel does not "
					   "write ours", out);
		return true;
	default:
		return true;
	}
}

/* Pages that a process has touched, and whose row has a shadow of its tables. */
struct touched {
	bool shadow;		/* what policy says now */
	int owner[RULE_NAMES];	/* of a buffer */
	int board[RULE_NAMES];	/* of a process */
	bool shadowed[RULE_NAMES];
	bool process[RULE_NAMES], on[RULE_NAMES];	/* a board */
};

static void touch_follow(const struct scenario *s, const struct statement *st,
			 struct touched *t)
{
	const struct arg *a = st->arg;
	int p;

	switch (st->verb) {
	case V_POLICY:
		t->shadow = (a[0].choice < 0 ? s->system[a[0].name].row :
			     testbed_row((enum fl_system)a[0].choice).row)
				    .tables == FL_TABLES_SHADOW;
		break;
	case V_PROCESS:
		t->shadowed[a[0].name] = t->shadow;
		t->board[a[0].name] = a[2].name;
		break;
	case V_BUFFER:
		t->owner[a[0].name] = a[2].name;
		break;
	case V_TOUCH:
		p = t->owner[a[0].name];
		if (!t->shadowed[p])
			break;
		t->process[p] = t->on[t->board[p]] = true;
		break;
	default:
		break;
	}
}

/*
 * The small kernel says which pages it maps, Linux does not (fl_tables_shadow.c): what was
 * touched since its registration is in the shadow here, and there it is not.
 */
static bool check_touched(const struct scenario *s, const struct statement *st,
			  const struct touched *t, FILE *out)
{
	const char *word = st->arg[1].word;
	bool counter = st->verb == V_EXPECT_COUNTER || st->verb == V_PRINT_COUNTER;
	bool stat = st->verb == V_EXPECT_STAT || st->verb == V_PRINT_STAT;

	if (!(counter && t->process[st->arg[0].name] && !strcmp(word, "loaded")) &&
	    !(stat && t->on[st->arg[0].name] && !strcmp(word, "redirected")))
		return true;
	return rule_refuse(s, &st->arg[1].at, word,
			   "no look at it after a touch: Linux does not tell a driver "
			   "which pages it maps, so a page comes into the shadow "
			   "when it is registered, or once data for it were redirected",
			   out);
}

bool guest_rules_hold(const struct scenario *s, FILE *out,
		      const char *files[GUEST_FILES + 1])
{
	bool has[RULE_NAMES] = { false }, ok = true;
	static const struct touched none;
	struct touched t = none;
	const struct statement *st;
	int i, board, guests = 0;

	memset(files, 0, (GUEST_FILES + 1) * sizeof(files[0]));
	for (i = 0; i < s->count; i++) {
		st = &s->st[i];
		ok &= check_statement(s, st, files, out);
		touch_follow(s, st, &t);
		ok &= check_touched(s, st, &t, out);
		if (st->verb != V_PROCESS)
			continue;
		board = st->arg[2].name;
		if (!has[board] && ++guests == GUEST_BOARDS + 1)
			ok = rule_refuse(s, &st->arg[2].at, st->arg[2].word,
					 "processes on at most 3 boards, since each "
					 "such board is a machine", out);
		has[board] = true;
	}
	return ok;
}
