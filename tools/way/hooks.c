// SPDX-License-Identifier: BSD-2-Clause
/*
 * hooks.c - what a program compiled with -finstrument-functions calls when a function of
 * its begins and ends: a line each, "PROCESS.THREAD begins|ends OFFSET" (of the function in
 * the program), at the end of the file that WAY_LOG names, where the processes of a run meet.
 * Preloaded; tools/way/measure reads the lines.
 */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HOOK __attribute__((no_instrument_function, used))

void __cyg_profile_func_enter(void *fn, void *from);
void __cyg_profile_func_exit(void *fn, void *from);

static const char *path;		/* NULL: nothing is noted */
static ElfW(Addr) base;		/* of the program, which comes first */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/*
 * Software threads of lockstep share a thread of the system, so a thread is told by its stack,
 * which no other comes near. One that ends leaves its number to the next on its stack.
 */
#define STACKS	1024
#define STACK_NEAR ((uintptr_t)4 << 20)
static uintptr_t stack[STACKS];
static unsigned int stacks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

HOOK static int hooks_first(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes, (void)arg;
	base = info->dlpi_addr;
	return 1;
}

/* A process that is forked has one thread, and must not find the lock with another of before. */
HOOK static void hooks_fork(void)
{
	pthread_mutex_lock(&lock);
}

HOOK static void hooks_forked(void)
{
	pthread_mutex_unlock(&lock);
}

HOOK static void hooks_begin(void)
{
	path = getenv("WAY_LOG");
	pthread_atfork(hooks_fork, hooks_forked, hooks_forked);
	dl_iterate_phdr(hooks_first, NULL);
}

/* Lock held. */
HOOK static unsigned int hooks_thread(uintptr_t at)
{
	unsigned int i;

	for (i = 0; i < stacks; i++)
		if (at - stack[i] + STACK_NEAR < 2 * STACK_NEAR)
			return i + 1;
	if (stacks < STACKS)
		stack[stacks++] = at;
	return i + 1;
}

/*
 * The lock keeps lines in the order of what happened. A process may close what it did not
 * open, and put its own in the place, so the file is not kept open.
 */
HOOK static void hooks_note(const char *what, void *fn)
{
	char line[64];
	int len, to;

	pthread_once(&once, hooks_begin);
	if (!path)
		return;
	pthread_mutex_lock(&lock);
	len = snprintf(line, sizeof(line), "%d.%u %s %lx\n", (int)getpid(),
		       hooks_thread((uintptr_t)__builtin_frame_address(0)), what,
		       (unsigned long)((ElfW(Addr))fn - base));
	to = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (to < 0 || write(to, line, (size_t)len) != len)
		_exit(1);	/* a way with holes would be a wrong one */
	close(to);
	pthread_mutex_unlock(&lock);
}

HOOK void __cyg_profile_func_enter(void *fn, void *from)
{
	(void)from;
	hooks_note("begins", fn);
}

HOOK void __cyg_profile_func_exit(void *fn, void *from)
{
	(void)from;
	hooks_note("ends", fn);
}
