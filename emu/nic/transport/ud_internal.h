/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud_internal.h - what the files of the datagrams' unit share.
 *
 *	ud.c		front door: pairs, arriving frames, the two channels
 *	ud_create.c	making and resetting a unit, what it counts, what must hold
 *	ud_out.c	what they say to whatever is around the unit
 *	ud_move.c	bytes of one packet to or from memory, burst by burst
 *	ud_ring.c	receives: which one a packet is for, and announcing them in order
 *	ud_backup.c	the backup ring, and the driver's answers
 */
#ifndef FL_UD_INTERNAL_H
#define FL_UD_INTERNAL_H

#include <stddef.h>

#include "nic/fw.h"
#include "nic/transport/inbox.h"
#include "nic/transport/rc_wire.h"
#include "nic/transport/ud.h"

#define UD_PAIRS	(1u << FW_QP_PLACE_BITS)
#define UD_PAGE		4096
#define UD_NEVER	UINT64_MAX
#define UD_EINVAL	22
/* Channels 0 and 1 of the memory port are the reliable connection's, 2 and 3 NetVM's. */
#define UD_CHANNEL(n)	(4 + (n))

/* ---- bytes of one packet on their way to or from memory ---- */

enum ud_moved { UD_MOVED, UD_MOVING, UD_MISSED, UD_DENIED, UD_BROKEN };

struct ud_mover {
	const struct fw_segment *segment;
	uint8_t *buf;
	uint64_t cause;
	uint64_t va;		/* of the burst */
	uint32_t at, left;	/* in the packet */
	uint32_t key, object;
	uint32_t xfer, bursts;
	uint16_t qp;
	uint8_t segments, channel, denied;
	uint8_t reached;	/* 1 + segment that may be accessed; 0: none yet */
	bool write, open, broken;
	struct dma_burst burst;
};

/* ---- one queue pair ---- */

/* A receive, from head on, whose packet has come. */
struct ud_place {
	struct fw_recv recv;
	struct fw_arrival arrival;
	bool posted;		/* recv is it; else the packet came before the receive */
	bool told;		/* the driver knows of the receive */
};

/* Together they decide where the next packet goes, so they change together. */
struct ud_at {
	uint16_t head, offset;
};

struct ud_ring {
	struct ud_at at;
	uint64_t bitmap[UD_BITS_MAX / 64];
	uint16_t bm_size, bm_index;
	uint8_t serial;		/* counts openings: answers to older ones are over */
	uint32_t held;		/* bits that are set */
	uint32_t untold;	/* of these, receives that the driver has not been told of */
	bool over_due;		/* the driver is to forget what it holds */
	struct ud_place *place;	/* receive n at n % UD_AHEAD */
};

struct ud_req {
	struct fw_work work;
	uint32_t wr;
};

struct ud_pair {
	uint16_t place;
	bool open, parked;
	uint32_t epoch;		/* counts closings */
	struct fw_pair p;
	uint32_t psn;
	uint32_t head, tail;	/* requests: oldest, next to be posted */
	struct ud_req *req;	/* number n in req[n % FW_QP_WRS] */
	struct ud_ring ring;
};

/* ---- the unit ---- */

struct ud_job {			/* channel 0 */
	bool active;
	struct ud_pair *qp;
	struct ud_mover mover;
	uint8_t data[WIRE_PAYLOAD_MAX];
};

struct ud_taking {		/* channel 1 */
	struct inbox_frame *what; /* NULL: none */
	bool landing;
	struct rc_packet packet;
	struct fw_recv recv;
	uint16_t index;		/* of the receive that it is for */
	struct ud_mover mover;
};

struct ud_backup {
	uint64_t base, line_due_ns, line_cause;
	uint32_t slots, bits;
	/* Descriptors that were ever written, taken by the driver, given a buffer. */
	uint32_t prod, cons, given;
	bool line;
};

struct ud {
	struct ud_config cfg;
	struct ud_env env;
	struct ud_stats stats;
	struct ud_pair *pair;	/* UD_PAIRS */
	unsigned int pairs_used, turn;
	bool awake[2];
	bool starved;
	struct ud_job job;
	struct ud_taking take;
	struct inbox inbox;
	struct ud_backup backup;
	uint64_t now_ns, wire_free_ns;
};

/* ud.c */
void ud_kick(struct ud *ud, unsigned int channel);

/* ud_out.c */
uint64_t ud_note(struct ud *ud, unsigned int ev, uint32_t xfer, uint64_t cause,
		 const struct ud_pair *q, uint64_t a1, uint64_t a2, uint64_t a3);
void ud_drop(struct ud *ud, const struct ud_pair *q, const struct wire_frame *f,
	     const struct rc_packet *p, enum ud_drop_why why);
uint8_t ud_local_status(uint8_t seen);

/* ud_move.c */
enum ud_moved ud_move_step(struct ud *ud, struct ud_mover *m, uint64_t *delay_ns);
/* End the burst that is open, if there is one. */
void ud_move_end(struct ud *ud, struct ud_mover *m);

/* ud_ring.c: each may close the pair */
void ud_ring_open(struct ud *ud, struct ud_pair *q);
void ud_ring_close(struct ud *ud, struct ud_pair *q);
/* The oldest frame begins to land; false: it is over. */
bool ud_ring_begin(struct ud *ud, struct ud_pair *q);
/* ns that it took. */
uint64_t ud_ring_landed(struct ud *ud, struct ud_pair *q, enum ud_moved how);
struct ud_place *ud_ring_place(struct ud_ring *r, uint16_t index);
uint16_t ud_ring_bit(const struct ud_ring *r, uint16_t offset);
static inline bool ud_ring_waits(const struct ud_ring *r, uint16_t bit)
{
	return r->bitmap[bit / 64] >> bit % 64 & 1;
}

void ud_ring_mark(struct ud_ring *r, uint16_t bit, bool waits);
/* What is resolved, and nothing before it is not, is announced. */
void ud_ring_release(struct ud *ud, struct ud_pair *q, uint64_t cause);

/* ud_backup.c */
/* The packet that is being taken goes there; false: there is no room. */
bool ud_backup_store(struct ud *ud, struct ud_pair *q, const struct ud_place *place,
		     uint16_t index, uint16_t bit, uint64_t later_ns);
/* What the driver is still to hear is written, as far as there is room. */
void ud_backup_tell(struct ud *ud);

#endif
