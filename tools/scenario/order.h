/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.h - what the director has a process of a scenario do: one order, of plain
 * numbers, and its answer. The same code carries it out everywhere: in an
 * application thread of this program, or in a process of its own (order_line.c),
 * to which the order went over a socket, be it in a guest (64 bits and little-endian,
 * as this machine).
 *
 * All it uses of Faultline is faultline.h, and it knows nothing of the world: what
 * it made is named by numbers that the director chose.
 */
#ifndef FL_ORDER_H
#define FL_ORDER_H

#include "faultline.h"

#define ORDER_REGIONS	512u
#define ORDER_PAIRS	1024u	/* queue pairs */
#define ORDER_DOMAINS	4u	/* protection domains; 0 is the usual one */

enum order_kind {
	ORDER_OPEN = 1,		/* text: device; what: enum fl_fault_policy; resolve */
	ORDER_CLOSE,		/* the last one */
	ORDER_ALLOC,		/* bytes; answer: addr, bytes */
	ORDER_MAP_FILE,		/* text: path; answer: addr, bytes */
	ORDER_FILL,		/* addr, bytes, what: enum world_fill, seed */
	ORDER_TOUCH,		/* addr, bytes, what: 1 to write */
	ORDER_READ,		/* addr, bytes; the bytes go to the sink */
	ORDER_ADVISE,		/* addr, bytes, what: enum fl_advice */
	ORDER_PROTECT,		/* addr, bytes, what: FL_PROT_* */
	ORDER_UNMAP,		/* addr, bytes */
	ORDER_REGISTER,		/* id, domain, addr, bytes, access; answer: key */
	ORDER_DEREGISTER,	/* id */
	ORDER_PREFETCH,		/* id, addr, bytes, what: 1 as a destination */
	ORDER_PAIR,		/* id, domain, depth, what: 1 relaxed; answer: address */
	ORDER_CONNECT,		/* id, address */
	ORDER_POST,		/* id, work; answer: now_ns, just before */
	/* work.wr_id, end_ns, what: enum world_wait; completions to the sink */
	ORDER_WAIT,
	ORDER_COUNTERS,		/* answer: counters */
	ORDER_CLOCK,		/* answer: now_ns, of a process that is not open */
	/*
	 * addr, bytes, what: rights, PROT_*; a process elsewhere alone. -EFAULT:
	 * they do not all have them; answer: addr, the first
	 */
	ORDER_RIGHTS,
	ORDER_PRESENT,		/* addr, bytes; answer: bytes, how many pages are */
	ORDER_KINDS
};

struct order {
	uint32_t kind;
	uint32_t id;		/* of a region or a queue pair */
	uint32_t what, resolve, access, domain, depth;
	uint64_t addr, bytes, seed, end_ns;
	/* What the process's clock says more than the director's. */
	uint64_t epoch_ns;
	struct fl_address address;
	struct fl_work work;
	const char *text;	/* or NULL */
};

struct order_answer {
	int error;		/* 0 or negative errno */
	uint32_t key;
	uint64_t addr, bytes, now_ns;
	struct fl_address address;
	struct fl_fault_counters counters;
};

/* Where what is more than an answer goes, in order, while the order is done. */
struct order_sink {
	/* May fail; then the order fails with that. */
	int (*bytes)(void *arg, const void *from, uint64_t n);
	void (*completion)(void *arg, const struct fl_completion *c,
			   uint64_t now_ns);
	void *arg;
};

/* What a process has; all 0 at its start. */
struct order_app {
	uint64_t (*now_ns)(void *arg);	/* the director's clock */
	void *now_arg;
	struct fl_device *dev;
	struct fl_pd *pd[ORDER_DOMAINS];
	struct fl_cq *cq;
	struct fl_mr *mr[ORDER_REGIONS];
	struct fl_qp *qp[ORDER_PAIRS];
};

/* In the process: do it. sink's calls may be NULL where the kind has none. */
void order_do(struct order_app *a, const struct order *o,
	      struct order_answer *r, const struct order_sink *sink);

/* ---- orders over a socket (order_line.c) ---- */

/*
 * The director's side: send the order, wait for the answer. 0: there is one (its
 * error may be anything); -ETIMEDOUT: there was none in time; -EPROTO: what came
 * makes no sense; -ESRCH: the line has ended, and with it the process; -ECHILD: the
 * process has ended, its line says (order_line_end) how: the answer's error.
 */
int order_line_ask(int line, const struct order *o, struct order_answer *r,
		   const struct order_sink *sink);
/* The process's side: until ORDER_CLOSE is done, or the director is gone. */
void order_line_serve(int line);

/*
 * Who passes a line on to another machine says there that the process has ended,
 * with its exit status, or -signal: these bytes, as they stand.
 */
struct order_line_end {
	uint32_t kind, bytes;
	int32_t status;
};
void order_line_end_make(struct order_line_end *e, int status);
/* The director's side, after its last order. Errors as of order_line_ask. */
int order_line_end_wait(int line, int *status);

#endif
