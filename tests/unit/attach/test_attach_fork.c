// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/* A process that is attached forks. */
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "rig/attach_fake.h"

#define PAGES 40
#define STACK_PAGES 16
#define STACK_FORKS 100

extern char **environ;

static int fork_ended(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

#define WANT(cond) do { if (!(cond)) _exit(__LINE__ % 200 + 1); } while (0)

TEST("in the child no board is open, and imported memory is a private copy")
{
	static struct fb_device d;
	struct fl_mr *mr[2];
	uint32_t stack[2000];
	struct fl_completion c;
	uint32_t *mem;
	unsigned int i;
	pid_t pid;

	fb_device_start(&d);
	fb_queues(&d);
	mem = mmap(NULL, PAGES * FB_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < 2000; i++)
		stack[i] = i;
	for (i = 0; i < PAGES; i++)
		mem[i * 1024] = i + 1;
	EXPECT_EQ(fl_reg_mr(d.pd, mem, PAGES * FB_PAGE, FL_LOCAL_WRITE,
			    &mr[0]), 0);
	EXPECT_EQ(fl_reg_mr(d.pd, stack, sizeof(stack), FL_LOCAL_WRITE,
			    &mr[1]), 0);
	STEP("some of it is absent when the process forks");
	fb_evict_all(d.b);
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		WANT(fl_poll(d.cq, &c, 1) == -EPERM);
		WANT(fl_post_write(d.qp, 1, mr[0], mem, 8, 0, 1) == -EPERM);
		WANT(!fl_alloc(d.dev, 1) && errno == EPERM);
		WANT(fl_dereg_mr(mr[1]) == -EPERM);
		for (i = 0; i < PAGES; i++) {
			WANT(mem[i * 1024] == i + 1);
			mem[i * 1024] = 1000;
		}
		for (i = 0; i < 2000; i++) {
			WANT(stack[i] == i);
			stack[i] = 7;
		}
		WANT(fl_close(d.dev) == -EPERM);
		_exit(0);
	}
	EXPECT_EQ(fork_ended(pid), 0);
	STEP("the parent has its own, and its board");
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(mem[i * 1024], i + 1);
	for (i = 0; i < 2000; i++)
		EXPECT_EQ(stack[i], i);
	fb_evict_all(d.b);
	EXPECT_EQ(mem[0], 1);
	EXPECT_EQ(fl_poll(d.cq, &c, 1), 0);
	STEP("the parent's stack is the board's again");
	memset(fb_frame_of(d.b, &stack[1000]), 0x55, 4);
	EXPECT_EQ(((volatile uint32_t *)stack)[1000], 0x55555555);
	EXPECT_EQ(fl_dereg_mr(mr[0]), 0);
	EXPECT_EQ(fl_dereg_mr(mr[1]), 0);
	munmap(mem, PAGES * FB_PAGE);
}

/* The stack grows as far as it is touched. */
static __attribute__((noinline)) void fork_grow(void)
{
	volatile char room[2 * STACK_PAGES * FB_PAGE];
	unsigned int i;

	for (i = 0; i < sizeof(room); i += FB_PAGE / 2)
		room[i] = 1;
}

TEST("a stack that is written while its pages become private stays what it is")
{
	static struct fb_device d;
	uintptr_t top = (uintptr_t)__builtin_frame_address(0);
	struct fl_mr *mr;
	unsigned int i;
	pid_t pid;

	fb_device_start(&d);
	fork_grow();
	/* The frames of fork() and of all that it calls are in there. */
	EXPECT_EQ(fl_reg_mr(d.pd, (void *)(top - top % FB_PAGE -
					   (STACK_PAGES - 1) * FB_PAGE),
			    STACK_PAGES * FB_PAGE, FL_LOCAL_WRITE, &mr), 0);
	for (i = 0; i < STACK_FORKS; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		EXPECT_EQ(fork_ended(pid), 0);
	}
	EXPECT_EQ(fl_dereg_mr(mr), 0);
}

/* A thread whose stack somebody else registers; deep in it lies `deep`. */
struct of_another {
	_Atomic int step;
	volatile uint32_t *deep;
	int result;
};

static __attribute__((noinline)) volatile uint32_t *write_deep(void)
{
	volatile uint32_t room[STACK_PAGES * FB_PAGE / 4];
	uintptr_t at = (uintptr_t)&room[2 * FB_PAGE / 4];
	unsigned int i;

	for (i = 0; i < sizeof(room) / 4; i++)
		room[i] = i;
	/* Not by its name: this function has returned when it is read. */
	return (volatile uint32_t *)(at - at % FB_PAGE);
}

static void *forks_in_thread(void *arg)
{
	struct of_another *o = arg;
	static char room[65536];
	stack_t alt = { .ss_sp = room, .ss_size = sizeof(room) }, has;
	uint32_t was;
	pid_t pid;

	/* Sanitizers bring one of their own. */
	if (!sigaltstack(NULL, &has) && (has.ss_flags & SS_DISABLE))
		sigaltstack(&alt, NULL);
	o->deep = write_deep();
	was = *o->deep;
	atomic_store(&o->step, 1);
	while (atomic_load(&o->step) != 2)
		os_yield();
	pid = fork();
	if (!pid)
		_exit(*o->deep != was);
	o->result = fork_ended(pid) || *o->deep != was;
	return NULL;
}

TEST("a stack that another thread registered may be absent when its thread forks")
{
	static struct of_another o;
	static struct fb_device d;
	struct fl_mr *mr;
	pthread_t t;

	fb_device_start(&d);
	EXPECT_EQ(pthread_create(&t, NULL, forks_in_thread, &o), 0);
	while (atomic_load(&o.step) != 1)
		os_yield();
	EXPECT_EQ(fl_reg_mr(d.pd, (void *)o.deep, FB_PAGE, FL_LOCAL_WRITE, &mr),
		  0);
	fb_evict_all(d.b);
	STEP("one page of the stack is absent");
	atomic_store(&o.step, 2);
	pthread_join(t, NULL);
	EXPECT_EQ(o.result, 0);
	EXPECT_EQ(fl_dereg_mr(mr), 0);
}

TEST("memory of the parent's board is a crash in the child that says so")
{
	static struct fb_device d;
	char said[512];
	volatile char *mem;
	int fd[2], result;
	ssize_t n;
	pid_t pid;

	fb_device_start(&d);
	mem = fl_alloc(d.dev, FB_PAGE);
	mem[0] = 5;
	EXPECT_EQ(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		dup2(fd[1], 2);
		mem[0] = 6;
		_exit(0);
	}
	result = fork_ended(pid);
	n = read(fd[0], said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = 0;
	close(fd[0]);
	close(fd[1]);
	STEP("%s", said);
	EXPECT(result != 0);
	EXPECT(strstr(said, "was opened by the parent"));
	EXPECT_EQ(mem[0], 5);
}

TEST("the child may open a board of its own")
{
	static struct fb_device d;
	pid_t pid;

	fb_device_start(&d);
	pid = fork();
	if (!pid) {
		struct fb *b = fb_start(FB_RIGHT);
		struct fl_device *dev;
		volatile char *mem;

		WANT(!fl_open(b->name, &dev));
		mem = fl_alloc(dev, FB_PAGE);
		mem[3] = 4;
		WANT(mem[3] == 4);
		WANT(!fl_close(dev));
		_exit(0);
	}
	EXPECT_EQ(fork_ended(pid), 0);
}

static void *open_in_vain(void *name)
{
	struct fl_device *dev;

	return (void *)(intptr_t)fl_open(name, &dev);
}

#define FDS	256

static bool is_socket(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISSOCK(st.st_mode);
}

/* `had`: what whoever started the tests has left open. */
static void only_sockets(const bool had[FDS], int a, int b)
{
	int fd;

	for (fd = 3; fd < FDS; fd++)
		WANT(fd == a || fd == b || had[fd] || !is_socket(fd));
	_exit(0);
}

TEST("the child has no descriptor of a board that another thread is opening")
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct attach_hello hello;
	bool had[FDS] = { false };
	int listener, conn, fd;
	char name[120];
	void *result;
	pthread_t t;
	pid_t pid;

	for (fd = 3; fd < FDS; fd++)
		had[fd] = is_socket(fd);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	test_path(at.sun_path, sizeof(at.sun_path), "silent.sock");
	snprintf(name, sizeof(name), "emu:%s", at.sun_path);
	EXPECT_EQ(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	EXPECT_EQ(listen(listener, 1), 0);
	EXPECT_EQ(pthread_create(&t, NULL, open_in_vain, name), 0);
	conn = accept(listener, NULL, NULL);
	EXPECT_EQ(recv(conn, &hello, sizeof(hello), MSG_WAITALL),
		  (ssize_t)sizeof(hello));
	pid = fork();
	if (!pid)
		only_sockets(had, listener, conn);
	close(conn);
	close(listener);
	unlink(at.sun_path);
	pthread_join(t, &result);
	EXPECT_EQ((intptr_t)result, -ECONNRESET);
	EXPECT_EQ(fork_ended(pid), 0);
}

TEST("a program that is started has no descriptor of the board")
{
	static struct fb_device d;
	char *argv[] = { "sh", "-c",
			 "for f in /proc/self/fd/*; do readlink $f; done | "
			 "grep -q -e memfd:bank -e memfd:shared && exit 1; "
			 "exit 0", NULL };
	pid_t pid;

	fb_device_start(&d);
	EXPECT_EQ(posix_spawnp(&pid, "sh", NULL, NULL, argv, environ), 0);
	EXPECT_EQ(fork_ended(pid), 0);
}
