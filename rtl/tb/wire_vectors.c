// SPDX-License-Identifier: BSD-2-Clause
/*
 * wire_vectors - packets made and judged by emu/nic/wire.c, for the benches.
 *
 * Prints bytes for $readmemh: records of a header, as put_record() writes it,
 * and the packet; bytes of 255 are behind the last. What the packet says is that
 * of wire_get_block() or wire_get_answer(); numbers are big-endian.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic/engine.h"
#include "nic/wire.h"

#define NODE	5
#define LONG	4700	/* bytes of the longest packet, more than anyone takes */
#define BYTES	(1 << 17) /* in all, VECTORS in wire_vectors.vh */

enum { BAD, BLOCK, ANSWER, END = 255 };

static uint64_t state = 1;
static unsigned int total;

static uint64_t random_below(uint64_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 16) % below;
}

static uint64_t random_u64(void)
{
	return random_below(1ull << 32) << 32 | random_below(1ull << 32);
}

static void vector_put(unsigned int bytes, uint64_t value)
{
	while (bytes--)
		printf("%02x%c", (unsigned int)(value >> 8 * bytes & 0xFF),
		       ++total % 24 ? ' ' : '\n');
}

static const uint8_t blocks[] = { WOP_WRITE, WOP_READ_REQ, WOP_READ_RESP };
static const uint8_t answers[] = { WOP_ACK, WOP_REFUSED, WOP_READY, WOP_NAK,
				   WOP_WAIT };

static void random_block(struct wire_frame *f, bool icrc, uint32_t payload_len)
{
	struct wire_block b = {
		.opcode = payload_len ? blocks[2 * random_below(2)] :
			WOP_READ_REQ,
		.dest_qp = (uint32_t)random_below(1 << 24),
		.psn = (uint32_t)random_below(1 << 24),
		.ctx = (uint8_t)random_below(256),
		.attempt = (uint8_t)random_below(256),
		.gen = (uint16_t)random_below(1 << 16), .va = random_u64(),
		.left = random_u64(),
		.rkey = (uint32_t)random_u64(), .len = (uint32_t)random_u64(),
		/* Where the bench stores it: in a block of 4 KB. */
		.offset = 64 *
			(uint32_t)random_below((4096 - payload_len) / 64 + 1),
		.ref = (uint32_t)random_u64(), .xfer = (uint32_t)random_u64(),
		.block = (uint32_t)random_u64(), .src = (uint32_t)random_u64(),
		.payload_len = payload_len,
	};

	wire_put_block(f, &b, icrc);
}

static void random_answer(struct wire_frame *f, bool icrc)
{
	struct wire_answer a = {
		.opcode = answers[random_below(sizeof(answers))],
		.dest_qp = (uint32_t)random_below(1 << 24),
		.ctx = (uint8_t)random_below(256),
		.attempt = (uint8_t)random_below(256),
		.gen = (uint16_t)random_below(1 << 16),
		.code = (uint8_t)random_below(256),
		.map = (uint32_t)random_u64(), .xfer = (uint32_t)random_u64(),
		.block = (uint32_t)random_u64(),
	};

	wire_put_answer(f, &a, icrc);
}

/* The ICRC of what a packet has become, so that later checks are reached. */
static void vector_sign(struct wire_frame *f)
{
	uint32_t i, crc;

	if (f->len < WIRE_BTH_BYTES + WIRE_ICRC_BYTES || f->len > WIRE_FRAME_MAX)
		return;
	crc = wire_icrc(f);
	for (i = 0; i < WIRE_ICRC_BYTES; i++)
		f->bytes[f->len - WIRE_ICRC_BYTES + i] = (uint8_t)(crc >> 8 * i);
}

/* As engine_receive() does. */
static enum wire_error vector_judge(const struct wire_frame *f, bool icrc,
				    int *kind, struct wire_block *b,
				    struct wire_answer *a)
{
	if (f->from >= ENGINE_RTL_NODES || f->to != NODE)
		return WIRE_HEADER;
	if (wire_is_block(wire_opcode(f))) {
		*kind = BLOCK;
		return wire_get_block(f, icrc, b);
	}
	*kind = ANSWER;
	return wire_get_answer(f, icrc, a);
}

static void put_record(const struct wire_frame *f, bool icrc, bool damaged)
{
	struct wire_answer a = { 0 };
	struct wire_block b = { 0 };
	enum wire_error why;
	bool answer;
	int kind;
	uint32_t i;

	why = vector_judge(f, icrc, &kind, &b, &a);
	if (!damaged && why)
		abort();
	if (why) {
		kind = BAD;
		a = (struct wire_answer){ 0 };
		b = (struct wire_block){ 0 };
	}
	answer = kind == ANSWER;
	vector_put(1, (uint64_t)kind);
	vector_put(1, why);
	vector_put(1, icrc);
	vector_put(1, damaged);
	vector_put(1, f->from);
	vector_put(1, f->to);
	vector_put(1, answer ? a.opcode : b.opcode);
	vector_put(3, answer ? a.dest_qp : b.dest_qp);
	vector_put(3, b.psn);
	vector_put(1, answer ? a.ctx : b.ctx);
	vector_put(2, answer ? a.gen : b.gen);
	vector_put(1, answer ? a.attempt : b.attempt);
	vector_put(8, b.va);
	vector_put(4, b.rkey);
	vector_put(4, b.len);
	vector_put(4, b.offset);
	vector_put(8, b.left);
	vector_put(4, b.ref);
	vector_put(4, answer ? a.xfer : b.xfer);
	vector_put(4, answer ? a.block : b.block);
	vector_put(4, b.src);
	vector_put(2, b.payload_len);
	vector_put(1, a.code);
	vector_put(4, a.map);
	vector_put(2, f->len);
	for (i = 0; i < f->len; i++)
		vector_put(1, i < WIRE_FRAME_MAX ? f->bytes[i] : i);
}

static void vector_damage(struct wire_frame *f)
{
	uint32_t head = f->len < 64 ? f->len : 64;

	switch (random_below(9)) {
	case 0:		/* anywhere */
		f->bytes[random_below(f->len)] ^= (uint8_t)(1 <<
							    random_below(8));
		return;
	case 1:		/* the route */
		if (random_below(2))
			f->from = (uint8_t)(16 + random_below(240));
		else
			f->to = (uint8_t)(NODE + 1 + random_below(200));
		break;
	case 2:		/* cut */
		f->len = (uint32_t)random_below(f->len);
		break;
	case 3:		/* longer than it says */
		f->len += 1 + (uint32_t)random_below(40);
		break;
	case 4:
		f->len = 4090 + (uint32_t)random_below(LONG - 4090);
		break;
	case 5:
		f->bytes[0] = (uint8_t)random_below(256);
		break;
	case 6:		/* BTH; byte 4 may change on the way */
		f->bytes[1 + random_below(8)] ^= (uint8_t)(1 <<
							   random_below(8));
		break;
	default:	/* either header */
		f->bytes[random_below(head)] ^= (uint8_t)(1 << random_below(8));
		break;
	}
	if (random_below(4))
		vector_sign(f);
}

int main(void)
{
	static struct wire_frame f;
	uint32_t i, n, payload_len;
	bool icrc;

	for (n = 0; n < 160; n++) {
		icrc = random_below(4) != 0;
		if (n % 40 == 20)	/* whole cells, of which both are measured */
			icrc = n / 40 % 2;
		for (i = 0; i < WIRE_FRAME_MAX; i++)
			f.bytes[i] = (uint8_t)random_below(256);
		f.from = (uint8_t)random_below(ENGINE_RTL_NODES);
		f.to = NODE;
		payload_len = n % 20 ? 1 + (uint32_t)random_below(300) :
			      n % 40 ? 4096 : 1 + (uint32_t)random_below(4096);
		if (n % 8 == 1)
			payload_len = 16 * (1 + (uint32_t)random_below(20));
		if (n % 8 == 3)
			random_answer(&f, icrc);
		else
			random_block(&f, icrc, n % 8 == 5 ? 0 : payload_len);
		if (n % 2 && n > 20)
			vector_damage(&f);
		put_record(&f, icrc, n % 2 && n > 20);
	}
	/* Each bit of the ICRC counts. */
	for (n = 0; n < 32; n++) {
		f.to = NODE;
		f.from = 0;
		random_block(&f, true, 1 + n);
		f.bytes[f.len - WIRE_ICRC_BYTES + n / 8] ^= (uint8_t)(1 << n % 8);
		put_record(&f, true, true);
	}
	if (total >= BYTES)
		abort();
	while (total < BYTES)
		vector_put(1, END);
	return 0;
}
