// SPDX-License-Identifier: BSD-2-Clause
/*
 * Registers, commands, queues and packets of a board whose software means no good. The
 * first byte says who that is on board 0: a process (its doorbells, its send queues, its
 * memory), a process and what the driver does for it, or the driver itself, which may write
 * every register and send any packet. Boards 1 and 2 behave.
 *
 * What holds afterwards: on board 1 and 2 nothing is different but the region that their
 * peers may write; nothing of what nobody may read has left them; as long as the driver
 * behaves, nothing is different on board 0 either but the region that the process may
 * write; all tables add up after each step; boards 1 and 2 still write and read each other.
 */
#include <stdlib.h>
#include <string.h>

#include "board/board_internal.h"
#include "boards.h"
#include "nic/wire.h"

const char fuzz_name[] = "boards";

#define STEPS	64u

enum who { PROCESS, ASKS, DRIVER };

struct play {
	struct fuzz in;
	enum who who;
	struct boards *b;
	struct boards_node *me;
};

/* ---- a process ---- */

static uint64_t some_va(struct fuzz *f)
{
	unsigned int x = (unsigned int)fuzz_take(f, 2);
	uint64_t va = BOARDS_VA + (x & 15) * 4096;

	/* Mostly at a border. */
	if (x >> 4 & 1)
		va += x >> 5;
	else
		va += (x >> 5 & 7) - (x >> 8 & 1 ? 4096 : 0);
	return x == 0xffff ? ~0ull - fuzz_take(f, 1) : va;
}

static uint32_t some_key(struct fuzz *f, const struct boards_node *n)
{
	unsigned int x = (unsigned int)fuzz_take(f, 1);

	return x < 200 ? n->key[x % REGIONS] :
	       x < 220 ? n->key[x % REGIONS] ^ (uint32_t)fuzz_take(f, 4) :
			 (uint32_t)fuzz_take(f, 4);
}

/* Mostly an address in the region that the key is of. */
static uint64_t some_spot(struct fuzz *f, const struct boards_node *n, uint32_t *key)
{
	static const uint8_t first[REGIONS] = { 0, 4, 6 };
	unsigned int x = (unsigned int)fuzz_take(f, 1);

	if (x >= 160) {
		*key = some_key(f, n);
		return some_va(f);
	}
	*key = n->key[x % REGIONS];
	return BOARDS_VA + first[x % REGIONS] * 4096u +
	       (x & 32 ? fuzz_take(f, 2) % 5000 : 0);
}

static uint32_t some_length(struct fuzz *f)
{
	static const uint32_t usual[] = { 1, 4096, 4097, 16384, 64, 1000 };
	unsigned int x = (unsigned int)fuzz_take(f, 1);

	return x < 6 ? usual[x] : x < 250 ? x * 67 : (uint32_t)fuzz_take(f, 4);
}

static void fuzz_boards_ring(struct play *p, unsigned int qp)
{
	boards_set(p->me, NIC_DB_BASE(0) + NIC_DB_SQ, 4,
		   p->me->qp[qp] | (uint32_t)p->me->posted[qp] << 16);
}

static void fuzz_boards_post(struct play *p)
{
	struct fuzz *f = &p->in;
	unsigned int x = (unsigned int)fuzz_take(f, 1), qp = x & 1;
	struct boards_node *peer = &p->b->node[qp ? 2 : 1];
	struct fl_wqe *sq = (struct fl_wqe *)(p->me->mem + BOARDS_SQ +
					      qp * BOARDS_SQ_BYTES), w;
	uint32_t at, n;

	w = (struct fl_wqe){
		.opcode = x >> 1 & 1 ? FL_OP_READ : FL_OP_WRITE,
		.flags = x >> 2 & 3, .index = p->me->posted[qp],
		.length = some_length(f), .wr_id = x, .xfer = 1,
	};
	w.local_va = some_spot(f, p->me, &w.lkey);
	w.remote_va = some_spot(f, peer, &w.rkey);
	/* And some of it quite otherwise. */
	if (x >> 4 == 15) {
		at = fuzz_below(f, sizeof(w));
		n = fuzz_below(f, 8);
		while (n-- && at < sizeof(w))
			((uint8_t *)&w)[at++] ^= (uint8_t)fuzz_take(f, 1);
	}
	sq[p->me->posted[qp]++ % BOARDS_QUEUE] = w;
	if (!(x >> 4 & 1))
		fuzz_boards_ring(p, qp);
}

static void fuzz_boards_doorbell(struct play *p)
{
	static const uint32_t reg[] = { NIC_DB_SQ, NIC_DB_CQ_ARM,
					NIC_DB_CQ_CONS, 12 };
	unsigned int x = (unsigned int)fuzz_take(&p->in, 1);

	boards_set(p->me, NIC_DB_BASE(0) + reg[x & 3], x & 4 ? 8 : 4,
		   fuzz_take(&p->in, 1) | fuzz_take(&p->in, 2) << 16);
}

/* Its own queues and data, whatever the card thinks of them. */
static void fuzz_boards_scribble(struct play *p)
{
	uint32_t at = (uint32_t)fuzz_take(&p->in, 2), n, k;

	for (n = fuzz_below(&p->in, 32); n; n--, at++) {
		k = at % 0x6000;
		k = k < 0x2000 ? k : BOARDS_DATA + k - 0x2000;
		p->me->mem[k] = (uint8_t)fuzz_take(&p->in, 1);
	}
}

/* ---- a process and the driver that does what it is asked for ---- */

static void fuzz_boards_ask(struct play *p)
{
	struct fuzz *f = &p->in;
	unsigned int x = (unsigned int)fuzz_take(f, 1);
	struct fl_fw_cmd c = { .object = p->me->qp[x >> 3 & 1] };
	uint32_t result;

	switch (x & 7) {
	case 0:
		c = (struct fl_fw_cmd){ .opcode = FL_CMD_MR_CREATE,
					.a = some_va(f) & ~0xfffull,
					.b = some_length(f), .c = p->me->pd,
					.flags = x >> 3 & 7 };
		/* As the driver: only of what the process has. */
		if (c.a < BOARDS_VA || c.b > 8 * 4096 ||
		    c.a + c.b > BOARDS_VA + 8 * 4096)
			return;
		break;
	case 1:
		c.opcode = FL_CMD_MR_DESTROY;
		c.object = some_key(f, p->me);
		break;
	case 2:
		c.opcode = FL_CMD_QP_DESTROY;
		break;
	case 3:
		c.opcode = FL_CMD_PD_CREATE;
		break;
	case 4:
		c.opcode = FL_CMD_PD_DESTROY;
		c.object = (uint32_t)fuzz_take(f, 1);
		break;
	case 5:
		c.opcode = FL_CMD_CQ_DESTROY;
		c.object = (uint32_t)fuzz_take(f, 1);
		break;
	case 6:
		c.opcode = FL_CMD_QP_CONNECT;
		c.a = x >> 4;
		c.b = fuzz_take(f, 1);
		break;
	default:
		boards_map(p->me, x >> 3 & 7, x >> 6 & 1);
		memcpy(p->me->before + BOARDS_TABLES,
		       p->me->mem + BOARDS_TABLES, 0x3000);
		return;
	}
	boards_command(p->me, &c, &result);
}

/* ---- a driver that means no good ---- */

static void fuzz_boards_poke(struct play *p)
{
	struct fuzz *f = &p->in;
	unsigned int x = (unsigned int)fuzz_take(f, 1);
	uint32_t off = (uint32_t)fuzz_take(f, 2);
	uint64_t v = fuzz_take(f, x & 8 ? 8 : 2), got;

	if (x & 1)
		boards_smmu(p->me, off << 2 & 0x1ffff, x & 2 ? 8 : 4, v);
	else if (x & 4)
		board_read(p->me->board, BUS_NIC_BASE + off % 0x3000, 4, &got);
	else	/* the engine's, the firmware's, and some doorbells */
		boards_set(p->me, off % 0x3000 & ~3u, x & 2 ? 8 : 4, v);
}

static void any_command(struct play *p)
{
	struct fuzz *f = &p->in;
	struct fl_fw_cmd c = { .opcode = (uint32_t)fuzz_take(f, 1) % 14 };
	uint32_t word[16];
	unsigned int i;

	c.slot = fuzz_below(f, 18);
	c.object = (uint32_t)fuzz_take(f, 2);
	c.flags = (uint32_t)fuzz_take(f, 1);
	c.a = fuzz_take(f, 1) & 1 ? DRAM_BASE + fuzz_take(f, 2) : fuzz_take(f, 2);
	c.b = 1ull << fuzz_below(f, 18);
	c.c = fuzz_take(f, 1);
	c.d = fuzz_take(f, 1);
	memcpy(word, &c, sizeof(word));
	for (i = 0; i < 16; i++)
		boards_set(p->me, NIC_FW_BASE + NIC_FW_CMD(i), 4, word[i]);
	boards_set(p->me, NIC_FW_BASE + NIC_FW_CMD_GO, 4, 1);
	boards_wait(p->b, 2000);
}

/* As if board 0's engine had sent it. */
static void fuzz_boards_packet(struct play *p)
{
	struct fuzz *f = &p->in;
	unsigned int x = (unsigned int)fuzz_take(f, 1), to = 1 + (x & 1);
	struct boards_node *peer = &p->b->node[to];
	struct board *card = p->me->board;
	uint32_t len = some_length(f);
	struct wire_block b = {
		.opcode = (uint8_t)(WOP_WRITE + (x >> 1 & 3)),
		.dest_qp = x >> 3 & 1 ? peer->qp[to == 1] : fuzz_below(f, 70),
		.ctx = (uint8_t)fuzz_below(f, 20), .attempt = (uint8_t)(x >> 4 & 3),
		.gen = (uint16_t)fuzz_take(f, 1), .len = len,
		.offset = fuzz_below(f, 5) * 1024, .ref = (uint32_t)fuzz_take(f, 2),
		.payload_len = x >> 6 ? 1024 : len % 1025,
	};
	struct wire_answer a = {
		.opcode = (uint8_t)(WOP_WRITE + fuzz_below(f, 12)),
		.dest_qp = b.dest_qp, .ctx = b.ctx, .gen = b.gen,
		.attempt = b.attempt, .code = (uint8_t)b.ref,
		.map = (uint32_t)fuzz_take(f, 2),
	};
	struct wire_frame *fr;

	b.va = some_spot(f, peer, &b.rkey);
	sim_enter(card->domain);
	fr = fabric_frame_get(card->port);
	if (fr) {
		memset(wire_payload(fr), 0xbb, b.payload_len);
		if (wire_is_block(b.opcode))
			wire_put_block(fr, &b, true);
		else
			wire_put_answer(fr, &a, true);
		fr->to = (uint8_t)to;
		fabric_frame_send(card->port, fr);
	}
	sim_leave(card->domain);
}

/* ---- the play ---- */

static void fuzz_boards_step(struct play *p)
{
	static void (*const does[])(struct play *) = {
		fuzz_boards_post, fuzz_boards_post, fuzz_boards_doorbell,
		fuzz_boards_scribble, fuzz_boards_ask, fuzz_boards_ask,
		fuzz_boards_poke, any_command,
		fuzz_boards_packet, fuzz_boards_packet,
	};
	static const unsigned int how_many[] = { 4, 6, 10 };
	unsigned int x = (unsigned int)fuzz_take(&p->in, 1);

	if (x >= 200)
		boards_wait(p->b, 1ull << (x % 22));
	else
		does[x % how_many[p->who]](p);
	boards_check(p->b);
}

static void fuzz_boards_body(struct boards *b, void *arg)
{
	struct play *p = arg;
	unsigned int i;

	p->b = b;
	p->me = &b->node[0];
	for (i = 0; i < STEPS && p->in.left; i++)
		fuzz_boards_step(p);
	/* What is under way ends, or its time does. */
	boards_wait(b, 20000000);
	boards_check(b);
	for (i = 1; i < BOARDS; i++)
		boards_unchanged(b, i, BOARDS_OPEN);
	if (p->who != DRIVER)
		boards_unchanged(b, 0, p->who == ASKS ? BOARDS_OPEN | BOARDS_READ | BOARDS_OWN :
				 BOARDS_OPEN | BOARDS_OWN);
	boards_no_secret(b, 0);
	boards_go_on(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play p = { .in = { data, size } };

	p.who = fuzz_below(&p.in, 3);
	boards_run(fuzz_boards_body, &p);
	return 0;
}
