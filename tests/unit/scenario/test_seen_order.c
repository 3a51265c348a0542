// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a program may see that polls its memory, and waits for no completion: of two WRITEs on one
 * queue pair, never the second one without the first, however long either is.
 * variants: tsan
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"
#include "tools/scenario/testbed.h"

#define ROUNDS	300u
#define BYTES	(1u << 20)
#define WORDS	(BYTES / 8)
#define WAIT_NS	10000000000ull

/* Of both processes and the scenario: mapped shared before they are there. */
static struct seen {
	struct testbed_process *p[2];	/* 0 writes, 1 looks */
	struct end {
		struct fl_qp *qp;
		struct fl_mr *mr;
		struct fl_address at;
		_Atomic uint64_t *mem;	/* the short one's word, and the long one's behind it */
		uint32_t key;
	} end[2];
	uint32_t bytes;			/* of the long one */
	pthread_t eye;			/* in the second process */
	atomic_bool stop;
	_Atomic uint64_t looks;
	uint64_t wrong;
} *seen;

static int seen_open(struct rpc_app *a, void *arg)
{
	struct end *e = arg;
	int err;

	e->mem = fl_alloc(a->dev, 2 * BYTES);
	if (!e->mem)
		return -1;
	memset((void *)e->mem, 0, 2 * BYTES);
	err = fl_reg_mr(a->pd[0], (void *)e->mem, 2 * BYTES,
			FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_PINNED, &e->mr);
	if (!err)
		err = fl_create_qp(a->pd[0], a->cq, 16, &e->qp);
	if (err)
		return err;
	e->key = fl_mr_key(e->mr);
	return fl_qp_address(e->qp, &e->at);
}

static int seen_join(struct rpc_app *a, void *arg)
{
	struct end *e = arg;

	(void)a;
	return fl_connect(e->qp, &seen->end[e == seen->end].at);
}

/* The second is looked at first. */
static void *seen_look(void *arg)
{
	_Atomic uint64_t *mem = arg;
	uint64_t second, n;

	for (n = 0; !atomic_load_explicit(&seen->stop, memory_order_relaxed); n++) {
		second = atomic_load_explicit(&mem[WORDS + n * 997 % (seen->bytes / 8)],
					      memory_order_acquire);
		seen->wrong += atomic_load_explicit(&mem[0], memory_order_relaxed) < second;
		atomic_store_explicit(&seen->looks, n + 1, memory_order_relaxed);
	}
	return NULL;
}

static int seen_begin(struct rpc_app *a, void *arg)
{
	int err = -pthread_create(&seen->eye, NULL, seen_look,
				  (void *)((struct end *)arg)->mem);

	(void)a;
	/* On a busy machine it may not run for a while. */
	while (!err && !atomic_load(&seen->looks))
		sched_yield();
	return err;
}

static int seen_end(struct rpc_app *a, void *arg)
{
	(void)a;
	(void)arg;
	atomic_store(&seen->stop, true);
	return -pthread_join(seen->eye, NULL);
}

static int seen_post(struct end *e, uint32_t first, uint32_t bytes)
{
	return fl_post(e->qp, &(struct fl_work){
		.opcode = FL_WRITE, .local = (void *)(e->mem + first), .lkey = e->key,
		.remote = (uintptr_t)(seen->end[1].mem + first), .rkey = seen->end[1].key,
		.bytes = bytes,
	});
}

/* Round after round, one more in each word. */
static int seen_write(struct rpc_app *a, void *arg)
{
	struct end *e = arg;
	struct fl_completion c;
	unsigned int round, i, left;
	int n, err = 0;

	for (round = 1; round <= test_rounds(ROUNDS) && !err; round++) {
		e->mem[0] = round;
		for (i = 0; i < seen->bytes / 8; i++)
			atomic_store_explicit(&e->mem[WORDS + i], round, memory_order_relaxed);
		err = seen_post(e, 0, 8);
		if (!err)
			err = seen_post(e, WORDS, seen->bytes);
		for (left = 2; left && !err; left--) {
			n = fl_wait(a->cq, &c, 1, WAIT_NS);
			err = n < 0 ? n : c.status;
		}
	}
	return err;
}

static void seen_script(struct testbed *w, void *arg)
{
	const struct testbed_board_config cfg = { 0 };
	struct testbed_board *board[2];
	unsigned int i;

	(void)arg;
	for (i = 0; i < 2; i++)
		EXPECT_EQ(testbed_board_add(w, i ? "b" : "a", &cfg, &board[i]), 0);
	EXPECT_EQ(testbed_link_add(w, board[0], board[1]), 0);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(testbed_process_add(w, i ? "q" : "p", board[i], FL_SYSTEM_PIN,
					      FL_RESOLVE_PAGE, &seen->p[i]), 0);
		EXPECT_EQ(testbed_in(seen->p[i], seen_open, &seen->end[i]), 0);
	}
	for (i = 0; i < 2; i++)
		EXPECT_EQ(testbed_in(seen->p[i], seen_join, &seen->end[i]), 0);
	EXPECT_EQ(testbed_in(seen->p[1], seen_begin, &seen->end[1]), 0);
	EXPECT_EQ(testbed_in(seen->p[0], seen_write, &seen->end[0]), 0);
	EXPECT_EQ(testbed_in(seen->p[1], seen_end, NULL), 0);
}

static void seen_run(bool processes, uint32_t bytes)
{
	const struct testbed_config cfg = { .mode = SIM_THREADS, .processes = processes,
					    .seed = test_seed() };
	char error[300];
	struct testbed *w;

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(seen != MAP_FAILED);
	seen->bytes = bytes;
	STEP("8 bytes, and %u behind them", bytes);
	w = testbed_create(&cfg, error, sizeof(error));
	test_expect(w, __FILE__, __LINE__, "a testbed: %s", error);
	test_expect(!testbed_run(w, seen_script, NULL), __FILE__, __LINE__, "%s",
		    testbed_problem(w));
	testbed_destroy(w);
	EXPECT_EQ(seen->wrong, 0);
	munmap(seen, sizeof(*seen));
}

static void seen_runs(bool processes)
{
	static const uint32_t bytes[] = { 8, 4096, 65536, BYTES };
	unsigned int i;

	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		seen_run(processes, bytes[i]);
}

TEST("nobody sees the second WRITE without the first, in threads")
{
	seen_runs(false);
}

TEST("nobody sees the second WRITE without the first, in processes")
{
	seen_runs(true);
}
