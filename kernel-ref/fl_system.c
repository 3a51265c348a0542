// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a row of system.def asks of the card. What it asks of the driver stands where that
 * is done: stalling in fl_bank.c and fl_stall.c, pinning in fl_mr.c.
 */
#include <linux/errno.h>
#include <linux/nospec.h>

#include "faultline/system_rows.h"
#include "fl_dev.h"

const struct fl_system_row *fl_system_row(u32 system)
{
	return &fl_system_rows[array_index_nospec(system, FL_SYSTEMS)];
}

/* SCTLR.CFCFG is one bit of a bank, so a row stalls everywhere or nowhere (tools/gen). */
bool fl_system_holds(u32 system)
{
	return fl_system_row(system)->rw == FL_VERDICT_HOLD;
}

bool fl_system_snoops(u32 system)
{
	return fl_system_row(system)->before == FL_BEFORE_SNOOP;
}

int fl_system_tell_card(struct fl_ctx *ctx, u32 system)
{
	const struct fl_system_row *row = fl_system_row(system);
	struct fl_fw_cmd cmd = { .opcode = FL_CMD_SLOT_SILENT };
	int ret;

	if (row->rr == FL_VERDICT_DROP)
		cmd.flags |= FL_SILENT_READ;
	if (row->rw == FL_VERDICT_DROP)
		cmd.flags |= FL_SILENT_WRITE;
	/* As a slot begins. */
	if (cmd.flags == ctx->silent)
		return 0;
	ret = fl_cmd(ctx, &cmd, NULL);
	if (!ret)
		ctx->silent = cmd.flags;
	return ret == -EINVAL ? -EOPNOTSUPP : ret;
}
