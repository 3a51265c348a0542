// SPDX-License-Identifier: BSD-2-Clause
/* Threads of the library's, where a thread is a thread. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "sys.h"

struct thread {
	pthread_t id;
	void (*fn)(void *arg);
	void *arg;
};

static void *thread_run(void *arg)
{
	struct thread *t = arg;

	t->fn(t->arg);
	return NULL;
}

int fl_sys_thread(void (*fn)(void *arg), void *arg, void **thread)
{
	struct thread *t = malloc(sizeof(*t));
	int error;

	if (!t)
		return -ENOMEM;
	t->fn = fn;
	t->arg = arg;
	error = -pthread_create(&t->id, NULL, thread_run, t);
	if (error)
		free(t);
	else
		*thread = t;
	return error;
}

void fl_sys_thread_join(void *thread)
{
	struct thread *t = thread;

	pthread_join(t->id, NULL);
	free(t);
}
