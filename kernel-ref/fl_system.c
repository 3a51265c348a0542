// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a row of system.def asks of the card. What it asks of the driver stands where that
 * is done: stalling in fl_bank.c and fl_stall.c, pinning in fl_pin.c.
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/nospec.h>

#include "faultline/system_rows.h"
#include "fl_dev.h"

const struct fl_system_row *fl_system_row(u32 system)
{
	return &fl_system_rows[array_index_nospec(system, FL_SYSTEMS)];
}

static_assert(sizeof(struct fl_system_row) == FL_COLUMNS);

bool fl_row_allowed(const struct fl_system_row *row)
{
	return fl_row_judge((const unsigned char *)row, &fl_system_rules).wrong ==
	       FL_ROW_RIGHT;
}

/* SCTLR.CFCFG is one bit of a bank, so a row stalls everywhere or nowhere. */
bool fl_row_holds(const struct fl_system_row *row)
{
	return row->rw == FL_VERDICT_HOLD;
}

bool fl_row_snoops(const struct fl_system_row *row)
{
	return row->before == FL_BEFORE_SNOOP;
}

/*
 * The card itself ends what would read a missing page, as FL_CMD_SLOT_ABORT says. Where
 * one would be written, in blocks and in answers to READs, the driver does it, and is not
 * told which of the two it is (system_rules.h).
 */
bool fl_row_aborts(const struct fl_system_row *row)
{
	return row->rw == FL_VERDICT_ABORT;
}

static int fl_row_tell_silent(struct fl_ctx *ctx, const struct fl_system_row *row)
{
	struct fl_fw_cmd cmd = { .opcode = FL_CMD_SLOT_SILENT };
	int ret;

	/* Of blocks: packets are told in another way (below). */
	if (row->transport == FL_TRANSPORT_BLOCK && row->rr == FL_VERDICT_DROP)
		cmd.flags |= FL_SILENT_READ;
	if (row->transport == FL_TRANSPORT_BLOCK && row->rw == FL_VERDICT_DROP)
		cmd.flags |= FL_SILENT_WRITE;
	/* As a slot begins. */
	if (cmd.flags == ctx->silent)
		return 0;
	ret = fl_cmd(ctx, &cmd, NULL);
	if (!ret)
		ctx->silent = cmd.flags;
	return ret == -EINVAL ? -EOPNOTSUPP : ret;
}

static int fl_row_tell_aborts(struct fl_ctx *ctx, const struct fl_system_row *row)
{
	struct fl_fw_cmd cmd = { .opcode = FL_CMD_SLOT_ABORT };
	int ret;

	if (row->ir == FL_VERDICT_ABORT)
		cmd.flags |= FL_ABORT_WRITE;
	if (row->rr == FL_VERDICT_ABORT)
		cmd.flags |= FL_ABORT_READ;
	if (cmd.flags == ctx->aborts)
		return 0;
	ret = fl_cmd(ctx, &cmd, NULL);
	if (!ret)
		ctx->aborts = cmd.flags;
	return ret;
}

static u32 fl_row_report(const struct fl_system_row *row)
{
	return row->tells == FL_TELLS_PAGES ? FL_REPORT_PAGES : FL_REPORT_FOUR;
}

static u32 fl_row_field(u32 value, u32 mask)
{
	return value << __ffs(mask);
}

/* What packets that miss a page become: a slot begins with a row of blocks, 0. */
static u32 fl_row_packets(const struct fl_system_row *row)
{
	if (row->tables != FL_TABLES_NIC && row->tables != FL_TABLES_SHADOW)
		return 0;
	return fl_row_field(row->ir, FL_ROW_IR) | fl_row_field(row->iw, FL_ROW_IW) |
	       fl_row_field(row->rr, FL_ROW_RR) | fl_row_field(row->rw, FL_ROW_RW) |
	       fl_row_field(fl_row_report(row), FL_ROW_REPORT);
}

static int fl_row_tell_packets(struct fl_ctx *ctx, const struct fl_system_row *row,
			       u32 quirks, u32 bits)
{
	struct fl_fw_cmd cmd = { .opcode = FL_CMD_SLOT_ROW, .a = quirks, .b = bits };
	int ret;

	cmd.flags = fl_row_packets(row);
	if (cmd.flags == ctx->packets && quirks == ctx->quirks && bits == ctx->ring.bits)
		return 0;
	/* There may be no card that knows the command. */
	if (!ctx->dev->xp.objects)
		return -EOPNOTSUPP;
	ret = fl_cmd(ctx, &cmd, NULL);
	if (!ret) {
		ctx->packets = cmd.flags;
		ctx->quirks = quirks;
		ctx->ring.bits = bits;
	}
	return ret == -EINVAL ? -EOPNOTSUPP : ret;
}

int fl_row_tell_card(struct fl_ctx *ctx, const struct fl_system_row *row,
		     u32 quirks, u32 bits)
{
	int ret = fl_row_tell_silent(ctx, row);

	if (!ret)
		ret = fl_row_tell_aborts(ctx, row);
	return ret ? ret : fl_row_tell_packets(ctx, row, quirks, bits);
}
