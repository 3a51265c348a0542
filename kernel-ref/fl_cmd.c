// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands to the card's firmware: sixteen words, a start, one answer.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/iopoll.h>
#include <linux/string.h>

#include "fl_access.h"
#include "fl_dev.h"

/* The slowest command waits for blocks that are in flight to be killed. */
#define FL_CMD_TIMEOUT_US	2000000
#define FL_CMD_POLL_US		2

static int fl_cmd_error(u32 code)
{
	switch (code) {
	case FL_ST_OK:
		return 0;
	case FL_ST_NO_OBJECT:
		return -ENOENT;
	case FL_ST_NO_ROOM:
		return -ENOSPC;
	case FL_ST_BUSY:
		return -EBUSY;
	case FL_ST_BAD_ARGUMENT:
		return -EINVAL;
	}
	return -EIO;
}

static int fl_cmd_locked(struct fl_dev *dev, const struct fl_fw_cmd *cmd,
			 u64 *result)
{
	u32 word[NIC_FW_CMD_COUNT], status;
	unsigned int i;

	BUILD_BUG_ON(sizeof(word) != sizeof(*cmd));
	if (dev->fw_dead)
		return -EIO;
	memcpy(word, cmd, sizeof(word));
	for (i = 0; i < NIC_FW_CMD_COUNT; i++)
		fl_nic_write(dev, NIC_FW_BASE + NIC_FW_CMD(i), word[i]);
	fl_nic_write(dev, NIC_FW_BASE + NIC_FW_CMD_GO, 1);
	if (read_poll_timeout(fl_nic_read, status,
			      status == FL_GONE ||
			      !(status & NIC_FW_CMD_STATUS_BUSY),
			      FL_CMD_POLL_US, FL_CMD_TIMEOUT_US, false, dev,
			      NIC_FW_BASE + NIC_FW_CMD_STATUS)) {
		/* The mailbox is taken for good: nobody may write to it. */
		dev->fw_dead = true;
		dev_err(dev->dev, "firmware does not answer command %u\n",
			cmd->opcode);
		return -EIO;
	}
	if (status == FL_GONE)
		return -ENODEV;
	if (result)
		*result = fl_nic_read64(dev, NIC_FW_BASE + NIC_FW_CMD_RESULT);
	return fl_cmd_error((status & NIC_FW_CMD_STATUS_CODE_MASK) >>
			    NIC_FW_CMD_STATUS_CODE_SHIFT);
}

int fl_cmd(struct fl_ctx *ctx, struct fl_fw_cmd *cmd, u64 *result)
{
	struct fl_dev *dev = ctx->dev;
	int ret;

	cmd->slot = ctx->slot;
	mutex_lock(&dev->cmd_lock);
	ret = fl_cmd_locked(dev, cmd, result);
	mutex_unlock(&dev->cmd_lock);
	return ret;
}

int fl_cmd_object(struct fl_ctx *ctx, u32 opcode, u32 object)
{
	struct fl_fw_cmd cmd = { .opcode = opcode, .object = object };

	return fl_cmd(ctx, &cmd, NULL);
}
