/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_shim_rig.h - functions that break a rule of the emulator's Linux API, each run in
 * a program of its own, and what is said then.
 */
#ifndef FL_TEST_SHIM_RIG_H
#define FL_TEST_SHIM_RIG_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/iopoll.h>
#include <linux/kref.h>
#include <linux/memcontrol.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "host/shim/shim_internal.h"
#include "test_driver_rig.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A driver's things, all of them right when a case begins. */
static struct thing {
	struct shim *shim;
	struct mm_struct *mm;
	struct task_struct task;
	struct mutex one, two;
	spinlock_t spin, other;
	struct workqueue_struct *wq;
	struct work_struct work;
	struct kref ref;
	struct list_head list, item;
	wait_queue_head_t wait;
	unsigned long flags, va;
	struct page *page[1];
} t;

struct rule_case {
	const char *name, *rule, *words;
	void (*breaks)(void);
	const struct rule_case *next;
};
static const struct rule_case *cases, **last = &cases;

/* A function of a driver that breaks a rule; words: what the message must have. */
#define BREAKS(fn, which, text)                                               \
	static void fn(void);                                                 \
	__attribute__((constructor)) static void add_##fn(void)               \
	{                                                                     \
		static struct rule_case c = { #fn, which, text, fn, NULL };   \
									      \
		*last = &c;                                                   \
		last = (const struct rule_case **)&c.next;                    \
	}                                                                     \
	static void fn(void)

static inline void takes_one(struct work_struct *work)
{
	mutex_lock(&t.one);
	mutex_unlock(&t.one);
}

static inline void thing_make(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	int err;

	memset(&t, 0, sizeof(t));
	t.shim = shim_find(n->kernel);
	t.mm = shim_mm_create(t.shim, host_process_mm(n->process));
	t.task.mm = t.mm;
	t.va = (uintptr_t)host_mmap(n->process, RIG_PAGE,
				    HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT(t.mm && t.va);
}

static inline void thing_init(void)
{
	mutex_init(&t.one);
	mutex_init(&t.two);
	spin_lock_init(&t.spin);
	spin_lock_init(&t.other);
	/* Here: a program that was forked has no threads (tsan). */
	t.wq = alloc_workqueue("test", WQ_UNBOUND, 0);
	INIT_WORK(&t.work, takes_one);
	kref_init(&t.ref);
	INIT_LIST_HEAD(&t.list);
	init_waitqueue_head(&t.wait);
}

/* What the case says on standard error, in a program of its own. */
static inline int run_case(const struct rule_case *c, char *said, size_t bytes)
{
	int status, out[2];
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	fflush(stdout);
	EXPECT_EQ(pipe(out), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], 2);
		c->breaks();
		_exit(0);
	}
	close(out[1]);
	while (n < bytes - 1 && (got = read(out[0], said + n, bytes - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = 0;
	close(out[0]);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static inline void all_cases(struct rig *r)
{
	const struct rule_case *c;
	char said[4096], rule[64];
	struct shim_cpu before;
	int status;

	thing_make(r);
	before = shim_enter(t.shim, &t.task, SHIM_IN_TASK);
	thing_init();
	for (c = cases; c; c = c->next) {
		STEP("%s", c->name);
		status = run_case(c, said, sizeof(said));
		snprintf(rule, sizeof(rule), "the rule \"%s\"", c->rule);
		if (!strstr(said, rule) || !strstr(said, c->words))
			STEP("said: %s", said);
		EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		EXPECT(strstr(said, rule));
		EXPECT(strstr(said, c->words));
	}
	destroy_workqueue(t.wq);
	shim_leave(&before);
	mmdrop(t.mm);
}

#endif
