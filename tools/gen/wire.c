// SPDX-License-Identifier: BSD-2-Clause
/* Packet headers and opcodes, from wire.def. */
#include "gen.h"

#include <string.h>

enum kind { HEADER_ROW, FIELD_ROW, OPCODE_ROW, STANDARD_ROW };

struct row {
	enum kind kind;
	const char *header;	/* opcodes: the header that follows BTH */
	const char *name;	/* field or opcode */
	unsigned int value;	/* bytes, byte of the field, or opcode */
	unsigned int bit, width;
	const char *text;
	/* STANDARD_ROW */
	const char *second;	/* header; this and the first may be NONE */
	const char *payload;
};

static const struct row rows[] = {
#define WHDR(name, bytes, text) { HEADER_ROW, #name, 0, bytes, 0, 0, text, 0, 0 },
#define WFLD(header, field, byte, bit, width, text)			      \
	{ FIELD_ROW, #header, #field, byte, bit, width, text, 0, 0 },
#define WOPC(name, value, header, text)					      \
	{ OPCODE_ROW, #header, #name, value, 0, 0, text, 0, 0 },
#define WSTD(name, value, header1, header2, payload, text)		      \
	{ STANDARD_ROW, #header1, #name, value, 0, 0, text, #header2, #payload },
#include "faultline/wire.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char source[] = "kernel-ref/include/faultline/wire.def";

static const struct row *find_header(const char *name)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (rows[i].kind == HEADER_ROW && !strcmp(rows[i].header, name))
			return &rows[i];
	gen_bad(source, "header %s is not known", name);
}

static bool is_none(const char *word)
{
	return !strcmp(word, "NONE");
}

static unsigned int header_bytes(const char *name)
{
	return is_none(name) ? 0 : find_header(name)->value;
}

/* Is it a header of the specification's opcodes alone? Hardware knows none of them. */
static bool header_is_standard(const char *name)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (rows[i].kind == STANDARD_ROW &&
		    (!strcmp(rows[i].header, name) || !strcmp(rows[i].second, name)))
			return true;
	return false;
}

/* Bits of the header that come before the field's first one. */
static unsigned int first_bit(const struct row *r)
{
	return r->value * 8 + 7 - r->bit;
}

/* Fields follow their header in order and cover each bit of it once. */
static void check_header(size_t i)
{
	const struct row *h = &rows[i], *r;
	unsigned int at = 0;

	for (r = h + 1; r < rows + ROWS && r->kind == FIELD_ROW; r++) {
		if (strcmp(r->header, h->header))
			gen_bad(source, "%s.%s stands under %s", r->header,
				r->name, h->header);
		if (r->bit > 7 || !r->width || r->width > 64)
			gen_bad(source, "%s.%s: bit or width is wrong",
				r->header, r->name);
		if (first_bit(r) != at)
			gen_bad(source, "%s.%s begins at bit %u, the one before ends at %u",
				r->header, r->name, first_bit(r), at);
		at += r->width;
	}
	if (at != h->value * 8)
		gen_bad(source, "%s has %u bits, its fields %u", h->header,
			h->value * 8, at);
}

static void check_twice(size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (rows[j].kind >= OPCODE_ROW && rows[j].value == rows[i].value)
			gen_bad(source, "opcodes %s and %s are the same",
				rows[j].name, rows[i].name);
}

static void check_opcode(size_t i)
{
	find_header(rows[i].header);
	/* InfiniBand 9.2.1, table 38: 0xC0 to 0xFF are the manufacturer's. */
	if (rows[i].value < 0xc0 || rows[i].value > 0xff)
		gen_bad(source, "opcode %s is not in 0xC0 to 0xFF",
			rows[i].name);
	check_twice(i);
}

static void check_standard(size_t i)
{
	static const char *const payloads[] = { "NONE", "FULL", "SOME", "ANY" };
	const struct row *r = &rows[i];
	size_t k;

	header_bytes(r->header);
	header_bytes(r->second);
	if (is_none(r->header) && !is_none(r->second))
		gen_bad(source, "opcode %s has a second header and no first",
			r->name);
	if (r->value >= 0xc0)
		gen_bad(source, "opcode %s is the manufacturer's", r->name);
	for (k = 0; k < sizeof(payloads) / sizeof(payloads[0]); k++)
		if (!strcmp(r->payload, payloads[k]))
			break;
	if (k == sizeof(payloads) / sizeof(payloads[0]))
		gen_bad(source, "opcode %s: payload %s is not known", r->name,
			r->payload);
	check_twice(i);
}

static void wire_number(FILE *f, enum gen_lang lang, const struct row *r,
			const char *tail, unsigned int value)
{
	char name[96];

	snprintf(name, sizeof(name), "WIRE_%s%s%s%s", r->header,
		 r->name ? "_" : "", r->name ? r->name : "", tail);
	gen_define(f, lang, name);
	fprintf(f, "%u\n", value);
}

static void wire_field_code(FILE *f, enum gen_lang lang, const struct row *r)
{
	unsigned int bits = find_header(r->header)->value * 8;
	char name[96];

	gen_comment(f, lang, r->text);
	if (lang == GEN_VERILOG) {
		wire_number(f, lang, r, "_MSB", bits - 1 - first_bit(r));
		wire_number(f, lang, r, "_LSB", bits - first_bit(r) - r->width);
		return;
	}
	snprintf(name, sizeof(name), "WIRE_%s_%s", r->header, r->name);
	gen_define(f, lang, name);
	fprintf(f, "%u, %u, %u\n", r->value, r->bit, r->width);
	wire_number(f, lang, r, "_BYTE", r->value);
	wire_number(f, lang, r, "_BIT", r->bit);
	wire_number(f, lang, r, "_WIDTH", r->width);
}

static void opcode_code(FILE *f, enum gen_lang lang, const struct row *r)
{
	char name[96];

	gen_comment(f, lang, r->text);
	snprintf(name, sizeof(name), "WOP_%s", r->name);
	gen_define(f, lang, name);
	fprintf(f, lang == GEN_C ? "0x%02X\n" : "8'h%02X\n", r->value);
	snprintf(name, sizeof(name), "WOP_%s_HEADER_BYTES", r->name);
	gen_define(f, lang, name);
	fprintf(f, "%u\n", header_bytes(r->header) +
		(r->kind == STANDARD_ROW ? header_bytes(r->second) : 0));
}

/* Verilog has the opcodes and headers of blocks. */
static bool row_is_left_out(enum gen_lang lang, const struct row *r)
{
	if (lang != GEN_VERILOG)
		return false;
	return r->kind == STANDARD_ROW || header_is_standard(r->header);
}

static void wire_write_code(enum gen_lang lang)
{
	FILE *f = gen_open(lang, "wire", source);
	size_t i;

	if (lang == GEN_C)
		fputs("\n/*\n * WIRE_<header>_<FIELD> is three numbers: the byte,"
		      " the bit in it (7 first) of the\n * field's first bit, and"
		      " the width; to be given to a function as they stand.\n"
		      " */\n", f);
	else
		fputs("\n// A header is a vector, its first byte on top:"
		      " reg [8 * WIRE_x_BYTES - 1:0].\n", f);
	for (i = 0; i < ROWS; i++) {
		if (row_is_left_out(lang, &rows[i]))
			continue;
		if (rows[i].kind == FIELD_ROW) {
			wire_field_code(f, lang, &rows[i]);
		} else if (rows[i].kind == HEADER_ROW) {
			fputc('\n', f);
			gen_comment(f, lang, rows[i].text);
			wire_number(f, lang, &rows[i], "_BYTES", rows[i].value);
		} else {
			if (rows[i - 1].kind != rows[i].kind)
				fputc('\n', f);
			opcode_code(f, lang, &rows[i]);
		}
	}
	gen_close(f, lang);
}

static void book_opcodes(FILE *f)
{
	size_t i;

	fputs("\n.Opcodes of blocks\n[cols=\"1,2,2,8\",options=\"header\"]\n|===\n"
	      "|Value |Name |After BTH |Meaning\n", f);
	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind != OPCODE_ROW)
			continue;
		fprintf(f, "\n|0x%02X\n|%s\n|%s\n", rows[i].value,
			rows[i].name, rows[i].header);
		gen_cell(f, rows[i].text);
	}
	fputs("|===\n", f);
}

static const char *book_payload(const struct row *r)
{
	if (is_none(r->payload))
		return "none";
	if (!strcmp(r->payload, "FULL"))
		return "MTU";
	return strcmp(r->payload, "SOME") ? "0 to MTU" : "1 to MTU";
}

static void book_standard(FILE *f)
{
	size_t i;

	fputs("\n.Opcodes of the InfiniBand specification\n"
	      "[cols=\"1,4,3,2,6\",options=\"header\"]\n|===\n"
	      "|Value |Name |After BTH |Payload |Meaning\n", f);
	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind != STANDARD_ROW)
			continue;
		fprintf(f, "\n|0x%02X\n|%s\n|%s%s%s\n|%s\n", rows[i].value,
			rows[i].name,
			is_none(rows[i].header) ? "-" : rows[i].header,
			is_none(rows[i].second) ? "" : ", ",
			is_none(rows[i].second) ? "" : rows[i].second,
			book_payload(&rows[i]));
		gen_cell(f, rows[i].text);
	}
	fputs("|===\n", f);
}

static void wire_write_book(void)
{
	FILE *f = gen_open(GEN_BOOK, "wire", source);
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind != HEADER_ROW)
			continue;
		fprintf(f, "\n.%s, %u bytes: %s\n", rows[i].header,
			rows[i].value, rows[i].text);
		fputs("[cols=\"1,1,1,3,8\",options=\"header\"]\n|===\n"
		      "|Byte |Bit |Width |Field |Meaning\n", f);
		for (i++; i < ROWS && rows[i].kind == FIELD_ROW; i++) {
			fprintf(f, "\n|%u\n|%u\n|%u\n|%s\n", rows[i].value,
				rows[i].bit, rows[i].width, rows[i].name);
			gen_cell(f, rows[i].text);
		}
		i--;
		fputs("|===\n", f);
	}
	book_opcodes(f);
	book_standard(f);
	gen_close(f, GEN_BOOK);
}

void gen_wire(void)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind == HEADER_ROW)
			check_header(i);
		else if (rows[i].kind == OPCODE_ROW)
			check_opcode(i);
		else if (rows[i].kind == STANDARD_ROW)
			check_standard(i);
		else if (!i)
			gen_bad(source, "a field before any header");
	}
	wire_write_code(GEN_C);
	wire_write_code(GEN_VERILOG);
	wire_write_book();
}
