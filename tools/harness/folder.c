// SPDX-License-Identifier: BSD-2-Clause
#include "tools/harness/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/os/os.h"

extern char **environ;

#define TRIES 8

/* It hears the numbers of scripts, from themselves; "done": there is nothing to do. */
static const char minds[] =
	"while read -r pid; do\n"
	"	[ \"$pid\" != done ] || exit 0\n"
	"	pids=\"$pids $pid\"\n"
	"done\n"
	"for pid in $pids; do kill $pid; done\n"
	"tries=0\n"
	"for pid in $pids; do\n"
	"	while kill -0 $pid && [ $tries -lt 200 ]; do\n"
	"		tries=$((tries + 1))\n"
	"		sleep 0.1\n"
	"	done\n"
	"done\n"
	"rm -rf \"$1\"\n";

static void ending_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

/* ---- what is in a folder ---- */

static int remove_in(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    unlinkat(fd, e->d_name, 0))
			remove_in(fd, e->d_name);
	closedir(d);
	return unlinkat(at, name, AT_REMOVEDIR) ? -errno : 0;
}

/* ---- folders that nobody minds any more ---- */

static const char *folder_place(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

static void sweep_one(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		remove_in(at, name);
	close(fd);
}

static void folder_sweep(void)
{
	DIR *d = opendir(folder_place());
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, FOLDER_BEGINS, strlen(FOLDER_BEGINS)))
			sweep_one(dirfd(d), e->d_name);
	if (d)
		closedir(d);
}

/* ---- life ---- */

/* Another program may take it for an old one, until it is locked: then once more. */
static int make_locked(struct folder *f)
{
	struct stat st;
	int n, err = -EAGAIN, tries;

	for (tries = 0; tries < TRIES; tries++) {
		n = snprintf(f->path, sizeof(f->path), "%s/" FOLDER_BEGINS
			     "XXXXXX", folder_place());
		if (n >= (int)sizeof(f->path))
			return -ENAMETOOLONG;
		if (!mkdtemp(f->path))
			return -errno;
		f->lock = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (f->lock >= 0 && !flock(f->lock, LOCK_EX) &&
		    !fstat(f->lock, &st) && st.st_nlink)
			return 0;
		err = -errno;
		if (f->lock >= 0)
			close(f->lock);
		rmdir(f->path);
	}
	return err;
}

static int spawn_minder(struct folder *f, int line)
{
	char *const argv[] = { "sh", "-c", (char *)minds, "minder", f->path,
			       NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	int err;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, line, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	/* Until it has ended, the folder is minded. */
	posix_spawn_file_actions_adddup2(&files, f->lock, 3);
	/* What a terminal sends goes to all of its processes. */
	ending_signals(&set);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	err = posix_spawn(&f->minder, "/bin/sh", &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

static int start_minder(struct folder *f)
{
	int fds[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -errno;
	/* If it had its own end of the line, it would wait for itself. */
	if (fcntl(fds[0], F_SETFD, FD_CLOEXEC) ||
	    fcntl(fds[1], F_SETFD, FD_CLOEXEC))
		err = -errno;
	if (!err)
		err = spawn_minder(f, fds[1]);
	close(fds[1]);
	f->line = fds[0];
	if (err)
		close(fds[0]);
	return err;
}

int folder_make(struct folder *f)
{
	sigset_t set, before;
	int err;

	ending_signals(&set);
	folder_sweep();
	pthread_sigmask(SIG_BLOCK, &set, &before);
	err = make_locked(f);
	if (!err) {
		err = start_minder(f);
		if (err) {
			close(f->lock);
			rmdir(f->path);
		}
	}
	if (err)
		f->path[0] = 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int folder_remove(struct folder *f)
{
	bool empty, gone;

	if (!f->path[0])
		return 0;
	empty = !rmdir(f->path) || errno == ENOENT;
	gone = empty || !remove_in(AT_FDCWD, f->path);
	/* What this program could not remove, the minder may. */
	if (gone)
		os_send_all(f->line, "done\n", 5, NULL, 0, -1);
	close(f->line);
	while (waitpid(f->minder, NULL, 0) < 0 && errno == EINTR)
		;
	close(f->lock);
	f->path[0] = 0;
	return empty ? 0 : -ENOTEMPTY;
}
