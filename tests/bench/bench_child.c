// SPDX-License-Identifier: BSD-2-Clause
/* A program as a child, and what it took. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>

#include "bench.h"

extern char **environ;

void bench_child(const char *const *arg, struct rusage *usage)
{
	posix_spawn_file_actions_t act;
	pid_t pid, got;
	int status, err;

	posix_spawn_file_actions_init(&act);
	posix_spawn_file_actions_addopen(&act, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&act, 1, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, arg[0], &act, NULL,
			  (char *const *)(uintptr_t)arg, environ);
	posix_spawn_file_actions_destroy(&act);
	if (err)
		bench_broken("%s does not start", arg[0]);
	do {
		got = wait4(pid, &status, 0, usage);
	} while (got < 0 && errno == EINTR);
	if (got != pid || status)
		bench_broken("%s %s %s %s failed", arg[0], arg[1], arg[2], arg[3]);
}
