// SPDX-License-Identifier: BSD-2-Clause
/*
 * file.c - device files: the driver registers operations under a name; a
 * process opens it and gets a number. A file lives as long as its number or a
 * call on it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host/internal.h"

/* ---- devices ---- */

static const char *base_name(const char *name)
{
	return strncmp(name, "/dev/", 5) ? name : name + 5;
}

int host_device_add(struct host_kernel *k, const char *name,
		    const struct host_device_ops *ops, void *dev)
{
	struct host_device *free_slot = NULL;
	int i, err = 0;

	name = base_name(name);
	if (!*name || strlen(name) >= sizeof(k->device[0].name))
		return -EINVAL;
	sim_mutex_lock(&k->lock);
	for (i = 0; i < DEVICES; i++) {
		if (!k->device[i].ops)
			free_slot = free_slot ? free_slot : &k->device[i];
		else if (!strcmp(k->device[i].name, name))
			err = -EEXIST;
	}
	if (!err && !free_slot)
		err = -ENOSPC;
	if (!err) {
		snprintf(free_slot->name, sizeof(free_slot->name), "%s", name);
		free_slot->ops = ops;
		free_slot->dev = dev;
	}
	sim_mutex_unlock(&k->lock);
	return err;
}

static struct host_device *find_device(struct host_kernel *k, const char *name)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		if (k->device[i].name[0] &&
		    (!name || !strcmp(k->device[i].name, name)))
			return &k->device[i];
	return NULL;
}

/* A call begins: k's lock, or that of the process whose file it is, is held. */
static void device_call_begin(struct host_device *d)
{
	atomic_fetch_add(&d->calls, 1);
}

static void device_call_end(struct host_kernel *k, struct host_device *d)
{
	if (atomic_fetch_sub(&d->calls, 1) == 1)
		sim_wake(&k->device_idle, 0);
}

/* Files that are still open answer -ENODEV from now on. */
static void orphan_files(struct host_kernel *k, struct host_device *d)
{
	struct host_process *p;
	int i, fd;

	for (i = 0; i < HOST_PROCESSES; i++) {
		p = k->process[i];
		if (!p)
			continue;
		sim_mutex_lock(&p->lock);
		for (fd = 0; fd < PROCESS_FILES; fd++)
			if (p->file[fd] && p->file[fd]->dev == d)
				p->file[fd]->dev = NULL;
		sim_mutex_unlock(&p->lock);
	}
}

void host_device_remove(struct host_kernel *k, const char *name)
{
	struct host_device *d;

	sim_mutex_lock(&k->lock);
	d = find_device(k, base_name(name));
	if (d) {
		d->name[0] = 0;
		orphan_files(k, d);
	}
	sim_mutex_unlock(&k->lock);
}

static bool none_in_call(void *device)
{
	return !atomic_load(&((struct host_device *)device)->calls);
}

void host_device_drain(struct host_kernel *k)
{
	struct host_device *d;
	unsigned int i;

	sim_mutex_lock(&k->lock);
	for (i = 0; i < DEVICES; i++) {
		d = &k->device[i];
		if (!d->ops || d->name[0])
			continue;
		sim_mutex_unlock(&k->lock);
		sim_wait(&k->device_idle, none_in_call, d, 0);
		sim_mutex_lock(&k->lock);
		d->ops = NULL;
	}
	sim_mutex_unlock(&k->lock);
}

/* ---- files ---- */

/*
 * The device of a file, which stays until device_call_end(); NULL: it has gone. The lock
 * of the file's process is held.
 */
static struct host_device *device_get(struct host_open_file *f)
{
	if (f->dev)
		device_call_begin(f->dev);
	return f->dev;
}

/*
 * A call on the file behind a number, which keeps both until file_call_end(); NULL
 * and the reason.
 */
static struct host_open_file *file_call(struct host_process *p, int fd,
					struct host_device **dev, int *error)
{
	struct host_open_file *f = NULL;

	sim_mutex_lock(&p->lock);
	*error = -EBADF;
	if (fd >= 0 && fd < PROCESS_FILES && p->file[fd]) {
		f = p->file[fd];
		*dev = device_get(f);
		*error = *dev ? 0 : -ENODEV;
		if (*dev)
			f->users++;
	}
	sim_mutex_unlock(&p->lock);
	return *error ? NULL : f;
}

static void file_put(struct host_process *p, struct host_open_file *f)
{
	struct host_device *d;
	bool last;

	sim_mutex_lock(&p->lock);
	last = !--f->users;
	d = last ? device_get(f) : NULL;
	sim_mutex_unlock(&p->lock);
	if (!last)
		return;
	if (d) {
		if (d->ops->release)
			d->ops->release(d->dev, &f->file);
		device_call_end(p->k, d);
	}
	free(f);
}

static void file_call_end(struct host_process *p, struct host_open_file *f,
			  struct host_device *d)
{
	file_put(p, f);
	device_call_end(p->k, d);
}

/*
 * The file gets its number. If its device goes meanwhile, it is one of those that
 * answer -ENODEV. The kernel's lock is held.
 */
static int file_install(struct host_process *p, struct host_open_file *f,
			struct host_device *d)
{
	int fd;

	sim_mutex_lock(&p->lock);
	f->dev = d->name[0] ? d : NULL;
	for (fd = 0; fd < PROCESS_FILES && p->file[fd]; fd++)
		;
	if (fd < PROCESS_FILES)
		p->file[fd] = f;
	sim_mutex_unlock(&p->lock);
	return fd < PROCESS_FILES ? fd : -EMFILE;
}

/* name NULL: the first device there is */
int host_open(struct host_process *p, const char *name)
{
	struct host_open_file *f = calloc(1, sizeof(*f));
	struct host_device *d;
	int fd = 0;

	if (!f)
		return -ENOMEM;
	host_spend(p->k, T_CPU_SYSCALL);
	sim_mutex_lock(&p->k->lock);
	d = find_device(p->k, name ? base_name(name) : NULL);
	if (d)
		device_call_begin(d);
	sim_mutex_unlock(&p->k->lock);
	if (!d) {
		free(f);
		return -ENODEV;
	}
	f->file.process = p;
	f->users = 1;
	if (d->ops->open)
		fd = d->ops->open(d->dev, p, &f->file);
	if (fd < 0) {
		free(f);
	} else {
		sim_mutex_lock(&p->k->lock);
		fd = file_install(p, f, d);
		sim_mutex_unlock(&p->k->lock);
		if (fd < 0)
			file_put(p, f);
	}
	device_call_end(p->k, d);
	return fd;
}

/* p's lock is held. What the map was, to be handed to device_map_end(). */
static struct device_map device_map_take(struct device_map *w)
{
	struct device_map was = {
		.file = w->file, .mem = w->mem, .bytes = w->bytes,
		.mmio_pa = w->mmio_pa,
	};

	atomic_store_explicit(&w->used, false, memory_order_release);
	return was;
}

/* The driver hears of it, and the file goes if nobody else has it. */
static void device_map_end(struct host_process *p, const struct device_map *was)
{
	struct host_open_file *f = was->file;
	struct host_device *d;

	sim_mutex_lock(&p->lock);
	d = device_get(f);
	sim_mutex_unlock(&p->lock);
	if (d) {
		if (d->ops->munmap)
			d->ops->munmap(d->dev, &f->file, was->bytes, was->mem,
				       was->mmio_pa);
		device_call_end(p->k, d);
	}
	file_put(p, f);
}

static bool device_map_used(const struct device_map *w)
{
	return atomic_load_explicit(&w->used, memory_order_relaxed);
}

static int close_number(struct host_process *p, int fd)
{
	struct host_open_file *f = NULL;

	sim_mutex_lock(&p->lock);
	if (fd >= 0 && fd < PROCESS_FILES) {
		f = p->file[fd];
		p->file[fd] = NULL;
	}
	sim_mutex_unlock(&p->lock);
	if (!f)
		return -EBADF;
	file_put(p, f);
	return 0;
}

int host_close(struct host_process *p, int fd)
{
	host_spend(p->k, T_CPU_SYSCALL);
	return close_number(p, fd);
}

/* At exit: no thread of the process is left. */
void host_files_close(struct host_process *p)
{
	struct device_map was;
	unsigned int i;
	int fd;

	/* As exit has it: the memory goes first, and lets go of the files. */
	for (i = 0; i < PROCESS_DEVICE_MAPS; i++) {
		if (!device_map_used(&p->device_map[i]))
			continue;
		was = device_map_take(&p->device_map[i]);
		device_map_end(p, &was);
	}
	for (fd = 0; fd < PROCESS_FILES; fd++)
		close_number(p, fd);
}

long host_ioctl(struct host_process *p, int fd, unsigned int cmd, void *arg)
{
	struct host_open_file *f;
	struct host_device *d;
	int error;
	long r;

	host_spend(p->k, T_CPU_SYSCALL);
	f = file_call(p, fd, &d, &error);
	if (!f)
		return error;
	r = d->ops->ioctl ? d->ops->ioctl(d->dev, &f->file, cmd,
					    (unsigned long)(uintptr_t)arg) :
			     -ENOTTY;
	file_call_end(p, f, d);
	return r;
}

struct readable {
	const struct host_device *dev;
	struct host_file *file;
};

static bool is_readable(void *arg)
{
	struct readable *r = arg;

	return r->dev->ops->readable(r->dev->dev, r->file);
}

int host_poll(struct host_process *p, int fd, uint64_t timeout_ns)
{
	struct host_open_file *f;
	struct host_device *d;
	struct readable r;
	int error;

	host_spend(p->k, T_CPU_SYSCALL);
	f = file_call(p, fd, &d, &error);
	if (!f)
		return error;
	if (d->ops->readable && d->ops->waitq) {
		r = (struct readable){ d, &f->file };
		error = mm_wait(p->mm, d->ops->waitq(d->dev, &f->file),
				is_readable, &r, timeout_ns);
		if (error == -ETIME)
			error = -ETIMEDOUT;
	} else {
		error = -EINVAL;
	}
	file_call_end(p, f, d);
	return error;
}

/* ---- maps of a device: its memory and registers in the process ---- */

static uint8_t *device_map_base(struct host_process *p, unsigned int i)
{
	return (uint8_t *)(uintptr_t)
		(p->mm->device_base +
		 i * (ARENA_DEVICE_BYTES / PROCESS_DEVICE_MAPS));
}

static void *device_map_add(struct host_process *p, struct host_open_file *f,
			    void *mem, uint64_t bytes, uint64_t mmio_pa,
			    int *error)
{
	struct device_map *w = NULL;
	unsigned int i;

	*error = -EINVAL;
	if (mmio_pa && bytes > ARENA_DEVICE_BYTES / PROCESS_DEVICE_MAPS)
		return NULL;
	if (!mmio_pa && !mem)
		return NULL;
	*error = -ENOMEM;
	sim_mutex_lock(&p->lock);
	for (i = 0; !w && i < PROCESS_DEVICE_MAPS; i++)
		if (!device_map_used(&p->device_map[i])) {
			w = &p->device_map[i];
			w->file = f;
			w->addr = mmio_pa ? device_map_base(p, i) : mem;
			w->mem = mem;
			w->bytes = bytes;
			w->mmio_pa = mmio_pa;
			atomic_store_explicit(&w->detached, false,
					      memory_order_relaxed);
			*error = 0;
			/* Release: pairs with the acquire in find_device_map. */
			atomic_store_explicit(&w->used, true,
					      memory_order_release);
		}
	sim_mutex_unlock(&p->lock);
	return w ? w->addr : NULL;
}

void *host_mmap_fd(struct host_process *p, int fd, uint64_t len,
		   uint64_t offset, int *error)
{
	uint64_t mmio_pa = 0;
	struct host_open_file *f;
	struct host_device *d;
	void *mem = NULL, *addr = NULL;

	host_spend(p->k, T_CPU_SYSCALL);
	*error = -EINVAL;
	if (!len || offset % HOST_PAGE)
		return NULL;
	f = file_call(p, fd, &d, error);
	if (!f)
		return NULL;
	*error = d->ops->mmap ? d->ops->mmap(d->dev, &f->file, len, offset,
					     &mem, &mmio_pa) :
				-ENODEV;
	if (!*error) {
		addr = device_map_add(p, f, mem, len, mmio_pa, error);
		if (!addr && d->ops->munmap)
			d->ops->munmap(d->dev, &f->file, len, mem, mmio_pa);
	}
	/* With a map, it is the map that keeps the file. */
	if (addr)
		device_call_end(p->k, d);
	else
		file_call_end(p, f, d);
	return addr;
}

int host_munmap_fd(struct host_process *p, void *addr, uint64_t len)
{
	struct device_map *w, was = { 0 };
	int i;

	host_spend(p->k, T_CPU_SYSCALL);
	sim_mutex_lock(&p->lock);
	for (i = 0; !was.file && i < PROCESS_DEVICE_MAPS; i++) {
		w = &p->device_map[i];
		if (device_map_used(w) && w->addr == addr && w->bytes == len)
			was = device_map_take(w);
	}
	sim_mutex_unlock(&p->lock);
	if (!was.file)
		return -EINVAL;
	device_map_end(p, &was);
	return 0;
}

void host_unmap_mmio(struct host_kernel *k)
{
	struct device_map *w;
	unsigned int i, n;

	sim_mutex_lock(&k->lock);
	for (i = 0; i < HOST_PROCESSES; i++)
		for (n = 0; k->process[i] && n < PROCESS_DEVICE_MAPS; n++) {
			w = &k->process[i]->device_map[n];
			if (device_map_used(w) && w->mmio_pa)
				atomic_store_explicit(&w->detached, true,
						      memory_order_relaxed);
		}
	sim_mutex_unlock(&k->lock);
}

/* No lock: this is the doorbell. */
static struct device_map *find_device_map(struct host_process *p, uint8_t *addr)
{
	struct device_map *w;
	unsigned int i;

	for (i = 0; i < PROCESS_DEVICE_MAPS; i++) {
		w = &p->device_map[i];
		if (atomic_load_explicit(&w->used, memory_order_acquire) &&
		    w->mmio_pa && addr >= w->addr &&
		    addr + 4 <= w->addr + w->bytes)
			return w;
	}
	return NULL;
}

/* Is there a register? *pa: where, or 0: what is written is lost. */
static bool find_register(struct host_process *p, volatile void *addr, uint64_t *pa)
{
	uint8_t *at = (uint8_t *)(uintptr_t)addr;
	struct device_map *w = find_device_map(p, at);

	*pa = 0;
	if (w && !atomic_load_explicit(&w->detached, memory_order_relaxed))
		*pa = w->mmio_pa + (uint64_t)(at - w->addr);
	return w;
}

bool host_mmio_try_ring(struct host_process *p, volatile void *addr,
			const struct board_bell *bell, unsigned int n)
{
	uint64_t pa;
	bool found = find_register(p, addr, &pa);

	if (pa)
		board_ring(p->k->board, pa, bell, n);
	return found;
}

void host_mmio_write32(struct host_process *p, volatile void *addr,
		       uint32_t value)
{
	uint64_t pa;
	bool found = find_register(p, addr, &pa);

	/* Posted: a refused write is the device's event, not an error here. */
	if (pa)
		board_write(p->k->board, pa, 4, value);
	if (found)
		return;
	/* On a board: a store to an address that is not mapped. */
	fprintf(stderr,
		"faultline: process %s writes a register at %p, where it has none\n",
		p->name, (void *)(uintptr_t)addr);
	abort();
}
