// SPDX-License-Identifier: BSD-2-Clause
/* The register map of the processing system's DMA engine, from psdma.def. */
#include "map.h"

static const struct map_row rows[] = {
#define PREG(page, name, offset, width, access, reset, text)		      \
	{ MAP_REG, #page, #name, 0, offset, 0, 0, width, #access, reset, text },
#define PFLD(page, name, field, lsb, width, text)			      \
	{ MAP_FIELD, #page, #name, #field, lsb, 0, 0, width, 0, 0, text },
#include "faultline/psdma.def"
};

static const struct map_page pages[] = {
	{ "CH", 0x0, 0x1000, 0, 0, "the channel" },
};

void gen_psdma_regs(void)
{
	static const struct map map = {
		.source = "kernel-ref/include/faultline/psdma.def",
		.file = "psdma_regs",
		.prefix = "PSDMA_",
		.title = "DMA engine of the processing system",
		.page = pages,
		.pages = sizeof(pages) / sizeof(pages[0]),
		.row = rows,
		.rows = sizeof(rows) / sizeof(rows[0]),
		.no_verilog = true,
	};

	map_write(&map);
}
