/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * card.h - the page XP of a board by its registers alone, and what a packet unit
 * would do, burst by burst.
 */
#ifndef FL_RIG_CARD_H
#define FL_RIG_CARD_H

#include "rig/board.h"

#include "board/packets/packets_internal.h"

#define LIST_PA	(DRAM_BASE + 0x8000)
#define RING_PA	(DRAM_BASE + 0xC000)
#define PAGE_VA	0x7f0000000000ull
#define OBJECT	5

static inline int xp_try(struct node *n, uint32_t off, unsigned int size,
			 uint64_t v)
{
	return board_write(n->board, BUS_NIC_BASE + NIC_XP_BASE + off, size, v);
}

void xp_set(struct node *n, uint32_t off, uint64_t v);
uint64_t xp_get(struct node *n, uint32_t off, unsigned int size);

/* Until BUSY falls; returns CODE. */
uint32_t xp_wait(struct node *n);

uint32_t xp_order(struct node *n, uint32_t op, uint32_t object, uint64_t va,
		  uint32_t count);

static inline uint64_t *xp_list(struct node *n)
{
	return dram_at(board_dram(n->board), LIST_PA, 4096);
}

/* One page of data, at a page of the process. */
void xp_load(struct node *n, uint64_t va, uint64_t pa, uint64_t flags);

void xp_sync(struct node *n);

/* ---- a packet unit's bursts ---- */

struct dma_burst burst_of(uint64_t va, uint32_t len, bool write);
enum dma_status burst_begin(struct node *n, struct dma_burst *d);
enum dma_status burst_end(struct node *n, struct dma_burst *d, void *buf);

/* Both phases at once, as where time is real. */
enum dma_status burst_all(struct node *n, uint64_t va, void *buf, uint32_t len,
			  bool write);

#endif
