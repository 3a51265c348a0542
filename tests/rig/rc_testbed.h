/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig/rc_testbed.h - two units back to back, over a wire that loses, doubles, delays and damages;
 * pages go missing and come back. What is posted, and what must come of it: rig/rc_posts.h.
 */
#ifndef FL_RIG_RC_TESTBED_H
#define FL_RIG_RC_TESTBED_H

#include "rig/rc_posts.h"

/* ---- the run ---- */

void testbed_end(void *unused);
void testbed_draw(uint64_t seed);
void testbed_step(void);

/* The cell that both pairs add to is in pair 0's target. */
void testbed_compare(void);

/* Until all is posted. */
void testbed_post(void);

void testbed_drain(void);
void testbed_run(uint64_t seed, uint32_t posts);

#endif
