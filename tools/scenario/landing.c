// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/landing.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "host/host.h"
#include "lib/os/os.h"

static const int signals[2] = { SIGSEGV, SIGBUS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int users;
static struct sigaction before[2];
static _Atomic(const char *) doing;

/* Of a thread: where to land, and the access that its kernel has refused. */
static _Thread_local struct {
	sigjmp_buf at;
	volatile sig_atomic_t set;
	volatile int error;		/* 0: none */
	volatile uintptr_t addr;
} here;

void *landing_local(size_t *bytes)
{
	*bytes = sizeof(here);
	return &here;
}

const char *landing_reason(int error)
{
	switch (error) {
	case -ENOMEM:
		return "no frame is free, and no page can be taken away: swap is "
		       "full, or the rest is pinned";
	case -EIO:
		return "it cannot be read from its file or from swap";
	case -EFAULT:
		return "nothing is mapped there, or not for this access";
	default:
		return strerror(-error);
	}
}

void landing_doing(const char *text)
{
	atomic_store(&doing, text);
}

/* In the handler of the library: what it refuses comes to on_refused() next. */
static bool landing_refused(struct host_process *p, uint64_t va, bool write,
			    int error)
{
	(void)p;
	(void)write;
	here.error = error;
	here.addr = va;
	return false;
}

static char *landing_put(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

/* Nowhere to land: the library itself touched that page. */
static void say_and_end(void)
{
	const char *line = atomic_load(&doing);
	char text[700], *to = text;
	unsigned int shift;

	to = landing_put(to, "faultline: a process of this run cannot go on, no page comes "
			     "to 0x");
	for (shift = sizeof(uintptr_t) * 8; shift; shift -= 4)
		*to++ = "0123456789abcdef"[here.addr >> (shift - 4) & 15];
	to = landing_put(to, ": ");
	to = landing_put(to, landing_reason(here.error));
	if (line && strlen(line) < 300) {
		to = landing_put(to, "; this was done: ");
		to = landing_put(to, line);
	}
	to = landing_put(to, "\n");
	*to = 0;
	os_say(text);
	_exit(1);
}

static void on_refused(int sig, siginfo_t *si, void *context)
{
	(void)si;
	(void)context;
	if (here.error && here.set)
		siglongjmp(here.at, 1);
	if (here.error)
		say_and_end();
	/* A crash like any other: done again, it ends as if we were not here. */
	sigaction(sig, &before[sig == SIGBUS], NULL);
}

void landing_begin(void)
{
	struct sigaction sa = { .sa_sigaction = on_refused,
				.sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < 2 && !users; i++)
		sigaction(signals[i], &sa, &before[i]);
	if (!users++)
		host_segv_hook(landing_refused);
	pthread_mutex_unlock(&lock);
}

void landing_end(void)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	if (!--users)
		host_segv_hook(NULL);
	for (i = 0; i < 2 && !users; i++)
		sigaction(signals[i], &before[i], NULL);
	landing_doing(NULL);
	pthread_mutex_unlock(&lock);
}

int landing_try(void (*fn)(void *arg), void *arg, uint64_t *addr)
{
	here.error = 0;
	if (sigsetjmp(here.at, 1)) {
		here.set = 0;
		*addr = here.addr;
		return here.error;
	}
	here.set = 1;
	fn(arg);
	here.set = 0;
	return 0;
}
