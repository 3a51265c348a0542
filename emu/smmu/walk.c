// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stage-1 walk of AArch64 tables with a 4 KB granule (sources: smmu-ptes; Arm
 * ARM DDI 0487, chapter D8). Nine address bits a level, levels 0 to 3; blocks
 * of 1 GB at level 1 and 2 MB at level 2. A walk reads memory and nothing else: it has
 * no effect on registers, TLB or trace: who asked for it counts and reports it, and fills the
 * walk cache, where there is one (smmu_walk_leave()).
 */
#include "smmu_internal.h"

#include "faultline/pte.h"

/* What the tables above have taken away, and where the next one is. */
struct position {
	uint64_t table;
	uint64_t taken;		/* PTE_TABLE_* */
	unsigned int level;
};

/* Record why the walk ends. */
static bool walk_end(struct smmu_walk *w, uint32_t fault, unsigned int level)
{
	w->fault = fault;
	w->level = (uint8_t)level;
	return false;
}

/* Does an output address fit the size that TCR2.PASIZE gives? */
static bool address_fits(const struct smmu_bank *b, uint64_t pa)
{
	return !(pa >> b->pa_bits);
}

/* Checks before the first read, and the first table. */
static bool walk_begin(const struct smmu_bank *b, uint64_t va,
		       struct position *p, struct smmu_walk *w)
{
	/* tag::walk-1[] */
	unsigned int index_bits, align_bits;

	/*
	 * Arm ARM D8, TCR_ELx.EPD0: no walk, a translation fault at level 0.
	 * Here also: CBA2R.VA64 is 0 (AArch32 tables), a granule that is not
	 * 4 KB, or T0SZ outside 16 to 39; the model has none of these.
	 */
	if (!b->walks || !b->va_bits)
		return walk_end(w, SMMU_CB_FSR_TF, 0);
	/*
	 * Arm ARM D8, input address range: outside it, a translation fault at
	 * level 0. The upper half (TTBR1) is outside: TCR.T1SZ is not modelled.
	 */
	if (va >> b->va_bits)
		return walk_end(w, SMMU_CB_FSR_TF, 0);
	/* sources: smmu-ptes: 39 bits start at level 1, 40 to 48 at level 0 */
	p->level = 4 - (b->va_bits - 12 + 8) / 9;
	index_bits = b->va_bits - smmu_level_shift(p->level);
	/* Arm ARM D8, TTBR: aligned to the table's size, 64 bytes at least */
	align_bits = index_bits + 3 < 6 ? 6 : index_bits + 3;
	p->table = b->table & ~((UINT64_C(1) << align_bits) - 1);
	/* end::walk-1[] */
	/* Arm ARM D8: a base address over the output size, level 0 */
	if (!address_fits(b, p->table))
		return walk_end(w, SMMU_CB_FSR_ASF, 0);
	return true;
}

static uint8_t walk_permissions(uint64_t desc, uint64_t taken)
{
	/* tag::walk-6[] */
	bool user = desc & PTE_USER && !(taken & PTE_TABLE_NOUSER);
	bool write = !(desc & PTE_RDONLY) && !(taken & PTE_TABLE_RDONLY);

	/* sources: smmu-ptes, AP[2:1]; APTable 62:61 takes rights away below it */
	return SMMU_PERM_PRIV_READ | (write ? SMMU_PERM_PRIV_WRITE : 0) |
	       (user ? SMMU_PERM_USER_READ : 0) |
	       (user && write ? SMMU_PERM_USER_WRITE : 0);
	/* end::walk-6[] */
}

/* A page or block descriptor ends the walk. */
static void walk_leaf(const struct smmu_bank *b, uint64_t va, uint64_t desc,
		      const struct position *p, struct smmu_walk *w)
{
	/* tag::walk-5[] */
	uint64_t inside = (UINT64_C(1) << smmu_level_shift(p->level)) - 1;
	uint64_t base = desc & PTE_ADDR & ~inside;

	/* sources: smmu-ptes: output beyond OAS is ASF, before AFF and PF */
	if (!address_fits(b, base | inside)) {
		walk_end(w, SMMU_CB_FSR_ASF, p->level);
		return;
	}
	/* sources: smmu-ptes, sources: smmu-faults: AF = 0 is AFF, unless SCTLR.AFFD is 1 */
	if (!(desc & PTE_AF) && !(b->sctlr & SMMU_CB_SCTLR_AFFD)) {
		walk_end(w, SMMU_CB_FSR_AFF, p->level);
		return;
	}
	w->pa = base | (va & inside);
	/* end::walk-5[] */
	w->fault = 0;
	w->level = (uint8_t)p->level;
	w->perm = walk_permissions(desc, p->taken);
	w->global = !(desc & PTE_NG);
}

enum desc_kind { DESC_NOTHING, DESC_LEAF, DESC_NEXT };

static enum desc_kind desc_kind(uint64_t desc, unsigned int level)
{
	/* tag::walk-3[] */
	bool block = !(desc & PTE_TABLE_BIT);

	/* sources: smmu-ptes: 0b00 and 0b10 are invalid */
	if (!(desc & PTE_VALID))
		return DESC_NOTHING;
	/* sources: smmu-ptes: 0b01 is a block at levels 1 and 2 only */
	if (block)
		return level == 0 || level == 3 ? DESC_NOTHING : DESC_LEAF;
	return level == 3 ? DESC_LEAF : DESC_NEXT;
	/* end::walk-3[] */
}

/* Go on with the table that desc names. */
static bool walk_descend(const struct smmu_bank *b, uint64_t desc,
			 struct position *p, struct smmu_walk *w)
{
	/* tag::walk-4[] */
	uint64_t next = desc & PTE_ADDR;

	/* Arm ARM D8: the address of a table must fit the output size too */
	if (!address_fits(b, next))
		return walk_end(w, SMMU_CB_FSR_ASF, p->level);
	p->table = next;
	p->taken |= desc & (PTE_TABLE_NOUSER | PTE_TABLE_RDONLY);
	p->level++;
	return true;
	/* end::walk-4[] */
}

/* One level. True: go on with the table that p now names. */
static bool walk_level(struct smmu *s, const struct smmu_bank *b,
		       const struct smmu_access *a, struct position *p,
		       struct smmu_walk *w)
{
	uint64_t index, desc = 0;

	/* tag::walk-2[] */
	enum smmu_mem_status st;

	/* The first table may be short; its index bits end with va_bits. */
	index = (a->va >> smmu_level_shift(p->level)) & 0x1ff;
	st = s->env.read64(s->env.ctx, p->table + 8 * index, &desc);
	w->reads++;
	s->stats.walk_reads++;
	/* sources: smmu-ptes: bus error on a walk is EF with FSYNR0.PTWF = 1 */
	if (st != SMMU_MEM_OK) {
		w->aborted = true;
		return walk_end(w, SMMU_CB_FSR_EF, p->level);
	}
	/* end::walk-2[] */
	w->seen[p->level] = (struct smmu_walk_seen){ p->table, index, desc };
	switch (desc_kind(desc, p->level)) {
	case DESC_NOTHING:
		return walk_end(w, SMMU_CB_FSR_TF, p->level);
	case DESC_NEXT:
		return walk_descend(b, desc, p, w);
	default:
		walk_leaf(b, a->va, desc, p, w);
		return false;
	}
}

void smmu_walk(struct smmu *s, unsigned int n, const struct smmu_access *a,
	       struct smmu_walk *w)
{
	const struct smmu_bank *b = &s->bank[n];
	const struct smmu_walk_entry *e = NULL;
	uint64_t va = smmu_untag(a->va);
	struct position p = { 0 };

	*w = (struct smmu_walk){ 0 };
	if (!walk_begin(b, va, &p, w))
		return;
	if (s->walk_cache.entries)
		e = smmu_walk_cache_find(&s->walk_cache, va, p.level, b->vmid,
					 b->asid);
	if (e)
		p = (struct position){ e->table, e->taken, e->level };
	w->first = (uint8_t)p.level;
	w->taken = p.taken;
	w->cached = e;
	w->seen[p.level].table = p.table;
	while (walk_level(s, b, a, &p, w))
		;
}
