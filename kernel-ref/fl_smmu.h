/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_smmu.h - whose the SMMU is.
 *
 * The driver counts banks and stream match groups as it counts its slots, from
 * 0. Where the SMMU is the driver's alone they are the first ones. Where Linux's
 * arm-smmu has it and lends some (FL_SHARED_SMMU, board/arm-smmu/fl_shared.c)
 * they become those, and what concerns the whole SMMU is left out:
 * fl_smmu_reset() finds nothing to do but its banks and groups, and the top half
 * sees no global faults.
 */
#ifndef FL_SMMU_DEV_H
#define FL_SMMU_DEV_H

#include <linux/err.h>
#include <linux/platform_device.h>

#include "fl_dev.h"

#define FL_SMMU_NOWHERE	(~0u)

#ifdef FL_SHARED_SMMU

#define FL_SMMU_WHOLE 0		/* there are groups for slots alone */

int fl_smmu_get(struct platform_device *pdev, struct fl_resources *res);
/*
 * The same for a card with a window, which is told where arm-smmu finds its SMMU;
 * undone by fl_smmu_put_window(), of one that has got none too.
 */
int fl_smmu_get_window(struct device *dev, struct fl_resources *res);
void fl_smmu_put_window(struct fl_window *w);
u32 fl_smmu_place(struct fl_dev *dev, u32 off);
u32 fl_smmu_value(struct fl_dev *dev, u32 off, u32 value);

#else

#define FL_SMMU_WHOLE 1

/* The first window of the device tree's node. 0, or negative errno. */
static inline int fl_smmu_get(struct platform_device *pdev,
			      struct fl_resources *res)
{
	res->smmu = devm_platform_ioremap_resource(pdev, 0);
	return IS_ERR(res->smmu) ? PTR_ERR(res->smmu) : 0;
}

static inline int fl_smmu_get_window(struct device *dev,
				     struct fl_resources *res)
{
	return 0;
}

static inline void fl_smmu_put_window(struct fl_window *w)
{
}

/*
 * At which offset a register of smmu.def is; FL_SMMU_NOWHERE: not the driver's, it
 * reads as 0 (no global fault, no global synchronise under way) and ignores writes.
 */
static inline u32 fl_smmu_place(struct fl_dev *dev, u32 off)
{
	return off;
}

/* What to write there: numbers of banks inside a register may change too. */
static inline u32 fl_smmu_value(struct fl_dev *dev, u32 off, u32 value)
{
	return value;
}

#endif
#endif
