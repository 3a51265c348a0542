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
	/* T0SZ 16 to 25, as va_bits 48 to 39: 1 << entries of the first table. */
	static const struct {
		uint8_t level, entries;
	} first[10] = {
		{ 1, 9 }, { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 },
		{ 0, 5 }, { 0, 6 }, { 0, 7 }, { 0, 8 }, { 0, 9 },
	};
	uint64_t size;

	if (!b->walks || !b->va_bits || va >> b->va_bits)
		return end(w, SMMU_CB_FSR_TF, 0);
	if (b->va_bits < 39) {	/* T0SZ 26 to 39: short tables of level 1, 2 */
		unsigned int low = b->va_bits > 30 ? 30 : 21;

		p->level = low == 30 ? 1 : 2;
		size = UINT64_C(8) << (b->va_bits - low);
	} else {
		p->level = first[b->va_bits - 39].level;
		size = UINT64_C(8) << first[b->va_bits - 39].entries;
	}
	p->table = b->table & -(size < 64 ? 64 : size);
	/* Arm ARM D8: a base address over the output size, level 0 */
	if (!address_fits(b, p->table))
		return end(w, SMMU_CB_FSR_ASF, 0);
	return true;
}

static uint8_t permissions(uint64_t desc, uint64_t taken)
{
	/* By AP[2:1]; APTable works as one more AP, ANDed. */
	static const uint8_t by_ap[4] = { 3, 15, 1, 5 };
	static const uint8_t by_table[4] = { 15, 3, 5, 1 };

	return by_ap[desc >> 6 & 3] & by_table[taken >> 61 & 3];
}

/* A page or block descriptor ends the walk. */
static void leaf(const struct smmu_bank *b, uint64_t va, uint64_t desc,
		 const struct position *p, struct smmu_walk *w)
{
	static const uint64_t inside[4] = { 0, 0x3fffffff, 0x1fffff, 0xfff };
	uint64_t mask = inside[p->level];
	uint64_t pa = (desc & DESC_ADDR & ~mask) | (va & mask);
	uint32_t fault = 0;

	if (!(desc & DESC_AF) && !(b->sctlr & SMMU_CB_SCTLR_AFFD))
		fault = SMMU_CB_FSR_AFF;
	if (!address_fits(b, pa))
		fault = SMMU_CB_FSR_ASF;	/* comes before the flag */
	if (fault) {
		end(w, fault, p->level);
		return;
	}
	w->pa = pa;
	w->fault = 0;
	w->level = (uint8_t)p->level;
	w->perm = permissions(desc, p->taken);
	w->global = !(desc & DESC_NG);
}

enum desc_kind { DESC_NOTHING, DESC_LEAF, DESC_NEXT };

static enum desc_kind kind_of(uint64_t desc, unsigned int level)
{
	static const enum desc_kind kinds[4][4] = {
		{ DESC_NOTHING, DESC_NOTHING, DESC_NOTHING, DESC_NEXT },
		{ DESC_NOTHING, DESC_LEAF, DESC_NOTHING, DESC_NEXT },
		{ DESC_NOTHING, DESC_LEAF, DESC_NOTHING, DESC_NEXT },
		{ DESC_NOTHING, DESC_NOTHING, DESC_NOTHING, DESC_LEAF },
	};

	return kinds[level][desc & 3];
}

/* Go on with the table that desc names. */
static bool descend(const struct smmu_bank *b, uint64_t desc,
		    struct position *p, struct smmu_walk *w)
{
	struct position below = {
		.table = desc & DESC_ADDR,
		.taken = p->taken | (desc & (UINT64_C(3) << 61)),
		.level = p->level + 1,
	};

	if (!address_fits(b, below.table))
		return end(w, SMMU_CB_FSR_ASF, p->level);
	*p = below;
	return true;
}

/* One level. True: go on with the table that p now names. */
static bool step(struct smmu *s, const struct smmu_bank *b,
		 const struct smmu_access *a, struct position *p,
		 struct smmu_walk *w)
{
	uint64_t index, desc = 0;

	static const unsigned int low[4] = { 39, 30, 21, 12 };
	enum smmu_mem_status st;

	index = a->va >> low[p->level] & 511;
	st = s->env.read64(s->env.ctx, p->table | index << 3, &desc);
	++w->reads;
	++s->stats.walk_reads;
	w->aborted = st == SMMU_MEM_ABORT || st == SMMU_MEM_POISON;
	if (w->aborted)
		return end(w, SMMU_CB_FSR_EF, p->level);
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
