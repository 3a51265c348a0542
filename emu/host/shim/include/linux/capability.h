/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capability.h - the processes of the emulator may do everything, unless who
 * started the driver said that they are plain users.
 */
#ifndef SHIM_LINUX_CAPABILITY_H
#define SHIM_LINUX_CAPABILITY_H

#include <linux/types.h>

#define CAP_IPC_LOCK 14
#define CAP_SYS_RESOURCE 24

bool capable(int cap);

#endif
