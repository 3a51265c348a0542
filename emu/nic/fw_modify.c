// SPDX-License-Identifier: BSD-2-Clause
/*
 * States of queue pairs whose requests a packet unit carries, and which way leads from one to
 * another (InfiniBand 10.3.1, 11.2.5.2).
 */
#include "nic/fw_internal.h"

/* What QP_CONNECT gives where the configuration says nothing. */
static const struct fw_pair usual = {
	.mtu = 1024, .rnr_code = 12, .retries = 7, .rnr_tries = 7,
	.timeout = 14, .rd_atomic = 1, .dest_rd_atomic = 1,
};

/* Of datagrams whose Q_Key nobody has set: that of rdma-core's own programs. */
#define QKEY_USUAL 0x11111111u

#define MOD_ALL (FL_MOD_STATE | FL_MOD_MTU | FL_MOD_RNR_CODE | \
		 FL_MOD_RETRIES | FL_MOD_RNR_TRIES | FL_MOD_TIMEOUT | \
		 FL_MOD_RD_ATOMIC | FL_MOD_DEST_RD_ATOMIC | FL_MOD_PEER | \
		 FL_MOD_SQ_PSN | FL_MOD_RQ_PSN | FL_MOD_QKEY | FL_MOD_ACCESS)

#define ACC_REMOTE (FL_ACC_REMOTE_WRITE | FL_ACC_REMOTE_READ | FL_ACC_REMOTE_ATOMIC)

/* Every way but those to RESET and ERROR; attributes that it needs, and that it allows. */
struct way {
	uint8_t from, to;	/* FL_STATE_* */
	uint16_t needs, allows;
};

static const struct way ways_rc[] = {
	{ FL_STATE_RESET, FL_STATE_INIT, 0, FL_MOD_ACCESS },
	{ FL_STATE_INIT, FL_STATE_INIT, 0, FL_MOD_ACCESS },
	{ FL_STATE_INIT, FL_STATE_RTR,
	  FL_MOD_PEER | FL_MOD_MTU | FL_MOD_RQ_PSN | FL_MOD_RNR_CODE |
	  FL_MOD_DEST_RD_ATOMIC, FL_MOD_ACCESS },
	{ FL_STATE_RTR, FL_STATE_RTS,
	  FL_MOD_SQ_PSN | FL_MOD_TIMEOUT | FL_MOD_RETRIES | FL_MOD_RNR_TRIES |
	  FL_MOD_RD_ATOMIC, FL_MOD_RNR_CODE | FL_MOD_ACCESS },
	{ FL_STATE_RTS, FL_STATE_RTS, 0, FL_MOD_RNR_CODE | FL_MOD_ACCESS },
	{ FL_STATE_RTS, FL_STATE_SQD, 0, 0 },
	{ FL_STATE_SQD, FL_STATE_RTS, 0, FL_MOD_RNR_CODE | FL_MOD_ACCESS },
	{ FL_STATE_SQD, FL_STATE_SQD, 0,
	  FL_MOD_TIMEOUT | FL_MOD_RETRIES | FL_MOD_RNR_TRIES |
	  FL_MOD_RD_ATOMIC | FL_MOD_DEST_RD_ATOMIC | FL_MOD_RNR_CODE |
	  FL_MOD_ACCESS },
};

/*
 * Of datagrams (table 91 there), and the MTU of the port. A peer is what only some have: the
 * others' requests say to whom they go.
 */
static const struct way ways_ud[] = {
	{ FL_STATE_RESET, FL_STATE_INIT, FL_MOD_QKEY, 0 },
	{ FL_STATE_INIT, FL_STATE_INIT, 0, FL_MOD_QKEY },
	{ FL_STATE_INIT, FL_STATE_RTR, FL_MOD_MTU, FL_MOD_PEER | FL_MOD_QKEY },
	{ FL_STATE_RTR, FL_STATE_RTS, FL_MOD_SQ_PSN, FL_MOD_QKEY },
	{ FL_STATE_RTS, FL_STATE_RTS, 0, FL_MOD_QKEY },
	{ FL_STATE_RTS, FL_STATE_SQD, 0, 0 },
	{ FL_STATE_SQD, FL_STATE_RTS, 0, FL_MOD_QKEY },
	{ FL_STATE_SQD, FL_STATE_SQD, 0, FL_MOD_QKEY },
};

#define WAYS(list) (sizeof(list) / sizeof((list)[0]))

static uint8_t state_of(const struct fw_qp *q)
{
	switch (q->state) {
	case FW_QP_RESET:
		return FL_STATE_RESET;
	case FW_QP_INIT:
		return FL_STATE_INIT;
	case FW_QP_RTR:
		return FL_STATE_RTR;
	case FW_QP_CONNECTED:
	case FW_QP_RTS:
		return FL_STATE_RTS;
	case FW_QP_SQD:
		return FL_STATE_SQD;
	case FW_QP_HALTED:
		return FL_STATE_SQE;
	}
	return FL_STATE_ERROR;
}

static enum fw_qp_state state_inside(uint8_t state)
{
	switch (state) {
	case FL_STATE_INIT:
		return FW_QP_INIT;
	case FL_STATE_RTR:
		return FW_QP_RTR;
	case FL_STATE_RTS:
		return FW_QP_RTS;
	}
	return FW_QP_SQD;
}

static const struct way *way_find(const struct fw_qp *q, uint8_t to)
{
	const struct way *ways = q->datagrams ? ways_ud : ways_rc;
	uint32_t n = q->datagrams ? WAYS(ways_ud) : WAYS(ways_rc), i;
	uint8_t from = state_of(q);

	for (i = 0; i < n; i++)
		if (ways[i].from == from && ways[i].to == to)
			return &ways[i];
	return NULL;
}

static uint8_t byte_of(uint64_t word, unsigned int n)
{
	return (uint8_t)(word >> 8 * n);
}

/* An attribute that is not in the flags must be 0. False: it is not, or it is too large. */
static bool byte_is_good(const struct fl_fw_cmd *c, uint32_t flag,
			 unsigned int n, uint8_t least, uint8_t most)
{
	uint8_t v = byte_of(c->a, n);

	if (!(c->flags & flag))
		return !v;
	return v >= least && v <= most;
}

/* entries.def, FL_MOD_* */
static bool attributes_make_sense(const struct fw *fw,
				  const struct fl_fw_cmd *c)
{
	uint32_t sq_psn = (uint32_t)c->c, rq_psn = (uint32_t)(c->c >> 32);

	if (!(c->flags & FL_MOD_PEER) ? c->b != 0 :
	    byte_of(c->b, 0) >= fw->cfg.nodes || c->b >> 32)
		return false;
	if (sq_psn >> 24 || (sq_psn && !(c->flags & FL_MOD_SQ_PSN)) ||
	    rq_psn >> 24 || (rq_psn && !(c->flags & FL_MOD_RQ_PSN)))
		return false;
	if (((uint32_t)c->d && !(c->flags & FL_MOD_QKEY)) ||
	    (c->d >> 32 && !(c->flags & FL_MOD_ACCESS)) ||
	    c->d >> 32 & ~(uint64_t)ACC_REMOTE)
		return false;
	return byte_is_good(c, FL_MOD_STATE, 0, 0, FL_STATE_ERROR) &&
	       byte_is_good(c, FL_MOD_MTU, 1, 1, 5) &&
	       byte_is_good(c, FL_MOD_RNR_CODE, 2, 0, 31) &&
	       byte_is_good(c, FL_MOD_RETRIES, 3, 0, 7) &&
	       byte_is_good(c, FL_MOD_RNR_TRIES, 4, 0, 7) &&
	       byte_is_good(c, FL_MOD_TIMEOUT, 5, 0, 31) &&
	       byte_is_good(c, FL_MOD_RD_ATOMIC, 6, 1, 16) &&
	       byte_is_good(c, FL_MOD_DEST_RD_ATOMIC, 7, 1, 16);
}

static void attributes_take(const struct fl_fw_cmd *c, struct fw_pair *p)
{
	if (c->flags & FL_MOD_MTU)
		p->mtu = (uint16_t)(128u << byte_of(c->a, 1));
	if (c->flags & FL_MOD_RNR_CODE)
		p->rnr_code = byte_of(c->a, 2);
	if (c->flags & FL_MOD_RETRIES)
		p->retries = byte_of(c->a, 3);
	if (c->flags & FL_MOD_RNR_TRIES)
		p->rnr_tries = byte_of(c->a, 4);
	if (c->flags & FL_MOD_TIMEOUT)
		p->timeout = byte_of(c->a, 5);
	if (c->flags & FL_MOD_RD_ATOMIC)
		p->rd_atomic = byte_of(c->a, 6);
	if (c->flags & FL_MOD_DEST_RD_ATOMIC)
		p->dest_rd_atomic = byte_of(c->a, 7);
	if (c->flags & FL_MOD_PEER) {
		p->peer = true;
		p->node = byte_of(c->b, 0);
		p->peer_qp = (uint32_t)c->b >> 8;
	}
	if (c->flags & FL_MOD_SQ_PSN)
		p->sq_psn = (uint32_t)c->c;
	if (c->flags & FL_MOD_RQ_PSN)
		p->rq_psn = (uint32_t)(c->c >> 32);
	if (c->flags & FL_MOD_QKEY)
		p->qkey = (uint32_t)c->d;
	if (c->flags & FL_MOD_ACCESS)
		p->denied = (uint8_t)(ACC_REMOTE & ~(c->d >> 32));
}

static void state_set(struct fw *fw, uint16_t n, enum fw_qp_state state)
{
	struct fw_qp *q = &fw->qp[n];
	uint8_t before = state_of(q);

	q->state = (uint8_t)state;
	if (state_of(q) != before)
		fw_trace(fw, FW_TRACE_FW_STATE, (struct fw_at){ 0 },
			 fw_qp_number(q, n), before, state_of(q), 0);
}

/* As if it had just been made. */
static void modify_reset(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];

	fw_unit_close(fw, n);
	state_set(fw, n, FW_QP_RESET);
	q->head = q->tail = 0;
	q->wr_head = q->wr_issue = q->wr_tail = 0;
	q->flushing = q->stuck = q->doomed = false;
	q->has_taken = false;
	q->rq.head = q->rq.tail = 0;
	q->error_status = FL_ST_OK;
	q->pair = (struct fw_pair){ 0 };
	q->untold = false;
	fw_event_forget_qp(fw, n);
}

/* The program asked for it, so there is no event that says so. */
static void modify_error(struct fw *fw, uint16_t n)
{
	struct fw_qp *q = &fw->qp[n];

	q->cause = 0;
	state_set(fw, n, FW_QP_ERROR);
	fw_unit_close(fw, n);
	fw_recv_last(fw, n);
}

/* The queue pair is to be in this state, with these attributes. */
static uint8_t modify_open(struct fw *fw, uint16_t n, enum fw_qp_state state,
			   struct fw_pair *p)
{
	struct fw_qp *q = &fw->qp[n];
	uint8_t status = FL_ST_OK;

	p->qpn = fw_qp_number(q, n);
	p->slot = q->slot;
	p->sends = state == FW_QP_RTS || state == FW_QP_SQD;
	if (state != FW_QP_INIT) {
		status = q->unit->open(q->unit->ctx, n, p);
		if (status)
			return status;
		q->open = true;
	}
	q->pair = *p;
	q->peer_node = p->node;
	q->peer_qp = p->peer_qp;
	state_set(fw, n, state);
	return FL_ST_OK;
}

static uint8_t modify_to(struct fw *fw, uint16_t n, uint8_t to,
			 const struct fl_fw_cmd *c)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_pair p = q->pair;
	uint8_t from = state_of(q);
	uint32_t attributes = c->flags & ~(uint32_t)FL_MOD_STATE;
	const struct way *way = way_find(q, to);

	if (to == FL_STATE_RESET || (to == FL_STATE_ERROR &&
				     from != FL_STATE_RESET)) {
		if (attributes)
			return FL_ST_BAD_ARGUMENT;
		if (to == FL_STATE_RESET)
			modify_reset(fw, n);
		else if (from != FL_STATE_ERROR)
			modify_error(fw, n);
		return FL_ST_OK;
	}
	if (!way || (attributes & way->needs) != way->needs ||
	    attributes & ~(uint32_t)(way->needs | way->allows))
		return FL_ST_BAD_ARGUMENT;
	attributes_take(c, &p);
	return modify_open(fw, n, state_inside(to), &p);
}

uint8_t fw_qp_modify(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *was)
{
	struct fw_qp *q = fw_qp_find(fw, c->object, c->slot);
	uint16_t n = (uint16_t)FW_QP_PLACE(c->object);
	uint8_t to, status;

	if (!q)
		return FL_ST_NO_OBJECT;
	*was = state_of(q) | (q->wr_head != q->wr_tail) << 8;
	if (c->flags & ~(uint32_t)MOD_ALL || !attributes_make_sense(fw, c))
		return FL_ST_BAD_ARGUMENT;
	if (!c->flags)
		return FL_ST_OK;
	if (!q->unit)
		return FL_ST_BAD_ARGUMENT;
	to = c->flags & FL_MOD_STATE ? byte_of(c->a, 0) : state_of(q);
	status = modify_to(fw, n, to, c);
	fw_qp_update(fw, n);
	return status;
}

uint8_t fw_modify_connect(struct fw *fw, uint16_t n, uint8_t node,
			  uint32_t peer_qp)
{
	struct fw_qp *q = &fw->qp[n];
	struct fw_pair p = fw->cfg.connect.mtu ? fw->cfg.connect : usual;
	uint8_t status;

	if (q->state != FW_QP_RESET && q->state != FW_QP_INIT)
		return FL_ST_BUSY;
	p.peer = true;
	p.node = node;
	p.peer_qp = peer_qp;
	p.sq_psn = p.rq_psn = 0;
	/* What INIT was given stays. */
	p.qkey = q->state == FW_QP_INIT ? q->pair.qkey : QKEY_USUAL;
	p.denied = q->state == FW_QP_INIT ? q->pair.denied : 0;
	status = modify_open(fw, n, FW_QP_RTS, &p);
	if (status)
		return status;
	fw_trace(fw, FW_TRACE_FW_CONNECT, (struct fw_at){ 0 },
		 fw_qp_number(q, n), node, peer_qp, 0);
	fw_qp_update(fw, n);
	return FL_ST_OK;
}
