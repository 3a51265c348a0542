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
#include "faultline/fsm.h"
#include "nic/wire.h"

#define REACHED_ENOUGH	2000	/* transactions in which all of it happens */

enum {
	TURN, BUSY, NO_CONTEXT, TOO_LARGE, WORKED_ON, LANDED,
	GEN_WRAP, ATTEMPT_WRAP, ANSWER_WRAP, FAULT_WRAP, WHOLE, REACHED
};
extern uint64_t reached[REACHED];

/* A transmit context changes state by event, and this is its attempt then. */
static inline void reached_attempt(uint32_t attempt, uint64_t event)
{
	reached[ATTEMPT_WRAP] += !attempt && (event == FL_TX_EV_EXPIRE ||
					      event == FL_TX_EV_PEER_READY);
}

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
		"too large", "worked on", "landed",
		"of a generation that began again",
		"of an attempt that did", "answered for an attempt that did",
		"of a fault that did", "whole"
	};
	const char *never = NULL;
	unsigned int i;

	printf("blocks");
	for (i = 0; i < REACHED; i++) {
		printf("%s %s: %llu", i ? "," : "", name[i],
		       (unsigned long long)reached[i]);
		/* Blocks of 4 KB fit every card, and are few cells. */
		if (!reached[i] &&
		    ((i != TOO_LARGE && i != WHOLE) || longest > 4096))
			never = name[i];
	}
	printf("\n");
	if (!never || done < REACHED_ENOUGH)
		return true;
	fprintf(stderr, "random: no block was ever %s\n", never);
	return false;
}

#endif
