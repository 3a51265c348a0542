/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.h - the block engine: N block contexts over one data path.
 *
 * The hardware half of the NIC, mirrored by rtl/. It moves blocks of at most 16
 * KB (by default): a transmit context carries one out, a receive context
 * collects one. The state of a context is its owner (fsm.def). A block is cut
 * into bursts that never cross a 4 KB page, so that one burst is at most one
 * fault.
 *
 * The engine has no clock, no timers, no random numbers and no thread. Software
 * reaches it through registers only (regs.def, pages ENG, CTX, RXC). Its
 * decisions depend on its inputs: register writes, frames, answers of the
 * memory port.
 *
 * It has two channels, each a step function: the read channel takes READY
 * transmit contexts round robin, reads the block burst by burst into a buffer
 * and, when every burst was good, sends it cell by cell; the write channel
 * takes receive contexts in state WRITE and writes them burst by burst. A burst
 * has two phases (begin: translate; end: data moves), so that time can pass
 * between them. A held burst (SMMU stall) stops its channel, as a bus does.
 */
#ifndef FL_ENGINE_H
#define FL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct engine_cause;	/* trace/cause.h */
struct trace;
struct trace_at;
struct wire_frame;

#define ENGINE_CTX_MAX	16
#define ENGINE_RXC_MAX	32
#define ENGINE_BLOCK_MAX 65536
#define ENGINE_PAGE	4096
#define ENGINE_LINE_FAULT 0	/* number of the fault line, for env.irq */
#define ENGINE_LINE_EVENT 1	/* to the firmware: there are events */

enum dma_status {
	DMA_OK,
	DMA_SLVERR,	/* the SMMU refused the burst */
	DMA_DECERR,	/* nobody at this address, or the memory failed */
	DMA_STALLED,	/* the SMMU holds it; engine_burst_resume() follows */
};

struct dma_burst {
	/* in */
	uint16_t stream;
	bool write;
	uint8_t channel;	/* 0 read, 1 write; one burst each at a time */
	uint64_t va;
	uint32_t len;		/* never crosses a 4 KB page */
	uint64_t now_ns;
	uint64_t cause;		/* trace */
	uint32_t xfer, block, attempt;	/* block: of packet units, burst of the packet */
	uint32_t object;	/* of packet units: table.h, in place of stream */
	/* out of begin */
	uint64_t pa;
	uint64_t delay_ns;	/* until the data (or the refusal) is there */
	uint64_t event;		/* trace: the outcome */
	uint64_t port[4];	/* for the port's own use until end */
};

/* None of these may call back into the same engine. */
struct engine_env {
	void *ctx;
	/*
	 * Begin: translate and open a read-side section. DMA_OK: end must
	 * follow and may still answer DMA_DECERR. DMA_SLVERR, DMA_DECERR: it is
	 * over. DMA_STALLED: the port will call engine_burst_resume(channel); the
	 * engine then begins again, or takes it as refused.
	 */
	enum dma_status (*burst_begin)(void *ctx, struct dma_burst *b);
	/*
	 * Move the data (read: memory to buf) and close the read-side section.
	 */
	enum dma_status (*burst_end)(void *ctx, struct dma_burst *b, void *buf);
	/*
	 * Get an empty frame to fill; NULL: no room now, engine_wire_room()
	 * will be called. send passes it on; returns ns until the wire takes
	 * the next one.
	 */
	void *wire;		/* for all calls about frames, in place of ctx */
	struct wire_frame *(*frame_get)(void *wire);
	uint64_t (*frame_send)(void *wire, struct wire_frame *f);
	/*
	 * Optional, all three or none: frames by reference, which saves copies.
	 * An empty frame if there are plenty, or NULL; may the frame that came be
	 * kept? and back with n frames of either kind, all of one owner.
	 */
	struct wire_frame *(*frame_spare)(void *wire);
	bool (*frame_borrow)(void *wire, const struct wire_frame *f);
	void (*frames_put)(void *wire, struct wire_frame *const *f,
			   unsigned int n);
	void (*irq)(void *ctx, unsigned int line, bool level);
	/*
	 * There is work for a channel (0 read, 1 write): call engine_step soon.
	 * Comes only after that channel's last step answered ENGINE_IDLE.
	 */
	void (*kick)(void *ctx, unsigned int channel);
	/*
	 * Optional: instead of trace_emit() into the trace of the config; ev is
	 * one of enum trace_event. Returns the record's sequence number.
	 */
	uint64_t (*emit)(void *ctx, unsigned int ev, const struct trace_at *at,
			 uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
};

/* What the engine in Verilog can name (rtl/hdl/fl_ctl.v, NODES). */
#define ENGINE_RTL_NODES 16

struct engine_config {
	uint8_t node;
	uint8_t contexts;	/* 4 to 16 */
	uint8_t rx_contexts;	/* at most 32 */
	uint8_t block_log2;	/* 12 to 16 */
	uint32_t cell_bytes;	/* of a packet: power of two, 64 to 4096 */
	bool icrc;		/* make and check it */
	struct trace *trace;
	struct engine_cause *cause;	/* NULL: unknown */
	uint8_t board;
	uint8_t nodes;		/* that it knows, from 0 on; 0: WIRE_NODES */
};

/*
 * blocks_landed, faults_remote: received here (a page of the destination); the
 * other blocks_ and faults_local: sent from here. The rest counts what its name
 * says.
 */
struct engine_stats {
	uint64_t blocks_sent, blocks_resent, blocks_landed, blocks_refused,
		 cells_sent, cells_received, payload_sent, payload_received,
		 faults_local, faults_remote, stale, duplicates, no_context,
		 bad_packets, bad_registers, ready_sent, nak_sent, wait_sent;
	uint64_t tx_arcs[6][14];	/* [from state][event] taken; fsm.def */
	uint64_t rx_arcs[5][11];
};

struct engine_ops;

/*
 * An engine: the one in C (engine_create()), the one in Verilog or both side by side
 * (rtl/cosim/engine_plugin.h). Whatever is handed out as one begins with this.
 */
struct engine {
	const struct engine_ops *ops;
};

/* As the calls of the same name below. */
struct engine_ops {
	void (*destroy)(struct engine *e);
	void (*reset)(struct engine *e);
	int (*reg_read)(struct engine *e, uint32_t off, unsigned int size,
			uint64_t *value);
	int (*reg_write)(struct engine *e, uint32_t off, unsigned int size,
			 uint64_t value);
	uint64_t (*rx_event)(const struct engine *e, unsigned int rxc);
	uint64_t (*step[2])(struct engine *e, uint64_t now_ns);
	void (*receive)(struct engine *e, const struct wire_frame *f,
			uint64_t now_ns);
	void (*burst_resume)(struct engine *e, unsigned int channel,
			     bool terminate);
	void (*wire_room)(struct engine *e);
	void (*stats)(const struct engine *e, struct engine_stats *st);
	bool (*idle)(const struct engine *e);
	const char *(*check)(const struct engine *e);
};

/*
 * The engine in C. -EINVAL in *error for a bad config (NULL is returned); -ENOMEM.
 */
typedef struct engine *engine_create_fn(const struct engine_config *cfg,
					const struct engine_env *env,
					int *error);
engine_create_fn engine_create;

static inline void engine_destroy(struct engine *e)
{
	if (e)
		e->ops->destroy(e);
}

/*
 * Everything that is under way is forgotten, the stats are not. Generations and
 * what is known of peers stay, so that packets from before the reset are told
 * apart from later ones.
 */
static inline void engine_reset(struct engine *e)
{
	e->ops->reset(e);
}

/*
 * Registers of the pages ENG, CTX and RXC; off from the start of the NIC
 * window. 0, or -EINVAL when refused (misaligned, outside, read-only, reserved
 * bit, makes no sense now). What the network may have overtaken is not refused
 * but changes nothing: EXPIRE and KILL that come too late, READY and VERDICT
 * with an old serial number. CTX.CTRL.OP is FL_OP_*, RXC.OP is WOP_*. A
 * write-only register reads as 0. FLT_* read as 0 while the queue is empty; its
 * head stays until FLT_POP.
 */
static inline int engine_reg_read(struct engine *e, uint32_t off,
				  unsigned int size, uint64_t *value)
{
	return e->ops->reg_read(e, off, size, value);
}

static inline int engine_reg_write(struct engine *e, uint32_t off,
				   unsigned int size, uint64_t value)
{
	return e->ops->reg_write(e, off, size, value);
}

/* Trace: what happened last to a receive context. */
static inline uint64_t engine_rx_event(const struct engine *e, unsigned int rxc)
{
	return e->ops->rx_event(e, rxc);
}

/*
 * One unit of work of a channel (a burst's begin, a burst's end, one cell).
 * Returns ns until the next step, or ENGINE_IDLE when there is nothing to do
 * until the next kick.
 */
#define ENGINE_IDLE	UINT64_MAX
static inline uint64_t engine_step(struct engine *e, unsigned int channel,
				   uint64_t now_ns)
{
	return e->ops->step[channel](e, now_ns);
}

/* A frame came. The engine copies what it needs, unless it keeps the frame. */
static inline void engine_receive(struct engine *e, const struct wire_frame *f,
				  uint64_t now_ns)
{
	e->ops->receive(e, f, now_ns);
}

/* The port's answer to a held burst. */
static inline void engine_burst_resume(struct engine *e, unsigned int channel,
				       bool terminate)
{
	e->ops->burst_resume(e, channel, terminate);
}

/* Frames are to be had again. */
static inline void engine_wire_room(struct engine *e)
{
	e->ops->wire_room(e);
}

static inline void engine_stats(const struct engine *e, struct engine_stats *st)
{
	e->ops->stats(e, st);
}

/* No context is in use, no burst under way, no event waits. */
static inline bool engine_idle(const struct engine *e)
{
	return e->ops->idle(e);
}

/*
 * Consistency of all tables (for the checker): NULL, or a sentence that says
 * what is wrong.
 */
static inline const char *engine_check(const struct engine *e)
{
	return e->ops->check(e);
}

/*
 * The resident step: blocks of a WRITE that go from memory to memory at once
 * (emu/board/resident.c), between two engines in C whose lines between are sound.
 *
 * May the next block of transmit context ctx go so? False too for what is no engine in C.
 */
bool engine_resident_may(const struct engine *from, const struct engine *to,
			 unsigned int ctx);

struct engine_went {
	uint32_t bytes;		/* in: whole blocks, or up to the end of the request */
	uint8_t ctx;
	uint8_t rxc;		/* out: the receive context that they took */
	uint16_t gen;		/* of the last block */
	uint32_t blocks, cells;
};

/* They went: both engines are as after the blocks, one by one. */
void engine_resident_went(struct engine *from, struct engine *to,
			  struct engine_went *w);
/* Trace: the context's last event. */
void engine_resident_caused(struct engine *from, unsigned int ctx, uint64_t event);

#endif
