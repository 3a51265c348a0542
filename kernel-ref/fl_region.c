// SPDX-License-Identifier: GPL-2.0-only
/* Regions of a process, as the rest of the driver finds them; registering them: fl_mr.c. */
#include <linux/errno.h>
#include <linux/spinlock.h>

#include "fl_dev.h"
#include "fl_tables.h"

struct fl_mr *fl_mr_by_key(struct fl_ctx *ctx, u32 key)
{
	struct fl_mr *mr;

	list_for_each_entry(mr, &ctx->mrs, list)
		if (mr->key == key)
			return mr;
	return NULL;
}

int fl_mr_find(struct fl_ctx *ctx, u64 va, u32 len, bool write,
	       struct fl_range *region)
{
	unsigned long flags;
	struct fl_mr *mr;
	int ret = -EFAULT;

	spin_lock_irqsave(&ctx->list_lock, flags);
	list_for_each_entry(mr, &ctx->mrs, list) {
		if (va < mr->addr || len > mr->length ||
		    va - mr->addr > mr->length - len)
			continue;
		ret = -EACCES;
		if (write && !(mr->access & FL_ACC_WRITES))
			continue;
		region->start = mr->addr;
		region->end = mr->addr + mr->length;
		ret = 0;
		break;
	}
	spin_unlock_irqrestore(&ctx->list_lock, flags);
	return ret;
}

struct fl_mr *fl_mr_of_key(struct fl_ctx *ctx, u32 key)
{
	unsigned long flags;
	struct fl_mr *mr;

	spin_lock_irqsave(&ctx->list_lock, flags);
	mr = fl_mr_by_key(ctx, key);
	spin_unlock_irqrestore(&ctx->list_lock, flags);
	return mr;
}

bool fl_mr_writes(const struct fl_mr *mr)
{
	return mr->access & FL_ACC_WRITES;
}
