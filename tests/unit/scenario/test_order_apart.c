// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lockstep: the order of what happens on a board follows from its own history and from what
 * others send to it. Whatever else there is in the same run does not change it.
 */
#include "nic/wire.h"
#include "rig/driver.h"

/* ---- domains and threads, and nothing else ---- */

#define ACTORS	4
#define THREADS	2
#define STEPS	40

struct part {
	struct sim_domain *domain;
	struct part_actor {
		struct sim_actor actor;
		struct part *part;
		char name;
		int left;
	} actor[ACTORS];
	struct part_thread {
		struct part *part;
		char name;
	} thread[THREADS];
	char said[(ACTORS + THREADS) * STEPS + 1];	/* who ran, in order */
	size_t len;
};

static void part_say(struct part *p, char who)
{
	EXPECT_LE(p->len + 2, sizeof(p->said));
	p->said[p->len++] = who;
}

/* All of a part are due at the same times, and kick one another. */
static uint64_t part_step(void *arg, uint64_t now_ns)
{
	struct part_actor *a = arg;

	if (!a->left)
		return SIM_IDLE;
	a->left--;
	part_say(a->part, a->name);
	sim_kick(&a->part->actor[now_ns / 10 % ACTORS].actor);
	return 10;
}

static void part_run(void *arg)
{
	struct part_thread *t = arg;
	int i;

	for (i = 0; i < STEPS; i++) {
		sim_spend(10);
		part_say(t->part, t->name);
	}
}

static void part_start(struct part *p, struct sim *sim, const char *name)
{
	int i;

	memset(p, 0, sizeof(*p));
	p->domain = sim_domain_create(sim, name);
	for (i = 0; i < ACTORS; i++) {
		p->actor[i].part = p;
		p->actor[i].name = (char)('0' + i);
		p->actor[i].left = STEPS;
		sim_actor_init(p->domain, &p->actor[i].actor, "actor", part_step,
			       &p->actor[i]);
	}
	for (i = 0; i < THREADS; i++) {
		p->thread[i] = (struct part_thread){ p, (char)('a' + i) };
		sim_thread_start_on(p->domain, "thread", false, part_run, &p->thread[i]);
	}
	for (i = 0; i < ACTORS; i++)
		sim_kick(&p->actor[i].actor);
}

/* Two parts, and `more` others that have nothing to do with them. */
static void parts_run(struct part *p, unsigned int more, uint64_t seed)
{
	const struct sim_config cfg = { .mode = SIM_LOCKSTEP, .seed = seed };
	static struct part others[4];
	struct sim *sim = sim_create(&cfg);
	unsigned int i;

	EXPECT(sim);
	part_start(&p[0], sim, "first");
	part_start(&p[1], sim, "second");
	for (i = 0; i < more; i++)
		part_start(&others[i], sim, "other");
	EXPECT_EQ(sim_run(sim, 0, 100000), SIM_FINISHED);
	sim_stop(sim);
	sim_destroy(sim);
}

TEST("events of one time on a board: their order does not depend on other boards")
{
	static struct part alone[2], among[2], first[2];
	unsigned int different = 0;
	uint64_t seed;
	int i;

	for (seed = 1; seed <= 8; seed++) {
		STEP("seed %d", (int)seed);
		parts_run(alone, 0, seed);
		parts_run(among, 4, seed);
		for (i = 0; i < 2; i++) {
			EXPECT_EQ(alone[i].len, sizeof(alone[i].said) - 1);
			EXPECT_STR(among[i].said, alone[i].said);
		}
		if (seed == 1)
			memcpy(first, alone, sizeof(first));
		different += strcmp(first[0].said, alone[0].said) != 0;
		EXPECT(strcmp(alone[0].said, alone[1].said) != 0);
	}
	EXPECT_GE(different, 7);
}

/* ---- software that is on no board, and acts on all ---- */

struct acted {
	struct sim_actor actor[2];
	struct trace *trace;
	uint64_t said;		/* how often something was, by whoever it was */
};

static void acted_say(struct acted *a, uint8_t board)
{
	const struct trace_at at = { .board = board };

	trace_emit(a->trace, EV_APP_NOTE, &at, a->said++, 0, 0, 0);
}

static uint64_t first_step(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	acted_say(arg, 1);
	return SIM_IDLE;
}

static uint64_t second_step(void *arg, uint64_t now_ns)
{
	(void)now_ns;
	acted_say(arg, 2);
	return SIM_IDLE;
}

/* Both boards have something to do at a time, before or after this gives them more. */
static void acted_run(void *arg)
{
	struct acted *a = arg;
	int i, j;

	for (i = 1; i <= STEPS; i++) {
		for (j = 0; j < 2; j++)
			sim_alarm(&a->actor[j], (uint64_t)i * 10);
		sim_spend(10);
		acted_say(a, 0);
		for (j = 0; j < 2; j++)
			sim_kick(&a->actor[j]);
	}
}

TEST("what software on no board does at one time is in the trace as it was done")
{
	uint64_t (*const step[2])(void *arg, uint64_t now_ns) = { first_step, second_step };
	unsigned int i, n, before = 0, behind = 0;
	struct trace_config tc = { 0 };
	struct sim_config sc = { .mode = SIM_LOCKSTEP };
	struct trace_record r[5 * STEPS];
	struct acted a;
	struct sim *sim;

	for (sc.seed = 1; sc.seed <= 16; sc.seed++) {
		STEP("seed %d", (int)sc.seed);
		memset(&a, 0, sizeof(a));
		sc.trace = a.trace = trace_create(&tc);
		sim = sim_create(&sc);
		for (i = 0; i < 2; i++)
			sim_actor_init(sim_domain_create(sim, "board"), &a.actor[i], "actor",
				       step[i], &a);
		sim_thread_start(sim, "director", false, acted_run, &a);
		EXPECT_EQ(sim_run(sim, 0, 100), SIM_FINISHED);
		n = trace_snapshot(a.trace, r, 5 * STEPS);
		EXPECT_EQ(n, a.said);
		for (i = 0; i < n; i++) {
			EXPECT_EQ(r[i].arg[0], i);
			EXPECT_EQ(r[i].seq, i + 1);
			if (!i || r[i].board || r[i].time_ns != r[i - 1].time_ns)
				continue;
			before++;
			behind += i + 1 < n && r[i + 1].time_ns == r[i].time_ns;
		}
		sim_stop(sim);
		sim_destroy(sim);
		trace_destroy(a.trace);
	}
	EXPECT(before > 100 && behind > 100);
}

/* ---- frames that arrive at one time ---- */

#define SENDERS 3

struct crossing {
	const char *order;	/* who sends when, all at one time */
	struct sim_domain *domain[SENDERS + 1];
	struct fabric_port *port[SENDERS + 1];
	char came[2 * SENDERS + 1];
	size_t len;
};

static void crossing_receive(void *arg, const struct wire_frame *f, uint64_t now_ns)
{
	struct crossing *c = arg;

	(void)now_ns;
	EXPECT_LE(c->len + 2, sizeof(c->came));
	c->came[c->len++] = (char)('0' + f->from);
}

static void crossing_room(void *arg)
{
	(void)arg;
}

static void crossing_send(void *arg)
{
	struct wire_block b = { .opcode = WOP_WRITE, .len = 64, .payload_len = 64 };
	struct crossing *c = arg;
	struct wire_frame *f;
	const char *who;
	int i;

	for (who = c->order; *who; who++) {
		i = *who - '0';
		sim_enter(c->domain[i]);
		f = fabric_frame_get(c->port[i]);
		EXPECT(f);
		f->to = SENDERS;
		memset(wire_payload(f), i, 64);
		wire_put_block(f, &b, true);
		fabric_frame_send(c->port[i], f);
		sim_leave(c->domain[i]);
	}
}

static void crossing_run(struct crossing *c, const char *order, uint64_t seed)
{
	const struct sim_config cfg = { .mode = SIM_LOCKSTEP, .seed = seed };
	struct fabric_config fc = { 0 };
	struct timing_profile timing;
	struct fabric *fabric;
	int i, error;

	memset(c, 0, sizeof(*c));
	c->order = order;
	timing_defaults(&timing);
	fc.timing = &timing;
	fc.sim = sim_create(&cfg);
	fabric = fabric_create(&fc);
	for (i = 0; i <= SENDERS; i++) {
		c->domain[i] = sim_domain_create(fc.sim, "port");
		c->port[i] = fabric_attach(fabric, c->domain[i], (uint8_t)i,
					   crossing_receive, crossing_room, c, &error);
		EXPECT(c->port[i]);
	}
	for (i = 0; i < SENDERS; i++)
		EXPECT_EQ(fabric_link(fabric, (uint8_t)i, SENDERS), 0);
	sim_thread_start(fc.sim, "senders", false, crossing_send, c);
	EXPECT_EQ(sim_run(fc.sim, 0, 1000000), SIM_FINISHED);
	EXPECT_EQ(c->len, strlen(order));
	sim_stop(fc.sim);
	fabric_destroy(fabric);
	sim_destroy(fc.sim);
	timing_free(&timing);
}

TEST("frames that arrive at one time: their order does not depend on who sent first")
{
	static const char *const orders[] = { "021", "102", "120", "201", "210" };
	struct crossing one, other;
	char first[SENDERS + 1];
	unsigned int i, different = 0;
	uint64_t seed;

	for (seed = 1; seed <= 16; seed++) {
		STEP("seed %d", (int)seed);
		crossing_run(&one, "012", seed);
		if (seed == 1)
			memcpy(first, one.came, sizeof(first));
		different += strncmp(first, one.came, SENDERS) != 0;
		for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
			crossing_run(&other, orders[i], seed);
			EXPECT_STR(other.came, one.came);
		}
	}
	EXPECT_GE(different, 8);
}

/* ---- boards with kernel, driver and a process each ---- */

#define LEN	(16 * RIG_PAGE)
#define ROUNDS	6

/* Pages go on either side, and WRITEs bring them in again. */
static void pair_work(void *arg)
{
	struct rig *r = arg;
	unsigned int i, j;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	for (i = 0; i < ROUNDS; i++) {
		EXPECT_EQ(host_madvise(r->n[i % 2].process, r->n[i % 2].buffer,
				       RIG_BYTES, i % 3 ? HOST_PAGEOUT : HOST_DONTNEED), 0);
		for (j = 0; j < 3; j++)
			rig_post(r, FL_OP_WRITE, j * LEN / 2, j * LEN, LEN);
		for (j = 0; j < 3; j++)
			EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	}
}

static void pair_start(struct rig *r, struct sim *sim)
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };
	struct fabric_config fc = { .sim = sim, .trace = r->trace, .timing = &r->timing };
	int i;

	timing_defaults(&r->timing);
	r->sim = sim;
	r->fabric = fabric_create(&fc);
	for (i = 0; i < 2; i++)
		rig_board(r, i, &p);
	EXPECT_EQ(fabric_link(r->fabric, r->first, r->first + 1), 0);
	EXPECT(host_thread_start(r->n[0].process, "test", pair_work, r));
}

static void pair_leave(struct rig *r)
{
	int i;

	for (i = 0; i < 2; i++) {
		host_process_exit(r->n[i].process);
		host_driver_remove(r->n[i].kernel);
	}
}

static void pair_end(struct rig *r)
{
	int i;

	for (i = 0; i < 2; i++) {
		EXPECT(!host_check(r->n[i].kernel, true));
		host_destroy(r->n[i].kernel);
		board_destroy(r->n[i].board);
	}
	fabric_destroy(r->fabric);
	timing_free(&r->timing);
}

/*
 * What the first pair of boards has left in a trace, numbered as if there were nothing else
 * in it. None of it has a cause elsewhere.
 */
static struct trace_record *pair_records(char *text, uint32_t *count)
{
	char *line, *save = NULL, *c;
	uint32_t n = 0, all, lines = 0;
	struct trace_record *r;
	uint64_t *number;	/* of a record of the whole trace; 0: not of this pair */

	for (c = text; *c; c++)
		lines += *c == '\n';
	r = calloc(lines, sizeof(*r));
	number = calloc(lines, sizeof(*number));
	EXPECT(r && number);
	line = strtok_r(text, "\n", &save);
	EXPECT_STR(line, "#faultline-trace 1");
	for (all = 0; (line = strtok_r(NULL, "\n", &save)); all++) {
		EXPECT_EQ(trace_record_parse(line, &r[n], NULL), 0);
		EXPECT_EQ(r[n].seq, all + 1);
		EXPECT(r[n].cause <= all);
		if (r[n].board >= 2)
			continue;
		if (r[n].cause) {
			r[n].cause = number[r[n].cause - 1];
			EXPECT(r[n].cause);
		}
		r[n].seq = number[all] = n + 1;
		n++;
	}
	free(number);
	*count = n;
	return r;
}

/* The records of one pair of boards until its work is done, with or without another pair. */
static struct trace_record *pair_trace(bool another, uint64_t seed, uint32_t *count)
{
	struct sim_config sc = { .mode = SIM_LOCKSTEP, .seed = seed, .jitter_ns = 500 };
	struct rig *r = calloc(2, sizeof(*r));
	struct trace_config tc = { 0 };
	struct trace_record *records;
	size_t bytes;
	char *text;
	int i;

	tc.out = open_memstream(&text, &bytes);
	sc.trace = r[0].trace = r[1].trace = trace_create(&tc);
	r[1].first = 2;
	pair_start(&r[0], sim_create(&sc));
	if (another)
		pair_start(&r[1], r[0].sim);
	EXPECT_EQ(sim_run(r[0].sim, 0, 0), SIM_FINISHED);
	trace_enable(sc.trace, false);
	for (i = 0; i <= another; i++)
		pair_leave(&r[i]);
	sim_stop(r[0].sim);
	for (i = 0; i <= another; i++)
		pair_end(&r[i]);
	sim_destroy(r[0].sim);
	trace_destroy(sc.trace);
	fclose(tc.out);
	free(r);
	records = pair_records(text, count);
	free(text);
	return records;
}

TEST("the trace of two boards is the same when two others work at the same time")
{
	struct trace_record *alone, *among;
	uint32_t n, more, i, resolved = 0;
	uint64_t seed;

	for (seed = 1; seed <= 4; seed++) {
		STEP("seed %d", (int)seed);
		alone = pair_trace(false, seed, &n);
		among = pair_trace(true, seed, &more);
		EXPECT_EQ(more, n);
		for (i = 0; i < n; i++) {
			resolved += alone[i].event == EV_DRV_RESOLVE;
			EXPECT_MEM(&among[i], &alone[i], sizeof(alone[i]));
		}
		free(alone);
		free(among);
	}
	EXPECT(resolved);
}
