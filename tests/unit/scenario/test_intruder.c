// SPDX-License-Identifier: BSD-2-Clause
/*
 * An intruder in a testbed of virtual time: what test_serve_intruder.c does with real
 * processes. Here the seconds between knocking and refusal can be compared, as well
 * as the order of the victim's requests, and the reasons in the responder's counters.
 */
#include <errno.h>

#include "harness.h"
#include "board/board.h"
#include "faultline/entries.h"
#include "host/host.h"
#include "nic/fw.h"
#include "sim/sim.h"
#include "tools/scenario/testbed.h"

#define BYTES	(4 * HOST_PAGE)
#define WAIT_NS	1000000000ull

struct stage {
	struct testbed *w;
	struct testbed_process *p, *q, *r, *s;	/* the pair; strangers */
	struct testbed_buffer *src, *dst, *mine, *theirs;
	struct testbed_connection *c, *idle;
	enum fl_opcode op;
	int error;
};

/* One thing to try, by a stranger that is on a board of its own or the victim's. */
struct knock {
	struct stage *stage;
	struct fl_address to;
	bool back;		/* to a queue pair of `s`, which connects back */
	bool relaxed;
	enum fl_opcode op;
	uint64_t remote;
	uint32_t rkey;
	int status;		/* what came of it */
	uint64_t ns;
};

struct peer {
	struct fl_qp *qp;
	struct fl_address at, to;
};

static int open_peer(struct rpc_app *a, void *arg)
{
	struct peer *x = arg;
	int err = fl_create_qp(a->pd[0], a->cq, 16, &x->qp);

	return err ? err : fl_qp_address(x->qp, &x->at);
}

static int join_peer(struct rpc_app *a, void *arg)
{
	struct peer *x = arg;

	(void)a;
	return fl_connect(x->qp, &x->to);
}

static int close_peer(struct rpc_app *a, void *arg)
{
	(void)a;
	return fl_destroy_qp(((struct peer *)arg)->qp);
}

struct post {
	struct knock *k;
	struct peer *x;
};

static int post_and_wait(struct rpc_app *a, void *arg)
{
	struct knock *k = ((struct post *)arg)->k;
	struct testbed_buffer *mine = a == &k->stage->r->app ? k->stage->mine :
							       k->stage->theirs;
	struct fl_work w = { .opcode = k->op, .local = mine->mem,
			     .lkey = mine->key, .remote = k->remote,
			     .rkey = k->rkey, .bytes = HOST_PAGE };
	uint64_t start_ns = sim_now(testbed_sim(k->stage->w));
	struct fl_completion c;
	int n = fl_post(((struct post *)arg)->x->qp, &w);

	if (!n)
		n = fl_wait(a->cq, &c, 1, WAIT_NS);
	k->status = n < 0 ? n : c.status;
	k->ns = sim_now(testbed_sim(k->stage->w)) - start_ns;
	return n < 0 ? n : 0;
}

static int open_relaxed(struct rpc_app *a, void *arg)
{
	struct peer *x = arg;
	int err = fl_create_qp_relaxed(a->pd[0], a->cq, 16, &x->qp);

	return err ? err : fl_qp_address(x->qp, &x->at);
}

static void intruder_knock(struct testbed_process *who, struct knock *k)
{
	struct peer x = { 0 }, far = { 0 };
	struct post post = { k, &x };
	struct stage *s = k->stage;

	s->error |= testbed_in(who, k->relaxed ? open_relaxed : open_peer, &x);
	x.to = k->to;
	if (k->back) {
		s->error |= testbed_in(s->s, open_peer, &far);
		far.to = x.at;
		x.to = far.at;
		s->error |= testbed_in(s->s, join_peer, &far);
	}
	s->error |= testbed_in(who, join_peer, &x);
	s->error |= testbed_in(who, post_and_wait, &post);
	s->error |= testbed_in(who, close_peer, &x);
	if (k->back)
		s->error |= testbed_in(s->s, close_peer, &far);
}

/* ---- the testbed ---- */

static void intruder_build(struct testbed *w, struct stage *s)
{
	const unsigned int all = FL_LOCAL_WRITE | FL_REMOTE_WRITE |
				 FL_REMOTE_READ;
	const struct testbed_board_config cfg = { 0 };
	struct testbed_board *a, *b;

	const struct testbed_joining join = { .depth = 16 };

	s->w = w;
	s->error |= testbed_board_add(w, "a", &cfg, &a);
	s->error |= testbed_board_add(w, "b", &cfg, &b);
	s->error |= testbed_link_add(w, a, b);
	s->error |= testbed_process_add(w, "p", a, FL_SYSTEM_PIN, FL_RESOLVE_PAGE,
					&s->p);
	s->error |= testbed_process_add(w, "q", b, FL_SYSTEM_PIN, FL_RESOLVE_PAGE,
					&s->q);
	s->error |= testbed_process_add(w, "r", a, FL_SYSTEM_PIN, FL_RESOLVE_PAGE,
					&s->r);
	s->error |= testbed_process_add(w, "s", b, FL_SYSTEM_PIN, FL_RESOLVE_PAGE,
					&s->s);
	s->error |= testbed_buffer_add(s->p, "src", BYTES, NULL, &s->src);
	s->error |= testbed_buffer_add(s->q, "dst", BYTES, NULL, &s->dst);
	s->error |= testbed_buffer_add(s->r, "mine", BYTES, NULL, &s->mine);
	s->error |= testbed_buffer_add(s->s, "theirs", BYTES, NULL, &s->theirs);
	s->error |= testbed_buffer_fill(s->src, TESTBED_RANDOM, 1);
	s->error |= testbed_buffer_fill(s->mine, TESTBED_RANDOM, 2);
	s->error |= testbed_buffer_fill(s->theirs, TESTBED_RANDOM, 3);
	s->error |= testbed_region_add(s->src, 0, 0, all | FL_PINNED, 0);
	s->error |= testbed_region_add(s->dst, 0, 0, all | FL_PINNED, 0);
	s->error |= testbed_region_add(s->mine, 0, 0, all | FL_PINNED, 0);
	s->error |= testbed_region_add(s->theirs, 0, 0,
				       FL_LOCAL_WRITE | FL_PINNED, 0);
	s->error |= testbed_connect(s->p, s->q, "c", &join, &s->c);
	s->error |= testbed_connect(s->p, s->q, "idle", &join, &s->idle);
}

static struct fl_address intruder_victim(const struct stage *s)
{
	return (struct fl_address){ .node = board_id(s->q->board->board),
				    .qpn = s->c->qpn[1] };
}

static struct fw_stats intruder_refused(const struct stage *s)
{
	struct fw_stats st;

	board_fw_stats(s->q->board->board, &st);
	return st;
}

/* What the victims do, the intruder's knocks in between. */
static void round_of(struct stage *s, struct knock *k,
		     struct testbed_process *who, enum fl_opcode op)
{
	struct testbed_work first = {
		.name = "first", .conn = s->c, .opcode = op,
		.local = s->src, .remote = s->dst,
		.local_va = (uintptr_t)s->src->mem,
		.remote_va = (uintptr_t)s->dst->mem,
		.lkey = s->src->key, .rkey = s->dst->key, .bytes = BYTES,
	}, second = first;

	second.name = "second";
	s->error |= testbed_post(s->w, &first);
	s->error |= testbed_post(s->w, &second);
	intruder_knock(who, k);
	s->error |= testbed_wait(s->w, &first, WAIT_NS, TESTBED_BOTH);
	s->error |= testbed_wait(s->w, &second, WAIT_NS, TESTBED_BOTH);
	s->error |= first.status | second.status;
}

static void intruder_beside(struct testbed *w, void *arg)
{
	struct stage *s = arg;
	unsigned int i;

	intruder_build(w, s);
	if (s->error)
		return;
	for (i = 0; i < 16; i++) {
		struct knock k = { .stage = s, .to = intruder_victim(s),
				   .relaxed = i & 1,
				   .op = i & 2 ? FL_READ : FL_WRITE,
				   .remote = (uintptr_t)s->dst->mem,
				   .rkey = s->dst->key };
		uint64_t before = intruder_refused(s).refused_qp;

		round_of(s, &k, i & 4 ? s->r : s->s,
			 i & 8 ? FL_READ : FL_WRITE);
		STEP("%s; refused %llu times", k.status < 0 ? "no answer" :
		     fl_status_string(k.status),
		     (unsigned long long)(intruder_refused(s).refused_qp -
					  before));
		if (k.status != FL_ST_REMOTE_QP ||
		    intruder_refused(s).refused_qp != before + 1)
			s->error = -EACCES;
	}
}

TEST("a stranger that knocks while requests are under way neither gets in nor disturbs")
{
	const struct testbed_config cfg = { .seed = test_seed() };
	struct stage s = { 0 };
	char error[300];
	struct testbed *w = testbed_create(&cfg, error, sizeof(error));
	int err;

	EXPECT(w);
	/* The testbed's own checks: every byte, and one completion each, in order. */
	err = testbed_run(w, intruder_beside, &s);
	STEP("%s", testbed_problem(w) ? testbed_problem(w) : "no problem");
	EXPECT_EQ(s.error, 0);
	EXPECT_EQ(err, 0);
	testbed_destroy(w);
}

/* ---- how long it takes ---- */

static void same_time(struct stage *s, const struct knock *k, uint64_t *ns)
{
	if (!*ns)
		*ns = k->ns;
	STEP("%s after %llu ns", fl_status_string(k->status),
	     (unsigned long long)k->ns);
	if (k->ns != *ns)
		s->error = -ETIME;
}

static void in_time(struct testbed *w, void *arg)
{
	struct stage *s = arg;
	uint64_t qp_ns = 0, access_ns = 0;
	unsigned int i;
	struct fw_stats st;

	intruder_build(w, s);
	if (s->error)
		return;
	for (i = 0; i < 12; i++) {
		struct knock k = { .stage = s, .to = intruder_victim(s),
			.op = s->op,
				   .remote = (uintptr_t)s->dst->mem,
				   .rkey = s->dst->key };

		if (i % 6 == 1)
			k.rkey ^= 1;
		else if (i % 6 == 2)
			k.remote += BYTES;
		else if (i % 6 == 3)
			k.to.qpn = s->idle->qpn[1];
		else if (i % 6 == 4)
			k.to.qpn = 200;		/* nobody's */
		else if (i % 6 == 5)
			k.to.qpn = 0xFFFFFF;
		intruder_knock(s->r, &k);
		if (k.status != FL_ST_REMOTE_QP)
			s->error = -EACCES;
		/* The first one's own page is not in the TLB yet. */
		if (i)
			same_time(s, &k, &qp_ns);
	}
	/* Over a connection of its own: whose key, which range, which rights. */
	for (i = 0; i < 10; i++) {
		struct knock k = { .stage = s, .back = true, .op = s->op,
				   .remote = (uintptr_t)s->theirs->mem,
				   .rkey = s->theirs->key };

		if (i % 5 == 1)
			k.rkey = s->dst->key;
		else if (i % 5 == 2)
			k.rkey ^= 1u << 31;
		else if (i % 5 == 3)
			k.remote += BYTES;
		else if (i % 5 == 4)
			k.remote = (uintptr_t)s->dst->mem;
		intruder_knock(s->r, &k);
		if (k.status != FL_ST_REMOTE_ACCESS)
			s->error = -EACCES;
		same_time(s, &k, &access_ns);
	}
	st = intruder_refused(s);
	if (st.refused_qp != 12 || st.refused_rights != 2 ||
	    st.refused_key != 4 || st.refused_range != 4)
		s->error = -EBADE;
}

static void run_in_time(enum fl_opcode op)
{
	const struct testbed_config cfg = { .seed = test_seed(),
					  .profile = "qfdb" };
	struct stage s = { .op = op };
	char error[300];
	struct testbed *w = testbed_create(&cfg, error, sizeof(error));
	int err;

	EXPECT(w);
	err = testbed_run(w, in_time, &s);
	STEP("%s", testbed_problem(w) ? testbed_problem(w) : "no problem");
	EXPECT_EQ(s.error, 0);
	EXPECT_EQ(err, 0);
	testbed_destroy(w);
}

TEST("a WRITE is refused after the same time, whatever was wrong with it")
{
	run_in_time(FL_WRITE);
}

TEST("a READ is refused after the same time, whatever was wrong with it")
{
	run_in_time(FL_READ);
}
