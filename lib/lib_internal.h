/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_internal.h - what the files of the library know of each other: the
 * objects, who writes each field, and the barriers.
 *
 * Four things are shared with somebody else and have one writer each:
 *
 *	send queue entry	the posting thread writes, the card reads
 *	completion queue entry	the card writes, the polling thread reads
 *	fl_qp.posted		the posting thread writes, the poller reads
 *	fl_qp.done		the polling thread writes, the poster reads
 *
 * Everything else belongs to the thread that uses the object, but for the lists
 * of a device, which its lock guards.
 */
#ifndef FL_LIB_INTERNAL_H
#define FL_LIB_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "faultline.h"
#include "sys.h"

#include "faultline/entries.h"
#include "faultline/regs.h"
#include "faultline/snoop.h"
#include "faultline/uapi.h"
#include "faultline/window.h"

#define LIB_DOORBELL_BYTES	NIC_DB_STRIDE
#define LIB_WINDOW_BYTES	(2 * (size_t)FL_WINDOW_PAGE)
#define LIB_QUEUE_MIN		2u	/* entries.def, CQ_CREATE, QP_CREATE */
#define LIB_QUEUE_MAX		32768u	/* so that 16-bit counts suffice */
#define LIB_CQ_BUCKETS		64u

/* In a list whose head is a plain pointer; first member of what it links. */
struct lib_link {
	struct lib_link *next, **prev;
};

struct lib_pinned;
/* Of a device, whose system may have none (pincache.c). */
struct lib_cache {
	atomic_flag lock;		/* guards what stands below */
	bool on, deaf;			/* deaf: the library's own calls do not tell it */
	uint64_t bound;
	struct lib_pinned *first, *last;
	struct fl_cache_counters count;
};
struct bounce_memory;
struct lib_bounce;
struct lib_sink;

struct fl_device {
	const struct fl_sys *sys;
	const struct fl_sys *base;	/* the same, but for doorbells in a window */
	struct fl_sys window;		/* sys, of a card behind a window */
	int fd;
	volatile unsigned char *doorbell;	/* the process's own page */
	size_t doorbell_bytes;
	uint32_t doorbell_kind;		/* enum fl_doorbell */
	/* The same page, when it is memory that the driver reads; else NULL. */
	struct fl_snoop_page *snoop;
	struct fl_device_attr attr;
	bool prefault;			/* what a request names, before it is posted */
	struct lib_cache cache;
	bool sinks;			/* pages are missed in silence (bounce.h) */
	uint8_t transport;		/* of its row: enum fl_transport */
	bool unverified;		/* and nobody looks */
	atomic_flag lock;		/* guards the lists of all objects */
	struct lib_link *pds, *cqs, *counters;
};

struct fl_pd {
	struct lib_link link;		/* in fl_device.pds */
	struct fl_device *dev;
	uint32_t number;
	struct lib_link *mrs, *qps, *srqs;
	struct lib_sink *sink;		/* bounce.h, or NULL */
};

struct fl_mr {
	struct lib_link link;		/* in fl_pd.mrs */
	struct fl_pd *pd;
	uint64_t addr, bytes;
	uint32_t key;
	struct lib_pinned *pinned;	/* whose key it is; NULL: its own */
	struct bounce_memory *words;	/* bounce.h, or NULL */
};

struct fl_cq {
	struct lib_link link;		/* in fl_device.cqs */
	struct fl_device *dev;
	const struct fl_cqe *queue;
	size_t map_bytes;
	uint32_t number, entries;	/* entries: a power of two */
	uint32_t tell;			/* tell the card after so many */
	uint16_t arms;			/* how often it was armed (snoop.h) */
	uint64_t taken;			/* entries that were ever taken */
	uint64_t told;			/* as much of it as the card knows */
	/*
	 * Not 0: the card had no room for entry number `suspect`, so a
	 * completion may have been lost; ask the driver while that entry does
	 * not come.
	 */
	uint64_t suspect;
	uint32_t empty_polls;		/* since then, or ever */
	atomic_bool armed;		/* fl_arm(): no event since */
	int error;			/* -EIO or -ENODEV, and then always */
	uint32_t qps;			/* queue pairs that use it */
	struct lib_cq_user *bucket[LIB_CQ_BUCKETS];	/* these, by number */
	atomic_flag busy;		/* bounce.c: guards requests, and all above */
};

/* A queue pair as one of its completion queues knows it. */
struct lib_cq_user {
	struct fl_qp *qp;
	struct lib_cq_user *same_bucket;	/* in fl_cq.bucket */
	uint64_t born;			/* fl_cq entries before it: not ours */
};

/*
 * A receive queue. Several threads may take completions of a shared one, each from a
 * completion queue of its own: `done` only grows.
 */
struct lib_rq {
	struct fl_rqe *queue;		/* NULL: there is none */
	size_t map_bytes;
	uint32_t entries;		/* a power of two */
	_Alignas(64) _Atomic uint32_t posted;	/* entries ever posted */
	_Alignas(64) _Atomic uint32_t done;	/* of these, known taken by the card */
};

struct fl_srq {
	struct lib_link link;		/* in fl_pd.srqs */
	struct fl_pd *pd;
	uint32_t number;
	uint32_t qps;			/* queue pairs that use it; the device's lock */
	struct lib_rq rq;
};

struct fl_counter {
	struct lib_link link;		/* in fl_device.counters */
	struct fl_device *dev;
	const struct fl_count *word;	/* the card writes it */
	size_t map_bytes;
	uint32_t number;
	struct lib_handler *handler;	/* count.c, or NULL */
};

struct fl_qp {
	struct lib_link link;		/* in fl_pd.qps */
	struct fl_pd *pd;
	struct fl_cq *cq, *recv_cq;	/* recv_cq: NULL of a block queue pair */
	struct lib_cq_user as_sender, as_receiver;	/* the latter if they differ */
	struct fl_wqe *queue;
	size_t map_bytes;
	uint32_t number, entries;	/* entries: a power of two */
	struct lib_bounce *bounce;	/* bounce.h, or NULL */
	/* FL_QPT_RC, FL_QPT_UD, FL_QPT_NV: */
	bool rc;			/* any of them */
	bool ud, nv;
	bool peer;			/* it has one */
	uint32_t segments, inline_bytes;	/* of one request, at most */
	struct fl_srq *srq;
	struct fl_qp_attr attr;		/* as last set (modify.c) */
	struct lib_rq rq;
	/* Apart, because two threads write them. */
	_Alignas(64) _Atomic uint32_t posted;	/* entries ever posted */
	_Alignas(64) _Atomic uint32_t done;	/* of these, known finished */
};

/*
 * Barrier between writing an entry and ringing for it: the card must not fetch
 * what is not there yet. Pairs with the card's read of the entry, which it
 * does only after it saw the doorbell.
 *
 *	queue[i] = entry;
 *	lib_entry_before_doorbell();
 *	doorbell
 *
 * x86 keeps stores in order, also towards device memory; Arm does not (Arm ARM
 * B2.3.12: DMB OSHST).
 */
static inline void lib_entry_before_doorbell(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dmb oshst" ::: "memory");
#elif defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/*
 * Barrier between reading entries and telling the card that it may overwrite
 * them. Pairs with the card's writing of the next lap, which it does only
 * after it saw the doorbell.
 *
 *	copy = queue[i];
 *	lib_read_before_doorbell();
 *	doorbell
 */
static inline void lib_read_before_doorbell(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dmb osh" ::: "memory");
#elif defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* 0, or why the card cannot hear it: of the table's mmio_write32. */
static inline int lib_doorbell(struct fl_device *dev, unsigned int offset,
			       uint32_t value)
{
	return dev->sys->mmio_write32(dev->doorbell + offset, value);
}

/* snoop.c: the same where the doorbell page is memory: *word becomes value. */
int lib_publish(struct fl_device *dev, uint32_t *word, uint32_t value);

/* object.c */
int lib_ioctl(struct fl_device *dev, unsigned int cmd, void *arg);
void lib_lock(struct fl_device *dev);
void lib_unlock(struct fl_device *dev);
void lib_link_add(struct fl_device *dev, struct lib_link **head,
		  struct lib_link *l);
void lib_link_del(struct fl_device *dev, struct lib_link *l);
/* Destroy command of an object: FL_IOC_DEALLOC_PD and its like. */
int lib_destroy(struct fl_device *dev, unsigned int cmd, uint32_t object);
/*
 * Map a queue that the driver has made, after judging what it says of it:
 * *entries must be a power of two, wish at least, and fit in map_bytes.
 * NULL + *error.
 */
void *lib_map_queue(struct fl_device *dev, uint32_t wish, uint32_t entries,
		    size_t entry_bytes, uint64_t offset, uint64_t map_bytes,
		    int *error);

/* Free the object whatever its destroy command says; the first error. */
int lib_pd_free(struct fl_pd *pd);
int lib_mr_free(struct fl_mr *mr);
int lib_cq_free(struct fl_cq *cq);
int lib_qp_free(struct fl_qp *qp);

/* mr.c: with the driver itself. 0 or negative errno. */
int lib_mr_begin(struct fl_pd *pd, uint64_t addr, uint64_t bytes,
		 unsigned int access, uint32_t *key);
/* anyway: the memory is given back even if the driver says no. */
int lib_mr_end(struct fl_device *dev, uint64_t addr, uint64_t bytes,
	       uint32_t key, bool anyway);

/* pincache.c: a key for m, whose pd and range are set; and m is given back. */
int lib_cache_take(struct fl_mr *m, unsigned int access);
int lib_cache_give(struct fl_mr *m);
/* All that is kept of a domain (NULL: of all) is thrown out; the first error. */
int lib_cache_drop(struct fl_device *dev, const struct fl_pd *pd);
/* A call of the library is about to unmap memory, or to replace it. */
int lib_cache_hear(struct fl_device *dev, void *addr, size_t bytes);
void lib_cache_init(struct lib_cache *c);
/* Nobody uses any of it: free it whatever the driver says; the first error. */
int lib_cache_close(struct fl_device *dev);

/* cq.c: queue pairs of a completion queue. */
void lib_cq_add(struct fl_cq *cq, struct lib_cq_user *u, struct fl_qp *qp);
void lib_cq_del(struct fl_cq *cq, struct lib_cq_user *u);
/* What stands in the queue by now is of an earlier life of the queue pair. */
void lib_cq_born(const struct fl_cq *cq, struct lib_cq_user *u);
struct fl_qp *lib_cq_find_qp(const struct fl_cq *cq, uint32_t qpn);
/* Ring CQ_CONS or CQ_ARM; both say how many entries were taken. */
void lib_cq_tell(struct fl_cq *cq, uint32_t reg);
/* What the card has written. 1: took one; 0: there is none; -EIO. */
int lib_cq_take(struct fl_cq *cq, struct fl_completion *c);

/* recv.c */
int lib_rq_map(struct fl_device *dev, struct lib_rq *rq, uint32_t wish,
	       uint32_t entries, uint64_t offset, uint64_t bytes);
/* Write the entry of a receive; NULL and *error: it makes no sense, or there is no room. */
int lib_rq_post(struct fl_device *dev, struct lib_rq *rq,
		const struct fl_receive *r, uint32_t *posted);
/* The receive with this index has completed. False: it was never posted. */
bool lib_rq_account(struct lib_rq *rq, uint16_t index, bool shared);
int lib_srq_free(struct fl_srq *srq);

/* count.c */
int lib_counter_free(struct fl_counter *c);

/* object.c: the number of the next transfer, for traces. */
uint32_t lib_xfer_number(struct fl_device *dev, uint32_t number,
			 uint32_t posted);

/* work.c: as fl_post(), for the card itself, and w is known to make sense. */
int lib_post_work(struct fl_qp *qp, const struct fl_work *w);

/*
 * work.c: put e in the queue exactly as it is and ring; -EAGAIN: full. Tests
 * use it to post what fl_post() refuses. A good entry has
 * index == (uint16_t)posted.
 */
int lib_post_entry(struct fl_qp *qp, const struct fl_wqe *e);
/* The same with the entries that continue it: all, or none (-EAGAIN). */
int lib_post_entries(struct fl_qp *qp, const struct fl_wqe *e,
		     const struct fl_wqe_more *more, unsigned int n);

/* rc.c: entries of the queue that work for FL_QPT_RC takes; negative: why fl_post() refuses it. */
int lib_judge_rc(const struct fl_qp *qp, const struct fl_work *w);
/* As fl_post(), of FL_QPT_RC, and it was judged. */
int lib_post_rc(struct fl_qp *qp, const struct fl_work *w);

#endif
