/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packets_internal.h - what the files of emu/board/packets share: the units, the card's own
 * table of translations, and the ring of reports of what they miss there.
 */
#ifndef FL_PACKETS_INTERNAL_H
#define FL_PACKETS_INTERNAL_H

#include "board/board_internal.h"
#include "board/packets/packets.h"
#include "nic/policy/policy.h"
#include "nic/table.h"
#include "nic/transport/fault.h"
#include "nic/transport/rc.h"
#include "nic/wire.h"

/* An order for the table, from TAB_GO until BUSY falls. */
enum card_phase { CARD_IDLE, CARD_ORDERED, CARD_WORKING, CARD_ENDING };
struct card_order {
	uint32_t object, count, op;	/* op: TAB_GO */
	uint64_t first, list_pa;
};

/* A packet unit as a part of the card. The domain is held in all calls but make, destroy. */
struct card_unit {
	const char *name;
	uint32_t feature;		/* NIC_FW_FEATURES_* */
	enum fw_transports transport;
	int (*make)(struct board *b);	/* card.unit[] and card.transport[] */
	void (*destroy)(struct board *b);
	void (*reset)(struct board *b);
	bool (*knows)(uint8_t opcode);	/* of a packet: it is this unit's */
	void (*receive)(struct board *b, const struct wire_frame *f, uint64_t now_ns);
	void (*room)(struct board *b);
	bool (*idle)(struct board *b);
	const char *(*check)(struct board *b);
	/* The driver has answered a report about a pair of its. side: 1 receives */
	void (*resume)(struct board *b, uint16_t qp, const struct fl_fault_rec *rec,
		       uint8_t code, uint64_t now_ns);
	/* A whole register of page XP; NULL: it has none. -EINVAL: none there, or not so. */
	int (*reg_read)(struct board *b, uint32_t reg, uint64_t *v);
	int (*reg_write)(struct board *b, uint32_t reg, uint64_t v, uint64_t now_ns);
};

/* Their channels of the DMA port are numbered in this order, two for each. */
enum card_units { CARD_RC, CARD_NV, CARD_UD, CARD_UNITS };
extern const struct card_unit card_rc, card_nv, card_ud;

/* What the card itself has to know of a queue pair of packets. */
struct card_pair {
	enum card_units unit;
	uint32_t qpn;
	uint8_t slot, rnr_code;
};

struct card {
	const struct card_unit *takes[256];	/* by opcode; NULL: the block engine */
	struct table *table;
	struct nic_fault_unit *faults;
	struct policy policy;
	struct rng rng;			/* injected faults */
	uint64_t share;			/* of packets that miss, in parts of 2^40 */
	bool major;
	struct card_order set, order;	/* TAB_* as written; what is under way */
	enum card_phase phase;
	uint8_t code;			/* of the last order */
	uint64_t cause;			/* trace: who gave it */
	struct sim_actor table_actor, fault_actor;
	void *unit[CARD_UNITS];
	const struct fw_transport *transport[FW_TRANSPORTS];	/* for the firmware */
	bool line_records, line_backup;	/* either raises the line for faults */
	struct card_pair pair[DEV_QPS];
};

static inline struct card *card_of(const struct board *b)
{
	return b->annex;
}

/* packets.c: a ring for the driver is not empty, or is; cause: the event of what is there, or 0. */
void card_line(struct board *b, uint64_t cause);

/* packets.c: a register of page XP that is a unit's. */
int card_unit_read(struct board *b, uint32_t reg, uint64_t *v);
int card_unit_write(struct board *b, uint32_t reg, uint64_t v, uint64_t now_ns);

/* card_rc.c: what the reports of a unit's misses say; the caller has the verdict. */
struct rc_judged card_miss(struct board *b, const struct rc_miss *m);
/* What fl_connect() gives a pair. */
struct fw_pair card_connect(const struct board *b);

/* port.c: a burst of a unit's begins, as rc.h has it; its channels are its own. */
enum dma_status card_burst_begin(struct board *b, struct dma_burst *burst,
				 enum card_units unit);

/* xp.c: the registers of page XP. The domain is not held. */
int xp_access(struct board *b, uint32_t off, unsigned int size, uint64_t *value,
	      bool write);
uint64_t xp_table_step(void *board, uint64_t now_ns);

#endif
