/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_fake.h - a table of system calls that plays driver and card, so that
 * the library can be tested alone: it hands out objects, keeps the queues in
 * ordinary memory, notes every call, fails when told to, and writes the completions that a
 * test asks for, also impossible ones. One file includes it, one program has one fake.
 */
#ifndef FL_RIG_LIB_FAKE_H
#define FL_RIG_LIB_FAKE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/system_rows.h"
#include "harness.h"
#include "faultline.h"
#include "lib_internal.h"

#define FAKE_OBJECTS	16
#define FAKE_ORDER	64
#define FAKE_IMPORTS	32

struct fake_cq {
	bool used, broken;
	struct fl_cqe *queue;
	uint32_t entries, users;
	uint64_t prod;
	_Atomic uint32_t cons;		/* as the doorbells said, 16 bits */
	bool armed, event;
};

struct fake_qp {
	bool used, connected;
	struct fl_wqe *queue;
	uint32_t entries, cq;
	uint16_t head, tail;		/* entries that the card knows of */
};

struct fake {
	/* what a test sets */
	unsigned int fail_cmd;		/* this ioctl ... */
	int fail_error;			/* ... fails with this */
	int open_error, mmap_error, memory_error, import_error;
	/* of doorbells and empty polls; so many mappings still work */
	int gone, mmap_fail_after;
	uint32_t abi, max_queue, extra_qpn; /* the last: added to numbers of QPs */
	uint32_t force_entries;		/* what a queue is said to have */
	uint64_t force_map_bytes;
	bool automatic;			/* complete everything at once */
	bool flood;			/* fill what was taken with nonsense */
	int wait_result;		/* when there is no event */
	void (*on_wait)(void);		/* while a thread "sleeps" */

	/* what a test looks at */
	char opened[64];
	int fds, maps, memories;
	unsigned int ioctls, waits, relaxes, doorbells_sq, doorbells_cons,
		arms, wakes, spent[2], traced[7];
	uint64_t last_trace[7][5], last_wait_ns, now_ns;
	int imported;			/* regions with memory of theirs: */
	struct {
		uint64_t addr, bytes;
	} import[FAKE_IMPORTS];
	uint64_t last_import[3], last_prefault[3];
	struct fl_policy policy;
	struct fl_reg_mr reg_mr;
	struct fl_prefetch prefetch;
	struct fl_advise advise;
	struct fl_dma_copy dma, dma_answer;
	struct fl_connect_qp connect;
	char order[FAKE_ORDER];		/* Q C M P: destroyed, in this order */
	unsigned int destroyed, live_pd, live_mr;
	struct fake_cq cq[FAKE_OBJECTS];
	struct fake_qp qp[FAKE_OBJECTS];
	uint64_t map_offset[FAKE_OBJECTS * 2 + 1];
	uint32_t doorbell[LIB_DOORBELL_BYTES / 4];
	struct fl_snoop_page page;	/* the same, with system ioguard */
	uint32_t xfer, resumed;	/* resumed: 1 + queue pair */
};
extern struct fake fake;

void fake_write_cqe(struct fake_cq *q, struct fl_cqe e);

/* The card completes entry index of qp; a full queue breaks, as fw_cq.c says. */
void fake_complete(uint32_t qpn, uint16_t index, uint8_t status);

int fake_ioctl(int fd, unsigned int cmd, void *arg);

extern int fake_last_advice, fake_last_prot;

extern const struct fl_sys fake_sys;

/* Only what every implementation must have. */
const struct fl_sys *fake_bare(void);

void fake_free_queues(void *arg);
void fake_start(void);

static inline void fake_close_device(void *arg)
{
	fl_close(arg);
}

struct fl_device *fake_device(void);

#endif
