// SPDX-License-Identifier: BSD-2-Clause
/* Packets of NetVM's transport: headers there and back. */
#include "nic/transport/nv_wire.h"

#include "nic/wire_field.h"

static void fragment_put(uint8_t *h, const struct nv_packet *p)
{
	field_put(h, WIRE_NVH_VA, p->va);
	field_put(h, WIRE_NVH_LEN, p->len);
	field_put(h, WIRE_NVH_KEY, p->key);
	field_put(h, WIRE_NVH_SEQUENCE, p->sequence);
	field_put(h, WIRE_NVH_COUNTER, p->counter);
	field_put(h, WIRE_NVH_CREDITS, p->credits);
}

static void answer_put(uint8_t *h, const struct nv_packet *p)
{
	field_put(h, WIRE_NVA_SEQUENCE, p->sequence);
	field_put(h, WIRE_NVA_BASE, p->base);
	field_put(h, WIRE_NVA_CREDITS, p->credits);
	field_put(h, WIRE_NVA_REDIRECTED, p->redirected);
	field_put(h, WIRE_NVA_ASK, p->ask);
	field_put(h, WIRE_NVA_RESERVED, 0);
	field_put(h, WIRE_NVA_CODE, p->code);
}

void nv_put(struct wire_frame *f, const struct nv_packet *p, bool icrc)
{
	bool fragment = p->opcode == WOP_NV_WRITE;
	uint32_t header = fragment ? WIRE_NVH_BYTES : WIRE_NVA_BYTES;
	uint32_t pad = fragment ? -p->payload_len & 3 : 0;
	uint8_t *h = f->bytes + WIRE_BTH_BYTES;

	assert(p->payload_len <= WIRE_PAYLOAD_MAX && (fragment || !p->payload_len));
	wire_put_bth(f, p->opcode, p->dest_qp, 0);
	field_put(f->bytes, WIRE_BTH_PAD, pad);
	if (fragment)
		fragment_put(h, p);
	else
		answer_put(h, p);
	memset(h + header + p->payload_len, 0, pad);
	f->len = WIRE_BTH_BYTES + header + p->payload_len + pad + WIRE_ICRC_BYTES;
	wire_seal(f, icrc);
}

static void fragment_get(const uint8_t *h, struct nv_packet *p)
{
	p->va = field_get(h, WIRE_NVH_VA);
	p->len = (uint32_t)field_get(h, WIRE_NVH_LEN);
	p->key = (uint32_t)field_get(h, WIRE_NVH_KEY);
	p->sequence = (uint32_t)field_get(h, WIRE_NVH_SEQUENCE);
	p->counter = (uint16_t)field_get(h, WIRE_NVH_COUNTER);
	p->credits = (uint16_t)field_get(h, WIRE_NVH_CREDITS);
}

static bool answer_get(const uint8_t *h, struct nv_packet *p)
{
	p->sequence = (uint32_t)field_get(h, WIRE_NVA_SEQUENCE);
	p->base = (uint32_t)field_get(h, WIRE_NVA_BASE);
	p->credits = (uint16_t)field_get(h, WIRE_NVA_CREDITS);
	p->redirected = field_get(h, WIRE_NVA_REDIRECTED);
	p->ask = field_get(h, WIRE_NVA_ASK);
	p->code = (uint8_t)field_get(h, WIRE_NVA_CODE);
	return !field_get(h, WIRE_NVA_RESERVED);
}

static bool fragment_makes_sense(const struct nv_packet *p)
{
	return p->payload_len <= p->len && !p->payload_len == !p->len &&
	       p->va % 4096 + p->payload_len <= 4096;
}

enum wire_error nv_get(const struct wire_frame *f, bool icrc, struct nv_packet *p)
{
	enum wire_error e = wire_check_size(f, icrc);
	const uint8_t *b = f->bytes, *h = b + WIRE_BTH_BYTES;
	uint32_t header, room, pad;
	bool fragment;

	if (e != WIRE_OK)
		return e;
	fragment = b[WIRE_BTH_OPCODE_BYTE] == WOP_NV_WRITE;
	if (!fragment && wire_header(b[WIRE_BTH_OPCODE_BYTE]) != WIRE_NVA)
		return WIRE_OPCODE;
	header = fragment ? WIRE_NVH_BYTES : WIRE_NVA_BYTES;
	if (f->len < WIRE_BTH_BYTES + header + WIRE_ICRC_BYTES)
		return WIRE_SHORT;
	/* As in rc_wire.c. */
	if (field_get(b, WIRE_BTH_TVER) || field_get(b, WIRE_BTH_PKEY) != WIRE_PKEY)
		return WIRE_HEADER;
	room = f->len - WIRE_BTH_BYTES - header - WIRE_ICRC_BYTES;
	pad = (uint32_t)field_get(b, WIRE_BTH_PAD);
	if (room % 4 || pad > room || room - pad > WIRE_PAYLOAD_MAX || (room && !fragment))
		return WIRE_LENGTH;
	*p = (struct nv_packet){
		.opcode = b[WIRE_BTH_OPCODE_BYTE],
		.dest_qp = (uint32_t)field_get(b, WIRE_BTH_DEST_QP),
		.payload = h + header, .payload_len = room - pad,
	};
	if (!fragment)
		return answer_get(h, p) ? WIRE_OK : WIRE_HEADER;
	fragment_get(h, p);
	return fragment_makes_sense(p) ? WIRE_OK : WIRE_LENGTH;
}
