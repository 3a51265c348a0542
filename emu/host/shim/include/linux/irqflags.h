/* SPDX-License-Identifier: BSD-2-Clause */
/* irqflags.h - interrupts are threads here, and a freed table stays memory. */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#define local_irq_save(flags) ((void)((flags) = 0))
#define local_irq_restore(flags) ((void)(flags))

#endif
