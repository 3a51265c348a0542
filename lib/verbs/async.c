// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events of the device (ibv_get_async_event(3)): each context has a thread that sleeps in the
 * driver until there is one, and a list of those that the program has not taken. While it is
 * not empty, async_fd is readable.
 *
 * What a card says of a queue pair that failed becomes the event that InfiniBand has for it
 * (11.6.3, 10.10.2): none if a completion says why, which it does to who asked, and of a
 * receive.
 */
#include <errno.h>
#include <stdlib.h>

#include "faultline/entries.h"
#include "verbs.h"

/* So long a context that is being closed waits for its thread at most. */
#define LOOK_NS	20000000ull

/* An event that waits to be taken. */
struct v_news {
	struct v_news *next;
	struct v_source *of;		/* NULL: of the device */
	struct ibv_async_event event;
};

/* ---- the list; all of it under news.lock ---- */

static void news_add(struct v_context *v, struct v_source *of, enum ibv_event_type type)
{
	struct v_news *n = calloc(1, sizeof(*n));

	if (!n)
		return;
	n->of = of;
	n->event.event_type = type;
	/* The members of the union are pointers, but for that of ports. */
	if (of)
		n->event.element.qp = of->object;
	*v->news.last = n;
	v->news.last = &n->next;
	v_bell_set(&v->news.bell, true);
}

/* Forget what waits of one source, or of all (NULL). */
static void news_drop(struct v_context *v, const struct v_source *of)
{
	struct v_news **at = &v->news.first, *n;

	while ((n = *at)) {
		if (of && n->of != of) {
			at = &n->next;
			continue;
		}
		*at = n->next;
		free(n);
	}
	v->news.last = at;
	v_bell_set(&v->news.bell, v->news.first);
}

void v_source_add(struct v_context *v, struct v_source *s, void *object, const void *fl,
		  uint32_t qpn)
{
	*s = (struct v_source){ .context = v, .object = object, .fl = fl, .qpn = qpn };
	pthread_mutex_lock(&v->news.lock);
	s->next = v->news.sources;
	v->news.sources = s;
	pthread_mutex_unlock(&v->news.lock);
}

void v_source_del(struct v_source *s, pthread_mutex_t *lock, pthread_cond_t *cond,
		  const uint32_t *acked)
{
	struct v_context *v = s->context;
	struct v_source **at = &v->news.sources;

	pthread_mutex_lock(&v->news.lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	news_drop(v, s);
	pthread_mutex_unlock(&v->news.lock);
	/* What was taken must be acknowledged: nobody looks at what is gone. */
	pthread_mutex_lock(lock);
	while (*acked != s->told)
		pthread_cond_wait(cond, lock);
	pthread_mutex_unlock(lock);
}

/* ---- what a card's event means ---- */

/* -1: nothing, as a completion says it. */
static int qp_error_type(const struct fl_event *e)
{
	if (!e->untold)
		return -1;
	switch (e->status) {
	case FL_ST_REMOTE_ACCESS:
		return IBV_EVENT_QP_ACCESS_ERR;
	case FL_ST_REMOTE_INVALID:
		return IBV_EVENT_QP_REQ_ERR;
	case FL_ST_LENGTH:
	case FL_ST_BAD_LENGTH:
	case FL_ST_LOCAL_KEY:
	case FL_ST_LOCAL_RANGE:
	case FL_ST_LOCAL_RIGHTS:
		return -1;	/* of the receive that was too short, or leads to nothing */
	}
	return IBV_EVENT_QP_FATAL;
}

static int event_type(const struct fl_event *e)
{
	switch (e->type) {
	case FL_EVENT_QP_ERROR:
		return qp_error_type(e);
	case FL_EVENT_CQ_OVERFLOW:
		return IBV_EVENT_CQ_ERR;
	case FL_EVENT_SRQ_LIMIT:
		return IBV_EVENT_SRQ_LIMIT_REACHED;
	case FL_EVENT_LAST_RECV:
		return IBV_EVENT_QP_LAST_WQE_REACHED;
	case FL_EVENT_QP_HEARD:
		return IBV_EVENT_COMM_EST;
	case FL_EVENT_SQ_DRAINED:
		return IBV_EVENT_SQ_DRAINED;
	}
	return -1;
}

/* Only its address counts: by now the object may be gone. */
static const void *event_object(const struct fl_event *e)
{
	if (e->qp)
		return e->qp;
	return e->cq ? (const void *)e->cq : e->srq;
}

static void event_take(struct v_context *v, const struct fl_event *e)
{
	int type = event_type(e);
	struct v_source *s;

	pthread_mutex_lock(&v->news.lock);
	for (s = v->news.sources; s; s = s->next)
		if (s->fl == event_object(e) && s->qpn == e->qpn)
			break;
	if (s && e->type == FL_EVENT_SRQ_LIMIT)
		v_srq_limit_passed(s->object);
	/* The card says it unasked. */
	if (s && e->type == FL_EVENT_SQ_DRAINED &&
	    !atomic_load(&v_qp(s->object)->tell_drained))
		type = -1;
	if (s && type >= 0)
		news_add(v, s, (enum ibv_event_type)type);
	pthread_mutex_unlock(&v->news.lock);
}

static void *news_thread(void *arg)
{
	struct v_context *v = arg;
	struct fl_event e;
	int error;

	while (!atomic_load(&v->news.ending)) {
		error = fl_next_event(v->dev, &e, LOOK_NS);
		if (!error)
			event_take(v, &e);
		if (!error || error == -ETIMEDOUT || error == -EINTR)
			continue;
		/* No further event can come. */
		pthread_mutex_lock(&v->news.lock);
		news_add(v, NULL, IBV_EVENT_DEVICE_FATAL);
		pthread_mutex_unlock(&v->news.lock);
		break;
	}
	return NULL;
}

int v_news_begin(struct v_context *v)
{
	int error = v_bell_make(&v->news.bell);

	if (error)
		return error;
	v->verbs.context.async_fd = v->news.bell.out;
	v->news.last = &v->news.first;
	pthread_mutex_init(&v->news.lock, NULL);
	error = v_thread(&v->news.thread, news_thread, v);
	if (!error)
		return 0;
	pthread_mutex_destroy(&v->news.lock);
	v_bell_close(&v->news.bell);
	return error;
}

void v_news_end(struct v_context *v)
{
	atomic_store(&v->news.ending, true);
	pthread_join(v->news.thread, NULL);
	news_drop(v, NULL);
	v_bell_close(&v->news.bell);
	pthread_mutex_destroy(&v->news.lock);
}

/* ---- for programs ---- */

/* The oldest; false: what it was of is gone. */
static bool news_take(struct v_context *v, struct ibv_async_event *event)
{
	struct v_news *n;

	pthread_mutex_lock(&v->news.lock);
	v_bell_heard(&v->news.bell);
	n = v->news.first;
	if (n) {
		v->news.first = n->next;
		if (!v->news.first)
			v->news.last = &v->news.first;
		if (n->of)
			n->of->told++;
		*event = n->event;
	}
	v_bell_set(&v->news.bell, v->news.first);
	pthread_mutex_unlock(&v->news.lock);
	free(n);
	return n;
}

int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *event)
{
	struct v_context *v = v_context(c);

	do {
		/* EAGAIN of one that must not block, EINTR. */
		if (!v_bell_wait(&v->news.bell))
			return -1;
	} while (!news_take(v, event));
	return 0;
}

static void event_acknowledge(pthread_mutex_t *lock, pthread_cond_t *cond, uint32_t *acked)
{
	pthread_mutex_lock(lock);
	++*acked;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(lock);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_qp *qp = event->element.qp;
	struct ibv_cq *cq = event->element.cq;
	struct ibv_srq *srq = event->element.srq;

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		event_acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		event_acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		event_acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
		break;
	default:
		break;		/* of the device, or not from here */
	}
}
