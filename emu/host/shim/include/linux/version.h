/* SPDX-License-Identifier: BSD-2-Clause */
/* version.h */
#ifndef SHIM_LINUX_VERSION_H
#define SHIM_LINUX_VERSION_H

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
/* The API here is that of 6.12. */
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 12, 0)

#endif
