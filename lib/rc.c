// SPDX-License-Identifier: BSD-2-Clause
/*
 * Posting to a reliable connection, or datagrams. A request with several segments, or with
 * its data in itself, takes more than one entry; the doorbell is rung once, behind the last.
 */
#include <errno.h>
#include <string.h>

#include "lib_internal.h"

#define MORE_MAX	4u	/* entries that continue a request */
#define MORE_BYTES	48u	/* of data in each */

_Static_assert(MORE_MAX * 3 == FL_SEND_SEGMENTS &&
	       MORE_MAX * MORE_BYTES == FL_INLINE_BYTES, "faultline.h");

/* A request on its way into the queue. */
struct request {
	struct fl_wqe e;
	struct fl_wqe_more more[MORE_MAX];
	unsigned int extra;
};

/* The three segments of an entry, in order: as bytes they are what it holds. */
struct three {
	struct {
		uint64_t va;
		uint32_t bytes, key;
	} s[3];
};

_Static_assert(sizeof(struct three) == MORE_BYTES, "entries.def, fl_wqe_more");

static struct fl_wqe_more more_entry(const struct three *t)
{
	return (struct fl_wqe_more){
		.opcode = FL_OP_SEGMENTS,
		.va0 = t->s[0].va, .bytes0 = t->s[0].bytes, .key0 = t->s[0].key,
		.va1 = t->s[1].va, .bytes1 = t->s[1].bytes, .key1 = t->s[1].key,
		.va2 = t->s[2].va, .bytes2 = t->s[2].bytes, .key2 = t->s[2].key,
	};
}

static uint8_t rc_opcode(enum fl_opcode opcode)
{
	switch (opcode) {
	case FL_WRITE:
		return FL_OP_WRITE;
	case FL_READ:
		return FL_OP_READ;
	case FL_SEND:
		return FL_OP_SEND;
	case FL_FETCH_ADD:
		return FL_OP_FETCH_ADD;
	case FL_CMP_SWAP:
		return FL_OP_CMP_SWAP;
	case FL_RECV:
	case FL_RECV_IMM:
	case FL_RECV_WRITE_IMM:
		break;
	}
	return 0;
}

/* Segment i of a request, however it names them. */
static struct fl_segment work_segment(const struct fl_work *w, unsigned int i)
{
	if (w->list)
		return w->list[i];
	return (struct fl_segment){ w->local, w->bytes, w->lkey };
}

static unsigned int work_segments(const struct fl_work *w)
{
	return w->list ? w->segments : w->bytes != 0;
}

/* Bytes of all segments; -EINVAL: one wraps, or together they are too many. */
static int64_t work_length(const struct fl_work *w)
{
	int64_t sum = 0;
	unsigned int i;

	for (i = 0; i < work_segments(w); i++) {
		struct fl_segment s = work_segment(w, i);
		uint64_t va = (uintptr_t)s.addr;

		if (s.bytes && va + (s.bytes - 1) < va)
			return -EINVAL;
		sum += s.bytes;
	}
	/* InfiniBand 9.7.2 */
	return sum > 1ll << 31 ? -EINVAL : sum;
}

static void request_inline(struct request *r, const struct fl_work *w)
{
	unsigned char data[FL_INLINE_BYTES] = { 0 };
	struct three t;
	unsigned int i, at = 0;

	for (i = 0; i < work_segments(w); i++) {
		struct fl_segment s = work_segment(w, i);

		if (s.bytes)
			memcpy(data + at, s.addr, s.bytes);
		at += s.bytes;
	}
	r->extra = (at + MORE_BYTES - 1) / MORE_BYTES;
	for (i = 0; i < r->extra; i++) {
		memcpy(&t, data + i * MORE_BYTES, sizeof(t));
		r->more[i] = more_entry(&t);
	}
}

/* Empty segments are left out: the card knows none. */
static void request_list(struct request *r, const struct fl_work *w)
{
	struct three t[MORE_MAX] = { 0 };
	unsigned int i, n = 0;

	for (i = 0; i < w->segments; i++) {
		if (!w->list[i].bytes)
			continue;
		t[n / 3].s[n % 3].va = (uintptr_t)w->list[i].addr;
		t[n / 3].s[n % 3].bytes = w->list[i].bytes;
		t[n / 3].s[n % 3].key = w->list[i].key;
		n++;
	}
	if (n < 2) {
		r->e.local_va = t[0].s[0].va;
		r->e.lkey = t[0].s[0].key;
		return;
	}
	r->e.flags |= FL_WQE_LIST;
	r->e.local_va = n;
	r->extra = (n + 2) / 3;
	for (i = 0; i < r->extra; i++)
		r->more[i] = more_entry(&t[i]);
}

static bool is_atomic(const struct fl_work *w)
{
	return w->opcode == FL_FETCH_ADD || w->opcode == FL_CMP_SWAP;
}

/* What the opcode has no use for must not be there. */
static int rc_check(const struct fl_qp *qp, const struct fl_work *w,
		    int64_t length)
{
	bool carries = w->opcode == FL_SEND || w->opcode == FL_WRITE;

	if (!rc_opcode(w->opcode) || length < 0)
		return -EINVAL;
	/* A datagram is one packet; whose size the card knows if the program does not. */
	if (qp->ud && (w->opcode != FL_SEND ||
		       (qp->attr.mtu && length > (int64_t)qp->attr.mtu)))
		return -EINVAL;
	/* NetVM writes, and its WRITEs name counters. */
	if (qp->nv && (w->opcode != FL_WRITE || w->with_imm || w->solicited))
		return -EOPNOTSUPP;
	if (w->notify && (!qp->nv || w->notify >> 16))
		return -EINVAL;
	if (!carries && (w->inlined || w->with_imm || w->solicited))
		return -EINVAL;
	if ((w->imm && !w->with_imm) || (w->swap && !is_atomic(w)) ||
	    (w->compare && w->opcode != FL_CMP_SWAP))
		return -EINVAL;
	if (w->opcode == FL_SEND && (w->remote || w->rkey))
		return -EINVAL;
	if (w->to ? !qp->ud || w->to->node >> 8 || w->to->qpn >> 24 : w->qkey != 0)
		return -EINVAL;
	if (is_atomic(w) && (length != 8 || w->remote % 8))
		return -EINVAL;
	if (w->inlined ? length > qp->inline_bytes :
			 work_segments(w) > qp->segments)
		return -EINVAL;
	if (length && w->remote + (uint64_t)(length - 1) < w->remote)
		return -EINVAL;
	/* Nothing can be sent before it is ready to, and not a second time. */
	if (qp->attr.state < FL_RTS || (!qp->peer && !w->to))
		return -ENOTCONN;
	return 0;
}

int lib_judge_rc(const struct fl_qp *qp, const struct fl_work *w)
{
	unsigned int i, n = 0;
	int64_t length;
	int error;

	if (!w->list && w->segments)
		return -EINVAL;
	if (work_segments(w) > FL_SEND_SEGMENTS)
		return -EINVAL;
	length = work_length(w);
	error = rc_check(qp, w, length);
	if (error)
		return error;
	if (w->inlined)
		return 1 + (int)((length + MORE_BYTES - 1) / MORE_BYTES);
	for (i = 0; i < work_segments(w); i++)
		n += work_segment(w, i).bytes != 0;
	return n < 2 ? 1 : 1 + (int)((n + 2) / 3);
}

int lib_post_rc(struct fl_qp *qp, const struct fl_work *w)
{
	uint32_t posted = atomic_load_explicit(&qp->posted, memory_order_relaxed);
	int64_t length = work_length(w);
	struct request r;
	unsigned int i;

	r = (struct request){ .e = {
		.opcode = rc_opcode(w->opcode),
		.flags = (w->unsignaled ? 0 : FL_WQE_SIGNALED) |
			 (w->fence ? FL_WQE_FENCE : 0) |
			 (w->solicited ? FL_WQE_SOLICITED : 0) |
			 (w->with_imm ? FL_WQE_IMM : 0) |
			 (w->notify ? FL_WQE_NOTIFY : 0) |
			 (w->to ? FL_WQE_TO : 0) |
			 (w->inlined ? FL_WQE_INLINE : 0),
		.index = (uint16_t)posted,
		.length = (uint32_t)length,
		.remote_va = w->remote, .rkey = w->rkey, .wr_id = w->wr_id,
		.imm = w->notify ? w->notify : w->imm, .compare = w->compare, .swap = w->swap,
	} };
	if (w->to) {
		r.e.remote_va = w->to->node | (uint64_t)w->to->qpn << 8;
		r.e.rkey = w->qkey;
	}
	if (w->inlined) {
		request_inline(&r, w);
	} else if (w->list) {
		request_list(&r, w);
	} else if (length) {
		r.e.local_va = (uintptr_t)w->local;
		r.e.lkey = w->lkey;
	}
	/* Relaxed: only to number no transfer that will not be posted. */
	if (posted + r.extra -
		    atomic_load_explicit(&qp->done, memory_order_relaxed) >=
	    qp->entries)
		return -EAGAIN;
	for (i = 0; i < r.extra; i++)
		r.more[i].index = (uint16_t)(posted + 1 + i);
	r.e.xfer = lib_xfer_number(qp->pd->dev, qp->number, posted);
	return lib_post_entries(qp, &r.e, r.more, r.extra);
}

int fl_post_send(struct fl_qp *qp, uint64_t wr_id, struct fl_mr *mr,
		 void *local, uint32_t bytes)
{
	struct fl_work w = {
		.wr_id = wr_id, .opcode = FL_SEND, .local = local,
		.bytes = bytes,
	};

	if (!mr && bytes)
		return -EINVAL;
	if (mr)
		w.lkey = mr->key;
	return fl_post(qp, &w);
}

int fl_post_atomic(struct fl_qp *qp, enum fl_opcode opcode, uint64_t wr_id,
		   struct fl_mr *mr, void *local, uint64_t remote,
		   uint32_t rkey, uint64_t compare, uint64_t swap)
{
	struct fl_work w = {
		.wr_id = wr_id, .opcode = opcode, .local = local, .bytes = 8,
		.remote = remote, .rkey = rkey, .compare = compare,
		.swap = swap,
	};

	if (!mr || !is_atomic(&w))
		return -EINVAL;
	w.lkey = mr->key;
	return fl_post(qp, &w);
}
