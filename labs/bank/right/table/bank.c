// SPDX-License-Identifier: BSD-2-Clause
/* The table of the data sheet is a table here, and one function reads it. */
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

#define BUSY	(SMMU_FSR_FAULTS | SMMU_CB_FSR_SS)

/* exanest.md 3.4 as it stands there: [CFCFG][HUPCF] */
static const struct row {
	bool hold;		/* else terminate */
	bool others_too;
} rows[2][2] = {
	{ { false, true }, { false, false } },
	{ { true, true }, { true, false } },
};

static const struct row *row_of(const struct smmu *s, unsigned int n)
{
	uint32_t sctlr = s->bank[n].sctlr;

	return &rows[!!(sctlr & SMMU_CB_SCTLR_CFCFG)]
		    [!!(sctlr & SMMU_CB_SCTLR_HUPCF)];
}

/* Who may raise the line beside the banks. */
static const struct {
	uint32_t enable, faults;
} globals[] = {
	{ SMMU_GR0_CR0_GFIE, ~SMMU_GFSR_CONFIG },
	{ SMMU_GR0_CR0_GCFGFIE, SMMU_GFSR_CONFIG },
};

void smmu_irq_update(struct smmu *s)
{
	unsigned int i;

	s->irq_level = false;
	for (i = 0; i < sizeof(globals) / sizeof(globals[0]); i++)
		if (*smmu_gr0(s, SMMU_GR0_CR0) & globals[i].enable &&
		    *smmu_gr0(s, SMMU_GR0_GFSR) & globals[i].faults)
			s->irq_level = true;
	for (i = SMMU_BANKS; i-- > 0;) {
		uint32_t masked = *smmu_cb(s, i, SMMU_CB_FSR) & BUSY;

		if (s->bank[i].sctlr & SMMU_CB_SCTLR_CFIE && masked)
			s->irq_level = true;
	}
}

bool smmu_bank_blocked(struct smmu *s, unsigned int n)
{
	return row_of(s, n)->others_too && *smmu_cb(s, n, SMMU_CB_FSR) & BUSY;
}

/* One way for all that may not go on. own: a fault of its own brought it here. */
static enum smmu_verdict answer(struct smmu *s, unsigned int n,
				struct smmu_access *a, uint64_t event, bool own)
{
	bool wants = row_of(s, n)->hold;
	int16_t i = wants ? list_take(s, &s->pool) : -1;

	if (i >= 0) {
		struct smmu_held h = { a->ticket, 0, a->xfer, a->block, -1,
				       false };

		*smmu_cb(s, n, SMMU_CB_FSR) |= SMMU_CB_FSR_SS;
		s->held_count++;
		s->stats.stalls++;
		h.event = smmu_emit(s, EV_SMMU_STALL, a, event, n, a->va,
				    a->ticket, 0);
		a->event = h.event;
		s->held[i] = h;
		list_append(s, &s->bank[n].held, i);
		return SMMU_HELD;
	}
	if (wants || !own)
		event = smmu_emit(s, EV_SMMU_TERMINATED, a, event, n, a->va, 0,
				  0);
	a->event = event;
	if (s->bank[n].sctlr & SMMU_CB_SCTLR_CFRE)
		return SMMU_FAULT;
	a->event = smmu_emit(s, EV_SMMU_RAZWI, a, event, n, a->va, a->write, 0);
	return SMMU_RAZWI;
}

enum smmu_verdict smmu_bank_block(struct smmu *s, unsigned int n,
				  struct smmu_access *a)
{
	enum smmu_verdict v = answer(s, n, a, a->cause, false);

	smmu_irq_update(s);
	return v;
}

enum smmu_verdict smmu_bank_fault(struct smmu *s, unsigned int n,
				  struct smmu_access *a, uint32_t kind,
				  uint32_t fsynr0)
{
	uint32_t *page = s->cb[n];
	uint32_t *fsr = &page[SMMU_CB_FSR / 4];
	enum smmu_verdict v;
	uint64_t event;

	switch (*fsr & BUSY) {
	case 0:
		*fsr = kind | (uint32_t)s->bank[n].format << 9;
		page[SMMU_CB_FAR / 4] = (uint32_t)a->va;
		page[SMMU_CB_FAR / 4 + 1] = (uint32_t)(a->va >> 32);
		page[SMMU_CB_FSYNR0 / 4] =
			fsynr0 | n << SMMU_CB_FSYNR0_S1CBNDX_SHIFT |
			(uint32_t)a->write * SMMU_CB_FSYNR0_WNR;
		s->gr1[SMMU_GR1_CBFRSYNRA(n) / 4] = a->stream & 0x7fff;
		s->stats.faults++;
		event = smmu_emit(s, EV_SMMU_FAULT, a, a->cause, n, a->va, *fsr,
				  page[SMMU_CB_FSYNR0 / 4]);
		break;
	default:
		*fsr |= SMMU_CB_FSR_MULTI;
		s->stats.multi++;
		event = smmu_emit(s, EV_SMMU_MULTI, a, a->cause, n, a->va, kind,
				  0);
	}
	v = answer(s, n, a, event, true);
	smmu_irq_update(s);
	return v;
}

void smmu_bank_write_fsr(struct smmu *s, unsigned int n, uint32_t value)
{
	uint32_t *fsr = smmu_cb(s, n, SMMU_CB_FSR);
	unsigned int bit;

	for (bit = 0; bit < 32; bit++)
		if (value >> bit & SMMU_FSR_FAULTS >> bit & 1)
			*fsr &= ~(UINT32_C(1) << bit);
	if (*fsr == (*fsr & (SMMU_CB_FSR_SS | SMMU_CB_FSR_FORMAT_MASK)))
		*fsr &= SMMU_CB_FSR_SS;
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
	uint32_t *fsr = smmu_cb(s, n, SMMU_CB_FSR);

	if ((*fsr & BUSY) != SMMU_CB_FSR_SS) {
		smmu_emit(s, EV_SMMU_RESUME_IGNORED, NULL, 0, n, *fsr, 0, 0);
		return;
	}
	*fsr ^= SMMU_CB_FSR_SS;
	s->stats.resumes++;
	if (value % 2 == SMMU_CB_RESUME_TNR)
		release_one(s, n, true);
	smmu_bank_release(s, n, false);
	smmu_irq_update(s);
}
