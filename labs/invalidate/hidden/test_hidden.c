// SPDX-License-Identifier: BSD-2-Clause
/* Not in the handout: a small memory at random, and a card that never rests. */
#include "labs/invalidate/tests/bench.h"

#define FRAMES	6
#define PAGES	24

static struct {
	unsigned int seed[PAGES];	/* what each page holds */
	struct { unsigned int page, seed; } way[LAB_CHANNELS]; /* 0: nothing */
	unsigned int next;
} model;

static unsigned int hidden_fresh(void)
{
	model.next = model.next % 254 + 1;
	return model.next;
}

/* What is under way lands. */
static void hidden_settle(void)
{
	unsigned int i;

	bench_wait(2 * LONG);
	for (i = 0; i < LAB_CHANNELS; i++) {
		if (model.way[i].seed)
			model.seed[model.way[i].page] = model.way[i].seed;
		model.way[i].seed = 0;
	}
}

static bool on_its_way(unsigned int page)
{
	unsigned int i;

	for (i = 0; i < LAB_CHANNELS; i++)
		if (model.way[i].seed && model.way[i].page == page)
			return true;
	return false;
}

static void random_card(uint64_t x, unsigned int page)
{
	unsigned int channel = x & 1, seed = hidden_fresh();

	if (model.way[channel].seed || on_its_way(page))
		return;
	if (!card_tries(channel, 0, page, seed))
		return;
	card_ends_in(channel, (x >> 8) % LONG + 1);
	model.way[channel].page = page;
	model.way[channel].seed = seed;
}

JUDGE(random_pages, "few frames, many pages, card and CPU: every byte is right")
{
	unsigned int i, page, n, seed;
	uint64_t x;

	bench_new(FRAMES, 0);
	for (i = 0; i < 600; i++) {
		x = judge_random();
		page = (unsigned int)((x >> 32) % PAGES);
		n = 1 + (x >> 40) % 6;
		n = page + n > PAGES ? PAGES - page : n;
		if (on_its_way(page) && x % 8 < 5)
			hidden_settle();
		switch (x % 8) {
		case 0:
		case 1:
			seed = hidden_fresh();
			cpu_write(0, page, seed);
			model.seed[page] = seed;
			break;
		case 2:
			cpu_finds(0, page, model.seed[page]);
			break;
		case 3:
		case 4:
		case 5:
			random_card(x >> 4, page);
			break;
		case 6:
			kernel_evict(0, page, n, 0);
			break;
		default:
			kernel_age(0, page, n, 0);
		}
	}
	hidden_settle();
	for (page = 0; page < PAGES; page++)
		cpu_finds(0, page, model.seed[page]);
	no_stale();
	judge_at_least("evictions", told(LAB_EVICTIONS), 50);
}

JUDGE(never_idle, "a card that writes all the time writes nobody else's page")
{
	unsigned int i, lasts;

	bench_new(2, 0);
	cpu_write(0, 4, 1);
	kernel_pin(0, 4, 1);
	for (i = 0; i < 24; i++) {
		lasts = 20 + (unsigned int)(judge_random() % (i < 12 ? 200 : 9000));
		cpu_write(0, 3, 1);
		card_busy(0, 3, lasts, 2 * LONG / lasts);
		kernel_evict(0, 3, 1, 0);
		cpu_write(0, 9, 42);
		bench_wait(4 * LONG);
		cpu_finds(0, 9, 42);
		no_stale();
		kernel_evict(0, 9, 1, 0);
	}
	kernel_unpin(0, 4, 1);
}
