/* SPDX-License-Identifier: BSD-2-Clause */
/* irqflags.h - interrupts are threads here; the rules know whether they are off. */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#include <linux/types.h>
#include <shim/rules.h>

#define local_irq_save(flags) ((void)((flags) = shim_irqs_save()))
#define local_irq_restore(flags) shim_irqs_restore(flags, __func__)

#endif
