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

static bool look_noted(struct smmu_run *r, uint32_t i, uint64_t va)
{
	const struct smmu_utlb_page *m = smmu_utlb_slot(&r->a, va);
	struct smmu_run_page *p = &r->page[i];

	if (!smmu_utlb_knows(m, &r->a, va, r->changes))
		return false;
	p->pa = m->pa | (va & 0xfff);
	p->tag = m->tag;
	p->walk = NULL;
	p->how = SMMU_RUN_NOTED;
	r->bank = m->bank;
	return true;
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

static bool look_page(struct smmu *s, struct smmu_run *r, uint32_t i,
		      const struct smmu_route *route)
{
	const struct smmu_bank *b = &s->bank[route->bank];
	struct smmu_run_page *p = &r->page[i];
	uint64_t va = run_va(r, i), inside;
	const struct smmu_tlb_entry *e;
	struct smmu_walk *w = &s->run_walk[i];
	struct smmu_access a = { .va = va };
	uint32_t need = smmu_rights(&r->a, route);

	r->bank = route->bank;
	p->walk = NULL;
	e = smmu_tlb_lookup(&s->tlb, smmu_untag(va), b->vmid, b->asid);
	if (e) {
		inside = (UINT64_C(1) << smmu_level_shift(e->level)) - 1;
		p->how = SMMU_RUN_HIT;
		p->pa = e->pa | (va & inside);
		p->tag = e->tag;
		return e->perm & need;
	}
	smmu_walk(s, route->bank, &a, w);
	s->stats.walk_reads -= w->reads;	/* it has only been looked */
	p->how = SMMU_RUN_WALK;
	p->pa = w->pa;
	inside = (UINT64_C(1) << smmu_level_shift(w->level)) - 1;
	p->tag = s->env.frame_tag(s->env.ctx, w->pa & ~inside);
	return !w->fault && w->perm & need;
}

/* Pages from the i-th on, with the lock. */
static bool look_rest(struct smmu *s, struct smmu_run *r, uint32_t i)
{
	const struct smmu_route *route;
	bool all = false;

	smmu_enter(s);
	route = look_route(s, &r->a);
	/* What was found without the lock must be of the same moment. */
	if (route && (!i || r->changes == smmu_changes(s))) {
		r->changes = smmu_changes(s);
		for (all = true; all && i < r->pages; i++)
			all = look_page(s, r, i, route);
	}
	smmu_leave(s);
	return all;
}

bool smmu_run_look(struct smmu *s, struct smmu_run *r, uint32_t len)
{
	uint32_t i;

	r->pages = (uint32_t)(((r->a.va & 0xfff) + len + 0xfff) >> 12);
	r->changes = smmu_changes(s);
	for (i = 0; i < r->pages; i++)
		if (!look_noted(r, i, run_va(r, i)))
			return look_rest(s, r, i);
	return true;
}

static const struct trace_walk *walk_told(struct smmu *s, uint32_t i)
{
	const struct smmu_walk *w = &s->run_walk[i];
	struct trace_walk *t = &s->run_told[i];
	uint32_t level;

	t->table = w->seen[w->first].table;
	t->first = w->first;
	t->levels = w->reads;
	t->cached = w->cached;
	for (level = 0; level < w->reads; level++)
		t->desc[level] = w->seen[w->first + level].desc;
	return t;
}

/* Lock held. A page that was not noted: as smmu_translate() would leave it behind. */
static void take_page(struct smmu *s, struct smmu_run *r, uint32_t i)
{
	struct smmu_run_page *p = &r->page[i];
	const struct smmu_bank *b = &s->bank[r->bank];
	struct smmu_access a = r->a;

	a.va = run_va(r, i);
	a.bank = r->bank;
	a.pa = p->pa;
	a.tag = p->tag;
	/* A page before it may have brought in the block that both are in. */
	if (p->how == SMMU_RUN_WALK &&
	    !smmu_tlb_lookup(&s->tlb, smmu_untag(a.va), b->vmid, b->asid)) {
		s->stats.walk_reads += s->run_walk[i].reads;
		smmu_walk_leave(s, r->bank, &a, &s->run_walk[i]);
		smmu_walked(s, r->bank, &a, &s->run_walk[i]);
		p->walk = walk_told(s, i);
		smmu_changed(s);
		return;
	}
	smmu_count(&s->hits, 1);
	smmu_utlb_fill(s, &a);
}

static bool take_rest(struct smmu *s, struct smmu_run *r)
{
	uint32_t i;

	smmu_enter(s);
	if (r->changes != smmu_changes(s)) {
		smmu_leave(s);
		return false;
	}
	for (i = 0; i < r->pages; i++)
		if (r->page[i].how != SMMU_RUN_NOTED)
			take_page(s, r, i);
	smmu_leave(s);
	return true;
}

bool smmu_run_take(struct smmu *s, struct smmu_run *r, uint32_t again)
{
	uint32_t noted = 0, i;

	for (i = 0; i < r->pages; i++)
		noted += r->page[i].how == SMMU_RUN_NOTED;
	if (noted < r->pages && !take_rest(s, r))
		return false;
	smmu_count(&s->accesses, r->pages + again);
	smmu_count(&s->hits, noted + again);
	return true;
}
