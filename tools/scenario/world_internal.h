/* SPDX-License-Identifier: BSD-2-Clause */
/* world_internal.h - what the files of a world share, and nobody else. */
#ifndef FL_WORLD_INTERNAL_H
#define FL_WORLD_INTERNAL_H

#include "serve/serve.h"
#include "tools/scenario/folder.h"
#include "tools/scenario/oracle.h"
#include "tools/scenario/nursery.h"
#include "tools/scenario/world.h"

#define WORLD_BOARDS	WIRE_NODES
#define WORLD_PROCESSES	(WORLD_BOARDS * HOST_PROCESSES)
#define WORLD_BUFFERS	512
#define WORLD_CONNS	512

struct world {
	struct world_config cfg;
	struct timing_profile timing;
	struct trace *trace;
	struct sim *sim;
	struct fabric *fabric;
	struct world_board board[WORLD_BOARDS];
	struct world_process process[WORLD_PROCESSES];
	struct world_buffer buffer[WORLD_BUFFERS];
	struct world_connection conn[WORLD_CONNS];
	unsigned int boards, processes, buffers, conns;
	struct oracle *oracle;		/* what all bytes may be */
	bool injected;			/* packets were lost, on purpose */
	struct world_work **work;	/* by wr_id - 1 */
	uint64_t works, work_room;
	void (*script)(struct world *w, void *arg);
	void *script_arg;
	uint32_t ring_records;
	bool stuck;
	bool check_all;			/* FAULTLINE_CHECKS */
	/* Processes mode. */
	struct nursery nursery;
	struct serve *serve;		/* NULL: no board yet */
	struct folder folder;		/* of the sockets, mode vm too */
	char problem[400], why[400];
};

/* world_model.c: what happens in buffers (all of b: len 0). */
void world_model_buffer(struct world_buffer *b, const char *path);
void world_model_unknown(struct world_buffer *b, uint64_t off, uint64_t len);
void world_model_zero(struct world_buffer *b, uint64_t off, uint64_t len);
void world_model_touch(struct world_buffer *b, uint64_t off, uint64_t len);
void world_model_fill(struct world_buffer *b, uint64_t off, uint64_t len,
		      enum world_fill fill, uint64_t seed);
/* The CPU has read bytes; a region has been taken back. */
void world_model_read(struct world_buffer *b, uint64_t off,
		      const void *bytes, uint64_t n);
void world_model_closed(struct world_buffer *b);
/* A request is about to be posted; it has completed. */
void world_model_post(struct world_work *work);
void world_model_complete(struct world *w, struct world_work *work);
void world_model_gone(struct world_process *p);
void world_model_end(struct world *w);

/* world_door.c: processes mode. Path of a board's socket. */
void world_door_path(const struct world *w, const struct world_board *b,
		     char *path, size_t path_bytes);
int world_door_open(struct world *w, struct world_board *b);
/* All processes have ended. */
void world_doors_close(struct world *w);

/* world_check.c: what is to be checked after each event, and a board of it. */
int world_check_begin(struct world *w, char *error, size_t error_bytes);
void world_check_board(struct world_board *b);

/* world.c: the folder goes. If it is not empty, that is a problem to note. */
void world_folder_remove(struct world *w);

/* world_guest.c: mode vm. A guest that so many processes will be in boots. */
int world_guest_add(struct world *w, struct world_board *b,
		    unsigned int processes);
/* The line of one more process. */
int world_guest_take(struct world *w, struct world_board *b, int *line);
/* As nursery_reap(). */
int world_guest_reap(struct world_process *p, bool kill, int *status);
/* All processes have ended; by_force: that does not matter. */
void world_guests_end(struct world *w, bool by_force);

#endif
