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
	static const char *const name[] = { "FREE", "CHECK", "COLLECT",
					    "WRITE", "FAULT" };

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

/* Ask; whatever was done, the engine's tables must agree with each other. */
static void bench_ask_all(struct subject_msg *m, unsigned int n)
{
	char check[sizeof(uint64_t) * (SUBJECT_ARGS - LAB_AT_CHECK) + 1] = "";

	taken.all = false;
	judge_ask_all(m, n);
	for (; n; n--, m++) {
		memcpy(check, &m->arg[LAB_AT_CHECK], sizeof(check) - 1);
		judge_same("the engine's tables (engine_check)",
			   check[0] ? check : "sound", "sound");
	}
}

static uint64_t bench_ask(struct subject_msg *m)
{
	bench_ask_all(m, 1);
	return m->arg[0];
}

static uint64_t bench_ask3(uint32_t op, uint64_t a, uint64_t b, uint64_t c)
{
	struct subject_msg m = { .op = op, .arg = { a, b, c } };

	return bench_ask(&m);
}

static const char refused[] = "the register write was refused";

static void bench_write_reg(uint32_t off, uint64_t value)
{
	judge_equal(refused, bench_ask3(LAB_REG_WRITE, off, 4, value), 0);
}

static uint64_t bench_read_reg(uint32_t off)
{
	return bench_ask3(LAB_REG_READ, off, 4, 0);
}

void bench_sized(unsigned int contexts, unsigned int rx_contexts)
{
	judge_did("a new engine, %u contexts, %u receive contexts", contexts,
		  rx_contexts);
	taken.next = taken.end = 0;
	bench_ask3(LAB_NEW, contexts, rx_contexts, 0);
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
	struct subject_msg m[] = {
		{ .arg = { c + NIC_CTX_DST, 4, 3 << NIC_CTX_DST_NODE_SHIFT |
					       17 << NIC_CTX_DST_QPN_SHIFT } },
		{ .arg = { c + NIC_CTX_STREAM, 4, LAB_STREAM } },
		{ .arg = { c + NIC_CTX_LVA, 8, bench_source(ctx) } },
		{ .arg = { c + NIC_CTX_RVA, 8, 0x1000 } },
		{ .arg = { c + NIC_CTX_LEN, 4, len } },
		{ .arg = { c + NIC_CTX_RKEY, 4, 0xbeef } },
		{ .arg = { c + NIC_CTX_LEFT, 8, 70000 } },
		{ .arg = { c + NIC_CTX_XFER, 4, 4 } },
		{ .arg = { c + NIC_CTX_BLOCK, 4, ctx } },
		{ .arg = { c + NIC_CTX_CTRL, 4,
			   NIC_CTX_CTRL_GO | op << NIC_CTX_CTRL_OP_SHIFT } },
	};
	unsigned int i;

	judge_did("context %u: GO, %s, %u bytes to node 3", ctx,
		  op == FL_OP_WRITE ? "WRITE" :
		  op == FL_OP_READ ? "READ" : "READ_RESP", len);
	for (i = 0; i < sizeof(m) / sizeof(m[0]); i++)
		m[i].op = LAB_REG_WRITE;
	bench_ask_all(m, i);
	while (i--)
		judge_equal(refused, m[i].arg[0], 0);
}

void bench_act(unsigned int ctx, uint32_t act, unsigned int code)
{
	if (act == NIC_CTX_CTRL_KILL)
		judge_did("context %u: KILL, status %u (%s)", ctx, code,
			  status_name(code));
	else
		judge_did("context %u: %s", ctx, act == NIC_CTX_CTRL_EXPIRE ?
						 "EXPIRE" : "RELEASE");
	bench_write_reg(NIC_CTX_BASE(ctx) + NIC_CTX_CTRL,
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
	judge_equal("a note for the firmware",
		    !!(pop_note() & NIC_ENG_EVT_POP_VALID), 0);
}

void bench_verdict(unsigned int rxc, unsigned int serial, unsigned int code)
{
	judge_did("receive context %u: verdict %u", rxc, code);
	bench_write_reg(NIC_RXC_BASE(rxc) + NIC_RXC_VERDICT,
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
	bench_ask3(LAB_PAGE, page, missing, 0);
}

unsigned int bench_pop(unsigned int side, unsigned int index)
{
	uint64_t v = bench_read_reg(NIC_ENG_FLT_REF);

	judge_equal("a fault in the queue", !!(v & NIC_ENG_FLT_REF_VALID), 1);
	judge_equal("its side", v >> NIC_ENG_FLT_REF_SIDE_SHIFT & 1, side);
	judge_equal("its context", v >> NIC_ENG_FLT_REF_INDEX_SHIFT & 0xff,
		    index);
	judge_did("the driver takes the fault of %s context %u",
		  side == TX ? "transmit" : "receive", index);
	bench_write_reg(NIC_ENG_FLT_POP, fl_errata_pop());
	return v >> NIC_ENG_FLT_REF_SERIAL_SHIFT & 0xff;
}

void bench_ready(unsigned int side, unsigned int index, unsigned int serial,
		 unsigned int code)
{
	judge_did("the driver writes READY: %s context %u, serial %u, code %u",
		  side == TX ? "transmit" : "receive", index, serial & 0xff,
		  code);
	bench_write_reg(NIC_ENG_READY,
			fl_errata_ready(index << NIC_ENG_READY_INDEX_SHIFT |
					side << NIC_ENG_READY_SIDE_SHIFT |
					code << NIC_ENG_READY_CODE_SHIFT |
					(serial & 0xff) <<
					NIC_ENG_READY_SERIAL_SHIFT));
}

void bench_faults(unsigned int n)
{
	judge_equal("faults in the queue", bench_read_reg(NIC_ENG_FLT_COUNT),
		    n);
}

void bench_run(unsigned int channel)
{
	judge_did("the %s channel runs until it sleeps",
		  channel == SENDS ? "read" : "write");
	bench_ask3(LAB_STEP, channel, 0, 0);
}

void bench_steps(unsigned int channel, unsigned int n)
{
	judge_did("the %s channel makes %u step%s",
		  channel == SENDS ? "read" : "write", n, n == 1 ? "" : "s");
	bench_ask3(LAB_STEP, channel, n, 0);
}

void bench_room(uint64_t frames)
{
	if (frames < 1000)
		judge_did("the wire has room for %u frames",
			  (unsigned int)frames);
	else
		judge_did("the wire has room again");
	bench_ask3(LAB_ROOM, frames, 0, 0);
}

static void bench_peer_says(unsigned int from, unsigned int op,
			    unsigned int ctx, unsigned int gen,
			    unsigned int attempt, unsigned int code)
{
	struct subject_msg m = { .op = LAB_ANSWER,
		.arg = { from, op, ctx, gen, attempt, code } };

	if (op == WOP_NAK || code)
		judge_did("node %u says %s: context %u, generation %u, "
			  "attempt %u, status %u (%s)", from,
			  wire_opcode_name((uint8_t)op), ctx, gen & 0xffff,
			  attempt & 0xff, code, status_name(code));
	else
		judge_did("node %u says %s: context %u, generation %u, "
			  "attempt %u", from, wire_opcode_name((uint8_t)op), ctx,
			  gen & 0xffff, attempt & 0xff);
	bench_ask(&m);
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

static struct subject_msg cell_of(const struct block *b, unsigned int n)
{
	return (struct subject_msg){ .op = LAB_CELL, .arg = {
		b->from, b->op, b->ctx, b->gen, b->attempt, b->va, b->len,
		b->rkey, b->ref, n * LAB_CELL_BYTES, b->seed } };
}

static void bench_tell(const struct block *b, const char *what)
{
	judge_did("node %u sends %s of a %s: context %u, generation %u, "
		  "attempt %u", b->from, what,
		  wire_opcode_name((uint8_t)b->op), b->ctx, b->gen & 0xffff,
		  b->attempt & 0xff);
}

void bench_cell(const struct block *b, unsigned int n)
{
	struct subject_msg m = cell_of(b, n);
	char what[32];

	snprintf(what, sizeof(what), "cell %u", n);
	bench_tell(b, what);
	bench_ask(&m);
}

void bench_block(const struct block *b)
{
	struct subject_msg m[1 + CELLS(1u << LAB_BLOCK_LOG2)];
	unsigned int n;

	bench_tell(b, "all cells, the first one twice,");
	m[0] = cell_of(b, 0);
	for (n = 0; n < CELLS(b->len); n++)
		m[1 + n] = cell_of(b, n);
	bench_ask_all(m, 1 + n);
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

unsigned int bench_tx_state(unsigned int ctx, unsigned int *attempt)
{
	uint64_t v = bench_read_reg(NIC_CTX_BASE(ctx) + NIC_CTX_STATE);

	*attempt = (v & NIC_CTX_STATE_ATTEMPT_MASK) >>
		   NIC_CTX_STATE_ATTEMPT_SHIFT;
	return v & NIC_CTX_STATE_STATE_MASK;
}

void bench_tx(unsigned int ctx, unsigned int state, unsigned int attempt)
{
	char what[40], came[60], want[60];
	unsigned int is, n;

	is = bench_tx_state(ctx, &n);
	snprintf(what, sizeof(what), "transmit context %u", ctx);
	snprintf(came, sizeof(came), "%s, attempt %u", tx_name(is), n);
	snprintf(want, sizeof(want), "%s, attempt %u", tx_name(state), attempt);
	judge_same(what, came, want);
}

void bench_ended(unsigned int ctx, unsigned int status)
{
	bench_stands(ctx, FL_TX_DONE, status);
}

void bench_stands(unsigned int ctx, unsigned int state, unsigned int status)
{
	uint64_t v = bench_read_reg(NIC_CTX_BASE(ctx) + NIC_CTX_STATE);
	unsigned int is = (v & NIC_CTX_STATE_STATUS_MASK) >>
			  NIC_CTX_STATE_STATUS_SHIFT;
	char what[40], came[100], want[100];

	snprintf(what, sizeof(what), "transmit context %u", ctx);
	snprintf(came, sizeof(came), "%s, status %u (%s)",
		 tx_name(v & NIC_CTX_STATE_STATE_MASK), is,
		 status_name(is));
	snprintf(want, sizeof(want), "%s, status %u (%s)", tx_name(state),
		 status, status_name(status));
	judge_same(what, came, want);
}

unsigned int bench_rx_state(unsigned int rxc)
{
	return bench_read_reg(NIC_RXC_BASE(rxc) + NIC_RXC_STATE) &
	       NIC_RXC_STATE_STATE_MASK;
}

void bench_rx(unsigned int rxc, unsigned int state)
{
	char what[40];

	snprintf(what, sizeof(what), "receive context %u", rxc);
	judge_same(what, rx_name(bench_rx_state(rxc)), rx_name(state));
}

void bench_counts(unsigned int which, uint64_t n)
{
	static const char *const what[] = {
		"packets that were too late (stale)", "duplicates",
		"bad packets", "packets without a context",
		"blocks sent again", "blocks refused",
	};
	struct subject_msg m = { .op = LAB_STATS };

	bench_ask(&m);
	judge_equal(what[which], m.arg[which], n);
}

static uint64_t bench_sum_of(uint64_t seed, uint64_t at, uint64_t len)
{
	uint64_t sum = 0, i;

	for (i = at; i < at + len; i++)
		sum = lab_add(sum, lab_byte(seed, i));
	return sum;
}

void bench_landed_all(const struct block *const *b, unsigned int n)
{
	struct subject_msg m[SUBJECT_ASKED];
	unsigned int i;

	for (i = 0; i < n; i++)
		m[i] = (struct subject_msg){ .op = LAB_SUM, .arg = { b[i]->va, b[i]->len } };
	bench_ask_all(m, n);
	for (i = 0; i < n; i++)
		judge_same("the block's bytes in memory", m[i].arg[0] ==
			   bench_sum_of(b[i]->seed, 0, b[i]->len) ? "as sent" : "others",
			   "as sent");
}

void bench_landed(const struct block *b)
{
	bench_landed_all(&b, 1);
}

void bench_untouched(uint64_t va, unsigned int len)
{
	judge_same("memory", bench_ask3(LAB_SUM, va, len, 0) ==
		   bench_sum_of(0, va - LAB_BASE, len) ? "as before" :
		   "written to", "as before");
}

const struct sent *bench_take(void)
{
	static struct sent s;
	const uint64_t *a;

	if (taken.next == taken.end && !taken.all) {
		taken.m[0] = taken.m[1] = (struct subject_msg){ .op = LAB_TAKE };
		bench_ask_all(taken.m, 2);
		taken.next = 0;
		taken.end = !!taken.m[0].arg[0] + !!taken.m[1].arg[0];
		taken.all = taken.end < 2;
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
	judge_same("the next frame that left", sent_name(bench_take()),
		   "nothing");
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
		judge_same("the next frame that left", sent_name(s),
			   sent_name(&want));
		judge_same("its bytes", s->map == bench_sum_of(0, at + off, n) ?
			   "those of the source" : "others",
			   "those of the source");
	}
}
