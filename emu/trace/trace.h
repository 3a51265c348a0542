/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h - the recorder of events, and what reads its records. Code that only records
 * needs event.h alone.
 *
 * A record is fixed-size and binary, goes into a ring and names the record that caused it,
 * so that a trace is a graph and not just a list. In lockstep each part of a run has its own
 * ring (a board and its software; what is on no board), in threads mode each thread, and the
 * upper 16 bits of a sequence number name it. What readers are given of lockstep is in one
 * order and numbered from 1.
 */
#ifndef FL_TRACE_H
#define FL_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/event.h"

#define TRACE_ARGS 4

struct trace_record {
	uint64_t seq;	  /* never 0 */
	uint64_t cause;	  /* seq of the causing record, 0: none */
	uint64_t time_ns; /* virtual time; 0 in threads mode */
	/*
	 * Since start; coarse: read once per batch of work. In a ring of lockstep,
	 * trace_turn.place; for readers 0 there.
	 */
	uint64_t wall_ns;
	uint16_t event;	  /* enum trace_event */
	uint8_t board;
	uint8_t pad;
	uint32_t xfer;	  /* transfer number, 0: none */
	uint32_t block;	  /* block of the transfer, counted from 1; 0: none */
	uint32_t attempt; /* attempt of the block, counted from 0 */
	uint64_t arg[TRACE_ARGS];
};

/* Names as in events.def. An argument that the event does not have is "". */
struct trace_event_info {
	const char *name;
	enum trace_unit unit;
	const char *arg[TRACE_ARGS];
	const char *text;
};
extern const struct trace_event_info trace_events[EV_COUNT];
extern const char *const trace_unit_names[UNIT_COUNT];

struct trace_config {
	uint32_t ring_records; /* per ring, rounded up to a power of two;
				  default 65536 */
	bool threads;	       /* one ring per thread, wall time only */
	FILE *out; /* text form of every record; NULL: keep the rings only */
};

struct trace *trace_create(const struct trace_config *cfg);
/* Write what is left to cfg.out (the FILE stays open); free. */
void trace_destroy(struct trace *t);

/*
 * Lockstep: one more ring. Its number, from 1 on (0 is there from the start), or -ENOMEM if
 * there is no memory for it, or 256 of them.
 */
int trace_ring_add(struct trace *t);
/*
 * Lockstep: into which ring a record goes, and which time it carries, which never goes back.
 * Of those of one time in several rings, the ones with the smaller place come first, unless
 * the others caused them. In one ring, a place that is smaller than the one before it counts
 * as that one.
 */
struct trace_turn {
	uint64_t time_ns, place;
	uint32_t ring;
};
/*
 * From here on turn says so, whenever a record is made. NULL: as it does now; before the first
 * call it is all 0.
 */
void trace_follow(struct trace *t, const struct trace_turn *turn);
/* Threads: read the wall clock once for the following records of this thread.
 */
void trace_tick(struct trace *t);
/* The same, when CLOCK_MONOTONIC has just been read. */
void trace_tick_at(struct trace *t, uint64_t monotonic_ns);

/* How often ev was emitted since the start. */
uint64_t trace_count(const struct trace *t, enum trace_event ev);

/* Turn recording off and on (for measuring what it costs). Counting goes on. */
void trace_enable(struct trace *t, bool on);

/*
 * Copy at most n of the newest records, oldest first, in sequence order;
 * returns how many. For lockstep, or after every thread has stopped. Where a ring of lockstep
 * has lost records, those of others that are older are left out, too, and a cause that is
 * among them is 0.
 */
uint32_t trace_snapshot(const struct trace *t, struct trace_record *out,
			uint32_t n);

/*
 * The text form: "#faultline-trace 1" as the first line, then one record a
 * line: seq<cause time board.unit EVENT xfer.block.attempt name=value ...
 * Numbers are decimal; addresses, maps and descriptors (argument names that end
 * in va, pa, map, desc or fsr) hexadecimal with 0x. In threads mode seq is
 * ring:number and time is +wall_ns; a last line "#lost N" says that records had
 * to be dropped.
 */
void trace_header_text(FILE *f);
void trace_record_text(FILE *f, const struct trace_record *r);
/* Parse a line; 0, or -EINVAL with the column of the mistake in *column. */
int trace_record_parse(const char *line, struct trace_record *r, int *column);

#endif
