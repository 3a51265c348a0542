// SPDX-License-Identifier: BSD-2-Clause
/* sim.c - the front door: objects, and the choice between the two modes. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"
#include "sim/watch.h"
#include "trace/trace.h"

static bool sim_is_lockstep(const struct sim *sim)
{
	return sim->cfg.mode == SIM_LOCKSTEP;
}

struct sim *sim_create(const struct sim_config *cfg)
{
	struct sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->cfg = *cfg;
	sim->trace = cfg->trace;
	sim->here = &sim->common;
	if (os_wakeup_init(&sim->all_ended))
		goto no_all_ended;
	if (os_wakeup_init(&sim->clock_wakeup))
		goto no_clock_wakeup;
	pthread_mutex_init(&sim->list_lock, NULL);
	if (sim_is_lockstep(sim) ? lockstep_partition_init(sim, &sim->common, 0) :
	    threads_create(sim))
		goto no_clock;
	if (sim_is_lockstep(sim))
		trace_follow(sim->trace, &sim->turn);
	return sim;

no_clock:
	heap_free(&sim->common.heap);
	heap_free(&sim->heap);
	pthread_mutex_destroy(&sim->list_lock);
	os_wakeup_destroy(&sim->clock_wakeup);
no_clock_wakeup:
	os_wakeup_destroy(&sim->all_ended);
no_all_ended:
	free(sim);
	return NULL;
}

void sim_destroy(struct sim *sim)
{
	struct sim_thread *t;
	struct sim_domain *d;

	if (!sim)
		return;
	if (sim_is_lockstep(sim))
		trace_follow(sim->trace, NULL);
	else
		threads_destroy(sim);
	while ((t = sim->threads)) {
		assert(atomic_load(&t->ended));
		sim_thread_join(t);
	}
	while ((d = sim->domains)) {
		sim->domains = d->next;
		heap_free(&d->partition.heap);
		free(d);
	}
	heap_free(&sim->common.heap);
	heap_free(&sim->heap);
	os_wakeup_destroy(&sim->all_ended);
	os_wakeup_destroy(&sim->clock_wakeup);
	pthread_mutex_destroy(&sim->list_lock);
	free(sim);
}

uint64_t sim_now(const struct sim *sim)
{
	return sim_is_lockstep(sim) ? sim->now_ns : threads_now(sim);
}

uint64_t sim_events(const struct sim *sim)
{
	return sim->events;
}

uint64_t sim_seed(const struct sim *sim)
{
	return sim->cfg.seed;
}

void sim_set_check(struct sim *sim, void (*fn)(void *arg), void *arg)
{
	sim->check = fn;
	sim->check_arg = arg;
}

void sim_each_noted(struct sim *sim,
		    void (*fn)(void *arg, struct sim_watch *w), void *arg)
{
	struct sim_watch *w = sim->noted, *next;

	sim->noted = NULL;
	for (; w; w = next) {
		next = w->next;
		w->noted = false;
		fn(arg, w);
	}
}

void sim_domain_watch(struct sim_domain *d, struct sim_watch *w)
{
	d->watch = w;
}

/* ---- hardware ---- */

struct sim_domain *sim_domain_create(struct sim *sim, const char *name)
{
	struct sim_domain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (sim_is_lockstep(sim) &&
	    lockstep_partition_init(sim, &d->partition, ACTORS_MAX)) {
		free(d);
		return NULL;
	}
	d->sim = sim;
	snprintf(d->name, sizeof(d->name), "%s", name);
	atomic_init(&d->alarm_ns, SIM_IDLE);
	pthread_mutex_lock(&sim->list_lock);
	d->next = sim->domains;
	sim->domains = d;
	pthread_mutex_unlock(&sim->list_lock);
	if (!sim_is_lockstep(sim))
		hardware_serve(d);
	return d;
}

void sim_actor_init(struct sim_domain *d, struct sim_actor *a, const char *name,
		    uint64_t (*step)(void *arg, uint64_t now_ns), void *arg)
{
	memset(a, 0, sizeof(*a));
	a->node.slot = NOT_QUEUED;
	a->name = name;
	a->step = step;
	a->arg = arg;
	a->domain = d;
	a->alarm_ns = SIM_IDLE;
	sim_enter(d);
	assert(d->actors < ACTORS_MAX);
	a->bit = 1u << d->actors;
	d->actor[d->actors++] = a;
	sim_leave(d);
}

void sim_kick(struct sim_actor *a)
{
	if (sim_is_lockstep(a->domain->sim))
		lockstep_kick(a);
	else
		threads_kick(a);
}

void sim_kick_remote(struct sim_actor *a)
{
	if (sim_is_lockstep(a->domain->sim))
		lockstep_kick(a);
	else
		threads_kick_remote(a);
}

void sim_alarm(struct sim_actor *a, uint64_t when_ns)
{
	a->alarm_ns = when_ns;
	if (when_ns == SIM_IDLE)
		return;
	if (sim_is_lockstep(a->domain->sim))
		lockstep_alarm(a);
	else
		threads_alarm(a);
}

void sim_alarm_tied(struct sim_actor *a, uint64_t when_ns, uint64_t tie)
{
	a->alarm_ns = when_ns;
	lockstep_alarm_tied(a, tie);
}

void sim_enter(struct sim_domain *d)
{
	if (!sim_is_lockstep(d->sim))
		threads_enter(d);
	else if (d->watch)
		sim_note(d->sim, d->watch);
}

void sim_leave(struct sim_domain *d)
{
	if (!sim_is_lockstep(d->sim))
		threads_leave(d);
}

void sim_step_begin(struct sim_domain *d)
{
	threads_step_begin(d);
}

void sim_step_end(struct sim_domain *d)
{
	threads_step_end(d);
}

void sim_pass(struct sim_domain *d)
{
	if (!sim_is_lockstep(d->sim))
		threads_pass(d);
}

bool sim_try_enter(struct sim_domain *d)
{
	return threads_try_enter(d);
}

void sim_try_leave(struct sim_domain *d)
{
	threads_try_leave(d);
}

bool sim_is_inline(const struct sim *sim)
{
	return !sim_is_lockstep(sim) && sim->cfg.drive == SIM_INLINE;
}

void sim_pump(struct sim_domain *d)
{
	if (!sim_is_lockstep(d->sim))
		threads_pump(d);
}

void sim_batch_begin(struct sim *sim)
{
	if (!sim_is_lockstep(sim))
		threads_batch_begin(sim);
}

void sim_batch_end(struct sim *sim)
{
	if (!sim_is_lockstep(sim))
		threads_batch_end();
}

void sim_turns(struct sim *sim, unsigned int steps, void (*left)(void *arg),
	       void *arg)
{
	if (!sim_is_lockstep(sim))
		threads_turns(sim, steps, left, arg);
}

bool sim_pump_all(struct sim *sim)
{
	return !sim_is_lockstep(sim) && threads_pump_all(sim);
}

/* ---- software threads ---- */

/* Out of the list, and freed; it has ended or never began. */
static void forget_thread(struct sim_thread *t)
{
	struct sim *sim = t->sim;
	struct sim_thread **p;

	pthread_mutex_lock(&sim->list_lock);
	for (p = &sim->threads; *p != t; p = &(*p)->next)
		;
	*p = t->next;
	pthread_mutex_unlock(&sim->list_lock);
	if (sim_is_lockstep(sim))
		heap_unreserve(&t->partition->heap, 1);
	wakeup_destroy(&t->wakeup);
	free(t);
}

static struct sim_thread *thread_start(struct sim *sim, struct sim_partition *p,
				       const char *name, bool daemon,
				       void (*fn)(void *arg), void *arg)
{
	struct sim_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	if (wakeup_init(&t->wakeup)) {
		free(t);
		return NULL;
	}
	if (sim_is_lockstep(sim) && heap_reserve(&p->heap, 1)) {
		wakeup_destroy(&t->wakeup);
		free(t);
		return NULL;
	}
	t->node.slot = NOT_QUEUED;
	t->node.is_thread = true;
	t->sim = sim;
	t->partition = p;
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->daemon = daemon;
	t->fn = fn;
	t->arg = arg;
	pthread_mutex_lock(&sim->list_lock);
	t->next = sim->threads;
	sim->threads = t;
	pthread_mutex_unlock(&sim->list_lock);
	if (!daemon)
		atomic_fetch_add(&sim->living, 1);
	if (!(sim_is_lockstep(sim) ? lockstep_start(t) :
	      pthread_create(&t->pthread, NULL, threads_main, t)))
		return t;
	if (!daemon)
		atomic_fetch_sub(&sim->living, 1);
	forget_thread(t);
	return NULL;
}

struct sim_thread *sim_thread_start(struct sim *sim, const char *name,
				    bool daemon, void (*fn)(void *arg),
				    void *arg)
{
	return thread_start(sim, &sim->common, name, daemon, fn, arg);
}

struct sim_thread *sim_thread_start_on(struct sim_domain *d, const char *name,
				       bool daemon, void (*fn)(void *arg), void *arg)
{
	return thread_start(d->sim, &d->partition, name, daemon, fn, arg);
}

void sim_thread_join(struct sim_thread *t)
{
	if (sim_is_lockstep(t->sim)) {
		while (sim_self_thread && t->state != THREAD_DONE)
			sim_sleep(1000);
		assert(t->state == THREAD_DONE);
	} else {
		pthread_join(t->pthread, NULL);
	}
	forget_thread(t);
}

void sim_local_add(struct sim *sim, void *(*at)(size_t *bytes))
{
	if (sim_is_lockstep(sim))
		lockstep_local(sim, at);
}

struct sim_thread *sim_thread_self(void)
{
	return sim_self_thread;
}

struct sim *sim_self(void)
{
	return sim_self_thread ? sim_self_thread->sim : NULL;
}

enum sim_result sim_run(struct sim *sim, uint64_t max_ns, uint64_t drain_ns)
{
	assert(!sim_self_thread);
	return sim_is_lockstep(sim) ? lockstep_run(sim, max_ns, drain_ns) :
			       threads_run(sim, max_ns);
}

void sim_let_pass(struct sim *sim, uint64_t ns)
{
	assert(!sim_self_thread && sim_is_lockstep(sim));
	lockstep_let_pass(sim, ns);
}

const char *sim_stuck(struct sim *sim, unsigned int i)
{
	struct sim_thread *t;

	for (t = sim->threads; t; t = t->next)
		if (!t->daemon && !atomic_load(&t->ended) && !i--)
			return t->name;
	return NULL;
}

void sim_stop(struct sim *sim)
{
	atomic_store(&sim->stopping, true);
	if (sim_is_lockstep(sim))
		lockstep_stop(sim);
	else
		threads_stop(sim);
}

bool sim_stopping(void)
{
	return sim_self_thread && atomic_load(&sim_self_thread->sim->stopping);
}

void sim_spend(uint64_t ns)
{
	struct sim_thread *t = sim_self_thread;

	if (!t || !ns || !sim_is_lockstep(t->sim))
		return;
	if (t->account)
		atomic_fetch_add_explicit(t->account, ns, memory_order_relaxed);
	lockstep_spend(t, ns);
}

atomic_ullong *sim_charge(atomic_ullong *account)
{
	struct sim_thread *t = sim_self_thread;
	atomic_ullong *before = t ? t->account : NULL;

	if (t)
		t->account = account;
	return before;
}

void sim_sleep(uint64_t ns)
{
	struct sim_thread *t = sim_self_thread;
	uint64_t now_ns, end_ns;

	assert(t);
	if (sim_is_lockstep(t->sim)) {
		lockstep_spend(t, ns);
		return;
	}
	sim_will_wait();
	now_ns = threads_now(t->sim);
	end_ns = now_ns + ns;
	for (; now_ns < end_ns && !sim_stopping(); now_ns = threads_now(t->sim))
		threads_wait(t, end_ns - now_ns);
}

void sim_yield(void)
{
	struct sim_thread *t = sim_self_thread;

	if (t && sim_is_lockstep(t->sim))
		lockstep_spend(t, 1);
	else
		os_yield();
}

void sim_park(void)
{
	struct sim_thread *t = sim_self_thread;

	assert(t);
	sim_will_wait();
	if (sim_is_lockstep(t->sim))
		lockstep_park(t, 0);
	else
		threads_park(t, 0);
}

void sim_thread_wait(uint64_t timeout_ns)
{
	struct sim_thread *t = sim_self_thread;

	assert(t);
	if (sim_is_lockstep(t->sim))
		lockstep_wait(t, timeout_ns);
	else
		threads_wait(t, timeout_ns);
}

void sim_thread_wake(struct sim_thread *t, uint64_t delay_ns)
{
	if (sim_is_lockstep(t->sim))
		lockstep_wake(t, delay_ns);
	else
		threads_wake(t);
}

bool sim_park_timeout(uint64_t ns)
{
	struct sim_thread *t = sim_self_thread;

	assert(t && ns);
	sim_will_wait();
	return sim_is_lockstep(t->sim) ? lockstep_park(t, ns) :
				  threads_park(t, ns);
}

void sim_unpark(struct sim_thread *t, uint64_t delay_ns)
{
	if (sim_is_lockstep(t->sim))
		lockstep_unpark(t, delay_ns);
	else
		threads_unpark(t);
}
