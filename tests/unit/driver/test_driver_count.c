// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event counters at the driver's edge: how many there are, whose they are, and how sleeping on
 * one ends.
 */
#include "rig/driver.h"

static void count_open(struct rig_node *n)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_NETVM,
			       .resolve = FL_IOC_RESOLVE_BLOCK };

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
}

static uint32_t count_create(struct rig_node *n, struct fl_create_counter *c)
{
	*c = (struct fl_create_counter){ .size = sizeof(*c) };
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, c), 0);
	EXPECT(c->counter && c->mmap_bytes >= sizeof(struct fl_count));
	return c->counter;
}

static long count_destroy(struct rig_node *n, uint32_t counter)
{
	struct fl_destroy d = { .size = sizeof(d), .object = counter };

	return rig_ioctl(n, FL_IOC_DESTROY_COUNTER, &d);
}

static long count_wait(struct rig_node *n, uint32_t counter, uint64_t timeout_ns)
{
	struct fl_wait_counter w = { .size = sizeof(w), .counter = counter,
				     .timeout_ns = timeout_ns };

	return rig_ioctl(n, FL_IOC_WAIT_COUNTER, &w);
}

static void counters_end(struct rig *r)
{
	struct rig_node *n = &r->n[0], *other = &r->n[1];
	struct fl_create_counter c[64], more = { .size = sizeof(more) };
	unsigned int i, k;
	void *word;
	int error;

	count_open(n);
	count_open(other);
	STEP("64 of a process, each with a number and a page of its own");
	for (i = 0; i < 64; i++) {
		count_create(n, &c[i]);
		for (k = 0; k < i; k++)
			EXPECT(c[k].counter != c[i].counter &&
			       c[k].mmap_offset != c[i].mmap_offset);
	}
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, &more), -ENOSPC);
	STEP("the word is memory of the process, and 0");
	word = host_mmap_fd(n->process, n->fd, c[9].mmap_bytes, c[9].mmap_offset, &error);
	EXPECT(word);
	EXPECT_EQ(((struct fl_count *)word)->count, 0);
	EXPECT_EQ(host_munmap_fd(n->process, word, c[9].mmap_bytes), 0);
	STEP("numbers that are nobody's, or another's");
	EXPECT_EQ(count_destroy(n, 0), -ENOENT);
	EXPECT_EQ(count_destroy(n, 60000), -ENOENT);
	EXPECT_EQ(count_wait(n, 60000, 1000), -ENOENT);
	EXPECT_EQ(count_destroy(other, c[0].counter), -ENOENT);
	EXPECT_EQ(count_wait(other, c[0].counter, 1000), -ENOENT);
	STEP("nothing comes");
	EXPECT_EQ(count_wait(n, c[5].counter, 2000), -ETIMEDOUT);
	STEP("one that has gone makes room for another");
	EXPECT_EQ(count_destroy(n, c[5].counter), 0);
	EXPECT_EQ(count_destroy(n, c[5].counter), -ENOENT);
	EXPECT_EQ(count_wait(n, c[5].counter, 2000), -ENOENT);
	count_create(n, &c[5]);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_COUNTER, &more), -ENOSPC);
	STEP("the rest goes with the file");
	EXPECT_EQ(host_close(n->process, n->fd), 0);
	rig_open(n);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
	EXPECT_EQ(host_close(other->process, other->fd), 0);
}

TEST("a process has so many counters, which are its own, and end with its file")
{
	rig_run(counters_end);
}

/* ---- who sleeps on one ---- */

struct sleeper {
	struct rig_node *n;
	uint32_t counter;
	uint64_t timeout_ns;
	long said;
	bool ended;
};

static void sleeper_sleep(void *arg)
{
	struct sleeper *s = arg;

	s->said = count_wait(s->n, s->counter, s->timeout_ns);
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
}

static struct sim_thread *sleeper_start(struct sleeper *s)
{
	struct sim_thread *t = host_thread_start(s->n->process, "sleeper", sleeper_sleep, s);

	EXPECT(t);
	sim_sleep(100000);
	EXPECT(!__atomic_load_n(&s->ended, __ATOMIC_ACQUIRE));
	return t;
}

static void sleepers_wake(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_create_counter c, d;
	struct sleeper one = { .n = n }, two = { .n = n, .timeout_ns = TEST_PATIENCE_NS };
	struct sim_thread *t[2];

	count_open(n);
	one.counter = count_create(n, &c);
	two.counter = count_create(n, &d);
	STEP("one sleeps without limit, one with; the first one's counter goes");
	t[0] = sleeper_start(&one);
	t[1] = sleeper_start(&two);
	EXPECT_EQ(count_destroy(n, c.counter), 0);
	sim_thread_join(t[0]);
	EXPECT_EQ(one.said, -ENOENT);
	EXPECT(!__atomic_load_n(&two.ended, __ATOMIC_ACQUIRE));
	STEP("and the second one's");
	EXPECT_EQ(count_destroy(n, d.counter), 0);
	sim_thread_join(t[1]);
	EXPECT_EQ(two.said, -ENOENT);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("sleeping on a counter ends when the counter does, and no sooner")
{
	rig_run(sleepers_wake);
}

TEST("the same with threads")
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };

	rig_run_with(SIM_THREADS, &p, sleepers_wake, NULL);
}
