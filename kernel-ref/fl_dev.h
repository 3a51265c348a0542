/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fl_dev.h - the objects of the driver and the calls between its files.
 *
 * struct fl_dev is one card, struct fl_ctx one open file: a process on the
 * card with a domain slot, the context bank of the same number, and what it
 * created. There is no other state: several cards do not know of each other.
 *
 * Locks, outermost first:
 *	ctx->life	beginning and end of a process on the card
 *	ctx->lock	objects of a process; held while they are made or ended
 *	dev->lock	slots; held for a look at a table, as nothing sleeps inside
 *	dev->cmd_lock	the firmware's mailbox; command and answer
 *	fl_own.lock	tables of the driver's own
 *	dev->irq_lock	(spinlock, interrupts off) what the top halves look at
 *	ctx->bank_lock	(spinlock, interrupts off) registers of one context bank
 *	ctx->list_lock	(spinlock, inside nothing else) regions
 *	fl_psdma.lock	(spinlock, interrupts off; inside nothing else) the DMA channel
 *	ctx->queue_lock	queue memory; nothing else is locked inside
 *	ctx->ahead.lock	(spinlock, inside nothing else) what is brought in ahead
 *	ctx->plan.lock	(spinlock, inside nothing but ctx->lock) what plans have learnt
 * The mmap lock of a process is taken inside ctx->life; what runs under it
 * (mmap, munmap, the notifier; filling tables of the driver's own) takes spinlocks,
 * ctx->queue_lock and fl_own.lock only. Nobody waits for pages with ctx->lock held, which
 * poll() takes. sink.serving, sink.lock: fl_sink.h; fl_nic.lock, fl_xp.lock: fl_nic.h.
 */
#ifndef FL_DEV_H
#define FL_DEV_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "faultline/entries.h"
#include "faultline/plan.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "faultline/uapi.h"
#include "fl_nic.h"
#include "fl_sink.h"
#include "fl_event.h"
#include "fl_psdma.h"
#include "fl_snoop.h"

/* The card and its SMMU page in units of 4 KB (regs.def; smmu.def, TCR.TG0). */
#define FL_PAGE_SHIFT	12
#define FL_PAGE_SIZE	SZ_4K

#define FL_SLOTS	NIC_DB_COUNT	/* processes at a time */
#define FL_SIDES	2		/* transmit and receive contexts */
#define FL_CONTEXTS	NIC_RXC_COUNT	/* of one side at most */

/* sources: smmu-ids: TBU and AXI ID of the first slot, if no property says */
#define FL_STREAM_BASE	0x200
#define FL_DMA_BITS	48	/* the same for faultline,queue-bits */
/*
 * A slot uses this many stream IDs in turn, one after the other process: what
 * the card still does for an earlier owner then matches no group any more.
 * sources: smmu-ids: the port has 64, for 16 slots.
 */
#define FL_STREAM_TURNS	4

/*
 * What one process may hold. The firmware has 64 domains, 1024 regions and 256
 * queue pairs and completion queues for 16 processes; one process may take
 * more than a sixteenth while others are idle, but not all.
 */
#define FL_FILES_MAX	2
/* Of all processes of one user: two users do not keep each other out. */
#define FL_USER_FILES_MAX (FL_SLOTS / 2)
/* Of one file: */
#define FL_PDS_MAX	16
#define FL_MRS_MAX	256
#define FL_CQS_MAX	64
#define FL_QPS_MAX	64
#define FL_SRQS_MAX	16
#define FL_COUNTERS_MAX	64
#define FL_QUEUE_MAX	32768		/* entries; entries.def, FL_CMD */
#define FL_QUEUE_BYTES_MAX (8u << 20)		/* of all queues together */
/* Beside RLIMIT_MEMLOCK. */
#define FL_PIN_PAGES_MAX (SZ_512M >> PAGE_SHIFT)

#define FL_EQ_ENTRIES	1024	/* one per CQ and QP, and room to be late */

struct fl_ctx;
struct fl_tables_ops;
struct fl_window;

/* One fault report of the engine (regs.def, FLT_*). */
struct fl_fault_event {
	u64 owner;		/* id of the struct fl_ctx on the slot then */
	u32 slot;
	u32 ref;		/* FLT_REF */
	u64 va;
	u32 len;
	u32 map;
	u64 left;
	u32 xfer, block;
	bool counted;		/* when the SMMU held the access */
	bool answered;		/* the block has failed, at once (abort) */
	bool stuck;		/* not so: its pages could not be had before */
};

/* A block whose held access was refused in the end; its report is to come. */
struct fl_refused {
	u64 owner;		/* id of the struct fl_ctx; 0: none */
	u32 xfer, block;
};

/*
 * Work for one context of the engine. A context has at most one fault that
 * is alive, so a report that comes while an older one waits here replaces it:
 * the old one was ended by the engine, and its READY would change nothing.
 */
struct fl_fault_work {
	struct work_struct work;
	struct fl_dev *dev;
	struct fl_fault_event event;	/* dev->irq_lock */
	bool waiting;			/* dev->irq_lock: event not taken yet */
	struct fl_refused refused;	/* dev->irq_lock */
};

struct fl_dev {
	struct device entry;	/* /dev/faultline*; its references are ours */
	struct cdev cdev;
	struct device *dev;
	void __iomem *smmu;
	void __iomem *nic;
	phys_addr_t nic_pa;	/* for mapping doorbells */
	struct fl_window *window;	/* instead of these (fl_window.h) */
	const struct arm_smmu_reserved *lent;	/* fl_smmu.h; NULL: the SMMU is ours */
	int irq_smmu, irq_fault, irq_event;
	u32 index;		/* in its name, and in traces */
	struct workqueue_struct *wq;

	u32 stream_base;
	u32 queue_bits;		/* of address, that the firmware's processor has */
	u32 system;		/* of a new process; enum fl_system */
	u32 resolve;		/* of a new process; enum fl_ioc_resolve */
	u32 resolve_number;	/* of around:N; else 0 */
	const struct fl_plan_own *own_plan;	/* that came with the board, or NULL */
	u32 block_bytes, node, max_qp, max_cq, max_mr;
	unsigned int contexts[FL_SIDES];

	struct mutex lock;	/* slots */
	bool gone;		/* changed under lock */
	struct list_head files;	/* that are open; lock */
	struct fl_ctx *slot[FL_SLOTS];	/* changed under lock and irq_lock */
	unsigned int next_slot;
	u8 slot_turn[FL_SLOTS];		/* which stream ID is next */
	u64 opened;		/* how often; names a struct fl_ctx */

	struct mutex cmd_lock;	/* the mailbox: one command at a time */
	bool fw_dead;		/* it did not answer once; cmd_lock */

	spinlock_t irq_lock;	/* what the top halves look at */
	struct fl_cq **cq;	/* by number; irq_lock */
	struct fl_qp *qp[256];	/* by place; irq_lock */
	struct fl_srq *srq[FL_CARD_SRQS];	/* by number; irq_lock */
	struct fl_counter *counter[FL_CARD_COUNTERS];	/* number - 1; irq_lock */
	struct fl_eqe *eq;
	dma_addr_t eq_dma;
	u32 eq_cons;		/* event interrupt only */
	struct fl_fault_work work[FL_SIDES][FL_CONTEXTS];
	struct fl_psdma psdma;
	struct fl_xp xp;
};

/* What a bank reported last and no page can cure; ctx->bank_lock. */
struct fl_hard_fault {
	bool valid;
	u64 page;
};

/* A held transaction (stall mode); ctx->bank_lock. */
struct fl_stalled {
	u32 fsynr0;
	u64 far;
};

/* Fault in for the device what one fault asks for (policy of the process). */
struct fl_fault_request {
	u64 va;			/* of the block, or of the held access */
	u32 len;		/* up to the end of the block */
	u64 left;		/* of the transfer after that */
	u32 map;		/* missing pages, from the first one on */
	bool write;
	u32 xfer, block;
};

/* What is left to be brought in ahead, for the fault that asked first. */
struct fl_ahead_range {
	struct fl_range r;
	bool onwards;		/* what lies before a later one is done with */
	struct fl_fault_request request;
};

/*
 * Pages beyond the blocks that faulted (fl_ahead.c). One worker of a process is
 * at it, so that of several faults of one transfer not each walks the same rest.
 */
#define FL_AHEAD_RANGES	16
struct fl_ahead {
	struct work_struct work;
	spinlock_t lock;	/* all below; nothing else is locked inside */
	bool closed;
	bool walking;		/* the worker has taken this one out: */
	struct fl_ahead_range now;
	unsigned int n;
	struct fl_ahead_range range[FL_AHEAD_RANGES];
};

/* What the plan of a process has learnt (fl_plan.c); all under its lock. */
#define FL_PLAN_REGIONS	8
struct fl_plan_region {
	struct fl_range region;
	u32 write;
	u64 used;		/* 0: nothing here; else the larger, the later */
	struct fl_plan_state state;
};

struct fl_plan_memory {
	spinlock_t lock;	/* all below; nothing else is locked inside */
	u64 asked;
	struct fl_plan_region region[FL_PLAN_REGIONS];
};

/* Tables that the driver keeps itself, for one row of system.def (fl_tables_own.c). */
struct fl_own_table;
struct fl_own {
	struct fl_ctx *ctx;
	struct mutex lock;		/* all below */
	struct dma_pool *pool;		/* that they are of */
	struct fl_own_table *root;	/* NULL: the process has others */
	struct list_head regions;	/* inserted: that are entered, newest first */
};

/* Pages that a process finds where the card was (fl_dummy.c). */
enum fl_dummy { FL_DUMMY_DOORBELL, FL_DUMMY_QUEUE, FL_DUMMIES };

struct fl_ctx {
	struct kref ref;
	struct fl_dev *dev;
	struct list_head list;	/* of the card's files; dev->lock */
	struct mm_struct *mm;	/* mmgrab: the struct, not the address space */
	kuid_t uid;		/* who opened it */
	u64 id;
	unsigned int slot;	/* bank, stream match group, doorbell page */
	u32 stream;
	u32 asid, t0sz;
	const struct fl_tables_ops *tables;	/* WRITE_ONCE under lock */
	phys_addr_t root;	/* of these; with tables */
	struct mmu_notifier notifier;
	struct address_space *mapping;	/* of the file, while it is open */
	void *dummy[FL_DUMMIES];

	struct mutex life;	/* it begins, or ends */
	bool ended, closed;	/* life */
	struct work_struct end_work;
	struct mutex lock;	/* its objects */
	bool dead;		/* it ends, or has been cut off */
	u32 system;		/* that its row is, or was derived from; lock */
	struct fl_system_row row;	/* what counts; lock */
	bool derived;		/* it is not that of the number; lock */
	bool aborting;		/* fl_row_aborts(&row); WRITE_ONCE under lock */
	u32 resolve, resolve_number;	/* change under lock and plan.lock */
	u32 silent;		/* FL_SILENT_*, as the card knows; lock */
	u32 aborts;		/* FL_ABORT_*, the same */
	u32 packets;		/* FL_ROW_*, the same */
	u32 quirks;		/* FL_QUIRK_*, the same */
	struct {
		u32 bits;	/* fl_policy.ring_bits, the same */
		u32 slots;	/* fl_policy.ring_slots; lock */
	} ring;
	struct list_head pds, mrs, cqs, qps, srqs, counters;
	unsigned int npd, nmr, ncq, nqp, nsrq, ncounter;
	unsigned int nmr_moving;	/* regions that begin or end, without lock */
	bool copying;		/* fl_psdma_copy(); lock */
	u64 next_offset;	/* for mmap */
	u64 queue_bytes;
	atomic64_t pinned;	/* pages */
	u64 pin_limit;		/* of the process, as it was last seen (fl_pin.c) */
	bool pin_free;		/* it was allowed to pin without limit */
	struct mutex queue_lock;	/* queue memory */
	struct list_head queues;	/* queue_lock */
	/* Changing mrs takes lock and list_lock, looking takes one of them. */
	spinlock_t list_lock;

	spinlock_t bank_lock;	/* registers of the bank, and what follows */
	bool draining;		/* hold no access any more; bank_lock */
	bool lost;		/* cut off for good; changed under bank_lock */
	u32 sctlr;
	struct fl_stalled stalled;
	struct fl_hard_fault hard;
	struct work_struct stall_work;
	/* What could not be brought in behind an answer; dev->irq_lock. */
	struct fl_range stuck;
	struct fl_ahead ahead;
	struct fl_own inserted, ondemand, sunk, carded, shadowed;
	struct fl_nic nic;
	struct fl_sink sink;
	struct fl_plan_memory plan;
	struct fl_snoop snoop;
	struct fl_events news;

	wait_queue_head_t wait;	/* completion queue events, and the end */
	atomic64_t faults, faults_src, faults_dst, pages_in, resolves, failed,
		   spurious, invalidations, stalls, lost_syncs;
};

struct fl_pd {
	struct list_head list;
	u32 number;
};

#define FL_ACC_WRITES	(FL_ACC_LOCAL_WRITE | FL_ACC_REMOTE_WRITE | \
			 FL_ACC_REMOTE_ATOMIC)

struct fl_mr {
	struct list_head list;
	u32 key, access, pd;
	u64 addr, length;
	bool implicit;		/* all that the process can have */
	struct page **pages;	/* pinned, or NULL */
	struct list_head entered;	/* inserted: of fl_own.regions */
	unsigned long npages;
	struct fl_sunk sunk;
	struct fl_carded carded;
};

/* fl_main.c: the core, whatever bus the card was found on */
struct fl_resources {
	void __iomem *smmu, *nic;
	void __iomem *psdma;	/* NULL: none */
	phys_addr_t nic_pa;
	struct fl_window *window;	/* instead of these, or NULL */
	struct arm_smmu_reserved *lent;	/* by Linux's arm-smmu (fl_smmu.h), or NULL */
	int irq_smmu, irq_fault, irq_event, irq_psdma;
	u32 index;		/* if no property says */
};

extern struct class fl_class;
int fl_probe(struct device *dev, const struct fl_resources *res);
void fl_remove(struct device *dev);
/* The machine stops, or another kernel takes it over: so does the card. */
void fl_shutdown(struct device *dev);
/* The machine has slept, and the card has not. */
void fl_pm_resume(struct device *dev);

/* fl_ref.c */
void fl_dev_get(struct fl_dev *dev);
void fl_dev_put(struct fl_dev *dev);
/* The process on a slot, with a reference, or NULL. */
struct fl_ctx *fl_ctx_on(struct fl_dev *dev, unsigned int slot);
/*
 * The same if it is the one with this id. Not in a top half, which must not give the last
 * reference back.
 */
struct fl_ctx *fl_ctx_get(struct fl_dev *dev, unsigned int slot, u64 id);
void fl_ctx_put(struct fl_ctx *ctx);
/* Whoever sleeps on the card looks again. */
void fl_wake_all(struct fl_dev *dev);
/* Its address space ends; the file may go on in a child. Does not sleep. */
void fl_ctx_owner_gone(struct fl_ctx *ctx);

/* fl_ctx.c */
extern const struct file_operations fl_fops;

/* fl_life.c */
struct fl_ctx *fl_ctx_new(struct fl_dev *dev, struct file *file);
/* On the card; or negative errno, and only fl_ctx_put() is left to do. */
int fl_ctx_start(struct fl_ctx *ctx);
/* Nobody has the file any more. */
void fl_ctx_close(struct fl_ctx *ctx);
/* Take all processes off the card, which opens for nobody any more. */
void fl_life_end(struct fl_dev *dev);
/* The same at once, whatever they are doing: nobody will tidy up after it. */
void fl_life_cut(struct fl_dev *dev);
/* Those that have a bank hear -ENODEV from now on; how many. Others may open. */
unsigned int fl_life_cut_banks(struct fl_dev *dev);

/* fl_bank.c */
int fl_smmu_reset(struct fl_dev *dev);
void fl_smmu_off(struct fl_dev *dev);
int fl_bank_prepare(struct fl_ctx *ctx);	/* T0SZ, ASID */
void fl_bank_unprepare(struct fl_ctx *ctx);
/* -EIO: the TLB does not synchronise; -ENODEV: cut off before it began. */
int fl_bank_on(struct fl_ctx *ctx);
/* Refuse its stream for good, and end the access that is held. */
void fl_bank_cut(struct fl_ctx *ctx);
/* From now on every walk fails; translations are gone when it returns. */
void fl_bank_block(struct fl_ctx *ctx);
void fl_bank_off(struct fl_ctx *ctx);
/* Accesses that fault from now on are stalled, or terminated. */
void fl_bank_set_holds(struct fl_ctx *ctx, bool holds);
/* ctx->root is another one. -EIO, -ENODEV: as fl_bank_on(). */
int fl_bank_root(struct fl_ctx *ctx);

/* What a walk would find. */
enum fl_found {
	FL_ABSENT,
	FL_REFUSED,		/* a page; without the right or the flag */
	FL_GRANTED,
};

/* fl_bank.c again */
/*
 * When it returns, no access of the card uses an old translation of the range.
 * leaf: no page table has gone. Does not sleep. xfer, block: for traces.
 */
void fl_bank_invalidate(struct fl_ctx *ctx, struct fl_range r, bool leaf,
			u32 xfer, u32 block);

/* fl_fault.c: the top halves of a fault, and its worker */
irqreturn_t fl_irq_smmu(int irq, void *arg);
irqreturn_t fl_irq_fault(int irq, void *arg);
/*
 * The held access of this block was counted, and is refused now: its report is
 * not another fault.
 */
void fl_fault_refused(struct fl_ctx *ctx, u32 side, u32 index, u32 xfer,
		      u32 block);
void fl_fault_init(struct fl_dev *dev);

/* fl_system.c: what a row of system.def means for driver, bank and card */
/* system < FL_SYSTEMS. */
const struct fl_system_row *fl_system_row(u32 system);
/* May a process have such a row (system_rules.h)? */
bool fl_row_allowed(const struct fl_system_row *row);
/* Accesses are stalled. */
bool fl_row_holds(const struct fl_system_row *row);
/* The driver reads requests before the card does. */
bool fl_row_snoops(const struct fl_system_row *row);
/* A block that lacks pages as a destination is answered before they come. */
bool fl_row_aborts(const struct fl_system_row *row);
/*
 * The card keeps to the row from now on. -EOPNOTSUPP: it cannot; or as fl_cmd(). ctx->lock
 * is held, or nobody else has the file yet.
 */
int fl_row_tell_card(struct fl_ctx *ctx, const struct fl_system_row *row,
		     u32 quirks, u32 bits);

/* fl_stall.c */
void fl_stall_work(struct work_struct *work);
/* Let go what the bank still holds; the worker is not running. */
void fl_stall_end(struct fl_ctx *ctx);
/* The same at any time; bank_lock is held, and nothing is held later. */
void fl_stall_cut(struct fl_ctx *ctx);

/* fl_populate.c: asking the kernel for pages */
struct fl_populated {
	u64 pages_in, present;
	u64 cured;		/* present, but the card was not allowed */
	struct fl_range old;	/* holds all that were present */
	u64 end;		/* not asked for from here on */
};

/*
 * Caller holds a reference on the address space (mmget). ahead: it is a guess,
 * and ends where memory becomes scarce.
 */
int fl_populate(struct fl_ctx *ctx, struct fl_range r, bool write, bool ahead,
		struct fl_populated *t);
/* The same, with another way to ask for a part, as fl_tables_ops.fill. */
typedef int fl_fill_fn(struct fl_ctx *ctx, struct fl_range r, bool write,
		       struct fl_populated *t);
int fl_populate_with(struct fl_ctx *ctx, struct fl_range r, bool write, bool ahead,
		     fl_fill_fn *fill, struct fl_populated *t);
/* The mmap lock is held: may the card have a page of vma (NULL: nothing is mapped there)? */
int fl_populate_allowed(struct mm_struct *mm, const struct vm_area_struct *vma,
			bool write);
/* A page was brought in, or was there; found before that. */
void fl_populated_one(struct fl_populated *t, u64 va, enum fl_found found);
/* A part, with the mmap lock held, into the tables of the process. */
int fl_populate_locked(struct fl_ctx *ctx, struct fl_range r, bool write,
		       struct fl_populated *t);
bool fl_range_make(u64 addr, u64 length, struct fl_range *r);
struct fl_range fl_range_pages(struct fl_range r);
int fl_request_resolve(struct fl_ctx *ctx,
		       const struct fl_fault_request *request);
/* One request to the kernel, counted and traced. As fl_populate(). */
int fl_request_range(struct fl_ctx *ctx, const struct fl_fault_request *request,
		     struct fl_range r, bool ahead, struct fl_populated *t);
/* After that: entries of the TLB that are in the way. */
void fl_populated_forget(struct fl_ctx *ctx, const struct fl_populated *t,
			 const struct fl_fault_request *request);

/* fl_ahead.c */
void fl_ahead_init(struct fl_ctx *ctx);
/*
 * A worker will bring in r, after a fault that asked for it. onwards: it is the
 * rest of a transfer. Does not sleep.
 */
void fl_ahead_add(struct fl_ctx *ctx, const struct fl_fault_request *request,
		  struct fl_range r, bool onwards);
/* No worker is at it any more, and none will be. */
void fl_ahead_end(struct fl_ctx *ctx);

/* fl_plan.c: how much, as the process has chosen */
void fl_plan_init(struct fl_ctx *ctx);
/* Another plan, which has learnt nothing yet. */
void fl_plan_set(struct fl_ctx *ctx, u32 resolve, u32 number);
/* number of fault is filled in; what bring says holds (fl_plan_clamp). */
void fl_plan_make(struct fl_ctx *ctx, struct fl_plan_fault *fault,
		  struct fl_plan_bring *bring);
/* Is there such a plan, and does it take this number? */
bool fl_plan_known(const struct fl_dev *dev, u32 resolve, u32 number);

/* fl_notifier.c */
extern const struct mmu_notifier_ops fl_notifier_ops;

/* fl_mr.c */
int fl_mr_reg(struct fl_ctx *ctx, struct fl_reg_mr *a);
int fl_mr_dereg(struct fl_ctx *ctx, u32 key);
int fl_mr_prefetch(struct fl_ctx *ctx, const struct fl_prefetch *a);
void fl_mr_free_all(struct fl_ctx *ctx);

/* fl_region.c */
/* ctx->lock is held; NULL: there is none. */
struct fl_mr *fl_mr_by_key(struct fl_ctx *ctx, u32 key);
/* The region that holds the block; -EFAULT there is none, -EACCES. */
int fl_mr_find(struct fl_ctx *ctx, u64 va, u32 len, bool write,
	       struct fl_range *region);
/* Does the region let the card write? */
bool fl_mr_writes(const struct fl_mr *mr);

/* fl_pin.c */
void fl_pin_init(struct fl_ctx *ctx);
/* Before pinning; -EDQUOT. Also in a worker, for the process that ctx is of. */
int fl_pin_reserve(struct fl_ctx *ctx, u64 npages);
void fl_pin_give_back(struct fl_ctx *ctx, u64 npages);
/* Bring its pages in, pin and count them; ctx->lock is not held. */
int fl_mr_pin(struct fl_ctx *ctx, struct fl_mr *mr, struct fl_range r);
/* If it has any. */
void fl_mr_unpin(struct fl_ctx *ctx, struct fl_mr *mr);

/* fl_pd.c */
struct fl_pd *fl_pd_find(struct fl_ctx *ctx, u32 number);
int fl_pd_alloc(struct fl_ctx *ctx, struct fl_alloc_pd *a);
int fl_pd_dealloc(struct fl_ctx *ctx, u32 number);
void fl_pd_free_all(struct fl_ctx *ctx);

#include "fl_queue.h"

/* fl_dummy.c */
int fl_map_prepare(struct fl_ctx *ctx);
void fl_map_free(struct fl_ctx *ctx);
vm_fault_t fl_map_fault(struct vm_fault *vmf);

/* fl_map.c */
/* No mapping leads to the card any more; dev->gone and ctx->dead are set. */
void fl_map_end(struct fl_ctx *ctx);
int fl_mmap(struct file *file, struct vm_area_struct *vma);

/* fl_platform.c */
extern struct platform_driver fl_platform_driver;

/* fl_cmd.c: commands to the firmware */
/* slot is filled in. 0 and *result (may be NULL), or negative errno. */
int fl_cmd(struct fl_ctx *ctx, struct fl_fw_cmd *cmd, u64 *result);
int fl_cmd_object(struct fl_ctx *ctx, u32 opcode, u32 object);

#endif
