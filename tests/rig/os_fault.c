// SPDX-License-Identifier: BSD-2-Clause
#include "rig/os_fault.h"

struct fault_rig fault_rig;

void fault_rig_begin(void)
{
	memset(&fault_rig, 0, sizeof(fault_rig));
	fault_rig.page = os_page_bytes();
	fault_rig.at = os_rig_pages(2, PROT_NONE);
	fault_rig.write = -2;
}

bool fault_rig_open(uintptr_t addr, int write)
{
	atomic_fetch_add(&fault_rig.asked[0], 1);
	fault_rig.addr = addr;
	fault_rig.write = write;
	fault_rig.frame = (uintptr_t)__builtin_frame_address(0);
	errno = ERANGE;
	return fault_rig_mine(addr) &&
	       !os_protect((void *)(addr & ~(fault_rig.page - 1)), fault_rig.page,
			   PROT_READ | PROT_WRITE);
}

bool fault_rig_refuse(uintptr_t addr, int write)
{
	(void)addr;
	(void)write;
	atomic_fetch_add(&fault_rig.asked[1], 1);
	return false;
}

void fault_rig_handle(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa = { .sa_sigaction = fn,
				.sa_flags = SA_SIGINFO | flags };

	sigaction(sig, &sa, NULL);
}
