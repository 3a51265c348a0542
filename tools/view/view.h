/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h - ways to look at a trace: as text, and as pictures in DOT (Graphviz).
 *
 * All pictures use the same colours, which also differ for colour-blind readers and in
 * grey: a fault is orange-red (VIEW_FAULT) and drawn bold, and nothing else is; recovery is
 * green; what goes well is blue.
 *
 * Files: load.c, have.c, text.c, sequence.c and story.c with rows.c, states.c, walk.c, equal.c with
 * steps.c.
 */
#ifndef FL_VIEW_H
#define FL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct trace_record;

#define VIEW_FAULT	"#D55E00"	/* vermillion of Okabe and Ito */
#define VIEW_GOOD	"#0072B2"
#define VIEW_REPAIR	"#007A5A"
#define VIEW_GREY	"#9A9A9A"
#define VIEW_DARK	"#303030"

struct view_trace {
	struct trace_record *r;
	size_t n;
	uint64_t lost;		/* records that the recorder could not keep */
};

/*
 * Read the text form. Mistakes go to errors as FILE:LINE:COLUMN and what would be right. 0,
 * -EINVAL, or another negative errno when the file cannot be read.
 */
int view_load(const char *path, struct view_trace *t, FILE *errors);
void view_free(struct view_trace *t);

/*
 * The wire does not know what it carries: give its records the transfer, block and
 * attempt of their causes. Pictures and counts want that; the text does not.
 */
void view_inherit(struct trace_record *r, size_t n);

/* What the records of a trace may be asked for. */
enum view_kind { VIEW_BOARD, VIEW_XFER, VIEW_BLOCK };
/* Is there a record of this board, transfer or block? xfer 0: of any transfer. */
bool view_has(const struct view_trace *t, enum view_kind kind, uint32_t xfer,
	      uint32_t value);
/* "there are 1 to 3", "there is only 0", "there is none" */
void view_say(FILE *f, const struct view_trace *t, enum view_kind kind,
	      uint32_t xfer);
/* How many faults a walk can be drawn of; xfer 0: of any transfer. */
unsigned int view_faults(const struct view_trace *t, uint32_t xfer);

struct view_filter {
	int board;		/* -1: all */
	uint32_t xfer;		/* 0: all */
	uint32_t block;		/* 0: all */
	int event;		/* -1: all */
};
/* A line a record, with the meaning of its event in words when told is set. */
void view_text(FILE *f, const struct view_trace *t,
	       const struct view_filter *filter, bool told);

/*
 * One transfer across application, library, driver, SMMU, engine, wire and back. xfer 0:
 * the first one that met a fault, else the first. block 0: the first that met a fault. -ENOENT
 * when the trace has no such transfer.
 */
int view_sequence(FILE *f, const struct view_trace *t, uint32_t xfer,
		  uint32_t block);
/* The same as text, a line each step. */
int view_story(FILE *f, const struct view_trace *t, uint32_t xfer,
	       uint32_t block);
/*
 * The two state machines of the engine, with the transitions of this run counted; -ENOENT: none
 * was taken, as with packets.
 */
int view_states(FILE *f, const struct view_trace *t, int board);
/*
 * The table walk that met the n-th fault (from 1; 0: the one that went deepest), level by
 * level. -ENOENT: no such fault.
 */
int view_walk(FILE *f, const struct view_trace *t, uint32_t xfer,
	      unsigned int n);

/*
 * Did the driver do the same in both traces (equal.c)? Block by block: faults, work,
 * requests to the kernel, invalidations, answers; what may differ is in a table of
 * rules. allow: names of rules that hold here besides those that always do, NULL at
 * the end. What differs goes to f, both sequences side by side. *differ: how many
 * blocks or pages do; *blocks: how many were looked at. 0, -ENOMEM, -EOVERFLOW: a
 * trace has lost records.
 */
int view_equal(FILE *f, const struct view_trace *one,
	       const struct view_trace *other, const char *const *allow,
	       unsigned int *blocks, unsigned int *differ);
/* The table, as rows of AsciiDoc. */
void view_equal_rules(FILE *f);
/* Names of the rules that may be allowed, NULL at the end. */
const char *const *view_equal_names(void);

/* The transfer that the pictures take when none is named; 0: there is none. */
uint32_t view_first_xfer(const struct view_trace *t);

#endif
