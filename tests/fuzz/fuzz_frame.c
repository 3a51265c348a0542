// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames of the UDP link: for each a head of 4 bytes (mode, from and to, length) and what
 * is in it. The ICRC is what a CRC of one bit at a time gives; what is decoded, put into a
 * frame again, gives the same bytes; the tag of the link takes only frames of the peer that
 * it knows, and the generations that it hands in only grow; a packet of the specification's
 * own has its PSN again at the process that it was sent to.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "fuzz.h"

const char fuzz_name[] = "frame";

#define FRAMES	32
#define INSTANCE 0x1234

static uint32_t crc_bits(uint32_t crc, const uint8_t *p, size_t n)
{
	unsigned int bit;

	for (; n; n--, p++)
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ ((crc ^ *p >> bit) & 1 ? 0xEDB88320u : 0);
	return crc;
}

/* InfiniBand annex A17, byte by byte. */
static uint32_t fuzz_frame_icrc(const struct wire_frame *f)
{
	uint8_t h[48];
	uint32_t n = 28 + f->len;

	memset(h, 0xff, sizeof(h));
	h[8] = 0x45;
	h[10] = (uint8_t)(n >> 8), h[11] = (uint8_t)n;
	h[12] = h[13] = h[15] = 0;
	h[14] = 0x40;
	h[17] = 17;
	memcpy(h + 20, "\x0a\0\0\1\x0a\0\0\1\xc0\0\x12\xb7", 12);
	h[23] = (uint8_t)(1 + f->from);
	h[27] = (uint8_t)(1 + f->to);
	h[29] = f->from;
	n = 8 + f->len;
	h[32] = (uint8_t)(n >> 8), h[33] = (uint8_t)n;
	memcpy(h + 36, f->bytes, 12);
	h[40] = 0xff;
	return ~crc_bits(crc_bits(~0u, h, sizeof(h)), f->bytes + 12,
			 f->len - 16);
}

static void same_bytes(const struct wire_frame *a, const struct wire_frame *b)
{
	static struct wire_frame c;

	c = *a;
	c.bytes[4] = 0;		/* RESERVED8 is nobody's */
	if (!wire_is_block(wire_opcode(a)))
		memset(c.bytes + 9, 0, 3);	/* nor is an answer's PSN */
	FUZZ_EXPECT(a->len == b->len, "%u bytes, then %u", a->len, b->len);
	FUZZ_EXPECT(!memcmp(c.bytes, b->bytes, c.len - 4),
		    "what was decoded and encoded is the same");
}

static void fuzz_frame_decode(const struct wire_frame *f, bool check)
{
	struct wire_frame again;
	struct wire_answer a;
	struct wire_block b;

	memset(&again, 0, sizeof(again));
	again.from = f->from;
	again.to = f->to;
	if (wire_get_block(f, check, &b) == WIRE_OK) {
		FUZZ_EXPECT(b.payload_len <= WIRE_PAYLOAD_MAX &&
			    b.payload >= f->bytes &&
			    b.payload + b.payload_len <= f->bytes + f->len,
			    "the payload is in the frame");
		memcpy(wire_payload(&again), b.payload, b.payload_len);
		wire_put_block(&again, &b, check);
		same_bytes(f, &again);
	} else if (wire_get_answer(f, check, &a) == WIRE_OK) {
		wire_put_answer(&again, &a, check);
		same_bytes(f, &again);
	}
}

/* ---- the link ---- */

struct link {
	struct udp_tag tag;
	uint16_t newest[FABRIC_UDP_NODES][UDP_CTXS];
	bool heard[FABRIC_UDP_NODES][UDP_CTXS];
};

static void hand_in(struct link *l, struct wire_frame *f)
{
	struct wire_block b;
	uint16_t *newest;
	bool *heard;
	int16_t ahead;

	udp_tag_nodes(f);
	FUZZ_EXPECT(f->from < FABRIC_UDP_NODES && f->to < FABRIC_UDP_NODES, "nodes");
	if (udp_tag_off(&l->tag, f) != WIRE_OK)
		return;
	fuzz_frame_decode(f, false);
	if (wire_get_block(f, false, &b) == WIRE_OK) {
		newest = &l->newest[f->from][b.ctx];
		heard = &l->heard[f->from][b.ctx];
		ahead = (int16_t)(l->tag.gen[f->from][b.ctx].newest - *newest);
		FUZZ_EXPECT(!*heard || ahead >= 0, "generations only grow");
		*newest = l->tag.gen[f->from][b.ctx].newest;
		*heard = true;
	}
}

static bool is_standard(const struct wire_frame *f)
{
	return wire_header(wire_opcode(f)) == WIRE_STANDARD;
}

static uint32_t psn_of(const struct wire_frame *f)
{
	return (uint32_t)f->bytes[9] << 16 | (uint32_t)f->bytes[10] << 8 | f->bytes[11];
}

static void from_peer(struct link *l, struct wire_frame *f)
{
	uint16_t was = l->tag.peer, from = udp_tag_sender(f);
	enum udp_verdict v = udp_tag_judge(&l->tag, f);
	bool mine = is_standard(f) ? (f->bytes[8] & 0x7f) == (INSTANCE & 0x7f) :
				     psn_of(f) >> 9 == INSTANCE;

	FUZZ_EXPECT(l->tag.own == INSTANCE, "nobody changes who we are");
	if (v == UDP_TAKE || v == UDP_TAKE_NEW) {
		FUZZ_EXPECT(from && mine && (f->bytes[2] & 0x80),
			    "only what is meant for us is taken");
		FUZZ_EXPECT((v == UDP_TAKE) == (was && was == from),
			    "a new peer is noticed");
		FUZZ_EXPECT(l->tag.peer == from, "who was heard is the peer");
		hand_in(l, f);
	} else {
		FUZZ_EXPECT(l->tag.peer == was, "who is refused is not the peer");
	}
}

/* A packet of the specification's own, and the process that it goes to. */
static void standard_to_peer(struct link *l, const struct wire_frame *f)
{
	struct wire_frame sent = *f;
	struct udp_tag theirs = { .own = l->tag.peer };

	if (f->len < WIRE_BTH_BYTES + WIRE_ICRC_BYTES)
		return;
	if (!udp_tag_on(&l->tag, &sent)) {
		FUZZ_EXPECT(!l->tag.peer, "a peer that was heard gets it");
		return;
	}
	FUZZ_EXPECT(udp_tag_judge(&theirs, &sent) == UDP_TAKE_NEW, "the peer takes it");
	FUZZ_EXPECT(theirs.peer == INSTANCE, "and knows who sent it");
	udp_tag_nodes(&sent);
	FUZZ_EXPECT(sent.from == f->from && sent.to == f->to, "the nodes go with it");
	FUZZ_EXPECT(udp_tag_off(&theirs, &sent) == WIRE_OK && psn_of(&sent) == psn_of(f),
		    "its PSN is the one that it had");
	FUZZ_EXPECT(!memcmp(sent.bytes + WIRE_BTH_BYTES, f->bytes + WIRE_BTH_BYTES,
			    f->len - WIRE_BTH_BYTES), "nothing behind its BTH changes");
}

/* A frame of ours leaves, and comes back to the bytes that it had. */
static void to_peer(struct link *l, struct wire_frame *f)
{
	struct wire_frame sent = *f;
	struct wire_block b;
	struct wire_answer a;

	f->from %= FABRIC_UDP_NODES;
	f->to %= FABRIC_UDP_NODES;
	if (is_standard(f)) {
		standard_to_peer(l, f);
		return;
	}
	if (wire_get_block(f, false, &b) != WIRE_OK &&
	    wire_get_answer(f, false, &a) != WIRE_OK)
		return;
	/* A cell's number has 9 bits there; more no engine sends. */
	f->bytes[9] = 0;
	f->bytes[10] &= 1;
	sent = *f;
	if (!udp_tag_on(&l->tag, &sent))
		return;
	wire_icrc_write(&sent);
	FUZZ_EXPECT(wire_icrc_good(&sent), "the link's own ICRC is good");
	udp_tag_nodes(&sent);
	FUZZ_EXPECT(sent.from == f->from && sent.to == f->to,
		    "the nodes go with it");
	FUZZ_EXPECT(udp_tag_sender(&sent) == INSTANCE, "it says who sent it");
}

/* A good frame of the fields that come, so that what is behind the first checks is met. */
static void make_good(struct fuzz *in, struct wire_frame *f)
{
	struct wire_block b = {
		.opcode = (uint8_t)(WOP_WRITE + fuzz_below(in, 3)),
		.dest_qp = (uint32_t)fuzz_take(in, 3),
		.psn = (uint32_t)fuzz_take(in, 1), .ctx = (uint8_t)fuzz_take(in, 1),
		.attempt = (uint8_t)fuzz_take(in, 1),
		.gen = (uint16_t)fuzz_take(in, 2), .va = fuzz_take(in, 8),
		.left = fuzz_take(in, 4), .rkey = (uint32_t)fuzz_take(in, 4),
		.len = (uint32_t)fuzz_take(in, 3), .ref = (uint32_t)fuzz_take(in, 4),
		.offset = (uint32_t)fuzz_take(in, 3),
	}, got;
	struct wire_answer a = { .opcode = WOP_ACK, .dest_qp = b.dest_qp,
				 .ctx = b.ctx, .gen = b.gen,
				 .attempt = b.attempt, .map = b.ref }, back;

	b.payload_len = b.opcode == WOP_READ_REQ ? 0 : 1 + b.len % 4096;
	if (b.psn & 1) {
		wire_put_answer(f, &a, true);
		FUZZ_EXPECT(wire_get_answer(f, true, &back) == WIRE_OK &&
			    back.ctx == a.ctx && back.gen == a.gen &&
			    back.attempt == a.attempt && back.map == a.map,
			    "an answer that was made is read");
		return;
	}
	wire_put_block(f, &b, true);
	FUZZ_EXPECT(wire_get_block(f, true, &got) == WIRE_OK &&
		    got.va == b.va && got.len == b.len && got.ref == b.ref &&
		    got.attempt == b.attempt && got.offset == b.offset &&
		    got.rkey == b.rkey && got.payload_len == b.payload_len,
		    "a block that was made is read");
}

/* As the peer would tag it, mostly. */
static void fuzz_frame_tag(struct fuzz *in, struct wire_frame *f)
{
	uint32_t psn = INSTANCE << 9 | f->bytes[11];

	f->bytes[2] = 0x80;
	f->bytes[3] = (uint8_t)(1 + (fuzz_take(in, 1) & 3));
	f->bytes[4] = (uint8_t)(f->from << 4 | f->to);
	f->bytes[9] = (uint8_t)(psn >> 16);
	f->bytes[10] = (uint8_t)(psn >> 8);
}

static void fuzz_frame_one(struct link *l, struct fuzz *in,
			   struct wire_frame *f)
{
	uint8_t mode = (uint8_t)fuzz_take(in, 1), nodes;
	uint32_t crc, i;

	memset(f, 0, sizeof(*f));
	nodes = (uint8_t)fuzz_take(in, 1);
	f->from = nodes >> 4;
	f->to = nodes & 15;
	f->len = (uint32_t)fuzz_take(in, 2) % (WIRE_FRAME_MAX + 1);
	if (mode & 16)
		make_good(in, f);
	for (i = 0; i < f->len && in->left && !(mode & 16); i++)
		f->bytes[i] = (uint8_t)fuzz_take(in, 1);
	/* Damage: the ICRC that it has then is the one of before. */
	if (mode & 32) {
		wire_icrc_settle(f);
		f->bytes[fuzz_below(in, 80)] ^= (uint8_t)fuzz_take(in, 1);
	}
	if ((mode & 80) == 80)
		fuzz_frame_tag(in, f);
	fuzz_frame_decode(f, mode & 1);
	if (f->len < WIRE_BTH_BYTES + WIRE_ICRC_BYTES)
		return;
	crc = fuzz_frame_icrc(f);
	FUZZ_EXPECT(wire_icrc(f) == crc, "the ICRC is 0x%x and not 0x%x", crc,
		    wire_icrc(f));
	if (mode & 2)
		wire_icrc_write(f);
	if (mode & 2)
		FUZZ_EXPECT(wire_icrc_good(f), "an ICRC that was made is good");
	fuzz_frame_decode(f, mode & 1);
	if (mode & 4)
		from_peer(l, f);
	else if (mode & 8)
		to_peer(l, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct wire_frame f;
	static struct link l;
	struct fuzz in = { data, size };
	unsigned int i;

	memset(&l, 0, sizeof(l));
	l.tag.own = INSTANCE;
	for (i = 0; i < FRAMES && in.left; i++)
		fuzz_frame_one(&l, &in, &f);
	return 0;
}
