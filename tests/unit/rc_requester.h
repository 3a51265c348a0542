/* SPDX-License-Identifier: BSD-2-Clause */
/* rc_requester.h - a requester on the bench of rc_rig.h, which is given requests. */
#ifndef FL_RC_REQUESTER_H
#define FL_RC_REQUESTER_H

#include "rc_rig.h"

static struct rig g;

static void unit_start(void)
{
	rig_start_filled(&g);
}

static void work_post(uint32_t wr, uint8_t opcode, unsigned int page, uint32_t length)
{
	struct fw_work w = rig_work(opcode, page, length);

	rig_post(&g, wr, &w);
}

static void is_done(unsigned int n, uint32_t wr, uint8_t status)
{
	EXPECT(n < g.dones);
	EXPECT_EQ(g.done[n].wr, wr);
	EXPECT_EQ(g.done[n].status, status);
}

#endif
