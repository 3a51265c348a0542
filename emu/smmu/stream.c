// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which context bank a stream belongs to, and the global faults of streams that
 * belong to none. Matching compares 48 groups; the last matches are remembered
 * until software writes a register that could change them.
 */
#include "smmu_internal.h"

#include <string.h>

#define STREAM_BITS	0x7fff

/* S2CR.TYPE, CBAR.TYPE; sources: smmu-regs */
enum { S2CR_TRANSLATE = 0, S2CR_BYPASS = 1 };
enum { CBAR_STAGE1_ONLY = 1 };

static struct smmu_route fault_route(uint32_t gfsr)
{
	return (struct smmu_route){ .kind = SMMU_ROUTE_FAULT, .gfsr = gfsr };
}

static struct smmu_route bank_route(struct smmu *s, uint32_t s2cr)
{
	unsigned int bank = SMMU_FIELD(s2cr, SMMU_GR0_S2CR_CBNDX);
	uint32_t cbar;

	/* IHI 0062, SMMU_sGFSR.UCBF; ID1.NUMCB is 16, sources: smmu-chip */
	if (bank >= SMMU_BANKS)
		return fault_route(SMMU_GR0_GFSR_UCBF);
	cbar = *smmu_gr1(s, SMMU_GR1_CBAR(bank));
	/* IHI 0062, SMMU_sGFSR.ICF; only stage 1 here, sources: smmu-regs */
	if (SMMU_FIELD(cbar, SMMU_GR1_CBAR_TYPE) != CBAR_STAGE1_ONLY)
		return fault_route(SMMU_GR0_GFSR_ICF);
	return (struct smmu_route){
		.kind = SMMU_ROUTE_BANK,
		.bank = (uint8_t)bank,
		.privcfg = SMMU_FIELD(s2cr, SMMU_GR0_S2CR_PRIVCFG),
	};
}

static struct smmu_route stream_resolve(struct smmu *s, uint16_t stream)
{
	unsigned int i, matches = 0;
	uint32_t s2cr = 0;

	for (i = 0; i < SMMU_GROUPS; i++) {
		uint32_t smr = *smmu_gr0(s, SMMU_GR0_SMR(i));
		uint32_t differ = SMMU_FIELD(smr, SMMU_GR0_SMR_ID) ^ stream;

		/* sources: smmu-ids: valid and (id XOR sid) AND NOT mask == 0 */
		differ &= ~SMMU_FIELD(smr, SMMU_GR0_SMR_MASK) & STREAM_BITS;
		if (!(smr & SMMU_GR0_SMR_VALID) || differ)
			continue;
		s2cr = *smmu_gr0(s, SMMU_GR0_S2CR(i));
		matches++;
	}
	/* sources: smmu-ids: no match is a bypass or a fault, as USFCFG says */
	if (!matches) {
		if (*smmu_gr0(s, SMMU_GR0_CR0) & SMMU_GR0_CR0_USFCFG)
			return fault_route(SMMU_GR0_GFSR_USF);
		return (struct smmu_route){ .kind = SMMU_ROUTE_BYPASS };
	}
	/* sources: smmu-ids: more than one match is a conflict */
	if (matches > 1)
		return fault_route(SMMU_GR0_GFSR_SMCF);
	/* sources: smmu-regs, S2CR.TYPE; the reserved value 3 counts as fault */
	switch (SMMU_FIELD(s2cr, SMMU_GR0_S2CR_TYPE)) {
	case S2CR_TRANSLATE:
		return bank_route(s, s2cr);
	case S2CR_BYPASS:
		return (struct smmu_route){ .kind = SMMU_ROUTE_BYPASS };
	default:
		return fault_route(SMMU_GR0_GFSR_ICF);
	}
}

const struct smmu_route *smmu_stream_route(struct smmu *s, uint16_t stream)
{
	struct smmu_route *r;

	stream &= STREAM_BITS;
	r = &s->route[(stream ^ stream >> 10) % SMMU_ROUTES];
	if (!r->known || r->stream != stream) {
		*r = stream_resolve(s, stream);
		r->stream = stream;
		r->known = true;
	}
	return r;
}

void smmu_stream_forget(struct smmu *s)
{
	memset(s->route, 0, sizeof(s->route));
}

enum smmu_verdict smmu_stream_fault(struct smmu *s, struct smmu_access *a,
				    uint32_t gfsr)
{
	uint32_t *status = smmu_gr0(s, SMMU_GR0_GFSR);

	/* IHI 0062, SMMU_sGFSR.MULTI: only the first fault is described */
	if (*status) {
		*status |= SMMU_GR0_GFSR_MULTI;
	} else {
		*status = gfsr;
		smmu_put64(smmu_gr0(s, SMMU_GR0_GFAR), a->va);
		*smmu_gr0(s, SMMU_GR0_GFSYNR0) =
			(a->write ? SMMU_GR0_GFSYNR0_WNR : 0) |
			(a->privileged ? SMMU_GR0_GFSYNR0_PNU : 0);
		*smmu_gr0(s, SMMU_GR0_GFSYNR1) = a->stream & STREAM_BITS;
	}
	smmu_irq_update(s);
	a->event = smmu_emit(s, EV_SMMU_GLOBAL, a, a->cause, a->stream, a->va,
			     *status, 0);
	/*
	 * IHI 0062, SMMU_sCR0.GFRE: for every fault of a transaction, those of a
	 * bank that is wrongly set up too (GCFGFRE concerns configuration
	 * accesses alone). Without it reads are zero and writes vanish.
	 */
	if (*smmu_gr0(s, SMMU_GR0_CR0) & SMMU_GR0_CR0_GFRE)
		return SMMU_FAULT;
	a->event = smmu_emit(s, EV_SMMU_RAZWI, a, a->event, SMMU_NO_BANK, a->va,
			     a->write, 0);
	return SMMU_RAZWI;
}
