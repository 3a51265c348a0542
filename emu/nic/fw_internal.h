/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw_internal.h - what the firmware's files share: its tables, and who calls
 * whom.
 *
 * An object is an index into a table of fixed size. What has to be looked at
 * next is kept in bit sets, so that a step never searches a table: `send` holds
 * the queue pairs that may give a block to a context, `attention` those with a
 * request to copy or a completion to write, `active` those with anything
 * unfinished.
 */
#ifndef FL_FW_INTERNAL_H
#define FL_FW_INTERNAL_H

#include <stddef.h>

#include "faultline/entries.h"
#include "faultline/fsm.h"
#include "faultline/regs.h"
#include "faultline/wire.h"
#include "nic/fw.h"
#include "nic/fw_bits.h"
#include "nic/fw_trace.h"

#define FW_NONE		0xFFFFu
#define FW_EINVAL	22	/* a freestanding C has no errno.h */
#define FW_RESERVE	2	/* contexts that requests leave to READ answers,
				 * and READ answers to requests */

static inline void fw_assert(bool holds)
{
	if (!holds)
		__builtin_trap();
}

/* ---- objects ---- */

struct fw_slot {
	bool open;
	uint16_t stream;
	uint8_t silent;		/* FL_SILENT_* */
	/* Contexts of all its queue pairs, and those that wait for a page. */
	uint16_t requests, requests_waiting, jobs, jobs_waiting;
	struct fw_bits held;	/* queue pairs that would send, had it fewer */
};

struct fw_pd {
	bool used;
	uint8_t slot;
	uint32_t users;		/* regions and queue pairs */
};

struct fw_mr {
	uint64_t va, bytes;
	uint32_t active;	/* local work requests that use it */
	uint16_t pd;
	uint8_t slot;
	uint8_t rights;		/* FL_ACC_* */
	uint32_t tag;		/* of the key; never 0 once used */
	bool used;
};

struct fw_cq {
	uint64_t pa;
	uint64_t prod, cons;	/* entries ever written, ever taken */
	uint64_t cause;		/* trace: the last completion */
	uint32_t users;		/* queue pairs */
	uint8_t size_log2;
	uint8_t slot;
	bool used;
	bool armed;
	bool broken;		/* overflowed, or its memory failed */
};

/* A work request that the firmware has copied. */
struct fw_wr {
	uint64_t wr_id;
	uint64_t lva, rva;	/* of the whole request */
	uint64_t cause;		/* trace: the last event of the request */
	uint32_t length;
	uint32_t issued;	/* bytes given to contexts so far */
	uint32_t blocks;	/* blocks given to contexts so far */
	uint32_t rkey;
	uint32_t xfer;
	uint32_t resends;
	uint16_t inflight;	/* contexts that work for it */
	uint16_t index;		/* place in the send queue */
	uint16_t mr;		/* local region, FW_NONE: none was found */
	uint8_t opcode;
	uint8_t flags;
	uint8_t status;		/* FL_ST_OK as long as nothing went wrong */
};

/* What a block says of its place in the order; see fw_order.c. */
struct fw_turn {
	uint32_t number;	/* of its request, modulo 2^24 */
	uint32_t block;		/* of the request, from 1 */
	uint8_t behind;		/* earlier requests that had not ended */
	bool last;		/* of the request's blocks */
	bool relaxed;		/* no order */
};

/* The responder's side of a queue pair: what the peer's requests have done. */
struct fw_order {
	uint32_t next;		/* number of the request whose turn it is */
	uint32_t landed;	/* blocks of it that have landed */
	uint32_t blocks;	/* that it has; 0: not known yet */
	bool known;		/* the sender's queue pair has been heard of */
};

enum fw_qp_state { FW_QP_FREE, FW_QP_INIT, FW_QP_CONNECTED, FW_QP_ERROR,
		   FW_QP_DYING };

struct fw_qp {
	uint64_t sq_pa;
	uint64_t cause;		/* trace: what put it into ERROR */
	uint32_t peer_qp;
	uint8_t state;		/* enum fw_qp_state */
	uint8_t slot;
	uint8_t peer_node;
	uint8_t size_log2;
	uint16_t pd, cq;
	uint16_t tail;		/* what the doorbell said */
	uint16_t head;		/* entries ever copied */
	uint8_t error_status;
	bool flushing;		/* a completion with an error was written */
	bool relaxed;		/* its requests keep no order */
	uint16_t uses;		/* of its place before this one */
	uint16_t reads;		/* READs that were sent whole and have not ended */
	struct fw_order order;	/* of what the peer asks for */
	uint16_t inflight;	/* contexts of its requests */
	uint16_t waiting;	/* of these, waiting for a page */
	uint16_t job_inflight;	/* contexts of its READ jobs */
	uint16_t job_waiting;
	/*
	 * Requests in posting order, in wr[n % FW_QP_WRS]: wr_head is the
	 * oldest that has not completed, wr_issue the first with bytes to send,
	 * wr_tail the next to be copied.
	 */
	uint32_t wr_head, wr_issue, wr_tail;
	struct fw_wr wr[FW_QP_WRS];
};

enum fw_owner { FW_CTX_FREE, FW_CTX_REQUEST, FW_CTX_JOB,
		FW_CTX_GONE /* killed; the owner did not wait */ };

/* A transmit context as the firmware sees it. */
struct fw_ctx {
	uint64_t deadline_ns;	/* valid in fw.timed */
	uint64_t cause;		/* trace: the last event of the block */
	uint32_t wr;		/* REQUEST: number of the request in its pair */
	uint32_t xfer, block;
	uint32_t tries;		/* silent time-outs in a row */
	uint32_t refusals;
	uint16_t qp;
	uint8_t job;
	uint8_t owner;		/* enum fw_owner */
	uint8_t op;		/* FL_OP_* */
	uint8_t serial;		/* low bits of the engine's generation */
	bool sent;		/* it was FLYING */
	bool resent;		/* it was FLYING more than once */
	bool unsure;		/* it may have landed, and nobody has said so */
	bool waiting;		/* for a page, here or there */
	bool killed;		/* only TX_DONE is of interest */
	bool put_off;		/* the peer wants it later: the timer is no try */
	bool parked;		/* until its request is the oldest */
	bool again;		/* killed to be started anew */
	bool aside;		/* not started anew before the elder is over */
	uint8_t behind;		/* what CTX.REF says */
	uint8_t asked;		/* attempt that the last silent time-out began */
	uint8_t busy;		/* times in a row that the peer had no room */
	uint8_t waits;		/* for pages of this board */
};

/* What the context's registers hold: a value that stays is not written again. */
struct fw_ctx_regs {
	uint64_t left;
	uint32_t dst, len, rkey, xfer, src;
	uint16_t stream;
	bool known;		/* not before they were written once */
};

/*
 * Progress where memory is short: a block whose pages left again so often, each
 * time before it was through, that others wait until it is. Whether they are
 * needed to bring it in or to send it out, there are two.
 */
#define FW_ELDER_TIMES	24	/* 17 pages of the largest block, one at a time */
/* Alone it does not get through either, so it is not for the others. */
#define FW_ELDER_IN_VAIN 64
/* Time-outs: at the first one its peer is asked, and has the second to answer. */
#define FW_ELDER_SILENT	2

/* Of those that come in: others are turned away (fw_responder.c). */
struct fw_elder {
	uint64_t until_ns;	/* its sender must be heard of before */
	uint32_t word;		/* of the block, without the attempt */
	uint8_t node;
	bool there;
};

enum fw_job_state { FW_JOB_FREE, FW_JOB_QUEUED, FW_JOB_ACTIVE };

/* A block that a peer asked to READ. */
struct fw_job {
	uint64_t va, left, cause;
	uint64_t deadline_ns;	/* QUEUED: nobody asks for it any more */
	uint32_t len, key, word, xfer;
	struct fw_turn turn;
	uint16_t qp;
	uint8_t node, peer_ctx;
	uint8_t state;		/* enum fw_job_state */
	uint8_t ctx;
};

/*
 * What the firmware knows of one context of one peer. A peer's context carries
 * one block at a time, so there is at most one job for it. When a job has
 * failed the status is kept: nothing can be sent for a READ that was taken
 * over, but the peer's timer makes it ask again, and the verdict then says it.
 */
struct fw_peer {
	uint64_t until_ns;	/* the status is too old after this */
	uint16_t gen;		/* of its READ */
	uint16_t write_gen;	/* of its WRITE that was accepted last */
	uint16_t accepted;	/* how often it was: its pages left in between */
	uint8_t job;		/* 1 + number; 0: none */
	uint8_t status;		/* for a READ of this generation; 0: none */
	bool silent;		/* it hears nothing of missing pages */
};

#define FW_EVENT_KINDS	3	/* entries.def, FL_EV_*: 1 to 3 */

struct fw_eq {
	uint64_t base;		/* EQ_BASE, for the next start */
	uint64_t pa;
	uint32_t size;		/* 0: not started */
	uint32_t prod, cons;
	uint32_t wraps;
	bool line;
	uint32_t irq_enable;
	uint32_t kinds;		/* bit i: pending[i] is not empty */
	struct fw_bits pending[FW_EVENT_KINDS];	/* by type - 1 */
};

struct fw_mailbox {
	uint32_t word[NIC_FW_CMD_COUNT];
	uint64_t result;
	uint8_t code;
	bool busy;
	bool turn;		/* a long command: others go in between */
	uint16_t dying;		/* QP_DESTROY under way: which; FW_NONE */
};

/*
 * What was accepted last in a receive context. It may lack cells, and its
 * sender may have given it up.
 */
struct fw_rx {
	uint64_t deadline_ns;	/* valid in fw.rx_timed */
	uint32_t word;		/* of the block */
	uint32_t key;		/* of the region */
	struct fw_turn turn;
	uint16_t qp;		/* that it is for */
	uint8_t serial;
	uint8_t node;
};

struct fw {
	struct fw_config cfg;
	struct fw_env env;
	struct fw_stats stats;
	bool event_line;	/* the engine has notes */
	uint64_t now_ns;	/* of this step */
	uint32_t *costs;	/* of this step */
	uint32_t contexts;	/* what the engine has */
	uint32_t block_bytes;
	/* scheduling */
	struct fw_bits send, attention, active;
	uint32_t active_count, slots_open;
	uint16_t send_last, attention_last, job_last;
	bool job_turn;
	/* contexts, by mask */
	uint32_t free, timed;
	uint32_t request_ctxs, job_ctxs;
	/* Receive contexts, by mask; held: in CHECK until their turn comes. */
	uint32_t rx_timed, rx_accepted, rx_held;
	uint32_t rx_contexts;		/* half of them may be held */
	struct fw_elder rx_elder;
	/* Of those that go out, 1 + number, 0: none (fw_context.c). */
	uint32_t tx_elder;
	uint64_t tx_elder_until_ns;
	struct fw_rx rx[NIC_RXC_COUNT];
	uint64_t alarm_ns;	/* no deadline is earlier; FW_NEVER: none */
	struct fw_bits jobs_queued, jobs_used;
	struct fw_eq eq;
	struct fw_mailbox cmd;
	/* Numbers that were given out last: they go round. */
	uint16_t cq_last, qp_last, pd_last;
	struct fw_ctx ctx[FW_CTXS];
	struct fw_ctx_regs regs[FW_CTXS];
	struct fw_slot slot[FW_SLOTS];
	struct fw_pd pd[FW_PDS];
	struct fw_job job[FW_READ_JOBS];
	struct fw_peer peer[FW_NODES][FW_CTXS];
	struct fw_mr mr[FW_MRS];
	struct fw_cq cq[FW_CQS];
	struct fw_qp qp[FW_QPS];
};

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

enum fw_mr_answer { FW_MR_OK, FW_MR_KEY, FW_MR_RANGE, FW_MR_RIGHTS };

/* May this range be used so? The region's number goes to *mr (may be NULL). */
enum fw_mr_answer fw_mr_check(const struct fw *fw, const struct fw_range *r,
			      uint16_t *mr);
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
/* Write a completion; a full queue, or memory that fails, breaks the queue. */
void fw_cq_push(struct fw *fw, uint16_t n, struct fl_cqe *e, uint64_t cause);
/* Doorbells; cons modulo 65536. 0 or -FW_EINVAL. */
int fw_cq_consumed(struct fw *fw, uint32_t slot, uint32_t n, uint16_t cons);
int fw_cq_arm(struct fw *fw, uint32_t slot, uint32_t n, uint16_t cons);
void fw_cq_close_slot(struct fw *fw, uint32_t slot);

/* ---- fw_qp.c ---- */

/*
 * A queue pair's number: its place in the table, and above that how often the place
 * was used before. So a peer never takes a new queue pair for one that is gone. */
#define FW_QP_PLACE_BITS	8
#define FW_QP_PLACE(number)	((number) & ((1u << FW_QP_PLACE_BITS) - 1))
uint32_t fw_qp_number(const struct fw_qp *q, uint32_t place);

uint8_t fw_qp_create(struct fw *fw, const struct fl_fw_cmd *c, uint64_t *n);
uint8_t fw_qp_connect(struct fw *fw, const struct fl_fw_cmd *c);
/* Begin to destroy; fw_qp_destroy_step() goes on until it returns true. */
uint8_t fw_qp_destroy(struct fw *fw, const struct fl_fw_cmd *c);
bool fw_qp_destroy_step(struct fw *fw, uint16_t n);
int fw_qp_doorbell(struct fw *fw, uint32_t slot, uint32_t n, uint16_t tail);
static inline bool fw_qp_due(const struct fw *fw)
{
	return fw->attention.words;
}
/* It is due: copy one request or write completions, of one queue pair. */
void fw_qp_step(struct fw *fw);
/* Put a queue pair where it belongs in the sets. After every change. */
void fw_qp_update(struct fw *fw, uint16_t n);
/* Into ERROR, with an event for the driver; only the first time. */
void fw_qp_error(struct fw *fw, uint16_t n, uint8_t status, uint64_t cause);
/* Everything that is unfinished is flushed; the queue pair goes into ERROR. */
void fw_qp_break(struct fw *fw, uint16_t n, uint8_t status, uint64_t cause);
void fw_qp_close_slot(struct fw *fw, uint32_t slot);

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
/* Write the completions that are due, in order. */
void fw_request_complete(struct fw *fw, uint16_t n);
/* Must the next request wait for earlier ones? */
bool fw_request_fenced(const struct fw_qp *q);
/* CTX.REF of request `wr`, as it is now. */
uint32_t fw_request_ref(const struct fw_qp *q, uint32_t wr);
/* CTX.SRC of a queue pair's blocks. */
uint32_t fw_request_src(const struct fw_qp *q, uint16_t n);

/* ---- fw_order.c ---- */

enum fw_turn_is { FW_TURN_NOW, FW_TURN_LATER, FW_TURN_OVER };

/* Something came from the peer's queue pair: is it its turn? */
enum fw_turn_is fw_order_judge(struct fw *fw, uint16_t qp,
			       const struct fw_turn *t);
/* The same, where the peer's word has been heard. */
enum fw_turn_is fw_order_now(const struct fw *fw, uint16_t qp,
			     const struct fw_turn *t);
/* A block has landed. True: its request is over, the next one's turn has come. */
bool fw_order_landed(struct fw *fw, uint16_t qp, const struct fw_turn *t);

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
/* Its context waits for a page. True: it is over, and its peer hears nothing. */
bool fw_job_drops(struct fw *fw, uint32_t n);
/*
 * Stop all that peers do through a queue pair, or with a region: blocks that
 * were accepted, and READ jobs. Not a byte is moved after the return.
 */
void fw_rx_stop_qp(struct fw *fw, uint16_t n);
void fw_rx_stop_key(struct fw *fw, uint32_t key);

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
/* It is due: handle one deadline that has passed. False: there was none. */
bool fw_timer_step(struct fw *fw);

/* ---- fw_sched.c ---- */

/* May this queue pair take another context for a request? */
bool fw_sched_may(const struct fw *fw, const struct fw_qp *q);
/* May it give a context to an answer to a READ? */
bool fw_sched_may_answer(const struct fw *fw, const struct fw_qp *q);
/* A process has fewer contexts than before: its queue pairs may send again. */
void fw_sched_release(struct fw *fw, struct fw_slot *s);
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
int fw_event_start(struct fw *fw, uint32_t size);
int fw_event_consumed(struct fw *fw, uint32_t cons);
void fw_event_line(struct fw *fw);
/* There is one, and room for it: a queue that was not started is full. */
static inline bool fw_event_due(const struct fw *fw)
{
	return fw->eq.kinds && fw->eq.prod - fw->eq.cons != fw->eq.size;
}

/* ---- fw_command.c ---- */

void fw_command_step(struct fw *fw);

#endif
