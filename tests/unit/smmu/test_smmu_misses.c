// SPDX-License-Identifier: BSD-2-Clause
/* How many pages in a row the TLB has not, against a look for each of them. */
#include "rig/smmu.h"
#include "smmu/smmu_internal.h"

#define ENTRIES	64u
#define SPAN	96u	/* pages, more than there are sets */
#define BASE	UINT64_C(0x7f1234560)

static uint64_t misses_state;

static uint32_t misses_draw(uint32_t n)
{
	misses_state = misses_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(misses_state >> 33) % n;
}

static void misses_fill(struct smmu_tlb *t, uint64_t va, uint16_t asid, uint8_t level, bool global)
{
	const struct smmu_walk w = { .pa = va, .level = level, .global = global,
				     .perm = 1 };

	if (!smmu_tlb_lookup(t, va, 0, asid))
		smmu_tlb_fill(t, va, 0, asid, &w, 0);
}

/* Returns how many pages it said. */
static uint32_t misses_expect(const struct smmu_tlb *t, uint64_t va, uint32_t pages,
			      uint16_t asid, bool exact)
{
	uint32_t n = smmu_tlb_misses(t, va, pages, 0, asid), i;

	EXPECT_LE(n, pages);
	for (i = 0; i < n; i++)
		EXPECT(!smmu_tlb_lookup(t, va + i * UINT64_C(4096), 0, asid));
	if (exact && n < pages)
		EXPECT(smmu_tlb_lookup(t, va + n * UINT64_C(4096), 0, asid));
	return n;
}

TEST("pages in a row that the TLB has not: as a look for each of them says")
{
	struct smmu_tlb t = { 0 };
	unsigned int round, i;
	uint32_t some = 0;
	uint64_t va;

	for (round = 0; round < 400; round++) {
		EXPECT(smmu_tlb_create(&t, ENTRIES));
		misses_state = round;
		for (i = misses_draw(3 * ENTRIES); i; i--)
			misses_fill(&t, (BASE + misses_draw(SPAN)) << 12,
				    (uint16_t)(1 + misses_draw(2)), 3, false);
		for (i = 0; i < 20; i++) {
			va = (BASE + misses_draw(SPAN)) << 12;
			some += misses_expect(&t, va + misses_draw(4096),
					      1 + misses_draw(SMMU_RUN_PAGES),
					      (uint16_t)(1 + misses_draw(3)), true);
		}
		smmu_tlb_destroy(&t);
	}
	EXPECT(some > 1000);
}

TEST("where there are global entries or blocks, it leaves the look to others")
{
	static const struct {
		uint8_t level;
		bool global;
	} kind[] = { { 3, true }, { 2, false }, { 2, true }, { 1, false }, { 1, true } };
	struct smmu_tlb t = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		EXPECT(smmu_tlb_create(&t, ENTRIES));
		EXPECT_EQ(misses_expect(&t, BASE << 12, 17, 1, true), 17);
		misses_fill(&t, (BASE + 5) << 12, 1, kind[i].level, kind[i].global);
		misses_expect(&t, BASE << 12, 17, 1, false);
		EXPECT_EQ(smmu_tlb_misses(&t, BASE << 12, 17, 0, 1), 0);
		smmu_tlb_drop_all(&t);
		EXPECT_EQ(misses_expect(&t, BASE << 12, 17, 1, true), 17);
		smmu_tlb_destroy(&t);
	}
}

TEST("addresses that no walk translates are left to others, too")
{
	struct smmu_tlb t = { 0 };

	EXPECT(smmu_tlb_create(&t, ENTRIES));
	EXPECT_EQ(smmu_tlb_misses(&t, (UINT64_C(1) << 48) - 16 * 4096, 16, 0, 1), 0);
	EXPECT_EQ(smmu_tlb_misses(&t, (UINT64_C(1) << 48) - 17 * 4096, 16, 0, 1), 16);
	EXPECT_EQ(smmu_tlb_misses(&t, UINT64_C(1) << 48, 1, 0, 1), 0);
	EXPECT_EQ(smmu_tlb_misses(&t, -UINT64_C(4096), 1, 0, 1), 0);
	smmu_tlb_destroy(&t);
}
