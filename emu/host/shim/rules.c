// SPDX-License-Identifier: BSD-2-Clause
/*
 * rules.c - classes of locks, their order, and what a thread holds (rules.h). It
 * needs nothing else of the shim, so that the lab's bench can link it alone.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shim/rules.h>

#define IN_HANDLER	1u	/* of usage[] */
#define IRQS_ON		2u

/* flags of shim_irqs_save(): odd enough that nothing else passes for them */
#define FLAGS_ON	0x5a00ul
#define FLAGS_OFF	0x5a80ul

static _Thread_local struct shim_here here;

struct shim_here *shim_here(void)
{
	return &here;
}

/* ---- what is said ---- */

static const char *class_name(unsigned int class)
{
	return here.rules->class[class].name;
}

static void add_held(char *text, size_t bytes)
{
	const struct shim_hold *h;
	unsigned int i;
	size_t n = 0;

	for (i = here.first; i < here.locks && n < bytes; i++) {
		h = &here.lock[i];
		n += (size_t)snprintf(text + n, bytes - n, "%s%s",
				      i > here.first ? ", " : "; it is inside ",
				      class_name(h->class));
		if (h->lock && n < bytes)
			n += (size_t)snprintf(text + n, bytes - n,
					      " (%s())", h->where);
	}
}

void shim_breach(const char *rule, const char *where, const char *fmt, ...)
{
	struct shim_rules *r = here.rules;
	char text[512];
	size_t n = 0;
	va_list ap;

	if (!r)
		return;
	if (where)
		n = (size_t)snprintf(text, sizeof(text), "%s() ", where);
	va_start(ap, fmt);
	n += (size_t)vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
	if (r->breach) {
		r->breach(r->arg, rule, text);
		return;
	}
	if (n < sizeof(text))
		add_held(text + n, sizeof(text) - n);
	fprintf(stderr, "faultline: the driver breaks the rule \"%s\": %s\n",
		rule, text);
	abort();
}

/* ---- classes ---- */

static void rules_guard_lock(struct shim_rules *r)
{
	while (atomic_flag_test_and_set_explicit(&r->guard,
						 memory_order_acquire))
		;
}

static void rules_guard_unlock(struct shim_rules *r)
{
	atomic_flag_clear_explicit(&r->guard, memory_order_release);
}

static bool class_is(const struct shim_class *c, enum shim_kind kind, const char *name)
{
	return c->kind == kind && !strcmp(c->name, name);
}

/* Among the first n; n: it is none of them. */
static unsigned int class_find(const struct shim_rules *r, unsigned int n,
			       enum shim_kind kind, const char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (class_is(&r->class[i], kind, name))
			break;
	return i;
}

static unsigned int class_make(struct shim_rules *r, enum shim_kind kind,
			       const char *name)
{
	unsigned int n, i;

	rules_guard_lock(r);
	n = atomic_load_explicit(&r->classes, memory_order_relaxed);
	i = class_find(r, n, kind, name);
	if (i == n) {
		assert(i < SHIM_CLASSES && strlen(name) < sizeof(r->class->name));
		r->class[i].kind = kind;
		strcpy(r->class[i].name, name);
		/* Release: pairs with the acquire in class_of(). */
		atomic_store_explicit(&r->classes, n + 1, memory_order_release);
	}
	rules_guard_unlock(r);
	return i;
}

/* A driver writes &ctx->lock; the class is "ctx->lock". */
static unsigned int class_of(enum shim_kind kind, const char *name)
{
	/* Where it was found before: a name stays where it is. */
	static _Thread_local uint8_t found[64];
	uint8_t *likely = &found[(((uintptr_t)name ^ kind) * 0x9E3779B97F4A7C15ull) >> 58];
	struct shim_rules *r = here.rules;
	unsigned int n, i = *likely;

	while (*name == '&')
		name++;
	n = atomic_load_explicit(&r->classes, memory_order_acquire);
	if (i < n && class_is(&r->class[i], kind, name))
		return i;
	i = class_find(r, n, kind, name);
	return *likely = (uint8_t)(i < n ? i : class_make(r, kind, name));
}

/* All classes that were ever held, also by others, before this one; guarded. */
static uint32_t rules_ancestors(struct shim_rules *r, unsigned int class)
{
	uint32_t all = 0, more = atomic_load(&r->before[class]);
	unsigned int i;

	while (more & ~all) {
		i = (unsigned int)__builtin_ctz(more & ~all);
		all |= 1u << i;
		more |= atomic_load(&r->before[i]);
	}
	return all;
}

/*
 * A lock that handlers take must not wait for one that is held with interrupts
 * on: its holder may be interrupted, and the handler then waits for both.
 */
static void check_inversion(struct shim_rules *r, const char *where)
{
	unsigned int safe, unsafe, found = SHIM_CLASSES, inside = 0;
	uint32_t held;

	rules_guard_lock(r);
	for (unsafe = 0; unsafe < r->classes; unsafe++) {
		if (!(atomic_load(&r->usage[unsafe]) & IRQS_ON))
			continue;
		held = rules_ancestors(r, unsafe) & ~(1u << unsafe);
		for (; held; held &= held - 1) {
			safe = (unsigned int)__builtin_ctz(held);
			if (atomic_load(&r->usage[safe]) & IN_HANDLER) {
				found = unsafe;
				inside = safe;
			}
		}
	}
	rules_guard_unlock(r);
	if (found != SHIM_CLASSES)
		shim_breach("irq-inversion", where,
			    "makes %s, which is taken with interrupts on too, "
			    "wait inside %s, which handlers take",
			    class_name(found), class_name(inside));
}

static unsigned int usage_now(void)
{
	return here.in == SHIM_IN_HANDLER ? IN_HANDLER : here.irqs_off ? 0 : IRQS_ON;
}

/* Interrupts are as they are while class is held (Linux: mark_lock()). */
static void note_usage(unsigned int class, const char *where)
{
	struct shim_rules *r = here.rules;
	unsigned int now = usage_now();
	struct shim_class *c = &r->class[class];
	unsigned int was = atomic_load(&r->usage[class]);

	if (c->kind != SHIM_SPIN || !(now & ~was))
		return;
	rules_guard_lock(r);
	atomic_fetch_or(&r->usage[class], now);
	if (now == IN_HANDLER && !c->in_handler)
		c->in_handler = where;
	if (now == IRQS_ON && !c->irqs_on)
		c->irqs_on = where;
	rules_guard_unlock(r);
	if ((was | now) == (IN_HANDLER | IRQS_ON))
		shim_breach("irq-unsafe-lock", where,
			    "takes %s: %s() holds it with interrupts on, and "
			    "the handler %s() takes it",
			    c->name, c->irqs_on, c->in_handler);
	check_inversion(r, where);
}

/* class is about to be taken: after all that the thread holds. */
static void note_order(unsigned int class, const char *where)
{
	struct shim_rules *r = here.rules;
	uint32_t held = 0, fresh, before;
	unsigned int i;

	for (i = here.first; i < here.locks; i++)
		held |= 1u << here.lock[i].class;
	if (held >> class & 1) {
		shim_breach("recursive-lock", where,
			    "takes %s, and holds one of this class already",
			    class_name(class));
		return;
	}
	fresh = held & ~atomic_load(&r->before[class]);
	for (; fresh; fresh &= fresh - 1) {
		i = (unsigned int)__builtin_ctz(fresh);
		rules_guard_lock(r);
		before = rules_ancestors(r, i);
		atomic_fetch_or(&r->before[class], 1u << i);
		r->where[class][i] = where;
		rules_guard_unlock(r);
		if (before >> class & 1)
			shim_breach("lock-order", where,
				    "takes %s inside %s; elsewhere %s is taken "
				    "inside %s (%s())",
				    class_name(class), class_name(i),
				    class_name(i), class_name(class),
				    r->where[i][class] ? r->where[i][class] :
							 "over others");
		else
			check_inversion(r, where);
	}
}

static void rules_push(const struct shim_lock *l, unsigned int class,
		       const char *where)
{
	assert(here.locks < SHIM_HELD);
	here.lock[here.locks++] = (struct shim_hold){ l, class, where };
}

/* ---- locks ---- */

void shim_lock_init(struct shim_lock *l, enum shim_kind kind, const char *name)
{
	*l = (struct shim_lock){ 0 };
	if (here.rules)
		l->class = class_of(kind, name) + 1;
}

bool shim_lock_held(const struct shim_lock *l)
{
	unsigned int i;

	for (i = 0; i < here.locks; i++)
		if (here.lock[i].lock == l)
			return true;
	return false;
}

/* It was taken after what the thread holds, and like this, before: nothing to note, or to say. */
static bool take_is_known(const struct shim_lock *l)
{
	const struct shim_rules *r = here.rules;
	unsigned int class = l->class - 1, i;
	uint32_t held = 0;

	if (class >= SHIM_CLASSES)
		return false;
	for (i = 0; i < here.locks; i++) {
		if (here.lock[i].lock == l)
			return false;
		if (i >= here.first)
			held |= 1u << here.lock[i].class;
	}
	return !(held >> class & 1) && !(held & ~atomic_load(&r->before[class])) &&
	       !(usage_now() & ~atomic_load(&r->usage[class]));
}

static bool take_is_allowed(const struct shim_lock *l, const char *where)
{
	if (!l->class) {
		shim_breach("uninitialised-lock", where,
			    "takes a lock that nobody has initialised");
		return false;
	}
	if (shim_lock_held(l)) {
		shim_breach("recursive-lock", where,
			    "takes %s, which it holds: a deadlock",
			    class_name(l->class - 1));
		return false;
	}
	note_order(l->class - 1, where);
	note_usage(l->class - 1, where);
	return true;
}

bool shim_lock_take(const struct shim_lock *l, const char *where)
{
	if (!here.rules)
		return true;
	if (!take_is_known(l) && !take_is_allowed(l, where))
		return false;
	rules_push(l, l->class - 1, where);
	if (here.rules->class[l->class - 1].kind == SHIM_SPIN)
		here.spins++;
	return true;
}

bool shim_lock_give(const struct shim_lock *l, const char *where)
{
	unsigned int i;

	if (!here.rules)
		return true;
	for (i = here.locks; i-- > 0;)
		if (here.lock[i].lock == l)
			break;
	if (i == UINT32_MAX || i < here.first) {
		shim_breach("unlock-not-held", where,
			    "gives back %s, which it does not hold",
			    l->class ? class_name(l->class - 1) : "a lock");
		return false;
	}
	if (here.rules->class[here.lock[i].class].kind == SHIM_SPIN)
		here.spins--;
	for (here.locks--; i < here.locks; i++)
		here.lock[i] = here.lock[i + 1];
	return true;
}

void shim_lock_gone(const void *mem, size_t bytes, const char *where)
{
	const char *l;
	unsigned int i;

	for (i = 0; here.rules && i < here.locks; i++) {
		l = (const char *)here.lock[i].lock;
		if (l >= (const char *)mem && l < (const char *)mem + bytes)
			shim_breach("lock-freed", where,
				    "frees memory with %s in it, which it "
				    "holds", class_name(here.lock[i].class));
	}
}

static void lock_left(const struct shim_hold *h)
{
	shim_breach("lock-left", h->where, "has taken %s, and it is not given "
		    "back when the driver returns", class_name(h->class));
}

/* ---- events ---- */

void shim_event_begin(enum shim_kind kind, const char *name)
{
	unsigned int class;

	if (!here.rules)
		return;
	class = class_of(kind, name);
	note_order(class, name);
	rules_push(NULL, class, name);
	if (kind == SHIM_SPIN)
		here.spins++;
}

void shim_event_end(void)
{
	const struct shim_hold *top;

	if (!here.rules)
		return;
	assert(here.locks);
	top = &here.lock[here.locks - 1];
	if (top->lock) {
		lock_left(top);
		return;
	}
	if (here.rules->class[top->class].kind == SHIM_SPIN)
		here.spins--;
	here.locks--;
}

void shim_event_wait(enum shim_kind kind, const char *name, const char *where)
{
	if (here.rules)
		note_order(class_of(kind, name), where);
}

/* ---- interrupts, sleeping ---- */

unsigned long shim_irqs_save(void)
{
	bool was = here.irqs_off;

	here.irqs_off = true;
	return was ? FLAGS_OFF : FLAGS_ON;
}

void shim_irqs_restore(unsigned long flags, const char *where)
{
	unsigned int i;

	if (flags != FLAGS_ON && flags != FLAGS_OFF)
		shim_breach("irq-flags", where, "restores interrupts from "
			    "flags that nothing was saved in");
	if (!here.irqs_off)
		shim_breach("irq-flags", where,
			    "restores interrupts, which are on already");
	if (flags == FLAGS_ON && here.in == SHIM_IN_HANDLER)
		shim_breach("irq-flags", where,
			    "turns interrupts on in a handler");
	here.irqs_off = flags == FLAGS_OFF;
	if (here.irqs_off || !here.rules)
		return;
	for (i = here.first; i < here.locks; i++)
		note_usage(here.lock[i].class, where);
}

void shim_sleeps(const char *call, const char *where)
{
	const char *why = NULL;

	if (here.in == SHIM_IN_HANDLER)
		why = "in an interrupt handler";
	else if (here.in == SHIM_IN_CALLBACK)
		why = "in a notifier's callback, under the page-table lock";
	else if (here.spins)
		why = "while it holds a spinlock";
	else if (here.irqs_off)
		why = "with interrupts off";
	else if (here.rcu)
		why = "between rcu_read_lock() and rcu_read_unlock()";
	if (why)
		shim_breach("sleep-in-atomic", where,
			    "calls %s, which may sleep, %s", call, why);
}

/* ---- address spaces ---- */

void shim_users_get(const void *mm)
{
	assert(here.users < SHIM_USERS);
	here.user[here.users++] = mm;
}

bool shim_users_have(const void *mm)
{
	unsigned int i;

	for (i = 0; i < here.users; i++)
		if (here.user[i] == mm)
			return true;
	return false;
}

void shim_users_put(const void *mm, bool own, bool async, const char *where)
{
	const char *call = async ? "mmput_async" : "mmput";
	unsigned int i;

	for (i = here.users; i-- > 0;)
		if (here.user[i] == mm)
			break;
	if (i == UINT32_MAX)
		shim_breach("mm-users", where, "calls %s() without the "
			    "mmget_not_zero() that belongs to it", call);
	else
		here.user[i] = here.user[--here.users];
	if (!own && !async)
		shim_breach("mmput-may-exit", where,
			    "calls mmput() for a process that is not its own: "
			    "it may be the last, and the address space would "
			    "end here and call the driver's own notifier; "
			    "there is mmput_async()");
}

/* ---- a call of the driver ---- */

struct shim_mark shim_call_begin(struct shim_rules *rules, enum shim_in in)
{
	struct shim_mark m = { here.rules, here.in, here.spins, here.rcu,
			       here.locks, here.first, here.users,
			       here.memcg_refs, here.memcg, here.irqs_off };

	/* An order of locks does not go from a task into a handler. */
	if (in == SHIM_IN_HANDLER || here.rules != rules)
		here.first = here.locks;
	if (in == SHIM_IN_HANDLER)
		here.irqs_off = true;
	here.rules = rules;
	here.in = in;
	return m;
}

void shim_call_end(const struct shim_mark *m)
{
	bool irqs_off = m->irqs_off || here.in == SHIM_IN_HANDLER;

	if (here.locks > m->locks)
		lock_left(&here.lock[here.locks - 1]);
	if (here.irqs_off != irqs_off)
		shim_breach("irq-flags", NULL,
			    "the driver returns with interrupts %s",
			    irqs_off ? "on" : "off");
	if (here.rcu != m->rcu)
		shim_breach("rcu", NULL, "the driver returns inside "
			    "rcu_read_lock(), or has left it twice");
	if (here.users != m->users)
		shim_breach("mm-users", NULL, "the driver returns and keeps "
			    "the users of an address space: it would never "
			    "end");
	if (here.memcg_refs != m->memcg_refs || here.memcg != m->memcg)
		shim_breach("memcg", NULL, "the driver returns and still "
			    "allocates on somebody's account");
	here.rules = m->rules;
	here.in = m->in;
	here.spins = m->spins;
	here.rcu = m->rcu;
	here.locks = m->locks;
	here.first = m->first;
	here.users = m->users;
	here.memcg_refs = m->memcg_refs;
	here.memcg = m->memcg;
	here.irqs_off = m->irqs_off;
}
