// SPDX-License-Identifier: BSD-2-Clause
/*
 * smmu.def against tests/data/smmu-map.txt, which is a transcription of the fact
 * sheet's register map by another hand. Every register and field of either must
 * be in the other, at the same place.
 */
#include "tests/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY	-1	/* the text gives no number */
#define MAX	512

/* A register (field is "") or a field, from either side. */
struct entry {
	char page[8], name[24], field[24], access[8];
	long at, width;		/* offset and bits, or lsb and width */
	long count, stride;
	long long reset;
	bool seen;
};

struct map {
	struct entry e[MAX];
	unsigned int n;
};

static const struct entry def[] = {
#define SREG(page, name, off, bits, access, reset, text)                      \
	{ #page, #name, "", #access, off, bits, 1, bits / 8, reset, false },
#define SARR(page, name, off, stride, count, bits, access, reset, text)       \
	{ #page, #name, "", #access, off, bits, count, stride, reset, false },
#define SFLD(page, name, field, lsb, width, text)                             \
	{ #page, #name, #field, "", lsb, width, 1, 0, 0, false },
#include "faultline/smmu.def"
};
#define DEF_COUNT	(sizeof(def) / sizeof(def[0]))

static long smmu_map_number(const char *text)
{
	char *end;
	long v = strtol(text, &end, 0);

	if (!strcmp(text, "-"))
		return ANY;
	test_expect(end != text && !*end, __FILE__, __LINE__,
		    "\"%s\" is a number", text);
	return v;
}

static void smmu_map_put(char *to, size_t size, const char *from)
{
	EXPECT(from && strlen(from) < size);
	strcpy(to, from);
}

/* What may follow a register's offset, in any order. */
static void parse_option(struct entry *e, const char *word)
{
	if (word[0] == 'x') {
		e->count = smmu_map_number(word + 1);
		e->stride = smmu_map_number(strtok(NULL, " \n"));
	} else if (word[0] == '=') {
		e->reset = strtoll(word + 1, NULL, 0);
	} else if (word[0] >= 'A' && word[0] <= 'Z') {
		smmu_map_put(e->access, sizeof(e->access), word);
	} else {
		e->width = smmu_map_number(word);
	}
}

static void parse_line(struct map *m, char *line)
{
	bool field = line[0] == ' ';
	struct entry *e = &m->e[m->n];
	char *word = strtok(line, " \n");

	if (!word || word[0] == '#')
		return;
	EXPECT(m->n < MAX - 1);
	memset(e, 0, sizeof(*e));
	if (field) {
		EXPECT(m->n > 0);
		memcpy(e->page, e[-1].page, sizeof(e->page));
		memcpy(e->name, e[-1].name, sizeof(e->name));
		smmu_map_put(e->field, sizeof(e->field), word);
		e->at = smmu_map_number(strtok(NULL, " \n"));
		e->width = smmu_map_number(strtok(NULL, " \n"));
	} else {
		smmu_map_put(e->page, sizeof(e->page), word);
		smmu_map_put(e->name, sizeof(e->name), strtok(NULL, " \n"));
		e->at = smmu_map_number(strtok(NULL, " \n"));
		e->width = 32;
		e->count = 1;
		e->reset = ANY;
		while ((word = strtok(NULL, " \n")))
			parse_option(e, word);
	}
	m->n++;
}

static void smmu_map_load(struct map *m)
{
	char path[512], line[256], *slash;
	FILE *f;

	/* The data lies two folders above this source. */
	smmu_map_put(path, sizeof(path) - 32, __FILE__);
	slash = strrchr(path, '/');
	strcpy(slash ? slash : path, slash ? "/../../data/smmu-map.txt" :
					     "../../data/smmu-map.txt");
	STEP("read %s", path);
	f = fopen(path, "r");
	EXPECT(f);
	m->n = 0;
	while (fgets(line, sizeof(line), f))
		parse_line(m, line);
	fclose(f);
}

static struct entry *smmu_map_find(struct map *m, const struct entry *d)
{
	unsigned int i;

	for (i = 0; i < m->n; i++)
		if (!strcmp(m->e[i].page, d->page) &&
		    !strcmp(m->e[i].name, d->name) &&
		    !strcmp(m->e[i].field, d->field))
			return &m->e[i];
	return NULL;
}

static void smmu_map_same(const struct entry *d, const char *what,
			  long long got, long long want)
{
	test_expect(want == ANY || got == want, __FILE__, __LINE__,
		    "%s_%s %s: %s is 0x%llx, the map says 0x%llx", d->page,
		    d->name, d->field, what, got, want);
}

TEST("every register and field of smmu.def is in the map, at the same place")
{
	static struct map m;
	unsigned int i;

	smmu_map_load(&m);
	for (i = 0; i < DEF_COUNT; i++) {
		const struct entry *d = &def[i];
		struct entry *e = smmu_map_find(&m, d);

		test_expect(e, __FILE__, __LINE__, "%s_%s %s is in the map",
			    d->page, d->name, d->field);
		test_expect(!e->seen, __FILE__, __LINE__,
			    "%s_%s %s is there once", d->page, d->name,
			    d->field);
		e->seen = true;
		smmu_map_same(d, "place", d->at, e->at);
		smmu_map_same(d, "width", d->width, e->width);
		if (d->field[0])
			continue;
		smmu_map_same(d, "count", d->count, e->count);
		if (e->count > 1)
			smmu_map_same(d, "stride", d->stride, e->stride);
		smmu_map_same(d, "reset", d->reset, e->reset);
		if (e->access[0])
			EXPECT_STR(d->access, e->access);
	}
	for (i = 0; i < m.n; i++)
		test_expect(m.e[i].seen, __FILE__, __LINE__,
			    "%s_%s %s of the map is in smmu.def", m.e[i].page,
			    m.e[i].name, m.e[i].field);
}

TEST("the map is the whole section: 56 registers and their fields")
{
	static struct map m;
	unsigned int i, regs = 0;

	smmu_map_load(&m);
	for (i = 0; i < m.n; i++)
		regs += !m.e[i].field[0];
	STEP("%u registers, %u fields", regs, m.n - regs);
	EXPECT_EQ(regs, 56);
	EXPECT_EQ(m.n, DEF_COUNT);
}

TEST("no two registers overlap and no two fields of one share a bit")
{
	uint64_t bits = 0;
	unsigned int i, j;

	for (i = 0; i < DEF_COUNT; i++) {
		const struct entry *d = &def[i];

		if (d->field[0]) {
			uint64_t mask = d->width == 64 ? ~UINT64_C(0) :
				((UINT64_C(1) << d->width) - 1) << d->at;

			test_expect(!(bits & mask), __FILE__, __LINE__,
				    "%s_%s %s has bits of its own", d->page,
				    d->name, d->field);
			bits |= mask;
			continue;
		}
		bits = 0;
		EXPECT(d->at % (d->width / 8) == 0);
		EXPECT(d->at + d->count * d->stride <= 0x1000);
		for (j = 0; j < i; j++) {
			const struct entry *o = &def[j];

			if (o->field[0] || strcmp(o->page, d->page))
				continue;
			test_expect(d->at + d->count * d->stride <= o->at ||
				    o->at + o->count * o->stride <= d->at,
				    __FILE__, __LINE__,
				    "%s_%s and %s_%s do not overlap", d->page,
				    d->name, o->page, o->name);
		}
	}
}
