// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages that a process finds where the card was, when it has lost its driver: zeros,
 * which the library takes for a card that is gone (faultline/window.h, alive), and an
 * error, which the next call has, rather than SIGBUS.
 */
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/mm.h>

#include "fl_compat.h"
#include "fl_dev.h"
#include "fl_queue.h"

int fl_map_prepare(struct fl_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < FL_DUMMIES; i++)
		ctx->dummy[i] = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (ctx->dummy[FL_DUMMY_DOORBELL] && ctx->dummy[FL_DUMMY_QUEUE])
		return 0;
	fl_map_free(ctx);
	return -ENOMEM;
}

void fl_map_free(struct fl_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < FL_DUMMIES; i++)
		free_page((unsigned long)ctx->dummy[i]);
}

/*
 * All is mapped at once, so this is only called for what was taken away: it may
 * be from all files of the card at once, before each of them is dead.
 */
vm_fault_t fl_map_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct fl_ctx *ctx = vma->vm_file->private_data;
	struct fl_queue *q = vma->vm_private_data;
	void *page = ctx->dummy[q && !q->doorbell ? FL_DUMMY_QUEUE :
						   FL_DUMMY_DOORBELL];

	if (!READ_ONCE(ctx->dev->gone))
		return VM_FAULT_SIGBUS;
	if (vma->vm_flags & VM_MIXEDMAP) {
		vmf->page = virt_to_page(page);
		get_page(vmf->page);
		return 0;
	}
	/* It is plain memory, whatever was there before. */
	return vmf_insert_pfn_prot(vma, vmf->address,
				   PHYS_PFN(virt_to_phys(page)),
				   vm_get_page_prot(vma->vm_flags));
}
