// SPDX-License-Identifier: BSD-2-Clause
#include "harness.h"

#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRANSCRIPT_LINES 4096
#define TRANSCRIPT_SHOWN 40
#define CLEANUPS 32

static struct {
	struct test_case *first, **tail;
	uint64_t seed;
	bool verbose;
	jmp_buf leave;		/* value 1: failed, 2: skipped */
	pthread_t thread;	/* that may longjmp to leave, in this process */
	pid_t pid;
	char *transcript[TRANSCRIPT_LINES];
	unsigned int steps;	/* all steps, also those not kept */
	struct {
		void (*fn)(void *arg);
		void *arg;
	} cleanup[CLEANUPS];
	unsigned int cleanups;
	char folder[80];
} run = { .seed = 1 };

void test_register(struct test_case *t)
{
	if (!run.tail)
		run.tail = &run.first;
	*run.tail = t;
	run.tail = &t->next;
}

uint64_t test_seed(void)
{
	return run.seed;
}

bool test_is_short(void)
{
	const char *tests = getenv("FAULTLINE_TESTS");

	return tests && !strcmp(tests, "short");
}

unsigned int test_rounds(unsigned int n)
{
	return test_is_short() ? (n + 3) / 4 : n;
}

static void harness_note(const char *text)
{
	char **slot = &run.transcript[run.steps++ % TRANSCRIPT_LINES];

	free(*slot);
	*slot = strdup(text);
	if (run.verbose)
		printf("# %u. %s\n", run.steps, text);
}

void test_step(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	harness_note(text);
}

void test_cleanup(void (*fn)(void *), void *arg)
{
	if (run.cleanups == CLEANUPS)
		abort();
	run.cleanup[run.cleanups].fn = fn;
	run.cleanup[run.cleanups++].arg = arg;
}

static bool make_folder(void)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(run.folder, sizeof(run.folder), "%s/t.XXXXXX",
			 tmp && *tmp ? tmp : "/tmp");

	/* Children too leave what they leave in there. */
	return n < (int)sizeof(run.folder) && mkdtemp(run.folder) &&
	       !setenv("TMPDIR", run.folder, 1);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void test_path(char *path, unsigned long size, const char *fmt, ...)
{
	unsigned long n = (unsigned long)snprintf(path, size, "%s/", run.folder);
	va_list ap;
	int more;

	EXPECT(n < size);
	va_start(ap, fmt);
	more = vsnprintf(path + n, size - n, fmt, ap);
	va_end(ap);
	EXPECT(more < (int)(size - n));
}

_Noreturn void test_skip(const char *why)
{
	harness_note(why);
	longjmp(run.leave, 2);
}

static void show_transcript(void)
{
	unsigned int i, from = 0;

	if (run.steps > TRANSCRIPT_SHOWN)
		from = run.steps - TRANSCRIPT_SHOWN;
	printf("# seed %" PRIu64 "; what was done%s:\n", run.seed,
	       from ? " (the last steps)" : "");
	for (i = from; i < run.steps; i++)
		printf("#   %u. %s\n", i + 1,
		       run.transcript[i % TRANSCRIPT_LINES]);
}

static void harness_fail(const char *file, int line, const char *text)
{
	show_transcript();
	printf("# failed here: %s:%d\n#   %s\n", file, line, text);
	fflush(stdout);
	if (getpid() != run.pid || !pthread_equal(pthread_self(), run.thread)) {
		/* The test's own thread cannot be reached from here. */
		printf("Bail out! failed in another %s\n",
		       getpid() != run.pid ? "process" : "thread");
		fflush(stdout);
		_exit(1);
	}
	longjmp(run.leave, 1);
}

void test_expect(bool ok, const char *file, int line, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (ok && !run.verbose)
		return;		/* formatting is for who reads it */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!ok)
		harness_fail(file, line, text);
	printf("#    holds: %s\n", text);
}

void test_expect_str(const char *got, const char *want, const char *what,
		     const char *file, int line)
{
	test_expect(got && want && !strcmp(got, want), file, line,
		    "%s: got \"%s\", wanted \"%s\"", what, got ? got : "(null)",
		    want ? want : "(null)");
}

void test_expect_mem(const void *got, const void *want, unsigned long n,
		     const char *what, const char *file, int line)
{
	const unsigned char *g = got, *w = want;
	unsigned long i;

	for (i = n && memcmp(got, want, n) ? 0 : n; i < n && g[i] == w[i]; i++)
		;
	test_expect(i == n, file, line,
		    "%s: byte %lu of %lu is 0x%02x, wanted 0x%02x", what, i, n,
		    i < n ? g[i] : 0, i < n ? w[i] : 0);
}

static int run_one(const struct test_case *t)
{
	volatile int result;

	run.steps = 0;
	run.cleanups = 0;
	result = setjmp(run.leave);
	if (!result)
		t->run();
	while (run.cleanups) {
		run.cleanups--;
		run.cleanup[run.cleanups].fn(run.cleanup[run.cleanups].arg);
	}
	return result;
}

static int harness_usage(const char *prog, const char *bad)
{
	if (bad)
		fprintf(stderr, "%s: unknown option '%s'\n", prog, bad);
	fprintf(stderr, "usage: %s [-l] [-v] [--seed N] [NAME-PART]\n", prog);
	return 2;
}

int main(int argc, char **argv)
{
	unsigned int n = 0, bad = 0, total = 0;
	const char *part = "";
	struct test_case *t;
	bool list = false;
	int i, result;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-l"))
			list = true;
		else if (!strcmp(argv[i], "-v"))
			run.verbose = true;
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			run.seed = strtoull(argv[++i], NULL, 0);
		else if (argv[i][0] == '-')
			return harness_usage(argv[0], argv[i]);
		else
			part = argv[i];
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!list && !make_folder()) {
		fprintf(stderr, "%s: cannot make a folder %s\n", argv[0],
			run.folder);
		return 2;
	}
	run.thread = pthread_self();
	run.pid = getpid();
	for (t = run.first; t; t = t->next)
		if (strstr(t->name, part))
			total++;
	if (!list)
		printf("KTAP version 1\n1..%u\n", total);
	for (t = run.first; t; t = t->next) {
		if (!strstr(t->name, part))
			continue;
		if (list) {
			printf("%s\n", t->name);
			continue;
		}
		result = run_one(t);
		n++;
		bad += result == 1;
		printf("%s %u %s%s%s\n", result == 1 ? "not ok" : "ok", n,
		       t->name, result == 2 ? " # SKIP " : "",
		       result == 2 ? run.transcript[(run.steps - 1) %
						    TRANSCRIPT_LINES] : "");
	}
	for (i = 0; i < TRANSCRIPT_LINES; i++)
		free(run.transcript[i]);
	if (!list && nftw(run.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS)) {
		fprintf(stderr, "%s: cannot remove %s\n", argv[0], run.folder);
		bad++;
	}
	if (!list && !total) {
		fprintf(stderr, "%s: no test has '%s' in its name\n", argv[0],
			part);
		return 2;
	}
	return bad ? 1 : 0;
}
