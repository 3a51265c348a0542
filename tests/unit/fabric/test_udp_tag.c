// SPDX-License-Identifier: BSD-2-Clause
/* What a packet of the link carries beside the frame, and who may say it. */
#include <string.h>

#include "fabric/fabric_internal.h"
#include "harness.h"
#include "nic/transport/rc_wire.h"

static struct udp_tag here, there;

/* A frame of node 3 there to node 12 here, or the other way. */
static struct wire_frame tag_block(uint8_t opcode, uint8_t ctx, uint16_t gen,
				   uint32_t ref)
{
	struct wire_block b = {
		.opcode = opcode, .ctx = ctx, .gen = gen, .attempt = 4,
		.dest_qp = 0x123456, .psn = 7, .va = 0x10000, .len = 16384,
		.offset = 7 * 1024, .ref = ref, .xfer = 21, .block = 5,
		.payload_len = opcode == WOP_READ_REQ ? 0 : 1024,
	};
	struct wire_frame f = { .from = 3, .to = 12 };
	uint32_t i;

	for (i = 0; i < 1024; i++)
		wire_payload(&f)[i] = (uint8_t)(i * 5);
	wire_put_block(&f, &b, true);
	return f;
}

static struct wire_frame tag_answer(uint8_t ctx, uint16_t gen)
{
	struct wire_answer a = { .opcode = WOP_ACK, .ctx = ctx, .gen = gen,
				 .attempt = 4, .xfer = 21, .block = 5 };
	struct wire_frame f = { .from = 12, .to = 3 };

	wire_put_answer(&f, &a, true);
	return f;
}

static void tag_handshake(void)
{
	udp_tag_init(&here);
	udp_tag_init(&there);
	/* Two draws that are the same would be another story. */
	here.own = 0x1234;
	there.own = 0x4321;
	here.peer = there.own;
	there.peer = here.own;
}

/* A block from there comes here; returns the generation that a card sees. */
static uint16_t tag_pass(uint8_t opcode, uint8_t ctx, uint16_t gen)
{
	struct wire_frame f = tag_block(opcode, ctx, gen, 0);
	struct wire_block b;

	EXPECT(udp_tag_on(&there, &f));
	EXPECT(udp_tag_judge(&here, &f) <= UDP_TAKE_NEW);
	EXPECT_EQ(udp_tag_off(&here, &f), WIRE_OK);
	EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_OK);
	return b.gen;
}

static void start_anew(uint16_t instance)
{
	STEP("the process there is started anew, as 0x%x", instance);
	udp_tag_init(&there);
	there.own = instance;
	there.peer = here.own;
}

TEST("a frame comes out of the link as it went in, and says who sent it")
{
	struct wire_frame f = tag_block(WOP_WRITE, 2, 77, 0), was = f;

	tag_handshake();
	EXPECT(udp_tag_on(&there, &f));
	wire_icrc_write(&f);
	STEP("the packet has the fields that the file says");
	EXPECT_EQ(f.bytes[2] << 8 | f.bytes[3], 0x8000 | 0x4321);
	EXPECT_EQ(f.bytes[4], 3 << 4 | 12);
	EXPECT_EQ(f.bytes[9] << 16 | f.bytes[10] << 8 | f.bytes[11],
		  0x1234 << 9 | 7);
	f.from = f.to = 0;
	f.xfer = f.block = f.attempt = f.offset = 99;
	udp_tag_nodes(&f);
	EXPECT(wire_icrc_good(&f));
	EXPECT_EQ(udp_tag_judge(&here, &f), UDP_TAKE);
	EXPECT_EQ(udp_tag_off(&here, &f), WIRE_OK);
	EXPECT_EQ(f.from, 3);
	EXPECT_EQ(f.to, 12);
	EXPECT_EQ(f.xfer, 21);
	EXPECT_EQ(f.block, 5);
	EXPECT_EQ(f.attempt, 4);
	EXPECT_EQ(f.offset, 7 * 1024);
	wire_icrc_write(&f);
	EXPECT_MEM(f.bytes, was.bytes, was.len);
}

TEST("the ICRC vouches for the node numbers, which it does not cover")
{
	struct wire_frame f = tag_block(WOP_WRITE, 2, 77, 0);
	unsigned int bit;

	tag_handshake();
	EXPECT(udp_tag_on(&there, &f));
	wire_icrc_write(&f);
	for (bit = 0; bit < 8; bit++) {
		f.bytes[4] ^= (uint8_t)(1u << bit);
		udp_tag_nodes(&f);
		EXPECT(!wire_icrc_good(&f));
		f.bytes[4] ^= (uint8_t)(1u << bit);
	}
	udp_tag_nodes(&f);
	EXPECT(wire_icrc_good(&f));
}

TEST("generations of a new process are newer than all of the one before")
{
	uint16_t last, now;

	tag_handshake();
	last = tag_pass(WOP_WRITE, 2, 60000);
	EXPECT_EQ(last, 60000);
	start_anew(0x777);
	now = tag_pass(WOP_WRITE, 2, 3);
	EXPECT_GE((int16_t)(now - last), 1);
	STEP("one that it sent earlier and that comes later is no older");
	EXPECT_EQ((uint16_t)(now - tag_pass(WOP_WRITE, 2, 1)), 2);
	EXPECT_GE((int16_t)(tag_pass(WOP_WRITE, 2, 1) - last), 1);
	STEP("a context that was never heard of has nothing to be newer than");
	EXPECT_EQ(tag_pass(WOP_WRITE, 5, 1), 1);
}

TEST("an answer goes to the process that asked, or nowhere")
{
	struct wire_frame old = tag_answer(2, 60000), f;
	struct wire_answer a;
	uint16_t gen;

	tag_handshake();
	tag_pass(WOP_WRITE, 2, 60000);
	start_anew(0x777);
	tag_pass(WOP_WRITE, 5, 1);	/* now it is known that it is a new one */
	STEP("of context 2 nothing new has come: what is said is for the dead");
	EXPECT(!udp_tag_on(&here, &old));
	gen = tag_pass(WOP_WRITE, 2, 3);
	f = tag_answer(2, gen);
	EXPECT(udp_tag_on(&here, &f));
	udp_tag_nodes(&f);
	EXPECT_EQ(udp_tag_off(&there, &f), WIRE_OK);
	EXPECT_EQ(wire_get_answer(&f, false, &a), WIRE_OK);
	EXPECT_EQ(a.gen, 3);
	STEP("an answer to the dead that is late is old for the living");
	old = tag_answer(2, 60000);
	EXPECT(udp_tag_on(&here, &old));
	EXPECT_EQ(udp_tag_off(&there, &old), WIRE_OK);
	EXPECT_EQ(wire_get_answer(&old, false, &a), WIRE_OK);
	EXPECT((int16_t)(a.gen - 3) < 0);
}

TEST("the data of a READ names the request as its process does")
{
	struct wire_frame f;
	struct wire_block b;
	uint16_t gen;

	tag_handshake();
	tag_pass(WOP_READ_REQ, 2, 500);
	start_anew(0x777);
	tag_pass(WOP_WRITE, 5, 1);
	f = tag_block(WOP_READ_RESP, 1, 9, wire_word(2, 500, 4));
	f.from = 12;
	f.to = 3;
	EXPECT(!udp_tag_on(&here, &f));
	gen = tag_pass(WOP_READ_REQ, 2, 8);
	f = tag_block(WOP_READ_RESP, 1, 9, wire_word(2, gen, 4));
	f.from = 12;
	f.to = 3;
	EXPECT(udp_tag_on(&here, &f));
	EXPECT_EQ(udp_tag_off(&there, &f), WIRE_OK);
	EXPECT_EQ(wire_get_block(&f, false, &b), WIRE_OK);
	EXPECT_EQ(b.ref, wire_word(2, 8, 4));
	EXPECT_EQ(b.gen, 9);
}

TEST("only who names this process is heard, and who was replaced never again")
{
	struct wire_frame f;

	tag_handshake();
	here.peer = 0;
	STEP("who knows nobody yet is told who is here");
	there.peer = 0;
	f = tag_block(WOP_WRITE, 2, 1, 0);
	EXPECT(udp_tag_on(&there, &f));
	EXPECT_EQ(udp_tag_judge(&here, &f), UDP_HELLO);
	EXPECT_EQ(here.peer, 0);
	udp_tag_hello(&here, &f, udp_tag_sender(&f));
	EXPECT(wire_icrc_good(&f));
	EXPECT_EQ(udp_tag_judge(&there, &f), UDP_TAKE_NEW);
	EXPECT_EQ(there.peer, here.own);
	EXPECT_EQ(tag_pass(WOP_WRITE, 2, 1), 1);
	EXPECT_EQ(here.peer, there.own);
	STEP("a packet of the one before, late");
	f = tag_block(WOP_WRITE, 2, 2, 0);
	EXPECT(udp_tag_on(&there, &f));
	start_anew(0x777);
	tag_pass(WOP_WRITE, 2, 1);
	EXPECT_EQ(udp_tag_judge(&here, &f), UDP_OLD);
	EXPECT_EQ(here.peer, 0x777);
	STEP("instance 0, and half a membership");
	there.own = 0;
	f = tag_block(WOP_WRITE, 2, 3, 0);
	EXPECT(udp_tag_on(&there, &f));
	EXPECT_EQ(udp_tag_judge(&here, &f), UDP_OLD);
	f.bytes[3] = 5;
	f.bytes[2] = 0;
	EXPECT_EQ(udp_tag_judge(&here, &f), UDP_OLD);
}

TEST("any bytes at all are judged without harm, and few of them are frames")
{
	static const uint8_t opcode[8] = {
		WOP_WRITE, WOP_READ_REQ, WOP_READ_RESP, WOP_ACK, WOP_REFUSED,
		WOP_READY, WOP_NAK, WOP_WAIT
	};
	static struct wire_frame f;
	unsigned int n, i, taken = 0;
	struct rng r;

	tag_handshake();
	rng_init(&r, 4791, "bytes");
	for (n = 0; n < 200000; n++) {
		f.len = 16 + (uint32_t)rng_below(&r, n % 64 ? 90 :
						 WIRE_FRAME_MAX - 15);
		for (i = 0; i < f.len && i < 96; i++)
			f.bytes[i] = (uint8_t)rng_next(&r);
		if (n & 1)	/* let it come further */
			memcpy(f.bytes, (uint8_t[]){ opcode[n / 2 % 8], 0x40 }, 2);
		if (n & 2) {	/* and further; wire.def: what is 0 */
			f.bytes[8] = 0;
			memset(f.bytes + WIRE_BTH_BYTES + 44, 0, 4);
			memset(f.bytes + WIRE_BTH_BYTES + 5, 0, 3);
		}
		udp_tag_nodes(&f);
		udp_tag_judge(&here, &f);
		taken += udp_tag_off(&here, &f) == WIRE_OK;
	}
	EXPECT_GE(taken, 1);
	EXPECT_LE(taken, 100000);
}

static struct wire_frame tag_packet(uint8_t opcode, uint32_t psn)
{
	struct rc_packet p = { .psn = psn, .dest_qp = 5, .opcode = opcode,
			       .ackreq = true };
	struct wire_frame f = { .from = 3, .to = 12 };

	rc_put(&f, &p, true);
	return f;
}

TEST("a packet of InfiniBand's own comes out as it went in, with all of its PSN")
{
	static const uint8_t opcode[] = { WOP_RC_SEND_FIRST, WOP_RC_WRITE_ONLY,
					  WOP_RC_ACKNOWLEDGE, WOP_UD_SEND_ONLY };
	struct wire_frame f, was;
	size_t i;

	tag_handshake();
	for (i = 0; i < sizeof(opcode); i++) {
		STEP("opcode 0x%x", opcode[i]);
		f = was = tag_packet(opcode[i], 0xFFFFFF - (uint32_t)i);
		EXPECT(udp_tag_on(&there, &f));
		EXPECT(memcmp(f.bytes + 9, was.bytes + 9, 3) != 0);
		udp_tag_nodes(&f);
		EXPECT_EQ(f.from, 3);
		EXPECT_EQ(f.to, 12);
		EXPECT_EQ(udp_tag_judge(&here, &f), UDP_TAKE);
		EXPECT_EQ(udp_tag_off(&here, &f), WIRE_OK);
		EXPECT_EQ(memcmp(f.bytes, was.bytes, f.len - WIRE_ICRC_BYTES), 0);
	}
	STEP("nobody is known yet");
	there.peer = 0;
	f = tag_packet(WOP_RC_WRITE_ONLY, 1);
	EXPECT(!udp_tag_on(&there, &f));
}

TEST("what was meant for the process before is not the next packet of the new one")
{
	uint32_t instance, far = 0, heard = 0, away;
	struct wire_frame f;

	for (instance = 1; instance <= 0x7FFF; instance++) {
		tag_handshake();
		f = tag_packet(WOP_RC_WRITE_ONLY, 100);
		EXPECT(udp_tag_on(&there, &f));
		if (instance == here.own)
			continue;
		here.own = (uint16_t)instance;
		if (udp_tag_judge(&here, &f) == UDP_HELLO)
			continue;
		heard++;
		udp_tag_off(&here, &f);
		away = ((uint32_t)f.bytes[9] << 16 | f.bytes[10] << 8 | f.bytes[11]) - 100u;
		far += ((away + 128) & 0xFFFFFF) > 256;
	}
	STEP("%u of 32766 are not told by their 7 bits; %u of these by the PSN", heard, far);
	EXPECT_LE(heard, 256);
	EXPECT_EQ(far, heard);
}
