// SPDX-License-Identifier: BSD-2-Clause
/* The register window: what is there, what is refused; and nonsense in bulk. */
#include "rig/engine.h"

/* Every register of the engine's pages, as regs.def has it. */
enum { ACC_RO, ACC_RW, ACC_WO };
enum { IN_ENG, IN_CTX, IN_RXC, IN_FW, IN_BOX, IN_XP, IN_DB };
static const struct {
	const char *name;
	unsigned int page, offset, width, access;
} regs[] = {
#define NREG(page, name, offset, width, access, reset, text) \
	{ #page "." #name, IN_##page, offset, width, ACC_##access },
#include "faultline/regs.def"
};
#define REGS (sizeof(regs) / sizeof(regs[0]))

static const struct {
	const char *name;
	unsigned int lsb, width;
} fields[] = {
#define NFLD(page, name, field, lsb, width, text) \
	{ #page "." #name, lsb, width },
#include "faultline/regs.def"
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint32_t offset_of(unsigned int i)
{
	return regs[i].offset + (regs[i].page == IN_ENG ? NIC_ENG_BASE :
				 regs[i].page == IN_CTX ? NIC_CTX_BASE(1) :
							  NIC_RXC_BASE(1));
}

/* Bits that no field has; 0 for a register that is one number. */
static uint64_t regs_reserved(unsigned int i)
{
	uint64_t mask = 0;
	unsigned int k;

	for (k = 0; k < FIELDS; k++)
		if (!strcmp(fields[k].name, regs[i].name))
			mask |= ((1ull << fields[k].width) - 1)
				<< fields[k].lsb;
	return mask ? ~mask & 0xFFFFFFFF : 0;
}

TEST("every register of regs.def can be read, at its width and in halves")
{
	struct bench *t = bench_new(NULL);
	uint64_t whole, low, high;
	unsigned int i, n = 0;

	for (i = 0; i < REGS; i++) {
		if (regs[i].page > IN_RXC)
			continue;
		STEP("%s", regs[i].name);
		n++;
		EXPECT_EQ(engine_reg_read(t->e, offset_of(i), 4, &low), 0);
		if (regs[i].width == 32) {
			EXPECT_EQ(engine_reg_read(t->e, offset_of(i), 8,
						  &whole), -EINVAL);
			continue;
		}
		EXPECT_EQ(engine_reg_read(t->e, offset_of(i), 8, &whole), 0);
		EXPECT_EQ(engine_reg_read(t->e, offset_of(i) + 4, 4, &high), 0);
		EXPECT_EQ(whole, low | high << 32);
	}
	EXPECT(n > 45);
}

TEST("the parameters tell what was built")
{
	struct bench *t = bench_new(NULL);

	EXPECT_EQ(bench_read(t, NIC_ENG_ID), NIC_ENG_ID_RESET);
	EXPECT_EQ(bench_read(t, NIC_ENG_PARAM),
		  8 << NIC_ENG_PARAM_NCTX_SHIFT |
		  8 << NIC_ENG_PARAM_NRXC_SHIFT |
		  14 << NIC_ENG_PARAM_BLOCK_LOG2_SHIFT |
		  1 << NIC_ENG_PARAM_VERSION_SHIFT);
}

TEST("a write to a read-only register or a reserved bit is refused")
{
	struct bench *t = bench_new(NULL);
	uint64_t bit, before, after;
	unsigned int i, refused = 0;

	for (i = 0; i < REGS; i++) {
		if (regs[i].page > IN_RXC)
			continue;
		STEP("%s", regs[i].name);
		if (regs[i].access == ACC_RO) {
			EXPECT_EQ(bench_write(t, offset_of(i), 0), -EINVAL);
			refused++;
			continue;
		}
		before = bench_read(t, offset_of(i));
		for (bit = 1; bit <= 0x80000000u; bit <<= 1) {
			if (!(regs_reserved(i) & bit))
				continue;
			EXPECT_EQ(bench_write(t, offset_of(i), bit), -EINVAL);
			refused++;
		}
		after = bench_read(t, offset_of(i));
		EXPECT_EQ(before, after);
	}
	EXPECT(refused > 100);
	EXPECT_EQ(trace_count(t->trace, EV_ENG_BAD_REG), refused);
	EXPECT_EQ(bench_stats(t).bad_registers, refused);
}

TEST("offsets without a register, bad sizes and bad alignment are refused")
{
	static const struct {
		uint32_t off;
		unsigned int size;
	} bad[] = {
		{ NIC_ENG_CTRL, 1 }, { NIC_ENG_CTRL, 2 }, { NIC_ENG_CTRL, 0 },
		{ NIC_ENG_CTRL + 1, 4 }, { NIC_ENG_CTRL + 2, 4 },
		{ NIC_ENG_CTRL, 8 }, { NIC_ENG_CTRL, 16 },
		{ NIC_CTX_BASE(0) + NIC_CTX_LVA + 4, 8 },
		{ NIC_ENG_BASE + 0xFFC, 4 }, { NIC_CTX_BASE(8), 4 },
		{ NIC_CTX_BASE(15) + NIC_CTX_LEN, 4 },
		{ NIC_CTX_BASE(0) + 0x44, 4 }, { NIC_CTX_BASE(0) + 0x7C, 4 },
		{ NIC_RXC_BASE(8), 4 }, { NIC_RXC_BASE(31), 4 },
		{ NIC_RXC_BASE(0) + 0x3C, 4 },
		{ NIC_FW_BASE, 4 }, { NIC_DB_BASE(0), 4 },
		{ 0x1FFFC, 4 }, { 0xFFFFFFFC, 4 }, { 0xFFFFFFF8, 8 },
	};
	struct bench *t = bench_new(NULL);
	uint64_t v;
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("offset 0x%x, size %u", bad[i].off, bad[i].size);
		EXPECT_EQ(engine_reg_read(t->e, bad[i].off, bad[i].size, &v),
			  -EINVAL);
		EXPECT_EQ(engine_reg_write(t->e, bad[i].off, bad[i].size, 0),
			  -EINVAL);
	}
	STEP("a value that is wider than the access");
	EXPECT_EQ(bench_write(t, NIC_CTX_BASE(0) + NIC_CTX_RKEY, 1ull << 32),
		  -EINVAL);
	EXPECT_EQ(trace_count(t->trace, EV_ENG_BAD_REG), i + 1);
}

TEST("a 64-bit parameter is written whole or in halves")
{
	struct bench *t = bench_new(NULL);
	uint32_t off = NIC_CTX_BASE(3) + NIC_CTX_LVA;
	uint64_t v = 0;

	bench_set64(t, off, 0x1122334455667788);
	bench_set(t, off, 0xAAAAAAAA);
	EXPECT_EQ(engine_reg_read(t->e, off, 8, &v), 0);
	EXPECT_EQ(v, 0x11223344AAAAAAAA);
	bench_set(t, off + 4, 0xBBBBBBBB);
	EXPECT_EQ(engine_reg_read(t->e, off, 8, &v), 0);
	EXPECT_EQ(v, 0xBBBBBBBBAAAAAAAA);
}

TEST("parameters that make no sense are refused")
{
	struct bench *t = bench_new(NULL);
	uint32_t c = NIC_CTX_BASE(0), go = NIC_CTX_CTRL_GO |
				FL_OP_WRITE << NIC_CTX_CTRL_OP_SHIFT;

	EXPECT_EQ(bench_write(t, c + NIC_CTX_LEN, 0), -EINVAL);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_LEN, 16385), -EINVAL);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_DST, WIRE_NODES), -EINVAL);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_STREAM, 0x8000), -EINVAL);
	STEP("GO without a length");
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, go), -EINVAL);
	bench_set(t, c + NIC_CTX_LEN, 16384);
	STEP("GO with a range that wraps round the address space");
	bench_set64(t, c + NIC_CTX_LVA, -16383ull);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, go), -EINVAL);
	bench_set64(t, c + NIC_CTX_LVA, -16384ull);
	bench_set64(t, c + NIC_CTX_RVA, -16383ull);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, go), -EINVAL);
	bench_set64(t, c + NIC_CTX_RVA, -16384ull);
	STEP("GO with an operation that does not exist");
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, NIC_CTX_CTRL_GO), -EINVAL);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, NIC_CTX_CTRL_GO | 15),
		  -EINVAL);
	STEP("two actions at once, or none");
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL,
			      go | NIC_CTX_CTRL_RELEASE), -EINVAL);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, 0), -EINVAL);
	STEP("RELEASE of a context that is not DONE, KILL without status");
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, NIC_CTX_CTRL_RELEASE),
		  -EINVAL);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, NIC_CTX_CTRL_KILL), -EINVAL);
	EXPECT_EQ(bench_tx_state(t, 0), FL_TX_FREE);
	STEP("READY for a context that was not built");
	EXPECT_EQ(bench_write(t, NIC_ENG_READY, 8), -EINVAL);
	EXPECT_EQ(bench_write(t, NIC_ENG_READY, 8 | NIC_ENG_READY_SIDE),
		  -EINVAL);
	EXPECT_EQ(trace_count(t->trace, EV_ENG_READY_REG), 0);
	bench_set(t, c + NIC_CTX_CTRL, go);
	STEP("a context in use: GO again, or another parameter");
	EXPECT_EQ(bench_write(t, c + NIC_CTX_CTRL, go), -EINVAL);
	EXPECT_EQ(bench_write(t, c + NIC_CTX_LEN, 5), -EINVAL);
	EXPECT_EQ(bench_read(t, c + NIC_CTX_LEN), 16384);
	EXPECT_EQ(bench_read(t, c + NIC_CTX_GEN), 1);
}

TEST("an engine that cannot be is refused")
{
	static const struct engine_config bad[] = {
		{ 64, 8, 8, 14, 1024, 0, NULL, NULL, 0, 0 },
		{ 0, 3, 8, 14, 1024, 0, NULL, NULL, 0, 0 },
		{ 0, 17, 8, 14, 1024, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 0, 14, 1024, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 33, 14, 1024, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 8, 11, 1024, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 8, 17, 1024, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 8, 14, 32, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 8, 14, 8192, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 8, 14, 1000, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 8, 14, 0, 0, NULL, NULL, 0, 0 },
		{ 0, 8, 8, 14, 1024, 0, NULL, NULL, 0, 65 },
	};
	struct engine_env env = {
		.burst_begin = bench_begin, .burst_end = bench_end,
		.frame_get = bench_frame_get, .frame_send = bench_frame_send,
		.irq = bench_irq, .kick = bench_kick,
	};
	struct engine *e;
	unsigned int i;
	int error;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error = 0;
		STEP("case %u", i);
		EXPECT(!bench_engine(&bad[i], &env, &error));
		EXPECT_EQ(error, -EINVAL);
	}
	env.kick = NULL;
	EXPECT(!bench_engine(&bench_config, &env, &error));
	EXPECT_EQ(error, -EINVAL);
	env.kick = bench_kick;
	e = bench_engine(&bench_config, &env, &error);
	EXPECT_EQ(error, 0);
	engine_destroy(e);
	engine_destroy(NULL);
}

TEST("the fault line is up while it is enabled and a fault waits")
{
	const struct bench_block b = { .ctx = 1, .op = FL_OP_WRITE, .len = 10,
				       .lva = BENCH_BASE };
	struct bench *t = bench_new(NULL);

	t->page[0] = PAGE_ABSENT;
	bench_go(t, &b);
	bench_run(t, 0);
	EXPECT(!t->line[ENGINE_LINE_FAULT]);
	EXPECT_EQ(bench_read(t, NIC_ENG_IRQ_STATUS), NIC_ENG_IRQ_STATUS_FAULT);
	bench_set(t, NIC_ENG_IRQ_ENABLE, NIC_ENG_IRQ_ENABLE_FAULT);
	EXPECT(t->line[ENGINE_LINE_FAULT]);
	bench_set(t, NIC_ENG_IRQ_ENABLE, 0);
	EXPECT(!t->line[ENGINE_LINE_FAULT]);
	bench_set(t, NIC_ENG_IRQ_ENABLE, NIC_ENG_IRQ_ENABLE_FAULT);
	bench_set(t, NIC_ENG_FLT_POP, fl_errata_pop());
	EXPECT(!t->line[ENGINE_LINE_FAULT]);
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_COUNT), 0);
	STEP("an empty queue reads as zeros, and popping it does nothing");
	bench_set(t, NIC_ENG_FLT_POP, fl_errata_pop());
	EXPECT_EQ(bench_read(t, NIC_ENG_FLT_LEN), 0);
}

TEST("of each kind a context has one note, the newest, at the end")
{
	const struct bench_block b = { .ctx = 1, .op = FL_OP_WRITE, .len = 10,
				       .lva = BENCH_BASE };
	struct bench_block other = b;
	struct bench *t = bench_new(NULL);
	struct bench_note n;
	unsigned int i;

	bench_go(t, &b);
	bench_run(t, 0);		/* FLYING of generation 1 */
	other.ctx = 2;
	bench_go(t, &other);
	bench_run(t, 0);		/* FLYING of another context */
	for (i = 0; i < 40; i++) {
		bench_kill(t, 1);
		bench_act(t, 1, NIC_CTX_CTRL_RELEASE);
		bench_go(t, &b);
		bench_run(t, 0);
	}
	bench_expect_note(t, FL_NOTE_TX_FLYING, 2);
	n = bench_note(t);
	EXPECT_EQ(n.kind, FL_NOTE_TX_DONE);
	EXPECT_EQ(n.serial, 40);
	n = bench_note(t);
	EXPECT_EQ(n.kind, FL_NOTE_TX_FLYING);
	EXPECT_EQ(n.serial, 41);
	EXPECT(!t->line[ENGINE_LINE_EVENT]);
	EXPECT_EQ(bench_note(t).kind, 0);
}

static uint64_t regs_rnd(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* A frame that is nearly right: what gets furthest before it is refused. */
static void random_frame(uint64_t *x, struct wire_frame *f, unsigned int now)
{
	static const uint8_t answers[] = { WOP_ACK, WOP_REFUSED, WOP_READY,
					   WOP_NAK, WOP_WAIT };
	static const uint8_t blocks[] = { WOP_WRITE, WOP_READ_REQ,
					  WOP_READ_RESP };
	uint64_t r = regs_rnd(x);
	struct wire_answer a = {
		.opcode = answers[r % 5], .ctx = r >> 8 & 7,
		.gen = (uint16_t)(1 + (r >> 16 & 63)), .attempt = r >> 24 & 3,
		.code = (uint8_t)(r >> 32), .map = (uint32_t)regs_rnd(x),
	};
	struct wire_block b = {
		.opcode = blocks[r % 3], .ctx = r >> 8 & 15,
		.gen = (uint16_t)(now / 1024 + (r >> 16 & 1)),
		.attempt = (uint8_t)(now / 256 & 3),
		.va = BENCH_BASE + (r >> 8 & 15) * 0xF00,
		.len = r >> 50 & 1 ? 3000 : 100, .psn = r >> 53 & 3,
		.src = r >> 40 & 1,
		.ref = wire_word(r >> 55 & 7, (uint16_t)(1 + (r >> 58 & 1)),
				 0),
	};

	b.offset = b.psn * 1024;
	b.payload_len = b.offset + 1024 > b.len ? b.len - b.offset : 1024;
	if (b.opcode == WOP_READ_REQ)
		b.offset = b.psn = b.payload_len = 0;
	if (b.payload_len > 1024)
		b.payload_len = 1;
	f->from = (uint8_t)(regs_rnd(x) % 3);
	f->to = 1;
	if (r >> 60 & 1)
		wire_put_answer(f, &a, false);
	else
		wire_put_block(f, &b, false);
	r = regs_rnd(x);
	if (r % 4 == 0)
		f->bytes[(r >> 8) % 72] ^= (uint8_t)(r >> 16);
	if (r % 64 == 1)
		f->len = (uint32_t)(r >> 20) % (WIRE_FRAME_MAX + 100);
	if (r % 128 == 2)
		f->to = (uint8_t)(r >> 20);
	if (r % 128 == 3)
		f->from = (uint8_t)(r >> 20);
}

static void random_register(uint64_t *x, struct bench *t)
{
	uint64_t r = regs_rnd(x), value = regs_rnd(x), v;
	unsigned int i = (unsigned int)(r % REGS), size = r >> 40 & 1 ? 4 : 8;
	uint32_t off = (uint32_t)(r >> 8 & 0x1FFFF);

	if (regs[i].page <= IN_RXC && r >> 41 & 15) {
		off = offset_of(i);
		if (regs[i].page == IN_CTX)
			off += NIC_CTX_BASE(r >> 48 & 7) - NIC_CTX_BASE(1);
		else if (regs[i].page == IN_RXC)
			off += NIC_RXC_BASE(r >> 48 & 7) - NIC_RXC_BASE(1);
		size = regs[i].width / 8;
		/* Few bits, so that reserved ones are mostly 0. */
		if (r >> 52 & 1)
			value &= regs_rnd(x) & regs_rnd(x) & 0x0FFF0FFF;
		if (r >> 53 & 1)
			value = 1ull << (value & 15) | (value >> 60 & 3);
		if (regs[i].offset == NIC_CTX_LVA && regs[i].page == IN_CTX)
			value = BENCH_BASE + (value & 0xFFFFF);
		if (off == NIC_ENG_CTRL)
			value = (r >> 54 & 7) != 0;
	}
	if (r >> 63)
		engine_reg_read(t->e, off, size, &v);
	else
		engine_reg_write(t->e, off, size, value);
}

/* Software that is mostly right, so that blocks come far. */
static void random_software(uint64_t *x, struct bench *t)
{
	static const uint32_t act[] = { NIC_CTX_CTRL_GO, NIC_CTX_CTRL_RELEASE,
					NIC_CTX_CTRL_EXPIRE,
					NIC_CTX_CTRL_KILL |
					FL_ST_KILLED << NIC_CTX_CTRL_CODE_SHIFT };
	static const uint32_t op[] = { FL_OP_WRITE, FL_OP_READ,
				       FL_OP_READ_RESP };
	uint64_t r = regs_rnd(x);
	unsigned int i = r >> 8 & 7, a = r >> 12 & 7;
	uint32_t c = NIC_CTX_BASE(i), ref;
	struct bench_note n;

	switch (r & 3) {
	case 0:
		engine_reg_write(t->e, c + NIC_CTX_STREAM, 4, BENCH_STREAM);
		engine_reg_write(t->e, c + NIC_CTX_LVA, 8,
				 BENCH_BASE + (r >> 16 & 0xFBFFF));
		engine_reg_write(t->e, c + NIC_CTX_LEN, 4,
				 1 + (r >> 36 & 0xFFF));
		engine_reg_write(t->e, c + NIC_CTX_CTRL, 4,
				 act[0] | op[(r >> 50) % 3]);
		break;
	case 1:
		engine_reg_write(t->e, c + NIC_CTX_CTRL, 4,
				 act[a < 4 ? a : 1]);
		break;
	case 2:
		n = bench_note(t);
		if (n.kind == FL_NOTE_RX_OPEN)
			engine_reg_write(t->e, NIC_RXC_BASE(n.index) +
					 NIC_RXC_VERDICT, 4, n.serial << 8 |
					 (uint32_t)BENCH_STREAM << 16);
		break;
	case 3:
		ref = (uint32_t)bench_read(t, NIC_ENG_FLT_REF);
		engine_reg_write(t->e, NIC_ENG_READY, 4,
				 fl_errata_ready(ref & 0x00FF01FF));
		engine_reg_write(t->e, NIC_ENG_FLT_POP, 4,
				 fl_errata_pop());
		break;
	}
	engine_reg_write(t->e, NIC_ENG_CTRL, 4, (r >> 56) != 0);
}

TEST("random frames and register accesses never break the engine")
{
	struct engine_config cfg = bench_config;
	struct wire_frame *f = malloc(sizeof(*f));
	uint64_t x = test_seed() * 0x9E3779B97F4A7C15ull | 1, r;
	struct engine_stats st;
	struct bench *t;
	unsigned int i;

	test_cleanup(free, f);
	memset(f, 0, sizeof(*f));
	cfg.icrc = false;
	t = bench_new(&cfg);
	for (i = 0; i < 400000; i++) {
		r = regs_rnd(&x);
		t->frames = 0;
		t->room = (unsigned int)(r >> 8 & 3);
		t->page[r >> 16 & 0xFF] = r >> 24 & 1 ? 0 : r >> 28 & 3;
		t->hold = (r >> 32 & 31) == 0;
		switch (r & 7) {
		case 0 ... 1:
			random_frame(&x, f, i);
			engine_receive(t->e, f, i);
			break;
		case 2:
			random_register(&x, t);
			break;
		case 3 ... 4:
			random_software(&x, t);
			break;
		case 5:
			engine_step(t->e, 0, i);
			break;
		case 6:
			engine_step(t->e, 1, i);
			break;
		case 7:
			if (r >> 40 & 1)
				engine_burst_resume(t->e, r >> 41 & 1,
						    r >> 42 & 1);
			else
				engine_wire_room(t->e);
			if ((r >> 43 & 0xFFF) == 0)
				engine_reset(t->e);
			break;
		}
		EXPECT_STR(engine_check(t->e) ? engine_check(t->e) : "sound",
			   "sound");
	}
	engine_stats(t->e, &st);
	STEP("%" PRIu64 " blocks sent, %" PRIu64 " landed, %" PRIu64 " bad "
	     "packets, %" PRIu64 " bad register writes", st.blocks_sent,
	     st.blocks_landed, st.bad_packets, st.bad_registers);
	EXPECT(st.blocks_sent > 100 && st.blocks_landed > 100);
	EXPECT(st.bad_packets > 1000 && st.bad_registers > 1000);
	EXPECT(st.faults_local > 10 && st.faults_remote > 10);
}
