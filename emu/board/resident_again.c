// SPDX-License-Identifier: BSD-2-Clause
/*
 * The resident step, once more. A queue pair whose last doorbell was served by that step alone
 * (resident.c), and that nothing has happened to since, is likely to be rung for a request
 * like the last one. Of that only what can differ is looked at: the request itself, its pages,
 * their tags, and what may be injected. The requests are carried out in the doorbell, and
 * neither engine nor firmware hears of them but by what they leave behind.
 *
 * Whatever else there is about a request, it goes the way of all others, and nothing has
 * happened to it before. tests/unit/test_resident.c and test_resident_way.c hold the two
 * against each other.
 */
#include <string.h>

#include "board/board_internal.h"
#include "faultline/regs.h"
#include "os/os.h"

/* Of one doorbell; then others have their turn. As in fw_resident.c. */
#define AGAIN_REQUESTS	FW_QP_WRS
#define AGAIN_BYTES	(1u << 20)
#define AGAIN_MOST	65536u	/* bytes of a request: SMMU_RUN_PAGES, wherever it begins */

static struct resident_way *way_of(struct board *b, uint32_t value)
{
	return &b->resident.way[value % RESIDENT_WAYS];
}

/* Some memory is gone: where things are has to be found anew. */
static void memory_forget(struct board *b, unsigned int removals)
{
	unsigned int port, i;

	b->resident.removals = removals;
	board_changed(b);
	for (port = 0; port < BUS_SMMU_CHANNELS; port++)
		for (i = 0; i < SMMU_UTLB_PAGES; i++)
			b->utlb[port].page[i].mem = NULL;
}

static bool board_is_same(struct board *b, uint64_t changes)
{
	unsigned int removals = atomic_load_explicit(&b->dram->removals, memory_order_relaxed);

	if (removals != b->resident.removals)
		memory_forget(b, removals);
	return b->changes == changes && board_is_well(b);
}

static bool page_hold(struct board *b, struct smmu_utlb_page *m)
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

static uint64_t page_tag(const struct smmu_utlb_page *m)
{
	return __atomic_load_n(m->frame_tag, __ATOMIC_ACQUIRE);
}

/* All pages of the side were noted, and are whose they were. */
static bool side_again(struct resident_side *s, unsigned int port, uint32_t who, uint64_t va,
		       uint32_t len)
{
	struct board *b = s->board;
	const uint64_t changes = smmu_front_changes(b->smmu_front);
	uint32_t inside = va % DRAM_PAGE, left = inside + len, i;
	struct resident_part *part = s->part - 1;
	const uint8_t *next = NULL;

	for (i = 0;; i++, va += DRAM_PAGE, left -= DRAM_PAGE) {
		struct smmu_utlb_page *m = smmu_utlb_slot(&b->utlb[port], va);

		if (!smmu_utlb_knows(m, who, va, changes) || (!m->mem && !page_hold(b, m)) ||
		    page_tag(m) != m->tag)
			return false;
		s->noted[i] = m;
		s->run.page[i].pa = m->pa;
		if (m->mem != next)
			*++part = (struct resident_part){ m->mem, 0 };
		part->bytes += DRAM_PAGE;
		next = m->mem + DRAM_PAGE;
		if (left <= DRAM_PAGE)
			break;
	}
	s->part[0].mem += inside;
	s->part[0].bytes -= inside;
	s->run.page[0].pa += inside;
	s->run.pages = i + 1;
	return true;
}

/* As side_end() of resident.c. */
static void side_leave(struct resident_side *s, uint64_t va, uint32_t xfer, uint64_t cause)
{
	uint32_t i;

	for (i = 0; i < s->run.pages; i++) {
		const struct smmu_utlb_page *m = s->noted[i];

		if ((page_tag(m) & ~DRAM_TAG_ORPHAN) != m->tag) {
			s->run.a.va = va;
			s->run.a.stream = (uint16_t)m->who;
			s->run.a.xfer = xfer;
			s->run.a.block = 1;
			s->run.a.cause = cause;
			bus_stale(s->board, &s->run.a, s->run.page[i].pa, m->tag);
		}
		if (m->used && !__atomic_load_n(m->used, __ATOMIC_RELAXED))
			__atomic_store_n(m->used, 1, __ATOMIC_RELAXED);
	}
	os_tsan_release(s->board->grace);
}

/* As smmu_run_take(); a page in which a block ends and the next begins is accessed twice. */
static void side_count(struct resident_side *s, uint32_t again)
{
	smmu_count(&s->board->smmu_front->accesses, s->run.pages + again);
	smmu_count(&s->board->smmu_front->hits, s->run.pages + again);
}

static uint64_t again_tell(struct board *b, struct resident_way *way, const struct fl_wqe *w,
			   const struct engine_went *went)
{
	const struct resident_side *s = b->resident.side;
	struct trace_write *t = &way->told;
	uint64_t event;

	t->m.va[0] = w->local_va;
	t->m.va[1] = w->remote_va;
	t->m.xfer = w->xfer;
	t->m.len = t->m.bytes = w->length;
	t->m.index = w->index;
	t->m.rxc = went->rxc;
	t->m.bank[0] = s[0].noted[0]->bank;
	t->m.bank[1] = s[1].noted[0]->bank;
	t->pages[0] = s[0].run.pages;
	t->pages[1] = s[1].run.pages;
	event = cause_emit_write(&b->causes, t);
	engine_resident_caused(b->engine, way->ctx, event);
	return t->last;
}

static bool again_move(struct board *b, struct resident_way *way, const struct fl_wqe *w)
{
	struct resident_side *s = b->resident.side;
	uint64_t cause = b->causes.doorbell[way->told.m.sender % CAUSE_QPS];
	uint32_t len = w->length;

	s[1].board = way->peer;
	if (len > AGAIN_MOST ||
	    !side_again(&s[0], 0, smmu_utlb_who(way->again.stream, false, false),
			w->local_va, len) ||
	    !side_again(&s[1], 1, smmu_utlb_who(way->landing.stream, true, false),
			w->remote_va, len))
		return false;
	resident_copy(s[0].part, s[1].part, len, false);
	side_leave(&s[0], w->local_va, w->xfer, cause);
	side_leave(&s[1], w->remote_va, w->xfer, cause);
	return true;
}

/* Both boards are held. True: it was the last that is posted. */
static bool again_one(struct board *b, struct resident_way *way, const struct fl_wqe *w,
		      uint16_t tail)
{
	struct engine_went went = { .bytes = w->length, .ctx = way->ctx };
	struct resident_side *s = b->resident.side;
	uint64_t event;

	engine_resident_went(b->engine, way->peer->engine, &went);
	side_count(&s[0], w->local_va % DRAM_PAGE ? went.blocks - 1 : 0);
	side_count(&s[1], w->remote_va % DRAM_PAGE ? went.blocks - 1 : 0);
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

bool resident_again(struct board *b, uint32_t off, uint32_t value)
{
	struct resident_way *way = way_of(b, value);
	struct board *peer = way->peer;
	bool done = false;

	if (!way->rests || way->bell_at != off || way->bell != (value & NIC_DB_SQ_QPN_MASK) ||
	    !board_is_same(b, way->changes[0]) || !fabric_is_clear(b->port, peer->cfg.id) ||
	    !sim_try_enter(peer->domain))
		return false;
	if (board_is_same(peer, way->changes[1]) && fabric_is_clear(peer->port, b->cfg.id))
		done = again_serve(b, way, (uint16_t)(value >> 16));
	sim_try_leave(peer->domain);
	return done;
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
