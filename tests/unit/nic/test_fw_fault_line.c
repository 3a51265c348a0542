// SPDX-License-Identifier: BSD-2-Clause
/* What a card has beside its engine, and the line for what it misses in its own table. */
#include "rig/fw.h"

static uint32_t line_causes(struct rig *r)
{
	return (uint32_t)rig_reg(r, NIC_FW_IRQ_STATUS, 4);
}

static int line_enable(struct rig *r, uint32_t causes)
{
	return rig_write(r, NIC_FW_BASE + NIC_FW_IRQ_ENABLE, causes);
}

TEST("a card without a table of its own has no cause FAULT")
{
	struct rig *r = rig_create(8);

	EXPECT_EQ(rig_reg(r, NIC_FW_FEATURES, 4), 0);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_FEATURES, 1), -22);
	EXPECT_EQ(line_enable(r, NIC_FW_IRQ_ENABLE_FAULT), -22);
	EXPECT_EQ(line_enable(r, NIC_FW_IRQ_ENABLE_EVENT), 0);
}

TEST("the line is up while a cause that is enabled is there")
{
	const uint32_t event = NIC_FW_IRQ_ENABLE_EVENT,
		       fault = NIC_FW_IRQ_ENABLE_FAULT;
	struct rig *r = rig_create(8);

	r->cfg.features = NIC_FW_FEATURES_TABLE | NIC_FW_FEATURES_RC;
	rig_restart(r);
	EXPECT_EQ(rig_reg(r, NIC_FW_FEATURES, 4), r->cfg.features);
	EXPECT_EQ(line_enable(r, event), 0);
	fw_fault_line(r->fw, true);
	EXPECT_EQ(line_causes(r), NIC_FW_IRQ_STATUS_FAULT);
	EXPECT(!r->line);
	EXPECT_EQ(line_enable(r, event | fault), 0);
	EXPECT(r->line);
	fw_fault_line(r->fw, true);
	EXPECT(r->line);
	EXPECT_EQ(line_enable(r, event | fault | 4), -22);
	EXPECT_EQ(line_enable(r, event), 0);
	EXPECT(!r->line);
	EXPECT_EQ(line_enable(r, fault), 0);
	EXPECT(r->line);
	fw_fault_line(r->fw, false);
	EXPECT_EQ(line_causes(r), 0);
	EXPECT(!r->line);
	EXPECT(!r->misuse);
}
