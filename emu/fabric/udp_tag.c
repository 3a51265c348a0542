// SPDX-License-Identifier: BSD-2-Clause
/*
 * udp_tag.c - what two processes must tell each other beside a frame: between
 * which nodes it goes, and that neither of the two was started anew meanwhile.
 *
 * A RoCEv2 packet has no place for node numbers, since there every port has an
 * address of its own. Here one address serves a whole process. So a packet on
 * the link stays what it is, and fields that mean nothing inside one process
 * (wire.def) get a meaning there:
 *
 *	BTH.RESERVED8	from << 4 | to. Not covered by the ICRC as it stands (it
 *			is all ones there), but the ICRC is made over the
 *			addresses of both nodes, so other numbers do not pass.
 *	BTH.PKEY	0x8000 | instance of the sender's process
 *	BTH.PSN		instance of the receiver's process << 9 | cell
 *
 * An instance is a random number from 1 to 32767 that a process draws when it makes the
 * link. Naming the receiver's is what a random first PSN is for in InfiniBand
 * (9.7, 12.9): a packet that was meant for a process that is gone, whose successor has
 * the same address, port, nodes and queue pairs, is not taken for one to the successor.
 * A process that gets a packet for another one says who it is (hello); the sender's timer does
 * the rest. Two processes that draw the same number one after the other are not told
 * apart: once in 32767 restarts.
 *
 * Packets of the specification's own opcodes need all of their PSN. There
 *
 *	BTH.RESERVED7	7 bits of the instance of the receiver's process
 *	BTH.PSN		further on by a number that is made of all of that instance
 *
 * and for who was started anew a packet that was meant for the process before has a PSN
 * anywhere in 2^24, which is what the first PSN of a connection is drawn at random for.
 * Nothing is sent to a process of which nothing was heard.
 *
 * A process that was started anew counts the generations of its blocks from the
 * start, which a receiver would take for old ones (wire.def: a block word is
 * unique among all that can still be on the wire). So the link adds to the
 * generations of the new process what makes them newer than all that came
 * before, and takes it away again in answers. An answer to the process before is
 * then old for the new one.
 */
#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fabric/fabric_internal.h"
#include "lib/os/os.h"

#define PKEY_FULL	0x8000u		/* full member, InfiniBand 10.9.1 */
#define PKEY_DEFAULT	0xFFFFu
#define INSTANCE_MASK	0x7FFFu
#define CELL_BITS	9		/* 16 KB in cells of 64 bytes: 256 */
#define SHORT_MASK	0x7Fu		/* of an instance, in BTH.RESERVED7 */
#define PSN_MASK	0xFFFFFFu
#define AT_ACKREQ	8		/* the byte of BTH; RESERVED7 is its lower part */
/* Blocks of a new process that may come before one that it sent earlier. */
#define GEN_STEP	0x1000

static_assert(FABRIC_UDP_NODES <= 16, "two node numbers in BTH.RESERVED8");

/* Whole bytes, most significant first; bit is always 7 here. */
static void tag_put(uint8_t *h, unsigned int byte, unsigned int bit,
		    unsigned int width, uint32_t value)
{
	(void)bit;
	for (h += byte; width; width -= 8)
		*h++ = (uint8_t)(value >> (width - 8));
}

static uint32_t tag_get(const uint8_t *h, unsigned int byte, unsigned int bit,
			unsigned int width)
{
	uint32_t value = 0;

	(void)bit;
	for (h += byte; width; width -= 8)
		value = value << 8 | *h++;
	return value;
}

void udp_tag_init(struct udp_tag *t)
{
	struct rng r;

	memset(t, 0, sizeof(*t));
	rng_init(&r, os_now_ns() + ((uint64_t)time(NULL) << 30) +
		     ((uint64_t)getpid() << 40), "instance");
	t->own = (uint16_t)(1 + rng_below(&r, INSTANCE_MASK));
}

uint16_t udp_tag_sender(const struct wire_frame *f)
{
	return tag_get(f->bytes, WIRE_BTH_PKEY) & INSTANCE_MASK;
}

static bool tag_retired(const struct udp_tag *t, uint16_t instance)
{
	unsigned int i;

	for (i = 0; i < UDP_RETIRED; i++)
		if (t->retired[i] == instance)
			return true;
	return false;
}

/* A peer in the place of the one before: see above. */
static void tag_learn(struct udp_tag *t, uint16_t peer)
{
	unsigned int node, ctx;

	if (t->peer)
		t->retired[t->retirements++ % UDP_RETIRED] = t->peer;
	t->peer = peer;
	for (node = 0; node < FABRIC_UDP_NODES; node++)
		for (ctx = 0; ctx < UDP_CTXS; ctx++)
			t->gen[node][ctx].fresh = t->gen[node][ctx].heard;
}

/* ---- packets of the specification's own ---- */

static bool is_standard(const struct wire_frame *f)
{
	return wire_header(wire_opcode(f)) == WIRE_STANDARD;
}

/* How much further on PSNs are that go to a process: different for each instance. */
static uint32_t psn_shift(uint16_t instance)
{
	return instance * 0x9E3779B1u >> 8;	/* 2^32 divided by the golden ratio */
}

static void psn_move(struct wire_frame *f, uint32_t by, uint16_t receiver)
{
	uint32_t psn = tag_get(f->bytes, WIRE_BTH_PSN);

	tag_put(f->bytes, WIRE_BTH_PSN, (psn + by) & PSN_MASK);
	f->bytes[AT_ACKREQ] &= (uint8_t)~SHORT_MASK;
	f->bytes[AT_ACKREQ] |= receiver & SHORT_MASK;
}

static bool names_us(const struct udp_tag *t, const struct wire_frame *f)
{
	if (is_standard(f))
		return (f->bytes[AT_ACKREQ] & SHORT_MASK) == (t->own & SHORT_MASK);
	return tag_get(f->bytes, WIRE_BTH_PSN) >> CELL_BITS == t->own;
}

enum udp_verdict udp_tag_judge(struct udp_tag *t, const struct wire_frame *f)
{
	uint16_t from = udp_tag_sender(f);

	if (!from || !(tag_get(f->bytes, WIRE_BTH_PKEY) & PKEY_FULL) ||
	    tag_retired(t, from))
		return UDP_OLD;
	if (!names_us(t, f))
		return UDP_HELLO;
	if (from == t->peer)
		return UDP_TAKE;
	tag_learn(t, from);
	return UDP_TAKE_NEW;
}

void udp_tag_nodes(struct wire_frame *f)
{
	uint32_t nodes = tag_get(f->bytes, WIRE_BTH_RESERVED8);

	f->from = (uint8_t)(nodes >> 4);
	f->to = nodes & 15;
}

static void gen_in(struct udp_gen *g, uint8_t *header)
{
	uint16_t gen = (uint16_t)tag_get(header, WIRE_BLK_GEN);

	if (g->fresh)
		g->add = (uint16_t)(g->newest + GEN_STEP - gen);
	g->fresh = false;
	gen += g->add;
	/* Serial number arithmetic, as the engine has it. */
	if (!g->heard || (int16_t)(gen - g->newest) > 0)
		g->newest = gen;
	g->heard = true;
	tag_put(header, WIRE_BLK_GEN, gen);
}

enum wire_error udp_tag_off(struct udp_tag *t, struct wire_frame *f)
{
	uint8_t *header = f->bytes + WIRE_BTH_BYTES;
	uint32_t psn = tag_get(f->bytes, WIRE_BTH_PSN);
	struct wire_answer a;
	struct wire_block b;
	enum wire_error e;

	tag_put(f->bytes, WIRE_BTH_PKEY, PKEY_DEFAULT);
	tag_put(f->bytes, WIRE_BTH_RESERVED8, 0);
	f->cause = 0;
	f->offset = 0;
	if (is_standard(f)) {
		psn_move(f, 0u - psn_shift(t->own), 0);
		f->xfer = f->block = 0;
		f->attempt = 0;
		return WIRE_OK;
	}
	tag_put(f->bytes, WIRE_BTH_PSN, psn & ((1u << CELL_BITS) - 1));
	if (!wire_is_block(wire_opcode(f))) {
		e = wire_get_answer(f, false, &a);
		if (e != WIRE_OK)
			return e;
		f->xfer = a.xfer;
		f->block = a.block;
		f->attempt = a.attempt;
		return WIRE_OK;
	}
	e = wire_get_block(f, false, &b);
	if (e != WIRE_OK)
		return e;
	f->xfer = b.xfer;
	f->block = b.block;
	f->attempt = b.attempt;
	f->offset = b.offset;
	gen_in(&t->gen[f->from][b.ctx], header);
	return WIRE_OK;
}

bool udp_tag_on(struct udp_tag *t, struct wire_frame *f)
{
	uint8_t *header = f->bytes + WIRE_BTH_BYTES;
	uint32_t psn = tag_get(f->bytes, WIRE_BTH_PSN), ref;
	enum wire_header kind = wire_header(wire_opcode(f));
	const struct udp_gen *g;

	/* Packets of these have no bits to spare. */
	if (kind == WIRE_NVH || kind == WIRE_NVA)
		return false;
	if (is_standard(f)) {
		if (!t->peer)
			return false;
		psn_move(f, psn_shift(t->peer), t->peer);
		tag_put(f->bytes, WIRE_BTH_PKEY, PKEY_FULL | t->own);
		tag_put(f->bytes, WIRE_BTH_RESERVED8, (uint32_t)f->from << 4 | f->to);
		return true;
	}
	if (!wire_is_block(wire_opcode(f))) {
		g = &t->gen[f->to][tag_get(header, WIRE_ANS_CTX)];
		if (g->fresh)
			return false;
		tag_put(header, WIRE_ANS_GEN,
			tag_get(header, WIRE_ANS_GEN) - g->add);
	} else if (wire_opcode(f) == WOP_READ_RESP) {
		ref = tag_get(header, WIRE_BLK_REF);
		g = &t->gen[f->to][ref >> 24];
		if (g->fresh)
			return false;
		tag_put(header, WIRE_BLK_REF,
			wire_word((uint8_t)(ref >> 24),
				  (uint16_t)((ref >> 8) - g->add),
				  (uint8_t)ref));
	}
	assert(!(psn >> CELL_BITS));
	tag_put(f->bytes, WIRE_BTH_PKEY, PKEY_FULL | t->own);
	tag_put(f->bytes, WIRE_BTH_PSN, (uint32_t)t->peer << CELL_BITS | psn);
	tag_put(f->bytes, WIRE_BTH_RESERVED8, (uint32_t)f->from << 4 | f->to);
	return true;
}

void udp_tag_hello(const struct udp_tag *t, struct wire_frame *f, uint16_t to)
{
	memset(f, 0, sizeof(*f));
	f->len = WIRE_BTH_BYTES + WIRE_ICRC_BYTES;
	tag_put(f->bytes, WIRE_BTH_OPCODE, WOP_HELLO);
	tag_put(f->bytes, WIRE_BTH_PKEY, PKEY_FULL | t->own);
	tag_put(f->bytes, WIRE_BTH_PSN, (uint32_t)to << CELL_BITS);
	wire_icrc_write(f);
}
