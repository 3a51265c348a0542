// SPDX-License-Identifier: BSD-2-Clause
/*
 * The stage-1 walk of AArch64 tables with a 4 KB granule (exanest.md 3.6; Arm
 * ARM DDI 0487, chapter D8). Nine address bits a level, levels 0 to 3; blocks
 * of 1 GB at level 1 and 2 MB at level 2. A walk reads memory and nothing else:
 * it has no effect on registers or TLB.
 */
#include "smmu_internal.h"

#define DESC_VALID	UINT64_C(1)
#define DESC_TABLE	UINT64_C(2)	/* table at 0 to 2, page at 3 */
#define DESC_AP_USER	(UINT64_C(1) << 6)
#define DESC_AP_RDONLY	(UINT64_C(1) << 7)
#define DESC_AF		(UINT64_C(1) << 10)
#define DESC_NG		(UINT64_C(1) << 11)
#define DESC_ADDR	UINT64_C(0x0000fffffffff000)
#define DESC_APT_NOUSER	(UINT64_C(1) << 61)
#define DESC_APT_RDONLY	(UINT64_C(1) << 62)

/* What the tables above have taken away, and where the next one is. */
struct position {
	uint64_t table;
	uint64_t taken;		/* DESC_APT_* */
	unsigned int level;
};

/* Record why the walk ends. */
static bool end(struct smmu_walk *w, uint32_t fault, unsigned int level)
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
static bool begin(const struct smmu_bank *b, uint64_t va, struct position *p,
		  struct smmu_walk *w)
{
	unsigned int bits = 39;	/* of address below a level 0 entry */
	uint64_t bytes;

	if (!b->walks || b->va_bits == 0 || va >= UINT64_C(1) << b->va_bits)
		return end(w, SMMU_CB_FSR_TF, 0);
	for (p->level = 0; b->va_bits <= bits; p->level++)
		bits -= 9;
	bytes = UINT64_C(8) << (b->va_bits - bits);
	if (bytes < 64)
		bytes = 64;
	p->table = b->table - b->table % bytes;
	/* Arm ARM D8: a base address over the output size, level 0 */
	if (!address_fits(b, p->table))
		return end(w, SMMU_CB_FSR_ASF, 0);
	return true;
}

static uint8_t permissions(uint64_t desc, uint64_t taken)
{
	uint8_t perm = SMMU_PERM_PRIV_READ;

	if (!(desc & DESC_AP_RDONLY || taken & DESC_APT_RDONLY))
		perm |= SMMU_PERM_PRIV_WRITE;
	/* The unprivileged pair is two bits up. */
	if (desc & DESC_AP_USER && !(taken & DESC_APT_NOUSER))
		perm |= (uint8_t)(perm << 2);
	return perm;
}

/* A page or block descriptor ends the walk. */
static void leaf(const struct smmu_bank *b, uint64_t va, uint64_t desc,
		 const struct position *p, struct smmu_walk *w)
{
	uint64_t bytes = UINT64_C(1) << smmu_level_shift(p->level);
	uint64_t first = (desc & DESC_ADDR) / bytes * bytes;

	if (first >> b->pa_bits) {
		end(w, SMMU_CB_FSR_ASF, p->level);
		return;
	}
	if (!(b->sctlr & SMMU_CB_SCTLR_AFFD) && !(desc & DESC_AF)) {
		end(w, SMMU_CB_FSR_AFF, p->level);
		return;
	}
	w->pa = first + va % bytes;
	w->fault = 0;
	w->level = (uint8_t)p->level;
	w->perm = permissions(desc, p->taken);
	w->global = !(desc & DESC_NG);
}

enum desc_kind { DESC_NOTHING, DESC_LEAF, DESC_NEXT };

static enum desc_kind kind_of(uint64_t desc, unsigned int level)
{
	switch (desc & 3) {
	case 3:
		return level < 3 ? DESC_NEXT : DESC_LEAF;
	case 1:
		return level == 1 || level == 2 ? DESC_LEAF : DESC_NOTHING;
	default:
		return DESC_NOTHING;
	}
}

/* Go on with the table that desc names. */
static bool descend(const struct smmu_bank *b, uint64_t desc,
		    struct position *p, struct smmu_walk *w)
{
	p->table = desc & DESC_ADDR;
	if (p->table >> b->pa_bits)
		return end(w, SMMU_CB_FSR_ASF, p->level);
	p->taken = p->taken | (desc & DESC_APT_NOUSER) |
		   (desc & DESC_APT_RDONLY);
	p->level = p->level + 1;
	return true;
}

/* One level. True: go on with the table that p now names. */
static bool step(struct smmu *s, const struct smmu_bank *b,
		 const struct smmu_access *a, struct position *p,
		 struct smmu_walk *w)
{
	uint64_t index, desc = 0;

	index = a->va >> smmu_level_shift(p->level);
	index &= 511;
	w->reads++;
	s->stats.walk_reads++;
	switch (s->env.read64(s->env.ctx, p->table + index * 8, &desc)) {
	case SMMU_MEM_OK:
		break;
	default:
		w->aborted = true;
		return end(w, SMMU_CB_FSR_EF, p->level);
	}
	smmu_emit(s, EV_SMMU_LEVEL, a, a->cause, p->level, p->table, index,
		  desc);
	switch (kind_of(desc, p->level)) {
	case DESC_NOTHING:
		return end(w, SMMU_CB_FSR_TF, p->level);
	case DESC_NEXT:
		return descend(b, desc, p, w);
	default:
		leaf(b, a->va, desc, p, w);
		return false;
	}
}

void smmu_walk(struct smmu *s, unsigned int n, const struct smmu_access *a,
	       struct smmu_walk *w)
{
	const struct smmu_bank *b = &s->bank[n];
	struct position p = { 0 };

	*w = (struct smmu_walk){ 0 };
	s->stats.walks++;
	if (!begin(b, a->va, &p, w))
		return;
	while (step(s, b, a, &p, w))
		;
}
