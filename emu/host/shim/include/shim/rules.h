/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rules.h - what a debug kernel watches over: locks (lockdep), interrupts, and
 * where a driver may sleep. Whoever stands in for Linux calls it: the shim, and
 * the bench of the lab "driver".
 *
 * A lock belongs to a class: all locks that are initialised under one name. The
 * rules are about classes, so one run of each path is enough to find two paths
 * that could deadlock if they met. A class of SHIM_EVENT is no lock: it stands for
 * code that somebody waits for (a work item, a notifier's callback).
 *
 * A breach names the rule, the function of the driver and the lock on standard
 * error, and ends the program; or it goes to whoever has set shim_rules.breach.
 */
#ifndef SHIM_SHIM_RULES_H
#define SHIM_SHIM_RULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SHIM_CLASSES	32u
#define SHIM_HELD	16u	/* locks of one thread at a time */
#define SHIM_USERS	4u	/* address spaces that one thread keeps */
#define SHIM_MMAP_NAME	"mmap_lock"

enum shim_kind { SHIM_SPIN, SHIM_MUTEX, SHIM_MMAP, SHIM_EVENT };

struct shim_class {
	char name[40];
	enum shim_kind kind;
	/* The functions that first took it in a handler, and with interrupts on. */
	const char *in_handler, *irqs_on;
};

/* Of one kernel; zeroed memory is an empty one. */
struct shim_rules {
	atomic_flag guard;		/* adding to all that follows */
	atomic_uint classes;		/* only more, and each stays as it is */
	struct shim_class class[SHIM_CLASSES];
	/* For each class: the classes that were held when it was taken. */
	_Atomic uint32_t before[SHIM_CLASSES];
	/* And who took it so first. */
	const char *where[SHIM_CLASSES][SHIM_CLASSES];
	atomic_uint usage[SHIM_CLASSES];
	void (*breach)(void *arg, const char *rule, const char *text);
	void *arg;
};

struct shim_lock {
	unsigned int class;		/* from 1; 0: never initialised */
};

struct shim_hold {
	const struct shim_lock *lock;	/* NULL: of an event */
	unsigned int class;
	const char *where;
};

/* What the thread is in, as the CPU and the task would say it on Linux. */
enum shim_in { SHIM_IN_TASK, SHIM_IN_HANDLER, SHIM_IN_CALLBACK };

struct shim_here {
	struct shim_rules *rules;	/* NULL: in no kernel, nothing is checked */
	enum shim_in in;
	unsigned int spins, rcu;
	bool irqs_off;
	unsigned int locks, first;	/* held; the first of this context */
	struct shim_hold lock[SHIM_HELD];
	/* Address spaces that mmget_not_zero() keeps, and accounts in use. */
	unsigned int users;
	const void *user[SHIM_USERS];
	const void *memcg;
	unsigned int memcg_refs;
};
struct shim_here *shim_here(void);

/* A call of the driver begins (shim_mark is what was before), and returns. */
struct shim_mark {
	struct shim_rules *rules;
	enum shim_in in;
	unsigned int spins, rcu, locks, first, users, memcg_refs;
	const void *memcg;
	bool irqs_off;
};
struct shim_mark shim_call_begin(struct shim_rules *rules, enum shim_in in);
void shim_call_end(const struct shim_mark *before);

/* where: the function of the driver; NULL: it is not known. */
void shim_breach(const char *rule, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void shim_lock_init(struct shim_lock *l, enum shim_kind kind, const char *name);
/* Before it is waited for; false: it would never be got. */
bool shim_lock_take(const struct shim_lock *l, const char *where);
/* False: the caller does not hold it. */
bool shim_lock_give(const struct shim_lock *l, const char *where);
bool shim_lock_held(const struct shim_lock *l);
/* Held locks in memory that goes. */
void shim_lock_gone(const void *mem, size_t bytes, const char *where);

/* An event is under way; ended by shim_event_end(). */
void shim_event_begin(enum shim_kind kind, const char *name);
void shim_event_end(void);
/* Waiting for such events, or for a lock, as if it were taken and given back. */
void shim_event_wait(enum shim_kind kind, const char *name, const char *where);

/* call: the one that may sleep (Linux: might_sleep(), CONFIG_DEBUG_ATOMIC_SLEEP). */
void shim_sleeps(const char *call, const char *where);
/* flags are what save gives and restore must be given. */
unsigned long shim_irqs_save(void);
void shim_irqs_restore(unsigned long flags, const char *where);

/* Address spaces: mmget_not_zero(), mmput(), mmput_async(). own: the caller's. */
void shim_users_get(const void *mm);
void shim_users_put(const void *mm, bool own, bool async, const char *where);
bool shim_users_have(const void *mm);

#endif
