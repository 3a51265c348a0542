// SPDX-License-Identifier: BSD-2-Clause
/*
 * The resident step: blocks of a WRITE whose pages are all there, on two boards of this
 * process, go from memory to memory in one go. Firmware, engine, SMMU and wire are then as
 * if each had done its part, and the trace has one entry for all that they would have told.
 *
 * It is taken where time is real, by engines in C, and only when nothing else can happen:
 * no page is missing, nothing is injected, captured, stalled or stale, nothing of the queue
 * pair is under way, and the other board is free this moment. Anything else makes it return
 * 0 before anything has changed, and the block goes the long way, which records it event by
 * event. tests/unit/test_resident.c holds the two against each other.
 */
#include <string.h>

#include "board/board_internal.h"

#define PIECE	65536u		/* of SMMU_RUN_PAGES pages, wherever it begins */
#define TURN	(1u << 18)	/* bytes of a step; then others have their turn */

/* One of the two sides of a piece. */
struct side {
	struct board *board;
	struct smmu_run run;
	uint8_t *mem[SMMU_RUN_PAGES];
};

struct piece {
	struct side side[2];
	struct fw_resident r;	/* what is left, from this piece on */
	uint32_t len;
};

static bool board_is_well(struct board *b, unsigned int channel)
{
	return !atomic_load_explicit(&b->broken, memory_order_relaxed) &&
	       !atomic_load_explicit(&b->dram->injections,
				     memory_order_relaxed) &&
	       !b->stalled[channel].silent;
}

static void side_begin(struct side *s, struct board *b, unsigned int channel,
		       uint16_t stream, const struct fw_resident *r)
{
	s->board = b;
	s->run.a.utlb = &b->utlb[channel];
	s->run.a.stream = stream;
	s->run.a.write = channel == 1;
	s->run.a.privileged = false;
	s->run.a.cause = r->cause;
	s->run.a.xfer = r->xfer;
	s->run.a.block = r->block;
}

/*
 * What the TLB does not know will not be in the cache either: the first lines of the page come
 * from far memory while the others are looked for.
 */
#define FETCH_BYTES	1024u

static void page_fetch(const uint8_t *mem, bool write)
{
	unsigned int i;

	for (i = 0; i < FETCH_BYTES; i += 64) {
		if (write)
			__builtin_prefetch(mem + i, 1);
		else
			__builtin_prefetch(mem + i, 0);
	}
}

/* All pages of the side, and whose frames they were when they were translated. */
static bool side_look(struct side *s, uint64_t va, uint32_t len)
{
	struct smmu_run *run = &s->run;
	struct dram *d = s->board->dram;
	uint32_t i;

	run->a.va = va;
	if (!smmu_run_look(s->board->smmu, run, len))
		return false;
	for (i = 0; i < run->pages; i++) {
		const struct dram_bank *bank = dram_bank_of(d, run->page[i].pa, 1);

		/* An access with DRAM_TAG_ORPHAN is an event: the long way. */
		if (!bank || dram_tag(d, run->page[i].pa) != run->page[i].tag)
			return false;
		s->mem[i] = bank->mem + (run->page[i].pa - bank->base);
		if (run->page[i].how == SMMU_RUN_WALK)
			page_fetch(s->mem[i], run->a.write);
	}
	return true;
}

/* Bytes of the i-th page that are in the piece. */
static uint32_t page_bytes(const struct smmu_run *run, uint32_t i, uint32_t len)
{
	uint64_t first = i ? ((run->a.va >> 12) + i) << 12 : run->a.va;
	uint32_t room = 4096 - (uint32_t)(first & 4095);
	uint32_t rest = len - (uint32_t)(first - run->a.va);

	return rest < room ? rest : room;
}

/* The data. Pages that lie behind one another in memory go together. */
static void piece_move(struct piece *p)
{
	struct side *from = &p->side[0], *to = &p->side[1];
	uint32_t left = p->len, f = 0, t = 0, n, fn = 0, tn = 0;
	const uint8_t *src = NULL;
	uint8_t *dst = NULL;

	while (left) {
		for (; !fn || (f < from->run.pages && src + fn == from->mem[f]); f++) {
			src = fn ? src : from->mem[f];
			fn += page_bytes(&from->run, f, p->len);
		}
		for (; !tn || (t < to->run.pages && dst + tn == to->mem[t]); t++) {
			dst = tn ? dst : to->mem[t];
			tn += page_bytes(&to->run, t, p->len);
		}
		n = fn < tn ? fn : tn;
		memcpy(dst, src, n);
		src += n;
		dst += n;
		fn -= n;
		tn -= n;
		left -= n;
	}
}

/* As the long way does: report a frame that changed hands while its data moved. */
static void side_end(struct side *s)
{
	struct dram *d = s->board->dram;
	uint32_t i;

	for (i = 0; i < s->run.pages; i++) {
		const struct smmu_run_page *p = &s->run.page[i];

		if ((dram_tag(d, p->pa) & ~DRAM_TAG_ORPHAN) != p->tag)
			bus_stale(s->board, &s->run.a, p);
		dram_use(d, p->pa);
	}
}

/* Pages in which a block ends and the next begins: each of them is accessed twice. */
static uint32_t pages_again(const struct piece *p, uint64_t va)
{
	return va % 4096 ? (p->len - 1) >> p->side[0].board->block_log2 : 0;
}

/* Look at both sides, and take them. False: nothing has changed, or has but TLBs. */
static bool piece_begin(struct piece *p)
{
	struct side *s = p->side;

	return side_look(&s[0], p->r.lva, p->len) &&
	       side_look(&s[1], p->r.rva, p->len) &&
	       smmu_run_take(s[0].board->smmu, &s[0].run,
			     pages_again(p, p->r.lva)) &&
	       smmu_run_take(s[1].board->smmu, &s[1].run,
			     pages_again(p, p->r.rva));
}

static uint64_t piece_tell(struct piece *p, const struct engine_went *w)
{
	const struct board *b = p->side[0].board;
	const struct fw_resident *r = &p->r;
	struct trace_write t;
	uint32_t side, i;

	t.at = (struct trace_at){ .board = b->cfg.id, .xfer = r->xfer,
				  .block = r->block, .cause = r->cause };
	t.len = p->len;
	t.qpn = r->qpn;
	t.peer = r->node;
	t.ctx = r->ctx;
	t.rxc = w->rxc;
	t.cell_log2 = b->cell_log2;
	t.block_log2 = b->block_log2;
	for (side = 0; side < 2; side++) {
		const struct smmu_run *run = &p->side[side].run;

		t.va[side] = run->a.va;
		t.bank[side] = run->bank;
		t.pages[side] = run->pages;
		for (i = 0; i < run->pages; i++) {
			t.page[side][i].pa = run->page[i].pa;
			t.page[side][i].walk = run->page[i].walk;
		}
	}
	return trace_emit_write(b->cfg.trace, &t);
}

/* It has gone: what that leaves behind. On to what is left. Returns its record. */
static uint64_t piece_end(struct piece *p)
{
	struct board *from = p->side[0].board, *to = p->side[1].board;
	struct engine_went w = { .bytes = p->len, .ctx = p->r.ctx };
	uint64_t event;

	engine_resident_went(from->engine, to->engine, &w);
	fw_resident_landed(to->fw, from->cfg.id, &p->r, p->len, w.gen);
	fabric_passed(from->port, p->r.node, w.cells, p->len, w.blocks);
	from->resident_bytes += p->len;
	event = piece_tell(p, &w);
	engine_resident_caused(from->engine, p->r.ctx, event);
	p->r.block += w.blocks;
	p->r.lva += p->len;
	p->r.rva += p->len;
	p->r.len -= p->len;
	return event;
}

static uint32_t resident_move(struct board *b, struct board *peer, uint16_t stream,
			      const struct fw_resident *r, uint64_t *event)
{
	uint32_t done;
	struct piece p;

	p.r = *r;
	side_begin(&p.side[0], b, 0, r->stream, r);
	side_begin(&p.side[1], peer, 1, stream, r);
	for (done = 0; p.r.len && done < TURN; done += p.len) {
		p.len = p.r.len < PIECE ? p.r.len : PIECE;
		if (!piece_begin(&p))
			break;
		piece_move(&p);
		side_end(&p.side[0]);
		side_end(&p.side[1]);
		*event = piece_end(&p);
	}
	return done;
}

uint32_t board_resident(void *board, const struct fw_resident *r, uint64_t *event)
{
	struct board *b = board, *peer;
	uint16_t stream;
	uint32_t done = 0;

	peer = fabric_neighbour(b->port, r->node, board_receive);
	if (!peer || peer == b || !board_is_well(b, 0) ||
	    !sim_try_enter(peer->domain))
		return 0;
	/* The way back is looked at by who holds the board there. */
	if (board_is_well(peer, 1) && fabric_is_clear(peer->port, b->cfg.id) &&
	    engine_resident_may(b->engine, peer->engine, r->ctx) &&
	    fw_resident_may(peer->fw, b->cfg.id, r, &stream))
		done = resident_move(b, peer, stream, r, event);
	sim_try_leave(peer->domain);
	return done;
}
