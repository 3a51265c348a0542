/* SPDX-License-Identifier: BSD-2-Clause */
/* device.h */
#ifndef SHIM_LINUX_DEVICE_H
#define SHIM_LINUX_DEVICE_H

#include <linux/err.h>
#include <linux/slab.h>
#include <shim/shim.h>

struct device {
	struct shim *shim;
	const char *name;
	void *drvdata;
};

struct of_device_id;
struct device_driver {
	const char *name;
	const struct of_device_id *of_match_table;
};

/* The shim's device lives as long as the board's kernel. */
static inline struct device *get_device(struct device *dev)
{
	return dev;
}

static inline void put_device(struct device *dev)
{
}

static inline void dev_set_drvdata(struct device *dev, void *data)
{
	dev->drvdata = data;
}

static inline void *dev_get_drvdata(const struct device *dev)
{
	return dev->drvdata;
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
