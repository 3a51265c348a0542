// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine in Verilog with everything at once, against the one in C: see compete.h.
 *
 *	compete [--seed N] [--transactions N] [--longest BYTES]
 *
 * A transaction is a block that came to DONE. The run says how often two or more events waited
 * when control took one, and of which kinds, and fails if a pair never met.
 */
#include "rtl/cosim/compete.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUND		200	/* transactions with the same engines */
#define ENOUGH		2000	/* in so many every pair meets */
#define PACE		2000	/* cycles, on average, at the same pace */
#define REST_MOST	2000000	/* cycles until everything has come to its end */

struct compete k;
uint64_t random_state;

static unsigned int some_of(const unsigned int *from, unsigned int n)
{
	return from[random_below(n)];
}

static void compete_pace(struct card *x)
{
	static const unsigned int ready[] = { 100, 100, 50, 10 }, room[] = { 100, 100, 90, 30, 0 },
		again[] = { 100, 100, 5, 0 }, go[] = { 100, 100, 50, 5 },
		access[] = { 1, 3, 10, 30 };

	x->pace = (struct pace){
		.ready = some_of(ready, 4), .valid = some_of(ready, 4), .room = some_of(room, 5),
		.again = some_of(again, 4), .go = some_of(go, 4), .access = some_of(access, 4) };
}

static void compete_cycle(void)
{
	struct card *x;

	for (x = k.card; x < k.card + CARDS; x++) {
		if (!k.rest && one_in(PACE))
			compete_pace(x);
		if (!k.rest && random_percent(x->pace.access))
			soft_act(x);
		if (one_in(4))
			soft_deliver(x);
		pins_clock(x);
	}
}

/* Whatever C could still do, and what is still under way. */
static bool compete_busy(void)
{
	const struct c_engine *e;
	struct card *x;

	for (x = k.card; x < k.card + CARDS; x++) {
		e = x->c;
		if (x->queued || x->in_open || x->arrived || x->bus[0].count || x->bus[1].count ||
		    x->burst[0].up || x->burst[1].up || x->late)
			return true;
		if (e->enabled && (e->tx_ready || e->write_count || e->answer_count ||
				   e->ch[CH_WRITE].ctx != NONE))
			return true;
	}
	return false;
}

static bool compete_moves(void)
{
	struct card *x;

	for (x = k.card; x < k.card + CARDS; x++)
		if (!pins_still(x))
			return true;
	return false;
}

static void compete_until(bool (*goes_on)(void), const char *what)
{
	unsigned int n = 0;

	do
		compete_cycle();
	while (goes_on() && n++ < REST_MOST);
	if (goes_on())
		card_differ(&k.card[compete_busy() ? 0 : 1], "%s", what);
}

/* The channels ask for nothing more; bursts may be at the port all the same. */
static void compete_still(void)
{
	struct card *x;

	k.rest = true;
	for (x = k.card; x < k.card + CARDS; x++)
		x->pace = (struct pace){ .ready = 100, .valid = 100, .room = 100, .again = 100 };
	compete_until(compete_moves, "does not come to rest");
	for (x = k.card; x < k.card + CARDS; x++)
		follow_close(x);
}

/* Everything comes to its end, and all registers say the same. */
static void compete_rest(void)
{
	unsigned int at[CARDS] = { 0 };
	struct card *x;
	bool more;

	k.rest = k.calm = true;
	/* The last event before the channels stop may bring one more block. */
	do {
		for (x = k.card; x < k.card + CARDS; x++)
			x->pace = (struct pace){ .ready = 100, .valid = 100, .room = 100,
						 .again = 100, .go = 100 };
		compete_until(compete_busy, "something is left to do, and is not done");
		compete_still();
	} while (compete_busy());
	for (x = k.card; x < k.card + CARDS; x++)
		follow_rest(x);
	do {
		more = false;
		for (x = k.card; x < k.card + CARDS; x++)
			more |= soft_read_all(x, &at[x->node]);
		compete_cycle();
	} while (more);
	k.rest = k.calm = false;
}

/* A reset while bursts are at the port, and whatever else C's state holds. */
static void compete_reset(struct card *x)
{
	bool rest = k.rest;

	compete_still();
	follow_reset(x);
	pins_reset(x);
	k.rest = rest;
	for (x = k.card; x < k.card + CARDS; x++)
		compete_pace(x);
}

static void compete_enable(struct card *x)
{
	soft_push(x, true, NIC_ENG_IRQ_ENABLE, NIC_ENG_IRQ_ENABLE_FAULT);
	soft_push(x, true, NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
}

static bool card_create(struct card *x, unsigned int node)
{
	memset(x, 0, sizeof(*x));
	x->node = node;
	k.cfg.node = k.cfg.board = (uint8_t)node;
	if (!follow_create(x))
		return false;
	x->model = k.ops->create();
	x->in.i_node = node;
	x->in.i_contexts = k.cfg.contexts;
	x->in.i_rx_contexts = k.cfg.rx_contexts;
	x->in.i_block_log2 = k.cfg.block_log2;
	x->in.i_icrc = k.cfg.icrc;
	while (1u << x->in.i_cell_log2 < k.cfg.cell_bytes)
		x->in.i_cell_log2++;
	compete_pace(x);
	pins_reset(x);
	compete_enable(x);
	return true;
}

static void card_destroy(struct card *x)
{
	k.ops->destroy(x->model);
	engine_destroy(x->engine);
}

/* Generations of two contexts near the end of 16 and of 15 bits: the next but one is beyond. */
static void compete_wrap(struct card *x)
{
	static const unsigned int blocks[] = { 65534, 32766 };
	unsigned int i, n;

	x->pace = (struct pace){ .ready = 100, .valid = 100 };
	for (i = 0; i < 2; i++) {
		soft_push(x, true, NIC_CTX_BASE(i) + NIC_CTX_DST, 1 << NIC_CTX_DST_NODE_SHIFT);
		soft_push(x, true, NIC_CTX_BASE(i) + NIC_CTX_LEN, 16);
		for (n = 0; n < blocks[i]; ) {
			pins_clock(x);
			if (x->bus[1].count > ACCESSES / 2)
				continue;
			soft_push(x, true, NIC_CTX_BASE(i) + NIC_CTX_CTRL, NIC_CTX_CTRL_GO |
				  FL_OP_WRITE << NIC_CTX_CTRL_OP_SHIFT);
			soft_push(x, true, NIC_CTX_BASE(i) + NIC_CTX_CTRL, NIC_CTX_CTRL_KILL |
				  FL_ST_KILLED << NIC_CTX_CTRL_CODE_SHIFT);
			soft_push(x, true, NIC_CTX_BASE(i) + NIC_CTX_CTRL,
				  NIC_CTX_CTRL_RELEASE);
			n++;
		}
	}
	while (x->bus[1].count)
		pins_clock(x);
	compete_pace(x);
	k.done = k.serves = k.together = 0;
}

static bool compete_round(void)
{
	bool first = !k.done;
	uint64_t end = k.done + ROUND;
	struct card *x;
	unsigned int i;

	k.cfg = (struct engine_config){
		.contexts = (uint8_t)(4 + (first ? 0 : random_below(13))),
		.rx_contexts = (uint8_t)(one_in(3) ? 1 + random_below(4) : 1 + random_below(32)),
		.cell_bytes = least_of(64u << random_below(7), k.longest),
		.block_log2 = (uint8_t)(12 + random_below(5)),
		.icrc = !one_in(4),
	};
	for (i = 0; i < CARDS; i++)
		if (!card_create(&k.card[i], i))
			return false;
	if (first)
		compete_wrap(&k.card[0]);
	while (k.done < end) {
		compete_cycle();
		if (one_in(60000)) {
			x = &k.card[random_below(CARDS)];
			compete_reset(x);
			compete_enable(x);
		}
	}
	compete_rest();
	for (i = 0; i < CARDS; i++)
		card_destroy(&k.card[i]);
	return true;
}

/* A count that must not be 0. */
static bool met_one(const char *before, const char *a, const char *b, uint64_t n)
{
	printf("%s %s%s%s: %llu", before, a, b ? " and " : "", b ? b : "",
	       (unsigned long long)n);
	return n != 0;
}

static bool compete_met(void)
{
	static const char *const name[SERVES] = {
		"register", "packet", "write", "read", "flush" };
	static const char *const report[CHANNELS][REPORTS] = {
		{ "PICK", "CELL", "FAULTED", "BUSERR", "DROPPED" },
		{ "NEXT", "LANDED", "REFUSED", "BUSERR", "CANCELLED" } };
	unsigned int a, b;
	bool all = true;

	printf("%llu events; two or more waited %llu times", (unsigned long long)k.serves,
	       (unsigned long long)k.together);
	for (a = 0; a < SERVES; a++)
		for (b = a + 1; b < SERVES; b++)
			all &= met_one(a || b > 1 ? "," : ":", name[a], name[b], k.pairs[a][b]);
	for (a = 0; a < CHANNELS; a++)
		for (b = 0; b < REPORTS; b++)
			all &= met_one(b ? "," : a ? "\nwrite" : "\nread", report[a][b], NULL,
				       k.reports[a][b]);
	all &= met_one("\nnotes that wait for a", "burst", NULL, k.late);
	all &= met_one(", no", "room", NULL, k.denied);
	all &= met_one(",", "resets", NULL, k.resets);
	all &= met_one("\nbursts read", "ahead", NULL, k.ahead);
	all &= met_one(",", "in vain", NULL, k.in_vain);
	printf("\n");
	if (all || k.done < ENOUGH)
		return true;
	fprintf(stderr, "compete: one of these never came\n");
	return false;
}

static bool compete_options(int argc, char **argv, uint64_t *transactions)
{
	static const char *const names[] = { "--seed", "--transactions", "--longest" };
	uint64_t value[] = { 1, 2000, 65536 };
	char *end;
	int i, n;

	for (i = 1; i < argc; i += 2) {
		for (n = 0; n < 3 && strcmp(names[n], argv[i]); n++)
			;
		if (n == 3 || i + 1 == argc || *argv[i + 1] < '0' || *argv[i + 1] > '9')
			return false;
		errno = 0;
		value[n] = strtoull(argv[i + 1], &end, 10);
		if (*end || errno)
			return false;
	}
	random_state = value[0];
	*transactions = value[1];
	k.longest = (uint32_t)value[2];
	return value[1] && value[2] >= 64 && value[2] <= 65536 && !(value[2] & (value[2] - 1));
}

int main(int argc, char **argv)
{
	const struct engine_plugin *plugin;
	uint64_t transactions, cycles = 0;
	const char *why;

	if (!compete_options(argc, argv, &transactions)) {
		fprintf(stderr, "usage: compete [--seed N] [--transactions N] [--longest BYTES]\n"
			"N: a decimal number, of transactions not 0; BYTES: a power of two, "
			"64 to 65536\n");
		return 2;
	}
	plugin = engine_plugin(&why);
	if (!plugin || !plugin->model || plugin->model->in_bytes != sizeof(struct model_in) ||
	    plugin->model->out_bytes != sizeof(struct model_out)) {
		fprintf(stderr, "compete: %s\n", plugin ? "the plug-in has other pins" : why);
		return 1;
	}
	k.ops = plugin->model;
	printf("seed %llu\n", (unsigned long long)random_state);
	while (k.done < transactions) {
		if (!compete_round()) {
			fprintf(stderr, "compete: no engine\n");
			return 1;
		}
		cycles += k.card[0].cycles + k.card[1].cycles;
	}
	printf("%llu transactions, %llu cycles, %.2f Mcycle a CPU second, 0 differences\n",
	       (unsigned long long)k.done, (unsigned long long)cycles,
	       (double)cycles / ((double)clock() / CLOCKS_PER_SEC) / 1e6);
	return compete_met() ? 0 : 1;
}
