/* SPDX-License-Identifier: BSD-2-Clause */
/* world_internal.h - what the files of a world share, and nobody else. */
#ifndef FL_WORLD_INTERNAL_H
#define FL_WORLD_INTERNAL_H

#include "serve/serve.h"
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
	struct world_work **work;	/* by wr_id - 1 */
	uint64_t works, work_room;
	void (*script)(struct world *w, void *arg);
	void *script_arg;
	uint32_t ring_records;
	bool stuck;
	/* Processes mode. */
	struct nursery nursery;
	struct serve *serve;		/* NULL: no board yet */
	/* Of the sockets, mode vm too; "": none yet. */
	char folder[80];
	pid_t minder;			/* world_folder.c, with the folder */
	int minder_line;		/* scripts to be ended first: their numbers */
	char problem[400], why[400];
};

/* world_door.c: processes mode. Path of a board's socket. */
void world_door_path(const struct world *w, const struct world_board *b,
		     char *path, size_t path_bytes);
int world_door_open(struct world *w, struct world_board *b);
/* All processes have ended. */
void world_doors_close(struct world *w);

/* world_folder.c: there is a folder, and it goes with us however we end. */
int world_folder_need(struct world *w);
/* It is empty; if not, that is a problem to note, and it goes all the same. */
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
