// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completion channels (ibv_get_cq_event(3)).
 *
 * A channel is a list of queues that have events, and a descriptor that is readable while there
 * are some, so that a program can poll() it beside other things. Each completion queue on one
 * has a thread, which sleeps in the driver while the queue is armed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs.h"

/* So long a queue that is being destroyed waits for its thread at most. */
#define LOOK_NS	20000000ull

struct v_channel {
	struct ibv_comp_channel ibv;
	struct v_bell bell;		/* out: ibv.fd */
	pthread_mutex_t lock;		/* of both, the list, and what events say of themselves */
	struct v_cq *first, **last;
};

/* ---- descriptors that wake ---- */

/* Not a pipe: of that nobody can read, if there is anything, without waiting if there is not. */
int v_bell_make(struct v_bell *b)
{
	int end[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, end))
		return -errno;
	fcntl(end[0], F_SETFD, FD_CLOEXEC);
	fcntl(end[1], F_SETFD, FD_CLOEXEC);
	*b = (struct v_bell){ .out = end[0], .in = end[1] };
	return 0;
}

void v_bell_close(struct v_bell *b)
{
	close(b->out);
	close(b->in);
}

void v_bell_set(struct v_bell *b, bool some)
{
	char byte = 0;

	if (some && !b->rung)
		while (write(b->in, &byte, 1) < 0 && errno == EINTR)
			;
	/* Whoever has read it already finds nothing to take, and waits again. */
	if (!some && b->rung)
		some = recv(b->out, &byte, 1, MSG_DONTWAIT) != 1;
	b->rung = some;
}

bool v_bell_wait(struct v_bell *b)
{
	char byte;

	return read(b->out, &byte, 1) == 1;
}

void v_bell_heard(struct v_bell *b)
{
	b->rung = false;
}

int v_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, was;
	int error;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	error = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return -error;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	struct v_channel *ch = calloc(1, sizeof(*ch));
	int error = ch ? v_bell_make(&ch->bell) : -ENOMEM;

	if (error) {
		free(ch);
		return v_null(error);
	}
	ch->ibv.context = c;
	ch->ibv.fd = ch->bell.out;
	pthread_mutex_init(&ch->lock, NULL);
	ch->last = &ch->first;
	return &ch->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct v_channel *ch = (struct v_channel *)channel;
	int users;

	pthread_mutex_lock(&channel->context->mutex);
	users = channel->refcnt;
	pthread_mutex_unlock(&channel->context->mutex);
	if (users)
		return EBUSY;
	v_bell_close(&ch->bell);
	pthread_mutex_destroy(&ch->lock);
	free(ch);
	return 0;
}

/* ---- events of a channel ---- */

static struct v_channel *channel_of(const struct v_cq *q)
{
	return (struct v_channel *)q->ibv.channel;
}

static void channel_append(struct v_channel *ch, struct v_cq *q)
{
	q->event.next = NULL;
	*ch->last = q;
	ch->last = &q->event.next;
}

static void event_add(struct v_cq *q)
{
	struct v_channel *ch = channel_of(q);

	pthread_mutex_lock(&ch->lock);
	if (!q->event.waiting++)
		channel_append(ch, q);
	v_bell_set(&ch->bell, true);
	pthread_mutex_unlock(&ch->lock);
}

/* The oldest; NULL: its queue was destroyed. */
static struct v_cq *event_take(struct v_channel *ch)
{
	struct v_cq *q;

	pthread_mutex_lock(&ch->lock);
	v_bell_heard(&ch->bell);
	q = ch->first;
	if (q) {
		ch->first = q->event.next;
		if (!ch->first)
			ch->last = &ch->first;
		q->event.told++;
		if (--q->event.waiting)
			channel_append(ch, q);
	}
	v_bell_set(&ch->bell, ch->first);
	pthread_mutex_unlock(&ch->lock);
	return q;
}

/* What nobody has taken, nobody will. */
static void event_drop(struct v_cq *q)
{
	struct v_channel *ch = channel_of(q);
	struct v_cq **at;

	pthread_mutex_lock(&ch->lock);
	for (at = &ch->first; *at && *at != q; at = &(*at)->event.next)
		;
	if (*at) {
		*at = q->event.next;
		if (!*at)
			ch->last = at;
	}
	q->event.waiting = 0;
	v_bell_set(&ch->bell, ch->first);
	pthread_mutex_unlock(&ch->lock);
}

/* ---- the thread of a queue ---- */

static void *event_thread(void *arg)
{
	struct v_event *e = &((struct v_cq *)arg)->event;
	int error;

	pthread_mutex_lock(&e->lock);
	while (!e->ending) {
		if (!e->armed) {
			pthread_cond_wait(&e->change, &e->lock);
			continue;
		}
		pthread_mutex_unlock(&e->lock);
		error = fl_sleep(((struct v_cq *)arg)->cq, LOOK_NS);
		pthread_mutex_lock(&e->lock);
		if (error == -ETIMEDOUT || error == -EINTR || e->ending)
			continue;
		/* An error is news as well: polling says what it is. */
		e->armed = false;
		event_add(arg);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

int v_event_begin(struct v_cq *q)
{
	struct ibv_comp_channel *channel = q->ibv.channel;
	int error;

	pthread_mutex_init(&q->event.lock, NULL);
	pthread_cond_init(&q->event.change, NULL);
	error = v_thread(&q->event.thread, event_thread, q);
	if (error)
		return error;
	pthread_mutex_lock(&channel->context->mutex);
	channel->refcnt++;
	pthread_mutex_unlock(&channel->context->mutex);
	return 0;
}

void v_event_end(struct v_cq *q)
{
	struct ibv_comp_channel *channel = q->ibv.channel;

	pthread_mutex_lock(&q->event.lock);
	q->event.ending = true;
	pthread_cond_signal(&q->event.change);
	pthread_mutex_unlock(&q->event.lock);
	pthread_join(q->event.thread, NULL);
	event_drop(q);
	/* What was taken must be acknowledged: nobody looks at a queue that is gone. */
	pthread_mutex_lock(&q->ibv.mutex);
	while (q->ibv.comp_events_completed != q->event.told)
		pthread_cond_wait(&q->ibv.cond, &q->ibv.mutex);
	pthread_mutex_unlock(&q->ibv.mutex);
	pthread_mutex_lock(&channel->context->mutex);
	channel->refcnt--;
	pthread_mutex_unlock(&channel->context->mutex);
	pthread_cond_destroy(&q->event.change);
	pthread_mutex_destroy(&q->event.lock);
}

int v_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct v_cq *q = v_cq(cq);
	int error;

	if (!cq->channel)
		return EINVAL;
	pthread_mutex_lock(&q->lock);
	error = fl_arm(q->cq, solicited_only);
	pthread_mutex_unlock(&q->lock);
	if (error)
		return v_error(error);
	pthread_mutex_lock(&q->event.lock);
	q->event.armed = true;
	pthread_cond_signal(&q->event.change);
	pthread_mutex_unlock(&q->event.lock);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **cq_context)
{
	struct v_channel *ch = (struct v_channel *)channel;
	struct v_cq *q;

	do {
		/* EAGAIN of one that must not block, EINTR. */
		if (!v_bell_wait(&ch->bell))
			return -1;
		q = event_take(ch);
	} while (!q);
	*cq = &q->ibv;
	*cq_context = q->ibv.cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += n;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
