/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw_unit.h - the firmware's bench (rig/fw.h) with a packet unit that is no more
 * than a notebook: it writes down what the firmware asks of it, and a test's hands end
 * requests and begin receives.
 */
#ifndef FL_RIG_FW_UNIT_H
#define FL_RIG_FW_UNIT_H

#include "nic/fw_internal.h"
#include "rig/fw.h"

#define UNIT_POSTS 64u
#define UNIT_RQ(slot) (0x130000u + 0x40000u * (slot))
#define UNIT_SQ(slot) (0x138000u + 0x40000u * (slot))
#define UNIT_SRQ(slot) (0x13C000u + 0x40000u * (slot))

struct unit_qp {
	bool open;
	uint32_t opens, closes, posts;
	struct fw_pair pair;
	uint32_t next;		/* request that must be posted next */
	uint32_t begun;		/* request that must end next */
};

struct unit {
	struct rig *r;
	struct fw_transport ops;
	struct fw_unit_ops fw;
	struct unit_qp qp[FW_QPS];
	struct fw_work work[UNIT_POSTS];	/* by number */
	uint8_t open_status;	/* what open() answers */
	bool at_once;		/* post() ends the request before it returns */
	uint32_t stopped;	/* key */
	uint32_t row;
	uint64_t quirks, bits;
	const char *misuse;
};

/* A bench whose card has the unit. */
struct unit *unit_rig(void);

/* Begin again, on the same bench. */
void unit_restart(struct unit *u);
void unit_run(struct unit *u);

/* The oldest request that the unit has ends. */
void unit_end(struct unit *u, uint32_t qp, uint8_t status);

/* ---- a process with one such queue pair ---- */

struct unit_side {
	struct rig_slot s;	/* s.qp: the queue pair of the unit */
	uint64_t rq_pa;
	uint32_t rq_size;
	uint16_t rq_tail;
};

uint32_t unit_modify(struct unit *u, uint32_t slot, uint32_t qp, uint32_t flags,
		     uint64_t a, uint64_t b, uint64_t c);

#define UNIT_RTR_FLAGS (FL_MOD_STATE | FL_MOD_PEER | FL_MOD_MTU | FL_MOD_RQ_PSN | \
			FL_MOD_RNR_CODE | FL_MOD_DEST_RD_ATOMIC)
#define UNIT_RTS_FLAGS (FL_MOD_STATE | FL_MOD_SQ_PSN | FL_MOD_TIMEOUT | \
			FL_MOD_RETRIES | FL_MOD_RNR_TRIES | FL_MOD_RD_ATOMIC)
/* mtu 1024, rnr code 12, 1 READ of the peer's; peer 0x777 on node 3; its PSN 0x123456 */
#define UNIT_RTR_A (FL_STATE_RTR | 3u << 8 | 12u << 16 | 1ull << 56)
#define UNIT_RTR_B (RIG_NODE | RIG_PEER_QP << 8)
/* 7 tries, 6 without a receive, time-out 14, 2 READs; PSN 0xABCDEF */
#define UNIT_RTS_A (FL_STATE_RTS | 7ull << 24 | 6ull << 32 | 14ull << 40 | 2ull << 48)
#define UNIT_RTS_C 0xABCDEFull

uint32_t unit_to(struct unit *u, const struct rig_slot *s, uint32_t state);
void unit_qp(struct unit *u, struct unit_side *p, uint32_t srq);

/* Everything that a slot has, with a queue pair that is ready to send. */
void unit_side(struct unit *u, struct unit_side *p, uint32_t slot);
struct fl_rqe unit_rqe(const struct unit_side *p, uint32_t bytes);
int unit_ring_recv(struct unit *u, const struct unit_side *p);
void unit_post_recv(struct unit *u, struct unit_side *p, struct fl_rqe e);
bool unit_take(struct unit *u, uint32_t qp, struct fw_recv *r, uint8_t *wrong);
void unit_arrive(struct unit *u, uint32_t qp, const struct fw_recv *r,
		 struct fw_arrival a);

/* The next completion, in full. */
struct fl_cqe unit_cqe(struct unit *u, struct unit_side *p);

#define UNIT_EXPECT_CQE(u, p, i, o, st) do {				\
	struct fl_cqe e_ = unit_cqe(u, p);				\
	EXPECT_EQ(e_.index, i);						\
	EXPECT_EQ(e_.opcode, o);					\
	EXPECT_EQ(e_.status, st);					\
} while (0)

void unit_expect_none(struct unit *u, struct unit_side *p);

#endif
