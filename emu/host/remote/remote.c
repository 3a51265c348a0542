// SPDX-License-Identifier: BSD-2-Clause
/*
 * remote.c - a process that lives in another program: its beginning, its page
 * faults, how its calls wait, and its death.
 *
 * Whatever it does, it reaches no memory but its own bank. So its view need not
 * be closed when it is dead, or when it ends without having been heard.
 */
#include "host/internal.h"
#include "host/remote/remote_mm.h"
#include "sim/sim.h"

/*
 * So often is a fault of unknown kind, on a page that may only be read, taken
 * for a read: threads may fault on one page together.
 */
#define SAME_FAULTS 16
/* Maps of registers have numbers that are no addresses, neither here nor there. */
#define DEVICE_BASE (1ull << 63)

static const struct mm_ops remote_mm_ops;

struct host_process *
host_process_attach(struct host_kernel *k, const char *name, uint64_t arena,
		    const struct host_cpu_ops *ops, void *arg, int *error)
{
	struct host_process *p;
	struct host_mm *mm;
	uint16_t asid;

	*error = -EINVAL;
	if (!arena || arena % CPU_LEAF_BYTES ||
	    arena > REMOTE_END - HOST_ARENA_BYTES)
		return NULL;
	p = process_new(k, name, &asid, error);
	if (!p)
		return NULL;
	mm = mm_create(k, p->pid, asid, &remote_mm_ops, error);
	if (!mm) {
		process_free(p);
		return NULL;
	}
	to_remote(mm)->cpu = ops;
	to_remote(mm)->arg = arg;
	mm->arena = arena;
	mm->device_base = DEVICE_BASE;
	process_publish(p, mm);
	return p;
}

void host_process_bank(struct host_process *p, struct host_bank *b)
{
	struct host_mm *mm = p->mm;

	*b = (struct host_bank){
		.fd = mm->bank_fd,
		.mem = mm->bank_mem,
		.bytes = mm->frames * HOST_PAGE + QUEUE_AREA_BYTES,
		.frames = mm->frames,
		.queue_offset = mm->frames * HOST_PAGE,
	};
}

uint64_t host_bank_offset(struct host_process *p, const void *mem)
{
	uint64_t at = (uintptr_t)mem - (uintptr_t)p->mm->bank_mem, queues;

	queues = p->mm->frames * HOST_PAGE;
	return at >= queues && at < queues + QUEUE_AREA_BYTES ? at : ~0ull;
}

/* ---- faults ---- */

/*
 * thread_wants_write() says: what may be read faulted because it was written.
 * But this process may have closed its view by itself, and a page that can
 * never be written would then be its end. So a few times it is a read.
 */
static bool guess_write(struct host_mm *mm, uint64_t va)
{
	struct remote_mm *r = to_remote(mm);
	struct host_map *m;
	bool write;

	if (!thread_wants_write(mm, va, -1))
		return false;
	sim_mutex_lock(&mm->lock);
	m = map_find(mm, va);
	write = !m || (m->prot & HOST_WRITE);
	if (!write) {
		r->again = r->again_va == va ? r->again + 1 : 1;
		r->again_va = va;
		write = r->again > SAME_FAULTS;
	}
	sim_mutex_unlock(&mm->lock);
	return write;
}

int host_process_fault(struct host_process *p, uint64_t va, int write)
{
	va &= ~(HOST_PAGE - 1);
	if (write < 0)
		write = guess_write(p->mm, va);
	return mm_fault_cpu(p->mm, va, write);
}

int host_process_fault_try(struct host_process *p, uint64_t va, int write)
{
	if (write < 0)
		return -EAGAIN;
	return mm_fault_cpu_try(p->mm, va & ~(HOST_PAGE - 1), write);
}

/* ---- sleeping, and dying ---- */

struct wait {
	struct host_mm *mm;
	bool (*cond)(void *arg);
	void *arg;
	bool yes;
};

static bool yes_or_killed(void *arg)
{
	struct wait *w = arg;

	w->yes = w->cond(w->arg);
	return w->yes || remote_killed(w->mm);
}

static void sleeper_add(struct remote_mm *r, struct remote_sleeper *s)
{
	sim_spin_lock(&r->sleepers_lock);
	s->next = r->sleepers;
	s->link = &r->sleepers;
	if (s->next)
		s->next->link = &s->next;
	r->sleepers = s;
	sim_spin_unlock(&r->sleepers_lock);
}

static void sleeper_remove(struct remote_mm *r, struct remote_sleeper *s)
{
	sim_spin_lock(&r->sleepers_lock);
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	sim_spin_unlock(&r->sleepers_lock);
}

static int remote_wait(struct host_mm *mm, struct sim_waitq *q,
		       bool (*cond)(void *arg), void *arg, uint64_t timeout_ns)
{
	struct wait w = { mm, cond, arg, false };
	struct remote_sleeper s = { .q = q };
	bool awake;

	/* Before the look: whoever kills later finds us and wakes us. */
	sleeper_add(to_remote(mm), &s);
	awake = sim_wait(q, yes_or_killed, &w, timeout_ns);
	sleeper_remove(to_remote(mm), &s);
	if (!awake)
		return sim_stopping() ? -EINTR : -ETIME;
	return w.yes ? 0 : -EINTR;
}

void host_process_kill(struct host_process *p)
{
	struct remote_mm *r = to_remote(p->mm);
	struct remote_sleeper *s;

	atomic_store_explicit(&r->killed, true, memory_order_release);
	sim_spin_lock(&r->sleepers_lock);
	for (s = r->sleepers; s; s = s->next)
		sim_wake(s->q, 0);
	sim_spin_unlock(&r->sleepers_lock);
}

static const struct mm_ops remote_mm_ops = {
	.bytes = sizeof(struct remote_mm),
	.shares_bank = true,
	.closes_itself = true,
	.age_pages = REMOTE_RUN,
	.end = REMOTE_END,
	.open = remote_open,
	.revoke = remote_revoke,
	.may_change = imported_may_change,
	.exit = imported_exit,
	.killed = remote_killed,
	.slow = remote_slow,
	.wait = remote_wait,
};
