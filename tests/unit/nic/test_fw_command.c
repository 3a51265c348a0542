// SPDX-License-Identifier: BSD-2-Clause
/*
 * The firmware's mailbox: commands of the driver, registers, what a slot owns.
 */
#include "nic/fw_internal.h"
#include "rig/fw.h"

TEST("the firmware's event numbers are those of the trace")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_GE(r->traced[EV_FW_COMMAND], 6);
	rig_post(r, &w, rig_wqe(&w, 8));
	EXPECT_EQ(r->traced[EV_FW_WQE], 1);
	EXPECT_EQ(r->traced[EV_FW_BLOCK], 1);
	rig_drain(r);
	EXPECT_EQ(r->traced[EV_FW_COMPLETE], 1);
}

TEST("a configuration or an engine that makes no sense gives no firmware")
{
	struct rig *r = rig_create(8);
	struct fw_env env = rig_env(r);
	struct fw_config cfg = r->cfg;

	r->contexts = 3;
	EXPECT(!fw_init(r->fw_mem, &cfg, &env));
	r->contexts = 17;
	EXPECT(!fw_init(r->fw_mem, &cfg, &env));
	r->contexts = 8;
	cfg.node = FW_NODES;
	EXPECT(!fw_init(r->fw_mem, &cfg, &env));
	cfg = r->cfg;
	cfg.timeout_ns = 0;
	EXPECT(!fw_init(r->fw_mem, &cfg, &env));
	cfg = r->cfg;
	cfg.fault_timeout_ns = 0;
	EXPECT(!fw_init(r->fw_mem, &cfg, &env));
	EXPECT(fw_init(r->fw_mem, &r->cfg, &env));
}

TEST("the mailbox says who it is and what it can hold")
{
	struct rig *r = rig_create(8);

	EXPECT_EQ(rig_reg(r, NIC_FW_ID, 4), 0x57464C46);
	EXPECT_EQ(rig_reg(r, NIC_FW_LIMITS0, 4), FW_QPS | FW_CQS << 16);
	EXPECT_EQ(rig_reg(r, NIC_FW_LIMITS1, 4), FW_MRS | FW_SLOTS << 16);
	EXPECT_EQ(rig_reg(r, NIC_FW_NODE, 4), 1);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_BASE, 8), RIG_EQ);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_BASE, 4), RIG_EQ);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_SIZE, 4), RIG_EQ_SIZE);
}

TEST("a register access that makes no sense is refused, traced and harmless")
{
	static const struct {
		uint32_t off;
		unsigned int size;
		uint64_t value;
	} bad[] = {
		{ NIC_FW_BASE + NIC_FW_ID, 4, 1 },
		{ NIC_FW_BASE + NIC_FW_LIMITS0, 4, 1 },
		{ NIC_FW_BASE + NIC_FW_IRQ_STATUS, 4, 1 },
		{ NIC_FW_BASE + NIC_FW_CMD_STATUS, 4, 1 },
		{ NIC_FW_BASE + NIC_FW_CMD_RESULT, 8, 1 },
		{ NIC_FW_BASE + NIC_FW_IRQ_ENABLE, 4, 2 },
		{ NIC_FW_BASE + NIC_FW_EQ_BASE, 8, 0x1008 },
		{ NIC_FW_BASE + NIC_FW_EQ_BASE, 4, 4 },
		{ NIC_FW_BASE + NIC_FW_EQ_SIZE, 4, 8 },
		{ NIC_FW_BASE + NIC_FW_EQ_SIZE, 4, 24 },
		{ NIC_FW_BASE + NIC_FW_EQ_SIZE, 4, 8192 },
		{ NIC_FW_BASE + NIC_FW_EQ_CONS, 4, 1 },
		{ NIC_FW_BASE + NIC_FW_CMD(0), 8, 1 },
		{ NIC_FW_BASE + NIC_FW_CMD(0), 4, 1ull << 32 },
		{ NIC_FW_BASE + NIC_FW_CMD(0) + 2, 4, 1 },
		{ NIC_FW_BASE + NIC_FW_CMD(0), 2, 1 },
		{ NIC_FW_BASE + 0x3C0, 4, 1 },
		{ NIC_DB_BASE(0) + NIC_DB_SQ, 4, 0 },
		{ NIC_DB_BASE(0) + NIC_DB_SQ, 8, 0 },
		{ NIC_DB_BASE(0) + 0x00C, 4, 0 },
		{ NIC_DB_BASE(16), 4, 0 },
		{ NIC_ENG_BASE + NIC_ENG_CTRL, 4, 1 },
		{ 0xFFFFFFFC, 4, 1 },
	};
	struct rig *r = rig_create(8);
	uint64_t v;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("write %u bytes to 0x%x", bad[i].size, bad[i].off);
		EXPECT_EQ(fw_reg_write(r->fw, bad[i].off, bad[i].size,
				       bad[i].value), -22);
		EXPECT_EQ(r->traced[EV_ENG_BAD_REG], i + 1);
	}
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_BASE, 8), RIG_EQ);
	EXPECT_EQ(rig_reg(r, NIC_FW_EQ_SIZE, 4), RIG_EQ_SIZE);
	EXPECT_EQ(fw_reg_read(r->fw, NIC_DB_BASE(0), 4, &v), -22);
	EXPECT_EQ(fw_reg_read(r->fw, NIC_FW_BASE + NIC_FW_CMD_GO, 4, &v), -22);
	EXPECT_EQ(fw_reg_read(r->fw, NIC_FW_BASE + 0x3C0, 4, &v), -22);
	EXPECT_EQ(fw_reg_read(r->fw, NIC_FW_BASE + NIC_FW_ID, 8, &v), -22);
	EXPECT_EQ(fw_reg_read(r->fw, NIC_FW_BASE + 1, 4, &v), -22);
	EXPECT_EQ(fw_reg_read(r->fw, 0, 4, &v), -22);
}

TEST("a command that is under way is not disturbed")
{
	struct rig *r = rig_create(8);

	rig_cmd_fill(r, &(struct fl_fw_cmd){ .opcode = FL_CMD_SLOT_OPEN,
					     .slot = 2 });
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_CMD_GO, 1), 0);
	EXPECT_EQ(rig_reg(r, NIC_FW_CMD_STATUS, 4), NIC_FW_CMD_STATUS_BUSY);
	EXPECT(!fw_idle(r->fw));
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_CMD_GO, 1), -22);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_CMD(1), 3), -22);
	rig_run(r);
	EXPECT_EQ(rig_reg(r, NIC_FW_CMD_STATUS, 4), 0);
	EXPECT_EQ(CMD(r, PD_CREATE, .slot = 2), FL_ST_OK);
	EXPECT_EQ(CMD(r, PD_CREATE, .slot = 3), FL_ST_NO_OBJECT);
	EXPECT(fw_idle(r->fw));
}

TEST("an unknown command or a member that the command does not use is refused")
{
	struct rig *r = rig_create(8);

	EXPECT_EQ(rig_cmd(r, (struct fl_fw_cmd){ 0 }), FL_ST_BAD_COMMAND);
	EXPECT_EQ(rig_cmd(r, (struct fl_fw_cmd){ .opcode = 99 }),
		  FL_ST_BAD_COMMAND);
	EXPECT_EQ(rig_cmd(r, (struct fl_fw_cmd){ .opcode = ~0u }),
		  FL_ST_BAD_COMMAND);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .e = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .f = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .b = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .object = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .a = 1), FL_ST_OK);
	EXPECT_EQ(CMD(r, PD_CREATE, .flags = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, PD_DESTROY, .a = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, QP_CONNECT, .c = 1), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, CQ_CREATE, .d = 1), FL_ST_BAD_ARGUMENT);
}

TEST("a slot opens once, within the table, with a stream of 15 bits")
{
	struct rig *r = rig_create(8);

	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = 16), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = 0, .a = 0x8000),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = 0, .a = 0x7FFF), FL_ST_OK);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = 0, .a = 1), FL_ST_BUSY);
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 1), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 0), FL_ST_OK);
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 0), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = 15, .a = 1), FL_ST_OK);
}

TEST("a region without bytes, round the address space or with odd rights is refused")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = w.pd, .a = 1),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = w.pd, .a = ~0ull - 9,
		      .b = 11), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = w.pd, .a = ~0ull - 9,
		      .b = 10), FL_ST_OK);
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = w.pd, .a = 0, .b = 1,
		      .flags = 16), FL_ST_BAD_ARGUMENT);
	STEP("a domain that is another slot's, or none");
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = v.pd, .b = 1),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = FW_PDS, .b = 1),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = 1ull << 40, .b = 1),
		  FL_ST_NO_OBJECT);
}

TEST("a key is drawn anew with each use of its number, and the old one is dead")
{
	struct rig *r = rig_create(8);
	uint32_t key, old = 0, i, bits = 0, same = 0, tag;
	const uint32_t number = 32 - __builtin_clz(FW_MRS - 1);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	for (i = 1; i < FW_MRS; i++)
		key = rig_mr(r, 1, w.pd, 0, 1, 0);
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = w.pd, .b = 1),
		  FL_ST_NO_ROOM);
	for (i = 0; i < 600; i++) {
		EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = key),
			  FL_ST_OK);
		EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = key),
			  FL_ST_NO_OBJECT);
		old = key;
		key = rig_mr(r, 1, w.pd, 0, 1, 0);
		EXPECT_EQ((key ^ old) & ((1u << number) - 1), 0);
		tag = (key ^ old) >> number;
		EXPECT_NE(tag, 0);
		EXPECT_NE(key >> number, 0);
		bits |= tag;
		same += key - old == 1u << number;
	}
	STEP("not counted up, and each bit of the tag changes");
	EXPECT_LE(same, 2);
	EXPECT_EQ(bits, ~0u >> number);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = 0), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = ~0u),
		  FL_ST_NO_OBJECT);
}

TEST("without random numbers there is no region, and nothing is lost")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	r->no_random = true;
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = w.pd, .b = 1),
		  FL_ST_NO_ROOM);
	r->no_random = false;
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = 1, .c = w.pd, .b = 1), FL_ST_OK);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1,
		      .object = (uint32_t)r->result), FL_ST_OK);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
}

TEST("a region is busy while a local work request uses it")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	rig_post(r, &w, rig_wqe(&w, 100));
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_BUSY);
	rig_drain(r);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
}

TEST("queues must be aligned, sized by a power of two, and not wrap")
{
	static const struct { uint64_t a, b; } bad[] = {
		{ 0x20000, 0 }, { 0x20000, 1 }, { 0x20000, 3 },
		{ 0x20000, 65536 }, { 0x20000, 1ull << 32 }, { 0x20020, 16 },
		{ ~0ull - 63, 16 },
	};
	struct rig *r = rig_create(8);
	struct rig_slot w;
	size_t i;

	rig_slot(r, &w, 1);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		STEP("%" PRIu64 " entries", bad[i].b);
		EXPECT_EQ(CMD(r, CQ_CREATE, .slot = 1, .a = bad[i].a,
			      .b = bad[i].b), FL_ST_BAD_ARGUMENT);
		EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = bad[i].a,
			      .b = bad[i].b, .c = w.cq, .d = w.pd),
			  FL_ST_BAD_ARGUMENT);
	}
}

TEST("each kind of object runs out with a clear status and comes back")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	for (i = 1; i < FW_CQS; i++)
		EXPECT_EQ(CMD(r, CQ_CREATE, .slot = 1, .a = 0x20000, .b = 2),
			  FL_ST_OK);
	EXPECT_EQ(CMD(r, CQ_CREATE, .slot = 1, .a = 0x20000, .b = 2),
		  FL_ST_NO_ROOM);
	for (i = 1; i < FW_QPS; i++)
		rig_qp(r, &w, 0x20000, 2);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = 0x20000, .b = 2, .c = w.cq,
		      .d = w.pd), FL_ST_NO_ROOM);
	for (i = 1; i < FW_PDS; i++)
		EXPECT_EQ(CMD(r, PD_CREATE, .slot = 1), FL_ST_OK);
	EXPECT_EQ(CMD(r, PD_CREATE, .slot = 1), FL_ST_NO_ROOM);
	EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
	rig_slot(r, &w, 1);
}

TEST("an object of another slot does not exist")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 2, .object = w.key),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, CQ_DESTROY, .slot = 2, .object = w.cq),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 2, .object = w.qp),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 2, .object = w.qp),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, PD_DESTROY, .slot = 2, .object = w.pd),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 2, .a = 0x20000, .b = 2, .c = w.cq,
		      .d = v.pd), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 2, .a = 0x20000, .b = 2, .c = v.cq,
		      .d = w.pd), FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, CQ_DESTROY, .slot = 2, .object = FW_CQS),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 2, .object = FW_QPS),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, PD_DESTROY, .slot = 2, .object = FW_PDS),
		  FL_ST_NO_OBJECT);
}

TEST("a queue or domain in use is busy, and free when its users are gone")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(CMD(r, CQ_DESTROY, .slot = 1, .object = w.cq), FL_ST_BUSY);
	EXPECT_EQ(CMD(r, PD_DESTROY, .slot = 1, .object = w.pd), FL_ST_BUSY);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp), FL_ST_OK);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp),
		  FL_ST_NO_OBJECT);
	EXPECT_EQ(CMD(r, PD_DESTROY, .slot = 1, .object = w.pd), FL_ST_BUSY);
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
	EXPECT_EQ(CMD(r, PD_DESTROY, .slot = 1, .object = w.pd), FL_ST_OK);
	EXPECT_EQ(CMD(r, CQ_DESTROY, .slot = 1, .object = w.cq), FL_ST_OK);
}

TEST("a queue pair is connected once, to a node and a number that can be")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	uint32_t qp;

	rig_slot(r, &w, 1);
	EXPECT_EQ(CMD(r, QP_CREATE, .slot = 1, .a = 0x20000, .b = 2, .c = w.cq,
		      .d = w.pd), FL_ST_OK);
	qp = (uint32_t)r->result;
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1, .object = qp, .a = FW_NODES),
		  FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1, .object = qp, .a = 1,
		      .b = 1 << 24), FL_ST_BAD_ARGUMENT);
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1, .object = qp, .a = 1, .b = 2),
		  FL_ST_OK);
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = 1, .object = qp, .a = 1, .b = 2),
		  FL_ST_BUSY);
}

TEST("destroying a queue pair completes all that was posted as killed, in order")
{
	struct rig *r = rig_create(4);
	struct rig_slot w;
	uint32_t i;

	rig_slot(r, &w, 1);
	for (i = 0; i < 50; i++) {
		struct fl_wqe e = rig_wqe(&w, 40000);

		rig_put(r, &w, &e);
	}
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 2);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp), FL_ST_OK);
	for (i = 0; i < 50; i++)
		rig_expect_cqe(r, &w, (uint16_t)i, FL_ST_KILLED);
	rig_run(r);
	EXPECT_EQ(rig_busy(r), 0);
	EXPECT_EQ(rig_ring(r, &w), -22);
	EXPECT(fw_idle(r->fw));
	EXPECT_EQ(CMD(r, MR_DESTROY, .slot = 1, .object = w.key), FL_ST_OK);
}

TEST("while a queue pair is being destroyed the others go on")
{
	struct rig *r = rig_create(8);
	struct rig_slot w, v;
	uint32_t i, steps;
	struct fl_cqe e;

	rig_slot(r, &w, 1);
	rig_slot(r, &v, 2);
	rig_post(r, &v, rig_wqe(&v, 8));
	rig_fly(r, r->order[0]);
	rig_run(r);
	for (i = 0; i < 60; i++) {
		struct fl_wqe q = rig_wqe(&w, 8);

		rig_put(r, &w, &q);
	}
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_cmd_fill(r, &(struct fl_fw_cmd){ .opcode = FL_CMD_QP_DESTROY,
					     .slot = 1, .object = w.qp });
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_CMD_GO, 1), 0);
	rig_end(r, r->order[0], FL_ST_OK);
	for (steps = 0; !rig_poll(r, &v, &e); steps++)
		fw_step(r->fw, r->now, r->costs);
	EXPECT_LE(steps, 4);
	EXPECT_EQ(rig_reg(r, NIC_FW_CMD_STATUS, 4), NIC_FW_CMD_STATUS_BUSY);
	rig_run(r);
	EXPECT_EQ(rig_reg(r, NIC_FW_CMD_STATUS, 4), 0);
	for (i = 0; i < 60; i++)
		rig_expect_cqe(r, &w, (uint16_t)i, FL_ST_KILLED);
}

TEST("an event of an object that is gone is not delivered")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;

	rig_slot(r, &w, 1);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_EQ_SIZE, 0), 0);
	w.tail = 100;
	EXPECT_EQ(rig_ring(r, &w), 0);
	rig_run(r);
	EXPECT_EQ(CMD(r, QP_DESTROY, .slot = 1, .object = w.qp), FL_ST_OK);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_EQ_SIZE, RIG_EQ_SIZE), 0);
	rig_run(r);
	EXPECT(!rig_event(r));
}

TEST("closing a slot kills its blocks in any state and frees all it owned")
{
	struct rig *r = rig_create(16);
	struct rig_slot w, v;
	struct rig_rxc x = {
		.src = RIG_NODE, .op = WOP_READ_REQ, .len = 100, .va = RIG_VA,
		.from = RIG_PEER_QP,
	};
	uint32_t round, i;

	for (round = 0; round < 40; round++) {
		rig_slot(r, &w, 1);
		rig_slot(r, &v, 2);
		rig_post(r, &w, rig_wqe(&w, 1 << 20));
		rig_post(r, &v, rig_wqe(&v, 1 << 20));
		x.src = RIG_NODE | w.qp << 8;
		x.rkey = w.key;
		x.word = 5u << 24 | round << 8;
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
		for (i = 0; i < 6; i++) {
			uint32_t n = (i + round) % 16;

			if (r->ctx[n].state != FL_TX_READY)
				continue;
			if (i == 0) {
				rig_fault(r, n);
			} else if (i < 4) {
				rig_fly(r, n);
				if (i == 2)
					rig_refuse(r, n);
			} else if (i == 4) {
				rig_end(r, n, FL_ST_OK);
			}
		}
		if (round & 1)
			rig_run(r);
		EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 1), FL_ST_OK);
		EXPECT_EQ(rig_ring(r, &w), -22);
		EXPECT_EQ(rig_open(r, 0, &x), FL_ST_REMOTE_QP);
		EXPECT_EQ(CMD(r, SLOT_CLOSE, .slot = 2), FL_ST_OK);
		EXPECT_EQ(rig_busy(r), 0);
		EXPECT(fw_idle(r->fw));
		EXPECT_EQ(r->alarm, FW_NEVER);
	}
	EXPECT(!rig_event(r));
}

TEST("random commands never crash, and what they made can be cleared away")
{
	struct rig *r = rig_create(8);
	/* In the order that the sources give them, between two that are none. */
	static const uint32_t code[13] = {
		0, FL_CMD_SLOT_OPEN, FL_CMD_SLOT_CLOSE, FL_CMD_MR_CREATE,
		FL_CMD_MR_DESTROY, FL_CMD_CQ_CREATE, FL_CMD_CQ_DESTROY,
		FL_CMD_QP_CREATE, FL_CMD_QP_CONNECT, FL_CMD_QP_DESTROY,
		FL_CMD_PD_CREATE, FL_CMD_PD_DESTROY, 99
	};
	uint64_t seed = test_seed() + 77;
	uint32_t i, k, good = 0;

	for (i = 0; i < 30000; i++) {
		struct fl_fw_cmd c = {
			.opcode = code[rig_random(&seed) % 13],
			.slot = rig_random(&seed) % 4,
			.object = rig_random(&seed) % 4,
			.a = rig_random(&seed) % 8 * 64,
			.b = 1ull << rig_random(&seed) % 17,
			.c = rig_random(&seed) % 4,
			.d = rig_random(&seed) % 4,
		};
		uint32_t *w = (uint32_t *)&c;

		/* Half of them with the members that the command wants. */
		if (c.opcode != FL_CMD_QP_CREATE && rig_random(&seed) % 4)
			c.d = 0;
		if (rig_random(&seed) % 2) {
			if (c.opcode != FL_CMD_MR_CREATE &&
			    c.opcode != FL_CMD_QP_CREATE)
				c.c = 0;
			if (c.opcode == FL_CMD_SLOT_OPEN ||
			    c.opcode == FL_CMD_SLOT_CLOSE ||
			    c.opcode == FL_CMD_PD_CREATE ||
			    c.opcode == FL_CMD_PD_DESTROY)
				c.b = 0;
			if (c.opcode == FL_CMD_PD_CREATE ||
			    c.opcode == FL_CMD_SLOT_OPEN ||
			    c.opcode == FL_CMD_SLOT_CLOSE ||
			    c.opcode == FL_CMD_MR_CREATE ||
			    c.opcode == FL_CMD_CQ_CREATE ||
			    c.opcode == FL_CMD_QP_CREATE)
				c.object = 0;
			if (c.opcode == FL_CMD_SLOT_CLOSE ||
			    c.opcode == FL_CMD_QP_DESTROY ||
			    c.opcode == FL_CMD_PD_CREATE ||
			    c.opcode == FL_CMD_PD_DESTROY)
				c.a = 0;
		}
		if (rig_random(&seed) % 8 == 0)
			w[rig_random(&seed) % 16] = rig_random(&seed);
		good += rig_cmd(r, c) == FL_ST_OK;
	}
	EXPECT_GE(good, 300);
	for (k = 0; k < 16; k++)
		CMD(r, SLOT_CLOSE, .slot = k);
	for (k = 0; k < 16; k++)
		EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = k), FL_ST_OK);
	for (k = 0; k < FW_PDS; k++)
		EXPECT_EQ(CMD(r, PD_CREATE, .slot = 0), FL_ST_OK);
}

TEST("the checker sees tables that do not agree, and says which")
{
	struct rig *r = rig_create(8);
	struct rig_slot w;
	struct rig_rxc x;
	struct fw_ctx *c;
	struct fw_qp *q;
	struct fw *fw;

	rig_slot(r, &w, 1);
	x = (struct rig_rxc){ .src = RIG_NODE | w.qp << 8, .len = 100,
			      .op = WOP_READ_REQ, .va = RIG_VA,
			      .rkey = w.key, .from = RIG_PEER_QP };
	EXPECT_EQ(rig_open(r, 0, &x), FL_ST_OK);
	rig_post(r, &w, rig_wqe(&w, 100 * RIG_BLOCK));
	fw = r->fw;
	q = &fw->qp[w.qp];
	c = &fw->ctx[r->order[1]];
	EXPECT(!fw_check(fw));
	WRONG(r, fw->free, 0, "the counts of contexts are wrong");
	WRONG(r, fw->request_ctxs, 0, "the counts of contexts are wrong");
	WRONG(r, fw->job_ctxs, 0, "the counts of contexts are wrong");
	WRONG(r, fw->active_count, 2,
	      "the count of active queue pairs is wrong");
	WRONG(r, c->wr, 9,
	      "a context works for a request that has completed");
	WRONG(r, q->state, FW_QP_DYING,
	      "a context works for a queue pair that is gone");
	WRONG(r, q->inflight, 9,
	      "a queue pair holds the contexts of the others");
	WRONG(r, q->inflight, 2,
	      "a queue pair counts contexts that it does not have");
	WRONG(r, q->wr[0].inflight, 2,
	      "a request counts contexts it does not have");
	WRONG(r, q->wr[0].mr, 77, "a request uses a region that is gone");
	WRONG(r, q->wr[0].issued, ~0u,
	      "more was sent than the request is long");
	WRONG(r, q->tail, 99,
	      "a queue pair has more requests than its queue");
	WRONG(r, q->wr_tail, FW_QP_WRS + 1,
	      "a queue pair holds more requests than it can");
	WRONG(r, q->cq, 77, "a queue pair has no completion queue");
	WRONG(r, fw->cq[w.cq].prod, 1025, "a completion queue was overwritten");
	WRONG(r, fw->eq.prod, 17, "the event queue was overwritten");
	WRONG(r, fw->job[0].state, FW_JOB_FREE,
	      "a context works for a job that is not active");
	WRONG(r, fw->peer[RIG_NODE][0].job, 0,
	      "a job does not belong to its peer");
	WRONG(r, fw->timed, 1u << 7,
	      "a timer runs for a context that needs none");
	rig_fly(r, r->order[1]);
	rig_run(r);
	WRONG(r, fw->alarm_ns, FW_NEVER, "the alarm is later than a deadline");
}
