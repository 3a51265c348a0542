// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fault records and tokens. The driver here is an oracle: it knows which places have an
 * open report from what it was told and has answered, and reads the ring as a driver does.
 */
#include <stdlib.h>
#include <string.h>

#include "faultline/device.h"
#include "faultline/regs.h"
#include "nic/transport/fault.h"
#include "sim/sim.h"

#include "sim/rng.h"
#include "tests/harness.h"
#include "trace/event.h"

#define RING	0x1000u
#define MEM	(RING + 4096 * 64)
#define QP_PLACES	256
#define PLACES	(QP_PLACES * 4)

struct bench {
	struct nic_fault_unit *f;
	uint8_t mem[MEM];
	bool bad;		/* memory fails */
	bool line;
	uint64_t line_cause, events;
	uint64_t now_ns, alarm_ns;
	uint32_t size, taken;
	struct nic_fault_stats seen;	/* events, by kind */
	/* What was resumed last, and how many were. */
	uint16_t qp;
	uint8_t side, code;
	bool write;
	unsigned int resumes;
	uint64_t resumed_ns[64];
};

static int bench_mem_write(void *ctx, uint64_t pa, const void *buf, uint32_t len)
{
	struct bench *t = ctx;

	EXPECT(pa >= RING && pa + len <= MEM);
	if (t->bad)
		return -1;
	memcpy(t->mem + pa, buf, len);
	return 0;
}

static int bench_mem_publish(void *ctx, uint64_t pa, uint32_t value)
{
	return bench_mem_write(ctx, pa, &value, sizeof(value));
}

static void bench_line(void *ctx, bool level, uint64_t cause)
{
	struct bench *t = ctx;

	EXPECT_NE(t->line, level);
	t->line = level;
	t->line_cause = cause;
}

static void bench_alarm(void *ctx, uint64_t when_ns)
{
	((struct bench *)ctx)->alarm_ns = when_ns;
}

static void bench_resume(void *ctx, uint16_t qp, const struct fl_fault_rec *rec,
			 uint8_t code, uint64_t now_ns)
{
	struct bench *t = ctx;

	EXPECT_EQ(now_ns, t->now_ns);
	t->qp = qp;
	t->side = rec->side;
	t->write = rec->write;
	t->code = code;
	t->resumed_ns[t->resumes++ % 64] = now_ns;
}

static uint64_t bench_emit(void *ctx, unsigned int ev, const struct trace_at *at,
			   uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct bench *t = ctx;

	(void)at, (void)a0, (void)a1, (void)a3;
	t->seen.reported += ev == EV_NIC_FAULT;
	t->seen.suppressed += ev == EV_NIC_FAULT_AGAIN;
	t->seen.resumed += ev == EV_NIC_RESUME && !a2;
	t->seen.refused += ev == EV_NIC_RESUME && a2;
	return ++t->events;
}

static void bench_end(void *arg)
{
	struct bench *t = arg;

	nic_fault_destroy(t->f);
	free(t);
}

static struct bench *bench_create(const struct nic_fault_config *cfg)
{
	static const struct nic_fault_config at_once;
	struct bench *t = calloc(1, sizeof(*t));
	const struct nic_fault_env env = {
		.ctx = t, .mem_write = bench_mem_write,
		.mem_publish = bench_mem_publish, .line = bench_line,
		.alarm = bench_alarm, .resume = bench_resume, .emit = bench_emit,
	};

	EXPECT(t);
	t->f = nic_fault_create(cfg ? cfg : &at_once, &env);
	EXPECT(t->f);
	t->alarm_ns = NIC_FAULT_NEVER;
	test_cleanup(bench_end, t);
	return t;
}

static void bench_check(struct bench *t)
{
	struct nic_fault_stats st;
	const char *wrong = nic_fault_check(t->f);

	EXPECT_STR(wrong ? wrong : "", "");
	nic_fault_stats(t->f, &st);
	EXPECT_EQ(st.reported, t->seen.reported);
	EXPECT_EQ(st.suppressed, t->seen.suppressed);
	EXPECT_EQ(st.resumed, t->seen.resumed);
	EXPECT_EQ(st.refused, t->seen.refused);
}

static void ring_start(struct bench *t, uint32_t size)
{
	memset(t->mem, 0, sizeof(t->mem));
	t->size = size;
	t->taken = 0;
	EXPECT_EQ(nic_fault_base_set(t->f, RING), 0);
	EXPECT_EQ(nic_fault_size_set(t->f, size, t->now_ns), 0);
}

static bool ring_take(struct bench *t, struct fl_fault_rec *rec)
{
	memcpy(rec, t->mem + RING + 64 * (t->taken % t->size), 64);
	if (rec->phase != 1 + t->taken / t->size)
		return false;
	t->taken++;
	EXPECT_EQ(nic_fault_cons_set(t->f, t->taken, t->now_ns), 0);
	return true;
}

/* Time passes, and alarms ring when they are due. */
static void bench_run(struct bench *t, uint64_t until_ns)
{
	uint64_t when_ns;

	while (t->alarm_ns <= until_ns) {
		when_ns = t->alarm_ns;
		EXPECT_GE(when_ns, t->now_ns);
		t->now_ns = when_ns;
		t->alarm_ns = NIC_FAULT_NEVER;
		nic_fault_step(t->f, when_ns);
		EXPECT(t->alarm_ns > when_ns);
	}
	t->now_ns = until_ns;
}

static bool bench_miss(struct bench *t, uint16_t qp, uint8_t side, uint8_t write)
{
	struct fl_fault_rec rec = {
		.kind = FL_FAULT_RDMA, .side = side, .write = write, .last = 1,
		.qp = 0x100u + qp, .key = 7, .va = 0x5000, .len = 100,
		.xfer = 3, .slot = 2, .opcode = FL_OP_WRITE,
	};

	return nic_fault_report(t->f, qp, &rec, 1, 0, t->now_ns);
}

static int bench_answer(struct bench *t, uint32_t token, uint8_t code)
{
	return nic_fault_answer(t->f, token | (uint32_t)code << NIC_XP_RESUME_CODE_SHIFT,
			    t->now_ns);
}

TEST("a record says what was missed, and its token ends the wait")
{
	struct bench *t = bench_create(NULL);
	struct fl_fault_rec rec;

	ring_start(t, 16);
	EXPECT(nic_fault_idle(t->f));
	EXPECT(bench_miss(t, 9, 1, 1));
	EXPECT(t->line);
	EXPECT(!nic_fault_idle(t->f));
	EXPECT(ring_take(t, &rec));
	EXPECT(!t->line);
	EXPECT_EQ(rec.kind, FL_FAULT_RDMA);
	EXPECT_EQ(rec.qp, 0x109);
	EXPECT_EQ(rec.va, 0x5000);
	EXPECT_EQ(rec.len, 100);
	EXPECT_EQ(rec.slot, 2);
	EXPECT_EQ(rec.side, 1);
	EXPECT_EQ(rec.write, 1);
	EXPECT_EQ(rec.token >> 24, 0);
	STEP("another token changes nothing");
	EXPECT_EQ(bench_answer(t, rec.token ^ 1, 0), 0);
	EXPECT_EQ(bench_answer(t, rec.token ^ 1 << 9, 0), 0);
	EXPECT_EQ(bench_answer(t, rec.token ^ 1 << 10, 0), 0);
	EXPECT_EQ(bench_answer(t, rec.token ^ 1 << 23, 0), 0);
	EXPECT_EQ(nic_fault_answer(t->f, rec.token | 1u << 31, 0), -22);
	EXPECT_EQ(t->resumes, 0);
	EXPECT_EQ(bench_answer(t, rec.token, FL_ST_REMOTE_FAULT), 0);
	EXPECT_EQ(t->resumes, 1);
	EXPECT_EQ(t->qp, 9);
	EXPECT_EQ(t->side, 1);
	EXPECT(t->write);
	EXPECT_EQ(t->code, FL_ST_REMOTE_FAULT);
	STEP("once");
	EXPECT_EQ(bench_answer(t, rec.token, 0), 0);
	EXPECT_EQ(t->resumes, 1);
	EXPECT(nic_fault_idle(t->f));
	bench_check(t);
}

TEST("a queue pair has four reports at most, and what is missed beside them is not reported")
{
	struct bench *t = bench_create(NULL);
	struct fl_fault_rec rec[5];
	unsigned int i, k;

	ring_start(t, 16);
	for (i = 0; i < 4; i++) {
		EXPECT(bench_miss(t, 3, i & 1, i >> 1));
		EXPECT(!bench_miss(t, 3, i & 1, i >> 1));
	}
	for (i = 0; i < 4; i++)
		EXPECT(ring_take(t, &rec[i]));
	EXPECT(!ring_take(t, &rec[4]));
	for (i = 0; i < 4; i++)
		for (k = 0; k < i; k++)
			EXPECT_NE(rec[i].token, rec[k].token);
	EXPECT_EQ(t->seen.suppressed, 4);
	STEP("once it is answered it may be reported again, with another token");
	EXPECT_EQ(bench_answer(t, rec[2].token, 0), 0);
	EXPECT(bench_miss(t, 3, rec[2].side, rec[2].write));
	EXPECT(ring_take(t, &rec[4]));
	EXPECT_NE(rec[4].token, rec[2].token);
	EXPECT_EQ(bench_answer(t, rec[2].token, 0), 0);
	EXPECT_EQ(t->resumes, 1);
	bench_check(t);
}

static void bench_divert(struct bench *t, uint32_t slot)
{
	struct fl_fault_rec rec = {
		.kind = FL_FAULT_DIVERT, .side = 1, .write = 1, .last = 1, .qp = 0x103,
		.key = 7, .va = 0x5000, .len = 100,
	};

	nic_fault_divert(t->f, slot, &rec, 1, t->now_ns);
}

TEST("what lies in the system buffer has a report for each slot, beside those of its queue pair")
{
	struct bench *t = bench_create(NULL);
	struct fl_fault_rec rec;
	uint32_t i;

	ring_start(t, 16);
	EXPECT(bench_miss(t, 3, 1, 1));
	EXPECT(ring_take(t, &rec));
	for (i = 0; i < 8; i++)
		bench_divert(t, 1000 + i);
	for (i = 0; i < 8; i++) {
		EXPECT(ring_take(t, &rec));
		EXPECT_EQ(rec.kind, FL_FAULT_DIVERT);
		EXPECT_EQ(rec.token, 1000 + i);
	}
	STEP("RESUME answers none of them, nor does the end of the queue pair");
	EXPECT_EQ(bench_answer(t, 1000, 0), 0);
	nic_fault_close(t->f, 3);
	EXPECT_EQ(t->resumes, 0);
	EXPECT(!nic_fault_idle(t->f));
	STEP("COPIED does, also twice, and then the slot may be filled again");
	for (i = 0; i < 8; i++)
		nic_fault_copied(t->f, 1000 + i, t->now_ns);
	EXPECT(nic_fault_idle(t->f));
	nic_fault_copied(t->f, 1000, t->now_ns);
	bench_divert(t, 1000);
	EXPECT(ring_take(t, &rec));
	STEP("without a ring one waits; COPIED before it was told, and a new buffer, end it");
	EXPECT_EQ(nic_fault_size_set(t->f, 0, t->now_ns), 0);
	bench_divert(t, 5);
	nic_fault_copied(t->f, 5, t->now_ns);
	bench_divert(t, 5);
	nic_fault_slots_gone(t->f);
	EXPECT(nic_fault_idle(t->f));
	bench_divert(t, 5);
	nic_fault_reset(t->f);
	EXPECT(nic_fault_idle(t->f));
	bench_check(t);
}

TEST("a ring that is full, or not there, defers reports, and loses none")
{
	struct bench *t = bench_create(NULL);
	struct fl_fault_rec rec;
	uint16_t qp;

	STEP("no ring");
	for (qp = 0; qp < 10; qp++)
		EXPECT(bench_miss(t, qp, 0, 0));
	EXPECT(!t->line);
	EXPECT_EQ(t->alarm_ns, NIC_FAULT_NEVER);
	ring_start(t, 16);
	EXPECT(t->line);
	for (; qp < 40; qp++)
		EXPECT(bench_miss(t, qp, 0, 0));
	EXPECT_EQ(t->alarm_ns, NIC_FAULT_NEVER);
	for (qp = 0; qp < 40; qp++) {
		EXPECT(ring_take(t, &rec));
		EXPECT_EQ(rec.qp, 0x100 + qp);
	}
	EXPECT(!ring_take(t, &rec));
	EXPECT(!t->line);
	bench_check(t);
}

TEST("a new ring has what nobody took out of the old one, and nothing else")
{
	struct bench *t = bench_create(NULL);
	struct fl_fault_rec rec, old;
	uint16_t qp;

	ring_start(t, 16);
	for (qp = 0; qp < 5; qp++)
		EXPECT(bench_miss(t, qp, 1, 0));
	EXPECT(ring_take(t, &rec));
	EXPECT(ring_take(t, &rec));
	EXPECT_EQ(nic_fault_size_set(t->f, 0, 0), 0);
	EXPECT(!t->line);
	EXPECT(bench_miss(t, 5, 1, 0));
	ring_start(t, 32);
	for (qp = 2; qp < 6; qp++) {
		EXPECT(ring_take(t, &rec));
		EXPECT_EQ(rec.qp, 0x100 + qp);
	}
	EXPECT(!ring_take(t, &old));
	EXPECT_EQ(bench_answer(t, rec.token, 0), 0);
	EXPECT_EQ(t->qp, 5);
	bench_check(t);
	STEP("memory that fails ends the ring, and the next one has all");
	t->bad = true;
	EXPECT(bench_miss(t, 9, 1, 0));
	EXPECT_EQ(nic_fault_size(t->f), 0);
	EXPECT(!t->line);
	t->bad = false;
	ring_start(t, 16);
	EXPECT(ring_take(t, &rec));
	EXPECT_EQ(rec.qp, 0x109);
	bench_check(t);
}

TEST("a queue pair that ends takes its reports along")
{
	const struct nic_fault_config slow = { .trigger_ns = 1000, .resume_ns = 500 };
	struct bench *t = bench_create(&slow);
	struct fl_fault_rec rec, other;

	ring_start(t, 16);
	STEP("before the record is written");
	EXPECT(bench_miss(t, 1, 0, 0));
	nic_fault_close(t->f, 1);
	bench_run(t, 5000);
	EXPECT(!ring_take(t, &rec));
	STEP("before it is answered");
	EXPECT(bench_miss(t, 1, 0, 0));
	EXPECT(bench_miss(t, 2, 0, 0));
	bench_run(t, 10000);
	EXPECT(ring_take(t, &rec));
	EXPECT(ring_take(t, &other));
	nic_fault_close(t->f, 1);
	EXPECT_EQ(bench_answer(t, rec.token, 0), 0);
	bench_run(t, 20000);
	EXPECT_EQ(t->resumes, 0);
	STEP("after it is answered, before it goes on");
	EXPECT_EQ(bench_answer(t, other.token, 0), 0);
	nic_fault_close(t->f, 2);
	bench_run(t, 30000);
	EXPECT_EQ(t->resumes, 0);
	EXPECT(nic_fault_idle(t->f));
	bench_check(t);
}

TEST("reports and answers take the time that the profile says")
{
	const struct nic_fault_config slow = {
		.trigger_ns = 1000, .trigger_page_ns = 10, .resume_ns = 500,
		.spread_ns = 200,
	};
	struct fl_fault_rec rec = { .kind = FL_FAULT_WQE, .last = 1, .va = 0x1FFF,
				    .len = 1, .left = 4096 }, back[3];
	struct bench *t = bench_create(&slow);
	unsigned int i;

	ring_start(t, 16);
	bench_run(t, 100);
	STEP("the message touches 2 pages, the second only 99 ns later");
	EXPECT(nic_fault_report(t->f, 0, &rec, 0, 0, t->now_ns));
	rec.left = 0;
	EXPECT(nic_fault_report(t->f, 1, &rec, 0, 89, t->now_ns));
	EXPECT(nic_fault_report(t->f, 2, &rec, 0, 0, t->now_ns));
	bench_run(t, 1099);
	EXPECT(!ring_take(t, &back[0]));
	STEP("the third is reported first, so the line goes up because of it");
	EXPECT(!t->line);
	bench_run(t, 1109);
	EXPECT(t->line);
	EXPECT_EQ(t->line_cause, 3);
	EXPECT(ring_take(t, &back[0]));
	EXPECT_EQ(back[0].token & 255, 2);
	EXPECT(!ring_take(t, &back[1]));
	bench_run(t, 1110);
	EXPECT(ring_take(t, &back[1]));
	EXPECT_EQ(back[1].token & 255, 0);
	bench_run(t, 1189);
	EXPECT(ring_take(t, &back[2]));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(bench_answer(t, back[i].token, 0), 0);
	EXPECT_EQ(t->resumes, 0);
	bench_run(t, 5000);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(t->resumed_ns[i], 1189 + 500 + i * 200);
	bench_check(t);
}

TEST("registers that make no sense are refused")
{
	struct bench *t = bench_create(NULL);
	static const uint32_t sizes[] = { 1, 8, 15, 17, 24, 8192, 0x80000000 };
	unsigned int i;

	EXPECT_EQ(nic_fault_base_set(t->f, 32), -22);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		EXPECT_EQ(nic_fault_size_set(t->f, sizes[i], 0), -22);
	EXPECT_EQ(nic_fault_base_set(t->f, 0xFFFFFFFFFFFFFFC0), 0);
	EXPECT_EQ(nic_fault_size_set(t->f, 16, 0), -22);
	EXPECT_EQ(nic_fault_size(t->f), 0);
	ring_start(t, 16);
	EXPECT(bench_miss(t, 0, 0, 0));
	EXPECT_EQ(nic_fault_cons_set(t->f, 2, 0), -22);
	EXPECT_EQ(nic_fault_cons_set(t->f, 0xFFFFFFFF, 0), -22);
	EXPECT_EQ(nic_fault_cons(t->f), 0);
	EXPECT_EQ(nic_fault_cons_set(t->f, 1, 0), 0);
	nic_fault_reset(t->f);
	EXPECT_EQ(nic_fault_base(t->f), 0);
	EXPECT_EQ(nic_fault_size(t->f), 0);
	EXPECT_EQ(nic_fault_cons(t->f), 0);
	EXPECT(nic_fault_idle(t->f));
	bench_check(t);
}

/* ---- at random ---- */

/* What the driver has of a place: the record that it took and has not answered. */
struct oracle {
	struct rng rng;
	struct { bool open, held; uint32_t token; } place[PLACES];
	uint32_t held;
};

static uint32_t oracle_place(struct oracle *o, uint16_t *qp)
{
	*qp = (uint16_t)rng_below(&o->rng, 8) * 36;
	return *qp | (uint32_t)rng_below(&o->rng, 4) << 8;
}

static void oracle_take(struct bench *t, struct oracle *o)
{
	struct fl_fault_rec rec;
	uint32_t place;

	while (rng_below(&o->rng, 4) && ring_take(t, &rec)) {
		place = rec.token & (PLACES - 1);
		EXPECT(o->place[place].open);
		EXPECT(!o->place[place].held);
		EXPECT_EQ(rec.qp, 0x100 + (place & 255));
		o->place[place].held = true;
		o->place[place].token = rec.token;
		o->held++;
	}
}

static void oracle_answer(struct bench *t, struct oracle *o)
{
	uint16_t qp;
	uint32_t place = oracle_place(o, &qp), junk = (uint32_t)rng_next(&o->rng);
	unsigned int before = t->resumes;

	if (!rng_below(&o->rng, 4)) {
		/* A serial number that is far from any that was given out. */
		EXPECT_EQ(bench_answer(t, place | (junk & 7) << 21 | 1 << 23, 0), 0);
		EXPECT_EQ(t->resumes, before);
		return;
	}
	if (!o->place[place].held)
		return;
	EXPECT_EQ(bench_answer(t, o->place[place].token, 0), 0);
	EXPECT_EQ(t->resumes, before + 1);
	EXPECT_EQ(t->qp, qp);
	o->place[place].held = o->place[place].open = false;
}

static void oracle_act(struct bench *t, struct oracle *o)
{
	uint16_t qp;
	uint32_t place = oracle_place(o, &qp), i;

	switch (rng_below(&o->rng, 8)) {
	case 0: case 1: case 2:
		EXPECT_EQ(bench_miss(t, qp, place >> 8 & 1, place >> 9),
			  !o->place[place].open);
		o->place[place].open = true;
		break;
	case 3: case 4:
		oracle_take(t, o);
		break;
	case 5: case 6:
		oracle_answer(t, o);
		break;
	default:
		if (rng_below(&o->rng, 8))
			break;
		/* What is in the ring, and not taken, stays there: its token is over. */
		oracle_take(t, o);
		if (t->line)
			break;
		nic_fault_close(t->f, qp);
		for (i = qp; i < PLACES; i += QP_PLACES)
			o->place[i].open = o->place[i].held = false;
	}
}

TEST("every report is told once and ends once, in any order of things")
{
	struct bench *t = bench_create(NULL);
	struct oracle o;
	uint64_t seed;
	uint32_t i;

	for (seed = 1; seed <= 30; seed++) {
		memset(&o, 0, sizeof(o));
		rng_init(&o.rng, seed, "fault");
		nic_fault_reset(t->f);
		ring_start(t, 16);
		for (i = 0; i < 3000; i++) {
			oracle_act(t, &o);
			bench_check(t);
		}
		EXPECT_GE(o.held, 300);
	}
}
