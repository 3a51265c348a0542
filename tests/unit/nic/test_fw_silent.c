// SPDX-License-Identifier: BSD-2-Clause
/* A slot whose peers hear nothing of its missing pages (system drop). */
#include "rig/fw.h"

#define PEER_CTX	4u

static struct rig *silent_rig(struct rig_slot *w)
{
	struct rig *r = rig_create(8);

	r->cfg.may_be_silent = true;
	rig_restart(r);
	rig_slot(r, w, 2);
	return r;
}

static struct rig_rxc silent_incoming(const struct rig_slot *w, uint32_t op,
				      uint16_t gen)
{
	return (struct rig_rxc){
		.src = RIG_NODE | w->qp << 8, .op = op, .va = RIG_VA + 100,
		.len = 4096, .rkey = w->key, .xfer = 7, .block = 1,
		.word = PEER_CTX << 24 | (uint32_t)gen << 8,
		.from = RIG_PEER_QP,
	};
}

static uint32_t silent_open(struct rig *r, struct rig_rxc x)
{
	return rig_open(r, 0, &x);
}

TEST("a card that always answers says that it cannot be silent")
{
	struct rig *r = rig_create(8);

	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = 2), FL_ST_OK);
	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 2, .flags = FL_SILENT_WRITE),
		  FL_ST_BAD_ARGUMENT);
	EXPECT(!fw_is_silent(r->fw, RIG_NODE, PEER_CTX));
}

TEST("flags that do not exist, and slots that are not open, are refused")
{
	struct rig_slot w;
	struct rig *r = silent_rig(&w);

	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 2, .flags = 4),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 2, .a = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 3, .flags = 1),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 2, .flags = 3), FL_ST_OK);
}

TEST("only what was accepted for a silent slot hears nothing, WRITE and READ apart")
{
	struct rig_slot w, v;
	struct rig *r = silent_rig(&w);
	struct rig_rxc x;

	rig_slot(r, &v, 3);
	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 2, .flags = FL_SILENT_WRITE),
		  FL_ST_OK);
	EXPECT(!fw_is_silent(r->fw, RIG_NODE, PEER_CTX));
	EXPECT_EQ(silent_open(r, silent_incoming(&w, WOP_WRITE, 1)), FL_ST_OK);
	EXPECT(fw_is_silent(r->fw, RIG_NODE, PEER_CTX));
	EXPECT(!fw_is_silent(r->fw, RIG_NODE, PEER_CTX + 1));
	EXPECT(!fw_is_silent(r->fw, RIG_NODE + 1, PEER_CTX));
	STEP("a block that is refused says nothing about silence");
	x = silent_incoming(&v, WOP_WRITE, 2);
	x.rkey ^= 0x100;
	EXPECT_EQ(silent_open(r, x), FL_ST_REMOTE_ACCESS);
	EXPECT(fw_is_silent(r->fw, RIG_NODE, PEER_CTX));
	STEP("a slot beside it answers, from the same context of the peer");
	EXPECT_EQ(silent_open(r, silent_incoming(&v, WOP_WRITE, 3)), FL_ST_OK);
	EXPECT(!fw_is_silent(r->fw, RIG_NODE, PEER_CTX));
	STEP("a READ of the silent slot is answered: only WRITEs are not");
	x = silent_incoming(&w, WOP_READ_REQ, 4);
	EXPECT_EQ(silent_open(r, x), FL_ST_OK);
	EXPECT(!fw_is_silent(r->fw, RIG_NODE, PEER_CTX));
	STEP("what the slot says later is for later blocks");
	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 2, .flags = 0), FL_ST_OK);
	EXPECT_EQ(silent_open(r, silent_incoming(&w, WOP_WRITE, 5)), FL_ST_OK);
	EXPECT(!fw_is_silent(r->fw, RIG_NODE, PEER_CTX));
}

TEST("a slot that is opened anew is not silent")
{
	struct rig_slot w;
	struct rig *r = silent_rig(&w);

	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 2, .flags = 3), FL_ST_OK);
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 2), FL_ST_OK);
	rig_slot(r, &w, 2);
	EXPECT_EQ(silent_open(r, silent_incoming(&w, WOP_WRITE, 1)), FL_ST_OK);
	EXPECT(!fw_is_silent(r->fw, RIG_NODE, PEER_CTX));
}

TEST("a READ that lacks pages is forgotten, and taken when it is asked for again")
{
	struct rig_slot w;
	struct rig *r = silent_rig(&w);
	struct rig_rxc x = silent_incoming(&w, WOP_READ_REQ, 1);
	uint32_t n;

	EXPECT_EQ(CMD(r, SLOT_SILENT, .slot = 2, .flags = FL_SILENT_READ),
		  FL_ST_OK);
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	EXPECT_EQ(rig_busy(r), 1);
	n = r->order[0];
	STEP("its context meets a page that is not there: it is over");
	rig_fault(r, n);
	rig_run(r);
	EXPECT_EQ(r->traced[EV_FW_SILENT], 1);
	rig_drain(r);
	EXPECT_EQ(rig_busy(r), 0);
	EXPECT(fw_idle(r->fw));
	STEP("the peer's timer: the same READ, one attempt later");
	x.word++;
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	EXPECT_EQ(rig_busy(r), 1);
	STEP("now all pages are there");
	rig_fly(r, r->order[1]);
	rig_end(r, r->order[1], FL_ST_OK);
	rig_run(r);
	EXPECT(fw_idle(r->fw));
}
