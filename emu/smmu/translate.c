// SPDX-License-Identifier: BSD-2-Clause
/*
 * The front door: what happens to one access, from the stream to the physical
 * address; creation and reset; and the lock with what is told to the board once
 * it is open.
 */
#include "smmu_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Only one thread tells of the line at a time, and it goes on until nothing is
 * left, so that two changes can never arrive in the wrong order.
 */
static void tell_line(struct smmu *s)
{
	bool level;

	while (!s->telling && s->irq_level != s->irq_told) {
		level = s->irq_told = s->irq_level;
		s->telling = true;
		/* Perhaps another thread's doing. */
		if (level)
			trace_last_is(s->line_event);
		smmu_leave(s);
		s->env.irq(s->env.ctx, level);
		smmu_enter(s);
		s->telling = false;
	}
}

/*
 * Whoever answers a stalled access tells the card by himself. Another thread that is
 * just translating could not: it holds the card, which env.resume asks for.
 */
void smmu_leave_changed(struct smmu *s)
{
	struct smmu_stalled h;

	smmu_changed(s);
	tell_line(s);
	while (smmu_bank_next_released(s, &h)) {
		smmu_leave(s);
		s->env.resume(s->env.ctx, h.ticket, h.how);
		smmu_enter(s);
	}
	tell_line(s);
	smmu_leave(s);
}

static void leave_access(struct smmu *s)
{
	tell_line(s);
	smmu_leave(s);
}

static enum smmu_verdict translate_bypass(struct smmu *s, struct smmu_access *a)
{
	a->pa = a->va;
	a->tag = s->env.frame_tag(s->env.ctx, a->pa);
	return SMMU_OK;
}

/*
 * sources: smmu-faults: eight parallel walks per TBU; a further miss waits for the
 * one that ends first. Returns the end of the walk, whose reads are known now.
 */
static uint64_t walk_time(struct smmu *s, struct smmu_access *a,
			  unsigned int reads, uint64_t start_ns)
{
	unsigned int tbu = (a->stream >> 10 & 0x1f) % SMMU_TBUS;
	uint64_t *slot = &s->walk_free_ns[tbu][0];
	unsigned int i;

	if (!s->cfg.timing.walk_level_ns)
		return start_ns;
	for (i = 1; i < SMMU_WALKS; i++)
		if (s->walk_free_ns[tbu][i] < *slot)
			slot = &s->walk_free_ns[tbu][i];
	if (*slot > start_ns) {
		s->stats.walk_waits++;
		smmu_emit(s, EV_SMMU_WALK_WAIT, a, a->cause, tbu, a->va,
			  *slot - start_ns, 0);
		start_ns = *slot;
	}
	*slot = start_ns + (uint64_t)reads * s->cfg.timing.walk_level_ns;
	return *slot;
}

/* FSYNR0 of a fault; sources: smmu-ptes: level 0 has no encoding in PLVL. */
static uint32_t fault_syndrome(unsigned int level, bool privileged,
			       bool aborted)
{
	return level << SMMU_CB_FSYNR0_PLVL_SHIFT |
	       (privileged ? SMMU_CB_FSYNR0_PNU : 0) |
	       (aborted ? SMMU_CB_FSYNR0_PTWF : 0);
}

const struct smmu_tlb_entry *smmu_walked(struct smmu *s, unsigned int n,
					 struct smmu_access *a,
					 const struct smmu_walk *w)
{
	uint64_t block = w->pa >> smmu_level_shift(w->level)
			       << smmu_level_shift(w->level);
	const struct smmu_bank *b = &s->bank[n];

	return smmu_tlb_fill(&s->tlb, smmu_untag(a->va), b->vmid, b->asid, w,
			     s->env.frame_tag(s->env.ctx, block));
}

/* What it has read, level by level. */
static void walk_tell(struct smmu *s, unsigned int n, const struct smmu_access *a,
		      const struct smmu_walk *w)
{
	/* Of the reads the last may have failed: it has shown nothing. */
	unsigned int level, end = w->first + w->reads - w->aborted;
	const struct smmu_walk_seen *seen = w->seen;

	smmu_walk_leave(s, n, a, w);
	if (w->cached)
		smmu_emit(s, EV_SMMU_WALK_CACHE, a, a->cause, n, a->va,
			  w->first, seen[w->first].table);
	for (level = w->first; level < end; level++)
		smmu_emit(s, EV_SMMU_LEVEL, a, a->cause, level,
			  seen[level].table, seen[level].index,
			  seen[level].desc);
}

static enum smmu_verdict walk_and_fill(struct smmu *s, unsigned int n,
				       struct smmu_access *a, bool privileged,
				       const struct smmu_tlb_entry **entry)
{
	struct smmu_walk w;

	smmu_walk(s, n, a, &w);
	walk_tell(s, n, a, &w);
	a->ready_ns = walk_time(s, a, w.reads, a->ready_ns);
	if (w.fault)
		return smmu_bank_fault(s, n, a, w.fault,
				       fault_syndrome(w.level, privileged,
						      w.aborted));
	*entry = smmu_walked(s, n, a, &w);
	a->event = smmu_emit(s, EV_SMMU_WALK, a, a->cause, n, a->va, w.pa,
			     w.reads);
	return SMMU_OK;
}

static void translate_hit(struct smmu *s, struct smmu_access *a)
{
	smmu_count(&s->front.hits, 1);
	a->event = smmu_emit(s, EV_SMMU_HIT, a, a->cause, a->bank, a->va,
			     a->pa, 0);
}

uint32_t smmu_rights(const struct smmu_access *a, const struct smmu_route *r)
{
	bool privileged = a->privileged;

	/* sources: smmu-regs, S2CR.PRIVCFG: 2 unprivileged, 3 privileged */
	if (r->privcfg & 2)
		privileged = r->privcfg & 1;
	return (privileged ? SMMU_PERM_PRIV_READ : SMMU_PERM_USER_READ)
	       << a->write;
}

static enum smmu_verdict translate_by_bank(struct smmu *s,
					   struct smmu_access *a,
					   const struct smmu_route *r)
{
	const struct smmu_bank *b = &s->bank[r->bank];
	const struct smmu_tlb_entry *e;
	uint32_t need = smmu_rights(a, r);
	bool privileged = !(need & SMMU_PERM_USER);
	enum smmu_verdict v;
	uint64_t inside;

	a->bank = r->bank;
	/* sources: smmu-regs, SCTLR.M: translation off, addresses unchanged */
	if (!(b->sctlr & SMMU_CB_SCTLR_M))
		return translate_bypass(s, a);
	if (smmu_bank_blocked(s, r->bank))
		return smmu_bank_block(s, r->bank, a);
	a->ready_ns += s->cfg.timing.tlb_hit_ns;
	e = smmu_tlb_lookup(&s->tlb, smmu_untag(a->va), b->vmid, b->asid);
	a->tlb_hit = e;
	if (!e) {
		v = walk_and_fill(s, r->bank, a, privileged, &e);
		if (v != SMMU_OK)
			return v;
	}
	/* sources: smmu-ptes: AP mismatch is PF; a stale entry counts too (sources: smmu-tlb) */
	if (!(e->perm & need))
		return smmu_bank_fault(s, r->bank, a, SMMU_CB_FSR_PF,
				       fault_syndrome(e->level, privileged,
						      false));
	inside = (UINT64_C(1) << smmu_level_shift(e->level)) - 1;
	a->pa = e->pa | (a->va & inside);
	a->tag = e->tag;
	if (a->tlb_hit)
		translate_hit(s, a);
	return SMMU_OK;
}

static enum smmu_verdict translate_access(struct smmu *s, struct smmu_access *a)
{
	const struct smmu_route *r;

	/* sources: smmu-chip, CR0.CLIENTPD: everything bypasses until cleared */
	if (*smmu_gr0(s, SMMU_GR0_CR0) & SMMU_GR0_CR0_CLIENTPD)
		return translate_bypass(s, a);
	r = smmu_stream_route(s, a->stream);
	switch (r->kind) {
	case SMMU_ROUTE_BANK:
		return translate_by_bank(s, a, r);
	case SMMU_ROUTE_BYPASS:
		return translate_bypass(s, a);
	default:
		return smmu_stream_fault(s, a, r->gfsr);
	}
}

/* A hit as translate_by_bank() would find it; nothing but the TLB's own entry matters. */
static bool utlb_hit(struct smmu *s, struct smmu_access *a)
{
	const struct smmu_utlb_page *m = smmu_utlb_slot(a->utlb, a->va);

	if (!smmu_utlb_knows(m, smmu_access_who(a), a->va, smmu_changes(s)))
		return false;
	a->pa = m->pa | (a->va & 0xfff);
	a->tag = m->tag;
	a->ready_ns = a->now_ns + s->cfg.timing.tlb_hit_ns;
	a->bank = m->bank;
	a->tlb_hit = true;
	smmu_count(&s->front.accesses, 1);
	translate_hit(s, a);
	return true;
}

void smmu_utlb_fill(struct smmu *s, const struct smmu_access *a)
{
	*smmu_utlb_slot(a->utlb, a->va) = (struct smmu_utlb_page){
		.changes = atomic_load_explicit(&s->front.changes,
						memory_order_relaxed),
		.page = a->va >> 12, .pa = a->pa & ~UINT64_C(0xfff),
		.tag = a->tag, .who = smmu_access_who(a), .bank = a->bank,
	};
}

enum smmu_verdict smmu_translate(struct smmu *s, struct smmu_access *a)
{
	enum smmu_verdict v;

	if (a->utlb && utlb_hit(s, a))
		return SMMU_OK;
	a->pa = 0;
	a->tag = 0;
	a->ready_ns = a->now_ns;
	a->event = a->cause;
	a->bank = SMMU_NO_BANK;
	a->tlb_hit = false;
	smmu_enter(s);
	smmu_count(&s->front.accesses, 1);
	v = translate_access(s, a);
	if (v != SMMU_OK || !a->tlb_hit)
		smmu_changed(s);
	else if (a->utlb)
		smmu_utlb_fill(s, a);
	leave_access(s);
	return v;
}

/* The state after power-on; the caller has the lock, or nobody else has s. */
static void translate_reset(struct smmu *s)
{
	unsigned int i;

	for (i = 0; i < SMMU_BANKS; i++)
		smmu_bank_release(s, i, true);
	smmu_regs_reset(s);
	smmu_tlb_drop_all(&s->tlb);
	smmu_walk_cache_drop(&s->walk_cache, NULL, NULL, NULL);
	smmu_stream_forget(s);
	for (i = 0; i < SMMU_BANKS; i++)
		smmu_bank_decode(s, i);
	memset(s->walk_free_ns, 0, sizeof(s->walk_free_ns));
	memset(s->sync_active, 0, sizeof(s->sync_active));
	memset(&s->stats, 0, sizeof(s->stats));
	atomic_store_explicit(&s->front.accesses, 0, memory_order_relaxed);
	atomic_store_explicit(&s->front.hits, 0, memory_order_relaxed);
	smmu_irq_update(s);
}

struct smmu *smmu_create(const struct smmu_config *cfg,
			 const struct smmu_env *env)
{
	struct smmu *s = calloc(1, sizeof(*s));

	assert(env->read64 && env->irq && env->sync_start && env->sync_done &&
	       env->resume && env->frame_tag);
	if (!s)
		return NULL;
	s->cfg = *cfg;
	s->env = *env;
	atomic_flag_clear(&s->lock);
	atomic_init(&s->front.changes, 1);	/* 0: an empty place */
	if (!smmu_tlb_create(&s->tlb, cfg->tlb_entries ? cfg->tlb_entries :
							 512) ||
	    !smmu_walk_cache_create(&s->walk_cache, cfg->walk_cache_entries)) {
		smmu_destroy(s);
		return NULL;
	}
	smmu_regs_init(s);
	smmu_bank_init_stalled(s);
	translate_reset(s);
	return s;
}

void smmu_destroy(struct smmu *s)
{
	if (!s)
		return;
	smmu_tlb_destroy(&s->tlb);
	smmu_walk_cache_destroy(&s->walk_cache);
	free(s);
}

void smmu_reset(struct smmu *s)
{
	smmu_enter(s);
	translate_reset(s);
	smmu_leave_changed(s);
}

void smmu_stats(const struct smmu *s, struct smmu_stats *st)
{
	/* Reading takes the lock as well, hence the cast. */
	struct smmu *mine = (struct smmu *)(uintptr_t)s;

	smmu_enter(mine);
	*st = mine->stats;
	st->accesses = atomic_load_explicit(&mine->front.accesses,
					    memory_order_relaxed);
	st->hits = atomic_load_explicit(&mine->front.hits, memory_order_relaxed);
	smmu_leave(mine);
}

struct smmu_front *smmu_front(struct smmu *s)
{
	return &s->front;
}

bool smmu_busy(struct smmu *s)
{
	bool busy;

	smmu_enter(s);
	busy = s->stalled_count || s->released.first >= 0;
	smmu_leave(s);
	return busy;
}
