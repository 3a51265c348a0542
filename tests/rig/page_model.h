/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page_model.h - what may be in a few pages that everybody writes to: a naive model, which knows
 * bytes, the order in which a program did things, and nothing else.
 *
 * Each thing that the program does is a step. A deed is a store by the CPU or a request; it has
 * begun in one step, and its end was seen in another. Whether it was allowed is looked up step
 * by step between the two: which key the memory had then, and which rights each page. A
 * call that changes either has both states in its step.
 */
#ifndef FL_RIG_PAGE_MODEL_H
#define FL_RIG_PAGE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "host/host.h"

#define MODEL_PAGES	2u
#define MODEL_BYTES	(MODEL_PAGES * HOST_PAGE)
#define MODEL_DEEDS	1500u
#define MODEL_STEPS	6000u
#define MODEL_CPU	99u	/* in place of a queue pair: a store */

enum deed_end { DEED_UNDER_WAY, DEED_OK, DEED_FAILED };

struct deed {
	unsigned int pair;	/* of one connection; a new one has another number */
	bool read;
	uint32_t at, bytes, key;
	unsigned int begun, seen;	/* steps; seen: its end */
	unsigned int settled;	/* from then on nothing of it can come; 0: not yet */
	enum deed_end end;
};

struct page_model {
	struct deed deed[MODEL_DEEDS];
	unsigned int deeds, now;	/* now: the step */
	struct model_state {
		uint32_t key[2];	/* before and after; 0: no region */
		int prot[2][MODEL_PAGES];
	} step[MODEL_STEPS];
};

void model_begin(struct page_model *m);
/* A step in which nothing of the state changes. */
void model_step(struct page_model *m);
/* Steps in which a call changes the region, or the rights of a page. */
void model_key(struct page_model *m, uint32_t key);
void model_protect(struct page_model *m, unsigned int page, int prot);

/* The value of a byte that a deed writes. */
uint8_t model_byte(unsigned int deed, uint32_t at);
unsigned int model_store(struct page_model *m, uint32_t at, uint32_t bytes);
unsigned int model_post(struct page_model *m, const struct deed *d);
/* Its completion was seen. */
void model_end(struct page_model *m, unsigned int deed, bool ok);
/* Of a queue pair whose both ends are gone. */
void model_settle(struct page_model *m, unsigned int pair);

/* May a request have been carried out, and may it have been refused? */
bool model_allowed(const struct page_model *m, const struct deed *d);
bool model_refusable(const struct page_model *m, const struct deed *d);
/* The second, of any request of a queue pair. */
bool model_pair_refusable(const struct page_model *m, unsigned int pair);
/*
 * The first byte that no order of the deeds would have left; bytes: all are right. reader: the READ
 * that brought them, or NULL: they were looked at in this step.
 */
uint32_t model_wrong(const struct page_model *m, const struct deed *reader, uint32_t at,
		     uint32_t bytes, const uint8_t *found);

#endif
