/* SPDX-License-Identifier: BSD-2-Clause */
/* test_os_fault_rig.h - pages that fault, and who may open them. */
#ifndef FL_TEST_OS_FAULT_RIG_H
#define FL_TEST_OS_FAULT_RIG_H

#include <pthread.h>
#include <stdio.h>

#include "test_os_rig.h"

/*
 * What the fixes know. Handlers have no argument: each test begins with
 * fault_rig_begin(), alone in its process.
 */
static struct {
	uint8_t *at;		/* two pages, closed */
	size_t page;
	atomic_uint asked[3], foreign;
	int write;		/* of the last that open_page was told */
	uintptr_t addr, frame;	/* the same; where the handler's stack was */
	atomic_bool usr1;
	bool usr1_in_fix, usr1_blocked;
} f;

static inline void fault_rig_begin(void)
{
	memset(&f, 0, sizeof(f));
	f.page = os_page_bytes();
	f.at = os_rig_pages(2, PROT_NONE);
	f.write = -2;
}

static inline void fault_rig_end(void)
{
	munmap(f.at, 2 * f.page);
}

static inline bool fault_rig_mine(uintptr_t addr)
{
	return addr >= (uintptr_t)f.at && addr < (uintptr_t)f.at + 2 * f.page;
}

static inline bool open_page(uintptr_t addr, int write)
{
	atomic_fetch_add(&f.asked[0], 1);
	f.addr = addr;
	f.write = write;
	f.frame = (uintptr_t)__builtin_frame_address(0);
	errno = ERANGE;
	return fault_rig_mine(addr) &&
	       !os_protect((void *)(addr & ~(f.page - 1)), f.page,
			   PROT_READ | PROT_WRITE);
}

static inline bool say_no(uintptr_t addr, int write)
{
	(void)addr;
	(void)write;
	atomic_fetch_add(&f.asked[1], 1);
	return false;
}

static inline void fault_rig_touch(size_t offset)
{
	*(volatile uint8_t *)(f.at + offset) = 5;
}

static inline uint8_t fault_rig_look(size_t offset)
{
	return *(volatile uint8_t *)(f.at + offset);
}

static inline void fault_rig_handle(int sig,
				    void (*fn)(int, siginfo_t *, void *),
				    int flags)
{
	struct sigaction sa = { .sa_sigaction = fn,
				.sa_flags = SA_SIGINFO | flags };

	sigaction(sig, &sa, NULL);
}

#endif
