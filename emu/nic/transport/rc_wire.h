/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rc_wire.h - packets with opcodes of the InfiniBand specification, in memory.
 *
 * Which headers follow BTH, and how much payload, stands in the WSTD rows of wire.def.
 */
#ifndef FL_RC_WIRE_H
#define FL_RC_WIRE_H

#include "nic/wire.h"

#define RC_PSN_MASK	0xFFFFFFu

/* a before b: negative. PSNs are 24 bits and wrap (InfiniBand 9.7.1). */
static inline int32_t rc_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

static inline uint32_t rc_psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & RC_PSN_MASK;
}

/* Syndromes of AETH (InfiniBand 9.7.5.2). */
enum {
	RC_SYN_ACK = 0x1F,	/* its credit field: no end-to-end flow control */
	RC_SYN_RNR = 0x20,	/* + code of the wait, 5 bits */
	RC_SYN_NAK_SEQUENCE = 0x60,
	RC_SYN_NAK_INVALID = 0x61,
	RC_SYN_NAK_ACCESS = 0x62,
	RC_SYN_NAK_OPERATION = 0x63,
};

static inline bool rc_syn_is_ack(uint8_t syndrome)
{
	return syndrome < RC_SYN_RNR;
}

static inline bool rc_syn_is_rnr(uint8_t syndrome)
{
	return syndrome >> 5 == RC_SYN_RNR >> 5;
}

/* Fields of headers that an opcode does not have are neither written nor read. */
struct rc_packet {
	uint8_t opcode;		/* WOP_RC_*, WOP_UD_* */
	bool solicited, ackreq;
	uint32_t dest_qp, psn;
	uint64_t va;		/* RETH, ATOMICETH */
	uint32_t rkey;
	uint32_t length;	/* RETH: of the message */
	uint64_t swap, compare;	/* ATOMICETH */
	uint64_t original;	/* ATOMICACKETH */
	uint8_t syndrome;	/* AETH */
	uint32_t msn;
	uint32_t imm;		/* IMMDT */
	uint32_t qkey, src_qp;	/* DETH */
	const uint8_t *payload;	/* in the frame; where it goes: rc_payload() */
	uint32_t payload_len;	/* without padding */
};

enum rc_payload { RC_PAYLOAD_NONE, RC_PAYLOAD_FULL, RC_PAYLOAD_SOME, RC_PAYLOAD_ANY };

/* Of an opcode of the specification; anything else has none. */
enum rc_payload rc_payload_rule(uint8_t opcode);
/* Is it one of a reliable connection? */
bool rc_opcode_known(uint8_t opcode);
/* Or one of datagrams? */
bool ud_opcode_known(uint8_t opcode);
/* Where the payload stands in a frame with this opcode. */
uint8_t *rc_payload(struct wire_frame *f, uint8_t opcode);

/*
 * Write headers, padding and (with icrc) the ICRC around the payload, which already stands
 * at rc_payload(). Returns the frame's length.
 */
uint32_t rc_put(struct wire_frame *f, const struct rc_packet *p, bool icrc);
/*
 * Check and decode. How long the payload must be by the path's MTU is for the receiver to
 * check; here it is at most WIRE_PAYLOAD_MAX, and there is none where the opcode has none.
 */
enum wire_error rc_get(const struct wire_frame *f, bool icrc, struct rc_packet *p);

#endif
