// SPDX-License-Identifier: BSD-2-Clause
/* find.c - the few things that host.h does not say and the shim must know. */
#include "host/internal.h"

struct shim;
extern const struct host_device_ops shim_device_ops;
bool shim_find_map(struct host_mm *mm, uint64_t va, uint64_t *start,
		   uint64_t *end, int *prot);
struct shim *shim_find(struct host_kernel *k);
uint64_t shim_frames(struct host_mm *mm, uint64_t *most);
void shim_evict(struct host_mm *mm, uint64_t va);
uint64_t shim_frame_pa(const struct host_frame *frame);

/* The first mapping that ends after va. */
bool shim_find_map(struct host_mm *mm, uint64_t va, uint64_t *start,
		   uint64_t *end, int *prot)
{
	struct host_map *m;

	sim_mutex_lock(&mm->lock);
	m = map_behind(mm, va);
	if (m) {
		*start = m->start;
		*end = m->end;
		*prot = m->prot;
	}
	sim_mutex_unlock(&mm->lock);
	return m != NULL;
}

/* The driver that runs on this kernel: the one whose device file it has. */
struct shim *shim_find(struct host_kernel *k)
{
	unsigned int i;

	for (i = 0; i < DEVICES; i++)
		if (k->device[i].ops == &shim_device_ops)
			return k->device[i].dev;
	return NULL;
}

/* Frames that the process has, and how many it may have. */
uint64_t shim_frames(struct host_mm *mm, uint64_t *most)
{
	uint64_t used;

	sim_mutex_lock(&mm->lock);
	used = mm->used;
	sim_mutex_unlock(&mm->lock);
	*most = mm->k->process_pages;
	return used;
}

uint64_t shim_frame_pa(const struct host_frame *frame)
{
	return frame_pa(frame);
}

/* As reclaim would; a page that is pinned or busy stays. */
void shim_evict(struct host_mm *mm, uint64_t va)
{
	sim_mutex_lock(&mm->lock);
	evict_range(mm, va, 1);
	sim_mutex_unlock(&mm->lock);
}
