// SPDX-License-Identifier: BSD-2-Clause
/* The engine's state machines, from fsm.def. */
#include "gen.h"

#include <string.h>

enum kind { STATE_ROW, EVENT_ROW, ARC_ROW, NOTE_ROW };

struct row {
	enum kind kind;
	const char *machine, *name;	/* ARC_ROW: name is the old state */
	const char *event, *to;
	unsigned int value;
	const char *owner;		/* of a state; source of an event */
	const char *text;
};

static const struct row rows[] = {
#define FSTATE(machine, name, value, owner, text)			      \
	{ STATE_ROW, #machine, #name, 0, 0, value, #owner, text },
#define FEVENT(machine, name, value, source, text)			      \
	{ EVENT_ROW, #machine, #name, 0, 0, value, #source, text },
#define ARC(machine, from, event, to, text)				      \
	{ ARC_ROW, #machine, #from, #event, #to, 0, 0, text },
#define FNOTE(name, value, text)					      \
	{ NOTE_ROW, "NOTE", #name, 0, 0, value, "engine", text },
#include "faultline/fsm.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define STATE_BITS 4	/* of the registers that show a state */

static const char source[] = "kernel-ref/include/faultline/fsm.def";
static const char *const machines[] = { "TX", "RX" };
static const char *const owners[] = { "software", "datapath", "network" };

static const struct row *fsm_find(enum kind kind, const char *machine,
				  const char *name)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (rows[i].kind == kind &&
		    !strcmp(rows[i].machine, machine) &&
		    !strcmp(rows[i].name, name))
			return &rows[i];
	gen_bad(source, "%s has no %s %s", machine,
		kind == STATE_ROW ? "state" : "event", name);
}

static unsigned int fsm_count(enum kind kind, const char *machine)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < ROWS; i++)
		n += rows[i].kind == kind && !strcmp(rows[i].machine, machine);
	return n;
}

/*
 * States and events are numbered from 0 in the order in which they stand, notes
 * from 1: a note of 0 is none.
 */
static void check_number(const struct row *r)
{
	const struct row *p;
	unsigned int n = r->kind == NOTE_ROW;
	size_t i;

	for (p = rows; p < r; p++)
		n += p->kind == r->kind && !strcmp(p->machine, r->machine);
	if (r->value != n)
		gen_bad(source, "%s %s should be number %u", r->machine,
			r->name, n);
	if (r->kind == STATE_ROW && r->value >= (1u << STATE_BITS) - 1)
		gen_bad(source, "%s has too many states", r->machine);
	if (r->kind == NOTE_ROW)
		return;
	for (i = 0; i < 3; i++)
		if (!strcmp(r->owner, owners[i]))
			return;
	gen_bad(source, "%s %s: %s is no owner", r->machine, r->name, r->owner);
}

static void check_arc(const struct row *r)
{
	const struct row *p;

	fsm_find(STATE_ROW, r->machine, r->name);
	fsm_find(STATE_ROW, r->machine, r->to);
	fsm_find(EVENT_ROW, r->machine, r->event);
	for (p = rows; p < r; p++)
		if (p->kind == ARC_ROW && !strcmp(p->machine, r->machine) &&
		    !strcmp(p->name, r->name) && !strcmp(p->event, r->event))
			gen_bad(source, "%s: %s in %s leads to two states",
				r->machine, r->event, r->name);
}

/* Every state is entered and left, every event leads somewhere. */
static void check_use(const struct row *r)
{
	bool in = false, out = false, event = false;
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind != ARC_ROW ||
		    strcmp(rows[i].machine, r->machine))
			continue;
		out |= !strcmp(rows[i].name, r->name);
		in |= !strcmp(rows[i].to, r->name);
		event |= !strcmp(rows[i].event, r->name);
	}
	if (r->kind == STATE_ROW && !(in && out))
		gen_bad(source, "%s %s is never %s", r->machine, r->name,
			in ? "left" : "entered");
	if (r->kind == EVENT_ROW && !event)
		gen_bad(source, "%s: event %s changes nothing", r->machine,
			r->name);
}

static void c_notes(FILE *f)
{
	char name[96];
	size_t i;

	fputs("\nenum fl_note {\n", f);
	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind != NOTE_ROW)
			continue;
		snprintf(name, sizeof(name), "FL_NOTE_%s = %u,", rows[i].name,
			 rows[i].value);
		fprintf(f, "\t%-27s /* %s */\n", name, rows[i].text);
	}
	fputs("};\n", f);
}

static void fsm_c_enum(FILE *f, const char *machine, enum kind kind)
{
	const char *infix = kind == EVENT_ROW ? "EV_" : "";
	char name[96];
	size_t i;

	fprintf(f, "\nenum fl_%s_%s {\n", gen_lower(machine),
		kind == EVENT_ROW ? "event" : "state");
	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind != kind || strcmp(rows[i].machine, machine))
			continue;
		snprintf(name, sizeof(name), "FL_%s_%s%s = %u,", machine,
			 infix, rows[i].name, rows[i].value);
		fprintf(f, "\t%-27s /* %s: %s */\n", name, rows[i].owner,
			rows[i].text);
	}
	fprintf(f, "\tFL_%s_%s = %u,\n};\n", machine,
		kind == EVENT_ROW ? "EVENTS" : "STATES",
		fsm_count(kind, machine));
}

static void fsm_write_c(void)
{
	FILE *f = gen_open(GEN_C, "fsm", source);
	size_t m;

	for (m = 0; m < 2; m++) {
		fsm_c_enum(f, machines[m], STATE_ROW);
		fsm_c_enum(f, machines[m], EVENT_ROW);
		fprintf(f, "\n#define FL_%s_ARCS %u\n", machines[m],
			fsm_count(ARC_ROW, machines[m]));
	}
	c_notes(f);
	gen_close(f, GEN_C);
}

/* The arcs as tables of C, beside the enums that kernel and library have enough of. */
static void write_c_next(void)
{
	FILE *f = gen_open(GEN_C, "fsm_next", source);
	const char *m;
	size_t k, i;

	fputs("#include \"faultline/fsm.h\"\n\n"
	      "/* [state][event]: the next state plus 1; 0: no such arc. */\n", f);
	for (k = 0; k < 2; k++) {
		m = machines[k];
		fprintf(f, "%sstatic const unsigned char "
			"fl_%s_next[FL_%s_STATES][FL_%s_EVENTS] = {\n",
			k ? "\n" : "", gen_lower(m), m, m);
		for (i = 0; i < ROWS; i++)
			if (rows[i].kind == ARC_ROW &&
			    !strcmp(rows[i].machine, m))
				fprintf(f, "\t[FL_%s_%s][FL_%s_EV_%s] = "
					"FL_%s_%s + 1,\n", m, rows[i].name, m,
					rows[i].event, m, rows[i].to);
		fputs("};\n", f);
	}
	gen_close(f, GEN_C);
}

static void fsm_write_verilog(void)
{
	FILE *f = gen_open(GEN_VERILOG, "fsm", source);
	char name[96];
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind == ARC_ROW)
			continue;
		if (!i || rows[i - 1].kind != rows[i].kind)
			fputc('\n', f);
		gen_comment(f, GEN_VERILOG, rows[i].text);
		snprintf(name, sizeof(name), "FL_%s_%s%s", rows[i].machine,
			 rows[i].kind == EVENT_ROW ? "EV_" : "", rows[i].name);
		gen_define(f, GEN_VERILOG, name);
		fprintf(f, "%d'd%u\n",
			rows[i].kind == NOTE_ROW ? 8 : STATE_BITS,
			rows[i].value);
	}
	gen_close(f, GEN_VERILOG);
}

/* The arcs as functions; the file is included inside a module. */
static void write_functions(void)
{
	FILE *f = gen_open(GEN_VERILOG_BODY, "fsm_next", source);
	size_t m, i;

	fputs("// Include fsm.vh first, this file inside a module. "
	      "What is not listed changes nothing.\n", f);
	for (m = 0; m < 2; m++) {
		fprintf(f, "\nfunction [%d:0] %s_next;\n", STATE_BITS - 1,
			gen_lower(machines[m]));
		fprintf(f, "    input [%d:0] state;\n    input [%d:0] cause;\n"
			"    case ({state, cause})\n",
			STATE_BITS - 1, STATE_BITS - 1);
		for (i = 0; i < ROWS; i++) {
			if (rows[i].kind != ARC_ROW ||
			    strcmp(rows[i].machine, machines[m]))
				continue;
			fprintf(f, "    {`FL_%s_%s, `FL_%s_EV_%s}: ",
				machines[m], rows[i].name, machines[m],
				rows[i].event);
			fprintf(f, "%s_next = `FL_%s_%s;\n",
				gen_lower(machines[m]), machines[m],
				rows[i].to);
		}
		fprintf(f, "    default: %s_next = state;\n    endcase\n"
			"endfunction\n", gen_lower(machines[m]));
	}
	gen_close(f, GEN_VERILOG_BODY);
}

/*
 * A translate filter file of GTKWave: a value as it stands in the waves, and its
 * name, with a colour for its owner.
 */
static void write_waves(void)
{
	static const char *const colours[] = { "brown", "darkgreen", "navy" };
	unsigned int owner;
	char name[16];
	size_t m, i;
	FILE *f;

	for (m = 0; m < 2; m++) {
		snprintf(name, sizeof(name), "fsm_%s", gen_lower(machines[m]));
		f = gen_open(GEN_WAVES, name, source);
		for (i = 0; i < ROWS; i++) {
			if (rows[i].kind != STATE_ROW ||
			    strcmp(rows[i].machine, machines[m]))
				continue;
			for (owner = 0; strcmp(rows[i].owner, owners[owner]);)
				owner++;
			fprintf(f, "%X ?%s?%s\n", rows[i].value,
				colours[owner], rows[i].name);
		}
		gen_close(f, GEN_WAVES);
	}
}

static void book_table(FILE *f, const char *machine, enum kind kind)
{
	size_t i;

	fprintf(f, "\n.%s: %s\n[cols=\"2,4,4,14\",options=\"header\"]\n|===\n",
		machine, kind == STATE_ROW ? "states" : "events");
	fprintf(f, "|No. |Name |%s |Meaning\n",
		kind == STATE_ROW ? "Owner" : "Comes from");
	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind != kind || strcmp(rows[i].machine, machine))
			continue;
		fprintf(f, "\n|%u\n|%s\n|%s\n", rows[i].value, rows[i].name,
			rows[i].owner);
		gen_cell(f, rows[i].text);
	}
	fputs("|===\n", f);
}

static void book_notes(FILE *f)
{
	size_t i;

	fputs("\n.What the engine tells the firmware\n"
	      "[cols=\"1,2,8\",options=\"header\"]\n|===\n"
	      "|No. |Name |Meaning\n", f);
	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind != NOTE_ROW)
			continue;
		fprintf(f, "\n|%u\n|%s\n", rows[i].value, rows[i].name);
		gen_cell(f, rows[i].text);
	}
	fputs("|===\n", f);
}

static void fsm_write_book(void)
{
	FILE *f = gen_open(GEN_BOOK, "fsm", source);
	size_t m, i;

	for (m = 0; m < 2; m++) {
		book_table(f, machines[m], STATE_ROW);
		book_table(f, machines[m], EVENT_ROW);
		fprintf(f, "\n.%s: transitions\n[cols=\"2,2,2,6\","
			"options=\"header\"]\n|===\n|In |Event |Becomes |And\n",
			machines[m]);
		for (i = 0; i < ROWS; i++) {
			if (rows[i].kind != ARC_ROW ||
			    strcmp(rows[i].machine, machines[m]))
				continue;
			fprintf(f, "\n|%s\n|%s\n|%s\n", rows[i].name,
				rows[i].event, rows[i].to);
			gen_cell(f, rows[i].text);
		}
		fputs("|===\n", f);
	}
	book_notes(f);
	gen_close(f, GEN_BOOK);
}

void gen_fsm(void)
{
	size_t i;

	for (i = 0; i < ROWS; i++) {
		if (rows[i].kind == ARC_ROW) {
			check_arc(&rows[i]);
		} else {
			check_number(&rows[i]);
			if (rows[i].kind != NOTE_ROW)
				check_use(&rows[i]);
		}
	}
	fsm_write_c();
	write_c_next();
	fsm_write_verilog();
	write_functions();
	write_waves();
	fsm_write_book();
}
