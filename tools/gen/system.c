// SPDX-License-Identifier: BSD-2-Clause
/* The systems and the axes on which they differ, from system.def. */
#include "gen.h"

#include <string.h>

#include "faultline/system_rules.h"

static const struct value {
	const char *axis, *name, *transports, *text;
} values[] = {
#define SAXIS(axis, name, transports, text) { #axis, #name, #transports, text },
#include "faultline/system.def"
};

static const struct verdict_place {
	const char *name, *transport;
	unsigned char cell[4];	/* IR IW RR RW */
} places[] = {
#define SPLACE(name, transport, ir, iw, rr, rw)	\
	{ #name, #transport, { ir, iw, rr, rw } },
#include "faultline/system.def"
};

/* Columns of a row, in the order of their arguments. */
static const struct {
	const char *member, *axis, *head;
} columns[FL_COLUMNS] = {
	[FL_COLUMN_TABLES] = { "tables", "TABLES", "Tables" },
	[FL_COLUMN_BEFORE] = { "before", "BEFORE", "Before" },
	[FL_COLUMN_TRANSPORT] = { "transport", "TRANSPORT", "Transport" },
	[FL_COLUMN_IR] = { "ir", "VERDICT", "Miss here: WRITE reads" },
	[FL_COLUMN_IW] = { "iw", "VERDICT", "READ writes" },
	[FL_COLUMN_RR] = { "rr", "VERDICT", "Miss there: READ reads" },
	[FL_COLUMN_RW] = { "rw", "VERDICT", "WRITE writes" },
	[FL_COLUMN_TELLS] = { "tells", "TELLS", "Card is told" },
};

static const struct row {
	const char *name, *column[FL_COLUMNS], *brings, *home, *text;
} rows[] = {
#define SYSTEM(name, tables, before, transport, ir, iw, rr, rw, tells, brings,	\
	       home, text)							\
	{ #name, { #tables, #before, #transport, #ir, #iw, #rr, #rw, #tells },	\
	  #brings, home, text },
#include "faultline/system.def"
};

/* What differs on a stock Linux; rows that have not been run there are not here. */
static const struct row_linux {
	const char *name, *text;
} rows_linux[] = {
#define SLINUX(name, text) { #name, text },
#include "faultline/system.def"
};

#define VALUES (sizeof(values) / sizeof(values[0]))
#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define ROWS_LINUX (sizeof(rows_linux) / sizeof(rows_linux[0]))

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

/* As the enum of its axis will have it. */
static unsigned int system_number(const struct value *v)
{
	const struct value *p;
	unsigned int n = 0;

	for (p = values; p < v; p++)
		n += !strcmp(p->axis, v->axis);
	return n;
}

static unsigned int system_transports(const struct value *v)
{
	const struct value *on;
	unsigned int bits = 0;
	char name[32];
	const char *p;
	size_t n;

	if (!strcmp(v->transports, "ANY"))
		return ~0u;
	for (p = v->transports; *p; p += n + (p[n] == '|')) {
		n = strcspn(p, "|");
		snprintf(name, sizeof(name), "%.*s", (int)n, p);
		on = system_value("TRANSPORT", name);
		if (on)		/* of a later one: nowhere yet */
			bits |= 1u << system_number(on);
	}
	return bits;
}

/* On this transport. */
static unsigned int system_places(const struct value *v, const char *transport)
{
	unsigned int i, c, bits = 0;

	if (strcmp(v->axis, "VERDICT"))
		return ~0u;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (strcmp(places[i].name, v->name) ||
		    strcmp(places[i].transport, transport))
			continue;
		for (c = 0; c < 4; c++)
			bits |= places[i].cell[c] ? 1u << (FL_COLUMN_IR + c) : 0;
		return bits;
	}
	return ~0u;
}

static void system_set_places(struct fl_system_value *to, const struct value *v)
{
	const struct value *t;
	unsigned int n;

	for (t = values; t < values + VALUES; t++) {
		if (strcmp(t->axis, "TRANSPORT"))
			continue;
		n = system_number(t);
		if (n >= FL_TRANSPORT_VALUES)
			gen_bad(source, "TRANSPORT has too many values");
		to->columns[n] = system_places(v, t->name);
	}
}

static void system_check_places(void)
{
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!system_value("TRANSPORT", places[i].transport))
			gen_bad(source, "SPLACE of '%s' on '%s', which is no transport",
				places[i].name, places[i].transport);
}

/* The facts that the rules need (system_rules.h). */
static struct fl_system_rules system_facts(void)
{
	struct fl_system_rules f = { .values = { 0 } };
	const struct value *v;
	unsigned int c, n;

	for (v = values; v < values + VALUES; v++)
		for (c = 0; c < FL_COLUMNS; c++) {
			if (strcmp(columns[c].axis, v->axis))
				continue;
			n = f.values[c]++;
			if (n >= FL_COLUMN_VALUES)
				gen_bad(source, "%s has too many values", v->axis);
			f.value[c][n].transports = system_transports(v);
			system_set_places(&f.value[c][n], v);
		}
	f.hold = (unsigned char)system_number(system_value("VERDICT", "HOLD"));
	f.abort = (unsigned char)system_number(system_value("VERDICT", "ABORT"));
	f.fail = (unsigned char)system_number(system_value("VERDICT", "FAIL"));
	f.sink = (unsigned char)system_number(system_value("VERDICT", "SINK"));
	f.pin = (unsigned char)system_number(system_value("BEFORE", "PIN"));
	f.cache = (unsigned char)system_number(system_value("BEFORE", "CACHE"));
	f.inserted = (unsigned char)system_number(system_value("TABLES", "INSERTED"));
	f.before_nothing = (unsigned char)system_number(system_value("BEFORE", "NOTHING"));
	f.divert = (unsigned char)system_number(system_value("VERDICT", "DIVERT"));
	f.resolved = (unsigned char)system_number(system_value("TELLS", "RESOLVED"));
	f.tables_sink = (unsigned char)system_number(system_value("TABLES", "SINK"));
	f.nothing = (unsigned char)system_number(system_value("TELLS", "NOTHING"));
	f.resume = (unsigned char)system_number(system_value("TELLS", "RESUME"));
	f.status = (unsigned char)system_number(system_value("TELLS", "STATUS"));
	return f;
}

static void system_judge_row(const struct row *r,
			     const unsigned char cell[FL_COLUMNS])
{
	struct fl_system_rules facts = system_facts();
	struct fl_row_judged j = fl_row_judge(cell, &facts);
	const char *member = columns[j.column].member;
	const char *value = r->column[j.column];

	switch (j.wrong) {
	case FL_ROW_RIGHT:
	case FL_ROW_VALUE:	/* looked for by name */
		return;
	case FL_ROW_TRANSPORT:
		gen_bad(source, "%s: %s '%s' is not possible on transport %s",
			r->name, member, value, r->column[FL_COLUMN_TRANSPORT]);
	case FL_ROW_PLACE:
		gen_bad(source, "%s: '%s' is not possible as %s", r->name, value,
			member);
	case FL_ROW_HOLDS:
		gen_bad(source, "%s: a process stalls all of its misses, or none",
			r->name);
	case FL_ROW_TELLS:
		gen_bad(source, "%s: RESUME is for stalled accesses, and READY for "
			"others", r->name);
	case FL_ROW_ABORTS:
		gen_bad(source, "%s: both of iw and rw are abort, or none",
			r->name);
	case FL_ROW_STATUS:
		gen_bad(source, "%s: STATUS is for what ends, and READY for what is "
			"tried again", r->name);
	case FL_ROW_INSERTED:
		gen_bad(source, "%s: tables INSERTED have PIN or CACHE before, and FAIL "
			"for each miss, which is for them alone", r->name);
	case FL_ROW_DIVERTS:
		gen_bad(source, "%s: RESOLVED is for what is DIVERTed, and for nothing else",
			r->name);
	case FL_ROW_SINK:
		gen_bad(source, "%s: tables SINK have NOTHING before, SINK for each miss "
			"and tell NOTHING, which is for them alone", r->name);
	}
}

static void system_check_row(const struct row *r)
{
	unsigned char cell[FL_COLUMNS];
	const struct value *v;
	const struct row *p;
	int c;

	for (p = rows; p < r; p++)
		if (!strcmp(p->name, r->name))
			gen_bad(source, "%s is there twice", r->name);
	for (c = 0; c < FL_COLUMNS; c++) {
		v = system_value(columns[c].axis, r->column[c]);
		if (!v)
			gen_bad(source, "%s: %s '%s' is no %s", r->name,
				columns[c].member, r->column[c],
				columns[c].axis);
		cell[c] = (unsigned char)system_number(v);
	}
	system_judge_row(r, cell);
	if (strcmp(r->brings, "PAGE") && strcmp(r->brings, "BLOCK") &&
	    strcmp(r->brings, "TRANSFER"))
		gen_bad(source, "%s: brings '%s' is none of PAGE, BLOCK, "
			"TRANSFER", r->name, r->brings);
}

static const char *system_linux(const char *name)
{
	size_t i;

	for (i = 0; i < ROWS_LINUX; i++)
		if (!strcmp(rows_linux[i].name, name))
			return rows_linux[i].text;
	return NULL;
}

static void system_check_linux(void)
{
	size_t i, k;

	for (i = 0; i < ROWS_LINUX; i++) {
		for (k = 0; k < ROWS && strcmp(rows[k].name, rows_linux[i].name); k++)
			;
		if (k == ROWS)
			gen_bad(source, "SLINUX of '%s', which is no row",
				rows_linux[i].name);
		if (system_linux(rows_linux[i].name) != rows_linux[i].text)
			gen_bad(source, "%s has two lines SLINUX", rows_linux[i].name);
	}
}

static void system_write_axis(FILE *f, const char *axis)
{
	unsigned int n = 0;
	char name[64];
	size_t i;

	fputc('\n', f);
	snprintf(name, sizeof(name), "FL_%s_WORDS", axis);
	gen_define(f, GEN_C, name);
	for (i = 0; i < VALUES; i++)
		if (!strcmp(values[i].axis, axis))
			fprintf(f, "%s%s", n++ ? "|" : "\"",
				gen_lower(values[i].name));
	fprintf(f, "\"\nenum fl_%s {\n", gen_lower(axis));
	n = 0;
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

/* What the rules need, as fl_row_judge() takes it. */
static void system_write_facts(FILE *f)
{
	struct fl_system_rules facts = system_facts();
	unsigned int n, t;
	int c;

	fprintf(f, "\nstatic const struct fl_system_rules fl_system_rules = {\n"
		"\t.hold = FL_VERDICT_HOLD,\n\t.abort = FL_VERDICT_ABORT,\n"
		"\t.fail = FL_VERDICT_FAIL,\n\t.resume = FL_TELLS_RESUME,\n"
		"\t.status = FL_TELLS_STATUS,\n\t.pin = FL_BEFORE_PIN,\n"
		"\t.cache = FL_BEFORE_CACHE,\n\t.inserted = FL_TABLES_INSERTED,\n"
		"\t.sink = FL_VERDICT_SINK,\n\t.nothing = FL_TELLS_NOTHING,\n"
		"\t.before_nothing = FL_BEFORE_NOTHING,\n"
		"\t.tables_sink = FL_TABLES_SINK,\n"
		"\t.divert = FL_VERDICT_DIVERT,\n"
		"\t.resolved = FL_TELLS_RESOLVED,\n"
		"\t.values = { ");
	for (c = 0; c < FL_COLUMNS; c++)
		fprintf(f, "%s%u", c ? ", " : "", facts.values[c]);
	fputs(" },\n\t.value = {\n", f);
	for (c = 0; c < FL_COLUMNS; c++) {
		fprintf(f, "\t\t{\n");
		for (n = 0; n < facts.values[c]; n++) {
			fprintf(f, "\t\t\t{ 0x%x, { ",
				facts.value[c][n].transports);
			for (t = 0; t < facts.values[FL_COLUMN_TRANSPORT]; t++)
				fprintf(f, "%s0x%x", t ? ", " : "",
					facts.value[c][n].columns[t]);
			fputs(" } },\n", f);
		}
		fputs("\t\t},\n", f);
	}
	fputs("\t},\n};\n", f);
}

static void system_write_rows(void)
{
	FILE *f = gen_open(GEN_C, "system_rows", source);
	size_t i;
	int c;

	fputs("#include \"faultline/system.h\"\n"
	      "#include \"faultline/system_rules.h\"\n\n"
	      "static const struct fl_system_row fl_system_rows[] = {\n", f);
	for (i = 0; i < ROWS; i++) {
		fprintf(f, "\t[FL_SYSTEM_%s] = {\n", rows[i].name);
		for (c = 0; c < FL_COLUMNS; c++)
			fprintf(f, "\t\t.%s = FL_%s_%s,\n", columns[c].member,
				columns[c].axis, rows[i].column[c]);
		fputs("\t},\n", f);
	}
	fputs("};\n", f);
	system_write_facts(f);
	gen_close(f, GEN_C);
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
	for (c = 0; c < FL_COLUMNS; c++)
		fprintf(f, "%s%s", c ? ", " : "", columns[c].member);
	fputs(";\n};\n", f);
	gen_close(f, GEN_C);
}

static void system_write_linux(FILE *f)
{
	const char *text;
	size_t i;

	fputs("|===\n\n.Systems: what differs on a stock Linux kernel (mode vm)\n"
	      "[cols=\"3,12\",options=\"header\"]\n|===\n|Name |What differs\n", f);
	for (i = 0; i < ROWS; i++) {
		text = system_linux(rows[i].name);
		fprintf(f, "\n|`%s`\n", gen_lower(rows[i].name));
		gen_cell(f, text ? text : "not run there yet");
	}
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
	for (c = 0; c < FL_COLUMNS; c++)
		fprintf(f, " |%s", columns[c].head);
	fputs(" |Brings\n", f);
	for (i = 0; i < ROWS; i++) {
		fprintf(f, "\n|`%s`\n", gen_lower(rows[i].name));
		for (c = 0; c < FL_COLUMNS; c++)
			gen_cell(f, gen_lower(rows[i].column[c]));
		gen_cell(f, gen_lower(rows[i].brings));
	}
	system_write_linux(f);
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

	system_check_places();
	for (r = rows; r < rows + ROWS; r++)
		system_check_row(r);
	system_check_linux();
	system_write_c();
	system_write_rows();
	system_write_book();
}
