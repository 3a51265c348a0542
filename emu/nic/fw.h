/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw.h - the NIC's firmware: what exists, and what is to be done next.
 *
 * Queue pairs, completion queues, regions, domains, work requests, protection
 * checks, cutting messages into blocks, choosing the next block (fair, skipping
 * who waits), timers, retry and give-up, completions in order. It drives the
 * engine through registers and reads queues in memory by physical address.
 *
 * Freestanding C11: no OS call, no libc beyond memcpy and memset, no
 * allocation, no global state; also an image for a Cortex-R5 (rtl/zu/r5).
 * One struct fw is one firmware.
 *
 * Files: fw.c (front door, step), fw_regs.c (mailbox, doorbells), fw_command.c
 * (the driver's commands), fw_qp.c (queue pairs and their send queues),
 * fw_requester.c (blocks of work requests), fw_responder.c (what comes in, READ
 * jobs), fw_order.c (in which order), fw_context.c (the engine's contexts),
 * fw_resident.c (blocks that need no engine), fw_again.c (requests that are like the last),
 * fw_cq.c, fw_mr.c, fw_event.c (events for the
 * driver), fw_sched.c (fairness), fw_timer.c, fw_check.c. Of queue pairs whose requests a
 * packet unit carries: fw_modify.c (states), fw_work.c (work requests), fw_recv.c (receive queues),
 * fw_count.c (event counters), fw_unit.c (what the unit asks).
 *
 * Calls for one firmware are made one at a time: the caller holds the device's
 * lock.
 */
#ifndef FL_FW_H
#define FL_FW_H

#include <stdbool.h>
#include <stdint.h>

#include "faultline/device.h"
#include "nic/transport/transport.h"

#define FW_SLOTS	16
#define FW_PDS		64
#define FW_QPS		DEV_QPS
#define FW_CQS		DEV_CQS
#define FW_MRS		DEV_MRS
#define FW_SRQS		64
#define FW_COUNTERS	128
#define FW_READ_JOBS	64
#define FW_CTXS		16
#define FW_NODES	64
/*
 * Work requests of one queue pair that the firmware holds at once; the others
 * stay in the queue's memory until the oldest has completed.
 */
#define FW_QP_WRS	32
#define FW_NEVER	UINT64_MAX
/*
 * A queue pair's number: its place in the table, and above that how often the place
 * was used before. So a peer never takes a new queue pair for one that is gone. */
#define FW_QP_PLACE_BITS	8
#define FW_QP_PLACE(number)	((number) & ((1u << FW_QP_PLACE_BITS) - 1))
#define FW_LINE_EVENT	2	/* number of the firmware's line, for env.irq */

struct fw;
struct engine;

/* Packet units beside the engine. */
enum fw_transports { FW_TRANSPORT_RC, FW_TRANSPORT_UD, FW_TRANSPORT_NV, FW_TRANSPORTS };

/* What a step spent its time on; the board turns it into ns. */
enum fw_cost {
	FW_COST_WQE,
	FW_COST_BLOCK,
	FW_COST_EVENT,		/* of the engine */
	FW_COST_CQE,		/* or an event for the driver */
	FW_COST_COMMAND,
	FW_COSTS
};

/* The rest of a WRITE, for the resident step: what its next block would say. */
struct fw_resident {
	uint64_t lva, rva, cause;
	uint32_t len, rkey, qpn, ref, src, xfer, block;
	uint32_t bytes;		/* of the whole request */
	uint16_t index;		/* its */
	uint16_t stream;
	uint8_t node, ctx;
	bool begins;		/* it is not in the trace yet, and so has no cause here */
	bool missing;		/* said by the card: the page of what did not go is not there */
};

struct fw_env {
	void *ctx;
	/*
	 * Registers of the engine; offsets of regs.def, size 4 or 8. Never fail for what
	 * the firmware does. What engine points to is theirs alone.
	 */
	struct engine *engine;
	int (*reg_read)(struct engine *engine, uint32_t off, unsigned int size,
			uint64_t *value);
	int (*reg_write)(struct engine *engine, uint32_t off,
			 unsigned int size, uint64_t value);
	/*
	 * Memory by physical address, for queues. 0, or negative: bus error.
	 * mem_read of a work request copies once. mem_publish writes the last 4
	 * bytes of an entry after all earlier writes are visible (store
	 * release).
	 */
	int (*mem_read)(void *ctx, uint64_t pa, void *buf, uint32_t len);
	int (*mem_write)(void *ctx, uint64_t pa, const void *buf,
			 uint32_t len);
	int (*mem_publish)(void *ctx, uint64_t pa, uint32_t value);
	/*
	 * Where all of that memory is, to be used until anything else is called for this
	 * firmware than struct fw_again is good for. NULL: nowhere. The call may be NULL too.
	 */
	void *(*mem)(void *ctx, uint64_t pa, uint64_t len);
	/*
	 * The resident step: bytes from the front of r, in whole blocks or to its end, that
	 * are at the peer now, both sides as if engine and firmware had brought them there;
	 * 0: none, and nothing has changed. NULL: there is none.
	 */
	uint32_t (*resident)(void *ctx, struct fw_resident *r);
	/*
	 * They come into the trace, before anything else does. ends: with FW_COMPLETE of
	 * the request, which has ended well. Returns the last event of the request, or
	 * FW_COMPLETE.
	 */
	uint64_t (*resident_tell)(void *ctx, bool ends);
	/* A doorbell need not wait for fw_step() when the resident step is all it takes. */
	bool at_once;
	void (*irq)(void *ctx, unsigned int line, bool level);
	/* There is work: call fw_step soon. */
	void (*kick)(void *ctx);
	/*
	 * Call fw_step at when_ns; replaces the alarm before. FW_NEVER: none.
	 */
	void (*alarm)(void *ctx, uint64_t when_ns);
	/*
	 * A number that nobody can foresee, for the key of a region; 0, or negative:
	 * there is none now.
	 */
	int (*random)(void *ctx, uint32_t *value);
	/*
	 * Trace; event is an enum trace_event number. Returns its sequence
	 * number. May be NULL.
	 */
	uint64_t (*trace)(void *ctx, unsigned int event, uint32_t xfer,
			  uint32_t block, uint64_t cause, uint64_t a0,
			  uint64_t a1, uint64_t a2, uint64_t a3);
	/*
	 * The packet units, made with fw_unit() before the firmware was. NULL: this card
	 * has none of the kind, and QP_CREATE with its flag is refused.
	 */
	const struct fw_transport *transport[FW_TRANSPORTS];
	/*
	 * SLOT_ROW: what becomes of pages that packets of a process lack (FL_ROW_*).
	 * NULL: this card has nobody to tell, and the command is refused.
	 */
	void (*slot_row)(void *ctx, uint32_t slot, uint32_t row,
			 uint64_t quirks, uint64_t bits);
};

struct fw_config {
	uint8_t node;
	uint8_t nodes;			/* that the engine can send to; 0: FW_NODES */
	uint64_t timeout_ns;		/* FLYING */
	uint64_t fault_timeout_ns;	/* DSTFAULT */
	uint32_t tries;			/* silent time-outs in a row */
	uint32_t refusals;		/* of one block, by either side's SMMU */
	uint32_t waiting_share;		/* contexts of who waits for a page */
	uint64_t busy_ns;		/* until a peer without room is asked again */
	uint32_t features;		/* register FEATURES: what else the card has */
	uint64_t reach;			/* queues must lie below; 0: anywhere */
	bool may_be_silent;		/* what stands at the wire asks fw_is_silent() */
	/*
	 * What QP_CONNECT gives a reliable connection: mtu, rnr_code, retries,
	 * rnr_tries, timeout, rd_atomic and dest_rd_atomic count. mtu 0: the values that
	 * fw_modify.c has.
	 */
	struct fw_pair connect;
};

struct fw_stats {
	uint64_t wqes, bad_wqes, blocks, completions, errors, timeouts, events,
		 commands, rx_checks, rx_refused, read_jobs;
	/*
	 * Of rx_refused, what the peers were not told: key, range and rights are one
	 * status to them, and so is all that can be wrong with a queue pair.
	 */
	uint64_t refused_key, refused_range, refused_rights, refused_qp;
	uint32_t open_slots;	/* now */
};

/* Bytes that one firmware needs (static memory on the R5). */
unsigned long fw_size(void);
/*
 * mem: fw_size() bytes, 64-byte aligned, kept by the caller. Reads ENG.PARAM,
 * so the engine must be there. NULL: the configuration or PARAM makes no sense.
 */
struct fw *fw_init(void *mem, const struct fw_config *cfg,
		   const struct fw_env *env);

/*
 * What a packet unit of this firmware needs. mem: as for fw_init(), which may come later:
 * it takes the unit's own calls (fw_env.transport).
 */
struct fw_unit_ops fw_unit(void *mem);

/*
 * The pages FW and DB; off from the start of the NIC window. 0, or -EINVAL when
 * refused: nothing changes, a refused write is event ENG_BAD_REG.
 */
int fw_reg_read(struct fw *fw, uint32_t off, unsigned int size,
		uint64_t *value);
int fw_reg_write(struct fw *fw, uint32_t off, unsigned int size,
		 uint64_t value);

/* The engine's event line is high: it has notes for the firmware. Low after fw_init(). */
void fw_engine_line(struct fw *fw, bool level);

/* The ring of fault records (page XP) is not empty. Low after fw_init(). */
void fw_fault_line(struct fw *fw, bool level);

/*
 * One piece of work: a command, an engine event, a work request, a block, a
 * timer. costs[] counts what it did (indexed by enum fw_cost; the caller clears
 * it). True: it did something, and there may be more. False: nothing to do
 * until the next kick, engine event or alarm.
 */
bool fw_step(struct fw *fw, uint64_t now_ns, uint32_t costs[FW_COSTS]);

/*
 * Would a step find work? True when in doubt: it only spares whose steps take no time
 * the last one, which finds nothing.
 */
bool fw_due(const struct fw *fw, uint64_t now_ns);

void fw_stats(const struct fw *fw, struct fw_stats *st);

/*
 * The engine would tell node's context ctx that pages are missing for its block, or that they
 * have come: is this one of those that hear nothing (FL_CMD_SLOT_SILENT)?
 */
bool fw_is_silent(const struct fw *fw, uint8_t node, uint8_t ctx);

/*
 * The responder's half of a resident step: what the firmware knows of requests from one
 * queue pair to one region. It holds as long as nothing is called for this firmware but what
 * follows here, and the doorbell CQ_CONS.
 */
struct fw_landing {
	struct fw_qp *qp;
	const struct fw_mr *mr;
	struct fw_peer *peer;
	uint32_t key;		/* of the region */
	uint16_t place;		/* of the queue pair */
	uint16_t stream;	/* of its process */
};

/* May node's firmware write to the region of r? Else false, and l means nothing. */
bool fw_landing_find(struct fw *fw, uint8_t node, const struct fw_resident *r,
		     struct fw_landing *l);
/* May it write all of r, now? */
bool fw_landing_may(const struct fw *fw, const struct fw_landing *l,
		    const struct fw_resident *r);
/* So many bytes have landed, in blocks from that one on; gen: of the last, in the engine. */
void fw_landing_done(struct fw *fw, const struct fw_landing *l, const struct fw_resident *r,
		     uint32_t block, uint32_t bytes, uint16_t gen);

/*
 * The requester's half, for requests that are like the last one of their queue pair: all of it
 * went by the resident step at its doorbell, and left nothing to do. What is known of the queue
 * pair then holds as long as nothing is called for this firmware but what follows here, the
 * doorbell CQ_CONS, and doorbells of send queues that leave nothing to do either.
 */
struct fl_wqe;
struct fl_cqe;
struct fw_again {
	struct fw_qp *qp;
	struct fw_cq *cq;
	const struct fw_mr *mr;		/* the region of the last request */
	const struct fl_wqe *sq;	/* their memory */
	struct fl_cqe *cqe;
	uint32_t lkey;			/* of mr */
	uint32_t qpn;
	uint32_t cq_mask;		/* sizes - 1 */
	uint16_t sq_mask;
	uint16_t stream;
};

/* False: its next request may be another matter. place: of the queue pair. */
bool fw_again_find(struct fw *fw, uint32_t place, struct fw_again *a);
/*
 * Copy the next of the requests up to tail. May it go to l, as both firmwares see it? False:
 * it has not been copied, and fw_reg_write() says what becomes of it.
 */
bool fw_again_next(const struct fw_again *a, const struct fw_landing *l, uint16_t tail,
		   struct fl_wqe *w);
/* So many blocks of w have landed at l, whose firmware that is; gen: as above. */
void fw_again_landed(struct fw *fw, const struct fw_landing *l, bool relaxed, uint32_t blocks,
		     uint16_t gen);
/* w has ended, with this record. True: no other is posted. */
bool fw_again_done(struct fw *fw, const struct fw_again *a, const struct fl_wqe *w,
		   uint32_t blocks, uint64_t event, uint16_t tail);

/* Nothing is in flight and no queue has work that could be started. */
bool fw_idle(const struct fw *fw);

/*
 * Consistency of all tables (for the checker): NULL, or a sentence that says
 * what is wrong. Cheap enough for every step in lockstep.
 */
const char *fw_check(const struct fw *fw);

#endif
