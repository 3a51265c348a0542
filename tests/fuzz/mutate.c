// SPDX-License-Identifier: BSD-2-Clause
/* See mutate.h. */
#include "mutate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One input while it is made. */
struct draft {
	const struct mutate *m;
	uint64_t random;
	uint8_t *at;
	size_t size, room;
};

/* 0 <= result < n; 0 for n = 0 */
static size_t draft_below(struct draft *d, size_t n)
{
	uint64_t z = d->random += 0x9e3779b97f4a7c15ull;

	/* splitmix64, Steele and others 2014 */
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return n ? (size_t)((z ^ z >> 31) % n) : 0;
}

/* Where a change begins; behind the last byte, too. */
static size_t draft_spot(struct draft *d)
{
	return draft_below(d, d->size + 1);
}

/* Mostly few. */
static size_t draft_length(struct draft *d, size_t most)
{
	size_t n = (size_t)1 << draft_below(d, 8);

	return 1 + draft_below(d, n < most ? n : most);
}

/* In place of `gone` bytes at a spot, others, which may be the draft's own. */
static void draft_replace(struct draft *d, size_t spot, size_t gone, const uint8_t *by, size_t n)
{
	uint8_t copy[256];

	n = n < sizeof(copy) ? n : sizeof(copy);
	gone = gone < d->size - spot ? gone : d->size - spot;
	if (n)
		memcpy(copy, by, n);
	if (d->size - gone + n > d->room)
		n = d->room - (d->size - gone);
	memmove(d->at + spot + n, d->at + spot + gone, d->size - spot - gone);
	memcpy(d->at + spot, copy, n);
	d->size = d->size - gone + n;
}

/* ---- changes ---- */

static void change_bit(struct draft *d)
{
	if (d->size)
		d->at[draft_below(d, d->size)] ^= (uint8_t)(1 << draft_below(d, 8));
}

static void change_bytes(struct draft *d)
{
	uint8_t by[8];
	size_t i, n = 1 + draft_below(d, sizeof(by));

	for (i = 0; i < n; i++)
		by[i] = (uint8_t)draft_below(d, 256);
	draft_replace(d, draft_spot(d), draft_below(d, 2) ? n : 0, by, n);
}

static void change_erase(struct draft *d)
{
	draft_replace(d, draft_spot(d), draft_length(d, d->size), NULL, 0);
}

/* A part of it once more, elsewhere. */
static void change_repeat(struct draft *d)
{
	size_t from = draft_spot(d), n = draft_length(d, d->size);

	n = n < d->size - from ? n : d->size - from;
	draft_replace(d, draft_spot(d), draft_below(d, 2) ? n : 0, d->at + from, n);
}

/* A part of another input. */
static void change_splice(struct draft *d)
{
	const struct mutate_bytes *other = &d->m->known[draft_below(d, d->m->knowns)];
	size_t from = draft_below(d, other->size), n = draft_length(d, other->size);

	n = n < other->size - from ? n : other->size - from;
	if (n)
		draft_replace(d, draft_spot(d), draft_below(d, 2) ? n : 0, other->at + from, n);
}

static void change_word(struct draft *d)
{
	const struct mutate_bytes *w;

	if (!d->m->words) {
		change_bytes(d);
		return;
	}
	w = &d->m->word[draft_below(d, d->m->words)];
	draft_replace(d, draft_spot(d), draft_below(d, 2) ? w->size : 0, w->at, w->size);
}

/* A number at an end of what it can be. */
static void change_number(struct draft *d)
{
	static const uint64_t ends[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff,
					 0x80000000, 0xffffffff, 0x7fffffffffffffff,
					 0xffffffffffffffff };
	uint64_t v = ends[draft_below(d, sizeof(ends) / sizeof(ends[0]))];
	size_t n = (size_t)1 << draft_below(d, 4), i;
	uint8_t by[8];

	for (i = 0; i < n; i++)
		by[i] = (uint8_t)(v >> 8 * i);
	draft_replace(d, draft_spot(d), draft_below(d, 4) ? n : 0, by, n);
}

/* One more, or one less, where a digit stands. */
static void change_digit(struct draft *d)
{
	size_t i, spot = draft_spot(d);

	for (i = spot; i < d->size; i++)
		if (d->at[i] >= '0' && d->at[i] <= '9') {
			d->at[i] = (uint8_t)('0' + draft_below(d, 10));
			return;
		}
	change_bytes(d);
}

/* ---- inputs ---- */

uint8_t *mutate_make(const struct mutate *m, uint64_t seed, uint64_t number, size_t *size)
{
	static void (*const changes[])(struct draft *) = {
		change_bit, change_bytes, change_erase, change_repeat,
		change_splice, change_word, change_number, change_digit,
	};
	struct draft d = { .m = m, .random = seed << 40 ^ number << 8, .room = m->longest };
	const struct mutate_bytes *from = &m->known[draft_below(&d, m->knowns)];
	size_t n = draft_length(&d, 16);

	d.at = malloc(d.room + 1);
	if (!d.at)
		return NULL;
	d.size = from->size < d.room ? from->size : d.room;
	memcpy(d.at, from->at, d.size);
	while (n--)
		changes[draft_below(&d, sizeof(changes) / sizeof(changes[0]))](&d);
	*size = d.size;
	return d.at;
}

static int mutate_add(struct mutate_bytes **list, size_t *n, uint8_t *at, size_t size)
{
	struct mutate_bytes *more = realloc(*list, (*n + 1) * sizeof(**list));

	if (!more) {
		free(at);
		return -ENOMEM;
	}
	*list = more;
	more[(*n)++] = (struct mutate_bytes){ at, size };
	return 0;
}

int mutate_add_known(struct mutate *m, uint8_t *at, size_t size)
{
	return mutate_add(&m->known, &m->knowns, at, size);
}

int mutate_read_words(struct mutate *m, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];
	int err = 0;
	size_t n;

	if (!f)
		return -errno;
	while (!err && fgets(line, sizeof(line), f)) {
		n = strcspn(line, "\n");
		if (n < 3 || line[0] != '"' || line[n - 1] != '"')
			continue;
		line[n - 1] = 0;
		err = mutate_add(&m->word, &m->words, (uint8_t *)strdup(line + 1), n - 2);
	}
	if (ferror(f))
		err = -EIO;
	fclose(f);
	return err;
}

void mutate_free(struct mutate *m)
{
	while (m->knowns)
		free(m->known[--m->knowns].at);
	while (m->words)
		free(m->word[--m->words].at);
	free(m->known);
	free(m->word);
}
