// SPDX-License-Identifier: BSD-2-Clause
#include "rig/engine_pair.h"

uint64_t pair_random(struct pair *p)
{
	/* xorshift64*, Vigna 2016 */
	p->random ^= p->random >> 12;
	p->random ^= p->random << 25;
	p->random ^= p->random >> 27;
	return p->random * 2685821657736338717ull >> 16;
}

enum dma_status pair_begin(void *ctx, struct dma_burst *b)
{
	struct node *n = ctx;
	uint64_t at = b->va - BENCH_BASE;

	EXPECT(!n->open[b->channel] && !n->held[b->channel]);
	EXPECT_EQ(b->stream, BENCH_STREAM);
	EXPECT(at + b->len <= (uint64_t)BENCH_PAGES * ENGINE_PAGE);
	if (pair_trouble(n->pair, 256))
		return DMA_DECERR;
	if (pair_trouble(n->pair, 4))
		n->page[at / ENGINE_PAGE] = PAGE_ABSENT;
	if (n->page[at / ENGINE_PAGE] == PAGE_ABSENT) {
		if (!pair_chance(n->pair, 128))
			return DMA_SLVERR;
		n->held[b->channel] = true;
		return DMA_STALLED;
	}
	b->pa = at;
	n->open[b->channel] = true;
	return DMA_OK;
}

enum dma_status pair_end(void *ctx, struct dma_burst *b, void *buf)
{
	struct node *n = ctx;

	EXPECT(n->open[b->channel]);
	n->open[b->channel] = false;
	n->sections++;
	if (pair_trouble(n->pair, 256))
		return DMA_DECERR;
	if (b->write)
		memcpy(n->mem + b->pa, buf, b->len);
	else
		memcpy(buf, n->mem + b->pa, b->len);
	return DMA_OK;
}

struct wire_frame *pair_frame_get(void *ctx)
{
	struct node *n = ctx;

	if (n->pair->wires + 2 > WIRE_FRAMES || pair_trouble(n->pair, 4)) {
		n->starved = true;
		return NULL;
	}
	return &n->frame;
}

uint64_t pair_frame_send(void *ctx, struct wire_frame *f)
{
	struct node *n = ctx;
	struct pair *p = n->pair;
	struct wire_frame *late;

	EXPECT(f == &n->frame);
	EXPECT_EQ(f->from, n->number);
	if (pair_trouble(p, 1)) {
		p->lost++;
		return 1;
	}
	if (pair_trouble(p, 1)) {	/* changes places with one that is late */
		late = &p->late[pair_below(p, LATE)];
		if (late->len)
			p->wire[p->wires++] = *late;
		*late = *f;
	} else {
		p->wire[p->wires++] = *f;
	}
	if (pair_trouble(p, 1)) {
		p->doubled++;
		p->wire[p->wires++] = *f;
	}
	return 1;
}

void pair_irq(void *ctx, unsigned int line, bool level)
{
	(void)ctx;
	(void)line;
	(void)level;
}

void pair_kick(void *ctx, unsigned int channel)
{
	struct node *n = ctx;

	EXPECT(!n->awake[channel]);
	n->awake[channel] = true;
}

uint32_t pair_get32(struct node *n, uint32_t off)
{
	uint64_t v = 0;

	EXPECT_EQ(engine_reg_read(n->e, off, 4, &v), 0);
	return (uint32_t)v;
}

uint64_t pair_get64(struct node *n, uint32_t off)
{
	uint64_t v = 0;

	EXPECT_EQ(engine_reg_read(n->e, off, 8, &v), 0);
	return v;
}

void pair_set_later(struct node *n, uint32_t off, uint32_t value)
{
	if (n->laters == DELAYED) {
		pair_set32(n, off, value);
		return;
	}
	n->later[n->laters++] = (struct later){ off, value };
}

void pair_do_later(struct node *n)
{
	unsigned int i;
	struct later l;

	if (!n->laters)
		return;
	i = pair_below(n->pair, n->laters);
	l = n->later[i];
	n->later[i] = n->later[--n->laters];
	pair_set32(n, l.off, l.value);
}
