// SPDX-License-Identifier: BSD-2-Clause
/* Packets of the InfiniBand specification: bytes, headers there and back, refusals. */
#include "nic/transport/rc_wire.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static struct wire_frame frame_make(const struct rc_packet *p, bool icrc)
{
	struct wire_frame f = { .from = 1, .to = 2 };
	uint32_t i;

	for (i = 0; i < p->payload_len; i++)
		rc_payload(&f, p->opcode)[i] = (uint8_t)(i * 7 + 1);
	rc_put(&f, p, icrc);
	return f;
}

TEST("InfiniBand 9.2, 9.3: bytes of a WRITE with immediate data, padded")
{
	static const uint8_t want[] = {
		0x0B, 0xF0, 0xFF, 0xFF, 0, 0x12, 0x34, 0x56,
		0x80, 0xAB, 0xCD, 0xEF,
		0, 0, 0x7f, 0, 0x12, 0x34, 0x56, 0x78,
		0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 5,
		0xDE, 0xAD, 0xBE, 0xEF,
		1, 8, 15, 22, 29, 0, 0, 0,
	};
	struct rc_packet p = {
		.opcode = WOP_RC_WRITE_ONLY_IMM, .solicited = true,
		.ackreq = true, .dest_qp = 0x123456, .psn = 0xABCDEF,
		.va = 0x7f0012345678, .rkey = 0xCAFEBABE, .length = 5,
		.imm = 0xDEADBEEF, .payload_len = 5,
	};
	struct wire_frame f = frame_make(&p, true);

	EXPECT_EQ(f.len, sizeof(want) + 4);
	EXPECT_MEM(f.bytes, want, sizeof(want));
}

TEST("InfiniBand 9.3: bytes of an atomic and of its answer")
{
	static const uint8_t want[] = {
		0x13, 0x40, 0xFF, 0xFF, 0, 0, 0, 2, 0, 0, 0, 1,
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
	};
	static const uint8_t answer[] = {
		0x12, 0x40, 0xFF, 0xFF, 0, 0, 0, 3, 0, 0, 0, 1,
		0x1F, 0, 1, 2, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
	};
	struct rc_packet p = {
		.opcode = WOP_RC_CMP_SWAP, .dest_qp = 2, .psn = 1,
		.va = 0x0102030405060708, .rkey = 0x090A0B0C,
		.swap = 0x2122232425262728, .compare = 0x3132333435363738,
	};
	struct rc_packet a = {
		.opcode = WOP_RC_ATOMIC_ACKNOWLEDGE, .dest_qp = 3, .psn = 1,
		.syndrome = RC_SYN_ACK, .msn = 0x102,
		.original = 0x4142434445464748,
	};
	struct wire_frame f = frame_make(&p, true);

	EXPECT_EQ(f.len, sizeof(want) + 4);
	EXPECT_MEM(f.bytes, want, sizeof(want));
	f = frame_make(&a, true);
	EXPECT_EQ(f.len, sizeof(answer) + 4);
	EXPECT_MEM(f.bytes, answer, sizeof(answer));
}

/* Every opcode of the table, with fields that differ from each other. */
static const struct {
	uint8_t opcode, payload;
	unsigned int headers;
} opcodes[] = {
#define WSTD(name, value, header1, header2, payload, text) \
	{ value, RC_PAYLOAD_##payload, WOP_##name##_HEADER_BYTES },
#include "faultline/wire.def"
};
#define OPCODES (sizeof(opcodes) / sizeof(opcodes[0]))

static struct rc_packet packet_of(size_t i, uint32_t payload)
{
	return (struct rc_packet){
		.opcode = opcodes[i].opcode, .ackreq = i & 1,
		.solicited = i & 2, .dest_qp = 0xFEDCBA, .psn = 0x987654,
		.va = 0x1122334455667788, .rkey = 0x99AABBCC, .length = 77,
		.swap = 0xA1A2A3A4A5A6A7A8, .compare = 0xB1B2B3B4B5B6B7B8,
		.original = 0xC1C2C3C4C5C6C7C8, .syndrome = 0x2C,
		.msn = 0xD1D2D3, .imm = 0xE1E2E3E4, .qkey = 0xF1F2F3F4,
		.src_qp = 0x616263, .payload_len = payload,
	};
}

static void packet_is_back(const struct rc_packet *want, bool icrc)
{
	struct wire_frame f = frame_make(want, icrc);
	struct rc_packet got;
	uint32_t i;

	STEP("%s with %u bytes", wire_opcode_name(want->opcode),
	     want->payload_len);
	EXPECT_EQ(rc_get(&f, icrc, &got), WIRE_OK);
	EXPECT_EQ(f.len % 4, 0);
	EXPECT_EQ(got.opcode, want->opcode);
	EXPECT_EQ(got.solicited, want->solicited);
	EXPECT_EQ(got.ackreq, want->ackreq);
	EXPECT_EQ(got.dest_qp, want->dest_qp);
	EXPECT_EQ(got.psn, want->psn);
	EXPECT_EQ(got.payload_len, want->payload_len);
	for (i = 0; i < got.payload_len; i++)
		if (got.payload[i] != (uint8_t)(i * 7 + 1))
			EXPECT_EQ(got.payload[i], (uint8_t)(i * 7 + 1));
	/* What the opcode has no header for stays 0. */
	EXPECT(!got.va || got.va == want->va);
	EXPECT(!got.rkey || got.rkey == want->rkey);
	EXPECT(!got.length || got.length == want->length);
	EXPECT(!got.swap || got.swap == want->swap);
	EXPECT(!got.compare || got.compare == want->compare);
	EXPECT(!got.original || got.original == want->original);
	EXPECT(!got.syndrome || got.syndrome == want->syndrome);
	EXPECT(!got.msn || got.msn == want->msn);
	EXPECT(!got.imm || got.imm == want->imm);
	EXPECT(!got.qkey || got.qkey == want->qkey);
	EXPECT(!got.src_qp || got.src_qp == want->src_qp);
}

TEST("every opcode comes back as it was put, with every amount of padding")
{
	static const uint32_t lens[] = { 0, 1, 2, 3, 4, 255, 256, 4095, 4096 };
	struct rc_packet p;
	size_t i, n;

	EXPECT_EQ(OPCODES, 23);
	for (i = 0; i < OPCODES; i++)
		for (n = 0; n < sizeof(lens) / sizeof(lens[0]); n++) {
			if (lens[n] && opcodes[i].payload == RC_PAYLOAD_NONE)
				continue;
			p = packet_of(i, lens[n]);
			packet_is_back(&p, n & 1);
		}
}

TEST("each header's fields are read where the opcode has that header")
{
	struct rc_packet p, got;
	struct wire_frame f;
	size_t i;

	for (i = 0; i < OPCODES; i++) {
		p = packet_of(i, 0);
		f = frame_make(&p, false);
		EXPECT_EQ(rc_get(&f, false, &got), WIRE_OK);
		STEP("%s: %u bytes of headers", wire_opcode_name(p.opcode),
		     opcodes[i].headers);
		EXPECT_EQ((got.length ? 16 : got.va ? 28 : 0) +
			  (got.syndrome ? 4 : 0) + (got.original ? 8 : 0) +
			  (got.imm ? 4 : 0) + (got.qkey ? 8 : 0),
			  opcodes[i].headers);
	}
}

TEST("every bit that is damaged is seen, but those that may change on the way")
{
	struct rc_packet p = packet_of(10, 7), got;
	struct wire_frame f = frame_make(&p, true), g;
	unsigned int bit, unseen = 0;

	for (bit = 0; bit < f.len * 8; bit++) {
		g = f;
		g.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		unseen += rc_get(&g, true, &got) == WIRE_OK;
	}
	EXPECT_EQ(unseen, 8);	/* RESERVED8 of BTH, InfiniBand 7.8.1 */
}

TEST("a packet that is cut short, too long or of an unknown kind is refused")
{
	struct rc_packet p = packet_of(0x0A, 0), got;
	struct wire_frame f = frame_make(&p, false);
	uint32_t whole = f.len;

	for (f.len = 0; f.len < whole; f.len++)
		EXPECT_EQ(rc_get(&f, false, &got), WIRE_SHORT);
	f.len = whole + 1;
	EXPECT_EQ(rc_get(&f, false, &got), WIRE_LENGTH);
	f.len = WIRE_FRAME_MAX + 1;
	EXPECT_EQ(rc_get(&f, false, &got), WIRE_LENGTH);
	f.len = whole;
	STEP("padding where nothing is to be padded");
	f.bytes[1] |= 0x10;
	EXPECT_EQ(rc_get(&f, false, &got), WIRE_LENGTH);
	STEP("payload behind an acknowledgement");
	p = packet_of(0x11, 0);
	f = frame_make(&p, false);
	f.len += 4;
	EXPECT_EQ(rc_get(&f, false, &got), WIRE_LENGTH);
	STEP("a version, and a partition, that are not ours (InfiniBand 9.6)");
	f = frame_make(&p, false);
	f.bytes[1] |= 1;
	EXPECT_EQ(rc_get(&f, false, &got), WIRE_HEADER);
	f = frame_make(&p, false);
	f.bytes[3] ^= 1;
	EXPECT_EQ(rc_get(&f, false, &got), WIRE_HEADER);
	STEP("opcodes without a row");
	f = frame_make(&p, false);
	f.bytes[0] = 0x15;
	EXPECT_EQ(rc_get(&f, false, &got), WIRE_OPCODE);
	f.bytes[0] = WOP_WRITE;
	EXPECT_EQ(rc_get(&f, false, &got), WIRE_OPCODE);
}

TEST("only opcodes of the reliable connection are its own")
{
	unsigned int op, n = 0;

	for (op = 0; op < 256; op++)
		n += rc_opcode_known((uint8_t)op);
	EXPECT_EQ(n, 21);
	EXPECT(rc_opcode_known(WOP_RC_SEND_FIRST));
	EXPECT(rc_opcode_known(WOP_RC_FETCH_ADD));
	EXPECT(!rc_opcode_known(WOP_UD_SEND_ONLY));
	EXPECT(!rc_opcode_known(WOP_WRITE));
}

TEST("bytes at random are decoded or refused, and never read beyond their end")
{
	struct wire_frame *f = malloc(sizeof(*f));
	struct rc_packet p;
	unsigned int i, good = 0;
	uint32_t k;

	srand((unsigned int)test_seed());
	for (i = 0; i < 20000; i++) {
		f->len = (uint32_t)rand() % 80;
		for (k = 0; k < f->len; k++)
			f->bytes[k] = (uint8_t)rand();
		if (f->len > 4 && i % 4) {
			f->bytes[0] %= 0x18;
			f->bytes[1] &= 0xF0;
			f->bytes[2] = f->bytes[3] = 0xFF;
		}
		if (rc_get(f, false, &p) != WIRE_OK)
			continue;
		good++;
		EXPECT(p.payload >= f->bytes);
		EXPECT(p.payload + p.payload_len <= f->bytes + f->len);
	}
	free(f);
	EXPECT_GE(good, 100);
}

TEST("InfiniBand 9.7.1: PSNs are compared modulo 2^24")
{
	EXPECT_EQ(rc_psn_diff(0, 0xFFFFFF), 1);
	EXPECT_EQ(rc_psn_diff(0xFFFFFF, 0), -1);
	EXPECT_EQ(rc_psn_diff(5, 5), 0);
	EXPECT_EQ(rc_psn_diff(0x7FFFFF, 0), 0x7FFFFF);
	EXPECT_EQ(rc_psn_diff(0x800000, 0), -0x800000);
	EXPECT_EQ(rc_psn_add(0xFFFFFF, 2), 1);
}
