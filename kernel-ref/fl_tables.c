// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tables the SMMU walks for a process: those that its row of system.def names.
 */
#include <linux/errno.h>

#include "faultline/system.h"
#include "fl_tables.h"

const struct fl_tables_ops *fl_tables_of(const struct fl_system_row *row)
{
	switch (row->tables) {
	case FL_TABLES_INSERTED:
		return &fl_tables_inserted;
	case FL_TABLES_ONDEMAND:
		return &fl_tables_ondemand;
	case FL_TABLES_SINK:
		return &fl_tables_sink;
	case FL_TABLES_NIC:
		return &fl_tables_nic;
	case FL_TABLES_SHADOW:
		return &fl_tables_shadow;
	default:
		return &fl_tables_process;
	}
}

int fl_tables_change(struct fl_ctx *ctx, const struct fl_system_row *row)
{
	const struct fl_tables_ops *old = ctx->tables, *new;
	phys_addr_t root = ctx->root;
	int ret;

	new = fl_tables_of(row);
	if (new == old)
		return 0;
	if (ctx->nmr || ctx->nmr_moving)
		return -EBUSY;
	ret = new->bind(ctx);
	if (ret)
		return ret;
	/* While the bank changes over, what the kernel takes away goes either way. */
	WRITE_ONCE(ctx->tables, &fl_tables_process);
	ret = fl_bank_root(ctx);
	if (ret) {
		/* Cut off: nothing is walked any more, whatever it was. */
		new->unbind(ctx);
		ctx->root = root;
		new = old;
	} else {
		old->unbind(ctx);
	}
	WRITE_ONCE(ctx->tables, new);
	return ret;
}
