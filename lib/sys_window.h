/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys_window.h - the table of a device whose doorbells are messages: its own, but
 * for three calls.
 */
#ifndef FL_SYS_WINDOW_H
#define FL_SYS_WINDOW_H

#include "sys.h"

/* *window becomes sys with mmio_write32, relax and trace of a window. */
void fl_sys_window(struct fl_sys *window, const struct fl_sys *sys);
/*
 * The doorbell page of an open file: two pages (window.h). Without it, or of a file
 * too many, trace says nothing, and relax does not know when the card is gone.
 */
void fl_sys_window_open(int fd, volatile void *page);
void fl_sys_window_close(int fd);

#endif
