// SPDX-License-Identifier: BSD-2-Clause
/* Packets: headers there and back, the ICRC, and everything that is refused. */
#include "nic/wire.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* The CRC bit by bit, over bytes put together by hand: shares no code. */
static uint32_t slow_crc(uint32_t crc, const uint8_t *p, size_t n)
{
	unsigned int i;

	while (n--) {
		crc ^= *p++;
		for (i = 0; i < 8; i++)
			crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
	}
	return crc;
}

static uint32_t slow_icrc(const struct wire_frame *f)
{
	uint32_t ip_len = f->len + 28, udp_len = f->len + 8, crc = 0xFFFFFFFFu;
	uint8_t head[] = {
		0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
		0x45, 0xFF, (uint8_t)(ip_len >> 8), (uint8_t)ip_len,
		0, 0, 0x40, 0, 0xFF, 17, 0xFF, 0xFF,
		10, 0, 0, (uint8_t)(f->from + 1),
		10, 0, 0, (uint8_t)(f->to + 1),
		0xC0, f->from, 0x12, 0xB7,
		(uint8_t)(udp_len >> 8), (uint8_t)udp_len, 0xFF, 0xFF,
	};
	uint8_t body[WIRE_FRAME_MAX];

	memcpy(body, f->bytes, f->len);
	body[4] = 0xFF;
	crc = slow_crc(crc, head, sizeof(head));
	return ~slow_crc(crc, body, f->len - 4);
}

static const struct wire_block a_cell = {
	.opcode = WOP_WRITE, .dest_qp = 0x123456, .psn = 2, .ctx = 3,
	.gen = 0x1234, .attempt = 5, .va = 0x7f0012345678, .rkey = 0xcafe,
	.len = 2061, .offset = 2048, .left = 0x100000001, .ref = 0x0a0b0c0d,
	.xfer = 77, .block = 6, .src = 0x87654321, .payload_len = 13,
};

static const struct wire_answer an_answer = {
	.opcode = WOP_ACK, .dest_qp = 42, .ctx = 3, .gen = 0x1234,
	.attempt = 5, .xfer = 9, .block = 7,
};

static struct wire_frame cell_frame(bool icrc)
{
	struct wire_frame f = { .from = 15, .to = 0 };
	unsigned int i;

	for (i = 0; i < 13; i++)
		wire_payload(&f)[i] = (uint8_t)(i + 1);
	wire_put_block(&f, &a_cell, icrc);
	return f;
}

static struct wire_frame answer_frame(bool icrc)
{
	struct wire_frame f = { .from = 1, .to = 2 };

	wire_put_answer(&f, &an_answer, icrc);
	return f;
}

TEST("the bytes of a cell are those of wire.def, in network order")
{
	static const uint8_t want[] = {
		WOP_WRITE, 0x40, 0xFF, 0xFF, 0, 0x12, 0x34, 0x56,
		0, 0, 0, 2,
		3, 0x12, 0x34, 5, 0, 0, 0x7f, 0, 0x12, 0x34, 0x56, 0x78,
		0, 0, 0xca, 0xfe, 0, 0, 0x08, 0x0d, 0, 0, 0x08, 0,
		0, 0, 0, 1, 0, 0, 0, 1, 0x0a, 0x0b, 0x0c, 0x0d,
		0, 0, 0, 77, 0, 0, 0, 6, 0x87, 0x65, 0x43, 0x21,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
	};
	struct wire_frame f = cell_frame(true);

	EXPECT_EQ(f.len, sizeof(want) + 4);
	EXPECT_MEM(f.bytes, want, sizeof(want));
}

TEST("a block header comes back as it was put")
{
	struct wire_frame f = cell_frame(true);
	struct wire_block b = { 0 };

	EXPECT_EQ(wire_get_block(&f, true, &b), WIRE_OK);
	EXPECT_EQ(b.opcode, a_cell.opcode);
	EXPECT_EQ(b.dest_qp, a_cell.dest_qp);
	EXPECT_EQ(b.psn, a_cell.psn);
	EXPECT_EQ(wire_word(b.ctx, b.gen, b.attempt), 0x03123405);
	EXPECT_EQ(b.va, a_cell.va);
	EXPECT_EQ(b.rkey, a_cell.rkey);
	EXPECT_EQ(b.len, a_cell.len);
	EXPECT_EQ(b.offset, a_cell.offset);
	EXPECT_EQ(b.left, a_cell.left);
	EXPECT_EQ(b.ref, a_cell.ref);
	EXPECT_EQ(b.xfer, a_cell.xfer);
	EXPECT_EQ(b.block, a_cell.block);
	EXPECT_EQ(b.src, a_cell.src);
	EXPECT_EQ(b.payload_len, 13);
	EXPECT_MEM(b.payload, "\1\2\3\4\5\6\7\10\11\12\13\14\15", 13);
}

TEST("an answer comes back as it was put, of every kind")
{
	static const uint8_t ops[] = { WOP_ACK, WOP_REFUSED, WOP_READY,
				       WOP_NAK, WOP_WAIT };
	struct wire_answer a, got = { 0 };
	struct wire_frame f = { .from = 3, .to = 4 };
	unsigned int i;

	for (i = 0; i < sizeof(ops); i++) {
		a = an_answer;
		a.opcode = ops[i];
		a.code = 200;
		a.map = 0x8000001F;
		STEP("put %s", wire_opcode_name(ops[i]));
		EXPECT_EQ(wire_put_answer(&f, &a, true), 36);
		EXPECT_EQ(wire_opcode(&f), ops[i]);
		EXPECT(!wire_is_block(ops[i]));
		EXPECT_EQ(wire_get_answer(&f, true, &got), WIRE_OK);
		EXPECT_EQ(got.opcode, a.opcode);
		EXPECT_EQ(got.dest_qp, a.dest_qp);
		EXPECT_EQ(got.ctx, a.ctx);
		EXPECT_EQ(got.gen, a.gen);
		EXPECT_EQ(got.attempt, a.attempt);
		EXPECT_EQ(got.code, a.code);
		EXPECT_EQ(got.map, a.map);
		EXPECT_EQ(got.xfer, a.xfer);
		EXPECT_EQ(got.block, a.block);
	}
}

TEST("the ICRC is that of another implementation (Python's zlib)")
{
	/*
	 * zlib.crc32 over the masked packet: 8 ones, IPv4, UDP, these bytes. They
	 * are bytes to the ICRC: what their opcodes mean does not matter here.
	 */
	static const uint8_t short_one[] = {
		0xC8, 0x40, 0xFF, 0xFF, 0, 0, 0, 0x2A, 0, 0, 0, 0,
		3, 0x12, 0x34, 5, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 9, 0, 0, 0, 7,
	};
	static const uint8_t long_one[] = {
		0xC1, 0x40, 0xFF, 0xFF, 0, 0x12, 0x34, 0x56,
		0, 0, 0, 2,
		3, 0x12, 0x34, 5, 0, 0, 0x7F, 0, 0x12, 0x34, 0x56, 0x78,
		0, 0, 0xCA, 0xFE, 0, 0, 0x08, 0x0D, 0, 0, 0x08, 0,
		0, 0, 0, 1, 0, 0, 0, 1, 0x0A, 0x0B, 0x0C, 0x0D,
		0, 0, 0, 77, 0, 0, 0, 6, 0, 0, 0, 0,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
	};
	struct wire_frame f = { .from = 1, .to = 2 };

	memcpy(f.bytes, short_one, sizeof(short_one));
	f.len = sizeof(short_one) + 4;
	EXPECT_EQ(wire_icrc(&f), 0x8073daf3u);
	f.from = 15;
	f.to = 0;
	memcpy(f.bytes, long_one, sizeof(long_one));
	f.len = sizeof(long_one) + 4;
	EXPECT_EQ(wire_icrc(&f), 0x9b114e09u);
	STEP("in the packet, least significant byte first");
	f = answer_frame(true);
	EXPECT_EQ(f.bytes[32], wire_icrc(&f) & 0xFF);
	EXPECT_EQ(f.bytes[35], wire_icrc(&f) >> 24);
}

TEST("the ICRC equals one made bit by bit, for every length")
{
	struct wire_frame f = { .from = 7, .to = 9 };
	struct wire_block b = a_cell;
	uint64_t x = test_seed() * 2654435761u + 1;
	uint32_t i;

	for (i = 0; i < WIRE_FRAME_MAX; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		f.bytes[i] = (uint8_t)(x >> 56);
	}
	for (b.payload_len = 1; b.payload_len <= WIRE_PAYLOAD_MAX;
	     b.payload_len += b.payload_len < 70 ? 1 : 61) {
		wire_put_block(&f, &b, true);
		EXPECT_EQ(wire_icrc(&f), slow_icrc(&f));
	}
}

TEST("every flipped bit is found, but those that may change on the way")
{
	struct wire_frame f = cell_frame(true), g;
	struct wire_block b;
	unsigned int bit;

	for (bit = 0; bit < f.len * 8; bit++) {
		g = f;
		g.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		EXPECT_EQ(wire_get_block(&g, true, &b),
			  bit / 8 == 4 ? WIRE_OK : WIRE_CRC);
	}
	STEP("a packet that went to another node");
	g = f;
	g.to = 1;
	EXPECT_EQ(wire_get_block(&g, true, &b), WIRE_CRC);
}

TEST("without ICRC its four bytes are zero and are not looked at")
{
	struct wire_frame f = cell_frame(false);
	struct wire_block b;

	EXPECT_MEM(f.bytes + f.len - 4, "\0\0\0\0", 4);
	EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_OK);
	EXPECT_EQ(wire_get_block(&f, true, &b), WIRE_CRC);
}

TEST("an ICRC that comes later is not looked at until it is there")
{
	struct wire_frame eager = cell_frame(true), f = cell_frame(false);
	struct wire_block b;

	STEP("a frame of a link that leaves it to who looks");
	f.icrc_later = true;
	memset(f.bytes + f.len - 4, 0x5A, 4);
	wire_seal(&f, true);
	EXPECT(f.icrc_later);
	EXPECT_EQ(wire_get_block(&f, true, &b), WIRE_OK);
	STEP("somebody looks");
	wire_icrc_settle(&f);
	EXPECT(!f.icrc_later);
	EXPECT_MEM(f.bytes, eager.bytes, f.len);
	EXPECT_EQ(wire_get_block(&f, true, &b), WIRE_OK);
	STEP("from now on it is that of what the frame was then");
	f.bytes[20] ^= 1;
	wire_icrc_settle(&f);
	EXPECT(!wire_icrc_good(&f));
	EXPECT_EQ(wire_get_block(&f, true, &b), WIRE_CRC);
	STEP("a packet that is to have none has none");
	f.icrc_later = true;
	wire_seal(&f, false);
	EXPECT(!f.icrc_later);
	EXPECT_MEM(f.bytes + f.len - 4, "\0\0\0\0", 4);
}

TEST("a packet of any length that is too short is refused")
{
	struct wire_frame f = cell_frame(false), g = answer_frame(false);
	struct wire_answer a;
	struct wire_block b;

	for (f.len = 0; f.len < 64; f.len++)
		EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_SHORT);
	for (g.len = 0; g.len < 36; g.len++)
		EXPECT_EQ(wire_get_answer(&g, false, &a), WIRE_SHORT);
	f.len = 11;
	EXPECT_EQ(wire_opcode(&f), 0);
}

TEST("a packet with a wrong length is refused")
{
	struct wire_frame f = cell_frame(false), g = answer_frame(false);
	struct wire_answer a;
	struct wire_block b;

	STEP("a cell without payload");
	f.len = 64;
	EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_LENGTH);
	STEP("more payload than a packet may have");
	f.len = 64 + WIRE_PAYLOAD_MAX + 1;
	EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_LENGTH);
	STEP("longer than any frame");
	f.len = WIRE_FRAME_MAX + 1;
	EXPECT_EQ(wire_get_block(&f, true, &b), WIRE_LENGTH);
	STEP("a READ request with payload");
	f = cell_frame(false);
	f.bytes[0] = WOP_READ_REQ;
	EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_LENGTH);
	STEP("an answer with payload");
	g.len++;
	EXPECT_EQ(wire_get_answer(&g, false, &a), WIRE_LENGTH);
}

TEST("an opcode of the wrong kind, or unknown, is refused")
{
	struct wire_frame f = cell_frame(false), g = answer_frame(false);
	struct wire_answer a;
	struct wire_block b;
	unsigned int op, known = 0;

	EXPECT_EQ(wire_get_answer(&f, false, &a), WIRE_OPCODE);
	EXPECT_EQ(wire_get_block(&g, false, &b), WIRE_OPCODE);
	for (op = 0; op < 256; op++) {
		f.bytes[0] = (uint8_t)op;
		known += op >= 0xC0 &&
			 strcmp(wire_opcode_name((uint8_t)op), "?") != 0;
		if (!wire_is_block((uint8_t)op))
			EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_OPCODE);
	}
	EXPECT_EQ(known, 12);	/* HELLO is neither: it is between links */
}

TEST("a header with a reserved or fixed bit the other way round is refused")
{
	static const struct {
		unsigned int byte, mask;
	} bits[] = {
		{ 1, 0x80 }, { 1, 0x40 }, { 1, 0x30 }, { 1, 0x0F },
		{ 2, 0x01 }, { 3, 0x80 }, { 8, 0x80 }, { 8, 0x7F },
	};
	struct wire_frame f;
	struct wire_answer a;
	struct wire_block b;
	unsigned int i, bit;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		for (bit = 1; bit < 256; bit <<= 1) {
			if (!(bits[i].mask & bit))
				continue;
			STEP("byte %u, bit 0x%02x", bits[i].byte, bit);
			f = cell_frame(false);
			f.bytes[bits[i].byte] ^= (uint8_t)bit;
			EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_HEADER);
			f = answer_frame(false);
			f.bytes[bits[i].byte] ^= (uint8_t)bit;
			EXPECT_EQ(wire_get_answer(&f, false, &a), WIRE_HEADER);
		}
	}
	f = answer_frame(false);
	f.bytes[12 + 5] = 0x80;
	EXPECT_EQ(wire_get_answer(&f, false, &a), WIRE_HEADER);
}

TEST("each way to be refused has a name of its own")
{
	unsigned int i, k;

	for (i = 0; i <= WIRE_LENGTH; i++)
		for (k = 0; k < i; k++)
			EXPECT(strcmp(wire_error_name(i),
				      wire_error_name(k)) != 0);
	EXPECT_STR(wire_error_name((enum wire_error)99), "?");
}
