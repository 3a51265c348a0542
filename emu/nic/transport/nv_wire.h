/* SPDX-License-Identifier: BSD-2-Clause */
/* nv_wire.h - packets of NetVM's transport in memory (wire.def, NVH and NVA). */
#ifndef FL_NV_WIRE_H
#define FL_NV_WIRE_H

#include "nic/wire.h"

/* Fields of headers that an opcode does not have are neither written nor read. */
struct nv_packet {
	uint8_t opcode;		/* WOP_NV_* */
	uint32_t dest_qp;
	uint32_t sequence;
	uint16_t credits;
	uint64_t va;		/* NVH */
	uint32_t len, key;
	uint16_t counter;
	uint32_t base;		/* NVA */
	bool redirected, ask;
	uint8_t code;
	const uint8_t *payload;	/* in the frame; where it goes: nv_payload() */
	uint32_t payload_len;	/* without padding */
};

static inline uint8_t *nv_payload(struct wire_frame *f)
{
	return f->bytes + WIRE_BTH_BYTES + WIRE_NVH_BYTES;
}

/* Headers, padding and ICRC around the payload, which already stands at nv_payload(). */
void nv_put(struct wire_frame *f, const struct nv_packet *p, bool icrc);
/*
 * Check and decode. What a fragment says makes sense: its payload lies within a page, is no
 * longer than the WRITE, and is empty only if that is.
 */
enum wire_error nv_get(const struct wire_frame *f, bool icrc, struct nv_packet *p);

#endif
