// SPDX-License-Identifier: BSD-2-Clause
#include "rig/serve_stuck.h"

struct stuck *stuck;

/* ---- sockets that take an hour to close ---- */

/* A TCP socket that has more to send than its reader will ever take. */
static int stuck_tcp(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct linger linger = { .l_onoff = 1, .l_linger = 3600 };
	int listener = socket(AF_INET, SOCK_STREAM, 0), sock;
	static char junk[65536];
	socklen_t n = sizeof(at);

	if (listener < 0 || bind(listener, (struct sockaddr *)&at, n) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&at, &n))
		return -1;
	sock = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(sock, (struct sockaddr *)&at, n))
		return -1;
	/* The reader stays open, and reads nothing. */
	if (accept(listener, NULL, NULL) < 0)
		return -1;
	close(listener);
	while (send(sock, junk, sizeof(junk), MSG_DONTWAIT) > 0)
		;
	return setsockopt(sock, SOL_SOCKET, SO_LINGER, &linger,
			  sizeof(linger)) ? -1 : sock;
}

int stuck_nested(unsigned int depth)
{
	int inner = stuck_tcp(), pair[2];

	for (; inner >= 0 && depth; depth--) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
		    os_send(pair[0], "", 1, &inner, 1) != 1)
			return -1;
		close(pair[0]);
		close(inner);
		inner = pair[1];
	}
	return inner;
}

static void *stuck_closes(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

void stuck_close(int fd)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, stuck_closes, (void *)(intptr_t)fd))
		pthread_detach(thread);
}

/* ---- the hostile process and those beside it ---- */

void stuck_is_ready(void)
{
	if (write(stuck->ready[1], "", 1) != 1)
		_exit(9);
	for (;;)
		pause();
}

int stuck_hear(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&p, 1, STUCK_LIMIT_MS) == 1 && read(fd, &byte, 1) == 1 ?
		       0 : -1;
}

/* What one has started that is killed: the server first, since others wait for it. */
static void stuck_kill(void)
{
	if (stuck->fuse.server > 0)
		kill(stuck->fuse.server, SIGKILL);
	stuck->fuse.server = 0;
	if (stuck->pid > 0) {
		kill(stuck->pid, SIGKILL);
		rig_wait(stuck->pid);
	}
	stuck->pid = 0;
}

void stuck_clean(void *arg)
{
	(void)arg;
	stuck_kill();
	rmdir(stuck->fuse.dir);
}

void stuck_create(void)
{
	const char *tmp = getenv("TMPDIR");

	stuck = mmap(NULL, RIG_PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT((void *)stuck != MAP_FAILED);
	EXPECT_EQ(pipe(stuck->ready), 0);
	EXPECT_EQ(pipe(stuck->arrived), 0);
	stuck->fuse.arrived = stuck->arrived[1];
	snprintf(stuck->fuse.dir, sizeof(stuck->fuse.dir),
		 "%.70s/faultline-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	EXPECT(mkdtemp(stuck->fuse.dir) != NULL);
}

bool stuck_pair_goes_on(struct rig_pair *p, uint32_t rounds)
{
	uint32_t until = *p->rounds + rounds;
	int ms;

	for (ms = 0; ms < STUCK_LIMIT_MS && *p->rounds < until; ms += 10)
		usleep(10000);
	return *p->rounds >= until;
}

unsigned int stuck_entries(const char *what)
{
	char path[64];
	unsigned int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)rig_boards.child.pid, what);
	d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

unsigned int stuck_children(pid_t pid, pid_t *child, unsigned int n)
{
	unsigned int first = n, i;
	char path[80];
	struct dirent *e;
	FILE *f;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children",
			 (int)pid, e->d_name);
		f = fopen(path, "r");
		while (f && n < STUCK_FAMILY && fscanf(f, "%d", &child[n]) == 1)
			n++;
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	for (i = n; first < i; first++)
		n = stuck_children(child[first], child, n);
	return n;
}

static bool stuck_gone(pid_t pid)
{
	int ms;

	for (ms = 0; ms < STUCK_LIMIT_MS && !kill(pid, 0); ms += 10)
		usleep(10000);
	return ms < STUCK_LIMIT_MS;
}

void stuck_end(void)
{
	pid_t child[STUCK_FAMILY];
	unsigned int n, i;

	n = stuck_children(rig_boards.child.pid, child, 0);
	rig_end();
	STEP("no socket and no lock is left");
	EXPECT_EQ(rmdir(rig_boards.folder.path), 0);
	rig_boards.folder.path[0] = 0;
	rig_boards.boards = 0;
	stuck_kill();
	EXPECT_GE(n, 1);
	STEP("nor any of the %u processes that they had started", n);
	for (i = 0; i < n; i++)
		EXPECT(stuck_gone(child[i]));
}

struct stuck_start {
	struct rig_pair *pair;
	int (*fn)(void *arg);
};

/* The pair ends when nobody has the other ends of its pipes any more. */
static int stuck_hostile(void *arg)
{
	struct stuck_start *s = arg;

	close(s->pair->stop[0]);
	close(s->pair->stop[1]);
	return s->fn(NULL);
}

void stuck_fork(struct rig_pair *p, int (*fn)(void *arg))
{
	struct stuck_start s = { p, fn };

	stuck->pid = rig_fork(stuck_hostile, &s);
	EXPECT_EQ(stuck_hear(stuck->ready[0]), 0);
}

void stuck_begin(struct rig_pair *p, int (*fn)(void *arg),
		 const char *const *options)
{
	stuck_create();
	rig_start(options);
	/* Before the boards are killed: their end may wait for what it kills. */
	test_cleanup(stuck_clean, NULL);
	rig_pair_start(p);
	EXPECT(stuck_pair_goes_on(p, 1));
	stuck_fork(p, fn);
}

void stuck_beside(struct rig_pair *p)
{
	struct raw r;

	STEP("the pair goes on");
	EXPECT(stuck_pair_goes_on(p, 20));
	STEP("the listener is open");
	EXPECT_EQ(raw_attach(&r, 0), 0);
	raw_detach(&r);
}

void stuck_test(int (*fn)(void *arg), const char *const *options)
{
	struct rig_pair p;

	stuck_begin(&p, fn, options);
	stuck_beside(&p);
	rig_pair_end(&p, 20);
	stuck_end();
}
