// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a process maps: its doorbell page and its queues.
 *
 * A card can be taken from its driver while processes have it mapped, and its
 * next driver gives the same slots to others. So then all mappings are taken
 * away; a process that touches one again finds a page of its own, where nothing
 * happens (fl_dummy.c).
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include "fl_access.h"
#include "fl_compat.h"
#include "fl_dev.h"

/*
 * ctx->dead is set, so that mmap() refuses. One that looked before has the mmap
 * lock until its mapping can be found.
 */
void fl_map_end(struct fl_ctx *ctx)
{
	if (mmget_not_zero(ctx->mm)) {
		mmap_read_lock(ctx->mm);
		mmap_read_unlock(ctx->mm);
		mmput_async(ctx->mm);
	}
	unmap_mapping_range(ctx->mapping, 0, 0, 1);
}

static const struct vm_operations_struct fl_doorbell_vm_ops = {
	.fault = fl_map_fault,
};

/* regs.def, DB: the only page of the card that a process may map is its own. */
static int fl_mmap_doorbell(struct fl_ctx *ctx, struct vm_area_struct *vma)
{
	phys_addr_t pa = ctx->dev->nic_pa + NIC_DB_BASE(ctx->slot);
	struct fl_window *w = fl_window(ctx->dev);

	vma->vm_ops = &fl_doorbell_vm_ops;
	if (w)
		return fl_window_doorbell_mmap(w, ctx->slot, vma);
	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return vm_iomap_memory(vma, pa, NIC_DB_STRIDE);
}

int fl_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	struct fl_ctx *ctx = file->private_data;

	if (READ_ONCE(ctx->dead))
		return -ENODEV;
	if (current->mm != ctx->mm)
		return -EPERM;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* A child with less rights could otherwise post in its parent's name. */
	fl_vma_flags_set(vma, VM_DONTCOPY);
	if (offset == FL_MMAP_DOORBELL && READ_ONCE(ctx->snoop.on))
		return fl_snoop_mmap(ctx, vma);
	if (offset == FL_MMAP_DOORBELL)
		return fl_mmap_doorbell(ctx, vma);
	return fl_queue_mmap(ctx, vma, offset);
}
