// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine in Verilog against the one in C, at random, one call at a time: two nodes, each
 * of them both engines side by side, over a wire that loses, doubles, damages and
 * reorders, with pages that are missing, bursts that are held, no room, kills, timers that
 * run out, resets, counters near their wrap, and registers that are written without sense.
 * The first difference ends it (engine_plugin.h). What several calls do at once: compete.c.
 *
 *	random [--seed N] [--transactions N] [--longest BYTES] [--alone]
 *
 * A transaction is a block that came to DONE. --longest: what a block and a cell carry at
 * most, for a simulator that is slow (64 at least). --alone: the Verilog without C
 * beside it, to see how fast it is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rtl/cosim/engine_plugin.h"
#include "rtl/cosim/random_node.h"

#define ROUND		250	/* transactions with the same engines */

static const struct engine_plugin *plugin;

/* An old packet once more, or one that is changed where the ICRC allows it. */
static void node_replay(struct node *n, unsigned int i)
{
	struct wire_frame f = w.old[random_below(OLD)];

	if (!f.len)
		return;
	f.to = one_in(20) ? (uint8_t)random_below(256) : (uint8_t)i;
	f.from = one_in(20) ? (uint8_t)random_below(256) :
		(uint8_t)random_below(ENGINE_RTL_NODES);
	if (!w.cfg.icrc && f.len > 40)
		f.bytes[12 + random_below(40)] ^= (uint8_t)(1u <<
							    random_below(8));
	node_receive(n, &f);
}

static void node_resume(struct node *n, unsigned int channel)
{
	if (!n->held[channel] && !one_in(50))
		return;
	n->held[channel] = false;
	engine_burst_resume(n->e, channel, one_in(2));
}

/* Seldom: what takes hundreds of calls. */
static void node_wraps(struct node *n, unsigned int i)
{
	switch (random_below(20)) {
	case 0:
		wrap_attempts(n, i);
		break;
	case 1:
		wrap_faults(n, i);
		break;
	case 2:
		whole_block(n, i);
		break;
	case 3:
		wrap_reads(n, i);
	}
}

/* How a round begins. */
static void random_begin(unsigned int round, struct node *n, unsigned int i)
{
	if (round == 1) {
		wrap_generations();
		wrap_answers();
		wrap_reads(n, i);
	} else if (round % 4 == 1)
		wrap_attempts(n, i);
	else if (round % 4 == 2)
		wrap_faults(n, i);
	else if (round % 4 == 3)
		whole_block(n, i);
}

static void node_rare(struct node *n)
{
	struct engine_stats st;
	unsigned int i;

	switch (random_below(60)) {
	case 0:
		n->held[0] = n->held[1] = false;
		n->awake[0] = n->awake[1] = false;
		engine_reset(n->e);
		if (one_in(2))
			node_start(n);
		break;
	case 1:
		node_write(n, NIC_ENG_CTRL, 4, 0);
		break;
	case 2: case 4: case 5: case 6:
		node_start(n);
		break;
	case 7: case 8:
		engine_idle(n->e);
		break;
	case 3:
		node_wraps(n, random_below(w.cfg.contexts));
		break;
	case 9: case 10:
		engine_stats(n->e, &st);
		for (i = 0; i < ENGINE_RXC_MAX; i++)
			engine_rx_event(n->e, i);
		break;
	default:
		node_chaos(n);
	}
}

static void random_happen(void)
{
	unsigned int i = random_below(NODES), r = random_below(100);
	struct node *n = &w.node[i];

	w.calls++;
	w.now_ns += random_below(100);
	if (r < 30)
		node_step(n, random_below(2));
	else if (r < 60)
		node_deliver(n);
	else if (r < 75)
		node_notes(n);
	else if (r < 80)
		node_go(n, random_below(w.cfg.contexts),
			one_in(3) ? FL_OP_READ : FL_OP_WRITE,
			random_below(NODES), some_length(n),
			(uint32_t)random_u64());
	else if (r < 85)
		node_driver(n);
	else if (r < 88)
		node_resume(n, random_below(2));
	else if (r < 91)
		engine_wire_room(n->e);
	else if (r < 94)
		node_control(n);
	else if (r < 96)
		node_replay(n, i);
	else
		node_rare(n);
}

static void random_stop(void)
{
	unsigned int i;

	for (i = 0; i < NODES; i++) {
		if (plugin->cycles)
			w.cycles += plugin->cycles(w.alone ? w.node[i].e :
				engine_both_other(w.node[i].e));
		engine_destroy(w.node[i].e);
	}
}

/* round: from 1 on. */
static bool new_engines(const char *dir, unsigned int round)
{
	struct engine_env env = node_env;
	bool whole = round % 4 == 3;	/* many cells */
	unsigned int i;
	int error;

	w.cfg = (struct engine_config){
		.contexts = (uint8_t)(4 + (round == 1 ? 0 : random_below(13))),
		.rx_contexts = (uint8_t)(one_in(3) ? 1 + random_below(4) :
					 1 + random_below(32)),
		.cell_bytes = least_of(64u << (whole ? 0 : random_below(7)),
				       w.longest),
		.icrc = !one_in(4),
	};
	memset(w.node, 0, sizeof(w.node));
	for (i = 0; i < NODES; i++) {
		w.cfg.node = w.cfg.board = (uint8_t)i;
		w.cfg.block_log2 = whole ? 16 :
			(uint8_t)(12 + random_below(5));
		w.node[i].block_log2 = w.cfg.block_log2;
		env.ctx = env.wire = &w.node[i];
		w.cfg.cause = &w.node[i].cause;
		w.node[i].e = w.alone ?
			plugin->create(&w.cfg, &env, trace_emit, &error) :
			engine_both(&w.cfg, &env, plugin, dir, NULL, &error);
		if (!w.node[i].e) {
			fprintf(stderr, "random: no engine: %s\n",
				strerror(-error));
			return false;
		}
		node_start(&w.node[i]);
	}
	random_begin(round, &w.node[random_below(NODES)], random_below(4));
	return true;
}

static struct option {
	const char *name;
	uint64_t value;
} options[] = { { "--seed", 1 }, { "--transactions", 10000 }, { "--longest", 65536 } };

enum { SEED, TRANSACTIONS, LONGEST, OPTIONS };

static bool random_option(const char *name, const char *text)
{
	char *end;
	int i;

	for (i = 0; i < OPTIONS && strcmp(name, options[i].name); i++)
		;
	if (i == OPTIONS || *text < '0' || *text > '9')
		return false;
	errno = 0;
	options[i].value = strtoull(text, &end, 10);
	return !*end && !errno;
}

static bool all_options(int argc, char **argv)
{
	uint64_t longest;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--alone"))
			w.alone = true;
		else if (i + 1 == argc || !random_option(argv[i], argv[i + 1]))
			return false;
		else
			i++;
	}
	longest = options[LONGEST].value;
	return options[TRANSACTIONS].value && longest >= 64 && longest <= 65536 &&
	       !(longest & (longest - 1));
}

int main(int argc, char **argv)
{
	unsigned int round = 0;
	uint64_t next = 0;
	double seconds;
	const char *why;

	if (!all_options(argc, argv)) {
		fprintf(stderr, "usage: random [--seed N] [--transactions N] "
			"[--longest BYTES] [--alone]\nN: a decimal number, of "
			"transactions not 0; BYTES: a power of two, 64 to 65536\n");
		return 2;
	}
	plugin = engine_plugin(&why);
	if (!plugin) {
		fprintf(stderr, "random: %s\n", why);
		return 1;
	}
	random_state = options[SEED].value;
	w.longest = (uint32_t)options[LONGEST].value;
	printf("seed %llu\n", (unsigned long long)random_state);
	for (; w.done < options[TRANSACTIONS].value; random_happen()) {
		if (w.done < next)
			continue;
		if (next)
			random_stop();
		if (!new_engines(".", ++round))
			return 1;
		next = w.done + ROUND;
	}
	random_stop();
	seconds = (double)clock() / CLOCKS_PER_SEC;	/* others compute here too */
	printf("%llu transactions, %llu calls, %llu events, %llu registers "
	       "refused, %llu cycles, %.2f Mcycle a CPU second%s\n",
	       (unsigned long long)w.done, (unsigned long long)w.calls,
	       (unsigned long long)w.seq, (unsigned long long)w.refused,
	       (unsigned long long)w.cycles, (double)w.cycles / seconds / 1e6,
	       w.alone ? ", the Verilog alone" : ", 0 differences");
	return reached_all(w.done, w.longest) ? 0 : 1;
}
