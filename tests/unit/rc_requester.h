/* SPDX-License-Identifier: BSD-2-Clause */
/* rc_requester.h - a requester on the bench of rc_rig.h, which is given requests. */
#ifndef FL_RC_REQUESTER_H
#define FL_RC_REQUESTER_H

#include "rc_rig.h"

static struct rig g;

static void unit_start(void)
{
	struct fw_pair p = rig_pair();
	unsigned int i;

	rig_open(&g, 0, &rig_config);
	test_cleanup(rig_close, &g);
	for (i = 0; i < RIG_BYTES; i++)
		g.mem[i] = (uint8_t)(i * 31 + i / 256);
	EXPECT_EQ(g.t.open(g.t.ctx, RIG_QP, &p), FL_ST_OK);
	rig_run(&g);
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
