// SPDX-License-Identifier: BSD-2-Clause
/* serve.c - life: listeners are opened, everything is closed again. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/serve_internal.h"
#include "sim/sim.h"

#define BACKLOG 16

/* A number that no earlier board had. */
static int make_instance(uint64_t *instance)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC), err;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, instance, sizeof(*instance));
	while (n < 0 && errno == EINTR);
	err = n == sizeof(*instance) ? 0 : -EIO;
	close(fd);
	return err;
}

static void serve_init(struct serve *s)
{
	unsigned int i;

	s->wake[0] = s->wake[1] = -1;
	s->spare = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (!s->cfg.patience_ms)
		s->cfg.patience_ms = 5000;
	for (i = 0; i < LISTENERS; i++)
		s->listener[i].sock = s->listener[i].lock_fd = -1;
	for (i = 0; i < SERVE_WAITING; i++)
		s->pending[i].sock = -1;
}

/* Without the second one nothing is ever handed over. */
static int io_start(struct serve *s)
{
	unsigned int i;

	atomic_store(&s->io_now, &s->io[0]);
	for (i = 0; i < 2; i++) {
		s->io[i].serve = s;
		s->io[i].thread = sim_thread_start(s->cfg.sim, "io", true, io_main,
						   &s->io[i]);
	}
	return s->io[0].thread ? 0 : -EAGAIN;
}

static int serve_begin(struct serve *s)
{
	int err = sigbus_begin();

	if (err)
		return err;
	err = keepers_begin(&s->keepers);
	if (!err) {
		if (!io_start(s))
			return 0;
		keepers_end(&s->keepers);
		err = -EAGAIN;
	}
	sigbus_end();
	return err;
}

struct serve *serve_create(const struct serve_config *cfg, int *error)
{
	struct serve *s = calloc(1, sizeof(*s));

	*error = -ENOMEM;
	if (!s)
		return NULL;
	s->cfg = *cfg;
	serve_init(s);
	s->fences = os_fence_all();
	*error = sim_mode(cfg->sim) == SIM_THREADS ? 0 : -ENOTSUP;
	if (!*error)
		*error = make_instance(&s->instance);
	if (!*error && pipe(s->wake))
		*error = -errno;
	if (!*error)
		*error = os_set_nonblocking(s->wake[0]);
	if (!*error)
		*error = os_set_nonblocking(s->wake[1]);
	if (!*error)
		*error = serve_begin(s);
	if (!*error)
		return s;
	if (s->wake[0] >= 0) {
		close(s->wake[0]);
		close(s->wake[1]);
	}
	if (s->spare >= 0)
		close(s->spare);
	free(s);
	return NULL;
}

/* ---- listeners ---- */

/* The folder, if it is not there: for its owner alone. */
static int make_folder(const char *path)
{
	char folder[sizeof(((struct listener *)0)->path)];
	char *slash;

	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return 0;
	*slash = 0;
	return mkdir(folder, 0700) && errno != EEXIST ? -errno : 0;
}

/*
 * The holder of this lock is the board of this name. The lock ends with its process,
 * however that ends.
 */
static int take_lock(struct listener *d)
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

/* Does a board answer there, although its lock was to be had (it was deleted)? */
static bool is_answered(const struct sockaddr_un *at)
{
	int sock = socket(AF_UNIX, SOCK_STREAM, 0);
	bool answered;

	if (sock < 0)
		return true;
	/* EAGAIN: there is one, and many are waiting for it. */
	answered = !os_set_nonblocking(sock) &&
		   (!connect(sock, (const struct sockaddr *)at, sizeof(*at)) ||
		    errno == EAGAIN);
	close(sock);
	return answered;
}

/* Take away what a board has left that was killed; never anything else. */
static int clear_path(const struct sockaddr_un *at)
{
	struct stat st;

	if (lstat(at->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (is_answered(at))
		return -EADDRINUSE;
	return unlink(at->sun_path) ? -errno : 0;
}

static int listen_at(struct listener *d, bool others)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int err;

	strcpy(at.sun_path, d->path);
	err = clear_path(&at);
	if (err)
		return err;
	d->sock = socket(AF_UNIX, SOCK_STREAM, 0);
	if (d->sock < 0)
		return -errno;
	err = os_set_nonblocking(d->sock);
	if (err)
		return err;
	/* Whoever comes has none to give before it is in. */
	os_take_fds(d->sock, false);
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

static void listener_unlink(const char *path)
{
	if (unlink(path) && errno != ENOENT)
		fprintf(stderr, "faultline: %s is left: %s\n", path,
			strerror(errno));
}

/*
 * s NULL: nobody has connected. is_ours: the lock was taken, so what has this name is
 * of nobody else.
 */
static void listener_close(struct serve *s, struct listener *d, bool is_ours)
{
	char path[sizeof(d->path) + 8];

	if (is_ours) {
		snprintf(path, sizeof(path), "%s.lock", d->path);
		if (d->sock >= 0)
			listener_unlink(d->path);
		listener_unlink(path);
	}
	/* What those have sent who wait in the backlog goes with it. */
	if (d->sock >= 0 && s)
		keepers_discard(&s->keepers, d->sock);
	else if (d->sock >= 0)
		close(d->sock);
	if (d->lock_fd >= 0)
		close(d->lock_fd);	/* the lock goes last */
	d->sock = d->lock_fd = -1;
}

static bool serve_is_open(struct serve *s, const char *path)
{
	unsigned int i;

	/* fcntl locks do not keep a process from itself. */
	for (i = 0; i < LISTENERS; i++)
		if (s->listener[i].sock >= 0 &&
		    !strcmp(s->listener[i].path, path))
			return true;
	return false;
}

int serve_open(struct serve *s, struct host_kernel *k, const char *path)
{
	struct listener d = { .sock = -1, .lock_fd = -1, .kernel = k };
	bool locked = false;
	unsigned int i;
	int err;

	if (strlen(path) >= sizeof(d.path) ||
	    strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return -ENAMETOOLONG;
	if (serve_is_open(s, path))
		return -EADDRINUSE;
	strcpy(d.path, path);
	err = make_folder(path);
	if (!err)
		err = take_lock(&d);
	if (!err) {
		locked = true;
		err = listen_at(&d, s->cfg.others);
	}
	if (err) {
		listener_close(NULL, &d, locked);
		return err;
	}
	sim_spin_lock(&s->lock);
	for (i = 0; i < LISTENERS && s->listener[i].sock >= 0; i++)
		;
	if (i < LISTENERS)
		s->listener[i] = d;
	sim_spin_unlock(&s->lock);
	if (i == LISTENERS) {
		listener_close(s, &d, true);
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
	for (i = 0; i < 2; i++) {
		if (!s->io[i].thread)
			continue;
		sim_unpark(s->io[i].thread, 0);
		sim_thread_join(s->io[i].thread);
	}
	for (i = 0; i < LISTENERS; i++)
		if (s->listener[i].sock >= 0)
			listener_close(s, &s->listener[i], true);
	keepers_end(&s->keepers);
	close(s->wake[0]);
	close(s->wake[1]);
	if (s->spare >= 0)
		close(s->spare);
}

void serve_destroy(struct serve *s)
{
	sigbus_end();
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
		.handed_over = atomic_load(&s->count.handed_over),
	};
}
