/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.h - processes, the files that they have open, and the devices behind these;
 * within emu/host.
 *
 * A holder of the kernel's lock, or of the lock of a process that has a file of it open,
 * may begin a call on a device (host_device.calls). One that goes stays until the last
 * call has ended (host_device_drain()).
 */
#ifndef FL_HOST_PROCESS_H
#define FL_HOST_PROCESS_H

#include <stdatomic.h>

#include "host/host.h"
#include "host/mm.h"
#include "sim/sync.h"
#include "trace/event.h"

#define PROCESS_FILES	64
#define PROCESS_DEVICE_MAPS	256
#define DEVICES		8

struct device_map {
	struct host_open_file *file;	/* the map is a user of it */
	uint8_t *addr;
	void *mem;			/* NULL: registers, at mmio_pa */
	uint64_t bytes, mmio_pa;	/* mmio_pa 0: plain memory */
	_Atomic bool detached;		/* the registers were taken away */
	atomic_bool used;		/* release: the rest is valid */
};

struct host_open_file {
	struct host_file file;		/* what the driver sees */
	struct host_device *dev;
	/* Calls under way, maps, and the descriptor. */
	unsigned int users;
};

struct host_process {
	struct host_kernel *k;
	struct host_mm *mm;
	uint32_t pid, uid;
	unsigned int slot;
	char name[32];
	struct sim_mutex lock;		/* files and device maps */
	struct host_open_file *file[PROCESS_FILES];
	struct device_map device_map[PROCESS_DEVICE_MAPS];
	atomic_uint threads;
};

struct host_device {
	char name[32];				/* empty: it has gone */
	const struct host_device_ops *ops;	/* NULL: the place is free */
	void *dev;
	atomic_uint calls;			/* under way */
};

#endif
