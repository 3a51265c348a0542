/* SPDX-License-Identifier: BSD-2-Clause */
/* miscdevice.h */
#ifndef SHIM_LINUX_MISCDEVICE_H
#define SHIM_LINUX_MISCDEVICE_H

#include <linux/device.h>
#include <linux/fs.h>

#define MISC_DYNAMIC_MINOR 255

struct miscdevice {
	int minor;
	const char *name;
	const struct file_operations *fops;
	struct device *parent;
	unsigned short mode;
};

int misc_register(struct miscdevice *m);
void misc_deregister(struct miscdevice *m);

#define misc_register(m) SHIM_SLEEPS(misc_register, m)
#define misc_deregister(m) SHIM_SLEEPS(misc_deregister, m)

#endif
