// SPDX-License-Identifier: BSD-2-Clause
#include "bench_across.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define PAGE		4096u
#define LIMIT_NS	UINT64_C(60000000000)	/* of a write, of an order */
#define SPINS		2000u	/* looks before others get the CPU */
/* Where a ping lands, and where it is sent from: lines of their own. */
#define PING_IN		0u
#define PING_OUT	128u

enum { RPC_PING = 100, RPC_END };
struct rpc_command {
	uint32_t what, pad;
	uint64_t at, len;
};
struct meeting {
	struct fl_address address;
	uint64_t va;
	uint32_t key, pad;
};

void across_good(int error, const char *what)
{
	if (error)
		bench_broken("%s: %s", what, fl_strerror(error));
}

/* ---- what both do ---- */

static void across_say(const struct across *x, const void *buf, size_t n)
{
	if (send(x->line, buf, n, MSG_NOSIGNAL) != (ssize_t)n)
		bench_broken("the other application has gone");
}

static void across_hear(const struct across *x, void *buf, size_t n)
{
	size_t got = 0;
	ssize_t r;

	while (got < n) {
		r = read(x->line, (char *)buf + got, n - got);
		if (r <= 0 && (!r || errno != EINTR))
			bench_broken("the other application has gone");
		got += r > 0 ? (size_t)r : 0;
	}
}

static void move_in(struct across *x, const char *device)
{
	int error = fl_open(device, &x->dev);

	if (error)
		bench_broken("%s", fl_open_error());
	across_good(fl_alloc_pd(x->dev, &x->pd), "fl_alloc_pd");
	across_good(fl_create_cq(x->dev, ACROSS_QUEUE, &x->cq), "fl_create_cq");
	across_good(fl_create_qp(x->pd, x->cq, ACROSS_QUEUE, &x->qp),
		    "fl_create_qp");
	x->mem = fl_alloc(x->dev, x->bytes);
	if (!x->mem)
		bench_broken("fl_alloc: %s", fl_strerror(errno));
	across_good(fl_reg_mr(x->pd, x->mem, x->bytes,
			      FL_LOCAL_WRITE | FL_REMOTE_WRITE, &x->mr),
		    "fl_reg_mr");
	across_good(fl_prefetch(x->mr, x->mem, x->bytes, 1), "fl_prefetch");
	memset(x->mem, x->other ? 0x22 : 0x11, x->bytes);
}

static void across_meet(struct across *x)
{
	struct meeting m = { .va = (uintptr_t)x->mem,
			     .key = fl_mr_key(x->mr) };
	char done = 1;

	across_good(fl_qp_address(x->qp, &m.address), "fl_qp_address");
	across_say(x, &m, sizeof(m));
	across_hear(x, &m, sizeof(m));
	across_good(fl_connect(x->qp, &m.address), "fl_connect");
	x->peer_va = m.va;
	x->peer_key = m.key;
	/* A queue pair that is not connected refuses what comes. */
	across_say(x, &done, 1);
	across_hear(x, &done, 1);
}

void across_post(struct across *x, uint64_t from, uint64_t to, uint32_t len)
{
	across_good(fl_post_write(x->qp, 0, x->mr, x->mem + from, len,
				  x->peer_va + to, x->peer_key),
		    "fl_post_write");
}

/* Clocks are dear: look at one only now and then. */
static void across_patience(unsigned int *looks, uint64_t *end_ns)
{
	if (++*looks % (1u << 16))
		return;
	if (!*end_ns)
		*end_ns = bench_now_ns() + LIMIT_NS;
	else if (bench_now_ns() > *end_ns)
		bench_broken("a write does not come to its end");
}

void across_take(struct across *x)
{
	struct fl_completion c;
	unsigned int looks = 0;
	uint64_t end_ns = 0;
	int n;

	while (!(n = fl_poll(x->cq, &c, 1)))
		across_patience(&looks, &end_ns);
	if (n < 0)
		across_good(n, "fl_poll");
	if (c.status)
		bench_broken("a write ended so: %s",
			     fl_status_string(c.status));
}

/* ---- to and fro ---- */

static void ping_out(struct across *x, uint64_t n)
{
	memcpy(x->mem + PING_OUT, &n, sizeof(n));
	across_post(x, PING_OUT, PING_IN, sizeof(n));
}

static void ping_in(struct across *x, uint64_t n)
{
	volatile uint64_t *word = (volatile uint64_t *)(x->mem + PING_IN);
	unsigned int looks = 0;
	uint64_t end_ns = 0;

	while (*word != n) {
		across_patience(&looks, &end_ns);
		/* Two who poll and a board: there may be fewer CPUs. */
		if (looks % SPINS == 0)
			sched_yield();
	}
}

/* The completion of a ping is there when its answer is, or soon after. */
static void across_pings(struct across *x, uint64_t n, bool first)
{
	uint64_t i;

	for (i = 1; i <= n; i++) {
		if (first)
			ping_out(x, i);
		ping_in(x, i);
		if (!first)
			ping_out(x, i);
		across_take(x);
	}
}

double across_ping(struct across *x, uint32_t n)
{
	struct rpc_command o = { .what = RPC_PING, .len = n };
	uint64_t none = 0, t;

	memcpy(x->mem + PING_IN, &none, sizeof(none));
	across_say(x, &o, sizeof(o));
	across_hear(x, &none, sizeof(none));	/* it begins to look */
	t = bench_now_ns();
	across_pings(x, n, true);
	return (double)(bench_now_ns() - t) / n / 2;
}

/* ---- the other application ---- */

static uint64_t across_sum(const uint8_t *mem, uint64_t len)
{
	uint64_t i, s = 0;

	for (i = 0; i < len; i++)
		s += mem[i] * (i + 1);
	return s;
}

static uint64_t across_obey(struct across *x, const struct rpc_command *o)
{
	volatile uint8_t *mem = x->mem;
	uint64_t i;

	switch (o->what) {
	case ACROSS_EVICT:
		across_good(fl_advise(x->dev, x->mem + o->at, o->len,
				      FL_PAGEOUT), "fl_advise");
		return 0;
	case ACROSS_TOUCH:
		for (i = 0; i < o->len; i += PAGE)
			mem[o->at + i] = mem[o->at + i];
		return 0;
	default:
		return across_sum(x->mem + o->at, o->len);
	}
}

/* Ends with the line. */
static void be_other(struct across *x)
{
	struct rpc_command o;
	uint64_t answer;

	move_in(x, x->board.device[1]);
	across_meet(x);
	for (;;) {
		across_hear(x, &o, sizeof(o));
		if (o.what == RPC_END)
			break;
		answer = 0;
		if (o.what != RPC_PING) {
			answer = across_obey(x, &o);
			across_say(x, &answer, sizeof(answer));
			continue;
		}
		memcpy(x->mem + PING_IN, &answer, sizeof(answer));
		across_say(x, &answer, sizeof(answer));
		across_pings(x, o.len, false);
	}
	across_good(fl_close(x->dev), "fl_close");
}

void across_tell(struct across *x, enum across_order what, uint64_t at,
		 uint64_t len, uint64_t *answer)
{
	struct rpc_command o = { .what = what, .at = at, .len = len };
	uint64_t got;

	across_say(x, &o, sizeof(o));
	across_hear(x, &got, sizeof(got));
	if (answer)
		*answer = got;
}

/* ---- life ---- */

static void start_boards(struct across *x)
{
	static const char *const names[] = { "a", "b", NULL };
	char frames[32];
	const char *option[] = { "--frames", frames, "--process-frames",
				 frames, "--set", "link.cell=4096", NULL };

	snprintf(frames, sizeof(frames), "%llu",
		 (unsigned long long)(x->bytes / PAGE + 24576));
	across_good(board_process_folder(&x->board, names), "mkdtemp");
	across_good(board_process_start(&x->board, option), "boards");
}

/* Of the boards only the program that started them keeps the line. */
static int other_main(int line, void *arg)
{
	struct across *x = arg;

	child_hang_up(&x->board.child);
	x->line = line;
	x->other = true;
	be_other(x);
	return 0;
}

static void start_other(struct across *x)
{
	across_good(child_start(&x->child, other_main, x), "the other application");
	x->line = x->child.line;
}

static void across_finish(struct across *x)
{
	struct rpc_command o = { .what = RPC_END };

	across_say(x, &o, sizeof(o));
	across_good(fl_close(x->dev), "fl_close");
	if (child_end(&x->child, 0))
		bench_broken("the other application ended in disorder");
	child_hang_up(&x->child);
	if (board_process_end(&x->board, NULL, 0))
		bench_broken("the boards ended in disorder");
	board_process_clean(&x->board);
}

void across_run(uint64_t bytes, void (*body)(struct across *x, void *arg),
		void *arg)
{
	struct across x = { .bytes = bytes };

	start_boards(&x);
	start_other(&x);
	move_in(&x, x.board.device[0]);
	across_meet(&x);
	body(&x, arg);
	across_finish(&x);
}
