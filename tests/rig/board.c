// SPDX-License-Identifier: BSD-2-Clause
#include "rig/board.h"

uint64_t rig_reg(struct node *n, uint32_t off)
{
	uint64_t v;

	EXPECT_EQ(board_read(n->board, BUS_NIC_BASE + off, 4, &v), 0);
	return v;
}

uint32_t rig_command(struct node *n, struct fl_fw_cmd c)
{
	uint32_t word[16], status;
	int i;

	memcpy(word, &c, sizeof(word));
	for (i = 0; i < 16; i++)
		rig_set(n, NIC_FW_BASE + NIC_FW_CMD(i), word[i]);
	rig_set(n, NIC_FW_BASE + NIC_FW_CMD_GO, 1);
	while ((status = (uint32_t)rig_reg(n,
					   NIC_FW_BASE + NIC_FW_CMD_STATUS)) &
	       NIC_FW_CMD_STATUS_BUSY)
		sim_yield();
	EXPECT_EQ(status >> NIC_FW_CMD_STATUS_CODE_SHIFT, FL_ST_OK);
	return (uint32_t)rig_reg(n, NIC_FW_BASE + NIC_FW_CMD_RESULT);
}

void set_up(struct node *n)
{
	rig_set(n, NIC_ENG_BASE + NIC_ENG_CTRL, NIC_ENG_CTRL_ENABLE);
	rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_SLOT_OPEN,
				       .a = BOARD_STREAM(0) });
	n->pd = rig_command(n,
			    (struct fl_fw_cmd){ .opcode = FL_CMD_PD_CREATE });
	n->cq = rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_CQ_CREATE,
					       .a = n->cq_pa, .b = QUEUE });
	n->qp = rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
					       .a = n->sq_pa, .b = QUEUE,
					       .c = n->cq, .d = n->pd });
	n->key = rig_command(n, (struct fl_fw_cmd){
		.opcode = FL_CMD_MR_CREATE, .a = n->data_pa, .b = DATA,
		.c = n->pd, .flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE |
				     FL_ACC_REMOTE_READ });
}

void rig_post(struct node *n, struct node *peer, uint8_t opcode, uint64_t local,
	      uint64_t remote, uint32_t len)
{
	struct fl_wqe *sq = dram_at(board_dram(n->board), n->sq_pa, 64 * QUEUE);
	struct fl_wqe w = {
		.opcode = opcode, .flags = FL_WQE_SIGNALED, .index = n->posted,
		.length = len, .local_va = n->data_pa + local,
		.remote_va = peer->data_pa + remote, .lkey = n->key,
		.rkey = peer->key, .wr_id = 1000 + n->posted, .xfer = 1,
	};

	sq[n->posted++ % QUEUE] = w;
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_SQ,
		n->qp | (uint32_t)n->posted << 16);
}

struct fl_cqe wait_one(struct node *n)
{
	struct fl_cqe *cq = dram_at(board_dram(n->board), n->cq_pa, 32 * QUEUE);
	struct fl_cqe *e = &cq[n->taken % QUEUE];
	uint32_t phase = 1 + n->taken / QUEUE;
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;

	while (__atomic_load_n(&e->phase, __ATOMIC_ACQUIRE) != phase) {
		EXPECT_GE(end_ns, os_now_ns());
		board_pump(n->board);
		sim_spend(100);
	}
	n->taken++;
	rig_set(n, NIC_DB_BASE(0) + NIC_DB_CQ_CONS, n->cq | n->taken << 16);
	return *e;
}

void rig_fill(struct node *n, uint64_t seed)
{
	uint8_t *d = rig_data(n);
	struct rng r;
	int i;

	rng_init(&r, seed, "data");
	for (i = 0; i < DATA; i++)
		d[i] = (uint8_t)rng_next(&r);
}

static void rig_driver(void *arg)
{
	struct testbed *w = arg;
	int i;

	for (i = 0; i < 2; i++)
		set_up(&w->n[i]);
	for (i = 0; i < 2; i++)
		rig_command(&w->n[i], (struct fl_fw_cmd){
			.opcode = FL_CMD_QP_CONNECT, .object = w->n[i].qp,
			.a = (uint64_t)!i, .b = w->n[!i].qp });
	w->body(w);
}

static bool at_rest(struct testbed *w)
{
	return !board_busy(w->n[0].board) && !board_busy(w->n[1].board) &&
	       fabric_idle(w->fabric);
}

/* In lockstep it is; in threads copies of packets may still be on their way. */
static void come_to_rest(struct testbed *w)
{
	uint64_t end_ns = os_now_ns() + TEST_PATIENCE_NS;

	while (sim_mode(w->sim) == SIM_THREADS && !at_rest(w) &&
	       os_now_ns() < end_ns) {
		board_pump(w->n[0].board);
		board_pump(w->n[1].board);
		os_yield();
	}
	EXPECT(at_rest(w));
}

/* It may lose or hold back something; a rule without anything only sends all the long way. */
static bool rig_hinders(const struct fabric_inject *i)
{
	return i && (i->loss_ppm || i->duplicate_ppm || i->damage_ppm ||
		     i->late_ppm || i->drop_first);
}

uint32_t rig_cell_bytes, rig_walk_cache;
enum sim_drive rig_drive;

void rig_run(enum sim_mode mode, void (*body)(struct testbed *w),
	     const struct fabric_inject *inject)
{
	static struct testbed w;
	struct sim_config sc = { .mode = mode, .drive = rig_drive, .seed = test_seed() };
	struct trace_config tc = { .threads = mode == SIM_THREADS };
	struct fabric_config fc;
	int i, err;

	memset(&w, 0, sizeof(w));
	w.body = body;
	timing_defaults(&w.timing);
	w.timing.v[T_WALL_TIMEOUT] = rig_hinders(inject) ? 2000000 :
							    1000000000;
	if (rig_cell_bytes)
		w.timing.v[T_LINK_CELL] = rig_cell_bytes;
	w.trace = trace_create(&tc);
	sc.trace = w.trace;
	w.sim = sim_create(&sc);
	fc = (struct fabric_config){ .sim = w.sim, .trace = w.trace,
				     .timing = &w.timing };
	w.fabric = fabric_create(&fc);
	for (i = 0; i < 2; i++) {
		struct board_config bc = {
			.name = i ? "b" : "a", .id = (uint8_t)i, .sim = w.sim,
			.fabric = w.fabric, .trace = w.trace,
			.timing = &w.timing,
			.walk_cache_entries = rig_walk_cache,
		};
		struct node *n = &w.n[i];

		n->board = board_create(&bc, &err);
		EXPECT(n->board);
		EXPECT_EQ(dram_bank_add(board_dram(n->board), "test", 1 << 20),
			  0);
		n->mem = dram_bank(board_dram(n->board), 0);
		n->sq_pa = DRAM_BASE;
		n->cq_pa = DRAM_BASE + 4096;
		n->data_pa = DRAM_BASE + 65536;
	}
	EXPECT_EQ(fabric_link(w.fabric, 0, 1), 0);
	if (inject) {
		EXPECT_EQ(fabric_inject(w.fabric, 0, 1, inject), 0);
		EXPECT_EQ(fabric_inject(w.fabric, 1, 0, inject), 0);
	}
	sim_thread_start(w.sim, "driver", false, rig_driver, &w);
	EXPECT_EQ(sim_run(w.sim, 0, 1000000000), SIM_FINISHED);
	come_to_rest(&w);
	sim_stop(w.sim);
	for (i = 0; i < 2; i++)
		board_destroy(w.n[i].board);
	sim_destroy(w.sim);
	fabric_destroy(w.fabric);
	trace_destroy(w.trace);
}
