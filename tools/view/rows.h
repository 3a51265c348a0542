/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - from records to the rows of a sequence picture (private to tools/view).
 *
 * A row is an arrow between two lanes or a note on one. Records that say the same about the
 * same attempt of a block become one row with a count.
 */
#ifndef FL_VIEW_ROWS_H
#define FL_VIEW_ROWS_H

#include "tools/view/view.h"
#include "trace/trace.h"

enum lane {
	LANE_APP, LANE_LIB, LANE_DRV, LANE_SMMU, LANE_ENG, LANE_WIRE,
	LANE_ENG_B, LANE_SMMU_B, LANE_DRV_B, LANES
};

enum tone { TONE_PLAIN, TONE_FAULT, TONE_REPAIR, TONE_TROUBLE };

struct row {
	enum lane from, to;	/* equal: a note */
	enum tone tone;
	uint64_t time_ns;
	uint64_t count, sum;	/* records, and the sum of what they carry */
	uint64_t second;	/* another count (walks, of translations) */
	struct trace_record rec;	/* the first */
	bool breaks;		/* nothing is merged across it */
};

struct others {			/* blocks that are not drawn */
	uint32_t blocks, refused, resent;
};

struct rows {
	struct row *row;
	size_t n;
	uint32_t xfer, block, blocks;
	size_t first;		/* record that the transfer begins with */
	uint8_t home;		/* board that posted */
	struct others others;
};

/* -ENOENT no such transfer, -ENOMEM. */
int rows_make(struct rows *rows, const struct view_trace *t, uint32_t xfer,
	      uint32_t block);
void rows_free(struct rows *rows);
/*
 * rows_packet.c: events of the packet units and of the card's own table. Its row; may two
 * of one event be one row; its text.
 */
bool row_is_packet(const struct trace_record *r);
/* What is sent under this opcode has an event of its own. */
bool wire_is_told(uint8_t opcode);
bool packet_row(struct row *row, const struct trace_record *r, bool away);
bool packet_same(const struct trace_record *a, const struct trace_record *b);
void packet_label(const struct row *row, char *text, size_t bytes);
/* "Transfer 3, block 1 of 4", or without the block where there are none. */
void rows_title(const struct rows *rows, char *text, size_t bytes);
/* Text of a row. */
void row_label(const struct row *row, char *text, size_t bytes);
/* "16 KB", "100 B" */
const char *view_bytes(uint64_t n, char text[24]);

#endif
