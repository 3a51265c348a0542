/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * system_rules.h - what a row of the table of systems has to keep to, once. The generator
 * asks it of the rows of system.def, the driver of a row that a process brings along
 * (uapi.h, struct fl_policy), and a scenario of one that it derives.
 *
 * The facts come from system.def (struct fl_system_rules; system_rows.h has them as they
 * were generated), so that the generator can ask before there is anything generated.
 */
#ifndef FAULTLINE_SYSTEM_RULES_H
#define FAULTLINE_SYSTEM_RULES_H

/* Members of struct fl_system_row, in their order. */
enum fl_column {
	FL_COLUMN_TABLES,
	FL_COLUMN_BEFORE,
	FL_COLUMN_TRANSPORT,
	FL_COLUMN_IR,
	FL_COLUMN_IW,
	FL_COLUMN_RR,
	FL_COLUMN_RW,
	FL_COLUMN_TELLS,
	FL_COLUMNS
};

#define FL_COLUMN_VALUES	32	/* of one column at most */
#define FL_TRANSPORT_VALUES	4

struct fl_system_value {
	unsigned int transports;	/* a bit for each on which it can be */
	/* On each of them: a bit for each cell in which it can stand. */
	unsigned int columns[FL_TRANSPORT_VALUES];
};

struct fl_system_rules {
	unsigned char values[FL_COLUMNS];	/* so many each column has */
	/* Their numbers. */
	unsigned char hold, abort, fail, sink, resume, status, nothing, pin, cache,
		      before_nothing, inserted, tables_sink, divert, resolved;
	struct fl_system_value value[FL_COLUMNS][FL_COLUMN_VALUES];
};

enum fl_row_wrong {
	FL_ROW_RIGHT,
	FL_ROW_VALUE,		/* the column has no such value */
	FL_ROW_TRANSPORT,	/* the value is not possible on the row's transport */
	FL_ROW_PLACE,		/* the verdict cannot stand in this cell */
	/* SCTLR.CFCFG is one bit of the process's context bank. */
	FL_ROW_HOLDS,		/* a process stalls all of its misses, or none */
	FL_ROW_TELLS,		/* a stalled access is resumed, and no other */
	/* The driver answers what it has of both, and is not told which. */
	FL_ROW_ABORTS,		/* both of iw and rw are abort, or none */
	FL_ROW_STATUS,		/* what ends is told how, and nothing else is */
	/* What is not in these tables is not brought in, and what is in them is pinned. */
	FL_ROW_INSERTED,	/* inserted: pin or cache, and fail everywhere; fail nowhere else */
	/* These tables know no miss, so there is nothing else to become of one. */
	FL_ROW_DIVERTS,	/* tells resolved belongs to rw divert, and to nothing else */
	FL_ROW_SINK,	/* tables sink: before and tells nothing, sink everywhere; nowhere else */
};

struct fl_row_judged {
	enum fl_row_wrong wrong;
	enum fl_column column;	/* the first that is wrong */
};

static inline struct fl_row_judged
fl_row_wrong(enum fl_row_wrong wrong, unsigned int column)
{
	struct fl_row_judged j = { wrong, (enum fl_column)column };

	return j;
}

/* cell: FL_COLUMNS numbers, of which any may be nonsense. */
static inline struct fl_row_judged
fl_row_judge(const unsigned char *cell, const struct fl_system_rules *rules)
{
	const struct fl_system_value *value;
	unsigned int c, holds = 0, fails = 0, sinks = 0, resumed, aborts, both, told,
		     pins, sunk, diverts, transport = cell[FL_COLUMN_TRANSPORT];

	for (c = 0; c < FL_COLUMNS; c++)
		if (cell[c] >= rules->values[c])
			return fl_row_wrong(FL_ROW_VALUE, c);
	for (c = 0; c < FL_COLUMNS; c++) {
		value = &rules->value[c][cell[c]];
		if (!(value->transports >> transport & 1))
			return fl_row_wrong(FL_ROW_TRANSPORT, c);
		if (!(value->columns[transport] >> c & 1))
			return fl_row_wrong(FL_ROW_PLACE, c);
		if (c < FL_COLUMN_IR || c > FL_COLUMN_RW)
			continue;
		holds += cell[c] == rules->hold;
		fails += cell[c] == rules->fail;
		sinks += cell[c] == rules->sink;
	}
	for (c = FL_COLUMN_IR; holds && c <= FL_COLUMN_RW; c++)
		if (cell[c] != rules->hold)
			return fl_row_wrong(FL_ROW_HOLDS, c);
	resumed = cell[FL_COLUMN_TELLS] == rules->resume;
	if (resumed == !holds)
		return fl_row_wrong(FL_ROW_TELLS, FL_COLUMN_TELLS);
	aborts = cell[FL_COLUMN_RW] == rules->abort;
	both = cell[FL_COLUMN_IW] == rules->abort;
	if (both != aborts)
		return fl_row_wrong(FL_ROW_ABORTS, FL_COLUMN_IW);
	pins = cell[FL_COLUMN_BEFORE] == rules->pin ||
	       cell[FL_COLUMN_BEFORE] == rules->cache;
	if (fails != (cell[FL_COLUMN_TABLES] == rules->inserted ? 4 : 0) ||
	    (fails && !pins))
		return fl_row_wrong(FL_ROW_INSERTED, FL_COLUMN_TABLES);
	sunk = cell[FL_COLUMN_TABLES] == rules->tables_sink;
	if (sinks != (sunk ? 4 : 0) ||
	    (sunk && cell[FL_COLUMN_BEFORE] != rules->before_nothing))
		return fl_row_wrong(FL_ROW_SINK, FL_COLUMN_TABLES);
	told = cell[FL_COLUMN_TELLS] == rules->resolved;
	diverts = cell[FL_COLUMN_RW] == rules->divert;
	if (told != diverts)
		return fl_row_wrong(FL_ROW_DIVERTS, FL_COLUMN_TELLS);
	told = cell[FL_COLUMN_TELLS] == rules->nothing;
	if (told != sunk)
		return fl_row_wrong(FL_ROW_SINK, FL_COLUMN_TELLS);
	told = cell[FL_COLUMN_TELLS] == rules->status;
	if (told != (aborts || fails))
		return fl_row_wrong(FL_ROW_STATUS, FL_COLUMN_TELLS);
	return fl_row_wrong(FL_ROW_RIGHT, 0);
}

#endif
