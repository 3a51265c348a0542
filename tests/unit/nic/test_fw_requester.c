// SPDX-License-Identifier: BSD-2-Clause
/* The requester: cutting into blocks, failures, completions in order. */
#include "rig/fw.h"

TEST("a request is cut into consecutive blocks that say what comes after them")
{
	static const uint32_t lengths[] = { 1, 8, RIG_BLOCK - 1, RIG_BLOCK,
		RIG_BLOCK + 1, 5 * RIG_BLOCK, 5 * RIG_BLOCK + 77 };
	struct rig *r = rig_create(16);
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint32_t left = lengths[i], n = 0;
		struct rig_slot w;
		struct fl_wqe e;

		STEP("%u bytes", left);
		rig_restart(r);
		rig_slot(r, &w, 1);
		e = rig_wqe(&w, left);
		e.local_va += 3;
		e.remote_va += 4095;
		rig_post(r, &w, e);
		while (left) {
			struct rig_ctx *c = &r->ctx[r->order[n]];
			uint32_t len = left < RIG_BLOCK ? left : RIG_BLOCK;

			EXPECT_EQ(c->lva, e.local_va + n * RIG_BLOCK);
			EXPECT_EQ(c->rva, e.remote_va + n * RIG_BLOCK);
			EXPECT_EQ(c->len, len);
			EXPECT_EQ(c->left, left - len);
			EXPECT_EQ(c->block, n + 1);
			EXPECT_EQ(c->xfer, e.xfer);
			EXPECT_EQ(c->op, FL_OP_WRITE);
			EXPECT_EQ(c->rkey, e.rkey);
			EXPECT_EQ(c->stream, 0x201);
			EXPECT_EQ(c->dst, RIG_NODE | RIG_PEER_QP << 8);
			left -= len;
			n++;
		}
		EXPECT_EQ(r->started, n);
		rig_drain(r);
		rig_expect_cqe(r, &w, 0, FL_ST_OK);
		EXPECT(fw_idle(r->fw));
	}
}

TEST("a READ asks with its own operation, key and addresses")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_ctx *c;
	struct fl_wqe e;

	rig_slot(r, &w, 1);
	e = rig_wqe(&w, RIG_BLOCK + 5);
	e.opcode = FL_OP_READ;
	rig_post(r, &w, e);
	EXPECT_EQ(r->started, 2);
	c = &r->ctx[r->order[1]];
	EXPECT_EQ(c->op, FL_OP_READ);
	EXPECT_EQ(c->lva, e.local_va + RIG_BLOCK);
	EXPECT_EQ(c->rva, e.remote_va + RIG_BLOCK);
	EXPECT_EQ(c->len, 5);
	EXPECT_EQ(c->rkey, e.rkey);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("a request of 4 GB less one byte goes through in blocks")
{
	struct rig *r = rig_create(16);
	struct rig_slot w;
	struct fl_cqe e;
	struct fl_wqe q;

	rig_slot(r, &w, 1);
	q = rig_wqe(&w, ~0u);
	q.local_va = 1;
	q.lkey = rig_mr(r, 1, w.pd, 0, ~0ull, 7);
	rig_post(r, &w, q);
	rig_drain(r);
	EXPECT_EQ(r->started, 1u << 18);
	EXPECT(rig_poll(r, &w, &e));
	EXPECT_EQ(e.status, FL_ST_OK);
	EXPECT_EQ(e.length, ~0u);
}

TEST("a completion gives back what the request said")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fl_wqe q;
	struct fl_cqe e;

	rig_slot(r, &w, 1);
	q = rig_wqe(&w, 777);
	q.wr_id = 0x123456789ABCDEFull;
	rig_post(r, &w, q);
	EXPECT(!rig_poll(r, &w, &e));
	rig_drain(r);
	EXPECT(rig_poll(r, &w, &e));
	EXPECT_EQ(e.wr_id, q.wr_id);
	EXPECT_EQ(e.length, 777);
	EXPECT_EQ(e.qpn, w.qp);
	EXPECT_EQ(e.status, FL_ST_OK);
	EXPECT_EQ(e.opcode, FL_OP_WRITE);
	EXPECT_EQ(e.index, 0);
	EXPECT_EQ(e.xfer, q.xfer);
	EXPECT_EQ(e.resends, 0);
	EXPECT_EQ(e.phase, 1);
	EXPECT(!rig_poll(r, &w, &e));
}

TEST("a request that is not signaled completes silently, unless it fails")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fl_wqe e;

	rig_slot(r, &w, 1);
	e = rig_wqe(&w, 8);
	e.flags = 0;
	rig_post(r, &w, e);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_drain(r);
	rig_expect_cqe(r, &w, 1, FL_ST_OK);
	e = rig_wqe(&w, 8);
	e.flags = 0;
	rig_post(r, &w, e);
	rig_end(r, r->order[2], FL_ST_REMOTE_ACCESS);
	rig_run(r);
	rig_expect_cqe(r, &w, 2, FL_ST_REMOTE_ACCESS);
}

TEST("every status of a block reaches the completion; one that cannot be becomes NO_ANSWER")
{
	struct rig *r = rig_create(8);
	uint32_t status;

	for (status = 1; status < 256; status++) {
		struct rig_slot w;

		rig_restart(r);
		rig_slot(r, &w, 1);
		rig_post(r, &w, rig_wqe(&w, 8));
		rig_fly(r, r->order[0]);
		rig_end(r, r->order[0], status);
		rig_run(r);
		rig_expect_cqe(r, &w, 0, status <= FL_ST_FAULT_FAST ?
			       (uint8_t)status : FL_ST_NO_ANSWER);
		/* Behind that one a queue pair halts, and can be resumed. */
		EXPECT_EQ(rig_event(r), status != FL_ST_FAULT_FAST);
		if (status != FL_ST_FAULT_FAST)
			EXPECT_EQ(r->eqe.type, FL_EV_QP_ERROR);
	}
}

TEST("a block that fails takes its request and later ones with it, not earlier ones")
{
	struct rig *r = rig_create(16);
	struct rig_slot w;
	struct fl_cqe e;
	uint32_t i;

	rig_slot(r, &w, 1);
	for (i = 0; i < 4; i++) {
		struct fl_wqe q = rig_wqe(&w, 3 * RIG_BLOCK);

		rig_put(r, &w, &q);
	}
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	EXPECT_EQ(r->started, 12);
	STEP("the last block of the second request fails");
	rig_fly(r, r->order[5]);
	rig_end(r, r->order[5], FL_ST_REMOTE_ACCESS);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 3);
	EXPECT(!rig_poll(r, &w, &e));
	rig_expect_event(r, FL_EV_QP_ERROR, w.qp, FL_ST_REMOTE_ACCESS);
	rig_drain(r);
	EXPECT_EQ(r->started, 12);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
	rig_expect_cqe(r, &w, 1, FL_ST_REMOTE_ACCESS);
	rig_expect_cqe(r, &w, 2, FL_ST_FLUSHED);
	rig_expect_cqe(r, &w, 3, FL_ST_FLUSHED);
	EXPECT(fw_idle(r->fw));
}

TEST("when an earlier request fails after a later one, only the earlier has a cause")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_post(r, &w, rig_wqe(&w, 8));
	rig_end(r, r->order[1], FL_ST_REMOTE_ACCESS);
	rig_run(r);
	rig_end(r, r->order[0], FL_ST_REMOTE_FAULT);
	rig_run(r);
	rig_expect_cqe(r, &w, 0, FL_ST_REMOTE_FAULT);
	rig_expect_cqe(r, &w, 1, FL_ST_FLUSHED);
	rig_expect_event(r, FL_EV_QP_ERROR, w.qp, FL_ST_REMOTE_ACCESS);
	EXPECT(!rig_event(r));
}

TEST("a long request stops being sent when one of its blocks fails")
{
	struct rig *r = rig_create(4);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 100 * RIG_BLOCK));
	EXPECT_EQ(r->started, 2);
	rig_end(r, r->order[0], FL_ST_LOCAL_FAULT);
	rig_run(r);
	rig_drain(r);
	EXPECT_EQ(r->started, 2);
	rig_expect_cqe(r, &w, 0, FL_ST_LOCAL_FAULT);
}

TEST("blocks that were sent more than once are counted")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct fl_cqe e;
	uint32_t n;

	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 3 * RIG_BLOCK));
	n = r->order[1];
	rig_fly(r, n);
	rig_refuse(r, n);
	rig_run(r);
	STEP("READY of the peer: the block goes again, twice");
	r->ctx[n].state = FL_TX_READY;
	r->ctx[n].attempt = 255;
	rig_fly(r, n);
	rig_run(r);
	r->ctx[n].state = FL_TX_READY;
	r->ctx[n].attempt = 256;
	rig_fly(r, n);
	rig_run(r);
	rig_drain(r);
	EXPECT(rig_poll(r, &w, &e));
	EXPECT_EQ(e.resends, 1);
}

TEST("a note of a block that is over changes nothing")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t n;

	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 8));
	n = r->order[0];
	rig_note(r, FL_NOTE_TX_DONE, n, r->ctx[n].gen - 1);
	rig_note(r, FL_NOTE_TX_REFUSED, n, r->ctx[n].gen - 1);
	rig_note(r, FL_NOTE_TX_DONE, n, r->ctx[n].gen);
	rig_note(r, FL_NOTE_TX_DONE, 7, 0);
	rig_note(r, FL_NOTE_TX_DONE, 15, 0);
	rig_note(r, FL_NOTE_TX_DONE, 255, 0);
	rig_note(r, 99, n, r->ctx[n].gen);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 1);
	EXPECT_EQ(r->alarm, FW_NEVER);
	rig_drain(r);
	rig_expect_cqe(r, &w, 0, FL_ST_OK);
}

TEST("blocks end in any order: completions come in order, each once")
{
	struct rig *r = rig_create(16);
	uint64_t seed = test_seed() + 5;
	uint32_t posted = 0, taken = 0, blocks = 0, most = 0;
	uint32_t expected[65536 / 16] = { 0 };
	struct rig_slot w;

	rig_slot(r, &w, 1);
	while (taken < 4000) {
		struct fl_cqe e;
		uint32_t n;

		while (posted < 4000 && posted - taken < w.sq_size &&
		       rig_random(&seed) % 4) {
			uint32_t len = 1 + rig_random(&seed) % (RIG_BLOCK * 4);
			struct fl_wqe q = rig_wqe(&w, len);

			expected[posted++] = len;
			blocks += (len + RIG_BLOCK - 1) / RIG_BLOCK;
			rig_put(r, &w, &q);
			EXPECT_EQ(rig_ring(r, &w), 0);
		}
		rig_run(r);
		most = rig_busy(r) > most ? rig_busy(r) : most;
		n = rig_random(&seed) % 16;
		if (r->ctx[n].state == FL_TX_READY)
			rig_end(r, n, FL_ST_OK);
		rig_run(r);
		while (rig_poll(r, &w, &e)) {
			EXPECT_EQ(e.index, (uint16_t)taken);
			EXPECT_EQ(e.length, expected[taken]);
			EXPECT_EQ(e.status, FL_ST_OK);
			taken++;
		}
	}
	EXPECT_EQ(r->started, blocks);
	EXPECT_EQ(most, 14);
	EXPECT(fw_idle(r->fw));
}

TEST("blocks end and fail in any order: success never follows a failure")
{
	uint64_t seed = test_seed() + 6;
	struct rig *r = rig_create(8);
	uint32_t round;

	for (round = 0; round < 300; round++) {
		uint32_t taken = 0, i;
		struct rig_slot w;
		bool failed = false;

		rig_restart(r);
		rig_slot(r, &w, 1);
		for (i = 0; i < 60; i++) {
			struct fl_wqe q = rig_wqe(&w, 1 + rig_random(&seed) %
						  (RIG_BLOCK * 3));

			rig_put(r, &w, &q);
		}
		EXPECT_EQ(rig_ring(r, &w), 0);
		while (taken < 60) {
			uint32_t n = rig_random(&seed) % 8;
			struct fl_cqe e;

			rig_run(r);
			if (r->ctx[n].state == FL_TX_READY)
				rig_end(r, n, rig_random(&seed) % 20 ? 0 :
					FL_ST_REMOTE_FAULT);
			while (rig_poll(r, &w, &e)) {
				EXPECT_EQ(e.index, taken++);
				if (failed)
					EXPECT_EQ(e.status, FL_ST_FLUSHED);
				failed = failed || e.status;
			}
		}
		rig_run(r);
		EXPECT(fw_idle(r->fw));
		EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key),
			  FL_ST_OK);
	}
}
