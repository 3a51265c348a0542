// SPDX-License-Identifier: BSD-2-Clause
/*
 * defer.c - interrupts and their work on the thread that has run the hardware (sim.h). To
 * hand a fault to another thread and back costs several times what the fault itself does.
 * Threads that run hardware alone offer it to threads that poll.
 */
#include <assert.h>

#include "sim/sim_internal.h"

#define UNWANTED_MANY 4		/* offers in a row that nobody took: it seems that nobody polls */

static _Thread_local struct {
	bool open;
	enum sim_defers most;
	unsigned int works, works_most;	/* works_most 0: no limit */
	struct sim *offered;		/* there it has taken an offer; or NULL */
	struct sim_deferred_calls left;
	/* sim_before_wait(); NULL: nothing is to be done */
	void (*before)(void *arg);
	void *arg;
	unsigned int worked;
} deferred;

bool sim_takes_work(void)
{
	return deferred.open && deferred.most >= SIM_DEFER_WORK;
}

enum sim_deferred sim_defer(enum sim_defers kind, void (*fn)(void *arg), void *arg)
{
	struct sim_deferred_calls *left = &deferred.left;
	unsigned int i;

	if (!deferred.open || kind > deferred.most)
		return SIM_NOT_DEFERRED;
	for (i = 0; i < left->count; i++)
		if (left->call[i].fn == fn && left->call[i].arg == arg)
			return SIM_DEFERRED_BEFORE;
	if (left->count == SIM_DEFERS_MAX)
		return SIM_NOT_DEFERRED;
	if (kind == SIM_DEFER_WORK && deferred.works_most &&
	    deferred.works++ >= deferred.works_most)
		return SIM_NOT_DEFERRED;
	left->call[i].fn = fn;
	left->call[i].arg = arg;
	left->count++;
	return SIM_DEFERRED;
}

void sim_defers_begin(const struct sim *sim, enum sim_defers most, unsigned int works)
{
	assert(!deferred.open && !deferred.left.count);
	deferred.open = sim_mode(sim) == SIM_THREADS;
	deferred.most = most;
	deferred.works = 0;
	deferred.works_most = works;
}

/* ---- what hardware on threads of its own offers ---- */

static _Thread_local struct sim_hardware *hardware_self;	/* whose thread this is */

void offers_begin(struct sim_hardware *h)
{
	hardware_self = h;
}

bool sim_offer(const struct sim_offer *o)
{
	struct sim_hardware *h = hardware_self;
	const struct sim_offer *before = NULL;

	if (!h)
		return false;
	/*
	 * seq_cst: what o is about was said before. If this one is still there, whoever takes it
	 * does so later than that.
	 */
	if (!atomic_compare_exchange_strong(&h->offer, &before, o))
		return before == o;
	h->offer_ns = os_now_ns();
	atomic_fetch_add(&h->sim->offers, 1);
	return true;
}

static const struct sim_offer *offer_take(struct sim_hardware *h)
{
	const struct sim_offer *o = atomic_exchange(&h->offer, NULL);

	if (o)
		atomic_fetch_sub(&h->sim->offers, 1);
	return o;
}

/* What is offered the calling thread defers, if it takes interrupts. Was there anything? */
static bool offers_take(struct sim *sim)
{
	const struct sim_offer *o;
	bool taken = false;
	unsigned int i;

	if (!atomic_load_explicit(&sim->offers, memory_order_relaxed) || !deferred.open)
		return false;
	for (i = 0; i < HARDWARE_MAX; i++) {
		o = offer_take(&sim->hardware[i]);
		if (!o)
			continue;
		taken = true;
		atomic_store_explicit(&sim->hardware[i].unwanted, 0, memory_order_relaxed);
		if (sim_defer(SIM_DEFER_IRQ, o->fn, o->arg) == SIM_NOT_DEFERRED)
			o->nobody(o->arg);
	}
	return taken;
}

void offers_polled(struct sim *sim)
{
	if (!offers_take(sim) || deferred.offered)
		return;
	deferred.offered = sim;
	atomic_fetch_add(&sim->interrupted, 1);
}

void offers_end(struct sim_hardware *h)
{
	const struct sim_offer *o = offer_take(h);

	if (!o)
		return;
	atomic_fetch_add_explicit(&h->unwanted, 1, memory_order_relaxed);
	o->nobody(o->arg);
}

void offers_look(struct sim_hardware *h)
{
	uint64_t most_ns = SIM_OFFER_POLLED_NS;

	if (!atomic_load_explicit(&h->offer, memory_order_relaxed))
		return;
	if (atomic_load_explicit(&h->sim->interrupted, memory_order_relaxed))
		most_ns = SIM_OFFER_BUSY_NS;
	else if (atomic_load_explicit(&h->unwanted, memory_order_relaxed) >= UNWANTED_MANY)
		most_ns = SIM_OFFER_NS;
	if (os_now_ns() - h->offer_ns > most_ns)
		offers_end(h);
}

/* It is interrupted no longer. */
static void offers_taken(void)
{
	if (deferred.offered)
		atomic_fetch_sub(&deferred.offered->interrupted, 1);
	deferred.offered = NULL;
}

/* Another interrupt may have come meanwhile. */
static bool defers_go_on(void)
{
	if (!deferred.left.count && deferred.offered)
		offers_take(deferred.offered);
	return deferred.left.count;
}

void sim_defers_end(void)
{
	struct sim_deferred_calls *left = &deferred.left;
	void (*fn)(void *arg);
	void *arg;
	unsigned int i;

	if (!deferred.open)
		return;
	/* Oldest first; one that is under way may be deferred anew. */
	while (defers_go_on()) {
		fn = left->call[0].fn;
		arg = left->call[0].arg;
		left->count--;
		for (i = 0; i < left->count; i++)
			left->call[i] = left->call[i + 1];
		fn(arg);
	}
	offers_taken();
	deferred.open = false;
}

void sim_defers_take(struct sim_deferred_calls *to)
{
	*to = deferred.left;
	deferred.left.count = 0;
	offers_taken();
	deferred.open = false;
}

void sim_defers_give(struct sim_deferred_calls *from)
{
	assert(deferred.open && !deferred.left.count);
	deferred.left = *from;
	from->count = 0;
}

void sim_before_wait(void (*fn)(void *arg), void *arg)
{
	deferred.before = fn;
	deferred.arg = arg;
	deferred.worked = 0;
}

void sim_will_wait(void)
{
	void (*fn)(void *arg) = deferred.before;

	if (!fn)
		return;
	deferred.before = NULL;
	fn(deferred.arg);
}

void sim_worked(void)
{
	if (deferred.before && ++deferred.worked >= WORKED_MOST)
		sim_will_wait();
}
