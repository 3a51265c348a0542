/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * harness.h - a test program is a list of TESTs, each a sentence.
 *
 * A test reads as set-up, steps, expectations. Every STEP and every EXPECT that
 * passes is noted; when an expectation fails the numbered transcript of what was
 * done is printed with what was expected and what came, and the test ends (by a
 * longjmp to the runner; set-up that must be undone goes into CLEANUP).
 *
 *	TEST("a block entry at level 3 is a translation fault")
 *	{
 *		STEP("build a table with %s", "...");
 *		EXPECT_EQ(smmu_translate(s, &a), SMMU_FAULT);
 *	}
 *
 * Usage of every test program: PROGRAM [-l] [-v] [--seed N] [NAME-PART]
 * Output is KTAP; exit status 0 only if every test passed.
 */
#ifndef FL_HARNESS_H
#define FL_HARNESS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

struct test_case {
	const char *name;
	const char *file;
	int line;
	void (*run)(void);
	struct test_case *next;
};

void test_register(struct test_case *t);

#define TEST_CAT_(a, b) a##b
#define TEST_CAT(a, b) TEST_CAT_(a, b)
#define TEST_NAMED_(fn, reg, sentence)                                        \
	static void fn(void);                                                 \
	__attribute__((constructor)) static void reg(void)                    \
	{                                                                     \
		static struct test_case t = { sentence, __FILE__, __LINE__,   \
					      fn, 0 };                        \
		test_register(&t);                                            \
	}                                                                     \
	static void fn(void)
#define TEST(sentence)                                                        \
	TEST_NAMED_(TEST_CAT(test_fn_, __LINE__), TEST_CAT(test_reg_,         \
		    __LINE__), sentence)

/* The seed of this run; tests that use random numbers start from it. */
uint64_t test_seed(void);

/*
 * Is this a run for after each change ("make test": FAULTLINE_TESTS=short in the environment)?
 * How many of n rounds are to be run: then a quarter, and one at least; else all.
 */
bool test_is_short(void);
unsigned int test_rounds(unsigned int n);

/* What has not come after so long does not come, however busy the machine is. */
#define TEST_PATIENCE_NS 60000000000ull

/*
 * Write to path (of size bytes) the name of a file in this program's own folder,
 * which is removed with what is in it when the program ends. It is TMPDIR for the
 * program and its children.
 */
void test_path(char *path, unsigned long size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Note a step in the transcript. */
void test_step(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define STEP(...) test_step(__VA_ARGS__)

/* Run fn(arg) when the test ends, however it ends; last in, first out. */
void test_cleanup(void (*fn)(void *), void *arg);

/* Leave the test as skipped, loudly. Only for what a machine cannot have. */
_Noreturn void test_skip(const char *why);

void test_expect(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#define EXPECT(cond)                                                          \
	test_expect((cond), __FILE__, __LINE__, "%s", #cond)
#define EXPECT_OP_(a, op, b)                                                  \
	do {                                                                  \
		int64_t a_ = (int64_t)(a), b_ = (int64_t)(b);                 \
		test_expect(a_ op b_, __FILE__, __LINE__,                     \
			    "%s %s %s: got %" PRId64 " (0x%" PRIx64           \
			    "), wanted %s %" PRId64 " (0x%" PRIx64 ")",       \
			    #a, #op, #b, a_, (uint64_t)a_, #op, b_,           \
			    (uint64_t)b_);                                    \
	} while (0)
#define EXPECT_EQ(a, b) EXPECT_OP_(a, ==, b)
#define EXPECT_NE(a, b) EXPECT_OP_(a, !=, b)
#define EXPECT_LE(a, b) EXPECT_OP_(a, <=, b)
#define EXPECT_GE(a, b) EXPECT_OP_(a, >=, b)
#define EXPECT_STR(a, b) test_expect_str(a, b, #a, __FILE__, __LINE__)
#define EXPECT_MEM(a, b, n) test_expect_mem(a, b, n, #a, __FILE__, __LINE__)
void test_expect_str(const char *got, const char *want, const char *what,
		     const char *file, int line);
void test_expect_mem(const void *got, const void *want, unsigned long n,
		     const char *what, const char *file, int line);

#endif
