// SPDX-License-Identifier: BSD-2-Clause
/*
 * call.c - asking the board: what would be a system call or a page fault. A
 * call takes a slot, says what it wants, and waits; while it waits it does what
 * the board tells about views, since the answer may hang on that.
 */
#include <errno.h>
#include <string.h>

#include "attach/internal.h"

/* A sleeper looks by itself so often whether the board is still there. */
#define NAP_NS	50000000u
/* And so often for views while the service thread, which else does them, has work. */
#define SHORT_NAP_NS 200000u

/* When it waits for an answer itself, nobody is in its poll() (service_thread.c). */
static void listen_as_service(struct attach *a)
{
	if (atomic_load(&a->job.state) == 1 &&
	    pthread_equal(pthread_self(), a->service))
		attach_listen(a);
}

/* A turn of a loop that waits for the board; false: it should sleep now. */
static bool call_look(struct attach *a, unsigned int *turns)
{
	if (*turns >= ATTACH_SPINS + ATTACH_YIELDS)
		return false;
	if (*turns < attach_spins(a, ATTACH_SPINS)) {
		++*turns;
		os_pause();
		return true;
	}
	*turns = *turns < ATTACH_SPINS ? ATTACH_SPINS : *turns + 1;
	attach_yield(a);
	return true;
}

static void call_turn(struct attach *a, unsigned int *turns)
{
	if (call_look(a, turns))
		return;
	listen_as_service(a);
	os_nap();
}

/* NULL: the board is gone. */
static struct attach_call *call_take(struct attach *a, uint32_t op,
				     unsigned int *slot)
{
	unsigned int n = ATTACH_CALLS, turns = 0, i;
	uint32_t want;

	if (op == ATTACH_IOCTL)
		n -= ATTACH_SHORT_CALLS;
	while (!attach_error(a)) {
		for (i = 0; i < n; i++) {
			want = ATTACH_FREE_SLOT;
			/* Pairs with the release of who gave it back. */
			if (!atomic_compare_exchange_strong_explicit(
				    &a->shared->call[i].state, &want,
				    ATTACH_TAKEN, memory_order_acquire,
				    memory_order_relaxed))
				continue;
			*slot = i;
			return &a->shared->call[i];
		}
		/* More threads ask than there are slots. */
		attach_views(a);
		call_turn(a, &turns);
	}
	return NULL;
}

static void call_nap(struct attach *a, struct attach_call *c)
{
	bool service_works = atomic_load(&a->job.state) == 1;

	/*
	 * Sleep on the word itself: the board writes the state and then looks
	 * at asleep, here it is the other way round, so one of the two sees
	 * the other (seq_cst on both sides).
	 */
	atomic_store(&c->asleep, 1);
	if (atomic_load(&c->state) == ATTACH_ASKED)
		os_word_wait(&c->state, ATTACH_ASKED,
			     service_works ? SHORT_NAP_NS : NAP_NS);
	atomic_store(&c->asleep, 0);
	listen_as_service(a);
}

/* Until the answer is there and holds: 0, or attach_error(). */
static int call_await(struct attach *a, struct attach_call *c)
{
	unsigned int turns = 0;
	int error;

	/* Acquire pairs with the board's release of the answer. */
	while (atomic_load_explicit(&c->state, memory_order_acquire) !=
	       ATTACH_ANSWERED) {
		error = attach_error(a);
		if (error)
			return error;
		attach_views(a);
		if (!call_look(a, &turns))
			call_nap(a, c);
	}
	/* Acquire pairs with the release in view.c: the views are in place. */
	for (turns = 0; (int32_t)(atomic_load_explicit(&a->shared->view_done,
						       memory_order_acquire) -
				  c->views) < 0; call_turn(a, &turns)) {
		error = attach_error(a);
		if (error)
			return error;
		attach_views(a);
	}
	return 0;
}

int attach_call(struct attach *a, struct attach_ask *q)
{
	struct attach_call *c;
	unsigned int slot = 0;
	int error;

	if (q->payload_in > ATTACH_PAYLOAD || q->payload_out > ATTACH_PAYLOAD)
		return -EINVAL;
	c = call_take(a, q->op, &slot);
	if (!c)
		return attach_error(a);
	c->op = q->op;
	memcpy(c->arg, q->arg, sizeof(c->arg));
	if (q->payload_in)
		memcpy(c->payload, q->payload, q->payload_in);
	atomic_store_explicit(&c->asleep, 0, memory_order_relaxed);
	/* Release pairs with the board's acquire: the question is whole. */
	atomic_store_explicit(&c->state, ATTACH_ASKED, memory_order_release);
	/* seq_cst: say it, then look who sleeps (attach.h, board_asleep). */
	atomic_fetch_or(&a->shared->asked, 1ull << slot);
	if (atomic_load(&a->shared->board_asleep))
		attach_wake(a);
	error = call_await(a, c);
	/* The slot of a board that is gone is of no more use to anybody. */
	if (error)
		return error;
	error = c->result;
	memcpy(q->ret, c->ret, sizeof(q->ret));
	if (q->payload_out)
		memcpy(q->payload, c->payload, q->payload_out);
	/* Release pairs with the acquire in call_take(): we are done with it. */
	atomic_store_explicit(&c->state, ATTACH_FREE_SLOT,
			      memory_order_release);
	return error;
}

/* ---- doorbells ---- */

/* The board has read these lines a lap ago: they come while others are written. */
#define POSTS_AHEAD 4u

/*
 * Is there room for this number? The board writes post_tail all the time, so its line is read only
 * when what was seen of it does not do.
 */
static bool call_has_room(struct attach *a, uint32_t head)
{
	uint32_t tail;

	/* Acquire, both: pairs with the board's release, which has read what was there. */
	if (head - atomic_load_explicit(&a->post_tail, memory_order_acquire) < ATTACH_POSTS)
		return true;
	tail = atomic_load_explicit(&a->shared->post_tail, memory_order_acquire);
	atomic_store_explicit(&a->post_tail, tail, memory_order_release);
	return head - tail < ATTACH_POSTS;
}

/* A number of the ring with room for it; false: none, and none was taken. */
static bool call_number(struct attach *a, uint32_t *n)
{
	struct attach_shared *s = a->shared;
	uint32_t head = atomic_load_explicit(&s->post_head,
					     memory_order_relaxed);

	do {
		if (!call_has_room(a, head))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
			&s->post_head, &head, head + 1, memory_order_relaxed,
			memory_order_relaxed));
	*n = head;
	return true;
}

static void wake_if_asleep(struct attach *a)
{
	/* seq_cst: the board sets board_asleep, then looks at seq. */
	if (atomic_load(&a->shared->board_asleep))
		attach_wake(a);
}

static void post_took(const struct attach *a, struct attach_post *p, struct attach_took *took)
{
	p->took = took->fd == a->fd + 1;
	if (!p->took)
		return;
	p->took_status = (uint8_t)took->status;
	p->took_xfer = took->xfer;
	p->took_qp = took->qp;
	p->took_bytes = took->bytes;
	took->fd = 0;
}

int attach_post(struct attach *a, enum attach_post_kind kind, uint32_t offset, uint32_t value,
		uint32_t xfer, const uint64_t *arg, struct attach_took *took)
{
	unsigned int turns = 0, i;
	struct attach_post *p;
	uint32_t n;
	int error = attach_error(a);

	if (error)
		return error;
	while (!call_number(a, &n)) {
		if (kind == ATTACH_COMPLETE)
			return -EAGAIN;
		error = attach_error(a);
		if (error)
			return error;
		attach_views(a);
		wake_if_asleep(a);
		attach_turn(&turns);
	}
	p = &a->shared->post[n % ATTACH_POSTS];
	os_want_line(&a->shared->post[(n + POSTS_AHEAD) % ATTACH_POSTS]);
	p->kind = (uint16_t)kind;
	p->offset = offset;
	p->value = value;
	p->xfer = xfer;
	for (i = 0; arg && i < 4; i++)
		p->arg[i] = arg[i];
	post_took(a, p, took);
	/*
	 * Release pairs with the board's acquire: the entry is whole, and so is
	 * what it announces (the work request that was written before).
	 */
	atomic_store_explicit(&p->seq, n + 1, memory_order_release);
	/* Write, then look: the compiler must keep to it in any case. */
	if (a->fenced)
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
	wake_if_asleep(a);
	return 0;
}
