/* SPDX-License-Identifier: BSD-2-Clause */
/* module.h */
#ifndef SHIM_LINUX_MODULE_H
#define SHIM_LINUX_MODULE_H

#include <linux/minmax.h>
#include <linux/types.h>

#define THIS_MODULE NULL
#define MODULE_LICENSE(text) _Static_assert(sizeof(text), "")
#define MODULE_DESCRIPTION(text) _Static_assert(sizeof(text), "")
#define MODULE_DEVICE_TABLE(bus, table) _Static_assert(sizeof(table), "")

#endif
