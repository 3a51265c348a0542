// SPDX-License-Identifier: BSD-2-Clause
/* serve.c - life: doors are opened, everything is closed again. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/serve_internal.h"

#define BACKLOG 16

void serve_wake(struct serve *s)
{
	/* Full: it will wake anyway. */
	if (write(s->wake[1], "", 1) < 0)
		assert(errno == EAGAIN || errno == EINTR);
}

static int set_flags(int fd)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -errno;
	return 0;
}

/* A number that no earlier board had. */
static int make_instance(uint64_t *instance)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, instance, sizeof(*instance));

	if (fd >= 0)
		close(fd);
	return n == sizeof(*instance) ? 0 : -EIO;
}

static void init(struct serve *s)
{
	unsigned int i;

	s->wake[0] = s->wake[1] = -1;
	if (!s->cfg.patience_ms)
		s->cfg.patience_ms = 5000;
	for (i = 0; i < DOORS; i++)
		s->door[i].sock = s->door[i].lock_fd = -1;
	for (i = 0; i < SERVE_WAITING; i++)
		s->newcomer[i].sock = -1;
}

struct serve *serve_create(const struct serve_config *cfg, int *error)
{
	struct serve *s = calloc(1, sizeof(*s));

	*error = -ENOMEM;
	if (!s)
		return NULL;
	s->cfg = *cfg;
	init(s);
	*error = sim_mode(cfg->sim) == SIM_THREADS ? 0 : -ENOTSUP;
	if (!*error)
		*error = make_instance(&s->instance);
	if (!*error && pipe(s->wake))
		*error = -errno;
	if (!*error)
		*error = set_flags(s->wake[0]);
	if (!*error)
		*error = set_flags(s->wake[1]);
	if (!*error)
		*error = guard_begin();
	if (!*error) {
		s->port = sim_thread_start(cfg->sim, "port", true, port_main,
					   s);
		if (s->port)
			return s;
		guard_end();
		*error = -EAGAIN;
	}
	if (s->wake[0] >= 0) {
		close(s->wake[0]);
		close(s->wake[1]);
	}
	free(s);
	return NULL;
}

/* ---- doors ---- */

/* The folder, if it is not there: for its owner alone. */
static int make_folder(const char *path)
{
	char folder[sizeof(((struct door *)0)->path)];
	char *slash;

	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return 0;
	*slash = 0;
	return mkdir(folder, 0700) && errno != EEXIST ? -errno : 0;
}

/*
 * Who holds the lock is the board of this name; it goes with the process that
 * holds it, however that ends.
 */
static int take_lock(struct door *d)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[sizeof(d->path) + 8];
	struct stat st;

	snprintf(path, sizeof(path), "%s.lock", d->path);
	/* A board that ends takes its file away; who locked that one begins anew. */
	do {
		if (d->lock_fd >= 0)
			close(d->lock_fd);
		d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC |
				  O_NOFOLLOW, 0600);
		if (d->lock_fd < 0)
			return -errno;
		if (fcntl(d->lock_fd, F_SETLK, &whole))
			return errno == EACCES || errno == EAGAIN ?
			       -EADDRINUSE : -errno;
		if (fstat(d->lock_fd, &st))
			return -errno;
	} while (!st.st_nlink);
	return 0;
}

static int listen_at(struct door *d, bool others)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	int err;

	strcpy(at.sun_path, d->path);
	/* What a board has left that was killed; never anything else. */
	if (!lstat(d->path, &st)) {
		if (!S_ISSOCK(st.st_mode))
			return -EEXIST;
		if (unlink(d->path))
			return -errno;
	}
	d->sock = socket(AF_UNIX, SOCK_STREAM, 0);
	if (d->sock < 0)
		return -errno;
	err = set_flags(d->sock);
	if (err)
		return err;
	if (bind(d->sock, (struct sockaddr *)&at, sizeof(at)))
		return -errno;
	/* Nobody can connect before listen(). */
	if (chmod(d->path, others ? 0666 : 0600) || listen(d->sock, BACKLOG)) {
		err = -errno;
		unlink(d->path);
		return err;
	}
	return 0;
}

static void door_close(struct door *d, bool unlink_both)
{
	char path[sizeof(d->path) + 8];

	if (d->sock >= 0)
		close(d->sock);
	if (unlink_both) {
		snprintf(path, sizeof(path), "%s.lock", d->path);
		unlink(d->path);
		unlink(path);
	}
	if (d->lock_fd >= 0)
		close(d->lock_fd);	/* the lock goes last */
	d->sock = d->lock_fd = -1;
}

static bool is_open(struct serve *s, const char *path)
{
	unsigned int i;

	/* fcntl locks do not keep a process from itself. */
	for (i = 0; i < DOORS; i++)
		if (s->door[i].sock >= 0 && !strcmp(s->door[i].path, path))
			return true;
	return false;
}

int serve_open(struct serve *s, struct host_kernel *k, const char *path)
{
	struct door d = { .sock = -1, .lock_fd = -1, .kernel = k };
	unsigned int i;
	int err;

	if (strlen(path) >= sizeof(d.path) ||
	    strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return -ENAMETOOLONG;
	if (is_open(s, path))
		return -EADDRINUSE;
	strcpy(d.path, path);
	err = make_folder(path);
	if (!err)
		err = take_lock(&d);
	if (!err)
		err = listen_at(&d, s->cfg.others);
	if (err) {
		door_close(&d, false);
		return err;
	}
	sim_spin_lock(&s->lock);
	for (i = 0; i < DOORS && s->door[i].sock >= 0; i++)
		;
	if (i < DOORS)
		s->door[i] = d;
	sim_spin_unlock(&s->lock);
	if (i == DOORS) {
		door_close(&d, true);
		return -ENOSPC;
	}
	serve_wake(s);
	return 0;
}

void serve_close(struct serve *s)
{
	unsigned int i;

	atomic_store(&s->stop, true);
	serve_wake(s);
	sim_thread_join(s->port);
	for (i = 0; i < DOORS; i++)
		if (s->door[i].sock >= 0)
			door_close(&s->door[i], true);
	close(s->wake[0]);
	close(s->wake[1]);
}

void serve_destroy(struct serve *s)
{
	guard_end();
	free(s);
}

void serve_stats(struct serve *s, struct serve_stats *st)
{
	*st = (struct serve_stats){
		.attached = atomic_load(&s->count.attached),
		.refused = atomic_load(&s->count.refused),
		.posts = atomic_load(&s->count.posts),
		.calls = atomic_load(&s->count.calls),
		.faults = atomic_load(&s->count.faults),
		.cut_off = atomic_load(&s->count.cut_off),
		.sleeps = atomic_load(&s->count.sleeps),
	};
}
