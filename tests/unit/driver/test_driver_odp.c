// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reports that come at the wrong time, with requests that lie, in crowds, and for processes
 * that leave: the driver's side of the card's own tables, against a fake of its registers.
 *
 * variants: tsan
 */
#include "host/remote/remote.h"
#include "rig/nic.h"

/* ---- requests ---- */

/* A request at the head of the send queue, with segments behind it; nobody rings. */
static void odp_request(struct rig_node *n, struct fl_wqe w,
			const struct fl_wqe_more *more, uint32_t entries)
{
	n->sq[0] = w;
	memcpy(&n->sq[1], more, entries * sizeof(*more));
}

static struct fl_fault_rec odp_local(struct rig_node *n, bool write, uint32_t page)
{
	struct fl_fault_rec rec = nic_rec(n, write, page, 8);

	rec.kind = FL_FAULT_WQE;
	rec.side = 0;
	return rec;
}

static void odp_batch(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_TRANSFER);
	uint32_t other = rig_reg_mr(n, nic_at(n, 32), 16 * RIG_PAGE,
				    FL_ACC_LOCAL_WRITE, 0, 0);
	struct fl_wqe w = { .opcode = FL_OP_SEND, .flags = FL_WQE_LIST,
			    .local_va = 4, .length = 4 * 4096 + 8 };
	struct fl_wqe_more more[2] = { {
		.opcode = FL_OP_SEGMENTS,
		.va0 = (uintptr_t)nic_at(n, 1), .bytes0 = 2 * RIG_PAGE, .key0 = n->key,
		.va1 = (uintptr_t)nic_at(n, 34) + 4, .bytes1 = RIG_PAGE, .key1 = other,
		.va2 = (uintptr_t)nic_at(n, 8), .bytes2 = 8, .key2 = n->key,
	}, {
		.opcode = FL_OP_SEGMENTS,
		.va0 = (uintptr_t)nic_at(n, 50), .bytes0 = RIG_PAGE, .key0 = n->key,
	} };

	STEP("one segment after the other, in two regions, with one change of each table");
	odp_request(n, w, more, 2);
	EXPECT_EQ(fake_miss(r, odp_local(n, false, 1)), 0);
	EXPECT(nic_has(n, 1) && nic_has(n, 2) && nic_has(n, 8) && nic_has(n, 50));
	EXPECT_EQ(nic_count(n), 4);
	EXPECT(fake_entry(fake_object(other), nic_at(n, 34)));
	EXPECT(fake_entry(fake_object(other), nic_at(n, 35)));
	EXPECT_EQ(fake.pages, 6);
	STEP("what lies before the byte that was missed is not asked for again");
	EXPECT_EQ(host_madvise(n->process, n->buffer, RIG_BYTES, HOST_DONTNEED), 0);
	EXPECT_EQ(fake.pages, 0);
	EXPECT_EQ(fake_miss(r, odp_local(n, false, 8)), 0);
	EXPECT_EQ(fake.pages, 2);
	STEP("a request of one segment; a READ writes");
	odp_request(n, (struct fl_wqe){ .opcode = FL_OP_READ, .lkey = n->key,
					.local_va = (uintptr_t)nic_at(n, 20),
					.length = 3 * RIG_PAGE }, more, 0);
	EXPECT_EQ(fake_miss(r, odp_local(n, true, 20)), 0);
	EXPECT_EQ(fake.pages, 5);
	EXPECT_EQ(fake_entry(fake_object(n->key), nic_at(n, 22)) & FL_XP_WRITE,
		  FL_XP_WRITE);
	nic_end(n);
}

TEST("all segments of a request come with the first that is missed")
{
	nic_run(odp_batch);
}

/* Of a request that lies, only the page that the card has missed comes. */
static void odp_lies_once(struct rig *r, struct rig_node *n, struct fl_wqe w,
			  const struct fl_wqe_more *more)
{
	uint32_t before;

	EXPECT_EQ(host_madvise(n->process, n->buffer, RIG_BYTES, HOST_DONTNEED), 0);
	before = fake.pages;
	odp_request(n, w, more, 4);
	EXPECT_EQ(fake_miss(r, odp_local(n, false, 1)), 0);
	EXPECT(nic_has(n, 1));
	EXPECT_EQ(fake.pages, before + 1);
	nic_agrees(n);
}

static void odp_lies(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_TRANSFER);
	struct fl_wqe_more more[4] = { {
		.opcode = FL_OP_SEGMENTS,
		.va0 = (uintptr_t)nic_at(n, 1), .bytes0 = 8, .key0 = n->key,
	} };
	struct fl_wqe w = { .opcode = FL_OP_SEND, .flags = FL_WQE_LIST,
			    .local_va = 3 };
	uint64_t x;
	uint32_t i;

	STEP("keys of nobody, ranges that wrap, that no region holds, of nothing");
	more[0].va1 = (uintptr_t)nic_at(n, 4);
	more[0].bytes1 = RIG_PAGE;
	more[0].key1 = n->key + (1 << 20);
	more[0].va2 = UINT64_MAX - 7;
	more[0].bytes2 = ~0u;
	more[0].key2 = n->key;
	odp_lies_once(r, n, w, more);
	more[0].va1 = (uintptr_t)nic_at(n, PAGES - 1);
	more[0].bytes1 = ~0u;
	more[0].key1 = n->key;
	more[0].bytes2 = 0;
	odp_lies_once(r, n, w, more);
	STEP("as many segments as a number can say");
	for (i = 0; i < 3; i++) {
		w.local_va = i == 0 ? UINT64_MAX : i == 1 ? 1ull << 32 : 13;
		odp_lies_once(r, n, w, more);
	}
	STEP("what continues it is something else");
	w.local_va = 12;
	more[0].bytes1 = 0;
	more[1].opcode = FL_OP_WRITE;
	more[1].va0 = (uintptr_t)nic_at(n, 9);
	more[1].bytes0 = 8;
	more[1].key0 = n->key;
	odp_lies_once(r, n, w, more);
	STEP("the request does not name the page at all, or does not exist");
	w = (struct fl_wqe){ .opcode = 255, .lkey = n->key, .length = ~0u,
			     .local_va = (uintptr_t)nic_at(n, 9) };
	odp_lies_once(r, n, w, more);
	STEP("noise, of every kind");
	for (i = 0, x = test_seed() | 1; i < 200; i++) {
		struct fl_wqe_more noise[4];
		uint64_t *word = (uint64_t *)noise;
		uint32_t k;

		for (k = 0; k < sizeof(noise) / 8; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			word[k] = x;
		}
		memcpy(&w, &noise[3], sizeof(w));
		odp_lies_once(r, n, w, noise);
	}
	EXPECT_EQ(rig_counters(n).failed, 0);
	nic_end(n);
}

TEST("a request that lies gets the page that was missed, and nothing else")
{
	nic_run(odp_lies);
}

/* ---- the wrong time ---- */

/*
 * A file whose page comes after a while, so that a worker is between two pages of a
 * region: the first is brought in already, and nothing is loaded yet.
 */
static int slow_read(void *arg, uint64_t offset, void *page)
{
	(void)arg;
	(void)offset;
	memset(page, 5, RIG_PAGE);
	sim_sleep(20 * SLOW);
	return 0;
}

static void slow_put(void *arg)
{
	(void)arg;
}

static const struct host_file_ops slow_ops = { slow_read, slow_put };

/* Two pages: of the file, and before it of memory, in one region. */
static struct fl_fault_rec odp_slow(struct rig_node *n, uint8_t **at)
{
	struct fl_fault_rec rec;
	uint8_t *two;
	int err;

	two = host_mmap_source(n->process, 8 * RIG_PAGE, HOST_READ | HOST_WRITE,
			       &slow_ops, NULL, 8 * RIG_PAGE, 0, &err);
	EXPECT(two);
	EXPECT_EQ(host_remap(n->process, two, RIG_PAGE, HOST_READ | HOST_WRITE), 0);
	rec = nic_rec(n, true, 0, 2 * RIG_PAGE);
	rec.key = rig_reg_mr(n, two, 8 * RIG_PAGE, RIG_ALL, 0, 0);
	rec.va = (uintptr_t)two;
	rec.token = 1u << 23;
	*at = two;
	return rec;
}

static void odp_wait(uint32_t token, int want)
{
	unsigned int i;

	for (i = 0; i < 100000 && fake_answer(token) < 0; i++)
		sim_sleep(10000);
	EXPECT_EQ(fake_answer(token), want);
}

static void odp_races(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_fault_rec rec;
	uint8_t *two;

	rec = odp_slow(n, &two);
	EXPECT(fake_push(r, rec));
	fake_ring(r);
	sim_sleep(5 * SLOW);
	EXPECT_EQ(fake_answer(rec.token), -1);
	STEP("the first page is there, and leaves while the second is waited for");
	EXPECT(nic_walk(n, (uintptr_t)two, false));
	EXPECT_EQ(fake.loads, 0);
	EXPECT_EQ(host_madvise(n->process, two, RIG_PAGE, HOST_DONTNEED), 0);
	odp_wait(rec.token, 0);
	STEP("what was found first was not loaded: the page that is there now is");
	EXPECT_EQ(fake_entry(fake_object(rec.key), two),
		  nic_walk(n, (uintptr_t)two, true) | FL_XP_VALID | FL_XP_WRITE);
	EXPECT_EQ(rig_counters(n).raced, 1);
	nic_end(n);
}

TEST("a page that leaves between coming in and being loaded is brought in again")
{
	nic_run(odp_races);
}

static void odp_storm(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_fault_rec rec = nic_rec(n, true, 0, 2 * RIG_PAGE);
	unsigned int i;

	rec.token = 1;
	EXPECT(fake_push(r, rec));
	irq_set(n->board, IRQ_NIC_EVENT, true);
	STEP("another page of the region leaves, again and again");
	for (i = 0; i < 20000 && fake_answer(rec.token) < 0; i++) {
		EXPECT_EQ(host_madvise(n->process, nic_at(n, 1), RIG_PAGE,
				       HOST_DONTNEED), 0);
		EXPECT_EQ(host_madvise(n->process, nic_at(n, 1), RIG_PAGE,
				       HOST_POPULATE), 0);
	}
	irq_set(n->board, IRQ_NIC_EVENT, false);
	STEP("no error: the card may try, and miss it again");
	EXPECT_EQ(fake_answer(rec.token), 0);
	EXPECT_EQ(rig_counters(n).raced, 8);
	EXPECT_EQ(rig_counters(n).failed, 0);
	EXPECT_EQ(fake.pages, 0);
	STEP("and then it comes");
	rec.token++;
	EXPECT(fake_push(r, rec));
	fake_ring(r);
	odp_wait(rec.token, 0);
	EXPECT_EQ(fake.pages, 2);
	nic_end(n);
}

TEST("pages that leave faster than they come end in another try, not in an error")
{
	nic_run(odp_storm);
}

struct prefetching {
	struct rig_node *n;
	_Atomic int answer;		/* 1: none yet */
};

static void prefetch_main(void *arg)
{
	struct prefetching *p = arg;
	struct fl_prefetch a = {
		.size = sizeof(a), .key = p->n->key,
		.addr = (uintptr_t)nic_at(p->n, 0), .length = 2 * RIG_PAGE,
		.flags = FL_PREFETCH_WRITE,
	};

	p->answer = rig_ioctl(p->n, FL_IOC_PREFETCH, &a);
}

static void prefetch_storm(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct prefetching p = { .n = n, .answer = 1 };
	struct sim_thread *t;
	unsigned int i;

	t = host_thread_start(n->process, "prefetch", prefetch_main, &p);
	for (i = 0; i < 20000 && p.answer == 1; i++) {
		EXPECT_EQ(host_madvise(n->process, nic_at(n, 1), RIG_PAGE,
				       HOST_DONTNEED), 0);
		EXPECT_EQ(host_madvise(n->process, nic_at(n, 1), RIG_PAGE,
				       HOST_POPULATE), 0);
	}
	sim_thread_join(t);
	STEP("%u rounds, raced %u times", i, (unsigned int)rig_counters(n).raced);
	EXPECT_EQ(rig_counters(n).raced, 8);
	EXPECT_EQ(p.answer, 0);
	nic_end(n);
}

TEST("whoever asks for pages beforehand hears nothing of those that leave again")
{
	nic_run(prefetch_storm);
}

static void odp_ends(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_destroy d = { .size = sizeof(d) };
	struct fl_fault_rec rec;
	uint32_t again;
	uint8_t *two;

	rec = odp_slow(n, &two);
	EXPECT(fake_push(r, rec));
	fake_ring(r);
	sim_sleep(5 * SLOW);
	STEP("the region ends, and another one begins at its place");
	d.object = rec.key;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), 0);
	again = rig_reg_mr(n, two, 8 * RIG_PAGE, RIG_ALL, 0, 0);
	odp_wait(rec.token, FL_ST_REMOTE_FAULT);
	EXPECT_EQ(fake.pages, 0);
	STEP("whose pages come for its own key alone");
	rec.key = again;
	rec.token++;
	EXPECT(fake_push(r, rec));
	fake_ring(r);
	odp_wait(rec.token, 0);
	EXPECT_EQ(fake.pages, 2);
	STEP("all is unmapped while a worker is at it");
	rec.token++;
	rec.va += 4 * RIG_PAGE;
	EXPECT(fake_push(r, rec));
	fake_ring(r);
	sim_sleep(5 * SLOW);
	EXPECT_EQ(host_munmap(n->process, two, 8 * RIG_PAGE), 0);
	EXPECT_EQ(fake.pages, 0);
	/* Before it, or after. */
	while (fake_answer(rec.token) < 0)
		sim_sleep(SLOW);
	EXPECT_EQ(fake.pages, 0);
	nic_end(n);
}

TEST("a region that ends during a fault loads nothing, and the token hears an error")
{
	nic_run(odp_ends);
}

/* At each moment of a fault: the file is closed, and nothing is left in the card. */
static void odp_leaves(struct rig *r)
{
	struct rig_node *n = &r->n[1];
	struct fl_fault_rec rec;
	unsigned int i, k;
	uint8_t *two;

	for (i = 0; i < 40; i++) {
		n = nic_begin(r, FL_IOC_RESOLVE_TRANSFER);
		rec = odp_slow(n, &two);
		for (k = 0; k < 4; k++) {
			rec.token = i * 4 + k;
			EXPECT(fake_push(r, rec));
			rec.va += RIG_PAGE;
		}
		fake_ring(r);
		sim_sleep(i * SLOW);
		rig_close(n);
		EXPECT_EQ(fake.pages, 0);
		EXPECT_EQ(host_munmap(n->process, two, 8 * RIG_PAGE), 0);
	}
	STEP("every token has been answered, once");
	for (i = 0; i < 160; i++)
		odp_wait(i, fake_answer(i) ? FL_ST_REMOTE_FAULT : 0);
	EXPECT_EQ(fake.tokens, 160);
	EXPECT_EQ(fake.pages, 0);
	EXPECT_EQ(fake.bad, 0);
}

TEST("a process that leaves with tokens open leaves nothing behind")
{
	nic_run(odp_leaves);
}

static void odp_full(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_fault_rec rec = nic_rec(n, true, 0, 8);
	uint32_t pushed = 0, lost = 0;

	STEP("more than the ring holds, while nobody looks");
	while (pushed < 2500) {
		rec.token = pushed;
		rec.va = (uintptr_t)nic_at(n, pushed % PAGES);
		if (fake_push(r, rec)) {
			pushed++;
			continue;
		}
		lost++;
		fake_ring(r);
	}
	EXPECT_GE(lost, 2);
	while (fake.tokens < pushed) {
		fake_ring(r);
		sim_sleep(SLOW);
	}
	STEP("each was answered once");
	while (pushed--)
		EXPECT_EQ(fake_answer(pushed), 0);
	EXPECT_EQ(fake.tokens, 2500);
	EXPECT_EQ(fake.prod, fake.cons);
	EXPECT_EQ(nic_count(n), PAGES);
	nic_end(n);
}

TEST("a ring that is full loses nothing and answers everybody once")
{
	nic_run(odp_full);
}

static void odp_mute(struct rig *r)
{
	struct rig_node *n = nic_begin(r, FL_IOC_RESOLVE_BLOCK);
	struct fl_counters c;

	EXPECT_EQ(fake_miss(r, nic_rec(n, true, 3, 8)), 0);
	STEP("the card does not say that it is through with what was zapped");
	fake.sync_error = -ETIMEDOUT;
	EXPECT_EQ(host_madvise(n->process, nic_at(n, 3), RIG_PAGE,
			       HOST_DONTNEED), 0);
	c = rig_counters(n);
	EXPECT_EQ(c.lost_syncs, 1);
	STEP("the process has lost its card");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &(struct fl_query){
		.size = sizeof(struct fl_query) }), -ENODEV);
	EXPECT_EQ(fake_miss(r, nic_rec(n, true, 4, 8)), FL_ST_REMOTE_FAULT);
	EXPECT_EQ(fake.pages, 0);
	rig_close(n);
}

TEST("a card that does not answer for its table is taken from the process")
{
	nic_run(odp_mute);
}
