/* SPDX-License-Identifier: BSD-2-Clause */
/* uaccess.h */
#ifndef SHIM_LINUX_UACCESS_H
#define SHIM_LINUX_UACCESS_H

#include <linux/types.h>
#include <shim/shim.h>

/*
 * User pointers are pointers of this program: into the process's own memory,
 * or, for what the emulated library has on its stack, anywhere. Returned:
 * bytes not copied.
 */
unsigned long copy_from_user(void *to, const void __user *from,
			     unsigned long n);
unsigned long copy_to_user(void __user *to, const void *from, unsigned long n);
int copy_struct_from_user(void *to, size_t ksize, const void __user *from,
			  size_t usize);

#define copy_from_user(...) SHIM_FAULTS(copy_from_user, __VA_ARGS__)
#define copy_to_user(...) SHIM_FAULTS(copy_to_user, __VA_ARGS__)
#define copy_struct_from_user(...)                                            \
	SHIM_FAULTS(copy_struct_from_user, __VA_ARGS__)

#endif
