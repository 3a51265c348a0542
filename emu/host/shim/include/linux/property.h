/* SPDX-License-Identifier: BSD-2-Clause */
/* property.h */
#ifndef SHIM_LINUX_PROPERTY_H
#define SHIM_LINUX_PROPERTY_H

#include <linux/device.h>

/* 0 and *value, or -EINVAL when the board has no such property. */
int device_property_read_u32(struct device *dev, const char *name, u32 *value);

#endif
