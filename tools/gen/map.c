// SPDX-License-Identifier: BSD-2-Clause
/* Register maps: the checks, and the C, Verilog and AsciiDoc writers. */
#include "map.h"

#include <inttypes.h>
#include <string.h>

static uint64_t map_ones(uint32_t width)
{
	return width == 64 ? ~0ull : (1ull << width) - 1;
}

static const struct map_page *map_find_page(const struct map *m,
					    const char *name)
{
	size_t i;

	for (i = 0; i < m->pages; i++)
		if (!strcmp(m->page[i].name, name))
			return &m->page[i];
	gen_bad(m->source, "page %s is not known", name);
}

/* The register that a field belongs to: fields follow their register. */
static const struct map_row *find_reg(const struct map *m, size_t i)
{
	const struct map_row *f = &m->row[i];

	while (i--) {
		if (m->row[i].kind != MAP_REG)
			continue;
		if (!strcmp(m->row[i].page, f->page) &&
		    !strcmp(m->row[i].name, f->name))
			return &m->row[i];
		break;
	}
	gen_bad(m->source, "field %s.%s.%s does not follow its register",
		f->page, f->name, f->field);
}

static uint32_t reg_end(const struct map_row *r)
{
	uint32_t last = r->count ? (r->count - 1) * r->stride : 0;

	return r->offset + last + r->width / 8;
}

static void check_reg(const struct map *m, size_t i)
{
	const struct map_row *r = &m->row[i], *o;
	size_t j;

	if (r->width != 32 && r->width != 64)
		gen_bad(m->source, "%s.%s: width %u is not 32 or 64", r->page,
			r->name, r->width);
	/* A 64-bit register is read whole or in halves: 4-byte places do. */
	if (r->offset % 4)
		gen_bad(m->source, "%s.%s: offset 0x%x is not a multiple of 4",
			r->page, r->name, r->offset);
	if (r->count && r->stride < r->width / 8)
		gen_bad(m->source, "%s.%s: elements overlap", r->page, r->name);
	if (reg_end(r) > map_find_page(m, r->page)->size)
		gen_bad(m->source, "%s.%s lies outside its page", r->page,
			r->name);
	if (r->reset & ~map_ones(r->width))
		gen_bad(m->source, "%s.%s: reset does not fit", r->page,
			r->name);
	for (j = 0; j < i; j++) {
		o = &m->row[j];
		if (o->kind != MAP_REG || strcmp(o->page, r->page))
			continue;
		if (!strcmp(o->name, r->name))
			gen_bad(m->source, "%s.%s is there twice", r->page,
				r->name);
		if (r->offset >= reg_end(o) || o->offset >= reg_end(r))
			continue;
		/* Arrays may interleave: each gap is the other's place. */
		if (r->count && o->count && r->stride == o->stride)
			continue;
		gen_bad(m->source, "%s.%s overlaps %s", r->page, r->name,
			o->name);
	}
}

static void check_field(const struct map *m, size_t i)
{
	const struct map_row *f = &m->row[i], *r = find_reg(m, i);
	uint64_t mask;
	size_t j;

	if (!f->width || f->offset + f->width > r->width)
		gen_bad(m->source, "%s.%s.%s lies outside its register",
			f->page, f->name, f->field);
	mask = map_ones(f->width) << f->offset;
	for (j = i; j-- && m->row[j].kind == MAP_FIELD;) {
		if (!strcmp(m->row[j].field, f->field))
			gen_bad(m->source, "%s.%s.%s is there twice", f->page,
				f->name, f->field);
		if (mask & (map_ones(m->row[j].width) << m->row[j].offset))
			gen_bad(m->source, "%s.%s.%s overlaps %s", f->page,
				f->name, f->field, m->row[j].field);
	}
}

static void map_row_name(char *buf, size_t n, const struct map *m,
			 const struct map_row *r, const char *tail)
{
	snprintf(buf, n, "%s%s_%s%s%s%s", m->prefix, r->page, r->name,
		 r->kind == MAP_FIELD ? "_" : "",
		 r->kind == MAP_FIELD ? r->field : "", tail);
}

/* Define one name; 64-bit values are ULL in C. */
static void define_value(FILE *f, enum gen_lang lang, const struct map *m,
			 const struct map_row *r, const char *tail,
			 uint32_t width, uint64_t value)
{
	char name[160];

	map_row_name(name, sizeof(name), m, r, tail);
	gen_define(f, lang, name);
	if (lang == GEN_VERILOG)
		fprintf(f, "%u'h%" PRIX64 "\n", width, value);
	else
		fprintf(f, "0x%0*" PRIX64 "%s\n", width == 12 ? 3 : 8, value,
			width == 64 ? "ULL" : "");
}

static void define_number(FILE *f, enum gen_lang lang, const struct map *m,
			  const struct map_row *r, const char *tail,
			  uint32_t value)
{
	char name[160];

	map_row_name(name, sizeof(name), m, r, tail);
	gen_define(f, lang, name);
	fprintf(f, "%u\n", value);
}

static void reg_code(FILE *f, enum gen_lang lang, const struct map *m,
		     const struct map_row *r)
{
	char name[160];

	fputc('\n', f);
	gen_comment(f, lang, r->text);
	if (r->count && lang == GEN_C) {
		map_row_name(name, sizeof(name), m, r, "(n)");
		gen_define(f, lang, name);
		fprintf(f, "(0x%03X + %u * (n))\n", r->offset, r->stride);
	} else {
		define_value(f, lang, m, r, "", 12, r->offset);
	}
	if (r->count) {
		define_number(f, lang, m, r, "_STRIDE", r->stride);
		define_number(f, lang, m, r, "_COUNT", r->count);
	}
	define_value(f, lang, m, r, "_RESET", r->width, r->reset);
}

static void map_field_code(FILE *f, enum gen_lang lang, const struct map *m,
			   size_t i)
{
	const struct map_row *r = &m->row[i];
	uint32_t width = find_reg(m, i)->width;
	uint64_t mask = map_ones(r->width) << r->offset;

	gen_comment(f, lang, r->text);
	if (lang == GEN_VERILOG) {
		define_number(f, lang, m, r, "_LSB", r->offset);
		define_number(f, lang, m, r, "_MSB", r->offset + r->width - 1);
		return;
	}
	define_number(f, lang, m, r, "_SHIFT", r->offset);
	define_value(f, lang, m, r, "_MASK", width, mask);
	if (r->width == 1)
		define_value(f, lang, m, r, "", width, mask);
}

static void page_code(FILE *f, enum gen_lang lang, const struct map *m,
		      const struct map_page *p)
{
	char name[160];

	fputc('\n', f);
	gen_comment(f, lang, p->text);
	snprintf(name, sizeof(name), "%s%s_BASE%s", m->prefix, p->name,
		 p->count && lang == GEN_C ? "(n)" : "");
	gen_define(f, lang, name);
	if (lang == GEN_VERILOG)
		fprintf(f, "32'h%X\n", p->base);
	else if (p->count)
		fprintf(f, "(0x%X + 0x%X * (n))\n", p->base, p->stride);
	else
		fprintf(f, "0x%X\n", p->base);
	if (!p->count)
		return;
	snprintf(name, sizeof(name), "%s%s_STRIDE", m->prefix, p->name);
	gen_define(f, lang, name);
	fprintf(f, lang == GEN_C ? "0x%X\n" : "32'h%X\n", p->stride);
	snprintf(name, sizeof(name), "%s%s_COUNT", m->prefix, p->name);
	gen_define(f, lang, name);
	fprintf(f, "%u\n", p->count);
}

static void map_write_code(const struct map *m, enum gen_lang lang)
{
	FILE *f = gen_open(lang, m->file, m->source);
	size_t i;

	for (i = 0; i < m->pages; i++)
		page_code(f, lang, m, &m->page[i]);
	for (i = 0; i < m->rows; i++) {
		if (m->row[i].kind == MAP_REG)
			reg_code(f, lang, m, &m->row[i]);
		else
			map_field_code(f, lang, m, i);
	}
	gen_close(f, lang);
}

static void reg_book(FILE *f, const struct map_row *r)
{
	if (r->count)
		fprintf(f, "\n|0x%03X + %u n\n|*%s*(n), n < %u\n", r->offset,
			r->stride, r->name, r->count);
	else
		fprintf(f, "\n|0x%03X\n|*%s*\n", r->offset, r->name);
	fprintf(f, "|%u\n|%s\n|0x%" PRIX64 "\n", r->width, r->access, r->reset);
	gen_cell(f, r->text);
}

static void field_book(FILE *f, const struct map_row *r)
{
	if (r->width == 1)
		fprintf(f, "\n|{nbsp}{nbsp}%u\n", r->offset);
	else
		fprintf(f, "\n|{nbsp}{nbsp}%u:%u\n", r->offset + r->width - 1,
			r->offset);
	fprintf(f, "|{nbsp}{nbsp}%s\n|%u\n|\n|\n", r->field, r->width);
	gen_cell(f, r->text);
}

static void map_write_book(const struct map *m)
{
	FILE *f = gen_open(GEN_BOOK, m->file, m->source);
	const struct map_page *p;
	size_t i;

	for (p = m->page; p < m->page + m->pages; p++) {
		fprintf(f, "\n.%s: %s (%s)\n", m->title, p->text, p->name);
		fputs("[cols=\"4,5,2,2,4,11\",options=\"header\"]\n|===\n"
		      "|Offset, bits |Name |Width |Access |Reset |Meaning\n",
		      f);
		for (i = 0; i < m->rows; i++) {
			if (strcmp(m->row[i].page, p->name))
				continue;
			if (m->row[i].kind == MAP_REG)
				reg_book(f, &m->row[i]);
			else
				field_book(f, &m->row[i]);
		}
		fputs("|===\n", f);
	}
	gen_close(f, GEN_BOOK);
}

void map_write(const struct map *m)
{
	size_t i;

	for (i = 0; i < m->rows; i++) {
		if (m->row[i].kind == MAP_REG)
			check_reg(m, i);
		else
			check_field(m, i);
	}
	map_write_code(m, GEN_C);
	if (!m->no_verilog)
		map_write_code(m, GEN_VERILOG);
	map_write_book(m);
}
