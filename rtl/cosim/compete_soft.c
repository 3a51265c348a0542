// SPDX-License-Identifier: BSD-2-Clause
/*
 * Firmware and driver of a card, and the wire between the two. What they do next they see in the
 * C engine; when the register is written at last, that may be over, which is what is wanted.
 */
#include "rtl/cosim/compete.h"

#include "faultline/errata.h"

void soft_push(struct card *x, bool write, uint32_t off, uint32_t value)
{
	struct master *m = &x->bus[write];

	if (m->count == ACCESSES)
		return;
	m->queue[(m->head + m->count++) % ACCESSES] = (struct access){
		.write = write, .off = off, .value = value };
}

static void soft_write(struct card *x, uint32_t off, uint32_t value)
{
	soft_push(x, true, off, value);
}

static void soft_write64(struct card *x, uint32_t off, uint64_t value)
{
	soft_write(x, off, (uint32_t)value);
	soft_write(x, off + 4, (uint32_t)(value >> 32));
}

static uint32_t soft_length(void)
{
	uint32_t cell = k.cfg.cell_bytes, most = least_of(1u << k.cfg.block_log2, k.longest), len;

	switch (random_below(8)) {
	case 0:
		len = 1 + random_below(most);
		break;
	case 1:
		len = cell * (1 + random_below(4));
		break;
	case 2:
	case 3:
		return 1 + random_below(20);
	default:
		len = 1 + random_below(3 * cell);
	}
	if (len > 24 * cell && !one_in(16))
		len %= 24 * cell;
	return len && len <= most ? len : 1;
}

static void soft_go(struct card *x, unsigned int i, unsigned int op, unsigned int to,
		    uint32_t len, uint32_t ref)
{
	uint32_t c = NIC_CTX_BASE(i);

	/* All of it, or it would be what an older one was. */
	if (x->c->tx[i].state != FL_TX_FREE || x->bus[1].count + 16 > ACCESSES)
		return;
	soft_write(x, c + NIC_CTX_DST, to << NIC_CTX_DST_NODE_SHIFT |
				       random_below(1u << 24) << NIC_CTX_DST_QPN_SHIFT);
	soft_write(x, c + NIC_CTX_STREAM, some_stream());
	soft_write64(x, c + NIC_CTX_LVA, some_place(0x7f0000000000ull, len));
	soft_write64(x, c + NIC_CTX_RVA, some_place(0x7e0000000000ull, len));
	soft_write(x, c + NIC_CTX_LEN, len);
	soft_write(x, c + NIC_CTX_RKEY, random_below(1u << 30));
	soft_write(x, c + NIC_CTX_LEFT, (uint32_t)random_u64());
	soft_write(x, c + NIC_CTX_REF, ref);
	soft_write(x, c + NIC_CTX_SRC, random_below(4));
	soft_write(x, c + NIC_CTX_XFER, random_below(1000));
	soft_write(x, c + NIC_CTX_BLOCK, random_below(100));
	soft_write(x, c + NIC_CTX_CTRL, NIC_CTX_CTRL_GO | op << NIC_CTX_CTRL_OP_SHIFT);
}

static void soft_verdict(struct card *x, unsigned int i)
{
	const struct rx_ctx *r = &x->c->rx[i];
	unsigned int code = one_in(15) ? 1 + random_below(255) : 0;
	uint32_t serial = r->serial;

	if (one_in(r->opcode == WOP_READ_REQ ? 4 : 10))
		code = one_in(3) ? FL_ST_BUSY : FL_ST_WAIT;
	if (one_in(50))
		serial ^= 1u << random_below(8);
	soft_write(x, NIC_RXC_BASE(i) + NIC_RXC_VERDICT,
		   code << NIC_RXC_VERDICT_CODE_SHIFT | serial << NIC_RXC_VERDICT_SERIAL_SHIFT |
		   some_stream() << NIC_RXC_VERDICT_STREAM_SHIFT);
	if (r->opcode == WOP_READ_REQ && (!code || code == FL_ST_WAIT))
		soft_go(x, random_below(k.cfg.contexts), FL_OP_READ_RESP, r->node % CARDS, r->len,
			(uint32_t)r->ctx << 24 | (uint32_t)r->gen << 8 | r->attempt);
}

/* The driver, whose READY may speak of another fault of this context. */
static void soft_ready(struct card *x, unsigned int side, unsigned int i)
{
	uint32_t serial = side ? x->c->rx[i].serial : x->c->tx[i].fault_serial;
	uint32_t code = one_in(8) ? random_below(128) : 0;

	if (one_in(30))
		serial ^= 1u << random_below(8);
	if (x->c->faults && !one_in(10))
		soft_write(x, NIC_ENG_FLT_POP, fl_errata_pop());
	soft_write(x, NIC_ENG_READY,
		   fl_errata_ready(i << NIC_ENG_READY_INDEX_SHIFT |
				   (side ? NIC_ENG_READY_SIDE : 0) |
				   serial << NIC_ENG_READY_SERIAL_SHIFT |
				   code << NIC_ENG_READY_CODE_SHIFT));
}

static void soft_tx(struct card *x, unsigned int i)
{
	uint32_t ctrl = NIC_CTX_BASE(i) + NIC_CTX_CTRL;

	switch (x->c->tx[i].state) {
	case FL_TX_FREE:
		soft_go(x, i, one_in(2) ? FL_OP_READ : FL_OP_WRITE, random_below(CARDS),
			soft_length(), (uint32_t)random_u64());
		return;
	case FL_TX_DONE:
		soft_write(x, ctrl, NIC_CTX_CTRL_RELEASE);
		return;
	case FL_TX_SRCFAULT:
		soft_ready(x, SIDE_TX, i);
		return;
	}
	if (one_in(12))
		soft_write(x, ctrl, NIC_CTX_CTRL_KILL |
				    random_below(256) << NIC_CTX_CTRL_CODE_SHIFT);
	else if (one_in(6))
		soft_write(x, ctrl, NIC_CTX_CTRL_EXPIRE);
}

static void soft_rx(struct card *x, unsigned int i)
{
	if (x->c->rx[i].state == FL_RX_CHECK)
		soft_verdict(x, i);
	else if (x->c->rx[i].state == FL_RX_FAULT)
		soft_ready(x, SIDE_RX, i);
	else if (x->c->rx[i].state != FL_RX_FREE && one_in(30))
		soft_verdict(x, i);
}

/* Without sense: any word of the window, whole or in part. */
static void soft_chaos(struct card *x)
{
	uint32_t off = (one_in(3) ? random_below(0x3000) : one_in(2) ? random_below(0x110) :
			0x1000 + random_below(0x1000)) & ~3u;
	uint32_t value = one_in(2) ? random_below(256) : (uint32_t)random_u64();
	struct master *m = &x->bus[1];

	if (one_in(4) || off == NIC_ENG_CTRL) {
		soft_push(x, false, off, 0);
		return;
	}
	soft_write(x, off, value);
	m->queue[(m->head + m->count - 1) % ACCESSES].part = one_in(8);
}

static void soft_rare(struct card *x)
{
	switch (random_below(40)) {
	case 0:
		soft_write(x, NIC_ENG_CTRL, 0);
		break;
	case 1:
		soft_write(x, NIC_ENG_IRQ_ENABLE, random_below(2));
		break;
	case 2: case 3: case 4: case 5: case 6: case 7:
		break;
	default:
		soft_chaos(x);
		return;
	}
	soft_write(x, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
}

/* The READ whose answer is being written ends, with a burst of it at the port. */
static bool soft_strike(struct card *x)
{
	const struct burst *b = &x->burst[CH_WRITE];
	uint8_t requester = x->c->rx[b->ctx % ENGINE_RXC_MAX].requester;

	if (!b->up || requester == NONE || x->bus[1].count > 6 || !one_in(3))
		return false;
	soft_write(x, NIC_CTX_BASE(requester) + NIC_CTX_CTRL,
		   NIC_CTX_CTRL_KILL | FL_ST_KILLED << NIC_CTX_CTRL_CODE_SHIFT);
	return true;
}

void soft_act(struct card *x)
{
	unsigned int r = random_below(100);

	if (x->bus[1].count > 20 || x->bus[0].count > 8 || soft_strike(x))
		return;
	if (!x->c->enabled && one_in(8))
		soft_write(x, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	else if (r < 50)
		soft_tx(x, random_below(k.cfg.contexts));
	else if (r < 75)
		soft_rx(x, random_below(k.cfg.rx_contexts));
	else if (r < 90)
		soft_push(x, false, one_in(3) ? NIC_ENG_FLT_REF + random_below(11) * 4 :
					       NIC_ENG_EVT_POP, 0);
	else if (r < 95)
		soft_push(x, false, one_in(2) ?
			  NIC_CTX_BASE(random_below(ENGINE_CTX_MAX)) + random_below(32) * 4 :
			  NIC_RXC_BASE(random_below(ENGINE_RXC_MAX)) + random_below(16) * 4, 0);
	else
		soft_rare(x);
}

bool soft_read_all(struct card *x, unsigned int *at)
{
	unsigned int ctx = NIC_CTX_STRIDE / 4 * ENGINE_CTX_MAX;
	unsigned int rxc = NIC_RXC_STRIDE / 4 * ENGINE_RXC_MAX, eng = NIC_ENG_EVT_POP / 4;

	for (; x->bus[0].count < ACCESSES && *at < eng + ctx + rxc; ++*at)
		soft_push(x, false, *at < eng ? *at * 4 :
			  *at < eng + ctx ? NIC_CTX_BASE(0) + (*at - eng) * 4 :
			  NIC_RXC_BASE(0) + (*at - eng - ctx) * 4, 0);
	return *at < eng + ctx + rxc || x->bus[0].count;
}

/* ---- the wire ---- */

static void wire_put(struct card *to, const struct wire_frame *f)
{
	unsigned int at = to->queued;

	if (at == QUEUE)
		return;
	if (at && !k.calm)
		at -= random_below(at < 4 ? at : 4);
	memmove(&to->queue[at + 1], &to->queue[at], (to->queued - at) * sizeof(*f));
	to->queue[at] = *f;
	to->queued++;
}

void soft_sent(struct card *x, const struct wire_frame *f)
{
	(void)x;
	if (f->to >= CARDS || (!k.calm && one_in(30)))
		return;
	wire_put(&k.card[f->to], f);
	if (!k.calm && one_in(30))
		wire_put(&k.card[f->to], f);
}

/* Begin to hand the next packet to the card; what it gets may be damaged. */
void soft_deliver(struct card *x)
{
	struct wire_frame *f = &x->in_frame;

	if (x->in_open || !x->queued)
		return;
	*f = x->queue[0];
	f->icrc_later = false;
	memmove(&x->queue[0], &x->queue[1], --x->queued * sizeof(*f));
	if (!k.calm && one_in(60))
		f->bytes[random_below(f->len)] ^= (uint8_t)(1u << random_below(8));
	if (!k.calm && one_in(300))
		f->len = random_below(f->len + 8);
	if (!k.calm && one_in(100))
		f->to = (uint8_t)random_below(256);
	if (!k.calm && one_in(100))
		f->from = (uint8_t)random_below(ENGINE_RTL_NODES + 2);
	x->in_at = 0;
	x->in_open = true;
}
