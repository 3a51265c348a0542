// SPDX-License-Identifier: BSD-2-Clause
/* The engine as an object: made, stepped, reset, asked. */
#include "nic/engine_internal.h"

#include <stdlib.h>

static void c_destroy(struct engine *engine)
{
	free(c_engine(engine)->read_buf);
	free(c_engine(engine));
}

static void c_reset(struct engine *engine)
{
	struct c_engine *e = c_engine(engine);

	e->enabled = false;
	e->irq_enable = false;
	e->reg_cause = 0;
	write_init(e);
	tx_init(e);
	rx_init(e);
	e->faults = 0;
	e->note_head = e->notes = 0;
	memset(e->in_ring, 0, sizeof(e->in_ring));
	engine_line(e, ENGINE_LINE_FAULT, false);
	engine_line(e, ENGINE_LINE_EVENT, false);
}

static void c_receive(struct engine *engine, const struct wire_frame *f,
		      uint64_t now_ns)
{
	struct c_engine *e = c_engine(engine);
	struct wire_answer a;
	struct wire_block b;
	enum wire_error why;

	(void)now_ns;	/* nothing here depends on the time */
	if (!e->enabled)
		return;
	if (f->from >= e->cfg.nodes || f->to != e->cfg.node) {
		rx_bad(e, f, WIRE_HEADER);
		return;
	}
	if (wire_is_block(wire_opcode(f))) {
		why = wire_get_block(f, e->cfg.icrc, &b);
		if (why == WIRE_OK)
			rx_block(e, f, &b);
	} else {
		why = wire_get_answer(f, e->cfg.icrc, &a);
		if (why == WIRE_OK)
			tx_answer(e, f, &a);
	}
	if (why != WIRE_OK)
		rx_bad(e, f, why);
}

static void c_wire_room(struct engine *engine)
{
	struct c_engine *e = c_engine(engine);

	answer_flush(e);
	if (e->ch[CH_READ].wants_room)
		engine_kick(e, CH_READ);
}

static void c_stats(const struct engine *engine, struct engine_stats *st)
{
	*st = c_engine(engine)->stats;
}

static bool c_idle(const struct engine *engine)
{
	const struct c_engine *e = c_engine(engine);
	unsigned int i;

	if (e->ch[CH_READ].ctx != NONE || e->ch[CH_WRITE].ctx != NONE ||
	    e->faults || e->notes || e->answer_count)
		return false;
	for (i = 0; i < e->cfg.contexts; i++)
		if (e->tx[i].state != FL_TX_FREE)
			return false;
	return e->rx_free == (uint32_t)((1ull << e->cfg.rx_contexts) - 1);
}

static const char *check_tx(const struct c_engine *e, unsigned int i)
{
	const struct tx_ctx *t = &e->tx[i];

	if (!(e->tx_ready >> i & 1) != (t->state != FL_TX_READY))
		return "the ready mask differs from a transmit context's state";
	if (t->early && t->state != FL_TX_READY)
		return "an early answer waits for a context that is not READY";
	if (t->rxc != NONE && e->rx[t->rxc].requester != i)
		return "a READ names a receive context that is not its own";
	if (t->rxc != NONE && t->state != FL_TX_READY &&
	    t->state != FL_TX_FLYING)
		return "a READ's answer is taken though the READ is over";
	return NULL;
}

static const char *check_rx(const struct c_engine *e, unsigned int i)
{
	const struct rx_ctx *r = &e->rx[i];

	if (!(e->rx_free >> i & 1) != (r->state != FL_RX_FREE))
		return "the free mask differs from a receive context's state";
	if (r->linked && e->peer[r->node][r->ctx].rxc != i)
		return "the peer table does not name a linked context";
	if (r->linked && (e->peer[r->node][r->ctx].done ||
			  e->peer[r->node][r->ctx].over))
		return "a context collects an attempt that is over";
	if (r->requester != NONE && e->tx[r->requester].rxc != i)
		return "a READ's answer that its READ does not know";
	if (r->state == FL_RX_WRITE && r->cells_left)
		return "a block is written before all of it came";
	return NULL;
}

static const char *c_check(const struct engine *engine)
{
	const struct c_engine *e = c_engine(engine);
	const char *wrong = NULL;
	unsigned int i, n = 0;

	for (i = 0; i < e->cfg.contexts && !wrong; i++)
		wrong = check_tx(e, i);
	for (i = 0; i < e->cfg.rx_contexts && !wrong; i++) {
		wrong = check_rx(e, i);
		n += e->rx[i].state == FL_RX_WRITE;
	}
	if (!wrong && n != e->write_count + (e->ch[CH_WRITE].ctx != NONE))
		wrong = "the contexts in WRITE are not those in the queue";
	return wrong;
}

static const struct engine_ops c_ops = {
	.destroy = c_destroy, .reset = c_reset, .reg_read = c_reg_read,
	.reg_write = c_reg_write, .rx_event = c_rx_event, .step = { tx_step, write_step },
	.receive = c_receive, .burst_resume = c_burst_resume,
	.wire_room = c_wire_room, .stats = c_stats, .idle = c_idle,
	.check = c_check,
};

bool engine_is_c(const struct engine *e)
{
	return e->ops == &c_ops;
}

static bool engine_config_ok(const struct engine_config *c)
{
	return c->node < (c->nodes ? c->nodes : WIRE_NODES) &&
	       c->nodes <= WIRE_NODES && c->contexts >= 4 &&
	       c->contexts <= ENGINE_CTX_MAX && c->rx_contexts >= 1 &&
	       c->rx_contexts <= ENGINE_RXC_MAX && c->block_log2 >= 12 &&
	       c->block_log2 <= 16 && c->cell_bytes >= CELL_BYTES_MIN &&
	       c->cell_bytes <= WIRE_PAYLOAD_MAX &&
	       !(c->cell_bytes & (c->cell_bytes - 1));
}

struct engine *engine_create(const struct engine_config *cfg,
			     const struct engine_env *env, int *error)
{
	size_t block = (size_t)1 << cfg->block_log2 % 32;
	struct c_engine *e;
	unsigned int i;

	*error = -EINVAL;
	if (!engine_config_ok(cfg) || !env->burst_begin || !env->burst_end ||
	    !env->frame_get || !env->frame_send || !env->irq || !env->kick)
		return NULL;
	*error = -ENOMEM;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	/* The read channel's block, then one for each receive context. */
	e->read_buf = malloc(block * (1u + cfg->rx_contexts));
	if (!e->read_buf) {
		free(e);
		return NULL;
	}
	for (i = 0; i < cfg->rx_contexts; i++)
		e->rx[i].buf = e->read_buf + block * (i + 1);
	e->cfg = *cfg;
	if (!e->cfg.nodes)
		e->cfg.nodes = WIRE_NODES;
	e->env = *env;
	if (!e->cfg.cause)
		e->cfg.cause = &e->no_cause;
	e->block_bytes = (uint32_t)block;
	e->cell_log2 = lowest_bit(cfg->cell_bytes);
	regs_init(e);
	e->engine.ops = &c_ops;
	c_reset(&e->engine);
	*error = 0;
	return &e->engine;
}
