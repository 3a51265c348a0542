// SPDX-License-Identifier: BSD-2-Clause
/* Two traces, one driver: what it did for each block, and what may differ. */
#include <errno.h>
#include <string.h>

#include "tools/view/steps.h"
#include "trace/event.h"

#define AROUND_PAGES 16u	/* Linux, mm/memory.c: fault_around_bytes */

struct comparison {
	FILE *f;
	const struct steps *side[2];
	unsigned int allowed;		/* bits of enum rule */
	unsigned int blocks, differ;
};

/* ---- the table of differences ---- */

enum rule { ORDER, CARD, LATCH, CALLS, ZERO_PAGE, AROUND, AHEAD, SHARED, FAILED,
	    RULES };

/* always: no two runs go without; the others are allowed by name. */
static const struct {
	const char *name;
	bool always;
	const char *what, *why;
} rules[RULES] = {
	[ORDER] = { "order", true,
		"Blocks are served in another order; for one block it is the "
		"same.",
		"Several workers run side by side, and several blocks are on "
		"the wire." },
	[CARD] = { "card", true,
		"Another context of the card holds the block.",
		"The card takes one that is free, and which is free depends "
		"on how fast the driver answers." },
	[LATCH] = { "latch", true,
		"DRV_IRQ_SMMU comes for other blocks, and more or less often. "
		"Compared is that it comes at all, and its kind of fault for "
		"pages that both runs have been told of.",
		"A bank describes one fault at a time, the next only when "
		"the driver has cleared it; the others set MULTI and are "
		"known from the card's report alone." },
	[CALLS] = { "calls", true,
		"DRV_INVALIDATE of the notifier comes in other pieces. "
		"Compared is which pages of regions it names.",
		"One kernel tells page by page, another by range, and Linux "
		"also tells of memory that the card never sees." },
	[ZERO_PAGE] = { "zero-page", false,
		"The notifier names a page that was first read and then "
		"written: by the card, or by the CPU, and then the card asks "
		"for it neither before nor after.",
		"What was never written reads as zeros. Linux maps one page "
		"of zeros for all; the first write puts another page there. "
		"The small kernel gives each its own at once." },
	[AROUND] = { "around", false,
		"A block of a source does not fault, and its neighbour did.",
		"Linux maps pages of a file that are in its cache around the "
		"one that is asked for, 64 KB at most (fault-around)." },
	[AHEAD] = { "ahead", false,
		"A block does not fault, since a request for another block "
		"of the transfer brought its pages; or it faults and finds "
		"them. What is requested after a block was answered begins "
		"elsewhere, and ends at the same page.",
		"Touch ahead by transfer races with the blocks that are on "
		"their way; how many have failed before depends on how fast "
		"the driver is." },
	[SHARED] = { "shared", false,
		"A block's fault names its first or last page, or does not; "
		"what is known of that page is invalidated, or not.",
		"Where blocks do not begin with a page, two of them share "
		"one; whether it is there depends on which was served "
		"first." },
	[FAILED] = { "failed", false,
		"A block of a transfer that fails in both runs is not seen "
		"in one of them.",
		"The first block that cannot be repaired ends the transfer; "
		"how many others have come by then depends on how fast the "
		"driver is." },
};

const char *const *view_equal_names(void)
{
	static const char *const names[] = { "zero-page", "around", "ahead",
					     "shared", "failed", NULL };

	return names;
}

void view_equal_rules(FILE *f)
{
	int i;

	for (i = 0; i < RULES; i++)
		fprintf(f, "| `%s`%s\n| %s\n| %s\n\n", rules[i].name,
			rules[i].always ? ", always" : "", rules[i].what,
			rules[i].why);
}

static bool equal_allows(const struct comparison *c, enum rule r)
{
	return c->allowed & 1u << r;
}

static unsigned int find_allowed(const char *const *allow)
{
	unsigned int bits = 0;
	int i;

	for (; allow && *allow; allow++)
		for (i = 0; i < RULES; i++)
			if (!strcmp(rules[i].name, *allow))
				bits |= 1u << i;
	return bits;
}

/* ---- blocks ---- */

/* Steps of one block, in each trace: [from, to). */
struct part {
	size_t from[2], to[2];
};

static const struct step *step_at(const struct comparison *c, int side,
				  const struct part *p, size_t i)
{
	i += p->from[side];
	return i < p->to[side] ? &c->side[side]->step[i] : NULL;
}

static void equal_show(struct comparison *c, const struct part *p)
{
	const struct step *a, *b = step_at(c, 0, p, 0);
	size_t i;

	if (!b)
		b = step_at(c, 1, p, 0);
	fprintf(c->f, "board %u, transfer %u, block %u:\n", b->board, b->xfer,
		b->block);
	for (i = 0; step_at(c, 0, p, i) || step_at(c, 1, p, i); i++) {
		a = step_at(c, 0, p, i);
		b = step_at(c, 1, p, i);
		fprintf(c->f, "%c %-44s | %s\n",
			a && b && !strcmp(a->text, b->text) ? ' ' : '!',
			a ? a->text : "-", b ? b->text : "-");
	}
}

static bool same_steps(const struct comparison *c, const struct part *p)
{
	const struct step *a, *b;
	size_t i = 0;

	do {
		a = step_at(c, 0, p, i);
		b = step_at(c, 1, p, i);
		if (!a || !b)
			return !a && !b;
		i++;
	} while (!strcmp(a->text, b->text));
	return false;
}

/* ---- what excuses a block ---- */

/* A request of the same region that brings this page in, for another block. */
static bool is_brought(const struct steps *s, const struct step *k,
		       uint64_t page, bool same_xfer, uint64_t around)
{
	const struct step *q;
	uint64_t from, to;
	size_t i;

	for (i = 0; i < s->n; i++) {
		q = &s->step[i];
		if (q->event != EV_DRV_RESOLVE || q->failed ||
		    q->board != k->board || q->region != k->region ||
		    (same_xfer && q->xfer != k->xfer) ||
		    (q->xfer == k->xfer && q->block == k->block))
			continue;
		/* around: how many pages come at once; 1: each by itself. */
		from = q->page < around ? 0 : q->page - around + 1;
		to = q->page + q->pages + around - 1;
		if (page >= from && page < to)
			return true;
	}
	return false;
}

/*
 * One side has nothing for the block: is each page that the other one asked for
 * brought in by a request for other blocks, on the side that has nothing?
 */
static bool came_otherwise(const struct comparison *c, const struct part *p,
			   enum rule rule)
{
	int has = p->from[0] == p->to[0];
	const struct steps *other = c->side[!has];
	const struct step *k;
	bool any = false;
	uint64_t page;
	size_t i;

	for (i = p->from[has]; i < p->to[has]; i++) {
		k = &c->side[has]->step[i];
		if (k->event != EV_DRV_RESOLVE)
			continue;
		any = true;
		if (rule == AROUND && k->write)
			return false;
		/* Ahead, pages after the block are no need of this block. */
		if (rule == AHEAD && i + 1 < p->to[has] &&
		    c->side[has]->step[i + 1].event == EV_DRV_RESOLVE)
			continue;
		for (page = k->page; page < k->page + k->pages; page++)
			if (!is_brought(other, k, page, rule != AROUND,
					rule == AROUND ? AROUND_PAGES : 1))
				return false;
	}
	return any;
}

/* Was the card told on both sides that the transfer cannot go on? */
static bool has_failed(const struct comparison *c, const struct part *p)
{
	int has = p->from[0] == p->to[0], side, found = 0;
	const struct step *k;
	size_t i;

	for (side = 0; side < 2; side++) {
		for (i = 0; i < c->side[side]->n; i++) {
			k = &c->side[side]->step[i];
			if (k->event == EV_DRV_READY && k->failed &&
			    k->xfer == c->side[has]->step[p->from[has]].xfer) {
				found++;
				break;
			}
		}
	}
	return found == 2;
}

/* Does another block of the transfer ask for this page of the step's block too? */
static bool is_shared(const struct comparison *c, int side,
		      const struct step *k, uint64_t page)
{
	return is_brought(c->side[side], k, page, true, 1);
}

/* The step, or the next that is no invalidation of what is shared. */
static const struct step *step_past_shared(const struct comparison *c, int side,
					   const struct part *p, size_t *i)
{
	const struct step *k;

	while ((k = step_at(c, side, p, *i)) != NULL &&
	       k->event == EV_DRV_INVALIDATE && is_shared(c, side, k, k->page) &&
	       is_shared(c, side, k, k->page + k->pages - 1))
		++*i;
	return k;
}

/*
 * All is the same but for bits of the map and for invalidations, and those are of
 * pages that requests for other blocks bring too: if one is there already, its old
 * translation is forgotten.
 */
static bool only_shared(const struct comparison *c, const struct part *p)
{
	const struct step *a, *b;
	uint64_t bits, page;
	size_t i, k;

	for (i = 0, k = 0;; i++, k++) {
		a = step_past_shared(c, 0, p, &i);
		b = step_past_shared(c, 1, p, &k);
		if (!a || !b)
			return !a && !b;
		if (!strcmp(a->text, b->text))
			continue;
		if (a->event != EV_DRV_IRQ_FAULT || b->event != a->event ||
		    a->region != b->region || a->page != b->page)
			return false;
		bits = a->map ^ b->map;
		for (page = 0; page < 64; page++)
			if (bits >> page & 1 &&
			    !is_shared(c, 0, a, a->page + page))
				return false;
	}
}

/* The step, or the next that asks for no page ahead: *last is the last that did. */
static const struct step *step_past_ahead(const struct comparison *c, int side,
					  const struct part *p, size_t *i,
					  bool answered,
					  const struct step **last)
{
	const struct step *k;

	while ((k = step_at(c, side, p, *i)) != NULL && answered &&
	       k->event == EV_DRV_RESOLVE && !k->failed) {
		*last = k;
		++*i;
	}
	return k;
}

/* Both end at the same page; or one has none, and others asked for that page. */
static bool same_end(const struct comparison *c, const struct step *const last[2])
{
	int has = !last[0];

	if (last[0] && last[1])
		return last[0]->page + last[0]->pages ==
		       last[1]->page + last[1]->pages;
	return !last[has] ||
	       is_brought(c->side[!has], last[has],
			  last[has]->page + last[has]->pages - 1, true, 1);
}

/* All is the same but for where the requests ahead begin, and how many they are. */
static bool only_ahead(const struct comparison *c, const struct part *p)
{
	const struct step *a, *b, *last[2] = { NULL, NULL };
	bool answered = false;
	size_t i, k;

	for (i = 0, k = 0;; i++, k++) {
		a = step_past_ahead(c, 0, p, &i, answered, &last[0]);
		b = step_past_ahead(c, 1, p, &k, answered, &last[1]);
		if (!a || !b)
			return !a && !b && same_end(c, last);
		if (strcmp(a->text, b->text))
			return false;
		answered |= a->event == EV_DRV_READY ||
			    a->event == EV_DRV_RESUME;
	}
}

static bool equal_excused(const struct comparison *c, const struct part *p)
{
	bool empty = p->from[0] == p->to[0] || p->from[1] == p->to[1];

	if (equal_allows(c, AROUND) && p->from[1] == p->to[1] &&
	    came_otherwise(c, p, AROUND))
		return true;
	if (equal_allows(c, AHEAD) && empty && came_otherwise(c, p, AHEAD))
		return true;
	if (equal_allows(c, FAILED) && empty && has_failed(c, p))
		return true;
	if (equal_allows(c, AHEAD) && !empty && only_ahead(c, p))
		return true;
	/* A last block may have no page of its own. */
	if (equal_allows(c, SHARED) && empty && came_otherwise(c, p, SHARED))
		return true;
	return (equal_allows(c, SHARED) || equal_allows(c, AHEAD)) && !empty &&
	       only_shared(c, p);
}

static void compare_block(struct comparison *c, const struct part *p)
{
	c->blocks++;
	if (same_steps(c, p) || equal_excused(c, p))
		return;
	c->differ++;
	equal_show(c, p);
}

/* The next block of both traces, or of the one where it comes first. */
static bool equal_next_block(const struct comparison *c, struct part *p)
{
	const struct step *first = NULL, *k;
	int side;

	for (side = 0; side < 2; side++) {
		p->from[side] = p->to[side];
		if (p->from[side] == c->side[side]->n)
			continue;
		k = &c->side[side]->step[p->from[side]];
		if (!first || step_block_compare(k, first) < 0)
			first = k;
	}
	for (side = 0; first && side < 2; side++)
		while (p->to[side] < c->side[side]->n &&
		       !step_block_compare(&c->side[side]->step[p->to[side]],
					   first))
			p->to[side]++;
	return first;
}

/* ---- pages ---- */

static int page_order(const struct step_page *a, const struct step_page *b)
{
	if (a->board != b->board)
		return a->board < b->board ? -1 : 1;
	if (a->region != b->region)
		return a->region < b->region ? -1 : 1;
	return a->page < b->page ? -1 : a->page > b->page;
}

static void differ_page(struct comparison *c, const struct step_page *p,
			const char *one, const char *other)
{
	c->differ++;
	fprintf(c->f, "board %u, page r%u+0x%llx:\n! %-44s | %s\n", p->board,
		p->region, (unsigned long long)(p->page * STEP_PAGE), one,
		other);
}

/* The real kernel's: read for the card and later written for it, or it never asked. */
static bool is_zero_page(const struct comparison *c,
			 const struct step_page *told)
{
	const struct step *k;
	bool read = false, written = false;
	size_t i;

	for (i = 0; equal_allows(c, ZERO_PAGE) && i < c->side[1]->n; i++) {
		k = &c->side[1]->step[i];
		if (k->event != EV_DRV_RESOLVE || k->board != told->board ||
		    k->region != told->region || told->page < k->page ||
		    told->page >= k->page + k->pages)
			continue;
		if (k->write)
			written = true;
		else
			read = true;
	}
	return equal_allows(c, ZERO_PAGE) && read == written;
}

static void compare_told(struct comparison *c)
{
	const struct steps *a = c->side[0], *b = c->side[1];
	size_t i = 0, k = 0;
	int order;

	while (i < a->tolds || k < b->tolds) {
		order = i == a->tolds ? 1 : k == b->tolds ? -1 :
			page_order(&a->told[i], &b->told[k]);
		if (order < 0)
			differ_page(c, &a->told[i], "INVALIDATE (kernel)", "-");
		else if (order > 0 && !is_zero_page(c, &b->told[k]))
			differ_page(c, &b->told[k], "-", "INVALIDATE (kernel)");
		i += order <= 0;
		k += order >= 0;
	}
}

static const struct step_page *equal_find_page(const struct step_page *p,
					       size_t n,
					       const struct step_page *like)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!page_order(&p[i], like))
			return &p[i];
	return NULL;
}

/* A page may be described more than once, so that one kind in common will do. */
static void compare_banks(struct comparison *c)
{
	const struct steps *a = c->side[0], *b = c->side[1];
	const struct step_page *other;
	char text[2][40];
	size_t i;

	if (!a->banks != !b->banks)
		differ_page(c, a->banks ? &a->bank[0] : &b->bank[0],
			    a->banks ? "IRQ_SMMU" : "no IRQ_SMMU at all",
			    b->banks ? "IRQ_SMMU" : "no IRQ_SMMU at all");
	for (i = 0; i < a->banks; i++) {
		other = equal_find_page(b->bank, b->banks, &a->bank[i]);
		if (!other || other->kind & a->bank[i].kind)
			continue;
		snprintf(text[0], 40, "IRQ_SMMU fsr=0x%llx",
			 (unsigned long long)a->bank[i].kind);
		snprintf(text[1], 40, "IRQ_SMMU fsr=0x%llx",
			 (unsigned long long)other->kind);
		differ_page(c, other, text[0], text[1]);
	}
}

int view_equal(FILE *f, const struct view_trace *one,
	       const struct view_trace *other, const char *const *allow,
	       unsigned int *blocks, unsigned int *differ)
{
	struct comparison c = { .f = f };
	struct steps a, b;
	struct part p = { 0 };
	int err = steps_make(&a, one);

	if (err)
		return err;
	err = steps_make(&b, other);
	if (err) {
		steps_free(&a);
		return err;
	}
	c.allowed = find_allowed(allow);
	c.side[0] = &a;
	c.side[1] = &b;
	while (equal_next_block(&c, &p))
		compare_block(&c, &p);
	compare_told(&c);
	compare_banks(&c);
	*blocks = c.blocks;
	*differ = c.differ;
	steps_free(&a);
	steps_free(&b);
	return 0;
}
