// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a walk of the process's own page tables would find: of the card, if its bank has
 * these tables, or of whoever else wants to know where a page is.
 */
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <asm/pgtable-hwdef.h>

#include "fl_tables.h"

/* Of the next table, in a descriptor of one; a granule of 4 KB, 48 bits. */
#define FL_TABLE_PA		GENMASK_ULL(47, 12)

/* Arm ARM D8, stage 1; the mmap lock keeps the tables of a mapping, but not all. */
enum fl_found fl_process_frame(struct fl_ctx *ctx, u64 va, bool write,
			       phys_addr_t *pa)
{
	unsigned int bits = 64 - ctx->t0sz;
	/* A table has 512 entries; the first may be used in part. */
	unsigned int shift = FL_PAGE_SHIFT + (bits - FL_PAGE_SHIFT - 1) / 9 * 9;
	u64 *table, d;
	unsigned long flags;

	/* As a fast GUP: who frees a table waits until this is over. */
	local_irq_save(flags);
	table = phys_to_virt(virt_to_phys(ctx->mm->pgd));
	for (;; shift -= 9) {
		d = READ_ONCE(table[va >> shift & 511]);
		if (!(d & PTE_VALID) || !(d & PTE_TABLE_BIT) ||
		    shift == FL_PAGE_SHIFT)
			break;
		table = phys_to_virt(d & FL_TABLE_PA);
	}
	local_irq_restore(flags);
	if (!(d & PTE_VALID))
		return FL_ABSENT;
	if (!(d & PTE_AF) || !(d & PTE_USER) || (write && d & PTE_RDONLY))
		return FL_REFUSED;
	/* A block is as large as what one entry of its table covers. */
	*pa = (d & FL_TABLE_PA & ~((1ull << shift) - 1)) |
	      (va & ((1ull << shift) - 1) & ~(u64)(FL_PAGE_SIZE - 1));
	return FL_GRANTED;
}

enum fl_found fl_process_look(struct fl_ctx *ctx, u64 va, bool write)
{
	phys_addr_t pa;

	return fl_process_frame(ctx, va, write, &pa);
}
