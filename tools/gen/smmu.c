// SPDX-License-Identifier: BSD-2-Clause
/* The register map of the SMMU, from smmu.def. */
#include "map.h"

static const struct map_row rows[] = {
#define SREG(page, name, offset, width, access, reset, text)		      \
	{ MAP_REG, #page, #name, 0, offset, 0, 0, width, #access, reset, text },
#define SARR(page, name, offset, stride, count, width, access, reset, text)   \
	{ MAP_REG, #page, #name, 0, offset, stride, count, width, #access,    \
	  reset, text },
#define SFLD(page, name, field, lsb, width, text)			      \
	{ MAP_FIELD, #page, #name, #field, lsb, 0, 0, width, 0, 0, text },
#include "faultline/smmu.def"
};

/*
 * ID1 of the SMMU-500 says 4 KB pages and 2^(NUMPAGENDXB + 1) = 16 global pages;
 * the context banks follow in the upper half. IHI 0062, chapter 9 (address map).
 */
static const struct map_page pages[] = {
	{ "GR0", 0x0, 0x1000, 0, 0, "global register space 0" },
	{ "GR1", 0x1000, 0x1000, 0, 0, "global register space 1" },
	{ "CB", 0x10000, 0x1000, 0x1000, 16, "context bank n" },
};

void gen_smmu_regs(void)
{
	static const struct map map = {
		.source = "kernel-ref/include/faultline/smmu.def",
		.file = "smmu_regs",
		.prefix = "SMMU_",
		.title = "SMMU-500",
		.page = pages,
		.pages = sizeof(pages) / sizeof(pages[0]),
		.row = rows,
		.rows = sizeof(rows) / sizeof(rows[0]),
	};

	map_write(&map);
}
