// SPDX-License-Identifier: BSD-2-Clause
/*
 * ivshmem.c - the server of one guest, and its peer 0 at once. A message is a number
 * of 8 bytes, some with a descriptor: protocol version 0; the guest's own number; -1
 * with the shared memory; then for each vector of each peer the peer's number with
 * what interrupts it.
 *
 * Source: QEMU docs/specs/ivshmem-spec, "Client-Server protocol".
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "sim/sim.h"
#include "window/window_internal.h"

#define PROTOCOL	0
#define GUEST		1
#define BACKLOG		4
#define NAP_NS		1000000

/* ---- the listener ---- */

/* Does somebody serve this socket? What nobody serves is in the way. */
static int take_place(const struct sockaddr_un *at)
{
	struct stat st;
	int fd, err;

	if (lstat(at->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (const struct sockaddr *)at, sizeof(*at)) ? errno : 0;
	close(fd);
	if (err != ECONNREFUSED)
		return err == ENOENT ? 0 : -EADDRINUSE;
	return unlink(at->sun_path) ? -errno : 0;
}

int ivshmem_listen(const char *path, int *listener)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	err = take_place(&at);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return -errno;
	err = os_set_nonblocking(fd);
	/* Nobody can connect before listen(). */
	if (!err && bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		err = -errno;
	} else if (!err && (chmod(path, 0600) || listen(fd, BACKLOG))) {
		err = -errno;
		unlink(path);
	}
	if (err)
		close(fd);
	else
		*listener = fd;
	return err;
}

/* ---- a guest ---- */

static int random_number(uint32_t *number)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, number, sizeof(*number));

	if (fd >= 0)
		close(fd);
	return n == sizeof(*number) ? 0 : -EIO;
}

static int make_memory(struct guest *g)
{
	void *bar;

	g->memory = os_memory_create("faultline-window", FL_WINDOW_BYTES);
	if (g->memory < 0)
		return g->memory;
	bar = mmap(NULL, FL_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		   g->memory, 0);
	if (bar == MAP_FAILED)
		return -errno;
	g->bar = bar;
	ring_begin(g);
	g->head->magic = FL_WINDOW_MAGIC;
	g->head->version = FL_WINDOW_VERSION;
	g->head->bytes = FL_WINDOW_BYTES;
	g->head->entries = FL_WINDOW_RING;
	return random_number(&g->head->instance);
}

static int make_interrupts(struct guest *g)
{
	unsigned int i;

	g->bell = os_interrupt_create();
	if (g->bell < 0)
		return g->bell;
	for (i = 0; i < FL_WINDOW_VECTORS; i++) {
		g->vector[i] = os_interrupt_create();
		if (g->vector[i] < 0)
			return g->vector[i];
	}
	return 0;
}

static int ivshmem_say(int sock, int64_t number, int fd)
{
	uint8_t bytes[8];
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)number >> 8 * i);
	return os_send_all(sock, bytes, sizeof(bytes), &fd, fd >= 0, 0);
}

/* All of it fits into the socket, so that nobody waits. */
static int ivshmem_introduce(struct guest *g)
{
	int err = ivshmem_say(g->sock, PROTOCOL, -1);
	unsigned int i;

	err = err ? err : ivshmem_say(g->sock, GUEST, -1);
	err = err ? err : ivshmem_say(g->sock, -1, g->memory);
	/* Each peer has as many vectors; all of ours are the one bell. */
	for (i = 0; !err && i < FL_WINDOW_VECTORS; i++)
		err = ivshmem_say(g->sock, FL_WINDOW_PEER, g->bell);
	for (i = 0; !err && i < FL_WINDOW_VECTORS; i++)
		err = ivshmem_say(g->sock, GUEST, g->vector[i]);
	return err;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void ivshmem_close(struct guest *g)
{
	unsigned int i;

	close_one(&g->sock);
	close_one(&g->memory);
	close_one(&g->bell);
	for (i = 0; i < FL_WINDOW_VECTORS; i++)
		close_one(&g->vector[i]);
	if (g->bar)
		munmap(g->bar, FL_WINDOW_BYTES);
	g->bar = NULL;
}

void ivshmem_accept(struct window *w)
{
	int sock = accept(w->listener, NULL, NULL), err;
	struct guest *g = &w->guest;

	if (sock < 0) {
		/* No descriptor is left: not again and again at full speed. */
		sim_sleep(NAP_NS);
		return;
	}
	if (g->sock >= 0) {
		close(sock);	/* there is one card, and somebody has it */
		return;
	}
	g->sock = sock;
	g->bank = -1;
	atomic_store(&g->cut, false);
	err = os_set_nonblocking(sock);
	err = err ? err : make_memory(g);
	err = err ? err : make_interrupts(g);
	if (!err) {
		/* QEMU starts the guest when it has all of it. */
		line_connect(w);
		err = ivshmem_introduce(g);
		if (err)
			line_disconnect(w);
	}
	if (!err)
		return;
	/* Unless it has gone by itself. */
	if (err != -EPIPE && err != -ECONNRESET)
		fprintf(stderr, "faultline: board %s: a guest cannot be served: %s\n",
			board_name(w->cfg.board), strerror(-err));
	ivshmem_close(g);
}

bool ivshmem_read(struct window *w)
{
	uint8_t bytes[64];
	ssize_t n = os_receive(w->guest.sock, bytes, sizeof(bytes), NULL, NULL);

	if (n > 0)
		window_count(&w->count.bad);	/* a client has nothing to say */
	return n > 0 || n == -EAGAIN;
}
