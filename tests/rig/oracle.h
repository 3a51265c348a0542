/* SPDX-License-Identifier: BSD-2-Clause */
/* oracle.h - an oracle with areas and queue pairs, and short words for it. */
#ifndef FL_RIG_ORACLE_H
#define FL_RIG_ORACLE_H

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tools/scenario/oracle.h"

#define BYTES	4096

/* Two sources and a target on either side; bytes of each are all alike. */
extern struct oracle *o;
extern uint32_t a, b, t, back, q1, q2, loose;
extern uint8_t found[BYTES];

void rig_fill(uint32_t area, uint8_t value);
void rig_start(void);
uint64_t rig_post(const char *name, uint32_t pair, uint32_t from, uint32_t to,
		  uint64_t at, uint64_t n);
uint64_t rig_fetch(const char *name, uint32_t pair, uint32_t from, uint32_t to,
		   uint64_t at, uint64_t n);

static inline void rig_finish(uint64_t number)
{
	oracle_complete(o, number, ORACLE_OK);
}

/* All of the range has this value. */
bool rig_look(uint32_t area, uint64_t at, uint64_t n, uint8_t value);

void rig_good(bool held);
void rig_breach(bool held, const char *words);

#endif
