// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asking the kernel for pages, and how many of them one fault asks for.
 *
 * A page is brought in as the CPU would bring it in (handle_mm_fault), also
 * when it is there: then an access flag or a clean bit was in the way, which
 * this SMMU cannot set itself (sources: smmu-ptes).
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "fl_access.h"
#include "fl_compat.h"
#include "fl_dev.h"
#include "fl_plan.h"
#include "fl_tables.h"
#include "fl_trace.h"

/*
 * TG0 of fl_bank.c, the page maps of the engine, and TLBIVA are in 4 KB. What the
 * kernel brings in at a time may be more.
 */
#ifndef CONFIG_ARM64_4K_PAGES
#error "the card's SMMU walks the tables of a kernel with a granule of 4 KB"
#endif
static_assert(PAGE_SIZE % FL_PAGE_SIZE == 0);

#define FL_POPULATE_LOCKED_BYTES	SZ_256K		/* with the mmap lock held */
#define FL_POPULATE_AHEAD_BYTES	FL_PLAN_AHEAD_BYTES
/* Of the room that is left, at a time: several workers look at the same. */
#define FL_POPULATE_SHARE		8

/* Pages that hold [addr, addr + length); false: none, or it wraps round. */
bool fl_range_make(u64 addr, u64 length, struct fl_range *r)
{
	/* tag::driver-10[] */
	if (!length || addr + length < addr ||
	    addr + length > ~0ull - FL_PAGE_SIZE)
		return false;
	r->start = addr & ~(u64)(FL_PAGE_SIZE - 1);
	r->end = (addr + length + FL_PAGE_SIZE - 1) & ~(u64)(FL_PAGE_SIZE - 1);
	return true;
	/* end::driver-10[] */
}

/* The kernel's pages that hold the card's; r ends below 2^63. */
struct fl_range fl_range_pages(struct fl_range r)
{
	return (struct fl_range){ r.start & PAGE_MASK, PAGE_ALIGN(r.end) };
}

void fl_populated_one(struct fl_populated *t, u64 va, enum fl_found found)
{
	/* tag::driver-14[] */
	t->end = va + PAGE_SIZE;
	if (found == FL_ABSENT) {
		t->pages_in++;
		return;
	}
	if (found == FL_REFUSED)
		t->cured++;
	if (!t->present++)
		t->old.start = va;
	t->old.end = va + PAGE_SIZE;
	/* end::driver-14[] */
}

int fl_populate_allowed(struct mm_struct *mm, const struct vm_area_struct *vma,
			bool write)
{
	/* tag::driver-12[] */
	/* One that a full cgroup has killed must not fill it again. */
	if (fl_owner_dying(mm))
		return -EINTR;
	/* Registers of a device are no memory to be brought in. */
	if (!vma || vma->vm_flags & (VM_IO | VM_PFNMAP))
		return -EFAULT;
	if (!(vma->vm_flags & (write ? VM_WRITE : VM_READ)))
		return -EACCES;
	return 0;
	/* end::driver-12[] */
}

int fl_populate_locked(struct fl_ctx *ctx, struct fl_range r, bool write,
		       struct fl_populated *t)
{
	/*
	 * Not FAULT_FLAG_USER: that promises to end like a CPU's fault, where a
	 * memory cgroup that is full can put the task to sleep; a worker is
	 * nobody's task. And no retry: who waits with userfaultfd for his own
	 * fault shall not make a worker of all processes wait with him.
	 */
	unsigned int flags = FAULT_FLAG_REMOTE;
	struct vm_area_struct *vma = NULL;
	struct mm_struct *mm = ctx->mm;
	enum fl_found found;
	vm_fault_t fault;
	u64 va, before;
	int ret;

	if (write)
		flags |= FAULT_FLAG_WRITE;
	for (va = r.start; va < r.end; va += PAGE_SIZE) {
		if (!vma || va >= vma->vm_end)
			vma = vma_lookup(mm, va);
		ret = fl_populate_allowed(mm, vma, write);
		if (ret)
			return ret;
		/* tag::driver-13[] */
		found = fl_process_look(ctx, va, write);
		fault = handle_mm_fault(vma, va, flags, NULL);
		if (fault & VM_FAULT_OOM)
			return -ENOMEM;
		if (fault & VM_FAULT_ERROR)
			return -EFAULT;
		/* end::driver-13[] */
		before = t->pages_in;
		fl_populated_one(t, va, found);
		atomic64_add(t->pages_in - before, &ctx->pages_in);
	}
	return 0;
}

/* Of the next part, which the mmap lock is held for; 0: no more. */
static u64 fl_populate_part(struct fl_ctx *ctx, u64 length, bool ahead)
{
	u64 most = FL_POPULATE_LOCKED_BYTES;

	/* tag::driver-17[] */
	if (ahead)
		most = min(most, (fl_owner_room(ctx->mm) / FL_POPULATE_SHARE) &
					 PAGE_MASK);
	/* end::driver-17[] */
	return min(length, most);
}

int fl_populate(struct fl_ctx *ctx, struct fl_range r, bool write, bool ahead,
		struct fl_populated *t)
{
	struct fl_charge charge = fl_owner_charge(ctx->mm);
	struct fl_range part;
	int ret = 0;
	u64 length;

	r = fl_range_pages(r);
	t->end = r.start;
	for (part = r; !ret && part.start < r.end; part.start = part.end) {
		length = fl_populate_part(ctx, r.end - part.start, ahead);
		if (!length)
			break;
		part.end = part.start + length;
		mmap_read_lock(ctx->mm);
		ret = READ_ONCE(ctx->tables)->fill(ctx, part, write, t);
		mmap_read_unlock(ctx->mm);
		cond_resched();
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		else if (!ret && READ_ONCE(ctx->dead))
			ret = -ENODEV;
	}
	fl_owner_uncharge(charge);
	return ret;
}

int fl_request_range(struct fl_ctx *ctx, const struct fl_fault_request *request,
		     struct fl_range r, bool ahead, struct fl_populated *t)
{
	int ret;

	ret = fl_populate(ctx, r, request->write, ahead, t);
	/* There was no room to begin with: nobody was asked. */
	if (ahead && !ret && t->end <= r.start)
		return 0;
	if (ahead)
		r.end = min(r.end, max(t->end, r.start + FL_PAGE_SIZE));
	atomic64_inc(&ctx->resolves);
	trace_fl_resolve(ctx->dev, r.start, (r.end - r.start) >> FL_PAGE_SHIFT,
			 request->write, ret, request->xfer, request->block);
	return ret;
}

/* The first of the missing pages: without it the card comes no further. */
static struct fl_range fl_request_page(const struct fl_fault_request *request,
				       struct fl_range block)
{
	/* tag::driver-11[] */
	u64 first = request->map ? __ffs(request->map) : 0;
	struct fl_range page = {
		.start = block.start + (first << FL_PAGE_SHIFT),
	};

	/* regs.def, FLT_MAP: no bit beyond the block, so this is a bad card */
	if (page.start >= block.end)
		page.start = block.start;
	page.end = page.start + FL_PAGE_SIZE;
	return page;
	/* end::driver-11[] */
}

/*
 * sources: smmu-tlb: a write that was refused because the page was clean
 * leaves an entry in the TLB that says read-only, and it would be refused for
 * ever. Now the page may be written, but a kernel need not tell its notifiers
 * of more rights, only of fewer. A refused read leaves nothing behind: what is
 * not valid, or has no access flag, is in no TLB.
 */
void fl_populated_forget(struct fl_ctx *ctx, const struct fl_populated *t,
			 const struct fl_fault_request *request)
{
	/* tag::driver-15[] */
	if (request->write && t->present)
		fl_bank_invalidate(ctx, t->old, true, request->xfer,
				   request->block);
	/* end::driver-15[] */
}

/* The rest of the transfer, as far as the region goes; else rest stays as it is. */
static void fl_request_rest(const struct fl_fault_request *request,
			    u64 block_end, u64 region_end,
			    struct fl_range *rest)
{
	/* tag::driver-18[] */
	u64 from = request->va + request->len, length;
	struct fl_range r;

	length = min3(request->left, region_end - from,
		      (u64)FL_POPULATE_AHEAD_BYTES);
	if (!fl_range_make(from, length, &r))
		return;
	r.start = max(r.start, block_end);
	/* end::driver-18[] */
	if (r.start < r.end)
		*rest = r;
}

/*
 * What the plan wants beyond the block is a guess about the future: so only while
 * memory is free, or it would push out what is needed now, or make a full cgroup
 * kill somebody; failing is not an error; and an old entry of the TLB is worth a
 * look only when an access has met it. What lies around the block comes before the
 * card has its answer, the rest after that (fl_ahead.c).
 */
static void fl_request_guess(struct fl_ctx *ctx,
			     const struct fl_fault_request *request,
			     struct fl_range block,
			     const struct fl_plan_fault *fault,
			     const struct fl_plan_bring *bring)
{
	struct fl_range before = { bring->now.start, block.start };
	struct fl_range behind = { block.end, bring->now.end };
	struct fl_populated t = { 0 };
	u32 i;

	if (before.start < before.end)
		fl_request_range(ctx, request, before, true, &t);
	if (behind.start < behind.end)
		fl_request_range(ctx, request, behind, true, &t);
	for (i = 0; i < bring->count; i++)
		fl_ahead_add(ctx, request, bring->ahead[i], false);
	if (bring->rest && fault->rest.start < fault->rest.end)
		fl_ahead_add(ctx, request, fault->rest, true);
}

static int fl_request_populate(struct fl_ctx *ctx,
			       const struct fl_fault_request *request,
			       struct fl_range region)
{
	struct fl_plan_fault fault = { .region = region,
				       .write = request->write };
	struct fl_populated t = { 0 };
	struct fl_plan_bring bring;
	struct fl_range block, now;
	int ret;

	if (!fl_range_make(request->va, request->len, &block))
		return -EFAULT;
	fault.block = block;
	fault.first = fl_request_page(request, block);
	fl_request_rest(request, block.end, region.end, &fault.rest);
	fl_plan_make(ctx, &fault, &bring);
	/* Of the block all that the plan wants has to come. */
	now.start = max(bring.now.start, block.start);
	now.end = min(bring.now.end, block.end);
	/* tag::driver-16[] */
	ret = fl_request_range(ctx, request, now, false, &t);
	fl_populated_forget(ctx, &t, request);
	if (!ret && !t.pages_in && !t.cured)
		atomic64_inc(&ctx->spurious);
	/* end::driver-16[] */
	if (!ret)
		fl_request_guess(ctx, request, now, &fault, &bring);
	return ret;
}

/* Did the bank report something there that no page cures? Asked once. */
static bool fl_request_hopeless(struct fl_ctx *ctx,
				const struct fl_fault_request *request)
{
	/* tag::driver-19[] */
	struct fl_range block;
	unsigned long flags;
	bool hopeless;

	if (!fl_range_make(request->va, request->len, &block))
		return true;
	spin_lock_irqsave(&ctx->bank_lock, flags);
	hopeless = ctx->hard.valid && ctx->hard.page >= block.start &&
		   ctx->hard.page < block.end;
	if (hopeless)
		ctx->hard.valid = false;
	spin_unlock_irqrestore(&ctx->bank_lock, flags);
	return hopeless;
	/* end::driver-19[] */
}

int fl_request_resolve(struct fl_ctx *ctx,
		       const struct fl_fault_request *request)
{
	struct fl_range region;
	int ret;

	/* tag::driver-20[] */
	if (READ_ONCE(ctx->dead))
		ret = -ESRCH;
	else if (fl_request_hopeless(ctx, request))
		ret = -EIO;
	else
		ret = fl_mr_find(ctx, request->va, request->len, request->write,
				 &region);
	/* end::driver-20[] */
	/* tag::driver-21[] */
	/* The process may be past its end, while the file is still open. */
	if (!ret && !mmget_not_zero(ctx->mm)) {
		ret = -ESRCH;
	} else if (!ret) {
		ret = fl_request_populate(ctx, request, region);
		/*
		 * Not mmput(): were it the last one, the end of the address
		 * space would run here, and call our own notifier.
		 */
		mmput_async(ctx->mm);
	}
	/* end::driver-21[] */
	return ret;
}
