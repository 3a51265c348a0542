// SPDX-License-Identifier: BSD-2-Clause
/*
 * kpages.c - the kernel's own bank: translation tables and memory that the NIC
 * reads and writes by physical address (its events; for queues: queues.c). No
 * process maps it, so that it goes by the device's pages.
 */
#include <stdlib.h>

#include "host/internal.h"

#define KPAGES (KERNEL_BANK_BYTES / DRAM_PAGE)

int kpages_create(struct host_kernel *k)
{
	k->kbank = dram_bank_add(k->dram, "kernel", KERNEL_BANK_BYTES);
	if (k->kbank < 0)
		return k->kbank;
	k->kbank_pa = dram_bank(k->dram, k->kbank)->base;
	k->kbank_mem = dram_bank(k->dram, k->kbank)->mem;
	k->kpages_taken = calloc(KPAGES / 64, sizeof(uint64_t));
	if (!k->kpages_taken) {
		dram_bank_remove(k->dram, k->kbank);
		return -ENOMEM;
	}
	return 0;
}

void kpages_destroy(struct host_kernel *k)
{
	free(k->kpages_taken);
	dram_bank_remove(k->dram, k->kbank);
}

static bool kpages_taken(const struct host_kernel *k, uint64_t i)
{
	return k->kpages_taken[i / 64] >> i % 64 & 1;
}

static void kpages_mark(struct host_kernel *k, uint64_t i, uint64_t n)
{
	for (; n; i++, n--)
		k->kpages_taken[i / 64] ^= 1ull << i % 64;
}

/* First fit in [from, to); to when there is none. */
static uint64_t kpages_find(const struct host_kernel *k, uint64_t from,
			    uint64_t to, uint64_t n)
{
	uint64_t i, run = 0;

	for (i = from; i < to; i++) {
		run = kpages_taken(k, i) ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return to;
}

uint64_t kpages_get(struct host_kernel *k, uint64_t npages)
{
	uint64_t i = KPAGES, pa = 0;

	if (!npages || npages > KPAGES)
		return 0;
	sim_spin_lock(&k->kpages_lock);
	i = kpages_find(k, k->kpages_hint, KPAGES, npages);
	if (i == KPAGES)
		i = kpages_find(k, 0, KPAGES, npages);
	if (i < KPAGES) {
		kpages_mark(k, i, npages);
		k->kpages_used += npages;
		kernel_note(k);
		k->kpages_hint = (i + npages) % KPAGES;
		pa = k->kbank_pa + i * DRAM_PAGE;
	}
	sim_spin_unlock(&k->kpages_lock);
	if (!pa)
		return 0;
	memset(dram_at(k->dram, pa, npages * DRAM_PAGE), 0, npages * DRAM_PAGE);
	kernel_tag(k, pa, npages);
	return pa;
}

void kpages_put(struct host_kernel *k, uint64_t pa, uint64_t npages)
{
	uint64_t i = (pa - k->kbank_pa) / DRAM_PAGE, n;

	assert(pa >= k->kbank_pa && i + npages <= KPAGES);
	sim_spin_lock(&k->kpages_lock);
	for (n = 0; n < npages; n++)
		assert(kpages_taken(k, i + n));
	kpages_mark(k, i, npages);
	k->kpages_used -= npages;
	kernel_note(k);
	if (i < k->kpages_hint)
		k->kpages_hint = i;
	sim_spin_unlock(&k->kpages_lock);
}

void *host_dma_alloc(struct host_kernel *k, uint64_t bytes, uint64_t *pa)
{
	uint64_t n = bytes / DRAM_PAGE + (bytes % DRAM_PAGE != 0);

	*pa = kpages_get(k, n);
	if (!*pa)
		return NULL;
	host_count(&k->dma_pages, n);
	return dram_at(k->dram, *pa, n * DRAM_PAGE);
}

void host_dma_free(struct host_kernel *k, void *mem, uint64_t bytes,
		   uint64_t pa)
{
	uint64_t n = bytes / DRAM_PAGE + (bytes % DRAM_PAGE != 0);
	uint64_t of_queue = bytes / HOST_PAGE + (bytes % HOST_PAGE != 0);

	assert(mem == dram_at(k->dram, pa, n * DRAM_PAGE));
	if (area_put(k, pa, of_queue))
		return;
	kpages_put(k, pa, n);
	atomic_fetch_sub(&k->dma_pages, n);
}
