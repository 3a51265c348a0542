// SPDX-License-Identifier: BSD-2-Clause
/*
 * swap.c - where pages go when they have no frame: slots of memory that has no name, or
 * of a file without one; and the files that back private mappings.
 *
 * Memory is mapped here, and never becomes shorter (os_memory_create()), so that a slot is
 * copied without a system call, and nobody waits for it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/internal.h"
#include "os/os.h"
#include "os/os_emu.h"

/* Slots of memory: a descriptor, and s->mem is where it is mapped; or negative errno. */
static int swap_in_memory(struct host_swap *s, uint64_t slots)
{
	int fd = os_memory_create("swap", slots * HOST_PAGE), err;
	void *mem;

	if (fd < 0)
		return fd;
	mem = mmap(NULL, slots * HOST_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mem != MAP_FAILED) {
		s->mem = mem;
		return fd;
	}
	err = -errno;
	close(fd);
	return err;
}

int swap_create(struct host_swap *s, uint64_t slots, const char *dir)
{
	if (slots >= NO_SLOT)
		return -EINVAL;
	s->taken = calloc((slots + 63) / 64, sizeof(*s->taken));
	if (!s->taken)
		return -ENOMEM;
	s->fd = dir ? os_file_unnamed(dir) : swap_in_memory(s, slots);
	if (s->fd < 0) {
		free(s->taken);
		return s->fd;
	}
	s->slots = slots;
	return 0;
}

void swap_destroy(struct host_swap *s)
{
	if (s->mem)
		munmap(s->mem, s->slots * HOST_PAGE);
	close(s->fd);
	free(s->taken);
}

uint32_t swap_get(struct host_swap *s)
{
	uint64_t words = (s->slots + 63) / 64, i, w, slot = NO_SLOT;

	sim_spin_lock(&s->lock);
	for (i = 0; s->used < s->slots && i < words; i++) {
		w = (s->hint + i) % words;
		if (!~s->taken[w])
			continue;
		slot = w * 64 + (uint64_t)__builtin_ctzll(~s->taken[w]);
		if (slot < s->slots)
			break;
		slot = NO_SLOT;	/* the last word's surplus */
	}
	if (slot != NO_SLOT) {
		s->taken[slot / 64] |= 1ull << slot % 64;
		s->used++;
		s->hint = slot / 64;
	}
	sim_spin_unlock(&s->lock);
	return (uint32_t)slot;
}

void swap_put(struct host_swap *s, uint32_t slot)
{
	sim_spin_lock(&s->lock);
	assert(slot < s->slots && (s->taken[slot / 64] >> slot % 64 & 1));
	s->taken[slot / 64] &= ~(1ull << slot % 64);
	s->used--;
	sim_spin_unlock(&s->lock);
}

/* As much as there is: bytes, or negative errno. */
static ssize_t swap_read_all(int fd, void *buf, size_t len, off_t at)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(fd, (char *)buf + done, len - done,
			  at + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int swap_read(struct host_swap *s, uint32_t slot, void *page)
{
	ssize_t n;

	if (s->mem) {
		memcpy(page, s->mem + slot * HOST_PAGE, HOST_PAGE);
		return 0;
	}
	n = swap_read_all(s->fd, page, HOST_PAGE, (off_t)slot * (off_t)HOST_PAGE);
	return n == (ssize_t)HOST_PAGE ? 0 : -EIO;
}

int swap_write(struct host_swap *s, uint32_t slot, const void *page)
{
	off_t at = (off_t)slot * (off_t)HOST_PAGE;
	size_t done = 0;
	ssize_t n;

	if (atomic_load(&s->fail_writes))
		return -EIO;
	if (s->mem) {
		memcpy(s->mem + slot * HOST_PAGE, page, HOST_PAGE);
		return 0;
	}
	while (done < HOST_PAGE) {
		n = pwrite(s->fd, (const char *)page + done, HOST_PAGE - done,
			   at + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		done += (size_t)n;
	}
	return 0;
}

/* ---- swap, on account of a process ---- */

uint32_t slot_get(struct host_mm *mm)
{
	uint32_t slot;

	if (mm->slots >= mm->k->process_slots)
		return NO_SLOT;
	kernel_note(mm->k);
	slot = swap_get(&mm->k->swap);
	mm->slots += slot != NO_SLOT;
	return slot;
}

void slot_put(struct host_mm *mm, uint32_t slot)
{
	assert(mm->slots);
	kernel_note(mm->k);
	mm->slots--;
	swap_put(&mm->k->swap, slot);
}

/* ---- files ---- */

struct file_source {
	struct host_source source;
	int fd;
};

static int file_source_read(struct host_source *source, uint64_t offset, void *page)
{
	struct file_source *f = (struct file_source *)source;
	ssize_t n;

	n = swap_read_all(f->fd, page, HOST_PAGE, (off_t)offset);
	if (n < 0)
		return -EIO;
	/* Beyond the last page of the file (Linux: SIGBUS). */
	if (!n)
		return -EFAULT;
	memset((char *)page + n, 0, HOST_PAGE - (size_t)n);
	return 0;
}

static void file_source_free(struct host_source *source)
{
	struct file_source *f = (struct file_source *)source;

	close(f->fd);
	free(f);
}

struct host_source *source_open(const char *path, int *error)
{
	struct file_source *f = calloc(1, sizeof(*f));
	struct stat st;

	*error = -ENOMEM;
	if (!f)
		return NULL;
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0) {
		*error = -errno;
		goto no_file;
	}
	if (fstat(f->fd, &st)) {
		*error = -errno;
		goto no_stat;
	}
	*error = -ENODEV;	/* as mmap says: nothing that can be mapped */
	if (!S_ISREG(st.st_mode))
		goto no_stat;
	*error = 0;
	f->source.read = file_source_read;
	f->source.free = file_source_free;
	f->source.bytes = (uint64_t)st.st_size;
	return &f->source;

no_stat:
	close(f->fd);
no_file:
	free(f);
	return NULL;
}

void source_put(struct host_mm *mm, struct host_source *f)
{
	if (--f->maps)
		return;
	mm->sources--;
	f->free(f);
}
