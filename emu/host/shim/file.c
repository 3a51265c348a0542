// SPDX-License-Identifier: BSD-2-Clause
/* file.c - the device file of the driver, and what it copies from processes. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/cdev.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/sched/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "os/os.h"
#include "shim_internal.h"

struct mapping {
	struct vm_area_struct vma;
	/* The driver has freed it; under shim->lock */
	bool orphan;
	dma_addr_t dma;
	struct mapping *next;
};

/* An open file: the driver's, and the process that opened it. */
struct shim_file {
	struct file file;
	struct task_struct task;
	struct shim *shim;
	struct inode inode;
	const struct file_operations *fops;
	struct list_head list;
	/* under shim->lock */
	struct mapping *mappings;
	unsigned int calls;
	bool ended;
};

/* ---- user memory ---- */

/*
 * Mostly the plain copy does it. What it cannot reach is a page of the process
 * that is not there, and the kernel brings that in; or nothing at all.
 */
static unsigned long shim_copy(void *kernel, const void *user, unsigned long n,
			       bool to_user)
{
	int err = to_user ? os_copy_caught((void *)user, kernel, n) :
			    os_copy_caught(kernel, user, n);
	struct mm_struct *mm = current->mm;

	if (!err)
		return 0;
	if (!mm || mm_copy(mm->host, (uintptr_t)user, kernel, n, to_user))
		return n;
	return 0;
}

void shim_faults(const char *call, const char *where)
{
	shim_sleeps(call, where);
	/* A page that is not there is a fault, which takes the mmap lock. */
	if (current->mm)
		shim_event_wait(SHIM_MMAP, SHIM_MMAP_NAME, where);
}

unsigned long (copy_from_user)(void *to, const void __user *from,
			       unsigned long n)
{
	return shim_copy(to, from, n, false);
}

unsigned long (copy_to_user)(void __user *to, const void *from, unsigned long n)
{
	return shim_copy((void *)from, to, n, true);
}

int (copy_struct_from_user)(void *to, size_t ksize, const void __user *from,
			    size_t usize)
{
	size_t n = usize < ksize ? usize : ksize, i;
	char rest;

	for (i = n; i < usize; i++) {
		if (copy_from_user(&rest, (const char *)from + i, 1))
			return -EFAULT;
		if (rest)
			return -E2BIG;
	}
	memset(to, 0, ksize);
	return copy_from_user(to, from, n) ? -EFAULT : 0;
}

bool shim_is_table(struct shim *shim, phys_addr_t pa)
{
	struct shim_file *f;
	bool found = false;

	sim_spin_lock(&shim->lock);
	list_for_each_entry(f, &shim->files, list)
		found |= virt_to_phys(f->task.mm->pgd) == pa;
	sim_spin_unlock(&shim->lock);
	return found;
}

/* ---- mappings that outlive the card ---- */

bool shim_memory_orphan(struct shim *shim, const void *mem, dma_addr_t dma)
{
	struct shim_file *f;
	struct mapping *m;
	bool found = false;

	sim_spin_lock(&shim->lock);
	list_for_each_entry(f, &shim->files, list)
		for (m = f->mappings; m; m = m->next)
			if (!found && m->vma.shim_mem == mem) {
				m->orphan = found = true;
				m->dma = dma;
			}
	sim_spin_unlock(&shim->lock);
	return found;
}

void (unmap_mapping_range)(struct address_space *mapping, u64 begin,
			   u64 length, int even_cows)
{
	struct shim *shim = shim_cpu()->shim;

	assert(!begin && !length && even_cows);
	host_unmap_mmio(shim->k);
}

/* ---- calls on a file ---- */

static void mapping_close(struct shim_file *f, struct mapping *m)
{
	struct shim_cpu before = shim_enter(f->shim, &f->task, SHIM_IN_TASK);

	shim_mmap_lock(f->task.mm, true, "munmap");
	if (m->vma.vm_ops && m->vma.vm_ops->close)
		m->vma.vm_ops->close(&m->vma);
	shim_mmap_unlock(f->task.mm, true, "munmap");
	shim_leave(&before);
	if (m->orphan)
		host_dma_free(f->shim->k, m->vma.shim_mem, m->vma.vm_end,
			      m->dma);
	free(m);
}

static void file_free(struct shim_file *f)
{
	struct shim_cpu before;
	struct mapping *m;

	/* Of a card that is removed: nobody will unmap them. */
	while ((m = f->mappings)) {
		f->mappings = m->next;
		mapping_close(f, m);
	}
	/* By any thread, and after the address space perhaps (fput). */
	before = shim_enter(f->shim, NULL, SHIM_IN_TASK);
	f->fops->release(&f->inode, &f->file);
	put_device(f->inode.i_cdev->dev);
	shim_leave(&before);
	mmdrop(f->task.mm);
	free(f);
}

static struct shim_file *shim_file_enter(struct host_file *hf)
{
	struct shim_file *f = hf->private_data;

	sim_spin_lock(&f->shim->lock);
	f->calls++;
	sim_spin_unlock(&f->shim->lock);
	return f;
}

static void shim_file_leave(struct shim_file *f)
{
	struct shim *shim = f->shim;
	bool last;

	sim_spin_lock(&shim->lock);
	last = !--f->calls && f->ended;
	sim_spin_unlock(&shim->lock);
	if (last)
		file_free(f);
}

/* No call begins any more; the last one that is under way frees it. */
static void file_end(struct shim_file *f)
{
	bool idle;

	sim_spin_lock(&f->shim->lock);
	list_del(&f->list);
	f->ended = true;
	idle = !f->calls;
	sim_spin_unlock(&f->shim->lock);
	if (idle)
		file_free(f);
}

void shim_files_end(struct shim *shim)
{
	while (!list_empty(&shim->files))
		file_end(list_entry(shim->files.next, struct shim_file, list));
}

struct open_call {
	struct shim_file *file;
	int ret;
};

static void open_inside(void *arg)
{
	struct open_call *c = arg;
	struct shim_file *f = c->file;
	struct shim_cpu before = shim_enter(f->shim, &f->task, SHIM_IN_TASK);

	c->ret = f->fops->open(&f->inode, &f->file);
	if (c->ret)
		put_device(f->inode.i_cdev->dev);
	shim_leave(&before);
}

/* A process has one, whatever number of files it opens. The lock is held. */
static struct mm_struct *process_mm(struct shim *shim, struct mm_struct *mm)
{
	struct shim_file *f;

	list_for_each_entry(f, &shim->files, list)
		if (f->task.mm->host == mm->host)
			return f->task.mm;
	return mm;
}

/* The file joins the list with an mm_struct and a device that stays, or -ENODEV. */
static int file_begin(struct shim_file *f, struct mm_struct *mm)
{
	struct shim *shim = f->shim;
	int ret = -ENODEV;

	sim_spin_lock(&shim->lock);
	if (shim->cdev) {
		ret = 0;
		f->inode.i_cdev = shim->cdev;
		f->fops = shim->cdev->ops;
		get_device(shim->cdev->dev);
		f->task.mm = process_mm(shim, mm);
		mmgrab(f->task.mm);
		list_add_tail(&f->list, &shim->files);
	}
	sim_spin_unlock(&shim->lock);
	mmdrop(mm);
	return ret;
}

static int file_open(struct shim_file *f)
{
	struct open_call call = { f, 0 };

	shim_inside(f->shim, open_inside, &call);
	if (!call.ret)
		return 0;
	sim_spin_lock(&f->shim->lock);
	list_del(&f->list);
	sim_spin_unlock(&f->shim->lock);
	mmdrop(f->task.mm);
	return call.ret;
}

static int device_open(void *dev, struct host_process *p, struct host_file *hf)
{
	struct mm_struct *mm = shim_mm_create(dev, host_process_mm(p));
	struct shim_file *f = calloc(1, sizeof(*f));
	int ret = -ENOMEM;

	if (mm && f) {
		f->shim = dev;
		f->task.uid.val = host_process_uid(p);
		ret = file_begin(f, mm);
		if (!ret)
			ret = file_open(f);
	} else if (mm) {
		mmdrop(mm);
	}
	if (ret)
		free(f);
	else
		hf->private_data = f;
	return ret;
}

static void end_inside(void *file)
{
	file_end(file);
}

static void device_release(void *dev, struct host_file *hf)
{
	struct shim *shim = dev;

	shim_inside(shim, end_inside, hf->private_data);
}

struct ioctl_call {
	struct host_file *file;
	unsigned int cmd;
	unsigned long arg;
	long ret;
};

static void ioctl_inside(void *arg)
{
	struct ioctl_call *c = arg;
	struct shim_file *f = shim_file_enter(c->file);
	struct shim_cpu before = shim_enter(f->shim, &f->task, SHIM_IN_TASK);

	c->ret = f->fops->unlocked_ioctl(&f->file, c->cmd, c->arg);
	shim_leave(&before);
	shim_file_leave(f);
}

static long device_ioctl(void *dev, struct host_file *hf, unsigned int cmd,
			 unsigned long arg)
{
	struct ioctl_call c = { hf, cmd, arg, 0 };
	struct shim *shim = dev;

	shim_inside(shim, ioctl_inside, &c);
	return c.ret;
}

static int file_mmap(struct shim_file *f, uint64_t len, uint64_t offset,
		     void **mem, uint64_t *mmio_pa)
{
	struct mapping *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return -ENOMEM;
	/* Where it will be is not known yet; drivers look at the length. */
	m->vma.vm_end = PAGE_ALIGN(len);
	m->vma.vm_pgoff = offset >> PAGE_SHIFT;
	m->vma.vm_flags = VM_READ | VM_WRITE | VM_SHARED;
	m->vma.vm_mm = f->task.mm;
	m->vma.vm_file = &f->file;
	shim_mmap_lock(f->task.mm, true, "mmap");
	ret = f->fops->mmap(&f->file, &m->vma);
	shim_mmap_unlock(f->task.mm, true, "mmap");
	if (ret) {
		free(m);
		return ret;
	}
	*mem = m->vma.shim_mem;
	*mmio_pa = m->vma.shim_mmio_pa;
	sim_spin_lock(&f->shim->lock);
	m->next = f->mappings;
	f->mappings = m;
	sim_spin_unlock(&f->shim->lock);
	return 0;
}

static int device_mmap(void *dev, struct host_file *hf, uint64_t len,
		       uint64_t offset, void **mem, uint64_t *mmio_pa)
{
	struct shim_file *f = shim_file_enter(hf);
	struct shim_cpu before = shim_enter(f->shim, &f->task, SHIM_IN_TASK);
	int ret = file_mmap(f, len, offset, mem, mmio_pa);

	shim_leave(&before);
	shim_file_leave(f);
	return ret;
}

struct munmap_call {
	struct host_file *file;
	uint64_t len;
	void *mem;
	uint64_t mmio_pa;
};

static void munmap_inside(void *arg)
{
	struct munmap_call *c = arg;
	struct shim_file *f = shim_file_enter(c->file);
	struct mapping **p, *m;

	sim_spin_lock(&f->shim->lock);
	for (p = &f->mappings; (m = *p); p = &m->next)
		if (m->vma.shim_mem == c->mem &&
		    m->vma.shim_mmio_pa == c->mmio_pa &&
		    m->vma.vm_end == PAGE_ALIGN(c->len))
			break;
	assert(m);
	*p = m->next;
	sim_spin_unlock(&f->shim->lock);
	mapping_close(f, m);
	shim_file_leave(f);
}

static void device_munmap(void *dev, struct host_file *hf, uint64_t len,
			  void *mem, uint64_t mmio_pa)
{
	struct munmap_call c = { hf, len, mem, mmio_pa };
	struct shim *shim = dev;

	shim_inside(shim, munmap_inside, &c);
}

static bool device_readable(void *dev, struct host_file *hf)
{
	struct shim_file *f = shim_file_enter(hf);
	struct shim_cpu before = shim_enter(f->shim, &f->task, SHIM_IN_TASK);
	__poll_t mask = f->fops->poll(&f->file, NULL);

	shim_leave(&before);
	shim_file_leave(f);
	return mask & (EPOLLIN | EPOLLERR | EPOLLHUP);
}

static struct sim_waitq *device_waitq(void *dev, struct host_file *hf)
{
	struct shim_file *f = shim_file_enter(hf);
	struct shim_cpu before = shim_enter(f->shim, &f->task, SHIM_IN_TASK);
	poll_table table = { NULL };

	f->fops->poll(&f->file, &table);
	shim_leave(&before);
	shim_file_leave(f);
	return table.q;
}

const struct host_device_ops shim_device_ops = {
	.open = device_open,
	.release = device_release,
	.ioctl = device_ioctl,
	.mmap = device_mmap,
	.munmap = device_munmap,
	.readable = device_readable,
	.waitq = device_waitq,
};

/* ---- the device ---- */

void device_initialize(struct device *dev)
{
	kref_init(&dev->ref);
	dev->shim = shim_cpu()->shim;
}

int dev_set_name(struct device *dev, const char *fmt, ...)
{
	va_list ap;

	if (shim_refused())
		return -ENOMEM;
	va_start(ap, fmt);
	vsnprintf(dev->name, sizeof(dev->name), fmt, ap);
	va_end(ap);
	return 0;
}

struct device *shim_device_get(struct device *dev, const char *where)
{
	shim_kref_get(&dev->ref, where);
	return dev;
}

static void device_free(struct kref *ref)
{
	struct device *dev = container_of(ref, struct device, ref);

	dev->release(dev);
}

void shim_device_put(struct device *dev, const char *where)
{
	shim_kref_put(&dev->ref, device_free, where);
}

int (alloc_chrdev_region)(dev_t *first, unsigned int minor, unsigned int count,
			  const char *name)
{
	struct shim *shim = shim_cpu()->shim;

	if (shim_refused())
		return -ENOMEM;
	sim_spin_lock(&shim->lock);
	shim->numbers += count;
	sim_spin_unlock(&shim->lock);
	*first = 1;
	return 0;
}

void (unregister_chrdev_region)(dev_t first, unsigned int count)
{
	struct shim *shim = shim_cpu()->shim;

	sim_spin_lock(&shim->lock);
	shim->numbers -= count;
	sim_spin_unlock(&shim->lock);
}

static void cdev_set(struct shim *shim, struct cdev *cdev)
{
	sim_spin_lock(&shim->lock);
	assert(!cdev || !shim->cdev);
	shim->cdev = cdev;
	sim_spin_unlock(&shim->lock);
}

int (cdev_device_add)(struct cdev *cdev, struct device *dev)
{
	struct shim *shim = shim_cpu()->shim;
	int ret;

	if (shim_refused())
		return -ENOMEM;
	cdev->dev = dev;
	cdev_set(shim, cdev);
	ret = host_device_add(shim->k, dev->name, &shim_device_ops, shim);
	if (ret)
		cdev_set(shim, NULL);
	return ret;
}

void (cdev_device_del)(struct cdev *cdev, struct device *dev)
{
	struct shim *shim = shim_cpu()->shim;

	host_device_remove(shim->k, dev->name);
	cdev_set(shim, NULL);
}
