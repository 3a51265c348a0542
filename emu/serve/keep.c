// SPDX-License-Identifier: BSD-2-Clause
/*
 * keep.c - the processes beside the boards' own: the one that starts keepers and
 * ends them, and a keeper. They were forked from a program with threads, so they
 * make system calls and nothing else.
 *
 * A keeper may be stuck in each system call that touches a descriptor of its
 * attached process. It harms only that one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/os/os.h"
#include "serve/keeper.h"

#define KEEPERS	512u		/* attached processes, and lost ones */

/* ---- a keeper ---- */

static void keep_pass_on(struct keep *k, char what)
{
	ssize_t r = os_send(k->notes, &what, 1, NULL, 0);

	/* No room: there are wakeups enough that were not heard yet. */
	if (r < 0 && !(what == 'b' && r == -EAGAIN))
		k->over = true;
}

static void keep_passed(struct keep *k, int fd)
{
	unsigned int i;

	for (i = 0; i < SERVE_FILES; i++)
		if (k->passed[i].fd < 0) {
			k->passed[i].fd = fd;
			k->passed[i].id = k->note.id;
			return;
		}
	os_drop(fd);		/* its MAP_FILE will find nothing */
}

static void keep_take_note(struct keep *k)
{
	int fd = k->note_fd;

	k->note_fd = -1;
	k->note_bytes = 0;
	if (k->note.kind == ATTACH_FILE && fd >= 0) {
		keep_passed(k, fd);
		return;
	}
	/* First, since the other may take long. */
	keep_pass_on(k, k->note.kind == ATTACH_WAKEUP ? 'b' : 'x');
	if (fd >= 0)
		os_drop(fd);
}

/* All that has come; the end of the socket is ours. */
static void keep_hear(struct keep *k)
{
	int fds[2], nfds, i;
	ssize_t r;

	while (!k->over) {
		nfds = 2;
		r = os_receive(k->sock, (uint8_t *)&k->note + k->note_bytes,
			       sizeof(k->note) - k->note_bytes, fds, &nfds);
		if (r == -EAGAIN)
			return;
		if (r <= 0) {
			k->over = true;
			return;
		}
		for (i = 0; i < nfds; i++)
			if (k->note_fd < 0)
				k->note_fd = fds[i];
			else
				os_drop(fds[i]);
		k->note_bytes += (unsigned int)r;
		if (k->note_bytes == sizeof(k->note))
			keep_take_note(k);
	}
}

/*
 * Only regular files: others block, or answer differently each time. Its length
 * is looked at now; when it shrinks later, what is no longer there cannot be
 * paged in, which is the process's own affair.
 */
static int keep_check(int fd, uint64_t *bytes)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENODEV;		/* as mmap says */
	if ((flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	*bytes = (uint64_t)st.st_size;
	return 0;
}

static int keep_open(struct keep *k, const struct keep_question *q,
		     uint64_t *bytes)
{
	unsigned int i;
	int err;

	/* It was sent before it was asked for. */
	keep_hear(k);
	for (i = 0; i < SERVE_FILES; i++)
		if (k->passed[i].fd >= 0 && k->passed[i].id == q->id)
			break;
	if (i == SERVE_FILES || q->file >= KEEPER_FILES)
		return -EBADF;
	err = keep_check(k->passed[i].fd, bytes);
	if (err)
		os_drop(k->passed[i].fd);
	else
		k->file[q->file] = k->passed[i].fd;
	k->passed[i].fd = -1;
	return err;
}

static int keep_read(struct keep *k, const struct keep_question *q)
{
	int fd = q->file < KEEPER_FILES ? k->file[q->file] : -1;
	size_t done = 0;
	ssize_t n = 1;

	while (n > 0 && done < HOST_PAGE) {
		n = pread(fd, k->page + done, HOST_PAGE - done,
			  (off_t)(q->offset + done));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			done += (size_t)n;
	}
	if (n < 0)
		return -EIO;
	/* Beyond the last page of the file (Linux: SIGBUS). */
	if (!done)
		return -EFAULT;
	memset(k->page + done, 0, HOST_PAGE - done);
	return 0;
}

static void keep_send(struct keep *k, const void *what, size_t bytes)
{
	struct pollfd p = { .fd = k->ask, .events = POLLOUT };
	int err;

	if (k->over)
		return;
	while ((err = os_send_all(k->ask, what, bytes, NULL, 0, -1)) == -EAGAIN)
		poll(&p, 1, -1);
	k->over = err;
}

static void keep_answer(struct keep *k)
{
	struct keep_answer a = { 0 };
	struct keep_question q;
	unsigned int i;
	int err = os_receive_all(k->ask, &q, sizeof(q), NULL, NULL, -1);

	if (err == -EAGAIN)
		return;
	if (err) {
		k->over = true;
		return;
	}
	for (i = 0; i < KEEPER_FILES; i++)
		if (q.put >> i & 1 && k->file[i] >= 0) {
			os_drop(k->file[i]);
			k->file[i] = -1;
		}
	a.file = q.file;
	a.result = q.kind == KEEP_OPEN ? keep_open(k, &q, &a.bytes) :
					 keep_read(k, &q);
	keep_send(k, &a, sizeof(a));
	if (q.kind == KEEP_READ && !a.result)
		keep_send(k, k->page, HOST_PAGE);
}

static void keep_begin(struct keep *k, const struct keep_order *o,
		       const int *fds)
{
	unsigned int i;

	k->sock = fds[0];
	k->ask = fds[1];
	k->notes = fds[2];
	k->note = o->begun;
	k->note_bytes = o->begun_bytes;
	k->note_fd = -1;
	k->over = false;
	for (i = 0; i < SERVE_FILES; i++)
		k->passed[i].fd = -1;
	for (i = 0; i < KEEPER_FILES; i++)
		k->file[i] = -1;
}

void keep_main(struct keep *k, const struct keep_order *o, const int *fds)
{
	struct pollfd p[3];

	keep_begin(k, o, fds);
	p[0] = (struct pollfd){ .fd = k->ask, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = k->sock, .events = POLLIN };
	p[2] = (struct pollfd){ .fd = k->notes };
	while (!k->over) {
		if (poll(p, 3, -1) < 0)
			continue;
		if (p[2].revents)
			return;		/* the boards have ended, or we are to */
		if (p[0].revents)
			keep_answer(k);
		if (p[1].revents)
			keep_hear(k);
	}
}

/* ---- the process that starts them ---- */

static struct {
	int line;
	struct {
		pid_t pid;		/* 0: free */
		uint32_t number;
		uint64_t killed_ns;	/* 0: it was not */
	} keeper[KEEPERS];
	unsigned int n;
} all;

static void reap_dead(void)
{
	unsigned int i;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (i = 0; i < KEEPERS; i++)
			if (all.keeper[i].pid == pid) {
				all.keeper[i].pid = 0;
				all.n--;
			}
}

/* Killed at least so long ago, and still there. */
static unsigned int keep_lost(uint64_t since_ns)
{
	uint64_t now_ns = os_now_ns();
	unsigned int n = 0, i;

	for (i = 0; i < KEEPERS; i++)
		n += all.keeper[i].pid && all.keeper[i].killed_ns &&
		     now_ns - all.keeper[i].killed_ns >= since_ns;
	return n;
}

static struct keep keep;	/* of a keeper */

static _Noreturn void be_keeper(const struct keep_order *o, const int *fds)
{
	close(all.line);
	if (o->kind == KEEP_START)
		keep_main(&keep, o, fds);
	else
		for (;;)
			pause();
	_exit(0);
}

static bool keep_start(const struct keep_order *o, const int *fds)
{
	unsigned int i;
	pid_t pid;

	for (i = 0; i < KEEPERS && all.keeper[i].pid; i++)
		;
	if (i == KEEPERS)
		return false;
	pid = fork();
	if (!pid)
		be_keeper(o, fds);
	if (pid < 0)
		return false;
	all.keeper[i].pid = pid;
	all.keeper[i].number = o->number;
	all.keeper[i].killed_ns = 0;
	all.n++;
	return true;
}

/* The boards hear a word, or the end of the sockets, when it cannot be. */
static void start_keeper(const struct keep_order *o, int *fds)
{
	unsigned int i;

	if (keep_lost(KEEPERS_END_MS * 1000000ull) >= KEEPERS_LOST ||
	    !keep_start(o, fds))
		os_send(fds[2], "l", 1, NULL, 0);
	for (i = 0; i < 3; i++)
		close(fds[i]);
}

static void kill_some(uint32_t number)
{
	unsigned int i;

	for (i = 0; i < KEEPERS; i++)
		if (all.keeper[i].pid &&
		    (!number || all.keeper[i].number == number)) {
			all.keeper[i].killed_ns = os_now_ns();
			kill(all.keeper[i].pid, SIGKILL);
		}
}

/*
 * A process that ends waits for no socket: so the last user of this one is to be one
 * that is killed, when the boards and we have closed ours. Without it we keep it open,
 * which is no harm.
 */
static void keep_discard(const struct keep_order *o, int sock)
{
	if (keep_start(o, NULL))
		close(sock);
}

static void keep_obey(void)
{
	int fds[3], nfds = 3, i, err;
	struct keep_order o;

	err = os_receive_all(all.line, &o, sizeof(o), fds, &nfds, -1);
	if (err == -EAGAIN)
		return;
	if (err) {
		/* The boards end. */
		kill_some(0);
		for (i = 0; all.n && i < (int)KEEPERS_END_MS; i++) {
			poll(NULL, 0, 1);
			reap_dead();
		}
		_exit(0);
	}
	if (o.kind == KEEP_KILL)
		kill_some(o.number);
	else if (o.kind == KEEP_DISCARD && nfds == 1)
		keep_discard(&o, fds[0]);
	else if (o.kind == KEEP_START && nfds == 3)
		start_keeper(&o, fds);
}

void keepers_main(int line)
{
	struct pollfd p = { .fd = line, .events = POLLIN };

	all.line = line;
	for (;;) {
		/* A keeper that was killed has ended soon after, so look more often. */
		if (poll(&p, 1, keep_lost(0) ? 10 : 1000) > 0)
			keep_obey();
		reap_dead();
	}
}
