/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nv_internal.h - what the files of NetVM's transport share.
 *
 *	nv.c		front door: pairs, arriving frames, the two channels
 *	nv_create.c	making and resetting a unit, what it counts, what must hold
 *	nv_out.c	what they ask of whatever is around the unit
 *	nv_send.c	sender: WRITEs cut into fragments, which of them goes next
 *	nv_window.c	windows of sequence numbers, on both sides
 *	nv_take.c	receiver: a fragment finds its place, or does not
 *	nv_credit.c	the system buffer, and the credits for it
 *	nv_count.c	event counters
 *	nv_move.c	bytes of one fragment to or from memory, burst by burst
 *	nv_time.c	timers
 *	nv_wire.c	packets
 */
#ifndef FL_NV_INTERNAL_H
#define FL_NV_INTERNAL_H

#include <stddef.h>

#include "nic/fw.h"
#include "nic/transport/inbox.h"
#include "nic/transport/nv.h"
#include "nic/transport/nv_wire.h"

#define NV_PAIRS	(1u << FW_QP_PLACE_BITS)
#define NV_PAGE		4096
#define NV_NEVER	UINT64_MAX

/* ---- bytes of one fragment on their way to or from memory ---- */

enum nv_moved { NV_MOVED, NV_MOVING, NV_MISSED, NV_DENIED, NV_BROKEN };

struct nv_mover {
	struct nv_pair *qp;
	const struct fw_segment *segment;	/* NULL: own */
	struct fw_segment own;	/* of a remote range */
	uint8_t segments, channel, right;
	bool write, open;
	uint8_t reached;	/* 1 + segment that may be accessed; 0: none yet */
	uint8_t denied;		/* FL_ST_SEEN_* */
	uint8_t *buf;
	uint64_t at;		/* of the next byte, in the WRITE */
	uint64_t va;		/* of the next byte, in memory */
	uint32_t left;		/* bytes of the fragment still to move */
	uint32_t rest;		/* bytes of the segment from va on */
	uint32_t key, object, xfer, bursts;
	uint64_t cause;
	struct dma_burst burst;
};

/* ---- sender ---- */

struct nv_req {
	struct fw_work work;
	uint32_t wr;
	uint32_t cut;		/* bytes that are in fragments */
	uint32_t resends;
	bool whole;		/* all of it is in fragments */
	uint8_t failed;		/* FL_ST_*: it ends so when it is the oldest */
};

enum nv_fragment_state { NV_FRAG_WAITS, NV_FRAG_SENT, NV_FRAG_REDIRECTED, NV_FRAG_PLACED };

struct nv_fragment {
	uint64_t va, sent_ns;
	uint32_t len, at;	/* bytes, and where they are in the WRITE */
	uint32_t req;		/* request number */
	uint8_t state;		/* enum nv_fragment_state */
	bool again;		/* it is to be sent, for the first time or once more */
	bool sent;		/* it was, before */
	bool last;		/* of its WRITE */
};

struct nv_sender {
	struct nv_req *req;	/* number n in req[n % FW_QP_WRS] */
	uint32_t head, place, tail;	/* oldest incomplete, being cut, next to be posted */
	struct nv_fragment *fragment;	/* sequence s in fragment[s % NV_WINDOW_MAX] */
	uint32_t una, next;	/* sequences: oldest not in its place, next to be cut */
	uint32_t used, credits;	/* fragments that hold a credit; credits there are */
	uint64_t heard_ns;	/* the receiver said something */
	uint64_t tried_ns;	/* the last try began; 0: none yet */
	uint8_t tries;		/* left */
	bool parked, ask;
	bool short_of_credit, held_back;	/* the event was emitted */
};

/* ---- receiver ---- */

struct nv_arrived {
	bool have, placed, last;
	uint8_t bad;		/* FL_ST_*: the sender hears this when it is the oldest */
	uint8_t ends;		/* FL_ST_*: and then the pair ends so */
	uint16_t counter;
	uint32_t xfer;
	uint64_t cause;
};

struct nv_answer {
	bool due, credit;
	uint32_t sequence, xfer;
	uint64_t cause;
};

struct nv_receiver {
	struct nv_arrived *arrived;	/* sequence s in arrived[s % NV_WINDOW_MAX] */
	struct nv_answer *answer;	/* the same */
	struct nv_answer state;		/* how far it is, in answer to nothing */
	uint32_t base;		/* all before are in their final place */
	uint32_t credits;	/* given to the sender */
	uint32_t slots;		/* of the system buffer that hold its data */
	uint32_t answers;	/* due */
	bool dying;		/* the refusal of base waits to be sent */
};

struct nv_pair {
	uint16_t place;
	bool open;
	uint32_t epoch;		/* counts closings */
	struct fw_pair p;
	struct nv_sender send;
	struct nv_receiver recv;
};

/* ---- the unit ---- */

struct nv_slot {
	bool used;
	bool orphan;		/* its pair has ended; the driver still has it */
	uint16_t qp;
	uint8_t process;	/* domain slot */
	uint64_t page;
	uint32_t sequence, xfer;
	uint64_t cause;
};

enum nv_job_kind { NV_JOB_FRAGMENT, NV_JOB_ACK, NV_JOB_STATE, NV_JOB_ASK };

struct nv_job {
	bool active;
	uint8_t kind;
	struct nv_pair *qp;
	uint32_t sequence, xfer;
	struct nv_packet packet;
	struct nv_mover mover;
	uint64_t cause;
	uint8_t data[WIRE_PAYLOAD_MAX];
};

struct nv_taking {
	struct inbox_frame *what;	/* NULL: none */
	bool landing;
	bool counting;		/* its time has been spent */
	struct nv_packet packet;
	struct nv_mover mover;
};

struct nv {
	struct nv_config cfg;
	struct nv_env env;
	struct nv_stats stats;
	struct nv_pair *pair;	/* NV_PAIRS */
	unsigned int pairs_used;
	uint64_t ready[NV_PAIRS / 64];	/* pairs that may have something to send */
	unsigned int turn;
	bool awake[2];
	bool starved;		/* frame_get() had none */
	struct nv_job job;
	struct nv_taking take;
	struct inbox inbox;
	uint64_t alarm_ns, now_ns, wire_free_ns;
	uint32_t slots;		/* there are */
	uint32_t credits;	/* given to all open pairs together */
	uint32_t orphans;
	struct nv_slot slot[NV_SLOTS_MAX];
};

static inline struct nv_req *nv_req_at(struct nv_sender *s, uint32_t n)
{
	return &s->req[n % FW_QP_WRS];
}

static inline struct nv_fragment *nv_fragment_at(struct nv_sender *s, uint32_t n)
{
	return &s->fragment[n % NV_WINDOW_MAX];
}

static inline struct nv_arrived *nv_arrived_at(struct nv_receiver *r, uint32_t n)
{
	return &r->arrived[n % NV_WINDOW_MAX];
}

/* nv_out.c */
void nv_kick(struct nv *nv, unsigned int channel);
void nv_pair_ready(struct nv *nv, struct nv_pair *q);
uint64_t nv_note(struct nv *nv, unsigned int ev, uint32_t xfer, uint64_t cause,
		 const struct nv_pair *q, uint64_t a1, uint64_t a2, uint64_t a3);
enum nv_drop_why {
	NV_DROP_BAD, NV_DROP_NO_PAIR, NV_DROP_STRANGER, NV_DROP_FULL, NV_DROP_BEYOND,
	NV_DROP_ENDING, NV_DROP_MISSING, NV_DROP_OVERFLOW
};
void nv_drop(struct nv *nv, const struct nv_pair *q, const struct wire_frame *f,
	     uint32_t sequence, enum nv_drop_why why);

/* nv_move.c */
enum nv_moved nv_move_step(struct nv *nv, struct nv_mover *m, uint64_t *delay_ns);
/* End the burst that is open, if there is one. */
enum nv_moved nv_move_end(struct nv *nv, struct nv_mover *m);

/* nv_send.c: channel 0 */
void nv_send_post(struct nv *nv, struct nv_pair *q, uint32_t wr, const struct fw_work *w);
/* The next fragment becomes the job; false: there is none that may go. */
bool nv_send_pick(struct nv *nv, struct nv_pair *q);
bool nv_send_is_stale(const struct nv *nv);
void nv_send_missed(struct nv *nv, struct nv_pair *q);
/* The request of the job's fragment fails. May close the pair. */
void nv_send_failed(struct nv *nv, struct nv_pair *q, uint8_t status, uint64_t cause);
void nv_send_sent(struct nv *nv, struct nv_pair *q);
/* Complete the oldest request if it has failed. May close the pair. */
void nv_send_settle(struct nv *nv, struct nv_pair *q, uint64_t cause);

/* nv_window.c */
/* An NV_ACK or NV_CREDIT came. May close the pair. */
void nv_window_answered(struct nv *nv, struct nv_pair *q, const struct nv_packet *p,
			uint64_t cause, uint32_t xfer);
/* Sequence n has been taken, and its entry says how. May close nothing. */
void nv_window_advance(struct nv *nv, struct nv_pair *q);
/* The sender shall hear of it. */
void nv_window_answer(struct nv *nv, struct nv_pair *q, uint32_t sequence, bool credit,
		      uint32_t xfer, uint64_t cause);
bool nv_window_pick(struct nv *nv, struct nv_pair *q);
void nv_window_packet(struct nv *nv, struct nv_pair *q);
/* It has left. May close the pair. */
void nv_window_sent(struct nv *nv, struct nv_pair *q);

/* nv_take.c: channel 1 */
void nv_take_begin(struct nv *nv, struct nv_pair *q);
void nv_take_landed(struct nv *nv, struct nv_pair *q, enum nv_moved how);

/* nv_credit.c */
/* Credits for its sender; false: there are none. */
bool nv_credit_give(struct nv *nv, struct nv_pair *q);
void nv_credit_close(struct nv *nv, struct nv_pair *q);
static inline bool nv_credit_left(const struct nv *nv, const struct nv_sender *s)
{
	return nv->cfg.greedy || s->used < s->credits;
}

/* Does redirected data wait for the page? */
bool nv_credit_waits(const struct nv *nv, const struct nv_pair *q, uint64_t va);
/* The packet that is being taken goes into a slot, or is dropped. */
void nv_credit_redirect(struct nv *nv, struct nv_pair *q, const struct nv_miss *m);
const char *nv_credit_check(const struct nv *nv);

/* nv_count.c */
/* FL_ST_OK, or a status: the sender may not name it. */
uint8_t nv_count_check(struct nv *nv, struct nv_pair *q, uint16_t counter);
void nv_count_rise(struct nv *nv, struct nv_pair *q, uint32_t sequence,
		   const struct nv_arrived *a);

/* nv_time.c */
void nv_time_set(struct nv *nv);

#endif
