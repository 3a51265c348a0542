// SPDX-License-Identifier: BSD-2-Clause
/* Packets: header fields as wire.def says, and the invariant CRC. */
#include "nic/wire.h"
#include "nic/wire_field.h"

#include <assert.h>
#include <string.h>

static_assert(WIRE_PAYLOAD_AT <= WIRE_HEADER_MAX, "headers fit in a frame");

/*
 * CRC-32, polynomial 0x04C11DB7, least significant bit first: 0xEDB88320. X<n>
 * is the remainder of the lone bit that leaves the register n steps before the
 * end; a CRC is linear, so every table entry is a sum of eight of them, and the
 * compiler can write the tables.
 */
#define POLY	0xEDB88320u
#define STEP(x)	(((x) >> 1) ^ ((x) & 1 ? POLY : 0))
#define EIGHT(a, b, c, d, e, f, g, h, before)				      \
	a = STEP(before), b = STEP(a), c = STEP(b), d = STEP(c),	      \
	e = STEP(d), f = STEP(e), g = STEP(f), h = STEP(g)
enum {
	X_START = 1,
	EIGHT(X0, X1, X2, X3, X4, X5, X6, X7, X_START),
	EIGHT(X8, X9, X10, X11, X12, X13, X14, X15, X7),
	EIGHT(X16, X17, X18, X19, X20, X21, X22, X23, X15),
	EIGHT(X24, X25, X26, X27, X28, X29, X30, X31, X23),
	EIGHT(X32, X33, X34, X35, X36, X37, X38, X39, X31),
	EIGHT(X40, X41, X42, X43, X44, X45, X46, X47, X39),
	EIGHT(X48, X49, X50, X51, X52, X53, X54, X55, X47),
	EIGHT(X56, X57, X58, X59, X60, X61, X62, X63, X55),
};

/* Bit 7 of a byte leaves the register last. */
#define E1(n, a, b, c, d, e, f, g, h)					      \
	((n) & 128 ? (uint32_t)a : 0) ^ ((n) & 64 ? (uint32_t)b : 0) ^	      \
	((n) & 32 ? (uint32_t)c : 0) ^ ((n) & 16 ? (uint32_t)d : 0) ^	      \
	((n) & 8 ? (uint32_t)e : 0) ^ ((n) & 4 ? (uint32_t)f : 0) ^	      \
	((n) & 2 ? (uint32_t)g : 0) ^ ((n) & 1 ? (uint32_t)h : 0)
#define E4(n, ...)							      \
	E1(n, __VA_ARGS__), E1((n) + 1, __VA_ARGS__),			      \
	E1((n) + 2, __VA_ARGS__), E1((n) + 3, __VA_ARGS__)
#define E16(n, ...)							      \
	E4(n, __VA_ARGS__), E4((n) + 4, __VA_ARGS__),			      \
	E4((n) + 8, __VA_ARGS__), E4((n) + 12, __VA_ARGS__)
#define E64(n, ...)							      \
	E16(n, __VA_ARGS__), E16((n) + 16, __VA_ARGS__),		      \
	E16((n) + 32, __VA_ARGS__), E16((n) + 48, __VA_ARGS__)
#define E256(...)							      \
	{ E64(0, __VA_ARGS__), E64(64, __VA_ARGS__),			      \
	  E64(128, __VA_ARGS__), E64(192, __VA_ARGS__) }

/* crc_table[k][n]: byte n, followed by k bytes of zero. */
static const uint32_t crc_table[8][256] = {
	E256(X0, X1, X2, X3, X4, X5, X6, X7),
	E256(X8, X9, X10, X11, X12, X13, X14, X15),
	E256(X16, X17, X18, X19, X20, X21, X22, X23),
	E256(X24, X25, X26, X27, X28, X29, X30, X31),
	E256(X32, X33, X34, X35, X36, X37, X38, X39),
	E256(X40, X41, X42, X43, X44, X45, X46, X47),
	E256(X48, X49, X50, X51, X52, X53, X54, X55),
	E256(X56, X57, X58, X59, X60, X61, X62, X63),
};

static inline uint32_t load_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static uint32_t crc_update(uint32_t crc, const uint8_t *p, size_t n)
{
	uint32_t hi;

	for (; n >= 8; n -= 8, p += 8) {
		crc ^= load_le32(p);
		hi = load_le32(p + 4);
		crc = crc_table[7][crc & 0xFF] ^
		      crc_table[6][crc >> 8 & 0xFF] ^
		      crc_table[5][crc >> 16 & 0xFF] ^
		      crc_table[4][crc >> 24] ^
		      crc_table[3][hi & 0xFF] ^
		      crc_table[2][hi >> 8 & 0xFF] ^
		      crc_table[1][hi >> 16 & 0xFF] ^
		      crc_table[0][hi >> 24];
	}
	for (; n; n--)
		crc = crc_table[0][(crc ^ *p++) & 0xFF] ^ crc >> 8;
	return crc;
}

void wire_network(const struct wire_frame *f, uint8_t ip[WIRE_NETWORK_BYTES],
		  uint8_t varies)
{
	uint8_t *udp = ip + 20;

	memset(ip, varies, WIRE_NETWORK_BYTES);
	ip[0] = 0x45;				/* version 4, 5 words */
	field_put(ip, 2, 7, 16, WIRE_NETWORK_BYTES + f->len);
	field_put(ip, 4, 7, 16, 0);		/* identification */
	field_put(ip, 6, 7, 16, 0x4000);	/* don't fragment */
	ip[9] = 17;				/* UDP */
	field_put(ip, 12, 7, 32, 0x0A000001u + f->from);
	field_put(ip, 16, 7, 32, 0x0A000001u + f->to);
	field_put(udp, 0, 7, 16, 0xC000u + f->from);
	field_put(udp, 2, 7, 16, 4791);
	field_put(udp, 4, 7, 16, 8 + f->len);
}

/*
 * InfiniBand 7.8.1 and annex A17 (RoCEv2): eight bytes of ones in place of the
 * local route header, then IPv4, UDP and BTH as they would be on the network,
 * with ones for what may change on the way, and for the byte of BTH that carries
 * congestion marks.
 */
uint32_t wire_icrc(const struct wire_frame *f)
{
	uint8_t h[8 + WIRE_NETWORK_BYTES + WIRE_BTH_BYTES];
	uint8_t *bth = h + 8 + WIRE_NETWORK_BYTES;
	uint32_t crc;

	assert(f->len >= WIRE_BTH_BYTES + WIRE_ICRC_BYTES);
	assert(f->len <= WIRE_FRAME_MAX);
	memset(h, 0xFF, 8);
	wire_network(f, h + 8, 0xFF);
	memcpy(bth, f->bytes, WIRE_BTH_BYTES);
	field_put(bth, WIRE_BTH_RESERVED8, 0xFF);
	crc = crc_update(0xFFFFFFFFu, h, sizeof(h));
	return ~crc_update(crc, f->bytes + WIRE_BTH_BYTES,
			   f->len - WIRE_BTH_BYTES - WIRE_ICRC_BYTES);
}

void wire_icrc_write(struct wire_frame *f)
{
	uint8_t *p = f->bytes + f->len - WIRE_ICRC_BYTES;
	uint32_t crc = wire_icrc(f);
	unsigned int i;

	for (i = 0; i < WIRE_ICRC_BYTES; i++)
		p[i] = (uint8_t)(crc >> 8 * i);
	f->icrc_later = false;
}

bool wire_icrc_good(const struct wire_frame *f)
{
	return load_le32(f->bytes + f->len - WIRE_ICRC_BYTES) == wire_icrc(f);
}

void wire_seal(struct wire_frame *f, bool icrc)
{
	if (icrc && f->icrc_later)
		return;
	if (icrc) {
		wire_icrc_write(f);
		return;
	}
	memset(f->bytes + f->len - WIRE_ICRC_BYTES, 0, WIRE_ICRC_BYTES);
	f->icrc_later = false;
}

void wire_put_bth(struct wire_frame *f, uint8_t opcode, uint32_t dest_qp,
		  uint32_t psn)
{
	memset(f->bytes, 0, WIRE_BTH_BYTES);
	field_put(f->bytes, WIRE_BTH_OPCODE, opcode);
	field_put(f->bytes, WIRE_BTH_MIGREQ, 1);
	field_put(f->bytes, WIRE_BTH_PKEY, WIRE_PKEY);
	field_put(f->bytes, WIRE_BTH_DEST_QP, dest_qp);
	field_put(f->bytes, WIRE_BTH_PSN, psn);
}

uint32_t wire_put_block(struct wire_frame *f, const struct wire_block *b,
			bool icrc)
{
	uint8_t *h = f->bytes + WIRE_BTH_BYTES;

	assert(wire_is_block(b->opcode) && b->payload_len <= WIRE_PAYLOAD_MAX);
	wire_put_bth(f, b->opcode, b->dest_qp, b->psn);
	field_put(h, WIRE_BLK_CTX, b->ctx);
	field_put(h, WIRE_BLK_GEN, b->gen);
	field_put(h, WIRE_BLK_ATTEMPT, b->attempt);
	field_put(h, WIRE_BLK_VA, b->va);
	field_put(h, WIRE_BLK_RKEY, b->rkey);
	field_put(h, WIRE_BLK_LEN, b->len);
	field_put(h, WIRE_BLK_OFFSET, b->offset);
	field_put(h, WIRE_BLK_LEFT, b->left);
	field_put(h, WIRE_BLK_REF, b->ref);
	field_put(h, WIRE_BLK_XFER, b->xfer);
	field_put(h, WIRE_BLK_BLOCK, b->block);
	field_put(h, WIRE_BLK_SRC, b->src);
	f->xfer = b->xfer;
	f->block = b->block;
	f->attempt = b->attempt;
	f->offset = b->offset;
	f->len = WIRE_PAYLOAD_AT + b->payload_len + WIRE_ICRC_BYTES;
	wire_seal(f, icrc);
	return f->len;
}

uint32_t wire_put_answer(struct wire_frame *f, const struct wire_answer *a,
			 bool icrc)
{
	uint8_t *h = f->bytes + WIRE_BTH_BYTES;

	wire_put_bth(f, a->opcode, a->dest_qp, 0);
	field_put(h, WIRE_ANS_CTX, a->ctx);
	field_put(h, WIRE_ANS_GEN, a->gen);
	field_put(h, WIRE_ANS_ATTEMPT, a->attempt);
	field_put(h, WIRE_ANS_CODE, a->code);
	field_put(h, WIRE_ANS_RESERVED, 0);
	field_put(h, WIRE_ANS_MAP, a->map);
	field_put(h, WIRE_ANS_XFER, a->xfer);
	field_put(h, WIRE_ANS_BLOCK, a->block);
	f->xfer = a->xfer;
	f->block = a->block;
	f->attempt = a->attempt;
	f->offset = 0;
	f->len = WIRE_BTH_BYTES + WIRE_ANS_BYTES + WIRE_ICRC_BYTES;
	wire_seal(f, icrc);
	return f->len;
}

/* Opcodes of the specification: headers between BTH and payload; has it any? */
enum { PAYLOAD_NONE, PAYLOAD_FULL, PAYLOAD_SOME, PAYLOAD_ANY };
static const struct {
	uint8_t headers;
	bool payload;
} standard[256] = {
#define WSTD(name, value, header1, header2, payload, text)		     \
	[value] = { WOP_##name##_HEADER_BYTES, PAYLOAD_##payload != PAYLOAD_NONE },
#include "faultline/wire.def"
};

uint32_t wire_payload_bytes(const struct wire_frame *f)
{
	uint32_t header = WIRE_BTH_BYTES + WIRE_ICRC_BYTES;
	uint8_t opcode = wire_opcode(f);

	switch (wire_header(opcode)) {
	case WIRE_BLK:
		header += WIRE_BLK_BYTES;
		break;
	case WIRE_NVH:
		header += WIRE_NVH_BYTES;
		break;
	case WIRE_STANDARD:
		if (!standard[opcode].payload)
			return 0;
		header += standard[opcode].headers;
		break;
	default:
		return 0;
	}
	return f->len < header ? 0 : f->len - header;
}

const char *wire_error_name(enum wire_error e)
{
	static const char *const names[] = {
		[WIRE_OK] = "ok",
		[WIRE_SHORT] = "too short",
		[WIRE_CRC] = "damaged",
		[WIRE_OPCODE] = "unknown opcode",
		[WIRE_HEADER] = "bad header",
		[WIRE_LENGTH] = "bad length",
	};

	return (unsigned int)e <= WIRE_LENGTH ? names[e] : "?";
}

static const char *const opcode_names[256] = {
#define WOPC(name, value, header, text) [value] = #name,
#define WSTD(name, value, ...) [value] = #name,
#include "faultline/wire.def"
};

const char *wire_opcode_name(uint8_t opcode)
{
	return opcode_names[opcode] ? opcode_names[opcode] : "?";
}

enum wire_error wire_check_size(const struct wire_frame *f, bool icrc)
{
	if (f->len < WIRE_BTH_BYTES + WIRE_ICRC_BYTES)
		return WIRE_SHORT;
	if (f->len > WIRE_FRAME_MAX)
		return WIRE_LENGTH;
	if (icrc && !f->icrc_later && !wire_icrc_good(f))
		return WIRE_CRC;
	return WIRE_OK;
}

/* What both kinds have in common: size, ICRC, opcode, BTH (InfiniBand 9.2). */
static enum wire_error wire_check(const struct wire_frame *f, bool icrc,
				  enum wire_header header,
				  uint32_t header_bytes)
{
	const uint8_t *b = f->bytes;
	enum wire_error e = wire_check_size(f, icrc);
	uint64_t wrong;

	if (e != WIRE_OK)
		return e;
	if (wire_header((uint8_t)field_get(b, WIRE_BTH_OPCODE)) != header)
		return WIRE_OPCODE;
	if (f->len < WIRE_BTH_BYTES + header_bytes + WIRE_ICRC_BYTES)
		return WIRE_SHORT;
	/*
	 * RESERVED8 may have changed on the way: not looked at. One sum and no
	 * branches: almost always all of it is right.
	 */
	wrong = field_get(b, WIRE_BTH_SE) |
		(field_get(b, WIRE_BTH_MIGREQ) ^ 1) |
		field_get(b, WIRE_BTH_PAD) | field_get(b, WIRE_BTH_TVER) |
		(field_get(b, WIRE_BTH_PKEY) ^ WIRE_PKEY) |
		field_get(b, WIRE_BTH_ACKREQ) |
		field_get(b, WIRE_BTH_RESERVED7);
	return wrong ? WIRE_HEADER : WIRE_OK;
}

enum wire_error wire_get_block(const struct wire_frame *f, bool icrc,
			       struct wire_block *b)
{
	const uint8_t *h = f->bytes + WIRE_BTH_BYTES;
	enum wire_error e = wire_check(f, icrc, WIRE_BLK, WIRE_BLK_BYTES);

	if (e != WIRE_OK)
		return e;
	b->opcode = (uint8_t)field_get(f->bytes, WIRE_BTH_OPCODE);
	b->dest_qp = (uint32_t)field_get(f->bytes, WIRE_BTH_DEST_QP);
	b->psn = (uint32_t)field_get(f->bytes, WIRE_BTH_PSN);
	b->ctx = (uint8_t)field_get(h, WIRE_BLK_CTX);
	b->gen = (uint16_t)field_get(h, WIRE_BLK_GEN);
	b->attempt = (uint8_t)field_get(h, WIRE_BLK_ATTEMPT);
	b->va = field_get(h, WIRE_BLK_VA);
	b->rkey = (uint32_t)field_get(h, WIRE_BLK_RKEY);
	b->len = (uint32_t)field_get(h, WIRE_BLK_LEN);
	b->offset = (uint32_t)field_get(h, WIRE_BLK_OFFSET);
	b->left = field_get(h, WIRE_BLK_LEFT);
	b->ref = (uint32_t)field_get(h, WIRE_BLK_REF);
	b->xfer = (uint32_t)field_get(h, WIRE_BLK_XFER);
	b->block = (uint32_t)field_get(h, WIRE_BLK_BLOCK);
	b->src = (uint32_t)field_get(h, WIRE_BLK_SRC);
	b->payload = f->bytes + WIRE_PAYLOAD_AT;
	b->payload_len = f->len - WIRE_PAYLOAD_AT - WIRE_ICRC_BYTES;
	if (b->payload_len > WIRE_PAYLOAD_MAX)
		return WIRE_LENGTH;
	/* A READ request carries nothing; a cell carries something. */
	if ((b->opcode == WOP_READ_REQ) != !b->payload_len)
		return WIRE_LENGTH;
	return WIRE_OK;
}

enum wire_error wire_get_answer(const struct wire_frame *f, bool icrc,
				struct wire_answer *a)
{
	const uint8_t *h = f->bytes + WIRE_BTH_BYTES;
	enum wire_error e = wire_check(f, icrc, WIRE_ANS, WIRE_ANS_BYTES);

	if (e != WIRE_OK)
		return e;
	if (f->len != WIRE_BTH_BYTES + WIRE_ANS_BYTES + WIRE_ICRC_BYTES)
		return WIRE_LENGTH;
	if (field_get(h, WIRE_ANS_RESERVED))
		return WIRE_HEADER;
	a->opcode = (uint8_t)field_get(f->bytes, WIRE_BTH_OPCODE);
	a->dest_qp = (uint32_t)field_get(f->bytes, WIRE_BTH_DEST_QP);
	a->ctx = (uint8_t)field_get(h, WIRE_ANS_CTX);
	a->gen = (uint16_t)field_get(h, WIRE_ANS_GEN);
	a->attempt = (uint8_t)field_get(h, WIRE_ANS_ATTEMPT);
	a->code = (uint8_t)field_get(h, WIRE_ANS_CODE);
	a->map = (uint32_t)field_get(h, WIRE_ANS_MAP);
	a->xfer = (uint32_t)field_get(h, WIRE_ANS_XFER);
	a->block = (uint32_t)field_get(h, WIRE_ANS_BLOCK);
	return WIRE_OK;
}
