// SPDX-License-Identifier: GPL-2.0-only
/*
 * One mistake of each kind that the debug kernel is there to see. A kernel that
 * says nothing about this module would say nothing about the driver either.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>

static DEFINE_SPINLOCK(splat_spin);
static DEFINE_MUTEX(splat_a);
static DEFINE_MUTEX(splat_b);
static int __rcu *splat_pointer;
/* Read at run time, so that no compiler sees the mistake coming. */
static volatile unsigned int splat_index = 16;
static int splat_table[16];

static void splat_atomic_sleep(void)
{
	spin_lock(&splat_spin);
	might_sleep();
	spin_unlock(&splat_spin);
}

static void splat_after_free(void)
{
	volatile char *p = kmalloc(32, GFP_KERNEL);

	if (!p)
		return;
	kfree((void *)p);
	p[5] = 1;
}

static void splat_past_end(void)
{
	volatile char *p = kmalloc(splat_index, GFP_KERNEL);

	if (!p)
		return;
	p[splat_index] = 1;
	kfree((void *)p);
}

static void splat_bounds(void)
{
	splat_table[splat_index]++;
}

static void splat_rcu(void)
{
	(void)rcu_dereference(splat_pointer);
}

static void splat_work(struct work_struct *work)
{
}

static void splat_free_queued(void)
{
	struct delayed_work *w = kmalloc(sizeof(*w), GFP_KERNEL);

	if (!w)
		return;
	INIT_DELAYED_WORK(w, splat_work);
	schedule_delayed_work(w, HZ * 100);
	/* The debug code takes it off its list before it is gone. */
	kfree(w);
}

static void splat_lock_order(void)
{
	mutex_lock(&splat_a);
	mutex_lock(&splat_b);
	mutex_unlock(&splat_b);
	mutex_unlock(&splat_a);
	mutex_lock(&splat_b);
	mutex_lock(&splat_a);
	mutex_unlock(&splat_a);
	mutex_unlock(&splat_b);
}

static int __init splat_init(void)
{
	/* lockdep is silent after its first report, and after one of KASAN. */
	splat_atomic_sleep();
	splat_rcu();
	splat_lock_order();
	splat_after_free();
	splat_past_end();
	splat_bounds();
	splat_free_queued();
	return -ECANCELED;	/* done, and not to stay */
}
module_init(splat_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Faultline: mistakes for a debug kernel to see");
