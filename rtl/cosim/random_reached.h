/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random_reached.h - what a random run must have met: without these cases it says
 * nothing of blocks that come again.
 */
#ifndef FL_RTL_RANDOM_REACHED_H
#define FL_RTL_RANDOM_REACHED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "faultline/entries.h"
#include "nic/wire.h"

#define REACHED_ENOUGH	2000	/* transactions in which all of it happens */

enum { TURN, BUSY, NO_CONTEXT, TOO_LARGE, WORKED_ON, LANDED, REACHED };
static uint64_t reached[REACHED];

/* An answer leaves; in_packet: it is what the engine makes of a packet. */
static inline void reached_frame(const struct wire_frame *f, bool icrc,
				 bool in_packet)
{
	struct wire_answer a;

	if (wire_is_block(wire_opcode(f)) ||
	    wire_get_answer(f, icrc, &a) != WIRE_OK)
		return;
	switch (a.opcode) {
	case WOP_REFUSED:
		reached[TURN] += a.code == FL_ST_WAIT;
		reached[BUSY] += a.code == FL_ST_BUSY && !in_packet;
		reached[NO_CONTEXT] += a.code == FL_ST_BUSY && in_packet;
		break;
	case WOP_NAK:
		reached[TOO_LARGE] += a.code == FL_ST_BLOCK_SIZE;
		break;
	case WOP_WAIT:
		reached[WORKED_ON] += in_packet;
		break;
	}
}

static inline bool reached_all(uint64_t done, uint32_t longest)
{
	static const char *const name[] = {
		"refused with WAIT", "refused with BUSY", "without a context",
		"too large", "worked on", "landed"
	};
	const char *never = NULL;
	unsigned int i;

	printf("blocks");
	for (i = 0; i < REACHED; i++) {
		printf("%s %s: %llu", i ? "," : "", name[i],
		       (unsigned long long)reached[i]);
		/* Blocks of 4 KB fit every card. */
		if (!reached[i] && (i != TOO_LARGE || longest > 4096))
			never = name[i];
	}
	printf("\n");
	if (!never || done < REACHED_ENOUGH)
		return true;
	fprintf(stderr, "random: no block was ever %s\n", never);
	return false;
}

#endif
