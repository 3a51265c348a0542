// SPDX-License-Identifier: BSD-2-Clause
/* Protection domains and the memory regions in them. */
#include <errno.h>
#include <stdlib.h>

#include "bounce.h"

#define ACCESS_BITS (FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ | \
		     FL_REMOTE_ATOMIC)

_Static_assert((int)FL_PREFETCH_FOR_READ == FL_ADVISE_PREFETCH &&
	       (int)FL_PREFETCH_FOR_WRITE == FL_ADVISE_PREFETCH_WRITE &&
	       (int)FL_PREFETCH_PRESENT == FL_ADVISE_NO_FAULT &&
	       FL_ADVICE_FLUSH == FL_ADVISE_FLUSH, "faultline.h and uapi.h");

_Static_assert((int)FL_LOCAL_WRITE == (int)FL_ACC_LOCAL_WRITE &&
	       (int)FL_REMOTE_WRITE == (int)FL_ACC_REMOTE_WRITE &&
	       (int)FL_REMOTE_READ == (int)FL_ACC_REMOTE_READ &&
	       (int)FL_REMOTE_ATOMIC == (int)FL_ACC_REMOTE_ATOMIC,
	       "faultline.h and entries.def");

int fl_alloc_pd(struct fl_device *dev, struct fl_pd **pd)
{
	struct fl_alloc_pd a = { .size = sizeof(a) };
	struct fl_pd *p;
	int error;

	if (!dev || !pd)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	error = lib_ioctl(dev, FL_IOC_ALLOC_PD, &a);
	if (error) {
		free(p);
		return error;
	}
	p->dev = dev;
	p->number = a.pd;
	error = dev->sinks ? bounce_pd_make(p) : 0;
	if (error) {
		lib_destroy(dev, FL_IOC_DEALLOC_PD, a.pd);
		free(p);
		return error;
	}
	lib_link_add(dev, &dev->pds, &p->link);
	*pd = p;
	return 0;
}

static void pd_forget(struct fl_pd *pd)
{
	lib_link_del(pd->dev, &pd->link);
	free(pd);
}

int lib_pd_free(struct fl_pd *pd)
{
	int error;

	bounce_pd_free(pd);
	error = lib_destroy(pd->dev, FL_IOC_DEALLOC_PD, pd->number);
	pd_forget(pd);
	return error;
}

int fl_dealloc_pd(struct fl_pd *pd)
{
	int error;

	if (!pd)
		return -EINVAL;
	if (pd->mrs || pd->qps || pd->srqs)
		return -EBUSY;
	error = lib_cache_drop(pd->dev, pd);
	if (error)
		return error;
	bounce_pd_free(pd);
	error = lib_destroy(pd->dev, FL_IOC_DEALLOC_PD, pd->number);
	if (!error)
		pd_forget(pd);
	return error;
}

/* All that the process has and will have. */
static bool mr_implicit(uint64_t addr, uint64_t bytes)
{
	return !addr && bytes == SIZE_MAX;
}

/* Where the device cannot see all memory, what a region is made of is told. */
static int mr_import(struct fl_device *dev, void *addr, size_t bytes,
		     unsigned int access)
{
	/* Of memory that it cannot see there may be more than can be told. */
	if (!dev->sys->import || mr_implicit((uintptr_t)addr, bytes))
		return 0;
	return dev->sys->import(dev->fd, addr, bytes, access);
}

static void mr_release(struct fl_device *dev, void *addr, size_t bytes)
{
	if (dev->sys->release && !mr_implicit((uintptr_t)addr, bytes))
		dev->sys->release(dev->fd, addr, bytes);
}

static struct fl_reg_mr mr_request(struct fl_pd *pd, uint64_t addr,
				   uint64_t bytes, unsigned int access)
{
	return (struct fl_reg_mr){
		.size = sizeof(struct fl_reg_mr),
		.addr = addr,
		.length = mr_implicit(addr, bytes) ? FL_MR_ALL : bytes,
		.access = access & ACCESS_BITS,
		.flags = access & FL_PINNED ? FL_MR_PINNED : 0,
		.pd = pd->number,
	};
}

static int mr_register(struct fl_device *dev, struct fl_reg_mr *r)
{
	void *mem = (void *)(uintptr_t)r->addr;
	int error = mr_import(dev, mem, (size_t)r->length, r->access);

	if (error)
		return error;
	error = lib_ioctl(dev, FL_IOC_REG_MR, r);
	if (error)
		mr_release(dev, mem, (size_t)r->length);
	return error;
}

int lib_mr_begin(struct fl_pd *pd, uint64_t addr, uint64_t bytes,
		 unsigned int access, uint32_t *key)
{
	struct fl_reg_mr r = mr_request(pd, addr, bytes, access);
	int error = mr_register(pd->dev, &r);

	if (!error)
		*key = r.key;
	return error;
}

int lib_mr_end(struct fl_device *dev, uint64_t addr, uint64_t bytes,
	       uint32_t key, bool anyway)
{
	int error = lib_destroy(dev, FL_IOC_DEREG_MR, key);

	if (!error || anyway)
		mr_release(dev, (void *)(uintptr_t)addr, (size_t)bytes);
	return error;
}

/* With words, and in the list where peers find them (bounce.h). */
static int mr_register_sunk(struct fl_mr *m, unsigned int access)
{
	struct fl_device *dev = m->pd->dev;
	struct fl_reg_mr r = mr_request(m->pd, m->addr, m->bytes, access);
	int error;

	error = bounce_pd_make(m->pd);
	if (!error)
		error = bounce_words_make(m, &r, r.flags & FL_MR_PINNED);
	if (!error)
		error = mr_register(dev, &r);
	if (!error) {
		m->key = r.key;
		error = bounce_list_add(m);
		if (error)
			lib_mr_end(dev, m->addr, m->bytes, m->key, true);
	}
	if (error)
		bounce_list_del(m);
	return error;
}

int fl_reg_mr(struct fl_pd *pd, void *addr, size_t bytes, unsigned int access,
	      struct fl_mr **mr)
{
	uint64_t at = (uintptr_t)addr;
	struct fl_mr *m;
	int error;

	if (!pd || !mr || !bytes || at + (bytes - 1) < at ||
	    (access & ~(unsigned int)(ACCESS_BITS | FL_PINNED)))
		return -EINVAL;
	if (mr_implicit(at, bytes) && (pd->dev->cache.on || pd->dev->sinks))
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->pd = pd;
	m->addr = at;
	m->bytes = bytes;
	if (pd->dev->cache.on)
		error = lib_cache_take(m, access);
	else if (pd->dev->sinks)
		error = mr_register_sunk(m, access);
	else
		error = lib_mr_begin(pd, at, bytes, access, &m->key);
	if (error) {
		free(m);
		return error;
	}
	lib_link_add(pd->dev, &pd->mrs, &m->link);
	*mr = m;
	return 0;
}

static int mr_end(struct fl_mr *mr, bool anyway)
{
	return mr->pinned ? lib_cache_give(mr) :
			    lib_mr_end(mr->pd->dev, mr->addr, mr->bytes, mr->key,
				       anyway);
}

static void mr_forget(struct fl_mr *mr)
{
	lib_link_del(mr->pd->dev, &mr->link);
	bounce_list_del(mr);
	free(mr);
}

int lib_mr_free(struct fl_mr *mr)
{
	int error = mr_end(mr, true);

	mr_forget(mr);
	return error;
}

int fl_dereg_mr(struct fl_mr *mr)
{
	int error;

	if (!mr)
		return -EINVAL;
	error = mr_end(mr, false);
	if (!error)
		mr_forget(mr);
	return error;
}

uint32_t fl_mr_key(const struct fl_mr *mr)
{
	return mr->key;
}

/* What was asked for is there; is it still the process's? */
static int mr_still_mapped(const struct fl_device *dev, const void *addr, size_t bytes)
{
	return dev->sys->mapped ? dev->sys->mapped(dev->fd, addr, bytes) : 0;
}

int fl_prefetch(struct fl_mr *mr, void *addr, size_t bytes, int for_write)
{
	struct fl_prefetch p = {
		.size = sizeof(p),
		.addr = (uintptr_t)addr,
		.length = bytes,
		.flags = for_write ? FL_PREFETCH_WRITE : 0,
	};
	int error;

	if (!mr || !bytes)
		return -EINVAL;
	/* Written so that no sum can wrap. */
	if (p.addr < mr->addr || p.addr - mr->addr >= mr->bytes ||
	    bytes > mr->bytes - (p.addr - mr->addr))
		return -EINVAL;
	p.key = mr->key;
	error = lib_ioctl(mr->pd->dev, FL_IOC_PREFETCH, &p);
	return error ? error : mr_still_mapped(mr->pd->dev, addr, bytes);
}

int fl_advise_mr(struct fl_pd *pd, enum fl_mr_advice advice, unsigned int flags,
		 uint32_t key, void *addr, size_t bytes)
{
	struct fl_advise a = {
		.size = sizeof(a),
		.key = key,
		.advice = (uint32_t)advice,
		.addr = (uintptr_t)addr,
		.length = bytes,
		.flags = flags,
	};
	int error;

	if (!pd)
		return -EINVAL;
	a.pd = pd->number;
	error = lib_ioctl(pd->dev, FL_IOC_ADVISE, &a);
	if (error || !(flags & FL_ADVICE_FLUSH) || advice == FL_PREFETCH_PRESENT)
		return error;
	return mr_still_mapped(pd->dev, addr, bytes);
}

int fl_dma_copy(struct fl_device *dev, void *dst, const void *src, size_t bytes,
		size_t *done)
{
	struct fl_dma_copy c = {
		.size = sizeof(c),
		.src = (uintptr_t)src,
		.dst = (uintptr_t)dst,
		.length = bytes,
	};
	int error;

	if (!dev || !bytes)
		return -EINVAL;
	error = lib_ioctl(dev, FL_IOC_DMA_COPY, &c);
	if (error)
		return error;
	if (done)
		*done = (size_t)c.done;
	return c.status == FL_DMA_OK ? 0 : -EIO;
}
