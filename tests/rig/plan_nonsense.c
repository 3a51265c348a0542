// SPDX-License-Identifier: BSD-2-Clause
#include "rig/plan_nonsense.h"

/* splitmix64 */
static uint64_t nonsense_next(__u64 *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Mostly near the fault, so that some of it holds. */
static uint64_t nonsense_place(__u64 *x, const struct fl_plan_fault *f)
{
	uint64_t far = nonsense_next(x) % (64 * FL_PLAN_PAGE);

	switch (nonsense_next(x) % 6) {
	case 0: return 0;
	case 1: return nonsense_next(x);
	case 2: return f->block.start - far;
	case 3: return f->region.start + far;
	default: return f->block.end + far;
	}
}

static void nonsense_plan(void *arg, const struct fl_plan_fault *f,
			  struct fl_plan_state *state,
			  struct fl_plan_bring *bring)
{
	__u64 *word = (__u64 *)bring, *x = &state->word[0];
	unsigned int i;

	(void)arg;
	for (i = 0; i < sizeof(*bring) / sizeof(*word); i++)
		word[i] = nonsense_place(x, f);
	bring->count = (__u32)(nonsense_next(x) % 12);
	for (i = 1; i < FL_PLAN_WORDS; i++)
		state->word[i] = nonsense_next(x);
}

const struct fl_plan_own nonsense_own = { .plan = nonsense_plan };
