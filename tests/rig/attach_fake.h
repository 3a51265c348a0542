/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_fake.h - a board that is a thread of the test: it opens a listener,
 * speaks the protocol of attach.h, keeps frames and a swap in ordinary memory,
 * takes pages away when it is told to, and does what a wrong or dying board may
 * do. It serves one process and has its own mappings of all that is shared.
 */
#ifndef FL_RIG_ATTACH_FAKE_H
#define FL_RIG_ATTACH_FAKE_H

#include <dirent.h>
#include <sys/wait.h>

#include "os/os_emu.h"
#include "rig/attach_board.h"

/* Ends the thread: 1 in order, 2 by hanging up. Once. */
void fb_end(struct fb *b, uint32_t how);

void fb_kill(struct fb *b);
struct fb *fb_start(enum fb_fault fault);

/* A right board that is a process, and so can be killed. */
struct fb *fb_start_process(struct fb_death death, bool waits_for_sleep);

/* What the process wrote last into the ring; of a page: its frame; of a region. */
struct attach_post fb_last_post(struct fb *b);

uint8_t *fb_frame_of(struct fb *b, const void *addr);
uint64_t fb_region(struct fb *b);
void fb_evict_all(struct fb *b);

/* A device that is closed when the test ends, before its board. */
struct fb_device {
	struct fb *b;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *cq;
	struct fl_qp *qp;
};

void fb_device_start(struct fb_device *d);
void fb_queues(struct fb_device *d);

#endif
