// SPDX-License-Identifier: BSD-2-Clause
/*
 * sigbus.c - a table of ranges, and the handler that looks into it: processes whose
 * memory has no fixed size (os_memory_fixed), and guests, whose memory is a file.
 * Frames and queues of others are in other objects.
 *
 * The table belongs to the program, as the handler does.
 */
#include <sys/mman.h>

#include "nic/wire.h"
#include "serve/serve_internal.h"

#define RANGES (2u * CLIENTS_MAX + WIRE_NODES)

static struct range {
	_Atomic(atomic_bool *) cut;	/* NULL: free; set last, cleared first */
	_Atomic uintptr_t start, end;
} ranges[RANGES];

/* Of those who add; the handler does without. */
static struct sim_spin adding;

static bool sigbus_fix(uintptr_t addr, int write)
{
	uintptr_t page = os_page_bytes(), at = addr - addr % page;
	atomic_bool *cut;
	unsigned int i;

	(void)write;
	for (i = 0; i < RANGES; i++) {
		/* Acquire: pairs with the release in sigbus_add(). */
		cut = atomic_load_explicit(&ranges[i].cut,
					   memory_order_acquire);
		if (!cut || addr < atomic_load(&ranges[i].start) ||
		    addr >= atomic_load(&ranges[i].end))
			continue;
		atomic_store(cut, true);
		return !os_view((void *)at, page, PROT_READ | PROT_WRITE, -1,
				0);
	}
	return false;
}

int sigbus_begin(void)
{
	return os_fault_add(sigbus_fix);
}

void sigbus_end(void)
{
	os_fault_remove(sigbus_fix);
}

void sigbus_add(const void *mem, uint64_t bytes, atomic_bool *cut)
{
	unsigned int i;

	sim_spin_lock(&adding);
	for (i = 0; atomic_load(&ranges[i].cut) || atomic_load(&ranges[i].end);
	     i++)
		assert(i + 1 < RANGES);
	atomic_store(&ranges[i].start, (uintptr_t)mem);
	atomic_store(&ranges[i].end, (uintptr_t)mem + bytes);
	atomic_store_explicit(&ranges[i].cut, cut, memory_order_release);
	sim_spin_unlock(&adding);
}

void sigbus_remove(atomic_bool *cut)
{
	unsigned int i;

	sim_spin_lock(&adding);
	for (i = 0; i < RANGES; i++)
		if (atomic_load(&ranges[i].cut) == cut) {
			atomic_store(&ranges[i].cut, NULL);
			atomic_store(&ranges[i].start, 0);
			atomic_store(&ranges[i].end, 0);
		}
	sim_spin_unlock(&adding);
}
