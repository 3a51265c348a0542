// SPDX-License-Identifier: BSD-2-Clause
/* Queues where the firmware's processor does not get at them: an R5 has 32 bits. */
#include "nic/fw_internal.h"
#include "rig/fw.h"

TEST("a queue that does not lie within the firmware's reach is refused, and nothing is made")
{
	static const struct {
		uint64_t pa;
		uint32_t status;
	} at[] = {
		{ RIG_MEM - 64 * 64, FL_ST_OK },
		{ RIG_MEM - 64 * 64 + 64, FL_ST_BUS_ERROR },
		{ RIG_MEM, FL_ST_BUS_ERROR },
		{ 1ull << 32, FL_ST_BUS_ERROR },
		{ 1ull << 47, FL_ST_BUS_ERROR },
		{ ~0ull - 63, FL_ST_BAD_ARGUMENT },
	};
	struct rig *r = rig_create(8);
	struct rig_slot w;
	size_t i;

	r->cfg.reach = RIG_MEM;
	rig_restart(r);
	rig_slot(r, &w, 1);
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		STEP("at 0x%" PRIx64, at[i].pa);
		EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = at[i].pa, .b = 64, .c = w.cq,
			      .d = w.pd), at[i].status);
		EXPECT_EQ(CMD(r, SRQ_CREATE, .slot = 1, .a = at[i].pa, .b = 64, .c = w.pd),
			  at[i].status);
		EXPECT_EQ(CMD(r, CQ_CREATE, .slot = 1, .a = at[i].pa, .b = 128), at[i].status);
	}
	EXPECT(r->fw->cq[1].used && !r->fw->cq[2].used);
	EXPECT(r->fw->srq[0].used && !r->fw->srq[1].used);
	EXPECT(r->fw->qp[1].state != FW_QP_FREE && r->fw->qp[2].state == FW_QP_FREE);
}

TEST("an event queue beyond the firmware's reach does not start, and the one before goes on")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	r->cfg.reach = RIG_MEM;
	rig_restart(r);
	EXPECT_EQ(fw_reg_write(r->fw, NIC_FW_BASE + NIC_FW_EQ_BASE, 8, 1ull << 32), 0);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_EQ_SIZE, 2 * RIG_EQ_SIZE), -22);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_SIZE, 4), RIG_EQ_SIZE);
	rig_slot(r, &w, 1);
	EXPECT_EQ(rig_write(r, NIC_DB_BASE(1) + NIC_DB_CQ_ARM, w.cq), 0);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_drain(r);
	rig_expect_event(r, FL_EV_CQ, w.cq, 0);
}
