// SPDX-License-Identifier: BSD-2-Clause
/*
 * Completion channels (ibv_get_cq_event(3)).
 *
 * A channel is a list of queues that have events, and a pipe with a byte for each event, so that a
 * program can poll() it beside other things. Each completion queue on one has a thread, which
 * sleeps in the driver while the queue is armed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

/* So long a queue that is being destroyed waits for its thread at most. */
#define LOOK_NS	20000000ull

struct v_channel {
	struct ibv_comp_channel ibv;	/* fd: where it is read */
	int in;				/* where it is written */
	pthread_mutex_t lock;		/* of the list, and of what events say of themselves */
	struct v_cq *first, **last;
};

int v_pipe(int end[2])
{
	if (pipe(end))
		return -errno;
	fcntl(end[0], F_SETFD, FD_CLOEXEC);
	fcntl(end[1], F_SETFD, FD_CLOEXEC);
	return 0;
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
	int end[2];

	if (!ch)
		return v_null(ENOMEM);
	if (v_pipe(end)) {
		free(ch);
		return NULL;
	}
	ch->ibv.context = c;
	ch->ibv.fd = end[0];
	ch->in = end[1];
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
	close(channel->fd);
	close(ch->in);
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
	pthread_mutex_unlock(&ch->lock);
	while (write(ch->in, "", 1) < 0 && errno == EINTR)
		;
}

/* The oldest; NULL: its queue was destroyed. */
static struct v_cq *event_take(struct v_channel *ch)
{
	struct v_cq *q;

	pthread_mutex_lock(&ch->lock);
	q = ch->first;
	if (q) {
		ch->first = q->event.next;
		if (!ch->first)
			ch->last = &ch->first;
		q->event.told++;
		if (--q->event.waiting)
			channel_append(ch, q);
	}
	pthread_mutex_unlock(&ch->lock);
	return q;
}

/* What nobody has taken, nobody will; as many bytes go. */
static void event_drop(struct v_cq *q)
{
	struct v_channel *ch = channel_of(q);
	struct v_cq **at;
	char byte;

	pthread_mutex_lock(&ch->lock);
	for (at = &ch->first; *at && *at != q; at = &(*at)->event.next)
		;
	if (*at) {
		*at = q->event.next;
		if (!*at)
			ch->last = at;
	}
	for (; q->event.waiting; q->event.waiting--) {
		struct pollfd p = { .fd = ch->ibv.fd, .events = POLLIN };

		/* Whoever has read it already finds no queue, and reads on. */
		if (poll(&p, 1, 0) > 0 && read(ch->ibv.fd, &byte, 1) != 1)
			break;
	}
	q->event.waiting = 0;
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
	struct v_cq *q;
	char byte;

	do {
		/* errno as read() left it: EAGAIN of one that must not block, EINTR. */
		if (read(channel->fd, &byte, 1) != 1)
			return -1;
		q = event_take((struct v_channel *)channel);
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
