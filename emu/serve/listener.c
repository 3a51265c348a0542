// SPDX-License-Identifier: BSD-2-Clause
/*
 * listener.c - connecting: a pending connection says HELLO within SERVE_HELLO_MS, is judged, and
 * gets WELCOME with the shared area and its bank, or a refusal with the reason.
 * Nothing here waits for anybody.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/serve_internal.h"

#define OLD_NS	100000000ull	/* so old, a pending connection makes room for another */

static void pending_end(struct serve *s, struct pending *n)
{
	serve_hang_up(s, n->sock);
	n->sock = -1;
}

/* It may have gone already, or not read: it is its own loss. */
static void listener_refuse(struct serve *s, struct pending *n, int error,
			    const char *fmt, ...)
{
	struct attach_welcome w = { .magic = ATTACH_MAGIC,
				    .version = ATTACH_VERSION, .error = error };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w.text, sizeof(w.text), fmt, ap);
	va_end(ap);
	os_send_all(n->sock, &w, sizeof(w), NULL, 0, 0);
	serve_count(&s->count.refused);
	pending_end(s, n);
}

/* A free place, or that of the oldest who has been silent for long. */
static struct pending *listener_find_place(struct serve *s, uint64_t now_ns)
{
	struct pending *n, *oldest = NULL;
	unsigned int i;

	for (i = 0; i < SERVE_WAITING; i++) {
		n = &s->pending[i];
		if (n->sock < 0)
			return n;
		if (!oldest || n->since_ns < oldest->since_ns)
			oldest = n;
	}
	if (now_ns - oldest->since_ns < OLD_NS)
		return NULL;
	serve_count(&s->count.refused);
	pending_end(s, oldest);
	return oldest;
}

/*
 * Nobody can be taken in now. Those who wait in the backlog keep the listeners readable,
 * so the I/O thread does not look at them for a while: it would find nothing else.
 */
static void listeners_rest(struct serve *s, uint64_t now_ns)
{
	s->listeners_rest_until_ns = now_ns + OLD_NS;
}

/*
 * The next one of the backlog. This process is at its limit of descriptors: then the
 * spare one is given up for it, *full is set, and it can at least hear why.
 */
static int take_next(struct serve *s, struct listener *d, bool *full)
{
	int sock = accept(d->sock, NULL, NULL);

	*full = sock < 0 && errno == EMFILE && s->spare >= 0;
	if (!*full)
		return sock;
	close(s->spare);
	s->spare = -1;
	return accept(d->sock, NULL, NULL);
}

static bool may_be_transient(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ||
	       error == ENOBUFS;
}

void listener_accept(struct serve *s, struct listener *d)
{
	uint64_t now_ns = os_now_ns();
	struct pending *n = listener_find_place(s, now_ns);
	bool full;
	uid_t uid;
	int sock;

	if (!n) {
		listeners_rest(s, now_ns);
		return;		/* they wait in the backlog */
	}
	sock = take_next(s, d, &full);
	if (sock < 0) {
		if (may_be_transient(errno))
			listeners_rest(s, now_ns);
		return;
	}
	*n = (struct pending){ .sock = sock, .listener = d, .since_ns = now_ns };
	if (os_set_nonblocking(sock)) {
		pending_end(s, n);
		return;
	}
	if (full) {
		listener_refuse(s, n, -EMFILE,
				"board %s has no descriptor left for "
				"another process: end some, or start the boards with a "
				"larger limit (ulimit -n)",
				board_name(host_board(d->kernel)));
		s->spare = open("/dev/null", O_RDWR | O_CLOEXEC);
		return;
	}
	/* A system that cannot say who it is has the folder's rights alone. */
	if (!s->cfg.others && !os_peer(sock, &uid) && uid != geteuid())
		listener_refuse(s, n, -EACCES,
				"board %s admits only processes of user %u",
				board_name(host_board(d->kernel)),
				(unsigned int)geteuid());
}

/* NULL: it may come in; or why not, and *error. */
static const char *listener_check(const struct pending *n, int *error)
{
	const struct attach_hello *h = &n->hello;

	*error = -EPROTO;
	if (h->magic != ATTACH_MAGIC)
		return "this is not a library of Faultline";
	*error = -EPROTONOSUPPORT;
	if (h->version != ATTACH_VERSION)
		return "library and board are of different versions: build "
		       "both from the same sources";
	*error = -ENOTSUP;
	if (!h->page_bytes || h->page_bytes & (h->page_bytes - 1) ||
	    h->page_bytes > HOST_PAGE)
		return "the process has larger pages than this board: build "
		       "the board with make PAGE=65536 (or of that size)";
	*error = -EINVAL;
	if (h->reserved || !h->arena || h->arena % (2u << 20) ||
	    h->arena >= 1ull << 47 ||
	    h->arena + ATTACH_ARENA_BYTES > 1ull << 47)
		return "the process has no place for memory of the board";
	if (memchr(h->name, 0, sizeof(h->name)) == NULL)
		return "the process's name has no end";
	*error = -EAGAIN;
	if (n->listener->clients >= SERVE_CLIENTS)
		return "the board has as many processes as it can";
	*error = 0;
	return NULL;
}

static void listener_welcome(struct serve *s, struct pending *n,
			     struct client *c)
{
	struct attach_welcome w = {
		.magic = ATTACH_MAGIC,
		.version = ATTACH_VERSION,
		.page_bytes = HOST_PAGE,
		.instance = s->instance,
		.shared_bytes = sizeof(struct attach_shared),
	};
	struct host_bank bank;
	int fds[2];
	bool sent;

	host_process_bank(c->process, &bank);
	w.bank_bytes = bank.bytes;
	w.frames = bank.frames * HOST_FRAMES;
	w.queue_offset = bank.queue_offset;
	fds[0] = c->shared_fd;
	fds[1] = bank.fd;
	/* Before it can know that it is in. */
	os_take_fds(n->sock, true);
	/* The buffer of a socket that has carried nothing yet has room. */
	sent = !os_send_all(n->sock, &w, sizeof(w), fds, 2, 0);
	n->sock = -1;		/* the client's from now on */
	client_begin(c);
	if (sent)
		serve_count(&s->count.attached);
	else
		client_end(c, "it has gone before it was in");
}

static void listener_admit(struct serve *s, struct pending *n)
{
	const char *why;
	struct client *c;
	int error;

	why = listener_check(n, &error);
	if (why) {
		listener_refuse(s, n, error, "%s", why);
		return;
	}
	c = client_create(s, n->listener, n->sock, &n->hello, &error);
	if (!c) {
		listener_refuse(s, n, error,
				"board %s cannot take another process: %s",
				board_name(host_board(n->listener->kernel)),
				strerror(-error));
		return;
	}
	n->listener->clients++;
	listener_welcome(s, n, c);
}

void listener_pending(struct serve *s, struct pending *n, bool readable)
{
	ssize_t r = -EAGAIN;

	if (readable)
		r = os_receive_bytes(n->sock, (uint8_t *)&n->hello + n->got,
				     sizeof(n->hello) - n->got);
	if (r == -EBADMSG) {
		listener_refuse(s, n, -EPROTO,
				"descriptors come with HELLO, which has "
				"none");
		return;
	}
	if (!r || (r < 0 && r != -EAGAIN)) {
		pending_end(s, n);
		return;
	}
	if (r > 0)
		n->got += (unsigned int)r;
	if (n->got == sizeof(n->hello))
		listener_admit(s, n);
	else if (os_now_ns() - n->since_ns > SERVE_HELLO_MS * 1000000ull)
		listener_refuse(s, n, -ETIMEDOUT, "HELLO did not come in %u ms",
				SERVE_HELLO_MS);
}
