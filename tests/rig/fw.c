// SPDX-License-Identifier: BSD-2-Clause
#include "rig/fw.h"

static bool rig_mem_bad(const struct rig *r, uint64_t pa, uint32_t len)
{
	if (pa >= RIG_MEM || len > RIG_MEM - pa)
		return true;
	return pa < r->bad_to && pa + len > r->bad_from;
}

static int rig_mem_read(void *arg, uint64_t pa, void *buf, uint32_t len)
{
	struct rig *r = arg;

	r->reads += len == sizeof(struct fl_wqe);
	if (rig_mem_bad(r, pa, len))
		return -5;
	memcpy(buf, r->mem + pa, len);
	return 0;
}

static int rig_mem_write(void *arg, uint64_t pa, const void *buf, uint32_t len)
{
	struct rig *r = arg;

	if (rig_mem_bad(r, pa, len))
		return -5;
	memcpy(r->mem + pa, buf, len);
	return 0;
}

static int rig_mem_publish(void *arg, uint64_t pa, uint32_t value)
{
	return rig_mem_write(arg, pa, &value, 4);
}

static void rig_irq(void *arg, unsigned int line, bool level)
{
	struct rig *r = arg;

	if (line != FW_LINE_EVENT || level == r->line)
		r->misuse = "the line was driven without a change";
	r->line = level;
}

static void rig_kick(void *arg)
{
	((struct rig *)arg)->kicks++;
}

static void rig_alarm(void *arg, uint64_t when_ns)
{
	((struct rig *)arg)->alarm = when_ns;
}

static int rig_draw(void *arg, uint32_t *value)
{
	struct rig *r = arg;

	r->drawn = r->drawn * 1664525u + 1013904223u;
	*value = r->drawn ^ r->drawn >> 15;
	return r->no_random ? -11 : 0;
}

static uint64_t rig_trace(void *arg, unsigned int event, uint32_t xfer,
			  uint32_t block, uint64_t cause, uint64_t a0,
			  uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct rig *r = arg;

	(void)xfer, (void)block, (void)a0, (void)a1, (void)a2;
	if (event >= EV_COUNT || cause > r->seq)
		r->misuse = "a trace record that cannot be";
	else
		r->traced[event]++;
	if (event == EV_FW_CHECK)
		r->seen = a3;
	return ++r->seq;
}

struct fw_env rig_env(struct rig *r)
{
	return (struct fw_env){
		.ctx = r, .engine = (struct engine *)r,
		.reg_read = rig_reg_read, .reg_write = rig_reg_write,
		.mem_read = rig_mem_read, .mem_write = rig_mem_write,
		.mem_publish = rig_mem_publish, .irq = rig_irq,
		.kick = rig_kick, .alarm = rig_alarm, .random = rig_draw,
		.trace = rig_trace,
		.transport = { r->transport, r->datagrams, r->fragments },
		.slot_row = r->slot_row,
	};
}

void rig_free(void *arg)
{
	struct rig *r = arg;

	free(r->fw_mem);
	free(r->mem);
	free(r);
}

void rig_run(struct rig *r)
{
	uint32_t i;

	if (r->far) {
		r->far->run(r);
		return;
	}
	for (i = 0; i < 1000000; i++) {
		/* What is not due is nothing. */
		bool due = fw_due(r->fw, r->now);
		bool more = fw_step(r->fw, r->now, r->costs);
		const char *wrong = fw_check(r->fw);

		if (wrong || r->misuse)
			STEP("%s", wrong ? wrong : r->misuse);
		EXPECT(!wrong);
		EXPECT(!r->misuse);
		EXPECT(due || !more);
		if (!more)
			return;
	}
	EXPECT(!"the firmware never comes to rest");
}

int rig_write(struct rig *r, uint32_t off, uint64_t value)
{
	if (r->far)
		return r->far->write(r, off, value);
	return fw_reg_write(r->fw, off, 4, value);
}

uint64_t rig_reg(struct rig *r, uint32_t off, unsigned int size)
{
	uint64_t v = 0;

	if (r->far)
		return r->far->read(r, NIC_FW_BASE + off, size);
	EXPECT_EQ(fw_reg_read(r->fw, NIC_FW_BASE + off, size, &v), 0);
	return v;
}

void rig_restart(struct rig *r)
{
	struct rig old = *r;
	struct fw_env env = rig_env(r);

	*r = (struct rig){ .contexts = old.contexts, .mem = old.mem,
			   .fw_mem = old.fw_mem, .cfg = old.cfg,
			   .unit = old.unit, .transport = old.transport,
			   .datagrams = old.datagrams, .fragments = old.fragments,
			   .slot_row = old.slot_row,
			   .alarm = FW_NEVER };
	memset(r->mem, 0, RIG_MEM);
	memset(r->fw_mem, 0xA5, fw_size());
	r->fw = fw_init(r->fw_mem, &r->cfg, &env);
	EXPECT(r->fw);
	EXPECT_EQ(fw_reg_write(r->fw, NIC_FW_BASE + NIC_FW_EQ_BASE, 8, RIG_EQ),
		  0);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_EQ_SIZE, RIG_EQ_SIZE), 0);
}

struct rig *rig_create(uint32_t contexts)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->contexts = contexts;
	r->mem = malloc(RIG_MEM);
	r->fw_mem = aligned_alloc(64, (fw_size() + 63) / 64 * 64);
	r->cfg = (struct fw_config){
		.node = 1, .timeout_ns = RIG_TIMEOUT,
		.fault_timeout_ns = RIG_FAULT_TIMEOUT, .tries = 3,
		.refusals = 5, .waiting_share = 2, .busy_ns = RIG_BUSY,
	};
	test_cleanup(rig_free, r);
	rig_restart(r);
	return r;
}

/* ---- commands ---- */

void rig_cmd_fill(struct rig *r, const struct fl_fw_cmd *c)
{
	uint32_t w[16], i;

	memcpy(w, c, sizeof(w));
	for (i = 0; i < 16; i++)
		EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_CMD(i), w[i]), 0);
}

uint32_t rig_cmd(struct rig *r, struct fl_fw_cmd c)
{
	uint32_t status;

	rig_cmd_fill(r, &c);
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_CMD_GO, 1), 0);
	rig_run(r);
	status = (uint32_t)rig_reg(r, NIC_FW_CMD_STATUS, 4);
	EXPECT_EQ(status & NIC_FW_CMD_STATUS_BUSY, 0);
	r->result = rig_reg(r, NIC_FW_CMD_RESULT, 8);
	return status >> NIC_FW_CMD_STATUS_CODE_SHIFT;
}

uint32_t rig_mr(struct rig *r, uint32_t slot, uint32_t pd, uint64_t va,
		uint64_t bytes, uint32_t rights)
{
	EXPECT_EQ(CMD(r, MR_CREATE, .slot = slot, .c = pd, .a = va, .b = bytes,
		      .flags = rights), FL_ST_OK);
	return (uint32_t)r->result;
}

uint32_t rig_qp(struct rig *r, const struct rig_slot *w, uint64_t sq_pa,
		uint32_t entries)
{
	uint32_t qp;

	EXPECT_EQ(CMD(r, QP_CREATE, .slot = w->slot, .a = sq_pa, .b = entries,
		      .c = w->cq, .d = w->pd), FL_ST_OK);
	qp = (uint32_t)r->result;
	EXPECT_EQ(CMD(r, QP_CONNECT, .slot = w->slot, .object = qp,
		      .a = RIG_NODE, .b = RIG_PEER_QP), FL_ST_OK);
	return qp;
}

void rig_slot(struct rig *r, struct rig_slot *w, uint32_t slot)
{
	*w = (struct rig_slot){
		.slot = slot, .cq_size = 1024, .sq_size = 64,
		.cq_pa = 0x100000 + 0x40000 * slot,
		.sq_pa = 0x120000 + 0x40000 * slot,
	};
	EXPECT_EQ(CMD(r, SLOT_OPEN, .slot = slot, .a = 0x200 + slot), FL_ST_OK);
	EXPECT_EQ(CMD(r, PD_CREATE, .slot = slot), FL_ST_OK);
	w->pd = (uint32_t)r->result;
	w->key = rig_mr(r, slot, w->pd, RIG_VA, RIG_BYTES, 7);
	EXPECT_EQ(CMD(r, CQ_CREATE, .slot = slot, .a = w->cq_pa,
		      .b = w->cq_size), FL_ST_OK);
	w->cq = (uint32_t)r->result;
	w->qp = rig_qp(r, w, w->sq_pa, w->sq_size);
}

/* ---- a process ---- */

struct fl_wqe rig_wqe(const struct rig_slot *w, uint32_t length)
{
	return (struct fl_wqe){
		.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED,
		.length = length, .local_va = RIG_VA, .remote_va = 0x5000000,
		.lkey = w->key, .rkey = 0x4242, .wr_id = 1000u + w->tail,
		.index = w->tail, .xfer = 70000u + w->tail,
	};
}

void rig_put(struct rig *r, struct rig_slot *w, const struct fl_wqe *e)
{
	memcpy(r->mem + w->sq_pa + 64 * (w->tail % w->sq_size), e, sizeof(*e));
	w->tail++;
}

int rig_ring(struct rig *r, const struct rig_slot *w)
{
	return rig_write(r, NIC_DB_BASE(w->slot) + NIC_DB_SQ,
			 (w->qp & NIC_DB_SQ_QPN_MASK) | (uint32_t)w->tail << NIC_DB_SQ_TAIL_SHIFT);
}

void rig_post(struct rig *r, struct rig_slot *w, struct fl_wqe e)
{
	rig_put(r, w, &e);
	EXPECT_EQ(rig_ring(r, w), 0);
	rig_run(r);
}

bool rig_poll(struct rig *r, struct rig_slot *w, struct fl_cqe *e)
{
	memcpy(e, r->mem + w->cq_pa + 32 * (w->cons % w->cq_size), sizeof(*e));
	if (e->phase != 1 + w->cons / w->cq_size)
		return false;
	w->cons++;
	EXPECT_EQ(rig_write(r, NIC_DB_BASE(w->slot) + NIC_DB_CQ_CONS,
			    w->cq | w->cons << NIC_DB_CQ_CONS_CONS_SHIFT), 0);
	return true;
}

void rig_expect_cqe(struct rig *r, struct rig_slot *w, uint16_t index,
		    uint8_t status)
{
	struct fl_cqe e;

	EXPECT(rig_poll(r, w, &e));
	EXPECT_EQ(e.index, index);
	EXPECT_EQ(e.status, status);
	EXPECT_EQ(e.qpn, w->qp);
}

bool rig_event(struct rig *r)
{
	memcpy(&r->eqe, r->mem + RIG_EQ + 16 * (r->eq_cons % RIG_EQ_SIZE), 16);
	if (r->eqe.phase != 1 + r->eq_cons / RIG_EQ_SIZE)
		return false;
	r->eq_cons++;
	EXPECT_EQ(rig_write(r, NIC_FW_BASE + NIC_FW_EQ_CONS, r->eq_cons), 0);
	return true;
}

void rig_expect_event(struct rig *r, uint32_t type, uint32_t object,
		      uint32_t data)
{
	EXPECT(rig_event(r));
	EXPECT_EQ(r->eqe.type, type);
	EXPECT_EQ(r->eqe.object, object);
	EXPECT_EQ(r->eqe.data, data);
}

/* ---- hands that move a context along, as data path and network do ---- */

void rig_fly(struct rig *r, uint32_t n)
{
	EXPECT_EQ(r->ctx[n].state, FL_TX_READY);
	r->ctx[n].state = FL_TX_FLYING;
	rig_note_ctx(r, FL_NOTE_TX_FLYING, n);
}

void rig_end(struct rig *r, uint32_t n, uint32_t status)
{
	if (r->ctx[n].state == FL_TX_READY && !status)
		rig_fly(r, n);
	r->ctx[n].state = FL_TX_DONE;
	r->ctx[n].status = status;
	rig_note_ctx(r, FL_NOTE_TX_DONE, n);
}

void rig_refuse(struct rig *r, uint32_t n)
{
	EXPECT_EQ(r->ctx[n].state, FL_TX_FLYING);
	r->ctx[n].state = FL_TX_DSTFAULT;
	rig_note_ctx(r, FL_NOTE_TX_REFUSED, n);
}

void rig_fault(struct rig *r, uint32_t n)
{
	EXPECT_EQ(r->ctx[n].state, FL_TX_READY);
	r->ctx[n].state = FL_TX_SRCFAULT;
	rig_note_ctx(r, FL_NOTE_TX_WAITING, n);
}

uint32_t rig_busy(const struct rig *r)
{
	uint32_t i, n = 0;

	for (i = 0; i < r->contexts; i++)
		n += r->ctx[i].state != FL_TX_FREE;
	return n;
}

void rig_drain(struct rig *r)
{
	uint32_t i;

	while (rig_busy(r)) {
		for (i = 0; i < r->contexts; i++)
			if (r->ctx[i].state != FL_TX_FREE &&
			    r->ctx[i].state != FL_TX_DONE)
				rig_end(r, i, FL_ST_OK);
		rig_run(r);
	}
}

uint32_t rig_offer(struct rig *r, uint32_t n, const struct rig_rxc *x)
{
	uint32_t before = r->rxc[n].verdicts;

	r->rxc[n] = *x;
	r->rxc[n].verdicts = before;
	rig_note(r, FL_NOTE_RX_OPEN, n, 0x5A);
	rig_run(r);
	if (r->rxc[n].verdicts == before)
		return RIG_HELD;
	EXPECT_EQ(r->rxc[n].verdicts, before + 1);
	EXPECT_EQ(r->rxc[n].verdict >> NIC_RXC_VERDICT_SERIAL_SHIFT & 0xFF,
		  0x5A);
	return r->rxc[n].verdict & NIC_RXC_VERDICT_CODE_MASK;
}

uint32_t rig_open(struct rig *r, uint32_t n, const struct rig_rxc *x)
{
	uint32_t verdict = rig_offer(r, n, x);

	EXPECT_NE(verdict, RIG_HELD);
	return verdict;
}

uint32_t rig_random(uint64_t *state)
{
	/* xorshift64*, Vigna 2016 */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)(*state * 0x2545F4914F6CDD1Dull >> 32);
}
