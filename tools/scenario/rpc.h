/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc.h - what the scenario thread has a process of a scenario do: one command, of plain
 * numbers, and its answer. The same code carries it out everywhere: in an
 * application thread of this program, or in a process of its own (rpc.c),
 * to which the command went over a socket, be it in a guest (64 bits and little-endian,
 * as this machine).
 *
 * All it uses of Faultline is faultline.h, and it knows nothing of the testbed: what
 * it made is named by numbers that the scenario thread chose.
 */
#ifndef FL_RPC_H
#define FL_RPC_H

#include "faultline.h"
#include "tools/scenario/rpc_cache.h"

#define RPC_REGIONS	1024u
#define RPC_PAIRS	1024u	/* queue pairs */
#define RPC_EVENT_COUNTERS 64u	/* event counters */
#define RPC_DOMAINS	4u	/* protection domains; 0 is the usual one */

enum rpc_kind {
	RPC_OPEN = 1,		/* text: device; what: enum fl_system; resolve, cache */
	RPC_RESOLVE,		/* resolve, what: its number */
	RPC_CLOSE,		/* the last one */
	RPC_ALLOC,		/* bytes; answer: addr, bytes */
	RPC_MAP_FILE,		/* text: path; answer: addr, bytes */
	RPC_FILL,		/* addr, bytes, what: enum testbed_fill, seed */
	RPC_TOUCH,		/* addr, bytes, what: 1 to write */
	RPC_READ,		/* addr, bytes; the bytes go to the sink */
	RPC_ADVISE,		/* addr, bytes, what: enum fl_advice */
	RPC_PROTECT,		/* addr, bytes, what: FL_PROT_* */
	RPC_UNMAP,		/* addr, bytes */
	RPC_REMAP,		/* addr, bytes */
	RPC_REGISTER,		/* id, domain, addr, bytes, access; answer: key */
	RPC_DEREGISTER,	/* id */
	RPC_PREFETCH,		/* id, addr, bytes, what: 1 as a destination */
	RPC_DMA,		/* from, addr, bytes: to addr; answer: bytes */
	/*
	 * id, domain, depth, what: 1 relaxed, receives and inline_bytes: of packets; answer:
	 * address
	 */
	RPC_PAIR,
	RPC_UNPAIR,		/* id: a queue pair that there is, or is not */
	RPC_CONNECT,		/* id, address, mask: of attr, which then is complete */
	RPC_RESUME,		/* id */
	RPC_COUNTER,		/* id; answer: key, its number */
	/* id, depth: so far, what: enum rpc_await, end_ns; answer: now_ns */
	RPC_AWAIT,
	RPC_POST,		/* id, work; answer: now_ns, just before */
	RPC_RECEIVE,		/* id, work: wr_id, local, lkey, bytes; answer: now_ns */
	/* work.wr_id, end_ns, what: enum testbed_wait; completions to the sink */
	RPC_WAIT,
	RPC_COUNTERS,		/* answer: counters, cache */
	RPC_CLOCK,		/* answer: now_ns, of a process that is not open */
	/*
	 * addr, bytes, what: rights, PROT_*; a process elsewhere alone. -EFAULT:
	 * they do not all have them; answer: addr, the first
	 */
	RPC_RIGHTS,
	RPC_PRESENT,		/* addr, bytes; answer: bytes, how many pages are */
	RPC_RUN,		/* addr: an rpc_run of this program, from: its arg */
	RPC_KINDS
};

/* In the order of the grammar. */
enum rpc_await {
	RPC_AWAIT_BUSY, RPC_AWAIT_SLEEP, RPC_AWAIT_HANDLER,
	RPC_AWAIT_QUEUE, RPC_AWAIT_SEMAPHORE,	/* asleep, through sync_ops.c */
	RPC_AWAIT_QUEUE_BUSY, RPC_AWAIT_SEMAPHORE_BUSY,
};

struct rpc_command {
	uint32_t kind;
	uint32_t id;		/* of a region or a queue pair */
	uint32_t what, resolve, access, domain, depth, receives, inline_bytes, mask;
	uint32_t derived;	/* of OPEN: row counts, and what says what it is like */
	uint32_t unverified;	/* of OPEN: fl_set_verify() */
	uint32_t quirks;	/* of OPEN: fl_set_quirks() */
	uint32_t ring_slots, ring_bits;	/* of OPEN: fl_set_backup() */
	uint32_t datagrams;	/* of PAIR, CONNECT: it is of FL_QPT_UD */
	struct fl_system_row row;
	uint64_t addr, bytes, from, seed, end_ns;
	/* What the process's clock says more than the scenario thread's. */
	uint64_t epoch_ns;
	struct fl_address address;
	struct fl_qp_attr attr;
	struct fl_work work;
	struct rpc_cache cache;
	const char *text;	/* or NULL */
};

struct rpc_answer {
	int error;		/* 0 or negative errno */
	uint32_t key;
	uint64_t addr, bytes, now_ns;
	struct fl_address address;
	struct fl_fault_counters counters;
	struct fl_cache_counters cache;
};

/* Where what is more than an answer goes, in order, while the command is done. */
struct rpc_sink {
	/* May fail; then the command fails with that. */
	int (*bytes)(void *arg, const void *from, uint64_t n);
	void (*completion)(void *arg, const struct fl_completion *c,
			   uint64_t now_ns);
	void *arg;
};

/* What a process has; all 0 at its start. */
struct rpc_app {
	uint64_t (*now_ns)(void *arg);	/* the scenario thread's clock */
	void *now_arg;
	struct fl_device *dev;
	struct fl_pd *pd[RPC_DOMAINS];
	struct fl_cq *cq;
	struct fl_mr *mr[RPC_REGIONS];
	struct fl_qp *qp[RPC_PAIRS];
	struct fl_counter *counter[RPC_EVENT_COUNTERS];
	struct fl_wait_queue queue[RPC_EVENT_COUNTERS];
	struct fl_semaphore semaphore[RPC_EVENT_COUNTERS];
	/* What the handler was called with last, and when; count 0: it has none yet. */
	struct rpc_handled {
		struct rpc_app *app;
		_Atomic uint32_t count;
		_Atomic uint64_t now_ns;
	} handled[RPC_EVENT_COUNTERS];
};

/* 0 or negative errno. */
typedef int (*rpc_run)(struct rpc_app *a, void *arg);

/* In the process: do it. sink's calls may be NULL where the kind has none. */
void rpc_do(struct rpc_app *a, const struct rpc_command *o,
	      struct rpc_answer *r, const struct rpc_sink *sink);

/*
 * As memcpy(), from memory of the process: page after page. Where memcpy() begins depends on both
 * addresses, and pages that are not there would come in another order.
 */
void rpc_copy(void *to, const void *from, uint64_t n);

/* ---- commands over a socket (rpc.c) ---- */

/*
 * The scenario thread's side: send the command, wait for the answer. 0: there is one (its
 * error may be anything); -ETIMEDOUT: there was none in time; -EPROTO: what came
 * makes no sense; -ESRCH: the line has ended, and with it the process; -ECHILD: the
 * process has ended, its line says (rpc_end) how: the answer's error.
 */
int rpc_call(int line, const struct rpc_command *o, struct rpc_answer *r,
		   const struct rpc_sink *sink);
/* The process's side: until RPC_CLOSE is done, or the scenario thread is gone. */
void rpc_serve(int line);

/*
 * Whatever passes a line on to another machine says there that the process has ended,
 * with its exit status, or -signal: these bytes, as they stand.
 */
struct rpc_end {
	uint32_t kind, bytes;
	int32_t status;
};
void rpc_end_make(struct rpc_end *e, int status);
/* The scenario thread's side, after its last command. Errors as of rpc_call. */
int rpc_end_wait(int line, int *status);

#endif
