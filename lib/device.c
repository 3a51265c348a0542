// SPDX-License-Identifier: BSD-2-Clause
/* A device: one open file, one doorbell page, and the lists of what it has. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "faultline/system_rows.h"
#include "lib_internal.h"

static int device_query(struct fl_device *dev, uint32_t *doorbell)
{
	struct fl_query q = { .size = sizeof(q) };
	int error = lib_ioctl(dev, FL_IOC_QUERY, &q);

	if (error)
		return error;
	if (q.abi != FL_ABI_VERSION)
		return -EPROTONOSUPPORT;
	dev->attr = (struct fl_device_attr){
		.node = q.node,
		.slot = q.slot,
		.block_bytes = q.block_bytes,
		.max_qp = q.max_qp,
		.max_cq = q.max_cq,
		.max_mr = q.max_mr,
		.max_queue = q.max_queue,
	};
	dev->prefault = q.row.before == FL_BEFORE_PREFAULT;
	dev->cache.on = q.row.before == FL_BEFORE_CACHE;
	dev->sinks = q.row.tables == FL_TABLES_SINK && !dev->unverified;
	dev->transport = q.row.transport;
	*doorbell = q.doorbell;
	return 0;
}

/* The page of the kind that the driver has for this process just now. */
static int device_map_doorbell(struct fl_device *dev, uint32_t kind)
{
	static const size_t bytes_of[] = {
		[FL_DOORBELL_STORE] = LIB_DOORBELL_BYTES,
		[FL_DOORBELL_WINDOW] = LIB_WINDOW_BYTES,
		[FL_DOORBELL_SNOOP] = FL_SNOOP_BYTES,
	};
	int error = 0;
	size_t bytes;
	void *page;

	if (kind > FL_DOORBELL_SNOOP || (kind == FL_DOORBELL_WINDOW && !fl_way_window))
		return -EPROTONOSUPPORT;
	bytes = bytes_of[kind];
	page = dev->base->mmap(dev->fd, bytes, FL_MMAP_DOORBELL, &error);
	if (!page)
		return error;
	dev->doorbell = page;
	dev->doorbell_bytes = bytes;
	dev->doorbell_kind = kind;
	dev->snoop = kind == FL_DOORBELL_SNOOP ? page : NULL;
	dev->sys = dev->base;
	if (kind == FL_DOORBELL_WINDOW) {
		fl_way_window->wrap(&dev->window, dev->base);
		dev->sys = &dev->window;
		fl_way_window->open(dev->fd, page);
	}
	return 0;
}

/* Another row may have another kind of page; there are no queues then (uapi.h). */
static int device_change_doorbell(struct fl_device *dev)
{
	volatile void *page = dev->doorbell;
	size_t bytes = dev->doorbell_bytes;
	uint32_t before = dev->doorbell_kind, now;
	int error = device_query(dev, &now);

	if (error || now == before)
		return error;
	error = device_map_doorbell(dev, now);
	if (error)
		return error;
	if (before == FL_DOORBELL_WINDOW)
		fl_way_window->close(dev->fd);
	return dev->base->munmap((void *)page, bytes);
}

static int open_device(const char *name, struct fl_device **dev)
{
	struct fl_device *d;
	uint32_t doorbell;
	int error;

	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	atomic_flag_clear(&d->lock);
	lib_cache_init(&d->cache);
	d->base = d->sys = fl_sys_for(name);
	d->fd = d->sys ? d->sys->open(name) : -ENODEV;
	if (d->fd < 0) {
		error = d->fd;
		goto free;
	}
	error = device_query(d, &doorbell);
	if (!error)
		error = device_map_doorbell(d, doorbell);
	if (error)
		goto close;
	*dev = d;
	return 0;
close:
	d->sys->close(d->fd);	/* what went wrong before is worth more */
free:
	free(d);
	return error;
}

int fl_open(const char *name, struct fl_device **dev)
{
	int error;

	fl_open_say("%s", "");
	error = dev ? open_device(name, dev) : -EINVAL;
	/* A more exact error was set already. */
	if (error && !*fl_open_error())
		fl_open_say("%s: %s", name ? name : "the first card",
			    fl_strerror(error));
	return error;
}

static int first_error(int error, int next)
{
	return error ? error : next;
}

int fl_close(struct fl_device *dev)
{
	struct lib_link *l;
	int error = 0;

	if (!dev)
		return -EINVAL;
	/*
	 * Queue pairs first, since they use the rest: nothing may write into a
	 * queue or a region that is on its way out.
	 */
	for (l = dev->pds; l; l = l->next)
		while (((struct fl_pd *)l)->qps)
			error = first_error(error, lib_qp_free((struct fl_qp *)
						((struct fl_pd *)l)->qps));
	for (l = dev->pds; l; l = l->next)
		while (((struct fl_pd *)l)->srqs)
			error = first_error(error, lib_srq_free((struct fl_srq *)
						((struct fl_pd *)l)->srqs));
	while (dev->counters)
		error = first_error(error, lib_counter_free((struct fl_counter *)
							    dev->counters));
	while (dev->cqs)
		error = first_error(error,
				    lib_cq_free((struct fl_cq *)dev->cqs));
	for (l = dev->pds; l; l = l->next)
		while (((struct fl_pd *)l)->mrs)
			error = first_error(error, lib_mr_free((struct fl_mr *)
						((struct fl_pd *)l)->mrs));
	error = first_error(error, lib_cache_close(dev));
	while (dev->pds)
		error = first_error(error,
				    lib_pd_free((struct fl_pd *)dev->pds));
	if (dev->sys == &dev->window)
		fl_way_window->close(dev->fd);
	error = first_error(error, dev->sys->munmap((void *)dev->doorbell,
						    dev->doorbell_bytes));
	error = first_error(error, dev->sys->close(dev->fd));
	free(dev);
	return error;
}

int fl_query_device(struct fl_device *dev, struct fl_device_attr *attr)
{
	if (!dev || !attr)
		return -EINVAL;
	*attr = dev->attr;
	return 0;
}

/* One number for each, from the application to the driver. */
_Static_assert((int)FL_DAMMING == (int)FL_QUIRK_DAMMING &&
	       (int)FL_CUT == (int)FL_QUIRK_CUT &&
	       (int)FL_CODE25 == (int)FL_QUIRK_CODE25,
	       "faultline.h and entries.def");
_Static_assert((int)FL_RESOLVE_PAGE == (int)FL_IOC_RESOLVE_PAGE &&
	       (int)FL_RESOLVE_BLOCK == (int)FL_IOC_RESOLVE_BLOCK &&
	       (int)FL_RESOLVE_TRANSFER == (int)FL_IOC_RESOLVE_TRANSFER &&
	       (int)FL_RESOLVE_AROUND == (int)FL_IOC_RESOLVE_AROUND &&
	       (int)FL_RESOLVE_DOUBLE == (int)FL_IOC_RESOLVE_DOUBLE &&
	       (int)FL_RESOLVE_STRIDE == (int)FL_IOC_RESOLVE_STRIDE &&
	       (int)FL_RESOLVE_MAJORITY == (int)FL_IOC_RESOLVE_MAJORITY &&
	       (int)FL_RESOLVE_HISTORY == (int)FL_IOC_RESOLVE_HISTORY &&
	       (int)FL_RESOLVE_OWN == (int)FL_IOC_RESOLVE_OWN,
	       "lib/faultline.h and uapi.h name the same");

/* Completion queues and regions are made for what the library does with them. */
static bool device_in_use(const struct fl_device *dev)
{
	const struct lib_link *l;

	for (l = dev->pds; l; l = l->next)
		if (((const struct fl_pd *)l)->mrs)
			return true;
	return dev->cqs;
}

int fl_set_verify(struct fl_device *dev, int on)
{
	uint32_t doorbell;

	if (!dev)
		return -EINVAL;
	if (device_in_use(dev))
		return -EBUSY;
	dev->unverified = !on;
	return device_query(dev, &doorbell);
}

static int device_set_policy(struct fl_device *dev, struct fl_policy *p,
			     enum fl_system system, enum fl_resolve resolve)
{
	struct fl_system_row row;
	bool sinks;
	int error;

	if (!dev || (unsigned int)system >= FL_SYSTEMS ||
	    (unsigned int)resolve > FL_RESOLVE_OWN ||
	    resolve == FL_RESOLVE_AROUND)
		return -EINVAL;
	/* What is kept is nobody's, and must not stand in the way. */
	error = lib_cache_drop(dev, NULL);
	if (error)
		return error;
	row = p->derived ? p->row : fl_system_rows[system];
	sinks = row.tables == FL_TABLES_SINK && !dev->unverified;
	if (sinks != dev->sinks && device_in_use(dev))
		return -EBUSY;
	p->size = sizeof(*p);
	p->system = (__u32)system;
	p->resolve = (__u32)resolve;
	error = lib_ioctl(dev, FL_IOC_POLICY, p);
	if (error)
		return error;
	dev->sinks = sinks;
	dev->transport = row.transport;
	dev->prefault = row.before == FL_BEFORE_PREFAULT;
	dev->cache.on = row.before == FL_BEFORE_CACHE;
	if ((row.before == FL_BEFORE_SNOOP) == (dev->snoop != NULL))
		return 0;
	return device_change_doorbell(dev);
}

int fl_set_policy(struct fl_device *dev, enum fl_system system,
		  enum fl_resolve resolve)
{
	struct fl_policy p = { 0 };

	return device_set_policy(dev, &p, system, resolve);
}

int fl_set_row(struct fl_device *dev, enum fl_system like,
	       const struct fl_system_row *row, enum fl_resolve resolve)
{
	struct fl_policy p = { .derived = 1 };

	if (!row)
		return -EINVAL;
	p.row = *row;
	return device_set_policy(dev, &p, like, resolve);
}

int fl_set_resolve(struct fl_device *dev, enum fl_resolve resolve,
		   unsigned int number)
{
	struct fl_query q = { .size = sizeof(q) };
	struct fl_policy p = { .size = sizeof(p) };
	int error;

	if (!dev || (unsigned int)resolve > FL_RESOLVE_OWN)
		return -EINVAL;
	error = lib_ioctl(dev, FL_IOC_QUERY, &q);
	if (error)
		return error;
	p.system = q.system;
	p.derived = q.derived;
	p.quirks = q.quirks;
	p.ring_slots = q.ring_slots;
	p.ring_bits = q.ring_bits;
	if (q.derived)
		p.row = q.row;
	p.resolve = (__u32)resolve;
	p.number = number;
	return lib_ioctl(dev, FL_IOC_POLICY, &p);
}

/* What is in use now; AROUND keeps no number that could be asked for. */
static int device_policy_now(struct fl_device *dev, struct fl_query *q, struct fl_policy *p)
{
	int error = lib_ioctl(dev, FL_IOC_QUERY, q);

	if (error)
		return error;
	p->system = q->system;
	p->derived = q->derived;
	if (q->derived)
		p->row = q->row;
	p->resolve = q->resolve;
	return 0;
}

int fl_set_quirks(struct fl_device *dev, unsigned int quirks)
{
	struct fl_query q = { .size = sizeof(q) };
	struct fl_policy p = { .size = sizeof(p) };
	int error;

	if (!dev || quirks & ~(unsigned int)FL_QUIRKS_ALL)
		return -EINVAL;
	if (dev->transport != FL_TRANSPORT_RC)
		return -EOPNOTSUPP;
	error = device_policy_now(dev, &q, &p);
	if (error)
		return error;
	p.quirks = quirks;
	return lib_ioctl(dev, FL_IOC_POLICY, &p);
}

int fl_set_backup(struct fl_device *dev, unsigned int slots, unsigned int bits)
{
	struct fl_query q = { .size = sizeof(q) };
	struct fl_policy p = { .size = sizeof(p) };
	int error;

	if (!dev)
		return -EINVAL;
	error = device_policy_now(dev, &q, &p);
	if (error)
		return error;
	if (q.row.rw != FL_VERDICT_DIVERT)
		return -EOPNOTSUPP;
	p.ring_slots = slots;
	p.ring_bits = bits;
	return lib_ioctl(dev, FL_IOC_POLICY, &p);
}

int fl_query_counters(struct fl_device *dev, struct fl_fault_counters *c)
{
	struct fl_counters k = { .size = sizeof(k) };
	int error;

	if (!dev || !c)
		return -EINVAL;
	error = lib_ioctl(dev, FL_IOC_COUNTERS, &k);
	if (error)
		return error;
	*c = (struct fl_fault_counters){
		.faults = k.faults,
		.faults_source = k.faults_src,
		.faults_destination = k.faults_dst,
		.pages_in = k.pages_in,
		.resolves = k.resolves,
		.failed = k.failed,
		.spurious = k.spurious,
		.invalidations = k.invalidations,
		.pinned_pages = k.pinned_pages,
		.stalls = k.stalls,
		.loaded = k.loaded,
		.zapped = k.zapped,
		.raced = k.raced,
		.advised = k.advised,
	};
	return 0;
}
