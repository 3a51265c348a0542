// SPDX-License-Identifier: BSD-2-Clause
/*
 * The test's side: its steps and expectations, and what is left of the moment
 * when one did not hold. There is one test in a process, hence the statics.
 */
#include "tools/grade/grade.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/view/view.h"
#include "trace/trace.h"

#define SHOWN 24	/* steps of a long test: the last so many */
#define STEP_BYTES 160
#define TOLD_MOST 800	/* bytes of what was expected, and of what came */

const char *const verdict_names[V_COUNT] = {
	"pass", "wrong", "crashed", "hung", "did-not-start", "did-not-build",
	"parent-failed", "not-here", "grader-failed",
};

static struct judge_test *first, **last = &first;

static struct {
	struct talk talk;
	bool started;
	struct subject_msg asked[SUBJECT_ASKED];	/* the first of them are told, not asked */
	struct {
		judge_check *check;
		uint64_t want[JUDGE_WANTS];
	} later[SUBJECT_ASKED];
	unsigned int told;
	bool late;	/* what they come to may be seen later than it was */
	const struct judge_test *test;
	struct grade *g;
	uint64_t random;
	char step[SHOWN][STEP_BYTES];
	unsigned int steps;
	char held[2 * TOLD_MOST + 256];	/* why the test failed */
	jmp_buf leave;
	enum verdict verdict;
} now;

void judge_register(struct judge_test *t)
{
	*last = t;
	last = &t->next;
}

const struct judge_test *judge_find(const char *name)
{
	const struct judge_test *t;

	for (t = first; t && strcmp(t->name, name); t = t->next)
		;
	return t;
}

void judge_did(const char *fmt, ...)
{
	va_list ap;

	now.late |= now.told;
	va_start(ap, fmt);
	vsnprintf(now.step[now.steps++ % SHOWN], STEP_BYTES, fmt, ap);
	va_end(ap);
}

void judge_end(enum verdict v)
{
	now.verdict = v;
	longjmp(now.leave, 1);
}

/* The first n of now.asked. */
static void judge_ask_now(unsigned int n)
{
	unsigned int told = now.told, i;
	enum verdict v;

	if (!n)
		return;
	if (!now.started) {
		v = talk_start(&now.talk, now.g);
		now.g->confined = now.talk.confined;
		if (v != V_PASS)
			judge_end(v);
		now.started = true;
	}
	v = talk_ask(&now.talk, now.asked, n);
	if (v != V_PASS)
		judge_end(v);
	for (i = 0; i < told; i++)
		if (now.later[i].check)
			now.later[i].check(&now.asked[i], now.later[i].want);
	now.told = 0;
	now.late = false;
}

void judge_ask_all(struct subject_msg *m, unsigned int n)
{
	unsigned int first = now.told, most = SUBJECT_ASKED - first;

	if (n > most) {
		judge_ask_all(m, most);
		judge_ask_all(m + most, n - most);
		return;
	}
	memcpy(&now.asked[first], m, n * sizeof(*m));
	judge_ask_now(first + n);
	memcpy(m, &now.asked[first], n * sizeof(*m));
}

void judge_ask(struct subject_msg *m)
{
	judge_ask_all(m, 1);
}

void judge_tell(const struct subject_msg *m, judge_check *check, const uint64_t want[JUDGE_WANTS])
{
	now.late |= check != NULL;
	now.later[now.told].check = check;
	if (want)
		memcpy(now.later[now.told].want, want, sizeof(now.later[0].want));
	now.asked[now.told++] = *m;
	if (now.told == SUBJECT_ASKED || now.g->careful || !now.started)
		judge_ask_now(now.told);
}

void judge_settle(void)
{
	judge_ask_now(now.told);
}

void judge_same(const char *what, const char *came, const char *expected)
{
	static const char nothing[] = "(nothing)";

	if (!strcmp(came, expected))
		return;
	/* A list that is cut says so: it would be compared with the other. */
	snprintf(now.held, sizeof(now.held),
		 "%.160s\n     expected: %.*s%s\n     came:     %.*s%s", what,
		 TOLD_MOST, expected[0] ? expected : nothing,
		 strlen(expected) > TOLD_MOST ? " ..." : "",
		 TOLD_MOST, came[0] ? came : nothing,
		 strlen(came) > TOLD_MOST ? " ..." : "");
	judge_end(V_WRONG);
}

static void judge_number(char *text, size_t size, const char *than,
			 uint64_t value)
{
	if (value < 10)
		snprintf(text, size, "%s%" PRIu64, than, value);
	else
		snprintf(text, size, "%s%" PRIu64 " (0x%" PRIx64 ")", than,
			 value, value);
}

void judge_equal(const char *what, uint64_t came, uint64_t expected)
{
	char a[64], b[64];

	judge_number(a, sizeof(a), "", came);
	judge_number(b, sizeof(b), "", expected);
	judge_same(what, a, b);
}

void judge_at_least(const char *what, uint64_t came, uint64_t expected)
{
	char a[64], b[64];

	if (came >= expected)
		return;
	judge_number(a, sizeof(a), "", came);
	judge_number(b, sizeof(b), "at least ", expected);
	judge_same(what, a, b);
}

/* xorshift64*, as the unit tests have it. */
uint64_t judge_random(void)
{
	now.random ^= now.random >> 12;
	now.random ^= now.random << 25;
	now.random ^= now.random >> 27;
	return now.random * UINT64_C(0x2545f4914f6cdd1d);
}

/* The trace of the last moments, and the walk that met the last fault. */
static void leave_moment(FILE *f)
{
	static char text[SUBJECT_TRACE_MAX + 1];
	char path[1024], picture[1024];
	struct view_trace t;
	unsigned int faults = 0;
	size_t i;
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s.trace", now.g->out, now.test->name);
	snprintf(picture, sizeof(picture), "%s/%s.dot", now.g->out,
		 now.test->name);
	if (!talk_trace(&now.talk, text, sizeof(text)))
		return;
	out = fopen(path, "w");
	if (!out)
		return;
	fputs(text, out);
	fclose(out);
	fprintf(f, "trace: %s\n", path);
	if (view_load(path, &t, stderr))
		return;
	for (i = 0; i < t.n; i++)
		faults += t.r[i].event == EV_SMMU_FAULT;
	out = faults ? fopen(picture, "w") : NULL;
	if (out) {
		if (!view_walk(out, &t, 0, faults))
			fprintf(f, "picture: %s (the last fault; dot -Tsvg)\n",
				picture);
		fclose(out);
	}
	view_free(&t);
}

/* Each line of what came in several. */
static void judge_put_lines(FILE *f, const char *before, const char *text)
{
	size_t n;

	while (*text) {
		n = strcspn(text, "\n");
		fprintf(f, "%s%.*s\n", before, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void judge_explain(FILE *f, enum verdict v)
{
	unsigned int i = now.steps > SHOWN ? now.steps - SHOWN : 0;

	fprintf(f, "seed %" PRIu64 "; what was done%s:\n", now.g->seed,
		i ? " (the last steps)" : "");
	for (; i < now.steps; i++)
		fprintf(f, "  %u. %s\n", i + 1, now.step[i % SHOWN]);
	if (v == V_WRONG)
		fprintf(f, "  => %s\n", now.held);
	else
		fprintf(f, "  => %s: %s\n", verdict_names[v], now.talk.why);
	if (v == V_WRONG)
		leave_moment(f);
	talk_end(&now.talk);
	if (now.talk.said[0])
		judge_put_lines(f, "printed: ", now.talk.said);
}

enum verdict judge_run(const struct judge_test *t, struct grade *g, char **text)
{
	size_t bytes;
	FILE *f = open_memstream(text, &bytes);

	if (!f)
		return V_GRADER;
	now.test = t;
	now.g = g;
	now.random = g->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	now.verdict = V_PASS;
	if (!setjmp(now.leave)) {
		t->run();
		judge_ask_now(now.told);
	}
	if (now.verdict == V_PASS && !now.started) {
		now.verdict = V_GRADER;
		snprintf(now.talk.why, sizeof(now.talk.why),
			 "this test asks nothing");
	}
	g->late = now.late;
	if (now.verdict != V_PASS)
		judge_explain(f, now.verdict);
	else
		talk_end(&now.talk);
	fclose(f);
	return now.verdict;
}
