/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys.h - the system calls that libfaultline makes, as a table: Linux's own by default
 * (sys_linux.c), the small kernel's in an application thread of the emulator, which sets the table of
 * its thread with fl_sys_set(). Negative errno everywhere.
 */
#ifndef FL_SYS_H
#define FL_SYS_H

#include <stddef.h>
#include <stdint.h>

struct fl_sys {
	int (*open)(const char *name);
	int (*close)(int fd);
	int (*ioctl)(int fd, unsigned int cmd, void *arg);
	void *(*mmap)(int fd, size_t bytes, uint64_t offset, int *error);
	int (*munmap)(void *addr, size_t bytes);
	/* A doorbell: on a board a volatile store. */
	void (*mmio_write32)(volatile void *addr, uint32_t value);
	void *(*alloc)(size_t bytes, int *error);
	void *(*map_file)(const char *path, size_t *bytes, int *error);
	int (*free)(void *addr, size_t bytes);
	int (*advise)(void *addr, size_t bytes, int advice);	/* enum fl_advice */
	int (*protect)(void *addr, size_t bytes, int prot);
	/* A polling loop found nothing: let the card work (emulator), pause (board). */
	void (*relax)(void);
	/* Time that the library itself uses (emulator in lockstep): 0 post, 1 poll. */
	void (*spend)(int what);
	/* Trace hook; may do nothing. Returns a sequence number. */
	uint64_t (*trace)(unsigned int event, uint32_t xfer, uint64_t a0, uint64_t a1, uint64_t a2,
			  uint64_t a3);
	/* Number for a new transfer, unique on the fabric (for traces). */
	uint32_t (*new_xfer)(void);
};

/* Table of the calling thread from now on; NULL: the default. */
void fl_sys_set(const struct fl_sys *sys);
const struct fl_sys *fl_sys_get(void);
extern const struct fl_sys fl_sys_linux;

#endif
