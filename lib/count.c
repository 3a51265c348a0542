// SPDX-License-Identifier: BSD-2-Clause
/* Event counters: words in memory that the card counts in. */
#include <errno.h>
#include <stdlib.h>

#include "lib_internal.h"

int fl_create_counter(struct fl_device *dev, struct fl_counter **counter)
{
	struct fl_create_counter c = { .size = sizeof(c) };
	struct fl_counter *n;
	int error;

	if (!dev || !counter)
		return -EINVAL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	error = lib_ioctl(dev, FL_IOC_CREATE_COUNTER, &c);
	if (error)
		goto free;
	n->dev = dev;
	n->number = c.counter;
	n->map_bytes = (size_t)c.mmap_bytes;
	error = -EPROTO;
	/* entries.def, fl_wqe.imm: numbers have 16 bits */
	if (!c.counter || c.counter >> 16 || c.mmap_bytes < sizeof(*n->word))
		goto destroy;
	n->word = dev->sys->mmap(dev->fd, n->map_bytes, c.mmap_offset, &error);
	if (!n->word)
		goto destroy;
	lib_link_add(dev, &dev->counters, &n->link);
	*counter = n;
	return 0;
destroy:
	lib_destroy(dev, FL_IOC_DESTROY_COUNTER, c.counter);
free:
	free(n);
	return error;
}

/* ---- who is called ---- */

struct lib_handler {
	struct fl_counter *counter;
	void (*fn)(void *arg, uint32_t count);
	void *arg;
	void *thread;
};

static void handler_run(void *arg)
{
	struct lib_handler *h = arg;
	const struct fl_sys *sys = h->counter->dev->sys;
	uint32_t seen = 0, now;

	/* It ends with the counter, or with the process. */
	while (!fl_counter_wait(h->counter, seen + 1, 0, 0)) {
		now = fl_counter_read(h->counter);
		seen = now;
		if (sys->spend)
			sys->spend(h->counter->dev->fd, FL_SYS_HANDLER);
		h->fn(h->arg, now);
	}
}

int fl_on_count(struct fl_counter *c, void (*fn)(void *arg, uint32_t count), void *arg)
{
	const struct fl_sys *sys;
	struct lib_handler *h;
	int error;

	if (!c || !fn)
		return -EINVAL;
	sys = c->dev->sys;
	if (c->handler)
		return -EBUSY;
	if (!sys->thread)
		return -EOPNOTSUPP;
	h = malloc(sizeof(*h));
	if (!h)
		return -ENOMEM;
	*h = (struct lib_handler){ .counter = c, .fn = fn, .arg = arg };
	error = sys->thread(handler_run, h, &h->thread);
	if (error)
		free(h);
	else
		c->handler = h;
	return error;
}

/* ---- the end ---- */

static int counter_forget(struct fl_counter *c)
{
	int error;

	if (c->handler) {
		/* The counter's end has woken it. */
		c->dev->sys->thread_join(c->handler->thread);
		free(c->handler);
	}
	lib_link_del(c->dev, &c->link);
	error = c->dev->sys->munmap((void *)c->word, c->map_bytes);
	free(c);
	return error;
}

int lib_counter_free(struct fl_counter *c)
{
	int error = lib_destroy(c->dev, FL_IOC_DESTROY_COUNTER, c->number);
	int next = counter_forget(c);

	return error ? error : next;
}

int fl_destroy_counter(struct fl_counter *c)
{
	int error;

	if (!c)
		return -EINVAL;
	error = lib_destroy(c->dev, FL_IOC_DESTROY_COUNTER, c->number);
	return error ? error : counter_forget(c);
}

uint32_t fl_counter_number(const struct fl_counter *c)
{
	return c ? c->number : 0;
}

uint32_t fl_counter_read(const struct fl_counter *c)
{
	/* Pairs with the card's release: what it counts is in memory before. */
	return c ? __atomic_load_n(&c->word->count, __ATOMIC_ACQUIRE) : 0;
}

/* By serial arithmetic, as it goes round. */
static bool counter_reached(const struct fl_counter *c, uint32_t count)
{
	return (int32_t)(fl_counter_read(c) - count) >= 0;
}

/* ns that are left of a wait; 0: none. */
static uint64_t counter_time_left(const struct fl_sys *sys, uint64_t start_ns,
				  uint64_t timeout_ns)
{
	uint64_t gone = sys->now_ns ? sys->now_ns() - start_ns : 0;

	return gone < timeout_ns ? timeout_ns - gone : 0;
}

/* One look, and what there is to do until the next. */
static int counter_spin(struct fl_counter *c)
{
	const struct fl_sys *sys = c->dev->sys;

	if (sys->spend)
		sys->spend(c->dev->fd, FL_SYS_POLL);
	return sys->relax ? sys->relax(c->dev->fd) : 0;
}

static int counter_sleep(struct fl_counter *c, uint32_t count, uint64_t timeout_ns)
{
	struct fl_wait_counter w = {
		.size = sizeof(w), .counter = c->number, .timeout_ns = timeout_ns,
	};
	uint32_t seen = fl_counter_read(c);
	int error;

	/*
	 * Since the doorbell says what was seen, a rise that came meanwhile makes an event at
	 * once: so no second look is needed.
	 */
	error = lib_doorbell(c->dev, NIC_DB_COUNTER_ARM,
			     c->number << NIC_DB_COUNTER_ARM_COUNTER_SHIFT |
			     seen << NIC_DB_COUNTER_ARM_SEEN_SHIFT);
	if (!error && !counter_reached(c, count))
		error = lib_ioctl(c->dev, FL_IOC_WAIT_COUNTER, &w);
	return error;
}

int fl_counter_wait(struct fl_counter *c, uint32_t count, int busy, uint64_t timeout_ns)
{
	uint64_t start_ns = 0, left = timeout_ns;
	const struct fl_sys *sys;
	int error;

	if (!c)
		return -EINVAL;
	sys = c->dev->sys;
	if (timeout_ns && sys->now_ns)
		start_ns = sys->now_ns();
	while (!counter_reached(c, count)) {
		error = busy ? counter_spin(c) : counter_sleep(c, count, left);
		/* What came is worth more than why the sleep ended. */
		if (counter_reached(c, count))
			return 0;
		if (error)
			return error;
		if (!timeout_ns)
			continue;
		left = counter_time_left(sys, start_ns, timeout_ns);
		if (!left)
			return -ETIMEDOUT;
	}
	return 0;
}
