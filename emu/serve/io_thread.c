// SPDX-License-Identifier: BSD-2-Clause
/*
 * io_thread.c - the thread that looks: at what processes post and ask, as long as there
 * is something; else it sleeps on the sockets, and says so, so that who comes
 * rings. With it the board costs nothing while nobody uses it.
 *
 * It runs the boards' hardware itself: a doorbell is a register write, and what
 * that has made ready runs before it returns, or what others have left; but never so
 * much at once that a card that is always busy would keep it from looking.
 *
 * It takes the interrupts of that hardware, and does their work and short calls as well: to
 * hand these to another thread and to hear of their end costs several times what they
 * take. But they may have to wait, for a lock or for a process that is to close its pages,
 * and a process that is waited for may need the I/O thread. So there are two of them. One is
 * the I/O thread; the other stands by, and before the first waits it hands over: the other
 * is the I/O thread from then on, and the first, when it is done, stands by. While nobody
 * stands by, work and calls go to threads of their own.
 */
#include <poll.h>
#include <unistd.h>

#include "serve/serve_internal.h"
#include "sim/sim.h"

#define SOCKETS_EVERY	256u	/* rounds between two looks at the sockets */
/*
 * Empty rounds, then empty rounds that yield. Few of the first: the process that
 * would post, or the worker that works for it, may wait for this very CPU.
 */
#define SPINS		100u
#define YIELDS		1000u
/*
 * If the last yield gave the CPU to another, that was most likely a process which waits for an
 * answer. Then there are no more empty rounds than these before the next yield.
 */
#define SHARED_SPINS	1u
#define LOOK_MS		100	/* while somebody's time may run out */
/*
 * Of hardware, before its turn is over and the I/O thread looks around: some tenth of a
 * millisecond. A message may be long, and who posts one can have posted many.
 */
#define TURN_STEPS	16u
/* Of work and calls: so many in a round, the rest is for threads that have nothing else. */
#define WORKS_A_ROUND	8u

/* Of each process: the socket, its keeper's, the process itself. */
#define POLL_MAX (1 + LISTENERS + SERVE_WAITING + 3 * CLIENTS_MAX)

struct look {
	struct pollfd fd[POLL_MAX];
	unsigned int n, listeners, pendings;	/* where these begin */
	struct listener *listener[LISTENERS];
	struct pending *pending[SERVE_WAITING];
	struct client *client[3 * CLIENTS_MAX];
	bool timed;				/* somebody's time may run out */
};

static void io_look_add(struct look *l, int fd)
{
	l->fd[l->n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

static bool listeners_resting(struct serve *s)
{
	if (s->listeners_rest_until_ns &&
	    os_now_ns() > s->listeners_rest_until_ns)
		s->listeners_rest_until_ns = 0;
	return s->listeners_rest_until_ns != 0;
}

static void io_look_collect(struct serve *s, struct look *l)
{
	unsigned int i;

	l->n = 0;
	l->timed = listeners_resting(s);
	io_look_add(l, s->wake[0]);
	l->listeners = l->n;
	sim_spin_lock(&s->lock);
	for (i = 0; i < LISTENERS && !l->timed; i++)
		if (s->listener[i].sock >= 0) {
			l->listener[l->n - l->listeners] = &s->listener[i];
			io_look_add(l, s->listener[i].sock);
		}
	sim_spin_unlock(&s->lock);
	l->pendings = l->n;
	for (i = 0; i < SERVE_WAITING; i++)
		if (s->pending[i].sock >= 0) {
			l->pending[l->n - l->pendings] = &s->pending[i];
			io_look_add(l, s->pending[i].sock);
			l->timed = true;
		}
}

static void add_client(struct look *l, unsigned int first, struct client *c,
		       int fd, short events)
{
	l->client[l->n - first] = c;
	io_look_add(l, fd);
	l->fd[l->n - 1].events = events;
}

/* Clients stand behind the pending connections. */
static unsigned int collect_clients(struct serve *s, struct look *l)
{
	unsigned int first = l->n, i;
	struct client *c;

	for (i = 0; i < s->live; i++) {
		c = s->client[i];
		l->timed |= atomic_load(&c->slow_since_ns) != 0;
		if (atomic_load(&c->state) != CLIENT_LIVES)
			continue;
		/* If a keeper reads the socket, its end alone is seen here. */
		add_client(l, first, c, c->sock, c->keeper.number ? 0 : POLLIN);
		if (c->keeper.number)
			add_client(l, first, c, c->keeper.notes, POLLIN);
		if (c->peer >= 0)
			add_client(l, first, c, c->peer, POLLIN);
	}
	return first;
}

static void client_heard(struct client *c, const struct pollfd *p)
{
	/* Another of its descriptors said that it has ended: these are closed soon. */
	if (atomic_load(&c->state) != CLIENT_LIVES)
		return;
	/* One that has its socket still may be there, as a child of it. */
	if (p->fd == c->peer)
		client_end(c, "its process has ended");
	else if (p->fd == c->sock && c->keeper.number)
		client_end(c, "it has gone");
	else
		client_read(c);
}

static void drain_pipe(int fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

/* What the sockets have; wait for it when timeout_ms says so. */
static void io_look_at_sockets(struct serve *s, int timeout_ms)
{
	struct look l;
	unsigned int clients, i;
	bool readable;

	io_look_collect(s, &l);
	clients = collect_clients(s, &l);
	if (timeout_ms < 0 && l.timed)
		timeout_ms = LOOK_MS;
	if (poll(l.fd, l.n, timeout_ms) < 0)
		return;
	if (l.fd[0].revents)
		drain_pipe(s->wake[0]);
	/* Those who are in go first: a crowd at the listener must not hold them. */
	for (i = clients; i < l.n; i++)
		if (l.fd[i].revents)
			client_heard(l.client[i - clients], &l.fd[i]);
	for (i = l.pendings; i < clients; i++) {
		readable = l.fd[i].revents;
		listener_pending(s, l.pending[i - l.pendings], readable);
	}
	for (i = l.listeners; i < l.pendings; i++)
		if (l.fd[i].revents)
			listener_accept(s, l.listener[i - l.listeners]);
}

/* One turn over all processes; how much there was. */
static unsigned int look_at_clients(struct serve *s)
{
	unsigned int n = 0, i;
	struct client *c;

	for (i = 0; i < s->live; i++) {
		c = s->client[i];
		if (atomic_load_explicit(&c->state, memory_order_acquire) !=
		    CLIENT_LIVES)
			continue;
		n += posts_take(c);
		n += calls_take(c);
	}
	return n;
}

/* Those whose time is over go; those who are gone are struck off. */
static void check_clients(struct serve *s)
{
	uint64_t now_ns = os_now_ns();
	struct client *c;
	unsigned int i = 0;

	while (i < s->live) {
		c = s->client[i];
		client_check(c, now_ns);
		if (atomic_load(&c->state) != CLIENT_GONE) {
			i++;
			continue;
		}
		s->client[i] = s->client[--s->live];
		client_reap(c);
	}
}

static void say_asleep(struct serve *s, uint32_t asleep)
{
	unsigned int i;

	for (i = 0; i < s->live; i++)
		if (atomic_load(&s->client[i]->state) == CLIENT_LIVES)
			atomic_store_explicit(&s->client[i]->shared->board_asleep, asleep,
					      memory_order_relaxed);
	/*
	 * Pairs with the process's look after it wrote: what is read from here on, entries and
	 * calls, is as new as what a process that saw no sleeper had written.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	if (asleep && s->fences)
		os_fence_all();
}

/* Somebody has left hardware that has more to do: it is the I/O thread's now. */
static void hardware_left(void *serve)
{
	struct serve *s = serve;

	/* seq_cst: pairs with the I/O thread's look after it says that it sleeps. */
	if (atomic_load(&s->asleep) && atomic_exchange(&s->asleep, false))
		serve_wake(s);
}

/* ---- which of the two ---- */

static struct io_thread *io_other(struct io_thread *me)
{
	return &me->serve->io[me == me->serve->io];
}

/* Acquire: pairs with io_hand_over(). All that is the I/O thread's is its own then. */
static bool io_is(const struct io_thread *me)
{
	return atomic_load_explicit(&me->serve->io_now, memory_order_acquire) == me;
}

/* Before it waits: what it has deferred goes with the place. */
static void io_hand_over(void *io)
{
	struct io_thread *me = io, *other = io_other(me);
	struct serve *s = me->serve;

	/* It has ended, since all does. */
	if (!atomic_exchange(&other->stands_by, false))
		return;
	serve_count(&s->count.handed_over);
	sim_defers_take(&s->deferred);
	/* Release: pairs with io_is(). */
	atomic_store_explicit(&s->io_now, other, memory_order_release);
	sim_unpark(other->self, 0);
}

/* Until it is the I/O thread; false: all ends. */
static bool io_stand_by(struct io_thread *me)
{
	if (io_is(me))
		return true;
	/* Release: self is there. */
	atomic_store(&me->stands_by, true);
	while (!io_is(me)) {
		/* Else the other has handed over in this moment. */
		if (atomic_load(&me->serve->stop) &&
		    atomic_exchange(&me->stands_by, false))
			return false;
		sim_park();
	}
	return true;
}

/* ---- rounds ---- */

/* How much there was to do. After it the caller may not be the I/O thread any more. */
static unsigned int look_around(struct io_thread *me)
{
	bool works = atomic_load(&io_other(me)->stands_by);
	struct serve *s = me->serve;
	unsigned int n;

	sim_defers_begin(s->cfg.sim, works ? SIM_DEFER_WORK : SIM_DEFER_IRQ,
			 WORKS_A_ROUND);
	if (s->deferred.count)
		sim_defers_give(&s->deferred);
	n = look_at_clients(s);
	n += sim_pump_all(s->cfg.sim);
	if (works)
		sim_before_wait(io_hand_over, me);
	sim_defers_end();
	sim_before_wait(NULL, NULL);
	return n;
}

static void io_awake(struct serve *s)
{
	atomic_store(&s->asleep, false);
	say_asleep(s, 0);
}

static void io_yield(struct serve *s)
{
	atomic_store_explicit(&s->cpu_shared, os_poller_yield(&s->poller),
			      memory_order_relaxed);
}

static void io_sleep_until_called(struct io_thread *me)
{
	struct serve *s = me->serve;
	unsigned int n;

	say_asleep(s, 1);
	atomic_store(&s->asleep, true);
	/* A command that was written just before is found by this look. */
	n = look_around(me);
	if (!io_is(me))
		return;
	if (!n) {
		serve_count(&s->count.sleeps);
		io_look_at_sockets(s, -1);
	}
	io_awake(s);
	check_clients(s);
}

static void end_all(struct serve *s)
{
	unsigned int i;

	for (i = 0; i < SERVE_WAITING; i++)
		if (s->pending[i].sock >= 0) {
			serve_hang_up(s, s->pending[i].sock);
			s->pending[i].sock = -1;
		}
	for (i = 0; i < s->live; i++)
		client_end(s->client[i], "the board ends");
	while (s->live) {
		check_clients(s);
		if (!sim_pump_all(s->cfg.sim))
			sim_sleep(200000);
	}
}

/* As long as it is the I/O thread. */
static void io_rounds(struct io_thread *me)
{
	struct serve *s = me->serve;
	unsigned int idle = 0, rounds = 0, spins;

	io_awake(s);
	/* At least one round: something may have been handed over. */
	do {
		idle = look_around(me) ? 0 : idle + 1;
		if (!io_is(me))
			return;
		if (++rounds % SOCKETS_EVERY == 0) {
			io_look_at_sockets(s, 0);
			check_clients(s);
		}
		spins = serve_spins(s, SPINS, SHARED_SPINS);
		if (idle > spins + YIELDS) {
			io_sleep_until_called(me);
			if (!io_is(me))
				return;
			idle = 0;
		} else if (idle > spins) {
			io_yield(s);
		}
	} while (!atomic_load(&s->stop));
}

void io_main(void *io)
{
	struct io_thread *me = io;
	struct serve *s = me->serve;

	me->self = sim_thread_self();
	if (io_is(me))
		sim_turns(s->cfg.sim, TURN_STEPS, hardware_left, s);
	while (io_stand_by(me)) {
		io_rounds(me);
		if (!io_is(me))
			continue;
		end_all(s);
		sim_turns(s->cfg.sim, 0, NULL, NULL);
		break;
	}
}
