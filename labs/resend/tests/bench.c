// SPDX-License-Identifier: BSD-2-Clause
/* See bench.h. */
#include "labs/resend/tests/bench.h"

#include <stdio.h>
#include <string.h>

const struct block a_write = {
	.from = 3, .op = WOP_WRITE, .ctx = 6, .gen = 100,
	.va = VA(40, 500), .len = 5000, .rkey = 0xbeef, .seed = 1,
};

static const char *tx_name(uint64_t state)
{
	static const char *const name[] = { "FREE", "READY", "FLYING",
					    "SRCFAULT", "DSTFAULT", "DONE" };

	return state < 6 ? name[state] : "no state";
}

static const char *rx_name(uint64_t state)
{
	static const char *const name[] = { "FREE", "CHECK", "COLLECT", "WRITE", "FAULT" };

	return state < 5 ? name[state] : "no state";
}

/* As the sheets call it: FL_ST_* without that. */
static const char *status_name(unsigned int status)
{
	static const struct {
		const char *group, *name;
		unsigned int value;
	} all[] = {
#define EENUM(group, name, value, text) { #group, #name, value },
#include "faultline/entries.def"
	};
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].group, "ST") && all[i].value == status)
			return all[i].name;
	return "no status";
}

/*
 * Frames that were taken ahead, and whether that was all: mostly one has left, and no other.
 * What is asked after that may have sent more.
 */
static struct {
	struct subject_msg m[2];
	unsigned int next, end;
	bool all;
} taken;

/* Whatever was done, the engine's tables must agree with each other. */
static void bench_sound(const struct subject_msg *m, const uint64_t *want)
{
	char check[sizeof(uint64_t) * (SUBJECT_ARGS - LAB_AT_CHECK) + 1] = "";

	(void)want;
	memcpy(check, &m->arg[LAB_AT_CHECK], sizeof(check) - 1);
	judge_same("the engine's tables (engine_check)", check[0] ? check : "sound", "sound");
}

static void bench_ask_all(struct subject_msg *m, unsigned int n)
{
	taken.all = false;
	judge_ask_all(m, n);
	while (n--)
		bench_sound(m++, NULL);
}

static uint64_t bench_ask(struct subject_msg *m)
{
	bench_ask_all(m, 1);
	return m->arg[0];
}

/* What is done, and what is looked at when other answers are; a look sends no frame. */
static void bench_do(const struct subject_msg *m)
{
	taken.all = false;
	judge_tell(m, bench_sound, NULL);
}

static void bench_do2(uint32_t op, uint64_t a, uint64_t b)
{
	bench_do(&(struct subject_msg){ .op = op, .arg = { a, b } });
}

static void bench_expect(uint32_t op, uint64_t a, uint64_t b, judge_check *check,
			 const uint64_t *want)
{
	judge_tell(&(struct subject_msg){ .op = op, .arg = { a, b } }, check, want);
}

static void bench_written(const struct subject_msg *m, const uint64_t *want)
{
	bench_sound(m, want);
	judge_equal("the register write was refused", m->arg[0], 0);
}

static void bench_write_reg(uint32_t off, unsigned int bytes, uint64_t value)
{
	taken.all = false;
	judge_tell(&(struct subject_msg){ .op = LAB_REG_WRITE, .arg = { off, bytes, value } },
		   bench_written, NULL);
}

static uint64_t bench_read_reg(uint32_t off)
{
	struct subject_msg m = { .op = LAB_REG_READ, .arg = { off, 4 } };

	return bench_ask(&m);
}

void bench_sized(unsigned int contexts, unsigned int rx_contexts)
{
	judge_did("a new engine, %u contexts, %u receive contexts", contexts, rx_contexts);
	taken.next = taken.end = 0;
	bench_do2(LAB_NEW, contexts, rx_contexts);
}

void bench_new(void)
{
	bench_sized(8, 8);
}

uint64_t bench_source(unsigned int ctx)
{
	return VA(2 * ctx, 100);
}

void bench_go(unsigned int ctx, unsigned int op, unsigned int len)
{
	uint32_t c = NIC_CTX_BASE(ctx);

	judge_did("context %u: GO, %s, %u bytes to node 3", ctx,
		  op == FL_OP_WRITE ? "WRITE" :
		  op == FL_OP_READ ? "READ" : "READ_RESP", len);
	bench_write_reg(c + NIC_CTX_DST, 4, 3 << NIC_CTX_DST_NODE_SHIFT |
					    17 << NIC_CTX_DST_QPN_SHIFT);
	bench_write_reg(c + NIC_CTX_STREAM, 4, LAB_STREAM);
	bench_write_reg(c + NIC_CTX_LVA, 8, bench_source(ctx));
	bench_write_reg(c + NIC_CTX_RVA, 8, 0x1000);
	bench_write_reg(c + NIC_CTX_LEN, 4, len);
	bench_write_reg(c + NIC_CTX_RKEY, 4, 0xbeef);
	bench_write_reg(c + NIC_CTX_LEFT, 8, 70000);
	bench_write_reg(c + NIC_CTX_XFER, 4, 4);
	bench_write_reg(c + NIC_CTX_BLOCK, 4, ctx);
	bench_write_reg(c + NIC_CTX_CTRL, 4, NIC_CTX_CTRL_GO | op << NIC_CTX_CTRL_OP_SHIFT);
}

void bench_act(unsigned int ctx, uint32_t act, unsigned int code)
{
	if (act == NIC_CTX_CTRL_KILL)
		judge_did("context %u: KILL, status %u (%s)", ctx, code, status_name(code));
	else
		judge_did("context %u: %s", ctx, act == NIC_CTX_CTRL_EXPIRE ?
						 "EXPIRE" : "RELEASE");
	bench_write_reg(NIC_CTX_BASE(ctx) + NIC_CTX_CTRL, 4,
			act | code << NIC_CTX_CTRL_CODE_SHIFT);
}

void bench_expire(unsigned int ctx)
{
	bench_act(ctx, NIC_CTX_CTRL_EXPIRE, 0);
}

void bench_kill(unsigned int ctx)
{
	bench_act(ctx, NIC_CTX_CTRL_KILL, FL_ST_KILLED);
}

static const char *note_name(unsigned int kind)
{
	switch (kind) {
#define FNOTE(name, value, text) case FL_NOTE_##name: return #name;
#include "faultline/fsm.def"
	}
	return "unknown";
}

/* What EVT_POP gave must be a note of this kind. */
static void note_is(uint64_t v, unsigned int kind)
{
	judge_same("the next note for the firmware",
		   v & NIC_ENG_EVT_POP_VALID ?
			note_name(v >> NIC_ENG_EVT_POP_KIND_SHIFT & 0xff) : "none",
		   note_name(kind));
}

/* What the firmware hears of blocks that landed is none of the students' work. */
static uint64_t pop_note(void)
{
	uint64_t v;

	do
		v = bench_read_reg(NIC_ENG_EVT_POP);
	while (v & NIC_ENG_EVT_POP_VALID &&
	       (v & NIC_ENG_EVT_POP_KIND_MASK) == FL_NOTE_RX_LANDED);
	return v;
}

unsigned int bench_note(unsigned int kind)
{
	uint64_t v = pop_note();

	note_is(v, kind);
	return v >> NIC_ENG_EVT_POP_INDEX_SHIFT & 0xff;
}

void bench_no_note(void)
{
	judge_equal("a note for the firmware", !!(pop_note() & NIC_ENG_EVT_POP_VALID), 0);
}

void bench_verdict(unsigned int rxc, unsigned int serial, unsigned int code)
{
	judge_did("receive context %u: verdict %u", rxc, code);
	bench_write_reg(NIC_RXC_BASE(rxc) + NIC_RXC_VERDICT, 4,
			code << NIC_RXC_VERDICT_CODE_SHIFT |
			serial << NIC_RXC_VERDICT_SERIAL_SHIFT |
			(uint32_t)LAB_STREAM << NIC_RXC_VERDICT_STREAM_SHIFT);
}

unsigned int bench_open(unsigned int *serial)
{
	uint64_t v = pop_note();

	note_is(v, FL_NOTE_RX_OPEN);
	*serial = v >> NIC_ENG_EVT_POP_SERIAL_SHIFT & 0xff;
	return v >> NIC_ENG_EVT_POP_INDEX_SHIFT & 0xff;
}

unsigned int bench_judge(unsigned int code)
{
	unsigned int serial, rxc = bench_open(&serial);

	bench_verdict(rxc, serial, code);
	return rxc;
}

void bench_page(unsigned int page, bool missing)
{
	judge_did("page %u is %s", page, missing ? "missing" : "there");
	bench_do2(LAB_PAGE, page, missing);
}

unsigned int bench_pop(unsigned int side, unsigned int index)
{
	uint64_t v = bench_read_reg(NIC_ENG_FLT_REF);

	judge_equal("a fault in the queue", !!(v & NIC_ENG_FLT_REF_VALID), 1);
	judge_equal("its side", v >> NIC_ENG_FLT_REF_SIDE_SHIFT & 1, side);
	judge_equal("its context", v >> NIC_ENG_FLT_REF_INDEX_SHIFT & 0xff, index);
	judge_did("the driver takes the fault of %s context %u",
		  side == TX ? "transmit" : "receive", index);
	bench_write_reg(NIC_ENG_FLT_POP, 4, fl_errata_pop());
	return v >> NIC_ENG_FLT_REF_SERIAL_SHIFT & 0xff;
}

void bench_ready(unsigned int side, unsigned int index, unsigned int serial,
		 unsigned int code)
{
	judge_did("the driver writes READY: %s context %u, serial %u, code %u",
		  side == TX ? "transmit" : "receive", index, serial & 0xff, code);
	bench_write_reg(NIC_ENG_READY, 4,
			fl_errata_ready(index << NIC_ENG_READY_INDEX_SHIFT |
					side << NIC_ENG_READY_SIDE_SHIFT |
					code << NIC_ENG_READY_CODE_SHIFT |
					(serial & 0xff) <<
					NIC_ENG_READY_SERIAL_SHIFT));
}

void bench_faults(unsigned int n)
{
	judge_equal("faults in the queue", bench_read_reg(NIC_ENG_FLT_COUNT), n);
}

void bench_run(unsigned int channel)
{
	judge_did("the %s channel runs until it sleeps",
		  channel == SENDS ? "read" : "write");
	bench_do2(LAB_STEP, channel, 0);
}

void bench_steps(unsigned int channel, unsigned int n)
{
	judge_did("the %s channel makes %u step%s",
		  channel == SENDS ? "read" : "write", n, n == 1 ? "" : "s");
	bench_do2(LAB_STEP, channel, n);
}

void bench_room(uint64_t frames)
{
	if (frames < 1000)
		judge_did("the wire has room for %u frames", (unsigned int)frames);
	else
		judge_did("the wire has room again");
	bench_do2(LAB_ROOM, frames, 0);
}

static void bench_peer_says(unsigned int from, unsigned int op,
			    unsigned int ctx, unsigned int gen,
			    unsigned int attempt, unsigned int code)
{
	if (op == WOP_NAK || code)
		judge_did("node %u says %s: context %u, generation %u, "
			  "attempt %u, status %u (%s)", from,
			  wire_opcode_name((uint8_t)op), ctx, gen & 0xffff,
			  attempt & 0xff, code, status_name(code));
	else
		judge_did("node %u says %s: context %u, generation %u, "
			  "attempt %u", from, wire_opcode_name((uint8_t)op), ctx,
			  gen & 0xffff, attempt & 0xff);
	bench_do(&(struct subject_msg){ .op = LAB_ANSWER,
					.arg = { from, op, ctx, gen, attempt, code } });
}

void bench_says(unsigned int from, unsigned int op, unsigned int ctx,
		unsigned int gen, unsigned int attempt)
{
	bench_peer_says(from, op, ctx, gen, attempt, 0);
}

void bench_nak(unsigned int from, unsigned int ctx, unsigned int gen,
	       unsigned int attempt, unsigned int code)
{
	bench_peer_says(from, WOP_NAK, ctx, gen, attempt, code);
}

void bench_refused(unsigned int from, unsigned int ctx, unsigned int gen,
		   unsigned int attempt, unsigned int code)
{
	bench_peer_says(from, WOP_REFUSED, ctx, gen, attempt, code);
}

static void bench_send(const struct block *b, unsigned int cell)
{
	bench_do(&(struct subject_msg){ .op = LAB_CELL, .arg = {
		b->from, b->op, b->ctx, b->gen, b->attempt, b->va, b->len,
		b->rkey, b->ref, cell * LAB_CELL_BYTES, b->seed } });
}

static void bench_tell(const struct block *b, const char *what)
{
	judge_did("node %u sends %s of a %s: context %u, generation %u, "
		  "attempt %u", b->from, what,
		  wire_opcode_name((uint8_t)b->op), b->ctx, b->gen & 0xffff, b->attempt & 0xff);
}

void bench_cell(const struct block *b, unsigned int n)
{
	char what[32];

	snprintf(what, sizeof(what), "cell %u", n);
	bench_tell(b, what);
	bench_send(b, n);
}

void bench_block(const struct block *b)
{
	unsigned int n;

	bench_tell(b, "all cells, the first one twice,");
	bench_send(b, 0);
	for (n = 0; n < CELLS(b->len); n++)
		bench_send(b, n);
}

unsigned int bench_land(const struct block *b)
{
	unsigned int rxc;

	bench_block(b);
	rxc = bench_judge(0);
	bench_run(WRITES);
	return rxc;
}

struct block bench_attempt(unsigned int gen, unsigned int attempt)
{
	struct block b = a_write;

	b.gen = gen;
	b.attempt = attempt;
	return b;
}

unsigned int bench_tx_state(unsigned int ctx)
{
	return bench_read_reg(NIC_CTX_BASE(ctx) + NIC_CTX_STATE) & NIC_CTX_STATE_STATE_MASK;
}

static void check_tx(const struct subject_msg *m, const uint64_t *want)
{
	uint64_t v = m->arg[0];
	char what[40], came[60], wanted[60];

	bench_sound(m, want);
	snprintf(what, sizeof(what), "transmit context %u", (unsigned int)want[0]);
	snprintf(came, sizeof(came), "%s, attempt %u", tx_name(v & NIC_CTX_STATE_STATE_MASK),
		 (unsigned int)((v & NIC_CTX_STATE_ATTEMPT_MASK) >> NIC_CTX_STATE_ATTEMPT_SHIFT));
	snprintf(wanted, sizeof(wanted), "%s, attempt %u", tx_name(want[1]),
		 (unsigned int)want[2]);
	judge_same(what, came, wanted);
}

void bench_tx(unsigned int ctx, unsigned int state, unsigned int attempt)
{
	bench_expect(LAB_REG_READ, NIC_CTX_BASE(ctx) + NIC_CTX_STATE, 4, check_tx,
		     WANTS(ctx, state, attempt));
}

void bench_ended(unsigned int ctx, unsigned int status)
{
	bench_stands(ctx, FL_TX_DONE, status);
}

static void check_stands(const struct subject_msg *m, const uint64_t *want)
{
	unsigned int is = (m->arg[0] & NIC_CTX_STATE_STATUS_MASK) >> NIC_CTX_STATE_STATUS_SHIFT;
	unsigned int status = (unsigned int)want[2];
	char what[40], came[100], wanted[100];

	bench_sound(m, want);
	snprintf(what, sizeof(what), "transmit context %u", (unsigned int)want[0]);
	snprintf(came, sizeof(came), "%s, status %u (%s)",
		 tx_name(m->arg[0] & NIC_CTX_STATE_STATE_MASK), is, status_name(is));
	snprintf(wanted, sizeof(wanted), "%s, status %u (%s)", tx_name(want[1]), status,
		 status_name(status));
	judge_same(what, came, wanted);
}

void bench_stands(unsigned int ctx, unsigned int state, unsigned int status)
{
	bench_expect(LAB_REG_READ, NIC_CTX_BASE(ctx) + NIC_CTX_STATE, 4, check_stands,
		     WANTS(ctx, state, status));
}

unsigned int bench_rx_state(unsigned int rxc)
{
	return bench_read_reg(NIC_RXC_BASE(rxc) + NIC_RXC_STATE) & NIC_RXC_STATE_STATE_MASK;
}

void bench_rx(unsigned int rxc, unsigned int state)
{
	char what[40];

	snprintf(what, sizeof(what), "receive context %u", rxc);
	judge_same(what, rx_name(bench_rx_state(rxc)), rx_name(state));
}

static void check_counts(const struct subject_msg *m, const uint64_t *want)
{
	static const char *const what[] = {
		"packets that were too late (stale)", "duplicates",
		"bad packets", "packets without a context",
		"blocks sent again", "blocks refused",
	};

	bench_sound(m, want);
	judge_equal(what[want[0]], m->arg[want[0]], want[1]);
}

void bench_counts(unsigned int which, uint64_t n)
{
	bench_expect(LAB_STATS, 0, 0, check_counts, WANTS(which, n));
}

static uint64_t bench_sum_of(uint64_t seed, uint64_t at, uint64_t len)
{
	uint64_t sum = 0, i;

	for (i = at; i < at + len; i++)
		sum = lab_add(sum, lab_byte(seed, i));
	return sum;
}

static void check_landed(const struct subject_msg *m, const uint64_t *want)
{
	bench_sound(m, want);
	judge_same("the block's bytes in memory",
		   m->arg[0] == bench_sum_of(want[0], 0, want[1]) ? "as sent" : "others",
		   "as sent");
}

void bench_landed(const struct block *b)
{
	bench_expect(LAB_SUM, b->va, b->len, check_landed,
		     WANTS(b->seed, b->len));
}

static void check_untouched(const struct subject_msg *m, const uint64_t *want)
{
	bench_sound(m, want);
	judge_same("memory", m->arg[0] == bench_sum_of(0, want[0], want[1]) ?
		   "as before" : "written to", "as before");
}

void bench_untouched(uint64_t va, unsigned int len)
{
	bench_expect(LAB_SUM, va, len, check_untouched,
		     WANTS(va - LAB_BASE, len));
}

static void taken_keep(const struct subject_msg m[2])
{
	memcpy(taken.m, m, sizeof(taken.m));
	taken.next = 0;
	taken.end = !!m[0].arg[0] + !!m[1].arg[0];
	taken.all = taken.end < 2;
}

void bench_look_around(uint64_t *note, uint64_t *fault)
{
	struct subject_msg m[] = { { .op = LAB_REG_READ, .arg = { NIC_ENG_EVT_POP, 4 } },
				   { .op = LAB_REG_READ, .arg = { NIC_ENG_FLT_REF, 4 } },
				   { .op = LAB_TAKE }, { .op = LAB_TAKE } };
	bool take = taken.next == taken.end;

	bench_ask_all(m, take ? 4 : 2);
	if (take)
		taken_keep(&m[2]);
	*note = m[0].arg[0];
	*fault = m[1].arg[0];
}

const struct sent *bench_take(void)
{
	struct subject_msg m[] = { { .op = LAB_TAKE }, { .op = LAB_TAKE } };
	static struct sent s;
	const uint64_t *a;

	if (taken.next == taken.end && !taken.all) {
		bench_ask_all(m, 2);
		taken_keep(m);
	}
	if (taken.next == taken.end) {
		taken.all = false;
		return NULL;
	}
	a = taken.m[taken.next++].arg;
	s = (struct sent){ (unsigned int)a[1], (unsigned int)a[2], (unsigned int)a[3],
			   (unsigned int)a[4], (unsigned int)a[5], a[6], a[7] };
	return &s;
}

static const char *sent_name(const struct sent *s)
{
	static char text[2][120];
	static unsigned int turn;
	char *t = text[turn++ & 1];

	if (!s)
		return "nothing";
	snprintf(t, sizeof(text[0]), "%s to node %u: context %u, generation %u, "
		 "attempt %u, %s %u", wire_opcode_name((uint8_t)s->op), s->to,
		 s->ctx, s->gen, s->attempt,
		 wire_is_block((uint8_t)s->op) ? "offset" : "code",
		 (unsigned int)s->code);
	return t;
}

void bench_sent_nothing(void)
{
	judge_same("the next frame that left", sent_name(bench_take()), "nothing");
}

void bench_sent_answer(const struct block *b, unsigned int op, unsigned int code,
		       unsigned int map)
{
	struct sent want = { op, b->from, b->ctx, b->gen & 0xffff,
			     b->attempt & 0xff, code, map };
	const struct sent *s = bench_take();

	judge_same("the next frame that left", sent_name(s), sent_name(&want));
	judge_equal("its map of pages", s->map, map);
}

void bench_sent_block(unsigned int ctx, unsigned int gen, unsigned int attempt,
		      unsigned int len)
{
	uint64_t at = bench_source(ctx) - LAB_BASE;
	const struct sent *s;
	unsigned int off, n;

	for (off = 0; off < len; off += n) {
		struct sent want = { WOP_WRITE, 3, ctx, gen, attempt, off, 0 };

		n = len - off < LAB_CELL_BYTES ? len - off : LAB_CELL_BYTES;
		s = bench_take();
		judge_same("the next frame that left", sent_name(s), sent_name(&want));
		judge_same("its bytes", s->map == bench_sum_of(0, at + off, n) ?
			   "those of the source" : "others",
			   "those of the source");
	}
}
