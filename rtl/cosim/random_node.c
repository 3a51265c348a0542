// SPDX-License-Identifier: BSD-2-Clause
/* A node of a random run: memory, wire and lines around its engine, firmware and driver. */
#include "rtl/cosim/random_node.h"

#include <string.h>

struct world w;
uint64_t random_state, reached[REACHED];

/* ---- the environment of an engine ---- */

static enum dma_status dma_begin(void *ctx, struct dma_burst *b)
{
	struct node *n = ctx;
	unsigned int r = w.weather == WILD ? random_below(100) : 99;

	b->pa = b->va ^ 0x5000;
	b->delay_ns = random_below(500);
	b->event = one_in(2) ? ++w.seq : 0;
	if (w.weather == ABSENT)
		return DMA_SLVERR;
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
	return w.weather == WILD && one_in(200) ? DMA_DECERR : DMA_OK;
}

static struct wire_frame *random_frame_get(void *ctx)
{
	struct node *n = ctx;

	return n->dry || (w.weather == WILD && one_in(12)) ? NULL : &n->frame;
}

static void node_put(struct node *to, const struct wire_frame *f)
{
	unsigned int at = to->queued;

	if (to->queued == QUEUE)
		return;
	if (at && w.weather == WILD)
		at -= random_below(at < 4 ? at : 4);
	memmove(&to->queue[at + 1], &to->queue[at],
		(to->queued - at) * sizeof(*f));
	to->queue[at] = *f;
	to->queued++;
}

static uint64_t frame_send(void *ctx, struct wire_frame *f)
{
	struct node *n = ctx;
	struct wire_block b;

	reached_frame(f, w.cfg.icrc, w.in_packet);
	if (f->to < NODES && wire_is_block(wire_opcode(f)) &&
	    wire_get_block(f, false, &b) == WIRE_OK) {
		reached[GEN_WRAP] += b.gen < n->gen[f->to][b.ctx];
		n->gen[f->to][b.ctx] = b.gen;
	}
	w.old[random_below(OLD)] = *f;
	if (f->to >= NODES || (w.weather == WILD && one_in(30)))
		return random_below(200);
	node_put(&w.node[f->to], f);
	if (w.weather == WILD && one_in(30))
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
	(void)ctx, (void)a0, (void)a1;
	if (ev == EV_TX_STATE)
		reached_attempt(at->attempt, a2);
	w.done += w.weather == WILD && ev == EV_TX_STATE && a3 == FL_TX_DONE;
	return ++w.seq;
}

const struct engine_env node_env = {
	.burst_begin = dma_begin, .burst_end = dma_end,
	.frame_get = random_frame_get, .frame_send = frame_send,
	.irq = node_irq, .kick = node_kick, .emit = node_emit,
};

/* ---- software ---- */

uint32_t node_read(struct node *n, uint32_t off)
{
	uint64_t v = 0;

	engine_reg_read(n->e, off, 4, &v);
	return (uint32_t)v;
}

void node_write(struct node *n, uint32_t off, unsigned int size,
		       uint64_t v)
{
	n->cause.write = one_in(4) ? 0 : ++w.seq;
	w.refused += engine_reg_write(n->e, off, size, v) != 0;
}

uint32_t some_length(const struct node *n)
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

void node_go(struct node *n, unsigned int i, unsigned int op,
		    unsigned int to, uint32_t len, uint32_t ref)
{
	uint32_t c = NIC_CTX_BASE(i);
	uint64_t va = some_place(0x7f0000000000ull, len);

	if ((node_read(n, c + NIC_CTX_STATE) & NIC_CTX_STATE_STATE_MASK) !=
	    FL_TX_FREE)
		return;
	node_write(n, c + NIC_CTX_DST, 4, to << NIC_CTX_DST_NODE_SHIFT |
					  random_below(1u << 24) <<
		   NIC_CTX_DST_QPN_SHIFT);
	node_write(n, c + NIC_CTX_STREAM, 4, some_stream());
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
	bool wild = w.weather == WILD;

	/* An older context's: every bit of the number counts. */
	if (wild && one_in(50))
		serial ^= 1u << random_below(8);
	if (one_in(op == WOP_READ_REQ ? 4 : 10))
		code = one_in(3) ? FL_ST_BUSY : FL_ST_WAIT;
	if (!wild)
		code = 0;
	node_write(n, c + NIC_RXC_VERDICT, 4,
		   code << NIC_RXC_VERDICT_CODE_SHIFT |
		   (serial & 0xFF) << NIC_RXC_VERDICT_SERIAL_SHIFT |
		   some_stream() << NIC_RXC_VERDICT_STREAM_SHIFT);
	if (op == WOP_READ_REQ && (!code || code == FL_ST_WAIT))
		node_go(n, random_below(w.cfg.contexts), FL_OP_READ_RESP,
			from % NODES, len, word);
}

void node_notes(struct node *n)
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

void node_driver(struct node *n)
{
	static const uint32_t more[] = {
		NIC_ENG_FLT_REF, NIC_ENG_FLT_STREAM, NIC_ENG_FLT_VA,
		NIC_ENG_FLT_VA + 4, NIC_ENG_FLT_LEN, NIC_ENG_FLT_MAP,
		NIC_ENG_FLT_LEFT, NIC_ENG_FLT_LEFT + 4, NIC_ENG_FLT_XFER,
		NIC_ENG_FLT_BLOCK
	};
	bool wild = w.weather == WILD;
	unsigned int code = wild && one_in(8) ? random_below(128) : 0, i;
	uint32_t v;

	if (!n->fault && !one_in(20))
		return;
	v = node_read(n, NIC_ENG_FLT_REF);
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		node_read(n, more[i]);
	if (v & NIC_ENG_FLT_REF_VALID)
		reached[FAULT_WRAP] += !(v & NIC_ENG_FLT_REF_SERIAL_MASK);
	/* For another fault of this context: every bit of the number counts. */
	if (wild && one_in(30))
		v ^= 1u << (NIC_ENG_FLT_REF_SERIAL_SHIFT + random_below(8));
	node_write(n, NIC_ENG_FLT_POP, 4, fl_errata_pop());
	v = fl_errata_ready((v & 0x00FF01FF) | code << NIC_ENG_READY_CODE_SHIFT);
	node_write(n, NIC_ENG_READY, 4, v);
	/* One that was written before comes late. */
	i = random_below(OLD);
	if (wild && one_in(20) && n->ready[i])
		node_write(n, NIC_ENG_READY, 4, n->ready[i]);
	n->ready[i] = v;
}

void node_control(struct node *n)
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

void node_chaos(struct node *n)
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

void node_start(struct node *n)
{
	node_write(n, NIC_ENG_IRQ_ENABLE, 4, NIC_ENG_IRQ_ENABLE_FAULT);
	node_write(n, NIC_ENG_CTRL, 4, NIC_ENG_CTRL_ENABLE);
}

/* ---- the engine ---- */

void node_receive(struct node *n, const struct wire_frame *f)
{
	w.in_packet = true;
	engine_receive(n->e, f, w.now_ns);
	w.in_packet = false;
}

void node_deliver(struct node *n)
{
	struct wire_frame f = n->queue[0];

	if (!n->queued)
		return;
	memmove(&n->queue[0], &n->queue[1], --n->queued * sizeof(f));
	if (w.weather == WILD && one_in(60))
		f.bytes[random_below(f.len)] ^= (uint8_t)(1u <<
							  random_below(8));
	if (w.weather == WILD && one_in(300))
		f.len = random_below(f.len + 8);
	node_receive(n, &f);
}

void node_step(struct node *n, unsigned int channel)
{
	if (!n->awake[channel] && !one_in(20))
		return;
	n->awake[channel] = engine_step(n->e, channel, w.now_ns) !=
			    ENGINE_IDLE;
}
