// SPDX-License-Identifier: BSD-2-Clause
/*
 * map.c - the mappings of an address space: a sorted array of ranges. All calls
 * with mm's lock held.
 */
#include <stdlib.h>

#include "host/internal.h"

/* Index of the first mapping that ends behind va. */
static unsigned int first_behind(const struct host_mm *mm, uint64_t va)
{
	unsigned int lo = 0, hi = mm->maps, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (mm->map[mid].end > va)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct host_map *map_find(struct host_mm *mm, uint64_t va)
{
	unsigned int i = first_behind(mm, va);

	return i < mm->maps && mm->map[i].start <= va ? &mm->map[i] : NULL;
}

struct host_map *map_behind(struct host_mm *mm, uint64_t va)
{
	unsigned int i = first_behind(mm, va);

	return i < mm->maps ? &mm->map[i] : NULL;
}

int map_room(struct host_mm *mm, unsigned int n)
{
	unsigned int room = mm->map_room ? mm->map_room : 16;
	struct host_map *map;

	if (n && mm->maps + n > PROCESS_MAPS)
		return -ENOMEM;
	while (room < mm->maps + n)
		room *= 2;
	if (room == mm->map_room)
		return 0;
	map = realloc(mm->map, room * sizeof(*map));
	if (!map)
		return -ENOMEM;
	mm->map = map;
	mm->map_room = room;
	return 0;
}

uint64_t map_gap(struct host_mm *mm, uint64_t bytes)
{
	uint64_t at = mm->arena;
	uint64_t end = at + ARENA_MEMORY_BYTES;
	unsigned int i = first_behind(mm, at);

	/*
	 * One page stays free behind each mapping: who runs over the end of a
	 * buffer meets a fault and not his neighbour.
	 */
	for (; i < mm->maps && mm->map[i].start < end; i++) {
		if (mm->map[i].start > at &&
		    mm->map[i].start - at >= bytes + HOST_PAGE)
			return at;
		at = mm->map[i].end + HOST_PAGE;
	}
	return at < end && bytes <= end - at ? at : 0;
}

void map_insert(struct host_mm *mm, const struct host_map *m)
{
	unsigned int i = first_behind(mm, m->start);

	assert(mm->maps < mm->map_room);
	assert(i == mm->maps || mm->map[i].start >= m->end);
	memmove(&mm->map[i + 1], &mm->map[i],
		(mm->maps - i) * sizeof(*mm->map));
	mm->map[i] = *m;
	mm->maps++;
	if (m->file)
		m->file->maps++;
}

static void map_split_at(struct host_mm *mm, uint64_t va)
{
	struct host_map *m = map_find(mm, va), tail;

	if (!m || m->start == va)
		return;
	tail = *m;
	tail.start = va;
	if (tail.file)
		tail.offset += va - m->start;
	m->end = va;
	map_insert(mm, &tail);
}

/* Would a boundary at va make two of one mapping? */
static bool map_cuts(struct host_mm *mm, uint64_t va)
{
	struct host_map *m = map_find(mm, va);

	return m && m->start != va;
}

int map_split(struct host_mm *mm, uint64_t start, uint64_t end)
{
	int err = map_room(mm, map_cuts(mm, start) + map_cuts(mm, end));

	if (err)
		return err;
	map_split_at(mm, start);
	map_split_at(mm, end);
	return 0;
}

bool map_covers(struct host_mm *mm, uint64_t start, uint64_t end)
{
	struct host_map *m;

	for (; start < end; start = m->end) {
		m = map_find(mm, start);
		if (!m)
			return false;
	}
	return true;
}

int map_cut(struct host_mm *mm, uint64_t start, uint64_t end)
{
	return map_covers(mm, start, end) ? map_split(mm, start, end) :
					    -ENOMEM;
}

void map_remove(struct host_mm *mm, uint64_t start, uint64_t end)
{
	unsigned int from = first_behind(mm, start), to;

	for (to = from; to < mm->maps && mm->map[to].start < end; to++) {
		assert(mm->map[to].start >= start && mm->map[to].end <= end);
		if (mm->map[to].file)
			source_put(mm, mm->map[to].file);
	}
	if (to == from)
		return;
	memmove(&mm->map[from], &mm->map[to],
		(mm->maps - to) * sizeof(*mm->map));
	mm->maps -= to - from;
}

static bool map_joins(const struct host_map *a, const struct host_map *b)
{
	return a->end == b->start && a->prot == b->prot && a->file == b->file &&
	       (!a->file || a->offset + (a->end - a->start) == b->offset);
}

/* Join neighbours that differ in nothing. */
void map_merge(struct host_mm *mm)
{
	unsigned int from, to = 0;

	for (from = 1; from < mm->maps; from++) {
		if (map_joins(&mm->map[to], &mm->map[from])) {
			mm->map[to].end = mm->map[from].end;
			if (mm->map[from].file)
				source_put(mm, mm->map[from].file);
		} else {
			mm->map[++to] = mm->map[from];
		}
	}
	if (mm->maps)
		mm->maps = to + 1;
}
