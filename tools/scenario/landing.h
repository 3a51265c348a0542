/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * landing.h - accesses to memory that cannot be repaired: no frame is free, a page cannot be
 * read from its file or from swap. An ordinary program ends with SIGSEGV then. An
 * application thread of this program would take all boards with it, so the access is given
 * up instead, and its command fails with the reason.
 */
#ifndef FL_LANDING_H
#define FL_LANDING_H

#include <stddef.h>
#include <stdint.h>

/* Before the first board, and after the last. One at a time; calls are counted. */
void landing_begin(void);
void landing_end(void);
/*
 * fn(arg), which does nothing but touch memory: it holds no lock and owns nothing. 0, or
 * the negative errno of the access that ended it, and *addr.
 */
int landing_try(void (*fn)(void *arg), void *arg, uint64_t *addr);
/*
 * What is said with an access outside landing_try(), which ends the program with status 1: a
 * line of a scenario. Not copied; NULL: nothing.
 */
void landing_doing(const char *text);
/* Variables of a thread that tries (sim_local_add). */
void *landing_local(size_t *bytes);
/* -ENOMEM and the like, as a reason. */
const char *landing_reason(int error);

#endif
