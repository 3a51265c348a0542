// SPDX-License-Identifier: BSD-2-Clause
/* sync.c - locks, RCU, wait queues, and waiting for registers. */
#include <assert.h>

#include <linux/iopoll.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "shim_internal.h"
#include "sim/timing.h"

static void shim_lock(struct sim_mutex *m)
{
	if (!shim_outside()) {
		sim_mutex_lock(m);
		return;
	}
	while (!sim_mutex_trylock(m))
		shim_turn();
}

void shim_mutex_init(struct mutex *m, const char *name)
{
	sim_mutex_init(&m->m);
	shim_lock_init(&m->rules, SHIM_MUTEX, name);
}

void shim_mutex_lock(struct mutex *m, const char *where)
{
	shim_sleeps("mutex_lock()", where);
	if (shim_lock_take(&m->rules, where))
		shim_lock(&m->m);
}

void shim_mutex_unlock(struct mutex *m, const char *where)
{
	if (shim_lock_give(&m->rules, where))
		sim_mutex_unlock(&m->m);
}

void shim_spin_init(spinlock_t *l, const char *name)
{
	const struct shim *shim = shim_cpu()->shim;

	sim_mutex_init(&l->m);
	l->spin = (struct sim_spin){ ATOMIC_FLAG_INIT };
	l->spins = shim && sim_mode(shim->sim) == SIM_THREADS;
	shim_lock_init(&l->rules, SHIM_SPIN, name);
}

void shim_spin_lock(spinlock_t *l, const char *where)
{
	if (!shim_lock_take(&l->rules, where))
		return;
	if (l->spins)
		sim_spin_lock(&l->spin);
	else
		shim_lock(&l->m);
}

void shim_spin_unlock(spinlock_t *l, const char *where)
{
	if (!shim_lock_give(&l->rules, where))
		return;
	if (l->spins)
		sim_spin_unlock(&l->spin);
	else
		sim_mutex_unlock(&l->m);
}

/* ---- RCU ---- */

void shim_rcu_lock(void)
{
	shim_here()->rcu++;
}

void shim_rcu_unlock(const char *where)
{
	if (shim_here()->rcu)
		shim_here()->rcu--;
	else
		shim_breach("rcu", where, "calls rcu_read_unlock() without "
			    "rcu_read_lock()");
}

void shim_rcu_read(const char *what, const char *where)
{
	if (!shim_here()->rcu)
		shim_breach("rcu", where, "calls rcu_dereference(%s) without "
			    "rcu_read_lock()", what);
}

/* ---- wait queues ---- */

void init_waitqueue_head(wait_queue_head_t *w)
{
	sim_waitq_init(&w->q);
	w->seq = 0;
}

unsigned int shim_wait_seq(wait_queue_head_t *w)
{
	return __atomic_load_n(&w->seq, __ATOMIC_ACQUIRE);
}

void wake_up_all(wait_queue_head_t *w)
{
	struct shim *shim = shim_cpu()->shim;

	__atomic_fetch_add(&w->seq, 1, __ATOMIC_RELEASE);
	sim_wake(&w->q, shim->timing->v[T_WAKE]);
}

u64 shim_wait_end(u64 ns)
{
	return ns ? shim_now() + ns : 0;
}

struct wait {
	wait_queue_head_t *w;
	unsigned int seq;
};

static bool shim_woken(void *arg)
{
	struct wait *wait = arg;

	return shim_wait_seq(wait->w) != wait->seq;
}

int shim_wait(wait_queue_head_t *w, unsigned int seq, u64 end_ns)
{
	struct mm_struct *mm = current->mm;
	struct wait wait = { w, seq };
	u64 now = shim_now();
	int ret = 0;

	if (end_ns && now >= end_ns)
		return -ETIME;
	if (shim_outside())
		shim_turn();
	else if (mm)
		ret = mm_wait(mm->host, &w->q, shim_woken, &wait,
			      end_ns ? end_ns - now : 0);
	else if (!sim_wait(&w->q, shim_woken, &wait,
			   end_ns ? end_ns - now : 0) &&
		 sim_stopping())
		ret = -EINTR;
	/* Otherwise look again; the time is checked above. */
	return ret == -EINTR ? -ERESTARTSYS : 0;
}

/* ---- registers ---- */

u64 shim_now(void)
{
	return sim_now(shim_cpu()->shim->sim);
}

void shim_pause(u64 us)
{
	struct shim *shim = shim_cpu()->shim;

	if (shim_outside()) {
		shim_turn();
		return;
	}
	board_pump(shim->board);
	if (sim_mode(shim->sim) == SIM_LOCKSTEP)
		sim_spend(us * 1000);
	else
		sim_yield();
}

void shim_resched(const char *where)
{
	shim_sleeps("cond_resched()", where);
	sim_worked();
}
