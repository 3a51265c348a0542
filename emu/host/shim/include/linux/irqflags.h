/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irqflags.h - interrupts are threads here, and a freed table stays memory: nothing
 * happens. The lab of the driver has other two of these calls, which look.
 */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

unsigned long shim_irq_save(void);
void shim_irq_restore(unsigned long flags);

#define local_irq_save(flags) ((void)((flags) = shim_irq_save()))
#define local_irq_restore(flags) shim_irq_restore(flags)

#endif
