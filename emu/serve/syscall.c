// SPDX-License-Identifier: BSD-2-Clause
/*
 * syscall.c - the system calls and page faults of a process, each in the kernel worker
 * of the thread that made it: a thread here for each slot that was ever used. What
 * the process wrote was copied once by the I/O thread; an answer is all that goes back.
 * A fault that need not wait is answered by the I/O thread itself, and so is what is most
 * likely short, since another takes its place if it has to wait (io_thread.c): waking the
 * worker would take several times as long as the call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "faultline/regs.h"
#include "faultline/uapi.h"
#include "lib/faultline.h"
#include "serve/serve_internal.h"
#include "sim/sim.h"

#ifdef _IOC_SIZE
#define IOCTL_BYTES(cmd) _IOC_SIZE(cmd)
#else
#define IOCTL_BYTES(cmd) IOCPARM_LEN(cmd)	/* BSD, macOS */
#endif
#define DOORBELLS UINT64_MAX			/* attach.h, ATTACH_MMAP */
/* A worker without work looks on so often: who asks once asks again. */
#define LINGER 20u
/* Advice, and the wish for pages, are for the I/O thread if they are about so much at most. */
#define SHORT_BYTES	(64 * HOST_PAGE)
/* As much as the driver may read of an argument that says it is so long. */
#define ARGUMENT_BYTES HOST_PAGE

static_assert((int)FL_PROT_READ == (int)HOST_READ &&
	      (int)FL_PROT_WRITE == (int)HOST_WRITE, "one set of bits");
static_assert((int)FL_PAGEOUT == (int)HOST_PAGEOUT &&
	      (int)FL_DONTNEED == (int)HOST_DONTNEED &&
	      (int)FL_WILLNEED == (int)HOST_WILLNEED, "one set of numbers");
static int to_fd(uint64_t arg)
{
	return arg <= INT32_MAX ? (int)arg : -1;
}

static int do_fault(struct client *c, const struct call *call, struct answer *a)
{
	int write = call->arg[1] == 0 ? 0 : call->arg[1] == 1 ? 1 : -1;

	(void)a;
	serve_count(&c->serve->count.faults);
	return host_process_fault(c->process, call->arg[0], write);
}

static int do_open(struct client *c, const struct call *call, struct answer *a)
{
	(void)call;
	(void)a;
	return host_open(c->process, NULL);
}

static int do_close(struct client *c, const struct call *call, struct answer *a)
{
	(void)a;
	return host_close(c->process, to_fd(call->arg[0]));
}

/*
 * The driver reads the argument from here, and zeros behind it, whatever length it
 * claims to have.
 */
static int do_ioctl(struct client *c, const struct call *call, struct answer *a)
{
	_Alignas(8) uint8_t arg[ARGUMENT_BYTES] = { 0 };
	unsigned int cmd = (unsigned int)call->arg[1];
	unsigned int bytes = IOCTL_BYTES(cmd);
	int r;

	if (bytes > ATTACH_PAYLOAD || call->arg[1] > UINT32_MAX)
		return -ENOTTY;
	memcpy(arg, call->payload, bytes);
	r = (int)host_ioctl(c->process, to_fd(call->arg[0]), cmd, arg);
	memcpy(a->payload, arg, bytes);
	a->payload_bytes = bytes;
	return r;
}

/* ---- windows ---- */

static int keep_queue(struct client *c, void *mem, uint64_t offset,
		      uint64_t bytes)
{
	struct queue *q = NULL;
	unsigned int i;

	sim_spin_lock(&c->lock);
	for (i = 0; !q && i < QUEUES; i++)
		if (!c->queue[i].mem)
			q = &c->queue[i];
	if (q)
		*q = (struct queue){ mem, offset, bytes };
	sim_spin_unlock(&c->lock);
	return q ? 0 : -ENOMEM;
}

static int keep_doorbell(struct client *c, void *mem, uint64_t bytes)
{
	int err = -EBUSY;

	/* post.c lets a write go to any place of a whole page. */
	if (bytes != NIC_DB_STRIDE)
		return -EINVAL;
	sim_spin_lock(&c->doorbell_lock);
	if (!c->doorbell) {
		c->doorbell = mem;
		err = 0;
	}
	sim_spin_unlock(&c->doorbell_lock);
	return err;
}

static int do_mmap(struct client *c, const struct call *call, struct answer *a)
{
	uint64_t bytes = call->arg[1], offset = call->arg[2], at;
	void *mem;
	int err;

	mem = host_mmap_fd(c->process, to_fd(call->arg[0]), bytes, offset,
			   &err);
	if (!mem)
		return err;
	at = host_bank_offset(c->process, mem);
	if (at == DOORBELLS)
		err = keep_doorbell(c, mem, bytes);
	else
		err = keep_queue(c, mem, at, bytes);
	if (err)
		host_munmap_fd(c->process, mem, bytes);
	a->ret[0] = at;
	return err;
}

static void *forget_doorbell(struct client *c)
{
	void *mem;

	/* Whoever writes to it has it; after that nobody will. */
	sim_spin_lock(&c->doorbell_lock);
	mem = (void *)c->doorbell;
	c->doorbell = NULL;
	sim_spin_unlock(&c->doorbell_lock);
	return mem;
}

static void *forget_queue(struct client *c, uint64_t offset, uint64_t bytes)
{
	void *mem = NULL;
	unsigned int i;

	sim_spin_lock(&c->lock);
	for (i = 0; !mem && i < QUEUES; i++)
		if (c->queue[i].mem && c->queue[i].offset == offset &&
		    c->queue[i].bytes == bytes) {
			mem = c->queue[i].mem;
			c->queue[i].mem = NULL;
		}
	sim_spin_unlock(&c->lock);
	return mem;
}

static int do_munmap(struct client *c, const struct call *call,
		     struct answer *a)
{
	uint64_t offset = call->arg[0], bytes = call->arg[1];
	void *mem;

	(void)a;
	if (offset == DOORBELLS) {
		mem = forget_doorbell(c);
		bytes = NIC_DB_STRIDE;
	} else {
		mem = forget_queue(c, offset, bytes);
	}
	return mem ? host_munmap_fd(c->process, mem, bytes) : -EINVAL;
}

/* ---- memory ---- */

/*
 * A process that asks to have pages taken away and does not close them in time (on a
 * busy machine it may have no CPU) waits for itself, without a lock that others want,
 * until it has closed them or is cut off. Any other -EBUSY is an answer.
 */
static bool call_once_more(struct client *c, int err, uint32_t *overdue)
{
	uint32_t before = *overdue;

	*overdue = atomic_load(&c->overdue);
	if (err != -EBUSY || *overdue == before ||
	    atomic_load(&c->state) != CLIENT_LIVES)
		return false;
	client_catches_up(c);
	return true;
}

static int do_alloc(struct client *c, const struct call *call, struct answer *a)
{
	int err;

	a->ret[0] = (uintptr_t)host_mmap(c->process, call->arg[0],
					 HOST_READ | HOST_WRITE, NULL, 0, &err);
	return err;
}

/* A file of the process, which its keeper has. */
struct kept {
	struct keeper *keeper;
	unsigned int file;
};

static int kept_read(void *arg, uint64_t offset, void *page)
{
	struct kept *f = arg;

	return keeper_read(f->keeper, f->file, offset, page);
}

static void kept_put(void *arg)
{
	struct kept *f = arg;

	keeper_put(f->keeper, f->file);
	free(f);
}

static const struct host_file_ops kept_ops = {
	.read = kept_read,
	.put = kept_put,
};

static int do_map_file(struct client *c, const struct call *call,
		       struct answer *a)
{
	uint64_t bytes = 0;
	struct kept *f;
	int file, err;

	if (!c->keeper.number || call->arg[1] > UINT32_MAX)
		return -EBADF;
	f = malloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	file = keeper_open(&c->keeper, (uint32_t)call->arg[1], &bytes);
	if (file < 0) {
		free(f);
		return file;
	}
	*f = (struct kept){ &c->keeper, (unsigned int)file };
	a->ret[0] = (uintptr_t)host_mmap_source(c->process, call->arg[0],
						HOST_READ | HOST_WRITE,
						&kept_ops, f, bytes, 0, &err);
	return err;
}

static int do_free(struct client *c, const struct call *call, struct answer *a)
{
	uint32_t overdue = atomic_load(&c->overdue);
	int err;

	(void)a;
	do
		err = host_process_munmap(c->process,
					  (void *)(uintptr_t)call->arg[0],
					  call->arg[1]);
	while (call_once_more(c, err, &overdue));
	return err;
}

static int do_remap(struct client *c, const struct call *call, struct answer *a)
{
	uint32_t overdue = atomic_load(&c->overdue);
	int err;

	(void)a;
	do
		err = host_process_remap(c->process,
					 (void *)(uintptr_t)call->arg[0],
					 call->arg[1], HOST_READ | HOST_WRITE);
	while (call_once_more(c, err, &overdue));
	return err;
}

static int do_advise(struct client *c, const struct call *call,
		     struct answer *a)
{
	uint32_t overdue = atomic_load(&c->overdue);
	int err;

	(void)a;
	if (call->arg[2] > FL_WILLNEED)
		return -EINVAL;
	do
		err = host_process_madvise(c->process,
					   (void *)(uintptr_t)call->arg[0],
					   call->arg[1],
					   (enum host_advice)call->arg[2]);
	while (call_once_more(c, err, &overdue));
	return err;
}

static int do_protect(struct client *c, const struct call *call,
		      struct answer *a)
{
	uint32_t overdue = atomic_load(&c->overdue);
	int err;

	(void)a;
	if (call->arg[2] > (FL_PROT_READ | FL_PROT_WRITE))
		return -EINVAL;
	do
		err = host_process_mprotect(c->process,
					    (void *)(uintptr_t)call->arg[0],
					    call->arg[1], (int)call->arg[2]);
	while (call_once_more(c, err, &overdue));
	return err;
}

static int (*const calls[ATTACH_OPS])(struct client *c, const struct call *call,
				      struct answer *a) = {
	[ATTACH_FAULT] = do_fault,
	[ATTACH_OPEN] = do_open,
	[ATTACH_CLOSE] = do_close,
	[ATTACH_IOCTL] = do_ioctl,
	[ATTACH_MMAP] = do_mmap,
	[ATTACH_MUNMAP] = do_munmap,
	[ATTACH_ALLOC] = do_alloc,
	[ATTACH_MAP_FILE] = do_map_file,
	[ATTACH_FREE] = do_free,
	[ATTACH_ADVISE] = do_advise,
	[ATTACH_PROTECT] = do_protect,
	[ATTACH_IMPORT] = call_import,
	[ATTACH_IMPORTED] = call_imported,
	[ATTACH_RETURN] = call_return,
	[ATTACH_RETURNED] = call_returned,
	[ATTACH_REMAP] = do_remap,
	[ATTACH_LOOK] = call_look,
};

/* ---- a kernel worker ---- */

static void call_publish(struct client *c, struct attach_call *slot,
			 const struct answer *a)
{
	memcpy(slot->payload, a->payload, a->payload_bytes);
	slot->ret[0] = a->ret[0];
	slot->ret[1] = a->ret[1];
	slot->result = a->result;
	slot->views = atomic_load_explicit(&c->view_head,
					   memory_order_relaxed);
	/*
	 * Release: pairs with the asker's acquire. seq_cst: the asker says that
	 * it sleeps and then looks at state once more.
	 */
	atomic_store(&slot->state, ATTACH_ANSWERED);
	if (atomic_load(&slot->asleep))
		os_word_wake(&slot->state);
}

static void call_answer(struct worker *h, const struct call *call)
{
	struct client *c = h->client;
	struct answer a = { 0 };

	if (call->op < ATTACH_OPS && calls[call->op])
		a.result = calls[call->op](c, call, &a);
	else
		a.result = -ENOSYS;
	call_publish(c, &c->shared->call[h->slot], &a);
	/* Release: from now on the I/O thread may answer in this slot. */
	atomic_store_explicit(&h->busy, false, memory_order_release);
}

static void serve_one(struct worker *h)
{
	struct call call = h->call;

	/*
	 * The slot may be used again as soon as the answer is there. Release:
	 * the I/O thread, which sees that there is no job, sees that we are busy.
	 */
	atomic_store_explicit(&h->busy, true, memory_order_relaxed);
	atomic_store_explicit(&h->job, false, memory_order_release);
	call_answer(h, &call);
}

static void call_worker_main(void *worker)
{
	struct worker *h = worker;
	struct client *c = h->client;
	unsigned int turns = 0;

	host_act_for(c->process);
	while (atomic_load(&c->state) == CLIENT_LIVES) {
		/* Acquire: pairs with the I/O thread's release. */
		if (atomic_load_explicit(&h->job, memory_order_acquire)) {
			serve_one(h);
			turns = 0;
		} else if (turns < LINGER) {
			turns++;
			os_yield();
		} else {
			sim_park();
		}
	}
	host_act_for(NULL);
}

/* ---- the I/O thread's side ---- */

/*
 * False: it is for the worker. Only the I/O thread ends a process, so that this one lives
 * until it returns.
 */
static bool answer_fault(struct client *c, const struct worker *h)
{
	const struct call *call = &h->call;
	struct answer a = { 0 };

	if (call->op != ATTACH_FAULT || call->arg[1] > 1)
		return false;
	a.result = host_process_fault_try(c->process, call->arg[0],
					  (int)call->arg[1]);
	if (a.result == -EAGAIN)
		return false;
	serve_count(&c->serve->count.faults);
	call_publish(c, &c->shared->call[h->slot], &a);
	return true;
}

/* To the worker of its slot, which begins with its first call. */
static void call_to_worker(struct worker *h)
{
	const struct answer none = { .result = -EAGAIN };
	struct client *c = h->client;
	char name[64];

	atomic_store_explicit(&h->job, true, memory_order_release);
	if (h->thread) {
		sim_unpark(h->thread, 0);
		return;
	}
	snprintf(name, sizeof(name), "%.40s/kernel %u", c->name, h->slot);
	h->thread = sim_thread_start(c->serve->cfg.sim, name, true,
				     call_worker_main, h);
	if (h->thread)
		return;
	/* So many processes want threads that there are none. */
	atomic_store_explicit(&h->job, false, memory_order_relaxed);
	call_publish(c, &c->shared->call[h->slot], &none);
}

/*
 * Most likely it is over soon; nothing here may take long without waiting. What a region takes
 * depends on its system and on its pages: these are counted, by sim_worked().
 */
static bool is_short(const struct call *call)
{
	struct fl_prefetch p;

	switch (call->op) {
	case ATTACH_FAULT:
		return true;
	case ATTACH_ADVISE:
		return call->arg[1] <= SHORT_BYTES;
	case ATTACH_IOCTL:
		memcpy(&p, call->payload, sizeof(p));
		return call->arg[1] == FL_IOC_COUNTERS ||
		       call->arg[1] == FL_IOC_REG_MR || call->arg[1] == FL_IOC_DEREG_MR ||
		       (call->arg[1] == FL_IOC_PREFETCH && p.length <= SHORT_BYTES);
	default:
		return false;
	}
}

/* By the I/O thread, when it has looked at all processes. */
static void call_on_io(void *worker)
{
	struct worker *h = worker;
	struct client *c = h->client;
	struct call call = h->call;

	h->deferred = false;
	if (!sim_takes_work()) {
		atomic_store_explicit(&h->busy, false, memory_order_relaxed);
		if (atomic_load(&c->state) == CLIENT_LIVES)
			call_to_worker(h);
	} else {
		host_act_for(c->process);
		call_answer(h, &call);
		host_act_for(NULL);
	}
	/* Release: pairs with client_end_calls(). */
	atomic_fetch_sub(&c->on_io, 1);
}

static bool call_defer(struct worker *h)
{
	if (!is_short(&h->call) ||
	    sim_defer(SIM_DEFER_WORK, call_on_io, h) != SIM_DEFERRED)
		return false;
	atomic_fetch_add(&h->client->on_io, 1);
	atomic_store_explicit(&h->busy, true, memory_order_relaxed);
	h->deferred = true;
	return true;
}

static void call_hand_over(struct client *c, unsigned int i)
{
	struct attach_call *slot = &c->shared->call[i];
	struct worker *h = &c->worker[i];
	volatile struct attach_call *v = slot;
	unsigned int k;

	/* One at a time: who asks again before the answer is not heard. */
	if (h->deferred || atomic_load_explicit(&h->job, memory_order_acquire))
		return;
	/* Acquire: pairs with the asker's release. */
	if (atomic_load_explicit(&slot->state, memory_order_acquire) !=
	    ATTACH_ASKED)
		return;
	serve_count(&c->serve->count.calls);
	h->call.op = v->op;
	for (k = 0; k < 4; k++)
		h->call.arg[k] = v->arg[k];
	/* The others have none. */
	for (k = 0; h->call.op == ATTACH_IOCTL && k < ATTACH_PAYLOAD; k++)
		h->call.payload[k] = v->payload[k];
	/* Acquire: pairs with the worker's release; its answer is whole. */
	if (!atomic_load_explicit(&h->busy, memory_order_acquire) &&
	    (answer_fault(c, h) || call_defer(h)))
		return;
	/* The descriptor was sent before the call was made: it is there now. */
	if (h->call.op == ATTACH_MAP_FILE) {
		client_read(c);
		/* Its end: the workers are another thread's by now. */
		if (atomic_load(&c->state) != CLIENT_LIVES)
			return;
	}
	call_to_worker(h);
}

unsigned int calls_take(struct client *c)
{
	uint64_t asked;
	unsigned int n = 0;

	if (!atomic_load_explicit(&c->shared->asked, memory_order_relaxed))
		return 0;
	asked = atomic_exchange(&c->shared->asked, 0);
	for (; asked && atomic_load(&c->state) == CLIENT_LIVES;
	     asked &= asked - 1, n++)
		call_hand_over(c, (unsigned int)__builtin_ctzll(asked));
	return n;
}
