/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * annex.h - what a card may have beside the block engine: the board knows this and no more of
 * it. The domain is held in all calls but make, destroy and access.
 */
#ifndef FL_BOARD_ANNEX_H
#define FL_BOARD_ANNEX_H

#include <stdbool.h>
#include <stdint.h>

struct board;
struct fw_config;
struct fw_env;
struct wire_frame;

struct board_annex {
	/* When the engine has been made and the firmware has not. 0 or negative errno. */
	int (*make)(struct board *b);
	void (*destroy)(struct board *b);	/* of as much as there is */
	void (*reset)(struct board *b);
	/* What the firmware has of it: transports, features. */
	void (*offer)(struct board *b, struct fw_config *cfg, struct fw_env *env);
	/* A frame that is not the engine's; false: nor for this. The wire has room again. */
	bool (*receive)(struct board *b, const struct wire_frame *f, uint64_t now_ns);
	void (*room)(struct board *b);
	/* Registers of page XP (regs.def). 0 or negative errno. */
	int (*access)(struct board *b, uint32_t off, unsigned int size, uint64_t *value,
		      bool write);
	/* The part that still has something in flight; what does not add up. Or NULL. */
	const char *(*busy)(struct board *b);
	const char *(*check)(struct board *b);
};

/* That of this program's cards; NULL: the block engine is all that there is. */
extern const struct board_annex *const board_annex;

#endif
