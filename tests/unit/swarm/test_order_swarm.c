// SPDX-License-Identifier: BSD-2-Clause
/*
 * Order swarm: from a seed a small testbed, and rounds of requests on it that overlap on
 * purpose: several queue pairs, both ways, WRITE and READ, one byte or several blocks,
 * while pages leave, packets are lost, doubled and late, the CPU stores, regions are
 * taken back and requests fail. The testbed's oracle (tools/scenario/oracle.h) judges every
 * byte: in lockstep whenever time has passed, in each mode after each round.
 *
 * No request to a peer that lives may end without an answer, and none may fail but
 * with a reason that the test itself has given.
 *
 * variants: tsan
 *
 * A failing seed says how to repeat it. A longer run, with as many seeds as wanted:
 *	SWARM_SEEDS=2000 build/plain/tests/test_order_swarm --seed 1 lockstep
 *	SWARM_SEEDS=200 build/tsan/tests/test_order_swarm --seed 1 threads
 *	SWARM_SEEDS=50 build/plain/tests/test_order_swarm --seed 1 processes
 *
 * In a part of its own most processes have the system abort: requests end at once when a page
 * is missing, and queue pairs are resumed at any moment when nothing of theirs is under way.
 *	SWARM_SEEDS=2000 build/plain/tests/test_order_swarm --seed 1 aborts
 * In another one all have the system npr, where what is lost is found afterwards.
 *	SWARM_SEEDS=2000 build/plain/tests/test_order_swarm --seed 1 sinks
 * And in one they speak packets, with tables in the card: npf, odp2, rxe and droprc.
 *	SWARM_SEEDS=2000 build/plain/tests/test_order_swarm --seed 1 packets
 * In the last one these packets are fragments that come in any order: WRITEs under netvm.
 *	SWARM_SEEDS=2000 build/plain/tests/test_order_swarm --seed 1 fragments
 *
 * SWARM_DEPTH=1: one request of a queue pair at a time, so that what is found has
 * nothing to do with the order on one. SWARM_VERBOSE: a line for each seed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/fabric.h"
#include "faultline/entries.h"
#include "harness.h"
#include "rig/order_message.h"

#ifdef __SANITIZE_THREAD__
#define SEEDS_LOCKSTEP	2
#define SEEDS_THREADS	3
#define SEEDS_ABORTS	2
#define SEEDS_HALTS	2
#elif defined __SANITIZE_ADDRESS__
#define SEEDS_LOCKSTEP	6
#define SEEDS_THREADS	4
#define SEEDS_ABORTS	6
#define SEEDS_HALTS	4
#else
#define SEEDS_LOCKSTEP	40
#define SEEDS_THREADS	8
#define SEEDS_ABORTS	40
#define SEEDS_HALTS	6
#endif
#define SEEDS_PROCESSES	4

/* ---- requests ---- */

static bool may_end(const struct swarm *s, const struct request *r)
{
	switch (r->work.status) {
	case FL_ST_OK:
		return !r->wrong;
	case FL_ST_FLUSHED:	/* the reason is another's status: new_pairs() */
		return true;
	case FL_ST_FAULT_FAST:
		return s->aborting;
	case FL_ST_REMOTE_ACCESS:
		return r->wrong || r->cut;
	case FL_ST_LOCAL_KEY:
	case FL_ST_REMOTE_FAULT:
	case FL_ST_LOCAL_FAULT:
		return r->cut;
	case FL_ST_REFUSED_TOO_OFTEN:
		return s->tight;
	/* A failure of the other side's broke the connection. */
	case FL_ST_NO_ANSWER:
		if (!s->packets)
			return false;
		/* fall through */
	case FL_ST_REMOTE_QP:
		return s->lossy || s->tight || s->cutting || s->wrong;
	}
	return false;
}

static const char *opcode_name(enum fl_opcode opcode)
{
	return opcode == FL_WRITE ? "WRITE" : opcode == FL_READ ? "READ" :
	       opcode == FL_SEND ? "SEND" : "atomic";
}

/* What has completed since, in the order of posting. */
static void orders_collect(struct swarm *s)
{
	struct request *r;
	unsigned int i;

	for (i = 0; i < REQUESTS; i++) {
		r = &s->req[i];
		if (!r->busy || !r->work.done)
			continue;
		r->busy = false;
		r->pair->flying[r->work.side]--;
		if (testbed_takes_receive(&r->work))
			message_ended(r->pair, r->work.side, !r->work.status);
		if (r->work.status)
			s->failed++;
		else
			s->ok++;
		if (!may_end(s, r))
			orders_say(s, "%s (%s of %u bytes%s) ended with \"%s\"",
				   r->name, opcode_name(r->work.opcode),
				   r->work.bytes,
				   r->wrong ? ", a wrong one" : "",
				   fl_status_string(r->work.status));
		if (r->work.status)
			r->pair->failed[r->work.side] = true;
		if (r->work.status && r->work.status != FL_ST_FLUSHED)
			r->pair->reason[r->work.side] = true;
	}
}

static struct request *free_request(struct swarm *s)
{
	unsigned int i;

	for (i = 0; i < REQUESTS; i++)
		if (!s->req[i].busy)
			return &s->req[i];
	return NULL;
}

static uint32_t orders_length(struct swarm *s, uint64_t room)
{
	static const uint32_t some[] = { 8, 64, 1000, PAGE, 5 * PAGE };
	uint64_t n = some[draw_n(s, 5)];

	if (!draw_n(s, 4))
		return (uint32_t)room;
	return 1 + (uint32_t)draw_n(s, n < room ? n : room);
}

/* WRITEs and READs; of packets also messages, immediate data and atomics. */
static void draw_opcode(struct swarm *s, struct pair *p, struct testbed_work *k)
{
	k->opcode = s->fragments || draw_n(s, 3) ? FL_WRITE : FL_READ;
	if (!s->packets || s->fragments || draw_n(s, 3))
		return;
	if (!draw_n(s, 3)) {
		k->opcode = draw_n(s, 2) ? FL_FETCH_ADD : FL_CMP_SWAP;
		k->swap = rng_next(&s->rng);
	} else if (message_may_go(s, p, k->side)) {
		k->opcode = draw_n(s, 3) ? FL_SEND : FL_WRITE;
		k->with_imm = k->opcode == FL_WRITE || draw_n(s, 2);
		k->imm = k->with_imm ? (uint32_t)rng_next(&s->rng) : 0;
	}
}

static void orders_post(struct swarm *s)
{
	struct pair *p = &s->pair[draw_n(s, s->pairs)];
	struct request *r = free_request(s);
	struct testbed_work *k;
	uint64_t room, at;
	int side = (int)draw_n(s, 4) == 0, err;

	if (!r || !p->c || p->flying[side] >= s->depth || p->failed[side])
		return;
	*r = (struct request){ .pair = p, .busy = true };
	snprintf(r->name, sizeof(r->name), "request%u", ++s->posted);
	k = &r->work;
	k->name = r->name;
	k->conn = p->c;
	k->side = side;
	draw_opcode(s, p, k);
	k->local = orders_buffer(s, p->c->process[side]);
	k->remote = orders_buffer(s, p->c->process[!side]);
	room = k->local->bytes < k->remote->bytes ? k->local->bytes :
						    k->remote->bytes;
	if (k->opcode == FL_SEND && room > MESSAGE_MOST)
		room = MESSAGE_MOST;
	k->bytes = k->opcode >= FL_FETCH_ADD ? 8 : orders_length(s, room);
	/* Offsets few enough to hit the same bytes again. */
	at = draw_n(s, 2) ? draw_n(s, 3) * PAGE / 2 : draw_n(s, room);
	if (at > k->local->bytes - k->bytes)
		at = k->local->bytes - k->bytes;
	k->local_va = (uintptr_t)k->local->mem + at;
	at = draw_n(s, 2) ? draw_n(s, 3) * PAGE / 2 : draw_n(s, room);
	if (at > k->remote->bytes - k->bytes)
		at = k->remote->bytes - k->bytes;
	if (k->opcode >= FL_FETCH_ADD)
		at &= ~7ull;
	k->remote_va = (uintptr_t)k->remote->mem + at;
	if (k->opcode == FL_SEND) {
		k->remote = NULL;
		k->remote_va = 0;
	}
	k->lkey = k->local->key;
	k->rkey = k->remote ? k->remote->key : 0;
	/* Which receives are taken away, and with them which messages, nobody reckons. */
	r->cut = s->cutting && testbed_takes_receive(k);
	if (s->wrong && k->remote && !draw_n(s, 40)) {
		r->wrong = true;
		k->rkey ^= 0x3f;
	}
	err = testbed_post(s->w, k);
	if (!err) {
		p->flying[side]++;
		p->messages[!side] += testbed_takes_receive(k);
		return;
	}
	r->busy = false;
	if (err != -EAGAIN)
		orders_ok(s, err, "post");
}

/*
 * A side of which nothing is under way. It goes on when it has halted; it has not when
 * nothing has failed, or when something worse has.
 */
static void resume_side(struct swarm *s, struct pair *p, int side)
{
	bool worse = s->lossy || s->tight || s->cutting || s->wrong;
	int err;

	if (!p->c || p->flying[side])
		return;
	err = testbed_resume(p->c, side);
	if (!err && p->failed[side])
		s->resumed++;
	if (!err && !p->failed[side])
		orders_say(s, "a queue pair was resumed that had not halted");
	else if (err && (err != -EINVAL || (p->failed[side] && !worse)))
		orders_say(s, "resume: %s", fl_strerror(err));
	if (!err)
		p->failed[side] = p->reason[side] = false;
}

static void wait_for(struct swarm *s, struct request *r)
{
	int err = testbed_wait(s->w, &r->work, WAIT_NS,
			       draw_n(s, 2) ? TESTBED_POLLING : TESTBED_BOTH);

	if (err)
		orders_say(s, "%s never ended: %s", r->name, fl_strerror(err));
	orders_collect(s);
}

static void wait_some(struct swarm *s)
{
	unsigned int i = (unsigned int)draw_n(s, REQUESTS);

	places_fill(s);
	for (; i < REQUESTS; i++)
		if (s->req[i].busy) {
			wait_for(s, &s->req[i]);
			return;
		}
}

static void wait_all(struct swarm *s)
{
	unsigned int i;

	places_fill(s);
	for (i = 0; i < REQUESTS && !is_over(s); i++)
		if (s->req[i].busy)
			wait_for(s, &s->req[i]);
	places_check(s);
}

/* ---- trouble ---- */

static void act_memory(struct swarm *s)
{
	struct testbed_buffer *b =
		s->buffer[draw_n(s, (uint64_t)s->procs * BUFFERS)];
	uint64_t pages = b->bytes / PAGE, at = draw_n(s, pages) * PAGE;
	uint64_t n = (1 + draw_n(s, 4)) * PAGE, off;

	if (n > b->bytes - at)
		n = b->bytes - at;
	off = at + draw_n(s, PAGE);
	switch (draw_n(s, 6)) {
	case 0:
		orders_ok(s,
			  testbed_buffer_store(b, off, 1 + draw_n(s, b->bytes -
								  off),
					       rng_next(&s->rng)), "store");
		break;
	case 1:
		orders_ok(s, testbed_buffer_touch(b, at, n, draw_n(s, 2)),
			  "touch");
		break;
	case 2:
		orders_ok(s, testbed_prefetch(b, at, n, draw_n(s, 2)),
			  "prefetch");
		break;
	default:
		orders_ok(s, s->evicting ? testbed_buffer_advise(b, at, n,
								 FL_PAGEOUT) :
			  0, "page out");
	}
}

/* A region goes, with what is under way, and comes again with another key. */
static void act_cut(struct swarm *s)
{
	struct testbed_buffer *b =
		s->buffer[draw_n(s, (uint64_t)s->procs * BUFFERS)];
	unsigned int i;
	int err;

	for (i = 0; i < REQUESTS; i++)
		if (s->req[i].busy && (s->req[i].work.local == b ||
				       s->req[i].work.remote == b))
			s->req[i].cut = true;
	err = testbed_region_remove(b);
	orders_ok(s, err, "take a region back");
	/* Not while the process itself has requests with its key. */
	if (err)
		return;
	orders_ok(s, testbed_region_add(b, 0, 0, RIGHTS, 0), "region");
}

static void act_inject(struct swarm *s, bool on)
{
	struct fabric_inject i = { 0 };
	unsigned int k;

	if (on && (s->steady || draw_n(s, 4))) {
		i.loss_ppm = s->steady || draw_n(s, 2) ? 30000 : 0;
		i.duplicate_ppm = (uint32_t)draw_n(s, 2) * 100000;
		i.late_ppm = (uint32_t)draw_n(s, 2) * 100000;
		i.late_ns = 1 + draw_n(s, 50000);
	}
	if (i.loss_ppm)
		testbed_injected(s->w);
	for (k = 0; k < s->boards; k++)
		fabric_inject(testbed_fabric(s->w), (uint8_t)k, 0xff, &i);
}

static void orders_act(struct swarm *s)
{
	unsigned int n = (unsigned int)draw_n(s, 20);

	if (s->aborting && !draw_n(s, 4))
		resume_side(s, &s->pair[draw_n(s, s->pairs)],
			    (int)draw_n(s, 2));
	if (n < 12) {
		orders_post(s);
	} else if (n < 15) {
		act_memory(s);
	} else if (n < 17) {
		sim_sleep(1 + draw_n(s, draw_n(s, 3) ? 5000 : 100000));
		testbed_model_under_way(s->w);
	} else if (n == 17) {
		wait_some(s);
	} else if (n == 18 && s->lossy) {
		act_inject(s, true);
	} else if (n == 19 && s->cutting && !draw_n(s, 4)) {
		act_cut(s);
	}
}

static void new_pairs(struct swarm *s)
{
	unsigned int i;
	int side;

	for (i = 0; i < 2 * s->pairs; i++) {
		side = i % 2;
		/*
		 * Of packets the end that refuses a request goes into error too (InfiniBand 9.9.3),
		 * and hears no more of what the other may have refused at the same time.
		 */
		if (s->packets && (s->cutting || s->wrong || s->tight))
			continue;
		if (s->pair[i / 2].failed[side] && !s->pair[i / 2].reason[side])
			orders_say(s,
				   "requests were flushed though none of their "
				   "queue pair had failed");
	}
	for (i = 0; s->aborting && i < 2 * s->pairs; i++)
		if (s->pair[i / 2].failed[i % 2])
			resume_side(s, &s->pair[i / 2], i % 2);
	for (i = 0; i < s->pairs; i++)
		if ((!s->pair[i].c || s->pair[i].failed[0] ||
		     s->pair[i].failed[1]) && s->conns < 60)
			connect_pair(s, &s->pair[i]);
}

static void orders_script(struct testbed *w, void *arg)
{
	struct swarm *s = arg;
	unsigned int round, i;

	s->w = w;
	orders_build(s);
	for (round = 0; round < ROUNDS && !is_over(s); round++) {
		if (s->steady)
			act_inject(s, true);
		for (i = 0; i < s->steps && !is_over(s); i++)
			orders_act(s);
		if (s->lossy && !s->steady)
			act_inject(s, false);
		wait_all(s);
		if (is_over(s))
			break;
		testbed_compare(w);
		new_pairs(s);
	}
}

/* ---- one testbed ---- */

static void make_plan(struct swarm *s)
{
	rng_init(&s->rng, s->seed, "order");
	s->boards = 1 + (unsigned int)draw_n(s, BOARDS_MAX);
	s->procs = 2 + (unsigned int)draw_n(s, PROCS_MAX - 1);
	s->pairs = 1 + (unsigned int)draw_n(s, PAIRS_MAX);
	s->steps = 20 + (unsigned int)draw_n(s, 60);
	s->depth = 1 + (unsigned int)draw_n(s, DEPTH);
	/* With one at a time the queue pairs alone are what may mix. */
	if (getenv("SWARM_DEPTH"))
		s->depth = (unsigned int)strtoul(getenv("SWARM_DEPTH"), NULL,
						 0);
	s->lossy = !draw_n(s, 3);
	s->steady = s->lossy && draw_n(s, 2);	/* loss that never pauses */
	s->tight = !draw_n(s, 4);
	s->cutting = !draw_n(s, 4);
	s->wrong = !draw_n(s, 3);
	s->evicting = draw_n(s, 4);
}

static void run_testbed(struct swarm *s, const struct testbed_config *cfg)
{
	char error[300];
	int err;

	s->w = testbed_create(cfg, error, sizeof(error));
	test_expect(s->w, __FILE__, __LINE__, "a testbed: %s", error);
	err = testbed_run(s->w, orders_script, s);
	if (err)
		orders_say(s, "%s", testbed_problem(s->w));
	testbed_destroy(s->w);
}

/* Which systems the processes have. */
enum part { ANY, ABORTS, SINKS, PACKETS, FRAGMENTS };

static bool part_packets(enum part part)
{
	return part == PACKETS || part == FRAGMENTS;
}

static void run_seed(uint64_t seed, enum sim_mode mode, bool processes,
		     enum part part, unsigned int *compared)
{
	bool aborting = part == ABORTS;
	const char *word = part == FRAGMENTS ? mode == SIM_LOCKSTEP ? "fragments" : "pieces" :
			   part == PACKETS ? mode == SIM_LOCKSTEP ? "packets" : "wires" :
			   part == SINKS ? mode == SIM_LOCKSTEP ? "sinks" : "bounces" :
			   aborting ? mode == SIM_LOCKSTEP ? "aborts" : "halts" :
			   processes ? "processes" :
			   mode == SIM_LOCKSTEP ? "lockstep" : "threads";
	struct swarm *s = calloc(1, sizeof(*s));
	struct testbed_config cfg = {
		.mode = mode, .processes = processes, .seed = seed,
		.trace_records = mode == SIM_LOCKSTEP ? 1u << 16 : 0,
	};
	char text[400], major[40], mmio[40], patience[40];
	const char *sets[] = { major, patience,
			       part == SINKS ? mmio :
			       /* 4 ms: what is dropped comes again in the time of a test. */
			       part_packets(part) ? "rc.timeout=10" : NULL, NULL };

	test_expect(s, __FILE__, __LINE__, "memory for a swarm");
	s->seed = seed;
	make_plan(s);
	s->aborting = aborting;
	s->sinking = part == SINKS;
	s->packets = part_packets(part);
	s->fragments = part == FRAGMENTS;
	s->real = mode == SIM_THREADS;
	cfg.jitter_ns = draw_n(s, 2) ? 1 + (uint32_t)draw_n(s, 5000) : 0;
	cfg.profile = draw_n(s, 4) ? NULL : "qfdb";
	/* Storage that is fast, or slow enough for a sender to lose patience. */
	snprintf(major, sizeof(major), "mm.major=%u", 10000u << draw_n(s, 8));
	/*
	 * A machine with much to do is no dead peer. But a card forgets what a lost packet, or a
	 * request that ended at once, has left with it only after nine times this.
	 */
	snprintf(patience, sizeof(patience), "fw.wall_fault_timeout=%u",
		 s->lossy || aborting ? 200000000 : 1000000000);
	/* The longer a page takes to go from the TLB, the more happens meanwhile. */
	if (part == SINKS)
		snprintf(mmio, sizeof(mmio), "cpu.mmio_write=%u",
			 100u << draw_n(s, 9));
	cfg.sets = sets;
	cfg.drive = draw_n(s, 3) ? SIM_INLINE : SIM_DEDICATED;
	seed_begin(seed, mode, word);
	run_testbed(s, &cfg);
	seed_end(mode);
	if (getenv("SWARM_VERBOSE"))
		printf("# %s seed %llu: %u ok, %u failed, %u resumed, %u "
		       "pairs; %s\n",
		       word, (unsigned long long)seed, s->ok, s->failed,
		       s->resumed, s->conns, s->problem[0] ? s->problem : "good");
	*compared += s->ok;
	snprintf(text, sizeof(text), "%s", s->problem);
	free(s);
	STEP("repeat with --seed %llu %s", (unsigned long long)seed, word);
	test_expect(!text[0], __FILE__, __LINE__, "seed %llu: %s",
		    (unsigned long long)seed, text);
}

static void run_seeds(unsigned int usual, enum sim_mode mode, bool processes,
		      enum part part)
{
	unsigned int n = seed_count(usual), i, compared = 0;

	for (i = 0; i < n; i++)
		run_seed(test_seed() + i, mode, processes, part, &compared);
	if (n > 3)
		EXPECT_GE(compared, (part == ABORTS ? 5 : 20) * n);
}

TEST("requests that overlap keep their order in lockstep")
{
	run_seeds(SEEDS_LOCKSTEP, SIM_LOCKSTEP, false, ANY);
}

TEST("requests that end at once, and their queue pairs resumed: aborts keep the order")
{
	run_seeds(SEEDS_ABORTS, SIM_LOCKSTEP, false, ABORTS);
}

TEST("requests that overlap keep their order in threads")
{
	run_seeds(SEEDS_THREADS, SIM_THREADS, false, ANY);
}

TEST("the same with real time: halts keep the order")
{
	run_seeds(SEEDS_HALTS, SIM_THREADS, false, ABORTS);
}

TEST("bytes that vanish are written again, and keep their order: sinks")
{
	run_seeds(SEEDS_LOCKSTEP, SIM_LOCKSTEP, false, SINKS);
}

TEST("the same with real time: bounces keep the order")
{
	run_seeds(SEEDS_THREADS, SIM_THREADS, false, SINKS);
}

TEST("what goes in packets keeps the order of a reliable connection: packets")
{
	run_seeds(SEEDS_LOCKSTEP, SIM_LOCKSTEP, false, PACKETS);
}

TEST("the same with real time: wires keep the order")
{
	run_seeds(SEEDS_THREADS, SIM_THREADS, false, PACKETS);
}

TEST("fragments come in any order, and later bytes lie on earlier ones: fragments")
{
	run_seeds(SEEDS_LOCKSTEP, SIM_LOCKSTEP, false, FRAGMENTS);
}

TEST("the same with real time: pieces lie on each other in order")
{
	run_seeds(SEEDS_THREADS, SIM_THREADS, false, FRAGMENTS);
}

/* A sanitizer does not see from one process into another. */
#ifndef __SANITIZE_THREAD__
TEST("requests that overlap keep their order in processes")
{
	run_seeds(SEEDS_PROCESSES, SIM_THREADS, true, ANY);
}
#endif
