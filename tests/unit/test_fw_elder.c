// SPDX-License-Identifier: BSD-2-Clause
/*
 * Progress where memory is short: blocks whose pages drive each other out go one
 * at a time, and none of them stops the others for good.
 */
#include "test_fw_order.h"

/* The same block again and again: its pages leave before it has landed. */
static struct rig_rxc make_elder(struct rig *r, const struct rig_world *w)
{
	struct rig_rxc x = WRITE_OF(w, 0);
	uint32_t i;

	for (i = 0; i < 25; i++) {
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		x.word++;
	}
	return x;
}

TEST("a block that does not get through is left alone with memory until it has")
{
	struct rig *r = rig_create(8);
	struct rig_world w, v;
	struct rig_rxc x;

	rig_world(r, &w, 1);
	rig_world(r, &v, 2);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0, .of = 9)), FL_ST_OK);
	x = make_elder(r, &w);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&v, 0, .block = 2, .of = 9)),
		  FL_ST_BUSY);
	EXPECT_EQ(order_offer(r, 3, READ_OF(&v, 0)), FL_ST_OK);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	STEP("another one that lands is not it");
	order_land(r, 1);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&v, 0, .block = 2, .of = 9)),
		  FL_ST_BUSY);
	order_land(r, 0);
	EXPECT_EQ(order_offer(r, 2, WRITE_OF(&v, 0, .block = 2, .of = 9)),
		  FL_ST_OK);
}

TEST("a block that is not heard of any more is not waited for")
{
	struct rig *r = rig_create(8);
	struct rig_world w, v;
	struct rig_rxc x;

	rig_world(r, &w, 1);
	rig_world(r, &v, 2);
	x = make_elder(r, &w);
	r->now += RIG_FAULT_TIMEOUT - 1;
	rig_run(r);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_BUSY);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	r->now += RIG_FAULT_TIMEOUT - 1;
	rig_run(r);
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_BUSY);
	r->now++;
	EXPECT_EQ(order_offer(r, 1, WRITE_OF(&v, 0)), FL_ST_OK);
}

TEST("a block that does not get through alone either lets others go between")
{
	struct rig *r = rig_create(8);
	struct rig_world w, v;
	struct rig_rxc x, other;
	uint32_t i, let = 0;

	rig_world(r, &w, 1);
	rig_world(r, &v, 2);
	x = make_elder(r, &w);
	for (i = 0; i < 300; i++) {
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		x.word = (x.word & ~0xFFu) | ((x.word + 1) & 0xFF);
		other = WRITE_OF(&v, 0, .of = 9);
		other.word = (x.word ^ 1u << 24) + (i << 8);
		other.word &= ~0xFFu;
		let += order_offer(r, 1, other) == FL_ST_OK;
	}
	STEP("others: %u of 300", let);
	EXPECT_GE(let, 75);
	EXPECT_LE(let, 150);
}
