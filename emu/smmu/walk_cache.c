// SPDX-License-Identifier: BSD-2-Clause
/*
 * The walk cache: where the tables below the first one are, so that a walk may
 * begin at a lower level (Arm DDI 0517, "Page table walk cache"). It is direct
 * mapped, and off unless the board asks for entries, since a walk then shows
 * fewer of its levels.
 *
 * An entry belongs to a VMID and an ASID, and stands for one table descriptor of
 * a level above the last. So it goes with TLBIVA, which drops all levels of an
 * address, and stays with TLBIVAL, which drops the last one (Arm ARM, DDI 0487,
 * TLBI VAE1 and VALE1): software that has freed a table must say so by the first.
 */
#include "smmu_internal.h"

#include "faultline/pte.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX	(UINT32_C(1) << 16)

bool smmu_walk_cache_create(struct smmu_walk_cache *c, uint32_t entries)
{
	uint32_t size = 1;

	if (!entries)
		return true;
	while (size < entries && size < ENTRIES_MAX)
		size *= 2;
	c->entry = calloc(size, sizeof(*c->entry));
	c->entries = size;
	return c->entry;
}

void smmu_walk_cache_destroy(struct smmu_walk_cache *c)
{
	free(c->entry);
}

/* The address bits that a table of this level has in common. */
static uint64_t prefix_of(uint64_t va, unsigned int level)
{
	return va >> smmu_level_shift(level - 1);
}

static struct smmu_walk_entry *place_of(const struct smmu_walk_cache *c,
					uint64_t va, unsigned int level,
					uint8_t vmid, uint16_t asid)
{
	uint64_t at = prefix_of(va, level) + level * UINT64_C(5) +
		      asid * UINT64_C(37) + vmid * UINT64_C(11);

	return &c->entry[at & (c->entries - 1)];
}

static bool is_for(const struct smmu_walk_entry *e, uint64_t va, uint8_t vmid,
		   uint16_t asid)
{
	return e->level && e->prefix == prefix_of(va, e->level) &&
	       e->vmid == vmid && e->asid == asid;
}

const struct smmu_walk_entry *
smmu_walk_cache_find(const struct smmu_walk_cache *c, uint64_t va,
		     unsigned int first, uint8_t vmid, uint16_t asid)
{
	const struct smmu_walk_entry *e;
	unsigned int level;

	for (level = 3; level > first; level--) {
		e = place_of(c, va, level, vmid, asid);
		if (e->level == level && is_for(e, va, vmid, asid))
			return e;
	}
	return NULL;
}

void smmu_walk_cache_fill(struct smmu_walk_cache *c, uint64_t va, uint8_t vmid,
			  uint16_t asid, struct smmu_walk_entry e)
{
	e.prefix = prefix_of(va, e.level);
	e.vmid = vmid;
	e.asid = asid;
	*place_of(c, va, e.level, vmid, asid) = e;
}

void smmu_walk_cache_drop(struct smmu_walk_cache *c, const uint64_t *va,
			  const uint8_t *vmid, const uint16_t *asid)
{
	uint32_t i;

	for (i = 0; i < c->entries; i++) {
		struct smmu_walk_entry *e = &c->entry[i];

		if (e->level && (!va || e->prefix == prefix_of(*va, e->level)) &&
		    (!vmid || e->vmid == *vmid) && (!asid || e->asid == *asid))
			e->level = 0;
	}
}

void smmu_walk_leave(struct smmu *s, unsigned int n, const struct smmu_access *a,
		     const struct smmu_walk *w)
{
	const struct smmu_bank *b = &s->bank[n];
	struct smmu_walk_entry below = { .taken = w->taken };
	unsigned int level;

	s->stats.walks++;
	if (!s->walk_cache.entries)
		return;
	for (level = w->first; level + 1u < w->first + w->reads; level++) {
		below.level = (uint8_t)(level + 1);
		below.table = w->seen[level].desc & PTE_ADDR;
		below.taken |= w->seen[level].desc &
			       (PTE_TABLE_NOUSER | PTE_TABLE_RDONLY);
		smmu_walk_cache_fill(&s->walk_cache, smmu_untag(a->va), b->vmid,
				     b->asid, below);
	}
}
