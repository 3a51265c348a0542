// SPDX-License-Identifier: BSD-2-Clause
/*
 * table.c - the card's own table: leaves of 64 pages, found by object and page number.
 *
 * A leaf is in two lists: that of its bucket, by which a page is found, and that of its
 * object, by which all of an object, or a range that is longer than what is loaded of it,
 * is zapped. A leaf without a page is freed.
 */
#include <stdlib.h>

#include "faultline/device.h"
#include "nic/fw.h"
#include "nic/table.h"

#define LEAF_SHIFT	6
#define LEAF_PAGES	(1u << LEAF_SHIFT)
#define BUCKETS		4096u
#define LEAVES_MAX	65536u		/* 16 GB, if each of them is full */
#define OBJECTS		(DEV_MRS + FW_SLOTS)

struct table_leaf {
	struct table_leaf *next;		/* in the bucket */
	struct table_leaf *after, **before;	/* of the object */
	uint64_t number;			/* page >> LEAF_SHIFT */
	uint32_t object;
	/* A bit for each page; the others only where there is one. */
	uint64_t there, write, marked;
	uint64_t pa[LEAF_PAGES], tag[LEAF_PAGES];
};

struct table {
	uint32_t leaves;
	uint64_t entries;
	uint32_t leaves_of[OBJECTS];
	struct table_leaf *object[OBJECTS];
	struct table_leaf *bucket[BUCKETS];
};

struct table *table_create(void)
{
	return calloc(1, sizeof(struct table));
}

void table_destroy(struct table *t)
{
	if (t)
		table_clear(t);
	free(t);
}

bool table_object(uint32_t object)
{
	return object < DEV_MRS || object - TABLE_PROCESS < FW_SLOTS;
}

static uint32_t object_place(uint32_t object)
{
	return object < DEV_MRS ? object : DEV_MRS + object - TABLE_PROCESS;
}

static uint32_t bucket_of(uint32_t object, uint64_t number)
{
	uint64_t h = (number + ((uint64_t)object << 40)) * 0x9E3779B97F4A7C15ull;

	return (uint32_t)(h >> 52) & (BUCKETS - 1);
}

static struct table_leaf *leaf_find(const struct table *t, uint32_t object,
				    uint64_t number)
{
	struct table_leaf *l = t->bucket[bucket_of(object, number)];

	while (l && (l->number != number || l->object != object))
		l = l->next;
	return l;
}

static struct table_leaf *leaf_make(struct table *t, uint32_t object,
				    uint64_t number)
{
	struct table_leaf **bucket = &t->bucket[bucket_of(object, number)];
	uint32_t place = object_place(object);
	struct table_leaf **head = &t->object[place];
	struct table_leaf *l;

	if (t->leaves == LEAVES_MAX)
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->object = object;
	l->number = number;
	l->next = *bucket;
	*bucket = l;
	l->after = *head;
	l->before = head;
	if (*head)
		(*head)->before = &l->after;
	*head = l;
	t->leaves_of[place]++;
	t->leaves++;
	return l;
}

static void leaf_free(struct table *t, struct table_leaf *l)
{
	struct table_leaf **p = &t->bucket[bucket_of(l->object, l->number)];

	while (*p != l)
		p = &(*p)->next;
	*p = l->next;
	*l->before = l->after;
	if (l->after)
		l->after->before = l->before;
	t->leaves_of[object_place(l->object)]--;
	t->leaves--;
	free(l);
}

/* Pages [from, to] of the leaf go; it may be gone afterwards. */
static uint64_t leaf_zap(struct table *t, struct table_leaf *l,
			 unsigned int from, unsigned int to)
{
	uint64_t mask = ~0ull >> (LEAF_PAGES - 1 - (to - from)) << from;
	unsigned int n = (unsigned int)__builtin_popcountll(l->there & mask);

	l->there &= ~mask;
	l->write &= ~mask;
	l->marked &= ~mask;
	t->entries -= n;
	if (!l->there)
		leaf_free(t, l);
	return n;
}

void table_clear(struct table *t)
{
	uint32_t i;

	for (i = 0; i < OBJECTS; i++)
		while (t->object[i])
			leaf_zap(t, t->object[i], 0, LEAF_PAGES - 1);
}

bool table_load(struct table *t, uint32_t object, uint64_t page,
		const struct table_entry *e)
{
	struct table_leaf *l = leaf_find(t, object, page >> LEAF_SHIFT);
	unsigned int i = page % LEAF_PAGES;
	uint64_t bit = 1ull << i;

	if (!l)
		l = leaf_make(t, object, page >> LEAF_SHIFT);
	if (!l)
		return false;
	t->entries += !(l->there & bit);
	l->there |= bit;
	l->write = e->write ? l->write | bit : l->write & ~bit;
	l->pa[i] = e->pa;
	l->tag[i] = e->tag;
	return true;
}

/* What of pages [first, last] is in the leaf. */
static uint64_t leaf_zap_range(struct table *t, struct table_leaf *l,
			       uint64_t first, uint64_t last)
{
	uint64_t begin = l->number << LEAF_SHIFT, end = begin + LEAF_PAGES - 1;

	if (first > end || last < begin)
		return 0;
	return leaf_zap(t, l, first > begin ? (unsigned int)(first - begin) : 0,
			last < end ? (unsigned int)(last - begin) :
				     LEAF_PAGES - 1);
}

uint64_t table_zap(struct table *t, uint32_t object, uint64_t page,
		   uint64_t count)
{
	uint64_t last = page + count - 1, number, n = 0;
	uint32_t place = object_place(object);
	struct table_leaf *l, *after;

	if (!count)
		return 0;
	if (last < page)
		last = UINT64_MAX;
	if ((last >> LEAF_SHIFT) - (page >> LEAF_SHIFT) >= t->leaves_of[place]) {
		for (l = t->object[place]; l; l = after) {
			after = l->after;
			n += leaf_zap_range(t, l, page, last);
		}
		return n;
	}
	for (number = page >> LEAF_SHIFT; number <= last >> LEAF_SHIFT; number++) {
		l = leaf_find(t, object, number);
		if (l)
			n += leaf_zap_range(t, l, page, last);
	}
	return n;
}

uint64_t table_zap_all(struct table *t, uint32_t object)
{
	struct table_leaf **head = &t->object[object_place(object)];
	uint64_t n = 0;

	while (*head)
		n += leaf_zap(t, *head, 0, LEAF_PAGES - 1);
	return n;
}

bool table_find(const struct table *t, uint32_t object, uint64_t page,
		struct table_entry *e)
{
	const struct table_leaf *l = leaf_find(t, object, page >> LEAF_SHIFT);
	unsigned int i = page % LEAF_PAGES;

	if (!l || !(l->there >> i & 1))
		return false;
	*e = (struct table_entry){ .pa = l->pa[i], .tag = l->tag[i],
				   .write = l->write >> i & 1 };
	return true;
}

uint64_t table_entries(const struct table *t)
{
	return t->entries;
}

bool table_mark(struct table *t, uint32_t object, uint64_t page, bool mark)
{
	struct table_leaf *l = leaf_find(t, object, page >> LEAF_SHIFT);
	uint64_t bit = 1ull << page % LEAF_PAGES;
	bool before;

	if (!l || !(l->there & bit))
		return false;
	before = l->marked & bit;
	l->marked = mark ? l->marked | bit : l->marked & ~bit;
	return before;
}

const char *table_check(const struct table *t)
{
	uint64_t entries = 0, leaves = 0;
	const struct table_leaf *l;
	uint32_t i, n;

	for (i = 0; i < OBJECTS; i++) {
		n = 0;
		for (l = t->object[i]; l; l = l->after, n++) {
			if (object_place(l->object) != i || !l->there)
				return "a leaf of the card's table is empty, or of another object";
			if ((l->write | l->marked) & ~l->there)
				return "the card's table has rights to a page that is not there";
			if (leaf_find(t, l->object, l->number) != l)
				return "a leaf of the card's table is not found";
			entries += (unsigned int)__builtin_popcountll(l->there);
		}
		if (n != t->leaves_of[i])
			return "the leaves of an object of the card's table are miscounted";
		leaves += n;
	}
	return entries != t->entries || leaves != t->leaves ?
		"the entries of the card's table are miscounted" : NULL;
}
