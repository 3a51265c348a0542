// SPDX-License-Identifier: BSD-2-Clause
/*
 * Does a testbed see it when a byte changes that nobody wrote? Behind the oracle's
 * back this test writes into memory, as a card could that goes astray: in the target,
 * beside it, in another buffer, of the source, in swap; in each mode.
 *
 * variants: tsan
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "host/host.h"
#include "host/mm.h"
#include "tools/scenario/testbed.h"

#define BYTES	(4 * HOST_PAGE)
#define WAIT_NS	20000000000ull

/* What goes wrong, and when. */
enum astray { NOTHING, IN_TARGET, BESIDE, OTHER_BUFFER, IN_SOURCE, IN_SWAP,
	      UNDER_WAY, IN_MESSAGE, IN_LATE_MESSAGE };

struct stage {
	enum astray astray;
	struct testbed_buffer *src, *dst, *other;
	struct testbed_connection *c;
	int error;
};

static void model_spoil(struct stage *s, struct testbed_buffer *b,
			      uint64_t at)
{
	uint8_t byte = (uint8_t)(testbed_fill_byte(TESTBED_RANDOM, 1,
						   at) ^ 0x5a);

	s->error |= mm_copy(b->process->mm, (uintptr_t)b->mem + at, &byte, 1,
			    true);
}

static void model_build(struct testbed *w, struct stage *s)
{
	const struct testbed_joining join = { .depth = 4 };
	const struct testbed_board_config cfg = { 0 };
	struct testbed_board *a, *b;
	struct testbed_process *p, *q;
	enum fl_system system = s->astray >= IN_MESSAGE ? FL_SYSTEM_NPF :
							  FL_SYSTEM_PART;
	const unsigned int all = FL_LOCAL_WRITE | FL_REMOTE_WRITE |
				 FL_REMOTE_READ;

	s->error |= testbed_board_add(w, "a", &cfg, &a);
	s->error |= testbed_board_add(w, "b", &cfg, &b);
	s->error |= testbed_link_add(w, a, b);
	s->error |= testbed_process_add(w, "p", a, system, FL_RESOLVE_PAGE, &p);
	s->error |= testbed_process_add(w, "q", b, system, FL_RESOLVE_PAGE, &q);
	s->error |= testbed_buffer_add(p, "src", BYTES, NULL, &s->src);
	s->error |= testbed_buffer_add(q, "dst", BYTES, NULL, &s->dst);
	s->error |= testbed_buffer_add(q, "other", BYTES, NULL, &s->other);
	s->error |= testbed_buffer_fill(s->src, TESTBED_RANDOM, 1);
	s->error |= testbed_buffer_fill(s->other, TESTBED_RANDOM, 3);
	s->error |= testbed_region_add(s->src, 0, 0, all, 0);
	s->error |= testbed_region_add(s->dst, 0, 0, all, 0);
	s->error |= testbed_connect(p, q, "c", &join, &s->c);
}

/* A page goes to the second page of dst as a message, whose receive may come later. */
static void message_script(struct testbed *w, struct stage *s)
{
	struct testbed_work k = {
		.name = "send", .conn = s->c, .opcode = FL_SEND, .local = s->src,
		.local_va = (uintptr_t)s->src->mem, .lkey = s->src->key,
		.bytes = HOST_PAGE,
	}, r = {
		.name = "receive", .conn = s->c, .opcode = FL_RECV, .side = 1,
		.local = s->dst, .local_va = (uintptr_t)s->dst->mem + HOST_PAGE,
		.lkey = s->dst->key, .bytes = 2 * HOST_PAGE, .receives = 1,
	};

	if (s->astray == IN_MESSAGE)
		s->error |= testbed_receive(w, &r);
	s->error |= testbed_post(w, &k);
	if (s->astray == IN_LATE_MESSAGE)
		s->error |= testbed_receive(w, &r);
	s->error |= testbed_wait(w, &r, WAIT_NS, TESTBED_BOTH);
	s->error |= testbed_wait(w, &k, WAIT_NS, TESTBED_BOTH);
	model_spoil(s, s->dst, 2 * HOST_PAGE - 1);
}

static void model_script(struct testbed *w, void *arg)
{
	struct stage *s = arg;
	struct testbed_work k;

	model_build(w, s);
	if (s->error)
		return;
	if (s->astray >= IN_MESSAGE) {
		message_script(w, s);
		return;
	}
	k = (struct testbed_work){
		.name = "w", .conn = s->c, .opcode = FL_WRITE,
		.local = s->src, .remote = s->dst,
		.local_va = (uintptr_t)s->src->mem,
		.remote_va = (uintptr_t)s->dst->mem + HOST_PAGE,
		.lkey = s->src->key, .rkey = s->dst->key, .bytes = HOST_PAGE,
	};
	s->error |= testbed_post(w, &k);
	if (s->astray == UNDER_WAY) {
		model_spoil(s, s->dst, HOST_PAGE + 77);
		testbed_model_under_way(w);
	}
	s->error |= testbed_wait(w, &k, WAIT_NS, TESTBED_BOTH);
	if (s->astray == IN_TARGET)
		model_spoil(s, s->dst, 2 * HOST_PAGE - 1);
	if (s->astray == BESIDE)
		model_spoil(s, s->dst, 2 * HOST_PAGE);
	if (s->astray == OTHER_BUFFER || s->astray == IN_SWAP)
		model_spoil(s, s->other, 3 * HOST_PAGE);
	if (s->astray == IN_SOURCE)
		model_spoil(s, s->src, 5);
	if (s->astray == IN_SWAP)
		s->error |= testbed_buffer_advise(s->other, 0, 0, FL_PAGEOUT);
}

static void model_run(enum sim_mode mode, bool processes,
			    enum astray astray, const char *words)
{
	const struct testbed_config cfg = { .mode = mode, .seed = 1,
					  .processes = processes };
	struct stage s = { .astray = astray };
	char error[300], problem[400];
	struct testbed *w = testbed_create(&cfg, error, sizeof(error));
	int err;

	EXPECT(w);
	err = testbed_run(w, model_script, &s);
	snprintf(problem, sizeof(problem), "%s", testbed_problem(w) ?
		 testbed_problem(w) : "nothing");
	testbed_destroy(w);
	STEP("%s: %s", words, problem);
	EXPECT_EQ(s.error, 0);
	EXPECT_EQ(err, astray == NOTHING ? 0 : -EPROTO);
	test_expect(strstr(problem, words), __FILE__, __LINE__,
		    "\"%s\" says \"%s\"", problem, words);
}

static void run_all(enum sim_mode mode, bool processes)
{
	char words[5][60];

	snprintf(words[0], 60, "byte %lu of dst", 2 * HOST_PAGE - 1);
	snprintf(words[1], 60, "byte %lu of dst", 2 * HOST_PAGE);
	snprintf(words[2], 60, "byte %lu of other", 3 * HOST_PAGE);
	model_run(mode, processes, NOTHING, "nothing");
	model_run(mode, processes, IN_TARGET, words[0]);
	model_run(mode, processes, BESIDE, words[1]);
	model_run(mode, processes, OTHER_BUFFER, words[2]);
	model_run(mode, processes, IN_SWAP, words[2]);
	model_run(mode, processes, IN_SOURCE, "byte 5 of src");
	model_run(mode, processes, IN_MESSAGE, words[0]);
	model_run(mode, processes, IN_LATE_MESSAGE, words[0]);
}

TEST("in lockstep a byte that nobody wrote is seen, wherever it lies")
{
	run_all(SIM_LOCKSTEP, false);
}

TEST("in lockstep a wrong byte is seen while the request is under way")
{
	char words[60];

	snprintf(words, sizeof(words), "byte %lu of dst", HOST_PAGE + 77);
	model_run(SIM_LOCKSTEP, false, UNDER_WAY, words);
}

TEST("in threads a byte that nobody wrote is seen, wherever it lies")
{
	run_all(SIM_THREADS, false);
}

#ifndef __SANITIZE_THREAD__
TEST("in processes a byte that nobody wrote is seen, wherever it lies")
{
	run_all(SIM_THREADS, true);
}
#endif
