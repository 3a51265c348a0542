// SPDX-License-Identifier: BSD-2-Clause
/* What all objects of a device need: its lock, its lists, a call of the driver, a queue. */
#include <assert.h>
#include <errno.h>

#include "lib_internal.h"

int lib_ioctl(struct fl_device *dev, unsigned int cmd, void *arg)
{
	return dev->sys->ioctl(dev->fd, cmd, arg);
}

/* Held over a few stores and never over a system call, so spinning will do. */
void lib_lock(struct fl_device *dev)
{
	while (atomic_flag_test_and_set_explicit(&dev->lock,
						 memory_order_acquire))
		;
}

void lib_unlock(struct fl_device *dev)
{
	atomic_flag_clear_explicit(&dev->lock, memory_order_release);
}

void lib_link_add(struct fl_device *dev, struct lib_link **head,
		  struct lib_link *l)
{
	lib_lock(dev);
	l->next = *head;
	l->prev = head;
	if (l->next)
		l->next->prev = &l->next;
	*head = l;
	lib_unlock(dev);
}

void lib_link_del(struct fl_device *dev, struct lib_link *l)
{
	lib_lock(dev);
	assert(*l->prev == l);
	*l->prev = l->next;
	if (l->next)
		l->next->prev = l->prev;
	lib_unlock(dev);
}

int lib_destroy(struct fl_device *dev, unsigned int cmd, uint32_t object)
{
	struct fl_destroy d = { .size = sizeof(d), .object = object };

	return lib_ioctl(dev, cmd, &d);
}

void *lib_map_queue(struct fl_device *dev, uint32_t wish, uint32_t entries,
		    size_t entry_bytes, uint64_t offset, uint64_t map_bytes,
		    int *error)
{
	void *mem;

	/* A driver that breaks uapi.h must not make us write elsewhere. */
	if (entries < wish || entries < LIB_QUEUE_MIN ||
	    entries > LIB_QUEUE_MAX || (entries & (entries - 1)) ||
	    map_bytes < entries * (uint64_t)entry_bytes ||
	    map_bytes > SIZE_MAX) {
		*error = -EPROTO;
		return NULL;
	}
	mem = dev->sys->mmap(dev->fd, (size_t)map_bytes, offset, error);
	assert(mem || *error < 0);
	return mem;
}

uint32_t lib_xfer_number(struct fl_device *dev, uint32_t number,
			 uint32_t posted)
{
	if (dev->sys->new_xfer)
		return dev->sys->new_xfer();
	/* 0 means none; the bits repeat after 65535 requests of a QP. */
	return (dev->attr.node & 0xff) << 24 | (number & 0xff) << 16 |
	       (posted % 0xffff + 1);
}
