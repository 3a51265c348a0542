/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_queue.h - queues that card and process share, and the objects that have them.
 */
#ifndef FL_QUEUE_H
#define FL_QUEUE_H

#include "fl_dev.h"

/*
 * Memory of a completion, send or receive queue: lives until its last mapping ends, or
 * the card goes, which ends them all.
 */
struct fl_queue {
	struct list_head list;	/* of the file; queue_lock */
	struct kref ref;
	struct fl_ctx *ctx;	/* mappings keep the file open */
	bool ended;		/* its object has gone; queue_lock */
	bool doorbell;		/* it is no queue, but a doorbell page (snoop.h) */
	void *cpu;		/* NULL: memory gone, or the card's; queue_lock */
	dma_addr_t dma;
	size_t bytes;
	u64 offset;		/* for mmap */
};

struct fl_cq {
	struct list_head list;
	struct kref ref;	/* the table, and who sleeps on it */
	struct fl_ctx *ctx;
	u32 number;
	struct fl_queue *queue;
	u32 events, seen;	/* dev->irq_lock */
	u32 snooped;		/* word that the card knows of; ctx->lock */
	bool overflow, gone;	/* dev->irq_lock */
};

struct fl_qp {
	struct list_head list;
	struct fl_ctx *ctx;
	u32 number, entries;
	u16 snooped;		/* count that the card knows of; ctx->lock */
	struct fl_queue *queue;
	struct fl_queue *recv;	/* its own receive queue, or NULL */
	bool rings;		/* fl_ring_need() */
};

struct fl_srq {
	struct list_head list;
	struct fl_ctx *ctx;
	u32 number;
	struct fl_queue *queue;
};

/* Its memory is a page that begins with struct fl_count. */
struct fl_counter {
	struct list_head list;
	struct kref ref;	/* the table, and who sleeps on it */
	struct fl_ctx *ctx;
	u32 number;
	struct fl_queue *queue;
	u32 events, seen;	/* dev->irq_lock */
	bool gone;		/* dev->irq_lock */
};

/* fl_queue.c */
/* Memory that the process may map; ERR_PTR(). ctx->lock, or nobody else has the file. */
struct fl_queue *fl_queue_new(struct fl_ctx *ctx, size_t bytes);
void fl_queue_put(struct fl_ctx *ctx, struct fl_queue *q);
/* ctx->lock; NULL: the file has none of this number. */
struct fl_cq *fl_cq_find(struct fl_ctx *ctx, u32 number);
struct fl_qp *fl_qp_find(struct fl_ctx *ctx, u32 number);
int fl_queue_mmap(struct fl_ctx *ctx, struct vm_area_struct *vma, u64 offset);
/* Their objects are gone. fw_let_go: the firmware has closed the slot and writes no more */
void fl_queue_end_all(struct fl_ctx *ctx, bool fw_let_go);
/* What is mapped still goes, too; nobody can reach it (fl_map_end). */
void fl_queue_drop_mapped(struct fl_ctx *ctx);

/* Entries of a queue that is wished for, a power of two; 0: makes no sense. */
u32 fl_queue_entries(u32 wish);

/* fl_cq.c */
int fl_cq_create(struct fl_ctx *ctx, struct fl_create_cq *a);
int fl_cq_destroy(struct fl_ctx *ctx, u32 number);
int fl_cq_wait(struct fl_ctx *ctx, const struct fl_wait_cq *a);
bool fl_cq_any_event(struct fl_ctx *ctx);
void fl_cq_end_all(struct fl_ctx *ctx);

/* fl_eq.c: the card's events, which lead to all that can have one */
int fl_eq_start(struct fl_dev *dev);
/* The firmware is to write no more events. */
void fl_eq_clear(struct fl_dev *dev);
void fl_eq_stop(struct fl_dev *dev);
irqreturn_t fl_irq_event(int irq, void *arg);

/* fl_qp.c */
int fl_qp_create(struct fl_ctx *ctx, struct fl_create_qp *a);
int fl_qp_connect(struct fl_ctx *ctx, const struct fl_connect_qp *a);
int fl_qp_resume(struct fl_ctx *ctx, u32 number);
int fl_qp_destroy(struct fl_ctx *ctx, u32 number);
int fl_qp_modify(struct fl_ctx *ctx, struct fl_modify_qp *a);
/* The slot is closed: only what the driver knows of them. */
void fl_qp_end_all(struct fl_ctx *ctx);

/* fl_srq.c */
int fl_srq_create(struct fl_ctx *ctx, struct fl_create_srq *a);
int fl_srq_destroy(struct fl_ctx *ctx, u32 number);
int fl_srq_limit(struct fl_ctx *ctx, const struct fl_limit_srq *a);
bool fl_srq_known(struct fl_ctx *ctx, u32 number);
void fl_srq_end_all(struct fl_ctx *ctx);

/* fl_count.c */
int fl_count_create(struct fl_ctx *ctx, struct fl_create_counter *a);
int fl_count_destroy(struct fl_ctx *ctx, u32 number);
int fl_count_wait(struct fl_ctx *ctx, const struct fl_wait_counter *a);
/* An event of the card's; dev->irq_lock is held. */
void fl_count_note(struct fl_dev *dev, u32 number);
void fl_count_end_all(struct fl_ctx *ctx);

#endif
