// SPDX-License-Identifier: BSD-2-Clause
/*
 * Work requests that a packet unit carries: copied, checked, and given to the unit at once.
 *
 * A request may have more than one entry: those that follow hold its segments, or the data
 * itself. All of them are copied once before any of them is looked at. A bad request ends
 * the connection, but only when those before it have ended: they were good, and are on
 * their way.
 */
#include "nic/fw_internal.h"

#define MESSAGE_MAX	(1u << 31)	/* bytes; InfiniBand 9.7.2 */

/* A request as it stands in the queue. */
struct copied {
	struct fl_wqe w;
	struct fl_wqe_more more[FW_EXTRA_ENTRIES];
	uint32_t extra;		/* entries that follow it */
	int error;		/* of reading */
};

/* How many entries should follow, however wrong the request may be. */
static uint64_t work_extra(const struct fl_wqe *w)
{
	uint64_t n = 0;

	if (w->flags & FL_WQE_INLINE)
		n = (w->length + 47ull) / 48;
	else if (w->flags & FL_WQE_LIST)
		n = w->local_va / 3 + (w->local_va % 3 != 0);
	return n < FW_EXTRA_ENTRIES ? n : FW_EXTRA_ENTRIES;
}

static int entry_read(struct fw *fw, const struct fw_qp *q, uint16_t index,
		      void *buf)
{
	uint32_t place = index & ((1u << q->size_log2) - 1);

	return fw->env.mem_read(fw->env.ctx, q->sq_pa + 64ull * place, buf, 64);
}

static void work_copy(struct fw *fw, const struct fw_qp *q, struct copied *c)
{
	uint32_t posted = (uint16_t)(q->tail - q->head), i;

	*c = (struct copied){ 0 };
	c->error = entry_read(fw, q, q->head, &c->w);
	if (c->error) {
		c->w = (struct fl_wqe){ 0 };
		return;
	}
	c->extra = (uint32_t)work_extra(&c->w);
	if (c->extra > posted - 1)
		c->extra = posted - 1;
	for (i = 0; i < c->extra && !c->error; i++)
		c->error = entry_read(fw, q, (uint16_t)(q->head + 1 + i),
				      &c->more[i]);
}

static uint32_t flags_allowed(const struct fw_qp *q, uint8_t opcode)
{
	const uint32_t any = FL_WQE_SIGNALED | FL_WQE_FENCE | FL_WQE_LIST;

	if (q->nv)
		return any | FL_WQE_INLINE | FL_WQE_NOTIFY;
	if (q->datagrams)
		return any | FL_WQE_SOLICITED | FL_WQE_INLINE | FL_WQE_IMM | FL_WQE_TO;
	if (opcode == FL_OP_SEND || opcode == FL_OP_WRITE)
		return any | FL_WQE_SOLICITED | FL_WQE_INLINE | FL_WQE_IMM;
	return any;
}

static bool is_atomic(uint8_t opcode)
{
	return opcode == FL_OP_FETCH_ADD || opcode == FL_OP_CMP_SWAP;
}

/* A datagram is a SEND (InfiniBand 9.8.3); NetVM has no READ, no SEND and no atomic. */
static bool is_known(const struct fw_qp *q, uint8_t opcode)
{
	if (q->datagrams)
		return opcode == FL_OP_SEND;
	if (q->nv)
		return opcode == FL_OP_WRITE;
	return opcode == FL_OP_SEND || opcode == FL_OP_WRITE ||
	       opcode == FL_OP_READ || is_atomic(opcode);
}

/* Members that the request has no use for must be 0. */
static bool has_stray(const struct fl_wqe *w)
{
	if (w->imm && !(w->flags & (FL_WQE_IMM | FL_WQE_NOTIFY)))
		return true;
	/* wire.def, NVH.COUNTER: 16 bits, and 0 is none. */
	if (w->flags & FL_WQE_NOTIFY && (!w->imm || w->imm >> 16))
		return true;
	if (w->compare && w->opcode != FL_OP_CMP_SWAP)
		return true;
	if (w->swap && !is_atomic(w->opcode))
		return true;
	if (w->opcode == FL_OP_SEND && !(w->flags & FL_WQE_TO) && (w->remote_va || w->rkey))
		return true;
	if (w->flags & FL_WQE_INLINE)
		return w->local_va || w->lkey;
	return w->lkey && w->flags & FL_WQE_LIST;
}

static bool more_is_bad(const struct fl_wqe_more *m, uint16_t index)
{
	return m->opcode != FL_OP_SEGMENTS || m->flags || m->index != index ||
	       m->reserved0 || m->reserved1;
}

/* Of datagrams: is there anybody to send it to? */
static uint8_t check_whom(const struct fw *fw, const struct fw_qp *q, const struct fl_wqe *w)
{
	if (!(w->flags & FL_WQE_TO))
		return q->pair.peer ? FL_ST_OK : FL_ST_NOT_CONNECTED;
	/* entries.def, fl_wqe.remote_va */
	if (w->remote_va >> 32 || (uint8_t)w->remote_va >= fw->cfg.nodes)
		return FL_ST_BAD_ENTRY;
	return FL_ST_OK;
}

static uint8_t check_form(const struct fw_qp *q, const struct copied *c)
{
	const struct fl_wqe *w = &c->w;
	uint32_t i;

	if (!is_known(q, w->opcode))
		return FL_ST_BAD_OPCODE;
	if (w->flags & ~flags_allowed(q, w->opcode) || w->index != q->head ||
	    has_stray(w))
		return FL_ST_BAD_ENTRY;
	if (w->flags & FL_WQE_INLINE && w->flags & FL_WQE_LIST)
		return FL_ST_BAD_ENTRY;
	if (w->flags & FL_WQE_INLINE && w->length > FW_INLINE_MAX)
		return FL_ST_BAD_LENGTH;
	if (w->flags & FL_WQE_LIST &&
	    (!w->local_va || w->local_va > FW_SEGMENTS_MAX))
		return FL_ST_BAD_ENTRY;
	/* The doorbell is rung when all of a request has been written. */
	if (c->extra != work_extra(w))
		return FL_ST_BAD_ENTRY;
	for (i = 0; i < c->extra; i++)
		if (more_is_bad(&c->more[i], (uint16_t)(q->head + 1 + i)))
			return FL_ST_BAD_ENTRY;
	return FL_ST_OK;
}

/* The three segments of an entry; as bytes they are its inline data. */
static void more_segments(const struct fl_wqe_more *m, struct fw_segment s[3])
{
	s[0] = (struct fw_segment){ m->va0, m->bytes0, m->key0 };
	s[1] = (struct fw_segment){ m->va1, m->bytes1, m->key1 };
	s[2] = (struct fw_segment){ m->va2, m->bytes2, m->key2 };
}

static void work_inline(const struct copied *c, struct fw_work *out)
{
	struct fw_segment s[3];
	uint32_t i, at = 0, len;

	_Static_assert(sizeof(s) == 48, "entries.def, fl_wqe_more");
	for (i = 0; i < c->extra; i++, at += len) {
		more_segments(&c->more[i], s);
		len = out->length - at;
		len = len < sizeof(s) ? len : (uint32_t)sizeof(s);
		__builtin_memcpy(out->data + at, s, len);
	}
}

static uint8_t work_list(const struct copied *c, struct fw_work *out)
{
	struct fw_segment s[3], none = { 0 };
	uint32_t i;

	out->segments = (uint8_t)c->w.local_va;
	for (i = 0; i < 3 * c->extra; i++) {
		if (i % 3 == 0)
			more_segments(&c->more[i / 3], s);
		if (i < out->segments)
			out->segment[i] = s[i % 3];
		else if (__builtin_memcmp(&s[i % 3], &none, sizeof(none)))
			return FL_ST_BAD_ENTRY;
	}
	return FL_ST_OK;
}

/* Length, and that no range runs round the address space. */
static uint8_t check_length(const struct fw_work *out)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < out->segments; i++) {
		const struct fw_segment *s = &out->segment[i];

		if (!s->bytes || s->va + (s->bytes - 1) < s->va)
			return FL_ST_BAD_LENGTH;
		sum += s->bytes;
	}
	if (!(out->flags & FL_WQE_INLINE) && sum != out->length)
		return FL_ST_BAD_LENGTH;
	if (out->length > MESSAGE_MAX ||
	    (is_atomic(out->opcode) && out->length != 8))
		return FL_ST_BAD_LENGTH;
	if (out->length && out->remote_va + (out->length - 1) < out->remote_va)
		return FL_ST_BAD_LENGTH;
	return FL_ST_OK;
}

/* InfiniBand 10.6.3.1: the local keys, before anything is sent. */
static uint8_t check_keys(const struct fw *fw, const struct fw_qp *q,
			  const struct fw_work *out)
{
	bool writes = out->opcode == FL_OP_READ || is_atomic(out->opcode);
	uint8_t status;
	uint32_t i;

	for (i = 0; i < out->segments; i++) {
		struct fw_range r = {
			.key = out->segment[i].key, .slot = q->slot,
			.pd = q->pd, .va = out->segment[i].va,
			.bytes = out->segment[i].bytes,
			.right = writes ? FL_ACC_LOCAL_WRITE : 0,
		};

		status = fw_mr_local_status(fw_mr_check(fw, &r, NULL));
		if (status)
			return status;
	}
	return FL_ST_OK;
}

static uint8_t work_check(const struct fw *fw, const struct fw_qp *q,
			  const struct copied *c, struct fw_work *out)
{
	const struct fl_wqe *w = &c->w;
	uint8_t status = c->error ? FL_ST_BUS_ERROR : check_form(q, c);

	if (status)
		return status;
	if (q->state != FW_QP_RTS)
		return FL_ST_NOT_CONNECTED;
	status = q->datagrams ? check_whom(fw, q, w) : FL_ST_OK;
	if (status)
		return status;
	*out = (struct fw_work){
		.remote_va = w->remote_va, .compare = w->compare,
		.swap = w->swap, .length = w->length, .rkey = w->rkey,
		.imm = w->imm, .xfer = w->xfer, .opcode = w->opcode,
		.flags = w->flags, .index = w->index,
	};
	if (w->flags & FL_WQE_INLINE) {
		work_inline(c, out);
	} else if (w->flags & FL_WQE_LIST) {
		status = work_list(c, out);
	} else if (w->length) {
		out->segments = 1;
		out->segment[0] = (struct fw_segment){
			w->local_va, w->length, w->lkey
		};
	}
	if (!status)
		status = check_length(out);
	/* One packet holds it. */
	if (!status && q->datagrams && out->length > q->pair.mtu)
		status = FL_ST_BAD_LENGTH;
	return status ? status : check_keys(fw, q, out);
}

/* It is bad: the connection ends, now or when those before it have ended. */
static void work_refuse(struct fw *fw, uint16_t n, struct fw_wr *wr)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_at at = { .xfer = wr->xfer };

	wr->cause = fw_trace(fw, FW_TRACE_FW_WQE_BAD, at, fw_qp_number(q, n),
			     wr->status, wr->index, 0);
	if (!fw_qp_lives(q))
		return;
	fw->stats.bad_wqes++;
	q->stuck = true;
}

void fw_work_fetch(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];
	uint32_t number = q->wr_tail;
	struct fw_wr *wr = fw_wr_at(q, number);
	struct fw_work out = { 0 };
	struct copied c;

	work_copy(fw, q, &c);
	*wr = (struct fw_wr){
		.wr_id = c.w.wr_id, .length = c.w.length, .xfer = c.w.xfer,
		.index = (uint16_t)(q->head + c.extra), .mr = FW_NONE,
		.opcode = c.w.opcode, .flags = c.w.flags,
	};
	if (q->state == FW_QP_DYING)
		wr->status = FL_ST_KILLED;
	else if (q->state == FW_QP_ERROR)
		wr->status = FL_ST_FLUSHED;
	else
		wr->status = work_check(fw, q, &c, &out);
	q->head = (uint16_t)(q->head + 1 + c.extra);
	q->wr_tail++;
	fw->costs[FW_COST_WQE]++;
	fw->stats.wqes++;
	if (wr->status) {
		work_refuse(fw, n, wr);
		return;
	}
	out.cause = fw_trace(fw, FW_TRACE_FW_WQE,
			     (struct fw_at){ .xfer = wr->xfer },
			     fw_qp_number(q, n), out.opcode,
			     out.segments ? out.segment[0].va : 0, out.length);
	wr->cause = out.cause;
	wr->issued = wr->length;
	wr->inflight = 1;
	/* It may be over before this returns. */
	q->unit->post(q->unit->ctx, n, number, &out);
}
