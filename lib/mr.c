// SPDX-License-Identifier: BSD-2-Clause
/* Protection domains and the memory regions in them. */
#include <errno.h>
#include <stdlib.h>

#include "lib_internal.h"

#define ACCESS_BITS (FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ)

_Static_assert((int)FL_LOCAL_WRITE == (int)FL_ACC_LOCAL_WRITE &&
	       (int)FL_REMOTE_WRITE == (int)FL_ACC_REMOTE_WRITE &&
	       (int)FL_REMOTE_READ == (int)FL_ACC_REMOTE_READ,
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
	int error = lib_destroy(pd->dev, FL_IOC_DEALLOC_PD, pd->number);

	pd_forget(pd);
	return error;
}

int fl_dealloc_pd(struct fl_pd *pd)
{
	int error;

	if (!pd)
		return -EINVAL;
	if (pd->mrs || pd->qps)
		return -EBUSY;
	error = lib_destroy(pd->dev, FL_IOC_DEALLOC_PD, pd->number);
	if (!error)
		pd_forget(pd);
	return error;
}

/* Where the device cannot see all memory, what a region is made of is told. */
static int mr_import(struct fl_device *dev, void *addr, size_t bytes,
		     unsigned int access)
{
	if (!dev->sys->import)
		return 0;
	return dev->sys->import(dev->fd, addr, bytes, access);
}

static void mr_release(struct fl_device *dev, void *addr, size_t bytes)
{
	if (dev->sys->release)
		dev->sys->release(dev->fd, addr, bytes);
}

int fl_reg_mr(struct fl_pd *pd, void *addr, size_t bytes, unsigned int access,
	      struct fl_mr **mr)
{
	struct fl_reg_mr r = {
		.size = sizeof(r),
		.addr = (uintptr_t)addr,
		.length = bytes,
		.access = access & ACCESS_BITS,
		.flags = access & FL_PINNED ? FL_MR_PINNED : 0,
	};
	struct fl_mr *m;
	int error;

	if (!pd || !mr || !bytes || r.addr + (r.length - 1) < r.addr ||
	    (access & ~(unsigned int)(ACCESS_BITS | FL_PINNED)))
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	r.pd = pd->number;
	error = mr_import(pd->dev, addr, bytes, access & ACCESS_BITS);
	if (error)
		goto free;
	error = lib_ioctl(pd->dev, FL_IOC_REG_MR, &r);
	if (error)
		goto release;
	m->pd = pd;
	m->addr = r.addr;
	m->bytes = bytes;
	m->key = r.key;
	lib_link_add(pd->dev, &pd->mrs, &m->link);
	*mr = m;
	return 0;
release:
	mr_release(pd->dev, addr, bytes);
free:
	free(m);
	return error;
}

static void mr_forget(struct fl_mr *mr)
{
	struct fl_device *dev = mr->pd->dev;

	mr_release(dev, (void *)(uintptr_t)mr->addr, (size_t)mr->bytes);
	lib_link_del(dev, &mr->link);
	free(mr);
}

int lib_mr_free(struct fl_mr *mr)
{
	int error = lib_destroy(mr->pd->dev, FL_IOC_DEREG_MR, mr->key);

	mr_forget(mr);
	return error;
}

int fl_dereg_mr(struct fl_mr *mr)
{
	int error;

	if (!mr)
		return -EINVAL;
	error = lib_destroy(mr->pd->dev, FL_IOC_DEREG_MR, mr->key);
	if (!error)
		mr_forget(mr);
	return error;
}

uint32_t fl_mr_key(const struct fl_mr *mr)
{
	return mr->key;
}

int fl_prefetch(struct fl_mr *mr, void *addr, size_t bytes, int for_write)
{
	struct fl_prefetch p = {
		.size = sizeof(p),
		.addr = (uintptr_t)addr,
		.length = bytes,
		.flags = for_write ? FL_PREFETCH_WRITE : 0,
	};

	if (!mr || !bytes)
		return -EINVAL;
	/* Written so that no sum can wrap. */
	if (p.addr < mr->addr || p.addr - mr->addr >= mr->bytes ||
	    bytes > mr->bytes - (p.addr - mr->addr))
		return -EINVAL;
	p.key = mr->key;
	return lib_ioctl(mr->pd->dev, FL_IOC_PREFETCH, &p);
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
