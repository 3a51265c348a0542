// SPDX-License-Identifier: BSD-2-Clause
/* A walk that calls itself for the table below: none of the starter's frame. */
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

struct journey {
	struct smmu *s;
	const struct smmu_bank *bank;
	const struct smmu_access *a;
	struct smmu_walk *w;
};

static void stop(const struct journey *j, unsigned int level, uint32_t fault)
{
	j->w->level = (uint8_t)level;
	j->w->fault = fault;
}

static bool too_far(const struct journey *j, uint64_t pa)
{
	return pa >> j->bank->pa_bits;
}

/* rights: what the tables so far leave of SMMU_PERM_*. */
static void arrive(const struct journey *j, unsigned int level, uint64_t desc,
		   uint8_t rights)
{
	uint64_t size = UINT64_C(1) << smmu_level_shift(level);
	uint64_t pa = (desc & DESC_ADDR) / size * size + j->a->va % size;

	if (too_far(j, pa)) {
		stop(j, level, SMMU_CB_FSR_ASF);
	} else if (!(desc & DESC_AF) &&
		   !(j->bank->sctlr & SMMU_CB_SCTLR_AFFD)) {
		stop(j, level, SMMU_CB_FSR_AFF);
	} else {
		if (!(desc & DESC_AP_USER))
			rights &= ~(SMMU_PERM_USER_READ | SMMU_PERM_USER_WRITE);
		if (desc & DESC_AP_RDONLY)
			rights &= ~(SMMU_PERM_USER_WRITE | SMMU_PERM_PRIV_WRITE);
		stop(j, level, 0);
		j->w->pa = pa;
		j->w->perm = rights;
		j->w->global = !(desc & DESC_NG);
	}
}

static void visit(const struct journey *j, unsigned int level, uint64_t table,
		  uint8_t rights)
{
	uint64_t index = j->a->va >> smmu_level_shift(level) & 0x1ff;
	uint64_t desc = 0;

	if (too_far(j, table)) {
		stop(j, level ? level - 1 : 0, SMMU_CB_FSR_ASF);
		return;
	}
	j->w->reads++;
	j->s->stats.walk_reads++;
	if (j->s->env.read64(j->s->env.ctx, table + 8 * index, &desc)) {
		j->w->aborted = true;
		stop(j, level, SMMU_CB_FSR_EF);
		return;
	}
	smmu_emit(j->s, EV_SMMU_LEVEL, j->a, j->a->cause, level, table, index,
		  desc);
	if (!(desc & DESC_VALID) || (!(desc & DESC_TABLE) && level % 3 == 0)) {
		stop(j, level, SMMU_CB_FSR_TF);
	} else if (!(desc & DESC_TABLE) || level == 3) {
		arrive(j, level, desc, rights);
	} else {
		if (desc & DESC_APT_NOUSER)
			rights &= ~(SMMU_PERM_USER_READ | SMMU_PERM_USER_WRITE);
		if (desc & DESC_APT_RDONLY)
			rights &= ~(SMMU_PERM_USER_WRITE | SMMU_PERM_PRIV_WRITE);
		visit(j, level + 1, desc & DESC_ADDR, rights);
	}
}

void smmu_walk(struct smmu *s, unsigned int n, const struct smmu_access *a,
	       struct smmu_walk *w)
{
	const struct smmu_bank *b = &s->bank[n];
	struct journey j = { s, b, a, w };
	unsigned int level = 0, bits;

	*w = (struct smmu_walk){ 0 };
	s->stats.walks++;
	if (!b->walks || !b->va_bits || a->va >> b->va_bits) {
		stop(&j, 0, SMMU_CB_FSR_TF);
		return;
	}
	while (smmu_level_shift(level) >= b->va_bits)
		level++;
	/* A table of 2^n entries has 2^(n + 3) bytes. */
	bits = b->va_bits - smmu_level_shift(level) + 3;
	if (bits < 6)
		bits = 6;
	if (too_far(&j, b->table >> bits << bits))
		stop(&j, 0, SMMU_CB_FSR_ASF);
	else
		visit(&j, level, b->table >> bits << bits, 15);
}
