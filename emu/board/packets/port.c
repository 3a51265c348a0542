// SPDX-License-Identifier: BSD-2-Clause
/*
 * port.c - packet units' way to memory: an object's pages are where the card's own table says,
 * and a page that it does not have is a miss.
 */
#include "board/packets/packets_internal.h"

enum table_miss { MISS_ABSENT, MISS_READ_ONLY, MISS_INJECTED };

/*
 * By the first burst of a packet, whether the packet is to miss. What has missed so is
 * marked, and the next access there finds it.
 */
static bool miss_injected(struct card *c, const struct dma_burst *d)
{
	uint64_t page = d->va >> 12;

	if (!c->share || d->block)
		return false;
	if (table_mark(c->table, d->object, page, false))
		return false;
	if (rng_next(&c->rng) >> 24 >= c->share)
		return false;
	table_mark(c->table, d->object, page, true);
	return true;
}

static enum dma_status burst_miss(struct board *b, struct dma_burst *d,
				  enum table_miss why)
{
	struct trace_at at = { .xfer = d->xfer, .cause = d->cause };

	d->event = board_emit(b, EV_TAB_MISS, &at, d->object, d->va, d->write, why);
	return DMA_SLVERR;
}

enum dma_status card_burst_begin(struct board *b, struct dma_burst *d, enum card_units unit)
{
	struct card *c = card_of(b);
	struct table_entry e;

	/* The unit's own are 0 and 1. It may begin the same burst again. */
	d->channel = (uint8_t)(2 * unit + d->channel % 2);
	d->delay_ns = d->event = 0;
	if (!table_find(c->table, d->object, d->va >> 12, &e))
		return burst_miss(b, d, MISS_ABSENT);
	if (d->write && !e.write)
		return burst_miss(b, d, MISS_READ_ONLY);
	if (miss_injected(c, d))
		return burst_miss(b, d, MISS_INJECTED);
	bus_own_begin(b, d, e.pa | (d->va & 4095), e.tag);
	return DMA_OK;
}
