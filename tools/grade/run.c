// SPDX-License-Identifier: BSD-2-Clause
/*
 * One process for each test. It tells its verdict over a pipe, signed with a key
 * that only this run has: should a subject ever get hold of the pipe, what it
 * writes there is nobody's verdict.
 */
#include "tools/confine/confine.h"
#include "tools/grade/grade.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"

#define TEXT_MAX (1u << 16)
/* All tests together, in times of what one may wait: who sleeps a little in each. */
#define WHOLE 20

struct result {
	char sign[65];
	uint32_t verdict, confined, late;
	uint32_t bytes;		/* of the transcript */
	char test[48];
	char text[TEXT_MAX];
};

static uint8_t key[GRADE_KEY];

static size_t signed_bytes(const struct result *r)
{
	return offsetof(struct result, text) + r->bytes -
	       offsetof(struct result, verdict);
}

static void run_child(struct grade *g, const struct judge_test *t, int fd)
{
	static struct result r;
	const char *p = (const char *)&r;
	char *text = NULL;
	size_t n, left;
	ssize_t done;

	setsid();
	os_end_with_parent();
	/* Judge and subject take turns. */
	os_stay_here();
	r.verdict = judge_run(t, g, &text);
	r.confined = g->confined;
	r.late = g->late;
	n = text ? strlen(text) : 0;
	r.bytes = n < TEXT_MAX ? (uint32_t)n : TEXT_MAX;
	memcpy(r.text, text, r.bytes);
	snprintf(r.test, sizeof(r.test), "%s", t->name);
	hmac(key, &r.verdict, signed_bytes(&r), r.sign);
	for (left = offsetof(struct result, text) + r.bytes; left;) {
		done = write(fd, p, left);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			_exit(1);
		p += done;
		left -= (size_t)done;
	}
	_exit(0);
}

static bool result_good(const struct result *r, size_t n, const char *test)
{
	char sign[65];

	if (n < offsetof(struct result, text) || r->bytes > TEXT_MAX ||
	    n != offsetof(struct result, text) + r->bytes ||
	    r->verdict >= V_COUNT || strcmp(r->test, test))
		return false;
	hmac(key, &r->verdict, signed_bytes(r), sign);
	return !memcmp(sign, r->sign, sizeof(sign));
}

static enum verdict run_one_test(struct grade *g, struct grade_test *t,
				 const struct judge_test *j)
{
	static struct result r;
	size_t n = 0;
	ssize_t got;
	int fd[2];
	pid_t pid;

	memset(&r, 0, offsetof(struct result, text));
	fflush(NULL);
	if (pipe(fd))
		return V_GRADER;
	pid = fork();
	if (!pid) {
		close(fd[0]);
		run_child(g, j, fd[1]);
	}
	close(fd[1]);
	while (pid > 0 && n < sizeof(r)) {
		got = read(fd[0], (char *)&r + n, sizeof(r) - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	close(fd[0]);
	if (pid < 0 || waitpid(pid, NULL, 0) < 0 ||
	    !result_good(&r, n, t->name))
		return V_GRADER;
	g->confined = r.confined;
	g->late = r.late;
	t->text = r.bytes ? strndup(r.text, r.bytes) : NULL;
	return (enum verdict)r.verdict;
}

/*
 * A test that failed when its questions were asked together is run again, one question at a
 * time: then the last of its steps is the one that was wrong.
 */
static enum verdict run_and_explain(struct grade *g, struct grade_test *t,
				    const struct judge_test *j)
{
	enum verdict v, again;
	char *text;

	g->careful = false;
	v = run_one_test(g, t, j);
	if (v == V_PASS || v >= V_NO_START || !g->late)
		return v;
	text = t->text;
	t->text = NULL;
	g->careful = true;
	again = run_one_test(g, t, j);
	if (again != V_PASS) {
		free(text);
		return again;
	}
	/* Its answers are not always the same. */
	free(t->text);
	t->text = text;
	return v;
}

static struct grade_test *run_find_test(struct grade *g, const char *name)
{
	unsigned int i;

	for (i = 0; i < g->tests; i++)
		if (!strcmp(g->test[i].name, name))
			return &g->test[i];
	return NULL;
}

/* A parent stands above its children in the rubric. exact: part is a whole name. */
static bool run_wanted(struct grade *g, const struct grade_test *t, const char *part,
		       bool exact)
{
	unsigned int i;

	if (exact ? !strcmp(t->name, part) : strstr(t->name, part) != NULL)
		return true;
	for (i = 0; i < g->tests; i++)
		if (!strcmp(g->test[i].parent, t->name) &&
		    run_wanted(g, &g->test[i], part, exact))
			return true;
	return false;
}

static void drop_rest(struct grade *g, const char *part)
{
	bool keep[GRADE_TESTS];
	unsigned int i, n = 0;

	for (i = 0; i < g->tests; i++)
		keep[i] = run_wanted(g, &g->test[i], part,
				     run_find_test(g, part));
	for (i = 0; i < g->tests; i++)
		if (keep[i])
			g->test[n++] = g->test[i];
	g->tests = n;
}

static void run_make_key(void)
{
	FILE *f;

	errno = 0;
	f = fopen("/dev/urandom", "rb");
	if (!f || fread(key, 1, sizeof(key), f) != sizeof(key)) {
		fprintf(stderr, "grade: no random numbers from /dev/urandom: %s\n",
			errno ? strerror(errno) : "it ends");
		exit(2);
	}
	fclose(f);
}

static enum verdict too_late(struct grade_test *t)
{
	t->text = strdup("  => hung: the tests before it took all the time\n");
	return V_HUNG;
}

void grade_run(struct grade *g, const char *part)
{
	uint64_t spent_ms = 0;
	unsigned int i;

	run_make_key();
	confine_private();
	drop_rest(g, part);
	for (i = 0; i < g->tests; i++) {
		struct grade_test *t = &g->test[i];
		const struct grade_test *parent = run_find_test(g, t->parent);
		const struct judge_test *j = judge_find(t->name);
		uint64_t start = os_now_ns();

		if (j)
			snprintf(t->says, sizeof(t->says), "%s", j->sentence);
		if (!g->built)
			t->verdict = V_NOT_BUILT;
		else if (!j)
			t->verdict = V_ABSENT;
		else if (parent && parent->verdict != V_PASS)
			t->verdict = V_PARENT;
		else if (spent_ms >= WHOLE * 1000 * (uint64_t)g->limits.wall_s)
			t->verdict = too_late(t);
		else
			t->verdict = run_and_explain(g, t, j);
		t->got = t->verdict == V_PASS ? t->points : 0;
		t->ms = (os_now_ns() - start) / 1000000;
		spent_ms += t->ms;
	}
}
