// SPDX-License-Identifier: BSD-2-Clause
/*
 * work.c - work queues. A few kernel threads serve a queue; who has nothing to
 * do stands in a list, and queueing wakes exactly one of them.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "shim_internal.h"
#include "sim/timing.h"
#include "trace/event.h"

/*
 * As many page-ins as go on side by side; but a worker that waits for a file of a
 * process elsewhere, which may never answer, has another take its place, as on Linux.
 * There are no more than a card can have faults and held accesses.
 */
#define WORKERS		8u
#define WORKERS_MOST	(WORKERS + 96u)

#define QUEUE_WORDS	"work queue "

struct worker {
	struct workqueue_struct *wq;
	struct sim_thread *thread;
	struct worker *next;	/* idle */
	struct work_struct *item;	/* that it runs */
	bool woken;
};

/* An application's thread has so many done before a worker goes on. */
#define ITEMS_AT_ONCE	8u

struct workqueue_struct {
	struct shim *shim;
	char name[32];			/* of its class of events */
	atomic_ullong *account;		/* of what its workers spend; the shim may go first */
	struct workqueue_struct *next;	/* of the driver; under shim->lock */
	struct sim_spin lock;		/* all below, and the items */
	struct list_head items;
	struct worker *idle;
	unsigned int busy, users;	/* users: workers, and the owner */
	unsigned int workers, waiting;	/* waiting: for such a file */
	struct worker *guests;		/* threads that run one item (work_now()) */
	bool dead;
	wait_queue_head_t done;		/* an item has ended */
	struct worker worker[WORKERS_MOST];
};

/* First item that no other worker is running; the lock is held. */
static struct work_struct *next_item(struct workqueue_struct *wq)
{
	struct work_struct *w;

	list_for_each_entry(w, &wq->items, entry)
		if (!w->running)
			return w;
	return NULL;
}

static const char *work_name(const struct work_struct *w)
{
	return w->name ? w->name : "a work item";
}

static void worker_take(struct worker *me, struct work_struct *w)
{
	struct workqueue_struct *wq = me->wq;

	/* Now, under the lock: it may be queued again while it runs. */
	shim_cpu()->cause = w->cause;
	list_del(&w->entry);
	w->pending = false;
	w->running = true;
	me->item = w;
	wq->busy++;
}

/* Item and queue may be gone once the lock is given back with running false. */
static void run_item(struct worker *me, struct work_struct *w)
{
	struct workqueue_struct *wq = me->wq;
	struct shim_cpu before = shim_enter(wq->shim, NULL, SHIM_IN_TASK);
	struct trace_at saved = *host_trace_at();

	/* Waiting for the item or the queue is waiting for what it locks. */
	shim_event_begin(SHIM_EVENT, wq->name);
	shim_event_begin(SHIM_EVENT, work_name(w));
	w->func(w);
	shim_event_end();
	shim_event_end();
	*host_trace_at() = saved;
	sim_spin_lock(&wq->lock);
	w->running = false;
	me->item = NULL;
	wq->busy--;
	/* With the lock: whoever sees that it is done may end the driver at once. */
	wake_up_all(&wq->done);
	sim_spin_unlock(&wq->lock);
	shim_leave(&before);
}

static void workqueue_put(struct workqueue_struct *wq)
{
	bool last;

	sim_spin_lock(&wq->lock);
	last = !--wq->users;
	sim_spin_unlock(&wq->lock);
	if (last)
		free(wq);
}

static void sleep_idle(struct worker *me)
{
	while (!__atomic_load_n(&me->woken, __ATOMIC_ACQUIRE) &&
	       !sim_stopping())
		sim_park();
}

static void worker_waits(void *arg, bool waits);

static void workqueue_worker_main(void *arg)
{
	struct worker *me = arg;
	struct workqueue_struct *wq = me->wq;
	struct work_struct *w;
	bool dead;

	me->thread = sim_thread_self();
	host_on_wait(worker_waits, me);
	sim_charge(wq->account);
	while (!sim_stopping()) {
		sim_spin_lock(&wq->lock);
		dead = wq->dead;
		w = next_item(wq);
		if (w) {
			worker_take(me, w);
		} else if (!dead) {
			__atomic_store_n(&me->woken, false, __ATOMIC_RELAXED);
			me->next = wq->idle;
			wq->idle = me;
		}
		sim_spin_unlock(&wq->lock);
		if (w)
			run_item(me, w);
		else if (dead)
			break;
		else
			sleep_idle(me);
	}
	workqueue_put(wq);
}

static bool start_worker(struct workqueue_struct *wq, unsigned int i)
{
	wq->worker[i].wq = wq;
	return sim_thread_start_on(board_domain(wq->shim->board),
				   wq->name + strlen(QUEUE_WORDS), true,
				   workqueue_worker_main, &wq->worker[i]) != NULL;
}

/* Of WORKERS that could do something there is one less: another begins. */
static void worker_waits(void *arg, bool waits)
{
	struct workqueue_struct *wq = ((struct worker *)arg)->wq;
	unsigned int i = WORKERS_MOST;

	sim_spin_lock(&wq->lock);
	wq->waiting += waits ? 1 : -1;
	if (waits && !wq->dead && wq->workers - wq->waiting < WORKERS &&
	    wq->workers < WORKERS_MOST) {
		i = wq->workers++;
		wq->users++;
	}
	sim_spin_unlock(&wq->lock);
	if (i == WORKERS_MOST || start_worker(wq, i))
		return;
	/* No thread is to be had; its place may be another's chance. */
	sim_spin_lock(&wq->lock);
	if (wq->workers == i + 1)
		wq->workers--;
	sim_spin_unlock(&wq->lock);
	workqueue_put(wq);
}

/* The driver's list; on: it joins, else it goes. */
static void workqueue_enlist(struct workqueue_struct *wq, bool on)
{
	struct workqueue_struct **p;

	sim_spin_lock(&wq->shim->lock);
	for (p = &wq->shim->wqs; *p && *p != wq; p = &(*p)->next)
		;
	*p = on ? wq : wq->next;
	sim_spin_unlock(&wq->shim->lock);
}

struct workqueue_struct *(alloc_workqueue)(const char *name,
					   unsigned int flags, int max_active)
{
	struct workqueue_struct *wq = shim_refused() ? NULL :
						       calloc(1, sizeof(*wq));
	unsigned int i;

	assert(flags == WQ_UNBOUND && !max_active);
	if (!wq)
		return NULL;
	wq->shim = shim_cpu()->shim;
	wq->account = host_work_account(wq->shim->k);
	snprintf(wq->name, sizeof(wq->name), QUEUE_WORDS "%s", name);
	INIT_LIST_HEAD(&wq->items);
	init_waitqueue_head(&wq->done);
	wq->users = 1 + WORKERS;
	wq->workers = WORKERS;
	for (i = 0; i < WORKERS; i++) {
		if (!start_worker(wq, i)) {
			/* Those that run see it and go; the rest never came. */
			wq->dead = true;
			wq->users -= WORKERS - i;
			workqueue_put(wq);
			return NULL;
		}
	}
	workqueue_enlist(wq, true);
	return wq;
}

/* Wake an idle worker; the lock is held. */
static void wake_one(struct workqueue_struct *wq)
{
	struct worker *w = wq->idle;

	if (!w)
		return;		/* who is busy looks again when it is done */
	wq->idle = w->next;
	__atomic_store_n(&w->woken, true, __ATOMIC_RELEASE);
	sim_unpark(w->thread, wq->shim->timing->v[T_IRQ_WORK]);
}

/* Wake one, if there is something to do that nobody does. */
static void wake_for_rest(struct workqueue_struct *wq)
{
	sim_spin_lock(&wq->lock);
	if (next_item(wq))
		wake_one(wq);
	sim_spin_unlock(&wq->lock);
}

/*
 * The thread that has taken an interrupt does the work itself, unless it takes none any more:
 * an item had to wait.
 */
static void work_now(void *arg)
{
	struct workqueue_struct *wq = arg;
	struct worker me = { .wq = wq, .thread = sim_thread_self() }, **at;
	struct shim_cpu before = *shim_cpu();
	struct work_struct *w;
	atomic_ullong *account = sim_charge(wq->account);
	unsigned int n;

	sim_spin_lock(&wq->lock);
	me.next = wq->guests;
	wq->guests = &me;
	for (n = 0; n < ITEMS_AT_ONCE && sim_takes_work(); n++) {
		w = next_item(wq);
		if (!w)
			break;
		worker_take(&me, w);
		/* It may have to wait: no other has to wait for that. */
		if (next_item(wq))
			wake_one(wq);
		sim_spin_unlock(&wq->lock);
		run_item(&me, w);
		sim_spin_lock(&wq->lock);
	}
	for (at = &wq->guests; *at != &me; at = &(*at)->next)
		;
	*at = me.next;
	sim_spin_unlock(&wq->lock);
	wake_for_rest(wq);
	sim_charge(account);
	*shim_cpu() = before;
	workqueue_put(wq);
}

/* Lock held. Have somebody run what is there. */
static void work_wanted(struct workqueue_struct *wq)
{
	/* It may be deferred already: then the user is that one's. */
	wq->users++;
	switch (sim_defer(SIM_DEFER_WORK, work_now, wq)) {
	case SIM_DEFERRED:
		return;
	case SIM_DEFERRED_BEFORE:
		break;
	case SIM_NOT_DEFERRED:
		wake_one(wq);
	}
	wq->users--;
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	bool queued;

	sim_spin_lock(&wq->lock);
	assert(!wq->dead);
	queued = !work->pending;
	if (queued) {
		work->wq = wq;
		work->pending = true;
		work->cause = shim_cpu()->cause;
		list_add_tail(&work->entry, &wq->items);
		/* One that runs is taken again by its own worker. */
		if (!work->running)
			work_wanted(wq);
	}
	sim_spin_unlock(&wq->lock);
	return queued;
}

static bool is_running(struct workqueue_struct *wq, struct work_struct *work)
{
	bool running;

	sim_spin_lock(&wq->lock);
	running = work->running;
	sim_spin_unlock(&wq->lock);
	return running;
}

bool shim_cancel_work(struct work_struct *work, const char *where)
{
	struct workqueue_struct *wq = work->wq;
	bool was;

	shim_sleeps("cancel_work_sync()", where);
	shim_event_wait(SHIM_EVENT, work_name(work), where);
	if (!wq)
		return false;	/* never queued */
	sim_spin_lock(&wq->lock);
	was = work->pending;
	if (was) {
		list_del(&work->entry);
		work->pending = false;
	}
	sim_spin_unlock(&wq->lock);
	wait_event_interruptible(wq->done, !is_running(wq, work));
	return was;
}

static bool is_drained(struct workqueue_struct *wq)
{
	bool drained;

	sim_spin_lock(&wq->lock);
	drained = list_empty(&wq->items) && !wq->busy;
	sim_spin_unlock(&wq->lock);
	return drained;
}

void shim_destroy_workqueue(struct workqueue_struct *wq, const char *where)
{
	struct worker *w;

	shim_sleeps("destroy_workqueue()", where);
	shim_event_wait(SHIM_EVENT, wq->name, where);
	wait_event_interruptible(wq->done, is_drained(wq));
	sim_spin_lock(&wq->lock);
	wq->dead = true;
	for (w = wq->idle; w; w = w->next) {
		__atomic_store_n(&w->woken, true, __ATOMIC_RELEASE);
		sim_unpark(w->thread, 0);
	}
	wq->idle = NULL;
	sim_spin_unlock(&wq->lock);
	workqueue_enlist(wq, false);
	/* The workers go when they next run; the last one frees it. */
	workqueue_put(wq);
}

bool shim_work_any(struct shim *shim)
{
	struct workqueue_struct *wq;
	bool any = false;

	sim_spin_lock(&shim->lock);
	for (wq = shim->wqs; wq && !any; wq = wq->next)
		any = !is_drained(wq);
	sim_spin_unlock(&shim->lock);
	return any;
}

static const char *item_in(struct workqueue_struct *wq, const char *mem,
			   size_t bytes)
{
	const struct worker *guest;
	const char *name = NULL;
	struct work_struct *w;
	unsigned int i;

	sim_spin_lock(&wq->lock);
	list_for_each_entry(w, &wq->items, entry)
		if ((const char *)w >= mem && (const char *)w < mem + bytes)
			name = work_name(w);
	for (i = 0; i < wq->workers; i++) {
		w = wq->worker[i].item;
		/* An item may free itself. */
		if (w && wq->worker[i].thread != sim_thread_self() &&
		    (const char *)w >= mem && (const char *)w < mem + bytes)
			name = work_name(w);
	}
	for (guest = wq->guests; guest; guest = guest->next) {
		w = guest->item;
		if (w && guest->thread != sim_thread_self() &&
		    (const char *)w >= mem && (const char *)w < mem + bytes)
			name = work_name(w);
	}
	sim_spin_unlock(&wq->lock);
	return name;
}

const char *shim_work_in(struct shim *shim, const void *mem, size_t bytes)
{
	struct workqueue_struct *wq;
	const char *name = NULL;

	sim_spin_lock(&shim->lock);
	for (wq = shim->wqs; wq && !name; wq = wq->next)
		name = item_in(wq, mem, bytes);
	sim_spin_unlock(&shim->lock);
	return name;
}
