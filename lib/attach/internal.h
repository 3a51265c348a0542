/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - what the files of this folder know of each other: one
 * attachment, who writes each field of it, and the rules that keep the handler
 * of page faults out of dead ends.
 *
 *	1. What the handler reads or writes lies in memory of its own (struct
 *	   attach and what hangs on it), never in memory that the program could
 *	   register: such a page may be absent.
 *	2. The holder of the view lock has all signals blocked and touches nothing
 *	   that may be absent: a handler in the same thread would wait for ever.
 *	3. The service thread takes no lock of the C library while pages are
 *	   busy: a thread that waits for them may hold it.
 *	4. struct attach is never freed, only used again, so that a handler may
 *	   look at one that is going; users counts who is inside.
 */
#ifndef FL_ATTACH_INTERNAL_H
#define FL_ATTACH_INTERNAL_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "attach/attach.h"
#include "os/os.h"

#define ATTACH_BOARDS	8u		/* attachments of a process */
#define ATTACH_PAGE	4096u		/* of protocol and bank */
#define ATTACH_PAGES	((unsigned int)(ATTACH_ARENA_BYTES / ATTACH_PAGE))
#define ATTACH_BLOCK	512u		/* pages of a linear view */
#define ATTACH_SPINS	50u		/* turns of a loop before it yields */
#define ATTACH_YIELDS	400u		/* and before it sleeps */
#define ATTACH_SHARED_SPINS 1u		/* looks before a yield on a shared CPU */
#define ATTACH_ROUNDS	64u		/* the board may take a page while the next comes */

/* view: frame + 1 that is mapped there (0: none), rights (FL_PROT_*) above. */
#define VIEW_FRAME	0x3fffffffu
#define VIEW_PROT_SHIFT	30
/* own: of a page outside the arena; the service thread writes it, any thread reads it. */
#define OWN_IMPORTED	1u
#define OWN_BUSY	2u		/* its contents move: wait */
#define OWN_PINNED	4u		/* never absent */
#define OWN_WRITE	8u		/* the program had the right to write */
#define OWN_MOVED_ONCE	16u		/* was busy once: a late fault is no crash */
#define OWN_DETACHED	32u		/* private while its thread forks */
#define OWN_FOREIGN	64u		/* something else is mapped there by now */
#define OWN_RECEIVES	128u		/* a region let the card write it */
#define OWN_ZEROS	256u		/* not touched yet, the board says (fork.c) */
#define OWN_COUNT_SHIFT	9		/* regions that it is part of */

struct attach_page {
	/* Written under the view lock. Imported and 0: private memory, and closed. */
	_Atomic uint32_t view;
	_Atomic uint32_t own;
};

/* Pages outside the arena, by number; nodes are made by the service thread, and stay. */
#define NODE_BITS	12
#define NODE_ENTRIES	(1u << NODE_BITS)
struct attach_leaf {
	struct attach_page page[NODE_ENTRIES];
};
struct attach_node {
	struct attach_leaf *_Atomic leaf[NODE_ENTRIES];
};
struct attach_tree {
	struct attach_node *_Atomic node[NODE_ENTRIES];
};

/* What the service thread is asked to do for another thread; one at a time. */
enum attach_job_kind {
	JOB_IMPORT = 1,		/* addr, bytes, access */
	JOB_RETURN,		/* addr, bytes */
	JOB_RETURN_ALL,
	JOB_STACK_OUT,		/* addr, bytes: private for a fork, and back */
	JOB_STACK_BACK,
};
struct attach_job {
	_Atomic uint32_t taken;		/* a lock: 0, 1 */
	_Atomic uint32_t state;		/* 0 none, 1 asked, 2 done */
	uint32_t kind;
	unsigned int access;
	uintptr_t addr;
	uint64_t bytes;
	/* Of who asks: what cannot be moved, and what can but is never absent. */
	struct os_range fixed[OS_THREAD_RANGES];
	struct os_range keep[3];	/* its stack, the alternate one, variables */
	int result;
};

enum { ATTACH_NONE, ATTACH_LIVE, ATTACH_GOING };
struct attach {
	_Atomic uint32_t state;
	_Atomic uint32_t users;		/* threads inside, see rule 4 */
	_Atomic bool cpu_shared;	/* with the board (attach_yield()) */
	/* 0; -ENODEV: the board is gone; -EPERM: of the parent, before a fork. */
	_Atomic int error;
	int fd;				/* of table.c */
	int board_fd;			/* of the board's OPEN */
	_Atomic uintptr_t arena;
	void *reserved;			/* the arena and room to align it */
	uint8_t *bank;			/* all of it, to read and write */
	struct attach_shared *shared;
	bool fenced;			/* by the board (attach.h, board_asleep) */
	_Atomic uint32_t post_tail;	/* of the shared area, when it was last looked at */
	int sock, bank_fd, shared_fd;
	uint64_t bank_device, bank_inode;	/* of bank_fd, for foreign.c */
	struct attach_welcome hello;	/* as the board said */
	char name[64];			/* of the board, for messages */

	_Atomic uint32_t view_lock;	/* a lock: 0, 1 */
	struct attach_page *page;	/* of the arena */
	uint64_t block[ATTACH_PAGES / ATTACH_BLOCK / 64]; /* has a linear view */
	bool linear;			/* make linear views */
	struct attach_tree *tree;
	_Atomic uint32_t imported;	/* pages with OWN_IMPORTED */
	_Atomic uint32_t moves;		/* counts the ends of busy times */

	struct attach_job job;
	pthread_t service;
	int wake[2];			/* a pipe: the service thread should look */
	_Atomic uint32_t stop;
	uint8_t *scratch;		/* ATTACH_BATCH pages, the service thread's */
	unsigned int pieces;		/* pages that it moves at a time, in this job */
	_Atomic uint32_t file_id;	/* of FILE notes */
	void *spare;			/* ranges to give up (view.c) */
};

/* pages.c; AS. */
struct attach_page *attach_page(struct attach *a, uintptr_t va);
/* The same, making room for it; the service thread alone. NULL: no memory. */
struct attach_page *attach_page_make(struct attach *a, uintptr_t va);
/* The next page from va on, up to last, that is imported or busy; false: no more. AS. */
bool attach_next(struct attach *a, uintptr_t *va, uintptr_t last, struct attach_page **p);
int attach_host_prot(int prot);		/* of FL_PROT_* */

/* slot.c */
/* Attachment of a slot, whatever its state; NULL: never used. */
struct attach *attach_slot(unsigned int slot);
/* The one that has addr in its arena, or has imported it; NULL. AS. */
struct attach *attach_by_addr(uintptr_t addr);
struct attach *attach_by_fd(int fd);
/* It is zeroed, and this slot's from now on; the lock is held. */
void attach_slot_fill(unsigned int slot, struct attach *a);
static inline bool attach_inside(const struct attach *a, uintptr_t addr)
{
	return addr - a->arena < ATTACH_ARENA_BYTES;
}
static inline uintptr_t attach_doorbell(const struct attach *a)
{
	return a->arena + ATTACH_ARENA_BYTES - 65536;
}
/* Enter and leave; false: it is going, or gone. AS. */
bool attach_enter(struct attach *a);
void attach_leave(struct attach *a);
/* The board is gone (or was the parent's): error for ever, wake all. AS. */
void attach_dies(struct attach *a, int error);
/* error, and -ENODEV when the board has said that it ended. AS. */
int attach_error(struct attach *a);
/* No attachment comes or goes meanwhile: fork.c. */
void attach_slots_lock(void);
void attach_slots_unlock(void);
/* What is open of an attachment, away; each but once. */
void attach_close_files(struct attach *a);
/* One turn of a loop that waits: pause, later yield, at last nap. AS; no errno. */
void attach_turn(unsigned int *turns);
/* For who waits for the board: let others run, and see whether that was the board. AS. */
void attach_yield(struct attach *a);
/* How often to look before one yields: in vain, if the board needs this very CPU. AS. */
static inline unsigned int attach_spins(struct attach *a, unsigned int alone)
{
	return atomic_load_explicit(&a->cpu_shared, memory_order_relaxed) ?
		       ATTACH_SHARED_SPINS : alone;
}

/* life.c: *fd, of table.c. */
int attach_open(const char *name, int *fd);
int attach_close(int fd);
/* connect.c: connect, and have shared area and bank mapped. */
int attach_connect(struct attach *a, const char *path);
void attach_wake(struct attach *a);			/* AS */
/*
 * Is the board still there? A process that is killed does not say that it ends, but
 * its socket is closed then. In its poll() the service thread hears of that; when it waits
 * elsewhere, it has to look.
 */
void attach_listen(struct attach *a);
int attach_send_file(struct attach *a, int file, uint32_t *id);

/* service_thread.c */
int attach_service_start(struct attach *a);
void attach_service_end(struct attach *a);
/* Have the service thread do something; kind: enum attach_job_kind. */
int attach_job(struct attach *a, uint32_t kind, void *addr, uint64_t bytes,
	       unsigned int access);
/* Several in a row with nobody's between; signals are to be blocked. */
void attach_job_lock(struct attach *a);
int attach_job_locked(struct attach *a, uint32_t kind, void *addr,
		      uint64_t bytes, unsigned int access);
void attach_job_unlock(struct attach *a);

/* call.c; AS. */
struct attach_ask {
	uint32_t op;
	uint64_t arg[4];
	uint64_t ret[2];
	void *payload;			/* in and out, or NULL */
	uint32_t payload_in, payload_out;	/* bytes */
};
/* The answer's result, or attach_error(). */
int attach_call(struct attach *a, struct attach_ask *q);
/* A completion that a thread has taken, and that the board has not heard of. */
struct attach_took {
	int fd;			/* + 1; 0: there is none */
	uint32_t xfer, qp, status, bytes;
};
/*
 * call.c. arg: four, or NULL. took: goes along if it is of this device, and is gone then. Waits
 * for room, but not for ATTACH_COMPLETE: a trace must never make who polls wait. 0, -EAGAIN: no
 * room, or attach_error().
 */
int attach_post(struct attach *a, enum attach_post_kind kind, uint32_t offset, uint32_t value,
		uint32_t xfer, const uint64_t *arg, struct attach_took *took);

/* view.c; AS. */
/* Do what the board has told. False: another thread is at it. */
bool attach_views(struct attach *a);
bool attach_views_wait(struct attach *a);	/* are there any? */
/* All but those that an access makes; *was: for the way back. */
void attach_block_signals(sigset_t *was);
/* The flag, for who changes views himself; *mask: for the way back. */
void attach_views_lock(struct attach *a, sigset_t *mask);
void attach_views_unlock(struct attach *a, const sigset_t *mask);
/*
 * Of a new attachment: memory that is ATTACH_SPARE ranges for the system, which can be
 * one. Where there are no more to be had that makes room to begin again.
 */
#define ATTACH_SPARE 16u
void attach_spare_ranges(struct attach *a);
/*
 * With the flag: map frames; 0, or what the system said. Once the limit of
 * mappings is reached, everything is closed and it is tried again.
 */
int attach_map(struct attach *a, uintptr_t va, unsigned int npages,
	       uint32_t frame, int prot);
int attach_protect(struct attach *a, uintptr_t va, uint64_t bytes, int prot);

/*
 * What the system is asked to change: granules of residency, which are no smaller
 * than its own pages. All pages of an imported one are in the same state.
 */
static inline uint32_t attach_granule(const struct attach *a)
{
	return a->hello.page_bytes;
}

/* closed_page.c; AS. */
bool attach_fix(uintptr_t addr, int write);
/* Where the handler has variables of the calling thread. */
void attach_fault_variables(uintptr_t *start, uintptr_t *end);
/* Where each thread has its own, for tests in which many share one of the system's. */
void *attach_local_late(size_t *bytes);
void *attach_local_table(size_t *bytes);
/* n pieces of text, the address, and the end of the line; no stdio. */
void attach_say(const char *const *part, unsigned int n, uintptr_t addr);
/* Have the board bring in va's page: 0 or negative errno. */
int attach_fault(struct attach *a, uintptr_t va, int write);

/* import.c: in the service thread, but for attach_rehearse. */
void attach_job_do(struct attach *a);
/* Everything that moving pages calls, once, before there are any. */
int attach_rehearse(struct attach *a);
/*
 * move.c: as os_replace(), where a program could not go on after it failed: memory that is short
 * is waited for, for about a second.
 */
int attach_replace(void *at, const void *from, uint64_t bytes, int prot);

/*
 * foreign.c: mark imported pages in from..last where something else is mapped, or nothing;
 * with the flag. The first of them, or 0. Where the system does not say, there is none.
 */
uintptr_t attach_foreign(struct attach *a, uintptr_t from, uintptr_t last);
/* The same for one granule outside the arena that is closed. AS. */
bool attach_foreign_page(struct attach *a, uintptr_t va);

/* eligible.c: find the library's variables, before anything is imported. */
void attach_find_variables(void);
/*
 * May the granule at va be part of the job's region? *prot: FL_PROT_* that the
 * program has; *keep: it can never be absent; *anonymous: it can, and is of no file, so
 * that what is untouched is zeros. *m: of the last one, kept along.
 * -EFAULT, -EACCES, -EOPNOTSUPP: not memory of this kind; -ENOMEM.
 */
int attach_eligible(struct attach *a, uintptr_t va, struct os_map *m, int *prot,
		    bool *keep, bool *anonymous);

/* fork.c */
void attach_fork_ready(void);

#endif
