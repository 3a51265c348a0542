// SPDX-License-Identifier: BSD-2-Clause
/*
 * Row npr at the driver's edge, without the library: where the tables lead, what the
 * words say and when, that nobody reads what somebody wrote to nowhere, and calls in a
 * ring, right ones and hostile ones.
 *
 * variants: tsan
 */
#include "faultline/bounce.h"
#include "rig/tables.h"

#define PAGES	(RIG_BYTES / RIG_PAGE)
#define PATTERN	0xa6a6a6a6a6a6a6a6ull
#define CARD	(FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_READ)

/* Beside the rig's buffer of node 1: words of it, and a ring. */
static struct sink {
	uint8_t *words, *ring;
	uint32_t words_key, ring_key, key;
} sink;

static void *sink_memory(struct rig_node *n, uint64_t bytes)
{
	int err;
	void *mem = host_mmap(n->process, bytes, HOST_READ | HOST_WRITE, NULL, 0,
			      &err);

	EXPECT(mem);
	return mem;
}

static long sink_reg(struct rig_node *n, void *at, uint64_t bytes,
		     uint32_t access, uint32_t flags, uint64_t words,
		     uint32_t *key)
{
	struct fl_reg_mr m = { .size = sizeof(m), .pd = n->pd, .length = bytes,
			       .addr = (uintptr_t)at, .access = access,
			       .flags = flags, .words = words };
	long ret = rig_ioctl(n, FL_IOC_REG_MR, &m);

	*key = m.key;
	return ret;
}

static uint32_t sink_word(struct rig_node *n, uint32_t page)
{
	uint32_t w = 0;

	EXPECT_EQ(mm_copy(host_process_mm(n->process),
			  (uintptr_t)sink.words + page * sizeof(w), &w,
			  sizeof(w), false), 0);
	return w;
}

static void sink_put(struct rig_node *n, uint8_t *at, const void *bytes,
		     uint64_t len)
{
	EXPECT_EQ(mm_copy(host_process_mm(n->process), (uintptr_t)at,
			  (void *)(uintptr_t)bytes, len, true), 0);
}

static void sink_begin(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint64_t bytes = PAGES * sizeof(uint32_t);

	rig_pair(r, FL_SYSTEM_NPR, FL_IOC_RESOLVE_PAGE, 0);
	sink.words = sink_memory(b, RIG_PAGE);
	sink.ring = sink_memory(b, FL_RING_BYTES);
	EXPECT_EQ(sink_reg(b, sink.words, bytes, CARD, FL_MR_PINNED, 0,
			   &sink.words_key), 0);
	EXPECT_EQ(sink_reg(b, sink.ring, FL_RING_BYTES, RIG_ALL,
			   FL_MR_PINNED | FL_MR_RING, 0, &sink.ring_key), 0);
	/* In place of the rig's, which has no words. */
	tables_dereg(b, b->key);
	EXPECT_EQ(sink_reg(b, b->buffer, RIG_BYTES, RIG_ALL, 0,
			   (uintptr_t)sink.words, &b->key), 0);
}

static long sink_prefetch(struct rig_node *n, uint32_t page, uint32_t pages)
{
	struct fl_prefetch p = { .size = sizeof(p), .key = n->key,
				 .addr = (uintptr_t)n->buffer + page * RIG_PAGE,
				 .length = pages * RIG_PAGE };

	return rig_ioctl(n, FL_IOC_PREFETCH, &p);
}

static void sink_words(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint32_t first, i, w;

	sink_begin(r);
	STEP("nothing is there: every entry leads to the pattern, for reading alone");
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(tables_card(b, i, false), PATTERN);
		EXPECT_EQ(tables_card(b, i, true), ~0ull);
		EXPECT_EQ(sink_word(b, i) & 1, 1);
	}
	EXPECT_EQ(tables_stats(b).frames_pinned, 1 + FL_RING_BYTES / RIG_PAGE);
	STEP("the CPU has it, and the card does not know yet");
	tables_write(b, 3, 77);
	EXPECT_EQ(tables_card(b, 3, false), PATTERN);
	EXPECT_EQ(sink_word(b, 3) & 1, 1);
	STEP("asked for: the frame, to be written, and an even word");
	EXPECT_EQ(sink_prefetch(b, 2, 3), 0);
	for (i = 0; i < PAGES; i++) {
		bool there = i >= 2 && i < 5;

		EXPECT_EQ(tables_card(b, i, true), !there ? ~0ull :
			  i == 3 ? 77 : 0);
		EXPECT_EQ(sink_word(b, i) & 1, !there);
	}
	EXPECT_EQ(rig_counters(b).pinned_pages, 1 + FL_RING_BYTES / RIG_PAGE);
	first = sink_word(b, 3);
	STEP("asked for again: nothing changes");
	EXPECT_EQ(sink_prefetch(b, 2, 3), 0);
	EXPECT_EQ(sink_word(b, 3), first);
	STEP("the page leaves and comes back: even again, and another word");
	EXPECT_EQ(host_madvise(b->process, b->buffer + 3 * RIG_PAGE, RIG_PAGE,
			       HOST_PAGEOUT), 0);
	EXPECT_EQ(tables_card(b, 3, false), PATTERN);
	EXPECT_EQ(sink_word(b, 3) & 1, 1);
	EXPECT_EQ(sink_word(b, 2) & 1, 0);
	EXPECT_EQ(sink_prefetch(b, 3, 1), 0);
	w = sink_word(b, 3);
	EXPECT_EQ(w & 1, 0);
	EXPECT_GE(w, first + 2);
	EXPECT_EQ(tables_card(b, 3, true), 77);
	STEP("read-only for the process: gone for a region that writes");
	EXPECT_EQ(host_mprotect(b->process, b->buffer + 3 * RIG_PAGE, RIG_PAGE,
				HOST_READ), 0);
	EXPECT_EQ(sink_word(b, 3) & 1, 1);
	EXPECT_EQ(sink_prefetch(b, 3, 1), -EACCES);
	EXPECT_EQ(sink_word(b, 3) & 1, 1);
	EXPECT(!host_check(b->kernel, true));
}

TEST("an entry leads to the page or to the pattern, and its word says which")
{
	rig_run(sink_words);
}

static void sink_vanishes(struct rig *r)
{
	struct rig_node *a = &r->n[0], *b = &r->n[1];
	uint64_t free;

	sink_begin(r);
	rig_fill(a, RIG_BYTES, 1);
	EXPECT_EQ(sink_prefetch(a, 0, PAGES), 0);
	free = tables_stats(b).frames_free;
	STEP("a WRITE to nothing ends well, and no page comes for it");
	rig_post(r, FL_OP_WRITE, 0, 0, 8 * RIG_PAGE);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	EXPECT_EQ(tables_stats(b).frames_free, free);
	STEP("nobody can read what was written there: the pattern is whole");
	rig_post(r, FL_OP_READ, 16 * RIG_PAGE, 0, 8 * RIG_PAGE);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	EXPECT_EQ(tables_word(a, 16), PATTERN);
	EXPECT_EQ(tables_card(b, 0, false), PATTERN);
	EXPECT_EQ(tables_word(b, 0), 0);
	EXPECT_EQ(rig_counters(b).faults, 0);
	STEP("what is there is written");
	EXPECT_EQ(sink_prefetch(b, 0, 8), 0);
	rig_post(r, FL_OP_WRITE, 0, 0, 8 * RIG_PAGE);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	rig_same(r, 8 * RIG_PAGE);
}

TEST("what is written to an absent page vanishes, and nobody can read it")
{
	rig_run(sink_vanishes);
}

/* The receiver's own CPU plays the peer that writes the call. */
static struct fl_ring_answer sink_call(struct rig *r, struct fl_ring_call call)
{
	struct rig_node *a = &r->n[0], *b = &r->n[1];
	static uint32_t number;
	struct fl_ring_answer answer = { 0 };
	unsigned int i;

	call.number = ++number;
	sink_put(b, sink.ring + FL_RING_CALL, &call, sizeof(call));
	sink_put(b, sink.ring + FL_RING_NUMBER, &number, sizeof(number));
	/* The bell: a WRITE over the wire that the SMMU refuses. */
	a->sq[a->posted % RIG_QUEUE] = (struct fl_wqe){
		.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED,
		.index = a->posted, .length = 4,
		.local_va = (uintptr_t)a->buffer, .lkey = a->key,
		.remote_va = (uintptr_t)sink.ring + FL_RING_BELL,
		.rkey = sink.ring_key, .xfer = 1000 + number };
	a->posted++;
	host_mmio_write32(a->process, a->doorbell + NIC_DB_SQ,
			  a->qp | (uint32_t)a->posted << 16);
	EXPECT_EQ(rig_wait(a), FL_ST_OK);
	for (i = 0; i < 1000 && answer.number != number; i++) {
		sim_sleep(10000);
		EXPECT_EQ(mm_copy(host_process_mm(b->process),
				  (uintptr_t)sink.ring + FL_RING_ANSWER, &answer,
				  sizeof(answer), false), 0);
	}
	EXPECT_EQ(answer.number, number);
	return answer;
}

static void sink_calls(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_ring_call call = { .bytes = FL_BOUNCE_BYTES, .write = 1 };
	uint8_t *in = malloc(FL_BOUNCE_BYTES), *out = calloc(1, FL_BOUNCE_BYTES);
	struct fl_ring_call bad;
	uint32_t i;

	sink_begin(r);
	call.addr = (uintptr_t)b->buffer + 100;
	call.key = b->key;
	for (i = 0; i < FL_BOUNCE_BYTES; i++)
		in[i] = (uint8_t)(i * 13 + 5);
	sink_put(b, sink.ring + FL_RING_DATA, in, FL_BOUNCE_BYTES);
	STEP("into pages that are not there: bytes, entries, words");
	EXPECT_EQ(sink_call(r, call).status, FL_ST_OK);
	EXPECT_EQ(mm_copy(host_process_mm(b->process), call.addr, out,
			  FL_BOUNCE_BYTES, false), 0);
	EXPECT_MEM(out, in, FL_BOUNCE_BYTES);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(sink_word(b, i) & 1, i > 4);
	STEP("out of them");
	EXPECT_EQ(host_madvise(b->process, b->buffer, 8 * RIG_PAGE,
			       HOST_PAGEOUT), 0);
	memset(out, 0, FL_BOUNCE_BYTES);
	sink_put(b, sink.ring + FL_RING_DATA, out, FL_BOUNCE_BYTES);
	call.write = 0;
	EXPECT_EQ(sink_call(r, call).status, FL_ST_OK);
	EXPECT_EQ(mm_copy(host_process_mm(b->process),
			  (uintptr_t)sink.ring + FL_RING_DATA, out,
			  FL_BOUNCE_BYTES, false), 0);
	EXPECT_MEM(out, in, FL_BOUNCE_BYTES);
	STEP("what a hostile peer may write there");
	call.write = 1;
	for (i = 0; i < 8; i++) {
		bad = call;
		switch (i) {
		case 0: bad.key++; break;
		case 1: bad.key = 0; break;
		case 2: bad.bytes = 0; break;
		case 3: bad.bytes = FL_BOUNCE_BYTES + 1; break;
		case 4: bad.bytes = ~0u; break;
		case 5: bad.addr = (uintptr_t)b->buffer + RIG_BYTES - 8; break;
		case 6: bad.addr = ~0ull - 8; break;
		case 7: bad.key = sink.words_key;
			bad.addr = (uintptr_t)sink.words; bad.bytes = 4; break;
		}
		EXPECT_EQ(sink_call(r, bad).status, FL_ST_REMOTE_ACCESS);
	}
	STEP("memory that is not there any more");
	EXPECT_EQ(host_munmap(b->process, b->buffer, RIG_PAGE), 0);
	EXPECT_EQ(sink_call(r, call).status, FL_ST_REMOTE_FAULT);
	free(in);
	free(out);
}

TEST("calls in a ring are carried out, and judged like any request")
{
	rig_run(sink_calls);
}

/* The bell came second: the bank describes a read, and says that there was more. */
static void sink_second(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct fl_ring_call call = { .bytes = 8, .write = 1, .number = 1 };
	struct fl_ring_answer answer = { 0 };
	uint32_t number = 1, cb = SMMU_CB_BASE(0);

	sink_begin(r);
	call.addr = (uintptr_t)b->buffer;
	call.key = b->key;
	sink_put(b, sink.ring + FL_RING_CALL, &call, sizeof(call));
	sink_put(b, sink.ring + FL_RING_NUMBER, &number, sizeof(number));
	rig_smmu_set(b, cb + SMMU_CB_FAR, 8, (uintptr_t)b->buffer);
	rig_smmu_set(b, cb + SMMU_CB_FSYNR0, 4, 0);
	rig_smmu_set(b, SMMU_GR1_BASE + SMMU_GR1_CBFRSYNRA(0), 4, BOARD_STREAM(0));
	rig_smmu_set(b, cb + SMMU_CB_FSRRESTORE, 4,
		  SMMU_CB_FSR_TF | SMMU_CB_FSR_MULTI);
	sim_sleep(1000000);
	EXPECT_EQ(mm_copy(host_process_mm(b->process),
			  (uintptr_t)sink.ring + FL_RING_ANSWER, &answer,
			  sizeof(answer), false), 0);
	EXPECT_EQ(answer.number, 1);
	EXPECT_EQ(answer.status, FL_ST_OK);
}

TEST("a bell that comes behind another fault is heard")
{
	rig_run(sink_second);
}

static void sink_refused(struct rig *r)
{
	struct rig_node *a = &r->n[0], *b = &r->n[1];
	uint8_t *mem;
	uint32_t key;

	sink_begin(r);
	mem = sink_memory(b, 16 * RIG_PAGE);
	STEP("words that are in no pinned region, or not all of them, or askew");
	EXPECT_EQ(sink_reg(b, mem, RIG_PAGE, CARD, 0, (uintptr_t)mem, &key),
		  -ENOENT);
	EXPECT_EQ(sink_reg(b, mem, 2 * RIG_PAGE, CARD, 0,
			   (uintptr_t)sink.words + PAGES * 4 - 4, &key), -ENOENT);
	EXPECT_EQ(sink_reg(b, mem, RIG_PAGE, CARD, 0, (uintptr_t)sink.words + 2,
			   &key), -EINVAL);
	EXPECT_EQ(sink_reg(b, mem, RIG_PAGE, CARD, 0, ~3ull, &key), -EINVAL);
	STEP("words where the card may not write: the process could not either");
	EXPECT_EQ(sink_reg(b, mem + 8 * RIG_PAGE, RIG_PAGE, FL_ACC_REMOTE_READ,
			   FL_MR_PINNED, 0, &key), 0);
	EXPECT_EQ(sink_reg(b, mem, RIG_PAGE, CARD, 0,
			   (uintptr_t)mem + 8 * RIG_PAGE, &key), -ENOENT);
	STEP("rings: pinned, of one size, without words");
	EXPECT_EQ(sink_reg(b, mem, FL_RING_BYTES, RIG_ALL, FL_MR_RING, 0, &key),
		  -EINVAL);
	EXPECT_EQ(sink_reg(b, mem, RIG_PAGE, RIG_ALL, FL_MR_RING | FL_MR_PINNED,
			   0, &key), -EINVAL);
	EXPECT_EQ(sink_reg(b, mem + 8, FL_RING_BYTES, RIG_ALL,
			   FL_MR_RING | FL_MR_PINNED, 0, &key), -EINVAL);
	EXPECT_EQ(sink_reg(b, mem, FL_RING_BYTES, FL_ACC_REMOTE_READ,
			   FL_MR_RING | FL_MR_PINNED, 0, &key), -EINVAL);
	STEP("the region of the words stays as long as words of another are there");
	{
		struct fl_destroy d = { .size = sizeof(d),
					.object = sink.words_key };

		EXPECT_EQ(rig_ioctl(b, FL_IOC_DEREG_MR, &d), -EBUSY);
		tables_dereg(b, b->key);
		EXPECT_EQ(rig_ioctl(b, FL_IOC_DEREG_MR, &d), 0);
	}
	b->key = tables_reg(b, 0, PAGES, true);
	STEP("with other tables there is none of it");
	tables_dereg(a, a->key);
	EXPECT_EQ(tables_policy(a, FL_SYSTEM_PART), 0);
	EXPECT_EQ(sink_reg(a, a->buffer, RIG_BYTES, RIG_ALL, 0,
			   (uintptr_t)a->buffer, &key), -EINVAL);
	EXPECT_EQ(sink_reg(a, a->buffer, FL_RING_BYTES, RIG_ALL,
			   FL_MR_RING | FL_MR_PINNED, 0, &key), -EINVAL);
	a->key = tables_reg(a, 0, PAGES, true);
}

TEST("words and rings that cannot be are refused")
{
	rig_run(sink_refused);
}

static struct rig_node *bounce_node;
static uint8_t *bounce_mem;	/* pinned: a page to be written, and one only to be read */

static long bounce_try(struct fl_bounce a)
{
	a.size = sizeof(a);
	return rig_ioctl(bounce_node, FL_IOC_BOUNCE, &a);
}

#define BOUNCE_NOT(field, value, want) do {				\
	struct fl_bounce not_ = good;					\
									\
	STEP("%s is %s", #field, #value);				\
	not_.field = (value);						\
	EXPECT_EQ(bounce_try(not_), want);				\
} while (0)

static void bounce_refused(struct rig *r)
{
	struct rig_node *b = bounce_node = &r->n[1];
	uint32_t key, only;
	struct fl_bounce good;

	sink_begin(r);
	bounce_mem = sink_memory(b, 2 * RIG_PAGE);
	EXPECT_EQ(sink_reg(b, bounce_mem, RIG_PAGE, RIG_ALL, FL_MR_PINNED, 0, &key), 0);
	EXPECT_EQ(sink_reg(b, bounce_mem + RIG_PAGE, RIG_PAGE, FL_ACC_REMOTE_READ,
			   FL_MR_PINNED, 0, &only), 0);
	good = (struct fl_bounce){ .key = b->key, .addr = (uintptr_t)b->buffer + 8,
				   .buffer = (uintptr_t)bounce_mem + 16, .buffer_key = key,
				   .bytes = 8, .flags = FL_BOUNCE_IN };
	sink_put(b, bounce_mem + 16, "\7\0\0\0\0\0\0\0", 8);
	BOUNCE_NOT(flags, 2, -EINVAL);
	BOUNCE_NOT(reserved, 1, -EINVAL);
	BOUNCE_NOT(bytes, 0, -EINVAL);
	BOUNCE_NOT(bytes, FL_BOUNCE_BYTES + 1, -EINVAL);
	BOUNCE_NOT(key, good.key + 1, -ENOENT);
	BOUNCE_NOT(buffer_key, 0, -ENOENT);
	BOUNCE_NOT(buffer_key, good.key, -ENOENT);
	BOUNCE_NOT(addr, (uintptr_t)b->buffer - 1, -ENOENT);
	BOUNCE_NOT(addr, (uintptr_t)b->buffer + RIG_BYTES - 7, -ENOENT);
	BOUNCE_NOT(addr, ~0ull - 3, -ENOENT);
	BOUNCE_NOT(buffer, (uintptr_t)bounce_mem + RIG_PAGE - 7, -ENOENT);
	BOUNCE_NOT(bytes, RIG_PAGE, -ENOENT);
	EXPECT_EQ(sink_word(b, 0) & 1, 1);
	STEP("as it is, and out again; but not into what is only to be read");
	EXPECT_EQ(bounce_try(good), 0);
	EXPECT_EQ(sink_word(b, 0) & 1, 0);
	good.addr = (uintptr_t)b->buffer;
	EXPECT_EQ(tables_card(b, 0, false), 0);
	good.addr += 8;
	good.flags = 0;
	BOUNCE_NOT(buffer_key, only, -ENOENT);
	good.buffer += 64;
	EXPECT_EQ(bounce_try(good), 0);
	good.buffer_key = only;
	good.buffer = (uintptr_t)bounce_mem + RIG_PAGE;
	good.flags = FL_BOUNCE_IN;
	EXPECT_EQ(bounce_try(good), 0);
	STEP("with other tables there is no such call");
	bounce_node = &r->n[0];
	tables_dereg(bounce_node, bounce_node->key);
	EXPECT_EQ(tables_policy(bounce_node, FL_SYSTEM_PART), 0);
	EXPECT_EQ(bounce_try(good), -EINVAL);
	bounce_node->key = tables_reg(bounce_node, 0, PAGES, true);
}

TEST("a copy past the card names two regions, of which one is pinned, or is refused")
{
	rig_run(bounce_refused);
}

/* Two regions of a page, and one of them only read: each word says what it allows. */
static void sink_shared(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	uint8_t *words;
	uint32_t key, all_key;

	sink_begin(r);
	words = sink.words;
	tables_dereg(b, b->key);
	EXPECT_EQ(sink_reg(b, b->buffer, RIG_PAGE, FL_ACC_REMOTE_READ, 0,
			   (uintptr_t)words, &b->key), 0);
	STEP("only read: a read-only page will do");
	tables_write(b, 0, 5);
	EXPECT_EQ(host_mprotect(b->process, b->buffer, RIG_PAGE, HOST_READ), 0);
	EXPECT_EQ(sink_prefetch(b, 0, 1), 0);
	EXPECT_EQ(sink_word(b, 0) & 1, 0);
	EXPECT_EQ(tables_card(b, 0, false), 5);
	EXPECT_EQ(tables_card(b, 0, true), ~0ull);
	STEP("another region writes: odd for it, until it is asked for");
	EXPECT_EQ(host_mprotect(b->process, b->buffer, RIG_PAGE,
				HOST_READ | HOST_WRITE), 0);
	EXPECT_EQ(sink_prefetch(b, 0, 1), 0);
	EXPECT_EQ(sink_reg(b, b->buffer, RIG_PAGE, RIG_ALL, 0,
			   (uintptr_t)words + 64, &all_key), 0);
	EXPECT_EQ(sink_word(b, 16) & 1, 1);
	EXPECT_EQ(sink_word(b, 0) & 1, 0);
	EXPECT_EQ(sink_prefetch(b, 0, 1), 0);
	EXPECT_EQ(sink_word(b, 16) & 1, 0);
	EXPECT_EQ(sink_word(b, 0) & 1, 0);
	EXPECT_EQ(tables_card(b, 0, true), 5);
	STEP("one ends: the other goes on");
	tables_dereg(b, all_key);
	EXPECT_EQ(tables_card(b, 0, false), 5);
	EXPECT_EQ(host_madvise(b->process, b->buffer, RIG_PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(sink_word(b, 0) & 1, 1);
	EXPECT_EQ(tables_card(b, 0, false), PATTERN);
	STEP("pinned over it: there for both, and the pattern when the pin ends");
	EXPECT_EQ(sink_reg(b, b->buffer, RIG_PAGE, RIG_ALL, FL_MR_PINNED, 0,
			   &key), 0);
	EXPECT_EQ(sink_word(b, 0) & 1, 0);
	EXPECT_EQ(tables_card(b, 0, true), 5);
	tables_dereg(b, key);
	EXPECT_EQ(sink_word(b, 0) & 1, 1);
	EXPECT_EQ(tables_card(b, 0, false), PATTERN);
	STEP("no region any more: no entry");
	tables_dereg(b, b->key);
	EXPECT_EQ(tables_card(b, 0, false), ~0ull);
	b->key = tables_reg(b, 0, PAGES, true);
	EXPECT(!host_check(b->kernel, true));
}

TEST("regions that share a page have words of their own")
{
	rig_run(sink_shared);
}

/* ---- the order of entry, TLB and word ---- */

#define WATCHED	3u	/* a page */

static struct {
	struct rig_node *n;
	bool stop, left, there;	/* seen: it was gone; it was there */
	unsigned int wrong;
} watch;

static uint32_t watch_word(void)
{
	uint64_t pa = tables_walk(watch.n, sink.words + WATCHED * 4, false);

	return *(uint32_t *)dram_at(board_dram(watch.n->board), pa, 4);
}

/*
 * While the driver is at it: the same even word before a look and after it promises that the
 * card finds the page in between, by a walk and from its TLB.
 */
static void watch_look(void)
{
	uint8_t *page = watch.n->buffer + WATCHED * RIG_PAGE;
	uint32_t before = watch_word();
	uint64_t found = tables_translate(watch.n, page, false);
	uint64_t walked = tables_walk(watch.n, page, true);

	watch.left |= before & 1;
	watch.there |= !(before & 1);
	if (!(before & 1) && before == watch_word() &&
	    (!walked || found != walked))
		watch.wrong++;
}

static void watch_main(void *arg)
{
	(void)arg;
	while (!watch.stop) {
		watch_look();
		sim_sleep(37);
	}
}

static void sink_order(struct rig *r)
{
	struct rig_node *b = &r->n[1];
	struct sim_thread *t;
	unsigned int i;

	/* Each write of a register takes so long that somebody sees what is between. */
	r->timing.v[T_CPU_MMIO_WRITE] = 1000;
	sink_begin(r);
	memset(&watch, 0, sizeof(watch));
	watch.n = b;
	tables_write(b, WATCHED, 1);
	t = sim_thread_start(r->sim, "watch", true, watch_main, NULL);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(sink_prefetch(b, WATCHED, 1), 0);
		sim_sleep(1000);
		EXPECT_EQ(host_madvise(b->process,
				       b->buffer + WATCHED * RIG_PAGE, RIG_PAGE,
				       HOST_PAGEOUT), 0);
		sim_sleep(1000);
	}
	watch.stop = true;
	sim_thread_join(t);
	EXPECT(watch.left && watch.there);
	EXPECT_EQ(watch.wrong, 0);
}

TEST("while a word is even the card finds the page, whenever one looks")
{
	rig_run(sink_order);
}

TEST("a process may end at any moment")
{
	tables_deaths(FL_SYSTEM_NPR);
}
