// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine in Verilog against the one in C, at random: two nodes, each of them both
 * engines side by side, over a wire that loses, doubles, damages and reorders, with
 * pages that are missing, bursts that are held, no room, kills, timers that run
 * out, resets, and registers that are written without sense. The first difference
 * ends it (engine_plugin.h).
 *
 *	random [--seed N] [--transactions N] [--longest BYTES] [--alone]
 *
 * A transaction is a block that came to DONE. --longest: what a block and a cell carry at
 * most, for a simulator that is slow (64 at least). --alone: the Verilog without C
 * beside it, to see how fast it is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "faultline/entries.h"
#include "faultline/errata.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "rtl/cosim/engine_plugin.h"
#include "rtl/cosim/random_reached.h"
#include "trace/cause.h"

#define NODES		2
#define QUEUE		64
#define OLD		64
#define ROUND		250	/* transactions with the same engines */
#define STREAM		5

struct node {
	struct engine *e;
	struct engine_cause cause;
	struct wire_frame frame;	/* that random_frame_get() hands out */
	struct wire_frame queue[QUEUE];	/* on the way here */
	unsigned int queued;
	bool held[2], awake[2];
	bool event, fault;		/* there are notes, faults */
	uint8_t block_log2;		/* its largest block */
};

static struct {
	uint64_t state;			/* of the random numbers */
	uint32_t longest;		/* block */
	uint64_t now_ns, seq, calls, done, cycles, refused;
	bool alone, in_packet;
	const struct engine_plugin *plugin;
	struct engine_config cfg;
	struct node node[NODES];
	struct wire_frame old[OLD];
} w;

/* splitmix64 */
static uint64_t random_u64(void)
{
	uint64_t z = w.state += 0x9E3779B97F4A7C15ull;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

static unsigned int random_below(unsigned int n)
{
	return (unsigned int)(random_u64() >> 32) % n;
}

static bool one_in(unsigned int n)
{
	return !random_below(n);
}

/* ---- the environment of an engine ---- */

static enum dma_status dma_begin(void *ctx, struct dma_burst *b)
{
	struct node *n = ctx;
	unsigned int r = random_below(100);

	b->pa = b->va ^ 0x5000;
	b->delay_ns = random_below(500);
	b->event = one_in(2) ? ++w.seq : 0;
	if (r < 6) {
		n->held[b->channel] = true;
		return DMA_STALLED;
	}
	return r < 16 ? DMA_SLVERR : r < 17 ? DMA_DECERR : DMA_OK;
}

static enum dma_status dma_end(void *ctx, struct dma_burst *b, void *buf)
{
	uint8_t *p = buf;
	uint32_t i;

	(void)ctx;
	for (i = 0; i < b->len && !b->write; i++)
		p[i] = (uint8_t)((b->va + i) * 2654435761u >> 11);
	return one_in(200) ? DMA_DECERR : DMA_OK;
}

static struct wire_frame *random_frame_get(void *ctx)
{
	return one_in(12) ? NULL : &((struct node *)ctx)->frame;
}

static void node_put(struct node *to, const struct wire_frame *f)
{
	unsigned int at = to->queued ?
		to->queued - random_below(to->queued < 4 ?
						to->queued : 4) : 0;

	if (to->queued == QUEUE)
		return;
	memmove(&to->queue[at + 1], &to->queue[at],
		(to->queued - at) * sizeof(*f));
	to->queue[at] = *f;
	to->queued++;
}

static uint64_t frame_send(void *ctx, struct wire_frame *f)
{
	(void)ctx;
	reached_frame(f, w.cfg.icrc, w.in_packet);
	w.old[random_below(OLD)] = *f;
	if (f->to >= NODES || one_in(30))
		return random_below(200);
	node_put(&w.node[f->to], f);
	if (one_in(30))
		node_put(&w.node[f->to], f);
	return random_below(200);
}

static void node_irq(void *ctx, unsigned int line, bool level)
{
	if (line == ENGINE_LINE_EVENT)
		((struct node *)ctx)->event = level;
	else
		((struct node *)ctx)->fault = level;
}

static void node_kick(void *ctx, unsigned int channel)
{
	((struct node *)ctx)->awake[channel] = true;
}

static uint64_t node_emit(void *ctx, unsigned int ev, const struct trace_at *at,
			  uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	(void)ctx, (void)at, (void)a0, (void)a1, (void)a2, (void)a3;
	w.done += ev == EV_TX_STATE && a3 == FL_TX_DONE;
	return ++w.seq;
}

/* ---- software ---- */

static uint32_t node_read(struct node *n, uint32_t off)
{
	uint64_t v = 0;

	engine_reg_read(n->e, off, 4, &v);
	return (uint32_t)v;
}

static void node_write(struct node *n, uint32_t off, unsigned int size,
		       uint64_t v)
{
	n->cause.write = one_in(4) ? 0 : ++w.seq;
	w.refused += engine_reg_write(n->e, off, size, v) != 0;
}

static uint32_t least_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t some_length(const struct node *n)
{
	uint32_t cell = w.cfg.cell_bytes, len;
	uint32_t most = least_of(1u << n->block_log2, w.longest);

	switch (random_below(8)) {
	case 0:
		len = 1 + random_below(most);
		break;
	case 1:
		len = cell * (1 + random_below(4));
		break;
	case 2:
		return 1 + random_below(20);
	default:
		len = 1 + random_below(3 * cell);
	}
	/* Many tiny cells take long and show no more, but for the peer's limit. */
	if (len > 24 * cell && !one_in(16))
		len %= 24 * cell;
	return len && len <= most ? len : 1;
}

/* Anywhere, but often so that a page ends within it, or with it. */
static uint64_t some_place(uint64_t from, uint32_t len)
{
	uint64_t at = from + random_below(1u << 20);

	return one_in(3) ? (at | 0xFFF) + 1 - random_below(len + 1) : at;
}

/* ref: the block word of the request that is answered. */
static void node_go(struct node *n, unsigned int i, unsigned int op,
		    unsigned int to, uint32_t len, uint32_t ref)
{
	uint32_t c = NIC_CTX_BASE(i);
	uint64_t va = some_place(0x7f0000000000ull, len);

	if ((node_read(n, c + NIC_CTX_STATE) & NIC_CTX_STATE_STATE_MASK) !=
	    FL_TX_FREE)
		return;
	if (one_in(300))
		va = 0ull - random_below(8192);
	node_write(n, c + NIC_CTX_DST, 4, to << NIC_CTX_DST_NODE_SHIFT |
					  random_below(1u << 24) <<
		   NIC_CTX_DST_QPN_SHIFT);
	node_write(n, c + NIC_CTX_STREAM, 4, STREAM);
	node_write(n, c + NIC_CTX_LVA, 8, va);
	node_write(n, c + NIC_CTX_RVA, 8, some_place(0x7e0000000000ull, len));
	node_write(n, c + NIC_CTX_LEN, 4, len);
	node_write(n, c + NIC_CTX_RKEY, 4, random_below(1u << 30));
	node_write(n, c + NIC_CTX_LEFT, 8, random_u64());
	node_write(n, c + NIC_CTX_REF, 4, ref);
	node_write(n, c + NIC_CTX_SRC, 4,
		   one_in(2) ? random_below(4) : random_u64() >> 32);
	node_write(n, c + NIC_CTX_XFER, 4, random_below(1000));
	node_write(n, c + NIC_CTX_BLOCK, 4, random_below(100));
	node_write(n, c + NIC_CTX_CTRL, 4, NIC_CTX_CTRL_GO |
					   op << NIC_CTX_CTRL_OP_SHIFT);
}

static void node_verdict(struct node *n, unsigned int i, unsigned int serial)
{
	uint32_t c = NIC_RXC_BASE(i), op = node_read(n, c + NIC_RXC_OP);
	uint32_t word = node_read(n, c + NIC_RXC_WORD),
		len = node_read(n, c + NIC_RXC_LEN);
	uint32_t from = node_read(n, c + NIC_RXC_SRC) & NIC_RXC_SRC_NODE_MASK;
	unsigned int code = one_in(15) ? 1 + random_below(255) : 0;

	if (one_in(50))
		serial++;
	if (one_in(op == WOP_READ_REQ ? 4 : 10))
		code = one_in(3) ? FL_ST_BUSY : FL_ST_WAIT;
	node_write(n, c + NIC_RXC_VERDICT, 4,
		   code << NIC_RXC_VERDICT_CODE_SHIFT |
		   (serial & 0xFF) << NIC_RXC_VERDICT_SERIAL_SHIFT |
		   STREAM << NIC_RXC_VERDICT_STREAM_SHIFT);
	if (op == WOP_READ_REQ && (!code || code == FL_ST_WAIT))
		node_go(n, random_below(w.cfg.contexts), FL_OP_READ_RESP,
			from % NODES, len, word);
}

static void node_notes(struct node *n)
{
	uint32_t v;
	unsigned int kind, i;

	if (!n->event && !one_in(20))
		return;
	v = node_read(n, NIC_ENG_EVT_POP);
	kind = v & 0xFF;
	i = v >> 8 & 0xFF;
	if (kind == FL_NOTE_RX_OPEN)
		node_verdict(n, i, v >> 16 & 0xFF);
	else if (kind == FL_NOTE_RX_LANDED)
		reached[LANDED]++;
	else if (kind == FL_NOTE_TX_DONE && !one_in(20))
		node_write(n, NIC_CTX_BASE(i) + NIC_CTX_CTRL, 4,
			   NIC_CTX_CTRL_RELEASE);
}

static void node_driver(struct node *n)
{
	static const uint32_t more[] = {
		NIC_ENG_FLT_REF, NIC_ENG_FLT_STREAM, NIC_ENG_FLT_VA,
		NIC_ENG_FLT_VA + 4, NIC_ENG_FLT_LEN, NIC_ENG_FLT_MAP,
		NIC_ENG_FLT_LEFT, NIC_ENG_FLT_LEFT + 4, NIC_ENG_FLT_XFER,
		NIC_ENG_FLT_BLOCK
	};
	unsigned int code = one_in(8) ? random_below(128) : 0, i;
	uint32_t v;

	if (!n->fault && !one_in(20))
		return;
	v = node_read(n, NIC_ENG_FLT_REF);
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		node_read(n, more[i]);
	if (one_in(30))
		v += 1u << NIC_ENG_FLT_REF_SERIAL_SHIFT;
	node_write(n, NIC_ENG_FLT_POP, 4, fl_errata_pop());
	node_write(n, NIC_ENG_READY, 4,
		   fl_errata_ready((v & 0x00FF01FF) |
				   code << NIC_ENG_READY_CODE_SHIFT));
}

static void node_control(struct node *n)
{
	uint32_t c = NIC_CTX_BASE(random_below(w.cfg.contexts)) + NIC_CTX_CTRL;

	switch (random_below(8)) {
	case 0:
		node_write(n, c, 4, NIC_CTX_CTRL_KILL |
				    random_below(256) <<
			   NIC_CTX_CTRL_CODE_SHIFT);
		return;
	case 1:
		node_write(n, c, 4, NIC_CTX_CTRL_RELEASE);
		return;
	default:
		node_write(n, c, 4, NIC_CTX_CTRL_EXPIRE);
	}
}

/* Registers without sense. */
static void node_chaos(struct node *n)
{
	uint32_t off = one_in(3) ? random_below(0x3000) :
		       one_in(2) ? random_below(0x110) :
			       0x1000 + random_below(0x1000);
	unsigned int size = one_in(4) ? 8 : 4;
	uint64_t v = one_in(2) ? random_below(256) : one_in(2) ?
		random_u64() >> 32 : random_u64();

	if (!one_in(6))
		off &= ~(size - 1);
	if (one_in(4))
		engine_reg_read(n->e, off, size, &v);
	else if (off != NIC_ENG_CTRL)
		node_write(n, off, size, v);
}

/* ---- what happens ---- */

static void node_receive(struct node *n, const struct wire_frame *f)
{
	w.in_packet = true;
	engine_receive(n->e, f, w.now_ns);
	w.in_packet = false;
}

static void node_deliver(struct node *n)
{
	struct wire_frame f = n->queue[0];

	if (!n->queued)
		return;
	memmove(&n->queue[0], &n->queue[1], --n->queued * sizeof(f));
	if (one_in(60))
		f.bytes[random_below(f.len)] ^= (uint8_t)(1u <<
							  random_below(8));
	if (one_in(300))
		f.len = random_below(f.len + 8);
	node_receive(n, &f);
}

/* An old packet once more, or one that is changed where the ICRC allows it. */
static void node_replay(struct node *n, unsigned int i)
{
	struct wire_frame f = w.old[random_below(OLD)];

	if (!f.len)
		return;
	f.to = one_in(20) ? (uint8_t)random_below(256) : (uint8_t)i;
	f.from = one_in(20) ? (uint8_t)random_below(256) :
		(uint8_t)random_below(ENGINE_RTL_NODES);
	if (!w.cfg.icrc && f.len > 40)
		f.bytes[12 + random_below(40)] ^= (uint8_t)(1u <<
							    random_below(8));
	node_receive(n, &f);
}

static void node_step(struct node *n, unsigned int channel)
{
	if (!n->awake[channel] && !one_in(20))
		return;
	n->awake[channel] = engine_step(n->e, channel, w.now_ns) !=
			    ENGINE_IDLE;
}

static void node_resume(struct node *n, unsigned int channel)
{
	if (!n->held[channel] && !one_in(50))
		return;
	n->held[channel] = false;
	engine_burst_resume(n->e, channel, one_in(2));
}

static void node_start(struct node *n)
{
	node_write(n, NIC_ENG_IRQ_ENABLE, 4, NIC_ENG_IRQ_ENABLE_FAULT);
	node_write(n, NIC_ENG_CTRL, 4, NIC_ENG_CTRL_ENABLE);
}

static void node_rare(struct node *n)
{
	struct engine_stats st;
	unsigned int i;

	switch (random_below(60)) {
	case 0:
		n->held[0] = n->held[1] = false;
		n->awake[0] = n->awake[1] = false;
		engine_reset(n->e);
		if (one_in(2))
			node_start(n);
		break;
	case 1:
		node_write(n, NIC_ENG_CTRL, 4, 0);
		break;
	case 2: case 3: case 4: case 5: case 6:
		node_start(n);
		break;
	case 7: case 8:
		engine_idle(n->e);
		break;
	case 9: case 10:
		engine_stats(n->e, &st);
		for (i = 0; i < ENGINE_RXC_MAX; i++)
			engine_rx_event(n->e, i);
		break;
	default:
		node_chaos(n);
	}
}

static void random_happen(void)
{
	unsigned int i = random_below(NODES), r = random_below(100);
	struct node *n = &w.node[i];

	w.calls++;
	w.now_ns += random_below(100);
	if (r < 30)
		node_step(n, random_below(2));
	else if (r < 60)
		node_deliver(n);
	else if (r < 75)
		node_notes(n);
	else if (r < 80)
		node_go(n, random_below(w.cfg.contexts),
			one_in(3) ? FL_OP_READ : FL_OP_WRITE,
			random_below(NODES), some_length(n),
			(uint32_t)random_u64());
	else if (r < 85)
		node_driver(n);
	else if (r < 88)
		node_resume(n, random_below(2));
	else if (r < 91)
		engine_wire_room(n->e);
	else if (r < 94)
		node_control(n);
	else if (r < 96)
		node_replay(n, i);
	else
		node_rare(n);
}

static void random_stop(void)
{
	unsigned int i;

	for (i = 0; i < NODES; i++) {
		if (w.plugin->cycles)
			w.cycles += w.plugin->cycles(w.alone ? w.node[i].e :
				engine_both_other(w.node[i].e));
		engine_destroy(w.node[i].e);
	}
}

static bool new_engines(const char *dir)
{
	struct engine_env env = {
		.burst_begin = dma_begin, .burst_end = dma_end,
		.frame_get = random_frame_get,
		.frame_send = frame_send, .irq = node_irq, .kick = node_kick,
		.emit = node_emit,
	};
	unsigned int i;
	int error;

	w.cfg = (struct engine_config){
		.contexts = (uint8_t)(4 + random_below(13)),
		.rx_contexts = (uint8_t)(one_in(3) ? 1 + random_below(4) :
					 1 + random_below(32)),
		.cell_bytes = least_of(64u << random_below(7), w.longest),
		.icrc = !one_in(4),
	};
	memset(w.node, 0, sizeof(w.node));
	for (i = 0; i < NODES; i++) {
		w.cfg.node = w.cfg.board = (uint8_t)i;
		w.cfg.block_log2 = (uint8_t)(12 + random_below(5));
		w.node[i].block_log2 = w.cfg.block_log2;
		env.ctx = env.wire = &w.node[i];
		w.cfg.cause = &w.node[i].cause;
		w.node[i].e = w.alone ?
			w.plugin->create(&w.cfg, &env, trace_emit, &error) :
			engine_both(&w.cfg, &env, w.plugin, dir, NULL, &error);
		if (!w.node[i].e) {
			fprintf(stderr, "random: no engine: %s\n",
				strerror(-error));
			return false;
		}
		node_start(&w.node[i]);
	}
	return true;
}

static struct option {
	const char *name;
	uint64_t value;
} options[] = { { "--seed", 1 }, { "--transactions", 10000 }, { "--longest", 65536 } };

enum { SEED, TRANSACTIONS, LONGEST, OPTIONS };

static bool random_option(const char *name, const char *text)
{
	char *end;
	int i;

	for (i = 0; i < OPTIONS && strcmp(name, options[i].name); i++)
		;
	if (i == OPTIONS || *text < '0' || *text > '9')
		return false;
	errno = 0;
	options[i].value = strtoull(text, &end, 10);
	return !*end && !errno;
}

static bool all_options(int argc, char **argv)
{
	uint64_t longest;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--alone"))
			w.alone = true;
		else if (i + 1 == argc || !random_option(argv[i], argv[i + 1]))
			return false;
		else
			i++;
	}
	longest = options[LONGEST].value;
	return options[TRANSACTIONS].value && longest >= 64 && longest <= 65536 &&
	       !(longest & (longest - 1));
}

int main(int argc, char **argv)
{
	uint64_t next = 0;
	double seconds;
	const char *why;

	if (!all_options(argc, argv)) {
		fprintf(stderr, "usage: random [--seed N] [--transactions N] "
			"[--longest BYTES] [--alone]\nN: a decimal number, of "
			"transactions not 0; BYTES: a power of two, 64 to 65536\n");
		return 2;
	}
	w.plugin = engine_plugin(&why);
	if (!w.plugin) {
		fprintf(stderr, "random: %s\n", why);
		return 1;
	}
	w.state = options[SEED].value;
	w.longest = (uint32_t)options[LONGEST].value;
	printf("seed %llu\n", (unsigned long long)w.state);
	for (; w.done < options[TRANSACTIONS].value; random_happen()) {
		if (w.done < next)
			continue;
		if (next)
			random_stop();
		if (!new_engines("."))
			return 1;
		next = w.done + ROUND;
	}
	random_stop();
	seconds = (double)clock() / CLOCKS_PER_SEC;	/* others compute here too */
	printf("%llu transactions, %llu calls, %llu events, %llu registers "
	       "refused, %llu cycles, %.2f Mcycle a CPU second%s\n",
	       (unsigned long long)w.done, (unsigned long long)w.calls,
	       (unsigned long long)w.seq, (unsigned long long)w.refused,
	       (unsigned long long)w.cycles, (double)w.cycles / seconds / 1e6,
	       w.alone ? ", the Verilog alone" : ", 0 differences");
	return reached_all(w.done, w.longest) ? 0 : 1;
}
