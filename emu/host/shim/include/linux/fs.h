/* SPDX-License-Identifier: BSD-2-Clause */
/* fs.h - device files. */
#ifndef SHIM_LINUX_FS_H
#define SHIM_LINUX_FS_H

#include <linux/poll.h>
#include <shim/shim.h>

struct cdev;
struct vm_area_struct;

struct inode {
	struct cdev *i_cdev;
};

struct file {
	void *private_data;
	struct address_space *f_mapping;	/* unmap_mapping_range() knows */
};

struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	long (*unlocked_ioctl)(struct file *file, unsigned int cmd,
			       unsigned long arg);
	/* Programs are all of one kind here. */
	long (*compat_ioctl)(struct file *file, unsigned int cmd,
			     unsigned long arg);
	int (*mmap)(struct file *file, struct vm_area_struct *vma);
	__poll_t (*poll)(struct file *file, poll_table *table);
};

#define compat_ptr_ioctl NULL

/* Numbers of devices: here each driver has as many as it likes. */
int alloc_chrdev_region(dev_t *first, unsigned int minor, unsigned int count,
			const char *name);
void unregister_chrdev_region(dev_t first, unsigned int count);

#define alloc_chrdev_region(...) SHIM_SLEEPS(alloc_chrdev_region, __VA_ARGS__)
#define unregister_chrdev_region(...)                                         \
	SHIM_SLEEPS(unregister_chrdev_region, __VA_ARGS__)

#endif
