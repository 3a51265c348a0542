// SPDX-License-Identifier: BSD-2-Clause
/* Memory that the device can fault on. */
#include <errno.h>
#include <sys/mman.h>

#include "lib_internal.h"
#include "os/os.h"

static void *memory_fail(int error)
{
	errno = -error;
	return NULL;
}

void *fl_alloc(struct fl_device *dev, size_t bytes)
{
	int error = -ENOMEM;
	void *mem;

	if (!dev || !bytes)
		return memory_fail(-EINVAL);
	mem = dev->sys->alloc(dev->fd, bytes, &error);
	return mem ? mem : memory_fail(error);
}

void *fl_map_file(struct fl_device *dev, const char *path, size_t *bytes)
{
	int error = -ENOMEM;
	void *mem;

	if (!dev || !path || !bytes)
		return memory_fail(-EINVAL);
	mem = dev->sys->map_file(dev->fd, path, bytes, &error);
	return mem ? mem : memory_fail(error);
}

/* Is there anything, and does it end before the address space does? */
static bool range_ok(const struct fl_device *dev, const void *addr,
		     size_t bytes)
{
	return dev && addr && bytes && (uintptr_t)addr + (bytes - 1) >=
	       (uintptr_t)addr;
}

/* Before it is done: who gets these addresses next must not find the old region. */
int fl_free(struct fl_device *dev, void *addr, size_t bytes)
{
	int error;

	if (!range_ok(dev, addr, bytes))
		return -EINVAL;
	error = lib_cache_hear(dev, addr, bytes);
	if (error)
		return error;
	return dev->sys->free(addr, bytes);
}

int fl_remap(struct fl_device *dev, void *addr, size_t bytes)
{
	int error;

	if (!range_ok(dev, addr, bytes))
		return -EINVAL;
	error = lib_cache_hear(dev, addr, bytes);
	if (error)
		return error;
	return dev->sys->remap(addr, bytes);
}

int fl_advise(struct fl_device *dev, void *addr, size_t bytes,
	      enum fl_advice advice)
{
	int error = 0;

	if (!range_ok(dev, addr, bytes) ||
	    (advice != FL_PAGEOUT && advice != FL_DONTNEED &&
	     advice != FL_WILLNEED))
		return -EINVAL;
	/* Other pages take their place. */
	if (advice == FL_DONTNEED)
		error = lib_cache_hear(dev, addr, bytes);
	return error ? error : dev->sys->advise(addr, bytes, advice);
}

int fl_protect(struct fl_device *dev, void *addr, size_t bytes, int prot)
{
	if (!range_ok(dev, addr, bytes) ||
	    (prot & ~(FL_PROT_READ | FL_PROT_WRITE)))
		return -EINVAL;
	return dev->sys->protect(addr, bytes, prot);
}

/* Where the system pages in by itself: is all of it mapped, with the right? */
static int memory_mapped(const void *addr, size_t bytes, int for_write)
{
	uintptr_t at = (uintptr_t)addr, last = at + (bytes - 1);
	size_t page_bytes = os_page_bytes();
	struct os_map m;
	char c;

	for (;;) {
		if (os_copy_from(&c, (const void *)at, 1) ||
		    (for_write && os_map_find((const void *)at, &m) &&
		     !(m.prot & PROT_WRITE)))
			return -EFAULT;
		/* Counted so that the end of the address space is no trap. */
		if (last - at < page_bytes - at % page_bytes)
			return 0;
		at += page_bytes - at % page_bytes;
	}
}

int fl_prefault(struct fl_device *dev, const void *addr, size_t bytes,
		int for_write)
{
	if (!range_ok(dev, addr, bytes))
		return -EINVAL;
	if (!dev->sys->prefault)
		return memory_mapped(addr, bytes, for_write);
	return dev->sys->prefault(dev->fd, (void *)addr, bytes, for_write);
}
