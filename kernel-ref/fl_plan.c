// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much to bring in at a fault.
 *
 * All that a plan sees of a process is its faults: a page that was brought in time
 * causes none, and the SMMU sets no access flag, so the driver never learns which of
 * its guesses were used. What the plans learn from is where the next fault is. When
 * it is where a guess ended, the guess was right, and all of it was used.
 *
 * Places and distances are counted in pages of the card. There is no division, and
 * no loop whose length depends on what a process does.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include "fl_dev.h"
#include "fl_plan.h"

#define FL_PLAN_DOUBLE_MOST	64	/* pages */
/* Deltas of majority, and the smallest part of them that is asked first. */
#define FL_PLAN_DELTAS		32
#define FL_PLAN_DELTAS_LEAST	4
/* Pairs of deltas that history remembers what came after. */
#define FL_PLAN_PAIRS		12
#define FL_PLAN_TRUST		3

static s64 plan_page(u64 va)
{
	return (s64)(va / FL_PLAN_PAGE);
}

/* A fault is where the first page is missing; a block may begin with what is there. */
static s64 plan_place(const struct fl_plan_fault *fault)
{
	return plan_page(fault->first.start);
}

static s64 plan_length(const struct fl_plan_fault *fault)
{
	return plan_page(fault->block.end - fault->first.start);
}

/* A guess: n pages from page on. fl_plan_clamp() drops what is outside. */
static void plan_guess(struct fl_plan_bring *bring, s64 page, s64 n)
{
	struct fl_range *r = &bring->ahead[bring->count];

	if (page < 0 || n <= 0 || bring->count == FL_PLAN_AHEAD)
		return;
	r->start = (u64)page * FL_PLAN_PAGE;
	r->end = (u64)(page + n) * FL_PLAN_PAGE;
	bring->count++;
}

/* ---- without memory ---- */

/*
 * The first of the missing pages, and no other. The card asks for the block again,
 * and reports the next one.
 */
static void plan_first(const struct fl_plan_fault *fault,
		       struct fl_plan_state *state, struct fl_plan_bring *bring)
{
	bring->now = fault->first;
}

static void plan_block(const struct fl_plan_fault *fault,
		       struct fl_plan_state *state, struct fl_plan_bring *bring)
{
	bring->now = fault->block;
}

static void plan_transfer(const struct fl_plan_fault *fault,
			  struct fl_plan_state *state,
			  struct fl_plan_bring *bring)
{
	bring->now = fault->block;
	bring->rest = 1;
}

/* As many pages on either side of the block, and all of them before the answer. */
static void plan_around(const struct fl_plan_fault *fault,
			struct fl_plan_state *state,
			struct fl_plan_bring *bring)
{
	u64 side = (u64)fault->number * FL_PLAN_PAGE;

	bring->now.start = fault->block.start - min(side, fault->block.start);
	bring->now.end = fault->block.end + side;
}

/* ---- double: as a file system reads ahead ---- */

struct plan_double {
	u64 seen;
	s64 block_end;		/* of the last fault */
	s64 next;		/* where the window behind it ended */
	s64 window;
};

/*
 * A fault where the window ended used all of it; one inside was only too early for
 * the worker. Either way the faults follow each other. One elsewhere leaves a window
 * behind that nobody asked for.
 */
static void plan_double(const struct fl_plan_fault *fault,
			struct fl_plan_state *state,
			struct fl_plan_bring *bring)
{
	struct plan_double *s = (struct plan_double *)state->word;
	s64 page = plan_place(fault);

	bring->now = fault->block;
	if (!s->seen)
		s->window = 0;
	else if (page < s->block_end || page > s->next)
		s->window /= 2;
	else if (s->window)
		s->window = min_t(s64, 2 * s->window, FL_PLAN_DOUBLE_MOST);
	else
		s->window = plan_length(fault);
	s->seen = 1;
	s->block_end = plan_page(fault->block.end);
	s->next = s->block_end + s->window;
	plan_guess(bring, s->block_end, s->window);
}

/* ---- stride: the same distance twice ---- */

struct plan_stride {
	u64 seen;
	s64 last;
	s64 delta;		/* that has been seen twice; 0: none */
	s64 candidate;		/* once */
	s64 depth;		/* guesses along delta */
};

/* How many steps of delta lead over distance; 0: it is not 1 to most of them. */
static s64 plan_steps(s64 distance, s64 delta, s64 most)
{
	s64 i;

	for (i = 1; delta && i <= most; i++)
		if (distance == i * delta)
			return i;
	return 0;
}

static void plan_guess_along(const struct fl_plan_fault *fault,
			     struct fl_plan_bring *bring, s64 delta, s64 depth)
{
	s64 page = plan_place(fault), i;

	for (i = 1; i <= depth; i++)
		plan_guess(bring, page + i * delta, plan_length(fault));
}

static void plan_stride(const struct fl_plan_fault *fault,
			struct fl_plan_state *state,
			struct fl_plan_bring *bring)
{
	struct plan_stride *s = (struct plan_stride *)state->word;
	s64 page = plan_place(fault);
	s64 distance = page - s->last;

	bring->now = fault->block;
	if (s->seen && distance) {
		if (plan_steps(distance, s->delta, s->depth + 1)) {
			s->depth = min_t(s64, 2 * s->depth, FL_PLAN_AHEAD);
		} else if (distance == s->candidate) {
			s->delta = distance;
			s->depth = 2;
		} else {
			s->delta = 0;
			s->depth = 0;
		}
		s->candidate = distance;
	}
	s->seen = 1;
	s->last = page;
	plan_guess_along(fault, bring, s->delta, s->depth);
}

/*
 * ---- majority: most of the recent distances, as Leap has it (Al Maruf and Chowdhury,
 * "Effectively Prefetching Remote Memory with Leap", USENIX ATC 2020) ----
 */

struct plan_majority {
	u64 seen;		/* deltas, all in all */
	s64 last;
	s64 delta, depth;	/* of the last guess */
	u64 begun;
	s64 recent[FL_PLAN_DELTAS];
};

static s64 majority_recent(const struct plan_majority *s, u64 back)
{
	return s->recent[(s->seen - 1 - back) & (FL_PLAN_DELTAS - 1)];
}

/* Boyer and Moore: the only one that can be more than half of n, and is it? */
static s64 majority_of(const struct plan_majority *s, u64 n)
{
	s64 delta = 0, votes = 0;
	u64 i, count = 0;

	for (i = 0; i < n; i++) {
		if (!votes)
			delta = majority_recent(s, i);
		votes += majority_recent(s, i) == delta ? 1 : -1;
	}
	for (i = 0; i < n; i++)
		count += majority_recent(s, i) == delta;
	return 2 * count > n ? delta : 0;
}

/* The newest few first, so that a new trend is found soon, then more of them. */
static s64 majority_find(const struct plan_majority *s)
{
	u64 n;
	s64 delta = 0;

	for (n = FL_PLAN_DELTAS_LEAST; n <= FL_PLAN_DELTAS && !delta; n *= 2)
		if (n <= s->seen)
			delta = majority_of(s, n);
	return delta;
}

static void majority_note(struct plan_majority *s, s64 delta)
{
	s->recent[s->seen++ & (FL_PLAN_DELTAS - 1)] = delta;
}

static void plan_majority(const struct fl_plan_fault *fault,
			  struct fl_plan_state *state,
			  struct fl_plan_bring *bring)
{
	struct plan_majority *s = (struct plan_majority *)state->word;
	s64 page = plan_place(fault);
	s64 distance = page - s->last, steps, delta;

	bring->now = fault->block;
	if (s->begun && distance) {
		/* Those that a guess has spared count too. */
		steps = plan_steps(distance, s->delta, s->depth + 1);
		if (!steps)
			majority_note(s, distance);
		while (steps-- > 0)
			majority_note(s, s->delta);
		delta = majority_find(s);
		if (delta && delta == s->delta)
			s->depth = min_t(s64, 2 * s->depth, FL_PLAN_AHEAD);
		else
			s->depth = delta ? 2 : 0;
		s->delta = delta;
	}
	s->begun = 1;
	s->last = page;
	plan_guess_along(fault, bring, s->delta, s->depth);
}

/* ---- history: what came after two such distances before ---- */

struct plan_pair {
	s64 before, delta;	/* two distances in a row */
	s64 after;		/* the one that followed */
	u64 trust;		/* 0: nothing here */
};

struct plan_history {
	u64 begun;
	s64 last;
	s64 before, delta;	/* the last two */
	u64 hand;		/* pair that makes room next */
	/* The guess, and where it would go on: there the next fault is. */
	u64 steps;
	s64 step[FL_PLAN_AHEAD + 1];
	struct plan_pair pair[FL_PLAN_PAIRS];
};

static struct plan_pair *history_find(struct plan_history *s, s64 before,
				      s64 delta)
{
	unsigned int i;

	for (i = 0; i < FL_PLAN_PAIRS; i++)
		if (s->pair[i].trust && s->pair[i].before == before &&
		    s->pair[i].delta == delta)
			return &s->pair[i];
	return NULL;
}

/* One surprise does not make it forget what was right often. */
static void history_learn(struct plan_history *s, s64 after)
{
	struct plan_pair *p = history_find(s, s->before, s->delta);

	if (p && p->after == after) {
		p->trust = min_t(u64, p->trust + 1, FL_PLAN_TRUST);
	} else if (p && p->trust > 1) {
		p->trust--;
	} else if (s->delta) {
		if (!p) {
			p = &s->pair[s->hand];
			s->hand = s->hand + 1 < FL_PLAN_PAIRS ? s->hand + 1 : 0;
		}
		*p = (struct plan_pair){ s->before, s->delta, after, 1 };
	}
	s->before = s->delta;
	s->delta = after;
}

/* Does the way that was guessed lead over distance? Then all of it was right. */
static bool history_follows(struct plan_history *s, s64 distance)
{
	s64 sum = 0;
	u64 n, i;

	for (n = 0; n < s->steps; n++) {
		sum += s->step[n];
		if (sum != distance)
			continue;
		for (i = 0; i <= n; i++)
			history_learn(s, s->step[i]);
		return true;
	}
	return false;
}

static void plan_history(const struct fl_plan_fault *fault,
			 struct fl_plan_state *state,
			 struct fl_plan_bring *bring)
{
	struct plan_history *s = (struct plan_history *)state->word;
	s64 page = plan_place(fault), before, delta, at = page;
	const struct plan_pair *p;

	bring->now = fault->block;
	if (s->begun && page != s->last && !history_follows(s, page - s->last))
		history_learn(s, page - s->last);
	s->begun = 1;
	s->last = page;
	before = s->before;
	delta = s->delta;
	for (s->steps = 0; s->steps <= FL_PLAN_AHEAD; s->steps++) {
		p = history_find(s, before, delta);
		if (!p)
			break;
		at += p->after;
		s->step[s->steps] = p->after;
		if (s->steps < FL_PLAN_AHEAD)
			plan_guess(bring, at, plan_length(fault));
		before = delta;
		delta = p->after;
	}
}

/* ---- asking, and what holds whatever the answer ---- */

static void (*const fl_plans[])(const struct fl_plan_fault *fault,
				struct fl_plan_state *state,
				struct fl_plan_bring *bring) = {
	[FL_IOC_RESOLVE_PAGE] = plan_first,
	[FL_IOC_RESOLVE_BLOCK] = plan_block,
	[FL_IOC_RESOLVE_TRANSFER] = plan_transfer,
	[FL_IOC_RESOLVE_AROUND] = plan_around,
	[FL_IOC_RESOLVE_DOUBLE] = plan_double,
	[FL_IOC_RESOLVE_STRIDE] = plan_stride,
	[FL_IOC_RESOLVE_MAJORITY] = plan_majority,
	[FL_IOC_RESOLVE_HISTORY] = plan_history,
};

static_assert(ARRAY_SIZE(fl_plans) == FL_IOC_RESOLVE_OWN);
static_assert(sizeof(struct plan_double) <= sizeof(struct fl_plan_state));
static_assert(sizeof(struct plan_stride) <= sizeof(struct fl_plan_state));
static_assert(sizeof(struct plan_majority) <= sizeof(struct fl_plan_state));
static_assert(sizeof(struct plan_history) <= sizeof(struct fl_plan_state));

void fl_plan_ask(__u32 resolve, const struct fl_plan_fault *fault,
		 struct fl_plan_state *state, struct fl_plan_bring *bring)
{
	if (resolve < ARRAY_SIZE(fl_plans))
		fl_plans[resolve](fault, state, bring);
}

/* Whole pages of r that are in the region; false: there are none. */
static bool fl_plan_cut(const struct fl_plan_fault *fault, struct fl_range *r)
{
	u64 mask = ~(u64)(FL_PLAN_PAGE - 1);
	u64 low = fault->region.start & mask;
	u64 high = (fault->region.end + FL_PLAN_PAGE - 1) & mask;

	r->start = max(r->start, low) & mask;
	r->end = min(r->end, high);
	r->end = (r->end + FL_PLAN_PAGE - 1) & mask;
	return r->start < r->end;
}

/* What the card cannot do without is in it, and not much more. */
static void fl_plan_cut_now(const struct fl_plan_fault *fault,
			    struct fl_range *now)
{
	const struct fl_range *first = &fault->first;

	if (!fl_plan_cut(fault, now) || first->start < now->start ||
	    first->end > now->end)
		*now = *first;
	if (first->start - now->start > FL_PLAN_NOW_BYTES / 2)
		now->start = first->start - FL_PLAN_NOW_BYTES / 2;
	if (now->end - first->start > FL_PLAN_NOW_BYTES / 2)
		now->end = first->start + FL_PLAN_NOW_BYTES / 2;
}

void fl_plan_clamp(const struct fl_plan_fault *fault,
		   struct fl_plan_bring *bring)
{
	u32 i, count = min(bring->count, FL_PLAN_AHEAD);
	struct fl_range *now = &bring->now, r;
	u64 left = FL_PLAN_AHEAD_BYTES;

	fl_plan_cut_now(fault, now);
	bring->count = 0;
	for (i = 0; i < count; i++) {
		r = bring->ahead[i];
		if (!fl_plan_cut(fault, &r))
			continue;
		if (r.start >= now->start && r.start < now->end)
			r.start = now->end;
		else if (r.start < now->start)
			r.end = min(r.end, now->start);
		r.end = min(r.end, r.start + left);
		if (r.start >= r.end)
			continue;
		left -= r.end - r.start;
		bring->ahead[bring->count++] = r;
	}
}

/* ---- what a process remembers ---- */

void fl_plan_init(struct fl_ctx *ctx)
{
	spin_lock_init(&ctx->plan.lock);
}

void fl_plan_set(struct fl_ctx *ctx, u32 resolve, u32 number)
{
	spin_lock(&ctx->plan.lock);
	ctx->resolve = resolve;
	ctx->resolve_number = number;
	memset(ctx->plan.region, 0, sizeof(ctx->plan.region));
	spin_unlock(&ctx->plan.lock);
}

/* plan.lock is held. The state of the region, or the oldest one, made new. */
static struct fl_plan_state *fl_plan_remember(struct fl_plan_memory *m,
					      const struct fl_plan_fault *fault)
{
	struct fl_plan_region *p, *oldest = &m->region[0];
	unsigned int i;

	for (i = 0; i < FL_PLAN_REGIONS; i++) {
		p = &m->region[i];
		if (p->used && p->region.start == fault->region.start &&
		    p->region.end == fault->region.end &&
		    p->write == fault->write)
			break;
		if (p->used < oldest->used)
			oldest = p;
	}
	if (i == FL_PLAN_REGIONS) {
		p = oldest;
		*p = (struct fl_plan_region){ .region = fault->region,
					      .write = fault->write };
	}
	p->used = ++m->asked;
	return &p->state;
}

void fl_plan_make(struct fl_ctx *ctx, struct fl_plan_fault *fault,
		  struct fl_plan_bring *bring)
{
	const struct fl_plan_own *own = ctx->dev->own_plan;
	struct fl_plan_memory *m = &ctx->plan;
	struct fl_plan_state *state;

	memset(bring, 0, sizeof(*bring));
	spin_lock(&m->lock);
	state = fl_plan_remember(m, fault);
	fault->number = ctx->resolve_number;
	if (ctx->resolve == FL_IOC_RESOLVE_OWN && own)
		own->plan(own->arg, fault, state, bring);
	else
		fl_plan_ask(ctx->resolve, fault, state, bring);
	spin_unlock(&m->lock);
	fl_plan_clamp(fault, bring);
}

bool fl_plan_known(const struct fl_dev *dev, u32 resolve, u32 number)
{
	if (resolve == FL_IOC_RESOLVE_AROUND)
		return number && number <= FL_PLAN_NUMBER;
	if (resolve == FL_IOC_RESOLVE_OWN && !dev->own_plan)
		return false;
	return resolve <= FL_IOC_RESOLVE_OWN && !number;
}
