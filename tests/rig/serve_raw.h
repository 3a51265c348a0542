/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_raw.h - the protocol of attach.h by hand, for processes that do not
 * keep to it. No handler, no library: what it does not do itself does not happen.
 */
#ifndef FL_RIG_SERVE_RAW_H
#define FL_RIG_SERVE_RAW_H

#include "faultline/entries.h"
#include "faultline/regs.h"
#include "faultline/uapi.h"
#include "rig/serve.h"

struct raw {
	int sock, shared_fd, bank_fd;
	struct attach_welcome w;
	struct attach_shared *shared;
	uint8_t *bank;
	uint32_t posted, views;
	bool obeys;		/* says that it does what it is told to */
};

int raw_connect(unsigned int board);
struct attach_hello raw_hello(void);

/* The answer to a HELLO; its error, or 1 when nothing came. */
int raw_say(struct raw *r, unsigned int board, const struct attach_hello *h);

int raw_attach(struct raw *r, unsigned int board);
void raw_detach(struct raw *r);

/* Has the board hung up? */
bool raw_cut_off(struct raw *r, int timeout_ms);

void raw_ring(struct raw *r);
void raw_views(struct raw *r);
void raw_ask(struct raw *r, unsigned int slot, uint32_t op,
	     const uint64_t arg[4], const void *payload, size_t n);

/* The result; 1: no answer came in ms. */
int raw_answer(struct raw *r, unsigned int slot, int ms);

int raw_call(struct raw *r, uint32_t op, uint64_t a0, uint64_t a1, uint64_t a2,
	     uint64_t a3);
int raw_ioctl(struct raw *r, int fd, unsigned int cmd, void *s, size_t n);

/* As the library does it; false: no room in time. */
bool raw_post(struct raw *r, uint32_t kind, uint32_t offset, uint32_t value);

#define RAW_BYTES	(256 * RIG_PAGE)	/* of a hostile process */

extern const char *const raw_small[];
extern const char *const raw_small_patient[];

/* What there is to know of the pair, in the hostile processes of beside_pair(). */
extern const struct rig_address *raw_victim;

/* Run hostile processes, three at a time, beside the pair; test_rounds(times) times. */
void beside_pair(int (*fn)(void *arg), const char *const *options,
		 unsigned int times);

/* ---- something to do harm with: a file, queues, a region ---- */

struct target {
	struct raw r;
	int fd;
	uint32_t pd, cq, qp, key;
	uint64_t sq_at, cq_at, mem;
	struct fl_wqe *sq;
};

int map_queue(struct target *t, uint64_t offset, uint64_t bytes, uint64_t *at);
int target_open(struct target *t, unsigned int board);

/* The first entry of the target's completion queue has been written. */
bool target_completed(struct target *t);

#define TRY_OPEN(t, number)						       \
	do {								       \
		int err_ = target_open((t), (number) & 1);		       \
		if (err_) {						       \
			fprintf(stderr, "hostile: cannot open: %d\n", err_);   \
			return 1;					       \
		}							       \
	} while (0)

#endif
