// SPDX-License-Identifier: BSD-2-Clause
/*
 * calls.c - calls that change memory of a process elsewhere. The kernel closes the pages
 * first, which may take long; so a call does a part of it at a time, and whoever else
 * waits for the lock of the address space has a turn in between.
 */
#include "host/internal.h"
#include "host/remote/remote_mm.h"

/* Of an advice, how much is one part. */
#define TURN_PAGES 64u

/*
 * A part has been closed (cpu_revoke()), and others have had the lock. Once more: for as
 * long as there is somebody who wants it.
 */
static bool call_again(struct host_process *p, int *err)
{
	if (*err != -EAGAIN)
		return false;
	if (mm_killed(p->mm))
		*err = -EINTR;
	return *err == -EAGAIN;
}

int host_process_munmap(struct host_process *p, void *addr, uint64_t len)
{
	int err;

	do
		err = host_munmap(p, addr, len);
	while (call_again(p, &err));
	return err;
}

int host_process_remap(struct host_process *p, void *addr, uint64_t len, int prot)
{
	int err;

	do
		err = host_remap(p, addr, len, prot);
	while (call_again(p, &err));
	return err;
}

int host_process_mprotect(struct host_process *p, void *addr, uint64_t len, int prot)
{
	int err;

	do
		err = host_mprotect(p, addr, len, prot);
	while (call_again(p, &err));
	return err;
}

static int advise_part(struct host_process *p, uint64_t va, uint64_t npages,
		       enum host_advice a)
{
	int err;

	do
		err = host_madvise(p, (void *)(uintptr_t)va, npages * HOST_PAGE, a);
	while (call_again(p, &err));
	return err;
}

int host_process_madvise(struct host_process *p, void *addr, uint64_t len,
			 enum host_advice a)
{
	uint64_t va = (uintptr_t)addr, npages, n;
	struct host_mm *mm = p->mm;
	int err = check_range(mm, addr, &len, true), r = 0;

	/* These close nothing. */
	if (err || a == HOST_WILLNEED || a == HOST_POPULATE)
		return host_madvise(p, addr, len, a);
	sim_mutex_lock(&mm->lock);
	err = advise_check(mm, va, va + len, a);
	sim_mutex_unlock(&mm->lock);
	if (err)
		return err;
	for (npages = len / HOST_PAGE; npages && r != -EBUSY;
	     npages -= n, va += n * HOST_PAGE) {
		n = npages < TURN_PAGES ? npages : TURN_PAGES;
		r = advise_part(p, va, n, a);
		err = r ? r : err;
	}
	return err;
}
