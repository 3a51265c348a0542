/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * card_tables.h - translation tables that a driver keeps for its card, beside those that
 * this kernel keeps for its processes.
 *
 * They lie in the kernel's own bank, where no process reaches them. The kernel does not
 * write to them. It knows which pages they are, so that it can check what must hold for
 * each of their descriptors: it names another such table, or a frame that is pinned.
 */
#ifndef FL_HOST_CARD_TABLES_H
#define FL_HOST_CARD_TABLES_H

#include "host/host.h"

struct card_tables;

/* NULL when memory runs out. */
struct card_tables *card_tables_create(void);
/* NULL or a sentence, as host_check(). */
const char *card_tables_check(struct host_kernel *k);

#endif
