/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs.h - libibverbs on Faultline: what the files of lib/verbs share.
 *
 * Programs that were built against rdma-core find this library in place of its
 * libibverbs.so.1 (faultline with), and a board of Faultline as an InfiniBand device. It is
 * made of the public calls of faultline.h and nothing else; what verbs mean is in
 * rdma-core's manual pages (ibv_post_send(3) and its neighbours).
 *
 * Addresses: a port's LID is the node's number + 1, a queue pair has the number that the
 * card gave it. So what programs tell each other out of band is all that fl_connect() needs.
 *
 * Locks: one of a completion queue, one of each side of a queue pair; inside them nothing is
 * locked. Inside that of a context's events it is a shared receive queue's. Verbs may be called
 * from any thread, faultline.h's objects from one at a time.
 *
 * Files: device.c, mr.c, cq.c, event.c (completion channels), async.c (events of the device),
 * qp.c (queue pairs and their states), srq.c, ah.c (address handles), post.c (work requests),
 * postex.c (the same, built call by call), words.c; exports (a script: what must be exported, and
 * under which versions).
 */
#ifndef FL_VERBS_H
#define FL_VERBS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <infiniband/verbs.h>

#include "faultline.h"

#define V_PORT		1
#define V_MTU		IBV_MTU_4096
#define V_MESSAGE_MAX	0x7FFFFFFFu
#define V_KEY		0xFFFF		/* the one partition */
#define V_ATOMICS	16		/* READs and atomics of a queue pair that are on the way */
#define V_LID_MAX	256		/* node + 1 */
#define V_GRH		40		/* bytes in front of a datagram (ibv_post_recv(3)) */
#define V_POLL		16		/* completions that are taken at once */

struct v_device {
	struct ibv_device ibv;
	char card[FL_NAME_BYTES];	/* for fl_open() */
	unsigned int users;		/* lists and contexts; under v_devices */
	int index;
};

/*
 * A descriptor that is readable while there is something to take: then there is one byte, or
 * somebody has read it and has not taken anything yet (event.c).
 */
struct v_bell {
	int out, in;			/* where it is read, and written */
	bool rung;			/* under its owner's lock */
};

/* What events of the device may be about (async.c). */
struct v_source {
	struct v_context *context;
	void *object;			/* for programs: ibv_qp, ibv_cq, ibv_srq */
	const void *fl;			/* the same for faultline.h */
	uint32_t qpn;			/* of a queue pair; else 0 */
	/* Under news.lock: events that the program has taken. */
	uint32_t told;
	struct v_source *next;
};

/* Of a context (async.c). */
struct v_news_list {
	pthread_t thread;
	atomic_bool ending;
	struct v_bell bell;		/* out: async_fd */
	pthread_mutex_t lock;		/* of the bell, and of what follows */
	struct v_source *sources;
	struct v_news *first, **last;
};

struct v_context {
	struct fl_device *dev;
	struct fl_device_attr attr;
	bool packets;			/* all verbs; else WRITE and READ, by blocks */
	bool connections;		/* and of packets not datagrams alone */
	uint32_t ud_odp;		/* IBV_ODP_SUPPORT_*, of datagrams */
	bool implicit;			/* regions of all memory that the process has */
	struct v_news_list news;
	struct verbs_context verbs;	/* ends with the ibv_context */
};

struct v_pd {
	struct ibv_pd ibv;
	struct fl_pd *pd;
	atomic_uint ahs;
};

struct v_ah {
	struct ibv_ah ibv;
	uint32_t node;
};

struct v_mr {
	struct ibv_mr ibv;
	struct fl_mr *mr;
};

/* Of a queue on a completion channel (event.c). */
struct v_event {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool armed, ending;		/* under lock */
	/* Under the channel's lock: events to be taken, ever taken; the next queue with some. */
	uint32_t waiting, told;
	struct v_cq *next;
};

struct v_cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex;
	};
	struct fl_cq *cq;
	pthread_mutex_t lock;		/* of polling */
	unsigned int users;		/* queue pairs; under lock */
	struct v_event event;
	struct v_source source;
	struct ibv_wc now;		/* ibv_start_poll(): the one that is looked at */
};

struct v_srq {
	struct ibv_srq ibv;
	struct fl_srq *srq;
	pthread_mutex_t lock;		/* of posting, and of attr */
	struct ibv_srq_attr attr;
	struct v_source source;
};

/* What a request that is being built points to. */
struct v_data {
	struct fl_segment segment[FL_SEND_SEGMENTS];
	unsigned char bytes[FL_INLINE_BYTES];	/* a copy */
	struct fl_address to;		/* of a datagram */
};

/* Requests that are being built (postex.c), or have been. */
struct v_build {
	struct fl_work *work;
	struct v_data *data;		/* one of each */
	unsigned int n, room;
	int error;			/* the first */
};

struct v_qp {
	struct ibv_qp_ex ex;		/* begins with the ibv_qp */
	struct fl_qp *qp;
	pthread_mutex_t send_lock, recv_lock;
	bool sig_all;
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	atomic_bool tell_drained;	/* IBV_EVENT_SQ_DRAINED was asked for */
	struct v_build build;		/* from wr_start to wr_complete: under send_lock */
	struct v_source source;
};

static inline struct v_context *v_context(struct ibv_context *c)
{
	return (struct v_context *)((char *)c - offsetof(struct v_context, verbs.context));
}

static inline struct v_pd *v_pd(struct ibv_pd *pd)
{
	return (struct v_pd *)pd;
}

static inline struct v_cq *v_cq(struct ibv_cq *cq)
{
	return (struct v_cq *)cq;
}

static inline struct v_srq *v_srq(struct ibv_srq *srq)
{
	return (struct v_srq *)srq;
}

static inline struct v_qp *v_qp(struct ibv_qp *qp)
{
	return (struct v_qp *)qp;
}

/* Requests of a queue pair, each of which may have max_sge segments and so take two entries. */
static inline uint32_t v_max_wr(const struct v_context *v)
{
	return v->packets ? v->attr.max_queue / 2 : v->attr.max_queue;
}

/* verbs return errno as a positive number, or NULL with errno set */
static inline int v_error(int error)
{
	return error < 0 ? -error : error;
}

static inline void *v_null(int error)
{
	errno = v_error(error);
	return NULL;
}

/* ---- the operations that inline functions of infiniband/verbs.h reach ---- */

int v_query_device_ex(struct ibv_context *c, const struct ibv_query_device_ex_input *in,
		      struct ibv_device_attr_ex *attr, size_t bytes);
int v_query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr,
		 size_t bytes);
int v_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		struct ibv_sge *list, uint32_t n);
int v_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int v_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *v_create_cq_ex(struct ibv_context *c, struct ibv_cq_init_attr_ex *init);
struct ibv_qp *v_create_qp_ex(struct ibv_context *c, struct ibv_qp_init_attr_ex *init);
int v_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/* FL_REMOTE_* of IBV_ACCESS_*. */
unsigned int v_remote_rights(unsigned int access);
/* sge to segment: of a request, or of a receive. */
void v_segments(struct fl_segment *to, const struct ibv_sge *from, int n);
/* ah.c: w goes there; to: for what it points to. */
void v_whom(const struct v_qp *q, const struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
	    struct fl_address *to, struct fl_work *w);
int v_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int v_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* Of other libraries of rdma-core; no header of programs has them. */
int ibv_dontfork_range(void *base, size_t bytes);
int ibv_dofork_range(void *base, size_t bytes);

/* event.c: 0 or negative errno. It is closed by exec. */
int v_bell_make(struct v_bell *b);
void v_bell_close(struct v_bell *b);
/* Under its owner's lock: is there something to take? */
void v_bell_set(struct v_bell *b, bool some);
/* With no lock: until there is. False and errno, as read() left it. Then, under the lock, call: */
bool v_bell_wait(struct v_bell *b);
void v_bell_heard(struct v_bell *b);
/* 0 or negative errno: the program's signals are for its own threads. */
int v_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);
/* The same: of a queue that has a channel. End waits until every event was acknowledged. */
int v_event_begin(struct v_cq *q);
void v_event_end(struct v_cq *q);

/* async.c: makes async_fd. 0 or negative errno. */
int v_news_begin(struct v_context *v);
/* All objects that are left tell no more. */
void v_news_end(struct v_context *v);
void v_source_add(struct v_context *v, struct v_source *s, void *object, const void *fl,
		  uint32_t qpn);
/* Waits until every event of it was acknowledged: what the object's counter says. */
void v_source_del(struct v_source *s, pthread_mutex_t *lock, pthread_cond_t *cond,
		  const uint32_t *acked);
/* srq.c: its event has come. */
void v_srq_limit_passed(struct ibv_srq *srq);

/* postex.c: the calls that build requests, for the operations that were asked for. */
int v_build_init(struct v_qp *q, enum fl_qp_type type, uint64_t send_ops);

#endif
