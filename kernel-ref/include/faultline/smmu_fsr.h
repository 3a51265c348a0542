/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * smmu_fsr.h - bits of a bank's FSR (smmu.def) that are asked for together, for
 * driver and emulator. Arm IHI 0062, SMMU_CBn_FSR.
 */
#ifndef FAULTLINE_SMMU_FSR_H
#define FAULTLINE_SMMU_FSR_H

#include "faultline/smmu_regs.h"

/* What describes a fault, as opposed to SS, MULTI and FORMAT. */
#define SMMU_FSR_KINDS                                                       \
	(SMMU_CB_FSR_TF | SMMU_CB_FSR_AFF | SMMU_CB_FSR_PF | SMMU_CB_FSR_EF | \
	 SMMU_CB_FSR_TLBMCF | SMMU_CB_FSR_TLBLKF | SMMU_CB_FSR_ASF |         \
	 SMMU_CB_FSR_UUT)
/* Every bit that says fault; SS and FORMAT do not. */
#define SMMU_FSR_FAULTS	(SMMU_FSR_KINDS | SMMU_CB_FSR_MULTI)
/* Of the kinds, those that no page cures. */
#define SMMU_FSR_HARD                                                        \
	(SMMU_CB_FSR_EF | SMMU_CB_FSR_TLBMCF | SMMU_CB_FSR_TLBLKF |          \
	 SMMU_CB_FSR_ASF | SMMU_CB_FSR_UUT)

/* Written to FSR: clears all of it, since a one clears its bit. */
#define SMMU_FSR_CLEAR	0xffffffff

#endif
