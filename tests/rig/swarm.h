/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * swarm.h - what the two halves of the swarm test share: the swarm, its
 * processes, and its connections.
 *
 * Each side of a connection has one buffer: slots that only its own requests
 * use (mine), and slots that only the other side's requests use (yours). Many
 * requests at a time may use a slot, and what each byte may be the oracle knows
 * (tools/scenario/oracle.h). A connection is made, broken and made again in epochs: whoever wants a
 * new one counts the epoch up; both sides then destroy their queue pairs, wait
 * for each other, look at what the transfers that were cut off have left
 * behind, and connect new ones. From that look on not a byte may change.
 *
 * rig/swarm_model.h: bytes, completions, epochs. rig/swarm_act.h: what a
 * thread does. rig/swarm_work.h: its life. test_swarm.c: the testbeds.
 */
#ifndef FL_RIG_SWARM_H
#define FL_RIG_SWARM_H

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/entries.h"
#include "harness.h"
#include "host/host.h"
#include "sim/rng.h"
#include "sim/sync.h"
#include "tools/scenario/oracle.h"
#include "tools/scenario/testbed.h"

#define BOARDS_MAX	4
#define PROCS_MAX	12
#define CONNS_MAX	16
#define THREADS_MAX	3	/* of one process */
#define SLOTS_MAX	6
#define DEPTH_MAX	16
#define PAGE		HOST_PAGE

/* What a seed may turn off, up, and far up. */
enum chaos {
	C_LOSS, C_DUPLICATE, C_DAMAGE, C_LATE,		/* the wire */
	C_PAGEOUT, C_PROTECT, C_UNMAP, C_TOUCH,		/* memory */
	C_PREFETCH, C_REVOKE, C_RESET, C_BAD, C_KILL,	/* the card */
	C_COUNT
};

/* What a seed draws from; a new way leaves the seeds of the others as they are. */
enum draw {
	DRAW_USUAL,
	DRAW_PLANS,	/* resolve is any of the plans, one of them nonsense */
	DRAW_ABORTS,	/* most processes have the system abort */
	DRAW_PACKETS,	/* npf, odp2, rxe and droprc */
	DRAW_TABLES,	/* of the processes' own, and of their drivers' */
	DRAW_SNOOPS,	/* of part's processes most have the system ioguard */
	DRAW_ROWS,	/* each process any row that the driver takes */
	DRAW_SINKS,	/* the system npr */
};

struct plan {
	uint64_t seed;
	enum sim_mode mode;
	unsigned int chaos[C_COUNT];	/* 0: never, else a weight */
	unsigned int boards, procs, conns, guests, ops;
	unsigned int slots, depth;
	uint32_t slot_bytes, block_bytes, contexts, rx_contexts, tlb_entries;
	uint64_t frames;
	bool stalls;	/* an access that is not held while one is, fails */
	bool silent;	/* a peer that has to fetch pages may say nothing for long */
	bool aborts;	/* a request may end with FAULT_FAST, and be resumed */
	enum draw draw;
};

struct slot {
	uint32_t at, bytes;		/* in the buffer */
};

struct request {
	uint64_t id, model;		/* number; and at the oracle */
	enum fl_opcode opcode;
	bool signaled, odd;		/* odd: may fail, touches no slot */
	bool wrong;			/* must fail */
	struct slot *local, *remote;
	uint32_t local_off, remote_off, bytes, rkey;
};

enum phase { S_NEW, S_DOWN, S_INIT, S_CONNECTED, S_UP, S_CLOSED };

struct conn;
struct side {
	struct conn *conn;
	unsigned int i;
	struct proc *proc;
	unsigned int thread;		/* of proc, that serves it */
	enum phase phase;
	uint32_t epoch;
	uint8_t *mem;
	uint64_t bytes;
	uint32_t area, pair;		/* of the oracle */
	struct fl_mr *mr[2];		/* mine, yours */
	bool pinned;
	struct fl_qp *qp;
	struct slot mine[SLOTS_MAX], theirs[SLOTS_MAX]; /* theirs: of the
							   other side's yours */
	struct request ring[DEPTH_MAX];	/* in flight, oldest first */
	unsigned int first, count;
	bool failed;			/* in this epoch */
	uint64_t posted;
	/* read by the other side */
	atomic_uint up, down, rkey;
	struct fl_address address;	/* good when published == epoch */
	atomic_uint published;
};

struct conn {
	atomic_uint epoch;
	struct side side[2];
};

struct thread {
	struct proc *proc;
	unsigned int i;
	struct rng rng;
	struct fl_cq *cq;
	struct sim_thread *sim;
	unsigned int ops;
	uint64_t since_ns;		/* of the last news */
	atomic_bool ended;
};

struct proc {
	struct swarm *s;
	char name[16];
	struct testbed_board *board;
	struct host_process *host;
	struct host_mm *mm;
	enum fl_system system;
	struct fl_system_row row;	/* counts, with DRAW_ROWS */
	enum fl_resolve resolve;
	uint32_t resolve_number;
	unsigned int threads;
	struct thread thread[THREADS_MAX];
	struct fl_device *dev;
	struct fl_pd *pd;
	uint8_t *scratch;
	struct fl_mr *scratch_mr;
	atomic_uint scratch_key;
	atomic_bool open, dying;
	atomic_uint left;		/* threads that have ended */
	bool guest, started;
};

enum stage { RUN, END };

struct swarm {
	struct plan p;
	struct testbed *w;
	struct rng rng;
	struct testbed_board *board[BOARDS_MAX];
	struct proc proc[PROCS_MAX];
	struct conn conn[CONNS_MAX];
	unsigned int procs, conns;
	atomic_uint started, busy;		/* threads */
	unsigned int crew;			/* all but guests' */
	atomic_uint kills;
	atomic_int stage;
	atomic_bool bad;
	struct oracle *oracle;
	struct sim_spin model;		/* of the oracle */
	struct sim_spin lock;
	char problem[400];
	/* what happened, so that a test can tell that it tested something */
	atomic_ulong ok, failed, resumed, resets, revokes, verified;
};

/* The first problem is the one that matters; everything then comes to an end. */
__attribute__((format(printf, 2, 3))) void swarm_problem(struct swarm *s,
	      const char *fmt, ...);

#endif
