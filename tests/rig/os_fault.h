/* SPDX-License-Identifier: BSD-2-Clause */
/* os_fault.h - pages that fault, and who may open them. */
#ifndef FL_RIG_OS_FAULT_H
#define FL_RIG_OS_FAULT_H

#include <pthread.h>
#include <stdio.h>

#include "rig/os.h"

/*
 * What the fixes know. Handlers have no argument: each test begins with
 * fault_rig_begin(), alone in its process.
 */
struct fault_rig {
	uint8_t *at;		/* two pages, closed */
	size_t page;
	atomic_uint asked[3], foreign;
	int write;		/* of the last that fault_rig_open was told */
	uintptr_t addr, frame;	/* the same; where the handler's stack was */
	atomic_bool usr1;
	bool usr1_in_fix, usr1_blocked;
};
extern struct fault_rig fault_rig;

void fault_rig_begin(void);

static inline void fault_rig_end(void)
{
	munmap(fault_rig.at, 2 * fault_rig.page);
}

static inline bool fault_rig_mine(uintptr_t addr)
{
	return addr - (uintptr_t)fault_rig.at < 2 * fault_rig.page;
}

bool fault_rig_open(uintptr_t addr, int write);
bool fault_rig_refuse(uintptr_t addr, int write);

static inline void fault_rig_touch(size_t offset)
{
	*(volatile uint8_t *)(fault_rig.at + offset) = 5;
}

static inline uint8_t fault_rig_look(size_t offset)
{
	return *(volatile uint8_t *)(fault_rig.at + offset);
}

void fault_rig_handle(int sig, void (*fn)(int, siginfo_t *, void *), int flags);

#endif
