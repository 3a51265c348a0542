// SPDX-License-Identifier: BSD-2-Clause
/* Entries in shared memory and their numbers, from entries.def. */
#include "gen.h"

#include <ctype.h>
#include <string.h>

enum kind { ENTRY_ROW, FIELD_ROW, ENUM_ROW };

struct row {
	enum kind kind;
	const char *owner;	/* struct, or group of an enum */
	const char *type, *name;
	int64_t value;		/* size, offset or value */
	const char *text;
};

static const struct row rows[] = {
#define ENTRY(name, size, text) { ENTRY_ROW, #name, 0, 0, size, text },
#define EFLD(name, type, member, offset, text)				      \
	{ FIELD_ROW, #name, #type, #member, offset, text },
#define EENUM(group, name, value, text)					      \
	{ ENUM_ROW, #group, 0, #name, value, text },
#include "faultline/entries.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char source[] = "kernel-ref/include/faultline/entries.def";

static int64_t type_bytes(const char *type)
{
	static const char *const types[] = { "__u8", "__u16", "__u32",
					     "__u64" };
	int i;

	for (i = 0; i < 4; i++)
		if (!strcmp(type, types[i]))
			return 1 << i;
	gen_bad(source, "type %s is not __u8, __u16, __u32 or __u64", type);
}

/* Fields follow their entry without holes, aligned, and fill it. */
static void check_entry(size_t i)
{
	const struct row *e = &rows[i], *f;
	int64_t end = 0;

	for (f = e + 1; f < rows + ROWS && f->kind == FIELD_ROW; f++) {
		if (strcmp(f->owner, e->owner))
			gen_bad(source, "%s.%s stands under %s", f->owner,
				f->name, e->owner);
		if (f->value != end)
			gen_bad(source, "%s.%s is at %d, the one before ends at %d",
				f->owner, f->name, (int)f->value, (int)end);
		if (f->value % type_bytes(f->type))
			gen_bad(source, "%s.%s is not aligned", f->owner,
				f->name);
		end += type_bytes(f->type);
	}
	if (end != e->value)
		gen_bad(source, "%s has %d bytes, its fields %d", e->owner,
			(int)e->value, (int)end);
}

static void check_enum(size_t i)
{
	size_t j;

	for (j = 0; j < i; j++) {
		if (rows[j].kind != ENUM_ROW ||
		    strcmp(rows[j].owner, rows[i].owner))
			continue;
		if (rows[j].value == rows[i].value)
			gen_bad(source, "%s: %s and %s have the same value",
				rows[i].owner, rows[j].name, rows[i].name);
		if (strcmp(rows[i - 1].owner, rows[i].owner))
			gen_bad(source, "group %s is not in a row",
				rows[i].owner);
	}
}

static void c_entry(FILE *f, size_t i)
{
	const struct row *e = &rows[i], *m;

	fprintf(f, "\n/* %s */\nstruct %s {\n", e->text, e->owner);
	for (m = e + 1; m < rows + ROWS && m->kind == FIELD_ROW; m++)
		fprintf(f, "\t%s %s;%*s/* %s */\n", m->type, m->name,
			(int)(22 - strlen(m->type) - strlen(m->name)), "",
			m->text);
	fputs("};\n", f);
	fprintf(f, "_Static_assert(sizeof(struct %s) == %d, \"entries.def\");\n",
		e->owner, (int)e->value);
	for (m = e + 1; m < rows + ROWS && m->kind == FIELD_ROW; m++)
		fprintf(f, "_Static_assert(__builtin_offsetof(struct %s, %s) "
			"== %d,\n\t       \"entries.def\");\n",
			m->owner, m->name, (int)m->value);
}

static void entries_c_enum(FILE *f, size_t i)
{
	const struct row *e;
	char name[96];

	fprintf(f, "\nenum fl_%s_code {\n", gen_lower(rows[i].owner));
	for (e = &rows[i]; e < rows + ROWS && e->kind == ENUM_ROW; e++) {
		if (strcmp(e->owner, rows[i].owner))
			break;
		snprintf(name, sizeof(name), "FL_%s_%s", e->owner, e->name);
		fprintf(f, "\t%s = %d,%*s/* %s */\n", name, (int)e->value,
			strlen(name) < 28 ? (int)(28 - strlen(name)) : 1, "",
			e->text);
	}
	fputs("};\n", f);
}

static bool first_of_group(size_t i)
{
	return rows[i].kind == ENUM_ROW &&
	       (!i || rows[i - 1].kind != ENUM_ROW ||
		strcmp(rows[i - 1].owner, rows[i].owner));
}

static void entries_write_c(void)
{
	FILE *f = gen_open(GEN_C, "entries", source);
	size_t i;

	fputs("\n#include \"faultline/types.h\"\n", f);
	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind == ENTRY_ROW)
			c_entry(f, i);
		else if (first_of_group(i))
			entries_c_enum(f, i);
	}
	gen_close(f, GEN_C);
}

static void v_name(char *buf, size_t n, const char *owner, const char *member,
		   const char *tail)
{
	size_t i;

	snprintf(buf, n, "%s_%s%s", owner, member, tail);
	for (i = 0; buf[i]; i++)
		buf[i] = (char)toupper((unsigned char)buf[i]);
}

/* Bits of a field in the entry as one little-endian number. */
static void v_row(FILE *f, const struct row *r)
{
	char name[96];

	switch (r->kind) {
	case ENTRY_ROW:
		fputc('\n', f);
		gen_comment(f, GEN_VERILOG, r->text);
		v_name(name, sizeof(name), r->owner, "BYTES", "");
		gen_define(f, GEN_VERILOG, name);
		fprintf(f, "%d\n", (int)r->value);
		break;
	case FIELD_ROW:
		gen_comment(f, GEN_VERILOG, r->text);
		v_name(name, sizeof(name), r->owner, r->name, "_LSB");
		gen_define(f, GEN_VERILOG, name);
		fprintf(f, "%d\n", (int)r->value * 8);
		v_name(name, sizeof(name), r->owner, r->name, "_MSB");
		gen_define(f, GEN_VERILOG, name);
		fprintf(f, "%d\n",
			(int)(r->value + type_bytes(r->type)) * 8 - 1);
		break;
	case ENUM_ROW:
		gen_comment(f, GEN_VERILOG, r->text);
		snprintf(name, sizeof(name), "FL_%s_%s", r->owner, r->name);
		gen_define(f, GEN_VERILOG, name);
		fprintf(f, "%d'd%d\n", r->value < 256 ? 8 : 32, (int)r->value);
		break;
	}
}

static void entries_write_verilog(void)
{
	FILE *f = gen_open(GEN_VERILOG, "entries", source);
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (first_of_group(i))
			fputc('\n', f);
		v_row(f, &rows[i]);
	}
	gen_close(f, GEN_VERILOG);
}

static void book_entry(FILE *f, size_t i)
{
	const struct row *r = &rows[i];

	fprintf(f, "\n.struct %s, %d bytes: %s\n", r->owner, (int)r->value,
		r->text);
	fputs("[cols=\"1,1,2,8\",options=\"header\"]\n|===\n"
	      "|Byte |Size |Member |Meaning\n", f);
	for (r++; r < rows + ROWS && r->kind == FIELD_ROW; r++) {
		fprintf(f, "\n|%d\n|%d\n|`%s`\n", (int)r->value,
			(int)type_bytes(r->type), r->name);
		gen_cell(f, r->text);
	}
	fputs("|===\n", f);
}

static void book_enum(FILE *f, size_t i)
{
	const struct row *r = &rows[i];

	fprintf(f, "\n.FL_%s_*\n", r->owner);
	fputs("[cols=\"1,3,8\",options=\"header\"]\n|===\n"
	      "|Value |Name |Meaning\n", f);
	for (; r < rows + ROWS && r->kind == ENUM_ROW &&
	       !strcmp(r->owner, rows[i].owner); r++) {
		fprintf(f, "\n|%d\n|`%s`\n", (int)r->value, r->name);
		gen_cell(f, r->text);
	}
	fputs("|===\n", f);
}

void gen_entries(void)
{
	FILE *f;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind == ENTRY_ROW)
			check_entry(i);
		else if (rows[i].kind == ENUM_ROW)
			check_enum(i);
		else if (!i || rows[i - 1].kind == ENUM_ROW)
			gen_bad(source, "%s.%s has no ENTRY above it",
				rows[i].owner, rows[i].name);
	}
	entries_write_c();
	entries_write_verilog();
	f = gen_open(GEN_BOOK, "entries", source);
	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind == ENTRY_ROW)
			book_entry(f, i);
		else if (first_of_group(i))
			book_enum(f, i);
	}
	gen_close(f, GEN_BOOK);
}
