// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reliable connections between two boards, with a small driver of this test's own: it takes fault
 * records, loads pages, answers, and takes pages away. Against plain arrays. variants: tsan
 */
#include "rig/card.h"

#include "faultline/system.h"

#define REGION_VA	0x7f1234567000ull	/* + 4096 * node */
#define SQ_PA		(DRAM_BASE + 0x2000)
#define RQ_PA		(DRAM_BASE + 0x3000)
#define PAGES		(DATA / 4096)
#define LANES		4
#define LANE		(DATA / LANES)
#define RING		16u

#define ROW(ir, iw, rr, rw, report)					      \
	(FL_VERDICT_##ir * (FL_ROW_IR & -FL_ROW_IR) |			      \
	 FL_VERDICT_##iw * (FL_ROW_IW & -FL_ROW_IW) |			      \
	 FL_VERDICT_##rr * (FL_ROW_RR & -FL_ROW_RR) |			      \
	 FL_VERDICT_##rw * (FL_ROW_RW & -FL_ROW_RW) |			      \
	 FL_REPORT_##report * (FL_ROW_REPORT & -FL_ROW_REPORT))

/* What an experiment is about. */
struct plan {
	uint32_t row;
	unsigned int batches;
	unsigned int evict;	/* one in so many looks at the ring takes a page away; 0: none */
	uint64_t share;		/* injected faults */
	bool wrong;		/* the driver answers every record with an error */
};

struct side {
	struct node *n;
	uint32_t qp, key, object, cons;
	uint16_t posted, received;
	uint64_t va;
	uint64_t tag[PAGES];
	uint8_t mirror[DATA];
	unsigned int records[4];	/* by kind */
	unsigned int synthetic, evictions;
};

static struct {
	const struct plan *plan;
	struct testbed *w;
	struct side s[2];
	struct rng rng, pager_rng;
	atomic_bool over;
} x;

/* ---- the driver ---- */

static uint64_t page_pa(const struct side *s, unsigned int i)
{
	return s->n->data_pa + 4096ull * i;
}

static void pager_load(struct side *s, unsigned int from, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		xp_list(s->n)[i] = page_pa(s, from + i) | FL_XP_VALID | FL_XP_WRITE;
	EXPECT_EQ(xp_order(s->n, NIC_XP_TAB_GO_LOAD, s->object, s->va + 4096ull * from,
			   count), FL_ST_OK);
}

/* The frame is another's for a moment, which whoever still uses it is caught by. */
static void pager_evict(struct side *s)
{
	unsigned int i = (unsigned int)rng_below(&x.pager_rng, PAGES);

	EXPECT_EQ(xp_order(s->n, NIC_XP_TAB_GO_ZAP, s->object, s->va + 4096ull * i, 1),
		  FL_ST_OK);
	xp_sync(s->n);
	dram_tag_set(board_dram(s->n->board), page_pa(s, i), ++s->tag[i]);
	s->evictions++;
}

static void pager_evict_all(struct side *s)
{
	EXPECT_EQ(xp_order(s->n, NIC_XP_TAB_GO_ZAP_ALL, s->object, 0, 0), FL_ST_OK);
	xp_sync(s->n);
}

/* All that the record says is right; its pages. */
static void record_look(struct side *s, const struct fl_fault_rec *r,
			unsigned int *from, unsigned int *count)
{
	uint64_t at = r->va - s->va;

	EXPECT_EQ(r->qp, s->qp);
	EXPECT_EQ(r->key, s->key);
	EXPECT_EQ(r->slot, 0);
	EXPECT_EQ(r->last, 1);
	EXPECT_EQ(r->xfer, 77);
	EXPECT(r->va >= s->va && r->len && at + r->len <= DATA);
	if (r->kind == FL_FAULT_WQE) {
		const struct fl_wqe *w = dram_at(board_dram(s->n->board), SQ_PA, 64 * QUEUE);

		/* The entry is the request's: its memory holds what is missed. */
		w += r->index % QUEUE;
		EXPECT_EQ(r->side, 0);
		EXPECT_EQ(w->index, r->index);
		EXPECT(r->va >= w->local_va &&
		       r->va + r->len <= w->local_va + w->length);
	}
	*from = (unsigned int)(at / 4096);
	*count = (unsigned int)((at + r->len - 1) / 4096) - *from + 1;
	if (r->kind == FL_FAULT_MEMORY && *from + *count + r->after <= PAGES)
		*count += r->after;
	s->records[r->kind]++;
	s->synthetic += r->synthetic;
}

static bool pager_step(struct side *s)
{
	struct fl_fault_rec *ring = dram_at(board_dram(s->n->board), RING_PA, 64 * RING);
	struct fl_fault_rec *at = &ring[s->cons % RING], r;
	unsigned int from, count;

	if (__atomic_load_n(&at->phase, __ATOMIC_ACQUIRE) != 1 + s->cons / RING)
		return false;
	r = *at;
	xp_set(s->n, NIC_XP_FQ_CONS, ++s->cons);
	record_look(s, &r, &from, &count);
	if (x.plan->wrong) {
		xp_set(s->n, NIC_XP_RESUME, r.token | (uint32_t)FL_ST_REMOTE_FAULT
						<< NIC_XP_RESUME_CODE_SHIFT);
		return true;
	}
	pager_load(s, from, count);
	xp_set(s->n, NIC_XP_RESUME, r.token);
	return true;
}

static void pager_main(void *arg)
{
	bool some;
	int i;

	(void)arg;
	while (!atomic_load(&x.over)) {
		some = false;
		for (i = 0; i < 2; i++) {
			some |= pager_step(&x.s[i]);
			if (x.plan->evict && !rng_below(&x.pager_rng, x.plan->evict))
				pager_evict(&x.s[i]);
		}
		if (!some)
			sim_sleep(2000);
	}
}

/* ---- set up ---- */

static void side_make(struct side *s, struct node *n, unsigned int i)
{
	s->n = n;
	s->va = REGION_VA + 4096ull * i;
	rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_SLOT_ROW,
					   .flags = x.plan->row });
	s->qp = rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
		.a = SQ_PA, .b = QUEUE, .c = n->cq, .d = n->pd, .flags = FL_QP_RC });
	rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_RQ_ATTACH, .object = s->qp,
					   .a = RQ_PA, .b = QUEUE, .c = n->cq });
	s->key = rig_command(n, (struct fl_fw_cmd){ .opcode = FL_CMD_MR_CREATE,
		.a = s->va, .b = DATA, .c = n->pd,
		.flags = FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE |
			 FL_ACC_REMOTE_READ | FL_ACC_REMOTE_ATOMIC });
	s->object = s->key % DEV_MRS;
	memset(dram_at(board_dram(n->board), RING_PA, 64 * RING), 0, 64 * RING);
	xp_set(n, NIC_XP_FQ_BASE, RING_PA);
	xp_set(n, NIC_XP_FQ_SIZE, RING);
	board_faults(n->board, x.plan->share, true);
	rig_fill(n, i);
	memcpy(s->mirror, rig_data(n), DATA);
}

static void make_all(struct testbed *w)
{
	const struct plan *plan = x.plan;
	int i;

	memset(&x, 0, sizeof(x));
	x.plan = plan;
	x.w = w;
	rng_init(&x.rng, test_seed(), "card rc");
	rng_init(&x.pager_rng, test_seed(), "pager");
	for (i = 0; i < 2; i++)
		side_make(&x.s[i], &w->n[i], (unsigned int)i);
	for (i = 0; i < 2; i++)
		rig_command(&w->n[i], (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CONNECT,
			.object = x.s[i].qp, .a = (uint64_t)!i, .b = x.s[!i].qp });
}

/* ---- requests ---- */

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void recv_post(struct side *s, uint64_t at, uint32_t len)
{
	struct fl_rqe *q = dram_at(board_dram(s->n->board), RQ_PA, 64 * QUEUE);

	q[s->received % QUEUE] = (struct fl_rqe){
		.wr_id = 5000u + s->received, .index = s->received, .count = 1,
		.xfer = 77, .va0 = s->va + at, .bytes0 = len, .key0 = s->key,
	};
	s->received++;
	rig_set(s->n, NIC_DB_BASE(0) + NIC_DB_RQ,
		(s->qp & 0xFFFF) | (uint32_t)s->received << 16);
}

/* A request whose bytes on either side lie in lane k, and what it does to the mirrors. */
static struct fl_wqe some_request(unsigned int k)
{
	static const uint8_t ops[] = { FL_OP_WRITE, FL_OP_READ, FL_OP_SEND,
				       FL_OP_FETCH_ADD, FL_OP_CMP_SWAP };
	uint32_t len = 1 + (uint32_t)rng_below(&x.rng, rng_below(&x.rng, 2) ? 200 : LANE);
	uint64_t from = k * LANE + rng_below(&x.rng, LANE - len + 1);
	uint64_t to = k * LANE + rng_below(&x.rng, LANE - len + 1);
	struct side *a = &x.s[0], *b = &x.s[1];
	struct fl_wqe w = {
		.opcode = ops[rng_below(&x.rng, 5)], .flags = FL_WQE_SIGNALED,
		.length = len, .xfer = 77, .lkey = a->key, .rkey = b->key,
	};
	uint8_t *here = a->mirror + from, *there = b->mirror + to;

	switch (w.opcode) {
	case FL_OP_SEND:
		w.rkey = 0;
		recv_post(b, to, len);
		memcpy(there, here, len);
		break;
	case FL_OP_WRITE:
		memcpy(there, here, len);
		break;
	case FL_OP_READ:
		memcpy(here, there, len);
		break;
	default:
		w.length = 8;
		from = k * LANE + rng_below(&x.rng, LANE - 8);
		to = k * LANE + rng_below(&x.rng, LANE / 8) * 8;
		/* The responder's word is aligned, whatever its region begins with. */
		w.compare = w.opcode == FL_OP_CMP_SWAP ? word_at(b->mirror + to) : 0;
		w.compare -= w.compare & 1;
		w.swap = rng_next(&x.rng);
		here = a->mirror + from;
		there = b->mirror + to;
		memcpy(here, there, 8);
		if (w.opcode == FL_OP_FETCH_ADD)
			memcpy(there, &(uint64_t){ word_at(here) + w.swap }, 8);
		else if (word_at(here) == w.compare)
			memcpy(there, &w.swap, 8);
	}
	w.local_va = a->va + from;
	w.remote_va = w.opcode == FL_OP_SEND ? 0 : b->va + to;
	return w;
}

static void request_post(struct side *s, struct fl_wqe w)
{
	struct fl_wqe *q = dram_at(board_dram(s->n->board), SQ_PA, 64 * QUEUE);

	w.index = s->posted;
	w.wr_id = 1000u + s->posted;
	q[s->posted++ % QUEUE] = w;
	rig_set(s->n, NIC_DB_BASE(0) + NIC_DB_SQ,
		(s->qp & 0xFFFF) | (uint32_t)s->posted << 16);
}

/* 100 bytes from the first page here to the first one there. */
static void write_post(void)
{
	request_post(&x.s[0], (struct fl_wqe){
		.opcode = FL_OP_WRITE, .flags = FL_WQE_SIGNALED, .length = 100, .xfer = 77,
		.lkey = x.s[0].key, .rkey = x.s[1].key, .local_va = x.s[0].va,
		.remote_va = x.s[1].va });
}

static void batch_run(void)
{
	unsigned int k, sends = 0;
	struct fl_wqe w[LANES];
	struct fl_cqe e;

	for (k = 0; k < LANES; k++) {
		w[k] = some_request(k);
		sends += w[k].opcode == FL_OP_SEND;
		STEP("op %u, %u bytes, 0x%llx and 0x%llx", w[k].opcode, w[k].length,
		     (unsigned long long)w[k].local_va, (unsigned long long)w[k].remote_va);
	}
	for (k = 0; k < LANES; k++)
		request_post(&x.s[0], w[k]);
	for (k = 0; k < LANES; k++) {
		e = wait_one(x.s[0].n);
		EXPECT_EQ(e.status, FL_ST_OK);
		EXPECT_EQ(e.opcode, w[k].opcode);
		EXPECT_EQ(e.length, w[k].length);
	}
	while (sends--) {
		e = wait_one(x.s[1].n);
		EXPECT_EQ(e.status, FL_ST_OK);
		EXPECT_EQ(e.opcode, FL_OP_RECV);
	}
	for (k = 0; k < 2; k++) {
		EXPECT_MEM(rig_data(x.s[k].n), x.s[k].mirror, DATA);
		EXPECT(!board_stale(x.s[k].n->board));
		EXPECT(!board_check(x.s[k].n->board));
	}
}

static void batches_run(struct testbed *w)
{
	struct sim_thread *t;
	unsigned int i;

	make_all(w);
	t = sim_thread_start(w->sim, "pager", false, pager_main, NULL);
	for (i = 0; i < x.plan->batches; i++)
		batch_run();
	atomic_store(&x.over, true);
	sim_thread_join(t);
}

/* In threads timers are short if the link may lose something. */
static const struct fabric_inject nothing;

static void plan_run(enum sim_mode mode, const struct plan *plan)
{
	x.plan = plan;
	rig_run(mode, batches_run, mode == SIM_THREADS ? &nothing : NULL);
}

TEST("all that a reliable connection does goes through pages that are missing (npf)")
{
	static const struct plan npf = {
		.row = ROW(PARK, REWIND, RNR, RNR, FOUR), .batches = 60, .evict = 200,
	};

	plan_run(SIM_LOCKSTEP, &npf);
	EXPECT_GE(x.s[0].records[FL_FAULT_WQE], 30);
	EXPECT_GE(x.s[1].records[FL_FAULT_RDMA], 30);
	EXPECT_EQ(x.s[0].records[FL_FAULT_MEMORY] + x.s[1].records[FL_FAULT_MEMORY], 0);
	EXPECT_GE(x.s[0].evictions, 30);
}

TEST("the same, where the card says what it would like (odp2)")
{
	static const struct plan odp2 = {
		.row = ROW(PARK, REWIND, RNR, RNR, PAGES), .batches = 40, .evict = 400,
	};

	plan_run(SIM_LOCKSTEP, &odp2);
	EXPECT_GE(x.s[0].records[FL_FAULT_MEMORY], 10);
	EXPECT_GE(x.s[1].records[FL_FAULT_MEMORY], 10);
	EXPECT_EQ(x.s[0].records[FL_FAULT_WQE] + x.s[1].records[FL_FAULT_RDMA], 0);
}

TEST("the same, where the transport sleeps (rxe)")
{
	static const struct plan rxe = {
		.row = ROW(SLEEP, SLEEP, SLEEP, SLEEP, FOUR), .batches = 40, .evict = 10,
	};

	plan_run(SIM_LOCKSTEP, &rxe);
	EXPECT_GE(x.s[0].evictions, 20);
}

TEST("the same, where what has no page is dropped (droprc)")
{
	static const struct plan droprc = {
		.row = ROW(PARK, DROP, DROP, DROP, FOUR), .batches = 20,
	};

	plan_run(SIM_LOCKSTEP, &droprc);
	EXPECT_GE(x.s[1].records[FL_FAULT_RDMA], 5);
}

TEST("the same in threads")
{
	static const struct plan npf = {
		.row = ROW(PARK, REWIND, RNR, RNR, FOUR), .batches = 40, .evict = 500,
	};

	plan_run(SIM_THREADS, &npf);
}

TEST("injected faults are reported as such, and change nothing but the time")
{
	static const struct plan injected = {
		.row = ROW(PARK, REWIND, RNR, RNR, FOUR), .batches = 40,
		.share = 1ull << 37,
	};

	plan_run(SIM_LOCKSTEP, &injected);
	EXPECT_GE(x.s[0].synthetic, 5);
	EXPECT_GE(x.s[1].synthetic, 5);
}

static void unresolved_check(struct testbed *w)
{
	struct sim_thread *t;
	struct fl_cqe e;

	make_all(w);
	t = sim_thread_start(w->sim, "pager", false, pager_main, NULL);
	write_post();
	e = wait_one(x.s[0].n);
	EXPECT_EQ(e.status, FL_ST_REMOTE_FAULT);
	atomic_store(&x.over, true);
	sim_thread_join(t);
	EXPECT(!board_busy(w->n[0].board));
}

TEST("a record that is answered with an error ends the request with it")
{
	static const struct plan wrong = {
		.row = ROW(PARK, REWIND, RNR, RNR, FOUR), .wrong = true,
	};

	x.plan = &wrong;
	rig_run(SIM_LOCKSTEP, unresolved_check, NULL);
}

static void nobody_brings(struct testbed *w)
{
	struct fl_cqe e;

	make_all(w);
	write_post();
	e = wait_one(x.s[0].n);
	EXPECT_EQ(e.status, FL_ST_LOCAL_FAULT);
	EXPECT(!board_busy(w->n[0].board));
}

TEST("without a row a miss ends the connection, since nobody would bring the page")
{
	static const struct plan none = { .row = 0 };

	x.plan = &none;
	rig_run(SIM_LOCKSTEP, nobody_brings, NULL);
}

/* Nobody answers the record, and the queue pair is destroyed. */
static void destroyed_check(struct testbed *w)
{
	struct side *a = &x.s[0];
	struct fl_fault_rec *ring;

	make_all(w);
	write_post();
	ring = dram_at(board_dram(a->n->board), RING_PA, 64 * RING);
	while (__atomic_load_n(&ring->phase, __ATOMIC_ACQUIRE) != 1)
		sim_sleep(1000);
	EXPECT(board_busy(a->n->board));
	rig_command(a->n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_DESTROY,
					      .object = a->qp });
	EXPECT_EQ(wait_one(a->n).status, FL_ST_KILLED);
	STEP("an answer that comes now changes nothing");
	xp_set(a->n, NIC_XP_FQ_CONS, 1);
	xp_set(a->n, NIC_XP_RESUME, ring->token);
	EXPECT(!board_busy(a->n->board));
	EXPECT(!board_check(a->n->board));
}

TEST("a queue pair that is destroyed leaves no open report behind")
{
	static const struct plan npf = { .row = ROW(PARK, REWIND, RNR, RNR, FOUR) };

	x.plan = &npf;
	rig_run(SIM_LOCKSTEP, destroyed_check, NULL);
}

/* ---- mistakes of other cards ---- */

/* A connection made now, and how long a requester that is told code 25 waits. */
static uint64_t rnr_wait(struct testbed *w, uint64_t quirks)
{
	struct side *s;
	uint64_t begin_ns;
	int i;

	for (i = 0; i < 2; i++) {
		s = &x.s[i];
		rig_command(s->n, (struct fl_fw_cmd){ .opcode = FL_CMD_SLOT_ROW,
			.flags = x.plan->row, .a = quirks });
		rig_command(s->n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_DESTROY,
						      .object = s->qp });
		s->qp = rig_command(s->n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CREATE,
			.a = SQ_PA, .b = QUEUE, .c = s->n->cq, .d = s->n->pd,
			.flags = FL_QP_RC });
		s->posted = 0;
	}
	for (i = 0; i < 2; i++) {
		rig_command(x.s[i].n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_CONNECT,
			.object = x.s[i].qp, .a = (uint64_t)!i, .b = x.s[!i].qp });
		rig_command(x.s[i].n, (struct fl_fw_cmd){ .opcode = FL_CMD_QP_MODIFY,
			.object = x.s[i].qp, .flags = FL_MOD_STATE | FL_MOD_RNR_CODE,
			.a = FL_STATE_RTS | 25 << 16 });
	}
	pager_evict_all(&x.s[1]);
	pager_load(&x.s[0], 0, PAGES);
	begin_ns = sim_now(w->sim);
	write_post();
	EXPECT_EQ(wait_one(x.s[0].n).status, FL_ST_OK);
	return sim_now(w->sim) - begin_ns;
}

static void quirks_check(struct testbed *w)
{
	struct sim_thread *t;
	uint64_t right_ns, wrong_ns;

	make_all(w);
	t = sim_thread_start(w->sim, "pager", false, pager_main, NULL);
	right_ns = rnr_wait(w, 0);
	wrong_ns = rnr_wait(w, FL_QUIRK_CODE25);
	STEP("%u and %u ns", (unsigned int)right_ns, (unsigned int)wrong_ns);
	EXPECT(right_ns >= 61440000 && right_ns <= 61440000 + 20000);
	EXPECT(wrong_ns >= 61410000 && wrong_ns <= 61410000 + 20000);
	atomic_store(&x.over, true);
	sim_thread_join(t);
}

TEST("a slot's connections make the mistakes that the driver has asked for")
{
	static const struct plan npf = { .row = ROW(PARK, REWIND, RNR, RNR, FOUR) };

	x.plan = &npf;
	rig_run(SIM_LOCKSTEP, quirks_check, NULL);
}

/* ---- the link ---- */

static uint64_t bytes_sent(struct testbed *w, unsigned int i)
{
	struct fabric_stats st;

	fabric_stats(w->fabric, (uint8_t)i, &st);
	return st.bytes;
}

static void payload_check(struct testbed *w)
{
	struct fl_wqe req = { .flags = FL_WQE_SIGNALED, .xfer = 77 };
	uint64_t before[2], ns;
	int i;

	make_all(w);
	for (i = 0; i < 2; i++)
		pager_load(&x.s[i], 0, PAGES);
	req.lkey = x.s[0].key;
	req.rkey = x.s[1].key;
	req.local_va = x.s[0].va;
	req.remote_va = x.s[1].va;
	for (i = 0; i < 2; i++)
		before[i] = bytes_sent(w, (unsigned int)i);
	STEP("5 packets, the last with three bytes of padding");
	req.opcode = FL_OP_WRITE;
	req.length = 4097;
	request_post(&x.s[0], req);
	EXPECT_EQ(wait_one(x.s[0].n).status, FL_ST_OK);
	EXPECT_EQ(bytes_sent(w, 0) - before[0], 4100);
	EXPECT_EQ(bytes_sent(w, 1) - before[1], 0);
	STEP("a READ's bytes come from the other end");
	req.opcode = FL_OP_READ;
	req.length = 2048;
	request_post(&x.s[0], req);
	EXPECT_EQ(wait_one(x.s[0].n).status, FL_ST_OK);
	EXPECT_EQ(bytes_sent(w, 0) - before[0], 4100);
	EXPECT_EQ(bytes_sent(w, 1) - before[1], 2048);
	/* A byte a nanosecond. */
	req.length = 32768;
	ns = sim_now(w->sim);
	request_post(&x.s[0], req);
	EXPECT_EQ(wait_one(x.s[0].n).status, FL_ST_OK);
	EXPECT_GE(sim_now(w->sim) - ns, 32768);
}

TEST("payload of packets costs the link what its bytes cost, and headers what the profile says")
{
	static const struct plan npf = { .row = ROW(PARK, REWIND, RNR, RNR, FOUR) };

	x.plan = &npf;
	rig_run(SIM_LOCKSTEP, payload_check, NULL);
}
