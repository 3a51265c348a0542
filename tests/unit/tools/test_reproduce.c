// SPDX-License-Identifier: BSD-2-Clause
/* faultline reproduce: what its list may say, and what counts as broken. */
#include <string.h>

#include "harness.h"
#include "tools/faultline/reproduce.h"

TEST("each experiment has a figure, each figure a source and a title of its own")
{
	const struct reproduce_figure *f, *g;
	unsigned int of[EXPERIMENTS] = { 0 };
	int i, k;

	for (i = 0; i < reproduce_count; i++) {
		f = &reproduce_figures[i];
		STEP("%s", f->title);
		of[f->experiment]++;
		EXPECT(strlen(f->source) > 3);
		EXPECT(strlen(f->title) < 50);
		for (k = 0; k < i; k++) {
			g = &reproduce_figures[k];
			EXPECT(g->experiment != f->experiment ||
			       strcmp(g->title, f->title));
		}
	}
	for (i = 0; i < EXPERIMENTS; i++)
		EXPECT(of[i] > 0);
}

TEST("what is predicted may miss by anything, and has no bound; all else has one")
{
	const struct reproduce_figure *f;
	int i;

	for (i = 0; i < reproduce_count; i++) {
		f = &reproduce_figures[i];
		STEP("%s", f->title);
		if (f->mark == MARK_P) {
			EXPECT_EQ(f->within, 0);
			EXPECT(!reproduce_broken(f, 100 * f->published));
			EXPECT(!reproduce_broken(f, 0));
		} else if (f->mark == MARK_Q && f->within) {
			EXPECT(reproduce_broken(f, 3 * f->published));
		} else if (f->mark == MARK_Q) {
			EXPECT_EQ(f->published, 1);
			EXPECT(reproduce_broken(f, 0));
			EXPECT(!reproduce_broken(f, 1));
		} else {
			EXPECT(f->within > 0);
			EXPECT(f->within <= 20);
		}
	}
}

TEST("what is fitted is broken beyond its bound, on either side")
{
	struct reproduce_figure f = { .mark = MARK_F, .published = 38000,
				      .within = 1 };

	EXPECT(!reproduce_broken(&f, 38000));
	EXPECT(!reproduce_broken(&f, 38037));
	EXPECT(!reproduce_broken(&f, 37963));
	EXPECT(reproduce_broken(&f, 38039));
	EXPECT(reproduce_broken(&f, 37961));
	f.mark = MARK_C;
	EXPECT(reproduce_broken(&f, 38039));
}
