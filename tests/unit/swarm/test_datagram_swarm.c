// SPDX-License-Identifier: BSD-2-Clause
/*
 * Datagram swarm: from a seed a small testbed whose processes have the systems backup and
 * dropring, or one of reliable connections, and rounds of datagrams into rings of receives: too
 * few receives or enough, short ones and long ones, over the end of a page, while pages leave,
 * regions are taken back, and packets are lost, damaged, doubled and late. The testbed's oracle
 * (tools/scenario/oracle.h) says which of them a receive may have taken, and judges every byte.
 *
 * After each round, when all is at rest, the sum has to be right as well: each datagram that
 * was sent, or doubled by the wire, has come, or somebody has counted it as lost.
 *
 * variants: tsan
 *
 * A failing seed says how to repeat it. A longer run, with as many seeds as wanted:
 *	SWARM_SEEDS=2000 build/plain/tests/test_datagram_swarm --seed 1 lockstep
 *	SWARM_SEEDS=200 build/tsan/tests/test_datagram_swarm --seed 1 threads
 *
 * SWARM_VERBOSE: a line for each seed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "board/packets/packets.h"
#include "faultline/entries.h"
#include "harness.h"
#include "rig/datagram_swarm.h"

#ifdef __SANITIZE_THREAD__
#define SEEDS_LOCKSTEP	4
#define SEEDS_THREADS	6
#elif defined __SANITIZE_ADDRESS__
#define SEEDS_LOCKSTEP	30
#define SEEDS_THREADS	6
#else
#define SEEDS_LOCKSTEP	200
#define SEEDS_THREADS	20
#endif

/* ---- what has completed ---- */

static bool is_receive(const struct post *p)
{
	return p->work.opcode == FL_RECV;
}

static bool may_end(const struct swarm *s, const struct post *p)
{
	struct testbed_process *owner = p->work.conn->process[p->work.side];

	switch (p->work.status) {
	case FL_ST_OK:
		return true;
	case FL_ST_LENGTH:	/* it came before its receive, and was kept */
		return is_receive(p) && s->backup[process_number(s, owner)];
	case FL_ST_FLUSHED:
	case FL_ST_LOCAL_KEY:
	case FL_ST_LOCAL_FAULT:
		return s->cut || s->tight;
	}
	return false;
}

/* Looks at what came, as a program would. */
static void post_read(struct swarm *s, const struct post *p)
{
	static uint8_t bytes[2 * PAGE];
	const struct testbed_work *k = &p->work;

	if (k->done_bytes && !s->tight && (s->real || !draw_n(s, 3)))
		mails_ok(s, testbed_buffer_read(k->local, k->local_va -
						(uintptr_t)k->local->mem, bytes,
						k->done_bytes), "read");
}

static void post_ended(struct swarm *s, struct post *p)
{
	const struct testbed_work *k = &p->work;
	/* NULL: of a connection that another one has followed. */
	struct line *l = p->line->c == k->conn ? p->line : NULL;

	p->busy = false;
	if (l && is_receive(p))
		l->receives[k->side]--;
	else if (l)
		l->sends[k->side]--;
	if (!may_end(s, p))
		mails_say(s, "%s (%s of %u bytes) ended with \"%s\"", p->name,
			  is_receive(p) ? "a receive" : "a datagram", k->bytes,
			  fl_status_string(k->status));
	if (k->status == FL_ST_LENGTH) {
		s->too_long++;
		return;
	}
	if (k->status) {
		s->broken = true;
		if (l)
			l->failed[k->side] = true;
		return;
	}
	if (!is_receive(p)) {
		s->sent++;
		return;
	}
	s->arrived++;
	post_read(s, p);
}

static void mails_collect(struct swarm *s)
{
	unsigned int i;

	for (i = 0; i < POSTS && !is_over(s); i++)
		if (s->post[i].busy && s->post[i].work.done)
			post_ended(s, &s->post[i]);
}

/* ---- posting ---- */

static struct post *post_new(struct swarm *s, struct line *l, int side, const char *what)
{
	unsigned int i;
	struct post *p;

	for (i = 0; i < POSTS && s->post[i].busy; i++)
		;
	if (i == POSTS)
		return NULL;
	p = &s->post[i];
	*p = (struct post){ .line = l };
	snprintf(p->name, sizeof(p->name), "%s%u", what, ++s->posted);
	p->work.name = p->name;
	p->work.conn = l->c;
	p->work.side = side;
	return p;
}

static uint32_t mails_length(struct swarm *s, uint32_t most)
{
	static const uint32_t some[] = { 0, 1, 8, 64, 1000 };
	uint32_t n = some[draw_n(s, 5)];

	if (draw_n(s, 3))
		return (uint32_t)draw_n(s, most + 1);
	return n < most ? n : most;
}

/* Most receives have places of their own; a few lie anywhere, and on each other. */
static void mails_receive(struct swarm *s, struct line *l, int side)
{
	struct post *p = l->receives[side] < l->depth ? post_new(s, l, side, "receive") : NULL;
	struct testbed_work *k;
	unsigned int n;
	uint64_t at;
	int err;

	if (!p || l->failed[side])
		return;
	n = process_number(s, l->c->process[side]);
	k = &p->work;
	k->opcode = FL_RECV;
	k->receives = 1;
	k->bytes = draw_n(s, 5) ? l->mtu : mails_length(s, l->mtu);
	k->local = s->ring[n];
	at = (s->slot[n]++ % RING_SLOTS) * SLOT + draw_n(s, SLOT - k->bytes + 1);
	if (!draw_n(s, 16)) {
		k->local = draw_n(s, 2) ? s->ring[n] : s->source[n];
		at = draw_n(s, k->local->bytes - k->bytes + 1);
	}
	k->local_va = (uintptr_t)k->local->mem + at;
	k->lkey = k->local->key;
	err = testbed_receive(s->w, k);
	mails_ok(s, err, "receive");
	p->busy = !err;
	l->receives[side] += !err;
}

static void mails_send(struct swarm *s, struct line *l, int side)
{
	struct post *p = l->sends[side] < l->depth ? post_new(s, l, side, "datagram") : NULL;
	struct testbed_work *k;
	unsigned int n;
	int err;

	if (!p || l->failed[side])
		return;
	n = process_number(s, l->c->process[side]);
	k = &p->work;
	k->opcode = FL_SEND;
	k->bytes = mails_length(s, l->mtu);
	k->with_imm = draw_n(s, 4);
	k->imm = k->with_imm ? s->posted : 0;
	/* Some of them bytes that have been received. */
	k->local = draw_n(s, 8) ? s->source[n] : s->ring[n];
	k->local_va = (uintptr_t)k->local->mem + draw_n(s, k->local->bytes - k->bytes + 1);
	k->lkey = k->local->key;
	err = testbed_post(s->w, k);
	mails_ok(s, err, "send");
	p->busy = !err;
	l->sends[side] += !err;
}

/* Until it has ended, or for a while. */
static void post_wait(struct swarm *s, struct post *p, uint64_t most_ns)
{
	int err = testbed_wait(s->w, &p->work, most_ns,
			       draw_n(s, 2) ? TESTBED_POLLING : TESTBED_BOTH);

	if (err && (err != -ETIMEDOUT || !is_receive(p)))
		mails_say(s, "%s never ended: %s", p->name, fl_strerror(err));
	mails_collect(s);
}

/* ---- trouble ---- */

static struct testbed_buffer *any_buffer(struct swarm *s)
{
	unsigned int n = (unsigned int)draw_n(s, s->procs);

	return draw_n(s, 3) ? s->ring[n] : s->source[n];
}

static void act_memory(struct swarm *s)
{
	struct testbed_buffer *b = any_buffer(s);
	uint64_t pages = b->bytes / PAGE, at = draw_n(s, pages) * PAGE;
	uint64_t n = (1 + draw_n(s, s->evicting ? 32 : 4)) * PAGE, off;

	if (n > b->bytes - at)
		n = b->bytes - at;
	off = at + draw_n(s, PAGE);
	switch (draw_n(s, 6)) {
	case 0:
		mails_ok(s, testbed_buffer_store(b, off, 1 + draw_n(s, at + PAGE - off),
						 rng_next(&s->rng)), "store");
		break;
	case 1:
		mails_ok(s, testbed_buffer_touch(b, at, n, draw_n(s, 2)), "touch");
		break;
	case 2:
		mails_ok(s, testbed_prefetch(b, at, n, draw_n(s, 2)), "prefetch");
		break;
	default:
		mails_ok(s, testbed_buffer_advise(b, at, n, FL_PAGEOUT), "page out");
	}
}

/* A region goes, and comes again with another key: receives that name the old one are wrong. */
static void act_cut(struct swarm *s)
{
	struct testbed_buffer *b = any_buffer(s);
	int err;

	s->cut = true;
	err = testbed_region_remove(b);
	mails_ok(s, err, "take a region back");
	if (!err)
		mails_ok(s, testbed_region_add(b, 0, 0, FL_LOCAL_WRITE, 0), "region");
}

static void act_inject(struct swarm *s, bool on)
{
	struct fabric_inject i = { 0 };
	unsigned int k;

	if (on && (s->steady || draw_n(s, 4))) {
		i.loss_ppm = s->losing ? 50000 : 0;
		i.damage_ppm = s->damaging ? 50000 : 0;
		i.duplicate_ppm = s->doubling ? 100000 : 0;
		i.late_ppm = s->holding ? 150000 : 0;
		i.late_ns = s->holding ? 1 + draw_n(s, 50000) : 0;
	}
	testbed_injected(s->w);
	for (k = 0; k < s->boards; k++)
		fabric_inject(testbed_fabric(s->w), (uint8_t)k, 0xff, &i);
}

/* ---- a round, and its sum ---- */

/* Datagrams that have neither come nor been counted as lost: a reason to wait. */
static int64_t mails_missing(struct swarm *s)
{
	int64_t n = (int64_t)s->sent - s->arrived - s->too_long;
	const struct trace *t = testbed_trace(s->w);
	struct ud_stats st;
	unsigned int i, why;

	n += (int64_t)trace_count(t, EV_WIRE_TWICE) - (int64_t)trace_count(t, EV_WIRE_LOST);
	s->dropped = s->diverted = 0;
	for (i = 0; i < s->boards; i++) {
		board_ud_stats(s->board[i]->board, &st);
		/* What was damaged is bad, and no bit of it says for whom it was. */
		for (why = UD_DROP_BAD + 1; why < UD_DROP_WHYS; why++)
			s->dropped += (unsigned int)st.dropped[why];
		s->diverted += (unsigned int)st.diverted;
	}
	return n - s->dropped;
}

/* Bits that the ICRC leaves out may be damaged, and nobody is hurt. */
static bool mails_add_up(struct swarm *s)
{
	int64_t damaged = (int64_t)trace_count(testbed_trace(s->w), EV_WIRE_DAMAGED);
	int64_t missing = mails_missing(s);

	if (missing < 0)
		mails_say(s, "%lld datagrams more have come than there were",
			  (long long)-missing);
	return missing <= damaged;
}

/* A process that waits for one of its receives takes what has completed of all. */
static void receives_wait(struct swarm *s, uint64_t most_ns)
{
	bool waited[PROCS_MAX] = { false };
	struct testbed_work *k;
	unsigned int i, n;

	/* By the wall a command alone takes its time. */
	if (s->real)
		most_ns += 100000;
	for (i = 0; i < POSTS && !is_over(s); i++) {
		k = &s->post[i].work;
		if (!s->post[i].busy || !is_receive(&s->post[i]))
			continue;
		n = process_number(s, k->conn->process[k->side]);
		if (!waited[n])
			post_wait(s, &s->post[i], most_ns);
		waited[n] = true;
	}
}

/* What only the other row does. */
static void rows_check(struct swarm *s)
{
	unsigned int i, k, backup, all;
	struct ud_stats st;

	for (i = 0; i < s->boards; i++) {
		for (k = all = backup = 0; k < s->procs; k++) {
			all += s->proc[k]->board == s->board[i];
			backup += s->proc[k]->board == s->board[i] && s->backup[k];
		}
		board_ud_stats(s->board[i]->board, &st);
		if (!backup && st.diverted)
			mails_say(s, "a board without backup has diverted");
		if (backup == all && (st.dropped[UD_DROP_MISSING] ||
				      st.dropped[UD_DROP_NO_RECEIVE]))
			mails_say(s, "a board with backup alone has lost what has no page, "
				  "or no receive");
	}
}

/* A receive for each that may wait in a card, until none does. */
static void mails_settle(struct swarm *s)
{
	unsigned int i, tries;

	for (i = 0; i < POSTS && !is_over(s); i++)
		if (s->post[i].busy && !is_receive(&s->post[i]))
			post_wait(s, &s->post[i], WAIT_NS);
	for (tries = 0; tries < 20000 && !is_over(s); tries++) {
		for (i = 0; i < 2 * s->lines; i++)
			while (!s->line[i / 2].failed[i % 2] && !is_over(s) &&
			       s->line[i / 2].receives[i % 2] < s->line[i / 2].depth / 2)
				mails_receive(s, &s->line[i / 2], (int)i % 2);
		sim_sleep(s->real ? 1000000 : 20000);
		receives_wait(s, 1000);
		if (fabric_idle(testbed_fabric(s->w)) &&
		    (s->broken ? tries > 100 : mails_add_up(s)))
			break;
	}
	rows_check(s);
	if (tries == 20000)
		mails_say(s, "%lld datagrams have not come, and nobody has lost them",
			  (long long)mails_missing(s));
}

static void mails_act(struct swarm *s)
{
	struct line *l = &s->line[draw_n(s, s->lines)];
	unsigned int n = (unsigned int)draw_n(s, 24), i;
	int side = (int)draw_n(s, 3) == 0;

	if (n < 10) {
		for (i = (unsigned int)draw_n(s, 6) + 1; i && !is_over(s); i--)
			mails_send(s, l, side);
	} else if (n < 15) {
		for (i = (unsigned int)draw_n(s, 8) + 1; i && !is_over(s); i--)
			mails_receive(s, l, !side);
	} else if (n < 19) {
		act_memory(s);
	} else if (n < 21) {
		sim_sleep(1 + draw_n(s, draw_n(s, 3) ? 5000 : 100000));
		testbed_model_under_way(s->w);
	} else if (n == 21) {
		receives_wait(s, 1 + draw_n(s, 2000));
	} else if (n == 22) {
		act_inject(s, true);
	} else if (s->cutting && !draw_n(s, 4)) {
		act_cut(s);
	}
	mails_collect(s);
}

static void mails_script(struct testbed *w, void *arg)
{
	struct swarm *s = arg;
	unsigned int round, i;

	s->w = w;
	build_all(s);
	for (round = 0; round < ROUNDS && !is_over(s); round++) {
		if (s->steady)
			act_inject(s, true);
		for (i = 0; i < s->steps && !is_over(s); i++)
			mails_act(s);
		if (!s->steady)
			act_inject(s, false);
		mails_settle(s);
		if (!is_over(s))
			testbed_compare(w);
		for (i = 0; i < s->lines && !is_over(s) && s->conns < 60; i++)
			if (s->line[i].failed[0] || s->line[i].failed[1])
				build_line(s, &s->line[i]);
	}
}

/* ---- one testbed ---- */

static void make_plan(struct swarm *s)
{
	rng_init(&s->rng, s->seed, "datagrams");
	s->boards = 1 + (unsigned int)draw_n(s, BOARDS_MAX);
	s->procs = 2 + (unsigned int)draw_n(s, PROCS_MAX - 1);
	s->lines = 1 + (unsigned int)draw_n(s, LINES_MAX);
	s->steps = 20 + (unsigned int)draw_n(s, 60);
	s->losing = !draw_n(s, 3);
	s->damaging = !draw_n(s, 4);
	/* In half of all testbeds the order is that of the sender. */
	if (draw_n(s, 2)) {
		s->holding = draw_n(s, 2);
		s->doubling = draw_n(s, 2);
	}
	s->steady = draw_n(s, 2);
	s->cutting = !draw_n(s, 5);
	s->tight = !draw_n(s, 6);
	s->evicting = draw_n(s, 3);
}

static void run_testbed(struct swarm *s, const struct testbed_config *cfg)
{
	char error[300];
	int err;

	s->w = testbed_create(cfg, error, sizeof(error));
	test_expect(s->w, __FILE__, __LINE__, "a testbed: %s", error);
	err = testbed_run(s->w, mails_script, s);
	if (err)
		mails_say(s, "%s", testbed_problem(s->w));
	testbed_destroy(s->w);
}

/* What all seeds together have met. */
struct met {
	unsigned int arrived, diverted, dropped, too_long;
};

static void run_seed(uint64_t seed, enum sim_mode mode, struct met *met)
{
	const char *word = mode == SIM_LOCKSTEP ? "lockstep" : "threads";
	struct swarm *s = calloc(1, sizeof(*s));
	struct testbed_config cfg = {
		.mode = mode, .seed = seed,
		.trace_records = mode == SIM_LOCKSTEP ? 1u << 16 : 0,
	};
	char text[400], major[40], queue[40], packet[40], burst[40];
	const char *sets[] = { major, queue, packet, burst, NULL };

	test_expect(s, __FILE__, __LINE__, "memory for a swarm");
	s->seed = seed;
	make_plan(s);
	s->real = mode == SIM_THREADS;
	cfg.jitter_ns = draw_n(s, 2) ? 1 + (uint32_t)draw_n(s, 5000) : 0;
	cfg.profile = draw_n(s, 4) ? NULL : "ethernet";
	snprintf(major, sizeof(major), "mm.major=%u", 10000u << draw_n(s, 6));
	snprintf(queue, sizeof(queue), "rc.queue=%u", 4u << draw_n(s, 5));
	/* Packets that the card is slow to take wait for each other. */
	snprintf(packet, sizeof(packet), "rc.packet=%u", 10u << draw_n(s, 8));
	snprintf(burst, sizeof(burst), "engine.burst=%u", 100u << draw_n(s, 6));
	cfg.sets = sets;
	cfg.drive = draw_n(s, 3) ? SIM_INLINE : SIM_DEDICATED;
	seed_begin(seed, mode, word);
	run_testbed(s, &cfg);
	seed_end(mode);
	if (getenv("SWARM_VERBOSE"))
		printf("# %s seed %llu: %u sent, %u arrived, %u too long, %u diverted, %u "
		       "dropped, %u lines; %s\n", word, (unsigned long long)seed, s->sent,
		       s->arrived, s->too_long, s->diverted, s->dropped, s->conns,
		       s->problem[0] ? s->problem : "good");
	met->arrived += s->arrived;
	met->diverted += s->diverted;
	met->dropped += s->dropped;
	met->too_long += s->too_long;
	snprintf(text, sizeof(text), "%s", s->problem);
	free(s);
	STEP("repeat with --seed %llu %s", (unsigned long long)seed, word);
	test_expect(!text[0], __FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed,
		    text);
}

static void run_seeds(unsigned int usual, enum sim_mode mode)
{
	unsigned int n = seed_count(usual), i;
	struct met met = { 0 };

	for (i = 0; i < n; i++)
		run_seed(test_seed() + i, mode, &met);
	if (n <= 3)
		return;
	EXPECT_GE(met.arrived, 40 * n);
	EXPECT_GE(met.diverted, 10 * n);
	EXPECT_GE(met.dropped, 10 * n);
}

TEST("datagrams come once, whole and in order, or are lost and counted: lockstep")
{
	run_seeds(SEEDS_LOCKSTEP, SIM_LOCKSTEP);
}

TEST("the same with real time: threads")
{
	run_seeds(SEEDS_THREADS, SIM_THREADS);
}
