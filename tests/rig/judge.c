// SPDX-License-Identifier: BSD-2-Clause
/*
 * judge.c - the tests of a lab as unit tests: judge and subject in one process, and what is
 * judged is the tree's own. tools/grade/judge.c keeps them apart, for the works of students.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tools/grade/judge.h"

static uint64_t seeded;		/* 0: this test has drawn no number yet */

void judge_register(struct judge_test *t)
{
	static char sentence[64 * 1024];
	static size_t used;
	struct test_case *c = calloc(1, sizeof(*c));
	int n = snprintf(sentence + used, sizeof(sentence) - used, "%s: %s", t->name,
			 t->sentence);

	if (!c || n < 0 || (size_t)n >= sizeof(sentence) - used)
		abort();
	c->name = sentence + used;
	c->run = t->run;
	used += (size_t)n + 1;
	test_register(c);
}

void judge_did(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	test_step("%s", text);
}

static jmp_buf ran_away;

void judge_ask(struct subject_msg *m)
{
	m->status = SUBJECT_DONE;
	if (setjmp(ran_away))
		m->status = SUBJECT_RUNAWAY;
	else
		subject_answer(m);
	EXPECT_EQ(m->status, SUBJECT_DONE);
}

void judge_ask_all(struct subject_msg *m, unsigned int n)
{
	for (; n; n--)
		judge_ask(m++);
}

void judge_tell(const struct subject_msg *m, judge_check *check, const uint64_t want[JUDGE_WANTS])
{
	struct subject_msg told = *m;

	judge_ask(&told);
	if (check)
		check(&told, want);
}

void judge_settle(void)
{
}

void subject_runaway(void)
{
	longjmp(ran_away, 1);
}

void judge_same(const char *what, const char *came, const char *expected)
{
	test_expect(!strcmp(came, expected), "labs", 0, "%s: came %s, expected %s", what, came,
		    expected);
}

void judge_equal(const char *what, uint64_t came, uint64_t expected)
{
	test_expect(came == expected, "labs", 0,
		    "%s: came %" PRIu64 " (0x%" PRIx64 "), expected %" PRIu64 " (0x%" PRIx64 ")",
		    what, came, came, expected, expected);
}

void judge_at_least(const char *what, uint64_t came, uint64_t expected)
{
	test_expect(came >= expected, "labs", 0, "%s: came %" PRIu64 ", expected at least %" PRIu64,
		    what, came, expected);
}

static void seed_anew(void *arg)
{
	(void)arg;
	seeded = 0;
}

/* The numbers of tools/grade/judge.c: from the seed for each test. */
uint64_t judge_random(void)
{
	if (!seeded) {
		seeded = test_seed() * UINT64_C(0x9e3779b97f4a7c15) | 1;
		test_cleanup(seed_anew, NULL);
	}
	seeded ^= seeded >> 12;
	seeded ^= seeded << 25;
	seeded ^= seeded >> 27;
	return seeded * UINT64_C(0x2545f4914f6cdd1d);
}
