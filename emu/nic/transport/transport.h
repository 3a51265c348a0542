/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transport.h - between the firmware and the packet units beside the block engine.
 *
 * The firmware owns what exists: queue pairs and their states, send and receive queues,
 * keys, completions. A packet unit (rc.h, ud.h, nv.h) carries the requests of
 * queue pairs of its transport, packet by packet. Both belong to one board and run in its
 * domain; calls in either direction return at once, and may be made from any of them.
 *
 * A unit knows a queue pair by its place in the firmware's table (FW_QP_PLACE), a request by
 * the number that the firmware gave it: 0, 1, 2 ... in posting order, modulo 2^32.
 */
#ifndef FL_TRANSPORT_H
#define FL_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "faultline/entries.h"

/* What follows a work request in its queue: segments, or the data itself (entries.def). */
#define FW_EXTRA_ENTRIES	4	/* of 64 bytes, at most */
#define FW_SEGMENTS_MAX		(3 * FW_EXTRA_ENTRIES)
#define FW_INLINE_MAX		(48 * FW_EXTRA_ENTRIES)
#define FW_RECV_SEGMENTS	3	/* of one receive entry */

/* A queue pair's connection, as QP_CONNECT and QP_MODIFY have left it. */
struct fw_pair {
	uint32_t qpn, peer_qp;		/* 24 bits each */
	uint32_t sq_psn, rq_psn;	/* first PSN of its requests, and of its peer's */
	uint32_t qkey;			/* ud: of both; what comes without it is dropped */
	uint16_t mtu;			/* bytes of payload: 256, 512, 1024, 2048, 4096 */
	uint8_t node;			/* the peer's */
	uint8_t slot;
	uint8_t rnr_code;		/* 5 bits: what its responder has a requester wait */
	uint8_t retries, rnr_tries;	/* 3 bits each; rnr_tries 7: without limit */
	uint8_t timeout;		/* 4.096 us * 2^n; 0: never */
	uint8_t rd_atomic;		/* READs and atomics of its own on the way, at most */
	uint8_t dest_rd_atomic;		/* of the peer's that are remembered */
	uint8_t denied;			/* rc: FL_ACC_REMOTE_* that its peer has not */
	uint8_t quirks;			/* FL_QUIRK_*, of the slot; the card knows */
	uint16_t bits;			/* ud: at most so many in the backup ring; 0: BAK_BITS */
	bool sends;			/* ready to send; else it only answers (RTR) */
	bool peer;			/* there is one; ud: else each request says to whom */
};

struct fw_segment {
	uint64_t va;
	uint32_t bytes, key;
};

/* A work request that was found good. */
struct fw_work {
	uint64_t remote_va;		/* with FL_WQE_TO as in entries.def, and so is rkey */
	uint64_t compare, swap;		/* FETCH_ADD: swap is what is added */
	uint64_t cause;			/* trace */
	uint32_t length;		/* of all segments, or of data; may be 0 */
	uint32_t rkey, imm, xfer;
	uint16_t index;			/* of its entry in the send queue, for fault records */
	uint8_t opcode, flags;		/* FL_OP_*, FL_WQE_* */
	uint8_t segments;
	struct fw_segment segment[FW_SEGMENTS_MAX];
	uint8_t data[FW_INLINE_MAX];	/* with FL_WQE_INLINE, in place of segments */
};

/* An entry of a receive queue that a message has taken. */
struct fw_recv {
	uint64_t wr_id;
	uint32_t length;		/* of all segments */
	uint32_t xfer;
	uint16_t index;
	uint16_t srq;			/* that it came from; FW_NO_SRQ: the pair's own queue */
	uint8_t segments;
	struct fw_segment segment[FW_RECV_SEGMENTS];
};
#define FW_NO_SRQ	0xFFFFu

/* How a message ended at the receiver. */
struct fw_arrival {
	uint64_t cause;			/* trace */
	uint32_t length;
	uint32_t imm;
	uint32_t from_qp;		/* ud: the sender's */
	uint8_t from_node;
	uint8_t opcode;			/* FL_OP_RECV... */
	uint8_t status;			/* FL_ST_* */
	bool solicited;
};

/* ---- what the firmware asks of a unit ---- */

struct fw_transport {
	void *ctx;
	/*
	 * The pair has a peer, or its attributes have changed (what is under way goes on with
	 * the new ones; PSNs count the first time only). FL_ST_OK, or a status: it cannot.
	 */
	uint8_t (*open)(void *ctx, uint16_t qp, const struct fw_pair *p);
	/*
	 * It is in error, is reset or destroyed: all of it is forgotten, packets for it are
	 * dropped, and not a byte moves after the return. No fw_work_done() follows.
	 */
	void (*close)(void *ctx, uint16_t qp);
	/* At most FW_QP_WRS requests are with the unit at a time. The unit copies w. */
	void (*post)(void *ctx, uint16_t qp, uint32_t wr, const struct fw_work *w);
	/* The region has ended: not a byte moves through its key after the return. */
	void (*stop_key)(void *ctx, uint32_t key);
	/* Receives were posted to the pair's own queue. NULL: the unit looks when it needs one. */
	void (*posted)(void *ctx, uint16_t qp);
};

/* ---- what a unit asks of the firmware (fw_unit.c; tests have their own) ---- */

/* A right that is needed; 0: none, the owner's own reading. */
struct fw_wanted {
	uint16_t qp;
	uint32_t key;
	uint8_t right;			/* FL_ACC_* */
	uint64_t va, bytes;		/* bytes 0: only key, domain and rights are asked for */
};

struct fw_unit_ops {
	void *ctx;
	/*
	 * The request is over. OK: every byte is where it belongs. Otherwise it, and all behind
	 * it, fail, the pair goes into ERROR, and close() comes from within this call.
	 */
	void (*work_done)(void *ctx, uint16_t qp, uint32_t wr, uint8_t status,
			  uint32_t resends, uint64_t cause);
	/*
	 * May it be reached so? 0 and the number of the table of translations (table.h) that
	 * leads there; or FL_ST_SEEN_KEY, SEEN_RANGE, SEEN_RIGHTS.
	 */
	uint8_t (*reach)(void *ctx, const struct fw_wanted *w, uint32_t *object);
	/*
	 * The oldest entry of the pair's receive queue, or of its shared one. false: there is
	 * none. A status in *wrong: the entry is malformed, and was taken.
	 */
	bool (*recv_take)(void *ctx, uint16_t qp, struct fw_recv *r, uint8_t *wrong);
	/*
	 * The entry that is `ahead` entries behind the oldest of the pair's own queue, which
	 * stays there. false: it has not been posted. A status in *wrong: it is malformed.
	 */
	bool (*recv_ahead)(void *ctx, uint16_t qp, uint16_t ahead, struct fw_recv *r,
			   uint8_t *wrong);
	/* What was taken, or else the oldest entry, is over; a completion is written. */
	void (*recv_done)(void *ctx, uint16_t qp, const struct fw_recv *r,
			  const struct fw_arrival *a);
	/*
	 * An event counter of the pair's process rises by one; or, without rise, could it? OK,
	 * or FL_ST_SEEN_KEY: the process has no such counter.
	 */
	uint8_t (*count)(void *ctx, uint16_t qp, uint16_t counter, bool rise, uint64_t cause);
	/* The responder has met what ends the connection; close() comes from within. */
	void (*pair_error)(void *ctx, uint16_t qp, uint8_t status, uint64_t cause);
	/* A pair that does not send yet has got a packet that it expects; once. */
	void (*heard)(void *ctx, uint16_t qp, uint64_t cause);
};

#endif
