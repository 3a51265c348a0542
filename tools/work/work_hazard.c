// SPDX-License-Identifier: BSD-2-Clause
/* What may get in the way of a work. */
#include <errno.h>
#include <string.h>

#include "fabric/fabric.h"
#include "host/host.h"
#include "sim/sim.h"
#include "tools/work/work_state.h"

const char *const work_hazard_names[WORK_HAZARDS] = {
	[WORK_PLAIN] = "plain",
	[WORK_PRESSURE] = "pressure",
	[WORK_REMAP] = "remap",
	[WORK_LOSS] = "loss",
	[WORK_DIES] = "peer dies",
	[WORK_RIGHTS] = "rights",
};

const char *const work_hazard_texts[WORK_HAZARDS] = {
	[WORK_PLAIN] = "nothing gets in the way",
	[WORK_PRESSURE] = "each process may have half of the pages that it works on",
	[WORK_REMAP] = ("the destination is unmapped and mapped again at the same place, "
			"and then all is done once more"),
	[WORK_LOSS] = "1 % of all packets are lost",
	[WORK_DIES] = "process q ends in the middle",
	[WORK_RIGHTS] = "the destination is read-only from before the first request on",
};

#define LEAST_PAGES	8u	/* that a process may have */

const char *work_lacks(const struct work *k, enum work_hazard h)
{
	if (k->kind == WORK_STREAM && h == WORK_REMAP)
		return "a stream has no pause in which that could be done";
	return NULL;
}

uint64_t hazard_half(uint64_t pages)
{
	return pages / 2 < LEAST_PAGES ? 0 : pages / 2;
}

/* So many pages of this buffer of a process are in use by some request. */
static uint64_t pages_of(const struct work_state *s, int who, int which)
{
	static bool used[WORK_MOST_BYTES / 4096 + 1];
	uint64_t pages = work_size(s, who, which) / HOST_PAGE + 1, n = 0, page;
	const struct work_op *op;
	uint32_t at;
	unsigned int i;
	bool mine;

	memset(used, 0, pages * sizeof(*used));
	for (i = 0; i < s->n; i++) {
		op = &s->op[i];
		mine = op->back == who;
		if (which != (mine ? op->read ? WORK_IN : WORK_OUT : op->remote))
			continue;
		at = mine ? op->local_at : op->at;
		for (page = at / HOST_PAGE;
		     page <= (at + op->bytes - 1) / HOST_PAGE; page++) {
			n += !used[page];
			used[page] = true;
		}
	}
	return n;
}

bool hazard_boards(const struct work_state *s, struct testbed_board_config board[2])
{
	bool some = s->run->hazard != WORK_PRESSURE;
	uint64_t half;
	int who;

	for (who = 0; who < 2 && s->run->hazard == WORK_PRESSURE; who++) {
		half = hazard_half(pages_of(s, who, WORK_OUT) +
				   pages_of(s, who, WORK_IN));
		if (!half)
			continue;
		board[who].process_frames = half;
		some = true;
	}
	return some;
}

int hazard_begin(struct work_state *s)
{
	struct fabric_inject loss = { .loss_ppm = HAZARD_LOSS_PPM };
	uint8_t a = board_id(s->pair.a->board), b = board_id(s->pair.b->board);
	int err;

	if (s->run->hazard != WORK_LOSS)
		return 0;
	testbed_injected(s->pair.w);
	err = fabric_inject(testbed_fabric(s->pair.w), a, b, &loss);
	return err ? err : fabric_inject(testbed_fabric(s->pair.w), b, a, &loss);
}

int hazard_registered(struct work_state *s)
{
	int who, err = 0;

	for (who = 0; who < 2 && s->run->hazard == WORK_RIGHTS && !err; who++)
		if (s->buffer[who][WORK_IN])
			err = testbed_buffer_protect(s->buffer[who][WORK_IN], 0,
						     0, FL_PROT_READ);
	return err;
}

int hazard_between(struct work_state *s)
{
	int who, err = 0;

	for (who = 0; who < 2 && !err; who++)
		if (s->buffer[who][WORK_IN])
			err = testbed_buffer_remap(s->buffer[who][WORK_IN], 0, 0);
	work_data_remapped(s);
	return err;
}

int hazard_wait(struct work_state *s, struct testbed_work *k)
{
	uint64_t now = sim_now(testbed_sim(s->pair.w));
	int err;

	if (!s->kill_ns || s->dead)
		return testbed_wait(s->pair.w, k, WORK_WAIT_NS, TESTBED_BOTH);
	err = now < s->kill_ns ? testbed_wait(s->pair.w, k, s->kill_ns - now,
					      TESTBED_BOTH) : -ETIMEDOUT;
	if (err != -ETIMEDOUT)
		return err;
	s->dead = true;
	err = testbed_process_end(s->pair.q);
	return err ? err : testbed_wait(s->pair.w, k, WORK_WAIT_NS, TESTBED_BOTH);
}
