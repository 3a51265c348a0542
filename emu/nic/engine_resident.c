// SPDX-License-Identifier: BSD-2-Clause
/*
 * What blocks of a WRITE leave behind in two engines when all goes well with them:
 * generations, the peer table, counters. The resident step (emu/board/resident.c) has
 * moved their bytes from memory to memory, and nothing else could have happened.
 */
#include "nic/engine_internal.h"

bool engine_resident_may(const struct engine *from, const struct engine *to,
			 unsigned int ctx)
{
	const struct c_engine *a = c_engine(from), *b = c_engine(to);
	const struct peer *p;

	if (from == to || !engine_is_c(from) || !engine_is_c(to))
		return false;
	p = &b->peer[a->cfg.node][ctx];
	return a->enabled && b->enabled && b->rx_free && p->rxc == NONE &&
	       !p->waiting && !a->answer_count && !b->answer_count &&
	       a->tx[ctx].state == FL_TX_FREE &&
	       a->block_bytes == b->block_bytes &&
	       a->cfg.cell_bytes == b->cfg.cell_bytes;
}

/* The arcs of fsm.def that a block takes, on both sides. */
static void count_arcs(struct engine_stats *from, struct engine_stats *to,
		       uint32_t blocks)
{
	from->tx_arcs[FL_TX_FREE][FL_TX_EV_GO] += blocks;
	from->tx_arcs[FL_TX_READY][FL_TX_EV_SENT] += blocks;
	from->tx_arcs[FL_TX_FLYING][FL_TX_EV_ACK] += blocks;
	from->tx_arcs[FL_TX_DONE][FL_TX_EV_RELEASE] += blocks;
	to->rx_arcs[FL_RX_FREE][FL_RX_EV_OPEN] += blocks;
	to->rx_arcs[FL_RX_CHECK][FL_RX_EV_ACCEPT_FULL] += blocks;
	to->rx_arcs[FL_RX_WRITE][FL_RX_EV_LANDED] += blocks;
}

void engine_resident_went(struct engine *from, struct engine *to,
			  struct engine_went *w)
{
	struct c_engine *a = c_engine(from), *b = c_engine(to);
	struct tx_ctx *t = &a->tx[w->ctx];
	struct peer *p = &b->peer[a->cfg.node][w->ctx];
	uint32_t blocks = (w->bytes + a->block_bytes - 1) >> a->cfg.block_log2;

	w->blocks = blocks;
	w->rxc = (uint8_t)lowest_bit(b->rx_free);
	w->cells = (w->bytes + a->cfg.cell_bytes - 1) >> a->cell_log2;
	tx_generations(a, w->ctx, b->cfg.node, blocks);
	w->gen = t->gen;
	t->attempt = t->status = 0;
	p->valid = p->done = p->over = true;
	p->attempt = 0;
	p->gen = t->gen;
	b->rx[w->rxc].serial = (uint8_t)(b->rx[w->rxc].serial + blocks);
	a->stats.blocks_sent += blocks;
	a->stats.cells_sent += w->cells;
	a->stats.payload_sent += w->bytes;
	b->stats.blocks_landed += blocks;
	b->stats.cells_received += w->cells;
	b->stats.payload_received += w->bytes;
	count_arcs(&a->stats, &b->stats, blocks);
}

void engine_resident_caused(struct engine *from, unsigned int ctx, uint64_t event)
{
	struct c_engine *a = c_engine(from);

	a->tx[ctx].event = event;
	a->cfg.cause->released = event;
}
