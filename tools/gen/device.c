// SPDX-License-Identifier: BSD-2-Clause
/* Stepping, limits and errata, from device.def. */
#include "gen.h"

#include <string.h>

enum kind { LIMIT_ROW, ERRATUM_ROW };

static const struct row {
	enum kind kind;
	const char *name;
	unsigned int value;
	const char *text;
} rows[] = {
#define DLIM(name, value, text) { LIMIT_ROW, #name, value, text },
#define DERR(name, on, text) { ERRATUM_ROW, #name, on, text },
#include "faultline/device.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char source[] = "kernel-ref/include/faultline/device.def";

static void device_check(void)
{
	const struct row *r, *p;

	for (r = rows; r < rows + ROWS; r++) {
		if (r->kind == ERRATUM_ROW && r->value > 1)
			gen_bad(source, "%s is neither 0 nor 1", r->name);
		for (p = rows; p < r; p++)
			if (p->kind == r->kind && !strcmp(p->name, r->name))
				gen_bad(source, "%s is there twice", r->name);
	}
}

static void device_write_code(enum gen_lang lang)
{
	FILE *f = gen_open(lang, "device", source);
	const struct row *r;
	char name[96];

	fputc('\n', f);
	for (r = rows; r < rows + ROWS; r++) {
		gen_comment(f, lang, r->text);
		snprintf(name, sizeof(name), "DEV_%s%s",
			 r->kind == ERRATUM_ROW ? "ERR_" : "", r->name);
		gen_define(f, lang, name);
		fprintf(f, lang == GEN_C ? "%u\n" :
			   r->kind == ERRATUM_ROW ? "1'd%u\n" : "32'd%u\n",
			r->value);
	}
	gen_close(f, lang);
}

static void device_write_book(void)
{
	FILE *f = gen_open(GEN_BOOK, "device", source);
	unsigned int errata = 0;
	const struct row *r;

	fputs("\n.Device: stepping and limits\n"
	      "[cols=\"2,1,8\",options=\"header\"]\n|===\n"
	      "|Name |Value |Meaning\n", f);
	for (r = rows; r < rows + ROWS; r++) {
		if (r->kind != LIMIT_ROW)
			continue;
		fprintf(f, "\n|`%s`\n|%u\n", r->name, r->value);
		gen_cell(f, r->text);
	}
	fputs("|===\n", f);
	for (r = rows; r < rows + ROWS; r++) {
		if (r->kind != ERRATUM_ROW || !r->value)
			continue;
		fprintf(f, "\n*Erratum %s*: %s.\n", r->name, r->text);
		errata++;
	}
	if (!errata)
		fputs("\nThis stepping has no erratum.\n", f);
	gen_close(f, GEN_BOOK);
}

void gen_device(void)
{
	device_check();
	device_write_code(GEN_C);
	device_write_code(GEN_VERILOG);
	device_write_book();
}
