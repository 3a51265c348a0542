/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire.h - packets in memory: frames, header fields, the invariant CRC.
 *
 * A frame is BTH, headers, payload and ICRC (wire.def), with what the link
 * adds beside it: who sends, to whom, and for the trace what caused it. The
 * same bytes in UDP port 4791 are a RoCEv2 packet.
 */
#ifndef FL_WIRE_H
#define FL_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "faultline/wire.h"

#define WIRE_PAYLOAD_MAX	4096
#define WIRE_HEADER_MAX		64
#define WIRE_FRAME_MAX		(WIRE_HEADER_MAX + WIRE_PAYLOAD_MAX + 4)
#define WIRE_NODES		64	/* of a fabric */

struct wire_frame {
	uint8_t from, to;	/* node numbers, the route */
	/*
	 * The ICRC is not in its place yet, and would be right. So it is on a link that does
	 * not damage by itself: who looks at the four bytes, or changes a byte of the frame,
	 * calls wire_icrc_settle() before.
	 */
	bool icrc_later;
	uint32_t len;		/* bytes, ICRC included */
	uint64_t cause;		/* trace: what sent it */
	uint32_t xfer, block, attempt, offset; /* trace: what it carries */
	uint8_t bytes[WIRE_FRAME_MAX];
};

/* BLK and ANS decoded. */
struct wire_block {
	uint8_t opcode;		/* WOP_* */
	uint32_t dest_qp, psn;
	uint8_t ctx, attempt;
	uint16_t gen;
	uint64_t va, left;
	uint32_t rkey, len, offset, ref, xfer, block;
	uint32_t src;		/* as the register CTX.SRC */
	const uint8_t *payload;	/* in the frame */
	uint32_t payload_len;
};

struct wire_answer {
	uint8_t opcode;
	uint32_t dest_qp;
	uint8_t ctx, attempt, code;
	uint16_t gen;
	uint32_t map, xfer, block;
};

#define WIRE_PAYLOAD_AT	(WIRE_BTH_BYTES + WIRE_BLK_BYTES)

static inline uint8_t *wire_payload(struct wire_frame *f)
{
	return f->bytes + WIRE_PAYLOAD_AT;
}

/*
 * Write headers (and, unless icrc is false, the ICRC over everything, now or later as
 * f->icrc_later says: with icrc false the four bytes are zero and are not checked).
 * The payload must already stand at wire_payload(f) - where the caller copied it.
 * Returns the frame's length.
 */
uint32_t wire_put_block(struct wire_frame *f, const struct wire_block *b,
			bool icrc);
uint32_t wire_put_answer(struct wire_frame *f, const struct wire_answer *a,
			 bool icrc);

/* Why a frame was refused. */
enum wire_error {
	WIRE_OK, WIRE_SHORT, WIRE_CRC, WIRE_OPCODE, WIRE_HEADER, WIRE_LENGTH
};
const char *wire_error_name(enum wire_error e);

/*
 * Opcode of a frame whatever its state; 0 when it is too short, which is a valid opcode,
 * too (RC_SEND_FIRST).
 */
static inline uint8_t wire_opcode(const struct wire_frame *f)
{
	return f->len < WIRE_BTH_BYTES ? 0 : f->bytes[WIRE_BTH_OPCODE_BYTE];
}

const char *wire_opcode_name(uint8_t opcode);

/* Check everything and decode. */
enum wire_error wire_get_block(const struct wire_frame *f, bool icrc,
			       struct wire_block *b);
enum wire_error wire_get_answer(const struct wire_frame *f, bool icrc,
				struct wire_answer *a);

/* What follows BTH; WIRE_STANDARD: what the specification says (transport/rc_wire.h). */
enum wire_header {
	WIRE_NOTHING, WIRE_BTH, WIRE_BLK, WIRE_ANS, WIRE_STANDARD,
	WIRE_NVH, WIRE_NVA,	/* transport/nv_wire.h */
};

static inline enum wire_header wire_header(uint8_t opcode)
{
	switch (opcode) {
#define WOPC(name, value, header, text) case value: return WIRE_##header;
#define WSTD(name, value, ...) case value: return WIRE_STANDARD;
#include "faultline/wire.def"
	default:
		return WIRE_NOTHING;
	}
}

/* Is it a header with BLK (true) or with ANS? */
static inline bool wire_is_block(uint8_t opcode)
{
	return wire_header(opcode) == WIRE_BLK;
}

/* Is it of the block engine's own protocol? */
static inline bool wire_is_engines(uint8_t opcode)
{
	return wire_header(opcode) == WIRE_BLK || wire_header(opcode) == WIRE_ANS;
}

/* Parts of encoding and decoding that all packets share. */
void wire_put_bth(struct wire_frame *f, uint8_t opcode, uint32_t dest_qp,
		  uint32_t psn);
/* f->len is set: write the ICRC, unless that comes later; without icrc: zeros. */
void wire_seal(struct wire_frame *f, bool icrc);
enum wire_error wire_check_size(const struct wire_frame *f, bool icrc);

/*
 * IPv4 and UDP as they stand before the frame on a network: node n is 10.0.0.1 + n.
 * `varies` goes into what changes on the way (type of service, time to live, both
 * checksums).
 */
#define WIRE_NETWORK_BYTES 28
void wire_network(const struct wire_frame *f, uint8_t ip[WIRE_NETWORK_BYTES],
		  uint8_t varies);

/*
 * CRC as in InfiniBand 7.8.1 over masked IPv4, UDP and BTH of node `from` to
 * node `to`.
 */
uint32_t wire_icrc(const struct wire_frame *f);
/* Bytes of memory in it, padding included; headers are none. Any frame of at least a BTH. */
uint32_t wire_payload_bytes(const struct wire_frame *f);

/* Put it into its place, whatever is there. Is what stands there right? */
void wire_icrc_write(struct wire_frame *f);
bool wire_icrc_good(const struct wire_frame *f);

static inline void wire_icrc_settle(struct wire_frame *f)
{
	if (f->icrc_later)
		wire_icrc_write(f);
}

static inline uint32_t wire_word(uint8_t ctx, uint16_t gen, uint8_t attempt)
{
	return (uint32_t)ctx << 24 | (uint32_t)gen << 8 | attempt;
}

#endif
