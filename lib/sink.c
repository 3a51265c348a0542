// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory of the library under system npr: the words of each region, which the driver
 * writes and peers read; the list of regions, in which they find them; and pinned memory
 * for calls. Regions of the program do not see any of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "bounce.h"

int bounce_memory_make(struct bounce_memory *m, struct fl_pd *pd, size_t bytes,
		       unsigned int access, uint32_t flags)
{
	struct fl_device *dev = pd->dev;
	struct fl_reg_mr r = {
		.size = sizeof(r),
		.pd = pd->number,
		.access = access | FL_ACC_LOCAL_WRITE,
		.flags = flags | FL_MR_PINNED,
	};
	int error = 0;

	*m = (struct bounce_memory){ .pd = pd, .bytes = bytes };
	m->mem = dev->sys->alloc(dev->fd, bytes, &error);
	if (!m->mem)
		return error;
	r.addr = (uintptr_t)m->mem;
	r.length = bytes;
	if (dev->sys->import)
		error = dev->sys->import(dev->fd, m->mem, bytes, r.access);
	if (!error) {
		error = lib_ioctl(dev, FL_IOC_REG_MR, &r);
		if (error && dev->sys->release)
			dev->sys->release(dev->fd, m->mem, bytes);
	}
	if (error) {
		dev->sys->free(m->mem, bytes);
		m->mem = NULL;
	}
	m->key = r.key;
	return error;
}

void bounce_memory_free(struct bounce_memory *m)
{
	struct fl_device *dev;

	if (!m->mem)
		return;
	dev = m->pd->dev;
	lib_destroy(dev, FL_IOC_DEREG_MR, m->key);
	if (dev->sys->release)
		dev->sys->release(dev->fd, m->mem, m->bytes);
	dev->sys->free(m->mem, m->bytes);
	m->mem = NULL;
}

struct bounce_entry *bounce_own(const struct fl_pd *pd)
{
	return pd->sink->list.mem;
}

struct bounce_entry *bounce_find(struct bounce_entry *list, uint32_t key,
				 uint64_t addr, uint32_t bytes)
{
	struct bounce_entry *e;

	for (e = list; e < list + BOUNCE_LIST; e++)
		if (key && __atomic_load_n(&e->key, __ATOMIC_ACQUIRE) == key &&
		    addr >= e->addr && bytes <= e->length &&
		    addr - e->addr <= e->length - bytes)
			return e;
	return NULL;
}

int bounce_words_make(struct fl_mr *mr, struct fl_reg_mr *r, bool pinned)
{
	uint64_t pages = (r->addr % BOUNCE_PAGE + r->length + BOUNCE_PAGE - 1) /
			 BOUNCE_PAGE;
	int error;

	if (pinned)
		return 0;
	if (pages > SIZE_MAX / sizeof(uint32_t))
		return -EINVAL;
	mr->words = calloc(1, sizeof(*mr->words));
	if (!mr->words)
		return -ENOMEM;
	error = bounce_memory_make(mr->words, mr->pd,
				   (size_t)pages * sizeof(uint32_t),
				   FL_ACC_REMOTE_READ, 0);
	r->words = (uintptr_t)mr->words->mem;
	return error;
}

int bounce_list_add(struct fl_mr *mr)
{
	struct bounce_entry *e = bounce_own(mr->pd), *end = e + BOUNCE_LIST;

	lib_lock(mr->pd->dev);
	while (e < end && e->key)
		e++;
	if (e < end) {
		e->addr = mr->addr;
		e->length = mr->bytes;
		e->words = mr->words ? (uintptr_t)mr->words->mem : 0;
		e->words_key = mr->words ? mr->words->key : 0;
		/* Whoever knows the key finds the rest. */
		__atomic_store_n(&e->key, mr->key, __ATOMIC_RELEASE);
	}
	lib_unlock(mr->pd->dev);
	return e < end ? 0 : -ENOSPC;
}

/* The driver does not write the words any more. */
void bounce_list_del(struct fl_mr *mr)
{
	struct bounce_entry *e;

	if (mr->pd->sink) {
		/* The place that becomes free may be taken at once. */
		lib_lock(mr->pd->dev);
		e = bounce_find(bounce_own(mr->pd), mr->key, mr->addr, 1);
		if (e)
			__atomic_store_n(&e->key, 0, __ATOMIC_RELEASE);
		lib_unlock(mr->pd->dev);
	}
	if (mr->words)
		bounce_memory_free(mr->words);
	free(mr->words);
	mr->words = NULL;
}

int bounce_pd_make(struct fl_pd *pd)
{
	int error;

	if (pd->sink)
		return 0;
	pd->sink = calloc(1, sizeof(*pd->sink));
	if (!pd->sink)
		return -ENOMEM;
	error = bounce_memory_make(&pd->sink->list, pd,
				   BOUNCE_LIST * sizeof(struct bounce_entry),
				   FL_ACC_REMOTE_READ, 0);
	if (error) {
		free(pd->sink);
		pd->sink = NULL;
	}
	return error;
}

void bounce_pd_free(struct fl_pd *pd)
{
	if (!pd->sink)
		return;
	bounce_memory_free(&pd->sink->list);
	free(pd->sink);
	pd->sink = NULL;
}
