// SPDX-License-Identifier: BSD-2-Clause
/*
 * queues.c - memory of a process's queues, behind the frames of its bank: the
 * process maps its bank and nothing else. First fit.
 *
 * A bank goes when its process has ended and no queue is left in it. The driver
 * keeps a queue on purpose when the card does not say that it has let go of it;
 * then the bank stays, so that a late write of the card meets nobody's memory.
 */
#include <stdlib.h>

#include "host/internal.h"
#include "os/os.h"
#include "os/os_emu.h"

int area_create(struct host_kernel *k, int bank, uint64_t pa, bool forget)
{
	struct host_area *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->pa = pa;
	a->forget = forget;
	sim_spin_lock(&k->areas_lock);
	k->area[bank] = a;
	sim_spin_unlock(&k->areas_lock);
	return 0;
}

/* It is in no list any more. */
static void bank_end(struct host_kernel *k, int bank, struct host_area *a)
{
	struct dram_bank *b = dram_bank(k->dram, bank);

	/* Others may have mapped the bank and live on. */
	if (a->forget)
		os_memory_forget(b->fd, 0, b->bytes);
	sim_mutex_lock(&k->banks_lock);
	dram_bank_remove(k->dram, bank);
	sim_mutex_unlock(&k->banks_lock);
	free(a);
}

void area_orphan(struct host_kernel *k, int bank)
{
	struct host_area *a = k->area[bank];
	bool empty;

	sim_spin_lock(&k->areas_lock);
	empty = !a->pages;
	a->orphan = true;
	if (empty)
		k->area[bank] = NULL;
	else
		k->orphans++;
	sim_spin_unlock(&k->areas_lock);
	if (empty)
		bank_end(k, bank, a);
}

void areas_destroy(struct host_kernel *k)
{
	int i;

	for (i = 0; i < DRAM_BANKS; i++)
		if (k->area[i])
			bank_end(k, i, k->area[i]);
}

static bool area_taken(const struct host_area *a, uint64_t i)
{
	return a->taken[i / 64] >> i % 64 & 1;
}

static void area_mark(struct host_area *a, uint64_t i, uint64_t n)
{
	for (; n; i++, n--)
		a->taken[i / 64] ^= 1ull << i % 64;
}

/* QUEUE_AREA_PAGES: no such run is free. */
static uint64_t first_fit(const struct host_area *a, uint64_t n)
{
	uint64_t i, run = 0;

	for (i = 0; i < QUEUE_AREA_PAGES; i++) {
		run = area_taken(a, i) ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return QUEUE_AREA_PAGES;
}

void *mm_dma_alloc(struct host_mm *mm, uint64_t bytes, uint64_t *pa)
{
	uint64_t n = bytes / HOST_PAGE + (bytes % HOST_PAGE != 0), i;
	struct host_kernel *k = mm->k;
	struct host_area *a;
	void *mem;

	*pa = 0;
	if (!n)
		return NULL;
	sim_spin_lock(&k->areas_lock);
	a = k->area[mm->bank];
	i = first_fit(a, n);
	if (i < QUEUE_AREA_PAGES) {
		area_mark(a, i, n);
		a->pages += n;
		k->area_pages += n;
		k->areas_noted = true;
		kernel_note(k);
		*pa = a->pa + i * HOST_PAGE;
	}
	sim_spin_unlock(&k->areas_lock);
	if (!*pa)
		return NULL;
	mem = dram_at(k->dram, *pa, n * HOST_PAGE);
	memset(mem, 0, n * HOST_PAGE);
	kernel_tag(k, *pa, n * HOST_FRAMES);
	return mem;
}

bool area_put(struct host_kernel *k, uint64_t pa, uint64_t npages)
{
	uint64_t bank = (pa - DRAM_BASE) / DRAM_BANK_STRIDE, first, i;
	struct host_area *a;
	bool last = false;

	assert(pa >= DRAM_BASE && bank < DRAM_BANKS);
	sim_spin_lock(&k->areas_lock);
	a = k->area[bank];
	if (a) {
		first = (pa - a->pa) / HOST_PAGE;
		assert(pa >= a->pa && first + npages <= QUEUE_AREA_PAGES);
		for (i = 0; i < npages; i++)
			assert(area_taken(a, first + i));
		area_mark(a, first, npages);
		a->pages -= npages;
		k->area_pages -= npages;
		k->areas_noted = true;
		kernel_note(k);
		last = a->orphan && !a->pages;
	}
	if (last) {
		k->area[bank] = NULL;
		k->orphans--;
	}
	sim_spin_unlock(&k->areas_lock);
	if (last)
		bank_end(k, (int)bank, a);
	return a != NULL;
}

uint64_t areas_count(struct host_kernel *k)
{
	uint64_t n = 0, w;
	int i;

	for (i = 0; i < DRAM_BANKS; i++)
		for (w = 0; k->area[i] && w < QUEUE_AREA_PAGES / 64; w++)
			n += (uint64_t)__builtin_popcountll(
				k->area[i]->taken[w]);
	return n;
}
