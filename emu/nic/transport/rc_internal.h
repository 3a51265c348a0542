/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rc_internal.h - what the files of the reliable connection share.
 *
 *	rc_create.c	making and resetting a unit, what it counts, what must hold
 *	rc.c		front door: pairs, arriving frames, the two channels
 *	rc_out.c	what they ask of whatever is around the unit
 *	rc_move.c	bytes of one packet to or from memory, burst by burst
 *	rc_req.c	requester: which packet goes next, and going back
 *	rc_done.c	requester: what acknowledgements and responses do
 *	rc_resp.c	responder: requests in the order of PSNs
 *	rc_read.c	responder: READs, and replays of them
 *	rc_answer.c	responder: acknowledgements and NAKs on their way out
 *	rc_atomic.c	responder: atomics, executed once
 *	rc_time.c	timers
 */
#ifndef FL_RC_INTERNAL_H
#define FL_RC_INTERNAL_H

#include <stddef.h>

#include "nic/fw.h"
#include "nic/transport/inbox.h"
#include "nic/transport/rc.h"
#include "nic/transport/rc_wire.h"

/* Any place that a number can name; a device may have fewer (device.def). */
#define RC_PAIRS	(1u << FW_QP_PLACE_BITS)
#define RC_SLOTS	16	/* READs and atomics that a responder remembers */
#define RC_ANSWERS	8	/* waiting to be sent, of one pair */
#define RC_PAGE		4096
#define RC_NEVER	UINT64_MAX
/* PSNs that one request may have: comparing them must not be ambiguous. */
#define RC_PACKETS_MAX	(1u << 22)

/* ---- bytes of one packet on their way to or from memory ---- */

enum rc_moved { RC_MOVED, RC_MOVING, RC_MISSED, RC_DENIED, RC_BROKEN };

struct rc_mover {
	struct rc_pair *qp;
	const struct fw_segment *segment;
	struct fw_segment own;	/* of a remote range: the only one */
	uint8_t *buf;		/* the packet's payload; only read if it arrived */
	uint64_t at;		/* of the next byte, in the message */
	uint64_t va;		/* of the next byte, in memory */
	uint64_t cause;
	uint32_t left;		/* bytes of the packet still to move */
	uint32_t rest;		/* bytes of the segment from va on */
	uint32_t key, object;	/* of the burst */
	uint32_t xfer;
	const struct rc_packet *atomic;	/* the atomic to execute, instead of moving bytes */
	uint64_t original;	/* atomic: what was there */
	uint8_t segments, channel, right;
	uint8_t denied;		/* FL_ST_SEEN_* */
	uint8_t status;		/* FL_ST_*, when broken */
	bool write;
	uint8_t reached;	/* 1 + segment that may be accessed; 0: none yet */
	uint32_t bursts;	/* of this packet that are over */
	bool open;		/* between begin and end of burst */
	bool broken;
	struct dma_burst burst;
};

/* ---- requester ---- */

struct rc_req {
	struct fw_work work;
	uint32_t wr;
	uint32_t first, packets;	/* PSNs, once it is placed */
	uint32_t done;			/* READ: bytes that are in place */
	uint32_t resends;
	bool placed;
	uint8_t failed;			/* FL_ST_*: it ends so when it is the oldest */
};

/* Why the requester goes back. */
enum rc_why { RC_WHY_SEQUENCE, RC_WHY_IMPLIED, RC_WHY_TIMEOUT, RC_WHY_WAITED, RC_WHY_PAGE };

struct rc_requester {
	struct rc_req *req;	/* number n in req[n % FW_QP_WRS] */
	uint32_t head, tail;	/* oldest incomplete request, next to be posted */
	uint32_t place;		/* request that the next packet belongs to */
	uint32_t una, next, end; /* PSNs: oldest unacknowledged, next, first never sent */
	uint32_t turn;		/* counts jumps of next */
	uint64_t ack_due, rnr_due; /* RC_NEVER: not running */
	uint32_t dam;		/* if dammed: no PSN from this one on is sent */
	uint8_t retries, rnr_tries; /* left */
	bool started;		/* it has PSNs */
	bool round;		/* a retry round is under way */
	bool parked, rewinding, dammed;
	uint32_t parked_at;	/* the request whose source page is missing */
};

/* ---- responder ---- */

enum rc_answer_kind { RC_ANSWER_ACK, RC_ANSWER_NAK, RC_ANSWER_ATOMIC };

struct rc_answer {
	uint8_t kind, syndrome;
	uint8_t ends;		/* FL_ST_*: the pair ends so when this is sent */
	uint32_t psn, msn, xfer;
	uint64_t original, cause;
};

/* A READ or atomic that is remembered (InfiniBand 9.7.4.1). */
struct rc_slot {
	bool used, atomic;
	uint8_t opcode;
	uint32_t first, packets, rkey, length;
	uint64_t va, original;
};

struct rc_reading {
	bool active;
	uint32_t psn, rkey, length, done, xfer;
	uint64_t va, cause;
};

/* Of the message that is arriving. */
enum rc_message { RC_MSG_NONE, RC_MSG_SEND, RC_MSG_WRITE };

struct rc_responder {
	uint32_t epsn, msn;
	uint32_t acked;		/* the PSN after the newest READ or atomic */
	bool silent;		/* NAKed: later PSNs get no answer until epsn arrives */
	bool dying;		/* a fatal NAK waits to be sent */
	bool heard;		/* the firmware knows that the peer is there */
	struct {
		uint8_t code;	/* FL_ST_* of a resume that failed */
		uint32_t psn;	/* of what had missed its page */
	} lost[2];		/* [write] */
	uint8_t message;	/* enum rc_message */
	uint32_t at;		/* bytes of the message that have landed */
	uint64_t va;		/* of a WRITE */
	uint32_t rkey, length;
	bool held;		/* recv was consumed for this message */
	struct fw_recv recv;
	uint8_t slot_next;
	struct rc_slot slot[RC_SLOTS];
	struct rc_reading read;
	uint8_t answer_head, answers;
	struct rc_answer answer[RC_ANSWERS];
};

struct rc_pair {
	uint16_t place;
	bool open;
	bool own_first;		/* requests go before responses this time */
	uint32_t epoch;		/* counts closings */
	struct fw_pair p;
	struct rc_requester req;
	struct rc_responder resp;
};

/* ---- the unit ---- */

/* Channel 0: the packet that is being made. */
enum rc_job_kind { RC_JOB_REQUEST, RC_JOB_READ, RC_JOB_ANSWER };

struct rc_job {
	bool active;
	uint8_t kind;
	struct rc_pair *qp;
	uint32_t turn;
	struct rc_packet packet;
	struct rc_mover mover;
	uint32_t xfer;
	uint64_t cause;
	uint8_t data[WIRE_PAYLOAD_MAX];
};

/* Channel 1: the packet that is being taken. */
struct rc_taking {
	struct inbox_frame *what; /* NULL: none */
	bool landing;		/* mover is at work for it */
	struct rc_packet packet;
	struct rc_mover mover;
	uint8_t word[8];	/* an atomic's result, for memory */
};

struct rc_asleep {
	bool asleep;
	uint16_t qp;
	uint8_t side;
	bool write;
	uint32_t psn;
};

struct rc {
	struct rc_config cfg;
	struct rc_env env;
	struct rc_stats stats;
	struct rc_pair *pair;	/* RC_PAIRS */
	unsigned int pairs_used; /* pairs from this one on were never open */
	uint64_t ready[RC_PAIRS / 64]; /* pairs that may have something to send */
	unsigned int turn;	/* pair that sent last */
	bool awake[2];
	bool starved;		/* frame_get() had none */
	struct rc_asleep sleep[2];
	struct rc_job job;
	struct rc_taking take;
	struct inbox inbox;
	uint64_t alarm_ns;	/* as last asked for */
	uint64_t now_ns;
	uint64_t wire_free_ns;	/* the wire takes the next frame then */
};

/* rc_out.c */
void rc_kick(struct rc *rc, unsigned int channel);
void rc_pair_ready(struct rc *rc, struct rc_pair *q);
uint64_t rc_note(struct rc *rc, unsigned int ev, uint32_t xfer, uint64_t cause,
		 const struct rc_pair *q, uint64_t a1, uint64_t a2, uint64_t a3);
/* Report a missing page to env.miss(), and return its verdict. */
struct rc_judged rc_ask(struct rc *rc, const struct rc_mover *m, struct rc_miss *miss);
/* The mover's channel waits until rc_resume(). */
void rc_sleep(struct rc *rc, const struct rc_mover *m, const struct rc_miss *miss);
/* Record that a packet was dropped, and why. */
enum rc_drop_why {
	RC_DROP_BAD, RC_DROP_NO_PAIR, RC_DROP_STRANGER, RC_DROP_FULL, RC_DROP_AHEAD,
	RC_DROP_ENDING, RC_DROP_AGED, RC_DROP_STALE, RC_DROP_GAP, RC_DROP_REWINDING,
	RC_DROP_MISSING, RC_DROP_RESPONSE
};
void rc_drop(struct rc *rc, const struct rc_pair *q, const struct wire_frame *f,
	     const struct rc_packet *p, enum rc_drop_why why);

/* rc_move.c */
void rc_move_local(struct rc_mover *m, struct rc_pair *q, const struct fw_segment *s,
		   unsigned int n, uint64_t at, uint32_t len);
void rc_move_remote(struct rc_mover *m, struct rc_pair *q, uint64_t va, uint32_t rkey,
		    uint64_t at, uint32_t len);
enum rc_moved rc_move_step(struct rc *rc, struct rc_mover *m, uint64_t *delay_ns);
/* End the burst that is open, if there is one. */
void rc_move_end(struct rc *rc, struct rc_mover *m);
/* FL_ST_SEEN_* or OK. */
uint8_t rc_reach(struct rc *rc, const struct rc_pair *q, uint8_t right, uint32_t key,
		 uint64_t va, uint64_t bytes);

/* rc_req.c */
static inline struct rc_req *rc_req_at(struct rc_requester *r, uint32_t n)
{
	return &r->req[n % FW_QP_WRS];
}

static inline bool rc_req_answers(const struct rc_req *r)
{
	return r->work.opcode == FL_OP_READ || r->work.opcode == FL_OP_FETCH_ADD ||
	       r->work.opcode == FL_OP_CMP_SWAP;
}

static inline uint32_t rc_packets(uint32_t length, uint32_t mtu)
{
	return length ? (length - 1) / mtu + 1 : 1;
}

void rc_req_start(struct rc_pair *q);
void rc_req_post(struct rc *rc, struct rc_pair *q, uint32_t wr, const struct fw_work *w);
bool rc_req_pick(struct rc *rc, struct rc_pair *q);
void rc_req_missed(struct rc *rc, struct rc_pair *q);
void rc_req_sent(struct rc *rc, struct rc_pair *q);
void rc_req_go_back(struct rc *rc, struct rc_pair *q, enum rc_why why, uint64_t cause);
/* Another round of everything from the oldest PSN on. May close the pair. */
void rc_req_retry(struct rc *rc, struct rc_pair *q, enum rc_why why, uint64_t cause);
/* The request fails, as soon as all before it are complete. May close the pair. */
void rc_req_fail(struct rc *rc, struct rc_pair *q, struct rc_req *r, uint8_t status,
		 uint64_t cause);
uint8_t rc_local_status(uint8_t seen);

/* rc_done.c: channel 1, for what answers own requests */
void rc_done_begin(struct rc *rc, struct rc_pair *q);
void rc_done_landed(struct rc *rc, struct rc_pair *q, enum rc_moved how);
/* Complete the oldest request if it has failed. May close the pair. */
void rc_done_settle(struct rc *rc, struct rc_pair *q);

/* rc_resp.c: channel 1, for requests of the peer */
bool rc_resp_blocked(const struct rc_pair *q);
void rc_resp_begin(struct rc *rc, struct rc_pair *q);
void rc_resp_landed(struct rc *rc, struct rc_pair *q, enum rc_moved how);
void rc_resp_advance(struct rc_pair *q, uint32_t packets);
void rc_resp_rnr(struct rc *rc, struct rc_pair *q, uint32_t psn, uint8_t code, uint64_t cause);
/* A fatal NAK; the pair ends with status once it is on the wire. */
void rc_resp_refuse(struct rc *rc, struct rc_pair *q, uint32_t psn, uint8_t syndrome,
		    uint8_t status, uint64_t cause);
/* A page was missing, or memory failed, for the packet at psn. */
void rc_resp_missed(struct rc *rc, struct rc_pair *q, const struct rc_mover *m, uint32_t psn,
		    uint8_t opcode, uint64_t left);
void rc_resp_failed(struct rc *rc, struct rc_pair *q, const struct rc_mover *m, uint32_t psn,
		    enum rc_moved how);

/* rc_read.c */
struct rc_slot *rc_slot_new(struct rc_pair *q);
void rc_read_request(struct rc *rc, struct rc_pair *q);
void rc_read_again(struct rc *rc, struct rc_pair *q);
bool rc_read_pick(struct rc *rc, struct rc_pair *q);
void rc_read_missed(struct rc *rc, struct rc_pair *q, enum rc_moved how);
void rc_read_sent(struct rc *rc, struct rc_pair *q);

/* rc_atomic.c */
void rc_atomic_request(struct rc *rc, struct rc_pair *q);
void rc_atomic_again(struct rc *rc, struct rc_pair *q);
void rc_atomic_landed(struct rc *rc, struct rc_pair *q);

/* rc_answer.c */
void rc_answer_ack(struct rc *rc, struct rc_pair *q, uint32_t psn, uint64_t cause);
struct rc_answer *rc_answer_add(struct rc *rc, struct rc_pair *q, enum rc_answer_kind kind,
				uint32_t psn, uint64_t cause);
void rc_answer_packet(const struct rc_pair *q, struct rc_packet *p);
void rc_answer_sent(struct rc *rc, struct rc_pair *q);

/* rc_time.c */
void rc_time_set(struct rc *rc);
void rc_ack_timer(struct rc *rc, struct rc_pair *q, bool again);
bool rc_has_quirk(const struct rc *rc, const struct rc_pair *q, unsigned int quirk);
uint64_t rc_rnr_wait_ns(const struct rc *rc, const struct rc_pair *q, uint8_t code);

#endif
