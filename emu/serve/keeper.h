/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper.h - what attached processes send along with their notes: descriptors of
 * anything. Whoever closes one may have to wait for as long as its sender likes (a
 * socket that lingers, also in the queue of another one; a file of a FUSE, whose
 * FLUSH is never answered), and whoever reads one may, too. On Linux a thread
 * that waits for a FUSE cannot even be killed, and keeps its process from ending.
 *
 * So the boards' process never has such a descriptor. A *keeper* has them, a small
 * process for each attached process that sends any: from the first one on it
 * reads the socket, passes on the wakeups, and reads pages of the files. The boards
 * wait for an answer of it as long as for pages to be closed (serve_config), and
 * then cut the process off. Another small process, made before the first listener is
 * open, starts the keepers, so that none of them inherits anything of others.
 *
 * Files: keeper.c (in the boards' process), keep.c (in the others).
 */
#ifndef FL_SERVE_KEEPER_H
#define FL_SERVE_KEEPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/host.h"
#include "lib/attach/attach.h"
#include "serve/serve.h"
#include "sim/sync.h"

#define KEEPER_FILES	32u	/* that are mapped, of one process */
/* Killed and still there: from then on there are no new ones. */
#define KEEPERS_LOST	16u
#define KEEPERS_END_MS	1000u	/* so long do they have for their end */

/* ---- the boards' process ---- */

struct keepers {
	int line;			/* to the process that starts them */
	pid_t pid;
	_Atomic uint32_t number;	/* of the last one */
};

int keepers_begin(struct keepers *ks);
/* Kill them all; waits KEEPERS_END_MS at most. */
void keepers_end(struct keepers *ks);
/* Close a socket that has descriptors in its queue, elsewhere. */
void keepers_discard(struct keepers *ks, int sock);

struct keeper {
	struct keepers *all;
	_Atomic uint32_t number;	/* 0: there is none; release: the rest */
	int ask, notes;			/* sockets to it */
	/* 0, or why whoever waits for an answer should do so no more. */
	int (*over)(void *arg, uint64_t waited_ns);
	void *arg;
	struct sim_mutex lock;		/* one question at a time; the two below */
	bool broken;			/* an answer did not come */
	uint32_t used;			/* a bit for each file */
	_Atomic uint32_t put;		/* files that are to be closed */
};

/* begun: what has been read of the next note. Does not wait. */
int keeper_start(struct keeper *k, struct keepers *ks, int sock,
		 const struct attach_note *begun, unsigned int begun_bytes);
/* NULL: wakeups came, if anything; or why the attached process has to go. */
const char *keeper_hear(struct keeper *k, bool *cut);
/*
 * The file that came with this note, for reading: its number, or -EBADF: there is
 * none, -ENODEV: not a regular one, -EACCES: not open for reading, -EMFILE, -EIO.
 */
int keeper_open(struct keeper *k, uint32_t id, uint64_t *bytes);
/* A page of it, zeros behind its end. -EFAULT: beyond; -EIO. */
int keeper_read(struct keeper *k, unsigned int file, uint64_t offset,
		void *page);
void keeper_put(struct keeper *k, unsigned int file);	/* does not wait */
/* Whoever waits for an answer waits no more. */
void keeper_kill(struct keeper *k);
void keeper_end(struct keeper *k);	/* nobody asks any more */

/* ---- between them ---- */

enum { KEEP_START = 1, KEEP_KILL, KEEP_DISCARD };
/* START comes with sock, ask and notes, DISCARD with a socket. KILL ends both. */
struct keep_order {
	uint32_t kind, number;
	struct attach_note begun;
	uint32_t begun_bytes;
};

enum { KEEP_OPEN = 1, KEEP_READ };
struct keep_question {
	uint32_t kind;
	uint32_t put;			/* files to be closed first */
	uint32_t file;
	uint32_t id;			/* OPEN */
	uint64_t offset;		/* READ */
};

/* A page comes after it if it is of READ, and result is 0. */
struct keep_answer {
	int32_t result;
	uint32_t file;
	uint64_t bytes;
};

/* ---- in the other processes (keep.c) ---- */

struct keep {
	int sock, ask, notes;
	bool over;			/* it has nothing to do any more */
	struct attach_note note;	/* the next one */
	unsigned int note_bytes;
	int note_fd;			/* that came with it; -1 */
	struct {
		int fd;			/* -1: none */
		uint32_t id;
	} passed[SERVE_FILES];		/* they wait for MAP_FILE */
	int file[KEEPER_FILES];
	uint8_t page[HOST_PAGE];
};

/*
 * What a keeper does, until the attached process has gone or the boards have. fds:
 * the process's socket, and the ends of ask and notes. Whatever is open then is the
 * caller's to close.
 */
void keep_main(struct keep *k, const struct keep_order *o, const int *fds);
/* The process that starts keepers; line and the standard streams are open. */
_Noreturn void keepers_main(int line);

#endif
