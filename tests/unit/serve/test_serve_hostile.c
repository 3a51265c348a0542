// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * Processes that do all they can to harm the board, while a pair of others works
 * and must lose nothing. At the end the boards must be in order and hold nothing.
 *
 * variants: tsan posix
 */
#include <sys/resource.h>

#include "rig/serve_raw.h"
#include "trace/trace.h"

/* ---- doorbells ---- */

static int rings_at_random(void *arg)
{
	unsigned int number = *(unsigned int *)arg, i;
	uint32_t state = number + 100;
	struct target t;

	TRY_OPEN(&t, number);
	for (i = 0; i < 5000; i++)
		if (!raw_post(&t.r, ATTACH_DOORBELL,
			      rig_random(&state) % 64 * 4,
			      rig_random(&state) << 12 ^ rig_random(&state)))
			return 2;
	/* Entries that cannot be end it. */
	raw_post(&t.r, ATTACH_DOORBELL, 2 + number % 2 * NIC_DB_STRIDE, 0);
	return raw_cut_off(&t.r, 20000) ? 0 : 3;
}

TEST("doorbells at random, and then impossible ones")
{
	beside_pair(rings_at_random, NULL, 2);
}

static int rings_nowhere(void *arg)
{
	static const uint32_t kind[] = { 0, ATTACH_PUBLISH + 1, 77, UINT32_MAX };
	unsigned int number = *(unsigned int *)arg;
	struct raw r;

	if (raw_attach(&r, 0))
		return 1;
	/* No page of registers is mapped: nothing happens. */
	raw_post(&r, ATTACH_DOORBELL, 0, 1);
	raw_post(&r, ATTACH_DOORBELL, NIC_DB_STRIDE - 4, 1);
	if (raw_cut_off(&r, 50))
		return 2;
	raw_post(&r, kind[number % 4], 0, 0);
	return raw_cut_off(&r, 20000) ? 0 : 3;
}

TEST("doorbells without a page of registers, and entries of no kind")
{
	beside_pair(rings_nowhere, NULL, 2);
}

/* What the process says of its doorbells: numbers as the library's, and ones that never are. */
static const struct attach_post said[] = {
	{ .xfer = 900001, .arg = { 3, 1, 0x7000, 8 } },
	{ .xfer = 900002, .arg = { 4, 2, UINT64_MAX, UINT32_MAX }, .took = 1, .took_status = 255,
	  .took_xfer = 900011, .took_qp = UINT32_MAX, .took_bytes = UINT32_MAX },
	{ .xfer = 900003, .arg = { 1ull << 32, 1, 0x7000, 8 }, .took = 1, .took_xfer = 900012,
	  .took_qp = 3, .took_bytes = 8 },
	{ .xfer = 900004, .arg = { 5, 1ull << 63, 0x7000, 8 } },
	{ .xfer = 900005, .arg = { 6, 1, 0, 1ull << 40 }, .took = 2, .took_xfer = 900013 },
};
#define SAID (sizeof(said) / sizeof(said[0]))

static int rings_and_says(void *arg)
{
	struct target t;
	struct attach_post *p;
	unsigned int i;

	(void)arg;
	TRY_OPEN(&t, 0);
	for (i = 0; i < SAID; i++) {
		p = &t.r.shared->post[t.r.posted % ATTACH_POSTS];
		p->xfer = said[i].xfer;
		memcpy(p->arg, said[i].arg, sizeof(p->arg));
		p->took = said[i].took;
		p->took_status = said[i].took_status;
		p->took_xfer = said[i].took_xfer;
		p->took_qp = said[i].took_qp;
		p->took_bytes = said[i].took_bytes;
		if (!raw_post(&t.r, ATTACH_POST_DOORBELL, 0, (9 + i) << NIC_DB_SQ_TAIL_SHIFT))
			return 2;
	}
	while (atomic_load(&t.r.shared->post_tail) != SAID)
		if (raw_cut_off(&t.r, 1))
			return 3;
	return 0;
}

/* The next record of the trace that is about doorbells. */
static struct trace_record told_next(FILE *f)
{
	struct trace_record r = { .event = EV_COUNT };
	char line[512];
	int column;

	while (r.event < EV_LIB_POST || r.event > EV_LIB_COMPLETE) {
		EXPECT(fgets(line, sizeof(line), f) != NULL);
		if (line[0] != '#')
			EXPECT_EQ(trace_record_parse(line, &r, &column), 0);
	}
	return r;
}

TEST("the trace has the numbers of a post as the process gave them, however large")
{
	char path[200];
	const char *const options[] = { "--trace", path, NULL };
	struct trace_record r, bell;
	unsigned int i;
	FILE *f;

	test_path(path, sizeof(path), "said.trace");
	rig_start(options);
	EXPECT_EQ(rig_wait(rig_fork(rings_and_says, NULL)), 0);
	rig_end();
	f = fopen(path, "r");
	EXPECT(f);
	for (i = 0; i < SAID; i++) {
		r = told_next(f);
		if (said[i].took) {
			EXPECT_EQ(r.event, EV_LIB_COMPLETE);
			EXPECT_EQ(r.xfer, said[i].took_xfer);
			EXPECT_EQ(r.arg[0], said[i].took_qp);
			EXPECT_EQ(r.arg[1], said[i].took_status);
			EXPECT_EQ(r.arg[2], said[i].took_bytes);
			r = told_next(f);
		}
		EXPECT_EQ(r.event, EV_LIB_POST);
		EXPECT_EQ(r.xfer, said[i].xfer);
		EXPECT_MEM(r.arg, said[i].arg, sizeof(r.arg));
		bell = told_next(f);
		EXPECT_EQ(bell.event, EV_LIB_DOORBELL);
		EXPECT_EQ(bell.cause, r.seq);
		EXPECT_EQ(bell.xfer, said[i].xfer);
		EXPECT_EQ(bell.arg[0], said[i].arg[0]);
		EXPECT_EQ(bell.arg[1], 8 + i);
	}
	fclose(f);
}

/* ---- the shared area ---- */

static int hostile_scribbles(void *arg)
{
	unsigned int number = *(unsigned int *)arg, i;
	uint32_t state = number + 7, at;
	struct target t;
	uint8_t *mem;

	TRY_OPEN(&t, number);
	mem = (uint8_t *)t.r.shared;
	for (i = 0; i < 8000; i++) {
		at = rig_random(&state) % (uint32_t)t.r.w.shared_bytes;
		mem[at] = (uint8_t)rig_random(&state);
		/* Calls are what most of it is for. */
		if (i % 16 == 0) {
			atomic_store(&t.r.shared->call[i / 16 % 64].state,
				     ATTACH_ASKED);
			atomic_fetch_or(&t.r.shared->asked,
					1ull << (i / 16 % 64));
			raw_ring(&t.r);
		}
		if (i % 1024 == 0 && raw_cut_off(&t.r, 1))
			return 0;
	}
	return 0;
}

TEST("the shared area is scribbled over")
{
	beside_pair(hostile_scribbles, NULL, 3);
}

static int scribbles_over_queues(void *arg)
{
	unsigned int number = *(unsigned int *)arg, i;
	uint32_t state = number + 9;
	struct target t;
	uint8_t *mem;

	TRY_OPEN(&t, number);
	/* Everything it can reach: frames, its queues, and what lies behind. */
	mem = t.r.bank + t.r.w.queue_offset;
	for (i = 0; i < 10000; i++) {
		mem[rig_random(&state) % (256u << 10)] =
			(uint8_t)rig_random(&state);
		if (i % 32 == 0 &&
		    !raw_post(&t.r, ATTACH_DOORBELL, NIC_DB_SQ,
			      t.qp << NIC_DB_SQ_QPN_SHIFT |
			      (i / 32 & 0xffff) << NIC_DB_SQ_TAIL_SHIFT))
			return 2;
	}
	return 0;
}

TEST("queues are scribbled over while the card reads them")
{
	beside_pair(scribbles_over_queues, NULL, 2);
}

/* ---- work requests ---- */

/*
 * What is right but for one thing: the key, the address and the queue pair are the
 * victim's, and it is the queue pair of somebody else that uses them.
 */
static struct fl_wqe hostile_stolen(const struct target *t, unsigned int round)
{
	return (struct fl_wqe){
		.opcode = round % 3 ? FL_OP_WRITE : FL_OP_READ,
		.flags = FL_WQE_SIGNALED, .length = 4096,
		.local_va = t->mem, .lkey = t->key,
		.remote_va = raw_victim[1].va + round * 8192,
		.rkey = raw_victim[1].rkey,
	};
}

static struct fl_wqe hostile_forged(const struct target *t, unsigned int i,
				    uint32_t *state)
{
	const struct rig_address *v = &raw_victim[rig_random(state) % 2];

	return (struct fl_wqe){
		.opcode = (uint8_t)(rig_random(state) % 4),
		.flags = (uint8_t)rig_random(state),
		.index = (uint16_t)i,
		.length = rig_random(state),
		.local_va = t->mem + rig_random(state),
		.remote_va = v->va + rig_random(state) % (1 << 20),
		.lkey = i % 3 == 0 ? rig_random(state) :
			i % 3 == 1 ? t->key : v->rkey,
		.rkey = rig_random(state) % 2 ? v->rkey :
						v->rkey ^ rig_random(state),
		.wr_id = i,
		.xfer = rig_random(state),
	};
}

static int forges_keys(void *arg)
{
	unsigned int number = *(unsigned int *)arg, round, i;
	uint32_t state = number + 3;
	struct target t;

	for (round = 0; round < 24; round++) {
		TRY_OPEN(&t, number + round);
		t.sq[0] = hostile_stolen(&t, round);
		for (i = 1; i < 60; i++)
			t.sq[i] = hostile_forged(&t, i, &state);
		if (!raw_post(&t.r, ATTACH_DOORBELL, NIC_DB_SQ,
			      t.qp << NIC_DB_SQ_QPN_SHIFT |
			      i << NIC_DB_SQ_TAIL_SHIFT) ||
		    !target_completed(&t))
			return 2;
		raw_detach(&t.r);
	}
	return 0;
}

TEST("keys are forged, or known, and lengths are lies")
{
	beside_pair(forges_keys, NULL, 2);
}

/* ---- calls ---- */

static int calls_at_random(void *arg)
{
	unsigned int number = *(unsigned int *)arg, i, k;
	uint32_t state = number + 5;
	struct target t;
	uint64_t a[4];
	uint8_t junk[ATTACH_PAYLOAD];

	TRY_OPEN(&t, number);
	for (i = 0; i < 1000; i++) {
		for (k = 0; k < 4; k++) {
			a[k] = rig_random(&state);
			switch (rig_random(&state) % 5) {
			case 0:
				a[k] = UINT64_MAX - a[k] % 4;
				break;
			case 1:
				a[k] %= 8;
				break;
			case 2:
				a[k] = t.mem + a[k] % (2 * RAW_BYTES);
				break;
			case 3:
				a[k] = (a[k] << 32) * a[k];
				break;
			}
		}
		for (k = 0; k < sizeof(junk); k++)
			junk[k] = (uint8_t)rig_random(&state);
		/* Not FAULT, which might truly wait; not CLOSE of what we need. */
		raw_ask(&t.r, 1, 4 + rig_random(&state) % (ATTACH_OPS + 2), a,
			junk, sizeof(junk));
		if (raw_answer(&t.r, 1, 20000) == 1)
			return 2;
	}
	return 0;
}

TEST("calls with arguments at random")
{
	beside_pair(calls_at_random, NULL, 2);
}

static int lies_in_ioctls(void *arg)
{
	unsigned int number = *(unsigned int *)arg, i, k;
	uint32_t state = number + 11, words[ATTACH_WORDS];
	struct target t;
	unsigned int cmd;

	TRY_OPEN(&t, number);
	for (i = 0; i < 1000; i++) {
		for (k = 0; k < ATTACH_WORDS; k++)
			words[k] = rig_random(&state) % 7 ? 0 :
				   rig_random(&state);
		/* How long it says that it is. */
		words[0] = rig_random(&state) % 5000;
		/* WAIT_CQ (0x0D) might truly wait. */
		cmd = rig_random(&state) % 16;
		cmd = cmd == 0x0d ? 0x0e : cmd;
		cmd |= 'F' << 8 | (rig_random(&state) % 300) << 16 |
		       (rig_random(&state) % 4) << 30;
		if (raw_ioctl(&t.r, t.fd, cmd, words, sizeof(words)) == 1)
			return 2;
	}
	return 0;
}

TEST("system calls lie about lengths and objects")
{
	beside_pair(lies_in_ioctls, NULL, 2);
}

/* ---- too much of everything ---- */

static int wants_everything(void *arg)
{
	unsigned int number = *(unsigned int *)arg, n, i;
	struct fl_alloc_pd pd = { .size = sizeof(pd) };
	struct fl_create_cq cq = { .size = sizeof(cq) };
	struct target t;
	int err = target_open(&t, number & 1);

	/* Another like it has taken all slots of the card. */
	if (err)
		return err == -EBUSY ? 0 : 1;
	for (n = 0; n < 5000; n++) {
		cq = (struct fl_create_cq){ .size = sizeof(cq),
					    .entries = 4096 };
		if (raw_ioctl(&t.r, t.fd, FL_IOC_CREATE_CQ, &cq, sizeof(cq)))
			break;
	}
	if (n > 64)
		return 2;
	for (n = 0; n < 5000; n++)
		if (raw_ioctl(&t.r, t.fd, FL_IOC_ALLOC_PD, &pd, sizeof(pd)))
			break;
	if (n > 16)
		return 3;
	for (n = 0; n < 5000; n++)
		if (raw_call(&t.r, ATTACH_OPEN, 0, 0, 0, 0) < 0)
			break;
	if (n > 16)
		return 4;
	/* Addresses it may have; memory only up to its limit. */
	for (n = 0; n < 3000; n++)
		if (raw_call(&t.r, ATTACH_ALLOC, RIG_PAGE, 0, 0, 0))
			break;
	for (i = 0; i < n; i++)
		if (raw_call(&t.r, ATTACH_FAULT,
			     t.r.w.magic == ATTACH_MAGIC ? t.mem +
			     (uint64_t)i * RIG_PAGE : 0, 1, 0, 0) == 1)
			return 5;
	/* It keeps all that until it is thrown out by its end. */
	return 0;
}

TEST("thousands of objects, mappings and pages")
{
	/* One at a time opens all slots of the card, so the pair is in before. */
	beside_pair(wants_everything, raw_small_patient, 2);
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !RIG_TSAN
/* The boards' process gets so much more memory, and no more; 0: as it likes. */
static void boards_may_grow(uint64_t bytes)
{
	struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };
	unsigned long long pages = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)rig_boards.child.pid);
	f = fopen(path, "r");
	EXPECT(f && fscanf(f, "%llu", &pages) == 1);
	fclose(f);
	if (bytes)
		most.rlim_cur = pages * os_page_bytes() + bytes;
	EXPECT_EQ(prlimit(rig_boards.child.pid, RLIMIT_AS, &most, NULL), 0);
}

TEST("when no thread can be had calls say so, and the boards go on")
{
	const uint64_t arg[4] = { 63 };		/* a number of no file */
	unsigned int slot, without = 0;
	struct target t;
	int err;

	rig_start(NULL);
	EXPECT_EQ(target_open(&t, 0), 0);
	boards_may_grow(4 << 20);
	STEP("each slot of its calls wants one");
	for (slot = 1; slot < ATTACH_CALLS; slot++) {
		raw_ask(&t.r, slot, ATTACH_CLOSE, arg, NULL, 0);
		err = raw_answer(&t.r, slot, 20000);
		EXPECT(err == -EBADF || err == -EAGAIN);
		without += err == -EAGAIN;
	}
	EXPECT_GE(without, 1);
	boards_may_grow(0);
	raw_ask(&t.r, slot - 1, ATTACH_CLOSE, arg, NULL, 0);
	EXPECT_EQ(raw_answer(&t.r, slot - 1, 20000), -EBADF);
	raw_detach(&t.r);
	rig_end();
}
#endif

/* ---- pages ---- */

static int never_closes(void *arg)
{
	unsigned int number = *(unsigned int *)arg, i;
	struct target t;

	TRY_OPEN(&t, number);
	for (i = 0; i < 64; i++)
		if (raw_call(&t.r, ATTACH_FAULT, t.mem + i * RIG_PAGE, 1, 0, 0))
			return 2;
	/* From now on it does not do what it is told, and says so. */
	t.r.obeys = false;
	raw_call(&t.r, ATTACH_ADVISE, t.mem, 64 * RIG_PAGE, FL_PAGEOUT, 0);
	return raw_cut_off(&t.r, 60000) ? 0 : 3;
}

TEST("pages that were to be closed never are")
{
	beside_pair(never_closes, raw_small, 2);
}

static int says_more_than_it_did(void *arg)
{
	unsigned int number = *(unsigned int *)arg;
	uint64_t fault[4], advise[4];
	struct target t;

	TRY_OPEN(&t, number);
	memcpy(fault, (uint64_t[]){ t.mem, 1, 0, 0 }, sizeof(fault));
	memcpy(advise, (uint64_t[]){ t.mem, RIG_PAGE, FL_PAGEOUT, 0 },
	       sizeof(advise));
	t.r.obeys = false;
	atomic_store(&t.r.shared->view_done,
		     atomic_load(&t.r.shared->view_head) + 1000);
	/* Nobody waits for an answer to these: there may be none. */
	raw_ask(&t.r, 0, ATTACH_FAULT, fault, NULL, 0);
	raw_ask(&t.r, 1, ATTACH_ADVISE, advise, NULL, 0);
	return raw_cut_off(&t.r, 20000) ? 0 : 2;
}

TEST("more views are done than there were")
{
	beside_pair(says_more_than_it_did, NULL, 1);
}
