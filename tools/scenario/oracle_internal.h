/* SPDX-License-Identifier: BSD-2-Clause */
/* oracle_internal.h - what the files of the oracle share. */
#ifndef FL_ORACLE_INTERNAL_H
#define FL_ORACLE_INTERNAL_H

#include <stddef.h>

#include "tools/scenario/oracle.h"

#define ORACLE_NAME	40
#define NOT_ENDED	UINT64_MAX

struct op;

/* Where bytes of a request may come from: a copy, another write, or anything. */
struct piece {
	uint64_t at, n;		/* bytes of the request */
	uint8_t *data;		/* a copy, of n bytes; NULL: */
	struct op *op;		/* what this one wrote; NULL: anything */
	uint64_t op_at;
};

/* A write: a request; or stores whose bytes are not plain (oracle_touch). */
struct op {
	char name[ORACLE_NAME];
	uint64_t number, post, end;	/* times; end NOT_ENDED: it may still write */
	uint32_t pair;			/* ORACLE_NOWHERE: the CPU */
	uint64_t order;			/* on its queue pair */
	bool read, fence, doubtful;
	bool done;			/* surely carried out */
	bool failed;			/* completed with an error, or never will */
	bool never;			/* surely has written nothing */
	bool any;			/* it may have written anything */
	bool filtered;			/* order alone took possible sources away */
	bool marked;
	uint32_t from, to;
	uint64_t from_at, to_at, n;
	struct piece *piece;
	unsigned int pieces, room;
};

enum base { BASE_NONE, BASE_KNOWN, BASE_ANY };

/* Bytes that may come from the same writes: base (the area's array), ops. */
struct segment {
	uint64_t at, end;
	enum base base;
	uint64_t base_time;
	struct op **op;
	unsigned int ops, room;
};

struct area {
	char name[ORACLE_NAME];
	uint64_t n;
	uint8_t *base;
	struct segment *seg;	/* in order, without gaps */
	unsigned int segs, room;
};

struct pair {
	char name[ORACLE_NAME];
	enum oracle_order kept;
	uint64_t orders, completed;
	/* Seen: requests below these were carried out; learnt by a look. */
	uint64_t seen, seen_read;
	struct mail *mail;	/* requests of datagrams; else NULL */
};

/* A datagram that was posted. */
struct letter {
	struct op *op;		/* NULL: it cannot come any more */
	uint64_t number;
	uint32_t bytes, imm;
	bool with_imm, taken, never;
	bool loose;		/* the wire disturbed the order of its batch */
	uint32_t batch;		/* those of a later one come later */
};

struct mail {
	uint32_t receives;	/* the queue's, as a pair */
	struct letter *letter;
	unsigned int letters, room;
	unsigned int next;	/* the first that may come next */
	uint32_t batch;
	uint64_t late, twice;	/* what the wire had done before the batch */
};

struct oracle {
	struct area *area;
	struct pair *pair;
	struct op **op;		/* all that something refers to */
	struct op **open;	/* that may still write, or complete */
	uint32_t areas, pairs;
	unsigned int ops, opens, op_room, open_room, area_room, pair_room;
	unsigned int sweep_at;		/* so many ops, or so many bytes copied */
	uint64_t copied, copied_max;
	uint64_t time, numbers;
	uint64_t late, twice;	/* packets that the wire held back, or doubled */
	uint64_t twins;		/* datagrams that came once more than they were sent */
	char problem[400];
};

/* oracle.c */
void *oracle_need(void *p);
void *oracle_room(void *p, unsigned int n, unsigned int *room, size_t one);
struct op *oracle_op_new(struct oracle *o, const char *name);
/* v comes surely before w, as far as what they write goes. */
bool oracle_before(const struct oracle *o, const struct op *v,
		   const struct op *w);
/* v comes surely before w takes its bytes. */
bool oracle_before_source(const struct oracle *o, const struct op *v,
			  const struct op *w);
/* v, of the same queue pair, comes surely after w has taken its bytes. */
bool oracle_after_source(const struct oracle *o, const struct op *v,
			 const struct op *w);
void oracle_done(struct oracle *o, struct op *w);
/* It may still write, or complete; NULL. */
struct op *oracle_find_open(struct oracle *o, uint64_t number);
void oracle_close_op(struct oracle *o, struct op *w);
void oracle_say(struct oracle *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* op NULL: data; data NULL too: anything. Bytes from byte `at` of w on. */
void oracle_piece(struct oracle *o, struct op *w, uint64_t at, uint64_t n,
		  const uint8_t *data, struct op *op, uint64_t op_at);

/* oracle_area.c */
/* Number of the first segment in the range; it is cut to the range's ends. */
unsigned int oracle_cut(struct area *a, uint64_t at, uint64_t end);
void oracle_merge(struct area *a, uint64_t at, uint64_t end);
void oracle_segment_drop(struct segment *s, unsigned int i);
/* Without what something that was surely done has come after. */
void oracle_settle(struct oracle *o, struct op *w);
/* w may write where it says. */
void oracle_land(struct oracle *o, struct op *w);
/* It is not to be asked about its target any more. */
void oracle_leave(struct oracle *o, struct op *w);
/* What w's bytes may be, as of now. */
void oracle_sources(struct oracle *o, struct op *w);
/* Somebody writes: requests that are under way may take their bytes from it. */
void oracle_tell_sources(struct oracle *o, uint32_t area, uint64_t at,
			 uint64_t n, const uint8_t *data, struct op *op);

/* oracle_datagram.c */
void oracle_mail_create(struct oracle *o, uint32_t pair);
void oracle_mail_free(struct mail *m);
/* w was posted, and is a datagram; it was not after all. */
void oracle_mail_post(struct oracle *o, struct op *w, const struct oracle_work *r);
void oracle_mail_unpost(struct mail *m);
/* Its request failed. */
void oracle_mail_fail(struct oracle *o, const struct op *w);
/* Ops that something may still be learnt of: i from 0 on; NULL: no more. */
struct op *oracle_mail_op(const struct mail *m, unsigned int i);

#endif
