// SPDX-License-Identifier: BSD-2-Clause
/*
 * pgtable.c - a process's translation tables: ARMv8-A stage 1, 4 KB granule,
 * four levels (T0SZ 16), in the kernel's bank, as a CPU and the SMMU read them.
 * Bits; sources: smmu-ptes. A page that is larger than the granule of the tables has
 * several descriptors (internal.h).
 */
#include "host/internal.h"

#define LEVELS	3		/* number of the last one */
#define ENTRIES	512
#define SLOT_SHIFT	12	/* in a descriptor, as an address would be */

uint64_t pte_make(uint64_t pa, int prot, bool dirty)
{
	uint64_t d = pa | PTE_SHARED | PTE_AF | PTE_NG | PTE_PXN | PTE_UXN;

	assert(!(pa & ~PTE_ADDR));
	if (dirty)
		d |= PTE_DIRTY;
	/* No access at all: an invalid descriptor for hardware, a frame for us.
	 */
	if (!(prot & HOST_READ))
		return d | PTE_NONE;
	d |= PTE_TYPE | PTE_USER;
	if (!(prot & HOST_WRITE))
		return d | PTE_RDONLY;
	/*
	 * sources: smmu-ptes: a clean page that may be written is read-only with
	 * DBM set. Neither SMMUv2 nor a Cortex-A53 updates AF or dirty by
	 * itself.
	 */
	return d | PTE_DBM | (dirty ? 0 : PTE_RDONLY);
}

uint64_t pte_swap(uint32_t slot)
{
	return PTE_SWAP | (uint64_t)slot << SLOT_SHIFT;
}

uint32_t pte_slot(uint64_t d)
{
	assert(!pte_resident(d) && (d & PTE_SWAP));
	return (uint32_t)((d & PTE_ADDR) >> SLOT_SHIFT);
}

/* at: of the table in the kernel's bank. */
static uint64_t *entry_at(uint8_t *mem, uint64_t at, uint64_t va, unsigned int level)
{
	assert(at < KERNEL_BANK_BYTES);
	return (uint64_t *)(void *)(mem + at) + (va >> (39 - 9 * level) & (ENTRIES - 1));
}

static uint64_t *entry_of(const struct host_mm *mm, uint64_t table, uint64_t va,
			  unsigned int level)
{
	return entry_at(mm->k->kbank_mem, table - mm->k->kbank_pa, va, level);
}

/* Pairs with entry_write: what the entry points to is visible. */
static uint64_t entry_read(const uint64_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

static void entry_write(uint64_t *entry, uint64_t desc)
{
	__atomic_store_n(entry, desc, __ATOMIC_RELEASE);
}

static uint64_t table_get(struct host_mm *mm)
{
	uint64_t pa;

	if (mm->tables >= PROCESS_TABLES)
		return 0;
	pa = kpages_get(mm->k, 1);
	if (pa) {
		host_count(&mm->k->table_pages, 1);
		mm->tables++;
	}
	return pa;
}

int pt_create(struct host_mm *mm)
{
	mm->root = table_get(mm);
	return mm->root ? 0 : -ENOMEM;
}

static void table_put(struct host_mm *mm, uint64_t table, unsigned int level)
{
	unsigned int i;
	uint64_t d;

	for (i = 0; level < LEVELS && i < ENTRIES; i++) {
		d = entry_read(entry_of(mm, table, 0, level) + i);
		if (d & PTE_VALID)
			table_put(mm, d & PTE_ADDR, level + 1);
	}
	kpages_put(mm->k, table, 1);
	atomic_fetch_sub(&mm->k->table_pages, 1);
	mm->tables--;
}

void pt_destroy(struct host_mm *mm)
{
	if (mm->root)
		table_put(mm, mm->root, 0);
	mm->root = 0;
	atomic_store(&mm->leaf, 0);
}

int pt_prepare(struct host_mm *mm, uint64_t va)
{
	uint64_t table = mm->root, *entry, d;
	unsigned int level;

	for (level = 0; level < LEVELS; level++) {
		entry = entry_of(mm, table, va, level);
		d = entry_read(entry);
		if (!(d & PTE_VALID)) {
			d = table_get(mm);
			if (!d)
				return -ENOMEM;
			d |= PTE_TYPE;
			/* A walk that sees the table sees its zeros. */
			entry_write(entry, d);
		}
		table = d & PTE_ADDR;
	}
	return 0;
}

/*
 * A table of level 3, as a number: which 2 MB it is for, and in the upper half which page of the
 * kernel's bank it is. 0: none.
 */
#define LEAF(va, at)	((at) >> SLOT_SHIFT << 32 | (va) >> 21)
#define LEAF_VA(leaf)	((leaf) & 0xffffffff)
#define LEAF_AT(leaf)	((leaf) >> 32 << SLOT_SHIFT)

/*
 * The first level 3 entry of va's page; NULL when a table above it is missing, and then
 * *level says the entry of which level was not valid. Some ten times for each page that comes and
 * goes, most of them in the same table as before; and a table stays until the process ends.
 */
static uint64_t *leaf_of(struct host_mm *mm, uint64_t va, unsigned int *level)
{
	uint64_t pa = mm->k->kbank_pa, at = mm->root - pa, d, leaf;
	uint8_t *mem = mm->k->kbank_mem;
	unsigned int i;

	*level = LEVELS;
	/* Acquire: pairs with the release below, as entry_read() does with entry_write(). */
	leaf = atomic_load_explicit(&mm->leaf, memory_order_acquire);
	if (leaf && LEAF_VA(leaf) == va >> 21)
		return entry_at(mem, LEAF_AT(leaf), va & ~(HOST_PAGE - 1), LEVELS);
	for (i = 0; i < LEVELS; i++) {
		d = entry_read(entry_at(mem, at, va, i));
		if (!(d & PTE_VALID)) {
			*level = i;
			return NULL;
		}
		at = (d & PTE_ADDR) - pa;
	}
	atomic_store_explicit(&mm->leaf, LEAF(va, at), memory_order_release);
	return entry_at(mem, at, va & ~(HOST_PAGE - 1), LEVELS);
}

uint64_t pt_get(struct host_mm *mm, uint64_t va)
{
	unsigned int level;
	uint64_t *leaf;

	/* Beyond, the indices would be those of another address. */
	if (!mm->root || va >> HOST_VA_BITS)
		return 0;
	leaf = leaf_of(mm, va, &level);
	return leaf ? entry_read(leaf) : 0;
}

static void pgtable_note_frame(struct host_mm *mm, uint64_t desc)
{
	struct host_frame *f = frame_at(mm, desc & PTE_ADDR);

	if (pte_resident(desc) && f)
		frame_note(mm, f);
}

void pt_set(struct host_mm *mm, uint64_t va, uint64_t desc)
{
	unsigned int level;
	uint64_t *leaf = leaf_of(mm, va, &level), i;
	uint64_t step = pte_resident(desc) ? DRAM_PAGE : 0;

	assert(leaf);
	if (mm->k->watch) {
		pgtable_note_frame(mm, entry_read(leaf));
		pgtable_note_frame(mm, desc);
	}
	/* A walk may see some of them before the others, never half of one. */
	for (i = 0; i < HOST_FRAMES; i++)
		entry_write(&leaf[i], desc + i * step);
}

bool pt_whole(struct host_mm *mm, uint64_t va)
{
	unsigned int level;
	const uint64_t *leaf = leaf_of(mm, va, &level);
	uint64_t d = entry_read(leaf), i;
	uint64_t step = pte_resident(d) ? DRAM_PAGE : 0;

	for (i = 1; i < HOST_FRAMES; i++)
		if (entry_read(&leaf[i]) != d + i * step)
			return false;
	return true;
}

uint64_t pt_next(struct host_mm *mm, uint64_t va, uint64_t end)
{
	unsigned int level;
	uint64_t *leaf, span;

	while (mm->root && va < end) {
		leaf = leaf_of(mm, va, &level);
		if (leaf && entry_read(leaf))
			return va;
		span = level == LEVELS ? HOST_PAGE : 1ull << (39 - 9 * level);
		va = (va & ~(span - 1)) + span;
	}
	return end;
}

uint64_t mm_table_pa(const struct host_mm *mm)
{
	return mm->root;
}

uint64_t host_translate(struct host_mm *mm, uint64_t va)
{
	uint64_t d = pt_get(mm, va & ~(HOST_PAGE - 1));

	return d & PTE_VALID ? (d & PTE_ADDR) | (va & (HOST_PAGE - 1)) : 0;
}
