/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * testbed.h - a whole set-up in one object: scheduler, profile, trace, fabric, boards with
 * kernel and driver, processes, buffers, connections, work requests. Scenarios and the
 * command's own jobs are written against it.
 *
 * testbed_run() starts one thread, the scenario thread, which runs the caller's script.
 * What happens in a process (touching memory, posting, polling) is a command (rpc.h) that
 * goes to the process, and the scenario thread waits. A process is an application thread
 * of this program; or, in processes mode, a forked process (fork_server.h) that attaches to its
 * board through the board's socket, as any other program does; or, in mode vm, one
 * of a Linux in QEMU that has the board. At the end the testbed drains, checks the
 * invariants (sources: rules) and takes everything down. In lockstep the invariants are
 * checked after every event as well.
 *
 * Files: testbed.c (life), testbed_listener.c (boards' listeners, processes mode),
 * testbed_guest.c (guests, mode vm), folder.c (the folder of these), testbed_process.c
 * (processes), testbed_buffer.c (buffers and regions), fill.c (their contents),
 * testbed_work.c (connections and work requests), testbed_lease.c (regions of one request),
 * testbed_message.c (which message takes which receive), testbed_model.c (what all bytes may be),
 * testbed_check.c (invariants, counting events).
 */
#ifndef FL_TESTBED_H
#define FL_TESTBED_H

#include <sys/types.h>

#include "faultline.h"
#include "sim/sync.h"
#include "sim/watch.h"
#include "tools/scenario/rpc.h"
#include "tools/scenario/testbed_config.h"
#include "trace/event.h"

struct board;
struct fabric;
struct host_kernel;
struct host_mm;
struct host_process;
struct sim;
struct sim_thread;
struct trace;
struct trace_record;
struct testbed;

struct testbed_board {
	const char *name;
	struct board *board;
	struct host_kernel *kernel;	/* NULL: a bare one */
	struct sim_watch watch;		/* lockstep: of both */
	struct testbed *testbed;
	bool driver;
	struct testbed_guest *guest;	/* mode vm, with processes */
	const char *far;		/* testbed_far.device; board is NULL then */
};

/* How a process handles missing pages: a row of the table, or one that is like it. */
struct testbed_system {
	enum fl_system like;
	bool derived;
	bool unverified;	/* fl_set_verify() */
	uint32_t quirks;	/* fl_set_quirks() */
	uint32_t ring_slots, ring_bits;	/* fl_set_backup() */
	struct fl_system_row row;
	struct rpc_cache cache;
};

struct testbed_system testbed_row(enum fl_system system);

#define TESTBED_LEASES	512	/* regions of requests, of one process */

struct testbed_call;
struct testbed_process {
	const char *name;
	struct testbed *testbed;
	struct testbed_board *board;
	struct host_mm *mm;	/* with a reference; NULL: not open, or gone */
	struct testbed_system system;
	enum fl_resolve resolve;
	bool open, gone;
	/* An application thread of this program; else host is NULL. */
	struct host_process *host;
	struct sim_thread *agent;
	struct sim_waitq wake, finished;
	struct testbed_call *call;
	bool done;
	struct rpc_app app;	/* the agent's */
	uint32_t counters;	/* event counters that it has */
	bool leased[TESTBED_LEASES];
	/* A process elsewhere: number 0 if there is none, and its socket. */
	pid_t pid;
	int line;
};

struct testbed_buffer {
	const char *name;
	struct testbed_process *process;
	uint8_t *mem;
	uint64_t bytes;
	bool odd;		/* unmapped or protected somewhere */
	uint32_t number;	/* of its region in the process's rpc_app */
	bool registered;
	uint32_t key;
	bool file;
	uint32_t area;		/* of the oracle (oracle.h) */
	uint32_t leases;	/* requests that have it registered for themselves */
	bool was_registered;	/* ever */
	uint8_t apart;		/* the card has other memory there (testbed_model.c) */
};

struct testbed_connection {
	const char *name;
	struct testbed_process *process[2];
	bool relaxed;		/* its requests keep no order */
	bool datagrams;		/* messages may be lost */
	uint32_t number[2];	/* of the queue pair in the process's rpc_app */
	uint32_t qpn[2];
	uint32_t posts[2], ends[2];	/* ledger, in order */
	uint32_t pair[2];		/* of the oracle */
	struct testbed_mail *mail[2];	/* what each side receives; NULL: nothing yet */
};

/* A region that one end of a request has for itself; NULL: it has none. */
struct testbed_lease {
	struct testbed_buffer *buffer;
	uint32_t number;
};

struct testbed_work {
	const char *name;
	struct testbed_connection *conn;
	uint64_t number;	/* wr_id, of its own; FL_RECV: of the last of its receives */
	int side;		/* which end of it posted */
	enum fl_opcode opcode;
	struct testbed_buffer *local, *remote;
	uint64_t local_va, remote_va;
	uint32_t lkey, rkey, bytes;
	int error;		/* of the post */
	uint32_t notify;	/* number of a counter of the peer, or 0 */
	bool fence, posted, done;
	bool with_imm, solicited, inlined;	/* SEND, WRITE */
	uint32_t imm;
	uint64_t compare, swap;	/* as in struct fl_work */
	uint32_t receives, left;	/* FL_RECV: how many in a row; not complete */
	int status;
	uint32_t done_bytes, done_imm, resends, order;
	uint64_t post_ns, done_ns;
	uint64_t model, model_more;	/* its numbers at the oracle; an atomic has two */
	struct testbed_lease lease[2];	/* local, remote */
};

/* NULL after a message in error[]. */
struct testbed *testbed_create(const struct testbed_config *cfg, char *error,
			   size_t error_bytes);
/*
 * Run script in the scenario thread, then drain, check and take down. 0; -EDEADLK nothing can
 * run any more (why in testbed_problem); -EPROTO an invariant does not hold. After -EDEADLK
 * threads still hold parts of the testbed: testbed_destroy leaves those alone.
 */
int testbed_run(struct testbed *w, void (*script)(struct testbed *w, void *arg),
	      void *arg);
void testbed_destroy(struct testbed *w);
/* First thing that was wrong, as a sentence; NULL: nothing. */
const char *testbed_problem(const struct testbed *w);

struct sim *testbed_sim(struct testbed *w);
struct trace *testbed_trace(struct testbed *w);
struct fabric *testbed_fabric(struct testbed *w);
const struct testbed_config *testbed_cfg(const struct testbed *w);
/* For calls below that fail: one more sentence, or "". */
const char *testbed_why(const struct testbed *w);

/* ---- calls of the scenario thread; 0 or negative errno ---- */

struct testbed_board_config {
	uint64_t frames, swap_pages;	/* 0: default of the kernel */
	uint64_t process_frames, process_swap;	/* of one process; 0: all */
	uint32_t contexts, rx_contexts, block_bytes, tlb_entries;
	uint32_t walk_cache_entries;
	bool bare;	/* no kernel here: its software is elsewhere (emu/window) */
	unsigned int processes;	/* mode vm: how many there will be */
};
int testbed_board_add(struct testbed *w, const char *name,
		    const struct testbed_board_config *cfg,
		    struct testbed_board **out);
/*
 * The board of cfg.far, linked with those that there are: processes on it are as any, but
 * neither its kernel nor its card can be looked at. Once.
 */
int testbed_board_far(struct testbed *w, const char *name,
		      struct testbed_board **out);
int testbed_link_add(struct testbed *w, struct testbed_board *a,
		   struct testbed_board *b);
int testbed_process_add(struct testbed *w, const char *name, struct testbed_board *b,
		      enum fl_system system, enum fl_resolve resolve,
		      struct testbed_process **out);
int testbed_process_add_as(struct testbed *w, const char *name,
			   struct testbed_board *b,
			   const struct testbed_system *system,
			   enum fl_resolve resolve, struct testbed_process **out);
/* Its plan from now on. A process that is added with AROUND has BLOCK until then. */
int testbed_resolve(struct testbed_process *p, enum fl_resolve resolve,
		    uint32_t number);
int testbed_process_end(struct testbed_process *p);
/*
 * The command in p, and its answer. 0 or negative errno: the answer's, -ESRCH when
 * the process is gone. sink is called in p's thread, or in this one.
 */
int testbed_rpc(struct testbed_process *p, const struct rpc_command *o,
		struct rpc_answer *r, const struct rpc_sink *sink);
int testbed_counters(struct testbed_process *p, struct fl_fault_counters *c);
int testbed_cache(struct testbed_process *p, struct fl_cache_counters *c);
/*
 * Run fn in the process, and wait for it. A process of its own has been forked from this
 * program: arg, and all that fn uses, is its copy, or in memory that was mapped shared before
 * testbed_create(). -ENOTSUP: it is in a guest, and another program.
 */
int testbed_in(struct testbed_process *p, rpc_run fn, void *arg);

enum testbed_fill { TESTBED_ZERO, TESTBED_RANDOM, TESTBED_PATTERN, TESTBED_COLD };
/* path NULL: demand-zero memory of that many bytes. */
int testbed_buffer_add(struct testbed_process *p, const char *name, uint64_t bytes,
		     const char *path, struct testbed_buffer **out);
int testbed_buffer_fill(struct testbed_buffer *b, enum testbed_fill fill,
		      uint64_t seed);
/* Random bytes into a part of it. */
int testbed_buffer_store(struct testbed_buffer *b, uint64_t off, uint64_t len,
		       uint64_t seed);
/* Byte i of a fill. */
uint8_t testbed_fill_byte(enum testbed_fill fill, uint64_t seed, uint64_t i);
int testbed_buffer_touch(struct testbed_buffer *b, uint64_t off, uint64_t len,
		       bool write);
int testbed_buffer_advise(struct testbed_buffer *b, uint64_t off, uint64_t len,
			enum fl_advice advice);
int testbed_buffer_protect(struct testbed_buffer *b, uint64_t off, uint64_t len,
			 int prot);
int testbed_buffer_unmap(struct testbed_buffer *b, uint64_t off, uint64_t len);
/* -EEXIST: another buffer has been put where this one was unmapped. */
int testbed_buffer_remap(struct testbed_buffer *b, uint64_t off, uint64_t len);
/* Read through the CPU of its process, at most len bytes. */
int testbed_buffer_read(struct testbed_buffer *b, uint64_t off, void *to,
		      uint64_t len);
int testbed_buffer_resident(struct testbed_buffer *b, uint64_t off, uint64_t len,
			  uint64_t *pages);
int testbed_region_add(struct testbed_buffer *b, uint64_t off, uint64_t len,
		     unsigned int access, unsigned int pd);
int testbed_region_remove(struct testbed_buffer *b);
/* By the DMA engine of the processing system; *done: bytes that it copied. */
int testbed_dma(struct testbed_buffer *from, uint64_t off,
		struct testbed_buffer *to, uint64_t at, uint64_t len,
		uint64_t *done);
/* An event counter of the process; *counter: as testbed_await() and a write name it. */
struct testbed_counter {
	struct testbed_process *process;
	uint32_t id, number;
	uint64_t noticed_ns;	/* the last await had seen it */
};
int testbed_counter_add(struct testbed_process *p, struct testbed_counter *c);
/* Until it is count at least; how: enum rpc_await. *is: what it is then. */
int testbed_await(struct testbed_counter *c, uint32_t count, unsigned int how,
		  uint64_t timeout_ns, uint32_t *is);
int testbed_prefetch(struct testbed_buffer *b, uint64_t off, uint64_t len,
		   bool write);

struct testbed_joining {
	unsigned int depth, pd;
	bool relaxed;
	bool datagrams;		/* though one of the systems has connections, too */
	/* Of packets: as in struct fl_qp_init; and FL_ATTR_* that are not the profile's. */
	unsigned int inline_bytes, mask;
	struct fl_qp_attr attr;
};
/* -EOPNOTSUPP: what only packets have, and a process has blocks. */
int testbed_connect(struct testbed_process *p, struct testbed_process *q,
		    const char *name, const struct testbed_joining *j,
		    struct testbed_connection **out);
/* The side goes on after FAULT_FAST: fl_resume(). */
int testbed_resume(struct testbed_connection *c, int side);
/* Fill in conn, side, opcode, local, remote, addresses, keys and bytes. */
int testbed_post(struct testbed *w, struct testbed_work *work);
/* A SEND, or a WRITE with immediate data. */
bool testbed_takes_receive(const struct testbed_work *work);
/* It is under way, and the peer has posted no receive that it could take. */
bool testbed_message_waits(const struct testbed_work *work);
/* Fill in conn, side, local, its address and key, bytes and receives. */
int testbed_receive(struct testbed *w, struct testbed_work *work);
/* Does the row keep what was registered, so that it is done for each request? */
bool testbed_row_caches(const struct fl_system_row *row);
bool testbed_leases(const struct testbed_process *p);
/*
 * As testbed_post(), but an end whose process testbed_leases(), and that has no region,
 * is registered for this request, until testbed_wait() finds it complete.
 */
int testbed_post_leased(struct testbed *w, struct testbed_work *work);
enum testbed_wait { TESTBED_BOTH, TESTBED_POLLING, TESTBED_SLEEPING };
/* Until work is done; -ETIMEDOUT after timeout_ns. */
int testbed_wait(struct testbed *w, struct testbed_work *work, uint64_t timeout_ns,
	       enum testbed_wait how);

/* Packets may be lost from now on: answers too, then. */
void testbed_injected(struct testbed *w);
/* In lockstep: are the bytes of what is under way right so far? */
void testbed_model_under_way(struct testbed *w);
/* When all is at rest: are all bytes right? */
void testbed_compare(struct testbed *w);

/* ---- counting (testbed_check.c) ---- */
struct testbed_filter {
	const struct testbed_board *board;	/* NULL: all */
	const struct testbed_work *work;		/* NULL: all */
};
/* -EOVERFLOW when the ring has lost records that the filter would need. */
int testbed_count(struct testbed *w, enum trace_event ev,
		const struct testbed_filter *f, uint64_t *count);
/*
 * From the post of a request that is complete until its last byte was in the memory that
 * it is for. Lockstep: else -EOPNOTSUPP. -EOVERFLOW as above.
 */
int testbed_arrival(struct testbed *w, const struct testbed_work *k, uint64_t *ns);
/* All records that the ring holds; free(). *count of them. */
struct trace_record *testbed_records(struct testbed *w, uint32_t *count,
				   bool *complete);

/* private to the files above */
int testbed_note_problem(struct testbed *w, int rule, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void testbed_why_set(struct testbed *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void testbed_check_end(struct testbed *w);
int testbed_work_number(struct testbed *w, struct testbed_work *work);
int testbed_lease_end(struct testbed_work *work);
struct testbed_work *testbed_work_at(struct testbed *w, uint64_t number);

#endif
