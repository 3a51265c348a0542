// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reliable connections through the library, from end to end: two processes on two boards,
 * pages on demand (system npf). The oracle is a pattern in plain memory.
 *
 * variants: tsan
 */
#include <stdatomic.h>

#include "faultline/system_rows.h"
#include "lib_internal.h"
#include "rig/driver.h"

#define BYTES	(256u * 1024)
#define MANY	64u

/* One of the two processes. */
struct side {
	struct party *party;
	int me;
	struct fl_device *dev;
	struct fl_pd *pd;
	struct fl_cq *send_cq, *recv_cq;
	struct fl_srq *srq;
	struct fl_qp *qp[2];
	uint8_t *mem;
	struct fl_mr *mr;
	/* What the other one must know. */
	struct fl_address at[2];
	uint64_t va;
	uint32_t key;
};

struct party {
	struct rig *r;
	struct side side[2];
	_Atomic unsigned int met;
	unsigned int rounds[2];
	void (*act)(struct side *me, struct side *other);
};

/* Both get here before one goes on. */
static void side_meet(struct side *s)
{
	unsigned int want = 2 * ++s->party->rounds[s->me];

	atomic_fetch_add(&s->party->met, 1);
	while (atomic_load(&s->party->met) < want)
		s->dev->sys->relax(s->dev->fd);
}

static uint8_t pattern_at(uint32_t salt, uint32_t i)
{
	return (uint8_t)(salt * 31 + i * 7 + i / 253);
}

static void side_fill(struct side *s, uint32_t at, uint32_t len, uint32_t salt)
{
	uint32_t i;

	EXPECT_EQ(fl_prefault(s->dev, s->mem + at, len, 1), 0);
	for (i = 0; i < len; i++)
		s->mem[at + i] = pattern_at(salt, i);
}

static void side_same(struct side *s, uint32_t at, uint32_t len, uint32_t salt)
{
	uint32_t i, bad = 0;

	if (len)
		EXPECT_EQ(fl_prefault(s->dev, s->mem + at, len, 0), 0);
	for (i = 0; i < len; i++)
		bad += s->mem[at + i] != pattern_at(salt, i);
	EXPECT_EQ(bad, 0);
}

static struct fl_completion next_of(struct fl_cq *cq)
{
	struct fl_completion c = { .status = -1 };

	EXPECT_EQ(fl_wait(cq, &c, 1, TEST_PATIENCE_NS), 1);
	return c;
}

static struct fl_completion next_good(struct fl_cq *cq, enum fl_opcode opcode,
				 uint64_t wr_id, uint32_t bytes)
{
	struct fl_completion c = next_of(cq);

	EXPECT_EQ(c.status, FL_ST_OK);
	EXPECT_EQ(c.opcode, opcode);
	EXPECT_EQ(c.wr_id, wr_id);
	EXPECT_EQ(c.bytes, bytes);
	return c;
}

static struct fl_segment side_piece(const struct side *s, uint32_t at, uint32_t len)
{
	return (struct fl_segment){ s->mem + at, len, fl_mr_key(s->mr) };
}

static int side_receive(struct side *s, uint64_t wr_id, uint32_t at, uint32_t len)
{
	struct fl_segment p = side_piece(s, at, len);
	struct fl_receive r = { .wr_id = wr_id, .list = &p, .segments = 1 };

	return s->srq ? fl_post_srq_recv(s->srq, &r) :
			fl_post_recv(s->qp[0], &r);
}

static struct fl_qp *make_qp(struct side *s)
{
	struct fl_qp_init init = {
		.type = FL_QPT_RC, .send_cq = s->send_cq, .recv_cq = s->recv_cq,
		.entries = MANY, .recv_entries = s->srq ? 0 : MANY,
		.srq = s->srq, .segments = FL_SEND_SEGMENTS,
		.inline_bytes = FL_INLINE_BYTES,
	};
	struct fl_qp *qp = NULL;

	EXPECT_EQ(fl_create_qp_ex(s->pd, &init, &qp), 0);
	return qp;
}

static void open_side(struct side *s)
{
	int i;

	EXPECT_EQ(fl_open(s->me ? "emu:b" : "emu:a", &s->dev), 0);
	EXPECT_EQ(fl_set_policy(s->dev, FL_SYSTEM_NPF, FL_RESOLVE_TRANSFER), 0);
	EXPECT_EQ(fl_alloc_pd(s->dev, &s->pd), 0);
	s->mem = fl_alloc(s->dev, BYTES);
	EXPECT(s->mem);
	EXPECT_EQ(fl_reg_mr(s->pd, s->mem, BYTES,
			    FL_LOCAL_WRITE | FL_REMOTE_WRITE | FL_REMOTE_READ |
			    FL_REMOTE_ATOMIC, &s->mr), 0);
	EXPECT_EQ(fl_create_cq(s->dev, 4 * MANY, &s->send_cq), 0);
	EXPECT_EQ(fl_create_cq(s->dev, 4 * MANY, &s->recv_cq), 0);
	for (i = 0; i < 2; i++)
		s->qp[i] = make_qp(s);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(fl_qp_address(s->qp[i], &s->at[i]), 0);
	s->va = (uintptr_t)s->mem;
	s->key = fl_mr_key(s->mr);
	side_meet(s);
}

static void connect_side(struct side *s)
{
	const struct side *other = &s->party->side[!s->me];
	int i;

	for (i = 0; i < 2; i++)
		EXPECT_EQ(fl_connect(s->qp[i], &other->at[i]), 0);
	side_meet(s);
}

static void close_side(struct side *s)
{
	side_meet(s);
	EXPECT_EQ(fl_destroy_cq(s->recv_cq), -EBUSY);
	EXPECT_EQ(fl_destroy_qp(s->qp[0]), 0);
	EXPECT_EQ(fl_close(s->dev), 0);
}

static void side_live(void *arg)
{
	struct side *s = arg;

	open_side(s);
	s->party->act(s, &s->party->side[!s->me]);
	close_side(s);
}

static void (*acting)(struct side *me, struct side *other);

static void party_body(struct rig *r)
{
	struct party *p = calloc(1, sizeof(*p));
	struct sim_thread *t;
	int i;

	p->r = r;
	p->act = acting;
	for (i = 0; i < 2; i++)
		p->side[i] = (struct side){ .party = p, .me = i };
	t = host_thread_start(r->n[1].process, "b", side_live, &p->side[1]);
	side_live(&p->side[0]);
	sim_thread_join(t);
	free(p);
}

static void party_run(void (*act)(struct side *me, struct side *other))
{
	acting = act;
	rig_run(party_body);
}

static void party_run_threads(void (*act)(struct side *me, struct side *other))
{
	struct host_driver_params p = { .system = FL_SYSTEM_PART,
					.resolve = FL_IOC_RESOLVE_BLOCK };

	acting = act;
	rig_run_with(SIM_THREADS, &p, party_body, NULL);
}

/* ---- as ibv_rc_pingpong does it ---- */

static void ping_pong(struct side *me, struct side *other)
{
	uint32_t i, size = 4096;

	(void)other;
	connect_side(me);
	for (i = 0; i < 40; i++)
		EXPECT_EQ(side_receive(me, i, (i % 8) * size, size), 0);
	side_meet(me);
	for (i = 0; i < 40; i++) {
		side_fill(me, 128 * 1024, size, 2 * i + (uint32_t)me->me);
		if (me->me) {
			next_good(me->recv_cq, FL_RECV, i, size);
			side_same(me, (i % 8) * size, size, 2 * i);
		}
		EXPECT_EQ(fl_post_send(me->qp[0], 100 + i, me->mr,
				       me->mem + 128 * 1024, size), 0);
		next_good(me->send_cq, FL_SEND, 100 + i, size);
		if (!me->me) {
			next_good(me->recv_cq, FL_RECV, i, size);
			side_same(me, (i % 8) * size, size, 2 * i + 1);
		}
	}
}

TEST("messages to and fro, on memory that comes page by page")
{
	party_run(ping_pong);
}

TEST("the same with a thread for each")
{
	party_run_threads(ping_pong);
}

/* ---- everything that a work request may be ---- */

static void all_sender(struct side *me, struct side *other)
{
	struct fl_segment list[FL_SEND_SEGMENTS];
	struct fl_work w = { .opcode = FL_SEND, .list = list };
	uint64_t old;
	uint32_t i;

	STEP("twelve segments become three");
	for (i = 0; i < FL_SEND_SEGMENTS; i++) {
		list[i] = side_piece(me, i * 8192, 100 + i);
		side_fill(me, i * 8192, 100 + i, i);
	}
	w.segments = FL_SEND_SEGMENTS;
	w.with_imm = 1;
	w.imm = 0xFEEDBEEF;
	EXPECT_EQ(fl_post(me->qp[0], &w), 0);
	next_good(me->send_cq, FL_SEND, 0, 1266);
	STEP("inline data of every length, from memory of no region");
	for (i = 0; i <= FL_INLINE_BYTES; i += 8) {
		uint8_t data[FL_INLINE_BYTES];
		struct fl_work in = { .opcode = FL_SEND, .wr_id = i,
				      .local = data, .bytes = i,
				      .inlined = 1 };
		uint32_t k;

		for (k = 0; k < i; k++)
			data[k] = pattern_at(i, k);
		EXPECT_EQ(fl_post(me->qp[0], &in), 0);
		memset(data, 0, sizeof(data));
		next_good(me->send_cq, FL_SEND, i, i);
	}
	STEP("a WRITE with immediate data; a READ into a list; atomics");
	side_fill(me, 0, 5000, 77);
	w = (struct fl_work){ .opcode = FL_WRITE, .local = me->mem,
			      .lkey = me->key, .bytes = 5000,
			      .remote = other->va + 65536, .rkey = other->key,
			      .with_imm = 1, .imm = 7, .wr_id = 1 };
	EXPECT_EQ(fl_post(me->qp[0], &w), 0);
	next_good(me->send_cq, FL_WRITE, 1, 5000);
	list[0] = side_piece(me, 200000, 3000);
	list[1] = side_piece(me, 203000, 2000);
	w = (struct fl_work){ .opcode = FL_READ, .list = list, .segments = 2,
			      .remote = other->va + 65536, .rkey = other->key,
			      .wr_id = 2 };
	EXPECT_EQ(fl_post(me->qp[0], &w), 0);
	next_good(me->send_cq, FL_READ, 2, 5000);
	side_same(me, 200000, 5000, 77);
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(fl_post_atomic(me->qp[0], FL_FETCH_ADD, 3, me->mr,
					 me->mem + 4096, other->va + 131072,
					 other->key, 0, 5), 0);
		next_good(me->send_cq, FL_FETCH_ADD, 3, 8);
		EXPECT_EQ(fl_prefault(me->dev, me->mem + 4096, 8, 0), 0);
		memcpy(&old, me->mem + 4096, 8);
		EXPECT_EQ(old, 5ull * i);
	}
	EXPECT_EQ(fl_post_atomic(me->qp[0], FL_CMP_SWAP, 4, me->mr,
				 me->mem + 4096, other->va + 131072,
				 other->key, 49, 1), 0);
	EXPECT_EQ(fl_post_atomic(me->qp[0], FL_CMP_SWAP, 5, me->mr,
				 me->mem + 4104, other->va + 131072,
				 other->key, 50, 99), 0);
	next_good(me->send_cq, FL_CMP_SWAP, 4, 8);
	next_good(me->send_cq, FL_CMP_SWAP, 5, 8);
	memcpy(&old, me->mem + 4096, 8);
	EXPECT_EQ(old, 50);
	memcpy(&old, me->mem + 4104, 8);
	EXPECT_EQ(old, 50);
}

static void all_receiver(struct side *me)
{
	struct fl_completion c;
	uint64_t value;
	uint32_t i, at = 0;

	c = next_good(me->recv_cq, FL_RECV_IMM, 1000, 1266);
	EXPECT_EQ(c.imm, 0xFEEDBEEF);
	/* The sender's pieces, one behind the other, over 1000, 200 and 66 bytes. */
	EXPECT_EQ(fl_prefault(me->dev, me->mem, 65536, 0), 0);
	for (i = 0; i < FL_SEND_SEGMENTS; i++) {
		uint32_t k;

		for (k = 0; k < 100 + i; k++, at++) {
			uint8_t got = at < 1000 ? me->mem[at] :
				      at < 1200 ? me->mem[20000 + at - 1000] :
						  me->mem[40000 + at - 1200];

			EXPECT_EQ(got, pattern_at(i, k));
		}
	}
	for (i = 0; i <= FL_INLINE_BYTES; i += 8) {
		next_good(me->recv_cq, FL_RECV, 2000 + i, i);
		side_same(me, 50000, i, i);
		if (i < FL_INLINE_BYTES)
			EXPECT_EQ(side_receive(me, 2000 + i + 8, 50000, 200), 0);
	}
	/* This one's receive lay behind the last that was posted. */
	EXPECT_EQ(side_receive(me, 3000, 60000, 10), 0);
	c = next_good(me->recv_cq, FL_RECV_WRITE_IMM, 3000, 5000);
	EXPECT_EQ(c.imm, 7);
	side_same(me, 65536, 5000, 77);
	side_meet(me);
	EXPECT_EQ(fl_prefault(me->dev, me->mem + 131072, 8, 0), 0);
	memcpy(&value, me->mem + 131072, 8);
	EXPECT_EQ(value, 99);
}

static void all_kinds(struct side *me, struct side *other)
{
	struct fl_segment list[3] = { side_piece(me, 0, 1000), side_piece(me, 20000, 200),
				      side_piece(me, 40000, 500) };
	struct fl_receive r = { .wr_id = 1000, .list = list, .segments = 3 };

	connect_side(me);
	if (me->me) {
		EXPECT_EQ(fl_post_recv(me->qp[0], &r), 0);
		EXPECT_EQ(side_receive(me, 2000, 50000, 200), 0);
	}
	side_meet(me);
	if (me->me) {
		all_receiver(me);
		return;
	}
	all_sender(me, other);
	side_meet(me);
}

TEST("every operation, list, inline and immediate data arrives as it was posted")
{
	party_run(all_kinds);
}

static void expect_event(struct side *me, enum fl_event_type type,
			 const struct fl_qp *qp, int status)
{
	struct fl_event e;

	EXPECT_EQ(fl_next_event(me->dev, &e, TEST_PATIENCE_NS), 0);
	EXPECT_EQ(e.type, type);
	EXPECT(e.qp == qp && !e.cq && e.qpn == (qp ? me->at[0].qpn : 0));
	EXPECT_EQ(e.untold, type == FL_EVENT_QP_ERROR && me->me);
	EXPECT(e.srq == (type == FL_EVENT_SRQ_LIMIT ? me->srq : NULL));
	EXPECT_EQ(e.status, status);
	EXPECT_EQ(fl_next_event(me->dev, &e, 1), -ETIMEDOUT);
}

/* ---- failures ---- */

static void side_modify(struct side *me, unsigned int rnr_tries)
{
	const struct side *other = &me->party->side[!me->me];
	struct fl_qp_attr a = {
		.state = FL_INIT, .mtu = 1024, .rnr_code = 1, .retries = 3,
		.rnr_tries = rnr_tries, .timeout = 10, .rd_atomic = 4,
		.dest_rd_atomic = 4, .node = (uint32_t)!me->me,
		.peer_qp = other->at[0].qpn,
		.sq_psn = me->me ? 0xFFFFF0 : 0x123456,
		.rq_psn = me->me ? 0x123456 : 0xFFFFF0,
	}, got;

	EXPECT_EQ(fl_modify_qp(me->qp[0], &a, FL_ATTR_STATE), 0);
	a.state = FL_RTR;
	EXPECT_EQ(fl_modify_qp(me->qp[0], &a, FL_ATTR_STATE | FL_ATTR_PEER |
			       FL_ATTR_MTU | FL_ATTR_RQ_PSN | FL_ATTR_RNR_CODE |
			       FL_ATTR_DEST_RD_ATOMIC), 0);
	EXPECT_EQ(fl_post_send(me->qp[0], 0, me->mr, me->mem, 1), -ENOTCONN);
	a.state = FL_RTS;
	EXPECT_EQ(fl_modify_qp(me->qp[0], &a, FL_ATTR_STATE | FL_ATTR_SQ_PSN |
			       FL_ATTR_TIMEOUT | FL_ATTR_RETRIES |
			       FL_ATTR_RNR_TRIES | FL_ATTR_RD_ATOMIC), 0);
	EXPECT_EQ(fl_query_qp(me->qp[0], &got), 0);
	EXPECT_EQ(got.state, FL_RTS);
	EXPECT_EQ(got.mtu, 1024);
	EXPECT_EQ(got.rd_atomic, 4);
	EXPECT_EQ(got.sq_psn, a.sq_psn);
	EXPECT_EQ(got.draining, 0);
	side_meet(me);
}

static void begin_again(struct side *me)
{
	struct fl_qp_attr a = { .state = FL_RESET }, got;

	side_meet(me);
	EXPECT_EQ(fl_query_qp(me->qp[0], &got), 0);
	EXPECT_EQ(got.state, FL_ERROR);
	EXPECT_EQ(fl_modify_qp(me->qp[0], &a, FL_ATTR_STATE), 0);
	EXPECT_EQ(side_receive(me, 0, 0, 8), -EINVAL);
	side_meet(me);
}

static void party_failures(struct side *me, struct side *other)
{
	uint32_t i;

	STEP("a message that is longer than its receive");
	side_modify(me, 7);
	for (i = 0; me->me && i < 2; i++)
		EXPECT_EQ(side_receive(me, 1 + i, 0, 100), 0);
	side_meet(me);
	if (me->me) {
		EXPECT_EQ(next_of(me->recv_cq).status, FL_ST_LENGTH);
		EXPECT_EQ(next_of(me->recv_cq).status, FL_ST_FLUSHED);
		expect_event(me, FL_EVENT_QP_ERROR, me->qp[0], FL_ST_LENGTH);
	} else {
		side_fill(me, 0, 101, 1);
		EXPECT_EQ(fl_post_send(me->qp[0], 1, me->mr, me->mem, 101), 0);
		EXPECT_EQ(fl_post_send(me->qp[0], 2, me->mr, me->mem, 5), 0);
		EXPECT_EQ(next_of(me->send_cq).status, FL_ST_REMOTE_INVALID);
		EXPECT_EQ(next_of(me->send_cq).status, FL_ST_FLUSHED);
		expect_event(me, FL_EVENT_QP_ERROR, me->qp[0],
			     FL_ST_REMOTE_INVALID);
	}
	begin_again(me);
	STEP("a key that is not the peer's");
	side_modify(me, 7);
	if (!me->me) {
		for (i = 0; i < 3; i++)
			EXPECT_EQ(fl_post_write(me->qp[0], i, me->mr, me->mem,
						100, other->va,
						other->key ^ (i == 1) << 15),
				  0);
		next_good(me->send_cq, FL_WRITE, 0, 100);
		EXPECT_EQ(next_of(me->send_cq).status, FL_ST_REMOTE_ACCESS);
		EXPECT_EQ(next_of(me->send_cq).status, FL_ST_FLUSHED);
	} else {
		expect_event(me, FL_EVENT_QP_ERROR, me->qp[0], FL_ST_REMOTE_ACCESS);
	}
	begin_again(me);
	STEP("a message for which there never is a receive");
	side_modify(me, 2);
	if (!me->me) {
		EXPECT_EQ(fl_post_send(me->qp[0], 9, me->mr, me->mem, 5), 0);
		EXPECT_EQ(next_of(me->send_cq).status, FL_ST_RNR_TRIES);
		side_meet(me);
	} else {
		struct fl_qp_attr a = { .state = FL_ERROR };

		side_meet(me);
		EXPECT_EQ(fl_modify_qp(me->qp[0], &a, FL_ATTR_STATE), 0);
	}
	begin_again(me);
	STEP("and afterwards all is well");
	side_modify(me, 7);
	if (me->me) {
		EXPECT_EQ(side_receive(me, 1, 0, 100), 0);
		next_good(me->recv_cq, FL_RECV, 1, 60);
		side_same(me, 0, 60, 3);
	} else {
		side_fill(me, 0, 60, 3);
		EXPECT_EQ(fl_post_send(me->qp[0], 1, me->mr, me->mem, 60), 0);
		next_good(me->send_cq, FL_SEND, 1, 60);
	}
}

TEST("failures end the connection at both ends, and RESET brings it back")
{
	party_run(party_failures);
}

/* ---- a shared receive queue ---- */

static void party_shared(struct side *me, struct side *other)
{
	struct fl_completion c;
	uint32_t i, seen = 0;

	(void)other;
	if (me->me) {
		/* Queue pairs that share take the place of those that do not. */
		for (i = 0; i < 2; i++)
			EXPECT_EQ(fl_destroy_qp(me->qp[i]), 0);
		EXPECT_EQ(fl_create_srq(me->pd, MANY, &me->srq), 0);
		for (i = 0; i < 2; i++) {
			me->qp[i] = make_qp(me);
			EXPECT_EQ(fl_qp_address(me->qp[i], &me->at[i]), 0);
		}
		EXPECT_EQ(fl_destroy_srq(me->srq), -EBUSY);
		EXPECT_EQ(fl_limit_srq(me->srq, MANY + 1), -EINVAL);
		EXPECT_EQ(fl_limit_srq(me->srq, 2), 0);
		/* It is empty now. */
		expect_event(me, FL_EVENT_SRQ_LIMIT, NULL, 0);
	}
	side_meet(me);
	connect_side(me);
	for (i = 0; me->me && i < MANY; i++)
		EXPECT_EQ(side_receive(me, i, i * 1024, 1024), 0);
	if (me->me)
		EXPECT_EQ(side_receive(me, 0, 0, 8), -EAGAIN);
	side_meet(me);
	for (i = 0; i < 4 * MANY; i++) {
		if (!me->me) {
			side_fill(me, 0, 1000, 5);
			EXPECT_EQ(fl_post_send(me->qp[i % 2], i, me->mr,
					       me->mem, 1000), 0);
			next_good(me->send_cq, FL_SEND, i, 1000);
			continue;
		}
		c = next_of(me->recv_cq);
		EXPECT_EQ(c.status, FL_ST_OK);
		EXPECT_EQ(c.qpn, me->at[i % 2].qpn);
		side_same(me, (uint32_t)c.wr_id * 1024, 1000, 5);
		EXPECT_EQ(side_receive(me, c.wr_id, (uint32_t)c.wr_id * 1024, 1024),
			  0);
		seen++;
	}
	EXPECT_EQ(seen, me->me ? 4 * MANY : 0);
}

TEST("two queue pairs that share their receives")
{
	party_run(party_shared);
}

TEST("the same with a thread for each process")
{
	party_run_threads(party_shared);
}

/* ---- solicited events ---- */

static void party_solicited(struct side *me, struct side *other)
{
	struct fl_work w = { .opcode = FL_SEND };
	struct fl_completion c[4];

	(void)other;
	connect_side(me);
	if (!me->me) {
		side_meet(me);
		EXPECT_EQ(fl_post(me->qp[0], &w), 0);
		EXPECT_EQ(fl_post(me->qp[0], &w), 0);
		w.solicited = 1;
		EXPECT_EQ(fl_post(me->qp[0], &w), 0);
		side_meet(me);
		return;
	}
	EXPECT_EQ(side_receive(me, 1, 0, 8), 0);
	EXPECT_EQ(side_receive(me, 2, 0, 8), 0);
	EXPECT_EQ(side_receive(me, 3, 0, 8), 0);
	EXPECT_EQ(fl_arm(me->recv_cq, 1), 0);
	EXPECT_EQ(fl_sleep(me->recv_cq, 1000), -ETIMEDOUT);
	side_meet(me);
	EXPECT_EQ(fl_sleep(me->recv_cq, TEST_PATIENCE_NS), 0);
	/* It slept through the first two. */
	EXPECT_EQ(fl_poll(me->recv_cq, c, 4), 3);
	side_meet(me);
}

TEST("who waits for solicited completions wakes with the third of three")
{
	party_run(party_solicited);
}
