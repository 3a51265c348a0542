// SPDX-License-Identifier: BSD-2-Clause
/* One small question after the other; who is held tells of SS. */
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

/* What keeps the latch, the line and the way to others busy. */
static bool occupied(uint32_t fsr)
{
	if (fsr & SMMU_CB_FSR_SS)
		return true;
	return (fsr & SMMU_FSR_FAULTS) != 0;
}

static uint32_t fsr_of(struct smmu *s, unsigned int n)
{
	return *smmu_cb(s, n, SMMU_CB_FSR);
}

static bool stalls(const struct smmu *s, unsigned int n)
{
	return (s->bank[n].sctlr & SMMU_CB_SCTLR_CFCFG) != 0;
}

static bool bank_calls(struct smmu *s, unsigned int n)
{
	if (!(s->bank[n].sctlr & SMMU_CB_SCTLR_CFIE))
		return false;
	return occupied(fsr_of(s, n));
}

static bool global_calls(struct smmu *s)
{
	uint32_t gfsr = *smmu_gr0(s, SMMU_GR0_GFSR);
	uint32_t looked_at = 0;

	if (*smmu_gr0(s, SMMU_GR0_CR0) & SMMU_GR0_CR0_GFIE)
		looked_at |= ~SMMU_GFSR_CONFIG;
	if (*smmu_gr0(s, SMMU_GR0_CR0) & SMMU_GR0_CR0_GCFGFIE)
		looked_at |= SMMU_GFSR_CONFIG;
	return (gfsr & looked_at) != 0;
}

void smmu_irq_update(struct smmu *s)
{
	unsigned int callers = global_calls(s), n;

	for (n = 0; n < SMMU_BANKS; n++)
		callers += bank_calls(s, n);
	s->irq_level = callers > 0;
}

bool smmu_bank_blocked(struct smmu *s, unsigned int n)
{
	if (s->bank[n].sctlr & SMMU_CB_SCTLR_HUPCF)
		return false;
	return occupied(fsr_of(s, n));
}

static enum smmu_verdict terminate(struct smmu *s, unsigned int n,
				   struct smmu_access *a, uint64_t event)
{
	bool aloud = s->bank[n].sctlr & SMMU_CB_SCTLR_CFRE;

	a->event = event;
	if (!aloud)
		a->event = smmu_emit(s, EV_SMMU_RAZWI, a, event, n, a->va,
				     a->write, 0);
	return aloud ? SMMU_FAULT : SMMU_RAZWI;
}

static enum smmu_verdict hold(struct smmu *s, unsigned int n,
			      struct smmu_access *a, uint64_t event)
{
	int16_t i = list_take(s, &s->pool);
	struct smmu_held *h = &s->held[i < 0 ? 0 : i];

	if (i < 0) {
		event = smmu_emit(s, EV_SMMU_TERMINATED, a, event, n, a->va, 0,
				  0);
		return terminate(s, n, a, event);
	}
	list_append(s, &s->bank[n].held, i);
	s->held_count++;
	s->stats.stalls++;
	h->ticket = a->ticket;
	h->xfer = a->xfer;
	h->block = a->block;
	h->event = smmu_emit(s, EV_SMMU_STALL, a, event, n, a->va, a->ticket,
			     0);
	a->event = h->event;
	*smmu_cb(s, n, SMMU_CB_FSR) = fsr_of(s, n) | SMMU_CB_FSR_SS;
	return SMMU_HELD;
}

enum smmu_verdict smmu_bank_block(struct smmu *s, unsigned int n,
				  struct smmu_access *a)
{
	enum smmu_verdict v;
	uint64_t event;

	if (stalls(s, n)) {
		v = hold(s, n, a, a->cause);
		smmu_irq_update(s);
		return v;
	}
	event = smmu_emit(s, EV_SMMU_TERMINATED, a, a->cause, n, a->va, 0, 0);
	return terminate(s, n, a, event);
}

static uint64_t lose(struct smmu *s, unsigned int n, struct smmu_access *a,
		     uint32_t kind)
{
	*smmu_cb(s, n, SMMU_CB_FSR) |= SMMU_CB_FSR_MULTI;
	s->stats.multi++;
	return smmu_emit(s, EV_SMMU_MULTI, a, a->cause, n, a->va, kind, 0);
}

static uint64_t latch(struct smmu *s, unsigned int n, struct smmu_access *a,
		      uint32_t kind, uint32_t fsynr0)
{
	uint32_t format = s->bank[n].format;
	uint32_t fsr = kind + (format << SMMU_CB_FSR_FORMAT_SHIFT);

	fsynr0 += n << SMMU_CB_FSYNR0_S1CBNDX_SHIFT;
	fsynr0 += a->write ? SMMU_CB_FSYNR0_WNR : 0;
	*smmu_cb(s, n, SMMU_CB_FSR) = fsr;
	*smmu_cb(s, n, SMMU_CB_FSYNR0) = fsynr0;
	*smmu_cb(s, n, SMMU_CB_FAR) = (uint32_t)a->va;
	*smmu_cb(s, n, SMMU_CB_FAR + 4) = (uint32_t)(a->va >> 32);
	*smmu_gr1(s, SMMU_GR1_CBFRSYNRA(n)) = a->stream & 0x7fff;
	s->stats.faults++;
	return smmu_emit(s, EV_SMMU_FAULT, a, a->cause, n, a->va, fsr, fsynr0);
}

enum smmu_verdict smmu_bank_fault(struct smmu *s, unsigned int n,
				  struct smmu_access *a, uint32_t kind,
				  uint32_t fsynr0)
{
	enum smmu_verdict v;
	uint64_t event = occupied(fsr_of(s, n)) ? lose(s, n, a, kind) :
						  latch(s, n, a, kind, fsynr0);

	v = stalls(s, n) ? hold(s, n, a, event) : terminate(s, n, a, event);
	smmu_irq_update(s);
	return v;
}

void smmu_bank_write_fsr(struct smmu *s, unsigned int n, uint32_t value)
{
	uint32_t left = fsr_of(s, n) & SMMU_FSR_FAULTS & ~value;
	uint32_t kept = SMMU_CB_FSR_SS | (left ? SMMU_CB_FSR_FORMAT_MASK : 0);

	*smmu_cb(s, n, SMMU_CB_FSR) = left | (fsr_of(s, n) & kept);
	smmu_irq_update(s);
}

void smmu_bank_restore_fsr(struct smmu *s, unsigned int n, uint32_t value)
{
	*smmu_cb(s, n, SMMU_CB_FSR) |=
		value & (SMMU_FSR_FAULTS | SMMU_CB_FSR_FORMAT_MASK);
	smmu_irq_update(s);
}

void smmu_bank_resume(struct smmu *s, unsigned int n, uint32_t value)
{
	bool end = value & SMMU_CB_RESUME_TNR;
	uint32_t fsr = fsr_of(s, n);

	if (s->bank[n].held.first < 0 || fsr & SMMU_FSR_FAULTS) {
		smmu_emit(s, EV_SMMU_RESUME_IGNORED, NULL, 0, n, fsr, 0, 0);
		return;
	}
	while (s->bank[n].held.first >= 0) {
		release_one(s, n, end);
		end = false;
	}
	*smmu_cb(s, n, SMMU_CB_FSR) = fsr & ~SMMU_CB_FSR_SS;
	s->stats.resumes++;
	smmu_irq_update(s);
}
