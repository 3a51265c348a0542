/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw_tables.h - the firmware's tables.
 *
 * An object is an index into a table of fixed size. What has to be looked at
 * next is kept in bit sets, so that a step never searches a table: `send` holds
 * the queue pairs that may give a block to a context, `attention` those with a
 * request to copy or a completion to write, `active` those with anything
 * unfinished.
 */
#ifndef FL_FW_TABLES_H
#define FL_FW_TABLES_H

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
	uint8_t abort;		/* FL_ABORT_* */
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
	uint64_t solicited;	/* prod behind the last that was, or had an error */
	uint64_t cause;		/* trace: the last completion */
	uint32_t users;		/* queue pairs */
	uint8_t size_log2;
	uint8_t slot;
	bool used;
	bool armed;
	bool armed_solicited;	/* for such a one alone */
	bool broken;		/* overflowed, or its memory failed */
};

/* A receive queue in memory. */
struct fw_rq {
	uint64_t pa;
	uint16_t tail;		/* what the doorbell said */
	uint16_t head;		/* entries ever taken */
	uint8_t size_log2;	/* 0: there is none */
};

/* A receive queue that queue pairs share. */
struct fw_srq {
	struct fw_rq rq;
	uint64_t cause;		/* trace: what took the last entry */
	uint32_t users;		/* queue pairs */
	uint16_t pd;
	uint16_t limit;		/* 0: off */
	uint8_t slot;
	bool used;
};

/* An event counter; number n is counter[n - 1]. */
struct fw_counter {
	uint64_t pa;
	uint64_t cause;		/* trace: what let it rise last */
	uint32_t count;
	uint8_t slot;
	bool used, armed;
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
	uint16_t index;		/* place in the send queue; of the last entry */
	uint16_t mr;		/* local region, FW_NONE: none was found */
	uint8_t opcode;
	uint8_t flags;
	uint8_t status;		/* FL_ST_OK as long as nothing went wrong */
	bool tried;		/* its next block, in the resident step: a page is missing */
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
	bool cut;		/* it has halted: what lies before `floor` is over */
	uint32_t floor;		/* also where no order is kept */
};

enum fw_qp_state { FW_QP_FREE, FW_QP_INIT, FW_QP_CONNECTED, FW_QP_ERROR,
		   FW_QP_DYING, FW_QP_HALTED /* may be resumed */,
		   /* Where a packet unit carries the requests, in place of CONNECTED: */
		   FW_QP_RESET, FW_QP_RTR, FW_QP_RTS, FW_QP_SQD };

/* Has the peer said that nothing of the requests before a halt lands any more? */
enum fw_past { FW_PAST_KNOWN, FW_PAST_DUE /* to be asked */, FW_PAST_ASKED };

struct fw_qp {
	uint64_t sq_pa;
	uint64_t cause;		/* trace: what put it into ERROR, or was the last event */
	uint32_t peer_qp;
	uint8_t state;		/* enum fw_qp_state */
	uint8_t slot;
	uint8_t peer_node;
	uint8_t size_log2;
	uint16_t pd, cq;
	uint16_t tail;		/* what the doorbell said */
	uint16_t head;		/* entries ever copied */
	uint8_t error_status;
	bool untold;		/* in ERROR: no request of its own failed */
	uint8_t past;		/* enum fw_past */
	uint32_t halt_wr;	/* HALTED: the request that failed */
	bool flushing;		/* a completion with an error was written */
	bool relaxed;		/* its requests keep no order */
	bool datagrams;		/* FL_QP_UD */
	uint16_t uses;		/* of its place before this one */
	uint16_t reads;		/* READs that were sent whole and have not ended */
	struct fw_order order;	/* of what the peer asks for */
	uint16_t inflight;	/* contexts of its requests */
	uint16_t waiting;	/* of these, waiting for a page */
	uint16_t job_inflight;	/* contexts of its READ jobs */
	uint16_t job_waiting;
	/* The packet unit that carries its requests; NULL: the engine does. */
	const struct fw_transport *unit;
	bool nv;		/* NetVM's: WRITE alone, and it may name a counter */
	struct fw_pair pair;
	bool open;		/* the unit knows it */
	bool drained;		/* in SQD, and the driver knows that nothing is under way */
	bool stuck;		/* a bad request waits until those before it have ended */
	bool doomed;		/* a completion queue of it broke: it ends in its next step */
	struct fw_rq rq;
	uint16_t recv_cq;	/* FW_NONE: it has none */
	uint16_t srq;		/* FW_NO_SRQ: none */
	/* A receive that a message has taken and not ended. */
	struct fw_recv taken;
	bool has_taken;
	uint8_t taken_wrong;	/* FL_ST_OK, or what is wrong with the entry */
	/*
	 * Requests in posting order, in wr[n % FW_QP_WRS]: wr_head is the
	 * oldest that has not completed, wr_issue the first with bytes to send,
	 * wr_tail the next to be copied.
	 */
	uint32_t wr_head, wr_issue, wr_tail;
	struct fw_wr *wr;	/* its part of fw.wr */
};

enum fw_owner { FW_CTX_FREE, FW_CTX_REQUEST, FW_CTX_JOB,
		FW_CTX_PAST /* asks the peer, for its queue pair (fw_halt.c) */,
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
	/* The READ stays in CHECK until it is known that no page is missing. */
	bool held;
	uint8_t rxc, serial;	/* valid when held: where */
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

#define FW_EVENT_KINDS	8	/* entries.def, FL_EV_*: 1 to 8 */

struct fw_eq {
	uint64_t base;		/* EQ_BASE, for the next start */
	uint64_t pa;
	uint32_t size;		/* 0: not started */
	uint32_t prod, cons;
	uint32_t wraps;
	bool line;
	bool faults;		/* the ring of fault records is not empty */
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
	bool untold;		/* fw_env.resident_tell is due */
	uint64_t now_ns;	/* of this step */
	uint32_t *costs;	/* of this step, or else: */
	uint32_t late[FW_COSTS];	/* what the next step pays for packet units */
	uint32_t contexts;	/* what the engine has */
	uint32_t block_bytes;	/* 1 << block_log2 */
	uint8_t block_log2;
	/* scheduling */
	struct fw_bits send, attention, active;
	uint32_t active_count, slots_open, srqs;
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
	uint32_t jobs_held;
	struct fw_eq eq;
	struct fw_mailbox cmd;
	/* Numbers that were given out last: they go round. */
	uint16_t cq_last, qp_last, pd_last, srq_last, counter_last;
	struct fw_ctx ctx[FW_CTXS];
	struct fw_ctx_regs regs[FW_CTXS];
	struct fw_slot slot[FW_SLOTS];
	struct fw_pd pd[FW_PDS];
	struct fw_job job[FW_READ_JOBS];
	struct fw_peer peer[FW_NODES][FW_CTXS];
	struct fw_mr mr[FW_MRS];
	struct fw_cq cq[FW_CQS];
	struct fw_srq srq[FW_SRQS];
	struct fw_counter counter[FW_COUNTERS];
	struct fw_qp qp[FW_QPS];
	/* The last: not cleared, so that what is not used is not touched. */
	struct fw_wr wr[FW_QPS][FW_QP_WRS];
};

#endif
