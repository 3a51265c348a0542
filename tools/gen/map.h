/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * map.h - a register map, as both smmu.def and regs.def describe one.
 *
 * The table is checked before a line is written: registers aligned, inside
 * their page and apart from each other; fields inside their register and apart
 * from each other; reset values that fit.
 */
#ifndef FL_GEN_MAP_H
#define FL_GEN_MAP_H

#include "gen.h"

enum map_kind { MAP_REG, MAP_FIELD };

struct map_row {
	enum map_kind kind;
	const char *page, *name;
	const char *field;		/* MAP_FIELD */
	uint32_t offset;		/* bytes in the page; MAP_FIELD: lsb */
	uint32_t stride, count;		/* count 0: not an array */
	uint32_t width;			/* bits */
	const char *access;
	uint64_t reset;
	const char *text;
};

/* A page: where it lies in the device's window, and how many there are. */
struct map_page {
	const char *name;
	uint32_t base, size;
	uint32_t stride, count;		/* count 0: one page */
	const char *text;
};

struct map {
	const char *source;		/* path of the .def, from the root */
	const char *file;		/* name of the files to write */
	const char *prefix;		/* of every name, with its '_' */
	const char *title;
	const struct map_page *page;
	size_t pages;
	const struct map_row *row;
	size_t rows;
	bool no_verilog;		/* none of it is in programmable logic */
};

void map_write(const struct map *m);

#endif
