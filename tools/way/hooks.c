// SPDX-License-Identifier: BSD-2-Clause
/*
 * hooks.c - what a program compiled with -finstrument-functions calls when a function of
 * its begins and ends: a line each, "THREAD begins|ends OFFSET" (of the function in the
 * program), in the file that WAY_LOG names. Preloaded; tools/way/measure reads the lines.
 */
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define HOOK __attribute__((no_instrument_function, used))

void __cyg_profile_func_enter(void *fn, void *from);
void __cyg_profile_func_exit(void *fn, void *from);

static FILE *to;
static ElfW(Addr) base;		/* of the program, which comes first */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint threads;
static _Thread_local unsigned int number;

HOOK static int hooks_first(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes, (void)arg;
	base = info->dlpi_addr;
	return 1;
}

HOOK static void hooks_begin(void)
{
	const char *path = getenv("WAY_LOG");

	dl_iterate_phdr(hooks_first, NULL);
	to = path ? fopen(path, "w") : NULL;
}

/* The stream's own lock keeps lines whole, and in the order of what happened. */
HOOK static void hooks_note(const char *what, void *fn)
{
	pthread_once(&once, hooks_begin);
	if (!to)
		return;
	if (!number)
		number = atomic_fetch_add(&threads, 1) + 1;
	fprintf(to, "%u %s %lx\n", number, what,
		(unsigned long)((ElfW(Addr))fn - base));
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
