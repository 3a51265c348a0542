// SPDX-License-Identifier: BSD-2-Clause
/*
 * client.c - one attached process: its life, its notes, and the commands for its
 * MMU.
 *
 * The end of a process is work that may wait (for the card to let go of its
 * queues), so a thread of its own does it. Until then its slot on the card, its
 * frames and its keys count as taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve_internal.h"
#include "sim/sim.h"

#define NOTES_AT_ONCE	32
/*
 * A thread that waits for an answer does it soon, if only it gets the CPU; the service thread
 * must be rung for, which takes longer than all the rest.
 */
#define WAIT_SPINS	150
#define WAIT_SHARED	1
#define WAIT_RING	4		/* yields before the bell */
#define WAIT_YIELDS	50
#define WAIT_NS		50000ull	/* then it is waiting (sim_will_wait()) */
#define NAP_NS		1000000ull
#define SAY_CUT_OFF	100u
/* Between two looks whether calls on an I/O thread are over. */
#define ON_IO_NS	100000

/* ---- life ---- */

static int client_share(struct client *c, uint64_t instance)
{
	void *mem;
	int i;

	c->shared_fd = os_memory_create("faultline-shared",
					sizeof(*c->shared));
	if (c->shared_fd < 0)
		return c->shared_fd;
	mem = mmap(NULL, sizeof(*c->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		   c->shared_fd, 0);
	if (mem == MAP_FAILED)
		return -errno;
	c->shared = mem;
	c->shared->instance = instance;
	c->shared->fences = c->serve->fences;
	atomic_store(&c->shared->alive, 1);
	for (i = 0; i < (int)ATTACH_CALLS; i++)
		c->worker[i] = (struct worker){ .client = c,
					    .slot = (unsigned int)i };
	return 0;
}

static void take_back(struct client *c)
{
	if (c->shared)
		munmap(c->shared, sizeof(*c->shared));
	c->shared = NULL;
	if (c->shared_fd >= 0)
		close(c->shared_fd);
	c->shared_fd = -1;
}

static void client_guard(struct client *c)
{
	struct host_bank bank;

	host_process_bank(c->process, &bank);
	if (os_memory_fixed(bank.fd))
		return;
	sigbus_add(bank.mem, bank.bytes, &c->cut);
	sigbus_add(c->shared, sizeof(*c->shared), &c->cut);
}

/* Its calls are over, and no worker is left. */
static void client_end_calls(struct client *c)
{
	unsigned int i;

	/* Of a process that is killed they end soon. */
	while (atomic_load(&c->on_io))
		sim_sleep(ON_IO_NS);
	for (i = 0; i < ATTACH_CALLS; i++) {
		if (!c->worker[i].thread)
			continue;
		sim_unpark(c->worker[i].thread, 0);
		sim_thread_join(c->worker[i].thread);
		c->worker[i].thread = NULL;
	}
}

static void client_take_down(void *client)
{
	struct client *c = client;

	while (atomic_load(&c->state) == CLIENT_LIVES)
		sim_park();
	host_process_kill(c->process);
	/* Whoever waits for a page of its files does so no more. */
	keeper_kill(&c->keeper);
	client_end_calls(c);
	host_process_exit(c->process);
	take_back(c);
	keeper_end(&c->keeper);
	if (c->peer >= 0)
		close(c->peer);
	/* Last: when the process sees the end, all is given back. */
	serve_hang_up(c->serve, c->sock);
	atomic_store(&c->state, CLIENT_GONE);
	serve_wake(c->serve);
}

/* Now, since when the process ends there may be no thread to be had. */
static int start_reaper(struct client *c)
{
	char name[64];

	snprintf(name, sizeof(name), "%.40s/exit", c->name);
	c->reaper = sim_thread_start(c->serve->cfg.sim, name, true,
				     client_take_down, c);
	return c->reaper ? 0 : -EAGAIN;
}

struct client *client_create(struct serve *s, struct listener *d, int sock,
			     const struct attach_hello *h, int *error)
{
	struct client *c = calloc(1, sizeof(*c));

	*error = -ENOMEM;
	if (!c)
		return NULL;
	c->serve = s;
	c->kernel = d->kernel;
	c->listener = d;
	c->sock = sock;
	c->shared_fd = -1;
	/* A system that cannot say has the socket's end alone. */
	c->peer = os_peer_process(sock);
	snprintf(c->name, sizeof(c->name), "%s", h->name);
	*error = client_share(c, s->instance);
	if (!*error)
		c->process = host_process_attach(d->kernel, c->name, h->arena,
						 &client_cpu_ops, c, error);
	if (c->process)
		*error = start_reaper(c);
	if (!*error) {
		client_guard(c);
		return c;
	}
	if (c->process)
		host_process_exit(c->process);
	take_back(c);
	if (c->peer >= 0)
		close(c->peer);
	free(c);
	return NULL;
}

void client_begin(struct client *c)
{
	struct serve *s = c->serve;

	s->client[s->live++] = c;
}

static void say_end(struct client *c, const char *how, const char *why)
{
	fprintf(stderr, "board %s: process %s %s: %s\n",
		board_name(host_board(c->kernel)), c->name, how, why);
}

/* It did not end by itself: whoever reads the boards' log hears it, not too often. */
static void say_cut_off(struct client *c)
{
	const char *why = atomic_load(&c->why);
	atomic_ullong *n = &c->serve->count.cut_off;

	serve_count(n);
	if (atomic_load(n) <= SAY_CUT_OFF)
		say_end(c, "is cut off", why ? why : "it wrote what cannot be");
	if (atomic_load(n) == SAY_CUT_OFF)
		fprintf(stderr, "more of these are not reported\n");
}

void client_end(struct client *c, const char *why)
{
	if (atomic_load(&c->state) != CLIENT_LIVES)
		return;
	if (atomic_load(&c->cut))
		say_cut_off(c);
	else if (getenv("FAULTLINE_KLOG"))
		say_end(c, "ends", why);
	atomic_store(&c->shared->alive, 0);
	/* No more is taken from it; a process that lives on is told. */
	shutdown(c->sock, SHUT_RD);
	atomic_store(&c->state, CLIENT_DYING);
	sim_unpark(c->reaper, 0);
}

void client_reap(struct client *c)
{
	c->listener->clients--;
	sim_thread_join(c->reaper);
	sigbus_remove(&c->cut);
	free(c);
}

static bool client_lives(struct client *c)
{
	return atomic_load(&c->state) == CLIENT_LIVES &&
	       !atomic_load(&c->cut);
}

/*
 * Commands that are not done. Acquire pairs with the process's release: its
 * threads touch the pages no more. A number that cannot be ends it.
 */
static uint32_t client_undone(struct client *c)
{
	uint32_t n = atomic_load_explicit(&c->view_head, memory_order_relaxed) -
		     atomic_load_explicit(&c->shared->view_done,
					  memory_order_acquire);

	if (n > ATTACH_VIEWS)
		atomic_store(&c->cut, true);
	return n;
}

void client_cut(struct client *c, const char *why)
{
	const char *none = NULL;

	atomic_compare_exchange_strong(&c->why, &none, why);
	atomic_store(&c->cut, true);
	serve_wake(c->serve);
}

void client_check(struct client *c, uint64_t now_ns)
{
	uint64_t since_ns = atomic_load(&c->slow_since_ns);
	uint64_t patience_ns = c->serve->cfg.patience_ms * 1000000ull;

	if (atomic_load(&c->state) != CLIENT_LIVES)
		return;
	if (atomic_load(&c->cut)) {
		client_end(c, NULL);
	} else if (since_ns && !client_undone(c)) {
		/* It has caught up; unless it is late again meanwhile. */
		atomic_compare_exchange_strong(&c->slow_since_ns, &since_ns, 0);
	} else if (since_ns && now_ns > since_ns &&
		   now_ns - since_ns > patience_ns) {
		client_cut(c, "it does not close the pages that it was told to");
		client_end(c, NULL);
	}
}

/* ---- notes ---- */

/* Of whoever waits for the keeper: the process dies, or it has taken too long. */
static int keeper_over(void *arg, uint64_t waited_ns)
{
	struct client *c = arg;

	if (waited_ns > c->serve->cfg.patience_ms * 1000000ull)
		client_cut(c, "a file that it mapped does not answer");
	return !client_lives(c);
}

/* From its first descriptor on another process reads the socket. */
static void begin_keeper(struct client *c)
{
	c->keeper.over = keeper_over;
	c->keeper.arg = c;
	if (keeper_start(&c->keeper, &c->serve->keepers, c->sock, &c->note,
			 c->note_bytes))
		client_cut(c, "there is no process to be had that could read "
			      "its files");
}

static void client_take_note(struct client *c)
{
	c->note_bytes = 0;
	/* A FILE without a file is as bad as anything else. */
	if (c->note.kind != ATTACH_WAKEUP)
		atomic_store(&c->cut, true);
}

static void hear_keeper(struct client *c)
{
	bool cut;
	const char *why = keeper_hear(&c->keeper, &cut);

	if (why && cut)
		client_cut(c, why);
	else if (why)
		client_end(c, why);
}

void client_read(struct client *c)
{
	unsigned int notes;
	ssize_t r;

	for (notes = 0; notes < NOTES_AT_ONCE && !c->keeper.number; notes++) {
		r = os_receive_bytes(c->sock,
				     (uint8_t *)&c->note + c->note_bytes,
				     sizeof(c->note) - c->note_bytes);
		if (r == -EAGAIN)
			return;
		if (r == -EBADMSG) {
			begin_keeper(c);
			return;
		}
		if (r <= 0) {
			client_end(c, "it has gone");
			return;
		}
		c->note_bytes += (unsigned int)r;
		if (c->note_bytes == sizeof(c->note))
			client_take_note(c);
	}
	if (c->keeper.number)
		hear_keeper(c);
}

/*
 * ---- views: the address space's lock is held; pages and frames are the kernel's
 * and go out as the protocol's ----
 */

static void client_ring(struct client *c)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };
	int err = 0;

	/* seq_cst: pairs with the service thread's look after it says that it sleeps. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&c->shared->service_asleep,
				 memory_order_relaxed))
		err = os_send_all(c->sock, &n, sizeof(n), NULL, 0, 0);
	/* No room: it has wakeups enough. One that is lost must not leave it asleep. */
	if (err && err != -EAGAIN)
		shutdown(c->sock, SHUT_RDWR);
}

/* A thread of the process is at one, and goes on to the last. */
static bool client_works(const struct client *c)
{
	return atomic_load_explicit(&c->shared->view_begun, memory_order_relaxed) !=
	       atomic_load_explicit(&c->shared->view_done, memory_order_relaxed);
}

/* Until at most `most` are undone; 0 or -ETIME. */
static int wait_views(struct client *c, uint32_t most)
{
	unsigned int spins = serve_spins(c->serve, WAIT_SPINS, WAIT_SHARED), i;
	struct attach_shared *sh = c->shared;
	uint64_t start_ns = 0, waited_ns;
	bool rung = false;
	uint32_t seen;

	for (i = 0; client_lives(c); i++) {
		seen = atomic_load_explicit(&sh->view_done,
					    memory_order_relaxed);
		if (client_undone(c) <= most)
			return 0;
		if (i < spins) {
			os_pause();
			continue;
		}
		if (i == spins)
			start_ns = os_now_ns();
		waited_ns = os_now_ns() - start_ns;
		if (!rung && (i >= spins + WAIT_RING || waited_ns >= WAIT_NS) &&
		    !client_works(c)) {
			client_ring(c);
			rung = true;
		}
		if (waited_ns > CLOSE_WAIT_NS)
			return -ETIME;
		if (i < spins + WAIT_YIELDS && waited_ns < WAIT_NS) {
			os_yield();
			continue;
		}
		sim_will_wait();
		atomic_store(&sh->view_awaited, 1);
		if (atomic_load(&sh->view_done) == seen)
			os_word_wait(&sh->view_done, seen, NAP_NS);
		atomic_store(&sh->view_awaited, 0);
	}
	return 0;	/* nobody is there who could touch a page */
}

static void client_command(struct client *c, const struct attach_view *v)
{
	uint32_t n = atomic_load_explicit(&c->view_head, memory_order_relaxed);

	c->shared->view[n % ATTACH_VIEWS] = *v;
	atomic_store_explicit(&c->view_head, n + 1, memory_order_relaxed);
	/* Release: pairs with the process's acquire. */
	atomic_store_explicit(&c->shared->view_head, n + 1,
			      memory_order_release);
}

static void view_open(void *arg, uint64_t va, uint64_t npages, uint64_t frame,
		      int prot)
{
	struct attach_view v = { .kind = ATTACH_OPEN_PAGES,
				 .prot = (uint32_t)prot, .va = va,
				 .npages = (uint32_t)(npages * HOST_FRAMES),
				 .frame = (uint32_t)(frame * HOST_FRAMES) };
	struct client *c = arg;

	/* It does not keep up: the page stays closed and faults again. */
	if (client_lives(c) && client_undone(c) < ATTACH_VIEWS)
		client_command(c, &v);
}

static int view_close(void *arg, uint64_t va, uint64_t npages)
{
	struct attach_view v = { .kind = ATTACH_CLOSE_PAGES, .va = va,
				 .npages = (uint32_t)(npages * HOST_FRAMES) };
	uint64_t none = 0;
	struct client *c = arg;
	int err;

	if (!client_lives(c))
		return 0;
	/* One that is overdue already is not waited for again. */
	if (client_undone(c) && atomic_load(&c->slow_since_ns)) {
		atomic_fetch_add(&c->overdue, 1);
		return -ETIME;
	}
	atomic_store(&c->slow_since_ns, 0);
	err = wait_views(c, ATTACH_VIEWS - 1);
	if (!err && client_lives(c)) {
		client_command(c, &v);
		err = wait_views(c, 0);
	}
	if (err) {
		/* The I/O thread may sleep without a limit; from now on there is one. */
		if (atomic_compare_exchange_strong(&c->slow_since_ns, &none,
						   os_now_ns()))
			serve_wake(c->serve);
		atomic_fetch_add(&c->overdue, 1);
	}
	return err;
}

void client_catches_up(struct client *c)
{
	while (client_lives(c) && client_undone(c) &&
	       atomic_load(&c->slow_since_ns))
		sim_sleep(NAP_NS);
}

const struct host_cpu_ops client_cpu_ops = {
	.open = view_open,
	.close = view_close,
};
