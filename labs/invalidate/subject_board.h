/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * subject_board.h - of the subject: its state, the card that the judge plays, the
 * processes and their CPU (subject_board.c); grace periods by themselves (subject_grace.c).
 */
#ifndef FL_LABS_INVALIDATE_SUBJECT_BOARD_H
#define FL_LABS_INVALIDATE_SUBJECT_BOARD_H

#include "board/board_internal.h"
#include "host/internal.h"
#include "host/remote/remote.h"
#include "labs/invalidate/invalidate_lab.h"

struct process {
	struct host_process *p;
	struct host_bank bank;
	uint64_t base, faults;
	struct { uint64_t frame; int prot; } view[LAB_PAGES];
	/* Of their frames, when a call began; pa 0: none. */
	struct { uint64_t pa, tag; } was[LAB_PAGES];
	struct host_frame *pinned[LAB_PAGES];
	struct mm_notifier tell, told;
};

struct channel {
	struct sim_actor actor;
	struct dma_burst burst;
	bool open;
	uint64_t seed;
	/* LAB_BUSY */
	uint64_t card, page, left, lasts;
};

struct when {
	uint64_t channel, card, page, write, seed, lasts, times;
};

struct subject_state {
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct board *board;
	struct host_kernel *k;
	struct process process[LAB_PROCESSES];
	struct { struct process *of; int fd; uint16_t stream; } card[LAB_CARDS];
	unsigned int processes, cards, opened;
	struct channel channel[LAB_CHANNELS];
	struct when when[LAB_MOMENTS];
	unsigned int refuse;
	uint64_t *q;			/* of the question under way */
	struct trace_record *log;
	uint64_t seen;			/* the record that was told last */
};
extern struct subject_state lab;

/* The board is not there: say why, before it looks like a crash of nothing. */
_Noreturn void subject_give_up(const char *what, int err);

/* An access of the card begins and ends; what a channel does by itself. */
enum dma_status subject_card_begin(struct channel *c, uint64_t card,
				  uint64_t page, bool write, uint64_t seed);
void subject_card_end(struct channel *c);
uint64_t subject_card_step(void *arg, uint64_t now_ns);

/* LAB_NOWHERE: of none. */
uint64_t subject_page_of(uint64_t va);
struct process *subject_process(uint64_t i);
/* The tags that its frames have now. */
void subject_remember(struct process *p);
void subject_add_process(void);
void subject_open_card(uint64_t *q);
void subject_cpu_use(uint64_t *q);

/* A question that needs no board is answered; false: it is none. */
bool subject_alone(struct subject_msg *m);

#endif
