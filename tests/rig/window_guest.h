/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window_guest.h - a guest in C behind a window: it has a file as its memory, tables
 * of ARMv8 in it, and does through the rings what driver and process do.
 */
#ifndef FL_RIG_WINDOW_GUEST_H
#define FL_RIG_WINDOW_GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "faultline/entries.h"
#include "faultline/errata.h"
#include "faultline/regs.h"
#include "faultline/smmu_regs.h"
#include "faultline/window.h"
#include "harness.h"
#include "lib/sys.h"
#include "os/os.h"
#include "os/os_emu.h"
#include "sim/rng.h"
#include "window/window.h"

#define RIG_RAM		(4u << 20)
#define RIG_LIMIT_MS	60000	/* then it hangs */
#define RIG_QUEUE	16
#define RIG_TABLES	0x10000u	/* three levels, one of each */
#define RIG_PAGES	64u
#define RIG_DATA	0x100000u
/* Three levels, 39-bit addresses; one last table. */
#define RIG_VA		0x40200000ull
/* IHI 0062, 4 KB granule: page, AF, nG, inner shareable, AP[1] */
#define RIG_PAGE_BITS	(3 | 1 << 10 | 1 << 11 | 3 << 8 | 1 << 6)

struct rig_guest {
	int sock, shm, bell, vector[FL_WINDOW_VECTORS];
	uint8_t *bar, *ram;
	struct fl_window_head *head;
	uint32_t next;			/* index of the driver's next entry */
	uint32_t pd, cq, qp, key, sq, sqs;
	uint16_t posted;
	uint32_t taken;
};

static inline void rig_nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

extern atomic_bool rig_alone;	/* the boards have hung up: nothing will come */

/* What each window and its guest are at, into the transcript (rig/window.h). */
void rig_show(void);

/*
 * Wait until cond, and fail when that never comes. Once it holds, it is not evaluated
 * again, since it may change after that.
 */
#define RIG_UNTIL(cond)							       \
	do {								       \
		uint64_t end_ = os_now_ns() + RIG_LIMIT_MS * 1000000ull;       \
		bool met_;						       \
		while (!(met_ = (cond)) && !rig_alone && os_now_ns() < end_)   \
			rig_nap();					       \
		if (!met_)						       \
			rig_show();					       \
		test_expect(met_, __FILE__, __LINE__, "%s", #cond);	       \
	} while (0)

/* ---- a guest: the driver's part ---- */

void rig_ring(struct rig_guest *g);

static inline uint32_t rig_done(struct rig_guest *g)
{
	return __atomic_load_n(&g->head->head, __ATOMIC_ACQUIRE);
}

/* Put it there, with a seq of the caller's. */
void rig_put(struct rig_guest *g, uint32_t index, uint32_t seq,
	     const struct fl_window_entry *e);

void rig_entry(struct rig_guest *g, const struct fl_window_entry *e);
void rig_write(struct rig_guest *g, uint32_t addr, unsigned int size,
	       uint64_t v);

/* 0 and *v, or the error that came. */
int rig_try_read(struct rig_guest *g, uint32_t addr, unsigned int size,
		 uint64_t *v);

uint64_t rig_read(struct rig_guest *g, uint32_t addr, unsigned int size);
void rig_note(struct rig_guest *g, uint32_t number, uint32_t xfer, uint64_t a0,
	      uint64_t a1);

static inline void rig_smmu(struct rig_guest *g, uint32_t off,
			    unsigned int size, uint64_t v)
{
	rig_write(g, FL_WINDOW_SMMU + off, size, v);
}

uint32_t rig_command(struct rig_guest *g, struct fl_fw_cmd c);
uint64_t *rig_pte(struct rig_guest *g, unsigned int page);
void rig_map(struct rig_guest *g, unsigned int page, bool present);

/* As the driver: what follows in any thread comes after the sync. */
void rig_invalidate(struct rig_guest *g);

/* A queue pair has one peer in its life. */
void rig_new_qp(struct rig_guest *g);

/* What probe and a process with one queue pair and one region do. */
void rig_set_up(struct rig_guest *g);

/* ---- a guest: the process's part ---- */

static inline struct fl_window_doorbell *rig_page(struct rig_guest *g, unsigned int slot)
{
	return (void *)(g->bar + FL_WINDOW_DOORBELL_OFFSET(slot));
}

void rig_bell(struct rig_guest *g, unsigned int slot,
	      const struct fl_window_entry *e);
void rig_doorbell(struct rig_guest *g, unsigned int slot, uint32_t offset,
		  uint32_t v);

static inline uint8_t *rig_data(struct rig_guest *g)
{
	return g->ram + RIG_DATA;
}

void rig_fill(struct rig_guest *g, uint64_t seed);
void rig_post(struct rig_guest *g, struct rig_guest *peer, uint8_t opcode,
	      uint64_t offset, uint32_t bytes, uint32_t xfer);
bool rig_has_one(struct rig_guest *g);
struct fl_cqe rig_wait(struct rig_guest *g);

/* True once for each interrupt; waits for it at most ms. */
bool rig_interrupted(struct rig_guest *g, unsigned int vector, int ms);

#endif
