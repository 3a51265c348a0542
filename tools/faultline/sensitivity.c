// SPDX-License-Identifier: BSD-2-Clause
/* sensitivity.c - how far the values that profile qfdb assumes move what it predicts. */
#include <stdio.h>
#include <string.h>

#include "tools/faultline/predict.h"
#include "tools/faultline/reproduce.h"

#define HALVINGS 3
/* Of a figure: what moves it less is not worth a line, or a step of the climb. */
#define LITTLE 0.005

enum { LOW, HIGH, ENDS };

struct moved {
	struct predict_point at;	/* one knob moved, and fitted again */
	bool moves;			/* false: no fit, or nowhere to go */
	double ratio[FIGURES];
};

struct search {
	struct predict_point base;
	double ratio[FIGURES];
	struct moved moved[PREDICT_KNOBS][ENDS];
	double range[FIGURES][ENDS];
};

/* One knob to its end, or as far towards it as the fits can be kept. */
static int move_knob(struct search *s, int knob, int end)
{
	const struct predict_knob_text *k = &predict_knobs[knob];
	uint64_t to = end == LOW ? k->low : k->high, got[FITS];
	uint64_t from = s->base.knob[knob];
	struct moved *m = &s->moved[knob][end];
	int i;

	for (i = 0; i <= HALVINGS && to != from; i++) {
		m->at = s->base;
		m->at.knob[knob] = to;
		if (predict_fit(&m->at, got)) {
			m->moves = true;
			return predict_all(&m->at, m->ratio);
		}
		if (!strncmp(k->key, "board.", 6))
			break;		/* no other sizes lie between */
		to = end == LOW ? to + (from - to + 1) / 2 :
				  to - (to - from + 1) / 2;
	}
	return 0;
}

static void search_widen(struct search *s, int figure, double ratio)
{
	if (ratio < s->range[figure][LOW])
		s->range[figure][LOW] = ratio;
	if (ratio > s->range[figure][HIGH])
		s->range[figure][HIGH] = ratio;
}

/* The move that takes the figure furthest, of those not tried yet; NULL: none. */
static const struct moved *best_move(struct search *s, int figure, int way,
				     bool tried[PREDICT_KNOBS][ENDS],
				     int *knob)
{
	double far = LITTLE * s->ratio[figure], d;
	const struct moved *best = NULL;
	int i, end, best_end = 0;

	for (i = 0; i < PREDICT_KNOBS; i++)
		for (end = 0; end < ENDS; end++) {
			d = s->moved[i][end].ratio[figure] - s->ratio[figure];
			d = way == LOW ? -d : d;
			if (!s->moved[i][end].moves || tried[i][end] ||
			    d <= far)
				continue;
			far = d;
			best = &s->moved[i][end];
			*knob = i;
			best_end = end;
		}
	if (best)
		tried[*knob][best_end] = true;
	return best;
}

/*
 * Several at a time: each that moves the figure by itself, the strongest first, and
 * kept when it helps and the fits allow it.
 */
static int search_climb(struct search *s, int figure, int way)
{
	bool tried[PREDICT_KNOBS][ENDS] = { { false } };
	struct predict_point at = s->base, next;
	double here = s->ratio[figure], there;
	const struct moved *m;
	uint64_t got[FITS];
	int knob = 0;

	while ((m = best_move(s, figure, way, tried, &knob))) {
		next = at;
		next.knob[knob] = m->at.knob[knob];
		if (!predict_fit(&next, got))
			continue;
		if (predict_figure(&next, figure, &there))
			return 1;
		if (way == LOW ? there >= here : there <= here)
			continue;
		at = next;
		here = there;
	}
	search_widen(s, figure, here);
	return 0;
}

static int search_all(struct search *s)
{
	int i, end, figure;

	if (predict_all(&s->base, s->ratio))
		return 1;
	for (figure = 0; figure < FIGURES; figure++)
		s->range[figure][LOW] = s->range[figure][HIGH] =
			s->ratio[figure];
	for (i = 0; i < PREDICT_KNOBS; i++)
		for (end = 0; end < ENDS; end++) {
			if (move_knob(s, i, end))
				return 1;
			for (figure = 0; figure < FIGURES &&
					 s->moved[i][end].moves; figure++)
				search_widen(s, figure, s->moved[i][end].ratio[figure]);
		}
	for (figure = 0; figure < FIGURES; figure++)
		for (end = 0; end < ENDS; end++)
			if (search_climb(s, figure, end))
				return 1;
	return 0;
}

static void put_ranges(const struct search *s)
{
	int i;

	printf("\n%-46s %10s %10s   %s\n", "what is predicted, as a ratio",
	       "published", "as assumed", "range");
	for (i = 0; i < FIGURES; i++)
		printf("%-46s %10s %10.2f   %.2f to %.2f\n",
		       predict_figures[i].title, predict_figures[i].published,
		       s->ratio[i], s->range[i][LOW], s->range[i][HIGH]);
}

static bool search_matters(const struct search *s, int knob)
{
	double d;
	int end, i;

	for (end = 0; end < ENDS; end++)
		for (i = 0; i < FIGURES && s->moved[knob][end].moves; i++) {
			d = s->moved[knob][end].ratio[i] - s->ratio[i];
			if (d > LITTLE * s->ratio[i] ||
			    d < -LITTLE * s->ratio[i])
				return true;
		}
	return false;
}

static void put_knobs(const struct search *s)
{
	const struct moved *m;
	int i, k, end, few = 0;

	printf("\none assumed value at a time, the fits kept, in the order of "
	       "the lines above:\n");
	for (k = 0; k < PREDICT_KNOBS; k++) {
		if (!search_matters(s, k)) {
			few++;
			continue;
		}
		for (end = 0; end < ENDS; end++) {
			m = &s->moved[k][end];
			if (!m->moves)
				continue;
			printf("  %-16s %6llu instead of %6llu ",
			       predict_knobs[k].key,
			       (unsigned long long)m->at.knob[k],
			       (unsigned long long)s->base.knob[k]);
			for (i = 0; i < FIGURES; i++)
				printf("  %5.2f", m->ratio[i]);
			putchar('\n');
		}
	}
	printf("%d more move none of them by half a percent. Bounds, and why: "
	       "tools/faultline/predict.def\n", few);
}

int sensitivity_print(void)
{
	static struct search s;

	if (predict_begin(&s.base) || search_all(&s))
		return 1;
	put_ranges(&s);
	put_knobs(&s);
	return 0;
}
