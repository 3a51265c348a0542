// SPDX-License-Identifier: BSD-2-Clause
/* rest.c - what a driver has asked its kernel for, and not given back in time. */
#include <linux/mmu_notifier.h>
#include <linux/workqueue.h>

#include "shim_internal.h"

static bool lies_in(const void *p, const void *mem, size_t bytes)
{
	return (const char *)p >= (const char *)mem &&
	       (const char *)p < (const char *)mem + bytes;
}

void shim_in_use(struct shim *shim, const void *mem, size_t bytes,
		 const char *where)
{
	const char *work = shim_work_in(shim, mem, bytes), *what = NULL;
	struct mmu_notifier *n;
	unsigned int i;

	if (work)
		shim_breach("freed-in-use", where, "frees memory with %s in "
			    "it, which a worker still has", work);
	sim_spin_lock(&shim->lock);
	for (n = shim->notifiers; n; n = n->next)
		if (lies_in(n, mem, bytes))
			what = "a notifier that is registered";
	for (i = 0; i < IRQ_LINES; i++)
		if (shim->irq[i].handler && lies_in(shim->irq[i].arg, mem, bytes))
			what = "what an interrupt handler is called with";
	if (shim->cdev && lies_in(shim->cdev, mem, bytes))
		what = "a device that is registered";
	sim_spin_unlock(&shim->lock);
	if (what)
		shim_breach("freed-in-use", where, "frees memory with %s in "
			    "it", what);
}

void shim_left_behind(struct shim *shim)
{
	bool irqs = false, refs = shim->pdev.dev.ref.refcount != 1;
	unsigned int i;

	sim_spin_lock(&shim->lock);
	for (i = 0; i < IRQ_LINES; i++)
		irqs |= shim->irq[i].handler != NULL;
	sim_spin_unlock(&shim->lock);
	if (irqs || shim->wqs || shim->notifiers || shim->cdev ||
	    shim->numbers || refs)
		shim_breach("left-behind", NULL, "the driver has gone, and "
			    "has left behind:%s%s%s%s%s%s",
			    irqs ? " an interrupt handler" : "",
			    shim->wqs ? " a work queue" : "",
			    shim->notifiers ? " a notifier" : "",
			    shim->cdev ? " a device file" : "",
			    shim->numbers ? " a device number" : "",
			    refs ? " a reference on its device" : "");
}
