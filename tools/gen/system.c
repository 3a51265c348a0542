// SPDX-License-Identifier: BSD-2-Clause
/* The systems and the axes on which they differ, from system.def. */
#include "gen.h"

#include <string.h>

static const struct value {
	const char *axis, *name, *transports, *text;
} values[] = {
#define SAXIS(axis, name, transports, text) { #axis, #name, #transports, text },
#include "faultline/system.def"
};

/* Columns of a row, in the order of their arguments. */
enum column { TABLES, BEFORE, TRANSPORT, IR, IW, RR, RW, TELLS, COLUMNS };
static const struct {
	const char *member, *axis, *head;
} columns[COLUMNS] = {
	[TABLES] = { "tables", "TABLES", "Tables" },
	[BEFORE] = { "before", "BEFORE", "Before" },
	[TRANSPORT] = { "transport", "TRANSPORT", "Transport" },
	[IR] = { "ir", "VERDICT", "Miss here: WRITE reads" },
	[IW] = { "iw", "VERDICT", "READ writes" },
	[RR] = { "rr", "VERDICT", "Miss there: READ reads" },
	[RW] = { "rw", "VERDICT", "WRITE writes" },
	[TELLS] = { "tells", "TELLS", "Card is told" },
};

static const struct row {
	const char *name, *column[COLUMNS], *brings, *home, *text;
} rows[] = {
#define SYSTEM(name, tables, before, transport, ir, iw, rr, rw, tells, brings,	\
	       home, text)							\
	{ #name, { #tables, #before, #transport, #ir, #iw, #rr, #rw, #tells },	\
	  #brings, home, text },
#include "faultline/system.def"
};

#define VALUES (sizeof(values) / sizeof(values[0]))
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char source[] = "kernel-ref/include/faultline/system.def";

static const struct value *system_value(const char *axis, const char *name)
{
	size_t i;

	for (i = 0; i < VALUES; i++)
		if (!strcmp(values[i].axis, axis) &&
		    !strcmp(values[i].name, name))
			return &values[i];
	return NULL;
}

static void system_check_row(const struct row *r)
{
	const struct value *v;
	const struct row *p;
	int c, holds = 0;

	for (p = rows; p < r; p++)
		if (!strcmp(p->name, r->name))
			gen_bad(source, "%s is there twice", r->name);
	for (c = 0; c < COLUMNS; c++) {
		v = system_value(columns[c].axis, r->column[c]);
		if (!v)
			gen_bad(source, "%s: %s '%s' is no %s", r->name,
				columns[c].member, r->column[c],
				columns[c].axis);
		if (strcmp(v->transports, "ANY") &&
		    strcmp(v->transports, r->column[TRANSPORT]))
			gen_bad(source, "%s: %s '%s' is not possible on "
				"transport %s", r->name, columns[c].member,
				v->name, r->column[TRANSPORT]);
		holds += c >= IR && c <= RW && !strcmp(v->name, "HOLD");
	}
	/* SCTLR.CFCFG is one bit of the process's context bank. */
	if (holds && holds != RW - IR + 1)
		gen_bad(source, "%s: a process stalls all of its misses, or none",
			r->name);
	if (strcmp(r->brings, "PAGE") && strcmp(r->brings, "BLOCK") &&
	    strcmp(r->brings, "TRANSFER"))
		gen_bad(source, "%s: brings '%s' is none of PAGE, BLOCK, "
			"TRANSFER", r->name, r->brings);
}

static void system_write_axis(FILE *f, const char *axis)
{
	unsigned int n = 0;
	char name[64];
	size_t i;

	fprintf(f, "\nenum fl_%s {\n", gen_lower(axis));
	for (i = 0; i < VALUES; i++) {
		if (strcmp(values[i].axis, axis))
			continue;
		snprintf(name, sizeof(name), "FL_%s_%s = %u,", axis,
			 values[i].name, n++);
		fprintf(f, "\t%-27s /* %s */\n", name, values[i].text);
	}
	fputs("};\n", f);
}

/* Their names, for tables of words and for messages. */
static void system_write_words(FILE *f)
{
	size_t i;

	gen_define(f, GEN_C, "FL_SYSTEM_NAMES");
	for (i = 0; i < ROWS; i++)
		fprintf(f, "%s\"%s\"", i ? ", " : "", gen_lower(rows[i].name));
	fputc('\n', f);
	gen_define(f, GEN_C, "FL_SYSTEM_WORDS");
	for (i = 0; i < ROWS; i++)
		fprintf(f, "%s%s", i ? "|" : "\"", gen_lower(rows[i].name));
	fputs("\"\n", f);
}

static void system_write_c(void)
{
	static const char *const axes[] = { "TABLES", "BEFORE", "TRANSPORT",
					    "VERDICT", "TELLS" };
	FILE *f = gen_open(GEN_C, "system", source);
	char name[64];
	size_t i;
	int c;

	fputs("\nenum fl_system {\n", f);
	for (i = 0; i < ROWS; i++) {
		snprintf(name, sizeof(name), "FL_SYSTEM_%s = %zu,",
			 rows[i].name, i);
		fprintf(f, "\t%-27s /* %s */\n", name, rows[i].text);
	}
	fputs("};\n\n", f);
	gen_define(f, GEN_C, "FL_SYSTEMS");
	fprintf(f, "%zuu\n", ROWS);
	system_write_words(f);
	for (i = 0; i < sizeof(axes) / sizeof(axes[0]); i++)
		system_write_axis(f, axes[i]);
	fputs("\n/* What a row says, but for its words; each an enum above. */\n"
	      "struct fl_system_row {\n\tunsigned char ", f);
	for (c = 0; c < COLUMNS; c++)
		fprintf(f, "%s%s", c ? ", " : "", columns[c].member);
	fputs(";\n};\n", f);
	gen_close(f, GEN_C);
	f = gen_open(GEN_C, "system_rows", source);
	fputs("#include \"faultline/system.h\"\n\n"
	      "static const struct fl_system_row fl_system_rows[] = {\n", f);
	for (i = 0; i < ROWS; i++) {
		fprintf(f, "\t[FL_SYSTEM_%s] = {\n", rows[i].name);
		for (c = 0; c < COLUMNS; c++)
			fprintf(f, "\t\t.%s = FL_%s_%s,\n", columns[c].member,
				columns[c].axis, rows[i].column[c]);
		fputs("\t},\n", f);
	}
	fputs("};\n", f);
	gen_close(f, GEN_C);
}

static void system_write_book(void)
{
	FILE *f = gen_open(GEN_BOOK, "system", source);
	size_t i;
	int c;

	fputs("\n.Systems\n[cols=\"3,12\",options=\"header\"]\n|===\n"
	      "|Name |What it does\n", f);
	for (i = 0; i < ROWS; i++) {
		fprintf(f, "\n|`%s`\n", gen_lower(rows[i].name));
		gen_cell(f, rows[i].text);
	}
	fputs("|===\n\n.Systems: their columns\n[cols=\"10*\","
	      "options=\"header\"]\n|===\n|Name", f);
	for (c = 0; c < COLUMNS; c++)
		fprintf(f, " |%s", columns[c].head);
	fputs(" |Brings\n", f);
	for (i = 0; i < ROWS; i++) {
		fprintf(f, "\n|`%s`\n", gen_lower(rows[i].name));
		for (c = 0; c < COLUMNS; c++)
			gen_cell(f, gen_lower(rows[i].column[c]));
		gen_cell(f, gen_lower(rows[i].brings));
	}
	fputs("|===\n\n.Values of the columns\n[cols=\"2,2,10\","
	      "options=\"header\"]\n|===\n|Column |Value |Meaning\n", f);
	for (i = 0; i < VALUES; i++) {
		fprintf(f, "\n|%s\n", gen_lower(values[i].axis));
		fprintf(f, "|`%s`\n", gen_lower(values[i].name));
		gen_cell(f, values[i].text);
	}
	fputs("|===\n", f);
	gen_close(f, GEN_BOOK);
}

void gen_system(void)
{
	const struct row *r;

	for (r = rows; r < rows + ROWS; r++)
		system_check_row(r);
	system_write_c();
	system_write_book();
}
