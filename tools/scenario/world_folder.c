// SPDX-License-Identifier: BSD-2-Clause
/*
 * The folder of a world that has doors or guests, and who minds it: a shell that waits
 * for this program's end. If that comes unasked, by a signal or a crash, it ends the
 * scripts of guests, gives them time, and removes the folder.
 */
#include "tools/scenario/world_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/os/os.h"

extern char **environ;

/* It hears the numbers of scripts, from themselves; "done": there is nothing to do. */
static const char minds[] =
	"while read -r pid; do pids=\"$pids $pid\"; done\n"
	"case $pids in *done) exit ;; esac\n"
	"for pid in $pids; do kill $pid; done\n"
	"tries=0\n"
	"for pid in $pids; do\n"
	"	while kill -0 $pid && [ $tries -lt 200 ]; do\n"
	"		tries=$((tries + 1))\n"
	"		sleep 0.1\n"
	"	done\n"
	"done\n"
	"rm -rf \"$1\"\n";

static int spawn_minder(struct world *w, int line)
{
	char *const argv[] = { "sh", "-c", (char *)minds, "minder", w->folder,
			       NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	int err;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, line, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	/* What a terminal sends goes to all of its processes. */
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	err = posix_spawn(&w->minder, "/bin/sh", &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (err)
		w->minder = 0;
	return -err;
}

static int start_minder(struct world *w)
{
	int fds[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -errno;
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	fcntl(fds[1], F_SETFD, FD_CLOEXEC);
	err = spawn_minder(w, fds[1]);
	close(fds[1]);
	w->minder_line = fds[0];
	if (err)
		close(fds[0]);
	return err;
}

int world_folder_need(struct world *w)
{
	const char *tmp = getenv("TMPDIR");
	int n, err;

	if (w->folder[0])
		return 0;
	n = snprintf(w->folder, sizeof(w->folder), "%s/faultline.XXXXXX",
		     tmp && *tmp ? tmp : "/tmp");
	/* Cut off: sockets have short names anyway. */
	if (n >= (int)sizeof(w->folder) || !mkdtemp(w->folder)) {
		world_why_set(w, "no folder for sockets in %s",
			      tmp && *tmp ? tmp : "/tmp");
		w->folder[0] = 0;
		return n >= (int)sizeof(w->folder) ? -ENAMETOOLONG : -errno;
	}
	err = start_minder(w);
	if (err) {
		rmdir(w->folder);
		w->folder[0] = 0;
	}
	return err;
}

void world_folder_remove(struct world *w)
{
	if (!w->folder[0])
		return;
	if (!rmdir(w->folder))
		os_send(w->minder_line, "done\n", 5, NULL, 0);
	else
		world_note_problem(w, 6, "the folder %s was not empty",
				   w->folder);
	close(w->minder_line);
	while (waitpid(w->minder, NULL, 0) < 0 && errno == EINTR)
		;
	w->folder[0] = 0;
}
