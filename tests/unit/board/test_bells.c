// SPDX-License-Identifier: BSD-2-Clause
/*
 * Several doorbells that are rung in a row, while the card is entered once for as many as can
 * be: against the same doorbells rung one by one. variants: tsan
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/regs.h"
#include "nic/fw.h"
#include "rig/resident.h"

#define N	8u
#define MANY	12u	/* and so many of them are more than a turn is long */
#define LEN	300u
#define RECORDS	4096u

static struct testbed *w_;
static uint32_t len_ = LEN;
static struct board_bell bell_[MANY];

static void bells_post(unsigned int from, unsigned int n)
{
	struct trace_at at = { .board = board_id(w_->n[0].board) };
	const struct want q = { .from = 0x3000, .to = 0x5000, .len = len_, .key = va_key[1],
				.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED };
	struct node *node = &w_->n[0];

	for (; from < n; from++) {
		want_post(node, 0, &q);
		bell_[from].value = node->qp | (uint32_t)node->posted << 16;
		bell_[from].cause = trace_emit(w_->trace, EV_LIB_DOORBELL, &at, node->qp,
					       node->posted - 1u, 0, 0);
	}
}

static struct fl_wqe *bells_wqe(unsigned int i)
{
	struct node *n = &w_->n[0];
	struct fl_wqe *sq = dram_at(board_dram(n->board), n->sq_pa, 64 * QUEUE);

	return &sq[(n->posted - N + i) % QUEUE];
}

static void bells_ring(unsigned int n)
{
	board_ring(w_->n[0].board, BUS_NIC_BASE + NIC_DB_BASE(0) + NIC_DB_SQ, bell_, n);
}

/* So that the next is served in its doorbell. */
static void bells_know(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		bells_post(0, 1);
		bells_ring(1);
		EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	}
}

static void (*part_)(void);

static void bells_body(struct testbed *w)
{
	unsigned int side;

	w_ = w;
	rng_init(&resident_rng, test_seed(), "bells");
	for (side = 0; side < 2; side++) {
		memory_make(&w->n[side], side);
		rig_fill(&w->n[side], side + 1);
	}
	bells_know();
	part_();
}

static void bells_try(void (*part)(void))
{
	part_ = part;
	rig_run(SIM_THREADS, bells_body, NULL);
}

/* ---- all of them at once ---- */

/* The causes of the last requests that were fetched, in their order. */
static void bells_caused(void)
{
	struct trace_record *r = calloc(RECORDS, sizeof(*r));
	unsigned int n, i, at = N;

	EXPECT(r);
	n = (unsigned int)trace_snapshot(w_->trace, r, RECORDS);
	for (i = n; i-- && at;)
		if (r[i].event == EV_FW_WQE)
			EXPECT_EQ(r[i].cause, bell_[--at].cause);
	EXPECT_EQ(at, 0);
	free(r);
}

static void ring_alike(void)
{
	uint64_t again = board_resident_requests(w_->n[0].board);
	unsigned int i;

	bells_post(0, N);
	bells_ring(N);
	EXPECT_EQ(board_resident_requests(w_->n[0].board), again + N);
	for (i = 0; i < N; i++)
		EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	bells_caused();
}

TEST("doorbells in a row are served at once, each with its own cause in the trace")
{
	bells_try(ring_alike);
}

/* So much at once that others have their turn in between. How many of it all were resident. */
static uint64_t ring_many(void)
{
	uint64_t bytes = board_resident_bytes(w_->n[0].board);
	unsigned int i, k;

	len_ = BYTES - 0x5000;
	EXPECT_GE((MANY - 1) * len_, 1u << 20);
	for (k = 0; k < 3; k++) {
		bells_post(0, MANY);
		bells_ring(MANY);
		for (i = 0; i < MANY; i++)
			EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	}
	bytes = board_resident_bytes(w_->n[0].board) - bytes;
	len_ = LEN;
	return bytes;
}

static void ring_large(void)
{
	EXPECT_EQ(ring_many(), 3ull * MANY * (BYTES - 0x5000));
}

TEST("doorbells for more than a turn is long")
{
	bells_try(ring_large);
}

/* ---- one that is not like the others ---- */

static struct outcome {
	uint8_t status[N];
	uint64_t bytes, again;
} outcome_[2];
static void (*spoil_)(struct fl_wqe *e);
static unsigned int run_, at_;

static void ring_unlike(void)
{
	struct board *b = w_->n[0].board;
	struct outcome *o = &outcome_[run_];
	unsigned int i;

	o->again = board_resident_requests(b);
	bells_post(0, N);
	spoil_(bells_wqe(at_));
	if (!run_)
		bells_ring(N);
	for (i = 0; run_ && i < N; i++)
		rig_set(&w_->n[0], NIC_DB_BASE(0) + NIC_DB_SQ, bell_[i].value);
	for (i = 0; i < N; i++)
		o->status[i] = wait_one(&w_->n[0]).status;
	o->again = board_resident_requests(b) - o->again;
	o->bytes = board_resident_bytes(b);
}

static void bells_unlike(void (*spoil)(struct fl_wqe *e), uint8_t status)
{
	spoil_ = spoil;
	for (at_ = 0; at_ < N; at_++) {
		STEP("the one at %u", at_);
		for (run_ = 0; run_ < 2; run_++)
			bells_try(ring_unlike);
		EXPECT_EQ(outcome_[0].status[at_], status);
		EXPECT_EQ(memcmp(outcome_[0].status, outcome_[1].status, N), 0);
		/* Those before it at least; how soon the way is known again is chance. */
		EXPECT_GE(outcome_[0].again, at_);
	}
}

static void spoil_key(struct fl_wqe *e)
{
	e->rkey ^= 1;
}

static void spoil_read(struct fl_wqe *e)
{
	e->opcode = FL_OP_READ;
}

static void spoil_page(struct fl_wqe *e)
{
	e->local_va += 0x1000;
	e->remote_va += 0x1000;
}

TEST("one of them is refused, a READ, or of other pages: all end as if rung one by one")
{
	bells_unlike(spoil_key, FL_ST_REMOTE_ACCESS);
	bells_unlike(spoil_read, FL_ST_OK);
	bells_unlike(spoil_page, FL_ST_OK);
}

/* ---- what is no doorbell of a send queue ---- */

static void ring_other(void)
{
	struct node *n = &w_->n[0];
	uint64_t pa = BUS_NIC_BASE + NIC_DB_BASE(0);

	bells_post(0, 2);
	bells_ring(2);
	EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	EXPECT_EQ(wait_one(n).status, FL_ST_OK);
	bell_[0].value = bell_[1].value = n->cq | (uint32_t)n->taken << 16;
	board_ring(n->board, pa + NIC_DB_CQ_CONS, bell_, 2);
	STEP("a register that is none is an event");
	board_ring(n->board, pa + NIC_DB_STRIDE - 4, bell_, 2);
	EXPECT_EQ(trace_count(w_->trace, EV_ENG_BAD_REG), 2);
	bells_know();
}

TEST("other registers are written as ever")
{
	bells_try(ring_other);
}

/* ---- a card with a thread of its own: doorbells go into a ring ---- */

#define RINGERS 3u
#define RINGS	2000u

static void bells_own(void (*part)(void))
{
	rig_drive = SIM_DEDICATED;
	bells_try(part);
	rig_drive = SIM_INLINE;
}

static void read_after(void)
{
	struct board *b = w_->n[0].board;
	struct fw_stats before, after;
	uint64_t value;
	unsigned int i;

	for (i = 0; i < 500; i++) {
		board_fw_stats(b, &before);
		bells_post(0, 1);
		bells_ring(1);
		EXPECT_EQ(board_read(b, BUS_NIC_BASE + NIC_FW_BASE + NIC_FW_ID, 4, &value), 0);
		board_fw_stats(b, &after);
		EXPECT_EQ(after.wqes, before.wqes + 1);
		EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	}
}

TEST("a register is read after all doorbells that the same thread has rung before")
{
	bells_own(read_after);
}

static void ring_large_own(void)
{
	ring_many();
}

TEST("what takes from the ring has turns, too")
{
	bells_own(ring_large_own);
}

/* Of a page that nobody has open: the card tells of each. */
static void *ring_nobody(void *off)
{
	const struct board_bell bell[2] = { { .value = 0x10001 }, { .value = 0x20001 } };
	unsigned int i;

	for (i = 0; i < RINGS; i += 2)
		board_ring(w_->n[0].board, BUS_NIC_BASE + NIC_DB_BASE(7) +
			   (uint32_t)(uintptr_t)off, bell, 2);
	return NULL;
}

static void ring_crowd(void)
{
	static const uint32_t off[RINGERS] = { NIC_DB_SQ, NIC_DB_CQ_ARM, NIC_DB_RQ };
	uint64_t refused = trace_count(w_->trace, EV_ENG_BAD_REG), value;
	pthread_t ringer[RINGERS];
	unsigned int i, k;

	for (i = 0; i < RINGERS; i++)
		EXPECT_EQ(pthread_create(&ringer[i], NULL, ring_nobody,
					 (void *)(uintptr_t)off[i]), 0);
	for (k = 0; k < 100; k++) {
		bells_post(0, N);
		bells_ring(N);
		for (i = 0; i < N; i++)
			EXPECT_EQ(wait_one(&w_->n[0]).status, FL_ST_OK);
	}
	for (i = 0; i < RINGERS; i++)
		pthread_join(ringer[i], NULL);
	EXPECT_EQ(board_read(w_->n[0].board, BUS_NIC_BASE + NIC_FW_BASE + NIC_FW_ID, 4,
			     &value), 0);
	EXPECT_EQ(trace_count(w_->trace, EV_ENG_BAD_REG) - refused, RINGERS * RINGS);
}

TEST("of doorbells that several threads ring at once, more than the ring holds, none is lost")
{
	bells_own(ring_crowd);
}

static void ring_gone(void)
{
	struct board *b = w_->n[0].board;
	struct fw_stats st;

	bells_post(0, 1);
	board_unplug(b);
	bells_ring(1);
	sim_sleep(3000000);
	board_fw_stats(b, &st);
	EXPECT_EQ(st.wqes, 0);	/* counted anew since then */
}

TEST("a card that was unplugged hears no doorbell")
{
	bells_own(ring_gone);
	bells_try(ring_gone);
}
