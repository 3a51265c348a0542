// SPDX-License-Identifier: BSD-2-Clause
#include "rig/attach_stage.h"

#define STAGE_PAUSE_NS	40	/* what a turn of a loop takes */
#define STAGE_PAUSES	25	/* so many of them at a time */
#define STAGE_YIELD_NS	1000
#define STAGE_NAP_NS	100000
#define STAGE_LOOK_NS	40000	/* between two looks at sockets, at most */

struct stage stage;

_Thread_local struct stage_party *stage_me;

static void *stage_local(size_t *bytes)
{
	*bytes = sizeof(stage_me);
	return &stage_me;
}

void stage_locals(struct sim *sim)
{
	sim_local_add(sim, stage_local);
	sim_local_add(sim, attach_local_late);
	sim_local_add(sim, attach_local_table);
}

void stage_begin(uint64_t seed)
{
	memset(&stage, 0, sizeof(stage));
	rng_init(&stage.rng, seed, "stage");
	stage.slow = stage_slow();
}

static bool stage_simulates(void)
{
	struct sim *sim = sim_self();

	return sim && sim_mode(sim) == SIM_LOCKSTEP;
}

uint64_t stage_now_ns(void)
{
	return stage_simulates() ? sim_now(sim_self()) : os_now_ns();
}

/* ---- what goes wrong ---- */

/* The other side finds the socket closed. */
static void stage_cut(struct attach *a)
{
	if (a && atomic_load(&a->state) != ATTACH_NONE && a->sock >= 0)
		shutdown(a->sock, SHUT_RDWR);
}

static void stage_boards_die(void)
{
	unsigned int i;

	stage.boards_dead = true;
	for (i = 0; i < ATTACH_BOARDS; i++)
		stage_cut(attach_slot(i));
}

static bool is_moving(void)
{
	struct attach *a;
	unsigned int i;

	for (i = 0; i < ATTACH_BOARDS; i++) {
		a = attach_slot(i);
		if (a && atomic_load(&a->state) == ATTACH_LIVE &&
		    atomic_load(&a->job.state) == 1)
			return true;
	}
	return false;
}

static bool is_last(uint64_t *turns)
{
	if (!*turns || (stage.aimed && !is_moving()))
		return false;
	return !--*turns;
}

static void stage_trouble(struct stage_party *p)
{
	/* What is touched would never come: the program would end. */
	if (!p->inside || atomic_load(&stage.touching))
		return;
	if (p->cut_fd >= 0 && is_last(&p->cut_in)) {
		p->was_cut = true;
		stage_cut(attach_by_fd(p->cut_fd));
	}
	if (is_last(&p->stop_in)) {
		p->was_stopped = true;
		p->stopped_until_ns = stage_now_ns() + p->stop_ns;
	}
}

void stage_rest(uint64_t ns)
{
	struct stage_party *p = stage_me;

	stage.turns++;
	if (!p) {
		sim_sleep(ns);
		while (stage.boards_dead && !sim_stopping())
			sim_sleep(STAGE_NAP_NS);
		return;
	}
	if (!atomic_load(&stage.touching) && is_last(&stage.die_in))
		stage_boards_die();
	stage_trouble(p);
	sim_park_timeout(ns);
	while (p->stopped_until_ns > stage_now_ns())
		sim_park_timeout(p->stopped_until_ns - stage_now_ns());
}

/* ---- what the library and the boards call ---- */

/* Each party, and the boards, on a machine that is more or less busy. */
static void stage_turn(uint64_t ns)
{
	stage_rest(ns * (stage_me ? stage_me->slow : stage.slow));
}

void stage_yield(void)
{
	if (stage_simulates())
		stage_turn(STAGE_YIELD_NS);
	else
		os_yield();
}

/* On a machine that is busy enough each yield gives the CPU away. */
bool stage_yield_shared(void)
{
	uint64_t start_ns = stage_now_ns();

	if (!stage_simulates())
		return os_yield_shared();
	stage_yield();
	return stage_now_ns() - start_ns > 2 * STAGE_YIELD_NS;
}

/* There are no CPUs to choose from. */
bool stage_poller_yield(struct os_poller *p)
{
	return stage_simulates() ? stage_yield_shared() : os_poller_yield(p);
}

void stage_pause(void)
{
	unsigned int *n = stage_me ? &stage_me->pauses : &stage.pauses;

	if (!stage_simulates())
		os_pause();
	else if (++*n % STAGE_PAUSES == 0)
		stage_turn(STAGE_PAUSES * STAGE_PAUSE_NS);
}

void stage_nap(void)
{
	if (stage_simulates())
		stage_rest(STAGE_NAP_NS);
	else
		os_nap();
}

/* Both sides map it, at addresses that differ in whole pages. */
static bool is_same_word(const _Atomic uint32_t *a, const _Atomic uint32_t *b)
{
	return ((uintptr_t)a ^ (uintptr_t)b) % 4096 == 0;
}

void stage_word_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	struct stage_waiter w = { .word = word, .next = stage.waiters }, **p;
	uint64_t end_ns, now_ns;

	if (!stage_simulates()) {
		os_word_wait(word, value, ns);
		return;
	}
	if (atomic_load(word) != value)
		return;
	now_ns = stage_now_ns();
	end_ns = ns ? now_ns + ns : UINT64_MAX;
	w.party = stage_me ? sim_thread_self() : NULL;
	stage.waiters = &w;
	for (; !w.woken && now_ns < end_ns && !sim_stopping();
	     now_ns = stage_now_ns())
		/* The boards' threads have unparks coming that are not to be lost. */
		stage_rest(!w.party ? STAGE_YIELD_NS :
			   ns ? end_ns - now_ns : STAGE_NAP_NS);
	for (p = &stage.waiters; *p != &w; p = &(*p)->next)
		;
	*p = w.next;
}

void stage_word_wake(_Atomic uint32_t *word)
{
	struct stage_waiter *w;

	if (!stage_simulates()) {
		os_word_wake(word);
		return;
	}
	for (w = stage.waiters; w; w = w->next)
		if (is_same_word(w->word, word) && !w->woken) {
			w->woken = true;
			if (w->party)
				sim_unpark(w->party, 0);
		}
}

/* The ends of a socket are looked at again and again, at random moments. */
int stage_poll(struct pollfd *fd, nfds_t n, int timeout_ms)
{
	uint64_t end_ns = UINT64_MAX, look_ns = STAGE_YIELD_NS;
	int r;

	if (!stage_simulates())
		return poll(fd, n, timeout_ms);
	if (timeout_ms >= 0)
		end_ns = stage_now_ns() + (uint64_t)timeout_ms * 1000000;
	for (;;) {
		r = poll(fd, n, 0);
		if (r || stage_now_ns() >= end_ns || sim_stopping())
			return r;
		stage_turn(1 + rng_below(&stage.rng, look_ns));
		if (look_ns < STAGE_LOOK_NS)
			look_ns *= 2;
	}
}

/* ---- threads of the library ---- */

struct stage_thread {
	void *(*fn)(void *arg);
	void *arg;
	struct stage_party *party;
};

static void stage_thread_main(void *thread)
{
	struct stage_thread t = *(struct stage_thread *)thread;

	free(thread);
	stage_me = t.party;
	t.fn(t.arg);
}

int stage_thread_create(pthread_t *t, const pthread_attr_t *attr,
			void *(*fn)(void *arg), void *arg)
{
	struct stage_thread *start;
	struct sim_thread *made;

	if (!stage_simulates())
		return pthread_create(t, attr, fn, arg);
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	*start = (struct stage_thread){ fn, arg, stage_me };
	made = sim_thread_start(sim_self(), "agent", true, stage_thread_main,
				start);
	*t = (pthread_t)(uintptr_t)made;
	return made ? 0 : EAGAIN;
}

int stage_thread_join(pthread_t t, void **result)
{
	if (!stage_simulates())
		return pthread_join(t, result);
	sim_thread_join((struct sim_thread *)(uintptr_t)t);
	return 0;
}

pthread_t stage_thread_self(void)
{
	return stage_simulates() ?
	       (pthread_t)(uintptr_t)sim_thread_self() : pthread_self();
}

/*
 * The stack for signals would be that of all threads here, since they share one of the system's,
 * and the library frees the one that it sets up: so it finds one, and sets up none.
 */
int stage_sigaltstack(const stack_t *set, stack_t *was)
{
	if (!stage_simulates())
		return sigaltstack(set, was);
	if (was)
		*was = (stack_t){ .ss_flags = 0 };
	return 0;
}

/* ---- keepers ---- */

enum sim_mode stage_mode(const struct sim *sim)
{
	(void)sim;
	return SIM_THREADS;
}

#define STAGE_KEEPERS 32

struct stage_keeper {
	struct keep keep;
	struct keep_order order;
	int fds[3];
	struct sim_thread *thread;	/* NULL: none */
};

struct stage_all {
	int line;
	struct sim_thread *thread;
	struct stage_keeper keeper[STAGE_KEEPERS];
};
static struct stage_all stage_all;

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* What the end of a process would close. */
static void stage_keeper_main(void *keeper)
{
	struct stage_keeper *k = keeper;
	unsigned int i;

	keep_main(&k->keep, &k->order, k->fds);
	for (i = 0; i < 3; i++)
		close_one(&k->fds[i]);
	for (i = 0; i < SERVE_FILES; i++)
		close_one(&k->keep.passed[i].fd);
	for (i = 0; i < KEEPER_FILES; i++)
		close_one(&k->keep.file[i]);
	close_one(&k->keep.note_fd);
}

static void stage_keeper_start(const struct keep_order *o, const int *fds)
{
	struct stage_keeper *k = stage_all.keeper;

	while (k->thread)
		k++;
	k->order = *o;
	memcpy(k->fds, fds, sizeof(k->fds));
	k->thread = sim_thread_start(sim_self(), "keeper", true,
				     stage_keeper_main, k);
}

/* False: the line has ended. */
static bool stage_keepers_obey(void)
{
	struct keep_order o;
	int fds[3], nfds = 3, i;
	ssize_t r = os_receive(stage_all.line, &o, sizeof(o), fds, &nfds);

	if (r == -EAGAIN)
		return true;
	if (r != sizeof(o))
		return false;
	if (o.kind == KEEP_START && nfds == 3)
		stage_keeper_start(&o, fds);
	else if (o.kind == KEEP_DISCARD && nfds == 1)
		close(fds[0]);
	for (i = 0; o.kind == KEEP_KILL && i < STAGE_KEEPERS; i++)
		if (stage_all.keeper[i].order.number == o.number)
			stage_all.keeper[i].keep.over = true;
	return true;
}

static void stage_keepers_main(void *arg)
{
	struct pollfd p = { .fd = stage_all.line, .events = POLLIN };
	unsigned int i;

	(void)arg;
	do
		stage_poll(&p, 1, -1);
	while (stage_keepers_obey());
	for (i = 0; i < STAGE_KEEPERS; i++) {
		if (!stage_all.keeper[i].thread)
			continue;
		stage_all.keeper[i].keep.over = true;
		sim_thread_join(stage_all.keeper[i].thread);
	}
	close(stage_all.line);
}

int stage_keepers_begin(struct keepers *ks)
{
	int pair[2], i;

	memset(&stage_all, 0, sizeof(stage_all));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -errno;
	for (i = 0; i < 2; i++)
		fcntl(pair[i], F_SETFL, O_NONBLOCK);
	ks->line = pair[0];
	stage_all.line = pair[1];
	stage_all.thread = sim_thread_start(sim_self(), "keepers", true,
					    stage_keepers_main, NULL);
	return stage_all.thread ? 0 : -EAGAIN;
}

void stage_keepers_end(struct keepers *ks)
{
	close(ks->line);
	sim_thread_join(stage_all.thread);
}
