// SPDX-License-Identifier: BSD-2-Clause
#include "rig/os_escape.h"

/* The address sanitizer wants more addresses than any limit leaves: not tried there. */

const char escape_others[] = "others";
const char escape_made[] = "made";
static char escape_secret[] = "the key that signs records";
char escape_buffer[4096];
int escape_inherited[2];	/* two ends of a socket */
int escape_terminal = -1;

static long read_path(const char *path)
{
	char text[64];
	int fd = open(path, O_RDONLY);

	return fd < 0 ? -1 : read(fd, text, sizeof(text));
}

/* Of the grader: below /proc of a child's parent. */
static long read_grader(const char *what, off_t at)
{
	char path[64], text[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", getppid(), what);
	fd = open(path, O_RDONLY);
	return fd < 0 ? -1 : pread(fd, text, sizeof(text), at);
}

long read_key(void)
{
	return read_path(escape_others);
}

long read_users(void)
{
	return read_path("/etc/passwd");
}

long read_memory(void)
{
	return read_grader("mem", (off_t)(uintptr_t)escape_secret);
}

long read_environment(void)
{
	return read_grader("environ", 0);
}

long read_own_environment(void)
{
	return read_path("/proc/self/environ");
}

long read_its_file(void)
{
	return read_grader("exe", 0);
}

long list_folder(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);

	return fd < 0 ? -1 : syscall(SYS_getdents64, fd, escape_buffer, 4096);
}

static long vm_move(long call)
{
	struct iovec mine = { escape_buffer, 8 }, its = { escape_secret, 8 };

	memcpy(escape_buffer, escape_secret, 8);
	return syscall(call, getppid(), &mine, 1, &its, 1, 0);
}

long vm_read(void)
{
	return vm_move(SYS_process_vm_readv);
}

long vm_write(void)
{
	return vm_move(SYS_process_vm_writev);
}

static long make_child(long call, long flags)
{
	long pid = syscall(call, flags, 0, 0, 0, 0);

	if (!pid)
		_exit(0);
	return pid < 0 ? -1 : waitpid((pid_t)pid, NULL, 0);
}

long clone_alone(void)
{
	return make_child(SYS_clone, SIGCHLD);
}

long vfork_child(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return pid < 0 ? -1 : waitpid(pid, NULL, 0);
}

long clone_users(void)
{
	return make_child(SYS_clone, CLONE_NEWUSER | SIGCHLD);
}

long clone_by_structure(void)
{
	uint64_t arg[8] = { [4] = SIGCHLD };
	long pid = syscall(SYS_clone3, arg, sizeof(arg));

	if (!pid)
		_exit(0);
	return pid < 0 ? -1 : waitpid((pid_t)pid, NULL, 0);
}

/* Programs end with status 0, as an attempt does that succeeds. */
static char *const words[] = { "true", NULL };
static char *const no_words[] = { NULL };

long exec_program(void)
{
	return execve("/bin/true", words, no_words);
}

static int copy_of_true(void)
{
	int from = open("/bin/true", O_RDONLY), to = memfd_create("true", 0);
	ssize_t n;

	while ((n = read(from, escape_buffer, sizeof(escape_buffer))) > 0)
		if (write(to, escape_buffer, (size_t)n) != n)
			return -1;
	return to;
}

long exec_memory(void)
{
	return syscall(SYS_execveat, copy_of_true(), "", words, no_words,
		       AT_EMPTY_PATH);
}

long exec_memory_by_name(void)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy_of_true());
	return execve(path, words, no_words);
}

long exec_guessing(void)
{
	return syscall(SYS_execve, "/bin/true", words, no_words, 1, 2, 3);
}

static long signal_grader(long call)
{
	return syscall(call, getppid(), 0, 0, 0);
}

long kill_grader(void)
{
	return signal_grader(SYS_kill);
}

long tkill_grader(void)
{
	return signal_grader(SYS_tkill);
}

long tgkill_grader(void)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0);
}

long queue_to_grader(void)
{
	siginfo_t info = { .si_code = SI_QUEUE };

	return syscall(SYS_rt_sigqueueinfo, getppid(), 0, &info);
}

long kill_group(void)
{
	return syscall(SYS_kill, 0, 0);
}

long open_grader(void)
{
	return syscall(SYS_pidfd_open, getppid(), 0);
}

long take_descriptor(void)
{
	return syscall(SYS_pidfd_getfd, open_grader(), escape_inherited[0], 0);
}

long attach_to_grader(void)
{
	return syscall(SYS_ptrace, 0x4206 /* PTRACE_SEIZE */, getppid(), 0, 0);
}

long be_traced(void)
{
	return syscall(SYS_ptrace, 0 /* PTRACE_TRACEME */, 0, 0, 0);
}

long own_by_grader(void)
{
	return fcntl(escape_inherited[1], F_SETOWN, getppid());
}

long own_by_structure(void)
{
	struct f_owner_ex who = { F_OWNER_PID, getppid() };

	return fcntl(escape_inherited[1], F_SETOWN_EX, &who);
}

long choose_signal(void)
{
	return fcntl(escape_inherited[1], F_SETSIG, SIGKILL);
}

long own_by_ioctl(void)
{
	int who = getppid();

	return ioctl(escape_inherited[1], FIOSETOWN, &who);
}

long lock_file(void)
{
	return fcntl(escape_inherited[1], F_SETLEASE, F_UNLCK);
}

long slow_grader(void)
{
	return setpriority(PRIO_PROCESS, (id_t)getppid(),
			   getpriority(PRIO_PROCESS, (id_t)getppid()));
}

long limit_grader(void)
{
	struct rlimit r;

	return syscall(SYS_prlimit64, getppid(), RLIMIT_CPU, NULL, &r);
}

long schedule_grader(void)
{
	struct { uint32_t size, policy; uint64_t rest[6]; } attr = { sizeof(attr), 0, { 0 } };

	return syscall(SYS_sched_setattr, getppid(), &attr, 0);
}

long pin_grader(void)
{
	unsigned long set[32] = { 0 };

	if (syscall(SYS_sched_getaffinity, getppid(), sizeof(set), set) < 0)
		return -1;
	return syscall(SYS_sched_setaffinity, getppid(), sizeof(set), set);
}

long move_grader(void)
{
	return syscall(SYS_move_pages, getppid(), 0, NULL, NULL, NULL, 0);
}

long robust_of_grader(void)
{
	size_t n;
	void *head;

	return syscall(SYS_get_robust_list, getppid(), &head, &n);
}

long compare_files(void)
{
	return syscall(SYS_kcmp, getppid(), getpid(), 2 /* KCMP_FILES */, 0, 0);
}

long raise_limit(void)
{
	struct rlimit r = { 64, 64 };

	return setrlimit(RLIMIT_NOFILE, &r);
}

long raise_cpu_limit(void)
{
	struct rlimit r = { 60, 60 };

	return setrlimit(RLIMIT_CPU, &r);
}

long fill_disk(void)
{
	int fd = memfd_create("flood", 0);

	signal(SIGXFSZ, SIG_IGN);
	return pwrite(fd, "", 1, 1 << 20) == 1 ? 0 : -1;
}

long fill_memory(void)
{
	errno = EPERM;
	if (!ROOM)
		return -1;
	return mmap(NULL, (size_t)2 << 30, PROT_READ, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? -1 : 0;
}

long abstract_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "" };
	int s = socket(AF_UNIX, SOCK_DGRAM, 0);

	snprintf(a.sun_path + 1, 40, "faultline-escape-%d", getpid());
	return s < 0 ? -1 : bind(s, (struct sockaddr *)&a, sizeof(a));
}

long send_descriptor(void)
{
	struct iovec v = { "x", 1 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	*(int *)CMSG_DATA(&control.head) = 0;
	return sendmsg(escape_inherited[1], &m, 0);
}

long type_into_terminal(void)
{
	return ioctl(escape_terminal, TIOCSTI, "x");
}

long size_of_terminal(void)
{
	struct winsize size;

	return ioctl(escape_terminal, TIOCGWINSZ, &size);
}

long free_room(void)
{
	int n;

	return ioctl(escape_inherited[1], FIONREAD, &n);
}

long make_ring(void)
{
	uint32_t params[30] = { 0 };

	return syscall(SYS_io_uring_setup, 1, params);
}

long add_key(void)
{
	return syscall(SYS_add_key, "user", "faultline-escape", "x", 1,
		       -1 /* of this thread */);
}

long make_events(void)
{
	uint32_t attr[32] = { 1 /* software */, sizeof(attr) };

	/* Of this process in its own code: what a plain user may have, if any. */
	attr[10] = 1 << 5 | 1 << 6;
	return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}

long set_attribute_at(void)
{
	struct { uint64_t value; uint32_t size, flags; } arg = {
		(uintptr_t)"x", 1, 0 };

	return syscall(CALL_setxattrat, AT_FDCWD, escape_others, 0, "user.x",
		       &arg, sizeof(arg));
}

long set_file_attributes(void)
{
	char now[24] = { 0 };

	/* To what it has: that is refused too, where it is not asked for by its owner. */
	if (syscall(CALL_file_setattr - 1, AT_FDCWD, escape_others, now,
		    sizeof(now), 0))
		return -1;
	return syscall(CALL_file_setattr, AT_FDCWD, escape_others, now,
		       sizeof(now), 0);
}

long open_by_structure(void)
{
	uint64_t how[3] = { O_RDONLY };

	return syscall(SYS_openat2, AT_FDCWD, escape_others, how, sizeof(how));
}

long escape_watch(void)
{
	return syscall(SYS_inotify_add_watch, syscall(SYS_inotify_init1, 0),
		       escape_others, 0xfff);
}

long start_context(void)
{
	unsigned long context = 0;

	return syscall(SYS_io_setup, 1, &context);
}

long lower_filter(void)
{
	struct { uint16_t code; uint8_t yes, no; uint32_t k; } line = {
		6, 0, 0, 0x7fff0000 };
	struct { uint16_t n; void *line; } prog = { 1, &line };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, 1, 0, &prog);
}

long lower_filter_by_prctl(void)
{
	struct { uint16_t code; uint8_t yes, no; uint32_t k; } line = {
		6, 0, 0, 0x7fff0000 };
	struct { uint16_t n; void *line; } prog = { 1, &line };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, 2, &prog);
}

long timer_of_grader(void)
{
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	int id;

	return syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, &id);
}

#ifdef __x86_64__
static sigjmp_buf no_entry;

static void entry_missing(int number)
{
	(void)number;
	siglongjmp(no_entry, 1);
}

/* A kernel without it, or a machine that does not pass it on, sends SIGSEGV. */
long old_entry(void)
{
	long r;

	signal(SIGSEGV, entry_missing);
	if (sigsetjmp(no_entry, 1))
		return -1;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
	return r;
}
#endif
