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
 * event. tests/unit/board/test_resident.c holds the two against each other.
 */
#include <assert.h>
#include <string.h>

#include "board/board_internal.h"
#include "board/copy.h"
#include "faultline/regs.h"
#include "os/os.h"

#define PIECE	65536u		/* of SMMU_RUN_PAGES pages, wherever it begins */
#define TURN	(1u << 18)	/* bytes of a step; then others have their turn */

struct piece {
	struct resident_side *side;	/* two */
	const struct fw_resident *r;
	uint32_t at, len;	/* bytes of r before it, and its own */
	uint32_t block;		/* its first */
	bool begins;
};

/* What stays the same from one step to the next is written once. */
void resident_make(struct board *b)
{
	struct resident *r = &b->resident;

	r->side[0].run.a.utlb = &b->utlb[0];
	r->side[0].board = b;
	r->side[1].run.a.write = true;
	b->changes = 1;
}

static void side_begin(struct resident_side *s, uint16_t stream,
		       const struct fw_resident *r)
{
	s->run.a.stream = stream;
	s->run.a.cause = r->cause;
	s->run.a.xfer = r->xfer;
	s->run.a.block = r->block;
}

/*
 * The frame of the i-th page is there, and whose it was when the page was translated. An
 * access with DRAM_TAG_ORPHAN is an event: the long way.
 */
static bool side_frame(struct resident_side *s, uint32_t i, const struct dram_bank **bank)
{
	struct dram_frame *f = &s->frame[i];
	struct smmu_run *run = &s->run;
	uint64_t tag;

	if (!dram_frame_find(s->board->dram, run->page[i].pa, bank, f))
		return false;
	tag = dram_frame_tag(f);
	if (i < run->noted || run->how[i] < SMMU_RUN_PAGE)
		return tag == run->tag[i];
	run->tag[i] = tag;
	return !(tag & DRAM_TAG_ORPHAN);
}

/* All pages of the side. */
static bool side_look(struct resident_side *s, uint64_t va, uint32_t len)
{
	struct resident_part *part = s->part - 1;
	struct smmu_run *run = &s->run;
	const struct dram_bank *bank = NULL;
	const uint8_t *next = NULL;
	uint32_t i, bytes;

	run->a.va = va;
	if (!smmu_run_look(s->board->smmu, run, len))
		return false;
	for (i = 0; i < run->pages; i++) {
		if (!side_frame(s, i, &bank))
			return false;
		bytes = DRAM_PAGE - (run->page[i].pa & (DRAM_PAGE - 1));
		if (s->frame[i].mem != next)
			*++part = (struct resident_part){ s->frame[i].mem, bytes };
		else
			part->bytes += bytes;
		next = s->frame[i].mem + bytes;
	}
	return true;
}

void resident_copy(const struct resident_part *from, const struct resident_part *to,
		   uint32_t bytes, bool far)
{
	struct resident_part f = *from, t = *to;
	uint32_t n;

	copy_after(bytes);
	for (;;) {
		n = f.bytes < t.bytes ? f.bytes : t.bytes;
		n = n < bytes ? n : bytes;
		if (far && n >= COPY_FAR_BYTES)
			copy_far(t.mem, f.mem, n);
		else
			memcpy(t.mem, f.mem, n);
		bytes -= n;
		if (!bytes)
			return;
		f.mem += n;
		f.bytes -= n;
		if (!f.bytes)
			f = *++from;
		t.mem += n;
		t.bytes -= n;
		if (!t.bytes)
			t = *++to;
	}
}

/*
 * The data; the last pages may be longer than what there is of them. Memory that the TLB does
 * not know will not be in a cache either.
 */
static void piece_move(const struct piece *p)
{
	struct resident_side *s = p->side;

	resident_copy(s[0].part, s[1].part, p->len, s[1].run.walks == s[1].run.pages);
}

/* As the long way does: report a frame that changed hands while its data moved. */
static void side_end(struct resident_side *s)
{
	const struct smmu_run *r = &s->run;
	uint32_t i;

	for (i = 0; i < r->pages; i++) {
		const struct dram_frame *f = &s->frame[i];

		if ((dram_frame_tag(f) & ~DRAM_TAG_ORPHAN) != r->tag[i])
			bus_stale(s->board, &r->a, r->page[i].pa, r->tag[i]);
		dram_frame_use(f);
	}
	/* A TLB synchronise waits for this thread as after any access (grace.c). */
	os_tsan_release(s->board->grace);
}

/* Pages in which a block ends and the next begins: each of them is accessed twice. */
static uint32_t pages_again(const struct piece *p, uint64_t va)
{
	return va % DRAM_PAGE ? (p->len - 1) >> p->side[0].board->block_log2 : 0;
}

/* Look at both sides, and take them. False: nothing has changed, or has but TLBs. */
static bool piece_begin(struct piece *p)
{
	struct resident_side *s = p->side;

	return side_look(&s[0], p->r->lva + p->at, p->len) &&
	       side_look(&s[1], p->r->rva + p->at, p->len) &&
	       smmu_run_take(s[0].board->smmu, &s[0].run,
			     pages_again(p, s[0].run.a.va)) &&
	       smmu_run_take(s[1].board->smmu, &s[1].run,
			     pages_again(p, s[1].run.a.va));
}

/* What there is to tell of the piece, but for the end of the request. */
static void piece_note(const struct piece *p, const struct engine_went *w,
		       struct trace_write *t)
{
	const struct smmu_run *from = &p->side[0].run, *to = &p->side[1].run;
	const struct fw_resident *r = p->r;

	t->xfer = r->xfer;
	t->block = p->block;
	t->cause = from->a.cause;
	t->len = p->len;
	t->rxc = w->rxc;
	t->begins = p->begins;
	t->index = r->index;
	t->bytes = r->bytes;
	t->walks = from->walks || to->walks;
	t->from_va = from->a.va;
	t->to_va = to->a.va;
	t->from_bank = from->bank;
	t->to_bank = to->bank;
	t->blocks = w->blocks;
	t->cells = w->cells;
	t->bursts[0] = from->pages + pages_again(p, from->a.va);
	t->bursts[1] = to->pages + pages_again(p, to->a.va);
	t->pages[0] = from->pages;
	t->pages[1] = to->pages;
	t->page[0] = from->page;
	t->page[1] = to->page;
}

uint64_t board_resident_tell(void *board, bool ends)
{
	struct board *b = board;
	struct resident *r = &b->resident;
	struct trace_write *t = r->told;

	assert(r->untold || !ends);
	if (r->untold) {
		r->untold = false;
		t->ends = ends;
		r->event = cause_emit_write(&b->causes, t);
		engine_resident_caused(b->engine, t->same.ctx, r->event);
	}
	return ends ? t->last : r->event;
}

/* It has gone: what that leaves behind. On to what is left. */
static void piece_end(struct piece *p, const struct fw_landing *l)
{
	struct board *from = p->side[0].board, *to = p->side[1].board;
	struct engine_went w = { .bytes = p->len, .ctx = p->r->ctx };

	engine_resident_went(from->engine, to->engine, &w);
	fw_landing_done(to->fw, l, p->r, p->block, p->len, w.gen);
	fabric_passed(from->port, p->r->node, w.cells, p->len, w.blocks);
	from->resident.bytes += p->len;
	piece_note(p, &w, from->resident.told);
	from->resident.untold = true;
	p->begins = false;
	p->block += w.blocks;
	p->at += p->len;
}

static uint32_t resident_move(struct board *b, struct resident_way *way,
			      struct fw_resident *r)
{
	struct piece p = { .side = b->resident.side, .r = r, .block = r->block,
			   .begins = r->begins };
	uint32_t left;

	b->resident.told = &way->told;
	p.side[0].place.len = p.side[1].place.len = 0;
	p.side[1].board = way->peer;
	p.side[1].run.a.utlb = &way->peer->utlb[1];
	side_begin(&p.side[0], r->stream, r);
	side_begin(&p.side[1], way->landing.stream, r);
	for (; p.at < r->len && p.at < TURN;) {
		left = r->len - p.at;
		p.len = left < PIECE ? left : PIECE;
		/* Record what has gone before the sides describe the next pages. */
		if (p.at)
			p.side[0].run.a.cause = board_resident_tell(b, false);
		r->missing = !piece_begin(&p);
		if (r->missing)
			break;
		piece_move(&p);
		side_end(&p.side[0]);
		side_end(&p.side[1]);
		piece_end(&p, &way->landing);
	}
	return p.at;
}

/* The other board, if it is in this process and nothing is injected on the way there. */
static struct board *way_peer(struct board *b, const struct resident_way *way,
			      const struct fw_resident *r)
{
	if (way->changes[0] != b->changes || way->src != r->src)
		return fabric_neighbour(b->port, r->node, board_receive);
	return fabric_is_clear(b->port, r->node) ? way->peer : NULL;
}

/* The part of the trace entry that is the same for all requests like r. */
static void way_told(struct resident_way *way, const struct board *b,
		     const struct fw_resident *r)
{
	way->told = (struct trace_write){
		.same = { .board = b->cfg.id, .peer = r->node, .qpn = r->qpn,
			  .sender = r->src & NIC_CTX_SRC_QPN_MASK, .ctx = r->ctx,
			  .cell_log2 = b->cell_log2, .block_log2 = b->block_log2 },
	};
}

/*
 * Both boards are held: where requests of r's queue pair lead. False: the long way. What is
 * not looked at anew changes with board_changed() alone.
 */
static bool way_find(struct resident_way *way, struct board *b, struct board *peer,
		     const struct fw_resident *r)
{
	if (way->changes[0] == b->changes && way->changes[1] == peer->changes &&
	    way->peer == peer && way->src == r->src && way->ctx == r->ctx &&
	    way->landing.key == r->rkey)
		return true;
	way->changes[0] = 0;
	way->rests = false;
	if (b->stalled[0].silent || peer->stalled[1].silent ||
	    !engine_resident_may(b->engine, peer->engine, r->ctx) ||
	    !fw_landing_find(peer->fw, b->cfg.id, r, &way->landing))
		return false;
	way->changes[0] = b->changes;
	way->changes[1] = peer->changes;
	way->peer = peer;
	way->src = r->src;
	way->ctx = r->ctx;
	way_told(way, b, r);
	return true;
}

uint32_t board_resident(void *board, struct fw_resident *r)
{
	struct board *b = board, *peer;
	struct resident_way *way = &b->resident.way[r->src % RESIDENT_WAYS];
	uint32_t done = 0;

	peer = way_peer(b, way, r);
	if (!peer || peer == b || !board_is_well(b) || !sim_try_enter(peer->domain))
		return 0;
	/* The way back is looked at by who holds the board there. */
	if (board_is_well(peer) && fabric_is_clear(peer->port, b->cfg.id) &&
	    way_find(way, b, peer, r) && fw_landing_may(peer->fw, &way->landing, r))
		done = resident_move(b, way, r);
	sim_try_leave(peer->domain);
	return done;
}
