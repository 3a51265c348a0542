// SPDX-License-Identifier: GPL-2.0-only
/*
 * Protection domains: what a region and a queue pair must share to meet.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "fl_dev.h"

struct fl_pd *fl_pd_find(struct fl_ctx *ctx, u32 number)
{
	struct fl_pd *pd;

	list_for_each_entry(pd, &ctx->pds, list)
		if (pd->number == number)
			return pd;
	return NULL;
}

int fl_pd_alloc(struct fl_ctx *ctx, struct fl_alloc_pd *a)
{
	struct fl_fw_cmd cmd = { .opcode = FL_CMD_PD_CREATE };
	struct fl_pd *pd;
	unsigned int n = 0;
	u64 number;
	int ret;

	list_for_each_entry(pd, &ctx->pds, list)
		n++;
	if (n >= FL_PDS_MAX)
		return -ENOSPC;
	pd = kzalloc(sizeof(*pd), GFP_KERNEL_ACCOUNT);
	if (!pd)
		return -ENOMEM;
	ret = fl_cmd(ctx, &cmd, &number);
	if (ret) {
		kfree(pd);
		return ret;
	}
	pd->number = number;
	list_add_tail(&pd->list, &ctx->pds);
	a->pd = pd->number;
	return 0;
}

int fl_pd_dealloc(struct fl_ctx *ctx, u32 number)
{
	struct fl_pd *pd = fl_pd_find(ctx, number);
	int ret;

	if (!pd)
		return -ENOENT;
	ret = fl_cmd_object(ctx, FL_CMD_PD_DESTROY, number);
	if (ret)
		return ret;
	list_del(&pd->list);
	kfree(pd);
	return 0;
}

void fl_pd_free_all(struct fl_ctx *ctx)
{
	struct fl_pd *pd, *next;

	list_for_each_entry_safe(pd, next, &ctx->pds, list) {
		list_del(&pd->list);
		kfree(pd);
	}
}
