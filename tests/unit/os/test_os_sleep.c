// SPDX-License-Identifier: BSD-2-Clause
/* The system layer: sleeping, waking, yields, sockets. variants: tsan posix */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "os/os_internal.h"
#include "rig/os.h"

/* ---- words ---- */

TEST("who waits for a word that has another value already does not sleep")
{
	_Atomic uint32_t word = 5;

	os_word_wait(&word, 4, 0);
	os_word_wake(&word);
}

TEST("who waits for a word in vain goes on when the time is over")
{
	_Atomic uint32_t word = 5;
	uint64_t end_ns = os_now_ns() + 2000000;

	/* It may return early, but not for ever. */
	while (os_now_ns() < end_ns)
		os_word_wait(&word, 5, 1000000);
	EXPECT_EQ(atomic_load(&word), 5);
}

struct table {
	_Atomic uint32_t ball, rounds;
};

/* Wait until the ball is mine, give it back; both sleep without limit. */
static void sleep_play(struct table *t, uint32_t mine, uint32_t rounds)
{
	while (rounds--) {
		while (atomic_load(&t->ball) != mine)
			os_word_wait(&t->ball, !mine, 0);
		atomic_fetch_add(&t->rounds, 1);
		atomic_store(&t->ball, !mine);
		os_word_wake(&t->ball);
	}
}

static void *play_one(void *table)
{
	sleep_play(table, 1, 50);
	return NULL;
}

TEST("threads wake each other by a word")
{
	struct table t = { 0 };
	pthread_t other;

	EXPECT_EQ(pthread_create(&other, NULL, play_one, &t), 0);
	sleep_play(&t, 0, 50);
	pthread_join(other, NULL);
	EXPECT_EQ(atomic_load(&t.rounds), 100);
}

static struct {
	int fd;
} shared;

static void play_child(void)
{
	/* Elsewhere in its address space than the parent has it. */
	void *at = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED,
			shared.fd, 0);

	CHILD_WANT(at != MAP_FAILED);
	sleep_play(at, 1, 50);
}

TEST("processes wake each other by a word in an object that they share")
{
	struct table *t;
	int status;
	pid_t pid;

	shared.fd = os_memory_create("test", 1 << 16);
	EXPECT(shared.fd >= 0);
	t = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, shared.fd,
		 0);
	EXPECT(t != MAP_FAILED);
	pid = fork();
	if (!pid) {
		alarm(CHILD_S);
		play_child();
		_exit(0);
	}
	sleep_play(t, 0, 50);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EXIT(status, 0);
	EXPECT_EQ(atomic_load(&t->rounds), 100);
	munmap(t, 1 << 16);
	close(shared.fd);
}

/* ---- wakeups ---- */

static struct os_wakeup wakeup;

static void wakeup_end(void *b)
{
	os_wakeup_destroy(b);
}

static void wakeup_begin(void)
{
	EXPECT_EQ(os_wakeup_init(&wakeup), 0);
	test_cleanup(wakeup_end, &wakeup);
}

TEST("as often as a wakeup was posted, so often it can be taken")
{
	int i;

	wakeup_begin();
	EXPECT(!os_wakeup_take(&wakeup, 1));
	for (i = 0; i < 1000; i++)
		os_wakeup_post(&wakeup);
	for (i = 0; i < 999; i++)
		EXPECT(os_wakeup_take(&wakeup, 0));
	EXPECT(os_wakeup_take(&wakeup, 1));
	EXPECT(!os_wakeup_take(&wakeup, 1000000));
	EXPECT(!os_wakeup_take(&wakeup, 1));
	os_wakeup_post(&wakeup);
	EXPECT(os_wakeup_take(&wakeup, UINT64_MAX / 2));
}

static void *post_on(void *arg)
{
	int i;

	for (i = 0; i < 500; i++) {
		os_wakeup_post(&wakeup);
		if (i % 16 == 0)
			os_yield();
	}
	return arg;
}

TEST("no post of several threads is lost")
{
	pthread_t t[4];
	int i, got = 0;

	wakeup_begin();
	for (i = 0; i < 4; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, post_on, NULL), 0);
	/* Some with a limit, that may pass; some without. */
	while (got < 2000)
		got += os_wakeup_take(&wakeup, got % 2 ? 1000 : 0);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	EXPECT(!os_wakeup_take(&wakeup, 1));
}

static void *post_and_leave(void *b)
{
	os_wakeup_post(b);
	return NULL;
}

TEST("who takes a post may destroy the wakeup at once")
{
	struct os_wakeup *b;
	pthread_t t;
	int i;

	for (i = 0; i < 200; i++) {
		b = malloc(sizeof(*b));
		EXPECT_EQ(os_wakeup_init(b), 0);
		EXPECT_EQ(pthread_create(&t, NULL, post_and_leave, b), 0);
		while (!os_wakeup_take(b, i % 2 ? 1000 : 0))
			;
		os_wakeup_destroy(b);
		memset(b, 0xff, sizeof(*b));
		free(b);
		pthread_join(t, NULL);
	}
}

static void post_bell(int sig)
{
	(void)sig;
	os_wakeup_post(&wakeup);
}

static void *send_signals(void *thread)
{
	pthread_t to = *(pthread_t *)thread;
	int i;

	for (i = 0; i < 20; i++) {
		pthread_kill(to, SIGUSR1);
		os_yield();
	}
	return NULL;
}

TEST("a signal handler may post the wakeup for which its own thread sleeps")
{
	struct sigaction sa = { .sa_handler = post_bell }, old;
	pthread_t self = pthread_self(), t;

	wakeup_begin();
	EXPECT_EQ(sigaction(SIGUSR1, &sa, &old), 0);
	raise(SIGUSR1);
	EXPECT(os_wakeup_take(&wakeup, 0));
	STEP("signals of another thread come while it sleeps, at least one");
	EXPECT_EQ(pthread_create(&t, NULL, send_signals, &self), 0);
	EXPECT(os_wakeup_take(&wakeup, 0));
	pthread_join(t, NULL);
	while (os_wakeup_take(&wakeup, 1))
		;
	sigaction(SIGUSR1, &old, NULL);
}

/* ---- yields ---- */

/* Measured on two virtual machines: getppid(), and sched_yield() with nobody and with one else. */
TEST("a yield that another used is known on machines with slow calls and with fast ones")
{
	static const struct {
		const char *machine;
		uint64_t call_ns, alone_ns, shared_ns;
	} m[] = {
		{ "one whose calls are quick", 134, 420, 2700 },
		{ "one whose page tables its host emulates", 1000, 1290, 8900 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(m) / sizeof(m[0]); i++) {
		STEP("%s", m[i].machine);
		EXPECT(!os_yield_was_shared(m[i].call_ns, m[i].alone_ns));
		EXPECT(os_yield_was_shared(m[i].call_ns, m[i].shared_ns));
		/* A millisecond: the CPU went to a program that was computing. */
		EXPECT(!os_yield_was_shared(m[i].call_ns, 1000000));
	}
}

static void *yield_on(void *arg)
{
	while (!atomic_load((atomic_bool *)arg))
		os_yield();
	return NULL;
}

/* One of 100,000 is enough, whatever else runs here. */
static bool some_yield(bool shared)
{
	unsigned int i;

	for (i = 0; i < 100000; i++)
		if (os_yield_shared() == shared)
			return true;
	return false;
}

TEST("a yield says whether somebody else ran")
{
	static atomic_bool stop;
	pthread_t t[64];
	int i, n = os_cpus() + 1;

	EXPECT(some_yield(false));
	n = n < 64 ? n : 64;
	atomic_store(&stop, false);
	STEP("%d threads that yield", n);
	for (i = 0; i < n; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, yield_on, &stop), 0);
	EXPECT(some_yield(true) || n == 64);
	atomic_store(&stop, true);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

/* ---- sockets ---- */

static int sock[2];

static void socks_end(void *arg)
{
	(void)arg;
	close(sock[0]);
	close(sock[1]);
}

static void socks_begin(void)
{
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	test_cleanup(socks_end, NULL);
}

static int next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_ino == y.st_ino &&
	       x.st_dev == y.st_dev;
}

TEST("a socket that is not to block does not, and is closed by exec")
{
	int pair[2], fd;
	char byte;

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	EXPECT_EQ(os_set_nonblocking(pair[0]), 0);
	EXPECT_EQ(os_receive(pair[0], &byte, 1, NULL, NULL), -EAGAIN);
	EXPECT(fcntl(pair[0], F_GETFD) & FD_CLOEXEC);
	EXPECT(!(fcntl(pair[1], F_GETFL) & O_NONBLOCK));
	fd = pair[0];
	close(pair[0]);
	close(pair[1]);
	STEP("a descriptor that is closed");
	EXPECT_EQ(os_set_nonblocking(fd), -EBADF);
}

TEST("a socket tells whose process is at its other end")
{
	uid_t uid = (uid_t)-1;
	int err;

	socks_begin();
	err = os_peer(sock[0], &uid);
	if (on_linux())
		EXPECT_EQ(err, 0);
	if (err)
		EXPECT_EQ(err, -ENOTSUP);
	else
		EXPECT_EQ(uid, geteuid());
	if (on_linux()) {
		EXPECT_EQ(os_peer(0x7fffffff, &uid), -EBADF);
		err = os_file_unnamed(NULL);
		EXPECT_EQ(os_peer(err, &uid), -ENOTSOCK);
		close(err);
	}
}

TEST("bytes go over a socket without and with one or two descriptors")
{
	int in[2] = { -1, -1 }, out[2], n, room, i;
	char buf[8];

	socks_begin();
	out[0] = os_memory_create("a", 4096);
	out[1] = os_file_unnamed(NULL);
	EXPECT(out[0] >= 0 && out[1] >= 0);
	for (n = 0; n <= 2; n++) {
		EXPECT_EQ(os_send(sock[0], "hello", 5, out, n), 5);
		room = 2;
		EXPECT_EQ(os_receive(sock[1], buf, sizeof(buf), in, &room), 5);
		EXPECT_MEM(buf, "hello", 5);
		EXPECT_EQ(room, n);
		for (i = 0; i < n; i++) {
			EXPECT(in[i] != out[i] && same_file(in[i], out[i]));
			EXPECT(fcntl(in[i], F_GETFD) & FD_CLOEXEC);
			close(in[i]);
		}
	}
	close(out[0]);
	close(out[1]);
}

#define WHOLE	1000000

static void *send_whole(void *arg)
{
	static uint8_t bytes[WHOLE];
	size_t i;

	for (i = 0; i < WHOLE; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	EXPECT_EQ(os_send_all(sock[0], bytes, WHOLE, arg, 1, -1), 0);
	return NULL;
}

TEST("what a socket takes and gives in parts goes over it whole, its descriptor once")
{
	static uint8_t bytes[WHOLE];
	int in = -1, room = 1, out, err;
	pthread_t sender;
	size_t i;

	socks_begin();
	fcntl(sock[0], F_SETFL, O_NONBLOCK);
	fcntl(sock[1], F_SETFL, O_NONBLOCK);
	out = os_file_unnamed(NULL);
	pthread_create(&sender, NULL, send_whole, &out);
	while ((err = os_receive_all(sock[1], bytes, WHOLE, &in, &room, -1)) ==
	       -EAGAIN)
		room = 1;
	EXPECT_EQ(err, 0);
	pthread_join(sender, NULL);
	EXPECT(room == 1 && same_file(in, out));
	for (i = 0; i < WHOLE; i++)
		if (bytes[i] != (uint8_t)(i * 7 + i / 251))
			break;
	EXPECT_EQ(i, WHOLE);
	close(in);
	close(out);
}

TEST("a message of which only a part comes or goes ends when its time is over")
{
	static uint8_t bytes[WHOLE];
	int room = 0;

	socks_begin();
	fcntl(sock[0], F_SETFL, O_NONBLOCK);
	fcntl(sock[1], F_SETFL, O_NONBLOCK);
	EXPECT_EQ(os_receive_all(sock[1], bytes, 8, NULL, NULL, 0), -EAGAIN);
	EXPECT_EQ(os_send(sock[0], "half", 4, NULL, 0), 4);
	EXPECT_EQ(os_receive_all(sock[1], bytes, 8, NULL, &room, 1), -ETIMEDOUT);
	/* Nobody reads: a part, and then not one byte. */
	EXPECT_EQ(os_send_all(sock[0], bytes, WHOLE, NULL, 0, 1), -ETIMEDOUT);
	EXPECT_EQ(os_send_all(sock[0], bytes, WHOLE, NULL, 0, 1), -EAGAIN);
	shutdown(sock[0], SHUT_WR);
	while (os_receive(sock[1], bytes, WHOLE, NULL, NULL) > 0)
		;
	EXPECT_EQ(os_receive_all(sock[1], bytes, 8, NULL, NULL, 1), -EPIPE);
	EXPECT_EQ(os_send_all(sock[0], bytes, 8, NULL, 0, 1), -EPIPE);
}

TEST("descriptors for which there is no room are closed")
{
	int in[2], out[2] = { 0, 1 }, room, before;
	char byte;

	socks_begin();
	before = next_fd();
	EXPECT_EQ(os_send(sock[0], "a", 1, out, 2), 1);
	EXPECT_EQ(os_send(sock[0], "b", 1, out, 2), 1);
	EXPECT_EQ(os_send(sock[0], "c", 1, out, 2), 1);
	room = 1;
	EXPECT_EQ(os_receive(sock[1], &byte, 1, in, &room), 1);
	EXPECT_EQ(room, 1);
	close(in[0]);
	room = 0;
	EXPECT_EQ(os_receive(sock[1], &byte, 1, NULL, &room), 1);
	EXPECT_EQ(room, 0);
	EXPECT_EQ(os_receive(sock[1], &byte, 1, NULL, NULL), 1);
	EXPECT_EQ(byte, 'c');
	EXPECT_EQ(next_fd(), before);
}

/* As os_send() never does: n descriptors, at most 200. */
static void send_many(int fd, int n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(200 * sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen =
				    CMSG_SPACE((size_t)n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	/* All zero: each of them is standard input. */
	EXPECT_EQ(sendmsg(fd, &m, 0), 1);
}

TEST("a flood of descriptors leaves none behind but those asked for")
{
	int in[2], room = 2, before;
	char byte;

	socks_begin();
	before = next_fd();
	send_many(sock[0], 200);
	EXPECT_EQ(os_receive(sock[1], &byte, 1, in, &room), 1);
	EXPECT_EQ(room, 2);
	EXPECT(same_file(in[0], 0) && same_file(in[1], 0));
	close(in[0]);
	close(in[1]);
	EXPECT_EQ(next_fd(), before);
}

TEST("what cannot be sent or received is refused with the reason")
{
	int fds[OS_SEND_FDS + 1] = { 0 }, room = 2, bad[1] = { 0x7fffffff };
	char byte = 0;

	socks_begin();
	EXPECT_EQ(os_send(sock[0], &byte, 1, fds, OS_SEND_FDS + 1), -EINVAL);
	EXPECT_EQ(os_send(sock[0], &byte, 1, fds, -1), -EINVAL);
	EXPECT_EQ(os_send(sock[0], &byte, 1, bad, 1), -EBADF);
	EXPECT_EQ(os_send(0x7fffffff, &byte, 1, NULL, 0), -EBADF);
	EXPECT_EQ(fcntl(sock[1], F_SETFL, O_NONBLOCK), 0);
	EXPECT_EQ(os_receive(sock[1], &byte, 1, fds, &room), -EAGAIN);
	EXPECT_EQ(room, 0);
	STEP("the other end is closed: 0, and no SIGPIPE");
	close(sock[0]);
	EXPECT_EQ(os_receive(sock[1], &byte, 1, NULL, NULL), 0);
	EXPECT_EQ(os_send(sock[1], &byte, 1, NULL, 0), -EPIPE);
	sock[0] = dup(0);
}

/* ---- interrupts between programs ---- */

TEST("an interrupt wakes who polls, counts once, and is taken once; or there are none")
{
	struct pollfd p = { .fd = os_interrupt_create(), .events = POLLIN };
	int i;

	if (!on_linux()) {
		EXPECT_EQ(p.fd, -ENOSYS);
		EXPECT_EQ(os_interrupt_raise(0), -ENOSYS);
		EXPECT_EQ(os_interrupt_take(0), -ENOSYS);
		return;
	}
	EXPECT(p.fd >= 0);
	EXPECT(fcntl(p.fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(poll(&p, 1, 0), 0);
	EXPECT_EQ(os_interrupt_take(p.fd), -EAGAIN);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(os_interrupt_raise(p.fd), 0);
	EXPECT_EQ(poll(&p, 1, 0), 1);
	EXPECT_EQ(os_interrupt_take(p.fd), 0);
	EXPECT_EQ(os_interrupt_take(p.fd), -EAGAIN);
	EXPECT_EQ(poll(&p, 1, 0), 0);
	close(p.fd);
	EXPECT_EQ(os_interrupt_raise(p.fd), -EBADF);
}

TEST("an interrupt crosses a socket, and who gets it raises it here")
{
	int fd = os_interrupt_create(), end[2], got = -1, n = 1;
	char byte = 'i';

	if (!on_linux())
		return;
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, end), 0);
	EXPECT_EQ(os_send(end[0], &byte, 1, &fd, 1), 1);
	EXPECT_EQ(os_receive(end[1], &byte, 1, &got, &n), 1);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(os_interrupt_raise(got), 0);
	EXPECT_EQ(os_interrupt_take(fd), 0);
	close(got);
	close(fd);
	close(end[0]);
	close(end[1]);
}

/* ---- taking turns on one CPU ---- */

static void *stays_here(void *cpus)
{
	os_stay_here();
	*(unsigned int *)cpus = os_cpus();
	return NULL;
}

TEST("a thread stays on its CPU, and others do not")
{
	unsigned int all = os_cpus(), cpus = 0;
	pthread_t t;

	EXPECT(!pthread_create(&t, NULL, stays_here, &cpus) && !pthread_join(t, NULL));
	EXPECT(cpus == (on_linux() ? 1 : all) && os_cpus() == all);
}
