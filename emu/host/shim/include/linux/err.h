/* SPDX-License-Identifier: BSD-2-Clause */
/* err.h - errors as pointers. */
#ifndef SHIM_LINUX_ERR_H
#define SHIM_LINUX_ERR_H

#include <errno.h>
#include <linux/types.h>

#define ERESTARTSYS 512		/* never leaves the kernel */

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

static inline long PTR_ERR(const void *p)
{
	return (long)p;
}

static inline bool IS_ERR(const void *p)
{
	return (unsigned long)p >= (unsigned long)-4095;
}

#endif
