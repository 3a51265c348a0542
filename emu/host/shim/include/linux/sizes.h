/* SPDX-License-Identifier: BSD-2-Clause */
/* sizes.h */
#ifndef SHIM_LINUX_SIZES_H
#define SHIM_LINUX_SIZES_H

#define SZ_4K	0x1000
#define SZ_64K	0x10000
#define SZ_256K	0x40000
#define SZ_4M	0x400000
#define SZ_16M	0x1000000
#define SZ_512M	0x20000000

#endif
