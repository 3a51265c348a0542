/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compete.h - the engine in Verilog while everything happens at once, and C behind it.
 *
 *	compete.c		rounds; what must have been met
 *	compete_soft.c		firmware, driver, and the wire between two cards
 *	compete_pins.c		one clock cycle: each port with a pace of its own
 *	compete_follow.c	the C engine does what the Verilog has done, in that order
 *	compete_ahead.c		what the Verilog reads before C does
 *
 * The Verilog leads: registers are read and written, packets come and leave, and both memory
 * channels work, all of it at the same time and with random pauses. Its control takes one event
 * at a time and says which (FL_TRC_SERVED). That is the order: when an event is over, the C
 * engine does the same, gets the answers that the Verilog got (room on the wire, status of
 * bursts), and must have the same to say: records, packets, register values, interrupt lines.
 *
 * A burst begins when its address valid rises. The C engine has no step that only chooses a
 * block, so while the Verilog chooses, C is told that its burst is held; it begins again when
 * the Verilog does. That a burst has ended, C hears with what follows from it.
 */
#ifndef FL_RTL_COMPETE_H
#define FL_RTL_COMPETE_H

#include "fl_trace.h"
#include "nic/engine_internal.h"
#include "rtl/cosim/engine_plugin.h"
#include "rtl/cosim/model.h"
#include "rtl/cosim/random_draw.h"

#define CARDS		2
#define BEAT		16
#define BEATS_MAX	(ENGINE_PAGE / BEAT + 1)
#define SEEN_RECORDS	1024	/* of one event */
#define SEEN_FRAMES	300
#define SEEN_ROOM	700
#define ARRIVING	8
#define QUEUE		64
#define ACCESSES	64
#define SERVED_RING	64
#define AHEAD_MOST	17	/* bursts of a block */

/* Events that may come before one that waits: each kind once, and notes that were late. */
#define PATIENCE_MOST	7

/* Events of fl_ctl, and what its channels report. */
enum { SERVE_REG, SERVE_PACKET, SERVE_WRITE, SERVE_READ, SERVE_FLUSH, SERVES, SERVE_LATE = 7 };
enum { RE_PICK, RE_CELL, RE_FAULTED, RE_BUSERR, RE_DROPPED };
enum { WE_NEXT, WE_LANDED, WE_REFUSED, WE_BUSERR, WE_CANCELLED, REPORTS };

/* One burst at the pins of a channel. */
struct burst {
	bool up;		/* address valid was seen; over when it has ended */
	bool taken;		/* and the address was taken */
	bool answer;		/* a beat, or the answer, stands at the pins */
	bool data_over;		/* write: every beat came */
	uint64_t va, address;
	uint32_t len, beats, beat, bad;	/* bad: this beat is */
	uint16_t stream;
	uint8_t ctx, arlen, resp;
	enum dma_status status;
	unsigned int wait;	/* cycles until the memory answers */
	uint8_t data[BEATS_MAX * BEAT];
	uint8_t said[ENGINE_PAGE];	/* write: what C has in it */
	bool c_said;
};

/* Bursts of the block whose turn may be next. */
struct ahead {
	struct burst burst[AHEAD_MOST];
	unsigned int count;
	bool spoilt;		/* its context was not READY all the time */
};

struct access {
	bool write, part;	/* part: of a word, which is refused */
	uint32_t off, value;
};

/* A queue of accesses, and the one that is at the pins. */
struct master {
	struct access queue[ACCESSES];
	unsigned int head, count;
	bool valid[2], taken[2];	/* of address, of data (writes) */
	bool asked;		/* taken; its answer was not */
	bool told;		/* the answer is there */
	bool answered, bad;	/* and what it is, until control is done with it */
	uint32_t value;
};

/* What the Verilog did in the event that is being carried out. */
struct seen {
	bool open;
	unsigned int event, report;
	struct model_out record[SEEN_RECORDS];
	bool room[SEEN_ROOM];
	struct wire_frame frame[SEEN_FRAMES];
	unsigned int records, rooms, frames;
	unsigned int record_at, room_at, frame_at;	/* that C has come to */
	bool late;		/* a block is stopped whose burst is at the port */
	int done;		/* C: the transmit context that came to DONE; or -1 */
};

struct pace {			/* of 100 cycles, this many */
	unsigned int ready, valid, room, again, go, access;
};

struct card {
	unsigned int node;
	struct model *model;
	struct model_in in;
	struct model_out out;
	uint64_t cycles;
	struct engine *engine;		/* C */
	struct c_engine *c;
	struct engine_cause cause;
	struct wire_frame spare;	/* that C fills */
	struct pace pace;
	struct seen seen;
	struct burst burst[CHANNELS];
	struct ahead ahead;
	uint32_t tx_ready;		/* contexts in READY, by the records */
	bool picking;			/* C: a block is only chosen */
	struct burst *begins;		/* C: this burst begins */
	bool later[CHANNELS];		/* C: one begins when the event is over */
	bool line[2];
	struct master bus[2];		/* reads, writes */
	struct access served;		/* the access that control has */
	bool late;			/* a note of C's is kept back: */
	unsigned int late_index;
	uint8_t late_serial;
	struct note notes[NOTES_RING];	/* as they were before the event */
	unsigned int notes_head, notes_count;
	uint8_t notes_in[8][ENGINE_RXC_MAX];
	/* packets */
	struct wire_frame out_frame;
	struct wire_frame queue[QUEUE];	/* on the way here */
	unsigned int queued;
	struct wire_frame in_frame;
	uint32_t in_at;
	bool in_open, in_valid;
	struct wire_frame arriving[ARRIVING];	/* came whole; control has not seen them */
	unsigned int arrived;
	struct {
		uint8_t event, report, waiting;
	} ring[SERVED_RING];
	uint64_t serves;
	unsigned int waits[SERVES];	/* events served while this kind waited */
	unsigned int owed;		/* room came again: so many until who waits for it leaves */
};

struct compete {
	const struct model_ops *ops;
	uint64_t done, serves, together, pairs[SERVES][SERVES];
	uint64_t reports[CHANNELS][REPORTS], late, resets, denied, ahead, in_vain;
	uint32_t longest;
	bool calm, rest;		/* nothing is lost; nothing new begins */
	struct engine_config cfg;
	struct card card[CARDS];
};
extern struct compete k;

__attribute__((noreturn, format(printf, 2, 3)))
void card_differ(struct card *x, const char *fmt, ...);

/* compete_follow.c */
bool follow_create(struct card *x);
void follow_record(struct card *x);
void follow_close(struct card *x);	/* the event is over: C does it */
/* A burst is about to begin: what chose its block is over, for C too. */
void follow_choice(struct card *x, unsigned int channel);
/* So is the burst before it. Then: it begins. */
void follow_ahead(struct card *x, unsigned int channel);
void follow_begin(struct card *x, unsigned int channel);
void follow_data(struct card *x, struct burst *b);	/* what was written is all there */
void follow_reset(struct card *x);
/* Nothing moves in the Verilog: nor may C have anything to do. */
void follow_rest(struct card *x);

/* compete_ahead.c */
/* A burst of this context is none of C's block. Then: it is read ahead. */
bool ahead_burst(const struct card *x, uint8_t ctx);
void ahead_begins(struct card *x, const struct burst *b);
void ahead_record(struct card *x);	/* a context changes state */
/* C has chosen a block: so many bursts of it have been read. */
unsigned int ahead_chosen(struct card *x);

/* compete_pins.c */
void pins_clock(struct card *x);
bool pins_still(const struct card *x);
void pins_reset(struct card *x);

/* compete_soft.c */
void soft_act(struct card *x);
void soft_push(struct card *x, bool write, uint32_t off, uint32_t value);
void soft_deliver(struct card *x);
void soft_sent(struct card *x, const struct wire_frame *f);
/* Every register of every context. */
bool soft_read_all(struct card *x, unsigned int *at);

/* The byte that stands at an address. */
static inline uint8_t memory_byte(uint64_t va)
{
	return (uint8_t)(va * 2654435761u >> 11);
}

static inline bool random_percent(unsigned int n)
{
	return random_below(100) < n;
}

#endif
