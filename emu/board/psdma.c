// SPDX-License-Identifier: BSD-2-Clause
/*
 * psdma.c - one channel of the DMA engine in the processing system (FPD DMA; psdma.def), in
 * simple mode: it copies memory to memory through the SMMU, under a stream ID of its own.
 *
 * It reads a burst, and then writes it, from the lower address to the higher one; a burst
 * is 256 bytes at most and crosses no page. So where the ranges overlap, a destination below
 * the source gets the source's bytes, and one above it gets bytes that this copy has just
 * written. The silicon reads further ahead than one burst: a program may rely on the
 * former, and not on what the latter leaves.
 */
#include <errno.h>
#include <string.h>

#include "board/board_internal.h"

#include "faultline/psdma_regs.h"

#define PSDMA_SIZE_MASK	0x3FFFFFFFu	/* WORD2: 30 bits */
#define PSDMA_MSB_MASK	0x1FFFFu	/* WORD1: 49 bits of address */

static void psdma_line(struct board *b)
{
	irq_set(b, IRQ_PSDMA, b->psdma.isr & ~b->psdma.imr);
}

static uint64_t psdma_emit(struct board *b, unsigned int event, uint64_t a0,
			   uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_at at = { .board = b->cfg.id, .cause = b->psdma.cause };

	b->psdma.cause = trace_emit(b->cfg.trace, event, &at, a0, a1, a2, a3);
	return b->psdma.cause;
}

static uint64_t psdma_address(const uint32_t *word)
{
	return word[0] | (uint64_t)word[1] << 32;
}

/* The read or write that is next: up to the end of its page, or of the copy. */
static void psdma_burst_next(struct board *b, bool write, uint32_t len,
			     uint64_t now_ns)
{
	struct psdma *p = &b->psdma;
	uint64_t va = psdma_address(write ? p->dst : p->src) + p->total;

	p->burst = (struct dma_burst){
		.stream = BOARD_STREAM_PSDMA, .write = write,
		.channel = BUS_CHANNEL_PSDMA, .va = va, .len = len,
		.now_ns = now_ns, .cause = p->cause,
	};
}

/* A burst of the source that the destination takes in one, too. */
static uint32_t psdma_burst_len(const struct psdma *p)
{
	uint64_t src = psdma_address(p->src) + p->total;
	uint64_t dst = psdma_address(p->dst) + p->total;
	uint64_t len = p->src[2] - p->total;

	if (len > sizeof(p->data))
		len = sizeof(p->data);
	if (len > 4096 - src % 4096)
		len = 4096 - src % 4096;
	if (len > 4096 - dst % 4096)
		len = 4096 - dst % 4096;
	return (uint32_t)len;
}

static void psdma_end(struct board *b, uint32_t isr)
{
	struct psdma *p = &b->psdma;

	p->busy = false;
	p->ctrl2 &= ~PSDMA_CH_CTRL2_EN;
	p->isr |= isr;
	psdma_line(b);
}

static uint64_t psdma_fail(struct board *b)
{
	struct psdma *p = &b->psdma;

	p->error = true;
	psdma_emit(b, EV_PSDMA_ERROR, p->burst.write, p->burst.va, p->total, 0);
	psdma_end(b, PSDMA_CH_ISR_DMA_DONE |
			     (p->burst.write ? PSDMA_CH_ISR_AXI_WR_DATA :
					       PSDMA_CH_ISR_AXI_RD_DATA));
	return SIM_IDLE;
}

static uint64_t psdma_begin(struct board *b)
{
	struct psdma *p = &b->psdma;

	switch (bus_burst_begin(b, &p->burst)) {
	case DMA_OK:
		p->begun = true;
		return p->burst.delay_ns;
	case DMA_STALLED:
		p->held = true;
		return SIM_IDLE;
	default:
		p->cause = p->burst.event;
		return psdma_fail(b);
	}
}

/* The burst's data are there. */
static uint64_t psdma_burst_end(struct board *b, uint64_t now_ns)
{
	struct psdma *p = &b->psdma;
	enum dma_status s = bus_burst_end(b, &p->burst, p->data);

	p->begun = false;
	if (s != DMA_OK)
		return psdma_fail(b);
	p->cause = p->burst.event;
	psdma_emit(b, EV_PSDMA_BURST, p->burst.write, p->burst.va, p->burst.len,
		   p->burst.pa);
	if (!p->burst.write) {
		psdma_burst_next(b, true, p->burst.len, now_ns);
		return 0;
	}
	p->total += p->burst.len;
	p->burst.len = 0;
	return 0;
}

/* Between two bursts: the end, a stop, or the next piece of the source. */
static bool psdma_over(struct board *b)
{
	struct psdma *p = &b->psdma;

	if (!(p->ctrl2 & PSDMA_CH_CTRL2_EN)) {
		psdma_emit(b, EV_PSDMA_STOP, p->total, 0, 0, 0);
		p->busy = false;
		return true;
	}
	if (p->total < p->src[2])
		return false;
	psdma_emit(b, EV_PSDMA_DONE, p->total, 0, 0, 0);
	psdma_end(b, PSDMA_CH_ISR_DMA_DONE | PSDMA_CH_ISR_SRC_DSCR_DONE |
			     PSDMA_CH_ISR_DST_DSCR_DONE);
	return true;
}

uint64_t psdma_step(void *board, uint64_t now_ns)
{
	struct board *b = board;
	struct psdma *p = &b->psdma;

	if (!p->busy || p->held)
		return SIM_IDLE;
	if (p->begun)
		return psdma_burst_end(b, now_ns);
	if (psdma_over(b))
		return SIM_IDLE;
	if (!p->burst.len)
		psdma_burst_next(b, false, psdma_burst_len(p), now_ns);
	p->burst.now_ns = now_ns;
	return psdma_begin(b);
}

void psdma_resume(struct board *b, bool refused)
{
	if (!b->psdma.held)
		return;
	b->psdma.held = false;
	if (refused)
		psdma_fail(b);
	else
		sim_kick(&b->psdma_actor);
}

void psdma_reset(struct board *b)
{
	if (b->psdma.begun)
		sim_grace_exit(b->grace, BUS_CHANNEL_PSDMA);
	b->psdma = (struct psdma){ .imr = PSDMA_CH_IMR_RESET,
				   .ctrl0 = PSDMA_CH_CTRL0_RESET };
	psdma_line(b);
}

/* CTRL2 was written. A copy in simple mode of two equal sizes, or an error at once. */
static void psdma_enable(struct board *b, bool on)
{
	struct psdma *p = &b->psdma;

	if (!on || p->busy)
		return;
	p->cause = trace_last_software();
	p->error = false;
	p->total = 0;
	p->burst = (struct dma_burst){ 0 };
	p->busy = true;
	psdma_emit(b, EV_PSDMA_START, psdma_address(p->src),
		   psdma_address(p->dst), p->src[2], 0);
	if (!p->src[2] || p->src[2] != p->dst[2] ||
	    p->ctrl0 & (PSDMA_CH_CTRL0_MODE_MASK | PSDMA_CH_CTRL0_POINT_TYPE)) {
		p->burst.va = psdma_address(p->src);
		psdma_fail(b);
		return;
	}
	sim_kick(&b->psdma_actor);
}

static uint32_t psdma_read(const struct psdma *p, uint32_t off)
{
	switch (off) {
	case PSDMA_CH_ISR: return p->isr;
	case PSDMA_CH_IMR: return p->imr;
	case PSDMA_CH_CTRL0: return p->ctrl0;
	case PSDMA_CH_STATUS: return p->busy ? 2 : p->error ? 3 : 0;
	case PSDMA_CH_TOTAL_BYTE: return p->total;
	case PSDMA_CH_CTRL2: return p->ctrl2;
	default:
		if (off - PSDMA_CH_SRC_DSCR_WORD0 < sizeof(p->src))
			return p->src[(off - PSDMA_CH_SRC_DSCR_WORD0) / 4];
		if (off - PSDMA_CH_DST_DSCR_WORD0 < sizeof(p->dst))
			return p->dst[(off - PSDMA_CH_DST_DSCR_WORD0) / 4];
		return 0;
	}
}

static void psdma_word(uint32_t *word, unsigned int i, uint32_t value)
{
	static const uint32_t mask[] = { ~0u, PSDMA_MSB_MASK, PSDMA_SIZE_MASK,
					 1 };

	word[i] = value & mask[i];
}

static void psdma_write(struct board *b, uint32_t off, uint32_t value)
{
	struct psdma *p = &b->psdma;

	switch (off) {
	case PSDMA_CH_ISR: p->isr &= ~value; break;
	case PSDMA_CH_IEN: p->imr &= ~value; break;
	case PSDMA_CH_IDS: p->imr |= value & PSDMA_CH_IMR_RESET; break;
	case PSDMA_CH_CTRL2:
		p->ctrl2 = value & PSDMA_CH_CTRL2_EN;
		psdma_enable(b, p->ctrl2);
		break;
	default:
		/* What describes a copy does not change while it is under way. */
		if (p->busy)
			break;
		if (off == PSDMA_CH_CTRL0)
			p->ctrl0 = value;
		else if (off == PSDMA_CH_TOTAL_BYTE)
			p->total = value;
		else if (off - PSDMA_CH_SRC_DSCR_WORD0 < sizeof(p->src))
			psdma_word(p->src, (off - PSDMA_CH_SRC_DSCR_WORD0) / 4,
				   value);
		else if (off - PSDMA_CH_DST_DSCR_WORD0 < sizeof(p->dst))
			psdma_word(p->dst, (off - PSDMA_CH_DST_DSCR_WORD0) / 4,
				   value);
	}
	psdma_line(b);
}

int psdma_access(struct board *b, uint32_t off, unsigned int size,
		 uint64_t *value, bool write)
{
	if (size != 4 || off % 4)
		return -EINVAL;
	if (write)
		psdma_write(b, off, (uint32_t)*value);
	else
		*value = psdma_read(&b->psdma, off);
	return 0;
}
