/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boards.h - boards for fuzz targets, in lockstep, driven through registers and memory
 * alone, and the oracle beside them: a plain copy of what each board's memory was, and a
 * list of what may have become different.
 *
 * Each board's memory holds, from DRAM_BASE on: send queues, completion queue, page tables,
 * and 16 pages of data at BOARDS_VA. Pages 0 to 3 are a region that anyone may write and
 * read, 4 and 5 one that may only be read, 6 and 7 one for the owner's own use; 8 to 11 are
 * mapped, but no region; 12 to 15 are not mapped. What lies in pages 6 to 15 and nobody may
 * read is full of a word that may not be found on another board.
 */
#ifndef FL_FUZZ_BOARDS_H
#define FL_FUZZ_BOARDS_H

#include "board/board.h"
#include "faultline/entries.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "fuzz.h"
#include "sim/timing.h"

#define BOARDS		3u
#define BOARDS_BYTES	0x40000u	/* of memory */
#define BOARDS_SQ	0x0000u		/* one for each queue pair */
#define BOARDS_SQ_BYTES	0x400u
#define BOARDS_QPS	4u
#define BOARDS_CQ	0x1000u
#define BOARDS_TABLES	0x10000u	/* three levels, one of each */
#define BOARDS_DATA	0x20000u
#define BOARDS_PAGES	16u
#define BOARDS_QUEUE	16u		/* entries */
#define BOARDS_VA	0x40200000ull
#define BOARDS_SECRET	0x5ec4e75ec4e75ec4ull

/* Pages of the three regions, as bits. */
#define BOARDS_OPEN	0x0fu
#define BOARDS_READ	0x30u
#define BOARDS_OWN	0xc0u

enum boards_region { REGION_OPEN, REGION_READ, REGION_OWN, REGIONS };

struct boards_node {
	struct board *board;
	uint8_t *mem;			/* BOARDS_BYTES at DRAM_BASE */
	uint8_t *before;		/* a copy of it */
	uint32_t pd, cq, qp[BOARDS_QPS], key[REGIONS];
	uint32_t qps, taken;
	uint16_t posted[BOARDS_QPS];
};

struct boards {
	struct sim *sim;
	struct trace *trace;
	struct timing_profile timing;
	struct fabric *fabric;
	struct boards_node node[BOARDS];
	void (*body)(struct boards *b, void *arg);
	void *arg;
};

/*
 * Make boards 0 to 2, all linked; queue pair i of a board is connected with queue pair i of
 * the next one (0-1, 1-2, 2-0); run body in a thread of the simulation; take all down.
 */
void boards_run(void (*body)(struct boards *b, void *arg), void *arg);

/* Registers; offsets in the NIC's or the SMMU's window. 0 or the bus's error. */
int boards_set(struct boards_node *n, uint32_t off, unsigned int size, uint64_t v);
int boards_smmu(struct boards_node *n, uint32_t off, unsigned int size, uint64_t v);
/* A command of the driver: its status (FL_ST_*), and the result. */
unsigned int boards_command(struct boards_node *n, const struct fl_fw_cmd *c,
			    uint32_t *result);
/* Data page i of a board is mapped, or not any more. */
void boards_map(struct boards_node *n, unsigned int page, bool present);
/* A good request on queue pair qp (of connection with node to); its status. */
unsigned int boards_transfer(struct boards *b, unsigned int from, unsigned int qp,
			     unsigned int to, uint8_t opcode, uint64_t at,
			     uint32_t bytes);
/* Boards 1 and 2 write and read each other; then their open regions are different. */
void boards_go_on(struct boards *b);
/* Let so much time pass. */
void boards_wait(struct boards *b, uint64_t ns);

/* ---- the oracle ---- */

/* From now on; the secret is written anew. */
void boards_remember(struct boards *b);
/* Nothing but the pages of the mask, the completion queue and send queues is different. */
void boards_unchanged(struct boards *b, unsigned int node, uint32_t pages);
/* The word of others' secrets is nowhere on this board but in its own. */
void boards_no_secret(struct boards *b, unsigned int node);
/* The tables of all cards add up. */
void boards_check(struct boards *b);

#endif
