/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rc.h - a unit of reliable connections on a bench (rig/packets.h): the firmware is a list of
 * receive entries and of what arrived.
 */
#ifndef FL_RIG_RC_H
#define FL_RIG_RC_H

#include "nic/transport/rc.h"
#include "nic/transport/rc_wire.h"
#include "rig/packets.h"

#define RIG_RECVS	64

struct rig_recv_done {
	struct fw_recv recv;
	struct fw_arrival arrival;
};

struct rig {
	struct packets io;
	struct rc *rc;
	struct rc_config cfg;
	uint64_t atomics;
	struct rc_judged verdict;
	struct rc_miss miss;	/* the newest */
	/* firmware */
	struct fw_recv recv[RIG_RECVS];
	unsigned int recv_next, recvs;
	uint8_t recv_wrong;
	struct rig_recv_done arrived[RIG_RECVS];
	unsigned int arrivals;
	unsigned int heard;
	struct rc_judged (*judge)(struct rig *g, const struct rc_miss *m);
	bool (*give)(struct rig *g, uint16_t qp, struct fw_recv *r);
	void (*arrive)(struct rig *g, uint16_t qp, const struct rig_recv_done *d);
};

/* ---- what the unit asks for ---- */

void rig_recv_done(void *ctx, uint16_t qp, const struct fw_recv *r,
		   const struct fw_arrival *a);

/* ---- what a test does ---- */

void rig_close(void *arg);

/* What it was before ends. */
void rig_open(struct rig *g, uint8_t node, const struct rc_config *cfg);

extern const struct rc_config rig_config;

struct fw_pair rig_pair(void);

/* The pair that tests use, until the test's end. */
void rig_start(struct rig *g);

/* The same, with memory whose every byte tells where it was. */
void rig_start_filled(struct rig *g);

/* A packet comes from the peer. payload: bytes of value `fill`. */
void rig_in(struct rig *g, struct rc_packet p, uint32_t payload, uint8_t fill);

/* The next packet that left. */
struct rc_packet rig_out(struct rig *g);

/* The next packet that left is an acknowledgement with that. */
void rig_out_ack(struct rig *g, uint32_t psn, uint8_t syndrome);

void rig_out_is(struct rig *g, uint8_t opcode, uint32_t psn);
void rig_in_ack(struct rig *g, uint32_t psn, uint8_t syndrome);

/* One segment, from the start of page `page` here to the same page there. */
struct fw_work rig_work(uint8_t opcode, unsigned int page, uint32_t length);

void rig_recv(struct rig *g, unsigned int page, uint32_t length);
void rig_resume(struct rig *g, enum rc_side side, bool write, uint8_t code);

/* rig_work(), posted. */
void rig_work_post(struct rig *g, uint32_t wr, uint8_t opcode, unsigned int page, uint32_t length);

/* A packet of a WRITE to page 0 and on; of a SEND. */
void rig_write_in(struct rig *g, uint8_t opcode, uint32_t psn, uint32_t length, uint32_t payload,
		  uint8_t fill);

static inline void rig_write_only(struct rig *g, uint32_t psn, uint8_t fill)
{
	rig_write_in(g, WOP_RC_WRITE_ONLY, psn, 10, 10, fill);
}

void rig_send_in(struct rig *g, uint8_t opcode, uint32_t psn, uint32_t payload, uint8_t fill);
void rig_memory_is(struct rig *g, uint32_t at, uint32_t n, uint8_t fill);

#endif
