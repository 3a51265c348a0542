// SPDX-License-Identifier: BSD-2-Clause
/*
 * A run: pages that follow one another, translated in one go for who moves more than one
 * burst at once. First it is only looked whether all of them are to be had; then, when
 * nothing has changed meanwhile, what their translation leaves behind is made up for.
 */
#include "smmu_internal.h"

#include "faultline/pte.h"

static uint64_t run_va(const struct smmu_run *r, uint32_t i)
{
	return i ? ((r->a.va >> 12) + i) << 12 : r->a.va;
}

/* The pages at the front that the port's own cache has; without the lock. */
static void look_noted(struct smmu_run *r)
{
	const uint32_t who = smmu_access_who(&r->a);
	uint64_t va = r->a.va;
	uint32_t i;

	for (i = 0; i < r->pages; i++) {
		const struct smmu_utlb_page *m = smmu_utlb_slot(r->a.utlb, va);

		if (!smmu_utlb_knows(m, who, va, r->changes))
			break;
		r->page[i].pa = m->pa | (va & 0xfff);
		r->page[i].walk = NULL;
		r->page[i].more = 0;
		r->tag[i] = m->tag;
		r->bank = m->bank;
		va = (va | 0xfff) + 1;
	}
	r->noted = i;
}

/* Lock held. Where the stream leads, if that is a bank where all goes its usual way. */
static const struct smmu_route *look_route(struct smmu *s,
					   const struct smmu_access *a)
{
	const struct smmu_route *route;

	if (*smmu_gr0(s, SMMU_GR0_CR0) & SMMU_GR0_CR0_CLIENTPD)
		return NULL;
	route = smmu_stream_route(s, a->stream);
	if (route->kind != SMMU_ROUTE_BANK ||
	    !(s->bank[route->bank].sctlr & SMMU_CB_SCTLR_M) ||
	    smmu_bank_blocked(s, route->bank))
		return NULL;
	return route;
}

/* Lock held. The first page of a last table, or a block. */
static bool look_walk(struct smmu *s, struct smmu_run *r, uint32_t i, uint32_t need)
{
	const struct smmu_access a = { .va = run_va(r, i) };
	struct smmu_walk *w = &s->run_walk[i];
	uint64_t reads = s->stats.walk_reads, inside;

	smmu_walk(s, r->bank, &a, w);
	s->stats.walk_reads = reads;	/* it has only been looked */
	r->page[i] = (struct trace_page){ .pa = w->pa };
	r->how[i] = w->level == 3 ? SMMU_RUN_PAGE : SMMU_RUN_BLOCK;
	inside = (UINT64_C(1) << smmu_level_shift(w->level)) - 1;
	if (r->how[i] == SMMU_RUN_BLOCK)
		r->tag[i] = s->env.frame_tag(s->env.ctx, w->pa & ~inside);
	return !w->fault && w->perm & need;
}

static bool look_hit(struct smmu_run *r, uint32_t i, const struct smmu_tlb_entry *e,
		     uint32_t need)
{
	uint64_t inside = (UINT64_C(1) << smmu_level_shift(e->level)) - 1;

	r->how[i] = SMMU_RUN_HIT;
	r->page[i] = (struct trace_page){ .pa = e->pa | (run_va(r, i) & inside) };
	r->tag[i] = e->tag;
	return e->perm & need;
}

/*
 * May the walk for the i-th page differ from that for page `first`, which the page before it
 * had as well, by its last descriptor alone?
 */
static bool look_may_be_next(const struct smmu *s, const struct smmu_run *r, uint32_t i,
			     uint32_t first)
{
	if (i == r->noted || r->how[i - 1] < SMMU_RUN_PAGE || !(run_va(r, i) >> 12 & 0x1ff))
		return false;
	/* The walk before may have brought its table into the walk cache. */
	return !s->walk_cache.entries ||
	       (s->run_walk[first].cached && s->run_walk[first].first == 3);
}

/* Lock held. The descriptors of page i and of those that follow it in the same table. */
static bool look_ahead(const struct smmu *s, struct smmu_run *r, uint32_t i,
		       const struct smmu_walk *first)
{
	uint32_t index = run_va(r, i) >> 12 & 0x1ff, n = r->pages - i;
	uint64_t pa = first->seen[3].table + 8 * index;

	if (n > 512 - index)
		n = 512 - index;
	if (s->env.read64s)
		r->ahead = i + s->env.read64s(s->env.ctx, pa, &r->desc[i], n);
	else
		r->ahead = i + (s->env.read64(s->env.ctx, pa, &r->desc[i]) == SMMU_MEM_OK);
	return i < r->ahead;
}

/*
 * Lock held. How many pages from i on, none of them `end` or behind it, have the descriptor of
 * page `first`, which allows what is needed, but for the address. Of these nothing else has to
 * be looked at; of another descriptor, all has.
 */
static uint32_t look_next(const struct smmu *s, struct smmu_run *r, uint32_t i, uint32_t end,
			  const struct smmu_walk *first)
{
	const uint64_t same = first->seen[3].desc & ~PTE_ADDR;
	const unsigned int bits = s->bank[r->bank].pa_bits;
	const uint32_t from = i;
	uint64_t pa;

	if (i >= r->ahead && !look_ahead(s, r, i, first))
		return 0;
	for (end = end < r->ahead ? end : r->ahead; i < end; i++) {
		pa = r->desc[i] & PTE_ADDR;
		if ((r->desc[i] & ~PTE_ADDR) != same || pa >> bits)
			break;
		r->how[i] = SMMU_RUN_NEXT;
		r->page[i] = (struct trace_page){ .pa = pa };
	}
	return i - from;
}

/* Lock held. The pages that were not noted. */
static bool look_pages(struct smmu *s, struct smmu_run *r, uint32_t need)
{
	const struct smmu_bank *b = &s->bank[r->bank];
	const struct smmu_tlb_entry *e;
	bool found = true, walked = false;
	uint32_t i, n, first = 0, misses;

	misses = r->noted + smmu_tlb_misses(&s->tlb, smmu_untag(run_va(r, r->noted)),
					    r->pages - r->noted, b->vmid, b->asid);
	for (i = r->noted; found && i < r->pages; i += n ? n : 1) {
		n = 0;
		e = i < misses ? NULL :
		    smmu_tlb_lookup(&s->tlb, smmu_untag(run_va(r, i)), b->vmid, b->asid);
		if (e) {
			found = look_hit(r, i, e, need);
			continue;
		}
		if (look_may_be_next(s, r, i, first))
			n = look_next(s, r, i, i < misses ? misses : i + 1, &s->run_walk[first]);
		if (!n) {
			/* What a walk brings into the walk cache is there when it is taken. */
			found = !(walked && s->walk_cache.entries) && look_walk(s, r, i, need);
			first = i;
			r->ahead = 0;
			walked = true;
		}
	}
	return found;
}

/* Pages that were not noted, with the lock. */
static bool look_rest(struct smmu *s, struct smmu_run *r)
{
	const struct smmu_route *route;
	bool all = false;

	smmu_enter(s);
	route = look_route(s, &r->a);
	/* What was found without the lock must be of the same moment. */
	if (route && (!r->noted || r->changes == smmu_changes(s))) {
		r->changes = smmu_changes(s);
		r->bank = route->bank;
		all = look_pages(s, r, smmu_rights(&r->a, route));
	}
	smmu_leave(s);
	return all;
}

bool smmu_run_look(struct smmu *s, struct smmu_run *r, uint32_t len)
{
	r->pages = (uint32_t)(((r->a.va & 0xfff) + len + 0xfff) >> 12);
	r->changes = smmu_changes(s);
	look_noted(r);
	return r->noted == r->pages || look_rest(s, r);
}

static void walk_told(const struct smmu_walk *w, struct trace_walk *t)
{
	uint32_t level;

	t->table = w->seen[w->first].table;
	t->first = w->first;
	t->levels = w->reads;
	t->cached = w->cached;
	for (level = 0; level < w->reads; level++)
		t->desc[level] = w->seen[w->first + level].desc;
}

/* Lock held. A page that is in the TLB by now. */
static void take_hit(struct smmu *s, const struct smmu_run *r, uint32_t i)
{
	const struct smmu_access a = { .utlb = r->a.utlb, .stream = r->a.stream,
				       .write = r->a.write, .privileged = r->a.privileged,
				       .va = run_va(r, i), .pa = r->page[i].pa,
				       .tag = r->tag[i], .bank = r->bank };

	smmu_count(&s->front.hits, 1);
	smmu_utlb_fill(s, &a);
}

/* Lock held. A page that a walk of its own leads to. */
static void take_walk(struct smmu *s, struct smmu_run *r, uint32_t i)
{
	const struct smmu_access a = { .va = run_va(r, i) };
	const struct smmu_bank *b = &s->bank[r->bank];
	const struct smmu_walk *w = &s->run_walk[i];

	walk_told(w, &r->told[i]);
	smmu_walk_leave(s, r->bank, &a, w);
	s->stats.walk_reads += w->reads;
	smmu_tlb_fill(&s->tlb, smmu_untag(a.va), b->vmid, b->asid, w, r->tag[i]);
	r->page[i].walk = &r->told[i];
	r->walks++;
}

/* Lock held. SMMU_RUN_NEXT: the i-th page, and those like it before `end`. How many? */
static uint32_t take_next(struct smmu *s, struct smmu_run *r, uint32_t i, uint32_t end,
			  uint32_t first)
{
	const struct smmu_bank *b = &s->bank[r->bank];
	struct smmu_walk *w = &s->run_walk[first];
	uint32_t n = 0;

	for (; i + n < end && r->how[i + n] == SMMU_RUN_NEXT; n++) {
		r->page[i + n].walk = &r->told[first];
		w->pa = r->page[i + n].pa;
		smmu_tlb_fill(&s->tlb, smmu_untag(run_va(r, i + n)), b->vmid, b->asid, w,
			      r->tag[i + n]);
	}
	s->stats.walks += n;	/* a walk cache has learned nothing */
	s->stats.walk_reads += n * w->reads;
	r->walks += n;
	return n;
}

/* Lock held. The pages that were not noted: as smmu_translate() would leave them behind. */
static void take_pages(struct smmu *s, struct smmu_run *r)
{
	const struct smmu_bank *b = &s->bank[r->bank];
	bool blocks = false;	/* one was walked to: it may hold pages that come later */
	uint32_t i, n, first = 0;

	for (i = r->noted; i < r->pages; i += n) {
		n = 1;
		if (r->how[i] == SMMU_RUN_HIT ||
		    (blocks && smmu_tlb_lookup(&s->tlb, smmu_untag(run_va(r, i)), b->vmid,
					       b->asid))) {
			take_hit(s, r, i);
		} else if (r->how[i] == SMMU_RUN_NEXT) {
			n = take_next(s, r, i, blocks ? i + 1 : r->pages, first);
		} else {
			take_walk(s, r, i);
			first = i;
			blocks |= r->how[i] == SMMU_RUN_BLOCK;
		}
	}
	if (r->walks)
		smmu_changed(s);
}

static bool take_rest(struct smmu *s, struct smmu_run *r)
{
	bool same;

	smmu_enter(s);
	same = r->changes == smmu_changes(s);
	if (same)
		take_pages(s, r);
	smmu_leave(s);
	return same;
}

bool smmu_run_take(struct smmu *s, struct smmu_run *r, uint32_t again)
{
	r->walks = 0;
	if (r->noted < r->pages && !take_rest(s, r))
		return false;
	smmu_count(&s->front.accesses, r->pages + again);
	smmu_count(&s->front.hits, r->noted + again);
	return true;
}
