/* SPDX-License-Identifier: BSD-2-Clause */
/* device.h */
#ifndef SHIM_LINUX_DEVICE_H
#define SHIM_LINUX_DEVICE_H

#include <linux/err.h>
#include <linux/kref.h>
#include <linux/slab.h>
#include <shim/shim.h>

struct class {
	const char *name;
};

struct device {
	const struct class *class;
	struct device *parent;
	dev_t devt;
	void (*release)(struct device *dev);
	void *platform_data;
	/* private to the shim */
	struct shim *shim;
	struct kref ref;
	char name[32];
	void *drvdata;
};

struct of_device_id;
struct device_driver {
	const char *name;
	const struct of_device_id *of_match_table;
	const struct dev_pm_ops *pm;
};

/* From now on put_device() is what frees it. */
void device_initialize(struct device *dev);
int dev_set_name(struct device *dev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct device *shim_device_get(struct device *dev, const char *where);
void shim_device_put(struct device *dev, const char *where);
#define get_device(dev) shim_device_get(dev, __func__)
#define put_device(dev) shim_device_put(dev, __func__)

static inline void dev_set_drvdata(struct device *dev, void *data)
{
	dev->drvdata = data;
}

static inline void *dev_get_drvdata(const struct device *dev)
{
	return dev->drvdata;
}

static inline void *dev_get_platdata(const struct device *dev)
{
	return dev->platform_data;
}

/* To stderr when FAULTLINE_KLOG is set. */
void shim_log(const struct device *dev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
#define dev_err(dev, ...) shim_log(dev, __VA_ARGS__)
#define dev_err_ratelimited(dev, ...) shim_log(dev, __VA_ARGS__)
#define dev_warn(dev, ...) shim_log(dev, __VA_ARGS__)
#define dev_info(dev, ...) shim_log(dev, __VA_ARGS__)
#define dev_dbg(dev, ...) shim_log(dev, __VA_ARGS__)
#define WARN_ON(cond)                                                         \
	({                                                                    \
		bool warn_ = (cond);                                          \
									      \
		if (warn_)                                                    \
			shim_log(NULL, "WARN_ON(%s) at %s:%d\n", #cond,       \
				 __FILE__, __LINE__);                         \
		warn_;                                                        \
	})

#endif
