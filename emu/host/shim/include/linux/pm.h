/* SPDX-License-Identifier: BSD-2-Clause */
/* pm.h: the small kernel never sleeps, so these are never called. */
#ifndef SHIM_LINUX_PM_H
#define SHIM_LINUX_PM_H

#include <linux/device.h>

struct dev_pm_ops {
	int (*suspend)(struct device *dev);
	int (*resume)(struct device *dev);
};

#define DEFINE_SIMPLE_DEV_PM_OPS(name, suspend_, resume_)                     \
	const struct dev_pm_ops name = {                                      \
		.suspend = suspend_,                                          \
		.resume = resume_,                                            \
	}
#define pm_sleep_ptr(ops)	(ops)

#endif
