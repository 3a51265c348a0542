// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/guest_rules.h"

#include <string.h>
#include <unistd.h>

#include "trace/trace.h"

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

bool guest_rules_hold(const struct scenario *s, FILE *out,
		      const char *files[GUEST_FILES + 1])
{
	bool has[512] = { false }, ok = true;
	const struct statement *st;
	int i, board, guests = 0;

	memset(files, 0, (GUEST_FILES + 1) * sizeof(files[0]));
	for (i = 0; i < s->count; i++) {
		st = &s->st[i];
		ok &= check_statement(s, st, files, out);
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
