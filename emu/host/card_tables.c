// SPDX-License-Identifier: BSD-2-Clause
/* card_tables.c - pages for tables of the card, and what their descriptors may name. */
#include <stdlib.h>

#include "host/card_tables.h"
#include "host/internal.h"

#define PAGES	(KERNEL_BANK_BYTES / DRAM_PAGE)
#define WORDS	(PAGES / 64)
#define ENTRIES	(DRAM_PAGE / sizeof(uint64_t))
#define LINE	8	/* entries that are looked at together */

struct card_tables {
	atomic_uint n;
	atomic_uint_fast64_t taken[WORDS];	/* a bit for each page of the bank */
};

struct card_tables *card_tables_create(void)
{
	return calloc(1, sizeof(struct card_tables));
}

/* Is a page of the bank, at this address, one of them? */
static bool table_taken(const struct host_kernel *k, uint64_t pa)
{
	uint64_t i = (pa - k->kbank_pa) / DRAM_PAGE;

	return pa >= k->kbank_pa && i < PAGES &&
	       atomic_load(&k->card_tables->taken[i / 64]) >> i % 64 & 1;
}

static void table_mark(struct host_kernel *k, uint64_t pa)
{
	uint64_t i = (pa - k->kbank_pa) / DRAM_PAGE;

	atomic_fetch_xor(&k->card_tables->taken[i / 64], 1ull << i % 64);
}

void *host_table_alloc(struct host_kernel *k, uint64_t *pa)
{
	void *mem = host_dma_alloc(k, DRAM_PAGE, pa);

	if (!mem)
		return NULL;
	table_mark(k, *pa);
	atomic_fetch_add(&k->card_tables->n, 1);
	return mem;
}

void host_table_free(struct host_kernel *k, void *mem, uint64_t pa)
{
	assert(table_taken(k, pa));
	table_mark(k, pa);
	atomic_fetch_sub(&k->card_tables->n, 1);
	host_dma_free(k, mem, DRAM_PAGE, pa);
}

/* The frame at pa, whoever has it, or had it. */
static struct host_frame *frame_of_any(struct host_kernel *k, uint64_t pa)
{
	struct host_frame *f = NULL;
	struct host_mm *mm;
	unsigned int i;

	for (i = 0; !f && i < HOST_PROCESSES; i++) {
		mm = k->process[i] ? k->process[i]->mm : NULL;
		f = mm ? frame_at(mm, pa) : NULL;
	}
	for (mm = k->ended; !f && mm; mm = mm->ended_next)
		f = frame_at(mm, pa);
	return f;
}

static const char *check_descriptor(struct host_kernel *k, uint64_t d)
{
	struct host_frame *f;

	if (!(d & PTE_VALID) || table_taken(k, d & PTE_ADDR))
		return NULL;
	f = frame_of_any(k, d & PTE_ADDR);
	if (!f || !f->mm)
		return "the card's table leads to what is nobody's frame";
	/* PTE_DIRTY: the driver follows the kernel (kernel-ref/fl_tables_own.h). */
	if (d & PTE_DIRTY)
		return f->state == FRAME_MAPPED || f->mm->lock.taken ? NULL :
			"the card's table leads to a frame that has left";
	if (!f->pins)
		return "the card's table leads to a frame that is not pinned";
	return NULL;
}

static uint64_t entry_look(const uint64_t *t)
{
	return __atomic_load_n(t, __ATOMIC_ACQUIRE);
}

/* Most of a table is empty, and this is asked after each event. */
static bool line_is_empty(const uint64_t *t)
{
	uint64_t any = entry_look(&t[0]) | entry_look(&t[1]) |
		       entry_look(&t[2]) | entry_look(&t[3]) |
		       entry_look(&t[4]) | entry_look(&t[5]) |
		       entry_look(&t[6]) | entry_look(&t[7]);

	return !(any & PTE_VALID);
}

static const char *check_table(struct host_kernel *k, uint64_t pa)
{
	const uint64_t *t = dram_at(k->dram, pa, DRAM_PAGE);
	const char *bad = NULL;
	unsigned int i, j;

	for (i = 0; !bad && i < ENTRIES; i += LINE) {
		if (line_is_empty(&t[i]))
			continue;
		for (j = i; !bad && j < i + LINE; j++)
			bad = check_descriptor(k, entry_look(&t[j]));
	}
	return bad;
}

/* The bank has many pages; those behind the last table are not looked for. */
const char *card_tables_check(struct host_kernel *k)
{
	unsigned int left = atomic_load(&k->card_tables->n);
	const char *bad = NULL;
	uint64_t w, bits;

	for (w = 0; !bad && left && w < WORDS; w++)
		for (bits = atomic_load(&k->card_tables->taken[w]);
		     !bad && bits; bits &= bits - 1, left--)
			bad = check_table(k, k->kbank_pa + DRAM_PAGE *
					  (w * 64 + (unsigned int)
					   __builtin_ctzll(bits)));
	return !bad && left ? "tables of the card are miscounted" : bad;
}
