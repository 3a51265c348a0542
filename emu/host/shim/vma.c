// SPDX-License-Identifier: BSD-2-Clause
/*
 * vma.c - what a driver is told of a mapping, for as long as it holds the mmap lock.
 *
 * Every holder of the lock that looks gets a place of its own to find it in, which
 * nobody can touch any more once the lock is given back: on Linux somebody else may
 * have freed it by then. Places are used in turn, so a late use is caught as well.
 * With real threads that costs too much (7 us a fault): there what is in the place is
 * spoilt, which handle_mm_fault() sees.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/mm.h>

#include "os/os.h"
#include "shim_internal.h"

#define PLACES		256u
#define PLACE_BYTES	0x10000ul	/* a page of any host's */
#define PLACE_VMAS	(0x1000ul / sizeof(struct vm_area_struct))

/* Addresses, as the arenas of processes: one range for the program. */
static struct {
	pthread_once_t once;
	uintptr_t base;			/* 0: error says why not */
	int error;
	atomic_uint next;
	struct place {
		atomic_bool open;
		bool touchable;
		unsigned int n;
		/* The function that looked first, and the one that gave the lock back. */
		const char *_Atomic looked, *_Atomic closed;
	} place[PLACES];
} vmas = { .once = PTHREAD_ONCE_INIT };

static _Thread_local struct place *mine;

void *shim_vmas_local(size_t *bytes)
{
	*bytes = sizeof(mine);
	return &mine;
}

static struct vm_area_struct *place_at(const struct place *p)
{
	return (void *)(vmas.base + (size_t)(p - vmas.place) * PLACE_BYTES);
}

/* Not a page of a process: somebody uses what has gone. */
static bool vma_touched(uintptr_t addr, int write)
{
	const struct place *p;

	if (addr - vmas.base >= PLACES * PLACE_BYTES)
		return false;
	p = &vmas.place[(addr - vmas.base) / PLACE_BYTES];
	if (p->closed)
		shim_breach("stale-vma", p->looked, "has looked up a mapping "
			    "that is used after %s() gave the mmap lock back",
			    p->closed);
	return false;
}

static void vma_reserve(void)
{
	vmas.base = (uintptr_t)os_reserve(NULL, PLACES * PLACE_BYTES,
					  &vmas.error);
}

int shim_vmas_start(void)
{
	pthread_once(&vmas.once, vma_reserve);
	return vmas.base ? os_fault_add(vma_touched) : vmas.error;
}

void shim_vmas_end(void)
{
	os_fault_remove(vma_touched);
}

static struct place *place_get(const char *where)
{
	struct place *p;
	int err;

	do
		p = &vmas.place[atomic_fetch_add(&vmas.next, 1) % PLACES];
	while (atomic_exchange(&p->open, true));
	p->n = 0;
	p->looked = where;
	p->closed = NULL;
	if (!p->touchable) {
		err = os_protect(place_at(p), PLACE_BYTES,
				 PROT_READ | PROT_WRITE);
		if (err) {
			/* A lookup cannot fail, and other threads run. */
			fprintf(stderr, "faultline: no memory for what %s() "
				"looks up: %s\n", where, strerror(-err));
			_exit(1);
		}
	}
	p->touchable = true;
	return p;
}

struct vm_area_struct *shim_vma_new(const struct vm_area_struct *v,
				    const char *where)
{
	struct vm_area_struct *vma;
	unsigned int i;

	if (!mine)
		mine = place_get(where);
	vma = place_at(mine);
	for (i = 0; i < mine->n && i < PLACE_VMAS; i++)
		if (vma[i].vm_start == v->vm_start &&
		    vma[i].vm_mm == v->vm_mm) {
			/* The lock is held: it is as it was. */
			assert(vma[i].vm_end == v->vm_end &&
			       vma[i].vm_flags == v->vm_flags);
			return &vma[i];
		}
	vma += mine->n++ % PLACE_VMAS;
	*vma = *v;
	return vma;
}

bool shim_vma_mine(const struct vm_area_struct *v)
{
	return mine && (uintptr_t)v - (uintptr_t)place_at(mine) < PLACE_BYTES;
}

void shim_vmas_close(const char *where)
{
	int err;

	if (!mine)
		return;
	mine->closed = where;
	if (sim_mode(shim_cpu()->shim->sim) == SIM_LOCKSTEP) {
		mine->touchable = false;
		err = os_protect(place_at(mine), PLACE_BYTES, PROT_NONE);
		assert(!err);
	} else {
		memset(place_at(mine), 0x5a,
		       min(mine->n, (unsigned int)PLACE_VMAS) *
			       sizeof(struct vm_area_struct));
	}
	atomic_store(&mine->open, false);
	mine = NULL;
}
