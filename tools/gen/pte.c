// SPDX-License-Identifier: BSD-2-Clause
/* Bits of translation table descriptors, from pte.def. */
#include "gen.h"

#include <string.h>

enum where { ANY, LEAF, TABLE, SOFT };

static const struct row {
	const char *name;
	unsigned int lsb, width;
	enum where where;
	const char *text;
} rows[] = {
#define PBIT(name, lsb, width, where, text) { #name, lsb, width, where, text },
#include "faultline/pte.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char source[] = "kernel-ref/include/faultline/pte.def";

static void pte_check(void)
{
	const struct row *r, *p;

	for (r = rows; r < rows + ROWS; r++) {
		if (!r->width || r->lsb + r->width > 64)
			gen_bad(source, "%s does not lie in 64 bits", r->name);
		for (p = rows; p < r; p++)
			if (!strcmp(p->name, r->name))
				gen_bad(source, "%s is there twice", r->name);
	}
}

static void pte_write_c(void)
{
	FILE *f = gen_open(GEN_C, "pte", source);
	const struct row *r;
	char name[96];

	fputc('\n', f);
	for (r = rows; r < rows + ROWS; r++) {
		gen_comment(f, GEN_C, r->text);
		snprintf(name, sizeof(name), "PTE_%s", r->name);
		gen_define(f, GEN_C, name);
		fprintf(f, "0x%016llxull\n",
			~0ull >> (64 - r->width) << r->lsb);
	}
	gen_close(f, GEN_C);
}

static void pte_write_book(void)
{
	static const char *const where[] = { "any", "page, block", "table",
					     "software" };
	FILE *f = gen_open(GEN_BOOK, "pte", source);
	const struct row *r;

	fputs("\n.Descriptors of the translation tables\n"
	      "[cols=\"2,2,2,8\",options=\"header\"]\n|===\n"
	      "|Name |Bits |Of |Meaning\n", f);
	for (r = rows; r < rows + ROWS; r++) {
		fprintf(f, "\n|`%s`\n|", r->name);
		if (r->width > 1)
			fprintf(f, "%u:", r->lsb + r->width - 1);
		fprintf(f, "%u\n|%s\n", r->lsb, where[r->where]);
		gen_cell(f, r->text);
	}
	fputs("|===\n", f);
	gen_close(f, GEN_BOOK);
}

void gen_pte(void)
{
	pte_check();
	pte_write_c();
	pte_write_book();
}
