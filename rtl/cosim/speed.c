// SPDX-License-Identifier: BSD-2-Clause
/*
 * How fast the engine in Verilog is inside the emulator: two boards with driver and
 * library, resident pages, blocks that one process writes into the other's memory.
 */
#include <stdio.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/bench_stage.h"
#include "board/board.h"

#define BLOCK	16384u
#define BLOCKS	64u

static uint64_t speed_cycles(const struct stage *s)
{
	const struct engine_plugin *p = engine_plugin(NULL);
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 2; i++)
		sum += p->cycles(board_engine(s->process[i]->board->board));
	return sum;
}

static void speed_body(struct stage *s, void *arg)
{
	clock_t began;
	uint64_t c;

	(void)arg;
	stage_write(s, 0, BLOCK, 1);
	c = speed_cycles(s);
	began = clock();
	stage_write(s, 0, BLOCK, BLOCKS);
	c = speed_cycles(s) - c;
	printf("in the emulator: %u blocks of %u bytes, %llu cycles of both "
	       "boards, %.2f Mcycle a CPU second\n", BLOCKS, BLOCK,
	       (unsigned long long)c,
	       (double)c / 1e6 * CLOCKS_PER_SEC / (double)(clock() - began));
}

int main(void)
{
	const struct stage_config cfg = {
		.mode = SIM_LOCKSTEP, .bytes = BLOCK, .engine = ENGINE_RTL,
	};
	const char *why;

	if (!engine_plugin(&why) || !engine_plugin(NULL)->cycles) {
		fprintf(stderr, "speed: %s\n", why);
		return 1;
	}
	stage_run(&cfg, speed_body, NULL);
	return 0;
}
