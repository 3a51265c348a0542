/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach.h - how a process reaches a board that lives in another process: what
 * goes over the socket, and the memory that the two share. The library has one
 * side (this folder), the board the other (emu/serve).
 *
 * A process connects to the board's Unix socket and says HELLO; the board
 * answers WELCOME with two descriptors: the shared area (struct attach_shared)
 * and the process's memory bank. After that the socket carries wakeups (somebody
 * sleeps and should look), descriptors of files to be mapped, and by its end
 * the news that the other side is gone.
 *
 * Neither side waits for a system call of the other on the fast path: doorbells
 * are entries of a ring (post), completions are in the process's bank.
 *
 *	post	process -> board	doorbells, and what the trace is to know
 *	call	process -> board	what would be a system call or a page fault
 *	view	board -> process	what the process's MMU would be told
 *
 * Trust: the board takes everything that a process can write as hostile; it
 * reads each field once, into its own memory, and checks the copy. Its own
 * counters are never read back from here. The process trusts the board.
 */
#ifndef FL_ATTACH_H
#define FL_ATTACH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define ATTACH_MAGIC	0x48435441u	/* "ATCH" */
#define ATTACH_VERSION	4u

/* ---- the socket ---- */

/*
 * Name to path: one with a '/' is the path; else NAME.sock in $FAULTLINE_DIR, in
 * $XDG_RUNTIME_DIR/faultline, or in /tmp/faultline-UID, which only its owner
 * may enter. 0, -ENAMETOOLONG, -EACCES: somebody else's folder.
 */
int attach_path(const char *name, char *path, unsigned int path_bytes);
/* Where names without a '/' are. The same errors. */
int attach_folder(char *path, size_t bytes);

#define ATTACH_NAME 32
struct attach_hello {
	uint32_t magic, version;
	uint32_t page_bytes;		/* of the process's machine */
	uint32_t reserved;
	/*
	 * Where the process has ATTACH_ARENA_BYTES of addresses for memory of
	 * the board; a multiple of 2 MB.
	 */
	uint64_t arena;
	char name[ATTACH_NAME];		/* of the program, for traces; ends in 0 */
};
#define ATTACH_ARENA_BYTES 0x80000000ull

/* error not 0: refused, text says why; no descriptors come and it hangs up. */
struct attach_welcome {
	uint32_t magic, version;
	int32_t error;			/* negative errno */
	/*
	 * Granule of residency: a power of two, 4096 to 65536, at least the
	 * process's own pages. Whatever comes, goes, is opened, closed,
	 * imported or released is whole granules, although pages and frames are
	 * counted in units of 4096 bytes all over: numbers and first addresses
	 * are multiples, and frames of one granule lie side by side.
	 */
	uint32_t page_bytes;
	uint64_t instance;		/* of the board; no two are the same */
	uint64_t shared_bytes, bank_bytes;
	/* The bank: frames from 0 on, then memory of queues. */
	uint64_t frames;		/* of 4096 bytes */
	uint64_t queue_offset;
	char text[192];
};

/* After WELCOME, both ways; always 8 bytes. */
enum { ATTACH_WAKEUP = 1, ATTACH_FILE = 2 };
struct attach_note {
	uint32_t kind;
	uint32_t id;			/* FILE: names the descriptor that comes along */
};

/* ---- post: doorbells ---- */

#define ATTACH_POSTS 1024u
enum attach_post_kind {
	ATTACH_DOORBELL = 1,		/* offset, value */
	ATTACH_POST_DOORBELL = 2,	/* the same; arg: of FL_SYS_EV_POST */
	ATTACH_COMPLETE = 3,		/* no doorbell: only what was taken, below */
	/* arg: of FL_SYS_EV_POST; its doorbell is memory (faultline/snoop.h). value: index */
	ATTACH_PUBLISH = 4,
};
/*
 * Entry n (counted from 0) is in post[n % ATTACH_POSTS]; seq is n + 1 when it is
 * whole (release; pairs with the board's acquire). Threads of the process take
 * numbers from post_head, and wait while n - post_tail >= ATTACH_POSTS.
 *
 * Rings of a window (faultline/window.h) keep to the same rule, and share no code with this
 * one: their entries are part of the driver's interface, whose producer is a kernel that
 * stores by writel(); publishing ends with a barrier and a read for QEMU; whoever waits
 * for room there looks at a word and a clock, here at views too, which the board may wait for.
 */
struct attach_post {
	_Alignas(64) _Atomic uint32_t seq;
	uint16_t kind;
	/* 1: before this, its thread took a completion (FL_SYS_EV_COMPLETE), for the trace */
	uint8_t took, took_status;
	uint32_t offset, value;
	uint32_t xfer, took_xfer;
	uint64_t arg[4];
	uint32_t took_qp, took_bytes;
};

/* ---- call: system calls and faults ---- */

#define ATTACH_CALLS	64u
/*
 * The last of them are for what the board answers by itself: all but IOCTL, which
 * may wait for other threads of the process, and these for a page.
 */
#define ATTACH_SHORT_CALLS 8u
#define ATTACH_PAYLOAD	256u
/* Pages of 4096 bytes of one IMPORT or RELEASE; at least one granule. */
#define ATTACH_BATCH	64u
#define ATTACH_NO_FRAME	(~0u)
#define ATTACH_WORDS	(ATTACH_PAYLOAD / 4)
/* Of one LOOK: a bit each in the payload. */
#define ATTACH_LOOK_PAGES (8 * ATTACH_PAYLOAD)

/*
 * arg[] in, result and ret[] out; result is 0 (OPEN: a number) or negative
 * errno. Addresses are the process's own.
 */
enum attach_op {
	ATTACH_FAULT = 1,	/* va, write (0, 1, ~0: unknown) */
	ATTACH_OPEN,		/* - */
	ATTACH_CLOSE,		/* fd */
	ATTACH_IOCTL,		/* fd, cmd; payload in and out: _IOC_SIZE bytes */
	/* fd, bytes, offset; ret: offset in the bank, or ~0: doorbells */
	ATTACH_MMAP,
	ATTACH_MUNMAP,		/* offset in the bank or ~0, bytes */
	ATTACH_ALLOC,		/* bytes; ret: address, in the arena */
	/* bytes, id of a FILE note; ret: address. Private, read and write. */
	ATTACH_MAP_FILE,
	ATTACH_FREE,		/* address, bytes */
	ATTACH_ADVISE,		/* address, bytes, enum fl_advice */
	ATTACH_PROTECT,		/* address, bytes, FL_PROT_* */
	/*
	 * Take n pages (at most ATTACH_BATCH, whole granules, outside the arena)
	 * into the bank: address, n, FL_PROT_*, untouched. Answer: n frame numbers in the payload;
	 * they stay put and nobody else uses them. The process copies its pages there and
	 * maps the frames in their place, then IMPORTED (address, n, keep) lets
	 * them be evicted, unless keep is 1. result not 0 in IMPORTED's arg[3]:
	 * it could not be done, forget them.
	 *
	 * untouched: a bit for each page that the process has closed and never
	 * touched, so that all of it is zeros. It gets ATTACH_NO_FRAME and is absent from
	 * the beginning. Not for pages to be kept.
	 */
	ATTACH_IMPORT,
	ATTACH_IMPORTED,
	/*
	 * The other way: RETURN (address, n) makes them present and keeps
	 * them; frame numbers in the payload, ATTACH_NO_FRAME for zeros that never
	 * came or were forgotten; RETURNED (address, n) forgets them. Until then
	 * none of them is opened, and no zeros come.
	 */
	ATTACH_RETURN,
	ATTACH_RETURNED,
	ATTACH_REMAP,		/* address, bytes; in the arena: as FREE, ALLOC */
	/*
	 * address, n (at most ATTACH_LOOK_PAGES). Payload: a bit for each page, 1: it is
	 * imported, and zeros that nobody has touched so far (or it was forgotten).
	 */
	ATTACH_LOOK,
	ATTACH_OPS
};

enum attach_call_state {
	ATTACH_FREE_SLOT,	/* a thread may take it (compare and swap) */
	ATTACH_TAKEN,
	ATTACH_ASKED,		/* release; then its bit in asked is set */
	ATTACH_ANSWERED,	/* by the board */
};
struct attach_call {
	_Alignas(64) _Atomic uint32_t state;
	_Atomic uint32_t asleep;	/* the asker sleeps on state */
	uint32_t op;
	int32_t result;
	/* The answer holds only when views up to this number were done. */
	uint32_t views;
	uint32_t pad;
	uint64_t arg[4], ret[2];
	_Alignas(64) uint8_t payload[ATTACH_PAYLOAD];
};

/* ---- view: what the process's threads may touch ---- */

#define ATTACH_VIEWS 256u
enum attach_view_kind {
	ATTACH_OPEN_PAGES = 1,	/* npages from va: frames from frame on, prot */
	ATTACH_CLOSE_PAGES = 2,	/* npages from va: nobody may touch them */
};
/*
 * Command n (counted from 0) is in view[n % ATTACH_VIEWS] once view_head > n
 * (release; pairs with the process's acquire). The process does them in order, one
 * thread at a time: it says in view_begun how many it has begun, so that the board rings for
 * nobody to do them, and then how many were done in view_done (release). Any thread
 * that waits for an answer may do them, else the library's own thread. Opening that
 * the system refuses is no failure: the page stays closed and faults again.
 */
struct attach_view {
	uint32_t kind, prot;		/* prot: FL_PROT_* */
	uint64_t va;
	uint32_t npages;		/* of 4096 bytes */
	uint32_t frame;
};

/* ---- the shared area ---- */

struct attach_shared {
	/* Written by the board. */
	_Alignas(64) uint64_t instance;
	_Atomic uint32_t alive;		/* 0: the board has ended in order */
	uint32_t fences;		/* 1: it does so for the process, see board_asleep */
	_Alignas(64) _Atomic uint32_t post_tail;
	/*
	 * 1: nobody looks; who posts or asks sends a WAKEUP note when he finds it
	 * set (seq_cst on both sides: set, then look; write, then look). Where the board
	 * fences, by os_fence_all() between its set and its look, a process that is
	 * fenced (os_fenced()) needs no fence of its own between its write and its look.
	 */
	_Alignas(64) _Atomic uint32_t board_asleep;
	_Alignas(64) _Atomic uint32_t view_head;
	struct attach_view view[ATTACH_VIEWS];
	/* Written by the process. */
	_Alignas(64) _Atomic uint32_t view_done;
	_Atomic uint32_t view_begun;
	/* The board waits for view_done (os_word_wait): wake it. */
	_Atomic uint32_t view_awaited;	/* written by the board */
	/* 1: no thread of the process looks at view_head: send a WAKEUP note. */
	_Alignas(64) _Atomic uint32_t service_asleep;
	_Alignas(64) _Atomic uint32_t post_head;
	_Alignas(64) _Atomic uint64_t asked;	/* a bit for each call */
	struct attach_post post[ATTACH_POSTS];
	struct attach_call call[ATTACH_CALLS];
};

#endif
