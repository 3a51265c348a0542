/* SPDX-License-Identifier: BSD-2-Clause */
/* rc_responder.h - a responder on the bench of rc_rig.h, and what comes to it. */
#ifndef FL_RC_RESPONDER_H
#define FL_RC_RESPONDER_H

#include "rc_rig.h"

static struct rig g;

static void unit_start(void)
{
	rig_start(&g);
}

/* A packet of a WRITE to page 0 and on. */
static void write_in(uint8_t opcode, uint32_t psn, uint32_t length, uint32_t payload,
		     uint8_t fill)
{
	struct rc_packet p = {
		.opcode = opcode, .psn = psn, .va = RIG_BASE, .rkey = 0x100,
		.length = length, .ackreq = true, .imm = 0x11223344,
	};

	rig_in(&g, p, payload, fill);
}

static void write_only(uint32_t psn, uint8_t fill)
{
	write_in(WOP_RC_WRITE_ONLY, psn, 10, 10, fill);
}

static void send_in(uint8_t opcode, uint32_t psn, uint32_t payload, uint8_t fill)
{
	rig_in(&g, (struct rc_packet){ .opcode = opcode, .psn = psn, .ackreq = true,
				       .imm = 0x55667788, .solicited = true }, payload, fill);
}

static void memory_is(uint32_t at, uint32_t n, uint8_t fill)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (g.mem[at + i] != fill)
			EXPECT_EQ(g.mem[at + i], fill);
}

#endif
