/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nv.h - a unit of NetVM's transport on a bench (rig/packets.h): the firmware has counters, the
 * driver is whoever copies what lies in the system buffer.
 */
#ifndef FL_RIG_NV_H
#define FL_RIG_NV_H

#include "nic/transport/nv.h"
#include "nic/transport/nv_wire.h"
#include "rig/packets.h"

#define RIG_COUNTERS	4

/* What lies in a slot of the system buffer, and where it belongs. */
struct rig_slot {
	bool full;
	uint8_t data[NV_SLOT_BYTES];
	uint32_t len;
	uint64_t va;
};

struct rig {
	struct packets io;
	struct nv *nv;
	struct nv_config cfg;
	enum nv_verdict sender, receiver;
	struct nv_miss miss;	/* the newest */
	struct rig_slot *slot;	/* NV_SLOTS_MAX */
	bool slot_fails;
	uint64_t counter[RIG_COUNTERS + 1];	/* from 1 on */
	void (*diverted)(struct rig *g, uint32_t slot);
	void (*missed)(struct rig *g, const struct nv_miss *m);
	void (*counted)(struct rig *g, uint16_t counter);
};

/* ---- what a test does ---- */

void rig_close(void *arg);

/* What it was before ends. */
void rig_open(struct rig *g, uint8_t node, const struct nv_config *cfg);

struct fw_pair rig_pair(void);

extern const struct nv_config rig_config;

/* The pair that tests use, until the test's end; memory whose every byte tells its place. */
void rig_start(struct rig *g);

/* A packet comes from the peer. payload: bytes of value `fill`. */
void rig_in(struct rig *g, struct nv_packet p, uint32_t payload, uint8_t fill);

/* The next packet that left. */
struct nv_packet rig_out(struct rig *g);

/* The driver copies what lies in a slot, or says that it cannot. */
void rig_copy(struct rig *g, uint32_t slot, uint8_t code);

/* One segment, from the start of page `page` here to the same page there. */
struct fw_work rig_work(unsigned int page, uint32_t length);

#endif
