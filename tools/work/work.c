// SPDX-License-Identifier: BSD-2-Clause
/* Works by their names and keys. */
#include "tools/work/work.h"

#include <stdio.h>
#include <string.h>

#include "faultline/system_rows.h"
#include "tools/scenario/words.h"
#include "tools/work/pattern.h"
#include "tools/work/stream.h"

#define WORKS	(WORK_PATTERNS + PATTERNS)

enum { KEY_BYTES = 1, KEY_COUNT = 2, KEY_DEPTH = 4, KEY_COLD = 8, KEY_SIDE = 16 };

static const struct work_key {
	unsigned int bit;
	const char *name, *right;
} keys[] = {
	{ KEY_BYTES, "bytes", "a size from 1 to 16M" },
	{ KEY_COUNT, "count", "a number from 1 to 256 (pingpong: to 128, stream: to 100000)" },
	{ KEY_DEPTH, "depth", "a number from 1 to 64 (stream: a power of two from 2 to 4096)" },
	{ KEY_COLD, "cold", "a share from 0% to 100%" },
	{ KEY_SIDE, "side", "source, destination or both" },
};
#define KEYS	(sizeof(keys) / sizeof(keys[0]))

static const char *const sides[] = { "source", "destination", "both", NULL };

static const struct work_kind {
	const char *name, *text, *keys;
	unsigned int has;
	struct work usual;
} kinds[WORK_PATTERNS] = {
	{ "write", "WRITEs of process p into a buffer of process q, side by side",
	  "bytes=, count=, depth=, cold=, side=", 31,
	  { .bytes = 1u << 20, .count = 1, .depth = 64 } },
	{ "read", "READs of process p from a buffer of process q, side by side",
	  "bytes=, count=, depth=, cold=, side=", 31,
	  { .bytes = 1u << 20, .count = 1, .depth = 64 } },
	{ "pingpong", "a WRITE there and one back, again and again at one place",
	  "bytes=, count=, cold=, side=", 31 & ~KEY_DEPTH,
	  { .bytes = 64, .count = 64, .depth = 1 } },
	{ "stream", "a stream of packets as of TCP, into a ring of depth= receives",
	  "count=, depth=, cold=", KEY_COUNT | KEY_DEPTH | KEY_COLD,
	  { .bytes = STREAM_PACKET, .count = 1000, .depth = 64 } },
};

static const struct work_kind of_pattern = {
	NULL, NULL, "depth=, cold=, side=", KEY_DEPTH | KEY_COLD | KEY_SIDE,
	{ .count = 1, .depth = 4 }
};

static const struct work_kind *kind_of(unsigned int kind)
{
	return kind < WORK_PATTERNS ? &kinds[kind] : &of_pattern;
}

const char *work_name(unsigned int kind)
{
	if (kind >= WORKS)
		return NULL;
	return kind < WORK_PATTERNS ? kinds[kind].name :
				      pattern_names[kind - WORK_PATTERNS];
}

const char *work_text(unsigned int kind)
{
	return kind < WORK_PATTERNS ? kinds[kind].text :
				      pattern_texts[kind - WORK_PATTERNS];
}

bool work_goes(const struct work *k, enum fl_system system)
{
	bool datagrams = fl_system_rows[system].transport == FL_TRANSPORT_UD;

	return datagrams == (k->kind == WORK_STREAM);
}

const char *work_keys(unsigned int kind)
{
	return kind_of(kind)->keys;
}

const char *work_choose(struct work *k, const char *name, char room[WORK_ROOM])
{
	const char *names[WORKS + 1], *near;
	unsigned int i;
	size_t at = 0;

	for (i = 0; i < WORKS; i++) {
		names[i] = work_name(i);
		if (strcmp(names[i], name ? name : "write"))
			continue;
		*k = kind_of(i)->usual;
		k->kind = i;
		k->cold_ppm = 1000000;
		k->side = WORK_DESTINATION;
		return NULL;
	}
	names[WORKS] = NULL;
	near = word_nearest(name, names);
	for (i = 0; i < WORKS; i++)
		at += (size_t)snprintf(room + at, WORK_ROOM - at, "%s%s",
				       i ? ", " : "", names[i]);
	if (near)
		snprintf(room + at, WORK_ROOM - at, " (did you mean '%s'?)", near);
	return room;
}

/* NULL, or what would be right. */
static const char *number_within(const char *value, uint64_t most,
				 const char *right, uint64_t *to)
{
	uint64_t n;

	if (word_count(value, &n) || !n || n > most)
		return right;
	*to = n;
	return NULL;
}

static const char *key_take(struct work *k, const struct work_key *key,
			    const char *value)
{
	unsigned int i;
	uint64_t n;

	switch (key->bit) {
	case KEY_BYTES:
		if (word_size(value, &n) || !n || n > 16u << 20)
			return key->right;
		k->bytes = n;
		return NULL;
	case KEY_COUNT:
		return number_within(value, k->kind == WORK_PINGPONG ? WORK_MOST_OPS / 2 :
					    k->kind == WORK_STREAM ? STREAM_MOST :
								     WORK_MOST_OPS,
				     key->right, &k->count);
	case KEY_DEPTH:
		if (k->kind != WORK_STREAM)
			return number_within(value, 64, key->right, &k->depth);
		if (word_count(value, &n) || n < 2 || n > 4096 || n & (n - 1))
			return key->right;
		k->depth = n;
		return NULL;
	case KEY_COLD:
		if (word_share(value, &n) || n > 1000000)
			return key->right;
		k->cold_ppm = n;
		return NULL;
	default:
		for (i = 0; sides[i]; i++) {
			if (strcmp(sides[i], value))
				continue;
			k->side = (enum work_side)i;
			return NULL;
		}
		return key->right;
	}
}

const char *work_set(struct work *k, const char *assignment, char room[WORK_ROOM])
{
	const struct work_kind *kind = kind_of(k->kind);
	size_t n = strcspn(assignment, "="), i;
	const char *names[KEYS + 1], *near, *right;
	unsigned int have = 0;
	char word[40];

	for (i = 0; i < KEYS && assignment[n]; i++) {
		if (!(kind->has & keys[i].bit))
			continue;
		names[have++] = keys[i].name;
		if (strlen(keys[i].name) != n || memcmp(keys[i].name, assignment, n))
			continue;
		right = key_take(k, &keys[i], assignment + n + 1);
		if (right)
			snprintf(room, WORK_ROOM, "%s", right);
		return right ? room : NULL;
	}
	names[have] = NULL;
	snprintf(word, sizeof(word), "%.*s", (int)(n < 39 ? n : 39), assignment);
	near = word_nearest(word, names);
	snprintf(room, WORK_ROOM, "a key that %s has: %s%s%s%s", work_name(k->kind),
		 kind->keys, near ? " (did you mean '" : "", near ? near : "",
		 near ? "='?)" : "");
	return room;
}

const char *work_check(const struct work *k, char room[WORK_ROOM])
{
	if (k->kind == WORK_STREAM && k->cold_ppm && k->cold_ppm != 1000000) {
		snprintf(room, WORK_ROOM, "cold=0%% or cold=100%%: a ring is cold or it is not");
		return room;
	}
	if (k->kind >= WORK_PINGPONG ||
	    k->bytes * k->count <= WORK_MOST_BYTES)
		return NULL;
	snprintf(room, WORK_ROOM, "bytes= times count= of at most %lluM",
		 WORK_MOST_BYTES >> 20);
	return room;
}

static void put_size(char text[32], uint64_t bytes)
{
	if (bytes >= 1u << 20 && bytes % (1u << 20) == 0)
		snprintf(text, 32, "%llu MB", (unsigned long long)bytes >> 20);
	else if (bytes >= 1024 && bytes % 1024 == 0)
		snprintf(text, 32, "%llu KB", (unsigned long long)bytes >> 10);
	else
		snprintf(text, 32, "%llu byte%s", (unsigned long long)bytes,
			 word_plural(bytes));
}

void work_title(const struct work *k, char title[WORK_TITLE])
{
	static const char *const which[] = { "source", "destination", "both sides" };
	unsigned long long count = k->count;
	char size[32], cold[64];

	if (!k->cold_ppm)
		snprintf(cold, sizeof(cold), "all resident");
	else if (k->cold_ppm == 1000000)
		snprintf(cold, sizeof(cold), "%s cold", which[k->side]);
	else
		snprintf(cold, sizeof(cold), "%g%% of %s cold",
			 (double)k->cold_ppm / 1e4, which[k->side]);
	put_size(size, k->bytes);
	if (k->kind >= WORK_PATTERNS)
		snprintf(title, WORK_TITLE, "pattern %s, %s", work_name(k->kind),
			 cold);
	else if (k->kind == WORK_STREAM)
		snprintf(title, WORK_TITLE, "a stream of %llu packet%s into a ring of %llu, %s",
			 count, word_plural(count), (unsigned long long)k->depth,
			 k->cold_ppm ? "cold" : "all resident");
	else if (k->kind == WORK_PINGPONG)
		snprintf(title, WORK_TITLE, "%llu times %s there and back, %s", count,
			 size, cold);
	else
		snprintf(title, WORK_TITLE, "%llu %s%s of %s, %s", count,
			 k->kind == WORK_READ ? "READ" : "WRITE",
			 word_plural(count), size, cold);
}
