/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_board.h - what the board of rig/attach_fake.h does when it is
 * asked: frames and a swap in ordinary memory, views, imported pages.
 */
#ifndef FL_RIG_ATTACH_BOARD_H
#define FL_RIG_ATTACH_BOARD_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/attach.h"
#include "faultline.h"
#include "faultline/regs.h"
#include "faultline/uapi.h"
#include "harness.h"
#include "os/os.h"

#define FB_PAGE		4096u
#define FB_FRAMES	2048u
#define FB_PAGES	4096u	/* that it can know of */
#define FB_QUEUES	65536u
#define FB_NONE		(~0u)

/* What is wrong with it. */
enum fb_fault {
	FB_RIGHT, FB_BAD_MAGIC, FB_BAD_VERSION, FB_SHORT, FB_SILENT_END,
	FB_NO_FDS, FB_ONE_FD, FB_SMALL_SHARED, FB_BAD_FRAMES, FB_BIG_PAGES,
	FB_SMALL_PAGES, FB_REFUSES, FB_SMALL_BANK, FB_BAD_INSTANCE,
	FB_DIES_IN_OPEN,
};

struct fb_page {
	uint64_t va;
	uint32_t frame;			/* FB_NONE: in the swap */
	bool pinned, kept, outside;
	uint8_t prot;
	uint8_t *swap;
};

/* When the board kills itself: at the call so, before or after its answer. */
struct fb_death {
	uint32_t op, cmd;		/* cmd: of ATTACH_IOCTL; op 0: never */
	unsigned int nth;		/* of these calls; 0 is the first */
	bool answered;
	bool wakeup;			/* rings before, and nobody reads it */
};

struct fb {
	enum fb_fault fault;
	char path[96], name[104];
	int listener, conn, shared_fd, bank_fd;
	pthread_t thread;
	pthread_mutex_t lock;		/* of all that a test looks at */
	struct attach_shared *s;
	uint8_t *bank;
	struct attach_hello hello;
	uint32_t posts, head;
	struct fb_page page[FB_PAGES];
	unsigned int pages;
	uint64_t brk;			/* next address of the arena */
	uint32_t owner[FB_FRAMES];	/* page + 1 */
	uint32_t hand;
	uint32_t queue_next;
	int files[8];
	uint32_t file_ids[8];
	unsigned int nfiles;
	/* orders, and what was seen */
	_Atomic uint32_t end;		/* 1: stop in order, 2: just hang up */
	_Atomic uint32_t storm;		/* take pages away all the time */
	_Atomic uint32_t evict;		/* 1: take all away now; then 0 */
	_Atomic uint32_t deaf;		/* take no post */
	_Atomic uint32_t sleepy;	/* answer no WAIT_CQ until the end */
	_Atomic uint32_t budget;	/* frames that may be used */
	_Atomic uint32_t seen_posts, faults, evictions, calls, imported,
		released, closed;
	_Atomic uint32_t untouched;	/* of those imported */
	_Atomic uint32_t no_import;	/* refuse IMPORT after so many; 0: never */
	struct attach_post last_post;
	struct fl_reg_mr reg;
	_Atomic uint64_t lie;		/* open this address instead */
	/* Of a board that is a process of its own (fb_start_process). */
	pid_t pid;
	struct fb_death death;
	bool waits_for_sleep;		/* answer once the asker's threads sleep */
};

struct fb_page *fb_find(struct fb *b, uint64_t va);
void fb_evict(struct fb *b, struct fb_page *p);

static inline bool fb_evictable(const struct fb_page *p)
{
	return p->frame != FB_NONE && !p->pinned && !p->kept;
}

/* The card writes there; the program's view of it stays as it was. */
void fb_card_writes(struct fb *b, void *at, uint8_t byte);

int fb_do(struct fb *b, struct attach_call *c);

#endif
