// SPDX-License-Identifier: BSD-2-Clause
/* variants: posix. A confined program: what it can do no more, and what it still can. */
#include "tests/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"
#include "tools/confine/confine.h"

#define NOT_CONFINED 200

static int answers[2];
static char others_file[200];	/* its folder is this program's alone */

/* Runs in a confined child; the bits that confine_self() gave. True: as it should be. */
typedef bool (*attempt)(unsigned int held);

static int confine_child(attempt try)
{
	struct confine c = { .kind = CONFINE_LOADED, .program = "/bin/sh",
				.cpu_s = 5, .file_bytes = 4096 };
	int held = confine_self(&c);

	if (held < 0)
		return NOT_CONFINED;
	return try((unsigned int)held) ? 0 : 1;
}

static int in_child(attempt try)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(confine_child(try));
	EXPECT(pid > 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool no_network(unsigned int held)
{
	bool got = socket(AF_INET, SOCK_STREAM, 0) >= 0;

	return got == !(held & CONFINED_CALLS) && (got || errno == EPERM);
}

static bool no_process(unsigned int held)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return (pid > 0) == !(held & CONFINED_CALLS);
}

static bool no_signal(unsigned int held)
{
	return (kill(getppid(), 0) == 0) == !(held & CONFINED_CALLS);
}

/* A descriptor's owner gets signals; anybody can be made that. */
static bool no_owner(unsigned int held)
{
	int fd[2], who = getppid();
	bool got = !pipe(fd) && (!fcntl(fd[0], F_SETOWN, who) ||
				 !fcntl(fd[0], F_SETOWN, -who));

	return got == !(held & CONFINED_CALLS);
}

static bool no_message(unsigned int held)
{
	struct iovec v = { "x", 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	bool got = sendmsg(answers[1], &m, 0) == 1;

	return got == !(held & CONFINED_CALLS);
}

/* Root is one user among others. */
static bool no_root(unsigned int held)
{
	return setuid(65534) || !(held & CONFINED_CALLS);
}

static bool no_file(unsigned int held)
{
	char path[] = "/etc/passwd";

	return (open(path, O_RDONLY) >= 0) == !(held & CONFINED_FILES);
}

static bool no_new_file(unsigned int held)
{
	int fd = open(others_file, O_WRONLY | O_CREAT, 0600);

	if (fd >= 0)
		unlink(others_file);
	return (fd >= 0) == !(held & CONFINED_FILES);
}

/* What a name is enough for: the file's length, its rights, its times. */
static bool no_change(unsigned int held)
{
	bool got = !truncate(others_file, 0) || !chmod(others_file, 0) ||
		   !utimensat(AT_FDCWD, others_file, NULL, 0);

	return got == !(held & CONFINED_CALLS);
}

static bool calls_are(unsigned int held)
{
	return held & CONFINED_CALLS;
}

static bool files_are(unsigned int held)
{
	return held & CONFINED_FILES;
}

static bool confine_aborts(unsigned int held)
{
	(void)held;
	abort();
}

static bool works_on(unsigned int held)
{
	(void)held;
	return malloc(1 << 20) && getpid() > 0 && open("/bin/sh", O_RDONLY) >= 0;
}

static bool uses_cpu(unsigned int held)
{
	struct rlimit r;

	(void)held;
	return !getrlimit(RLIMIT_CPU, &r) && r.rlim_cur == 5 &&
	       !getrlimit(RLIMIT_FSIZE, &r) && r.rlim_cur == 4096;
}

TEST("a confined program has no network, makes no process and signals none")
{
	if (!strcmp(os_system(), "linux"))
		EXPECT_EQ(in_child(calls_are), 0);
	EXPECT_EQ(in_child(no_network), 0);
	EXPECT_EQ(in_child(no_process), 0);
	EXPECT_EQ(in_child(no_signal), 0);
}

TEST("nor does it by the owner of a descriptor, by messages or as root")
{
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, answers), 0);
	EXPECT_EQ(in_child(no_owner), 0);
	EXPECT_EQ(in_child(no_message), 0);
	EXPECT_EQ(in_child(no_root), 0);
	close(answers[0]);
	close(answers[1]);
}

TEST("it sees no files but itself and the libraries, and makes none")
{
	test_path(others_file, sizeof(others_file), "others");
	EXPECT_EQ(in_child(no_file), 0);
	EXPECT_EQ(in_child(no_new_file), 0);
}

TEST("it changes no file that others have")
{
	struct stat st;
	int fd;

	test_path(others_file, sizeof(others_file), "others");
	fd = open(others_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	EXPECT_EQ(write(fd, "text", 4), 4);
	EXPECT_EQ(in_child(no_change), 0);
	EXPECT_EQ(fstat(fd, &st), 0);
	if (!strcmp(os_system(), "linux"))
		EXPECT(st.st_size == 4 && (st.st_mode & 0777) == 0600);
	close(fd);
	unlink(others_file);
}

static int run_shell(enum confine_kind kind, const char *script)
{
	const struct confine_path path[] = { { "/usr/bin", CONFINE_MAY_READ },
					{ others_file, CONFINE_MAY_READ } };
	struct confine c = { .kind = kind, .program = "/bin/sh", .cpu_s = 5,
				.file_bytes = 4096, .path = path, .paths = 2 };
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, others_file,
			 NULL };
	char *env[] = { "PATH=/usr/bin", NULL };
	int status;
	pid_t pid = fork();

	if (!pid) {
		close(2);
		if (confine_self(&c) < 0)
			_exit(NOT_CONFINED);
		_exit(confine_exec("/bin/sh", argv, env) ? 100 : 101);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST("a program that computes runs when its caller starts it, and starts no other")
{
	bool walls = !in_child(calls_are);

	EXPECT_EQ(run_shell(CONFINE_LOADED, "exit 7"), 7);
	EXPECT_EQ(run_shell(CONFINE_LOADED, "exec /bin/true") != 0, walls);
	/* Without its loader's rights a program that has one does not come to run. */
	EXPECT_EQ(run_shell(CONFINE_ALONE, "exit 7") != 7, walls);
}

TEST("tools start others, read what they are given, and write nowhere else")
{
	bool walls = !in_child(files_are), calls = !in_child(calls_are);
	int fd;

	test_path(others_file, sizeof(others_file), "others");
	fd = open(others_file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	EXPECT_EQ(write(fd, "text\n", 5), 5);
	close(fd);
	EXPECT_EQ(run_shell(CONFINE_TOOLS, "env true && read x <\"$0\""), 0);
	EXPECT_EQ(run_shell(CONFINE_TOOLS, "read x </etc/passwd") != 0, walls);
	EXPECT_EQ(run_shell(CONFINE_TOOLS, "echo >>\"$0\"") != 0, walls);
	EXPECT_EQ(run_shell(CONFINE_TOOLS, "env chmod 777 \"$0\"") != 0, calls);
	unlink(others_file);
}

TEST("what it needs to run goes on, abort() included")
{
	EXPECT_EQ(in_child(works_on), 0);
	EXPECT_EQ(in_child(confine_aborts), 128 + SIGABRT);
}

TEST("its limits hold whatever the system can do besides")
{
	EXPECT_EQ(in_child(uses_cpu), 0);
}

static void *confine_stay(void *arg)
{
	pause();
	return arg;
}

TEST("how many threads another process has is known where the system tells")
{
	bool on_linux = !strcmp(os_system(), "linux");
	int ready[2], i;
	pthread_t t;
	pid_t pid;
	char c;

	EXPECT_EQ(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		for (i = 0; i < 3; i++)
			pthread_create(&t, NULL, confine_stay, NULL);
		(void)!write(ready[1], "", 1);
		pause();
	}
	EXPECT_EQ(read(ready[0], &c, 1), 1);
	if (on_linux || confine_threads(pid))
		EXPECT_EQ(confine_threads(pid), 4);
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_EQ(confine_threads(pid), 0);
	close(ready[0]);
	close(ready[1]);
}

TEST("what another process has in files without a name is known there too")
{
	int ready[2], fd;
	char c, page[4096] = { 1 };
	pid_t pid;

	EXPECT_EQ(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		fd = os_memory_create("some", 1 << 20);
		(void)!pwrite(fd, page, sizeof(page), 4096);
		(void)!write(ready[1], "", 1);
		pause();
	}
	EXPECT_EQ(read(ready[0], &c, 1), 1);
	if (!strcmp(os_system(), "linux"))
		EXPECT(confine_nameless_bytes(pid) >= 4096 &&
		       confine_nameless_bytes(pid) < 1 << 20);
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_EQ(confine_nameless_bytes(pid), 0);
	close(ready[0]);
	close(ready[1]);
}

TEST("descriptors that somebody left open are closed, whatever their numbers")
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		dup2(0, 200);
		os_close_from(5);
		_exit(fcntl(0, F_GETFD) < 0 || fcntl(200, F_GETFD) >= 0);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFEXITED(status) && !WEXITSTATUS(status));
}

TEST("a process ends with the one that started it")
{
	int alive[2];
	char c;
	pid_t pid;

	if (strcmp(os_system(), "linux"))
		return;
	EXPECT_EQ(pipe(alive), 0);
	pid = fork();
	if (!pid) {
		if (!fork()) {
			os_end_with_parent();
			(void)!write(alive[1], "", 1);
			for (;;)
				pause();
		}
		pause();
	}
	close(alive[1]);
	EXPECT_EQ(read(alive[0], &c, 1), 1);
	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	/* Its end is the end of the pipe. */
	EXPECT_EQ(read(alive[0], &c, 1), 0);
	close(alive[0]);
}
