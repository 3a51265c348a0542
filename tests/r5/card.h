/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * card.h - a card for the firmware on an R5 in QEMU (debugger.h): the mailbox, as fl_mailbox.v has
 * it, and behind it the register file of the firmware's unit tests, which hands move along
 * (test_fw_rig.h).
 *
 * card_rig() gives a rig whose firmware is the one on the R5: what a test does with it is what the
 * driver, a process and the network do.
 */
#ifndef FL_TEST_R5_CARD_H
#define FL_TEST_R5_CARD_H

#include "debugger.h"

#include "rig/fw.h"

#define CARD_QUEUE	512	/* fl_mailbox.v, DEPTH_LOG2 */
#define CARD_WORDS	32
#define CARD_WRITES	65536

/* A write of the firmware's to the engine; a register of 64 bits is one. */
struct card_write {
	uint32_t off;
	uint64_t value;
};

struct card_log {
	struct card_write write[CARD_WRITES];
	uint32_t writes;
};

/* Also for a firmware in this process. */
void card_log_write(struct card_log *log, uint32_t off, uint64_t value);

struct card {
	struct rig *rig;
	struct debugger *debugger;
	struct card_log log;
	/* fl_mailbox.v */
	struct {
		uint32_t off, value;
	} queue[CARD_QUEUE];
	uint32_t head, tail, mails;
	bool open;
	uint32_t words[CARD_WORDS];
	bool line;			/* as LINE says; rig->line: as the driver sees it */
	/* Half of a register of 64 bits. */
	uint32_t low, low_off;
	bool half;
	uint32_t id;			/* what ENG.ID reads as */
	uint32_t cycles;		/* the R5's clock, which stands still otherwise */
	const uint64_t *clock;		/* r5_clock.ns */
	uint32_t turns;			/* of the firmware's, in which it found nothing */
	bool ended;			/* the firmware stands at r5_ended */
};

/* A machine with that image; it does not run yet. clock: card->cycles is its time. */
struct card *card_start(const char *image, bool clock);
/* The driver's port: a write is queued, as on the bus, and a read waits for those to FW. */
void card_queue(struct card *c, uint32_t off, uint32_t value);
uint32_t card_read(struct card *c, uint32_t off);
/* The firmware runs until it finds nothing to do so many times, or ends. */
void card_run(struct card *c, uint32_t turns);
/* Until it has written the engine so often, or ends. */
void card_run_writes(struct card *c, uint32_t writes);

#endif
