// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/*
 * Processes and boards that are killed at any moment: the others hear of it,
 * everything comes back, and the boards run on.
 *
 * variants: tsan posix
 */
#include <dirent.h>

#include "rig/serve.h"

#define BYTES (128u << 10)

/* ---- what the boards' process holds ---- */

struct holdings {
	unsigned int files, threads, memories;
};

static unsigned int death_entries(const char *what)
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

static unsigned int death_memories(void)
{
	char path[64], line[512];
	unsigned int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)rig_boards.child.pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, "memfd:") || strstr(line, "/dev/shm/");
	if (f)
		fclose(f);
	return n;
}

static struct holdings death_holds(void)
{
	return (struct holdings){ death_entries("fd"), death_entries("task"),
		death_memories() };
}

/*
 * What it holds at rest, when it holds no more memories and files than it had at its
 * start: who was killed is gone only then, however long that takes. Threads that
 * begin look into files of the system.
 */
static struct holdings holds_at_rest(const struct holdings *start)
{
	struct holdings now = death_holds(), before;
	int same = 0, tries;

	for (tries = 0; tries < 3000 && same < 10; tries++) {
		before = now;
		usleep(10000);
		now = death_holds();
		same = now.memories > start->memories ||
		       now.files > start->files ||
		       memcmp(&now, &before, sizeof(now)) ? 0 : same + 1;
	}
	EXPECT_EQ(same, 10);
	return now;
}

/* Back to what it held before, when it has had the time to clean up. */
static void expect_back(const struct holdings *before)
{
	struct holdings now = death_holds();
	int tries;

	for (tries = 0; tries < 3000 && memcmp(&now, before, sizeof(now));
	     tries++) {
		usleep(10000);
		now = death_holds();
	}
	EXPECT_EQ(now.files, before->files);
	EXPECT_EQ(now.memories, before->memories);
	EXPECT_EQ(now.threads, before->threads);
}

/* ---- two processes that write to each other until one is killed ---- */

struct couple {
	unsigned int number;
	int sock[2];
};

/* One on each board; writes and reads, with pages coming and going. */
static int death_partner(struct couple *c, unsigned int side)
{
	uint32_t state = c->number * 2 + side + 1, n;
	struct rig_address peer;
	struct fl_work w = { 0 };
	struct rig_app a;
	int r = 0;

	close(c->sock[!side]);
	/* The other may be gone before we are there. */
	if (rig_app_open(&a, side, BYTES))
		return 3;
	r = rig_app_connect(&a, c->sock[side], &peer);
	if (r)
		return r == -EPIPE ? 0 : 4;
	w.lkey = fl_mr_key(a.mr);
	w.rkey = peer.rkey;
	while (!r) {
		n = 1 + rig_random(&state) % BYTES;
		w.bytes = n;
		w.local = a.mem + rig_random(&state) % (BYTES - n + 1);
		w.remote = peer.va + rig_random(&state) % (BYTES - n + 1);
		w.opcode = rig_random(&state) % 3 ? FL_WRITE : FL_READ;
		r = rig_app_do(&a, &w);
		if (!r && rig_random(&state) % 4 == 0)
			r = fl_advise(a.dev, a.mem, BYTES, FL_PAGEOUT);
	}
	/* A status of the card, and not an error of a call. */
	if (r < 0)
		fprintf(stderr, "the survivor's call failed: %d\n", r);
	return r > 0 && !fl_close(a.dev) ? 0 : 5;
}

static pid_t start_partner(struct couple *c, unsigned int side)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		signal(SIGPIPE, SIG_IGN);
		alarm(RIG_LIMIT_S);
		_exit(death_partner(c, side));
	}
	return pid;
}

#define COUPLES 4u

static void kill_some(unsigned int rounds, bool both)
{
	struct couple c[COUPLES];
	pid_t pid[COUPLES][2];
	uint32_t state = (uint32_t)test_seed();
	unsigned int i, k, victim[COUPLES];
	int r;

	for (i = 0; i < rounds; i++) {
		for (k = 0; k < COUPLES; k++) {
			c[k].number = i * COUPLES + k;
			EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0,
					     c[k].sock), 0);
			pid[k][0] = start_partner(&c[k], 0);
			pid[k][1] = start_partner(&c[k], 1);
			close(c[k].sock[0]);
			close(c[k].sock[1]);
			victim[k] = rig_random(&state) % 2;
		}
		for (k = 0; k < COUPLES; k++) {
			usleep(rig_random(&state) % 12000);
			kill(pid[k][victim[k]], SIGKILL);
			if (both)
				kill(pid[k][!victim[k]], SIGKILL);
		}
		for (k = 0; k < COUPLES; k++) {
			EXPECT_EQ(rig_wait(pid[k][victim[k]]), -SIGKILL);
			/* The process that is killed second may have heard of the first. */
			r = rig_wait(pid[k][!victim[k]]);
			if (!both || r != -SIGKILL)
				EXPECT_EQ(r, 0);
		}
		EXPECT(rig_boards_live());
	}
}

/* Rounds of so many couples: eighty deaths; thread sanitizer is slow. */
#define ROUNDS test_rounds(RIG_TSAN ? 5 : 80 / COUPLES)

TEST("one of two is killed, eighty times: the other gets errors")
{
	struct holdings start, before;
	struct rig_pair p;

	rig_start(NULL);
	start = death_holds();
	/* Once round, so that threads which stay are there. */
	kill_some(1, false);
	before = holds_at_rest(&start);
	rig_pair_start(&p);
	kill_some(ROUNDS, false);
	rig_pair_end(&p, 3);
	expect_back(&before);
	rig_end();
}

TEST("both of two are killed, eighty times")
{
	struct holdings start, before;

	rig_start(NULL);
	start = death_holds();
	kill_some(1, true);
	before = holds_at_rest(&start);
	kill_some(ROUNDS, true);
	expect_back(&before);
	rig_end();
}

TEST("killed while memory is short")
{
	static const char *const options[] = { "--frames", "128",
					       "--process-frames", "64", NULL };

	rig_start(options);
	kill_some(RIG_TSAN ? 3 : 15, false);
	rig_end();
}

/* ---- the boards are killed ---- */

struct told {
	int tell, hear;
};

/* Works until the board is gone, says how it heard of it, and tries again. */
static int meets_the_end(void *arg)
{
	struct told *t = arg;
	struct fl_completion c;
	struct fl_device *again;
	struct rig_address me;
	struct rig_app a;
	struct fl_work w;
	char byte = 0;
	int n, r;

	RIG_TRY(rig_app_open(&a, 0, BYTES));
	RIG_TRY(rig_app_address(&a, &me));
	RIG_TRY(fl_connect(a.qp, &me.qp));	/* with itself */
	w = (struct fl_work){ .opcode = FL_WRITE, .local = a.mem,
			      .lkey = me.rkey, .remote = me.va + BYTES / 2,
			      .rkey = me.rkey, .bytes = 1000 };
	if (write(t->tell, &byte, 1) != 1)
		return 1;
	do {
		r = rig_app_do(&a, &w);
	} while (!r);
	if (r != -ENODEV)
		return 10;
	/* Whatever is asked now has the same answer, and does not hang. */
	if (fl_post(a.qp, &w) != -ENODEV || fl_poll(a.cq, &c, 1) != -ENODEV ||
	    fl_wait(a.cq, &c, 1, 0) != -ENODEV)
		return 11;
	if (fl_alloc(a.dev, 4096) || errno != ENODEV)
		return 12;
	/* The board is there again: for new ones, not for us. */
	if (read(t->hear, &byte, 1) != 1)
		return 2;
	n = fl_poll(a.cq, &c, 1);
	if (n != -ENODEV || fl_advise(a.dev, a.mem, 4096, FL_WILLNEED) !=
			    -ENODEV)
		return 13;
	if (!strstr(fl_strerror(-ENODEV), "gone"))
		return 14;
	if (fl_open(rig_boards.device[0], &again) || fl_close(again))
		return 15;
	fl_close(a.dev);	/* whatever it says, it returns */
	return 0;
}

static void end_boards_under(int sig)
{
	int up[2], down[2], i;
	pid_t pid[3];
	struct told t;
	char byte;

	rig_start(NULL);
	EXPECT_EQ(pipe(up), 0);
	EXPECT_EQ(pipe(down), 0);
	t = (struct told){ up[1], down[0] };
	for (i = 0; i < 3; i++)
		pid[i] = rig_fork(meets_the_end, &t);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(rig_read(up[0], &byte, 1), 0);
	usleep(20000);
	STEP("end the boards with signal %d", sig);
	kill(rig_boards.child.pid, sig);
	EXPECT_EQ(board_process_end(&rig_boards, NULL, 0),
		  sig == SIGKILL ? -SIGKILL : 0);
	STEP("start them again, at the same place");
	EXPECT_EQ(board_process_start(&rig_boards, NULL), 0);
	EXPECT_EQ(write(down[1], "...", 3), 3);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(rig_wait(pid[i]), 0);
	for (i = 0; i < 2; i++) {
		close(up[i]);
		close(down[i]);
	}
	rig_end();
}

TEST("the boards are killed and started again; who was attached stays out")
{
	end_boards_under(SIGKILL);
}

TEST("the boards end in order under processes that use them")
{
	end_boards_under(SIGTERM);
}

static int touches_what_is_gone(void *arg)
{
	struct told *t = arg;
	struct rig_app a;
	char byte = 0;

	RIG_TRY(rig_app_open(&a, 0, BYTES));
	memset(a.mem, 1, BYTES);
	RIG_TRY(fl_advise(a.dev, a.mem, BYTES, FL_PAGEOUT));
	if (write(t->tell, &byte, 1) != 1 || read(t->hear, &byte, 1) != 1)
		return 1;
	return a.mem[5];	/* cannot come any more */
}

TEST("a page that went with the board is a crash that says so")
{
	int up[2], down[2], err[2];
	struct told t;
	char said[400] = "";
	ssize_t n;
	pid_t pid;

	rig_start(NULL);
	EXPECT_EQ(pipe(up), 0);
	EXPECT_EQ(pipe(down), 0);
	EXPECT_EQ(pipe(err), 0);
	t = (struct told){ up[1], down[0] };
	fflush(NULL);
	pid = fork();
	if (!pid) {
		alarm(RIG_LIMIT_S);
		signal(SIGSEGV, SIG_DFL);
		dup2(err[1], STDERR_FILENO);
		_exit(touches_what_is_gone(&t));
	}
	EXPECT_EQ(rig_read(up[0], said, 1), 0);
	kill(rig_boards.child.pid, SIGKILL);
	EXPECT_EQ(board_process_end(&rig_boards, NULL, 0), -SIGKILL);
	EXPECT_EQ(write(down[1], ".", 1), 1);
	EXPECT_EQ(rig_wait(pid), -SIGSEGV);
	n = read(err[0], said, sizeof(said) - 1);
	EXPECT(n > 0);
	STEP("it said: %s", said);
	EXPECT(strstr(said, "gone") != NULL);
}

TEST("a second board of the same name is refused, the first runs on")
{
	struct board_process second;

	rig_start(NULL);
	second = rig_boards;
	second.child = (struct child){ .line = -1 };
	STEP("what it says goes to standard error");
	EXPECT_NE(board_process_start(&second, NULL), 0);
	EXPECT(rig_boards_live());
	rig_end();
}
