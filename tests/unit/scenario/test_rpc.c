// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes of a scenario that are forked: the commands that they carry out, and their ends.
 * variants: tsan posix
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/os/os_emu.h"
#include "harness.h"
#include "faultline/entries.h"
#include "host/host.h"
#include "lib/os/os.h"
#include "sim/sim.h"
#include "tools/harness/fork_server.h"
#include "tools/scenario/testbed.h"

#define NOWHERE 4096u	/* no program has anything there */

static struct fork_server fork_server;
static pid_t pid;
static int line;

static void end_fork_server(void *arg)
{
	(void)arg;
	fork_server_end(&fork_server);
}

static void one_process(void)
{
	STEP("a fork server, and one process of it");
	EXPECT_EQ(fork_server_start(&fork_server, 1, rpc_serve), 0);
	test_cleanup(end_fork_server, NULL);
	EXPECT_EQ(fork_server_fork(&fork_server, &pid, &line), 0);
	EXPECT(pid > 0 && pid != getpid());
}

static int rpc_give(uint32_t kind, uint64_t addr, const char *text)
{
	struct rpc_command o = { .kind = kind, .addr = addr, .bytes = 1,
			   .text = text };
	struct rpc_answer r = { 0 };
	int err = rpc_call(line, &o, &r, NULL);

	return err ? err : r.error;
}

TEST("a process takes orders until it is told to end")
{
	int status = 99;

	one_process();
	EXPECT_EQ(rpc_give(RPC_OPEN, 0, "emu:/no/such/board.sock"), -ENOENT);
	EXPECT_EQ(rpc_give(RPC_CLOSE, 0, NULL), 0);
	EXPECT_EQ(fork_server_reap(&fork_server, pid, line, 0, &status), 0);
	EXPECT_EQ(status, 0);
}

TEST("a process that crashes is told apart from one that ends")
{
	int status = 99;

	one_process();
	EXPECT_EQ(rpc_give(RPC_TOUCH, NOWHERE, NULL), -ESRCH);
	EXPECT_EQ(fork_server_reap(&fork_server, pid, line, 0, &status), 0);
	EXPECT_EQ(status, -SIGSEGV);
}

TEST("a process is ended by force, and only one of the fork server")
{
	int status = 99;

	one_process();
	EXPECT_EQ(fork_server_reap(&fork_server, getpid(), dup(line), 1,
				   &status),
		  -ECHILD);
	EXPECT_EQ(fork_server_reap(&fork_server, pid, line, 1, &status), 0);
	EXPECT_EQ(status, -SIGKILL);
}

TEST("the end of a fork server is the end of all who are left")
{
	one_process();
	EXPECT_EQ(kill(pid, 0), 0);
	fork_server_end(&fork_server);
	EXPECT(kill(pid, 0) && errno == ESRCH);
	close(line);
}

TEST("a command that makes no sense ends the process that gets it")
{
	uint32_t head[2] = { 77, 8 };
	int status = 99;

	one_process();
	EXPECT_EQ(write(line, head, sizeof(head)), sizeof(head));
	EXPECT_EQ(rpc_give(RPC_COUNTERS, 0, NULL), -ESRCH);
	EXPECT_EQ(fork_server_reap(&fork_server, pid, line, 0, &status), 0);
	EXPECT_EQ(status, 0);
}

TEST("a text that is too long is not sent")
{
	char text[5000];
	int status;

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	one_process();
	EXPECT_EQ(rpc_give(RPC_OPEN, 0, text), -ENAMETOOLONG);
	EXPECT_EQ(rpc_give(RPC_CLOSE, 0, NULL), 0);
	EXPECT_EQ(fork_server_reap(&fork_server, pid, line, 0, &status), 0);
}

static int refuse_bytes(void *arg, const void *from, uint64_t n)
{
	(void)arg;
	(void)from;
	(void)n;
	return -EIO;
}

/* What comes of this head in answer to a command to read 4 bytes. */
static int rpc_answered(uint32_t kind, uint32_t bytes)
{
	const struct rpc_sink sink = { .bytes = refuse_bytes };
	struct rpc_command o = { .kind = RPC_READ, .bytes = 4 };
	uint32_t message[4] = { kind, bytes };
	struct rpc_answer r;
	int fds[2], err;

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	EXPECT_EQ(write(fds[1], message, sizeof(message)), sizeof(message));
	err = rpc_call(fds[0], &o, &r, &sink);
	close(fds[0]);
	close(fds[1]);
	return err;
}

TEST("an answer that makes no sense is refused")
{
	STEP("of no kind");
	EXPECT_EQ(rpc_answered(77, 0), -EPROTO);
	STEP("more bytes than were asked for");
	EXPECT_EQ(rpc_answered(2, 5), -EPROTO);
	STEP("a completion, where none is wanted");
	EXPECT_EQ(rpc_answered(3, 8), -EPROTO);
	STEP("an answer of another length");
	EXPECT_EQ(rpc_answered(4, 8), -EPROTO);
	STEP("bytes that the scenario thread will not have");
	EXPECT_EQ(rpc_answered(2, 4), -EIO);
}

struct ran {
	pid_t pid;
	struct rpc_app *app;
};

static int tell_who(struct rpc_app *a, void *arg)
{
	*(struct ran *)arg = (struct ran){ getpid(), a };
	return -EDOM;
}

static int end_here(struct rpc_app *a, void *arg)
{
	(void)a;
	_exit(*(uint8_t *)arg);
}

static int run_give(rpc_run fn, void *arg)
{
	struct rpc_command o = { .kind = RPC_RUN, .addr = (uintptr_t)fn,
				 .from = (uintptr_t)arg };
	struct rpc_answer r = { 0 };
	int err = rpc_call(line, &o, &r, NULL);

	return err ? err : r.error;
}

TEST("a function of this program runs in the process, and both see what they share")
{
	struct ran *ran = mmap(NULL, os_page_bytes(), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static uint8_t seven = 7;
	int status = 99;

	EXPECT(ran != MAP_FAILED);
	one_process();
	EXPECT_EQ(run_give(tell_who, ran), -EDOM);
	EXPECT_EQ(ran->pid, pid);
	EXPECT(ran->app != NULL);
	STEP("one that ends the process, by a copy of what was here when it was forked");
	fork_server_end(&fork_server);
	close(line);
	one_process();
	EXPECT_EQ(run_give(end_here, &seven), -ESRCH);
	EXPECT_EQ(fork_server_reap(&fork_server, pid, line, 0, &status), 0);
	EXPECT_EQ(status, 7);
	munmap(ran, os_page_bytes());
}

TEST("in a guest there is another program: no function of this one runs there")
{
	struct testbed_board board = { .guest = (struct testbed_guest *)&board };
	struct testbed_process p = { .board = &board };

	EXPECT_EQ(testbed_in(&p, tell_who, NULL), -ENOTSUP);
}

/* ---- what processes in a guest do besides ---- */

TEST("a process is asked for its clock, and what of its memory is there")
{
	size_t page = os_page_bytes();
	struct rpc_command o = { .kind = RPC_CLOCK };
	struct rpc_answer r;
	uint8_t *mem;
	int status;

	one_process();
	EXPECT_EQ(rpc_call(line, &o, &r, NULL), 0);
	EXPECT(r.now_ns > 0 && r.now_ns <= os_now_ns());

	/* It has been forked: what is mapped from here on is not there. */
	fork_server_end(&fork_server);
	close(line);
	mem = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(mem != MAP_FAILED);
	mem[page] = 1;
	mem[2 * page] = 1;
	EXPECT_EQ(mprotect(mem + 3 * page, page, PROT_READ), 0);
	one_process();
	if (strcmp(os_system(), "linux")) {
		EXPECT_EQ(rpc_give(RPC_PRESENT, (uintptr_t)mem, NULL),
			  -ENOTSUP);
		return;
	}
	o = (struct rpc_command){ .kind = RPC_PRESENT, .bytes = 3 * page,
			    .addr = (uintptr_t)mem };
	EXPECT_EQ(rpc_call(line, &o, &r, NULL), 0);
	EXPECT_EQ(r.error, 0);
	EXPECT_EQ(r.bytes, 2);
	o.kind = RPC_RIGHTS;
	o.what = PROT_WRITE;
	EXPECT_EQ(rpc_call(line, &o, &r, NULL), 0);
	EXPECT_EQ(r.error, 0);
	o.bytes = 4 * page;
	EXPECT_EQ(rpc_call(line, &o, &r, NULL), 0);
	EXPECT_EQ(r.error, -EFAULT);
	EXPECT_EQ(r.addr, (uintptr_t)mem + 3 * page);
	EXPECT_EQ(rpc_give(RPC_CLOSE, 0, NULL), 0);
	EXPECT_EQ(fork_server_reap(&fork_server, pid, line, 0, &status), 0);
	munmap(mem, 4 * page);
}

TEST("a line that comes from another machine says how its process ended")
{
	struct rpc_command o = { .kind = RPC_COUNTERS };
	struct rpc_end end;
	struct rpc_answer r;
	int fds[2], status = 0;

	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	rpc_end_make(&end, -SIGSEGV);
	STEP("instead of an answer");
	EXPECT_EQ(write(fds[1], &end, sizeof(end)), sizeof(end));
	EXPECT_EQ(rpc_call(fds[0], &o, &r, NULL), -ECHILD);
	EXPECT_EQ(r.error, -SIGSEGV);
	STEP("when it is waited for");
	EXPECT_EQ(write(fds[1], &end, sizeof(end)), sizeof(end));
	EXPECT_EQ(rpc_end_wait(fds[0], &status), 0);
	EXPECT_EQ(status, -SIGSEGV);
	STEP("something else, where that is due");
	end.kind = 4;
	EXPECT_EQ(write(fds[1], &end, sizeof(end)), sizeof(end));
	EXPECT_EQ(rpc_end_wait(fds[0], &status), -EPROTO);
	STEP("a line that has ended");
	close(fds[1]);
	EXPECT_EQ(rpc_end_wait(fds[0], &status), -ESRCH);
	close(fds[0]);
}

/* ---- in a testbed ---- */

static void in_a_testbed(const struct testbed_config *cfg,
			 void (*script)(struct testbed *w, void *arg))
{
	char error[300];
	struct testbed *w = testbed_create(cfg, error, sizeof(error));

	EXPECT(w != NULL);
	EXPECT_EQ(testbed_run(w, script, NULL), 0);
	EXPECT(testbed_problem(w) == NULL);
	testbed_destroy(w);
}

static void crash_one(struct testbed *w, void *arg)
{
	const struct testbed_board_config cfg = { .frames = 64 };
	struct rpc_command bad = { .kind = RPC_TOUCH, .addr = NOWHERE, .bytes = 1 };
	struct testbed_process *p, *q;
	struct testbed_buffer *b, *c;
	struct testbed_board *board;
	struct rpc_answer r;
	struct host_stats st;
	char byte = 0;

	(void)arg;
	EXPECT_EQ(testbed_board_add(w, "a", &cfg, &board), 0);
	EXPECT_EQ(testbed_process_add(w, "p", board, FL_SYSTEM_PART,
				      FL_RESOLVE_BLOCK, &p), 0);
	EXPECT_EQ(testbed_process_add(w, "q", board, FL_SYSTEM_PART,
				      FL_RESOLVE_BLOCK, &q), 0);
	EXPECT(p->pid > 0 && q->pid > 0 && p->pid != q->pid && !p->host);
	EXPECT_EQ(testbed_buffer_add(p, "b", 5 * HOST_PAGE, NULL, &b), 0);
	EXPECT_EQ(testbed_buffer_add(q, "c", HOST_PAGE, NULL, &c), 0);
	EXPECT_EQ(testbed_buffer_fill(b, TESTBED_RANDOM, 1), 0);
	EXPECT_EQ(testbed_buffer_fill(c, TESTBED_RANDOM, 2), 0);
	host_stats(board->kernel, &st);
	EXPECT_EQ(st.frames_total - st.frames_free, 6);

	EXPECT_EQ(testbed_rpc(p, &bad, &r, NULL), -ESRCH);
	EXPECT(strstr(testbed_why(w), "process p has ended by itself (signal"));
	EXPECT(p->gone);
	EXPECT_EQ(testbed_buffer_read(b, 0, &byte, 1), -ESRCH);
	EXPECT_EQ(testbed_process_end(p), -ESRCH);
	host_stats(board->kernel, &st);
	EXPECT_EQ(st.frames_total - st.frames_free, 1);
	EXPECT_EQ(testbed_buffer_read(c, 7, &byte, 1), 0);
	EXPECT_EQ((uint8_t)byte, testbed_fill_byte(TESTBED_RANDOM, 2, 7));
}

/* What fails in the thread of the scenario thread ends the whole program. */
TEST("a process that crashes leaves nothing on the board, and harms no other")
{
	const struct testbed_config cfg = { .mode = SIM_THREADS,
					  .processes = true, .seed = 1 };

	in_a_testbed(&cfg, crash_one);
}

static uint64_t frames_used(const struct testbed_board *board)
{
	struct host_stats st;

	host_stats(board->kernel, &st);
	return st.frames_total - st.frames_free;
}

/* Two boards with a process of npr each; q's has so many frames (0: as many as usual). */
static void npr_pair(struct testbed *w, uint32_t frames, struct testbed_board *board[2],
		     struct testbed_process **p, struct testbed_process **q)
{
	const struct testbed_board_config large = { 0 }, other = { .frames = frames };

	EXPECT_EQ(testbed_board_add(w, "a", &large, &board[0]), 0);
	EXPECT_EQ(testbed_board_add(w, "b", &other, &board[1]), 0);
	EXPECT_EQ(testbed_link_add(w, board[0], board[1]), 0);
	EXPECT_EQ(testbed_process_add(w, "p", board[0], FL_SYSTEM_NPR, FL_RESOLVE_BLOCK, p), 0);
	EXPECT_EQ(testbed_process_add(w, "q", board[1], FL_SYSTEM_NPR, FL_RESOLVE_BLOCK, q), 0);
}

/* Queue pairs of npr have pinned pages: the small board runs out of them, and no other. */
static void connect_too_often(struct testbed *w, void *arg)
{
	const struct testbed_joining join = { .depth = 8 };
	struct testbed_connection *c = NULL;
	struct testbed_board *board[2];
	struct testbed_process *p, *q;
	uint64_t used[2];
	int i, err;

	(void)arg;
	npr_pair(w, 100, board, &p, &q);
	for (i = 0; i < 100; i++) {
		used[0] = frames_used(board[0]);
		used[1] = frames_used(board[1]);
		err = testbed_connect(p, q, "c", &join, &c);
		if (err)
			break;
	}
	EXPECT(i > 1);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(err, -ENOMEM);
		EXPECT_EQ(frames_used(board[0]), used[0]);
		EXPECT_EQ(frames_used(board[1]), used[1]);
		err = testbed_connect(i ? p : q, i ? q : p, "c", &join, &c);
	}
}

TEST("a connection for which there is no memory leaves nothing at either end")
{
	const struct testbed_config cfg = { .mode = SIM_LOCKSTEP, .seed = 1 };

	in_a_testbed(&cfg, connect_too_often);
}

/* The driver of q is at a call for w; what its page holds then and later must be the same. */
static void end_in_a_call(struct testbed *w, void *arg)
{
	static uint8_t seen[4 * HOST_PAGE], later[4 * HOST_PAGE];
	const struct testbed_joining join = { .depth = 8 };
	struct rpc_command end = { .kind = RPC_UNPAIR };
	struct testbed_connection *c = NULL;
	struct testbed_buffer *src, *dst;
	struct testbed_process *p, *q;
	struct testbed_board *board[2];
	struct rpc_answer r;

	(void)arg;
	npr_pair(w, 0, board, &p, &q);
	EXPECT_EQ(testbed_buffer_add(p, "src", sizeof(seen), NULL, &src), 0);
	EXPECT_EQ(testbed_buffer_add(q, "dst", sizeof(seen), NULL, &dst), 0);
	EXPECT_EQ(testbed_buffer_fill(src, TESTBED_RANDOM, 1), 0);
	EXPECT_EQ(testbed_buffer_fill(dst, TESTBED_RANDOM, 2), 0);
	EXPECT_EQ(testbed_region_add(src, 0, 0, 0, 0), 0);
	EXPECT_EQ(testbed_region_add(dst, 0, 0, FL_REMOTE_WRITE, 0), 0);
	EXPECT_EQ(testbed_connect(p, q, "c", &join, &c), 0);
	EXPECT_EQ(testbed_buffer_advise(dst, 0, sizeof(seen), FL_PAGEOUT), 0);

	struct testbed_work k = {
		.name = "w", .conn = c, .opcode = FL_WRITE, .bytes = sizeof(seen),
		.local = src, .local_va = (uintptr_t)src->mem, .lkey = src->key,
		.remote = dst, .remote_va = (uintptr_t)dst->mem, .rkey = dst->key,
	};

	EXPECT_EQ(testbed_post(w, &k), 0);
	EXPECT_EQ(testbed_wait(w, &k, 1500000, TESTBED_POLLING), -ETIMEDOUT);
	EXPECT(host_driver_busy(board[1]->kernel));
	end.id = c->number[1];
	EXPECT_EQ(testbed_rpc(q, &end, &r, NULL), 0);
	EXPECT_EQ(r.error, 0);
	EXPECT_EQ(testbed_buffer_read(dst, 0, seen, sizeof(seen)), 0);
	sim_sleep(20000000);
	EXPECT(!host_driver_busy(board[1]->kernel));
	EXPECT_EQ(testbed_buffer_read(dst, 0, later, sizeof(later)), 0);
	EXPECT_MEM(seen, later, sizeof(seen));
	EXPECT_EQ(testbed_wait(w, &k, 1000000000, TESTBED_POLLING), 0);
	EXPECT(k.status != FL_ST_OK);
}

TEST("a queue pair that is destroyed in the middle of a call: not a byte lands after it")
{
	const char *const sets[] = { "mm.major=1000000", NULL };
	const struct testbed_config cfg = { .mode = SIM_LOCKSTEP, .seed = 1, .sets = sets };

	in_a_testbed(&cfg, end_in_a_call);
}
