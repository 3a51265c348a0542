// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread sleeps in the driver, for a counter or for news, without a limit or with one: what
 * wakes it, and what it hears then. And what a file whose card has gone still does: nothing.
 *
 * variants: tsan
 */
#include "rig/driver.h"

/* The thread that sleeps, and what became of it. */
static struct sleeper {
	struct rig_node *n;
	struct sim_thread *thread;
	unsigned int cmd;
	struct fl_wait_counter counter;
	struct fl_next_event news;
	long result;
	bool over;
} sleeper;

static uint32_t counter, srq, row = FL_SYSTEM_NETVM;
static uint64_t limit_ns;	/* 0: none */

static void sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	s->result = rig_ioctl(s->n, s->cmd, s->cmd == FL_IOC_WAIT_COUNTER ?
			      (void *)&s->counter : (void *)&s->news);
	__atomic_store_n(&s->over, true, __ATOMIC_RELEASE);
}

/* It sleeps when this returns: nothing has happened yet. */
static void sleep_begin(struct rig_node *n, unsigned int cmd)
{
	sleeper = (struct sleeper){
		.n = n, .cmd = cmd,
		.counter = { .size = sizeof(sleeper.counter), .counter = counter,
			     .timeout_ns = limit_ns },
		.news = { .size = sizeof(sleeper.news), .timeout_ns = limit_ns },
	};
	sleeper.thread = host_thread_start(n->process, "sleeper", sleeper_main, &sleeper);
	EXPECT(sleeper.thread);
	sim_sleep(1000000);
	EXPECT(!__atomic_load_n(&sleeper.over, __ATOMIC_ACQUIRE));
}

static void sleep_ends(long want)
{
	sim_thread_join(sleeper.thread);
	EXPECT(sleeper.over);
	EXPECT_EQ(sleeper.result, want);
}

static void waits_open(struct rig_node *n)
{
	struct fl_policy p = { .size = sizeof(p), .system = row,
			       .resolve = FL_IOC_RESOLVE_PAGE };
	struct fl_create_counter c = { .size = sizeof(c) };
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_create_srq q = { .size = sizeof(q), .entries = 4 };

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	if (row == FL_SYSTEM_NETVM) {
		EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, &c), 0);
		counter = c.counter;
		return;
	}
	EXPECT_EQ(rig_ioctl(n, FL_IOC_ALLOC_PD, &pd), 0);
	q.pd = pd.pd;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_SRQ, &q), 0);
	srq = q.srq;
}

static unsigned int waits_cmd(void)
{
	return row == FL_SYSTEM_NETVM ? FL_IOC_WAIT_COUNTER : FL_IOC_NEXT_EVENT;
}

/* ---- what is waited for ---- */

static void news_come(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_limit_srq l = { .size = sizeof(l), .limit = 2 };

	waits_open(n);
	sleep_begin(n, FL_IOC_NEXT_EVENT);
	STEP("the shared queue is empty, and that is below its limit");
	l.srq = srq;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_LIMIT_SRQ, &l), 0);
	sleep_ends(0);
	EXPECT_EQ(sleeper.news.type, FL_EV_SRQ_LIMIT);
	EXPECT_EQ(sleeper.news.object, srq);
	STEP("it has been taken: there is no other");
	limit_ns = 1000;
	sleeper.news = (struct fl_next_event){ .size = sizeof(sleeper.news),
					       .timeout_ns = limit_ns };
	EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &sleeper.news), -ETIMEDOUT);
	STEP("what the driver fills in must be empty");
	sleeper.news = (struct fl_next_event){ .size = sizeof(sleeper.news), .object = 1 };
	EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &sleeper.news), -EINVAL);
	sleeper.news = (struct fl_next_event){ .size = sizeof(sleeper.news), .data = 1 };
	EXPECT_EQ(rig_ioctl(n, FL_IOC_NEXT_EVENT, &sleeper.news), -EINVAL);
}

TEST("who waits for news without a limit hears the first")
{
	row = FL_SYSTEM_NPF;
	limit_ns = 0;
	rig_run(news_come);
}

static void counter_goes(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_destroy d = { .size = sizeof(d) };
	struct fl_wait_counter w = { .size = sizeof(w), .timeout_ns = 1000 };

	waits_open(n);
	STEP("no such counter; one that does not rise");
	w.counter = counter + 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_WAIT_COUNTER, &w), -ENOENT);
	w.counter = counter;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_WAIT_COUNTER, &w), -ETIMEDOUT);
	sleep_begin(n, FL_IOC_WAIT_COUNTER);
	STEP("another thread destroys it");
	d.object = counter;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_COUNTER, &d), 0);
	sleep_ends(-ENOENT);
}

TEST("who waits for a counter hears that it is gone")
{
	row = FL_SYSTEM_NETVM;
	for (limit_ns = 0; limit_ns <= TEST_PATIENCE_NS; limit_ns += TEST_PATIENCE_NS)
		rig_run(counter_goes);
}

/* ---- what ends every wait ---- */

static void card_goes(struct rig *r)
{
	struct rig_node *n = &r->n[1];

	waits_open(n);
	sleep_begin(n, waits_cmd());
	host_driver_remove(n->kernel);
	n->removed = true;
	sleep_ends(-ENODEV);
}

static void bank_lost(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_PART,
			       .resolve = FL_IOC_RESOLVE_PAGE };
	struct rig_node *n = &r->n[1];
	int err = 0;

	waits_open(n);
	STEP("back to the process's own tables, of which the SMMU is to forget a page");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	n->buffer = host_mmap(n->process, RIG_BYTES, HOST_READ | HOST_WRITE, NULL, 0, &err);
	rig_fill(n, RIG_PAGE, 1);
	sleep_begin(n, waits_cmd());
	board_inject(n->board, BOARD_NO_SYNC);
	EXPECT_EQ(host_madvise(n->process, n->buffer, RIG_PAGE, HOST_PAGEOUT), 0);
	board_inject(n->board, 0);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_CUT_OFF), 1);
	sleep_ends(-ENODEV);
	STEP("and nothing of the file can be mapped any more");
	EXPECT(!host_mmap_fd(n->process, n->fd, RIG_PAGE, FL_MMAP_DOORBELL, &err));
	EXPECT_EQ(err, -ENODEV);
}

static void waits_each(void (*body)(struct rig *r))
{
	static const uint32_t rows[] = { FL_SYSTEM_NETVM, FL_SYSTEM_NPF };
	int i, limited;

	for (i = 0; i < 2; i++)
		for (limited = 0; limited < 2; limited++) {
			row = rows[i];
			limit_ns = limited ? TEST_PATIENCE_NS : 0;
			STEP("row %u, %s limit", row, limited ? "a" : "no");
			rig_run(body);
		}
}

TEST("a card that goes wakes who waits")
{
	waits_each(card_goes);
}

TEST("a file that is cut off wakes who waits, and maps nothing")
{
	waits_each(bank_lost);
}
