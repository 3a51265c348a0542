// SPDX-License-Identifier: BSD-2-Clause
/* The register window of the NIC, from regs.def. */
#include "map.h"

static const struct map_row rows[] = {
#define NREG(page, name, offset, width, access, reset, text)		      \
	{ MAP_REG, #page, #name, 0, offset, 0, 0, width, #access, reset, text },
#define NARR(page, name, offset, stride, count, width, access, reset, text)   \
	{ MAP_REG, #page, #name, 0, offset, stride, count, width, #access,    \
	  reset, text },
#define NFLD(page, name, field, lsb, width, text)			      \
	{ MAP_FIELD, #page, #name, #field, lsb, 0, 0, width, 0, 0, text },
#include "faultline/regs.def"
};

static const struct map_page pages[] = {
#define NPAGE(page, base, size, count, text)				      \
	{ #page, base, size, size, (count) > 1 ? (count) : 0, text },
#include "faultline/regs.def"
};

void gen_regs(void)
{
	static const struct map map = {
		.source = "kernel-ref/include/faultline/regs.def",
		.file = "regs",
		.prefix = "NIC_",
		.title = "NIC",
		.page = pages,
		.pages = sizeof(pages) / sizeof(pages[0]),
		.row = rows,
		.rows = sizeof(rows) / sizeof(rows[0]),
	};

	map_write(&map);
}
