// SPDX-License-Identifier: BSD-2-Clause
/* Packets of the InfiniBand specification: headers there and back, padding. */
#include "nic/transport/rc_wire.h"

#include "nic/wire_field.h"

enum header {
	HAS_NONE = 0, HAS_RETH = 1, HAS_AETH = 2, HAS_ATOMICETH = 4,
	HAS_ATOMICACKETH = 8, HAS_IMMDT = 16, HAS_DETH = 32,
};

struct shape {
	bool known;
	uint8_t headers;	/* enum header */
	uint8_t bytes;		/* of these */
	uint8_t payload;	/* enum rc_payload */
};

static const struct shape shapes[256] = {
#define WSTD(name, value, header1, header2, payload, text)		      \
	[value] = { true, HAS_##header1 | HAS_##header2,		      \
		    WOP_##name##_HEADER_BYTES, RC_PAYLOAD_##payload },
#include "faultline/wire.def"
};

enum rc_payload rc_payload_rule(uint8_t opcode)
{
	return shapes[opcode].payload;
}

/* InfiniBand 9.2.1: the upper three bits are the transport, 0 is RC, 3 is UD. */
bool rc_opcode_known(uint8_t opcode)
{
	return shapes[opcode].known && opcode >> 5 == 0;
}

bool ud_opcode_known(uint8_t opcode)
{
	return shapes[opcode].known && opcode >> 5 == 3;
}

uint8_t *rc_payload(struct wire_frame *f, uint8_t opcode)
{
	return f->bytes + WIRE_BTH_BYTES + shapes[opcode].bytes;
}

/* Headers stand in this order (InfiniBand 5.2). */
static uint8_t *put_headers(uint8_t *h, uint8_t headers,
			    const struct rc_packet *p)
{
	if (headers & HAS_DETH) {
		field_put(h, WIRE_DETH_QKEY, p->qkey);
		field_put(h, WIRE_DETH_RESERVED, 0);
		field_put(h, WIRE_DETH_SRC_QP, p->src_qp);
		h += WIRE_DETH_BYTES;
	}
	if (headers & HAS_RETH) {
		field_put(h, WIRE_RETH_VA, p->va);
		field_put(h, WIRE_RETH_RKEY, p->rkey);
		field_put(h, WIRE_RETH_LENGTH, p->length);
		h += WIRE_RETH_BYTES;
	}
	if (headers & HAS_ATOMICETH) {
		field_put(h, WIRE_ATOMICETH_VA, p->va);
		field_put(h, WIRE_ATOMICETH_RKEY, p->rkey);
		field_put(h, WIRE_ATOMICETH_SWAP, p->swap);
		field_put(h, WIRE_ATOMICETH_COMPARE, p->compare);
		h += WIRE_ATOMICETH_BYTES;
	}
	if (headers & HAS_AETH) {
		field_put(h, WIRE_AETH_SYNDROME, p->syndrome);
		field_put(h, WIRE_AETH_MSN, p->msn);
		h += WIRE_AETH_BYTES;
	}
	if (headers & HAS_ATOMICACKETH) {
		field_put(h, WIRE_ATOMICACKETH_ORIGINAL, p->original);
		h += WIRE_ATOMICACKETH_BYTES;
	}
	if (headers & HAS_IMMDT) {
		field_put(h, WIRE_IMMDT_DATA, p->imm);
		h += WIRE_IMMDT_BYTES;
	}
	return h;
}

static void get_headers(const uint8_t *h, uint8_t headers, struct rc_packet *p)
{
	if (headers & HAS_DETH) {
		p->qkey = (uint32_t)field_get(h, WIRE_DETH_QKEY);
		p->src_qp = (uint32_t)field_get(h, WIRE_DETH_SRC_QP);
		h += WIRE_DETH_BYTES;
	}
	if (headers & HAS_RETH) {
		p->va = field_get(h, WIRE_RETH_VA);
		p->rkey = (uint32_t)field_get(h, WIRE_RETH_RKEY);
		p->length = (uint32_t)field_get(h, WIRE_RETH_LENGTH);
		h += WIRE_RETH_BYTES;
	}
	if (headers & HAS_ATOMICETH) {
		p->va = field_get(h, WIRE_ATOMICETH_VA);
		p->rkey = (uint32_t)field_get(h, WIRE_ATOMICETH_RKEY);
		p->swap = field_get(h, WIRE_ATOMICETH_SWAP);
		p->compare = field_get(h, WIRE_ATOMICETH_COMPARE);
		h += WIRE_ATOMICETH_BYTES;
	}
	if (headers & HAS_AETH) {
		p->syndrome = (uint8_t)field_get(h, WIRE_AETH_SYNDROME);
		p->msn = (uint32_t)field_get(h, WIRE_AETH_MSN);
		h += WIRE_AETH_BYTES;
	}
	if (headers & HAS_ATOMICACKETH) {
		p->original = field_get(h, WIRE_ATOMICACKETH_ORIGINAL);
		h += WIRE_ATOMICACKETH_BYTES;
	}
	if (headers & HAS_IMMDT)
		p->imm = (uint32_t)field_get(h, WIRE_IMMDT_DATA);
}

uint32_t rc_put(struct wire_frame *f, const struct rc_packet *p, bool icrc)
{
	const struct shape *s = &shapes[p->opcode];
	uint32_t pad = -p->payload_len & 3;
	uint8_t *payload;

	assert(s->known && p->payload_len <= WIRE_PAYLOAD_MAX);
	assert(!p->payload_len || s->payload != RC_PAYLOAD_NONE);
	wire_put_bth(f, p->opcode, p->dest_qp, p->psn);
	field_put(f->bytes, WIRE_BTH_SE, p->solicited);
	field_put(f->bytes, WIRE_BTH_PAD, pad);
	field_put(f->bytes, WIRE_BTH_ACKREQ, p->ackreq);
	payload = put_headers(f->bytes + WIRE_BTH_BYTES, s->headers, p);
	memset(payload + p->payload_len, 0, pad);
	f->len = WIRE_BTH_BYTES + s->bytes + p->payload_len + pad +
		 WIRE_ICRC_BYTES;
	wire_seal(f, icrc);
	return f->len;
}

/*
 * BTH (InfiniBand 9.6): MIGREQ and the reserved bits are not looked at, as there is no
 * path migration, and they may have changed on the way.
 */
static bool bth_is_good(const uint8_t *b)
{
	return !field_get(b, WIRE_BTH_TVER) &&
	       field_get(b, WIRE_BTH_PKEY) == WIRE_PKEY;
}

enum wire_error rc_get(const struct wire_frame *f, bool icrc, struct rc_packet *p)
{
	enum wire_error e = wire_check_size(f, icrc);
	const uint8_t *b = f->bytes;
	const struct shape *s;
	uint32_t pad, room;

	if (e != WIRE_OK)
		return e;
	s = &shapes[b[WIRE_BTH_OPCODE_BYTE]];
	if (!s->known)
		return WIRE_OPCODE;
	if (f->len - WIRE_BTH_BYTES - WIRE_ICRC_BYTES < s->bytes)
		return WIRE_SHORT;
	if (!bth_is_good(b))
		return WIRE_HEADER;
	room = f->len - WIRE_BTH_BYTES - s->bytes - WIRE_ICRC_BYTES;
	pad = (uint32_t)field_get(b, WIRE_BTH_PAD);
	if (room % 4 || pad > room || room - pad > WIRE_PAYLOAD_MAX)
		return WIRE_LENGTH;
	if (room && s->payload == RC_PAYLOAD_NONE)
		return WIRE_LENGTH;
	*p = (struct rc_packet){
		.opcode = b[WIRE_BTH_OPCODE_BYTE],
		.solicited = field_get(b, WIRE_BTH_SE),
		.ackreq = field_get(b, WIRE_BTH_ACKREQ),
		.dest_qp = (uint32_t)field_get(b, WIRE_BTH_DEST_QP),
		.psn = (uint32_t)field_get(b, WIRE_BTH_PSN),
		.payload = b + WIRE_BTH_BYTES + s->bytes,
		.payload_len = room - pad,
	};
	get_headers(b + WIRE_BTH_BYTES, s->headers, p);
	return WIRE_OK;
}
