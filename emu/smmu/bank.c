// SPDX-License-Identifier: BSD-2-Clause
/*
 * A context bank: its decoded registers, its fault latch, the transactions it
 * holds, and the interrupt line that all banks share.
 *
 * The latch describes one fault. While it is taken (any fault bit, or SS), a
 * further fault sets MULTI and is otherwise lost. What happens to the faulting
 * access and to others of the bank is this table (sources: smmu-faults):
 *
 *	CFCFG HUPCF	faulting	others while FSR holds a fault or SS
 *	0     1		terminated	processed
 *	0     0		terminated	terminated
 *	1     1		stalled		processed
 *	1     0		stalled		stalled
 */
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
	/* sources: smmu-regs, TCR2.AS: 16-bit ASIDs, else 8 bits count */
	b->asid_mask = tcr2 & SMMU_CB_TCR2_AS ? 0xffff : 0xff;
	b->asid = SMMU_FIELD(asid_from, SMMU_CB_TTBR0_ASID) & b->asid_mask;
	b->vmid = SMMU_FIELD(*smmu_gr1(s, SMMU_GR1_CBAR(n)),
			     SMMU_GR1_CBAR_VMID);
	/* sources: smmu-regs: TG0 0 is 4 KB; only that is modelled */
	b->va_bits = 0;
	if (t0sz >= 16 && t0sz <= 39 && !SMMU_FIELD(tcr, SMMU_CB_TCR_TG0))
		b->va_bits = (uint8_t)(64 - t0sz);
	b->pa_bits = pasize_bits[SMMU_FIELD(tcr2, SMMU_CB_TCR2_PASIZE)];
	b->walks = va64 && !(tcr & SMMU_CB_TCR_EPD0);
	/* sources: smmu-regs, FSR.FORMAT: 2 AArch64; 0, 1 AArch32 short, long */
	b->format = va64 ? 2 : !!(tcr & SMMU_CB_TCR_EAE);
}

/* Lists of stalled transactions, by index into one pool: no allocation. */
static void list_append(struct smmu *s, struct smmu_list *l, int16_t i)
{
	s->stalled[i].next = -1;
	if (l->first < 0)
		l->first = i;
	else
		s->stalled[l->last].next = i;
	l->last = i;
}

static int16_t list_take(struct smmu *s, struct smmu_list *l)
{
	int16_t i = l->first;

	if (i >= 0)
		l->first = s->stalled[i].next;
	return i;
}

void smmu_bank_init_stalled(struct smmu *s)
{
	unsigned int i;

	s->pool = s->released = (struct smmu_list){ -1, -1 };
	for (i = 0; i < SMMU_BANKS; i++)
		s->bank[i].stalled = (struct smmu_list){ -1, -1 };
	for (i = 0; i < SMMU_STALLED_MAX; i++)
		list_append(s, &s->pool, (int16_t)i);
}

bool smmu_bank_next_released(struct smmu *s, struct smmu_stalled *h)
{
	int16_t i = list_take(s, &s->released);

	if (i < 0)
		return false;
	*h = s->stalled[i];
	list_append(s, &s->pool, i);
	return true;
}

/*
 * Terminate or try again. SCTLR.CFRE says how a terminated access ends, as it
 * does for one that is terminated at once (sources: smmu-faults).
 */
static void release_one(struct smmu *s, unsigned int n, bool terminate)
{
	int16_t i = list_take(s, &s->bank[n].stalled);
	struct smmu_stalled *h = &s->stalled[i];
	struct trace_at at = { .board = s->cfg.board, .xfer = h->xfer,
			       .block = h->block, .cause = h->event };

	assert(i >= 0 && s->stalled_count);
	s->stalled_count--;
	h->how = SMMU_OK;
	if (terminate)
		h->how = s->bank[n].sctlr & SMMU_CB_SCTLR_CFRE ? SMMU_FAULT :
								SMMU_RAZWI;
	list_append(s, &s->released, i);
	if (!s->cfg.trace)
		return;
	at.cause = trace_emit(s->cfg.trace, EV_SMMU_RESUME, &at, n, terminate,
			      h->ticket, 0);
	if (h->how == SMMU_RAZWI)
		trace_emit(s->cfg.trace, EV_SMMU_RAZWI, &at, n, h->va,
			   h->write, 0);
}

void smmu_bank_release(struct smmu *s, unsigned int n, bool terminate)
{
	while (s->bank[n].stalled.first >= 0)
		release_one(s, n, terminate);
}

/* sources: smmu-chip: one shared line; SS alone holds it up (sources: smmu-faults). */
void smmu_irq_update(struct smmu *s)
{
	bool level = false;
	/* tag::bank-4[] */
	unsigned int n;

	/* IHI 0062, SMMU_sCR0.GFIE */
	if (*smmu_gr0(s, SMMU_GR0_CR0) & SMMU_GR0_CR0_GFIE)
		level = *smmu_gr0(s, SMMU_GR0_GFSR);
	for (n = 0; n < SMMU_BANKS && !level; n++)
		level = s->bank[n].sctlr & SMMU_CB_SCTLR_CFIE &&
			*smmu_cb(s, n, SMMU_CB_FSR) &
			(SMMU_FSR_FAULTS | SMMU_CB_FSR_SS);
	/* end::bank-4[] */
	s->irq_level = level;
}

/* sources: smmu-faults: HUPCF = 0 lets nobody pass a bank that has a fault. */
bool smmu_bank_blocked(struct smmu *s, unsigned int n)
{
	/* tag::bank-6[] */
	return !(s->bank[n].sctlr & SMMU_CB_SCTLR_HUPCF) &&
	       *smmu_cb(s, n, SMMU_CB_FSR) & (SMMU_FSR_FAULTS | SMMU_CB_FSR_SS);
	/* end::bank-6[] */
}

/* The end of an access that is not stalled; event: why. */
static enum smmu_verdict bank_terminate(struct smmu *s, unsigned int n,
					struct smmu_access *a, uint64_t event)
{
	a->event = event;
	/* tag::bank-5[] */
	/* sources: smmu-faults: CFRE = 1 aborts; 0 is silent, reads zero */
	if (s->bank[n].sctlr & SMMU_CB_SCTLR_CFRE)
		return SMMU_FAULT;
	/* end::bank-5[] */
	a->event = smmu_emit(s, EV_SMMU_RAZWI, a, event, n, a->va, a->write, 0);
	return SMMU_RAZWI;
}

/*
 * Hold an access. The hardware cannot have more than SMMU_STALLED_MAX outstanding
 * (sources: smmu-faults); a client that presents more has the rest terminated.
 */
static enum smmu_verdict bank_hold(struct smmu *s, unsigned int n,
				   struct smmu_access *a, uint64_t event)
{
	int16_t i = list_take(s, &s->pool);
	struct smmu_stalled *h;

	if (i < 0) {
		event = smmu_emit(s, EV_SMMU_TERMINATED, a, event, n, a->va, 0,
				  0);
		return bank_terminate(s, n, a, event);
	}
	h = &s->stalled[i];
	/* tag::bank-8[] */
	*h = (struct smmu_stalled){ .ticket = a->ticket, .xfer = a->xfer,
				 .block = a->block };
	/* The first one that is stalled is the one that RESUME.TNR decides on. */
	*smmu_cb(s, n, SMMU_CB_FSR) |= SMMU_CB_FSR_SS;
	list_append(s, &s->bank[n].stalled, i);
	s->stalled_count++;
	/* end::bank-8[] */
	h->va = a->va;
	h->write = a->write;
	s->stats.stalls++;
	h->event = smmu_emit(s, EV_SMMU_STALL, a, event, n, a->va, a->ticket,
			     0);
	a->event = h->event;
	return SMMU_STALLED;
}

/* sources: smmu-faults, column of who may not go on; event: why it may not */
static enum smmu_verdict bank_stop(struct smmu *s, unsigned int n,
				   struct smmu_access *a, uint64_t event)
{
	/* tag::bank-7[] */
	if (s->bank[n].sctlr & SMMU_CB_SCTLR_CFCFG)
		return bank_hold(s, n, a, event);
	/* end::bank-7[] */
	return bank_terminate(s, n, a, event);
}

enum smmu_verdict smmu_bank_block(struct smmu *s, unsigned int n,
				  struct smmu_access *a)
{
	uint64_t event = a->cause;
	enum smmu_verdict v;

	/* sources: smmu-faults, rows HUPCF = 0: others share the fate of the first */
	if (!(s->bank[n].sctlr & SMMU_CB_SCTLR_CFCFG))
		event = smmu_emit(s, EV_SMMU_TERMINATED, a, a->cause, n, a->va,
				  0, 0);
	v = bank_stop(s, n, a, event);
	smmu_irq_update(s);
	return v;
}

/* The latch was free: it tells of this access. kind, fsynr0: smmu_bank_fault(). */
static void bank_describe(struct smmu *s, unsigned int n,
			  const struct smmu_access *a, uint32_t kind, uint32_t fsynr0)
{
	/* tag::bank-1[] */
	*smmu_cb(s, n, SMMU_CB_FSR) =
		kind | (uint32_t)s->bank[n].format << SMMU_CB_FSR_FORMAT_SHIFT;
	smmu_put64(smmu_cb(s, n, SMMU_CB_FAR), a->va);
	if (a->write)
		fsynr0 |= SMMU_CB_FSYNR0_WNR;
	fsynr0 |= n << SMMU_CB_FSYNR0_S1CBNDX_SHIFT;
	*smmu_cb(s, n, SMMU_CB_FSYNR0) = fsynr0;
	*smmu_gr1(s, SMMU_GR1_CBFRSYNRA(n)) =
		a->stream & SMMU_GR1_CBFRSYNRA_STREAMID_MASK;
	/* end::bank-1[] */
}

/* Is the latch taken? Then a fault leaves MULTI there, and is lost. */
static bool bank_loses_fault(struct smmu *s, unsigned int n)
{
	/* tag::bank-2[] */
	uint32_t *fsr = smmu_cb(s, n, SMMU_CB_FSR);

	/* IHI 0062, SMMU_CBn_FSR.MULTI */
	if (!(*fsr & (SMMU_FSR_FAULTS | SMMU_CB_FSR_SS)))
		return false;
	*fsr |= SMMU_CB_FSR_MULTI;
	return true;
	/* end::bank-2[] */
}

enum smmu_verdict smmu_bank_fault(struct smmu *s, unsigned int n,
				  struct smmu_access *a, uint32_t kind,
				  uint32_t fsynr0)
{
	enum smmu_verdict v;
	uint64_t event;

	if (bank_loses_fault(s, n)) {
		s->stats.multi++;
		event = smmu_emit(s, EV_SMMU_MULTI, a, a->cause, n, a->va, kind,
				  0);
	} else {
		bank_describe(s, n, a, kind, fsynr0);
		s->stats.faults++;
		event = smmu_emit(s, EV_SMMU_FAULT, a, a->cause, n, a->va,
				  *smmu_cb(s, n, SMMU_CB_FSR),
				  *smmu_cb(s, n, SMMU_CB_FSYNR0));
	}
	v = bank_stop(s, n, a, event);
	smmu_irq_update(s);
	return v;
}

void smmu_bank_write_fsr(struct smmu *s, unsigned int n, uint32_t value)
{
	/* tag::bank-3[] */
	uint32_t *fsr = smmu_cb(s, n, SMMU_CB_FSR);

	/* sources: smmu-regs: a one clears, but SS ends with RESUME only */
	*fsr &= ~(value & SMMU_FSR_FAULTS);
	/* FORMAT belongs to the fault that was described and goes with it. */
	if (!(*fsr & SMMU_FSR_FAULTS))
		*fsr &= ~SMMU_CB_FSR_FORMAT_MASK;
	smmu_irq_update(s);
	/* end::bank-3[] */
}

/* sources: smmu-regs: sets FSR bits; SS is not among them, nothing is stalled. */
void smmu_bank_restore_fsr(struct smmu *s, unsigned int n, uint32_t value)
{
	*smmu_cb(s, n, SMMU_CB_FSR) |=
		value & (SMMU_FSR_FAULTS | SMMU_CB_FSR_FORMAT_MASK);
	smmu_irq_update(s);
}

/* Does this RESUME take effect? Then the bank holds nobody after it. */
static bool bank_resume(struct smmu *s, unsigned int n, uint32_t value)
{
	/* tag::bank-9[] */
	uint32_t *fsr = smmu_cb(s, n, SMMU_CB_FSR);

	/* sources: smmu-faults: ignored while a fault bit other than SS is set */
	if (*fsr & SMMU_FSR_FAULTS || !(*fsr & SMMU_CB_FSR_SS))
		return false;
	/* sources: smmu-faults: SS is cleared by a successful RESUME, only by it */
	*fsr &= ~SMMU_CB_FSR_SS;
	release_one(s, n, value & SMMU_CB_RESUME_TNR);
	/* The others are tried again, and fault by themselves if they must. */
	smmu_bank_release(s, n, false);
	smmu_irq_update(s);
	return true;
	/* end::bank-9[] */
}

void smmu_bank_resume(struct smmu *s, unsigned int n, uint32_t value)
{
	if (bank_resume(s, n, value))
		s->stats.resumes++;
	else
		smmu_emit(s, EV_SMMU_RESUME_IGNORED, NULL, 0, n,
			  *smmu_cb(s, n, SMMU_CB_FSR), 0, 0);
}
