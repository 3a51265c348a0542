// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver's trace points, from driver_trace.def: as trace events of a kernel, as
 * notes of a window and their numbers, and as calls of the emulator's recorder.
 */
#include "gen.h"

#include <stdarg.h>
#include <string.h>

#define ARGS 4

static const struct row {
	const char *event, *point, *follows, *of;
	struct { const char *type, *name; } arg[ARGS];
	const char *text;
} rows[] = {
#define DRIVER_EVENT(event, point, follows, of, t0, a0, t1, a1, t2, a2, t3,  \
		     a3, text)						      \
	{ #event, #point, #follows, #of,				      \
	  { { #t0, a0 }, { #t1, a1 }, { #t2, a2 }, { #t3, a3 } }, text },
#include "faultline/driver_trace.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct type {
	const char *name, *c, *format;
} types[] = {
	{ "U32", "u32", "%u" },	  { "X32", "u32", "0x%x" },
	{ "U64", "u64", "%llu" }, { "X64", "u64", "0x%llx" },
	{ "BOOL", "bool", "%d" }, { "INT", "int", "%d" },
};

/* What a row may follow; first: as shim_trace() wants it (shim/trace.h). */
static const struct {
	const char *name, *first;
} causes[] = {
	{ "NOTHING", "true" },	  { "LINE_SMMU", "true" },
	{ "LINE_FAULT", "true" }, { "LINE_EVENT", "true" },
	{ "LAST_STEP", "false" },
	{ "IRQ_STEP", "false" },
};

static const char source[] = "kernel-ref/include/faultline/driver_trace.def";

/* ---- rows ---- */

static const struct type *type_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	return NULL;
}

/* NULL: it follows what there is not. */
static const char *first_of(const struct row *r)
{
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(causes[i].name, r->follows))
			return causes[i].first;
	return NULL;
}

static bool of_block(const struct row *r)
{
	return !strcmp(r->of, "BLOCK");
}

static unsigned int args_of(const struct row *r)
{
	unsigned int n = 0;

	while (n < ARGS && *r->arg[n].name)
		n++;
	return n;
}

/* IRQ_SMMU of DRV_IRQ_SMMU. */
static const char *number_of(const struct row *r)
{
	return r->event + strlen("DRV_");
}

static void check_args(const struct row *r)
{
	static const char *const taken[] = { "dev", "card", "xfer", "block" };
	unsigned int n = args_of(r), i, j;

	for (i = 0; i < n; i++) {
		if (!type_of(r->arg[i].type))
			gen_bad(source, "%s: type %s of %s is not known",
				r->event, r->arg[i].type, r->arg[i].name);
		for (j = 0; j < i; j++)
			if (!strcmp(r->arg[i].name, r->arg[j].name))
				gen_bad(source, "%s: %s is there twice",
					r->event, r->arg[i].name);
		for (j = 0; j < sizeof(taken) / sizeof(taken[0]); j++)
			if (!strcmp(r->arg[i].name, taken[j]))
				gen_bad(source, "%s: an argument is named %s",
					r->event, taken[j]);
	}
	for (; i < ARGS; i++) {
		if (*r->arg[i].name)
			gen_bad(source, "%s: an argument after \"\"", r->event);
		if (strcmp(r->arg[i].type, "NONE"))
			gen_bad(source, "%s: type %s of \"\" is not NONE",
				r->event, r->arg[i].type);
	}
}

static void trace_check(void)
{
	const struct row *r, *p;

	for (r = rows; r < rows + ROWS; r++) {
		if (strncmp(r->event, "DRV_", 4))
			gen_bad(source, "%s does not begin with DRV_", r->event);
		for (p = rows; p < r; p++) {
			if (!strcmp(p->event, r->event))
				gen_bad(source, "%s is there twice", r->event);
			if (!strcmp(p->point, r->point))
				gen_bad(source, "%s is there twice", r->point);
		}
		if (!first_of(r))
			gen_bad(source, "%s follows %s, which is not known",
				r->event, r->follows);
		if (!of_block(r) && strcmp(r->of, "CARD"))
			gen_bad(source, "%s is of %s, not of BLOCK or CARD",
				r->event, r->of);
		check_args(r);
	}
}

/* ---- lists ---- */

#define COLUMNS	80

/* What stands in brackets goes on in the next line below its first item. */
struct list {
	FILE *f;
	unsigned int start, column;
	bool more;
};

static struct list list_begin(FILE *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void list_put(struct list *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static struct list list_begin(FILE *f, const char *fmt, ...)
{
	struct list l = { .f = f };
	char text[128];
	const char *c;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fputs(text, f);
	for (c = text; *c; c++)
		l.start += *c == '\t' ? 8 - l.start % 8 : 1;
	l.column = l.start;
	return l;
}

static void list_put(struct list *l, const char *fmt, ...)
{
	unsigned int i, wide;
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wide = (unsigned int)strlen(text);
	if (l->more)
		fputc(',', l->f);
	/* Room for ", " before it, and for what may end the list. */
	if (l->more && l->column + 2 + wide + 2 > COLUMNS) {
		fputc('\n', l->f);
		for (i = 0; i < l->start / 8; i++)
			fputc('\t', l->f);
		fprintf(l->f, "%*s", (int)(l->start % 8), "");
		l->column = l->start;
	} else if (l->more) {
		fputc(' ', l->f);
		l->column += 2;
	}
	fputs(text, l->f);
	l->column += wide;
	l->more = true;
}

/* The parameters of a trace point, from dev on; their types too, if wanted. */
static void list_args(struct list *l, const struct row *r, bool typed)
{
	unsigned int i;

	list_put(l, typed ? "const struct fl_dev *dev" : "dev");
	for (i = 0; i < args_of(r); i++)
		list_put(l, "%s%s%s", typed ? type_of(r->arg[i].type)->c : "",
			 typed ? " " : "", r->arg[i].name);
	if (of_block(r)) {
		list_put(l, typed ? "u32 xfer" : "xfer");
		list_put(l, typed ? "u32 block" : "block");
	}
}

/* The same where each event has as many: transfer, block, and all as numbers. */
static void list_numbers(struct list *l, const struct row *r)
{
	unsigned int i;

	list_put(l, of_block(r) ? "xfer" : "0");
	list_put(l, of_block(r) ? "block" : "0");
	for (i = 0; i < ARGS; i++)
		list_put(l, "%s%s", strcmp(r->arg[i].type, "INT") ? "" : "(u64)",
			 *r->arg[i].name ? r->arg[i].name : "0");
}

/* ---- trace events of a kernel ---- */

static void trace_fields(FILE *f, const struct row *r)
{
	unsigned int i;

	fputs("\tTP_STRUCT__entry(\n\t\t__field(u32, card)", f);
	for (i = 0; i < args_of(r); i++)
		fprintf(f, "\n\t\t__field(%s, %s)", type_of(r->arg[i].type)->c,
			r->arg[i].name);
	if (of_block(r))
		fputs("\n\t\t__field(u32, xfer)\n\t\t__field(u32, block)", f);
	fputs("),\n", f);
}

static void trace_assign(FILE *f, const struct row *r)
{
	unsigned int i;

	fputs("\tTP_fast_assign(\n\t\t__entry->card = dev->index;", f);
	for (i = 0; i < args_of(r); i++)
		fprintf(f, "\n\t\t__entry->%s = %s;", r->arg[i].name,
			r->arg[i].name);
	if (of_block(r))
		fputs("\n\t\t__entry->xfer = xfer;\n"
		      "\t\t__entry->block = block;", f);
	fputs("),\n", f);
}

static void trace_print(FILE *f, const struct row *r)
{
	struct list l;
	unsigned int i;

	fprintf(f, "\tTP_printk(\"card=%%u%s", of_block(r) ? " %u.%u" : "");
	for (i = 0; i < args_of(r); i++)
		fprintf(f, " %s=%s", r->arg[i].name,
			type_of(r->arg[i].type)->format);
	fputs("\",\n", f);
	l = list_begin(f, "\t\t  ");
	list_put(&l, "__entry->card");
	if (of_block(r)) {
		list_put(&l, "__entry->xfer");
		list_put(&l, "__entry->block");
	}
	for (i = 0; i < args_of(r); i++)
		list_put(&l, "__entry->%s", r->arg[i].name);
	fputs(")\n", f);
}

static void trace_event(FILE *f, const struct row *r)
{
	struct list l;

	fputc('\n', f);
	gen_comment(f, GEN_DRIVER, r->text);
	fprintf(f, "TRACE_EVENT(fl_%s,\n", r->point);
	l = list_begin(f, "\tTP_PROTO(");
	list_args(&l, r, true);
	fputs("),\n", f);
	l = list_begin(f, "\tTP_ARGS(");
	list_args(&l, r, false);
	fputs("),\n", f);
	trace_fields(f, r);
	trace_assign(f, r);
	trace_print(f, r);
	fputs(");\n", f);
}

static void write_trace(void)
{
	FILE *f = gen_open(GEN_DRIVER, "fl_trace", source);
	const struct row *r;

	fputs("/*\n"
	      " * fl_trace.h - trace points: each step of a fault that the driver takes.\n"
	      " *\n"
	      " * They cost nothing while nobody listens. xfer and block name the transfer as\n"
	      " * the application numbered it (regs.def, FLT_XFER, FLT_BLOCK); 0: unknown. card\n"
	      " * is the number in the name of the device file.\n"
	      " */\n"
	      "#undef TRACE_SYSTEM\n"
	      "#define TRACE_SYSTEM faultline\n"
	      "\n"
	      "#if !defined(FL_TRACEPOINTS_H) || defined(TRACE_HEADER_MULTI_READ)\n"
	      "#define FL_TRACEPOINTS_H\n"
	      "\n"
	      "#include <linux/tracepoint.h>\n"
	      "#include <linux/types.h>\n"
	      "\n"
	      "#include \"fl_dev.h\"\n", f);
	for (r = rows; r < rows + ROWS; r++)
		trace_event(f, r);
	fputs("\n"
	      "#endif\n"
	      "\n"
	      "#undef TRACE_INCLUDE_PATH\n"
	      "#define TRACE_INCLUDE_PATH .\n"
	      "#undef TRACE_INCLUDE_FILE\n"
	      "#define TRACE_INCLUDE_FILE fl_trace\n"
	      "#include <trace/define_trace.h>\n", f);
	gen_close(f, GEN_DRIVER);
}

/* ---- notes of a window ---- */

static void write_numbers(void)
{
	FILE *f = gen_open(GEN_C, "driver_trace", source);
	const struct row *r;
	char name[96];

	fputs("\n/* Numbers of the driver's events in a note (window.h). */\n"
	      "enum fl_window_driver_note {\n", f);
	for (r = rows; r < rows + ROWS; r++) {
		snprintf(name, sizeof(name), "FL_WINDOW_NOTE_%s = %u,",
			 number_of(r), (unsigned int)(r - rows));
		fprintf(f, "\t%-31s /* %s */\n", name, r->text);
	}
	fputs("\tFL_WINDOW_NOTES\n};\n", f);
	gen_close(f, GEN_C);
}

static void note_function(FILE *f, const struct row *r)
{
	struct list l;

	fputc('\n', f);
	l = list_begin(f, "static void fl_note_%s(", r->point);
	list_put(&l, "void *w");
	list_args(&l, r, true);
	fputs(")\n{\n", f);
	l = list_begin(f, "\tfl_note(");
	list_put(&l, "w, dev");
	list_put(&l, "FL_WINDOW_NOTE_%s", number_of(r));
	list_numbers(&l, r);
	fprintf(f, ");\n}\nFL_NOTE_SWITCH(%s)\n", r->point);
}

static void write_notes(void)
{
	FILE *f = gen_open(GEN_DRIVER, "fl_note_points", source);
	const struct row *r;
	struct list l;

	fputs("/* fl_note_points.h - a note for each trace point; for fl_note.c alone. */\n", f);
	for (r = rows; r < rows + ROWS; r++)
		note_function(f, r);
	fputs("\nstatic const struct fl_note_switch fl_note_switch[FL_WINDOW_NOTES] = {\n", f);
	for (r = rows; r < rows + ROWS; r++) {
		l = list_begin(f, "\t[FL_WINDOW_NOTE_%s] = { ", number_of(r));
		list_put(&l, "fl_note_%s_on", r->point);
		list_put(&l, "fl_note_%s_off", r->point);
		fputs(" },\n", f);
	}
	fputs("};\n", f);
	gen_close(f, GEN_DRIVER);
}

/* ---- calls of the emulator's recorder ---- */

static void write_shim(void)
{
	FILE *f = gen_open(GEN_SHIM, "trace_points", source);
	const struct row *r;
	struct list l;

	fputs("\nstruct fl_dev;\n", f);
	for (r = rows; r < rows + ROWS; r++) {
		fputc('\n', f);
		l = list_begin(f, "static inline void shim_trace_fl_%s(",
			       r->point);
		list_args(&l, r, true);
		fputs(")\n{\n", f);
		l = list_begin(f, "\tshim_trace(");
		list_put(&l, "EV_%s", r->event);
		list_put(&l, "%s", first_of(r));
		list_numbers(&l, r);
		fputs(");\n}\n", f);
	}
	gen_close(f, GEN_SHIM);
}

void gen_driver_trace(void)
{
	trace_check();
	write_trace();
	write_numbers();
	write_notes();
	write_shim();
}
