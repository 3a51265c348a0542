/* SPDX-License-Identifier: BSD-2-Clause */
/* cdev.h - the file behind a device number. */
#ifndef SHIM_LINUX_CDEV_H
#define SHIM_LINUX_CDEV_H

#include <linux/device.h>
#include <linux/fs.h>

struct cdev {
	void *owner;
	const struct file_operations *ops;
	struct device *dev;	/* private to the shim */
};

static inline void cdev_init(struct cdev *cdev,
			     const struct file_operations *ops)
{
	*cdev = (struct cdev){ .ops = ops };
}

/*
 * From now on it can be opened, under the device's name. An open file has a
 * reference on the device, which must not be freed but by its release.
 */
int cdev_device_add(struct cdev *cdev, struct device *dev);
/* Nobody begins to open it any more; who is about to may come to the end of it. */
void cdev_device_del(struct cdev *cdev, struct device *dev);

#define cdev_device_add(cdev, dev) SHIM_SLEEPS(cdev_device_add, cdev, dev)
#define cdev_device_del(cdev, dev) SHIM_SLEEPS(cdev_device_del, cdev, dev)

#endif
