// SPDX-License-Identifier: BSD-2-Clause
/* The end of a service has a limit: a signal, since no thread need run for that. */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/os/os.h"
#include "tools/faultline/service.h"

static struct {
	char path[SERVICE_PATHS][136];
	unsigned int paths;
} left;

static void service_give_up(int sig)
{
	unsigned int i;

	(void)sig;
	for (i = 0; i < left.paths; i++)
		unlink(left.path[i]);
	os_say("faultline: something held up the end for too long; the sockets "
	       "are gone, and a trace may lack its last events\n");
	_exit(1);
}

void service_end_by(const char *const *path, unsigned int paths,
		    unsigned int seconds)
{
	struct sigaction act = { .sa_handler = service_give_up };
	sigset_t set;
	unsigned int i;

	assert(paths <= SERVICE_PATHS);
	for (i = 0; i < paths; i++)
		snprintf(left.path[i], sizeof(left.path[i]), "%s", path[i]);
	left.paths = paths;
	sigaction(SIGALRM, &act, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm(seconds);
}
