/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_internal.h - what the files of emu/serve share: listeners, processes that are
 * attached, and which thread may touch what.
 *
 * The I/O thread owns the lists of listeners, pending connections and clients, and takes in posts
 * and calls. A call runs in a kernel thread of its own (struct worker). When a
 * process has died, a thread of its own takes down what it had, and the I/O thread
 * strikes it off when that is done. Descriptors that processes send never come
 * into this one (keeper.h).
 */
#ifndef FL_SERVE_INTERNAL_H
#define FL_SERVE_INTERNAL_H

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "host/host.h"
#include "host/remote/remote.h"
#include "lib/attach/attach.h"
#include "lib/os/os.h"
#include "os/os_emu.h"
#include "serve/sigbus.h"
#include "serve/keeper.h"
#include "serve/serve.h"
#include "sim/sim.h"
#include "trace/trace.h"

#define LISTENERS		16u
#define CLIENTS_MAX	(LISTENERS * SERVE_CLIENTS)
#define POSTS_AT_ONCE	32u	/* of one process, before the next has its turn */
#define QUEUES		256u	/* mapped by one process at a time */
#define CLOSE_WAIT_NS	20000000ull	/* then the pages count as open */

struct client;

/* What a call brought, copied once. */
struct call {
	uint32_t op;
	uint64_t arg[4];
	uint8_t payload[ATTACH_PAYLOAD];
};

/* What goes back. */
struct answer {
	int32_t result;
	uint64_t ret[2];
	uint8_t payload[ATTACH_PAYLOAD];
	unsigned int payload_bytes;
};

/* The worker for one thread of a process: serves one slot of its calls. */
struct worker {
	struct client *client;
	unsigned int slot;
	struct sim_thread *thread;	/* made when it is first needed; I/O thread */
	struct call call;		/* the I/O thread writes, then job is set */
	atomic_bool job;		/* release; pairs with the worker's acquire */
	/* Somebody is at it, who clears this (release) when the answer is whole. */
	atomic_bool busy;
	bool deferred;			/* to be done by the I/O thread, which knows it */
};

/* Memory of a queue that the process was told of. */
struct queue {
	void *mem;			/* NULL: none */
	uint64_t offset, bytes;
};

enum client_state {
	CLIENT_LIVES,
	CLIENT_DYING,			/* its thread takes it down */
	CLIENT_GONE,			/* that is done */
};

struct client {
	struct serve *serve;
	struct host_kernel *kernel;
	struct host_process *process;
	struct listener *listener;
	struct attach_shared *shared;	/* goes when it is CLIENT_GONE */
	int sock, shared_fd;
	int peer;			/* readable: the process has ended; or -1 */
	char name[ATTACH_NAME];
	atomic_int state;
	struct sim_thread *reaper;	/* sleeps while the process lives */
	/* I/O thread */
	uint32_t post_tail;
	struct attach_note note;	/* what of the next one has come */
	unsigned int note_bytes;
	/* Started by the I/O thread with the first descriptor; asked by workers and kernel. */
	struct keeper keeper;
	/* I/O thread and workers */
	struct sim_spin lock;		/* queue */
	struct queue queue[QUEUES];
	atomic_uint on_io;		/* calls that the I/O threads do, or are to do */
	volatile void *doorbell;	/* NULL: not mapped */
	struct sim_spin doorbell_lock;	/* held while it is written */
	struct worker worker[ATTACH_CALLS];
	/* views: written under the address space's lock */
	_Atomic uint32_t view_head;
	_Atomic uint64_t slow_since_ns;	/* a close is overdue; 0: none is */
	_Atomic uint32_t overdue;	/* closes that ever were */
	atomic_bool cut;		/* it broke the rules: end it */
	_Atomic(const char *) why;	/* NULL: it wrote what cannot be */
};

struct pending {
	int sock;			/* -1: none */
	struct listener *listener;
	uint64_t since_ns;
	unsigned int got;
	struct attach_hello hello;
};

struct listener {
	int sock;			/* -1: closed */
	int lock_fd;
	struct host_kernel *kernel;
	unsigned int clients;
	char path[108];
};

/* One of the two that take turns at being the I/O thread (io_thread.c). */
struct io_thread {
	struct serve *serve;
	struct sim_thread *thread;	/* of who started it; self is its own */
	struct sim_thread *self;
	atomic_bool stands_by;		/* it can take over */
};

struct serve {
	struct serve_config cfg;
	struct io_thread io[2];
	_Atomic(struct io_thread *) io_now;
	struct sim_deferred_calls deferred;	/* handed over with the place */
	int wake[2];			/* a byte: the I/O thread looks at all */
	atomic_bool stop, asleep;
	bool fences;			/* of processes, too, before it sleeps */
	struct os_poller poller;	/* the I/O thread's */
	atomic_bool cpu_shared;		/* the I/O thread's, with one that waits for it */
	struct sim_spin lock;		/* listeners, against the I/O thread */
	struct listener listener[LISTENERS];
	struct pending pending[SERVE_WAITING];
	struct client *client[CLIENTS_MAX];	/* the first live of them */
	unsigned int live;
	struct keepers keepers;
	int spare;			/* for the listener; -1: none to be had */
	uint64_t listeners_rest_until_ns;	/* nobody can be taken in; 0: one can */
	uint64_t instance;
	struct {
		atomic_ullong attached, refused, posts, calls, faults, cut_off,
			sleeps, handed_over;
	} count;
};

/* How often to look before one yields: in vain, if who is waited for needs the CPU. */
static inline unsigned int serve_spins(struct serve *s, unsigned int alone,
				       unsigned int shared)
{
	return atomic_load_explicit(&s->cpu_shared, memory_order_relaxed) ? shared :
									    alone;
}

static inline void serve_count(atomic_ullong *n)
{
	atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

/* serve.c */
void serve_wake(struct serve *s);
/*
 * Close a socket of a process that is to be heard no more: what it sent and nobody
 * took is thrown away.
 */
void serve_hang_up(struct serve *s, int sock);

/* io_thread.c */
void io_main(void *io);

/* listener.c; I/O thread */
void listener_accept(struct serve *s, struct listener *d);
/* Something came from a pending connection, or its time is over. */
void listener_pending(struct serve *s, struct pending *n, bool readable);

/* client.c; I/O thread, but for the views */
struct client *client_create(struct serve *s, struct listener *d, int sock,
			     const struct attach_hello *h, int *error);
/* After WELCOME was sent or could not be. */
void client_begin(struct client *c);
/* Notes have come, or the end. */
void client_read(struct client *c);
/* It broke the rules; the I/O thread ends it. why: a constant. Any thread. */
void client_cut(struct client *c, const char *why);
/* Has it to go (cut, or slower than patience)? Then begin with it. */
void client_check(struct client *c, uint64_t now_ns);
/* why: NULL if it was cut. */
void client_end(struct client *c, const char *why);
/* Sleep until what was overdue is closed, or it is not waited for any more. */
void client_catches_up(struct client *c);
/* Strike it off; state is CLIENT_GONE. */
void client_reap(struct client *c);
extern const struct host_cpu_ops client_cpu_ops;

/* post.c; I/O thread: how much was done */
unsigned int posts_take(struct client *c);

/* import_calls.c; each in a worker */
int call_import(struct client *c, const struct call *call, struct answer *a);
int call_imported(struct client *c, const struct call *call, struct answer *a);
int call_return(struct client *c, const struct call *call, struct answer *a);
int call_returned(struct client *c, const struct call *call, struct answer *a);
int call_look(struct client *c, const struct call *call, struct answer *a);

/* syscall.c */
unsigned int calls_take(struct client *c);	/* I/O thread */

#endif
