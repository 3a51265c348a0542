// SPDX-License-Identifier: BSD-2-Clause
/* Work requests that a packet unit carries, as they stand in the queue: good and malformed. */
#include "rig/fw_bench.h"

static struct fl_wqe_more more_of(uint16_t index, const uint64_t v[6])
{
	return (struct fl_wqe_more){
		.opcode = FL_OP_SEGMENTS, .index = index,
		.va0 = v[0], .bytes0 = (uint32_t)v[1],
		.key0 = (uint32_t)(v[1] >> 32),
		.va1 = v[2], .bytes1 = (uint32_t)v[3],
		.key1 = (uint32_t)(v[3] >> 32),
		.va2 = v[4], .bytes2 = (uint32_t)v[5],
		.key2 = (uint32_t)(v[5] >> 32),
	};
}

static void put_more(struct bench *b, const struct fl_wqe_more *m)
{
	struct fl_wqe e;

	memcpy(&e, m, sizeof(e));
	rig_put(b->u->r, &b->p.s, &e);
}

/* A list of n segments, of 10, 11, 12 ... bytes, each 4096 behind the one before. */
static struct fl_wqe put_list(struct bench *b, uint8_t opcode, uint32_t n)
{
	struct fl_wqe e = rig_wqe(&b->p.s, 0);
	uint32_t i;

	e.opcode = opcode;
	e.flags |= FL_WQE_LIST;
	e.local_va = n;
	e.lkey = 0;
	if (opcode == FL_OP_SEND)
		e.remote_va = e.rkey = 0;
	for (i = 0; i < n; i++)
		e.length += 10 + i;
	rig_put(b->u->r, &b->p.s, &e);
	for (i = 0; i < n; i += 3) {
		uint64_t v[6] = { 0 };
		struct fl_wqe_more m;
		uint32_t k;

		for (k = 0; k < 3 && i + k < n; k++) {
			v[2 * k] = RIG_VA + 4096 * (i + k);
			v[2 * k + 1] = (10 + i + k) |
				       (uint64_t)b->p.s.key << 32;
		}
		m = more_of(b->p.s.tail, v);
		put_more(b, &m);
	}
	return e;
}

TEST("a request of each kind reaches the unit as it was posted, once")
{
	static const uint8_t kinds[] = { FL_OP_WRITE, FL_OP_READ, FL_OP_SEND,
					 FL_OP_FETCH_ADD, FL_OP_CMP_SWAP };
	const struct fw_work *w;
	struct bench b = { 0 };
	uint32_t i;

	bench_make(&b);
	for (i = 0; i < sizeof(kinds); i++) {
		struct fl_wqe e = rig_wqe(&b.p.s, i < 3 ? 100 + i : 8);

		e.opcode = kinds[i];
		if (kinds[i] == FL_OP_SEND) {
			e.remote_va = e.rkey = 0;
			e.flags |= FL_WQE_IMM | FL_WQE_SOLICITED;
			e.imm = 0xCAFE;
		}
		if (kinds[i] == FL_OP_CMP_SWAP)
			e.compare = 0x1122334455667788;
		if (i >= 3)
			e.swap = 0x99AABBCCDDEEFF00 + i;
		rig_post(b.u->r, &b.p.s, e);
		EXPECT_EQ(bench_qp(&b)->posts, i + 1);
		w = &b.u->work[i];
		EXPECT_EQ(w->opcode, kinds[i]);
		EXPECT_EQ(w->flags, e.flags);
		EXPECT_EQ(w->length, e.length);
		EXPECT_EQ(w->remote_va, e.remote_va);
		EXPECT_EQ(w->rkey, e.rkey);
		EXPECT_EQ(w->imm, e.imm);
		EXPECT_EQ(w->compare, e.compare);
		EXPECT_EQ(w->swap, e.swap);
		EXPECT_EQ(w->xfer, e.xfer);
		EXPECT_EQ(w->segments, 1);
		EXPECT_EQ(w->segment[0].va, e.local_va);
		EXPECT_EQ(w->segment[0].bytes, e.length);
		EXPECT_EQ(w->segment[0].key, e.lkey);
	}
	unit_expect_none(b.u, &b.p);
	for (i = 0; i < sizeof(kinds); i++) {
		struct fl_cqe e;

		EXPECT(!fw_idle(b.u->r->fw));
		unit_end(b.u, b.p.s.qp, FL_ST_OK);
		e = unit_cqe(b.u, &b.p);
		EXPECT_EQ(e.index, i);
		EXPECT_EQ(e.opcode, kinds[i]);
		EXPECT_EQ(e.status, FL_ST_OK);
		EXPECT_EQ(e.wr_id, 1000 + i);
		EXPECT_EQ(e.xfer, 70000 + i);
		EXPECT_EQ(e.length, i < 3 ? 100 + i : 8);
		EXPECT_EQ(e.resends, 3);
	}
	EXPECT(fw_idle(b.u->r->fw));
}

TEST("nothing at all may be sent, and then no key is asked for")
{
	struct bench b = { 0 };
	struct fl_wqe e;

	bench_make(&b);
	e = rig_wqe(&b.p.s, 0);
	e.lkey = 0x666;
	rig_post(b.u->r, &b.p.s, e);
	EXPECT_EQ(bench_qp(&b)->posts, 1);
	EXPECT_EQ(b.u->work[0].segments, 0);
	EXPECT_EQ(b.u->work[0].length, 0);
	unit_expect_none(b.u, &b.p);
	unit_end(b.u, b.p.s.qp, FL_ST_OK);
	UNIT_EXPECT_CQE(b.u, &b.p, 0, FL_OP_WRITE, FL_ST_OK);
}

TEST("a list of 1 to 12 segments is one request, and frees all of its entries")
{
	struct bench b = { 0 };
	uint32_t n, i, at = 0;

	bench_make(&b);
	for (n = 1; n <= FW_SEGMENTS_MAX; n++) {
		struct fl_wqe e = put_list(&b, FL_OP_SEND, n);
		const struct fw_work *w = &b.u->work[n - 1];

		bench_ring(&b);
		at += 1 + (n + 2) / 3;
		EXPECT_EQ(bench_qp(&b)->posts, n);
		EXPECT_EQ(w->segments, n);
		EXPECT_EQ(w->length, e.length);
		for (i = 0; i < n; i++) {
			EXPECT_EQ(w->segment[i].va, RIG_VA + 4096 * i);
			EXPECT_EQ(w->segment[i].bytes, 10 + i);
			EXPECT_EQ(w->segment[i].key, b.p.s.key);
		}
		unit_end(b.u, b.p.s.qp, FL_ST_OK);
		UNIT_EXPECT_CQE(b.u, &b.p, (uint16_t)(at - 1), FL_OP_SEND,
				FL_ST_OK);
	}
}

TEST("inline data of 0 to 192 bytes arrives as it was posted, without a key")
{
	uint8_t data[FW_INLINE_MAX];
	struct bench b = { 0 };
	uint32_t n, i, count = 0;

	bench_make(&b);
	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 37 + 5);
	for (n = 0; n <= FW_INLINE_MAX; n += n < 50 ? 1 : 47) {
		struct fl_wqe e = rig_wqe(&b.p.s, n);
		const struct fw_work *w = &b.u->work[count % UNIT_POSTS];

		e.flags |= FL_WQE_INLINE;
		e.local_va = e.lkey = 0;
		rig_put(b.u->r, &b.p.s, &e);
		for (i = 0; i < n; i += 48) {
			uint64_t v[6] = { 0 };
			struct fl_wqe_more m;

			memcpy(v, data + i, n - i < 48 ? n - i : 48);
			m = more_of(b.p.s.tail, v);
			put_more(&b, &m);
		}
		bench_ring(&b);
		EXPECT_EQ(bench_qp(&b)->posts, ++count);
		EXPECT_EQ(w->length, n);
		EXPECT_EQ(w->segments, 0);
		EXPECT_MEM(w->data, data, n);
		unit_end(b.u, b.p.s.qp, FL_ST_OK);
		UNIT_EXPECT_CQE(b.u, &b.p, (uint16_t)(b.p.s.tail - 1),
				FL_OP_WRITE, FL_ST_OK);
	}
	EXPECT(count > 50);
}

static void bad_length_or_key(struct bench *b, struct fl_wqe *e, uint32_t k)
{
	switch (k) {
	case 14:
		e->opcode = FL_OP_FETCH_ADD;
		e->length = 4;
		return;
	case 15:
		e->opcode = FL_OP_CMP_SWAP;
		e->length = 16;
		return;
	case 16:
		e->opcode = FL_OP_FETCH_ADD;
		e->length = 8;
		e->compare = 1;
		return;
	case 17:
		e->length = (1u << 31) + 1;
		return;
	case 18:
		e->local_va = ~0ull - 4;
		return;
	case 19:
		e->remote_va = ~0ull - 4;
		return;
	case 20:
		e->lkey ^= 1u << 20;
		return;
	case 21:
		e->local_va = RIG_VA + RIG_BYTES - 4;
		return;
	case 22:
		e->opcode = FL_OP_READ;
		e->lkey = b->key;
		return;
	case 23:
		e->opcode = FL_OP_FETCH_ADD;
		e->length = 8;
		e->lkey = b->key;
		return;
	case 24:
		e->flags |= FL_WQE_LIST;	/* nothing follows */
		e->local_va = 2;
		e->lkey = 0;
		return;
	case 25:
		e->flags |= FL_WQE_LIST;
		e->local_va = 0;
		e->lkey = 0;
		return;
	case 26:
		e->flags |= FL_WQE_INLINE;	/* with address and key */
		return;
	case 27:
		e->flags |= FL_WQE_INLINE | FL_WQE_LIST;
		e->local_va = e->lkey = 0;
		return;
	}
	e->flags |= FL_WQE_INLINE;		/* nothing follows */
	e->local_va = e->lkey = 0;
}

static void bad_entry(struct bench *b, struct fl_wqe *e, uint32_t k)
{
	switch (k) {
	case 0:
		e->opcode = 0;
		return;
	case 1:
		e->opcode = FL_OP_READ_RESP;
		return;
	case 2:
		e->opcode = FL_OP_SEGMENTS;
		return;
	case 3:
		e->opcode = FL_OP_RECV;
		return;
	case 4:
		e->flags |= 64;
		return;
	case 5:
		e->flags |= 128;
		return;
	case 6:
		e->index++;
		return;
	case 7:
		e->imm = 1;
		return;
	case 8:
		e->compare = 1;
		return;
	case 9:
		e->swap = 1;
		return;
	case 10:
		e->opcode = FL_OP_SEND;		/* with remote address and key */
		return;
	case 11:
		e->opcode = FL_OP_READ;
		e->flags |= FL_WQE_INLINE;
		return;
	case 12:
		e->opcode = FL_OP_READ;
		e->flags |= FL_WQE_IMM;
		return;
	case 13:
		e->opcode = FL_OP_READ;
		e->flags |= FL_WQE_SOLICITED;
		return;
	}
	bad_length_or_key(b, e, k);
}

TEST("each malformed entry ends the connection with its status, and nothing is sent")
{
	static const uint8_t status[] = {
		FL_ST_BAD_OPCODE, FL_ST_BAD_OPCODE, FL_ST_BAD_OPCODE,
		FL_ST_BAD_OPCODE, FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY,
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY,
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY,
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY, FL_ST_BAD_LENGTH,
		FL_ST_BAD_LENGTH, FL_ST_BAD_ENTRY, FL_ST_BAD_LENGTH,
		FL_ST_BAD_LENGTH, FL_ST_BAD_LENGTH, FL_ST_LOCAL_KEY,
		FL_ST_LOCAL_RANGE, FL_ST_LOCAL_RIGHTS, FL_ST_LOCAL_RIGHTS,
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY,
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY,
	};
	struct bench b = { 0 };
	uint32_t k;

	for (k = 0; k < sizeof(status); k++) {
		struct fl_wqe e;
		struct fl_cqe c;

		STEP("entry %u", k);
		bench_make(&b);
		e = rig_wqe(&b.p.s, 100);
		bad_entry(&b, &e, k);
		rig_post(b.u->r, &b.p.s, e);
		EXPECT_EQ(bench_qp(&b)->posts, 0);
		EXPECT(!bench_qp(&b)->open);
		c = unit_cqe(b.u, &b.p);
		EXPECT_EQ(c.status, status[k]);
		EXPECT_EQ(c.length, 0);
		unit_expect_none(b.u, &b.p);
		rig_expect_event(b.u->r, FL_EV_QP_ERROR, b.p.s.qp, status[k]);
		EXPECT(fw_idle(b.u->r->fw));
	}
}

TEST("each malformed continuation is refused, and none of its entries is a request")
{
	static const uint8_t status[] = {
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY,
		FL_ST_BAD_ENTRY, FL_ST_BAD_ENTRY, FL_ST_BAD_LENGTH,
		FL_ST_BAD_LENGTH, FL_ST_BAD_ENTRY, FL_ST_LOCAL_KEY,
		FL_ST_LOCAL_RANGE, FL_ST_BAD_LENGTH,
	};
	struct bench b = { 0 };
	uint32_t k;

	for (k = 0; k < sizeof(status); k++) {
		uint64_t v[6] = { RIG_VA, 50, RIG_VA + 4096, 50, 0, 0 };
		struct fl_wqe_more m;
		struct fl_wqe e;

		STEP("continuation %u", k);
		bench_make(&b);
		v[1] |= (uint64_t)b.p.s.key << 32;
		v[3] |= (uint64_t)b.p.s.key << 32;
		e = rig_wqe(&b.p.s, 100);
		e.flags |= FL_WQE_LIST;
		e.local_va = 2;
		e.lkey = 0;
		if (k == 6)
			e.length = 101;
		rig_put(b.u->r, &b.p.s, &e);
		m = more_of(b.p.s.tail, v);
		if (k == 0)
			m.opcode = FL_OP_WRITE;
		if (k == 1)
			m.flags = 1;
		if (k == 2)
			m.index++;
		if (k == 3)
			m.reserved0 = 1;
		if (k == 4)
			m.reserved1 = 1;
		if (k == 5)
			m.bytes1 = 0;
		if (k == 7)
			m.key2 = 1;
		if (k == 8)
			m.key1 ^= 1u << 15;
		if (k == 9)
			m.va1 = RIG_VA - 1;
		if (k == 10)
			m.va0 = ~0ull - 5;
		put_more(&b, &m);
		/* Behind it a good one, which is flushed. */
		e = rig_wqe(&b.p.s, 10);
		rig_put(b.u->r, &b.p.s, &e);
		bench_ring(&b);
		EXPECT_EQ(bench_qp(&b)->posts, 0);
		UNIT_EXPECT_CQE(b.u, &b.p, 1, FL_OP_WRITE, status[k]);
		UNIT_EXPECT_CQE(b.u, &b.p, 2, FL_OP_WRITE, FL_ST_FLUSHED);
		unit_expect_none(b.u, &b.p);
		EXPECT(fw_idle(b.u->r->fw));
	}
}

TEST("entries that are changed while they are in use change nothing")
{
	uint64_t seed = test_seed() + 77, v[6] = { 0 };
	uint32_t round, i;
	struct bench b = { 0 };

	bench_make(&b);
	for (round = 0; round < 300; round++) {
		struct fl_wqe e = rig_wqe(&b.p.s, 1 + rig_random(&seed) % 4096);

		if (round % 3 == 1) {
			put_list(&b, FL_OP_WRITE, 1 + round % 12);
		} else if (round % 3 == 2) {
			struct fl_wqe_more m;

			e.flags |= FL_WQE_INLINE;
			e.length = 30;
			e.local_va = e.lkey = 0;
			rig_put(b.u->r, &b.p.s, &e);
			m = more_of(b.p.s.tail, v);
			put_more(&b, &m);
		} else {
			rig_put(b.u->r, &b.p.s, &e);
		}
		bench_ring(&b);
		/* The process scribbles over all of its queue. */
		for (i = 0; i < 64 * b.p.s.sq_size; i++)
			b.u->r->mem[b.p.s.sq_pa + i] = (uint8_t)rig_random(&seed);
		EXPECT_EQ(bench_qp(&b)->posts, round + 1);
		unit_end(b.u, b.p.s.qp, FL_ST_OK);
		UNIT_EXPECT_CQE(b.u, &b.p, (uint16_t)(b.p.s.tail - 1),
				FL_OP_WRITE, FL_ST_OK);
	}
}

TEST("random entries and doorbells never crash nor break a bound")
{
	uint64_t seed = test_seed() + 5;
	struct bench b = { 0 };
	uint32_t round, i;
	struct fl_cqe c;

	for (round = 0; round < 60; round++) {

		bench_make(&b);
		for (i = 0; i < 64 * b.p.s.sq_size; i++)
			b.u->r->mem[b.p.s.sq_pa + i] = (uint8_t)rig_random(&seed);
		for (i = 0; i < b.p.s.sq_size; i++) {
			struct fl_wqe e;

			memcpy(&e, b.u->r->mem + b.p.s.sq_pa + 64 * i, 64);
			/* Now and then nearly right. */
			e.index = (uint16_t)i;
			e.opcode = (uint8_t)(rig_random(&seed) % 10);
			e.flags = (uint8_t)(rig_random(&seed) % 64);
			e.length %= 256;
			if (rig_random(&seed) % 2)
				e.local_va %= 16;
			memcpy(b.u->r->mem + b.p.s.sq_pa + 64 * i, &e, 64);
		}
		for (i = 0; i < 20; i++) {
			rig_write(b.u->r, NIC_DB_BASE(1) + NIC_DB_SQ,
				  (b.p.s.qp & NIC_DB_SQ_QPN_MASK) |
				  (rig_random(&seed) % 70) << 16);
			rig_write(b.u->r, NIC_DB_BASE(1) + NIC_DB_RQ,
				  (b.p.s.qp & NIC_DB_RQ_QPN_MASK) |
				  (rig_random(&seed) % 20) << 16);
			unit_run(b.u);
			while (bench_qp(&b)->open &&
			       bench_qp(&b)->begun != bench_qp(&b)->next)
				unit_end(b.u, b.p.s.qp, FL_ST_OK);
		}
		while (rig_poll(b.u->r, &b.p.s, &c))
			;
		EXPECT(bench_qp(&b)->open || fw_idle(b.u->r->fw));
	}
}
