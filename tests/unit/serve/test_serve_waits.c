// SPDX-License-Identifier: BSD-2-Clause
/*
 * The I/O thread brings pages in itself while the same process has them taken away, unmaps
 * them, is stopped, or ends: it must wait for none of this, so a pair of others goes on
 * all the time, and in the end every frame is found in its place.
 *
 * variants: tsan posix
 */
#include <pthread.h>

#include "faultline/entries.h"
#include "rig/serve_raw.h"

#define PAGES	32u
#define BYTES	(PAGES * RIG_PAGE)
#define ROUNDS	60u
#define TRIES	1000u
#define ENDS	25u

struct waits {
	struct rig_app a;
	uint8_t *src;
	struct fl_mr *mr;
	_Atomic int over;
};

/* Write all of src over mem, through the card; the status, or negative errno. */
static int waits_write(struct waits *w)
{
	struct rig_address me;
	struct fl_work work = { .opcode = FL_WRITE, .local = w->src, .bytes = BYTES,
				.lkey = fl_mr_key(w->mr) };

	RIG_TRY(rig_app_address(&w->a, &me));
	work.remote = me.va;
	work.rkey = me.rkey;
	return rig_app_do(&w->a, &work);
}

/* After an error a queue pair takes no more work. */
static int waits_connect(struct waits *w)
{
	struct rig_address me;

	RIG_TRY(fl_destroy_qp(w->a.qp));
	RIG_TRY(fl_create_qp(w->a.pd, w->a.cq, 64, &w->a.qp));
	RIG_TRY(rig_app_address(&w->a, &me));
	return fl_connect(w->a.qp, &me.qp);
}

static int waits_open(struct waits *w)
{
	memset(w, 0, sizeof(*w));
	RIG_TRY(rig_app_loop(&w->a, BYTES));
	w->src = fl_alloc(w->a.dev, BYTES);
	if (!w->src)
		return -ENOMEM;
	RIG_TRY(fl_reg_mr(w->a.pd, w->src, BYTES, FL_LOCAL_WRITE, &w->mr));
	return 0;
}

/* ---- pages are taken away ---- */

static void *takes_away(void *arg)
{
	struct waits *w = arg;
	uint32_t state = 3, at;
	int bad = 0;

	while (!w->over && !bad) {
		at = rig_random(&state) % PAGES;
		bad |= fl_advise(w->a.dev, w->a.mem + at * RIG_PAGE,
				 (PAGES - at) * RIG_PAGE, FL_PAGEOUT);
		bad |= fl_advise(w->a.dev, w->src, BYTES, FL_PAGEOUT);
	}
	return bad ? w : NULL;
}

/* Memory comes and goes beside it, and takes frames. */
static void *comes_and_goes(void *arg)
{
	struct waits *w = arg;
	uint8_t *mem;
	uint32_t i;

	while (!w->over) {
		mem = fl_alloc(w->a.dev, BYTES);
		if (!mem)
			return w;
		for (i = 0; i < PAGES; i++)
			mem[i * RIG_PAGE] = 1;
		if (fl_free(w->a.dev, mem, BYTES))
			return w;
	}
	return NULL;
}

static int writes_while_taken(void *arg)
{
	void *(*const others[])(void *) = { takes_away, comes_and_goes };
	pthread_t thread[2];
	struct waits w;
	void *bad = NULL, *r;
	uint32_t round, tries, i;
	int err = 0;

	(void)arg;
	RIG_TRY(waits_open(&w));
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, others[i], &w);
	for (round = 1; round <= test_rounds(ROUNDS) && !err; round++) {
		for (i = 0; i < BYTES; i += 512)
			w.src[i] = (uint8_t)(round + i / 512);
		/* Pages may leave again each time; a program then tries once more. */
		err = waits_write(&w);
		for (tries = 0; err == FL_ST_REFUSED_TOO_OFTEN && tries < TRIES; tries++) {
			err = waits_connect(&w);
			err = err ? err : waits_write(&w);
		}
		for (i = 0; i < BYTES && !err; i += 512)
			err = w.a.mem[i] != (uint8_t)(round + i / 512) ? 50 : 0;
	}
	w.over = 1;
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], &r);
		bad = r ? r : bad;
	}
	return err ? err : bad ? 51 : fl_close(w.a.dev) ? 52 : 0;
}

/* With few frames every page that comes takes one that a process has open. */
static void writes_beside_a_pair(const char *const *options)
{
	struct rig_pair p;
	pid_t pid[2];

	rig_start(options);
	rig_pair_start(&p);
	STEP("two processes write, and take away what they write");
	pid[0] = rig_fork(writes_while_taken, NULL);
	pid[1] = rig_fork(writes_while_taken, NULL);
	EXPECT_EQ(rig_wait(pid[0]), 0);
	EXPECT_EQ(rig_wait(pid[1]), 0);
	rig_pair_end(&p, 8);
	rig_end();
}

TEST("the card brings in pages while their process has them taken away")
{
	writes_beside_a_pair(NULL);
}

TEST("the same where each page that comes is taken from somebody")
{
	static const char *const few[] = { "--frames", "96", NULL };

	writes_beside_a_pair(few);
}

/* ---- memory and process go under a request ---- */

/* Its memory goes while the card writes: any status, but there is one. */
static int unmaps_under_writes(void *arg)
{
	struct rig_address me;
	struct fl_completion c;
	struct fl_work work;
	struct waits w;
	int n;

	(void)arg;
	RIG_TRY(waits_open(&w));
	RIG_TRY(rig_app_address(&w.a, &me));
	work = (struct fl_work){ .opcode = FL_WRITE, .local = w.src, .bytes = BYTES,
				 .lkey = fl_mr_key(w.mr), .remote = me.va,
				 .rkey = me.rkey };
	RIG_TRY(fl_post(w.a.qp, &work));
	RIG_TRY(fl_free(w.a.dev, w.src, BYTES));
	RIG_TRY(fl_free(w.a.dev, w.a.mem, BYTES));
	n = fl_wait(w.a.cq, &c, 1, 60000000000ull);
	return n != 1 ? 60 : fl_close(w.a.dev) ? 61 : 0;
}

/* It ends with requests under way; *arg: how. */
static int ends_under_writes(void *arg)
{
	struct rig_address me;
	struct fl_work work;
	struct waits w;
	int i;

	RIG_TRY(waits_open(&w));
	RIG_TRY(rig_app_address(&w.a, &me));
	work = (struct fl_work){ .opcode = FL_WRITE, .local = w.src, .bytes = BYTES,
				 .lkey = fl_mr_key(w.mr), .remote = me.va,
				 .rkey = me.rkey };
	for (i = 0; i < 8; i++)
		RIG_TRY(fl_post(w.a.qp, &work));
	if (*(int *)arg)
		kill(getpid(), SIGKILL);
	return 0;
}

TEST("memory is unmapped, and processes end, while the card brings pages in")
{
	struct rig_pair p;
	int i, killed;

	rig_start(NULL);
	rig_pair_start(&p);
	for (i = 0; i < (int)test_rounds(ENDS); i++) {
		killed = i % 2;
		EXPECT_EQ(rig_app_run(unmaps_under_writes, NULL), 0);
		EXPECT_EQ(rig_app_run(ends_under_writes, &killed),
			  killed ? -SIGKILL : 0);
	}
	rig_pair_end(&p, 8);
	rig_end();
}

/* ---- a call that takes long ---- */

#define MUCH	((size_t)4096 * RIG_PAGE)

/* So many pages are pinned, and given back, that the I/O thread's place is handed over. */
static int registers_much(void *arg)
{
	struct rig_app a;
	struct fl_mr *mr;
	uint32_t i;

	(void)arg;
	RIG_TRY(rig_app_open(&a, 0, MUCH));
	for (i = 0; i < test_rounds(RIG_TSAN ? 4 : 20); i++) {
		RIG_TRY(fl_reg_mr(a.pd, a.mem, MUCH, FL_LOCAL_WRITE | FL_PINNED, &mr));
		RIG_TRY(fl_dereg_mr(mr));
		RIG_TRY(fl_advise(a.dev, a.mem, MUCH, FL_PAGEOUT));
	}
	return fl_close(a.dev);
}

static void registers_beside_a_pair(const char *const *options)
{
	struct rig_pair p;
	pid_t pid[2];

	rig_start(options);
	rig_pair_start(&p);
	pid[0] = rig_fork(registers_much, NULL);
	pid[1] = rig_fork(registers_much, NULL);
	EXPECT_EQ(rig_wait(pid[0]), 0);
	EXPECT_EQ(rig_wait(pid[1]), 0);
	rig_pair_end(&p, 8);
	rig_end();
}

TEST("large regions begin and end beside a pair")
{
	registers_beside_a_pair(NULL);
}

TEST("the same where each page goes into a table of the card's own")
{
	static const char *const npf[] = { "--policy", "npf", NULL };

	registers_beside_a_pair(npf);
}

/* ---- a process that is stopped in the middle ---- */

static int writes_for_long(void *arg)
{
	for (;;) {
		int r = writes_while_taken(arg);

		if (r)
			return r;
	}
}

TEST("a process is stopped at any moment, and nobody waits for it")
{
	static const char *const options[] = { "--frames", "192", "--patience",
					       "60000", NULL };
	uint32_t state = 5, i, before;
	struct rig_pair p;
	pid_t pid;

	rig_start(options);
	rig_pair_start(&p);
	pid = rig_fork(writes_for_long, NULL);
	for (i = 0; i < 12; i++) {
		usleep(1000 + rig_random(&state) % 30000);
		kill(pid, SIGSTOP);
		before = *p.rounds;
		/* The pair needs frames, and some are the stopped one's. */
		while (*p.rounds < before + 4)
			usleep(1000);
		kill(pid, SIGCONT);
	}
	kill(pid, SIGKILL);
	EXPECT_EQ(rig_wait(pid), -SIGKILL);
	rig_pair_end(&p, 8);
	rig_end();
}

/* ---- bells ---- */

static bool is_rung(const struct raw *r, int ms)
{
	struct pollfd p = { .fd = r->sock, .events = POLLIN };
	struct attach_note note;

	return poll(&p, 1, ms) > 0 &&
	       recv(r->sock, &note, sizeof(note), MSG_DONTWAIT) == sizeof(note) &&
	       note.kind == ATTACH_WAKEUP;
}

/* A page comes, and the board is asked to take it away. The command to close it is there. */
static void evict_asked(struct target *t, bool at_it)
{
	const uint64_t advise[4] = { t->mem, RIG_PAGE, FL_PAGEOUT, 0 };
	struct attach_shared *s = t->r.shared;
	uint32_t head;

	t->r.obeys = true;
	EXPECT_EQ(raw_call(&t->r, ATTACH_FAULT, t->mem, 1, 0, 0), 0);
	t->r.obeys = false;
	head = atomic_load(&s->view_head);
	atomic_store(&s->view_begun, head + at_it);
	raw_ask(&t->r, 0, ATTACH_ADVISE, advise, NULL, 0);
	while (atomic_load(&s->view_head) == head)
		os_yield();
}

static void evict_obeyed(struct target *t)
{
	t->r.obeys = true;
	raw_answer(&t->r, 0, 20000);
}

TEST("a process is rung for if none of its threads closes a page, and not if one is at it")
{
	struct target t;

	rig_start(NULL);
	EXPECT_EQ(target_open(&t, 0), 0);
	atomic_store(&t.r.shared->service_asleep, 1);
	STEP("nobody is at it");
	evict_asked(&t, false);
	EXPECT(is_rung(&t.r, 20000));
	evict_obeyed(&t);
	STEP("one is, but takes its time");
	evict_asked(&t, true);
	EXPECT(!is_rung(&t.r, 15));
	evict_obeyed(&t);
	raw_detach(&t.r);
	rig_end();
}
