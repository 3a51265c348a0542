// SPDX-License-Identifier: BSD-2-Clause
/*
 * The registers of the silicon: reset values and read-only bits, from
 * tests/data/smmu-silicon.txt, and whether the ID registers tell the truth. No
 * number here comes from smmu.def.
 */
#include "rig/smmu.h"

#include <stdio.h>

#define MAX_LINES	64
#define VA		UINT64_C(0x5000)
#define PA		UINT64_C(0x40000000)

struct silicon {
	uint32_t off, count, stride, reset, fixed, model;
	bool differs;
	char name[24];
};

static struct silicon table[MAX_LINES];
static unsigned int lines;

static void silicon_parse(const char *line)
{
	struct silicon *t = &table[lines];
	char model[16];

	if (line[0] == '#' || line[0] == '\n')
		return;
	EXPECT(lines < MAX_LINES);
	EXPECT_EQ(sscanf(line, "%x %u %i %x %x %15s %23s", &t->off, &t->count,
			 (int *)&t->stride, &t->reset, &t->fixed, model,
			 t->name), 7);
	t->differs = strcmp(model, "=") != 0;
	t->model = t->differs ? (uint32_t)strtoul(model, NULL, 0) : t->reset;
	lines++;
}

static void silicon_load(void)
{
	char path[512], line[256], *slash;
	FILE *f;

	EXPECT(strlen(__FILE__) < sizeof(path) - 32);
	strcpy(path, __FILE__);
	slash = strrchr(path, '/');
	strcpy(slash ? slash : path, slash ? "/../../data/smmu-silicon.txt" :
					     "../../data/smmu-silicon.txt");
	STEP("read %s", path);
	f = fopen(path, "r");
	EXPECT(f);
	lines = 0;
	while (fgets(line, sizeof(line), f))
		silicon_parse(line);
	fclose(f);
	EXPECT(lines >= 20);
}

static uint32_t silicon_at(const struct silicon *t, unsigned int i)
{
	return t->off + i * t->stride;
}

TEST("after reset every register holds what the silicon holds")
{
	struct rig *r = rig_new(0, 0, 0);
	const struct silicon *t;
	unsigned int i;

	silicon_load();
	for (t = table; t < table + lines; t++)
		for (i = 0; i < t->count; i++)
			test_expect(rig_rd(r, silicon_at(t, i)) == t->model,
				    __FILE__,
				    __LINE__, "%s %u is 0x%x, reads 0x%x",
				    t->name, i, t->model,
				    rig_rd(r, silicon_at(t, i)));
}

TEST("no write changes a bit that the silicon has as read-only")
{
	static const uint32_t value[] = { UINT32_MAX, 0, 0xaaaaaaaa };
	struct rig *r = rig_new(0, 0, 0);
	const struct silicon *t;
	unsigned int i, v;

	silicon_load();
	for (t = table; t < table + lines; t++)
		for (i = 0; i < t->count; i++)
			for (v = 0; v < 3; v++) {
				rig_wr(r, silicon_at(t, i), value[v]);
				test_expect(!((rig_rd(r,
						      silicon_at(t, i)) ^ t->model) &
					      t->fixed), __FILE__, __LINE__,
					    "%s %u keeps 0x%x under 0x%x, reads 0x%x",
					    t->name, i, t->model & t->fixed,
					    t->fixed, rig_rd(r,
							     silicon_at(t, i)));
			}
}

TEST("only ID0, ID1 and ID2 differ from the silicon, and all they do is claim less")
{
	const struct silicon *t;
	unsigned int n = 0;

	silicon_load();
	for (t = table; t < table + lines; t++) {
		if (!t->differs)
			continue;
		EXPECT(t->off == 0x20 || t->off == 0x24 || t->off == 0x28);
		/* IHI 0062, IDR0.PTFS: 0 is both AArch32 formats, 2 is none */
		EXPECT_EQ(t->model & ~t->reset, t->off == 0x20 ? 2u << 24 : 0);
		n++;
	}
	EXPECT_EQ(n, 3);
}

/* One access of the stream of bank 0, and what the registers say of it. */
static void silicon_refused(struct rig *r, const char *what, uint32_t gfsr,
			    uint32_t fsr)
{
	STEP("%s", what);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT(r->irq);
	EXPECT_EQ(rig_rd(r, 0x48), gfsr);
	EXPECT_EQ(rig_rd(r, 0x10058) & 0x1fe, fsr);
	rig_wr(r, 0x48, UINT32_MAX);
	rig_wr(r, 0x10058, UINT32_MAX);
	EXPECT(!r->irq);
}

static struct rig *silicon_mapped(void)
{
	struct rig *r = rig_one(SCTLR_ON | HUPCF);

	rig_map(r, 0, VA, PA, 3, D_RW);
	return r;
}

TEST("what the ID registers do not claim is refused, with a fault that says so")
{
	struct rig *r = silicon_mapped();
	uint32_t id0 = rig_rd(r, 0x20), id2 = rig_rd(r, 0x28);

	EXPECT_EQ(id0 >> 28 & 3, 0);	/* S2TS, NTS */
	rig_wr(r, 0x1000, 0);
	silicon_refused(r, "CBAR.TYPE 0, a stage-2 bank: ICF", 1, 0);
	rig_wr(r, 0x1000, 2 << 16);
	silicon_refused(r, "CBAR.TYPE 2, stage-2 fault: ICF", 1, 0);
	rig_wr(r, 0x1000, 3 << 16);
	silicon_refused(r, "CBAR.TYPE 3, nested: ICF", 1, 0);
	rig_wr(r, 0x1000, 1 << 16);

	EXPECT_EQ(id0 >> 24 & 3, 2);	/* PTFS: no AArch32 */
	rig_wr(r, 0x1800, 0);
	silicon_refused(r, "CBA2R.VA64 0, AArch32 tables: TF", 0, 2);
	rig_wr(r, 0x1800, 1);

	EXPECT_EQ(id2 >> 12 & 7, 1);	/* the granule of 4 KB alone */
	rig_wr(r, 0x10030, 16 | 1 << 14);
	silicon_refused(r, "TCR.TG0 1, 64 KB: TF", 0, 2);
	rig_wr(r, 0x10030, 16 | 2 << 14);
	silicon_refused(r, "TCR.TG0 2, 16 KB: TF", 0, 2);
	rig_wr(r, 0x10030, 16);
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);

	EXPECT_EQ(id0 >> 26 & 1, 1);	/* ATOSNS: no ATS1PR */
	rig_wr64(r, 0x10800, VA);
	EXPECT_EQ(rig_rd(r, 0x108f0), 0);
	EXPECT_EQ(rig_rd64(r, 0x10050), 0);
}

TEST("what the ID registers claim is there: groups, ID bits, banks, sizes, stage 1")
{
	struct rig *r = silicon_mapped();
	uint32_t id0 = rig_rd(r, 0x20), id1 = rig_rd(r, 0x24),
		id2 = rig_rd(r, 0x28);
	uint32_t groups = id0 & 0xff, banks = id1 & 0xff, i;

	EXPECT_EQ(id0 >> 30 & 1, 1);	/* S1TS */
	EXPECT_EQ(id0 >> 27 & 1, 1);	/* SMS */
	EXPECT_EQ(rig_read(r, VA), SMMU_OK);
	EXPECT_EQ(r->a.pa, PA);
	STEP("every group, with the highest stream ID there is");
	EXPECT_EQ(id0 >> 9 & 15, 15);
	for (i = 0; i < groups; i++) {
		rig_wr(r, 0x800 + 4 * i, 0);
		rig_wr(r, 0xc00 + 4 * i, 0);
	}
	for (i = 0; i < groups; i++) {
		rig_wr(r, 0x800 + 4 * i, UINT32_C(0x80007fff));
		r->a.stream = 0x7fff;
		r->a.va = VA;
		EXPECT_EQ(smmu_translate(r->s, &r->a), SMMU_OK);
		EXPECT_EQ(r->a.pa, PA);
		rig_wr(r, 0x800 + 4 * i, 0);
	}
	rig_wr(r, 0x800 + 4 * groups, UINT32_C(0x80007fff));
	EXPECT_EQ(smmu_translate(r->s, &r->a), SMMU_FAULT);
	STEP("%u register pages of %u bytes, then %u banks", 2 << (id1 >> 28 & 7),
	     4096, banks);
	EXPECT_EQ(id1 >> 31, 0);
	EXPECT_EQ(2u << (id1 >> 28 & 7), 16);
	EXPECT_EQ(rig_rd(r, 0x10000 + (banks - 1) * 0x1000), 0x100);
	STEP("48 bits of output address, and none more");
	EXPECT_EQ(id2 >> 4 & 15, 5);
	rig_map(r, 0, VA + 4096, UINT64_C(0xfffffffff000), 3, D_RW);
	rig_wr(r, 0x800, RIG_STREAM | UINT32_C(0x80000000));
	EXPECT_EQ(rig_read(r, VA + 4096), SMMU_OK);
	EXPECT_EQ(r->a.pa, UINT64_C(0xfffffffff000));
}

TEST("a group whose SMR is set before its S2CR is caught: the stream faults")
{
	struct rig *r = rig_new(0, 0, 0);

	rig_wr(r, 0x800, RIG_STREAM | UINT32_C(0x80000000));
	rig_wr(r, 0x000, 1 << 1 | 1 << 2 | 1 << 10);
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_rd(r, 0x48), 1);
	EXPECT(r->irq);
}

TEST("a bank whose CBAR nobody has set is caught: an invalid context fault")
{
	struct rig *r = silicon_mapped();

	rig_wr(r, 0xc00, 5);	/* bank 5 has registers as after reset */
	EXPECT_EQ(rig_read(r, VA), SMMU_FAULT);
	EXPECT_EQ(rig_rd(r, 0x48), 1);
}

TEST("who forgets ACR.CACHE_LOCK cannot turn the prefetcher off")
{
	struct rig *r = rig_new(0, 0, 0);

	rig_wr(r, 0x14004, 1);
	EXPECT_EQ(rig_rd(r, 0x14004), 3);
	rig_wr(r, 0x10, rig_rd(r, 0x10) & ~(UINT32_C(1) << 26));
	rig_wr(r, 0x14004, 1);
	EXPECT_EQ(rig_rd(r, 0x14004), 1);
}
