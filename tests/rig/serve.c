// SPDX-License-Identifier: BSD-2-Clause
#include "rig/serve.h"

/* ---- boards ---- */

struct board_process rig_boards;
char rig_said[4000];

static void rig_end_quietly(void *arg)
{
	(void)arg;
	if (rig_boards.child.pid > 0) {
		kill(rig_boards.child.pid, SIGKILL);
		board_process_end(&rig_boards, NULL, 0);
	}
	board_process_clean(&rig_boards);
}

void rig_start(const char *const *options)
{
	static const char *const names[] = { "a", "b", NULL };

	STEP("start boards a and b");
	EXPECT_EQ(board_process_folder(&rig_boards, names), 0);
	test_cleanup(rig_end_quietly, NULL);
	EXPECT_EQ(board_process_start(&rig_boards, options), 0);
}

bool rig_boards_live(void)
{
	return !kill(rig_boards.child.pid, 0) &&
	       waitpid(rig_boards.child.pid, NULL, WNOHANG) == 0;
}

void rig_end(void)
{
	STEP("end the boards");
	EXPECT(rig_boards_live());
	EXPECT_EQ(board_process_end(&rig_boards, rig_said, sizeof(rig_said)),
		  0);
	EXPECT(strstr(rig_said, "board a: 0 of ") != NULL);
	EXPECT(strstr(rig_said, "board b: 0 of ") != NULL);
}

pid_t rig_fork(int (*fn)(void *arg), void *arg)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		alarm(RIG_LIMIT_S);
		/* A sanitizer's own, which would turn a crash into an exit. */
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		_exit(fn(arg));
	}
	return pid;
}

int rig_wait(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- a process that behaves: device, domain, queues, one region ---- */

int rig_app_open(struct rig_app *a, unsigned int board, size_t bytes)
{
	memset(a, 0, sizeof(*a));
	RIG_TRY(fl_open(rig_boards.device[board], &a->dev));
	RIG_TRY(fl_alloc_pd(a->dev, &a->pd));
	RIG_TRY(fl_create_cq(a->dev, 64, &a->cq));
	RIG_TRY(fl_create_qp(a->pd, a->cq, 64, &a->qp));
	a->bytes = bytes;
	a->mem = fl_alloc(a->dev, bytes);
	if (!a->mem)
		return -errno;
	RIG_TRY(fl_reg_mr(a->pd, a->mem, bytes, FL_LOCAL_WRITE |
			  FL_REMOTE_WRITE | FL_REMOTE_READ, &a->mr));
	return 0;
}

int rig_app_address(struct rig_app *a, struct rig_address *at)
{
	at->va = (uintptr_t)a->mem;
	at->rkey = fl_mr_key(a->mr);
	return fl_qp_address(a->qp, &at->qp);
}

int rig_read(int fd, void *buf, size_t n)
{
	size_t got = 0;
	ssize_t r;

	while (got < n) {
		r = read(fd, (char *)buf + got, n - got);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return -EPIPE;
		got += (size_t)r;
	}
	return 0;
}

int rig_app_connect(struct rig_app *a, int sock, struct rig_address *peer)
{
	struct rig_address me;
	char done = 1;

	RIG_TRY(rig_app_address(a, &me));
	if (send(sock, &me, sizeof(me), MSG_NOSIGNAL) != sizeof(me) ||
	    rig_read(sock, peer, sizeof(*peer)))
		return -EPIPE;
	RIG_TRY(fl_connect(a->qp, &peer->qp));
	if (send(sock, &done, 1, MSG_NOSIGNAL) != 1 || rig_read(sock, &done, 1))
		return -EPIPE;
	return 0;
}

int rig_app_do(struct rig_app *a, const struct fl_work *w)
{
	struct fl_completion c;
	int n;

	RIG_TRY(fl_post(a->qp, w));
	n = fl_wait(a->cq, &c, 1, 60000000000ull);
	return n < 0 ? n : c.status;
}

uint32_t rig_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* ---- the pair ---- */

#define RIG_PAIR_BYTES (256u << 10)
#define RIG_PAIR_HASTE 500	/* rounds; then others may have the CPU */

/* In the half of the passive side's memory that the active side does not use. */
#define RIG_SECRET(i) ((uint8_t)(0xA5 ^ (i) * 11 ^ (i) >> 8))

static bool rig_told_to_stop(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

struct rig_side {
	int sock, stop;
	_Atomic uint32_t *rounds;
	struct rig_address *at;
};

/* Write a pattern, read it back into the other half, compare. */
static int rig_round(struct rig_app *a, const struct rig_address *peer,
		     uint32_t *state)
{
	uint32_t half = RIG_PAIR_BYTES / 2, i;
	uint32_t n = 1 + rig_random(state) % half;
	uint32_t at = rig_random(state) % (half - n + 1);
	struct fl_work w = { .opcode = FL_WRITE, .local = a->mem + at,
			     .lkey = fl_mr_key(a->mr), .remote = peer->va + at,
			     .rkey = peer->rkey, .bytes = n };
	int r;

	for (i = 0; i < n; i++)
		a->mem[at + i] = (uint8_t)(*state + i * 7);
	r = rig_app_do(a, &w);
	if (r)
		return r;
	w.opcode = FL_READ;
	w.local = a->mem + half + at;
	r = rig_app_do(a, &w);
	if (r)
		return r;
	return memcmp(a->mem + at, a->mem + half + at, n) ? -EBADMSG : 0;
}

static int rig_active(void *arg)
{
	struct rig_side *s = arg;
	struct rig_address peer;
	uint32_t state = 1;
	struct rig_app a;
	int r;

	RIG_TRY(rig_app_open(&a, 0, RIG_PAIR_BYTES));
	RIG_TRY(rig_app_address(&a, &s->at[0]));
	RIG_TRY(rig_app_connect(&a, s->sock, &peer));
	while (!rig_told_to_stop(s->stop)) {
		r = rig_round(&a, &peer, &state);
		if (r) {
			fprintf(stderr, "the pair lost something: %d\n", r);
			return 1;
		}
		/* Now and then something is not there. */
		if (++*s->rounds % 8 == 0)
			RIG_TRY(fl_advise(a.dev, a.mem, RIG_PAIR_BYTES,
					  FL_PAGEOUT));
		if (*s->rounds > RIG_PAIR_HASTE)
			usleep(10000);
	}
	return fl_close(a.dev) ? 1 : 0;
}

static int rig_passive(void *arg)
{
	struct rig_side *s = arg;
	struct rig_address peer;
	struct rig_app a;
	uint32_t i;
	char byte;

	RIG_TRY(rig_app_open(&a, 1, RIG_PAIR_BYTES));
	RIG_TRY(rig_app_address(&a, &s->at[1]));
	for (i = RIG_PAIR_BYTES / 2; i < RIG_PAIR_BYTES; i++)
		a.mem[i] = RIG_SECRET(i);
	RIG_TRY(rig_app_connect(&a, s->sock, &peer));
	rig_read(s->stop, &byte, 1);
	for (i = RIG_PAIR_BYTES / 2; i < RIG_PAIR_BYTES; i++)
		if (a.mem[i] != RIG_SECRET(i)) {
			fprintf(stderr, "somebody wrote over the secret, byte "
				"%u\n", i);
			return 2;
		}
	return fl_close(a.dev) ? 1 : 0;
}

void rig_pair_start(struct rig_pair *p)
{
	int sock[2], stop[2], i;
	struct rig_side s;

	STEP("a pair of processes writes, reads back and compares");
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	p->rounds = mmap(NULL, RIG_PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT((void *)p->rounds != MAP_FAILED);
	p->at = (struct rig_address *)(p->rounds + 16);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(pipe(stop), 0);
		fcntl(stop[1], F_SETFD, FD_CLOEXEC);
		s = (struct rig_side){ sock[i], stop[0], p->rounds, p->at };
		fflush(NULL);
		p->pid[i] = fork();
		if (!p->pid[i]) {
			alarm(RIG_LIMIT_S);
			close(stop[1]);
			close(sock[!i]);
			if (i)
				close(p->stop[0]);
			_exit(i ? rig_passive(&s) : rig_active(&s));
		}
		close(stop[0]);
		p->stop[i] = stop[1];
	}
	close(sock[0]);
	close(sock[1]);
}

void rig_pair_end(struct rig_pair *p, uint32_t least)
{
	uint32_t rounds;
	int tries;

	for (tries = 0; tries < 6000 && *p->rounds < least; tries++)
		usleep(10000);
	rounds = *p->rounds;
	STEP("end the pair after %u rounds", rounds);
	close(p->stop[0]);
	EXPECT_EQ(rig_wait(p->pid[0]), 0);
	close(p->stop[1]);
	EXPECT_EQ(rig_wait(p->pid[1]), 0);
	munmap((void *)p->rounds, RIG_PAGE);
	EXPECT_GE(rounds, least);
}

int rig_app_loop(struct rig_app *a, size_t bytes)
{
	struct rig_address me;

	RIG_TRY(rig_app_open(a, 0, bytes));
	RIG_TRY(rig_app_address(a, &me));
	return fl_connect(a->qp, &me.qp);
}
