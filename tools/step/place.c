// SPDX-License-Identifier: BSD-2-Clause
/* Places: registers of a page, members of an entry. */
#include "step.h"

#include <stdlib.h>
#include <string.h>

#define SPACE_MAX 1024	/* bytes */
#define PARTS_MAX 64

/* Something with a size, to be put at a multiple of it. */
struct part {
	struct line *line;
	unsigned int bytes, at;
};

/*
 * Large ones first, each in a free place of its size: so those that fill the
 * space always fit, whatever was drawn.
 */
static void place_parts(struct part *part, size_t parts, bool taken[SPACE_MAX],
			unsigned int space, struct draw *d)
{
	unsigned int size, at, found, pick;
	size_t i;

	for (size = 8; size; size /= 2) {
		for (i = 0; i < parts; i++) {
			if (part[i].bytes != size)
				continue;
			for (found = at = 0; at + size <= space; at += size)
				found += !taken[at];
			if (!found)
				step_bad("no place for: %s", part[i].line->text);
			pick = step_below(d, found);
			for (at = 0; taken[at] || pick--;)
				at += size;
			part[i].at = at;
			memset(taken + at, true, size);
		}
	}
}

/* The registers of a page in its first `space` bytes; ID and arrays stay. */
static void step_page(struct file *f, const char *page, unsigned int space)
{
	struct draw d = step_draw(page);
	bool taken[SPACE_MAX] = { false };
	struct part part[PARTS_MAX];
	size_t i, parts = 0;

	for (i = 0; i < f->lines; i++) {
		struct line *l = &f->line[i];

		if (!line_is(l, "NREG") || !line_has(l, 0, page))
			continue;
		if (line_has(l, 1, "ID")) {
			memset(taken, true, 4);
			continue;
		}
		if (parts == PARTS_MAX)
			step_bad("page %s has too many registers", page);
		part[parts++] = (struct part){
			.line = l,
			.bytes = (unsigned int)line_number(l, 3) / 8,
		};
	}
	place_parts(part, parts, taken, space, &d);
	for (i = 0; i < parts; i++)
		line_set(part[i].line, 2, "0x%03lX", part[i].at);
}

void step_regs(struct file *f)
{
	step_page(f, "ENG", 0x200);
	step_page(f, "CTX", 0x44);
	step_page(f, "RXC", 0x3C);	/* the rest of it stays without a register */
	step_page(f, "FW", 0x40);	/* CMD follows */
	step_page(f, "XP", 0xC0);
}

static int by_place(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static unsigned int member_bytes(const struct line *l)
{
	char type[WORD_BYTES];

	return (unsigned int)atoi(line_arg(l, 1, type) + strlen("__u")) / 8;
}

/*
 * Members stand in the order of their places: the generator wants that. A phase
 * is written last and stays the last.
 */
static void step_entry(struct line *first, size_t n, unsigned int size,
		       struct draw *d)
{
	bool taken[SPACE_MAX] = { false };
	struct part part[PARTS_MAX];
	struct line sorted[PARTS_MAX];
	size_t i;

	if (n && line_has(&first[n - 1], 2, "phase")) {
		n--;
		size -= member_bytes(&first[n]);
	}
	if (n > PARTS_MAX || size > SPACE_MAX)
		step_bad("too large: %s", first->text);
	for (i = 0; i < n; i++)
		part[i] = (struct part){ &first[i], member_bytes(&first[i]), 0 };
	place_parts(part, n, taken, size, d);
	for (i = 0; i < n; i++)
		line_set(part[i].line, 3, "%ld", part[i].at);
	qsort(part, n, sizeof(part[0]), by_place);
	for (i = 0; i < n; i++)
		sorted[i] = *part[i].line;
	memcpy(first, sorted, n * sizeof(sorted[0]));
}

static void step_members(struct file *f)
{
	struct draw d = step_draw("entries");
	size_t i, n;

	for (i = 0; i < f->lines; i++) {
		if (!line_is(&f->line[i], "ENTRY"))
			continue;
		for (n = 0; i + 1 + n < f->lines; n++)
			if (!line_is(&f->line[i + 1 + n], "EFLD"))
				break;
		step_entry(&f->line[i + 1], n,
			   (unsigned int)line_number(&f->line[i], 1), &d);
	}
}

void step_entries(struct file *f)
{
	step_members(f);
	step_codes(f);
}
