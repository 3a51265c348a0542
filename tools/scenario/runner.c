// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/runner.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "tools/scenario/guest_rules.h"
#include "tools/scenario/landing.h"
#include "tools/scenario/runner_internal.h"
#include "tools/scenario/words.h"

#define RECORDS_A_THREAD (1u << 16)
/* Lockstep: of all boards together, if each has that many. */
#define RECORDS_BOARDS	(1u << 20)
#define RECORDS_A_BOARD	(1u << 16)

#define SETS_MAX 64

static void add_line(struct run *r, char *text)
{
	char **more;

	if (r->verbose)
		fprintf(r->out, "%s\n", text);
	if (r->lines == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		more = realloc(r->transcript, r->room * sizeof(*more));
		if (!more) {
			r->room = r->lines;
			free(text);
			return;
		}
		r->transcript = more;
	}
	r->transcript[r->lines++] = text;
}

void run_note(struct run *r, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0)
		add_line(r, text);
	va_end(ap);
}

#define SHOWN 60

static void runner_fail(struct run *r, const struct statement *st,
			const char *want, const char *have)
{
	size_t i = r->lines > SHOWN ? r->lines - SHOWN : 0;

	r->report->failures++;
	if (!r->verbose) {
		fprintf(r->out, "what was done%s:\n",
			i ? " (the last steps)" : "");
		for (; i < r->lines; i++)
			fprintf(r->out, "%s\n", r->transcript[i]);
	}
	fprintf(r->out, "%s:%d:%d: FAILED: %s\n  expected: %s\n  got:      "
	"%s\n",
		r->s->file, st->at.line, st->at.column, st->text, want, have);
}

/* What the line wants, as words: what stands behind `expect`. */
static void runner_check(struct run *r, const struct statement *st)
{
	enum held held = run_expect(r, st);
	const char *want = st->text + strcspn(st->text, " \t");

	while (*want == ' ' || *want == '\t')
		want++;
	r->report->expectations++;
	run_note(r, "      %s: %s", held == HELD ? "holds" :
		 held == NOT_CHECKED ? "not checked (lockstep only)" :
				       "does not hold", r->got);
	if (held == NOT_HELD)
		runner_fail(r, st, want, r->got);
}

static bool is_post(enum verb v)
{
	return v == V_POST || v == V_SEND || v == V_RECEIVE || v == V_ATOMIC;
}

/* One statement; false: the scenario cannot go on. */
static bool runner_step(struct run *r, const struct statement *st)
{
	char have[420], want[40];
	int err;

	snprintf(r->doing, sizeof(r->doing), "%.180s:%d: %.300s", r->s->file,
		 st->at.line, st->text);
	landing_doing(r->doing);
	run_note(r, "%4u. %10llu ns  %s", ++r->report->statements,
		 (unsigned long long)sim_now(testbed_sim(r->w)), st->text);
	if (st->verb >= V_EXPECT_STATUS && st->verb <= V_EXPECT_ABSENT) {
		runner_check(r, st);
		return true;
	}
	err = st->verb >= V_PRINT_TIME ? run_print(r, st) : run_act(r, st);
	if (err == st->fails) {
		if (err)
			run_note(r, "      fails with %s, as it should",
				 word_errno_name(err));
		return true;
	}
	/* A post that fails is also a result: `expect status` may ask for it. */
	if (is_post(st->verb) && !st->fails &&
	    r->work[st->arg[0].name].error == err) {
		run_note(r, "      refused: %s", word_errno_name(err));
		return true;
	}
	snprintf(have, sizeof(have), "%s%s%s", err ? word_errno_name(err) :
		 "it succeeded", testbed_why(r->w)[0] && err ? ": " : "",
		 err ? testbed_why(r->w) : "");
	snprintf(want, sizeof(want), "%s", st->fails ?
		 word_errno_name(st->fails) : "success");
	runner_fail(r, st, want, have);
	return false;
}

static bool is_asked(const struct scenario *s, int work)
{
	int i;

	for (i = 0; i < s->count; i++)
		if ((s->st[i].verb == V_EXPECT_STATUS ||
		     (is_post(s->st[i].verb) && s->st[i].fails)) &&
		    s->st[i].arg[0].name == work)
			return true;
	return false;
}

static void unasked_say(struct run *r, const struct statement *st,
			const struct testbed_work *k)
{
	if (testbed_message_waits(k))
		fprintf(r->out, "%s:%d:%d: note: %s waits for a receive, and "
			"its peer has posted none\n", r->s->file, st->at.line,
			st->at.column, k->name);
	else if ((k->error || (k->done && k->status)) &&
		 !is_asked(r->s, st->arg[0].name))
		fprintf(r->out, "%s:%d:%d: note: %s ended as %s, and no line "
			"expects a status of it\n", r->s->file, st->at.line,
			st->at.column, k->name,
			k->error ? word_errno_name(k->error) :
				   word_status_name(k->status));
}

/*
 * A work request that failed is a result. But who never asks for it may think that all
 * went well: say it, as a note.
 */
static void note_unasked(struct run *r)
{
	bool told[RUN_NAMES] = { false };
	const struct statement *st;
	int i;

	for (i = r->s->count; i--;) {
		st = &r->s->st[i];
		if (!is_post(st->verb) || told[st->arg[0].name])
			continue;
		told[st->arg[0].name] = true;
		unasked_say(r, st, &r->work[st->arg[0].name]);
	}
}

static void runner_policy(struct run *r, const struct statement *st)
{
	const struct testbed_config *cfg = testbed_cfg(r->w);
	const struct arg *resolve = statement_option(st, "resolve");
	const struct arg *cache = statement_option(st, "cache");
	const struct arg *hook = statement_option(st, "hook");
	const struct arg *verify = statement_option(st, "verify");
	const struct scenario_system *d = &r->s->system[st->arg[0].choice < 0 ?
							st->arg[0].name : 0];

	if (!cfg->system_given && st->arg[0].choice >= 0)
		r->system = testbed_row((enum fl_system)st->arg[0].choice);
	else if (!cfg->system_given)
		r->system = (struct testbed_system){ .like = d->like,
						     .derived = true,
						     .row = d->row };
	/* Another system was chosen on the command line? Its processes drop what is not theirs. */
	r->system.cache = (struct rpc_cache){
		.bytes = cache ? cache->number : 0,
		.hook = !hook ? RPC_HOOK_USUAL : hook->choice ? RPC_HOOK_NO :
								RPC_HOOK_YES,
	};
	r->system.unverified = verify && verify->choice;
	r->system.quirks = r->system.row.transport != FL_TRANSPORT_RC ?
				   0 : (uint32_t)statement_number(st, "quirk", 0);
	if (r->system.row.rw == FL_VERDICT_DIVERT) {
		r->system.ring_slots = (uint32_t)statement_number(st, "slots", 0);
		r->system.ring_bits = (uint32_t)statement_number(st, "bm", 0);
	} else {
		r->system.ring_slots = r->system.ring_bits = 0;
	}
	if (resolve && !cfg->resolve_given) {
		r->resolve = (enum fl_resolve)resolve->choice;
		r->resolve_number = (uint32_t)resolve->number;
	}
}

static void runner_script(struct testbed *w, void *arg)
{
	struct run *r = arg;
	const struct statement *st;
	int at = 0, depth = 0;

	r->w = w;
	while (at < r->s->count) {
		st = &r->s->st[at];
		if (st->verb == V_REPEAT) {
			r->left[depth++] = (uint32_t)st->arg[0].number;
			if (!st->arg[0].number) {
				depth--;
				at = st->other;
			}
		} else if (st->verb == V_END) {
			if (--r->left[depth - 1])
				at = st->other;
			else
				depth--;
		} else if (st->verb == V_POLICY) {
			runner_policy(r, st);
		} else if (st->verb != V_PROFILE && st->verb != V_SET &&
			   st->verb != V_SYSTEM &&
			   !runner_step(r, st)) {
			return;
		}
		at++;
	}
	note_unasked(r);
}

/* profile and set stand before everything else, since the scheduler needs them. */
static int runner_head(const struct scenario *s, struct testbed_config *cfg,
		       const char **sets, char *room, size_t room_bytes,
		       FILE *out)
{
	const struct statement *st;
	uint64_t ns;
	size_t used = 0;
	bool built = false;
	int i, n = 0, k;

	for (i = 0; i < s->count; i++) {
		st = &s->st[i];
		if (st->verb == V_BOARD)
			built = true;
		if (st->verb != V_PROFILE && st->verb != V_SET)
			continue;
		if (built) {
			fprintf(out, "%s:%d:%d: '%s' stands here; wanted: "
			"before the first board\n",
				s->file, st->at.line, st->at.column, st->text);
			return -EINVAL;
		}
		if (st->verb == V_PROFILE) {
			if (!cfg->profile_given)
				cfg->profile = st->arg[0].word;
			continue;
		}
		if (!strcmp(st->arg[0].word, "jitter")) {
			if (word_time(st->arg[2].word, &ns)) {
				fprintf(out, "%s:%d:%d: '%s' stands here; "
				"wanted: a time, like 500ns\n",
					s->file, st->arg[2].at.line,
					st->arg[2].at.column, st->arg[2].word);
				return -EINVAL;
			}
			cfg->jitter_ns = (uint32_t)ns;
			continue;
		}
		k = snprintf(room + used, room_bytes - used, "%s=%s",
			     st->arg[0].word, st->arg[2].word);
		if (n == SETS_MAX || k < 0 || used + (size_t)k >= room_bytes)
			return -ENOSPC;
		sets[n++] = room + used;
		used += (size_t)k + 1;
	}
	/* The command line comes last, so that it wins. */
	for (i = 0; cfg->sets && cfg->sets[i] && n < SETS_MAX; i++)
		sets[n++] = cfg->sets[i];
	sets[n] = NULL;
	cfg->sets = sets;
	return 0;
}

/* Expectations look back at the whole run; time does not matter here. */
static uint32_t runner_records(const struct scenario *s, enum sim_mode mode)
{
	uint32_t n = RECORDS_BOARDS;

	if (mode == SIM_THREADS)
		return RECORDS_A_THREAD;
	while (n > RECORDS_A_BOARD && n * (uint64_t)s->names[NAME_BOARD] > RECORDS_BOARDS)
		n /= 2;
	return n;
}

int scenario_run(const struct scenario *s, const struct testbed_config *given,
		 FILE *out, bool verbose, struct runner_report *report)
{
	struct testbed_config cfg = *given;
	const char *sets[SETS_MAX + 1], *files[GUEST_FILES + 1];
	char room[4096], error[500];
	struct run *r = calloc(1, sizeof(*r));
	struct testbed *w;
	int err;

	memset(report, 0, sizeof(*report));
	if (!r) {
		fprintf(out, "%s: no memory\n", s->file);
		return 2;
	}
	if (cfg.guest_script && !guest_rules_hold(s, out, files)) {
		free(r);
		return 2;
	}
	cfg.guest_files = files;
	if (runner_head(s, &cfg, sets, room, sizeof(room), out)) {
		free(r);
		return 2;
	}
	if (!cfg.trace_records)
		cfg.trace_records = runner_records(s, cfg.mode);
	w = testbed_create(&cfg, error, sizeof(error));
	if (!w) {
		fprintf(out, "%s: %s\n", s->file, error);
		free(r);
		return 2;
	}
	r->s = s;
	r->out = out;
	r->verbose = verbose;
	r->system = testbed_row(cfg.system);
	r->resolve = cfg.resolve;
	r->resolve_number = cfg.resolve_number;
	r->report = report;
	err = testbed_run(w, runner_script, r);
	report->time_ns = sim_now(testbed_sim(w));
	report->events = sim_events(testbed_sim(w));
	if (err) {
		report->failures++;
		fprintf(out, "%s: FAILED: %s\n", s->file,
			testbed_problem(w) ? testbed_problem(w) :
					   word_errno_name(err));
	}
	while (err != -EDEADLK && r->lines)
		free(r->transcript[--r->lines]);
	testbed_destroy(w);
	if (err == -EDEADLK)
		return 1;	/* threads that can never end still use r */
	free(r->transcript);
	free(r);
	return report->failures ? 1 : 0;
}
