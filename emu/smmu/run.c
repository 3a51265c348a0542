// SPDX-License-Identifier: BSD-2-Clause
/*
 * A run: pages that follow one another, translated in one go for who moves more than one
 * burst at once. First it is only looked whether all of them are to be had; then, when
 * nothing has changed meanwhile, what their translation leaves behind is made up for.
 */
#include "smmu_internal.h"

static uint64_t run_va(const struct smmu_run *r, uint32_t i)
{
	return i ? ((r->a.va >> 12) + i) << 12 : r->a.va;
}

/* The pages at the front that the port's own cache has; without the lock. */
static void look_noted(struct smmu_run *r)
{
	const uint32_t who = smmu_utlb_who(&r->a);
	uint64_t va = r->a.va;
	uint32_t i;

	for (i = 0; i < r->pages; i++) {
		const struct smmu_utlb_page *m = smmu_utlb_slot(&r->a, va);

		if (!smmu_utlb_knows(m, who, va, r->changes))
			break;
		r->page[i].pa = m->pa | (va & 0xfff);
		r->page[i].walk = NULL;
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

/* The walk for the i-th page. Most follow a page whose walk was the same but for its end. */
static void look_walk(struct smmu *s, const struct smmu_run *r, uint32_t i,
		      const struct smmu_access *a, unsigned int bank)
{
	const struct smmu_walk *before = i > r->noted ? &s->run_walk[i - 1] : NULL;
	uint64_t reads = s->stats.walk_reads;

	if (before && r->walked[i - 1] && before->level == 3 && a->va & (0x1ffull << 12))
		smmu_walk_next(s, bank, a, before, &s->run_walk[i]);
	else
		smmu_walk(s, bank, a, &s->run_walk[i]);
	s->stats.walk_reads = reads;	/* it has only been looked */
}

static bool look_page(struct smmu *s, struct smmu_run *r, uint32_t i,
		      const struct smmu_route *route, uint32_t need)
{
	const struct smmu_bank *b = &s->bank[route->bank];
	struct trace_page *p = &r->page[i];
	uint64_t va = run_va(r, i), inside;
	const struct smmu_tlb_entry *e;
	struct smmu_walk *w = &s->run_walk[i];
	struct smmu_access a = { .va = va };

	p->walk = NULL;
	e = smmu_tlb_lookup(&s->tlb, smmu_untag(va), b->vmid, b->asid);
	r->walked[i] = !e;
	if (e) {
		inside = (UINT64_C(1) << smmu_level_shift(e->level)) - 1;
		p->pa = e->pa | (va & inside);
		r->tag[i] = e->tag;
		return e->perm & need;
	}
	look_walk(s, r, i, &a, route->bank);
	p->pa = w->pa;
	inside = (UINT64_C(1) << smmu_level_shift(w->level)) - 1;
	r->tag[i] = s->env.frame_tag(s->env.ctx, w->pa & ~inside);
	return !w->fault && w->perm & need;
}

/* Pages that were not noted, with the lock. */
static bool look_rest(struct smmu *s, struct smmu_run *r)
{
	const struct smmu_route *route;
	uint32_t i = r->noted, need;
	bool all = false;

	smmu_enter(s);
	route = look_route(s, &r->a);
	/* What was found without the lock must be of the same moment. */
	if (route && (!i || r->changes == smmu_changes(s))) {
		r->changes = smmu_changes(s);
		r->bank = route->bank;
		need = smmu_rights(&r->a, route);
		for (all = true; all && i < r->pages; i++)
			all = look_page(s, r, i, route, need);
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

static const struct trace_walk *walk_told(const struct smmu_walk *w,
					  struct trace_walk *t)
{
	uint32_t level;

	t->table = w->seen[w->first].table;
	t->first = w->first;
	t->levels = w->reads;
	t->cached = w->cached;
	for (level = 0; level < w->reads; level++)
		t->desc[level] = w->seen[w->first + level].desc;
	return t;
}

/*
 * Lock held. A page that was not noted: as smmu_translate() would leave it behind. blocks:
 * a page before it may have brought in the block that both are in.
 */
static void take_page(struct smmu *s, struct smmu_run *r, uint32_t i, bool *blocks)
{
	const struct smmu_bank *b = &s->bank[r->bank];
	const struct smmu_walk *w = &s->run_walk[i];
	struct smmu_access a = r->a;
	uint64_t va;

	a.va = run_va(r, i);
	a.bank = r->bank;
	a.pa = r->page[i].pa;
	a.tag = r->tag[i];
	va = smmu_untag(a.va);
	if (r->walked[i] &&
	    !(*blocks && smmu_tlb_lookup(&s->tlb, va, b->vmid, b->asid))) {
		s->stats.walk_reads += w->reads;
		smmu_walk_leave(s, r->bank, &a, w);
		smmu_tlb_fill(&s->tlb, va, b->vmid, b->asid, w, a.tag);
		r->page[i].walk = walk_told(w, &r->told[i]);
		r->walks++;
		*blocks |= w->level != 3;
		smmu_changed(s);
		return;
	}
	smmu_count(&s->hits, 1);
	smmu_utlb_fill(s, &a);
}

static bool take_rest(struct smmu *s, struct smmu_run *r)
{
	bool same, blocks = false;
	uint32_t i;

	smmu_enter(s);
	same = r->changes == smmu_changes(s);
	for (i = r->noted; same && i < r->pages; i++)
		take_page(s, r, i, &blocks);
	smmu_leave(s);
	return same;
}

bool smmu_run_take(struct smmu *s, struct smmu_run *r, uint32_t again)
{
	r->walks = 0;
	if (r->noted < r->pages && !take_rest(s, r))
		return false;
	smmu_count(&s->accesses, r->pages + again);
	smmu_count(&s->hits, r->noted + again);
	return true;
}
