/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * judge.h - for the tests of a lab. A test asks a subject (subject.h) and says
 * what it expects; each runs in a process of its own.
 *
 *	JUDGE(second_access_hits, "the second access to a page hits")
 *	{
 *		judge_did("map 0x%x", 4096);
 *		judge_ask(&m);
 *		judge_same("outcome", came, "a hit");
 *	}
 *
 * Its name is the one in the rubric. The first expectation that fails ends the
 * test; what was done until then is printed as a numbered list, with what was
 * expected and what came. A test has no clock, and random numbers from
 * judge_random() alone, so that the same file gets the same score everywhere.
 */
#ifndef FL_GRADE_JUDGE_H
#define FL_GRADE_JUDGE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/grade/subject.h"

struct judge_test {
	const char *name, *sentence;
	void (*run)(void);
	struct judge_test *next;
};

void judge_register(struct judge_test *t);

#define JUDGE(ident, text)                                                    \
	static void judge_fn_##ident(void);                                   \
	__attribute__((constructor)) static void judge_reg_##ident(void)      \
	{                                                                     \
		static struct judge_test t = { #ident, text,                  \
					       judge_fn_##ident, 0 };         \
		judge_register(&t);                                           \
	}                                                                     \
	static void judge_fn_##ident(void)

/* Note a step. */
void judge_did(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Ask the subject, and put its answer in place of the question; or n of them, one after
 * the other. The first call starts it. When it does not answer, the test ends here: it did
 * not start, crashed or hung.
 */
void judge_ask(struct subject_msg *m);
void judge_ask_all(struct subject_msg *m, unsigned int n);

/*
 * What has no answer to wait for: it is asked together with the next question. check, if any,
 * looks at the answer then; want, or NULL, is for it, and is copied. A test that fails after it
 * went on is run again, with each question asked at once, so that it ends at the right step.
 */
#define JUDGE_WANTS 5
#define WANTS(...) ((const uint64_t[JUDGE_WANTS]){ __VA_ARGS__ })
typedef void judge_check(const struct subject_msg *answer, const uint64_t want[JUDGE_WANTS]);
void judge_tell(const struct subject_msg *m, judge_check *check, const uint64_t want[JUDGE_WANTS]);

/* Ask what was told. */
void judge_settle(void);

/* Expectations: what, in words; what came; what should have come. */
void judge_same(const char *what, const char *came, const char *expected);
void judge_equal(const char *what, uint64_t came, uint64_t expected);
void judge_at_least(const char *what, uint64_t came, uint64_t expected);

/* The same numbers from the same seed (make grade SEED=...) everywhere. */
uint64_t judge_random(void);

#endif
