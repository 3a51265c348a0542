/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bounce.h - requests of a process whose card never misses a page (system npr): what was
 * lost is found afterwards, and done again (bounce.c); and the memory for that (sink.c).
 *
 * A queue pair carries one request at a time, and the next one begins when all bytes of it
 * are known to be in place. So what is done again cannot come to lie on what was written
 * later, and a flag cannot be seen before its data: the order that fl_post() promises.
 * Several queue pairs go on side by side. The work is done in fl_post(), fl_poll() and fl_wait(): a
 * program that posts and never polls gets no further than its first request.
 */
#ifndef FL_LIB_BOUNCE_H
#define FL_LIB_BOUNCE_H

#include "faultline/bounce.h"
#include "lib_internal.h"

#define BOUNCE_PAGE	4096u	/* of the card, and of words */
#define BOUNCE_LIST	256u	/* regions of a protection domain */

/* One of the list that peers read; what they look for they look for by key. */
struct bounce_entry {
	uint64_t addr, length;
	uint64_t words;		/* 0: its pages are always there */
	uint32_t words_key;
	uint32_t key;		/* 0: none. Written last */
};

/* Memory of the library that the card may use at any time, and its region. */
struct bounce_memory {
	struct fl_pd *pd;
	void *mem;
	size_t bytes;
	uint32_t key;
};

/* Of a protection domain. */
struct lib_sink {
	struct bounce_memory list;
};

/* access: beside FL_LOCAL_WRITE. mem is NULL: there is nothing to free. */
int bounce_memory_make(struct bounce_memory *m, struct fl_pd *pd, size_t bytes,
		       unsigned int access, uint32_t flags);
void bounce_memory_free(struct bounce_memory *m);
/* Which entry has this range; key is not 0. NULL: none. */
struct bounce_entry *bounce_find(struct bounce_entry *list, uint32_t key,
				 uint64_t addr, uint32_t bytes);
/* The list of a protection domain. */
struct bounce_entry *bounce_own(const struct fl_pd *pd);

/* sink.c, for mr.c: the region is registered with words, and peers hear of it. */
int bounce_words_make(struct fl_mr *mr, struct fl_reg_mr *r, bool pinned);
int bounce_list_add(struct fl_mr *mr);
void bounce_list_del(struct fl_mr *mr);
int bounce_pd_make(struct fl_pd *pd);
void bounce_pd_free(struct fl_pd *pd);

/* So that the words of one part fit in their place. */
#define PART_BYTES	(1u << 20)
#define PART_PAGES	(PART_BYTES / BOUNCE_PAGE + 1)
/* Work of a queue pair that the card has at a time, at most. */
#define STEP_WORK	4u

/* Places in the scratch region. */
#define AT_WORDS	0u
#define AT_ANSWER	2048u
#define AT_NUMBER	2064u
#define AT_LIST		4096u
#define AT_DATA		16384u
#define AT_CALL		(AT_DATA - (uint32_t)sizeof(struct fl_ring_call))
#define SCRATCH_BYTES	(AT_DATA + FL_BOUNCE_BYTES)

_Static_assert(PART_PAGES * sizeof(uint32_t) <= AT_ANSWER &&
	       BOUNCE_LIST * sizeof(struct bounce_entry) <= AT_CALL - AT_LIST,
	       "places do not overlap");

enum step {
	STEP_IDLE,	/* the next request, if there is one */
	STEP_PART,	/* the next part of it: do we know the region there? */
	STEP_LIST,	/* the list of the peer's regions has come */
	STEP_LOOK,	/* do we know its words? */
	STEP_WORDS,	/* they have come */
	STEP_SEND,	/* the part itself, and the words again */
	STEP_CHECK,	/* both have come to an end */
	STEP_REDO,	/* the next bytes that are missing */
	STEP_ANSWER,	/* the peer's answer was read */
	STEP_FETCH,	/* the bytes of a READ have come */
	STEP_RAW,	/* the card ends it as it may, since we know no such region */
	STEP_END,	/* a completion has come that whoever sleeps wakes up for */
};

struct bounce_request {
	struct fl_work w;
	int status;
	uint32_t resends, xfer;
};

struct lib_bounce {
	struct bounce_memory ring;	/* the peer's calls */
	struct bounce_memory scratch;	/* for what this end reads and sends */
	struct fl_address peer;
	struct bounce_request *request;
	uint32_t entries;
	uint32_t posted, ended, taken;	/* counts of requests */

	enum step step;
	unsigned int waiting;	/* completions */
	int status;		/* of the first work that failed, or the verdict */
	bool failed;		/* a request has: all later ones are flushed */
	bool listed;		/* the list is no older than this request */
	bool skipped;		/* nothing of the part was worth sending */
	uint32_t at, part;	/* of the request: the part that is under way */
	uint32_t redo, piece;	/* of the part: done; bytes of this call */
	uint32_t number;	/* of the last call */
	struct bounce_entry list[BOUNCE_LIST];
	uint32_t *seen[BOUNCE_LIST];	/* words of each, as they were last; 0: unknown */
	uint32_t before[PART_PAGES], after[PART_PAGES];
	uint32_t own_before[PART_PAGES], own_after[PART_PAGES];
};

static inline struct bounce_request *request_at(struct lib_bounce *b, uint32_t n)
{
	return &b->request[n % b->entries];
}

/* bounce.c; the completion queue is locked. */
/* As far as it goes without waiting. */
void bounce_run(struct fl_qp *qp);
/* One of the completions that it waits for. */
void bounce_event(struct fl_qp *qp, const struct fl_completion *c);

/* bounce_qp.c, for qp.c, work.c and cq.c */
int bounce_qp_make(struct fl_qp *qp);
void bounce_qp_free(struct fl_qp *qp);
void bounce_address(const struct fl_qp *qp, struct fl_address *a);
int bounce_connect(struct fl_qp *qp, const struct fl_address *peer);
int bounce_post(struct fl_qp *qp, const struct fl_work *w);
/* So many more it takes now. */
uint32_t bounce_room(const struct fl_qp *qp);
/* As cq_take() until n: how many, or -EIO if there is none. */
int bounce_poll(struct fl_cq *cq, struct fl_completion *c, int n);

#endif
