// SPDX-License-Identifier: BSD-2-Clause
/*
 * The resident step, once more. A queue pair whose last doorbell was served by that step alone
 * (resident.c), and that nothing has happened to since, is likely to be rung for a request
 * like the last one. Of that only what can differ is looked at: the request itself, its pages,
 * their tags, and what may be injected. The requests are carried out in the doorbell, and
 * neither engine nor firmware hears of them but by what they leave behind.
 *
 * Whatever else there is about a request, it goes the way of all others, and nothing has
 * happened to it before. tests/unit/board/test_resident.c and test_resident_way.c hold the two
 * against each other.
 */
#include <string.h>

#include "board/board_internal.h"
#include "board/copy.h"
#include "faultline/regs.h"

/* Of one doorbell; then others have their turn. As in fw_resident.c. */
#define AGAIN_REQUESTS	FW_QP_WRS
#define AGAIN_BYTES	(1u << 20)

static struct resident_way *way_of(struct board *b, uint32_t value)
{
	return &b->resident.way[value % RESIDENT_WAYS];
}

/* Some memory is gone: where things are has to be found anew. */
static __attribute__((noinline)) void memory_forget(struct board *b, unsigned int removals)
{
	unsigned int port, i;

	b->resident.removals = removals;
	board_changed(b);
	for (port = 0; port < BUS_SMMU_CHANNELS; port++)
		for (i = 0; i < SMMU_UTLB_PAGES; i++)
			b->utlb[port].page[i].mem = NULL;
}

static inline bool board_is_same(struct board *b, uint64_t changes)
{
	unsigned int removals = atomic_load_explicit(&b->dram->removals, memory_order_relaxed);

	if (removals != b->resident.removals)
		memory_forget(b, removals);
	return b->changes == changes && board_is_well(b);
}

static __attribute__((noinline)) bool page_hold(struct board *b, struct smmu_utlb_page *m)
{
	const struct dram_bank *bank = NULL;
	struct dram_frame f;

	if (!dram_frame_find(b->dram, m->pa, &bank, &f))
		return false;
	m->mem = f.mem;
	m->frame_tag = f.tag;
	m->used = f.used;
	return true;
}

static inline uint64_t page_tag(const struct smmu_utlb_page *m)
{
	return __atomic_load_n(m->frame_tag, __ATOMIC_ACQUIRE);
}

static inline struct resident_place place_of(struct board *b, bool write, uint16_t stream,
					     uint64_t va, uint32_t len)
{
	return (struct resident_place){ b, va, smmu_front_changes(b->smmu_front),
					smmu_utlb_who(stream, write, false), len };
}

/* The page at va if it was noted, and is whose it was; or NULL. */
static inline struct smmu_utlb_page *page_again(const struct resident_place *p,
						unsigned int port, uint64_t va)
{
	struct smmu_utlb_page *m = smmu_utlb_slot(&p->board->utlb[port], va);

	if (!smmu_utlb_knows(m, p->who, va, p->changes) ||
	    (!m->mem && !page_hold(p->board, m)) || page_tag(m) != m->tag)
		return NULL;
	return m;
}

static inline void page_use(uint8_t *used)
{
	if (used && !__atomic_load_n(used, __ATOMIC_RELAXED))
		__atomic_store_n(used, 1, __ATOMIC_RELAXED);
}

/* Report a frame that changed hands while its data moved, as the long way does. */
static __attribute__((noinline)) void page_stale(const struct resident_place *p, uint64_t pa,
						 uint64_t tag, uint32_t xfer)
{
	const struct smmu_access a = { .stream = (uint16_t)p->who, .xfer = xfer, .block = 1 };

	if (bus_frame_tag(p->board, pa) != tag)
		bus_stale(p->board, &a, pa, tag);
	dram_use(p->board->dram, pa);
}

/* A page lies behind those of the last part, or begins another one. False: too many parts. */
static bool side_part(struct resident_side *s, const struct smmu_utlb_page *m)
{
	struct resident_part *part = s->part + s->parts;
	struct trace_page *told = s->told + s->tellings;
	bool behind = s->parts && part[-1].mem + part[-1].bytes == m->mem;

	if (behind && told[-1].more < TRACE_PAGE_MORE) {
		part[-1].bytes += DRAM_PAGE;
		told[-1].more++;
		return true;
	}
	if (s->tellings == SMMU_RUN_PAGES)
		return false;
	*told = (struct trace_page){ .pa = m->pa };
	s->tellings++;
	if (behind) {
		part[-1].bytes += DRAM_PAGE;
		return true;
	}
	*part = (struct resident_part){ m->mem, DRAM_PAGE };
	s->parts++;
	return true;
}

/* All pages of the side. */
static bool side_look(struct resident_side *s, unsigned int port,
		      const struct resident_place *p)
{
	uint32_t inside = p->va % DRAM_PAGE, i;
	uint64_t pages = (inside + (uint64_t)p->len + DRAM_PAGE - 1) / DRAM_PAGE;
	struct smmu_utlb_page *m;

	s->place.len = s->parts = s->tellings = 0;
	s->tagged = dram_tagged(p->board->dram);
	if (pages > RESIDENT_AGAIN_PAGES)
		return false;
	for (i = 0; i < pages; i++) {
		m = page_again(p, port, p->va + (uint64_t)i * DRAM_PAGE);
		if (!m || !side_part(s, m))
			return false;
		page_use(m->used);
		s->held[i] = (struct resident_held){ m->frame_tag, m->used, m->tag, m->pa };
		s->bank = m->bank;
	}
	s->part[0].mem += inside;
	s->part[0].bytes -= inside;
	s->told[0].pa += inside;
	s->pages = (uint32_t)pages;
	s->place = *p;
	return true;
}

static inline bool held_same(const struct resident_held *h)
{
	return __atomic_load_n(h->tag_at, __ATOMIC_ACQUIRE) == h->tag;
}

static __attribute__((noinline)) bool side_check(struct resident_side *s, uint64_t tagged)
{
	const struct resident_held *h = s->held, *end = h + s->pages;

	for (; h < end; h++) {
		if (!held_same(h))
			return false;
		page_use(h->used);
	}
	s->tagged = tagged;
	return true;
}

/* It was looked at for the request before: then only the tags can be others. */
static inline bool side_same(struct resident_side *s)
{
	uint64_t tagged = dram_tagged(s->place.board->dram);

	return tagged == s->tagged || side_check(s, tagged);
}

static bool side_again(struct resident_side *s, unsigned int port,
		       const struct resident_place *p)
{
	const struct resident_place *q = &s->place;

	return p->va == q->va && p->changes == q->changes && p->len == q->len &&
	       p->who == q->who && p->board == q->board ? side_same(s) :
							  side_look(s, port, p);
}

static __attribute__((noinline)) void side_stale(const struct resident_side *s, uint32_t xfer)
{
	const struct resident_held *h = s->held, *end = h + s->pages;

	for (; h < end; h++)
		if (!held_same(h))
			page_stale(&s->place, h->pa, h->tag, xfer);
}

static inline void side_leave(const struct resident_side *s, uint32_t xfer)
{
	if (dram_tagged(s->place.board->dram) != s->tagged)
		side_stale(s, xfer);
}

static __attribute__((noinline)) bool pages_move(struct resident_side *s,
						 const struct resident_place *from,
						 const struct resident_place *to, uint32_t xfer)
{
	if (!side_again(&s[0], 0, from) || !side_again(&s[1], 1, to))
		return false;
	resident_copy(s[0].part, s[1].part, from->len, false);
	side_leave(&s[0], xfer);
	side_leave(&s[1], xfer);
	return true;
}

/* The same where there is but one page on each side. */
static inline bool page_move(struct resident_side *s, const struct resident_place *from,
			     const struct resident_place *to, uint32_t xfer)
{
	uint32_t in[2] = { from->va % DRAM_PAGE, to->va % DRAM_PAGE };
	const struct smmu_utlb_page *source = page_again(from, 0, from->va);
	const struct smmu_utlb_page *sink = page_again(to, 1, to->va);

	if (!source || !sink)
		return false;
	copy_after(DRAM_PAGE);
	memcpy(sink->mem + in[1], source->mem + in[0], from->len);
	if (page_tag(source) != source->tag)
		page_stale(from, source->pa + in[0], source->tag, xfer);
	if (page_tag(sink) != sink->tag)
		page_stale(to, sink->pa + in[1], sink->tag, xfer);
	page_use(source->used);
	page_use(sink->used);
	s[0].told[0].pa = source->pa + in[0];
	s[1].told[0].pa = sink->pa + in[1];
	s[0].told[0].more = s[1].told[0].more = 0;
	s[0].tellings = s[1].tellings = 1;
	s[0].pages = s[1].pages = 1;
	s[0].bank = source->bank;
	s[1].bank = sink->bank;
	s[0].place.len = s[1].place.len = 0;
	return true;
}

/* A TLB synchronise waits until the boards are left: bus_sync_done(). */
static inline bool again_move(struct board *b, struct resident_way *way,
			      const struct fl_wqe *w)
{
	const struct resident_place from = place_of(b, false, way->again.stream, w->local_va,
						    w->length);
	const struct resident_place to = place_of(way->peer, true, way->landing.stream,
						  w->remote_va, w->length);
	struct resident_side *s = b->resident.side;

	if (from.va % DRAM_PAGE + w->length <= DRAM_PAGE &&
	    to.va % DRAM_PAGE + w->length <= DRAM_PAGE)
		return page_move(s, &from, &to, w->xfer);
	return pages_move(s, &from, &to, w->xfer);
}

/* As smmu_run_take(); a page in which a block ends and the next begins is accessed twice. */
static inline uint32_t side_count(const struct resident_side *s, struct board *b, uint64_t va,
				  uint32_t blocks)
{
	uint32_t n = s->pages + (va % DRAM_PAGE ? blocks - 1 : 0);

	smmu_count(&b->smmu_front->accesses, n);
	smmu_count(&b->smmu_front->hits, n);
	return n;
}

static uint64_t again_tell(struct board *b, struct resident_way *way, const struct fl_wqe *w,
			   const struct engine_went *went)
{
	const struct resident_side *s = b->resident.side;
	struct trace_write *t = &way->told;
	uint64_t event;

	t->from_va = w->local_va;
	t->xfer = w->xfer;
	t->len = t->bytes = w->length;
	t->to_va = w->remote_va;
	t->block = 1;
	t->from_bank = s[0].bank;
	t->rxc = went->rxc;
	t->index = w->index;
	t->to_bank = s[1].bank;
	t->begins = t->ends = true;
	t->walks = false;
	t->blocks = went->blocks;
	t->cells = went->cells;
	t->bursts[0] = side_count(&s[0], b, w->local_va, went->blocks);
	t->bursts[1] = side_count(&s[1], way->peer, w->remote_va, went->blocks);
	t->pages[0] = s[0].tellings;
	t->pages[1] = s[1].tellings;
	t->page[0] = s[0].told;
	t->page[1] = s[1].told;
	event = cause_emit_write(&b->causes, t);
	engine_resident_caused(b->engine, way->ctx, event);
	return t->last;
}

/* Both boards are held. True: it was the last that is posted. */
static bool again_one(struct board *b, struct resident_way *way, const struct fl_wqe *w,
		      uint16_t tail)
{
	struct engine_went went = { .bytes = w->length, .ctx = way->ctx };
	uint64_t event;

	engine_resident_went(b->engine, way->peer->engine, &went);
	fw_again_landed(way->peer->fw, &way->landing, way->src & NIC_CTX_SRC_RELAXED,
			went.blocks, went.gen);
	fabric_passed(b->port, way->peer->cfg.id, went.cells, w->length, went.blocks);
	event = again_tell(b, way, w, &went);
	b->resident.bytes += w->length;
	b->resident.again++;
	return fw_again_done(b->fw, &way->again, w, went.blocks, event, tail);
}

static bool again_serve(struct board *b, struct resident_way *way, uint16_t tail)
{
	uint32_t n = AGAIN_REQUESTS, bytes = 0;
	struct fl_wqe w;

	do {
		if (!fw_again_next(&way->again, &way->landing, tail, &w) ||
		    !again_move(b, way, &w))
			return false;
		bytes += w.length;
		if (again_one(b, way, &w, tail))
			return true;
	} while (--n && bytes < AGAIN_BYTES);
	return false;
}

bool resident_again(struct board *b, uint32_t off, uint32_t value, struct board **peer)
{
	struct resident_way *way = way_of(b, value);
	struct board *to = way->peer;

	/* At most one other board at a time, and that is not waited for. */
	if (!way->rests || way->bell_at != off || way->bell != (value & NIC_DB_SQ_QPN_MASK) ||
	    !board_is_same(b, way->changes[0]) || !fabric_is_clear(b->port, to->cfg.id) ||
	    (*peer ? *peer != to : !sim_try_enter(to->domain)))
		return false;
	*peer = to;
	if (!board_is_same(to, way->changes[1]) || !fabric_is_clear(to->port, b->cfg.id))
		return false;
	return again_serve(b, way, (uint16_t)(value >> 16));
}

void resident_learn(struct board *b, uint32_t off, uint32_t value)
{
	struct resident_way *way = way_of(b, value);
	uint32_t place = FW_QP_PLACE(value);

	if (way->rests || way->changes[0] != b->changes ||
	    FW_QP_PLACE(way->src & NIC_CTX_SRC_QPN_MASK) != place)
		return;
	way->rests = fw_again_find(b->fw, place, &way->again);
	way->bell_at = off;
	way->bell = value & NIC_DB_SQ_QPN_MASK;
}
