/* SPDX-License-Identifier: BSD-2-Clause */
/* interrupt.h - handlers; they may not sleep. */
#ifndef SHIM_LINUX_INTERRUPT_H
#define SHIM_LINUX_INTERRUPT_H

#include <shim/shim.h>

typedef enum { IRQ_NONE, IRQ_HANDLED } irqreturn_t;
typedef irqreturn_t (*irq_handler_t)(int irq, void *arg);

/* Other drivers may have the line too; here none has. */
#define IRQF_SHARED	0x80

int request_irq(unsigned int irq, irq_handler_t handler, unsigned long flags,
		const char *name, void *arg);
void free_irq(unsigned int irq, void *arg);

#define request_irq(...) SHIM_SLEEPS(request_irq, __VA_ARGS__)
#define free_irq(...) SHIM_SLEEPS(free_irq, __VA_ARGS__)

#endif
