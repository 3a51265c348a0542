/* SPDX-License-Identifier: BSD-2-Clause */
/* testbed_internal.h - what the files of a testbed share, and nobody else. */
#ifndef FL_TESTBED_INTERNAL_H
#define FL_TESTBED_INTERNAL_H

#include "host/host.h"
#include "nic/wire.h"
#include "serve/serve.h"
#include "sim/timing.h"
#include "tools/harness/folder.h"
#include "tools/scenario/oracle.h"
#include "tools/harness/fork_server.h"
#include "tools/scenario/testbed.h"

#define TESTBED_BOARDS	WIRE_NODES
#define TESTBED_PROCESSES	(TESTBED_BOARDS * HOST_PROCESSES)
#define TESTBED_BUFFERS	512
#define TESTBED_CONNS	512

_Static_assert(TESTBED_BUFFERS + TESTBED_LEASES <= RPC_REGIONS,
	       "a number for each region");

struct testbed {
	struct testbed_config cfg;
	struct timing_profile timing;
	struct trace *trace;
	struct sim *sim;
	struct fabric *fabric;
	struct testbed_board board[TESTBED_BOARDS];
	struct testbed_board far;	/* none of these */
	struct testbed_process *process;	/* room for TESTBED_PROCESSES */
	struct testbed_buffer buffer[TESTBED_BUFFERS];
	struct testbed_connection conn[TESTBED_CONNS];
	unsigned int boards, processes, buffers, conns;
	struct oracle *oracle;		/* what all bytes may be */
	bool injected;			/* packets were lost, on purpose */
	struct testbed_work **work;	/* by wr_id - 1 */
	uint64_t works, work_room;
	void (*script)(struct testbed *w, void *arg);
	void *script_arg;
	uint32_t ring_records;
	bool stuck;
	bool check_all;			/* FAULTLINE_CHECKS */
	/* Processes mode. */
	struct fork_server fork_server;
	struct serve *serve;		/* NULL: no board yet */
	struct folder folder;		/* of the sockets, mode vm too */
	char problem[400], why[400];
};

/* testbed_model.c: what happens in buffers (all of b: len 0). */
void testbed_model_buffer(struct testbed_buffer *b, const char *path);
void testbed_model_unknown(struct testbed_buffer *b, uint64_t off, uint64_t len);
void testbed_model_forget(struct testbed_buffer *b, uint64_t off, uint64_t len);
void testbed_model_zero(struct testbed_buffer *b, uint64_t off, uint64_t len);
/* The pages are other ones now, or none: will the card hear of it? */
void testbed_model_replaced(struct testbed_buffer *b, uint64_t off, uint64_t len);
/* A region begins. */
void testbed_model_region(struct testbed_buffer *b);
void testbed_model_touch(struct testbed_buffer *b, uint64_t off, uint64_t len);
void testbed_model_fill(struct testbed_buffer *b, uint64_t off, uint64_t len,
		      enum testbed_fill fill, uint64_t seed);
/* The CPU has read bytes; a region has been taken back. */
void testbed_model_read(struct testbed_buffer *b, uint64_t off,
		      const void *bytes, uint64_t n);
void testbed_model_closed(struct testbed_buffer *b);
/* A request is about to be posted; it has completed. */
void testbed_model_post(struct testbed_work *work);
void testbed_model_complete(struct testbed *w, struct testbed_work *work);
/* It was not posted after all. */
void testbed_model_unpost(struct testbed_work *work);
/* The request's bytes go there: so many at most, of memory of p. */
void testbed_model_target(struct testbed_process *p, uint64_t model, uint64_t va,
			  uint32_t bytes);
/* Datagrams: a receive at va is about to be posted, its number; it has completed. */
uint64_t testbed_model_receive(struct testbed_work *work, uint64_t va);
void testbed_model_arrived(struct testbed *w, struct testbed_work *work, uint64_t number,
			   uint64_t va, const struct fl_completion *c);
void testbed_model_unreceive(struct testbed_work *work, uint64_t number);
void testbed_model_gone(struct testbed_process *p);
void testbed_model_end(struct testbed *w);

/* testbed_message.c: a message, a receive at va; -ENOMEM. Each can be taken back at once. */
int testbed_mail_post(struct testbed_work *k);
void testbed_mail_unpost(struct testbed_work *k);
int testbed_mail_receive(struct testbed_work *k, uint64_t va);
void testbed_mail_unreceive(struct testbed_work *k);
/* The completion of a receive: does it say what the message was? */
void testbed_mail_arrived(struct testbed *w, struct testbed_work *k,
			  const struct fl_completion *c);
void testbed_mail_free(struct testbed_connection *c);

/* testbed_listener.c: processes mode. Path of a board's socket. */
void testbed_listener_path(const struct testbed *w, const struct testbed_board *b,
		     char *path, size_t path_bytes);
int testbed_listener_open(struct testbed *w, struct testbed_board *b);
/* Is the kernel of that board one of another program's? Then its process is asked. */
bool testbed_kernel_elsewhere(const struct testbed_board *b);
/* All processes have ended. */
void testbed_listener_close(struct testbed *w);

/* testbed_check.c: what is to be checked after each event, and a board of it. */
int testbed_check_begin(struct testbed *w, char *error, size_t error_bytes);
void testbed_check_board(struct testbed_board *b);

/* testbed.c: the folder goes. If it is not empty, that is a problem to note. */
void testbed_folder_remove(struct testbed *w);

/* testbed_guest.c: mode vm. A guest that so many processes will be in boots. */
int testbed_guest_add(struct testbed *w, struct testbed_board *b,
		    unsigned int processes);
/* The line of one more process. */
int testbed_guest_take(struct testbed *w, struct testbed_board *b, int *line);
/* As fork_server_reap(). */
int testbed_guest_reap(struct testbed_process *p, bool kill, int *status);
/* All processes have ended; by_force: that does not matter. */
void testbed_guests_end(struct testbed *w, bool by_force);

#endif
