/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_fake.h - a card's own table, and its ring of reports, as a plain array: what the
 * driver's fl_xp.c would ask registers for is asked here, so that a test says what the card
 * has missed, and sees what it is told, without a packet. It stands in place of fl_xp.c.
 *
 * It knows nothing of the driver but the calls of fl_nic.h, and refuses what breaks its rules:
 * entries of an object that was never emptied, a zap without a sync at the end of the call.
 */
#ifndef FL_RIG_NIC_FAKE_H
#define FL_RIG_NIC_FAKE_H

#include <pthread.h>

#include "board/board_internal.h"
#include "rig/driver.h"

#define FAKE_OBJECTS	1024u
#define FAKE_PAGES	8192u
#define FAKE_TOKENS	8192u

struct fl_dev;

struct fake_page {
	uint32_t object;
	uint64_t page, entry;
};

struct fake {
	pthread_mutex_t lock;
	/* Of board 1; the other's card has none of it. */
	struct fl_dev *dev;
	uint64_t ring;
	uint32_t size, prod, cons;
	struct fake_page page[FAKE_PAGES];
	uint32_t pages, unsynced;
	uint32_t loads, zaps, zaps_all, syncs, most;
	struct {
		uint32_t token, code;
	} token[FAKE_TOKENS];
	uint32_t tokens;
	uint64_t load_ns;		/* that a LOAD takes */
	int load_error, sync_error;	/* the next one's */
	uint64_t div_base;
	uint32_t div_slots, copied, copied_slot, copied_code;
	uint32_t bad;			/* calls that no card could make sense of */
};
extern struct fake fake;

/* ---- the card ---- */

static inline void fake_lock(void)
{
	pthread_mutex_lock(&fake.lock);
}

static inline void fake_unlock(void)
{
	pthread_mutex_unlock(&fake.lock);
}

/* ---- what a test asks of it ---- */

/* 0: the page is not there; else its address and FL_XP_*. */
uint64_t fake_entry(uint32_t object, const void *at);

static inline uint32_t fake_object(uint32_t key)
{
	return key & (FAKE_OBJECTS - 1);
}

/* -1: nobody has answered it; else the code; EXPECTs that nobody did so twice. */
int fake_answer(uint32_t token);

/* One more report; false: the ring is full. */
bool fake_push(struct rig *r, struct fl_fault_rec rec);

/*
 * The line of the firmware is up until the top half has taken what is there. With threads it may
 * come to run late; one that does not take anything is not waited for without end.
 */
void fake_ring(struct rig *r);

/* A report, and its answer, waited for. */
int fake_miss(struct rig *r, struct fl_fault_rec rec);

#endif
