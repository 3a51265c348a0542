// SPDX-License-Identifier: BSD-2-Clause
/* Requests of one queue pair that go by the resident step. */
#include "rig/resident_way.h"

/* In one page, in several, and in more than the step takes at a time. */
static const uint32_t lengths_[] = { 300, 9000, 90000 };
uint32_t way_len;
struct testbed *way_testbed;

uint64_t way_went(void)
{
	return board_resident_bytes(way_testbed->n[0].board);
}

/* Those that needed no firmware. */
uint64_t way_again(void)
{
	return board_resident_requests(way_testbed->n[0].board);
}

struct fl_wqe *way_wqe(struct node *n, uint16_t index)
{
	struct fl_wqe *sq = dram_at(board_dram(n->board), n->sq_pa, 64 * QUEUE);

	return &sq[index % QUEUE];
}

void way_post_quietly(void)
{
	const struct want q = { .from = FROM, .to = TO, .len = way_len, .key = va_key[1],
				.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED };

	want_post(&way_testbed->n[0], 0, &q);
}

void way_post(void)
{
	way_post_quietly();
	bell_ring(&way_testbed->n[0]);
}

void way_drain(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++) {
		board_pump(way_testbed->n[0].board);
		board_pump(way_testbed->n[1].board);
	}
}

/* Requests that go by the step: the last of them is served in its doorbell. */
void way_learn(void)
{
	uint64_t bytes = way_went(), again = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		again = way_again();
		way_post();
		EXPECT_EQ(wait_one(&way_testbed->n[0]).status, FL_ST_OK);
	}
	EXPECT_EQ(way_went(), bytes + 3 * way_len);
	EXPECT_EQ(way_again(), again + 1);
}

/* Of a request that is moved in pieces the first ones may have gone by the step. */
static void at_most_pieces(uint64_t bytes)
{
	EXPECT_EQ(bytes % 65536, 0);
	EXPECT(!bytes || bytes < way_len);
}

/* The next request goes the long way, and ends so. */
void way_next_ends(uint8_t status)
{
	uint64_t bytes = way_went();

	way_post();
	EXPECT_EQ(wait_one(&way_testbed->n[0]).status, status);
	at_most_pieces(way_went() - bytes);
}

/* The next request does not end, until something has been done about it. */
void way_next_waits(void)
{
	uint64_t bytes = way_went();

	way_post();
	way_drain();
	EXPECT(board_busy(way_testbed->n[0].board));
	at_most_pieces(way_went() - bytes);
}

static void (*change_)(void);

static void change_body(struct testbed *w)
{
	unsigned int side;

	way_testbed = w;
	rng_init(&resident_rng, test_seed(), "way");
	for (side = 0; side < 2; side++) {
		memory_make(&w->n[side], side);
		rig_fill(&w->n[side], side + 1);
	}
	way_learn();
	change_();
}

void way_try(void (*change)(void))
{
	unsigned int i;

	change_ = change;
	memory_swaps = 3;
	for (i = 0; i < 3; i++) {
		way_len = lengths_[i];
		STEP("%u bytes", way_len);
		rig_run(SIM_THREADS, change_body, NULL);
	}
}
