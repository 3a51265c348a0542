// SPDX-License-Identifier: BSD-2-Clause
/*
 * The bytes of a work: buffers, which of their pages are cold, and plain arrays of what
 * they have to hold. The arrays know of requests in the order in which they were posted,
 * and of nothing else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "sim/rng.h"
#include "tools/work/work_state.h"

#define PIECE	(64u << 10)

/* ---- which pages are cold ---- */

static bool side_is_cold(const struct work_state *s, int which)
{
	enum work_side side = s->run->work->side;

	return side == WORK_BOTH_SIDES ||
	       (which == WORK_IN) == (side == WORK_DESTINATION);
}

/* A source's page that is cold was paged out, a destination's never came. */
static int page_place(struct testbed_buffer *b, int which, bool cold,
		      uint64_t off, uint64_t len)
{
	if (which == WORK_OUT)
		return cold ? testbed_buffer_advise(b, off, len, FL_PAGEOUT) : 0;
	return cold ? 0 : testbed_buffer_touch(b, off, len, true);
}

/* So many of its pages, at random places. */
static int pages_place(struct work_state *s, struct testbed_buffer *b, int which,
		       uint64_t share_ppm)
{
	uint64_t pages = (b->bytes + HOST_PAGE - 1) / HOST_PAGE, i, left;
	uint64_t cold = (pages * share_ppm + 999999) / 1000000;
	uint64_t off, len;
	struct rng rng;
	int err = 0;
	bool take;

	if (!cold || cold == pages)
		return page_place(b, which, cold, 0, b->bytes);
	rng_init(&rng, s->run->cfg.seed, "cold pages");
	for (i = 0; i < pages && !err; i++) {
		left = pages - i;
		take = rng_below(&rng, left) < cold;
		cold -= take;
		off = i * HOST_PAGE;
		len = b->bytes - off < HOST_PAGE ? b->bytes - off : HOST_PAGE;
		err = page_place(b, which, take, off, len);
	}
	return err;
}

/* ---- buffers and arrays ---- */

static int buffer_make(struct work_state *s, int who, int which)
{
	static const char *const names[2][2] = { { "pout", "pin" },
						 { "qout", "qin" } };
	uint64_t bytes = work_size(s, who, which), i;
	struct testbed_buffer **b = &s->buffer[who][which];
	uint64_t seed = s->run->cfg.seed + (uint64_t)who;
	int err;

	if (!bytes)
		return 0;
	s->before[who][which] = calloc(1, bytes);
	s->after[who][which] = calloc(1, bytes);
	if (!s->before[who][which] || !s->after[who][which])
		return -ENOMEM;
	err = testbed_buffer_add(work_process(s, who), names[who][which], bytes,
				 NULL, b);
	if (!err && which == WORK_OUT) {
		err = testbed_buffer_fill(*b, TESTBED_RANDOM, seed);
		for (i = 0; i < bytes; i++)
			s->after[who][which][i] =
				testbed_fill_byte(TESTBED_RANDOM, seed, i);
	}
	return err ? err : pages_place(s, *b, which, side_is_cold(s, which) ?
				       s->run->work->cold_ppm : 0);
}

int work_data_make(struct work_state *s)
{
	int who, which, err = 0;

	for (who = 0; who < 2; who++)
		for (which = WORK_OUT; which <= WORK_IN && !err; which++)
			err = buffer_make(s, who, which);
	return err;
}

void work_data_free(struct work_state *s)
{
	int who, which;

	for (who = 0; who < 2; who++)
		for (which = WORK_OUT; which <= WORK_IN; which++) {
			free(s->before[who][which]);
			free(s->after[who][which]);
		}
}

void work_data_apply(struct work_state *s)
{
	const struct work_op *op;
	uint8_t *local, *remote;
	int who, which;
	unsigned int i;

	for (who = 0; who < 2; who++)
		for (which = WORK_OUT; which <= WORK_IN; which++)
			if (s->after[who][which])
				memcpy(s->before[who][which],
				       s->after[who][which],
				       work_size(s, who, which));
	for (i = 0; i < s->n; i++) {
		op = &s->op[i];
		who = op->back;
		local = s->after[who][op->read ? WORK_IN : WORK_OUT] +
			op->local_at;
		remote = s->after[!who][op->remote] + op->at;
		if (op->read)
			memcpy(local, remote, op->bytes);
		else
			memcpy(remote, local, op->bytes);
	}
}

void work_data_remapped(struct work_state *s)
{
	int who;

	for (who = 0; who < 2; who++)
		if (s->after[who][WORK_IN])
			memset(s->after[who][WORK_IN], 0, s->size.in[who]);
}

/* ---- judging ---- */

/* With rights taken away nothing may land, with a failure anything of the requests may. */
static bool piece_right(const struct work_state *s, int who, int which,
			uint64_t at, const uint8_t *is, uint64_t n)
{
	const uint8_t *before = s->before[who][which] + at;
	const uint8_t *after = s->after[who][which] + at;
	uint64_t i;

	if (s->run->hazard == WORK_RIGHTS)
		return !memcmp(is, before, n);
	if (!s->failed)
		return !memcmp(is, after, n);
	for (i = 0; i < n; i++)
		if (is[i] != before[i] && is[i] != after[i])
			return false;
	return true;
}

static int buffer_check(struct work_state *s, int who, int which, uint8_t *piece)
{
	uint64_t bytes = work_size(s, who, which), at, n;
	int err = 0;

	for (at = 0; at < bytes && !err; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		err = testbed_buffer_read(s->buffer[who][which], at, piece, n);
		if (!err && !piece_right(s, who, which, at, piece, n))
			err = -EBADMSG;
	}
	return err;
}

int work_data_check(struct work_state *s)
{
	uint8_t *piece = malloc(PIECE);
	int who, which, err = piece ? 0 : -ENOMEM;

	for (who = 0; who < (s->dead ? 1 : 2); who++)
		for (which = WORK_OUT; which <= WORK_IN && !err; which++)
			err = buffer_check(s, who, which, piece);
	free(piece);
	return err;
}
