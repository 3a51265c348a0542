// SPDX-License-Identifier: BSD-2-Clause
/* The system calls of a real Linux, and doorbells that are plain stores. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faultline.h"
#include "os/os.h"
#include "sys.h"

/*
 * Linux 5.14 and 5.4; older headers do not know them (include/uapi/asm-generic).
 * Elsewhere the numbers mean something else.
 */
#if defined(__linux__) && !defined(MADV_POPULATE_READ)
#define MADV_POPULATE_READ 22
#endif
#if defined(__linux__) && !defined(MADV_PAGEOUT)
#define MADV_PAGEOUT 21
#endif

static int linux_open(const char *name)
{
	int fd = open(name ? name : "/dev/faultline0", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int linux_close(int fd)
{
	return close(fd) ? -errno : 0;
}

static int linux_ioctl(int fd, unsigned int cmd, void *arg)
{
	return ioctl(fd, cmd, arg) < 0 ? -errno : 0;
}

static void *sys_map(size_t bytes, int flags, int fd, uint64_t offset,
		     int *error)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd,
			 (off_t)offset);

	if (mem != MAP_FAILED)
		return mem;
	*error = -errno;
	return NULL;
}

static void *linux_mmap(int fd, size_t bytes, uint64_t offset, int *error)
{
	return sys_map(bytes, MAP_SHARED, fd, offset, error);
}

static int linux_munmap(void *addr, size_t bytes)
{
	return munmap(addr, bytes) ? -errno : 0;
}

static int linux_mmio_write32(volatile void *addr, uint32_t value)
{
	*(volatile uint32_t *)addr = value;
	return 0;
}

static void *linux_alloc(int fd, size_t bytes, int *error)
{
	(void)fd;
	return sys_map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, error);
}

static void *linux_map_file(int card, const char *path, size_t *bytes,
			    int *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *mem = NULL;
	struct stat st;

	(void)card;
	if (fd < 0) {
		*error = -errno;
		return NULL;
	}
	if (fstat(fd, &st))
		*error = -errno;
	else if (!S_ISREG(st.st_mode))
		*error = -EINVAL;
	else if (!st.st_size)
		*error = -ENODATA;
	else
		mem = sys_map((size_t)st.st_size, MAP_PRIVATE, fd, 0, error);
	close(fd);	/* only read from: there is nothing that it could lose */
	if (mem)
		*bytes = (size_t)st.st_size;
	return mem;
}

static int linux_remap(void *addr, size_t bytes)
{
	size_t page_bytes = os_page_bytes();

	if (bytes > SIZE_MAX - (page_bytes - 1))
		return -ENOMEM;
	bytes = (bytes + page_bytes - 1) & ~(page_bytes - 1);
	return os_view(addr, bytes, PROT_READ | PROT_WRITE, -1, 0);
}

/* FL_WILLNEED: to bring it in and not only to begin, where that is known. */
static int sys_populate(void *addr, size_t bytes)
{
#ifdef MADV_POPULATE_READ
	if (!madvise(addr, bytes, MADV_POPULATE_READ))
		return 0;
	if (errno != EINVAL)
		return -errno;
#endif
	return madvise(addr, bytes, MADV_WILLNEED) ? -errno : 0;
}

static int linux_advise(void *addr, size_t bytes, int advice)
{
	switch (advice) {
	case FL_PAGEOUT:
#ifdef MADV_PAGEOUT
		return madvise(addr, bytes, MADV_PAGEOUT) ? -errno : 0;
#else
		return -ENOTSUP;
#endif
	case FL_DONTNEED:
		return madvise(addr, bytes, MADV_DONTNEED) ? -errno : 0;
	case FL_WILLNEED:
		return sys_populate(addr, bytes);
	}
	return -EINVAL;
}

static int linux_protect(void *addr, size_t bytes, int prot)
{
	int p = PROT_NONE;

	if (prot & FL_PROT_READ)
		p |= PROT_READ;
	if (prot & FL_PROT_WRITE)
		p |= PROT_WRITE;
	return mprotect(addr, bytes, p) ? -errno : 0;
}

static int linux_relax(int fd)
{
	(void)fd;
	os_pause();
	return 0;
}

int fl_sys_linux_folder(char *path, size_t bytes)
{
	static const char folder[] = "/dev";

	if (bytes < sizeof(folder))
		return -ENAMETOOLONG;
	memcpy(path, folder, sizeof(folder));
	return 0;
}

const struct fl_sys fl_sys_linux = {
	.open = linux_open,
	.close = linux_close,
	.ioctl = linux_ioctl,
	.mmap = linux_mmap,
	.munmap = linux_munmap,
	.mmio_write32 = linux_mmio_write32,
	.alloc = linux_alloc,
	.map_file = linux_map_file,
	.free = linux_munmap,
	.remap = linux_remap,
	.advise = linux_advise,
	.protect = linux_protect,
	.relax = linux_relax,
	.now_ns = os_now_ns,
	.thread = fl_sys_thread,
	.thread_join = fl_sys_thread_join,
};
