// SPDX-License-Identifier: BSD-2-Clause
/* As many threads as there can be, so that nobody else can start a process. */
// says: it has more than 64 threads
#include <pthread.h>
#include <unistd.h>

static void *thread_stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

__attribute__((constructor)) static void cheat(void)
{
	pthread_attr_t small;
	pthread_t t;
	int i;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	for (i = 0; i < 200; i++)
		pthread_create(&t, &small, thread_stay, NULL);
	for (;;)
		pause();
}
