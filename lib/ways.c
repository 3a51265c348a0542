// SPDX-License-Identifier: BSD-2-Clause
/* ways.c - how a program comes to a card: all that the library can do beside its own calls. */
#include "attach/attach.h"
#include "sys.h"
#include "sys_window.h"

static const struct fl_way by_name[] = {
	{ .prefix = "emu:", .sys = &fl_sys_attach, .folder = attach_folder, .tail = ".sock",
	  .listed = "emu:" },
	{ .prefix = "", .sys = &fl_sys_linux, .folder = fl_sys_linux_folder,
	  .head = "faultline", .tail = "", .listed = "/dev/faultline" },
	{ 0 }
};

const struct fl_way *const fl_ways = by_name;

static const struct fl_doorbell_way window = {
	fl_sys_window, fl_sys_window_open, fl_sys_window_close,
};

const struct fl_doorbell_way *const fl_way_window = &window;
