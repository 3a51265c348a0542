/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faultline.h - libfaultline: RDMA on virtual addresses whose pages need not
 * be there.
 *
 * Verbs-shaped: a device is opened by name; a protection domain (PD) holds
 * memory regions (MR) and queue pairs (QP); work requests are posted to a QP
 * and completions are polled from a completion queue (CQ). All calls return 0
 * or a negative errno unless they say otherwise, and are documented on pages of
 * book/reference/, one a call.
 *
 * Objects belong to the process that made them. A QP is posted to by one thread
 * at a time, a CQ is polled by one thread at a time; these may be two threads.
 * Creating or destroying a QP counts as use of its CQ.
 */
#ifndef FAULTLINE_H
#define FAULTLINE_H

#include <stddef.h>
#include <stdint.h>

#include "faultline/resolve.h"
#include "faultline/system.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fl_device;
struct fl_pd;
struct fl_mr;
struct fl_cq;
struct fl_qp;
struct fl_srq;

/* ---- device ---- */

struct fl_device_attr {
	uint32_t node;		/* of this card on the fabric */
	uint32_t slot;		/* domain slot: context bank, doorbell page */
	uint32_t block_bytes;	/* largest block */
	uint32_t max_qp, max_cq, max_mr, max_queue;
};

/*
 * name: "/dev/faultline0" on Linux, "emu:BOARD" a board of the emulator (in an
 * ordinary process: one that "faultline board" runs), NULL: the first card.
 */
int fl_open(const char *name, struct fl_device **dev);
/*
 * Names for fl_open() of the cards that are there, in order: at most n of them go to name.
 * Returns how many there are, also beyond n, or negative errno.
 */
#define FL_NAME_BYTES	128
int fl_list_devices(char (*name)[FL_NAME_BYTES], int n);
/* Why the calling thread's last fl_open failed, in a sentence; "": it did not. */
const char *fl_open_error(void);
/* Frees all that is left. The first error, but the device is gone anyway. */
int fl_close(struct fl_device *dev);
int fl_query_device(struct fl_device *dev, struct fl_device_attr *attr);

/*
 * How this process's missing pages are handled: a row of the table of systems
 * (faultline/system.h), and what one fault brings in (faultline/resolve.h); before any
 * transfer (-EBUSY), and before any region is registered if other tables translate then
 * (-EBUSY). -EOPNOTSUPP: this card cannot. AROUND needs a number: fl_set_resolve().
 */
int fl_set_policy(struct fl_device *dev, enum fl_system system,
		  enum fl_resolve resolve);
/*
 * The same with a row that is in no table: like `like`, but for what row says. -EINVAL: it
 * contradicts itself (faultline/system_rules.h).
 */
int fl_set_row(struct fl_device *dev, enum fl_system like,
	       const struct fl_system_row *row, enum fl_resolve resolve);
/* What one fault brings in, and that alone. number: of AROUND, 1 to 256; else 0. */
int fl_set_resolve(struct fl_device *dev, enum fl_resolve resolve,
		   unsigned int number);

/*
 * Mistakes of other cards, which connections that are made from now on imitate: to see what
 * they do to a program. After fl_set_policy(), which ends them; before fl_set_resolve() with
 * AROUND. -EOPNOTSUPP: the system's transport is not packets.
 */
enum fl_quirk {
	/* After an RNR wait only what was refused is sent again; the rest after a time-out. */
	FL_DAMMING = 1,
	FL_CUT = 2,	/* the acknowledgement timer runs on, and cuts an RNR wait short */
	FL_CODE25 = 4,	/* code 25 of an RNR NAK is 61.41 ms in place of 61.44 */
};
int fl_set_quirks(struct fl_device *dev, unsigned int quirks);

/*
 * System backup: slots of the backup ring, a power of two from 2 to 1024, and how many
 * datagrams of one queue pair it and the driver may hold at a time, 1 to 256; 0: the driver's
 * own numbers, 256 each. bits counts for queue pairs that are made ready from now on; the
 * ring is the card's, and fl_create_qp_ex() fails with -EBUSY while queue pairs use one that
 * has not so many slots. Before fl_set_resolve() with AROUND; -EOPNOTSUPP: another system.
 */
int fl_set_backup(struct fl_device *dev, unsigned int slots, unsigned int bits);

/*
 * System npr: does the library find out whether bytes got where they should (which is so
 * unless it is said)? With on = 0 a request whose bytes vanished ends well: to show what the
 * check is for. Before any completion queue or region (-EBUSY).
 */
int fl_set_verify(struct fl_device *dev, int on);

struct fl_fault_counters {
	uint64_t faults, faults_source, faults_destination, pages_in, resolves,
		failed, spurious, invalidations, pinned_pages, stalls;
	/* Of the card's own tables (npf and others); else 0. */
	uint64_t loaded, zapped, raced, advised;
};
int fl_query_counters(struct fl_device *dev, struct fl_fault_counters *c);

/*
 * Systems whose `before` is cache (pincache): fl_reg_mr() is answered from pinned regions
 * that this process has given back, if one of the same domain covers the range and has
 * the rights; and fl_dereg_mr() keeps the region, pinned, until there is no room for it,
 * its memory is unmapped, or its domain ends. Of all that is pinned, in use or kept, there
 * are at most `bytes` bytes, in whole pages. What was used longest ago goes first, and
 * what is in use never; a registration that does not fit beside the regions in use fails
 * with -EDQUOT, and none is thrown out for it in vain.
 *
 * THE PEER'S KEY OUTLIVES fl_dereg_mr(): who was given it reaches the memory until the
 * region really ends. And it is the key of the whole region that was pinned, with all of
 * its rights, even if less was asked for. fl_unmapped() takes it back for certain.
 */
#define FL_CACHE_BYTES	(64u << 20)	/* unless it is set */
/*
 * hook 1 (as if not set): fl_free(), fl_remap() and fl_advise(FL_DONTNEED) tell the cache
 * what they unmap. 0: they do not, and a region whose memory was replaced is found again:
 * the card reads and writes frames that the process has lost, with status ok.
 * -EINVAL: bytes is 0; -EOPNOTSUPP: the system has no such cache; -EBUSY: there are
 * regions, in use or kept.
 */
int fl_set_cache(struct fl_device *dev, uint64_t bytes, int hook);
/*
 * This memory is about to be unmapped, or replaced: a program calls it BEFORE munmap(),
 * mmap(MAP_FIXED), mremap(), shmdt(), brk() downwards and madvise(MADV_DONTNEED,
 * MADV_REMOVE), most easily from functions of these names that come before libc's; with
 * hook 0 too. Regions with a page there that are kept end now, and their keys with them.
 * One that is in use ends when it is given back, and is given to nobody else. The first
 * error of ending one.
 */
int fl_unmapped(struct fl_device *dev, void *addr, size_t bytes);

struct fl_cache_counters {
	uint64_t hits, misses;	/* registrations */
	uint64_t evictions;	/* regions that had to make room */
	uint64_t dropped;	/* regions whose memory was unmapped */
	uint64_t bytes, most_bytes, bound;	/* pinned now, at most so far, ever */
};
int fl_query_cache(struct fl_device *dev, struct fl_cache_counters *c);

/* ---- memory ---- */

/*
 * Memory that the device can fault on: demand-zero, or the contents of a file
 * (private). Any memory will do for a region, but for programs that run inside
 * the emulator: there it must come from here. NULL and errno.
 */
void *fl_alloc(struct fl_device *dev, size_t bytes);
void *fl_map_file(struct fl_device *dev, const char *path, size_t *bytes);
int fl_free(struct fl_device *dev, void *addr, size_t bytes);
/* Other memory, of zeros, takes the place of what was mapped there. */
int fl_remap(struct fl_device *dev, void *addr, size_t bytes);
enum fl_advice { FL_PAGEOUT, FL_DONTNEED, FL_WILLNEED };
/* Take pages away, forget their contents, or bring them in. */
int fl_advise(struct fl_device *dev, void *addr, size_t bytes,
	      enum fl_advice advice);
enum { FL_PROT_READ = 1, FL_PROT_WRITE = 2 };
int fl_protect(struct fl_device *dev, void *addr, size_t bytes, int prot);
/*
 * Make memory present for the CPU before a system call uses it; for_write: as
 * what the system writes to. -EFAULT: some of it is not mapped, or not writable.
 */
int fl_prefault(struct fl_device *dev, const void *addr, size_t bytes,
		int for_write);

/* ---- protection domain and memory region ---- */

int fl_alloc_pd(struct fl_device *dev, struct fl_pd **pd);
int fl_dealloc_pd(struct fl_pd *pd);	/* -EBUSY: it has MRs or QPs */

enum {
	FL_LOCAL_WRITE = 1,	/* the device may write here for me (READ) */
	FL_REMOTE_WRITE = 2,
	FL_REMOTE_READ = 4,
	FL_REMOTE_ATOMIC = 8,
	FL_PINNED = 0x100,	/* page in and pin at once; else on demand */
};
/*
 * addr NULL, bytes SIZE_MAX: all memory that the process has and will have, on demand, by one
 * key; with tables of the card's own alone (FL_SYSTEM_NPF and others; else -EINVAL).
 */
int fl_reg_mr(struct fl_pd *pd, void *addr, size_t bytes, unsigned int access,
	      struct fl_mr **mr);
int fl_dereg_mr(struct fl_mr *mr);
uint32_t fl_mr_key(const struct fl_mr *mr);	/* local and remote key */
/* Page in ahead of a transfer; for_write: as its destination. */
int fl_prefetch(struct fl_mr *mr, void *addr, size_t bytes, int for_write);

/* A flag: the call returns when the device has the pages; else when a worker knows of them. */
#define FL_ADVICE_FLUSH		1u
/* What the device will do with pages of a region (ibv_advise_mr). */
enum fl_mr_advice {
	FL_PREFETCH_FOR_READ,	/* read them: bring them in */
	FL_PREFETCH_FOR_WRITE,	/* write them: the same, to be written */
	FL_PREFETCH_PRESENT,	/* no fault: have those that the process has anyway */
};
int fl_advise_mr(struct fl_pd *pd, enum fl_mr_advice advice, unsigned int flags,
		 uint32_t key, void *addr, size_t bytes);

/*
 * Copy bytes from src to dst, both of this process, with the DMA engine of the board's
 * processing system; the card has no part in it. Each must lie in a region of dev, and
 * the process must have a row with tables of the driver's own (FL_SYSTEM_INSERTED): what
 * was registered is mapped for the engine, pinned, and nothing else is. Returns when it is
 * over, in the order in which processes asked, a megabyte each.
 *
 * done (may be NULL): how many bytes from the start were copied, if the answer is 0 or
 * -EIO. Where the ranges overlap, a destination below the source gets the source's bytes;
 * what one above it gets is not defined (emu/board/psdma.c).
 *
 * 0; -EIO: the engine could not read (done < bytes: at src + done) or write (at dst +
 * done), or does not stop; -EINVAL: bytes is 0, or a range wraps; -EFAULT: some of it is in
 * no region; -EACCES: dst is only to be read; -EPERM: other tables; -EOPNOTSUPP: this board
 * gives the driver no such engine; -EBUSY: another thread copies; -EINTR: a signal.
 */
int fl_dma_copy(struct fl_device *dev, void *dst, const void *src, size_t bytes,
		size_t *done);

/* ---- completion queue ---- */

enum fl_opcode {
	FL_WRITE = 1, FL_READ = 2,
	FL_SEND = 4, FL_FETCH_ADD = 5, FL_CMP_SWAP = 6,
	/* Of the completion of a receive; the last two came with immediate data. */
	FL_RECV = 16, FL_RECV_IMM = 17, FL_RECV_WRITE_IMM = 18,
};

struct fl_completion {
	uint64_t wr_id;
	int status;		/* 0, or FL_ST_*: fl_status_string() */
	enum fl_opcode opcode;
	uint32_t bytes;
	uint32_t qpn;
	uint32_t resends;	/* blocks, or packets, that were sent more than once */
	uint32_t xfer;		/* number of the transfer in traces */
	uint32_t imm;		/* of FL_RECV_IMM and FL_RECV_WRITE_IMM; else 0 */
	int datagram;		/* 1: of a receive of FL_QPT_UD; src_qp, src_node: who sent it */
	uint32_t src_qp, src_node;
};

/* entries: completions that may wait at the same time; one more breaks it. */
int fl_create_cq(struct fl_device *dev, unsigned int entries,
		 struct fl_cq **cq);
int fl_destroy_cq(struct fl_cq *cq);	/* -EBUSY: a QP uses it */
/*
 * Take at most n completions; returns how many, or -EIO when the queue
 * overflowed or holds what cannot be. Never blocks.
 */
int fl_poll(struct fl_cq *cq, struct fl_completion *c, int n);
/*
 * As fl_poll, but when there is none sleeps until one comes; returns at least
 * 1, or -ETIMEDOUT after timeout_ns (0: no limit), -EINTR (a signal), -EIO.
 */
int fl_wait(struct fl_cq *cq, struct fl_completion *c, int n,
	    uint64_t timeout_ns);/*
 * The two halves of fl_wait(), for who looks after several things at once. Ask for an event:
 * the next completion that comes, or one that has come and was not yet taken, makes one;
 * solicited: only one that its sender marked, or that has an error. As fl_poll(), of the
 * thread that polls.
 */
int fl_arm(struct fl_cq *cq, int solicited);
/*
 * Sleep until the event that was asked for; of any thread, one at a time, and no other may be
 * in fl_wait() for this queue. 0: poll now; -ETIMEDOUT after timeout_ns (0: no limit); -EINTR;
 * -EIO: the queue overflowed.
 */
int fl_sleep(struct fl_cq *cq, uint64_t timeout_ns);

/* ---- queue pair ---- */

/* What the peer must know; send it as you like. */
struct fl_address {
	uint32_t node, qpn;
	/* Where missing pages are found afterwards (system npr); else 0. */
	uint32_t list_key, ring_key;
	uint64_t list, ring;
};
/* Of blocks, or of packets (FL_QPT_RC, FL_QPT_UD) if that is what the process's system has. */
int fl_create_qp(struct fl_pd *pd, struct fl_cq *cq, unsigned int entries,
		 struct fl_qp **qp);
/*
 * Its requests keep no order, as on ExaNeSt: see fl_post(). -EOPNOTSUPP: the system's transport is
 * not blocks.
 */
int fl_create_qp_relaxed(struct fl_pd *pd, struct fl_cq *cq,
			 unsigned int entries, struct fl_qp **qp);

enum fl_qp_type {
	FL_QPT_BLOCK = 0,
	/*
	 * A reliable connection of packets, as in InfiniBand: with messages, atomics and
	 * states (fl_modify_qp()). It begins in FL_RESET; fl_connect() makes it ready.
	 */
	FL_QPT_RC = 1,
	/*
	 * Datagrams: messages of one packet each, of at most the MTU, to the peer of its
	 * connection, or to whom each work request names; nobody acknowledges them or sends them
	 * again. With FL_SEND alone, receives of its own, and the states of FL_QPT_RC. What comes
	 * with another Q_Key is lost. A process whose system has reliable connections may have
	 * them, too; what comes for a page that the card does not have is lost then.
	 */
	FL_QPT_UD = 2,
	/*
	 * NetVM's transport: WRITE alone, whose bytes may come in any order but for
	 * those that lie on each other. To say that all of it is there it names an event
	 * counter of the peer's.
	 */
	FL_QPT_NV = 3,
};
#define FL_SEND_SEGMENTS 12u	/* of one work request */
#define FL_RECV_SEGMENTS 3u	/* of one receive */
#define FL_INLINE_BYTES	192u
struct fl_qp_init {
	enum fl_qp_type type;
	struct fl_cq *send_cq;
	struct fl_cq *recv_cq;	/* NULL: send_cq */
	unsigned int entries;	/* work requests that may wait */
	unsigned int recv_entries;	/* receives that may wait; 0: none */
	struct fl_srq *srq;	/* FL_QPT_RC: in place of receives of its own; or NULL */
	unsigned int segments;	/* of one work request at most; 0: as 1 */
	unsigned int inline_bytes;	/* the same */
};
/*
 * -EINVAL: what queue pairs of the type do not have, or more than FL_SEND_SEGMENTS or
 * FL_INLINE_BYTES;
 * -EOPNOTSUPP: this card has none of the type, or it does not go with the system.
 */
int fl_create_qp_ex(struct fl_pd *pd, const struct fl_qp_init *init,
		    struct fl_qp **qp);
/* Completions of a QP that is gone are not delivered any more. */
int fl_destroy_qp(struct fl_qp *qp);
int fl_qp_address(struct fl_qp *qp, struct fl_address *a);
/* -EOPNOTSUPP: one end has system npr, and the other has not. */
int fl_connect(struct fl_qp *qp, const struct fl_address *peer);
/*
 * A queue pair that halted goes on (system abort): after a completion with
 * FL_ST_FAULT_FAST everything that is posted is flushed until then. 0; -EBUSY: not all that
 * was posted has completed: take completions first; -EINVAL: it is not halted.
 */
int fl_resume(struct fl_qp *qp);

/* ---- event counters (FL_QPT_NV) ---- */

struct fl_counter;
/*
 * A counter that WRITEs of peers may name: it rises by one when all bytes of such a WRITE, and
 * of all that were posted before it on its queue pair, are in their place. It begins at 0, and
 * counts modulo 2^32. -EOPNOTSUPP: this card has none; -ENOSPC.
 */
int fl_create_counter(struct fl_device *dev, struct fl_counter **c);
int fl_destroy_counter(struct fl_counter *c);	/* nobody may be waiting for it */
/* For the peer; tell it as you like. */
uint32_t fl_counter_number(const struct fl_counter *c);
/* What it is now; a look into memory. */
uint32_t fl_counter_read(const struct fl_counter *c);
/*
 * Until it has reached count: 0; -ETIMEDOUT after timeout_ns (0: no limit); -EINTR. busy: by
 * looking again and again; else asleep, of one thread at a time.
 */
int fl_counter_wait(struct fl_counter *c, uint32_t count, int busy, uint64_t timeout_ns);

/*
 * fn is called by a thread of the library when the counter has risen, with what it is then;
 * several rises may be one call. Until fl_destroy_counter() or fl_close(), neither of which fn
 * may call; meanwhile nobody else may wait asleep. -EBUSY: there is one already; -EOPNOTSUPP.
 */
int fl_on_count(struct fl_counter *c, void (*fn)(void *arg, uint32_t count), void *arg);

/* ---- operations on counters (sync_ops.c) ---- */

/*
 * A wait queue: whoever waits is woken by the next rise. An own WRITE of any length, to a peer
 * who waits, does that: it names the counter.
 */
struct fl_wait_queue {
	struct fl_counter *counter;
	uint32_t seen;		/* 0 at first; of the thread that waits */
};
/* Until it has risen since the last call: 0, -ETIMEDOUT, -EINTR. */
int fl_wait_queue_wait(struct fl_wait_queue *q, int busy, uint64_t timeout_ns);

/*
 * A counting semaphore: each rise is one more that may be taken. The peer that gives it and the
 * process that takes it are two; takers are threads of one process, of which one at a time
 * may sleep.
 */
struct fl_semaphore {
	struct fl_counter *counter;
	uint32_t taken;		/* 0 at first; the library's, by atomic operations */
};
/* Take one if there is one. -EAGAIN. */
int fl_semaphore_try(struct fl_semaphore *s);
int fl_semaphore_take(struct fl_semaphore *s, int busy, uint64_t timeout_ns);

/* ---- states (FL_QPT_RC, FL_QPT_UD) ---- */

/* InfiniBand 10.3.1. */
enum fl_state { FL_RESET, FL_INIT, FL_RTR, FL_RTS, FL_SQD, FL_SQE, FL_ERROR };
enum {				/* which members of fl_qp_attr count */
	FL_ATTR_STATE = 1, FL_ATTR_MTU = 2, FL_ATTR_RNR_CODE = 4,
	FL_ATTR_RETRIES = 8, FL_ATTR_RNR_TRIES = 16, FL_ATTR_TIMEOUT = 32,
	FL_ATTR_RD_ATOMIC = 64, FL_ATTR_DEST_RD_ATOMIC = 128,
	FL_ATTR_PEER = 256, FL_ATTR_SQ_PSN = 512, FL_ATTR_RQ_PSN = 1024,
	FL_ATTR_QKEY = 2048, FL_ATTR_ACCESS = 4096,
};

struct fl_qp_attr {
	enum fl_state state;
	unsigned int mtu;	/* bytes of payload in a packet: 256, 512 ... 4096 */
	unsigned int rnr_code;	/* how long a peer waits that finds no receive; 0 to 31 */
	unsigned int retries;	/* of a request without an answer; 0 to 7 */
	unsigned int rnr_tries;	/* where the peer has no receive; 7: no limit */
	unsigned int timeout;	/* of an answer: 4.096 us * 2^timeout; 0: no limit */
	unsigned int rd_atomic;	/* READs and atomics on the way at a time; 1 to 16 */
	unsigned int dest_rd_atomic;	/* the same of the peer's */
	uint32_t node, peer_qp;
	uint32_t sq_psn, rq_psn;	/* first packet sequence number: own, the peer's */
	int draining;		/* fl_query_qp(): work requests are under way */
	uint32_t qkey;		/* of datagrams: what they carry, and must have to be taken */
	/* FL_REMOTE_*: what the peer may do where a region allows it, too; all until given. */
	unsigned int access;
};
/*
 * Into a state, or with other attributes. From INIT to RTR it takes PEER, MTU, RQ_PSN,
 * RNR_CODE and DEST_RD_ATOMIC; from RTR to RTS SQ_PSN, TIMEOUT, RETRIES, RNR_TRIES and
 * RD_ATOMIC; ACCESS may come with each of them, and in RTS. Datagrams take QKEY to INIT, MTU
 * and perhaps PEER to RTR, and SQ_PSN to RTS. In FL_ERROR all that is posted completes as
 * FL_ST_FLUSHED; FL_RESET forgets it without completions.
 * -EINVAL: there is no such way, or an attribute is missing, not allowed or makes no sense.
 */
int fl_modify_qp(struct fl_qp *qp, const struct fl_qp_attr *attr,
		 unsigned int mask);
/*
 * The state that the card has it in, which may have become FL_ERROR by itself, and what
 * fl_modify_qp() was given of the rest.
 */
int fl_query_qp(struct fl_qp *qp, struct fl_qp_attr *attr);

/* ---- work requests ---- */

/* A piece of registered memory. */
struct fl_segment {
	void *addr;
	uint32_t bytes, key;
};

struct fl_work {
	uint64_t wr_id;
	enum fl_opcode opcode;
	void *local;
	uint32_t lkey;
	uint64_t remote;
	uint32_t rkey;
	uint32_t bytes;		/* at least 1; with FL_QPT_RC 0 too */
	int unsignaled;		/* 1: no completion when all goes well */
	int fence;		/* 1: begin when all earlier work has ended */
	/* Of FL_QPT_RC alone, list, segments and inlined of FL_QPT_NV, too; else 0. */
	const struct fl_segment *list;	/* in place of local, lkey and bytes */
	unsigned int segments;	/* of list */
	int inlined;		/* 1: SEND, WRITE: copied now, so the memory needs no key */
	int with_imm;		/* 1: SEND, WRITE: with imm */
	uint32_t imm;
	int solicited;		/* 1: SEND, WRITE: wakes a peer that waits for such alone */
	uint64_t compare;	/* CMP_SWAP: what must be there */
	uint64_t swap;		/* CMP_SWAP: what is written; FETCH_ADD: what is added */
	/* FL_QPT_NV, WRITE: number of a counter of the peer (fl_counter_number()); 0: none */
	uint32_t notify;
	/* FL_QPT_UD: to whom, in place of the peer, and the Q_Key that the receiver must have. */
	const struct fl_address *to;
	uint32_t qkey;
};
/*
 * Put work in the queue and ring the doorbell. -EAGAIN: the queue is full (poll
 * first); -EINVAL: length 0, unknown opcode, wrap of the address space.
 *
 * The peer carries out the requests of a QP in the order in which they were
 * posted, as if each had ended before the next began: bytes of an earlier WRITE
 * never lie on those of a later one, a READ brings what the WRITEs before it
 * wrote and nothing that later ones do, and a WRITE behind a READ may send what
 * that brought. So a program that looks at its memory until a number is there that its peer
 * wrote behind data finds all of the data. The bytes of one request may come in any order.
 * (FL_QPT_RC: a READ whose answer is lost is read again, after what was
 * posted behind it without a fence.) What follows a request that failed is not carried
 * out. Between different QPs, and on one that was made with fl_create_qp_relaxed(),
 * there is no order but that of a completion that was polled before a post, and `fence`.
 *
 * An unsignaled request keeps its place in the queue until a later signaled one
 * of the same QP (or any that failed) has been polled.
 */
int fl_post(struct fl_qp *qp, const struct fl_work *w);
/* n of them, in this order, or none: then it is as fl_post() would say of the first that cannot. */
int fl_post_list(struct fl_qp *qp, const struct fl_work *w, unsigned int n);
int fl_post_write(struct fl_qp *qp, uint64_t wr_id, struct fl_mr *mr,
		  void *local, uint32_t bytes, uint64_t remote, uint32_t rkey);
int fl_post_read(struct fl_qp *qp, uint64_t wr_id, struct fl_mr *mr,
		 void *local, uint32_t bytes, uint64_t remote, uint32_t rkey);

/*
 * FL_QPT_RC, FL_QPT_UD: to a receive that the peer has posted; bytes may be 0, and mr NULL
 * then. */
int fl_post_send(struct fl_qp *qp, uint64_t wr_id, struct fl_mr *mr,
		 void *local, uint32_t bytes);
/*
 * FL_QPT_RC: FL_FETCH_ADD (swap is added) or FL_CMP_SWAP on 8 aligned bytes at the peer;
 * what was there goes to local.
 */
int fl_post_atomic(struct fl_qp *qp, enum fl_opcode opcode, uint64_t wr_id,
		   struct fl_mr *mr, void *local, uint64_t remote,
		   uint32_t rkey, uint64_t compare, uint64_t swap);

/* ---- receives (FL_QPT_RC; FL_QPT_UD without the shared ones) ---- */

struct fl_receive {
	uint64_t wr_id;
	const struct fl_segment *list;
	unsigned int segments;	/* 0 to FL_RECV_SEGMENTS */
};
/*
 * A place for a message; messages take places in the order in which they were posted.
 * -EAGAIN: the queue is full; -EINVAL: the queue pair has none of its own or is in RESET, or
 * a segment is empty or wraps.
 */
int fl_post_recv(struct fl_qp *qp, const struct fl_receive *r);
/* A receive queue for several queue pairs of a domain. */
int fl_create_srq(struct fl_pd *pd, unsigned int entries, struct fl_srq **srq);
int fl_destroy_srq(struct fl_srq *srq);	/* -EBUSY: a QP uses it */
/* As fl_post_recv(); one thread at a time. */
int fl_post_srq_recv(struct fl_srq *srq, const struct fl_receive *r);
/*
 * Once, when it holds fewer receives than limit, there is an event; 0: no more.
 * -EINVAL: more than it has room for.
 */
int fl_limit_srq(struct fl_srq *srq, unsigned int limit);

/* ---- events, beside completions ---- */

enum fl_event_type {
	FL_EVENT_QP_ERROR = 1, FL_EVENT_CQ_OVERFLOW, FL_EVENT_SRQ_LIMIT,
	/* FL_ERROR: no more receives of its shared queue complete (InfiniBand 11.6.3.1). */
	FL_EVENT_LAST_RECV,
	FL_EVENT_QP_HEARD,	/* FL_RTR: the peer's first packet has come */
	FL_EVENT_SQ_DRAINED,	/* FL_SQD: no work request is under way */
};
struct fl_event {
	enum fl_event_type type;
	struct fl_qp *qp;	/* one of these three, as type says */
	struct fl_cq *cq;
	struct fl_srq *srq;
	uint32_t qpn;		/* of qp: no other queue pair soon has the same */
	int status;		/* of FL_EVENT_QP_ERROR: FL_ST_* */
	int untold;		/* of the same, 1: no work request of it failed with status */
};
/*
 * The oldest event of this process's objects that are still there; sleeps until there is one.
 * -ETIMEDOUT after timeout_ns (0: no limit); -EINTR.
 */
int fl_next_event(struct fl_device *dev, struct fl_event *event,
		  uint64_t timeout_ns);

/* ---- words ---- */

const char *fl_status_string(int status);	/* of a completion */
/* Of a call (negative or positive errno). */
const char *fl_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif
