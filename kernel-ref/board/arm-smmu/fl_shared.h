/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_shared.h - between fl_shared.c and fl_shared_window.c, for the two ways on
 * which a card is found (fl_platform.c, fl_pci.c).
 */
#ifndef FL_SHARED_H
#define FL_SHARED_H

#include <linux/arm-smmu-reserve.h>
#include <linux/device.h>

/*
 * What arm-smmu lends to a card whose node names the SMMU (faultline,smmu). 0, or
 * negative errno after a message. Given back by arm_smmu_unreserve().
 */
int fl_shared_reserve(struct device *dev, struct arm_smmu_reserved *r);

/*
 * The fault line of all banks must be the one that the driver listens to: irq, or
 * the negative errno that it is. 0, or negative errno after a message.
 */
int fl_shared_irq(struct device *dev, const struct arm_smmu_reserved *r,
		  int irq);

#endif
