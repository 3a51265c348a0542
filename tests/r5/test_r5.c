// SPDX-License-Identifier: BSD-2-Clause
/*
 * The firmware's image on a Cortex-R5 in QEMU: it comes up, does what the driver and processes
 * write to its mailbox, drives the engine, and ends when it must.
 *
 * FAULTLINE_R5 names the image.
 */
#include "board.h"
#include "pair.h"

static const char *image_name(void)
{
	const char *name = getenv("FAULTLINE_R5");

	return name ? name : "build/r5/faultline-r5.elf";
}

/* ---- what happens at a card ---- */

struct stage {
	struct rig_slot w[2];
	uint64_t random;
};

/* The driver starts its events; then a process. */
static void script_open(struct pair *p, struct rig *r, void *arg)
{
	struct stage *s = arg;

	rig_write(r, NIC_FW_BASE + NIC_FW_EQ_BASE, RIG_EQ);
	rig_write(r, NIC_FW_BASE + NIC_FW_EQ_BASE + 4, 0);
	rig_write(r, NIC_FW_BASE + NIC_FW_EQ_SIZE, RIG_EQ_SIZE);
	rig_write(r, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, NIC_FW_IRQ_ENABLE_EVENT);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_BASE, 8), RIG_EQ);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_SIZE, 4), RIG_EQ_SIZE);
	rig_slot(r, &s->w[0], 0);
	pair_key(p, r, s->w[0].key);
}

/* Bytes: start.S has painted it. */
static uint32_t stack_used(const struct card *c)
{
	uint32_t at, word;

	for (at = 0; at < R5_STACK; at += 4) {
		memcpy(&word, debugger_memory(c->debugger) + R5_DATA + at, 4);
		if (word != 0x53544143)
			break;
	}
	return R5_STACK - at;
}

TEST("it comes up: the mailbox is open, and page FW says who it is")
{
	struct card *c = card_start(image_name(), true);
	uint32_t i;

	/* What an earlier user left there. */
	for (i = 0; i < CARD_WORDS; i++)
		c->words[i] = 0xA5A5A5A5;
	card_run(c, 3);
	EXPECT(c->open && !c->ended && !c->line);
	EXPECT_EQ(c->words[NIC_FW_ID / 4], NIC_FW_ID_RESET);
	EXPECT_EQ(c->words[NIC_FW_LIMITS0 / 4], FW_QPS | FW_CQS << 16);
	EXPECT_EQ(c->words[NIC_FW_LIMITS1 / 4], FW_MRS | FW_SLOTS << 16);
	EXPECT_EQ(c->words[NIC_FW_NODE / 4], R5_NODE);
	for (i = 4; i < CARD_WORDS; i++)
		EXPECT_EQ(c->words[i], 0);
	EXPECT_EQ(c->log.writes, 0);
	EXPECT_LE(stack_used(c), R5_STACK / 2);
}

static void script_commands(struct pair *p, struct rig *r, void *arg)
{
	struct stage *s = arg;

	script_open(p, r, arg);
	EXPECT_EQ(rig_cmd(r, (struct fl_fw_cmd){ .opcode = 99 }), FL_ST_BAD_COMMAND);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = 0), FL_ST_BUSY);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = 16), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, PD_CREATE, .slot = 5), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 0, .c = s->w[0].pd, .a = ~0ull - 9, .b = 11),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 0, .object = s->w[0].key ^ 1u << 20),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, CQ_DESTROY, .slot = 0, .object = s->w[0].cq), FL_ST_BUSY);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 0, .a = 0x180000, .b = 3, .c = s->w[0].cq,
		      .d = s->w[0].pd), FL_ST_BAD_ARGUMENT);
	rig_slot(r, &s->w[1], 1);
	pair_key(p, r, s->w[1].key);
	EXPECT_NE(s->w[0].key, s->w[1].key);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = s->w[1].qp), FL_ST_OK);
	EXPECT_EQ(CMD(r, CQ_DESTROY, .slot = 1, .object = s->w[1].cq), FL_ST_OK);
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
	/* What is refused changes nothing, and the queue goes on. */
	rig_write(r, NIC_FW_BASE + NIC_FW_EQ_SIZE, 24);
	rig_write(r, NIC_FW_BASE + NIC_FW_ID, 0);
	rig_write(r, NIC_FW_BASE + 0x3C0, 1);
	rig_write(r, NIC_DB_BASE(9) + NIC_DB_SQ, 0x10000);
	rig_write(r, NIC_DB_BASE(0) + 0x800, 7);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_SIZE, 4), RIG_EQ_SIZE);
	EXPECT_EQ(rig_reg(r, NIC_FW_ID, 4), NIC_FW_ID_RESET);
}

TEST("commands of the driver end as in the emulator, good ones and bad ones")
{
	struct pair *p = pair_start(image_name());
	struct stage s;

	pair_run(p, script_commands, &s);
}

/* Three blocks; the peer lacks a page for the second; then the event that was asked for. */
static void script_write(struct pair *p, struct rig *r, void *arg)
{
	struct stage *s = arg;
	struct rig_slot *w = &s->w[0];

	script_open(p, r, arg);
	rig_write(r, NIC_DB_BASE(0) + NIC_DB_CQ_ARM, w->cq);
	rig_post(r, w, rig_wqe(w, 2 * RIG_BLOCK + 100));
	EXPECT_EQ(rig_busy(r), 3);
	EXPECT_EQ(r->ctx[1].lva, RIG_VA + RIG_BLOCK);
	EXPECT_EQ(r->ctx[2].len, 100);
	rig_end(r, 0, FL_ST_OK);
	rig_fly(r, 1);
	rig_refuse(r, 1);
	rig_run(r);
	EXPECT(!r->line);
	r->ctx[1].state = FL_TX_READY;
	rig_end(r, 1, FL_ST_OK);
	rig_end(r, 2, FL_ST_OK);
	rig_run(r);
	EXPECT(r->line);
	EXPECT_EQ(rig_reg(r, NIC_FW_IRQ_STATUS, 4), NIC_FW_IRQ_STATUS_EVENT);
	rig_expect_cqe(r, w, 0, FL_ST_OK);
	rig_expect_event(r, FL_EV_CQ, w->cq, 0);
	rig_run(r);
	EXPECT(!r->line);
	EXPECT_EQ(rig_busy(r), 0);
}

TEST("a WRITE is fetched, cut into blocks, driven through the engine and completed")
{
	struct pair *p = pair_start(image_name());
	struct stage s;

	pair_run(p, script_write, &s);
}

/* Entries that make no sense, and one of a process that lies about its queue. */
static void script_bad_work(struct pair *p, struct rig *r, void *arg)
{
	struct stage *s = arg;
	struct rig_slot *w = &s->w[0];
	struct fl_wqe e;

	script_open(p, r, arg);
	e = rig_wqe(w, 64);
	e.opcode = 77;
	rig_post(r, w, e);
	rig_expect_cqe(r, w, 0, FL_ST_BAD_OPCODE);
	rig_post(r, w, rig_wqe(w, 64));
	rig_expect_cqe(r, w, 1, FL_ST_FLUSHED);
	rig_expect_event(r, FL_EV_QP_ERROR, w->qp, FL_ST_BAD_OPCODE);
	rig_write(r, NIC_DB_BASE(0) + NIC_DB_CQ_CONS, w->cq | 500u << 16);
	w->qp = rig_qp(r, w, w->sq_pa, w->sq_size);
	w->tail = 0;
	e = rig_wqe(w, 64);
	e.lkey ^= 1u << 30;
	rig_post(r, w, e);
	rig_expect_cqe(r, w, 0, FL_ST_LOCAL_KEY);
	EXPECT_EQ(rig_busy(r), 0);
}

TEST("bad work requests and doorbells have their statuses, and move nothing")
{
	struct pair *p = pair_start(image_name());
	struct stage s;

	pair_run(p, script_bad_work, &s);
}

static void script_silence(struct pair *p, struct rig *r, void *arg)
{
	struct stage *s = arg;

	script_open(p, r, arg);
	rig_post(r, &s->w[0], rig_wqe(&s->w[0], 64));
	rig_fly(r, 0);
	rig_run(r);
	EXPECT_EQ(r->ctx[0].attempt, 0);
	pair_wait(p, r, 1000000 - R5_CYCLE_NS);
	EXPECT_EQ(r->ctx[0].attempt, 0);
	pair_wait(p, r, R5_CYCLE_NS);
	EXPECT_EQ(r->ctx[0].attempt, 1);
	rig_fly(r, 0);
	rig_run(r);
	/* The next one is twice as patient. */
	pair_wait(p, r, 4000000);
	EXPECT_EQ(r->ctx[0].attempt, 2);
	rig_end(r, 0, FL_ST_OK);
	rig_run(r);
	rig_expect_cqe(r, &s->w[0], 0, FL_ST_OK);
}

TEST("a peer that says nothing: the firmware's own timer runs out, and the block is sent again")
{
	struct pair *p = pair_start(image_name());
	struct stage s;

	pair_run(p, script_silence, &s);
}

TEST("the same with the R5's own cycle counter")
{
	struct card *c = card_start(image_name(), false);
	struct rig *r = c->rig;
	struct rig_slot w;
	uint64_t before;

	card_run(c, 1);
	rig_slot(r, &w, 0);
	before = *c->clock;
	rig_post(r, &w, rig_wqe(&w, 64));
	rig_fly(r, 0);
	card_run_writes(c, c->log.writes + 1);
	EXPECT_EQ(r->ctx[0].attempt, 1);
	EXPECT_GE(*c->clock, before + 1000000);
}

/* What a peer asks for: a WRITE that may, one with a wrong key, a READ. */
static void script_peer(struct pair *p, struct rig *r, void *arg)
{
	struct stage *s = arg;
	struct rig_slot *w = &s->w[0];
	struct rig_rxc x = {
		.state = FL_RX_CHECK, .op = WOP_WRITE, .len = 100, .va = RIG_VA + 5,
		.from = RIG_PEER_QP, .word = 0x100,
	};

	script_open(p, r, arg);
	x.src = RIG_NODE | w->qp << NIC_RXC_SRC_QPN_SHIFT;
	x.rkey = w->key;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	EXPECT_EQ(r->rxc[0].verdict >> NIC_RXC_VERDICT_STREAM_SHIFT, 0x200);
	x.rkey ^= 1u << 30;
	x.from = RIG_PEER_QP;
	x.word = 0x200;
	EXPECT_NE(rig_offer(r, 1, &x), FL_ST_OK);
	x = (struct rig_rxc){
		.state = FL_RX_CHECK, .op = WOP_READ_REQ, .len = 3000, .va = RIG_VA + 0x10000,
		.from = RIG_PEER_QP, .word = 0x301, .src = x.src, .rkey = w->key, .ref = 1 << 8,
	};
	rig_offer(r, 2, &x);
	rig_drain(r);
}

TEST("blocks of a peer are judged, and its READ is answered")
{
	struct pair *p = pair_start(image_name());
	struct stage s;

	pair_run(p, script_peer, &s);
}

/* ---- at random ---- */

static uint32_t random_pick(struct stage *s, uint32_t n)
{
	return rig_random(&s->random) % n;
}

/* Some context goes one step on, in one of the ways in which it can. */
static void random_hand(struct stage *s, struct rig *r)
{
	uint32_t n = random_pick(s, r->contexts), how = random_pick(s, 8);
	struct rig_ctx *c = &r->ctx[n];

	if (c->state == FL_TX_READY && how < 2)
		rig_fault(r, n);
	else if (c->state == FL_TX_READY)
		rig_fly(r, n);
	else if (c->state == FL_TX_FLYING && how < 2)
		rig_refuse(r, n);
	else if (c->state == FL_TX_FLYING)
		rig_end(r, n, how == 2 && !random_pick(s, 4) ? FL_ST_REMOTE_FAULT : FL_ST_OK);
	else if (c->state == FL_TX_DSTFAULT || c->state == FL_TX_SRCFAULT)
		c->state = FL_TX_READY;
}

/* One more queue pair for one that ended with an error. */
static void random_qp(struct stage *s, struct rig *r, uint32_t slot)
{
	struct rig_slot *w = &s->w[slot];

	rig_run(r);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = slot, .object = w->qp), FL_ST_OK);
	w->qp = rig_qp(r, w, w->sq_pa, w->sq_size);
	w->tail = 0;
}

static void script_random(struct pair *p, struct rig *r, void *arg)
{
	struct stage *s = arg;
	struct fl_cqe e;
	struct rig_slot *w;
	struct fl_wqe q;
	uint32_t i;

	s->random = test_seed();
	script_open(p, r, arg);
	rig_slot(r, &s->w[1], 1);
	pair_key(p, r, s->w[1].key);
	for (i = 0; i < 600; i++) {
		w = &s->w[random_pick(s, 2)];
		switch (random_pick(s, 16)) {
		case 0: case 1: case 2:
			q = rig_wqe(w, 1 + random_pick(s, 3 * RIG_BLOCK));
			q.remote_va += (uint64_t)random_pick(s, 1000) << 32;
			q.opcode = random_pick(s, 4) ? FL_OP_WRITE : FL_OP_READ;
			if (!random_pick(s, 20))
				q.length = 0;
			rig_put(r, w, &q);
			rig_ring(r, w);
			break;
		case 3:
			while (rig_poll(r, w, &e))
				;
			break;
		case 4:
			while (rig_event(r))
				;
			break;
		case 5:
			rig_write(r, NIC_DB_BASE(w->slot) + NIC_DB_CQ_ARM, w->cq | w->cons << 16);
			break;
		case 6:
			if (!random_pick(s, 3))
				random_qp(s, r, w->slot);
			break;
		default:
			random_hand(s, r);
			break;
		}
		if (random_pick(s, 3))
			rig_run(r);
	}
	rig_run(r);
	rig_drain(r);
}

TEST("random requests, faults and ends: both firmwares write the same")
{
	struct pair *p = pair_start(image_name());
	struct stage s;

	pair_run(p, script_random, &s);
	STEP("%u writes to the engine, %u bytes of stack", p->log.writes, stack_used(p->far));
	EXPECT_LE(stack_used(p->far), R5_STACK / 2);
	EXPECT_GE(p->log.writes, 500);
}

/* ---- what only the image can meet ---- */

TEST("a queue that an R5 does not reach is refused: beyond 32 bits, beyond DRAM")
{
	struct pair *p = pair_start(image_name());
	struct rig *r = p->far->rig;
	struct stage s;

	script_open(p, r, &s);
	EXPECT_EQ(CMD(r, CQ_CREATE, .slot = 0, .a = 1ull << 32, .b = 16), FL_ST_BUS_ERROR);
	EXPECT_EQ(CMD(r, CQ_CREATE, .slot = 0, .a = 0x80000000, .b = 16), FL_ST_BUS_ERROR);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 0, .a = 0x880000000, .b = 16, .c = s.w[0].cq,
		      .d = s.w[0].pd), FL_ST_BUS_ERROR);
	STEP("the firmware's own memory: each request there is a bus error, and nothing is read");
	s.w[0].qp = rig_qp(r, &s.w[0], R5_TABLES, 64);
	s.w[0].tail = 1;
	rig_ring(r, &s.w[0]);
	rig_run(r);
	rig_expect_cqe(r, &s.w[0], 0, FL_ST_BUS_ERROR);
	STEP("so does the R5's code");
	s.w[0].qp = rig_qp(r, &s.w[0], R5_CODE, 64);
	rig_ring(r, &s.w[0]);
	rig_run(r);
	rig_expect_cqe(r, &s.w[0], 0, FL_ST_BUS_ERROR);
	EXPECT(!p->far->ended);
}

TEST("no key is drawn before enough writes have come")
{
	struct pair *p = pair_start(image_name());
	struct rig *r = p->far->rig;
	struct fl_fw_cmd c = { .opcode = FL_CMD_PD_CREATE };
	uint32_t i, before;

	rig_write(r, NIC_FW_BASE + NIC_FW_CMD(0), FL_CMD_SLOT_OPEN);
	rig_write(r, NIC_FW_BASE + NIC_FW_CMD_GO, 1);
	rig_run(r);
	rig_write(r, NIC_FW_BASE + NIC_FW_CMD(0), FL_CMD_PD_CREATE);
	rig_write(r, NIC_FW_BASE + NIC_FW_CMD_GO, 1);
	rig_run(r);
	EXPECT_EQ(rig_reg(r, NIC_FW_CMD_STATUS, 4), 0);
	c = (struct fl_fw_cmd){ .opcode = FL_CMD_MR_CREATE, .b = 4096 };
	EXPECT_EQ(rig_cmd(r, c), FL_ST_NO_ROOM);
	before = 0;
	for (i = 0; i < 8; i++) {
		if (i > 1)
			EXPECT_EQ(rig_cmd(r, c), FL_ST_OK);
		else
			rig_cmd(r, c);
		EXPECT(i < 2 || (r->result >> 10 && (uint32_t)r->result >> 10 != before));
		before = (uint32_t)r->result >> 10;
	}
}

static uint32_t expect_end(struct card *c, uint32_t why)
{
	uint32_t end[4];

	card_run(c, 5);
	EXPECT(c->ended);
	memcpy(end, debugger_memory(c->debugger) + debugger_symbol(c->debugger, "r5_end"), 16);
	EXPECT_EQ(end[0], why);
	EXPECT(!c->open);
	return end[2];
}

TEST("no bitstream: the firmware ends at once, and says so in its memory alone")
{
	struct card *c = card_start(image_name(), true);

	c->id = 0;
	expect_end(c, R5_END_NO_CARD);
}

TEST("an engine that has blocks of an earlier firmware is left alone")
{
	struct card *c = card_start(image_name(), true);

	c->rig->ctx[6].state = FL_TX_FLYING;
	expect_end(c, R5_END_BUSY);
	EXPECT_EQ(c->log.writes, 0);
}

TEST("a firmware that the mailbox gave up writes no memory any more")
{
	struct pair *p = pair_start(image_name());
	struct stage s;

	script_open(p, p->far->rig, &s);
	rig_run(p->far->rig);
	p->far->open = false;
	expect_end(p->far, R5_END_CLOSED);
}

TEST("a full stack is the end, and the driver hears of it")
{
	struct card *c = card_start(image_name(), true);
	uint32_t address;

	card_run(c, 1);
	EXPECT(c->open);
	debugger_set_register(c->debugger, 13, R5_DATA + 4);
	address = expect_end(c, R5_END_ACCESS);
	EXPECT_LE(address, R5_DATA - 4);
	EXPECT_GE(address, R5_DATA - 64);
}
