/* SPDX-License-Identifier: BSD-2-Clause */
/* work_state.h - a work under way: what work_run.c, work_data.c and work_hazard.c share. */
#ifndef FL_WORK_STATE_H
#define FL_WORK_STATE_H

#include "tools/work/pair.h"
#include "tools/work/work.h"

/* Longer than any card's patience, with all its tries. */
#define WORK_WAIT_NS	10000000000ull
#define HAZARD_LOSS_PPM	10000u	/* WORK_LOSS */

struct work_state {
	const struct work_run *run;
	struct work_result *r;
	struct pair pair;
	struct work_op op[WORK_MOST_OPS];
	unsigned int n, rounds;
	struct work_sizes size;
	/* [0] of p, [1] of q; [WORK_OUT], [WORK_IN]; NULL where the size is 0. */
	struct testbed_buffer *buffer[2][2];
	/* What each has to hold: before the requests of the round, and after them. */
	uint8_t *before[2][2], *after[2][2];
	struct testbed_connection *conn;
	struct testbed_work work[2][WORK_MOST_OPS];	/* of each round */
	uint64_t begin_ns[WORK_MOST_OPS];
	bool through[WORK_MOST_OPS];	/* while others are tried again */
	unsigned int tries;
	uint64_t kill_ns;	/* q ends then; 0: it does not */
	bool dead, failed;	/* q has ended; a request has failed */
};

static inline uint64_t work_size(const struct work_state *s, int who, int which)
{
	return which == WORK_IN ? s->size.in[who] : s->size.out[who];
}

static inline struct testbed_process *work_process(struct work_state *s, int who)
{
	return who ? s->pair.q : s->pair.p;
}

/* work_data.c: 0 or negative errno. Buffers, their contents, and which pages are cold. */
int work_data_make(struct work_state *s);
void work_data_free(struct work_state *s);
/* What the requests of a round do to the arrays. */
void work_data_apply(struct work_state *s);
/* The in buffers are zeros again. */
void work_data_remapped(struct work_state *s);
/* Do the buffers hold what they must? -EBADMSG: no. */
int work_data_check(struct work_state *s);

/* work_hazard.c: what gets in the way, at its moment. */
/* Half of what is worked on, in pages; 0: so little that it is no hazard. */
uint64_t hazard_half(uint64_t pages);
/* What the processes may have of their boards; false: the work is too small for it. */
bool hazard_boards(const struct work_state *s, struct testbed_board_config board[2]);
/* All is set up, nothing registered; registered; a round is over. */
int hazard_begin(struct work_state *s);
int hazard_registered(struct work_state *s);
int hazard_between(struct work_state *s);
/* As testbed_wait(), and q dies meanwhile if it is to. */
int hazard_wait(struct work_state *s, struct testbed_work *k);

#endif
