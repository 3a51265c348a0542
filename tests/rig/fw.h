/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fw.h - a bench for the firmware alone: memory, a register file in
 * place of the engine, and hands that move its contexts along.
 *
 * rig_run() fails the test when the firmware did what no firmware may do, and
 * whenever fw_check() has something to say. Time moves only when a test says
 * so.
 */
#ifndef FL_RIG_FW_H
#define FL_RIG_FW_H

#include <stdlib.h>
#include <string.h>

#include "faultline/wire.h"
#include "harness.h"
#include "rig/fw_engine.h"

#define RIG_MEM		(2u << 20)
#define RIG_TIMEOUT	1000u
#define RIG_FAULT_TIMEOUT 20000u
#define RIG_BUSY	100u
#define RIG_VA		0x7F1210000000ull	/* more than 32 bits, which an R5 writes in two */
#define RIG_BYTES	0x4000000ull
#define RIG_EQ		0x1F0000u	/* an R5 sees no DRAM below 1 MB */
#define RIG_EQ_SIZE	16u
#define RIG_NODE	3u	/* the peer */
#define RIG_PEER_QP	0x777u

/* What most tests need: a slot with one of everything. */
struct rig_slot {
	uint32_t slot, pd, key, cq, qp;
	uint64_t cq_pa, sq_pa;
	uint32_t cq_size, sq_size;
	uint32_t cons;		/* completions taken */
	uint16_t tail;
};

struct fw_env rig_env(struct rig *r);

/* Step until nothing is left to do; the tables are checked after each step. */
void rig_run(struct rig *r);

int rig_write(struct rig *r, uint32_t off, uint64_t value);

uint64_t rig_reg(struct rig *r, uint32_t off, unsigned int size);

/* Begin again: a new firmware, an engine at rest, memory full of zeros. */
void rig_restart(struct rig *r);
struct rig *rig_create(uint32_t contexts);	/* a cleanup of the test frees it */
void rig_free(void *rig);

/* ---- commands ---- */

void rig_cmd_fill(struct rig *r, const struct fl_fw_cmd *c);
uint32_t rig_cmd(struct rig *r, struct fl_fw_cmd c);

#define CMD(r, op, ...) \
	rig_cmd(r, (struct fl_fw_cmd){ .opcode = FL_CMD_##op, __VA_ARGS__ })

uint32_t rig_mr(struct rig *r, uint32_t slot, uint32_t pd, uint64_t va,
		uint64_t bytes, uint32_t rights);

/* A further queue pair for the testbed's slot, domain and completion queue. */
uint32_t rig_qp(struct rig *r, const struct rig_slot *w, uint64_t sq_pa,
		uint32_t entries);
void rig_slot(struct rig *r, struct rig_slot *w, uint32_t slot);

/* ---- a process ---- */

struct fl_wqe rig_wqe(const struct rig_slot *w, uint32_t length);
void rig_put(struct rig *r, struct rig_slot *w, const struct fl_wqe *e);
int rig_ring(struct rig *r, const struct rig_slot *w);

/* Post one request and let the firmware take it. */
void rig_post(struct rig *r, struct rig_slot *w, struct fl_wqe e);

/* Take a completion, if there is one, and say so to the firmware. */
bool rig_poll(struct rig *r, struct rig_slot *w, struct fl_cqe *e);
void rig_expect_cqe(struct rig *r, struct rig_slot *w, uint16_t index,
		    uint8_t status);

/* Take an event, if there is one. */
bool rig_event(struct rig *r);
void rig_expect_event(struct rig *r, uint32_t type, uint32_t object,
		      uint32_t data);

/* ---- hands that move a context along, as data path and network do ---- */

void rig_fly(struct rig *r, uint32_t n);
void rig_end(struct rig *r, uint32_t n, uint32_t status);
void rig_refuse(struct rig *r, uint32_t n);
void rig_fault(struct rig *r, uint32_t n);
uint32_t rig_busy(const struct rig *r);

/* Every block that is in flight ends well; until none is left. */
void rig_drain(struct rig *r);

#define RIG_HELD	0x100u	/* no verdict yet */

/* A block came in; returns the verdict, or RIG_HELD. */
uint32_t rig_offer(struct rig *r, uint32_t n, const struct rig_rxc *x);

/* The same where a verdict is due. */
uint32_t rig_open(struct rig *r, uint32_t n, const struct rig_rxc *x);

/* What the checker says when one field of the firmware has another value. */
#define WRONG(r, field, value, sentence) do {				\
	__typeof__(field) was_ = (field);				\
	(field) = (value);						\
	EXPECT_STR(fw_check((r)->fw), sentence);			\
	(field) = was_;							\
	EXPECT(!fw_check((r)->fw));					\
} while (0)

uint32_t rig_random(uint64_t *state);

#endif
