/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resident_way.h - requests of one queue pair, each like the last one, that go by the resident
 * step, in three lengths; between two of them something changes.
 */
#ifndef FL_RIG_RESIDENT_WAY_H
#define FL_RIG_RESIDENT_WAY_H

#include "rig/resident.h"

#define FROM	0x3000u
#define TO	0x5000u

extern struct testbed *way_testbed;
extern uint32_t way_len;		/* of the requests */

/* Bytes that went by the step; requests that needed no firmware. */
uint64_t way_went(void);
uint64_t way_again(void);
struct fl_wqe *way_wqe(struct node *n, uint16_t index);
void way_post_quietly(void);		/* no doorbell */
void way_post(void);
void way_drain(void);
/* Requests that go by the step: the last of them is served in its doorbell. */
void way_learn(void);
/* The next request goes the long way, and ends so; or does not end before something is done. */
void way_next_ends(uint8_t status);
void way_next_waits(void);

/* Boards for which the way is known, then change(); with each of the lengths. */
void way_try(void (*change)(void));

#endif
