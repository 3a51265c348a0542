// SPDX-License-Identifier: BSD-2-Clause
/*
 * The driver reads requests before the card does (fl_snoop.c): what the card is shown and
 * when, what a process can do to the page that it publishes in, and how it ends.
 */
#include "faultline/snoop.h"
#include "faultline/window.h"
#include "os/os.h"
#include "rig/driver.h"

#define LEN	(64u * 1024)
/* Of the test's own profile: times at which something else can be done. */
#define HIT_NS	3500u
#define IRQ_NS	2000u

static struct fl_snoop_page *snoop_page(struct rig_node *n)
{
	return (struct fl_snoop_page *)n->doorbell;
}

static void snoop_pair(struct rig *r)
{
	rig_pair(r, FL_SYSTEM_IOGUARD, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], LEN, 1);
	rig_fill(&r->n[1], LEN, 2);
}

static uint32_t *snoop_word(struct rig_node *n)
{
	return &snoop_page(n)->sq[n->qp % FL_SNOOP_QUEUES];
}

static long snoop_wake(struct rig_node *n)
{
	struct fl_snoop_call c = { .size = sizeof(c) };

	return rig_ioctl(n, FL_IOC_SNOOP, &c);
}

static struct fl_wqe *snoop_put(struct rig *r, uint8_t opcode, uint32_t from,
				uint32_t len)
{
	struct rig_node *n = &r->n[0];
	struct fl_wqe *w = &n->sq[n->posted % RIG_QUEUE];

	*w = (struct fl_wqe){
		.opcode = opcode, .flags = FL_WQE_SIGNALED, .index = n->posted,
		.length = len, .local_va = (uintptr_t)n->buffer + from,
		.remote_va = (uintptr_t)r->n[1].buffer, .lkey = n->key,
		.rkey = r->n[1].key, .wr_id = n->posted, .xfer = 1u + n->posted,
	};
	n->posted++;
	return w;
}

/* Any count, as a process can write it. */
static void snoop_publish(struct rig_node *n, uint32_t word)
{
	__atomic_store_n(snoop_word(n), word, __ATOMIC_SEQ_CST);
	if (snoop_page(n)->asleep)
		EXPECT_EQ(snoop_wake(n), 0);
}

static int snoop_wait(struct rig_node *n)
{
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;

	while (!rig_look(n)) {
		EXPECT_GE(end_ns, os_now_ns());
		sim_sleep(1000);
	}
	return n->cqe[n->taken++ % RIG_QUEUE].status;
}

static void page_out(struct rig_node *n, uint32_t from, uint32_t len)
{
	EXPECT_EQ(host_madvise(n->process, n->buffer + from, len, HOST_PAGEOUT),
		  0);
}

/* ---- what it is for ---- */

static void local_side(struct rig *r)
{
	struct fl_counters c;

	snoop_pair(r);
	page_out(&r->n[0], 0, LEN);
	page_out(&r->n[1], 0, LEN);
	snoop_put(r, FL_OP_WRITE, 0, LEN);
	snoop_publish(&r->n[0], 1);
	EXPECT_EQ(snoop_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	c = rig_counters(&r->n[0]);
	EXPECT_EQ(c.faults, 0);
	EXPECT_EQ(c.pages_in, LEN / RIG_PAGE);
	EXPECT_GE(rig_counters(&r->n[1]).faults_dst, 1);

	STEP("a READ: the other way round");
	page_out(&r->n[0], 0, LEN);
	page_out(&r->n[1], 0, LEN);
	snoop_put(r, FL_OP_READ, 0, LEN);
	snoop_publish(&r->n[0], 2);
	EXPECT_EQ(snoop_wait(&r->n[0]), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(rig_counters(&r->n[0]).faults, 0);
	EXPECT_GE(rig_counters(&r->n[1]).faults_src, 1);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_SNOOP), 2);
}

TEST("pages at this end are there before the card looks; those at the other end are not")
{
	rig_run(local_side);
}

static void one_page_missing(struct rig *r)
{
	struct fl_counters c;

	snoop_pair(r);
	page_out(&r->n[0], 5 * RIG_PAGE, RIG_PAGE);
	c = rig_counters(&r->n[0]);
	snoop_put(r, FL_OP_WRITE, 0, LEN);
	snoop_publish(&r->n[0], 1);
	EXPECT_EQ(snoop_wait(&r->n[0]), FL_ST_OK);
	EXPECT_EQ(rig_counters(&r->n[0]).pages_in - c.pages_in, 1);
	EXPECT_EQ(rig_counters(&r->n[0]).resolves - c.resolves, 1);
	STEP("and none: the kernel is not asked at all");
	snoop_put(r, FL_OP_WRITE, 0, LEN);
	snoop_publish(&r->n[0], 2);
	EXPECT_EQ(snoop_wait(&r->n[0]), FL_ST_OK);
	EXPECT_EQ(rig_counters(&r->n[0]).resolves - c.resolves, 1);
}

TEST("the kernel is asked for the pages that are missing, and for no others")
{
	rig_run(one_page_missing);
}

static void taken_again(struct rig *r)
{
	snoop_pair(r);
	page_out(&r->n[0], 0, LEN);
	STEP("reclaim takes the last page away as soon as it is there");
	host_inject_reclaim(LEN / RIG_PAGE);
	snoop_put(r, FL_OP_WRITE, 0, LEN);
	snoop_publish(&r->n[0], 1);
	EXPECT_EQ(snoop_wait(&r->n[0]), FL_ST_OK);
	EXPECT_EQ(host_inject_reclaim(0), 0);
	rig_same(r, LEN);
	EXPECT_EQ(rig_counters(&r->n[0]).faults_src, 1);
}

TEST("a page that leaves between the look and the card is a fault like any other")
{
	rig_run(taken_again);
}

/* ---- what is published, and when ---- */

static void not_yet(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	unsigned int i;

	snoop_pair(r);
	for (i = 0; i < 3; i++)
		snoop_put(r, FL_OP_WRITE, 0, RIG_PAGE);
	STEP("entries are there, and none is published");
	EXPECT_EQ(snoop_wake(n), 0);
	sim_sleep(100000);
	EXPECT_EQ(trace_count(r->trace, EV_FW_WQE), 0);
	EXPECT_EQ(trace_count(r->trace, EV_DRV_SNOOP), 0);
	STEP("one is");
	snoop_publish(n, 1);
	EXPECT_EQ(snoop_wait(n), FL_ST_OK);
	sim_sleep(100000);
	EXPECT_EQ(trace_count(r->trace, EV_FW_WQE), 1);
	STEP("published, and nobody wakes the worker: nothing comes of it");
	*snoop_word(n) = 3;
	sim_sleep(100000);
	EXPECT_EQ(trace_count(r->trace, EV_FW_WQE), 1);
	EXPECT_EQ(snoop_wake(n), 0);
	EXPECT_EQ(snoop_wait(n), FL_ST_OK);
	EXPECT_EQ(snoop_wait(n), FL_ST_OK);
}

TEST("the card reads no entry that was not published")
{
	rig_run(not_yet);
}

static void other_page(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_wqe *w;

	snoop_pair(r);
	rig_fill(n, RIG_BYTES, 3);
	page_out(n, 0, RIG_BYTES);
	STEP("after it was read the request names other pages, which nobody brought in");
	w = snoop_put(r, FL_OP_WRITE, 0, RIG_PAGE);
	r->timing.v[T_SNOOP_MISS] = 1000000;
	snoop_publish(n, 1);
	sim_sleep(500000);
	EXPECT_EQ(trace_count(r->trace, EV_FW_WQE), 0);
	w->local_va += 8 * RIG_PAGE;
	EXPECT_EQ(snoop_wait(n), FL_ST_OK);
	EXPECT_EQ(rig_counters(n).faults_src, 1);
	STEP("or no region's");
	w = snoop_put(r, FL_OP_WRITE, 0, RIG_PAGE);
	page_out(n, 0, RIG_PAGE);
	snoop_publish(n, 2);
	sim_sleep(500000);
	w->local_va = (uintptr_t)n->buffer + RIG_BYTES;
	EXPECT_EQ(snoop_wait(n), FL_ST_LOCAL_RANGE);
}

TEST("what a process changes after publishing is judged by the card, as ever")
{
	rig_run(other_page);
}

static void bad_requests(struct rig *r)
{
	static const struct {
		uint64_t va;
		uint32_t len;
		uint8_t opcode;
	} bad[] = {
		{ 0, 0, FL_OP_WRITE },
		{ ~0ull - 10, 100, FL_OP_WRITE },
		{ ~0ull, ~0u, FL_OP_READ },
		{ 1ull << 47, ~0u, FL_OP_WRITE },
		{ 0, 4096, 77 },
	};
	struct rig_node *n = &r->n[0];
	struct fl_wqe *w;
	unsigned int i;
	int status[2][5];
	int snoops;

	for (snoops = 0; snoops < 2; snoops++)
		for (i = 0; i < 5; i++) {
			rig_pair(r, snoops ? FL_SYSTEM_IOGUARD : FL_SYSTEM_PART,
				 FL_IOC_RESOLVE_BLOCK, 0);
			w = snoop_put(r, bad[i].opcode, 0, bad[i].len);
			w->local_va = bad[i].va;
			if (snoops)
				snoop_publish(n, 1);
			else
				host_mmio_write32(n->process,
						  n->doorbell + NIC_DB_SQ,
						  n->qp | 1u << 16);
			status[snoops][i] = snoop_wait(n);
			rig_close(&r->n[0]);
			rig_close(&r->n[1]);
		}
	EXPECT_MEM(status[1], status[0], sizeof(status[0]));
	for (i = 0; i < 5; i++)
		EXPECT_NE(status[0][i], FL_ST_OK);
}

TEST("a request that is nonsense ends with the status that it has without the worker")
{
	rig_run(bad_requests);
}

/* ---- nonsense in the page ---- */

/* Both ends of a comparison: what the same count does in the card's own page. */
static int count_status(struct rig *r, uint32_t system, uint16_t count)
{
	struct rig_node *n = &r->n[0];
	int status = -1;

	rig_pair(r, system, FL_IOC_RESOLVE_BLOCK, 0);
	snoop_put(r, FL_OP_WRITE, 0, RIG_PAGE);
	if (system == FL_SYSTEM_IOGUARD)
		snoop_publish(n, count);
	else
		host_mmio_write32(n->process, n->doorbell + NIC_DB_SQ,
				  n->qp | (uint32_t)count << 16);
	sim_sleep(1000000);
	if (rig_look(n))
		status = n->cqe[0].status;
	rig_close(&r->n[0]);
	rig_close(&r->n[1]);
	return status;
}

static void count_nonsense(struct rig *r)
{
	static const uint16_t counts[] = { 0, 1, RIG_QUEUE, RIG_QUEUE + 1, 255,
					   32768, 65535 };
	unsigned int i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		STEP("published: %u", counts[i]);
		EXPECT_EQ(count_status(r, FL_SYSTEM_IOGUARD, counts[i]),
			  count_status(r, FL_SYSTEM_PART, counts[i]));
	}
}

TEST("a count that cannot be does what it does in the card's own page")
{
	rig_run(count_nonsense);
}

static void page_nonsense(struct rig *r)
{
	struct rig_node *n = &r->n[0], *peer = &r->n[1];
	struct fl_snoop_page *page;
	unsigned int i, round;
	uint32_t *word;

	snoop_pair(r);
	page = snoop_page(n);
	for (round = 0; round < 4; round++) {
		STEP("every word but those of the process's own queues, round %u", round);
		for (i = 0; i < FL_SNOOP_QUEUES; i++) {
			if (i != n->qp % FL_SNOOP_QUEUES)
				page->sq[i] = 0x9e3779b9u * (i + 1 + round);
			if (i != n->cq % FL_SNOOP_QUEUES)
				page->cq[i] = 0x85ebca6bu * (i + 7 + round);
		}
		for (word = (uint32_t *)(page + 1);
		     word < (uint32_t *)((char *)page + FL_SNOOP_BYTES); word++)
			*word = ~0u;
		page->asleep = 0x55555555u * (round & 1);
		EXPECT_EQ(snoop_wake(n), 0);
		sim_sleep(100000);
	}
	STEP("the card heard of none, and a request is carried out as ever");
	EXPECT_EQ(trace_count(r->trace, EV_FW_WQE), 0);
	snoop_put(r, FL_OP_WRITE, 0, LEN);
	*snoop_word(n) = 1;
	EXPECT_EQ(snoop_wake(n), 0);
	EXPECT_EQ(snoop_wait(n), FL_ST_OK);
	rig_same(r, LEN);
	EXPECT_EQ(rig_counters(peer).failed, 0);
}

TEST("words of queues that are not the process's own are not looked at")
{
	rig_run(page_nonsense);
}

static void count_runs_away(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint32_t i;

	snoop_pair(r);
	STEP("completion queue: counts that run away, faster than they are read");
	/* The card refuses each, as it does when they are written to its page. */
	for (i = 1; i <= 300; i++) {
		snoop_page(n)->cq[n->cq % FL_SNOOP_QUEUES] = i << 16;
		EXPECT_EQ(snoop_wake(n), 0);
		sim_sleep(100);
	}
	sim_sleep(100000);
	r->bad_regs = (unsigned int)trace_count(r->trace, EV_ENG_BAD_REG);
	EXPECT_GE(r->bad_regs, 1);
	EXPECT_LE(r->bad_regs, 300);
	STEP("the other process is served all the while, and this one still is");
	snoop_put(r, FL_OP_WRITE, 0, LEN);
	snoop_publish(n, 1);
	EXPECT_EQ(snoop_wait(n), FL_ST_OK);
	rig_same(r, LEN);
}

TEST("a process that publishes without end gets what it got, and others too")
{
	rig_run(count_runs_away);
}

/* ---- rows and pages ---- */

static void page_kinds(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_IOGUARD,
			       .resolve = FL_IOC_RESOLVE_BLOCK };
	struct fl_query q = { .size = sizeof(q) };
	struct fl_snoop_call c = { .size = sizeof(c) };
	struct rig_node *n = &r->n[0];
	struct fl_snoop_page *page;
	int err;

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_SNOOP, &c), -EINVAL);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.doorbell, FL_DOORBELL_SNOOP);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_SNOOP, &c), 0);
	c.reserved = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_SNOOP, &c), -EINVAL);
	EXPECT(!host_mmap_fd(n->process, n->fd, 2 * RIG_PAGE, FL_MMAP_DOORBELL,
			     &err));
	EXPECT_EQ(err, -EINVAL);
	page = host_mmap_fd(n->process, n->fd, RIG_PAGE, FL_MMAP_DOORBELL, &err);
	EXPECT(page);
	EXPECT_EQ(page->alive, 1);
	STEP("another row: another page, and this one says so");
	p.system = FL_SYSTEM_PART;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.doorbell, FL_DOORBELL_STORE);
	EXPECT_EQ(page->alive, 0);
	EXPECT_EQ(host_munmap_fd(n->process, page, RIG_PAGE), 0);
	STEP("not while there are queues, which would be rung in two places");
	rig_set_up(n, 0);
	p.system = FL_SYSTEM_IOGUARD;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EBUSY);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.system, FL_SYSTEM_PART);
	rig_close(n);
}

TEST("a row brings its doorbell page along, while there are no queues")
{
	rig_run(page_kinds);
}

static void numbers_again(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	unsigned int i;

	for (i = 0; i < 6; i++) {
		snoop_pair(r);
		snoop_put(r, FL_OP_WRITE, 0, LEN);
		snoop_publish(n, 1);
		EXPECT_EQ(snoop_wait(n), FL_ST_OK);
		rig_same(r, LEN);
		rig_close(&r->n[0]);
		rig_close(&r->n[1]);
	}
}

TEST("queues that get the numbers of earlier ones begin at nothing")
{
	rig_run(numbers_again);
}

/* ---- the end ---- */

static void close_at(struct rig *r)
{
	unsigned int at, reading = 0;

	for (at = 0; at < 400000; at += 9973) {
		snoop_pair(r);
		page_out(&r->n[0], 0, LEN);
		snoop_put(r, FL_OP_WRITE, 0, LEN);
		snoop_put(r, FL_OP_READ, 0, LEN);
		snoop_publish(&r->n[0], 2);
		sim_sleep(at);
		reading += !rig_look(&r->n[0]) && !snoop_page(&r->n[0])->asleep;
		rig_close(&r->n[0]);
		rig_close(&r->n[1]);
	}
	EXPECT_GE(reading, 3);
}

TEST("a file closes at any moment of the worker")
{
	rig_run(close_at);
}

static void leave_reading(struct rig *r)
{
	snoop_pair(r);
	page_out(&r->n[0], 0, LEN);
	snoop_put(r, FL_OP_WRITE, 0, LEN);
	snoop_publish(&r->n[0], 1);
	sim_sleep(HIT_NS + IRQ_NS);
}

TEST("a process that ends while its request is being read leaves nothing behind")
{
	/* rig_down() ends it with everything open and checks the kernel. */
	rig_run(leave_reading);
}

static void remove_reading(struct rig *r)
{
	struct rig_node *n = &r->n[0];

	host_driver_remove(n->kernel);
	n->removed = true;
	EXPECT_EQ(snoop_page(n)->alive, 0);
}

TEST("the driver goes while a request is being read, and the page says so")
{
	struct host_driver_params p = { 0 };

	rig_run_with(SIM_LOCKSTEP, &p, leave_reading, remove_reading);
}

static void from_the_board(struct rig *r)
{
	struct fl_query q = { .size = sizeof(q) };
	struct rig_node *n = &r->n[0];

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.system, FL_SYSTEM_IOGUARD);
	EXPECT_EQ(q.doorbell, FL_DOORBELL_SNOOP);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
	snoop_pair(r);
	snoop_put(r, FL_OP_WRITE, 0, LEN);
	snoop_publish(n, 1);
	EXPECT_EQ(snoop_wait(n), FL_ST_OK);
	rig_same(r, LEN);
}

TEST("a board can have the row for all of its processes")
{
	struct host_driver_params p = { .system = FL_SYSTEM_IOGUARD,
					.resolve = FL_IOC_RESOLVE_BLOCK };

	rig_run_with(SIM_LOCKSTEP, &p, from_the_board, NULL);
	rig_run_with(SIM_THREADS, &p, from_the_board, NULL);
}

static void no_memory(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEM_IOGUARD,
			       .resolve = FL_IOC_RESOLVE_BLOCK };
	struct fl_query q = { .size = sizeof(q) };
	struct rig_node *n = &r->n[0];
	long err = -ENOMEM;
	unsigned int i;

	rig_open(n);
	for (i = 1; err; i++) {
		EXPECT_EQ(err, -ENOMEM);
		host_inject_driver_error(i);
		err = rig_ioctl(n, FL_IOC_POLICY, &p);
		EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
		EXPECT_EQ(q.system, err ? FL_SYSTEM_PART : FL_SYSTEM_IOGUARD);
		EXPECT_EQ(q.doorbell, err ? FL_DOORBELL_STORE : FL_DOORBELL_SNOOP);
	}
	host_inject_driver_error(0);
	EXPECT_GE(i, 3);
	EXPECT_EQ(host_close(n->process, n->fd), 0);
}

TEST("without memory for the page the row stays what it was")
{
	rig_run(no_memory);
}
