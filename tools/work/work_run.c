// SPDX-License-Identifier: BSD-2-Clause
/* One run of a work: set up, registered, carried out, counted, judged. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/entries.h"
#include "host/host.h"
#include "sim/sim.h"
#include "tools/scenario/words.h"
#include "tools/work/stream.h"
#include "tools/work/work_state.h"

#define QUEUE	256u
#define ACCESS	(FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ)
/* A run that is still not over then has stopped for good: all waits end before. */
#define LIMIT_NS	600000000000ull
/* After FAULT_FAST: so long until the next try, and so often at most. */
#define AGAIN_NS	20000u
#define TRIES		400u

static uint64_t run_now(const struct work_state *s)
{
	return sim_now(testbed_sim(s->pair.w));
}

/* The first outcome counts. */
static void run_ends(struct work_state *s, enum work_end end, int error)
{
	if (s->r->end != WORK_OK)
		return;
	s->r->end = end;
	s->r->error = error;
	if (end == WORK_BROKEN || end == WORK_NOT_HERE)
		snprintf(s->r->problem, sizeof(s->r->problem), "%s %s",
			 word_errno_name(error), testbed_why(s->pair.w));
}

/* ---- set-up ---- */

static int run_set_up(struct work_state *s, struct testbed *w)
{
	const struct testbed_config *c = &s->run->cfg;
	const struct testbed_joining join = { .depth = QUEUE };
	struct testbed_board_config board[2] = { { .frames = HOST_PAGES }, { 0 } };
	struct pair_plan plan[2] = { { c->resolve, c->resolve_number },
				     { c->resolve, c->resolve_number } };
	int err;

	board[1] = board[0];
	if (!hazard_boards(s, board)) {
		run_ends(s, WORK_TOO_SMALL, 0);
		return 0;
	}
	err = pair_make(&s->pair, w, board, plan);
	if (err) {
		run_ends(s, err == -EOPNOTSUPP ? WORK_NOT_HERE : WORK_BROKEN, err);
		return 0;
	}
	err = work_data_make(s);
	if (!err)
		err = testbed_connect(s->pair.p, s->pair.q, "c", &join, &s->conn);
	/* A queue pair may need memory that stays (npr). */
	if (err == -ENOMEM) {
		run_ends(s, WORK_NO_START, err);
		return 0;
	}
	return err ? err : hazard_begin(s);
}

/* ---- requests ---- */

static int run_post(struct work_state *s, struct testbed_work *work, unsigned int i)
{
	const struct work_op *op = &s->op[i];
	struct testbed_work *k = &work[i];
	int me = op->back;

	/* Of what is posted again the first time counts. */
	if (!s->begin_ns[i])
		s->begin_ns[i] = run_now(s);
	*k = (struct testbed_work){ .name = "w" };
	k->opcode = op->read ? FL_READ : FL_WRITE;
	k->conn = s->conn;
	k->side = me;
	k->local = s->buffer[me][op->read ? WORK_IN : WORK_OUT];
	k->remote = s->buffer[!me][op->remote];
	k->local_va = (uint64_t)(uintptr_t)k->local->mem + op->local_at;
	k->remote_va = (uint64_t)(uintptr_t)k->remote->mem + op->at;
	k->lkey = k->local->key;
	k->rkey = k->remote->key;
	k->bytes = op->bytes;
	return testbed_post_leased(s->pair.w, k);
}

/* A process that has ended posts nothing, and nobody waits for what it did. */
static bool run_is_gone(const struct work_state *s, unsigned int i)
{
	return s->dead && s->op[i].back;
}

/* False: there is no going on. */
static bool run_wait(struct work_state *s, struct testbed_work *work, unsigned int i)
{
	struct testbed_work *k = &work[i];
	int err = run_is_gone(s, i) ? 0 : hazard_wait(s, k);

	if (run_is_gone(s, i)) {
		s->failed = true;
		return true;
	}
	if (err) {
		s->failed = true;
		run_ends(s, err == -ETIMEDOUT ? WORK_HANG : WORK_ERROR, err);
		return err != -ETIMEDOUT;
	}
	if (k->status) {
		s->failed = true;
		run_ends(s, WORK_ERROR, 0);
		if (!s->r->status)
			s->r->status = k->status;
	}
	return true;
}

/*
 * The first of what is under way met a missing page and has halted its queue pair, so
 * that what its side posted behind it comes back, too. Then it can be resumed.
 * False: there is no going on.
 */
static bool run_resume(struct work_state *s, struct testbed_work *work,
		       unsigned int first, unsigned int end)
{
	unsigned int i;
	int err = 0;

	s->through[first] = false;
	for (i = first + 1; i < end && !err; i++) {
		if (s->through[i] || run_is_gone(s, i))
			continue;
		err = hazard_wait(s, &work[i]);
		s->through[i] = !err && !work[i].status;
	}
	if (!err && !s->dead) {
		sim_sleep(AGAIN_NS);
		err = testbed_resume(s->conn, work[first].side);
	}
	if (!err && !s->dead)
		return true;
	s->failed = true;
	run_ends(s, err == -ETIMEDOUT ? WORK_HANG : WORK_ERROR, err);
	s->r->status = work[first].status;
	return false;
}

/* Did it end with FAULT_FAST, and is it worth another try? */
static bool run_again(struct work_state *s, struct testbed_work *work, unsigned int i)
{
	if (run_is_gone(s, i) || hazard_wait(s, &work[i]) ||
	    work[i].status != FL_ST_FAULT_FAST || s->tries == TRIES)
		return false;
	s->tries++;
	return true;
}

enum begun { BEGUN, BEGUN_LATER, BEGUN_NEVER };

/* Later: there is no room to register for it while others are under way. */
static enum begun run_begin(struct work_state *s, struct testbed_work *work,
			    unsigned int i, bool others)
{
	int err = s->through[i] || run_is_gone(s, i) ? 0 : run_post(s, work, i);

	if (!err)
		return BEGUN;
	if (others && testbed_leases(work_process(s, s->op[i].back)) &&
	    (err == -EDQUOT || err == -ENOMEM))
		return BEGUN_LATER;
	s->failed = true;
	run_ends(s, i || work != s->work[0] ? WORK_ERROR : WORK_NO_START, err);
	return BEGUN_NEVER;
}

/*
 * All requests, depth of them under way; what failed does not stop the others. What
 * ended with FAULT_FAST is posted again, with all that was flushed behind it.
 */
static void run_round(struct work_state *s, struct testbed_work *work)
{
	unsigned int i = 0, done = 0, end = s->n;
	bool go_on = true, full = false;
	enum begun begun;

	memset(s->through, 0, sizeof(s->through));
	memset(s->begin_ns, 0, sizeof(s->begin_ns));
	s->tries = 0;
	while (go_on && done < end) {
		if (i < end && i < done + s->run->work->depth && !full) {
			begun = run_begin(s, work, i, i > done);
			i += begun == BEGUN;
			end = begun == BEGUN_NEVER ? i : end;
			full = begun == BEGUN_LATER;
			continue;
		}
		full = false;
		if (s->through[done]) {
			done++;
		} else if (run_again(s, work, done)) {
			go_on = run_resume(s, work, done, i);
			i = done;
		} else {
			go_on = run_wait(s, work, done++);
		}
	}
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The least time that so many percent of the operations do not exceed. */
static uint64_t time_percentile(const uint64_t *sorted, unsigned int n, unsigned int p)
{
	return n ? sorted[(n * p + 99) / 100 - 1] : 0;
}

static void run_times(struct work_state *s, const struct testbed_work *work)
{
	uint64_t took[WORK_MOST_OPS], begin = s->begin_ns[0];
	unsigned int i, n = 0;

	s->r->transfer_ns = work[s->n - 1].done_ns -
			    (s->tries ? begin : work[0].post_ns);
	for (i = 0; i < s->n; i++) {
		if (s->op[i].last)
			took[n++] = work[i].done_ns - begin;
		if (s->op[i].last && i + 1 < s->n)
			begin = s->begin_ns[i + 1];
	}
	qsort(took, n, sizeof(*took), compare_ns);
	s->r->p50_ns = time_percentile(took, n, 50);
	s->r->p99_ns = time_percentile(took, n, 99);
	s->r->ops = n;
}

static int run_rounds(struct work_state *s)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->rounds && s->r->end == WORK_OK && !err; i++) {
		if (i)
			err = hazard_between(s);
		if (err)
			break;
		work_data_apply(s);
		s->kill_ns = s->run->plain_ns ? run_now(s) + s->run->plain_ns / 2 : 0;
		run_round(s, s->work[i]);
		if (s->r->end != WORK_OK)
			break;
		s->r->round_ns[i] = s->work[i][s->n - 1].done_ns - s->begin_ns[0];
		run_times(s, s->work[i]);
	}
	return err;
}

/* ---- regions ---- */

/* Where regions are kept, each request has one of its own instead (run_post()). */
static int run_register(struct work_state *s)
{
	int who, which, err = 0;

	for (who = 0; who < 2; who++)
		for (which = WORK_OUT; which <= WORK_IN && !err; which++)
			if (s->buffer[who][which] &&
			    !testbed_leases(work_process(s, who)))
				err = testbed_region_add(s->buffer[who][which],
					0, 0, which == WORK_IN ? ACCESS :
								 FL_REMOTE_READ,
					0);
	return err;
}

static int run_deregister(struct work_state *s)
{
	int who, which, err = 0;

	for (who = 0; who < (s->dead ? 1 : 2); who++)
		for (which = WORK_OUT; which <= WORK_IN && !err; which++)
			if (s->buffer[who][which] &&
			    s->buffer[who][which]->registered)
				err = testbed_region_remove(s->buffer[who][which]);
	return err;
}

/* What an application pays: from the first registration to the last deregistration. */
static int run_measured(struct work_state *s)
{
	uint64_t start = run_now(s), i;
	int err = run_register(s);

	if (err) {
		run_ends(s, WORK_NO_START, err);
		return run_deregister(s);
	}
	err = hazard_registered(s);
	if (!err)
		err = run_rounds(s);
	if (!err)
		err = run_deregister(s);
	s->r->total_ns = run_now(s) - start;
	for (i = 0; i < s->n; i++)
		s->r->asked_bytes += s->op[i].bytes;
	return err;
}

/* NetVM's transport has no READ. */
static bool run_possible(struct work_state *s)
{
	bool writes_only = work_process(s, 0)->system.row.transport == FL_TRANSPORT_NV;
	unsigned int i;

	for (i = 0; writes_only && i < s->n; i++)
		if (s->op[i].read)
			return false;
	return true;
}

static void run_script(struct testbed *w, void *arg)
{
	struct testbed_process *nobody[2] = { NULL, NULL }, *ask[2];
	struct work_state *s = arg;
	struct work_counts start;
	int err;

	s->pair.w = w;
	err = run_set_up(s, w);
	if (s->r->end == WORK_OK && !run_possible(s))
		run_ends(s, WORK_NOT_HERE, -EOPNOTSUPP);
	if (s->r->end != WORK_OK)
		return;
	if (!err)
		err = counts_read(&s->pair, nobody, &start);
	if (!err)
		err = run_measured(s);
	if (!err && s->r->end != WORK_HANG) {
		ask[0] = s->pair.p;
		ask[1] = s->dead ? NULL : s->pair.q;
		err = counts_read(&s->pair, ask, &s->r->count);
		counts_since(&s->r->count, &start);
	}
	if (!err && s->r->end != WORK_HANG && s->r->end != WORK_NO_START)
		err = work_data_check(s);
	if (err == -EBADMSG)
		s->r->end = WORK_WRONG;
	else if (err == -ENOMEM && s->run->hazard == WORK_PRESSURE)
		run_ends(s, WORK_ERROR, err);	/* what is pinned leaves no page to read by */
	else if (err)
		run_ends(s, WORK_BROKEN, err);
}

/* Bytes that are wrong, a request without an end: the testbed sees these as well. */
static void run_judge(struct work_state *s, int err)
{
	struct work_result *r = s->r;

	if (err == -EDEADLK)
		r->end = WORK_HANG;
	else if (err && (r->end == WORK_OK || r->end == WORK_ERROR ||
			 r->end == WORK_NO_START || r->end == WORK_TOO_SMALL))
		r->end = WORK_BROKEN;
}

/*
 * False: it is too small for it, or has none. Where nothing comes through any more the sender
 * gives up after its last time-out, which takes hours of virtual time.
 */
static bool stream_hazard(const struct work_run *run, struct stream *s)
{
	switch (run->hazard) {
	case WORK_PRESSURE:
		s->pages = hazard_half(run->work->depth);
		return s->pages;
	case WORK_LOSS:
		s->loss_ppm = HAZARD_LOSS_PPM;
		return true;
	case WORK_DIES:
		s->dies = (uint32_t)(run->work->count + 1) / 2;
		s->limit_ns = 0;
		return true;
	case WORK_RIGHTS:
		s->read_only = true;
		s->limit_ns = 0;
		return true;
	default:
		return !work_lacks(run->work, run->hazard);
	}
}

/* A stream has boards of its own. */
static void run_stream(const struct work_run *run, struct work_result *r)
{
	struct stream s = {
		.system = run->cfg.system, .cold = run->work->cold_ppm,
		.ring = (unsigned int)run->work->depth,
		.packets = (uint32_t)run->work->count, .seed = run->cfg.seed,
		.profile = run->cfg.profile ? run->cfg.profile : "ideal",
		.sets = run->cfg.sets, .trace = run->cfg.trace, .limit_ns = LIMIT_NS,
	};
	static const enum work_end ends[] = {
		[STREAM_OK] = WORK_OK, [STREAM_GAVE_UP] = WORK_ERROR,
		[STREAM_LIMIT] = WORK_HANG, [STREAM_REFUSED] = WORK_ERROR,
		[STREAM_BROKEN] = WORK_BROKEN,
	};
	struct stream_result got;

	r->end = WORK_TOO_SMALL;
	if (!stream_hazard(run, &s))
		return;
	stream_run(&s, &got);
	snprintf(r->problem, sizeof(r->problem), "%s", got.problem);
	r->end = ends[got.end];
	r->error = got.end == STREAM_GAVE_UP ? -ETIMEDOUT : 0;
	r->status = got.status;
	r->asked_bytes = run->work->count * STREAM_PACKET;
	r->ops = 1;
	r->total_ns = got.total_ns;
	r->transfer_ns = r->p50_ns = r->p99_ns = got.ns;
	r->count = got.count;
	r->count.resent = got.sent - run->work->count;
}

void work_run(const struct work_run *run, struct work_result *r)
{
	struct work_state *s;
	struct testbed_config cfg = run->cfg;
	char problem[300];
	int err;

	memset(r, 0, sizeof(*r));
	if (run->work->kind == WORK_STREAM) {
		run_stream(run, r);
		return;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		r->end = WORK_BROKEN;
		snprintf(r->problem, sizeof(r->problem), "no memory");
		return;
	}
	s->run = run;
	s->r = r;
	s->rounds = run->hazard == WORK_REMAP ? 2 : 1;
	s->n = work_ops(run->work, run->cfg.seed, s->op);
	work_sizes(s->op, s->n, &s->size);
	cfg.limit_ns = LIMIT_NS;
	err = pair_run(&cfg, run_script, s, problem, sizeof(problem));
	run_judge(s, err);
	if (err && !r->problem[0])
		snprintf(r->problem, sizeof(r->problem), "%s", problem);
	if (err == -EDEADLK)
		return;		/* threads that can never end still use s */
	work_data_free(s);
	free(s);
}
