// SPDX-License-Identifier: BSD-2-Clause
/* The system layer: machine, memory, address space, copies. variants: tsan posix */
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "rig/os.h"

static size_t page;	/* set by every test that uses it */

/* ---- the machine ---- */

TEST("a machine has pages of a power of two, a CPU, and time that goes on")
{
	uint64_t a = os_now_ns(), b;

	page = os_page_bytes();
	EXPECT(page >= 4096 && !(page & (page - 1)));
	EXPECT_GE(os_cpus(), 1);
	os_yield();
	os_pause();
	b = os_now_ns();
	EXPECT_GE(b, a);
	EXPECT(on_linux() || !strcmp(os_system(), "posix"));
}

TEST("valgrind is known by the library that it loads")
{
	const char *was = getenv("LD_PRELOAD");
	char *old = was ? strdup(was) : NULL;

	setenv("LD_PRELOAD", "/lib/a.so:/usr/libexec/valgrind/vgpreload_core.so",
	       1);
	EXPECT(os_valgrind());
	setenv("LD_PRELOAD", "/lib/a.so", 1);
	EXPECT(!os_valgrind());
	unsetenv("LD_PRELOAD");
	EXPECT(!os_valgrind());
	if (old)
		setenv("LD_PRELOAD", old, 1);
	free(old);
}

TEST("a program finds its own file, when the system tells")
{
	char path[4096], head[4] = { 0 };
	int fd, err = os_program(path, sizeof(path));

	if (on_linux()) {
		EXPECT_EQ(err, 0);
		fd = open(path, O_RDONLY);
		EXPECT(fd >= 0);
		EXPECT_EQ(read(fd, head, 4), 4);
		EXPECT_MEM(head, "\177ELF", 4);
		close(fd);
		EXPECT_EQ(os_program(path, 4), -ENAMETOOLONG);
	} else {
		EXPECT(!err || err == -ENOTSUP);
	}
}

static void say_twice(void)
{
	int p[2];
	char got[32];

	CHILD_WANT(!pipe(p) && dup2(p[1], STDERR_FILENO) >= 0);
	os_say("once, ");
	os_say("");
	os_say("twice\n");
	CHILD_WANT(read(p[0], got, sizeof(got)) == 12);
	CHILD_WANT(!memcmp(got, "once, twice\n", 12));
	close(STDERR_FILENO);
	os_say("to nobody");
}

TEST("a message from a handler goes to standard error, or nowhere")
{
	EXPECT_EXIT(in_child(say_twice), 0);
}

/* ---- objects ---- */

static void close_fd(void *fd)
{
	close((int)(intptr_t)fd);
}

static int os_object(uint64_t bytes)
{
	int fd = os_memory_create("test", bytes);

	EXPECT(fd >= 0);
	test_cleanup(close_fd, (void *)(intptr_t)fd);
	return fd;
}

static void *os_map(int fd, uint64_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	EXPECT(at != MAP_FAILED);
	return at;
}

TEST("an object is zeros, shared by all who map it, and closed by exec")
{
	int fd = os_object(1 << 20), other;
	uint8_t *a = os_map(fd, 1 << 20), *b = os_map(fd, 1 << 20);
	struct stat st;

	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(st.st_size, 1 << 20);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(a[0] | a[4096] | a[(1 << 20) - 1], 0);
	a[4096] = 7;
	EXPECT_EQ(b[4096], 7);
	other = os_object(4096);
	EXPECT_NE(fd, other);
	munmap(a, 1 << 20);
	munmap(b, 1 << 20);
}

TEST("an object without bytes, or with more than a file can have, is refused")
{
	EXPECT_EQ(os_memory_create("test", 0), -EINVAL);
	EXPECT_EQ(os_memory_create("test", UINT64_MAX), -EINVAL);
	EXPECT_EQ(os_memory_create("test", 1ull << 63), -EINVAL);
}

TEST("nobody can change the size of an object that is said to be fixed")
{
	int fd = os_object(1 << 16), file = os_file_unnamed(NULL);
	struct stat st;

	EXPECT_EQ(os_memory_fixed(fd), on_linux());
	EXPECT(file >= 0);
	EXPECT(!os_memory_fixed(file));
	EXPECT(!os_memory_fixed(-1));
	close(file);
	if (!os_memory_fixed(fd))
		return;
	EXPECT(ftruncate(fd, 4096) && errno == EPERM);
	EXPECT(ftruncate(fd, 1 << 20) && errno == EPERM);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(st.st_size, 1 << 16);
#ifdef F_ADD_SEALS
	STEP("nor forbid others to write");
	EXPECT(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) && errno == EPERM);
	STEP("one that could still be made smaller is not fixed");
	file = memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	EXPECT(!fcntl(file, F_ADD_SEALS, F_SEAL_GROW));
	EXPECT(!os_memory_fixed(file));
	close(file);
#endif
}

TEST("what is forgotten is zeros for all, and the rest stays")
{
	uint8_t *a, *b;
	int fd, err;

	page = os_page_bytes();
	fd = os_object(4 * page);
	a = os_map(fd, 4 * page);
	b = os_map(fd, 4 * page);
	memset(a, 1, 4 * page);
	err = os_memory_forget(fd, page, 2 * page);
	EXPECT_EQ(err, on_linux() ? 0 : -ENOTSUP);
	EXPECT_EQ(b[page - 1], 1);
	EXPECT_EQ(b[page], err ? 1 : 0);
	EXPECT_EQ(b[3 * page - 1], err ? 1 : 0);
	EXPECT_EQ(b[3 * page], 1);
	EXPECT_EQ(os_memory_forget(fd, page, 0), -EINVAL);
	if (on_linux())
		EXPECT_EQ(os_memory_forget(-1, 0, page), -EBADF);
	munmap(a, 4 * page);
	munmap(b, 4 * page);
}

TEST("a file without a name is in the folder that was asked for, and closed by exec")
{
	char text[3000];
	struct stat st;
	int fd = os_file_unnamed("/tmp");

	EXPECT(fd >= 0);
	EXPECT_EQ(pwrite(fd, "x", 1, 9999), 1);
	EXPECT_EQ(fstat(fd, &st), 0);
	EXPECT_EQ(st.st_nlink, 0);
	EXPECT_EQ(st.st_size, 10000);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	EXPECT_EQ(os_file_unnamed("/nowhere/at all"), -ENOENT);
	EXPECT_EQ(os_file_unnamed("/dev/null"), -ENOTDIR);
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	EXPECT_EQ(os_file_unnamed(text), -ENAMETOOLONG);
}

/* ---- address space ---- */

TEST("addresses come where they are wished, or elsewhere if that is taken")
{
	uint8_t *at, *again;
	int error;

	page = os_page_bytes();
	at = os_reserve(NULL, 64 * page, &error);
	EXPECT(at);
	EXPECT_EQ(error, 0);
	munmap(at, 64 * page);
	again = os_reserve(at, 64 * page, &error);
	EXPECT(again == at);
	STEP("now it is taken");
	again = os_reserve(at, page, &error);
	EXPECT(again && (again < at || again >= at + 64 * page));
	EXPECT_EQ(error, 0);
	munmap(again, page);
	EXPECT_EQ(os_copy_from(&error, at, 1), -EFAULT);
	munmap(at, 64 * page);
}

TEST("more addresses than there are, or none, are refused with the reason")
{
	int error = 0;

	EXPECT(!os_reserve(NULL, 1ull << 60, &error));
	EXPECT_EQ(error, -ENOMEM);
	EXPECT(!os_reserve((void *)0x10000000, 0, &error));
	EXPECT_EQ(error, -EINVAL);
}

TEST("a view shows an object, then nothing, in place of what was there")
{
	uint8_t *at, *m;
	int fd;

	page = os_page_bytes();
	fd = os_object(4 * page);
	m = os_map(fd, 4 * page);
	at = os_rig_pages(4, PROT_NONE);
	m[2 * page] = 5;
	EXPECT_EQ(os_view(at + page, page, PROT_READ | PROT_WRITE, fd, 2 * page),
		  0);
	EXPECT_EQ(at[page], 5);
	at[page] = 6;
	EXPECT_EQ(m[2 * page], 6);
	EXPECT_EQ(os_protect(at + page, page, PROT_READ), 0);
	EXPECT_EQ(os_copy_from(at + page, "x", 1), -EFAULT);
	EXPECT_EQ(os_view(at + page, page, PROT_READ, -1, 0), 0);
	EXPECT_EQ(at[page], 0);
	EXPECT_EQ(m[2 * page], 6);
	munmap(m, 4 * page);
	munmap(at, 4 * page);
}

TEST("views that cannot be are refused")
{
	uint8_t *at;
	int p[2];

	page = os_page_bytes();
	at = os_rig_pages(2, PROT_READ | PROT_WRITE);
	at[0] = 3;
	EXPECT_EQ(os_view(at, page, PROT_READ, 999, 0), -EBADF);
	EXPECT_EQ(os_view(at + 1, page, PROT_READ, -1, 0), -EINVAL);
	EXPECT_EQ(os_view(at, 0, PROT_READ, -1, 0), -EINVAL);
	STEP("parts of a page");
	EXPECT_EQ(os_view(at, page / 2, PROT_READ, -1, 0), -EINVAL);
	EXPECT_EQ(os_protect(at + page / 2, page / 2, PROT_NONE), -EINVAL);
	EXPECT_EQ(os_protect(at, page + page / 2, PROT_NONE), -EINVAL);
	EXPECT_EQ(at[0], 3);
	EXPECT_EQ(pipe(p), 0);
	EXPECT_EQ(os_view(at, page, PROT_READ, p[0], 0), -ENODEV);
	close(p[0]);
	close(p[1]);
	EXPECT_EQ(os_protect(at + 1, page, PROT_READ), -EINVAL);
	EXPECT_EQ(at[0], 3);
	munmap(at, 2 * page);
	EXPECT_EQ(os_protect(at, page, PROT_READ), -ENOMEM);
}

TEST("memory is replaced by a private copy of other memory, or of itself")
{
	uint8_t *m, *at, *from;
	int fd;

	page = os_page_bytes();
	fd = os_object(2 * page);
	m = os_map(fd, 2 * page);
	at = os_rig_pages(2, PROT_NONE);
	from = os_rig_pages(2, PROT_READ | PROT_WRITE);
	memset(from, 9, 2 * page);
	from[page] = 8;
	EXPECT_EQ(os_view(at, 2 * page, PROT_READ | PROT_WRITE, fd, 0), 0);
	EXPECT_EQ(os_replace(at, from, 2 * page, PROT_READ | PROT_WRITE), 0);
	EXPECT_MEM(at, from, 2 * page);
	at[0] = 1;
	EXPECT_EQ(m[0], 0);
	EXPECT_EQ(from[0], 9);
	STEP("of itself, and only readable");
	EXPECT_EQ(os_view(at, page, PROT_READ | PROT_WRITE, fd, 0), 0);
	m[5] = 5;
	EXPECT_EQ(os_replace(at, at, page, PROT_READ), 0);
	m[5] = 6;
	EXPECT_EQ(at[5], 5);
	EXPECT_EQ(at[page], 8);
	EXPECT_EQ(os_copy_from(at, "x", 1), -EFAULT);
	STEP("not where no page begins, and then nothing has changed");
	EXPECT_EQ(os_replace(at + 1, from, page, PROT_READ), -EINVAL);
	EXPECT_EQ(at[5], 5);
	munmap(m, 2 * page);
	munmap(at, 2 * page);
	munmap(from, 2 * page);
}

static struct {
	uint8_t *at;
	atomic_bool stop;
	atomic_uint rounds, wrong;
} reader;

static void *read_on(void *arg)
{
	size_t i;

	while (!atomic_load(&reader.stop)) {
		for (i = 0; i < 8 * page; i += 512)
			if (*(volatile uint8_t *)(reader.at + i) != 7)
				atomic_fetch_add(&reader.wrong, 1);
		atomic_fetch_add(&reader.rounds, 1);
	}
	return arg;
}

TEST("a thread that reads while memory is replaced finds the old or the new")
{
	uint8_t *from;
	pthread_t t;
	unsigned int i, seen;

	page = os_page_bytes();
	reader.at = os_rig_pages(8, PROT_READ | PROT_WRITE);
	from = os_rig_pages(8, PROT_READ | PROT_WRITE);
	memset(reader.at, 7, 8 * page);
	memset(from, 7, 8 * page);
	atomic_store(&reader.stop, false);
	EXPECT_EQ(pthread_create(&t, NULL, read_on, NULL), 0);
	for (i = 0; i < 100; i++) {
		seen = atomic_load(&reader.rounds);
		EXPECT_EQ(os_replace(reader.at, from, 8 * page, PROT_READ), 0);
		while (atomic_load(&reader.rounds) == seen)
			os_yield();
	}
	atomic_store(&reader.stop, true);
	pthread_join(t, NULL);
	EXPECT_EQ(atomic_load(&reader.wrong), 0);
	munmap(reader.at, 8 * page);
	munmap(from, 8 * page);
}

/* ---- what is mapped ---- */

TEST("what is mapped at an address is told, with its bounds and rights")
{
	uint8_t *at, *sh;
	struct os_map m;
	int fd;

	page = os_page_bytes();
	at = os_rig_pages(3, PROT_READ | PROT_WRITE);
	fd = os_object(2 * page);
	EXPECT_EQ(os_protect(at, page, PROT_NONE), 0);
	EXPECT_EQ(os_protect(at + 2 * page, page, PROT_NONE), 0);
	EXPECT_EQ(os_map_find(at + page, &m), on_linux());
	if (!on_linux()) {
		munmap(at, 3 * page);
		return;
	}
	EXPECT_EQ(m.start, (uintptr_t)at + page);
	EXPECT_EQ(m.end, (uintptr_t)at + 2 * page);
	EXPECT_EQ(m.prot, PROT_READ | PROT_WRITE);
	EXPECT_EQ(m.kind, OS_MAP_PRIVATE);
	EXPECT(os_map_find(at + 2 * page - 1, &m));
	EXPECT(os_map_find(at, &m));
	EXPECT_EQ(m.prot, PROT_NONE);
	munmap(at, 3 * page);
	EXPECT(!os_map_find(at + page, &m));
	EXPECT(!os_map_find(NULL, &m));
	sh = os_map(fd, 2 * page);
	EXPECT(os_map_find(sh, &m));
	EXPECT_EQ(m.kind, OS_MAP_SHARED);
	EXPECT_EQ(m.end - m.start, 2 * page);
	munmap(sh, 2 * page);
	sh = mmap(NULL, page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(os_map_find(sh, &m));
	EXPECT_EQ(m.kind, OS_MAP_SHARED);
	munmap(sh, page);
}

static void count_map(void *arg, const struct os_map *m)
{
	struct os_map *seen = arg;	/* end: of the last; inode: how many */

	EXPECT(m->start >= seen->end && m->end > m->start);
	seen->end = m->end;
	seen->inode++;
}

static bool is_of(const struct os_map *m, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && m->inode == st.st_ino && m->device == st.st_dev;
}

TEST("all that is mapped in a range is told in order, and of which file it is")
{
	struct os_map m, seen = { .start = 0 };
	int fd, other;
	uint8_t *at;

	page = os_page_bytes();
	fd = os_object(2 * page);
	other = os_object(2 * page);
	at = os_rig_pages(5, PROT_READ | PROT_WRITE);
	EXPECT_EQ(os_view(at + page, 2 * page, PROT_READ, fd, 0), 0);
	EXPECT_EQ(os_view(at + 4 * page, page, PROT_NONE, fd, page), 0);
	EXPECT_EQ(munmap(at + 3 * page, page), 0);
	EXPECT_EQ(os_map_each((uintptr_t)at, (uintptr_t)at + 5 * page - 1,
			      count_map, &seen), on_linux() ? 0 : -ENOTSUP);
	if (on_linux()) {
		EXPECT_EQ(seen.inode, 3);
		STEP("which file, and whether others see it");
		EXPECT(os_map_find(at + page, &m) && is_of(&m, fd) && !is_of(&m, other));
		EXPECT(os_map_find(at, &m) && !is_of(&m, fd));
		EXPECT(os_map_find(at + 4 * page, &m) && is_of(&m, fd));
		errno = 77;
		EXPECT(os_map_shared(at + page));
		EXPECT(os_map_shared(at + 4 * page));
		EXPECT(!os_map_shared(at));
		EXPECT(!os_map_shared(at + 3 * page));
		EXPECT_EQ(errno, 77);
		STEP("the question changes nothing");
		seen = (struct os_map){ .start = 0 };
		os_map_each((uintptr_t)at, (uintptr_t)at + 5 * page - 1,
			    count_map, &seen);
		EXPECT_EQ(seen.inode, 3);
	} else {
		EXPECT(os_map_shared(at));
	}
	munmap(at, 5 * page);
	close(fd);
	close(other);
}

TEST("pages that are there are counted, and those that were never touched are not")
{
	uint64_t n = 99;
	uint8_t *at;

	page = os_page_bytes();
	at = os_rig_pages(600, PROT_READ | PROT_WRITE);
	if (!on_linux()) {
		EXPECT_EQ(os_pages_present(at, page, &n), -ENOTSUP);
		munmap(at, 600 * page);
		return;
	}
	EXPECT_EQ(madvise(at, 600 * page, MADV_NOHUGEPAGE), 0);
	EXPECT_EQ(os_pages_present(at, 600 * page, &n), 0);
	EXPECT_EQ(n, 0);
	at[3 * page] = at[550 * page] = 1;
	EXPECT_EQ(os_pages_present(at, 600 * page, &n), 0);
	EXPECT_EQ(n, 2);
	STEP("parts of pages count as pages");
	EXPECT_EQ(os_pages_present(at + 4 * page - 1, 2, &n), 0);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(os_pages_present(at + 3 * page, 0, &n), 0);
	EXPECT_EQ(n, 0);
	munmap(at, 600 * page);
}

TEST("a stack is whole when a page in its middle was mapped anew")
{
	uintptr_t page = os_page_bytes(), start, end, at;
	volatile char room[3 * 65536];
	uintptr_t low = (uintptr_t)room;

	if (!on_linux() || !os_stack(&start, &end))
		return;
	room[0] = 1;
	at = (low + 65536 + page - 1) / page * page;
	EXPECT_EQ(os_replace((void *)at, (void *)at, page,
			     PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(os_stack(&start, &end), true);
	EXPECT(start <= low && low < end);
}

TEST("stack, code and what the kernel gives a program are told apart")
{
	uintptr_t start, end;
	struct os_map m;

	EXPECT_EQ(os_stack(&start, &end), on_linux());
	if (!on_linux())
		return;
	EXPECT((uintptr_t)&m >= start && (uintptr_t)&m < end);
	EXPECT(os_map_find((void *)(end - 1), &m));
	EXPECT_EQ(m.kind, OS_MAP_STACK);
	EXPECT(os_map_find((void *)(uintptr_t)in_child, &m));
	EXPECT_EQ(m.prot, PROT_READ | PROT_EXEC);
	EXPECT_EQ(m.kind, OS_MAP_PRIVATE);
	EXPECT(getauxval(AT_SYSINFO_EHDR) != 0);
	EXPECT(os_map_find((void *)getauxval(AT_SYSINFO_EHDR), &m));
	EXPECT_EQ(m.kind, OS_MAP_SPECIAL);
}

static void *own_stack(void *ok)
{
	uintptr_t start, end;
	struct os_map m;

	*(bool *)ok = os_stack(&start, &end) && (uintptr_t)&m >= start &&
		      (uintptr_t)&m < end && os_map_find(&m, &m) &&
		      m.kind == OS_MAP_PRIVATE;
	return NULL;
}

TEST("a thread's own stack is private memory")
{
	bool ok = false;
	pthread_t t;

	EXPECT_EQ(pthread_create(&t, NULL, own_stack, &ok), 0);
	pthread_join(t, NULL);
	EXPECT_EQ(ok, on_linux());
}

/* ---- copies ---- */

static int next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

TEST("a copy reaches all of the memory, whatever its size")
{
	static uint8_t from[300001], to[300001];
	int fd = next_fd();
	size_t i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + i / 256);
	EXPECT_EQ(os_copy_from(to, from, sizeof(to)), 0);
	EXPECT_MEM(to, from, sizeof(to));
	memset(to, 0, sizeof(to));
	EXPECT_EQ(os_copy_from(to, from + 1, sizeof(to) - 1), 0);
	EXPECT_MEM(to, from + 1, sizeof(to) - 1);
	EXPECT_EQ(to[sizeof(to) - 1], 0);
	EXPECT_EQ(os_copy_from(to, NULL, 0), 0);
	EXPECT_EQ(os_copy_from(NULL, from, 0), 0);
	EXPECT_EQ(next_fd(), fd);
}

TEST("a copy of memory that is partly or all absent fails and raises no signal")
{
	static uint8_t buf[20000];
	int fd = next_fd();
	uint8_t *at;

	page = os_page_bytes();
	at = os_rig_pages(3, PROT_READ | PROT_WRITE);
	memset(at, 4, 3 * page);
	EXPECT_EQ(os_protect(at + page, page, PROT_NONE), 0);
	EXPECT_EQ(os_copy_from(buf, at + page - 10, 20), -EFAULT);
	EXPECT_EQ(os_copy_from(buf, at, 3 * page), -EFAULT);
	EXPECT_EQ(os_copy_from(buf, at + page, 1), -EFAULT);
	EXPECT_EQ(os_copy_from(at + 2 * page - 1, buf, 2), -EFAULT);
	EXPECT_EQ(os_copy_from(buf, at + page - 10, 10), 0);
	EXPECT_EQ(buf[9], 4);
	EXPECT_EQ(os_copy_from(at + page - 10, buf, 20), -EFAULT);
	EXPECT_EQ(os_copy_from(at + 2 * page, buf, 10), 0);
	STEP("memory that may be read and not written");
	EXPECT_EQ(os_protect(at + page, page, PROT_READ), 0);
	EXPECT_EQ(os_copy_from(buf, at, 3 * page), 0);
	EXPECT_EQ(os_copy_from(at + page, buf, 1), -EFAULT);
	munmap(at, 3 * page);
	STEP("memory that is not there, nowhere, round the address space");
	EXPECT_EQ(os_copy_from(buf, at, 8), -EFAULT);
	EXPECT_EQ(os_copy_from(at, buf, 8), -EFAULT);
	EXPECT_EQ(os_copy_from(buf, NULL, 8), -EFAULT);
	EXPECT_EQ(os_copy_from(NULL, buf, 8), -EFAULT);
	EXPECT_EQ(os_copy_from((void *)(UINTPTR_MAX - 7), buf, 8), -EFAULT);
	EXPECT_EQ(next_fd(), fd);
}
