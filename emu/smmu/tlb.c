// SPDX-License-Identifier: BSD-2-Clause
/*
 * The TLB: set-associative, four ways, pages of 4 KB, 2 MB and 1 GB together.
 *
 * An entry belongs to a VMID and an ASID, not to a context bank: two banks with
 * the same ASID share translations, as on the hardware. A global entry (nG = 0)
 * leaves the ASID out. Only translations are kept, never the lack of one, so a
 * new mapping needs no invalidation (sources: smmu-tlb); an entry that refused a
 * write is kept too, so that a permission upgrade does (3.5, trap 1).
 */
#include "smmu_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The key: page number 35:0, level 37:36, valid 38, VMID 47:40, ASID 63:48. */
#define KEY_LEVEL_SHIFT	36
#define KEY_VALID	(UINT64_C(1) << 38)
#define KEY_VMID_SHIFT	40
#define KEY_VMID_MASK	(UINT64_C(0xff) << KEY_VMID_SHIFT)
#define KEY_ASID_SHIFT	48
#define KEY_ASID_MASK	(UINT64_C(0xffff) << KEY_ASID_SHIFT)

static uint64_t tlb_key(uint64_t va, unsigned int level, uint8_t vmid,
			uint16_t asid)
{
	return va >> smmu_level_shift(level) |
	       (uint64_t)level << KEY_LEVEL_SHIFT | KEY_VALID |
	       (uint64_t)vmid << KEY_VMID_SHIFT |
	       (uint64_t)asid << KEY_ASID_SHIFT;
}

/*
 * Neighbouring pages go to neighbouring sets; processes that use the same
 * addresses are set apart by their ASID, which a global entry does not have.
 */
static struct smmu_tlb_entry *set_of(const struct smmu_tlb *t, uint64_t va,
				     unsigned int level, uint16_t asid)
{
	uint64_t at = (va >> smmu_level_shift(level)) + asid * UINT64_C(37) +
		      level * UINT64_C(11);

	return &t->entry[(at & (t->sets - 1)) * SMMU_TLB_WAYS];
}

static struct smmu_tlb_entry *tlb_find(struct smmu_tlb_entry *set, uint64_t key)
{
	const struct smmu_tlb_entry *end = set + SMMU_TLB_WAYS;
	struct smmu_tlb_entry *e;

	for (e = set; e < end; e++)
		if (!((e->key ^ key) & e->mask) && e->key)
			return e;
	return NULL;
}

static bool is_global(const struct smmu_tlb_entry *e)
{
	return !(e->mask & KEY_ASID_MASK);
}

static void tlb_drop(struct smmu_tlb *t, struct smmu_tlb_entry *e)
{
	assert(t->count[e->level][is_global(e)]);
	t->count[e->level][is_global(e)]--;
	e->key = 0;
}

bool smmu_tlb_create(struct smmu_tlb *t, uint32_t entries)
{
	uint32_t size = SMMU_TLB_WAYS;

	while (size < entries && size < UINT32_C(1) << 20)
		size *= 2;
	t->sets = size / SMMU_TLB_WAYS;
	t->entry = calloc(size, sizeof(*t->entry));
	t->victim = calloc(t->sets, sizeof(*t->victim));
	if (t->entry && t->victim)
		return true;
	smmu_tlb_destroy(t);
	return false;
}

void smmu_tlb_destroy(struct smmu_tlb *t)
{
	free(t->entry);
	free(t->victim);
	t->entry = NULL;
	t->victim = NULL;
}

const struct smmu_tlb_entry *smmu_tlb_lookup(const struct smmu_tlb *t,
					     uint64_t va, uint8_t vmid,
					     uint16_t asid)
{
	/* tag::walk-8[] */
	const struct smmu_tlb_entry *e;
	unsigned int level;

	/* The key has no room for what no walk translates. */
	if (va >> 48)
		return NULL;
	for (level = 3; level >= 1; level--) {
		uint64_t key = tlb_key(va, level, vmid, asid);

		if (t->count[level][0]) {
			e = tlb_find(set_of(t, va, level, asid), key);
			if (e)
				return e;
		}
		if (t->count[level][1]) {
			e = tlb_find(set_of(t, va, level, 0), key);
			if (e)
				return e;
		}
	}
	return NULL;
	/* end::walk-8[] */
}

uint32_t smmu_tlb_misses(const struct smmu_tlb *t, uint64_t va, uint32_t pages,
			 uint8_t vmid, uint16_t asid)
{
	const struct smmu_tlb_entry *e = set_of(t, va, 3, asid);
	const struct smmu_tlb_entry *end = t->entry + t->sets * SMMU_TLB_WAYS;
	uint64_t key = tlb_key(va, 3, vmid, asid);
	uint32_t i;

	static_assert(SMMU_TLB_WAYS == 4, "all of a set");
	if (va >> 48 || (va + ((uint64_t)pages << 12)) >> 48 || t->count[3][1] || t->count[2][0] ||
	    t->count[2][1] || t->count[1][0] || t->count[1][1])
		return 0;
	/* The next page has the next number and the next set. No entry is global: no masks. */
	for (i = 0; i < pages; i++, key++) {
		if ((e[0].key == key) | (e[1].key == key) | (e[2].key == key) | (e[3].key == key))
			break;
		e += SMMU_TLB_WAYS;
		if (e == end)
			e = t->entry;
	}
	return i;
}

const struct smmu_tlb_entry *smmu_tlb_fill(struct smmu_tlb *t, uint64_t va,
					   uint8_t vmid, uint16_t asid,
					   const struct smmu_walk *w,
					   uint64_t tag)
{
	uint64_t size_bytes = UINT64_C(1) << smmu_level_shift(w->level);
	struct smmu_tlb_entry *e = NULL;

	assert(!w->fault && w->level >= 1 && w->level <= 3 && !(va >> 48));
	/* tag::walk-7[] */
	struct smmu_tlb_entry *set;
	unsigned int i;

	if (w->global)
		asid = 0;
	set = set_of(t, va, w->level, asid);
	for (i = 0; i < SMMU_TLB_WAYS && !e; i++)
		if (!set[i].key)
			e = &set[i];
	if (!e) {
		uint8_t *way = &t->victim[(set - t->entry) / SMMU_TLB_WAYS];

		e = &set[*way];
		*way = (*way + 1) % SMMU_TLB_WAYS;
		tlb_drop(t, e);
	}
	e->key = tlb_key(va, w->level, vmid, asid);
	e->mask = w->global ? ~KEY_ASID_MASK : ~UINT64_C(0);
	t->count[w->level][w->global]++;
	/* end::walk-7[] */
	e->pa = w->pa & ~(size_bytes - 1);
	e->tag = tag;
	e->perm = w->perm;
	e->level = w->level;
	return e;
}

static inline void drop_size(struct smmu_tlb *t, unsigned int level, uint64_t va, uint8_t vmid,
			     uint16_t asid)
{
	struct smmu_tlb_entry *e;
	uint64_t key;

	if (!(t->count[level][0] | t->count[level][1]))
		return;
	key = tlb_key(va, level, vmid, asid);
	while (t->count[level][0] && (e = tlb_find(set_of(t, va, level, asid), key)))
		tlb_drop(t, e);
	while (t->count[level][1] && (e = tlb_find(set_of(t, va, level, 0), key)))
		tlb_drop(t, e);
}

/* Arm ARM (DDI 0487) D8, TLBI VA: also global entries, whatever the ASID. */
void smmu_tlb_drop_va(struct smmu_tlb *t, uint64_t va, uint8_t vmid,
		      uint16_t asid)
{
	if (va >> 48)
		return;
	drop_size(t, 1, va, vmid, asid);
	drop_size(t, 2, va, vmid, asid);
	drop_size(t, 3, va, vmid, asid);
}

void smmu_tlb_drop_va_any(struct smmu_tlb *t, uint64_t va, uint8_t vmid)
{
	uint32_t i;

	if (va >> 48)
		return;
	for (i = 0; i < t->sets * SMMU_TLB_WAYS; i++) {
		struct smmu_tlb_entry *e = &t->entry[i];
		uint64_t key;

		if (!e->key)
			continue;
		key = tlb_key(va, e->level, vmid, 0);
		if (!((e->key ^ key) & ~KEY_ASID_MASK))
			tlb_drop(t, e);
	}
}

/* Arm ARM (DDI 0487) D8, TLBI ASID: global entries stay. */
void smmu_tlb_drop_asid(struct smmu_tlb *t, uint8_t vmid, uint16_t asid)
{
	uint64_t want = (uint64_t)vmid << KEY_VMID_SHIFT |
			(uint64_t)asid << KEY_ASID_SHIFT;
	uint32_t i;

	for (i = 0; i < t->sets * SMMU_TLB_WAYS; i++) {
		struct smmu_tlb_entry *e = &t->entry[i];

		if (e->key && !is_global(e) &&
		    !((e->key ^ want) & (KEY_VMID_MASK | KEY_ASID_MASK)))
			tlb_drop(t, e);
	}
}

void smmu_tlb_drop_vmid(struct smmu_tlb *t, uint8_t vmid)
{
	uint64_t want = (uint64_t)vmid << KEY_VMID_SHIFT;
	uint32_t i;

	for (i = 0; i < t->sets * SMMU_TLB_WAYS; i++)
		if (t->entry[i].key &&
		    !((t->entry[i].key ^ want) & KEY_VMID_MASK))
			tlb_drop(t, &t->entry[i]);
}

void smmu_tlb_drop_all(struct smmu_tlb *t)
{
	memset(t->entry, 0, t->sets * SMMU_TLB_WAYS * sizeof(*t->entry));
	memset(t->count, 0, sizeof(t->count));
}
