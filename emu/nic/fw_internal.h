/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw_internal.h - what the firmware's files share: who calls whom, beside their tables
 * (fw_tables.h).
 */
#ifndef FL_FW_INTERNAL_H
#define FL_FW_INTERNAL_H

#include "nic/fw_tables.h"

/* ---- access to the outside ---- */

static inline uint32_t fw_read32(struct fw *fw, uint32_t off)
{
	uint64_t v = 0;

	fw->env.reg_read(fw->env.engine, off, 4, &v);
	return (uint32_t)v;
}

static inline void fw_write32(struct fw *fw, uint32_t off, uint32_t value)
{
	fw->env.reg_write(fw->env.engine, off, 4, value);
}

static inline uint64_t fw_read64(struct fw *fw, uint32_t off)
{
	uint64_t v = 0;

	fw->env.reg_read(fw->env.engine, off, 8, &v);
	return v;
}

static inline void fw_write64(struct fw *fw, uint32_t off, uint64_t value)
{
	fw->env.reg_write(fw->env.engine, off, 8, value);
}

/* What a trace record is about. */
struct fw_at {
	uint32_t xfer, block;
	uint64_t cause;
};

static inline uint64_t fw_trace(struct fw *fw, enum fw_trace_event ev,
				struct fw_at at, uint64_t a0, uint64_t a1,
				uint64_t a2, uint64_t a3)
{
	if (!fw->env.trace)
		return 0;
	return fw->env.trace(fw->env.ctx, (unsigned int)ev, at.xfer, at.block,
			     at.cause, a0, a1, a2, a3);
}

/* A queue must lie where the firmware's processor gets at it; it does not wrap. */
static inline bool fw_reaches(const struct fw *fw, uint64_t pa, uint64_t bytes)
{
	return !fw->cfg.reach || (pa < fw->cfg.reach && bytes <= fw->cfg.reach - pa);
}

static inline struct fw_wr *fw_wr_at(struct fw_qp *q, uint32_t n)
{
	return &q->wr[n % FW_QP_WRS];
}

/* Nothing of the request is in flight, and nothing more will be. */
static inline bool fw_wr_finished(const struct fw_wr *wr)
{
	return !wr->inflight && (wr->status || wr->issued == wr->length);
}

/* ---- fw_mr.c ---- */

struct fw_range {
	uint32_t key;
	uint8_t slot, right;	/* right: an FL_ACC_*, 0: none is needed */
	uint16_t pd;
	uint64_t va, bytes;
};

/* Written so that no sum can wrap, whatever a peer sends. */
static inline bool fw_mr_has(const struct fw_mr *m, uint64_t va, uint64_t bytes)
{
	return va >= m->va && bytes <= m->bytes && va - m->va <= m->bytes - bytes;
}

enum fw_mr_answer { FW_MR_OK, FW_MR_KEY, FW_MR_RANGE, FW_MR_RIGHTS };

/* May this range be used so? The region's number goes to *mr (may be NULL). */
enum fw_mr_answer fw_mr_check(const struct fw *fw, const struct fw_range *r,
			      uint16_t *mr);
/* The same without the range: r->va and r->bytes are not looked at. */
enum fw_mr_answer fw_mr_check_rights(const struct fw *fw,
				     const struct fw_range *r, uint16_t *mr);
/* Of the region with this number. */
uint32_t fw_mr_key(const struct fw *fw, uint16_t mr);
/* What a completion calls that: of one's own region, and of one that a peer named. */
uint8_t fw_mr_local_status(enum fw_mr_answer answer);
uint8_t fw_mr_seen_status(enum fw_mr_answer answer);
uint8_t fw_mr_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *key);
uint8_t fw_mr_destroy(struct fw *fw, const struct fl_fw_cmd *c);
uint8_t fw_pd_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n);
uint8_t fw_pd_destroy(struct fw *fw, const struct fl_fw_cmd *c);
struct fw_pd *fw_pd_find(struct fw *fw, uint64_t n, uint32_t slot);
void fw_mr_close_slot(struct fw *fw, uint32_t slot);

/* ---- fw_cq.c ---- */

uint8_t fw_cq_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n);
uint8_t fw_cq_destroy(struct fw *fw, const struct fl_fw_cmd *c);
struct fw_cq *fw_cq_find(struct fw *fw, uint64_t n, uint32_t slot);
/*
 * Write a completion; a full queue, or memory that fails, breaks the queue. solicited: its
 * sender marked it. */
void fw_cq_push(struct fw *fw, uint16_t n, struct fl_cqe *e, struct fw_at at,
		bool solicited);
/* Doorbells; cons modulo 65536. 0 or -FW_EINVAL. */
int fw_cq_consumed(struct fw *fw, uint32_t slot, uint32_t n, uint16_t cons);
int fw_cq_arm(struct fw *fw, uint32_t slot, uint32_t n, uint16_t cons);
int fw_cq_arm_solicited(struct fw *fw, uint32_t slot, uint32_t n, uint16_t cons);
void fw_cq_close_slot(struct fw *fw, uint32_t slot);

/* ---- fw_sets.c ---- */

struct fw_qp *fw_qp_find(struct fw *fw, uint64_t n, uint32_t slot);
/* The queue pair that a doorbell names by the low bits of its number, or NULL. */
struct fw_qp *fw_qp_named(struct fw *fw, uint32_t slot, uint32_t bell);
/* Nothing is asked of it, and so it says in all the sets. */
bool fw_qp_rests(const struct fw *fw, const struct fw_qp *q, uint16_t n);
/* Put a queue pair where it belongs in the sets. After every change. */
void fw_qp_update(struct fw *fw, uint16_t n);
/* Must the next request wait for earlier ones? */
bool fw_request_fenced(const struct fw_qp *q);

/* ---- fw_error.c ---- */

/*
 * Into ERROR, with an event for the driver; only the first time. Or with FAULT_FAST:
 * halted. */
void fw_qp_error(struct fw *fw, uint16_t n, uint8_t status, uint64_t cause);
/*
 * Request `wr` ended with FAULT_FAST; its queue pair is halted. late: blocks of it, or
 * behind it, may be on the wire still.
 */
void fw_halt(struct fw *fw, uint16_t n, uint32_t wr, bool late);
/*
 * InfiniBand 11.6.3.1: in ERROR, and with no receive of a shared queue in its hands, a queue pair
 * says so. Once: call it when either becomes so.
 */
void fw_recv_last(struct fw *fw, uint16_t n);
/*
 * Its unit forgets the queue pair; what was under way has no status yet, and is FLUSHED
 * unless it has one. */
void fw_unit_close(struct fw *fw, uint16_t n);

/* ---- fw_fetch.c ---- */

/* Copy the next request. */
void fw_qp_fetch(struct fw *fw, uint16_t n);
/* The same where the engine carries it. False: it is good, and not in the trace yet. */
bool fw_qp_fetch_untold(struct fw *fw, uint16_t n);
/* It comes into the trace. */
void fw_qp_fetch_tell(struct fw *fw, uint16_t n, struct fw_wr *wr);

/* ---- fw_qp.c ---- */

static inline uint32_t fw_qp_number(const struct fw_qp *q, uint32_t place)
{
	return place | (uint32_t)q->uses << FW_QP_PLACE_BITS;
}

uint8_t fw_qp_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n);
uint8_t fw_qp_connect(struct fw *fw, const struct fl_fw_cmd *c);
/* Begin to destroy; fw_qp_destroy_step() goes on until it returns true. */
uint8_t fw_qp_destroy(struct fw *fw, const struct fl_fw_cmd *c);
bool fw_qp_destroy_step(struct fw *fw, uint16_t n);
/* Its peer may send to it. */
static inline bool fw_qp_hears(const struct fw_qp *q)
{
	return q->state == FW_QP_CONNECTED || q->state == FW_QP_HALTED;
}
/* Not in ERROR, and not gone. */
static inline bool fw_qp_lives(const struct fw_qp *q)
{
	return q->state != FW_QP_FREE && q->state != FW_QP_ERROR &&
	       q->state != FW_QP_DYING;
}

static inline bool fw_qp_due(const struct fw *fw)
{
	return fw->attention.words;
}
/* There is one, and room for it; and no other comes before. */
static inline bool fw_qp_may_fetch(const struct fw_qp *q)
{
	return q->head != q->tail && q->wr_tail - q->wr_head < FW_QP_WRS &&
	       !q->stuck && q->state != FW_QP_SQD;
}
/* It is due: copy one request or write completions, of one queue pair. */
void fw_qp_step(struct fw *fw);
void fw_qp_close_slot(struct fw *fw, uint32_t slot);

/* ---- fw_modify.c ---- */

uint8_t fw_qp_modify(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *was);
/* QP_CONNECT, of a queue pair whose requests a packet unit carries. */
uint8_t fw_modify_connect(struct fw *fw, uint16_t n, uint8_t node,
			  uint32_t peer_qp);

/* ---- fw_work.c ---- */

/* Copy the next work request, and give it to the queue pair's unit. */
void fw_work_fetch(struct fw *fw, uint16_t n);

/* ---- fw_recv.c ---- */

uint8_t fw_rq_attach(struct fw *fw, const struct fl_fw_cmd *c);
uint8_t fw_srq_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n);
uint8_t fw_srq_destroy(struct fw *fw, const struct fl_fw_cmd *c);
uint8_t fw_srq_limit(struct fw *fw, const struct fl_fw_cmd *c);
void fw_srq_close_slot(struct fw *fw, uint32_t slot);

/* fw_count.c */
uint8_t fw_counter_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n);
uint8_t fw_counter_destroy(struct fw *fw, const struct fl_fw_cmd *c);
void fw_counter_close_slot(struct fw *fw, uint32_t slot);
int fw_counter_arm(struct fw *fw, uint32_t slot, uint32_t n, uint16_t seen);
/* The slot's counter n rises by one, or could; or FL_ST_SEEN_KEY: it has none. */
uint8_t fw_counter_rise(struct fw *fw, uint32_t slot, uint32_t n, bool rise,
			uint64_t cause);

int fw_rq_doorbell(struct fw *fw, uint32_t slot, uint32_t n, uint16_t tail);
int fw_srq_doorbell(struct fw *fw, uint32_t slot, uint32_t n, uint16_t tail);
bool fw_recv_take(struct fw *fw, uint16_t qp, struct fw_recv *r, uint8_t *wrong);
/* As in transport.h. */
bool fw_recv_ahead(struct fw *fw, uint16_t qp, uint16_t ahead, struct fw_recv *r,
		   uint8_t *wrong);
/* The oldest entry, of which r is the unit's copy, is taken. */
void fw_recv_oldest(struct fw *fw, uint16_t qp, const struct fw_recv *r, uint8_t wrong);
void fw_recv_done(struct fw *fw, uint16_t qp, const struct fw_arrival *a);
/* It is in ERROR, and has receives that nothing will end any more. */
static inline bool fw_recv_due(const struct fw_qp *q)
{
	return q->state == FW_QP_ERROR &&
	       (q->has_taken || q->rq.head != q->rq.tail);
}

/* It is due: end one of them. */
void fw_recv_flush(struct fw *fw, uint16_t n);
/* Nobody wants to hear of them. */
void fw_recv_forget(struct fw_qp *q);
/* The queue pair is gone: it uses its queues no more. */
void fw_recv_detach(struct fw *fw, struct fw_qp *q);

/* ---- fw_requester.c ---- */

/* Give the next block of the queue pair to a free context. */
void fw_request_issue(struct fw *fw, uint16_t n);
/* The context is done; it counts no longer. */
void fw_request_block_done(struct fw *fw, const struct fw_ctx *c,
			   uint8_t status);
/*
 * Request `wr` fails, later ones are flushed; the queue pair goes into ERROR.
 */
void fw_request_fail(struct fw *fw, uint16_t n, uint32_t wr, uint8_t status);
/* Everything that is unfinished is flushed; the queue pair goes into ERROR. */
void fw_qp_break(struct fw *fw, uint16_t n, uint8_t status, uint64_t cause);
/* Write the completions that are due, in order. */
void fw_request_complete(struct fw *fw, uint16_t n);
/* CTX.REF of request `wr`, as it is now. */
static inline uint32_t fw_request_ref(const struct fw_qp *q, uint32_t wr)
{
	return (wr & 0xFFFFFF) << 8 | (wr - q->wr_head);
}

/* CTX.SRC of a queue pair's blocks. */
static inline uint32_t fw_request_src(const struct fw_qp *q, uint16_t n)
{
	return fw_qp_number(q, n) | (q->relaxed ? NIC_CTX_SRC_RELAXED : 0);
}

/*
 * The oldest request has ended, and its completion may be written. What is said to have
 * failed must be past: fw_halt.c.
 */
static inline bool fw_request_due(const struct fw_qp *q)
{
	return q->wr_head != q->wr_tail &&
	       fw_wr_finished(&q->wr[q->wr_head % FW_QP_WRS]) &&
	       (q->past == FW_PAST_KNOWN || q->wr_head != q->halt_wr);
}

/* ---- fw_resident.c ---- */

/* Blocks of the oldest request by the resident step. False: not now, or none. */
bool fw_resident_issue(struct fw *fw, uint16_t n);
/* A doorbell rang: requests that need nothing else. */
void fw_resident_serve(struct fw *fw, uint16_t n);
/*
 * Before anything else is recorded: what has gone by the resident step, ends: with the
 * request's completion. Returns the record.
 */
static inline uint64_t fw_resident_tell(struct fw *fw, bool ends)
{
	fw->untold = false;
	return fw->env.resident_tell(fw->env.ctx, ends);
}

/* ---- fw_halt.c ---- */

/* The peer must be asked, and may be now: requests before it may fail too. */
static inline bool fw_halt_due(const struct fw_qp *q)
{
	return q->past == FW_PAST_DUE && q->state == FW_QP_HALTED &&
	       q->wr_head == q->halt_wr && !q->inflight;
}

void fw_halt_ask(struct fw *fw, uint16_t n);
/* The answer to that. */
void fw_halt_answer(struct fw *fw, const struct fw_ctx *c, uint8_t status);
uint8_t fw_qp_resume(struct fw *fw, const struct fl_fw_cmd *c);

/* ---- fw_order.c ---- */

enum fw_turn_is { FW_TURN_NOW, FW_TURN_LATER, FW_TURN_OVER };

/* Something came from the peer's queue pair: is it its turn? */
enum fw_turn_is fw_order_judge(struct fw *fw, uint16_t qp,
			       const struct fw_turn *t);
/* What it would say; nothing changes. */
enum fw_turn_is fw_order_would(const struct fw *fw, uint16_t qp,
			       const struct fw_turn *t);
/* The same, where the peer's word has been heard. */
enum fw_turn_is fw_order_now(const struct fw *fw, uint16_t qp,
			     const struct fw_turn *t);
/* The sender says that nothing before this request comes any more. */
void fw_order_cut(struct fw *fw, uint16_t qp, uint32_t number);
/*
 * So many blocks of a request have landed, of which t is the last. True: it is over, the next
 * one's turn has come.
 */
bool fw_order_landed(struct fw *fw, uint16_t qp, const struct fw_turn *t, uint32_t blocks);

/* ---- fw_responder.c ---- */

void fw_rx_open(struct fw *fw, uint32_t rxc, uint8_t serial);
void fw_rx_landed(struct fw *fw, uint32_t rxc, uint8_t serial);
/* It has been held for too long: the sender is told to come again. */
void fw_rx_put_off(struct fw *fw, uint32_t rxc);
/* Its peer has not asked for too long. */
void fw_job_forget(struct fw *fw, uint32_t n);
/* Give one queued READ job to a free context; false: none may go now. */
bool fw_job_issue(struct fw *fw);
void fw_job_done(struct fw *fw, const struct fw_ctx *c, uint8_t status);
/* It is over; its status is kept for when the peer asks again. */
void fw_job_fail(struct fw *fw, uint32_t n, uint8_t status);
/*
 * Stop all that peers do through a queue pair, or with a region: blocks that
 * were accepted, and READ jobs. Not a byte is moved after the return.
 */
void fw_rx_stop_qp(struct fw *fw, uint16_t n);
void fw_rx_stop_key(struct fw *fw, uint32_t key);

/* May another receive context be held in CHECK? Half of them stay free. */
static inline bool fw_rx_may_hold(const struct fw *fw)
{
	return (uint32_t)__builtin_popcount(fw->rx_held) + fw->jobs_held <
	       fw->rx_contexts / 2;
}

/* ---- fw_miss.c ---- */

/* A block was accepted: will its sender hear of pages that are missing here? */
void fw_peer_hears(struct fw *fw, uint8_t node, uint8_t ctx, uint16_t qp,
		   bool is_write);
/* The READ stays in this receive context. False: its verdict is due. */
bool fw_job_hold(struct fw *fw, uint32_t n, uint32_t rxc, uint8_t serial);
/* Its verdict, if it was held. */
void fw_job_tell(struct fw *fw, uint32_t n, uint8_t code);
/* It was, but its receive context is another one's now. */
void fw_job_let_go(struct fw *fw, uint32_t n);

/* ---- fw_context.c ---- */

struct fw_block {
	uint64_t lva, rva, left;
	uint32_t qpn, len, rkey, ref, src;
	uint16_t stream;
	uint8_t op, node;
	struct fw_at at;
};

/*
 * Fill in a free context and start it; the caller has looked that there is one.
 */
struct fw_ctx *fw_ctx_start(struct fw *fw, enum fw_owner owner, uint16_t qp,
			    const struct fw_block *b);
/* End a block; its owner hears of it through TX_DONE. */
void fw_ctx_kill(struct fw *fw, struct fw_ctx *c, uint8_t status);
/* The same, and the owner will not hear of it. */
void fw_ctx_abandon(struct fw *fw, struct fw_ctx *c);
/*
 * End the block and start it anew, so that it says what is true now of the
 * requests before it. Only a READ's, or a block of which the peer keeps nothing.
 */
void fw_ctx_start_again(struct fw *fw, struct fw_ctx *c);
/* It is no elder any more: those that were put aside go on. */
void fw_ctx_elder_end(struct fw *fw);
/* Nothing was heard of it for too long: its end, unless this board is at work on it. */
void fw_ctx_elder_late(struct fw *fw);
/* Start what is parked and is now of the oldest request. */
void fw_ctx_unpark(struct fw *fw, uint16_t qp);

/*
 * For fw_notes.c: what its engine context says; its counts, and that it waits for a page;
 * the same block from the beginning. Where memory is short: does it go behind others, is
 * the elder at work, was the block put aside (anew: it lacks pages once more), does the
 * answer to this READ lack a page where it goes?
 */
static inline uint32_t fw_ctx_number(const struct fw *fw, const struct fw_ctx *c)
{
	return (uint32_t)(c - fw->ctx);
}

uint32_t fw_ctx_state(struct fw *fw, const struct fw_ctx *c, uint32_t *state);
void fw_ctx_count(struct fw *fw, const struct fw_ctx *c, int by);
void fw_ctx_set_waiting(struct fw *fw, struct fw_ctx *c, bool waiting);
void fw_ctx_restart(struct fw *fw, struct fw_ctx *c);
bool fw_ctx_others_first(const struct fw *fw, const struct fw_ctx *c);
void fw_ctx_elder_heard(struct fw *fw, const struct fw_ctx *c);
bool fw_ctx_steps_aside(struct fw *fw, struct fw_ctx *c, bool anew);
bool fw_ctx_answer_lacks_pages(struct fw *fw, const struct fw_ctx *c);

/* ---- fw_notes.c ---- */

/* Handle one event of the engine. False: there was none. */
bool fw_ctx_step(struct fw *fw);

/* ---- fw_timer.c ---- */

void fw_timer_start(struct fw *fw, struct fw_ctx *c, uint64_t after_ns);
void fw_timer_stop(struct fw *fw, struct fw_ctx *c);
/* The receive context collects: give the block up when its sender has. */
void fw_timer_collect(struct fw *fw, uint32_t rxc);
/* There is an elder: fw_ctx_elder_late() when nothing is heard of it. */
void fw_timer_elder(struct fw *fw);
/* A READ job is queued: fw_job_forget() when its peer's patience has ended. */
void fw_timer_job(struct fw *fw, uint32_t n);
/* It is held: fw_rx_put_off() when its sender's patience ends. */
void fw_timer_hold(struct fw *fw, uint32_t rxc);
void fw_timer_collect_stop(struct fw *fw, uint32_t rxc);
static inline bool fw_timer_due(const struct fw *fw, uint64_t now_ns)
{
	return now_ns >= fw->alarm_ns;
}

/* The earliest deadline is then. */
void fw_timer_alarm(struct fw *fw, uint64_t when_ns);

/* ---- fw_expire.c ---- */

/* It is due: handle one deadline that has passed. False: there was none. */
bool fw_timer_step(struct fw *fw);

/* ---- fw_share.c ---- */

/* May this queue pair take another context for a request? */
bool fw_sched_may(const struct fw *fw, const struct fw_qp *q);
/* May it give a context to an answer to a READ? */
bool fw_sched_may_answer(const struct fw *fw, const struct fw_qp *q);
/* A process has fewer contexts than before: its queue pairs may send again. */
void fw_sched_release(struct fw *fw, struct fw_slot *s);
/* May a process take one more, of which it has so many, with so many waiting for a page? */
bool fw_sched_slot_may(const struct fw *fw, uint32_t has, uint32_t waiting);

/* ---- fw_sched.c ---- */

/* There is a free context, and someone who may want it. */
static inline bool fw_sched_due(const struct fw *fw)
{
	return fw->free && !fw->tx_elder &&
	       (fw->send.words | fw->jobs_queued.words);
}
/* It is due: give one block to a context. False: nothing may go now. */
bool fw_sched_step(struct fw *fw);

/* ---- fw_event.c ---- */

/* Note an event for the driver; it is written when there is room. */
void fw_event_raise(struct fw *fw, uint32_t type, uint32_t object);
void fw_event_forget(struct fw *fw, uint32_t type, uint32_t object);
/* It is due: publish one event. */
void fw_event_step(struct fw *fw);
/* All that is pending of a queue pair. */
void fw_event_forget_qp(struct fw *fw, uint32_t n);
int fw_event_start(struct fw *fw, uint32_t size);
int fw_event_consumed(struct fw *fw, uint32_t cons);
uint32_t fw_event_causes(const struct fw *fw);
void fw_event_line(struct fw *fw);
/* There is one, and room for it: a queue that was not started is full. */
static inline bool fw_event_due(const struct fw *fw)
{
	return fw->eq.kinds && fw->eq.prod - fw->eq.cons != fw->eq.size;
}

/* ---- fw_command.c ---- */

void fw_command_step(struct fw *fw);

#endif
