// SPDX-License-Identifier: BSD-2-Clause
/* mmap.c - new mappings: of zeros, or of a file. */
#include "host/internal.h"

/* The first gap becomes m, len bytes long; its address, or NULL. */
static void *map_somewhere(struct host_process *p, struct host_map *m,
			   uint64_t len, int *error)
{
	struct host_mm *mm = p->mm;

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

static int check_map(uint64_t *len, int prot, uint64_t offset)
{
	if (!*len || prot_bad(prot) || offset % HOST_PAGE)
		return -EINVAL;
	if (*len > ARENA_MEMORY_BYTES)
		return -ENOMEM;
	*len = (*len + HOST_PAGE - 1) & ~(HOST_PAGE - 1);
	return 0;
}

/*
 * path's, or what fd is. Each is a descriptor of this program, of which others need
 * some too; so it is counted before it is there.
 */
static struct host_source *file_get(struct host_mm *mm, const char *path,
				    int fd, uint64_t bytes, int *error)
{
	struct host_source *f;

	sim_mutex_lock(&mm->lock);
	*error = mm->sources < PROCESS_SOURCES ? 0 : -EMFILE;
	mm->sources += !*error;
	sim_mutex_unlock(&mm->lock);
	if (*error)
		return NULL;
	f = path ? source_open(path, error) : source_of(fd, bytes, error);
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
		m.file = file_get(p->mm, path, -1, 0, error);
		if (!m.file)
			return NULL;
		m.offset = offset;
	}
	return map_somewhere(p, &m, len, error);
}

void *host_mmap_source(struct host_process *p, uint64_t len, int prot, int fd,
		       uint64_t offset, int *error)
{
	struct host_map m = { .prot = prot_normal(prot), .offset = offset };

	host_spend(p->k, T_CPU_SYSCALL);
	*error = check_map(&len, prot, offset);
	if (!*error && offset > INT64_MAX - len)
		*error = -EINVAL;
	if (*error)
		return NULL;
	m.file = file_get(p->mm, NULL, fd, offset + len, error);
	if (!m.file)
		return NULL;
	return map_somewhere(p, &m, len, error);
}
