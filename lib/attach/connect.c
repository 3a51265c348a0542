// SPDX-License-Identifier: BSD-2-Clause
/*
 * connect.c - the socket: finding a board's listener, HELLO and WELCOME, which is
 * believed only when all of it makes sense, and later wakeups and files.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/internal.h"

#define HELLO_MS	10000		/* for the board's answer */
#define REST_MS		1000		/* for the rest of a message */
#define CONNECT_TRIES	500		/* 10 ms each, while its queue is full */

void attach_wake(struct attach *a)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };
	int saved = errno;		/* a handler keeps the program's */
	int cancel, err;

	/* A thread in the middle of a call must not end there. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	/*
	 * No room: then there are wakeups enough on their way. A board that is gone
	 * is found out by the service thread. Any other that is lost must not leave both
	 * sides asleep.
	 */
	err = os_send_all(a->sock, &n, sizeof(n), NULL, 0, REST_MS);
	if (err && err != -EAGAIN && err != -EPIPE && err != -ECONNRESET) {
		os_say("faultline: a message to the boards could not be sent; "
		       "without it they are gone\n");
		attach_dies(a, -ENODEV);
		shutdown(a->sock, SHUT_RDWR);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

int attach_send_file(struct attach *a, int file, uint32_t *id)
{
	struct attach_note n = { .kind = ATTACH_FILE };
	struct pollfd p = { .fd = a->sock, .events = POLLOUT };
	int error;

	n.id = *id = atomic_fetch_add(&a->file_id, 1) + 1;
	for (;;) {
		error = attach_error(a);
		if (error)
			return error;
		error = os_send_all(a->sock, &n, sizeof(n), &file, 1, REST_MS);
		if (error == -EPIPE || error == -ECONNRESET)
			return -ENODEV;
		if (error != -EAGAIN)
			return error;
		poll(&p, 1, 100);
	}
}

/*
 * Never a number of the standard streams: a program that has them closed would
 * print into the board.
 */
static int move_up(int fd)
{
	int up, error;

	if (fd < 0 || fd > 2)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	error = errno;
	close(fd);
	errno = error;
	return up;
}

static int connect_plug(const char *path, int *error)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd, tries;

	fd = move_up(socket(AF_UNIX, SOCK_STREAM, 0));
	*error = fd < 0 ? -errno : os_set_nonblocking(fd);
	if (*error) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	memcpy(to.sun_path, path, strlen(path) + 1);	/* attach_path: it fits */
	for (tries = 0; connect(fd, (struct sockaddr *)&to, sizeof(to));
	     tries++) {
		if (errno == EISCONN)
			break;
		if ((errno != EAGAIN && errno != EINTR && errno != EALREADY &&
		     errno != EINPROGRESS) || tries == CONNECT_TRIES) {
			*error = errno == EAGAIN ? -ETIMEDOUT : -errno;
			close(fd);
			return -1;
		}
		poll(NULL, 0, 10);
	}
	return fd;
}

/* Wait until the socket is ready; 0, -ETIMEDOUT. */
static int connect_wait_ready(int fd, short events, uint64_t end_ns)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t now;

	for (;;) {
		now = os_now_ns();
		if (now >= end_ns)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((end_ns - now) / 1000000u) + 1) > 0)
			return 0;
	}
}

static int say_hello(struct attach *a)
{
	struct attach_hello h = {
		.magic = ATTACH_MAGIC,
		.version = ATTACH_VERSION,
		.page_bytes = (uint32_t)os_page_bytes(),
		.arena = a->arena,
	};
	uint64_t end_ns = os_now_ns() + HELLO_MS * 1000000ull;
	size_t sent = 0;
	ssize_t r;

	snprintf(h.name, sizeof(h.name), "process %ld", (long)getpid());
	while (sent < sizeof(h)) {
		r = os_send(a->sock, (char *)&h + sent, sizeof(h) - sent, NULL,
			    0);
		if (r > 0)
			sent += (size_t)r;
		else if (r == -EPIPE || r == -ECONNRESET)
			return 0;	/* it may have said why: read that */
		else if (r != -EAGAIN)
			return r ? (int)r : -EIO;
		else if (connect_wait_ready(a->sock, POLLOUT, end_ns))
			return -ETIMEDOUT;
	}
	return 0;
}

/* All of WELCOME, and the descriptors that came with it. */
static int welcome_receive(struct attach *a, int fds[2], int *nfds)
{
	uint64_t end_ns = os_now_ns() + HELLO_MS * 1000000ull;
	size_t got = 0;
	ssize_t r;
	int n;

	*nfds = 0;
	while (got < sizeof(a->hello)) {
		if (connect_wait_ready(a->sock, POLLIN, end_ns))
			return -ETIMEDOUT;
		n = 2 - *nfds;
		r = os_receive(a->sock, (char *)&a->hello + got,
			       sizeof(a->hello) - got, fds + *nfds, &n);
		if (r == -EAGAIN)
			continue;
		if (r <= 0)
			return -ECONNRESET;
		*nfds += n;
		got += (size_t)r;
	}
	a->hello.text[sizeof(a->hello.text) - 1] = 0;
	return 0;
}

static int welcome_check(const struct attach_welcome *w, int nfds)
{
	if (w->magic != ATTACH_MAGIC)
		return -EPROTO;
	if (w->version != ATTACH_VERSION)
		return -EPROTONOSUPPORT;
	if (w->error)
		return w->error < 0 && w->error > -4096 ? w->error : -EPROTO;
	if (nfds != 2 || w->page_bytes < ATTACH_PAGE ||
	    w->page_bytes > ATTACH_BATCH * ATTACH_PAGE ||
	    w->page_bytes & (w->page_bytes - 1))
		return -EPROTO;
	if (w->page_bytes < os_page_bytes())
		return -ENOTSUP;
	if (w->shared_bytes < sizeof(struct attach_shared) ||
	    w->shared_bytes > 1u << 30 || !w->frames ||
	    w->frames >= VIEW_FRAME || w->bank_bytes > 1ull << 46 ||
	    w->queue_offset > w->bank_bytes ||
	    w->frames > w->queue_offset / ATTACH_PAGE)
		return -EPROTO;
	return 0;
}

static bool as_large(int fd, uint64_t bytes, struct stat *st)
{
	return !fstat(fd, st) && (uint64_t)st->st_size >= bytes;
}

static int map_all(struct attach *a)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct stat st;
	void *at;

	/* Shorter than it says: touching the end would be SIGBUS. */
	if (!as_large(a->shared_fd, a->hello.shared_bytes, &st) ||
	    !as_large(a->bank_fd, a->hello.bank_bytes, &st))
		return -EPROTO;
	a->bank_device = st.st_dev;
	a->bank_inode = st.st_ino;
	at = mmap(NULL, a->hello.shared_bytes, rw, MAP_SHARED, a->shared_fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	a->shared = at;
	at = mmap(NULL, a->hello.bank_bytes, rw, MAP_SHARED, a->bank_fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	a->bank = at;
	if (a->shared->instance != a->hello.instance)
		return -EPROTO;
	a->fenced = a->shared->fences && os_fenced();
	return atomic_load(&a->shared->alive) ? 0 : -ENODEV;
}

int attach_connect(struct attach *a, const char *path)
{
	int fds[2], nfds = 0, i, error = 0;

	a->sock = connect_plug(path, &error);
	if (a->sock < 0)
		return error;
	error = say_hello(a);
	if (!error)
		error = welcome_receive(a, fds, &nfds);
	if (!error)
		error = welcome_check(&a->hello, nfds);
	for (i = 0; i < nfds && error; i++)
		close(fds[i]);
	if (error)
		return error;
	a->shared_fd = move_up(fds[0]);
	a->bank_fd = move_up(fds[1]);
	if (a->shared_fd < 0 || a->bank_fd < 0)
		return -EMFILE;
	return map_all(a);
}

void attach_listen(struct attach *a)
{
	/* Bells that nobody has read do not hide the end from poll(). */
	struct pollfd p = { .fd = a->sock };

	if (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR))
		attach_dies(a, -ENODEV);
}
