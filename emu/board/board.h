/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * board.h - one board: DRAM, SMMU, NIC, interrupt lines, and the bus between
 * them.
 *
 * This is the hardware side of the board contract; software has nothing but
 * what is declared here and in dram.h. Files: dram.c (memory), bus.c (address decode, DMA
 * port), psdma.c (DMA engine of the processing system), irq.c (lines), resident.c (blocks that
 * meet nothing), board.c (wiring). packets/: what a card has beside the block engine (annex.h).
 */
#ifndef FL_BOARD_H
#define FL_BOARD_H

#include <stdbool.h>
#include <stdint.h>

struct dram;
struct engine;
struct engine_config;
struct engine_env;
struct engine_stats;
struct fabric;
struct fw_stats;
struct sim;
struct sim_watch;
struct smmu;
struct timing_profile;
struct trace;

/* ---- interrupt lines (irq.c) ---- */
enum irq_line { IRQ_SMMU, IRQ_NIC_FAULT, IRQ_NIC_EVENT, IRQ_PSDMA, IRQ_LINES };

/* ---- physical address map ---- */
#define BUS_SMMU_BASE 0xFD800000ull /* sources: smmu-chip */
#define BUS_NIC_BASE  0xA0000000ull /* M_AXI_HPM0_FPD, sources: board-ports */
#define BUS_NIC_BYTES 0x20000u
#define BUS_PSDMA_BASE 0xFD500000ull /* fpd_dma_chan1 of Linux, zynqmp.dtsi */
#define BUS_PSDMA_BYTES 0x1000u

struct board;

struct board_config {
	const char *name;
	uint8_t id; /* also its node on the fabric */
	struct sim *sim;
	struct fabric *fabric;
	struct trace *trace;
	const struct timing_profile *timing;
	uint8_t contexts;     /* 0: 8 */
	uint8_t rx_contexts;  /* 0: 32 */
	uint32_t block_bytes; /* 0: 16384 */
	uint32_t tlb_entries; /* 0: 512 */
	uint32_t walk_cache_entries; /* 0: no walk cache */
	/*
	 * Whoever likes may attach: keys come from the system and not from the seed,
	 * from which they could be foreseen.
	 */
	bool strangers;
	/* engine_create(), or as that (nic/engine.h); NULL: the engine in C */
	struct engine *(*engine)(const struct engine_config *cfg,
				 const struct engine_env *env, int *error);
};

struct board *board_create(const struct board_config *cfg, int *error);
void board_destroy(struct board *b);
/*
 * The card loses its power and has it again: registers are as after power-on, what
 * was under way is gone, and nothing is read, written or answered until
 * software enables the card anew. DRAM stays. Called by software, which must not
 * use the card meanwhile.
 */
void board_reset(struct board *b);
/*
 * Its power goes for good: as board_reset(), and from now on every register reads as
 * ones, and what is written is lost. Called as board_reset() is.
 */
void board_unplug(struct board *b);
/*
 * Fault injection: parts of the card that are broken until the next call. 0: all
 * of it works again, and goes on with what is left to do.
 */
#define BOARD_NO_SYNC	1u	/* no TLB synchronise of the SMMU ends */
#define BOARD_SILENT_FW	2u	/* the firmware does nothing; registers do */
void board_inject(struct board *b, unsigned int broken);
/* What they counted since power-on or reset. All take the domain. */
void board_fw_stats(struct board *b, struct fw_stats *st);
/* Of what the engine has sent: bytes that went by the resident step (resident.c). */
uint64_t board_resident_bytes(struct board *b);
/* Requests of them that were served in their doorbell (resident_again.c). */
uint64_t board_resident_requests(struct board *b);
void board_engine_stats(struct board *b, struct engine_stats *st);
/* How many processes have the card open, as its firmware knows. Takes the domain. */
unsigned int board_open_slots(struct board *b);

/*
 * Software's way to registers: a physical address of the map above. Costs CPU
 * time. 0 or negative errno.
 */
int board_read(struct board *b, uint64_t pa, unsigned int size,
	       uint64_t *value);
int board_write(struct board *b, uint64_t pa, unsigned int size,
		uint64_t value);
/*
 * Several writes of 4 bytes to the register at pa, one after the other. Of doorbells for send
 * queues, as many as can be served at once are served while the card is entered once. cause: the
 * record in the trace that led to the write. The caller sees to the time there (trace_tick(), or
 * a batch).
 */
struct board_bell {
	uint32_t value;
	uint64_t cause;
};
void board_ring(struct board *b, uint64_t pa, const struct board_bell *bell, unsigned int n);

/*
 * The kernel's interrupt controller: called on every change of a line, from
 * hardware; must not block.
 */
void board_irq_handler(struct board *b,
		       void (*fn)(void *arg, enum irq_line line, bool level),
		       void *arg);
bool board_irq_level(struct board *b, enum irq_line line);

/*
 * Stream ID of the DMA engine's channel: TBU 5, and of the masters (UG1085, "Master IDs
 * List") FPD DMA, 0011 10 1xxx with channel 0; fpd_dma_chan1 of Linux, zynqmp.dtsi.
 */
#define BOARD_STREAM_PSDMA 0x14E8u

/* Stream ID of domain slot n: HPC0, AXI ID = slot (sources: board-ports). */
#define BOARD_STREAM(slot) (0x200u + (slot))

/* Trace: the record of the completion that a transfer's last request got. */
uint64_t board_end_event(struct board *b, uint32_t xfer);
/* Trace: software has just published a request; and the record of its having done so. */
void board_publish(struct board *b, uint32_t xfer);
uint64_t board_publish_event(struct board *b, uint32_t xfer);

const char *board_name(const struct board *b);
uint8_t board_id(const struct board *b);
struct sim *board_sim(struct board *b);
/* For software that runs on it. */
struct sim_domain *board_domain(struct board *b);
struct dram *board_dram(struct board *b);
struct trace *board_trace(struct board *b);
const struct timing_profile *board_timing(const struct board *b);
struct smmu *board_smmu(struct board *b);
struct engine *board_engine(struct board *b);
/* Let the board's hardware work (polling loops). */
void board_pump(struct board *b);
/* NULL, or a sentence that says what of the card's tables does not add up. */
const char *board_check(struct board *b);
/* The device has used a translation after its frame was given to someone else. */
bool board_stale(struct board *b);
/* Lockstep: w is noted when something on the board may have changed. */
void board_watch(struct board *b, struct sim_watch *w);
/* The part of the card that still has something in flight, or NULL. */
const char *board_busy(struct board *b);

#endif
