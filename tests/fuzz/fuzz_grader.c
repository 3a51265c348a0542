// SPDX-License-Identifier: BSD-2-Clause
/*
 * The grader's files: rubric, lab.conf and record; the first letter says which. A rubric
 * that is accepted has 100 points, each name once, and parents above their children. A
 * record that is accepted, written with a key and read again, is the same and signed
 * right; with another key, or a byte changed, it is not.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tools/grade/grade.h"

const char fuzz_name[] = "grader";

static const uint8_t key[GRADE_KEY] = "a key of the fuzz target's own";
static const uint8_t wrong_key[GRADE_KEY] = "a key of someone else";

static struct grade first, second;

static void fuzz_grader_forget(struct grade *g)
{
	unsigned int i;

	for (i = 0; i < g->tests; i++)
		free(g->test[i].text);
	memset(g, 0, sizeof(*g));
}

static bool is_name(const struct grade *g, unsigned int n, const char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!strcmp(g->test[i].name, name))
			return true;
	return false;
}

static void try_rubric(const void *data, size_t size)
{
	const struct grade_test *t;
	unsigned int i, points = 0;
	const char *said;
	int err;

	fuzz_listen();
	err = rubric_read(&first, fuzz_file(data, size));
	said = fuzz_said();
	FUZZ_EXPECT(!err == !*said, "rubric: %d, '%s'", err, said);
	for (i = 0; !err && i < first.tests; i++) {
		t = &first.test[i];
		points += t->points;
		FUZZ_EXPECT(t->name[0] && !is_name(&first, i, t->name),
			    "'%s' is there once", t->name);
		FUZZ_EXPECT(!t->parent[0] || is_name(&first, i, t->parent),
			    "'%s' stands above '%s'", t->parent, t->name);
		FUZZ_EXPECT(t->group[0], "'%s' has a heading", t->name);
	}
	FUZZ_EXPECT(err || points == 100, "100 points, not %u", points);
	first.tests = 0;
}

static void try_conf(const void *data, size_t size)
{
	const struct grade_limits *l = &first.limits;
	const char *said;
	int err;

	fuzz_listen();
	err = conf_read(&first, fuzz_file(data, size));
	said = fuzz_said();
	FUZZ_EXPECT(!err == !*said, "lab.conf: %d, '%s'", err, said);
	FUZZ_EXPECT(err || (l->cpu_s && l->wall_s && l->memory_mb &&
			    l->file_mb && l->cpu_s <= 1000000 && first.lab[0]),
		    "limits and name are there");
}

/* ---- records ---- */

static bool same_test(const struct grade_test *a, const struct grade_test *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->group, b->group) &&
	       !strcmp(a->says, b->says) && a->points == b->points &&
	       a->got == b->got && a->hidden == b->hidden &&
	       a->verdict == b->verdict && a->ms == b->ms &&
	       !strcmp(a->text ? a->text : "", b->text ? b->text : "");
}

static void judge_both(void)
{
	unsigned int i;

	FUZZ_EXPECT(!strcmp(first.lab, second.lab) &&
		    !strcmp(first.name, second.name) &&
		    first.seed == second.seed && first.built == second.built &&
		    first.confined == second.confined &&
		    first.tests == second.tests, "the head is the same");
	for (i = 0; i < first.tests; i++)
		FUZZ_EXPECT(same_test(&first.test[i], &second.test[i]),
			    "test %u is the same: %s", i, first.test[i].name);
}

static int read_record(struct grade *g, const char *path, const uint8_t *k,
		       bool *right)
{
	int err;

	fuzz_listen();
	err = record_read(g, path, k, right);
	FUZZ_EXPECT(!err == !*fuzz_said(), "a message, and only, with an error");
	return err;
}

/* Change one byte of what is signed: the lines up to the signature, but for "ms". */
static void fuzz_grader_forge(struct fuzz *pick)
{
	char *text = fuzz_file_text(), *end = strstr(text, "\nsignature "), *ms;
	size_t at;
	bool right = false;

	FUZZ_EXPECT(end, "it is signed");
	at = fuzz_take(pick, 2) % (size_t)(end - text);
	for (ms = text + at; ms > text && ms[-1] != '\n'; ms--)
		;
	if (text[at] != '\n' && strncmp(ms, "\tms ", 4)) {
		text[at] ^= 1;
		read_record(&second, fuzz_file(text, strlen(text)), key, &right);
		if (right)
			judge_both();	/* it reads as before: nothing is forged */
		fuzz_grader_forget(&second);
	}
	free(text);
}

static void fuzz_grader_export(void)
{
	static const char *const form[] = { "text", "ktap", "gradescope", "csv" };
	FILE *f = fopen("/dev/null", "w");
	unsigned int i;

	FUZZ_EXPECT(f, "there is /dev/null");
	for (i = 0; i < 4; i++)
		FUZZ_EXPECT(!grade_export(&first, form[i], f), "%s", form[i]);
	fclose(f);
}

static void try_record(const void *data, size_t size)
{
	struct fuzz pick = { data, size < 2 ? 0 : 2 };
	bool right;
	char *text;

	if (!read_record(&first, fuzz_file(data, size), key, &right)) {
		fuzz_grader_export();
		FUZZ_EXPECT(!record_write(&first, fuzz_file("", 0), key),
			    "it can be written");
		text = fuzz_file_text();
		FUZZ_EXPECT(!read_record(&second, fuzz_file(text, strlen(text)),
					 wrong_key, &right) && !right,
			    "another key has signed it otherwise");
		fuzz_grader_forget(&second);
		FUZZ_EXPECT(!read_record(&second, fuzz_file(text, strlen(text)),
					 key, &right) && right,
			    "what was written is read again, signed right");
		judge_both();
		fuzz_grader_forget(&second);
		fuzz_grader_forge(&pick);
		free(text);
	}
	fuzz_grader_forget(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void (*const fn[])(const void *, size_t) = { try_record, try_rubric,
						     try_conf };

	if (size)
		fn[data[0] % 3](data + 1, size - 1);
	return 0;
}
