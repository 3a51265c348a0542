/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rig.h - what the programs of this folder share: one device, and pairs of queue pairs on it
 * that are connected to each other. Each end has completion queues of its own. They use
 * libibverbs alone, and say what failed.
 */
#ifndef FL_VERBS_RIG_H
#define FL_VERBS_RIG_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RIG_BYTES	65536u
#define RIG_WAIT_MS	20000	/* what does not come in this time does not come */

extern struct ibv_context *ctx;
extern struct ibv_pd *pd;
extern struct ibv_mr *mr;	/* of mem, with all rights */
extern unsigned char *mem;
extern uint16_t lid;

struct end {
	struct ibv_qp *qp;
	struct ibv_cq *send, *recv;
	enum ibv_mtu mtu;	/* 0: 1024 */
	uint8_t rnr_tries;	/* 0: 7, without limit */
};

/* What is wrong, and where; the number is what came. */
#define check_that(good, what, came)                                          \
	do {                                                                  \
		if (!(good)) {                                                \
			printf("failed: %s:%d: %s (%d)\n", __FILE__,          \
			       __LINE__, what, (int)(came));                  \
			exit(1);                                              \
		}                                                             \
	} while (0)
#define check_error(call, wanted)                                             \
	do {                                                                  \
		int error_ = (call);                                          \
		check_that(error_ == (wanted), #call " is not " #wanted,      \
			   error_);                                           \
	} while (0)
#define check_null(call, wanted)                                              \
	do {                                                                  \
		errno = 0;                                                    \
		check_that(!(call), #call " is something", 0);                \
		check_that(errno == (wanted), #call " is not " #wanted, errno); \
	} while (0)

void rig_open(void);
struct ibv_cq *rig_cq(int entries);

/* Into INIT; queues that it has not yet are made, of 64 entries. */
void end_make(struct end *e, struct ibv_srq *srq, int max_wr);

void end_receives(struct end *e, const struct end *peer);
void end_sends(struct end *e);
void ends_connect(struct end *a, struct end *b);

/* a and b as they are, in a new life. */
void ends_make(struct end *a, struct end *b);

int end_modify(struct end *e, enum ibv_qp_state state);

static inline struct ibv_sge rig_sge(uint32_t at, uint32_t bytes)
{
	return (struct ibv_sge){ (uintptr_t)mem + at, bytes, mr->lkey };
}

/* Of mem from 0 on; a WRITE or READ reaches mem from the middle on. */
int end_post(struct end *e, enum ibv_wr_opcode opcode, uint64_t wr_id,
	     uint32_t bytes, uint32_t rkey);

int end_post_recv(struct end *e, uint64_t wr_id, uint32_t bytes);
int rig_post_srq(struct ibv_srq *srq, uint64_t wr_id, uint32_t bytes);

/* The next completion; what never comes ends the program by its caller's limit. */
struct ibv_wc cq_next(struct ibv_cq *cq);

void cq_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);

#endif
