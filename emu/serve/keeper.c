// SPDX-License-Identifier: BSD-2-Clause
/* keeper.c - the boards' side of keepers: starting them, asking them, ending them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/os/os.h"
#include "os/os_emu.h"
#include "serve/keeper.h"

#define LOOK_MS 20		/* between two looks whether it is over */

/* Two ends that do not block and are closed by exec(). */
static int keeper_make_pair(int pair[2])
{
	int err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -errno;
	err = os_set_nonblocking(pair[0]);
	if (!err)
		err = os_set_nonblocking(pair[1]);
	if (err) {
		close(pair[0]);
		close(pair[1]);
	}
	return err;
}

/* Nothing of the boards' but the line: streams too would outlive them. */
static _Noreturn void be_keepers(int line)
{
	int null, i;

	null = open("/dev/null", O_RDWR);
	line = fcntl(line, F_DUPFD, 3);
	for (i = 0; i < 3; i++)
		dup2(null, i);
	if (line < 0 || dup2(line, 3) < 0)
		_exit(1);
	os_close_from(4);
	keepers_main(3);
}

int keepers_begin(struct keepers *ks)
{
	int pair[2], err = keeper_make_pair(pair);

	if (err)
		return err;
	ks->pid = fork();
	if (!ks->pid)
		be_keepers(pair[1]);
	err = ks->pid < 0 ? -errno : 0;
	close(pair[1]);
	ks->line = pair[0];
	if (err)
		close(ks->line);
	return err;
}

void keepers_end(struct keepers *ks)
{
	/* Whoever was forked from this process may have a copy. */
	shutdown(ks->line, SHUT_RDWR);
	close(ks->line);
	while (waitpid(ks->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int keeper_command(struct keepers *ks, const struct keep_order *o,
			  const int *fds, int nfds)
{
	struct pollfd p = { .fd = ks->line, .events = POLLOUT };
	int err;

	/* It waits for nobody, so there is room soon. */
	while ((err = os_send_all(ks->line, o, sizeof(*o), fds, nfds, -1)) ==
	       -EAGAIN)
		poll(&p, 1, LOOK_MS);
	return err;
}

void keepers_discard(struct keepers *ks, int sock)
{
	struct keep_order o = { .kind = KEEP_DISCARD,
				.number = atomic_fetch_add(&ks->number, 1) + 1 };

	/* It may live on there; who is at the other end hears of the end now. */
	shutdown(sock, SHUT_RDWR);
	/* The system takes no more from us: then it stays open, and is no harm. */
	if (keeper_command(ks, &o, &sock, 1))
		return;
	/* A process there holds it open until it is killed, after our close(). */
	close(sock);
	o.kind = KEEP_KILL;
	keeper_command(ks, &o, NULL, 0);
}

int keeper_start(struct keeper *k, struct keepers *ks, int sock,
		 const struct attach_note *begun, unsigned int begun_bytes)
{
	struct keep_order o = { .kind = KEEP_START, .begun = *begun,
				.begun_bytes = begun_bytes };
	int ask[2], notes[2], fds[3], err;

	err = keeper_make_pair(ask);
	if (err)
		return err;
	err = keeper_make_pair(notes);
	if (err) {
		close(ask[0]);
		close(ask[1]);
		return err;
	}
	o.number = atomic_fetch_add(&ks->number, 1) + 1;
	fds[0] = sock;
	fds[1] = ask[1];
	fds[2] = notes[1];
	err = keeper_command(ks, &o, fds, 3);
	close(ask[1]);
	close(notes[1]);
	if (err) {
		close(ask[0]);
		close(notes[0]);
		return err;
	}
	sim_mutex_init(&k->lock);
	k->all = ks;
	k->ask = ask[0];
	k->notes = notes[0];
	k->number = o.number;
	return 0;
}

const char *keeper_hear(struct keeper *k, bool *cut)
{
	char what[64];
	ssize_t n, i;

	*cut = true;
	while ((n = os_receive(k->notes, what, sizeof(what), NULL, NULL)) > 0)
		for (i = 0; i < n; i++)
			if (what[i] == 'l')
				return "there is no process to be had that "
				       "could read its files, or too many "
				       "are stuck in others'";
			else if (what[i] != 'b')
				return "it wrote what cannot be";
	*cut = false;
	return n == -EAGAIN ? NULL : "it has gone";
}

/* ---- questions ---- */

static int keeper_receive_all(struct keeper *k, void *to, size_t bytes,
			      uint64_t start_ns)
{
	struct pollfd p = { .fd = k->ask, .events = POLLIN };
	size_t got = 0;
	ssize_t n;

	while (got < bytes) {
		n = os_receive(k->ask, (uint8_t *)to + got, bytes - got, NULL,
			       NULL);
		if (n > 0) {
			got += (size_t)n;
			continue;
		}
		if (n != -EAGAIN || k->over(k->arg, os_now_ns() - start_ns))
			return -EIO;
		poll(&p, 1, LOOK_MS);
	}
	return 0;
}

/* The lock is held. */
static int keeper_ask(struct keeper *k, struct keep_question *q,
		      struct keep_answer *a, void *page)
{
	uint64_t start_ns = os_now_ns();
	int err;

	if (k->broken)
		return -EIO;
	q->put = atomic_exchange(&k->put, 0);
	k->used &= ~q->put;
	err = os_send_all(k->ask, q, sizeof(*q), NULL, 0, -1) ? -EIO : 0;
	if (!err)
		err = keeper_receive_all(k, a, sizeof(*a), start_ns);
	if (!err && page && !a->result)
		err = keeper_receive_all(k, page, HOST_PAGE, start_ns);
	k->broken = err;
	return err ? err : a->result;
}

int keeper_open(struct keeper *k, uint32_t id, uint64_t *bytes)
{
	struct keep_question q = { .kind = KEEP_OPEN, .id = id };
	struct keep_answer a;
	uint32_t in_use;
	int r = -EMFILE;

	sim_mutex_lock(&k->lock);
	/* Those that are to be closed are so before it is opened. */
	in_use = k->used & ~atomic_load(&k->put);
	while (q.file < KEEPER_FILES && in_use >> q.file & 1)
		q.file++;
	if (q.file < KEEPER_FILES)
		r = keeper_ask(k, &q, &a, NULL);
	if (!r) {
		k->used |= 1u << q.file;
		*bytes = a.bytes;
	}
	sim_mutex_unlock(&k->lock);
	return r ? r : (int)q.file;
}

int keeper_read(struct keeper *k, unsigned int file, uint64_t offset,
		void *page)
{
	struct keep_question q = { .kind = KEEP_READ, .file = file,
				   .offset = offset };
	struct keep_answer a;
	int r;

	sim_mutex_lock(&k->lock);
	r = keeper_ask(k, &q, &a, page);
	sim_mutex_unlock(&k->lock);
	return r;
}

void keeper_put(struct keeper *k, unsigned int file)
{
	atomic_fetch_or(&k->put, 1u << file);
}

void keeper_kill(struct keeper *k)
{
	const struct keep_order o = { .kind = KEEP_KILL, .number = k->number };

	if (!k->number)
		return;
	keeper_command(k->all, &o, NULL, 0);
	/* It may live on; whoever reads hears the end now. */
	shutdown(k->ask, SHUT_RDWR);
}

void keeper_end(struct keeper *k)
{
	if (!k->number)
		return;
	close(k->ask);
	close(k->notes);
	k->number = 0;
}
