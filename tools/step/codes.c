// SPDX-License-Identifier: BSD-2-Clause
/* Codes, limits, timers and the erratum. */
#include "step.h"

#include <stdlib.h>
#include <string.h>

#define CODES_MAX 64

/* Draws numbers from `from` to `to`, none of them twice. */
struct codes {
	struct draw draw;
	unsigned int from, to;
	bool used[256];
};

static unsigned int draw_code(struct codes *c)
{
	unsigned int v, free_ones = 0;

	for (v = c->from; v <= c->to; v++)
		free_ones += !c->used[v];
	if (!free_ones)
		step_bad("more codes than numbers from %u to %u", c->from,
			 c->to);
	do
		v = c->from + step_below(&c->draw, c->to - c->from + 1);
	while (c->used[v]);
	c->used[v] = true;
	return v;
}

/* Codes of one group; those outside from..to keep their numbers. */
static void step_group(struct file *f, const char *group, unsigned int from,
		       unsigned int to)
{
	struct codes c = { step_draw(group), from, to, { false } };
	size_t i;

	for (i = 0; i < f->lines; i++) {
		struct line *l = &f->line[i];

		if (!line_is(l, "EENUM") || !line_has(l, 0, group))
			continue;
		if (line_number(l, 2) >= (long)from &&
		    line_number(l, 2) <= (long)to)
			line_set(l, 2, "%ld", draw_code(&c));
	}
}

/* One bit each of the lowest `bits`. */
static void step_flags(struct file *f, const char *group, unsigned int bits)
{
	struct codes c = { step_draw(group), 0, bits - 1, { false } };
	size_t i;

	for (i = 0; i < f->lines; i++)
		if (line_is(&f->line[i], "EENUM") &&
		    line_has(&f->line[i], 0, group))
			line_set(&f->line[i], 2, "%ld", 1l << draw_code(&c));
}

/*
 * The codes of operations are wanted twice: here and in the opcodes. 0 and 15 are
 * never one.
 */
static struct codes operation_codes(void)
{
	return (struct codes){ step_draw("OP"), 1, 14, { false } };
}

void step_codes(struct file *f)
{
	struct codes op = operation_codes();
	size_t i;

	for (i = 0; i < f->lines; i++)
		if (line_is(&f->line[i], "EENUM") &&
		    line_has(&f->line[i], 0, "OP"))
			line_set(&f->line[i], 2, "%ld", draw_code(&op));
	step_flags(f, "WQE", 8);
	step_group(f, "ST", 1, 22);	/* REFUSED_TOO_OFTEN stays the last */
	step_group(f, "EV", 1, 4);
	step_group(f, "CMD", 1, 60);
}

/* WOPC rows of blocks stand in the order of the operations, and come first. */
void step_wire(struct file *f)
{
	struct codes op = operation_codes();
	struct codes c = { step_draw("wire"), 0xC0, 0xFF, { false } };
	unsigned int high = 0xC0 + 16 * step_below(&c.draw, 4), v;
	size_t i;

	for (i = 0; i < f->lines; i++) {
		struct line *l = &f->line[i];

		if (!line_is(l, "WOPC"))
			continue;
		if (line_has(l, 2, "BLK")) {
			v = high + draw_code(&op);
			c.used[v] = true;
		} else {
			v = draw_code(&c);
		}
		line_set(l, 1, "0x%lX", v);
	}
}

static void step_limit(struct line *l, struct draw *d)
{
	long v = line_number(l, 1);
	unsigned int k = step_below(d, 8);

	if (line_has(l, 0, "STEPPING"))
		v = (long)step_seed;
	else if (line_has(l, 0, "CONTEXTS"))
		v += k % 5 - 2l;
	else
		v -= v / 32 * k;
	line_set(l, 1, "%ld", v);
}

/* Limits get no larger than they are: memory is there for those. One erratum. */
void step_device(struct file *f)
{
	struct draw d = step_draw("limits"), e = step_draw("errata");
	struct line *erratum[CODES_MAX];
	unsigned int errata = 0;
	size_t i;

	for (i = 0; i < f->lines; i++) {
		struct line *l = &f->line[i];

		if (line_is(l, "DLIM")) {
			if (line_has(l, 0, "STEPPING") && line_number(l, 1))
				step_bad("these sources are of stepping %ld already",
					 line_number(l, 1));
			step_limit(l, &d);
		} else if (line_is(l, "DERR") && errata < CODES_MAX) {
			erratum[errata++] = l;
		}
	}
	if (!errata)
		step_bad("device.def has no erratum");
	line_set(erratum[step_below(&e, errata)], 1, "%ld", 1);
}

/*
 * What the firmware's timers and tries are multiplied with, in eighths: patience with
 * a fault stays longer than that with silence, and a wall clock's is not shortened.
 */
static long step_timer(const char *key, long v)
{
	struct draw d = step_draw(key);
	long k = step_below(&d, 8);

	if (!strcmp(key, "fw.timeout") || !strcmp(key, "fw.fault_timeout") ||
	    !strcmp(key, "fw.refusals"))
		return v / 8 * (6 + k);
	if (!strcmp(key, "fw.tries"))
		return v + k % 5;
	if (!strcmp(key, "fw.waiting_share"))
		return v - 1 + k % 3;
	return v;
}

void step_timing(struct file *f)
{
	char key[WORD_BYTES];
	struct line *l;
	size_t i;

	for (i = 0; i < f->lines; i++) {
		l = &f->line[i];
		if (!line_is(l, "TIMING"))
			continue;
		line_arg(l, 1, key);
		key[strlen(key) - 1] = 0;	/* its quotes */
		line_set(l, 3, "%ld", step_timer(key + 1, line_number(l, 3)));
	}
}

/* key = value  # source */
void step_profile(struct file *f)
{
	char key[WORD_BYTES], text[2 * WORD_BYTES];
	long v, new;
	int rest;
	size_t i;

	for (i = 0; i < f->lines; i++) {
		if (sscanf(f->line[i].text, "%99[a-z_.] = %ld%n", key, &v,
			   &rest) != 2)
			continue;
		new = step_timer(key, v);
		if (new == v)
			continue;
		snprintf(text, sizeof(text), "%s = %ld%s", key, new,
			 f->line[i].text + rest);
		free(f->line[i].text);
		f->line[i].text = strdup(text);
		if (!f->line[i].text)
			step_bad("no memory");
	}
}
