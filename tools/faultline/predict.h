/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * predict.h - what a profile says of published figures: some that three of its values
 * are fitted to, and others. A point is one choice of all that is assumed.
 */
#ifndef FL_PREDICT_H
#define FL_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PREDICT_KNOBS = 0
#define KNOB(key, low, high, why) +1
#include "tools/faultline/predict.def"
};

/* What is fitted, and the value of the profile that it is fitted with. */
enum { FIT_FAULT, FIT_SMALL, FIT_LARGE, FITS };
/* What is predicted, as ratios. */
enum {
	FIGURE_BLOCK,		/* 1 MB cold, touch by block, to resident */
	FIGURE_TRANSFER,	/* the same by transfer */
	FIGURE_PIN_BLOCK,	/* 4 MB: pinned for the transfer, to by block */
	FIGURE_PIN_TRANSFER,	/* to by transfer */
	FIGURES
};

struct predict_knob_text {
	const char *key, *why;
	uint64_t low, high;
};

struct predict_point {
	uint64_t knob[PREDICT_KNOBS];
	uint64_t with[FITS];	/* values that the fits are made with */
};

extern const struct predict_knob_text predict_knobs[PREDICT_KNOBS];
extern const struct predict_fit {
	const char *title, *key, *unit;
	uint64_t want, near;	/* so close that it is exact */
} predict_fits[FITS];
extern const struct predict_figure {
	const char *title, *published;
} predict_figures[FIGURES];

struct timing_profile;
/*
 * Is what the profile marks `assumed` just what stands in predict.def? 0, or -EINVAL
 * after a message.
 */
int predict_check(const struct timing_profile *t);
/* What profile qfdb has. 0, or -EINVAL after a message. */
int predict_begin(struct predict_point *p);
/* The figures that are fitted, as p has them; 0 or 1 after a message. */
int predict_measure(const struct predict_point *p, uint64_t got[FITS]);
/* Change p->with until they are exact; false: that cannot be. */
bool predict_fit(struct predict_point *p, uint64_t got[FITS]);
/* A figure, or all of them; 0 or 1 after a message. */
int predict_figure(const struct predict_point *p, int figure, double *ratio);
int predict_all(const struct predict_point *p, double ratio[FIGURES]);

#endif
