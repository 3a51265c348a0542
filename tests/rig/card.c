// SPDX-License-Identifier: BSD-2-Clause
#include "rig/card.h"

void xp_set(struct node *n, uint32_t off, uint64_t v)
{
	unsigned int wide = off == NIC_XP_FQ_BASE || off == NIC_XP_TAB_FIRST ||
			    off == NIC_XP_TAB_LIST_PA;

	EXPECT_EQ(xp_try(n, off, wide ? 8 : 4, v), 0);
}

uint64_t xp_get(struct node *n, uint32_t off, unsigned int size)
{
	uint64_t v = 0;

	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + NIC_XP_BASE + off, size, &v), 0);
	return v;
}

uint32_t xp_wait(struct node *n)
{
	uint64_t v, end_ns = os_now_ns() + TEST_PATIENCE_NS;

	while ((v = xp_get(n, NIC_XP_TAB_STATUS, 4)) & NIC_XP_TAB_STATUS_BUSY)
		EXPECT_GE(end_ns, os_now_ns());
	return (uint32_t)(v & NIC_XP_TAB_STATUS_CODE_MASK) >>
	       NIC_XP_TAB_STATUS_CODE_SHIFT;
}

uint32_t xp_order(struct node *n, uint32_t op, uint32_t object, uint64_t va,
		  uint32_t count)
{
	xp_set(n, NIC_XP_TAB_OBJECT, object);
	xp_set(n, NIC_XP_TAB_FIRST, va >> 12);
	xp_set(n, NIC_XP_TAB_COUNT, count);
	xp_set(n, NIC_XP_TAB_LIST_PA, LIST_PA);
	xp_set(n, NIC_XP_TAB_GO, op);
	return xp_wait(n);
}

void xp_load(struct node *n, uint64_t va, uint64_t pa, uint64_t flags)
{
	__atomic_store_n(xp_list(n), pa | flags, __ATOMIC_RELEASE);
	EXPECT_EQ(xp_order(n, NIC_XP_TAB_GO_LOAD, OBJECT, va, 1), FL_ST_OK);
}

void xp_sync(struct node *n)
{
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;

	xp_set(n, NIC_XP_TAB_SYNC, 1);
	while (xp_get(n, NIC_XP_TAB_ACTIVE, 4))
		EXPECT_GE(end_ns, os_now_ns());
}

/* ---- a packet unit's bursts ---- */

struct dma_burst burst_of(uint64_t va, uint32_t len, bool write)
{
	return (struct dma_burst){ .object = OBJECT, .va = va, .len = len,
				   .write = write, .channel = write };
}

enum dma_status burst_begin(struct node *n, struct dma_burst *d)
{
	enum dma_status s;

	sim_enter(n->board->domain);
	d->now_ns = sim_now(board_sim(n->board));
	s = card_burst_begin(n->board, d, CARD_RC);
	sim_leave(n->board->domain);
	return s;
}

enum dma_status burst_end(struct node *n, struct dma_burst *d, void *buf)
{
	enum dma_status s;

	sim_enter(n->board->domain);
	s = bus_own_end(n->board, d, buf);
	sim_leave(n->board->domain);
	return s;
}

enum dma_status burst_all(struct node *n, uint64_t va, void *buf, uint32_t len,
			  bool write)
{
	struct dma_burst d = burst_of(va, len, write);
	enum dma_status s;

	sim_enter(n->board->domain);
	d.now_ns = sim_now(board_sim(n->board));
	s = card_burst_begin(n->board, &d, CARD_RC);
	if (s == DMA_OK)
		s = bus_own_end(n->board, &d, buf);
	sim_leave(n->board->domain);
	return s;
}
