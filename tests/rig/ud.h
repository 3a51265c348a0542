/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ud.h - a unit of datagrams on a bench (rig/packets.h): the firmware is a queue of receives,
 * the driver is the test. It knows no rule of the receive ring.
 */
#ifndef FL_RIG_UD_H
#define FL_RIG_UD_H

#include "faultline/regs.h"
#include "nic/transport/rc_wire.h"
#include "nic/transport/ud.h"
#include "rig/packets.h"

#include <stddef.h>

#define RIG_KEY		0x105u
#define RIG_RING	0x1000u		/* physical: descriptors, then buffers */
#define RIG_BUFFERS	0x40000u
#define RIG_QKEY	0xCAFE0001u

struct rig {
	struct packets io;
	struct ud *ud;
	struct ud_config cfg;
	uint8_t *physical;
	bool revoked;
	uint8_t verdict;	/* RC_DROP, RC_DIVERT, RC_FAIL; what is sent parks unless FAIL */
	struct rc_miss miss;
	/* firmware */
	struct fw_recv *recv;	/* receive n at n % RIG_RECVS */
	uint32_t posted, done;
	uint8_t wrong;		/* of the receive `wrong_at` */
	uint32_t wrong_at;
	struct fw_arrival arrived;	/* the newest */
	struct fw_recv arrived_in;
	void (*arrive)(struct rig *g, const struct fw_recv *r, const struct fw_arrival *a);
	/* driver */
	bool line;
	uint64_t line_cause;
	uint32_t slots, taken, given;
};

/* ---- what a test does ---- */

void rig_close(void *arg);

/* The driver starts the backup ring. */
void rig_backup(struct rig *g, uint32_t slots, uint32_t bits);

/* What it was before ends. */
void rig_open(struct rig *g, uint8_t node, const struct ud_config *cfg);

extern const struct ud_config rig_config;

struct fw_pair rig_pair(void);

/*
 * A backup ring of 8 with 4 bits, and the pair that tests use, until the test's end. bits: of
 * the pair; 0: as the ring has them.
 */
void rig_start_bits(struct rig *g, uint16_t bits);

static inline void rig_start(struct rig *g)
{
	rig_start_bits(g, 0);
}

/* A receive of one segment, at the start of a page. */
void rig_recv(struct rig *g, unsigned int page, uint32_t bytes);

/* A datagram comes, every byte of which is `fill`. */
void rig_in(struct rig *g, struct rc_packet p, uint32_t bytes, uint8_t fill);

static inline void rig_comes(struct rig *g, uint8_t fill)
{
	rig_in(g, (struct rc_packet){ .psn = fill }, 100, fill);
}

/* The driver's next descriptor, which the card has written. */
struct fl_backup *rig_next(struct rig *g);

/* It has been taken, and its descriptor has a buffer again. */
void rig_give(struct rig *g);

uint32_t rig_word(const struct fl_backup *d, uint8_t code);

/* The driver copies, as the descriptor says. */
void rig_copy(struct rig *g, const struct fl_backup *d, uint64_t buffer);

void rig_resolve(struct rig *g, const struct fl_backup *d);
struct ud_ring_state rig_ring_state(const struct rig *g);
uint64_t rig_drops(const struct rig *g, enum ud_drop_why why);

#endif
