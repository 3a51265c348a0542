// SPDX-License-Identifier: BSD-2-Clause
/* mmap.c - new mappings: of zeros, or of a file; where there is room, or at a place. */
#include "host/internal.h"

void *map_somewhere(struct host_mm *mm, struct host_map *m, uint64_t len,
		    int *error)
{
	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	*error = map_room(mm, 1);
	m->start = *error ? 0 : map_gap(mm, len);
	if (!*error && !m->start)
		*error = -ENOMEM;
	if (!*error) {
		m->end = m->start + len;
		map_insert(mm, m);
	}
	if (m->file)
		source_put(mm, m->file);	/* the list has its own count */
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
	return *error ? NULL : (void *)(uintptr_t)m->start;
}

int check_map(uint64_t *len, int prot, uint64_t offset)
{
	if (!*len || prot_bad(prot) || offset % HOST_PAGE)
		return -EINVAL;
	if (*len > ARENA_MEMORY_BYTES)
		return -ENOMEM;
	*len = (*len + HOST_PAGE - 1) & ~(HOST_PAGE - 1);
	return 0;
}

int file_count(struct host_mm *mm)
{
	int err;

	sim_mutex_lock(&mm->lock);
	err = mm->sources < PROCESS_SOURCES ? 0 : -EMFILE;
	mm->sources += !err;
	sim_mutex_unlock(&mm->lock);
	return err;
}

struct host_source *file_counted(struct host_mm *mm, struct host_source *f)
{
	if (f) {
		f->maps = 1;
		return f;
	}
	sim_mutex_lock(&mm->lock);
	mm->sources--;
	sim_mutex_unlock(&mm->lock);
	return NULL;
}

void *host_mmap(struct host_process *p, uint64_t len, int prot,
		const char *path, uint64_t offset, int *error)
{
	struct host_map m = { .prot = prot_normal(prot) };

	host_spend(p->k, T_CPU_SYSCALL);
	*error = check_map(&len, prot, offset);
	if (*error)
		return NULL;
	if (path) {
		*error = file_count(p->mm);
		if (*error)
			return NULL;
		m.file = file_counted(p->mm, source_open(path, error));
		if (!m.file)
			return NULL;
		m.offset = offset;
	}
	return map_somewhere(p->mm, &m, len, error);
}

/* One mapping takes the place of what is in its range. */
static int remap_range(struct host_mm *mm, const struct host_map *m)
{
	int err;

	mm_maps_write(mm);
	sim_mutex_lock(&mm->lock);
	/* Two that are cut, and the new one: after the old has gone all must work. */
	err = map_room(mm, 3);
	if (!err)
		err = unmap_locked(mm, m->start, m->end - m->start);
	if (!err) {
		map_insert(mm, m);
		map_merge(mm);
	}
	sim_mutex_unlock(&mm->lock);
	mm_maps_end(mm);
	return err;
}

int host_remap(struct host_process *p, void *addr, uint64_t len, int prot)
{
	struct host_map m = { .start = (uintptr_t)addr,
			      .prot = prot_normal(prot) };
	int err = check_range(p->mm, addr, &len, false);

	host_spend(p->k, T_CPU_SYSCALL);
	if (err || prot_bad(prot))
		return -EINVAL;
	m.end = m.start + len;
	return remap_range(p->mm, &m);
}
