/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swap.h - swap for the tests of one program: a compressed disk in memory (zram),
 * which a stock cloud kernel has as a module. The init script has loaded it.
 */
#ifndef FL_LINUX_SWAP_H
#define FL_LINUX_SWAP_H

#include <sched.h>
#include <sys/swap.h>

#include "rig.h"

void swap_begin(void);

/*
 * Page memory out until none of it is there. The kernel may keep a page for a
 * moment (it is on its way to the disk), so ask again; and ask on each CPU, since
 * MADV_PAGEOUT empties only its own CPU's list of pages that are not on the LRU
 * yet (lru_add_drain), where a worker's fault may have left some of ours.
 */
void swap_out(void *mem, size_t bytes);

static inline int64_t swap_ins(void)
{
	return rig_number("/proc/vmstat", "pswpin");
}

#endif
