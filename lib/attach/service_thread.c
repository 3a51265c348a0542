// SPDX-License-Identifier: BSD-2-Clause
/*
 * service_thread.c - the library's own thread of an attachment: it does what the board
 * tells about views when no other thread waits for an answer, hears of the end
 * of the board, and moves memory for the others (import.c), since it is the one
 * thread that has no page of the program under its feet.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/internal.h"

#define LINGER		50u	/* turns that it looks on before it sleeps */
#define NAP_MS		1000	/* so often it looks by itself */
#define ALT_BYTES	262144u	/* of an alternate stack */

static bool service_busy(struct attach *a)
{
	return atomic_load(&a->stop) || atomic_load(&a->job.state) == 1 ||
	       (!atomic_load(&a->error) && attach_views_wait(a));
}

/* Bells say nothing but that there is something; the end says more. */
static void service_hear(struct attach *a, short events)
{
	char notes[64 * sizeof(struct attach_note)];
	ssize_t r;

	if (!events)
		return;
	r = os_receive(a->sock, notes, sizeof(notes), NULL, NULL);
	if (r <= 0 && r != -EAGAIN)
		attach_dies(a, -ENODEV);
}

static void service_nap(struct attach *a)
{
	struct pollfd p[2] = {
		{ .fd = a->wake[0], .events = POLLIN },
		{ .fd = a->sock, .events = POLLIN },
	};
	bool gone = atomic_load(&a->error) != 0;
	char drop[64];

	/* seq_cst: say it, then look (attach.h, service_asleep). */
	atomic_store(&a->shared->service_asleep, 1);
	if (!service_busy(a) && poll(p, gone ? 1 : 2, NAP_MS) > 0) {
		while (p[0].revents && read(a->wake[0], drop, sizeof(drop)) ==
				       sizeof(drop))
			;
		if (!gone)
			service_hear(a, p[1].revents);
	}
	atomic_store(&a->shared->service_asleep, 0);
}

static void *service_loop(void *arg)
{
	struct attach *a = arg;
	unsigned int idle = 0;

	while (!atomic_load(&a->stop)) {
		/* Acquire pairs with attach_job(): the job is whole. */
		if (atomic_load(&a->job.state) == 1) {
			attach_job_do(a);
			atomic_store(&a->job.state, 2);
			idle = 0;
		} else if (service_busy(a)) {
			attach_views(a);
			idle = 0;
			os_pause();
		} else if (idle++ < LINGER) {
			os_yield();
		} else {
			service_nap(a);
			/* Also the board's word in the shared area counts. */
			attach_error(a);
			idle = LINGER - 1;
		}
	}
	return NULL;
}

static int pipe_above(int fd[2])
{
	int low[2], i, err = 0;

	if (pipe(low))
		return -errno;
	for (i = 0; i < 2; i++) {
		fd[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
		close(low[i]);
		if (fd[i] < 0 || os_set_nonblocking(fd[i]))
			err = -EMFILE;
	}
	return err;
}

int attach_service_start(struct attach *a)
{
	sigset_t mask;
	int error = pipe_above(a->wake);

	if (error)
		return error;
	/* The program's signals are for its own threads. */
	attach_block_signals(&mask);
	error = -pthread_create(&a->service, NULL, service_loop, a);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return error;
}

static void service_wake(struct attach *a)
{
	/* Full: then it will wake anyway. */
	while (write(a->wake[1], "", 1) < 0 && errno == EINTR)
		;
}

void attach_service_end(struct attach *a)
{
	atomic_store(&a->stop, 1);
	service_wake(a);
	pthread_join(a->service, NULL);
}

/* ---- work for others ---- */

void attach_job_lock(struct attach *a)
{
	unsigned int turns = 0;
	uint32_t want;

	for (;;) {
		want = 0;
		/* Acquire pairs with the release of the one before. */
		if (atomic_compare_exchange_strong_explicit(
			    &a->job.taken, &want, 1, memory_order_acquire,
			    memory_order_relaxed))
			return;
		attach_turn(&turns);
	}
}

void attach_job_unlock(struct attach *a)
{
	/* Release pairs with the acquire in attach_job_lock(). */
	atomic_store_explicit(&a->job.taken, 0, memory_order_release);
}

/* A stack for the handler while the thread's own one is moved. */
static void *service_alt_stack(stack_t *was)
{
	stack_t alt = { .ss_size = ALT_BYTES };

	if (sigaltstack(NULL, was) || !(was->ss_flags & SS_DISABLE))
		return NULL;
	alt.ss_sp = os_room(1, ALT_BYTES);
	if (!alt.ss_sp || !sigaltstack(&alt, NULL))
		return alt.ss_sp;
	os_room_end(alt.ss_sp, 1, ALT_BYTES);
	return NULL;
}

/* Nothing here may fail once it waits: errno may be on a page that moves. */
static void service_await(struct attach *a)
{
	unsigned int turns = 0;

	while (atomic_load(&a->job.state) != 2)
		attach_turn(&turns);
	atomic_store(&a->job.state, 0);
}

int attach_job_locked(struct attach *a, uint32_t kind, void *addr,
		      uint64_t bytes, unsigned int access)
{
	struct attach_job *j = &a->job;
	stack_t was = { .ss_flags = 0 };
	void *alt;

	j->kind = kind;
	j->addr = (uintptr_t)addr;
	j->bytes = bytes;
	j->access = access;
	memset(j->fixed, 0, sizeof(j->fixed));
	os_thread_ranges(j->fixed);
	alt = service_alt_stack(&was);
	memset(j->keep, 0, sizeof(j->keep));
	os_stack(&j->keep[0].start, &j->keep[0].end);
	if (!(was.ss_flags & SS_DISABLE)) {
		j->keep[1].start = (uintptr_t)was.ss_sp;
		j->keep[1].end = j->keep[1].start + was.ss_size;
	}
	attach_fault_variables(&j->keep[2].start, &j->keep[2].end);
	atomic_store(&j->state, 1);
	service_wake(a);
	service_await(a);
	if (alt) {
		sigaltstack(&was, NULL);
		os_room_end(alt, 1, ALT_BYTES);
	}
	return j->result;
}

int attach_job(struct attach *a, uint32_t kind, void *addr, uint64_t bytes,
	       unsigned int access)
{
	int cancel, result;
	sigset_t mask;

	if (atomic_load(&a->error) == -EPERM)
		return -EPERM;
	attach_block_signals(&mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	attach_job_lock(a);
	result = attach_job_locked(a, kind, addr, bytes, access);
	attach_job_unlock(a);
	pthread_setcancelstate(cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return result;
}
