// SPDX-License-Identifier: BSD-2-Clause
/* A bank has four states; each register access is a step between them. */
#include "smmu_internal.h"

#include <assert.h>

/* Decode what an access needs to know from the registers of bank n. */
void smmu_bank_decode(struct smmu *s, unsigned int n)
{
	static const uint8_t pasize_bits[8] = {
		32, 36, 40, 42, 44, 48, 48, 48
	};
	struct smmu_bank *b = &s->bank[n];
	uint32_t tcr = *smmu_cb(s, n, SMMU_CB_TCR);
	uint32_t tcr2 = *smmu_cb(s, n, SMMU_CB_TCR2);
	uint64_t ttbr0 = smmu_get64(smmu_cb(s, n, SMMU_CB_TTBR0));
	uint64_t ttbr1 = smmu_get64(smmu_cb(s, n, SMMU_CB_TTBR1));
	uint64_t asid_from = tcr & SMMU_CB_TCR_A1 ? ttbr1 : ttbr0;
	unsigned int t0sz = SMMU_FIELD(tcr, SMMU_CB_TCR_T0SZ);
	bool va64 = *smmu_gr1(s, SMMU_GR1_CBA2R(n)) & SMMU_GR1_CBA2R_VA64;

	b->sctlr = *smmu_cb(s, n, SMMU_CB_SCTLR);
	b->table = ttbr0 & SMMU_CB_TTBR0_ADDR_MASK;
	/* exanest.md 3.3, TCR2.AS: 16-bit ASIDs, else 8 bits count */
	b->asid_mask = tcr2 & SMMU_CB_TCR2_AS ? 0xffff : 0xff;
	b->asid = SMMU_FIELD(asid_from, SMMU_CB_TTBR0_ASID) & b->asid_mask;
	b->vmid = SMMU_FIELD(*smmu_gr1(s, SMMU_GR1_CBAR(n)),
			     SMMU_GR1_CBAR_VMID);
	/* exanest.md 3.3: TG0 0 is 4 KB; only that is modelled */
	b->va_bits = 0;
	if (t0sz >= 16 && t0sz <= 39 && !SMMU_FIELD(tcr, SMMU_CB_TCR_TG0))
		b->va_bits = (uint8_t)(64 - t0sz);
	b->pa_bits = pasize_bits[SMMU_FIELD(tcr2, SMMU_CB_TCR2_PASIZE)];
	b->walks = va64 && !(tcr & SMMU_CB_TCR_EPD0);
	/* exanest.md 3.3, FSR.FORMAT: 2 AArch64; 0, 1 AArch32 short, long */
	b->format = va64 ? 2 : !!(tcr & SMMU_CB_TCR_EAE);
}

/* Lists of held transactions, by index into one pool: no allocation. */
static void list_append(struct smmu *s, struct smmu_list *l, int16_t i)
{
	s->held[i].next = -1;
	if (l->first < 0)
		l->first = i;
	else
		s->held[l->last].next = i;
	l->last = i;
}

static int16_t list_take(struct smmu *s, struct smmu_list *l)
{
	int16_t i = l->first;

	if (i >= 0)
		l->first = s->held[i].next;
	return i;
}

void smmu_bank_init_held(struct smmu *s)
{
	unsigned int i;

	s->pool = s->released = (struct smmu_list){ -1, -1 };
	for (i = 0; i < SMMU_BANKS; i++)
		s->bank[i].held = (struct smmu_list){ -1, -1 };
	for (i = 0; i < SMMU_HELD_MAX; i++)
		list_append(s, &s->pool, (int16_t)i);
}

bool smmu_bank_next_released(struct smmu *s, struct smmu_held *h)
{
	int16_t i = list_take(s, &s->released);

	if (i < 0)
		return false;
	*h = s->held[i];
	list_append(s, &s->pool, i);
	return true;
}

static void release_one(struct smmu *s, unsigned int n, bool terminate)
{
	int16_t i = list_take(s, &s->bank[n].held);
	struct smmu_held *h = &s->held[i];
	struct trace_at at = { .board = s->cfg.board, .xfer = h->xfer,
			       .block = h->block, .cause = h->event };

	assert(i >= 0 && s->held_count);
	s->held_count--;
	h->terminate = terminate;
	list_append(s, &s->released, i);
	if (s->cfg.trace)
		trace_emit(s->cfg.trace, EV_SMMU_RESUME, &at, n, terminate,
			   h->ticket, 0);
}

void smmu_bank_release(struct smmu *s, unsigned int n, bool terminate)
{
	while (s->bank[n].held.first >= 0)
		release_one(s, n, terminate);
}

/* Where a bank stands; FSR is the only memory of it. */
enum state {
	FREE,		/* the latch describes nothing, nobody is held */
	FAULTED,	/* a fault bit is set, nobody is held */
	STALLED,	/* a fault bit is set, and somebody is held */
	CLEARED,	/* somebody is held, and software has read the fault */
};

static enum state state_of(struct smmu *s, unsigned int n)
{
	uint32_t fsr = *smmu_cb(s, n, SMMU_CB_FSR);

	if (fsr & SMMU_FSR_FAULTS)
		return fsr & SMMU_CB_FSR_SS ? STALLED : FAULTED;
	return fsr & SMMU_CB_FSR_SS ? CLEARED : FREE;
}

static bool on(const struct smmu *s, unsigned int n, uint32_t bit)
{
	return (s->bank[n].sctlr & bit) == bit;
}

void smmu_irq_update(struct smmu *s)
{
	uint32_t cr0 = *smmu_gr0(s, SMMU_GR0_CR0);
	uint32_t gfsr = *smmu_gr0(s, SMMU_GR0_GFSR);
	uint32_t config = gfsr & SMMU_GFSR_CONFIG;
	unsigned int n = 0;

	while (n < SMMU_BANKS && !(on(s, n, SMMU_CB_SCTLR_CFIE) &&
				   state_of(s, n) != FREE))
		n++;
	s->irq_level = n < SMMU_BANKS ||
		       (config && cr0 & SMMU_GR0_CR0_GCFGFIE) ||
		       (gfsr != config && cr0 & SMMU_GR0_CR0_GFIE);
}

bool smmu_bank_blocked(struct smmu *s, unsigned int n)
{
	switch (state_of(s, n)) {
	case FREE:
		return false;
	default:
		return !on(s, n, SMMU_CB_SCTLR_HUPCF);
	}
}

static enum smmu_verdict refuse(struct smmu *s, unsigned int n,
				struct smmu_access *a, uint64_t event)
{
	if (on(s, n, SMMU_CB_SCTLR_CFRE)) {
		a->event = event;
		return SMMU_FAULT;
	}
	a->event = smmu_emit(s, EV_SMMU_RAZWI, a, event, n, a->va, a->write, 0);
	return SMMU_RAZWI;
}

static enum smmu_verdict wait_in_line(struct smmu *s, unsigned int n,
				      struct smmu_access *a, uint64_t event)
{
	struct smmu_list *line = &s->bank[n].held;
	int16_t i = list_take(s, &s->pool);

	if (i < 0) {
		event = smmu_emit(s, EV_SMMU_TERMINATED, a, event, n, a->va, 0,
				  0);
		return refuse(s, n, a, event);
	}
	a->event = smmu_emit(s, EV_SMMU_STALL, a, event, n, a->va, a->ticket,
			     0);
	s->held[i] = (struct smmu_held){
		.ticket = a->ticket, .event = a->event, .xfer = a->xfer,
		.block = a->block, .next = -1,
	};
	if (line->first < 0)
		line->first = line->last = i;
	else
		line->last = s->held[line->last].next = i;
	s->held_count += 1;
	s->stats.stalls += 1;
	/* FAULTED to STALLED; the other two have it already. */
	*smmu_cb(s, n, SMMU_CB_FSR) |= SMMU_CB_FSR_SS;
	return SMMU_HELD;
}

enum smmu_verdict smmu_bank_block(struct smmu *s, unsigned int n,
				  struct smmu_access *a)
{
	enum smmu_verdict v;

	if (on(s, n, SMMU_CB_SCTLR_CFCFG))
		v = wait_in_line(s, n, a, a->cause);
	else
		v = refuse(s, n, a, smmu_emit(s, EV_SMMU_TERMINATED, a,
					      a->cause, n, a->va, 0, 0));
	smmu_irq_update(s);
	return v;
}

/* FREE to FAULTED. */
static uint64_t first_fault(struct smmu *s, unsigned int n,
			    struct smmu_access *a, uint32_t kind,
			    uint32_t fsynr0)
{
	fsynr0 |= n << SMMU_CB_FSYNR0_S1CBNDX_SHIFT;
	if (a->write)
		fsynr0 |= SMMU_CB_FSYNR0_WNR;
	kind |= (uint32_t)s->bank[n].format << SMMU_CB_FSR_FORMAT_SHIFT;
	*smmu_cb(s, n, SMMU_CB_FSR) = kind;
	*smmu_cb(s, n, SMMU_CB_FSYNR0) = fsynr0;
	smmu_put64(smmu_cb(s, n, SMMU_CB_FAR), a->va);
	*smmu_gr1(s, SMMU_GR1_CBFRSYNRA(n)) = SMMU_FIELD(a->stream,
					SMMU_GR1_CBFRSYNRA_STREAMID);
	s->stats.faults++;
	return smmu_emit(s, EV_SMMU_FAULT, a, a->cause, n, a->va, kind, fsynr0);
}

enum smmu_verdict smmu_bank_fault(struct smmu *s, unsigned int n,
				  struct smmu_access *a, uint32_t kind,
				  uint32_t fsynr0)
{
	enum smmu_verdict v;
	uint64_t event;

	switch (state_of(s, n)) {
	case FREE:
		event = first_fault(s, n, a, kind, fsynr0);
		break;
	case FAULTED:
	case STALLED:
	case CLEARED:
	default:
		*smmu_cb(s, n, SMMU_CB_FSR) |= SMMU_CB_FSR_MULTI;
		s->stats.multi++;
		event = smmu_emit(s, EV_SMMU_MULTI, a, a->cause, n, a->va, kind,
				  0);
		break;
	}
	if (on(s, n, SMMU_CB_SCTLR_CFCFG))
		v = wait_in_line(s, n, a, event);
	else
		v = refuse(s, n, a, event);
	smmu_irq_update(s);
	return v;
}

/* FAULTED to FREE, STALLED to CLEARED. */
void smmu_bank_write_fsr(struct smmu *s, unsigned int n, uint32_t value)
{
	uint32_t *fsr = smmu_cb(s, n, SMMU_CB_FSR);

	*fsr &= ~value | SMMU_CB_FSR_SS | SMMU_CB_FSR_FORMAT_MASK;
	switch (state_of(s, n)) {
	case FREE:
		*fsr = 0;
		break;
	case CLEARED:
		*fsr = SMMU_CB_FSR_SS;
		break;
	default:
		break;
	}
	smmu_irq_update(s);
}

void smmu_bank_restore_fsr(struct smmu *s, unsigned int n, uint32_t value)
{
	*smmu_cb(s, n, SMMU_CB_FSR) |=
		value & (SMMU_FSR_FAULTS | SMMU_CB_FSR_FORMAT_MASK);
	smmu_irq_update(s);
}

/* CLEARED to FREE, and nothing else. */
void smmu_bank_resume(struct smmu *s, unsigned int n, uint32_t value)
{
	uint32_t *fsr = smmu_cb(s, n, SMMU_CB_FSR);

	if (state_of(s, n) != CLEARED) {
		smmu_emit(s, EV_SMMU_RESUME_IGNORED, NULL, 0, n, *fsr, 0, 0);
		return;
	}
	release_one(s, n, value & SMMU_CB_RESUME_TNR);
	smmu_bank_release(s, n, false);
	*fsr &= ~SMMU_CB_FSR_SS;
	s->stats.resumes++;
	smmu_irq_update(s);
}
