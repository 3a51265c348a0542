// SPDX-License-Identifier: BSD-2-Clause
#include "rig/swarm_plan.h"

/* What a seed draws: how many of what, how much goes wrong, and values of the profile. */

static unsigned int swarm_level(struct rng *r, unsigned int some,
				unsigned int many)
{
	unsigned int n = (unsigned int)rng_below(r, 100);

	return n < 55 ? 0 : n < 85 ? some : many;
}

static uint32_t swarm_power(struct rng *r, uint32_t from, uint32_t to)
{
	return 1u << (from + rng_below(r, to - from + 1));
}

struct plan make_plan(uint64_t seed, enum sim_mode mode)
{
	static const uint32_t sizes[] = { 100, 3000, 4096, 9000, 20000, 50000,
					  70000 };
	struct plan p = { .seed = seed, .mode = mode };
	struct rng r;
	int i;

	rng_init(&r, seed, "plan");
	p.chaos[C_LOSS] = swarm_level(&r, 5000, 60000);
	p.chaos[C_DUPLICATE] = swarm_level(&r, 20000, 300000);
	p.chaos[C_DAMAGE] = swarm_level(&r, 5000, 40000);
	p.chaos[C_LATE] = swarm_level(&r, 30000, 400000);
	for (i = C_PAGEOUT; i <= C_PREFETCH; i++)
		p.chaos[i] = swarm_level(&r, 5, 40);
	for (; i < C_COUNT; i++)
		p.chaos[i] = swarm_level(&r, 1, 6);
	p.boards = 2 + (unsigned int)rng_below(&r, BOARDS_MAX - 1);
	p.procs = p.boards + (unsigned int)rng_below(&r, 4);
	p.conns = 1 + (unsigned int)rng_below(&r, 8);
	p.guests = (unsigned int)rng_below(&r, 4);
	p.ops = 20 + (unsigned int)rng_below(&r, 80);
	p.slots = 1 + (unsigned int)rng_below(&r, SLOTS_MAX);
	p.depth = 1 + (unsigned int)rng_below(&r, DEPTH_MAX);
	p.slot_bytes = sizes[rng_below(&r, sizeof(sizes) / sizeof(*sizes))];
	p.block_bytes = swarm_power(&r, 12, 16);
	p.contexts = 4 + (uint32_t)rng_below(&r, 13);
	p.rx_contexts = 1 + (uint32_t)rng_below(&r, 32);
	p.tlb_entries = swarm_power(&r, 2, 9);
	p.frames = rng_below(&r, 2) ? 0 : 40 + rng_below(&r, 60);
	return p;
}

const char *random_set(struct rng *r, const struct plan *p, int i,
		       char text[64])
{
	uint32_t cell = swarm_power(r, 6, 12);
	/*
	 * A machine with much to do is no dead peer. But where packets get lost,
	 * such patience would take long; and reliable connections wait for the first
	 * of these times sixteen times before they give up a board that was reset.
	 */
	bool lossy = p->chaos[C_LOSS] || p->chaos[C_DAMAGE];
	unsigned long patient = p->draw == DRAW_PACKETS ? 100000000 : 500000000;
	unsigned long v[] = {
		cell < p->block_bytes ? cell : p->block_bytes,
		500000ul << rng_below(r, 4), 10000000ul << rng_below(r, 3),
		lossy ? 10000000ul : patient, lossy ? 200000000ul :
		1000000000ul, 1 + rng_below(r, 8),
		40ul << rng_below(r, 4), 10000ul << rng_below(r, 8),
	};
	static const char *const key[] = {
		"link.cell", "fw.timeout", "fw.fault_timeout",
		"fw.wall_timeout", "fw.wall_fault_timeout", "fw.waiting_share",
		"fw.refusals", "mm.major",
	};

	if (i == (int)(sizeof(v) / sizeof(*v)))
		/* 4 ms: what was lost comes again in the time of a test. */
		return p->draw == DRAW_PACKETS ? "rc.timeout=10" : NULL;
	if (i > (int)(sizeof(v) / sizeof(*v)))
		return NULL;
	snprintf(text, 64, "%s=%lu", key[i], v[i]);
	return text;
}

void show_plan(const struct plan *p)
{
	int i;

	printf("# %u boards, %u processes, %u connections, %u guests, slots %u"
	       " of %u, depth %u, block %u, contexts %u/%u, tlb %u, frames "
	       "%llu, chaos", p->boards, p->procs, p->conns, p->guests,
	       p->slots, p->slot_bytes, p->depth, p->block_bytes, p->contexts,
	       p->rx_contexts, p->tlb_entries, (unsigned long long)p->frames);
	for (i = 0; i < C_COUNT; i++)
		printf(" %u", p->chaos[i]);
	printf("\n");
}
