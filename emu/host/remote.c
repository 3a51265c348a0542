// SPDX-License-Identifier: BSD-2-Clause
/*
 * remote.c - a process that lives in another program: its beginning, its page
 * faults, its death, and how the CPU's view of it is opened and closed.
 *
 * Whatever it does, it reaches no memory but its own bank. So its view need not
 * be closed when it is dead, or when it ends without having been heard.
 */
#include "host/internal.h"
#include "sim/sim.h"

/*
 * So often is a fault of unknown kind, on a page that may only be read, taken
 * for a read: threads may fault on one page together.
 */
#define SAME_FAULTS 16

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
	mm = mm_create(k, p->pid, asid, ops, arg, error);
	if (!mm) {
		process_free(p);
		return NULL;
	}
	mm->arena = arena;
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
	struct host_map *m;
	bool write;

	if (!thread_wants_write(mm, va, -1))
		return false;
	sim_mutex_lock(&mm->lock);
	m = map_find(mm, va);
	write = !m || (m->prot & HOST_WRITE);
	if (!write) {
		mm->again = mm->again_va == va ? mm->again + 1 : 1;
		mm->again_va = va;
		write = mm->again > SAME_FAULTS;
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

/* ---- the view ---- */

bool mm_killed(const struct host_mm *mm)
{
	return atomic_load_explicit(&mm->killed, memory_order_acquire);
}

bool mm_slow(const struct host_mm *mm)
{
	uint64_t until_ns = atomic_load_explicit(&mm->slow_until_ns,
						 memory_order_relaxed);

	return until_ns && !mm_killed(mm) && sim_now(mm->k->sim) < until_ns;
}

void remote_open(struct host_mm *mm, uint64_t va, uint64_t n, uint64_t frame,
		 int prot)
{
	if (!mm_killed(mm))
		mm->remote->open(mm->remote_arg, va, n, frame, prot);
}

int remote_close(struct host_mm *mm, uint64_t va, uint64_t npages)
{
	if (mm_killed(mm) || !mm->remote->close(mm->remote_arg, va, npages))
		return 0;
	/* It may have died meanwhile. */
	if (mm_killed(mm))
		return 0;
	atomic_store_explicit(&mm->slow_until_ns,
			      sim_now(mm->k->sim) + SLOW_NS,
			      memory_order_relaxed);
	return -EBUSY;
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
	return w->yes || mm_killed(w->mm);
}

static void sleeper_add(struct host_mm *mm, struct mm_sleeper *s)
{
	sim_spin_lock(&mm->sleepers_lock);
	s->next = mm->sleepers;
	s->link = &mm->sleepers;
	if (s->next)
		s->next->link = &s->next;
	mm->sleepers = s;
	sim_spin_unlock(&mm->sleepers_lock);
}

static void sleeper_remove(struct host_mm *mm, struct mm_sleeper *s)
{
	sim_spin_lock(&mm->sleepers_lock);
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	sim_spin_unlock(&mm->sleepers_lock);
}

int mm_wait(struct host_mm *mm, struct sim_waitq *q, bool (*cond)(void *arg),
	    void *arg, uint64_t timeout_ns)
{
	struct wait w = { mm, cond, arg, false };
	struct mm_sleeper s = { .q = q };
	bool awake;

	/* Before the look: who kills later finds us and wakes us. */
	sleeper_add(mm, &s);
	awake = sim_wait(q, yes_or_killed, &w, timeout_ns);
	sleeper_remove(mm, &s);
	if (!awake)
		return sim_stopping() ? -EINTR : -ETIME;
	return w.yes ? 0 : -EINTR;
}

void host_process_kill(struct host_process *p)
{
	struct host_mm *mm = p->mm;
	struct mm_sleeper *s;

	atomic_store_explicit(&mm->killed, true, memory_order_release);
	sim_spin_lock(&mm->sleepers_lock);
	for (s = mm->sleepers; s; s = s->next)
		sim_wake(s->q, 0);
	sim_spin_unlock(&mm->sleepers_lock);
}
