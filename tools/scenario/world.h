/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world.h - a whole set-up in one object: scheduler, profile, trace, fabric, boards with
 * kernel and driver, processes, buffers, connections, work requests. Scenarios and the
 * command's own jobs are written against it.
 *
 * world_run() starts one thread, the director, which runs the caller's script. What happens
 * in a process (touching memory, posting, polling) is an order (order.h) that goes to
 * the process, and the director waits. A process is an application thread of this
 * program; or, in processes mode, a forked process (nursery.h) that attaches to its
 * board through the board's socket, as any other program does; or, in mode vm, one
 * of a Linux in QEMU that has the board. At the end the world drains, checks the
 * invariants of DESIGN 9 and takes everything down. In lockstep the invariants are
 * checked after every event as well.
 *
 * Files: world.c (life), world_door.c (boards' doors, processes mode), world_guest.c
 * (guests, mode vm), folder.c (the folder of these), world_process.c
 * (processes), world_buffer.c (buffers and regions), fill.c (their contents),
 * world_work.c (connections and work requests), world_model.c (what all bytes may be),
 * world_check.c (invariants, counting events).
 */
#ifndef FL_WORLD_H
#define FL_WORLD_H

#include <sys/types.h>

#include "board/board.h"
#include "fabric/fabric.h"
#include "faultline.h"
#include "host/host.h"
#include "rtl/cosim/engine_plugin.h"
#include "sim/sim.h"
#include "tools/scenario/order.h"
#include "trace/trace.h"

enum world_policy {
	WORLD_PART,	/* the SMMU terminates the access, the transport sends again */
	WORLD_STALL,	/* the SMMU holds the access */
	WORLD_PIN,	/* regions are paged in and pinned when registered */
	WORLD_PREFAULT,	/* both buffers are paged in before each post */
};

struct world_config {
	enum sim_mode mode;
	bool processes;			/* mode must be SIM_THREADS */
	/*
	 * Mode vm (SIM_THREADS too): what boots a guest, the job for it, and files
	 * that it has in /job (NULL at the end); NULL: no guests.
	 */
	const char *guest_script, *guest_job;
	const char *const *guest_files;
	enum sim_drive drive;
	uint64_t seed;
	uint32_t jitter_ns;
	const char *profile;		/* name or path; NULL: ideal */
	const char *const *sets;	/* "key=value", NULL at the end; may be NULL */
	enum world_policy policy;
	enum fl_resolve resolve;
	enum engine_kind engine;
	FILE *trace;			/* text of every record, or NULL */
	uint32_t trace_records;		/* ring; 0: 2^20 in lockstep, 2^15 a thread */
	bool icrc;			/* packets may get damaged: check them */
	bool strangers;			/* as in board.h */
	/*
	 * Do not check after every event. Else FAULTLINE_CHECKS=all in the environment
	 * looks at everything each time, and not at what has changed.
	 */
	bool no_checks;
	uint8_t first_node;		/* of the first board; the next ones follow */
	/* 1: the caller set it, a scenario must not (options go before files) */
	bool profile_given, policy_given, resolve_given;
};

/*
 * How long a card waits for an answer with guests, since the other card's driver is in
 * one that may not have a CPU just then; and from an engine in Verilog, which is
 * slow. Of the timing profile; for time by the wall alone.
 */
#define WORLD_PATIENCE	"fw.wall_timeout=200000000"

struct world;

struct world_board {
	const char *name;
	struct board *board;
	struct host_kernel *kernel;	/* NULL: a bare one */
	struct sim_watch watch;		/* lockstep: of both */
	struct world *world;
	bool driver;
	struct world_guest *guest;	/* mode vm, with processes */
};

struct world_call;
struct world_process {
	const char *name;
	struct world *world;
	struct world_board *board;
	struct host_mm *mm;	/* with a reference; NULL: not open, or gone */
	enum world_policy policy;
	enum fl_resolve resolve;
	bool open, gone;
	/* An application thread of this program; else host is NULL. */
	struct host_process *host;
	struct sim_thread *agent;
	struct sim_waitq wake, finished;
	struct world_call *call;
	bool done;
	struct order_app app;	/* the agent's */
	/* A process elsewhere: number 0 if there is none, and its socket. */
	pid_t pid;
	int line;
};

struct world_buffer {
	const char *name;
	struct world_process *process;
	uint8_t *mem;
	uint64_t bytes;
	bool odd;		/* unmapped or protected somewhere */
	uint32_t number;	/* of its region in the process's order_app */
	bool registered;
	uint32_t key;
	bool file;
	uint32_t area;		/* of the oracle (oracle.h) */
};

struct world_connection {
	const char *name;
	struct world_process *process[2];
	bool relaxed;		/* its requests keep no order */
	uint32_t number[2];	/* of the queue pair in the process's order_app */
	uint32_t qpn[2];
	uint32_t posts[2], ends[2];	/* ledger, in order */
	uint32_t pair[2];		/* of the oracle */
};

struct world_work {
	const char *name;
	struct world_connection *conn;
	uint64_t number;	/* wr_id, of its own */
	int side;		/* which end of it posted */
	enum fl_opcode opcode;
	struct world_buffer *local, *remote;
	uint64_t local_va, remote_va;
	uint32_t lkey, rkey, bytes;
	int error;		/* of the post */
	bool fence, posted, done;
	int status;
	uint32_t done_bytes, resends, order;
	uint64_t post_ns, done_ns;
	uint64_t model;		/* its number at the oracle */
};

/* NULL after a message in error[]. */
struct world *world_create(const struct world_config *cfg, char *error,
			   size_t error_bytes);
/*
 * Run script in the director, then drain, check and take down. 0; -EDEADLK nothing can
 * run any more (why in world_problem); -EPROTO an invariant does not hold. After -EDEADLK
 * threads still hold parts of the world: world_destroy leaves those alone.
 */
int world_run(struct world *w, void (*script)(struct world *w, void *arg),
	      void *arg);
void world_destroy(struct world *w);
/* First thing that was wrong, as a sentence; NULL: nothing. */
const char *world_problem(const struct world *w);

struct sim *world_sim(struct world *w);
struct trace *world_trace(struct world *w);
struct fabric *world_fabric(struct world *w);
const struct world_config *world_cfg(const struct world *w);
/* For calls below that fail: one more sentence, or "". */
const char *world_why(const struct world *w);

/* ---- calls of the director; 0 or negative errno ---- */

struct world_board_config {
	uint64_t frames, swap_pages;	/* 0: default of the kernel */
	uint64_t process_frames, process_swap;	/* of one process; 0: all */
	uint32_t contexts, rx_contexts, block_bytes, tlb_entries;
	uint32_t walk_cache_entries;
	bool bare;	/* no kernel here: its software is elsewhere (emu/window) */
	unsigned int processes;	/* mode vm: how many there will be */
};
int world_board_add(struct world *w, const char *name,
		    const struct world_board_config *cfg,
		    struct world_board **out);
int world_link_add(struct world *w, struct world_board *a,
		   struct world_board *b);
int world_process_add(struct world *w, const char *name, struct world_board *b,
		      enum world_policy policy, enum fl_resolve resolve,
		      struct world_process **out);
int world_process_end(struct world_process *p);
/*
 * The order in p, and its answer. 0 or negative errno: the answer's, -ESRCH when
 * the process is gone. sink is called in p's thread, or in this one.
 */
int world_order(struct world_process *p, const struct order *o,
		struct order_answer *r, const struct order_sink *sink);
int world_counters(struct world_process *p, struct fl_fault_counters *c);
/*
 * Run fn in the process's application thread and wait for it. -ENOTSUP: it is not
 * a thread of this program.
 */
int world_in(struct world_process *p, int (*fn)(struct world_process *p,
						void *arg), void *arg);

enum world_fill { WORLD_ZERO, WORLD_RANDOM, WORLD_PATTERN, WORLD_COLD };
/* path NULL: demand-zero memory of that many bytes. */
int world_buffer_add(struct world_process *p, const char *name, uint64_t bytes,
		     const char *path, struct world_buffer **out);
int world_buffer_fill(struct world_buffer *b, enum world_fill fill,
		      uint64_t seed);
/* Random bytes into a part of it. */
int world_buffer_store(struct world_buffer *b, uint64_t off, uint64_t len,
		       uint64_t seed);
/* Byte i of a fill. */
uint8_t world_fill_byte(enum world_fill fill, uint64_t seed, uint64_t i);
int world_buffer_touch(struct world_buffer *b, uint64_t off, uint64_t len,
		       bool write);
int world_buffer_advise(struct world_buffer *b, uint64_t off, uint64_t len,
			enum fl_advice advice);
int world_buffer_protect(struct world_buffer *b, uint64_t off, uint64_t len,
			 int prot);
int world_buffer_unmap(struct world_buffer *b, uint64_t off, uint64_t len);
/* Read through the CPU of its process, at most len bytes. */
int world_buffer_read(struct world_buffer *b, uint64_t off, void *to,
		      uint64_t len);
int world_buffer_resident(struct world_buffer *b, uint64_t off, uint64_t len,
			  uint64_t *pages);
int world_region_add(struct world_buffer *b, uint64_t off, uint64_t len,
		     unsigned int access, unsigned int pd);
int world_region_remove(struct world_buffer *b);
int world_prefetch(struct world_buffer *b, uint64_t off, uint64_t len,
		   bool write);

int world_connect(struct world_process *p, struct world_process *q,
		  const char *name, unsigned int depth, unsigned int pd,
		  bool relaxed, struct world_connection **out);
/* Fill in conn, side, opcode, local, remote, addresses, keys and bytes. */
int world_post(struct world *w, struct world_work *work);
enum world_wait { WORLD_BOTH, WORLD_POLLING, WORLD_SLEEPING };
/* Until work is done; -ETIMEDOUT after timeout_ns. */
int world_wait(struct world *w, struct world_work *work, uint64_t timeout_ns,
	       enum world_wait how);

/* Packets may be lost from now on: answers too, then. */
void world_injected(struct world *w);
/* In lockstep: are the bytes of what is under way right so far? */
void world_model_under_way(struct world *w);
/* When all is at rest: are all bytes right? */
void world_compare(struct world *w);

/* ---- counting (world_check.c) ---- */
struct world_filter {
	const struct world_board *board;	/* NULL: all */
	const struct world_work *work;		/* NULL: all */
};
/* -EOVERFLOW when the ring has lost records that the filter would need. */
int world_count(struct world *w, enum trace_event ev,
		const struct world_filter *f, uint64_t *count);
/* All records that the ring holds; free(). *count of them. */
struct trace_record *world_records(struct world *w, uint32_t *count,
				   bool *complete);

/* private to the files above */
int world_note_problem(struct world *w, int rule, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void world_why_set(struct world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void world_check_end(struct world *w);
int world_work_number(struct world *w, struct world_work *work);
struct world_work *world_work_at(struct world *w, uint64_t number);

#endif
