/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair.h - one script, two firmwares: the image on an R5 in QEMU, and the same sources in this
 * process, as the emulator has them. What they write to the engine, to memory and to page FW must
 * be the same.
 */
#ifndef FL_TEST_R5_PAIR_H
#define FL_TEST_R5_PAIR_H

#include "card.h"

#define PAIR_KEYS	256
#define PAIR_FIRST	0x100000u	/* memory that is compared, up to RIG_MEM */

struct pair {
	struct card *far;
	struct rig *near;
	struct card_log log;		/* of near */
	/* Keys of regions are random: near takes those that far has drawn. */
	uint32_t key[PAIR_KEYS], keys, drawn;
	/* What main.c does, in this process. */
	struct {
		uint32_t off, value;
	} queue[CARD_QUEUE];
	uint32_t head, tail;
};

/* What is done; r->far says to which firmware, and script_is_far() which it is. */
typedef void pair_script(struct pair *p, struct rig *r, void *arg);

struct pair *pair_start(const char *image);
static inline bool pair_is_far(const struct pair *p, const struct rig *r)
{
	return r == p->far->rig;
}

/* Run the script with both, and compare. May be called again: they go on. */
void pair_run(struct pair *p, pair_script *script, void *arg);
/* A region was made: its key. */
void pair_key(struct pair *p, const struct rig *r, uint32_t key);
/* Time passes. */
void pair_wait(struct pair *p, struct rig *r, uint64_t ns);

#endif
