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

static struct {
	int sock, ask, notes;
	struct attach_note note;	/* the next one */
	unsigned int note_bytes;
	int note_fd;			/* that came with it; -1 */
	struct {
		int fd;			/* -1: none */
		uint32_t id;
	} passed[SERVE_FILES];		/* they wait for MAP_FILE */
	int file[KEEPER_FILES];
	uint8_t page[HOST_PAGE];
} keep;

/* No room: there are bells enough that were not heard yet. */
static void pass_on(char what)
{
	if (os_send(keep.notes, &what, 1, NULL, 0) < 0 && what != 'b')
		_exit(1);
}

static void keep_passed(int fd)
{
	unsigned int i;

	for (i = 0; i < SERVE_FILES; i++)
		if (keep.passed[i].fd < 0) {
			keep.passed[i].fd = fd;
			keep.passed[i].id = keep.note.id;
			return;
		}
	os_drop(fd);		/* its MAP_FILE will find nothing */
}

static void take_note(void)
{
	int fd = keep.note_fd;

	keep.note_fd = -1;
	keep.note_bytes = 0;
	if (keep.note.kind == ATTACH_FILE && fd >= 0) {
		keep_passed(fd);
		return;
	}
	/* First, since the other may take long. */
	pass_on(keep.note.kind == ATTACH_BELL ? 'b' : 'x');
	if (fd >= 0)
		os_drop(fd);
}

/* All that has come; the end of the socket is ours. */
static void keep_hear(void)
{
	int fds[2], nfds, i;
	ssize_t r;

	for (;;) {
		nfds = 2;
		r = os_receive(keep.sock, (uint8_t *)&keep.note +
			       keep.note_bytes, sizeof(keep.note) -
			       keep.note_bytes, fds, &nfds);
		if (r == -EAGAIN)
			return;
		if (r <= 0)
			_exit(0);
		for (i = 0; i < nfds; i++)
			if (keep.note_fd < 0)
				keep.note_fd = fds[i];
			else
				os_drop(fds[i]);
		keep.note_bytes += (unsigned int)r;
		if (keep.note_bytes == sizeof(keep.note))
			take_note();
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

static int keep_open(const struct keep_question *q, uint64_t *bytes)
{
	unsigned int i;
	int err;

	/* It was sent before it was asked for. */
	keep_hear();
	for (i = 0; i < SERVE_FILES; i++)
		if (keep.passed[i].fd >= 0 && keep.passed[i].id == q->id)
			break;
	if (i == SERVE_FILES || q->file >= KEEPER_FILES)
		return -EBADF;
	err = keep_check(keep.passed[i].fd, bytes);
	if (err)
		os_drop(keep.passed[i].fd);
	else
		keep.file[q->file] = keep.passed[i].fd;
	keep.passed[i].fd = -1;
	return err;
}

static int keep_read(const struct keep_question *q)
{
	int fd = q->file < KEEPER_FILES ? keep.file[q->file] : -1;
	size_t done = 0;
	ssize_t n = 1;

	while (n > 0 && done < HOST_PAGE) {
		n = pread(fd, keep.page + done, HOST_PAGE - done,
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
	memset(keep.page + done, 0, HOST_PAGE - done);
	return 0;
}

static void keep_send(const void *what, size_t bytes)
{
	struct pollfd p = { .fd = keep.ask, .events = POLLOUT };
	size_t done = 0;
	ssize_t n;

	while (done < bytes) {
		n = os_send(keep.ask, (const uint8_t *)what + done,
			    bytes - done, NULL, 0);
		if (n > 0)
			done += (size_t)n;
		else if (n != -EAGAIN)
			_exit(0);
		else
			poll(&p, 1, -1);
	}
}

static void keep_answer(void)
{
	struct keep_answer a = { 0 };
	struct keep_question q;
	unsigned int i;
	ssize_t n;

	n = os_receive(keep.ask, &q, sizeof(q), NULL, NULL);
	if (n == -EAGAIN)
		return;
	if (n != sizeof(q))
		_exit(0);
	for (i = 0; i < KEEPER_FILES; i++)
		if (q.put >> i & 1 && keep.file[i] >= 0) {
			os_drop(keep.file[i]);
			keep.file[i] = -1;
		}
	a.file = q.file;
	a.result = q.kind == KEEP_OPEN ? keep_open(&q, &a.bytes) :
					 keep_read(&q);
	keep_send(&a, sizeof(a));
	if (q.kind == KEEP_READ && !a.result)
		keep_send(keep.page, HOST_PAGE);
}

static _Noreturn void keeper_main(const struct keep_order *o, const int *fds)
{
	struct pollfd p[3];
	unsigned int i;

	keep.sock = fds[0];
	keep.ask = fds[1];
	keep.notes = fds[2];
	keep.note = o->begun;
	keep.note_bytes = o->begun_bytes;
	keep.note_fd = -1;
	for (i = 0; i < SERVE_FILES; i++)
		keep.passed[i].fd = -1;
	for (i = 0; i < KEEPER_FILES; i++)
		keep.file[i] = -1;
	p[0] = (struct pollfd){ .fd = keep.ask, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = keep.sock, .events = POLLIN };
	p[2] = (struct pollfd){ .fd = keep.notes };
	for (;;) {
		if (poll(p, 3, -1) < 0)
			continue;
		if (p[2].revents)
			_exit(0);	/* the boards have ended, or we are to */
		if (p[0].revents)
			keep_answer();
		if (p[1].revents)
			keep_hear();
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

static void bury_dead(void)
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
static unsigned int lost(uint64_t since_ns)
{
	uint64_t now_ns = os_now_ns();
	unsigned int n = 0, i;

	for (i = 0; i < KEEPERS; i++)
		n += all.keeper[i].pid && all.keeper[i].killed_ns &&
		     now_ns - all.keeper[i].killed_ns >= since_ns;
	return n;
}

/* The boards hear a word, or the end of the sockets, when it cannot be. */
static void start_one(const struct keep_order *o, const int *fds)
{
	unsigned int i;
	pid_t pid;

	for (i = 0; i < KEEPERS && all.keeper[i].pid; i++)
		;
	if (i == KEEPERS ||
	    lost(KEEPERS_END_MS * 1000000ull) >= KEEPERS_LOST) {
		os_send(fds[2], "l", 1, NULL, 0);
		return;
	}
	pid = fork();
	if (!pid) {
		close(all.line);
		keeper_main(o, fds);
	}
	if (pid < 0) {
		os_send(fds[2], "l", 1, NULL, 0);
		return;
	}
	all.keeper[i].pid = pid;
	all.keeper[i].number = o->number;
	all.keeper[i].killed_ns = 0;
	all.n++;
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
 * A process that ends waits for no socket: so its last user is to be one that ends.
 * It does so when we have closed ours, which the pipe tells.
 */
static void discard(int sock)
{
	int line[2];
	pid_t pid;
	char byte;

	/* Without them it stays open here, and is no harm. */
	if (pipe(line))
		return;
	pid = fork();
	if (!pid) {
		close(line[1]);
		while (read(line[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	if (pid > 0)
		close(sock);
	close(line[0]);
	close(line[1]);
}

static void obey(void)
{
	int fds[3], nfds = 3, i;
	struct keep_order o;
	ssize_t r;

	r = os_receive(all.line, &o, sizeof(o), fds, &nfds);
	if (r == -EAGAIN)
		return;
	if (r != sizeof(o)) {
		/* The boards end. */
		kill_some(0);
		for (i = 0; all.n && i < (int)KEEPERS_END_MS; i++) {
			poll(NULL, 0, 1);
			bury_dead();
		}
		_exit(0);
	}
	if (o.kind == KEEP_KILL)
		kill_some(o.number);
	else if (o.kind == KEEP_DISCARD && nfds == 1)
		discard(fds[0]);
	else if (o.kind == KEEP_START && nfds == 3)
		start_one(&o, fds);
	if (o.kind == KEEP_START)
		for (i = 0; i < nfds; i++)
			close(fds[i]);
}

void keepers_main(int line)
{
	struct pollfd p = { .fd = line, .events = POLLIN };

	all.line = line;
	for (;;) {
		/* A keeper that was killed has ended soon after, so look more often. */
		if (poll(&p, 1, lost(0) ? 10 : 1000) > 0)
			obey();
		bury_dead();
	}
}
